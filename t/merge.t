#!/bin/sh
# Several recordings at once: one stream in the order of time, for any mix of kinds.
. "${0%/*}/lib.sh"

small=$ROOT/t/data/small.data
gunzip -c "$ROOT/t/data/trace-instances.dat.gz" >inst.dat
gunzip -c "$ROOT/t/data/trace-v6.dat.gz" >v6.dat
mkdir dir
cp v6.dat dir/other-name.dat

# The records of a JSON stream that are in order of time, as "TIME TYPE" lines, samples only.
stamps() {
	sed -n 's/^{"type":"sample".*"time":\([0-9]*\).*/\1/p' "$1"
}
samples() {
	grep -c '"type":"sample"' "$1"
}

# --- any mix ---
run "$BIN/pdecode" -j inst.dat "$small" v6.dat
is "$status" 0 'perf.data and trace.dat at once'
cp "$OUT" all.json
stamps all.json >t.txt
sort -n t.txt >sorted.txt
same t.txt sorted.txt 'the samples are in the order of time'
n=0
for f in inst.dat "$small" v6.dat; do
	run "$BIN/pdecode" -j "$f"
	n=$((n + $(samples "$OUT")))
done
is "$(samples all.json)" "$n" 'and all of them'
is "$(grep -c '"type":"source"' all.json)" 3 'three recordings'
is "$(sed -n 's/.*"type":"source","source":\([0-9]*\).*/\1/p' all.json | tr '\n' ' ')" '1 2 3 ' \
	'each with an id of its own'

# Event streams are merged as what they were made of, and so is what comes from a pipe.
"$BIN/pdecode" -b inst.dat >inst.pstream
"$BIN/pdecode" -b "$small" >small.pstream
run "$BIN/pdecode" -t inst.dat "$small" v6.dat
cp "$OUT" want.txt
run "$BIN/pdecode" -t inst.pstream small.pstream v6.dat
same "$OUT" want.txt 'event streams: the same text'
run_pipe 'cat v6.dat' '"$BIN/pdecode" -t inst.dat "$small" -'
is "$statuses" '0 0' 'one of them is stdin'
is "$(wc -l <"$OUT")" "$(wc -l <want.txt)" 'with as many lines'

# The text of each recording is in it, line for line.
run "$BIN/pdecode" -t "$small"
cp "$OUT" alone.txt
run "$BIN/pdecode" -t "$small" "$small"
sort alone.txt alone.txt >twice.txt
sort "$OUT" | cmp -s - twice.txt
is $? 0 'two of one: each line twice'
cat small.pstream small.pstream >two.pstream
run "$BIN/pdecode" -t two.pstream small.pstream
sort alone.txt alone.txt alone.txt >thrice.txt
sort "$OUT" | cmp -s - thrice.txt
is $? 0 'a file of two streams and another one: each line thrice'
run_pipe 'cat small.pstream small.pstream' '"$BIN/pdecode" -s' '"$BIN/pdecode" -s'
is "$statuses" '0 0 0' 'streams in a row'
is "$(sed -n 's/.*: \([0-9]*\) samples.*/\1/p' "$ERR.2")" 162 'stay in a row'
is "$(sed -n 's/.*: \([0-9]*\) samples.*/\1/p' "$ERR.3")" 162 'for the next filter, too'

# --- the filters after it ---
run_pipe '"$BIN/pdecode" "$small"' '"$BIN/pfold" --no-header'
sort "$OUT" >one.folded
run_pipe '"$BIN/pdecode" "$small" "$small"' '"$BIN/pfold" --no-header'
awk '{ $NF *= 2; print }' one.folded | sort >double.folded
sort "$OUT" >got.folded
same got.folded double.folded 'pfold counts both'
run_pipe '"$BIN/pdecode" "$small"' '"$BIN/psym"' '"$BIN/pfold" --no-header'
awk '{ $NF *= 2; print }' "$OUT" | sort >double.folded
"$BIN/pdecode" "$small" 2>/dev/null | "$BIN/psym" >sym.pstream 2>/dev/null
run_pipe '"$BIN/pdecode" sym.pstream sym.pstream' '"$BIN/pfold" --no-header'
sort "$OUT" >got.folded
same got.folded double.folded 'symbols and stacks are merged, too'

# --- clocks and offsets ---
run "$BIN/pdecode" -b inst.dat v6.dat
unlike "$ERR" 'cannot be compared' 'two recordings of one machine'
run "$BIN/pdecode" -b inst.dat "$small"
like "$ERR" 'small.data: it was recorded on vm, inst.dat on guest: their clocks' 'of two machines'
run "$BIN/pdecode" -b --clock realtime inst.dat "$small"
is "$status" 2 'a clock that the recordings do not tell of'
like "$ERR" 'inst.dat: clock local: the recording does not contain its relation to realtime' 'it is reported'
run "$BIN/pdecode" -j --offset 1s "$small"
stamps "$OUT" >shifted.txt
run "$BIN/pdecode" -j "$small"
stamps "$OUT" | awk '{ printf "%.0f\n", $1 + 1000000000 }' >want.txt
same shifted.txt want.txt '--offset of one recording'
run "$BIN/pdecode" -j --offset "$small:-2.5us" --offset inst.dat:3 --offset=2ns "$small" inst.dat
stamps "$OUT" | sort -n >shifted.txt
run "$BIN/pdecode" -j "$small"
stamps "$OUT" | awk '{ printf "%.0f\n", $1 - 2498 }' >want.unsorted
run "$BIN/pdecode" -j inst.dat
stamps "$OUT" | awk '{ printf "%.0f\n", $1 + 5 }' >>want.unsorted
sort -n want.unsorted >want.txt
same shifted.txt want.txt '--offset of files, added up with one for all'
for bad in 5m x a.data: 1e99s '' :; do
	run "$BIN/pdecode" --offset "$bad" "$small"
	is "$status" 64 "--offset '$bad' is no time"
