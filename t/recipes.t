#!/bin/sh
# share/recipes: usage, exit statuses, and what each finds in a recording, counted again by awk from
# the text of the events.
. "${0%/*}/lib.sh"

BINDIR=$BIN
export BINDIR
dir=$ROOT/share/recipes
data=$ROOT/t/data

text() {
	"$BIN/pdecode" -t --ns "$data/$1" 2>/dev/null
}

# The sum of the counts in the last table of TSV.
counts() {
	awk -F '\t' '/^#/ { for (i = 2; i <= NF; i++) if ($i ~ /(^|:)(count|events)$/) n = i; sum = 0; next }
		{ sum += $n } END { print sum + 0 }' "$OUT"
}

# The rows of a table, without its header.
rows() {
	sed 1d "$OUT"
}

recipe() {
	t_recipe=$1
	shift
	run "$dir/$t_recipe" "$@"
}

# Each of them: help, wrong usage, a recording without its events, man page.
: >none
for file in "$dir"/*; do
	name=${file##*/}
	[ "$name" != recipe.sh ] || continue
	need_options=
	case $name in
	argdist) need_options='-e sched:sched_no -f pid' ;;
	stackcount) need_options='-e sched:sched_no' ;;
	spanlat | whyslow) need_options='-e q__start -E q__done' ;;
	esac
	good=yes
	for help in -h --help; do
		recipe "$name" $help
		[ "$status" = 0 ] && [ ! -s "$ERR" ] && grep -q "^usage: $name " "$OUT" || good="$help"
	done
	# Without what to read, those record that can, if they know what.
	missing='-Z'
	case $name in
	funccount | funcslower | functrace | funcgraph | funclatency | trace | spanlat | whyslow | memleak) missing='' ;;
	argdist) missing='-f pid' ;;
	stackcount) missing='-i 1' ;;
	esac
	for wrong in "$missing" '-Z x'; do
		# shellcheck disable=SC2086
		recipe "$name" $wrong
		[ "$status" = 64 ] && [ ! -s "$OUT" ] && grep -q '^usage: ' "$ERR" || good="usage: $wrong"
	done
	is "$good" yes "$name: help and wrong usage"
	ok "$name: is in the man page" grep -q "^\.It Cm $name\$" "$ROOT/man/perfpipe-recipes.7"
	# It needs no events.
	case $name in ptop | profile | overview | fleet | collect | to-pprof | to-perfetto) continue ;; esac
	# shellcheck disable=SC2086
	recipe "$name" $need_options "$data/demo.data"
	is "$status" 1 "$name: a recording without its events"
	like "$ERR" 'nothing to show' "$name: and it is reported"
	case $name in
	funccount) wanted='to record: funccount "vfs_\*" 10' ;;
	funcslower | functrace | funcgraph) wanted='pcap-ftrace -p function' ;;
	c2c) wanted='perf c2c record' ;;
	dcsnoop) wanted='pcap-perf .*--kprobe' ;;
	funclatency | memleak | spanlat | whyslow | trace | gethostlatency | bashreadline | ssllen | pythoncalls) wanted='pcap-perf .*--probe' ;;
	argdist | stackcount) wanted='perf record -a .*-e sched:sched_no -- sleep' ;;
	*) wanted='perf record -a .*-e [a-z0-9_]+:[a-z0-9_]+ .*-- sleep' ;;
	esac
	like "$ERR" "$wanted" "$name: and how to record them"
done

# Every awk can read their programs, not only the one that is called awk here; and some refuse parameters that
# have the name of a function.
mkdir other
for other in mawk 'gawk --posix' 'busybox awk' original-awk; do
	# shellcheck disable=SC2086
	if ! have "${other%% *}" || ! $other 'BEGIN { exit 0 }' 2>/dev/null; then
		skip 1 "${other%% *} is not installed" "$other"
		continue
	fi
	printf '#!/bin/sh\nPATH=%s\nexec %s "$@"\n' "$PATH" "$other" >other/awk
	chmod +x other/awk
	bad=
	for file in "$dir"/*; do
		name=${file##*/}
		need_options=
		case $name in
		recipe.sh | fleet | collect) continue ;; # the one is no recipe, the others read none themselves
		spanlat | whyslow) need_options='-e sched:sched_no -E sched:sched_no' ;;
		argdist) need_options='-e sched:sched_no -f pid' ;;
		stackcount) need_options='-e sched:sched_no' ;;
		esac
		# shellcheck disable=SC2086
		run env PATH="$TMP/other:$PATH" "$file" $need_options "$data/demo.data"
		if [ "$status" -gt 1 ] || grep -q 'awk: ' "$ERR"; then
			bad="$bad $name"
			diag_file "$ERR"
		fi
	done
	is "$bad" '' "$other reads the programs of all recipes"
