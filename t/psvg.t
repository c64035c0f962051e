#!/bin/sh
# psvg: layout, names, counts, the account of what is missing, refusals and exit statuses.
. "${0%/*}/lib.sh"

# "Y X WIDTH NAME" of each frame, from the root on and from left to right.
frames() {
	sed -n 's|^<rect x="\([^"]*\)" y="\([^"]*\)" width="\([^"]*\)".*<title>\(.*\) (.*</title>.*|\2 \1 \3 \4|p' "$1" |
		sort -k1,1nr -k2,2n
}
valid() { # FILE NAME
	if have xmllint; then
		ok "$2" xmllint --noout "$1"
	else
		skip 1 'xmllint is not installed'
	fi
}

# Layout. 1020 pixels leave 1000 for the frames: of 10 samples each is 100 wide. What belongs to a
# itself (2) comes first; callees are in byte order: "B" before "b", "b c" before "bc".
printf '%s\n' 'a;bc 1' 'a 1' 'a;b c 1' 'z 2' 'a;b 1' 'a;B;x 2' 'a 1' 'a;b 1' >in
run "$BIN/psvg" --width 1020 in
is "$status" 0 'exit status'
empty "$ERR" 'nothing to say'
cp "$OUT" flame.svg
frames flame.svg | cut -d ' ' -f 2- >got
cat >want <<'EOF'
10 1000 all
10 800 a
810 200 z
210 200 B
410 200 b
610 100 b c
710 100 bc
210 200 x
EOF
same got want 'places and widths'
like flame.svg '<title>b c \(1, 10\.00%\)</title>' 'a frame with a space'
like flame.svg '<title>b \(2, 20\.00%\)</title>' 'equal stacks add up'
like flame.svg '<title>all \(10, 100%\)</title>' 'the root has everything'
is "$(grep -c '^<rect x=' flame.svg)" 8 'each frame once'
like flame.svg 'id="foot".*>total 10, 7 frames<' 'the account below the graph'
valid flame.svg 'well-formed'
sort -r in >other
run "$BIN/psvg" --width 1020 other
same "$OUT" flame.svg 'the order of the lines does not matter'
# Sorted text takes a shorter way. A leaf may have callees after names that begin like it and go on
# below ';'; few of them are looked at.
{ printf '%s\n' 'm;f 1' 'm;f(a) 2' 'm;f-1;f 3' 'm;f2;x 4' 'm;f;f 5' 'm;f;f(b) 6' 'm;f;f;y 7' 'm;fa 8' 'n 9'
	seq -f 'o;f%03g;z 1' 1 100 | sort && echo 'o;f;z 2' && echo 'o;f;zz 3'; } >sorted
{ echo 'o;f 1' && cat sorted; } | LC_ALL=C sort >sorted.leaf
for file in sorted sorted.leaf; do
	"$BIN/psvg" $file >$file.svg || fail "$file is drawn"
	LC_ALL=C sort -r $file | "$BIN/psvg" >$file.reverse.svg
	same $file.svg $file.reverse.svg "$file: nor for sorted stacks"
done
head -n 3 in >one
tail -n +4 in >two
run "$BIN/psvg" --width 1020 one two
same "$OUT" flame.svg 'two files are one graph'
run_pipe 'cat two' '"$BIN/psvg" --width 1020 one -'
same "$OUT" flame.svg 'a file and stdin'
run_pipe 'for i in 1 2; do head -n $((i * 4)) in | tail -n 4; sleep 0.1; done' '"$BIN/psvg" --width 1020'
same "$OUT" flame.svg 'input in pieces'
sed 's/$/\r/' in >crlf
run "$BIN/psvg" --width 1020 crlf
same "$OUT" flame.svg 'lines that end in CR LF'

