#!/bin/sh
# What pdecode tells about a recording: --list.
. "${0%/*}/lib.sh"

small=$ROOT/t/data/small.data # a file, 81 samples (t/data/README.md)

# counts FILE: "samples event" of a list, sorted.
counts() {
	sed '/^#/d; /^$/d' "$1" | awk '{ n = $1; sub(/^ *([^ ]+ +)*/, ""); print n, $0 }' | sort
}

# --- --list ---
run "$BIN/pdecode" --list "$small"
is "$status" 0 '--list'
cp "$OUT" list.txt
counts list.txt >got
cat >want <<-END
	1 sched:sched_process_exec
	1 sched:sched_process_fork
	2 sched:sched_process_exit
	77 cpu-clock
END
same got want 'each event with the number of its samples'
"$BIN/pdecode" -t "$small" | awk '
	/ cpu-clock: / { t = $3; sub(/:/, "", t); if (!n++) print t; sum += $4 }
	END { print t; printf "%d\n", sum }' >want
awk '$NF == "cpu-clock" { print substr($4, 1, length($4) - 3); print substr($5, 1, length($5) - 3); print $2 }' \
	list.txt >got
same got want 'the times of the first and the last, and the sum of the periods, are those of the text'
run_pipe '"$BIN/pdecode" "$small"' '"$BIN/pdecode" --list'
is "$statuses" '0 0' 'of an event stream'
same "$OUT" list.txt 'the same'
run_pipe 'cat "$small"' '"$BIN/pdecode" --list'
counts "$OUT" >got
counts list.txt >want
same got want 'of a pipe: the same'
run "$BIN/pdecode" --list -j "$small"
is "$(grep -c '^{"type":"events","source":1,"file":".*","event":".*","samples":[0-9]*,.*}$' "$OUT")" 4 \
	'-j: an object for each event'
run "$BIN/pdecode" --list "$small" "$small"
is "$(grep -c ' cpu-clock$' "$OUT")" 2 'two files: two lists'
head -c 9000 "$small" >cut.data
run "$BIN/pdecode" --list cut.data
is "$status" 1 'a damaged recording: what there is, exit status 1'
ok 'is listed' grep -q ' cpu-clock$' "$OUT"
run "$BIN/pdecode" --list nowhere
is "$status" 2 'no file'
run "$BIN/pdecode" --list --dump "$small"
is "$status" 64 'two views at a time: usage'
run "$BIN/pdecode" --dump -j "$small"
is "$status" 64 '--dump has no JSON'
f=$ROOT/t/data/trace-zlib.dat
"$BIN/pdecode" -j "$f" 2>/dev/null | sed -n 's/^{"type":"sample".*"event":"\([^"]*\)".*/\1/p' |
	sort | uniq -c | awk '{ print $1, $2 }' | sort >want
run "$BIN/pdecode" --list "$f"
counts "$OUT" | awk '{ print $1, $NF }' | sort >got
same got want 'a trace.dat: as many samples of each event as -j prints'
done_testing
