/* The clock of a perf.data: which it is, and what its times are in the time of day. */
#include "input/perf.h"

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
	const char *clock = clock_name(p);
	struct ps_source rec = {.kind = 1,
				.big_endian = p->big_endian,
				.name = ps_str(p->name, strlen(p->name)),
				.clock = ps_str(clock, strlen(clock))};

	if (p->announced)
		return 0;
	p->announced = true;
	return swriter_put(p->w, PS_SOURCE, p->source, &rec);
}

/* The time of day when the clock showed a time. u32 version, u32 clock, u64 ns of both. */
int perf_clock_data(struct perf *p, struct cursor c)
{
	struct ps_meta m = {.key = ps_str("wall_offset", 11)};
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
	m.value = ps_str(text, strlen(text));
	return swriter_put(p->w, PS_META, p->source, &m);
}
