/* Arguments of a probe of the kernel, by its own types. */
#include "probe/kernel_args.h"

#include "inspect/place.h"
#include "probe/arg.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define PARTS_MAX   256	 /* members that are tried of a structure, with those in them */
#define VAR_DEPTH   8	 /* structures in structures that are recorded whole */
#define NAME_BYTES  128	 /* of an argument, before it is cut to what the kernel takes */
#define INDEX_MAX   4096 /* elements of a pointer, which has no bounds */
#define STACK_SKIP  8	 /* bytes between the stack pointer and the first parameter there */
#define AX	    0	 /* the result, by its DWARF number */
#define BY_REGISTER 16	 /* bytes of what is passed in registers at most */

/* di, si, dx, cx, r8, r9 by their DWARF numbers. */
static const int registers[] = {5, 4, 1, 2, 8, 9};

enum { REGISTERS = sizeof(registers) / sizeof(registers[0]) };

/* A variable or a part of one. */
struct var {
	const struct kbtf *k;
	struct value v;
	bool memory; /* it is at v, not v itself */
	uint32_t type;
	unsigned bits, bit; /* a part of that; 0: by its type */
};

/* ---- from a name to a place ---- */

/* The registers, and the bytes of the stack, that parameters have taken so far. */
struct taken {
	unsigned registers;
	uint64_t stack;
};

/* Where the next parameter is. */
static void take(const struct kbtf *k, uint32_t type, struct taken *t, struct var *v)
{
	uint64_t size, words;
	bool sign;

	kbtf_class(k, type, &size, &sign);
	words = size <= 8 ? 1 : size / 8 + (size % 8 != 0);
	*v = (struct var){.k = k, .type = type, .v = {.base = VALUE_REGISTER}};
	v->memory = size > BY_REGISTER || t->registers + words > REGISTERS;
	if (v->memory) {
		v->v.reg = 7;
		v->v.add = (int64_t)(STACK_SKIP + t->stack);
		t->stack += 8 * words;
	} else {
		v->v.reg = registers[t->registers];
		t->registers += (unsigned)words;
	}
}

static const char *open_param(const struct kernel_site *s, const char *name, size_t len,
			      struct var *v)
{
	struct taken t = {0};
	const char *p;
	uint32_t type;

	if (!s->types)
		return "the kernel's types are not here, so parameters are not known";
	if (!s->proto)
		return "the kernel's types do not have the function";
	if (!s->entry)
		return "parameters are known where the function begins only";
	for (unsigned i = 0; !kbtf_param(s->types, s->proto, i, &p, &type); i++) {
		take(s->types, type, &t, v);
		if (strlen(p) == len && !memcmp(p, name, len))
			return NULL;
	}
	return "the function has no such parameter";
}

static const char *open_result(const struct kernel_site *s, struct var *v)
{
	uint64_t size;
	uint32_t type;
	bool sign;

	if (!s->types || !s->proto)
		return "the kernel's types do not have the function";
	if (kbtf_result(s->types, s->proto, &type))
		return "the function returns nothing";
	kbtf_class(s->types, type, &size, &sign);
	*v = (struct var){.k = s->types, .type = type, .v = {.base = VALUE_REGISTER, .reg = AX}};
	v->memory = size > BY_REGISTER;
	return NULL;
}

static const char *deref(struct var *v)
{
	uint32_t to;

	if (kbtf_target(v->k, v->type, &to))
		return "not a pointer to a type";
	if (v->bits)
		return "in the middle of a register";
	if (v->memory && !value_load(&v->v))
		return "too many pointers";
	v->memory = true;
	v->type = to;
	return NULL;
}

/* The part of a variable that begins at `bit`; bits: 0, by its type. */
static const char *narrow(struct var *v, uint32_t type, uint64_t bit, unsigned bits)
{
	uint64_t size;
	bool sign;

	if (v->memory) {
		v->v.add += (int64_t)(bit / 8);
		bit %= 8;
	} else {
		kbtf_class(v->k, type, &size, &sign);
		bit += v->bit;
		bits = bits ? bits : size <= 8 ? (unsigned)(8 * size) : 65;
		if (bit + bits > 64)
			return "in the second register of a structure";
	}
	v->bits = bits;
	v->bit = (unsigned)bit;
	v->type = type;
	return NULL;
}

