/* Which rows of a table a condition means, and what their values are together. */
#include "event/glob.h"
#include "table/gate_eval.h"

#include <stdlib.h>
#include <string.h>

/* ---- keys ---- */

static uint64_t key_of(const struct table *t, uint32_t row, int k)
{
	return t->key[(size_t)row * t->nkeys + (size_t)k];
}

/* The key's number; false: it is a text that is none. */
static bool key_number(const struct table *t, uint32_t row, int k, const struct buf *text,
		       double *v)
{
	char *end;

	if (t->rows || t->keys[k].kind == TABLE_TEXT) {
		*v = strtod(buf_str(text), &end);
		return text->len && !*end;
	}
	*v = t->keys[k].kind == TABLE_SIGNED ? (double)(int64_t)key_of(t, row, k)
					     : (double)key_of(t, row, k);
	return true;
}

/* Whether the text of a number is one, to the last digit. */
static bool is_number_text(const char *s, const struct gate_text *x)
{
	bool minus = *s == '-';
	char *end;
	uint64_t v = strtoull(s + minus, &end, s[minus] == '0' && s[minus + 1] == 'x' ? 16 : 10);

	return end > s + minus && !*end && v == x->whole && (minus == x->minus || !v);
}

/* Whether a key of numbers is one, to the last digit. */
static bool is_number(const struct table *t, uint32_t row, int k, const struct buf *text,
		      const struct gate_text *x)
{
	uint64_t key, want = x->minus ? 0 - x->whole : x->whole;

	if ((double)x->whole != (x->minus ? -x->num : x->num))
		return false;
	if (t->rows)
		return is_number_text(buf_str(text), x);
	key = key_of(t, row, k);
	if (t->keys[k].kind == TABLE_SIGNED)
		return key == want && (x->minus ? (int64_t)key <= 0 : (int64_t)key >= 0);
	return key == want && (!x->minus || !key);
}

static bool is_text(const struct buf *text, const struct gate_text *x)
{
	return text->len == x->len && !memcmp(buf_str(text), x->s, x->len);
}

static bool is_same(const struct table *t, uint32_t row, int k, const struct buf *text,
		    const struct gate_text *x)
{
	double v;

	if (x->range)
		return key_number(t, row, k, text, &v) && v >= x->num && v <= x->high;
	if (x->number && t->keys[k].kind != TABLE_TEXT)
		return is_number(t, row, k, text, x);
	return is_text(text, x);
}

static int compare_texts(const struct buf *text, const struct gate_text *x)
{
	size_t n = text->len < x->len ? text->len : x->len;
	int c = memcmp(buf_str(text), x->s, n);

	return c ? c : (text->len > x->len) - (text->len < x->len);
}

static bool in_order(enum expr_op op, double a, double b)
{
	switch (op) {
	case OP_LT: return a < b;
	case OP_LE: return a <= b;
	case OP_GT: return a > b;
	default: return a >= b;
	}
}

static bool key_holds(struct gate_eval *e, const struct table *t, uint32_t row,
		      const struct gate_node *n, int k)
{
	const struct gate_text *x = n->list;
	struct buf *text = &e->text;
	double v;

	buf_reset(text);
	table_key_add(t, row, (uint32_t)k, text);
	e->err = text->err ? text->err : e->err;
	if (n->kind == GATE_IN) {
		while (x && !is_same(t, row, k, text, x))
			x = x->next;
		return x != NULL;
	}
	switch (n->op) {
	case OP_EQ: return is_same(t, row, k, text, x);
	case OP_NE: return !is_same(t, row, k, text, x);
	case OP_GLOB: return glob_match(x->s, x->len, buf_str(text), text->len);
	case OP_REGEX: return rx_matches(n->regex, buf_str(text), text->len);
	case OP_NOTREGEX: return !rx_matches(n->regex, buf_str(text), text->len);
	default: break;
	}
	if (x->number)
		return key_number(t, row, k, text, &v) && in_order(n->op, v, x->num);
	return in_order(n->op, compare_texts(text, x), 0);
}

bool gate_key_holds(struct gate_eval *e, const struct table *t, uint32_t row,
		    const struct gate_node *n)
{
	int k = gate_key(t, n);

	return k >= 0 && key_holds(e, t, row, n, k);
}

/* Whether a row is meant: keys, and conditions of them. */
static bool row_holds(struct gate_eval *e, const struct table *t, uint32_t row,
		      const struct gate_node *n)
{
	switch (n->kind) {
	case GATE_NOT: return !row_holds(e, t, row, n->left);
	case GATE_AND: return row_holds(e, t, row, n->left) && row_holds(e, t, row, n->right);
	case GATE_OR: return row_holds(e, t, row, n->left) || row_holds(e, t, row, n->right);
	default: return gate_key_holds(e, t, row, n);
	}
}

/* ---- values ---- */

/* What rows have together. */
struct sums {
	struct hist h;
	hist_int total;	    /* of all rows, meant or not */
	uint32_t rows, met; /* of tables that have it; those that are meant */
	bool rough;	    /* rows are left out that may be meant: they have become one */
	bool overlap;	    /* other rows also count what one counts */
	bool no_sum;	    /* what several rows have means nothing together */
	double share;	    /* of rows that are kept elsewhere */
	const struct table_value *value;
};

static hist_int add(hist_int a, hist_int b)
{
	hist_int sum;

	return wide_int_add(a, b, &sum) ? (b < 0 ? -HIST_SUM_MAX : HIST_SUM_MAX) : sum;
}

