/*
 * Which file is meant: a path, the name of a program or library, or that of a process.
 *
 *	rc = binary_path("bash", 0, path, diag);	/usr/bin/bash
 *	rc = binary_path(NULL, 1234, path, diag);	what process 1234 runs
 *	rc = binary_path("libc.so.6", 1234, path, diag);	what it has mapped
 *
 * Files of processes that see other directories, as those in containers, are found through
 * /proc/PID/root.
 */
#ifndef PP_INSPECT_FIND_BINARY_H
#define PP_INSPECT_FIND_BINARY_H

#include "base/diag.h"

#include <sys/types.h>

#define BINARY_PATH_MAX 4096

/* pid 0: none. 0, or an error that was reported. */
int binary_path(const char *name, pid_t pid, char path[BINARY_PATH_MAX], struct diag *d);

/* Whether two paths lead to one file. */
bool find_same_file(const char *a, const char *b);

#endif
