// Mouse, keys, the menu of a lane and the table of keys of psvg's timelines.
// The build drops indentation, empty lines and lines that are only a comment.
const timelineInput = (on) => {
'use strict';
const {data, lanes, state, el, draw} = on, {at} = draw, make = timelineMake;
const {first, last, start, dur, kind, RUN, WAIT, BLOCK, marks} = data;
const states = {R: 'runnable', S: 'sleeping', D: 'blocked, uninterruptible', T: 'stopped', I: 'idle', Z: 'ended', X: 'ended'};
let mouse = null, drag = null;

// ---- what is under the mouse ----

// Of the intervals of a lane in a pixel the longest one; -1: none.
const intervalAt = (l, t) => {
	const half = draw.perPixel() / 2;
	let best = -1, most = 0, tried = 0;
	for (const {all} of l.type === 'process' ? [] : l.parts)
		for (let k = data.after(all, t - half); k < all.length && start[all[k]] <= t + half && tried < 10000; k++, tried++) {
			const i = all[k], part = Math.min(start[i] + dur[i], t + half) - Math.max(start[i], t - half);
			if (best < 0 || part > most) {
				best = i;
				most = part;
			}
		}
	return best;
};
const markAt = (l, t) => {
	const k = l.marks ? draw.markAfter(l.marks, t - 2 * draw.perPixel()) : 0;
	return l.marks && k < l.marks.length && marks.time[l.marks[k]] <= t + 2 * draw.perPixel() ? l.marks[k] : -1;
};
const describe = (l, t) => {
	const i = intervalAt(l, t), half = draw.perPixel() / 2, lines = [];
	if (l.type === 'process')
		return l.tasks.slice(0, 20).map((o) => o.label).join('\n') + (l.tasks.length > 20 ? '\n(' + (l.tasks.length - 20) + ' more)' : '');
	if (i < 0)
		return l.type === 'task' ? 'nothing known' : 'idle, or nothing known';
	let count = 0, busy = 0;
	const all = l.parts[0].all;
	for (let j = data.after(all, t - half); j < all.length && start[all[j]] < t + half; j++, count++)
		if (l.type !== 'task' || kind[all[j]] === RUN)
			busy += Math.min(start[all[j]] + dur[all[j]], t + half) - Math.max(start[all[j]], t - half);
	if (count > 2)
		return count.toLocaleString('en') + ' intervals in this pixel; busy ' + (100 * busy / (2 * half)).toFixed(1) + ' %';
	const text = data.texts[data.name[i]];
	if (l.type === 'irq')
		lines.push(data.kinds[kind[i]] + ' ' + text + ': ' + data.amount(dur[i]));
	else
		lines.push((l.type === 'cpu' ? data.threadLabel(data.who[i]) + ': ' : '') + data.what(i) + ' ' + data.amount(dur[i]) +
			(kind[i] === RUN ? ' on CPU ' + data.cpu[i] : ''));
	if (kind[i] === BLOCK)
		lines.push('state ' + text + (states[text[0]] ? ' (' + states[text[0]] + ')' : ''));
	if (kind[i] === WAIT)
		lines.push('latency ' + data.amount(dur[i]) + ', ' + text, ...(data.waker[i] ? [data.more(i)] : []));
	if (data.open[i])
		lines.push('unfinished: the recording ended before it did');
	return [...lines, data.clock(start[i])].join('\n');
};
const stepUnder = (l, t) => {
	const span = lanes.spans.get(state.path), s = span && span.steps.find((k) => lanes.laneOfStep[k] === l &&
		data.steps.start[k] <= t && t <= data.steps.start[k] + data.steps.dur[k]);
	return s === undefined ? '' : '\non the path: ' + on.stepWords(s);
};
const showTip = (x, y, e) => {
	const l = draw.laneAt(y);
	el.tip.hidden = !l || l.type === 'more' || !el.menu.hidden;
	if (el.tip.hidden)
		return;
	const t = draw.timeAt(x), mark = x < at.gutter ? -1 : markAt(l, t);
	el.tip.textContent = l.label + '\n' + (x < at.gutter && l.type !== 'process' ? '' : describe(l, t)) +
		(x < at.gutter ? '' : stepUnder(l, t)) + (mark >= 0 ? '\nmark: ' + data.what(data.n + mark) + ' ' + data.more(data.n + mark, () => 0) : '');
	el.tip.style.left = Math.min(e.clientX + 14, innerWidth - el.tip.offsetWidth - 4) + 'px';
	el.tip.style.top = Math.max(Math.min(e.clientY + 14, innerHeight - el.tip.offsetHeight - 4), 0) + 'px';
};
// A time near the beginning or the end of an interval is taken for that.
const snap = (t, l) => {
	const near = 5 * draw.perPixel(), i = l && l.type !== 'more' ? intervalAt(l, t) : -1;
	const ends = i < 0 ? [] : [start[i], start[i] + dur[i]];
	return ends.find((v) => Math.abs(v - t) <= near) ?? t;
};

// ---- mouse ----

el.canvas.addEventListener('wheel', (e) => {
	if (e.offsetX < at.gutter && !e.shiftKey)
		return;
	e.preventDefault();
	if (e.shiftKey || Math.abs(e.deltaX) > Math.abs(e.deltaY)) {
		const d = (e.deltaX || e.deltaY) * draw.perPixel();
		on.setView(state.from + d, state.to + d, true);
	} else {
		on.zoom(Math.pow(1.002, e.deltaY), draw.timeAt(e.offsetX));
	}
}, {passive: false});
el.canvas.addEventListener('mousedown', (e) => {
	const l = draw.laneAt(e.offsetY);
	if (e.button)
		return;
	if (l && l.type === 'more')
		on.change(() => state.all = true);
	else
		drag = {x: e.offsetX, y: e.offsetY, lane: e.offsetX < at.gutter ? l : null, label: e.offsetX < at.gutter, moved: false};
});
addEventListener('mousemove', (e) => {
	const box = el.canvas.getBoundingClientRect(), x = e.clientX - box.left, y = e.clientY - box.top;
	const inside = x >= 0 && y >= 0 && x < at.width && y < at.height && (drag || e.target === el.canvas);
	mouse = inside ? {t: draw.timeAt(Math.max(x, at.gutter)), lane: draw.laneAt(y)} : null;
	if (!drag) {
		el.tip.hidden = true;
		if (inside)
			showTip(x, y, e);
		return;
	}
	drag.moved = drag.moved || Math.abs(x - drag.x) > 3 || drag.label && Math.abs(y - drag.y) > 6;
	el.canvas.style.cursor = drag.label && drag.moved ? 'grabbing' : '';
	drag.to = draw.laneAt(y);
	if (drag.moved && !drag.label) {
		const ends = [drag.x, Math.min(Math.max(x, at.gutter), at.width)].map(draw.timeAt).sort((p, q) => p - q);
		state.pick = ends[0] < ends[1] ? ends : null;
		on.update(true);
	}
});
const click = (x, y) => {
	const l = draw.laneAt(y), t = draw.timeAt(x), mark = l && l.marks && y - draw.yOf(l) < 6 ? markAt(l, t) : -1;
	const i = l && l.type !== 'more' ? intervalAt(l, t) : -1;
	state.pick = null;
	if (mark >= 0)
		on.choose(data.n + mark);
	else if (i >= 0)
		on.choose(i);
	else
		state.event = -1;
	if (l && l.key)
		state.lane = l.key;
	on.update();
};
addEventListener('mouseup', () => {
	const d = drag;
	drag = null;
	el.canvas.style.cursor = '';
	if (!d)
		return;
	if (d.label && d.moved && d.lane && d.to && d.to.key && d.to !== d.lane)
		on.placeLane(d.lane, d.to);
	else if (d.label && !d.moved && d.lane) {
		state.lane = d.lane.key;
		on.update();
		if (d.lane.type === 'process')
			on.fold(d.lane);
	} else if (!d.label && !d.moved && d.y >= draw.RULER)
		click(d.x, d.y);
	else
		on.update();
});
el.canvas.addEventListener('dblclick', (e) => e.offsetX >= at.gutter && on.zoom(0.25, draw.timeAt(e.offsetX)));

// ---- the menu of a lane ----

const menu = psvgMenu(el.menu, el.tip, false);
const openMenu = (l, x, y) => {
	const tasks = l.type === 'process' ? l.tasks : [l], items = [['Hide', () => on.hideLane(l)]];
	if (l.type === 'task' || l.type === 'process')
		items.push(['Only this', () => on.onlyThese(tasks)]);
	if (l.process)
		items.push(['Only its process', () => on.onlyThese(l.process.tasks)], ['Hide its process', () => on.hideLane(l.process)]);
	if (on.hits().length)
		items.push(['Only lanes that the search names', () => on.onlyThese(on.hits())]);
	if (state.order === 'process' && l.type !== 'cpu' && l.type !== 'irq')
		items.push([state.folded.has(l.key) ? 'Unfold' : 'Fold its process', () => on.fold(l)]);
	items.push(['Move up', () => on.moveLane(l, -1)], ['Move down', () => on.moveLane(l, 1)], ['Move to the top', () => on.moveLane(l, -Infinity)],
		['Show all lanes', on.showAll]);
	menu.open(items, x, y);
};
el.canvas.addEventListener('contextmenu', (e) => {
	const l = draw.laneAt(e.offsetY);
	if (!l || !l.key)
		return;
	e.preventDefault();
	state.lane = l.key;
	on.update();
	openMenu(l, e.clientX, e.clientY);
});

// ---- keys ----

const fifth = () => (state.to - state.from) / 5;
const middle = () => mouse ? mouse.t : state.event >= 0 && data.timeOf(state.event) >= state.from && data.timeOf(state.event) <= state.to ?
	data.timeOf(state.event) : (state.from + state.to) / 2;
const move = (by) => () => on.setView(state.from + by * fifth(), state.to + by * fifth(), true);
const setMark = (m) => () => {
	state[m] = mouse ? snap(mouse.t, mouse.lane) : middle();
	on.update();
};
const goMark = (m) => () => {
	const half = (state.to - state.from) / 2;
	if (state[m] !== null)
		on.setView(state[m] - half, state[m] + half);
};
const flip = (key, listed) => () => on.change(() => state[key] = !state[key], listed);
const withLane = (act) => () => on.laneNow() && act(on.laneNow());
const enter = () => {
	const id = state.event, t = id < 0 ? 0 : data.timeOf(id), length = id < 0 ? 0 : data.lengthOf(id);
	if (state.pick)
		on.setView(state.pick[0], state.pick[1]);
	else if (id >= 0)
		on.setView(t - length, t + 2 * length);
};
const between = () => {
	const ends = [state.a, state.b].sort((p, q) => p - q);
	if (state.a !== null && state.b !== null && ends[0] < ends[1])
		on.change(() => state.pick = ends);
};
const menuHere = () => {
	const l = on.laneNow(), box = el.canvas.getBoundingClientRect();
	if (l && l.shown)
		openMenu(l, box.left + 20, box.top + Math.max(draw.yOf(l), 0) + l.height);
};
// Shown by ?: keys, what they do, and the act.
const keys = [
	[['ArrowLeft', 'q'], 'to the left', move(-1)], [['ArrowRight', 'd'], 'to the right', move(1)],
	[['+', '=', 'w'], 'zoom in', () => on.zoom(0.5, middle())], [['-', 's'], 'zoom out', () => on.zoom(2, middle())],
	[['Home'], 'all', () => on.setView(first, last)], [['Enter'], 'zoom to the selection, or to the event', enter],
	[['Backspace'], 'back', on.back], [['Escape'], 'no selection, no event, no markers', () => on.change(() => {
		state.pick = state.a = state.b = null;
		state.event = -1;
	})],
	[['/', 'F3'], 'search', () => el.search.select()], [['n'], 'the next event that fits', () => on.nextHit(1)],
	[['N'], 'the one before', () => on.nextHit(-1)], [['x'], 'list only what fits', flip('fits', true)],
	[[']'], 'the next event in the lane', () => on.nextInLane(1)], [['['], 'the one before', () => on.nextInLane(-1)],
	[['a'], 'marker A at the mouse, or at the event', setMark('a')], [['b'], 'marker B', setMark('b')],
	[['A'], 'go to marker A', goMark('a')], [['B'], 'go to marker B', goMark('b')], [['v'], 'select from A to B', between],
	[['ArrowUp'], 'the lane above', () => on.stepLane(-1)], [['ArrowDown'], 'the lane below', () => on.stepLane(1)],
	[['Alt-ArrowUp'], 'move the lane up', withLane((l) => on.moveLane(l, -1))],
	[['Alt-ArrowDown'], 'move the lane down', withLane((l) => on.moveLane(l, 1))],
	[['h'], 'hide the lane', withLane(on.hideLane)], [['H'], 'show all lanes', on.showAll],
	[['i'], 'only the lanes that the search names', () => on.hits().length && on.onlyThese(on.hits())],
	[['m', 'ContextMenu'], 'menu of the lane', menuHere], [['o'], 'another order of lanes', () => on.change(() => {
		const k = lanes.orders.findIndex((o) => o[0] === state.order);
		state.order = lanes.orders[(k + 1) % lanes.orders.length][0];
	})],
	[['f'], 'fold or unfold the process', withLane(on.fold)], [['F'], 'by process, all folded or all unfolded', on.foldAll],
	[['l'], 'the list', flip('list')], [['t'], 'the sums', flip('sums')],
	[['p'], 'the longest path, or none', () => on.showPath(state.path ? 0 : lanes.paths[0]?.number || 0)],
	[['.'], 'the next step of the path', () => on.toStep(1)], [[','], 'the one before', () => on.toStep(-1)],
	[['?'], 'this table', () => el.keys.showModal()],
];
const acts = new Map(keys.flatMap(([names, , act]) => names.map((name) => [name, act])));
el.keys.append(make('table', {}, make('caption', {}, 'Keys'), ...keys.map(([names, text]) => make('tr', {}, make('th', {scope: 'row'},
	names.join(' ').replace(/Arrow/g, '')), make('td', {}, text)))), make('form', {method: 'dialog'}, make('button', {}, 'Close')));
addEventListener('keydown', (e) => {
	const focused = document.activeElement, name = focused?.localName;
	if (el.keys.open || !el.menu.hidden)
		return;
	if (e.key === 'F3' || e.ctrlKey && e.key === 'f') {
		e.preventDefault();
		acts.get('F3')();
		el.search.focus();
	} else if (focused === el.search) {
		if (e.key === 'Enter') {
			on.searchNow();
			on.nextHit(e.shiftKey ? -1 : 1);
		} else if (e.key === 'Escape') {
			el.canvas.focus();
		}
	} else if (e.ctrlKey || e.metaKey || name === 'select' || name === 'button' && (e.key === 'Enter' || e.key === ' ')) {
		return;
	} else if (acts.has((e.altKey ? 'Alt-' : '') + e.key)) {
		e.preventDefault();
		acts.get((e.altKey ? 'Alt-' : '') + e.key)();
		if (e.key === '/')
			el.search.focus();
	}
});

// ---- buttons ----

for (const [id, act] of [['next', () => on.nextHit(1)], ['fits', flip('fits', true)], ['back', on.back], ['whole', () => on.setView(first, last)],
	['into', enter], ['shown', on.showAll], ['listOn', flip('list')], ['sumsOn', flip('sums')], ['a', goMark('a')], ['b', goMark('b')],
	['help', () => el.keys.showModal()]])
	el[id].addEventListener('click', act);
el.order.addEventListener('change', () => on.change(() => state.order = el.order.value));
el.path.addEventListener('change', () => on.showPath(+el.path.value));
};
