/*
 * The symbols of the kernel that a recording was made on.
 *
 *	struct kernel k;
 *	kernel_init(&k, &opts, diag);
 *	kernel_meta(&k, "osrelease", 9, "6.1.0", 5);		(as META records come)
 *	kernel_mapping(&k, addr, len, pgoff);			(of the kernel's MMAP record)
 *	const struct symtab *t = kernel_symbols(&k, &reason);	(found at the first call)
 *	kernel_release(&k);
 *
 * Sources, in this order: --vmlinux, --kallsyms, the kallsyms or vmlinux of a symfs root, a
 * kallsyms that the recording holds, perf's cache by build-id, /proc/kallsyms if the recording is
 * of the running kernel, a vmlinux that is installed with its build-id. Symbols that the recording
 * itself announces (KSYMBOL records: BPF programs, trampolines) are asked first.
 */
#ifndef PP_SYMBOL_KERNEL_SYMBOLS_H
#define PP_SYMBOL_KERNEL_SYMBOLS_H

#include "base/buf.h"
#include "base/diag.h"
#include "symbol/build_id.h"
#include "symbol/dso_file.h"
#include "symbol/origin.h"
#include "symbol/symtab.h"
#include "symbol/vdso.h"

#define KERNEL_KSYMBOLS_MAX 65536	/* announced symbols that are remembered */
#define KERNEL_BLOB_MAX	    (64u << 20) /* bytes of a kallsyms inside a recording */

struct kernel_opts {
	const char *kallsyms;		 /* --kallsyms; NULL */
	const char *vmlinux;		 /* --vmlinux; NULL */
	const struct dso_search *search; /* for perf's cache */
	/*
	 * It runs in a virtual machine of the recorded one: nothing but these two can be its
	 * symbols, and each guest has the same.
	 */
	bool guest;
	bool like_perf;	 /* of several symbols with one address, the one that perf takes */
	bool trust_host; /* it is of this machine, if nothing shows that it is not */
	/* If nothing shows that it is: what has no names, and what to do; NULL: for a filter. */
	const char *advice;
};

/* Whether anything is known of a guest's kernel. */
static inline bool kernel_guest_known(const struct kernel_opts *o)
{
	return o->kallsyms || o->vmlinux;
}

struct ksymbol {
	uint64_t start, end;
	char *name; /* owned */
};

struct kernel {
	const struct kernel_opts *opts;
	struct diag *d;
	struct origin origin; /* with its build-id and release */
	char symbol[32];      /* that a mapping names; "" when the recording does not say */
	uint64_t ref_addr;    /* recorded address of symbol; 0 unknown */
	struct buf blob;
	struct ksymbol *ksyms; /* by start */
	uint32_t nksyms, ksyms_cap;
	struct symtab *table;
	uint32_t reason; /* PS_REASON_* when table is NULL */
	bool loaded;
	bool is_elf;	/* found_path */
	bool useless;	/* a file named by the user has no symbols */
	bool no_memory; /* a table may be missing because there was none */
	bool failed;	/* a file that exists could not be read */
	/* The file that the table was read from: a kallsyms text, or an ELF file (is_elf). */
	const struct root *found_root;
	char *found_path;  /* owned; NULL: none, or inside the recording */
	uint64_t delta;	   /* of an ELF file: how far it was moved when the kernel booted */
	struct buf tried;  /* "path: why", one per line */
	struct vdso *vdso; /* owned; NULL: not loaded */
};

void kernel_init(struct kernel *k, const struct kernel_opts *opts, struct diag *d);
void kernel_release(struct kernel *k);

/* A fact about the recording. */
void kernel_meta(struct kernel *k, const char *key, size_t klen, const char *value, size_t vlen);
void kernel_mapping(struct kernel *k, uint64_t addr, uint64_t len, uint64_t pgoff);
/* A part of a kallsyms text. 0, PP_ENOMEM, PP_ELIMIT. */
int kernel_blob(struct kernel *k, const char *data, size_t len);
/* A symbol came (or, removed, went). 0 or PP_ENOMEM. */
int kernel_ksymbol(struct kernel *k, uint64_t addr, uint64_t len, const char *name, size_t nlen,
		   bool removed);

/*
 * The announced symbol at an address, NULL if there is none. Lives until the next kernel_ksymbol.
 */
const struct ksymbol *kernel_find_ksymbol(const struct kernel *k, uint64_t addr);

/* The table, or NULL and *reason. What is wrong is reported once. */
const struct symtab *kernel_symbols(struct kernel *k, uint32_t *reason);

/* Reports, once, that the recording does not show which machine it is from. */
void kernel_say_unknown(struct kernel *k);

/* The ELF file that the table is from, opened again for the caller, who closes it; NULL: none. */
struct elf_file *kernel_image(const struct kernel *k);

/* The vdso of the recorded kernel, or NULL and *reason. */
const struct vdso *kernel_vdso(struct kernel *k, const struct build_id *id, uint32_t *reason);

#endif
