/*
 * The queue of records: runs that are merged when their turn has come, and the blocks they lie in.
 */
#include "merge/order.h"

#include "base/err.h"

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#define ORDER_SPARE_MIN (64u << 10) /* smaller blocks are not kept */

struct block *block_new(size_t cap, struct blocks *of)
{
	struct block *b = of->spare;

	if (b && b->cap >= cap && b->cap / 2 <= cap) {
		of->spare = b->next;
		of->spare_bytes -= b->cap;
		cap = b->cap;
	} else {
		b = malloc(sizeof(*b) + cap);
	}
	if (b) {
		*b = (struct block){.refs = 1, .cap = cap, .of = of, .bytes = (uint8_t *)b->data};
		of->live += cap;
	}
	return b;
}

struct block *block_of_window(const struct src_window *w, struct blocks *of)
{
	struct block *b = malloc(sizeof(*b));

	if (!b)
		return NULL;
	*b = (struct block){.refs = 1,
			    .of = of,
			    .len = w->len,
			    .cap = w->len,
			    .map = w->map,
			    .mapped = w->mapped,
			    .bytes = w->bytes};
	of->live += b->cap;
	return b;
}

void blocks_unmap(struct blocks *of)
{
	while (of->mapped) {
		struct block *next = of->mapped->next;

		munmap(of->mapped->map, of->mapped->mapped);
		free(of->mapped);
		of->mapped = next;
	}
	of->mapped_bytes = 0;
}

void block_unref(struct block *b)
{
	struct blocks *of;

	if (!b || --b->refs)
		return;
	of = b->of;
	of->live -= b->cap;
	if (b->map) {
		b->next = of->mapped;
		of->mapped = b;
		of->mapped_bytes += b->mapped;
		return;
	}
	if (b->cap < ORDER_SPARE_MIN || of->spare_bytes + b->cap > ORDER_SPARE_MAX) {
		free(b);
		return;
	}
	b->next = of->spare;
	of->spare = b;
	of->spare_bytes += b->cap;
}

void blocks_release(struct blocks *of)
{
	blocks_unmap(of);
	while (of->spare) {
		struct block *next = of->spare->next;

		free(of->spare);
		of->spare = next;
	}
	of->spare_bytes = 0;
}

void order_init(struct order *q, order_fn *deliver, void *ctx)
{
	*q = (struct order){.deliver = deliver, .ctx = ctx};
}

void order_release(struct order *q)
{
	for (size_t i = 0; i < q->n; i++)
		block_unref(q->v[i].block);
	free(q->v);
	free(q->spare);
	free(q->runs);
	blocks_release(&q->blocks);
	*q = (struct order){0};
}

/* Merges the runs [a, b) and [b, c) of src into dst; equal times keep their order. */
static void merge(const struct order_entry *src, struct order_entry *dst, size_t a, size_t b,
		  size_t c)
{
	size_t i = a, j = b, k = a;

	while (i < b && j < c)
		dst[k++] = src[j].time < src[i].time ? src[j++] : src[i++];
	memcpy(dst + k, src + i, (b - i) * sizeof(*dst));
	k += b - i;
	memcpy(dst + k, src + j, (c - j) * sizeof(*dst));
}

/* Merges neighbouring runs until there are few. */
static int merge_to_few(struct order *q)
{
	if (q->nruns <= ORDER_FEW)
		return 0;
	if (!q->spare) {
		q->spare = malloc(q->cap * sizeof(*q->spare));
		if (!q->spare)
			return PP_ENOMEM;
	}
	while (q->nruns > ORDER_FEW) {
		struct order_entry *swap = q->v;
		size_t out = 0;

		for (size_t r = 0; r < q->nruns; r += 2) {
			size_t a = q->runs[r];
			size_t b = r + 1 < q->nruns ? q->runs[r + 1] : q->n;
			size_t c = r + 2 < q->nruns ? q->runs[r + 2] : q->n;

			merge(q->v, q->spare, a, b, c);
			q->runs[out++] = a;
		}
		q->nruns = out;
		q->v = q->spare;
		q->spare = swap;
	}
	return 0;
}

/* What is left of the few runs, and the entries that were taken of them some turns ahead. */
struct heads {
	size_t n;
	struct order_entry *at[ORDER_FEW], *end[ORDER_FEW];
	struct order_entry *soon[2 * ORDER_AHEAD];
	uint32_t in, out; /* of soon */
};

static void heads_init(struct heads *h, const struct order *q)
{
	h->n = 0;
	h->in = h->out = 0;
	for (size_t r = 0; r < q->nruns; r++) {
		h->at[h->n] = q->v + q->runs[r];
		h->end[h->n++] = q->v + (r + 1 < q->nruns ? q->runs[r + 1] : q->n);
	}
}

