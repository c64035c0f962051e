/* What the instructions of a function do to its frame, along all branches. */
#include "unwind/code_parts.h"

#include "base/array.h"
#include "base/err.h"

#include <stdlib.h>
#include <string.h>

#define AGAIN_MAX     64 /* times that a function is followed from its beginning */
#define WORK_EACH     64 /* steps for each instruction, in the mean: compilers' code takes two */
#define BODIES_MAX    16 /* different frames that are counted at its calls */
#define COMPUTED_BACK 48 /* instructions before a jump in which its target is put together */

struct code_insn *code_add(struct code_insns *t, uint32_t at, uint8_t size)
{
	struct code_insn *v = array_widen(t->v, &t->cap, t->n, 256, sizeof(*v));

	if (!v)
		return NULL;
	t->v = v;
	v[t->n] = (struct code_insn){.at = at,
				     .size = size,
				     .equal = CODE_NO_REG,
				     .lea = CODE_NO_REG,
				     .summed = CODE_NO_REG,
				     .via = CODE_NO_REG,
				     .indexed = CODE_NO_REG};
	return &v[t->n++];
}

/* ---- a step ---- */

static bool on_stack(struct code_value v)
{
	return v.kind == CODE_CFA || v.kind == CODE_ROUND;
}

static struct code_value plus(struct code_value v, int64_t n)
{
	int64_t sum = v.off + n;

	if ((!on_stack(v) && v.kind != CODE_NUMBER) || sum != (int32_t)sum)
		return (struct code_value){0};
	v.off = (int32_t)sum;
	return v;
}

static struct code_slot *slot_at(struct code_state *s, struct code_value at)
{
	for (unsigned i = 0; i < s->nslots; i++)
		if (s->slot[i].kind == at.kind && s->slot[i].off == at.off)
			return &s->slot[i];
	return NULL;
}

static void drop_slot(struct code_state *s, struct code_slot *slot)
{
	*slot = s->slot[--s->nslots];
}

static void store(struct code_state *s, struct code_value at, struct code_value v)
{
	struct code_slot *slot = slot_at(s, at);

	if (!on_stack(at))
		return;
	/* Numbers and what is not known need not be found again. */
	if (v.kind == CODE_UNKNOWN || v.kind == CODE_NUMBER) {
		if (slot)
			drop_slot(s, slot);
		return;
	}
	if (!slot && s->nslots == CODE_SLOTS)
		return;
	if (!slot)
		slot = &s->slot[s->nslots++];
	*slot = (struct code_slot){at.kind, at.off, v};
}

/*
 * The stack pointer, or a copy of it, is aligned, or a number is taken from it that is not known:
 * places are counted from there on.
 */
static void align(struct code_state *s, unsigned dst)
{
	if (!on_stack(s->reg[dst])) {
		s->reg[dst].kind = CODE_UNKNOWN;
		return;
	}
	for (unsigned i = 0; i < CODE_REGS; i++)
		if (s->reg[i].kind == CODE_ROUND)
			s->reg[i].kind = CODE_UNKNOWN;
	for (unsigned i = 0; i < s->nslots;)
		if (s->slot[i].kind == CODE_ROUND || s->slot[i].value.kind == CODE_ROUND)
			drop_slot(s, &s->slot[i]);
		else
			i++;
	s->reg[dst] = (struct code_value){.kind = CODE_ROUND};
}

static void take_step(struct code_state *s, const struct code_step *t)
{
	struct code_value *dst = &s->reg[t->dst], src = {0};
	struct code_slot *slot;

	if (t->src < CODE_REGS)
		src = s->reg[t->src];
	switch (t->op) {
	case CODE_MOVE: *dst = src; break;
	case CODE_ADD: *dst = plus(src, t->number); break;
	case CODE_PLUS:
		*dst = src.kind == CODE_NUMBER ? plus(*dst, src.off) : (struct code_value){0};
		break;
	case CODE_MINUS:
		if (src.kind == CODE_NUMBER)
			*dst = plus(*dst, -(int64_t)src.off);
		else
			align(s, t->dst);
		break;
	case CODE_ALIGN: align(s, t->dst); break;
	case CODE_SET: *dst = (struct code_value){.kind = CODE_NUMBER, .off = t->number}; break;
	case CODE_LOAD:
		slot = slot_at(s, plus(src, t->number));
		*dst = slot && on_stack(src) ? slot->value : (struct code_value){0};
		break;
	case CODE_STORE: store(s, plus(*dst, t->number), src); break;
	}
}

