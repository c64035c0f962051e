#!/bin/sh
# Results while the recording runs: tables of periods, and how long events take through a pipe.
. "${0%/*}/lib.sh"

data=$ROOT/t/data

# What was written for the sum: all after its head.
sum() {
	awk 'on { print } /^sum / { on = 1 }' "$@"
}

# --- tables of periods, of a recording that is whole ---

"$BIN/pdecode" "$data/sched.dat" >sched.ps
# A line for each period: where it begins, and the events of each thread in it, by text.
"$BIN/pdecode" -t --ns "$data/sched.dat" |
	sed -n 's/^ *\(.*\)-[0-9]* *\[[0-9]*\] *\([0-9]*\)\.\([0-9]*\): .*/\2\3 \1/p' >events
isnt "$(wc -l <events)" 0 'the recording has events'
awk -v every=100000000 'NR == 1 { first = $1 }
	{
		time = $1
		sub(/^[^ ]* /, "")
		n[int((time - first) / every) " " $0]++
	}
	END { for (k in n) print k, n[k] }' events | sort >want
run "$BIN/phist" --by COMM --every 100ms --tsv sched.ps
is "$status" 0 'phist --every'
awk -F'\t' '/^#/ { on = match($1, / period=[0-9]+/)
		at = substr($1, RSTART + 8, RLENGTH - 8)
		first = first ? first : at
		next
	}
	on { print (at - first) / 100000000 " " $2, $3 }' "$OUT" | sort >got
same got want 'the counts of each period are those of the text'
is "$(awk -F'\t' '/^#/ && match($1, / period=[0-9]+,[0-9]+/) {
		split(substr($1, RSTART + 8, RLENGTH - 8), t, ",")
		if (last && t[1] != last) print "gap"
		last = t[2]
	} END { print last }' "$OUT")" "$(awk 'END { print $1 }' events)" \
	'one follows the other, and the last ends with the last event'

