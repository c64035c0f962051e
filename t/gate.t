#!/bin/sh
# --fail-if of phist, plat, preport and pstrace: what conditions are by tables whose numbers are known, by the lines that
# trace-cmd prints of a recording, what is refused, and exit statuses.
. "${0%/*}/lib.sh"

# Two tables as phist -f lat --by comm,cpu --tsv writes them. 100 values: web on 0 has 1 to 49, on 1 50
# times 100; db on 0 has one 400.
{
	printf '#PPTABLE1 rows=3 view=bars name=lat by comm,cpu\tcomm:key\tcpu:number\tlat:count\tlat:sum:ns'
	printf '\tlat:min:ns\tlat:max:ns\tlat:max_time:ns\tlat:buckets\n'
	printf 'lat by comm,cpu\tweb\t0\t49\t1225\t1\t49\t0\t%s\n' "$(seq -s ' ' -f '%g:1' 1 49)"
	printf 'lat by comm,cpu\tweb\t1\t50\t5000\t100\t100\t0\t100:50\n'
	printf 'lat by comm,cpu\tdb\t0\t1\t400\t400\t400\t0\t400:1\n'
} >known.tsv

judge() { # STATUS CONDITION [FILE]
	run "$BIN/phist" --merge --tsv --fail-if "$2" "${3-known.tsv}"
	is "$status" "$1" "$2: $1"
}

# Of all rows together, of some, of one.
while read -r want condition; do
	judge "$want" "$condition"
done <<-'EOF'
	3 count() == 100
	0 count() > 100
	3 count(lat) >= 100 && count(lat) <= 100
	3 sum() == 6625
	3 min() == 1 && max() == 400
	3 mean() == 66.25
	0 mean() > 66.25
	3 p49(lat) == 49 && p50(lat) == 100 && p99 (lat) == 100 && p99.5(lat) == 400 && p100(lat) == 400
	3 p50(lat, cpu == 0) == 25
	3 p50(lat, comm == web && cpu == 0) == 25 && max(cpu == 0 && comm != db) == 49
	3 count(comm == web) == 99 && count(comm == db) == 1
	3 count(comm ~ "w*") == 99 && count(comm =~ "^D") == 1 && count(comm !~ "^d") == 99
	3 count(comm in {web, x}) == 99 && count(cpu in {1..7}) == 50 && count(cpu in {3, 0}) == 50
	3 count(cpu < 1) == 50 && count(cpu >= 1) == 50 && count(comm < e) == 1 && count("cpu" == 1) == 50
	3 share(comm == db) > 6.03% && share(comm == db) < 6.04%
	3 share(cpu == 1) > 0.75
	3 count(comm == db) / count() == 1%
	3 count(cpu == 0) - 2 * 10 + -5 == 25
	3 sum(comm == db) == 0.4us
	3 any(max() == 400 && comm == db)
	0 any(max() == 400 && comm == web)
	3 any(count() > 49)
	0 any(count() > 50)
	3 any(share() > 75%)
	3 !(count() < 10) && (count() < 10 || count() > 99)
	0 !any(cpu == 1)
	3 count(comm == nobody) == 0 && sum(comm == nobody) == 0 && share(comm == nobody) == 0
	4 p99(lat, comm == nobody) > 1
	4 mean(comm == nobody) > 1 || count() > 100
	3 mean(comm == nobody) > 1 || count() > 99
	0 mean(comm == nobody) > 1 && count() > 100
	4 count() / count(comm == nobody) > 1
	4 !(max(comm == nobody) > 1)
