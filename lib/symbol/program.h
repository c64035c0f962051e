/*
 * Running another program for what it prints.
 *
 *	char *argv[] = {"dpkg-query", "-S", path, NULL};
 *	char text[4096];
 *	if (program_run(argv, 2000, text, sizeof(text)) == PROGRAM_DONE)
 *		... text, terminated ...
 *
 * It is looked up in PATH, gets no input, and its stderr is discarded. Its messages are in
 * English (LC_ALL=C). When the time is over, it is killed with all processes that it started.
 */
#ifndef PP_SYMBOL_PROGRAM_H
#define PP_SYMBOL_PROGRAM_H

#include <stddef.h>
#include <stdint.h>

#define PROGRAM_DONE   0    /* it exited with 0 */
#define PROGRAM_FAILED (-1) /* with another status, or by a signal */
#define PROGRAM_LATE   (-2) /* it was ended */

/*
 * Up to size - 1 bytes of what it prints, also if it failed. PROGRAM_*, or the errno value for
 * which it could not be started.
 */
int program_run(char *const argv[], int64_t ms, char *text, size_t size);

#endif
