#!/bin/sh
# pdiff: its numbers beside scipy's, its verdicts, forms and exit statuses, and how often it is wrong.
. "${0%/*}/lib.sh"

# Five tables of counts (t/data/README.md): each column a recording, a... of the base, b... new ones.
for n in 1 2 3 4 5; do
	mkdir "t$n"
	awk -v dir="t$n" 'NR == 1 { for (i = 2; i <= NF; i++) file[i] = dir "/" $i; next }
		{ for (i = 2; i <= NF; i++) if ($i) print "prog;main;" $1, $i >file[i] }' \
		"$ROOT/t/data/pdiff/$n.counts"
	run "$BIN/pdiff" --tsv --base "t$n/a*" --new "t$n/b*"
	is "$status" 0 "table $n is compared"
	awk -F '\t' -v OFS='\t' '$2 == "self" && $1 != "small" {
		print $15, $7, $8, $9, $10, $11, $12, $13 }' "$OUT" | LC_ALL=C sort >got
	LC_ALL=C sort "$ROOT/t/data/pdiff/$n.scipy" >want
	is "$(cut -f 1 got | paste -s -d ' ')" "$(cut -f 1 want | paste -s -d ' ')" 'the same functions'
	paste got want | awk -F '\t' '
		function near(a, b, d) {
			d = a - b
			return a == b || (d < 0 ? -d : d) <= 1e-6 * (b < 0 ? -b : b) + 1e-12
		}
		{ for (i = 2; i <= 8; i++) if (!near($i, $(i + 8))) print $1, i, $i, $(i + 8) }' >off
	empty off 'difference, interval, p, q, phi and df are those of scipy'
done

# Made-up recordings: f4, with 4 %, takes twice as much in d than in a; b and c are like a.
${CC:-cc} -O2 -D_GNU_SOURCE -o make "$ROOT/t/profile_make.c" -lm || exit 1
./make 1 100 5000 .0005 5 a && ./make 2 100 5000 .0005 5 b && ./make 3 100 5000 .0005 10 c &&
	./make 4 100 5000 .0005 5 d 4 2 || exit 1

run "$BIN/pdiff" a? -- d?
is "$status" 0 'a difference is no failure'
like "$OUT" '^verdict: 1 regressed' 'the verdict comes first'
like "$OUT" '^regressed +[0-9.]+ +[0-9.]+ +\+.* f4$' 'the function is found'
is "$(grep -c '^regressed.* f' "$OUT")" 2 'alone, by itself and including callees'
is "$(awk 'length($0) > 80' "$OUT")" '' 'the table fits 80 columns'
run "$BIN/pdiff" --gate a? -- d?
is "$status" 3 '--gate: exit 3'
like "$ERR" 'gate failed: 1 regressed' 'and why'
run "$BIN/pdiff" --gate d? -- a?
is "$status" 0 'an improvement passes'
like "$OUT" '^improved .* f4$' 'it is found, too'
run "$BIN/pdiff" --gate a? -- b?
is "$status" 0 'the same program passes'
run "$BIN/pdiff" --gate=strict a? -- b?
is "$status" 4 '--gate=strict: something cannot be decided'
like "$ERR" 'gate undecided' 'it is reported'
like "$OUT" 'about [0-9]+ recordings a side' 'with how many it could be'
run "$BIN/pdiff" --gate=strict --min-points 5 a? -- b?
is "$status" 0 'unless so little does not matter'

