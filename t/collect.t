#!/bin/sh
# The recipe collect: several machines at once. An ssh of our own in PATH runs the commands here; one of its machines
# has a clock that is 5 s ahead, one cannot be reached, one has a date without ns.
. "${0%/*}/lib.sh"

recipe=$ROOT/share/recipes/collect
BINDIR=$BIN
TMPDIR=$PWD/tmp
export BINDIR TMPDIR
mkdir tmp ssh ssh/ahead ssh/coarse
cat >ssh/ssh <<'END'
#!/bin/sh
while [ "$1" = -o ]; do shift 2; done
host=$1
shift
case $host in
away) echo 'ssh: connect to host away port 22: No route to host' >&2 && exit 255 ;;
ahead | coarse) PATH=$PWD/ssh/$host:$PATH ;;
esac
exec sh -c "$*"
END
printf '#!/bin/sh\nexec %s -d "+5 sec" "$@"\n' "$(command -v date)" >ssh/ahead/date
printf '#!/bin/sh\necho "$(%s +%%s)%%N"\n' "$(command -v date)" >ssh/coarse/date
chmod +x ssh/ssh ssh/ahead/date ssh/coarse/date
here=$PATH
PATH=$PWD/ssh:$(cd "$BIN" && pwd):$here
export PATH

# Words.
run "$recipe"
is "$status" 64 'no machine'
run "$recipe" -d soon one
is "$status" 64 'a time that is none'
run "$recipe" one one
is "$status" 64 'a machine twice'
is "$(echo tmp/*)" 'tmp/*' 'leaves no file'
run "$recipe" --help
is "$status" 0 'help'
run "$recipe" -o none away
is "$status" 2 'none can be reached'
like "$ERR" '^away: ssh: connect to host away' 'what ssh says has its name'
like "$ERR" 'collect: away: no connection, or no shell there \(status 255\)' 'and is reported'
unlike "$ERR" 'cannot|No such' 'nothing else'

if ! "$BIN/pcap-perf" -q -a -e sched:sched_process_exec -o may.data -- true 2>"$ERR"; then
	skip 20 'the kernel does not let this user record' 'collecting'
	done_testing
	exit 0
fi

# first MACHINE: when its first event was, in ns.
first() {
	awk -v name="# $1" '$0 ~ /^# [^ ]/ && NF == 2 { on = $0 == name } on && /sched_process_exec$/ { print $4; exit }' list
}

# Programs start on all of them while they are recorded.
while :; do "$BIN/pdecode" --version; done >loop 2>&1 &
busy=$!
trap 'kill $busy 2>/dev/null; t_end' EXIT
run "$recipe" -d 1 one ahead coarse away . -- -a -e sched:sched_process_exec
cp "$OUT" all.ps
is "$status" 1 'four of five: the others are there'
like "$ERR" '^collect: one: its clock is this machine.s, give or take [0-9.]+ ms$' 'a clock that is the same'
like "$ERR" '^collect: ahead: its clock is (49|50)[0-9][0-9]\.[0-9]+ ms ahead of this machine.s' 'one that is ahead'
like "$ERR" '^collect: coarse: it does not tell its clock' 'one that tells seconds only'
like "$ERR" '^collect: away: no connection' 'and one that is away'
"$BIN/pdecode" --list all.ps >list
for machine in one ahead coarse "$(uname -n)"; do
	isnt "$(first "$machine")" '' "$machine is in the stream"
done
unlike list '[1-9][0-9]* .*collect-tick' 'and nothing else'
# All is recorded here, so that what was corrected is off by as much.
is "$(awk -v one="$(first one)" -v ahead="$(first ahead)" 'BEGIN { d = one - ahead; print (d > 4 && d < 6) }')" 1 \
	'its times are corrected'
"$BIN/pdecode" -t --ns all.ps | sed -n 's/^.* \([0-9]*\.[0-9]*\): *[0-9]* .*$/\1/p' >order
sort -n order >sorted
same order sorted 'one stream in the order of time'
now=$(date +%s)
is "$(awk -v now="$now" -v one="$(first one)" 'BEGIN { print (one > now - 600 && one <= now) }')" 1 'in the time of day'

