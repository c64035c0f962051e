// The order of time of psvg's flame graphs: the samples of an event stream one by one, by thread.
// The build drops indentation, empty lines and lines that are only a comment.
const flameTimes = async (about, parent, end, nameOfNode) => {
'use strict';
const {column, numbers} = psvgData;
const n = about.times, next = numbers(await column('when'));
const thread = new Uint32Array(n), leaf = new Uint32Array(n), time = new Float64Array(n), weight = new Float64Array(n);
for (let i = 0, t = 0; i < n; i++) {
	thread[i] = next();
	leaf[i] = next();
	time[i] = t += next();
	weight[i] = next() * about.factor;
}
// The node above a node's parent on the way to the root, that is a callee of `of`.
const callee = (node, of) => {
	while (parent[node] !== of)
		node = parent[node];
	return node;
};
const threads = about.threads.map((tid) => ({tid, total: 0, count: 0, last: 0}));
for (let i = 0; i < n; i++) {
	const t = threads[thread[i]];
	t.total += weight[i];
	t.count++;
	t.last = leaf[i];
}
for (const t of threads)
	t.label = (t.last ? nameOfNode(callee(t.last, 0)) + ' ' : '') + t.tid;
const byTotal = threads.map((t, k) => k).sort((a, b) => threads[b].total - threads[a].total);
const everything = Uint32Array.from({length: n}, (v, i) => i);
// The samples of a thread, or of all (-1), and what they weigh by node.
const list = (k) => k < 0 ? everything : everything.filter((i) => thread[i] === k);
const sums = (k, size) => {
	const v = new Float64Array(size);
	for (let i = 0; i < n; i++)
		if (thread[i] === k)
			v[leaf[i]] += weight[i];
	return v;
};
const indexOf = (tid) => threads.findIndex((t) => String(t.tid) === tid);
// The callees of a frame that is a run of samples, list[from] to list[to - 1], which all are in its node.
// What `out` has is hidden.
const spread = (v, out, make) => {
	const kids = [], seen = new Map();
	let run = null, at = v.start;
	for (let k = v.from; k < v.to; k++) {
		const i = v.list[k], x = leaf[i], w = out[x] ? 0 : weight[i];
		if (x === v.node || !w) {
			run = x === v.node ? null : run;
			at += w;
			continue;
		}
		if (!run || x < run.node || x >= end[run.node]) {
			const node = callee(x, v.node);
			run = make(node);
			Object.assign(run, {list: v.list, node, from: k, start: at, above: v, level: v.level + 1, nth: seen.get(run.id) || 0});
			seen.set(run.id, run.nth + 1);
			kids.push(run);
		}
		run.to = k + 1;
		run.total += w;
		at += w;
	}
	return kids;
};
const seconds = (t) => (t / 1e9).toFixed(6) + ' s';
// When the samples of a frame were taken, since the first one of all.
const describe = (v) => v.to > v.from ? '; from ' + seconds(time[v.list[v.from]]) + ' to ' + seconds(time[v.list[v.to - 1]]) : '';
return {n, threads, byTotal, list, sums, indexOf, spread, describe};
};
