/*
 * A comparison as folded text with two counts, base and new: what difffolded.pl writes. The base is
 * scaled so that both can be compared. Lines before the stacks say which functions differ.
 */
#include "diff/parts.h"

#include "base/err.h"

#include <stdlib.h>
#include <string.h>

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

static void add_verdicts(const struct diff *d, struct buf *b)
{
	const struct family *f = &d->compare.families[0];

	for (size_t i = 0; i < f->n; i++) {
		const struct diff_row *r = &f->rows[i];
		size_t len;
		const char *name = diff_row_name(d, r, &len);

		if (r->verdict >= DIFF_UNCLEAR)
			continue;
		buf_addf(b, "# verdict: %s ", diff_verdict_name(r->verdict));
		buf_add_safe(b, name, len);
		buf_addc(b, '\n');
	}
}

int diff_write_folded(struct diff *d, struct buf *b, struct out *out)
{
	const struct runs *rs = &d->runs;
	const double *sides = d->compare.sides;
	size_t n = rs->whole.n;
	struct line *v = malloc((n + 1) * sizeof(*v));
	int rc = v ? 0 : PP_ENOMEM;

	add_verdicts(d, b);
	for (size_t i = 0; i < n && v; i++) {
		v[i].id = (uint32_t)i + 1;
		v[i].text = intern_get(&rs->whole, v[i].id, &v[i].len);
	}
	if (v)
		qsort(v, n, sizeof(*v), by_text);
	for (size_t i = 0; i < n && !rc; i++) {
		double before = rs->whole_y[0][v[i].id], after;

		before *= sides[1] / sides[0];
		after = rs->whole_y[1][v[i].id];
		buf_add(b, v[i].text, v[i].len);
		buf_addf(b, " %.0f %.0f\n", before, after);
		rc = b->err;
		if (!rc && b->len > 1u << 16) {
			rc = out_add(out, b->data, b->len);
			buf_reset(b);
		}
	}
	free(v);
	return rc;
}
