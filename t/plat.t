#!/bin/sh
# plat: every interval beside what t/oracle/intervals finds in the text of the same recordings, and
# beside what perf sched timehist printed of one; times that add up; accounts; forms; refusals.
. "${0%/*}/lib.sh"

"$BIN/pdecode" "$ROOT/t/data/sched.dat" >trace.ps || exit 1
gzip -dc "$ROOT/t/data/sched.data.gz" >perf.data && "$BIN/pdecode" perf.data >perf.ps || exit 1

# All but those whose texts have no nanoseconds.
kinds=$("$BIN/plat" --list-kinds | awk '$1 != "func" && $1 != "timer-late" { printf "%s%s", n++ ? "," : "", $1 }')
# ours FILE: kind, thread or number, CPU, state or cause, begin, end of each interval.
ours() {
	"$BIN/plat" -k "$kinds" --slower 0 --tsv "$1" 2>ours.err | awk -F'\t' -v OFS='\t' 'NR > 1 {
		who = $3 == "irq" || $3 ~ /^softirq/ ? $14 : $6
		how = $10 $11
		printf "%s\t%s\t%s\t%s\t%.0f\t%.0f\n", $3, who, $7, how == "" ? "-" : how,
				$1, $1 + $2
	}' | LC_ALL=C sort
}
# The oracle has numbers of system calls where plat has names.
theirs() {
	"$ROOT/t/oracle/intervals" | awk -F'\t' -v OFS='\t' '$1 == "syscall" { $4 = "-" } 1' | LC_ALL=C sort
}
ours trace.ps >got
if have trace-cmd; then
	trace-cmd report -N -t "$ROOT/t/data/sched.dat" 2>/dev/null | theirs >want
	same got want 'trace.dat: the intervals in the text of trace-cmd report'
else
	skip 1 'trace-cmd is not installed'
fi
for kind in runq oncpu offcpu blocked waking idle syscall irq softirq softirq-raise timer timer-run \
	hrtimer hrtimer-run wq-queue wq-run process; do
	isnt "$(grep -c "^$kind	" got)" 0 "there are some of $kind"
done
ours perf.ps >got
if have perf; then
	perf script --ns -F comm,tid,cpu,time,event,trace -i perf.data 2>/dev/null </dev/null >text
	theirs <text >want
	# Newer perfs print sched_switch by the plugin of libtraceevent, which has no '+' of R+.
	! grep -q 'sched_switch: .*\] R ==> ' text || sed -i 's/	R+	/	R	/' got
	LC_ALL=C sort -o got got
	same got want 'perf.data: the intervals in the perf script text'
else
	skip 1 'perf is not installed'
fi

for name in kmem block lock; do
	gzip -dc "$ROOT/t/data/$name.data.gz" >$name.data
	"$BIN/pdecode" $name.data >$name.ps 2>/dev/null
	ours $name.ps >got
	isnt "$(wc -l <got)" 0 "$name.data: there are intervals"
	if have perf; then
		perf script --ns -F comm,tid,cpu,time,event,trace -i $name.data 2>/dev/null </dev/null |
			theirs >want
		same got want "$name.data: those in the perf script text"
	else
		skip 1 'perf is not installed'
	fi
done
# The other kinds; two CPUs of Linux 6.18, an RT kernel, and what is made after the formats of events.
"$ROOT/t/trace-make" events="$ROOT/t/data/kinds.events" >made.dat
cp "$ROOT/t/data/kinds.dat" "$ROOT/t/data/osnoise.dat" "$ROOT/t/data/ext4.dat" .
for name in preemptirq uprobes net; do
	gzip -dc "$ROOT/t/data/$name.data.gz" >$name.data
done
while read -r file wanted; do
	"$BIN/pdecode" "$file" >kinds.ps 2>/dev/null
	ours kinds.ps >got
	cut -f 1 got | sort -u >found
	for kind in $wanted; do
		ok "$file: there are some of $kind" grep -qx -e "$kind" found
	done
	case $file in
	*.dat)
		if ! have trace-cmd; then
			skip 1 'trace-cmd is not installed'
			continue
		fi
		trace-cmd report -N -t "$file" 2>/dev/null | theirs >want
		;;
	*)
		if ! have perf; then
			skip 1 'perf is not installed'
			continue
		fi
		perf script --ns -F comm,tid,cpu,time,event,trace -i "$file" 2>/dev/null </dev/null | theirs >want
		;;
	esac
	same got want "$file: those in the text"
done <<'FILES'
kinds.dat migrate vector csd-queue csd-run futex mmap-wait mmap-held signal block-queue
made.dat tasklet kvm-exit kvm-run nvme lock-wait lock-held signal mmap-held mmap-wait
osnoise.dat osnoise
ext4.dat fs
preemptirq.data irqsoff preemptoff
uprobes.data probe
net.data net-queue net-xmit net-receive
FILES
# What is in no text: names, and what is not in flight.
"$BIN/pdecode" made.dat >made.ps
"$BIN/plat" -k kvm-exit --by name --sort name --tsv made.ps 2>/dev/null |
	awk -F'\t' '/^kvm-exit/ { print $2, $3, $4 }' >got
cat >want <<'WANT'
HLT 1 300
NOT_IN_REALITY 1 70000
PF excp 1 4000
WANT
same got want "kvm-exit: the reasons of VMX and of SVM"
run "$BIN/plat" -k signal,mmap-held,nvme -u --tsv made.ps
is "$(grep -c '^nvme open	' "$OUT")" 1 '--unmatched: a command that was not answered'
is "$(grep -cE '^(signal|mmap-held) open	' "$OUT")" 0 'no signal that was ignored, and no lock that was let go'
"$BIN/pdecode" kinds.dat >kinds.ps
run "$BIN/plat" -k block-bio -u kinds.ps
unlike "$OUT" '^254,' '--unmatched: no bio that became a request'
# Lateness in jiffies: expires and now, of a timer.
if have trace-cmd; then
	trace-cmd report -N -t "$ROOT/t/data/sched.dat" 2>/dev/null | awk '
		function number(name) {
			match($0, name "[= ]-?[0-9]+")
			return substr($0, RSTART + length(name) + 1, RLENGTH - length(name) - 1)
		}
		{ match($0, /timer=(0x)?[0-9a-f]+/); timer = substr($0, RSTART, RLENGTH) }
		/ timer_start: / { match($0, /expires=[0-9]+/); due[timer] = substr($0, RSTART + 8, RLENGTH - 8) }
		/ timer_expire_entry: / && timer in due { print number("now") - due[timer]; delete due[timer] }' |
		sort -n >want
	"$BIN/plat" -k timer-late --slower 0 --tsv trace.ps 2>/dev/null | awk -F'\t' 'NR > 1 { print $2 }' | sort -n >got
	same got want 'timer-late: now less expires'
	isnt "$(wc -l <want)" 0 'and there are some'
