/* Critical paths: the segments of all threads in a window, and the walk back through them. */
#include "wall/path.h"

#include "base/array.h"
#include "base/err.h"

#include <stdlib.h>

/* A segment as it is kept. Segments have numbers from 1 on; 0 is none. */
struct kept {
	uint64_t begin, end;
	uint64_t before; /* the thread's segment before */
	uint64_t link;	 /* RUNNING: what ran on the CPU before; RUNNABLE: what ran there last;
			    BLOCKED: the waker's last segment */
	union {
		uint64_t interrupted; /* RUNNING */
		uint32_t work;	      /* BLOCKED: the waker's */
	};
	uint32_t thread, stack, waker, waker_stack;
	uint32_t request; /* BLOCKED */
	uint8_t state;
	bool sampled, within, hard, unknown;
};

struct wall_paths {
	struct kept *v; /* number % cap */
	uint64_t n;	/* the number of the last one */
	uint32_t cap, window;
};

struct wall_paths *wall_paths_new(uint32_t window)
{
	struct wall_paths *p = calloc(1, sizeof(*p));

	if (p)
		p->window = window;
	return p;
}

void wall_paths_free(struct wall_paths *p)
{
	if (p)
		free(p->v);
	free(p);
}

void wall_path_release(struct wall_path *path)
{
	free(path->v);
	free(path->links);
	*path = (struct wall_path){0};
}

/* ---- the window ---- */

static const struct kept *get(const struct wall_paths *p, uint64_t number)
{
	return number && p->n - number < p->cap ? &p->v[number % p->cap] : NULL;
}

static uint64_t oldest(const struct wall_paths *p)
{
	return p->n >= p->cap ? p->n - p->cap + 1 : 1;
}

/* It grows up to the window. */
static int grow(struct wall_paths *p)
{
	uint32_t cap = p->cap ? p->cap * 2 : 4096;
	struct kept *v;

	cap = cap < p->window ? cap : p->window;
	v = calloc(cap, sizeof(*v));
	if (!v)
		return PP_ENOMEM;
	for (uint64_t i = oldest(p); p->cap && i <= p->n; i++)
		v[i % cap] = p->v[i % p->cap];
	free(p->v);
	p->v = v;
	p->cap = cap;
	return 0;
}

int wall_paths_segment(void *ctx, struct wall *w, const struct wall_segment *s)
{
	struct wall_paths *p = ctx;
	struct wall_thread *t = &w->threads[s->thread];
	struct wall_cpu *c = wall_cpu(w, t->source, s->cpu);
	struct kept *k;

	if (p->n >= p->cap && p->cap < p->window && grow(p))
		return PP_ENOMEM;
	k = &p->v[++p->n % p->cap];
	*k = (struct kept){.begin = s->begin,
			   .end = s->end,
			   .before = t->last,
			   .link = s->state == WALL_BLOCKED ? s->wake.last
				   : c			    ? c->last
							    : 0,
			   .thread = s->thread,
			   .stack = s->stack,
			   .waker = s->wake.thread,
			   .waker_stack = s->wake.stack,
			   .request = s->wake.request,
			   .state = s->state,
			   .sampled = s->sampled,
			   .within = s->wake.within,
			   .hard = s->wake.hard,
			   .unknown = s->wake.unknown};
	if (s->state == WALL_RUNNING)
		k->interrupted = s->interrupted;
	else
		k->work = s->wake.work;
	t->last = p->n;
	if (c && s->state == WALL_RUNNING)
		c->last = p->n;
	return 0;
}

int wall_paths_moved(struct wall_paths *p, struct wall *w)
{
	int rc = 0;

	for (uint64_t i = oldest(p); i <= p->n && !rc; i++) {
		struct kept *k = &p->v[i % p->cap];

		rc = wall_move(w, &k->stack);
		if (!rc)
			rc = wall_move(w, &k->waker_stack);
	}
	return rc;
}

/* ---- the walk ---- */

struct walk {
	const struct wall_paths *p;
	struct wall *w;
	struct wall_path *path;
	unsigned depth; /* wakers between the span's thread and the one that is walked */
	uint32_t link;	/* the last of these */
};

static uint64_t later(uint64_t a, uint64_t b)
{
	return a > b ? a : b;
}

static uint64_t sooner(uint64_t a, uint64_t b)
{
	return a < b ? a : b;
}

