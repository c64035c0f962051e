#!/bin/sh
# pconv: what it writes is what it read, by the other programs that read it, and by itself; formats that
# others wrote, by hand here; damaged input.
. "${0%/*}/lib.sh"

# ---- round trips ----

gunzip -c "$ROOT/t/data/report.kallsyms.gz" >kallsyms
gunzip -c "$ROOT/t/data/report.data.gz" >report.data
"$BIN/pdecode" report.data 2>/dev/null | "$BIN/psym" --kallsyms kallsyms 2>/dev/null >report.ps
"$BIN/pfold" --no-header report.ps >plain.folded 2>/dev/null
ok 'there is something to convert' test -s plain.folded
for to in stream pprof speedscope firefox chrome folded; do
	run "$BIN/pconv" --to $to report.ps
	is "$status" 0 "$to: written"
	cp "$OUT" report.$to
	"$BIN/pconv" report.$to 2>/dev/null | "$BIN/pfold" --no-header >again.folded
	ok "$to: read back, the folded text is the same" cmp plain.folded again.folded
done
run "$BIN/pconv" --to perf-script report.ps
"$BIN/pdecode" -t report.ps >text 2>/dev/null
ok 'perf-script is what pdecode -t prints' cmp text "$OUT"
run "$BIN/pconv" --to pprof report.ps
like "$ERR" 'pprof has no place for times' 'what is left out is reported'

# ---- totals by function, of the programs that the formats are for ----

run "$ROOT/t/oracle/convert" report.ps
for format in speedscope firefox chrome sqlite callgrind pprof; do
	if grep -q "^$format: left out" "$OUT"; then
		skip 1 "$(grep "^$format: left out" "$OUT")"
	else
		like "$OUT" "^$format: [1-9][0-9]* functions\$" "$format: self and total of each function are those of preport"
	fi
done
is "$status" "$(if grep -q ' functions$' "$OUT"; then echo 0; else echo 2; fi)" 'and nothing else is wrong'
[ "$status" != 1 ] || diag_file "$OUT"
if have sqlite3; then
	gunzip -c "$ROOT/t/data/sched.data.gz" | "$BIN/pdecode" 2>/dev/null | "$BIN/plat" --emit=runq,offcpu >lat.ps 2>/dev/null
	"$BIN/pconv" --to sqlite lat.ps 2>/dev/null | sqlite3 lat.db >"$OUT"
	ok 'sqlite: it prints nothing' test ! -s "$OUT"
	sqlite3 -separator ' ' lat.db 'SELECT kind, count(*), sum(duration), count(DISTINCT thread) > 9, count(waker) FROM intervals GROUP BY kind' >got
	"$BIN/phist" --by event --field weight --tsv lat.ps 2>/dev/null | awk -F '\t' '
		/^#/ { for (i = 1; i <= NF; i++) { if ($i ~ /:count/) c = i; if ($i ~ /:sum/) s = i } next } { print $2, $c, $s }' | sort >want.lat
	is "$(cut -d ' ' -f 1-3 got)" "$(cat want.lat)" 'sqlite: intervals of each kind are those of plat'
else
	skip 2 'sqlite3 is not installed'
fi

# ---- what others write ----

