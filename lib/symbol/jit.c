/* Reads perf maps and jitdump files, and follows code that is moved or replaced over time. */
#include "symbol/jit.h"

#include "base/cursor.h"
#include "base/err.h"
#include "base/intern.h"
#include "symbol/ranges.h"

#include <stdlib.h>
#include <string.h>

#define DUMP_MAGIC	0x4a695444u /* "JiTD" */
#define DUMP_ARCH_TIME	1u
#define DUMP_HEADER_MIN 40
#define RECORD_HEADER	16
#define V8_HEADER	64

enum record {
	JIT_LOAD = 0,
	JIT_MOVE = 1,
	JIT_DEBUG_INFO = 2,
	JIT_CLOSE = 3,
	JIT_UNWINDING = 4,
};

/* A code comes to an address; with `from` it leaves another one. */
struct event {
	uint64_t time;
	uint64_t from, size;
	uint32_t code, order;
	bool move;
};

struct line {
	uint64_t addr;
	uint32_t file, line, column;
	uint32_t order; /* in the file */
};

struct jit {
	struct intern texts; /* names, files */
	struct jit_code *codes;
	uint32_t ncodes, codes_cap;
	struct event *events;
	uint32_t nevents, events_cap, next;
	struct line *lines;
	uint32_t nlines, lines_cap;
	/* The debug info record before the load that it is for. */
	uint64_t pending_addr;
	uint32_t pending, npending;
	uint32_t tables;	 /* of the unwinding record before the load that it is for */
	struct intern unwinding; /* contents of such records */
	struct intern bodies;	 /* the code itself */
	size_t nbodies;		 /* bytes of it */
	struct map64 by_index;	 /* code_index of the dump: code */
	struct ranges now;
	bool missed; /* an address without code was looked up */
};

int jit_new(struct jit **j)
{
	*j = calloc(1, sizeof(**j));
	return *j ? 0 : PP_ENOMEM;
}

void jit_free(struct jit *j)
{
	if (!j)
		return;
	intern_release(&j->texts);
	intern_release(&j->unwinding);
	intern_release(&j->bodies);
	map64_release(&j->by_index);
	ranges_release(&j->now);
	free(j->codes);
	free(j->events);
	free(j->lines);
	free(j);
}

/* Room for one more of n elements; NULL: out of memory, with the old ones kept. */
static void *grow(void *v, uint32_t n, uint32_t *cap, size_t size)
{
	uint32_t more = *cap ? *cap * 2 : 256;
	void *p;

	if (n < *cap)
		return v;
	p = realloc(v, more * size);
	if (p)
		*cap = more;
	return p;
}

/* A new code; *id counts from 1. */
static int add_code(struct jit *j, uint64_t start, uint64_t size, const char *name, size_t len,
		    uint32_t *id)
{
	struct jit_code c = {.start = start, .origin = start};
	struct jit_code *v;
	int rc;

	if (j->ncodes == JIT_CODES_MAX)
		return PP_ELIMIT;
	if (__builtin_add_overflow(start, size, &c.end))
		c.end = UINT64_MAX;
	rc = intern_add(&j->texts, name, len, &c.name, NULL);
	if (rc)
		return rc;
	v = grow(j->codes, j->ncodes, &j->codes_cap, sizeof(*v));
	if (!v)
		return PP_ENOMEM;
	j->codes = v;
	v[j->ncodes++] = c;
	*id = j->ncodes;
	return 0;
}

/* ---- perf map ---- */

static bool get_hex(const char **p, const char *end, uint64_t *v)
{
	const char *from = *p;

	/* Some writers put 0x before the numbers. */
	if (end - *p > 2 && (*p)[0] == '0' && (*p)[1] == 'x')
		from = *p += 2;
	for (*v = 0; *p < end; (*p)++) {
		char c = **p;
		int digit = c >= '0' && c <= '9'		 ? c - '0'
			    : (c | 32) >= 'a' && (c | 32) <= 'f' ? (c | 32) - 'a' + 10
								 : -1;

		if (digit < 0)
			break;
		*v = *v << 4 | (uint64_t)digit;
	}
	return *p > from && *p - from <= 16 && *p < end && *(*p)++ == ' ';
}