else
	skip 2 'trace-cmd is not installed'
fi

# Functions: the beginning and the end that trace-cmd prints of each.
if have trace-cmd && have perl; then
	gzip -dc "$ROOT/t/data/trace-v6.dat.gz" >v6.dat
	trace-cmd report -N v6.dat 2>/dev/null |
		perl -ne 'print hex($2) - hex($1), "\n" if /funcgraph_exit:.*start:\s*([0-9a-f]+)\s+end:\s*([0-9a-f]+)/' |
		sort -n >want
	"$BIN/pdecode" v6.dat 2>/dev/null | "$BIN/plat" -k func --slower 0 --tsv 2>/dev/null |
		awk -F'\t' 'NR > 1 { print $2 }' | sort -n >got
	same got want 'func: from beginning to end'
	isnt "$(wc -l <want)" 0 'and there are some'
else
	skip 2 'there is no trace-cmd, or no perl'
fi

# Their names: those of trace-cmd, also where a symbol that says less has the same address.
if have trace-cmd && have perl; then
	"$BIN/pdecode" -j v6.dat 2>/dev/null |
		perl -ne 'printf "0x%x\n", $1 if /"type":"sample".*funcgraph_exit".*"func":(\d+)/' >addresses
	trace-cmd report -R v6.dat 2>/dev/null | sed -n '/funcgraph_exit:/s/.* func=\([^ ]*\).*/\1/p' >words
	paste -d ' ' addresses words | sort -u >want
	is "$(wc -l <addresses)" "$(wc -l <words)" 'each exit has its function'
	isnt "$(wc -l <want)" 0 'and there are some'
	perl -ne '/0x(\w+) (\S+)/ or next; $a = sprintf("%x", hex($1) & ~15);
		print "$a T __lock_text_start\n" if !$n; print $n % 3 ? "$a t $2\n$a W compat_sys_other\n" : "$a T $2\n$a T __x_text_start\n"; $n++' want >doctored
	for how in '' '--kallsyms doctored'; do
		# shellcheck disable=SC2086
		"$BIN/pdecode" v6.dat 2>/dev/null | "$BIN/plat" $how -k func --by "func + 0,name" --tsv 2>/dev/null |
			awk -F'\t' '$1 == "func" { print $2, $3 }' | sort >found
		join want found | awk '$2 != $3' >differ
		is "$(cat differ)" '' "func: names of trace-cmd report $how"
		is "$(join want found | wc -l)" "$(wc -l <found)" 'of all functions'
	done
else
	skip 6 'there is no trace-cmd, or no perl'
fi

# perf lock contention: count, total and longest wait of each caller.
if have perf && perf lock contention -i lock.data >waits 2>&1 </dev/null; then
	awk '$8 ~ /^rwsem:[RW]$/ && $3 == "ms" && $5 == "ms" && $7 == "ms" {
		w = $8 ~ /W/ ? "WRITE" : "READ"; n[w] += $1; t[w] += $2; if ($4 > m[w]) m[w] = $4
	} END { for (w in n) printf "%s %d %.1f %.2f\n", w, n[w], t[w], m[w] }' waits | sort >want
	"$BIN/plat" -k lock --slower 1ns --tsv lock.ps 2>/dev/null | awk -F'\t' 'NR > 1 {
		n[$9]++; t[$9] += $2; if ($2 > m[$9]) m[$9] = $2
	} END { for (w in n) printf "%s %d %.1f %.2f\n", w, n[w], t[w] / 1e6, m[w] / 1e6 }' | sort >got
	same got want 'lock: count, total and longest wait are those of perf lock contention'
	isnt "$(wc -l <want)" 0 'and there are some'
else
	skip 2 'no perf lock contention'
fi
# Who waits: the first function of each chain that is no lock's, by perf's own addresses (t/oracle.t has the sums);
# of waits for a CPU or a wakeup, that is what ps calls wchan. psym's names are of kallsyms here.
gzip -dc "$ROOT/t/data/lock.kallsyms.gz" >lock.kallsyms
"$BIN/psym" --kallsyms lock.kallsyms lock.ps 2>/dev/null >named.ps
run "$BIN/plat" -k lock --by 'site,caller' --tsv named.ps
like "$OUT" '^lock	vm_mmap_pgoff	down_write_killable	10	' 'site: not the functions of the lock'
like "$OUT" '^lock	lock_mm_and_find_vma	down_read_killable	22	' 'and another'
is "$("$BIN/pfilter" --drop 'site == "__vm_munmap" && event == "lock:contention_begin"' named.ps 2>/dev/null | "$BIN/phist" --by site --tsv 2>/dev/null | awk -F'\t' '!/^#/ { print $2, $3 }')" \
	'__vm_munmap 8' 'pfilter and phist have it, too'
run "$BIN/plat" -k lock --by site --tsv lock.ps
like "$OUT" '^lock		40	' 'without psym nobody is known'

# Expressions on events of the scheduler, which end one interval and begin another: the priority that
# threads go off with, by what perf or pdecode print of each switch.
gzip -dc "$ROOT/t/data/sched-stacks.data.gz" >stacks.data
"$BIN/pdecode" stacks.data 2>/dev/null >stacks.ps
"$BIN/pdecode" -t -F cpu,time,event,trace stacks.ps 2>/dev/null | awk '
	/sched_switch:/ {
		next_tid = $0
		sub(/.* next_pid=/, "", next_tid)
		sub(/ .*/, "", next_tid)
		match($0, / prev_pid=[0-9]+ prev_prio=[0-9]+ /)
		split(substr($0, RSTART + 1), v, /[= ]/)
		if (next_tid != 0 && next_tid in prio) n[prio[next_tid]]++
		delete prio[next_tid]
		if (v[2] != 0) prio[v[2]] = v[4]
	}
	END { for (p in n) print p, n[p] }' | sort >want
"$BIN/plat" -k offcpu --by prev_prio --tsv stacks.ps 2>/dev/null | awk -F'\t' '$1 == "offcpu" { print $2, $3 }' | sort >got
same got want 'offcpu by a field of the switch from the thread'
isnt "$(wc -l <want)" 0 'and there are some'
run "$BIN/plat" -k runq,oncpu,idle,offcpu --by event --tsv stacks.ps
like "$OUT" '^oncpu	sched:sched_switch	[0-9]' 'oncpu begins with a switch'
like "$OUT" '^runq	sched:sched_wakeup	[0-9]' 'runq with a wakeup'
like "$OUT" '^idle	sched:sched_switch	[0-9]' 'idle with a switch'

# perf kmem --page stat of this recording: 1020 allocations, 928 frees, 849 both, 171 and 79 one of them.
"$BIN/plat" -k page kmem.ps 2>account >/dev/null
like account '^plat: page: 1020 starts = 849 intervals \+ 171 open; 79 ends without start$' \
	'pages: as perf kmem counts them'
