/* Steps by rows of any kind, and why a step cannot be done for want of memory. */
#include "base/err.h"
#include "unwind/dwarf_expr.h"
#include "unwind/walk.h"

#include <elf.h>

#define FAR_AWAY   (16u << 20) /* bytes beyond the copy: what lies there is not the same stack */
#define SIGNAL_MAX 16384       /* bytes of what the kernel puts on the stack for a signal */

struct reader {
	const struct walk *w;
	const struct cfi *cfi;
	uint64_t bias;
	uint64_t missed; /* what could not be read */
};

/* Memory of the copy, and what cannot be changed of the module that the expression is of. */
static int read_memory(void *ctx, uint64_t addr, unsigned size, uint64_t *value)
{
	struct reader *r = ctx;
	uint8_t bytes[8];
	uint64_t v = 0;

	if (walk_has(r->w, addr, size)) {
		*value = walk_load(r->w, addr, size);
		return 0;
	}
	if (!r->cfi || cfi_read(r->cfi, addr - r->bias, bytes, size)) {
		r->missed = addr;
		return PP_ECUT;
	}
	for (unsigned i = 0; i < size; i++) {
		bool little = cfi_swap(r->cfi) != (__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__);

		v |= (uint64_t)bytes[i] << 8 * (little ? i : size - 1 - i);
	}
	*value = v;
	return 0;
}

enum unwind_end walk_outside(const struct walk *w, uint64_t addr)
{
	uint64_t end = w->base + w->len, sp = w->reg[w->arch->sp];

	/* A function that a signal interrupted can lie beyond the copy, or have its own stack. */
	if (sp > end && (w->cut || sp - end > SIGNAL_MAX))
		return UNWIND_OTHER_STACK;
	if (sp < w->floor || addr < w->floor || addr - end > FAR_AWAY)
		return UNWIND_OTHER_STACK;
	return w->cut ? UNWIND_NOT_THERE : UNWIND_COPY;
}

/* What an error of an expression means for the walk. Beyond the copy is more of the stack. */
static enum unwind_end end_of(const struct reader *r, int rc)
{
	enum unwind_end end = rc == PP_ECUT ? walk_outside(r->w, r->missed) : UNWIND_NONE;

	if (end && end != UNWIND_OTHER_STACK)
		return end;
	return rc == PP_ENOENT ? UNWIND_REGISTERS : rc == PP_ECUT ? UNWIND_MEMORY : UNWIND_DAMAGED;
}

struct complex_step {
	struct reader reader;
	struct expr_env env;
	const struct row *row;
	uint64_t cfa;
	struct walk next;
};

/*
 * The value of one register of the caller. 0, or an error; PP_EMISMATCH: it is outside of the
 * copy.
 */
static int complex_rule(struct complex_step *s, const struct row_rule *r, uint64_t *value,
			bool *keep)
{
	const struct walk *w = s->reader.w;
	uint64_t at = s->cfa + (uint64_t)(int64_t)r->value;
	const uint8_t *expr = row_bytes(s->row, r);
	int rc = 0;

	*keep = false;
	switch (r->how) {
	case ROW_VAL_OFFSET: *value = at; return 0;
	case ROW_VAL_EXPR: return expr_run(&s->env, expr, r->len, &s->cfa, value);
	case ROW_REGISTER:
		*value = w->reg[r->value];
		return walk_knows(w, (unsigned)r->value) ? 0 : PP_ENOENT;
	case ROW_UNDEFINED: return PP_ENOENT;
	case ROW_EXPR: rc = expr_run(&s->env, expr, r->len, &s->cfa, &at); break;
	}
	if (!rc && walk_has(w, at, w->arch->width))
		*value = walk_load(w, at, w->arch->width);
	else if (!rc && r->how == ROW_EXPR && r->reg == s->row->ra)
		rc = read_memory(&s->reader, at, w->arch->width, value);
	else if (!rc && at < w->floor)
		*keep = true;
	else if (!rc)
		rc = PP_EMISMATCH;
	return rc;
}

static enum unwind_end complex_rules(struct complex_step *s)
{
	for (unsigned i = 0; i < s->row->nrules; i++) {
		const struct row_rule *r = &s->row->rule[i];
		uint64_t value = 0;
		bool keep;
		int rc = complex_rule(s, r, &value, &keep);

		if (!rc && !keep)
			walk_set(&s->next, r->reg, value);
		else if (rc && r->reg == s->row->ra)
			return rc == PP_EMISMATCH
				       ? walk_outside(s->reader.w,
						      s->cfa + (uint64_t)(int64_t)r->value)
				       : end_of(&s->reader, rc);
		else if (rc)
			s->next.known &= ~(UINT64_C(1) << r->reg);
	}
	return UNWIND_NONE;
}

enum unwind_end walk_complex(struct walk *w, const struct row *row, uint64_t *cfa, int *rc)
{
	uint64_t addr = walk_addr(w);
	struct unwind_place place;
	struct complex_step s;
	enum unwind_end end;
	int err = 0;

	*rc = walk_find(w, addr, &place);
	if (*rc)
		return UNWIND_NONE;
	s.reader = (struct reader){w, place.cfi, addr - place.vaddr, 0};
	s.env = (struct expr_env){.regs = w->reg,
				  .known = w->known,
				  .bias = s.reader.bias,
				  .width = w->arch->width,
				  .swap = place.cfi && cfi_swap(place.cfi),
				  .read = read_memory,
				  .ctx = &s.reader};
	s.row = row;
	s.next = *w;
	/* On x86 expressions ask for the address that is executed. */
	if (w->arch->ra == row->ra &&
	    (w->arch->machine == EM_X86_64 || w->arch->machine == EM_386)) {
		walk_set(w, row->ra, w->pc);
		s.env.known = w->known;
	}
	if (row->cfa.how == ROW_REGISTER) {
		s.cfa = w->reg[row->cfa.reg] + (uint64_t)(int64_t)row->cfa.value;
		err = walk_knows(w, row->cfa.reg) ? 0 : PP_ENOENT;
	} else {
		err = expr_run(&s.env, row_bytes(row, &row->cfa), row->cfa.len, NULL, &s.cfa);
	}
	if (err)
		return end_of(&s.reader, err);
	*cfa = s.cfa;
	end = complex_rules(&s);
	if (!end)
		*w = s.next;
	return end;
}
