// What psvg's timelines draw on their canvas: lanes, arrows of wakeups, the critical path, the ruler.
// The build drops indentation, empty lines and lines that are only a comment.
const timelineDraw = (data, lanes, state, canvas, scroller) => {
'use strict';
const {about, texts, threads, first, last, RUN, who, kind, open, cpu, start, dur, name, waker, marks, steps} = data;
const RULER = 24;
let context = canvas.getContext('2d');
const screen = context, fit = psvgFitting(screen), view = lanes.view;
const at = {width: 0, height: 0, gutter: 170, hits: () => false};
let colour = {}, hatch = null;
const threadColours = new Map();
const threadColour = (w) => {
	let c = threadColours.get(w);
	if (!c) {
		let h = 2166136261;
		for (const ch of data.threadName(w))
			h = Math.imul(h ^ ch.codePointAt(0), 16777619);
		h = (h ^ h >>> 15) >>> 0;
		c = 'hsl(' + h % 360 + ' ' + (45 + (h >>> 9) % 30) + '% ' + (colour.dark ? 52 : 66) + '%)';
		threadColours.set(w, c);
	}
	return c;
};
const classColour = (c) => [colour.run, colour.wait, colour.block, colour.sleep][c];
const perPixel = () => (state.to - state.from) / Math.max(at.width - at.gutter, 1);
const xOf = (t) => at.gutter + (t - state.from) / perPixel();
const timeAt = (x) => state.from + (x - at.gutter) * perPixel();
const top = () => RULER + view.top;
// Where a lane's upper edge is on the canvas.
const yOf = (l) => l.type === 'cpu' || l.type === 'irq' ? RULER + l.y : top() + l.y - scroller.scrollTop;
const laneAt = (y) => {
	if (y < RULER)
		return undefined;
	const list = y < top() ? view.pinned : view.rest, k = y < top() ? y - RULER : y - top() + scroller.scrollTop;
	return list.find((l) => k >= l.y && k < l.y + l.height + lanes.GAP);
};

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
const colours = () => {
	const style = getComputedStyle(document.documentElement);
	for (const c of ['back', 'text', 'faint', 'line', 'lane', 'run', 'wait', 'block', 'sleep', 'pick', 'hit', 'path', 'chosen'])
		colour[c] = style.getPropertyValue('--' + c).trim();
	colour.dark = matchMedia('(prefers-color-scheme: dark)').matches;
	threadColours.clear();
	makeHatch();
};
const resize = () => {
	const ratio = devicePixelRatio || 1;
	canvas.style.height = 0; // still as high as its place was
	at.width = Math.max(scroller.clientWidth, 200);
	at.height = Math.max(scroller.clientHeight, 100);
	at.gutter = at.width < 700 ? 110 : 170;
	canvas.width = at.width * ratio;
	canvas.height = at.height * ratio;
	canvas.style.width = at.width + 'px';
	canvas.style.height = at.height + 'px';
	context.setTransform(ratio, 0, 0, ratio, 0, 0);
};

// ---- one lane ----

// Wide intervals are drawn one by one. Of narrow ones each pixel shows the share of its time that
// they take.
let share = [], owner = null, longest = null;
const shareOut = (c, x0, x1, w, amount, whose) => {
	for (let p = x0 | 0; p <= x1 && p < w; p++) {
		const part = amount >= 0 ? amount : Math.min(x1, p + 1) - Math.max(x0, p);
		share[c][p] += part;
		if (part > longest[p]) {
			longest[p] = part;
			owner[p] = whose;
		}
	}
};
const drawPart = (l, {all, from, to, of, sum, whose, size}, y) => {
	const w = at.width - at.gutter, scale = 1 / perPixel(), end = all.length, task = l.type === 'task', first = state.from;
	let any = false;
	for (let k = data.after(all, first); k < end && from[k] < state.to; k++) {
		const x0 = Math.max((from[k] - first) * scale, 0);
		// A whole block within a pixel.
		if (k % size === 0 && k + size <= end && from[k] >= first) {
			const x2 = (to[k + size - 1] - first) * scale, b = k / size;
			if ((x2 | 0) === (x0 | 0) && x2 < w) {
				for (let c = 0; c < (task ? 4 : 1); c++)
					if (sum[task ? 4 * b + c : b])
						shareOut(c, x0 | 0, x0 | 0, w, sum[task ? 4 * b + c : b] * scale, task ? 0 : whose[b]);
				any = true;
				k += size - 1;
				continue;
			}
		}
		const c = task ? of[k] : 0, x1 = Math.min((to[k] - first) * scale, w);
		if (x1 - x0 >= 2 && l.type !== 'process') {
			drawOne(l, all[k], c, x0, x1, y);
			continue;
		}
		any = true;
		shareOut(c, x0, x1, w, -1, task ? 0 : who[all[k]]);
	}
	return any;
};
// As long as the times in view stay the same, the picture of each lane is kept.
const PICTURES = 300;
let pictures = new Map(), scene = '', still = false;
const look = () => {
	const now = [state.from, state.to, at.width, at.height, devicePixelRatio, colour.back].join();
	still = now === scene;
	scene = now;
	if (!still || pictures.size > PICTURES)
		pictures = new Map();
};
const drawLane = (l, y) => {
	let picture = pictures.get(l.key);
	if (!still || !l.key) {
		paintLane(l, y);
		return;
	}
	if (!picture || picture.tall !== l.height) {
		const ratio = devicePixelRatio || 1;
		picture = {tall: l.height, image: document.createElement('canvas')};
		picture.image.width = canvas.width;
		picture.image.height = Math.ceil(l.height * ratio);
		context = picture.image.getContext('2d');
		context.setTransform(ratio, 0, 0, ratio, 0, 0);
		context.textBaseline = screen.textBaseline;
		context.font = screen.font;
		paintLane(l, 0);
		context = screen;
		pictures.set(l.key, picture);
	}
	context.drawImage(picture.image, 0, y, at.width, picture.image.height / (devicePixelRatio || 1));
};
const paintLane = (l, y) => {
	const w = at.width - at.gutter;
	if (share.length !== 4 || share[0].length !== w + 2) {
		share = [0, 1, 2, 3].map(() => new Float32Array(w + 2));
		owner = new Uint32Array(w + 2);
		longest = new Float32Array(w + 2);
	}
	let any = false;
	for (const part of l.parts)
		any = drawPart(l, part, y) || any;
	// Of a process: how many of the CPUs that it can take.
	if (l.type === 'process')
		share[0].forEach((v, p) => share[0][p] = v / Math.max(1, Math.min(l.parts.length, l.tasks.length)));
	if (any)
		drawShares(l, y, w, l.height);
	if (l.type === 'cpu' && about.losses.length)
		drawLosses(l, y);
	if (l.type === 'cpu')
		drawMarks(l, y);
};
const drawOne = (l, i, c, x0, x1, y) => {
	const task = l.type === 'task', h = task && c === 3 ? l.height * 0.35 : l.height, y1 = y + l.height - h;
	context.fillStyle = open[i] ? hatch : task ? classColour(c) : l.type === 'irq' ? colour.block : threadColour(who[i]);
	context.fillRect(at.gutter + x0, y1, x1 - x0, h);
	if (x1 - x0 < 30 || l.height < 11 || task && c === 3)
		return;
	const text = l.type === 'cpu' ? data.threadLabel(who[i]) : l.type === 'irq' ? texts[name[i]] :
		c === 0 ? 'CPU ' + cpu[i] : c === 1 ? data.amount(dur[i]) : texts[name[i]];
	context.fillStyle = open[i] ? colour.text : colour.dark || l.type === 'cpu' || c === 1 && task ? '#000' : '#fff';
	context.fillText(fit(text, x1 - x0 - 6), at.gutter + x0 + 3, y1 + h / 2 + 1);
};
// A colour as a pixel.
const dot = document.createElement('canvas').getContext('2d', {willReadFrequently: true}), inks = new Map();
const ink = (text) => {
	let v = inks.get(text);
	if (v === undefined) {
		dot.fillStyle = text;
		dot.fillRect(0, 0, 1, 1);
		inks.set(text, v = new Uint32Array(dot.getImageData(0, 0, 1, 1).data.buffer)[0]);
	}
	return v;
};
// Shares are drawn as pixels: one by one they would be a hundred thousand rectangles.
const strips = new Map();
const stripOf = (w, h) => {
	let s = strips.get(h);
	if (!s || s.image.width !== w) {
		const pen = document.createElement('canvas').getContext('2d');
		[pen.canvas.width, pen.canvas.height] = [w, h];
		s = {pen, image: pen.createImageData(w, h)};
		strips.set(h, s);
	}
	return s;
};
const drawShares = (l, y, w, h) => {
	const below = new Uint8Array(w), {pen, image} = stripOf(w, h);
	const pixels = new Uint32Array(image.data.buffer).fill(0);
	for (const c of l.type === 'task' ? [0, 1, 2, 3] : [0]) {
		const s = share[c], plain = l.type === 'cpu' ? 0 : ink(l.type === 'task' ? classColour(c) : l.type === 'process' ? colour.run : colour.block);
		for (let p = 0; p < w; p++) {
			if (!s[p])
				continue;
			const high = Math.min(Math.max(Math.round(s[p] * h), 1), h - below[p]), v = plain || ink(threadColour(owner[p]));
			for (let r = 0, k = (h - 1 - below[p]) * w + p; r < high; r++, k -= w)
				pixels[k] = v;
			below[p] += high;
		}
	}
	pen.putImageData(image, 0, 0);
	context.imageSmoothingEnabled = false;
	context.drawImage(pen.canvas, at.gutter, y, w, h);
	for (const s of share)
		s.fill(0);
	longest.fill(0);
	owner.fill(0);
};
const drawLosses = (l, y) => {
	const all = l.parts[0].all;
	for (const [c, time] of about.losses) {
		if (c >= 0 && c !== l.cpu)
			continue;
		const t = Number(BigInt(time) - BigInt(about.base)), k = data.after(all, t);
		const i = all[k], before = all[k - 1];
		const from = before === undefined ? first : start[before] + dur[before];
		const to = i === undefined ? last : Math.max(start[i], t);
		const x0 = Math.max(xOf(Math.min(from, t)), at.gutter), x1 = Math.min(Math.max(xOf(to), x0 + 3), at.width);
		context.fillStyle = hatch;
		if (x1 > x0)
			context.fillRect(x0, y, x1 - x0, l.height);
	}
};
// One tick in a pixel, however many events it has.
const markAfter = (list, t) => {
	let lo = 0, hi = list.length;
	while (lo < hi) {
		const mid = (lo + hi) >> 1;
		if (marks.time[list[mid]] >= t)
			hi = mid;
		else
			lo = mid + 1;
	}
	return lo;
};
const drawMarks = (l, y) => {
	context.fillStyle = colour.text;
	for (let k = markAfter(l.marks, state.from); k < l.marks.length && marks.time[l.marks[k]] <= state.to;) {
		const x = Math.floor(xOf(marks.time[l.marks[k]]));
		context.fillRect(x, y, 1, Math.min(5, l.height));
		k = Math.max(k + 1, markAfter(l.marks, timeAt(x + 1)));
	}
};

// ---- what goes across lanes ----

const ARROWS = 200;
const drawArrows = () => {
	const arrows = [];
	for (const l of view.rest) {
		if (l.type !== 'task' || yOf(l) + l.height < top() || yOf(l) > at.height)
			continue;
		for (let k = data.after(l.all, state.from); k < l.all.length; k++) {
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
	context.globalAlpha = .6;
	for (const [i, l] of arrows) {
		const from = view.laneOf.get(waker[i]);
		if (!from || from === l)
			continue;
		const x = xOf(start[i]), y1 = yOf(from) + from.height / 2, y2 = yOf(l) + (from.y < l.y ? 0 : l.height);
		const up = y2 < y1 ? 4 : -4;
		context.beginPath();
		context.moveTo(x, y1);
		context.lineTo(x, y2);
		context.stroke();
		context.beginPath();
		context.moveTo(x, y2);
		context.lineTo(x - 3, y2 + up);
		context.lineTo(x + 3, y2 + up);
		context.fill();
	}
	context.globalAlpha = 1;
};
// The path is one line: along the lane of each step, then across to that of the next. What is too
// narrow to be seen is one stroke from the highest to the lowest lane of its pixel.
const drawPath = () => {
	const span = lanes.spans.get(state.path);
	if (!span)
		return;
	const list = span.steps;
	let lo = 0, hi = list.length;
	while (lo < hi) {
		const mid = (lo + hi) >> 1;
		if (steps.start[list[mid]] + steps.dur[list[mid]] >= state.from)
			hi = mid;
		else
			lo = mid + 1;
	}
	context.beginPath();
	let pen = false, lastX = 0, low = 0, high = 0, y = 0;
	for (let k = lo; k < list.length && steps.start[list[k]] <= state.to; k++) {
		const s = list[k], l = lanes.laneOfStep[s];
		if (!l || !l.shown) {
			pen = false;
			continue;
		}
		const x0 = Math.max(xOf(steps.start[s]), at.gutter), x1 = Math.min(xOf(steps.start[s] + steps.dur[s]), at.width);
		y = yOf(l) + l.height / 2;
		if (pen && x1 - lastX < 1) {
			// Still within the pixel of the stroke before.
			if (y < low || y > high) {
				low = Math.min(low, y);
				high = Math.max(high, y);
				context.lineTo(lastX, y);
			}
			continue;
		}
		if (pen)
			context.lineTo(x0, y);
		else
			context.moveTo(x0, y);
		context.lineTo(x1, y);
		pen = true;
		lastX = x1;
		low = high = y;
	}
	context.lineJoin = 'round';
	context.strokeStyle = colour.back;
	context.lineWidth = 5;
	context.stroke();
	context.strokeStyle = colour.path;
	context.lineWidth = 2.5;
	context.stroke();
	context.lineWidth = 1;
};
const drawRuler = () => {
	const span = state.to - state.from, room = at.width - at.gutter;
	let step = Math.pow(10, Math.floor(Math.log10(span / Math.max(room / 110, 1))));
	for (const m of [1, 2, 5, 10])
		if (span / (step * m) <= Math.max(room / 110, 1)) {
			step *= m;
			break;
		}
	context.fillStyle = colour.back;
	context.fillRect(0, 0, at.width, RULER);
	context.fillStyle = colour.faint;
	for (let t = Math.ceil((state.from - first) / step) * step + first; t <= state.to; t += step) {
		const x = xOf(t);
		context.fillRect(x, RULER - 6, 1, 6);
		const text = data.amount(t - first), w = context.measureText(text).width;
		if (x + 3 + w < at.width)
			context.fillText(text, x + 3, 10);
	}
};
const drawSpan = (from, to, fill, y0, y1) => {
	const x0 = Math.max(xOf(from), at.gutter), x1 = Math.min(xOf(to), at.width);
	context.fillStyle = fill;
	if (x1 >= x0)
		context.fillRect(x0, y0, Math.max(x1 - x0, 1), y1 - y0);
};
// The event that is chosen, in its thread's lane and its CPU's.
const drawChosen = () => {
	const id = state.event, t = data.timeOf(id), run = id < data.n && kind[id] === RUN;
	const list = [lanes.laneOf(id), run ? lanes.byKey.get('c' + cpu[id] + (threads[who[id]][3] ? '.' + threads[who[id]][3] : '')) : null];
	context.strokeStyle = colour.chosen;
	context.lineWidth = 2;
	for (const l of list) {
		if (!l || !l.shown)
			continue;
		const pinned = l.type !== 'task', y = yOf(l);
		if (y + l.height < (pinned ? RULER : top()))
			continue;
		const x0 = Math.max(xOf(t), at.gutter), x1 = Math.min(xOf(t + data.lengthOf(id)), at.width);
		if (x1 >= x0 - 1 && x0 <= at.width)
			context.strokeRect(x0 - 1, y - 1, Math.max(x1 - x0, 1) + 2, l.height + 2);
	}
	context.lineWidth = 1;
};

const drawLabel = (l, y) => {
	context.fillStyle = colour.text;
	if (l.height < 8)
		return;
	const inner = state.order === 'process' && l.type === 'task' ? 14 : 0;
	const text = (l.type === 'process' ? (state.folded.has(l.key) ? '\u25b8 ' : '\u25be ') : '') + l.label;
	context.fillText(fit(text, at.gutter - 10 - inner), 6 + inner, y + l.height / 2 + 1);
};
const drawLanes = (list, from, to) => {
	context.save();
	context.beginPath();
	context.rect(0, from, at.width, Math.max(to - from, 0));
	context.clip();
	for (const l of list) {
		const y = yOf(l);
		if (y + l.height < from || y > to)
			continue;
		context.fillStyle = l.key && l.key === state.lane ? colour.pick : at.hits(l) ? colour.hit : colour.lane;
		context.fillRect(0, y, at.width, l.height);
		drawLane(l, y);
		drawLabel(l, y);
	}
	if (list === view.rest) {
		drawArrows();
		drawPath();
	}
	context.restore();
};
const draw = () => {
	context.fillStyle = colour.back;
	context.fillRect(0, 0, at.width, at.height);
	context.textBaseline = 'middle';
	context.font = '11px Verdana, DejaVu Sans, sans-serif';
	look();
	drawLanes(view.rest, top(), at.height);
	drawLanes(view.pinned, RULER, top());
	context.fillStyle = colour.line;
	context.fillRect(0, top() - 1, at.width, 1);
	drawRuler();
	if (state.pick)
		drawSpan(state.pick[0], state.pick[1], colour.pick, 0, at.height);
	if (state.event >= 0)
		drawChosen();
	for (const m of ['a', 'b'])
		if (state[m] !== null) {
			drawSpan(state[m], state[m], colour.text, 0, at.height);
			if (state[m] >= state.from && state[m] <= state.to)
				context.fillText(m.toUpperCase(), xOf(state[m]) + 3, RULER - 6);
		}
};
return {at, RULER, perPixel, xOf, timeAt, top, yOf, laneAt, markAfter, colours, resize, draw};
};