# A profile.proto made by hand: ids of 2^62, numbers not packed, an inlined function, two events, a label.
cat >make.pl <<'P'
sub v { my $n = shift; my $s = ''; while ($n >= 128) { $s .= chr(128 | $n % 128); $n = int($n / 128) } $s . chr $n }
sub n { v($_[0] << 3) . v($_[1]) }
sub b { v($_[0] << 3 | 2) . v(length $_[1]) . $_[1] }
my $id = 1 << 62;
print b(1, n(1, 1) . n(2, 2)) . b(1, n(1, 3) . n(2, 4));		# samples/count, cpu/nanoseconds
print b(2, n(1, $id) . n(1, 2) . n(2, 3) . n(2, 30) . b(3, n(1, 9) . n(2, 10)));
print b(2, b(1, v(2)) . b(2, v(1) . v(7)));
print b(3, n(1, 5) . n(2, 4096) . n(3, 8192) . n(5, 8));
print b(4, n(1, $id) . n(2, 5) . n(3, 5000) . b(4, n(1, 1)) . b(4, n(1, $id) . n(2, 12)));
print b(4, n(1, 2) . n(2, 5) . n(3, 6000) . b(4, n(1, 7)));
print b(5, n(1, 1) . n(2, 5)) . b(5, n(1, $id) . n(2, 6)) . b(5, n(1, 7) . n(2, 7));
print b(6, $_) for '', 'samples', 'count', 'cpu', 'nanoseconds', 'inner', 'outer', "ma\xffin", '/bin/prog', 'comm', 'worker';
P
perl make.pl >hand.pb
run "$BIN/pconv" --to folded hand.pb
is "$(grep -v '^#' "$OUT")" 'prog;ma?in 7
worker;ma?in;outer;inner_[i] 30' 'pprof: ids of 2^62, inlined functions, labels, the program, what is not UTF-8'
like "$OUT" '^# event: cpu, unit: ns, samples: 4,' 'pprof: how many samples it stands for'
"$BIN/pconv" hand.pb >hand.ps
run "$BIN/pconv" --to folded "$ROOT/t/fuzz/corpus/conv/evented"
# Of "b" and of "a" how long each was open: 1.5 ms; 1.5 and 5 ms.
is "$(grep -v '^#' "$OUT")" "$(printf 't;a 6500000\nt;a;b \303\251\360\237\230\200? 1500000')" 'speedscope: evented, escapes'
run "$BIN/pconv" --to folded "$ROOT/t/fuzz/corpus/conv/firefox-shared"
is "$(grep -v '^#' "$OUT")" 'main 1
main;f 1
main;f;g_[i] 2' 'firefox: shared tables, offsets'

cat >slices.json <<'J'
[{"ph":"X","pid":1,"tid":2,"ts":10,"dur":100,"name":"outer"},
{"ph":"X","pid":1,"tid":2,"ts":20,"dur":30.5,"name":"inner"},
{"ph":"B","pid":1,"tid":2,"ts":200,"name":"again"},{"ph":"B","pid":1,"tid":2,"ts":210,"name":"inner"},
{"ph":"E","pid":1,"tid":2,"ts":215},{"ph":"E","pid":1,"tid":2,"ts":230},
{"ph":"M","pid":1,"tid":2,"name":"thread_name","args":{"name":"t"}}]
J
run "$BIN/pconv" --to folded slices.json
is "$(grep -v '^#' "$OUT")" 't;again 25000
t;again;inner 5000
t;outer 69500
t;outer;inner 30500' 'chrome: slices weigh how long they were the innermost'
# What others wrote: Go 1.19, whose totals are those of go tool pprof.
"$BIN/pconv" "$ROOT/t/data/go.pb.gz" >go.ps
"$BIN/preport" --tsv --by sym go.ps 2>/dev/null | awk -F '\t' '!/^#/ { sub(/ \(inlined\)$/, "", $2); print $2, $4, $7 + 0 }' | sort >got
sort "$ROOT/t/data/go.top" >want.go
ok 'pprof of Go: self and total of each function are those of go tool pprof' cmp want.go got
run "$BIN/pdiff" go.ps report.ps
is "$status" 0 'pdiff: a service of Go beside a recording of perf'
like "$ERR" 'counts cpu-clock .*, but the input before counts cpu' 'pdiff: the events have other names, which is reported'
if have node; then
	echo 'function fib(n) { return n < 2 ? n : fib(n - 1) + fib(n - 2) }
		let s = 0; for (let i = 0; i < 20; i++) s += fib(20); console.log(s)' >fib.js
	node --cpu-prof --cpu-prof-name=fib.cpuprofile fib.js >/dev/null
	node -e 'const p = JSON.parse(require("fs").readFileSync("fib.cpuprofile")), self = {}, node = {}
		let t = p.startTime; const at = p.timeDeltas.map(d => t += Math.max(d, 0)); at.push(Math.max(t, p.endTime))
		for (const n of p.nodes) node[n.id] = n.callFrame.functionName || "(anonymous)"
		p.samples.forEach((s, i) => { self[node[s]] = (self[node[s]] || 0) + 1000 * (at[i + 1] - at[i]) })
		for (const f in self) if (self[f] && f != "(root)") console.log(f, self[f])' | sort >want.node
	"$BIN/pconv" fib.cpuprofile | "$BIN/preport" --tsv --by sym 2>/dev/null | awk -F '\t' '!/^#/ && $7 { print $2, $7 + 0 }' | sort >got
	ok '.cpuprofile of node: self of each function' cmp want.node got
