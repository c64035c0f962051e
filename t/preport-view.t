#!/bin/sh
# preport --view on a terminal that t/pty.c makes: its lines beside preport's text, opening and closing,
# searching, functions, other sizes and kinds of terminals, none at all.
. "${0%/*}/lib.sh"

mkdir root
gzip -dc "$ROOT/t/data/deep.gz" >root/deep
"$BIN/pdecode" "$ROOT/t/data/deep.data" | "$BIN/psym" --symfs root --trust-host >deep.ps 2>/dev/null || exit 1
ldd "$BIN/preport" 2>/dev/null | grep -q ncurses || {
	run "$BIN/preport" --view deep.ps
	is "$status" 2 'without ncursesw it cannot be done'
	like "$ERR" 'built without ncursesw' 'and says why'
	skip 1 'preport was built without ncursesw (libncurses-dev)'
	done_testing
	exit
}
${CC:-cc} -O1 -D_GNU_SOURCE -o pty "$ROOT/t/pty.c" || exit 1

# Screens are divided by "--"; the first line has the columns' names, the last what there is to say.
screen() { # NUMBER FILE
	awk -v n="$1" '$0 == "--" { k++; next } k == n - 1' "$2"
}
body() {
	screen "$1" "$OUT" | sed -e 1d -e '$d' -e 's/ *$//' -e '/^$/d'
}

run "$BIN/preport" deep.ps
sed -e 1,3d -e '/^$/d' "$OUT" | sed -e 's/  */ /g' -e 's/^ //' -e 's/ $//' >want
run ./pty 40x200 'q' "$BIN/preport" --view deep.ps
is "$status" 0 'a view'
body 1 | sed 1d | sed -e 's/^..[+ ]//' -e 's/  */ /g' -e 's/^ //' -e 's/ $//' >got
ok 'there are rows' test -s want
same got want 'the rows of the table'
like "$OUT" '^   children    self ' 'its columns'
like "$OUT" '^ - cpu-clock: 174 samples' 'the event'
run ./pty 40x200 'q' "$BIN/preport" --view --no-children deep.ps
unlike "$OUT" 'children' '--no-children'

# Standard input has the data, the terminal the keys.
run ./pty 40x200 'q' "$BIN/preport" --view <deep.ps
body 1 | sed 1d | sed -e 's/^..[+ ]//' -e 's/  */ /g' -e 's/^ //' -e 's/ $//' >got
same got want 'data from a pipe'

# Opening: what called the first function that has a sample of its own; closing.
run ./pty 60x200 "/compute<enter><enter><shot><enter><shot>e<shot>cq" "$BIN/preport" --view deep.ps
body 1 >open
body 2 >closed
like open '^>- .* compute$' 'the cursor is where the text was found, and its line is open'
like closed '^>\+ .* compute$' 'closed again'
ok 'more lines when it is open' test "$(wc -l <open)" -gt "$(wc -l <closed)"
"$BIN/preport" --function compute --tsv deep.ps | awk -F '\t' '$4 == "caller" { print $11; exit }' >caller
grep -A 1 -e '^>- ' open | tail -n 1 >below
like below "% +$(cat caller)\$" 'below it is its caller'
like below '^ +[-+] ' 'which is open as far as there is one way'
run ./pty 60x200 "O<shot>C<shot>q" "$BIN/preport" --view deep.ps
body 1 >open
body 2 >closed
ok 'O opens all' test "$(wc -l <open)" -gt "$(wc -l <closed)"
is "$(sed 1d closed | wc -l)" "$(wc -l <want)" 'C closes all'
run ./pty 60x200 "<down><down><left><shot><up><up>-<shot>q" "$BIN/preport" --view deep.ps
body 1 >got
like got '^>- cpu-clock' 'left goes to what the line is below'
is "$(screen 2 "$OUT" | grep -c '[0-9]%')" 0 'and closes it'

# From the root on, as --tree=caller has it.
run ./pty 60x200 'rOq' "$BIN/preport" --view deep.ps
body 1 >got
like got '100.00%  deep$' 'the thread'
like got '100.00%  main$' 'the outermost function'
run ./pty 60x200 'Oq' "$BIN/preport" --view --tree=caller deep.ps
body 1 >want
same got want '--tree=caller begins there'