# flamegraph.pl's options.
run "$BIN/psvg" --width 1020 --total 20 --factor 2 in
is "$status" 0 '--factor multiplies, and a --total that is no more changes nothing'
frames "$OUT" | cut -d ' ' -f 2- >got
same got want 'in the widths'
like "$OUT" '<title>all \(20, 100%\)</title>' 'counts are twice as much'
run "$BIN/psvg" --width 1020 --total 20 in
awk '{ $2 /= 2; if (NF > 2 && $3 != "all") $1 = ($1 - 10) / 2 + 10; print }' want | sed 's/^10 500 all/10 1000 all/' >half
frames "$OUT" | cut -d ' ' -f 2- >got
same got half '--total: frames have their share of it'
like "$OUT" '<title>a \(8, 40\.00%\)</title>' 'in percent, too'
like "$OUT" 'id="foot".*>total 10 of 20, 7 frames<' 'and the account has both'
run "$BIN/psvg" --total 5 in
is "$status" 0 'a --total that is less'
like "$ERR" '--total is less than the sum of counts, and is ignored' 'is ignored'
printf '%s\n' 'a;b 10' 'a 10' 'a;b 20' 'c;d 20' 'a;b 40' >timed
run "$BIN/psvg" --width 1020 --flamechart timed
frames "$OUT" | cut -d ' ' -f 2- | sort >got
printf '%s\n' '10 1000 all' '10 400 a' '10 100 b' '210 200 b' '410 200 c' '410 200 d' '610 400 a' '610 400 b' | sort >chart
same got chart '--flamechart: the order of time, and equal frames are one only where they follow each other'
like "$OUT" 'id="foot".*>total 100, 7 frames<' 'each counts'
run "$BIN/psvg" --width 1020 --flamechart -r timed
frames "$OUT" | cut -d ' ' -f 2- | sort >got
printf '%s\n' '10 1000 all' '10 100 b' '10 100 a' '110 100 a' '210 200 b' '210 200 a' '410 200 d' '410 200 c' '610 400 b' '610 400 a' |
	sort >chart
same got chart 'from the leaf, too'
"$BIN/pdecode" "$ROOT/t/data/demo.pstream.zst" >demo.ps
"$BIN/pfold" --chart demo.ps | "$BIN/psvg" --flamechart >chart.svg
"$BIN/psvg" --flamechart demo.ps >got.svg
is "$?" 0 'an event stream is taken in its order'
same got.svg chart.svg 'as pfold --chart writes it'
run "$BIN/psvg" --width 1020 --bgcolors '#eeeeb0' --fonttype 'Comic "Sans' --nametype Function: --cp --hash --encoding UTF-8 in
is "$status" 0 '--bgcolors, --fonttype, --nametype, --cp, --hash, --encoding'
like "$OUT" 'id="back".* fill="#eeeeb0"' 'a background'
like "$OUT" '^<svg .*font-family="Comic &quot;Sans,Verdana.* class="light"' 'a font, and no dark mode'
like "$OUT" ' data-nametype="Function:"' 'what comes before names'
valid "$OUT" 'well-formed'
for wrong in '--bgcolors blueish' '--encoding latin1' '--total -1' '--factor x' '--diff --flamechart one' '--diff --total 5 one'; do
	# shellcheck disable=SC2086
	run "$BIN/psvg" $wrong in
	is "$status" 64 "$wrong"
done

# Rows: frames are 16 high; the root is the lowest row, or with -i the highest.
rows() {
	frames "$1" | awk '$4 == "all" { all = $1 } $4 == "x" { x = $1 } END { print x - all }'
}
is "$(rows flame.svg)" -48 'flame: callees are above'
run "$BIN/psvg" -i --frame-height 20 in
is "$(rows "$OUT")" 60 'icicle: callees are below, at the height that was asked for'
like "$OUT" '<title>Icicle Graph</title>' 'an icicle graph has its own title'
printf 'x;B;a 2\nb;a 3\n' >straight
printf 'a;B;x 2\na;b 3\n' >backward
"$BIN/psvg" straight >want 2>&1
run "$BIN/psvg" -r backward
same "$OUT" want 'reversed stacks are stacks written backwards'

