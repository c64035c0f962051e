// The menu that a right click or a key opens in psvg's pages: items are [text, what it does].
// With `modal`, no key that is pressed in it reaches the page.
const psvgMenu = (menu, tip, modal) => {
'use strict';
let opener = null;
const close = () => {
	if (menu.hidden)
		return;
	menu.hidden = true;
	opener?.focus();
};
const item = ([text, act]) => {
	const b = document.createElement('button');
	b.type = 'button';
	b.tabIndex = -1;
	b.setAttribute('role', 'menuitem');
	b.textContent = text;
	b.addEventListener('click', () => {
		close();
		act();
	});
	return b;
};
const open = (items, x, y) => {
	opener = document.activeElement;
	menu.replaceChildren(...items.map(item));
	menu.hidden = false;
	tip.hidden = true;
	menu.style.left = Math.max(0, Math.min(x, innerWidth - menu.offsetWidth - 4)) + 'px';
	menu.style.top = Math.max(0, Math.min(y, innerHeight - menu.offsetHeight - 4)) + 'px';
	menu.firstChild.focus();
};
menu.addEventListener('keydown', (e) => {
	const items = [...menu.children], at = items.indexOf(document.activeElement);
	let taken = true;
	if (e.key === 'ArrowDown' || e.key === 'ArrowUp')
		items[(at + (e.key === 'ArrowDown' ? 1 : items.length - 1)) % items.length].focus();
	else if (e.key === 'Escape' || e.key === 'Tab')
		close();
	else if (e.key === 'Enter' || e.key === ' ')
		document.activeElement.click();
	else
		taken = false;
	if (taken)
		e.preventDefault();
	if (taken || modal)
		e.stopPropagation();
});
document.addEventListener('pointerdown', (e) => {
	if (!menu.contains(e.target))
		menu.hidden = true;
});
return {open, close};
};