static int add(struct walk *a, struct wall_step step)
{
	struct wall_step *v;

	if (step.end <= step.begin)
		return 0;
	if (a->path->n >= WALL_PATH_MAX)
		return PP_ELIMIT;
	v = array_widen(a->path->v, &a->path->cap, a->path->n, 256, sizeof(*v));
	if (!v)
		return PP_ENOMEM;
	a->path->v = v;
	step.link = a->link;
	v[a->path->n++] = step;
	return 0;
}

static int back(struct walk *a, struct wall_from from, uint64_t begin);

static int given(struct walk *a, const struct wall_request *work, uint32_t thread, uint64_t begin,
		 uint64_t end);

/*
 * The waker of a wait, or of a birth, instead of it: what that did up to then. Before a worker
 * was given what it worked on, who gave it.
 */
static int follow(struct walk *a, const struct wall_wake *wake, struct wall_link link,
		  uint64_t begin, uint64_t end)
{
	const struct wall_request *work = wall_request(a->w, wake->work);
	uint64_t since = work && work->at > begin && work->at < end ? work->at : begin;
	struct wall_path *path = a->path;
	struct wall_link *v =
		array_widen(path->links, &path->links_cap, path->nlinks + 1, 64, sizeof(*v));
	int rc;

	if (!v)
		return PP_ENOMEM;
	path->links = v;
	link.up = a->link;
	a->link = ++path->nlinks;
	link.first = link.up ? v[link.up].first : a->link;
	link.waker = wake->thread;
	link.waker_stack = wake->stack;
	v[a->link] = link;
	a->depth++;
	rc = back(a,
		  (struct wall_from){
			  .thread = wake->thread,
			  .time = end,
			  .last = wake->last,
			  .stack = wake->stack,
			  .state = WALL_RUNNING,
		  },
		  since);
	if (!rc && since > begin)
		rc = given(a, work, wake->thread, begin, since);
	a->depth--;
	a->link = link.up;
	return rc;
}

/* Whether thread i was woken by a thread that is recorded; an interrupt in its place is none. */
static int has_waker(const struct walk *a, const struct wall_wake *wake, uint32_t i, bool *has)
{
	bool in = false;
	int rc = 0;

	*has = wake->thread && wake->thread != i && !wake->unknown &&
	       wall_is_ours(a->w, &a->w->threads[wake->thread]);
	if (*has && wake->stack)
		rc = wall_in_interrupt(a->w, wake->stack, &in);
	else
		in = wake->within || wake->request;
	*has &= !in && !wake->hard;
	return rc;
}

/* A wait that is over: its waker in its place, or else what is known of who ended it. */
static int add_wait(struct walk *a, const struct wall_wake *wake, struct wall_step s)
{
	const struct wall_request *r = wall_request(a->w, wake->request);
	enum wall_kind kind;
	bool has;
	int rc = wall_wait(a->w, s.stack, wake->stack, &kind);

	if (!rc)
		rc = has_waker(a, wake, s.thread, &has);
	if (rc)
		return rc;
	if (!has && r && (kind == r->kind || kind == WALL_KIND_BLOCKED)) {
		kind = (enum wall_kind)r->kind;
		s.request = wake->request;
	}
	/* What is known of it without its stack. */
	kind = kind == WALL_KIND_BLOCKED ? (enum wall_kind)s.kind : kind;
	s.deep = has && a->depth >= WALL_WAKERS;
	if (has && !s.deep)
		return follow(a, wake,
			      (struct wall_link){
				      .thread = s.thread, .stack = s.stack, .kind = (uint8_t)kind},
			      s.begin, s.end);
	s.kind = (uint8_t)kind;
	s.unknown = wake->unknown && kind != WALL_KIND_TIMER && kind != WALL_KIND_DISK;
	s.other = wake->thread && !wall_is_ours(a->w, &a->w->threads[wake->thread]) ? wake->thread
										    : 0;
	return add(a, s);
}

static int add_blocked(struct walk *a, const struct kept *k, struct wall_step s)
{
	const struct wall_wake wake = {.thread = k->waker,
				       .stack = k->waker_stack,
				       .last = k->link,
				       .work = k->work,
				       .request = k->request,
				       .within = k->within,
				       .hard = k->hard,
				       .unknown = k->unknown};

	return add_wait(a, &wake, s);
}

/* Before a worker was given work it was who gave it that decided. */
static int given(struct walk *a, const struct wall_request *work, uint32_t thread, uint64_t begin,
		 uint64_t end)
{
	return add_wait(a, &work->by,
			(struct wall_step){.begin = begin,
					   .end = end,
					   .thread = thread,
					   .state = WALL_BLOCKED,
					   .kind = WALL_KIND_WORK});
}

