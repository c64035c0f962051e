/* The longest critical path of a timeline as a line of an SVG, through the lanes of its threads. */
#include "draw/timeline_parts.h"

#include "base/err.h"

#define NARROW 1.0 /* pixels: what is narrower is one stroke across lanes */

/* ---- which path ---- */

struct longest {
	uint64_t span, from, to; /* that is read */
	uint64_t best, ns;
};

/* The steps of a path follow each other. */
static int measure(void *ctx, const struct timeline_step *s)
{
	struct longest *l = ctx;

	if (s->span != l->span) {
		l->span = s->span;
		l->from = s->start;
	}
	l->to = s->start + s->dur;
	if (l->to - l->from > l->ns) {
		l->ns = l->to - l->from;
		l->best = l->span;
	}
	return 0;
}

/* ---- its threads ---- */

struct line {
	const struct timeline *t;
	const struct timeline_geometry *g;
	struct map64 who; /* by tid and name: the number of the thread */
	uint64_t span;
	uint8_t *on; /* by thread: it is on the path; or NULL: the line is drawn */
	struct buf *d;
	double x, low, high; /* of the last stroke */
	bool pen;
};

#define ANY_NAME UINT32_MAX

static uint64_t key(uint32_t tid, uint32_t name)
{
	return (uint64_t)tid << 32 | name;
}

/* Finds threads by their number and name, and, whatever its name is, the first of a number. */
static int find_threads(struct line *l)
{
	const struct timeline *t = l->t;

	for (uint32_t i = 1; i <= t->nthreads; i++) {
		const struct timeline_thread *v = &t->threads[i];
		uint32_t *named = map64_put(&l->who, key(v->tid, v->name), NULL), *any;

		if (!named)
			return PP_ENOMEM;
		*named = *named ? *named : i;
		any = map64_put(&l->who, key(v->tid, ANY_NAME), NULL);
		if (!any)
			return PP_ENOMEM;
		*any = *any ? *any : i;
	}
	return 0;
}

/* The number of a step's thread; 0 none. */
static uint32_t thread_of(const struct line *l, const struct timeline_step *s)
{
	const uint32_t *who = map64_get(&l->who, key(s->tid, s->name));

	if (!who)
		who = map64_get(&l->who, key(s->tid, ANY_NAME));
	return who ? *who : 0;
}

/* ---- the line ---- */

static void stroke(struct line *l, double x0, double x1, double y)
{
	if (l->pen && x1 - l->x < NARROW) {
		/* Still within the pixel of the stroke before. */
		if (y < l->low || y > l->high)
			buf_addf(l->d, "V%.1f", y);
		l->low = y < l->low ? y : l->low;
		l->high = y > l->high ? y : l->high;
		return;
	}
	if (l->pen)
		buf_addf(l->d, "H%.1fV%.1f", x0, y);
	else
		buf_addf(l->d, "M%.1f %.1f", x0, y);
	buf_addf(l->d, "H%.1f", x1);
	l->pen = true;
	l->x = x1;
	l->low = l->high = y;
}

static int step(void *ctx, const struct timeline_step *s)
{
	struct line *l = ctx;
	const struct timeline_geometry *g = l->g;
	uint32_t who, lane;

	if (s->span != l->span)
		return 0;
	who = thread_of(l, s);
	if (l->on) {
		l->on[who] = 1;
		return 0;
	}
	lane = who ? g->lane_of_thread[who] : UINT32_MAX;
	if (lane == UINT32_MAX) {
		l->pen = false;
		return 0;
	}
	stroke(l, g->x + (double)s->start * g->per_ns,
	       g->x + (double)(s->start + s->dur) * g->per_ns, g->y + lane * g->height);
	return l->d->err;
}

/* The steps of the longest path. */
static int each(struct line *l)
{
	struct longest longest = {0};
	int rc = timeline_each_step(l->t, measure, &longest);

	l->span = longest.best;
	if (!rc && longest.ns)
		rc = find_threads(l);
	if (!rc && longest.ns)
		rc = timeline_each_step(l->t, step, l);
	map64_release(&l->who);
	return rc;
}

int timeline_line_threads(const struct timeline *t, uint8_t *on)
{
	return each(&(struct line){.t = t, .on = on});
}

int timeline_line(const struct timeline *t, const struct timeline_geometry *g, struct buf *d)
{
	return each(&(struct line){.t = t, .g = g, .d = d});
}