/* What is below the stack pointer is lost to whom is called. */
static void call(const struct code_machine *m, struct code_state *s)
{
	struct code_value sp = s->reg[m->sp];

	for (unsigned r = 0; r < CODE_REGS; r++)
		if (m->killed >> r & 1)
			s->reg[r].kind = CODE_UNKNOWN;
	for (unsigned i = 0; i < s->nslots;)
		if (s->slot[i].kind == sp.kind && s->slot[i].off < sp.off)
			drop_slot(s, &s->slot[i]);
		else
			i++;
}

void code_apply(const struct code_flow *w, const struct code_insn *i, struct code_state *s)
{
	for (unsigned k = 0; k < i->nsteps; k++)
		take_step(s, &i->step[k]);
	for (unsigned r = 0; i->kills >> r; r++)
		if (i->kills >> r & 1)
			s->reg[r].kind = CODE_UNKNOWN;
	if (i->flow == CODE_CALL)
		call(w->m, s);
}

/* ---- where paths meet ---- */

/* What both have in common, in a. Whether that is less than it had. */
static bool meet(struct code_state *a, const struct code_state *b)
{
	bool less = false;

	for (unsigned r = 0; r < CODE_REGS; r++)
		if (a->reg[r].kind != CODE_UNKNOWN && !code_same(a->reg[r], b->reg[r])) {
			a->reg[r].kind = CODE_UNKNOWN;
			less = true;
		}
	for (unsigned i = 0; i < a->nslots;) {
		struct code_slot *slot = &a->slot[i];
		bool same = false;

		for (unsigned k = 0; k < b->nslots && !same; k++)
			same = b->slot[k].kind == slot->kind && b->slot[k].off == slot->off &&
			       code_same(b->slot[k].value, slot->value);
		if (same) {
			i++;
		} else {
			drop_slot(a, slot);
			less = true;
		}
	}
	return less;
}

static void queue(struct code_flow *w, uint32_t at)
{
	if (w->mark[at] & CODE_QUEUED)
		return;
	w->mark[at] |= CODE_QUEUED;
	w->work[w->nwork++] = at;
}

/*
 * A path comes to an instruction; `called`: right after that call, + 1. A call after which another
 * frame is taken for granted by code that branches lead to does not return.
 */
static int arrive(struct code_flow *w, uint32_t at, const struct code_state *s, uint32_t called)
{
	struct code_state *old = w->state[at];
	unsigned sp = w->m->sp;

	if (!old) {
		if (w->soft && w->mark[at] & CODE_SEEN)
			return 0;
		old = w->state[at] = malloc(sizeof(*old));
		if (!old)
			return PP_ENOMEM;
		*old = *s;
		w->came[at] = called;
		queue(w, at);
		return 0;
	}
	if (w->soft && !(w->mark[at] & CODE_QUEUED))
		return 0;
	if (!code_same(old->reg[sp], s->reg[sp]) && called != w->came[at] &&
	    (called || w->came[at])) {
		uint32_t wrong = called ? called : w->came[at];

		w->insns.v[wrong - 1].noreturn = true;
		w->again |= !called;
		return 0;
	}
	if (!called)
		w->came[at] = 0;
	if (meet(old, s))
		queue(w, at);
	return 0;
}

static uint32_t index_of(const struct code_flow *w, uint64_t target)
{
	uint64_t at = target - w->f->start;

	return at < w->f->len ? w->index[at] : 0;
}

static bool writes(const struct code_insn *insn, unsigned reg)
{
	for (unsigned i = 0; i < insn->nsteps; i++)
		if (insn->step[i].dst == reg && insn->step[i].op != CODE_STORE)
			return true;
	return insn->kills >> reg & 1;
}

/* Whether a jump goes to a sum: of a table's base and an entry. To other functions, none does. */
static bool is_computed(const struct code_flow *w, uint32_t jump)
{
	const struct code_insn *v = w->insns.v;
	unsigned via = v[jump].via;

	for (uint32_t i = jump; via < CODE_REGS && i-- > 0 && jump - i < COMPUTED_BACK;)
		if (v[i].summed == via || writes(&v[i], via))
			return v[i].summed == via;
	return false;
}

static int arrive_by_table(struct code_flow *w, uint32_t jump, const struct code_state *s)
{
	const struct code_insn *insn = &w->insns.v[jump];
	struct code_value sp = s->reg[w->m->sp];
	int rc = 0;

	if (!insn->nto && !insn->memory) {
		if (w->jumps)
			meet(&w->jump, s);
		else
			w->jump = *s;
		w->jumps = true;
		/* With the stack as it was at the start, it may leave for another function. */
		w->unbound |= sp.kind != CODE_CFA || sp.off != -w->m->entry || is_computed(w, jump);
	}
	for (uint32_t i = 0; i < insn->nto && !rc; i++)
		rc = arrive(w, w->to[insn->first_to + i], s, 0);
	return rc;
}

