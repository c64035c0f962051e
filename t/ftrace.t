#!/bin/sh
# pcap-ftrace: events into a trace.dat and through a pipe, filters, what is left behind after each way of
# ending, buffers that stay. Function tracers: ftrace-guest.t.
. "${0%/*}/lib.sh"
[ "$(id -u)" = 0 ] || skip_all 'only root records with ftrace'
T=/sys/kernel/tracing
{ mkdir $T/instances/perfpipe-t && rmdir $T/instances/perfpipe-t; } 2>/dev/null ||
	skip_all 'instances of ftrace cannot be made here'

# What may be different afterwards is what other tests do meanwhile: their own instances.
state() {
	cat $T/current_tracer $T/tracing_on $T/trace_clock $T/set_event $T/buffer_size_kb $T/tracing_cpumask
	find $T/instances /run/perfpipe -name "*pcap_$1_*" 2>/dev/null
}
# A program that nobody else runs.
me=true$$
cp /bin/true "$TMP/$me"
three="for i in 1 2 3; do $TMP/$me; done"
execs() {
	grep -c "sched_process_exec: .*filename=$TMP/$me" "$1"
}

run "$BIN/pcap-ftrace" -e sched:sched_process_exec -e sched:sched_process_exit -o x.dat -- sh -c "$three"
is "$status" 0 'events go into a file'
run "$BIN/pdecode" -t x.dat
is "$status $(execs "$OUT")" '0 3' 'and all of them are in it'
cp "$OUT" x.txt
if have trace-cmd; then
	trace-cmd report -i x.dat 2>/dev/null | sed '/^cpus=/d; /^version/d' >theirs
	sed '/^cpus=/d' x.txt >ours
	same ours theirs 'trace-cmd report prints the same'
else
	skip 1 'trace-cmd is not installed'
fi
run "$BIN/pcap-ftrace" -e sched:sched_process_exec --file-version 6 -o 6.dat -- sh -c "$three"
run "$BIN/pdecode" -t 6.dat
is "$status $(execs "$OUT")" '0 3' 'version 6'
run "$BIN/pcap-ftrace" -e 'sched:*exec' -z -o z.dat -- sh -c "$three"
run "$BIN/pdecode" -t z.dat
is "$status $(execs "$OUT")" '0 3' 'packed by zstd'
if have trace-cmd; then
	trace-cmd report -i z.dat 2>/dev/null >theirs
	is "$(execs theirs)" 3 'trace-cmd reads it'
else
	skip 1 'trace-cmd is not installed'
fi
run "$BIN/pcap-ftrace" -p function -g vfs_read -o y.dat 0.1
is "$status" 64 'settings of graphs are for tracers that have some'

# Times of the day: of an event between two looks at the clock, in a file and through a pipe.
from=$(date +%s%N)
run "$BIN/pcap-ftrace" --date -e sched:sched_process_exec -o date.dat -- "$TMP/$me"
"$BIN/pcap-ftrace" --date -C mono -e sched:sched_process_exec -- "$TMP/$me" >date.ftrace 2>err || cat err
to=$(date +%s%N)
for file in date.dat date.ftrace; do
	"$BIN/pdecode" -j $file | sed -n 's/^{"type":"sample".*"time":\([0-9]*\).*filename[^,]*'"$me"'.*/\1/p' >when
	is "$(awk -v from="$from" -v to="$to" '{ print ($1 > from - 20000 && $1 < to + 20000) }' when)" 1 "$file: times of the day"
done
if have trace-cmd; then
	trace-cmd report -i date.dat 2>/dev/null | sed '/^version/d' >theirs
	"$BIN/pdecode" -t date.dat >ours
	same ours theirs 'trace-cmd report prints the same'
else
	skip 1 'trace-cmd is not installed'
