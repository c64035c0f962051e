/* A call as text, as tab-separated values, as JSON. */
#include "base/err.h"
#include "strace/parts.h"

#include <inttypes.h>

/* ---- the table of calls ---- */

int strace_make_table(struct strace *s)
{
	static const struct table_key keys[] = {
		{"call", TABLE_TEXT, 0}, {"comm", TABLE_TEXT, 0}, {"tid", TABLE_NUMBER, 0}};
	static const struct table_value values[] = {{"time", TABLE_SUM, "ns", 0},
						    {"errors", TABLE_COUNT, "", 0}};

	int rc = tables_add(&s->tables, "system calls", keys, s->o.by_thread ? 3 : 1, values, 2,
			    &s->table);

	if (rc)
		diag_error(s->d, NULL, -1, "%s", pp_strerror(rc));
	rc = rc ? rc : gates_new(&s->gates, &s->o.table.gates, s->d);
	return rc ? rc : gates_check(s->gates, &s->tables);
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

static int strace_count(struct strace *s, const struct call *c, struct known_call *k)
{
	uint32_t row;
	int rc = 0;

	if (k->row && k->generation == s->table->generation)
		row = k->row - 1;
	else
		rc = find_row(s, c, k, &row);
	if (!rc && c->begun && c->ended)
		rc = table_add(s->table, row, 0, (hist_int)(c->end - c->start), c->start);
	if (!rc && strace_failed(c))
		rc = table_add(s->table, row, 1, 0, 0);
	return rc;
}

/* ---- the calls ---- */

/* ns as milliseconds with three decimals. */
static void add_ms(struct buf *b, uint64_t ns, int width)
{
	uint64_t us = ns / 1000 + (ns % 1000 >= 500);

	buf_add_u64(b, us / 1000, width, ' ');
	buf_addc(b, '.');
	buf_add_u64(b, us % 1000, 3, '0');
}

static void add_text(struct strace *s, const struct call *c, const struct known_call *k)
{
	size_t len, comm_len;
	const char *name = strace_text(s, c->name, &len);
	const char *comm = strace_text(s, c->t->comm, &comm_len);
	struct buf *b = &s->b;

	if (c->begun)
		add_ms(b, c->start - s->base, 6);
	else
		buf_adds(b, "         ?");
	if (c->begun && c->ended) {
		buf_adds(b, " (");
		add_ms(b, c->end - c->start, 5);
		buf_adds(b, " ms) ");
	} else {
		buf_adds(b, " (            ) ");
	}
	buf_add_safe(b, comm, comm_len);
	buf_addc(b, '/');
	buf_add_u64(b, c->t->tid, 0, ' ');
	buf_addc(b, ' ');
	buf_add_safe(b, name, len);
	buf_addc(b, '(');
	if (c->begun)
		strace_add_args(s, c, k, true);
	else
		buf_adds(b, "...");
	buf_adds(b, ") = ");
	strace_add_result(s, c, k);
	buf_addc(b, '\n');
}

/* The arguments and the result as one text each, in scratch. */
static void add_part(struct strace *s, const struct call *c, const struct known_call *k, bool args,
		     struct buf *part)
{
	struct buf kept = s->b;

	s->b = (struct buf)BUF_INIT;
	if (args)
		strace_add_args(s, c, k, true);
	else
		strace_add_result(s, c, k);
	*part = s->b;
	s->b = kept;
}

static void add_record(struct strace *s, const struct call *c, const struct known_call *k)
{
	static const struct record_column columns[] = {
		{"start"},     {"duration"},	      {"comm"},	  {"pid"}, {"tid"}, {"call"},
		{"arguments"}, {"ret", .json = true}, {"result"}, {0}};
	struct records r = {.columns = columns, .b = &s->b, .exact = true};
	size_t len, comm_len;
	const char *name = strace_text(s, c->name, &len);
	const char *comm = strace_text(s, c->t->comm, &comm_len);
	struct buf args, result;

	r.form = s->o.form == STRACE_JSON ? TABLE_FORM_JSON : TABLE_FORM_TSV;
	if (!s->begun)
		records_titles(&r, "# start");
	add_part(s, c, k, true, &args);
	add_part(s, c, k, false, &result);
	if (c->begun)
		record_u64(&r, c->start);
	else
		record_none(&r);
	if (c->begun && c->ended)
		record_u64(&r, c->end - c->start);
	else
		record_none(&r);
	record_text(&r, comm, comm_len);
	record_u64(&r, c->t->pid);
	record_u64(&r, c->t->tid);
	record_text(&r, name, len);
	record_text(&r, buf_str(&args), args.len);
	if (c->ended)
		record_number(&r, "%" PRId64, c->ret);
	else
		record_none(&r);
	record_text(&r, buf_str(&result), result.len);
	record_end(&r);
	buf_inherit(&s->b, &args);
	buf_inherit(&s->b, &result);
	buf_release(&args);
	buf_release(&result);
}

int strace_write(struct strace *s, const struct call *c)
{
	struct known_call *k = strace_known(s, c->name);

	if (!k)
		return PP_ENOMEM;
	s->account.calls++;
	if ((s->o.calls && !strace_wants(s, c->name)) || (s->o.failed && !strace_failed(c)) ||
	    (s->o.slower && (!c->begun || !c->ended || c->end - c->start < s->o.slower))) {
		s->account.filtered++;
		return 0;
	}
	s->account.shown++;
	if (s->o.summary)
		return strace_count(s, c, k);
	switch (s->o.form) {
	case STRACE_TEXT: add_text(s, c, k); break;
	case STRACE_LINES: strace_line_end(s, c, k); break;
	case STRACE_TSV:
	case STRACE_JSON: add_record(s, c, k); break;
	}
	s->begun = true;
	if (s->b.err || s->b.len < 32768)
		return s->b.err;
	if (out_add(&s->out, s->b.data, s->b.len))
		return s->out.err;
	buf_reset(&s->b);
	return 0;
}