# And --slab: 255 allocations, of 183072 bytes.
"$BIN/plat" -k kmem -u --tsv kmem.ps 2>/dev/null | awk -F'\t' '
	NR == 1 { for (i = 1; i <= NF; i++) at[$i] = i; next }
	/^kmem open/ {
		n += $at["age:count"]; bytes += now = $at["bytes_alloc:sum:bytes"]
		wrong += rows++ && now > last
		last = now
	}
	END { print n, (bytes > 0 && bytes < 183072), (rows > 2), wrong + 0 }' >got
is "$(cat got)" '14 1 1 0' 'slab memory: 255 allocations less 241 that were freed, most bytes first'

# What is freed on another CPU, as perf kmem counts ping-pong (t/oracle.t has all of them); each address in
# hexadecimal digits.
run "$BIN/plat" -k kmem --by call_site,moved --tsv kmem.ps
like "$OUT" '^kmem	0xffffffff819d63fb	1	3	' 'memory that is freed on another CPU'
"$BIN/plat" -k kmem --by call_site --slower 0 --json kmem.ps 2>/dev/null | sed -n 's/.*"call_site":"\(0x[0-9a-f]*\)".*/\1/p' | sort | uniq -c >listed
is "$(awk '$2 == "0xffffffff8109e11a" { print $1 }' listed)" 25 'so it is in lists'
"$BIN/plat" -k kmem --by moved,cpu,end_cpu --tsv kmem.ps 2>/dev/null |
	awk -F'\t' '$1 == "kmem" && $2 != ($3 != $4) { bad++ } $1 == "kmem" { n++ } END { print bad + 0, (n > 2) }' >got
is "$(cat got)" '0 1' 'moved: the CPUs differ'

# What is open, as samples and as lines.
"$BIN/plat" --emit kmem -u kmem.ps 2>/dev/null >open.ps
"$BIN/pfold" open.ps 2>/dev/null | awk '{ n += $NF } END { print n }' >got
"$BIN/plat" -k kmem -u --by kind --tsv kmem.ps 2>/dev/null | awk -F'\t' '
	NR == 1 { for (i = 1; i <= NF; i++) at[$i] = i; next }
	/^kmem open/ { n += $at["bytes_alloc:sum:bytes"] } END { print n }' >want
same got want '--emit --unmatched: the bytes that were not freed'
isnt "$(cat want)" 0 'and there are some'
"$BIN/plat" -k kmem,page -u --slower 0 --tsv kmem.ps 2>/dev/null | cut -f 3 | sed 1d | sort | uniq -c | awk '{ print $2, $1 }' >got
printf 'kmem 14\npage 171\n' >want
same got want '--slower --unmatched: a line for each'
"$BIN/plat" --emit page -u kmem.ps 2>/dev/null | "$BIN/pfold" 2>/dev/null | awk '{ n += $NF } END { printf "%.0f\n", n }' >got
"$BIN/plat" -k page -u --slower 0 --tsv kmem.ps 2>/dev/null | awk -F'\t' 'NR > 1 { n += $2 } END { printf "%.0f\n", n }' >want
same got want 'what has no amount weighs its age'
run "$BIN/plat" --threads -u kmem.ps
is "$status" 64 '--threads --unmatched is refused'
for wrong in '--timeline --fail-if max(runq)>1' '--slower 0 --fail-if max(runq)>1' '--emit offcpu --fail-if max(offcpu)>1' \
	'--emit offcpu --top 3' '--emit offcpu --sort sum' '--emit offcpu --tsv' '--emit offcpu --by comm' \
	'--timeline --by comm --tsv' '--timeline --tsv' '--timeline --log2' '--slower 0 --top 3' '--threads --by comm' \
	'--threads --log2' '--stacks' '--lenient' '--cumulative' '--binary' '--name x' '--log2 --tsv' '--tsv --json' '--markdown --slower 0' '--markdown --emit runq'; do
	# shellcheck disable=SC2086
	run "$BIN/plat" $wrong trace.ps
	is "$status" 64 "$wrong: an option without effect is refused"
	like "$ERR" 'has no effect with(out)? --' "$wrong: with the reason"
done

# perf sched timehist: a line for each time that a thread ran, with the time off the CPU and on the run
# queue before. It cuts times off, and knows no delay of preempted threads.
gzip -dc "$ROOT/t/data/reports/sched.timehist.gz" | awk '/[0-9.]+ +[0-9.]+ +[0-9.]+ *$/ {
	time = $1
	sub(/\./, "", time)
	n = split($0, end, " ")
	printf "%s %s %s %s\n", time, /\[-1/ ? "-" : end[n - 2], /\[-1/ ? "-" : end[n - 1], end[n]
}' | sort -u >theirs
"$BIN/plat" -k oncpu,runq,offcpu --slower 1ns --tsv perf.ps 2>/dev/null | awk -F'\t' '
	function us(ns) { return sprintf("%.0f", int(ns / 1000)) }
	function ms(ns) { return sprintf("%.3f", int(ns / 1000) / 1000) }
	NR == 1 { next }
	{ end = $6 " " sprintf("%.0f", $1 + $2) }
	$3 == "runq" { delay[end] = $11 == "preempted" ? 0 : $2 }
	$3 == "offcpu" { off[end] = $2 }
	$3 == "oncpu" { printf "%s %s %s %s\n", us($1 + $2), ms(off[$6 " " $1]),
		ms(delay[$6 " " $1]), ms($2) }' | sort -u >ours
awk '{ last = $1 " - - " $4 }
	NR == FNR { line[$0]; next }
	!($0 in line) && !(last in line)' theirs ours >wrong
empty wrong 'timehist: when each thread ran, for how long, and how long it had waited'
isnt "$(comm -12 ours theirs | wc -l)" 0 'and there are such'

# The threads' times add up. Until the end of the last interval they are what the intervals are.
for file in trace perf; do
	"$BIN/plat" --threads --tsv $file.ps 2>/dev/null >threads
	awk -F'\t' 'NR == 1 { for (i = 1; i <= NF; i++) at[$i] = i; next }
		/^threads/ {
			n++
			unknown += $at["unknown:sum:ns"]
			wall += $at["wall:sum:ns"]
			if ($at["wall:sum:ns"] != $at["run:sum:ns"] + $at["runnable:sum:ns"] + \
			    $at["blocked:sum:ns"] + $at["unknown:sum:ns"])
				print
		}
		END { if (n < 30 || unknown > wall / 10) print n, unknown, wall }' threads >wrong
	empty wrong "$file: run, runnable, blocked and unknown add up to the time of each thread"
	"$BIN/plat" -k oncpu,runq,blocked --by tid --tsv $file.ps 2>/dev/null >rows
	awk -F'\t' 'FNR == 1 { file++ }
		/^#/ { for (i in at) delete at[i]; for (i = 1; i <= NF; i++) at[$i] = i; next }
		file == 1 && $1 ~ /^(oncpu|runq|blocked)$/ { sum[$1, $2] = $4; next }
		file == 2 && $1 == "threads" {
			n++
			if (sum["oncpu", $4] > $at["run:sum:ns"] || sum["runq", $4] > $at["runnable:sum:ns"] ||
			    sum["blocked", $4] > $at["blocked:sum:ns"])
				print
		}
		END { if (n < 30) print n }' rows threads >wrong
	empty wrong "$file: and are at least the sums of the intervals"
done

# The account: starts are the sum of what became of them.
"$BIN/plat" --stats trace.ps 2>account >/dev/null
awk '/ starts/ {
	n = $3
	sub(/;.*/, "")
	sub(/.* starts = /, "")
	k = split($0, part, / \+ /)
	for (i = 1; i <= k; i++) { split(part[i], w, " "); n -= w[1] }
	if (n) print
	kinds++
} END { if (kinds < 9) print "too few kinds" }' account >wrong
empty wrong 'every start is accounted for'

