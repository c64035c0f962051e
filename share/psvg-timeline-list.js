// Beside the lanes of psvg's timelines: the list of all events, of which only the rows that are seen
// are elements; what fits a search; and the sums of threads.
// The build drops indentation, empty lines and lines that are only a comment.
const timelineMake = (tag, attrs, ...inside) => {
	const e = document.createElement(tag);
	for (const key in attrs)
		e.setAttribute(key, attrs[key]);
	e.append(...inside);
	return e;
};

// A query is words that all have to fit: a part of a thread's name and number, of a state or a name; cpu3;
// by:NAME, who woke it; >2ms or <10us, how long it took. Null: there is none.
const timelineQuery = (data, query) => {
'use strict';
const {n, texts, threads, kinds, about, ofThread, kind, dur, name, waker} = data;
const scale = {ns: 1, us: 1e3, ms: 1e6, s: 1e9};
const having = (list, word) => Uint8Array.from(list, (text) => text.toLowerCase().includes(word) ? 1 : 0);
const labels = threads.map((t, w) => w ? data.threadLabel(w) : '');
const ofText = (word) => {
	const inThread = having(labels, word), inText = having(texts, word), inClass = having(data.classes, word);
	const inKind = having(kinds, word), inEvent = having(about.events, word), number = /^cpu(\d+)$/.exec(word);
	return (id) => inThread[data.threadOf(id)] === 1 || number !== null && data.cpuOf(id) === +number[1] ||
		(id >= n ? inEvent[data.marks.event[id - n] - 1] === 1 : inText[name[id]] === 1 && name[id] > 0 ||
			(ofThread[kind[id]] ? inClass[data.classOf(id)] : inKind[kind[id]]) === 1);
};
const ofWord = (word) => {
	const long = /^([<>])(\d+(?:\.\d+)?)(ns|us|ms|s)?$/.exec(word);
	if (long) {
		const v = long[2] * scale[long[3] || 'ns'];
		return long[1] === '>' ? (id) => id < n && dur[id] > v : (id) => id < n && dur[id] < v;
	}
	if (word.startsWith('by:')) {
		const inThread = having(labels, word.slice(3));
		return (id) => id < n && waker[id] > 0 && inThread[waker[id]] === 1;
	}
	return ofText(word);
};
const tests = query.toLowerCase().split(/\s+/).filter((word) => word).map(ofWord);
if (tests.length < 2)
	return tests[0] || null;
return (id) => tests.every((test) => test(id));
};

