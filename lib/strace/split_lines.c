/*
 * The lines of --strace: a call that another thread's interrupts is two of them, where it began and
 * where it ended.
 */
#include "strace/parts.h"

/* The thread, and a time in seconds with six decimals. */
static void add_head(struct strace *s, uint32_t tid, uint64_t time)
{
	uint64_t us = time / 1000;

	buf_addf(&s->b, "%-5u ", tid);
	buf_add_u64(&s->b, us / 1000000, 0, ' ');
	buf_addc(&s->b, '.');
	buf_add_u64(&s->b, us % 1000000, 6, '0');
	buf_addc(&s->b, ' ');
}

static void add_name(struct strace *s, uint32_t name)
{
	size_t len;
	const char *text = strace_text(s, name, &len);

	buf_add_safe(&s->b, text, len);
}

static void add_beginning(struct strace *s, const struct call *c, const struct known_call *k)
{
	add_head(s, c->t->tid, c->start);
	add_name(s, c->name);
	buf_addc(&s->b, '(');
	if (c->begun)
		strace_add_args(s, c, k, false);
	else
		buf_adds(&s->b, "...");
}

/* The call that began last is interrupted. */
static void interrupt(struct strace *s)
{
	struct thread *t = s->begun_line ? &s->threads[s->begun_line - 1] : NULL;
	struct call c;
	const struct known_call *k;

	s->begun_line = 0;
	if (!t || !t->call)
		return;
	c = (struct call){.t = t, .name = t->call, .start = t->start, .begun = true};
	k = strace_known(s, t->call);
	if (!k)
		return;
	add_beginning(s, &c, k);
	buf_adds(&s->b, " <unfinished ...>\n");
	t->split = true;
}

void strace_line_begin(struct strace *s, struct thread *t)
{
	interrupt(s);
	/* Whether it is to be written has to be known now. */
	if (!s->o.failed && !s->o.slower && t->mark == PS_MARK_PASS &&
	    (!s->o.calls || strace_wants(s, t->call)))
		s->begun_line = (uint32_t)(t - s->threads) + 1;
}

void strace_line_end(struct strace *s, const struct call *c, const struct known_call *k)
{
	uint64_t us = (c->end - c->start) / 1000;

	if (s->begun_line && &s->threads[s->begun_line - 1] == c->t)
		s->begun_line = 0;
	else
		interrupt(s);
	if (c->t->split && c->begun) {
		add_head(s, c->t->tid, c->ended ? c->end : c->start);
		buf_adds(&s->b, "<... ");
		add_name(s, c->name);
		buf_adds(&s->b, " resumed>");
	} else {
		add_beginning(s, c, k);
	}
	buf_adds(&s->b, ") = ");
	strace_add_result(s, c, k);
	if (c->begun && c->ended) {
		buf_adds(&s->b, " <");
		buf_add_u64(&s->b, us / 1000000, 0, ' ');
		buf_addc(&s->b, '.');
		buf_add_u64(&s->b, us % 1000000, 6, '0');
		buf_addc(&s->b, '>');
	}
	buf_addc(&s->b, '\n');
}
