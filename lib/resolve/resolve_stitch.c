/*
 * What continues a stack whose copy ended: the callers that all whole stacks have above a frame at
 * the same address of the stack. Threads wait and work at few places, again and again, and
 * processes that were forked from one have the same addresses.
 *
 * Interpreters and recursion repeat frames: the same function at the same address of the stack with
 * other callers. Where whole stacks do not agree, nothing is known; where they could disagree, as
 * the function has several callers elsewhere, one is not enough. Often they agree on the functions
 * at least (resolve_callers.c).
 */
#include "resolve/resolve_parts.h"

#include "base/array.h"
#include "base/err.h"

#include <stdlib.h>

#define KEYS_MAX  (1u << 18) /* of a generation: what is older is forgotten in two steps */
#define STEPS_MAX (1u << 19) /* likewise */
#define LASTS	  64	     /* threads whose last whole stack is known, a power of two */
#define LAST_MAX  256	     /* outer frames of it */
#define DISAGREE  UINT32_MAX /* what follows: this and that */
#define TIMES	  (1u << 29) /* with what follows: how often it was seen again, up to 3 */
#define STEP	  (TIMES - 1)
#define FIRM	  (3 * TIMES) /* so often that its caller calls from one place here */

/* The whole stacks of a time: the steps to the root are shared. */
struct generation {
	struct map64 keys; /* what follows it: index in steps, + 1, and TIMES */
	struct map64 of;   /* of a frame, wherever it was: a hash of the address it returns to */
	struct callers callers;
	struct map64 links; /* of a step by what it is and what follows it: index in steps, + 1 */
	struct stitch_step *steps;
	uint32_t n, cap;
};

/* The last whole stack of a thread, the outermost frame first. */
struct last {
	uint64_t thread;
	uint32_t n, twice; /* frames; of them, those that another had, too */
	uint64_t ips[LAST_MAX], sps[LAST_MAX];
	uint32_t frames[LAST_MAX], steps[LAST_MAX];
};

struct stitcher {
	struct generation now, before;
	uint32_t frame_restarts; /* of the ids of frames */
	bool parts; /* there were stacks whose copy ended: without any, callers are not needed */
	struct last last[LASTS];
};

static uint64_t mix(uint64_t a, uint64_t b)
{
	uint64_t v = (a ^ b >> 29 ^ b << 35) * UINT64_C(0x9e3779b97f4a7c15);

	v = (v ^ v >> 32 ^ b) * UINT64_C(0xd6e8feb86659fd93);
	return v ^ v >> 29;
}

static uint64_t hash(uint64_t ip, uint64_t sp, uint32_t frame)
{
	return mix(mix(ip, sp), frame);
}

static void empty(struct generation *g)
{
	map64_release(&g->keys);
	map64_release(&g->of);
	callers_release(&g->callers);
	map64_release(&g->links);
	free(g->steps);
	*g = (struct generation){0};
}

static void forget_lasts(struct stitcher *st)
{
	for (int i = 0; i < LASTS; i++)
		st->last[i].n = st->last[i].twice = 0;
}

void resolve_stitch_forget(struct resolver *r)
{
	struct stitcher *st = r->stitcher;

	if (!st)
		return;
	empty(&st->now);
	empty(&st->before);
	forget_lasts(st);
}

void resolve_stitch_release(struct resolver *r)
{
	resolve_stitch_forget(r);
	free(r->stitcher);
	r->stitcher = NULL;
}

/* Room for a stack; 0 or PP_ENOMEM. */
static int prepare(struct resolver *r)
{
	struct stitcher *st = r->stitcher;

	if (!st)
		st = r->stitcher = calloc(1, sizeof(*st));
	if (!st)
		return PP_ENOMEM;
	if (st->frame_restarts != r->out.frame_restarts)
		resolve_stitch_forget(r);
	st->frame_restarts = r->out.frame_restarts;
	if (st->now.keys.n > KEYS_MAX || st->now.n > STEPS_MAX || st->now.callers.n > KEYS_MAX) {
		empty(&st->before);
		st->before = st->now;
		st->now = (struct generation){0};
		forget_lasts(st);
	}
	return 0;
}

/* The number of a step, which is new or shared. 0: out of memory. */
static uint32_t step_of(struct generation *g, const struct stitch_step *step)
{
	uint64_t what = mix(mix(step->ip, step->next), (uint64_t)step->exact << 32 | step->frame);
	uint32_t *slot = map64_put(&g->links, what, NULL);
	struct stitch_step *v;

	if (!slot || *slot)
		return slot ? *slot : 0;
	v = array_widen(g->steps, &g->cap, g->n, 1024, sizeof(*v));
	if (!v)
		return 0;
	g->steps = v;
	v[g->n++] = *step;
	return *slot = g->n;
}