# Until Control-C, and when it is killed.
recorders() {
	for cmdline in /proc/[0-9]*/cmdline; do
		{ tr '\0' ' ' <"$cmdline"; } 2>/dev/null | grep '^pcap-perf --while.*-e sched:sched_process_exec,sched:sched_process_wait'
	done | grep -c .
}
some_record() {
	[ "$(recorders)" != 0 ]
}
none_records() {
	[ "$(recorders)" = 0 ]
}
if have setsid && env --default-signal=INT true 2>/dev/null; then
	env --default-signal=INT "$recipe" -o stopped.ps one two -- -a -e sched:sched_process_exec,sched:sched_process_wait 2>"$ERR" &
	pid=$!
	await some_record
	# An event of a second that the one machine has does not wait for the other one.
	await sh -c '"$BIN/pdecode" -t stopped.ps 2>/dev/null | grep -q sched_process'
	kill -INT $pid
	wait $pid
	is "$?" 0 'an interrupt ends it'
	run "$BIN/pdecode" --list stopped.ps
	is "$status" 0 'and what was recorded is whole'
	is "$(grep -c '^# [a-z]* *$' "$OUT")" 2 'of both'
else
	skip 3 'no setsid, or an env without --default-signal'
fi
"$recipe" -o killed.ps one two -- -a -e sched:sched_process_exec,sched:sched_process_wait 2>"$ERR" &
pid=$!
await test -s killed.ps
kill $pid
wait $pid
is "$?" 143 'killed'
await none_records
is "$(recorders)" 0 'no recorder goes on'
ok 'nor is a file left' await sh -c '[ "$(echo tmp/*)" = "tmp/*" ]'

# Functions are named where the programs are; another reader goes away.
run "$recipe" -s -d 1 one -- -a -F 199 -g
is "$status" 0 'with symbols'
"$BIN/pfold" "$OUT" >folded 2>"$ERR"
like folded ';[a-z_A-Z]+[^;]*;' 'stacks have names'
run "$recipe" --path /nowhere -d 1 one -- -a -e sched:sched_process_exec
is "$status" 0 'a path besides'
run "$recipe" -d 1 one -- --no-such-option
isnt "$status" 0 'an option that the recorder does not have'
like "$ERR" '^one: pcap-perf: .*no-such-option' 'is reported with the machine'
like "$ERR" 'collect: one: it ended with status 64' 'and its status'

# A real ssh and a real sshd, which needs no port when ssh starts it as its way to the machine.
PATH=$here:/usr/sbin
if have sshd && have ssh-keygen && { [ "$(id -u)" != 0 ] || mkdir -p /run/sshd; }; then
	ssh-keygen -q -t ed25519 -N '' -f host.key
	ssh-keygen -q -t ed25519 -N '' -f user.key
	cat >sshd.conf <<-END
		HostKey $PWD/host.key
		AuthorizedKeysFile $PWD/user.key.pub
		StrictModes no
		UsePAM no
	END
	cat >ssh.conf <<-END
		Host *
		ProxyCommand $(command -v sshd) -i -f $PWD/sshd.conf
		IdentityFile $PWD/user.key
		IdentitiesOnly yes
		UserKnownHostsFile $PWD/known
		StrictHostKeyChecking no
		LogLevel ERROR
	END
	run "$recipe" -d 1 -e "ssh -F $PWD/ssh.conf" --path "$(cd "$BIN" && pwd)" one two -- -a -e sched:sched_process_exec
	cp "$OUT" all.ps
	is "$status" 0 'over ssh, to two machines'
	is "$(grep -c 'its clock is this machine.s, give or take' "$ERR")" 2 'their clocks are known'
	"$BIN/pdecode" --list all.ps >list
	for machine in one two; do
		isnt "$(first $machine)" '' "$machine is in the stream"
	done
else
	skip 4 'no sshd'
fi
done_testing
