/* A comparison as Markdown, for a comment on a change, and as JUnit XML. */
#include "diff/parts.h"

#include "table/unit.h"

#include <inttypes.h>

#define SIZE_MAX_BYTES 60000 /* GitHub takes 65,536 characters */
#define TAIL	       200   /* bytes that the end needs */

/* The rows of a family with a verdict, or those without; false: not all of them had room. */
static bool add_rows(const struct diff *d, const struct family *f, bool found, struct buf *b)
{
	struct diff_rows x = {0};

	for (size_t i = 0; i < f->n; i++) {
		const struct diff_row *r = &f->rows[i];
		size_t before = b->len;

		if ((r->verdict < DIFF_UNCLEAR) != found || r->verdict == DIFF_SMALL)
			continue;
		if (!x.d) {
			buf_addc(b, '\n');
			diff_rows_begin(&x, d, f, TABLE_FORM_MARKDOWN, b);
		}
		diff_rows_add(&x, r);
		if (b->len > SIZE_MAX_BYTES - TAIL) {
			b->len = before;
			return false;
		}
	}
	return true;
}

static bool add_tables(const struct diff *d, bool found, struct buf *b)
{
	const struct compare *c = &d->compare;
	bool whole = true;

	for (size_t k = 0; k < c->nfamilies && whole; k++)
		whole = !c->families[k].gates || add_rows(d, &c->families[k], found, b);
	return whole;
}

int diff_write_markdown(struct diff *d, struct buf *b, struct out *out)
{
	bool whole;

	(void)out;
	buf_adds(b, "**pdiff:** ");
	diff_add_verdict(d, b);
	buf_adds(b, "\n\n");
	diff_add_head(d, b);
	diff_add_notes(d, "\n\n", b);
	buf_addc(b, '\n');
	whole = add_tables(d, true, b);
	buf_adds(b, "\n<details><summary>All others</summary>\n");
	whole = whole && add_tables(d, false, b);
	if (!whole)
		buf_adds(b, "\nThere are more rows than fit here.\n");
	buf_adds(b, "\n</details>\n");
	return b->err;
}

/* ---- JUnit XML, which build servers show: a test case for each unit ---- */

enum junit { JUNIT_PASSED, JUNIT_FAILURE, JUNIT_SKIPPED, JUNIT_UNCLEAR, JUNIT_RESULTS };

/*
 * What becomes of a test case. What is unclear did not regress, as far as these recordings tell:
 * it passes, with its numbers. One recording against one tells nothing.
 */
static enum junit result_of(const struct diff *d, const struct diff_row *r)
{
	switch (r->verdict) {
	case DIFF_REGRESSED:
	case DIFF_NEW: return JUNIT_FAILURE;
	case DIFF_MORE:
	case DIFF_LESS: return JUNIT_SKIPPED;
	case DIFF_UNCLEAR: return d->result.gated ? JUNIT_UNCLEAR : JUNIT_SKIPPED;
	default: return JUNIT_PASSED;
	}
}

static void add_numbers(const struct family *f, const struct diff_row *r, struct buf *b)
{
	buf_addf(b, "%s: ", diff_verdict_name(r->verdict));
	diff_add_value(f, r->share[0], b);
	buf_adds(b, f->latency ? " -&gt; " : " % -&gt; ");
	diff_add_value(f, r->share[1], b);
	buf_addf(b, "%s (%+.2f%s, 95 %% interval %+.2f .. %+.2f, q %.4g)", f->latency ? "" : " %",
		 r->diff * 100, f->latency ? " %" : "", r->low * 100, r->high * 100, r->q);
}

static void add_case(const struct diff *d, const struct family *f, const struct diff_row *r,
		     struct buf *b)
{
	static const char *const begin[] = {NULL, "<failure message=\"", "<skipped message=\"",
					    "<system-out>"};
	enum junit result = result_of(d, r);
	size_t len;
	const char *name = diff_row_name(d, r, &len);

	buf_addf(b, "  <testcase classname=\"%s\" name=\"", f->latency ? f->name : d->opts.by);
	buf_add_markup(b, name, len, XML_MARKS);
	if (result == JUNIT_PASSED) {
		buf_adds(b, "\"/>\n");
		return;
	}
	buf_addf(b, "\">\n    %s", begin[result]);
	add_numbers(f, r, b);
	buf_adds(b, result == JUNIT_UNCLEAR ? "</system-out>\n" : "\"/>\n");
	buf_adds(b, "  </testcase>\n");
}

int diff_write_junit(struct diff *d, struct buf *b, struct out *out)
{
	const struct compare *c = &d->compare;
	uint64_t n[JUNIT_RESULTS] = {0};

	(void)out;
	for (size_t k = 0; k < c->nfamilies; k++)
		for (size_t i = 0; c->families[k].gates && i < c->families[k].tested; i++)
			n[result_of(d, &c->families[k].rows[i])]++;
	buf_addf(b,
		 "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuite name=\"pdiff\" "
		 "tests=\"%" PRIu64 "\" failures=\"%" PRIu64 "\" errors=\"0\" skipped=\"%" PRIu64
		 "\">\n",
		 d->result.tested, n[JUNIT_FAILURE], n[JUNIT_SKIPPED]);
	for (size_t k = 0; k < c->nfamilies; k++)
		for (size_t i = 0; c->families[k].gates && i < c->families[k].tested; i++)
			add_case(d, &c->families[k], &c->families[k].rows[i], b);
	buf_adds(b, "</testsuite>\n");
	return b->err;
}
