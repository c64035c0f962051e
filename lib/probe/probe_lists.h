/*
 * The kernel's lists of probes: uprobe_events and kprobe_events of tracefs.
 *
 *	struct tracefs t;
 *	rc = tracefs_open(&t, NULL, diag);
 *	rc = tracefs_add(&t, TRACEFS_UPROBES, "p:g/e /bin/true:0x1234", &why);
 *	rc = tracefs_remove(&t, TRACEFS_UPROBES, "g/e", &why);
 *
 * Lines are always appended: opening a list in any other way removes everybody's probes. Source:
 * Documentation/trace/uprobetracer.rst and kprobetrace.rst of the kernel.
 */
#ifndef PP_PROBE_PROBE_LISTS_H
#define PP_PROBE_PROBE_LISTS_H

#include "base/buf.h"
#include "base/diag.h"

#include <stdbool.h>

#define TRACEFS_LIST_MAX (16u << 20) /* bytes of a list */
#define TRACEFS_LINE_MAX 4094	     /* characters of a line, by the kernel */

enum tracefs_list { TRACEFS_UPROBES, TRACEFS_KPROBES, TRACEFS_DYNAMIC, TRACEFS_LISTS };

struct tracefs {
	char dir[256];
	struct diag *diag;
};

/* Finds it; dir NULL: where it is mounted. 0, or an error that was reported. */
int tracefs_open(struct tracefs *t, const char *dir, struct diag *d);

/*
 * Keeps other commands from making probes until the descriptor is closed, so that none takes a name
 * that another has found to be free. -1: it cannot be done, as where there is no list.
 */
int tracefs_lock(const struct tracefs *t);

/* Whether the kernel has the list. */
bool tracefs_has(const struct tracefs *t, enum tracefs_list list);

/* Appends a line without its newline. 0, or an error, with what the kernel says in `why`. */
int tracefs_add(const struct tracefs *t, enum tracefs_list list, const char *line, struct buf *why);

/*
 * Appends lines, each with its newline, in as few calls as the kernel takes. An error: those before
 * the first bad line are there.
 */
int tracefs_add_all(const struct tracefs *t, enum tracefs_list list, const struct buf *lines);

/* Removes an event, "GROUP/EVENT", or a whole group, "GROUP/". */
int tracefs_remove(const struct tracefs *t, enum tracefs_list list, const char *name,
		   struct buf *why);

/* Non-zero ends the walk and is its result. name is "GROUP/EVENT". */
typedef int tracefs_fn(void *ctx, const char *name, const char *line);

/* The definitions of a list. */
int tracefs_each(const struct tracefs *t, enum tracefs_list list, tracefs_fn *fn, void *ctx);

#endif
