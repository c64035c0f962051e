/*
 * pprobe: what can be probed, and making, listing and removing probes.
 *
 *	struct probe_opts o = {.binary = "/usr/bin/zstd"};
 *	status = probe_make(&o, definitions, n, diag);
 *
 * The functions return exit statuses, and say to the diag what is wrong.
 */
#ifndef PP_PROBE_PROBE_H
#define PP_PROBE_PROBE_H

#include "base/diag.h"
#include "probe/sheet.h"

#include <stdbool.h>
#include <sys/types.h>

enum probe_action {
	PROBE_MAKE,
	PROBE_FUNCTIONS,
	PROBE_LINES,
	PROBE_VARIABLES,
	PROBE_MEMBERS, /* of a type of the kernel */
	PROBE_MARKERS,
	PROBE_LIST,
	PROBE_DELETE,
};

struct probe_opts {
	const char *binary;    /* path or name; NULL: of the process */
	pid_t pid;	       /* 0: none; without both it is about the kernel */
	bool kernel;	       /* that is said explicitly */
	const char *btf;       /* types of the kernel; NULL: its own */
	const char *kallsyms;  /* symbols of the kernel; NULL: its own */
	const char *vmlinux;   /* the kernel's image with debug information; NULL: search */
	const char *blacklist; /* functions that may not be probed; NULL: the kernel's own list */
	enum probe_action action;
	const char *what; /* of -L, -V and --type */
	const char *group;
	enum table_form form;
	bool externs, no_copies, each, dry_run, all_mine, verbose;
	bool fprobe;	       /* of the kernel: fprobes where it has them */
	const char *tracefs;   /* NULL: where it is mounted */
	const char *mine_file; /* NULL: MINE_FILE */
};

/* Does what the options say with the operands. */
int probe_run(const struct probe_opts *o, char **names, int n, struct diag *d);

#endif