# Of very many frames, only the wider ones are drawn, unless a width is asked for.
awk 'BEGIN { for (i = 0; i < 30000; i++) print "p;f" i ";g " 1 + (i % 3) * 3 }' >many
run "$BIN/psvg" --width 100000 many
is "$status" 0 'many frames'
ok 'are at most 20,000' test "$(grep -c '^<rect x=' "$OUT")" -le 20002
like "$OUT" 'not drawn: [0-9,]* frames narrower than [0-9.]* px, with [0-9.]*% of all' 'and what is missing is reported'
run "$BIN/psvg" --width 100000 --min-width 0.1 many
is "$(grep -c '^<rect x=' "$OUT")" 60002 '--min-width draws them'

# Counts.
printf 'a 18446744073709551615\n' | "$BIN/psvg" >max.svg
like max.svg 'a \(18,446,744,073,709,551,615, 100%\)' '2^64-1 is exact'
printf 'a 18446744073709551616\nb 18446744073709551616\n' | "$BIN/psvg" >big.svg
like big.svg 'a \(18446744073709551616, 50\.00%\)' 'beyond 64 bits'
printf 'a 0.25\na .5\nb 1e1\na 0\nnever 0\n' | "$BIN/psvg" --count-name ms >float.svg
is "$?" 0 'fractions and exponents'
like float.svg 'a \(0\.75 ms, 6\.98%\)' 'fractions add up'
unlike float.svg never 'what was never counted is not drawn'
printf '%s\n' 'ok 1' 'a 0x10' 'a -1' 'a inf' 'a nan' 'a' 'a 1e99' 'a b' '7' 'a 1.2.3' 'a +1' >bad
run "$BIN/psvg" --stats bad
is "$status" 1 'malformed lines: exit 1'
like "$ERR" '^psvg: bad: offset 5: line without a count' 'the first one is named'
like "$ERR" '9 more like' 'the others are counted'
like "$ERR" '11 lines: 1 stacks, 10 malformed' 'the account'
like "$OUT" 'left out: 10 malformed lines' 'the picture says it too'
printf 'a;b 3\n 2\n\na;;c 1\n;d 1\n' | "$BIN/psvg" --width 720 >odd.svg
is "$?" 0 'empty stacks, lines and frames'
like odd.svg '>all \(7,' 'a stack without frames counts for the root'
is "$(frames odd.svg | grep -c '(no name)$')" 2 'a frame without name is a frame'

# Nothing to draw.
for text in '' '\n\n' 'a 0\n' 'no count here\n'; do
	# shellcheck disable=SC2059
	printf "$text" >nothing
	run "$BIN/psvg" nothing
	is "$status" 1 "nothing to draw ($text): exit 1"
	empty "$OUT" 'and no picture'
	like "$ERR" 'no samples' 'and it is reported'
done
printf 'cc1 1 1.0: 2 cycles:\n\t1 f (/x)\n\n' >perf.txt
run "$BIN/psvg" perf.txt
is "$status" 2 'perf script text'
like "$ERR" '^psvg: perf.txt: is not folded text: pfold makes that' 'what is missing is said'
for f in "$ROOT/share/flamegraph.svg" page.html; do
	printf '<!DOCTYPE html>\n' >page.html
	for prog in psvg pfold preport; do
		run "$BIN/$prog" "$f"
		is "$status" 2 "$prog: ${f##*.}: exit 2"
		like "$ERR" ': is a (picture|page) ' 'and it is named'
	done
done

# Input that is cut off.
printf 'a;b 3\na;c 4' >"cut"
run "$BIN/psvg" cut
is "$status" 0 'no newline at the end: drawn'
like "$ERR" 'psvg: cut: the last line has no newline: the input may be cut off' 'with a warning'
like "$OUT" 'c \(4,' 'and with the last line'
size=$(wc -c <in)
i=1
wrong=
while [ "$i" -lt "$size" ]; do
	head -c "$i" in >prefix
	"$BIN/psvg" prefix >prefix.svg 2>prefix.err
	rc=$?
	[ "$rc" -le 1 ] || wrong="$wrong $i:$rc"
	[ -s prefix.err ] || tail -c 1 prefix | grep -q '^$' || wrong="$wrong $i:silent"
	i=$((i + 1))