else
	skip 1 'node is not installed'
fi
echo '{"traceEvents":[{"ph":"M","pid":1,"tid":2,"name":"thread_name","args":{"name":"t"}}],"stackFrames":{"1":{"name":"main"},
	"x":{"name":"f","parent":"1"},"3":{"name":"g","parent":1}},"samples":[{"pid":1,"tid":"2","ts":"10","sf":3,"weight":"2","name":"cycles"},
	{"pid":1,"tid":2,"ts":20,"sf":"x","name":"cycles"}]}' >listed.json
run "$BIN/pconv" --to folded listed.json
is "$(cat "$OUT")" '# event: cycles, unit: samples, samples: 2, from: listed.json
t;main;f 1
t;main;g 2' 'chrome: samples and stackFrames'
# As node --cpu-prof writes it: children instead of parents, times only.
echo '{"nodes":[{"id":1,"callFrame":{"functionName":"(root)"},"children":[2,3]},{"id":2,"callFrame":{"functionName":"f","url":"x.js","lineNumber":4},
	"children":[4]},{"id":4,"callFrame":{"functionName":""}},{"id":3,"callFrame":{"functionName":"(program)"}}],
	"startTime":1000,"endTime":1100,"samples":[2,4,3],"timeDeltas":[10,20,30]}' >node.cpuprofile
run "$BIN/pconv" --to folded node.cpuprofile
is "$(grep -v '^#' "$OUT")" '[unknown];(program) 40000
[unknown];f 20000
[unknown];f;(anonymous) 30000' 'chrome: .cpuprofile: each sample lasts until the next, the last one to the end'
printf 'Weight\tSelf Weight\t\tSymbol Name\n6.00 s  100.0%%\t0 s\t \tprog (1)\n4.00 s\t3.00 s\t \t main\n1.00 s\t1.00 s\t \t  f\n2.00 s\t2000.00 ms\t \t other\n' >calls.txt
run "$BIN/pconv" --to folded calls.txt
is "$(grep -v '^#' "$OUT")" '[unknown];prog (1);main 3000000000
[unknown];prog (1);main;f 1000000000
[unknown];prog (1);other 2000000000' 'instruments: what is indented is called'
printf 'java/lang/Thread.run;A.f_[j] 3\njava/lang/Thread.run;B.g 4\n' >java.collapsed
run "$BIN/pconv" --from collapsed --to folded java.collapsed
is "$(grep -v '^#' "$OUT")" '[unknown];java/lang/Thread.run;A.f_[j] 3
[unknown];java/lang/Thread.run;B.g 4' 'collapsed: the first frame is none of a command'
# Two callers of f, which have 3/4 and 1/4 of it; r calls itself. What is below is in the Valgrind manual's words.
cat >hand.callgrind <<'C'
version: 1
cmd: prog
positions: line
events: Ir Dr
fl=(1) a.c
fn=(1) main
1 10 1
cfn=(2) one
calls=1 20
2 40 4
cfn=(3) two
calls=1 30
+1 120
fn=(2)
20 10 1
cfn=(4) f
calls=3 40
* 30 3
fn=(3)
30 10 0
cfn=(4)
calls=1 40
-5 90
cfi=(2) b.c
cfn=(5) r
calls=1 50
31 20
fn=(4)
40 120 3
fl=(2)
fn=(5)
50 20
cfn=(5)
calls=4 50
51 15
totals: 170 5
C
run "$BIN/pconv" --to folded hand.callgrind
is "$status" 1 'callgrind: estimated, which is status 1'
like "$ERR" 'estimated from its calls' 'callgrind: and is reported'
"$BIN/pconv" hand.callgrind 2>/dev/null | "$BIN/pfold" --event Ir --no-header 2>/dev/null | grep -v "^#" >got
is "$(cat got)" '[unknown];main 10
[unknown];main;one 10
[unknown];main;one;f 30
[unknown];main;two 10
[unknown];main;two;f 90
[unknown];main;two;r 20' 'callgrind: what is called is spread over its callers'
"$BIN/pconv" --to callgrind report.ps >report.callgrind 2>/dev/null
for file in report.ps report.callgrind; do
	"$BIN/pconv" $file 2>/dev/null | "$BIN/preport" --tsv --by sym 2>/dev/null |
		awk -F '\t' '!/^#/ && $7 + 0 && $2 !~ /^\[/ { print $2, $7 + 0 }' | sort >$file.self