# Any pair: the same as a built-in one.
"$BIN/plat" -k syscall --slower 1ns --tsv trace.ps 2>/dev/null | awk -F'\t' '$9 != "rt_sigreturn"' | cut -f 1,2,6 >want
"$BIN/plat" -s sys_enter:TID,id -e raw_syscalls:sys_exit:TID,id --slower 1ns --tsv trace.ps 2>/dev/null |
	cut -f 1,2,6 >got
same got want '-s and -e: system calls'
"$BIN/plat" -s 'sys_enter:TID,id if id == 0' -e sys_exit:TID,id --slower 1ns --tsv trace.ps 2>/dev/null |
	cut -f 1,2,6 >got
"$BIN/plat" -k syscall --slower 1ns --tsv trace.ps 2>/dev/null | awk -F'\t' 'NR == 1 || $9 == "read"' |
	cut -f 1,2,6 >want
same got want 'with a condition'

# The kernel has no number for the end of rt_sigreturn; what exits is no call that is still open.
"$BIN/pdecode" -t "$ROOT/t/data/sched.dat" 2>/dev/null | grep -c 'sys_exit: .*NR -1' >want
"$BIN/plat" -k syscall --slower 0 --tsv trace.ps 2>/dev/null | cut -f 9 | grep -c rt_sigreturn >got
same got want 'rt_sigreturn ends, too'
isnt "$(cat got)" 0 'and there are some'
"$BIN/pdecode" -t "$ROOT/t/data/sched.dat" 2>/dev/null | grep -cE 'sys_enter: .*NR (60|231) ' >want
isnt "$(cat want)" 0 'there are calls of exit'
run "$BIN/plat" -k syscall -u --by name trace.ps
unlike "$OUT" '^exit' 'which -u does not list'
sed -n 's/.*syscall: .* \([0-9]*\) cancelled.*/\1/p' "$ERR" >got
same got want 'but the account has as cancelled'

# Values of --by: of the first event, of the last if that has none; also where threads are concerned, and
# as columns of the list.
"$BIN/pfilter" -t 'event == "sched:sched_switch"' perf.ps 2>/dev/null |
	sed 's/.* \([0-9.]*\): .*next_pid=\([0-9]*\) next_prio=\([0-9]*\).*/\1 \2 \3/' | sort >switches
"$BIN/plat" -k oncpu --slower 0 --by next_prio --tsv perf.ps 2>/dev/null |
	awk -F'\t' 'NR > 1 { printf "%.6f %s %s\n", int($1 / 1000) / 1e6, $6, $15 }' | sort >runs
isnt "$(wc -l <runs)" 0 '--by of a field with oncpu'
comm -23 runs switches >got
empty got 'is that of the switch to the thread'
isnt "$(cut -d' ' -f 3 runs | sort -u | wc -l)" 1 'and not always the same'
cut -d' ' -f 3 runs | sort | uniq -c | awk '{ print $2, $1 }' | sort >want
"$BIN/plat" -k oncpu --by next_prio --tsv perf.ps 2>/dev/null | awk -F'\t' '$1 == "oncpu" { print $2, $3 }' | sort >got
same got want 'rows have as many'
"$BIN/plat" -k runq --slower 0 --by prio,next_prio --tsv perf.ps 2>/dev/null |
	awk -F'\t' 'NR > 1 && $11 != "preempted" { n++; bad += $15 == "" || $15 != $16 } END { print (n > 0), bad + 0 }' >got
is "$(cat got)" '1 0' 'runq: of the wakeup, and of the switch to the thread'
run "$BIN/plat" -k oncpu --slower 0 --by 'pid,next_prio,next_prio > 100' perf.ps
like "$OUT" '^ +time .* name .* pid +next_prio +next_prio > 100$' 'the list has a column for each, and what else it has not'
awk 'NR > 1 && $NF != ($(NF - 1) > 100)' "$OUT" >got
empty got 'with the values'
isnt "$(wc -l <"$OUT")" 1 'of each line'
run "$BIN/plat" -k oncpu --slower 0 --by next_prio --json perf.ps
like "$OUT" '"next_prio":-?[0-9]+}$' 'also in JSON'
run "$BIN/plat" -k runq --by comm,no_such perf.ps
is "$status" 1 '--by: a field that no event has'
like "$ERR" "no event of the stream has the field 'no_such'" 'is reported'
like "$OUT" '^runq' 'and the rest is there'

# A thread was woken, and then ran without a switch to it in the recording: it waited up to its next event at
# the latest, and what had woken it has nothing to do with its next run. Left out are a switch to a thread, and
# all its wakings after that.
"$BIN/plat" -k runq --slower 0 --tsv perf.ps 2>/dev/null | awk -F'\t' '$11 == "woken" {
	if (++n[$6] == 3)
		at[$6] = sprintf("%.0f", $1 + $2)
	if (n[$6] == 6) {
		print $6, at[$6]
		exit
	}
}' >which
read -r tid time <which
"$BIN/pfilter" --drop "TIME != $time && !(event == \"sched:sched_waking\" && pid == $tid && TIME > $time)" \
	perf.ps >missing.ps 2>/dev/null
"$BIN/plat" -k runq --slower 0 --tsv missing.ps 2>/dev/null |
	awk -F'\t' -v tid="$tid" '$6 == tid && $11 == "woken"' | wc -l >got
is "$(cat got)" 3 'a waking of before a missing run is none of the next one'

