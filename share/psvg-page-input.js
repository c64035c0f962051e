// Mouse, keys, the menu of a frame, and pictures for paper and for files of psvg's pages of flame graphs.
// The build drops indentation, empty lines and lines that are only a comment.
const flameInput = (on) => {
'use strict';
const {byId} = psvgData, {state, view, ROWS, about, change, colour, describe, describeRect, el, family, fillTable, find, fit, goneSelf, make, names,
	pad, paint, place, remember, repaint, restrict, root, row, sandwich, search, shift, size, tell, textOf, undo,
	zoomTo} = on;
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
const menu = psvgMenu(el.menu, el.tip, true);
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
	if (items.length)
		menu.open(items, x, y);
};

// ---- mouse and keys ----

const under = (e) => {
	const box = el.tree.getBoundingClientRect();
	const x = e.clientX - box.left, y = e.clientY - box.top - shift(el.tree.clientHeight) + el.tree.scrollTop;
	const line = view.lines[Math.floor(y / row)] || [];
	return line.find((r) => x >= r.x && x < r.x + Math.max(r.w, 1)) || null;
};
const light = (id) => {
	if (view.hover !== id) {
		view.hover = id;
		repaint();
	}
};
el.tree.addEventListener('mousemove', (e) => {
	const r = under(e);
	light(r && r.v ? r.v.id : -1);
	el.tree.style.cursor = r ? 'pointer' : 'default';
	el.tip.hidden = !r || !el.menu.hidden;
	if (!r) {
		el.details.textContent = describe(view.zoomed);
		return;
	}
	el.details.textContent = el.tip.textContent = describeRect(r);
	el.tip.style.left = Math.max(0, Math.min(e.clientX + 12, innerWidth - el.tip.offsetWidth - 4)) + 'px';
	el.tip.style.top = (e.clientY + 18 + el.tip.offsetHeight > innerHeight ? e.clientY - 8 - el.tip.offsetHeight : e.clientY + 18) + 'px';
});
el.tree.addEventListener('mouseleave', () => {
	light(-1);
	el.tip.hidden = true;
	el.details.textContent = describe(view.zoomed);
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
	view.limit *= 10;
	fillTable();
});
el.reset.addEventListener('click', () => zoomTo(view.main));
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
	view.limit = ROWS;
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
	const at = view.cursor && find(view.cursor);
	if (!at)
		return view.zoomed;
	const {r, line} = at, own = view.lines[line].filter((o) => o.v), k = own.indexOf(r);
	if (key === 'ArrowLeft' || key === 'ArrowRight')
		return (own[k + (key === 'ArrowLeft' ? -1 : 1)] || r).v;
	const over = (o) => Math.min(o.x + o.w, r.x + r.w) - Math.max(o.x, r.x);
	let best = null;
	for (const o of view.lines[line + (key === 'ArrowUp' ? -1 : 1)] || [])
		if (o.v && over(o) > 0 && (!best || o.w > best.w))
			best = o;
	return (best || r).v;
};
const moveTo = (v) => {
	const at = find(v), height = el.tree.clientHeight;
	view.cursor = v;
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
	const box = el.tree.getBoundingClientRect(), at = view.cursor && find(view.cursor);
	if (at)
		openMenu(view.cursor.id, view.cursor, box.left + Math.max(at.r.x, 0) + 20,
			box.top + at.line * row + shift(el.tree.clientHeight) - el.tree.scrollTop + row);
};
const treeKey = (e) => {
	if (/^Arrow/.test(e.key))
		moveTo(neighbour(e.key));
	else if (e.key === 'Home')
		moveTo(view.main);
	else if (e.key === 'Enter' && view.cursor)
		zoomTo(view.cursor);
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
	} else if (e.key === 'Escape' && state.query && (typing || !view.zoomed.above)) {
		change(() => state.query = '');
	} else if (e.key === 'Escape') {
		zoomTo(view.main);
	} else if (typing || control || e.altKey || at && at.localName === 'select') {
		return;
	} else if (e.key === '/') {
		e.preventDefault();
		focusSearch();
	} else if (e.key === 'i' && !view.callers) {
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
		const hit = r.v && view.hits && view.hits[r.v.id];
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
return {toSVG};
};
