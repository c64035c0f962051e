#!/bin/sh
# plat --timehist and --map: against what perf printed of the same recording, and what perf does not do.
. "${0%/*}/lib.sh"

gzip -dc "$ROOT/t/data/sched.data.gz" >sched.data
for text in timehist timehist-wVMn timehist-I timehist-s map map-compact; do
	gzip -dc "$ROOT/t/data/reports/sched.$text.gz" >sched.$text.txt
done
"$BIN/pdecode" sched.data >sched.ps 2>/dev/null

# Without perf: the texts that it printed.
PERF=false
export PERF BIN
run "$ROOT/t/oracle/perf-history" sched.data
is "$status" 0 'as perf sched timehist and map'
for text in 'timehist: the same: 372 lines, 11 dead$' 'timehist-wVMn: the same: 596 lines, 585 blanks, 11 dead$' \
	'timehist-I: the same: 124 lines$' 'timehist-s: the same: 29 threads' 'map: the same: 369 lines$' \
	'map-compact: the same: 369 lines$'; do
	like "$OUT" "$text" "$text"
done
mkdir changed
for text in timehist timehist-wVMn timehist-I timehist-s map map-compact; do
	cp sched.data changed/
	# A figure in a line of its own.
	case $text in
	timehist-s) sed '/migration\/0/s/4\.871/4.872/' sched.$text.txt ;;
	map*) sed '100s/\*/ /' sched.$text.txt ;;
	timehist-wVMn) sed '20s/0\.058/0.059/' sched.$text.txt ;;
	timehist-I) sed '21s/027/028/' sched.$text.txt ;;
	*) sed '20s/[0-9] *$/x/' sched.$text.txt ;;
	esac >changed/sched.$text.txt
	run "$ROOT/t/oracle/perf-history" changed/sched.data
	is "$status" 1 "$text: the comparison sees a figure that differs"
	rm -f changed/*
done

run "$BIN/plat" --timehist --summary --state sched.ps
is "$status" 0 '--summary --state'
like "$OUT" 'run-time      sleep      iowait     preempt       delay' 'has waits'
empty "$ERR" 'nothing to say'
# The delays of a thread in us, those after preemption too, are the waits for a CPU of plat's list.
delays() {
	awk -v tid="[$1]" 'index($3, tid) { sub(/\./, "", $(NF - 1)); sum += $(NF - 1) } END { print sum }' hist
}
"$BIN/plat" --timehist --no-stack sched.ps 2>/dev/null >hist
"$BIN/plat" -k runq --slower 0 --tsv sched.ps 2>/dev/null >list
for tid in 15 165 284; do
	is "$(delays $tid)" \
		"$(awk -F'\t' -v tid=$tid 'NR == 1 { for (i = 1; i <= NF; i++) at[$i] = i; next }
			$at["tid"] == tid { sum += int($at["duration"] / 1000) } END { print sum + 0 }' list)" \
		"the delays of thread $tid"
done

# A filter chooses lines, and changes none.
"$BIN/pfilter" --tid 15 sched.ps | "$BIN/plat" --timehist >some 2>err
is "$?" 0 'with a filter'
grep -e 'rcu_preempt\[15\]' -e '^ *time' -e tid/pid -e '^----' hist >want
same some want 'lines of one thread, as they are without the filter'
"$BIN/pfilter" --tid 15 sched.ps | "$BIN/plat" --timehist --summary >some 2>err
unlike some 'Idle stats' 'nothing about CPUs'
"$BIN/pfilter" --tid 99999 sched.ps | "$BIN/plat" --timehist >some 2>err
is "$?" 1 'nothing passes'
like err 'nothing to show of 369 switches' 'is reported'

# trace.dat, and its text.
"$BIN/pdecode" "$ROOT/t/data/sched.dat" >dat.ps 2>/dev/null
run "$BIN/plat" --timehist dat.ps
is "$status" 0 'trace.dat'
is "$(grep -c '\] *[^ ].* [0-9.]* *[0-9.]* *[0-9.]* $' "$OUT")" \
	"$("$BIN/phist" --by event --tsv dat.ps | awk -F'\t' '$2 == "sched:sched_switch" { print $3 }')" 'a line for each switch'
"$BIN/plat" --map dat.ps >map.dat.txt
"$BIN/pdecode" -t "$ROOT/t/data/sched.dat" 2>/dev/null | "$BIN/pdecode" 2>/dev/null | "$BIN/plat" --map >map.txt
is "$(grep -c ' secs ' map.txt)" "$(grep -c ' secs ' map.dat.txt)" 'ftrace text'

# Losses, damage, nothing.
cat >lost.events <<'E'
sched sched_switch 301 | char prev_comm[16]; pid_t prev_pid; int prev_prio; long prev_state; char next_comm[16]; pid_t next_pid; int next_prio | "prev_comm=%s prev_pid=%d prev_prio=%d prev_state=%s ==> next_comm=%s next_pid=%d next_prio=%d", REC->prev_comm, REC->prev_pid, REC->prev_prio, REC->prev_state ? __print_flags(REC->prev_state, "|", { 1, "S" }) : "R", REC->next_comm, REC->next_pid, REC->next_prio
@ 0 1000000 7 sched_switch a 7 120 1 b 8 120
@ 0 3000000 8 sched_switch b 8 120 1 a 7 120
@ 0 6000000 9 sched_switch c 9 120 1 b 8 120
@ 0 9000000 8 sched_switch b 8 120 0 a 7 120
E
"$ROOT/t/trace-make" events=lost.events >lost.dat
"$BIN/pdecode" lost.dat >lost.ps
run "$BIN/plat" --timehist lost.ps
is "$(awk 'NR > 3 { print $3, $4, $5, $6 }' "$OUT")" "$(printf 'a[7] 0.000 0.000 0.000\nb[8] 0.000 0.000 2.000\nc[9] 0.000 0.000 0.000\nb[8] 3.000 0.000 3.000\n')" \
	'a switch that is missing: no run time'
like "$ERR" '1 switches are not in the recording' 'which is reported'
head -c 30000 sched.ps >cut.ps
run "$BIN/plat" --timehist cut.ps
is "$status" 1 'a stream that is cut off'
"$BIN/pdecode" "$ROOT/t/data/small.data" >small.ps 2>/dev/null
run "$BIN/plat" --map small.ps
is "$status" 1 'no switch'
like "$ERR" 'no switches: record sched:sched_switch' 'is reported'
if [ -c /dev/full ]; then
	"$BIN/plat" --timehist sched.ps >/dev/full 2>err
	is "$?" 2 'a full disk'
else
	skip 1 'no /dev/full'
fi

# More threads than short names: a name is never that of two threads that run at a time.
awk 'BEGIN {
	print "sched sched_switch 301 | char prev_comm[16]; pid_t prev_pid; int prev_prio; long prev_state; char next_comm[16]; pid_t next_pid; int next_prio | \"x\""
	for (i = 1; i <= 2500; i++)
		printf "@ %d %d %d sched_switch t%d %d 120 1 t%d %d 120\n", i % 2, i * 1000, i, i, i, i + 2, i + 2
}' >many.events
"$ROOT/t/trace-make" events=many.events >many.dat
"$BIN/pdecode" many.dat | "$BIN/plat" --map >many.txt
is "$(grep -c '=>' many.txt)" 2500 'each thread has its name'
is "$(sed -n '261p;937p;1873p' many.txt | sed 's/.*secs //')" "$(printf 'Aa => t263:263\na0 => t939:939\nA0 => t1875:1875\n')" 'A0 to Z9, Aa to Zz, a0 ...'
is "$(awk '{ gsub(/\*/, "") } $1 == $2' many.txt | wc -l)" 0 'none twice in a line'

for wrong in '--timehist --map' '--timehist --compact' '--map --wakeups' '--wakeups' '--timehist --tsv' '--map --by comm' \
	'--timehist -k runq' '--timehist -I -w' '--timehist --max-stack 0' '--timehist --emit runq'; do
	# shellcheck disable=SC2086
	run "$BIN/plat" $wrong sched.ps
	is "$status" 64 "plat $wrong"
done
done_testing
