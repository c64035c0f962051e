/*
 * Histograms of integers: durations in ns, bytes, return values, ...
 *
 *	struct hist h = HIST_INIT;
 *	static const double p[] = {50, 99};
 *	hist_int v[2];
 *
 *	rc = hist_add(&h, duration, time);
 *	hist_percentiles(&h, p, 2, v);
 *	printf("%" PRIu64 " of %" PRIu64 " ns on average\n", h.count, (uint64_t)(h.sum / h.count));
 *	hist_release(&h);
 *
 * Count, sum, minimum and maximum are exact. The distribution is kept in fine log-linear buckets:
 * numbers below 512 have a bucket each; above that, each power of two is divided into 256
 * buckets, so
 * that a bucket is at most 1/256 as wide as the numbers in it, and a percentile, given as the bound
 * of its bucket nearer to zero, is too small by less than 0.4 %; round numbers come out
 * exactly. The borders are the same in every histogram, so merging is exact, and powers of two are
 * borders, so that the log2 view is also exact. With a step, values are counted in linear buckets
 * besides.
 *
 * A histogram of a few values takes a few hundred bytes: a hash table of the buckets that something
 * fell into. When an array of all buckets between the least and the greatest takes no more memory
 * than that, it becomes one: at most about 120 kB (240 kB where there are numbers of both signs).
 */
#ifndef PP_TABLE_HIST_H
#define PP_TABLE_HIST_H

#include "base/wide.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Holds every int64_t and uint64_t, and sums of as many as can be counted. */
typedef wide_int hist_int;

#define HIST_SUB_BITS	8     /* each power of two has 2^8 fine buckets */
#define HIST_FINE_MAX	14591 /* number of the fine bucket of UINT64_MAX */
#define HIST_LINEAR_MAX 16383 /* number of the last linear bucket: it takes what is beyond it */
#define HIST_SUM_MAX	WIDE_INT_MAX

struct hist_slot {
	uint64_t count; /* 0: free */
	int32_t bucket;
};

/* Counters: a hash table of few buckets, or an array of all from `first` on. */
struct hist_buckets {
	struct hist_slot *slots; /* open addressing by bucket number, or NULL */
	uint64_t *counts;	 /* the array, or NULL */
	uint32_t n, mask;	 /* mask: the last index of slots or counts */
	int32_t low, high;	 /* least and greatest bucket, if n is not 0 */
	int32_t first;
};

/* The first six may be read; empty histograms have count 0, and no minimum and maximum. */
struct hist {
	uint64_t count;
	uint64_t max_time; /* of the first sample that had the value max */
	uint64_t step;	   /* width of the linear buckets; 0: there are none */
	hist_int sum;	   /* stays at HIST_SUM_MAX or its negative when it would exceed it */
	hist_int min, max;
	struct hist_buckets fine, linear;
};

#define HIST_INIT \
	{ \
		0 \
	}

void hist_release(struct hist *h);

/*
 * Adds a value from INT64_MIN to UINT64_MAX, seen at `time`. 0 or PP_ENOMEM: then h is
 * unusable.
 */
int hist_add(struct hist *h, hist_int v, uint64_t time);

/* The fine bucket of a value that is not negative. */
static inline uint32_t hist_bucket_of(uint64_t v)
{
	uint32_t shift =
		v >> HIST_SUB_BITS ? 63u - (uint32_t)__builtin_clzll(v) - HIST_SUB_BITS : 0;

	return (shift << HIST_SUB_BITS) + (uint32_t)(v >> shift);
}

/*
 * The same in two steps, for values from 0 to INT64_MAX of histograms that have an array of
 * counters with room for them: hist_near adds all but the count of the bucket, and gives its index
 * for hist_count. In between, the counter's memory may be prefetched; nothing else may be done
 * with h. False: it is not such a value, and nothing was added.
 */
static inline bool hist_near(struct hist *h, uint64_t v, uint64_t time, uint32_t *i)
{
	*i = hist_bucket_of(v) - (uint32_t)h->fine.first;
	if (!h->fine.counts || h->step || *i > h->fine.mask || v > INT64_MAX)
		return false;
	h->count++;
	h->sum += (hist_int)v;
	if ((hist_int)v > h->max) {
		h->max = (hist_int)v;
		h->max_time = time;
	}
	if ((hist_int)v < h->min)
		h->min = (hist_int)v;
	return true;
}

static inline void hist_count(struct hist *h, uint32_t i)
{
	int32_t bucket = h->fine.first + (int32_t)i;

	if (!h->fine.counts[i]) {
		if (bucket < h->fine.low)
			h->fine.low = bucket;
		if (bucket > h->fine.high)
			h->fine.high = bucket;
		h->fine.n++;
	}
	h->fine.counts[i]++;
}

/* Adds to count, sum, min and max only: for values whose distribution is not needed. */
void hist_sum(struct hist *h, hist_int v, uint64_t time);

/*
 * Adds all of `from`, exactly. 0, PP_ENOMEM (then h is not to be used further), or PP_EMISMATCH:
 * the steps of the two differ, and neither is empty.
 */
int hist_merge(struct hist *h, const struct hist *from);

/* Bytes that the buckets take. */
size_t hist_bytes(const struct hist *h);

/* The mean, NaN of an empty histogram. */
double hist_mean(const struct hist *h);

/*
 * The percentiles p[0] to p[n - 1] (0 to 100, ascending): each is the value that p percent of all
 * are at or below. Nothing is written for an empty histogram.
 */
void hist_percentiles(const struct hist *h, const double *p, size_t n, hist_int *v);

/* ---- buckets ---- */

/* The number of the fine bucket of a value: -HIST_FINE_MAX to HIST_FINE_MAX. */
int32_t hist_bucket(hist_int v);

/* The number of the linear bucket: v / step rounded down, up to +-HIST_LINEAR_MAX. */
int32_t hist_linear_bucket(hist_int v, uint64_t step);

/*
 * The values of a fine bucket: from *low to *high, both in it. The name of a bucket (see
 * hist_bucket_name) is the one that is nearer to zero.
 */
void hist_range(int32_t bucket, hist_int *low, hist_int *high);
hist_int hist_bucket_name(int32_t bucket);

/*
 * Walks through buckets in ascending order: *at begins at INT32_MIN. False at the end.
 *
 *	for (int32_t b = INT32_MIN; hist_next(&h.fine, &b, &count);)
 */
bool hist_next(const struct hist_buckets *b, int32_t *at, uint64_t *count);

/* Adds to a bucket alone, for a reader of histograms: 0 or PP_ENOMEM. count is not 0. */
int hist_buckets_add(struct hist_buckets *b, int32_t bucket, uint64_t count);

/* ---- views ---- */

enum hist_view {
	HIST_LOG2,
	HIST_LINEAR, /* needs the step */
	HIST_FINE,   /* buckets that are empty are left out */
};

struct buf;

/*
 * Draws a view as text, a line for each bin, as bcc does:
 *
 *	     usecs               : count    distribution
 *	         4 -> 7          : 12      |*********               |
 *
 * The unit (unit.h) determines how the bounds are written. A long run of empty bins becomes a
 * line with dots. 0 or PP_ENOMEM.
 */
int hist_draw(const struct hist *h, enum hist_view view, const char *unit, struct buf *b);

#endif
