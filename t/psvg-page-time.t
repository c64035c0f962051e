#!/bin/sh
# psvg --html of an event stream: the order of time, all threads or one, in a browser, if there is one; against
# flame charts and against sums of the samples.
. "${0%/*}/lib.sh"

# THREAD COUNT STACK: events in a row.
cat >short <<'EOF'
21 2 main;a;b
21 4 main;a;c
22 1 main;x
21 6 main;a;b
22 1 main;x;y
21 8 main;d
EOF
awk 'BEGIN { srand(7); split("f g h", name, " "); for (i = 0; i < 2000; i++) { s = "main"; n = int(rand() * 6)
	for (k = 0; k < n; k++) s = s ";" name[int(rand() * rand() * 3) + 1] k; print 21 + int(rand() * 4), int(rand() * 3) + 1, s } }' >long
script() {
	awk '{ n = split($3, f, ";"); head = sprintf("            prog-%d [000] .....", $1)
		for (k = 0; k < $2; k++) { printf "%s  5.%06d: sys_enter: NR 1 (0, 0, 0, 0, 0, 0)\n%s  5.%06d: <stack trace>\n", head, ++t * 10, head, t * 10
			for (i = n; i > 0; i--) print " => " f[i] } }' "$1"
}
for name in short long; do
	script $name >$name.txt
	"$BIN/pdecode" $name.txt >$name.ps 2>$name.err || diag_file $name.err
	"$BIN/psvg" --html $name.ps >$name.html || fail "a page of $name"
done
like short.html '"times":22,' 'the page has the samples'
"$BIN/pfold" short.ps >short.folded
"$BIN/psvg" --html short.folded >folded.html
is "$(grep -c '"times":' folded.html)" 0 'of folded text there are none'
"$BIN/psvg" --html --event all short.ps >all.html
is "$(grep -c '"times":' all.html)" 0 'nor of several events'
"$BIN/psvg" --html short.ps short.folded >both.html 2>/dev/null
is "$(grep -c '"times":' both.html)" 0 'nor if some have no time'
"$BIN/psvg" --html --factor 2 short.ps >factor.html || fail 'with a factor'
"$BIN/psvg" --html --min-width 15% short.ps >merged.html || fail 'with merged frames'
run "$BIN/psvg" --html short.ps
empty "$ERR" 'nothing to say'
# The same as flame charts: of all, and of one thread.
"$BIN/psvg" --flamechart --width 1200 --min-width 0 long.ps >all.svg || fail 'a flame chart'
"$BIN/pfilter" --drop 'tid == 22' long.ps | "$BIN/psvg" --flamechart --width 1200 --min-width 0 >22.svg || fail 'and of a thread'
SUM=$(awk '$1 == 22 { n += $2 } END { print n }' long)
export SUM

if ! find_browser || ! have node; then
	skip 1 'there is no chromium, or no node'
	done_testing
	exit
fi

cat >test.js <<'EOT2'
'use strict';
const {Browser, url, is, until} = require(process.argv[2] + '/t/psvg-browser.js');
const fs = require('fs');
const go = async (page, name) => {
	await page.go(url(name));
	await until(page, 'document.documentElement.dataset.ready', '1');
};
const rects = (page) => page.eval('psvgPage.rects()');
const choose = (page, id, value) => page.eval(`(() => { const s = document.querySelector('#${id}'); s.value = '${value}'; s.dispatchEvent(new Event('change')); })()`);
// Frames from the left of one line: name and count.
const line = (list, up) => {
	const root = list.find((r) => r.name === 'all').line;
	return list.filter((r) => r.line === root - up).sort((a, b) => a.x - b.x).map((r) => r.name + ' ' + r.total).join();
};
const ofSVG = (file) => [...fs.readFileSync(file, 'utf8').matchAll(/<rect x="([\d.]+)" y="([\d.]+)" width="([\d.]+)" height="[\d.]+" fill="(#[0-9a-f]+)"[^>]*><title>(.*) \([^()]*\)<\/title>/g)]
	.map((m) => ({name: m[5], x: +m[1] - 10, w: +m[3]}));
