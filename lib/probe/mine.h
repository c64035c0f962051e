/*
 * Which probes pprobe made: names of events, one per line, in a file that is gone with the next
 * start of the machine, as the probes are.
 *
 *	rc = mine_add(MINE_FILE, "probe_test/func_d");
 *	rc = mine_has(MINE_FILE, "probe_test/func_d", &mine);
 */
#ifndef PP_PROBE_MINE_H
#define PP_PROBE_MINE_H

#include <stdbool.h>

#define MINE_FILE "/run/perfpipe-probes"

/* 0, or a code of pp_errno. */
int mine_add(const char *file, const char *name);
int mine_remove(const char *file, const char *name);
int mine_has(const char *file, const char *name, bool *mine);

#endif
