#!/bin/sh
# pcap-ftrace with the tracers of functions, which many machines lack: in a guest (t/guest), where QEMU is.
# FTRACE_KERNEL names the kernels' versions, such as "6.1 6.12"; see t/guest. FTRACE_RUN names a folder that has what
# guests left (FOLDER/KERNEL, as below): that is looked at, and none is started.
. "${0%/*}/lib.sh"
[ -n "${FTRACE_KERNEL:-}" ] || skip_all 'FTRACE_KERNEL does not name the kernels of guests (t/guest)'
[ -n "${FTRACE_RUN:-}" ] || need qemu-system-x86_64 busybox cpio depmod
# What was fetched once is kept: not in the home of this test.
GUEST_CACHE=${GUEST_CACHE:-$(getent passwd "$(id -u)" | cut -d : -f 6)/.cache/perfpipe-guest}
export GUEST_CACHE

# in_guest: runs ftrace-guest there, and a second time the kernel alone, with what it records while it starts.
in_guest() {
	mkdir "$kernel"
	# The folders of this machine may not all be in the guest.
	for program in pcap-ftrace pcap-perf pprobe pdecode pfilter plat; do cp "$BIN/$program" "$kernel"; done
	cp -r "$ROOT/t/ftrace-guest" "$ROOT/t/ftrace-state" "$ROOT/share/recipes" "$kernel"
	{
		"$ROOT/t/guest" -w "$TMP" -t 3000 "$kernel" sh "$TMP/$kernel/ftrace-guest" "$TMP/$kernel"
		echo "status $?"
		GUEST_APPEND='ftrace=function_graph ftrace_graph_filter=vfs_read ftrace_graph_max_depth=3 trace_event=sched:sched_process_exec' \
			"$ROOT/t/guest" -w "$TMP" "$kernel" "$TMP/$kernel/pcap-ftrace" --extract top -o "$TMP/$kernel/boot.dat"
		echo "boot $?"
	} >"$kernel.log" 2>&1
}

# reported FILE: trace-cmd report prints what is in OUT.
reported() {
	if have trace-cmd; then
		cp "$OUT" ours
		trace-cmd report -i "$1" 2>/dev/null | sed '/^version/d' >theirs
		same ours theirs "$kernel: ${1##*/}: trace-cmd report prints the same"
	else
		skip 1 'trace-cmd is not installed'
	fi
}

# summed KIND: plat has a row of it.
summed() {
	"$BIN/pdecode" "$file" 2>/dev/null | "$BIN/plat" -k "$1" --tsv >table 2>/dev/null
	like table "^intervals	$1	[1-9]" "$kernel: plat sums $1 up"
}

recorded() {
	tracer=${file##*/}
	tracer=${tracer%.dat}
	run "$BIN/pdecode" -t "$file"
	case $tracer in
	wakeup* | irqsoff | preemptoff)
		like "$OUT" '^# latency: [1-9]' "$kernel: a latency is recorded"
		us=$(sed -n 's/^# latency: \([0-9]*\) us.*/\1/p' "$OUT")
		"$BIN/pdecode" "$file" 2>/dev/null | "$BIN/plat" -k latency --tsv >table 2>/dev/null
		like table "^latency	$tracer .*	${us}000	" "$kernel: plat tells it"
		;;
	timerlat)
		like "$OUT" " $tracer: " "$kernel: $tracer is recorded"
		summed timerlat
		;;
	osnoise)
		like "$OUT" " $tracer: " "$kernel: $tracer is recorded"
		summed osnoise-sum
		;;
	hwlat) is "$status" 0 "$kernel: $tracer" ;;
	buffers) like "$OUT" '^ *graph:.*vfs_read' "$kernel: a buffer of its own" ;;
	profile) like "$OUT" 'funcgraph_entry' "$kernel: --profile with a tracer" ;;
	hotplug)
		like "$OUT" 'cpuhp/1' "$kernel: a CPU that comes and goes"
		is "$status $(grep -c '\[001\].*vfs_read' "$OUT" | sed 's/[1-9][0-9]*/some/')" '0 some' "$kernel: is recorded"
		;;
	*) like "$OUT" 'vfs_read' "$kernel: $tracer is recorded" ;;
	esac
	reported "$file"
}

