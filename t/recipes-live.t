#!/bin/sh
# Recipes that record this machine, beside what a program did meanwhile (t/deeds.c): what it says it did is
# listed, and nothing else of it.
. "${0%/*}/lib.sh"

BINDIR=$BIN
export BINDIR
dir=$ROOT/share/recipes

"$BIN/pcap-perf" -a -e sched:sched_process_exec -o probe.data 0.1 2>/dev/null ||
	skip_all 'recording tracepoints of all processes is not allowed here'
${CC:-cc} -O1 -D_GNU_SOURCE -pthread -o deeds "$ROOT/t/deeds.c" || exit 1
probes=
if [ "$(uname -m)" = x86_64 ] && "$BIN/pprobe" --group "recipes_test$$" -x libc.so.6 'opens=open path=+0(%di):string' >/dev/null 2>&1; then
	probes=yes
	"$BIN/pprobe" -d "recipes_test$$:*" >/dev/null 2>&1
fi

# The columns of a recipe that deeds prints, from its lines about process $pid: those that begin with a time.
columns_of() {
	case $1 in
	opensnoop) awk -v pid="$pid" '$2 == pid { sub(/^ *[^ ]+ +[^ ]+ +deeds +/, ""); sub(/ +/, " "); if (/ deed/) print }' ;;
	statsnoop) awk -v pid="$pid" '$2 == pid && /deed-/ { print $4, $5, $6 }' ;;
	syncsnoop) awk -v pid="$pid" '$2 == pid { print $4, $5 }' ;;
	execsnoop) awk -v pid="$pid" '$3 == pid { line = $2 " " $3 " " $5 " "; sub(/^ *[^ ]+ +[^ ]+ +[^ ]+ +[^ ]+ +[^ ]+ +/, ""); print line $0 }' ;;
	exitsnoop) awk -v pid="$pid" '$3 == pid { line = $2 " " $3 " "; sub(/^.*(code|signal)/, substr($0, match($0, /code|signal/), RLENGTH)); print line $0 }' ;;
	killsnoop) awk -v pid="$pid" '$2 == pid { print $4, $5 }' ;;
	threadsnoop) awk -v pid="$pid" '$2 == pid { print $4, $5 }' ;;
	tcpconnect) awk -v pid="$pid" '$2 == pid { if ($9 == "failed") $6 = "*"; print $4, $5, $6, $7, $8, $9 }' ;;
	tcpaccept) awk -v pid="$pid" '$2 == pid { print $4, $5, $6, $7, $8 }' ;;
	tcplife) awk -v pid="$pid" '$2 == pid { print $4, $5, $6, $7, $8, $9, $10, $11 }' ;;
	mountsnoop) awk -v pid="$pid" '$2 == pid { sub(/^ *[^ ]+ +[^ ]+ +[^ ]+ +deeds +/, ""); sub(/ +/, " "); print }' | sed 's/0x0*\([0-9a-f]\)/0x\1/g' ;;
	fileslower) awk -v pid="$pid" '$2 == pid && /deed-io/ { print $4, $5, $8 }' ;;
	ext4slower) awk -v pid="$pid" '$2 == pid && /deed-io/ && ($4 == "W" || $4 == "R") { print $4, $5, $6, $8 }' ;;
	# Whose timer it is, is not known: the ports tell; how often, the kernel decides.
	tcpretrans) awk -v ends="$(sed -n 's/^tcpretrans \([^ ]* [^ ]*\) L.*/\1/p' "$run")" '$4 " " $5 == ends { sub(/>/, "", $6); print $4, $5, $6, $7, $8, $9 }' | sort -u ;;
	biosnoop) awk -v pid="$pid" '$2 == pid && $5 ~ /^W/ && $7 == 65536 { print $7 }' ;;
	esac
}

