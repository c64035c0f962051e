// The script inside psvg's timelines: lanes on a canvas, the list of events, zoom, selection, markers,
// search, keys, and the address that keeps all of it. The parts are in psvg-timeline-*.js.
// The build drops indentation, empty lines and lines that are only a comment.
(async () => {
'use strict';
const {byId} = psvgData, make = timelineMake;
const data = await timelineData();
const {about, n, first, last, kind, start, RUN, marks, steps} = data;
const lanes = timelineLanes(data);

// ---- the state: what a link carries ----

const fresh = () => ({from: first, to: last, pick: null, a: null, b: null, query: '', event: -1, lane: '', order: 'time', hidden: new Set(),
	moved: [], folded: new Set(), only: null, all: false, list: true, sums: true, fits: false, path: 0, row: 0, y: 0});
const state = fresh();
let before = [];

// ---- the page ----

const button = (id, text, title) => make('button', {id, type: 'button', title}, text);
const el = {
	view: make('div', {id: 'view'}), tall: make('div', {}), panel: make('div', {id: 'panel', tabindex: '0', role: 'region', 'aria-label': 'Sums of threads'}),
	canvas: make('canvas', {tabindex: '0', role: 'application',
		'aria-label': 'Timeline: arrow keys move and choose a lane, plus and minus zoom, Home shows all, ? lists the keys'}),
	search: make('input', {id: 'search', type: 'search', placeholder: 'Search: words, >1ms, cpu0, by:name',
		'aria-label': 'Search events', title: '/ or F3', spellcheck: 'false'}),
	matched: make('span', {id: 'matched', 'aria-live': 'polite'}),
	next: button('next', 'Next', 'n, and N for the one before'), fits: button('fits', 'Only these', 'List only what fits (x)'),
	back: button('back', 'Back', 'Backspace'), whole: button('whole', 'All', 'Home'), into: button('into', 'Zoom in', 'To the selection (Enter)'),
	order: make('select', {id: 'order', 'aria-label': 'Order of lanes', title: 'o'}, ...lanes.orders.map(([v, text]) => make('option', {value: v}, text))),
	shown: button('shown', 'Show all lanes', 'H'), listOn: button('liston', 'List', 'l'), sumsOn: button('sumson', 'Sums', 't'),
	path: make('select', {id: 'path', 'aria-label': 'Critical path', title: 'p'}),
	a: button('a', '', 'Go to marker A (A)'), b: button('b', '', 'Go to marker B (B)'), help: button('help', '?', 'Keys (?)'),
	status: make('span', {id: 'status', 'aria-live': 'polite'}), legend: make('span', {id: 'legend'}),
	note: make('p', {id: 'note'}), step: make('p', {id: 'step', 'aria-live': 'polite'}),
	below: make('div', {id: 'below'}), tip: make('div', {id: 'tip', role: 'tooltip', hidden: ''}),
	menu: make('div', {id: 'menu', role: 'menu', hidden: ''}), keys: make('dialog', {id: 'keys', 'aria-label': 'Keys'}),
};
for (const [c, text] of [['run', 'running'], ['wait', 'runnable'], ['block', 'blocked (D)'], ['sleep', 'sleeping'],
	['lost', 'lost, unfinished'], ...(lanes.paths.length ? [['path', 'critical path']] : [])])
	el.legend.append(make('span', {class: c}, text));
el.path.append(make('option', {value: 0}, 'No path'), ...lanes.paths.slice(0, 1000).map((p) =>
	make('option', {value: p.number}, 'Path ' + p.number + ': ' + p.label + ', ' + data.amount(p.to - p.from))));
const draw_ = timelineDraw(data, lanes, state, el.canvas, el.view), {at} = draw_;
const update = (quick) => changed(quick);
const list = timelineList(data, lanes, state, (id, zoom) => choose(id, zoom));
const showSums = timelineSums(data, lanes, el.panel);
el.tall.append(el.canvas);
el.view.append(el.tall);
el.below.append(list.box, el.panel);
document.querySelector('main').append(make('div', {id: 'bar', role: 'toolbar', 'aria-label': 'View'}, el.search, el.matched, el.next, el.fits,
	el.back, el.whole, el.into, el.order, el.shown, ...(lanes.paths.length ? [el.path] : []), el.listOn, el.sumsOn, el.a, el.b, el.status,
	el.help, el.legend), el.note, el.step, el.view, el.below);
document.body.append(el.tip, el.menu, el.keys);

// ---- the address ----

// Keys of lanes: threads whose numbers follow each other are a range, t5-9; most processes are all (*) without some.
const keysText = (set) => {
	const tasks = [...set].filter((key) => key[0] === 't').map((key) => +key.slice(1)).sort((p, q) => p - q), parts = [];
	const others = [...set].filter((key) => key[0] !== 't'), outside = lanes.processes.filter((p) => !set.has(p.key));
	for (let k = 0, z = 0; k < tasks.length; k = z + 1) {
		for (z = k; tasks[z + 1] === tasks[z] + 1;)
			z++;
		parts.push('t' + tasks[k] + (z > k ? '-' + tasks[z] : ''));
	}
	if (others.length > 10 && outside.length < lanes.processes.length / 2)
		return [...parts, '*', ...outside.map((p) => p.key)].join(',');
	return [...parts, ...others].join(',');
};
const keysOf = (text) => {
	const keys = (text || '').split(',').flatMap((key) => {
		const range = /^t(\d+)-(\d+)$/.exec(key), from = range && +range[1];
		return range ? Array.from({length: Math.min(Math.max(range[2] - from + 1, 0), data.threads.length)}, (v, k) => 't' + (from + k)) : [key];
	});
	const star = keys.indexOf('*');
	return new Set((star < 0 ? keys : [...keys.slice(0, star), ...lanes.processes.map((p) => p.key).filter((key) => !keys.includes(key))])
		.filter((key) => lanes.byKey.has(key)));
};
const pairText = (v) => v.map(Math.round).join(',');
const toHash = () => {
	const parts = [], plain = fresh();
	if (state.from !== first || state.to !== last)
		parts.push('view=' + pairText([state.from, state.to]));
	if (state.pick)
		parts.push('pick=' + pairText(state.pick));
	for (const m of ['a', 'b'])
		if (state[m] !== null)
			parts.push(m + '=' + Math.round(state[m]));
	if (state.query)
		parts.push('search=' + encodeURIComponent(state.query));
	for (const key of ['event', 'lane', 'order', 'path', 'row', 'y'])
		if (state[key] !== plain[key])
			parts.push(key + '=' + state[key]);
	for (const key of ['all', 'list', 'sums', 'fits'])
		if (state[key] !== plain[key])
			parts.push(key + '=' + (state[key] ? 1 : 0));
	for (const key of ['hidden', 'folded', 'only'])
		if (state[key] && state[key].size)
			parts.push(key + '=' + keysText(state[key]));
	if (state.moved.length)
		parts.push('moved=' + state.moved.map((m) => m.join('<')).join(','));
	return parts.join('&');
};
const pair = (text) => {
	const v = (text || '').split(',').map(Number);
	return v.length === 2 && v.every(Number.isFinite) && v[0] < v[1] ? v : null;
};
const whole = (text, size) => /^\d+$/.test(text || '') && +text < size ? +text : -1;
const fromHash = (text) => {
	const q = new URLSearchParams(text.replace(/\+/g, '%2B')), v = pair(q.get('view'));
	Object.assign(state, fresh());
	if (v)
		[state.from, state.to] = v;
	state.pick = pair(q.get('pick'));
	for (const m of ['a', 'b'])
		state[m] = q.has(m) && Number.isFinite(+q.get(m)) ? +q.get(m) : null;
	state.query = el.search.value = q.get('search') || '';
	state.event = whole(q.get('event'), n + marks.n);
	state.row = Math.max(whole(q.get('row'), n + marks.n), 0);
	state.y = Math.max(whole(q.get('y'), 1e9), 0);
	state.lane = lanes.byKey.has(q.get('lane')) ? q.get('lane') : '';
	if (lanes.orders.some((o) => o[0] === q.get('order')))
		state.order = q.get('order');
	state.path = lanes.spans.has(+q.get('path')) ? +q.get('path') : 0;
	for (const key of ['all', 'list', 'sums', 'fits'])
		if (q.has(key))
			state[key] = q.get(key) === '1';
	for (const key of ['hidden', 'folded', 'only'])
		state[key] = keysOf(q.get(key));
	state.only = state.only.size ? state.only : null;
	state.moved = (q.get('moved') || '').split(',').map((m) => m.split('<')).filter((m) => m.length === 2 && lanes.byKey.has(m[0]));
};
const remember = () => {
	try {
		history.replaceState(null, '', location.href.split('#')[0] + '#' + toHash());
	} catch (e) {
		// A sandboxed frame: there is no link to keep.
	}
};

// ---- changes ----

let later = 0, frame = 0, sumsOf = '';
const redraw = () => {
	frame = frame || requestAnimationFrame(() => {
		const began = performance.now();
		frame = 0;
		draw_.draw();
		window.psvgTimeline.drew(performance.now() - began);
	});
};
const markText = (m) => state[m] === null ? '' : m.toUpperCase() + ': ' + data.amount(state[m] - first);
const settle = () => {
	const [from, to] = state.pick || [state.from, state.to], key = from + ' ' + to;
	list.paint();
	remember();
	if (state.sums && key !== sumsOf)
		showSums(from, to, !!state.pick);
	sumsOf = state.sums ? key : '';
};
const changed = (quick) => {
	el.back.disabled = !before.length;
	el.whole.disabled = state.from === first && state.to === last;
	el.into.disabled = !state.pick && state.event < 0;
	el.status.textContent = state.a !== null && state.b !== null ? 'B - A: ' + data.amount(state.b - state.a) : '';
	for (const m of ['a', 'b']) {
		el[m].textContent = markText(m);
		el[m].hidden = state[m] === null;
	}
	el.tip.hidden = true; // it was about what lay under the mouse before
	redraw();
	clearTimeout(later);
	later = setTimeout(settle, quick ? 150 : 20);
};
const fitIn = () => {
	el.tall.style.height = 0; // what was there before must not cause a scroll bar
	draw_.resize();
	const view = lanes.place(state, at.height * 0.45), tall = draw_.top() + view.total;
	el.tall.style.height = tall > at.height ? tall + 4 + 'px' : at.height + 'px';
	if (el.view.clientWidth < at.width)
		draw_.resize();
};
// What changes which lanes there are, or what is below them.
const arrange = () => {
	el.order.value = state.order;
	el.path.value = state.path;
	el.shown.hidden = !state.hidden.size && !state.only && !state.moved.length;
	list.box.hidden = !state.list;
	el.panel.hidden = !state.sums;
	el.below.hidden = !state.list && !state.sums;
	for (const [b, on] of [[el.listOn, state.list], [el.sumsOn, state.sums], [el.fits, state.fits]])
		b.setAttribute('aria-pressed', on);
	fitIn();
	el.step.textContent = pathText();
	if (el.view.clientHeight !== at.height)
		fitIn();
	el.view.scrollTop = state.y;
	changed();
};
const keep = () => {
	const text = toHash();
	if (before.at(-1) !== text)
		before.push(text);
};
// Something that the way back undoes.
const change = (what, listed) => {
	keep();
	what();
	arrange();
	if (listed)
		list.refresh(matcher);
};
const setView = (from, to, quick) => {
	const least = 100;
	if (to - from < least) {
		const mid = (from + to) / 2;
		from = mid - least / 2;
		to = mid + least / 2;
	}
	const span = Math.min(to - from, last - first);
	if (!quick)
		keep();
	state.from = Math.min(Math.max(from, first), last - span);
	state.to = state.from + span;
	update(quick);
};
const zoom = (factor, t) => setView(t - (t - state.from) * factor, t + (state.to - t) * factor, true);
// Moves the view so far that a time is in it, and the lanes so that one of them is.
const bring = (t, length) => {
	const span = state.to - state.from;
	if (t < state.from || t + Math.min(length, span / 2) > state.to)
		setView(t - span / 3, t + span * 2 / 3, true);
};
const bringLane = (l) => {
	if (l && !l.shown && l.type === 'task') {
		state.all = true;
		if (l.process)
			state.folded.delete(l.process.key);
		arrange();
	}
	if (!l || !l.shown || l.type === 'cpu' || l.type === 'irq')
		return;
	const room = at.height - draw_.top(), y = l.y - el.view.scrollTop;
	if (y < 0 || y + l.height > room)
		el.view.scrollTop = Math.max(l.y - room / 2, 0);
};
const choose = (id, close) => {
	state.event = id;
	const l = lanes.laneOf(id), t = data.timeOf(id), length = data.lengthOf(id);
	bringLane(l);
	state.lane = l && l.shown ? l.key : state.lane;
	if (close)
		setView(t - length, t + 2 * length);
	else
		bring(t, length);
	list.reveal(id);
	update();
};

// ---- the search ----

let matcher = null, laneHits = new Set();
at.hits = (l) => laneHits.has(l);
const search = () => {
	const q = state.query.trim().toLowerCase();
	search.done = state.query;
	matcher = q ? timelineQuery(data, q) : null;
	laneHits = new Set(q ? [...lanes.cpus, ...lanes.tasks].filter((l) => l.label.toLowerCase().includes(q)) : []);
	let count = 0;
	for (let id = 0; matcher && id < n + marks.n; id++)
		count += matcher(id);
	el.matched.textContent = !q ? '' : laneHits.size + (laneHits.size === 1 ? ' lane, ' : ' lanes, ') + count.toLocaleString('en') +
		(count === 1 ? ' event' : ' events');
	el.next.disabled = el.fits.disabled = !matcher;
	list.refresh(matcher);
};
const nextHit = (step) => {
	const id = matcher ? list.next(step, matcher) : -1;
	if (id >= 0)
		choose(id);
	else if (laneHits.size)
		bringLane([...laneHits][0]);
};
// The next event of the lane that is chosen.
const nextInLane = (step) => {
	const l = lanes.byKey.get(state.lane);
	const fits = !l ? () => true : l.type === 'cpu' ? (id) => data.cpuOf(id) === l.cpu && (id >= n || kind[id] === RUN) :
		l.type === 'process' ? (id) => l.tasks.some((o) => o === lanes.laneOf(id)) : (id) => lanes.laneOf(id) === l;
	const id = list.next(step, fits), lane = state.lane;
	if (id < 0)
		return;
	choose(id);
	state.lane = lane;
};

// ---- the critical path ----

let stepAt = -1;
const pathText = () => {
	const p = lanes.spans.get(state.path);
	if (!p)
		return '';
	const s = stepAt >= 0 ? p.steps[stepAt] : -1, lost = p.steps.filter((k) => !lanes.laneOfStep[k] || !lanes.laneOfStep[k].shown).length;
	return 'Path ' + p.number + ': ' + data.amount(p.to - p.from) + ', ' + p.steps.length.toLocaleString('en') + ' steps' +
		(s >= 0 ? '; step ' + (stepAt + 1) + ': ' + data.threadLabel(lanes.laneOfStep[s]?.who || 0) + ' ' + stepWords(s) : '') +
		(lost ? '; ' + lost + ' steps are in lanes that are not shown' : '');
};
const stepWords = (s) => (data.texts[steps.state[s]] || '').replace('[running]', 'running') + ' ' + data.amount(steps.dur[s]);
const showPath = (number) => change(() => {
	const p = lanes.spans.get(number);
	stepAt = -1;
	state.path = p ? number : 0;
	state.order = p ? 'path' : state.order === 'path' ? 'time' : state.order;
	if (p)
		[state.from, state.to] = [Math.max(p.from - (p.to - p.from) / 20, first), Math.min(p.to + (p.to - p.from) / 20, last)];
});
const toStep = (by) => {
	const p = lanes.spans.get(state.path);
	if (!p)
		return;
	stepAt = stepAt < 0 ? (by > 0 ? 0 : p.steps.length - 1) : Math.max(Math.min(stepAt + by, p.steps.length - 1), 0);
	const s = p.steps[stepAt], l = lanes.laneOfStep[s], i = l ? l.all[data.after(l.all, steps.start[s] + steps.dur[s] / 2)] : undefined;
	if (i !== undefined && start[i] <= steps.start[s] + steps.dur[s] / 2)
		choose(i);
	bring(steps.start[s], steps.dur[s]);
	el.step.textContent = pathText();
};

// ---- lanes: which, and in which order ----

const laneList = () => [...lanes.view.pinned, ...lanes.view.rest].filter((l) => l.key);
const laneNow = () => lanes.byKey.get(state.lane);
const stepLane = (by) => {
	const all = laneList(), k = all.indexOf(laneNow());
	const l = all[k < 0 ? 0 : Math.max(Math.min(k + by, all.length - 1), 0)];
	if (!l)
		return;
	state.lane = l.key;
	bringLane(l);
	update(true);
};
const moveLane = (l, by) => {
	const all = laneList().filter((o) => (o.type === 'cpu' || o.type === 'irq') === (l.type === 'cpu' || l.type === 'irq')), k = all.indexOf(l);
	const to = by === -Infinity ? 0 : k + by;
	if (k < 0 || to < 0 || to >= all.length || to === k)
		return;
	placeLane(l, to < k ? all[to] : all[to + 1]);
};
const placeLane = (l, next) => change(() => state.moved.push([l.key, next ? next.key : '']));
const hideLane = (l) => {
	const all = laneList(), k = all.indexOf(l);
	change(() => {
		state.hidden.add(l.key);
		state.lane = (all[k + 1] || all[k - 1] || {key: ''}).key;
	}, true);
};
const onlyThese = (some) => change(() => {
	state.only = new Set(some.map((l) => l.key));
	state.hidden = new Set();
}, true);
const showAll = () => change(() => {
	state.hidden = new Set();
	state.only = null;
	state.moved = [];
}, true);
const fold = (l) => {
	const p = l && (l.type === 'process' ? l : l.process);
	if (state.order !== 'process' || !p)
		return;
	change(() => {
		if (!state.folded.delete(p.key))
			state.folded.add(p.key);
		state.lane = p.key;
	});
};
const foldAll = () => change(() => {
	state.order = 'process';
	state.folded = new Set(state.folded.size ? [] : lanes.processes.map((p) => p.key));
});

const searchNow = () => {
	clearTimeout(search.later);
	if (search.done !== state.query)
		search();
};
const on = {searchNow, draw: draw_, lanes, data, state, el, redraw, update, setView, zoom, choose, change, showAll, hideLane, onlyThese, moveLane,
	placeLane, fold, foldAll, stepLane, nextHit, nextInLane, showPath, toStep, stepWords, laneNow, arrange,
	hits: () => [...laneHits].filter((l) => l.type === 'task'), back: () => {
		const text = before.pop();
		if (text === undefined)
			return;
		fromHash(text);
		search();
		arrange();
	}};
timelineInput(on);
el.search.addEventListener('input', () => {
	state.query = el.search.value;
	clearTimeout(search.later);
	search.later = setTimeout(() => {
		searchNow();
		update(true);
	}, 100);
});
el.view.addEventListener('scroll', () => {
	state.y = Math.round(el.view.scrollTop);
	update(true);
});
for (const id of ['pointerdown', 'keydown'])
	addEventListener(id, () => el.step.textContent = pathText());

// ---- the beginning ----

addEventListener('resize', () => requestAnimationFrame(() => {
	arrange();
	list.resize();
}));
addEventListener('hashchange', () => {
	if (location.hash.slice(1) === toHash())
		return;
	fromHash(location.hash.slice(1));
	search();
	arrange();
});
matchMedia('(prefers-color-scheme: dark)').addEventListener('change', () => {
	draw_.colours();
	arrange();
});
// What a test can ask, beside what is seen.
window.psvgTimeline = {times: [], drew: (ms) => window.psvgTimeline.times.push(ms), data, lanes, state, draw: draw_, list, choose};
draw_.colours();
fromHash(location.hash.slice(1));
if (!location.hash && lanes.paths.length)
	[state.path, state.order] = [lanes.paths[0].number, 'path'];
const unfinished = data.open.reduce((sum, v) => sum + v, 0);
el.note.textContent = [about.partial ? 'Partial: the recording was damaged or cut off.' : '',
	about.losses.length ? 'Events were lost: what is hatched is not known.' : ''].filter((s) => s).join(' ');
byId('subtitle').textContent += (byId('subtitle').textContent ? '; ' : '') + (n - unfinished).toLocaleString('en') +
	(n - unfinished === 1 ? ' interval' : ' intervals') + (unfinished ? ', ' + unfinished + ' unfinished' : '') + (marks.n ? ', ' + marks.n.toLocaleString('en') + ' other events' : '') +
	(about.from ? ', from ' + about.from : '');
arrange();
// The picture is there before the list and the sums are.
await new Promise((done) => requestAnimationFrame(() => setTimeout(done)));
document.documentElement.dataset.drawn = Math.round(performance.now());
search();
update();
document.documentElement.dataset.ready = Math.round(performance.now());
})();