done
for file in "$dir"/*; do
	awk -v file="${file##*/}" '
		{
			while (match($0, /function [A-Za-z0-9_]+\([^)]*\)/)) {
				call = substr($0, RSTART + 9, RLENGTH - 10)
				$0 = substr($0, RSTART + RLENGTH)
				name = substr(call, 1, index(call, "(") - 1)
				names[name]
				n = split(substr(call, length(name) + 2), part, ",")
				for (i = 1; i <= n; i++) {
					gsub(/ /, "", part[i])
					parameters[part[i]] = name
				}
			}
		}
		END {
			for (p in parameters) if (p in names) print file ": parameter " p " of " parameters[p]
		}' "$dir/recipe.sh" "$file"
done >same
is "$(cat same)" '' 'no parameter of their functions has the name of a function'

# Statuses.
recipe runqlat nowhere.dat
is "$status" 2 'no such file'
unlike "$ERR" 'to record' 'which is not for want of events'
head -c 60000 "$data/sched.dat" >cut.dat
recipe syscount cut.dat
isnt "$status" 0 'a cut recording is reported'
recipe runqlat "$data/sched.dat" --no-such-option
is "$status" 64 'an option that the last filter does not have'
recipe runqslower -t fast "$data/sched.dat"
is "$status" 64 'a time that is none'
recipe funcslower 1
is "$status" 64 'what to probe is missing'
# An expression or a function in the place of a file, or after one.
for wrong in "tcplife|dport == 8099" "runqlat|vfs_read()"; do
	recipe "${wrong%%|*}" "${wrong#*|}"
	is "$status" 64 "$wrong is no file"
	like "$ERR" 'there is no file' 'and that is reported'
done
for operand in 2 "$data/sched.dat"; do
	recipe tcplife "$operand" 'dport == 8099'
	is "$status" 64 "an expression after ${operand##*/}"
	like "$ERR" 'is not an option of plat; expressions are for pfilter' 'and that is reported'
done
recipe runqlat "$data/sched.dat" --log2
cp "$OUT" want
recipe runqlat "$data/sched.dat" -- --log2
same "$OUT" want '"--" before the options of the last filter changes nothing'
mkdir -p lone/a/b && cp "$dir"/* lone/a/b/
if PATH=/usr/bin:/bin command -v pdecode >/dev/null; then
	skip 1 'the filters are installed'
else
	BINDIR='' PATH=/usr/bin:/bin run lone/a/b/syscount "$data/sched.dat"
	is "$status" 2 'no filters'
fi
mkdir -p inst/share/perfpipe inst/bin && cp -r "$dir" inst/share/perfpipe/recipes
for f in pdecode plat; do ln -s "$BIN/$f" inst/bin/; done
BINDIR='' run inst/share/perfpipe/recipes/runqlat "$data/sched.dat"
is "$status" 0 'filters beside the installed recipes'
ln -s "$PWD/inst/share/perfpipe/recipes/runqlat" latency
BINDIR='' run ./latency "$data/sched.dat"
is "$status" 0 'by a symbolic link of another name'
BINDIR='' run sh -c "cd inst/share/perfpipe/recipes && sh runqlat $data/sched.dat"
is "$status" 0 'and by sh, in their own folder'
recipe runqlat "$data/sched.dat"
cp "$OUT" want
run_pipe 'cat "$data/sched.dat"' '"$dir/runqlat" -'
is "$status" 0 'standard input'
same "$OUT" want 'is the same'

# What they find.
recipe execsnoop "$data/sched.dat"
rows | awk '{ print $1, $2, $5, $6 }' >got
text sched.dat | sed -n 's/^.*-\([0-9]*\) .* \([0-9]*\.[0-9]\{6\}\)[0-9]*: sched_process_exec: *filename=\(.*\) pid=.*/\2 \1 0 \3/p' >want
same got want 'execsnoop: time, thread and file'
isnt "$(wc -l <want)" 0 'and there are some'
# Stacks of events (trace-cmd record -T) are no events.
for name in execsnoop killsnoop; do
	event=$([ $name = execsnoop ] && echo sched_process_exec || echo signal_generate)
	recipe $name "$data/stacks.dat"
	want=$(text stacks.dat | grep "$event:" | grep -vc " code=[1-9]")
	is "$(rows | wc -l)" "$want" "$name: a recording with stacks"
	unlike "$OUT" '=>|[?] ' 'and none is in the table'
done
recipe execsnoop "$data/sched.dat" -e 'pid > 0'
like "$OUT" 'filename=[^ ]+ pid=' 'execsnoop: with an option for pfilter its lines'

