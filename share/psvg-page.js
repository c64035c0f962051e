// The script inside psvg's pages of flame graphs: the state, the picture on a canvas, the table of functions; the tree
// and its views are in psvg-page-tree.js, keys in psvg-page-input.js.
// The build drops indentation, empty lines and lines that are only a comment.
(async () => {
'use strict';
const {byId} = psvgData;
const about = JSON.parse(byId('about').textContent);
const diff = about.diff, unit = about.unit && ' ' + about.unit;
const MERGED = flameMerged, NAMES = flameNames;

// ---- the state: what a link carries ----

const first = () => ({inverted: about.inverted, reverse: about.reverse, order: 'name',
	palette: about.palettes[about.palette], zoom: [], half: '', sandwich: null, hide: [], only: [],
	query: about.search, ignoreCase: false, sort: 'self', table: true, thread: '', gone: !!diff && diff.gone});
const state = first();

// Steps of a zoom: a name, and which of the siblings of that name if it is not the first.
const toStep = ([s, nth]) => encodeURIComponent(s).replace(/~/g, '%7E') + (nth ? '~' + nth : '');
const fromStep = (s) => {
	const [text, nth] = s.split('~');
	return [decodeURIComponent(text), +nth || 0];
};
const toHash = () => {
	const parts = [], d = first();
	for (const key of ['inverted', 'reverse', 'ignoreCase', 'table', 'gone'])
		if (state[key] !== d[key])
			parts.push(key.toLowerCase() + '=' + (state[key] ? 1 : 0));
	for (const key of ['order', 'palette', 'sort', 'thread', 'query'])
		if (state[key] !== d[key])
			parts.push((key === 'query' ? 'search' : key) + '=' + encodeURIComponent(state[key]));
	for (const key of ['hide', 'only'])
		for (const s of state[key])
			parts.push(key + '=' + encodeURIComponent(s));
	if (state.sandwich !== null)
		parts.push('sandwich=' + encodeURIComponent(state.sandwich));
	if (state.zoom.length)
		parts.push('zoom=' + state.half + state.zoom.map(toStep).join(';'));
	return parts.join('&');
};
const fromHash = (text) => {
	Object.assign(state, first());
	for (const part of text.split('&')) {
		const at = part.indexOf('='), key = part.slice(0, at), raw = part.slice(at + 1);
		let value;
		try {
			value = decodeURIComponent(raw);
			if (key === 'zoom') {
				state.half = raw[0] === '^' ? '^' : '';
				state.zoom = raw.slice(state.half.length).split(';').map(fromStep);
			}
		} catch (e) {
			continue;
		}
		if (key === 'inverted' || key === 'reverse' || key === 'table' || key === 'gone' && diff)
			state[key] = value === '1';
		else if (key === 'ignorecase')
			state.ignoreCase = value === '1';
		else if (key === 'order' && (value === 'name' || value === 'size' || value === 'time' && times) ||
			key === 'thread' && times && times.indexOf(value) >= 0 ||
			key === 'palette' && about.palettes.includes(value) ||
			key === 'sort' && ['name', 'self', 'total', 'change'].includes(value))
			state[key] = value;
		else if (key === 'search')
			state.query = value;
		else if (key === 'sandwich')
			state.sandwich = value;
		else if (key === 'hide' || key === 'only')
			state[key].push(value);
	}
};

// What is seen: what all counts, and before something was hidden; the greatest difference of a frame; the trees, and
// their frames by line; what is searched, under the mouse and has the focus; rows of the table.
const view = {all: 0, baseAll: 0, functions: [], whole: 0, most: 1, waiting: null, main: null, callers: null, zoomed: null, lines: [],
	rootLine: 0, hits: null, hover: -1, cursor: null, limit: 0};
const {share, baseWeight, baseWhole, classIn, classes, end, goneSelf, idOf, kidsOf, n, name, names, pathOf, plant, rank, seek,
	sum, sumWaiting, tally, times, total, verdict, wallAt, weight} = await flameTree(about, state, view);

// ---- colours ----

const encoder = new TextEncoder();
const hashOf = (text) => {
	let h = 2166136261;
	for (const c of encoder.encode(text))
		h = Math.imul(h ^ c, 16777619);
	h = Math.imul(h ^ h >>> 15, 0x85ebca6b);
	return (h ^ h >>> 13) >>> 0;
};
const shade = (c, text) => {
	const r = about.ranges[c], h = hashOf(text);
	const channel = (k, bits) => r[k] + ((bits & 0x3ff) * (r[k + 1] - r[k] + 1) >>> 10);
	const hex = (v) => v.toString(16);
	return '#' + hex(channel(0, h)) + hex(channel(2, h >>> 10)) + hex(channel(4, h >>> 20));
};
let fills = [];
const fillOf = (id) => {
	if (fills[id])
		return fills[id];
	if (id < NAMES)
		return fills[id] = id < 0 ? '#dddddd' : '#bbbbbb';
	const palette = about.palettes.indexOf(state.palette), scheme = about.schemes.indexOf(palette);
	const at = (id - NAMES) * about.schemes.length;
	let c = classes[at] === about.unknown ? about.unknown : palette;
	if (scheme >= 0)
		c = classes[at + scheme];
	return fills[id] = shade(c, names[id]);
};
// With the palette of states a function is hot or cold by what most of its frame is.
const stateFill = (v) => {
	if (!view.waiting)
		sumWaiting();
	const part = v.list && total[v.node] > 0 ? v.total / total[v.node] : 1;
	const cold = part * v.nodes.reduce((s, node) => s + view.waiting[node], 0);
	return !v.up && 2 * cold > v.total && v.id >= NAMES && classIn(v.id, wallAt) < about.cold &&
		classIn(v.id, wallAt) !== about.unknown ? shade(about.cold, names[v.id]) : fillOf(v.id);
};
const ownOf = (v, w) => {
	let s = 0;
	for (let k = 0; k < v.nodes.length; k++)
		s += v.up ? 0 : w[v.nodes[k]];
	return s;
};
const scaled = (v) => state.gone ? -v.total : v.total - v.base;
const judged = (v) => {
	for (const node of v.nodes)
		if (verdict[node])
			return verdict[node];
	return 0;
};
const diffFill = (v) => {
	let delta = diff.leaf && !v.up && !state.gone ? ownOf(v, weight) - ownOf(v, baseWeight) : scaled(v);
	if (diff.judged && !diff.leaf) {
		const sign = v.id >= 0 && !v.up ? judged(v) : 0;
		if (!sign)
			return '#c8c8c8';
		delta = sign * Math.max(Math.abs(delta), view.most / 16);
	}
	if (v.id < 0 && !diff.leaf)
		delta = 0;
	let part = Math.min(Math.abs(delta) / view.most, 1);
	if (!diff.leaf)
		part = Math.sqrt(part);
	const pale = diff.leaf ? Math.floor(210 * (1 - part)) : 80 + Math.floor(140 * (1 - part));
	const p = pale.toString(16).padStart(2, '0');
	if (diff.negate)
		delta = -delta;
	return delta > 0 ? '#ff' + p + p : delta < 0 ? '#' + p + p + 'ff' : diff.leaf ? '#ffffff' : '#eeeeee';
};
const colour = (v) => diff && v.id !== MERGED ? diffFill(v) : state.palette === 'wall' ? stateFill(v) : fillOf(v.id);

// ---- words ----

const percent = (part, of) => part >= of ? '100%' : share(part, of).toFixed(2) + '%';
const number = (v) => v.toLocaleString('en-US', {maximumFractionDigits: 3});
const scales = {' ns': [['s', 1e9], ['ms', 1e6], ['us', 1e3]], ' bytes': [['GiB', 2 ** 30], ['MiB', 2 ** 20], ['KiB', 1024]]};
const brief = (v) => {
	const scale = (scales[unit] || []).find((s) => v >= s[1]);
	return scale ? +(v / scale[1]).toPrecision(3) + ' ' + scale[0] : number(v) + unit;
};
const signed = (v, digits) => (v < 0 ? '-' : '+') + Math.abs(v).toFixed(digits);
const nameOf = (v) => v.id < 0 ? 'all' : names[v.id];
const shown = (v) => nameOf(v).replace(/_\[[kijw]\]$/, '');
// A name without parameters and the arguments of templates, for where the whole one has no room.
const terse = (text) => {
	let depth = 0, s = '';
	for (const c of text)
		if (c === '<' || c === '(')
			depth++;
		else if (depth && (c === '>' || c === ')'))
			depth--;
		else if (!depth)
			s += c;
	return s.replace(/^(::)+/, '').trim() || text;
};
const describe = (v) => {
	let s = (about.nametype ? about.nametype + ' ' : '') + nameOf(v) + ' (' + number(v.total) + unit + ', ' +
		percent(v.total, view.all) + ')';
	if (brief(v.total) !== number(v.total) + unit)
		s += '; ' + brief(v.total);
	if (view.zoomed && view.zoomed.above && v !== view.zoomed && v.total < view.zoomed.total)
		s += '; ' + percent(v.total, view.zoomed.total) + ' of zoomed';
	if (v.list)
		s += times.describe(v);
	if (state.gone)
		s += '; gone; before ' + share(v.total, baseWhole).toFixed(2) + '%';
	else if (diff) {
		s += '; before ' + share(v.base, view.baseAll).toFixed(2) + '%; ' +
			signed(share(v.total, view.all) - share(v.base, view.baseAll), 2) + ' points' +
			(v.base > 0 ? '; ' + signed(share(v.total - v.base, v.base), 1) + '%' : '; new');
		if (diff.judged && !v.up)
			s += judged(v) ? '; significantly ' + (judged(v) > 0 ? 'more' : 'less') : '; not significant';
	}
	return s;
};
const describeRect = (r) => r.v ? describe(r.v) : number(r.many) + ' frames too narrow to draw, merged (' +
	number(r.sum) + unit + ', ' + percent(r.sum, view.all) + '); zoom in to see them';

// ---- the elements ----

const make = (tag, attrs, ...inside) => {
	const e = document.createElement(tag);
	for (const key in attrs)
		e.setAttribute(key, attrs[key]);
	e.append(...inside);
	return e;
};
const button = (id, text, title) => make('button', {id, type: 'button', title}, text);
const select = (id, label, options) => {
	const s = make('select', {id, 'aria-label': label}, ...options.map((o) => make('option', {value: o[0]}, o[1])));
	return s;
};
const el = {
	reset: button('reset', 'Reset zoom', 'Escape'),
	undo: button('undo', 'Undo', 'Ctrl-Z'),
	inverted: button('inverted', 'Icicle', 'The root at the top (i)'),
	reverse: button('reverse', 'From the leaf', 'Merge stacks from their leaf (r)'),
	order: select('order', 'Order of callees', [['name', 'By name'], ['size', 'Largest first'],
		...(times ? [['time', 'In the order of time']] : [])]),
	thread: select('thread', 'Thread', times ? [['', 'All threads'], ...times.byTotal.slice(0, 2000).map((k) =>
		[times.threads[k].tid, times.threads[k].label])] : []),
	palette: select('palette', 'Colours', about.palettes.map((p) => [p, p === 'safe' ? 'safe (colour-blind)' : p])),
	search: make('input', {id: 'search', type: 'search', placeholder: 'Search (regular expression)',
		'aria-label': 'Search by regular expression', title: 'Ctrl-F, F3 or /', spellcheck: 'false'}),
	matchCase: button('case', 'Aa', 'Match case'),
	matched: make('span', {id: 'matched', 'aria-live': 'polite'}),
	tableOn: button('tableon', 'Table', 'The table of functions (t)'),
	gone: button('gone', 'Gone', 'Only what the new profile does not have, as wide as it was (g)'),
	save: button('save', 'Save SVG', 'This view as a picture'),
	chips: make('div', {id: 'chips'}),
	details: make('p', {id: 'details'}),
	canvas: make('canvas', {}),
	item: make('div', {id: 'item', role: 'treeitem', 'aria-selected': 'true', 'aria-live': 'polite'}),
	spacer: make('div', {id: 'spacer'}),
	tree: make('div', {id: 'tree', role: 'tree', tabindex: '0', 'aria-activedescendant': 'item',
		'aria-label': 'Frames: arrow keys move, Enter zooms, m opens a menu, Escape zooms out'}),
	head: make('tr', {}),
	body: make('tbody', {}),
	more: button('more', 'More', 'Show more functions'),
	tableNote: make('span', {id: 'tablenote'}),
	tip: make('div', {id: 'tip', hidden: ''}),
	menu: make('div', {id: 'menu', role: 'menu', hidden: ''}),
	print: make('div', {id: 'print', 'aria-hidden': 'true'}),
};
el.tree.append(el.canvas, el.spacer, el.item);
const side = make('div', {id: 'side'}, make('table', {}, make('caption', {}, 'Functions'), make('thead', {}, el.head), el.body),
	make('p', {}, el.tableNote, ' ', el.more));
document.querySelector('main').append(make('div', {id: 'bar', role: 'toolbar', 'aria-label': 'View'}, el.reset, el.undo,
	el.inverted, el.reverse, ...(about.chart ? [] : [el.order]), ...(times ? [el.thread] : []), ...(diff ? [el.gone] : [el.palette]), el.search, el.matchCase, el.matched, el.tableOn,
	el.save), el.chips, el.details, el.print, make('div', {id: 'both'}, el.tree, side));
if (diff) {
	const keys = [['d1', 'more'], ['d2', 'a little more'], ['d3', 'the same'], ['d4', 'a little less'], ['d5', 'less']];
	const shades = keys.map((k) => k[0]);
	if (diff.negate)
		shades.reverse();
	const legend = keys.map((k, i) => make('span', {class: shades[i]}, k[1]));
	if (diff.judged && !diff.leaf)
		legend.push(make('span', {class: 'd6'}, 'not significant'));
	el.legend = make('div', {id: 'legend'}, ...legend);
	el.details.before(el.legend);
	el.gone.disabled = !goneSelf;
}
document.body.append(el.tip, el.menu, byId('account'));
const root = document.documentElement;
if (about.back) {
	root.style.setProperty('--back', about.back);
	root.classList.add('light');
}
const family = (about.font ? '"' + about.font.replace(/["\\]/g, '') + '", ' : '') + 'Verdana, DejaVu Sans, sans-serif';
root.style.setProperty('--family', family);
if (about.width)
	document.querySelector('main').style.maxWidth = about.width + 'px';

// ---- the picture ----

const row = about.row, size = about.size, pad = 3;
const pen = el.canvas.getContext('2d');
const fit = psvgFitting(pen);

// Frames of a line of the picture, from left to right: {v, x, w}; merged ones have no v, but `many`,
// their `sum`, and whose callees they are.
const NARROW = 0.7;
const callees = (r, line) => {
	const scale = r.w / r.v.total;
	let run = null;
	const close = () => {
		if (run && run.w >= NARROW / 2)
			line.push(run);
		run = null;
	};
	for (const k of kidsOf(r.v)) {
		const x = r.x + (k.start - r.v.start) * scale, w = k.total * scale;
		if (w >= NARROW && k.id !== MERGED) {
			close();
			line.push({v: k, x, w});
			continue;
		}
		if (run && x - run.x - run.w > 0.1)
			close();
		if (!run)
			run = {v: null, x, w: 0, many: 0, sum: 0, above: r.v};
		run.w = x + w - run.x;
		run.many++;
		run.sum += k.total;
	}
	close();
};
const stack = (from, x, w) => {
	const levels = [];
	let v = from;
	for (; v.above; v = v.above)
		levels.unshift([{v: v.above, x, w, faded: true}]);
	let line = [{v: from, x, w}];
	while (line.length) {
		const next = [];
		levels.push(line);
		for (const r of line)
			if (r.v && r.w >= 1)
				callees(r, next);
		line = next;
	}
	return levels;
};
const place = (width) => {
	const down = view.zoomed && !(view.callers && view.zoomed.up);
	let list = stack(down ? view.zoomed : view.main, 0, width);
	if (view.callers) {
		const up = stack(view.zoomed.up ? view.zoomed : view.callers, 0, width);
		view.rootLine = up.length - 1;
		return up.slice(1).reverse().concat(list);
	}
	if (!state.inverted)
		list = list.reverse();
	view.rootLine = state.inverted ? 0 : list.length - 1;
	return list;
};
let theme = {};
const readTheme = () => {
	const css = getComputedStyle(root), get = (key) => css.getPropertyValue(key).trim();
	theme = {back: get('--back'), text: get('--text'), cursor: get('--cursor'), ratio: devicePixelRatio || 1};
};
const textOf = (r) => {
	const full = r.v ? shown(r.v) : number(r.many) + ' merged', text = fit(full, r.w - 2 * pad);
	return text === full || !r.v || !/[<(]/.test(full) ? text : fit(terse(full), r.w - 2 * pad);
};
const paintRect = (r, y) => {
	const x = Math.max(r.x, 0), w = Math.max(r.w - (r.w > 3 ? 0.5 : 0), 0.5);
	const hit = r.v && r.v.id >= 0 && (view.hits && view.hits[r.v.id]);
	pen.globalAlpha = r.faded ? 0.45 : 1;
	pen.fillStyle = hit ? '#e5e' : r.v ? colour(r.v) : '#bbbbbb';
	pen.fillRect(x, y, w, row - 1);
	if (r.v && r.v.id >= 0 && r.v.id === view.hover) {
		pen.strokeStyle = theme.text;
		pen.strokeRect(x + 0.5, y + 0.5, Math.max(w - 1, 0.5), row - 2);
	}
	if (r.w < size)
		return;
	const text = textOf(r);
	if (!text)
		return;
	pen.globalAlpha = 1;
	pen.fillStyle = r.faded ? theme.text : '#000';
	pen.fillText(text, x + pad, y + (row - 1) / 2 + size * 0.35);
};
const paint = () => {
	const t = el.tree, width = t.clientWidth, height = t.clientHeight, top = t.scrollTop;
	el.canvas.width = Math.round(width * theme.ratio);
	el.canvas.height = Math.round(height * theme.ratio);
	el.canvas.style.width = width + 'px';
	el.canvas.style.height = height + 'px';
	pen.setTransform(theme.ratio, 0, 0, theme.ratio, 0, 0);
	pen.fillStyle = theme.back;
	pen.fillRect(0, 0, width, height);
	pen.font = size + 'px ' + family;
	const offset = shift(height) - top;
	for (let k = Math.max(0, Math.floor(-offset / row)); k < view.lines.length && k * row + offset < height; k++)
		for (const r of view.lines[k])
			paintRect(r, k * row + offset);
	pen.globalAlpha = 1;
	const at = view.cursor && document.activeElement === t && find(view.cursor);
	if (at) {
		pen.strokeStyle = theme.cursor;
		pen.lineWidth = 2;
		pen.strokeRect(at.r.x + 1, at.line * row + offset + 1, Math.max(at.r.w - 2, 1), row - 3);
		pen.lineWidth = 1;
	}
};
// A graph that is lower than its place stands on the ground of it.
const shift = (height) => state.inverted || view.callers ? 0 : Math.max(0, height - view.lines.length * row);
const find = (v) => {
	for (let k = 0; k < view.lines.length; k++)
		for (const r of view.lines[k])
			if (r.v === v)
				return {r, line: k};
	return null;
};
let wanted = 0, ground = 0;
const repaint = () => {
	wanted = wanted || requestAnimationFrame(() => {
		wanted = 0;
		paint();
	});
};
const layout = (home) => {
	// What was seen at the ground of a flame graph is seen there again.
	const above = ground - el.tree.scrollTop;
	let width;
	// The canvas is still as high as its place was: it must not cause a scroll bar. The lines may, which takes width.
	el.canvas.style.height = 0;
	do {
		width = el.tree.clientWidth;
		view.lines = place(width);
		el.spacer.style.height = view.lines.length * row + 'px';
	} while (el.tree.clientWidth < width);
	ground = view.lines.length * row - el.tree.clientHeight;
	if (!home && !view.callers && !state.inverted)
		el.tree.scrollTop = ground - above;
	if (home && !view.callers)
		el.tree.scrollTop = state.inverted ? 0 : view.lines.length * row;
	else if (home)
		el.tree.scrollTop = Math.max(0, (view.rootLine + 0.5) * row - el.tree.clientHeight / 2);
	paint();
};

// ---- search ----

const pattern = () => {
	el.search.classList.remove('bad');
	if (!state.query)
		return null;
	try {
		return new RegExp(state.query, state.ignoreCase ? 'i' : '');
	} catch (e) {
		el.search.classList.add('bad');
		return undefined;
	}
};
let re = null;
const search = () => {
	re = pattern();
	view.hits = null;
	el.matched.textContent = re === undefined ? 'not a regular expression' : '';
	if (!re)
		return;
	view.hits = new Uint8Array(names.length);
	for (let id = NAMES; id < names.length; id++)
		view.hits[id] = re.test(names[id]) ? 1 : 0;
	let part = 0;
	for (let i = 1; i < n; )
		if (view.hits[name[i]]) {
			part += total[i];
			i = end[i];
		} else {
			i++;
		}
	el.matched.textContent = 'matched ' + share(part, view.all).toFixed(2) + '%';
};

// ---- the table ----

const ROWS = 100;
view.limit = ROWS;
const fillTable = () => {
	const columns = [['name', 'Function'], ['self', 'Self'], ['total', 'Total']].concat(diff && !state.gone ? [['change', 'Change']] : []);
	const sort = columns.some((c) => c[0] === state.sort) ? state.sort : 'self';
	el.head.replaceChildren(...columns.map(([key, text]) => {
		const b = make('button', {type: 'button', 'data-sort': key}, text);
		return make('th', {scope: 'col', 'aria-sort': sort !== key ? 'none' : key === 'name' ? 'ascending' : 'descending'}, b);
	}));
	const list = view.functions.filter((f) => !re || view.hits[f.id]);
	const value = (f) => sort === 'change' ? Math.abs(f.change) : f[sort];
	list.sort((a, b) => sort === 'name' ? rank(a.id) - rank(b.id) :
		value(b) - value(a) || b.total - a.total || rank(a.id) - rank(b.id));
	const cell = (v) => {
		const td = make('td', {title: number(v) + unit}, share(v, view.all).toFixed(2) + '%');
		td.dataset.count = v;
		return td;
	};
	el.body.replaceChildren(...list.slice(0, view.limit).map((f) => {
		const b = make('button', {type: 'button', title: names[f.id]}, names[f.id]);
		const tr = make('tr', {}, make('td', {}, b), cell(f.self), cell(f.total));
		if (diff && !state.gone)
			tr.append(make('td', {class: Math.abs(f.change) < 0.005 ? '' : f.change > 0 ? 'rise' : 'fall'}, signed(f.change, 2)));
		tr.dataset.id = f.id;
		return tr;
	}));
	el.tableNote.textContent = number(Math.min(view.limit, list.length)) + ' of ' + number(list.length) + ' functions';
	el.more.hidden = list.length <= view.limit;
};

// ---- changes of the state ----

const past = [];
let scope = '';
const chip = (text, title, undo) => {
	const b = make('button', {type: 'button', title, 'aria-label': title + ': ' + text}, '\u00d7');
	b.addEventListener('click', () => change(undo));
	return make('span', {class: 'chip'}, text + ' ', b);
};
const update = (home) => {
	const begin = performance.now();
	const key = JSON.stringify([state.hide, state.only, state.gone, state.thread]);
	if (key !== scope) {
		scope = key;
		sum();
		tally();
	}
	const bad = state.sandwich !== null && idOf(state.sandwich) < 0;
	const planted = JSON.stringify([key, state.sandwich, state.reverse, state.order]);
	if (planted !== plant.key) {
		plant.key = planted;
		plant();
	}
	seek();
	view.cursor = view.zoomed;
	search();
	el.reset.hidden = !view.zoomed.above;
	el.undo.disabled = !past.length;
	el.inverted.setAttribute('aria-pressed', state.inverted);
	el.inverted.disabled = !!view.callers;
	el.reverse.setAttribute('aria-pressed', state.reverse);
	el.reverse.disabled = !!view.callers || state.order === 'time';
	el.matchCase.setAttribute('aria-pressed', !state.ignoreCase);
	el.gone.setAttribute('aria-pressed', state.gone);
	if (diff)
		el.legend.hidden = state.gone;
	el.tableOn.setAttribute('aria-pressed', state.table);
	side.hidden = !state.table;
	el.order.value = state.order;
	el.thread.value = state.thread;
	el.palette.value = state.palette;
	if (el.search.value !== state.query)
		el.search.value = state.query;
	if (fillOf.palette !== state.palette) {
		fills = [];
		fillOf.palette = state.palette;
	}
	el.chips.replaceChildren(
		...(state.palette === 'wall' && !diff ? stateChips() : []),
		...(state.gone ? [chip('only what is gone: ' + percent(view.whole, baseWhole) + ' of the base', 'Show what is there', () => {
			state.gone = false;
		})] : []),
		...(state.sandwich === null ? [] : [chip((bad ? 'not here: ' : 'callers and callees of ') + state.sandwich, 'Close', () => {
			state.sandwich = null;
			state.zoom = [];
			state.half = '';
		})]),
		...['hide', 'only'].flatMap((list) => state[list].map((s) => chip((list === 'hide' ? 'without ' : 'only ') + s, 'Show all again', () => {
			state[list] = state[list].filter((other) => other !== s);
		}))));
	if (state.hide.length + state.only.length)
		el.chips.append(' ' + percent(total[0], view.whole) + (state.gone ? ' of it' : ' of all') + ' is left');
	fillTable();
	layout(home);
	tell(view.zoomed);
	root.dataset.took = performance.now() - begin;
};
const remember = (replace) => {
	const url = location.href.split('#')[0] + '#' + toHash();
	try {
		if (replace)
			history.replaceState(null, '', url);
		else
			history.pushState(null, '', url);
	} catch (e) {
		// A sandboxed frame: there is no link to keep.
	}
};
const change = (what, home) => {
	const before = toHash();
	what();
	if (toHash() === before)
		return;
	past.push(before);
	view.limit = ROWS;
	update(home);
	remember(false);
};
const undo = () => {
	if (!past.length)
		return;
	fromHash(past.pop());
	update(true);
	remember(false);
};
const zoomTo = (v) => change(() => {
	state.zoom = pathOf(v);
	state.half = view.callers && v.up && v.above ? '^' : '';
});
const sandwich = (id) => change(() => {
	state.sandwich = names[id];
	state.zoom = [];
	state.half = '';
}, true);
const restrict = (list, id) => change(() => {
	if (!state[list].includes(names[id]))
		state[list] = state[list].concat(names[id]);
	if (list === 'hide' && state.sandwich === names[id])
		state.sandwich = null;
});
const tell = (v) => {
	const text = v ? describe(v) : '';
	el.details.textContent = text;
	el.item.textContent = text;
	if (v)
		el.item.setAttribute('aria-level', v.level + 1);
};

// The legend of the palette of states: each switches the stacks of its state off.
const stateChips = () => view.functions.filter((f) => classIn(f.id, wallAt) > about.cold).sort((a, b) => b.total - a.total).map((f) => {
	const b = chip(names[f.id] + ' ' + percent(f.total, view.all), 'Hide', () => {
		state.hide.push(names[f.id]);
	});
	b.style.background = fillOf(f.id);
	b.style.color = '#000';
	return b;
});

const {toSVG} = flameInput({state, view, ROWS, about, change, colour, describe, describeRect, el, family, fillTable, find, fit, goneSelf, make, names,
	pad, paint, place, remember, repaint, restrict, root, row, sandwich, search, shift, size, tell, textOf, undo,
	zoomTo});

// ---- the beginning ----

matchMedia('(prefers-color-scheme: dark)').addEventListener('change', () => {
	readTheme();
	paint();
});
for (const event of ['hashchange', 'popstate'])
	addEventListener(event, () => {
		if (location.hash.slice(1) !== toHash()) {
			fromHash(location.hash.slice(1));
			update(true);
		}
	});
readTheme();
pen.font = size + 'px ' + family;
fromHash(location.hash.slice(1));
update(true);
new ResizeObserver(() => {
	readTheme();
	layout(view.lines.length * row <= el.tree.clientHeight);
}).observe(el.tree);
// What a test can ask, beside what is seen.
root.dataset.ready = '1';
window.psvgPage = {rects: () => view.lines.flatMap((line, k) => line.map((r) => ({name: r.v ? nameOf(r.v) : null, line: k, x: r.x,
	w: r.w, total: r.v ? r.v.total : r.sum, many: r.many, fill: r.v ? colour(r.v) : '', faded: !!r.faded}))),
svg: () => toSVG(1200), terse, shift: () => shift(el.tree.clientHeight)};
})();
