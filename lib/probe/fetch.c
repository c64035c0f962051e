/* What a probe records: from variables to arguments in the kernel's syntax. */
#include "probe/fetch.h"

#include "base/err.h"

#include <dwarf.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct target {
	struct fetches *f;
	const struct binary *b;
	uint64_t pc;
	const char *type; /* that the user asked for */
	uint32_t first;	  /* arguments before this variable */
	unsigned left;	  /* members that may still be passed */
};

static const char *value(struct target *t, const char *name, const struct loc *l, int depth);

static bool name_taken(const struct fetches *f, const char *name)
{
	static const char *const reserved[] = {
		"common_type", "common_flags",	 "common_preempt_count", "common_pid",
		"__probe_ip",  "__probe_ret_ip", "__probe_func"};

	for (size_t i = 0; i < sizeof(reserved) / sizeof(reserved[0]); i++)
		if (!strcmp(reserved[i], name))
			return true;
	for (uint32_t i = 0; i < f->n; i++)
		if (!strcmp(f->v[i].name, name))
			return true;
	return false;
}

/* A valid name that is not taken yet. What follows "__" stays, whatever has to be cut. */
static int choose_name(const struct fetches *f, const char *name, char out[NAME_ARG_MAX + 1])
{
	const char *end = strstr(name, "__");
	struct buf b = BUF_INIT;
	size_t keep;

	while (end && strstr(end + 1, "__"))
		end = strstr(end + 1, "__");
	if (!end || end == name || strlen(end) > 8)
		end = "";
	for (unsigned k = 1; k < 1000; k++) {
		char number[8] = "";

		if (k > 1)
			snprintf(number, sizeof(number), "_%u", k);
		keep = NAME_ARG_MAX - strlen(end) - strlen(number);
		name_valid(name, SIZE_MAX, &b);
		if (b.err)
			break;
		b.len -= strlen(end) < b.len ? strlen(end) : 0;
		b.len = b.len < keep ? b.len : keep;
		snprintf(out, NAME_ARG_MAX + 1, "%.*s%s%s", (int)b.len, buf_str(&b), number, end);
		if (!name_taken(f, out)) {
			buf_release(&b);
			return 0;
		}
	}
	keep = b.err != 0;
	buf_release(&b);
	return keep ? PP_ENOMEM : PP_ELIMIT;
}

/* Bytes of the record that an argument takes. */
static uint32_t fetch_size(const char *type)
{
	const char *array = strchr(type, '[');
	uint32_t n = array ? (uint32_t)strtoul(array + 1, NULL, 10) : 1, bits;

	if (!strncmp(type, "string", 6) || !strncmp(type, "ustring", 7))
		return 4 * n;
	bits = (uint32_t)strtoul(type + (*type != 0), NULL, 10);
	if (*type == 'b' && strchr(type, '/'))
		bits = (uint32_t)strtoul(strchr(type, '/') + 1, NULL, 10);
	return (bits ? bits / 8 : 8) * n;
}

bool fetch_is_type(const char *type)
{
	static const char *const words[] = {"string", "ustring", "symbol", "symstr", "char"};
	size_t n = strcspn(type, "[");
	char *end;
	unsigned long bits;

	if (type[n]) {
		unsigned long count = strtoul(type + n + 1, &end, 10);

		if (!count || count > FETCH_ARRAY_MAX || strcmp(end, "]") != 0)
			return false;
	}
	for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++)
		if (strlen(words[i]) == n && !strncmp(words[i], type, n))
			return true;
	if (n < 2 || !strchr("suxb", type[0]) || type[1] < '1' || type[1] > '9')
		return false;
	bits = strtoul(type + 1, &end, 10);
	if (type[0] != 'b')
		return end == type + n && (bits == 8 || bits == 16 || bits == 32 || bits == 64);
	return *end == '@' && bits <= 64 && strchr(end, '/') &&
	       strspn(end, "@/0123456789") == strlen(end);
}

const char *fetch_add(struct fetches *f, const char *name, const char *text, const char *type)
{
	struct fetch *v = &f->v[f->n];
	uint32_t sum = fetch_size(type);
	int rc;

	if (f->n == FETCH_MAX)
		return "the kernel accepts at most 128 arguments";
	if (strlen(text) + strlen(type) + 1 > FETCH_TEXT_MAX || strlen(type) >= sizeof(v->type))
		return "its text is too long for the kernel (63 characters)";
	for (uint32_t i = 0; i < f->n; i++)
		sum += fetch_size(f->v[i].type);
	if (sum > FETCH_BYTES_MAX)
		return "the kernel accepts at most 3072 bytes of arguments";
	memset(v, 0, sizeof(*v));
	rc = choose_name(f, name, v->name);
	f->no_memory = f->no_memory || rc == PP_ENOMEM;
	if (rc)
		return rc == PP_ENOMEM ? FETCH_NO_MEMORY : "it has no name that is left";
	snprintf(v->text, sizeof(v->text), "%s", text);
	snprintf(v->type, sizeof(v->type), "%s", type);
	f->n++;
	return NULL;
}

