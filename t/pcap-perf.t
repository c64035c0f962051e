#!/bin/sh
# pcap-perf: what it refuses, how a recording ends, and that the recording is whole. What the kernel
# does not permit here is skipped; perf(1) is an oracle where it is installed.
. "${0%/*}/lib.sh"

pcap=$BIN/pcap-perf
[ -x "$pcap" ] || skip_all "$pcap is not built"

# records FILE: "TYPE COUNT" for each type of record, "lost N", and "whole" if the last one is. All
# records are multiples of 4 bytes, so that od's lines of 4 do. (The low half of a word is first.)
records() {
	od -An -v -tu4 -w4 "$1" | awk '
	NR <= 4 { next }
	data { skip += $1 / 4; data = 0; next }
	lost && !--lost { losses += $1 }
	skip { skip--; next }
	!head { type = $1; head = 1; next }
	{
		head = 0
		size = int($1 / 65536)
		if (size < 8 || size % 4) { print "bad size " size; exit }
		count[type]++
		skip = size / 4 - 2
		if (type == 66) { data = 1; skip-- }
		if (type == 2) lost = 3
	}
	END {
		for (type in count) print type, count[type]
		print "lost", losses + 0
		if (!skip && !head) print "whole"
	}'
}

# count FILE TYPE: how many records of a type are in the output of records.
count() {
	awk -v type="$2" '$1 == type { n = $2 } END { print n + 0 }' "$1"
}

sample=9 comm=3 mmap2=10 attr=64 tracing=66 feature=80 init=82

# What it refuses, whatever the kernel permits.
run "$pcap" -e cyclse 1
is "$status" 64 'an event that no machine has'
like "$ERR" '^pcap-perf: -e: .*cyclse.*did you mean cycles\?' 'the nearest name is told'
run "$pcap" --filter 'x == 1' 1
is "$status" 64 'a filter without an event'
run "$pcap" -F 99 -c 5 1
is "$status" 64 'a frequency and a period'
run "$pcap" -t 1 -p $$ 1
is "$status" 64 'threads and processes'
run "$pcap" 1 true
is "$status" 64 'seconds and a command'
run "$pcap" -m 3 1
is "$status" 64 'pages that are no power of two'
run "$pcap" -o no/such/directory/file 1
is "$status" 2 'an output that cannot be opened'
like "$ERR" 'no/such/directory/file' 'it is named'
if have script; then
	script -qec "'$pcap' -a 1" /dev/null >"$OUT" 2>&1
	is "$?" 64 'a terminal as the output'
	like "$OUT" 'terminal' 'this is reported'
else
	skip 2 'script is not installed'
fi

run "$pcap" -e dummy -o probe -- true
if [ "$status" != 0 ]; then
	diag_file "$ERR"
	skip 1 'the kernel refuses perf events here'
	done_testing
	exit 0
fi

# A command. It is busy for as long as a sample takes to come.
# shellcheck disable=SC2016
busy='i=0; while [ $i -lt 60000 ]; do i=$((i + 1)); done'
run "$pcap" -v -e cpu-clock:u -- sh -c "echo said; $busy; exit 3"
cp "$OUT" cmd.data
is "$status" 3 'the exit status of the command is passed on'
is "$(head -c 8 cmd.data)" PERFILE2 'the output is perf.data'
records cmd.data >cmd.records
like cmd.records '^whole$' 'its last record is whole'
like "$ERR" '^said$' 'what the command says is not in the recording'
is "$(count cmd.records $attr)" 1 'one event'
is "$(count cmd.records $init)" 1 'one end of what existed before'
is "$(count cmd.records $feature)" \
	"$(grep -cE '^(model name|vendor_id)' /proc/cpuinfo | awk '{ print $1 ? 12 : 10 }')" \
	'the machine is described'
ok 'the command is named' test "$(count cmd.records $comm)" -ge 1
ok 'its mappings are known' test "$(count cmd.records $mmap2)" -ge 1
ok 'there are samples' test "$(count cmd.records $sample)" -ge 1
like "$ERR" "^pcap-perf: $(count cmd.records $sample) samples, $(wc -c <cmd.data) bytes written" \
	'samples and bytes are counted'

run "$pcap" -o file.data -e cpu-clock:u -- echo said
is "$status" 0 'a command with -o'
is "$(cat "$OUT")" said 'has its standard output'
empty "$ERR" 'nothing is reported without -v'
records file.data >file.records
like file.records '^whole$' 'the file is whole'

run "$pcap" -F 99999999 -e cpu-clock:u -o fast.data -- true
is "$status" 0 'more samples per second than the kernel allows'
like "$ERR" "the kernel's limit is $(cat /proc/sys/kernel/perf_event_max_sample_rate) Hz" 'says the limit'
run "$pcap" -F 99 -e cpu-clock:u -p $$ -o short.data 100ms
is "$status" 0 'a time with a unit'

