#!/bin/sh
# pfilter: what passes, beside what the text says; marks, slices, windows, files, messages.
. "${0%/*}/lib.sh"

pfilter=$BIN/pfilter
"$BIN/pdecode" "$ROOT/t/data/trace-zlib.dat" >s.ps
"$BIN/pdecode" -t --all s.ps | grep -v '^cpus=' >all.txt
"$BIN/pdecode" "$ROOT/t/data/small.data" >p.ps
total=$(wc -l <all.txt)

# passes FILE EXPR OPTION...: the lines of what passes, in $OUT; the status is that of pfilter.
passes() {
	passes_file=$1
	shift
	run "$pfilter" "$@" "$passes_file"
	mv "$OUT" out.ps
	"$BIN/pdecode" -t out.ps 2>/dev/null | grep -v '^cpus=' >"$OUT"
}

# wants NAME PROGRAM: $OUT is what awk picks out of all lines.
wants() {
	awk "$2" all.txt >want
	[ -s want ] || diag 'the test wants nothing'
	same "$OUT" want "$1"
}

# ---- what passes, and the marks ----

passes s.ps 'prev_state == R'
is "$status" 0 'an expression'
wants 'the text says the same of prev_state' '/sched_switch:.*\] R\+? ==>/'
"$BIN/pdecode" -t --all out.ps | grep -v '^cpus=' >again.txt
same again.txt all.txt 'every event is still there, and prints as before'
"$BIN/pdecode" -j --all s.ps | grep -v '^{"type":"\(sample\|provenance\|end\)' >context
"$BIN/pdecode" -j --all out.ps | grep -v '^{"type":"\(sample\|provenance\|end\)' >context2
same context2 context 'and every other record'
"$BIN/pdecode" -j --all out.ps | grep -c '"mark":"na"\|"mark":2' >na
passes s.ps -v 'prev_state == R'
wants 'inverted, what does not apply does not pass' '/sched_switch:/ && !/\] R\+? ==>/'
passes s.ps --drop 'prev_state == R'
"$BIN/pdecode" -t --all out.ps | grep -v '^cpus=' >again.txt
same "$OUT" again.txt '--drop leaves out the rest'
run_pipe '"$pfilter" "sched_switch:" s.ps' '"$pfilter" -t "COMM == \"<idle>\""'
is "$statuses" '0 0' 'one after the other'
grep -v '^cpus=' "$OUT" >both.txt
awk '/<idle>-0 .*sched_switch:/' all.txt >want
same both.txt want 'pass if they pass both'
run_pipe '"$pfilter" "sched_switch:" s.ps' '"$pfilter" ""' '"$pfilter" -s ""'
like "$ERR.3" '^pfilter: [1-9][0-9]* samples pass, 0 fail, it does not apply to [1-9][0-9]*$' \
	'a third state stays'
passes s.ps -e 'sched_switch: next_pid == 0' -e 'sched_wakeup:'
wants 'several expressions, of which one holds' '/sched_switch:.* ==> swapper/ || /sched_wakeup:/'
run "$pfilter" -s --lenient 'prev_state == 0 && bogus == 1' s.ps
like "$ERR" '^pfilter: 0 samples pass, [1-9][0-9]* fail, it does not apply to [1-9][0-9]*$' 'stats'
run "$pfilter" '' s.ps
"$BIN/pdecode" -t "$OUT" | grep -v '^cpus=' >again.txt
same again.txt all.txt 'an empty expression lets all pass'
passes p.ps 'period == 1 && event ~ "sched:*"'
is "$(grep -c sched: "$OUT")" 4 'fields of samples of perf.data'
passes p.ps 'cpu-clock: ip >= 0xffffffff80000000'
"$BIN/pdecode" -t -G -F event,ip p.ps | grep -c 'cpu-clock: *ffffffff' >want
is "$("$BIN/pdecode" -t -G -F event,ip out.ps | grep -c cpu-clock)" "$(cat want)" \
	'the instruction pointer'

