#!/bin/sh
# psvg --diff: widths, colours, words and what is gone, of two files, of text with two counts, and of
# what pdiff says. t/oracle/flamegraph compares with flamegraph.pl.
. "${0%/*}/lib.sh"

# "NAME WIDTH FILL" of each frame, by name.
frames() {
	sed -n 's|^<rect x="[^"]*" y="[^"]*" width="\([^"]*\)".* fill="#\([0-9a-f]*\)".*<title>\(.*\) ([0-9].*</title>.*|\3 \1 \2|p' "$1" | sort
}
printf '%s\n' 'p;f 60' 'p;g 30' 'p;old 10' >old
printf '%s\n' 'p;f 60' 'p;g;h 120' 'p;new 20' >new
run "$BIN/psvg" --diff --width 1020 old new
is "$status" 0 'two files'
empty "$ERR" 'nothing to say'
cp "$OUT" diff.svg
# 200 samples in 1000 pixels; the base is doubled: f 120, g 60, old 20. The greatest difference is h's.
frames diff.svg >got
cat >want <<'EOT'
all 1000 eeeeee
f 300 7979ff
g 600 7979ff
h 600 ff5050
new 100 ffa2a2
p 1000 eeeeee
EOT
sed -i 's/^g 600 .*/g 600 ff7979/' want
same got want 'are as wide as in the new one, and coloured by the difference with all callees'
like diff.svg '<title>f \(60, 30\.00%; before 60\.00%; -30\.00 points; -50\.0%\)</title>' 'less, in words'
like diff.svg '<title>new \(20, 10\.00%; before 0\.00%; \+10\.00 points; new\)</title>' 'new'
like diff.svg 'gone: 1 frames with 10\.00% of the base \(--gone\); the base is scaled' 'what is gone is reported'
unlike diff.svg 'narrower' 'and is not called narrow'
like diff.svg '<g id="legend">.*more.*less' 'a legend'
unlike diff.svg 'not significant' 'has what there is'
if have xmllint; then
	ok 'well-formed' xmllint --noout diff.svg
else
	skip 1 'xmllint is not installed'
fi
run "$BIN/psvg" --diff --raw --width 1020 old new
like "$OUT" '<title>f \(60, 30\.00%; before 60\.00%; -30\.00 points; \+0\.0%\)' '--raw: the counts as they are'
run "$BIN/psvg" --diff --negate --width 1020 old new
frames "$OUT" | grep '^h ' >got
is "$(cat got)" 'h 600 5050ff' '--negate'
run "$BIN/psvg" --gone --width 1020 old new
is "$status" 0 '--gone'
frames "$OUT" | cut -d ' ' -f 1,2 >got
printf '%s\n' 'all 1000' 'old 1000' 'p 1000' >want
same got want 'draws what the new one has no more'
run "$BIN/psvg" --gone new new
is "$status" 1 'nothing is gone'
like "$ERR" 'nothing is gone' 'is reported'

# What a compiler decides anew with each build is no difference.
printf '%s\n' 'p;f_[i] 60' 'p;g.isra.0 10' 'p;g.cold 20' 'p;old 10' >old-marks
sed 's/f 60/f.part.1_[i] 60/' new >new-marks
"$BIN/psvg" --diff --width 1020 old new >want
for pair in 'old-marks new' 'old new-marks' 'old-marks new-marks'; do
	# shellcheck disable=SC2086
	run "$BIN/psvg" --diff --width 1020 $pair
	same "$OUT" want "functions that were inlined or cloned in one build: $pair"
done
"$BIN/pdiff" --exact --folded old-marks -- new-marks >exact
run "$BIN/psvg" --diff exact
like "$OUT" '<title>f\.part\.1' 'text with two counts keeps its names'

# Commands that differ: what is below them is compared, as if they had one name.
for f in old new; do
	sed "s/^p;/$f;/" "$f" >"$f-command"
