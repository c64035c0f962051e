#!/bin/sh
# plat: what recordings of the scheduler lack. Switches that were not recorded, and wakers that sched_wakeup
# does not tell; of recordings whose truth is known, since they are made by hand.
. "${0%/*}/lib.sh"

fields='char comm[16]; pid_t pid; int prio; int target_cpu | "comm=%s pid=%d prio=%d target_cpu=%03d", REC->comm, REC->pid, REC->prio, REC->target_cpu'
cat >formats <<E
sched sched_switch 301 | char prev_comm[16]; pid_t prev_pid; int prev_prio; long prev_state; char next_comm[16]; pid_t next_pid; int next_prio | "prev_comm=%s prev_pid=%d prev_prio=%d prev_state=%s ==> next_comm=%s next_pid=%d next_prio=%d", REC->prev_comm, REC->prev_pid, REC->prev_prio, REC->prev_state ? __print_flags(REC->prev_state, "|", { 1, "S" }) : "R", REC->next_comm, REC->next_pid, REC->next_prio
sched sched_waking 302 | $fields
sched sched_wakeup 303 | $fields
E
make_ps() { # NAME, events on stdin
	cat formats - >"$1.events"
	"$ROOT/t/trace-make" events="$1.events" | "$BIN/pdecode" >"$1.ps"
}
# Intervals, times in ms: who, beginning, duration.
each() {
	awk -F'\t' 'NR > 1 { print $4, $1 / 1e6, $2 / 1e6 }' "$OUT"
}

# Some kernels lose switches out of idle. What they would have ended is ended where the thread is next seen on
# a CPU, or where it was woken if that CPU was idle. a: woken on an idle CPU at 4, off at 9. b: seen at 16, as it
# wakes c, and off at 18. d: off at 20, and nothing but off again at 22.
make_ps lacks <<'E'
@ 0 1000000 7 sched_switch a 7 120 1 swapper 0 120
@ 0 4000000 0 sched_waking a 7 120 0
@ 0 4000000 0 sched_wakeup a 7 120 0
@ 0 9000000 7 sched_switch a 7 120 1 swapper 0 120
@ 1 10000000 8 sched_switch b 8 120 1 swapper 0 120
@ 1 16000000 8 sched_waking c 6 120 1
@ 1 18000000 8 sched_switch b 8 120 1 swapper 0 120
@ 0 19000000 0 sched_switch swapper 0 120 0 d 9 120
@ 0 20000000 9 sched_switch d 9 120 1 swapper 0 120
@ 0 22000000 9 sched_switch d 9 120 1 swapper 0 120
E
run "$BIN/plat" -k offcpu --slower 0 --tsv lacks.ps
is "$status" 1 'switches are missing: the result is partial'
is "$(each)" "$(printf 'a 1 3\nb 10 6\nd 20 2\n')" 'but no interval is left out'
like "$ERR" 'offcpu: .* of 6 starts, 3 have an estimated end, 11.0 ms in all that are between 3.00 ms and 16.0 ms in truth' \
	'and what their sum is in truth is reported'
run "$BIN/plat" -k oncpu --slower 0 --tsv lacks.ps
is "$(each)" "$(printf 'a 4 5\nb 16 2\nd 19 1\nd 22 0\n')" 'nor is one whose beginning is missing'
run "$BIN/plat" -k idle --slower 0 --tsv lacks.ps
is "$(awk -F'\t' 'NR > 1 { print $1 / 1e6, $2 / 1e6 }' "$OUT")" "$(printf '1 3\n10 6\n9 10\n20 2\n')" 'nor that of a CPU'
run "$BIN/plat" -k offcpu --stats --json lacks.ps
like "$OUT" '"estimated":{"count":3' 'the account has them'
"$BIN/plat" --emit offcpu lacks.ps >emitted 2>/dev/null
run "$BIN/phist" --by comm --tsv emitted
is "$status" 1 'what is emitted says that it is partial'
run "$BIN/plat" --threads --tsv lacks.ps
is "$(awk -F'\t' '/^#/ { for (i in c) delete c[i]; for (i = 1; i <= NF; i++) c[$i] = i }
	$2 == "a" { print $c["wall:sum:ns"] / 1e6, $c["run:sum:ns"] / 1e6, $c["blocked:sum:ns"] / 1e6 }' "$OUT")" '21 5 16' \
	'the times of threads have them, too'
for form in '--tsv' '--timeline' '--threads' '--slower 0'; do
	# shellcheck disable=SC2086
	run "$BIN/plat" $form lacks.ps
	is "$status" 1 "plat $form: partial"
done
run "$BIN/plat" --timehist lacks.ps
is "$status" 1 'plat --timehist: partial'
like "$ERR" 'so many of 10 switches are missing' 'with the reason'
run env BINDIR="$BIN" "$ROOT/share/recipes/schedlat" lacks.ps
is "$status" 1 'a recipe, too'
like "$ERR" 'switches or wakeups are missing' 'which reports it'
like "$OUT" '^a ' 'and shows what there is'

