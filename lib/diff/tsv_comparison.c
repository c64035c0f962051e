/* A comparison as tab-separated values: all rows of all families. */
#include "diff/parts.h"

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