const differ = (page, svg) => {
	const left = svg.filter((s) => s.w > 1), odd = [];
	for (const r of page.filter((p) => p.w > 1 && p.name)) {
		const k = left.findIndex((s) => s.name === r.name && Math.abs(s.x - r.x) < 0.11 && Math.abs(s.w - r.w) < 0.21);
		if (k < 0)
			odd.push([r.name, r.x, r.w]);
		else
			left.splice(k, 1);
	}
	return odd.concat(left.map((s) => ['svg', s.name, s.x, s.w]));
};
(async () => {
	const page = await Browser.open(url('short.html'));
	await until(page, 'document.documentElement.dataset.ready', '1');
	is(await page.eval(`Math.round(100 * document.querySelector('#side').offsetWidth / innerWidth)`), 20, 'the table takes a fifth');
	await choose(page, 'order', 'time');
	let list = await rects(page);
	is([line(list, 3), line(list, 4)], ['a 6,x 1,a 6,x 1,d 8', 'b 2,c 4,b 6,y 1'], 'in the order of time');
	is(await page.eval('location.hash'), '#order=time', 'which is in the address');
	await choose(page, 'thread', '21');
	list = await rects(page);
	is([line(list, 3), line(list, 4)], ['a 12,d 8', 'b 2,c 4,b 6'], 'of one thread');
	is(await page.eval(`document.querySelector('#details').textContent`), 'all (20 samples, 100%); from 0.000000 s to 0.000210 s', 'with its times');
	is(await page.eval(`[...document.querySelectorAll('#side tbody tr')].map((r) => r.children[0].textContent + ' ' + r.children[1].dataset.count).sort().join()`),
		'a 0,b 8,c 4,d 8,main 0,prog 0', 'and the table is of it');
	await choose(page, 'order', 'name');
	is(line(await rects(page), 4), 'b 8,c 4', 'by name its stacks are merged');
	await page.eval('document.querySelector("#tree").focus()');
	await page.key('o');
	await page.key('o');
	is(await page.eval('location.hash'), '#order=time&thread=21', 'o goes from order to order');
	await page.go(url('short.html') + '?2#order=time&thread=21&zoom=prog;main;a;b~1');
	await until(page, 'document.documentElement.dataset.ready', '1');
	is(/^b \(6 samples, 30.00%\)/.test(await page.eval(`document.querySelector('#details').textContent`)), true, 'a link to the second of two of one name');
	await page.key('Escape');
	await page.go(url('short.html') + '?3#order=time&hide=c');
	await until(page, 'document.documentElement.dataset.ready', '1');
	is(line(await rects(page), 4), 'b 2,b 6,y 1', 'what is hidden is not there');
	is(await page.eval(`document.querySelector('#reverse').disabled`), true, 'in the order of time there is no view from the leaf');
	await page.go(url('short.html') + '?4#thread=nonesuch&order=time');
	await until(page, 'document.documentElement.dataset.ready', '1');
	is(line(await rects(page), 3), 'a 6,x 1,a 6,x 1,d 8', 'a link to a thread that is not there');
	await go(page, 'factor.html');
	await choose(page, 'order', 'time');
	is(line(await rects(page), 3), 'a 12,x 2,a 12,x 2,d 16', '--factor');
	await go(page, 'merged.html');
	await choose(page, 'order', 'time');
	is(line(await rects(page), 2), 'main 22', 'with merged frames it is as much');
	await go(page, 'long.html');
	await page.key('t');
	await choose(page, 'order', 'time');
	is(differ(await rects(page), ofSVG('all.svg')), [], "a long one has the flame chart's frames");
	await choose(page, 'thread', '22');
	is(differ(await rects(page), ofSVG('22.svg')), [], 'and so has a thread of it');
	is((await rects(page)).find((r) => r.name === 'all').total, +process.env.SUM, 'whose sum is that of its samples');
	await go(page, 'folded.html');
	is(await page.eval(`[document.querySelector('#thread'), document.querySelectorAll('#order option').length]`), [null, 2], 'folded text has no order of time');
	is(await page.eval(`psvgPage.terse('std::vector<int, std::less<int>>::push_back(int const&)') + ' ' + psvgPage.terse('operator<')`), 'std::vector::push_back operator', 'names lose their arguments first');
	is(page.errors, [], 'no errors');
	await page.close();
	console.log('pass\tall of it ran');
})().catch((e) => {
	console.log('fail\t' + e.message);
	process.exit(1);
});
EOT2
timeout 900 node test.js "$ROOT" >results 2>node.err
diag_file node.err
while IFS='	' read -r result name; do
	is "$result" pass "$name"
done <results
ok 'the browser came to the end' grep -q '^pass	all of it ran' results
done_testing
