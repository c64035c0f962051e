/* Histograms: counting, merging, percentiles. */
#include "table/hist.h"

#include "base/err.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define SUB	    (1 << HIST_SUB_BITS)
#define SLOTS_FIRST 8  /* a power of two */
#define NEAR	    32 /* buckets that are looked up one by one */

void hist_release(struct hist *h)
{
	free(h->fine.slots);
	free(h->fine.counts);
	free(h->linear.slots);
	free(h->linear.counts);
	*h = (struct hist)HIST_INIT;
}

int32_t hist_bucket(hist_int v)
{
	int32_t b = (int32_t)hist_bucket_of((uint64_t)(v < 0 ? -v : v));

	return v < 0 ? -b : b;
}

int32_t hist_linear_bucket(hist_int v, uint64_t step)
{
	struct wide b = wide_of(v >= 0 ? v : -v + step - 1);
	uint64_t rest;

	wide_div(&b, step, &rest);
	if (b.hi || b.lo > HIST_LINEAR_MAX)
		b.lo = HIST_LINEAR_MAX;
	return v >= 0 ? (int32_t)b.lo : -(int32_t)b.lo;
}

/* A bucket is 2^shift wide. */
static int32_t shift_of(int32_t bucket)
{
	return bucket < 2 * SUB ? 0 : (bucket / SUB - 1) & 63;
}

hist_int hist_bucket_name(int32_t bucket)
{
	int32_t b = bucket < 0 ? -bucket : bucket, shift = shift_of(b);
	uint64_t low = (uint64_t)(b - shift * SUB) << shift;

	return bucket < 0 ? -(hist_int)low : (hist_int)low;
}

void hist_range(int32_t bucket, hist_int *low, hist_int *high)
{
	hist_int name = hist_bucket_name(bucket);
	hist_int more = (hist_int)((UINT64_C(1) << shift_of(bucket < 0 ? -bucket : bucket)) - 1);

	*low = bucket < 0 ? name - more : name;
	*high = bucket < 0 ? name : name + more;
}

/* ---- counters ---- */

/* Buckets that something fell into lie side by side: multiplied, they do not form clusters. */
static uint32_t place(const struct hist_buckets *b, int32_t bucket)
{
	return (uint32_t)bucket * 0x9e3779b1u >> 7 & b->mask;
}

/* The slot of a bucket, or the free one where it belongs. */
static struct hist_slot *slot_of(const struct hist_buckets *b, int32_t bucket)
{
	uint32_t i = place(b, bucket);

	while (b->slots[i].count && b->slots[i].bucket != bucket)
		i = (i + 1) & b->mask;
	return &b->slots[i];
}

/* How many counters the array for these buckets has: whole powers of two of values, one more. */
static uint32_t dense_size(int32_t low, int32_t high, int32_t *first)
{
	*first = (low & -SUB) - SUB;
	return (uint32_t)((high | (SUB - 1)) + SUB - *first + 1);
}

/* Makes an array of all counters from low to high, at least. */
static int make_dense(struct hist_buckets *b, int32_t low, int32_t high)
{
	struct hist_buckets dense = {.n = b->n, .low = b->low, .high = b->high};

	dense.mask = dense_size(low, high, &dense.first) - 1;
	dense.counts = calloc((size_t)dense.mask + 1, sizeof(*dense.counts));
	if (!dense.counts)
		return PP_ENOMEM;
	if (b->counts)
		memcpy(dense.counts + (b->first - dense.first), b->counts,
		       ((size_t)b->mask + 1) * sizeof(*b->counts));
	for (uint32_t i = 0; b->slots && i <= b->mask; i++)
		if (b->slots[i].count)
			dense.counts[b->slots[i].bucket - dense.first] = b->slots[i].count;
	free(b->slots);
	free(b->counts);
	*b = dense;
	return 0;
}

/* Twice the slots, or the array if that takes no more memory. */
static int grow(struct hist_buckets *b, int32_t bucket)
{
	struct hist_buckets bigger = *b;
	uint32_t n = b->slots ? (b->mask + 1) * 2 : SLOTS_FIRST;
	int32_t low = b->n && b->low < bucket ? b->low : bucket;
	int32_t high = b->n && b->high > bucket ? b->high : bucket, first;

	if (dense_size(low, high, &first) * sizeof(*b->counts) <= n * sizeof(*b->slots))
		return make_dense(b, low, high);
	bigger.slots = calloc(n, sizeof(*bigger.slots));
	if (!bigger.slots)
		return PP_ENOMEM;
	bigger.mask = n - 1;
	for (uint32_t i = 0; b->slots && i <= b->mask; i++)
		if (b->slots[i].count)
			*slot_of(&bigger, b->slots[i].bucket) = b->slots[i];
	free(b->slots);
	*b = bigger;
	return 0;
}

static void add_saturated(uint64_t *sum, uint64_t v)
{
	if (__builtin_add_overflow(*sum, v, sum))
		*sum = UINT64_MAX;
}

