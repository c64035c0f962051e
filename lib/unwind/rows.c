/* Compact rows of call frame tables, each kept once. */
#include "unwind/rows.h"

#include "base/err.h"

#include <string.h>

int row_expr(struct row_maker *m, const uint8_t *p, size_t n, struct row_rule *rule)
{
	if (n > ROW_EXPR_MAX || n > sizeof(m->bytes) - m->nbytes)
		return PP_ELIMIT;
	rule->len = (uint16_t)n;
	rule->value = m->nbytes;
	if (n)
		memcpy(m->bytes + m->nbytes, p, n);
	m->nbytes = (uint16_t)(m->nbytes + n);
	return 0;
}

static bool is_plain(const struct row_maker *m)
{
	if (m->cfa.how != ROW_REGISTER || m->flags & ~ROW_CODE)
		return false;
	for (int i = 0; i < m->nrules; i++)
		if (m->rule[i].how != ROW_OFFSET)
			return false;
	return true;
}

/* What a plain row reads and sets. */
static void add_summary(struct row *row, const struct row_rule *rule, unsigned n)
{
	for (unsigned i = 0; i < n; i++) {
		if (!i || rule[i].value < row->low)
			row->low = rule[i].value;
		if (!i || rule[i].value > row->high)
			row->high = rule[i].value;
		row->sets |= UINT64_C(1) << rule[i].reg;
	}
}

int rows_add(struct rows *t, const struct row_maker *m, uint32_t *id)
{
	union {
		struct row row;
		uint8_t bytes[sizeof(struct row) + sizeof(m->rule) + sizeof(m->bytes)];
	} u;
	size_t rules = m->nrules * sizeof(*m->rule);

	u.row = (struct row){.flags = m->flags | (is_plain(m) ? ROW_PLAIN : 0),
			     .nrules = m->nrules,
			     .ra = m->ra,
			     .cfa = m->cfa};
	if (u.row.flags & ROW_PLAIN)
		add_summary(&u.row, m->rule, m->nrules);
	memcpy(u.bytes + sizeof(struct row), m->rule, rules);
	memcpy(u.bytes + sizeof(struct row) + rules, m->bytes, m->nbytes);
	if (t->rows.n >= ROWS_MAX)
		return PP_ELIMIT;
	return intern_add(&t->rows, u.bytes, sizeof(struct row) + rules + m->nbytes, id, NULL);
}

void rows_release(struct rows *t)
{
	intern_release(&t->rows);
}