done
ok 'callgrind: read back, self of each function is as it was' cmp report.ps.self report.callgrind.self
sed 's/120 3/110 3/' hand.callgrind >short.callgrind

# ---- what is wrong ----

# tried NAME STATUS MESSAGE FILE: no MESSAGE, nothing is reported.
tried() {
	run "$BIN/pconv" --to folded "$4"
	is "$status" "$2" "$1: status"
	if [ -n "$3" ]; then
		like "$ERR" "$3" "$1: message"
	else
		empty "$ERR" "$1: no message"
	fi
}
for to in speedscope firefox; do
	head -c 3000 report.$to >short
	run "$BIN/pconv" --to folded short
	is "$(case $status in 1 | 2) echo yes ;; esac)" yes "$to, cut off: not 0"
	ok "$to, cut off: and it is reported" test -s "$ERR"
done
gunzip -c <report.pprof >plain.pb
head -c 5000 plain.pb >short
tried 'pprof, cut off' 1 'damaged|no samples' short
# 1000 lines of one location, which a sample has 2000 times: far more frames than bytes.
cat >deep.pl <<'P'
sub v { my $n = shift; my $s = ''; while ($n >= 128) { $s .= chr(128 | $n % 128); $n = int($n / 128) } $s . chr $n }
sub n { v($_[0] << 3) . v($_[1]) }
sub b { v($_[0] << 3 | 2) . v(length $_[1]) . $_[1] }
print b(1, n(1, 1) . n(2, 2)), b(2, b(1, "\1" x 2000) . b(2, v(5))), b(4, n(1, 1) . b(4, n(1, 1)) x 1000), b(5, n(1, 1) . n(2, 3));
print b(6, $_) for '', 'samples', 'count', 'f';
P
perl deep.pl >deep.pb
run "$BIN/pconv" --to folded deep.pb
is "$(awk '!/^#/ { n = split($0, frames, ";"); print (n > 60000), $NF }' "$OUT")" '1 5' 'pprof: a stack far deeper than stacks are: one, with its weight'
like "$ERR" 'more than 65536 frames: 1934464 frames are left out' 'and what is left out is reported'
is "$status" 1 'by the exit status, too'
# As deep as stacks are, another one each nanosecond: none of them is written whole, nor kept by the next filter.
perl -e 'my $n = 26000; print qq({"shared":{"frames":[{"name":"a"}]},"profiles":[{"type":"evented","name":"t","unit":"nanoseconds","events":[),
	join(",", map qq({"type":") . ($_ < $n ? "O" : "C") . qq(","frame":0,"at":$_}), 0 .. 2 * $n - 1), "]}]}"' >deep.json
run "$BIN/pconv" --to stream -o deep.ps deep.json
is "$(wc -c <deep.ps | awk '{ print ($1 < 4000000) }')" 1 'speedscope: 52000 stacks of up to 26000 frames are a small stream'
run "$BIN/phist" --tsv deep.ps
is "$(awk -F '\t' '!/^#/ { print $2 }' "$OUT")" 51999 'which the other filters can read'
echo '{"meta":{},"threads":[{"name":"t","stackTable":{"frame":[0,0],"prefix":[1,0]},"frameTable":{"func":[9]},
	"samples":{"stack":[1,7],"length":2}}]}' >circle
tried 'firefox: stacks in a circle, places that are not there' 1 'damaged' circle
echo '{"shared":{"frames":[{"name":"a"}]},"profiles":[{"type":"sampled","name":"t","unit":"none",
	"samples":[[0],[4611686018427387904]],"weights":[1,1]}]}' >range
tried 'speedscope: a frame that is not there' 1 'damaged' range
perl -e 'print "{\"shared\":" . "[" x 100000' >deep
echo '{"shared":{"frames":[{"name":"a"}]},"profiles":[{"type":"sampled","name":"t","unit":"none",
	"samples":[[0],[0],[0]],"weights":[1,-4,1e308]}]}' >weights
