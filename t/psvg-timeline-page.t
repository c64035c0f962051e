#!/bin/sh
# The page of psvg --timeline in a browser, if there is one: the list of events against plat's, linked with the lanes
# both ways; markers, search, lanes and their order, keys, the address; critical paths against plat --path.
. "${0%/*}/lib.sh"

gzip -dc "$ROOT/t/data/sched-stacks.data.gz" | "$BIN/pdecode" 2>/dev/null >sched.ps
"$BIN/plat" --timeline sched.ps >t.tl 2>/dev/null
"$BIN/psvg" t.tl >t.html || fail 'a page'
# Time, thread, what it did and for how long, as plat lists it; then what is unfinished.
{ "$BIN/plat" -k oncpu,runq,blocked --slower 0 --tsv sched.ps 2>/dev/null | sed 1d
	"$BIN/plat" --unmatched -k oncpu,runq,blocked --slower 0 --tsv sched.ps 2>/dev/null | sed 1d
} | awk -F'\t' '{ print $1 "\t" $4 " " $6 "\t" ($3 == "oncpu" ? "running" : $3 == "runq" ? "runnable" : $10 ~ /^D/ ? "blocked" : "sleeping") "\t" $2 }' |
	sort -n >list
is "$(grep -c '' list)" "$(grep -c '^[io]' t.tl)" 'the list is as long as the timeline'

# A critical path whose truth is known: who waits on a lock, whose holder waits for a CPU and a disk.
awk '
function line(what) { printf "%16s [%03d] .....  0.%06d: %s\n", task, cpu, t, what }
{ t = $1; cpu = $2; task = $3 }
$4 == "stack" { line("<stack trace>"); for (i = 5; i <= NF; i++) print " => " $i }
$4 == "switch" { split($5, a, ":"); split($7, b, ":"); line("sched_switch: prev_comm=" a[1] " prev_pid=" a[2] " prev_prio=120 prev_state=" $6 " ==> next_comm=" b[1] " next_pid=" b[2] " next_prio=120") }
$4 == "waking" { split($5, a, ":"); line("sched_waking: comm=" a[1] " pid=" a[2] " prio=120 target_cpu=001") }
$4 ~ /^req/ { line($4 ": id=1") }' >lock.txt <<'EOF'
500 1 hog-30 switch hog:30 R holder:20
600 0 request-10 waking rest:40
1000 0 request-10 req_begin
2500 1 holder-20 switch holder:20 R hog:30
3000 0 request-10 switch request:10 S swapper/0:0
3000 0 request-10 stack __schedule schedule futex_wait_queue futex_wait do_futex __x64_sys_futex do_syscall_64
6000 1 hog-30 switch hog:30 R holder:20
8000 1 holder-20 switch holder:20 D swapper/1:0
8000 1 holder-20 stack __schedule schedule io_schedule folio_wait_bit_common do_syscall_64
9500 1 <idle>-0 waking holder:20
9500 1 <idle>-0 stack try_to_wake_up blk_mq_end_request virtblk_done asm_common_interrupt default_idle
9600 1 <idle>-0 switch swapper/1:0 R holder:20
10600 1 holder-20 waking request:10
10600 1 holder-20 stack try_to_wake_up wake_up_q futex_wake do_futex do_syscall_64
10700 0 <idle>-0 switch swapper/0:0 R request:10
11700 0 request-10 req_end
12000 0 request-10 switch request:10 S swapper/0:0
12000 1 holder-20 switch holder:20 S swapper/1:0
EOF
"$BIN/pdecode" lock.txt >lock.ps
"$BIN/plat" --timeline lock.ps >lock.tl 2>/dev/null
"$BIN/plat" --emit path -s req_begin:id -e req_end:id lock.ps >path.ps 2>/dev/null
run "$BIN/psvg" lock.tl path.ps
is "$status" 0 'a path in a timeline'
cp "$OUT" path.html
"$BIN/plat" --path -s req_begin:id -e req_end:id --nth 1 --tsv lock.ps 2>/dev/null |
	awk -F'\t' '/^path\t/ { print $3 "\t" $4 "\t" $8 }' | sed 's/ behind hog//' >steps
