#!/bin/sh
# psvg --html: the page of a flame graph. What is in it; in a browser, if there is one: widths and
# colours against the SVG, zoom, search, views from the leaf and of a function, hiding, the table
# against sums of the text, links, keys, dark mode, paper, a million stacks, hostile names. And every
# picture with a script runs under a Content-Security-Policy that allows just that script.
. "${0%/*}/lib.sh"

# 1000 samples, with recursion, and names that are and are not functions.
printf '%s\n' 'main;f 400' 'main;f;f;read_file_[k] 200' 'main;g;a 99' 'main;g;tiny .02' \
	'main;g;z 100.98' 'other;Read 150' 'other;[unknown];std::sort<int>;inl_[i] 30' 'other;x_[j] 20' >in
run "$BIN/psvg" --html --title 'A <b> & c' --notes 'by "me"' in
is "$status" 0 '--html'
empty "$ERR" 'nothing to say'
cp "$OUT" page.html
like page.html '^<!DOCTYPE html>' 'is a page'
like page.html '<title>A &lt;b&gt; &amp; c</title>' 'with its title'
like page.html '<meta name="description" content="by &quot;me&quot;">' 'and notes'
like page.html 'id="account">total 1,000, 14 frames<' 'and the account'
"$BIN/psvg" --html --title 'A <b> & c' --notes 'by "me"' in >again.html
same again.html page.html 'the same each time'
sort -r in | "$BIN/psvg" --html --title 'A <b> & c' --notes 'by "me"' >again.html
same again.html page.html 'whatever the order of the lines'
printf 'a;b 0\n' >zero
run "$BIN/psvg" --html zero
is "$status" 1 'nothing counted'
empty "$OUT" 'is no page'
printf '%s\n' '#PPTABLE1 rows=1 name=events	comm:key	events:count' 'events	a	300' >table.tsv
run "$BIN/psvg" --html table.tsv
is "$status" 64 'of a table there is none'
printf 'a;b 1\nx\n' | "$BIN/psvg" --html 2>/dev/null >part.html
is "$?" 1 'malformed lines: partial'
like part.html 'id="account">.*left out: 1 malformed lines' 'and the page tells'
"$BIN/psvg" --html --min-width 10% in >narrow.html
like narrow.html 'id="account">.*merged: 6 frames narrower than 10% of the total, with 14.90% of all' 'narrow frames are merged'

# What differs: a comparison; the order of time; hostile names; a million stacks.
printf '%s\n' 'p;f 60' 'p;g 30' 'p;old 10' >old
printf '%s\n' 'p;f 60' 'p;g;h 120' 'p;new 20' >new
"$BIN/psvg" --html --diff old new >diff.html || fail 'a difference'
like diff.html 'id="account">total 200, 6 frames; gone: 1 frames with' 'of which the account tells'
"$BIN/psvg" --diff --width 1220 --min-width 0 old new >diff.svg || fail 'and its SVG'
"$BIN/psvg" --gone --width 1220 --min-width 0 old new >gone.svg || fail 'and what is gone'
"$BIN/psvg" --html --gone old new >gone.html || fail 'as a page'
like gone.html '"gone":true' 'which begins with what is gone'
run "$BIN/psvg" --html --gone new new
is "$status" 1 'nothing is gone: no page'
printf '%s\n' 'a;b 10' 'a 10' 'a;b 20' 'c;d 20' 'a;b 40' >timed
"$BIN/psvg" --html --flamechart timed >time.html || fail 'in the order of time'
printf '</script><img src=x onerror=alert(1)>;"\\u2028&<!--;\001\377\302\240;]]>;%%41~1;a b 5\n;; 3\n__proto__;constructor 2\n' >hostile
"$BIN/psvg" --html hostile >hostile.html || fail 'hostile names'
is "$(grep -c '<img' hostile.html)" 0 'stay text'
awk 'BEGIN { for (i = 0; i < 1000000; i++) { s = "main"; k = i
	for (d = 0; d < 6; d++) { s = s sprintf(";level_%d_function_%d", d, k % 10); k = int(k / 10) }
	print s, i % 97 + 1 } }' >million
