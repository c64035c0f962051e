/* Slices of threads as stacks. */
#include "conv/slices.h"

#include "base/array.h"
#include "base/err.h"

#include <stdlib.h>

#define OPEN UINT64_MAX /* ends with the recording */

struct slice {
	uint64_t start, end; /* ns */
	uint32_t thread, frame;
	uint32_t below; /* while it is open, the place + 1 of the one before it */
	uint32_t order;
};

struct slices {
	struct slice *v;
	uint32_t n, cap;
	struct map64 open; /* by thread: the place + 1 of the innermost 'B' */
	uint64_t last;	   /* ns: the latest time */
};

int slices_new(struct slices **s)
{
	*s = calloc(1, sizeof(**s));
	return *s ? 0 : PP_ENOMEM;
}

void slices_free(struct slices *s)
{
	if (!s)
		return;
	free(s->v);
	map64_release(&s->open);
	free(s);
}

static uint64_t ns(double us)
{
	return us <= 0 ? 0 : us >= 0x1p52 ? UINT64_C(1000) << 52 : (uint64_t)(us * 1000 + 0.5);
}

int slices_add(struct slices *s, char ph, uint32_t thread, uint32_t frame, double ts, double dur)
{
	uint32_t *open = ph == 'X' ? NULL : map64_put(&s->open, thread, NULL);
	uint64_t start = ns(ts), end = ph == 'X' ? start + ns(dur) : start;
	struct slice *v;

	if (ph != 'X' && !open)
		return PP_ENOMEM;
	s->last = end > s->last ? end : s->last;
	if (ph == 'E') {
		/* The recording may begin within one. */
		if (*open) {
			v = &s->v[*open - 1];
			v->end = end;
			*open = v->below;
		}
		return 0;
	}
	if (s->n >= INT32_MAX)
		return PP_ELIMIT;
	v = array_widen(s->v, &s->cap, s->n, 1024, sizeof(*v));
	if (!v)
		return PP_ENOMEM;
	s->v = v;
	v[s->n] = (struct slice){start, ph == 'X' ? end : OPEN, thread,
				 frame, open ? *open : 0,	s->n};
	s->n++;
	if (open)
		*open = s->n;
	return 0;
}

/* By thread, then what begins first, then what is around the others. */
static int in_order(const void *a, const void *b)
{
	const struct slice *x = a, *y = b;

	if (x->thread != y->thread)
		return x->thread < y->thread ? -1 : 1;
	if (x->start != y->start)
		return x->start < y->start ? -1 : 1;
	if (x->end != y->end)
		return x->end > y->end ? -1 : 1;
	return x->order < y->order ? -1 : 1;
}

struct sweep {
	struct conv *c;
	struct slice *v;
	struct prof_sample sample;
	uint32_t top; /* the place + 1 of the innermost slice */
	uint64_t now;
};

/* The stack has been as it is until then. */
static int last_until(struct sweep *w, uint64_t time)
{
	int rc = 0;

	w->sample.weight = time > w->now ? time - w->now : 0;
	w->sample.time = w->now;
	if (w->top && w->sample.weight)
		rc = conv_give(w->c, &w->sample);
	w->now = time > w->now ? time : w->now;
	return rc;
}

/* Ends what ends by then. */
static int end_until(struct sweep *w, uint64_t time)
{
	uint32_t frame;
	int rc = 0;

	while (w->top && w->v[w->top - 1].end <= time && !rc) {
		rc = last_until(w, w->v[w->top - 1].end);
		w->top = w->v[w->top - 1].below;
		w->sample.stack = prof_up(w->c->p, w->sample.stack, &frame);
	}
	return rc;
}

static int begin(struct sweep *w, uint32_t i, bool *strange)
{
	struct slice *v = &w->v[i], *around;
	int rc = end_until(w, v->start);

	if (!rc)
		rc = last_until(w, v->start);
	w->now = v->start;
	around = w->top ? &w->v[w->top - 1] : NULL;
	if (around && around->end < v->end) {
		v->end = around->end;
		*strange = true;
	}
	v->below = w->top;
	w->top = i + 1;
	w->sample.thread = v->thread;
	return rc ? rc : prof_push(w->c->p, w->sample.stack, v->frame, &w->sample.stack);
}

int slices_give(struct slices *s, struct conv *c, bool *strange)
{
	struct sweep w = {.c = c, .v = s->v, .sample = {.cpu = PS_NONE, .timed = true}};
	int rc = prof_named_event(c->p, ps_str("slices", 6), ps_str("ns", 2), &w.sample.event);

	for (uint32_t i = 0; i < s->n; i++)
		if (s->v[i].end == OPEN)
			s->v[i].end = s->last;
	if (s->n)
		qsort(s->v, s->n, sizeof(*s->v), in_order);
	for (uint32_t i = 0; i < s->n && !rc; i++) {
		if (i && s->v[i].thread != s->v[i - 1].thread)
			rc = end_until(&w, UINT64_MAX);
		if (!rc && s->v[i].end > s->v[i].start)
			rc = begin(&w, i, strange);
	}
	return rc ? rc : end_until(&w, UINT64_MAX);
}
