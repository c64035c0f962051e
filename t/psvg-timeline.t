#!/bin/sh
# plat --timeline and psvg --timeline: the lines, the page, the static picture; in a browser, if there
# is one, sums of the page against plat's tables, zoom, selection, search, links, hostile names.
. "${0%/*}/lib.sh"

gzip -dc "$ROOT/t/data/sched-stacks.data.gz" >sched.data
"$BIN/pdecode" sched.data >sched.ps 2>/dev/null
run "$BIN/plat" --timeline sched.ps
is "$status" 0 'plat --timeline'
cp "$OUT" t.tl
is "$(head -n 1 t.tl)" '#PPTIMELINE1' 'begins with its magic'
"$BIN/plat" -k oncpu,runq,blocked,irq,softirq --slower 0 --tsv sched.ps 2>/dev/null | sed 1d >list
is "$(grep -c '^i' t.tl)" "$(grep -c '' list)" 'has every interval'
is "$(awk -F'\t' '$1 == "i" { n += $6 } END { printf "%.0f", n }' t.tl)" \
	"$(awk -F'\t' '{ n += $2 } END { printf "%.0f", n }' list)" 'with its duration'
is "$(tail -n 1 t.tl | cut -f 1-3)" "z	$(grep -c '' list)	0" 'and ends with their number'
"$BIN/plat" --unmatched -k oncpu,runq,blocked --slower 0 --tsv sched.ps 2>/dev/null | sed 1d >open
is "$(grep -c '^o' t.tl)" "$(grep -c '' open)" 'what is unfinished is there, too'
for other in --threads --unmatched '--slower 0' '--emit runq'; do
	# shellcheck disable=SC2086
	run "$BIN/plat" --timeline $other sched.ps
	is "$status" 64 "--timeline $other"
done

run "$BIN/psvg" --timeline t.tl
is "$status" 0 'psvg --timeline'
empty "$ERR" 'nothing to say'
cp "$OUT" t.html
like t.html '^<!DOCTYPE html>' 'is a page'
run "$BIN/psvg" t.tl
same "$OUT" t.html 'the input says what it is'
run "$BIN/psvg" --timeline=svg --title 'A <b> & c' t.tl
is "$status" 0 'a static picture'
cp "$OUT" t.svg
like t.svg '<title>A &lt;b&gt; &amp; c</title>' 'with its title'
# The axis: ticks at round times, even, over the whole.
sed -n 's/^<text class="t" x="\([0-9.]*\)".*>\([0-9.]*\) *\([a-z]*\)<.*/\1 \2 \3/p' t.svg >ticks
ok 'has a time axis' test "$(grep -c '' ticks)" -ge 3
is "$(awk 'NR > 2 { d = $1 - x; if (d < step - 0.3 || d > step + 0.3) print "not even"; if ($2 - v != first) print "not round" }
	NR == 2 { step = $1 - x; first = $2 - v } { x = $1; v = $2 }' ticks)" '' 'with even ticks'
like t.svg 's from [0-9]*\.[0-9]* s on; ' 'and the time at which it begins'
ok 'of at most 20,000 rectangles' test "$(grep -c '<rect' t.svg)" -le 20000
if have xmllint; then
	ok 'is well-formed' xmllint --noout t.svg
else
	skip 1 'xmllint is not installed'
fi
run "$BIN/psvg" --timeline=png t.tl
is "$status" 64 'no such form'
run "$BIN/psvg" t.tl t.tl
is "$status" 2 'two timelines'
head -n 100 t.tl >cut.tl
run "$BIN/psvg" cut.tl
is "$status" 1 'one that is cut off'
like "$ERR" 'cut off: its last line is missing' 'is partial'
like "$OUT" '"partial":true' 'and the page says so'
{ head -n 100 t.tl && printf 'i\t99\t1\t1\t1\t1\t1\t1\n' && printf 'i\t0\t-1\n' && tail -n +101 t.tl; } >odd.tl
run "$BIN/psvg" odd.tl
is "$status" 1 'lines that mean nothing'
like "$ERR" 'unknown line is left out' 'are left out'
sed '2,50d' t.tl | grep -v '^[im]' >none.tl
run "$BIN/psvg" none.tl
is "$status" 1 'a timeline without intervals'
printf '#PPTIMELINE1\nz\t0\t0\t0\n' >empty.tl
run "$BIN/psvg" empty.tl
is "$status" 1 'nothing at all'
like "$ERR" 'nothing to draw' 'is reported'
empty "$OUT" 'and not drawn'

# A kind that gets another name after intervals of it were seen would put them into other lanes.
printf '#PPTIMELINE1\nk\t0\toncpu\tns\nt\t1\t7\t7\t0\t0\ni\t0\t1\t4095\t1000\t10\t0\t0\nk\t0\tirq\nz\t1\t0\n' \
	>renamed.tl