EOF
judge 3 'p99(lat) > 99ns'
like "$ERR" '^phist: gate failed: p99\(lat\) > 99ns: p99\(lat\) is 100 ns$' 'why is reported'
like "$OUT" '^#PPTABLE1 ' 'the table is written all the same'
judge 3 'any(count(lat) > 1)'
like "$ERR" 'comm=web, cpu=1: count\(lat\) is 50 \(one of 2 rows\)' 'any() names the worst row'
judge 0 'count(comm == nobody) > 0'
like "$ERR" 'gate passed, but count\(comm == nobody\): there is no such row' 'a typing error is seen'
judge 4 'p99(comm == nobody) > 0'
like "$ERR" 'gate undecided: .*: there is no such row' 'what cannot be decided is explained'
run "$BIN/phist" --merge --tsv --fail-if 'count() > 1000' --fail-if 'max() > 399' known.tsv
is "$status" 3 'one of several is enough'
run "$BIN/phist" --merge -n 1 --fail-if 'count(comm == db) == 1 && !any(comm == other)' known.tsv
is "$status" 3 'what -n leaves out counts'

# Rows that have become one.
"$BIN/phist" --merge --tsv -n 1 known.tsv >top.tsv || exit 1
judge 3 'count() == 100' top.tsv
judge 3 'count(cpu == 1) >= 50' top.tsv
judge 4 'count(cpu == 0) > 0' top.tsv
like "$ERR" 'rows have become one' 'it is reported that rows are not known apart'
judge 4 'any(comm == db)' top.tsv

# What is wrong is told before anything is read, with its place.
wrong() { # CONDITION COLUMN WHAT
	run "$BIN/phist" --by comm -f lat --fail-if "$1" /nowhere
	is "$status" 64 "$1"
	like "$ERR" "^phist: column $2: $3" "$1: where and why"
}
wrong 'p99(lat)' 1 'this is a number; compare it'
wrong 'p99(lta) > 1' 5 'there is no such value; did you mean lat'
wrong 'p99(something) > 1' 5 'there is no such value; there are: lat'
wrong 'p99(lat, com == x) > 1' 10 'there is no such key; did you mean comm'
wrong 'p99(comm) > 1' 5 'this is a key, not a value: count\(comm == \.\.\.\)'
wrong 'comm == x' 1 'expected count\(\) sum\(\)'
wrong 'p101(lat) > 1' 1 'expected count\(\)'
wrong 'count > 1' 1 "'\\(' has to follow: count\\(\\)"
wrong 'count() > 1 > 0' 13 'expected &&, \|\| or the end'
wrong 'count() = 1' 9 "'=' is not an operator"
wrong 'count() > ' 11 'expected a statistic such as p99\(runq\), or a number, found the end'
wrong 'count( > 1' 8 'expected '
wrong 'count(comm) > 1' 7 'this is a key'
wrong 'count(comm == x' 16 "expected '\\)'"
wrong 'count(comm == ) > 1' 15 'expected a text or a number'
wrong 'count(count() > 1) > 1' 7 'rows are selected by their keys'
wrong 'count(1) > 1' 7 'rows are selected by their keys'
wrong 'any(count(comm == x) > 1)' 11 'within any\(\) a statistic is of one row'
wrong 'any(any(count() > 1))' 5 'any\(\) cannot be within another'
wrong 'any(count())' 5 'this is a number'
wrong 'share() > 5' 11 'a share is compared with percent'
wrong 'count() > 5%' 11 '% is for shares'
wrong 'count() + (1 > 2) > 3' 11 'a condition is not a number'
wrong 'count(comm =~ "(") > 3' 15 'not a regular expression'
wrong 'count(comm in {a) > 3' 17 "expected ',' or '}'"
wrong 'count() > 5 parsecs' 13 'expected &&'
wrong 'count() > 5x' 11 'not a number, or not a unit'
wrong '' 1 'expected a statistic'
wrong "$(printf '%300s' '' | tr ' ' '(')" '[0-9]*' 'expected a condition with less nesting'
wrong "count() > $(printf '%300s' '' | tr ' ' '-')1" '[0-9]*' 'expected a condition with less nesting'
wrong "$(printf '!%.0s' $(seq 300))(count() > 1)" '[0-9]*' 'expected a condition with less nesting'
run "$BIN/phist" --by comm --fail-if 'p50() > 1' /nowhere
like "$ERR" 'no such statistic; it has: count, share$' 'counts have no percentiles'
run "$BIN/phist" -f a,b --fail-if 'p50() > 1' /nowhere
like "$ERR" 'of which value\? There are: a, b' 'of several values one has to be named'
run "$BIN/phist" --fail-if 'count(comm == x) > 1' /nowhere
like "$ERR" 'there are no keys: --by adds them' 'without --by there are no keys'
run "$BIN/phist" --merge --fail-if 'count(com == x) > 1' known.tsv
is "$status" 64 'with --merge, names are looked for after reading'
like "$ERR" 'did you mean comm' 'and likewise reported'
run "$BIN/plat" --fail-if 'p99(rnq) > 1ms' /nowhere
is "$status" 64 'plat: a kind that there is not'
like "$ERR" 'did you mean runq' 'is reported'
run "$BIN/plat" -k runq --fail-if 'p99(offcpu) > 1ms' /nowhere
is "$status" 64 'plat: a kind that was not asked for'
run "$BIN/plat" -k runq,offcpu --fail-if 'any(p99(runq) > 1ms && p99(offcpu) > 1ms)' /nowhere
like "$ERR" 'in another table' 'any() is about one table'
for option in --emit=runq --slower=1ms; do
	run "$BIN/plat" "$option" --fail-if 'p99(runq) > 1ms' /nowhere
	is "$status" 64 "plat: not with $option"
