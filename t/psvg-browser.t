#!/bin/sh
# psvg's graphs in a browser: zoom, search, links, keys, fit to the window. Needs chromium and node.
. "${0%/*}/lib.sh"

find_browser || skip_all 'there is no chromium'
need node

# 1000 samples. f calls itself: 600 of them are in f, not 600 + 200. tiny is not drawn, but keeps
# its place between a and z.
printf '%s\n' 'main;f 400' 'main;f;f;read_file_[k] 200' 'main;g;a 99' 'main;g;tiny .02' \
	'main;g;z 100.98' 'other;Read 200' >in
"$BIN/psvg" --title Test in >graph.svg || exit 1
"$BIN/psvg" -i --width 800 --search '^f$' in >icicle.svg || exit 1

printf '%s\n' 'a;b 4521' 'a;c 900' >long
"$BIN/psvg" --count-name ns long >long.svg || exit 1

# What is told below the frames is longer than a window of 500.
printf '%s\n' '# event: cpu-clock, unit: ns, samples: 3, chains: copies of up to 65528 bytes at 99 Hz on 2 CPUs: that is within the budget, stacks: marked, from: x' \
	'a;[generated code];b 1' 'a;[truncated];b 1' 'a;c 1' | "$BIN/psvg" >told.svg || exit 1

# Charts: two bars, with lengths of 3 to 1; lines and a heat map over 4 windows of time.
printf '%s\n' '#PPTABLE1 rows=2 name=events	comm:key	events:count	events:share:%' 'events	a	300	75' 'events	b	100	25' >bars.tsv
"$BIN/psvg" bars.tsv >bars.svg || exit 1
"$BIN/psvg" --width 1000 bars.tsv >fixed.svg || exit 1
"$BIN/pdecode" "$ROOT/t/data/sched.data.gz" >sched.pstream 2>/dev/null
"$BIN/phist" --over-time=100ms --tsv sched.pstream 2>/dev/null | "$BIN/psvg" >lines.svg || exit 1
"$BIN/phist" --over-time=100ms --by comm --tsv sched.pstream 2>/dev/null | "$BIN/psvg" >names.svg || exit 1
"$BIN/phist" -f period --heatmap=100ms --tsv sched.pstream 2>/dev/null | "$BIN/psvg" >heat.svg || exit 1

cat >test.js <<'EOF'
'use strict';
const {Browser} = require(process.argv[2] + '/t/psvg-browser.js');
const url = 'file://' + process.cwd() + '/graph.svg';
const is = (got, want, name) => console.log(got === want ? 'pass\t' + name :
	'fail\t' + name + ': got ' + JSON.stringify(got) + ', wanted ' + JSON.stringify(want));
const frame = (name, nth = 0) => `[...document.querySelectorAll('#frames rect')].filter((r) =>
	r.textContent.startsWith(${JSON.stringify(name + ' (')}))[${nth}]`;
const text = (id) => `document.querySelector('#${id}').textContent`;
const attr = (e, name) => `+${e}.getAttribute('${name}')`;
const shown = `[...document.querySelectorAll('#frames rect')].filter((r) =>
	getComputedStyle(r).display !== 'none').map((r) => r.textContent.replace(/ [(].*/, '')).join()`;
const settle = () => new Promise((r) => setTimeout(r, 300));
const until = async (page, expression, want) => {
	for (let i = 0; i < 100 && await page.eval(expression) !== want; i++)
		await new Promise((r) => setTimeout(r, 50));
	return page.eval(expression);
};

const zoom = async (page) => {
	is(await page.eval(attr(frame('all'), 'width')), 1180, 'the graph is as wide as the window');
	is(await page.eval(attr(frame('main'), 'width')), 944, 'a frame has its share');
	is(await page.eval("getComputedStyle(document.querySelector('#reset')).display"), 'none',
		'nothing to reset');
	await page.hover(frame('g'));
	is(await page.eval(text('details')), 'g (200, 20.00%)', 'details of the frame below the mouse');
	await page.click(frame('g'));
	is(await page.eval(shown), 'all,main,g,z,a', 'zoomed: the frame, its callers and callees');
	is(await page.eval(attr(frame('g'), 'width')), 1180, 'it takes the whole width');
	is(await page.eval(attr(frame('z'), 'x')), Number((10 + 1180 * 99.02 / 200).toFixed(1)),
		'what is not drawn keeps its place');
	is(await page.eval(`getComputedStyle(${frame('main')}).opacity`), '0.45', 'callers are faded');
	is(await page.eval(`getComputedStyle(${frame('z')}).opacity`), '1', 'callees are not');
	await page.hover(frame('a'));
	is(await page.eval(text('details')), 'a (99, 9.90%); 49.50% of zoomed', 'share of the zoomed frame');
	is(await page.eval('location.hash.replace(/=[0-9]+/, "=N")'), '#zoom=N:g', 'a link to it');
	const link = await page.eval('location.href');
	await page.click("document.querySelector('#reset')");
	is(await page.eval(attr(frame('main'), 'width')), 944, 'reset by the button');
	await page.eval('history.back()');
	is(await until(page, attr(frame('g'), 'width'), 1180), 1180, 'back in history zooms again');
	await page.key('Escape');
	is(await page.eval(attr(frame('main'), 'width')), 944, 'reset by Escape');
	return link;
};