# Futex calls by raw_syscalls, by their own events, and by both: the same calls.
gzip -dc "$ROOT/t/data/futex.data.gz" >futex.data
"$BIN/pdecode" futex.data 2>/dev/null >futex.ps
gzip -dc "$ROOT/t/data/reports/futex.summary.gz" | awk '$1 == "futex" && NF == 8 { n += $2 } END { print n }' >want
for system in '*' raw_syscalls syscalls; do
	"$BIN/pfilter" --drop "event ~ \"$system:*\"" futex.ps 2>/dev/null |
		"$BIN/plat" -k futex --slower 0 --tsv 2>/dev/null | sed 1d >list
	wc -l <list >got
	same want got "futex calls by $system: as many as perf trace -s has"
	cut -f 6,9 list | LC_ALL=C sort >"futex.$system"
done
same 'futex.*' futex.raw_syscalls 'of the same threads and addresses, by both'
same 'futex.*' futex.syscalls 'and by each'
isnt "$(cut -f 2 futex.syscalls | sort -u | wc -l)" 1 'of several addresses'
"$BIN/plat" -k syscall --slower 0 --tsv futex.ps 2>/dev/null | cut -f 6 | sort | uniq -c >both
"$BIN/pfilter" --drop 'event ~ "raw_syscalls:*"' futex.ps 2>/dev/null |
	"$BIN/plat" -k syscall --slower 0 --tsv 2>/dev/null | cut -f 6 | sort | uniq -c >raw
same both raw 'a system call that two events tell counts once'

# The text of a recording tells the same of the scheduler.
sched=runq,oncpu,offcpu,blocked,waking,migrate,idle
"$BIN/pdecode" -t --ns "$ROOT/t/data/sched.dat" 2>/dev/null >trace.txt
"$BIN/pdecode" trace.txt 2>/dev/null | "$BIN/plat" -k $sched --slower 0 --tsv 2>/dev/null >got
# trace-cmd does not print the '+' of R+.
"$BIN/plat" -k $sched --slower 0 --tsv trace.ps 2>/dev/null | sed 's/	R+	/	R	/' >want
isnt "$(wc -l <want)" 1 'intervals of the scheduler'
same want got 'are the same in the text of the events'

# What paired them: numbers and texts, several of them.
"$BIN/plat" -s sched_waking:comm,pid -e sched_wakeup:comm,pid --slower 0 --tsv trace.ps 2>/dev/null |
	cut -f 1,14 | sed 1d >got
