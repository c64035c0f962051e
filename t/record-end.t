#!/bin/sh
# How recordings end that do not end as planned: killed at any moment, a full disk, a file that may not grow,
# a reader that goes. What was written can be read.
. "${0%/*}/lib.sh"
pcap=$BIN/pcap-perf
event=cpu-clock
"$pcap" -a -e $event -o x.data -- true >/dev/null 2>&1 || {
	event=cpu-clock:u
	"$pcap" -e $event -o x.data -- true >/dev/null 2>&1 || skip_all 'recording is not allowed here'
}
# It ends by itself, also when what started it was killed.
cat >busy <<'EOF'
#!/usr/bin/perl
fork;
alarm 3;
1 while 1;
EOF
chmod +x busy

# killed MILLISECONDS: what pdecode makes of a recording that ends then.
killed() {
	rm -f k.data
	"$pcap" -F 999 -g -e $event -o k.data -- ./busy 2>/dev/null &
	recorder=$!
	perl -e "select(undef, undef, undef, $1 / 1000)"
	kill -KILL $recorder
	wait $recorder 2>/dev/null
	[ -s k.data ] || return 0 # it had not begun
	"$BIN/pdecode" -b k.data >k.ps 2>k.err
	[ $? = 1 ] && grep -q 'the end mark that pcap-perf writes last is missing$' k.err || return 1
	! have perf || perf script -i - <k.data >/dev/null 2>&1
}

bad=
some=0
for ms in 3 8 15 25 40 60 90 130 200 350 700 1000 1500 2000 2500; do
	# The last ones are for a machine that has more to do.
	[ $ms -le 350 ] || [ $some -le 2 ] || break
	killed $ms || bad="$bad $ms"
	[ ! -s k.data ] || some=$((some + 1))
done
is "$bad" '' 'killed at any moment, what was written can be read'
ok 'and mostly something was' test $some -gt 2

(
	ulimit -f 64
	exec "$pcap" -F 999 --call-graph dwarf,8192 -e $event -o small.data -- ./busy
) 2>err
is "$?" 2 'a file that may not become larger'
like err 'small.data: cannot write: File too large' 'is reported'
run "$BIN/pdecode" -b small.data
is "$status" 1 'what is in it can be read'

mkdir disk
if [ "$(id -u)" = 0 ] && unshare -m sh -c "mount -t tmpfs -o size=64k none '$TMP/disk'" 2>/dev/null; then
	# shellcheck disable=SC2016
	run unshare -m sh -c 'mount -t tmpfs -o size=64k none disk
		"$0" -F 999 --call-graph dwarf,8192 -e "$1" -o disk/x.data -- ./busy; s=$?; cp disk/x.data full.data; exit $s' "$pcap" $event
	is "$status" 2 'a full disk'
	like "$ERR" 'disk/x.data: cannot write: No space left on device' 'is reported'
	run "$BIN/pdecode" -b full.data
	is "$status" 1 'what is on it can be read'
else
	skip 3 'no file systems can be mounted here'
fi

{
	"$pcap" -F 999 -e $event -- ./busy 2>err
	echo $? >status
} | head -c 100 >first
empty err 'a reader that goes ends the recording without a word'
is "$(cat status)" 141 'by SIGPIPE'

# For recipes, whose probes take a while: when recording has begun.
"$pcap" -v --while $$ -e cpu-clock:u -o begun.data 2>told &
recorder=$!
ok '--while: recording has begun' await grep -q 'recording has begun; Control-C ends it' told
kill -INT $recorder
wait $recorder
is $? 0 'and ends'
"$pcap" --while $$ -e cpu-clock:u -o begun.data 0.1 2>told
unlike told begun 'not without a terminal'
done_testing
