#!/bin/sh
# plat --emit wall: the whole time of each thread, by state. The oracle is a replay of the events' text by awk.
. "${0%/*}/lib.sh"

# replay: from pdecode -j, lines "TID STATE NS", by the rules for threads whose switches are all there: running from a
# switch to it to the next one from it, runnable from a wakeup, or a switch that it did not want, to the switch to it,
# else blocked. Threads that ran, or slept, before their first event did so since the first event of all.
replay() {
	awk '
	function get(key,   s) {
		if (!match($0, "\"" key "\":-?[0-9]+"))
			return ""
		s = substr($0, RSTART, RLENGTH)
		sub(/.*:/, "", s)
		return s
	}
	function go(tid, next_state, t) {
		if (tid in state)
			sum[tid " " state[tid]] += t - since[tid]
		state[tid] = next_state
		since[tid] = t
	}
	function first(tid, what) {
		if (!(tid in state)) {
			state[tid] = what
			since[tid] = begin
		}
	}
	!/"type":"sample"/ { next }
	{
		now = get("time") + 0
		begin = begin ? begin : now
	}
	/"event":"sched:sched_switch"/ {
		from = get("prev_pid") + 0; to = get("next_pid") + 0; s = get("prev_state")
		if (from) {
			first(from, "running")
			go(from, s % 1024 == 0 || s == 256 ? "runnable" : "blocked", now)
			if (early[from] && state[from] == "blocked")
				state[from] = "maybe"
			early[from] = 0
			if (s == 16 || s == 32) { delete state[from]; gone[from] = 1 }
		}
		if (to) {
			first(to, "unknown")
			if (state[to] == "maybe")
				state[to] = "runnable"
			go(to, "running", now)
		}
	}
	/"event":"sched:sched_wak/ {
		tid = $0; sub(/.*"fields":/, "", tid); sub(/.*"pid":/, "", tid); sub(/,.*/, "", tid)
		if (/wakeup_new/) {
			state[tid] = "runnable"
			since[tid] = now
			next
		}
		first(tid, "blocked")
		if (state[tid] == "maybe")
			state[tid] = "blocked"
		if (state[tid] == "blocked")
			go(tid, "runnable", now)
		else if (state[tid] == "running")
			early[tid] = 1
	}
	END {
		for (tid in state)
			go(tid, "", now)
		for (k in sum)
			if (sum[k])
				printf "%s %.0f\n", k, sum[k]
	}' | sort
}

# walled FILE: the same from what plat wrote.
walled() {
	"$BIN/phist" --by tid,key_text -f period --tsv "$1" | awk -F'\t' '
		/^period by/ {
			state = "blocked"
			if ($3 == "[running]" || $3 == "[interrupted]")
				state = "running"
			else if ($3 == "[runnable]" || $3 == "[not known]")
				state = $3 == "[runnable]" ? "runnable" : "unknown"
			sum[$2 " " state] += $5
		}
		END {
			for (k in sum)
				printf "%s %.0f\n", k, sum[k]
		}' | sort
}

# field NAME: the numbers of a key in lines of JSON.
field() {
	sed -n 's/.*"'"$1"'":\([0-9]*\).*/\1/p'
}

