/* A comparison as tab-separated values, all rows of all families, and as JSON: one object. */
#include "diff/parts.h"

#include <math.h>

/* ---- tab-separated values ---- */

int diff_write_tsv(struct diff *d, struct buf *b, struct out *out)
{
	const struct compare *c = &d->compare;

	(void)out;
	buf_addf(b, "#PPDIFF1\tbase=%zu\tnew=%zu\tnorm=%s\tgated=%d\tpartial=%d\n", c->runs[0],
		 c->runs[1], diff_norm_name(c->norm), d->result.gated, d->result.partial);
	buf_adds(b, "verdict\tmeasure\tbase\tnew\tbase_share\tnew_share\tdiff\tlow\thigh\tp\tq\t"
		    "phi\tdf\tneed\t"
		    "name\n");
	for (size_t k = 0; k < c->nfamilies; k++)
		for (size_t i = 0; i < c->families[k].n; i++) {
			const struct diff_row *r = &c->families[k].rows[i];
			size_t len;
			const char *name = diff_row_name(d, r, &len);

			buf_addf(b, "%s\t%s\t%.9g\t%.9g\t%.9g\t%.9g\t%.9g\t%.9g\t%.9g\t",
				 diff_verdict_name(r->verdict), c->families[k].name, r->y[0],
				 r->y[1], r->share[0], r->share[1], r->diff, r->low, r->high);
			buf_addf(b, "%.9g\t%.9g\t%.9g\t%.9g\t%.0f\t", r->p, r->q, r->phi, r->df,
				 r->need);
			buf_add_safe(b, name, len);
			buf_addc(b, '\n');
		}
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

static void add_row(const struct diff *d, const struct family *f, const struct diff_row *r,
		    struct buf *b)
{
	size_t len;
	const char *name = diff_row_name(d, r, &len);

	buf_adds(b, "{\"name\":");
	buf_add_json(b, name, len);
	buf_addf(b, ",\"measure\":\"%s\",\"verdict\":\"%s\"", f->name,
		 diff_verdict_name(r->verdict));
	add_number(b, "base", r->y[0]);
	add_number(b, "new", r->y[1]);
	add_number(b, "base_share", r->share[0]);
	add_number(b, "new_share", r->share[1]);
	add_number(b, "diff", r->diff);
	if (r->verdict != DIFF_SMALL) {
		add_number(b, "low", r->low);
		add_number(b, "high", r->high);
		add_number(b, "p", r->p);
		add_number(b, "q", r->q);
		add_number(b, "phi", r->phi);
		add_number(b, "df", r->df);
	}
	if (r->need > 0)
		add_number(b, "need", r->need);
	if (r->partner) {
		buf_adds(b, ",\"partner\":");
		name = intern_get(&d->runs.units, r->partner, &len);
		buf_add_json(b, name, len);
	}
	buf_addc(b, '}');
}

int diff_write_json(struct diff *d, struct buf *b, struct out *out)
{
	const struct compare *c = &d->compare;
	const char *between = "\n  ";

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
	for (size_t k = 0; k < c->nfamilies; k++)
		for (size_t i = 0; i < c->families[k].n; i++) {
			buf_adds(b, between);
			add_row(d, &c->families[k], &c->families[k].rows[i], b);
			between = ",\n  ";
		}
	buf_adds(b, "]}\n");
	return b->err;
}
