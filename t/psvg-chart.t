#!/bin/sh
# psvg's charts of tables, and event streams: what is drawn is what the table says; kinds of input;
# views; refusals and exit statuses. In a browser, if there is one: nothing lies outside or on each other.
. "${0%/*}/lib.sh"

valid() { # FILE NAME
	if have xmllint; then
		ok "$2" xmllint --noout "$1"
	else
		skip 1 'xmllint is not installed'
	fi
}
"$BIN/pdecode" "$ROOT/t/data/trace-zlib.dat" >zlib.ps 2>/dev/null || exit 1
phist() {
	case " $* " in
	*' -f '*) set -- --unit ns "$@" ;;
	esac
	"$BIN/phist" --tsv "$@" zlib.ps 2>/dev/null
}

# Bars: as long as the counts, in the order of the table.
phist --by event >bars.tsv
run "$BIN/psvg" bars.tsv
is "$status" 0 'bars'
empty "$ERR" 'nothing to say'
cp "$OUT" bars.svg
valid bars.svg 'XML'
sed -n 's/^<rect class="b" x="\([^"]*\)" y="[^"]*" width="\([^"]*\)".*<title>\(.*\)/\1 \2 \3/p' bars.svg >got
is "$(cut -d ' ' -f 3 got | paste -s -d ' ')" "$(sed 1d bars.tsv | cut -f 2 | paste -s -d ' ')" \
	'a bar for each row, in its order'
is "$(cut -d ' ' -f 1 got | sort -u | wc -l)" 1 'all begin at the same place'
sed 1d bars.tsv | cut -f 3 | paste -d ' ' - got | awk 'NR == 1 { unit = $3 / $1 }
	{ d = $3 - $1 * unit; if (d > 0.51 || d < -0.51) print }' >wrong
empty wrong 'their length is the count'
like bars.svg '^count 56$' 'a tooltip has the numbers'
unlike bars.svg '(href|src|url\(|@import)' 'nothing from outside'
run "$BIN/psvg" --width 900 bars.tsv
unlike "$OUT" '<script' 'a fixed width needs no script'
is "$(grep -c 'http' bars.svg)" 1 'no address but that of the name space'

# Rows with distributions.
phist -f runtime --by COMM >rows.tsv
run "$BIN/psvg" rows.tsv
is "$(grep -c '<path class="d"' "$OUT")" "$(sed 1d rows.tsv | wc -l)" 'each row has its distribution'
is "$(grep -c '<rect class="b"' "$OUT")" "$(sed 1d rows.tsv | wc -l)" 'and a bar'
run "$BIN/psvg" --stat p99 rows.tsv
sed -n 's/^<rect class="b" .* width="\([^"]*\)".*/\1/p' "$OUT" >widths
sed 1d rows.tsv | cut -f 10 | paste -d ' ' - widths | awk '{ v[NR] = $1; w[NR] = $2; if ($1 > most) { most = $1; at = NR } }
	END { for (i = 1; i <= NR; i++) { d = w[i] - v[i] * w[at] / most; if (d > 0.6 || d < -0.6) print v[i], w[i] } }' >wrong
empty wrong 'bars of a statistic'
unlike "$OUT" 'class="d"' 'a statistic is drawn alone'

# One row: its histogram. All samples are in the columns, each in that of its value.
phist -f runtime >hist.tsv
run "$BIN/psvg" hist.tsv
cp "$OUT" hist.svg
valid hist.svg 'a histogram'
like hist.svg '>p99 ' 'percentiles are marked'
sed -n 's/^<rect class="b".* height="\([^"]*\)".*<title>.*: \([0-9]*\) (.*/\1 \2/p' hist.svg >got
is "$(awk '{ n += $2 } END { print n }' got)" "$(sed 1d hist.tsv | cut -f 2)" 'the columns have all'
awk '{ r = $1 / $2; if (!least || r < least) least = r; if (r > most) most = r } END { if (most > least * 1.03) print least, most }' got >wrong
empty wrong 'their height is the count'
run "$BIN/psvg" --view bars hist.tsv
is "$(grep -c '<rect class="b"' "$OUT")" 1 'the same as a bar'
phist -f runtime --linear 1ms >linear.tsv
run "$BIN/psvg" linear.tsv
like "$OUT" '<title>0 ns to 1\.00 ms: ' 'steps are drawn as steps'