# What open returned: of each entry the next exit of the thread.
recipe opensnoop "$data/syscalls.dat"
rows | awk '{ print $2, $4, $5 }' | sort >got
text syscalls.dat | awk '
	{ match($0, /-[0-9]+ +\[/); tid = substr($0, RSTART + 1, RLENGTH - 2) + 0 }
	/ sys_enter_openat: / { match($0, /filename: [^,]*/); file[tid] = substr($0, RSTART + 10, RLENGTH - 10) }
	/ sys_exit_openat: / && tid in file {
		r = $NF
		print tid, r ~ /fffffffe$/ ? "ENOENT" : index("0123456789abcdef", substr(r, 3)) - 1, file[tid]
		delete file[tid]
	}
	END { for (tid in file) print tid, "?", file[tid] }' | sort >want
same got want 'opensnoop: thread, result and path'
isnt "$(grep -c ' ENOENT ' want)" 0 'and some failed'
# Paths, as Linux 6.19 and later and probes have them.
cat >opens.events <<'EVENTS'
syscalls sys_enter_openat 601 | int __syscall_nr; unsigned long dfd; unsigned long filename; char path[32] | "dfd: 0x%08lx, filename: 0x%08lx \"%s\", flags: 0x0", REC->dfd, REC->filename, REC->path
syscalls sys_exit_openat 602 | int __syscall_nr; long ret | "0x%lx", REC->ret
probe do_sys_openat2 603 | char path[32] | "filename=\"%s\"", REC->path
@ 0 5000000000 11 sys_enter_openat 257 1 0x7f00 /etc/a,file
@ 0 5000001000 12 sys_enter_openat 257 1 0x7f00 /no
@ 0 5000002000 12 sys_exit_openat 257 -13
@ 0 5000003000 11 sys_exit_openat 257 1234567
@ 0 5000004000 12 do_sys_openat2 /by/probe
@ 0 5000005000 11 sys_enter_openat 257 1 0x7f00 /never
EVENTS
# A path that is not in memory at the beginning of the call: the kernel has it when it has copied it.
cat >late.events <<'EVENTS'
syscalls sys_enter_openat 601 | int __syscall_nr; unsigned long dfd; unsigned long filename | "dfd: 0x%08lx, filename: 0x%08lx", REC->dfd, REC->filename
syscalls sys_exit_openat 602 | int __syscall_nr; long ret | "0x%lx", REC->ret
perfpipe lib_path 603 | char path[32] | "path=\"%s\"", REC->path
perfpipe lib_open 604 | char path[32] | "path=%s", REC->path
@ 0 5000000000 11 lib_path /of/stat
@ 0 5000001000 11 sys_enter_openat 257 1 0x7f00
@ 0 5000002000 11 lib_path /late
@ 0 5000003000 11 sys_exit_openat 257 3
@ 0 5000003500 11 lib_path /of/stat
@ 0 5000004000 12 lib_open (fault)
@ 0 5000004000 12 sys_enter_openat 257 1 0x7f00
@ 0 5000005000 12 sys_exit_openat 257 4
EVENTS
"$ROOT/t/trace-make" events=opens.events >opens.dat
recipe opensnoop opens.dat
rows | awk '{ print $1, $2, $4, $5 }' >got
cat >want <<'WANT'
5.000001 12 EACCES /no
5.000000 11 1234567 /etc/a,file
5.000004 12 ? /by/probe
5.000005 11 ? /never
WANT
same got want 'opensnoop: paths'
"$ROOT/t/trace-make" events=late.events >late.dat
recipe opensnoop late.dat
is "$(rows | awk '{ print $2, $4, $5 }')" '11 3 /late
12 4 0x00007f00' 'opensnoop: paths that the kernel tells after the beginning; an address where none is told'

recipe killsnoop "$data/sched.dat"
rows | awk '{ print $1, $2, $4, $5, $6 }' >got
text sched.dat | sed -n 's/^.*-\([0-9]*\) .* \([0-9]*\.[0-9]\{6\}\)[0-9]*: signal_generate: *sig=\([0-9]*\) .* code=[0-] comm=\(.*\) pid=\([0-9]*\) grp=.*/\2 \1 \3 \5 \4/p' |
	sed 's/ 10 / USR1 /; s/ 15 / TERM /' | grep -v ' 13 ' >want
same got want 'killsnoop: from whom, which signal, to whom'
isnt "$(wc -l <want)" 0 'and there are some'
cat >pipe.events <<'EVENTS'
signal signal_generate 541 | int sig; int errno; int code; char comm[16]; int pid; int group; int result | "sig=%d errno=%d code=%d comm=%s pid=%d grp=%d res=%d", REC->sig, REC->errno, REC->code, REC->comm, REC->pid, REC->group, REC->result
@ 0 5000000000 11 signal_generate 13 0 0 eleven 11 0 0
@ 0 5000001000 11 signal_generate 13 0 0 twelve 12 1 2
@ 0 5000002000 11 signal_generate 15 0 128 twelve 12 1 0
@ 0 5000003000 11 signal_generate 34 0 -1 twelve 12 1 1
EVENTS
"$ROOT/t/trace-make" events=pipe.events >pipe.dat
recipe killsnoop pipe.dat
rows | awk '{ print $1, $4, $5, $7, $8 }' >got
cat >want <<'WANT'
5.000001 PIPE 12 pending already
5.000003 34 12 ignored 
WANT
same got want 'killsnoop: not those of the kernel'

# Calls by thread and number: of each entry the next exit of the thread; that of 15, rt_sigreturn, has -1.
text sched.dat | awk '
	{ match($0, /-[0-9]+ +\[/); tid = substr($0, RSTART + 1, RLENGTH - 2) + 0 }
	{ match($0, /NR -?[0-9]+/); nr = substr($0, RSTART, RLENGTH) }
	nr == "NR -1" { nr = "NR 15" }
	/ sys_enter: / { open[tid] = nr }
	/ sys_exit: / && open[tid] == nr { n++; open[tid] = "" }
	END { print n }' >calls
recipe syscount "$data/sched.dat" --tsv
is "$(counts)" "$(cat calls)" syscount
recipe syslat "$data/sched.dat"
like "$OUT" ' -> .*\|\*' 'syslat: histograms'

recipe funccount "$data/trace-zlib.dat"
text trace-zlib.dat | awk '/ function: / { sub(/.* function: +/, ""); n[$1]++ } END { for (f in n) print n[f], f }' |
	sort >want
awk '{ print $1, $2 }' "$OUT" | sort >got
same got want funccount
recipe funccount "$data/trace-v6.dat.gz"
is "$(awk '{ n += $1 } END { print n }' "$OUT")" 668 'funccount: function_graph'
cp "$OUT" want
recipe funccount "$data/trace-v6.dat.gz" -n 3
head -n 3 want | cmp -s - "$OUT"
is $? 0 'funccount -n: the first rows, as of tables'
recipe funccount "$data/uprobes.data.gz"
awk '{ print $1, $2 }' "$OUT" | sort >got
isnt "$(wc -l <got)" 0 'funccount: probes, whatever they are called'
is "$(awk '{ n += $1 } END { print n }' got)" "$(text uprobes.data.gz | grep -c ': ([0-9a-f]')" 'all of them'
"$ROOT/t/trace-make" >stack.dat
recipe funccount stack.dat
unlike "$OUT" 'kernel_stack' 'funccount: no stacks of events'
recipe funcslower -t 100us "$data/trace-v6.dat.gz"
is "$(grep -c ' func ' "$OUT")" "$(gunzip -c "$data/trace-v6.report.gz" |
	awk '/funcgraph_e(ntry|xit):/ { for (i = 1; i < NF; i++) if ($(i + 1) == "us" && $i + 0 >= 100) n++ } END { print n }')" \
	funcslower

# Requests by device and first sector; a flush, which has none, is complete with that of -1.
text block.data.gz | awk '
	/block_rq_(issue|complete):/ {
		sub(/:$/, "", $0)
		t = 0
		for (i = 1; i <= NF; i++) {
			if (!t && $i ~ /^[0-9]+\.[0-9]+:$/) t = $i + 0
			if ($i ~ /^block:block_rq_/) dev = $(i + 1)
			if ($i == "+") key = dev " " ($(i - 1) == "18446744073709551615" ? 0 : $(i - 1))
		}
		if (/issue/) { at[key] = t; issued++ }
		else if (key in at) { n++; if (t - at[key] >= 0.002) slow++; delete at[key] }
	}
	END { print n, slow, issued }' >blocks
read -r done_n slow_n issued_n <blocks
recipe biolatency "$data/block.data.gz"
like "$OUT" "^block-io +$done_n " biolatency
like "$OUT" ' -> .*\|\*' 'biolatency: a histogram'
# Once a flush is done, the request that it was made for is complete once more: that ends nothing.
run_pipe '"$BIN/pdecode" "$data/block.data.gz"' '"$BIN/plat" --kind block-io --stats'
like "$ERR" "^plat: block-io: $issued_n starts = $done_n intervals.*; 0 ends without start" 'block-io: flushes are paired, once each'
# As if the later ones had been merged into the first of these.
"$BIN/pdecode" "$data/block.data.gz" | "$BIN/pfilter" -b --drop 'rwbs != "FF" || TIME < 90.1s' >some.ps
flushes=$(text block.data.gz | awk '/block_rq_complete:.* FF / { for (i = 1; $i !~ /^[0-9.]+:$/; i++); n += $i < 90.1 } END { print n }')
requests=$(text block.data.gz | awk '/block_rq_complete:/ && / \+ 0 \[/ && !/ FF / { n++ } END { print n }')
run "$BIN/plat" --kind block-io some.ps
like "$ERR" "^plat: block-io: $flushes flushes were for $requests requests: some were merged" 'block-io: flushes that were merged'
recipe biosnoop "$data/block.data.gz"
is "$(rows | wc -l)" "$done_n" biosnoop
"$BIN/pdecode" "$data/block.data.gz" | "$BIN/pfilter" -b --drop 'block_rq_issue, block_bio_queue, block_getrq:' >issued.ps
recipe biosnoop issued.ps
is "$status" 1 'biosnoop: no completions'
like "$ERR" "^biosnoop: $issued_n requests were issued, but there is no block:block_rq_complete: " 'and that is why'
"$BIN/pdecode" "$data/block.data.gz" | "$BIN/pfilter" -b --drop 'block_rq_complete:' >completed.ps
recipe biosnoop completed.ps
like "$ERR" '^biosnoop: [0-9]+ requests completed, but there is no block:block_rq_issue: ' 'biosnoop: nothing but completions'
recipe biosnoop "$data/block.data.gz" --slower=2ms
is "$(grep -c ' block-io ' "$OUT")" "$slow_n" 'biosnoop: an option for plat'
recipe bitesize "$data/block.data.gz" --tsv
is "$(counts)" "$issued_n" bitesize

# A wakeup, a birth or a preemption, and the next switch to the thread. One thread is called
# "ch ild:0 [x]": its id is what stands after the last colon.
text sched.dat | awk '
	function id(s) { sub(/ \[[0-9]+\]( CPU:[0-9]+| [A-Z+]+)?$/, "", s); sub(/.*:/, "", s); return s + 0 }
	{ match($0, / [0-9]+\.[0-9]+: /); t = substr($0, RSTART, RLENGTH - 2) + 0 }
	/ sched_wakeup(_new)?: / { p = id($0); if (!(p in at) && !on[p]) at[p] = t }
	/ sched_switch: / {
		split($0, half, " ==> ")
		prev = id(half[1])
		next_ = id(half[2])
		on[prev] = 0
		on[next_] = 1
		if (prev && half[1] ~ / R\+?$/) at[prev] = t
		if (next_ in at) { n++; if (t - at[next_] >= 0.001) slow++; delete at[next_] }
	}
	END { print n, slow }' >waits
read -r all_n slow_n <waits
recipe runqlat "$data/sched.dat"
like "$OUT" "^runq +$all_n " runqlat
recipe runqslower -t 1ms "$data/sched.dat"
is "$(grep -c ' runq ' "$OUT")" "$slow_n" runqslower
recipe schedlat "$data/sched.dat" --tsv
is "$(counts)" "$all_n" schedlat
recipe cpudist "$data/sched.dat"
like "$OUT" '^oncpu +[1-9].*' cpudist
like "$OUT" ' -> .*\|\*' 'cpudist: a histogram'
recipe wakeuptime "$data/sched.dat"
like "$OUT" '^waker +comm +count' wakeuptime
recipe wakeuptime -s "$data/sched-stacks.data.gz"
is "$status" 0 'wakeuptime -s'
like "$OUT" ';--;.* [0-9]{4,}$' 'wakeuptime: both stacks, folded'
"$BIN/pdecode" "$data/sched-stacks.data.gz" 2>/dev/null | "$BIN/plat" -k blocked --slower 0 --tsv 2>/dev/null |
	awk -F'\t' 'NR > 1 { n += $2 } END { printf "%.0f\n", n }' >want
awk '{ n += $NF } END { printf "%.0f\n", n }' "$OUT" >got
same got want 'wakeuptime -s: all the time asleep'
recipe offcputime "$data/sched.dat"
like "$ERR" 'no call chains: perf record -g' 'offcputime: a recording without stacks'
recipe offcputime "$data/sched-stacks.data.gz"
unlike "$ERR" 'no call chains' 'and one with them'
is "$status" 0 offcputime
like "$OUT" ';.* [0-9]{4,}$' 'offcputime: folded stacks in ns'
recipe offwaketime "$data/sched-stacks.data.gz"
is "$status" 0 offwaketime
like "$OUT" ';--;.* [0-9]{4,}$' 'offwaketime: the stacks of both'
recipe chaintime "$data/sched-stacks.data.gz"
is "$status" 0 chaintime
like "$OUT" ';--;.*;--;.* [0-9]{4,}$' 'chaintime: wakers of wakers'
for kind in irq softirq; do
	enter=irq_handler
	[ $kind = irq ] || enter=softirq
	case $kind in irq) name=hardirqs ;; *) name=softirqs ;; esac
	recipe $name "$data/sched.dat" --tsv
	is "$(counts)" "$(text sched.dat | grep -c " ${enter}_exit: ")" "$name"