# live PHASE RECIPE...: the recipes record for a few seconds, while deeds does it again and again. Of each
# recipe there has to be a run that it shows as it was; runs at the beginning and the end may be cut. A machine
# that is busy gets longer: those that have no such run record again, for four times as long.
live() {
	phase=$1
	shift
	for length in "$seconds" $((seconds * 4)) $((seconds * 16)); do
		missed=
		record_live "$length" "$@"
		# shellcheck disable=SC2086
		set -- $missed
		[ $# -gt 0 ] || break
	done
	for recipe; do
		if grep -q '[1-9][0-9]* events lost' "$recipe.err"; then
			skip 1 'the machine was too busy each time: events were lost, as the recorder reports' "$recipe"
			continue
		fi
		fail "$recipe: all that was done, and no more"
		diff -u "$recipe.want" "$recipe.got" | sed 's/^/# /' | head -30
		sed 's/^/# /' "$recipe.err" | head -5
	done
}

# record_live SECONDS RECIPE...: passes or skips those that can be judged; the others are in $missed.
record_live() {
	length=$1
	shift
	rm -f run.*
	pids=
	for recipe in "$@"; do
		set_t=
		case $recipe in
		execsnoop) set_t=-x ;;
		fileslower | ext4slower) set_t='-t 0ns -n deeds' ;;
		esac
		# shellcheck disable=SC2086
		"$dir/$recipe" $set_t -d "$length" >"$recipe.out" 2>"$recipe.err" &
		pids="$pids $!"
	done
	n=0
	while :; do
		alive=
		for pid in $pids; do
			! kill -0 "$pid" 2>/dev/null || alive=yes
		done
		[ -n "$alive" ] || break
		n=$((n + 1))
		rm -rf here
		mkdir here
		(cd here && exec ../deeds "$phase") >"run.$n" 2>/dev/null
		sleep 0.2
	done
	# shellcheck disable=SC2086
	wait $pids
	for recipe in "$@"; do
		found=
		some=
		: >"$recipe.want"
		cp "$recipe.out" "$recipe.got"
		for run in run.*; do
			pid=$(sed -n 's/^pid //p' "$run")
			sed -n "s/^$recipe //p" "$run" | sort >want
			columns_of "$recipe" <"$recipe.out" | sort >got
			[ -s want ] || continue
			some=yes
			[ -z "$found" ] || continue
			if cmp -s want got; then
				found=yes
			elif [ -s got ]; then
				cp want "$recipe.want"
				cp got "$recipe.got"
			fi
		done
		if [ -z "$some" ]; then
			skip 1 "the program could not do it here" "$recipe"
			continue
		fi
		if [ "$found" ]; then
			pass "$recipe: all that was done, and no more"
		else
			missed="$missed $recipe"
		fi
	done
}

seconds=1
if [ -n "$probes" ]; then
	live files opensnoop statsnoop syncsnoop
	live processes execsnoop exitsnoop killsnoop
	live threads threadsnoop
	live mount mountsnoop
else
	live files syncsnoop
	live processes exitsnoop killsnoop
	skip 5 'opensnoop, statsnoop, execsnoop, threadsnoop, mountsnoop: no probes of programs can be made here'
fi
live net tcpconnect tcpaccept tcplife

# Reads of ext4 are known by an event of Linux 6.11 and later.
events=/sys/kernel/tracing/events
seconds=2
if [ -d $events/filemap/mm_filemap_get_pages ] && [ "$(stat -f -c %T . 2>/dev/null)" = ext2/ext3 ]; then
	live io fileslower ext4slower
else
	skip 2 'fileslower, ext4slower: this is no ext4, or the kernel has no event for reads'
fi

# What is counted is what would be listed: reads and writes of files, not those of pipes. Which these are is
# asked of the process, which still lives.
cat >io.pl <<'END'
#!/usr/bin/perl
$SIG{USR1} = sub { $go = 1 };
pipe my $r, my $w;
open my $f, '+>', 'some-file';
$| = 1;
print "ready\n";
select undef, undef, undef, 0.05 until $go;
for (1 .. 7) {
	syswrite $w, "x";
	sysread $r, $_, 1;
}
syswrite $f, "y" for 1 .. 5;
print "done\n";
sleep 1000;
END
perl io.pl >io.out &
pid=$!
events='syscalls:sys_enter_read,syscalls:sys_exit_read,syscalls:sys_enter_write,syscalls:sys_exit_write'
if ! await grep -q ready io.out || ! "$BIN/pcap-perf" -p $pid -e "$events" -o io.data -- sh -c \
	"kill -USR1 $pid; for i in 1 2 3 4 5 6 7 8 9; do grep -q done io.out && break; sleep 0.2; done" 2>"$ERR"; then
	skip 1 'fileslower: there are no events of system calls here'
else
	run "$dir/fileslower" -t 1000s - <io.data
	# The word "done" is written to a file, too.
	like "$ERR" '^fileslower: none of 6 took 1000s or longer' 'fileslower: pipes do not count'
fi
kill $pid

# The end of a request comes by an interrupt, which perf misses on some machines while a CPU idles.
spinners=
trap 'kill $spinners 2>/dev/null || :; t_end' EXIT
for cpu in 0 1 2 3 4 5 6 7; do
	[ ! -d "/sys/devices/system/cpu/cpu$cpu" ] || taskset -c "$cpu" sh -c 'while :; do :; done' 2>/dev/null &
	spinners="$spinners $!"