bool fetches_alike(const struct fetches *a, const struct fetches *b)
{
	if (a->n != b->n)
		return false;
	for (uint32_t i = 0; i < a->n; i++)
		if (strcmp(a->v[i].name, b->v[i].name) != 0 ||
		    strcmp(a->v[i].type, b->v[i].type) != 0)
			return false;
	return true;
}

/* Adds what is at a place, as `type`. */
static const char *put(struct target *t, const char *name, const struct loc *l, const char *type)
{
	struct buf text = BUF_INIT;
	const char *why;

	if (l->place.kind != PLACE_VALUE && l->place.kind != PLACE_MEMORY)
		why = l->place.why ? l->place.why : PLACE_GONE;
	else
		why = place_text(&l->place.v, l->place.kind == PLACE_MEMORY, t->b, t->pc, &text);
	if (!why && t->f->n - t->first >= FETCH_PARTS_MAX)
		why = "it has too many parts";
	t->f->no_memory = t->f->no_memory || text.err;
	if (!why)
		why = text.err ? FETCH_NO_MEMORY : fetch_add(t->f, name, buf_str(&text), type);
	buf_release(&text);
	return why;
}

static const char *suffixed(struct target *t, const char *name, const char *suffix,
			    const struct loc *l, const char *type)
{
	char full[256];

	snprintf(full, sizeof(full), "%.200s%s", name, suffix);
	return put(t, full, l, type);
}

/* Bits of a register or of memory that are no whole number of their own. */
static const char *bit_field(struct target *t, const char *name, struct loc *l)
{
	uint64_t bits = loc_bits(l), container = 64;
	uint64_t unit = l->bits ? 8 * type_size(&l->type) : 8;
	char type[16], suffix[8] = "";

	if (!bits || bits > 64 || l->bit + bits > 64)
		return "in the middle of a register";
	if (l->place.kind == PLACE_MEMORY)
		for (container = unit == 16 || unit == 32 || unit == 64 ? unit : 8;
		     container < l->bit + bits; container *= 2)
			;
	if (bits == container) {
		snprintf(type, sizeof(type), "%c%u", type_signed(&l->type) ? 's' : 'u',
			 (unsigned)bits);
		return put(t, name, l, type);
	}
	snprintf(type, sizeof(type), "b%u@%u/%u", (unsigned)bits, l->bit, (unsigned)container);
	if (type_signed(&l->type))
		snprintf(suffix, sizeof(suffix), "__s%u", (unsigned)bits);
	return suffixed(t, name, suffix, l, type);
}

/* The kernel's name for a number of a type, NULL: it is none. */
static const char *scalar_type(struct loc *l, char out[16])
{
	enum type_class c = l->untyped ? TYPE_POINTER : type_class(&l->type);
	uint64_t size = l->untyped ? 8 : type_size(&l->type);
	char letter = c == TYPE_POINTER || c == TYPE_FLOAT ? 'x'
		      : type_signed(&l->type)		   ? 's'
							   : 'u';

	if (c == TYPE_STRUCT || c == TYPE_ARRAY || c == TYPE_OTHER ||
	    (size != 1 && size != 2 && size != 4 && size != 8))
		return NULL;
	snprintf(out, 16, "%c%u", letter, (unsigned)(size * 8));
	return out;
}

static const char *scalar(struct target *t, const char *name, struct loc *l)
{
	char type[16];
	uint64_t bits = loc_bits(l);

	if (l->bits || l->bit)
		return bit_field(t, name, l);
	if (!scalar_type(l, type))
		return "of a type that the kernel cannot record";
	if (!l->untyped && type_class(&l->type) == TYPE_FLOAT)
		return suffixed(t, name, bits == 32 ? "__f32" : "__f64", l, type);
	return put(t, name, l, type);
}

static const char *array(struct target *t, const char *name, struct loc *l, int depth)
{
	struct loc one = *l;
	Dwarf_Die elem;
	uint64_t n = type_count(&l->type, &elem);
	char type[16], list[16];
	struct type_part first = {.type = elem};
	const char *why;

	if (!n)
		return "an array of unknown length";
	for (int i = 0; i < TYPE_DEPTH && type_class(&elem) == TYPE_ARRAY; i++)
		if (!type_count(&elem, &elem))
			break;
	first.type = elem;
	n = type_size(&l->type) / (type_size(&elem) ? type_size(&elem) : 1);
	n = n < FETCH_ARRAY_MAX ? n : FETCH_ARRAY_MAX;
	why = loc_field(&one, &first);
	if (why || n == 1 || one.place.kind != PLACE_MEMORY)
		return why ? why : n == 1 ? value(t, name, &one, depth + 1) : scalar(t, name, &one);
	if (!scalar_type(&one, type))
		return "an array of structures: name one of them, as in a[0]";
	snprintf(list, sizeof(list), "%.8s[%u]", type_is_char(&elem) ? "x8" : type, (unsigned)n);
	return suffixed(t, name, type_is_char(&elem) ? "__str" : "__elem", &one, list);
}

