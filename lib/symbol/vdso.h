/*
 * The symbols of [vdso], the code that the kernel maps into every process.
 *
 *	struct vdso *v;
 *	if (vdso_load(&v, &why) == 0 && (!recorded.len || build_id_equal(&v->id, &recorded))) {
 *		if (!elf_segments_vaddr(&v->segments, ip - map_start + map_pgoff, &addr))
 *			symtab_find(v->table, addr, &sym);
 *	}
 *	vdso_free(v);
 *
 * It is that of this process, hence of the running kernel and of this program's architecture: right
 * for a recording only if that was made on them; compare the build-id. See vdso(7), getauxval(3).
 */
#ifndef PP_SYMBOL_VDSO_H
#define PP_SYMBOL_VDSO_H

#include "base/buf.h"
#include "symbol/root.h"
#include "symbol/symtab.h"

#define VDSO_MAX (1u << 20) /* bytes; two pages in practice */

struct vdso {
	struct symtab *table; /* owned */
	struct build_id id;
	struct elf_segments segments;
	struct buf image; /* owned: the ELF file that it is */
};

/* 0, or an error and *why; *v is NULL then. */
int vdso_load(struct vdso **v, enum symtab_reason *why);

/* The same from a copy of one in a root (root.h). */
int vdso_from(struct vdso **v, const struct root *root, const char *path, enum symtab_reason *why);

void vdso_free(struct vdso *v); /* NULL is fine */

#endif
