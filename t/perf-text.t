#!/bin/sh
# pdecode -t and what it prints: -F and its kin. The text itself is compared with that of perf script
# where perf is installed.
. "${0%/*}/lib.sh"

small=$ROOT/t/data/small.data # cpu-clock with call chains, three tracepoints
dat=$ROOT/t/data/trace-zlib.dat
pdecode=$BIN/pdecode

# --- fields ---
run "$pdecode" -t -F comm,pid,tid "$small"
is "$status" 0 '-F'
is "$(grep -vcE '^ +busy +[0-9]+/[0-9]+ *$' "$OUT")" 0 'prints the fields of the list, and no others'
is "$(wc -l <"$OUT" | tr -d ' ')" 81 'a line for each sample'
run "$pdecode" -t -F trace: -F event "$small"
is "$(sort -u "$OUT" | wc -l | tr -d ' ')" 4 'the last list of all kinds holds for all'
run "$pdecode" -t -F trace: "$small"
is "$(grep -c sched: "$OUT")" 0 'an empty list leaves out a kind of event'
is "$(grep -c cpu-clock "$OUT")" 77 'but no other'
run "$pdecode" -t -F +pid,-comm "$small"
is "$(grep -c '^ *[0-9][0-9]*/[0-9][0-9]* .*cpu-clock: *$' "$OUT")" 77 'signs add and remove'
run "$pdecode" -t -F comm,time,addr,weight "$small"
is "$status" 0 'fields that were not recorded'
like "$ERR" '^pdecode: software events, such as cpu-clock, were recorded without: addr, weight$' 'are reported'
unlike "$ERR" 'hardware|breakpoint' 'for kinds of events that occur'
is "$(grep -vcE '^ +busy +[0-9]+\.[0-9]{6}: *$' "$OUT")" 0 'and left out'
run "$pdecode" -t -F comm,perriod "$small"
is "$status" 64 'an unknown field is wrong usage'
like "$ERR" "no such field: 'perriod'; did you mean 'period'" 'with the nearest one'
run "$pdecode" -t -F insn "$small"
is "$status" 64 'a field of perf that is not to be had'
like "$ERR" "'insn' needs decoded hardware traces" 'is told from one that nobody knows'
run "$pdecode" -t -F event,time,trace,cpu "$dat"
is "$(grep -cE '^\[[0-9]{3}\] +[0-9]+\.[0-9]{6}: +[a-z_]+:[a-z_]+: ' "$OUT")" "$(wc -l <"$OUT" | tr -d ' ')" \
	'with -F a trace.dat is printed as perf would'
run_pipe '"$pdecode" "$small"' '"$BIN/psym" -t -F comm,ip'
cut -c 1-17 <"$OUT" >first
run_pipe '"$pdecode" "$small"' '"$BIN/psym" -t -F comm,ip,sym,dso'
is "$statuses" '0 0' 'psym has the same options'
cut -c 1-17 <"$OUT" >second
same second first 'symbols come after the addresses'
like "$OUT" '\(\[kernel' 'objects in parentheses'
run_pipe '"$pdecode" "$small"' '"$BIN/psym" -t -G -F comm,ip,sym'
is "$(grep -c . "$OUT")" 81 '-G: no call chains'

# --- times ---
run "$pdecode" -t -G -F time "$small"
cp "$OUT" times
run "$pdecode" -t -G -F time --ns "$small"
sed 's/\(\.[0-9]\{6\}\)[0-9]\{3\}: /\1: /' "$OUT" >cut.txt
same cut.txt times '--ns has three digits more'
awk '{ t = $1 + 0; if (NR == 1) first = t; printf "%12.6f: \n", t - first }' times >rel
run "$pdecode" -t -G -F time --reltime "$small"
awk 'NR == FNR { want[NR] = $1 + 0; next }
	{ d = $1 - want[FNR]; if (d > 0.0000015 || d < -0.0000015) bad++ }
	END { print bad + 0, FNR }' rel "$OUT" >result
is "$(cat result)" '0 81' '--reltime counts from the first line'
run "$pdecode" -t -G -F time --deltatime --ns "$small"
is "$(head -n 1 "$OUT")" '    0.000000000: ' '--deltatime begins with 0'
awk '{ sum += $1 } END { printf "%.5f\n", sum }' "$OUT" >sum
tail -n 1 rel | awk '{ printf "%.5f\n", $1 }' >last
same sum last 'and its times add up to the whole'