static const char *sequence(struct target *t, const char *name, struct sequence *s)
{
	const char *why = NULL;
	struct loc data = s->data;
	char type[16], list[16];

	if (s->data_gone && s->length_gone)
		return s->data_gone;
	if (!s->data_gone)
		why = suffixed(t, name, "__ptr", &s->data, "x64");
	if (!why && !s->length_gone)
		why = suffixed(t, name, s->end ? "__end" : "__len", &s->length,
			       s->end ? "x64" : "u64");
	if (s->data_gone || s->length_gone)
		t->f->left_out++;
	if (why || s->data_gone || loc_deref(&data))
		return why;
	data.type = s->elem;
	data.untyped = false;
	if (s->text || (type_size(&s->elem) == 1 && scalar_type(&data, type))) {
		return suffixed(t, name, "__str", &data, "x8[64]");
	}
	if (!scalar_type(&data, type))
		return NULL;
	snprintf(list, sizeof(list), "%.8s[%d]", type, FETCH_ELEMS);
	return suffixed(t, name, "__elem", &data, list);
}

/* Every member that can be recorded. */
static const char *structure(struct target *t, const char *name, struct loc *l, Dwarf_Die *in,
			     int depth)
{
	Dwarf_Die type = *in, m;
	const char *why = "it has no members that can be recorded";
	uint32_t had = t->f->n;

	type_strip(&type);
	if (depth > 8 || dwarf_child(&type, &m))
		return why;
	do {
		int tag = dwarf_tag(&m);
		const char *part = dwarf_diename(&m), *bad;
		struct loc inner = *l;
		struct type_part f;
		char full[256];

		if (tag == DW_TAG_variant_part || tag == DW_TAG_variant) {
			structure(t, name, l, &m, depth + 1);
			continue;
		}
		if ((tag != DW_TAG_member && tag != DW_TAG_inheritance) || type_field(&m, &f))
			continue;
		snprintf(full, sizeof(full), part && *part ? "%.100s_%.100s" : "%.100s", name,
			 part);
		bad = loc_field(&inner, &f);
		bad = bad ? bad : value(t, full, &inner, depth + 1);
		if (bad) {
			t->f->left_out++;
			why = bad;
		}
	} while (t->left && --t->left && dwarf_siblingof(&m, &m) == 0);
	return t->f->n > had ? NULL : why;
}

static const char *value(struct target *t, const char *name, const struct loc *from, int depth)
{
	struct loc l = *from;
	const char *why = loc_settle(&l);
	struct sequence s;

	if (why)
		return why;
	if (l.untyped)
		return "points to no type";
	if (depth > TYPE_DEPTH)
		return "its type contains itself";
	if (loc_sequence(&l, &s))
		return sequence(t, name, &s);
	switch (type_class(&l.type)) {
	case TYPE_STRUCT: return structure(t, name, &l, &l.type, depth);
	case TYPE_ARRAY: return array(t, name, &l, depth);
	default: return scalar(t, name, &l);
	}
}

static bool reads_memory(const char *type)
{
	return strstr(type, "string") || strchr(type, '[');
}

/* As the type that the user said. Texts and arrays are what a pointer points to. */
static const char *typed(struct target *t, const char *name, const struct loc *from)
{
	struct loc l = *from;
	const char *why = loc_settle(&l);
	struct sequence s;

	if (why)
		return why;
	if (reads_memory(t->type)) {
		if (loc_sequence(&l, &s)) {
			if (s.data_gone)
				return s.data_gone;
			l = s.data;
		}
		if (!l.untyped && type_class(&l.type) == TYPE_POINTER)
			why = loc_deref(&l);
		if (!why && l.place.kind == PLACE_VALUE)
			why = "it is in a register, not in memory";
		return why ? why : put(t, name, &l, t->type);
	}
	if (l.bits || (l.bit && l.place.kind == PLACE_VALUE))
		return bit_field(t, name, &l);
	return put(t, name, &l, t->type);
}

const char *fetch_loc(struct fetches *f, const char *name, const struct loc *l, const char *type,
		      const struct binary *b, uint64_t pc)
{
	struct target t = {
		.f = f, .b = b, .pc = pc, .type = type, .first = f->n, .left = TYPE_MEMBERS_MAX};
	uint32_t had = f->n;
	const char *why = type ? typed(&t, name, l) : value(&t, name, l, 0);

	/* Half a variable is none. */
	if (why)
		f->n = had;
	return why;
}
