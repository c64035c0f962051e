#!/bin/sh
# pfold on text: perf script, bpftrace, folded. The expected lines follow from the rules in pfold(1).
. "${0%/*}/lib.sh"

fold() {
	run "$BIN/pfold" --no-header "$@"
}

# want LINE... : what $OUT must hold
want() {
	: >want
	for line; do
		printf '%s\n' "$line" >>want
	done
}

cat >perf.txt <<'EOT'
# ========
# cmdline : /usr/bin/perf record -F 99 -ag -- make

cc1 12/34 [000]  5.678901:     250 cycles: 
	ffffffff81000470 rcu_lock+0x0 ([kernel.kallsyms])
	           d4ad7 execve+0x7 (/usr/lib/libc.so.6)
	          149ce3 [unknown] (/usr/bin/perf)
	           2724a [unknown] ([unknown])

V8 Worker 7/8 [001] 5.7:     3 cycles: 
	 22 Lorg/a/B;::main(I)V+0x1f (/tmp/perf-19.map)
	 23 outer(int)->inlined<a, b>->deep "q"+0x1f (/usr/bin/x)
	 24 (cc1)+0x1 (/usr/bin/x)

java 0/0 5.8: 7 instructions: 
	 22 left_out+0x1 (/usr/bin/x)

java 0/0 5.8: 1 cycles: 
	 22 Lorg/a/B;::main(I)V+0x1f (/tmp/perf-19.map)

cc1 12/34 [000]  5.9:     250 cycles: 
	ffffffff81000477 rcu_lock+0x7 ([kernel.kallsyms])
	           d4ad8 execve+0x8 (/usr/lib/libc.so.6)
	          149ce3 [unknown] (/usr/bin/perf)
	           2724b [unknown] ([unknown])

gcc 1/1 [000] 6.0: 5 cycles: 

EOT

fold perf.txt
is "$status" 0 'perf script text'
want 'V8_Worker;outer;inlined<a, b>_[i];deep q_[i];Lorg/a/B:::main 3' \
	'cc1;[unknown];[perf];execve;rcu_lock 500' 'gcc 5' 'java;org/a/B:::main 1'
same "$OUT" want 'is folded'
like "$ERR" '^pfold: only samples of cycles are folded; left out: instructions \(1\)' \
	'and what was left out is named'

run_pipe 'while IFS= read -r l; do printf "%s\n" "$l"; done <perf.txt' '"$BIN/pfold" --no-header -'
same "$OUT" want 'a slow pipe gives the same'

# Text of which a mail, a web page or a script has removed the white space at the beginning of lines; the
# headers of old versions have neither time nor period.
sed 's/^[[:space:]]*//' perf.txt >bare.txt
fold bare.txt
same "$OUT" want 'so does text that has lost its indentation'
printf '%s\n' 'java 19983 cycles:' 'ffffffff8103d0ca native_write_msr_safe ([kernel.kallsyms])' \
	'7f24309ebdf JavaMain (/opt/jdk/libjli.so)' '401136 main (/usr/bin/java)' '' >old.txt
fold --count old.txt
echo 'java;main;JavaMain;native_write_msr_safe 1' >old.want
same "$OUT" old.want 'with a header that has only command, thread and event as well'

fold --tid perf.txt
want 'V8_Worker-7/8;outer;inlined<a, b>_[i];deep q_[i];Lorg/a/B:::main 3' \
	'cc1-12/34;[unknown];[perf];execve;rcu_lock 500' 'gcc-1/1 5' 'java-?/0;org/a/B:::main 1'
same "$OUT" want '--tid'

fold -p perf.txt
want 'V8_Worker-7;outer;inlined<a, b>_[i];deep q_[i];Lorg/a/B:::main 3' \
	'cc1-12;[unknown];[perf];execve;rcu_lock 500' 'gcc-1 5' 'java-?;org/a/B:::main 1'
same "$OUT" want '-p'

fold --all perf.txt
want 'V8_Worker;outer;inlined<a, b>_[i];deep q_[i];Lorg/a/B:::main_[j] 3' \
	'cc1;[unknown];[perf];execve;rcu_lock_[k] 500' 'gcc 5' 'java;org/a/B:::main_[j] 1'
same "$OUT" want '--all'
fold --kernel --jit perf.txt
same "$OUT" want '--kernel --jit are --all'

