/* The clock of a perf.data: which it is, and what its times are in the time of day. */
#include "perfdata/parts.h"

#include "base/err.h"

#include <inttypes.h>
#include <stdio.h>
#include <time.h>

#define CLOCK_DATA_VERSION 1

/* Clocks by the names that tracefs has for them. */
static const char *clock_name(const struct perf *p)
{
	static const struct {
		int32_t id;
		const char *name;
	} names[] = {
		{CLOCK_REALTIME, "realtime"},
		{CLOCK_MONOTONIC, "mono"},
		{CLOCK_MONOTONIC_RAW, "mono_raw"},
		{CLOCK_BOOTTIME, "boot"},
		{CLOCK_TAI, "tai"},
	};
	const struct perf_attr *a = p->attrs;

	if (!p->nattrs)
		return "";
	if (!(a->flags & PERF_ATTR_USE_CLOCKID))
		return "perf";
	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		if (names[i].id == a->clockid)
			return names[i].name;
	return "";
}

int perf_announce(struct perf *p)
{
	struct ps_source s = {.kind = 1, .name = ps_str(p->name, strlen(p->name))};
	struct cursor c = cursor_make(buf_str(&p->facts.metas), p->facts.metas.len, false);
	const char *clock = clock_name(p);
	int rc;

	p->announced = true;
	s.big_endian = p->big_endian;
	s.long_bits = p->facts.long_bits;
	s.page_size = perf_tracing_page_size(p->tracing);
	s.clock = ps_str(clock, strlen(clock));
	if (!s.long_bits && p->tracing)
		s.long_bits = 8 * perf_tracing_long_size(p->tracing);
	rc = swriter_put(p->w, PS_SOURCE, p->source, &s);
	while (!rc && cursor_left(&c)) {
		uint32_t klen = get_u32(&c), len = get_u32(&c);
		const char *key = (const char *)get_bytes(&c, klen);
		const char *value = (const char *)get_bytes(&c, len);

		rc = perf_meta_put(p, key, klen, value, len);
	}
	buf_release(&p->facts.metas);
	return rc;
}

/* The time of day when the clock showed a time. u32 version, u32 clock, u64 ns of both. */
int perf_clock_data(struct perf *p, struct cursor c)
{
	uint32_t version = get_u32(&c);
	uint64_t wall, clock;
	char text[32];

	get_u32(&c);
	wall = get_u64(&c);
	clock = get_u64(&c);
	if (c.bad)
		return PP_ECUT;
	if (version != CLOCK_DATA_VERSION)
		return 0;
	snprintf(text, sizeof(text), "%" PRId64, (int64_t)(wall - clock));
	return perf_meta(p, "wall_offset", text, strlen(text));
}
