/*
 * The plain TSV form (--tsv=plain), for data bases: all tables as one, with a line for each row and
 * value. The columns: source, table, the keys of all tables, value, unit, the statistics, buckets.
 */
#include "table/parts.h"

#include <string.h>

#define KEYS_MAX (TABLES_MAX * TABLE_KEYS_MAX)

struct plain {
	const char *key[KEYS_MAX]; /* of all tables; those of the same name share a column */
	uint32_t nkeys;
	const struct table *t;
	struct buf source;
	struct buf *b, row, text;
	struct out *out;
};

/* The key that --by source makes is what the first column is for. */
static bool is_source(const struct table_key *k)
{
	return k->kind == TABLE_TEXT && !strcmp(k->name, TABLE_SOURCE);
}

static uint32_t key_column(const struct plain *x, const char *name)
{
	uint32_t i = 0;

	while (i < x->nkeys && strcmp(x->key[i], name) != 0)
		i++;
	return i;
}

/* The names of keys that are also those of other columns get an end of their own. */
static bool is_taken(const char *name)
{
	static const char *const others[] = {TABLE_SOURCE, "table", "value", "unit", "buckets"};

	for (size_t i = 0; i < sizeof(others) / sizeof(*others); i++)
		if (!strcmp(name, others[i]))
			return true;
	for (int s = 0; s < TABLE_NSTATS; s++)
		if (!strcmp(name, table_stat_name((enum table_stat)s)))
			return true;
	return false;
}

static void add_header(struct plain *x)
{
	buf_adds(x->b, "source\ttable\t");
	for (uint32_t i = 0; i < x->nkeys; i++) {
		table_add_escaped(x->b, x->key[i], strlen(x->key[i]), false);
		buf_adds(x->b, is_taken(x->key[i]) ? "_key\t" : "\t");
	}
	buf_adds(x->b, "value\tunit");
	for (int s = 0; s < TABLE_NSTATS; s++)
		buf_addf(x->b, "\t%s", table_stat_name((enum table_stat)s));
	buf_adds(x->b, "\tbuckets\n");
}

static void add_key(struct plain *x, uint32_t row, uint32_t k)
{
	bool text = x->t->keys[k].kind == TABLE_TEXT;

	/* What became the row of all others has no number. */
	if (row == x->t->other) {
		buf_adds(&x->row, text ? TABLE_OTHER : "");
		return;
	}
	buf_reset(&x->text);
	table_key_add(x->t, row, k, &x->text);
	if (text)
		table_add_escaped(&x->row, buf_str(&x->text), x->text.len, false);
	else
		buf_add(&x->row, x->text.data, x->text.len);
}

/* The cells of a row that are those of all its values. */
static void begin_row(struct plain *x, uint32_t row)
{
	const struct table *t = x->t;
	uint32_t of = 0;

	buf_reset(&x->row);
	while (of < t->nkeys && !is_source(&t->keys[of]))
		of++;
	if (of < t->nkeys)
		add_key(x, row, of);
	else
		buf_add(&x->row, x->source.data, x->source.len);
	buf_addc(&x->row, '\t');
	table_add_escaped(&x->row, t->name, strlen(t->name), false);
	for (uint32_t i = 0; i < x->nkeys; i++) {
		buf_addc(&x->row, '\t');
		for (uint32_t k = 0; k < t->nkeys; k++)
			if (k != of && !strcmp(t->keys[k].name, x->key[i]))
				add_key(x, row, k);
	}
}

static void add_value(struct plain *x, uint32_t row, uint32_t v, hist_int total)
{
	const struct table_value *c = &x->t->values[v];
	struct table_numbers n;

	table_numbers(x->t, row, v, total, &n);
	buf_add(x->b, x->row.data, x->row.len);
	buf_addc(x->b, '\t');
	table_add_escaped(x->b, c->name, strlen(c->name), false);
	buf_addc(x->b, '\t');
	table_add_escaped(x->b, c->unit, strlen(c->unit), false);
	for (int s = 0; s < TABLE_NSTATS; s++)
		if (table_has(c->kind, (enum table_stat)s))
			table_add_stat(x->b, &n, (enum table_stat)s);
		else
			buf_addc(x->b, '\t');
	if (c->kind == TABLE_HIST)
		table_add_buckets(x->b, &table_cell(x->t, row, v)->fine, 0);
	else
		buf_addc(x->b, '\t');
	buf_addc(x->b, '\n');
}

static int write_table(struct plain *x, const struct table *t)
{
	hist_int total[TABLE_VALUES_MAX];
	uint32_t row;
	int rc = 0;

	x->t = t;
	for (uint32_t v = 0; v < t->nvalues; v++)
		total[v] = table_total(t, v);
	for (uint32_t i = 0; (row = table_ordered(t, i)) != TABLE_NO_ROW && !rc; i++) {
		begin_row(x, row);
		for (uint32_t v = 0; v < t->nvalues; v++)
			add_value(x, row, v, total[v]);
		rc = x->row.err ? x->row.err : x->text.err ? x->text.err : out_take(x->out, x->b);
	}
	return rc;
}

int tables_write_plain(const struct tables *ts, const char *source, struct buf *b, struct out *out)
{
	struct plain x = {
		.b = b, .out = out, .source = BUF_INIT, .row = BUF_INIT, .text = BUF_INIT};
	int rc;

	for (uint32_t i = 0; i < ts->n; i++)
		for (uint32_t k = 0; k < ts->v[i]->nkeys; k++) {
			const char *name = ts->v[i]->keys[k].name;

			if (!is_source(&ts->v[i]->keys[k]) && key_column(&x, name) == x.nkeys)
				x.key[x.nkeys++] = name;
		}
	if (source)
		table_add_escaped(&x.source, source, strlen(source), false);
	add_header(&x);
	rc = x.source.err ? x.source.err : out_take(out, b);
	for (uint32_t i = 0; i < ts->n && !rc; i++)
		rc = write_table(&x, ts->v[i]);
	buf_release(&x.source);
	buf_release(&x.row);
	buf_release(&x.text);
	return rc;
}
