/* Values of --by of the scheduler's events. */
#include "interval/sched_parts.h"

#include <string.h>

/*
 * A thread has several points of time at once, which are copied from one to another, and most runs
 * have no expression in --by: so the values of an event are one text of the engine, and the point
 * has its id.
 */
struct values {
	uint64_t v[LAT_BY_MAX];
	uint32_t set, numbers;
};

int sched_values_of(struct engine *en, const struct sreader *r, const struct ps_record *rec,
		    struct lat_point *p)
{
	struct values v;

	memset(&v, 0, sizeof(v));
	if (engine_values(en, r, rec, v.v, &v.set, &v.numbers))
		return PP_ENOMEM;
	return v.set ? engine_text(en, (const char *)&v, sizeof(v), &p->values) : 0;
}

/* Adds those that are not set yet. */
static void add(struct engine *en, uint32_t id, struct interval *iv)
{
	struct values v;
	size_t len;
	const char *s = engine_name(en, id, &len);

	/* What did not fit any more is another text. */
	if (!id || len != sizeof(v))
		return;
	memcpy(&v, s, sizeof(v));
	v.set &= ~iv->set;
	for (uint32_t i = 0; i < en->by.n; i++)
		if (v.set & (1u << i))
			en->by_values[i] = v.v[i];
	iv->numbers |= v.numbers & v.set;
	iv->set |= v.set;
}

void sched_values(struct engine *en, struct interval *iv)
{
	if (!en->by.n)
		return;
	iv->values = en->by_values;
	add(en, iv->start.values, iv);
	add(en, iv->end.values, iv);
}