fold --addrs perf.txt
want 'V8_Worker;outer;inlined<a, b>_[i];deep q_[i];Lorg/a/B:::main 3' \
	'cc1;[unknown <2724a>];[perf <149ce3>];execve;rcu_lock 250' \
	'cc1;[unknown <2724b>];[perf <149ce3>];execve;rcu_lock 250' 'gcc 5' \
	'java;org/a/B:::main 1'
same "$OUT" want '--addrs'

fold --count --stats perf.txt
want 'V8_Worker;outer;inlined<a, b>_[i];deep q_[i];Lorg/a/B:::main 1' \
	'cc1;[unknown];[perf];execve;rcu_lock 2' 'gcc 1' 'java;org/a/B:::main 1'
same "$OUT" want '--count'
like "$ERR" 'samples 6 = folded 4 \+ without stack 1 \+ filtered out 1 \+ joined to the next 0' \
	'--stats: samples in are samples out'

want 'java;left_out 7'
for option in --event --event-filter -e; do
	fold $option instructions perf.txt
	same "$OUT" want "$option"
done
empty "$ERR" 'an event that was chosen needs no warning'
fold -e none perf.txt
is "$status" 1 'an event that is not there'
empty "$OUT" 'gives nothing'
like "$ERR" '^pfold: no samples of none, but 6 of other events$' 'and it is reported'

cat >srcline.txt <<'EOT'
a.out 3 2.5:     6 cycles:
	  408ebb f+0x8b (/full/a.out)
  dist.h:300
	  4069f5 g->h+0x935 (/full/a.out)
  g;.cpp:1
  h.cpp:2 [x]
	  7ffc71ee [unknown] ([unknown])
	  7ffc71ef lib+0x1 (/lib/libc.so)
  libc.so[27b25]

EOT
fold --srcline srcline.txt
want 'a.out;lib:libc.so;[unknown];g:g:.cpp:1;h_[i]:h.cpp:2;f:dist.h:300 6'
same "$OUT" want '--srcline'

# What the numbers and words of a header can be, and the command, which may look like any of them. perf
# calls a thread that has ended :-1 and numbers it -1.
cat >headers.txt <<'EOT'
a1 2 b 33 4.5: 00 cycles:
	1 f (/x)

a 1 2.0: 4 cycles:
	1 f (/x)

: 5/6 7: 7/8 [001] 7.0: 8 cycles:
	abc (/x)

gzip 9 [000] 1.0: 9 cycles:
	1 f g (/x)

gzip 9/0009 1.0:99999999999999999999 cycles:
	1 f (/x)

:-1    -1 [001]  5.1: 3 cycles:
	1 f (/x)

:-1    -1/-1    5.2: 4 cycles:
	1 f (/x)

ls -1  77 5.3: 5 cycles:
	1 f (/x)

:-12 -1 99 5.4: 6 cycles:
	1 f (/x)

EOT
fold --tid headers.txt
want ':-1--1/-1;f 4' ':-1-?/-1;f 3' ':-12_-1-?/99;f 6' ':_5/6_7:-7/8;[x] 8' 'a-?/1;f 4' 'a1_2_b-?/33;f 0' \
	'gzip-9/0009;f 18446744073709551615' 'gzip-?/9;f g 9' 'ls_-1-?/77;f 5'
same "$OUT" want 'headers'

# A '#' begins a comment, or the name of a thread.
cat >hash.txt <<'EOT'
# ========
# captured on    : Sun Nov 22 17:52:29 2026
# cmdline : /usr/bin/perf record -F 99 -o 12 34:
#
#0:cpu#14 12/34 [000]  5.678901:     250 cycles: 
	1 f (/x)

# 5 12/34 [000]  5.678901:     3 cycles: 
	1 f (/x)

#0:cpu#14    34          1 cycles: 
	1 f (/x)

EOT
fold hash.txt
want '#0:cpu#14;f 251' '#_5;f 3'
same "$OUT" want 'threads whose names begin with #'
empty "$ERR" 'need no message'
printf '#0:cpu#14;f 251\n#1;g 3\n' >hash.folded
fold hash.folded
same "$OUT" hash.folded 'and neither do they in folded text'
empty "$ERR" 'without a message'

# Files that are gone, and memory that has no file name.
cat >gone.txt <<'EOT'
cc1 12/34 [000]  5.678901:     250 cycles: 
	1 [unknown] (/ (deleted))
	2 [unknown] (/memfd:jit (deleted))
	3 f(int)+0x3 (/usr/bin/cc1 (deleted))
	4 [unknown] (/)
	5 [unknown] (/dir/)
	6 [unknown] ()
	7 g+0x3 (deleted)
	8 h (deleted))

