/*
 * Events of CPU cores by their names. Machines with cores of several kinds have a PMU for each
 * (Linux: tools/perf/Documentation/intel-hybrid.txt, names below /sys/bus/event_source/devices),
 * so that "cycles" is recorded as cpu_core/cycles/P and cpu_atom/cycles/P: the same thing, counted
 * in two places.
 *
 *	struct core_event e;
 *	if (core_event(name, len, &e))
 *		printf("%s of %.*s\n", e.name, (int)e.pmu_len, e.pmu);	("cycles:P of cpu_core")
 */
#ifndef PP_EVENT_CORE_PMU_H
#define PP_EVENT_CORE_PMU_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define CORE_EVENT_MAX 200 /* a longer name is not one */

struct core_event {
	char name[CORE_EVENT_MAX]; /* without the PMU, its modifiers after a colon */
	size_t len;
	const char *pmu; /* in the name that was given */
	size_t pmu_len;
};

/*
 * Whether a name is that of an event of a core's PMU which means the same on every kind of core:
 * a named one. Numbers (event=0x3c, r1c2) mean something else on each.
 */
bool core_event(const char *name, size_t len, struct core_event *e);

/*
 * The name of an event whose terms between slashes all say how it is recorded, without them:
 * "cpu-clock:u" of cpu-clock/freq=499/u. False: it is not such an event. pmu is empty.
 */
bool event_without_terms(const char *name, size_t len, struct core_event *e);

/* Names that are shown beside each other. */
struct event_names {
	/* The i-th, valid until the next call; NULL: it is not shown. */
	const char *(*get)(const void *ctx, uint32_t i, size_t *len);
	const void *ctx;
	uint32_t n;
};

/*
 * event_without_terms of a name that is one of several: false as well where another one would look
 * the same then.
 */
bool event_short_name(const char *name, size_t len, const struct event_names *all,
		      struct core_event *e);

/* The name without its PMU or such terms, in e, or the name itself. *n: its length. */
static inline const char *event_base_name(const char *name, size_t len, struct core_event *e,
					  size_t *n)
{
	bool other = core_event(name, len, e) || event_without_terms(name, len, e);

	*n = other ? e->len : len;
	return other ? e->name : name;
}

/*
 * Whether the name that was asked for and that of an event are the same, or would be if the one
 * that has such terms had none.
 */
bool event_same(const char *want, size_t want_len, const char *name, size_t len);

/* Whether an event of that name is meant by a shell pattern, which may be for its base name. */
bool event_fits(const char *pattern, size_t pattern_len, const char *name, size_t len);

#endif