// The list: rows are in the order of time. `choose` is called with the event of a row that the user goes to.
const timelineList = (data, lanes, state, choose) => {
'use strict';
const make = timelineMake, ROW = 18, TALL = 4e6;
const columns = ['', 'time (s)', 'CPU', 'thread', 'event', 'length', ''];
const body = make('div', {id: 'rows', role: 'rowgroup'}), spacer = make('div', {}), bar = make('div', {id: 'scroll', tabindex: '-1'}, spacer);
const head = make('div', {class: 'row head', role: 'row'}, ...columns.map((c) => make('span', {role: 'columnheader'}, c)));
const box = make('div', {id: 'list', role: 'grid', tabindex: '0', 'aria-label': 'Events', 'aria-readonly': 'true'}, head, body, bar);
let order = null, rows = new Uint32Array(0), top = 0, put = 0, rest = 0, hits = null, coming = 0;
const seen = () => Math.max(Math.floor(body.clientHeight / ROW), 1);
const most = () => Math.max(rows.length - seen(), 0);
// The first row that is not before t, and the row of an event; -1: it is not listed.
const atTime = (t) => {
	let lo = 0, hi = rows.length;
	while (lo < hi) {
		const mid = (lo + hi) >> 1;
		if (data.timeOf(rows[mid]) >= t)
			hi = mid;
		else
			lo = mid + 1;
	}
	return lo;
};
const rowOf = (id) => {
	const t = data.timeOf(id);
	for (let k = atTime(t); k < rows.length && data.timeOf(rows[k]) === t; k++)
		if (rows[k] === id)
			return k;
	return -1;
};
const again = () => {
	if (!coming)
		coming = requestAnimationFrame(() => {
			coming = 0;
			paint();
		});
};
const paint = () => {
	const count = Math.min(seen() + 1, rows.length - top), list = [];
	for (let k = top; k < top + count; k++) {
		const id = rows[k], t = data.timeOf(id), w = data.threadOf(id), chosen = id === state.event;
		const texts = [(state.a === t ? 'A' : '') + (state.b === t ? 'B' : ''), data.clock(t),
			data.cpuOf(id) < 0 ? '' : data.cpuOf(id), w ? data.threadLabel(w) : '', data.what(id).replace(/^\w+:(?=\w)/, ''),
			id < data.n ? data.amount(data.dur[id]) : '', data.more(id, again)];
		const e = make('div', {class: 'row' + (chosen ? ' chosen' : '') + (hits && hits(id) ? ' hit' : '') +
			(t >= state.from && t <= state.to ? '' : ' far') + (id < data.n ? '' : ' mark'), role: 'row', id: 'row' + k, 'aria-rowindex': k + 2, 'aria-selected': chosen},
		...texts.map((text) => make('span', {role: 'gridcell'}, text)));
		e.dataset.event = id;
		e.title = [...texts.slice(1, 4), data.what(id), ...texts.slice(5)].filter((text) => text !== '').join(' ');
		list.push(e);
		if (chosen)
			box.setAttribute('aria-activedescendant', 'row' + k);
	}
	body.replaceChildren(...list);
	const high = Math.min(rows.length * ROW, TALL);
	spacer.style.height = high + 'px';
	put = most() ? Math.round(top / most() * (bar.scrollHeight - bar.clientHeight)) : 0;
	bar.scrollTop = put;
};
const go = (row) => {
	top = Math.max(Math.min(Math.round(row), most()), 0);
	state.row = top;
	paint();
};
const reveal = (row) => go(row < top || row >= top + seen() ? row - seen() / 2 : top);
// What is listed: the lanes that are not hidden; with `fits`, only what fits the search.
const refresh = (matcher) => {
	const hidden = Uint8Array.from(data.threads, (t, w) => w && lanes.byKey.has('t' + w) && lanes.isHidden(state, lanes.byKey.get('t' + w)) ? 1 : 0);
	const some = hidden.includes(1) || [...state.hidden].some((key) => key[0] === 'q');
	hits = matcher;
	order = order || data.sorted();
	rows = order;
	if (some)
		rows = rows.filter((id) => !hidden[data.threadOf(id)] && (id >= data.n || data.ofThread[data.kind[id]] ||
			!lanes.laneOf(id) || !state.hidden.has(lanes.laneOf(id).key)));
	if (state.fits && matcher)
		rows = rows.filter((id) => matcher(id));
	box.setAttribute('aria-rowcount', rows.length + 1);
	const row = state.event < 0 ? -1 : rowOf(state.event);
	const there = row < 0 || !body.clientHeight || row >= state.row && row < state.row + seen();
	go(there ? state.row : row - seen() / 2);
};
// The next row after an event (or after a time, if none) for which a test holds; -1: none.
const next = (step, test) => {
	let k = state.event >= 0 ? rowOf(state.event) : -1;
	if (k < 0) {
		k = atTime(state.event >= 0 ? data.timeOf(state.event) : state.from);
		k -= step > 0 ? 1 : 0;
	}
	for (let tried = 0; tried < rows.length; tried++) {
		k = (k + step + rows.length) % rows.length;
		if (test(rows[k]))
			return rows[k];
	}
	return -1;
};
const pages = {ArrowUp: () => -1, ArrowDown: () => 1, PageUp: () => -seen(), PageDown: () => seen(), Home: () => -Infinity, End: () => Infinity};
box.addEventListener('keydown', (e) => {
	if (!pages[e.key] || !rows.length || e.altKey || e.ctrlKey || e.metaKey)
		return;
	e.preventDefault();
	e.stopPropagation();
	const at = state.event < 0 ? -1 : rowOf(state.event), from = at < 0 ? top - Math.sign(pages[e.key]()) : at;
	choose(rows[Math.max(Math.min(from + pages[e.key](), rows.length - 1), 0)]);
});
box.addEventListener('wheel', (e) => {
	if (e.ctrlKey)
		return;
	e.preventDefault();
	rest += e.deltaMode ? e.deltaY : e.deltaY / ROW;
	const whole = Math.trunc(rest);
	rest -= whole;
	if (whole)
		go(top + whole);
}, {passive: false});
bar.addEventListener('scroll', () => {
	if (Math.abs(bar.scrollTop - put) >= 1)
		go(bar.scrollTop / Math.max(bar.scrollHeight - bar.clientHeight, 1) * most());
});
const eventOf = (e) => e.target.closest('[data-event]')?.dataset.event;
body.addEventListener('click', (e) => eventOf(e) !== undefined && choose(+eventOf(e)));
body.addEventListener('dblclick', (e) => eventOf(e) !== undefined && choose(+eventOf(e), true));
return {box, refresh, paint: () => order && paint(), reveal: (id) => {
	const row = order ? rowOf(id) : -1;
	if (row >= 0)
		reveal(row);
	else if (order)
		go(atTime(data.timeOf(id)) - seen() / 2);
}, next: (step, test) => order ? next(step, test) : -1, count: () => rows.length, resize: () => order && go(top)};
};

