/*
 * Types: their names, sizes and members, and the kernel's names for them.
 *
 *	struct type_part f;
 *	if (type_member(&type, "next", &f) == 0)
 *		... f.type at f.offset ...
 */
#ifndef PP_INSPECT_TYPE_H
#define PP_INSPECT_TYPE_H

#include "base/buf.h"

#include <elfutils/libdw.h>
#include <stdbool.h>
#include <stdint.h>

#define TYPE_DEPTH	 32	/* typedefs of typedefs, structures in structures */
#define TYPE_MEMBERS_MAX 100000 /* that are passed in a search */

enum type_class {
	TYPE_VOID,
	TYPE_SIGNED,
	TYPE_UNSIGNED, /* also bool, characters of other languages */
	TYPE_FLOAT,
	TYPE_POINTER, /* also references, functions' addresses */
	TYPE_ENUM,
	TYPE_STRUCT, /* also classes and unions */
	TYPE_ARRAY,
	TYPE_OTHER,
};

struct type_part {
	Dwarf_Die type;
	uint64_t offset;	   /* bytes */
	unsigned bits, bit_offset; /* of a bit field, from the byte at offset; bits 0: none */
};

/* The type of a variable, member or function: 0, or PP_ENOENT (void). */
int type_of(Dwarf_Die *die, Dwarf_Die *type);

/* Takes away typedefs, const and the like. */
void type_strip(Dwarf_Die *type);

/* All need not be stripped. */
enum type_class type_class(Dwarf_Die *type);
bool type_signed(Dwarf_Die *type);
bool type_is_char(Dwarf_Die *type);
uint64_t type_size(Dwarf_Die *type); /* bytes, 0: not known */

/* The number of elements of an array, all dimensions together; 0: not known. *elem: their type. */
uint64_t type_count(Dwarf_Die *type, Dwarf_Die *elem);

/* A member by name; those of base classes and unnamed members count. 0 or PP_ENOENT. */
int type_member(Dwarf_Die *type, const char *name, size_t len, struct type_part *f);

/* A path of members: "_M_dataplus._M_p". */
int type_path(Dwarf_Die *type, const char *path, struct type_part *f);

/* The first pointer in a structure, however deep. */
int type_first_pointer(Dwarf_Die *type, struct type_part *f);

/* The field that an entry (a member or base class) is. 0; PP_ENOENT: it has no place. */
int type_field(Dwarf_Die *member, struct type_part *f);

/* Whether objects are passed by their address, however small they are (C++). */
bool type_by_reference(Dwarf_Die *type);

/* Appends the name, as in a declaration: "const char *". */
void type_name(Dwarf_Die *type, struct buf *b);

#endif