/* Who had the CPU meanwhile. */
static int add_runnable(struct walk *a, const struct kept *k, struct wall_step s)
{
	uint64_t begin = s.begin;
	const struct kept *ran = get(a->p, k->link);
	int rc = 0;

	for (; ran && s.end > begin && !rc; ran = get(a->p, ran->link)) {
		if (ran->end < s.end) {
			s.other = 0;
			s.begin = later(ran->end, begin);
			rc = add(a, s);
			s.end = s.begin;
		}
		if (!rc && ran->begin < s.end) {
			s.other = ran->thread;
			s.begin = later(ran->begin, begin);
			rc = add(a, s);
			s.end = s.begin;
		}
	}
	s.other = 0;
	s.begin = begin;
	return rc ? rc : add(a, s);
}

static int add_running(struct walk *a, const struct kept *k, struct wall_step s)
{
	struct wall_step irq = s;
	int rc;

	/* Where in it they came is of no matter. */
	irq.begin = s.end - sooner(k->interrupted, s.end - s.begin);
	irq.interrupted = true;
	irq.stack = 0;
	rc = add(a, irq);
	s.end = irq.begin;
	s.between = !k->sampled;
	return rc ? rc : add(a, s);
}

/* What a segment has between two times. */
static int add_segment(struct walk *a, const struct kept *k, uint64_t begin, uint64_t end)
{
	struct wall_step s = {.begin = begin,
			      .end = end,
			      .thread = k->thread,
			      .stack = k->stack,
			      .state = k->state};

	switch ((enum wall_state)k->state) {
	case WALL_RUNNING: return add_running(a, k, s);
	case WALL_RUNNABLE: return add_runnable(a, k, s);
	case WALL_BLOCKED: return add_blocked(a, k, s);
	default: return add(a, s);
	}
}

static int add_unknown(struct walk *a, uint32_t thread, uint64_t begin, uint64_t end)
{
	return add(a, (struct wall_step){
			      .begin = begin, .end = end, .thread = thread, .state = WALL_UNKNOWN});
}

/* Before a thread's first segment it was what made it that decided. */
static int before_birth(struct walk *a, uint32_t thread, uint64_t begin, uint64_t end)
{
	const struct wall_wake *made = &a->w->threads[thread].made;
	bool has;
	int rc = has_waker(a, made, thread, &has);

	if (rc)
		return rc;
	return has && a->depth < WALL_WAKERS
		       ? follow(a, made, (struct wall_link){.thread = thread, .kind = WALL_NKINDS},
				begin, end)
		       : add_unknown(a, thread, begin, end);
}

/* From a time in a thread's life back to `begin`. */
static int back(struct walk *a, struct wall_from from, uint64_t begin)
{
	const struct kept *k = get(a->p, from.last);
	struct wall_step now = {.end = from.time,
				.thread = from.thread,
				.stack = from.stack,
				.state = from.state,
				.between = true,
				.unknown = true};
	uint64_t at = from.time;
	enum wall_kind kind;
	int rc = wall_wait(a->w, from.stack, 0, &kind);

	now.kind = (uint8_t)kind;
	/* What it does since its last segment. */
	if (!rc && (k || !from.last)) {
		at = k ? k->end : a->w->threads[from.thread].begin;
		at = now.begin = sooner(later(at, begin), from.time);
		rc = add(a, now);
	}
	for (; !rc && at > begin && k; k = get(a->p, from.last)) {
		uint64_t to = sooner(k->end, at), since = later(k->begin, begin);

		from.last = k->before;
		if (to < at)
			rc = add_unknown(a, from.thread, later(to, begin), at);
		at = later(to, begin);
		if (!rc && since < at) {
			rc = add_segment(a, k, since, at);
			at = since;
		}
	}
	if (rc || at <= begin)
		return rc;
	if (!from.last)
		return before_birth(a, from.thread, begin, at);
	a->path->cut = true;
	return add_unknown(a, from.thread, begin, at);
}

int wall_path(struct wall_paths *p, struct wall *w, const struct wall_from *from, uint64_t begin,
	      struct wall_path *path)
{
	struct walk a = {.p = p, .w = w, .path = path};

	path->n = path->nlinks = 0;
	path->cut = false;
	return back(&a, *from, begin);
}
