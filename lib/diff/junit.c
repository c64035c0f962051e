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

/* What is wrong with a test case, or why it does not count. */
static void add_result(const struct family *f, const struct diff_row *r, bool fails, struct buf *b)
{
	buf_addf(b, "    <%s message=\"%s: ", fails ? "failure" : "skipped",
		 diff_verdict_name(r->verdict));
	diff_add_value(f, r->share[0], b);
	buf_adds(b, f->latency ? " -&gt; " : " % -&gt; ");
	diff_add_value(f, r->share[1], b);
	buf_addf(b, "%s (%+.2f%s, 95 %% interval %+.2f .. %+.2f, q %.4g)\"/>\n",
		 f->latency ? "" : " %", r->diff * 100, f->latency ? " %" : "", r->low * 100,
		 r->high * 100, r->q);
}

static void add_case(const struct diff *d, const struct family *f, const struct diff_row *r,
		     struct buf *b)
{
	size_t len;
	const char *name = diff_row_name(d, r, &len);
	bool fails = r->verdict == DIFF_REGRESSED || r->verdict == DIFF_NEW;
	bool open =
		r->verdict == DIFF_UNCLEAR || r->verdict == DIFF_MORE || r->verdict == DIFF_LESS;

	buf_addf(b, "  <testcase classname=\"%s\" name=\"", f->latency ? f->name : d->opts.by);
	add_escaped(b, name, len);
	buf_adds(b, fails || open ? "\">\n" : "\"/>\n");
	if (!fails && !open)
		return;
	add_result(f, r, fails, b);
	buf_adds(b, "  </testcase>\n");
}

int diff_write_junit(struct diff *d, struct buf *b, struct out *out)
{
	const struct compare *c = &d->compare;
	const uint64_t *v = d->result.verdicts;

	(void)out;
	buf_addf(b,
		 "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuite name=\"pdiff\" "
		 "tests=\"%" PRIu64 "\" failures=\"%" PRIu64 "\" errors=\"0\" skipped=\"%" PRIu64
		 "\">\n",
		 d->result.tested, v[DIFF_REGRESSED] + v[DIFF_NEW],
		 v[DIFF_UNCLEAR] + v[DIFF_MORE] + v[DIFF_LESS]);
	for (size_t k = 0; k < c->nfamilies; k++)
		for (size_t i = 0; c->families[k].gates && i < c->families[k].tested; i++)
			add_case(d, &c->families[k], &c->families[k].rows[i], b);
	buf_adds(b, "</testsuite>\n");
	return b->err;
}