done
sed 's/^p;/new;/' old >same-command
run "$BIN/psvg" --diff --width 1020 same-command new-command
sed 's/the same total/&; commands differ: old is compared with new/' "$OUT" >want
run "$BIN/psvg" --diff --width 1020 old-command new-command
is "$status" 0 'commands that differ'
same "$OUT" want 'are matched, which is reported'
others() { # FILE WORKER: beside commands that both have, and a second that differs
	cat "$1" && echo 'swapper;idle 40' && echo "$2;ret;work 9"
}
others old-command kw1 >old-all && others same-command kw2 >same-all && others new-command kw2 >new-all
run "$BIN/psvg" --diff --width 1020 same-all new-all
frames "$OUT" >want
run "$BIN/psvg" --diff --width 1020 old-all new-all
frames "$OUT" >got
same got want 'each with the one that it is most like'
like "$OUT" 'commands differ: kw1 is compared with kw2; old is compared with new' 'all are named'
{ echo 'swapper;idle 40' && echo 'make;a;b 60'; } >apart-old
{ echo 'swapper;idle 40' && echo 'ls;c;d 60'; } >apart-new
run "$BIN/psvg" --diff apart-old apart-new
unlike "$OUT" 'commands differ' 'other programs that have nothing in common are not'

# Two counts a line. The colours of --leaf follow from flamegraph.pl's rule: int(210 * (max - d) / max).
printf '%s\n' 'p;f 120 60' 'p;g 60 0' 'p;g;h 0 120' 'p;new 0 20' 'p;old 20 0' >both
run "$BIN/psvg" --diff --width 1020 both
sed 's/; the base is scaled to the same total//g' diff.svg >want
same "$OUT" want 'text with two counts is taken as it is'
run "$BIN/psvg" --leaf --width 1020 both
frames "$OUT" >got
cat >want <<'EOT'
all 1000 ffffff
f 300 6969ff
g 600 6969ff
h 600 ff0000
new 100 ffafaf
p 1000 ffffff
EOT
same got want '--leaf: the frame alone'

# pdiff's verdicts.
{ echo '# diff: 1 base=5 new=5 samples=200,200 norm=share decided=yes by=function' &&
	echo '# verdict: total regressed 0.3 0.6 0.001 g' && echo '# verdict: self regressed 0 0.6 0.001 h' &&
	echo '# verdict: total improved 0.6 0.3 0.001 f' && cat both; } >judged
run "$BIN/psvg" --diff --width 1020 judged
is "$status" 0 "pdiff's text"
frames "$OUT" | awk '{ print $1, $3 == "c8c8c8" ? "grey" : $3 ~ /^ff/ ? "red" : "blue" }' >got
printf '%s\n' 'all grey' 'f blue' 'g red' 'h grey' 'new grey' 'p grey' >want
same got want 'what is not significant is grey'
like "$OUT" '<title>h \(.*; not significant\)' 'and says so'
like "$OUT" 'not significant</text></g>' 'as does the legend'
sed -i 's/by=function/by=stack/; s/total regressed \(.*\) g/self regressed \1 p;g;h/; s/total improved \(.*\) f/self improved \1 p;f/' judged
run "$BIN/psvg" --diff --width 1020 judged
frames "$OUT" | awk '{ print $1, $3 == "c8c8c8" ? "grey" : $3 ~ /^ff/ ? "red" : "blue" }' >got
printf '%s\n' 'all grey' 'f blue' 'g grey' 'h red' 'new grey' 'p grey' >want
same got want 'by stacks, the leaf of each is coloured'
for n in 1 2 3; do
	printf '%s\n' "p;f 600$n" "p;g 300$n" 'p;x 1000' >base-$n.folded
	printf '%s\n' "p;f 300$n" "p;g 600$n" 'p;x 1000' >new-$n.folded
done
"$BIN/pdiff" --folded base-?.folded -- new-?.folded >two 2>/dev/null
run "$BIN/psvg" --diff two
is "$status" 0 'pdiff --folded | psvg --diff'
frames "$OUT" | awk '{ print $1, $3 == "c8c8c8" ? "grey" : $3 ~ /^ff/ ? "red" : "blue" }' >got
printf '%s\n' 'all grey' 'f blue' 'g red' 'p grey' 'x grey' >want
same got want 'colours by its verdicts'

# Refusals.
run "$BIN/psvg" --diff old
is "$status" 64 'one profile'
like "$ERR" 'takes two files' 'is no difference'
run "$BIN/psvg" --diff old new new
is "$status" 2 'three'
printf '# event: cycles, unit: cycles, from: -\np 1\n' >cycles
printf '# event: cpu-clock, unit: ns, from: -\np 1\n' >clock
run "$BIN/psvg" --diff cycles clock
is "$status" 2 'different events'
like "$ERR" 'counts cpu-clock in ns, but the input before counts cycles' 'are not compared'
{ cat both && echo 'p;f 12'; } >mixed
run "$BIN/psvg" --diff mixed
is "$status" 1 'a line without two counts'
like "$ERR" 'line without two counts is left out' 'is left out'
done_testing