/* The counter of a bucket; NULL: it has none yet. */
static uint64_t *counter(const struct hist_buckets *b, int32_t bucket)
{
	struct hist_slot *s;

	if (b->counts) {
		uint32_t i = (uint32_t)(bucket - b->first);

		return i <= b->mask ? &b->counts[i] : NULL;
	}
	s = b->slots ? slot_of(b, bucket) : NULL;
	if (!s || (!s->count && b->n >= b->mask - b->mask / 4))
		return NULL;
	s->bucket = bucket;
	return &s->count;
}

int hist_buckets_add(struct hist_buckets *b, int32_t bucket, uint64_t count)
{
	uint64_t *c = counter(b, bucket);
	int rc;

	if (!c) {
		if (b->counts)
			rc = make_dense(b, bucket < b->low ? bucket : b->low,
					bucket > b->high ? bucket : b->high);
		else
			rc = grow(b, bucket);
		if (rc)
			return rc;
		c = counter(b, bucket);
	}
	if (!*c) {
		if (!b->n || bucket < b->low)
			b->low = bucket;
		if (!b->n || bucket > b->high)
			b->high = bucket;
		b->n++;
	}
	add_saturated(c, count);
	return 0;
}

static void add_sum(hist_int *sum, hist_int v)
{
	if (wide_int_add(*sum, v, sum))
		*sum = v < 0 ? -HIST_SUM_MAX : HIST_SUM_MAX;
}

void hist_sum(struct hist *h, hist_int v, uint64_t time)
{
	if (!h->count || v > h->max) {
		h->max = v;
		h->max_time = time;
	}
	if (!h->count || v < h->min)
		h->min = v;
	add_saturated(&h->count, 1);
	add_sum(&h->sum, v);
}

int hist_add(struct hist *h, hist_int v, uint64_t time)
{
	int rc = h->step ? hist_buckets_add(&h->linear, hist_linear_bucket(v, h->step), 1) : 0;

	if (!rc)
		rc = hist_buckets_add(&h->fine, hist_bucket(v), 1);
	if (!rc)
		hist_sum(h, v, time);
	return rc;
}

static int merge_buckets(struct hist_buckets *to, const struct hist_buckets *from)
{
	uint64_t count;
	int rc = 0;

	for (int32_t i = INT32_MIN; !rc && hist_next(from, &i, &count);)
		rc = hist_buckets_add(to, i, count);
	return rc;
}

int hist_merge(struct hist *h, const struct hist *from)
{
	int rc;

	if (!from->count)
		return 0;
	if (h->count && h->step != from->step)
		return PP_EMISMATCH;
	h->step = from->step;
	rc = merge_buckets(&h->fine, &from->fine);
	if (!rc)
		rc = merge_buckets(&h->linear, &from->linear);
	if (rc)
		return rc;
	/* Of equal maxima the earlier: then the order of merging does not matter. */
	if (!h->count || from->max > h->max ||
	    (from->max == h->max && from->max_time < h->max_time)) {
		h->max = from->max;
		h->max_time = from->max_time;
	}
	if (!h->count || from->min < h->min)
		h->min = from->min;
	add_saturated(&h->count, from->count);
	add_sum(&h->sum, from->sum);
	return 0;
}

static size_t bytes_of(const struct hist_buckets *b)
{
	if (b->counts)
		return ((size_t)b->mask + 1) * sizeof(*b->counts);
	return b->slots ? ((size_t)b->mask + 1) * sizeof(*b->slots) : 0;
}

size_t hist_bytes(const struct hist *h)
{
	return bytes_of(&h->fine) + bytes_of(&h->linear);
}

double hist_mean(const struct hist *h)
{
	return h->count ? (double)((long double)h->sum / (long double)h->count) : NAN;
}

/*
 * The least bucket from one on that has a count: near, as a rule; else the slots are fewer than
 * what lies between. There is one.
 */
static int32_t least_from(const struct hist_buckets *b, int32_t from)
{
	int32_t least = b->high;

	if (b->counts) {
		while (!b->counts[from - b->first])
			from++;
		return from;
	}
	for (int32_t i = from; i <= from + NEAR && i <= b->high; i++)
		if (slot_of(b, i)->count)
			return i;
	for (uint32_t i = 0; i <= b->mask; i++) {
		const struct hist_slot *s = &b->slots[i];

		if (s->count && s->bucket >= from && s->bucket < least)
			least = s->bucket;
	}
	return least;
}

bool hist_next(const struct hist_buckets *b, int32_t *at, uint64_t *count)
{
	if (!b->n || *at >= b->high)
		return false;
	*at = least_from(b, *at < b->low ? b->low : *at + 1);
	*count = b->counts ? b->counts[*at - b->first] : slot_of(b, *at)->count;
	return true;
}

void hist_percentiles(const struct hist *h, const double *p, size_t n, hist_int *v)
{
	uint64_t seen = 0, count = 0;
	int32_t b = INT32_MIN;
	hist_int value = h->max;

	for (size_t i = 0; i < n && h->count; i++) {
		long double rank = ceill((long double)h->count * (long double)p[i] / 100);

		while ((seen == 0 || (long double)seen < rank) && hist_next(&h->fine, &b, &count)) {
			seen += count;
			value = hist_bucket_name(b);
		}
		v[i] = value < h->min ? h->min : value > h->max ? h->max : value;
		if (rank >= (long double)h->count)
			v[i] = h->max;
	}
}
