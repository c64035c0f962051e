#!/bin/sh
# Results while the recording runs: tables of periods, and how long events take through a pipe.
. "${0%/*}/lib.sh"

data=$ROOT/t/data

# What was written for the sum: all after its head.
sum() {
	awk 'on { print } /^sum / { on = 1 }' "$@"
}

# --- tables of periods, of a recording that is whole ---

"$BIN/pdecode" "$data/sched.dat" >sched.ps
# A line for each period: where it begins, and the events of each thread in it, by text.
"$BIN/pdecode" -t --ns "$data/sched.dat" |
	sed -n 's/^ *\(.*\)-[0-9]* *\[[0-9]*\] *\([0-9]*\)\.\([0-9]*\): .*/\2\3 \1/p' >events
isnt "$(wc -l <events)" 0 'the recording has events'
awk -v every=100000000 'NR == 1 { first = $1 }
	{
		time = $1
		sub(/^[^ ]* /, "")
		n[int((time - first) / every) " " $0]++
	}
	END { for (k in n) print k, n[k] }' events | sort >want
run "$BIN/phist" --by COMM --every 100ms --tsv sched.ps
is "$status" 0 'phist --every'
awk -F'\t' '/^#/ { on = match($1, / period=[0-9]+/)
		at = substr($1, RSTART + 8, RLENGTH - 8)
		first = first ? first : at
		next
	}
	on { print (at - first) / 100000000 " " $2, $3 }' "$OUT" | sort >got
same got want 'the counts of each period are those of the text'
is "$(awk -F'\t' '/^#/ && match($1, / period=[0-9]+,[0-9]+/) {
		split(substr($1, RSTART + 8, RLENGTH - 8), t, ",")
		if (last && t[1] != last) print "gap"
		last = t[2]
	} END { print last }' "$OUT")" "$(awk 'END { print $1 }' events)" \
	'one follows the other, and the last ends with the last event'

# The sum is the table that there is without the option, in each form.
for filter in 'phist --by comm' 'phist -f prev_prio --by prev_comm,common_pid --log2' 'phist --by comm,cpu -n 4' \
	plat 'plat --by comm -n 3' 'plat --kind offcpu --log2'; do
	tool=${filter%% *}
	args=${filter#"$tool"}
	# shellcheck disable=SC2086
	{
		"$BIN/$tool" $args sched.ps >want 2>want.err
		for more in '' --cumulative; do
			run "$BIN/$tool" $args --every 50ms $more sched.ps
			sum "$OUT" >got
			same got want "$filter --every $more: the sum"
			same "$ERR" want.err 'and the messages'
		done
		"$BIN/$tool" $args --tsv sched.ps >want 2>want.err
		run "$BIN/$tool" $args --every 50ms --tsv sched.ps
		awk -F'\t' '/^#/ { part = / period=/ } !part' "$OUT" >got
		same got want "$filter --every --tsv: the sum"
		isnt "$(grep -c ' period=' "$OUT")" 0 'comes after periods'
		"$BIN/phist" --merge --tsv want >merged.want
		"$BIN/phist" --merge --tsv "$OUT" >merged
		same merged merged.want 'and is what others read'
		"$BIN/$tool" $args --json sched.ps >want 2>want.err
		run "$BIN/$tool" $args --every 50ms --json sched.ps
		grep -v '"period":{"begin":[0-9]*,"end":[0-9]*}' "$OUT" >got
		same got want "$filter --every --json: the sum"
	}
done
"$BIN/phist" --by comm --every 200ms --tsv sched.ps | awk -F'\t' '/^#/ && !/ period=/ { exit } { print }' >cut.tsv
run "$BIN/phist" --merge cut.tsv
is "$status" 1 'periods without their sum are a table that was cut off'
like "$ERR" 'sum of the periods is missing' 'which is reported'
# Two streams in a row have times of their own.
cat sched.ps sched.ps >two.ps
"$BIN/phist" --by comm two.ps >want
run "$BIN/phist" --by comm --every 300ms two.ps
sum "$OUT" >got
same got want 'two recordings, one after the other: the sum'
n=$("$BIN/phist" --by comm --every 300ms sched.ps | grep -c '^period ')
is "$(grep -c '^period ' "$OUT")" $((n * 2)) \
	'has the periods of both'

for args in 'phist --every 1s --over-time=1s' 'phist --cumulative' 'phist --merge --every 1s' \
	'plat --every 1s --slower=1ms' 'plat --every 1s --emit offcpu' 'plat --cumulative' 'phist --every 0s' 'phist --every x'; do
	# shellcheck disable=SC2086
	run "$BIN"/$args sched.ps
	is "$status" 64 "$args: wrong usage"
done
run "$BIN/phist" --every 1s --sort nothing sched.ps
is "$status" 64 'no column to sort by'
is "$(grep -c 'no column' "$ERR")" 1 'is reported once'

# On a terminal of 10 lines and 40 columns.
if have script && script -qec true /dev/null >/dev/null 2>&1; then
	script -qec "stty rows 10 cols 40; '$BIN/phist' --by comm,event --every 100ms sched.ps" /dev/null >screen </dev/null
	esc=$(printf '\033')
	is "$(grep -c "${esc}\[[0-9]*A" screen)" "$(($(grep -c 'period ' screen) - 1))" 'a period is written over the one before'
	is "$(sed "/^sum/,\$d; s/${esc}\[[0-9]*A//; s/${esc}\[K//; s/${esc}\[J//; s/\r//g" screen | awk 'length > 40' | wc -l)" 0 \
		'no line is longer than the terminal'
	is "$(grep -o "${esc}\[[0-9]*A" screen | tr -dc '0-9\n' | sort -n | tail -n 1 | awk '{ print $1 < 10 }')" 1 \
		'no period is longer, either'
	like screen '^\.\.\. [0-9]+ more lines' 'what is left out is told'
	"$BIN/phist" --by comm,event sched.ps | grep -v '^comm ' >want
	sed '1,/^sum/d; s/\r//g' screen | grep -v -e '^comm ' -e 'phist: ' -e '^$' >got
	is "$(wc -l <got)" "$(wc -l <want)" 'the sum is whole'
else
	skip 5 'script is not installed'
fi

done_testing