sum=$(awk '{ n += $2 } END { print n }' million)
"$BIN/psvg" --html million >million.html || fail 'a million stacks'
ok 'are less than 10 MB' test "$(wc -c <million.html)" -lt 10000000
is "$(sed -n 's|.*id="account">total \([0-9,]*\), 1,111,111 frames<.*|\1|p' million.html | tr -d ,)" "$sum" 'with every frame'
awk 'BEGIN { for (i = 0; i < 1000000; i++) print "a" i % 1000 ";b" i ";c" i, i % 1000 + 1 }' |
	"$BIN/psvg" --html >wide.html || fail 'two million frames'
ok 'are less than 10 MB, too' test "$(wc -c <wide.html)" -lt 10000000
like wide.html 'id="account">.*merged: [0-9,]* frames narrower than' 'and what was merged is told'
rm million
export SUM="$sum"

if ! find_browser || ! have node; then
	skip 1 'there is no chromium, or no node'
	done_testing
	exit
fi

# The same as SVGs of the width of the page's picture (1200 without table and margins: 1180).
for palette in hot kind safe java; do
	"$BIN/psvg" --width 1200 --min-width 0 -c $palette in >svg.$palette || fail "an SVG in $palette"
done
"$BIN/psvg" --width 1200 --min-width 0 -r in >svg.reverse || fail 'from the leaf'
"$BIN/psvg" --html --inverted --colors kind --total 2000 --nametype Function: --fonttype Courier --bgcolors '#fffff0' \
	--factor 2 --countname ms --search '^f$' --width 800 --height 20 in >options.html || fail 'with options'
# Self and total of each function, by the text.
awk '{ n = $NF; sub(/ [^ ]*$/, ""); k = split($0, f, ";"); self[f[k]] += n; split("", seen)
	for (i = 1; i <= k; i++) if (!seen[f[i]]++) total[f[i]] += n }
	END { for (name in total) printf "%s\t%.2f\t%.2f\n", name, self[name], total[name] }' in | sort >table
gzip -dc "$ROOT/t/data/sched-stacks.data.gz" | "$BIN/pdecode" 2>/dev/null | "$BIN/plat" --timeline >t.tl 2>/dev/null
"$BIN/psvg" t.tl >timeline.html || fail 'a timeline'
"$BIN/psvg" --timeline=svg t.tl >timeline.svg || fail 'as SVG'
printf '%s\n' '#PPTABLE1 rows=2 name=events	comm:key	events:count	events:share:%' 'events	a	300	75' 'events	b	100	25' |
	"$BIN/psvg" >chart.svg || fail 'a chart'
gzip -dc "$ROOT/t/data/sched.data.gz" | "$BIN/pdecode" >s.ps 2>/dev/null
"$BIN/phist" --heatmap=10ms -f prev_prio --tsv s.ps 2>/dev/null | "$BIN/psvg" >heat.svg || fail 'a heat map'
"$BIN/phist" -f prev_prio --tsv s.ps 2>/dev/null | "$BIN/psvg" >bars.svg || fail 'a histogram'
cp svg.hot flame.svg

cat >test.js <<'EOT'
'use strict';
const {Browser, url, is, until} = require(process.argv[2] + '/t/psvg-browser.js');
const fs = require('fs'), http = require('http'), crypto = require('crypto');
const ready = (page) => until(page, 'document.documentElement.dataset.ready', '1');
const rects = (page) => page.eval('psvgPage.rects()');
const named = (list, name) => list.find((r) => r.name === name);
const round = (v) => Math.round(v * 10) / 10;
const text = (page, selector) => page.eval(`document.querySelector(${JSON.stringify(selector)}).textContent`);
const press = (page, selector) => page.eval(`document.querySelector(${JSON.stringify(selector)}).click()`);
// A click into a frame, by its name.
const at = (page, name) => page.eval(`(() => { const r = psvgPage.rects().find((r) => r.name === ${JSON.stringify(name)});
	const t = document.querySelector('#tree'), b = t.getBoundingClientRect();
	return {x: b.left + r.x + r.w / 2, y: b.top + psvgPage.shift() - t.scrollTop + r.line * 16 + 8}; })()`);