for file in sched.data sched.dat sched-stacks.data; do
	case $file in
	*.dat) cp "$ROOT/t/data/$file" . ;;
	*) gunzip -c "$ROOT/t/data/$file.gz" >$file || exit 1 ;;
	esac
	"$BIN/pdecode" $file 2>/dev/null >$file.ps
	"$BIN/pdecode" -j $file.ps 2>/dev/null >json
	replay <json >want
	run "$BIN/plat" --emit wall --idle $file.ps
	is "$status" 0 "$file"
	cp "$OUT" wall.ps
	walled wall.ps >all

	# The replay knows no births but by sched_wakeup_new, and guesses what was before the first event.
	grep '"type":"fork".*"flags":0\|"type":"exit"' json | field tid >other
	cat want all | awk '$2 == "unknown" { print $1 }' >>other
	awk 'FILENAME == "other" { skip[$1] = 1; next } !($1 in skip)' other want >want.known
	awk 'FILENAME == "other" { skip[$1] = 1; next } FILENAME == "want" { tids[$1] = 1; next }
		$1 in tids && !($1 in skip)' other want all >got
	same got want.known "$file: running, runnable, blocked, to the nanosecond"
	ok 'of many threads' test "$(cut -d' ' -f1 got | sort -u | grep -c .)" -ge 3

	# Each thread's times add up to its life; those that were there all the time have that of the recording.
	grep '"type":"sample"' json | field time | sort -n | sed -n '1p;$p' >ends
	life=$(awk 'NR == 1 { a = $1 } END { printf "%.0f", $1 - a }' ends)
	awk -v life="$life" 'FILENAME == "other" { skip[$1] = 1; next } { sum[$1] += $3 }
		END { for (t in sum) if (sum[t] != life && !(t in skip)) printf "%s: %.0f of %s\n", t, sum[t], life }' \
		other all >short
	grep -h '"type":"sample"' json | grep -c sched_wakeup_new >/dev/null && awk -F: '{ print $1 }' short |
		while read -r tid; do
			grep -q "sched_wakeup_new.*\"pid\":$tid,\|prev_pid\":$tid,.*prev_state\":\(16\|32\)," json || echo "$tid"
		done >short.old
	is "$(cat short.old)" '' "$file: the times of each thread add up to its life"
done

# Without --idle, what is set aside is what is missing.
run "$BIN/plat" --emit wall sched.data.ps
cp "$OUT" busy.ps
like "$ERR" 'at idle places are left out' 'what is idle is left out'
"$BIN/plat" --emit wall --idle sched.data.ps >whole.ps 2>/dev/null
"$BIN/phist" --by key_text -f period --tsv whole.ps | grep -v idle >want
"$BIN/phist" --by key_text -f period --tsv busy.ps >got
cut -f 2-4 want | sort | tail -n +2 >want.1
cut -f 2-4 got | sort | tail -n +2 >got.1
same got.1 want.1 'and nothing else is'

# The picture: its own palette and legend.
"$BIN/pfold" busy.ps 2>/dev/null >busy.folded
like busy.folded '\[runnable\] [0-9]' 'the state is the innermost frame'
run "$BIN/psvg" busy.folded
like "$OUT" 'id="legend".*waiting for a CPU' 'the legend'
run "$BIN/psvg" --colors hot busy.folded
unlike "$OUT" 'waiting for a CPU' 'another palette has none'

# A recording of our own: what is in it, and that a child's life is.
# It makes no other process, and shares its CPUs with one that is none of the recording's.
cp "$(command -v sh)" spinner
spinners=
for _ in $(seq "$(nproc)"); do
	./spinner -c 'while :; do :; done' &
	spinners="$spinners $!"
done
"$BIN/pcap-perf" --wall -o own.data -- sh -c 'exec 3<.; i=0; while [ $i -lt 100000 ]; do i=$((i + 1)); done' 2>own.err
recorded=$?
# shellcheck disable=SC2086
{ kill $spinners && wait; } 2>/dev/null
if [ "$recorded" = 0 ]; then
	run "$BIN/pdecode" own.data
	cp "$OUT" own.ps
	"$BIN/pdecode" --list own.ps >events 2>/dev/null
	for event in cpu-clock sched:sched_switch sched:sched_wakeup_new 'sched:sched_wak(ing|eup)'; do
		like events "$event" "--wall records $event"
	done
	"$BIN/plat" --emit wall --idle own.ps >own.wall 2>/dev/null
	"$BIN/phist" --by comm -f period --tsv own.wall >own.comms
	like own.comms "	sh	" 'the times of the command'
	unlike own.comms "	spinner	" 'and of nothing else'
	run "$BIN/pcap-perf" --wall -c 1000 -o no.data -- true
	like "$ERR" 'samples at a frequency' '--wall with a period'
else
	skip 7 'recording is not allowed here'
fi

# A device that a wait was for has the name that it has here.
if "$BIN/pcap-perf" --wall -a -e block:block_rq_complete -o disk.data -- \
	dd if=/dev/zero of=./written bs=1M count=8 oflag=direct 2>disk.err &&
	"$BIN/pdecode" disk.data 2>/dev/null | "$BIN/plat" --path --of process --tsv 2>/dev/null |
	sed -n 's/.*\[disk\] \([^ ]*\) [A-Z].*/\1/p' | sort -u >devices && [ -s devices ]; then
	sed 's|^|/sys/class/block/|' devices | xargs ls -d >/dev/null 2>missing
	empty missing 'devices of waits have names'
	diag_file devices
