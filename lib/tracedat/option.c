/* Options of trace.dat: facts about the recording, and where its parts are. */
#include "tracedat/parts.h"

#include "base/array.h"
#include "base/err.h"

#include <stdio.h>
#include <stdlib.h>

/* ---- what the kernel counted of each CPU (CPUSTAT) ---- */

#define WORD 32 /* bytes of a number in a text */

static uint64_t number_after(const char *text, size_t len, const char *key)
{
	const char *p = memmem(text, len, key, strlen(key));
	char word[WORD] = "";

	if (!p)
		return 0;
	p += strlen(key);
	len -= (size_t)(p - text);
	memcpy(word, p, len < WORD - 1 ? len : WORD - 1);
	return strtoull(word, NULL, 10);
}

/* "\nBuffer: NAME\n\n" comes before the counts of a further buffer. */
static int count_buffer(struct trace_counts *v, struct arena *a, const char *text, size_t len)
{
	const char *name = memmem(text, len, "Buffer: ", 8), *end;

	if (!name || v->nbuffers >= TRACE_BUFFERS_MAX)
		return 0;
	name += 8;
	len -= (size_t)(name - text);
	end = memchr(name, '\n', len);
	if (!v->names)
		v->names = calloc(TRACE_BUFFERS_MAX, sizeof(*v->names));
	if (!v->names)
		return PP_ENOMEM;
	v->names[v->nbuffers] = arena_dup(a, name, end ? (size_t)(end - name) : len);
	return v->names[v->nbuffers++] ? 0 : PP_ENOMEM;
}

int trace_count(struct trace *t, const char *text, size_t len)
{
	struct trace_counts *v = &t->counts;
	struct trace_count *to;

	if (!len || !memmem(text, len, "CPU: ", 5))
		return count_buffer(v, &t->arena, text, len);
	if (v->n >= TRACE_CPUS_MAX)
		return 0;
	to = array_widen(v->v, &v->cap, v->n, 16, sizeof(*to));
	if (!to)
		return PP_ENOMEM;
	v->v = to;
	v->v[v->n++] = (struct trace_count){
		.buffer = v->nbuffers,
		.cpu = (uint32_t)number_after(text, len, "CPU: "),
		/* Not all had been read by then. */
		.events = number_after(text, len, "read events: ") +
			  number_after(text, len, "entries: "),
	};
	return 0;
}

static int put_meta(struct trace *t, const char *key, const char *value, size_t len)
{
	struct ps_meta m = {.key = ps_str(key, strlen(key)), .value = ps_str(value, len)};

	return swriter_put(t->w, PS_META, t->source, &m);
}

int trace_meta(struct trace *t, const char *key, const char *value, size_t len)
{
	uint32_t n = (uint32_t)len;

	if (t->announced)
		return put_meta(t, key, value, len);
	buf_add(&t->metas, key, strlen(key) + 1);
	buf_add(&t->metas, &n, sizeof(n));
	buf_add(&t->metas, value, len);
	return t->metas.err;
}

int trace_announce(struct trace *t)
{
	struct ps_source s = {.kind = 2,
			      .long_bits = t->long_size * 8,
			      .big_endian = t->big_endian,
			      .page_size = t->page_size,
			      .name = ps_str(t->name, strlen(t->name))};
	int rc;

	if (t->clock)
		s.clock = ps_str(t->clock, strlen(t->clock));
	rc = swriter_put(t->w, PS_SOURCE, t->source, &s);
	for (size_t at = 0; at < t->metas.len && !rc;) {
		const char *key = (const char *)t->metas.data + at;
		uint32_t n;

		at += strlen(key) + 1;
		memcpy(&n, t->metas.data + at, sizeof(n));
		at += sizeof(n);
		rc = put_meta(t, key, (const char *)t->metas.data + at, n);
		at += n;
	}
	t->announced = true;
	buf_release(&t->metas);
	return rc;
}

/* ---- clocks and times ---- */

/* Clocks that count ns; the others count ticks. */
static bool counts_ns(const char *clock)
{
	static const char *const clocks[] = {"local", "global",	  "uptime",
					     "perf",  "tsc2nsec", "tai"};

	for (size_t i = 0; i < sizeof(clocks) / sizeof(clocks[0]); i++)
		if (!strcmp(clock, clocks[i]))
			return true;
	return !strncmp(clock, "mono", 4);
}