done
is "$wrong" '' 'cut at every byte: exit 0 or 1, and a word about it'

# Other kinds of input.
refused() { # NAME PATTERN
	run "$BIN/psvg" kind
	is "$status" 2 "$1: exit 2"
	empty "$OUT" "$1: no picture"
	like "$ERR" "$2" "$1: says what it is"
}
printf 'PERFILE2h\000\000\000\000\000\000\000' >kind
refused 'perf.data' 'is a perf.data recording: put pdecode, psym and pfold before psvg'
printf 'comm\tcount\ncc1\t12\n' >kind
refused 'TSV' 'is a table'
printf '\177ELF\002\001\001\000\000' >kind
refused 'a program' 'is a program or library: record it'
printf 'abc\000def 12x\n' >kind
refused 'binary' 'is binary, not folded text: pfold makes that'
printf 'main;f 10 12\nmain;g 0 3\n' >kind
refused 'a comparison' 'each line has two counts, as difffolded.pl writes them'
run "$BIN/psvg" in missing
is "$status" 2 'missing file: exit 2'
empty "$OUT" 'and no picture of the rest'
run "$BIN/psvg" .
is "$status" 2 'a directory: exit 2'
if [ -c /dev/full ]; then
	"$BIN/psvg" in >/dev/full 2>"$ERR"
	is "$?" 2 'full disk: exit 2'
	like "$ERR" 'cannot write' 'and it is reported'
else
	skip 2 'no /dev/full'
fi

# Limits.
awk 'BEGIN { for (i = 0; i < 5000; i++) printf "f;"; print "leaf 1"; print "b 1" }' >deep
run "$BIN/psvg" deep
is "$status" 1 'stacks too deep: exit 1'
like "$ERR" '1 stacks have more than 4096 frames' 'said'
like "$OUT" 'cut: 1 stacks deeper than 4,?096 frames' 'in the picture too'
is "$(grep -c '>f (1,' "$OUT")" 4096 'as many frames as there may be'
unlike "$OUT" '>leaf \(' 'without the leaf'
awk 'BEGIN { for (i = 0; i < 1100000; i++) printf "x"; print " 1"; print "b 1" }' >long
run "$BIN/psvg" long
is "$status" 1 'line too long: exit 1'
like "$ERR" 'offset 0: line of more than 1048576 bytes' 'said'
like "$OUT" 'b \(1, 100%\)' 'the next line is read'
cp "$OUT" long.svg
run_pipe 'cat long' '"$BIN/psvg"'
same "$OUT" long.svg 'the same through a pipe'
awk 'BEGIN { for (i = 0; i < 200000; i++) print "main;f" i % 1000 ";g" i % 7 " 1" }' >many
run_pipe 'cat many' '"$BIN/psvg" --stats'
like "$ERR" '200000 lines: 200000 stacks, 0 malformed' 'no line is lost between blocks'
like "$OUT" 'f0 \(200, 0\.10%\)' 'and none is added to another'