done

# A recording: its lines are the oracle.
"$BIN/pdecode" "$ROOT/t/data/trace-zlib.dat" >zlib.ps 2>/dev/null || exit 1
gzip -dc "$ROOT/t/data/trace-zlib.report.gz" >report
n=$(grep -c ': sched_switch: ' report)
isnt "$n" 0 'the recording has switches'
run "$BIN/phist" --by event --fail-if "count(event ~ \"*:sched_switch\") == $n" zlib.ps
is "$status" 3 'they are as many as trace-cmd prints'
"$BIN/pdecode" "$ROOT/t/data/sched.dat" >sched.ps 2>/dev/null || exit 1
run "$BIN/plat" --tsv -k runq sched.ps
most=$(awk -F '\t' '/^#/ { for (i = 1; i <= NF; i++) if ($i == "runq:max:ns") c = i; next }
	$1 == "runq" && $c > m { m = $c } END { print m }' "$OUT")
run "$BIN/plat" -k runq --fail-if "max() >= $most" sched.ps
is "$status" 3 'plat: the maximum of all rows'
run "$BIN/plat" --fail-if "max(runq) > $most || max(duration, kind == runq) > $most" sched.ps
is "$status" 0 'nothing is above it, neither in the table of all kinds'
run "$BIN/plat" --over-time=100ms --fail-if "any(max(runq) >= $most)" sched.ps
is "$status" 3 'a window of time has it'
like "$ERR" 'time=[0-9]+\.[0-9]{6}, comm=' 'and is named in seconds'
run "$BIN/plat" --threads --fail-if 'sum(wall) > 0' sched.ps
is "$status" 3 'the table of threads'

# Counts of perf stat, in text, too, which is not made of tables.
n=$(awk '/ page-faults / { n += $2 } END { print n }' "$ROOT/t/data/stat.txt")
"$BIN/pdecode" "$ROOT/t/data/stat.data.gz" >stat.ps 2>/dev/null || exit 1
run "$BIN/phist" --fail-if "sum(count, event == \"page-faults\") == $n" stat.ps
is "$status" 3 'counts of perf stat: their sum over all intervals'
run "$BIN/phist" --tsv --fail-if "any(event == \"page-faults\" && sum(count) >= $n)" stat.ps
is "$status" 0 'no interval has that many'

# With --every the sum of all periods counts.
n=$(awk '/: sched_switch: / { n++ } END { print n }' report)
run "$BIN/phist" --by event --every=100ms --fail-if "count(event ~ \"*:sched_switch\") == $n" zlib.ps
is "$status" 3 '--every: the sum is judged'
run "$BIN/plat" -k runq --every=100ms --fail-if "max() >= $most && max(duration) >= $most" sched.ps
is "$status" 3 'of plat, too'
run "$BIN/plat" -k runq --every=100ms --fail-if "max() > $most" sched.ps
is "$status" 0 'and nothing else'

# Nothing: what a filter left out is known to be none; what was not recorded is not.
"$BIN/pfilter" 'comm == nobody' sched.ps >none.ps || exit 1
run "$BIN/phist" --by comm --fail-if 'count() > 0' --fail-if 'any(count() > 0)' none.ps
is "$status" 0 'no sample passed a filter: a count of 0'
run "$BIN/phist" --fail-if 'count() == 0' none.ps
is "$status" 3 'which can be what must not be'
run "$BIN/phist" none.ps
is "$status" 1 'without a condition it is partial as ever'
run "$BIN/phist" -f prev_prio --fail-if 'p99() > 0' none.ps
is "$status" 4 'a percentile of nothing is not known'
run "$BIN/plat" --fail-if 'count(runq) > 0' none.ps
is "$status" 0 'plat: intervals that a filter left out'
run "$BIN/plat" --fail-if 'count(nvme) > 0' sched.ps
is "$status" 4 'plat: a kind without events cannot be decided'
like "$ERR" 'gate undecided: .*nothing was counted' 'which is reported'
run "$BIN/phist" --fail-if 'count(comm == x) > 0' --by comm -f no_such_field sched.ps
is "$status" 1 'a field that no event has'

# Damaged input: 3 wins over 1, 1 over 4; what could not be read at all is 2.
head -c $(($(wc -c <zlib.ps) - 500)) zlib.ps >cut.ps
run "$BIN/phist" --fail-if 'count() > 0' cut.ps
is "$status" 3 'damaged, and the condition holds'
like "$ERR" 'cut' 'the damage is reported'
like "$ERR" 'gate failed' 'and the condition'
run "$BIN/phist" --fail-if 'count() > 1000000' cut.ps
is "$status" 1 'damaged, and it does not'
run "$BIN/phist" --fail-if 'p99(prev_prio) > 1000' -f prev_prio --by comm --fail-if 'max(comm == nobody) > 1' cut.ps
is "$status" 1 'damaged, and it cannot be decided'
run "$BIN/phist" --fail-if 'count() > 0' /nowhere
is "$status" 2 'no input'

# preport: f calls g, and itself; one event; shares are of all samples, whatever is shown of them.
printf '%s\n' 'a;main;f;g 70' 'a;main;h 15' 'b;main;f;f 10' 'b;main;h;z 5' >stacks.folded
while read -r want condition; do
	run "$BIN/preport" -t 1 --min-share 20 --fail-if "$condition" stacks.folded
	is "$status" "$want" "preport: $condition: $want"
done <<-'EOF'
	3 share(self, sym == g) == 70% && count(self, sym == g) == 1
	0 share(self, sym == g) > 70%
	3 share(children, comm == b && sym == f) == 10% && sum(children, comm == b && sym == f) == 10
	3 sum(self, sym in {z, h}) == 20 && share(self, sym ~ "[hz]") == 20%
	3 sum(self) == 100
	3 any(comm == a && sym == f && share(children) == 70%)
	0 any(sym != main && share(children) > 70%)
	3 sum(self, sym == nobody) == 0
	0 count(self, comm > 5) > 0
	0 count(self, sym in {1..3}) > 0
	4 share(children, sym in {f, g}) > 1%
	4 sum(children) > 1
EOF
run "$BIN/preport" --by sym --fail-if 'share(children, sym == f) >= 80%' stacks.folded
is "$status" 3 'preport: of a row with other keys'
like "$ERR" '^preport: gate failed: share\(children, sym == f\) >= 80%: share\(children, sym == f\) is 80.00 %$' 'which is reported'
run "$BIN/preport" --by sym --fail-if 'share(children) > 80%' stacks.folded
like "$ERR" 'gate undecided: .*several rows, which may include each other' 'children of several rows are no sum'
run "$BIN/preport" --fail-if 'share(chidren) > 80%' /nowhere
is "$status" 64 'preport: a value that does not exist, before anything is read'
like "$ERR" 'did you mean children\?' 'with the nearest name'
run "$BIN/preport" --fail-if 'max(self) > 1' /nowhere
like "$ERR" 'no such statistic; it has: count, sum, share$' 'preport: a statistic that there is not'
run "$BIN/preport" --fail-if 'count(self) > 0' zlib.ps
is "$status" 64 'preport: several events'
like "$ERR" 'several events: choose one with --event' 'which is reported'
run "$BIN/preport" -c -e sched:sched_switch --fail-if "sum(self) == $n" zlib.ps
is "$status" 3 'preport: one of them'
"$BIN/pfilter" 'comm == "nobody"' zlib.ps >none.ps 2>/dev/null
run "$BIN/preport" --fail-if 'sum(self) > 0' none.ps
is "$status" 0 'preport: samples that a filter left out'
run "$BIN/preport" --by cpu --fail-if "count(self, cpu == 0x0) + count(self, cpu in {1..3}) == $n" -c -e sched:sched_switch zlib.ps
is "$status" 3 'preport: keys that are numbers'
printf 'a;b 0\na;c 0\n' >zero.folded
run "$BIN/preport" --fail-if 'share(self, sym == b) < 1%' zero.folded
is "$status" 4 'preport: a share of nothing'
: >empty.folded
run "$BIN/preport" --fail-if 'sum(self) > 0' empty.folded
is "$status" 1 'preport: no sample at all'

# pstrace: as its table has it, of which another test says that it is plat's.
"$BIN/pdecode" "$ROOT/t/data/syscalls.dat" >sys.ps 2>/dev/null || exit 1
"$BIN/pstrace" -s --tsv sys.ps 2>/dev/null >calls.tsv
calls=$(awk -F '\t' '!/^#/ { n += $3 } END { print n }' calls.tsv)
longest=$(awk -F '\t' '$2 == "openat" { print $8 }' calls.tsv)
failed=$("$BIN/pstrace" --failed -e openat sys.ps 2>/dev/null | grep -c .)
ok 'pstrace has calls that failed' test "$failed" -gt 0
run "$BIN/pstrace" -s -n 1 --fail-if "count(time) == $calls && max(time, call == openat) == ${longest}ns" sys.ps
is "$status" 3 'pstrace: calls and times'
run "$BIN/pstrace" -s --fail-if "count(errors, call == openat) == $failed" sys.ps
is "$status" 3 'pstrace: errors'
run "$BIN/pstrace" --by-thread --fail-if 'max(time, tid == 1) > 1000s' sys.ps
is "$status" 4 'pstrace: of a thread that there is not'
run "$BIN/pstrace" -s -e openat --slower 1000s --fail-if 'count(time) > 0' sys.ps
is "$status" 0 'pstrace: calls that were not requested'
"$BIN/pfilter" 'comm == "nobody"' sys.ps 2>/dev/null >nobody.ps
run "$BIN/pstrace" -s --fail-if 'count(time) > 0' nobody.ps
is "$status" 0 'pstrace: calls that a filter left out'
run "$BIN/pstrace" nobody.ps
is "$status" 1 'without a condition this is nothing'
like "$ERR" '^pstrace: none of [0-9]+ system calls passed the filter$' 'which is reported'
run "$BIN/pstrace" -s --fail-if 'max(tiem) > 1' /nowhere
is "$status" 64 'pstrace: a value that does not exist'
run "$BIN/pstrace" --fail-if 'count(time) > 1' sys.ps
is "$status" 64 'pstrace: without a table'
done_testing
