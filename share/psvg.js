// The script inside psvg's graphs: zoom, search, details, keys, and a fit to the window.
// The build drops indentation, empty lines and lines that are only a comment.
(() => {
'use strict';
const svg = document.currentScript.ownerSVGElement;
const find = (id) => svg.querySelector('#' + id);
const box = find('frames'), head = find('head'), conf = box.dataset;
const lines = ['foot', 'ends', 'chains'].map(find).filter((line) => line).map((line) => [line, line.textContent]);
const pad = +conf.pad, textPad = +conf.textpad, unit = conf.unit && ' ' + conf.unit;
const fontSize = parseFloat(svg.getAttribute('font-size'));
const height = svg.getAttribute('height');
let width = +svg.getAttribute('width');

// The model. Frames come callers first and siblings from right to left, so that places follow
// from the counts; they are not taken from the coordinates, which are rounded.
const rects = [...box.querySelectorAll('rect')], n = rects.length;
const name = [], shown = [], count = [], start = [], parent = [], past = [], depth = [];
const texts = [], textY = [], classes = [], index = new Map();
const rowOf = (r) => +r.getAttribute('y');
const base = rowOf(rects[0]), step = +rects[0].getAttribute('height') + 1;
{
	const at = [], edge = [];
	rects.forEach((r, i) => {
		const title = r.firstChild.textContent;
		const mid = title.lastIndexOf(unit + ', '), open = title.lastIndexOf(' (', mid);
		const d = Math.round(Math.abs(rowOf(r) - base) / step);
		const next = r.nextElementSibling;
		name[i] = title.slice(0, open);
		shown[i] = name[i].replace(/_\[[kijw]\]$/, '');
		count[i] = +title.slice(open + 2, mid).replace(/,/g, '');
		depth[i] = d;
		parent[i] = d ? at[d - 1] : -1;
		start[i] = (d ? edge[d] - (+r.dataset.gap || 0) : count[i]) - count[i];
		edge[d] = start[i];
		edge[d + 1] = start[i] + count[i];
		at[d] = i;
		past[i] = i + 1;
		texts[i] = next && next.localName === 'text' ? next : null;
		classes[i] = '';
		index.set(r, i);
	});
	for (let i = n - 1; i > 0; i--)
		past[parent[i]] = Math.max(past[parent[i]], past[i]);
}

// Text that fits, by measured widths of characters.
const family = svg.getAttribute('font-family');
const pen = document.createElementNS('http://www.w3.org/1999/xhtml', 'canvas').getContext('2d');
pen.font = fontSize + 'px ' + family;
const fit = psvgFitting(pen);
const textShift = fontSize * 0.35 + (step - 1) / 2;
const setText = (i, x, w) => {
	const s = w < fontSize ? '' : fit(shown[i], w - 2 * textPad);
	let t = texts[i];
	if (!s && !t)
		return;
	if (!t) {
		t = texts[i] = document.createElementNS(svg.namespaceURI, 'text');
		t.setAttribute('y', Math.round(rowOf(rects[i]) + textShift));
		rects[i].after(t);
	}
	t.setAttribute('x', (x + textPad).toFixed(1));
	if (t.textContent !== s)
		t.textContent = s;
};

// The state is what a link carries; everything else follows from it.
const state = {zoom: 0, query: conf.search || '', ignoreCase: false};
let cursor = 0, hits = null;

const setClass = (i, visible) => {
	const z = state.zoom, c = (hits && hits[i] ? 'm ' : '') + (i === cursor ? 'c ' : '') +
		(i < z && past[i] > z ? 'f ' : '') + (visible ? '' : 'h');
	if (c === classes[i])
		return;
	classes[i] = c;
	rects[i].setAttribute('class', c);
};
const isVisible = (i) => i <= state.zoom ? past[i] > state.zoom : i < past[state.zoom];
const draw = () => {
	const z = state.zoom, all = width - 2 * pad, scale = all / count[z];
	for (let i = 0; i < n; i++) {
		const visible = isVisible(i);
		setClass(i, visible);
		if (!visible) {
			if (texts[i])
				texts[i].setAttribute('class', 'h');
			continue;
		}
		const x = i <= z ? pad : pad + (start[i] - start[z]) * scale;
		const w = i <= z ? all : count[i] * scale;
		rects[i].setAttribute('x', x.toFixed(1));
		rects[i].setAttribute('width', Math.max(w, 0.1).toFixed(1));
		setText(i, x, w);
		if (texts[i])
			texts[i].setAttribute('class', i < z ? 'f' : '');
	}
};

// Search. A matching frame within a matching one counts once; the root is no function.
const percent = (part, whole) => (100 * part / whole).toFixed(2) + '%';
const search = () => {
	let re = null, sum = 0, inZoom = 0, frames = 0;
	const known = new Map(), inside = [], z = state.zoom;
	hits = null;
	input.classList.remove('bad');
	matched.textContent = '';
	if (!state.query)
		return;
	try {
		re = new RegExp(state.query, state.ignoreCase ? 'i' : '');
	} catch (e) {
		input.classList.add('bad');
		matched.textContent = 'not a regular expression';
		return;
	}
	hits = [];
	for (let i = 1; i < n; i++) {
		let hit = known.get(name[i]);
		if (hit === undefined)
			known.set(name[i], hit = re.test(name[i]));
		hits[i] = hit;
		inside[i] = hit || inside[parent[i]];
		if (!hit)
			continue;
		frames++;
		if (inside[parent[i]])
			continue;
		sum += count[i];
		if (i > z && i < past[z])
			inZoom += count[i];
	}
	matched.textContent = 'matched ' + percent(sum, count[0]);
	if (z)
		matched.textContent += ' (' + percent(inside[z] ? count[z] : inZoom, count[z]) +
			' of zoomed)';
	matched.title = frames + ' frames';
};

// The line of controls: HTML, so that it can be typed into and shortens itself.
const html = (tag, attrs, text) => {
	const e = document.createElementNS('http://www.w3.org/1999/xhtml', tag);
	for (const key in attrs)
		e.setAttribute(key, attrs[key]);
	if (text)
		e.textContent = text;
	return e;
};
const holder = document.createElementNS(svg.namespaceURI, 'foreignObject');
const row = html('div', {id: 'row'});
const reset = html('button', {id: 'reset', title: 'Esc'}, 'Reset zoom');
const details = html('span', {id: 'details', 'aria-live': 'polite'});
const matched = html('span', {id: 'matched', 'aria-live': 'polite'});
const input = html('input', {id: 'search', type: 'search', placeholder: 'Search (regular expression)',
	'aria-label': 'Search by regular expression', title: 'Ctrl-F or F3', spellcheck: 'false'});
const matchCase = html('button', {id: 'case', title: 'Match case'}, 'Aa');
row.append(reset, details, matched, input, matchCase);
holder.append(row);
holder.setAttribute('x', pad);
holder.setAttribute('y', conf.row);
holder.setAttribute('height', 26);
head.append(holder);
svg.append(head);

// What a link carries: the number of the zoomed frame, and its name in case that the graph was
// made anew and the number is another frame's.
const toHash = () => {
	const parts = [];
	if (state.zoom)
		parts.push('zoom=' + state.zoom + ':' + encodeURIComponent(name[state.zoom]));
	if (state.query)
		parts.push('search=' + encodeURIComponent(state.query));
	if (state.ignoreCase)
		parts.push('ignorecase=1');
	return parts.join('&');
};
const fromHash = () => {
	const q = new URLSearchParams(location.hash.slice(1).replace(/\+/g, '%2B'));
	const zoom = q.get('zoom') || '', colon = zoom.indexOf(':');
	const wanted = colon < 0 ? null : zoom.slice(colon + 1);
	let z = colon < 0 ? +zoom : +zoom.slice(0, colon);
	if (!(z >= 0 && z < n && Number.isInteger(z)))
		z = 0;
	if (wanted !== null && name[z] !== wanted) {
		z = 0;
		for (let i = 1; i < n; i++)
			if (name[i] === wanted && (!z || count[i] > count[z]))
				z = i;
	}
	state.zoom = cursor = z;
	state.query = q.get('search') || (location.hash.length < 2 && conf.search) || '';
	state.ignoreCase = q.get('ignorecase') === '1';
};
const remember = (replace) => {
	const url = location.href.split('#')[0] + '#' + (toHash() || (conf.search ? 'all' : ''));
	try {
		if (replace)
			history.replaceState(null, '', url);
		else
			history.pushState(null, '', url);
	} catch (e) {
		// A sandboxed frame: there is no link to keep.
	}
};

// Long times and sizes with three digits, after the whole number.
const scales = {' ns': [['s', 1e9], ['ms', 1e6], ['us', 1e3]], ' bytes': [['GiB', 2 ** 30], ['MiB', 2 ** 20], ['KiB', 1024]]};
const brief = (n) => {
	const scale = (scales[unit] || []).find((s) => n >= s[1]);
	return scale ? '; ' + +(n / scale[1]).toPrecision(3) + ' ' + scale[0] : '';
};
const describe = (i) => {
	details.textContent = i < 0 ? '' : (conf.nametype ? conf.nametype + ' ' : '') + rects[i].firstChild.textContent + brief(count[i]) +
		(state.zoom && i > state.zoom && isVisible(i) ?
			'; ' + percent(count[i], count[state.zoom]) + ' of zoomed' : '');
};
const update = () => {
	reset.hidden = !state.zoom;
	matchCase.setAttribute('aria-pressed', !state.ignoreCase);
	if (input.value !== state.query)
		input.value = state.query;
	search();
	draw();
	describe(state.zoom || -1);
};
const zoomTo = (i) => {
	cursor = i;
	if (i === state.zoom) {
		draw();
		return;
	}
	state.zoom = i;
	update();
	remember(false);
};

// The window: the graph is as wide, and the head stays in sight.
const stick = () => {
	const own = svg === document.documentElement;
	head.setAttribute('transform', own ? 'translate(' + scrollX + ' ' + scrollY + ')' : '');
};
const resize = () => {
	if (!conf.fixed) {
		svg.removeAttribute('viewBox');
		svg.setAttribute('width', '100%');
		svg.setAttribute('height', height);
		width = Math.max(svg.getBoundingClientRect().width, 8 * pad);
	}
	const view = Math.min(width, innerWidth);
	for (const t of head.querySelectorAll('text'))
		t.setAttribute('x', view / 2);
	for (const [line, text] of lines) {
		line.textContent = fit(text, view - 2 * pad);
		if (line.textContent !== text)
			line.append(Object.assign(document.createElementNS(svg.namespaceURI, 'title'), {textContent: text}));
	}
	holder.setAttribute('width', Math.max(view - 2 * pad, 0));
	stick();
	draw();
};

// Mouse and keys.
const under = (e) => index.has(e.target) ? index.get(e.target) : -1;
box.addEventListener('click', (e) => {
	if (under(e) >= 0)
		zoomTo(under(e));
});
box.addEventListener('mouseover', (e) => describe(under(e)));
box.addEventListener('mouseout', () => describe(state.zoom || -1));
reset.addEventListener('click', () => zoomTo(0));
input.addEventListener('input', () => {
	state.query = input.value;
	search();
	draw();
	remember(true);
});
matchCase.addEventListener('click', () => {
	state.ignoreCase = !state.ignoreCase;
	update();
	remember(true);
});

// The frame that an arrow key goes to: callers and widest callees up and down, else the neighbour
// of the same row.
const neighbour = (key) => {
	const up = conf.inverted ? 'ArrowDown' : 'ArrowUp', down = conf.inverted ? 'ArrowUp' : 'ArrowDown';
	let best = cursor;
	if (key === down)
		return Math.max(parent[cursor], 0);
	if (key === up) {
		for (let i = cursor + 1; i < past[cursor]; i++)
			if (parent[i] === cursor && (best === cursor || count[i] > count[best]))
				best = i;
		return best < state.zoom ? state.zoom : best;
	}
	for (let i = 0; i < n; i++) {
		const right = start[i] > start[cursor];
		if (depth[i] !== depth[cursor] || i === cursor || !isVisible(i) ||
			right !== (key === 'ArrowRight'))
			continue;
		if (best === cursor || Math.abs(start[i] - start[cursor]) < Math.abs(start[best] - start[cursor]))
			best = i;
	}
	return best;
};
addEventListener('keydown', (e) => {
	const typing = document.activeElement === input;
	if (e.key === 'F3' || ((e.ctrlKey || e.metaKey) && e.key.toLowerCase() === 'f')) {
		// A second Ctrl-F is the browser's own.
		if (typing && e.key !== 'F3')
			return;
		e.preventDefault();
		input.focus();
		input.select();
	} else if (e.key === 'Escape') {
		if (state.query && (typing || !state.zoom)) {
			state.query = '';
			update();
			remember(true);
		} else {
			zoomTo(0);
		}
	} else if (!typing && document.activeElement === box && e.key === 'Enter') {
		zoomTo(cursor);
	} else if (!typing && document.activeElement === box && /^Arrow/.test(e.key)) {
		e.preventDefault();
		cursor = neighbour(e.key);
		draw();
		describe(cursor);
		rects[cursor].scrollIntoView({block: 'nearest', inline: 'nearest'});
	}
});
box.setAttribute('tabindex', 0);
box.setAttribute('role', 'group');
box.setAttribute('aria-label', 'Frames: arrow keys move, Enter zooms, Escape zooms out');
addEventListener('scroll', stick);
addEventListener('resize', () => requestAnimationFrame(resize));
for (const event of ['hashchange', 'popstate'])
	addEventListener(event, () => {
		fromHash();
		update();
	});
fromHash();
resize();
update();
// Where a deep graph is taller than the window: begin with the zoomed frame, not with the tips. A moment
// later, so that programs that picture the page when it is loaded see it from its beginning.
if (svg === document.documentElement && !conf.inverted)
	setTimeout(() => scrollY || scrollTo(0, rowOf(rects[state.zoom]) + 4 * step - innerHeight), 300);
stick();
})();
