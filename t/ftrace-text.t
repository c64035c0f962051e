#!/bin/sh
# ftrace text as input of pdecode: what trace, trace_pipe and trace-cmd report print.
. "${0%/*}/lib.sh"

texts=$ROOT/t/fuzz/corpus/ftext

# Numbers of the account of `pdecode -s`.
stats() {
	sed -n "s/.*[ :]\([0-9]*\) $1.*/\1/p" "$2"
}

# --- every form: the text comes out as it went in ---
for f in "$texts"/*; do
	run "$BIN/pdecode" -t "$f"
	is "$status" 0 "${f##*/}: decodes"
	same "$OUT" "$f" "${f##*/}: prints as it was"
done
cp "$texts/sched" sched.txt
run_pipe 'cat sched.txt' '"$BIN/pdecode"' '"$BIN/pdecode" -t'
same "$OUT" sched.txt 'through two pipes, the same'
gzip -c sched.txt >sched.gz
run "$BIN/pdecode" -t sched.gz
same "$OUT" sched.txt 'compressed, the same'
sed 's/$/\r/' sched.txt >crlf.txt
run "$BIN/pdecode" -t crlf.txt
same "$OUT" sched.txt 'lines that end as in DOS, the same'
sed -n '/^ /p' sched.txt >bare.txt
run "$BIN/pdecode" -t bare.txt
same "$OUT" bare.txt 'without the comments, the same'

# --- what is in it ---
events=$(grep -c '^ ' sched.txt)
run "$BIN/pdecode" -s -b sched.txt
is "$(stats samples "$ERR")" "$events" 'each line of an event is a sample'
run "$BIN/pdecode" --list sched.txt
awk '/^ / { sub(/^.*[0-9]: /, ""); sub(/:.*/, ""); n[$0]++ } END { for (e in n) print n[e], e }' sched.txt |
	sort >want
awk '$NF ~ /:/ && !/^#/ { e = $NF; sub(/^.*:/, "", e); print $1, e }' "$OUT" | sort >got
same got want 'the events and their numbers'
if have perl && perl -MJSON::PP -e 1 2>/dev/null; then
	for name in instances v6; do
		gunzip -c "$ROOT/t/data/trace-$name.dat.gz" >x.dat
		gunzip -c "$ROOT/t/data/trace-$name.report.gz" >x.txt
		run "$ROOT/t/oracle/ftrace-text" x.dat x.txt
		is "$status" 0 "trace-$name: the same events and fields as out of the trace.dat"
		[ "$status" = 0 ] || diag_file "$OUT"
		equal=$(awk '/ fields equal/ { n += $4 } END { print n + 0 }' "$OUT")
		ok "and $equal fields are a comparison" test "$equal" -gt 900
	done
else
	skip 4 'no perl with JSON::PP'
fi

run "$BIN/pdecode" -t -F event,trace sched.txt
sed -n 's/^  *[^[]*\[[0-9]*\] [^ ]* *[0-9.]*: \([a-z_]*\): *\(.*\)$/\1: \2/p' sched.txt >want
sed -e 's/^ *[a-z]*://' -e 's/ *$//' -e 's/: */: /' "$OUT" >got
same got want '-F trace is what follows the name'

# --- tracers whose lines name no fields, and the latency that a head tells ---
cat >timerlat.txt <<'T'
# tracer: timerlat
              sh-131     [000] d..h...    39.615681: #183   context    irq timer_latency     77165 ns
           <...>-189     [000] .......    39.615891: #183   context thread timer_latency    292093 ns
              sh-131     [000] d..h1..    39.616680: #184   context    irq timer_latency     80861 ns
T
cat >osnoise.txt <<'T'
# tracer: osnoise
           <...>-172     [003] .......    37.696269: 1000000     263124  73.68760   11812   1921      0    321      0     52
T
cat >hwlat.txt <<'T'
# tracer: hwlat
           <...>-208     [000] d......    42.783194: #1     inner/outer(us):  479/625   ts:1795779124.657130130 count:67
           <...>-208     [000] d......    43.823489: #2     inner/outer(us):  402/235   ts:1795779125.698824422 count:66
T
table() {
	run_pipe '"$BIN/pdecode" '"$1" '"$BIN/plat" --tsv -k '"$2"
	awk -F '\t' '$1 == k { print $2, $3, $4, $6 }' k="$2" "$OUT"
}
is "$(table timerlat.txt timerlat | tr '\n' ,)" 'thread 1 292093 292093,irq 2 158026 77165,' 'timerlat'
is "$(table osnoise.txt osnoise-sum)" '3 1 263124000 263124000' 'osnoise: the sum of a period'
is "$(table hwlat.txt hwlat | tr '\n' ,)" 'within 2 881000 402000,between 2 860000 235000,' 'hwlat'
is "$(table "$ROOT/t/data/ftrace-wakeup.txt" latency)" 'wakeup ktimers/0 1 48769000 48769000' 'the longest latency'
run "$BIN/pdecode" -t "$ROOT/t/data/ftrace-wakeup.txt"
same "$OUT" "$ROOT/t/data/ftrace-wakeup.txt" 'which is no line of the text'

