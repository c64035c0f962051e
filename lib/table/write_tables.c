/* Writes all tables of a result, in one of the forms. */
#include "table/parts.h"

#include "base/err.h"

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
