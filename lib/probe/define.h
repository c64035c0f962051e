/*
 * From definitions as people write them to events as the kernel takes them.
 *
 *	struct definer d;
 *	definer_init(&d, binary, &funcs, diag);
 *	rc = definer_take_names(&d, &tracefs);	(names that are taken already)
 *	rc = definer_add(&d, "func_d msec");
 *	for (uint32_t i = 0; i < d.n; i++)
 *		fputs(buf_str(&d.v[i].lines), stdout);
 *	definer_release(&d);
 *
 * An event can have many points, if all of them have the same arguments: the kernel is quick with
 * one event of a hundred points, and slow with a hundred events.
 */
#ifndef PP_PROBE_DEFINE_H
#define PP_PROBE_DEFINE_H

#include "base/intern.h"
#include "inspect/funcs.h"
#include "probe/fetch.h"
#include "probe/probe_lists.h"
#include "probe/spec.h"

#define DEFINE_EACH_MAX 32 /* functions that a wildcard makes an event of each of; more share one */
#define DEFINE_EACH_TOP 4096 /* and with `each` */

struct event {
	char group[NAME_EVENT_MAX + 1], name[NAME_EVENT_MAX + 1];
	char base[NAME_EVENT_MAX + 1]; /* the name that was wanted */
	char kind;		       /* 'p', 'r', 'f' */
	struct fetches *args;	       /* NULL: none */
	struct buf lines;	       /* a definition each, with its newline */
	uint32_t points;
	bool pattern;  /* what the kernel refuses of its places is left out */
	uint32_t spec; /* which definition it was made for */
};

struct definer {
	struct binary *b;
	struct funcs *funcs;
	struct diag *diag;
	const char *group; /* that the user wants; NULL: probe_FILE */
	bool no_copies;	   /* leave out inlined copies */
	bool each;	   /* of a pattern an event for each function, however many */
	struct event *v;
	uint32_t n, cap;
	uint32_t specs, failed; /* definitions; points that could not be made */
	int lock;		/* descriptor of tracefs_lock, + 1; 0: none */
	struct intern taken;	/* names "group/event" that exist */
};

void definer_init(struct definer *d, struct binary *b, struct funcs *t, struct diag *diag);
void definer_release(struct definer *d);

/* 0, or an error of reading. */
int definer_take_names(struct definer *d, const struct tracefs *t);

/* 0 with events added; an error that was reported. */
int definer_add(struct definer *d, const char *text);

/* PP_ELIMIT, with the reason: the pattern has more than DEFINE_EACH_TOP functions. */
int define_too_many(uint32_t n, struct buf *why);

/* An event for a point of a definition: the one that fits, or a new one. NULL: no memory. For
 * kernel_probes.c, which finds its points itself. */
struct event *definer_event(struct definer *d, const char *group, const char *base, char kind,
			    const struct fetches *args);

/* ---- private to lib/probe ---- */

/* Ends a line with its arguments, "NAME=TEXT:TYPE" each. */
void event_args(struct event *e, const struct fetches *f);

#endif
