/* Where a variable is: evaluates DWARF locations to what the kernel can fetch. */
#include "inspect/place.h"

#include "base/cursor.h"
#include "base/err.h"
#include "inspect/type.h"

#include <dwarf.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char why_computed[] = "a computed value";
static const char why_entry[] = "known only as the value at the function's entry";
static const char why_tls[] = "thread-local";
static const char why_damaged[] = "its location is damaged";
/* libdw reads no list of which an entry has DW_OP_GNU_uninit. */
static const char why_unread[] = "its location cannot be read; it may not be set yet";

struct eval {
	struct binary *b;
	Dwarf_Die *function;
	Dwarf_Attribute *attr;
	uint64_t pc;
	struct value stack[16];
	unsigned depth;
	bool is_value, empty; /* DW_OP_stack_value, a register; nothing at all */
	bool late, list;      /* list: the location is one of several */
	const char *why;
	struct place *out;
};

static void run(struct eval *e, const Dwarf_Op *ops, size_t n);

/* The kernel's name of a register ("di"), or NULL. */
static const char *place_register_name(int reg)
{
	static const char *const names[] = {"ax",  "dx",  "cx",	 "bx",	"si",  "di",
					    "bp",  "sp",  "r8",	 "r9",	"r10", "r11",
					    "r12", "r13", "r14", "r15", "ip"};

	return reg >= 0 && reg < (int)(sizeof(names) / sizeof(names[0])) ? names[reg] : NULL;
}

struct place place_register(int reg)
{
	return (struct place){.kind = PLACE_VALUE, .v = {.base = VALUE_REGISTER, .reg = reg}};
}

bool value_load(struct value *v)
{
	if (v->n == PLACE_LOADS)
		return false;
	v->load[v->n++] = v->add;
	v->add = 0;
	return true;
}

static void push(struct eval *e, const struct value *v)
{
	if (e->depth == sizeof(e->stack) / sizeof(e->stack[0]))
		e->why = why_damaged;
	else
		e->stack[e->depth++] = *v;
}

static void push_register(struct eval *e, int reg, int64_t add)
{
	struct value v = {.base = VALUE_REGISTER, .reg = reg, .add = add};

	push(e, &v);
}

static void push_constant(struct eval *e, uint64_t c)
{
	struct value v = {.base = VALUE_CONSTANT, .addr = c};

	push(e, &v);
}

static struct value *top(struct eval *e)
{
	static struct value none;

	if (e->depth)
		return &e->stack[e->depth - 1];
	e->why = why_damaged;
	return &none;
}

static void plus(struct value *v, int64_t c)
{
	if (v->base == VALUE_CONSTANT && !v->n)
		v->addr += (uint64_t)c;
	else
		v->add = (int64_t)((uint64_t)v->add + (uint64_t)c);
}

/* A sum or difference of which one side is a constant. */
static void sum(struct eval *e, bool minus)
{
	struct value b = *top(e), a;

	if (e->depth < 2) {
		e->why = why_damaged;
		return;
	}
	e->depth--;
	a = *top(e);
	if (b.base == VALUE_CONSTANT && !b.n) {
		plus(top(e), minus ? -(int64_t)b.addr : (int64_t)b.addr);
	} else if (!minus && a.base == VALUE_CONSTANT && !a.n) {
		*top(e) = b;
		plus(top(e), (int64_t)a.addr);
	} else {
		e->why = why_computed;
	}
}

static void push_cfa(struct eval *e)
{
	Dwarf_Frame *frame;
	Dwarf_Op *ops;
	size_t n;

	if (binary_cfa(e->b, e->pc, &frame, &ops, &n)) {
		e->why = "no call frame information here";
		return;
	}
	for (size_t i = 0; i < n; i++)
		if (ops[i].atom == DW_OP_call_frame_cfa)
			e->why = why_damaged;
	if (!e->why)
		run(e, ops, n);
	free(frame);
	e->is_value = false;
}

