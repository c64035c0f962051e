#!/bin/sh
# Counts: what perf stat recorded, read back, and pcap-perf --stat. perf 6.1 is the oracle: its text
# is beside the recordings in t/data, and is compared with live where perf is installed.
. "${0%/*}/lib.sh"

data=$ROOT/t/data
for name in stat stat-A stat-612; do
	gunzip -c "$data/$name.data.gz" >"$name.data" || exit 1
	sed 's/ *$//' "$data/$name.txt" >"$name.want"
done

# What perf stat record wrote. perf 6.12 pads its lines with more blanks.
for name in stat stat-A stat-612; do
	run_pipe "\"$BIN/pdecode\" $name.data" "\"$BIN/phist\""
	is "$statuses" '0 0' "$name: phist prints the counts"
	sed 's/ *$//' "$OUT" >"$name.got"
	same "$name.got" "$name.want" "$name: as perf stat printed them"
done

run "$BIN/pdecode" -t stat-A.data
printf 'CPU THREAD VAL ENA RUN TIME EVENT
0 -1 38383781 38383361 38383361 38136210 cpu-clock
1 -1 38320435 38319045 38319045 38136210 cpu-clock
0 -1 67 38364131 38364131 38136210 page-faults
1 -1 7 38319736 38319736 38136210 page-faults
0 -1 9 38361087 38361087 38136210 context-switches
1 -1 27 38317933 38317933 38136210 context-switches
' >raw.want
tr -s ' ' <"$OUT" | sed 's/^ //' >raw.got
same raw.got raw.want 'pdecode -t prints each counter, as perf script does'
if have perf && perf script -i stat-A.data >perf.raw 2>/dev/null; then
	same "$OUT" perf.raw 'in the same columns'
else
	skip 1 'perf is not installed'
fi

run_pipe "\"$BIN/pdecode\" stat-A.data" "\"$BIN/phist\" --tsv"
is "$(awk -F'\t' '$1 == "events" && $2 == "page-faults" && $3 == 0 { print $5 }' "$OUT")" 67 \
	'phist --tsv has a row for each event and CPU'
is "$(awk -F'\t' '$1 == "time" && $3 == 1 { print $5 }' "$OUT")" 38320435 'clocks are in ns'
run_pipe "\"$BIN/pdecode\" stat.data" "\"$BIN/phist\" --json"
is "$(grep -c '"table":"events"' "$OUT")" 6 'phist --json has a row for each event and interval'
run_pipe "\"$BIN/pdecode\" stat.data" "\"$BIN/phist\" --by event"
like "$ERR" 'no samples' 'keys are those of samples'

# A recording that is cut off: what came whole is printed.
head -c 1500 stat.data >cut.data
run_pipe "\"$BIN/pdecode\" cut.data" "\"$BIN/phist\""
is "$statuses" '1 1' 'a recording that is cut off'

# Counters of hardware, made up: each .events becomes a recording, its .txt is what perf 6.1 printed
# of it (perf stat report -i -).
${CC:-cc} -O1 -o make "$ROOT/t/stat_make.c" || exit 1
for name in hardware levels threads zero; do
	./make <"$data/stat/$name.events" >"$name.data" || exit 1
	run_pipe "\"$BIN/pdecode\" $name.data" "\"$BIN/phist\""
	is "$statuses" '0 0' "$name: counters that were made up"
	same "$OUT" "$data/stat/$name.txt" "$name: rows and figures as perf prints them"
done
# A round that only claims to have many counters is not printed.
{
	i=0
	while [ $((i += 1)) -le 50 ]; do echo 'event 1 2 0'; done
	echo "threads -1 -"
	echo "cpus $(seq 0 60 | tr '\n' ' ')"
	echo 'config 0 0 1'
	echo 'count 0 0 0 1 1 1'
	i=0
	while [ $((i += 1)) -le 50 ]; do echo 'round 1 5'; done
} | ./make >many.data
run_pipe "\"$BIN/pdecode\" many.data" "\"$BIN/phist\""
is "$statuses" '0 2' 'more rows than there can be counts for'
like "$ERR" 'exceeds its limit' 'this is reported'

# What the words of the command line contradict.
pcap=$BIN/pcap-perf
[ -x "$pcap" ] || {
	skip 1 "$pcap is not built"
	done_testing
	exit 0
}
refused() { # WHAT PATTERN OPTION...
	refused_what=$1 refused_pattern=$2
	shift 2
	run "$pcap" --stat "$@"
	is "$status" 64 "refused: $refused_what"
	like "$ERR" "$refused_pattern" 'with the reason'
}
refused 'an event that no machine has' 'did you mean cycles\?' -e cyclse true
refused 'rows for cores of one command' 'add -a' --per-core true
refused 'rows for threads of a command' '-a, -p and -t' --per-thread true
refused 'intervals without a length' 'needs -I' --interval-count 2 true
refused 'repeats without a command' 'needs a command' -a -r 3 1
refused 'a table of one run' 'add -r' --table true
refused 'metrics of a vendor' 'by -e' -M ipc true
refused 'top-down' 'events' --topdown -a 1
refused 'seconds and a command' 'not both' 1 true
refused 'perf stat report' 'pdecode FILE \| phist' report

