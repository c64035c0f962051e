#!/bin/sh
# pcap-perf -z: compressed recordings hold what the others hold, perf reads them, and they end as the others do.
. "${0%/*}/lib.sh"
pcap=$BIN/pcap-perf
run "$pcap" -e cpu-clock:u -o probe.data -- true
[ "$status" = 0 ] || {
	diag_file "$ERR"
	skip_all 'recording is not allowed here'
}
cat >busy <<'END'
#!/usr/bin/perl
fork;
alarm 3;
1 while 1;
END
cat >short <<'END'
#!/usr/bin/perl
for (1 .. 4) { last unless fork; wait }
1 for 1 .. 2_000_000;
END
# A sample for each page that it touches.
cat >faults <<'END'
#!/usr/bin/perl
$text = "\1" x (4096 * 20000);
END
chmod +x busy short faults

for z in -z -z1 --compression-level=3 -z19; do
	run "$pcap" $z -q -e cpu-clock:u -F 999 -g -o x.data -- ./short
	is "$status" 0 "$z"
	run "$BIN/pdecode" --strict -t x.data
	is "$status" 0 "$z: can be read"
	ok "$z: has samples" test -s "$OUT"
	case $z in
	-z) level=1 ;;
	-z*) level=${z#-z} ;;
	*) level=${z#*=} ;;
	esac
	"$BIN/pdecode" --header x.data >header
	like header "compressed : Zstd, level = $level," "$z: the level is in the header"
	if have perf; then
		"$BIN/pdecode" -j x.data | grep -c '^{"type":"sample"' >ours
		perf script -i - -G -F comm,tid,time,event <x.data 2>err | grep -c . >theirs
		same ours theirs "$z: perf script prints as many samples"
		perf report -i - --stdio -g none <x.data >rows 2>/dev/null
		like rows '^ +[0-9.]+%' "$z: perf report has rows"
		perf report --header-only -i - <x.data >header 2>/dev/null
		like header "compressed : Zstd, level = $level," "$z: perf reads the level"
	else
		skip 3 'perf is not installed'
	fi
done
"$BIN/pdecode" --dump x.data >dump
like dump 'PERF_RECORD_COMPRESSED' 'there are compressed records'

# As many as without; and much smaller.
for z in '' -z; do
	# shellcheck disable=SC2086
	run "$pcap" $z -m 2048 -e faults:u -c 1 -o faults$z.data -- ./faults
	is "$status" 0 "page faults, ${z:-plain}"
	run "$BIN/pdecode" --strict -t faults$z.data
	is "$status" 0 'can be read'
	grep -c faults "$OUT" >count$z
done
diag "$(cat count) page faults, $(cat count-z) with -z; $(wc -c <faults.data) bytes, $(wc -c <faults-z.data) with -z"
ok 'as many page faults, but for a few' test $(($(cat count-z) * 100)) -gt $(($(cat count) * 95))
ok 'in a quarter of the bytes at most' test $(($(wc -c <faults-z.data) * 4)) -lt "$(wc -c <faults.data)"

# Through a pipe, and as snapshots: each of these begins a stream of its own; so do files of time spans, which
# are in t/record-times.t.
"$pcap" -z -q -e cpu-clock:u -F 999 -- ./short | "$BIN/pdecode" -t >piped
ok 'through a pipe' test -s piped
sh -c 'while :; do :; done' >/dev/null 2>&1 &
busy=$!
mkfifo commands answers
exec 8<>commands 9<>answers
"$pcap" -z -q -e cpu-clock:u -F 999 -p $busy --snapshot=1M -D -1 --control fifo:commands,answers -o snap.data &
recorder=$!
echo enable >&8
answer answers >/dev/null
burn $busy 20
kill -USR2 $recorder
await sampled snap.data
burn $busy 10
kill -INT $recorder
wait $recorder
kill $busy
exec 8>&- 9>&-
run "$BIN/pdecode" -t snap.data
is "$status" 0 'snapshots can be read'
ok 'and have samples' test -s "$OUT"

# What ends it.
bad=
for ms in 15 40 90 130 200 350; do
	rm -f k.data
	"$pcap" -z -q -F 999 -g -e cpu-clock:u -o k.data -- ./busy &
	recorder=$!
	perl -e "select(undef, undef, undef, $ms / 1000)"
	kill -KILL $recorder
	wait $recorder 2>/dev/null
	[ -s k.data ] || continue
	"$BIN/pdecode" -b k.data >k.ps 2>k.err
	[ $? = 1 ] && grep -q 'the end mark that pcap-perf writes last is missing$' k.err || bad="$bad $ms"
done
is "$bad" '' 'killed at any moment, what was written can be read'
if [ -c /dev/full ]; then
	run "$pcap" -z -e cpu-clock:u -o /dev/full -- ./short
	is "$status" 2 'a full disk'
	like "$ERR" 'cannot write: No space left on device' 'is reported'
else
	skip 2 'there is no /dev/full'
fi
{
	"$pcap" -z -F 999 -e cpu-clock:u -- ./busy 2>err
	echo $? >status
} | head -c 100 >first
empty err 'a reader that goes ends the recording without a word'
is "$(cat status)" 141 'by SIGPIPE'

for z in -z23 -z-1 -zfast; do
	run "$pcap" $z -- true
	is "$status" 64 "$z is no level"
	like "$ERR" 'not a level of zstd from 1 to 22' 'is reported'
done
done_testing