# One against one.
run "$BIN/pdiff" --gate a1 d1
is "$status" 0 'one against one closes no gate'
like "$OUT" 'One recording is compared with one' 'this is printed'
like "$ERR" 'decides nothing' 'and reported'
unlike "$OUT" '^(regressed|improved|new|gone)' 'there is no such verdict'
run "$BIN/pdiff" --gate=strict a1 d1
is "$status" 4 'the strict gate cannot decide'
"$BIN/pdiff" --learn-noise c* >noise.tsv || exit 1
like noise.tsv '^#PPNOISE1	recordings=10	' 'noise is learned'
./make 5 100 5000 .0005 5 e 4 2.5 || exit 1
run "$BIN/pdiff" --gate --noise noise.tsv a1 e1
is "$status" 3 'with a noise table one is enough for a large change'
run "$BIN/pdiff" --gate --noise noise.tsv a1 b1
is "$status" 0 'and no change is none'
run "$BIN/pdiff" --gate --noise a1 a1 b1
is "$status" 2 'a file that is no noise table'
like "$ERR" 'not a noise table' 'is reported'
sed '$d' noise.tsv >short.tsv
run "$BIN/pdiff" --gate --noise short.tsv a1 b1
is "$status" 2 'a noise table that lacks a line'
tr '.' '\000' <noise.tsv >odd.tsv
run "$BIN/pdiff" --gate --noise odd.tsv a1 b1
is "$status" 2 'one with bytes that are no text'
run "$BIN/pdiff" --learn-noise a1 a2
is "$status" 64 'two recordings teach nothing'

# One event stream against one: slices of time show how each varies. "burst" is there for two short
# spans only; "beta" gives a third of its time to "gamma" in the other.
events() { # SEED BURST MORE
	awk -v state="$1" -v burst="$2" -v more="$3" '
		function draw() { return (state = (state * 16807) % 2147483647) / 2147483647 }
		BEGIN {
			for (i = 0; i < 6000; i++) {
				u = draw()
				name = u < .4 ? "alpha" : u < .7 ? "beta" : u < .9 ? "gamma" : "delta"
				if (burst && int(i / 200) % 10 == 3) name = "burst"
				if (more && name == "beta" && draw() < more) name = "gamma"
				printf "%s-7  [000] d..1. %12.6f: bputs: x\n", name, 100 + i / 2000
			}
		}'
}
events 1 1 0 >one.txt && events 2 0 .3 >two.txt || exit 1
"$BIN/pdecode" one.txt >one.ps && "$BIN/pdecode" two.txt >two.ps || exit 1
run "$BIN/pdiff" --tsv --norm share one.ps two.ps
awk -F '\t' '$2 == "self" { print $15, $12, $13 }' "$OUT" | sort >got
# phi of each name: both variances by slices, by those of independent samples.
awk '{
	split($1, part, "-")
	sub(/:$/, "", $4)
	side = FILENAME == "two.txt"
	slice = int((($4 - 100) * 1e9 + .5) / (int(2999500000 / 30) + 1))
	n[side, slice]++; all[side]++
	y[part[1], side, slice]++; sum[part[1], side]++; names[part[1]] = 1
} END {
	for (name in names) {
		var = 0
		for (side = 0; side < 2; side++) {
			p = sum[name, side] / all[side]
			for (slice = 0; slice < 30; slice++) {
				off = y[name, side, slice] - n[side, slice] * p
				var += 30 / 29 * off * off / all[side] / all[side]
			}
		}
		p = (sum[name, 0] + sum[name, 1]) / (all[0] + all[1])
		phi = var / (p * (1 - p) * (1 / all[0] + 1 / all[1]))
		printf "%s %.9g 58\n", name, phi < 1 ? 1 : phi
	}
}' one.txt two.txt | sort >want
is "$(cut -d ' ' -f 1,3 got | paste -s -d ' ')" "$(cut -d ' ' -f 1,3 want | paste -s -d ' ')" \
	'two streams: the same names, 30 slices of each'
paste -d ' ' got want | awk '{ d = $2 - $5; if (d < 0) d = -d; if (d > 1e-6 * $5) print }' >off
empty off 'the dispersion is that of the slices'
like "$OUT" '^more	self	.*	gamma$' 'what takes more is found'
unlike "$OUT" '^(less|gone)	self	.*	burst$' 'a burst is none, however many samples it has'
run "$BIN/pdiff" --gate one.ps two.ps
is "$status" 0 'no gate is closed'
like "$OUT" 'tested by how they vary in themselves' 'which is reported'
"$BIN/pfold" -c one.ps >one.folded && "$BIN/pfold" -c two.ps >two.folded || exit 1
run "$BIN/pdiff" --tsv one.folded two.folded
like "$OUT" '	3	inf	.*	gamma$' 'of folded text the dispersion is assumed'
run "$BIN/pdiff" --tsv one.ps - <two.ps
like "$OUT" '	3	inf	.*	gamma$' 'so it is of what cannot be read twice'