# Functions of the kernel, with the symbols of the recording: trace-cmd prints their names.
passes s.ps 'ip == vfs_read'
wants 'a function' '/function: +vfs_read( |$)/'
passes s.ps 'ip.function == "vfs_read" || parent_ip ~ "ksys_w*"'
wants 'as the kernel has it, and a pattern' '/function: +vfs_(read|write)( |$)/'
passes s.ps 'function: ip !~ read'
wants 'a regular expression' '/function:/ && !/function: +[a-z_]*read/'
run "$pfilter" 'comm =~ "((a{1,255}){1,255}){1,255}"' s.ps
is "$status" 64 'a regular expression that would take gigabytes'
like "$ERR" 'too many repetitions' 'is refused'
# Addresses of 32 bits; first_function is c1000100 of the symbols in it.
"$ROOT/t/trace-make" version=6 long=4 | "$BIN/pdecode" >narrow.ps 2>/dev/null
passes narrow.ps 'ip =~ "^first_"'
is "$(grep -c 'function: *first_function' "$OUT")" 2 'a function at an address of 32 bits'
passes narrow.ps 'ip.function == first_function && parent_ip == second_function'
is "$(grep -c 'function: *first_function' "$OUT")" 1 'and its caller'
passes s.ps 'ip in ("vfs_read", "vfs_raed")'
wants 'a name that is misspelt beside one that is not' '/function: +vfs_read( |$)/'
is "$(cat "$ERR")" "pfilter: column 20: neither the kernel's symbols nor the samples have a function \
of this name; did you mean vfs_read?
  ip in (\"vfs_read\", \"vfs_raed\")
                     ^~~~~~~~~~" 'is reported'
run "$pfilter" -d 'ip != vfs_raed && parent_ip.function != x_y_z' s.ps
is "$(grep -c 'neither' "$ERR")" 2 'also of what everything passes'
run "$pfilter" -d 'ip == vfs_read || ip == schedule || ip ~ "vfs_raed*"' s.ps
is "$(cat "$ERR")" '' 'not of a function that is there, nor of patterns'
printf 'ffffffff81000000 T all_of_it\nffffffffff000000 T end\n' >kallsyms
passes s.ps --kallsyms kallsyms 'function: ip == all_of_it'
wants 'the symbols that are given' '/function:/'
run "$pfilter" 'common_type != 0 && CPU.function == x' s.ps
is "$status" 2 'a number that is no address'
run "$pfilter" 'ip == vfs_read' p.ps
is "$status" 2 'no symbols'
like "$ERR" "the stream has no name for any value of 'ip'" 'which is reported'

# Symbols: what pfold prints says the same.
"$BIN/pdecode" "$ROOT/t/data/demo.pstream.zst" >d.ps
"$BIN/pfold" --no-header d.ps >folded
symbols() { # NAME EXPR GREP-OPTION... PATTERN
	run_pipe "\"\$pfilter\" -d '$2' d.ps" '"$BIN/pfold" --no-header'
	name=$1
	shift 2
	grep -E "$@" folded >want
	ok "$name: there are some" test -s want
	same "$OUT" want "$name"
}
symbols 'any frame' 'stack == sreader_next' '[;]sreader_next[; ]'
symbols 'no frame' 'stack != sreader_next' -v '[;]sreader_next[; ]'
symbols 'the leaf' 'leaf ~ "__mem*"' ';__mem[^;]* [0-9]+$'
symbols 'the caller' 'caller == sreader_next' ';sreader_next;[^;]* [0-9]+$'

# ---- slices ----

passes s.ps --cpu 1
wants '--cpu' '/\[001\]/'
passes s.ps --cpu 0 --cpu 1-3
same "$OUT" all.txt '--cpu twice, a range'
passes s.ps --comm 'wl,trace*'
wants '--comm' '/^(b2:)? *(wl|trace[^ ]*)-[0-9]+ /'
passes s.ps --tid 0
wants '--tid' '/<idle>-0 /'
passes s.ps --pid 552 --cpu 0
wants 'two slices' '/-552 +\[000\]/'
passes s.ps -v --tid 0 'sched_switch:'
is "$(wc -l <"$OUT")" 0 'slices are not inverted, nor what does not apply'
passes s.ps -n 5 'sched_switch:'
awk '/sched_switch:/ && n++ < 5' all.txt >want
same "$OUT" want '-n'
passes s.ps --every 3 'sched_switch:'
awk '/sched_switch:/ && n++ % 3 == 0' all.txt >want
same "$OUT" want '--every'
passes s.ps --sample 50% --seed 7
cp "$OUT" first
passes s.ps --sample 0.5 --seed 7
same "$OUT" first '--sample: the same seed, the same choice'
passes s.ps --sample 0.5 --seed 8
ok 'another seed, another choice' test "$(cmp -s first "$OUT"; echo $?)" = 1
n=$(wc -l <first)
ok "a half of $total is about $n" test $((n * 4)) -gt "$total" -a $((n * 4)) -lt $((total * 3))

# The times of the lines, in microseconds.
seconds() {
	awk -v from="$1" -v to="$2" '{
		match($0, /[0-9]+\.[0-9]+:/)
		t = substr($0, RSTART, RLENGTH - 1) + 0
		if (t >= from && t <= to) print
	}' all.txt >want
}
first=$("$BIN/pdecode" -j s.ps | sed -n 's/.*"type":"sample".*"time":\([0-9]*\).*/\1/p' | sort -n | head -n 1)
last=$("$BIN/pdecode" -j s.ps | sed -n 's/.*"type":"sample".*"time":\([0-9]*\).*/\1/p' | sort -n | tail -n 1)
passes s.ps --time 354.25..354.3
seconds 354.25 354.3
same "$OUT" want '--time from the clock'
passes s.ps --time ..354.25,354.3..
awk '{ match($0, /[0-9]+\.[0-9]+:/); t = substr($0, RSTART, RLENGTH - 1) + 0
	if (t <= 354.25 || t >= 354.3) print }' all.txt >want
