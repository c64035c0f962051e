/* The walk from frame to frame. */
#include "unwind/unwind.h"

#include "base/err.h"
#include "unwind/walk.h"

#include <stdlib.h>

#define CACHE	  32768 /* addresses whose rows are remembered, a power of two */
#define LED	  1024	/* calls that are known to lead, or not to, likewise */
#define PLACES	  8	/* mappings that are, likewise */
#define STILL_MAX 2	/* frames in a row that may not move the stack pointer */

/* The row of an address of a module. */
struct cached {
	uint64_t vaddr;
	const struct cfi *cfi; /* NULL: unused */
	const struct row *row;
};

/* A mapping of a module. */
struct recent {
	uint64_t start, len; /* len 0: unused */
	uint64_t bias;	     /* address less vaddr */
	struct cfi *cfi;
};

/* Whether the call before pc can have led to code without a table. */
struct led {
	const struct cfi *cfi; /* NULL: unused */
	uint64_t vaddr, pc;
	uint32_t space;
	bool is;
};

struct unwinder {
	unwind_find_fn find;
	void *ctx;
	struct rows *rows;
	struct cached cache[CACHE];
	struct led led[LED];
	/* Of the address space `space`. */
	struct recent places[PLACES];
	unsigned last; /* the one that was used last */
	uint64_t ips[UNWIND_DEPTH_MAX], sps[UNWIND_DEPTH_MAX];
	bool exact[UNWIND_DEPTH_MAX];
	uint32_t space;
	struct unwind_state state;
};

int unwinder_new(struct unwinder **out, struct rows *rows, unwind_find_fn find, void *ctx)
{
	struct unwinder *u = calloc(1, sizeof(*u));

	*out = u;
	if (!u)
		return PP_ENOMEM;
	u->find = find;
	u->ctx = ctx;
	u->rows = rows;
	return 0;
}

void unwinder_free(struct unwinder *u)
{
	free(u);
}

static void forget_places(struct unwinder *u)
{
	memset(u->places, 0, sizeof(u->places));
}

void unwinder_forget(struct unwinder *u)
{
	memset(u->cache, 0, sizeof(u->cache));
	memset(u->led, 0, sizeof(u->led));
	forget_places(u);
}

/* The module of an address that is in none of the recent mappings; NULL: it has no tables. */
static int find_module(struct walk *w, uint64_t addr, const struct recent **found)
{
	struct unwinder *u = w->u;
	struct unwind_place place;
	struct recent *r;
	int rc = walk_find(w, addr, &place);

	*found = NULL;
	if (rc || !place.cfi || cfi_machine(place.cfi) != w->arch->machine)
		return rc;
	u->last = (u->last + 1) % PLACES;
	*found = r = &u->places[u->last];
	*r = (struct recent){addr, 1, addr - place.vaddr, place.cfi};
	if (addr - place.start < place.len) {
		r->start = place.start;
		r->len = place.len;
	}
	return 0;
}

/* Likewise, of any address. */
static inline int module_of(struct walk *w, uint64_t addr, const struct recent **found)
{
	struct unwinder *u = w->u;

	for (unsigned i = 0; i < PLACES; i++) {
		/* A function is called by one of its own module more often than not. */
		unsigned at = (u->last + i) % PLACES;

		if (addr - u->places[at].start < u->places[at].len) {
			u->last = at;
			*found = &u->places[at];
			return 0;
		}
	}
	return find_module(w, addr, found);
}

static int find_row(struct unwinder *u, struct cfi *cfi, uint64_t vaddr, struct cached *slot)
{
	uint32_t row;
	int rc = cfi_row(cfi, vaddr, &row);

	if (!rc)
		*slot = (struct cached){vaddr, cfi, rows_get(u->rows, row)};
	return rc;
}

/* The row of an address; NULL: there is no table. */
static inline int row_of(struct walk *w, uint64_t addr, const struct row **row)
{
	struct unwinder *u = w->u;
	const struct recent *in;
	struct cached *c;
	uint64_t vaddr, hash;
	int rc = module_of(w, addr, &in);

	*row = NULL;
	if (rc || !in)
		return rc;
	vaddr = addr - in->bias;
	hash = (vaddr ^ (uintptr_t)in->cfi) * UINT64_C(0x9e3779b97f4a7c15);
	c = &u->cache[hash >> 49 & (CACHE - 1)];
	if (c->vaddr != vaddr || c->cfi != in->cfi) {
		rc = find_row(u, in->cfi, vaddr, c);
		if (rc)
			return rc;
	}
	*row = c->row;
	return 0;
}