# Over time.
phist --by COMM --over-time=10ms >lines.tsv
run "$BIN/psvg" lines.tsv
cp "$OUT" lines.svg
valid lines.svg 'lines'
is "$(grep -c '<path class="l"' lines.svg)" "$(sed 1d lines.tsv | cut -f 3 | sort -u | wc -l)" 'one for each key'
is "$(grep -c '<rect class="o"' lines.svg)" "$(sed 1d lines.tsv | cut -f 2 | sort -u | wc -l)" \
	'a tooltip for each window that has something'
like lines.svg 'count per 10 ms' 'the heading says what it is'
first=$(sed -n '2s/^[^	]*	\([0-9]*\)	.*/\1/p' lines.tsv)
like lines.svg "time since $((first / 1000000000))\." 'the axis has the time of the recording'
phist -f runtime --over-time=10ms >lines.tsv
run "$BIN/psvg" lines.tsv
is "$(grep -c '<path class="l"' "$OUT")" 4 'percentiles and maximum'

# Heat map: the cells of a column have the count of its row.
phist -f runtime --heatmap=10ms >heat.tsv
run "$BIN/psvg" heat.tsv
cp "$OUT" heat.svg
valid heat.svg 'a heat map'
sed -n 's/^<path class="k.*<title>\([0-9]*\): .* at \([0-9.]*\) s<.*/\1 \2/p' heat.svg |
	awk '{ n[$2] += $1 } END { for (t in n) printf "%s %d\n", t, n[t] }' | sort >got
sed 1d heat.tsv | awk -F '\t' '{ printf "%d.%06d %d\n", int($2 / 1e9), int($2 % 1e9 / 1000), $3 }' | sort >want
same got want 'each window has its count'
like heat.svg '>count 1<' 'what the colours mean'
run "$BIN/psvg" --view lines heat.tsv
like "$OUT" '<path class="l"' 'the same as lines'

# Tables one after the other, titles, widths.
cat bars.tsv rows.tsv >two.tsv
run "$BIN/psvg" --title 'A & <b>' --subtitle 'x"y' --notes 'how' --width 700 --font-size 11 two.tsv
is "$status" 0 'two tables'
valid "$OUT" 'titles are escaped'
like "$OUT" '<title>A &amp; &lt;b&gt;</title>' 'the heading'
like "$OUT" ' width="700" ' 'the width'
is "$(grep -c 'class="h">.*: ' "$OUT")" 2 'each has a heading'
run "$BIN/psvg" --value runtime two.tsv
is "$(grep -c 'class="h">.*: ' "$OUT")" 1 'one of the values'
run "$BIN/psvg" --value nosuch two.tsv
is "$status" 1 'a value that there is not'
empty "$OUT" 'draws nothing'
run "$BIN/psvg" --stat p99 bars.tsv
is "$status" 64 'a statistic that there is not'
run "$BIN/psvg" --view pie bars.tsv
is "$status" 64 'a view that there is not'
like "$ERR" 'there are: .*heat' 'says which there are'
run "$BIN/psvg" --stats bars.tsv
like "$ERR" '1 tables, 12 rows' 'the account'

# Odd names and numbers below zero.
{
	printf '#PPTABLE1 rows=4 view=bars lost=3 name=\\x01<a>\tk:key\tv:count\tv:sum:x&y\tv:min:x&y\tv:max:x&y\tv:buckets\n'
	printf '\\x01<a>\t<&>"\\xff\\x00\t2\t-2000\t-2000\t0\t-2000:1 0:1\n'
	printf '\\x01<a>\t\t1\t5\t5\t5\t5:1\n\\x01<a>\tz\t0\t\t\t\t\n'
	printf '\\x01<a>\tlarge\t1\t18446744073709551615\t18446744073709551615\t18446744073709551615\t18410715276690587648:1\n'
} >odd.tsv
for view in auto bars hist lines heat; do
	run "$BIN/psvg" --view $view odd.tsv
	is "$status" 0 "odd names as $view"
	valid "$OUT" "odd names as $view: XML"
done
unlike "$OUT" '(nan|inf)' 'no number that is none'
like "$OUT" 'the recording lost 3 events' 'losses are in the picture'