void trace_clock(struct trace *t, const char *text, size_t len)
{
	const char *open = memchr(text, '[', len), *close;
	char *clock;

	if (!open)
		return;
	len -= (size_t)(open + 1 - text);
	close = memchr(open + 1, ']', len);
	clock = arena_dup(&t->arena, open + 1, close ? (size_t)(close - open - 1) : len);
	if (!clock)
		return;
	t->clock = clock;
	t->ticks = !t->tsc_mult && !counts_ns(clock);
}

/* A number as text: decimal or hexadecimal, with sign. */
static int64_t text_number(const uint8_t *p, uint32_t len)
{
	char text[64];

	if (len > sizeof(text) - 1)
		len = sizeof(text) - 1;
	memcpy(text, p, len);
	text[len] = 0;
	return strtoll(text, NULL, 0);
}

static int by_time(const void *a, const void *b)
{
	const struct trace_shift *x = a, *y = b;

	return (x->time > y->time) - (x->time < y->time);
}

/*
 * Of each CPU: a count, then that many times, offsets, scalings; for all CPUs in the end
 * fractions.
 */
static int time_shift(struct trace *t, struct tin *in)
{
	uint64_t sum = 0;
	uint32_t n;

	tin_u64(in); /* trace id of the peer */
	t->shift_flags = tin_u32(in);
	n = tin_u32(in);
	if (in->err || t->shifts)
		return in->err;
	if (n > TRACE_CPUS_MAX)
		return PP_ELIMIT;
	t->shifts = calloc(n ? n : 1, sizeof(*t->shifts));
	if (!t->shifts)
		return PP_ENOMEM;
	t->nshifts = n;
	trace_meta(t, "time_shift", "", 0);
	for (uint32_t i = 0; i < n && !in->err; i++) {
		struct trace_shifts *s = &t->shifts[i];
		uint32_t count = tin_u32(in);

		sum += count;
		if (sum > TRACE_SHIFTS_MAX)
			return PP_ELIMIT;
		s->v = calloc(count ? count : 1, sizeof(*s->v));
		if (!s->v)
			return PP_ENOMEM;
		s->n = count;
		for (uint32_t k = 0; k < count; k++)
			s->v[k].time = tin_u64(in);
		for (uint32_t k = 0; k < count; k++)
			s->v[k].offset = (int64_t)tin_u64(in);
		for (uint32_t k = 0; k < count; k++)
			s->v[k].scaling = tin_u64(in);
	}
	for (uint32_t i = 0; i < n && in->pos < in->end && !in->err; i++)
		for (uint32_t k = 0; k < t->shifts[i].n; k++)
			t->shifts[i].v[k].fraction = tin_u64(in);
	for (uint32_t i = 0; i < n; i++) {
		struct trace_shifts *s = &t->shifts[i];
		uint32_t kept = 0;

		if (!s->v)
			continue;
		qsort(s->v, s->n, sizeof(*s->v), by_time);
		for (uint32_t k = 0; k < s->n; k++)
			if (!k || s->v[k].time != s->v[k - 1].time)
				s->v[kept++] = s->v[k];
		s->n = kept;
	}
	return in->err;
}

static int tsc2nsec(struct trace *t, struct tin *in)
{
	char text[64];
	uint64_t offset;

	t->tsc_mult = tin_u32(in);
	t->tsc_shift = tin_u32(in);
	offset = tin_u64(in);
	if (in->err)
		return in->err;
	if (t->tsc_shift > 63) {
		t->tsc_mult = 0;
		return PP_ECORRUPT;
	}
	if (t->tsc_mult)
		t->ticks = false;
	snprintf(text, sizeof(text), "%u %u %llu", t->tsc_mult, t->tsc_shift,
		 (unsigned long long)offset);
	return trace_meta(t, "tsc2nsec", text, strlen(text));
}

/* ---- buffers ---- */

int trace_add_buffer(struct trace *t, const char *name, struct trace_buffer **out)
{
	struct trace_buffer *v;

	if (t->nbuffers >= TRACE_BUFFERS_MAX)
		return PP_ELIMIT;
	if (!t->buffers) {
		/* CPUs point to their buffer: it must not move. */
		t->buffers = calloc(TRACE_BUFFERS_MAX, sizeof(*v));
		if (!t->buffers)
			return PP_ENOMEM;
	}
	v = &t->buffers[t->nbuffers];
	*v = (struct trace_buffer){.name = name,
				   .clock = "",
				   .page_size = t->page_size,
				   .index = t->nbuffers++,
				   .first = t->ncpus};
	*out = v;
	return 0;
}