/* ---- one step ---- */

/*
 * Takes all registers of a plain row, as nearly every step of a 64-bit machine can. False: not all
 * of them are in the copy.
 */
static inline bool take_all(struct walk *w, const struct row *row, uint64_t cfa)
{
	uint64_t at = cfa + (uint64_t)(int64_t)row->low - w->base;
	uint64_t span = (uint64_t)((int64_t)row->high - row->low) + 8;

	if (w->arch->width != 8 || w->swap || span > w->len || at > w->len - span)
		return false;
	for (unsigned i = 0; i < row->nrules; i++)
		memcpy(&w->reg[row->rule[i].reg],
		       w->stack + at + (uint32_t)(row->rule[i].value - row->low), 8);
	w->known |= row->sets;
	return true;
}

/* Where the registers of most functions are. The new values do not depend on the old ones. */
static enum unwind_end step_plain(struct walk *w, const struct row *row, uint64_t *cfa)
{
	unsigned width = w->arch->width;

	if (!walk_knows(w, row->cfa.reg))
		return UNWIND_REGISTERS;
	*cfa = w->reg[row->cfa.reg] + (uint64_t)(int64_t)row->cfa.value;
	if (take_all(w, row, *cfa))
		return UNWIND_NONE;
	/* If the return address cannot be had, nothing is taken: another walk may go on. */
	for (unsigned i = 0; i < row->nrules; i++) {
		uint64_t at = *cfa + (uint64_t)(int64_t)row->rule[i].value;

		if (row->rule[i].reg == row->ra && !walk_has(w, at, width))
			return walk_outside(w, at);
	}
	for (unsigned i = 0; i < row->nrules; i++) {
		const struct row_rule *r = &row->rule[i];
		uint64_t at = *cfa + (uint64_t)(int64_t)r->value;

		if (walk_has(w, at, width))
			walk_set(w, r->reg, walk_load(w, at, width));
		else if (at >= w->floor) /* below is what was popped: the register has it again */
			w->known &= ~(UINT64_C(1) << r->reg);
	}
	return UNWIND_NONE;
}

static bool has_rule(const struct row *row, unsigned reg)
{
	for (unsigned i = 0; i < row->nrules; i++)
		if (row->rule[i].reg == reg && row->rule[i].how != ROW_SAME)
			return true;
	return false;
}

/* To the caller by a row. UNWIND_NONE: there is one. */
static enum unwind_end step(struct walk *w, const struct row *row, unsigned *still, int *rc)
{
	uint64_t sp = w->reg[w->arch->sp], pc = w->pc, cfa = 0;
	bool first = w->exact, is_signal = row->flags & ROW_SIGNAL;
	enum unwind_end end =
		row->flags & ROW_PLAIN ? step_plain(w, row, &cfa) : walk_complex(w, row, &cfa, rc);

	if (end || *rc) {
		w->cfa = cfa;
		return end;
	}
	if (!(row->flags & ROW_SIGNAL) && cfa < sp)
		return UNWIND_OTHER_STACK;
	if (row->flags & ROW_PLAIN || !has_rule(row, w->arch->sp))
		walk_set(w, w->arch->sp, cfa);
	/*
	 * A return address that stayed in its register is that of a function which calls nothing.
	 */
	if (!walk_knows(w, row->ra))
		return UNWIND_REGISTERS;
	w->pc = w->reg[row->ra] & w->arch->pc_mask;
	*still = w->reg[w->arch->sp] > sp || is_signal ? 0 : *still + 1;
	if (*still > STILL_MAX || (w->pc == pc && !first && !has_rule(row, row->ra)))
		return UNWIND_LOOP;
	w->exact = is_signal;
	return UNWIND_NONE;
}

/* Whether the call before w->pc can have led to the code at `place`, as it is or was found to. */
static bool led(struct walk *w, const struct unwind_place *place, int *rc)
{
	uint64_t hash = (w->pc ^ place->vaddr << 20) * UINT64_C(0x9e3779b97f4a7c15);
	struct led *c = &w->u->led[hash >> 54 & (LED - 1)];

	if (c->cfi != place->cfi || c->vaddr != place->vaddr || c->pc != w->pc ||
	    c->space != w->u->space)
		*c = (struct led){place->cfi, place->vaddr, w->pc, w->u->space,
				  walk_leads(w, place, w->pc, rc)};
	return c->is;
}

