/* Types of DWARF. */
#include "inspect/type.h"

#include "base/err.h"

#include <dwarf.h>
#include <string.h>

int type_of(Dwarf_Die *die, Dwarf_Die *type)
{
	Dwarf_Attribute attr;

	return dwarf_attr_integrate(die, DW_AT_type, &attr) && dwarf_formref_die(&attr, type)
		       ? 0
		       : PP_ENOENT;
}

static bool is_wrapper(int tag)
{
	switch (tag) {
	case DW_TAG_typedef:
	case DW_TAG_const_type:
	case DW_TAG_volatile_type:
	case DW_TAG_restrict_type:
	case DW_TAG_atomic_type:
	case DW_TAG_immutable_type:
	case DW_TAG_packed_type:
	case DW_TAG_shared_type: return true;
	default: return false;
	}
}

void type_strip(Dwarf_Die *type)
{
	for (int i = 0; i < TYPE_DEPTH && is_wrapper(dwarf_tag(type)); i++) {
		Dwarf_Die next;

		if (type_of(type, &next))
			break;
		*type = next;
	}
}

static enum type_class base_class(Dwarf_Die *t)
{
	Dwarf_Attribute attr;
	Dwarf_Word encoding;

	if (dwarf_formudata(dwarf_attr_integrate(t, DW_AT_encoding, &attr), &encoding))
		return TYPE_OTHER;
	switch (encoding) {
	case DW_ATE_signed:
	case DW_ATE_signed_char: return TYPE_SIGNED;
	case DW_ATE_float: return TYPE_FLOAT;
	case DW_ATE_boolean:
	case DW_ATE_unsigned:
	case DW_ATE_unsigned_char:
	case DW_ATE_UTF:
	case DW_ATE_ASCII: return TYPE_UNSIGNED;
	case DW_ATE_address: return TYPE_POINTER;
	default: return TYPE_OTHER;
	}
}

enum type_class type_class(Dwarf_Die *type)
{
	Dwarf_Die t = *type;

	type_strip(&t);
	switch (dwarf_tag(&t)) {
	case DW_TAG_base_type: return base_class(&t);
	case DW_TAG_pointer_type:
	case DW_TAG_reference_type:
	case DW_TAG_rvalue_reference_type:
	case DW_TAG_subroutine_type:
	case DW_TAG_unspecified_type: return TYPE_POINTER;
	case DW_TAG_enumeration_type: return TYPE_ENUM;
	case DW_TAG_structure_type:
	case DW_TAG_class_type:
	case DW_TAG_union_type: return TYPE_STRUCT;
	case DW_TAG_array_type: return TYPE_ARRAY;
	default: return TYPE_OTHER;
	}
}

bool type_signed(Dwarf_Die *type)
{
	Dwarf_Die t = *type, under;
	Dwarf_Attribute attr;
	Dwarf_Die child;
	Dwarf_Sword v;

	type_strip(&t);
	if (dwarf_tag(&t) != DW_TAG_enumeration_type)
		return type_class(&t) == TYPE_SIGNED;
	if (!type_of(&t, &under))
		return type_class(&under) == TYPE_SIGNED;
	for (int rc = dwarf_child(&t, &child); rc == 0; rc = dwarf_siblingof(&child, &child))
		if (dwarf_attr(&child, DW_AT_const_value, &attr) &&
		    dwarf_formsdata(&attr, &v) == 0 && v < 0)
			return true;
	return false;
}

bool type_is_char(Dwarf_Die *type)
{
	Dwarf_Die t = *type;
	Dwarf_Attribute attr;
	Dwarf_Word encoding;

	type_strip(&t);
	return dwarf_tag(&t) == DW_TAG_base_type && type_size(&t) == 1 &&
	       !dwarf_formudata(dwarf_attr_integrate(&t, DW_AT_encoding, &attr), &encoding) &&
	       (encoding == DW_ATE_signed_char || encoding == DW_ATE_unsigned_char);
}

static bool number(Dwarf_Die *die, unsigned name, uint64_t *v)
{
	Dwarf_Attribute attr;
	Dwarf_Word w;

	if (!dwarf_attr_integrate(die, name, &attr) || dwarf_formudata(&attr, &w))
		return false;
	*v = w;
	return true;
}

