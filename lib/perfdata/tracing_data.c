/*
 * The tracing data of a perf.data recording: the formats of its tracepoints, as
 * tools/perf/util/trace-event-info.c of the kernel tree writes them.
 */
#include "perfdata/info.h"

#include "base/err.h"

#include <stdlib.h>

#define TRACING_EVENTS_MAX  65536
#define TRACING_SYSTEMS_MAX 4096

struct tracing_event {
	const char *format, *system, *name; /* in the arena */
	size_t len;
};

struct perf_tracing {
	struct arena arena;
	struct map64 by_id; /* format id to index in events, + 1 */
	struct tracing_event *events;
	uint32_t n, cap;
	uint32_t long_size; /* bytes of a long of the recorded machine */
	uint32_t page_size;
};

uint32_t perf_tracing_long_size(const struct perf_tracing *t)
{
	return t && t->long_size == 4 ? 4 : 8;
}

uint32_t perf_tracing_page_size(const struct perf_tracing *t)
{
	return t ? t->page_size : 0;
}

void perf_tracing_free(struct perf_tracing *t)
{
	if (!t)
		return;
	arena_release(&t->arena);
	map64_release(&t->by_id);
	free(t->events);
	free(t);
}

const char *perf_tracing_format(const struct perf_tracing *t, uint64_t id, size_t *len,
				const char **system, const char **name)
{
	uint32_t *slot = t ? map64_get(&t->by_id, id) : NULL;
	struct tracing_event *e;

	if (!slot)
		return NULL;
	e = &t->events[*slot - 1];
	*len = e->len;
	*system = e->system;
	*name = e->name;
	return e->format;
}

/* What follows `key` up to the end of its line. */
static const char *value(const char *text, size_t len, const char *key, size_t *n)
{
	size_t klen = strlen(key);
	const char *at = memmem(text, len, key, klen), *nl;

	if (!at || (at != text && at[-1] != '\n'))
		return NULL;
	at += klen;
	nl = memchr(at, '\n', len - (size_t)(at - text));
	*n = nl ? (size_t)(nl - at) : len - (size_t)(at - text);
	return at;
}

static int add_format(struct perf_tracing *t, const char *system, const uint8_t *text, size_t len)
{
	struct tracing_event e = {.len = len, .system = system};
	const char *name, *id;
	size_t nlen, ilen;
	uint32_t *slot;

	if (t->n >= TRACING_EVENTS_MAX || t->arena.total > PERF_SECTION_MAX)
		return PP_ELIMIT;
	e.format = arena_dup(&t->arena, text, len);
	if (!e.format)
		return PP_ENOMEM;
	name = value(e.format, len, "name: ", &nlen);
	id = value(e.format, len, "ID: ", &ilen);
	if (!name || !id)
		return 0;
	e.name = arena_dup(&t->arena, name, nlen);
	if (!e.name)
		return PP_ENOMEM;
	if (t->n == t->cap) {
		uint32_t cap = t->cap ? t->cap * 2 : 64;
		struct tracing_event *v = realloc(t->events, cap * sizeof(*v));

		if (!v)
			return PP_ENOMEM;
		t->events = v;
		t->cap = cap;
	}
	slot = map64_put(&t->by_id, strtoull(id, NULL, 10), NULL);
	if (!slot)
		return PP_ENOMEM;
	t->events[t->n++] = e;
	*slot = t->n;
	return 0;
}

/* A NUL-terminated string at the cursor; NULL if there is no NUL. */
static const char *get_cstr(struct cursor *c)
{
	const char *s = (const char *)c->p;
	const uint8_t *nul = memchr(c->p, 0, cursor_left(c));

	if (!nul) {
		c->bad = true;
		return NULL;
	}
	c->p = nul + 1;
	return s;
}

static int read_formats(struct perf_tracing *t, struct cursor *c, const char *system)
{
	uint32_t n = get_u32(c);
	int rc = 0;

	if (n > TRACING_EVENTS_MAX)
		return PP_ECORRUPT;
	for (uint32_t i = 0; i < n && !rc; i++) {
		uint64_t size = get_u64(c);
		const uint8_t *text = get_bytes(c, size);

		if (!text)
			return PP_ECUT;
		rc = add_format(t, system, text, (size_t)size);
	}
	return rc;
}

static int read_systems(struct perf_tracing *t, struct cursor *c)
{
	uint32_t n = get_u32(c);
	int rc = 0;

	if (n > TRACING_SYSTEMS_MAX)
		return PP_ECORRUPT;
	for (uint32_t i = 0; i < n && !rc; i++) {
		const char *name = get_cstr(c);

		if (!name)
			return PP_ECUT;
		name = arena_dup(&t->arena, name, strlen(name));
		rc = name ? read_formats(t, c, name) : PP_ENOMEM;
	}
	return rc;
}

/* Two sections, "header_page" and "header_event", each a name, a u64 size and that many bytes. */
static int skip_headers(struct cursor *c)
{
	for (int i = 0; i < 2; i++) {
		if (!get_cstr(c))
			return PP_ECUT;
		cursor_skip(c, get_u64(c));
	}
	return c->bad ? PP_ECUT : 0;
}

/* What comes before the formats. */
static int read_start(struct cursor *c, uint32_t *long_size, uint32_t *page_size)
{
	const uint8_t *magic = get_bytes(c, 10);

	if (!magic || memcmp(magic, "\x17\x08\x44tracing", 10) != 0 || !get_cstr(c))
		return PP_ECORRUPT;
	c->swap = get_u8(c) != (__BYTE_ORDER__ == __ORDER_BIG_ENDIAN__);
	*long_size = get_u8(c);
	*page_size = get_u32(c);
	return skip_headers(c);
}

int perf_tracing_read(struct perf_tracing **tracing, struct cursor c)
{
	struct perf_tracing *t = *tracing;
	int rc;

	if (!t) {
		t = *tracing = calloc(1, sizeof(*t));
		if (!t)
			return PP_ENOMEM;
	}
	rc = read_start(&c, &t->long_size, &t->page_size);
	if (!rc)
		rc = read_formats(t, &c, "ftrace");
	return rc ? rc : read_systems(t, &c);
}

/* ---- the texts after the formats ---- */

static int skip_formats(struct cursor *c)
{
	uint32_t n = get_u32(c);

	if (n > TRACING_EVENTS_MAX)
		return PP_ECORRUPT;
	for (uint32_t i = 0; i < n && !c->bad; i++)
		cursor_skip(c, get_u64(c));
	return c->bad ? PP_ECUT : 0;
}

static int skip_systems(struct cursor *c)
{
	uint32_t n = get_u32(c);
	int rc = n > TRACING_SYSTEMS_MAX ? PP_ECORRUPT : 0;

	for (uint32_t i = 0; i < n && !rc; i++)
		rc = get_cstr(c) ? skip_formats(c) : PP_ECUT;
	return rc;
}

int perf_tracing_tables(struct cursor c, struct ps_str tables[PERF_TABLES])
{
	uint32_t unused, page;
	int rc = read_start(&c, &unused, &page);

	for (int i = 0; i < PERF_TABLES; i++)
		tables[i] = (struct ps_str){0};
	if (!rc)
		rc = skip_formats(&c);
	if (!rc)
		rc = skip_systems(&c);
	for (int i = 0; i < PERF_TABLES && !rc; i++) {
		uint32_t size = get_u32(&c);
		const uint8_t *data = get_bytes(&c, size);

		if (!data)
			return PP_ECUT;
		tables[i] = ps_str((const char *)data, size);
	}
	return rc;
}
