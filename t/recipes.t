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
	esac
	good=yes
	for help in -h --help; do
		recipe "$name" $help
		[ "$status" = 0 ] && [ ! -s "$ERR" ] && grep -q "^usage: $name " "$OUT" || good="$help"
	done
	for wrong in '' '-Z x' "$need_options"; do
		# shellcheck disable=SC2086
		recipe "$name" $wrong
		[ "$status" = 64 ] && [ ! -s "$OUT" ] && grep -q '^usage: ' "$ERR" || good="usage: $wrong"
	done
	is "$good" yes "$name: help and wrong usage"
	# shellcheck disable=SC2086
	recipe "$name" $need_options "$data/demo.data"
	is "$status" 1 "$name: a recording without its events"
	like "$ERR" 'nothing to show' "$name: and it is said"
	case $name in
	funccount | funcslower) wanted='trace-cmd record -p function' ;;
	argdist | stackcount) wanted='perf record -a .*-e sched:sched_no -- sleep' ;;
	*) wanted='perf record -a .*-e [a-z0-9_]+:[a-z0-9_]+ .*-- sleep' ;;
	esac
	like "$ERR" "$wanted" "$name: and how to record them"
	ok "$name: is in the man page" grep -q "^\.It Cm $name\$" "$ROOT/man/perfpipe-recipes.7"
done

# Statuses.
recipe runqlat nowhere.dat
is "$status" 2 'no such file'
unlike "$ERR" 'to record' 'which is not for want of events'
head -c 60000 "$data/sched.dat" >cut.dat
recipe syscount cut.dat
isnt "$status" 0 'a cut recording is not passed over'
recipe runqlat "$data/sched.dat" --no-such-option
is "$status" 64 'an option that the last filter does not have'
recipe runqslower -t fast "$data/sched.dat"
is "$status" 64 'a time that is none'
recipe funcslower 1
is "$status" 2 'what pcap-perf cannot record'
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
recipe runqlat "$data/sched.dat"
cp "$OUT" want
run_pipe 'cat "$data/sched.dat"' '"$dir/runqlat" -'
is "$status" 0 'standard input'
same "$OUT" want 'is the same'

# What they find.
recipe execsnoop "$data/sched.dat"
is "$(wc -l <"$OUT")" "$(text sched.dat | grep -c 'sched_process_exec:')" execsnoop
like "$OUT" 'filename=[^ ]+ pid=' 'execsnoop: the program'
recipe opensnoop "$data/syscalls.dat"
is "$(wc -l <"$OUT")" "$(text syscalls.dat | grep -cE 'sys_(enter_|exit_)?(open|openat|creat)[:( ]')" opensnoop
recipe killsnoop "$data/sched.dat"
is "$(wc -l <"$OUT")" "$(text sched.dat | awk '/signal_generate:/ && / code=(0|-[0-9]+) /' | wc -l)" killsnoop

# Calls by thread and number: of each entry the next exit of the thread.
text sched.dat | awk '
	{ match($0, /-[0-9]+ +\[/); tid = substr($0, RSTART + 1, RLENGTH - 2) + 0 }
	{ match($0, /NR [0-9]+/); nr = substr($0, RSTART, RLENGTH) }
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
recipe biosnoop "$data/block.data.gz"
is "$(grep -c ' block-io ' "$OUT")" "$done_n" biosnoop
recipe biosnoop "$data/block.data.gz" --slower=2ms
is "$(grep -c ' block-io ' "$OUT")" "$slow_n" 'biosnoop: an option for plat'
recipe bitesize "$data/block.data.gz" --tsv
is "$(counts)" "$issued_n" bitesize

# A wakeup, a birth or a preemption, and the next switch to the thread. One thread is called
# "ch ild:0 [x]": its id is what stands behind the last colon.
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
recipe offcputime "$data/sched-stacks.data.gz"
is "$status" 0 offcputime
like "$OUT" ';.* [0-9]{4,}$' 'offcputime: folded stacks in ns'
for kind in irq softirq; do
	enter=irq_handler
	[ $kind = irq ] || enter=softirq
	case $kind in irq) name=hardirqs ;; *) name=softirqs ;; esac
	recipe $name "$data/sched.dat" --tsv
	is "$(counts)" "$(text sched.dat | grep -c " ${enter}_exit: ")" "$name"
done

tcp() {
	text net.data.gz | grep 'inet_sock_set_state:.*protocol=IPPROTO_TCP' | grep -c "$1"
}
recipe tcpconnect "$data/net.data.gz"
is "$(wc -l <"$OUT")" "$(tcp 'newstate=TCP_SYN_SENT')" tcpconnect
recipe tcpaccept "$data/net.data.gz"
is "$(wc -l <"$OUT")" "$(tcp 'oldstate=TCP_SYN_RECV newstate=TCP_ESTABLISHED')" tcpaccept
recipe tcplife "$data/net.data.gz" --tsv
is "$(counts)" "$(tcp 'newstate=TCP_ESTABLISHED')" tcplife
recipe ext4slower -t 1ms "$data/ext4.dat"
text ext4.dat | awk '
	/ ext4_sync_file_(enter|exit): / {
		match($0, / [0-9]+\.[0-9]+: /); t = substr($0, RSTART, RLENGTH - 2) + 0
		if (/_enter/) at = t; else if (t - at >= 0.001) n++
	} END { print n + 0 }' >want
is "$(grep -c 'ext4_sync_file' "$OUT")" "$(cat want)" ext4slower

recipe argdist -e block_rq_issue -f nr_sector "$data/block.data.gz" --tsv
is "$(counts)" "$issued_n" argdist
recipe stackcount -e sched_wakeup "$data/sched-stacks.data.gz"
is "$(awk '{ n += $NF } END { print n }' "$OUT")" "$(text sched-stacks.data.gz | grep -c sched_wakeup:)" stackcount
recipe kmemleak "$data/kmem.data.gz"
like "$OUT" 'kmem' kmemleak
recipe lockstat "$data/lock.data.gz" --tsv
is "$(counts)" "$(text lock.data.gz | grep -c contention_end:)" lockstat

# Live.
if "$BIN/pcap-perf" -a -e sched:sched_switch -o live.data 0.1 2>/dev/null; then
	recipe cpudist 0.3
	is "$status" 0 'live: cpudist'
	like "$OUT" '^oncpu +[1-9]' 'live: and it has found something'
	recipe argdist -e sched:sched_switch -f prev_prio 0.3
	is "$status" 0 'live: argdist'
else
	skip 3 'recording is not allowed'
fi
done_testing