# Names.
printf '%s\n' 'p;m;f.isra.0 100' 'p;m;g.constprop.0.cold 100' 'p;m;h [clone .part.3] 100' \
	'p;m;r::s::h0123456789abcdef 100' 'p;m;k.cold_[k] 100' 'p;m;0x7f12 50' 'p;m;u+0x1f 100' 'p;m;v+0x4a20 100' >n1
printf '%s\n' 'p;m;f 100' 'p;m;g 100' 'p;m;h 100' 'p;m;r::s 100' 'p;m;k_[k] 100' \
	'p;m;00007f1234567890 50' 'p;m;u 100' 'p;m;v+0x4a20 100' >n2
run "$BIN/pdiff" --tsv n1 n2
is "$(awk -F '\t' '$2 == "self" && $7 == 0 { print $15 }' "$OUT" | sort | paste -s -d ' ')" \
	'[unknown] f g h k_[k] r::s u v+0x4a20' 'what a rebuild changes in names is left out'
run "$BIN/pdiff" --tsv --exact n1 n2
like "$OUT" '	f\.isra\.0$' '--exact keeps it'

# New, gone, renamed: f3 is f3 in the base and "other" later; "fresh" takes 10 % from nowhere.
for i in 1 2 3 4 5; do
	sed 's/;f3 /;other /' "b$i" >"r$i"
	{
		cat "b$i"
		echo 'prog;main;fresh 500'
	} >"w$i"
done
run "$BIN/pdiff" --gate a? -- r?
is "$status" 0 'another name closes no gate'
is "$(grep -c '^renamed' "$OUT")" 4 'both names are there, alone and with what they call'
like "$OUT" 'was it f3\?' 'and the old one is proposed'
run "$BIN/pdiff" --gate a? -- w?
is "$status" 3 'what is new closes it'
like "$OUT" '^new .* fresh$' 'by its name'
run "$BIN/pdiff" w? -- b?
like "$OUT" '^gone .* fresh$' 'what is gone is listed'

# Inlined: "mid" and "inner" below it are a part of "outer" in the other build, whose weight is the sum.
build() { # FILE SEED WHOLE
	awk -v seed="$2" -v whole="$3" 'BEGIN {
		srand(seed)
		for (k = 0; k < 30; k++) print "p;main;f" k, 150 + int(rand() * 20)
		if (whole + 0) {
			print "p;main;outer", whole + int(rand() * 50)
			exit
		}
		print "p;main;outer", 400 + int(rand() * 20)
		print "p;main;outer;mid", 200 + int(rand() * 20)
		print "p;main;outer;mid;inner", 500 + int(rand() * 20)
	}' >"$1"
}
for i in 1 2 3 4 5; do
	build pa$i $i 0 && build pb$i $((i + 20)) 1100 && build pd$i $((i + 40)) 1500 || exit 1
	sed 's/;inner /;inner_[i] /' pa$i >pc$i
done
run "$BIN/pdiff" --gate=strict --min-points 1 pa? -- pc?
is "$status" 0 'the mark of inlined functions is no other name'
unlike "$OUT" '^(new|gone|renamed)' 'nor is it listed'
run "$BIN/pdiff" --gate pa? -- pb?
is "$status" 0 'functions that were inlined close no gate'
is "$(awk '/^inlined/ { print $NF, ($4 > 0 ? "more" : "less") } /including callees/ { exit }' "$OUT" | sort | paste -s -d ' ')" \
	'inner less mid less outer more' 'all of them are told apart'