done
run "$BIN/pdecode" --offset other.data:1 "$small"
is "$status" 2 '--offset of a file that is not read'
like "$ERR" 'other.data is not among the files' 'is reported'

# --- damage ---
head -c 30000 inst.dat >cut.dat
run "$BIN/pdecode" -s -b cut.dat "$small"
is "$status" 1 'one is cut off: partial'
like "$ERR" 'cut.dat: ' 'it is reported'
run "$BIN/pdecode" -b nowhere "$small"
is "$status" 1 'one is not there: partial'
run "$BIN/pdecode" -b nowhere elsewhere
is "$status" 2 'none is there'
echo 'no recording, a long line of text' >text
run "$BIN/pdecode" -b text nowhere
is "$status" 2 'none can be decoded'
run "$BIN/pdecode" - - <"$small"
is "$status" 2 'stdin twice'
like "$ERR" 'stdin cannot be read twice' 'is reported'
head -c 5000 small.pstream >cut.pstream
run "$BIN/pdecode" -b cut.pstream "$small"
is "$status" 1 'an event stream without its end: partial'
run_pipe '"$BIN/pdecode" -b "$small" "$small"' 'head -c 100'
ok 'a reader that leaves ends it quietly' test ! -s "$ERR.1"
if [ -c /dev/full ]; then
	"$BIN/pdecode" -b "$small" - </dev/full >/dev/full 2>err
	is $? 2 'an output that cannot be written'
fi

# --- trace-cmd ---
if have trace-cmd; then
	compare() {
		what=$1
		shift
		inputs=
		for f; do
			inputs="$inputs -i $f"
		done
		# shellcheck disable=SC2086
		trace-cmd report $inputs >report.txt 2>/dev/null
		run "$BIN/pdecode" -t --trace-cmd "$(trace_cmd_as)" "$@"
		same "$OUT" report.txt "$what: as trace-cmd report -i ... -i ..."
	}
	compare 'two recordings' inst.dat v6.dat
	compare 'in the other order' v6.dat inst.dat
	compare 'three, one in a directory' inst.dat dir/other-name.dat v6.dat
	if have perl; then
		perl "$ROOT/t/trace-make" >made7.dat
		perl "$ROOT/t/trace-make" version=6 clock_option=1 >made6.dat
		compare 'equal times' made6.dat made7.dat
	fi
else
	skip 4 'no trace-cmd'
fi

# --- perf ---
cat >busy.sh <<'T'
i=0
while [ $i -lt 60000 ]; do i=$((i + 1)); done
T
record() {
	perf record -q -N -B -k mono -F 499 -e cpu-clock -o "$1" -- sh busy.sh >record.log 2>&1
}
# perf 6.1 writes, one time in a hundred, a recording on which its own perf script aborts.
record_three() {
	record a.data && (record b.data & sh -c '
		perf record -q -N -B -k mono -F 499 -e cpu-clock -o c.data -- sh busy.sh >record2.log 2>&1
		' && wait) || return 1
	for f in a b c; do
		perf script -i $f.data >/dev/null 2>&1 </dev/null || return 1
	done
}
if have perf && { record_three || record_three || record_three; }; then
	for f in a b c; do
		perf script --ns -F tid,time -i $f.data </dev/null 2>/dev/null
	done | sort -s -k2,2 | sed -e 's/...:.*$//' -e 's/^ *//' | tr -s ' ' >want.txt
	run "$BIN/pdecode" -t b.data a.data c.data
	sed -n 's/^ *[^ ]* *\([0-9]*\) *\(\[[0-9]*\]\)* *\([0-9]*\.[0-9]*\):.*/\1 \3/p' "$OUT" >got.txt
	same got.txt want.txt 'perf.data: the lines of perf script, sorted by time'
	run "$BIN/pdecode" -j --clock realtime a.data b.data
	is "$status" 0 'perf record -k: the time of day is known'
	now=$(date +%s)
	stamps "$OUT" | awk -v now="$now" '
		{ if ($1 / 1e9 < now - 3600 || $1 / 1e9 > now + 60) bad++ } END { print (NR > 0), bad + 0 }' >got.txt
	is "$(cat got.txt)" '1 0' 'and the stamps are of now'
	run "$BIN/pdecode" -t -F tid,tod a.data
	cp "$OUT" want.txt
	run "$BIN/pdecode" -t --clock realtime -F tid,tod a.data
	same "$OUT" want.txt '-F tod: the same, whether or not times are converted'
	run_pipe '"$BIN/pdecode" --clock realtime a.data' '"$BIN/pdecode" --clock realtime -t -F tid,tod'
	same "$OUT" want.txt 'and what is converted is not converted again'
else
	skip 5 'perf cannot record'
fi
done_testing