/* Operations of a block that libdw does not take for a location, as Go writes them in DWARF 4. */
static size_t decode_block(Dwarf_Attribute *attr, bool swap, Dwarf_Op *ops, size_t max)
{
	Dwarf_Block block;
	struct cursor c;
	size_t n = 0;

	if (dwarf_formblock(attr, &block))
		return 0;
	c = cursor_make(block.data, block.length, swap);
	while (cursor_left(&c) && !c.bad && n < max) {
		Dwarf_Op *o = &ops[n++];
		uint64_t v = 0;
		unsigned shift = 0;
		uint8_t byte = 0;

		memset(o, 0, sizeof(*o));
		o->atom = get_u8(&c);
		if (o->atom == DW_OP_addr) {
			o->number = get_u64(&c);
			continue;
		}
		if (o->atom != DW_OP_fbreg && o->atom != DW_OP_piece &&
		    o->atom != DW_OP_plus_uconst && o->atom != DW_OP_regx &&
		    o->atom != DW_OP_consts && o->atom != DW_OP_constu &&
		    !(o->atom >= DW_OP_breg0 && o->atom <= DW_OP_breg31))
			continue;
		do {
			byte = get_u8(&c);
			if (shift < 64)
				v |= (uint64_t)(byte & 0x7f) << shift;
			shift += 7;
		} while ((byte & 0x80) && !c.bad);
		if ((byte & 0x40) && shift < 64 && o->atom != DW_OP_piece &&
		    o->atom != DW_OP_plus_uconst && o->atom != DW_OP_regx &&
		    o->atom != DW_OP_constu)
			v |= ~UINT64_C(0) << shift;
		o->number = v;
	}
	return c.bad ? 0 : n;
}

static bool is_list(Dwarf_Attribute *attr)
{
	switch (dwarf_whatform(attr)) {
	case DW_FORM_sec_offset:
	case DW_FORM_loclistx:
	case DW_FORM_data4:
	case DW_FORM_data8: return true;
	default: return false;
	}
}

/* The operations of a location at pc. 0: there are none there; *why is set if that is known. */
static size_t operations(struct binary *b, Dwarf_Attribute *attr, uint64_t pc, Dwarf_Op *own,
			 size_t max, Dwarf_Op **ops, const char **why)
{
	size_t n = 0;
	int found = dwarf_getlocation_addr(attr, pc, ops, &n, 1);

	if (found > 0)
		return n <= PLACE_OPS ? n : 0;
	if (found == 0)
		return 0;
	if (is_list(attr)) {
		*why = why_unread;
		return 0;
	}
	*ops = own;
	return decode_block(attr, elf_file_swap(b->elf), own, max);
}

static void push_frame_base(struct eval *e, int64_t add)
{
	Dwarf_Op own[16], *ops;
	Dwarf_Attribute attr;
	const char *why;
	size_t n;

	if (!e->function || !dwarf_attr_integrate(e->function, DW_AT_frame_base, &attr)) {
		e->why = "its function has no frame";
		return;
	}
	n = operations(e->b, &attr, e->pc, own, 16, &ops, &why);
	for (size_t i = 0; i < n; i++)
		if (ops[i].atom == DW_OP_fbreg)
			n = 0;
	if (!n) {
		e->why = why_damaged;
		return;
	}
	/* What lies below the frame is there only when the function has put it there. */
	if (ops[0].atom != DW_OP_call_frame_cfa || (add < 0 && !e->list))
		e->late = true;
	run(e, ops, n);
	e->is_value = false;
	plus(top(e), add);
}

static void end_piece(struct eval *e, uint64_t bits)
{
	struct place *p = e->out;
	struct piece *q;

	if (p->n == PLACE_PIECES || bits > UINT64_C(1) << 32) {
		e->why = "in too many pieces";
		return;
	}
	q = &p->piece[p->n++];
	*q = (struct piece){.bits = bits, .why = PLACE_GONE};
	if (e->why) {
		q->why = e->why;
	} else if (e->depth) {
		q->kind = e->is_value ? PLACE_VALUE : PLACE_MEMORY;
		q->v = *top(e);
	}
	e->why = NULL;
	e->depth = 0;
	e->is_value = false;
}

static bool skips_to_piece(const struct eval *e, const Dwarf_Op *o)
{
	return e->why && o->atom != DW_OP_piece && o->atom != DW_OP_bit_piece;
}

static void implicit(struct eval *e, const Dwarf_Op *o)
{
	Dwarf_Block block;
	uint64_t v = 0;

	if (dwarf_getlocation_implicit_value(e->attr, o, &block) || block.length > 8) {
		e->why = "a constant that is too long";
		return;
	}
	memcpy(&v, block.data, block.length);
	push_constant(e, v);
	e->is_value = true;
}

/* An address or constant that is in a table (split DWARF; LLVM). */
static void indexed(struct eval *e, const Dwarf_Op *o)
{
	Dwarf_Attribute attr;
	Dwarf_Addr addr;

	if (dwarf_getlocation_attr(e->attr, o, &attr) || dwarf_formaddr(&attr, &addr))
		e->why = why_damaged;
	else if (o->atom == DW_OP_constx || o->atom == DW_OP_GNU_const_index)
		push_constant(e, addr);
	else
		push(e, &(struct value){.base = VALUE_DATA, .addr = addr});
}

