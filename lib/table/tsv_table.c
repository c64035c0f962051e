/* The TSV form, perfpipe-table(5): names and keys escaped so that all bytes come back. */
#include "table/parts.h"

#include "table/unit.h"

#include <math.h>
#include <stdio.h>

static void add_column(struct buf *b, const char *name, const char *what, const char *param)
{
	buf_addc(b, '\t');
	table_add_escaped(b, name, strlen(name), true);
	buf_addf(b, ":%s", what);
	if (*param) {
		buf_addc(b, ':');
		table_add_escaped(b, param, strlen(param), true);
	}
}

static const char *param_of(const struct table_value *v, enum table_stat stat)
{
	switch (stat) {
	case TABLE_STAT_COUNT: return "";
	case TABLE_STAT_SHARE: return "%";
	case TABLE_STAT_MAX_TIME: return "ns";
	default: return v->unit;
	}
}

static void add_header(const struct tables *ts, const struct table *t, struct buf *b)
{
	char param[24];

	buf_adds(b, TABLE_MAGIC);
	buf_addf(b, " rows=%u view=%s", table_nordered(t), ts->view);
	if (t->folded)
		buf_addf(b, " folded=%llu", (unsigned long long)t->folded);
	if (ts->period_end)
		buf_addf(b, " period=%llu,%llu", (unsigned long long)ts->period_begin,
			 (unsigned long long)ts->period_end);
	if (ts->lost)
		buf_addf(b, " lost=%llu", (unsigned long long)ts->lost);
	if (ts->partial)
		buf_adds(b, " partial=1");
	if (t->overlap)
		buf_adds(b, " overlap=1");
	buf_adds(b, " name=");
	table_add_escaped(b, t->name, strlen(t->name), false);
	for (uint32_t k = 0; k < t->nkeys; k++) {
		snprintf(param, sizeof(param), "%llu", (unsigned long long)t->keys[k].window);
		add_column(b, t->keys[k].name, table_key_kind_name(t->keys[k].kind),
			   t->keys[k].kind == TABLE_WINDOW ? param : "");
	}
	for (uint32_t v = 0; v < t->nvalues; v++) {
		const struct table_value *c = &t->values[v];

		for (int s = 0; s < TABLE_NSTATS; s++)
			if (table_has(c->kind, (enum table_stat)s))
				add_column(b, c->name, table_stat_name((enum table_stat)s),
					   param_of(c, (enum table_stat)s));
		if (c->kind != TABLE_HIST)
			continue;
		add_column(b, c->name, "buckets", "");
		snprintf(param, sizeof(param), "%llu", (unsigned long long)c->step);
		if (c->step)
			add_column(b, c->name, "linear", param);
	}
	buf_addc(b, '\n');
}

void table_add_buckets(struct buf *b, const struct hist_buckets *buckets, uint64_t step)
{
	uint64_t count;
	bool first = true;

	buf_addc(b, '\t');
	for (int32_t i = INT32_MIN; hist_next(buckets, &i, &count);) {
		if (!first)
			buf_addc(b, ' ');
		first = false;
		unit_add_int(b, step ? (hist_int)i * step : hist_bucket_name(i));
		buf_addc(b, ':');
		buf_add_u64(b, count, 0, ' ');
	}
}

void table_add_stat(struct buf *b, const struct table_numbers *n, enum table_stat stat)
{
	buf_addc(b, '\t');
	if (stat == TABLE_STAT_COUNT)
		buf_add_u64(b, n->count, 0, ' ');
	if (stat == TABLE_STAT_COUNT || !n->count)
		return;
	switch (stat) {
	case TABLE_STAT_COUNT: break;
	case TABLE_STAT_SUM: unit_add_int(b, n->sum); break;
	case TABLE_STAT_SHARE:
		if (!isnan(n->share))
			buf_addf(b, "%.4f", n->percent);
		break;
	case TABLE_STAT_MIN: unit_add_int(b, n->min); break;
	case TABLE_STAT_MEAN: buf_addf(b, "%.15g", n->mean); break;
	case TABLE_STAT_P50:
	case TABLE_STAT_P90:
	case TABLE_STAT_P99:
	case TABLE_STAT_P999: unit_add_int(b, n->p[stat - TABLE_STAT_P50]); break;
	case TABLE_STAT_MAX: unit_add_int(b, n->max); break;
	case TABLE_STAT_MAX_TIME: buf_add_u64(b, n->max_time, 0, ' '); break;
	case TABLE_NSTATS: break;
	}
}

static void begin_row(struct table_writer *x)
{
	table_add_escaped(x->b, x->t->name, strlen(x->t->name), false);
}

static void on_key(struct table_writer *x, uint32_t row, uint32_t k)
{
	buf_addc(x->b, '\t');
	if (row == x->t->other || x->t->keys[k].kind != TABLE_TEXT) {
		table_key_add(x->t, row, k, x->b);
		return;
	}
	buf_reset(&x->text);
	table_key_add(x->t, row, k, &x->text);
	table_add_escaped(x->b, buf_str(&x->text), x->text.len, false);
}

static void on_value(struct table_writer *x, uint32_t row, uint32_t v,
		     const struct table_numbers *n)
{
	const struct table_value *c = &x->t->values[v];
	const struct hist *h = table_cell(x->t, row, v);

	for (int s = 0; s < TABLE_NSTATS; s++)
		if (table_has(c->kind, (enum table_stat)s))
			table_add_stat(x->b, n, (enum table_stat)s);
	if (c->kind == TABLE_HIST)
		table_add_buckets(x->b, &h->fine, 0);
	if (c->kind == TABLE_HIST && c->step)
		table_add_buckets(x->b, &h->linear, c->step);
}

static void end_row(struct table_writer *x)
{
	buf_addc(x->b, '\n');
}

int table_write_tsv(struct table_writer *x)
{
	static const struct table_walk walk = {
		.begin = begin_row, .key = on_key, .value = on_value, .end = end_row};

	add_header(x->ts, x->t, x->b);
	return table_each_row(x, &walk);
}