# Pruned frames are in the account. 20 + 10,000 samples on 1002 pixels: one sample is below 0.1.
{
	echo 'big 10000'
	i=0
	while [ $i -lt 20 ]; do
		echo "small$i;callee 1"
		i=$((i + 1))
	done
} >prune
run "$BIN/psvg" --width 1022 --min-width 0.11 --stats prune
like "$OUT" 'id="foot".*>total 10,020, 41 frames; not drawn: 40 frames narrower than 0\.11 px, with 0\.20% of all<' 'what is not drawn is reported'
like "$ERR" 'counted 10020: drawn 10000, too narrow 20; 41 frames: 1 drawn, 40 too narrow' 'counts are conserved'
run "$BIN/psvg" --min-width 0 prune
is "$(grep -c '^<rect x=' "$OUT")" 42 'all are drawn when asked for'
run "$BIN/psvg" --min-width 0.01% --stats prune
like "$ERR" '41 frames: 1 drawn' 'in percent: 1 of 10,020 is less than 0.01%'
run "$BIN/psvg" --min-width 0.009% --stats prune
like "$ERR" '41 frames: 41 drawn' 'and more than 0.009%'
printf 'a;b 10\na;c 0.001\na;d 10\n' | "$BIN/psvg" >gap.svg
like gap.svg 'data-gap="0\.001".*>b \(' 'the script can see the gap'

# Any bytes as names.
awk 'BEGIN { for (i = 1; i < 256; i++) if (i != 10) printf "%c%c;x%cy 1\n", i, i, i }' >bytes
printf 'nul\000nul 1\n\357\277\276\357\277\277\355\240\200 1\n]]>;<![CDATA[;--&amp"'\'' 1\n\303\244\342\202\254\360\237\224\245 1\n' >>bytes
run "$BIN/psvg" --title '<t>&"]]>' --subtitle "$(printf '\001\377')" --notes '-- ]]> &' \
	--count-name '"<&' --search '"<(&' bytes
is "$status" 0 'any bytes'
valid "$OUT" 'well-formed'
like "$OUT" 'nul\\x00nul \(' 'control characters are shown'
like "$OUT" '>\\xef\\xbf\\xbe\\xef\\xbf\\xbf\\xed\\xa0\\x80 \(' 'noncharacters and surrogates too'
like "$OUT" "$(printf '>\303\244\342\202\254\360\237\224\245')"' \(' 'UTF-8 stays'
like "$OUT" '>--&amp;amp&quot;'"'"' \(' 'markup is escaped'

# Colours: by name alone, by kind.
fill() { # FILE NAME
	sed -n "s|^<rect.* fill=\"\([^\"]*\)\".*<title>$2 (.*|\1|p" "$1" | sort -u
}
printf 'main;read 1\n' | "$BIN/psvg" >first.svg
printf 'other;x;read 5\nread 1\n' | "$BIN/psvg" --hash >second.svg
is "$(fill first.svg read)" "$(fill second.svg read)" 'a function has the same colour everywhere'
isnt "$(fill first.svg read)" "$(fill first.svg main)" 'others have another'
printf 'k_[k];i_[i];j_[j];C::f;user;[lib] 1\n' | "$BIN/psvg" -c kind >kind.svg
is "$(grep -o 'fill="#[0-9a-f]*"><title>[^a ]' kind.svg | cut -d '"' -f 2 | sort -u | wc -l)" 6 'six kinds, six colours'
is "$(fill kind.svg '\[lib\]')" '#ccc' 'what has no symbol is grey'
like kind.svg '<text [^>]*>k</text>' 'the label is without the annotation'
like kind.svg '<title>k_\[k\] \(' 'the tooltip has it'

# Labels fit: 6 pixels are padding, a letter has about 7.
printf '%s\n' 'aaaaaaaaaaaaaaaaaaaaaaaaaaaaaa 100' 'bbbbbbbbbbbbbbbbbbbb 10' 'cccccccc 2' >labels
run "$BIN/psvg" --width 1140 labels
like "$OUT" '<text [^>]*>a{30}</text>' 'a name that fits is whole'
like "$OUT" '<text [^>]*>b{9,11}\.\.</text>' 'one that does not ends in dots'
unlike "$OUT" '<text [^>]*>cc*' 'none where it would say nothing'

