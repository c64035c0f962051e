#!/bin/sh
# t/bench/measure: the account of a pipeline, against stages of which it is known. No times: a busy
# machine is no failure, so only lower bounds that cannot be undercut.
. "${0%/*}/lib.sh"
plan 7

field() {
	cut -f "$1" "$OUT"
}

at_least() {
	awk -v v="$1" -v min="$2" 'BEGIN { exit !(v + 0 >= min + 0) }'
}

run "$MEASURE" 'sh -c "exit 3"' 'no-such-program' 'true'
is "$(field 5)" '3,127,0' 'each stage has its status'
run "$MEASURE" -n 3 'sleep 0.1' 'sh -c "kill -9 \$\$"'
is "$(field 5)" '0,137' 'a signal is 128 and its number'
ok 'wall time' at_least "$(field 1)" 0.1
run "$MEASURE" 'yes' 'head -c 3000000' 'perl -e "my @x = (1) x 5000000; print while <STDIN>" >kept'
is "$(wc -c <kept)" 3000000 'stages are connected'
ok 'peak memory of a perl with five million numbers' at_least "$(field 4)" 40000
ok 'the sum is larger than the largest' at_least "$(field 3)" "$(($(field 4) + 1))"
run "$MEASURE"
is "$status" 64 'no command is wrong usage'