static const char *member(struct var *v, const char *name, size_t len)
{
	struct kbtf_member m;
	uint64_t size;
	bool sign;
	const char *why = NULL;

	if (kbtf_class(v->k, v->type, &size, &sign) == KBTF_POINTER)
		why = deref(v);
	if (why)
		return why;
	if (kbtf_find(v->k, v->type, name, len, &m))
		return "has no such member";
	return narrow(v, m.type, m.bit, m.bits);
}

static const char *element(struct var *v, long long i)
{
	uint32_t elem, n = INDEX_MAX;
	uint64_t size;
	bool sign;
	const char *why = NULL;

	if (kbtf_array(v->k, v->type, &elem, &n)) {
		why = deref(v);
		elem = v->type;
	}
	if (why)
		return why;
	if (i < 0 || i >= (n ? n : INDEX_MAX))
		return "the array has fewer elements";
	kbtf_class(v->k, elem, &size, &sign);
	if (!size)
		return "an array of elements whose size is not known";
	return narrow(v, elem, 8 * size * (uint64_t)i, 0);
}

/* What follows the name of a variable; *last: the last name in it. */
static const char *steps(struct var *v, const char *s, const char **last)
{
	const char *why = NULL;

	while (*s && !why) {
		size_t n = 0;

		if (*s == '[') {
			char *end;
			long long i = strtoll(s + 1, &end, 0);

			if (end == s + 1 || *end != ']')
				return "an index must be a number";
			s = end + 1;
			why = element(v, i);
			continue;
		}
		s += !strncmp(s, "->", 2) ? 2 : *s == '.' ? 1 : 0;
		while (isalnum((unsigned char)s[n]) || s[n] == '_')
			n++;
		if (!n)
			return "not understood";
		*last = s;
		why = member(v, s, n);
		s += n;
	}
	return why;
}

/* ---- from a place to what the kernel fetches ---- */

/* How deep it is in structures, and how many members may still be tried. */
struct bounds {
	int depth, left;
};

static const char *value(struct var *v, const char *name, struct fetches *f, struct bounds *b);

static const char *put(const struct var *v, const char *name, const char *type, struct fetches *f)
{
	struct buf text = BUF_INIT;
	const char *why = place_text(&v->v, v->memory, NULL, 0, &text);

	if (!why)
		why = text.err ? FETCH_NO_MEMORY : fetch_add(f, name, buf_str(&text), type);
	buf_release(&text);
	return why;
}

static const char *put_suffixed(const struct var *v, const char *name, const char *suffix,
				const char *type, struct fetches *f)
{
	char full[NAME_BYTES + 16];

	snprintf(full, sizeof(full), "%.*s%s", NAME_BYTES, name, suffix);
	return put(v, full, type, f);
}

/* The kernel's name of a number's type. False: it has none. */
static bool number_type(const struct var *v, char out[16])
{
	uint64_t size;
	bool sign;
	enum kbtf_class c = kbtf_class(v->k, v->type, &size, &sign);

	if ((!kbtf_is_number(c) && c != KBTF_POINTER) ||
	    (size != 1 && size != 2 && size != 4 && size != 8))
		return false;
	snprintf(out, 16, "%c%u", c == KBTF_POINTER ? 'x' : sign ? 's' : 'u', (unsigned)size * 8);
	return true;
}

/* A bit field has a letter of its own, without a sign: the name tells that. */
static const char *put_number(const struct var *v, const char *name, struct fetches *f)
{
	unsigned container = v->memory ? 8 : 64;
	char type[24], suffix[16] = "";

	if (!number_type(v, type))
		return "of a type that the kernel cannot record";
	while (container < v->bit + v->bits)
		container *= 2;
	if (v->bit + v->bits > 64)
		return "a bit field that is longer than the kernel can record";
	if (v->bits && (v->bit || v->bits != (unsigned)atoi(type + 1))) {
		if (type[0] == 's')
			snprintf(suffix, sizeof(suffix), "__s%u", v->bits);
		snprintf(type, sizeof(type), "b%u@%u/%u", v->bits, v->bit, container);
	}
	return put_suffixed(v, name, suffix, type, f);
}