/*
 * Generated code that is jumped to can push the address itself that is to be its return address,
 * as HotSpot's handler of exceptions does: then the frame is a word smaller than its row says.
 */
static bool pushed_return(struct walk *w, int *rc)
{
	const struct unwind_arch *a = w->arch;
	uint64_t sp = w->reg[a->sp] - a->width, pc;

	if (!walk_has(w, sp - a->width, a->width))
		return false;
	pc = walk_load(w, sp - a->width, a->width) & a->pc_mask;
	if (!walk_is_return(w, pc, true, rc))
		return false;
	walk_set(w, a->sp, sp);
	walk_set(w, a->ra, pc);
	w->pc = pc;
	return true;
}

/* By a row that was made from code. */
static enum unwind_end step_code(struct walk *w, const struct row *row, unsigned *still, int *rc)
{
	struct unwind_place place;
	enum unwind_end end;

	if (row->flags & ROW_OUTERMOST)
		return UNWIND_OUTERMOST;
	*rc = walk_find(w, walk_addr(w), &place);
	end = *rc ? UNWIND_NONE : step(w, row, still, rc);
	if (end || *rc)
		return end;
	if (place.changes)
		return walk_is_return(w, w->pc, true, rc) || *rc || pushed_return(w, rc) || *rc
			       ? UNWIND_NONE
			       : UNWIND_GENERATED;
	return led(w, &place, rc) || *rc || walk_at_sigreturn(w, rc) || *rc ? UNWIND_NONE
									    : UNWIND_NO_CFI;
}

/* Where there is no row: a guess, or the end. */
static enum unwind_end step_without(struct walk *w, const struct row *row, bool *guessed, int *rc)
{
	struct unwind_place place;
	bool entry;

	*rc = walk_find(w, walk_addr(w), &place);
	if (*rc)
		return UNWIND_NONE;
	if (row && row->flags & ROW_DAMAGED)
		return UNWIND_DAMAGED;
	if (place.cfi && ((*rc = cfi_is_entry(place.cfi, place.vaddr, &entry)) || entry))
		return UNWIND_OUTERMOST;
	if (walk_guess(w, &place, rc)) {
		*guessed = true;
		return UNWIND_NONE;
	}
	return place.cfi && !place.unseen && !place.changes ? UNWIND_NO_CFI : place.why;
}

/*
 * Whether the walk came to where a coroutine or a fiber began: what made its stack put an address
 * there to which no call returns, the beginning of some code. Only after a step that a table told:
 * in what is left of other frames, there are addresses of functions, too.
 */
static bool at_context(struct walk *w, const struct unwind_result *res, int *rc)
{
	struct unwind_place place;
	const struct row *row;
	bool is = false;

	if (w->exact || res->n < 2 || !w->pc)
		return false;
	*rc = row_of(w, res->ips[res->n - 2] - !res->exact[res->n - 2], &row);
	if (*rc || !row || row->flags & (ROW_NONE | ROW_CODE) || walk_is_return(w, w->pc, true, rc))
		return false;
	if (!*rc)
		*rc = walk_find(w, w->pc, &place);
	if (!*rc && place.cfi && !place.unseen)
		*rc = cfi_is_begin(place.cfi, place.vaddr, &is);
	return is;
}

/* Where no table has a row. */
static enum unwind_end step_other(struct walk *w, const struct row *row, unsigned *still,
				  struct unwind_result *res, int *rc)
{
	bool handler = !w->exact && row && walk_signal(w, rc);
	bool context = !handler && !*rc && at_context(w, res, rc);

	if (*rc)
		return UNWIND_NONE;
	if (context) {
		w->u->exact[res->n - 1] = true;
		return UNWIND_OUTERMOST;
	}
	if (handler) {
		w->u->exact[res->n - 1] = true;
		*still = 0;
		return UNWIND_NONE;
	}
	return row && row->flags & ROW_CODE ? step_code(w, row, still, rc)
					    : step_without(w, row, &res->guessed, rc);
}

/* At a start, or in a function that changes stacks: on only before it has called anything. */
static enum unwind_end step_special(struct walk *w, const struct row *row, unsigned *still, int *rc)
{
	if (row->flags & ROW_OUTERMOST)
		return UNWIND_OUTERMOST;
	if (w->exact)
		return step(w, row, still, rc);
	return row->flags & ROW_TOP ? UNWIND_OUTERMOST : UNWIND_OTHER_STACK;
}