/* What libdw does not tell in units without a language, as dwz makes them. */
static uint64_t array_size(Dwarf_Die *array)
{
	Dwarf_Die elem, child;
	uint64_t n = 1;
	unsigned dimensions = 0;

	if (type_of(array, &elem) || type_class(&elem) == TYPE_ARRAY || dwarf_child(array, &child))
		return 0;
	do {
		uint64_t count, first = 0, last;

		if (dwarf_tag(&child) != DW_TAG_subrange_type)
			continue;
		number(&child, DW_AT_lower_bound, &first);
		if (number(&child, DW_AT_upper_bound, &last) && last >= first)
			count = last - first + 1;
		else if (!number(&child, DW_AT_count, &count))
			return 0;
		if (__builtin_mul_overflow(n, count, &n))
			return 0;
		dimensions++;
	} while (dimensions < TYPE_DEPTH && dwarf_siblingof(&child, &child) == 0);
	return dimensions && !__builtin_mul_overflow(n, type_size(&elem), &n) ? n : 0;
}

uint64_t type_size(Dwarf_Die *type)
{
	Dwarf_Die t = *type;
	Dwarf_Word size;

	type_strip(&t);
	if (dwarf_aggregate_size(&t, &size) == 0)
		return size;
	if (dwarf_tag(&t) == DW_TAG_array_type)
		return array_size(&t);
	return type_class(&t) == TYPE_POINTER ? 8 : 0;
}

uint64_t type_count(Dwarf_Die *type, Dwarf_Die *elem)
{
	Dwarf_Die t = *type;
	uint64_t all, one;

	type_strip(&t);
	if (dwarf_tag(&t) != DW_TAG_array_type || type_of(&t, elem))
		return 0;
	all = type_size(&t);
	one = type_size(elem);
	return one ? all / one : 0;
}

/* Where a member begins: a number, or DW_OP_plus_uconst of DWARF 2. */
static bool member_offset(Dwarf_Die *m, uint64_t *v)
{
	Dwarf_Attribute attr;
	Dwarf_Op *ops;
	size_t n;

	*v = 0;
	if (!dwarf_attr_integrate(m, DW_AT_data_member_location, &attr))
		return true; /* a union's */
	if (number(m, DW_AT_data_member_location, v))
		return true;
	if (dwarf_getlocation(&attr, &ops, &n) || n != 1 || ops[0].atom != DW_OP_plus_uconst)
		return false;
	*v = ops[0].number;
	return true;
}

int type_field(Dwarf_Die *m, struct type_part *f)
{
	uint64_t bits, at, size;

	memset(f, 0, sizeof(*f));
	if (type_of(m, &f->type) || !member_offset(m, &f->offset))
		return PP_ENOENT;
	if (!number(m, DW_AT_bit_size, &bits) || !bits || bits > 64)
		return 0;
	f->bits = (unsigned)bits;
	size = type_size(&f->type);
	if (number(m, DW_AT_data_bit_offset, &at)) {
		/* Of the whole storage unit, which is read without leaving the structure. */
		if (!size || at % (8 * size) + bits > 8 * size)
			size = 1;
		f->offset = at / (8 * size) * size;
		f->bit_offset = (unsigned)(at % (8 * size));
	} else if (number(m, DW_AT_bit_offset, &at)) {
		/* DWARF 2 and 3 count from the other end of the storage unit. */
		if (!number(m, DW_AT_byte_size, &size))
			size = type_size(&f->type);
		if (at + bits > size * 8)
			return PP_ENOENT;
		at = size * 8 - at - bits;
		f->offset += at / 8;
		f->bit_offset = at % 8;
	}
	return 0;
}

static bool same_name(Dwarf_Die *die, const char *name, size_t len)
{
	const char *s = dwarf_diename(die);

	return s && strlen(s) == len && !memcmp(s, name, len);
}

/* Members of unnamed members, of base classes and of the variants of an enum are members. */
static int find_member(Dwarf_Die *type, const char *name, size_t len, struct type_part *f,
		       int depth, unsigned *left)
{
	Dwarf_Die t = *type, m;

	type_strip(&t);
	if (depth > TYPE_DEPTH || dwarf_child(&t, &m))
		return PP_ENOENT;
	do {
		int tag = dwarf_tag(&m);
		struct type_part outer;
		bool transparent =
			tag == DW_TAG_inheritance || (tag == DW_TAG_member && !dwarf_diename(&m));

		if (tag == DW_TAG_member && same_name(&m, name, len))
			return type_field(&m, f);
		if ((tag == DW_TAG_variant_part || tag == DW_TAG_variant) &&
		    !find_member(&m, name, len, f, depth + 1, left))
			return 0;
		if (transparent && !type_field(&m, &outer) &&
		    !find_member(&outer.type, name, len, f, depth + 1, left)) {
			f->offset += outer.offset;
			return 0;
		}
	} while (*left && --*left && dwarf_siblingof(&m, &m) == 0);
	return PP_ENOENT;
}