same "$OUT" want 'two spans, open ones'
passes s.ps --time 354.25,354.3
seconds 354.25 354.3
same "$OUT" want 'as perf script writes it'
passes s.ps "TIME in $first..$((first + 20000000))"
cp "$OUT" want
passes s.ps --time +0..+20ms
same "$OUT" want '--time from the start'
passes s.ps "TIME >= $((last - 20000000))"
cp "$OUT" want
passes s.ps --time -20ms..
same "$OUT" want 'and back from the end'
passes s.ps "TIME in $((first + (last - first + 2) / 4))..$((first + (last - first + 1) / 2))"
cp "$OUT" want
passes s.ps --time 25%/2
same "$OUT" want '--time as a part'
passes s.ps --time 25%-50%
same "$OUT" want 'or in percent'
run_pipe 'cat s.ps' '"$pfilter" --time 25%/2' '"$BIN/pdecode" -t'
is "$statuses" '0 0 0' 'from a pipe'
grep -v '^cpus=' "$OUT" >got
same got want 'the same'
run_pipe 'cat s.ps p.ps' '"$pfilter" -s --time ..0% -' 'cat >two.ps'
like "$ERR.2" '^pfilter: 2 samples pass' 'each stream has a beginning of its own'

# ---- windows ----

passes s.ps --after 'sched_waking: pid == 551' --before 'sched_switch: next_pid == 551'
awk '/sched_waking:.* pid=551 / { on = 1 } on; /sched_switch:.* ==> .*:551 / { on = 0 }' all.txt >want
same "$OUT" want '--after and --before'
passes s.ps --before 'sched_switch:'
awk '!done; /sched_switch:/ { done = 1 }' all.txt >want
same "$OUT" want '--before alone'
passes s.ps --after 'sched_switch:' -n 4
awk '/sched_switch:/ { on = 1 } on && n++ < 4' all.txt >want
same "$OUT" want '--after alone'
t=$("$BIN/pdecode" -j s.ps | sed -n 's/.*"event":"sched:sched_switch","time":\([0-9]*\).*/\1/p' | head -n 1)
passes s.ps "TIME in $((t - 50000))..$((t + 100000))"
cp "$OUT" want
passes s.ps --after "TIME == $t" --before "TIME > $t" --margin 50us,0ns
head -n "$(wc -l <"$OUT")" want >some
same "$OUT" some 'a margin before'
ok 'which has some events' test "$(grep -c . "$OUT")" -gt 1

# ---- files ----

run "$pfilter" --split 40 -o n s.ps
is "$status" 0 '--split by number'
: >got
for f in n.*; do
	run "$BIN/pdecode" -t "$f"
	[ "$status" = 0 ] || fail "$f is a stream"
	grep -v '^cpus=' "$OUT" >>got
done
same got all.txt 'the files have all events'
is "$("$BIN/pdecode" -t n.0001 | grep -vc '^cpus=')" 40 'each so many'
set -- n.*
is $# $(((total + 39) / 40)) 'so many files'
run "$pfilter" --split 20ms -o t s.ps
cat t.* >joined.ps
"$BIN/pdecode" -t joined.ps | grep -v '^cpus=' >got
same got all.txt '--split by time'
set -- t.*
ok 'makes several files' test $# -gt 2
"$BIN/psym" p.ps 2>/dev/null >sym.ps
"$BIN/pfold" -e cpu-clock sym.ps >want
"$pfilter" --split 10 -o f sym.ps
"$BIN/pfold" -e cpu-clock f.* >got
same got want 'every file has its stacks'
run "$pfilter" --split 10 s.ps
is "$status" 64 '--split needs --output'

