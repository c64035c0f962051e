// The script inside psvg's charts: they become as wide as the window, and text keeps its size.
// The build drops indentation, empty lines and lines that are only a comment.
(() => {
'use strict';
const svg = document.currentScript.ownerSVGElement;
const was = +svg.getAttribute('width'), height = svg.getAttribute('height');
const least = 40 * parseFloat(svg.getAttribute('font-size'));
const number = (e, name) => +e.getAttribute(name);

// The names of lines, each with its colour, that stand above a plot in rows.
const legendOf = (g) => {
	const box = g.querySelector('.w');
	if (!box)
		return null;
	const marks = [...box.querySelectorAll('rect')], texts = [...box.querySelectorAll('text')];
	const ys = new Set(texts.map((t) => t.getAttribute('y')));
	return {rows: ys.size, left: number(marks[0], 'x'), top: number(texts[0], 'y'),
		items: marks.map((m, i) => [m, texts[i], number(texts[i], 'x') - number(m, 'x'), number(texts[i], 'y') - number(m, 'y')])};
};
// As many rows as the width needs; the heights by which the panel grows. What is above the plot
// goes up by as much, since the panel as a whole goes down.
const wrap = (p, width) => {
	const {rows, left, top, items} = p.legend, em = parseFloat(svg.getAttribute('font-size'));
	const at = [];
	let x = left, row = 0;
	for (const [, t, offset] of items) {
		const w = offset + t.getComputedTextLength() + 1.4 * em;
		if (x > left && x + w > width) {
			x = left;
			row++;
		}
		at.push([x, row]);
		x += w;
	}
	const more = (row + 1 - rows) * 1.5 * em;
	items.forEach(([m, t, offset, up], i) => {
		const y = top - more + at[i][1] * 1.5 * em;
		m.setAttribute('x', at[i][0].toFixed(1));
		m.setAttribute('y', (y - up).toFixed(1));
		t.setAttribute('x', (at[i][0] + offset).toFixed(1));
		t.setAttribute('y', y.toFixed(1));
	});
	p.head.setAttribute('transform', 'translate(0 ' + -more + ')');
	return more;
};

// A panel has ranges of x that stretch; what lies between them only moves. What the groups "x" hold
// stays where it is, what "r" holds stays at the right.
const panels = [...svg.querySelectorAll('g[data-flex]')].map((g) => {
	const v = g.dataset.flex.split(' ').map(Number), ranges = [];
	for (let i = 0; i + 1 < v.length; i += 2)
		ranges.push([v[i], v[i + 1]]);
	const parts = [...g.querySelectorAll('rect, text, path')].filter((e) => !e.closest('.x, .r'));
	return {
		ranges,
		all: ranges.reduce((sum, r) => sum + r[1] - r[0], 0),
		right: [...g.querySelectorAll('.r')],
		rects: parts.filter((e) => e.localName === 'rect').map((e) => [e, number(e, 'x'), number(e, 'width')]),
		texts: parts.filter((e) => e.localName === 'text').map((e) => [e, number(e, 'x')]),
		paths: parts.filter((e) => e.localName === 'path').map((e) =>
			[e, e.getAttribute('d').match(/[a-z]|-?[\d.]+/gi) || [], e.closest('.c') ? 0 : 1]),
		group: g,
		head: g.querySelector('text.h'),
		legend: legendOf(g),
		ticks: parts.filter((e) => e.localName === 'text' && e.classList.contains('t') &&
			e.getAttribute('text-anchor') === 'middle'),
	};
});

// A path of M, H, V, h, v and z, with other places from left to right.
const bend = (tokens, digits, place) => {
	let d = '', x = 0, command = '', first = true;
	for (const t of tokens) {
		if (/[a-z]/i.test(t)) {
			command = t;
			first = true;
			d += t;
			continue;
		}
		let n = +t;
		if (command === 'M' && !first || command === 'V' || command === 'v') {
			d += ' ' + t;
			continue;
		}
		if (command === 'h') {
			d += (place(x + n) - place(x)).toFixed(digits);
			x += n;
		} else {
			d += place(n).toFixed(digits);
			x = n;
		}
		first = false;
	}
	return d;
};

// Labels of an axis that would lie on each other are left out.
const thin = (ticks) => {
	const end = new Map();
	for (const [t, x, half] of ticks.map((t) => [t, number(t, 'x'), t.getComputedTextLength() / 2]).sort((a, b) => a[1] - b[1])) {
		const row = t.getAttribute('y'), free = !(end.get(row) > x - half);
		t.setAttribute('visibility', free ? 'visible' : 'hidden');
		if (free)
			end.set(row, x + half + 4);
	}
};

const resize = () => {
	const width = svg.getBoundingClientRect().width;
	for (const t of svg.querySelectorAll(':scope > text'))
		t.setAttribute('x', width / 2);
	let down = 0;
	for (const p of panels) {
		down += p.legend ? wrap(p, width) : 0;
		p.group.setAttribute('transform', 'translate(0 ' + down + ')');
		const more = Math.max(width - was, -0.8 * p.all);
		const place = (x) => p.ranges.reduce((sum, [from, to]) =>
			sum + (x > from ? more * (Math.min(x, to) - from) / p.all : 0), x);
		for (const [e, x, w] of p.rects) {
			e.setAttribute('x', place(x).toFixed(1));
			e.setAttribute('width', Math.max(place(x + w) - place(x), 0.5).toFixed(1));
		}
		for (const [e, x] of p.texts)
			e.setAttribute('x', place(x).toFixed(1));
		for (const [e, tokens, digits] of p.paths)
			e.setAttribute('d', bend(tokens, digits, place));
		for (const e of p.right)
			e.setAttribute('transform', 'translate(' + more + ' 0)');
		thin(p.ticks);
	}
	for (const e of svg.querySelectorAll(':scope > g > text'))
		e.setAttribute('transform', 'translate(0 ' + down + ')');
	svg.setAttribute('height', +height + down);
};
svg.removeAttribute('viewBox');
svg.setAttribute('width', '100%');
svg.setAttribute('height', height);
svg.style.minWidth = least + 'px';
addEventListener('resize', () => requestAnimationFrame(resize));
resize();
})();