EOT
fold gone.txt
want 'cc1;h;g;[unknown];[/dir/];[/];f;[memfd:jit];[/] 250'
same "$OUT" want 'DSOs that are gone, or have no file name'

# What a terminal would obey.
printf 'c\302\2331m 1 1.0: 2 cycles:\n\t1 f\342\200\256\233g\303\244 (/x)\n\n' >controls.txt
fold controls.txt
printf 'c?1m;f??g\303\244 2\n' >want
same "$OUT" want 'controls of C1, marks of direction and bytes that are no UTF-8 are replaced'

# Lines of no known form.
printf 'cc1 1 1.0: 2 cycles:\n\t1 f (/x)\n\twhat is this\n\tor that\n\n' >odd.txt
fold odd.txt
is "$status" 0 'a line of no known form is no failure'
want 'cc1;f 2'
same "$OUT" want 'and no frame'
like "$ERR" '^pfold: odd.txt: offset 31: line is not recognized: .x09what is this$' \
	'but is shown once'
like "$ERR" '^pfold: odd.txt: 1 more like: ' 'and counted'

# Ends.
printf 'cc1 1 1.0: 2 cycles:\n\t1 f (/x)\n' >last.txt
fold last.txt
is "$status" 0 'a last sample without empty line'
same "$OUT" want 'is counted'
empty "$ERR" 'and needs no message'
fold last.txt last.txt
want 'cc1;f 4'
same "$OUT" want 'in each file'
printf 'cc1 1 1.0: 2 cycles:\n\t1 f (/x)\n\nld 1 1.0: 2 cycles:\n\t1 fu' >cut.txt
fold cut.txt
is "$status" 1 'a text that ends within a line'
like "$ERR" '^pfold: cut.txt: offset 52: input is cut off: it ends in the middle of a line$' 'says so'
want 'cc1;f 2' 'ld 2' '# partial: the input was damaged or cut off'
same "$OUT" want 'what was whole is there, and that it is not all'
cp "$OUT" partial.folded
fold partial.folded
is "$status" 1 'folded text that is partial stays so'
same "$OUT" want 'and says so again'
run "$BIN/psvg" partial.folded
is "$status" 1 'psvg notices it, too'
like "$ERR" '^psvg: partial.folded: the folded text is partial: the input was damaged or cut off$' 'says it'
like "$OUT" '; partial: the input was damaged or cut off<' 'and writes it below the graph'
printf 'cc1 1 1.0: 2 cycles:\n\t1 f (/x)\ncc1 1 1.0: 3 cycles:\n\t1 g (/x)\n\n' >joined.txt
fold --stats joined.txt
want 'cc1;f 2' 'cc1;g 3'
same "$OUT" want 'two samples without an empty line between'
like "$ERR" 'samples 2 = folded 2 ' 'are two'
printf 'cc1 1/1 1.0: 2 branches: 1 f (/x) => 2 g (/x)\ncc1 1/1 1.0: 3 branches: 2 g (/x) => 1 f (/x)\n' >lines.txt
fold lines.txt
is "$status" 0 'samples that are a line each'
same "$OUT" want 'are in the function that they come from'
# --event of folded text: as of the stream that it was made of.
printf '# event: cycles+faults, samples: 3, from: x\ncycles;a;f 5\nfaults;a;g 2\n' >two.folded
run "$BIN/pfold" -e faults two.folded
is "$(cat "$OUT")" "$(printf '# event: faults, unit: events, from: x\na;g 2')" 'one of several events, without its root'
fold -e none two.folded
is "$status" 1 'none of them'
like "$ERR" '^pfold: no samples of none, but 2 of other events$' 'is reported'
printf '# event: cycles, unit: cycles, samples: 3, from: x\na;f 5\n' >one.folded
run "$BIN/pfold" -e cycles one.folded
same "$OUT" one.folded 'the only one'
fold -e faults one.folded
is "$status" 1 'another than the only one'
printf 'a;f 5\n' >bare.folded
fold -e cycles bare.folded
is "$status" 2 'text that tells no event'
like "$ERR" 'does not say what it counts: --event cannot select' 'cannot be chosen from'
printf 'main;f 31.25\nmain;g 0.5\n' >fractions.txt
fold fractions.txt
is "$status" 2 'counts with fractions'
like "$ERR" 'is folded text whose counts have fractions: only psvg reads that$' 'are named'