# What is closed is not where the recording goes.
"$pcap" -e cpu-clock:u -o closed.data -- sh -c 'echo HEL""LO; echo HEL""LO >&2; true' >&- 2>&- <&-
is "$?" 0 'with stdin, stdout and stderr closed'
unlike closed.data 'HELLO' 'what the command says is not in the recording'
"$pcap" -e cpu-clock:u -- true >&- 2>"$ERR"
is "$?" 2 'stdout is closed and is where the recording should go'
like "$ERR" 'cannot write' 'this is reported'

run "$pcap" -- ./no-such-command
is "$status" 2 'a command that is not there'
like "$ERR" 'cannot execute ./no-such-command: No such file' 'this is reported'

# Processes.
sh -c 'sleep 60 & echo $! >sleeping; wait' &
await test -s sleeping
run "$pcap" -e cpu-clock:u -p "$(cat sleeping)" 0.1
cp "$OUT" pid.data
is "$status" 0 'a process, for some time'
records pid.data >pid.records
like pid.records '^whole$' 'the recording is whole'
is "$(count pid.records $attr)" 2 'an event and the tracker'
is "$(count pid.records $comm)" 1 'the one process is there'
LC_ALL=C grep -aq 'sleep' pid.data
is "$?" 0 'by name'
"$pcap" -e cpu-clock:u -p "$(cat sleeping)" -o ended.data &
recorder=$!
await test -s ended.data
kill "$(cat sleeping)"
wait "$recorder"
is "$?" 0 'ends when the process ends'
wait
run "$pcap" -p 2147483647 0.1
is "$status" 2 'a process that is not there'
like "$ERR" 'no process 2147483647' 'it is named'

# Signals. A background job of a script ignores SIGINT, but not pcap-perf's.
for signal in INT TERM; do
	"$pcap" -e cpu-clock:u -p $$ -o "$signal.data" 2>"$ERR" &
	recorder=$!
	await test -s "$signal.data"
	kill -"$signal" "$recorder"
	wait "$recorder"
	is "$?" 0 "SIG$signal ends a recording"
	records "$signal.data" >"$signal.records"
	like "$signal.records" '^whole$' "SIG$signal: it is whole"
done
"$pcap" -e cpu-clock:u -o killed.data -- sh -c 'echo $$ >child; exec sleep 60' &
recorder=$!
await test -s child
kill "$recorder"
wait "$recorder"
is "$?" 0 'a signal while a command runs'
kill -0 "$(cat child)" 2>/dev/null
isnt "$?" 0 'the command is ended, too'

# What is cut off is noticed by its end mark, wherever that happens.
"$pcap" -e cpu-clock:u -p $$ -o dead.data 2>"$ERR" &
recorder=$!
await test -s dead.data
kill -KILL "$recorder"
wait "$recorder" 2>"$ERR"
run "$BIN/pdecode" -b dead.data
is "$status" 1 'SIGKILL: the recording is not whole'
like "$ERR" 'dead.data: offset [0-9]*: the input is cut off: the end mark .* is missing' 'it is reported'
run "$BIN/pdecode" -b cmd.data
is "$status" 0 'a recording that has ended is whole'
empty "$ERR" 'nothing is reported of it'
# Where each record ends: sizes are the high half of the second word.
od -An -v -tu4 -w8 cmd.data | awk '
	NR > 2 && !skip { skip = int($2 / 65536) / 8; if (NR > 3) print 8 * (NR - 1) }
	skip { skip-- }' >ends
bad=
for end in 16 $(cat ends); do
	head -c "$end" cmd.data >cut.data
	run "$BIN/pdecode" -b cut.data
	[ "$status" = 1 ] || bad="$bad $end:status$status"
	grep -q 'the input is cut off' "$ERR" || bad="$bad $end:silent"
done
is "$bad" '' "cut after any of its records ($(wc -l <ends | tr -d ' ')): status 1 and a message"

# A reader that goes.
run_pipe "'$pcap' -e cpu-clock:u -p $$" 'head -c 16'
is "$statuses" '141 0' 'ends with its reader'
empty "$ERR.1" 'and quietly'
if [ -w /dev/full ]; then
	"$pcap" -e cpu-clock:u -- true >/dev/full 2>"$ERR"
	is "$?" 2 'a full device'
	like "$ERR" 'cannot write: No space left' 'this is reported'
else
	skip 2 'no /dev/full'
fi

# Two events, whose names and attributes are both there.
run "$pcap" -e cpu-clock:u -e faults:u -- true
cp "$OUT" two.data
is "$status" 0 'two events'
records two.data >two.records
is "$(count two.records $attr)" 2 'two attributes'
for name in cpu-clock:u faults:u; do
	LC_ALL=C grep -aq "$name" two.data
	is "$?" 0 "$name is named"
