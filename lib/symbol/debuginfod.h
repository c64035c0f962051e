/*
 * Debug files from debuginfod servers, by the program debuginfod-find (elfutils): asked only when
 * the user wants it, and within a time limit for the whole run.
 *
 *	struct debuginfod *df;
 *	rc = debuginfod_new(&df, 60, diag);
 *	search.fetch = debuginfod_fetch;
 *	search.fetch_ctx = df;
 *	debuginfod_free(df);
 *
 * A separate program, so that what comes from the network is parsed in another process, which can
 * be ended when the time is over. It keeps what it gets in its cache, and takes the servers from
 * DEBUGINFOD_URLS.
 */
#ifndef PP_SYMBOL_DEBUGINFOD_H
#define PP_SYMBOL_DEBUGINFOD_H

#include "base/diag.h"
#include "symbol/dso_file.h"

#define DEBUGINFOD_SECONDS 60 /* for all files together, unless the user says otherwise */

struct debuginfod;

int debuginfod_new(struct debuginfod **df, unsigned seconds, struct diag *d);
void debuginfod_free(struct debuginfod *df); /* NULL is fine */

/*
 * dso_search.fetch. If it cannot ask at all (no program, no servers, no time), that is reported
 * once. The caller checks the build-id of what it gets.
 */
bool debuginfod_fetch(void *df, const struct build_id *id, char path[DSO_MAX_PATH]);

#endif