is "$(grep -c '^ *inlined into outer?$' "$OUT")" 4 'the caller is proposed, alone and including callees'
like "$OUT" '^ *is it with mid inlined\?$' 'and to the caller what it called'
run "$BIN/pdiff" --markdown pa? -- pb?
like "$OUT" '<code>inner</code> <code>inlined into outer\?</code>' 'so it is in Markdown'
run "$BIN/pdiff" --gate pb? -- pa?
is "$status" 0 'nor do those that no longer are'
is "$(grep -c '^ *was it inlined into outer?$' "$OUT")" 4 'which are proposed, too'
run "$BIN/pdiff" --gate --total pb? -- pa?
is "$status" 0 'also judged with what they call'
run "$BIN/pdiff" --gate --by stack pa? -- pb?
is "$status" 0 'by stacks'
like "$OUT" '^ *inlined into p;main;outer\?$' 'the caller is the stack without its leaf'
run "$BIN/pdiff" --gate pa? -- pd?
is "$status" 3 'a caller that takes more than what it took over closes the gate'
like "$OUT" '^regressed .* outer$' 'by its name'
for i in 1 2 3 4 5; do
	sed '/outer/d' pb$i >pe$i
	sed '/inner/d; s/;f1 .*/;f1 700/' pa$i >pf$i
done
run "$BIN/pdiff" --gate pa? -- pe?
is "$status $(grep -c '^inlined' "$OUT")" '0 0' 'what nobody took over was not inlined'
run "$BIN/pdiff" --gate pa? -- pf?
is "$status" 3 'as much in a function that did not call it is a regression'

# No difference: what would have been seen is reported, and it is.
run "$BIN/pdiff" a? -- b?
like "$OUT" '^verdict: no regression; a change of [0-9.]+ points or more would have been detected$' 'no regression'
points=$(sed -n 's/^verdict: no regression; a change of \([0-9.]*\) points.*/\1/p' "$OUT")
sum=$(awk '{ n += $NF } END { print n / 5 }' b?)
seen=0
for f in 0 3 6 10 20; do
	for i in 1 2 3 4 5; do
		awk -v add="$(awk "BEGIN { print int($points * $sum / 100) }")" -v name="prog;main;f$f" \
			'$1 == name { $2 += add } { print }' "b$i" >"y$i"
	done
	"$BIN/pdiff" --norm share --gate a? -- y? >/dev/null 2>&1
	[ $? != 3 ] || seen=$((seen + 1))
done
ok "a change by so many points is found in $seen of 5 functions" [ "$seen" -ge 4 ]
run "$BIN/pdiff" --junit a? -- b?
like "$OUT" ' failures="0" errors="0" skipped="0">' 'JUnit: what is unclear has passed'
like "$OUT" '<system-out>unclear: ' 'with its numbers'
if have xmllint; then
	ok 'it is XML, too' xmllint --noout "$OUT"
else
	skip 1 'xmllint is not installed'
fi
run "$BIN/pdiff" --junit a1 b1
like "$OUT" ' skipped="[1-9]' 'one against one tells nothing: skipped'
# f0, with more than chance between runs; f1 with nothing but chance, and few samples.
for i in 1 2 3 4 5 6 7 8 9 10; do
	awk -v i=$i 'BEGIN {
		srand(i)
		for (k = 0; k < 30; k++) print "p;main;f" k, 160 + int(rand() * 20)
	}' >steady$i
	awk -v i=$i '/;f0 / { $2 = i % 2 ? 300 : 600 } { print }' steady$i >shaky$i
done
run "$BIN/pdiff" --min-points 4 steady[1-5] -- steady[6-9] steady10
unlike "$OUT" 'ecordings help|about .* recordings' 'nothing is unclear: nothing is needed'
run "$BIN/pdiff" --min-points .1 --min-relative 1 steady[1-5] -- steady[6-9] steady10
like "$OUT" '^Longer recordings help more than more of them' 'runs that hardly vary: longer ones help'
run "$BIN/pdiff" shaky[1-5] -- shaky[6-9] shaky10
like "$OUT" 'about [0-9]+ recordings a side' 'runs that vary: more of them'
unlike "$OUT" 'Longer recordings' 'longer ones would not help'