const click = async (page, name, button = 'left') => {
	const place = await at(page, name);
	for (const type of ['mouseMoved', 'mousePressed', 'mouseReleased'])
		await page.send('Input.dispatchMouseEvent', {type, ...place, clickCount: 1, button: type === 'mouseMoved' ? 'none' : button});
};
const choose = async (page, name, item) => {
	await click(page, name, 'right');
	await page.eval(`[...document.querySelectorAll('#menu button')].find((b) => b.textContent.startsWith(${JSON.stringify(item)})).click()`);
};
// Frames of an SVG of psvg: name, x without the margin, width, colour; from the root upward.
const ofSVG = (file) => {
	const list = [];
	for (const m of fs.readFileSync(file, 'utf8').matchAll(/<rect x="([\d.]+)" y="([\d.]+)" width="([\d.]+)" height="[\d.]+" fill="(#[0-9a-f]+)"[^>]*><title>(.*) \([^()]*\)<\/title>/g))
		list.push({name: m[5].replace(/&lt;/g, '<').replace(/&gt;/g, '>').replace(/&amp;/g, '&'), x: +m[1] - 10, y: +m[2], w: +m[3], fill: m[4]});
	return list;
};
// Of the two lists, what is in one alone; places may differ by the rounding to tenths.
const differ = (page, svg, colours = true) => {
	const left = svg.filter((s) => s.w > 1), odd = [];
	for (const r of page.filter((p) => p.w > 1)) {
		const k = left.findIndex((s) => s.name === r.name && Math.abs(s.x - r.x) < 0.11 && Math.abs(s.w - r.w) < 0.21 &&
			(!colours || r.name === 'all' || s.fill === r.fill));
		if (k < 0)
			odd.push([r.name, round(r.x), round(r.w), r.fill]);
		else
			left.splice(k, 1);
	}
	return odd.concat(left.map((s) => ['svg', s.name, s.x, s.w, s.fill]));
};

