/*
 * Walks through the arguments of a print format as libtraceevent has parsed them, and computes
 * what it would compute, with an eye on what it does not look at.
 */
#include "print/tep_guard.h"

#include "print/tep.h"
#include "stream/payload.h"

#include <ctype.h>
#include <event-parse.h>
#include <stdlib.h>

#define DEPTH_MAX 64   /* of an expression */
#define ARGS_MAX  128  /* of a print format */
#define SPEC_MAX  29   /* characters of a conversion, for which libtraceevent has 32 bytes */
#define WIDTH_MAX 4096 /* characters */
#define SPAN_MAX \
	TEP_FIELD_END_MAX /* bytes of an array that are printed: so many zeroes are there */

/* A walk; without a payload it finds out whether one has to be looked at. */
struct walk {
	const struct tep_event *te;
	const uint8_t *data; /* NULL: no payload */
	size_t size;
	int depth;
	enum tep_risk risk;
};

static void worse(struct walk *w, enum tep_risk risk)
{
	if (risk > w->risk)
		w->risk = risk;
}

/* Something that matters depends on a number, which is not known. */
static void unknown(struct walk *w)
{
	worse(w, w->data ? TEP_TRIAL : TEP_LOOK);
}

/* ---- numbers: true if the number is known ---- */

static bool number(struct walk *w, const struct tep_print_arg *a, uint64_t *v);

/* False also for what would not be read as a number. */
static bool read_at(struct walk *w, uint64_t at, uint64_t size, uint64_t *v)
{
	if (!w->data || (size != 1 && size != 2 && size != 4 && size != 8))
		return false;
	if (at > w->size || size > w->size - at)
		return false;
	*v = ps_payload_number(w->data + at, (uint32_t)size);
	return true;
}

static const struct tep_format_field *field_of(const struct walk *w, const struct tep_print_arg *a)
{
	if (a->type != TEP_PRINT_FIELD || !a->field.name)
		return NULL;
	return a->field.field
		       ? a->field.field
		       : tep_find_any_field((struct tep_event *)(uintptr_t)w->te, a->field.name);
}

/* Where the data of a dynamic field is, and how long. */
static bool dynamic(struct walk *w, const struct tep_format_field *f, uint64_t *at, uint64_t *len)
{
	uint64_t word;

	if (!f || f->size != 4 || f->offset < 0) {
		worse(w, TEP_TRIAL);
		return false;
	}
	if (!read_at(w, (uint64_t)f->offset, 4, &word))
		return false;
	*at = (word & 0xffff) + (f->flags & TEP_FIELD_IS_RELATIVE ? (uint64_t)f->offset + 4 : 0);
	*len = word >> 16;
	return *at <= w->size && *len <= w->size - *at;
}

static bool atom(const struct tep_print_arg *a, uint64_t *v)
{
	*v = strtoull(a->atom.atom, NULL, 0);
	/* Other names are those of functions. */
	return *v || isdigit((unsigned char)*a->atom.atom);
}

/* What a cast leaves: bits, 0 all. */
static unsigned cast_bits(const char *type)
{
	static const struct {
		const char *name;
		unsigned bits;
	} types[] = {{"u8", 8},	    {"s8", 8},	 {"char", 8}, {"u16", 16}, {"s16", 16},
		     {"short", 16}, {"u32", 32}, {"s32", 32}, {"int", 32}};

	if (!strncmp(type, "unsigned ", 9))
		type += 9;
	for (size_t i = 0; i < sizeof(types) / sizeof(types[0]); i++)
		if (!strcmp(types[i].name, type))
			return types[i].bits;
	return 0;
}

static bool cast(struct walk *w, const struct tep_print_arg *a, uint64_t *v)
{
	unsigned bits = cast_bits(a->typecast.type);

	if (!number(w, a->typecast.item, v))
		return false;
	if (bits)
		*v &= (UINT64_C(1) << bits) - 1;
	return true;
}

/* FIELD[INDEX]: the element lies in the payload or in the zeroes after it. */
static bool element(struct walk *w, const struct tep_print_arg *a, uint64_t *v)
{
	const struct tep_print_arg *left = a->op.left;
	const struct tep_format_field *f;
	uint64_t index, size;

	while (left->type == TEP_PRINT_TYPE && left->typecast.item)
		left = left->typecast.item;
	f = left->type == TEP_PRINT_DYNAMIC_ARRAY ? left->dynarray.field : field_of(w, left);
	if (!f) {
		worse(w, TEP_TRIAL);
		return false;
	}
	size = f->elementsize ? f->elementsize : 8;
	if (!number(w, a->op.right, &index)) {
		unknown(w);
		return false;
	}
	if (index > SPAN_MAX || index * size > SPAN_MAX) {
		worse(w, TEP_HARM);
		return false;
	}
	return left == a->op.left && left->type == TEP_PRINT_FIELD &&
	       read_at(w, (uint64_t)f->offset + index * size, size, v);
}

/* A number that must not be greater. */
static void bounded(struct walk *w, const struct tep_print_arg *a, uint64_t most)
{
	uint64_t v;

	if (!number(w, a, &v))
		unknown(w);
	else if (v > most)
		worse(w, TEP_HARM);
}

