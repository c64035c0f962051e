#!/bin/sh
# pcap-ftrace with the tracers of functions, which many machines lack: in a guest (t/guest), where QEMU is.
# FTRACE_KERNEL names the kernels' versions, such as "6.1 6.12"; see t/guest.
. "${0%/*}/lib.sh"
[ -n "${FTRACE_KERNEL:-}" ] || skip_all 'FTRACE_KERNEL does not name the kernels of guests (t/guest)'
need qemu-system-x86_64 busybox cpio depmod

for kernel in $FTRACE_KERNEL; do
	mkdir "$kernel"
	"$ROOT/t/guest" -w "$TMP" "$kernel" sh "$ROOT/t/ftrace-guest" "$TMP/$kernel" "$BIN" >"$kernel.log" 2>&1
	is $? 0 "$kernel: the guest ran"
	like "$kernel.log" '^finished' "$kernel: all of it" || diag_file "$kernel.log"
	unlike "$kernel.log" '^DIFFERS' "$kernel: ftrace is as it was after each recording"
	for tracer in function function_graph; do
		run "$BIN/pdecode" -t "$kernel/$tracer.dat"
		like "$OUT" 'vfs_read' "$kernel: $tracer is recorded"
		if have trace-cmd; then
			sed '/^cpus=/d' "$OUT" >ours
			trace-cmd report -i "$kernel/$tracer.dat" 2>/dev/null | sed '/^cpus=/d; /^version/d' >theirs
			same ours theirs "$kernel: $tracer: trace-cmd report prints the same"
		else
			skip 1 'trace-cmd is not installed'
		fi
	done
	like "$kernel/none.err" 'no function .*like .vfs_raed' "$kernel: a pattern that nothing fits"
	like "$kernel/killed" '^2$' "$kernel: the depth of graphs is set meanwhile"
done
done_testing
