/* The samples of each thread and event in the order in which they came. */
#include "conv/tracks.h"

#include "base/array.h"
#include "base/err.h"

#include <stdlib.h>

int lanes_find(struct lanes *l, const struct prof_sample *s, uint32_t *lane)
{
	struct lane *v = l->n ? &l->v[l->last] : NULL;
	uint32_t *id;

	*lane = l->last;
	if (v && v->thread == s->thread && v->event == s->event)
		return 0;
	id = map64_put(&l->ids, (uint64_t)s->thread << 32 | s->event, NULL);
	if (!id)
		return PP_ENOMEM;
	if (!*id) {
		v = array_widen(l->v, &l->cap, l->n, 64, sizeof(*v));
		if (!v)
			return PP_ENOMEM;
		l->v = v;
		v[l->n] = (struct lane){s->thread, s->event};
		*id = ++l->n;
	}
	*lane = l->last = *id - 1;
	return 0;
}

void lanes_release(struct lanes *l)
{
	map64_release(&l->ids);
	free(l->v);
}

static struct track *list_of(struct tracks *r, const struct prof_sample *s)
{
	struct track *v;
	uint32_t lane;

	if (lanes_find(&r->lanes, s, &lane))
		return NULL;
	if (lane < r->n)
		return &r->v[lane];
	v = array_widen(r->v, &r->cap, lane, 64, sizeof(*v));
	if (!v)
		return NULL;
	r->v = v;
	v[lane] = (struct track){.thread = s->thread, .event = s->event};
	r->n = lane + 1;
	return &v[lane];
}

int track_add(struct tracks *r, const struct prof_sample *s)
{
	struct track *l = list_of(r, s);
	struct track_run *last = l && l->n ? &l->runs[l->n - 1] : NULL, *v;

	if (!l)
		return PP_ENOMEM;
	if (!l->timed || s->time < l->first)
		l->first = s->time;
	l->timed |= s->timed;
	l->weight += s->weight;
	if (last && last->stack == s->stack && !r->apart && last->count < UINT32_MAX / 2) {
		last->weight += s->weight;
		last->count += (uint32_t)s->count;
		return 0;
	}
	v = array_widen(l->runs, &l->cap, l->n, 16, sizeof(*v));
	if (!v)
		return PP_ENOMEM;
	l->runs = v;
	v[l->n++] =
		(struct track_run){s->time, s->weight, s->stack,
				   s->count < UINT32_MAX / 2 ? (uint32_t)s->count : UINT32_MAX / 2};
	return 0;
}

void tracks_release(struct tracks *r)
{
	for (uint32_t i = 0; i < r->n; i++)
		free(r->v[i].runs);
	free(r->v);
	lanes_release(&r->lanes);
}