run "$BIN/psvg" --timeline=svg renamed.tl
is "$status" 1 'a kind with a second name'
like "$ERR" 'unknown line is left out' 'is left out'

# Names that want out of the page.
printf '%s\n' '#PPTIMELINE1' 'k	1	oncpu	ns' 'k	0	runq	ns' 'k	3	blocked	ns' 'k	4	irq	ns' \
	'n	1	</script><img src=x onerror=alert(1)>' 'n	2	"\\u2028&<!--' 'n	3	D' 'n	4	eth0' 'n	5	woken' \
	't	1	7	7	1	0' 't	2	8	8	2	0' 'i	1	1	0	1000000000000000001	1000	0	0' \
	'i	3	2	1	1000000000000000001	2000	3	0' 'i	0	2	1	1000000000000002001	500	5	1' \
	'i	4	0	1	1000000000000000501	100	4	0' 'i	1	2	1	1000000000000002501	7500	0	0' \
	'x	1	net:<b>' 'e	1	0	1000000000000000701	7' 'l	0	1000000000000005001	12' \
	'o	3	1	0	1000000000000001001	8000	3	0' 'z	5	0	0' >hostile.tl
run "$BIN/psvg" hostile.tl
is "$status" 0 'hostile names'
cp "$OUT" hostile.html
is "$(grep -c '<img' hostile.html)" 0 'stay text'
# The policy names the script and the style that are there.
if have openssl; then
	for what in script style; do
		awk -v what="$what" '{ if (!on && index($0, "<" what ">")) { on = 1; sub(".*<" what ">", "") }
			if (on && index($0, "</" what ">")) { exit } if (on) print }' t.html >part
		hash=$(openssl dgst -sha256 -binary part | openssl base64)
		like t.html "$what-src 'sha256-$(echo "$hash" | sed 's/[+]/[+]/g')'" "the policy names its $what"
	done
else
	skip 2 'openssl is not installed'
fi

if ! find_browser || ! have node; then
	skip 1 'there is no chromium, or no node'
	done_testing
	exit
fi

# What plat's tables say: of each thread, and of each kind.
"$BIN/plat" -k oncpu --by comm,tid --tsv sched.ps 2>/dev/null |
	awk -F'\t' '$1 == "oncpu" { print $2 "\t" $3 "\t" $5 }' | sort -t '	' -k3,3nr -k1,1 >want.run
"$BIN/plat" -k oncpu,runq,blocked --tsv sched.ps 2>/dev/null |
	awk -F'\t' '$1 == "intervals" { print $2 "\t" $4 }' >want.kinds
cat >test.js <<'EOT'
'use strict';
const {Browser, url, is, until} = require(process.argv[2] + '/t/psvg-browser.js');
const fs = require('fs');
const ready = async (page) => {
	await until(page, '!!document.documentElement.dataset.ready', true);
	await until(page, '!!document.querySelector("#sums")', true);
};
const settle = () => new Promise((r) => setTimeout(r, 400));
const sum = (id, column) => `+document.querySelector('#${id}').children[${column}].dataset.ns`;
const lines = (name) => fs.readFileSync(name, 'utf8').split('\n').filter((l) => l).map((l) => l.split('\t'));
const total = (kind) => +lines('want.kinds').find((l) => l[0] === kind)[1];