/*
 * The next in time that is not younger than limit; of equal ones that of the first run. NULL: there
 * is none. The choice is made without a branch: nobody can foresee which of two CPUs comes next.
 */
static inline struct order_entry *heads_take(struct heads *h, uint64_t limit)
{
	struct order_entry *e;
	size_t first = 0;

	if (!h->n)
		return NULL;
	for (size_t i = 1; i < h->n; i++)
		first = h->at[i]->time < h->at[first]->time ? i : first;
	e = h->at[first];
	if (e->time > limit)
		return NULL;
	if (++h->at[first] == h->end[first]) {
		h->n--;
		for (; first < h->n; first++) {
			h->at[first] = h->at[first + 1];
			h->end[first] = h->end[first + 1];
		}
	}
	return e;
}

/* Takes the next ones ahead. A record was read long before its turn: it has left the cache. */
static inline void look_ahead(struct order *q, struct heads *h, uint64_t limit, size_t *left)
{
	while (*left && h->in - h->out <= ORDER_AHEAD) {
		struct order_entry *e = heads_take(h, limit);

		if (!e)
			return;
		__builtin_prefetch(e->rec);
		__builtin_prefetch(e->rec + 64);
		if (q->ahead)
			q->ahead(q->ctx, e->rec);
		h->soon[h->in++ % (2 * ORDER_AHEAD)] = e;
		--*left;
	}
}

static int deliver_one(struct order *q, struct order_entry *e)
{
	int rc;

	if (e->time < q->last)
		q->late++;
	else
		q->last = e->time;
	rc = q->deliver(q->ctx, e->time, e->rec, e->block);
	block_unref(e->block);
	return rc;
}

/* Keeps the runs that are left. */
static void keep(struct order *q, const struct heads *h)
{
	q->n = 0;
	q->nruns = 0;
	for (size_t r = 0; r < h->n; r++) {
		size_t n = (size_t)(h->end[r] - h->at[r]);

		memmove(q->v + q->n, h->at[r], n * sizeof(*q->v));
		q->runs[q->nruns++] = q->n;
		q->n += n;
	}
}

/* Delivers what is not younger than limit, and at most `most` records. */
static int deliver(struct order *q, uint64_t limit, size_t most)
{
	struct heads h;
	int rc = merge_to_few(q);

	if (rc)
		return rc;
	if (q->ahead)
		q->ahead(q->ctx, NULL);
	heads_init(&h, q);
	for (;;) {
		look_ahead(q, &h, limit, &most);
		if (h.in == h.out || rc)
			break;
		rc = deliver_one(q, h.soon[h.out++ % (2 * ORDER_AHEAD)]);
	}
	while (h.in != h.out)
		block_unref(h.soon[h.out++ % (2 * ORDER_AHEAD)]->block);
	keep(q, &h);
	return rc;
}

static int grow(struct order *q)
{
	size_t cap = q->cap ? q->cap * 2 : 4096;
	struct order_entry *v = realloc(q->v, cap * sizeof(*v));

	if (!v)
		return PP_ENOMEM;
	free(q->spare);
	q->spare = NULL;
	q->v = v;
	q->cap = cap;
	return 0;
}

static int begin_run(struct order *q)
{
	if (q->nruns == q->runs_cap) {
		size_t cap = q->runs_cap ? q->runs_cap * 2 : 64;
		size_t *runs = realloc(q->runs, cap * sizeof(*runs));

		if (!runs)
			return PP_ENOMEM;
		q->runs = runs;
		q->runs_cap = cap;
	}
	q->runs[q->nruns++] = q->n;
	return 0;
}

int order_add(struct order *q, uint64_t time, uint8_t *rec, struct block *b)
{
	int rc;

	/* Records that are far in the future can hold a block each: hence a loop. */
	while ((q->blocks.live > ORDER_HELD_MAX || q->n >= ORDER_RECORDS_MAX) && q->n) {
		rc = deliver(q, UINT64_MAX, q->n / 2 + 1);
		if (rc)
			return rc;
	}
	if (q->n == q->cap && (rc = grow(q)))
		return rc;
	if ((!q->n || time < q->v[q->n - 1].time) && (rc = begin_run(q)))
		return rc;
	q->v[q->n++] = (struct order_entry){time, rec, b};
	b->refs++;
	if (time > q->max_time)
		q->max_time = time;
	return 0;
}

int order_round(struct order *q)
{
	int rc = deliver(q, q->round_time, SIZE_MAX);

	q->round_time = q->max_time;
	return rc;
}

int order_flush(struct order *q)
{
	return deliver(q, UINT64_MAX, SIZE_MAX);
}