# Damaged input.
{
	cat a1
	echo '# partial: the input was damaged or cut off'
} >partly
run "$BIN/pdiff" partly a2 a3 -- b?
is "$status" 1 'a recording that is partial: exit 1'
like "$ERR" 'partial' 'and it is reported'
run "$BIN/pdiff" --gate partly a2 a3 -- d?
is "$status" 3 'a regression wins'
like "$ERR" 'result is partial' 'but both'
like "$ERR" 'gate failed' 'are reported'
: >nothing
run "$BIN/pdiff" a1 nothing
is "$status" 2 'a recording without samples'
like "$ERR" 'nothing: no samples' 'is named'
run "$BIN/pdiff" a1 missing
is "$status" 2 'so is one that is missing'
run "$BIN/pdiff" a1
is "$status" 64 'one side only'
run "$BIN/pdiff" --gate a1 a2 --
is "$status" 64 'nothing after "--" is no comparison of what is before it'
"$BIN/pdecode" "$ROOT/t/data/sched.dat" >sched.ps 2>/dev/null
"$BIN/phist" --tsv --by comm sched.ps >comm.tsv || exit 1
run "$BIN/pdiff" a1 comm.tsv
is "$status" 2 'folded text and a table'
like "$ERR" 'is a table, and the input before is none' 'cannot be compared'
run "$BIN/pdiff" --by comm,cpu sched.ps sched.ps
is "$status" 0 'several keys of a stream'
head -c 3000 /dev/zero >binary
run "$BIN/pdiff" a1 binary
is "$status" 2 'binary bytes that are nothing'
run "$BIN/pdiff" --norm=nonsense a1 b1
is "$status" 64 'an unknown norm'
run "$BIN/pdiff" --base 'none*' --new b1
is "$status" 64 'a pattern that nothing matches'
run "$BIN/pdiff" --by dso a1 b1
is "$status" 64 'a key that folded text does not have'
like "$ERR" 'needs an event stream' 'is explained'

# Weights.
awk '{ printf "%s %.0f\n", $1, $2 * 10101010 }' a1 >period
run "$BIN/pdiff" --tsv period a1
is "$(awk -F '\t' '$2 == "self" && $3 != $4' "$OUT")" '' 'weights that are multiples of a period are counts'
awk '{ printf "%s %.0f\n", $1, $2 * 100000 + NR * 7 % 500 }' a1 >odd
run "$BIN/pdiff" odd odd
like "$ERR" 'taken as one sample' 'other weights are guessed, which is reported'
run "$BIN/pdiff" --tsv --period 100000 odd odd
like "$OUT" '	f0$' '--period says it'
unlike "$ERR" 'taken as' 'and nothing is guessed'

# Work: twice the work in twice the samples is the same.
for i in 1 2 3; do
	awk '{ print $1, $2 * 2 }' "b$i" >"x$i"
done
run "$BIN/pdiff" --gate --work 1,1,1,2,2,2 a1 a2 a3 -- x1 x2 x3
is "$status" 0 'by work, twice as much in twice the samples is no change'
run "$BIN/pdiff" --gate --work 1,1,1,1,1,1 a1 a2 a3 -- x1 x2 x3
is "$status" 3 'for the same work it is one'
run "$BIN/pdiff" --work 1,1 a1 a2 a3 -- x1 x2 x3
is "$status" 64 'work has to be given for each'

# Other inputs: event streams, tables of phist, standard input.
"$BIN/pdecode" "$ROOT/t/data/demo.pstream.zst" >demo.ps 2>/dev/null || exit 1
run "$BIN/pdiff" --by comm demo.ps demo.ps
is "$status" 0 'event streams, by command'
run "$BIN/pdiff" --tsv --by dso demo.ps demo.ps
is "$(sed 1,2d "$OUT" | awk -F '\t' '{ n += $3 } END { print n }')" \
	"$("$BIN/phist" --tsv --by dso demo.ps | sed 1d | awk -F '\t' '{ n += $3 } END { print n }')" \
	'by DSO, the samples are those of phist'
