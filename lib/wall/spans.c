/* Spans, and the critical path of each: intervals of plat, and lives of commands. */
#include "wall/spans.h"

#include "base/err.h"
#include "interval/interval.h"

#include <string.h>

#define PROCESS "process" /* --of */

/* A span from there back to `begin` has ended. */
static int ended(struct wall_spans *s, const struct wall_from *from, uint64_t begin, uint32_t name)
{
	struct wall_span span = {.begin = begin > s->w.begin ? begin : s->w.begin,
				 .end = from->time,
				 .thread = from->thread,
				 .name = name,
				 .path = &s->path};
	int rc;

	if (span.end <= span.begin)
		return 0;
	rc = wall_path(s->paths, &s->w, from, span.begin, &s->path);
	if (rc)
		return rc;
	span.number = ++s->n;
	s->cut += s->path.cut;
	s->total += span.end - span.begin;
	for (uint32_t i = 0; i < s->path.n; i++)
		if (s->path.v[i].state == WALL_UNKNOWN)
			s->unknown += s->path.v[i].end - s->path.v[i].begin;
	return s->span(s->ctx, s, &span);
}

/* ---- intervals ---- */

/*
 * The thread in which an interval ended. A pair of -s and -e may have begun elsewhere: it is the
 * one of the last event.
 */
static uint32_t thread_of(const struct wall_spans *s, const struct interval *iv)
{
	const uint32_t *i = map64_get(&s->w.by_tid, (uint64_t)iv->source << 32 | iv->who.tid);

	if (s->w.here && (iv->kind >= pair_nkinds || !i))
		return s->w.here;
	return i ? *i : 0;
}

static int on_interval(void *ctx, const struct lat *l, const struct interval *iv)
{
	struct wall_spans *s = ctx;
	struct wall *w = &s->w;
	struct wall_from from = {.time = iv->end.time, .thread = thread_of(s, iv)};
	const struct wall_thread *t = &w->threads[from.thread];
	const char *name, *kind = "";
	struct lat_point p = {.stack = t->stack};
	uint32_t text;
	size_t len;
	int rc;

	if (!from.thread)
		return 0;
	lat_account(l, iv->kind, &kind);
	name = lat_name(l, iv->name, &len);
	rc = intern_again(&w->texts, len ? name : kind, len ? len : strlen(kind), &text);
	if (!rc && from.thread == w->here && w->rec && w->rec->type == PS_SAMPLE)
		rc = lat_stacks_keep(w->kept, w->r, &w->rec->sample, &p);
	if (rc)
		return rc;
	from.stack = p.stack;
	from.state = t->state;
	from.last = t->last;
	return ended(s, &from, iv->start.time, text);
}

/* ---- commands ---- */

static int on_segment(void *ctx, struct wall *w, const struct wall_segment *seg)
{
	return wall_paths_segment(((struct wall_spans *)ctx)->paths, w, seg);
}

/* The main thread of a process has ended. Of a build the span is make, and not each compiler. */
static int on_end(void *ctx, struct wall *w, struct wall_thread *t)
{
	struct wall_spans *s = ctx;
	struct wall_from from = {.thread = (uint32_t)(t - w->threads),
				 .time = t->since,
				 .last = t->last,
				 .state = WALL_UNKNOWN};

	if (s->lat || !t->gone || !t->fresh || t->inner || (t->pid != PS_NONE && t->pid != t->tid))
		return 0;
	return ended(s, &from, t->begin, t->comm);
}

static int on_moved(void *ctx, struct wall *w)
{
	struct wall_spans *s = ctx;
	int rc = wall_paths_moved(s->paths, w);

	return rc || !s->moved ? rc : s->moved(s->ctx, w);
}

/* ---- the whole ---- */

int wall_spans_init(struct wall_spans *s, const struct wall_opts *o, struct diag *d,
		    struct buf *why)
{
	struct lat_opts *spans = &s->lat_opts;
	bool pair = o->spans->pair.nstarts || o->spans->pair.nends;
	int rc = wall_engine_init(&s->w, o, d);

	*spans = *o->spans;
	if (o->of)
		spans->kinds = o->of;
	s->w.segment = on_segment;
	s->w.end = on_end;
	s->w.moved = on_moved;
	s->w.ctx = s;
	s->paths = wall_paths_new(WALL_WINDOW);
	if (rc || !s->paths)
		return PP_ENOMEM;
	if (o->of ? !strcmp(o->of, PROCESS) : !pair && !spans->kinds)
		return 0;
	spans->sink = on_interval;
	spans->sink_ctx = s;
	return lat_new(&s->lat, spans, d, why);
}

void wall_spans_release(struct wall_spans *s)
{
	lat_free(s->lat);
	wall_path_release(&s->path);
	wall_paths_free(s->paths);
	wall_engine_release(&s->w);
}

int wall_spans_record(struct wall_spans *s, const struct sreader *r, const struct ps_record *rec)
{
	int rc = wall_engine_record(&s->w, r, rec);

	/* A new stream has its own stacks and threads. */
	if (!rc && rec->type == PS_HEADER && s->moved)
		rc = s->moved(s->ctx, &s->w);
	return rc || !s->lat ? rc : lat_record(s->lat, r, rec);
}

int wall_spans_end(struct wall_spans *s)
{
	int rc;

	s->w.here = 0;
	s->w.rec = NULL;
	rc = s->lat ? lat_end(s->lat) : 0;
	return rc ? rc : wall_engine_end(&s->w);
}