"$BIN/pdecode" -t "$ROOT/t/data/sched.dat" 2>/dev/null | awk '
	!match($0, /sched_wak(ing|eup): +/) { next }
	{ event = substr($0, RSTART, 10); text = substr($0, RSTART + RLENGTH); sub(/ (\[|prio).*/, "", text) }
	sub(/^comm=/, "", text) { sub(/ pid=/, ":", text) }
	event == "sched_waki" { open[text] }
	event == "sched_wake" && text in open { print text; delete open[text] }' >text
isnt "$(wc -l <got)" 0 'keys of a pair'
sed 's/:\([0-9]*\)$/,\1/' text >want
cut -f 2 got >keys
same keys want 'are numbers and texts, with commas'
"$BIN/plat" -s sched_waking:comm,pid -e sched_wakeup:comm,pid --by key --tsv trace.ps 2>/dev/null |
	awk -F'\t' '$1 == "pair" { print $2, $3 }' | LC_ALL=C sort >got
LC_ALL=C sort want | uniq -c | awk '{ n = $1; sub(/^ *[0-9]+ /, ""); print $0, n }' | LC_ALL=C sort >rows
same got rows '--by key counts them'
run "$BIN/plat" -s sched_waking:pid -e sched_switch:next_pid --slower 10ms trace.ps
like "$OUT" '^ +time .* name$' '--slower: no waker where there is none'
like "$OUT" ' sched:sched_waking [0-9]+$' 'the event and the key'

# Nothing to list: how many were shorter, and the longest of them, in ms of three digits.
"$BIN/plat" -k irq,softirq,softirq-raise,timer-run,hrtimer,hrtimer-run --slower 0 --tsv trace.ps 2>/dev/null |
	awk -F'\t' 'NR > 1 { n++; if ($2 > max) max = $2 }
		END { printf "none of %d,%03d was longer than 600 s; the longest %.*f ms\n", n / 1000, n % 1000,
			max < 1e7 ? 2 : max < 1e8 ? 1 : 0, max / 1e6 }' >want
cat >wide.txt <<'X'
 pg-7 [000] 1.000000: query__start: query="SELECT abalance FROM pgbench_accounts WHERE aid = 123456789" db="bench"
 pg-7 [000] 1.050000: query__done: query="x"
 pg-8 [000] 1.060000: query__start: query="END" db="b"
 pg-8 [000] 1.070000: query__done: query="x"
X
"$BIN/pdecode" wide.txt >wide.ps 2>"$ERR"
run "$BIN/plat" -s query__start -e query__done --slower 0 --by query,db wide.ps
is "$(sed 's/…/./; s/[^ ]*$/@/' "$OUT" | awk '{ print index($0, "@") }' | uniq | wc -l)" 1 '--slower: a key that is cut leaves the next column in its place'
like "$OUT" 'SELECT abalance FROM pg… bench$' 'and ends in an ellipsis'
run "$BIN/plat" -s query__start -e query__done --slower 0 --by query,db --wide wide.ps
like "$OUT" 'aid = 123456789 bench$' '--wide: whole'
run "$BIN/plat" -k irq,softirq,softirq-raise,timer-run,hrtimer,hrtimer-run --slower 600s trace.ps
is "$status" 0 'nothing that long'
empty "$OUT" 'no line'
sed -n 's/^plat: \(none .*\)/\1/p' "$ERR" >got
same got want 'the longest is told'
like want 'none of [1-9],[0-9][0-9][0-9] ' 'of more than a thousand'

# On a terminal columns are left out until the others fit.
if have script; then
	cat >narrow <<-END
		stty cols 80
		'$BIN/plat' -k runq trace.ps 2>messages
		'$BIN/plat' -k runq --slower 1ms trace.ps 2>>messages
		'$BIN/plat' --threads trace.ps 2>>messages
		'$BIN/plat' -k runq --sort p99.9 trace.ps 2>/dev/null >/dev/tty
	END
	script -qec 'sh narrow' /dev/null >"$OUT" 2>&1 </dev/null
	tr -d '\r' <"$OUT" >text
	awk 'length($0) > 80 || /\r/' text >wrong
	empty wrong 'no line is longer than the terminal is wide'
	is "$(grep -c '^comm .*count .*p99 .*max' text)" 2 'what is of most use stays'
	is "$(grep -c '^comm .*p99\.9' text)" 1 'and what it is sorted by'
	is "$(grep -c 'do not fit the terminal.*--wide' messages)" 3 'and a message says so'
	echo "stty cols 80; '$BIN/plat' -k runq --wide trace.ps 2>/dev/null" >narrow
	script -qec 'sh narrow' /dev/null 2>&1 </dev/null | tr -d '\r' >got
	"$BIN/plat" -k runq trace.ps 2>/dev/null >want
	same got want '--wide: as in a pipe'
else
	skip 5 'script is not installed'
fi

# Forms.
run "$BIN/plat" trace.ps
is "$status" 0 'text'
like "$OUT" '^oncpu +[0-9]+ ' 'a row for each kind'
like "$OUT" '^comm +state +count' 'a table for each kind'
like "$ERR" '^plat: 2[0-9] kinds: [0-9]+ starts = .* open.* ends without start' 'the account is reported'
run "$BIN/plat" -k runq --tsv --by cause trace.ps
cp "$OUT" once
run "$BIN/phist" --merge --tsv once once
awk -F'\t' '/^runq/ { print $2, $3 * 2 }' once >want
awk -F'\t' '/^runq/ { print $2, $3 }' "$OUT" >got
same got want 'phist --merge adds up results'
run "$BIN/plat" --stats -k runq --json trace.ps
like "$OUT" '"table":"account"' '--stats: the account is a table of the JSON'
run "$BIN/plat" -k offcpu,blocked trace.ps
is "$(awk '/^kind / || /^comm / { print $1, /share/ }' "$OUT" | tr '\n' ' ')" 'kind 0 comm 1 comm 1 ' \
	'kinds overlap: no share in the table of all'
"$BIN/plat" -k offcpu,blocked --tsv trace.ps 2>/dev/null >once
"$BIN/phist" --merge once once >"$OUT" 2>"$ERR"
is "$(awk '/^kind / || /^comm / { print $1, /share/ }' "$OUT" | tr '\n' ' ')" 'kind 0 comm 1 comm 1 ' \
	'nor after phist --merge'
run "$BIN/plat" -k runq,oncpu --by kind trace.ps
unlike "$OUT" '^intervals' '--by kind: no second table of the same rows'
is "$(grep -cE '^(runq|oncpu) +[0-9]' "$OUT")" 2 'but those of the kinds'
run "$BIN/plat" -k runq --by cause --log2 trace.ps
like "$OUT" '^preempted ' '--by'
like "$OUT" '\|\*' '--log2'
run "$BIN/plat" --tsv trace.ps
like "$OUT" '^#PPTABLE1' '--tsv'
run "$BIN/plat" -k softirq --over-time=100ms --tsv trace.ps
is "$status" 0 '--over-time'
run "$BIN/plat" -k softirq --heatmap --tsv trace.ps
like "$OUT" 'heat' '--heatmap'
run "$BIN/plat" -u -k syscall --by name trace.ps
like "$OUT" '^futex|^wait|^ppoll|^pselect|^epoll|^read' '--unmatched: system calls in flight'
run "$BIN/plat" --list-kinds
cut -d ' ' -f 1 "$OUT" >kinds
sed -n '/^\.Ss Kinds/,/^\.Ss Any/s/^\.It Cm //p' "$ROOT/man/plat.1" >page
same kinds page 'the page has the kinds that there are'

# After pfilter: the intervals whose first event passed, or did not apply while the last passed; all of
# them end where they end without it.
"$BIN/pfilter" 'prev_state == R' trace.ps 2>/dev/null >filtered.ps
"$BIN/plat" -k offcpu --slower 1ns --tsv filtered.ps 2>/dev/null | cut -f 1,2,6,10 | sed 1d >got
"$BIN/plat" -k offcpu --slower 1ns --tsv trace.ps 2>/dev/null | cut -f 1,2,6,10 | grep 'R+*$' >want
same got want 'pfilter selects the preempted, and each ends where it did'
isnt "$(wc -l <got)" 0 'and there are some'

# A switch is of two threads: a condition on one of them does not select the intervals of the other. The
# text of the switches tells which intervals are meant.
"$BIN/pfilter" -t -N --ns 'event == "sched:sched_switch"' trace.ps 2>/dev/null |
	sed -n 's/^ *\(.*\)-[0-9]* *\[[0-9]*\] *\([0-9]*\)\.\([0-9]*\): .*prev_comm=\(.*\) prev_pid=\([0-9]*\) .*prev_state=\([^ ]*\) ==> next_comm=\(.*\) next_pid=\([0-9]*\) .*/\2\3\t\4\t\5\t\6\t\7\t\8\t\1/p' >switches
isnt "$(wc -l <switches)" 0 'the text has switches'
list() { # KIND FILE: thread, begin, end
	"$BIN/plat" -k "$1" --slower 0 --tsv "$2" 2>/dev/null |
		awk -F'\t' -v OFS='\t' 'NR > 1 { printf "%s\t%.0f\t%.0f\n", $6, $1, $1 + $2 }' | LC_ALL=C sort
}
meant() { # KIND COLUMN CONDITION: the intervals whose begin (2) or end (3) is a switch for which it holds
	list "$1" trace.ps | awk -F'\t' -v column="$2" 'NR == FNR { if ('"$3"') is[who, $1]; next } ($1, $column) in is' switches -
}
"$BIN/pfilter" 'prev_state == 0' trace.ps 2>/dev/null >state.ps
for kind in offcpu:2 runq:2 oncpu:3; do
	meant "${kind%:*}" "${kind#*:}" '(who = $3) > 0 && $4 == "R"' >want
	list "${kind%:*}" state.ps >got
	same got want "prev_state == 0: ${kind%:*} of the threads that were preempted"
	isnt "$(wc -l <want)" 0 'and there are some'
done
"$BIN/pfilter" 'next_comm == "wl"' trace.ps 2>/dev/null >next.ps
meant oncpu 2 '(who = $6) > 0 && $5 == "wl"' >want
list oncpu next.ps >got
same got want 'next_comm: oncpu of the threads that are switched to'
"$BIN/pfilter" --comm=wl trace.ps 2>/dev/null >comm.ps
meant oncpu 3 '(who = $3) > 0 && $7 == "wl"' >want
list oncpu comm.ps >got
same got want '--comm: oncpu of the threads of this name'
run "$BIN/plat" state.ps
is "$(sed -n "s/^\([a-z-]*\): pfilter 'prev_state == 0' trace.ps passed \(.*\)/\1 \2/p" "$OUT" | paste -s -d '|')" \
	"runq the thread's wakeup, or the switch from it|offcpu the switch from the thread|oncpu the switch from the thread; it does not apply to the switch to the thread" \
	'the titles say what the condition meant, and what begins so comes first'
is "$(sed -n '4,6s/ .*//p' "$OUT" | paste -s -d ' ')" 'runq offcpu oncpu' 'also in the table of all'
is "$(wc -l <"$ERR")" 1 'the account is one line'
like "$ERR" '^plat: 2[0-9] kinds: [0-9]+ starts = 75 intervals \+ .*; [0-9]+ ends without start \(--stats: of each\)$' 'of all kinds'
"$BIN/pfilter" "comm != 'prev_comm' && cpu >= 0" trace.ps 2>/dev/null | "$BIN/plat" -k oncpu --slower 0 --tsv 2>/dev/null >got
"$BIN/plat" -k oncpu --slower 0 --tsv trace.ps 2>/dev/null >want
same got want 'texts are no fields'

# A new thread that waits has the name that it had then, as its wakeup has it, not the one that it gives itself.
"$BIN/pdecode" -t --ns perf.ps 2>/dev/null |
	sed -n 's/.*\] *\([0-9]*\)\.\([0-9]*\): *sched:sched_wakeup_new: comm=\(.*\) pid=\([0-9]*\) .*/\1\2\t\4\t\3/p' | sort >want
"$BIN/plat" -k runq --slower 0 --tsv perf.ps 2>/dev/null |
	awk -F'\t' -v OFS='\t' '$11 == "new" { printf "%.0f\t%s\t%s\n", $1, $6, $4 }' | sort >got
same got want 'a new thread waits under the name of its wakeup'
isnt "$(wc -l <want)" 0 'and there are some'

# The stacks of where threads went to sleep, by psym before or after.
gzip -dc "$ROOT/t/data/sched-stacks.data.gz" >stacks.data
"$BIN/pdecode" stacks.data 2>/dev/null >stacks.ps
"$BIN/psym" stacks.ps 2>/dev/null | "$BIN/plat" --emit offcpu 2>/dev/null | "$BIN/pfold" 2>/dev/null >before
"$BIN/plat" --emit offcpu stacks.ps 2>/dev/null | "$BIN/psym" 2>/dev/null | "$BIN/pfold" 2>/dev/null >after
same before after '--emit: psym before or after gives the same stacks'
isnt "$(grep -c ';.*;' after)" 0 'and there are stacks'

# The second stack: the waker's.
"$BIN/plat" --emit blocked stacks.ps 2>/dev/null | "$BIN/psym" 2>/dev/null >woken.ps
"$BIN/pfold" --no-header --other woken.ps 2>/dev/null >wakers
"$BIN/pfold" --no-header --waker woken.ps 2>/dev/null >both
"$BIN/pfold" --no-header woken.ps 2>/dev/null >sleepers
awk '{ n += $NF } END { printf "%.0f\n", n }' sleepers >want
for what in wakers both; do
	awk '{ n += $NF } END { printf "%.0f\n", n }' $what >got
	same got want "pfold, $what: the time is that of the first stacks"
done
sed 's/;--;.*\( [0-9]*\)$/\1/' both | "$BIN/pfold" --no-header >got 2>/dev/null
same got sleepers '--waker: what is before -- is the first stack'
# Turned round, what is after it is what --other has.
awk '{ c = $NF; sub(/ [0-9]*$/, ""); if (!sub(/.*;--;/, "")) next
	n = split($0, f, ";"); s = f[n]; while (--n) s = s ";" f[n]; print s, c }' both |
	"$BIN/pfold" --no-header >got 2>/dev/null
