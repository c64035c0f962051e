/* A call as text, as tab-separated values, as JSON. */
#include "base/err.h"
#include "strace/parts.h"

#include <inttypes.h>

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

static void add_tsv(struct strace *s, const struct call *c, const struct known_call *k)
{
	size_t len, comm_len;
	const char *name = strace_text(s, c->name, &len);
	const char *comm = strace_text(s, c->t->comm, &comm_len);
	struct buf args, result;

	if (!s->begun)
		buf_adds(&s->b, "# start\tduration\tcomm\tpid\ttid\tcall\targuments\tresult\n");
	add_part(s, c, k, true, &args);
	add_part(s, c, k, false, &result);
	if (c->begun)
		buf_add_u64(&s->b, c->start, 0, ' ');
	buf_addc(&s->b, '\t');
	if (c->begun && c->ended)
		buf_add_u64(&s->b, c->end - c->start, 0, ' ');
	buf_addc(&s->b, '\t');
	table_add_escaped(&s->b, comm, comm_len, false);
	buf_addf(&s->b, "\t%u\t%u\t", c->t->pid, c->t->tid);
	table_add_escaped(&s->b, name, strlen(name), false);
	buf_addc(&s->b, '\t');
	table_add_escaped(&s->b, buf_str(&args), args.len, false);
	buf_addc(&s->b, '\t');
	table_add_escaped(&s->b, buf_str(&result), result.len, false);
	buf_addc(&s->b, '\n');
	buf_inherit(&s->b, &args);
	buf_inherit(&s->b, &result);
	buf_release(&args);
	buf_release(&result);
}

static void add_json(struct strace *s, const struct call *c, const struct known_call *k)
{
	size_t len, comm_len;
	const char *name = strace_text(s, c->name, &len);
	const char *comm = strace_text(s, c->t->comm, &comm_len);
	struct buf args, result;

	add_part(s, c, k, true, &args);
	add_part(s, c, k, false, &result);
	buf_adds(&s->b, "{");
	if (c->begun)
		buf_addf(&s->b, "\"start\":%" PRIu64 ",", c->start);
	if (c->begun && c->ended)
		buf_addf(&s->b, "\"duration\":%" PRIu64 ",", c->end - c->start);
	buf_adds(&s->b, "\"comm\":");
	buf_add_json(&s->b, comm, comm_len);
	buf_addf(&s->b, ",\"pid\":%u,\"tid\":%u,\"call\":", c->t->pid, c->t->tid);
	buf_add_json(&s->b, name, strlen(name));
	buf_adds(&s->b, ",\"arguments\":");
	buf_add_json(&s->b, buf_str(&args), args.len);
	if (c->ended)
		buf_addf(&s->b, ",\"ret\":%" PRId64, c->ret);
	buf_adds(&s->b, ",\"result\":");
	buf_add_json(&s->b, buf_str(&result), result.len);
	buf_adds(&s->b, "}\n");
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
	case STRACE_TSV: add_tsv(s, c, k); break;
	case STRACE_JSON: add_json(s, c, k); break;
	}
	s->begun = true;
	if (s->b.err || s->b.len < 32768)
		return s->b.err;
	if (out_add(&s->out, s->b.data, s->b.len))
		return s->out.err;
	buf_reset(&s->b);
	return 0;
}
