#!/bin/sh
# The options of a recording: those of perf record are all known here, attributes are those that perf
# makes of the same words, and tasks, times, files and snapshots are what was asked for.
. "${0%/*}/lib.sh"

pcap=$BIN/pcap-perf

# Every option of perf record is accepted, or a message says what to use instead.
cat >perf.options <<'END'
-a
-b
-B
-c 1000
-C 0
-d
-D 10
-e cs
-F 99
-g
-G /
-I
-i
-j any,u
-k mono
-m 16
-N
-n
-o x.data
-P
-p 1
-q
-R
-r 1
-S refused
-s
-T
-t 1
-u 0
-v
-W
-z
--affinity=cpu
--aio=2
--all-cgroups
--all-kernel
--all-user
--aux-sample refused
--buildid-all
--buildid-mmap
--call-graph=dwarf,8192
--clang-opt=x refused
--clang-path=x refused
--code-page-size
--control=fd:1
--data-page-size
--debuginfod refused
--dry-run
--group
--kcore refused
--kernel-callchains
--max-size=1M
--mmap-flush=1
--namespaces
--no-bpf-event
--no-buffering
--num-thread-synthesize=2
--off-cpu refused
--overwrite
--per-thread
--phys-data
--proc-map-timeout=500
--running-time
--sample-cpu
--sample-identifier
--strict-freq
--switch-events
--switch-max-files=2
--switch-output=1M
--switch-output-event=cs refused
--synth=task
--tail-synthesize
--threads
--timestamp-boundary
--timestamp-filename
--transaction
--user-callchains
--user-regs
--vmlinux=x refused
--intr-regs
--no-inherit
--branch-filter=any_call
--mmap-pages=16M
--delay=10-20,30-40
END
while read -r option rest; do
	refused=
	[ "${rest#refused}" = "$rest" ] || refused=yes rest=
	# shellcheck disable=SC2086
	run "$pcap" --dry-run "$option" $rest -o x.data -- true
	if [ "$refused" ]; then
		is "$status" 64 "$option is refused"
		like "$ERR" '(use|needs no|not compiled|plat|perf record)' "$option: what to use instead is told"
	else
		is "$status" 0 "$option is accepted"
		[ "$status" = 0 ] || diag_file "$ERR"
	fi
done <perf.options
run "$pcap" --dry-run -e cs --exclude-perf -- true
is "$status" 64 '--exclude-perf needs a tracepoint, as for perf'
if have perf; then
	for option in $(perf record --list-opts 2>&1); do
		case $option in
		--no-no-*) continue ;;
		esac
		grep -q -e "^$option\( \|=\|\$\)" perf.options || echo "$option"
	done | grep '^--[a-z]' >unlisted
	missing=
	while read -r option; do
		run "$pcap" --dry-run "$option" -- true
		! grep -q 'unknown option' "$ERR" || missing="$missing $option"
	done <unlisted
	is "$missing" '' 'perf record has no option that is unknown here'
else
	skip 1 'perf is not installed'
fi

# What contradicts itself.
for words in '--cgroup / -p 1' '-p 1 -u 0' '--per-thread -a' '-D -1' '-D 20-10' '--control=x' '-m 3' \
	'--switch-output=1M' '--snapshot=x' '--max-size=0' '-r 0' '--synth=x' '--call-graph=dwarf,7' '-j x' \
	'-I=xx' '-k x' '-e duration_time'; do
	# shellcheck disable=SC2086
	run "$pcap" $words -- true
	is "$status" 64 "$words: wrong"
	[ -s "$ERR" ] || fail "$words: silent"
done

run "$pcap" -e dummy -o probe.data -- true
[ "$status" = 0 ] || {
	diag_file "$ERR"
	skip 1 'the kernel refuses perf events here'
	done_testing
	exit 0
}