done

# Buffers of one page lose events when many come; then it is reported, counted and strict.
run "$pcap" --strict -m 1 -e faults:u -c 1 -- sh -c 'ls -lR /usr/lib /usr/share >/dev/null 2>&1; true'
records "$OUT" >loss.records
lost=$(count loss.records lost)
if [ "$lost" = 0 ]; then
	is "$status" 0 'nothing lost: exit status 0'
	empty "$ERR" 'nothing lost: nothing said'
else
	is "$status" 1 'events lost: exit status 1 if strict'
	like "$ERR" "^pcap-perf: $lost events lost" 'events lost: as many as the records tell'
fi

# Everything.
run "$pcap" -e cpu-clock -F 99 -ag 0.3
if [ "$status" = 0 ]; then
	cp "$OUT" all.data
	records all.data >all.records
	like all.records '^whole$' 'everything: whole'
	set -- /proc/[0-9]*/comm
	ok 'everything: all processes' test "$(count all.records $comm)" -ge $(($# / 2))
	run "$pcap" -C 99999 0.1
	is "$status" 64 'a CPU that cannot be'
	run "$pcap" -C 60000 0.1
	is "$status" 2 'a CPU that is not there'
	like "$ERR" 'CPU 60000 is not online' 'it is named'
else
	like "$ERR" 'perf_event_paranoid' 'everything is refused: why'
	skip 4 'the kernel refuses to record all processes here'
fi

# Tracepoints.
run "$pcap" -e 'sched:sched_switch' -a 0.3
if [ "$status" = 0 ]; then
	cp "$OUT" trace.data
	records trace.data >trace.records
	like trace.records '^whole$' 'tracepoints: whole'
	is "$(count trace.records $tracing)" 1 'tracepoints: their formats are there'
	ok 'tracepoints: samples' test "$(count trace.records $sample)" -ge 1
	run "$pcap" -e 'sched:sched_switc?,cs' -e 'sched:sched_switch' --filter 'prev_pid == 2147483647' \
		-a 0.2
	records "$OUT" >filter.records
	is "$(count filter.records $attr)" 4 'globs and lists'
	run "$pcap" -e 'sched:sched_switch' --filter 'prev_pid == 2147483647' -a 0.2
	records "$OUT" >filter.records
	is "$(count filter.records $sample)" 0 'a filter that nothing fits'
	run "$pcap" -e 'sched:sched_switch' --filter 'prev_pidd == 1' -a 0.1
	is "$status" 2 'a filter with an unknown field'
	like "$ERR" "no field 'prev_pidd'; did you mean prev_pid\?" 'the nearest field is told'
	run "$pcap" -e 'sched:sched_swich' -a 0.1
	is "$status" 2 'an unknown tracepoint'
	like "$ERR" 'did you mean sched:sched_switch\?' 'the nearest tracepoint is told'
else
	like "$ERR" 'tracefs|tracing|permit' 'tracepoints are refused: why'
	skip 8 'there are no tracepoints here'
fi

# perf reads it.
if have perf; then
	perf script -i cmd.data -F comm,event >perf.out 2>perf.err
	is "$?" 0 'perf script'
	is "$(grep -c . perf.out)" "$(count cmd.records $sample)" 'has all samples'
	is "$(awk '{ print $1, $2 }' perf.out | sort -u)" 'sh cpu-clock:u:' 'of the right program and event'
	perf report -i cmd.data >perf.out 2>perf.err
	empty perf.err 'perf report says nothing of the end mark'
	perf inject <cmd.data >inject.data 2>perf.err
	empty perf.err 'nor perf inject'
	run "$BIN/pdecode" -b inject.data
	is "$status" 0 'which keeps the mark'
	perf report -i two.data --header-only >perf.out 2>perf.err
	like perf.out '^# cmdline : .*pcap-perf -e cpu-clock:u -e faults:u -- true' 'the command line'
	like perf.out "^# hostname : $(uname -n)\$" 'the host name'
	like perf.out "^# os release : $(uname -r)\$" 'the kernel release'
	like perf.out '^# event : name = faults:u,.* exclude_kernel = 1' 'the event'
	perf script -i cmd.data --show-mmap-events >perf.out 2>perf.err
	like perf.out 'MMAP2 .*r-xp /.*/(da|ba)?sh' 'mappings'
	if [ -f trace.data ]; then
		perf script -i trace.data >perf.out 2>perf.err
		like perf.out 'sched:sched_switch: prev_comm=.* next_pid=' 'tracepoints'
	else
		skip 1 'there are no tracepoints here'
	fi
else
	skip 12 'perf is not installed'
fi
done_testing