fi
run "$BIN/pdecode" -b date.dat date.ftrace
is "$status $(cat "$ERR")" '0 ' 'two such recordings can be merged'
run "$BIN/pcap-ftrace" --date -C x86-tsc -e sched_process_exec -o y.dat 0.1
[ "$status" = 2 ] && like "$ERR" 'does not count ns|has .*local' 'not by a clock without a unit'
for version in 7 6; do
	run "$BIN/pcap-ftrace" -e sched_process_exec -B ends -e sched_process_exit -B 'a name' -e sched_process_fork \
		--file-version $version -o b.dat -- sh -c "$three"
	run "$BIN/pdecode" -t b.dat
	is "$status $(execs "$OUT") $(grep -c '^ *ends:.*sched_process_exit.*comm='$me "$OUT")" '0 3 3' \
		"buffers of their own, version $version"
	like "$OUT" '^a name:.*sched_process_fork' 'each with its name'
	is "$(find . -name 'b.dat.*')" '' 'in one file'
	if have trace-cmd; then
		trace-cmd report -i b.dat 2>/dev/null | sed '/^version/d' >theirs
		cp "$OUT" ours
		same ours theirs 'trace-cmd report prints the same'
	else
		skip 1 'trace-cmd is not installed'
	fi
done
"$BIN/pcap-ftrace" -e sched_process_exec -B ends -e sched_process_exit -- sh -c "$three" >b.st
run "$BIN/pconv" -o b.dat b.st
run "$BIN/pdecode" -t b.dat
is "$status $(execs "$OUT") $(grep -c '^ends:.*sched_process_exit.*comm='$me "$OUT")" '0 3 3' 'and through a pipe to a trace.dat'
run_pipe '"$BIN/pcap-ftrace" -e sched_process_exec -- sh -c "$three"' '"$BIN/pdecode" -t'
is "$statuses $(execs "$OUT")" '0 0 3' 'through a pipe'
run_pipe '"$BIN/pcap-ftrace" -e sched -v -e "*stat*" -- true' '"$BIN/pdecode" -t'
unlike "$OUT" 'sched_stat_' 'events that are left out'
run_pipe '"$BIN/pcap-ftrace" -F -c -e sched:sched_process_exit -f "comm == \"$me\"" -- sh -c "$three"' '"$BIN/pdecode" -t'
is "$statuses $(grep -c "sched_process_exit: *comm=$me" "$OUT") $(grep -vc comm=$me "$OUT")" '0 0 3 1' \
	'a filter, of the command and its children only'
run_pipe '"$BIN/pcap-ftrace" -F -e raw_syscalls:sys_enter -- sh -c "/bin/true; exit"' '"$BIN/pdecode" -t'
like "$OUT" '^ +sh-[0-9]+ .*sys_enter:' 'the name of the command is not that of the recorder that started it'
printf 'int act(int i) { return i; }\nint main(void) { return act(0); }\n' >acts.c
if [ -w $T/uprobe_events ] && ${CC:-cc} -g -O0 -o acts acts.c; then
	run_pipe '"$BIN/pcap-ftrace" -F --probe act -x ./acts -- sh -c "./acts; exec ./acts"' '"$BIN/pdecode" -t'
	is "$statuses $(grep -c ' act: ' "$OUT")" '0 0 1' 'a probe, of the command only'
else
	skip 1 'no uprobes here, or no compiler'
fi
"$BIN/pcap-ftrace" -e sched:sched_process_exec -- sh -c 'exit 7' >/dev/null 2>&1
is $? 7 'the status is that of the command'

# Live: the reader has the event while it is recorded.
{ "$BIN/pcap-ftrace" -e sched:sched_process_exec 60 & echo $! >pid; wait $!; } | "$BIN/pdecode" -t >live.txt &
await test -s pid
seen() {
	"$TMP/$me"
	grep -q "filename=$TMP/$me" live.txt
}
await seen
pass 'an event comes through the pipe while the recording goes on'
kill -INT "$(cat pid)"
wait
is "$(tail -c 1 live.txt | od -An -c | tr -d ' ')" '\n' 'and it ends in order'