"$BIN/phist" --tsv --by dso demo.ps >demo.tsv
"$BIN/pdiff" --tsv --by dso demo.ps demo.ps | sed 1d | cut -f 3- | sort >want
run "$BIN/pdiff" --tsv demo.tsv demo.tsv
sed 1d "$OUT" | cut -f 3- | sort >got
same got want 'a table of phist says the same'
run_pipe 'cat a1' '"$BIN/pdiff" --tsv - a1'
is "$(awk -F '\t' '$2 == "self" && $3 != $4' "$OUT")" '' 'standard input is a recording'
run "$BIN/pdiff" --by stack --tsv a1 a1
like "$OUT" '	prog;main;f0$' 'stacks as a whole'
run "$BIN/pdiff" --norm time a1 b1
is "$status" 64 'folded text has no duration'
run "$BIN/pdiff" --norm time demo.ps demo.ps
is "$status" 0 'event streams have'

# Forms. Names that a browser or a build server would take for something else.
printf '%s\n' 'p;m;<script>alert(1)</script> 500' 'p;m;a|b`c 500' >h1
for i in 1 2 3; do
	printf '%s\n' 'p;m;<script>alert(1)</script> 900' 'p;m;a|b`c 100' >"k$i"
	printf 'p;m;<script>alert(1)</script> %d\np;m;a|b`c %d\n' $((500 + i)) $((500 - i)) >"h$i"
done
run "$BIN/pdiff" --markdown h? -- k?
is "$status" 0 'Markdown'
unlike "$OUT" '<script' 'has no markup of ours'
unlike "$OUT" 'a\|b' 'and no cell border in a name'
like "$OUT" '^\*\*pdiff:\*\* 1 regressed, 1 improved' 'begins with the verdict'
run "$BIN/pdiff" --junit h? -- k?
unlike "$OUT" '<script' 'JUnit has neither'
like "$OUT" '<testsuite name="pdiff" tests="2" failures="1" errors="0" skipped="0">' 'and counts'
if have xmllint; then
	ok 'it is XML' xmllint --noout "$OUT"
else
	skip 1 'xmllint is not installed'
fi
awk 'BEGIN { for (i = 0; i < 2000; i++) printf "p;m;function_number_%d_with_a_name_that_is_long_enough 10\n", i }' >many
run "$BIN/pdiff" --markdown many many
ok 'Markdown stays below 60 kB' [ "$(wc -c <"$OUT")" -le 60000 ]
like "$OUT" 'more rows than fit' 'and says that it is cut'
run "$BIN/pdiff" --json a? -- d?
if have jq; then
	is "$(jq -r '.rows[] | select(.verdict == "regressed" and .measure == "self") | .name' "$OUT")" f4 \
		'JSON has the row'
	is "$(jq '.recordings | length' "$OUT")" 10 'and the recordings'
else
	skip 2 'jq is not installed'
fi
run "$BIN/pdiff" --folded --norm share a? -- d?
like "$OUT" '^# diff: 1 base=5 new=5 samples=[0-9]+,[0-9]+ norm=share decided=yes by=function$' \
	'folded text tells what it is'
like "$OUT" '^# verdict: total regressed 0\.0[0-9]+ 0\.0[0-9]+ [-0-9.e]+ f4$' 'the verdicts come first'
like "$OUT" '^# verdict: self regressed .* f4$' 'of both measures'
sums() { # FILE...: of the samples
	awk '{ n += $NF } END { print n }' "$@"
}
columns() { # of folded text with two counts: "BASE NEW", their sums
	awk '!/^#/ { a += $(NF - 1); b += $NF } END { print a, b }' "$OUT"
}
more=$({
	sums a?
	sums d?
} | sort -n | tail -1)
is "$(columns)" "$more $more" 'the smaller side has as many samples as the other'
seq 1 3000 | sed 's/.*/p;m;f&;g h& 1/' >many
printf '%s\n' 'p;m;f1;g h1 100' 'p;m;f2;g h2 600' >few
run "$BIN/pdiff" --folded --norm share many few
is "$(columns)" '3000 3000' 'nothing is rounded away'
is "$(grep -v '^#' "$OUT" | grep -c ' 1 [0-9]*$')" 3000 'nor a stack'
is "$(grep '^p;m;f2;g h2 ' "$OUT" | grep -c -E ' 1 257[12]$')" 1 'numbers of the smaller side are scaled'
like "$OUT" '^# diff: .* decided=no ' 'one against one is marked'
run "$BIN/pdiff" --folded --by stack many few
like "$OUT" '^# verdict: self more .* p;m;f2;g h2$' 'a stack by its text'
{
	cat few
	echo '# partial: the input was damaged or cut off'
} >part
run "$BIN/pdiff" --folded many part
is "$status $(tail -1 "$OUT")" '1 # partial: the input was damaged or cut off' 'what is partial is marked as such'
run "$BIN/pdiff" --folded --by dso many few
is "$status" 64 'keys have no stacks'

