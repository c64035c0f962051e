// The script inside psvg's timelines: lanes on a canvas, zoom, selection, sums, markers, search.
// The build drops indentation, empty lines and lines that are only a comment.
(() => {
'use strict';
const {byId, column, numbers, signed} = psvgData;
const about = JSON.parse(byId('about').textContent);
const {kinds, texts, threads} = about;
const base = BigInt(about.base), first = about.first, last = Math.max(about.last, about.first + 1);
const n = about.n;

// ---- the data ----

const RUN = kinds.indexOf('oncpu'), WAIT = kinds.indexOf('runq'), BLOCK = kinds.indexOf('blocked');
const ofThread = kinds.map((k) => ['oncpu', 'runq', 'blocked', 'offcpu'].includes(k));
const who = new Uint32Array(n), kind = new Uint8Array(n), open = new Uint8Array(n);
const cpu = new Int32Array(n), start = new Float64Array(n), dur = new Float64Array(n);
const name = new Uint32Array(n), waker = new Uint32Array(n);
const marks = {event: [], cpu: [], time: [], tid: []};

const decode = async () => {
	const [a, b, c, d, e, f, g] = (await Promise.all(
		['who', 'kind', 'gap', 'dur', 'name', 'waker', 'marks'].map(column))).map(numbers);
	const ends = new Float64Array(threads.length), cpuEnds = new Map();
	for (let i = 0; i < n; i++) {
		const w = who[i] = a(), k = b(), gap = signed(c());
		open[i] = k & 1;
		const kk = kind[i] = (k >>> 1) % 32;
		cpu[i] = Math.floor(k / 64) - 1;
		dur[i] = d();
		name[i] = e();
		if (kk === WAIT)
			waker[i] = f();
		if (ofThread[kk]) {
			start[i] = ends[w] + gap;
			ends[w] = start[i] + dur[i];
		} else {
			const lane = cpu[i] * 32 + kk;
			start[i] = (cpuEnds.get(lane) || 0) + gap;
			cpuEnds.set(lane, start[i] + dur[i]);
		}
	}
	for (let i = 0, t = 0; i < about.marks; i++) {
		marks.event.push(g());
		marks.cpu.push(g() - 1);
		marks.time.push(t += signed(g()));
		marks.tid.push(g());
	}
};

// ---- lanes ----

const threadName = (w) => w ? texts[threads[w][2]] || '(no name)' : '';
const threadLabel = (w) => w ? threadName(w) + ' ' + threads[w][0] : '(nothing)';
let lanes = [], threadLanes = [], laneOf = new Map(), others = [];
const TASKS = 100;
let expanded = false;

// Intervals by lane, of which `lane` has the number (-1: none), in the order of their ends.
const gather = (lane, count) => {
	const at = new Uint32Array(count + 1);
	for (let i = 0; i < n; i++)
		if (lane[i] >= 0)
			at[lane[i] + 1]++;
	for (let k = 0; k < count; k++)
		at[k + 1] += at[k];
	const all = new Uint32Array(at[count]), next = at.slice();
	for (let i = 0; i < n; i++)
		if (lane[i] >= 0)
			all[next[lane[i]]++] = i;
	return (k) => all.subarray(at[k], at[k + 1]);
};
const makeLanes = () => {
	// A lane for each CPU of each recording, and for each kind of interrupt on it.
	let most = 0, buffers = 1;
	for (let i = 0; i < n; i++)
		if (cpu[i] > most)
			most = cpu[i];
	for (const t of threads)
		buffers = Math.max(buffers, t[3] + 1);
	const table = new Int32Array(buffers * (most + 1) * 33).fill(-1), keys = [], numberOf = new Int32Array(n);
	for (let i = 0; i < n; i++) {
		const k = kind[i];
		numberOf[i] = -1;
		if (cpu[i] < 0 || k !== RUN && ofThread[k])
			continue;
		const at = ((k === RUN ? threads[who[i]][3] * (most + 1) : 0) + cpu[i]) * 33 + (k === RUN ? 0 : k + 1);
		if (table[at] < 0)
			table[at] = keys.push(at) - 1;
		numberOf[i] = table[at];
	}
	const ofCpu = gather(numberOf, keys.length);
	const cpuLanes = keys.map((k, c) => [k, c]).sort((a, b) => a[0] - b[0]).map(([k, c]) => {
		const what = k % 33, number = (k - what) / 33, domain = Math.floor(number / (most + 1));
		return {type: what ? 'irq' : 'cpu', cpu: number % (most + 1), all: ofCpu(c), height: what ? 12 : 22,
			label: 'CPU ' + number % (most + 1) + (domain ? ' (' + (domain + 1) + ')' : '') +
				(what ? ' ' + kinds[what - 1] : '')};
	});
	const run = new Float64Array(threads.length);
	for (let i = 0; i < n; i++) {
		numberOf[i] = ofThread[kind[i]] ? who[i] : -1;
		if (kind[i] === RUN)
			run[who[i]] += dur[i];
	}
	const ofTask = gather(numberOf, threads.length);
	threadLanes = threads.map((t, w) => ({type: 'task', who: w, all: ofTask(w), height: 16,
		label: threadLabel(w), run: run[w]})).filter((l) => l.all.length).sort((a, b) => b.run - a.run);
	lanes = cpuLanes;
};
// The lanes that are shown, and where.
let shown = [], total = 0;
const place = () => {
	const some = expanded ? threadLanes : threadLanes.slice(0, TASKS);
	others = threadLanes.slice(some.length);
	shown = [...lanes, ...some];
	if (others.length)
		shown.push({type: 'more', label: '(' + others.length + ' others)', all: new Uint32Array(0), height: 18});
	laneOf = new Map();
	total = 0;
	for (const l of shown) {
		l.y = total;
		total += l.height + 3;
		if (l.type === 'task')
			laneOf.set(l.who, l);
	}
};

// ---- words ----

const amount = (ns) => {
	const a = Math.abs(ns), unit = about.unit || 'ns';
	if (unit !== 'ns')
		return ns.toLocaleString('en') + ' ' + unit;
	for (const [name, size] of [['s', 1e9], ['ms', 1e6], ['us', 1e3]])
		if (a >= size)
			return +(ns / size).toPrecision(4) + ' ' + name;
	return Math.round(ns) + ' ns';
};
const absolute = (t) => base + BigInt(Math.round(t));
const clock = (t) => {
	const ns = absolute(t), s = ns / 1000000000n;
	return s + '.' + String(ns % 1000000000n).padStart(9, '0');
};
const expression = (from, to) => 'time >= ' + absolute(from) + ' && time < ' + absolute(to);
const states = {R: 'runnable', S: 'sleeping', D: 'blocked, uninterruptible', T: 'stopped', I: 'idle', Z: 'ended', X: 'ended'};

// ---- the page ----

const make = (tag, attrs, text) => {
	const e = document.createElement(tag);
	for (const key in attrs)
		e.setAttribute(key, attrs[key]);
	if (text)
		e.textContent = text;
	return e;
};
const main = document.querySelector('main');
const bar = make('div', {id: 'bar'}), view = make('div', {id: 'view'}), tall = make('div', {});
const canvas = make('canvas', {tabindex: '0', role: 'application',
	'aria-label': 'Timeline: arrow keys move, plus and minus zoom, Home shows all'});
const input = make('input', {id: 'search', type: 'search', placeholder: 'Search threads, names',
	'aria-label': 'Search threads and names', spellcheck: 'false'});
const matched = make('span', {id: 'matched', 'aria-live': 'polite'});
const back = make('button', {id: 'back', title: 'Backspace'}, 'Back');
const whole = make('button', {id: 'whole', title: 'Home'}, 'All');
const into = make('button', {id: 'into', title: 'Enter'}, 'Zoom to selection');
const status = make('span', {id: 'status', 'aria-live': 'polite'});
const legend = make('span', {id: 'legend'});
for (const [c, text] of [['run', 'running'], ['wait', 'runnable'], ['block', 'blocked (D)'], ['sleep', 'sleeping'],
	['lost', 'lost, unfinished']])
	legend.append(make('span', {class: c}, text));
const note = make('p', {id: 'note'});
const panel = make('div', {id: 'panel'});
const tip = make('div', {id: 'tip', role: 'tooltip', hidden: ''});
bar.append(input, matched, back, whole, into, status, legend);
tall.append(canvas);
view.append(tall);
main.append(bar, note, view, panel);
document.body.append(tip);

const state = {from: first, to: last, pick: null, a: null, b: null, query: ''};
const history_ = [];
let hits = new Set(), hitLanes = [], hitAt = -1, mouse = null, width = 0, height = 0, gutter = 170;
const RULER = 24;
const context = canvas.getContext('2d');
let colour = {};
const colours = () => {
	const style = getComputedStyle(document.documentElement);
	for (const c of ['back', 'text', 'faint', 'line', 'lane', 'run', 'wait', 'block', 'sleep', 'pick', 'hit'])
		colour[c] = style.getPropertyValue('--' + c).trim();
	colour.dark = matchMedia('(prefers-color-scheme: dark)').matches;
	threadColours.clear();
};
const threadColours = new Map();
const threadColour = (w) => {
	let c = threadColours.get(w);
	if (!c) {
		let h = 2166136261;
		for (const ch of threadName(w))
			h = Math.imul(h ^ ch.codePointAt(0), 16777619);
		h = (h ^ h >>> 15) >>> 0;
		c = 'hsl(' + h % 360 + ' ' + (45 + (h >>> 9) % 30) + '% ' + (colour.dark ? 52 : 66) + '%)';
		threadColours.set(w, c);
	}
	return c;
};
// 0 runs, 1 waits, 2 is blocked, 3 sleeps
const classOf = (i) => kind[i] === RUN ? 0 : kind[i] === WAIT ? 1 : texts[name[i]][0] === 'D' ? 2 : 3;
const classColour = (c) => [colour.run, colour.wait, colour.block, colour.sleep][c];

const perPixel = () => (state.to - state.from) / Math.max(width - gutter, 1);
const xOf = (t) => gutter + (t - state.from) / perPixel();
const timeAt = (x) => state.from + (x - gutter) * perPixel();
// The first interval of a lane that ends after t.
const after = (all, t) => {
	let lo = 0, hi = all.length;
	while (lo < hi) {
		const mid = (lo + hi) >> 1;
		if (start[all[mid]] + dur[all[mid]] > t)
			hi = mid;
		else
			lo = mid + 1;
	}
	return lo;
};

const fit = psvgFitting(context);

let hatch = null;
const makeHatch = () => {
	const c = document.createElement('canvas'), p = c.getContext('2d');
	c.width = c.height = 6;
	p.strokeStyle = colour.block;
	p.lineWidth = 1.5;
	p.beginPath();
	p.moveTo(-1, 7);
	p.lineTo(7, -1);
	p.stroke();
	hatch = context.createPattern(c, 'repeat');
};

// Wide intervals are drawn one by one. Of narrow ones each pixel shows the share of its time that
// they take.
let share = [], owner = null, longest = null;
const drawLane = (l, y) => {
	const {all, height: h, type} = l, w = width - gutter, scale = 1 / perPixel();
	if (share.length !== 4 || share[0].length !== w + 2) {
		share = [0, 1, 2, 3].map(() => new Float32Array(w + 2));
		owner = new Uint32Array(w + 2);
		longest = new Float32Array(w + 2);
	}
	let any = false;
	const end = all.length;
	for (let k = after(all, state.from); k < end; k++) {
		const i = all[k], s = start[i];
		if (s >= state.to)
			break;
		const c = type === 'task' ? classOf(i) : 0;
		const x0 = Math.max((s - state.from) * scale, 0), x1 = Math.min((s + dur[i] - state.from) * scale, w);
		if (x1 - x0 >= 2) {
			drawOne(l, i, c, x0, x1, y);
			continue;
		}
		any = true;
		for (let p = x0 | 0; p <= x1 && p < w; p++) {
			const part = Math.min(x1, p + 1) - Math.max(x0, p);
			share[c][p] += part;
			if (part > longest[p]) {
				longest[p] = part;
				owner[p] = who[i];
			}
		}
	}
	if (any)
		drawShares(l, y, w, h);
};
const drawOne = (l, i, c, x0, x1, y) => {
	const h = l.type === 'task' && c === 3 ? l.height * 0.35 : l.height, top = y + l.height - h;
	context.fillStyle = open[i] ? hatch : l.type === 'task' ? classColour(c) :
		l.type === 'irq' ? colour.block : threadColour(who[i]);
	context.fillRect(gutter + x0, top, x1 - x0, h);
	if (x1 - x0 < 30 || l.type === 'task' && c === 3)
		return;
	const text = l.type === 'cpu' ? threadLabel(who[i]) : l.type === 'irq' ? texts[name[i]] :
		c === 0 ? 'CPU ' + cpu[i] : c === 1 ? amount(dur[i]) : texts[name[i]];
	context.fillStyle = open[i] ? colour.text : colour.dark || l.type === 'cpu' || c === 1 && l.type === 'task' ? '#000' : '#fff';
	context.fillText(fit(text, x1 - x0 - 6), gutter + x0 + 3, top + h / 2 + 1);
};
// Neighbours that look the same are one rectangle.
const drawShares = (l, y, w, h) => {
	const order = l.type === 'task' ? [0, 1, 2, 3] : [0];
	const below = new Uint8Array(w);
	for (const c of order) {
		const s = share[c];
		for (let p = 0; p < w;) {
			let q = p + 1;
			const high = Math.min(s[p] ? Math.max(Math.round(s[p] * h), 1) : 0, h - below[p]);
			const fill = l.type === 'task' ? c : l.type === 'irq' ? -1 : owner[p];
			while (q < w && below[q] === below[p] && (l.type !== 'cpu' || owner[q] === owner[p]) &&
				Math.min(s[q] ? Math.max(Math.round(s[q] * h), 1) : 0, h - below[q]) === high)
				q++;
			if (high) {
				context.fillStyle = l.type === 'task' ? classColour(c) : fill < 0 ? colour.block : threadColour(fill);
				context.fillRect(gutter + p, y + h - below[p] - high, q - p, high);
			}
			const floor = below[p] + high;
			for (; p < q; p++)
				below[p] = floor;
		}
		s.fill(0);
	}
	longest.fill(0);
	owner.fill(0);
};
const drawLosses = (l, y) => {
	for (const [c, time] of about.losses) {
		if (c >= 0 && c !== l.cpu)
			continue;
		const t = Number(BigInt(time) - base), k = after(l.all, t);
		const i = l.all[k], before = l.all[k - 1];
		const from = before === undefined ? first : start[before] + dur[before];
		const to = i === undefined ? last : Math.max(start[i], t);
		const x0 = Math.max(xOf(Math.min(from, t)), gutter), x1 = Math.min(Math.max(xOf(to), x0 + 3), width);
		context.fillStyle = hatch;
		if (x1 > x0)
			context.fillRect(x0, y, x1 - x0, l.height);
	}
};
const drawMarks = (y0) => {
	const cpus = new Map(shown.filter((l) => l.type === 'cpu').map((l) => [l.cpu, l])), last = new Map();
	context.fillStyle = colour.text;
	for (let k = 0; k < marks.time.length; k++) {
		const t = marks.time[k], l = cpus.get(marks.cpu[k]);
		if (t < state.from || t > state.to || !l)
			continue;
		// One tick in a pixel, however many events it has.
		const x = Math.floor(xOf(t));
		if (last.get(l) === x)
			continue;
		last.set(l, x);
		context.fillRect(x, l.y + y0, 1, 5);
	}
};
const ARROWS = 200;
const drawArrows = (y0) => {
	const arrows = [];
	for (const l of shown) {
		if (l.type !== 'task' || l.y + y0 < 0 || l.y + y0 > height)
			continue;
		for (let k = after(l.all, state.from); k < l.all.length; k++) {
			const i = l.all[k];
			if (start[i] >= state.to)
				break;
			if (!waker[i] || start[i] < state.from)
				continue;
			if (arrows.push([i, l]) > ARROWS)
				return;
		}
	}
	context.strokeStyle = context.fillStyle = colour.text;
	for (const [i, l] of arrows) {
		const from = laneOf.get(waker[i]);
		if (!from || from === l)
			continue;
		const x = xOf(start[i]), y1 = from.y + y0 + from.height / 2, y2 = l.y + y0 + (from.y < l.y ? 0 : l.height);
		const up = y2 < y1 ? 4 : -4;
		context.globalAlpha = .6;
		context.beginPath();
		context.moveTo(x, y1);
		context.lineTo(x, y2);
		context.stroke();
		context.beginPath();
		context.moveTo(x, y2);
		context.lineTo(x - 3, y2 + up);
		context.lineTo(x + 3, y2 + up);
		context.fill();
		context.globalAlpha = 1;
	}
};
const drawRuler = () => {
	const span = state.to - state.from, room = width - gutter;
	let step = Math.pow(10, Math.floor(Math.log10(span / Math.max(room / 110, 1))));
	for (const m of [1, 2, 5, 10])
		if (span / (step * m) <= Math.max(room / 110, 1)) {
			step *= m;
			break;
		}
	context.fillStyle = colour.back;
	context.fillRect(0, 0, width, RULER);
	context.fillStyle = colour.faint;
	for (let t = Math.ceil((state.from - first) / step) * step + first; t <= state.to; t += step) {
		const x = xOf(t);
		context.fillRect(x, RULER - 6, 1, 6);
		const text = amount(t - first), w = context.measureText(text).width;
		if (x + 3 + w < width)
			context.fillText(text, x + 3, 10);
	}
};
const drawSpan = (from, to, fill, y0, y1) => {
	const x0 = Math.max(xOf(from), gutter), x1 = Math.min(xOf(to), width);
	context.fillStyle = fill;
	if (x1 >= x0)
		context.fillRect(x0, y0, Math.max(x1 - x0, 1), y1 - y0);
};
const draw = () => {
	tip.hidden = true; // it was about what lay under the mouse before
	const y0 = RULER - view.scrollTop;
	context.fillStyle = colour.back;
	context.fillRect(0, 0, width, height);
	context.textBaseline = 'middle';
	context.font = '11px Verdana, DejaVu Sans, sans-serif';
	for (const l of shown) {
		const y = l.y + y0;
		if (y + l.height < 0 || y > height)
			continue;
		context.fillStyle = hitLanes.includes(l) ? colour.hit : colour.lane;
		context.fillRect(0, y, width, l.height);
		drawLane(l, y);
		if (l.type === 'cpu' && about.losses.length)
			drawLosses(l, y);
		context.fillStyle = colour.text;
		context.fillText(fit(l.label, gutter - 10), 6, y + l.height / 2 + 1);
	}
	drawMarks(y0);
	drawArrows(y0);
	drawRuler();
	if (state.pick)
		drawSpan(state.pick[0], state.pick[1], colour.pick, 0, height);
	for (const m of ['a', 'b'])
		if (state[m] !== null) {
			drawSpan(state[m], state[m], colour.text, 0, height);
			if (state[m] >= state.from && state[m] <= state.to)
				context.fillText(m.toUpperCase(), xOf(state[m]) + 3, RULER - 6);
		}
};

// ---- sums ----

const percentile = (sorted, p) => sorted.length ? sorted[Math.ceil(sorted.length * p) - 1] : NaN;
// What each thread did between two times. Unfinished intervals do not count, as in plat's tables.
const sums = (from, to) => threadLanes.map((l) => {
	const sum = [0, 0, 0, 0], waits = [];
	let runs = 0;
	for (let k = after(l.all, from); k < l.all.length; k++) {
		const i = l.all[k], s = start[i];
		if (s >= to)
			break;
		if (open[i])
			continue;
		const c = classOf(i);
		sum[c] += Math.min(s + dur[i], to) - Math.max(s, from);
		runs += c === 0;
		if (c === 1 && s >= from)
			waits.push(dur[i]);
	}
	return {who: l.who, sum, runs, waits};
}).filter((r) => r.runs || r.sum.some((s) => s));
const ROWS = 20;
const cell = (row, text, attrs) => row.append(make('td', attrs || {}, text));
const addRow = (table, label, sum, runs, waits, attrs) => {
	const row = make('tr', attrs || {}), sorted = Float64Array.from(waits).sort();
	cell(row, label);
	for (const s of sum)
		cell(row, amount(s), {'data-ns': s});
	cell(row, runs.toLocaleString('en'), {'data-n': runs});
	cell(row, sorted.length ? amount(percentile(sorted, .5)) : '-');
	cell(row, sorted.length ? amount(percentile(sorted, .99)) : '-');
	cell(row, sorted.length ? amount(sorted[sorted.length - 1]) : '-');
	table.append(row);
};
const showSums = () => {
	const [from, to] = state.pick || [state.from, state.to];
	const rows = sums(from, to).sort((a, b) => b.sum[0] - a.sum[0]), table = make('table', {id: 'sums'});
	const head = make('tr', {}), text = make('p', {}), copy = make('button', {id: 'copy'}, 'Copy as pfilter expression');
	for (const t of ['thread', 'running', 'runnable', 'blocked', 'sleeping', 'runs', 'run queue p50', 'p99', 'longest'])
		head.append(make('th', {}, t));
	table.append(head);
	const all = [0, 0, 0, 0];
	let runs = 0;
	const waits = [];
	for (const r of rows) {
		r.sum.forEach((s, c) => all[c] += s);
		runs += r.runs;
		for (const w of r.waits)
			waits.push(w);
	}
	addRow(table, 'all ' + rows.length + ' threads', all, runs, waits, {class: 'all', id: 'all'});
	for (const r of rows.slice(0, ROWS))
		addRow(table, threadLabel(r.who), r.sum, r.runs, r.waits, {'data-tid': threads[r.who][0], 'data-comm': threadName(r.who)});
	text.append((state.pick ? 'Selected: ' : 'In view: ') + amount(to - from) + ' from ' + clock(from) + ' to ' +
		clock(to) + '. Unfinished intervals are not in the sums. ', copy, ' ', make('code', {id: 'expression'}, expression(from, to)));
	copy.addEventListener('click', () => {
		const said = () => {
			copy.textContent = 'Copied';
		};
		if (navigator.clipboard)
			navigator.clipboard.writeText(expression(from, to)).then(said, () => getSelection().selectAllChildren(byId('expression')));
		else
			getSelection().selectAllChildren(byId('expression'));
	});
	panel.replaceChildren(text, table);
	if (rows.length > ROWS)
		panel.append(make('p', {}, '(' + (rows.length - ROWS) + ' more threads)'));
};

// ---- state ----

let later = 0, frame = 0;
const redraw = () => {
	if (!frame)
		frame = requestAnimationFrame(() => {
			frame = 0;
			draw();
		});
};
const update = (quick) => {
	back.disabled = !history_.length;
	whole.disabled = state.from === first && state.to === last;
	into.disabled = !state.pick;
	const marked = state.a !== null && state.b !== null;
	status.textContent = marked ? 'B - A: ' + amount(state.b - state.a) : '';
	redraw();
	clearTimeout(later);
	later = setTimeout(() => {
		showSums();
		remember();
	}, quick ? 150 : 20);
};
const toHash = () => {
	const parts = [];
	if (state.from !== first || state.to !== last)
		parts.push('view=' + Math.round(state.from) + ',' + Math.round(state.to));
	if (state.pick)
		parts.push('pick=' + Math.round(state.pick[0]) + ',' + Math.round(state.pick[1]));
	for (const m of ['a', 'b'])
		if (state[m] !== null)
			parts.push(m + '=' + Math.round(state[m]));
	if (state.query)
		parts.push('search=' + encodeURIComponent(state.query));
	if (expanded)
		parts.push('all=1');
	return parts.join('&');
};
const remember = () => {
	try {
		history.replaceState(null, '', location.href.split('#')[0] + '#' + toHash());
	} catch (e) {
		// A sandboxed frame: there is no link to keep.
	}
};
const pair = (text) => {
	const v = (text || '').split(',').map(Number);
	return v.length === 2 && v.every(Number.isFinite) && v[0] < v[1] ? v : null;
};
const fromHash = () => {
	const q = new URLSearchParams(location.hash.slice(1).replace(/\+/g, '%2B')), v = pair(q.get('view'));
	[state.from, state.to] = v ? v : [first, last];
	state.pick = pair(q.get('pick'));
	for (const m of ['a', 'b'])
		state[m] = q.has(m) && Number.isFinite(+q.get(m)) ? +q.get(m) : null;
	state.query = input.value = q.get('search') || '';
	expanded = q.get('all') === '1';
};
const setView = (from, to, quick) => {
	const least = 100;
	if (to - from < least) {
		const mid = (from + to) / 2;
		from = mid - least / 2;
		to = mid + least / 2;
	}
	const span = Math.min(to - from, last - first);
	from = Math.min(Math.max(from, first), last - span);
	if (!quick)
		history_.push([state.from, state.to]);
	state.from = from;
	state.to = from + span;
	update(quick);
};
const zoom = (factor, at) => {
	setView(at - (at - state.from) * factor, at + (state.to - at) * factor, true);
};
const search = () => {
	const q = state.query.toLowerCase();
	hitLanes = q ? [...lanes, ...threadLanes].filter((l) => l.label.toLowerCase().includes(q)) : [];
	const events = q ? about.events.filter((e) => e.toLowerCase().includes(q)).length : 0;
	hitAt = -1;
	matched.textContent = !q ? '' : hitLanes.length + (hitLanes.length === 1 ? ' lane' : ' lanes') +
		(events ? ', ' + events + ' events' : '');
};
const nextHit = () => {
	if (!hitLanes.length)
		return;
	hitAt = (hitAt + 1) % hitLanes.length;
	const l = hitLanes[hitAt];
	if (!shown.includes(l)) {
		expanded = true;
		resize();
	}
	view.scrollTop = Math.max(l.y - 40, 0);
	redraw();
};

// ---- mouse and keys ----

const under = (x, y) => {
	const at = y - RULER + view.scrollTop;
	return y < RULER ? undefined : shown.find((l) => at >= l.y && at < l.y + l.height + 3);
};
const describe = (l, t) => {
	const half = perPixel() / 2, k = after(l.all, t - half), i = l.all[k];
	if (i === undefined || start[i] > t + half)
		return l.type === 'task' ? 'nothing known' : 'idle, or nothing known';
	let count = 0, busy = 0;
	for (let j = k; j < l.all.length && start[l.all[j]] < t + half; j++, count++)
		if (l.type !== 'task' || kind[l.all[j]] === RUN)
			busy += Math.min(start[l.all[j]] + dur[l.all[j]], t + half) - Math.max(start[l.all[j]], t - half);
	if (count > 2)
		return count + ' intervals in this pixel; busy ' + (100 * busy / (2 * half)).toFixed(1) + ' %';
	const text = texts[name[i]], lines = [];
	if (l.type === 'irq')
		lines.push(kinds[kind[i]] + ' ' + text + ': ' + amount(dur[i]));
	else
		lines.push((l.type === 'cpu' ? threadLabel(who[i]) + ': ' : '') + ['running', 'runnable', 'blocked', 'sleeping'][classOf(i)] +
			' ' + amount(dur[i]) + (kind[i] === RUN ? ' on CPU ' + cpu[i] : ''));
	if (kind[i] === BLOCK)
		lines.push('state ' + text + (states[text[0]] ? ' (' + states[text[0]] + ')' : ''));
	if (kind[i] === WAIT) {
		lines.push('latency ' + amount(dur[i]) + ', ' + text);
		if (waker[i])
			lines.push('woken by ' + threadLabel(waker[i]));
	}
	if (open[i])
		lines.push('unfinished: the recording ended before it did');
	lines.push(clock(start[i]));
	return lines.join('\n');
};
const showTip = (x, y, e) => {
	const l = under(x, y);
	tip.hidden = !l || l.type === 'more';
	if (tip.hidden)
		return;
	const near = x >= gutter && marks.time.findIndex((t, m) => Math.abs(xOf(t) - x) < 2 && l.type === 'cpu' && marks.cpu[m] === l.cpu);
	tip.textContent = l.label + '\n' + (x < gutter ? '' : describe(l, timeAt(x))) +
		(near >= 0 && near !== false ? '\nmark: ' + about.events[marks.event[near] - 1] : '');
	tip.style.left = Math.min(e.clientX + 14, innerWidth - tip.offsetWidth - 4) + 'px';
	tip.style.top = Math.min(e.clientY + 14, innerHeight - tip.offsetHeight - 4) + 'px';
};
let drag = null;
canvas.addEventListener('wheel', (e) => {
	if (e.offsetX < gutter && !e.shiftKey)
		return;
	e.preventDefault();
	if (e.shiftKey || Math.abs(e.deltaX) > Math.abs(e.deltaY)) {
		const d = (e.deltaX || e.deltaY) * perPixel();
		setView(state.from + d, state.to + d, true);
	} else {
		zoom(Math.pow(1.002, e.deltaY), timeAt(e.offsetX));
	}
}, {passive: false});
canvas.addEventListener('mousedown', (e) => {
	const l = under(e.offsetX, e.offsetY);
	if (l && l.type === 'more') {
		expanded = true;
		resize();
		update();
		return;
	}
	if (e.offsetX >= gutter)
		drag = {x: e.offsetX, moved: false};
});
addEventListener('mousemove', (e) => {
	const box = canvas.getBoundingClientRect(), x = e.clientX - box.left, y = e.clientY - box.top;
	const inside = x >= 0 && y >= 0 && x < width && y < height;
	mouse = inside ? timeAt(Math.max(x, gutter)) : null;
	if (drag) {
		drag.moved = drag.moved || Math.abs(x - drag.x) > 3;
		if (drag.moved) {
			const ends = [drag.x, Math.min(Math.max(x, gutter), width)].map(timeAt).sort((p, q) => p - q);
			state.pick = ends[0] < ends[1] ? ends : null;
			tip.hidden = true;
			update(true);
		}
	} else if (inside) {
		showTip(x, y, e);
	} else {
		tip.hidden = true;
	}
});
addEventListener('mouseup', () => {
	if (drag && !drag.moved && state.pick) {
		state.pick = null;
		update();
	} else if (drag && drag.moved) {
		update();
	}
	drag = null;
});
canvas.addEventListener('dblclick', (e) => zoom(0.25, timeAt(e.offsetX)));
const actions = {
	ArrowLeft: () => setView(state.from - (state.to - state.from) / 5, state.to - (state.to - state.from) / 5, true),
	ArrowRight: () => setView(state.from + (state.to - state.from) / 5, state.to + (state.to - state.from) / 5, true),
	'+': () => zoom(0.5, mouse === null ? (state.from + state.to) / 2 : mouse),
	'-': () => zoom(2, mouse === null ? (state.from + state.to) / 2 : mouse),
	Home: () => setView(first, last),
	Backspace: () => {
		const v = history_.pop();
		if (v) {
			[state.from, state.to] = v;
			update();
		}
	},
	Enter: () => state.pick && setView(state.pick[0], state.pick[1]),
	Escape: () => {
		state.pick = state.a = state.b = null;
		update();
	},
	n: nextHit,
};
actions['='] = actions.w = actions['+'];
actions.s = actions['-'];
actions.q = actions.ArrowLeft;
actions.d = actions.ArrowRight;
for (const m of ['a', 'b'])
	actions[m] = () => {
		state[m] = mouse === null ? (state.from + state.to) / 2 : mouse;
		update();
	};
addEventListener('keydown', (e) => {
	if (document.activeElement === input) {
		if (e.key === 'Enter')
			nextHit();
		return;
	}
	if (e.key === '/' || e.key === 'F3' || (e.ctrlKey && e.key === 'f')) {
		e.preventDefault();
		input.focus();
	} else if (actions[e.key] && !e.ctrlKey && !e.metaKey && !e.altKey && document.activeElement.localName !== 'button') {
		e.preventDefault();
		actions[e.key]();
	}
});
back.addEventListener('click', actions.Backspace);
whole.addEventListener('click', actions.Home);
into.addEventListener('click', actions.Enter);
input.addEventListener('input', () => {
	state.query = input.value;
	search();
	update(true);
});
view.addEventListener('scroll', redraw);

const resize = () => {
	place();
	const ratio = devicePixelRatio || 1;
	width = Math.max(view.clientWidth, 200);
	height = Math.max(view.clientHeight, 100);
	gutter = width < 700 ? 110 : 170;
	canvas.width = width * ratio;
	canvas.height = height * ratio;
	canvas.style.width = width + 'px';
	canvas.style.height = height + 'px';
	tall.style.height = Math.max(total + RULER + 4, height) + 'px';
	context.setTransform(ratio, 0, 0, ratio, 0, 0);
	makeHatch();
	draw();
};
const begin = async () => {
	await decode();
	colours();
	makeLanes();
	fromHash();
	const unfinished = open.reduce((sum, v) => sum + v, 0), words = [];
	if (about.partial)
		words.push('Partial: the recording was damaged or cut off.');
	if (about.losses.length)
		words.push('Events were lost: what is hatched is not known.');
	note.textContent = words.join(' ');
	byId('subtitle').textContent += (byId('subtitle').textContent ? '; ' : '') + (n - unfinished).toLocaleString('en') +
		' intervals' + (unfinished ? ', ' + unfinished + ' unfinished' : '') + (about.from ? ', from ' + about.from : '');
	search();
	resize();
	// The picture is there before the sums are.
	await new Promise((done) => setTimeout(done));
	update();
	document.documentElement.dataset.ready = Math.round(performance.now());
};
addEventListener('resize', () => requestAnimationFrame(resize));
addEventListener('hashchange', () => {
	fromHash();
	search();
	resize();
	update();
});
matchMedia('(prefers-color-scheme: dark)').addEventListener('change', () => {
	colours();
	resize();
});
begin();
})();
