/*
 * Writing to a file of tracefs, without memory of its own, because it also cleans up.
 *
 *	errnum = ftput("/sys/kernel/tracing/tracing_on", O_TRUNC, "0", 1);
 */
#ifndef PP_FTRACE_PUT_FILE_H
#define PP_FTRACE_PUT_FILE_H

#include <stddef.h>

/* Opens with O_TRUNC or O_APPEND, and writes all of it. 0 or an errno. */
int ftput(const char *path, int flags, const char *value, size_t len);

#endif