# Attributes, in the words of perf evlist -v: ours are those of perf, but for what is always recorded here.
attributes() {
	perf evlist -v -i "$1" 2>/dev/null | grep -v '^# ' | grep -v -e '^dummy:' |
		sed 's/, /\n/g' | grep -E -e '^(type|config|bp_[a-z]+|exclude_(user|kernel|hv|idle)|precise_ip|pinned|exclusive|freq|[a-z_ {},]*sample_freq[ }]*):' \
		-e '^(inherit|sample_max_stack|branch_sample_type|sample_stack_user):' | grep -v '^type: 1$' | tr '\n' ' '
}
same() { # WORDS...
	run perf record -q -N -B -o theirs.data "$@" -- true
	if [ "$status" != 0 ]; then
		skip 1 "perf cannot record it here" "$*"
		return
	fi
	run "$pcap" -o ours.data "$@" -- true
	is "$(attributes ours.data)" "$(attributes theirs.data)" "$*: attributes are those of perf"
}
if have perf; then
	same -e cpu-clock:u
	same -e cpu-clock:k -F 99
	same -e cs -c 3
	same -e 'cpu-clock:ukI,faults:D'
	same -e cpu-clock/period=1000000/u
	same -e cpu-clock/freq=77,no-inherit/
	same -e '{cpu-clock,cs:u}:k'
	same -e '{cpu-clock,faults}:S'
	same -e mem:0x1000:rw:u
	same -e mem:0x1000/8:w
	same -e mem:0x1000:x:u
	same -e 1:2:k
	same -i -e faults
	same -e cpu-clock --all-user
	same -e cpu-clock --all-kernel
	same -e cpu-clock --call-graph dwarf,4096
	same -F max -e cpu-clock
	# -g differs from perf's on purpose: it copies the user stack, whose chain the kernel leaves out.
	run "$pcap" -e cpu-clock -F 99 -g -o ours.data -- true
	perf evlist -v -i ours.data 2>/dev/null >ours.attr
	like ours.attr 'sample_type[^,]*: [^,]*CALLCHAIN[^,]*REGS_USER[|]STACK_USER' '-g: the stack is copied'
	like ours.attr 'exclude_callchain_user: 1' 'and is not recorded twice'
	like ours.attr 'sample_stack_user: [1-9][0-9]{3}' 'it is large'
else
	skip 20 'perf is not installed'
fi

# Whom.
sh -c 'while :; do :; done' >/dev/null 2>&1 &
busy=$!
until_sampled() { # FILE ERE OPTION...: records with these options until there is such an event
	t_file=$1
	t_event=$2
	shift 2
	"$pcap" -e cpu-clock:u -F 99 -o "$t_file" "$@" 1000 &
	recorder=$!
	await sampled "$t_file" "$t_event"
	kill -INT "$recorder"
	wait "$recorder"
}
until_sampled tid.data . -t "$busy"
is "$?" 0 'a thread'
"$BIN/pdecode" -t tid.data >tid.text
ok 'has samples' test -s tid.text
is "$(awk -v pid="$busy" '$2 != pid' tid.text)" '' 'and no other'
until_sampled user.data " $busy " -u "$(id -u)"
is "$?" 0 'the processes of a user'
"$BIN/pdecode" -t user.data >user.text
ok 'among them ours' grep -q " $busy " user.text
run "$pcap" -e cpu-clock:u -u no-such-user 0.1
is "$status" 2 'a user who is not there'
like "$ERR" "no user 'no-such-user'" 'this is reported'
run "$pcap" -e cpu-clock:u -t 2147483647 0.1
is "$status" 2 'a thread that is not there'
run "$pcap" -e cpu-clock -a -p "$busy" -o both.data 0.1
is "$status" 0 '-a and -p, as people write it'
like "$ERR" 'certain tasks are recorded' 'this is reported'

# When. What is about time itself is in t/record-times.t.
run "$pcap" -e cpu-clock:u -F 999 -p "$busy" --max-size=20K -o small.data 1000
is "$status" 0 'a limit of size'
ok 'holds, by a round' test "$(wc -c <small.data)" -lt 400000
run "$BIN/pdecode" -b small.data
is "$status" 0 'the recording is whole'
mkfifo commands answers
"$pcap" -e cpu-clock:u -F 999 -p "$busy" -D -1 --control fifo:commands,answers -o control.data 1000 2>"$ERR" &
recorder=$!
exec 8<>commands 9<>answers
tell() {
	echo "$1" >&8
	answer answers
}
is "$(tell ping)" ack 'a command is answered'
is "$(tell enable)" ack 'events are enabled'
burn "$busy" 10
is "$(tell evlist)" ack 'events are listed'
is "$(tell stop)" ack 'the recording is ended'
wait "$recorder"
is "$?" 0 'and is done'
exec 8>&- 9>&-
like "$ERR" '^pcap-perf: cpu-clock:u$' 'the list'
"$BIN/pdecode" -t control.data >control.text
ok 'there are samples' test -s control.text