int jit_map(struct jit *j, const char *text, size_t len, uint64_t *bad)
{
	const char *p = text, *end = text + len;
	int rc = 0;

	*bad = 0;
	while (p < end && !rc) {
		const char *eol = memchr(p, '\n', (size_t)(end - p)), *next;
		uint64_t start, size;
		uint32_t code;

		/* A last line without an end is being written. */
		if (!eol)
			break;
		next = eol + 1;
		while (eol > p && (eol[-1] == '\r' || eol[-1] == ' '))
			eol--;
		if (!get_hex(&p, eol, &start) || !get_hex(&p, eol, &size) || p == eol)
			++*bad;
		else if (size) {
			rc = add_code(j, start, size, p, (size_t)(eol - p), &code);
			if (!rc)
				rc = ranges_put(&j->now, start, j->codes[code - 1].end, code, NULL);
		}
		p = next;
	}
	return rc;
}

/* ---- jitdump ---- */

static int add_event(struct jit *j, const struct event *e)
{
	struct event *v = grow(j->events, j->nevents, &j->events_cap, sizeof(*v));

	if (!v)
		return PP_ENOMEM;
	j->events = v;
	v[j->nevents] = *e;
	v[j->nevents].order = j->nevents;
	j->nevents++;
	return 0;
}

static int by_addr(const void *a, const void *b)
{
	const struct line *x = a, *y = b;

	if (x->addr != y->addr)
		return x->addr < y->addr ? -1 : 1;
	return x->order < y->order ? -1 : x->order > y->order;
}

/*
 * Gives a new code the lines that came before it. V8 counts addresses from the header of an ELF
 * file that would hold the code, and tells columns where the discriminator is. In Node.js 20 the
 * names of files are garbage, so that what follows one is, too: nothing of a record is believed
 * that has addresses outside of the code.
 */
static bool take_lines(struct jit *j, struct jit_code *code, const char *name)
{
	struct line *l = j->lines + j->pending;
	uint32_t n = j->npending;
	bool v8 = !strncmp(name, "JS:", 3), sorted = true;

	for (uint32_t i = 0; i < n; i++) {
		uint64_t header = v8 ? V8_HEADER : 0;

		if (l[i].addr - header < code->start || l[i].addr - header > code->end)
			return false;
		l[i].addr -= header;
		l[i].column = v8 ? l[i].column : 0;
		sorted = sorted && (!i || l[i - 1].addr <= l[i].addr);
	}
	if (!sorted)
		qsort(l, n, sizeof(*l), by_addr);
	code->lines = j->pending;
	code->nlines = n;
	return true;
}

/* The code that comes after the name. */
static int keep_body(struct jit *j, const struct cursor *c, uint64_t size, uint32_t *bytes)
{
	bool fresh;
	int rc;

	if (size > cursor_left(c) || size > JIT_BYTES_MAX - j->nbodies)
		return 0;
	rc = intern_add(&j->bodies, c->p, size, bytes, &fresh);
	if (!rc && fresh)
		j->nbodies += size;
	return rc;
}

static int on_load(struct jit *j, struct cursor *c, uint64_t time, struct jit_dump_info *info)
{
	struct event e = {.time = time};
	struct cursor body;
	uint64_t addr, index;
	uint32_t *slot;
	const char *name;
	size_t len;
	int rc;

	cursor_skip(c, 8 + 8); /* pid, tid, vma */
	addr = get_u64(c);
	e.size = get_u64(c);
	index = get_u64(c);
	if (c->bad)
		return PP_ECORRUPT;
	body = *c;
	name = get_text(c, cursor_left(c), &len);
	if (!name || !e.size)
		return 0;
	cursor_skip(&body, len + 1);
	rc = add_code(j, addr, e.size, name, len, &e.code);
	if (rc)
		return rc;
	if (j->npending && j->pending_addr == addr)
		info->bad_lines += !take_lines(j, &j->codes[e.code - 1], name);
	j->npending = 0;
	j->codes[e.code - 1].tables = j->tables;
	j->tables = 0;
	rc = keep_body(j, &body, e.size, &j->codes[e.code - 1].bytes);
	if (rc)
		return rc;
	slot = map64_put(&j->by_index, index, NULL);
	if (!slot)
		return PP_ENOMEM;
	*slot = e.code;
	return add_event(j, &e);
}