const search = async (page) => {
	await page.key('f', 2);
	await page.type('^f$');
	is(await page.eval(text('matched')), 'matched 60.00%', 'Ctrl-F, and a recursive function counts once');
	is(await page.eval(`getComputedStyle(${frame('f', 1)}).fill`), 'rgb(238, 85, 238)', 'matches are highlighted');
	is(await page.eval('location.hash'), '#search=%5Ef%24', 'the link has the search');
	await page.click(frame('g'));
	is(await page.eval(text('matched')), 'matched 60.00% (0.00% of zoomed)', 'none of them in the zoomed frame');
	await page.eval("document.querySelector('#reset').click()");
	await page.key('F3');
	await page.type('^read');
	is(await page.eval(text('matched')), 'matched 20.00%', 'F3 selects the old text; case matters');
	await page.click("document.querySelector('#case')");
	is(await page.eval(text('matched')), 'matched 40.00%', 'until the button is pressed');
	await page.key('F3');
	await page.type('(');
	is(await page.eval(text('matched')), 'not a regular expression', 'a bad expression is told');
	await page.key('F3');
	await page.type('a');
	is(await page.eval(text('matched')), 'matched 100.00%', 'never more than everything');
	await page.key('Escape');
	is(await page.eval(text('matched') + '+location.hash'), '#ignorecase=1', 'Escape clears it');
};

const keys = async (page) => {
	await page.eval("document.querySelector('#frames').focus()");
	for (const [key, want] of [['ArrowUp', 'main'], ['ArrowUp', 'f'], ['ArrowRight', 'g'],
		['ArrowRight', 'Read'], ['ArrowLeft', 'g'], ['ArrowDown', 'main'], ['ArrowUp', 'f']]) {
		await page.key(key);
		is(await page.eval(text('details') + ".replace(/ .*/, '')"), want, key + ' goes to ' + want);
	}
	await page.key('Enter');
	is(await page.eval(attr(frame('f'), 'width')), 1180, 'Enter zooms');
};

const windows = async (page) => {
	await page.go(url);
	await page.resize(280, 400);
	await settle();
	is(await page.eval(attr(frame('all'), 'width')), 260, 'a small window');
	is(await page.eval(`/^read.*[.][.]$/.test(${frame('read_file_[k]')}.nextElementSibling.textContent)`), true, 'text is fitted anew');
	await page.resize(2020, 400);
	await settle();
	is(await page.eval(`${frame('read_file_[k]')}.nextElementSibling.textContent`), 'read_file', 'and again');
};

// The plot ends a margin of 14 and two times the font size of 12 before the window does.
const end = (width) => width - 14 - 24;
const right = `Math.max(...[...document.querySelectorAll('.l')].map((e) => e.getBoundingClientRect().right))`;
const bright = (k) => `getComputedStyle(document.querySelector('.k${k}')).fill.match(/[0-9]+/g).reduce((a, b) => a + +b, 0)`;
const told = async () => {
	const page = await Browser.open(url.replace('graph', 'told'), {width: 500});
	const over = `['foot', 'ends', 'chains'].filter((id) => document.querySelector('#' + id).getBoundingClientRect().right > 500).join()`;
	is(await until(page, over, ''), '', 'what is told below the frames ends within the window');
	is(await page.eval(`document.querySelector('#ends > title').textContent.slice(0, 33)`), '33.3 % of the stacks are complete',
		'and is whole below the mouse');
	await page.close();
};

