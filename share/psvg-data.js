// The beginning of the scripts of psvg's pages: data of the page's elements, which are base64 of bytes
// compressed with zlib, and numbers in them.
// The build drops indentation, empty lines and lines that are only a comment.
const psvgData = (() => {
'use strict';
const byId = (id) => document.getElementById(id);
const fromBase64 = (text) => {
	if (Uint8Array.fromBase64)
		return Uint8Array.fromBase64(text);
	const alphabet = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/';
	const value = new Uint8Array(128), pads = text.endsWith('==') ? 2 : text.endsWith('=') ? 1 : 0;
	for (let i = 0; i < 64; i++)
		value[alphabet.charCodeAt(i)] = i;
	const bytes = new Uint8Array(text.length / 4 * 3);
	for (let i = 0, k = 0; i < text.length; i += 4) {
		const v = value[text.charCodeAt(i)] << 18 | value[text.charCodeAt(i + 1)] << 12 |
			value[text.charCodeAt(i + 2)] << 6 | value[text.charCodeAt(i + 3)];
		bytes[k++] = v >> 16;
		bytes[k++] = v >> 8;
		bytes[k++] = v;
	}
	return bytes.subarray(0, bytes.length - pads);
};
const column = async (id, stays) => {
	const e = byId(id), bytes = fromBase64(e.textContent);
	if (!stays)
		e.remove();
	const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream('deflate'));
	return new Uint8Array(await new Response(stream).arrayBuffer());
};
const numbers = (b) => {
	let at = 0;
	return () => {
		let c = b[at++];
		if (c < 128)
			return c;
		let v = c & 127, m = 128;
		do {
			c = b[at++];
			v += (c & 127) * m;
			m *= 128;
		} while (c >= 128);
		return v;
	};
};
const signed = (v) => v < 2147483648 ? v >>> 1 ^ -(v & 1) : v % 2 ? -(v + 1) / 2 : v / 2;
return {byId, column, numbers, signed};
})();