grep -v '^\[unknown\]' wakers >want
same got want '--waker: what is after -- is the second stack, upside down'
isnt "$(grep -c ';.*;' want)" 0 'and there are stacks'
"$BIN/plat" -k blocked --slower 1ns --tsv stacks.ps 2>/dev/null |
	sed 1d | awk -F'\t' '$12 != "" { gsub(/ /, "_", $12); t[$12] += $2 }
	END { for (w in t) printf "%s %.0f\n", w, t[w] }' | sort >want
sed 's/;.* / /' wakers | grep -v '^\[unknown\]' |
	awk '{ t[$1] += $2 } END { for (w in t) printf "%s %.0f\n", w, t[w] }' | sort >got
same got want '--other: the time of each waker'

# In text, the frames are lines below the row: what is one text of TSV.
"$BIN/psym" stacks.ps 2>/dev/null >named.ps
run "$BIN/plat" -k offcpu -b comm,stack,state named.ps
awk '/^comm +state/ { on = 1 } on && /^        / { frames[++n] = substr($0, 9); next } { if (n) { s = frames[n]; while (--n) s = s ";" frames[n]; print s } n = 0 }
	END { if (n) { s = frames[n]; while (--n) s = s ";" frames[n]; print s } }' "$OUT" | sort >got
like "$OUT" '^comm +state +count' 'stacks are no column'
"$BIN/plat" -k offcpu -b comm,stack,state --tsv named.ps 2>/dev/null |
	awk -F'\t' '/^#/ { for (i = 1; i <= NF; i++) at[$i] = i; next } $1 == "offcpu" && $at["stack:key"] != "" { print $at["stack:key"] }' |
	sort >want
same got want 'but lines below the rows'
isnt "$(wc -l <want)" 0 'and there are some'

# --emit: the intervals as samples, which weigh what they last.
run "$BIN/plat" --emit offcpu,syscall perf.ps trace.ps
is "$status" 0 '--emit'
cp "$OUT" emitted.ps
run "$BIN/pfold" -e offcpu emitted.ps
is "$status" 0 'writes a stream that pfold reads'
awk '{ n += $NF } END { printf "%.0f\n", n }' "$OUT" >got
"$BIN/plat" -k offcpu --slower 1ns --tsv perf.ps trace.ps 2>/dev/null |
	awk -F'\t' 'NR > 1 { n += $2 } END { printf "%.0f\n", n }' >want
same got want 'and weighs by their durations'

run "$BIN/plat" --emit offcpu --json perf.ps
is "$(grep -cv '^{.*}$' "$OUT")" 0 '--emit --json: a JSON object on each line'
is "$(grep -c '"type":"sample"' "$OUT")" "$("$BIN/plat" -k offcpu --slower 0 --json perf.ps 2>/dev/null | wc -l)" \
	'a sample for each interval'
run "$BIN/plat" --emit offcpu --tsv perf.ps
is "$status" 64 '--emit --tsv: there is no such form'

# Keys that are no numbers: what pairs the two sides of switches, from the text of the events.
switches='-s sched_switch:prev_comm,prev_pid -e sched_switch:next_comm,next_pid'
"$BIN/pdecode" -j trace.ps 2>/dev/null | grep '"event":"sched:sched_switch"' |
	sed -E 's/.*"time":([0-9]+).*"prev_comm":"([^"]*)","prev_pid":([0-9]+),.*"next_comm":"([^"]*)","next_pid":([0-9]+).*/\1\t\2,\3\t\4,\5/' |
	awk -F'\t' -v OFS='\t' '$3 in s { print s[$3], $1, $3; delete s[$3] } { s[$2] = $1 }' | sort >want