# Nothing is left behind, however it ends.
state none >before
for signal in INT TERM HUP KILL; do
	"$BIN/pcap-ftrace" -e sched:sched_process_exec -B b -e sched_process_exit -o k.dat 60 2>k.err &
	p=$!
	await test -e k.dat.b.cpu0
	busy() {
		/bin/true
		[ -s k.dat.cpu0 ] && [ -s k.dat.b.cpu0 ]
	}
	await busy
	kill -$signal $p
	wait $p 2>/dev/null
	gone() {
		[ -z "$(find $T/instances /run/perfpipe -maxdepth 1 -name "*pcap_${p}_*" 2>/dev/null)" ]
	}
	await gone
	state $p >after
	same after before "SIG$signal leaves nothing behind"
done
run "$BIN/pdecode" -t k.dat
is "$status" 1 'a killed recording is reported'
like "$OUT" 'sched_process_exec:' 'but its events are read'
like "$OUT" '^b:.*sched_process_exit:' 'of all buffers'
# As trace-cmd leaves them.
rm k.dat
run "$BIN/pdecode" -t k.dat
is "$status" 2 'pages alone are no recording'
like "$ERR" 'pcap-ftrace --restore' 'but it is told what makes one of them'
run "$BIN/pcap-ftrace" --restore k.dat -o restored.dat
run "$BIN/pdecode" -t restored.dat
like "$OUT" 'sched_process_exec:' 'and can be made a recording of'
like "$OUT" '^b:.*sched_process_exit:' 'likewise'
"$BIN/pcap-ftrace" -e sched 5 >/dev/full 2>full.err
is "$? $(grep -c 'cannot write: No space left' full.err)" '2 1' 'a full disk'
if mkdir small && mount -t tmpfs -o size=1m none small 2>/dev/null; then
	"$BIN/pcap-ftrace" -e raw_syscalls -o small/k.dat -- dd if=/dev/zero of=/dev/null bs=1 count=100000 2>full.err
	is "$? $(grep -c 'No space left' full.err)" '2 1' 'while it records into a file'
	umount small
else
	skip 1 'no file system can be mounted here'
fi
state none >after
same after before 'and a full disk leaves nothing behind'

# Two at once, and the buffers that stay.
name=perfpipe-t-$$
run "$BIN/pcap-ftrace" --start $name -e sched:sched_process_exec
is "$status" 0 'a buffer is set up'
"$TMP/$me"
run "$BIN/pcap-ftrace" --start $name -e sched
is "$status" 64 'but once'
run "$BIN/pcap-ftrace" --status
like "$OUT" "^instance $name \\(by user 0 since .*pcap-ftrace --start" 'status tells whose it is'
run "$BIN/pcap-ftrace" --stop $name
run "$BIN/pcap-ftrace" --show $name
like "$OUT" "filename=$TMP/$me" 'show'
last=$(($(sed 's/.*[-,]//' /sys/devices/system/cpu/present)))
run "$BIN/pcap-ftrace" --show $name -M 0-$last
is "$status $(grep -c '^# tracer' "$OUT") $(grep -c "filename=$TMP/$me" "$OUT")" "0 $((last + 1)) 1" 'show, CPU by CPU'
run "$BIN/pcap-ftrace" --extract $name -o e.dat
run "$BIN/pdecode" -t e.dat
like "$OUT" "filename=$TMP/$me" 'extract'
run "$BIN/pcap-ftrace" --clear $name
is "$status" 0 'clear'
run "$BIN/pcap-ftrace" --reset $name
state none >after
same after before 'reset leaves nothing behind'
run "$BIN/pcap-ftrace" --show $name
is "$status" 2 'what is gone cannot be shown'
# A buffer of somebody else, too: what is recorded while it is printed would take the place of the rest.
mkdir $T/instances/$name
seq -f 'line %.0f' 20000 | while read -r line; do echo "$line"; done >$T/instances/$name/trace_marker
"$BIN/pcap-ftrace" --show $name -M 0-$last | {
	read -r line
	echo later 2>/dev/null >$T/instances/$name/trace_marker # is refused while nothing is recorded
	cat
} >shown
is "$(grep -c 'tracing_mark_write: line' shown) $(grep -c later shown)" \
	"$(awk '$1 == "entries:" { n += $2 } END { print n }' $T/instances/$name/per_cpu/cpu*/stats) 0" 'what is there when it begins, is shown'