const sums = async (page) => {
	await ready(page);
	is(await page.eval(sum('all', 1)), total('oncpu'), "the sum of running is plat's");
	is(await page.eval(sum('all', 2)), total('runq'), "and that of runnable");
	is(await page.eval(sum('all', 3)) + await page.eval(sum('all', 4)), total('blocked'), 'and that of blocked');
	const rows = await page.eval(`[...document.querySelectorAll('#sums tr[data-tid]')].map((r) =>
		[r.dataset.comm, r.dataset.tid, r.children[1].dataset.ns])`);
	const want = new Map(lines('want.run').map((l) => [l[0] + '\t' + l[1], l[2]]));
	is(rows.filter((r) => +r[2] && want.get(r[0] + '\t' + r[1]) !== r[2]), [], "each thread's is plat's");
	is(rows.length > 3, true, 'there are some');
	is(await page.eval('location.hash'), '', 'nothing to remember');
};
const ways = async (page) => {
	const words = async () => page.eval('document.querySelector("#expression").textContent');
	const before = await words();
	await page.eval(`document.querySelector('canvas').dispatchEvent(new WheelEvent('wheel',
		{deltaY: -400, clientX: 700, clientY: 200, bubbles: true, cancelable: true}))`);
	await until(page, 'location.hash.startsWith("#view=")', true);
	is(await page.eval('location.hash.startsWith("#view=")'), true, 'the wheel zooms, and the address has it');
	is(await words() !== before, true, 'and the sums are of what is in view');
	await page.key('Home');
	is(await until(page, 'location.hash', ''), '', 'Home shows all');
	is(await words(), before, 'again');
	const at = (x) => ({x, y: 150, button: 'left', clickCount: 1});
	await page.send('Input.dispatchMouseEvent', {type: 'mousePressed', ...at(400)});
	await page.send('Input.dispatchMouseEvent', {type: 'mouseMoved', ...at(600)});
	await page.send('Input.dispatchMouseEvent', {type: 'mouseReleased', ...at(600)});
	await until(page, 'location.hash.startsWith("#pick=")', true);
	const [from, to] = (await page.eval('location.hash')).slice(6).split(',').map(Number);
	const about = await page.eval('JSON.parse(document.querySelector("#about").textContent)');
	const part = (kind) => lines('list').filter((l) => l[2] === kind).reduce((s, l) => {
		const a = Number(BigInt(l[0]) - BigInt(about.base)), b = a + +l[1];
		return s + Math.max(Math.min(b, to) - Math.max(a, from), 0);
	}, 0);
	await page.eval('window.before = true');
	await page.send('Page.reload');
	// While the page is being loaded, there may be nothing to ask.
	for (let i = 0; i < 100 && await page.eval('window.before !== true').catch(() => false) !== true; i++)
		await new Promise((r) => setTimeout(r, 50));
	await ready(page);
	is(await page.eval(sum('all', 1)), part('oncpu'), 'a selection has the sum of its part, after a reload, too');
	is(await page.eval(sum('all', 2)), part('runq'), 'of runnable, too');
	fs.writeFileSync('expression', await words());
	await page.key('Escape');
	await page.key('/');
	await page.type(lines('want.run')[0][0]);
	const found = `/^[1-9][0-9]* lanes?, [1-9][0-9,]* events/.test(document.querySelector('#matched').textContent)`;
	is(await until(page, found, true), true, 'search');
	await page.eval('document.activeElement.blur()');
	await page.hover('document.querySelector("canvas")');
	await page.key('a');
	await page.key('ArrowRight');
	await page.key('b');
	await settle();
	is(/^B - A: /.test(await page.eval('document.querySelector("#status").textContent')), true, 'markers and their distance');
	is(/a=.*b=.*search=/.test(await page.eval('location.hash')), true, 'are in the address');
};
const hostile = async (page) => {
	await ready(page);
	is(await page.eval('document.querySelector("#all").children[1].dataset.ns'), '8500', 'hostile names: the page works');
	is(await page.eval('document.querySelectorAll("img, main script").length'), 0, 'they are no elements');
	is(await page.eval('[...document.querySelectorAll("#sums tr[data-tid=\\"7\\"]")].map((r) => r.dataset.comm).join()'),
		'</script><img src=x onerror=alert(1)>', 'they are shown as they are');
	is(await page.eval('document.querySelector("#expression").textContent'),
		'time >= 1000000000000000001 && time < 1000000000000010001', 'times keep every digit');
	is(await page.eval('document.querySelector("#note").textContent'), 'Events were lost: what is hatched is not known.', 'losses are reported');
	is(await page.eval('document.querySelector("#subtitle").textContent'), '5 intervals, 1 unfinished, 1 other events', 'and what is unfinished');
};
const dark = async (page) => {
	await ready(page);
	const pixel = `[...document.querySelector('canvas').getContext('2d').getImageData(2, 2, 1, 1).data].slice(0, 3)`;
	is(await page.eval(pixel), [27, 28, 31], 'dark: the ground is dark');
	is(await page.eval('document.documentElement.scrollWidth <= innerWidth'), true, 'at 600 pixels nothing is cut off');
};
(async () => {
	for (const [name, test, options] of [['t.html', async (p) => { await sums(p); await ways(p); }, {}],
		['hostile.html', hostile, {}], ['t.html', dark, {dark: true, width: 600}]]) {
		const page = await Browser.open(url(name), options);
		await test(page);
		is(page.errors, [], name + ': no errors');
		await page.close();
	}
})().catch((e) => {
	console.log('fail\t' + e.message);
	process.exit(1);
});
EOT
timeout 900 node test.js "$ROOT" >results 2>node.err
while IFS='	' read -r result name; do
	is "$result" pass "$name"
done <results
ok 'all of it ran' grep -q 'dark: the ground' results
# The expression of a selection is one that pfilter takes.
run "$BIN/pfilter" "$(cat expression)" sched.ps
is "$status" 0 "pfilter takes the page's expression"
done_testing
