/* What is made of the rows in the end: the table of all kinds, titles, the account. */
#include "interval/lat_parts.h"

#include <string.h>

/* The rows of a kind as one row of "intervals", where it has the same unit. */
static int summarize(struct lat *l, const struct lat_kind_rows *k)
{
	uint64_t key;
	uint32_t row;
	int rc;

	if (!k->table || k->k->unit)
		return 0;
	rc = table_text(l->rows.summary, k->k->name, strlen(k->k->name), &key);
	if (!rc)
		rc = table_row(l->rows.summary, &key, &row);
	for (uint32_t i = 0; i < k->table->nrows && !rc; i++) {
		struct hist *to = table_cell(l->rows.summary, row, 0);
		size_t before = hist_bytes(to);

		rc = hist_merge(to, table_cell(k->table, i, 0));
		table_account(l->rows.summary, to, before);
	}
	return rc;
}

static bool only_by_end(const struct lat_kind_rows *k)
{
	return k->by_end && k->by_end == k->account->count[LAT_INTERVALS];
}

/*
 * The tables are in the order of the kinds, not in that of their first rows; but first come the
 * kinds of which a filter has let beginnings pass: it is about them as a rule.
 */
static void order_tables(struct lat *l)
{
	uint32_t n = 0, first = 0;

	if (l->rows.summary)
		l->rows.tables.v[n++] = l->rows.summary;
	for (int late = 0; late < 2; late++) {
		for (unsigned i = 0; i < l->e.nkinds; i++)
			if (l->rows.kinds[i].table && only_by_end(&l->rows.kinds[i]) == late)
				l->rows.tables.v[n++] = l->rows.kinds[i].table;
		first = late ? first : n;
	}
	if (l->rows.summary)
		l->rows.summary->as_added = first > 1 && first < n;
}

/* What the filter before has meant for this kind. */
static int set_title(struct lat *l, struct lat_kind_rows *k)
{
	const char *begins = k->k->begins ? k->k->begins : "the event that begins it";
	const char *ends = k->k->ends ? k->k->ends : "the event that ends it";

	buf_reset(&l->e.texts.text);
	lat_filter_words(&l->e.filter, &l->e.texts.text);
	if (only_by_end(k))
		buf_addf(&l->e.texts.text, " passed %s; it does not apply to %s", ends, begins);
	else
		buf_addf(&l->e.texts.text, " passed %s", begins);
	if (k->by_end && !only_by_end(k))
		buf_addf(&l->e.texts.text, "; or, if it does not apply to that, %s", ends);
	return l->e.texts.text.err ? PP_ENOMEM
				   : table_set_title(k->table, buf_str(&l->e.texts.text));
}

static int set_titles(struct lat *l)
{
	int rc = 0;

	for (unsigned i = 0; i < l->e.nkinds && !rc && l->e.filter.any; i++)
		if (l->rows.kinds[i].table)
			rc = set_title(l, &l->rows.kinds[i]);
	return rc;
}

/* The table of all kinds, without rows. By kind alone, it would have the rows there are already. */
static int add_summary(struct lat *l, struct tables *ts, struct table **t)
{
	static const struct table_key key = {"kind", TABLE_TEXT, 0};
	struct table_value value = {"duration", TABLE_HIST, l->e.texts.unit, l->o->step};
	int rc;

	if (!ts->n || l->o->unmatched || l->rows.window || (l->o->by && !strcmp(l->o->by, "kind")))
		return 0;
	rc = tables_add(ts, LAT_SUMMARY, &key, 1, &value, 1, t);
	/* A thread that is off the CPU is blocked, and in a system call. */
	if (!rc)
		(*t)->overlap = (*t)->derived = true;
	return rc;
}

int lat_names(struct lat *l, struct tables *ts)
{
	struct table *t;
	int rc = 0;

	if (l->o->threads)
		return lat_threads_table(l, ts, &t);
	for (unsigned i = 0; i < l->e.nkinds && !rc; i++) {
		if (lat_kind_on(l, i))
			rc = lat_terms_names(l, &l->rows.kinds[i], ts);
	}
	return rc ? rc : add_summary(l, ts, &t);
}

int lat_rows_finish(struct lat *l)
{
	int rc = 0;

	lat_rows_settle(l);
	l->rows.summary = NULL;
	if (l->o->threads)
		return 0;
	rc = add_summary(l, &l->rows.tables, &l->rows.summary);
	order_tables(l);
	for (int late = 0; late < 2; late++)
		for (unsigned i = 0; i < l->e.nkinds && l->rows.summary && !rc; i++)
			if (only_by_end(&l->rows.kinds[i]) == late)
				rc = summarize(l, &l->rows.kinds[i]);
	return rc ? rc : set_titles(l);
}

int lat_account_table(struct lat *l)
{
	static const struct table_key key = {"kind", TABLE_TEXT, 0};
	static const struct table_value values[] = {
#define A(name, text, what) {text, TABLE_COUNT, "", 0},
		LAT_ACCOUNT(A)
#undef A
	};
	struct table *t;
	int rc = tables_add(&l->rows.tables, "account", &key, 1, values, LAT_NCOUNTS, &t);

	for (unsigned i = 0; i < l->e.nkinds && !rc; i++) {
		const struct lat_kind_rows *k = &l->rows.kinds[i];
		uint64_t name;
		uint32_t row;

		if (!k->account->on ||
		    (!k->account->count[LAT_STARTS] && !k->account->count[LAT_NO_START]))
			continue;
		rc = table_text(t, k->k->name, strlen(k->k->name), &name);
		if (!rc)
			rc = table_row(t, &name, &row);
		for (uint32_t v = 0; v < LAT_NCOUNTS && !rc; v++)
			table_cell(t, row, v)->count = k->account->count[v];
	}
	return rc;
}