// What each thread did between two times. Unfinished intervals do not count, as in plat's tables. It is
// summed up in portions, between which the page answers; it ends when another sum begins.
const timelineSums = (data, lanes, panel) => {
'use strict';
const make = timelineMake, ROWS = 20, PORTION = 30;
let turn = 0;
// The kth smallest of the values, which change their places (quickselect).
const select = (v, k) => {
	for (let lo = 0, hi = v.length - 1; lo < hi;) {
		const middle = v[(lo + hi) >> 1];
		let i = lo, j = hi;
		while (i <= j) {
			while (v[i] < middle)
				i++;
			while (v[j] > middle)
				j--;
			if (i <= j) {
				const other = v[i];
				v[i++] = v[j];
				v[j--] = other;
			}
		}
		if (k <= j)
			hi = j;
		else if (k >= i)
			lo = i;
		else
			break;
	}
	return v[k];
};
const ofLane = (l, from, to) => {
	const {start, dur, open} = data, sum = [0, 0, 0, 0], waits = [];
	let runs = 0;
	for (let k = data.after(l.all, from); k < l.all.length; k++) {
		const i = l.all[k], s = start[i];
		if (s >= to)
			break;
		if (open[i])
			continue;
		const c = data.classOf(i);
		sum[c] += Math.min(s + dur[i], to) - Math.max(s, from);
		runs += c === 0;
		if (c === 1 && s >= from)
			waits.push(dur[i]);
	}
	return {who: l.who, sum, runs, waits: Float64Array.from(waits)};
};
const cell = (row, text, attrs) => row.append(make('td', attrs || {}, text));
const addRow = (table, label, r, attrs) => {
	const row = make('tr', attrs), waits = r.waits;
	cell(row, label);
	for (const s of r.sum)
		cell(row, data.amount(s), {'data-ns': s});
	cell(row, r.runs.toLocaleString('en'), {'data-n': r.runs});
	for (const p of [.5, .99, 1])
		cell(row, waits.length ? data.amount(select(waits, Math.ceil(waits.length * p) - 1)) : '-');
	table.append(row);
};
const expression = (from, to) => 'time >= ' + data.absolute(from) + ' && time < ' + data.absolute(to);
const say = (from, to, chosen) => {
	const copy = make('button', {id: 'copy'}, 'Copy as pfilter expression'), code = make('code', {id: 'expression'}, expression(from, to));
	copy.addEventListener('click', () => {
		const mark = () => getSelection().selectAllChildren(code);
		if (navigator.clipboard)
			navigator.clipboard.writeText(code.textContent).then(() => copy.textContent = 'Copied', mark);
		else
			mark();
	});
	return make('p', {}, (chosen ? 'Selected: ' : 'In view: ') + data.amount(to - from) + ' from ' + data.clock(from) + ' to ' +
		data.clock(to) + '. Unfinished intervals are not in the sums. ', copy, ' ', code);
};
return async (from, to, chosen) => {
	const mine = ++turn, rows = [], table = make('table', {id: 'sums'}, make('tr', {}, ...['thread', 'running', 'runnable', 'blocked',
		'sleeping', 'runs', 'run queue p50', 'p99', 'longest'].map((t) => make('th', {}, t))));
	let began = performance.now();
	for (const l of lanes.tasks) {
		const r = ofLane(l, from, to);
		if (r.runs || r.sum.some((s) => s))
			rows.push(r);
		if (performance.now() - began > PORTION) {
			await new Promise((done) => setTimeout(done));
			if (mine !== turn)
				return;
			began = performance.now();
		}
	}
	rows.sort((a, b) => b.sum[0] - a.sum[0]);
	const all = {sum: [0, 0, 0, 0], runs: 0, waits: new Float64Array(rows.reduce((s, r) => s + r.waits.length, 0))};
	let at = 0;
	for (const r of rows) {
		r.sum.forEach((s, c) => all.sum[c] += s);
		all.runs += r.runs;
		all.waits.set(r.waits, at);
		at += r.waits.length;
	}
	addRow(table, 'all ' + rows.length + ' threads', all, {class: 'all', id: 'all'});
	for (const r of rows.slice(0, ROWS))
		addRow(table, data.threadLabel(r.who), r, {'data-tid': data.threads[r.who][0], 'data-comm': data.threadName(r.who)});
	panel.replaceChildren(say(from, to, chosen), table);
	if (rows.length > ROWS)
		panel.append(make('p', {}, '(' + (rows.length - ROWS) + ' more threads)'));
};
};
