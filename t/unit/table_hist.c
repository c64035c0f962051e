/* Histograms: buckets, merging, percentiles, drawing; amounts with their unit. */
#include "base/buf.h"
#include "base/err.h"
#include "table/hist.h"
#include "table/unit.h"
#include "tap.h"

#include <math.h>
#include <stdlib.h>

#define EXACT 10000000 /* values of the comparison with sorting */

static void test_buckets(void)
{
	hist_int low, high, last = -1;
	bool dense = true, named = true, narrow = true;

	for (int32_t b = 0; b <= HIST_FINE_MAX; b++) {
		hist_range(b, &low, &high);
		dense &= low == last + 1 && high >= low;
		named &= hist_bucket(low) == b && hist_bucket(high) == b &&
			 hist_bucket(-low) == -b && hist_bucket(-high > INT64_MIN ? -high : 0) <= 0;
		narrow &= (high - low) * 256 <= low;
		last = high;
	}
	ok(dense, "every number is in one bucket");
	ok(last == UINT64_MAX, "up to the largest");
	ok(named, "a value finds its bucket, and one below zero the mirrored one");
	ok(narrow, "no bucket is wider than 1/256 of its values");
	is_int(hist_bucket(INT64_MIN), -hist_bucket((hist_int)(UINT64_C(1) << 63)),
	       "the least number");
	hist_range(-600, &low, &high);
	ok(hist_bucket_name(-600) == high && low < high, "below zero the name is the upper bound");
}

