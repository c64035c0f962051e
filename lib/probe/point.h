/*
 * The places in a binary that a definition means.
 *
 *	struct points p = {0};
 *	rc = points_find(&p, binary, &funcs, &spec, true, &why);
 *	for (uint32_t i = 0; i < p.n; i++)
 *		... p.v[i].addr ...
 *	points_release(&p);
 *
 * An entry is the first instruction at which a probe is cheap and counts calls only: after
 * endbr64, after the stack check of Go. No place is within an instruction: the kernel would take
 * it, and the program die.
 */
#ifndef PP_PROBE_POINT_H
#define PP_PROBE_POINT_H

#include "inspect/binary.h"
#include "inspect/funcs.h"
#include "inspect/name_pattern.h"
#include "probe/spec.h"

#define POINTS_MAX 100000 /* of one definition */

struct point {
	uint64_t addr;
	const char *func; /* name as in the file; NULL: none covers the address */
	uint64_t func_addr;
	Dwarf_Die inlined;   /* addr NULL: not in an inlined copy */
	int line;	     /* SPEC_LINE, SPEC_SOURCE, SPEC_PATTERN */
	bool entry, returns; /* returns: at an instruction that returns */
	bool tail;	     /* that is a jump to another function */
	bool uretprobe;	     /* the kernel's return probe of the function at addr */
};

struct points {
	struct point *v;
	uint32_t n, cap;
	uint32_t functions, copies; /* that fit; inlined copies */
	uint32_t tails, indirect;   /* returns by jumps; jumps that could be returns */
	uint32_t endless;	    /* functions without an instruction that returns */
	uint32_t unreadable;	    /* functions with bytes that are not a known instruction */
	uint32_t ifuncs;
	enum name_fit fit; /* of the functions' names */
};

/*
 * With `copies` also where functions were inlined. 0 with at least one point; PP_ENOENT or
 * PP_EUSAGE with what is wrong in `why`; PP_ENOMEM.
 */
int points_find(struct points *p, struct binary *b, struct funcs *t, struct spec *s, bool copies,
		struct buf *why);
void points_release(struct points *p);

/* The functions that a pattern means, as points without a place yet. */
int points_functions(struct points *p, struct funcs *t, const char *pattern);

/* ---- private to lib/probe ---- */

/* 0, PP_ELIMIT or PP_ENOMEM. */
int points_add(struct points *p, const struct point *pt);

/* Whether a probe may be put at an address of a function: 0, or an error with its reason. */
int points_check(const struct binary *b, const struct func *f, uint64_t addr, struct buf *why);

/* ---- linepoint.c: the places of source lines ---- */

/* SPEC_SOURCE: a line of a file. */
int linepoints_source(struct points *p, struct binary *b, struct funcs *t, const struct spec *s,
		      struct buf *why);

/* SPEC_LINE, SPEC_PATTERN: lines of functions that were found. */
int linepoints_functions(struct points *p, const struct points *found, struct binary *b,
			 struct funcs *t, const struct spec *s, struct buf *why);

/* Leaves the functions that are declared in a file. */
void linepoints_keep_file(struct points *p, struct binary *b, const char *src);

#endif
