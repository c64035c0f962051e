/* Go's calling convention. */
#include "inspect/go_abi.h"

#include <dwarf.h>
#include <string.h>

/* AX, BX, CX, DI, SI, R8 to R11, by their DWARF numbers. */
static const int integer[] = {0, 3, 2, 5, 4, 8, 9, 10, 11};

enum { INTEGERS = sizeof(integer) / sizeof(integer[0]), FLOATS = 15, XMM0 = 17 };

struct assign {
	bool registers;		       /* the convention has them */
	unsigned n, floats;	       /* that are taken */
	uint64_t stack;		       /* bytes of stack that are taken */
	struct place *p;	       /* of the parameter in hand */
	uint64_t offset[PLACE_PIECES]; /* of its pieces */
	unsigned left;		       /* members that may still be passed */
};

static bool has_registers(struct scopes *s)
{
	Dwarf_Attribute attr;
	const char *producer;

	producer = dwarf_attr(&s->unit, DW_AT_producer, &attr) ? dwarf_formstring(&attr) : NULL;
	return producer && strstr(producer, "regabi");
}

static uint64_t alignment(struct assign *as, Dwarf_Die *type, int depth)
{
	Dwarf_Die t = *type, m, elem;
	uint64_t most = 1;

	type_strip(&t);
	if (depth > TYPE_DEPTH)
		return 8;
	if (type_class(&t) == TYPE_ARRAY)
		return type_count(&t, &elem) ? alignment(as, &elem, depth + 1) : 1;
	if (type_class(&t) != TYPE_STRUCT) {
		uint64_t size = type_size(&t);

		return size == 1 || size == 2 || size == 4 ? size : 8;
	}
	if (dwarf_child(&t, &m))
		return 1;
	do {
		struct type_part f;

		if (dwarf_tag(&m) == DW_TAG_member && !type_field(&m, &f)) {
			uint64_t a = alignment(as, &f.type, depth + 1);

			most = a > most ? a : most;
		}
	} while (as->left && --as->left && dwarf_siblingof(&m, &m) == 0);
	return most;
}

static bool take_register(struct assign *a, uint64_t offset, bool is_float)
{
	struct piece *q;

	if (a->p->n == PLACE_PIECES || (is_float ? a->floats >= FLOATS : a->n >= INTEGERS))
		return false;
	a->offset[a->p->n] = offset;
	q = &a->p->piece[a->p->n++];
	*q = (struct piece){.kind = PLACE_VALUE, .v = {.base = VALUE_REGISTER}};
	q->v.reg = is_float ? XMM0 + (int)a->floats++ : integer[a->n++];
	return true;
}

/* Gives every word of a type a register; false: it goes on the stack. */
static bool to_registers(struct assign *a, Dwarf_Die *type, uint64_t offset, int depth)
{
	Dwarf_Die t = *type, m, elem;
	uint64_t n;

	type_strip(&t);
	if (depth > TYPE_DEPTH)
		return false;
	switch (type_class(&t)) {
	case TYPE_STRUCT: break;
	case TYPE_ARRAY:
		n = type_count(&t, &elem);
		return !n || (n == 1 && to_registers(a, &elem, offset, depth + 1));
	case TYPE_FLOAT: return take_register(a, offset, true);
	case TYPE_OTHER: return false;
	default: return take_register(a, offset, false);
	}
	if (dwarf_child(&t, &m))
		return true;
	do {
		struct type_part f;

		if (dwarf_tag(&m) == DW_TAG_member &&
		    (type_field(&m, &f) || !to_registers(a, &f.type, offset + f.offset, depth + 1)))
			return false;
	} while (a->left && --a->left && dwarf_siblingof(&m, &m) == 0);
	return true;
}

/* The sizes of the pieces: each reaches to the next one. */
static void end_pieces(struct assign *a, uint64_t size)
{
	struct place *p = a->p;

	for (unsigned i = 0; i < p->n; i++)
		p->piece[i].bits = 8 * ((i + 1 < p->n ? a->offset[i + 1] : size) - a->offset[i]);
	p->kind = PLACE_SPLIT;
	if (p->n == 1) {
		p->kind = PLACE_VALUE;
		p->v = p->piece[0].v;
		p->n = 0;
	}
}

static void assign(struct assign *a, Dwarf_Die *type, struct place *p)
{
	unsigned n = a->n, floats = a->floats;
	uint64_t size = type_size(type), align = alignment(a, type, 0);

	memset(p, 0, sizeof(*p));
	a->p = p;
	if (a->registers && to_registers(a, type, 0, 0)) {
		if (p->n)
			end_pieces(a, size);
		else
			p->why = "it has no bytes";
		return;
	}
	a->n = n;
	a->floats = floats;
	memset(p, 0, sizeof(*p));
	a->stack = (a->stack + align - 1) / align * align;
	p->kind = PLACE_MEMORY;
	p->v = (struct value){.base = VALUE_REGISTER, .reg = 7, .add = 8 + (int64_t)a->stack};
	a->stack += size;
}

bool go_abi_is_result(const struct variable *v)
{
	Dwarf_Die die = v->die;
	Dwarf_Attribute attr;
	bool flag = false;

	return v->param && dwarf_attr_integrate(&die, DW_AT_variable_parameter, &attr) &&
	       !dwarf_formflag(&attr, &flag) && flag;
}

/* Goes through the parameters in their order; true: `fn` had what it wanted. */
static bool walk(struct scopes *s, bool results, struct assign *a, Dwarf_Die *wanted, unsigned i,
		 struct loc *l, const char **name)
{
	Dwarf_Die child;

	if (!s->n || dwarf_child(&s->die[0], &child))
		return false;
	do {
		struct variable v = {.die = child, .param = true};

		if (dwarf_tag(&child) != DW_TAG_formal_parameter ||
		    go_abi_is_result(&v) != results || type_of(&child, &l->type))
			continue;
		assign(a, &l->type, &l->place);
		if (name)
			*name = dwarf_diename(&child);
		if (wanted ? child.addr == wanted->addr : !i--)
			return true;
	} while (dwarf_siblingof(&child, &child) == 0);
	return false;
}

bool go_abi_param(struct scopes *s, const struct variable *v, struct place *p)
{
	struct assign a = {.registers = has_registers(s), .left = TYPE_MEMBERS_MAX};
	Dwarf_Die die = v->die;
	struct loc l = {0};

	if (!v->param || v->scope || !a.registers || go_abi_is_result(v) ||
	    !walk(s, false, &a, &die, 0, &l, NULL))
		return false;
	*p = l.place;
	return true;
}

const char *go_abi_result(struct scopes *s, unsigned i, struct loc *l, const char **name)
{
	struct assign a = {.registers = has_registers(s), .left = TYPE_MEMBERS_MAX};
	Dwarf_Die none = {0};

	memset(l, 0, sizeof(*l));
	/* Results on the stack come after the parameters that are there. */
	walk(s, false, &a, &none, 0, l, NULL);
	a.n = a.floats = 0;
	a.stack = (a.stack + 7) / 8 * 8;
	memset(l, 0, sizeof(*l));
	if (!walk(s, true, &a, NULL, i, l, name))
		return "the function returns nothing more";
	return l->place.kind == PLACE_NONE ? l->place.why : NULL;
}
