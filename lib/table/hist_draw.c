/* Histograms drawn as text, a line for each bin. */
#include "table/hist.h"

#include "base/buf.h"
#include "base/err.h"
#include "table/unit.h"

#include <stdlib.h>

#define BAR_WIDTH 40
#define EMPTY_RUN 4 /* more empty bins than this become a line with dots */

struct hist_bin {
	hist_int low, high; /* both are in it */
	uint64_t count;
	bool more; /* the last linear bin, which also has all that is beyond it */
};

/* What collects the bins of a view. */
struct bins {
	struct hist_bin *v;
	size_t n, cap;
};

static int bin_add(struct bins *b, hist_int low, hist_int high, uint64_t count)
{
	if (b->n == b->cap) {
		size_t cap = b->cap ? b->cap * 2 : 32;
		struct hist_bin *v = realloc(b->v, cap * sizeof(*v));

		if (!v)
			return PP_ENOMEM;
		b->v = v;
		b->cap = cap;
	}
	b->v[b->n++] = (struct hist_bin){.low = low, .high = high, .count = count};
	return 0;
}

/* The log2 bin that a value is in: 0 and 1 share one, as bcc has it. */
static void log2_range(hist_int v, hist_int *low, hist_int *high)
{
	uint64_t m = (uint64_t)(v < 0 ? -v : v);
	hist_int from = m < 2 ? 0 : (hist_int)(UINT64_C(1) << (63 - __builtin_clzll(m)));
	hist_int to = m < 2 ? 1 : 2 * from - 1;

	if (v < 0 && m < 2)
		from = to = 1;
	*low = v < 0 ? -to : from;
	*high = v < 0 ? -from : to;
}

static int log2_bins(const struct hist *h, struct bins *b)
{
	uint64_t count;
	int rc = 0;

	for (int32_t i = INT32_MIN; hist_next(&h->fine, &i, &count) && !rc;) {
		hist_int low, high, name = hist_bucket_name(i);

		log2_range(name, &low, &high);
		while (b->n && b->v[b->n - 1].high + 1 < low && !rc) {
			hist_int l, u;

			log2_range(b->v[b->n - 1].high + 1, &l, &u);
			rc = bin_add(b, l, u, 0);
		}
		if (b->n && b->v[b->n - 1].low == low)
			b->v[b->n - 1].count += count;
		else if (!rc)
			rc = bin_add(b, low, high, count);
	}
	return rc;
}

static int linear_bins(const struct hist *h, struct bins *b)
{
	uint64_t count;
	int rc = 0;

	for (int32_t i = INT32_MIN; hist_next(&h->linear, &i, &count) && !rc;) {
		hist_int step = h->step, low = i * step;

		while (b->n && b->v[b->n - 1].high + 1 < low && !rc)
			rc = bin_add(b, b->v[b->n - 1].high + 1, b->v[b->n - 1].high + step, 0);
		if (!rc)
			rc = bin_add(b, low, low + step - 1, count);
		if (!rc)
			b->v[b->n - 1].more = i == HIST_LINEAR_MAX || i == -HIST_LINEAR_MAX;
	}
	return rc;
}

static int fine_bins(const struct hist *h, struct bins *b)
{
	uint64_t count;
	int rc = 0;

	for (int32_t i = INT32_MIN; hist_next(&h->fine, &i, &count) && !rc;) {
		hist_int low, high;

		hist_range(i, &low, &high);
		rc = bin_add(b, low, high, count);
	}
	return rc;
}

/*
 * The bins of a view from the lowest to the highest that has values; of log2 and linear ones also
 * the empty ones in between. The caller frees them. 0 or PP_ENOMEM; *n is 0 for an empty histogram.
 */
static int make_bins(const struct hist *h, enum hist_view view, struct hist_bin **bins, size_t *n)
{
	struct bins b = {0};
	int rc = view == HIST_LOG2     ? log2_bins(h, &b)
		 : view == HIST_LINEAR ? linear_bins(h, &b)
				       : fine_bins(h, &b);

	if (rc) {
		free(b.v);
		b = (struct bins){0};
	}
	*bins = b.v;
	*n = b.n;
	return rc;
}

static void add_padded(struct buf *b, const char *s, size_t width, bool left)
{
	size_t n = strlen(s), pad = n < width ? width - n : 0;

	if (!left)
		buf_fill(b, ' ', pad);
	buf_adds(b, s);
	if (left)
		buf_fill(b, ' ', pad);
}

/* A bound of a bin. Those of scaled units are given as the border to the next bin: 1.02 us. */
static size_t bound(struct buf *t, hist_int v, const char *unit)
{
	buf_reset(t);
	unit_add(t, v, unit);
	return t->len;
}

static void draw_bin(const struct hist_bin *bin, const char *unit, size_t width, size_t cwidth,
		     uint64_t most, struct buf *t, struct buf *b)
{
	struct wide part = wide_mul(bin->count, BAR_WIDTH);
	uint64_t rest;
	size_t stars = (size_t)wide_div(&part, most, &rest);

	bound(t, bin->low, unit);
	buf_adds(b, "  ");
	add_padded(b, bin->more && bin->low < 0 ? "..." : buf_str(t), width, false);
	buf_adds(b, " -> ");
	bound(t, bin->high + unit_known(unit), unit);
	add_padded(b, bin->more && bin->low >= 0 ? "..." : buf_str(t), width, true);
	buf_adds(b, " : ");
	buf_add_u64(b, bin->count, (int)cwidth, ' ');
	buf_adds(b, " |");
	buf_fill(b, '*', stars);
	buf_fill(b, ' ', BAR_WIDTH - stars);
	buf_adds(b, "|\n");
}

/* Widths of the bounds and of the counts, and the greatest count. */
static void measure(const struct hist_bin *bins, size_t n, const char *unit, struct buf *t,
		    size_t *width, size_t *cwidth, uint64_t *most)
{
	*width = 6;
	*most = 1;
	for (size_t i = 0; i < n; i++) {
		size_t low = bound(t, bins[i].low, unit);
		size_t high = bound(t, bins[i].high + unit_known(unit), unit);

		*width = low > *width ? low : *width;
		*width = high > *width ? high : *width;
		*most = bins[i].count > *most ? bins[i].count : *most;
	}
	buf_reset(t);
	buf_add_u64(t, *most, 0, ' ');
	*cwidth = t->len < 8 ? 8 : t->len;
}

int hist_draw(const struct hist *h, enum hist_view view, const char *unit, struct buf *b)
{
	size_t n, width, cwidth, run = 0;
	struct buf t = BUF_INIT;
	struct hist_bin *bins;
	uint64_t most;
	int rc = make_bins(h, view, &bins, &n);

	if (rc)
		return rc;
	measure(bins, n, unit, &t, &width, &cwidth, &most);
	buf_adds(b, "  ");
	add_padded(b, *unit ? unit : "value", 2 * width + 4, false);
	buf_adds(b, " : ");
	add_padded(b, "count", cwidth, false);
	buf_adds(b, "  distribution\n");
	for (size_t i = 0; i < n; i++) {
		for (run = 0; i + run < n && !bins[i + run].count;)
			run++;
		if (run > EMPTY_RUN) {
			buf_fill(b, ' ', width + 2);
			buf_adds(b, " ...\n");
			i += run;
		}
		draw_bin(&bins[i], unit, width, cwidth, most, &t, b);
	}
	rc = b->err ? b->err : t.err;
	buf_release(&t);
	free(bins);
	return rc;
}