# Also if it is killed in between, and if there are two of them.
pauses=$T/instances/$name/options/pause-on-trace
if [ -e "$pauses" ]; then
	mkfifo fifo.one fifo.two
	"$BIN/pcap-ftrace" --show $name >fifo.one 2>killed.err &
	one=$!
	exec 7<fifo.one
	"$BIN/pcap-ftrace" --show $name >fifo.two &
	two=$!
	exec 8<fifo.two
	read -r line <&7 && read -r line <&8
	kill -KILL $one
	wait $one 2>/dev/null
	await grep -q 'was killed' killed.err
	is "$(cat "$pauses") $(echo later 2>/dev/null >$T/instances/$name/trace_marker || echo refused)" '1 refused' \
		'one of two readers is killed: the other is not disturbed'
	exec 7<&- 8<&-
	wait $two
	is "$(cat "$pauses") $(echo later >$T/instances/$name/trace_marker && echo recorded)" '0 recorded' \
		'after the last one all is as it was'
	"$BIN/pcap-ftrace" --show $name >fifo.one 2>killed.err &
	one=$!
	exec 7<fifo.one
	read -r line <&7
	kill -KILL $one
	wait $one 2>/dev/null
	await grep -q 'was killed' killed.err
	is "$(cat "$pauses") $(echo later >$T/instances/$name/trace_marker && echo recorded)" '0 recorded' \
		'likewise after one that was killed'
	exec 7<&-
else
	skip 3 'this kernel always pauses'
fi
rmdir $T/instances/$name

# What there is for the whole machine only: two that want the same share it, whichever ends first.
if [ -e $T/tracing_thresh ]; then
	was=$(cat $T/tracing_thresh)
	wanted=$((was + 7))
	for i in 1 2; do
		"$BIN/pcap-ftrace" -p nop --thresh $wanted -e sched:sched_process_exit -o t$i.dat 60 2>t.err &
		eval "p$i=$!"
		await test -e t$i.dat.cpu0
	done
	run "$BIN/pcap-ftrace" --status
	# shellcheck disable=SC2154
	like "$OUT" "^  tracing_thresh: $wanted \\(of a pcap-ftrace that records, process ($p1|$p2)\\)" 'status tells who has set it'
	run "$BIN/pcap-ftrace" -p nop --thresh $((wanted + 1)) -e sched:sched_process_exit -o t3.dat 1
	is "$status" 64 'who wants it otherwise is refused'
	like "$ERR" 'tracing_thresh exists only once, and another pcap-ftrace has set it: process' 'and told whose it is'
	# shellcheck disable=SC2154
	kill -INT "$p1"
	wait "$p1"
	is "$(cat $T/tracing_thresh)" $wanted 'it stays until the last ends'
	# shellcheck disable=SC2154
	kill -KILL "$p2"
	wait "$p2" 2>/dev/null
	given_back() {
		[ "$(cat $T/tracing_thresh)" = "$was" ]
	}
	await given_back
	pass 'and is as it was then'
	run "$BIN/pcap-ftrace" -e sched_process_exec -p nop --thresh $wanted -B b -p nop --thresh $((wanted + 1)) -e sched_process_exit 1
	is "$status" 64 'nor can two buffers have it otherwise'
else
	skip 5 'this kernel has no tracing_thresh'
fi

