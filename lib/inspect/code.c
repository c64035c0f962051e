/* The instructions of a function, by libcapstone. */
#include "inspect/code.h"

#include "base/array.h"
#include "base/err.h"

#include <capstone/capstone.h>
#include <stdlib.h>
#include <string.h>

static bool operand_target(const cs_insn *i, uint64_t *target)
{
	const cs_x86 *x = &i->detail->x86;

	if (x->op_count != 1 || x->operands[0].type != X86_OP_IMM)
		return false;
	*target = (uint64_t)x->operands[0].imm;
	return true;
}

static bool in_group(const cs_insn *i, uint8_t group)
{
	for (uint8_t k = 0; k < i->detail->groups_count; k++)
		if (i->detail->groups[k] == group)
			return true;
	return false;
}

static void classify(const cs_insn *i, struct insn *out)
{
	bool direct;

	out->addr = i->address;
	out->size = (uint8_t)i->size;
	out->target = 0;
	out->kind = INSN_OTHER;
	if (i->size == 4 && !memcmp(i->bytes, "\xf3\x0f\x1e\xfa", 4)) {
		out->kind = INSN_ENDBR;
		return;
	}
	if (in_group(i, CS_GRP_RET) && !in_group(i, CS_GRP_IRET)) {
		out->kind = INSN_RET;
		return;
	}
	if (in_group(i, CS_GRP_CALL)) {
		out->kind = INSN_CALL;
		operand_target(i, &out->target);
		return;
	}
	if (!in_group(i, CS_GRP_JUMP))
		return;
	direct = operand_target(i, &out->target);
	if (i->id == X86_INS_JMP)
		out->kind = direct ? INSN_JUMP : INSN_INDIRECT;
	else
		out->kind = INSN_BRANCH;
}

static int add(struct code *c, const cs_insn *i)
{
	struct insn *v = array_widen(c->insn, &c->cap, c->n, 256, sizeof(*v));

	if (!v)
		return PP_ENOMEM;
	c->insn = v;
	classify(i, &c->insn[c->n++]);
	return 0;
}

static int disassemble(struct code *c, const uint8_t *bytes, size_t left)
{
	uint64_t addr = c->start;
	cs_insn *insn;
	csh h;
	int rc = 0;

	if (cs_open(CS_ARCH_X86, CS_MODE_64, &h) != CS_ERR_OK)
		return PP_ENOMEM;
	cs_option(h, CS_OPT_DETAIL, CS_OPT_ON);
	insn = cs_malloc(h);
	while (insn && left && !rc && cs_disasm_iter(h, &bytes, &left, &addr, insn))
		rc = add(c, insn);
	if (!insn)
		rc = PP_ENOMEM;
	else
		cs_free(insn, 1);
	cs_close(&h);
	c->whole = !left;
	return rc;
}

int code_read(struct code *c, const struct binary *b, uint64_t start, uint64_t end)
{
	uint8_t *bytes;
	int rc;

	memset(c, 0, sizeof(*c));
	if (!b->x86_64)
		return PP_EUNSUPPORTED;
	if (end <= start || end - start > BINARY_CODE_MAX)
		return PP_ELIMIT;
	c->start = start;
	c->end = end;
	bytes = malloc(end - start);
	if (!bytes)
		return PP_ENOMEM;
	rc = binary_read(b, start, bytes, end - start);
	if (!rc)
		rc = disassemble(c, bytes, end - start);
	free(bytes);
	if (rc)
		code_release(c);
	return rc;
}

void code_release(struct code *c)
{
	free(c->insn);
	memset(c, 0, sizeof(*c));
}

int code_at(const struct code *c, uint64_t addr, const struct insn **insn)
{
	uint32_t lo = 0, hi = c->n;

	while (lo < hi) {
		uint32_t mid = lo + (hi - lo) / 2;

		if (c->insn[mid].addr < addr)
			lo = mid + 1;
		else
			hi = mid;
	}
	if (lo == c->n)
		return c->whole ? PP_ENOENT : PP_ELIMIT;
	if (c->insn[lo].addr != addr)
		return PP_ENOENT;
	*insn = &c->insn[lo];
	return 0;
}

bool code_jumped_to(const struct code *c, uint64_t addr)
{
	for (uint32_t i = 0; i < c->n; i++)
		if ((c->insn[i].kind == INSN_JUMP || c->insn[i].kind == INSN_BRANCH) &&
		    c->insn[i].target == addr)
			return true;
	return false;
}

bool code_is_tail_jump(const struct code *c, const struct insn *i)
{
	return (i->kind == INSN_JUMP || i->kind == INSN_BRANCH) && i->target &&
	       (i->target < c->start || i->target >= c->end);
}
