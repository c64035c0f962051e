// The lanes of psvg's timelines: which there are, which are shown, in which order, and where.
// The build drops indentation, empty lines and lines that are only a comment.
const timelineLanes = (data) => {
'use strict';
const {kinds, threads, n, RUN, ofThread, who, kind, cpu, start, dur, steps} = data;
const TASKS = 100, GAP = 3;
// Lanes have a key, which a link carries; their parts are lists of intervals that do not overlap.
let cpus = [], tasks = [];
const byKey = new Map();
// How long each thread ran, and when it is seen first.
const run = new Float64Array(threads.length), seen = new Float64Array(threads.length).fill(Infinity);

const makeCpus = () => {
	let most = 0, buffers = 1;
	for (let i = 0; i < n; i++)
		if (cpu[i] > most)
			most = cpu[i];
	for (let m = 0; m < data.marks.n; m++)
		if (data.marks.cpu[m] > most)
			most = data.marks.cpu[m];
	for (const t of threads)
		buffers = Math.max(buffers, t[3] + 1);
	// A lane for each CPU of each recording, and for each kind of interrupt on it.
	const table = new Int32Array(buffers * (most + 1) * 33).fill(-1), keys = [], of = new Int32Array(n);
	for (let i = 0; i < n; i++) {
		const k = kind[i];
		of[i] = -1;
		if (cpu[i] < 0 || k !== RUN && ofThread[k])
			continue;
		const at = ((k === RUN ? threads[who[i]][3] * (most + 1) : 0) + cpu[i]) * 33 + (k === RUN ? 0 : k + 1);
		if (table[at] < 0)
			table[at] = keys.push(at) - 1;
		of[i] = table[at];
	}
	const ofCpu = data.gather(of, keys.length, n), ofMark = data.gather(data.marks.cpu, most + 1, data.marks.n);
	cpus = keys.map((k, c) => [k, c]).sort((a, b) => a[0] - b[0]).map(([k, c]) => {
		const what = k % 33, number = (k - what) / 33, domain = Math.floor(number / (most + 1)), id = number % (most + 1);
		return {key: (what ? 'q' + id + '.' + (what - 1) : 'c' + id) + (domain ? '.' + domain : ''), type: what ? 'irq' : 'cpu',
			cpu: id, parts: [data.part(ofCpu(c), false)], marks: what ? null : ofMark(id), full: what ? 12 : 22,
			label: 'CPU ' + id + (domain ? ' (' + (domain + 1) + ')' : '') + (what ? ' ' + kinds[what - 1] : '')};
	});
	return most + 1;
};
const makeTasks = () => {
	const of = new Int32Array(n);
	for (let i = 0; i < n; i++) {
		of[i] = ofThread[kind[i]] ? who[i] : -1;
		if (kind[i] === RUN)
			run[who[i]] += dur[i];
		if (of[i] >= 0 && start[i] < seen[who[i]])
			seen[who[i]] = start[i];
	}
	const ofTask = data.gather(of, threads.length, n);
	// Most lanes are never seen: their parts are made when they are.
	tasks = threads.map((t, w) => ({key: 't' + w, type: 'task', who: w, all: ofTask(w), full: 16, label: data.threadLabel(w), made: null,
		get parts() {
			this.made = this.made || [data.part(this.all, true)];
			return this.made;
		}})).filter((l) => l.all.length);
};
// A process has the threads of one number in one recording; of its threads the first names it.
let processes = [];
const makeProcesses = () => {
	const found = new Map(), number = new Int32Array(threads.length);
	for (const l of tasks) {
		const [tid, pid, , domain] = threads[l.who], key = (pid < 0 ? tid : pid) + '.' + domain;
		let p = found.get(key);
		if (!p)
			found.set(key, p = {key: 'p' + key, type: 'process', pid: pid < 0 ? tid : pid, tasks: [], full: 16, run: 0, number: found.size});
		p.tasks.push(l);
		p.run += run[l.who];
		number[l.who] = p.number;
		l.process = p;
	}
	processes = [...found.values()];
	for (const p of processes) {
		const first = p.tasks.find((l) => threads[l.who][0] === p.pid) || p.tasks[0];
		p.label = data.threadName(first.who) + ' (' + p.pid + '): ' + p.tasks.length + (p.tasks.length === 1 ? ' thread' : ' threads');
	}
	return number;
};
// What each process runs: a part for each CPU.
const runsOfProcesses = () => {
	const of = new Int32Array(n).fill(-1);
	for (let i = 0; i < n; i++)
		if (kind[i] === RUN && cpu[i] >= 0)
			of[i] = number[who[i]] * ncpus + cpu[i];
	const parts = data.gather(of, processes.length * ncpus, n);
	for (const p of processes)
		p.parts = [...Array(ncpus).keys()].map((c) => data.part(parts(p.number * ncpus + c), false)).filter((part) => part.all.length);
};
const ncpus = makeCpus();
makeTasks();
const number = makeProcesses();
for (const l of [...cpus, ...tasks, ...processes])
	byKey.set(l.key, l);

// ---- critical paths ----

// A step is in the lane of the thread of its number that was there then; of its name, if several were.
const laneOfStep = new Array(steps.n).fill(null);
const spans = new Map();
for (let s = 0; s < steps.n; s++) {
	const mid = steps.start[s] + steps.dur[s] / 2;
	let best = -1;
	for (const w of data.byTid.get(steps.tid[s]) || []) {
		const l = byKey.get('t' + w), i = l && l.all[data.after(l.all, mid)];
		const fits = !l ? -1 : 2 * (i !== undefined && start[i] <= mid) + (threads[w][2] === steps.comm[s]);
		if (fits > best) {
			best = fits;
			laneOfStep[s] = l;
		}
	}
	const span = spans.get(steps.span[s]);
	if (span)
		span.steps.push(s);
	else
		spans.set(steps.span[s], {number: steps.span[s], steps: [s]});
}
for (const span of spans.values()) {
	span.steps.sort((a, b) => steps.start[a] - steps.start[b]);
	span.from = steps.start[span.steps[0]];
	span.to = span.steps.reduce((t, s) => Math.max(t, steps.start[s] + steps.dur[s]), span.from);
	span.label = data.threadLabel(laneOfStep[span.steps.at(-1)]?.who || 0);
}
const paths = [...spans.values()].sort((a, b) => b.to - b.from - (a.to - a.from));

// ---- which are shown ----

const orders = [['time', 'By CPU time'], ['process', 'By process'], ['name', 'By name'], ['first', 'By first event'],
	...(paths.length ? [['path', 'On the path']] : [])];
const compare = {
	time: (a, b) => run[b.who] - run[a.who],
	name: (a, b) => a.label < b.label ? -1 : a.label > b.label ? 1 : 0,
	first: (a, b) => seen[a.who] - seen[b.who],
};
const wanted = (state) => {
	if (state.order === 'process' && processes.length && !processes[0].parts)
		runsOfProcesses();
	if (state.order === 'process')
		return [...processes].sort((a, b) => b.run - a.run).flatMap((p) =>
			[p, ...(state.folded.has(p.key) ? [] : [...p.tasks].sort(compare.time))]);
	if (state.order !== 'path')
		return [...tasks].sort(compare[state.order]);
	// From the lane in which the path ends to where it came from.
	const span = spans.get(state.path) || paths[0];
	return [...new Set([...span.steps].reverse().map((s) => laneOfStep[s]))].filter((l) => l);
};
// A lane that was moved is before the other one, or at the end; one after the other.
const moved = (list, moves) => {
	for (const [key, before] of moves) {
		const at = list.findIndex((l) => l.key === key);
		if (at < 0 || key === before)
			continue;
		const [l] = list.splice(at, 1), to = list.findIndex((o) => o.key === before);
		list.splice(to < 0 ? list.length : to, 0, l);
	}
	return list;
};
const isHidden = (state, l) => state.hidden.has(l.key) || l.type === 'task' && l.process && state.hidden.has(l.process.key) ||
	l.type === 'task' && state.only !== null && !state.only.has(l.key) || l.type === 'process' && state.only !== null &&
		!l.tasks.some((t) => state.only.has(t.key));

// CPUs are pinned above the others: there they take at most `room` pixels.
const view = {pinned: [], rest: [], others: 0, top: 0, total: 0, laneOf: new Map()};
const place = (state, room) => {
	view.pinned = moved(cpus.filter((l) => !isHidden(state, l)), state.moved);
	const all = moved(wanted(state).filter((l) => !isHidden(state, l)), state.moved);
	view.rest = state.all ? all : all.slice(0, TASKS);
	view.others = all.length - view.rest.length;
	if (view.others)
		view.rest.push({key: '', type: 'more', label: '(' + view.others + ' others)', parts: [], full: 18});
	const tall = view.pinned.reduce((h, l) => h + l.full + GAP, 0), scale = Math.min(1, room / Math.max(tall, 1));
	view.top = 0;
	for (const l of view.pinned) {
		l.y = view.top;
		l.height = Math.max(Math.floor((l.full + GAP) * scale - (scale < 0.5 ? 1 : GAP)), 2);
		view.top += Math.max((l.full + GAP) * scale, 3);
	}
	view.top = Math.ceil(view.top);
	view.total = 0;
	view.laneOf = new Map();
	for (const l of [...cpus, ...tasks, ...processes])
		l.shown = false;
	for (const l of view.rest) {
		l.y = view.total;
		l.height = l.full;
		view.total += l.full + GAP;
		if (l.type === 'task')
			view.laneOf.set(l.who, l);
	}
	for (const l of [...view.pinned, ...view.rest])
		l.shown = true;
	return view;
};
// The lane in which a row is: its thread's, its CPU's; null: none has it.
const irqLanes = new Map(cpus.filter((l) => l.type === 'irq').map((l) => [l.key, l]));
const laneOf = (id) => id >= n || !ofThread[kind[id]] ? id < n ? irqLanes.get('q' + cpu[id] + '.' + kind[id]) :
	byKey.get('c' + data.marks.cpu[id - n]) : byKey.get('t' + who[id]);

return {cpus, tasks, processes, byKey, run, orders, view, place, isHidden, laneOf, paths, spans, laneOfStep, GAP};
};
