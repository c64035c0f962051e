// Drives headless chromium over --remote-debugging-pipe, without any package: Browser.open() gives
// a page that can be clicked, typed into, asked and photographed.
//
//	const page = await Browser.open('file:///tmp/x.svg', {width: 1200, height: 800});
//	await page.click('rect:nth-of-type(3)'); await page.eval('location.hash');
//	await page.close();
'use strict';
const {spawn} = require('child_process');
const os = require('os');
const fs = require('fs');
const path = require('path');

const TIMEOUT = 120000; // ms for one answer of the browser: busy machines need many seconds

class Browser {
	constructor(flags) {
		this.home = fs.mkdtempSync(path.join(os.tmpdir(), 'psvg-browser.'));
		this.process = spawn(process.env.CHROMIUM || 'chromium', ['--headless', '--no-sandbox',
			'--disable-gpu', '--no-first-run', '--disable-dev-shm-usage',
			'--user-data-dir=' + this.home, '--remote-debugging-pipe', ...flags, 'about:blank'],
			{stdio: ['ignore', 'ignore', 'ignore', 'pipe', 'pipe'],
				env: {...process.env, HOME: this.home}});
		this.waiting = new Map();
		this.id = 0;
		this.rest = '';
		this.errors = [];
		this.process.stdio[4].setEncoding('utf8').on('data', (s) => this.receive(s));
		this.process.on('error', (e) => this.fail(e));
		this.process.on('exit', () => this.fail(new Error('the browser ended')));
	}
	fail(e) {
		for (const w of this.waiting.values())
			w.reject(e);
		this.waiting.clear();
	}
	receive(s) {
		const parts = (this.rest + s).split('\0');
		this.rest = parts.pop();
		for (const part of parts) {
			const m = JSON.parse(part), w = this.waiting.get(m.id);
			if (m.method === 'Runtime.exceptionThrown')
				this.errors.push(m.params.exceptionDetails.exception?.description || 'error');
			if (!w)
				continue;
			this.waiting.delete(m.id);
			if (m.error)
				w.reject(new Error(m.error.message));
			else
				w.resolve(m.result);
		}
	}
	send(method, params = {}) {
		const id = ++this.id;
		return new Promise((resolve, reject) => {
			const timer = setTimeout(() => reject(new Error(method + ': no answer')), TIMEOUT);
			const settle = (f) => (v) => {
				clearTimeout(timer);
				f(v);
			};
			this.waiting.set(id, {resolve: settle(resolve), reject: settle(reject)});
			this.process.stdio[3].write(JSON.stringify(
				{id, method, params, sessionId: this.session}) + '\0');
		});
	}
	static async open(url, {width = 1200, height = 800, flags = [], dark = false, script = true} = {}) {
		const b = new Browser(flags);
		const {targetId} = await b.send('Target.createTarget', {url: 'about:blank'});
		b.session = (await b.send('Target.attachToTarget', {targetId, flatten: true})).sessionId;
		await b.send('Page.enable');
		await b.send('Runtime.enable');
		await b.resize(width, height);
		await b.send('Emulation.setEmulatedMedia', {features:
			[{name: 'prefers-color-scheme', value: dark ? 'dark' : 'light'}]});
		await b.send('Emulation.setScriptExecutionDisabled', {value: !script});
		await b.go(url);
		return b;
	}
	resize(width, height) {
		return this.send('Emulation.setDeviceMetricsOverride',
			{width, height, deviceScaleFactor: 1, mobile: false});
	}
	async go(url) {
		await this.send('Page.navigate', {url});
		for (let i = 0; i < 300; i++) {
			if (await this.eval('document.readyState') === 'complete' &&
				(await this.eval('location.protocol') !== 'about:' || url.startsWith('about:')))
				return;
			await new Promise((r) => setTimeout(r, 20));
		}
		throw new Error('the page does not load');
	}
	async eval(expression) {
		const r = await this.send('Runtime.evaluate', {expression, returnByValue: true,
			awaitPromise: true});
		if (r.exceptionDetails)
			throw new Error(r.exceptionDetails.exception?.description);
		return r.result.value;
	}
	// The middle of the first element that the expression gives.
	async place(expression) {
		return this.eval(`(() => { const e = ${expression}, r = e.getBoundingClientRect();
			return {x: r.x + r.width / 2, y: r.y + r.height / 2}; })()`);
	}
	async click(expression) {
		const at = await this.place(expression);
		for (const type of ['mouseMoved', 'mousePressed', 'mouseReleased'])
			await this.send('Input.dispatchMouseEvent', {type, ...at, clickCount: 1,
				button: type === 'mouseMoved' ? 'none' : 'left'});
	}
	async hover(expression) {
		const at = await this.place(expression);
		await this.send('Input.dispatchMouseEvent', {type: 'mouseMoved', ...at});
	}
	// modifiers: 1 Alt, 2 Ctrl, 4 Meta, 8 Shift
	async key(key, modifiers = 0) {
		for (const type of ['keyDown', 'keyUp'])
			await this.send('Input.dispatchKeyEvent', {type, key, modifiers,
				...(key === 'Enter' && type === 'keyDown' ? {text: '\r'} : {})});
	}
	type(text) {
		return this.send('Input.insertText', {text});
	}
	async shoot(file) {
		const {data} = await this.send('Page.captureScreenshot', {format: 'png'});
		fs.writeFileSync(file, Buffer.from(data, 'base64'));
	}
	async close() {
		const ended = new Promise((r) => this.process.once('exit', r));
		this.send('Browser.close').catch(() => {});
		await ended;
		fs.rmSync(this.home, {recursive: true, force: true, maxRetries: 5});
	}
}

// A page of the test's folder; a line of the result; waiting until an expression has a value, which is returned.
const url = (name) => 'file://' + process.cwd() + '/' + name;
const is = (got, want, name) => console.log(JSON.stringify(got) === JSON.stringify(want) ? 'pass\t' + name :
	'fail\t' + name + ': got ' + JSON.stringify(got) + ', wanted ' + JSON.stringify(want));
const until = async (page, expression, want) => {
	for (let i = 0; i < 200 && await page.eval(expression).catch(() => null) !== want; i++)
		await new Promise((r) => setTimeout(r, 50));
	return page.eval(expression);
};

module.exports = {Browser, url, is, until};