tried 'speedscope: weights below 0, and beyond all' 1 'damaged' weights
tried 'JSON: too deep' 2 'JSON of an unknown kind' deep
tried 'callgrind: sums that are wrong' 1 'by the file.s own sum' short.callgrind
printf 'events: Ir\nfn=(7)\nnonsense\n1 99999999999999999999999\n' >bad.callgrind
tried 'callgrind: names and numbers that are none' 1 "not in callgrind's format" bad.callgrind
echo '{"traceEvents":[{"ph":"P","pid":1,"tid":1,"name":"Profile","id":"0x1","args":{"data":{"startTime":1}}},
	{"ph":"P","pid":1,"tid":1,"name":"ProfileChunk","id":"0x1","args":{"data":{"cpuProfile":{"nodes":[
	{"id":4611686018427387904,"parent":2,"callFrame":{"functionName":"a"}},{"id":2,"parent":4611686018427387904,"callFrame":{"functionName":"b"}}],
	"samples":[2,99]},"timeDeltas":[1,1],"endTime":100}}}]}' >circle
tried 'chrome: nodes in a circle, samples of no node' 1 'damaged' circle
head -c 3000 report.chrome >short
tried 'chrome, cut off' 1 'damaged|no samples' short
printf 'go 1.22 trace\0\0\0' >go.trace
# A single fault each, in a profile that is whole otherwise: nothing of it may pass for what was meant.
speedscope() { # SAMPLES WEIGHTS
	echo '{"shared":{"frames":[{"name":"a"},{"name":"b"}]},"profiles":[{"type":"sampled","name":"t","unit":"none","startValue":0,"endValue":9'"${1:+,\"samples\":$1}${2:+,\"weights\":$2}"'}]}' >one
}
speedscope '[[0],[0,1]]' '[1,2]'
tried 'speedscope: what is whole' 0 '' one
speedscope '[[0],[-1]]' '[1,2]'
tried 'speedscope: a frame below 0' 1 'damaged' one
speedscope '[[0],[0.5]]' '[1,2]'
tried 'speedscope: half a frame' 1 'damaged' one
speedscope '[[0],[0]]' '[1]'
tried 'speedscope: a weight too few' 1 'damaged' one
speedscope '[[0],[0]]' '[1,2,3]'
tried 'speedscope: a weight too many' 1 'damaged' one
speedscope '[[0],[0]]' '[1,"2"]'
tried 'speedscope: a weight that is no number' 1 'damaged' one
speedscope '[[0],[0]]' ''
tried 'speedscope: no weights' 1 'damaged' one
speedscope '[[0],[0]]' '[1,2]'
echo '{}' >>one
tried 'speedscope: something after the profile' 1 'the profile ends here: what follows is not read' one
evented() { # EVENTS: frames that are opened (O0) and closed (C0), a nanosecond each
	perl -e 'my $t = 0; print qq({"shared":{"frames":[{"name":"a"},{"name":"b"}]},"profiles":[{"type":"evented","name":"t","unit":"nanoseconds","events":[),
		join(",", map { sprintf q({"type":"%s","frame":%s,"at":%d}), substr($_, 0, 1), substr($_, 1), $t++ } @ARGV), "]}]}"' "$@" >one
}
evented O0 O1 C1 C0
tried 'speedscope: events that are whole' 0 '' one
evented O0 O1 C1
tried 'speedscope: a frame that stays open' 1 'damaged' one
evented O0 C1
tried 'speedscope: another frame is closed' 1 'damaged' one
firefox() { # PREFIXES FUNC NAME STACKS WEIGHTS
	echo '{"meta":{},"threads":[{"name":"t","stackTable":{"frame":[0,0],"prefix":'"$1"'},"frameTable":{"func":['"$2"']},"funcTable":{"name":['"$3"']},
		"stringArray":["a"],"samples":{"stack":'"$4"',"weight":'"$5"',"length":2}}]}' >one
}
firefox '[null,0]' 0 0 '[1,null]' null
tried 'firefox: what is whole' 0 '' one
firefox '[1,0]' 0 0 '[1,0]' null
tried 'firefox: stacks in a circle' 1 'damaged' one
firefox '[0,null]' 0 0 '[1,0]' null
tried 'firefox: a stack on itself' 1 'damaged' one
firefox '[null,7]' 0 0 '[1,0]' null
tried 'firefox: a stack on none' 1 'damaged' one
firefox '[null,0]' 4611686018427387904 0 '[1,0]' null
tried 'firefox: a function that is not there' 1 'damaged' one
firefox '[null,0]' 0 -4 '[1,0]' null
tried 'firefox: a name below 0' 1 'damaged' one
firefox '[null,0]' 0 null '[1,0]' null
tried 'firefox: no name' 1 'damaged' one
firefox '[null,0]' 0 0 '[1,0.5]' null
tried 'firefox: half a stack' 1 'damaged' one
firefox '[null,0]' 0 0 '[1,0]' '[1]'
tried 'firefox: a weight too few' 1 'damaged' one
firefox '[null,0]' 0 0 '[1,0]' '[1,1,1]'
tried 'firefox: a weight too many' 1 'damaged' one
echo '{"meta":{},"threads":[{"name":"t","samples":{"schema":{"stack":0,"time":1},"data":[[0,1]]}}]}' >one
tried 'firefox: as it records' 2 'as Firefox records it: open it at profiler.firefox.com' one
echo '{"meta":{},"threads":[{"name":"t","stackTable":{"frame":[0,0],"prefixOffset":[0,5]},"frameTable":{"func":[0]},
	"funcTable":{"name":[0]},"stringArray":["a"],"samples":{"stack":[1]}}]}' >one