# --- histograms: the kernel's own sums are the judge ---
for f in hist hist-names hist-symbols; do
	run_pipe '"$BIN/pdecode" "$texts/$f"' '"$BIN/phist" --tsv -f hitcount'
	is "$(awk -F '\t' '!/^#/ { print $3 }' "$OUT")" \
		"$(awk 'match($0, /hitcount: *[0-9]+/) { split(substr($0, RSTART, RLENGTH), w, ": *"); n += w[2] } END { print n }' "$texts/$f")" \
		"$f: the hits"
done
run "$BIN/pdecode" "$texts/hist"
like "$ERR" 'the recorder lost 3 events' 'hits without a place are lost'
run_pipe '"$BIN/pdecode" "$texts/hist-names"' '"$BIN/phist" --tsv --by common_pid,id -f hitcount'
like "$OUT" '	wl	sys_read	1	37	' 'names are keys'
run_pipe '"$BIN/pdecode" "$texts/hist-symbols"' '"$BIN/phist" --tsv --by call_site -f bytes_alloc'
like "$OUT" '	__x64_sys_timerfd_create	1	512	' 'functions are, too'
run_pipe '"$BIN/pdecode" "$texts/hist-stack"' '"$BIN/pfold" 2>/dev/null'
is "$(awk '{ n += $NF } END { print n }' "$OUT")" "$(awk '/hitcount:/ { n += $3 } END { print n }' "$texts/hist-stack")" \
	'and stacks'
like "$OUT" ';virtio_queue_rq;virtblk_prep_rq' 'from the root'
# Tables of the function profiler, and the deepest stack: the text itself is the judge.
run_pipe '"$BIN/pdecode" "$texts/function-stat"' '"$BIN/phist" --tsv --by func -f time'
is "$(awk -F'\t' '!/^#/ { print $2, $4 }' "$OUT" | sort)" \
	"$(awk 'NR > 2 { printf "%s %.0f\n", $1, $3 * 1000 }' "$texts/function-stat" | sort)" 'trace_stat: the times'
run_pipe '"$BIN/pdecode" "$texts/function-stat"' '"$BIN/phist" --tsv --by func -f hits'
is "$(awk -F'\t' '!/^#/ { print $2, $4 }' "$OUT" | sort)" "$(awk 'NR > 2 { print $1, $2 }' "$texts/function-stat" | sort)" \
	'and the hits'
run_pipe '"$BIN/pdecode" "$texts/deepest-stack"' '"$BIN/pfold" --no-header 2>/dev/null'
is "$(awk '{ n += $NF } END { print n }' "$OUT")" "$(awk '$1 == "0)" { print $2 }' "$texts/deepest-stack")" \
	'the deepest stack: all frames together are its depth'
is "$(awk '{ n = gsub(/;/, ";"); if (n > most) { most = n; line = $0 } } END { sub(/^[^;]*;/, "", line); print line }' "$OUT")" \
	"$(awk '/^ *[0-9]+\)/ { sub(/\+.*/, "", $4); all = $4 (all ? ";" all : ""); if (!size) size = $3; f[NR] = $4 } END { n = split(all, x, ";"); print all, size }' "$texts/deepest-stack")" \
	'from the root to the leaf'
for f in function-stat deepest-stack; do
	run "$BIN/pdecode" -t "$texts/$f"
	same "$OUT" "$texts/$f" "$f: the text is as it was"
done
head -n 10 "$texts/hist-stack" >open.txt
run "$BIN/pdecode" -t open.txt
same "$OUT" open.txt 'a row without an end is text'

# --- stacks ---
# The functions of each event with a stack, root first, as pfold writes them.
awk '
function out() { if (n) { for (line = comm; n; n--) line = line ";" f[n]; print line, 1 } n = 0 }
/^ *=>/ { if (!open) n = 0; open = 1; f[++n] = $2; next }
{ out(); open = 0 }
/^[# ]*#/ { next }
/<stack trace>/ { next }
{ comm = $1; sub(/-[0-9]*$/, "", comm) }
END { out() }' "$texts/function-stack" | sort | uniq -c | awk '{ $NF = $1; sub(/^ *[0-9]* /, ""); print }' >want
run_pipe '"$BIN/pdecode" "$texts/function-stack"' '"$BIN/pfold"'
grep -v '^# event: ' "$OUT" | sort | sed 's/_\[[km]\]//g' >got
sort want >want.sorted
same got want.sorted 'pfold folds the stacks after events'
run_pipe '"$BIN/pdecode" "$texts/function-stack"' '"$BIN/psym"' '"$BIN/pfold"'
grep -v '^# event: ' "$OUT" | sort | sed 's/_\[[km]\]//g' >got
same got want.sorted 'psym leaves them as they are'
run_pipe '"$BIN/pdecode" "$texts/graph-time-task"' '"$BIN/pfold"'
like "$OUT" 'prepare_to_wait_event;_raw_spin_unlock_irqrestore;local_clock' \
	'calls of the function graph tracer have their callers'
run "$BIN/pdecode" -j "$texts/graph-time-task"
like "$OUT" '"funcgraph_exit".*"time":264723977000,"cpu":0,"pid":1172,"tid":1172,"comm":"wl"|"event":"ftrace:funcgraph_exit","time":264723977000' \
	'with time and task'
# Calls that began before the text does: how long they took is known, their names are not.
cat >cut.txt <<'T'
 0)   0.586 us    |          foo();
 0)   2.668 us    |        }
 0)   3.268 us    |      }
 0)               |      bar() {
 0)   1.268 us    |      }