# The sum is the table that there is without the option, in each form.
for filter in 'phist --by comm' 'phist -f prev_prio --by prev_comm,common_pid --log2' 'phist --by comm,cpu -n 4' \
	plat 'plat --by comm -n 3' 'plat --kind offcpu --log2'; do
	tool=${filter%% *}
	args=${filter#"$tool"}
	# shellcheck disable=SC2086
	{
		"$BIN/$tool" $args sched.ps >want 2>want.err
		for more in '' --cumulative; do
			run "$BIN/$tool" $args --every 50ms $more sched.ps
			sum "$OUT" >got
			same got want "$filter --every $more: the sum"
			same "$ERR" want.err 'and the messages'
		done
		# Tables have whole histograms, however they are drawn.
		args=${args% --log2}
		"$BIN/$tool" $args --tsv sched.ps >want 2>want.err
		run "$BIN/$tool" $args --every 50ms --tsv sched.ps
		awk -F'\t' '/^#/ { part = / period=/ } !part' "$OUT" >got
		same got want "$filter --every --tsv: the sum"
		isnt "$(grep -c ' period=' "$OUT")" 0 'comes after periods'
		"$BIN/phist" --merge --tsv want >merged.want
		"$BIN/phist" --merge --tsv "$OUT" >merged
		same merged merged.want 'and is what others read'
		"$BIN/$tool" $args --json sched.ps >want 2>want.err
		run "$BIN/$tool" $args --every 50ms --json sched.ps
		grep -v '"period":{"begin":[0-9]*,"end":[0-9]*}' "$OUT" >got
		same got want "$filter --every --json: the sum"
	}
done
"$BIN/phist" --by comm --every 200ms --tsv sched.ps | awk -F'\t' '/^#/ && !/ period=/ { exit } { print }' >cut.tsv
run "$BIN/phist" --merge cut.tsv
is "$status" 1 'periods without their sum are a table that was cut off'
like "$ERR" 'sum of the periods is missing' 'which is reported'
# Two streams in a row have times of their own.
cat sched.ps sched.ps >two.ps
"$BIN/phist" --by comm two.ps >want
run "$BIN/phist" --by comm --every 300ms two.ps
sum "$OUT" >got
same got want 'two recordings, one after the other: the sum'
n=$("$BIN/phist" --by comm --every 300ms sched.ps | grep -c '^period ')
is "$(grep -c '^period ' "$OUT")" $((n * 2)) \
	'has the periods of both'

for args in 'phist --every 1s --over-time=1s' 'phist --cumulative' 'phist --merge --every 1s' \
	'plat --every 1s --slower=1ms' 'plat --every 1s --emit offcpu' 'plat --cumulative' 'phist --every 0s' 'phist --every x'; do
	# shellcheck disable=SC2086
	run "$BIN"/$args sched.ps
	is "$status" 64 "$args: wrong usage"
done
run "$BIN/phist" --every 1s --sort nothing sched.ps
is "$status" 64 'no column to sort by'
is "$(grep -c 'no column' "$ERR")" 1 'is reported once'

# On a terminal of 10 lines and 40 columns.
if have script && script -qec true /dev/null >/dev/null 2>&1; then
	script -qec "stty rows 10 cols 40; '$BIN/phist' --by comm,event --every 100ms sched.ps" /dev/null >screen </dev/null
	esc=$(printf '\033')
	is "$(grep -c "${esc}\[[0-9]*A" screen)" "$(($(grep -c 'period ' screen) - 1))" 'a period is written over the one before'
	is "$(sed "/^sum/,\$d; s/${esc}\[[0-9]*A//; s/${esc}\[K//; s/${esc}\[J//; s/\r//g" screen | awk 'length > 40' | wc -l)" 0 \
		'no line is longer than the terminal'
	is "$(grep -o "${esc}\[[0-9]*A" screen | tr -dc '0-9\n' | sort -n | tail -n 1 | awk '{ print $1 < 10 }')" 1 \
		'no period is longer, either'
	like screen '^\.\.\. [0-9]+ more lines' 'what is left out is told'
	"$BIN/phist" --by comm,event sched.ps | grep -v '^comm ' >want
	sed '1,/^sum/d; s/\r//g' screen | grep -v -e '^comm ' -e 'phist: ' -e '^$' >got
	is "$(wc -l <got)" "$(wc -l <want)" 'the sum is whole'
else
	skip 5 'script is not installed'
fi

# wait_for FILE ERE: until a line of it matches, for a minute at most.
wait_for() {
	await grep -Eqs -e "$2" "$1" >&2
}

# --- ftrace text, as trace_pipe has it: each line is shown before the next one comes ---

: >shown
# shellcheck disable=SC2094
{
	for i in 1 2 3; do
		printf '            bash-123   [001] d... 10%d.000001: sched_process_exec: filename=/%d pid=1 old_pid=1\n' $i $i
		wait_for shown "filename=/$i " && echo "$i" >>came.text
	done
} | "$BIN/pdecode" -t >shown
is "$(tr '\n' ' ' <came.text)" '1 2 3 ' 'trace_pipe: each event is shown at once'

# --- files that grow ---

# grow FILE: is written in two halves; the second one comes when the first one is shown.
grow() {
	size=$(wc -c <"$1")
	rm -f grown
	head -c $((size / 2)) "$1" >grown
	"$BIN/pdecode" --follow -t grown >shown 2>follow.err &
	follower=$!
	wait_for shown . && pass "$1: its first half is shown"
	tail -c +$((size / 2 + 1)) "$1" >>grown
	# What has no mark of its end ends with Control-C. Background jobs of a shell ignore that.
	if [ -n "${2:-}" ]; then
		wait_for shown "$2"
		kill -TERM $follower
	fi
	status=0
	wait $follower || status=$?
	is "$status" 0 "$1: followed to its end"
	"$BIN/pdecode" -t "$1" >want 2>/dev/null
	same shown want "$1: as if it had been there from the beginning"
	empty follow.err 'without a complaint'
}
gzip -dc "$data/trace-instances.report.gz" | grep -v '^cpus=' >text
printf '# tracer: nop\n' | cat - text >grown.text
grow grown.text "$(tail -n 1 text | grep -o '[0-9]*\.[0-9]*:' | head -n 1)"
grow sched.ps
run "$BIN/pdecode" -f sched.ps sched.ps
isnt "$status" 0 'two files cannot be followed'
run "$BIN/pdecode" -f "$data/sched.dat"
is "$status" 2 'nor can a trace.dat'

# --- while the recording runs ---

if ! "$BIN/pcap-perf" -e sched:sched_process_exec -o /dev/null 0.1 2>/dev/null; then
	skip 1 'recording is not allowed'
	done_testing
	exit 0
fi
${CC:-cc} -O1 -D_GNU_SOURCE -o latency "$ROOT/t/latency.c" || exit 1

# How long each of 9 programs takes from its start to its line: all, and within 2 s. The recorder ends when
# its pipe is closed.
through() {
	t_name=$1
	t_last=$2
	rm -f came begun
	# shellcheck disable=SC2086
	eval "\"$BIN/pcap-perf\" -e sched:sched_process_exec 60 $t_last" 2>through.err | ./latency -9 >came &
	# The recorder has to have begun.
	sleep 2
	./latency 9 >begun
	wait_for came "^$(sed -n '$s/ .*//p' begun) "
	sleep 0.2
	sort -k1,1 begun >begun.s
	sort -k1,1 came >came.s
	join begun.s came.s | awk '{ print ($3 - $2) / 1000 }' | sort -n >took
	is "$(wc -l <took)" 9 "$t_name: all programs are shown"
	diag "$t_name: ms from the event to the line: median $(sed -n 5p took), longest $(sed -n 9p took)"
	is "$(awk '$1 > 2000' took)" '' 'within two seconds'
	wait
}
pd="'$BIN/pdecode'" ps="'$BIN/psym'" pf="'$BIN/pfilter'"
through '1 step' "| $pd -t"
through '3 steps' "| $pd | $ps | $pf -t"
through '5 steps' "| $pd | $ps | $pf 'pid > 0' | $pf 'pid > 1' | $pf -t"
through 'JSON' "| $pd -j"
through 'a recipe' "| BINDIR='$BIN' '$ROOT/share/recipes/execsnoop' -"

# Control-C, to all of the pipe: the last table is written, and the sum is that of the same recording read from
# a file. In a process group of its own, by perl: the background jobs of a shell ignore SIGINT.
if have perl; then
	cat >watch <<EOS
{ trap : INT; "$BIN/pcap-perf" -e sched:sched_process_exec,sched:sched_switch 60 2>rec.err; } |
	{ trap '' INT; tee rec.data; } | { trap : INT; $pd; } | { trap : INT; $ps 2>psym.err; } |
	{ trap : INT; "$BIN/phist" --by COMM,event --every 500ms >live.out; echo \$? >live.status; }
EOS
	cat >interrupt.pl <<'EOS'
		my $pid = fork // die;
		if (!$pid) { setpgrp; $SIG{INT} = "DEFAULT"; exec "sh", "watch" }
		for (1 .. 400) { last if `grep -c "^period" live.out 2>/dev/null` > 2; select undef, undef, undef, 0.1; }
		kill "INT", -$pid;
		waitpid $pid, 0;
EOS
	perl interrupt.pl
	is "$(cat live.status)" 0 'Control-C: phist ends with 0'
	"$BIN/pdecode" rec.data | "$BIN/phist" --by COMM,event >want
	sum live.out >got
	same got want 'the sum is that of the recording in a file'
	isnt "$(grep -c '^period' live.out)" 0 'after periods'
else
	skip 3 'perl is not installed'
fi

# A program that starts after psym, and has ended when its samples are shown.
cat >late.c <<'C'
#include <time.h>
volatile unsigned long n;
__attribute__((noinline)) static void busy_in_the_pipe(void)
{
	for (clock_t end = clock() + CLOCKS_PER_SEC / 4; clock() < end;)
		for (int i = 0; i < 1000000; i++)
			n += i;
}
int main(void)
{
	busy_in_the_pipe();
	return 0;
}
C
${CC:-cc} -O1 -o late late.c || exit 1
mkfifo recording
: >shown
"$BIN/pdecode" <recording | "$BIN/psym" -t >shown 2>/dev/null &
pipe=$!
"$BIN/pcap-perf" -e cpu-clock -F 499 60 >recording 2>late.err &
recorder=$!
wait_for shown . # psym runs
./late
ok 'psym names its function while the recording goes on' wait_for shown 'busy_in_the_pipe'
ok 'which it does' kill -TERM $recorder
wait $recorder $pipe

# A recording that is being written.
"$BIN/pcap-perf" -e sched:sched_process_exec -o grows.data 4 2>grows.err &
await test -s grows.data
"$BIN/pdecode" -f -t grows.data >shown 2>follow.err &
follower=$!
sleep 2 # events begin after the header
./latency 1 >begun
ok 'a perf.data that is being written: its events are shown' wait_for shown 'mark-1'
status=0
wait $follower || status=$?
is "$status" 0 'until its recorder ends'
"$BIN/pdecode" -t grows.data >want
same shown want 'as if it had been there from the beginning'

done_testing
