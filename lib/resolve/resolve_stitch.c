/*
 * What continues a stack whose copy ended: the callers that all whole stacks have above a frame at
 * the same address of the stack. Threads wait and work at few places, again and again, and
 * processes that were forked from one have the same addresses.
 *
 * Interpreters and recursion repeat frames: the same function at the same address of the stack with
 * other callers. Where whole stacks do not agree, nothing is known; where they could disagree, as
 * the function has several callers elsewhere, one is not enough.
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
#define TWICE	  (1u << 30) /* with what follows: it was seen again */

/* The whole stacks of a time: the steps to the root are shared. */
struct generation {
	struct map64 keys;    /* what follows it: index in steps, + 1, and TWICE */
	struct map64 callers; /* of a frame, wherever it was: a hash of the address it returns to */
	struct map64 links;   /* of a step by what it is and what follows it: index in steps, + 1 */
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
	map64_release(&g->callers);
	map64_release(&g->links);
	free(g->steps);
	*g = (struct generation){0};
}

void resolve_stitch_forget(struct resolver *r)
{
	struct stitcher *st = r->stitcher;

	if (!st)
		return;
	empty(&st->now);
	empty(&st->before);
	for (int i = 0; i < LASTS; i++)
		st->last[i].n = st->last[i].twice = 0;
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
	if (st->now.keys.n > KEYS_MAX || st->now.n > STEPS_MAX) {
		empty(&st->before);
		st->before = st->now;
		st->now = (struct generation){0};
		for (int i = 0; i < LASTS; i++)
			st->last[i].n = st->last[i].twice = 0;
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
	uint32_t *slot = map64_put(&g->keys, key, NULL), *of = map64_put(&g->callers, frame, NULL);

	if (!slot || !of)
		return PP_ENOMEM;
	if (!*slot)
		*slot = step;
	else
		*slot = (*slot & ~TWICE) == step ? step | TWICE : DISAGREE;
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

int resolve_stitch_learn(struct resolver *r, uint64_t thread, const struct unwind_result *res,
			 const uint32_t *frames, uint32_t inner)
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

/* What follows a frame in a generation, and whether it is sure; 0: it is not there. */
static uint32_t look(const struct generation *g, const struct stitch_key *key, bool *sure)
{
	const uint32_t *step = map64_get(&g->keys, hash(key->ip, key->sp, key->frame));
	const uint32_t *callers = map64_get(&g->callers, key->frame);

	if (!step)
		return 0;
	if (*step == DISAGREE)
		return DISAGREE;
	*sure |= *step & TWICE || (callers && *callers != DISAGREE);
	return *step & ~TWICE;
}

bool resolve_stitch_first(const struct resolver *r, const struct stitch_key *key, bool seen,
			  struct stitch_step *at)
{
	const struct stitcher *st = r->stitcher;
	uint32_t now, before;
	bool sure = seen;

	if (!st || st->frame_restarts != r->out.frame_restarts)
		return false;
	now = look(&st->now, key, &sure);
	before = look(&st->before, key, &sure);
	if (now == DISAGREE || before == DISAGREE || (now && before && !same(st, now, before)))
		return false;
	return (sure || (now && before)) && step_at(st, now ? now : before ? before | OLD : 0, at);
}

bool resolve_stitch_next(const struct resolver *r, struct stitch_step *at)
{
	return step_at(r->stitcher, at->next, at);
}