# Where.
"$pcap" -e cpu-clock:u -F 999 -p "$busy" -o plain.data 2>"$ERR" &
recorder=$!
await grep -q '^SigBlk:.*[89a-f]..$' /proc/$recorder/status
kill -USR2 "$recorder"
kill -INT "$recorder"
wait "$recorder"
is "$?" 0 'a signal for a snapshot that nobody asked for is not the end'
run "$BIN/pdecode" -b plain.data
is "$status" 0 'of the recording'
rm -f commands answers
mkfifo commands answers
exec 8<>commands 9<>answers
"$pcap" -e cpu-clock:u -F 999 -p "$busy" --snapshot=1M -D -1 --control fifo:commands,answers -o snap.data 2>"$ERR" &
recorder=$!
is "$(tell enable)" ack 'snapshots: events are enabled'
burn "$busy" 50
kill -USR2 "$recorder"
await sampled snap.data
burn "$busy" 20
kill -INT "$recorder"
wait "$recorder"
is "$?" 0 'a snapshot, and another at the end'
exec 8>&- 9>&-
run "$BIN/pdecode" -j snap.data
is "$status" 0 'can be read'
empty "$ERR" 'in order'
perl -MJSON::PP -ne '$r = decode_json($_); $n{$r->{time}}++ if $r->{type} eq "sample";
	END { print scalar(grep { $_ > 1 } values %n), keys %n > 100 ? "" : " few", "\n" }' "$OUT" >twice
is "$(cat twice)" 0 'no sample is there twice'
kill "$busy"
wait "$busy" 2>/dev/null

# The status of a command.
run "$pcap" -e cs:u -o status.data -- sh -c 'exit 77'
is "$status" 77 'the status of a command is passed on'
run "$pcap" -e cs:u -o status.data -- sh -c 'kill -KILL $$'
is "$status" 137 'and the signal that ended it'

# Call chains: what -g chooses (the sizes are in t/unit/record_chains.c) is told, and is in the recording.
chose() { # ERE WHAT OPTION...
	t_want=$1
	t_what=$2
	shift 2
	run "$pcap" -v -o chose.data "$@"
	like "$ERR" "call chains by $t_want" "$t_what"
}
CC=${CC:-gcc}
if have "$CC" && [ "$(uname -m)" = x86_64 ]; then
	cat >many.c <<'END'
