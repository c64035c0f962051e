/* Order and statistics of rows: sorting by a column, the first rows, totals and shares. */
#include "table/parts.h"

#include "base/err.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static const struct {
	const char *name, *title;
	enum table_value_kind least;
} stats[] = {
#define S(name, text, title, least) {text, title, least},
	TABLE_STATS(S)
#undef S
};

bool table_has(enum table_value_kind kind, enum table_stat stat)
{
	return kind >= stats[stat].least;
}

const char *table_stat_name(enum table_stat stat)
{
	return stats[stat].name;
}

const char *table_stat_title(enum table_stat stat)
{
	return stats[stat].title;
}

const char *table_key_kind_name(enum table_key_kind kind)
{
	static const char *const names[] = {
#define T(name, text, what) text,
		TABLE_KEY_KINDS(T)
#undef T
	};
	return names[kind];
}

hist_int table_total(const struct table *t, uint32_t v)
{
	uint32_t n = t->rows ? 0 : t->sorted ? table_nordered(t) : t->nrows;
	hist_int sum = 0;

	for (uint32_t i = 0; i < n; i++) {
		const struct hist *h = table_cell(t, t->sorted ? table_ordered(t, i) : i, v);
		hist_int more = t->values[v].kind == TABLE_COUNT ? (hist_int)h->count : h->sum;

		if (wide_int_add(sum, more, &sum))
			sum = more < 0 ? -HIST_SUM_MAX : HIST_SUM_MAX;
	}
	return sum;
}

/* All but the percentiles, which take their time. */
static void plain_numbers(const struct table *t, uint32_t row, uint32_t v, hist_int total,
			  struct table_numbers *n)
{
	const struct hist *h = table_cell(t, row, v);
	hist_int part = t->values[v].kind == TABLE_COUNT ? (hist_int)h->count : h->sum;

	*n = (struct table_numbers){.count = h->count,
				    .max_time = h->max_time,
				    .sum = h->sum,
				    .min = h->min,
				    .max = h->max,
				    .mean = hist_mean(h)};
	/* Of numbers below zero there is no share. */
	n->share = !t->overlap && total > 0 && part >= 0 && part <= total
			   ? (double)((long double)part / (long double)total)
			   : NAN;
	n->percent = n->share * 100;
}

void table_numbers(const struct table *t, uint32_t row, uint32_t v, hist_int total,
		   struct table_numbers *n)
{
	static const double p[] = {50, 90, 99, 99.9};

	if (t->rows) {
		*n = (struct table_numbers){0};
		t->rows->numbers(t->rows->ctx, row, v, n);
		return;
	}
	plain_numbers(t, row, v, total, n);
	if (t->values[v].kind == TABLE_HIST)
		hist_percentiles(table_cell(t, row, v), p, 4, n->p);
}

double table_number(const struct table_numbers *n, enum table_stat stat)
{
	if (stat == TABLE_STAT_COUNT)
		return (double)n->count;
	if (!n->count)
		return NAN;
	switch (stat) {
	case TABLE_STAT_COUNT: break;
	case TABLE_STAT_SUM: return (double)n->sum;
	case TABLE_STAT_SHARE: return n->share;
	case TABLE_STAT_MIN: return (double)n->min;
	case TABLE_STAT_MEAN: return n->mean;
	case TABLE_STAT_P50:
	case TABLE_STAT_P90:
	case TABLE_STAT_P99:
	case TABLE_STAT_P999: return (double)n->p[stat - TABLE_STAT_P50];
	case TABLE_STAT_MAX: return (double)n->max;
	case TABLE_STAT_MAX_TIME: return (double)n->max_time;
	case TABLE_NSTATS: break;
	}
	return NAN;
}

/* What rows are sorted by. */
struct sorter {
	const struct table *t;
	bool by_key, backwards;
	uint32_t k; /* key, or value */
	enum table_stat stat;
};

struct item {
	double v;
	uint32_t row;
};

/* What is not there comes last. */
static double sort_value(const struct table_numbers *n, enum table_stat stat)
{
	double v = table_number(n, stat);

	return isnan(v) ? -INFINITY : v;
}

