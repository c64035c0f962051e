/* A comparison as a table for people, 80 columns wide. */
#include "diff/parts.h"

#include "table/unit.h"

#include <math.h>

#define COLUMNS	   80
#define NAME_AT	   58  /* column at which names begin */
#define CHANCE_PHI 1.5 /* recordings vary hardly more than their samples do by chance */
#define NAME_WIDTH (COLUMNS - NAME_AT)

/* What a row may be, if it has a partner: "was it f3?", "inlined into outer?"; after `before`. */
static void add_partner(const struct diff *d, const struct diff_row *r, const char *before,
			struct buf *b)
{
	const char *words[2] = {"was it ", "?"};
	size_t len;
	const char *name = intern_get(&d->runs.units, r->partner, &len);

	if (!r->partner || (r->verdict == DIFF_RENAMED && !(r->diff > 0)))
		return;
	if (r->verdict == DIFF_INLINED && r->callee)
		words[0] = r->diff < 0 ? "inlined into " : "was it inlined into ";
	else if (r->verdict == DIFF_INLINED && r->diff > 0)
		words[0] = "is it with ", words[1] = " inlined?";
	else if (r->verdict == DIFF_INLINED)
		words[0] = "was it with ", words[1] = " inlined?";
	buf_adds(b, before);
	buf_adds(b, words[0]);
	buf_add_safe(b, name, len);
	buf_adds(b, words[1]);
}

void diff_rows_begin(struct diff_rows *x, const struct diff *d, const struct family *f,
		     enum table_form form, struct buf *b)
{
	bool text = form == TABLE_FORM_TEXT, time = f->latency;
	const char *name = time	      ? f->name
			   : !text    ? "name"
			   : f->total ? "including callees"
				      : d->opts.by;
	uint32_t value = time ? 8 : 6, most = time ? NAME_WIDTH - 4 : NAME_WIDTH;
	const struct record_column columns[] = {
		{"verdict", 9},
		{time ? "base" : "base %", value, .right = true, .gap = 1},
		{time ? "new" : "new %", value, .right = true, .gap = 1},
		{time ? text ? "%" : "change %" : "change", 6, .right = true, .gap = 1},
		{"95 % interval", 16, .right = true, .center = true, .gap = 1},
		{"q", 6, .right = true},
		{name, .most = d->opts.wide ? 0 : most},
		{0}};

	*x = (struct diff_rows){.d = d, .f = f};
	memcpy(x->column, columns, sizeof(columns));
	x->to = (struct records){.columns = x->column, .form = form, .b = b, .cut = ".."};
	for (const struct record_column *c = x->column; c->name; c++)
		record_title(&x->to, c->name);
	records_rule(&x->to);
}

static void add_interval(struct records *to, const struct diff_row *r)
{
	bool text = to->form == TABLE_FORM_TEXT;
	int width = text ? 6 : 0;

	if (r->verdict == DIFF_SMALL) {
		record_none(to);
		record_none(to);
		return;
	}
	record_number(to, "%+*.2f .. %+*.2f", width, r->low * 100, width, r->high * 100);
	if (r->q < .0001)
		record_number(to, "%s.0001", text ? "<" : "&lt;");
	else
		record_number(to, "%.4f", r->q);
}

void diff_rows_add(struct diff_rows *x, const struct diff_row *r)
{
	struct records *to = &x->to;
	bool text = to->form == TABLE_FORM_TEXT;
	const char *mark = !text && r->verdict < DIFF_UNCLEAR ? "**" : "", *name;
	struct buf partner = BUF_INIT;
	size_t len;

	record_number(to, "%s%s%s", mark, diff_verdict_name(r->verdict), mark);
	for (int side = 0; side < 2; side++) {
		diff_add_value(x->f, r->share[side], record_open(to));
		record_close(to);
	}
	record_number(to, "%+.2f", r->diff * 100);
	add_interval(to, r);
	name = diff_row_name(x->d, r, &len);
	record_text(to, name, len);
	add_partner(x->d, r, text ? "\n          " : "", &partner);
	if (text)
		buf_join(to->b, &partner);
	else if (partner.len)
		buf_add_code(to->b, buf_str(&partner), partner.len), buf_addc(to->b, ' ');
	buf_inherit(to->b, &partner);
	buf_release(&partner);
	record_end(to);
}

/* ---- text ---- */

/* Rows that were told apart, all of them; others as far as `top` goes. */
static void add_table(const struct diff *d, const struct family *f, unsigned top, struct buf *b)
{
	struct diff_rows x;
	size_t shown = 0;

	diff_rows_begin(&x, d, f, TABLE_FORM_TEXT, b);
	for (size_t i = 0; i < f->n; i++) {
		if (top && shown >= top && f->rows[i].verdict >= DIFF_UNCLEAR)
			break;
		diff_rows_add(&x, &f->rows[i]);
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