done

# Connections: over loopback, and to a host that did not answer for a while.
cp "$data/retrans.dat" .
gzip -dc "$data/net.data.gz" >net.data
for file in net.data retrans.dat; do
	"$BIN/pdecode" -t --ns "$file" 2>/dev/null | sed -n 's/^.* \([0-9]*\.[0-9]\{6\}\)[0-9]*: .*\(inet_sock_set_state\|tcp_retransmit_skb\): */\1 \2 /p' |
		awk '{
			line = $1 " " $2
			for (i = 3; i <= NF; i++) {
				n = split($i, w, "=")
				v[w[1]] = w[2]
			}
			print line, v["saddr"], v["sport"], v["daddr"], v["dport"], v["oldstate"], v["newstate"], v["protocol"]
		}' >tcp
	recipe tcpconnect $file
	rows | awk '{ print $1, $5, $7, $8 }' | sort >got
	awk '$2 ~ /inet/ && $8 == "TCP_SYN_SENT" { print $1, $3, $5, $6 }' tcp | sort >want
	same got want "$file: tcpconnect"
	recipe tcpaccept $file
	rows | awk '{ print $1, $7, $8, $5, $6 }' | sort >got
	awk '$2 ~ /inet/ && $7 == "TCP_SYN_RECV" && $8 == "TCP_ESTABLISHED" { print $1, $3, $4, $5, $6 }' tcp | sort >want
	same got want "$file: tcpaccept"
	isnt "$(wc -l <want)" 0 'and there are some'
	recipe tcplife $file
	rows | awk '{ printf "%s %s %.3f\n", $7, $9, $12 }' | sort >got
	recipe tcplife $file --tsv
	awk -F'\t' '$1 == "tcp" { printf "%s %s %.3f\n", $2, $3, $4 == 1 ? $5 / 1e6 : -1 }' "$OUT" | sort >want
	# Times have microseconds there.
	is "$(paste -d ' ' got want | awk '$1 != $4 || $2 != $5 || $3 - $6 > 0.002 || $6 - $3 > 0.002')" '' "$file: tcplife, beside plat"
	is "$(wc -l <got)" "$(awk '$8 == "TCP_ESTABLISHED" { at[$3, $4, $5, $6] = 1 }
		$8 == "TCP_CLOSE" && at[$3, $4, $5, $6]-- > 0 { n++ } END { print n }' tcp)" "$file: tcplife, all that ended"