static const char *put_array(struct var *v, const char *name, struct fetches *f)
{
	uint32_t n;
	uint64_t size, all;
	bool sign;
	char type[16], list[32];

	kbtf_class(v->k, v->type, &all, &sign);
	if (!v->memory)
		return "in a register";
	if (!all)
		return "an array of no known length: name one of its elements, as in a[0]";
	for (int i = 0; i < VAR_DEPTH && !kbtf_array(v->k, v->type, &v->type, &n); i++)
		;
	kbtf_class(v->k, v->type, &size, &sign);
	if (!number_type(v, type))
		return "an array of structures: name one of them, as in a[0]";
	all /= size;
	all = all < FETCH_ARRAY_MAX ? all : FETCH_ARRAY_MAX;
	if (all == 1)
		return put(v, name, type, f);
	if (kbtf_is_char(v->k, v->type))
		snprintf(type, sizeof(type), "x8");
	snprintf(list, sizeof(list), "%s[%u]", type, (unsigned)all);
	return put_suffixed(v, name, kbtf_is_char(v->k, v->type) ? "__str" : "__elem", list, f);
}

/* Every member that can be recorded. */
static const char *put_members(const struct var *v, const char *name, struct fetches *f,
			       struct bounds *b)
{
	const char *why = "it has no members that can be recorded";
	uint32_t had = f->n;
	struct kbtf_member m;

	for (uint32_t i = 0; b->left > 0 && !kbtf_member(v->k, v->type, i, &m); i++) {
		char full[NAME_BYTES + 1];
		struct var part = *v;
		const char *bad = narrow(&part, m.type, m.bit, m.bits);

		b->left--;
		snprintf(full, sizeof(full), "%.60s%s%.60s", name, *m.name ? "_" : "", m.name);
		if (!bad && f->n - had >= FETCH_PARTS_MAX)
			bad = "it has too many parts";
		bad = bad ? bad : value(&part, full, f, b);
		if (bad) {
			f->left_out++;
			why = bad;
		}
	}
	return f->n > had ? NULL : why;
}

/* By its own type. */
static const char *value(struct var *v, const char *name, struct fetches *f, struct bounds *b)
{
	const char *why = "structures in structures: name a member";
	uint64_t size;
	bool sign;

	switch (kbtf_class(v->k, v->type, &size, &sign)) {
	case KBTF_STRUCT:
	case KBTF_UNION:
		b->depth++;
		if (b->depth <= VAR_DEPTH)
			why = put_members(v, name, f, b);
		b->depth--;
		return why;
	case KBTF_ARRAY: return put_array(v, name, f);
	default: return put_number(v, name, f);
	}
}

static bool reads_memory(const char *type)
{
	return strstr(type, "string") || strchr(type, '[');
}

/* As the type that the user said. Texts and arrays are what a pointer points to. */
static const char *typed(struct var *v, const char *name, const char *type, struct fetches *f)
{
	uint64_t size;
	bool sign;
	enum kbtf_class c = kbtf_class(v->k, v->type, &size, &sign);

	if (v->bits && (!v->memory || v->bit))
		return put_number(v, name, f);
	if (reads_memory(type) && (c == KBTF_POINTER || (kbtf_is_number(c) && !v->memory))) {
		if (v->memory && !value_load(&v->v))
			return "too many pointers";
		v->memory = true;
	}
	if (reads_memory(type) && !v->memory)
		return "it is in a register, not in memory";
	return put(v, name, type, f);
}

static const char *put_var(struct var *v, const char *name, const char *type, struct fetches *f)
{
	struct bounds b = {.left = PARTS_MAX};

	return *type ? typed(v, name, type, f) : value(v, name, f, &b);
}

/* ---- what people write ---- */

static const char *all_params(const struct kernel_site *s, struct fetches *f)
{
	const char *name, *why = "the kernel's types do not have the function";
	uint32_t type;

	if (!s->types || !s->proto)
		return why;
	for (unsigned i = 0; !kbtf_param(s->types, s->proto, i, &name, &type); i++) {
		struct var v;

		why = open_param(s, name, strlen(name), &v);
		why = why ? why : put_var(&v, name, "", f);
		if (why)
			diag_say(s->diag, NULL, "not recorded: %s (%s)", name, why);
	}
	return NULL;
}

