/*
 * The code mappings of a running process: by PROCMAP_QUERY of Linux 6.11, an ioctl on
 * /proc/PID/maps that finds them without a line of text for each of the others; else by the text.
 *
 *	struct proc_maps s = {.proc = "/proc", .each = each, .ctx = ctx};
 *	rc = mapping_read(&s, pid);
 *	if (mapping_at("/proc", pid, addr, room, &m)) ...
 *
 * The mappings in a recording are in maps.h and space.h.
 */
#ifndef PP_SYMBOL_MAPPING_H
#define PP_SYMBOL_MAPPING_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

struct mapping {
	uint64_t start, end, offset, inode;
	uint32_t major, minor, prot, flags; /* PROT_*, MAP_* */
	char *name;
	size_t name_len;
};

struct proc_maps {
	const char *proc; /* "/proc" */
	bool data;	  /* also files that are not code */
	bool text_only;	  /* as on kernels before 6.11 */
	int (*each)(void *ctx, const struct mapping *m);
	void *ctx;
	bool gate_known, has_gate; /* private: [vsyscall] */
	struct mapping gate;
	char gate_name[32];
};

/*
 * Calls each for the mappings of a process in the order of addresses, until it returns an error.
 * 0 also for one that is gone, or not ours to see.
 */
int mapping_read(struct proc_maps *s, pid_t pid);

/*
 * The mapping that an address lies in; false: none, or the process is not ours to see. `room` of
 * PATH_MAX bytes is for its name; NULL: it has none then.
 */
bool mapping_at(const char *proc, pid_t pid, uint64_t addr, char *room, struct mapping *m);

/* The file of a mapping, opened for reading; -1. */
int mapping_open(const char *proc, pid_t pid, const struct mapping *m);

#endif