static int walk(struct walk *w, struct unwind_result *res)
{
	struct unwinder *u = w->u;
	unsigned still = 0;
	int rc = 0;

	while (!res->end) {
		const struct row *row;

		/* What was interrupted after a call of address 0 is no function. */
		if (w->pc || !res->n) {
			u->ips[res->n] = w->pc;
			u->sps[res->n] = w->reg[w->arch->sp];
			u->exact[res->n++] = w->exact;
		}
		rc = row_of(w, walk_addr(w), &row);
		if (rc)
			return rc;
		/* No call leads to what a handler returns to. */
		if (row && row->flags & ROW_SIGNAL)
			u->exact[res->n - 1] = true;
		if (res->n == UNWIND_DEPTH_MAX)
			res->end = UNWIND_DEPTH;
		else if (!row || row->flags & (ROW_NONE | ROW_CODE))
			res->end = step_other(w, row, &still, res, &rc);
		else if (row->flags & (ROW_OUTERMOST | ROW_TOP | ROW_LEAVES))
			res->end = step_special(w, row, &still, &rc);
		else
			res->end = step(w, row, &still, &rc);
		if (rc)
			return rc;
		/* Runtimes end their stacks with a return address of 0. */
		if (!res->end && !w->pc && !w->exact)
			res->end = UNWIND_OUTERMOST;
	}
	return 0;
}

/* The registers of a sample. False: one without which nothing can be done is missing. */
static bool take_registers(struct walk *w, const struct unwind_sample *s)
{
	const struct unwind_arch *a = s->arch;
	const uint64_t *v = s->regs;
	bool pc = false;

	for (unsigned i = 0; i < 64 && s->mask >> i; i++) {
		if (!(s->mask >> i & 1))
			continue;
		if (i == a->pc) {
			w->pc = *v & a->pc_mask;
			pc = true;
		}
		if (i < a->nperf && a->dwarf[i] >= 0)
			walk_set(w, (unsigned)a->dwarf[i], *v);
		v++;
	}
	return pc && walk_knows(w, a->sp);
}

/* Keeps where the walk needed more than its copy. Registers are saved near the frame's end. */
static const struct unwind_state *keep_state(const struct walk *w)
{
	struct unwind_state *s = &w->u->state;
	uint64_t end = w->base + w->len, sp = w->reg[w->arch->sp];

	*s = (struct unwind_state){
		.known = w->known, .pc = w->pc, .floor = w->floor, .base = sp, .exact = w->exact};
	memcpy(s->reg, w->reg, sizeof(s->reg));
	if (sp < w->base || sp > end)
		return NULL;
	if (end - sp > UNWIND_TAIL_MAX)
		s->base = end - UNWIND_TAIL_MAX;
	return s;
}

static void take_state(struct walk *w, const struct unwind_state *s)
{
	memcpy(w->reg, s->reg, sizeof(w->reg));
	w->known = s->known;
	w->pc = s->pc;
	w->exact = s->exact;
	w->base = s->base;
	w->floor = s->floor;
}

int unwinder_run(struct unwinder *u, const struct unwind_sample *s, struct unwind_result *res)
{
	struct walk w;
	int rc;

	w.arch = s->arch;
	w.known = 0;
	w.pc = 0;
	w.exact = true;
	w.stack = s->stack;
	w.len = s->len;
	w.swap = s->swap;
	w.cut = s->cut;
	w.cfa = 0;
	w.beyond = s->beyond;
	w.find = u->find;
	w.ctx = u->ctx;
	w.u = u;
	*res = (struct unwind_result){.ips = u->ips, .sps = u->sps, .exact = u->exact};
	memset(w.reg, 0, sizeof(w.reg));
	if (u->space != s->space)
		forget_places(u);
	u->space = s->space;
	if (s->from) {
		take_state(&w, s->from);
	} else if (take_registers(&w, s)) {
		w.base = w.floor = w.reg[s->arch->sp];
	} else {
		res->end = UNWIND_REGISTERS;
		return 0;
	}
	/* The copy does not reach around the end of the address space. */
	if (w.len > UINT64_MAX - w.base)
		w.len = UINT64_MAX - w.base;
	rc = walk(&w, res);
	if (!rc && (res->end == UNWIND_COPY || res->end == UNWIND_NOT_THERE)) {
		res->state = keep_state(&w);
		res->cfa = w.cfa;
	}
	return rc;
}