# --- the time of day ---
clock=$ROOT/t/data/clock-realtime.data
"$pdecode" -t --ns -F time "$clock" | tr -d ' :' >seconds
"$pdecode" -j "$clock" | sed -n 's/.*"key":"wall_offset","value":"\(.*\)".*/\1/p' >offset
is "$(cat offset)" -48472 'a recording by the time of day: what its clock lacks to it'
while read -r t; do
	ns=$((${t%.*} * 1000000000 + $(echo "${t#*.}" | sed 's/^0*//') - 48472))
	printf '%s.%06d \n' "$(date -u -d "@$((ns / 1000000000))" '+%Y-%m-%d %H:%M:%S')" \
		$((ns % 1000000000 / 1000))
done <seconds >want
run "$pdecode" -t -F tod "$clock"
same "$OUT" want '-F tod: the time of day of each sample'
ok 'there are some' test -s want
run "$pdecode" --offset 2000000us -t -F tod "$clock"
awk '{ print $1 }' "$OUT" | sort -u >day
is "$(cat day)" "$(awk '{ print $1 }' want | sort -u)" 'with --offset: the same day'
awk '{ split($2, a, ":"); printf "%.6f\n", a[1] * 3600 + a[2] * 60 + a[3] }' "$OUT" >shifted
awk '{ split($2, a, ":"); printf "%.6f\n", a[1] * 3600 + a[2] * 60 + a[3] + 2 }' want >expected
same shifted expected 'two seconds later'
run "$pdecode" -t -F comm,tod "$small"
like "$ERR" 'were recorded without: tod' 'a recording that does not tell: said'
is "$status" 0 'and left out'

# --- JSON: the fields of tracepoints are what libtraceevent prints of them ---
if have python3; then
	cat >fields.py <<'EOF'
import json, sys
for line in sys.stdin:
    r = json.loads(line)
    if r["type"] != "sample" or not r["event"].startswith("sched:"):
        continue
    f = r["fields"]
    if r["event"] == "sched:sched_process_exec":
        print("filename=%s pid=%d old_pid=%d" % (f["filename"], f["pid"], f["old_pid"]))
    elif r["event"] == "sched:sched_process_exit":
        print("comm=%s pid=%d prio=%d group_dead=%s"
              % (f["comm"], f["pid"], f["prio"], "true" if f["group_dead"] else "false"))
    elif r["event"] == "sched:sched_process_fork":
        print("comm=%s pid=%d child_comm=%s child_pid=%d"
              % (f.get("parent_comm"), f["parent_pid"], f.get("child_comm"), f["child_pid"]))
    assert "payload" not in r
EOF
	"$pdecode" -t -F trace:trace -F sw: -F trace:trace "$small" | sed 's/ *$//' >text
	run_pipe '"$pdecode" -j "$small"' 'python3 fields.py'
	is "$statuses" '0 0' 'each line of -j is JSON'
	same "$OUT" text 'with the fields of tracepoints by their names'
else
	skip 2 'python3 is not installed'
fi

# --- the same as perf ---
if ! have perf || ! perf script -f -i "$small" --symfs /none >/dev/null 2>&1; then
	skip 12 'perf cannot read the recording'
	done_testing
	exit
fi
run "$ROOT/t/oracle/perf-script" -v -F comm,tod,time "$clock"
is "$status" 0 '-F tod as perf script has it'
[ "$status" = 0 ] || diag_file "$OUT"
for f in comm,pid,tid,cpu,time,event,period,ip,trace comm pid,trace tid,time,misc +pid,-comm trace:event,trace \
	-ip,+addr; do
	run "$ROOT/t/oracle/perf-script" -v -F "$f" "$small"
	is "$status" 0 "-F $f as perf script has it"
	[ "$status" = 0 ] || diag_file "$OUT"
done
for o in --ns --reltime --deltatime -G; do
	run "$ROOT/t/oracle/perf-script" -v -F comm,time,ip -o "$o" "$small"
	is "$status" 0 "$o as perf script has it"
	[ "$status" = 0 ] || diag_file "$OUT"
done
done_testing
