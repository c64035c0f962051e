/*
 * What is installed with the programs: the recipes, which `perfpipe run` starts, and what finds
 * candidates for the completions of shells.
 *
 *	rc = share_recipes(&text, &why);		("runqlat<tab>the latency of ...")
 *	rc = share_run("runqlat", argv, &why);		(returns only if it cannot)
 */
#ifndef PP_GUIDE_SHARE_H
#define PP_GUIDE_SHARE_H

#include "base/buf.h"

/* Adds a line "NAME<tab>PURPOSE" for each recipe. 0; or an error, described in `why`. */
int share_recipes(struct buf *b, struct buf *why);

/*
 * Starts the recipe instead of this program; argv[0] is not used. It finds the filters next to
 * this program. Returns an error, described in `why`: PP_EUSAGE if there is no such recipe.
 */
int share_run(const char *recipe, char **argv, struct buf *why);

/* The same for the candidates: `perfpipe complete`. */
int share_complete(char **argv, struct buf *why);

#endif