T
run_pipe '"$BIN/pdecode" cut.txt' '"$BIN/pfold" --no-header'
printf '[unknown];[unknown] %d\n[unknown];[unknown];bar 1268\n[unknown];[unknown];foo 586\n' $((3268 - 586)) >want
same "$OUT" want 'calls whose beginning is not there are [unknown]'

# --- fields ---
cat >odd.txt <<'T'
  a b-7 [001] d..2. 1.000001: odd: n=1 text=one
  a b-7 [001] d..2. 1.000002: odd: n=two text=2
  a b-7 [001] d..2. 1.000003: odd: text=3 late=0x10
T
run "$BIN/pdecode" -j odd.txt
is "$(grep -c '"name":"odd"' "$OUT")" 3 'a descriptor is defined again for what does not fit'
grep '"name":"odd"' "$OUT" | sed 's/.*"name":"n","type":"\([^"]*\)".*/\1/' >got
printf 's64\n__data_loc char[]\n__data_loc char[]\n' >want
same got want 'a number becomes a text'
is "$(grep '"name":"odd"' "$OUT" | tail -n 1 | grep -c '"name":"late","type":"u64"')" 1 \
	'a field that comes late'

# --- losses and damage ---
run "$BIN/pdecode" -s -b "$texts/odd"
is "$(stats 'lost by the recorder' "$ERR")" 20 'lost events: 12, an unknown number, 7 of the head'
run "$BIN/pdecode" --strict -b "$texts/odd"
is "$status" 1 '--strict makes them exit status 1'
like "$ERR" '1 lines are not events' 'lines that are no events are counted'
run "$BIN/pdecode" -s -t "$texts/odd"
printf '%s' "$(cat odd.txt)" >cut.txt
run "$BIN/pdecode" -s -b cut.txt
is "$status" 1 'a last line without an end: cut off'
like "$ERR" 'the last line has no end' 'it is reported'
is "$(stats samples "$ERR")" 2 'and it is no event'
bad=
size=0
step=37
sanitized && step=397
total=$(wc -c <sched.txt)
while [ "$size" -lt "$total" ]; do
	head -c "$size" sched.txt >cut.txt
	run "$BIN/pdecode" -s -b cut.txt
	[ "$status" -le 2 ] || bad="$bad $size:$status"
	got=$(stats samples "$ERR")
	[ "${got:-0}" = "$(sed '$d' cut.txt | cat - cut.txt | sort | uniq -d | grep -c '^ ')" ] ||
		[ "${got:-0}" -le "$events" ] || bad="$bad $size:$got"
	size=$((size + step))
done
is "$bad" '' 'cut anywhere: no crash, no event too many'
{
	cat odd.txt
	head -c 70000 /dev/zero | tr '\0' x
	echo
	head -c 3000 "$BIN/pdecode"
	echo
	cat odd.txt
} >garbage.txt
run "$BIN/pdecode" -s -b garbage.txt
is "$status" 0 'garbage between the lines'
is "$(stats samples "$ERR")" 6 'does not hide them'
head -c 5000 "$BIN/pdecode" | tail -c 4000 >binary
run "$BIN/pdecode" -b binary
is "$status" 2 'bytes that are no text are refused'
printf 'perf 7 [000] 1.5: cycles:\n\tffff a (b)\n\n' >perf.txt
run "$BIN/pdecode" -b perf.txt
is "$status" 2 'and so is the perf script text'

# --- with others ---
gunzip -c "$ROOT/t/data/trace-v6.dat.gz" >v6.dat
run "$BIN/pdecode" -j --offset odd.txt:284s odd.txt v6.dat
sed -n 's/^{"type":"sample".*"time":\([0-9]*\).*/\1/p' "$OUT" >got
sort -n got >want
same got want 'merged with a trace.dat, in the order of time'
is "$(grep -c '"event":"odd"' "$OUT")" 3 'with all of both'

# A field called as something that each event has: the event's name stays its own.
printf '%s\n' '  a-598 [003] .... 1.0: event: event: abc xyz =0x34' '  a-598 [003] .... 1.1: mark: x=1' >event.txt
"$BIN/pdecode" event.txt >event.ps 2>/dev/null
run "$BIN/phist" --by event event.ps
is "$(awk 'NR > 1 { print $1, $2 }' "$OUT" | sort | tr '\n' ' ')" 'event 1 mark 1 ' 'a field called event does not hide the name'
run "$BIN/phist" --by args.event event.ps
is "$(sed -n '2s/  .*//p' "$OUT")" 'abc xyz =0x34' 'and has a name of its own'
done_testing
