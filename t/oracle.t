#!/bin/sh
# The comparisons in t/oracle with what perf and trace-cmd printed of the recordings in t/data: the texts
# are in t/data/reports, and a perf that prints them stands in for the real one.
. "${0%/*}/lib.sh"

cat >perf <<'E'
#!/bin/sh
# The text of the report that is asked for, or the events as perf script prints them.
file=
for arg; do
	[ "$last" != -i ] || file=$arg
	last=$arg
done
name=${file##*/}
name=${name%.data}
case "$*" in
"sched latency "*) exec gzip -dc "$REPORTS/$name.latency.gz" ;;
"sched timehist "*) exec gzip -dc "$REPORTS/$name.timehist.gz" ;;
"trace "*) exec gzip -dc "$REPORTS/$name.summary.gz" >&2 ;;
"kmem "*--page*--live*) exec gzip -dc "$REPORTS/$name.pagelive.gz" ;;
"kmem "*--page*--alloc*) exec gzip -dc "$REPORTS/$name.pageallocs.gz" ;;
"kmem "*--page*--caller*) exec gzip -dc "$REPORTS/$name.pagetypes.gz" ;;
"kmem "*--caller*) exec gzip -dc "$REPORTS/$name.callers.gz" ;;
"kmem "*--alloc*) exec gzip -dc "$REPORTS/$name.addresses.gz" ;;
"kmem "*--page*) exec gzip -dc "$REPORTS/$name.pages.gz" ;;
"lock "*-v*) exec gzip -dc "$REPORTS/$name.sites.gz" ;;
"lock "*-t) exec gzip -dc "$REPORTS/$name.threads.gz" >&2 ;;
"lock "*) exec gzip -dc "$REPORTS/$name.callers.gz" >&2 ;;
"script "*) ;;
*) exit 1 ;;
esac
fields=
last=
for arg; do
	[ "$last" != -F ] || fields=$arg
	last=$arg
done
exec "$BIN/pdecode" -t --ns -F "$fields" "$file"
E
cat >trace-cmd <<'E'
#!/bin/sh
exec gzip -dc "$REPORTS/sched.profile.gz"
E
chmod +x perf trace-cmd
REPORTS=$ROOT/t/data/reports
PERF=$PWD/perf
TRACE_CMD=$PWD/trace-cmd
export REPORTS PERF TRACE_CMD BIN
for name in sched kmem lock contention futex; do
	gzip -dc "$ROOT/t/data/$name.data.gz" >$name.data
done
for name in lock contention; do
	gzip -dc "$ROOT/t/data/$name.kallsyms.gz" >$name.kallsyms
done

# compare TOOL FILE WHAT TEXT...: the tool finds no difference, and has compared what the texts say.
compare() {
	tool=$1 file=$2 what=$3
	shift 3
	run "$ROOT/t/oracle/$tool" "$file"
	is "$status" 0 "$what"
	for text; do
		like "$OUT" "$text" "$text"
	done
}
compare perf-sched sched.data 'perf sched' 'latency: 32 lines, the same' 'timehist: 235 lines, the same'
compare perf-trace futex.data 'perf trace -s' 'the same: .* 42 rows; perf counts 4 of 4 ends without start'
compare perf-kmem kmem.data 'perf kmem stat' 'call sites: 31 lines, the same' 'addresses: 123 lines, the same' \
	'totals: 3 lines, the same' 'pages: 7 lines, the same' 'pages by type: 3 lines, the same' \
	'single pages: 721 lines, the same' 'live pages: 171 lines, the same'
for name in lock contention; do
	export KALLSYMS="$PWD/$name.kallsyms"
	set -- 'types: 2 rows, the same' 'threads: 4 rows, the same' 'functions: 3 rows, the same'
	[ $name = lock ] || set -- 'types: 1 rows, the same' 'threads: 8 rows, the same' 'functions: 7 rows, the same'
	compare perf-lock $name.data "perf lock contention, $name" "$@"
done
compare trace-profile "$ROOT/t/data/sched.dat" 'trace-cmd report --profile' '306 rows, the same'

