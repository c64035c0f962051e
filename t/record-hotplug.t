#!/bin/sh
# CPUs that come and go while pcap-perf records or counts all. No CPU of this machine is switched off: in a
# mount namespace of its own the recorder sees another list of those that are online (sysfs), and what
# it does then is real.
. "${0%/*}/lib.sh"
need unshare taskset mkfifo
[ "$(id -u)" = 0 ] || skip_all 'only root can give it another list of CPUs'
unshare --mount true 2>/dev/null || skip_all 'no mount namespace here'
pcap=$BIN/pcap-perf
"$pcap" -a -e syscalls:sys_enter_getppid -o p.data -- true >/dev/null 2>&1 ||
	skip_all 'recording tracepoints is not allowed here'
home=$(sed 's/[-,].*//' /sys/devices/system/cpu/online)
guest=$(sed 's/.*[-,]//' /sys/devices/system/cpu/online)
[ "$home" != "$guest" ] || skip_all 'there is one CPU only'
taskset -c "$guest" true 2>/dev/null || skip_all "CPU $guest is not for us"
${CC:-cc} -O1 -o hotload "$ROOT/t/stat_load.c" || exit 1

# with STEPS COMMAND...: runs COMMAND while CPU $guest is offline, and meanwhile the steps: it comes (+), it
# goes (-), so many calls are made there (a number), a signal is sent, a list of CPUs that is online. Each
# is known to be over by what COMMAND has open, and by its answer to --control.
cat >with <<'END'
#!/bin/sh
steps=$1
shift
echo "$HOME_CPU" >fake
mount --bind fake /sys/devices/system/cpu/online || exit 99
rm -f ctl ack
: >err
mkfifo ctl ack
exec 3<>ctl 4<>ack
"$@" --control fifo:ctl,ack 60 2>>err &
pid=$!
await() {
	until "$@"; do
		kill -0 $pid 2>/dev/null || exit 98
		sleep 0.02
	done
}
answers() {
	grep -c '^pcap-perf: syscalls:sys_enter_getppid$' err
}
answered() {
	[ "$(answers)" -gt "$n" ]
}
obeyed() {
	n=$(answers)
	echo evlist >&3
	await answered
}
# Events on the CPU that comes and goes: all events but those that there were at first, and its buffer's.
events() {
	find /proc/$pid/fd -lname '*perf_event*' 2>/dev/null | wc -l
}
more() {
	[ "$(events)" -gt "$had" ]
}
fewer() {
	[ "$(events)" -lt "$had" ]
}
uevent() {
	[ "$UEVENT" = no ] || echo change >/sys/devices/system/cpu/cpu$HOME_CPU/uevent
}
obeyed
for step in $steps; do
	had=$(events)
	case $step in
	+)
		echo "$HOME_CPU,$GUEST_CPU" >fake
		uevent
		await more
		obeyed
		;;
	-)
		echo "$HOME_CPU" >fake
		uevent
		await fewer
		obeyed
		;;
	[1-9]*) taskset -c "$GUEST_CPU" ./hotload "$step" 1 0 ;;
	snapshot) echo snapshot >&3 && obeyed ;;
	*)
		echo "${step#=}" >fake
		uevent
		[ "$UEVENT" = no ] || await grep -q 'come online' err
		;;
	esac
done
echo stop >&3
wait $pid
END
chmod +x with
export HOME_CPU="$home" GUEST_CPU="$guest"
export UEVENT=yes
with() {
	unshare --mount --propagation private ./with "$@" >"$OUT" 2>"$TMP/with.err"
	status=$?
	[ "$status" -lt 98 ] || { diag_file err && diag_file with.err; }
	cp err "$ERR"
}
count() { # FILE CPU: calls that were recorded there
	"$BIN/pdecode" -t --cpu="$2" "$1" | grep -c 'hotload .*sys_enter_getppid:'
}
event='-e syscalls:sys_enter_getppid'

# ---- recording ----

# shellcheck disable=SC2086
with '+ 300 - + 200' "$pcap" -v -a $event -e cpu-clock -o a.data
is "$status" 0 'a CPU that comes, goes, and comes again: recorded'
is "$(count a.data "$guest")" 500 '  each call on it'
is "$(count a.data "$home")" 0 '  none on another'
like "$ERR" "CPU $guest has come online: it is recorded from now on" '  it is reported that it came'
like "$ERR" "CPU $guest has gone offline" '  and that it went'
run "$BIN/pdecode" --list a.data
is "$(grep -c getppid "$OUT")" 1 '  its events are no events of their own'
if have perf; then
	is "$(perf script -i - <a.data 2>/dev/null | grep -c "hotload .*\[0*$guest\].*getppid:")" 500 \
		'  perf script knows them'
	is "$(perf report --stdio -i - -s comm <a.data 2>/dev/null | grep -c '^# Samples: .* getppid\|of event.*getppid')" \
		1 '  perf report puts them into one table'