static int on_move(struct jit *j, struct cursor *c, uint64_t time)
{
	struct event e = {.time = time, .move = true};
	uint64_t to, index;
	struct jit_code old;
	uint32_t *known;
	const char *name;
	size_t len;
	int rc;

	cursor_skip(c, 8 + 8); /* pid, tid, vma */
	e.from = get_u64(c);
	to = get_u64(c);
	e.size = get_u64(c);
	index = get_u64(c);
	known = map64_get(&j->by_index, index);
	if (c->bad)
		return PP_ECORRUPT;
	if (!known || !e.size)
		return 0;
	old = j->codes[*known - 1];
	name = intern_get(&j->texts, old.name, &len);
	rc = add_code(j, to, e.size, name, len, &e.code);
	if (rc)
		return rc;
	/* Its lines have the addresses that they had. */
	j->codes[e.code - 1].origin = old.origin;
	j->codes[e.code - 1].lines = old.lines;
	j->codes[e.code - 1].nlines = old.nlines;
	j->codes[e.code - 1].tables = old.tables;
	*known = e.code;
	return add_event(j, &e);
}

static int on_debug_info(struct jit *j, struct cursor *c)
{
	uint64_t n, addr = get_u64(c);
	uint32_t first = j->nlines, file = 0;

	n = get_u64(c);
	/* 17 bytes an entry at least. */
	if (c->bad || n > cursor_left(c) / 17)
		return PP_ECORRUPT;
	for (uint64_t i = 0; i < n; i++) {
		struct line l, *v;
		const char *name;
		size_t len;
		int rc = 0;

		l.addr = get_u64(c);
		l.line = get_u32(c);
		l.column = get_u32(c); /* a discriminator, but of V8 */
		l.order = j->nlines;
		len = strnlen((const char *)c->p, cursor_left(c));
		name = (const char *)get_bytes(c, len + 1);
		if (c->bad)
			return PP_ECORRUPT;
		/* 0xff and the end: the file of the entry before. */
		if (!(len == 1 && (uint8_t)name[0] == 0xff))
			rc = intern_add(&j->texts, name, len, &file, NULL);
		v = rc ? NULL : grow(j->lines, j->nlines, &j->lines_cap, sizeof(*v));
		if (!v)
			return rc ? rc : PP_ENOMEM;
		l.file = file;
		j->lines = v;
		v[j->nlines++] = l;
	}
	j->pending_addr = addr;
	j->pending = first;
	j->npending = j->nlines - first;
	return 0;
}

/* Unwind tables: .eh_frame and its header. In the other byte order they are left out. */
static int on_unwinding(struct jit *j, struct cursor *c)
{
	uint64_t size = get_u64(c), header = get_u64(c);
	const void *bytes;

	get_u64(c); /* what of it is mapped */
	j->tables = 0;
	bytes = get_bytes(c, size);
	if (!bytes || header > size)
		return PP_ECORRUPT;
	if (c->swap || header == size)
		return 0;
	return intern_add(&j->unwinding, bytes, (size_t)(size - header), &j->tables, NULL);
}

static int by_time(const void *a, const void *b)
{
	const struct event *x = a, *y = b;

	if (x->time != y->time)
		return x->time < y->time ? -1 : 1;
	return x->order < y->order ? -1 : x->order > y->order;
}

/* The header: 0, or PP_EUNSUPPORTED. */
static int read_header(struct cursor *c, struct jit_dump_info *info)
{
	uint32_t magic = get_u32(c), version, size;

	if (magic == __builtin_bswap32(DUMP_MAGIC))
		c->swap = true;
	else if (magic != DUMP_MAGIC)
		return PP_EUNSUPPORTED;
	version = get_u32(c);
	size = get_u32(c);
	info->machine = get_u32(c);
	get_u32(c); /* padding */
	info->pid = get_u32(c);
	get_u64(c); /* time */
	info->arch_time = get_u64(c) & DUMP_ARCH_TIME;
	if (c->bad || version != 1 || size < DUMP_HEADER_MIN)
		return PP_EUNSUPPORTED;
	cursor_skip(c, size - DUMP_HEADER_MIN);
	return 0;
}