done
recipe tcpretrans retrans.dat
cat >want <<'WANT'
3001.802722 10.99.0.1 50708 10.99.0.2 8200 ESTABLISHED
3002.226777 10.99.0.1 50708 10.99.0.2 8200 ESTABLISHED
3003.058721 10.99.0.1 50708 10.99.0.2 8200 ESTABLISHED
3004.850767 10.99.0.1 35992 10.99.0.77 9 SYN_SENT
WANT
rows | awk '{ print $1, $4, $5, $7, $8, $9 }' >got
same got want 'tcpretrans: what trace-cmd report prints of it'
recipe ext4slower -t 1ms "$data/ext4.dat"
text ext4.dat | awk '
	/ ext4_sync_file_(enter|exit): / {
		match($0, / [0-9]+\.[0-9]+: /); t = substr($0, RSTART, RLENGTH - 2) + 0
		if (/_enter/) at = t; else if (t - at >= 0.001) n++
	} END { print n + 0 }' >want
is "$(rows | awk '$4 == "S"' | wc -l)" "$(cat want)" ext4slower
recipe ext4slower -t 10s "$data/ext4.dat"
is "$status" 0 'ext4slower: nothing as long'
empty "$OUT" 'has no line'
like "$ERR" '^ext4slower: none of [0-9]+ took 10s or longer; the longest [0-9.]+ ms$' 'and the longest is told'