is "$(cut -f 3 steps | awk '{ n += $1 } END { print n }')" 10700000 'it is all of the span'
run "$BIN/psvg" path.ps lock.tl
is "$status" 2 'not before it'
like "$ERR" 'a timeline is one picture: only paths can be added to it, after it' 'which is said'
run "$BIN/psvg" lock.tl sched.ps
is "$status" 2 'a stream without paths'
like "$ERR" 'has no critical paths: plat --emit path writes them' 'is refused'
run "$BIN/psvg" t.tl path.ps
is "$status" 2 'paths of another recording'
like "$ERR" 'its paths are of another time than the timeline' 'are refused'
run "$BIN/psvg" --timeline=svg lock.tl path.ps
is "$status" 0 'and in a static picture'
# Where its steps are: 1040 pixels for all of the time; threads on the path come first, after two CPUs.
awk -F'\t' '$1 == "k" { kind[$2] = $3 } $1 ~ /^[io]$/ { if (!n++ || $5 < first) first = $5; if ($5 + $6 > last) last = $5 + $6 }
	END { print first, last - first }' lock.tl >span
sed -n 's/<path class="p" d="\([^"]*\)".*/\1/p' "$OUT" | sed 's/[MHV]/\n&/g' | awk -v scale="$(awk '{ print 1040 / $2 }' span)" -v first="$(cut -d ' ' -f 1 span)" '
	/^M/ { x = substr($1, 2); y = $2 } /^V/ { y = substr($0, 2) }
	/^H/ { to = substr($0, 2); if (to - x > 0.05) printf "%.0f %.0f %s\n", (x - 150) / scale + first, (to - x) / scale, y; x = to }' |
	awk '{ printf "%d %d %s\n", int($1 / 40000 + 0.5), int($2 / 40000 + 0.5), $3 }' >got
awk -F'\t' 'BEGIN { t = 1000000 } { printf "%d %d %s\n", int(t / 40000 + 0.5), int($3 / 40000 + 0.5), $1; t += $3 }' steps >want
is "$(paste -d ' ' got want | awk '{ d = $1 - $4; e = $2 - $5; if (d * d > 1 || e * e > 1) print } END { print NR }')" "$(grep -c '' want)" 'where its steps are'
is "$(paste -d ' ' got want | awk '{ print $3, $6 }' | sort -u | wc -l)" 2 'each in the lane of its thread'
head -c 1400 path.ps >cut.ps
run "$BIN/psvg" lock.tl cut.ps
ok 'a path that is cut off is partial, or none' test "$status" -ge 1

# Names that want out of the page, or turn the writing round.
bidi=$(printf '\342\200\256evil\342\200\254')
printf '%s\n' '#PPTIMELINE1' 'k	1	oncpu	ns' 'k	0	runq	ns' 'n	1	</script><img src=x onerror=alert(1)>' "n	2	$bidi \"'&<!--" 'n	3	woken' \
	't	1	7	7	1	0' 't	2	8	7	2	0' 'i	1	1	0	1000	1000	0	0' 'i	0	2	1	1500	500	3	1' 'i	1	2	1	2000	700	0	0' \
	'x	1	net:</script>' 'e	1	0	1700	7' 'z	3	0	0' >hostile.tl
"$BIN/psvg" hostile.tl >hostile.html || fail 'hostile names'
# Many events, those of two threads in turn, some of which begin long before they end; and times far apart.
awk 'BEGIN { print "#PPTIMELINE1\nk\t1\toncpu\tns\nk\t3\tblocked\tns\nn\t1\ta\nn\t2\tb\nn\t3\tS\nt\t1\t1\t1\t1\t0\nt\t2\t2\t2\t2\t0"
	t = 1000; for (i = 0; i < 100000; i++) { w = i % 2 + 1; d = i % 97 + 1 + (i % 20000 == 7 ? 3000000000 : 0)
		if (i > 1) printf "i\t3\t%d\t0\t%.0f\t%.0f\t3\t0\n", w, end[w], t - end[w]
		printf "i\t1\t%d\t0\t%.0f\t%.0f\t0\t0\n", w, t, d; t += d; end[w] = t }
	print "z\t199998\t0\t0" }' >many.tl