# Searching, on and back; what is not there.
run ./pty 40x200 '/syscall<enter><shot>n<shot>N<shot>/nonsense<enter><shot>q' "$BIN/preport" --view deep.ps
like "$OUT" '^>.*syscall' 'found'
is "$(screen 1 "$OUT" | grep '^>')" "$(screen 3 "$OUT" | grep '^>')" 'n and N'
screen 4 "$OUT" >got
like got 'not found in the open lines' 'not found'
run ./pty 40x200 'n<shot>/abc<esc>q' "$BIN/preport" --view deep.ps
like "$OUT" 'nothing to search for' 'nothing to search for'
is "$status" 0 'a search that is given up'

# What was found further down has lines before and after it; what cannot be opened says so.
run ./pty 10x120 'O/syscall<enter><shot><enter><shot>q' "$BIN/preport" --view deep.ps
screen 1 "$OUT" >got
at=$(grep -n '^>' got | cut -d : -f 1)
ok 'lines before and after what was found' test "$at" -gt 2 -a "$at" -lt 9
awk 'BEGIN { for (i = 0; i < 40; i++) print "main;f" i " 1" }' >flat.folded
run ./pty 10x120 '/f33<enter><shot><enter><shot>q' "$BIN/preport" --view flat.folded
screen 1 "$OUT" >got
is "$(grep -n '^>.*f33' got | cut -d : -f 1)" 4 'a third from the top'
screen 2 "$OUT" >got
like got 'nothing is below it, or nothing large enough: --min-share' 'a line that does not open says why'

# The function under the cursor.
run ./pty 60x120 '/compute<enter>a<shot>qq' "$BIN/preport" --view --symfs root --trust-host deep.ps
screen 1 "$OUT" >got
like got '^ *compute in .*deep: ' 'a function'
like got '^ callers' 'who called it'
like got '[0-9]+\.[0-9]+%.? +[0-9a-f]+ ' 'its instructions'
screen 2 "$OUT" >got
like got '^>.*compute' 'and back'
run ./pty 40x100 '<up>a<shot>h<shot>qq' "$BIN/preport" --view deep.ps
like "$OUT" 'there is no function in this line' 'an event is no function'
like "$OUT" 'arrows, j k +a line down or up' 'help'

# Sizes.
run ./pty 5x20 'jjjjj>k<size 30x100><shot><size 3x10>q' "$BIN/preport" --view deep.ps
is "$status" 0 'a small terminal, which becomes greater and smaller'
screen 1 "$OUT" | awk 'length($0) > 30' >got
ok 'what is wider is shown then' test -s got
run ./pty 1x1 '<down>hqq' "$BIN/preport" --view deep.ps
ok 'one character' test "$status" = 125 -o "$status" = 0
printf 'a\033[2J\303\244;b\tc 3\n\346\274\242\345\255\227;d 2\n' >odd.folded
run env LC_ALL=C.UTF-8 ./pty 20x60 'Oq' "$BIN/preport" --view odd.folded
ok 'names do not reach the terminal as they are' grep -q '%  a.\[2J' "$OUT"
like "$OUT" '漢字' 'others do'

# Terminals that cannot be used.
run env PTY_TERM=nonsense ./pty 20x60 q "$BIN/preport" --view deep.ps
is "$status" 2 'a terminal that is not known'
like "$ERR" 'the terminal is not known \(TERM is nonsense\)' 'which is told'
run env PTY_TERM=dumb ./pty 20x60 q "$BIN/preport" --view deep.ps
is "$status" 2 'one whose cursor does not move'
if have setsid; then
	run setsid -w "$BIN/preport" --view deep.ps
	is "$status" 2 'no terminal'
	like "$ERR" '--view needs a terminal: /dev/tty: ' 'which is told'
else
	skip 2 'setsid is not installed'
fi
run "$BIN/preport" --view --tsv deep.ps
is "$status" 64 'no other form'
run "$BIN/preport" --view --function main deep.ps
is "$status" 64 '--function is for text'
: >empty
run ./pty 20x60 q "$BIN/preport" --view empty
is "$status" 1 'nothing to show'
like "$ERR" 'no samples' 'which is told'
done_testing
