// The data of psvg's timelines: intervals and marks as columns, parts of lanes with the sums of their
// blocks, and the order of everything in time.
// The build drops indentation, empty lines and lines that are only a comment.
const timelineData = async () => {
'use strict';
const {byId, column, numbers, signed} = psvgData;
const about = JSON.parse(byId('about').textContent);
const {kinds, texts, threads, n} = about;
const first = about.first, last = Math.max(about.last, about.first + 1);
const RUN = kinds.indexOf('oncpu'), WAIT = kinds.indexOf('runq'), BLOCK = kinds.indexOf('blocked');
const ofThread = kinds.map((k) => ['oncpu', 'runq', 'blocked', 'offcpu'].includes(k));
const who = new Uint32Array(n), kind = new Uint8Array(n), open = new Uint8Array(n);
const cpu = new Int32Array(n), start = new Float64Array(n), dur = new Float64Array(n);
const name = new Uint32Array(n), waker = new Uint32Array(n);
// Of marks, which are events of other kinds, and of the steps of critical paths.
const marks = {n: about.marks, event: new Uint32Array(about.marks), cpu: new Int32Array(about.marks),
	time: new Float64Array(about.marks), tid: new Uint32Array(about.marks)};
const steps = {n: about.steps, span: new Uint32Array(about.steps), tid: new Uint32Array(about.steps),
	comm: new Uint32Array(about.steps), start: new Float64Array(about.steps), dur: new Float64Array(about.steps),
	state: new Uint32Array(about.steps)};

const decodeIntervals = async () => {
	const [a, b, c, d, e, f] = (await Promise.all(
		['who', 'kind', 'gap', 'dur', 'name', 'waker'].map(column))).map(numbers);
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
};
const decodeOthers = async () => {
	const g = numbers(await column('marks'));
	for (let i = 0, t = 0; i < marks.n; i++) {
		marks.event[i] = g();
		marks.cpu[i] = g() - 1;
		marks.time[i] = t += signed(g());
		marks.tid[i] = g();
	}
	const h = numbers(await column('steps'));
	for (let i = 0, t = 0; i < steps.n; i++) {
		steps.span[i] = h();
		steps.tid[i] = h();
		steps.comm[i] = h();
		steps.start[i] = t += signed(h());
		steps.dur[i] = h();
		steps.state[i] = h();
	}
};
await decodeIntervals();
await decodeOthers();

// 0 runs, 1 waits, 2 is blocked, 3 sleeps
const isD = Uint8Array.from(texts, (text) => text[0] === 'D' ? 1 : 0), ofClass = new Uint8Array(n);
for (let i = 0; i < n; i++)
	ofClass[i] = kind[i] === RUN ? 0 : kind[i] === WAIT ? 1 : isD[name[i]] ? 2 : 3;
const classOf = (i) => ofClass[i];
const classes = ['running', 'runnable', 'blocked', 'sleeping'];
const threadName = (w) => w ? texts[threads[w][2]] || '(no name)' : '';
const threadLabel = (w) => w ? threadName(w) + ' ' + threads[w][0] : '(nothing)';
const byTid = new Map();
threads.forEach((t, w) => w && byTid.set(t[0], (byTid.get(t[0]) || []).concat(w)));

// ---- parts of lanes ----

// Things by the number that `of` has of them (-1: none): of each a part, in the order of the file, that of ends.
const gather = (of, count, size) => {
	const at = new Uint32Array(count + 1);
	for (let i = 0; i < size; i++)
		if (of[i] >= 0)
			at[of[i] + 1]++;
	for (let k = 0; k < count; k++)
		at[k + 1] += at[k];
	const all = new Uint32Array(at[count]), next = at.slice();
	for (let i = 0; i < size; i++)
		if (of[i] >= 0)
			all[next[of[i]]++] = i;
	return (k) => all.subarray(at[k], at[k + 1]);
};
// What drawing needs of a part lies close together: times and classes; and of each `size` intervals the sums by
// class, and whose is the longest: what lies within one pixel need not be looked at one by one.
const part = (all, byClass) => {
	const size = byClass ? 8 : 64, count = Math.floor(all.length / size);
	const from = new Float64Array(all.length), to = new Float64Array(all.length), of = new Uint8Array(byClass ? all.length : 0);
	const sum = new Float32Array((byClass ? 4 : 1) * count), whose = new Uint32Array(byClass ? 0 : count);
	let longest = -1;
	all.forEach((i, k) => {
		const b = Math.floor(k / size);
		from[k] = start[i];
		to[k] = start[i] + dur[i];
		if (byClass)
			of[k] = ofClass[i];
		if (b < count)
			sum[byClass ? 4 * b + of[k] : b] += dur[i];
		longest = k % size ? longest : -1;
		if (!byClass && b < count && dur[i] > longest) {
			longest = dur[i];
			whose[b] = who[i];
		}
	});
	return {all, from, to, of, sum, whose, size};
};
// The first interval of a part that ends after t.
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

// ---- all rows in the order of time: intervals by their number, then marks ----

const timeOf = (id) => id < n ? start[id] : marks.time[id - n];
// The file has them in the order of their ends. So the ends of every WIDE intervals are the edges of buckets, of
// about as many beginnings each; what has to be looked for is near, and what has to be sorted is short.
const WIDE = 32, LONG = 512;
const sorted = () => {
	const size = n + marks.n, count = Math.ceil(n / WIDE) + 1, edge = new Float64Array(count).fill(-Infinity);
	for (let i = 0, most = -Infinity; i < n; i++) {
		most = Math.max(most, start[i] + dur[i]);
		if ((i + 1) % WIDE === 0)
			edge[(i + 1) / WIDE] = most;
	}
	edge[count - 1] = Math.max(edge[count - 1], edge[Math.max(count - 2, 0)]);
	// The last bucket whose edge is not after t.
	const bucketOf = (t, from) => {
		let lo = from, hi = from + 1;
		for (let step = 1; lo > 0 && edge[lo] > t; step *= 2) {
			hi = lo;
			lo = Math.max(lo - step, 0);
		}
		while (hi - lo > 1) {
			const mid = (lo + hi) >> 1;
			if (edge[mid] > t)
				hi = mid;
			else
				lo = mid;
		}
		return lo;
	};
	const of = new Uint32Array(size), at = new Uint32Array(count + 1), all = new Uint32Array(size);
	for (let id = 0; id < size; id++)
		at[(of[id] = bucketOf(timeOf(id), id < n ? Math.floor(id / WIDE) : count - 1)) + 1]++;
	for (let b = 0; b < count; b++)
		at[b + 1] += at[b];
	const next = at.slice(), keys = new Float64Array(LONG);
	for (let id = 0; id < size; id++)
		all[next[of[id]]++] = id;
	for (let b = 0; b < count; b++) {
		const from = at[b], length = at[b + 1] - from;
		if (length > LONG) {
			all.subarray(from, from + length).sort((p, q) => timeOf(p) - timeOf(q) || p - q);
			continue;
		}
		for (let k = 0; k < length; k++) {
			const id = all[from + k], t = timeOf(id);
			let j = k;
			for (; j > 0 && keys[j - 1] > t; j--) {
				keys[j] = keys[j - 1];
				all[from + j] = all[from + j - 1];
			}
			keys[j] = t;
			all[from + j] = id;
		}
	}
	return all;
};

// ---- words ----

const base = BigInt(about.base), unit = about.unit || 'ns';
const amount = (ns) => {
	const a = Math.abs(ns);
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
const wakers = (i) => kind[i] === WAIT && waker[i] ? 'woken by ' + threadLabel(waker[i]) : '';
// The fields of marks are unpacked by the slice, when a row is seen; until then, none. `come` is called when they are there.
const slices = new Map(), KEPT = 64;
const fieldsOf = (m, come) => {
	const k = Math.floor(m / about.slice), known = slices.get(k);
	if (known)
		return known[m % about.slice] || '';
	if (known === undefined && byId('fields' + k)) {
		slices.set(k, null);
		column('fields' + k, true).then((bytes) => {
			for (const [old, v] of slices)
				if (v && slices.size > KEPT)
					slices.delete(old);
			slices.set(k, new TextDecoder().decode(bytes).split('\0'));
			come();
		});
	}
	return '';
};
// What a row is, and what belongs to it.
const what = (id) => id >= n ? about.events[marks.event[id - n] - 1] || '(event)' :
	ofThread[kind[id]] ? classes[classOf(id)] : kinds[kind[id]];
const more = (id, come) => id >= n ? fieldsOf(id - n, come) : wakers(id) ||
	(kind[id] === RUN ? '' : texts[name[id]]);
const threadOf = (id) => id < n ? who[id] : (byTid.get(marks.tid[id - n]) || [0]).at(-1);
const cpuOf = (id) => id < n ? cpu[id] : marks.cpu[id - n];
const lengthOf = (id) => id < n ? dur[id] : 0;

return {about, kinds, texts, threads, n, first, last, RUN, WAIT, BLOCK, ofThread, who, kind, open, cpu, start, dur, name,
	waker, marks, steps, classOf, classes, threadName, threadLabel, byTid, gather, part, after, timeOf, sorted, amount,
	absolute, clock, what, more, threadOf, cpuOf, lengthOf};
};