static const char *variable(const struct kernel_site *s, const char *name, const char *expr,
			    const char *type, struct fetches *f)
{
	size_t stars = strspn(expr, "*"), n;
	struct var v;
	const char *why, *last = expr + stars;
	char called[64];

	expr += stars;
	n = strcspn(expr, "-.[");
	why = open_param(s, expr, n, &v);
	if (!why)
		why = steps(&v, expr + n, &last);
	while (!why && stars--)
		why = deref(&v);
	snprintf(called, sizeof(called), "%.*s", (int)strcspn(last, "-.["), last);
	return why ? why : put_var(&v, *name ? name : called, type, f);
}

static const char *result(const struct kernel_site *s, const char *name, const char *rest,
			  const char *type, struct fetches *f)
{
	const char *last = "retval", *why;
	uint32_t had = f->n;
	char called[64];
	struct var v;

	if (!s->returns)
		return "the result is there where a function returns only: FUNC%return";
	why = open_result(s, &v);
	if (why && !*rest)
		return fetch_add(f, *name ? name : "retval",
				 reads_memory(type) ? "+0($retval)" : "$retval", type);
	if (!why)
		why = steps(&v, rest, &last);
	snprintf(called, sizeof(called), "%.*s", (int)strcspn(last, "-.["), last);
	if (!why)
		why = put_var(&v, *name ? name : called, type, f);
	if (!why)
		arg_name_result(f, had);
	return why;
}

/* In the kernel's syntax. */
static const char *raw(const struct kernel_site *s, const char *name, const char *expr,
		       const char *type, struct fetches *f, struct buf *why)
{
	const struct arg_site at = {
		.entry = s->entry, .returns = s->returns, .kernel_returns = s->returns};
	struct buf text = BUF_INIT;
	const char *bad = NULL;
	unsigned bits;
	char own[16];

	snprintf(own, sizeof(own), "arg%u", (unsigned)f->n + 1);
	if ((expr[0] == '$' || expr[0] == '%') && strlen(expr) < sizeof(own))
		snprintf(own, sizeof(own), "%s", expr + 1);
	if (arg_kernel_syntax(&at, expr, &text, &bits, why))
		bad = text.err ? FETCH_NO_MEMORY : buf_str(why);
	if (!bad)
		bad = fetch_add(f, *name ? name : own, buf_str(&text),
				!*type && bits == 32 ? "u32" : type);
	buf_release(&text);
	return bad;
}

const char *kernel_argument(const struct kernel_site *s, const char *text, struct fetches *f,
			    struct buf *why)
{
	char copy[512], *expr = copy, *colon, *equals;
	const char *name = "", *type = "";

	if (strlen(text) >= sizeof(copy))
		return "too long";
	snprintf(copy, sizeof(copy), "%s", text);
	equals = strchr(copy, '=');
	if (equals && name_is_valid(copy, (size_t)(equals - copy), NAME_ARG_MAX)) {
		*equals = 0;
		name = copy;
		expr = equals + 1;
	}
	colon = strrchr(expr, ':');
	if (colon) {
		*colon = 0;
		type = colon + 1;
		if (!fetch_is_type(type))
			return "the kernel has no such type";
	}
	if (!strcmp(expr, "$params"))
		return all_params(s, f);
	if (!strncmp(expr, "$retval", 7) && (!expr[7] || strchr("-.[", expr[7])))
		return result(s, name, expr + 7, type, f);
	if (expr[0] == '$' || strchr("%+-@\\", expr[0]))
		return raw(s, name, expr, type, f, why);
	return variable(s, name, expr, type, f);
}

void kernel_param_place(const struct kernel_site *s, const char *name, struct buf *b)
{
	struct var v;
	const char *why = open_param(s, name, strlen(name), &v);

	why = why ? why : place_text(&v.v, v.memory, NULL, 0, b);
	if (why)
		buf_adds(b, why);
}