"$BIN/psvg" many.tl >many.html || fail 'many events'

# Other events, with their fields as pdecode -t prints them.
"$BIN/pdecode" "$ROOT/t/data/trace-zlib.dat" 2>/dev/null | "$BIN/plat" --timeline >other.tl 2>/dev/null
"$BIN/pdecode" -t "$ROOT/t/data/trace-zlib.dat" 2>/dev/null | sed -n 's/.* function: *//p' >want
sed -n 's/^e\t.*\tip=\([^ ]*\) parent_ip=.*/\1/p' other.tl >got
ok 'there are other events' test -s want
same got want 'events have their fields'
awk 'BEGIN { print "#PPTIMELINE1\nk\t1\toncpu\tns\nn\t1\ta\nt\t1\t1\t1\t1\t0\nx\t1\tev"
	for (i = 0; i < 30000; i++) printf "e\t1\t0\t%d\t1\tnumber=%d text=</script>\n", 1000 + i, i; print "e\t1\t0\t99999\t1"
	print "i\t1\t1\t0\t500\t100000\t0\t0\nz\t1\t0\t0" }' >fields.tl
"$BIN/psvg" fields.tl >fields.html || fail 'many of them'
is "$(grep -c 'id="fields[0-9]*"' fields.html)" 4 'are packed in slices'

if ! find_browser || ! have node; then
	skip 1 'there is no chromium, or no node'
	done_testing
	exit
fi

cat >test.js <<'EOT2'
'use strict';
const {Browser, url, is, until} = require(process.argv[2] + '/t/psvg-browser.js');
const fs = require('fs');
const ready = (page) => until(page, '!!document.documentElement.dataset.ready', true);
const lines = (name) => fs.readFileSync(name, 'utf8').split('\n').filter((l) => l).map((l) => l.split('\t'));
const list = lines('list');
const clock = (ns) => Math.floor(ns / 1e9) + '.' + String(ns % 1e9).padStart(9, '0');
const cells = (selector) => `[...document.querySelectorAll('${selector}')].map((r) => [...r.children].map((c) => c.textContent))`;
const short = (r) => [r[1], r[3], r[4]].join('|');
const plats = (l) => [clock(+l[0]), l[1], l[2]].join('|');
const chosen = async (page) => short((await page.eval(cells('#list .chosen')))[0] || []);
const rows = `document.querySelector('#list').getAttribute('aria-rowcount') - 1`;
const lanes = `[...psvgTimeline.lanes.view.pinned, ...psvgTimeline.lanes.view.rest].map((l) => l.label)`;
const press = async (page, ...keys) => {
	for (const k of keys)
		await (Array.isArray(k) ? page.key(...k) : page.key(k));
};
const away = (page) => page.hover(`document.querySelector('#subtitle')`);
// The middle of an interval in its lane: by its time, since the first one, and the lane's label.
const click = async (page, label, t) => {
	const at = await page.eval(`(() => { const T = psvgTimeline, l = [...T.lanes.view.pinned, ...T.lanes.view.rest].find((l) => l.label === ${JSON.stringify(label)});
		const b = document.querySelector('canvas').getBoundingClientRect();
		return {x: b.left + T.draw.xOf(${t} - Number(T.data.about.base)), y: b.top + T.draw.yOf(l) + l.height - 2}; })()`);
	for (const type of ['mouseMoved', 'mousePressed', 'mouseReleased'])
		await page.send('Input.dispatchMouseEvent', {type, ...at, clickCount: 1, button: type === 'mouseMoved' ? 'none' : 'left'});
};

