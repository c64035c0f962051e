/*
 * Whether a recording was made on this machine. Only then are this machine's kernel, and its files
 * without a build-id, used to name addresses.
 *
 *	struct origin o = {0};
 *	origin_meta(&o, "osrelease", 9, "6.1.0-56-amd64", 14);	(facts, as they come)
 *	origin_kernel_map(&o, 0xffffffff81000000, 0x120bb08, 0xffffffff81000000);
 *	if (origin_kernel(&o) == ORIGIN_HERE)
 *		... its kernel is the running one ...
 *	origin_release(&o);
 *
 * What proves that the kernel is the running one: its build-id; its release and machine; where it
 * begins and ends in memory; where its modules are; or at least the name of the host. What proves
 * that a file of this machine is the recorded one, where no build-id does: the name of the host, or
 * if the recording does not say that, its kernel.
 */
#ifndef PP_SYMBOL_ORIGIN_H
#define PP_SYMBOL_ORIGIN_H

#include "base/buf.h"
#include "symbol/build_id.h"
#include "symbol/kmodule.h"

#define ORIGIN_MODULES_MAX 32 /* modules whose places are compared */

enum origin_verdict { ORIGIN_UNKNOWN, ORIGIN_HERE, ORIGIN_ELSEWHERE };

/* This machine. */
struct here {
	char host[128], release[128], arch[32];
	struct build_id kernel;
	uint64_t text, ends[2]; /* _text, _etext and _edata of the running kernel; 0: not shown */
	struct buf modules;	/* as /proc/modules */
};

struct origin_module {
	char name[KMODULE_NAME_MAX];
	uint64_t addr;
};

struct origin {
	bool trust; /* the user says that it is of this machine (--trust-host) */
	char hostname[128], osrelease[128], arch[32]; /* "" when the recording does not say */
	char module_release[128];		      /* of the paths of its modules */
	struct build_id kernel;			      /* none: not recorded */
	uint64_t text, end;			      /* of the kernel's mapping; 0: not recorded */
	struct origin_module *modules;		      /* owned; NULL: none yet */
	uint32_t n_modules;
	struct here here;	  /* asked for when it is needed */
	bool asked, asked_kernel; /* here is filled in; also with addresses */
	bool said;		  /* that the origin is not known */
};

/* A META record; other keys are ignored. */
void origin_meta(struct origin *o, const char *key, size_t klen, const char *value, size_t vlen);

/* The mapping of the kernel: absolute first address, bytes, and the address of its first symbol. */
void origin_kernel_map(struct origin *o, uint64_t addr, uint64_t len, uint64_t text);

/*
 * The path of a module that the recording names, "/lib/modules/RELEASE/...": also shows the
 * release.
 */
void origin_module_path(struct origin *o, const char *path);

/* Where a module is: "[ext4]" or its path, and its first address. 0 or PP_ENOMEM. */
int origin_module_map(struct origin *o, const char *path, uint64_t addr);

/* The release of the recorded kernel, "" if nothing shows it. */
const char *origin_osrelease(const struct origin *o);

/* Whether the kernel is the running one, and whether files are those of this machine. */
enum origin_verdict origin_kernel(struct origin *o);
enum origin_verdict origin_files(struct origin *o);

void origin_release(struct origin *o);

#endif
