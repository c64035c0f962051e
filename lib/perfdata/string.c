/* Texts and sets of CPUs, as header features and records have them. */
#include "perfdata/info.h"

#include <inttypes.h>

const char *perf_get_string(struct cursor *c, size_t *len)
{
	uint32_t n = get_u32(c);
	const char *s = get_text(c, n, len);

	return c->bad ? NULL : s;
}

void perf_add_string(struct cursor *c, struct buf *b)
{
	size_t len;
	const char *s = perf_get_string(c, &len);

	if (s)
		buf_add_safe(b, s, len);
}

const char *perf_nul_text(struct cursor *c, size_t *len)
{
	const char *s = (const char *)c->p;

	*len = strnlen(s, cursor_left(c));
	cursor_skip(c, *len < cursor_left(c) ? *len + 1 : *len);
	return s;
}

/* ---- CPU maps ---- */

enum { CPUS_LIST, CPUS_MASK, CPUS_RANGE };

struct ranges {
	struct buf *b;
	int64_t first, last; /* the range that is open; first -2: none */
};

static void end_range(struct ranges *r)
{
	if (r->first == -2)
		return;
	buf_addf(r->b, "%s%" PRId64, r->b->len ? "," : "", r->first);
	if (r->last > r->first)
		buf_addf(r->b, "-%" PRId64, r->last);
	r->first = -2;
}

static void add_cpu(struct ranges *r, int64_t cpu)
{
	if (r->first != -2 && cpu == r->last + 1) {
		r->last = cpu;
		return;
	}
	end_range(r);
	r->first = r->last = cpu;
}

void perf_add_cpus(struct cursor *c, struct buf *b)
{
	struct buf text = BUF_INIT;
	struct ranges r = {.b = &text, .first = -2};
	uint16_t type = get_u16(c), n, bytes;
	struct cursor first = *c;

	n = get_u16(c);

	if (type == CPUS_LIST) {
		for (uint16_t i = 0; i < n && !c->bad; i++)
			add_cpu(&r, (int16_t)get_u16(c)); /* -1: any */
	} else if (type == CPUS_MASK) {
		bytes = get_u16(c);
		cursor_skip(c, bytes == 8 ? 4 : 0);
		for (int64_t i = 0; i < n && !c->bad; i++) {
			uint64_t word = bytes == 8 ? get_u64(c) : get_u32(c);

			for (int64_t k = 0; k < 8 * (bytes == 8 ? 8 : 4); k++)
				if (word >> k & 1)
					add_cpu(&r, i * (bytes == 8 ? 64 : 32) + k);
		}
	} else if (type == CPUS_RANGE) {
		/* Two bytes instead of a number: any, padding. */
		if (get_u8(&first))
			add_cpu(&r, -1);
		end_range(&r);
		r.first = get_u16(c);
		r.last = get_u16(c);
	} else {
		c->bad = true;
	}
	if (!c->bad)
		end_range(&r);
	buf_join(b, &text);
	buf_release(&text);
}
