/* A comparison as JUnit XML, which build servers show: a test case for each unit. */
#include "diff/parts.h"

#include <inttypes.h>

/* Text of an attribute. */
static void add_escaped(struct buf *b, const char *s, size_t n)
{
	struct buf safe = BUF_INIT;

	buf_add_safe(&safe, s, n);
	for (size_t i = 0; i < safe.len; i++) {
		char c = (char)safe.data[i];

		if (c == '&' || c == '<' || c == '>' || c == '"')
			buf_addf(b, "&#%d;", c);
		else
			buf_addc(b, c);
	}
	b->err = b->err ? b->err : safe.err;
	buf_release(&safe);
}

static void add_case(const struct diff *d, const struct diff_row *r, struct buf *b)
{
	size_t len;
	const char *name = diff_row_name(d, r, &len);
	bool fails = r->verdict == DIFF_REGRESSED || r->verdict == DIFF_NEW;
	bool open = !fails && (r->verdict == DIFF_UNCLEAR || r->verdict == DIFF_MORE ||
			       r->verdict == DIFF_LESS);

	buf_addf(b, "  <testcase classname=\"%s\" name=\"", d->opts.by);
	add_escaped(b, name, len);
	if (!fails && !open) {
		buf_adds(b, "\"/>\n");
		return;
	}
	buf_addf(b,
		 "\">\n    <%s message=\"%s: %.2f %% -&gt; %.2f %% (%+.2f, 95 %% interval "
		 "%+.2f .. %+.2f, "
		 "q %.4g)\"/>\n  </testcase>\n",
		 fails ? "failure" : "skipped", diff_verdict_name(r->verdict), r->share[0] * 100,
		 r->share[1] * 100, r->diff * 100, r->low * 100, r->high * 100, r->q);
}

int diff_write_junit(struct diff *d, struct buf *b, struct out *out)
{
	const struct compare *c = &d->compare;
	const struct family *f = &c->families[d->opts.total && c->nfamilies > 1];
	const uint64_t *v = d->result.verdicts;

	(void)out;
	buf_addf(b,
		 "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuite name=\"pdiff\" "
		 "tests=\"%zu\" "
		 "failures=\"%" PRIu64 "\" skipped=\"%" PRIu64 "\">\n",
		 f->tested, v[DIFF_REGRESSED] + v[DIFF_NEW],
		 v[DIFF_UNCLEAR] + v[DIFF_MORE] + v[DIFF_LESS]);
	for (size_t i = 0; i < f->n; i++)
		if (f->rows[i].verdict != DIFF_SMALL)
			add_case(d, &f->rows[i], b);
	buf_adds(b, "</testsuite>\n");
	return b->err;
}