tried 'firefox: a stack on one before the first' 1 'damaged' one
sed 's/\[0,5\]/[0,1]/' one >whole
tried 'firefox: stacks by how far back they stand' 0 '' whole
awk 'BEGIN { for (i = 0; i < 66000; i++) printf "f;"; print "g 5" }' >deep.folded
tried 'folded: a stack that is too deep' 1 'more than 65536 frames: 465 frames are left out' deep.folded
like "$OUT" '^# partial: ' 'and the text says so'
printf 'a;b 5\n# partial: the input was damaged or cut off\n' >part.folded
run "$BIN/pconv" --to folded part.folded
is "$status $(tail -n 1 "$OUT")" "1 $(tail -n 1 part.folded)" 'folded: what said that it is partial still does'
cpuprofile() { # PARENT-OF-2 SAMPLES
	echo '{"nodes":[{"id":1,"callFrame":{"functionName":"a"}},{"id":2,"parent":'"$1"',"callFrame":{"functionName":"b"}}],
		"startTime":0,"endTime":9,"samples":'"$2"',"timeDeltas":[1,1]}' >one
}
cpuprofile 1 '[1,2]'
tried 'chrome: what is whole' 0 '' one
cpuprofile 2 '[1,2]'
tried 'chrome: a node on itself' 1 'damaged' one
cpuprofile 1 '[1,3]'
tried 'chrome: a node that is not there' 1 'damaged' one
tried 'a Go execution trace' 2 'a Go execution trace: .*runtime/pprof' go.trace
tried 'a recording' 2 'pdecode and psym have to read it first' report.data
tried 'nothing' 1 'no samples' /dev/null
run "$BIN/pconv" -o x.what report.ps
is "$status" 64 'an ending that tells nothing'
run "$BIN/pconv" --to sqlite -o x.db report.ps
is "$status" 64 'a database, which sqlite3 makes'
like "$ERR" 'sqlite3 DATABASE' 'and how'
run "$BIN/pconv" --to gif report.ps
is "$status" 64 'a format that is not there'
like "$ERR" 'there are .*pprof, speedscope' 'and those that are there'
cp text report.perf-script
for name in speedscope.speedscope.json folded.folded perf-script.txt; do
	run "$BIN/pconv" -o "out.$name.gz" report.ps
	gunzip -c <"out.$name.gz" >unpacked
	ok "packed by the name of -o: $name" cmp unpacked "report.${name%%.*}"
done
run "$BIN/pconv" --stats -o out.pstream.gz report.ps
ok 'and a stream' gzip -t out.pstream.gz
like "$ERR" '^pconv: samples [1-9][0-9]* = written [1-9]' '--stats, of a stream, too'
run "$BIN/pconv" -o out.folded.gz /dev/null
is "$status $(wc -c <out.folded.gz | tr -d ' ')" '1 0' 'of nothing, nothing is packed'
if [ -c /dev/full ]; then
	run "$BIN/pconv" --to pprof -o /dev/full report.ps
	is "$status" 2 'packed: no room for it'
	like "$ERR" '/dev/full: cannot write: No space left' 'is reported'
else
	skip 2 'no /dev/full'
fi
done_testing
