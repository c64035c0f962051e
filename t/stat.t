#!/bin/sh
# Counts: what perf stat recorded, read back, and pcap-perf --stat. perf 6.1 is the oracle: its text
# is beside the recordings in t/data, and is compared with live where perf is installed.
. "${0%/*}/lib.sh"

data=$ROOT/t/data
for name in stat stat-A stat-612; do
	gunzip -c "$data/$name.data.gz" >"$name.data" || exit 1
	sed 's/ *$//' "$data/$name.txt" >"$name.want"
done

# What perf stat record wrote. perf 6.12 pads its lines with more blanks.
for name in stat stat-A stat-612; do
	run_pipe "\"$BIN/pdecode\" $name.data" "\"$BIN/phist\""
	is "$statuses" '0 0' "$name: phist prints the counts"
	sed 's/ *$//' "$OUT" >"$name.got"
	same "$name.got" "$name.want" "$name: as perf stat printed them"
done

run "$BIN/pdecode" -t stat-A.data
printf 'CPU THREAD VAL ENA RUN TIME EVENT
0 -1 38383781 38383361 38383361 38136210 cpu-clock
1 -1 38320435 38319045 38319045 38136210 cpu-clock
0 -1 67 38364131 38364131 38136210 page-faults
1 -1 7 38319736 38319736 38136210 page-faults
0 -1 9 38361087 38361087 38136210 context-switches
1 -1 27 38317933 38317933 38136210 context-switches
' >raw.want
tr -s ' ' <"$OUT" | sed 's/^ //' >raw.got
same raw.got raw.want 'pdecode -t prints each counter, as perf script does'
if have perf && perf script -i stat-A.data >perf.raw 2>/dev/null; then
	same "$OUT" perf.raw 'in the same columns'
else
	skip 1 'perf is not installed'
fi

run_pipe "\"$BIN/pdecode\" stat-A.data" "\"$BIN/phist\" --tsv"
is "$(awk -F'\t' '$1 == "events" && $2 == "page-faults" && $3 == 0 { print $5 }' "$OUT")" 67 \
	'phist --tsv has a row for each event and CPU'
is "$(awk -F'\t' '$1 == "time" && $3 == 1 { print $5 }' "$OUT")" 38320435 'clocks are in ns'
run_pipe "\"$BIN/pdecode\" stat.data" "\"$BIN/phist\" --json"
is "$(grep -c '"table":"events"' "$OUT")" 6 'phist --json has a row for each event and interval'
run_pipe "\"$BIN/pdecode\" stat.data" "\"$BIN/phist\" --by event"
like "$ERR" 'no samples' 'keys are those of samples'

# A recording that is cut off: what came whole is printed.
head -c 1500 stat.data >cut.data
run_pipe "\"$BIN/pdecode\" cut.data" "\"$BIN/phist\""
is "$statuses" '1 1' 'a recording that is cut off'

done_testing
