/*
 * Files that processes of this machine left where every user can write: perf maps and jitdump
 * files. They are
 * read as far as the process's user may be trusted with them, see beneath_open_owned.
 *
 *	struct live_process l;
 *	live_ask(&l, pid);
 *	rc = live_map(&l, max, &text, at, NULL, &why);
 *
 * The places are those that the process sees in its own mount namespace while it is alive, then
 * those of this one.
 */
#ifndef PP_SYMBOL_LIVE_MAPS_H
#define PP_SYMBOL_LIVE_MAPS_H

#include "symbol/beneath.h"
#include "symbol/root.h"

#define LIVE_NOBODY BENEATH_NOBODY /* the user of a process that is gone */
struct live_process {
	uint32_t pid;	/* here */
	uint32_t inner; /* its number in its own namespace: the last of NSpid; 0: not known */
	uid_t user;	/* the user it creates files as: the last of Uid; LIVE_NOBODY: it is gone */
	uint64_t caught; /* signals that it has handlers for: bit N - 1 */
};

/* As /proc/PID/status has it. What is not there stays zero, or LIVE_NOBODY. */
void live_ask(struct live_process *l, uint32_t pid);

/*
 * Appends a file of up to max bytes, unpacked. at: its path for people. tried (or NULL): a line for
 * each place, with what was wrong. 0, or an error and *why.
 */
int live_read(const struct live_process *l, const char *path, size_t max, struct buf *b,
	      char at[ROOT_PATH_MAX], struct buf *tried, enum symtab_reason *why);

/* The same of its perf map. */
int live_map(const struct live_process *l, size_t max, struct buf *b, char at[ROOT_PATH_MAX],
	     struct buf *tried, enum symtab_reason *why);

#endif
