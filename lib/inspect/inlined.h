/*
 * Where functions were inlined.
 *
 *	rc = inlined_each(binary, &pattern, NAME_PART, on_place, ctx);
 */
#ifndef PP_INSPECT_INLINED_H
#define PP_INSPECT_INLINED_H

#include "inspect/binary.h"
#include "inspect/name_pattern.h"

struct inlined_place {
	Dwarf_Die die;	  /* the inlined call */
	const char *name; /* as in the file: mangled where it has such a name */
	uint64_t addr;	  /* its first instruction */
	uint64_t start;	  /* the first one in the file, which may be another; 0: not known */
};

/* Non-zero ends the walk and is its result. */
typedef int inlined_fn(void *ctx, const struct inlined_place *p);

/*
 * All places where functions whose names match, at least as well as `least`, were inlined; a
 * pattern
 * of NULL matches all. 0; what the function returned; PP_ELIMIT: there is too much to go through;
 * PP_ENOMEM.
 */
int inlined_each(struct binary *b, const struct name_pattern *p, enum name_fit least,
		 inlined_fn *fn, void *ctx);

#endif
