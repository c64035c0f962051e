#!/bin/sh
# pcap-ftrace with the tracers of functions, which many machines lack: in a guest (t/guest), where QEMU is.
# FTRACE_KERNEL names the kernels' versions, such as "6.1 6.12"; see t/guest.
. "${0%/*}/lib.sh"
[ -n "${FTRACE_KERNEL:-}" ] || skip_all 'FTRACE_KERNEL does not name the kernels of guests (t/guest)'
need qemu-system-x86_64 busybox cpio depmod
# What was fetched once is kept: not in the home of this test.
GUEST_CACHE=${GUEST_CACHE:-$(getent passwd "$(id -u)" | cut -d : -f 6)/.cache/perfpipe-guest}
export GUEST_CACHE

for kernel in $FTRACE_KERNEL; do
	mkdir "$kernel"
	# The folders of this machine may not all be in the guest.
	for program in pcap-ftrace pdecode pfilter plat; do cp "$BIN/$program" "$kernel"; done
	cp -r "$ROOT/t/ftrace-guest" "$ROOT/t/ftrace-state" "$ROOT/share/recipes" "$kernel"
	"$ROOT/t/guest" -w "$TMP" -t 3000 "$kernel" sh "$TMP/$kernel/ftrace-guest" "$TMP/$kernel" >"$kernel.log" 2>&1
	status=$?
	is "$status" 0 "$kernel: the guest ran"
	[ "$status" = 0 ] || {
		diag_file "$kernel.log"
		continue
	}
	like "$kernel.log" '^finished' "$kernel: all of it" || diag_file "$kernel.log"
	unlike "$kernel.log" '^DIFFERS' "$kernel: ftrace is as it was, however a recording ends"
	is "$(cd "$kernel" && echo way_*.err)" 'way_HUP.err way_INT.err way_KILL.err way_TERM.err way_both.err way_end.err way_full.err way_pipe.err' \
		"$kernel: which was tried"
	ok "$kernel: of all settings" [ "$(cat "$kernel/settings")" -gt 1000 ]
	for file in "$kernel"/*.dat; do
		tracer=${file##*/}
		tracer=${tracer%.dat}
		[ "$tracer" != k ] || continue
		run "$BIN/pdecode" -t "$file"
		case $tracer in
		wakeup | irqsoff | preemptoff) like "$OUT" '^# latency: [1-9]' "$kernel: a latency is recorded" ;;
		timerlat | osnoise) like "$OUT" " $tracer: " "$kernel: $tracer is recorded" ;;
		buffers) like "$OUT" '^ *graph:.*vfs_read' "$kernel: a buffer of its own" ;;
		*) like "$OUT" 'vfs_read' "$kernel: $tracer is recorded" ;;
		esac
		if have trace-cmd; then
			cp "$OUT" ours
			trace-cmd report -i "$file" 2>/dev/null | sed '/^version/d' >theirs
			same ours theirs "$kernel: $tracer: trace-cmd report prints the same"
		else
			skip 1 'trace-cmd is not installed'
		fi
	done
	like "$kernel/none.err" 'no function .*like .vfs_raed' "$kernel: a pattern that nothing fits"
	like "$kernel/command.err" 'does not take .vfs_read:nonsense' "$kernel: a command that there is not"
	like "$kernel/module.err" 'is the module loaded' "$kernel: a module that is not there"
	like "$kernel/killed" '^2$' "$kernel: the depth of graphs is set meanwhile"
	run_pipe '"$BIN/pdecode" "$kernel/hist.txt"' '"$BIN/phist" --tsv --by next_comm -f hitcount'
	is "$(awk -F '\t' '!/^#/ { n += $4 } END { print n }' "$OUT")" "$(sed -n 's/^ *Hits: //p' "$kernel/hist.txt")" \
		"$kernel: a histogram"
	like "$kernel/funccount.txt" '^ *[1-9][0-9]* vfs_read$' "$kernel: funccount, live"
	like "$kernel/functrace.txt" 'function: *vfs_read <-' "$kernel: functrace, live"
	like "$kernel/funcgraph.txt" 'vfs_read\(\)' "$kernel: funcgraph, live"
	like "$kernel/funcslower.txt" 'vfs_read' "$kernel: funcslower, live"

	# What the kernel has recorded while it started.
	GUEST_APPEND='ftrace=function_graph ftrace_graph_filter=vfs_read ftrace_graph_max_depth=3 trace_event=sched:sched_process_exec' \
		"$ROOT/t/guest" -w "$TMP" "$kernel" "$TMP/$kernel/pcap-ftrace" --extract top -o "$TMP/$kernel/boot.dat" >"$kernel.log" 2>&1
	is "$?" 0 "$kernel: what was recorded at the start is taken out" || diag_file "$kernel.log"
	run "$BIN/pdecode" -t "$kernel/boot.dat"
	like "$OUT" 'vfs_read\(\)' "$kernel: functions"
	like "$OUT" 'sched_process_exec' "$kernel: and events"
	if have trace-cmd; then
		cp "$OUT" ours
		trace-cmd report -i "$kernel/boot.dat" 2>/dev/null | sed '/^version/d' >theirs
		same ours theirs "$kernel: trace-cmd report prints the same"
	else
		skip 1 'trace-cmd is not installed'
	fi
done
done_testing
