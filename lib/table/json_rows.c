/* The JSON form of a table: an object for each row. */
#include "table/parts.h"

#include "table/unit.h"

#include <math.h>

static void add_name(struct buf *b, const char *name, bool first)
{
	if (!first)
		buf_addc(b, ',');
	buf_add_json(b, name, strlen(name));
	buf_addc(b, ':');
}

static void add_int(struct buf *b, const char *name, hist_int v)
{
	buf_addf(b, ",\"%s\":", name);
	unit_add_int(b, v);
}

/* [LOW, HIGH, COUNT] of each bucket, both bounds in it. */
static void add_buckets(struct buf *b, const struct hist *h, const char *name, uint64_t step)
{
	const struct hist_buckets *buckets = step ? &h->linear : &h->fine;
	uint64_t count;
	bool first = true;

	buf_addf(b, ",\"%s\":[", name);
	for (int32_t i = INT32_MIN; hist_next(buckets, &i, &count);) {
		hist_int low = (hist_int)i * step, high = low + step - 1;

		if (!step)
			hist_range(i, &low, &high);
		buf_adds(b, first ? "[" : ",[");
		first = false;
		unit_add_int(b, low);
		buf_addc(b, ',');
		unit_add_int(b, high);
		buf_addc(b, ',');
		buf_add_u64(b, count, 0, ' ');
		buf_addc(b, ']');
	}
	buf_addc(b, ']');
}

static void begin_row(struct table_writer *x)
{
	buf_adds(x->b, "{\"table\":");
	buf_add_json(x->b, x->t->name, strlen(x->t->name));
	if (x->ts->period_end)
		buf_addf(x->b, ",\"period\":{\"begin\":%llu,\"end\":%llu}",
			 (unsigned long long)x->ts->period_begin,
			 (unsigned long long)x->ts->period_end);
	buf_adds(x->b, ",\"keys\":{");
}

static void on_key(struct table_writer *x, uint32_t row, uint32_t k)
{
	const struct table_key *key = &x->t->keys[k];
	bool quoted = row == x->t->other || key->kind == TABLE_TEXT || key->kind == TABLE_HEX;

	buf_reset(&x->text);
	table_key_add(x->t, row, k, &x->text);
	add_name(x->b, key->name, k == 0);
	if (quoted)
		buf_add_json(x->b, buf_str(&x->text), x->text.len);
	else
		buf_join(x->b, &x->text);
}

static void between(struct table_writer *x)
{
	buf_adds(x->b, "},\"values\":{");
}

static void on_value(struct table_writer *x, uint32_t row, uint32_t v,
		     const struct table_numbers *n)
{
	static const char *const percentiles[] = {"p50", "p90", "p99", "p99.9"};
	const struct table_value *c = &x->t->values[v];
	struct buf *b = x->b;
	bool some = n->count || c->kind == TABLE_PART;

	add_name(b, c->name, v == 0);
	buf_addf(b, "{\"count\":%llu", (unsigned long long)n->count);
	if (some && !isnan(n->share))
		buf_addf(b, ",\"share\":%.6f", n->share);
	if (some && c->kind != TABLE_COUNT) {
		buf_adds(b, ",\"unit\":");
		buf_add_json(b, c->unit, strlen(c->unit));
		add_int(b, "sum", n->sum);
	}
	if (some && c->kind >= TABLE_SUM) {
		add_int(b, "min", n->min);
		buf_addf(b, ",\"mean\":%.15g", n->mean);
		for (int i = 0; i < 4 && c->kind == TABLE_HIST; i++)
			add_int(b, percentiles[i], n->p[i]);
		add_int(b, "max", n->max);
		add_int(b, "max_time", n->max_time);
	}
	if (n->count && c->kind == TABLE_HIST)
		add_buckets(b, table_cell(x->t, row, v), "buckets", 0);
	if (n->count && c->kind == TABLE_HIST && c->step)
		add_buckets(b, table_cell(x->t, row, v), "linear", c->step);
	buf_addc(b, '}');
}

static void end_row(struct table_writer *x)
{
	buf_adds(x->b, "}}\n");
}

int table_write_json(struct table_writer *x)
{
	static const struct table_walk walk = {begin_row, on_key, between, on_value, end_row};

	return table_each_row(x, &walk);
}