/* Whether the next function may begin here, after a call that does not return, and padding. */
static bool may_begin(const struct code_flow *w, uint32_t at)
{
	return w->f->open && (w->f->start + w->insns.v[at].at) % 16 == 0 &&
	       w->insns.v[at - 1].flow == CODE_PADDING && !(w->mark[at] & CODE_BLOCK);
}

/* From an instruction on, until a path ends or comes to where paths meet. */
static int follow(struct code_flow *w, uint32_t at)
{
	struct code_state s = *w->state[at];
	uint32_t called = 0, to;
	int rc = 0;

	for (uint32_t i = at; i < w->insns.n && !rc && !w->again; i++) {
		const struct code_insn *insn = &w->insns.v[i];

		if (called && may_begin(w, i))
			return 0;
		if (i != at && w->mark[i] & CODE_LEADER)
			return arrive(w, i, &s, called);
		if (w->soft && i != at && w->mark[i] & CODE_SEEN)
			return 0;
		w->mark[i] |= CODE_SEEN;
		if (!w->budget--)
			return PP_ELIMIT;
		code_apply(w, insn, &s);
		to = insn->flow == CODE_JUMP || insn->flow == CODE_BRANCH
			     ? index_of(w, insn->target)
			     : 0;
		if (to)
			rc = arrive(w, to - 1, &s, 0);
		if (insn->flow == CODE_INDIRECT)
			rc = arrive_by_table(w, i, &s);
		if (insn->flow == CODE_JUMP || insn->flow == CODE_INDIRECT ||
		    insn->flow == CODE_STOP || insn->noreturn)
			return rc;
		if (insn->flow == CODE_BRANCH && insn->equal != CODE_NO_REG)
			s.reg[w->m->sp] = s.reg[insn->equal];
		if (insn->flow == CODE_CALL)
			called = i + 1;
		else if (insn->flow != CODE_PADDING)
			called = 0;
	}
	return rc;
}

static int drain(struct code_flow *w)
{
	int rc = 0;

	while (w->nwork && !rc && !w->again) {
		uint32_t at = w->work[--w->nwork];

		w->mark[at] &= (uint8_t)~CODE_QUEUED;
		rc = follow(w, at);
	}
	return rc;
}

static void forget(struct code_flow *w)
{
	for (uint32_t i = 0; i < w->insns.n; i++) {
		free(w->state[i]);
		w->state[i] = NULL;
		w->mark[i] &= CODE_LEADER | CODE_BLOCK;
	}
	w->nwork = 0;
	w->again = w->unbound = w->jumps = false;
}

static struct code_state at_entry(const struct code_machine *m)
{
	struct code_state s = {.nslots = 0};

	for (unsigned r = 0; r < CODE_REGS; r++)
		s.reg[r] = (struct code_value){.kind = CODE_ENTRY, .reg = (uint8_t)r};
	s.reg[m->sp] = (struct code_value){.kind = CODE_CFA, .off = -m->entry};
	return s;
}

static int from_start(struct code_flow *w)
{
	struct code_state s = at_entry(w->m);
	int rc;

	for (unsigned tries = 0;; tries++) {
		forget(w);
		rc = arrive(w, 0, &s, 0);
		if (!rc)
			rc = drain(w);
		if (rc || !w->again || tries == AGAIN_MAX)
			return rc;
	}
}

/* ---- what no branch leads to ---- */

/*
 * The frame that the function has where it jumps to places that are not known, or else at most of
 * its calls. False: there are none.
 */
static bool find_body(struct code_flow *w, struct code_state *body)
{
	struct {
		struct code_state s;
		uint32_t n;
	} *v = calloc(BODIES_MAX, sizeof(*v));
	uint32_t n = 0, most = 0, k;
	unsigned sp = w->m->sp;

	for (uint32_t i = 0; v && !w->unbound && i < w->insns.n; i++) {
		struct code_state s;

		if (!w->state[i])
			continue;
		s = *w->state[i];
		for (uint32_t at = i; at < w->insns.n && w->mark[at] & CODE_SEEN; at++) {
			if (at != i && w->mark[at] & CODE_LEADER)
				break;
			if (w->insns.v[at].flow == CODE_CALL) {
				for (k = 0; k < n; k++)
					if (code_same(v[k].s.reg[sp], s.reg[sp]))
						break;
				if (k == n && n < BODIES_MAX)
					v[n++] = (__typeof__(*v)){s, 0};
				else if (k < n)
					meet(&v[k].s, &s);
				if (k < n && ++v[k].n > v[most].n)
					most = k;
			}
			code_apply(w, &w->insns.v[at], &s);
		}
	}
	if (n)
		*body = v[most].s;
	else if (w->jumps)
		*body = w->jump;
	free(v);
	return n || w->jumps;
}