static bool choice(struct walk *w, const struct tep_print_arg *a, uint64_t *v)
{
	const struct tep_print_arg *two = a->op.right;
	uint64_t which;

	if (!two || two->type != TEP_PRINT_OP || !two->op.left || !two->op.right) {
		worse(w, TEP_TRIAL);
		return false;
	}
	if (number(w, a->op.left, &which))
		return number(w, which ? two->op.left : two->op.right, v);
	number(w, two->op.left, v);
	number(w, two->op.right, v);
	return false;
}

/* The operator and its second character; false: not a number that is known. */
static bool apply(const char *op, uint64_t a, uint64_t b, uint64_t *v)
{
	bool equal = op[1] == '=';

	switch (op[0]) {
	case '!': *v = equal ? a != b : !b; return true;
	case '~': *v = ~b; return true;
	case '|': *v = op[1] ? a || b : a | b; return true;
	case '&': *v = op[1] ? a && b : a & b; return true;
	case '<': *v = op[1] == '<' ? a << (b & 63) : equal ? a <= b : a < b; break;
	case '>': *v = op[1] == '>' ? a >> (b & 63) : equal ? a >= b : a > b; break;
	case '=': *v = a == b; return equal;
	case '-': *v = a - b; return true;
	case '+': *v = a + b; return true;
	case '*': *v = a * b; return true;
	case '/': *v = a / b; return true;
	case '%': *v = a % b; return true;
	default: return false;
	}
	/* What comes of a shift by 64 depends on the machine. */
	return b < 64 || op[1] != op[0];
}

static bool operation(struct walk *w, const struct tep_print_arg *a, uint64_t *v)
{
	const char *op = a->op.op;
	uint64_t left, right;
	bool known, divides;

	if (!op || !a->op.left || !a->op.right) {
		worse(w, TEP_TRIAL);
		return false;
	}
	if (op[0] == '[')
		return element(w, a, v);
	if (op[0] == '?')
		return choice(w, a, v);
	known = number(w, a->op.left, &left);
	divides = op[0] == '/' || op[0] == '%';
	if (!number(w, a->op.right, &right)) {
		if (divides)
			unknown(w);
		return false;
	}
	if (divides && !right) {
		worse(w, TEP_HARM);
		return false;
	}
	return known && apply(op, left, right, v);
}

static bool number(struct walk *w, const struct tep_print_arg *a, uint64_t *v)
{
	const struct tep_format_field *f;
	uint64_t at;
	bool known = false;

	if (!a || ++w->depth > DEPTH_MAX) {
		worse(w, TEP_TRIAL);
		return false;
	}
	*v = 0;
	switch (a->type) {
	case TEP_PRINT_NULL: known = true; break;
	case TEP_PRINT_ATOM: known = atom(a, v); break;
	case TEP_PRINT_FIELD:
		f = field_of(w, a);
		known = f && read_at(w, (uint64_t)f->offset, (uint64_t)f->size, v);
		break;
	case TEP_PRINT_TYPE: known = cast(w, a, v); break;
	case TEP_PRINT_OP: known = operation(w, a, v); break;
	case TEP_PRINT_DYNAMIC_ARRAY_LEN: known = dynamic(w, a->dynarray.field, &at, v); break;
	case TEP_PRINT_DYNAMIC_ARRAY:
		if (a->dynarray.index)
			bounded(w, a->dynarray.index, SPAN_MAX / 8);
		break;
	case TEP_PRINT_FUNC: worse(w, TEP_TRIAL); break;
	default: break; /* texts are 0, but who would compute with them? */
	}
	w->depth--;
	return known;
}

/* ---- texts ---- */

/* __print_hex and its like: COUNT elements of a field. */
static void elements(struct walk *w, const struct tep_print_arg *of,
		     const struct tep_print_arg *count, const struct tep_print_arg *size)
{
	uint64_t bytes = 1;

	if (!of || (of->type != TEP_PRINT_DYNAMIC_ARRAY && !field_of(w, of))) {
		worse(w, TEP_TRIAL);
		return;
	}
	if (size && (!number(w, size, &bytes) || bytes > 8))
		bytes = 8; /* of another size libtraceevent prints single bytes */
	bounded(w, count, SPAN_MAX / (bytes ? bytes : 1));
}

static void text(struct walk *w, const struct tep_print_arg *a);

static void text_choice(struct walk *w, const struct tep_print_arg *a)
{
	const struct tep_print_arg *two = a->op.right;
	uint64_t which;

	if (!a->op.op || a->op.op[0] != '?')
		return; /* prints nothing */
	if (!two || two->type != TEP_PRINT_OP) {
		worse(w, TEP_TRIAL);
		return;
	}
	if (number(w, a->op.left, &which)) {
		text(w, which ? two->op.left : two->op.right);
	} else {
		text(w, two->op.left);
		text(w, two->op.right);
	}
}