# Counting. What the kernel does not permit here is skipped.
run "$pcap" --stat -e dummy -- true
if [ "$status" != 0 ]; then
	diag_file "$ERR"
	skip 1 'the kernel refuses perf events here'
	done_testing
	exit 0
fi
is "$(wc -c <"$OUT")" 0 'standard output is that of the command'

run "$pcap" --stat -e task-clock -- sh -c 'echo said; exit 7'
is "$status" 7 'the exit status is that of the command'
is "$(cat "$OUT")" said 'its output is its own'
# shellcheck disable=SC2016
run "$pcap" --stat -e task-clock -- sh -c 'kill -TERM $$'
is "$status" 143 'of a command that a signal ends: 128 and the number'
run "$pcap" --stat -e task-clock -- ./no-such-command
is "$status" 2 'a command that is not there'
like "$ERR" 'no-such-command: No such file' 'it is named'
run "$pcap" --stat -e task-clock -o /dev/full -- true
is "$status" 2 'a disk that is full'
like "$ERR" 'cannot write' 'this is reported'
run "$pcap" --stat -a -e cs -G no/such/cgroup 0.1
is "$status" 2 'a cgroup that is not there'
like "$ERR" 'no/such/cgroup' 'it is named'

# csv_of EVENT: its count in a table in CSV.
csv_of() {
	awk -F, -v event="$1" '$3 == event { print $1 }' "$ERR"
}

${CC:-cc} -O1 -o load "$ROOT/t/stat_load.c" || exit 1
tracing=sched:sched_process_fork,sched:sched_process_exit,syscalls:sys_enter_getppid
run "$pcap" --stat -x, -e faults,"$tracing" -- ./load 12345 1000 7
if [ "$status" = 0 ]; then
	is "$(csv_of syscalls:sys_enter_getppid)" 12345 'system calls are counted exactly'
	is "$(csv_of sched:sched_process_fork)" 7 'so are forks'
	is "$(csv_of sched:sched_process_exit)" 8 'and what the children do'
	run "$pcap" --stat -i -x, -e "$tracing" -- ./load 12345 1000 7
	is "$(csv_of sched:sched_process_exit)" 1 '-i: without what the children do'
	run "$pcap" --stat -x, -r 3 -e "$tracing" -- ./load 1000 10 2
	is "$(csv_of syscalls:sys_enter_getppid)" 1000 '-r: the mean of equal runs'
	like "$ERR" ',syscalls:sys_enter_getppid,0.00%,' 'deviates by nothing'
	run "$pcap" --stat -x, -e syscalls:sys_exit_getppid --filter 'ret < 0' -- ./load 1000 10 2
	is "$(csv_of syscalls:sys_exit_getppid)" 0 '--filter'
	run "$pcap" --stat -x, -e '{syscalls:sys_enter_getppid,cs}' -- ./load 500 10 2
	is "$(csv_of syscalls:sys_enter_getppid)" 500 'a group'
	run "$pcap" --stat -j -e syscalls:sys_enter_getppid -- ./load 500 10 2
	like "$ERR" '^\{"counter-value" : "500.000000", "unit" : "", "event" : "syscalls' 'JSON'
else
	diag_file "$ERR"
	skip 9 'tracepoints cannot be counted here'
fi
run "$pcap" --stat -x, -e faults:u -- ./load 0 0 0
few=$(csv_of faults:u)
run "$pcap" --stat -x, -e faults:u -- ./load 0 5000 0
more=$(($(csv_of faults:u) - few))
is "$(((more + 50) / 100 * 100))" 5000 "5000 pages are as many faults, to a few"

run "$pcap" --stat -e cycles,cs,task-clock -- true
if grep -q '<not supported>      cycles' "$ERR"; then
	pass 'a counter that the machine does not have'
else
	like "$ERR" ' cycles .* GHz' 'cycles'
fi
like "$ERR" 'seconds user$' 'the times of the command'

# Ends.
run "$pcap" --stat -e cs -I 50 --interval-count 3 -- sleep 1000
is "$(grep -c ' cs ' "$ERR")" 3 '--interval-count'
sleep 1000 &
sleeper=$!
"$pcap" --stat -p "$sleeper" -e cs 2>ended &
counter=$!
await counting "$counter"
kill "$sleeper"
wait "$counter"
is "$?" 0 '-p: ends when the process has ended'
sleep 1000 &
sleeper=$!
"$pcap" --stat -p "$sleeper" -e cs 2>interrupted &
counter=$!
await counting "$counter"
is "$(grep -c perf_event /proc/$counter/maps)" 0 'nothing is recorded: there is no ring buffer'
kill -INT "$counter"
wait "$counter"
is "$?" 0 'SIGINT ends the counting'
like interrupted 'seconds time elapsed' 'with its table'
kill "$sleeper"