const views = async (page) => {
	await press(page, '#tableon');
	is(await page.eval('document.querySelector("#tree").clientWidth'), 1180, 'without the table, the picture is as wide as the window');
	is(differ(await rects(page), ofSVG('svg.hot')), [], "widths and colours are the SVG's");
	for (const palette of ['kind', 'safe', 'java']) {
		await page.eval(`(() => { const s = document.querySelector('#palette'); s.value = '${palette}'; s.dispatchEvent(new Event('change')); })()`);
		is(differ(await rects(page), ofSVG('svg.' + palette)), [], 'and in ' + palette);
	}
	const root = named(await rects(page), 'all').line;
	await press(page, '#inverted');
	is(named(await rects(page), 'all').line === 0 && root > 0, true, 'an icicle has its root at the top');
	await press(page, '#inverted');
	await press(page, '#reverse');
	is(differ(await rects(page), ofSVG('svg.reverse'), false), [], "merged from the leaf: psvg -r's widths");
	is(await page.eval('location.hash'), '#reverse=1&table=0&palette=java', 'the address has it');
	await press(page, '#reverse');
	await page.eval(`(() => { const s = document.querySelector('#order'); s.value = 'size'; s.dispatchEvent(new Event('change')); })()`);
	is((await rects(page)).filter((r) => r.line === root - 2 && r.w > 1).map((r) => r.name).join(), 'f,g,Read,[unknown],x_[j]', 'largest first');
	is(await page.eval('new DOMParser().parseFromString(psvgPage.svg(), "image/svg+xml").querySelector("parsererror") === null'), true, 'saved as SVG it is well-formed');
	await page.go(url('page.html') + '?2');
	await ready(page);
};
const zoom = async (page) => {
	const width = await page.eval('document.querySelector("#tree").clientWidth');
	await click(page, 'g');
	is(round(named(await rects(page), 'g').w), width, 'a click zooms');
	is(named(await rects(page), 'main').faded, true, 'its callers are faded');
	is(named(await rects(page), 'f'), undefined, 'what does not belong to it is gone');
	is(round(named(await rects(page), 'a').w), round(99 / 200 * width), 'what does, grows');
	is(await page.eval('location.hash'), '#zoom=main;g', 'a link to it');
	is(/^a \(99, 9.90%\); 49.50% of zoomed/.test(await (async () => {
		await page.send('Input.dispatchMouseEvent', {type: 'mouseMoved', ...await at(page, 'a')});
		return text(page, '#details');
	})()), true, 'details of the frame below the mouse');
	await page.go(url('page.html') + '?3#zoom=main;g&search=%5Ez');
	await ready(page);
	is(round(named(await rects(page), 'g').w), width, 'the link zooms');
	is(await text(page, '#matched'), 'matched 10.10%', 'and searches');
	is(await page.eval('document.querySelectorAll("#side tbody tr").length'), 1, 'the table has what matches');
	await page.key('Escape');
	is(round(named(await rects(page), 'main').w), round(0.8 * width), 'Escape shows all');
	await page.key('Escape');
	is(await page.eval('location.hash'), '', 'and ends the search');
	await press(page, '#undo');
	is(await text(page, '#matched'), 'matched 10.10%', 'undo brings it back');
	await press(page, '#undo');
	is(round(named(await rects(page), 'g').w), width, 'and the zoom');
	await page.eval('history.back()');
	await until(page, 'location.hash', '#search=%5Ez');
	is(round(named(await rects(page), 'main').w), round(0.8 * width), "the browser's way back, too");
	await page.key('Escape');
	await page.key('f', 2);
	is(await page.eval('document.activeElement.id'), 'search', 'Ctrl-F begins a search');
	for (const [query, want] of [['^f$', '60.00%'], ['Read', '15.00%'], ['.', '100.00%']]) {
		await page.key('F3');
		await page.type(query);
		is(await text(page, '#matched'), 'matched ' + want, 'search for ' + query);
	}
	await page.key('F3');
	await page.type('read');
	await press(page, '#case');
	is(await text(page, '#matched'), 'matched 35.00%', 'without case');
	await press(page, '#case');
	await page.key('F3');
	await page.type('(');
	is(await text(page, '#matched'), 'not a regular expression', 'a bad expression is told');
	await page.key('Escape');
};
const table = async (page) => {
	const rows = await page.eval(`[...document.querySelectorAll('#side tbody tr')].map((r) => [r.children[0].textContent,
		(+r.children[1].dataset.count).toFixed(2), (+r.children[2].dataset.count).toFixed(2)].join('\\t')).sort()`);
	is(rows, fs.readFileSync('table', 'utf8').split('\n').filter((l) => l).sort(), "the table has the text's sums");
	await press(page, '[data-sort=total]');
	is(await text(page, '#side tbody tr'), 'main80.00%'.replace('80.00%', '0.00%80.00%'), 'sorted by total');
	is(await page.eval('document.querySelector("[aria-sort=descending]").textContent'), 'Total', 'which its head tells');
	await press(page, '[data-sort=self]');
};
const sandwich = async (page) => {
	const width = await page.eval('document.querySelector("#tree").clientWidth');
	await page.eval('document.querySelector("#side tbody tr:first-child td").click(); window.atOnce = psvgPage.rects()');
	let list = await page.eval('window.atOnce');
	is(await text(page, '#details'), 'f (600, 60.00%)', 'a click into the table: the function');
	is([round(named(list, 'main').w), named(list, 'main').line < named(list, 'f').line], [width, true], 'its callers above');
	is(list.filter((r) => r.name === 'f').map((r) => [round(r.w), r.line - named(list, 'main').line]),
		[[width, 1], [round(width / 3), 2]], 'its callees below, recursion among them');
	is(await page.eval('location.hash'), '#sandwich=f', 'the address has it');
	await click(page, 'read_file_[k]');
	is(await page.eval('location.hash'), '#zoom=f;read_file_%5Bk%5D'.replace('#', '#sandwich=f&'), 'zoom in a callee');
	await page.go(url('page.html') + '?4#sandwich=read_file_%5Bk%5D&zoom=^f;f');
	await ready(page);
	list = await rects(page);
	is(list.filter((r) => r.faded).map((r) => r.name).join(), 'f', 'zoom in a caller, by a link');
	is(round(named(list, 'main').w), width, 'whose callers are there');
	await press(page, '.chip button');
	is(await page.eval('location.hash'), '', 'closed');
};
const hide = async (page) => {
	const width = await page.eval('document.querySelector("#tree").clientWidth');
	await choose(page, 'f', 'Hide');
	is([named(await rects(page), 'f'), round(named(await rects(page), 'other').w)], [undefined, round(width / 2)], 'hide: the rest takes the room');
	is(await text(page, '#chips'), 'without f \u00d7 40.00% of all is left', 'which is told');
	await choose(page, 'g', 'Isolate');
	is((await rects(page)).filter((r) => r.w > 1).map((r) => r.name).sort().join(), 'a,all,g,main,z', 'isolate: only its stacks');
	is(await page.eval('location.hash'), '#hide=f&only=g', 'both are in the address');
	await page.key('z', 2);
	is(round(named(await rects(page), 'other').w), round(width / 2), 'undo');
	await page.key('z', 2);
	is(Math.max(...(await rects(page)).filter((r) => r.name === 'f').map((r) => round(r.w))), round(0.6 * width), 'undo again');
	await choose(page, 'read_file_[k]', 'Copy stack');
	is(await until(page, 'document.documentElement.dataset.copied', 'main;f;f;read_file_[k]'), 'main;f;f;read_file_[k]', 'copy stack');
	await choose(page, 'read_file_[k]', 'Copy name');
	is(await until(page, 'document.documentElement.dataset.copied', 'read_file_[k]'), 'read_file_[k]', 'copy name');
};
const keys = async (page) => {
	await page.eval('document.querySelector("#tree").focus()');
	await page.key('Home');
	for (const [key, want] of [['ArrowUp', 'main'], ['ArrowUp', 'f'], ['ArrowRight', 'g'], ['ArrowRight', 'Read'],
		['ArrowLeft', 'g'], ['ArrowDown', 'main'], ['ArrowUp', 'f']]) {
		await page.key(key);
		is((await text(page, '#item')).replace(/ .*/, ''), want, key + ' goes to ' + want);
	}
	is(await page.eval(`(() => { const t = document.querySelector('#tree'), i = document.getElementById(t.getAttribute('aria-activedescendant'));
		return [t.getAttribute('role'), i.getAttribute('role'), i.getAttribute('aria-level'), t.contains(i)].join(); })()`),
	'tree,treeitem,3,true', 'a screen reader is told of a tree and its item');
	const {nodes} = await page.send('Accessibility.getFullAXTree');
	const role = (r) => nodes.filter((x) => x.role && x.role.value === r && !x.ignored).map((x) => x.name ? x.name.value : '');
	is([role('treeitem'), role('table')], [['f (600, 60.00%)'], ['Functions']], 'and of the table');
	is(role('button').concat(role('combobox'), role('searchbox')).filter((s) => !s), [], 'every control has a name');
	await page.key('Enter');
	is(await page.eval('location.hash'), '#zoom=main;f', 'Enter zooms');
	await page.key('m');
	is(await page.eval('document.activeElement.textContent'), 'Zoom', 'm opens the menu');
	await page.key('ArrowDown');
	await page.key('Enter');
	is(await page.eval('location.hash'), '#sandwich=f', 'whose items are chosen by keys');
	is(await page.eval('document.activeElement.id'), 'tree', 'and the focus is where it was');
	await page.key('z', 2);
	await page.key('Escape');
	is(await page.eval('location.hash'), '', 'all is as it was');
};
const paper = async (page) => {
	await page.eval('window.dispatchEvent(new Event("beforeprint"))');
	await page.send('Emulation.setEmulatedMedia', {media: 'print'});
	is(await page.eval(`[...document.querySelectorAll('#print rect title')].some((t) => t.textContent.startsWith('main ('))`), true, 'paper gets a picture of its own');
	is(await page.eval(`['#bar', '#tree', '#print'].map((s) => getComputedStyle(document.querySelector(s)).display).join()`), 'none,none,block', 'without the controls');
	await page.send('Emulation.setEmulatedMedia', {media: ''});
};
const others = async (page) => {
	const go = async (name) => {
		await page.go(url(name));
		await ready(page);
		return rects(page);
	};
	await go('diff.html');
	await press(page, '#tableon');
	// 1220 - 20 - 20: the SVG's frames are 1200 wide, the page's 1180.
	const wider = async () => (await rects(page)).map((r) => ({...r, x: r.x * 1200 / 1180, w: r.w * 1200 / 1180}));
	is(differ(await wider(), ofSVG('diff.svg')), [], "a difference has the SVG's colours");
	await press(page, '#gone');
	is(differ(await wider(), ofSVG('gone.svg')), [], "the switch shows what is gone, as --gone's SVG does");
	is(await text(page, '#details'), 'all (20, 100%); gone; before 10.00%', 'in words');
	is(await text(page, '#chips .chip'), 'only what is gone: 10.00% of the base \u00d7', 'and above the picture');
	is(await page.eval('location.hash'), '#table=0&gone=1', 'and in the address');
	await press(page, '#undo');
	is(differ(await wider(), ofSVG('diff.svg')), [], 'undo shows both again');
	await go('gone.html');
	is(await page.eval('psvgPage.rects().map((r) => r.name).sort().join()'), 'all,old,p', '--gone begins with it');
	await page.key('g');
	is(await page.eval('location.hash + psvgPage.rects().some((r) => r.name === "new")'), '#gone=0true', 'and the key g leaves it');
	await press(page, '#tableon');
	is(await page.eval(`[...document.querySelectorAll('#side tbody tr')].map((r) => r.children[0].textContent + r.children[3].textContent).sort().join()`),
		'f-30.00,g+30.00,h+60.00,new+10.00,old-10.00,p+0.00', 'and changes in the table');
	let list = await go('time.html');
	is(list.filter((r) => r.name && r.name !== 'all').map((r) => [r.name, Math.round(r.x / (named(list, 'all').w / 100)), Math.round(r.w / (named(list, 'all').w / 100))].join()).join(' '),
		'b,0,10 b,20,20 d,40,20 b,60,40 a,0,40 c,40,20 a,60,40', 'the order of time stays');
	is(await page.eval(`[...document.querySelectorAll('#side tbody tr')].map((r) => r.children[0].textContent + r.children[1].textContent + r.children[2].textContent).sort().join()`),
		'a10.00%80.00%,b70.00%70.00%,c0.00%20.00%,d20.00%20.00%', 'and the table is right');
	list = await go('hostile.html');
	is(await page.eval('document.querySelectorAll("img, main script").length'), 0, 'hostile names are no elements');
	is(named(list, '</script><img src=x onerror=alert(1)>').total, 5, 'they are shown as they are');
	is(named(list, 'constructor').total, 2, 'and found');
	await click(page, '%41~1');
	const link = await page.eval('location.hash');
	await page.go(url('hostile.html') + '?2' + link);
	await ready(page);
	is(await page.eval('document.querySelector("#details").textContent'), '%41~1 (5, 50.00%)', 'a link to one');
	await page.go(url('page.html') + '?5#zoom=%E0%A4%A&hide=%&sandwich=nonesuch&order=x&sort=y&palette=z&only=');
	await ready(page);
	is(await text(page, '.chip'), 'not here: nonesuch \u00d7', 'a link to what is not there');
	list = await go('options.html');
	is([named(list, 'all').line, named(list, 'all').total, round(named(list, 'main').w / named(list, 'all').w)], [0, 2000, 0.8], '--inverted, --total, --factor');
	is([await text(page, '#matched'), await text(page, '#details')], ['matched 60.00%', 'Function: all (2,000 ms, 100%)'], '--search, --nametype, --countname');
	is(await page.eval(`[getComputedStyle(document.body).backgroundColor, getComputedStyle(document.body).fontFamily.split(',')[0].replace(/"/g, ''), document.querySelector('main').offsetWidth].join(' ')`),
		'rgb(255, 255, 240) Courier 800', '--bgcolors, --fonttype, --width');
};
const million = async (page) => {
	is(named(await rects(page), 'main').total, +process.env.SUM, 'a million stacks are there');
	let worst = 0;
	for (let k = 0; k < 5; k++) {
		await click(page, (await rects(page)).filter((r) => r.name && !r.faded && r.w > 30).sort((a, b) => a.w - b.w)[0].name);
		worst = Math.max(worst, +await page.eval('document.documentElement.dataset.took'));
	}
	is((await page.eval('location.hash')).split(';').length, 6, 'zoomed in five times');
	is(worst < 1500, true, 'each within a second and a half (it took ' + Math.round(worst) + ' ms at most)');
	console.log('took\t' + worst);
};
const narrow = async (page) => {
	const list = await rects(page), merged = list.filter((r) => !r.name);
	is(merged.length > 0 && merged.every((r) => r.many > 0), true, 'what is too narrow is merged');
	const r = merged.sort((a, b) => b.w - a.w)[0];
	await page.eval(`(() => { const t = document.querySelector('#tree'), b = t.getBoundingClientRect();
		t.dispatchEvent(new MouseEvent('mousemove', {clientX: b.left + ${r.x + r.w / 2}, clientY: b.top + psvgPage.shift() - t.scrollTop + ${r.line} * 16 + 8})); })()`);
	is(/^[0-9,]+ frames too narrow to draw, merged/.test(await text(page, '#details')), true, 'and told');
	await press(page, '#reverse');
	is(named(await rects(page), 'all').total, named(list, 'all').total, 'from the leaf it is as much');
};
const dark = async (page) => {
	const pixel = `[...document.querySelector('canvas').getContext('2d').getImageData(document.querySelector('#tree').clientWidth - 4, 4, 1, 1).data].slice(0, 3)`;
	is(await page.eval(pixel), [27, 28, 31], 'dark: the ground is dark');
	is(await page.eval('document.documentElement.scrollWidth <= innerWidth'), true, 'at 600 pixels nothing is cut off');
	await page.send('Emulation.setEmulatedMedia', {features: [{name: 'prefers-color-scheme', value: 'light'}]});
	is(await until(page, pixel + '.join()', '255,255,255'), '255,255,255', 'and light when that is wanted');
};

