/*
 * What a probe records: arguments in the kernel's syntax, made from variables.
 *
 *	struct fetches f = {0};
 *	why = fetch_loc(&f, "name", loc, NULL, binary, pc);
 *	for (uint32_t i = 0; i < f.n; i++)
 *		... f.v[i].name = f.v[i].text : f.v[i].type ...
 *	fetches_release(&f);
 *
 * One variable can become several arguments. The ends of their names tell the reader of a
 * recording what they are (fields of events, event/probe_parts.h): NAME__ptr, NAME__len and
 * NAME__str, or NAME__elem, make a text or a sequence; NAME__sN is a signed number of N bits;
 * NAME__f64 and NAME__f32 are floating point numbers.
 */
#ifndef PP_PROBE_FETCH_H
#define PP_PROBE_FETCH_H

#include "inspect/loc.h"
#include "inspect/name_pattern.h"

#define FETCH_MAX	128  /* arguments of an event, by the kernel */
#define FETCH_TEXT_MAX	63   /* characters of one with its type */
#define FETCH_ARRAY_MAX 64   /* elements of an array */
#define FETCH_BYTES_MAX 3072 /* bytes of an event's arguments */
#define FETCH_PARTS_MAX 24   /* arguments that one variable becomes */
#define FETCH_ELEMS	16   /* elements that are recorded of a sequence */

struct fetch {
	char name[NAME_ARG_MAX + 1];
	char text[FETCH_TEXT_MAX + 1];
	char type[16]; /* "" leaves it to the kernel */
};

struct fetches {
	struct fetch v[FETCH_MAX];
	uint32_t n;
	uint32_t left_out; /* parts of variables that cannot be recorded */
	bool no_memory;	   /* what is missing may be so because of that */
};

#define FETCH_NO_MEMORY "out of memory"

/* Adds one as it is. NULL, or why not. */
const char *fetch_add(struct fetches *f, const char *name, const char *text, const char *type);

/*
 * Adds a variable; `type` is what the user wants the kernel to call it, NULL: by its own type.
 * NULL, or why not.
 */
const char *fetch_loc(struct fetches *f, const char *name, const struct loc *l, const char *type,
		      const struct binary *b, uint64_t pc);

/* Whether two lists have the same names and types: they fit one event. */
bool fetches_alike(const struct fetches *a, const struct fetches *b);

/* Whether a text is a type of the kernel: "s32", "x8[16]", "b3@5/32", "string". */
bool fetch_is_type(const char *type);

#endif