#include <stdio.h>
#define F(n) __attribute__((noinline)) int f##n(int x, int y) { int b[64]; for (int i = 0; i < 64; i++) b[i] = x * i; printf("%d", b[y & 63]); return b[x & 63] + n; }
F(1) F(2) F(3) F(4) F(5) F(6) F(7) F(8) F(9) F(10) F(11) F(12) F(13) F(14) F(15) F(16)
int main(int argc, char **argv) { if (argc > 1) return getchar() == 'x'; return f1(1, 2) + f2(1, 2) + f3(1, 2) + f4(1, 2) + f5(1, 2) + f6(1, 2) + f7(1, 2) + f8(1, 2) + f9(1, 2) == 3; }
END
	"$CC" -O1 -fno-omit-frame-pointer -o with many.c
	"$CC" -O1 -fomit-frame-pointer -o without many.c
	# Go's linker makes these sections, of which one is enough.
	echo x >some
	objcopy --add-section .gopclntab=some without go1
	objcopy --add-section .note.go.buildid=some without go2
	strip go2
	copies='copies of up to [0-9]+ bytes'
	chose "$copies at 1 Hz" 'a frequency' -e cpu-clock:u -F 1 -g -- ./with
	chose "$copies at 5 Hz" 'two' -e cpu-clock/freq=2/u -e task-clock/freq=3/u -g -- ./with
	chose 'frame pointers at' 'too often' -e cpu-clock:u -F 99999 -g -- ./with
	run "$pcap" -o chose.data -e cpu-clock:u -F 99999 -g -- ./with
	like "$ERR" 'more than 200 MB/s; to have them: -F [0-9]+, or --call-graph dwarf,1024' 'without -v, too, and what to type'
	chose 'copies of up to 1024 bytes for each event' 'a period' -e cpu-clock:u -c 1000000 -g -- ./without
	chose 'frame pointers for each event: most functions' 'of a program with frame pointers' -e cpu-clock:u -c 1000000 -g -- ./with
	chose "$copies at 1 Hz.*; frame pointers for each event" 'both kinds' -e cpu-clock/freq=1/u -e cpu-clock/period=1000000/u -g -- ./with
	chose 'frame pointers at 1 Hz.*Go' 'Go, by its table of functions' -e cpu-clock:u -F 1 -g -- ./go1
	chose 'frame pointers at 1 Hz.*Go' 'and by its build-id' -e cpu-clock:u -F 1 -g -- ./go2
	chose 'frame pointers at 1 Hz.*Go' 'that others start' -e cpu-clock:u -F 1 -g -- env A=./with nice -n 1 ./go2 ./with
	run "$BIN/pdecode" -b chose.data
	cp "$OUT" chose.ps
	run "$BIN/psym" --stats -b chose.ps
	like "$ERR" 'recorded by perfpipe .*call chains: frame pointers at 1 Hz' 'psym --stats tells it, too'
	mkfifo hold1 hold2
	./go1 x <hold1 &
	one=$!
	./without x <hold2 &
	two=$!
	exec 6>hold1 7>hold2
	await grep -q go1 /proc/$one/maps
	await grep -q without /proc/$two/maps
	chose 'frame pointers at 1 Hz.*Go' 'a process that is Go' -e cpu-clock:u -F 1 -g -p $one 0.01
	chose "$copies at 1 Hz" 'and one that is not' -e cpu-clock:u -F 1 -g -p $one,$two 0.01
	chose "$copies at 1 Hz" 'in any order' -e cpu-clock:u -F 1 -g -p $two,$one 0.01
	exec 6>&- 7>&-
	wait $one $two
	chose 'frame pointers at 1 Hz.*snapshot' 'a snapshot' -e cpu-clock:u -F 1 -g --snapshot=1M -- ./with
	chose 'frame pointers at 1 Hz.*not requested' 'the kernel part alone' -e cpu-clock -F 1 -g --kernel-callchains -- ./with
	for how in fp dwarf,4096; do
		run "$pcap" -v -o chose.data -e cpu-clock:u -F 1 -g --call-graph $how -- ./with
		unlike "$ERR" 'call chains by' "$how: nothing is chosen"
	done
else
	skip 18 'no compiler, or another kind of machine'
fi

# Lists.
run "$pcap" --list sw
is "$status" 0 'a list by class'
like "$OUT" '^page-faults +software +also faults$' 'names, classes, other names'
run "$pcap" -e help
like "$OUT" '^cpu-clock +software' '-e help'
run "$pcap" --list no-such-event-anywhere
is "$status" 2 'nothing fits'
if [ -r /sys/kernel/tracing/events/sched/sched_switch/format ]; then
	run "$pcap" --list sched:sched_switch
	like "$OUT" '^  next_prio +int$' 'the fields of a tracepoint'
	is "$("$pcap" --list 'sched:*' | awk '{ print $1 }' | sort)" \
		"$(cd /sys/kernel/tracing/events && printf '%s\n' sched/*/id | sed 's,/id,,; s,/,:,' | sort)" 'all of a system'
else
	skip 2 'there are no tracepoints here'
fi
functions=/sys/kernel/tracing/available_filter_functions
run "$pcap" --list-functions 'vfs_*'
if head -c 1 $functions >/dev/null 2>&1 && grep -q '^vfs_' $functions; then
	is "$status" 0 'functions of the kernel'
	grep '^vfs_' $functions >want
	same_file=differs
	cmp -s "$OUT" want && same_file=same
	is "$same_file" same 'are those that ftrace lists'
else
	is "$status" 2 'functions of the kernel, which it does not list'
	like "$ERR" '(available_filter_functions: |tracefs|no traceable function)' 'why'
fi
done_testing
