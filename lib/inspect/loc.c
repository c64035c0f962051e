/* From a variable to its parts: members, what it points to, elements. */
#include "inspect/loc.h"

#include "base/err.h"

#include <dwarf.h>
#include <string.h>

uint64_t loc_bits(struct loc *l)
{
	return l->bits ? l->bits : l->untyped ? 64 : 8 * type_size(&l->type);
}

/* Places of damaged files may be anywhere. */
static void move_by(struct value *v, uint64_t bytes)
{
	v->add = (int64_t)((uint64_t)v->add + bytes);
}

/* The piece that has the bits from `bit` on. */
static const char *choose_piece(struct loc *l, uint64_t bit)
{
	struct place whole = l->place;

	for (unsigned i = 0; i < whole.n; i++) {
		const struct piece *p = &whole.piece[i];

		if (bit >= p->bits) {
			bit -= p->bits;
			continue;
		}
		if (p->kind == PLACE_NONE)
			return p->why;
		l->place = (struct place){.kind = p->kind, .v = p->v, .late = whole.late};
		if (p->kind == PLACE_MEMORY)
			move_by(&l->place.v, bit / 8);
		l->bit = (unsigned)(p->kind == PLACE_MEMORY ? bit % 8 : bit);
		return NULL;
	}
	return "beyond its pieces";
}

const char *loc_field(struct loc *l, const struct type_part *f)
{
	uint64_t at = f->offset * 8 + f->bit_offset;

	if (f->offset > INT32_MAX)
		return "too far from its base";
	l->type = f->type;
	l->untyped = false;
	l->bits = f->bits;
	switch (l->place.kind) {
	case PLACE_MEMORY:
		move_by(&l->place.v, f->offset);
		l->bit = f->bit_offset;
		return NULL;
	case PLACE_VALUE:
		at += l->bit;
		if (at >= 64)
			return PLACE_GONE;
		l->bit = (unsigned)at;
		return NULL;
	case PLACE_SPLIT:
		/* It stays split where the part is wider than the piece that it begins in. */
		if (!at && l->place.piece[0].bits < loc_bits(l) && l->place.n > 1)
			return NULL;
		return choose_piece(l, at);
	default: return PLACE_GONE;
	}
}

/* std::unique_ptr and the like: the pointer in it. */
static void unwrap(struct loc *l)
{
	static const char *const names[] = {"unique_ptr<", "shared_ptr<", "__shared_ptr<",
					    "intrusive_ptr<", "scoped_ptr<"};
	Dwarf_Die t = l->type;
	struct type_part f;
	const char *name;

	if (l->untyped || type_class(&l->type) != TYPE_STRUCT)
		return;
	type_strip(&t);
	name = dwarf_diename(&t);
	for (size_t i = 0; name && i < sizeof(names) / sizeof(names[0]); i++) {
		if (strncmp(name, names[i], strlen(names[i])) != 0)
			continue;
		if (!type_first_pointer(&t, &f))
			loc_field(l, &f);
		return;
	}
}

const char *loc_deref(struct loc *l)
{
	Dwarf_Die t, to;

	unwrap(l);
	t = l->type;

	if (l->untyped || type_class(&l->type) != TYPE_POINTER)
		return "not a pointer";
	type_strip(&t);
	if (l->place.kind == PLACE_SPLIT) {
		const char *why = choose_piece(l, 0);

		if (why)
			return why;
	}
	if (l->place.kind == PLACE_VALUE && l->bit)
		return "a pointer in the middle of a register";
	if (l->place.kind == PLACE_MEMORY && !value_load(&l->place.v))
		return "too many pointers";
	l->place.kind = PLACE_MEMORY;
	l->bits = l->bit = 0;
	l->untyped = type_of(&t, &to) != 0;
	if (!l->untyped)
		l->type = to;
	return NULL;
}

static bool is_reference(Dwarf_Die *type)
{
	Dwarf_Die t = *type;
	int tag;

	type_strip(&t);
	tag = dwarf_tag(&t);
	return tag == DW_TAG_reference_type || tag == DW_TAG_rvalue_reference_type;
}

const char *loc_settle(struct loc *l)
{
	return !l->untyped && is_reference(&l->type) ? loc_deref(l) : NULL;
}

const char *loc_member(struct loc *l, const char *name, size_t len)
{
	const char *why = loc_settle(l);
	struct type_part f;

	if (!why && !l->untyped && type_class(&l->type) == TYPE_POINTER)
		why = loc_deref(l);
	if (why)
		return why;
	if (l->untyped || type_class(&l->type) != TYPE_STRUCT)
		return "has no members";
	if (!type_member(&l->type, name, len, &f))
		return loc_field(l, &f);
	unwrap(l);
	if (type_class(&l->type) != TYPE_POINTER)
		return "has no such member";
	why = loc_deref(l);
	if (!why && !l->untyped && !type_member(&l->type, name, len, &f))
		return loc_field(l, &f);
	return why ? why : "has no such member";
}