# Damage.
head -n 3 bars.tsv >cut.tsv
run "$BIN/psvg" cut.tsv
is "$status" 1 'rows are missing'
like "$OUT" 'partial: the input was damaged' 'the picture says so'
sed 's/ rows=[0-9]*/ rows=0/; q' bars.tsv >none.tsv
run "$BIN/psvg" none.tsv
is "$status" 1 'no rows'
empty "$OUT" 'no picture'
echo 'a;b 1' >folded
run "$BIN/psvg" bars.tsv folded
is "$status" 2 'a table and stacks'
like "$ERR" 'cannot be combined in one picture' 'are refused'

# Event streams are folded.
"$BIN/pdecode" "$ROOT/t/data/demo.data" 2>/dev/null | "$BIN/psym" >demo.ps 2>/dev/null
"$BIN/pfold" demo.ps 2>/dev/null | "$BIN/psvg" --count-name ns >want
run "$BIN/psvg" demo.ps
is "$status" 0 'an event stream'
same "$OUT" want 'is drawn as pfold would have folded it, in its unit'
like "$OUT" '<desc>2\.16 s on CPU \(2,157,190,245 ns, 645 samples\), ' 'and says what it counts'
"$BIN/pdecode" "$ROOT/t/data/sched.dat" >sched.ps
"$BIN/psvg" sched.ps 2>/dev/null >"$OUT"
like "$OUT" '<desc>[0-9,]+ samples of several events, ' 'tracepoints are samples'
run "$BIN/psvg" demo.ps sched.ps
is "$status" 2 'what has different units'
like "$ERR" 'sched.ps: counts .* in samples, but the input before counts cpu-clock in ns' 'is not added up'
run "$BIN/psvg" --count-name ticks demo.ps
like "$OUT" '<desc>2,157,190,245 ticks on CPU \(645 samples\), ' 'what is reported counts'
run_pipe 'head -c $(($(wc -c <demo.ps) - 500)) demo.ps' '"$BIN/psvg"'
is "$status" 1 'one that is cut off'
like "$OUT" 'partial: the input was damaged' 'gives a partial picture'
printf 'PPSTREAM\001\000\000\000' >kind
run "$BIN/psvg" kind
is "$status" 1 'one without samples'
empty "$OUT" 'gives none'

# In a browser.
if ! find_browser || ! have node; then
	skip 4 'there is no chromium, or no node'
	done_testing
	exit
fi
cat >test.js <<'JS'
'use strict';
const {Browser} = require(process.argv[2] + '/t/psvg-browser.js');
(async () => {
	for (const name of process.argv.slice(3)) {
		const page = await Browser.open('file://' + process.cwd() + '/' + name, {width: 1200, height: 900});
		console.log(name, await page.eval(`(() => {
			const svg = document.documentElement, w = +svg.getAttribute('width'), h = +svg.getAttribute('height');
			const texts = [...document.querySelectorAll('text')].map((t) => [t.textContent, t.getBoundingClientRect()]);
			const bad = texts.filter(([, r]) => r.left < 0 || r.right > w || r.top < 0 || r.bottom > h);
			for (let i = 0; i < texts.length; i++)
				for (let k = 0; k < i; k++) {
					const a = texts[i][1], b = texts[k][1];
					if (a.left < b.right - 1 && b.left < a.right - 1 && a.top < b.bottom - 4 && b.top < a.bottom - 4)
						bad.push([texts[i][0] + ' on ' + texts[k][0]]);
				}
			const marks = [...document.querySelectorAll('.b, .d, [class^=k]')].map((m) => m.getBoundingClientRect());
			if (!marks.length && !document.querySelector('.l')) bad.push(['nothing drawn']);
			for (const r of marks)
				if (r.left < 0 || r.right > w || r.top < 0 || r.bottom > h) bad.push(['a mark outside']);
			return bad.length ? bad.map((b) => b[0]).join('; ') : 'fine';
		})()`));
		await page.close();
	}
})().catch((e) => { console.log(e.message); process.exit(1); });
JS
run node test.js "$ROOT" bars.svg hist.svg lines.svg heat.svg
for name in bars.svg hist.svg lines.svg heat.svg; do
	is "$(sed -n "s/^$name //p" "$OUT")" fine "$name: all texts are to be read, all marks inside"
done
done_testing