const events = async (page) => {
	is(await page.eval(rows), list.length, 'every event is a row');
	const found = new Map();
	for (let k = 0; k < 100 && found.size < list.length; k++) {
		for (const r of await page.eval(`[...document.querySelectorAll('#rows .row')].map((r) => [r.dataset.event, ...[...r.children].map((c) => c.textContent)])`))
			found.set(r[0], short(r.slice(1)));
		await page.eval(`document.querySelector('#list').dispatchEvent(new WheelEvent('wheel', {deltaY: 90, bubbles: true, cancelable: true}))`);
	}
	is([...found.values()].sort(), list.map(plats).sort(), "what the wheel goes through is plat's list");
	const times = [...found.values()].map((v) => v.split('|')[0]);
	is(times.every((t, k) => !k || times[k - 1] <= t), true, 'in the order of time');
	await page.eval(`document.querySelector('#list').focus()`);
	await press(page, 'End');
	is((await chosen(page)).split('|')[0], clock(+list.at(-1)[0]), 'End is the last one');
	await press(page, 'Home');
	is((await chosen(page)).split('|')[0], clock(+list[0][0]), 'and Home the first');
};
const linked = async (page) => {
	const longest = list.filter((l) => l[2] === 'running').sort((a, b) => b[3] - a[3])[0];
	await click(page, longest[1], +longest[0] + longest[3] / 2);
	is(await chosen(page), plats(longest), 'a click in a lane chooses the row');
	is(/event=\d+/.test(await until(page, `/event=[0-9]+/.test(location.hash)`, true) && await page.eval('location.hash')), true, 'which is in the address');
	is(await page.eval(`psvgTimeline.state.lane === psvgTimeline.lanes.laneOf(psvgTimeline.state.event).key`), true, 'and the lane');
	await page.click(`document.querySelectorAll('#rows .row')[1]`);
	const id = await page.eval(`+document.querySelectorAll('#rows .row.chosen')[0].dataset.event`);
	is(await page.eval('psvgTimeline.state.event'), id, 'a click on a row chooses the event');
	is(await page.eval(`(() => { const T = psvgTimeline, l = T.lanes.laneOf(${id}), t = T.data.timeOf(${id}); return l.shown && T.draw.xOf(t) >= T.draw.at.gutter - 1 && T.draw.xOf(t) <= T.draw.at.width; })()`),
		true, 'and its interval is in view');
	const before = await chosen(page);
	await away(page);
	await page.eval(`document.querySelector('canvas').focus()`);
	await press(page, 'Enter');
	is(await page.eval(`(() => { const T = psvgTimeline; return Math.round(100 * T.data.dur[${id}] / (T.state.to - T.state.from)); })()`), 33, 'Enter zooms to it');
	await press(page, 'Backspace');
	is(await page.eval(`psvgTimeline.state.from === psvgTimeline.data.first && psvgTimeline.state.to === psvgTimeline.data.last`), true, 'Backspace goes back');
	is(await chosen(page), before, 'and the event is still chosen');
	const lane = (await chosen(page)).split('|')[1], mine = list.filter((l) => l[1] === lane);
	await press(page, ']');
	is((await chosen(page)).split('|')[1], lane, 'the next one in the lane is of the same thread');
	await press(page, '[');
	is(await chosen(page), before, 'and the one before that is the first');
	is(mine.length > 1, true, 'there are several');
};
const markers = async (page) => {
	const runs = list.filter((l) => l[2] === 'running').sort((a, b) => b[3] - a[3]);
	await click(page, runs[0][1], +runs[0][0] + runs[0][3] / 2);
	await away(page);
	await press(page, 'a');
	await click(page, runs[1][1], +runs[1][0] + runs[1][3] / 2);
	await away(page);
	await press(page, 'b');
	const ms = Math.abs(runs[1][0] - runs[0][0]) / 1e6;
	is(await page.eval(`Math.abs(parseFloat(document.querySelector('#status').textContent.replace('B - A: ', '')))`), +ms.toPrecision(4), "the markers' distance is that of the events");
	is(await until(page, `document.querySelector('#list .chosen span').textContent`, 'B'), 'B', 'the list has the marker');
	await press(page, 'v');
	is(await page.eval(`psvgTimeline.state.pick[1] - psvgTimeline.state.pick[0]`), Math.abs(runs[1][0] - runs[0][0]), 'v selects from one to the other');
	await press(page, 'Escape');
	is(await page.eval(`[psvgTimeline.state.pick, psvgTimeline.state.a, psvgTimeline.state.event].join()`), ',,-1', 'Escape forgets all');
};
const search = async (page) => {
	const want = list.filter((l) => l[2] === 'runnable' && +l[3] > 20000);
	await press(page, '/');
	await page.type('runnable >20us');
	is(await until(page, `document.querySelector('#matched').textContent`, '0 lanes, ' + want.length + ' events'), '0 lanes, ' + want.length + ' events', 'a search counts what fits');
	await press(page, 'Enter');
	is(await chosen(page), plats(want[0]), 'Enter goes to the first');
	await page.eval(`document.querySelector('canvas').focus()`);
	await press(page, 'n');
	is(await chosen(page), plats(want[1]), 'n to the next');
	await press(page, 'N', 'N');
	is((await chosen(page)).split('|')[0], clock(+want.at(-1)[0]), 'N to the one before, and from the first to the last');
	await press(page, 'x');
	is(await page.eval(rows), want.length, 'x lists only those');
	await press(page, 'x');
	const name = list[0][1].split(' ')[0];
	await page.eval(`(() => { const s = document.querySelector('#search'); s.value = 'by:${name} cpu0'; s.dispatchEvent(new Event('input')); })()`);
	const woken = lines('t.tl').filter((l) => l[0] === 't' && lines('t.tl').some((x) => x[0] === 'n' && x[1] === l[4] && x[2] === name)).map((l) => l[1]);
	const count = lines('t.tl').filter((l) => l[0] === 'i' && woken.includes(l[7]) && l[3] === '0').length;
	is(await until(page, `document.querySelector('#matched').textContent.replace(/.*, /, '')`, count + (count === 1 ? ' event' : ' events')), count + (count === 1 ? ' event' : ' events'), 'who woke it, and the CPU');
	await page.eval(`(() => { const s = document.querySelector('#search'); s.value = ''; s.dispatchEvent(new Event('input')); })()`);
	await until(page, `document.querySelector('#matched').textContent`, '');
};
const arranged = async (page) => {
	const all = await page.eval(lanes), task = all.find((l) => list.some((x) => x[1] === l)), own = list.filter((l) => l[1] === task).length;
	await page.eval(`document.querySelector('canvas').focus(); psvgTimeline.state.lane = psvgTimeline.lanes.view.rest[0].key`);
	await press(page, ['ArrowDown', 1]);
	is((await page.eval(lanes)).indexOf(task), all.indexOf(task) + 1, 'a lane moves down');
	await press(page, ['ArrowUp', 1], 'h');
	is([(await page.eval(lanes)).includes(task), (await page.eval(lanes)).length], [false, all.length - 1], 'h hides it');
	is(await page.eval(rows), list.length - own, 'and its events');
	await press(page, 'H');
	is(await page.eval(lanes), all, 'H shows all');
	await page.eval(`(() => { const s = document.querySelector('#order'); s.value = 'process'; s.dispatchEvent(new Event('change')); })()`);
	const pids = new Set(lines('t.tl').filter((l) => l[0] === 't').map((l) => l[3]));
	is((await page.eval(lanes)).filter((l) => /\): \d+ threads?$/.test(l)).length, pids.size, 'by process: each has a lane');
	await press(page, 'F');
	is((await page.eval(lanes)).filter((l) => list.some((x) => x[1] === l)), [], 'F folds all');
	await page.eval(`psvgTimeline.state.lane = psvgTimeline.lanes.view.rest[0].key`);
	await press(page, 'f');
	is((await page.eval(lanes)).filter((l) => list.some((x) => x[1] === l)).length > 0, true, 'and f unfolds one');
	// All of it in the address.
	await press(page, 'ArrowDown', 'h', 'l', 'a', ['ArrowUp', 1]);
	await page.eval(`(() => { const s = document.querySelector('#search'); s.value = 'running'; s.dispatchEvent(new Event('input')); })()`);
	await until(page, `/search=running/.test(location.hash)`, true);
	const state = `JSON.stringify(psvgTimeline.state, (k, v) => v instanceof Set ? [...v].sort() : v)`;
	const before = await page.eval(state), seen = await page.eval(lanes), hash = await page.eval('location.hash');
	await page.go(url('t.html') + '?2' + hash);
	await ready(page);
	is(await page.eval(state), before, 'the address keeps all of it');
	is(await page.eval(lanes), seen, 'and the lanes are the same');
	await page.go(url('t.html') + '?3#view=9,1&event=99999999&lane=x&order=y&hidden=t9999,*,q&folded=**&moved=a<b,t1<&a=x&path=7&row=-1&only=t1-99999999');
	await ready(page);
	is(await page.eval(`[psvgTimeline.state.event, psvgTimeline.state.order, psvgTimeline.state.path].join()`), '-1,time,0', 'a link to what is not there');
};
const pinned = async (page) => {
	await page.resize(900, 420);
	await until(page, `psvgTimeline.draw.at.height < 250`, true);
	const y = `psvgTimeline.lanes.cpus.map((l) => psvgTimeline.draw.yOf(l)).join()`, before = await page.eval(y);
	await page.eval(`document.querySelector('#view').scrollTop = 60`);
	is(await until(page, 'psvgTimeline.state.y > 0', true), true, 'the lanes scroll');
	is(await page.eval(y), before, 'the CPUs stay in view');
	is(await page.eval(`psvgTimeline.draw.laneAt(psvgTimeline.draw.RULER + 2).type`), 'cpu', 'above the others');
	await page.resize(1200, 800);
};
const path = async (page) => {
	const got = `(() => { const T = psvgTimeline, p = T.lanes.spans.get(1), v = [];
		for (const s of p.steps) v.push([T.data.threadName(T.lanes.laneOfStep[s].who), T.data.texts[T.data.steps.state[s]].replace('[running]', 'running'), String(T.data.steps.dur[s])]);
		return v; })()`;
	is(await page.eval(got), lines('steps'), "the path's steps are plat's");
	const colour = `(() => { const T = psvgTimeline, p = T.lanes.spans.get(1), r = devicePixelRatio, c = document.querySelector('canvas').getContext('2d'), odd = [];
		for (const s of p.steps) { const l = T.lanes.laneOfStep[s], x = T.draw.xOf(T.data.steps.start[s] + T.data.steps.dur[s] / 2), y = T.draw.yOf(l) + l.height / 2;
			const d = c.getImageData(Math.round(x * r), Math.round(y * r), 1, 1).data; if (d[0] < 140 || d[1] > 110 || d[2] < 120) odd.push([...d]); }
		return odd; })()`;
	is(await page.eval(colour), [], 'a line along the lane of each');
	is(await page.eval(`psvgTimeline.lanes.view.rest.map((l) => l.label)`), ['request 10', 'holder 20'], 'its lanes are those on the path');
	await press(page, '.', '.', '.');
	is(await page.eval(`document.querySelector('#step').textContent`), 'Path 1: 10.7 ms, ' + lines('steps').length + ' steps; step 3: holder 20 running 2 ms', 'its steps, one by one');
	await press(page, ',');
	is(/step 2: holder 20 \[runnable\] 3 ms$/.test(await page.eval(`document.querySelector('#step').textContent`)), true, 'and back');
	await press(page, 'p');
	is(await page.eval(`psvgTimeline.state.path + psvgTimeline.state.order`), '0time', 'p hides it');
};
const hostile = async (page) => {
	const names = (await page.eval(cells('#rows .row'))).map((r) => r[3]);
	is(names.sort(), ['</script><img src=x onerror=alert(1)> 7', '</script><img src=x onerror=alert(1)> 7', '\u202eevil\u202c "\'&<!-- 8', '\u202eevil\u202c "\'&<!-- 8'].sort(), 'hostile names are text in the list');
	is(await page.eval(`document.querySelectorAll('main img, main script').length`), 0, 'and no elements');
	is(await page.eval(`getComputedStyle(document.querySelector('#rows .row span')).unicodeBidi`), 'isolate', 'which do not turn round what is beside them');
	await press(page, '?');
	is(await page.eval(`document.querySelector('#keys').open`), true, '? shows the keys');
	await press(page, 'Escape');
	const {nodes} = await page.send('Accessibility.getFullAXTree');
	const nameless = nodes.filter((x) => x.role && ['button', 'combobox', 'searchbox', 'grid', 'application'].includes(x.role.value) && !x.ignored && !(x.name && x.name.value));
	is(nameless.length, 0, 'every control has a name');
};
const many = async (page) => {
	is(await page.eval(rows), 199998, 'many events: every one is a row');
	is(await page.eval(`document.querySelectorAll('#rows .row').length < 100`), true, 'of which only those that are seen are elements');
	is(await page.eval(`(() => { const v = psvgTimeline.data.sorted(), seen = new Uint8Array(v.length); let odd = 0;
		v.forEach((id, k) => { odd += seen[id]++ || k && psvgTimeline.data.timeOf(v[k - 1]) > psvgTimeline.data.timeOf(id) ? 1 : 0; }); return odd; })()`), 0, 'in the order of time');
	await page.eval(`document.querySelector('#list').focus()`);
	await press(page, 'End');
	const last = (await chosen(page)).split('|')[0];
	const most = lines('many.tl').filter((l) => l[0] === 'i').reduce((m, l) => Math.max(m, +l[4]), 0);
	is(last, clock(most), 'the last one is the last of the file');
	// What a pixel shows of a thread is its share, however it is summed up.
	const busy = `(() => { const T = psvgTimeline, l = T.lanes.tasks[0]; let n = 0; for (const i of l.all) if (T.data.kind[i] === T.data.RUN) n += T.data.dur[i]; return n; })()`;
	const sum = lines('many.tl').filter((l) => l[0] === 'i' && l[1] === '1' && l[2] === '2').reduce((s, l) => s + +l[5], 0);
	is([await page.eval(busy)].includes(sum) || (await page.eval(`psvgTimeline.lanes.tasks.map((l) => psvgTimeline.lanes.run[l.who])`)).includes(sum), true, 'sums are those of the text');
};
const fields = async (page) => {
	is(await page.eval(rows), 30002, 'other events are rows, too');
	for (const number of [29999, 3, 16384]) {
		await page.eval(`psvgTimeline.choose(psvgTimeline.data.n + ${number})`);
		const text = `document.querySelector('#list .chosen').lastChild.textContent`;
		is(await until(page, text, 'number=' + number + ' text=</script>'), 'number=' + number + ' text=</script>', 'with their fields: ' + number);
	}
	await page.eval(`psvgTimeline.choose(psvgTimeline.data.n + 30000)`);
	is((await page.eval(cells('#list .chosen')))[0].slice(3), ['a 1', 'ev', '', ''], 'or without');
	await page.eval(`document.querySelector('#list').focus()`);
	for (let k = 0; k < 3; k++)
		await press(page, 'PageUp');
	is(/^number=/.test(await until(page, `document.querySelector('#list .chosen').lastChild.textContent.slice(0, 7)`, 'number=')), true, 'page by page');
};
(async () => {
	for (const [name, tests] of [['t.html', [events, linked, markers, search, pinned, arranged]], ['path.html', [path]], ['hostile.html', [hostile]], ['many.html', [many]], ['fields.html', [fields]]]) {
		const page = await Browser.open(url(name));
		await ready(page);
		for (const test of tests)
			await test(page);
		is(page.errors, [], name + ': no errors');
		await page.close();
	}
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
