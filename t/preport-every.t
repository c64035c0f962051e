#!/bin/sh
# preport --every: reports of one period after the other, beside preport's own of that part of the recording;
# a view that is refreshed; what the view leaves out by its keys.
. "${0%/*}/lib.sh"

mkdir root
gzip -dc "$ROOT/t/data/deep.gz" >root/deep
"$BIN/pdecode" "$ROOT/t/data/deep.data" | "$BIN/psym" --plain --symfs root --trust-host >deep.ps 2>/dev/null || exit 1

# Lines in an order of their own, without the lines of trees: what has the same share comes as it came.
plain() { # FILE
	tr '|`-' '   ' <"$1" | sed -e 's/  */ /g' -e 's/ $//' -e '/^$/d' | sort
}

# ---- text ----

for form in '' --no-children --tree=caller --tree=callee; do
	# shellcheck disable=SC2086
	run "$BIN/preport" $form --every=200ms deep.ps
	is "$status" 0 "--every $form"
	awk '/^(period|sum) [0-9]/ { n++; if ($1 == "sum") last = n; print $2, $4 >"spans"; next } { print >("part." n) } END { print n, last }' "$OUT" >counted
	is "$(cat counted)" '6 6' 'five periods and their sum'
	n=0
	while read -r from to; do
		n=$((n + 1))
		plain part.$n >got
		if [ "$n" = 6 ]; then
			# shellcheck disable=SC2086
			"$BIN/preport" $form deep.ps >report
			plain report >want
			same got want 'the sum is the report of all'
		else
			# shellcheck disable=SC2086
			"$BIN/pfilter" --drop "time >= $(echo "$from" | tr -d .)000 && time < $(echo "$to" | tr -d .)000" deep.ps |
				"$BIN/preport" $form >report
			plain report >want
			# The last period ends with the last sample.
			[ "$n" = 5 ] || same got want "period $n is the report of that part"
		fi
	done <spans
	rm -f part.*
done
run "$BIN/preport" --every=200ms --no-children deep.ps
is "$(awk '/^sum / { exit } /^cpu-clock: / { n += $2 } END { print n }' "$OUT")" 174 'each sample is in one period'
run "$BIN/preport" --every=200ms --cumulative --no-children deep.ps
is "$(awk '/^cpu-clock: / { print $2 }' "$OUT" | sort -n | tail -n 2 | tr '\n' ' ')" '159 174 ' '--cumulative: all until then'
cat deep.ps deep.ps >twice.ps
run "$BIN/preport" --every=10s twice.ps
is "$(grep -c '^period ' "$OUT")" 2 'another recording ends a period'
like "$OUT" '^cpu-clock: 348 samples' 'and is in the sum'
for bad in '--every=0' '--every=x' '--cumulative' '--every=1s --tsv' '--every=1s --function main' '--every=1s --html'; do
	# shellcheck disable=SC2086
	run "$BIN/preport" $bad deep.ps
	is "$status" 64 "not $bad"
done
echo 'main;f 1' >x.folded
run "$BIN/preport" --every=1s x.folded
is "$status" 2 'text has no times'
like "$ERR" 'text has no times of its samples' 'and a message says so'
run "$BIN/preport" --every=200ms --sort=nonsense deep.ps
is "$status" 64 'no such column'
head -c $(($(wc -c <deep.ps) / 2)) deep.ps >cut.ps
run "$BIN/preport" --every=200ms cut.ps
is "$status" 1 'a stream that is cut off'
like "$OUT" '^period ' 'what came before it was reported'

# ---- the view ----

if ! ldd "$BIN/preport" 2>/dev/null | grep -q ncurses; then
	run "$BIN/preport" --view --every=1s deep.ps
	is "$status" 2 'without ncursesw there is no view'
	done_testing
	exit
fi
${CC:-cc} -O1 -D_GNU_SOURCE -o pty "$ROOT/t/pty.c" || exit 1
screen() { # NUMBER
	awk -v n="$1" '$0 == "--" { k++; next } k == n - 1' "$OUT"
}

# The input goes on: the other end of the pipe stays open until the view has been left.
mkfifo input hold
exec 9<>hold # so that reading it does not end
{
	head -c $(($(wc -c <deep.ps) * 3 / 4)) deep.ps
	cat hold
} >input &
writer=$!
run ./pty 40x200 '<await samples><shot>/compute<enter><enter><shot>q' "$BIN/preport" --view --every=100ms input
kill "$writer" 2>/dev/null
is "$status" 0 'a view of what goes on; q ends it, though the input has not ended'
screen 1 >got
like got '^ *- cpu-clock: [0-9]+ samples' 'a period is shown'
ok 'which is not all' test "$(sed -n 's/.*cpu-clock: \([0-9]*\) .*/\1/p' got)" -lt 174
screen 2 >got
like got '^>- .* compute$' 'lines open and close'

# To the end: what was open stays open, what is shown is all.
run ./pty 40x200 '<await 174 samples><shot>q' "$BIN/preport" --view --every=100ms deep.ps
screen 1 >got
like got '^ *- cpu-clock: 174 samples' 'in the end all is shown'

# ---- what is left out ----

two='one;main;f 6
one;main;g 2
two;main;f 1
two;main;h 3'
echo "$two" >two.folded
share() { # NAME: the columns of a row
	screen "$1" | sed -n "s/^[> ][-+ ] *\([0-9.]*%\) *\([0-9.]*%\) .* $2\$/\1 \2/p" | tr '\n' ' '
}
run ./pty 40x120 '/h<enter>t<shot>%<shot>%z<shot>q' "$BIN/preport" --view --sort=-self two.folded
is "$(share 1 h) $(share 1 g)" '75.00% 75.00%  ' 't: only the thread of the line, of which percentages are'
like "$OUT" 'only thread two; % of that; z: the whole' 'which the last line says'
is "$(share 2 h)" '25.00% 25.00% ' '%: percentages of all'
is "$(share 3 h)$(share 3 g)" '25.00% 25.00% 16.67% 16.67% ' 'z: the whole again'
run ./pty 40x120 'sg<enter><shot>ssh<enter>q' "$BIN/preport" --view two.folded
is "$(share 1 g)" '100.00% 100.00% ' 's: only functions with a text'
is "$(share 1 f)$(share 1 h)" '' 'and no others'
run ./pty 40x120 'snonsense<enter><shot>z<shot>q' "$BIN/preport" --view two.folded
screen 1 >got
like got 'nothing is left' 'nothing is left'
is "$(share 2 h)" '25.00% 25.00% ' 'and it comes back'
# This machine's libc may be another than the recorded one, whose functions then have no names.
run ./pty 60x160 '/libc.so<enter>d<shot>zd<shot>q' "$BIN/preport" --view --no-children deep.ps
screen 1 >got
ok 'd: only functions of the file' test "$(grep -c 'libc\.so' got)" -gt 0 -a "$(grep -c '%  *deep  *deep ' got)" = 0
like got 'only file .*libc\.so' 'which the last line says'
"$BIN/pdecode" "$ROOT/t/data/kmem.data.gz" 2>/dev/null >kmem.ps
run ./pty 60x160 'E<shot>z<shot>q' "$BIN/preport" --view --by comm kmem.ps
is "$(screen 1 | grep -c ' samples')" 1 'E: only the event of the line'
ok 'of several' test "$(screen 2 | grep -c ' samples')" -gt 1
run ./pty 40x120 'rOd<shot>q' "$BIN/preport" --view two.folded
like "$OUT" 'there is no file in this line' 'a line without a file'
done_testing
