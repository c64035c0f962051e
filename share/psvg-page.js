// The script inside psvg's pages of flame graphs: views of one tree from either side, on a canvas, and
// the table of its functions.
// The build drops indentation, empty lines and lines that are only a comment.
(async () => {
'use strict';
const {byId, column, numbers} = psvgData;
const about = JSON.parse(byId('about').textContent);
const diff = about.diff, unit = about.unit && ' ' + about.unit;
const MERGED = 0, SELF = 1, NAMES = 2;

// ---- the tree ----

// Nodes in the order callers before callees, from left to right; 0 is the root. `end` is the node
// after the last one above a node.
const n = about.n + 1;
const parent = new Int32Array(n), end = new Int32Array(n), name = new Int32Array(n);
const depth = new Uint16Array(n), verdict = new Int8Array(n);
const [namesBytes, classes, upBytes, nameBytes, selfBytes, baseBytes, verdictBytes] = await Promise.all(
	['names', 'classes', 'up', 'name', 'self', 'base', 'verdict'].map((id) => byId(id) ? column(id) : null));
const names = ['(merged: narrower frames)', ''].concat(new TextDecoder().decode(namesBytes).split('\0'));
names.length -= 1;
// What a column of counts gives for each node after the root.
const counts = (bytes, root) => {
	const v = new Float64Array(n), view = new DataView(bytes.buffer, bytes.byteOffset);
	const next = numbers(bytes);
	v[0] = root;
	for (let i = 1; i < n; i++)
		v[i] = about.integers ? next() : view.getFloat64(8 * i - 8, true);
	return v;
};
const self = counts(selfBytes, about.self), base = diff && counts(baseBytes, diff.self);
{
	const up = numbers(upBytes), id = numbers(nameBytes), path = [0];
	for (let i = 1; i < n; i++) {
		const d = depth[i - 1] + 1 - up();
		depth[i] = d;
		parent[i] = path[d - 1];
		path[d] = i;
		name[i] = id();
		if (diff)
			verdict[i] = verdictBytes[i - 1] - 1;
	}
	end[0] = n;
	for (let i = n - 1; i > 0; i--) {
		end[i] = Math.max(end[i], i + 1);
		end[parent[i]] = Math.max(end[parent[i]], end[i]);
	}
}

// Samples one by one, if their times are known.
const times = about.times ? await flameTimes(about, parent, end, (node) => names[name[node]]) : null;

// ---- the state: what a link carries ----

const first = () => ({inverted: about.inverted, reverse: about.reverse, order: 'name',
	palette: about.palettes[about.palette], zoom: [], half: '', sandwich: null, hide: [], only: [],
	query: about.search, ignoreCase: false, sort: 'self', table: true, thread: '', gone: !!diff && diff.gone});
let state = first();

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
	state = first();
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

// ---- sums of what is not hidden ----

const weight = new Float64Array(n), total = new Float64Array(n), out = new Uint8Array(n);
// Of the palette of states, what of each node is waiting: found when that palette asks.
let waiting = null;
const wallAt = about.schemes.indexOf(about.palettes.indexOf('wall'));
const classIn = (id, scheme) => id < NAMES ? -1 : classes[(id - NAMES) * about.schemes.length + scheme];
const baseWeight = diff && new Float64Array(n), baseTotal = diff && new Float64Array(n);
let all = 0, baseAll = 0, functions = [], byName = new Map();
// What all was before something was hidden, and the greatest difference of a frame.
let whole = 0, most = 1;

// What each node counts that the new profile does not have; null: there is nothing.
let goneSelf = null;
if (diff) {
	const now = Float64Array.from(self), gone = new Float64Array(n);
	for (let i = n - 1; i > 0; i--)
		now[parent[i]] += now[i];
	for (let i = 1; i < n; i++)
		if (!(now[i] > 0) && base[i] > 0) {
			gone[i] = base[i];
			goneSelf = gone;
		}
}
const baseWhole = diff ? base.reduce((a, v) => a + v, 0) : 0;

const idOf = (text) => {
	const i = names.indexOf(text, NAMES);
	return i < 0 && text === names[MERGED] ? MERGED : i;
};
const sum = () => {
	const gone = state.gone && goneSelf, thread = state.thread ? times.indexOf(state.thread) : -1;
	weight.set(thread >= 0 ? times.sums(thread, n) : gone || self);
	out.fill(0);
	if (diff)
		baseWeight.set(gone || base);
	whole = thread >= 0 ? times.threads[thread].total : gone ? gone.reduce((a, v) => a + v, 0) : about.all;
	const inside = new Uint8Array(n);
	for (const [list, drop] of [[state.hide, 1], [state.only, 0]])
		for (const text of list) {
			const id = idOf(text);
			inside[0] = 0;
			for (let i = 0; i < n; i++) {
				inside[i] = i && (name[i] === id || inside[parent[i]]) ? 1 : 0;
				if (inside[i] === drop) {
					weight[i] = 0;
					out[i] = 1;
					if (diff)
						baseWeight[i] = 0;
				}
			}
		}
	for (const [w, t] of diff ? [[weight, total], [baseWeight, baseTotal]] : [[weight, total]]) {
		t.set(w);
		for (let i = n - 1; i > 0; i--)
			t[parent[i]] += t[i];
	}
	waiting = null;
	all = state.hide.length + state.only.length ? total[0] : Math.max(total[0], whole);
	baseAll = diff ? baseTotal[0] : 0;
	most = gone ? total.reduce((a, v, i) => i ? Math.max(a, v) : a, 0) : diff && diff.most;
	if (!(most > 0))
		most = 1;
};
// The classes of states follow those of functions.
const sumWaiting = () => {
	waiting = new Float64Array(n);
	for (let i = n - 1; i > 0; i--) {
		if (classIn(name[i], wallAt) > about.cold)
			waiting[i] = total[i];
		waiting[parent[i]] += waiting[i];
	}
};
// Of each function: what it counts itself, and with callees, where a call within a call counts once.
const tally = () => {
	const own = new Float64Array(names.length), whole = new Float64Array(names.length);
	const before = new Float64Array(names.length), until = new Int32Array(names.length);
	for (let i = 1; i < n; i++) {
		const id = name[i];
		own[id === SELF ? name[parent[i]] : id] += parent[i] || id !== SELF ? weight[i] : 0;
		if (id === SELF || i < until[id])
			continue;
		until[id] = end[i];
		whole[id] += total[i];
		if (diff)
			before[id] += baseTotal[i];
	}
	functions = [];
	byName = new Map();
	for (let id = 0; id < names.length; id++)
		if (whole[id] > 0 || before[id] > 0) {
			const f = {id, self: own[id], total: whole[id], before: before[id],
				change: diff ? share(whole[id], all) - share(before[id], baseAll) : 0};
			functions.push(f);
			byName.set(id, f);
		}
};

// ---- views: trees whose frames stand for several nodes, made as far as they are seen ----

let ranks = null;
const rank = (id) => {
	if (!ranks) {
		ranks = new Int32Array(names.length);
		[...names.keys()].sort((a, b) => names[a] < names[b] ? -1 : names[a] > names[b] ? 1 : a - b)
			.forEach((k, i) => ranks[k] = i);
	}
	return ranks[id];
};
const frame = (id, up) => ({id, up, nodes: [], counts: up ? [] : null, bases: up && diff ? [] : null,
	total: 0, base: 0, start: 0, above: null, level: 0, kids: null, nth: 0});
// Frames from node to node: of callees, each node is its own count; of callers, counts go with it.
const stamp = new Int32Array(n), slot = new Int32Array(n);
let stamps = 0;
const addNode = (f, node, count, was) => {
	f.total += count;
	f.base += was;
	if (!f.up) {
		f.nodes.push(node);
	} else if (stamp[node] === stamps) {
		f.counts[slot[node]] += count;
		if (diff)
			f.bases[slot[node]] += was;
	} else {
		stamp[node] = stamps;
		slot[node] = f.nodes.push(node) - 1;
		f.counts.push(count);
		if (diff)
			f.bases.push(was);
	}
};
const arrange = (v, kids, from) => {
	if (state.order === 'size')
		kids.sort((a, b) => b.total - a.total || rank(a.id) - rank(b.id));
	let at = from;
	for (const k of kids) {
		k.above = v;
		k.level = v.level + 1;
		k.start = at;
		at += k.total;
	}
	v.kids = kids;
};
const group = (v, up, each) => {
	const found = new Map();
	stamps++;
	each((node, count, was) => {
		const id = name[node];
		let f = found.get(id);
		if (!f)
			found.set(id, f = frame(id, up));
		addNode(f, node, count, was);
	});
	const kids = [...found.values()].filter((f) => f.total > 0).sort((a, b) => rank(a.id) - rank(b.id));
	arrange(v, kids, v.start + v.total - kids.reduce((s, k) => s + k.total, 0));
};
// Callees of a single node, in their order; in the order of time there may be several of one name.
const spread = (v) => {
	const node = v.nodes[0], kids = [], seen = new Map();
	let at = v.start + weight[node];
	for (let c = node + 1; c < end[node]; c = end[c]) {
		if (name[c] !== SELF && total[c] > 0) {
			const f = frame(name[c], false);
			f.nodes = [c];
			f.total = total[c];
			f.base = diff ? baseTotal[c] : 0;
			f.above = v;
			f.level = v.level + 1;
			f.start = at;
			f.nth = seen.get(f.id) || 0;
			seen.set(f.id, f.nth + 1);
			kids.push(f);
		}
		at += total[c];
	}
	v.kids = kids;
	if (state.order === 'size' && !about.chart)
		arrange(v, kids, v.start + weight[node]);
};
const timed = () => state.order === 'time' && !state.reverse && state.sandwich === null;
const spreadTime = (v) => {
	v.kids = times.spread(v, out, (node) => {
		const f = frame(name[node], false);
		f.nodes = [node];
		return f;
	});
};
const owner = (i) => name[i] === SELF ? parent[i] : i;
const kidsOf = (v) => {
	if (v.kids)
		return v.kids;
	if (v.list)
		spreadTime(v);
	else if (v.id < 0 && v.up)
		group(v, true, (add) => {
			for (let i = 1; i < n; i++)
				if ((weight[i] > 0 || diff && baseWeight[i] > 0) && owner(i))
					add(owner(i), weight[i], diff ? baseWeight[i] : 0);
		});
	else if (v.up)
		group(v, true, (add) => {
			for (let k = 0; k < v.nodes.length; k++)
				if (parent[v.nodes[k]])
					add(parent[v.nodes[k]], v.counts[k], diff ? v.bases[k] : 0);
		});
	else if (v.nodes.length === 1)
		spread(v);
	else
		group(v, false, (add) => {
			for (const node of v.nodes)
				for (let c = node + 1; c < end[node]; c = end[c])
					if (name[c] !== SELF)
						add(c, total[c], diff ? baseTotal[c] : 0);
		});
	return v.kids;
};
// The nodes of a function that are not within another of its own.
const outermost = (id, use) => {
	for (let i = 1; i < n; )
		if (name[i] === id) {
			use(i);
			i = end[i];
		} else {
			i++;
		}
};

// The trees of the view: `main`, and in a sandwich `callers`.
let main = null, callers = null, zoomed = null;
const plant = () => {
	const id = state.sandwich === null ? -1 : idOf(state.sandwich);
	callers = null;
	if (state.sandwich !== null && id >= 0) {
		main = frame(id, false);
		callers = frame(id, true);
		stamps++;
		outermost(id, (i) => {
			addNode(main, i, total[i], diff ? baseTotal[i] : 0);
			addNode(callers, i, total[i], diff ? baseTotal[i] : 0);
		});
		return;
	}
	main = frame(-1, state.reverse);
	main.nodes = [0];
	main.total = all;
	main.base = baseAll;
	if (!timed())
		return;
	main.list = times.list(state.thread ? times.indexOf(state.thread) : -1);
	Object.assign(main, {node: 0, from: 0, to: main.list.length});
};
const seek = () => {
	zoomed = state.half === '^' && callers ? callers : main;
	for (const [text, nth] of state.zoom) {
		const kid = kidsOf(zoomed).find((k) => names[k.id] === text && k.nth === nth) ||
			kidsOf(zoomed).find((k) => names[k.id] === text);
		if (!kid)
			break;
		zoomed = kid;
	}
};
const pathOf = (v) => {
	const path = [];
	for (; v.above; v = v.above)
		path.unshift([names[v.id], v.nth]);
	return path;
};

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
	if (!waiting)
		sumWaiting();
	const part = v.list && total[v.node] > 0 ? v.total / total[v.node] : 1;
	const cold = part * v.nodes.reduce((s, node) => s + waiting[node], 0);
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
		delta = sign * Math.max(Math.abs(delta), most / 16);
	}
	if (v.id < 0 && !diff.leaf)
		delta = 0;
	let part = Math.min(Math.abs(delta) / most, 1);
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

const share = (part, whole) => whole > 0 ? 100 * part / whole : 0;
const percent = (part, whole) => part >= whole ? '100%' : share(part, whole).toFixed(2) + '%';
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
		percent(v.total, all) + ')';
	if (brief(v.total) !== number(v.total) + unit)
		s += '; ' + brief(v.total);
	if (zoomed && zoomed.above && v !== zoomed && v.total < zoomed.total)
		s += '; ' + percent(v.total, zoomed.total) + ' of zoomed';
	if (v.list)
		s += times.describe(v);
	if (state.gone)
		s += '; gone; before ' + share(v.total, baseWhole).toFixed(2) + '%';
	else if (diff) {
		s += '; before ' + share(v.base, baseAll).toFixed(2) + '%; ' +
			signed(share(v.total, all) - share(v.base, baseAll), 2) + ' points' +
			(v.base > 0 ? '; ' + signed(share(v.total - v.base, v.base), 1) + '%' : '; new');
		if (diff.judged && !v.up)
			s += judged(v) ? '; significantly ' + (judged(v) > 0 ? 'more' : 'less') : '; not significant';
	}
	return s;
};
const describeRect = (r) => r.v ? describe(r.v) : number(r.many) + ' frames too narrow to draw, merged (' +
	number(r.sum) + unit + ', ' + percent(r.sum, all) + '); zoom in to see them';

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
	const lines = [];
	let v = from;
	for (; v.above; v = v.above)
		lines.unshift([{v: v.above, x, w, faded: true}]);
	let line = [{v: from, x, w}];
	while (line.length) {
		const next = [];
		lines.push(line);
		for (const r of line)
			if (r.v && r.w >= 1)
				callees(r, next);
		line = next;
	}
	return lines;
};
let lines = [], rootLine = 0;
const place = (width) => {
	const down = zoomed && !(callers && zoomed.up);
	let list = stack(down ? zoomed : main, 0, width);
	if (callers) {
		const up = stack(zoomed.up ? zoomed : callers, 0, width);
		rootLine = up.length - 1;
		return up.slice(1).reverse().concat(list);
	}
	if (!state.inverted)
		list = list.reverse();
	rootLine = state.inverted ? 0 : list.length - 1;
	return list;
};
let hits = null, hover = -1, cursor = null, theme = {};
const readTheme = () => {
	const css = getComputedStyle(root), get = (key) => css.getPropertyValue(key).trim();
	theme = {back: get('--back'), text: get('--text'), cursor: get('--cursor'), ratio: devicePixelRatio || 1};
};
const textOf = (r) => {
	const all = r.v ? shown(r.v) : number(r.many) + ' merged', text = fit(all, r.w - 2 * pad);
	return text === all || !r.v || !/[<(]/.test(all) ? text : fit(terse(all), r.w - 2 * pad);
};
const paintRect = (r, y) => {
	const x = Math.max(r.x, 0), w = Math.max(r.w - (r.w > 3 ? 0.5 : 0), 0.5);
	const hit = r.v && r.v.id >= 0 && (hits && hits[r.v.id]);
	pen.globalAlpha = r.faded ? 0.45 : 1;
	pen.fillStyle = hit ? '#e5e' : r.v ? colour(r.v) : '#bbbbbb';
	pen.fillRect(x, y, w, row - 1);
	if (r.v && r.v.id >= 0 && r.v.id === hover) {
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
	for (let k = Math.max(0, Math.floor(-offset / row)); k < lines.length && k * row + offset < height; k++)
		for (const r of lines[k])
			paintRect(r, k * row + offset);
	pen.globalAlpha = 1;
	const at = cursor && document.activeElement === t && find(cursor);
	if (at) {
		pen.strokeStyle = theme.cursor;
		pen.lineWidth = 2;
		pen.strokeRect(at.r.x + 1, at.line * row + offset + 1, Math.max(at.r.w - 2, 1), row - 3);
		pen.lineWidth = 1;
	}
};
// A graph that is lower than its place stands on the ground of it.
const shift = (height) => state.inverted || callers ? 0 : Math.max(0, height - lines.length * row);
const find = (v) => {
	for (let k = 0; k < lines.length; k++)
		for (const r of lines[k])
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
	lines = place(el.tree.clientWidth);
	el.spacer.style.height = lines.length * row + 'px';
	ground = lines.length * row - el.tree.clientHeight;
	if (!home && !callers && !state.inverted)
		el.tree.scrollTop = ground - above;
	if (home && !callers)
		el.tree.scrollTop = state.inverted ? 0 : lines.length * row;
	else if (home)
		el.tree.scrollTop = Math.max(0, (rootLine + 0.5) * row - el.tree.clientHeight / 2);
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
	hits = null;
	el.matched.textContent = re === undefined ? 'not a regular expression' : '';
	if (!re)
		return;
	hits = new Uint8Array(names.length);
	for (let id = NAMES; id < names.length; id++)
		hits[id] = re.test(names[id]) ? 1 : 0;
	let part = 0;
	for (let i = 1; i < n; )
		if (hits[name[i]]) {
			part += total[i];
			i = end[i];
		} else {
			i++;
		}
	el.matched.textContent = 'matched ' + share(part, all).toFixed(2) + '%';
};

// ---- the table ----

const ROWS = 100;
let limit = ROWS;
const fillTable = () => {
	const columns = [['name', 'Function'], ['self', 'Self'], ['total', 'Total']].concat(diff && !state.gone ? [['change', 'Change']] : []);
	const sort = columns.some((c) => c[0] === state.sort) ? state.sort : 'self';
	el.head.replaceChildren(...columns.map(([key, text]) => {
		const b = make('button', {type: 'button', 'data-sort': key}, text);
		return make('th', {scope: 'col', 'aria-sort': sort !== key ? 'none' : key === 'name' ? 'ascending' : 'descending'}, b);
	}));
	const list = functions.filter((f) => !re || hits[f.id]);
	const value = (f) => sort === 'change' ? Math.abs(f.change) : f[sort];
	list.sort((a, b) => sort === 'name' ? rank(a.id) - rank(b.id) :
		value(b) - value(a) || b.total - a.total || rank(a.id) - rank(b.id));
	const cell = (v) => {
		const td = make('td', {title: number(v) + unit}, share(v, all).toFixed(2) + '%');
		td.dataset.count = v;
		return td;
	};
	el.body.replaceChildren(...list.slice(0, limit).map((f) => {
		const b = make('button', {type: 'button', title: names[f.id]}, names[f.id]);
		const tr = make('tr', {}, make('td', {}, b), cell(f.self), cell(f.total));
		if (diff && !state.gone)
			tr.append(make('td', {class: Math.abs(f.change) < 0.005 ? '' : f.change > 0 ? 'rise' : 'fall'}, signed(f.change, 2)));
		tr.dataset.id = f.id;
		return tr;
	}));
	el.tableNote.textContent = number(Math.min(limit, list.length)) + ' of ' + number(list.length) + ' functions';
	el.more.hidden = list.length <= limit;
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
	const view = JSON.stringify([key, state.sandwich, state.reverse, state.order]);
	if (view !== plant.view) {
		plant.view = view;
		plant();
	}
	seek();
	cursor = zoomed;
	search();
	el.reset.hidden = !zoomed.above;
	el.undo.disabled = !past.length;
	el.inverted.setAttribute('aria-pressed', state.inverted);
	el.inverted.disabled = !!callers;
	el.reverse.setAttribute('aria-pressed', state.reverse);
	el.reverse.disabled = !!callers || state.order === 'time';
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
		...(state.gone ? [chip('only what is gone: ' + percent(whole, baseWhole) + ' of the base', 'Show what is there', () => {
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
		el.chips.append(' ' + percent(total[0], whole) + (state.gone ? ' of it' : ' of all') + ' is left');
	fillTable();
	layout(home);
	tell(zoomed);
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
	limit = ROWS;
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
	state.half = callers && v.up && v.above ? '^' : '';
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
const stateChips = () => functions.filter((f) => classIn(f.id, wallAt) > about.cold).sort((a, b) => b.total - a.total).map((f) => {
	const b = chip(names[f.id] + ' ' + percent(f.total, all), 'Hide', () => {
		state.hide.push(names[f.id]);
	});
	b.style.background = fillOf(f.id);
	b.style.color = '#000';
	return b;
});

// ---- the menu of a frame or a function ----

const stackOf = (v) => {
	const list = [];
	for (let f = v; f; f = f.above)
		if (f.id >= 0)
			list.unshift(names[f.id]);
	return (v.up ? list.reverse() : list).join(';');
};
const copy = async (text) => {
	try {
		await navigator.clipboard.writeText(text);
	} catch (e) {
		const area = make('textarea', {});
		area.value = text;
		document.body.append(area);
		area.select();
		document.execCommand('copy');
		area.remove();
	}
	root.dataset.copied = text;
	el.details.textContent = 'copied: ' + text;
};
let opener = null;
const closeMenu = () => {
	if (el.menu.hidden)
		return;
	el.menu.hidden = true;
	if (opener)
		opener.focus();
};
const openMenu = (id, v, x, y) => {
	const items = [];
	if (v)
		items.push(['Zoom', () => zoomTo(v)]);
	if (id >= 0)
		items.push(['Callers and callees', () => sandwich(id)],
			['Hide: without its stacks', () => restrict('hide', id)],
			['Isolate: only its stacks', () => restrict('only', id)],
			['Search', () => change(() => state.query = '^' + names[id].replace(/[.*+?^${}()|[\]\\]/g, '\\$&') + '$')],
			['Copy name', () => copy(names[id])]);
	if (v && id >= 0)
		items.push(['Copy stack', () => copy(stackOf(v))]);
	if (!items.length)
		return;
	opener = document.activeElement;
	el.menu.replaceChildren(...items.map(([text, act]) => {
		const b = make('button', {type: 'button', role: 'menuitem', tabindex: '-1'}, text);
		b.addEventListener('click', () => {
			closeMenu();
			act();
		});
		return b;
	}));
	el.menu.hidden = false;
	el.tip.hidden = true;
	el.menu.style.left = Math.max(0, Math.min(x, innerWidth - el.menu.offsetWidth - 4)) + 'px';
	el.menu.style.top = Math.max(0, Math.min(y, innerHeight - el.menu.offsetHeight - 4)) + 'px';
	el.menu.firstChild.focus();
};
el.menu.addEventListener('keydown', (e) => {
	const items = [...el.menu.children], at = items.indexOf(document.activeElement);
	if (e.key === 'ArrowDown' || e.key === 'ArrowUp') {
		items[(at + (e.key === 'ArrowDown' ? 1 : items.length - 1)) % items.length].focus();
		e.preventDefault();
	} else if (e.key === 'Escape' || e.key === 'Tab') {
		closeMenu();
		e.preventDefault();
	}
	e.stopPropagation();
});
document.addEventListener('pointerdown', (e) => {
	if (!el.menu.contains(e.target))
		el.menu.hidden = true;
});

// ---- mouse and keys ----

const under = (e) => {
	const box = el.tree.getBoundingClientRect();
	const x = e.clientX - box.left, y = e.clientY - box.top - shift(el.tree.clientHeight) + el.tree.scrollTop;
	const line = lines[Math.floor(y / row)] || [];
	return line.find((r) => x >= r.x && x < r.x + Math.max(r.w, 1)) || null;
};
const light = (id) => {
	if (hover !== id) {
		hover = id;
		repaint();
	}
};
el.tree.addEventListener('mousemove', (e) => {
	const r = under(e);
	light(r && r.v ? r.v.id : -1);
	el.tree.style.cursor = r ? 'pointer' : 'default';
	el.tip.hidden = !r || !el.menu.hidden;
	if (!r) {
		el.details.textContent = describe(zoomed);
		return;
	}
	el.details.textContent = el.tip.textContent = describeRect(r);
	el.tip.style.left = Math.max(0, Math.min(e.clientX + 12, innerWidth - el.tip.offsetWidth - 4)) + 'px';
	el.tip.style.top = (e.clientY + 18 + el.tip.offsetHeight > innerHeight ? e.clientY - 8 - el.tip.offsetHeight : e.clientY + 18) + 'px';
});
el.tree.addEventListener('mouseleave', () => {
	light(-1);
	el.tip.hidden = true;
	el.details.textContent = describe(zoomed);
});
el.tree.addEventListener('click', (e) => {
	const r = under(e);
	if (r)
		zoomTo(r.v || r.above);
});
el.tree.addEventListener('contextmenu', (e) => {
	const r = under(e);
	if (r && r.v && r.v.id >= 0) {
		e.preventDefault();
		openMenu(r.v.id, r.v, e.clientX, e.clientY);
	}
});
el.tree.addEventListener('scroll', repaint);
el.tree.addEventListener('focus', repaint);
el.tree.addEventListener('blur', repaint);
const idOfRow = (e) => {
	const tr = e.target.closest('tr[data-id]');
	return tr ? +tr.dataset.id : -1;
};
el.body.addEventListener('click', (e) => idOfRow(e) >= 0 && sandwich(idOfRow(e)));
el.body.addEventListener('mouseover', (e) => light(idOfRow(e)));
el.body.addEventListener('mouseleave', () => light(-1));
el.body.addEventListener('focusin', (e) => light(idOfRow(e)));
el.body.addEventListener('contextmenu', (e) => {
	if (idOfRow(e) >= 0) {
		e.preventDefault();
		openMenu(idOfRow(e), null, e.clientX, e.clientY);
	}
});
el.head.addEventListener('click', (e) => {
	if (e.target.dataset.sort) {
		state.sort = e.target.dataset.sort;
		fillTable();
		remember(true);
		el.head.querySelector('[data-sort="' + state.sort + '"]').focus();
	}
});
el.more.addEventListener('click', () => {
	limit *= 10;
	fillTable();
});
el.reset.addEventListener('click', () => zoomTo(main));
el.undo.addEventListener('click', undo);
const flip = (key) => change(() => {
	state[key] = !state[key];
	if (key === 'reverse')
		state.zoom = [];
}, true);
el.inverted.addEventListener('click', () => flip('inverted'));
el.reverse.addEventListener('click', () => flip('reverse'));
el.tableOn.addEventListener('click', () => flip('table'));
el.gone.addEventListener('click', () => flip('gone'));
const setOrder = (order) => change(() => {
	state.order = order;
	if (order === 'time')
		state.reverse = false;
	state.zoom = [];
}, true);
el.order.addEventListener('change', () => setOrder(el.order.value));
el.thread.addEventListener('change', () => change(() => {
	state.thread = el.thread.value;
	state.zoom = [];
}, true));
el.palette.addEventListener('change', () => change(() => state.palette = el.palette.value));
const searched = () => {
	limit = ROWS;
	search();
	fillTable();
	paint();
	remember(true);
};
el.search.addEventListener('input', () => {
	state.query = el.search.value;
	searched();
});
el.matchCase.addEventListener('click', () => {
	state.ignoreCase = !state.ignoreCase;
	el.matchCase.setAttribute('aria-pressed', !state.ignoreCase);
	searched();
});

// Arrow keys go to what lies above, below or beside a frame; up and down to the widest.
const neighbour = (key) => {
	const at = cursor && find(cursor);
	if (!at)
		return zoomed;
	const {r, line} = at, own = lines[line].filter((o) => o.v), k = own.indexOf(r);
	if (key === 'ArrowLeft' || key === 'ArrowRight')
		return (own[k + (key === 'ArrowLeft' ? -1 : 1)] || r).v;
	const over = (o) => Math.min(o.x + o.w, r.x + r.w) - Math.max(o.x, r.x);
	let best = null;
	for (const o of lines[line + (key === 'ArrowUp' ? -1 : 1)] || [])
		if (o.v && over(o) > 0 && (!best || o.w > best.w))
			best = o;
	return (best || r).v;
};
const moveTo = (v) => {
	const at = find(v), height = el.tree.clientHeight;
	cursor = v;
	if (at) {
		const y = at.line * row + shift(height), top = el.tree.scrollTop;
		if (y < top)
			el.tree.scrollTop = y;
		else if (y + row > top + height)
			el.tree.scrollTop = y + row - height;
	}
	tell(v);
	repaint();
};
const focusSearch = () => {
	el.search.focus();
	el.search.select();
};
const menuAtCursor = () => {
	const box = el.tree.getBoundingClientRect(), at = cursor && find(cursor);
	if (at)
		openMenu(cursor.id, cursor, box.left + Math.max(at.r.x, 0) + 20,
			box.top + at.line * row + shift(el.tree.clientHeight) - el.tree.scrollTop + row);
};
const treeKey = (e) => {
	if (/^Arrow/.test(e.key))
		moveTo(neighbour(e.key));
	else if (e.key === 'Home')
		moveTo(main);
	else if (e.key === 'Enter' && cursor)
		zoomTo(cursor);
	else if (e.key === 'm' || e.key === 'ContextMenu')
		menuAtCursor();
	else
		return;
	e.preventDefault();
};
addEventListener('keydown', (e) => {
	const at = document.activeElement, typing = at === el.search, control = e.ctrlKey || e.metaKey;
	if (e.key === 'F3' || control && e.key.toLowerCase() === 'f') {
		// A second Ctrl-F is the browser's own.
		if (typing && e.key !== 'F3')
			return;
		e.preventDefault();
		focusSearch();
	} else if (control && e.key.toLowerCase() === 'z' && !typing) {
		e.preventDefault();
		undo();
	} else if (e.key === 'Escape' && state.query && (typing || !zoomed.above)) {
		change(() => state.query = '');
	} else if (e.key === 'Escape') {
		zoomTo(main);
	} else if (typing || control || e.altKey || at && at.localName === 'select') {
		return;
	} else if (e.key === '/') {
		e.preventDefault();
		focusSearch();
	} else if (e.key === 'i' && !callers) {
		flip('inverted');
	} else if (e.key === 'o' && !about.chart) {
		const keys = [...el.order.options].map((o) => o.value);
		setOrder(keys[(keys.indexOf(state.order) + 1) % keys.length]);
	} else if (e.key === 'r' && !el.reverse.disabled) {
		flip('reverse');
	} else if (e.key === 't') {
		flip('table');
	} else if (e.key === 'g' && goneSelf) {
		flip('gone');
	} else if (at === el.tree) {
		treeKey(e);
	}
});

// ---- pictures for paper and for files ----

const escape = (s) => s.replace(/[&<>"]/g, (c) => ({'&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;'})[c]);
const toSVG = (width) => {
	const list = place(width - 20), top = 40, height = top + list.length * row + 40;
	const out = ['<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ' + width + ' ' + height + '" width="' + width +
		'" height="' + height + '" font-family="' + escape(family.replace(/"/g, '')) + '" font-size="' + size + '">',
	'<rect width="100%" height="100%" fill="' + (about.back || '#fff') + '"/>',
	'<text x="' + width / 2 + '" y="24" text-anchor="middle" font-size="' + size * 1.4 + '">' + escape(about.title) + '</text>'];
	list.forEach((line, k) => line.forEach((r) => {
		const y = top + k * row, x = 10 + r.x;
		const hit = r.v && hits && hits[r.v.id];
		out.push('<rect x="' + x.toFixed(1) + '" y="' + y + '" width="' + Math.max(r.w - (r.w > 3 ? 0.5 : 0), 0.3).toFixed(1) + '" height="' +
			(row - 1) + '" fill="' + (hit ? '#e5e' : r.v ? colour(r.v) : '#bbb') + '"' + (r.faded ? ' opacity=".45"' : '') + '><title>' +
			escape(describeRect(r)) + '</title></rect>');
		const text = r.w < size ? '' : textOf(r);
		if (text)
			out.push('<text x="' + (x + pad).toFixed(1) + '" y="' + (y + (row - 1) / 2 + size * 0.35).toFixed(1) + '">' + escape(text) + '</text>');
	}));
	out.push('<text x="10" y="' + (height - 16) + '">' + escape(fit(el.chips.textContent.replace(/\u00d7/g, ';') + ' ' + byId('account').textContent, width - 20)) +
		'</text></svg>');
	return out.join('\n');
};
el.save.addEventListener('click', () => {
	const url = URL.createObjectURL(new Blob([toSVG(1200)], {type: 'image/svg+xml'}));
	const a = make('a', {href: url, download: (about.title.replace(/[^\w.-]+/g, '-') || 'graph') + '.svg'});
	a.click();
	setTimeout(() => URL.revokeObjectURL(url), 10000);
});
addEventListener('beforeprint', () => {
	const parsed = new DOMParser().parseFromString(toSVG(1050), 'image/svg+xml');
	parsed.documentElement.removeAttribute('height');
	parsed.documentElement.setAttribute('width', '100%');
	el.print.replaceChildren(document.importNode(parsed.documentElement, true));
});
addEventListener('afterprint', () => el.print.replaceChildren());

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
	layout(lines.length * row <= el.tree.clientHeight);
}).observe(el.tree);
// What a test can ask, beside what is seen.
root.dataset.ready = '1';
window.psvgPage = {rects: () => lines.flatMap((line, k) => line.map((r) => ({name: r.v ? nameOf(r.v) : null, line: k, x: r.x,
	w: r.w, total: r.v ? r.v.total : r.sum, many: r.many, fill: r.v ? colour(r.v) : '', faded: !!r.faded}))),
svg: () => toSVG(1200), terse, shift: () => shift(el.tree.clientHeight)};
})();