static void text(struct walk *w, const struct tep_print_arg *a)
{
	const struct tep_format_field *f;
	uint64_t v;

	if (!a || ++w->depth > DEPTH_MAX) {
		worse(w, TEP_TRIAL);
		return;
	}
	switch (a->type) {
	case TEP_PRINT_FIELD:
		f = field_of(w, a);
		if (f && !f->size && w->data && (uint64_t)f->offset > w->size)
			worse(w, TEP_TRIAL); /* the rest of a payload that has none */
		break;
	case TEP_PRINT_FLAGS: number(w, a->flags.field, &v); break;
	case TEP_PRINT_SYMBOL: number(w, a->symbol.field, &v); break;
	case TEP_PRINT_HEX:
	case TEP_PRINT_HEX_STR: elements(w, a->hex.field, a->hex.size, NULL); break;
	case TEP_PRINT_INT_ARRAY:
		elements(w, a->int_array.field, a->int_array.count, a->int_array.el_size);
		break;
	case TEP_PRINT_CPUMASK:
		if (!tep_find_any_field((struct tep_event *)(uintptr_t)w->te, a->bitmask.bitmask))
			worse(w, TEP_TRIAL);
		break;
	case TEP_PRINT_OP: text_choice(w, a); break;
	case TEP_PRINT_FUNC: worse(w, TEP_TRIAL); break;
	default: break;
	}
	w->depth--;
}

/* ---- conversions ---- */

struct conversion {
	char letter; /* 0: none of those that print an argument */
	bool star, harmless;
	bool precision; /* the star comes after a point */
};

/* The conversion at p, after its percent sign, as libtraceevent divides it; after its letter. */
static const char *conversion_at(const char *p, struct conversion *c)
{
	const char *start = p;
	uint32_t width = 0;
	int longs = 0;

	*c = (struct conversion){.harmless = true};
	for (; *p && strchr("#hlLzZ.-+*0123456789", *p); p++) {
		if (*p == '*') {
			c->precision = p > start && p[-1] == '.';
			c->harmless = c->harmless && !c->star;
			c->star = true;
		}
		longs += *p == 'l' || *p == 'L' || *p == 'z' || *p == 'Z';
		width = isdigit((unsigned char)*p) ? width * 10 + (uint32_t)(*p - '0') : 0;
		c->harmless = c->harmless && width <= WIDTH_MAX;
	}
	c->letter = *p && strchr("cduixXops", *p) ? *p : 0;
	if (p - start >= SPEC_MAX || (longs && (*p == 's' || *p == 'c')) || (c->star && !c->letter))
		c->harmless = false;
	return *p ? p + 1 : p;
}

/* The next conversion of a format text; NULL: there is none. */
static const char *next_conversion(const char *p, struct conversion *c)
{
	for (; *p; p++) {
		if (*p == '%' && p[1] != '%')
			return conversion_at(p + 1, c);
		if ((*p == '%' || *p == '\\') && p[1])
			p++;
	}
	return NULL;
}

/* A width or precision that is an argument: one below zero makes printf look for one more. */
static void star(struct walk *w, const struct conversion *c, const struct tep_print_arg *a)
{
	uint64_t v;

	/* Of pointers libtraceevent prints what is special of them, and no width. */
	if (!number(w, a, &v) && c->letter != 'p')
		unknown(w);
	else if (c->letter != 'p' &&
		 (uint32_t)v > (c->precision && c->letter == 's' ? INT32_MAX : WIDTH_MAX))
		worse(w, TEP_HARM);
}

/* One conversion takes its arguments; NULL: there is none left. */
static const struct tep_print_arg *take(struct walk *w, const struct conversion *c,
					const struct tep_print_arg *a)
{
	uint64_t v;

	if (c->star && a) {
		star(w, c, a);
		a = a->next;
	}
	if (!a) {
		worse(w, TEP_TRIAL);
		return NULL;
	}
	if (c->letter == 's')
		text(w, a);
	else
		number(w, a, &v);
	return a->next;
}

static enum tep_risk look(struct walk *w)
{
	const char *p = w->te->print_fmt.format;
	const struct tep_print_arg *a = w->te->print_fmt.args;
	struct conversion c;
	int n = 0;

	if (w->te->flags & TEP_EVENT_FL_FAILED || !p)
		return TEP_SAFE; /* its fields are printed */
	while ((p = next_conversion(p, &c))) {
		if (!c.harmless || ++n > ARGS_MAX) {
			worse(w, TEP_TRIAL);
			break;
		}
		if (c.letter)
			a = take(w, &c, a);
	}
	return w->risk;
}

enum tep_risk tep_guard_event(const struct tep_event *te)
{
	struct walk w = {.te = te};
	enum tep_risk risk = look(&w);

	/* What never prints is left to those who look at payloads. */
	return risk == TEP_HARM ? TEP_LOOK : risk;
}

enum tep_risk tep_guard_payload(const struct tep_event *te, const uint8_t *data, size_t size)
{
	struct walk w = {.te = te, .data = data, .size = size};

	return look(&w);
}

bool tep_guard_plain(const char *p)
{
	struct conversion c;
	int n = 0;

	while ((p = next_conversion(p, &c)))
		if (!c.harmless || c.star || ++n > ARGS_MAX)
			return false;
	return true;
}