const charts = async () => {
	const page = await Browser.open(url.replace('graph', 'lines'), {width: 1700});
	is(Math.round(await page.eval(right)), end(1700), 'lines take the width of the window');
	await page.resize(800, 600);
	is(Math.round(await until(page, `Math.round(${right})`, end(800))), end(800), 'and follow it');
	await page.resize(300, 600);
	is(Math.round(await until(page, `Math.round(${right})`, end(480))), end(480), 'to what names and numbers need');
	await page.resize(1200, 600);
	const go = async (name) => {
		await page.go(url.replace('graph', name));
		await until(page, `location.pathname.endsWith('/${name}.svg') && document.readyState`, 'complete');
	};
	await go('names');
	const legend = (what) => `(() => { const t = [...document.querySelectorAll('.w text')].map((e) => e.getBoundingClientRect());
		const line = document.querySelector('.l').getBoundingClientRect(); return ${what}; })()`;
	const lower = `t.every((r) => r.bottom <= document.querySelector('.g').getBoundingClientRect().top + 1)`;
	const tall = await page.eval('document.documentElement.getBoundingClientRect().height');
	is(await page.eval(legend(`t.length > 3 && new Set(t.map((r) => r.top)).size`)), 1, 'a wide window has all names in a row');
	await page.resize(480, 600);
	is(await until(page, legend('new Set(t.map((r) => r.top)).size > 1'), true), true, 'a narrow one has several rows');
	is(await page.eval(legend('t.every((r) => r.right <= 480)')), true, 'and none is cut off');
	is(await page.eval(legend(lower)), true, 'the plot is below them');
	is(await page.eval('document.documentElement.getBoundingClientRect().height') > tall, true, 'and the picture is higher');
	await page.resize(1200, 600);
	await go('bars');
	const bar = (i) => attr(`document.querySelectorAll('.b')[${i}]`, 'width');
	const before = await page.eval(bar(0));
	await page.resize(1500, 600);
	is(Math.abs(await until(page, `${bar(0)} - ${before} > 299 && ${bar(0)}`) - before - 300) <= 0.2, true, 'a bar gets all of the room that is won');
	is(Math.abs(await page.eval(`${bar(0)} - 3 * ${bar(1)}`)) < 0.5, true, 'and they keep their proportions');
	await go('fixed');
	is(await page.eval('document.documentElement.getBoundingClientRect().width'), 1000, '--width is the width');
	await go('heat');
	is(await page.eval(`${bright(0)} > ${bright(15)}`), true, 'heat: lighter is less');
	is(page.errors.join(), '', 'no error of the script');
	await page.close();
	const dark = await Browser.open(url.replace('graph', 'heat'), {dark: true});
	is(await dark.eval(`${bright(0)} < ${bright(15)}`), true, 'in the dark, brighter is more');
	is(await dark.eval(`${bright(0)} > 2 * (27 + 28 + 31)`), true, 'and the least is seen, too');
	await dark.close();
};

(async () => {
	const page = await Browser.open(url, {height: 600});
	const link = await zoom(page);
	await search(page);
	await keys(page);
	await windows(page);
	await page.resize(1200, 600);
	await page.go(link.replace(/#zoom=\d+/, '?again#zoom=3') + '&search=z&ignorecase=1');
	is(await page.eval(attr(frame('g'), 'width')), 1180, 'a link finds its frame by name');
	is(await page.eval(text('matched')), 'matched 10.10% (50.49% of zoomed)', 'and searches');
	is(page.errors.join(), '', 'no errors in the script');
	await page.go(url.replace('graph', 'icicle'));
	is(await page.eval(attr(frame('all'), 'width')), 780, 'a width that was asked for stays');
	is(await page.eval(text('matched')), 'matched 60.00%', 'the search that was asked for');
	is(await page.eval(`${attr(frame('g'), 'y')} > ${attr(frame('main'), 'y')}`), true, 'icicle: callees below');
	await page.go(url.replace('graph', 'long'));
	await page.hover(frame('b'));
	is(await page.eval(text('details')), 'b (4,521 ns, 83.40%); 4.52 us', 'a long time with three digits');
	await page.hover(frame('c'));
	is(await page.eval(text('details')), 'c (900 ns, 16.60%)', 'a short one as it is');
	await page.close();

	await told();
	await charts();
	const plain = await Browser.open(url, {script: false, dark: true});
	is(await plain.eval(`${frame('read_file_[k]')}.nextElementSibling.textContent`), 'read_file', 'without scripts: texts');
	is(await plain.eval("getComputedStyle(document.querySelector('#back')).fill"), 'rgb(27, 28, 31)', 'dark where that is preferred');
	await plain.close();
})().catch((e) => {
	console.log('fail\tthe test itself: ' + e.message);
	process.exit(1);
});
EOF
timeout 900 node test.js "$ROOT" >results 2>node.err
is "$?" 0 'the test in the browser ends'
diag_file node.err
while IFS='	' read -r result name; do
	case $result in
	pass) pass "$name" ;;
	*) fail "$name" ;;
	esac
done <results
is "$(grep -c '^pass' results)" 61 'all of it was tested'
done_testing