run "$BIN/pcap-ftrace" --list tracers
like "$OUT" '^nop$' 'tracers are listed'
run "$BIN/pcap-ftrace" --list 'sched_process_ex*'
like "$OUT" '^sched:sched_process_exec$' 'events are listed'

# What trace-cmd report cannot print is what check-events tells.
run "$BIN/pcap-ftrace" --check-events
is "$status" "$(grep -cm 1 . "$OUT")" 'a status for events that cannot be printed'
if have trace-cmd && [ -e $T/events/maple_tree/ma_read ]; then
	is "$(grep -c '^sched:sched_process_exec$' "$OUT")" "$(trace-cmd report -i x.dat 2>/dev/null | grep -c FAILED)" 'one that can'
	named=$(grep -c '^maple_tree:ma_read$' "$OUT")
	run "$BIN/pcap-ftrace" -e maple_tree:ma_read -o m.dat -- true
	is "$(trace-cmd report -i m.dat 2>/dev/null | grep -cm 1 'FAILED TO PARSE')" "$named" 'and one that trace-cmd cannot print'
else
	skip 2 'no trace-cmd, or no such event'
fi

# Each byte that dd reads is an event: all are there, or are reported as lost. To a file whole pages are moved without
# being copied.
bytes='dd if=/dev/zero of=/dev/null bs=1 count=100000'
reads() {
	"$BIN/pdecode" -t "$1" | grep -c 'sys_enter: *NR 0 (0, [0-9a-f]*, 1, '
}
for output in '-o d.dat' '-o small.dat -b 256' ''; do
	# shellcheck disable=SC2086 # words
	"$BIN/pcap-ftrace" -e raw_syscalls:sys_enter -f 'id == 0' -F $output -- $bytes >d.st 2>dd.err
	is "$?" 0 "dd is recorded ${output:-into a pipe}"
	file=${output#-o }
	file=${file%% *}
	lost=$(sed -n 's/^pcap-ftrace: lost \([0-9]*\) events.*/\1/p' dd.err)
	n=$(reads "${file:-d.st}")
	case $file in
	small.dat) ok 'what is missing is reported as lost' [ $((n + ${lost:-0})) -ge 100000 ] ;;
	*) is "$n$lost" 100000 'none is lost' ;;
	esac
done

# What is wrong is told with the kernel's words, or with what there is.
bad() {
	run "$BIN/pcap-ftrace" "$@" -o bad.dat 1
}
bad -e sched_swich
is "$status" 2 'an event that there is not'
like "$ERR" 'did you mean sched:sched_switch' 'the nearest one'
bad -e sched:sched_switch -f 'bad_field == 1'
like "$ERR" 'Field not found' 'a filter that the kernel refuses'
bad -p nonsense
like "$ERR" 'no tracer .nonsense., but .*nop' 'a tracer that there is not'
bad -e sched -C nonsense
like "$ERR" 'it has .*local' 'a clock that there is not'
run "$BIN/pcap-ftrace" 1
is "$status" 64 'nothing to record'
run "$BIN/pcap-ftrace" stat
like "$ERR" "there is no word 'stat' here: --status" 'a word of trace-cmd'
run "$BIN/pcap-ftrace" record -e sched ls
is "$status" 64 'and one with options'
run "$BIN/pcap-ftrace" -e sched -B b 1
is "$status" 64 'a buffer without events'
run "$BIN/pcap-ftrace" -e sched -B a/b -e irq 1
is "$status" 64 'a name that is no name of a file'
run "$BIN/pcap-ftrace" -f 'pid == 1' -e sched 1
is "$status" 64 'a filter of nothing'
for line in '--show top -e sched' '--stop a --clear b' '--status -P 1' '--hist a:b:c -P 1 1' '--list -o x' '--clear top -M 0'; do
	# shellcheck disable=SC2086 # words
	run "$BIN/pcap-ftrace" $line
	is "$status" 64 "$line: has no effect"
done
state none >after
same after before 'errors leave nothing behind'
done_testing
