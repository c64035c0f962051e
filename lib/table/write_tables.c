/* Writes all tables of a result, in one of the forms; the walk that the forms have in common. */
#include "table/parts.h"

#include "base/err.h"

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

int table_write(struct tables *ts, const struct table *t, const struct table_opts *o, struct buf *b,
		struct out *out)
{
	switch (o->form) {
	case TABLE_FORM_TSV: return table_write_tsv(ts, t, b, out);
	case TABLE_FORM_JSON: return table_write_json(ts, t, b, out);
	case TABLE_FORM_MARKDOWN: return table_write_markdown(ts, t, o, b, out);
	default: return table_write_text(ts, t, o, b, out);
	}
}

/* What there is to say of the whole comes after the last period. */
int tables_write_end(const struct tables *ts, uint32_t n, const struct table_opts *o, struct buf *b,
		     struct out *out)
{
	if (o->form == TABLE_FORM_JSON && !ts->period_end)
		buf_addf(b, "{\"end\":{\"tables\":%u,\"lost\":%llu,\"partial\":%s}}\n", n,
			 (unsigned long long)ts->lost, ts->partial ? "true" : "false");
	return out_take(out, b);
}

int tables_write(struct tables *ts, const struct table_opts *o, struct out *out)
{
	struct buf b = BUF_INIT;
	int rc = 0;

	for (uint32_t i = 0; i < ts->n && !rc; i++)
		if (!ts->v[i]->sorted)
			rc = table_sort(ts->v[i], NULL);
	if (!rc && o->plain)
		rc = tables_write_plain(ts, o->source, &b, out);
	for (uint32_t i = 0; i < ts->n && !rc && !o->plain; i++)
		rc = table_write(ts, ts->v[i], o, &b, out);
	if (!rc)
		rc = tables_write_end(ts, ts->n, o, &b, out);
	buf_release(&b);
	return rc;
}