done
if "$BIN/pcap-perf" -a -e block:block_rq_complete -o complete.data -- dd if=/dev/zero of=x bs=64k count=4 oflag=direct \
	>/dev/null 2>&1 && [ "$("$BIN/pdecode" -t complete.data 2>/dev/null | grep -c block_rq_complete:)" -ge 4 ]; then
	live direct biosnoop
else
	skip 1 'biosnoop: direct I/O has no events here'
fi

# So it is with timers.
"$BIN/pcap-perf" -a -g -e tcp:tcp_retransmit_skb -o retrans.data -- ./deeds retrans >/dev/null 2>&1
if "$BIN/pdecode" retrans.data 2>/dev/null | "$BIN/psym" 2>/dev/null | "$BIN/phist" --by stack --tsv 2>/dev/null |
	grep -q tcp_send_loss_probe; then
	live retrans tcpretrans
else
	skip 1 'tcpretrans: no segment was sent again as a probe, or the kernel has no names'
fi

# Probes whose recorder is no more; others may record now, or end and be about to take theirs away.
left() {
	sed -n 's,.*[:/]pcap_\([0-9]*\)_.*,\1,p' /sys/kernel/tracing/uprobe_events 2>/dev/null | sort -u |
		while read -r owner; do gone "$owner" && echo "$owner"; done
}
none_left() {
	[ -z "$(left)" ]
}
ok 'no probe is left' await none_left

# A recipe that is killed leaves no recorder, and the recorder no probes.
for recipe in opensnoop profile; do
	for signal in KILL TERM HUP; do
		"$dir/$recipe" >killed.out 2>&1 &
		await records $!
		kill -s "$signal" $!
		ok "$recipe, killed by SIG$signal: its recorder ends" await gone "$recorder"
	done
done
ok 'and their probes are gone' await none_left

# What is counted, and not listed.
"$dir/pidpersec" -d 4 -- --tsv >pids.out 2>/dev/null &
first=$!
until gone "$first"; do
	true | true | true | true | true | true | true | true | true | true
done
wait "$first"
ok 'pidpersec: at least what was started' test \
	"$(awk -F '\t' '!/^#/ { n += $3 } END { print n + 0 }' pids.out)" -ge 10
"$dir/profile" -d 1 >stacks.out 2>/dev/null
ok 'profile: folded stacks' awk '/;.* [0-9]+$/ { n++ } END { exit !n }' stacks.out
if [ -d $events/filemap/mm_filemap_get_pages ]; then
	dd if=/dev/urandom of=cached bs=4k count=2000 2>/dev/null
	sync cached 2>/dev/null || sync
	"$dir/cachestat" -d 4 >cache.out 2>/dev/null &
	first=$!
	until gone "$first"; do
		dd if=cached of=/dev/null bs=4k iflag=nocache count=0 2>/dev/null
		dd if=cached of=/dev/null bs=4k 2>/dev/null
		dd if=cached of=/dev/null bs=128k 2>/dev/null
	done
	wait "$first"
	ok 'cachestat: hits, at least of what was read' test \
		"$(awk 'NR > 1 { n += $2 + $3 } END { print n + 0 }' cache.out)" -ge 4000
else
	skip 1 'cachestat: the kernel has no event for reads'
fi
run "$dir"/cpudist 0.3
# Some kernels lose switches out of idle: then the sums are bounds, which is reported.
want=0
grep -q '^plat: oncpu: switches or wakeups are missing: ' "$ERR" && want=1
is "$status" "$want" 'cpudist'
like "$OUT" '^oncpu +[1-9]' 'and it has found something'
run "$dir"/argdist -e sched:sched_switch -f prev_prio 0.3
is "$status" 0 'argdist'
run "$dir"/argdist -e sched:sched_switch -f prev_prio 0.3 --no-such
is "$status" 64 'an option that phist does not have'
run "$dir"/argdist -e sched:no_such_event -f pid 0.3
is "$status" 2 'an event that this kernel does not have'
like "$ERR" "no tracepoint is called 'sched:no_such_event'" 'is reported'
# Control-C ends the recording, not the recipe. In a process group of its own.
perl -e 'setpgrp; $SIG{INT} = "DEFAULT"; exec @ARGV' "$dir/execsnoop" 300 >int.out 2>int.err &
group=$!
shown() {
	/bin/true
	grep -q '/true$' int.out
}
ok 'execsnoop shows what is recorded' await shown
kill -INT "-$group"
wait "$group"
is "$?" 0 'interrupted, it succeeds'
run "$dir"/tcpretrans 0.01
case $status in
0) ok 'there was such a segment' true ;;
*) like "$ERR" 'there were no .* in 0.01 s' 'that nothing happened is reported' ;;
esac
done_testing
