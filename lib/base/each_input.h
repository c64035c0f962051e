/*
 * The files that a filter is given, one after another.
 *
 *	status = each_input(argv + 1, argc - 1, read_one, &state);
 */
#ifndef PP_BASE_EACH_INPUT_H
#define PP_BASE_EACH_INPUT_H

#include "base/err.h"

/*
 * Calls fn with each name, with "-" for stdin if there is none. fn returns an exit status. The
 * worst of them; PP_EXIT_FAIL and PP_EXIT_USAGE end it at once.
 */
static inline int each_input(char **names, int n, int (*fn)(void *ctx, const char *name), void *ctx)
{
	int worst = PP_EXIT_OK, i = 0;

	do {
		int status = fn(ctx, n ? names[i] : "-");

		worst = status > worst ? status : worst;
	} while (worst < PP_EXIT_FAIL && ++i < n);
	return worst;
}

#endif