static void other(struct eval *e, const Dwarf_Op *o)
{
	switch (o->atom) {
	case DW_OP_addrx:
	case DW_OP_constx:
	case DW_OP_GNU_addr_index:
	case DW_OP_GNU_const_index: indexed(e, o); break;
	case DW_OP_entry_value:
	case DW_OP_GNU_entry_value: e->why = why_entry; break;
	case DW_OP_form_tls_address:
	case DW_OP_GNU_push_tls_address: e->why = why_tls; break;
	case DW_OP_implicit_pointer:
	case DW_OP_GNU_implicit_pointer:
		e->why = "points to something that was optimized out";
		break;
	default: e->why = why_computed; break;
	}
}

static void step(struct eval *e, const Dwarf_Op *o)
{
	struct value v;

	switch (o->atom) {
	case DW_OP_addr: push(e, &(struct value){.base = VALUE_DATA, .addr = o->number}); break;
	case DW_OP_fbreg: push_frame_base(e, (int64_t)o->number); break;
	case DW_OP_call_frame_cfa: push_cfa(e); break;
	case DW_OP_bregx: push_register(e, (int)o->number, (int64_t)o->number2); break;
	case DW_OP_regx:
		push_register(e, (int)o->number, 0);
		e->is_value = true;
		break;
	case DW_OP_const1u:
	case DW_OP_const2u:
	case DW_OP_const4u:
	case DW_OP_const8u:
	case DW_OP_constu:
	case DW_OP_const1s:
	case DW_OP_const2s:
	case DW_OP_const4s:
	case DW_OP_const8s:
	case DW_OP_consts: push_constant(e, o->number); break;
	case DW_OP_plus_uconst: plus(top(e), (int64_t)o->number); break;
	case DW_OP_plus: sum(e, false); break;
	case DW_OP_minus: sum(e, true); break;
	case DW_OP_dup:
		v = *top(e);
		push(e, &v);
		break;
	case DW_OP_drop: e->depth -= e->depth > 0; break;
	case DW_OP_deref:
		if (!value_load(top(e)))
			e->why = why_computed;
		break;
	case DW_OP_stack_value: e->is_value = true; break;
	case DW_OP_implicit_value: implicit(e, o); break;
	case DW_OP_piece: end_piece(e, o->number * 8); break;
	case DW_OP_bit_piece: end_piece(e, o->number); break;
	case DW_OP_nop: break;
	default: other(e, o);
	}
}

static void run(struct eval *e, const Dwarf_Op *ops, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		const Dwarf_Op *o = &ops[i];
		uint8_t a = o->atom;

		if (skips_to_piece(e, o))
			continue;
		if (a >= DW_OP_lit0 && a <= DW_OP_lit31) {
			push_constant(e, a - DW_OP_lit0);
		} else if (a >= DW_OP_reg0 && a <= DW_OP_reg31) {
			push_register(e, a - DW_OP_reg0, 0);
			e->is_value = true;
		} else if (a >= DW_OP_breg0 && a <= DW_OP_breg31) {
			push_register(e, a - DW_OP_breg0, (int64_t)o->number);
		} else {
			step(e, o);
		}
	}
}

/* Bytes that are a number of the variable's type, which tells whether the highest bit is a sign. */
static bool is_unsigned_data(Dwarf_Attribute *attr, Dwarf_Die *variable)
{
	Dwarf_Die type;

	switch (dwarf_whatform(attr)) {
	case DW_FORM_data1:
	case DW_FORM_data2:
	case DW_FORM_data4:
	case DW_FORM_data8: return !type_of(variable, &type) && !type_signed(&type);
	default: return false;
	}
}

static void constant(struct place *p, Dwarf_Attribute *attr, Dwarf_Die *variable)
{
	Dwarf_Sword s;
	Dwarf_Word u;
	Dwarf_Block block;

	p->v = (struct value){.base = VALUE_CONSTANT};
	if (is_unsigned_data(attr, variable) && dwarf_formudata(attr, &u) == 0) {
		p->v.addr = u;
	} else if (dwarf_formsdata(attr, &s) == 0) {
		p->v.addr = (uint64_t)s;
	} else if (dwarf_formblock(attr, &block) == 0 && block.length <= 8) {
		memcpy(&p->v.addr, block.data, block.length);
	} else {
		p->why = "a constant that is too long";
		return;
	}
	p->kind = PLACE_VALUE;
}