static int compare_key(const struct table *t, uint32_t a, uint32_t b, uint32_t k)
{
	uint64_t x = t->key[(size_t)a * t->nkeys + k], y = t->key[(size_t)b * t->nkeys + k];
	size_t xlen, ylen;
	const char *xs, *ys;
	int c;

	switch (t->keys[k].kind) {
	case TABLE_TEXT: break;
	case TABLE_SIGNED: return ((int64_t)x > (int64_t)y) - ((int64_t)x < (int64_t)y);
	default: return (x > y) - (x < y);
	}
	xs = intern_get(&t->texts, (uint32_t)x, &xlen);
	ys = intern_get(&t->texts, (uint32_t)y, &ylen);
	c = memcmp(xs ? xs : "", ys ? ys : "", xlen < ylen ? xlen : ylen);
	return c ? c : (xlen > ylen) - (xlen < ylen);
}

static int compare(const void *a, const void *b, void *ctx)
{
	const struct item *x = a, *y = b;
	const struct sorter *s = ctx;
	int c = s->by_key ? compare_key(s->t, x->row, y->row, s->k) : (x->v < y->v) - (x->v > y->v);

	if (s->backwards)
		c = -c;
	for (uint32_t k = 0; k < s->t->nkeys && !c; k++)
		c = compare_key(s->t, x->row, y->row, k);
	return c;
}

/* "count", "VALUE.count", or a key. */
static int find_column(const struct table *t, const char *by, struct sorter *s)
{
	for (uint32_t k = 0; k < t->nkeys; k++) {
		if (!strcmp(t->keys[k].name, by)) {
			s->by_key = true;
			s->k = k;
			return 0;
		}
	}
	for (uint32_t v = 0; v < t->nvalues; v++) {
		size_t n = strlen(t->values[v].name);
		const char *stat = by;

		if (!strncmp(by, t->values[v].name, n) && by[n] == '.')
			stat = by + n + 1;
		for (int i = 0; i < TABLE_NSTATS; i++) {
			if (!strcmp(stat, stats[i].name) &&
			    table_has(t->values[v].kind, (enum table_stat)i)) {
				s->k = v;
				s->stat = (enum table_stat)i;
				return 0;
			}
		}
	}
	return PP_ENOENT;
}

static void default_column(const struct table *t, struct sorter *s)
{
	for (uint32_t k = 0; k < t->nkeys && !s->by_key; k++) {
		s->by_key = t->keys[k].kind == TABLE_WINDOW;
		s->k = k;
	}
	if (s->by_key)
		return;
	s->k = 0;
	s->stat = t->values[0].kind == TABLE_COUNT ? TABLE_STAT_COUNT : TABLE_STAT_SUM;
}

int table_sort(struct table *t, const char *by)
{
	struct sorter s = {.t = t};
	struct item *items;
	hist_int total;
	uint32_t n = 0;
	int rc = 0;

	if (!by && t->as_added)
		return table_keep_order(t);
	if (by && *by == '-') {
		s.backwards = true;
		by++;
	}
	if (by)
		rc = find_column(t, by, &s);
	else
		default_column(t, &s);
	if (rc)
		return rc;
	free(t->order);
	t->sorted = false;
	t->order = calloc((size_t)t->nrows + 1, sizeof(*t->order));
	items = calloc((size_t)t->nrows + 1, sizeof(*items));
	total = s.by_key ? 0 : table_total(t, s.k);
	for (uint32_t row = 0; row < t->nrows && t->order && items; row++) {
		struct table_numbers numbers;

		if (row == t->other || !table_weight(t, row))
			continue;
		if (!s.by_key && s.stat >= TABLE_STAT_P50 && s.stat <= TABLE_STAT_P999)
			table_numbers(t, row, s.k, total, &numbers);
		else if (!s.by_key)
			plain_numbers(t, row, s.k, total, &numbers);
		items[n] = (struct item){0, row};
		if (!s.by_key)
			items[n].v = sort_value(&numbers, s.stat);
		n++;
	}
	if (!t->order || !items) {
		free(items);
		return PP_ENOMEM;
	}
	qsort_r(items, n, sizeof(*items), compare, &s);
	for (uint32_t i = 0; i < n; i++)
		t->order[i] = items[i].row;
	free(items);
	t->nordered = n;
	t->sorted = true;
	t->by_time = s.by_key && t->keys[s.k].kind == TABLE_WINDOW;
	return 0;
}

int table_keep_order(struct table *t)
{
	uint32_t *order = calloc((size_t)t->nrows + 1, sizeof(*order));

	if (!order)
		return PP_ENOMEM;
	free(t->order);
	t->order = order;
	t->nordered = 0;
	for (uint32_t row = 0; row < t->nrows; row++)
		if (row != t->other && table_weight(t, row))
			t->order[t->nordered++] = row;
	t->sorted = true;
	return 0;
}

/* ---- the first rows ---- */

/* Rows that differ in the time alone. */
struct group {
	double v;
	uint32_t first, n; /* of the rows */
};

