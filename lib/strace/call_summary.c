/* The table of calls: how many, how many failed, and how long they took. */
#include "base/err.h"
#include "strace/parts.h"

static int make(struct strace *s)
{
	static const struct table_key keys[] = {
		{"call", TABLE_TEXT, 0}, {"comm", TABLE_TEXT, 0}, {"tid", TABLE_NUMBER, 0}};
	static const struct table_value values[] = {{"time", TABLE_SUM, "ns", 0},
						    {"errors", TABLE_COUNT, "", 0}};

	tables_init(&s->tables);
	return tables_add(&s->tables, "system calls", keys, s->o.by_thread ? 3 : 1, values, 2,
			  &s->table);
}

/* The row of a call; the one of a thread's calls is looked up each time. */
static int find_row(struct strace *s, const struct call *c, struct known_call *k, uint32_t *row)
{
	uint64_t key[3] = {0, 0, c->t->tid};
	size_t len;
	const char *name = strace_text(s, c->name, &len);
	int rc = table_text(s->table, name, len, &key[0]);

	if (!rc && s->o.by_thread) {
		name = strace_text(s, c->t->comm, &len);
		rc = table_text(s->table, name, len, &key[1]);
	}
	if (!rc)
		rc = table_row(s->table, key, row);
	if (!rc && !s->o.by_thread) {
		k->row = *row + 1;
		k->generation = s->table->generation;
	}
	return rc;
}

int strace_count(struct strace *s, const struct call *c, struct known_call *k)
{
	uint32_t row;
	int rc = s->table ? 0 : make(s);

	if (!rc && k->row && k->generation == s->table->generation)
		row = k->row - 1;
	else
		rc = rc ? rc : find_row(s, c, k, &row);
	if (!rc && c->begun && c->ended)
		rc = table_add(s->table, row, 0, (hist_int)(c->end - c->start), c->start);
	if (!rc && strace_failed(c))
		rc = table_add(s->table, row, 1, 0, 0);
	return rc;
}