# Latencies: tables of one row, in which all values are equal; those below 512 have a bucket each.
latencies() { # FILE VALUE [VALUE OF THE LAST 5 %]
	awk -v v="$2" -v slow="${3-$2}" -v OFS='\t' 'BEGIN {
		print "#PPTABLE1 rows=1 view=bars name=intervals", "kind:key", "duration:count", "duration:sum:ns",
			"duration:min:ns", "duration:max:ns", "duration:max_time:ns", "duration:buckets"
		n = v == slow ? "" : " " slow ":50"
		m = v == slow ? 1000 : 950
		print "intervals", "runq", 1000, v * m + slow * (1000 - m), v, slow, 1, v ":" m n }' >"$1"
}
i=0
for v in 100 104 98; do latencies l$((i += 1)) $v; done
i=0
for v in 130 125 133; do latencies m$((i += 1)) $v; done
run "$BIN/pdiff" --tsv l? -- m?
is "$status" 0 'tables with distributions are compared by their percentiles'
# scipy.stats.ttest_ind of the logarithms (Welch), with the variance of a bucket added.
awk -F '\t' '$2 == "p50" && $1 == "regressed" { printf "%.4f %.3f %.4f %.4f %.4f\n", $10, $13, $7, $8, $9 }' \
	"$OUT" >got
is "$(cat got)" "$(printf '%.4f %.3f %.4f %.4f %.4f' 0.000575724343 3.9943274518 0.28473985544 0.19798961070 0.37777196181)" 'p, df, change and interval are those of scipy'
is "$(sed 1,2d "$OUT" | cut -f 1,2 | paste -s -d ' ')" 'regressed	p50 regressed	p99' 'median and 99th percentile'
run "$BIN/pdiff" --gate l? -- m?
is "$status" 3 'they close a gate'
like "$OUT" '^regressed 100\.6 ns 129\.3 ns \+28\.47 .* runq$' 'in units of time'
i=0
for v in 300 310 290; do latencies s$((i += 1)) 100 $v; done
i=0
for v in 400 410 390; do latencies u$((i += 1)) 100 $v; done
run "$BIN/pdiff" --tsv s? -- u?
is "$(sed 1,2d "$OUT" | cut -f 1,2 | paste -s -d ' ')" 'same	p50 regressed	p99' 'a tail that grows alone'
run "$BIN/pdiff" l1 m1
is "$status" 64 'one table against one'
like "$ERR" 'two recordings of each side' 'is refused'
run "$BIN/pdiff" l1 l2 -- m1 demo.tsv
is "$status" 2 'latencies and counts'
like "$ERR" 'counts and latencies' 'are refused'

# How often it is wrong: a few cells of the grid, through the same script as the whole.
if sanitized; then
	skip 1 'how often pdiff is wrong needs no sanitizer'
else
	CELLS=small run env CELLS=small "$ROOT/t/oracle/pdiff-rate" -n 40
	is "$status" 0 'wrong in 5 % of runs at most; the binomial test is wrong more often'
fi
[ "$status" = 0 ] || diag_file "$OUT"
"$BIN/plat" --tsv -k runq sched.ps >runq.tsv 2>/dev/null || exit 1
run "$BIN/pdiff" --wide --top 0 runq.tsv runq.tsv -- runq.tsv runq.tsv
is "$status" 0 'what plat writes by itself: several tables'
like "$OUT" ' intervals: runq$' 'the one of all kinds'
like "$OUT" ' runq: wl$' 'and that of each'
done_testing
