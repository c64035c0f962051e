/* Stacks whose copy ended, continued by an earlier stack of the same thread. */
#include "resolve/resolve_parts.h"

#include "base/err.h"

#include <stdlib.h>
#include <string.h>

#define THREADS_MAX 1024 /* whose stacks are kept; beyond, all are forgotten */
#define SHARED_MIN  3	 /* frames that two stacks must have in common */

/* The last whole stack of a thread: its outer end, the outermost frame first. */
struct kept {
	uint32_t n;
	struct stitch_frame frames[STITCH_FRAMES_MAX];
};

struct stitcher {
	struct map64 by_thread; /* index in threads, + 1 */
	struct kept *threads[THREADS_MAX];
	uint32_t n;
};

static void forget(struct stitcher *st)
{
	for (uint32_t i = 0; i < st->n; i++)
		free(st->threads[i]);
	st->n = 0;
	map64_clear(&st->by_thread);
}

void resolve_stitch_release(struct resolver *r)
{
	if (!r->stitcher)
		return;
	forget(r->stitcher);
	map64_release(&r->stitcher->by_thread);
	free(r->stitcher);
	r->stitcher = NULL;
}

void resolve_stitch_forget(struct resolver *r)
{
	if (r->stitcher)
		forget(r->stitcher);
}

/* What is kept of a thread; NULL: out of memory. */
static struct kept *kept_of(struct resolver *r, uint64_t thread)
{
	struct stitcher *st = r->stitcher;
	uint32_t *slot;

	if (!st)
		st = r->stitcher = calloc(1, sizeof(*st));
	if (!st)
		return NULL;
	if (st->n == THREADS_MAX && !map64_get(&st->by_thread, thread))
		forget(st);
	slot = map64_put(&st->by_thread, thread, NULL);
	if (slot && !*slot) {
		st->threads[st->n] = calloc(1, sizeof(struct kept));
		if (st->threads[st->n])
			*slot = ++st->n;
	}
	return slot && *slot ? st->threads[*slot - 1] : NULL;
}

static bool same(const struct stitch_frame *f, const struct unwind_result *res, uint32_t i)
{
	return f->ip == res->ips[i] && f->sp == res->sps[i];
}

/*
 * How many frames of the kept stack are beyond the last one that a stack has: both have this one
 * and those before it, at the same addresses of the stack. 0: they do not belong together.
 */
static uint32_t beyond(const struct kept *k, const struct unwind_result *res)
{
	uint32_t at = 0, shared = 0;

	if (res->n < SHARED_MIN)
		return 0;
	while (at < k->n && !same(&k->frames[at], res, res->n - 1))
		at++;
	while (shared < SHARED_MIN && at + shared < k->n &&
	       same(&k->frames[at + shared], res, res->n - 1 - shared))
		shared++;
	return shared == SHARED_MIN ? at : 0;
}

/* The stack becomes the one that is kept; its first `had` frames are there already. */
static void keep(struct kept *k, const struct unwind_result *res, uint32_t had)
{
	k->n = had;
	for (uint32_t i = res->n; i-- > 0 && k->n < STITCH_FRAMES_MAX;)
		k->frames[k->n++] = (struct stitch_frame){
			.ip = res->ips[i], .sp = res->sps[i], .exact = res->exact[i]};
}

int resolve_stitch(struct resolver *r, uint64_t thread, const struct unwind_result *res,
		   const struct stitch_frame **more, uint32_t *n)
{
	bool ended = res->end == UNWIND_COPY || res->end == UNWIND_NOT_THERE;
	struct kept *k = NULL;

	*n = 0;
	if (res->end == UNWIND_OUTERMOST || ended) {
		k = kept_of(r, thread);
		if (!k)
			return PP_ENOMEM;
	}
	if (ended)
		*n = beyond(k, res);
	if (k && (*n || res->end == UNWIND_OUTERMOST))
		keep(k, res, *n);
	*more = k ? k->frames : NULL;
	return 0;
}