static int on_record(struct jit *j, uint32_t id, struct cursor *c, uint64_t time,
		     struct jit_dump_info *info)
{
	switch (id) {
	case JIT_LOAD: info->loads++; return on_load(j, c, time, info);
	case JIT_MOVE: info->moves++; return on_move(j, c, time);
	case JIT_DEBUG_INFO: return on_debug_info(j, c);
	case JIT_UNWINDING: return on_unwinding(j, c);
	case JIT_CLOSE: info->closed = true; return 0;
	default: return 0; /* what comes later */
	}
}

int jit_dump(struct jit *j, const void *bytes, size_t len, struct jit_dump_info *info)
{
	struct cursor c = cursor_make(bytes, len, false);
	int rc;

	*info = (struct jit_dump_info){0};
	rc = read_header(&c, info);
	while (!rc && cursor_left(&c) && !info->cut) {
		uint32_t id = get_u32(&c), size = get_u32(&c);
		uint64_t time = get_u64(&c);
		struct cursor body;

		/* A process that was killed leaves a record half written. */
		if (c.bad || size < RECORD_HEADER || size - RECORD_HEADER > cursor_left(&c)) {
			info->cut = true;
			break;
		}
		body = cursor_sub(&c, size - RECORD_HEADER);
		/* Where times cannot be compared the last state holds. */
		rc = on_record(j, id, &body, info->arch_time ? 0 : time, info);
		if (rc == PP_ECORRUPT) {
			info->cut = true;
			rc = 0;
		}
	}
	if (!rc && j->nevents)
		qsort(j->events, j->nevents, sizeof(*j->events), by_time);
	return rc;
}

int jit_advance(struct jit *j, uint64_t time, bool *changed)
{
	while (j->next < j->nevents && j->events[j->next].time <= time) {
		const struct event *e = &j->events[j->next++];
		const struct jit_code *code = &j->codes[e->code - 1];
		int rc = 0;

		if (e->move)
			rc = ranges_put(&j->now, e->from, e->from + e->size, 0, changed);
		if (!rc)
			rc = ranges_put(&j->now, code->start, code->end, e->code, changed);
		if (rc)
			return rc;
		if (j->missed)
			*changed = true;
	}
	if (*changed)
		j->missed = false;
	return 0;
}

uint32_t jit_find(struct jit *j, uint64_t addr)
{
	uint32_t code = ranges_find(&j->now, addr);

	if (!code)
		j->missed = true;
	return code;
}

const struct jit_code *jit_code(const struct jit *j, uint32_t code)
{
	return &j->codes[code - 1];
}

const char *jit_name(const struct jit *j, uint32_t code)
{
	return intern_get(&j->texts, j->codes[code - 1].name, NULL);
}

uint32_t jit_count(const struct jit *j)
{
	return j->ncodes;
}

int jit_line(const struct jit *j, uint32_t code, uint64_t addr, struct source_frame *f)
{
	const struct jit_code *c = &j->codes[code - 1];
	const struct line *l = j->lines + c->lines;
	uint32_t lo = 0, hi = c->nlines;

	addr = addr - c->start + c->origin;
	while (lo < hi) {
		uint32_t mid = lo + (hi - lo) / 2;

		if (l[mid].addr <= addr)
			lo = mid + 1;
		else
			hi = mid;
	}
	if (!lo || !l[lo - 1].file)
		return PP_ENOENT;
	*f = (struct source_frame){.file = intern_get(&j->texts, l[lo - 1].file, NULL),
				   .line = l[lo - 1].line,
				   .column = l[lo - 1].column};
	return 0;
}

const void *jit_bytes(const struct jit *j, uint32_t bytes, size_t *n)
{
	return intern_get(&j->bodies, bytes, n);
}

const void *jit_tables(const struct jit *j, uint32_t code, size_t *n)
{
	return intern_get(&j->unwinding, j->codes[code - 1].tables, n);
}
