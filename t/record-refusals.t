#!/bin/sh
# What pcap-perf says where the kernel refuses: the sysctl or capability, and what can be done without it. As
# a user without rights: this one, or, for root, the user nobody.
. "${0%/*}/lib.sh"

pcap=$BIN/pcap-perf
level=$(cat /proc/sys/kernel/perf_event_paranoid 2>/dev/null) || skip_all 'the kernel has no perf events'
as() {
	run "$@"
}
if [ "$(id -u)" = 0 ]; then
	need setpriv
	mkdir open && chmod 777 open && chmod 711 "$TMP" && cd open || exit 1
	as() {
		run setpriv --reuid 65534 --regid 65534 --clear-groups --bounding-set=-all "$@"
	}
	as "$pcap" --version
	[ "$status" = 0 ] || skip_all 'another user cannot run what is built here'
fi

case $level in
-1 | 0)
	skip 5 "kernel.perf_event_paranoid is $level: all CPUs are permitted"
	;;
*)
	as "$pcap" -e cpu-clock -a -o x.data 0.1
	is "$status" 2 'all CPUs are refused'
	like "$ERR" "CAP_PERFMON \(kernel.perf_event_paranoid is $level" 'the capability, the sysctl and its value'
	like "$ERR" 'own processes' 'what can be done without'
	as "$pcap" -e cpu-clock -p 1 -o x.data 0.1
	is "$status" 2 'a process of another user is refused'
	like "$ERR" 'is the process yours\?' 'this is reported'
	;;
esac
if [ "$level" = 2 ]; then
	as "$pcap" -e cpu-clock:k -o x.data -- true
	is "$status" 2 'the kernel side is refused'
	like "$ERR" 'without it: user space only' 'what can be done without'
	as "$pcap" -e cpu-clock -o x.data -- true
	is "$status" 0 'unless it was not asked for'
	like "$ERR" 'the kernel side is not recorded' 'which is reported'
	as "$pcap" -q -e cpu-clock -o x.data -- true
	empty "$ERR" 'if one wants to hear it'
	as "$pcap" -e cpu-clock:u --namespaces -o x.data -- true
	like "$ERR" 'leave out --namespaces' 'an option that needs more rights'
else
	skip 6 "kernel.perf_event_paranoid is $level"
fi
as "$pcap" -e sched:sched_switch -o x.data -- true
if [ "$status" = 0 ]; then
	skip 2 'tracepoints are permitted to all'
else
	is "$status" 2 'tracepoints are refused'
	like "$ERR" 'tracefs|/sys/kernel/tracing' 'where they are'
fi
as "$pcap" -r 10 -e cpu-clock:u -o x.data -- true
if [ "$status" = 0 ]; then
	skip 1 'realtime is permitted to all'
else
	like "$ERR" 'CAP_SYS_NICE' 'a priority: what it needs'
fi

# Whoever asks.
as "$pcap" --cgroup no/such/group -a -o x.data 0.1
is "$status" 2 'a cgroup that is not there'
like "$ERR" 'no such cgroup: no/such/group|no cgroup file system' 'it is named'
as "$pcap" -e no_such_pmu/event=1/ -o x.data -- true
is "$status" 2 'a PMU that is not there'
like "$ERR" "no PMU 'no_such_pmu'" 'it is named'
as "$pcap" -e probe_x:y -o x.data -- true
is "$status" 2 'a probe that is not there'
# A pattern leaves out what can only be counted, and names it; root is not told to be root.
events=/sys/kernel/tracing/events/irq_vectors
if [ "$(id -u)" != 0 ] || [ ! -e "$events/irq_work_exit/id" ]; then
	skip 6 'not root, or no irq_vectors:irq_work_exit here'
else
	run "$pcap" -a -e irq_vectors:irq_work_exit -o x.data -- true
	if [ "$status" = 0 ]; then
		skip 6 'this kernel lets it be sampled'
	else
		unlike "$ERR" 'be root' 'root is not told to be root'
		like "$ERR" 'counted \(--stat\)' 'but that it can be counted'
		run "$pcap" -a -e 'irq_vectors:irq_*' -e sched:sched_switch -o x.data -- true
		is "$status" 0 'of a pattern, the others are recorded'
		like "$ERR" 'left out.*: irq_vectors:irq_work_exit$' 'and it is named'
		run "$BIN/pdecode" --list x.data
		like "$OUT" 'sched_switch' 'the recording has the others'
		unlike "$OUT" 'irq_work_exit' 'and not that one'
	fi
fi
# Many tracepoints by pattern, some left out: those that tracefs has. A process goes on holding them, but nothing
# of what this one has open.
systems=/sys/kernel/tracing/events
if [ ! -d $systems/syscalls ] || ! "$pcap" -q -e syscalls:sys_enter_read -o x.data -- true 2>/dev/null; then
	skip 4 'there are no events of system calls here, or they cannot be recorded'
else
	run_pipe '"$pcap" -e "syscalls:*,!*:sys_exit_*" -o many.data -- true' 'cat'
	is "$status" 0 'many tracepoints: whoever reads its output sees the end'
	"$BIN/pdecode" --list many.data | sed -n 's/.* syscalls://p' | sort >got
	find $systems/syscalls -maxdepth 1 -name 'sys_enter_*' | sed 's/.*\///' | sort >want
	same got want 'those that fit, without those that are left out'
	"$BIN/pdecode" -t many.data >text
	like text 'syscalls:sys_enter_exit_group: ' 'they are recorded up to the end'
	run "$pcap" -e 'syscalls:*,!syscall:*' -o x.data -- true
	is "$status" 64 'nothing to leave out'
fi
done_testing