else
	skip 1 'no write here waits for a block device, or it cannot be recorded'
fi

# Events of a CPU were lost before its next one: what sleeps or waits meanwhile is not known. Of many losses in one wait
# the pieces are few.
cat >lost.txt <<'EOF'
            a-10    [001] .....  0.001000: sched_switch: prev_comm=a prev_pid=10 prev_prio=120 prev_state=S ==> next_comm=b next_pid=20 next_prio=120
            b-20    [001] .....  0.002000: sched_waking: comm=c pid=40 prio=120 target_cpu=001
CPU:1 [LOST 3 EVENTS]
            b-20    [001] .....  0.003000: sched_waking: comm=d pid=41 prio=120 target_cpu=001
            b-20    [001] .....  0.005000: sched_waking: comm=a pid=10 prio=120 target_cpu=001
            b-20    [001] .....  0.006000: sched_switch: prev_comm=b prev_pid=20 prev_prio=120 prev_state=R ==> next_comm=a next_pid=10 next_prio=120
            a-10    [001] .....  0.007000: sched_waking: comm=d pid=41 prio=120 target_cpu=001
EOF
"$BIN/pdecode" lost.txt 2>/dev/null >lost.ps
run "$BIN/plat" --emit wall --idle lost.ps
cp "$OUT" lost.wall
is "$status" 1 'events were lost: the result is partial'
like "$ERR" '3 events were lost' 'and that is reported'
"$BIN/phist" --by comm,key_text -f period --tsv lost.wall 2>/dev/null | awk -F'\t' '
	/^period/ { print $2, $3, $5 / 1000 }' | grep '^[ab]' | sort >got
cat >want <<'EOF'
a [blocked] 3000
a [not known] 1000
a [runnable] 1000
a [running] 1000
b [not known] 1000
b [runnable] 1000
b [running] 4000
EOF
same got want 'what was lost is neither running nor waiting'
awk 'BEGIN {
	for (i = 0; i < 1000; i++)
		printf "a-%d [001] ..... 1.%06d: sched_switch: prev_comm=a prev_pid=%d prev_prio=120 prev_state=S ==> next_comm=a next_pid=%d next_prio=120\n", 10 + i, i, 10 + i, 11 + i
	for (; i < 2000; i++) {
		printf "a-1010 [001] ..... 1.%06d: sched_waking: comm=c pid=5 prio=120 target_cpu=001\n", 2 * i
		print "CPU:1 [LOST 1 EVENTS]"
	}
}' >many.txt
"$BIN/pdecode" many.txt 2>/dev/null | "$BIN/plat" --emit wall --idle 2>/dev/null >many.wall
ok 'many threads sleep while events are lost often: no piece for each of both' test "$(wc -c <many.wall)" -lt 10000000
ok 'all are there' test "$("$BIN/phist" --by tid --tsv many.wall 2>/dev/null | grep -c '^events')" -ge 1000

# Nothing lasts longer than the recording, though an end or a switch may come before its first sample.
cp "$ROOT/t/data/clock-realtime.data" .
"$BIN/pdecode" clock-realtime.data 2>/dev/null >early.ps
"$BIN/plat" --emit wall --idle early.ps 2>/dev/null | "$BIN/phist" --by tid -f period --tsv 2>/dev/null |
	awk -F'\t' '/^period/ && $4 > 60e9' >longer
empty longer 'no thread has more time than the recording'

# What cannot be.
"$BIN/pdecode" "$ROOT/t/data/small.data" 2>/dev/null >small.ps
run "$BIN/plat" --emit wall small.ps
is "$status" 1 'no switches'
like "$ERR" 'no switches: record with pcap-perf --wall' 'it says how to record'
run "$BIN/plat" --idle sched.data.ps
is "$status" 64 '--idle without --emit wall'
run "$BIN/plat" --emit wall --by comm sched.data.ps
is "$status" 64 'a table of it'
head -c 20000 sched.data.ps >cut.ps
run "$BIN/plat" --emit wall cut.ps
is "$status" 1 'cut off'

done_testing
