/*
 * Which function called which, at its place in the stack. Where calls come from several places of
 * one function, stacks that lead through them do not agree on addresses, yet on functions: the
 * caller is known, though not from where it calls.
 *
 * A function's place is the end of its frame. There is one caller for each, and that one's place is
 * known, too: so one step leads to the next. Stacks that were cut tell of the steps that they have.
 */
#include "resolve/resolve_parts.h"

#include "base/array.h"
#include "base/err.h"

#include <stdlib.h>

#define SEVERAL UINT32_MAX /* functions that call one */

static uint64_t place(uint32_t function, uint64_t cfa)
{
	return (cfa ^ (uint64_t)function << 40 ^ function) * UINT64_C(0x9e3779b97f4a7c15);
}

/* Frames without a symbol are each a function of their own. */
uint32_t resolve_function(const struct resolver *r, uint32_t frame)
{
	uint32_t v = 0, symbol;

	do {
		symbol = r->out.symbols[frame];
		v = v * 0x9e3779b1u + (symbol ? 2 * symbol : 2 * frame + 1);
	} while (r->out.lines && r->out.lines[frame++] & FRAME_INLINED);
	return v;
}

uint32_t callers_find(const struct callers *c, uint32_t function, uint64_t cfa)
{
	const uint32_t *at = map64_get(&c->places, place(function, cfa));

	return at && c->v[*at - 1].known ? *at : 0;
}

/* Where the function of an address begins. False: it is not known. */
static bool begin_of(struct resolver *r, const struct caller_space *space, uint64_t addr,
		     uint64_t *begin, int *rc)
{
	const struct map *map = space->sp ? space_find(space->sp, addr) : NULL;
	struct cfi_function f;
	struct symbol s;
	uint64_t vaddr;
	struct rdso *d;

	if (!map)
		return false;
	d = r->dsos.v[map->dso - 1];
	*rc = resolve_load(r, space->m, d);
	if (*rc || d->jit || resolve_vaddr(space->m, d, addr - map->start + map->pgoff, &vaddr))
		return false;
	if (!symtab_find(d->table, vaddr, &s)) {
		*begin = addr - (vaddr - s.start);
		return true;
	}
	if (!d->cfi || cfi_function(d->cfi, vaddr, &f))
		return false;
	*begin = addr - (vaddr - f.start);
	return true;
}

/* The caller at v calls from another place, too: what is left is its function. */
static int join(struct resolver *r, const struct caller_space *space, struct caller *v)
{
	uint64_t begin;
	uint32_t frame = 0;
	int rc = 0;

	if (resolve_chain_restarts(r, 1) || !begin_of(r, space, v->ip - !v->exact, &begin, &rc)) {
		v->unlike = true;
		return rc;
	}
	rc = resolve_frame(r, space->m, space->sp, begin, MODE_USER, false, &frame);
	v->ip = begin;
	v->frame = frame & ~FRAME_UNKNOWN;
	v->exact = v->several = true;
	v->unlike = !rc && resolve_function(r, v->frame) != v->function;
	return rc;
}

/* Which functions call one, wherever its frame is. */
static int count_callers(struct callers *c, uint32_t function, uint32_t by)
{
	uint32_t *of = map64_put(&c->of, function, NULL);

	if (!of)
		return PP_ENOMEM;
	by = by >> 1 | 1;
	*of = *of && *of != by ? SEVERAL : by;
	return 0;
}

uint32_t callers_place(struct callers *c, uint32_t function, uint64_t cfa)
{
	uint32_t *slot = map64_put(&c->places, place(function, cfa), NULL);
	struct caller *v;

	if (!slot || *slot)
		return slot ? *slot : 0;
	v = array_widen(c->v, &c->cap, c->n, 1024, sizeof(*v));
	if (!v)
		return 0;
	c->v = v;
	v[c->n++] = (struct caller){0};
	return *slot = c->n;
}

int callers_put(struct resolver *r, struct callers *c, const struct caller_space *space,
		uint32_t function, uint32_t at, const struct caller *caller)
{
	struct caller *v = &c->v[at - 1];

	if (v->unlike)
		return 0;
	if (!v->known) {
		*v = *caller;
		v->known = true;
		return count_callers(c, function, caller->function);
	}
	v->twice = true;
	if (v->function != caller->function || v->next != caller->next) {
		v->unlike = true;
		return count_callers(c, function, caller->function);
	}
	return v->several || (v->ip == caller->ip && v->exact == caller->exact) ? 0
										: join(r, space, v);
}

bool callers_sure(const struct callers *c, uint32_t function, uint32_t at)
{
	const uint32_t *of = map64_get(&c->of, function);
	bool sure = at && (c->v[at - 1].twice || (of && *of != SEVERAL));

	for (uint32_t n = 0; at && sure; at = c->v[at - 1].next)
		sure = c->v[at - 1].known && !c->v[at - 1].unlike && n++ < UNWIND_DEPTH_MAX;
	return sure;
}

bool callers_same(const struct callers *a, uint32_t at_a, const struct callers *b, uint32_t at_b)
{
	for (uint32_t n = 0; at_a && at_b && n < UNWIND_DEPTH_MAX; n++) {
		const struct caller *x = &a->v[at_a - 1], *y = &b->v[at_b - 1];

		if (x->function != y->function)
			return false;
		at_a = x->next;
		at_b = y->next;
	}
	return at_a == at_b;
}

void callers_release(struct callers *c)
{
	map64_release(&c->places);
	map64_release(&c->of);
	free(c->v);
	*c = (struct callers){0};
}
