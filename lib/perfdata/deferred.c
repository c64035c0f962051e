/*
 * Call chains that are recorded when the thread returns to user space (Linux 6.19): those that are
 * queued, and how they are joined to their samples.
 *
 * A sample then has PERF_CONTEXT_USER_DEFERRED and a cookie where its user addresses would be. The
 * record that has them comes later; those that are queued are found by thread and cookie.
 */
#include "perfdata/decoder.h"

#include "base/err.h"

#include <stdlib.h>

static uint64_t deferred_key(uint32_t tid, uint64_t cookie)
{
	uint64_t k = cookie * UINT64_C(0x9e3779b97f4a7c15) + tid;

	return k ^ k >> 29;
}

static struct perf_deferred_chain *deferred_find(struct perf_decoder *p, uint32_t tid,
						 uint64_t cookie)
{
	uint32_t *slot = map64_get(&p->deferred.by_key, deferred_key(tid, cookie));
	struct perf_deferred_chain *d = slot && *slot ? &p->deferred.v[*slot - 1] : NULL;

	return d && d->tid == tid && d->cookie == cookie ? d : NULL;
}

static bool deferred_parse(struct perf_decoder *p, const uint8_t *rec, size_t size, uint32_t tid,
			   struct perf_deferred_chain *d)
{
	struct cursor c = cursor_make(rec + 8, size - 8, p->r.info.swap);

	d->tid = tid;
	d->cookie = get_u64(&c);
	d->n = get_u64(&c);
	d->ips = c.p;
	return !c.bad && d->n <= cursor_left(&c) / 8;
}

/* One is at a place in v: its record and its key lead there. 0 or PP_ENOMEM. */
static int deferred_place(struct perf_deferred *q, uint32_t i, const struct perf_deferred_chain *d)
{
	uint32_t *rec = map64_put(&q->by_rec, (uintptr_t)d->ips, NULL), *key;

	if (!rec)
		return PP_ENOMEM;
	*rec = i + 1;
	key = map64_put(&q->by_key, deferred_key(d->tid, d->cookie), NULL);
	if (!key)
		return PP_ENOMEM;
	*key = i + 1;
	q->v[i] = *d;
	return 0;
}

int perf_deferred_add(struct perf_decoder *p, const uint8_t *rec, size_t size, uint32_t tid)
{
	struct perf_deferred *q = &p->deferred;
	struct perf_deferred_chain d;
	const uint32_t *slot;
	uint32_t i;
	int rc;

	if (!deferred_parse(p, rec, size, tid, &d) || q->n >= PERF_DEFERRED_MAX)
		return 0;
	if (!q->v) {
		q->v = calloc(PERF_DEFERRED_MAX, sizeof(*q->v));
		if (!q->v)
			return PP_ENOMEM;
	}
	slot = map64_get(&q->by_key, deferred_key(tid, d.cookie));
	i = slot ? *slot - 1 : q->n;
	if (slot) /* the same once more */
		map64_del(&q->by_rec, (uintptr_t)q->v[i].ips);
	rc = deferred_place(q, i, &d);
	q->n += !rc && !slot;
	return rc;
}

/*
 * The record's turn has come: no sample that waits for it can follow. Which one it is, the record
 * tells: its thread may be another one by the events that were announced since.
 */
int perf_deferred_done(struct perf_decoder *p, const uint8_t *rec, size_t size)
{
	struct perf_deferred *q = &p->deferred;
	struct perf_deferred_chain d, *at, *last;
	const uint32_t *slot;

	if (!deferred_parse(p, rec, size, PS_NONE, &d))
		return PP_ECUT;
	slot = map64_get(&q->by_rec, (uintptr_t)d.ips);
	if (!slot)
		return 0;
	at = &q->v[*slot - 1];
	last = &q->v[--q->n];
	map64_del(&q->by_rec, (uintptr_t)at->ips);
	map64_del(&q->by_key, deferred_key(at->tid, at->cookie));
	return at != last ? deferred_place(q, (uint32_t)(at - q->v), last) : 0;
}

uint64_t perf_deferred_merge(struct perf_decoder *p, uint32_t tid, uint64_t *ips, uint64_t n,
			     uint64_t *out)
{
	const struct perf_deferred_chain *d;
	struct cursor c;

	if (n < 2 || ips[n - 2] != PERF_CTX_USER_DEFERRED)
		return 0;
	d = deferred_find(p, tid, ips[n - 1]);
	if (!d || d->n + n - 2 > PERF_CHAIN_MAX) {
		p->tally.undeferred++;
		return 0;
	}
	memcpy(out, ips, 8 * (n - 2));
	c = cursor_make(d->ips, 8 * d->n, p->r.info.swap);
	for (uint64_t i = 0; i < d->n; i++)
		out[n - 2 + i] = get_u64(&c);
	return n - 2 + d->n;
}

void perf_deferred_release(struct perf_deferred *d)
{
	free(d->v);
	map64_release(&d->by_key);
	map64_release(&d->by_rec);
	buf_release(&d->merged);
}