/* Of rows that are kept elsewhere, which know their shares: whether there is anything. */
static hist_int rows_total(const struct table *t, uint32_t v)
{
	struct table_numbers n = {0};

	for (uint32_t row = 0; row < t->nrows && !n.sum; row++)
		table_numbers(t, row, v, 0, &n);
	return n.sum;
}

/* What shares of a value are of; any() asks for the same again and again. */
static hist_int total_of(struct gate_eval *e, const struct table *t, int v)
{
	if (e->summed != t || e->summed_value != v) {
		e->sum = t->rows ? rows_total(t, (uint32_t)v) : table_total(t, (uint32_t)v);
		e->summed = t;
		e->summed_value = v;
	}
	return e->sum;
}

static void add_cell(struct gate_eval *e, struct sums *s, const struct hist *h, bool buckets)
{
	int rc;

	s->met++;
	if (!h->count)
		return;
	if (buckets) {
		rc = hist_merge(&s->h, h);
		e->err = rc ? rc : e->err;
		return;
	}
	if (!s->h.count || h->min < s->h.min)
		s->h.min = h->min;
	if (!s->h.count || h->max > s->h.max)
		s->h.max = h->max;
	s->h.count += h->count;
	s->h.sum = add(s->h.sum, h->sum);
}

/* Of rows that are kept elsewhere, which know their shares. */
static void add_numbers(struct sums *s, const struct table *t, uint32_t row, uint32_t v)
{
	struct table_numbers n;

	table_numbers(t, row, v, 0, &n);
	s->met++;
	s->h.count += n.count;
	s->h.sum = add(s->h.sum, n.sum);
	s->share += n.share;
}

static void add_row(struct gate_eval *e, struct sums *s, const struct table *t, uint32_t row,
		    uint32_t v, bool buckets)
{
	s->rows++;
	if (t->rows)
		add_numbers(s, t, row, v);
	else
		add_cell(e, s, table_cell(t, row, v), buckets);
}

static void add_table(struct gate_eval *e, struct sums *s, const struct table *t,
		      const struct gate_node *n)
{
	bool buckets = n->stat == GATE_PERCENTILE;
	int v = gate_value(t, n);

	if (v < 0 || t->values[v].kind < gate_stats[n->stat].least)
		return;
	s->value = &t->values[v];
	s->overlap |= t->overlap;
	s->no_sum |= t->rows && t->no_sum >> v & 1;
	if (n->stat == GATE_SHARE)
		s->total = add(s->total, total_of(e, t, v));
	if (e->table) {
		add_row(e, s, t, e->row, (uint32_t)v, buckets);
		return;
	}
	for (uint32_t row = 0; row < t->nrows && !e->err; row++) {
		if (!n->left || (row != t->other && row_holds(e, t, row, n->left))) {
			add_row(e, s, t, row, (uint32_t)v, buckets);
			continue;
		}
		s->rows++;
		s->rough |= row == t->other;
	}
}

/* Keeps the first reason, for people. */
static struct gate_number unknown(struct gate_eval *e, const struct gate_node *n, const char *why)
{
	if (!e->why->len)
		buf_addf(e->why, "%.*s: %s", (int)(n->end - n->at), e->g->src.text + n->at, why);
	return (struct gate_number){.unit = ""};
}

/* Nothing came of all rows. */
static bool is_zero(const struct gate_eval *e, const struct gate_node *n)
{
	return e->zero && e->zero(e->ctx, n->name, n->len);
}

static double statistic(const struct sums *s, const struct gate_node *n)
{
	bool counts = s->value && s->value->kind == TABLE_COUNT;
	hist_int p = 0;

	switch (n->stat) {
	case GATE_COUNT: return (double)s->h.count;
	case GATE_SUM: return (double)s->h.sum;
	case GATE_SHARE:
		return s->value && s->value->kind == TABLE_PART
			       ? s->share
			       : (counts ? (double)s->h.count : (double)s->h.sum) /
					 (double)s->total;
	case GATE_MIN: return (double)s->h.min;
	case GATE_MEAN: return hist_mean(&s->h);
	case GATE_MAX: return (double)s->h.max;
	default: hist_percentiles(&s->h, &n->num, 1, &p); return (double)p;
	}
}

static struct gate_number number_of(struct gate_eval *e, const struct gate_node *n,
				    const struct sums *s)
{
	bool adds = n->stat == GATE_COUNT || n->stat == GATE_SUM;
	struct gate_number r = {.known = true, .rough = s->rough, .unit = ""};

	if (!s->rows && !(adds && is_zero(e, n)))
		return unknown(e, n, "nothing was counted");
	if (s->no_sum && s->met > 1)
		return unknown(e, n, "several rows, which may include each other");
	if (n->stat == GATE_SHARE && s->overlap)
		return unknown(e, n, "rows overlap, so there are no shares");
	if (n->stat == GATE_SHARE && s->total <= 0)
		return unknown(e, n, "the total is not above 0");
	if (!adds && n->stat != GATE_SHARE && !s->h.count)
		return unknown(e, n, s->met ? "these rows have no value" : "there is no such row");
	if (n->left && !s->met && !s->rough)
		unknown(e, n, "there is no such row");
	r.v = statistic(s, n);
	r.percent = n->stat == GATE_SHARE;
	if (s->value && n->stat != GATE_COUNT)
		r.unit = s->value->unit;
	return r;
}

struct gate_number gate_number(struct gate_eval *e, const struct gate_node *n)
{
	struct sums s = {.h = HIST_INIT};
	struct gate_number r;

	if (e->table)
		add_table(e, &s, e->table, n);
	for (uint32_t i = 0; !e->table && i < e->ts->n && !e->err; i++)
		add_table(e, &s, e->ts->v[i], n);
	r = number_of(e, n, &s);
	hist_release(&s.h);
	return r;
}