int trace_add_cpu(struct trace *t, struct trace_buffer *b, uint32_t cpu, uint64_t offset,
		  uint64_t size)
{
	if (t->ncpus >= TRACE_CPUS_MAX)
		return PP_ELIMIT;
	if (t->ncpus == t->cpus_cap) {
		uint32_t cap = t->cpus_cap ? t->cpus_cap * 2 : 16;
		struct trace_cpu *v = realloc(t->cpus, cap * sizeof(*v));

		if (!v)
			return PP_ENOMEM;
		t->cpus = v;
		t->cpus_cap = cap;
	}
	t->cpus[t->ncpus++] =
		(struct trace_cpu){.buffer = b, .cpu = cpu, .offset = offset, .size = size};
	b->n++;
	return 0;
}

static int buffer_option(struct trace *t, struct tin *in, bool text)
{
	uint64_t offset = tin_u64(in);
	const char *name = tin_text(in);
	struct trace_buffer *b;
	uint32_t n;
	int rc = in->err ? in->err : trace_add_buffer(t, name, &b);

	if (rc)
		return rc;
	b->offset = offset;
	b->text = text;
	if (t->version < 7)
		return 0;
	b->clock = tin_text(in);
	if (!b->clock) {
		b->clock = "";
		return in->err;
	}
	if (!*name && !t->clock)
		t->clock = b->clock;
	if (text)
		return 0;
	b->page_size = tin_u32(in);
	n = tin_u32(in);
	for (uint32_t i = 0; i < n && !rc; i++) {
		uint32_t cpu = tin_u32(in);
		uint64_t at = tin_u64(in), size = tin_u64(in);

		rc = in->err ? in->err : trace_add_cpu(t, b, cpu, at, size);
	}
	return rc;
}

/* ---- options ---- */

/* "Linux host 6.1.0 #1 SMP ... x86_64": its parts are what perf.data has in parts. */
static int uname_option(struct trace *t, const char *s, size_t len)
{
	static const char *const keys[] = {NULL, "hostname", "osrelease"};
	const char *p = s, *end = s + len, *last = end;
	int rc = trace_meta(t, "uname", s, len);

	for (int i = 0; i < 3 && p < end && !rc; i++) {
		const char *space = memchr(p, ' ', (size_t)(end - p));

		if (!space)
			space = end;
		if (keys[i])
			rc = trace_meta(t, keys[i], p, (size_t)(space - p));
		p = space < end ? space + 1 : end;
	}
	while (last > p && last[-1] != ' ')
		last--;
	return rc || last == end ? rc : trace_meta(t, "arch", last, (size_t)(end - last));
}

static int text_option(struct trace *t, const char *key, const uint8_t *p, uint32_t len)
{
	return trace_meta(t, key, (const char *)p, p ? strnlen((const char *)p, len) : 0);
}

/* What the kernel counted for a CPU, a number a line. */
static int cpu_stat(struct trace *t, const uint8_t *p, uint32_t len)
{
	const char *s = (const char *)p;
	size_t n = p ? strnlen(s, len) : 0, at = 0;
	struct buf b = BUF_INIT;

	while (t->stats && at < n) {
		const char *nl = memchr(s + at, '\n', n - at);
		size_t end = nl ? (size_t)(nl - s) : n;

		if (end > at && b.len)
			buf_adds(&b, ", ");
		buf_add(&b, s + at, end - at);
		at = end + 1;
	}
	if (b.len)
		diag_say(t->d, t->name, "the kernel's account: %s", buf_str(&b));
	buf_release(&b);
	return trace_count(t, s, n) ? PP_ENOMEM : text_option(t, "cpustat", p, len);
}

static int number_option(struct trace *t, const char *key, uint64_t v)
{
	char text[32];

	snprintf(text, sizeof(text), "%llu", (unsigned long long)v);
	return trace_meta(t, key, text, strlen(text));
}

static int date_option(struct trace *t, unsigned id, const uint8_t *p, uint32_t len)
{
	int64_t v = text_number(p, len);
	int rc;

	/* A date is in us. Wraps like the times that it is added to. */
	t->ts_offset = (int64_t)((uint64_t)t->ts_offset +
				 (uint64_t)v * (id == TRACE_OPT_DATE ? 1000u : 1u));
	/* With a date, times are those of the day. */
	if (id == TRACE_OPT_DATE && (rc = trace_meta(t, "wall_offset", "0", 1)))
		return rc;
	return text_option(t, id == TRACE_OPT_DATE ? "date_offset" : "offset", p, len);
}

