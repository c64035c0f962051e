// Text for the room that there is, in the font of a canvas: what is too long ends in two dots; if
// there is room for less than two characters, it is left out. The font has to stay what it is.
// A function, not a constant: a page can hold several pictures, each with this script.
function psvgFitting(context) {
	const widths = new Map();
	const charWidth = (c) => {
		let w = widths.get(c);
		if (w === undefined)
			widths.set(c, w = context.measureText(c).width);
		return w;
	};
	return (s, room) => {
		const dots = 2 * charWidth('.');
		let w = 0, cut = 0, chars = 0, i = 0;
		if (room < dots)
			return '';
		for (const c of s) {
			w += charWidth(c);
			if (w + dots <= room) {
				cut = i + c.length;
				chars++;
			}
			if (w > room)
				return chars < 2 ? '' : s.slice(0, cut) + '..';
			i += c.length;
		}
		return s;
	};
}
