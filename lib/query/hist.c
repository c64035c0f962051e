#include "query/hist.h"

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
	free(h->linear.slots);
	*h = (struct hist)HIST_INIT;
}

int32_t hist_bucket(hist_int v)
{
	uint64_t m = (uint64_t)(v < 0 ? -v : v);
	int32_t b, shift;

	if (m < SUB)
		return v < 0 ? -(int32_t)m : (int32_t)m;
	shift = 63 - __builtin_clzll(m) - HIST_SUB_BITS;
	b = shift * SUB + (int32_t)(m >> shift);
	return v < 0 ? -b : b;
}

int32_t hist_linear_bucket(hist_int v, uint64_t step)
{
	hist_int b = v >= 0 ? v / step : -((-v + step - 1) / step);

	if (b > HIST_LINEAR_MAX)
		return HIST_LINEAR_MAX;
	return b < -HIST_LINEAR_MAX ? -HIST_LINEAR_MAX : (int32_t)b;
}

/* A bucket is 2^shift wide. */
static int32_t shift_of(int32_t bucket)
{
	return bucket < 2 * SUB ? 0 : (bucket / SUB - 1) & 63;
}

hist_int hist_bucket_name(int32_t bucket)
{
	int32_t b = bucket < 0 ? -bucket : bucket, shift = shift_of(b);
	hist_int low = (hist_int)(b - shift * SUB) << shift;

	return bucket < 0 ? -low : low;
}

void hist_range(int32_t bucket, hist_int *low, hist_int *high)
{
	hist_int name = hist_bucket_name(bucket);
	hist_int more = ((hist_int)1 << shift_of(bucket < 0 ? -bucket : bucket)) - 1;

	*low = bucket < 0 ? name - more : name;
	*high = bucket < 0 ? name : name + more;
}

/* The slot of a bucket, or the free one where it belongs. Neighbours lie side by side. */
static struct hist_slot *slot_of(const struct hist_buckets *b, int32_t bucket)
{
	uint32_t i = (uint32_t)bucket & b->mask;

	while (b->slots[i].count && b->slots[i].bucket != bucket)
		i = (i + 1) & b->mask;
	return &b->slots[i];
}

static int grow(struct hist_buckets *b)
{
	struct hist_buckets bigger = *b;
	uint32_t n = b->slots ? (b->mask + 1) * 2 : SLOTS_FIRST;

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

int hist_buckets_add(struct hist_buckets *b, int32_t bucket, uint64_t count)
{
	struct hist_slot *s = b->slots ? slot_of(b, bucket) : NULL;
	int rc;

	if (!s || (!s->count && b->n >= b->mask - b->mask / 4)) {
		rc = grow(b);
		if (rc)
			return rc;
		s = slot_of(b, bucket);
	}
	if (!s->count) {
		s->bucket = bucket;
		if (!b->n || bucket < b->low)
			b->low = bucket;
		if (!b->n || bucket > b->high)
			b->high = bucket;
		b->n++;
	}
	add_saturated(&s->count, count);
	return 0;
}

static void add_sum(hist_int *sum, hist_int v)
{
	if (__builtin_add_overflow(*sum, v, sum))
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
	int rc = 0;

	for (uint32_t i = 0; from->slots && i <= from->mask && !rc; i++)
		if (from->slots[i].count)
			rc = hist_buckets_add(to, from->slots[i].bucket, from->slots[i].count);
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

size_t hist_bytes(const struct hist *h)
{
	size_t slots = (h->fine.slots ? h->fine.mask + (size_t)1 : 0) +
		       (h->linear.slots ? h->linear.mask + (size_t)1 : 0);

	return slots * sizeof(struct hist_slot);
}

double hist_mean(const struct hist *h)
{
	return h->count ? (double)((long double)h->sum / (long double)h->count) : NAN;
}

/* The least slot from a bucket on: near, as a rule; else the slots are fewer than what lies between. */
static const struct hist_slot *least_from(const struct hist_buckets *b, int32_t from)
{
	const struct hist_slot *least = NULL;

	for (int32_t i = from; i < from + NEAR && i <= b->high; i++)
		if (slot_of(b, i)->count)
			return slot_of(b, i);
	for (uint32_t i = 0; i <= b->mask; i++) {
		const struct hist_slot *s = &b->slots[i];

		if (s->count && s->bucket >= from && (!least || s->bucket < least->bucket))
			least = s;
	}
	return least;
}

bool hist_next(const struct hist_buckets *b, int32_t *at, uint64_t *count)
{
	const struct hist_slot *s;

	if (!b->n || *at >= b->high)
		return false;
	s = least_from(b, *at < b->low ? b->low : *at + 1);
	if (!s)
		return false;
	*at = s->bucket;
	*count = s->count;
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