# shellcheck disable=SC2086
"$BIN/plat" --emit pair $switches trace.ps 2>/dev/null >keys.ps
"$BIN/pdecode" -j keys.ps 2>/dev/null |
	sed -n -E 's/.*"event":"pair","time":([0-9]+).*"end_time":([0-9]+),"key_text":"([^"]*)".*/\1\t\2\t\3/p' | sort >got
same got want '--emit: several keys are a text'
isnt "$(wc -l <got)" 0 'and there are some'
"$BIN/phist" --by key_text --tsv keys.ps 2>/dev/null | awk -F'\t' '!/^#/ { print $2, $3 }' | sort >got
cut -f 3 want | sort | uniq -c | awk '{ c = $1; sub(/^ *[0-9]+ /, ""); print $0, c }' | sort >want.rows
same got want.rows 'which phist counts by'
key=$(sed -n '1s/.*\t//p' want)
"$BIN/pfilter" "key_text == \"$key\"" keys.ps 2>/dev/null | "$BIN/pfold" 2>/dev/null | awk '{ n += $NF } END { print n + 0 }' >got
awk -F'\t' -v key="$key" '$3 == key { n += $2 - $1 } END { print n }' want >want.sum
same got want.sum 'and pfilter selects'
is "$("$BIN/pdecode" -t keys.ps 2>/dev/null | grep -c ' pair: .*key=.*,[0-9]*$')" "$(wc -l <want)" 'text has it'
# shellcheck disable=SC2086
"$BIN/plat" --emit pair -t $switches perf.ps 2>/dev/null | grep ' pair: key=' | sed 's/.*key=//' | sort >got
# shellcheck disable=SC2086
"$BIN/plat" -k pair --slower 0 $switches --tsv perf.ps 2>/dev/null | cut -f 14 | sed 1d | sort >want
same got want 'of perf.data, too'
isnt "$(wc -l <got)" 0 'and there are some'
"$BIN/plat" --emit syscall --json trace.ps 2>/dev/null >got.json
grep -c '"event":"syscall".*"key":[0-9]' got.json >got
grep -c '"event":"syscall"' got.json >want
same got want 'a number is one'
"$BIN/pdecode" "$ROOT/t/data/kinds.dat" 2>/dev/null >kinds.ps
"$BIN/plat" --emit syscall --json kinds.ps 2>/dev/null | sed -n -E 's/.*"time":([0-9]+).*"key_text":"([^"]*)".*/\1\t\2/p' | sort >got
"$BIN/plat" -k syscall --slower 0 --tsv kinds.ps 2>/dev/null | awk -F'\t' -v OFS='\t' 'NR > 1 && $14 !~ /^[0-9]/ { print $1, $9 }' | sort >want
same got want 'and the name of a system call that the event tells by its name is a text'
isnt "$(wc -l <got)" 0 'and there are some'
"$BIN/plat" -k syscall --by key --tsv kinds.ps 2>/dev/null | awk -F'\t' -v OFS='\t' '$1 == "syscall" && !/^#/ { print $2, $3 }' | sort >got
cut -f 2 want | sort | uniq -c | awk -v OFS='\t' '{ print $2, $1 }' | sort >want.rows
same got want.rows 'by which rows are made'

# Refusals and what is not there.
run "$BIN/plat" -k nothing trace.ps
is "$status" 64 'a kind that there is not'
run "$BIN/plat" -s sched_switch trace.ps
is "$status" 64 'a start without an end'
like "$ERR" 'an event that ends it' 'is reported'
run "$BIN/plat" -s no_such -e sched_switch trace.ps
is "$status" 1 'an event that there is not'
like "$ERR" 'no event no_such' 'is reported'
run "$BIN/plat" --by '1 +' trace.ps
is "$status" 64 'an expression that is none'

# Of one process, and of threads by name: as many as the rows by these keys have, and all are accounted for.
run "$BIN/pdecode" "$ROOT/t/data/sched.data.gz"
cp "$OUT" perf.ps
for kind in runq oncpu offcpu blocked; do
	run "$BIN/plat" -k $kind --by pid --tsv perf.ps
	awk -F'\t' -v k=$kind '!/^#/ && $1 == k { print $3, $2, $4 }' "$OUT" | sort -rn | sed -n 2,3p >two
	read -r n pid sum <two
	run "$BIN/plat" -k $kind --pid "$pid" --by kind --tsv perf.ps
	is "$(awk -F'\t' -v k=$kind '!/^#/ && $1 == k { print $3, $4 }' "$OUT")" "$n $sum" "$kind: of one process"
	run "$BIN/plat" -k $kind --pid "$(awk '{ print $2 }' two | paste -sd,)" --by kind --tsv perf.ps
	is "$(awk -F'\t' -v k=$kind '!/^#/ && $1 == k { print $3 }' "$OUT")" "$(awk '{ n += $1 } END { print n }' two)" "$kind: of two"
	run "$BIN/plat" -k $kind --by comm --tsv perf.ps
	awk -F'\t' -v k=$kind '!/^#/ && $1 == k && $2 ~ /^[a-z]+$/ { print $3, $2 }' "$OUT" | sort -rn | sed -n 1p >one
	read -r n comm <one
	run "$BIN/plat" -k $kind --comm "nobody,$comm" --by comm --tsv perf.ps
	is "$(awk -F'\t' -v k=$kind '!/^#/ && $1 == k { print $3, $2 }' "$OUT")" "$n $comm" "$kind: by name"
done
run_pipe '"$BIN/plat" --emit offcpu --pid "$pid" perf.ps' '"$BIN/phist" --by pid --tsv'
is "$(awk -F'\t' '!/^#/ { print $2 }' "$OUT" | sort -u)" "$pid" '--emit: of one process'
run "$BIN/plat" --threads --pid "$pid" --tsv perf.ps
is "$(awk -F'\t' '$1 == "threads" { print $3 }' "$OUT" | sort -u)" "$pid" '--threads, too'
for wrong in '--pid x' '--pid 1,' "--pid $(seq -s, 65)" '--pid 1 --path' '--comm x --emit wall'; do
	# shellcheck disable=SC2086
	run "$BIN/plat" $wrong perf.ps
	is "$status" 64 "$(printf %.20s "$wrong") is wrong"
done
head -c 100000 trace.ps >cut.ps
run "$BIN/plat" cut.ps
is "$status" 1 'an input that is cut off'
like "$OUT" '^oncpu ' 'has the result of what there is'
run "$BIN/plat" none.ps
is "$status" 2 'a file that there is not'
run "$BIN/plat" "$ROOT/t/data/sched.dat"
is "$status" 2 'a recording that was not decoded'
"$BIN/pdecode" "$ROOT/t/data/small.data" >small.ps
run "$BIN/plat" -k irq small.ps
is "$status" 1 'an input without such events'
like "$ERR" 'none of [0-9]+ samples begins or ends an interval' 'is reported'
done_testing