// A server that allows nothing but the script and the style that are in the file.
const serve = () => new Promise((done) => {
	const server = http.createServer((q, a) => {
		const name = q.url.slice(1).replace(/\?.*/, '');
		if (!/^[a-z.]+$/.test(name) || !fs.existsSync(name)) {
			a.writeHead(404).end();
			return;
		}
		const data = fs.readFileSync(name, 'utf8');
		const part = (tag) => [...data.matchAll(new RegExp('<' + tag + '>([^]*?)</' + tag + '>', 'g'))].map((m) =>
			"'sha256-" + crypto.createHash('sha256').update(m[1].replace(/^<!\[CDATA\[/, '').replace(/\]\]>$/, '')).digest('base64') + "'").join(' ');
		a.writeHead(200, {'Content-Type': name.endsWith('.svg') ? 'image/svg+xml' : 'text/html; charset=utf-8',
			'Content-Security-Policy': "default-src 'none'; script-src " + part('script') + '; style-src ' + part('style')});
		a.end(data);
	});
	server.listen(0, '127.0.0.1', () => done(server));
});
const strict = async () => {
	const server = await serve(), home = 'http://127.0.0.1:' + server.address().port + '/';
	const page = await Browser.open(home + 'chart.svg');
	await page.send('Log.enable');
	const seen = [], receive = page.receive.bind(page);
	page.receive = (s) => {
		if (/Content.Security.Policy/i.test(s) && /violat|refused/i.test(s))
			seen.push(s.slice(0, 600));
		receive(s);
	};
	page.process.stdio[4].removeAllListeners('data');
	page.process.stdio[4].on('data', (s) => page.receive(s));
	for (const [name, runs, styled] of [
		['flame.svg', '!!document.querySelector("#row")', 'getComputedStyle(document.querySelector("#frames rect")).cursor === "pointer"'],
		['diff.svg', '!!document.querySelector("#row")', 'getComputedStyle(document.querySelector("#frames rect")).cursor === "pointer"'],
		['chart.svg', 'document.documentElement.getAttribute("width") === "100%"', 'true'],
		['heat.svg', 'document.documentElement.getAttribute("width") === "100%"', 'true'],
		['bars.svg', 'document.documentElement.getAttribute("width") === "100%"', 'true'],
		['timeline.svg', 'true', 'true'],
		['page.html', 'document.documentElement.dataset.ready === "1"', 'getComputedStyle(document.querySelector("#both")).display === "flex"'],
		['timeline.html', '!!document.documentElement.dataset.ready', 'getComputedStyle(document.querySelector("main")).display === "flex"']]) {
		seen.length = 0;
		await page.go(home + name);
		is([await until(page, runs, true), await until(page, styled, true)], [true, true], name + ' runs under a strict policy');
		if (name === 'page.html') {
			await click(page, 'g');
			await press(page, '#side tbody tr');
			await page.eval('window.dispatchEvent(new Event("beforeprint"))');
			is(await page.eval('document.querySelectorAll("#print rect").length > 2'), true, 'and is used');
		}
		if (name === 'flame.svg')
			await page.click('document.querySelectorAll("#frames rect")[2]');
		await new Promise((r) => setTimeout(r, 200));
		is(seen, [], name + ': nothing was refused');
	}
	is(page.errors, [], 'no errors there');
	await page.close();
	server.close();
};
// Every SVG is XML for the browser.
const xml = async (page) => {
	for (const name of fs.readdirSync('.').filter((f) => f.endsWith('.svg') || f.startsWith('svg.'))) {
		const source = JSON.stringify(fs.readFileSync(name, 'utf8')).replace(/</g, '\\u003c');
		is(await page.eval(`new DOMParser().parseFromString(${source}, 'image/svg+xml').querySelector('parsererror') === null`), true, name + ' is XML');
	}
};
(async () => {
	for (const [name, tests, options] of [['page.html', [views, zoom, table, sandwich, hide, keys, paper, others, xml], {}],
		['million.html', [million], {}], ['wide.html', [narrow], {}], ['page.html', [dark], {dark: true, width: 600}]]) {
		const page = await Browser.open(url(name), options);
		await ready(page);
		for (const test of tests)
			await test(page);
		is(page.errors, [], name + ': no errors');
		await page.close();
	}
	await strict();
	console.log('pass\tall of it ran');
})().catch((e) => {
	console.log('fail\t' + e.message);
	process.exit(1);
});
EOT
timeout 900 node test.js "$ROOT" >results 2>node.err
diag_file node.err
while IFS='	' read -r result what; do
	case $result in
	pass) pass "$what" ;;
	took) diag "zoom of a million stacks: $what ms at most" ;;
	*) fail "$what" ;;
	esac
done <results
ok 'the browser came to the end' grep -q '^pass	all of it ran' results
done_testing
