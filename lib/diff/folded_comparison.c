/*
 * A comparison as folded text with two counts, base and new: what difffolded.pl writes, and what
 * pdiff(1) promises. Lines before the stacks tell how it was made, and what differs.
 */
#include "diff/parts.h"

#include "base/err.h"
#include "fold/fold.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define COUNT_MAX 9e18 /* what an int64_t holds */

struct line {
	const char *text;
	size_t len;
	uint32_t id;
};

static int by_text(const void *x, const void *y)
{
	const struct line *a = x, *b = y;
	int c = memcmp(a->text, b->text, a->len < b->len ? a->len : b->len);

	return c ? c : (a->len > b->len) - (a->len < b->len);
}

/* How the comparison was made: NAME=VALUE, in the order that pdiff(1) has. */
static void add_head(const struct diff *d, struct buf *b)
{
	const struct compare *c = &d->compare;

	buf_addf(b, "# diff: 1 base=%zu new=%zu samples=%.0f,%.0f norm=%s decided=%s by=%s\n",
		 c->runs[0], c->runs[1], c->samples[0], c->samples[1], diff_norm_name(c->norm),
		 c->gated ? "yes" : "no", d->opts.by);
}

static void add_verdicts(const struct diff *d, const struct family *f, struct buf *b)
{
	for (size_t i = 0; i < f->n; i++) {
		const struct diff_row *r = &f->rows[i];
		size_t len;
		const char *name = diff_row_name(d, r, &len);

		if (r->verdict >= DIFF_UNCLEAR)
			continue;
		buf_addf(b, "# verdict: %s %s %.6g %.6g %.3g ", f->name,
			 diff_verdict_name(r->verdict), r->share[0], r->share[1], r->q);
		buf_add(b, name, len);
		buf_addc(b, '\n');
	}
}

/*
 * The counts of a side on one scale with the other's: the smaller side is multiplied, so that no
 * stack is lost. What is rounded off one stack is added to the next, whose callers are nearly the
 * same: so a sum over callees is right, too.
 */
struct scale {
	double factor, sum;
	int64_t written;
};

static int64_t scaled(struct scale *s, double count)
{
	int64_t before = s->written;

	s->sum = fmin(s->sum + count * s->factor, COUNT_MAX);
	s->written = llround(s->sum);
	return s->written - before;
}

static int add_stacks(struct diff *d, const struct line *v, size_t n, struct buf *b,
		      struct out *out)
{
	const double *sides = d->compare.sides;
	struct scale base = {.factor = fmax(1, sides[1] / sides[0])};
	struct scale other = {.factor = fmax(1, sides[0] / sides[1])};
	int rc = 0;

	for (size_t i = 0; i < n && !rc; i++) {
		int64_t before = scaled(&base, d->runs.whole_y[0][v[i].id]);
		int64_t after = scaled(&other, d->runs.whole_y[1][v[i].id]);

		if (!before && !after)
			continue;
		buf_add(b, v[i].text, v[i].len);
		buf_addf(b, " %" PRId64 " %" PRId64 "\n", before, after);
		rc = b->err;
		if (!rc && b->len > 1u << 16) {
			rc = out_add(out, b->data, b->len);
			buf_reset(b);
		}
	}
	return rc;
}

int diff_write_folded(struct diff *d, struct buf *b, struct out *out)
{
	const struct runs *rs = &d->runs;
	size_t n = rs->whole.n;
	struct line *v = malloc((n + 1) * sizeof(*v));
	int rc;

	if (!v)
		return PP_ENOMEM;
	add_head(d, b);
	for (size_t i = 0; i < d->compare.nfamilies; i++)
		add_verdicts(d, &d->compare.families[i], b);
	for (size_t i = 0; i < n; i++) {
		v[i].id = (uint32_t)i + 1;
		v[i].text = intern_get(&rs->whole, v[i].id, &v[i].len);
	}
	qsort(v, n, sizeof(*v), by_text);
	rc = add_stacks(d, v, n, b, out);
	free(v);
	if (d->result.partial)
		buf_adds(b, FOLD_PARTIAL "\n");
	return rc;
}