for kernel in $FTRACE_KERNEL; do
	if [ -n "${FTRACE_RUN:-}" ]; then
		cp -r "$FTRACE_RUN/$kernel" "$FTRACE_RUN/$kernel.log" .
	else
		in_guest
	fi
	like "$kernel.log" '^status 0' "$kernel: the guest ran" || {
		diag_file "$kernel.log"
		continue
	}
	like "$kernel.log" '^finished' "$kernel: all of it" || diag_file "$kernel.log"
	unlike "$kernel.log" '^DIFFERS|^NEVER' "$kernel: ftrace is as it was, however a recording ends"
	is "$(cd "$kernel" && echo way_*.err)" 'way_HUP.err way_INT.err way_KILL.err way_TERM.err way_both.err way_disk.err way_end.err way_full.err way_pipe.err way_reader.err' \
		"$kernel: which was tried"
	ok "$kernel: of all settings" [ "$(cat "$kernel/settings")" -gt 1000 ]
	is "$(grep ': status' "$kernel.log" | tr '\n' ' ')" 'none: status 2 old_name: status 2 command: status 2 function_command: status 2 module: status 2 dump: status 2 ' "$kernel: what could not be done"
	for file in "$kernel"/*.dat; do
		case $file in */k.dat | */boot.dat) ;; *) recorded ;; esac
	done
	run_pipe '"$BIN/pdecode" "$kernel/function_stack.dat"' '"$BIN/psym"' '"$BIN/pfold"'
	like "$OUT" ';ksys_read;vfs_read(;ftrace_trampoline)? [0-9]' "$kernel: stacks of functions"
	unlike "$OUT" '\[' "$kernel: with names"
	like "$kernel/none.err" 'no function .*like .vfs_raed' "$kernel: a pattern that nothing fits"
	like "$kernel/old_name.err" ' __x64_sys_read(,|$)' "$kernel: those that end so are named first"
	like "$kernel/command.err" 'does not accept .vfs_read:nonsense' "$kernel: a command that there is not"
	like "$kernel/function_command.err" 'no function .*like .vfs_raed.; did you mean vfs_read' "$kernel: nor of such a function"
	like "$kernel/module.err" 'is the module loaded' "$kernel: a module that is not there"
	like "$kernel/dump.err" 'vfs_read:cpudump:2. has no effect here' "$kernel: a command for another buffer"
	like "$kernel/killed" '^2$' "$kernel: the depth of graphs is set meanwhile"
	like "$kernel/reader.txt" '\[00[01]\]' "$kernel: a reader that goes after the first lines"
	like "$kernel/way_full.err" 'cannot write: No space left' "$kernel: a full disk"
	like "$kernel/way_disk.err" 'No space left' "$kernel: a disk that becomes full"
	is "$(cat "$kernel/two.still")" '7 1
7 1' "$kernel: what two recordings want is there until the last ends"
	like "$kernel/three.err" 'tracing_thresh exists only once' "$kernel: who wants it otherwise is refused"
	like "$kernel/status.txt" '^instance stays .by user 0 since .*-p function' "$kernel: a buffer that stays"
	like "$kernel/show.txt" 'vfs_read|sched_switch' "$kernel: is shown"
	like "$kernel/snapshot.txt" 'vfs_read' "$kernel: a snapshot"
	run_pipe '"$BIN/pdecode" "$kernel/hist.txt"' '"$BIN/phist" --tsv --by next_comm -f hitcount'
	is "$(awk -F '\t' '!/^#/ { n += $4 } END { print n }' "$OUT")" "$(sed -n 's/^ *Hits: //p' "$kernel/hist.txt")" \
		"$kernel: a histogram"
	like "$kernel/funccount.txt" '^ *[1-9][0-9]* vfs_open$' "$kernel: funccount, live"
	# dd reads and writes so often, and opens its files.
	is "$(awk -F ';' '$3 ~ /:vfs_(read|write)$/ && $1 >= 500 && $1 < 600 { n++ } END { print n, (NR > 40) }' "$kernel/counts.txt")" '2 1' \
		"$kernel: functions by pattern"
	is "$(cat "$kernel/counts.left")" 0 "$kernel: none is left"
	like "$kernel/functrace.txt" 'function: *vfs_open <-' "$kernel: functrace, live"
	like "$kernel/funcgraph.txt" 'vfs_open\(\)' "$kernel: funcgraph, live"
	like "$kernel/funcslower.txt" 'vfs_open' "$kernel: funcslower, live"
	like "$kernel/stack.txt" '^ *[0-9]+\) +[0-9]+ +[0-9]+ +[a-z_]+' "$kernel: the stack tracer"

	like "$kernel.log" '^boot 0' "$kernel: what was recorded at the start is taken out" || diag_file "$kernel.log"
	run "$BIN/pdecode" -t "$kernel/boot.dat"
	like "$OUT" 'vfs_read\(\)' "$kernel: functions"
	like "$OUT" 'sched_process_exec' "$kernel: and events"
	reported "$kernel/boot.dat"
done
done_testing