int type_member(Dwarf_Die *type, const char *name, size_t len, struct type_part *f)
{
	char numbered[16] = "__";
	unsigned left = TYPE_MEMBERS_MAX;

	/* Parts of Rust's tuples: t.0 is described as __0. */
	if (len && len < 8 && strspn(name, "0123456789") >= len) {
		memcpy(numbered + 2, name, len);
		return find_member(type, numbered, len + 2, f, 0, &left);
	}
	return find_member(type, name, len, f, 0, &left);
}

int type_path(Dwarf_Die *type, const char *path, struct type_part *f)
{
	uint64_t offset = 0;

	f->type = *type;
	while (*path) {
		size_t n = strcspn(path, ".");
		Dwarf_Die t = f->type;

		if (type_member(&t, path, n, f))
			return PP_ENOENT;
		offset += f->offset;
		path += n + (path[n] == '.');
	}
	f->offset = offset;
	return 0;
}

static int first_pointer(Dwarf_Die *type, struct type_part *f, int depth, unsigned *left)
{
	Dwarf_Die t = *type, m;

	type_strip(&t);
	if (depth > TYPE_DEPTH || dwarf_child(&t, &m))
		return PP_ENOENT;
	do {
		struct type_part inner;
		int tag = dwarf_tag(&m);

		if ((tag != DW_TAG_member && tag != DW_TAG_inheritance) || type_field(&m, f))
			continue;
		if (type_class(&f->type) == TYPE_POINTER)
			return 0;
		if (type_class(&f->type) == TYPE_STRUCT &&
		    !first_pointer(&f->type, &inner, depth + 1, left)) {
			inner.offset += f->offset;
			*f = inner;
			return 0;
		}
	} while (*left && --*left && dwarf_siblingof(&m, &m) == 0);
	return PP_ENOENT;
}

int type_first_pointer(Dwarf_Die *type, struct type_part *f)
{
	unsigned left = TYPE_MEMBERS_MAX;

	return first_pointer(type, f, 0, &left);
}

bool type_by_reference(Dwarf_Die *type)
{
	Dwarf_Die t = *type;
	uint64_t v;

	type_strip(&t);
	return number(&t, DW_AT_calling_convention, &v) && v == DW_CC_pass_by_reference;
}

static void add_name(Dwarf_Die *type, struct buf *b, int depth)
{
	Dwarf_Die t = *type, sub;
	const char *name = dwarf_diename(&t);
	int tag = dwarf_tag(&t);
	bool has = !type_of(&t, &sub);
	uint64_t n;

	if (depth > TYPE_DEPTH)
		return;
	if (tag == DW_TAG_const_type || tag == DW_TAG_volatile_type)
		buf_adds(b, tag == DW_TAG_const_type ? "const " : "volatile ");
	if (is_wrapper(tag) && tag != DW_TAG_typedef) {
		if (has)
			add_name(&sub, b, depth + 1);
		else
			buf_adds(b, "void");
		return;
	}
	if (name) {
		static const char *const words[] = {"struct ", "union ", "enum "};
		int k = tag == DW_TAG_union_type ? 1 : tag == DW_TAG_enumeration_type ? 2 : 0;
		Dwarf_Die cu;
		int lang = dwarf_diecu(&t, &cu, NULL, NULL) ? dwarf_srclang(&cu) : 0;

		if ((tag == DW_TAG_structure_type || k) &&
		    (lang == DW_LANG_C11 || lang == DW_LANG_C99 || lang == DW_LANG_C89 ||
		     lang == DW_LANG_C))
			buf_adds(b, words[k]);
		buf_adds(b, name);
		return;
	}
	switch (tag) {
	case DW_TAG_pointer_type:
	case DW_TAG_reference_type:
	case DW_TAG_rvalue_reference_type:
		if (has)
			add_name(&sub, b, depth + 1);
		else
			buf_adds(b, "void");
		if (b->len && b->data[b->len - 1] != '*')
			buf_addc(b, ' ');
		buf_adds(b, tag == DW_TAG_pointer_type	   ? "*"
			    : tag == DW_TAG_reference_type ? "&"
							   : "&&");
		break;
	case DW_TAG_array_type:
		if (has)
			add_name(&sub, b, depth + 1);
		n = type_count(&t, &sub);
		if (n)
			buf_addf(b, "[%llu]", (unsigned long long)n);
		else
			buf_adds(b, "[]");
		break;
	case DW_TAG_subroutine_type: buf_adds(b, "function"); break;
	case DW_TAG_structure_type: buf_adds(b, "struct"); break;
	case DW_TAG_union_type: buf_adds(b, "union"); break;
	case DW_TAG_enumeration_type: buf_adds(b, "enum"); break;
	default: buf_adds(b, "?");
	}
}

void type_name(Dwarf_Die *type, struct buf *b)
{
	add_name(type, b, 0);
}
