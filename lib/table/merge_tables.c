/* Adds the rows of tables to those of others, and empties tables that go on to be filled. */
#include "table/parts.h"

#include "base/err.h"

#include <string.h>

/* A table with the columns of t. */
static int add_like(struct tables *to, const struct table *t, struct table **made)
{
	int rc = tables_add(to, t->name, t->keys, t->nkeys, t->values, t->nvalues, made);

	if (!rc && t->title)
		rc = table_set_title(*made, t->title);
	if (rc)
		return rc;
	(*made)->derived = t->derived;
	(*made)->as_added = t->as_added;
	return 0;
}

/* Keys may have become of another kind since the last time, and units may have gone. */
static int follow_columns(struct table *to, const struct table *from)
{
	int rc = 0;

	for (uint32_t k = 0; k < from->nkeys && !rc; k++)
		if (to->keys[k].kind != from->keys[k].kind)
			rc = table_rekey(to, k, from->keys[k].kind, from->keys[k].window);
	for (uint32_t v = 0; v < from->nvalues; v++)
		if (!*from->values[v].unit)
			to->values[v].unit = "";
	to->no_sum = from->no_sum;
	to->overlap = from->overlap;
	return rc;
}

static int row_of(struct table *to, const struct table *from, uint32_t row, uint32_t *as)
{
	uint64_t key[TABLE_KEYS_MAX];
	int rc = 0;

	if (row == from->other) {
		rc = table_make_other(to);
		*as = to->other;
		return rc;
	}
	for (uint32_t k = 0; k < from->nkeys && !rc; k++) {
		key[k] = from->key[(size_t)row * from->nkeys + k];
		if (from->keys[k].kind == TABLE_TEXT) {
			size_t len;
			const char *s = intern_get(&from->texts, (uint32_t)key[k], &len);

			rc = table_text(to, s ? s : "", s ? len : 0, &key[k]);
		}
	}
	return rc ? rc : table_row(to, key, as);
}

static int merge_one(struct table *to, const struct table *from)
{
	int rc = follow_columns(to, from);

	for (uint32_t row = 0; row < from->nrows && !rc; row++) {
		uint32_t as = 0;

		rc = row_of(to, from, row, &as);
		for (uint32_t v = 0; v < from->nvalues && !rc; v++) {
			struct hist *h = table_cell(to, as, v);
			size_t before = hist_bytes(h);

			rc = hist_merge(h, table_cell(from, row, v));
			table_account(to, h, before);
		}
	}
	to->folded += from->folded;
	to->sorted = false;
	return rc;
}

static int merge_all(struct tables *to, const struct tables *from, bool derived)
{
	int rc = 0;

	for (uint32_t i = 0; i < from->n && !rc; i++) {
		struct table *t = from->v[i], *as;

		if (t->derived && !derived)
			continue;
		as = tables_find(to, t->name, strlen(t->name));
		rc = as ? 0 : add_like(to, t, &as);
		if (!rc)
			rc = merge_one(as, t);
	}
	return rc;
}

int tables_merge(struct tables *to, const struct tables *from)
{
	return merge_all(to, from, false);
}

int tables_copy(struct tables *to, const struct tables *from)
{
	return merge_all(to, from, true);
}

void tables_clear(struct tables *ts)
{
	for (uint32_t i = 0; i < ts->n; i++)
		table_clear(ts->v[i]);
}

void tables_drop_derived(struct tables *ts)
{
	uint32_t n = 0;

	for (uint32_t i = 0; i < ts->n; i++) {
		if (ts->v[i]->derived)
			table_free(ts->v[i]);
		else
			ts->v[n++] = ts->v[i];
	}
	ts->n = n;
}