# ---- messages ----

run "$pfilter" 'prev_state = 1' s.ps
is "$status" 64 'a wrong expression'
printf '%s\n' "pfilter: expression: column 12: '=' is not an operator; == compares" '  prev_state = 1' \
	'             ^' >want
same "$ERR" want 'with its column'
run "$pfilter" -e '(' s.ps
is "$status" 64 'also with -e'
like "$ERR" '^pfilter: -e: column 2: expected a field, a number or a text, found the end$' 'and what it is'
run "$pfilter" 'prev_sate == 1' s.ps
is "$status" 2 'a field that no event has'
like "$ERR" 'column 1: no event of the stream has the field .prev_sate.; did you mean prev_state\?$' \
	'has a near one'
"$BIN/pdecode" -t "$OUT" >/dev/null 2>&1
is $? 1 'and the next filter knows that something was wrong'
run "$pfilter" --lenient 'prev_sate == 1' s.ps
is "$status" 0 '--lenient'
empty "$ERR" 'says nothing'
run "$pfilter" 'prev_state == Q' s.ps
is "$status" 2 'a value without that name'
like "$ERR" "column 15: no event has the field or the name 'Q', for a value of prev_state\$" 'is reported'
run "$pfilter" 'nosuch/*: cpu == 0' s.ps
is "$status" 2 'an event that is not there'
like "$ERR" 'column 1: the stream has no event of this name$' 'is reported'
cat s.ps p.ps >two.ps
run "$pfilter" 'prev_state == 0 && period == 1' two.ps
is "$status" 0 'a field that an event of another stream has'
run "$pfilter" --margin 1s 'cpu == 0' s.ps
is "$status" 64 'a margin without a window'
for wrong in '--cpu x' '--time 2..1' '--time 1' '--sample 2' '--every 0' '--comm ,' '--margin x' \
	'--seed x' '--split x -o y'; do
	# shellcheck disable=SC2086
	run "$pfilter" $wrong '' s.ps
	is "$status" 64 "wrong: $wrong"
done
run "$pfilter" 'cpu == 0' /nonexistent
is "$status" 2 'a file that is not there'
run "$pfilter" --time 50%.. '' /nonexistent
is "$status" 2 'nor is it when all has to be read before'
head -c 20000 s.ps >cut.ps
run "$pfilter" 'cpu == 0' cut.ps
is "$status" 1 'a cut input'
run "$pfilter" --time 50%.. '' cut.ps
is "$status" 1 'also when it is read twice'
is "$(grep -c 'without its END' "$ERR")" 1 'said once'
mkdir open closed
(cd open && "$pfilter" --split 100ms -o part "$TMP/cut.ps" 2>/dev/null)
(cd closed && "$pfilter" --split 100ms -o part "$TMP/cut.ps" >&- 2>&-)
is $? 1 'a cut input, with stdout and stderr closed'
ok 'there are parts' test -s open/part.0001
diff -r open closed >differences 2>&1
empty differences 'no message is in them'
run "$pfilter" --explain 'sched_switch: prev_state == S || 2 * 3 == 6 && CPU > 1' s.ps
is "$status" 0 '--explain'
empty "$ERR" 'without a message'
like "$OUT" '^expression: sched_switch: \(\(prev_state == S\) \|\| \(\(\(2 \* 3\) == 6\) && \(CPU > 1\)\)\)$' \
	'what is understood'
like "$OUT" '^ +[0-9]+  test +cpu > 1$' 'the program, with constants folded'

run_pipe '"$BIN/pfilter" "pid == -2" p.ps' '"$BIN/pfold"'
is "$statuses" '0 1' 'nothing passes: nothing to fold'
like "$ERR.2" "^pfold: none of the $("$BIN/pdecode" -t p.ps | grep -c '^[^[:space:]]') samples passed the filter\$" \
	'and pfold says why'

# ---- the page ----

sed -n 's/^	F([A-Z_]*, [A-Z]*, "\([a-z_]*\)".*/\1/p' "$ROOT/lib/event/field.h" | sort >fields
sed -n 's/^\.It Li \([a-z_]*\)$/\1/p' "$ROOT/man/perfpipe-filter.7" | sort >documented
is "$(comm -23 fields documented)" '' 'every field is in the page'
ok 'there are some' test "$(wc -l <fields)" -gt 20
done_testing
