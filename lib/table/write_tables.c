/* Writes all tables of a result, in one of the three forms. */
#include "table/parts.h"

#include "base/err.h"

int tables_write(struct tables *ts, const struct table_opts *o, struct out *out)
{
	struct buf b = BUF_INIT;
	int rc = 0;

	for (uint32_t i = 0; i < ts->n && !rc; i++)
		if (!ts->v[i]->sorted)
			rc = table_sort(ts->v[i], NULL);
	if (!rc && o->plain)
		rc = tables_write_plain(ts, o->source, &b, out);
	for (uint32_t i = 0; i < ts->n && !rc && !o->plain; i++) {
		switch (o->form) {
		case TABLE_FORM_TEXT: rc = table_write_text(ts, ts->v[i], o, &b, out); break;
		case TABLE_FORM_TSV: rc = table_write_tsv(ts, ts->v[i], &b, out); break;
		case TABLE_FORM_JSON: rc = table_write_json(ts, ts->v[i], &b, out); break;
		}
	}
	/* What there is to say of the whole comes after the last period. */
	if (!rc && o->form == TABLE_FORM_JSON && !ts->period_end) {
		buf_addf(&b, "{\"end\":{\"tables\":%u,\"lost\":%llu,\"partial\":%s}}\n", ts->n,
			 (unsigned long long)ts->lost, ts->partial ? "true" : "false");
		rc = table_flush(&b, out);
	}
	buf_release(&b);
	return rc;
}