static int compare_but_time(const void *a, const void *b, void *ctx)
{
	const struct table *t = ctx;
	int c = 0;

	for (uint32_t k = 0; k < t->nkeys && !c; k++)
		if (t->keys[k].kind != TABLE_WINDOW)
			c = compare_key(t, *(const uint32_t *)a, *(const uint32_t *)b, k);
	return c;
}

static int compare_groups(const void *a, const void *b)
{
	const struct group *x = a, *y = b;

	if (x->v != y->v)
		return (x->v < y->v) - (x->v > y->v);
	return (x->first > y->first) - (x->first < y->first);
}

static uint32_t find_groups(struct table *t, uint32_t *rows, struct group *groups)
{
	uint32_t n = 0;

	memcpy(rows, t->order, t->nordered * sizeof(*rows));
	qsort_r(rows, t->nordered, sizeof(*rows), compare_but_time, t);
	for (uint32_t i = 0; i < t->nordered; i++) {
		const struct hist *h = table_cell(t, rows[i], 0);

		if (!i || compare_but_time(&rows[i - 1], &rows[i], t))
			groups[n++] = (struct group){0, i, 0};
		groups[n - 1].v +=
			t->values[0].kind == TABLE_COUNT ? (double)h->count : (double)h->sum;
		groups[n - 1].n++;
	}
	qsort(groups, n, sizeof(*groups), compare_groups);
	return n;
}

static int other_row(struct table *t)
{
	int rc = 0;

	if (t->other == TABLE_NO_ROW) {
		rc = table_make_other(t);
		t->sorted = true;
	}
	return rc;
}

static int top_groups(struct table *t, uint32_t top)
{
	uint32_t *rows = calloc((size_t)t->nordered + 1, sizeof(*rows)), n, left = 0;
	struct group *groups = calloc((size_t)t->nordered + 1, sizeof(*groups));
	int rc = rows && groups ? 0 : PP_ENOMEM;

	n = rc ? 0 : find_groups(t, rows, groups);
	if (n > top)
		rc = other_row(t);
	for (uint32_t g = top; g < n && !rc; g++)
		for (uint32_t i = 0; i < groups[g].n && !rc; i++)
			rc = table_merge_row(t, t->other, rows[groups[g].first + i]);
	for (uint32_t i = 0; i < t->nordered; i++)
		if (table_weight(t, t->order[i]))
			t->order[left++] = t->order[i];
	t->nordered = left;
	free(rows);
	free(groups);
	return rc;
}

int table_top(struct table *t, uint32_t top)
{
	int rc;

	if (t->nordered <= top)
		return 0;
	if (t->by_time)
		return top_groups(t, top);
	rc = other_row(t);
	for (uint32_t i = top; i < t->nordered && !rc; i++)
		rc = table_merge_row(t, t->other, t->order[i]);
	t->nordered = top;
	return rc;
}

uint32_t table_nordered(const struct table *t)
{
	return t->rows ? t->rows->n : t->nordered + (t->other != TABLE_NO_ROW);
}

uint32_t table_ordered(const struct table *t, uint32_t i)
{
	if (t->rows)
		return i < t->rows->n ? i : TABLE_NO_ROW;
	return i < t->nordered ? t->order[i] : i == t->nordered ? t->other : TABLE_NO_ROW;
}

static void each_key(struct table_writer *x, const struct table_walk *w, uint32_t row)
{
	for (uint32_t k = 0; k < x->t->nkeys; k++)
		w->key(x, row, k);
}

int table_each_row(struct table_writer *x, const struct table_walk *w)
{
	const struct table *t = x->t;
	hist_int total[TABLE_VALUES_MAX];
	uint32_t row;
	int rc = 0;

	for (uint32_t v = 0; v < t->nvalues; v++)
		total[v] = table_total(t, v);
	for (uint32_t i = 0; (row = table_ordered(t, i)) != TABLE_NO_ROW && !rc; i++) {
		if (w->begin)
			w->begin(x);
		if (!x->values_first)
			each_key(x, w, row);
		if (w->middle)
			w->middle(x);
		for (uint32_t v = 0; v < t->nvalues; v++) {
			struct table_numbers n;

			table_numbers(t, row, v, total[v], &n);
			w->value(x, row, v, &n);
		}
		if (x->values_first)
			each_key(x, w, row);
		w->end(x);
		buf_inherit(x->b, &x->text);
		buf_inherit(x->b, &x->cell);
		rc = out_take(x->out, x->b);
	}
	return rc;
}