for text in '' '\n\n' '# only a comment\n' '\t1 f (/x)\n'; do
	# shellcheck disable=SC2059
	printf "$text" >none.txt
	fold none.txt
	is "$status" 1 "no sample in '$text'"
	like "$ERR" '^pfold: no samples' 'is reported'
done

# A long line, one that fits and one that does not.
awk 'BEGIN { printf "cc1 1 1.0: 2 cycles:\n\t1 "; for (i = 0; i < 100000; i++) printf "0123456789"
	print " (/x)\n" }' >long.txt
fold long.txt
is "$status $(wc -c <"$OUT")" '0 4103' 'a line of a megabyte: its name is cut'
like "$OUT" '0123...#[0-9a-f]{8} 2$' 'as its end tells'
like "$ERR" '^pfold: names of more than 4096 bytes are cut: 1$' 'and a message'
awk 'BEGIN { printf "cc1 1 1.0: 2 cycles:\n\t1 "; for (i = 0; i < 300000; i++) printf "0123456789"
	print " (/x)\n\t1 f (/x)\n" }' >long.txt
fold long.txt
want 'cc1;f 2'
same "$OUT" want 'a line of three'
like "$ERR" '^pfold: long.txt: offset 21: line of more than 1048576 bytes' 'is too long'
run_pipe 'cat long.txt' '"$BIN/pfold" --no-header'
same "$OUT" want 'also from a pipe'

# bpftrace.
cat >bpftrace.txt <<'EOT'
Attaching 1 probe...

@[
    inner+1
    outer+2
, 
    0x7f01
    operator[](int)+3
, V8 Worker]: 12
@[
    outer+2
]: 4
@stacks[
    inner+1
    outer+2
, 
    0x7f01
    operator[](int)+3
, V8 Worker]: 3
@[, swapper/0]: 5
EOT
fold bpftrace.txt
is "$status" 0 'bpftrace text'
want 'V8 Worker;operator[](int)+3;0x7f01;outer+2;inner+1 15' 'outer+2 4' 'swapper/0 5'
same "$OUT" want 'is folded'
empty "$ERR" 'all of it'
head -n 14 bpftrace.txt >cut.txt
fold cut.txt
is "$status" 1 'bpftrace text that ends within a stack'
like "$ERR" 'cut.txt: offset [0-9]*: input is cut off: the last stack has no count' 'says so'

# Folded text.
printf 'a;b;c 10\na;b 3\na-x 1\n' >one.folded
printf 'a;b 4\nWeb Content 12;x y 5 6\na 2\na;b;c 18446744073709551615\n' >two.folded
fold one.folded two.folded
is "$status" 1 'folded text, with a count that is greater than counts are'
want 'Web Content 12;x y 5 6' 'a 2' 'a-x 1' 'a;b 7' 'a;b;c 18446744073709551615' '# partial: the input was damaged or cut off'
same "$OUT" want 'is merged'
like "$ERR" '^pfold: a count exceeds 18446744073709551615 and stays there$' 'as far as counts go'
"$BIN/pfold" --no-header one.folded two.folded perf.txt 2>/dev/null >all
fold all
same "$OUT" all 'its own output stays as it is'

printf 'a;b 10 12\nmain 0 3\n' >diff.folded
fold diff.folded
is "$status" 2 'a comparison of two profiles is no profile'
empty "$OUT" 'of which nothing is folded'
like "$ERR" '^pfold: diff.folded: each line has two counts, as difffolded.pl writes them' 'which is reported'

# What is of another kind.
other() { # FILE WHAT
	fold "$1"
	is "$status" 2 "$1 cannot be folded"
	empty "$OUT" "$1: no stacks are invented"
	like "$ERR" "$2" "$1: what it is"
}
cp "$ROOT/t/data/small.data" perf.data
cp "$ROOT/t/data/sched.dat" trace.dat
cp "$ROOT/README.md" "$ROOT/man/pfold.1" "$ROOT/lib/base/buf.c" .
printf 'a;b 10\n\000\001\n' >binary
"$BIN/pdecode" perf.data | "$BIN/phist" --tsv --by event >table.tsv
other perf.data 'is a perf.data recording: pdecode and psym have to read it first$'
other trace.dat 'is a trace.dat recording: pdecode and psym have to read it first$'
other binary 'is binary'
other table.tsv 'is a table: psvg draws it'
other README.md 'is not text of perf script, bpftrace, DTrace or trace-cmd report, nor folded text$'
other pfold.1 'is not text of perf script, bpftrace, DTrace or trace-cmd report, nor folded text$'
other buf.c 'is not text of perf script, bpftrace, DTrace or trace-cmd report, nor folded text$'

