// What a file that pconv wrote says of functions: a line EVENT, NAME, TOTAL, SELF for each, with tabs between. It
// fails where a place is not there, sums are wrong, or something comes before what it needs: a schema tells no such
// things.
//
//	node t/oracle/convert.js speedscope|firefox|chrome FILE [odd]
//	node t/oracle/convert.js firefox FILE PROFILER-CLI
//
// odd: only functions that are twice in a stack, or that are called in one and the outermost of another, of any event.
// PROFILER-CLI: as it tells of the file, which it has loaded.
'use strict'
const [format, file, how] = process.argv.slice(2), odd = how === 'odd'
const data = JSON.parse(require('fs').readFileSync(file))
// By name, of all events: whether it was the outermost function of a stack; those that were and were not.
const roots = new Map(), mixed = new Set()
const rows = new Map()

function need(what, good) {
	if (!good) throw new Error(what)
}

// A sample: names from the leaf to the root.
function add(event, names, weight) {
	new Set(names).forEach(name => {
		const key = event + '\t' + name, row = rows.get(key) || {total: 0, self: 0, odd: false}
		row.total += weight
		if (name === names[0]) row.self += weight
		rows.set(key, row)
	})
	names.forEach((name, i) => {
		const row = rows.get(event + '\t' + name), root = i === names.length - 1
		row.odd = row.odd || names.indexOf(name) !== i
		if (roots.has(name) && roots.get(name) !== root) mixed.add(name)
		roots.set(name, root)
	})
}

function speedscope(p) {
	const frames = p.shared.frames
	for (const q of p.profiles) {
		need('shape', q.type === 'sampled' && q.samples.length === q.weights.length && q.startValue === 0)
		need('sum', q.weights.reduce((a, b) => a + b, 0) === q.endValue)
		q.samples.forEach((s, i) => {
			need('frame', s.every(f => Number.isInteger(f) && f >= 0 && f < frames.length))
			add(q.event, s.map(f => frames[f].name).reverse(), q.weights[i])
		})
	}
}

function firefox(p) {
	const strings = p.shared.stringArray
	for (const t of p.threads) {
		const {samples, stackTable, frameTable, funcTable, resourceTable} = t
		for (const table of [samples, stackTable, frameTable, funcTable, resourceTable])
			for (const c in table) need(c, !Array.isArray(table[c]) || table[c].length === table.length)
		stackTable.prefix.forEach((v, i) => need('prefix', v === null || v < i))
		stackTable.frame.forEach(f => need('frame', f >= 0 && f < frameTable.length))
		frameTable.func.forEach(f => need('func', f >= 0 && f < funcTable.length))
		funcTable.name.forEach(s => need('name', strings[s]))
		samples.stack.forEach((s, i) => {
			need('stack', s === null || (s >= 0 && s < stackTable.length))
			const names = []
			for (; s !== null; s = stackTable.prefix[s]) names.push(strings[funcTable.name[frameTable.func[stackTable.frame[s]]]])
			add(t.event, names, Math.round(samples.weight[i] * (samples.weightType === 'tracing-ms' ? 1e6 : 1)))
		})
	}
}

// As V8 has it: nodes before their samples, parents before their children, no time before another.
function chrome(events) {
	const profiles = {}
	for (const e of events) {
		need('event', typeof e.pid === 'number' && typeof e.tid === 'number' && e.cat && e.name && typeof e.ts === 'number')
		const d = e.args && e.args.data
		if (e.name === 'Profile') profiles[e.id] = {nodes: {}, time: d.startTime, event: d.event}
		if (e.name !== 'ProfileChunk') continue
		const p = profiles[e.id]
		for (const n of d.cpuProfile.nodes) {
			const name = n.callFrame.functionName, up = n.parent ? p.nodes[n.parent] : []
			need('node', !p.nodes[n.id] && up && (n.parent || name === '(root)'))
			p.nodes[n.id] = n.parent ? [name].concat(up) : []
		}
		need('length', d.cpuProfile.samples.length === d.timeDeltas.length && d.weights.length === d.timeDeltas.length)
		d.cpuProfile.samples.forEach((s, i) => {
			need('sample', p.nodes[s])
			if (p.nodes[s][0] !== '(idle)') add(p.event, p.nodes[s], d.weights[i])
			p.time += d.timeDeltas[i]
		})
		need('end', p.time <= d.endTime)
	}
}

function told(p, program) {
	p.threads.forEach((t, i) => {
		const args = ['thread', 'functions', '--json', '--include-idle', '--limit', '0', '--thread', 't-' + i]
		const got = JSON.parse(require('child_process').execFileSync(program, args, {maxBuffer: 1 << 28}))
		const one = got.weightType === 'tracing-ms' ? 1e6 : 1
		for (const f of got.functions) {
			const key = t.event + '\t' + f.name, row = rows.get(key) || {total: 0, self: 0}
			row.total += Math.round(f.totalSamples * one)
			row.self += Math.round(f.selfSamples * one)
			rows.set(key, row)
		}
	})
}

if (how && !odd) told(data, how)
else ({speedscope, firefox, chrome})[format](data)
for (const [key, row] of rows)
	if (!odd || row.odd || mixed.has(key.split('\t')[1])) console.log([key, row.total, row.self].join('\t'))