/* A frame is called from there. */
static int put_key(struct generation *g, uint64_t key, uint32_t frame, uint32_t step)
{
	uint64_t ip = g->steps[step - 1].ip;
	uint32_t caller = (uint32_t)mix(ip, 0) >> 1 | 1;
	uint32_t *slot = map64_put(&g->keys, key, NULL), *of = map64_put(&g->of, frame, NULL);

	if (!slot || !of)
		return PP_ENOMEM;
	if (!*slot)
		*slot = step;
	else if (*slot == DISAGREE || (*slot & STEP) != step)
		*slot = DISAGREE;
	else if (*slot < FIRM)
		*slot += TIMES;
	*of = *of && *of != caller ? DISAGREE : caller;
	return 0;
}

/* How many outer frames the last stack of the thread had, too. */
static uint32_t shared(const struct last *l, const struct unwind_result *res,
		       const uint32_t *frames, uint32_t inner)
{
	uint32_t n = 0, at = res->n;

	while (n < l->n && at > inner && l->ips[n] == res->ips[at - 1] &&
	       l->sps[n] == res->sps[at - 1] && l->frames[n] == frames[at - 1]) {
		n++;
		at--;
	}
	return n;
}

/* The frames that the last stack of the thread had, too, were seen again. Counted once. */
static int see_again(struct generation *g, struct last *l)
{
	int rc = 0;

	for (; l->twice < l->n && !rc; l->twice++) {
		uint32_t at = l->twice;

		if (at)
			rc = put_key(g, hash(l->ips[at], l->sps[at], l->frames[at]), l->frames[at],
				     l->steps[at - 1]);
	}
	return rc;
}

/* The callers of the frames within one, whose end is at cfa; 0: it is the outermost. */
static int learn_callers(struct resolver *r, const struct caller_space *space,
			 const struct unwind_result *res, const uint32_t *frames, uint32_t from,
			 uint64_t cfa)
{
	struct callers *c = &r->stitcher->now.callers;
	struct caller caller = {.function = resolve_function(r, frames[from])};
	int rc = 0;

	if (cfa && !(caller.next = callers_place(c, caller.function, cfa)))
		return PP_ENOMEM;
	for (uint32_t i = from; i-- > 0 && !rc;) {
		uint32_t function = resolve_function(r, frames[i]),
			 at = callers_place(c, function, res->sps[i + 1]);

		caller.ip = res->ips[i + 1];
		caller.frame = frames[i + 1];
		caller.exact = res->exact[i + 1];
		rc = at ? callers_put(r, c, space, function, at, &caller) : PP_ENOMEM;
		caller.function = function;
		caller.next = at;
	}
	return rc;
}

/* What is new of a whole stack: `in_common` are the outer frames that are not. */
static int learn_whole(struct resolver *r, const struct caller_space *space,
		       const struct unwind_result *res, const uint32_t *frames, uint32_t in_common)
{
	uint32_t from = res->n - (in_common ? in_common : 1);

	if (!r->stitcher->parts)
		return 0;
	return learn_callers(r, space, res, frames, from,
			     from + 1 < res->n ? res->sps[from + 1] : 0);
}

int resolve_stitch_learn(struct resolver *r, uint64_t thread, const struct caller_space *space,
			 const struct unwind_result *res, const uint32_t *frames, uint32_t inner)
{
	struct stitch_step step = {0};
	struct generation *g;
	struct last *l;
	int rc = prepare(r);

	if (rc)
		return rc;
	g = &r->stitcher->now;
	l = &r->stitcher->last[mix(thread, 0) & (LASTS - 1)];
	if (l->thread != thread)
		l->n = l->twice = 0;
	l->thread = thread;
	l->n = shared(l, res, frames, inner);
	if (l->twice > l->n)
		l->twice = l->n;
	rc = see_again(g, l);
	if (!rc)
		rc = learn_whole(r, space, res, frames, l->n);
	step.next = l->n ? l->steps[l->n - 1] : 0;
	for (uint32_t i = res->n - l->n; i-- > inner && !rc;) {
		if (step.next)
			rc = put_key(g, hash(res->ips[i], res->sps[i], frames[i]), frames[i],
				     step.next);
		step.ip = res->ips[i];
		step.frame = frames[i];
		step.exact = res->exact[i];
		step.next = step_of(g, &step);
		if (!step.next)
			return PP_ENOMEM;
		if (l->n < LAST_MAX && l->n == res->n - 1 - i) {
			l->ips[l->n] = step.ip;
			l->sps[l->n] = res->sps[i];
			l->frames[l->n] = step.frame;
			l->steps[l->n++] = step.next;
		}
	}
	return rc;
}