/* Functions within it, which it calls. */
static int from_calls(struct code_flow *w)
{
	struct code_state s = at_entry(w->m);
	uint32_t n = w->insns.n, to;
	int rc = 0;

	for (uint32_t i = 0; i < n && !rc; i++) {
		to = w->insns.v[i].flow == CODE_CALL ? index_of(w, w->insns.v[i].target) : 0;
		if (to && !(w->mark[to - 1] & CODE_SEEN))
			rc = arrive(w, to - 1, &s, 0);
		if (!rc)
			rc = drain(w);
	}
	return rc;
}

/* Whether nothing runs from an instruction into the next one. */
static bool ends_before(const struct code_insn *insn)
{
	return insn->flow != CODE_NEXT && insn->flow != CODE_BRANCH;
}

/*
 * Targets of jump tables that are not understood, and the like, have the frame of the body. Where
 * an open function has nothing of that kind, it ends there.
 */
static int from_elsewhere(struct code_flow *w)
{
	struct code_state body;
	bool known = false, sought = false;
	int rc = 0;

	for (uint32_t i = 0; i < w->insns.n && !rc; i++) {
		const struct code_insn *insn = &w->insns.v[i];

		if (w->mark[i] & CODE_SEEN || insn->flow == CODE_PADDING || insn->flow == CODE_STOP)
			continue;
		if (w->f->open && !w->unbound) {
			if ((w->f->start + insn->at) % 16 == 0 && i &&
			    ends_before(&w->insns.v[i - 1])) {
				w->insns.n = i;
				break;
			}
			continue;
		}
		if (!sought)
			known = find_body(w, &body);
		sought = true;
		if (!known)
			return 0;
		rc = arrive(w, i, &body, 0);
		if (!rc)
			rc = drain(w);
	}
	return rc;
}

/* ---- a function ---- */

static int make_index(struct code_flow *w)
{
	uint32_t n = w->count = w->insns.n;

	w->index = calloc(w->f->len + 1, sizeof(*w->index));
	w->state = calloc((size_t)n + 1, sizeof(*w->state));
	w->came = calloc((size_t)n + 1, sizeof(*w->came));
	w->mark = calloc((size_t)n + 1, 1);
	w->work = calloc((size_t)n + 1, sizeof(*w->work));
	if (!w->index || !w->state || !w->came || !w->mark || !w->work)
		return PP_ENOMEM;
	for (uint32_t i = 0; i < n; i++)
		w->index[w->insns.v[i].at] = i + 1;
	return 0;
}

static int mark_leaders(struct code_flow *w)
{
	uint32_t at;
	int rc = 0;

	for (uint32_t i = 0; i < w->insns.n && !rc; i++) {
		const struct code_insn *insn = &w->insns.v[i];

		at = insn->flow == CODE_JUMP || insn->flow == CODE_BRANCH
			     ? index_of(w, insn->target)
			     : 0;
		if (at)
			w->mark[at - 1] |=
				insn->flow == CODE_BRANCH ? CODE_LEADER | CODE_BLOCK : CODE_LEADER;
		if (insn->flow != CODE_INDIRECT)
			continue;
		rc = code_targets(w, i);
		for (uint32_t k = 0; k < insn->nto && !rc; k++)
			w->mark[w->to[insn->first_to + k]] |= CODE_LEADER;
	}
	return rc;
}

int code_flow_run(struct code_flow *w, const struct code_function *f, const struct code_machine *m)
{
	int rc;

	*w = (struct code_flow){.f = f, .m = m};
	rc = m->decode(f, &w->insns);
	if (rc || !w->insns.n)
		return rc;
	w->budget = (uint64_t)w->insns.n * WORK_EACH + WORK_EACH * 64;
	rc = make_index(w);
	if (!rc)
		rc = mark_leaders(w);
	if (!rc)
		rc = from_start(w);
	w->soft = true;
	if (!rc)
		rc = from_calls(w);
	return rc || f->reached ? rc : from_elsewhere(w);
}

void code_flow_release(struct code_flow *w)
{
	for (uint32_t i = 0; w->state && i < w->count; i++)
		free(w->state[i]);
	free(w->insns.v);
	free(w->index);
	free(w->state);
	free(w->came);
	free(w->mark);
	free(w->work);
	free(w->to);
}
