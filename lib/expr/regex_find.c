/*
 * Where a regular expression matches: all instructions that could go on, side by side, each with
 * where its match began. Those that began earlier come first, so that what two of them reach is the
 * earlier one's; a byte costs as many steps as there are instructions, whatever the text.
 */
#include "base/err.h"
#include "expr/regex_parts.h"

#include <stdlib.h>
#include <string.h>

struct thread {
	uint32_t pc, start;
};

struct rx_find {
	struct thread *now, *next; /* ascending by start */
	uint16_t *stack;
	uint8_t *seen; /* by instruction: reached for this byte */
	uint32_t nnow, nnext;
	bool found;
	size_t start, end;
};

static struct rx_find *find_new(const struct rx *x)
{
	struct rx_find *f = calloc(1, sizeof(*f));

	if (!f)
		return NULL;
	f->now = calloc(x->ncode + 1u, sizeof(*f->now));
	f->next = calloc(x->ncode + 1u, sizeof(*f->next));
	f->stack = calloc(x->ncode + 1u, sizeof(*f->stack));
	f->seen = calloc(x->ncode + 1u, 1);
	if (f->now && f->next && f->stack && f->seen)
		return f;
	rx_find_free(f);
	return NULL;
}

void rx_find_free(struct rx_find *f)
{
	if (!f)
		return;
	free(f->now);
	free(f->next);
	free(f->stack);
	free(f->seen);
	free(f);
}

static void push(struct rx_find *f, uint32_t *n, uint32_t pc)
{
	if (f->seen[pc])
		return;
	f->seen[pc] = 1;
	f->stack[(*n)++] = (uint16_t)pc;
}

/* All that a thread leads to without a byte, and what goes on after byte c at `at`. */
static void follow(struct rx *x, struct thread t, enum rx_before before, int c, size_t at)
{
	struct rx_find *f = x->find;
	uint32_t n = 0;

	push(f, &n, t.pc);
	while (n) {
		uint32_t pc = f->stack[--n];
		const struct rx_insn *i = &x->code[pc];

		switch (i->op) {
		case RX_MATCH:
			if (!f->found || t.start <= f->start) {
				f->found = true;
				f->start = t.start;
				f->end = at;
			}
			break;
		case RX_JUMP: push(f, &n, i->a); break;
		case RX_SPLIT:
			push(f, &n, i->a);
			push(f, &n, i->b);
			break;
		case RX_ASSERT:
			if (rx_holds((enum rx_assert)i->a, before, c))
				push(f, &n, pc + 1);
			break;
		default:
			if (c >= 0 && rx_set_has(&x->sets[i->a], (unsigned char)c))
				f->next[f->nnext++] = (struct thread){pc + 1, t.start};
		}
	}
}

bool rx_find(struct rx *x, const char *text, size_t len, size_t from, size_t *steps, size_t *start,
	     size_t *end)
{
	struct rx_find *f = x->find;

	if (!f)
		f = x->find = find_new(x);
	if (!f) {
		*steps = 0;
		return false;
	}
	f->nnow = 0;
	f->found = false;
	for (size_t at = from; at <= len; at++) {
		int c = at < len ? (unsigned char)text[at] : -1;
		enum rx_before before =
			at ? rx_before_of((unsigned char)text[at - 1]) : RX_AT_BEGIN;
		struct thread *other = f->now;

		if (!*steps)
			return false;
		--*steps;
		memset(f->seen, 0, x->ncode);
		f->nnext = 0;
		/* Those that began after a match do not count any more. */
		for (uint32_t i = 0; i < f->nnow; i++)
			if (!f->found || f->now[i].start <= f->start)
				follow(x, f->now[i], before, c, at);
		if (!f->found)
			follow(x, (struct thread){0, (uint32_t)at}, before, c, at);
		f->now = f->next;
		f->nnow = f->nnext;
		f->next = other;
		if (f->found && !f->nnow)
			break;
	}
	*start = f->start;
	*end = f->end;
	return f->found;
}
