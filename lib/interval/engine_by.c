/*
 * The expressions of --by: compiled once for all kinds, and their values in the events of an
 * interval.
 */
#include "interval/engine.h"

#define VALUE_TEXT_MAX 4096 /* bytes of a text that is a key */

int engine_by_add(struct engine *en, const char *s, size_t n, uint32_t *number, struct buf *why)
{
	int rc;

	for (*number = 0; *number < en->by.n; ++*number) {
		struct ps_str t = expr_text(en->by.v[*number], 0);

		if (t.len == n && !memcmp(t.p, s, n))
			return 0;
	}
	if (en->by.n == LAT_BY_MAX)
		return PP_ELIMIT;
	buf_reset(&en->texts.text);
	buf_add(&en->texts.text, s, n);
	if (en->texts.text.err)
		return PP_ENOMEM;
	rc = expr_new(&en->by.v[en->by.n], buf_str(&en->texts.text), EXPR_VALUES, why);
	if (rc)
		return rc;
	if (!en->raw) {
		const struct expr_symbols ask = {
			.name = en->symbol, .device = en->device, .ctx = en->symbol_ctx};

		expr_symbols(en->by.v[en->by.n], &ask);
		expr_show_names(en->by.v[en->by.n]);
	}
	en->by.n++;
	return 0;
}

int engine_values(struct engine *en, const struct sreader *r, const struct ps_record *rec,
		  uint64_t *v, uint32_t *set, uint32_t *numbers)
{
	for (uint32_t i = 0; i < en->by.n; i++) {
		struct qval q;
		uint32_t id;

		if (*set & (1u << i) || !expr_value(en->by.v[i], 0, r, rec, &q) || q.kind == QV_NA)
			continue;
		if (q.kind == QV_INT) {
			v[i] = q.num;
			*numbers |= 1u << i;
			if (q.is_unsigned && q.num >> 63)
				en->by.hex |= 1u << i;
		} else if (engine_text(en, q.s, q.len < VALUE_TEXT_MAX ? q.len : VALUE_TEXT_MAX,
				       &id)) {
			return PP_ENOMEM;
		} else {
			v[i] = id;
		}
		*set |= 1u << i;
	}
	return 0;
}

int engine_by_see(struct engine *en, const struct sreader *r, const struct ps_record *rec)
{
	int rc = 0;

	for (uint32_t i = 0; i < en->by.n && !rc; i++)
		rc = expr_see(en->by.v[i], r, rec);
	return rc;
}

void engine_by_release(struct engine *en)
{
	for (uint32_t i = 0; i < en->by.n; i++)
		expr_free(en->by.v[i]);
}
