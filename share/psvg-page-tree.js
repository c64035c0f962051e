// The tree of psvg's flame graphs: its nodes, sums of what is not hidden, and views of it from either side.
// The build drops indentation, empty lines and lines that are only a comment.
const flameMerged = 0, flameSelf = 1, flameNames = 2;
// In `view` are what all counts, and the trees that are seen; `state` is the page's.
const flameTree = async (about, state, view) => {
'use strict';
const {byId, column, numbers} = psvgData;
const diff = about.diff, MERGED = flameMerged, SELF = flameSelf, NAMES = flameNames;
const share = (part, of) => of > 0 ? 100 * part / of : 0;

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

// ---- sums of what is not hidden ----

const weight = new Float64Array(n), total = new Float64Array(n), out = new Uint8Array(n);
// Of the palette of states, what of each node is waiting: found when that palette asks.
const wallAt = about.schemes.indexOf(about.palettes.indexOf('wall'));
const classIn = (id, scheme) => id < NAMES ? -1 : classes[(id - NAMES) * about.schemes.length + scheme];
const baseWeight = diff && new Float64Array(n), baseTotal = diff && new Float64Array(n);

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
	view.whole = thread >= 0 ? times.threads[thread].total : gone ? gone.reduce((a, v) => a + v, 0) : about.all;
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
	view.waiting = null;
	view.all = state.hide.length + state.only.length ? total[0] : Math.max(total[0], view.whole);
	view.baseAll = diff ? baseTotal[0] : 0;
	view.most = gone ? total.reduce((a, v, i) => i ? Math.max(a, v) : a, 0) : diff && diff.most;
	if (!(view.most > 0))
		view.most = 1;
};
// The classes of states follow those of functions.
const sumWaiting = () => {
	view.waiting = new Float64Array(n);
	for (let i = n - 1; i > 0; i--) {
		if (classIn(name[i], wallAt) > about.cold)
			view.waiting[i] = total[i];
		view.waiting[parent[i]] += view.waiting[i];
	}
};
// Of each function: what it counts itself, and with callees, where a call within a call counts once.
const tally = () => {
	const own = new Float64Array(names.length), sumOf = new Float64Array(names.length);
	const before = new Float64Array(names.length), until = new Int32Array(names.length);
	for (let i = 1; i < n; i++) {
		const id = name[i];
		own[id === SELF ? name[parent[i]] : id] += parent[i] || id !== SELF ? weight[i] : 0;
		if (id === SELF || i < until[id])
			continue;
		until[id] = end[i];
		sumOf[id] += total[i];
		if (diff)
			before[id] += baseTotal[i];
	}
	view.functions = [];
	for (let id = 0; id < names.length; id++)
		if (sumOf[id] > 0 || before[id] > 0)
			view.functions.push({id, self: own[id], total: sumOf[id], before: before[id],
				change: diff ? share(sumOf[id], view.all) - share(before[id], view.baseAll) : 0});
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
const plant = () => {
	const id = state.sandwich === null ? -1 : idOf(state.sandwich);
	view.callers = null;
	if (state.sandwich !== null && id >= 0) {
		view.main = frame(id, false);
		view.callers = frame(id, true);
		stamps++;
		outermost(id, (i) => {
			addNode(view.main, i, total[i], diff ? baseTotal[i] : 0);
			addNode(view.callers, i, total[i], diff ? baseTotal[i] : 0);
		});
		return;
	}
	view.main = frame(-1, state.reverse);
	view.main.nodes = [0];
	view.main.total = view.all;
	view.main.base = view.baseAll;
	if (!timed())
		return;
	view.main.list = times.list(state.thread ? times.indexOf(state.thread) : -1);
	Object.assign(view.main, {node: 0, from: 0, to: view.main.list.length});
};
const seek = () => {
	view.zoomed = state.half === '^' && view.callers ? view.callers : view.main;
	for (const [text, nth] of state.zoom) {
		const kid = kidsOf(view.zoomed).find((k) => names[k.id] === text && k.nth === nth) ||
			kidsOf(view.zoomed).find((k) => names[k.id] === text);
		if (!kid)
			break;
		view.zoomed = kid;
	}
};
const pathOf = (v) => {
	const path = [];
	for (; v.above; v = v.above)
		path.unshift([names[v.id], v.nth]);
	return path;
};

return {share, baseWeight, baseWhole, classIn, classes, end, goneSelf, idOf, kidsOf, n, name, names, pathOf, plant, rank, seek,
	sum, sumWaiting, tally, times, total, verdict, wallAt, weight};
};