recipe argdist -e block_rq_issue -f nr_sector "$data/block.data.gz" --tsv
is "$(counts)" "$issued_n" argdist
recipe stackcount -e sched_wakeup "$data/sched-stacks.data.gz"
is "$(awk '{ n += $NF } END { print n }' "$OUT")" "$(text sched-stacks.data.gz | grep -c sched_wakeup:)" stackcount
# What is open at the end, by the event that allocated it last.
recipe kmemleak "$data/kmem.data.gz" --tsv -b name
text kmem.data.gz | awk '
	{ kind = /mm_page_/ ? "page" : "kmem"; k = kind == "page" ? "pfn=0x" : "ptr=0x"; match($0, k "[0-9a-f]+"); p = kind substr($0, RSTART, RLENGTH) }
	/ kmem:(kmalloc|kmem_cache_alloc)(_node)?: | kmem:mm_page_alloc: / { open[p] = 1 }
	/ kmem:(kfree|kmem_cache_free): | kmem:mm_page_free: / { delete open[p] }
	END { for (p in open) n[substr(p, 1, 4)]++; for (k in n) print k, n[k] }' | sort >want
awk -F'\t' '/^#/ { for (i in at) delete at[i]; for (i = 1; i <= NF; i++) at[$i] = i; next }
	{ n[substr($1, 1, 4)] += $at["age:count"] } END { for (k in n) print k, n[k] }' "$OUT" | sort >got