# Times of a clock that counts from 1970 do not fit the numbers of awk: a thread that sleeps 1001 ns, and
# waits 503 ns to run.
cat >epoch.events <<'E'
sched sched_switch 301 | char prev_comm[16]; pid_t prev_pid; int prev_prio; long prev_state; char next_comm[16]; pid_t next_pid; int next_prio | "prev_comm=%s prev_pid=%d prev_prio=%d prev_state=%s ==> next_comm=%s next_pid=%d next_prio=%d", REC->prev_comm, REC->prev_pid, REC->prev_prio, REC->prev_state ? __print_flags(REC->prev_state, "|", { 1, "S" }) : "R", REC->next_comm, REC->next_pid, REC->next_prio
sched sched_wakeup 302 | char comm[16]; pid_t pid; int prio; int target_cpu | "comm=%s pid=%d prio=%d target_cpu=%03d", REC->comm, REC->pid, REC->prio, REC->target_cpu
@ 0 1700000000123456497 7 sched_switch seven 7 120 1 swapper/0 0 120
@ 0 1700000000123457498 0 sched_wakeup seven 7 120 0
@ 0 1700000000123458001 0 sched_switch swapper/0 0 120 0 seven 7 120
E
"$ROOT/t/trace-make" events=epoch.events >epoch.dat
cat >profile <<'E'
task: seven-7
  Event: sched_switch:S (1) Total: 1001 Avg: 1001 Max: 1001(ts:1700000000.123457) Min:1001(ts:1700000000.123457)
  Event: sched_wakeup:0x7 (1) Total: 503 Avg: 503 Max: 503(ts:1700000000.123458) Min:503(ts:1700000000.123458)
E
printf '#!/bin/sh\nexec cat "%s"\n' "$PWD/profile" >epoch
chmod +x epoch
run env TRACE_CMD="$PWD/epoch" "$ROOT/t/oracle/trace-profile" epoch.dat
is "$status" 0 'trace-profile: large times'
like "$OUT" '2 rows, the same' 'are exact'
"$BIN/pdecode" -t epoch.dat >epoch.txt
run "$ROOT/t/oracle/ftrace-text" epoch.dat epoch.txt
is "$status" 0 'ftrace-text: large times'
like "$OUT" '^0 differences' 'are exact'

# Names of C++, of what is installed.
for library in /usr/lib/*/libstdc++.so.6 /usr/lib64/libstdc++.so.6; do
	[ ! -r "$library" ] || break
done
if [ -r "$library" ] && have c++filt && have nm; then
	run "$ROOT/t/oracle/names" "$library"
	is "$status" 0 'names without parameters'
	like "$OUT" '^[0-9]{4,} symbols: [0-9]* names, the same' 'of all symbols'
	mkdir filt
	printf '#!/bin/sh\n%s "$@" | sed s/$/y/\n' "$(command -v c++filt)" >filt/c++filt
	chmod +x filt/c++filt
	run env PATH="$PWD/filt:$PATH" "$ROOT/t/oracle/names" "$library"
	is "$status" 1 'names sees one that differs'
else
	skip 3 'no libstdc++.so.6, c++filt or nm'
fi

# They would find one: reports with one figure changed.
mkdir changed
REPORTS=$PWD/changed
for report in sched.latency sched.timehist futex.summary kmem.callers kmem.addresses kmem.pages \
	kmem.pagetypes kmem.pageallocs kmem.pagelive lock.callers lock.threads lock.sites contention.callers contention.threads \
	contention.sites sched.profile; do
	gzip -dc "$ROOT/t/data/reports/$report.gz" >plain
	case $report in
	sched.latency) sed '/rcu_preempt\|wl:279/s/max: \( *\)\([0-9]\)/max: \19/' plain ;;
	sched.timehist) sed '50s/[0-9] *$/7/; 51s/[0-9] *$/8/' plain ;;
	futex.summary) sed 's/^\( *mmap *[0-9]*\)/\11/' plain ;;
	# A ping-pong more of one call site.
	kmem.callers) sed 's/\( 77 | *\)48 /\149 /' plain ;;
	lock.callers) sed 's/23.27 ms/24.27 ms/' plain ;;
	# The lock's function in the place of the one that waits.
	contention.sites) sed '/0x.*try_to_wake_up/d' plain ;;
	sched.profile) sed '30s/Total: /Total: 1/' plain ;;
	*) cat plain ;;
	esac | gzip -c >changed/$report.gz
done
for pair in perf-sched:sched.data perf-trace:futex.data perf-kmem:kmem.data perf-lock:lock.data \
	perf-lock:contention.data "trace-profile:$ROOT/t/data/sched.dat"; do
	# That of a figure that is in one place only.
	differs=DIFFER
	[ "$pair" != perf-kmem:kmem.data ] || differs='call sites: DIFFER'
	[ "$pair" != perf-lock:contention.data ] || differs='functions: 7 rows, [0-9]* DIFFER'
	run "$ROOT/t/oracle/${pair%%:*}" "${pair#*:}"
	is "$status" 1 "${pair%%:*} sees a figure that differs"
	like "$OUT" "$differs" 'and says so'
done
run "$ROOT/t/oracle/perf-trace"
is "$status" 64 'usage'
done_testing
