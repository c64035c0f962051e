/*
 * Samples with counter values (PERF_SAMPLE_READ): one for each counter that has gone on since its
 * last value, as perf has it. Of a group that one event samples ("{a,b}:S") every member gets its
 * samples so, with its own period.
 */
#include "perfdata/decoder.h"

#include "base/err.h"

#include <linux/perf_event.h>
#include <stdlib.h>

#define FORMAT_LOST (1u << 4) /* PERF_FORMAT_LOST, of Linux 6.0 */

/* Where the value and the id of a counter lie among the values of a sample. */
struct place {
	uint32_t value, id;
	uint32_t step; /* to those of the next */
	uint32_t n;
};

/* False when the ids were not recorded. */
static bool places(const struct ps_u64s *reads, struct place *at)
{
	uint64_t format = reads->n ? reads->v[0] : 0;
	uint32_t times = !!(format & PERF_FORMAT_TOTAL_TIME_ENABLED) +
			 !!(format & PERF_FORMAT_TOTAL_TIME_RUNNING);

	if (!(format & PERF_FORMAT_ID))
		return false;
	if (format & PERF_FORMAT_GROUP) {
		at->n = reads->n > 1 ? (uint32_t)reads->v[1] : 0;
		at->value = 2 + times;
		at->id = at->value + 1;
		at->step = 2 + !!(format & FORMAT_LOST);
	} else {
		at->n = 1;
		at->value = 1;
		at->id = 2 + times;
		at->step = 0;
	}
	return at->n && at->id + (uint64_t)(at->n - 1) * at->step < reads->n;
}

/* The last value of a counter; NULL: out of memory. */
static uint64_t *last_value(struct perf_counters *c, uint64_t id)
{
	bool fresh;
	uint32_t *index = map64_put(&c->by_id, id, &fresh);

	if (!index)
		return NULL;
	if (fresh) {
		if (c->n == c->cap) {
			uint32_t cap = c->cap ? c->cap * 2 : 64;
			uint64_t *v = realloc(c->last, cap * sizeof(*v));

			if (!v)
				return NULL;
			c->last = v;
			c->cap = cap;
		}
		*index = c->n;
		c->last[c->n++] = 0;
	}
	return &c->last[*index];
}

void perf_counters_release(struct perf_counters *c)
{
	map64_release(&c->by_id);
	free(c->last);
}

int perf_sample_values(struct perf_decoder *p, const struct ps_sample *s)
{
	struct ps_sample one = *s;
	struct place at;
	bool known = false;

	if (!places(&s->reads, &at))
		return swriter_sample(p->w, p->source, s);
	for (uint32_t i = 0; i < at.n; i++) {
		uint64_t value = s->reads.v[at.value + (size_t)i * at.step];
		const uint32_t *attr;
		uint64_t *last;
		int rc;

		one.id = s->reads.v[at.id + (size_t)i * at.step];
		attr = map64_get(&p->r.info.by_id, one.id);
		if (!attr)
			continue;
		known = true;
		last = last_value(&p->counters, one.id);
		if (!last)
			return PP_ENOMEM;
		one.period = value - *last;
		*last = value;
		if (!one.period)
			continue;
		one.event = p->r.info.attrs[*attr - 1].event;
		rc = perf_event_write(p, &p->r.info.attrs[*attr - 1]);
		if (!rc)
			rc = swriter_sample(p->w, p->source, &one);
		if (rc)
			return rc;
		one.fields &= ~PS_HAS(reads); /* once is enough */
	}
	return known ? 0 : swriter_sample(p->w, p->source, s);
}
