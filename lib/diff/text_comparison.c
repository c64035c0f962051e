/* A comparison as a table for people, 80 columns wide. */
#include "diff/parts.h"

#include "table/unit.h"

#include <math.h>

#define COLUMNS	   80
#define NAME_AT	   58  /* column at which names begin */
#define CHANCE_PHI 1.5 /* recordings vary hardly more than their samples do by chance */
#define NAME_WIDTH (COLUMNS - NAME_AT)

/* A name, cut to what is left of the line. */
static void add_name(const struct diff *d, const struct diff_row *r, uint32_t width, struct buf *b)
{
	struct buf name = BUF_INIT;
	size_t len;
	const char *s = diff_row_name(d, r, &len);

	buf_add_safe(&name, s, len);
	buf_add_cut(b, buf_str(&name), name.len, d->opts.wide ? 0 : width, "..");
	buf_inherit(b, &name);
	buf_release(&name);
}

/* A value, right-justified. */
static void add_value(const struct family *f, double v, struct buf *b)
{
	struct buf text = BUF_INIT;

	diff_add_value(f, v, &text);
	buf_addf(b, " %*s", f->latency ? 8 : 6, buf_str(&text));
	b->err = b->err ? b->err : text.err;
	buf_release(&text);
}

static void add_row(const struct diff *d, const struct family *f, const struct diff_row *r,
		    struct buf *b)
{
	buf_addf(b, "%-9s", diff_verdict_name(r->verdict));
	for (int side = 0; side < 2; side++)
		add_value(f, r->share[side], b);
	buf_addc(b, ' ');
	if (r->verdict == DIFF_SMALL)
		buf_addf(b, "%+6.2f %25s", r->diff * 100, "");
	else
		buf_addf(b, "%+6.2f %+6.2f .. %+6.2f  ", r->diff * 100, r->low * 100,
			 r->high * 100);
	if (r->verdict != DIFF_SMALL)
		diff_add_q(r->q, "<", b);
	buf_adds(b, "  ");
	add_name(d, r, f->latency ? NAME_WIDTH - 4 : NAME_WIDTH, b);
	diff_add_partner(d, r, "\n          ", b);
	buf_addc(b, '\n');
}

/* Rows that were told apart, all of them; others as far as `top` goes. */
static void add_table(const struct diff *d, const struct family *f, unsigned top, struct buf *b)
{
	size_t shown = 0;

	buf_addf(b, "%-9s %*s %*s %6s %16s  %6s  %s\n", "verdict", f->latency ? 8 : 6,
		 f->latency ? "base" : "base %", f->latency ? 8 : 6, f->latency ? "new" : "new %",
		 f->latency ? "%" : "change", "95 % interval", "q",
		 f->latency ? f->name
		 : f->total ? "including callees"
			    : d->opts.by);
	for (size_t i = 0; i < f->n; i++) {
		if (top && shown >= top && f->rows[i].verdict >= DIFF_UNCLEAR)
			break;
		add_row(d, f, &f->rows[i], b);
		shown++;
	}
	if (shown < f->n)
		buf_addf(b, "... and %zu more: -n 0 shows all\n", f->n - shown);
}

/*
 * How much longer recordings would have to be for the same effect; 0: that would not help, since
 * runs differ by more than the chance of their samples.
 */
static double longer(const struct diff *d, const struct diff_row *r)
{
	const struct compare *c = &d->compare;

	return r->phi > CHANCE_PHI ? 0 : r->need * 2 / (double)(c->runs[0] + c->runs[1]);
}

static void add_needs(const struct diff *d, const struct family *f, struct buf *b)
{
	const struct diff_row *most = NULL;
	double times;

	for (size_t i = 0; i < f->n; i++)
		if (f->rows[i].need > (most ? most->need : 0))
			most = &f->rows[i];
	if (!most || !d->compare.gated)
		return;
	times = f->latency ? 0 : longer(d, most);
	if (most->need <= 1000)
		buf_addf(b,
			 "To decide everything that is unclear, about %.0f recordings a side "
			 "are needed.\n",
			 most->need);
	else if (!(times > 0))
		buf_adds(b,
			 "To decide everything that is unclear, runs would have to vary less.\n");
	if (times > 1)
		buf_addf(
			b,
			"Longer recordings help more than more of them: runs differ by little but\n"
			"chance, and %.3g times as long (or as often sampled) would do.\n",
			ceil(times * 10) / 10);
}

static bool has_verdict(const struct family *f)
{
	for (size_t i = 0; i < f->n; i++)
		if (f->rows[i].verdict < DIFF_UNCLEAR)
			return true;
	return false;
}

int diff_write_text(struct diff *d, struct buf *b, struct out *out)
{
	const struct compare *c = &d->compare;

	(void)out;
	buf_adds(b, "verdict: ");
	diff_add_verdict(d, b);
	buf_addc(b, '\n');
	diff_add_head(d, b);
	buf_addc(b, '\n');
	diff_add_notes(d, "\n", b);
	for (size_t k = 0; k < c->nfamilies; k++) {
		if (!c->families[k].gates)
			continue;
		buf_addc(b, '\n');
		add_table(d, &c->families[k], d->opts.top, b);
		add_needs(d, &c->families[k], b);
	}
	for (size_t k = 0; k < c->nfamilies; k++) {
		if (c->families[k].gates || !has_verdict(&c->families[k]))
			continue;
		buf_addc(b, '\n');
		add_table(d, &c->families[k], 1, b);
	}
	return b->err;
}
