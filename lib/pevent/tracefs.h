/*
 * Tracepoints in tracefs: where it is, which there are, their fields.
 *
 *	rc = tracefs_find(&dir, &why);			("/sys/kernel/tracing")
 *	rc = tracefs_glob(dir, "sched", "*wait*", visit, ctx, &why);
 */
#ifndef PP_PEVENT_TRACEFS_H
#define PP_PEVENT_TRACEFS_H

#include "base/buf.h"

#include <stdbool.h>

/*
 * The events that were made at run time, among them all probes, which can be at many places: "\n",
 * then "SYSTEM/NAME\n" for each. 0, or pp_errno: a list of them could not be read.
 */
int tracefs_probes(const char *dir, struct buf *names);

/* Where tracefs is mounted; static storage. PP_ENOENT or PP_EACCES, with a reason in why. */
int tracefs_find(const char **dir, struct buf *why);

/* Whether a name is a pattern. */
bool tracefs_is_glob(const char *s);

typedef int tracefs_visit(void *ctx, const char *system, const char *name, uint64_t id);

/* Calls visit in alphabetical order for each tracepoint that fits the two globs. */
int tracefs_glob(const char *dir, const char *system, const char *name, tracefs_visit *visit,
		 void *ctx, struct buf *why);

/*
 * The fields of a tracepoint that a filter may name, a line "NAME\tTYPE\n" each, in the order of
 * its format; with `common` also those of every tracepoint. 0 or pp_errno.
 */
int tracefs_fields(const char *dir, const char *system, const char *name, bool common,
		   struct buf *b);

/* The place of a field in the data of a tracepoint, in bytes. False: it is not known. */
bool tracefs_field_at(const char *dir, const char *system, const char *name, const char *field,
		      uint32_t *offset, uint32_t *size);

/* What is probably wrong with a filter of the tracepoint that the kernel did not accept. */
void tracefs_filter_fault(const char *dir, const char *system, const char *name, const char *filter,
			  struct buf *why);

#endif
