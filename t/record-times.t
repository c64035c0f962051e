#!/bin/sh
# What pcap-perf does by the clock: ranges of time, files and snapshots of a time span, buffers that lose events
# while the recorder is stopped, --timeout of --stat. A machine that is busy can make these fail; what does not
# depend on time is in the other tests of recording.
. "${0%/*}/lib.sh"
pcap=$BIN/pcap-perf
run "$pcap" -e cpu-clock:u -o probe.data -- true
[ "$status" = 0 ] || {
	diag_file "$ERR"
	skip_all 'the kernel refuses perf events here'
}
sh -c 'while :; do :; done' >/dev/null 2>&1 &
busy=$!
trap 'kill "$busy" 2>/dev/null || :; t_end' EXIT

# times_of FILE: those of its samples, in order, in nanoseconds.
times_of() {
	"$BIN/pdecode" -j "$1" | perl -MJSON::PP -ne '$r = decode_json($_); print "$r->{time}\n" if $r->{type} eq "sample"' |
		sort -n
}
"$pcap" -e cpu-clock:u -F 999 -p "$busy" -D 100-200,300-400 -o ranges.data
is "$?" 0 'ranges of time'
times_of ranges.data | awk 'NR > 1 && $1 - last > 50e6 { gaps++ } { last = $1 } END { print gaps + 0 }' >got
is "$(cat got)" 1 'between them nothing is recorded'
run "$pcap" -e cpu-clock:u -F 999 -p "$busy" --snapshot=100ms -o short.data 1
times_of short.data | awk 'NR == 1 { first = $1 } END { print NR && $1 - first <= 150e6 ? "short" : $1 - first }' >got
is "$(cat got)" short 'a snapshot of the last 100 ms'

# add_up FORM PATTERN FILE...: of all files together, $found lines that match and $lost events that these say were
# lost; $said is what the recorder told of the latter.
add_up() {
	form=$1 pattern=$2
	shift 2
	said=$(sed -n 's/^pcap-perf: \([0-9]*\) events lost.*/\1/p' told)
	found=0 lost=0
	for file; do
		[ -s "$file" ] || continue
		"$BIN/pdecode" "$form" "$file" >"$OUT" 2>"$ERR"
		found=$((found + $(grep -c "$pattern" "$OUT")))
		more=$(sed -n 's/.*the recorder lost \([0-9]*\) events.*/\1/p' "$ERR")
		lost=$((lost + ${more:-0}))
	done
}

many() { # HOW MANY OPTION...: files of a time span each, of which so many remain; each is whole
	t_want=$1
	shift
	rm -f many.data.*
	run "$pcap" -e cpu-clock:u -F 999 -p "$busy" -o many.data "$@" 1
	is "$status" 0 "$*: a file for each time span"
	set -- many.data.*
	ok "$t_want at least" test $# -ge "$t_want"
	: >many.txt
	for file; do
		run "$BIN/pdecode" --strict -t "$file"
		is "$status" 0 "$file is whole"
		cat "$OUT" >>many.txt
		if [ "$packed" ] && have perf; then
			is "$(perf script -i - -F comm,time <"$file" 2>/dev/null | grep -c .)" "$(grep -c . "$OUT")" \
				'perf reads as many'
		fi
	done
	# A busy machine may give the process no time during one of them.
	ok 'they have samples' grep -q cpu-clock many.txt
}
packed=
many 3 --switch-output=150ms --switch-max-files=3
set -- many.data.*
is $# 3 'the newest are kept'
packed=yes
many 3 --switch-output=300ms -z
kill "$busy"

# Its end, by the clock.
run "$pcap" --stat -a -e cs --timeout 150 -- sleep 20
is "$status" 0 '--timeout ends the command'
like "$ERR" ' 0\.[1-9][0-9]* seconds time elapsed' 'and counting'

# The recorder is stopped while its buffers fill: what is recorded and what is lost is all there was.
# On one CPU: only a buffer that gets events again tells in the middle that it lost some, and the
# recorder looks ten times a second.
getppid=syscalls:sys_enter_getppid
if ! have perl || ! "$pcap" -e $getppid -o probe.data -- true 2>"$ERR"; then
	skip 29 'there are no tracepoints of system calls here, or no perl'
else
	cat >load <<'END'