# The truth of 985 ms: a thread sleeps 50 times for 19.7 ms and works for 0.3; all switches to it are missing.
awk 'BEGIN {
	for (t = 1000000; n++ < 50; t += 20000000) {
		printf "@ 0 %d 7 sched_switch a 7 120 1 swapper 0 120\n", t
		printf "@ 0 %d 0 sched_waking a 7 120 0\n@ 0 %d 0 sched_wakeup a 7 120 0\n", t + 19700000, t + 19700000
	}
	printf "@ 0 %d 7 sched_switch a 7 120 1 swapper 0 120\n", t
}' | make_ps sleeps
run "$BIN/plat" -k offcpu --by comm --tsv sleeps.ps
is "$(awk -F'\t' '$1 == "offcpu" { print $3, $4 }' "$OUT")" '50 985000000' 'a sum that is right though every switch is missing'

# A sample of a thread that is just being switched from proves nothing: sched_switch comes before the switch.
make_ps before <<'E'
@ 0 1000000 7 sched_switch a 7 120 1 b 8 120
@ 0 1002000 7 sched_waking c 6 120 1
@ 0 9000000 8 sched_switch b 8 120 1 a 7 120
@ 0 10000000 7 sched_switch a 7 120 1 swapper 0 120
E
run "$BIN/plat" -k offcpu --slower 0 --tsv before.ps
is "$(each)" 'a 1 8' 'an event before the switch is done'
is "$status" 0 'nothing is missing'

# Nor does one of a recorder in another PID namespace, where threads have other numbers.
make_ps other <<'E'
@ 1 10000000 108 sched_switch b 8 120 1 swapper 0 120
@ 1 16000000 8 sched_waking c 6 120 1
@ 1 18000000 108 sched_switch b 8 120 1 swapper 0 120
E
run "$BIN/plat" -k offcpu --slower 0 --tsv other.ps
is "$(each)" 'b 10 8' 'threads of other numbers'

# Who woke whom. A sched_wakeup in the idle thread of the CPU of the thread that wakes up was raised there on
# behalf of another CPU; on another CPU it is that of a timer or a device, and so is a sched_waking.
wakes() { # EVENT...
	{
		echo '@ 0 1000000 7 sched_switch a 7 120 1 swapper 0 120'
		printf '%s\n' "$@"
		echo '@ 0 5000000 0 sched_switch swapper 0 120 0 a 7 120'
		echo '@ 0 6000000 7 sched_switch a 7 120 1 swapper 0 120'
	} | make_ps wakes
	run "$BIN/plat" -k blocked --by waker_tid --tsv wakes.ps
	awk -F'\t' '$1 == "blocked" { print $2 }' "$OUT" >got
}
wakes '@ 0 4000000 0 sched_wakeup a 7 120 0'
is "$(cat got)" -1 'a wakeup in the idle thread of its CPU does not tell who did it'
run "$BIN/plat" -k blocked --by waker --tsv wakes.ps
is "$status" 0 'which is no damage'
like "$OUT" '^blocked	\[not known\]	' 'it is called so'
like "$ERR" 'for 1 wakeups the waker is not known.* record sched:sched_waking' 'and reported'
run "$BIN/plat" -k blocked --by comm wakes.ps
unlike "$ERR" 'waker is not known' 'where wakers are shown'
run "$BIN/plat" -k blocked --by waker --strict wakes.ps
is "$status" 1 '--strict does not take it'
"$BIN/plat" --emit blocked wakes.ps 2>/dev/null | "$BIN/pfold" --no-header --waker 2>/dev/null >got
is "$(cat got)" 'a;--;[not_known] 3000000' 'pfold --waker'
"$BIN/plat" --timeline wakes.ps 2>/dev/null | awk -F'\t' '$1 == "i" && $NF' >got
empty got '--timeline: no arrow from the idle thread'
run "$BIN/plat" --timehist -w wakes.ps
like "$OUT" '\[not known\] .*awakened: a\[7' '--timehist'
like "$ERR" 'for 1 wakeups the waker is not known' 'which reports it, too'
"$BIN/pdecode" -t wakes.ps 2>/dev/null | "$BIN/pdecode" 2>/dev/null >text.ps
run "$BIN/plat" -k blocked --by waker --tsv text.ps
like "$OUT" '^blocked	\[not known\]	' 'ftrace text tells as much'
wakes '@ 1 3999000 5 sched_waking a 7 120 0' '@ 0 4000000 0 sched_wakeup a 7 120 0'
is "$(cat got)" 5 'sched_waking tells it'
run "$BIN/plat" -k blocked --by waker --tsv wakes.ps
unlike "$ERR" 'waker is not known' 'and nothing is to be reported'
"$BIN/plat" --timeline wakes.ps 2>/dev/null | awk -F'\t' '$1 == "t" { tid[$2] = $3 } $1 == "i" && $NF { print tid[$NF] }' >got
is "$(cat got)" 5 '--timeline: an arrow from who did it'
wakes '@ 1 3999000 5 sched_waking a 7 120 0'
is "$(cat got)" 5 'sched_waking alone, as newer perfs record it'
wakes '@ 1 4000000 0 sched_wakeup a 7 120 0'
is "$(cat got)" 0 'on another idle CPU it is an interrupt there'
"$BIN/pdecode" -t wakes.ps 2>/dev/null | "$BIN/pdecode" 2>/dev/null >text.ps
run "$BIN/plat" -k blocked --by waker_tid --tsv text.ps
like "$OUT" '^blocked	0	' 'ftrace text tells the CPU, too'
wakes '@ 0 4000000 0 sched_waking a 7 120 0' '@ 0 4000000 0 sched_wakeup a 7 120 0'
is "$(cat got)" 0 'a sched_waking in the idle thread is one, too'
done_testing