# Periods that say nothing of a weight.
printf 'aa 1/1 1.0: %s cycles:\n\t1 f (/x)\n\n' 0 4 0 18446744073709550616 >periods.txt
fold periods.txt
is "$status" 0 'odd periods'
like "$ERR" '^pfold: samples with a period of 0: 2 weigh nothing ' 'those of 0 are reported'
like "$ERR" '^pfold: samples with a period of 2\^63 or more, which cannot be true: 1 outweigh' 'and those below 0'
printf 'aa 1/1 1.0: %s cycles:\n\t1 f (/x)\n\n' 1 9223372036854775807 >periods.txt
fold periods.txt
empty "$ERR" 'others are weights'

# The first line tells what is counted.
about() {
	"$BIN/pfold" "$@" 2>err | head -n 1
}
is "$(about perf.txt)" '# event: cycles, unit: cycles, samples: 5, from: perf.txt' \
	'the first line tells what is counted'
is "$(about --count perf.txt)" '# event: cycles, unit: samples, samples: 5, from: perf.txt' \
	'samples that are counted are samples'
sed 's/[0-9]* cycles:/cpu-clock:u:/' perf.txt >unweighed.txt
is "$(about unweighed.txt)" '# event: cpu-clock:u, unit: samples, samples: 5, from: unweighed.txt' \
	'and so are those without a period'
sed 's/ cycles:/ cpu-clock:u:/' perf.txt >'a 9'
is "$(about 'a 9')" '# event: cpu-clock:u, unit: ns, samples: 5, from: a_9' 'a name has no blanks'
"$BIN/pfold" 'a 9' >a.folded 2>/dev/null
"$BIN/pfold" perf.txt >cycles.folded 2>/dev/null
is "$(about a.folded a.folded)" '# event: cpu-clock:u, unit: ns, samples: 10, from: a_9' \
	'what is equal is merged'
"$BIN/pfold" a.folded >again
same again a.folded 'folded text is folded to itself'
for other in cycles.folded perf.txt; do
	run "$BIN/pfold" a.folded $other
	is "$status" 2 "$other: another event"
	like "$ERR" "^pfold: $other: counts cycles in cycles, but .* cpu-clock:u in ns: their sum would be meaningless" \
		'is not added up'
	empty "$OUT" 'and nothing is written'
done
printf 'a;b 1\n' >plain.folded
is "$(about plain.folded)" 'a;b 1' 'what is not known is not said'
is "$(about a.folded plain.folded | grep -c '^#')" 0 'nor if a part of it is not known'
like err 'has no line that says what it counts' 'which is reported'
printf '# event: a, b: c, unit: ns, shape: round, samples: 3, from: x\na 7\n' >odd.folded
is "$(about odd.folded)" '# event: a, unit: ns, samples: 3, from: x' 'unknown keys are skipped'
is "$(awk '/ [0-9]+$/ { n++ } END { print n + 0 }' a.folded)" "$(grep -vc '^#' a.folded)" \
	'the line ends in no count'

# Usage.
fold no-such-file
is "$status" 2 'a file that is not there'
like "$ERR" '^pfold: no-such-file: cannot open' 'is named'
fold --evnt x
is "$status" 64 'wrong usage'
if [ -w /dev/full ]; then
	"$BIN/pfold" --no-header one.folded >/dev/full 2>err
	is $? 2 'a full disk'
	like err '^pfold: cannot write' 'is noticed'
else
	skip 2 'no /dev/full'
fi
# A function without a symbol has the name of its file and its start: that is no offset.
cat >guessed.txt <<'END'
gz 12 1.000000: 10 cycles:
	    1234 gzip+0x4a20 (/usr/bin/gzip)
	    1235 gzip+0x4a30+0x1a (/usr/bin/gzip)
	    1236 main+0x12 (/usr/bin/gzip)
	    1237 gzip+0x12 (/usr/lib/other)

END
run "$BIN/pfold" --no-header guessed.txt
is "$(cat "$OUT")" 'gz;gzip;main;gzip+0x4a30;gzip+0x4a20 10' 'guessed names keep their start'
done_testing