else
	skip 2 'perf is not installed'
fi

# shellcheck disable=SC2086
with '+ 300 - + 200' "$pcap" -a -e '{syscalls:sys_enter_getppid,syscalls:sys_exit_getppid}:S' -o s.data
is "$status" 0 'groups whose samples have the counts of all'
# Of system calls that end, those of others, or after the last sample, may be missing.
"$BIN/pdecode" -t -F comm,cpu,event,period --cpu="$guest" s.data | awk '$1 == "hotload" {
	for (i = 2; i <= NF; i++) if ($i ~ /^[0-9]+$/) { n[$(i + 1)] += $i; break }
} END { for (e in n) print e, n[e] }' >sums
like sums '^syscalls:sys_enter_getppid: 500$' '  the counts go on when the CPU returns'
like sums '^syscalls:sys_exit_getppid: (49[89]|500)$' '  those of the other events of the group, too'

for how in --snapshot -z3 '--bundle kept.tar' '--switch-output=100G'; do
	rm -f b.data*
	# shellcheck disable=SC2086
	with '+ 300 - + 200' "$pcap" -a $how $event -o b.data
	is "$status" 0 "$how"
	cat b.data* >b.all
	is "$(count b.all "$guest")" 500 '  each call'
done
# shellcheck disable=SC2086
with '+ 300 snapshot - 7' "$pcap" -a --snapshot $event -o b.data
is "$(count b.data "$guest")" 300 'a snapshot of a CPU that goes later; what is called elsewhere is not its'

UEVENT=no
# shellcheck disable=SC2086
with '+ 300 - + 200' "$pcap" -a $event -o b.data
is "$status $(count b.data "$guest")" '0 500' 'where the kernel sends no news of devices'
UEVENT=yes

# shellcheck disable=SC2086
with "=$home,$guest 300" "$pcap" -p $$ $event -o b.data
is "$status" 1 'processes: what they do on a CPU that comes is not recorded, which is an error'
like "$ERR" "CPU $guest has come online, and is not recorded" '  and reported'
# shellcheck disable=SC2086
with "=$home,4000" "$pcap" -a $event -o b.data
is "$status" 1 'a CPU that the machine did not have: an error'
like "$ERR" 'CPU 4000 has come online, and is not recorded: it was not in the machine' '  and reported'
UEVENT=no
# shellcheck disable=SC2086
with "=$home,4000 1" "$pcap" -C "$home" $event -o b.data
UEVENT=yes
is "$status" 0 '-C: other CPUs may come'
# shellcheck disable=SC2086
with '+ 300' "$pcap" -C "$home,$guest" $event -o b.data
is "$status $(count b.data "$guest")" '0 300' '-C: one that is named comes'
like "$ERR" "CPU $guest is not online" '  it was not there at first'

# ---- counting ----

stat() { # the calls in a CSV table on $OUT, with what they are of: "CPU1 500"
	awk -F, '/getppid/ { for (i = 3; i <= NF; i++) if ($i ~ /getppid/) print ($1 ~ /[A-Z]/ ? $1 " " : "") $(i - 2) }' table
}
count_with() { # STEPS OPTION...
	steps=$1
	shift
	with "$steps" "$pcap" --stat -a -x, -e syscalls:sys_enter_getppid --filter 'comm == "hotload"' "$@" -o table
}
count_with '+ 300 - + 200' -v
is "$status" 0 '--stat: a CPU that comes, goes, and comes again is counted'
is "$(stat)" 500 '  each call on it'
like "$ERR" "CPU $guest has come online: it is counted from now on" '  it is reported'
count_with '+ 300 - + 200' -A
is "$(stat | tail -n 1)" "CPU$guest 500" '--stat -A: it has a row'
count_with '' -A
is "$(stat)" "CPU$home 0" '--stat -A: one that never came has none'
count_with '+ 300 - + 200' --per-core
is "$(stat | awk '{ n += $NF } END { print NR, n }')" "$(
	cat "/sys/devices/system/cpu/cpu$home/topology/core_id" "/sys/devices/system/cpu/cpu$guest/topology/core_id" |
		sort -u | wc -l | tr -d ' '
) 500" '--stat --per-core: its core has a row'
count_with '+ 300 - + 200' -I 10
is "$(awk -F, '/getppid/ { n += $2 } END { print n }' table)" 500 '--stat -I: the intervals make up the whole'
count_with "=$home,4000"
is "$status" 1 '--stat: a CPU that the machine did not have is not counted'
like "$ERR" 'CPU 4000 has come online, and is not counted' '  and reported'
UEVENT=no
count_with "=$home,$guest"
is "$status" 1 '--stat: without news of devices a CPU that came is found at the end only: an error'
like "$ERR" "CPU $guest has come online, and is not counted" '  and reported'
done_testing