# Options.
run "$BIN/psvg" --title T --subtitle S --notes N --width 500 --font-size 10 --search 'a.*b' in
like "$OUT" '<title>T</title>' 'title'
like "$OUT" '>S</text>' 'subtitle'
like "$OUT" '^N</desc>' 'notes'
like "$OUT" '<svg [^>]*width="500" .*font-size="10"' 'width and font size'
like "$OUT" 'data-fixed="1" data-search="a\.\*b"' 'fixed width and search for the script'
for args in '--colors pink' '--width 1' '--width x' '--font-size 12px' '--min-width 1%%' '--min-width=' '--nonsense'; do
	# shellcheck disable=SC2086
	run "$BIN/psvg" $args in
	is "$status" 64 "$args: usage"
	empty "$OUT" "$args: no picture"
done
run "$BIN/psvg" --colors pink in
like "$ERR" 'no palette pink; there are: hot mem io' 'the palettes are named'
run "$BIN/psvg" --heigth 3 in
like "$ERR" 'did you mean --height' 'the nearest option is named'
unlike "$ROOT/share/psvg.js" ']]>' 'the script can stand in CDATA'

# Several events: one is chosen, or each is a root.
printf '# event: cycles, unit: cycles, samples: 2, from: x\nmain;f 30\nmain 10\n' >cycles
printf '# event: page-faults, unit: samples, samples: 5, from: x\nmain;f 4\nmain;g 1\n' >faults
cat cycles faults >events
printf '# event: cycles+page-faults, samples: 7, from: x\ncycles;main;f 30\ncycles;main 10\npage-faults;main;f 4\npage-faults;main;g 1\n' >rooted
run "$BIN/psvg" --width 1020 events
is "$status" 2 'events are not added up'
like "$ERR" 'counts page-faults in samples.*select one with --event' 'what to do about it'
"$BIN/psvg" --width 1020 faults >faults.svg || fail 'one event'
for file in events rooted; do
	run "$BIN/psvg" --width 1020 -e page-faults $file
	is "$status" 0 "$file: --event"
	frames "$OUT" >got
	frames faults.svg >want
	same got want "$file: draws that event alone"
	run "$BIN/psvg" --width 1020 --event all $file
	is "$status" 0 "$file: --event all"
	frames "$OUT" | cut -d ' ' -f 3- | sort >got
	printf '%s\n' '1000 all' '22.2 g' '666.7 f' '88.9 f' '888.9 cycles' '888.9 main' '111.1 page-faults' '111.1 main' | sort >want
	same got want "$file: each event is a root"
	like "$OUT" '>total 45 of several events \(7 samples\), 7 frames<' "$file: in words"
	run "$BIN/psvg" -e cycle $file
	is "$status" 1 "$file: an event that is not there"
	like "$ERR" 'no samples of cycle; there are: cycles, page-faults' "$file: those that are there are named"
	empty "$OUT" "$file: no picture"
done
run "$BIN/psvg" -e cycles in
is "$status" 2 'text that does not tell its event'
like "$ERR" 'does not say what it counts' 'is refused'
run "$BIN/psvg" --diff -e cycles events events
is "$status" 0 '--diff of one event'
run "$BIN/psvg" --diff -e all events events
is "$status" 64 'not of all'
printf '#PPTABLE1 rows=1 name=events\tcomm:key\tevents:count\nevents\ta\t300\n' >table
run "$BIN/psvg" -e cycles table
is "$status" 64 'tables have no events to choose from'

# Of an event stream, as pfold chooses.
gzip -dc "$ROOT/t/data/contention.data.gz" | "$BIN/pdecode" >several.ps 2>/dev/null
for event in lock:contention_begin lock:contention_end; do
	"$BIN/pfold" -e $event several.ps 2>/dev/null | "$BIN/psvg" >want
	"$BIN/psvg" -e $event several.ps >got 2>/dev/null
	same got want "an event stream: $event alone"
done
"$BIN/pfold" --by event several.ps 2>/dev/null | "$BIN/psvg" >want
"$BIN/psvg" -e all several.ps >got 2>/dev/null
same got want 'each event is a root'
run "$BIN/psvg" -e none several.ps
is "$status" 1 'no such event'
like "$ERR" 'no samples of none' 'which is reported'
done_testing