same got want 'kmemleak: what was not freed'
recipe lockstat "$data/lock.data.gz" --tsv
is "$(counts)" "$(text lock.data.gz | grep -c contention_end:)" lockstat
# psym has no symbols of that kernel: --kallsyms cannot be told to a recipe.
recipe lockstat -s "$data/lock.data.gz" --tsv
like "$OUT" 'name:key	site:key' 'lockstat -s: by function'
is "$(counts)" "$(text lock.data.gz | grep -c contention_end:)" 'lockstat -s: all of them'

recipe ptop -i 100ms "$data/demo.data"
"$BIN/pdecode" "$data/demo.data" | "$BIN/psym" 2>/dev/null | "$BIN/phist" --by comm,sym >want
sed '1,/^sum/d' "$OUT" >got
same got want 'ptop'
like "$OUT" '^period ' 'with a table for each period'
recipe schedlat -i 0.1 "$data/sched.dat" --tsv
awk '/^#/ { part = / period=/ } !part' "$OUT" >got
"$BIN/pdecode" "$data/sched.dat" | "$BIN/plat" --kind runq --by comm --sort max --tsv >want 2>/dev/null
same got want 'schedlat -i: the sum'
like "$OUT" ' period=' 'and a table for each period'

# What no machine at hand does: events that a script makes.
cat >rare.events <<'EVENTS'
oom mark_victim 701 | int pid; char comm[16]; unsigned long anon_rss | "pid=%d comm=%s total-vm=0kB anon-rss=%lukB file-rss:0kB", REC->pid, REC->comm, REC->anon_rss
vmscan mm_vmscan_direct_reclaim_begin 702 | int order; unsigned long gfp_flags | "order=%d gfp_flags=%lx", REC->order, REC->gfp_flags
vmscan mm_vmscan_direct_reclaim_end 703 | unsigned long nr_reclaimed | "nr_reclaimed=%lu", REC->nr_reclaimed
@ 0 5000000000 11 mark_victim 4711 hungry 123456
@ 0 5001000000 11 mm_vmscan_direct_reclaim_begin 2 0
@ 0 5001500000 12 mm_vmscan_direct_reclaim_begin 0 0
@ 0 5002000000 11 mm_vmscan_direct_reclaim_end 32
@ 0 5004250000 12 mm_vmscan_direct_reclaim_end 5
EVENTS
"$ROOT/t/trace-make" events=rare.events >rare.dat
recipe oomkill rare.dat
is "$(rows | awk '{ print $1, $2, $4, $5, $6 }')" '5.000000 11 4711 hungry 123456kB' oomkill
recipe drsnoop rare.dat
rows | awk '{ print $1, $2, $5, $6, $7 }' >got
printf '%s\n' '5.001000 11 1.000 2 32' '5.001500 12 2.750 0 5' >want
same got want drsnoop
recipe drsnoop -p 12 rare.dat
is "$(rows | wc -l)" 1 '-p: of one process'
recipe drsnoop -p x rare.dat
is "$status" 64 '-p: not a number'
recipe drsnoop -d 1 rare.dat
is "$status" 64 '-d is for recording'
recipe drsnoop -x rare.dat
is "$status" 64 'an option of other recipes'

# Look-ups of names: what was not found is known when the function returns, by thread.
cat >names.events <<'EVENTS'
probe d_lookup 721 | char name[32] | "(ffffffff81369dd0) name=\"%s\"", REC->name
probe d_lookup__return 722 | unsigned long found | "(ffffffff81369dd0 <- ffffffff8135b5c2) found=0x%lx", REC->found
probe lookup_fast 723 | char name[32] | "(ffffffff8135a000) name=\"%s\"", REC->name
@ 0 5000000000 11 lookup_fast etc
@ 0 5001000000 11 lookup_fast not,here
@ 0 5001100000 11 d_lookup not,here
@ 0 5001150000 12 d_lookup there
@ 0 5001200000 11 d_lookup__return 0
@ 0 5001300000 12 d_lookup__return 18446623345128243456
@ 0 5002000000 12 d_lookup__return 0
EVENTS
"$ROOT/t/trace-make" events=names.events >names.dat
recipe dcsnoop names.dat
is "$(rows | awk '{ print $1, $2, $4, $5 }')" '5.001200 11 M not,here' 'dcsnoop: what was not there'
recipe dcsnoop -a names.dat
rows | awk '{ print $1, $2, $4, $5 }' >got
printf '%s\n' '5.000000 11 R etc' '5.001000 11 R not,here' '5.001200 11 M not,here' >want
same got want 'dcsnoop -a: what was looked for in the cache, too'