# What the intervals add up to.
run "$pcap" --stat -x, -I 40 --summary -e faults -- sh -c './load 0 500 1; sleep 0.1; ./load 0 500 1'
is "$(awk -F, '$1 ~ /summary/ { whole = $2 } $1 !~ /summary/ && $2 ~ /^[0-9]/ { sum += $2 }
	END { print (whole > 0 && whole == sum ? "equal" : whole " " sum) }' "$ERR")" equal \
	'the intervals add up to the summary'

run "$pcap" --stat -o table -e cs -- true
is "$(wc -c <"$ERR")" 0 '-o: nothing on standard error'
run "$pcap" --stat -o table --append -e cs -- true
is "$(grep -c 'started on' table)" 2 '--append'
run "$pcap" --stat --tsv -r 4 -e faults,task-clock -- true
is "$(awk -F'\t' '$1 == "events" { print $2, $3 }' "$OUT")" 'faults 4' \
	'--tsv: a table to standard output, each run counts'
run_pipe "\"$pcap\" --stat --tsv -a -A -I 50 -e cs,faults 0.2" "\"$BIN/psvg\""
is "$statuses" '0 0' 'which psvg draws'
run "$pcap" --stat -r 2 --pre 'echo before' --post 'echo after' -e cs -- true
is "$(tr '\n' ' ' <"$OUT")" 'before after before after ' '--pre and --post'

mkfifo ctl ack
"$pcap" --stat -a -D -1 --control fifo:ctl,ack -e cpu-clock 2>controlled &
counter=$!
exec 3<>ack 4<>ctl
echo ping >&4
is "$(answer ack)" ack '--control: ping is answered'
echo stop >&4
answer ack >/dev/null
wait "$counter"
like controlled '<not counted>' '-D -1: nothing is counted before enable'
exec 3<&- 4<&-

# Beside perf 6.1: the same lines, when numbers are taken out of both. What is short of a thousand
# in one and not in the other has another unit, or no comma. Intervals are much longer than the
# command, which a busy machine may run for longer than it sleeps.
shape() {
	case $2 in
	-[xj]*) sed -E -e 's/[KM]\/sec/\/sec/' -e 's/[0-9.]+/N/g' "$1" ;;
	*) sed -E -e 's/[KM]\/sec/\/sec/' -e 's/[0-9.,]/ /g' -e 's/ +$//' "$1" ;;
	esac
}
if have perf && perf --version | grep -q ' 6\.1\.'; then
	while read -r options; do
		# shellcheck disable=SC2086
		perf stat $options 2>theirs >/dev/null
		# shellcheck disable=SC2086
		"$pcap" --stat $options 2>ours >/dev/null
		shape theirs "$options" >theirs.shape
		shape ours "$options" >ours.shape
		same ours.shape theirs.shape "as perf stat $options"
	done <<-'E'
		-e cs,faults,task-clock,migrations true
		-d -d -d -e task-clock true
		-e {cs,faults}:u,task-clock:k true
		-a -A -e cs,cpu-clock sleep 0.1
		-a --per-core -e cs,cpu-clock sleep 0.1
		-a --per-die -e cs,cpu-clock sleep 0.1
		-a --per-socket -e cs,cpu-clock sleep 0.1
		-a --per-node -e cs,cpu-clock sleep 0.1
		-a -A -I 2000 -e cs,cpu-clock sleep 0.1
		-a --per-core -I 2000 -e cs,cpu-clock sleep 0.1
		-a --per-die -I 2000 -e cs,cpu-clock sleep 0.1
		-a --per-socket -I 2000 -e cs,cpu-clock sleep 0.1
		-a --per-node -I 2000 -e cs,cpu-clock sleep 0.1
		-I 2000 --summary -e cs sleep 0.1
		-C 0 -e cs sleep 0.1
		-n true
		-x, -a -A -I 2000 -e cs,cpu-clock sleep 0.1
		-x, -a --per-core -e cs,cpu-clock sleep 0.1
		-x, -a --per-socket -e cs,cpu-clock sleep 0.1
		-x, -I 2000 --summary -e cs sleep 0.1
		-x, -r 2 -e task-clock true
		-j -a --per-core -e cs,cpu-clock sleep 0.1
		-j -e faults,task-clock true
	E
else
	skip 23 'perf 6.1 is not installed'
fi

# A read that fails, also in the process that is to become the command: with a message.
shim=${SHIM:-$ROOT/build/t/shim.so}
if [ -e "$shim" ] && ! sanitized; then
	shim=$(t_abs "$shim")
	bad=
	for i in $(seq 16); do
		FAIL=read:$i FAIL_PROG=pcap-perf LD_PRELOAD=$shim "$BIN/pcap-perf" --stat -e cs true >"$OUT" 2>"$ERR"
		case $? in
		0) ;;
		1 | 2) grep -q '^pcap-perf: ' "$ERR" || bad="$bad $i" ;;
		*) bad="$bad $i" ;;
		esac
	done
	is "$bad" '' 'no failed read is taken for the status of the command'
else
	skip 1 't/shim.so is not built, or a sanitizer wants to be loaded first'
fi

done_testing