void place_of(struct place *p, struct binary *b, Dwarf_Die *function, Dwarf_Die *variable,
	      uint64_t pc)
{
	struct eval e = {.b = b, .function = function, .pc = pc, .out = p};
	Dwarf_Op own[32], *ops = NULL;
	Dwarf_Attribute attr;
	size_t n;

	memset(p, 0, sizeof(*p));
	p->why = PLACE_GONE;
	if (dwarf_attr_integrate(variable, DW_AT_const_value, &attr)) {
		constant(p, &attr, variable);
		return;
	}
	if (!dwarf_attr_integrate(variable, DW_AT_location, &attr))
		return;
	e.attr = &attr;
	e.list = is_list(&attr);
	n = operations(b, &attr, pc, own, 32, &ops, &p->why);
	if (!n)
		return;
	run(&e, ops, n);
	p->late = e.late;
	if (e.why) {
		p->why = e.why;
	} else if (p->n) {
		p->kind = PLACE_SPLIT;
	} else if (e.depth) {
		p->kind = e.is_value ? PLACE_VALUE : PLACE_MEMORY;
		p->v = *top(&e);
	}
}

/* ---- text ---- */

/* Variables of each CPU are linked to small addresses. */
static const char *kernel_data(const struct binary *b, uint64_t addr, struct buf *out)
{
	if (addr < b->text)
		return "a per-CPU variable";
	buf_addf(out, "@_text+%" PRIu64, addr - b->text);
	return NULL;
}

static const char *base_text(const struct value *v, const struct binary *b, uint64_t pc,
			     bool loaded, int64_t first, struct buf *out)
{
	const char *name;

	switch (v->base) {
	case VALUE_REGISTER:
		name = place_register_name(v->reg);
		if (!name)
			return v->reg >= 17 && v->reg <= 32
				       ? "in a floating point register, which cannot be recorded"
				       : "in a register that the kernel cannot record";
		buf_addf(out, "%%%s", name);
		return NULL;
	case VALUE_DATA:
		if (!loaded)
			return "which the kernel cannot compute";
		if (b->kernel)
			return kernel_data(b, v->addr + (uint64_t)first, out);
		buf_addf(out, "@+0x%" PRIx64,
			 (uint64_t)binary_data_offset(b, pc, v->addr + (uint64_t)first));
		return NULL;
	case VALUE_CONSTANT: buf_addf(out, "\\%" PRId64, (int64_t)v->addr); return NULL;
	}
	return why_damaged;
}

const char *place_text(const struct value *v, bool memory, const struct binary *b, uint64_t pc,
		       struct buf *out)
{
	int64_t load[PLACE_LOADS + 1];
	unsigned n = v->n, from;
	const char *why;

	memcpy(load, v->load, sizeof(v->load));
	if (memory)
		load[n++] = v->add;
	else if (v->add)
		return "a register and a number added: record the register and add";
	if (v->base == VALUE_CONSTANT && n)
		return "at a fixed address";
	from = v->base == VALUE_DATA && n;
	for (unsigned i = n; i > from; i--) {
		if (load[i - 1] > INT32_MAX || load[i - 1] < INT32_MIN)
			return "too far from its base";
		buf_addf(out, "%+" PRId64 "(", load[i - 1]);
	}
	why = base_text(v, b, pc, n > 0, n ? load[0] : 0, out);
	for (unsigned i = n; i > from; i--)
		buf_addc(out, ')');
	return why;
}

static void show(enum place_kind kind, const struct value *v, const char *why,
		 const struct binary *b, uint64_t pc, struct buf *out)
{
	size_t had = out->len;
	struct value plain = *v;

	if (kind == PLACE_NONE) {
		buf_adds(out, why);
	} else if (v->base == VALUE_REGISTER && v->reg >= 17 && v->reg <= 32 && !v->n) {
		buf_addf(out, "%%xmm%d", v->reg - 17);
	} else {
		if (kind == PLACE_VALUE)
			plain.add = 0;
		why = place_text(&plain, kind == PLACE_MEMORY, b, pc, out);
		if (why) {
			out->len = had;
			if (v->base == VALUE_DATA && !v->n && kind == PLACE_VALUE)
				buf_addf(out, "the address 0x%" PRIx64 ", ",
					 v->addr + (uint64_t)v->add);
			buf_adds(out, why);
		} else if (kind == PLACE_VALUE && v->add) {
			buf_addf(out, "%+" PRId64, v->add);
		}
	}
}

void place_show(const struct place *p, const struct binary *b, uint64_t pc, struct buf *out)
{
	if (p->kind != PLACE_SPLIT) {
		show(p->kind, &p->v, p->why, b, pc, out);
		return;
	}
	for (unsigned i = 0; i < p->n; i++) {
		if (i)
			buf_adds(out, ", ");
		show(p->piece[i].kind, &p->piece[i].v, p->piece[i].why, b, pc, out);
		buf_addf(out, " [%" PRIu64 " bits]", p->piece[i].bits);
	}
}
