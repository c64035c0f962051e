/* A comparison as tab-separated values, all rows of all families, and as JSON: one object. */
#include "diff/parts.h"

#include <math.h>

/* ---- the rows ---- */

static void add_row(const struct diff *d, const struct family *f, const struct diff_row *r,
		    struct records *to)
{
	const double v[] = {r->y[0], r->y[1], r->share[0], r->share[1], r->diff, r->low,
			    r->high, r->p,    r->q,	   r->phi,	r->df};
	/* Of rows that were not tested, TSV has zeros. */
	bool json = to->form == TABLE_FORM_JSON, tested = r->verdict != DIFF_SMALL || !json;
	const char *name = diff_verdict_name(r->verdict);
	size_t len;

	record_text(to, name, strlen(name));
	record_text(to, f->name, strlen(f->name));
	for (size_t i = 0; i < sizeof(v) / sizeof(v[0]); i++)
		if (i < 5 || tested)
			record_real(to, v[i]);
		else
			record_none(to);
	if (!json)
		record_number(to, "%.0f", r->need);
	else if (r->need > 0)
		record_real(to, r->need);
	else
		record_none(to);
	name = diff_row_name(d, r, &len);
	record_text(to, name, len);
	name = intern_get(&d->runs.units, r->partner, &len);
	if (r->partner)
		record_text(to, name, len);
	else
		record_none(to);
	record_end(to);
}

/* All rows of all families, each after `before`, `between` two of them. */
static void add_rows(const struct diff *d, enum table_form form, const char *before,
		     const char *between, struct buf *b)
{
	static const struct record_column columns[] = {{"verdict"},
						       {"measure"},
						       {"base"},
						       {"new"},
						       {"base_share"},
						       {"new_share"},
						       {"diff"},
						       {"low"},
						       {"high"},
						       {"p"},
						       {"q"},
						       {"phi"},
						       {"df"},
						       {"need"},
						       {"name"},
						       {"partner", 0, false, true},
						       {0}};
	const struct compare *c = &d->compare;
	struct records to = {.columns = columns, .form = form, .b = b, .list = true};

	records_titles(&to, columns->name);
	for (size_t k = 0; k < c->nfamilies; k++)
		for (size_t i = 0; i < c->families[k].n; i++) {
			buf_adds(b, before);
			add_row(d, &c->families[k], &c->families[k].rows[i], &to);
			before = between;
		}
}

/* ---- tab-separated values ---- */

int diff_write_tsv(struct diff *d, struct buf *b, struct out *out)
{
	const struct compare *c = &d->compare;

	(void)out;
	buf_addf(b, "#PPDIFF1\tbase=%zu\tnew=%zu\tnorm=%s\tgated=%d\tpartial=%d\n", c->runs[0],
		 c->runs[1], diff_norm_name(c->norm), d->result.gated, d->result.partial);
	add_rows(d, TABLE_FORM_TSV, "", "", b);
	return b->err;
}

/* ---- JSON ---- */

/* JSON has no infinity. */
static void add_number(struct buf *b, const char *name, double v)
{
	if (isfinite(v))
		buf_addf(b, ",\"%s\":%.9g", name, v);
	else
		buf_addf(b, ",\"%s\":null", name);
}

static void add_runs(const struct diff *d, struct buf *b)
{
	for (size_t i = 0; i < d->runs.n; i++) {
		const struct diff_recording *r = &d->runs.v[i];

		buf_adds(b, i ? ",\n  {\"file\":" : "\n  {\"file\":");
		buf_add_json(b, r->name, strlen(r->name));
		buf_addf(b, ",\"side\":\"%s\"", r->side == DIFF_BASE ? "base" : "new");
		add_number(b, "samples", r->n);
		add_number(b, "size", d->compare.size[i]);
		buf_addf(b, ",\"partial\":%s}", r->partial ? "true" : "false");
	}
}

int diff_write_json(struct diff *d, struct buf *b, struct out *out)
{
	const struct compare *c = &d->compare;

	(void)out;
	buf_addf(b, "{\"by\":");
	buf_add_json(b, d->opts.by, strlen(d->opts.by));
	buf_addf(b, ",\"norm\":\"%s\"", diff_norm_name(c->norm));
	add_number(b, "alpha", d->opts.alpha);
	add_number(b, "min_points", d->opts.min_points * 100);
	add_number(b, "min_relative", d->opts.min_relative * 100);
	add_number(b, "drift", c->drift);
	add_number(b, "seen", d->result.seen * 100);
	buf_addf(b, ",\"gated\":%s,\"partial\":%s,\"worse\":%s,\"unclear\":%s,\n \"recordings\":[",
		 d->result.gated ? "true" : "false", d->result.partial ? "true" : "false",
		 d->result.worse ? "true" : "false", d->result.unclear ? "true" : "false");
	add_runs(d, b);
	buf_adds(b, "],\n \"rows\":[");
	add_rows(d, TABLE_FORM_JSON, "\n  ", ",\n  ", b);
	buf_adds(b, "]}\n");
	return b->err;
}
