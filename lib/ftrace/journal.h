/*
 * What a recorder has changed on this machine, and how it is restored: by the recorder when it
 * ends, by its watcher when it is killed, by the next recorder when both were.
 *
 *	struct journal j;
 *	rc = journal_begin(&j, "/sys/kernel/tracing", "pcap_1_2_3", true, diag);
 *	rc = journal_add(&j, JOURNAL_SET, "max_graph_depth", "0", 1);	(then write the new value)
 *	rc = journal_undo(&j, 0);		(everything, the last change first)
 *	journal_end(&j);
 *
 * An entry is written before its change is made. A file that several have changed, to the same
 * value, has its value from before the first in each of their journals. The journal is a file of
 * root's in JOURNAL_DIR, or, if that cannot be written, memory that the watcher shares. Paths
 * are relative to the root of tracefs, and lead nowhere else.
 */
#ifndef PP_FTRACE_JOURNAL_H
#define PP_FTRACE_JOURNAL_H

#include "base/buf.h"
#include "base/diag.h"

#include <limits.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#define JOURNAL_DIR	 "/run/perfpipe"
#define JOURNAL_NAME_MAX 63
/* The one switch that is outside tracefs. */
#define JOURNAL_STACK_TRACER "/proc/sys/kernel/stack_tracer_enabled"
#define JOURNAL_MAX	     (16u << 20) /* bytes */

/* How an entry is undone. */
enum journal_kind {
	JOURNAL_BY = 'b',	/* nothing: says who it was, and how */
	JOURNAL_INSTANCE = 'i', /* the instance is switched off and removed */
	JOURNAL_SET = 's',	/* the value replaces the current one */
	JOURNAL_EXPAND = 'e',	/* "7 1408": if 7 is left, and no record of how it grew, 1408 */
	JOURNAL_APPEND = 'a',	/* the value is added to the current ones: "!hist:keys=pid" */
};

struct journal {
	const char *root; /* of tracefs; outlives the journal */
	char name[JOURNAL_NAME_MAX + 1];
	char path[PATH_MAX]; /* empty: it has no name */
	int fd;
	uint64_t len;
	pid_t watcher;
	int alive; /* pipe to the watcher, whose end shows that we are gone; -1: none */
	struct diag *d;
};

#define JOURNAL_NONE \
	{ \
		.fd = -1, .alive = -1 \
	}

/*
 * Begins a journal; `watched`: with a watcher. 0, PP_EUSAGE if there is one of the name, or another
 * code, which was reported.
 */
int journal_begin(struct journal *j, const char *root, const char *name, bool watched,
		  struct diag *d);

/*
 * Opens an existing one, to continue with it or to undo it. PP_ENOENT, not reported: there is
 * none.
 */
int journal_open(struct journal *j, const char *root, const char *name, struct diag *d);

/* 0, or a code that was not reported. */
int journal_add(struct journal *j, enum journal_kind kind, const char *path, const char *value,
		size_t len);

/* Forgets the entries since the journal had `from` bytes: what they describe was not changed. */
int journal_forget(struct journal *j, uint64_t from);

/* Until journal_unlock nobody else sets or restores what exists only once. -1: no folder. */
int journal_lock(void);
void journal_unlock(int lock);

/*
 * Whose journal, this one or another, has a change of a file: its name, and what the file was
 * before. PP_ENOENT: nobody's.
 */
int journal_holder(const struct journal *j, const char *path, char name[JOURNAL_NAME_MAX + 1],
		   struct buf *former);

/*
 * Restores what was changed since the journal had `from` bytes, the last change first, and
 * forgets it; what another journal has also changed is left for that one to restore. 0, or the
 * first error; each was reported.
 */
int journal_undo(struct journal *j, uint64_t from);

/* Closes it; everything has been restored: it is removed and the watcher is dismissed. */
void journal_end(struct journal *j);

/* Closes it, and leaves what was changed as it is. */
void journal_leave(struct journal *j);

typedef int journal_fn(void *ctx, const char *path, const char *value, size_t len);

/* Calls fn for the entries of a kind. */
int journal_each(const struct journal *j, enum journal_kind kind, journal_fn *fn, void *ctx);

typedef int journal_name_fn(void *ctx, const char *name);

/* Calls fn for the names of the journals that are there. */
int journal_names(journal_name_fn *fn, void *ctx);

/* Restores the settings that killed recorders left. *n: how many there were. */
int journal_sweep(const char *root, unsigned *n, struct diag *d);

/* Opens with O_TRUNC or O_APPEND, and writes all of it. 0 or an errno. */
int ftput(const char *path, int flags, const char *value, size_t len);

#endif
