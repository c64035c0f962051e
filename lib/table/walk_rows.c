/*
 * What the forms of a table have in common: the walk through rows, keys and values; writing a line.
 */
#include "table/parts.h"

int table_flush(struct buf *b, struct out *out)
{
	int rc = b->err ? b->err : out_add(out, buf_str(b), b->len);

	buf_reset(b);
	return rc;
}

int table_each_row(const struct table *t, const struct table_walk *w, void *ctx)
{
	hist_int total[TABLE_VALUES_MAX];
	uint32_t row;
	int rc = 0;

	for (uint32_t v = 0; v < t->nvalues; v++)
		total[v] = table_total(t, v);
	for (uint32_t i = 0; (row = table_ordered(t, i)) != TABLE_NO_ROW && !rc; i++) {
		if (w->begin)
			w->begin(ctx);
		for (uint32_t k = 0; k < t->nkeys; k++)
			w->key(ctx, row, k);
		if (w->middle)
			w->middle(ctx);
		for (uint32_t v = 0; v < t->nvalues; v++) {
			struct table_numbers n;

			table_numbers(t, row, v, total[v], &n);
			w->value(ctx, row, v, &n);
		}
		rc = w->end ? w->end(ctx) : 0;
	}
	return rc;
}