int resolve_stitch_part(struct resolver *r, const struct caller_space *space,
			const struct unwind_result *res, const uint32_t *frames)
{
	uint32_t from = res->n - 1;
	int rc = prepare(r);

	if (rc)
		return rc;
	/* From here on callers are kept. */
	if (!r->stitcher->parts)
		forget_lasts(r->stitcher);
	r->stitcher->parts = true;
	if (res->cfa)
		return learn_callers(r, space, res, frames, from, res->cfa);
	return from ? learn_callers(r, space, res, frames, from - 1, res->sps[from]) : 0;
}

/* Whether two generations say the same. */
static bool same(const struct stitcher *st, uint32_t a, uint32_t b)
{
	while (a && b) {
		const struct stitch_step *x = &st->now.steps[a - 1], *y = &st->before.steps[b - 1];

		if (x->ip != y->ip || x->exact != y->exact)
			return false;
		a = x->next;
		b = y->next;
	}
	return a == b;
}

/* Numbers of the older generation have this bit. */
#define OLD (1u << 31)

static bool step_at(const struct stitcher *st, uint32_t n, struct stitch_step *at)
{
	if (!n)
		return false;
	*at = n & OLD ? st->before.steps[(n & ~OLD) - 1] : st->now.steps[n - 1];
	if (at->next)
		at->next |= n & OLD;
	return true;
}

/* What follows a frame in a generation, and how sure it is; 0: it is not there. */
static uint32_t look(const struct generation *g, const struct stitch_key *key, uint32_t *times)
{
	const uint32_t *step = map64_get(&g->keys, hash(key->ip, key->sp, key->frame));
	const uint32_t *of = map64_get(&g->of, key->frame);

	if (!step)
		return 0;
	if (*step == DISAGREE)
		return DISAGREE;
	*times += *step & ~STEP;
	if (!*times && of && *of != DISAGREE)
		*times = TIMES;
	return *step & STEP;
}

/* What follows a frame by its own address and stack pointer. *firm: it was seen often. */
static uint32_t by_address(const struct stitcher *st, const struct stitch_key *key, bool seen,
			   bool *firm)
{
	uint32_t times = seen ? TIMES : 0, now = look(&st->now, key, &times),
		 before = look(&st->before, key, &times);

	*firm = times >= FIRM;
	if (now == DISAGREE || before == DISAGREE || (now && before && !same(st, now, before)))
		return 0;
	return !times && !(now && before) ? 0 : now ? now : before ? before | OLD : 0;
}

/* What follows it by its function and the end of its frame. */
static uint32_t by_function(const struct resolver *r, const struct stitch_key *key)
{
	const struct stitcher *st = r->stitcher;
	const struct callers *a = &st->now.callers, *b = &st->before.callers;
	uint32_t function = resolve_function(r, key->frame),
		 now = key->cfa ? callers_find(a, function, key->cfa) : 0,
		 before = key->cfa ? callers_find(b, function, key->cfa) : 0;

	if ((now && before && !callers_same(a, now, b, before)) ||
	    (now && !callers_sure(a, function, now)) ||
	    (before && !callers_sure(b, function, before)))
		return 0;
	return now ? now : before ? before | OLD : 0;
}

static const struct caller *caller_at(const struct stitcher *st, uint32_t n)
{
	return n & OLD ? &st->before.callers.v[(n & ~OLD) - 1] : &st->now.callers.v[n - 1];
}

/* Where a function calls from is not known, after all, if whole stacks differ in that. */
static void take_caller(const struct resolver *r, struct stitch_at *at)
{
	const struct caller *c = at->caller ? caller_at(r->stitcher, at->caller) : NULL;
	bool alike = c && (at->by_function || resolve_function(r, at->step.frame) == c->function);

	if (!alike) {
		at->caller = 0;
		return;
	}
	at->caller = c->next ? c->next | (at->caller & OLD) : 0;
	if (!at->by_function && !c->several)
		return;
	at->step.ip = c->ip;
	at->step.frame = c->frame;
	at->step.exact = c->exact;
}

bool resolve_stitch_first(const struct resolver *r, const struct stitch_key *key, bool seen,
			  struct stitch_at *at)
{
	const struct stitcher *st = r->stitcher;
	uint32_t step;
	bool firm;

	if (!st || st->frame_restarts != r->out.frame_restarts)
		return false;
	step = by_address(st, key, seen, &firm);
	*at = (struct stitch_at){.caller = step && firm ? 0 : by_function(r, key),
				 .by_function = !step};
	if (!step_at(st, step, &at->step) && !at->caller)
		return false;
	take_caller(r, at);
	return true;
}

bool resolve_stitch_next(const struct resolver *r, struct stitch_at *at)
{
	if (at->by_function ? !at->caller : !step_at(r->stitcher, at->step.next, &at->step))
		return false;
	take_caller(r, at);
	return true;
}