# Older kernels: no bytes, no reads, no program; an exec that failed, a call that did not return.
cat >calls.events <<'EVENTS'
syscalls sys_enter_execve 711 | int __syscall_nr; unsigned long filename | "filename: 0x%08lx, argv: 0x1, envp: 0x2", REC->filename
syscalls sys_exit_execve 712 | int __syscall_nr; long ret | "0x%lx", REC->ret
sched sched_process_fork 713 | char comm[16]; int pid; char child[16]; int child_pid | "comm=%s pid=%d child_comm=%s child_pid=%d", REC->comm, REC->pid, REC->child, REC->child_pid
sched sched_process_exec 714 | char filename[32]; int pid; int old_pid | "filename=%s pid=%d old_pid=%d", REC->filename, REC->pid, REC->old_pid
@ 0 5000000000 11 sched_process_fork eleven 11 eleven 12
@ 0 5001000000 12 sys_enter_execve 59 0x7f00
@ 0 5002000000 12 sys_exit_execve 59 -2
@ 0 5003000000 12 sys_enter_execve 59 0x7f10
@ 0 5004000000 12 sched_process_exec /bin/x 12 12
@ 0 5005000000 12 sys_exit_execve 59 0
EVENTS
"$ROOT/t/trace-make" events=calls.events >calls.dat
recipe execsnoop -x calls.dat
rows | awk '{ print $1, $2, $3, $5, $6 }' >got
printf '%s\n' '5.002000 12 11 ENOENT 0x00007f00' '5.004000 12 11 0 /bin/x' >want
same got want 'execsnoop -x: what failed, too'
recipe execsnoop calls.dat
is "$(rows | wc -l)" 1 'execsnoop: without -x not'

# The table of perf kmem by caller; what it says of other CPUs counts frees of what is not known to be allocated.
if have perf && gzip -dc "$data/kmem.data.gz" >kmem.data &&
	perf kmem -f -i kmem.data --caller --raw-ip -l 100000 stat 2>/dev/null | tr -d ' %' |
	awk -F '|' '$1 ~ /^0x/ { split($2, a, "/"); split($3, b, "/"); print $1, a[1], a[2], b[1], b[2], $4, sprintf("%.2f", $6) }' |
		sort >want && [ -s want ]; then
	recipe kmemstat kmem.data --raw
	rows | awk '{ sub(/%/, "", $8); print $1, $2, $3, $4, $5, $6, $8 }' | sort >got
	same got want 'kmemstat: the table of perf kmem --caller'
	perf kmem -f -i kmem.data --alloc --raw-ip -l 100000 stat 2>/dev/null | tr -d ' %' |
		awk -F '|' '$1 ~ /^0x/ { split($2, a, "/"); split($3, b, "/"); print $1, a[1], a[2], b[1], b[2], $4 }' | sort >want
	recipe kmemstat -a kmem.data --raw
	rows | awk '{ print $1, $2, $3, $4, $5, $6 }' | sort >got
	same got want 'kmemstat -a: that of --alloc'
else
	skip 2 'there is no perf that has kmem'
fi

# Where symbols are, for recipes that show functions: as psym has it, also with blanks in a name.
gzip -dc "$data/contention.kallsyms.gz" |
	sed 's/__pv_queued_spin_lock_slowpath/as_the_test_says/' >"saved 'k.txt"
gzip -dc "$data/contention.data.gz" >c.data
"$BIN/pdecode" c.data >c.ps
"$BIN/psym" --kallsyms "saved 'k.txt" c.ps >named.ps 2>psym.err
"$BIN/pfilter" --lenient 'lock:contention_begin: ' named.ps | "$BIN/pfold" >want 2>/dev/null
recipe stackcount -e lock:contention_begin c.data
unlike "$OUT" 'as_the_test_says' 'stackcount: without the symbols of that machine'
like want 'as_the_test_says' 'psym: with them'
for from in "--kallsyms|saved 'k.txt" "--kallsyms=saved 'k.txt|--trust-host"; do
	recipe stackcount "${from%|*}" "${from#*|}" -e lock:contention_begin c.data
	same "$OUT" want "stackcount ${from%%[=|]*}: names"
done
recipe stackcount -e lock:contention_begin named.ps
same "$OUT" want 'stackcount: names that a stream has stay'
recipe offcputime --call-graph dwarf c.data
is "$status" 64 '--call-graph with a file'
recipe wakeuptime --call-graph dwarf 1
is "$status" 64 '--call-graph without the option for stacks'
recipe runqlat --call-graph dwarf 1
is "$status" 64 '--call-graph of a recipe without call chains'
recipe offcputime --call-graph dorf 0.1
is "$status" 64 '--call-graph with a word that pcap-perf does not know'
recipe offcputime --symfs
is "$status" 64 'an option without its argument'
recipe runqlat --symfs x c.data
is "$status" 64 'a recipe that shows no function takes none'
done_testing
