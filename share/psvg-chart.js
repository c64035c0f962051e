// The script inside psvg's charts: they become as wide as the window, and text keeps its size.
// The build drops indentation, empty lines and lines that are only a comment.
(() => {
'use strict';
const svg = document.currentScript.ownerSVGElement;
const was = +svg.getAttribute('width'), height = svg.getAttribute('height');
const least = 40 * parseFloat(svg.getAttribute('font-size'));
const number = (e, name) => +e.getAttribute(name);

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
	for (const p of panels) {
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
};
svg.removeAttribute('viewBox');
svg.setAttribute('width', '100%');
svg.setAttribute('height', height);
svg.style.minWidth = least + 'px';
addEventListener('resize', () => requestAnimationFrame(resize));
resize();
})();
