/* The samples of each thread and event in the order in which they came. */
#include "conv/tracks.h"

#include "base/array.h"
#include "base/err.h"

#include <stdlib.h>

static struct track *list_of(struct tracks *r, const struct prof_sample *s)
{
	struct track *v = r->last < r->n ? &r->v[r->last] : NULL;
	uint32_t *id;

	if (v && v->thread == s->thread && v->event == s->event)
		return v;
	id = map64_put(&r->ids, (uint64_t)s->thread << 32 | s->event, NULL);
	if (!id)
		return NULL;
	if (!*id) {
		v = array_widen(r->v, &r->cap, r->n, 64, sizeof(*v));
		if (!v)
			return NULL;
		r->v = v;
		v[r->n] = (struct track){.thread = s->thread, .event = s->event};
		*id = ++r->n;
	}
	r->last = *id - 1;
	return &r->v[r->last];
}

int track_add(struct tracks *r, const struct prof_sample *s)
{
	struct track *l = list_of(r, s);
	struct run *last = l && l->n ? &l->runs[l->n - 1] : NULL, *v;

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
	v[l->n++] = (struct run){s->time, s->weight, s->stack,
				 s->count < UINT32_MAX / 2 ? (uint32_t)s->count : UINT32_MAX / 2};
	return 0;
}

void tracks_release(struct tracks *r)
{
	for (uint32_t i = 0; i < r->n; i++)
		free(r->v[i].runs);
	free(r->v);
	map64_release(&r->ids);
}