static void test_linear_bucket(void)
{
	static const struct {
		int64_t v;
		uint64_t step;
		int32_t want;
	} rows[] = {
		{0, 10, 0},
		{9, 10, 0},
		{10, 10, 1},
		{-1, 10, -1},
		{-10, 10, -1},
		{-11, 10, -2},
		{INT64_MAX, 1, HIST_LINEAR_MAX},
		{INT64_MIN, 1, -HIST_LINEAR_MAX},
		{INT64_MIN, UINT64_MAX, -1},
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
		is_int(hist_linear_bucket(rows[i].v, rows[i].step), rows[i].want,
		       "%" PRId64 " / %" PRIu64, rows[i].v, rows[i].step);
}

static int compare(const void *a, const void *b)
{
	uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

	return (x > y) - (x < y);
}

static uint64_t seed = 88172645463325252u;

static uint64_t random64(void)
{
	seed ^= seed << 13;
	seed ^= seed >> 7;
	seed ^= seed << 17;
	return seed;
}

/* Percentiles beside those of the sorted values: log-uniform, so that all magnitudes come. */
static void test_exact(void)
{
	static const double p[] = {0, 1, 10, 25, 50, 75, 90, 99, 99.9, 99.99, 100};
	const size_t np = sizeof(p) / sizeof(p[0]);
	uint64_t *v = malloc(EXACT * sizeof(*v));
	struct hist h = HIST_INIT;
	hist_int got[11], sum = 0;
	int rc = v ? 0 : PP_ENOMEM;

	for (size_t i = 0; i < EXACT && !rc; i++) {
		v[i] = random64() >> (random64() % 50);
		sum += v[i];
		rc = hist_add(&h, v[i], i);
	}
	ok(!rc, "%d values are added", EXACT);
	if (rc)
		return;
	qsort(v, EXACT, sizeof(*v), compare);
	hist_percentiles(&h, p, np, got);
	for (size_t i = 0; i < np; i++) {
		size_t rank = (size_t)ceill((long double)EXACT * (long double)p[i] / 100);
		uint64_t want = v[rank ? rank - 1 : 0];
		double error = fabs((double)got[i] - (double)want) / (want ? (double)want : 1);

		ok(error < 0.0040, "p%g: %.0f, sorted %" PRIu64 ", error %.4f %%", p[i],
		   (double)got[i], want, error * 100);
	}
	ok(h.count == EXACT && h.sum == sum, "count and sum are exact");
	ok(h.min == v[0] && h.max == v[EXACT - 1], "minimum and maximum, too");
	ok(hist_bytes(&h) <= 600000, "%zu bytes", hist_bytes(&h));
	hist_release(&h);
	free(v);
}

static void test_small(void)
{
	static const double p[] = {50, 100};
	struct hist h = HIST_INIT;
	hist_int v[2] = {-7, -7};

	hist_percentiles(&h, p, 2, v);
	ok(v[0] == -7 && isnan(hist_mean(&h)), "an empty histogram has no percentile and no mean");
	ok(!hist_add(&h, 1000003, 5) && !hist_add(&h, 1000003, 6), "one value twice");
	hist_percentiles(&h, p, 2, v);
	ok(v[0] == 1000003 && v[1] == 1000003, "a percentile is not outside of what there is");
	is_u64(h.max_time, 5, "the first time of the maximum");
	ok(!hist_add(&h, -5, 7) && h.min == -5 && h.sum == 2000001, "a number below zero");
	ok(hist_mean(&h) == 2000001.0 / 3, "mean");
	ok(hist_bytes(&h) <= 256, "few values take little memory");
	hist_release(&h);
}

#define SPAN (2 * HIST_FINE_MAX + 1)

/* Whether the buckets of h are those that were counted one by one. */
static bool is_counted(const struct hist *h, const uint32_t *want)
{
	int32_t b = INT32_MIN, last = -HIST_FINE_MAX - 1;
	uint64_t count;
	bool same = true;

	while (hist_next(&h->fine, &b, &count)) {
		same &= want[b + HIST_FINE_MAX] == count;
		while (++last < b)
			same &= !want[last + HIST_FINE_MAX];
	}
	while (++last <= HIST_FINE_MAX)
		same &= !want[last + HIST_FINE_MAX];
	return same;
}

/* Values side by side, counted in an array, and then some far away. */
static void test_dense(void)
{
	static const hist_int far[] = {7,	  900,	     INT64_MAX, UINT64_MAX, 0, -1,
				       -70000000, INT64_MIN, 2000000,	5,	    -2};
	uint32_t *want = calloc(SPAN, sizeof(*want)), i;
	struct hist h = HIST_INIT, near = HIST_INIT;
	bool same = want != NULL;
	size_t bytes;

	for (int n = 0; n < 40000 && same; n++) {
		uint64_t v = 1000000 + random64() % 3000000;

		same = !hist_add(&h, v, (uint64_t)n);
		want[hist_bucket(v) + HIST_FINE_MAX]++;
		if (hist_near(&near, v, (uint64_t)n, &i))
			hist_count(&near, i);
		else
			same &= !hist_add(&near, v, (uint64_t)n);
	}
	bytes = hist_bytes(&h);
	ok(same && h.fine.counts && bytes < 12000, "neighbours have an array of %zu bytes", bytes);
	ok(is_counted(&h, want) && is_counted(&near, want), "which has all of them");
	ok(near.count == h.count && near.sum == h.sum && near.min == h.min && near.max == h.max &&
		   near.max_time == h.max_time && near.fine.n == h.fine.n &&
		   near.fine.low == h.fine.low && near.fine.high == h.fine.high,
	   "in two steps as in one");
	for (size_t n = 0; n < sizeof(far) / sizeof(far[0]) && same; n++) {
		same &= !hist_add(&h, far[n], n);
		want[hist_bucket(far[n]) + HIST_FINE_MAX]++;
		same &= is_counted(&h, want);
	}
	ok(same, "and those far away");
	ok(!hist_near(&h, (uint64_t)INT64_MAX + 1, 1, &i), "no near value: too large");
	ok(hist_bytes(&h) <= 250000, "%zu bytes at most", hist_bytes(&h));
	hist_release(&h);
	hist_release(&near);
	free(want);
}

/* Merging parts gives what adding all to one gives. */
static void test_merge(void)
{
	struct hist all = {.step = 1000}, parts[4] = {{.step = 1000}, {.step = 1000}},
		    sum = HIST_INIT;
	struct hist other = {.step = 7};
	uint64_t a, b;
	bool same = true;

	parts[2].step = parts[3].step = 1000;
	for (int i = 0; i < 20000; i++) {
		hist_int v = (hist_int)(random64() >> (random64() % 40)) * (i % 3 ? 1 : -1) / 4;

		same &= !hist_add(&all, v, (uint64_t)i) && !hist_add(&parts[i % 4], v, (uint64_t)i);
	}
	for (int i = 0; i < 4; i++)
		same &= !hist_merge(&sum, &parts[3 - i]);
	ok(same, "parts are merged");
	ok(sum.count == all.count && sum.sum == all.sum && sum.min == all.min &&
		   sum.max == all.max && sum.max_time == all.max_time && sum.step == all.step,
	   "the numbers are those of the whole");
	for (int32_t i = INT32_MIN, j = INT32_MIN; hist_next(&all.fine, &i, &a);)
		same &= hist_next(&sum.fine, &j, &b) && i == j && a == b;
	for (int32_t i = INT32_MIN, j = INT32_MIN; hist_next(&all.linear, &i, &a);)
		same &= hist_next(&sum.linear, &j, &b) && i == j && a == b;
	ok(same && sum.fine.n == all.fine.n && sum.linear.n == all.linear.n,
	   "and so are all buckets");
	ok(!hist_add(&other, 1, 1), "another step");
	is_int(hist_merge(&sum, &other), PP_EMISMATCH, "does not belong to it");
	for (int i = 0; i < 4; i++)
		hist_release(&parts[i]);
	hist_release(&all);
	hist_release(&sum);
	hist_release(&other);
}

static void test_saturation(void)
{
	struct hist h = HIST_INIT, more = HIST_INIT;

	ok(!hist_add(&h, 1, 0) && !hist_add(&more, 1, 0), "added");
	h.sum = HIST_SUM_MAX - 1;
	more.sum = 5;
	h.count = UINT64_MAX;
	ok(!hist_merge(&h, &more), "merged");
	ok(h.sum == HIST_SUM_MAX && h.count == UINT64_MAX, "sum and count stay at their maximum");
	hist_release(&h);
	hist_release(&more);
}

static void test_draw(void)
{
	static const struct {
		enum hist_view view;
		const char *unit;
		uint64_t step;
		int64_t v[6];
		int n;
		const char *want;
	} rows[] = {
		{HIST_LOG2,
		 "",
		 0,
		 {0, 1, 2, 3, 9, 3},
		 6,
		 "             value :    count  distribution\n"
		 "       0 -> 1      :        2 |**************************              |\n"
		 "       2 -> 3      :        3 |****************************************|\n"
		 "       4 -> 7      :        0 |                                        |\n"
		 "       8 -> 15     :        1 |*************                           |\n"},
		{HIST_LOG2,
		 "ns",
		 0,
		 {1024, 2047, 2048, 4000},
		 4,
		 "                  ns :    count  distribution\n"
		 "  1.02 us -> 2.05 us :        2 |****************************************|\n"
		 "  2.05 us -> 4.10 us :        2 |****************************************|\n"},
		{HIST_LINEAR,
		 "",
		 10,
		 {-1, 5, 100, 100, 109},
		 5,
		 "             value :    count  distribution\n"
		 "     -10 -> -1     :        1 |*************                           |\n"
		 "       0 -> 9      :        1 |*************                           |\n"
		 "         ...\n"
		 "     100 -> 109    :        3 |****************************************|\n"},
		{HIST_LOG2,
		 "",
		 0,
		 {-1, -4, -7, 0},
		 4,
		 "             value :    count  distribution\n"
		 "      -7 -> -4     :        2 |****************************************|\n"
		 "      -3 -> -2     :        0 |                                        |\n"
		 "      -1 -> -1     :        1 |********************                    |\n"
		 "       0 -> 1      :        1 |********************                    |\n"},
		{HIST_FINE,
		 "",
		 0,
		 {3, 1000000, 1000001},
		 3,
		 "               value :    count  distribution\n"
		 "        3 -> 3       :        1 |********************                    |\n"
		 "   999424 -> 1001471 :        2 |****************************************|\n"},
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct hist h = {.step = rows[i].step};
		struct buf b = BUF_INIT;
		int rc = 0;

		for (int k = 0; k < rows[i].n; k++)
			rc |= hist_add(&h, rows[i].v[k], 0);
		ok(!rc && !hist_draw(&h, rows[i].view, rows[i].unit, &b), "row %zu is drawn", i);
		is_str(buf_str(&b), rows[i].want, "row %zu", i);
		buf_release(&b);
		hist_release(&h);
	}
}

static void test_units(void)
{
	static const struct {
		int64_t v;
		const char *unit, *want;
	} rows[] = {
		{0, "ns", "0 ns"},
		{999, "ns", "999 ns"},
		{1000, "ns", "1.00 us"},
		{-1500000, "ns", "-1.50 ms"},
		{999600, "ns", "1.00 ms"},
		{123456789, "ns", "123 ms"},
		{90061000000000, "ns", "90061 s"},
		{512, "bytes", "512 B"},
		{4096, "bytes", "4.00 KiB"},
		{1536000, "bytes", "1.46 MiB"},
		{1234567, "cycles", "1234567"},
		{-3, "", "-3"},
	};
	struct buf b = BUF_INIT;

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		buf_reset(&b);
		unit_add(&b, rows[i].v, rows[i].unit);
		is_str(buf_str(&b), rows[i].want, "%" PRId64 " %s", rows[i].v, rows[i].unit);
	}
	buf_reset(&b);
	unit_add_int(&b, (hist_int)(UINT64_C(1) << 50) * (UINT64_C(1) << 50));
	is_str(buf_str(&b), "1267650600228229401496703205376", "2^100");
	buf_reset(&b);
	unit_add_mean(&b, 2.0 / 3, "");
	is_str(buf_str(&b), "0.667", "a mean without unit");
	buf_release(&b);
}

int main(void)
{
	test_buckets();
	test_linear_bucket();
	test_small();
	test_dense();
	test_merge();
	test_saturation();
	test_draw();
	test_units();
	test_exact();
	return done();
}