#!/usr/bin/perl
my $n = shift;
getppid for 1 .. $n;
END
	chmod +x load
	pin=
	if have taskset; then
		pin="taskset -c $(taskset -cp $$ | sed 's/.*: //; s/[,-].*//')"
	fi
	stopped="kill -STOP \$PPID; $pin ./load 200000; kill -CONT \$PPID; sleep 1; $pin ./load 100; sleep 1"
	for pages in '-m 16' ''; do
		# shellcheck disable=SC2086
		"$pcap" -v -e $getppid $pages -o lost.data -- sh -c "$stopped" 2>told
		lost=$(sed -n 's/^pcap-perf: \([0-9]*\) events lost.*/\1/p' told)
		samples=$("$BIN/pdecode" -t lost.data 2>"$ERR" | grep -c '^ *load ')
		# News of tasks and mappings can be among what was lost.
		all=$((samples + ${lost:-0}))
		ok "${pages:-default}: recorded and lost are all there was" test $all -ge 200100 -a $all -lt 200200
		[ "$lost" ] || diag_file told
		like "$ERR" "lost $lost events" "${pages:-default}: the recording tells the same"
	done
	like told 'its buffer has [0-9]* pages now' 'a buffer that lost events has become larger'
	unlike told 'lost \(CPU [0-9]*: 0' 'by CPU'

	# The same in several files, by a pipe, and for a group, whose events are read together.
	cat >bursts <<'END'
#!/usr/bin/perl
my $recorder = getppid;
for (1 .. 3) {
	kill STOP => $recorder;
	getppid for 1 .. 20000;
	kill CONT => $recorder;
	getppid;
}
END
	chmod +x bursts
	for how in "-e $getppid -o one --switch-output=1M" "-e $getppid -o one --switch-output=100ms" "-e $getppid -o -" "-o one -e {$getppid,page-faults}:S"; do
		rm -f one*
		# shellcheck disable=SC2086
		"$pcap" -m 128 $how -- $pin ./bursts >one.pipe 2>told
		add_up -t sys_enter_getppid one*
		is "$lost" "${said:-0}" "$how: the message and the recording tell the same"
		all=$((found + lost))
		ok "$how: recorded and lost are all there was" test $all -ge 60003 -a $all -lt 60100
		diag "$found recorded, $lost lost"
	done

	# Snapshots: what is overwritten is no loss. Calls are numbered, so that each snapshot is seen to be the
	# end of what there was, without a gap, and nothing is in two of them.
	cat >numbers <<'END'
#!/usr/bin/perl
use POSIX ();
my $recorder = getppid;
my $i = 0;
for (1 .. 4) {
	kill STOP => $recorder if $_ > 2;
	POSIX::close(0x10000000 + $i++) for 1 .. 20000;
	kill CONT => $recorder if $_ > 2;
	kill USR2 => $recorder;
	select undef, undef, undef, 0.2 if $_ % 2;
}
END
	# In the rings that are not overwritten: news of processes, which the kernel counts where it loses them.
	cat >forks <<'END'
#!/usr/bin/perl
my $recorder = getppid;
for (1 .. 3) {
	kill STOP => $recorder;
	for (1 .. 1000) { my $child = fork; exit 0 unless $child; waitpid $child, 0; }
	kill CONT => $recorder;
	kill USR2 => $recorder;
	select undef, undef, undef, 0.2 if $_ % 2;
}
END
	chmod +x numbers forks
	for how in '-o one' '-o one --switch-output' '-o -'; do
		rm -f one*
		# shellcheck disable=SC2086
		"$pcap" -m 32 --snapshot -e syscalls:sys_enter_close --filter 'fd >= 0x10000000' $how -- $pin ./numbers >one.pipe 2>told
		unlike told 'events lost' "--snapshot $how: overwritten is not lost"
		for file in one*; do
			[ ! -s "$file" ] || "$BIN/pdecode" -t --strict "$file" || echo failed
		done | sed 's/.*fd: 0x1/1/' >got
		perl -ne '$n = /^1[0-9a-f]{7}$/ ? hex() - 0x10000000 : -1; print "not upwards: $_" if $n <= $last; $gaps += $n > $last + 1;
			$last = $n; BEGIN { $last = -1 } END { print $gaps <= 4 && $n == 79999 ? "each whole" : "$gaps gaps, the last is $n" }' got >is
		is "$(cat is)" 'each whole' "--snapshot $how: the newest, each once"
		rm -f one*
		# shellcheck disable=SC2086
		"$pcap" -m 4 --snapshot -e syscalls:sys_enter_exit_group $how -- ./forks >one.pipe 2>told
		add_up -j '^{"type":"\(fork\|exit\)"' one*
		ok "--snapshot $how: news of processes were lost" test "$lost" -gt 0
		is "$lost" "${said:-0}" "--snapshot $how: the message and the recording tell the same"
		# Each child begins and ends; the command ends.
		is $((found + lost)) 6001 "--snapshot $how: recorded and lost are all there was"
	done
fi
done_testing