const char *loc_index(struct loc *l, int64_t index)
{
	const char *why = loc_settle(l);
	struct sequence s;
	Dwarf_Die elem;
	uint64_t size;
	struct type_part f = {0};

	if (why)
		return why;
	if (l->untyped || index < 0 || index > INT32_MAX)
		return "cannot be indexed";
	if (type_class(&l->type) == TYPE_ARRAY) {
		if (!type_count(&l->type, &elem))
			return "cannot be indexed";
		f.type = elem;
		f.offset = (uint64_t)index * type_size(&elem);
		return loc_field(l, &f);
	}
	if (loc_sequence(l, &s)) {
		if (s.data_gone)
			return s.data_gone;
		*l = s.data;
		elem = s.elem;
	} else if (type_class(&l->type) != TYPE_POINTER) {
		return "cannot be indexed";
	} else {
		Dwarf_Die t = l->type;

		type_strip(&t);
		if (type_of(&t, &elem))
			return "points to no type";
	}
	size = type_size(&elem);
	why = loc_deref(l);
	if (why || !size)
		return why ? why : "points to no type";
	f.type = elem;
	f.offset = (uint64_t)index * size;
	return loc_field(l, &f);
}

/* ---- sequences of the languages ---- */

static const struct form {
	const char *data, *length; /* members; data "*": the first pointer; paths */
	bool end;		   /* length is a pointer to the end */
} forms[] = {
	{"str", "len", false},				 /* Go: string */
	{"array", "len", false},			 /* Go: []T */
	{"data_ptr", "length", false},			 /* Rust: &str, &[T], Box<[T]> */
	{"vec.*", "vec.len", false},			 /* Rust: String */
	{"_M_dataplus._M_p", "_M_string_length", false}, /* libstdc++: string */
	{"_M_str", "_M_len", false},			 /* string_view */
	{"_M_impl._M_start", "_M_impl._M_finish", true}, /* vector */
	{"__begin_", "__end_", true},			 /* libc++: vector */
	{"buf.*", "len", false},			 /* Rust: Vec<T> */
	{"ptr", "length", false},			 /* D: T[] */
};

static const char *walk(const struct loc *l, const char *path, struct loc *to)
{
	struct type_part f, inner;
	char head[64];
	const char *star = strchr(path, '*');

	*to = *l;
	if (!star)
		return type_path(&to->type, path, &f) ? "" : loc_field(to, &f);
	memcpy(head, path, (size_t)(star - path));
	head[star - path] = 0;
	if (star > path)
		head[star - path - 1] = 0;
	if (type_path(&to->type, head, &f) || type_first_pointer(&f.type, &inner))
		return "";
	f.offset += inner.offset;
	f.type = inner.type;
	return loc_field(to, &f);
}

/* T of Vec<T>, whose pointer is one to bytes. */
static bool template_type(Dwarf_Die *type, Dwarf_Die *elem)
{
	Dwarf_Die t = *type, child;
	const char *name;

	type_strip(&t);
	if (dwarf_child(&t, &child))
		return false;
	do {
		name = dwarf_diename(&child);
		if (dwarf_tag(&child) == DW_TAG_template_type_parameter && name &&
		    !strcmp(name, "T"))
			return !type_of(&child, elem);
	} while (dwarf_siblingof(&child, &child) == 0);
	return false;
}

static bool is_text(const struct loc *l, Dwarf_Die *elem)
{
	Dwarf_Die t = l->type;
	const char *name;

	type_strip(&t);
	name = dwarf_diename(&t);
	if (!name)
		return false;
	return !strcmp(name, "string") || !strcmp(name, "&str") || !strcmp(name, "String") ||
	       !strcmp(name, "&mut str") || !strncmp(name, "basic_string", 12) ||
	       (type_is_char(elem) && type_size(elem) == 1);
}

bool loc_sequence(const struct loc *l, struct sequence *s)
{
	if (l->untyped || type_class(&((struct loc *)l)->type) != TYPE_STRUCT)
		return false;
	for (size_t i = 0; i < sizeof(forms) / sizeof(forms[0]); i++) {
		const char *data, *length;
		Dwarf_Die t;

		memset(s, 0, sizeof(*s));
		data = walk(l, forms[i].data, &s->data);
		length = walk(l, forms[i].length, &s->length);
		if ((data && !*data) || (length && !*length))
			continue;
		t = s->data.type;
		type_strip(&t);
		if (type_class(&t) != TYPE_POINTER ||
		    (!template_type(&((struct loc *)l)->type, &s->elem) && type_of(&t, &s->elem)))
			continue;
		s->data_gone = data;
		s->length_gone = length;
		s->end = forms[i].end;
		s->text = is_text(l, &s->elem);
		return true;
	}
	return false;
}
