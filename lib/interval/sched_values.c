#include "interval/sched_parts.h"

#include <string.h>

/*
 * A thread has several points of time at once, which are copied from one to another, and most runs
 * have no expression in --by: so the values of an event are one text of the engine, and the point has
 * its id.
 */
struct values {
	uint64_t v[LAT_BY_MAX];
	uint32_t set, numbers;
};

int sched_values_of(struct lat *l, const struct sreader *r, const struct ps_record *rec,
		    struct lat_point *p)
{
	struct values v;

	memset(&v, 0, sizeof(v));
	if (lat_values(l, r, rec, v.v, &v.set, &v.numbers))
		return PP_ENOMEM;
	return v.set ? lat_text(l, (const char *)&v, sizeof(v), &p->values) : 0;
}

/* Adds those that are not set yet. */
static void add(struct lat *l, uint32_t id, struct interval *iv)
{
	struct values v;
	size_t len;
	const char *s = lat_name(l, id, &len);

	/* What did not fit any more is another text. */
	if (!id || len != sizeof(v))
		return;
	memcpy(&v, s, sizeof(v));
	v.set &= ~iv->set;
	for (uint32_t i = 0; i < l->nby; i++)
		if (v.set & (1u << i))
			l->by_values[i] = v.v[i];
	iv->numbers |= v.numbers & v.set;
	iv->set |= v.set;
}

void sched_values(struct lat *l, struct interval *iv)
{
	if (!l->nby)
		return;
	iv->values = l->by_values;
	add(l, iv->start.values, iv);
	add(l, iv->end.values, iv);
}
