/*
 * Probes that exist: registering events, listing and removing them.
 *
 *	rc = registry_add(&tracefs, TRACEFS_UPROBES, &event, mine_file, diag);
 */
#ifndef PP_PROBE_REGISTRY_H
#define PP_PROBE_REGISTRY_H

#include "probe/define.h"
#include "probe/probe_lists.h"
#include "probe/sheet.h"

#include <stdbool.h>

/* What happened to the places of events, added up. */
struct added {
	uint32_t made, refused;
	bool unnoted; /* some were made, but mine_file does not tell */
};

/*
 * All of an event's lines, or none of them; of a pattern those that the kernel takes, and the event
 * has only those after it, maybe none. 0, or an error that was reported.
 */
int registry_add(const struct tracefs *t, enum tracefs_list list, struct event *e,
		 const char *mine_file, struct added *added, struct diag *d);

/* Removes an event that registry_add made; reports it where that fails. */
void registry_undo(const struct tracefs *t, enum tracefs_list list, const struct event *e,
		   const char *mine_file, struct diag *d);

/*
 * The existing probes, including those of others: those that match one of n patterns, or with none
 * all. Returns an exit status.
 */
int registry_list(const struct tracefs *t, char **patterns, int n, enum table_form form,
		  const char *mine_file, struct diag *d);

/*
 * Removes the events whose names, "GROUP:EVENT" or "EVENT", fit one of n patterns; with `all_mine`
 * those that pprobe made. Returns an exit status.
 */
int registry_delete(const struct tracefs *t, char **patterns, int n, bool all_mine,
		    const char *mine_file, struct diag *d);

/*
 * Which probes pprobe made: names of events, one per line, in a file that is gone with the next
 * start of the machine, as the probes are.
 *
 *	rc = mine_add(MINE_FILE, "probe_test/func_d");
 *	rc = mine_has(MINE_FILE, "probe_test/func_d", &mine);
 */

#define MINE_FILE "/run/perfpipe-probes"

/* 0, or a code of pp_errno. */
int mine_add(const char *file, const char *name);
int mine_remove(const char *file, const char *name);
int mine_has(const char *file, const char *name, bool *mine);

#endif