/* One option. Damage of one that is not needed is noted only. */
static int option(struct trace *t, unsigned id, const uint8_t *p, uint32_t len)
{
	struct tin in;

	tin_mem(&in, t, p, len);
	switch (id) {
	case TRACE_OPT_DATE:
	case TRACE_OPT_OFFSET: return date_option(t, id, p, len);
	case TRACE_OPT_CPUSTAT: return cpu_stat(t, p, len);
	case TRACE_OPT_BUFFER:
	case TRACE_OPT_BUFFER_TEXT: return buffer_option(t, &in, id == TRACE_OPT_BUFFER_TEXT);
	case TRACE_OPT_TRACECLOCK: trace_clock(t, (const char *)p, len); return 0;
	case TRACE_OPT_UNAME:
		return uname_option(t, (const char *)p, strnlen((const char *)p, len));
	case TRACE_OPT_HOOK: return text_option(t, "hook", p, len);
	case TRACE_OPT_CPUCOUNT: t->nr_cpus = tin_u32(&in); return in.err;
	case TRACE_OPT_VERSION: return text_option(t, "version", p, len);
	case TRACE_OPT_PROCMAPS: return text_option(t, "procmaps", p, len);
	case TRACE_OPT_TRACEID: return in.end < 8 ? 0 : number_option(t, "trace_id", tin_u64(&in));
	case TRACE_OPT_TIME_SHIFT: return len < 16 ? 0 : time_shift(t, &in);
	case TRACE_OPT_GUEST: return text_option(t, "guest", p, len);
	case TRACE_OPT_TSC2NSEC: return len < 16 ? 0 : tsc2nsec(t, &in);
	case TRACE_OPT_LAST_BOOT_INFO: return text_option(t, "last_boot_info", p, len);
	case TRACE_OPT_HEADER_INFO:
	case TRACE_OPT_FTRACE_EVENTS:
	case TRACE_OPT_EVENT_FORMATS:
	case TRACE_OPT_KALLSYMS:
	case TRACE_OPT_PRINTK:
	case TRACE_OPT_BTF_FILE:
	case TRACE_OPT_CMDLINES: t->sections[id] = tin_u64(&in); return in.err;
	case TRACE_OPT_MODULES_FILE: return 0;
	default: diag_note(t->d, t->name, -1, "option %u is not known: skipped", id); return 0;
	}
}

/* Reads one option. *done: it was the last, next is where more are. */
static int read_option(struct trace *t, struct tin *in, bool *done, uint64_t *next)
{
	uint16_t id = tin_u16(in);
	uint32_t len = 0;
	const uint8_t *p;
	int rc;

	*done = !id;
	*next = 0;
	if (id || t->version >= 7)
		len = tin_u32(in);
	if (in->err)
		return in->err;
	if (len > TRACE_OPTION_MAX || ++t->noptions > TRACE_OPTIONS_MAX)
		return PP_ELIMIT;
	p = tin_bytes(in, len);
	if (in->err)
		return in->err;
	if (!id) {
		if (len >= 8)
			*next = trace_number(t, p, 8);
		return 0;
	}
	rc = option(t, id, p, len);
	if (rc == PP_ENOMEM || t->w->err)
		return rc;
	if (rc)
		trace_damage(t, PP_ECORRUPT, in->mem ? -1 : (int64_t)(in->pos - len),
			     "option %u is damaged: %s", id, pp_strerror(rc));
	return 0;
}

int trace_options6(struct trace *t, struct tin *in)
{
	bool done = false;
	uint64_t next;
	int rc = 0;

	while (!done && !rc)
		rc = read_option(t, in, &done, &next);
	return rc;
}

int trace_options7(struct trace *t, uint64_t offset)
{
	int rc = 0;

	while (offset && !rc) {
		uint16_t id, flags;
		bool done = false;
		uint64_t at = offset;
		struct tin in;

		rc = tin_section(&in, t, offset, &id, &flags);
		if (!rc && id != TRACE_OPT_DONE)
			rc = PP_ECORRUPT;
		offset = 0;
		while (!done && !rc)
			rc = read_option(t, &in, &done, &offset);
		tin_release(&in);
		if (!rc)
			continue;
		t->options_cut = true;
		if (rc == PP_ECUT)
			trace_damage(t, rc, (int64_t)at,
				     "the file is cut off: options are missing");
		else
			trace_damage(t, PP_ECORRUPT, (int64_t)at,
				     "a section of options is damaged: %s", pp_strerror(rc));
	}
	return rc == PP_ENOMEM || t->w->err ? rc : 0;
}
