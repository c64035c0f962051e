/*
 * Files of tracefs: of an instance, and if that has none, of the top level, whose former value is
 * kept in a journal.
 *
 *	struct ftfiles f;
 *	ftfiles_init(&f, "/sys/kernel/tracing", "instances/x", &journal);
 *	rc = ftfiles_set(&f, "trace_clock", "mono", &why);
 *
 * Errors are reported with the kernel's own words, if it has any.
 */
#ifndef PP_FTRACE_TRACEFS_FILES_H
#define PP_FTRACE_TRACEFS_FILES_H

#include "base/buf.h"
#include "ftrace/journal.h"

#include <limits.h>

#define FTFILES_MAX (64u << 20) /* bytes of a file */

struct ftfiles {
	const char *root;
	char dir[PATH_MAX]; /* relative to the root: "instances/x"; empty: the top level */
	struct journal *journal;
};

void ftfiles_init(struct ftfiles *f, const char *root, const char *dir, struct journal *j);

/*
 * The path of a file: of the instance if that has it, otherwise of the top level. *own: the
 * instance's. A name that begins with / is one outside tracefs.
 */
void ftfiles_path(const struct ftfiles *f, const char *name, char path[PATH_MAX], bool *own);

bool ftfiles_has(const struct ftfiles *f, const char *name);

/* Adds the text of a file. 0 or a code of pp_errno. */
int ftfiles_read(const struct ftfiles *f, const char *name, struct buf *b);

/* The value of a file of one line, as it would have to be written: "mono" of "local [mono]". */
int ftfiles_value(const struct ftfiles *f, const char *name, struct buf *b);

/*
 * Writes a value in place of the former one; of the top's files, that is kept. _lines: it is a
 * list of words or lines, which the kernel accepts one by one. 0, or a code with the reason in
 * `why`;
 * PP_EUSAGE: it exists once for the whole machine, and somebody else has set it differently.
 */
int ftfiles_set(const struct ftfiles *f, const char *name, const char *value, struct buf *why);
int ftfiles_set_lines(const struct ftfiles *f, const char *name, const char *value,
		      struct buf *why);

/*
 * Adds a line to the existing ones; `undo`: the line that takes it away again, kept if the file
 * is the top's.
 */
int ftfiles_add(const struct ftfiles *f, const char *name, const char *line, const char *undo,
		struct buf *why);

/* Writes without a journal: anything that is not a setting. */
int ftfiles_write(const struct ftfiles *f, const char *name, const char *value, struct buf *why);

/*
 * What latency tracers keep: the events of the longest latency that they have seen, apart from the
 * ring buffers, to be read as text.
 */

/* Whether a tracer keeps the longest latency as text, instead of pages. */
bool fttext_is(const char *tracer);
/* Whether that of a buffer does. */
bool fttext_has(const struct ftfiles *f);
/* Adds what it has found. 0, or a code that was reported. */
int fttext_read(const struct ftfiles *f, struct buf *text, struct diag *d);

#endif
