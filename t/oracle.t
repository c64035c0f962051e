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
