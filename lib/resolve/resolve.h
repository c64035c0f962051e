/*
 * From addresses to symbols: what psym is.
 *
 * The resolver is shown every record of a stream. Context records build address spaces; for a
 * sample it finds the stack of symbolized frames, defining symbols, frames and stacks in the output
 * just before they are first used:
 *
 *	struct resolver *r;
 *	resolver_new(&r, &opts, &sink.w, diag);
 *	while (!(rc = sreader_next(in, &rec)))
 *		rc = resolver_record(r, in, rec);	(writes the record too)
 *	resolver_free(r);
 *
 * A call chain is resolved once in an address space, an address once in a DSO.
 */
#ifndef PP_RESOLVE_RESOLVE_H
#define PP_RESOLVE_RESOLVE_H

#include "stream/stream.h"
#include "symbol/dso_file.h"

#define RESOLVE_FRAMES_MAX   (1u << 20) /* live frames; beyond, ids begin again */
#define RESOLVE_STACK_IDS    (1u << 16) /* the same for live stacks */
#define RESOLVE_STACK_BYTES  (8u << 20)
#define RESOLVE_CHAIN_BYTES  (32u << 20) /* of chains that were unwound */
#define RESOLVE_DSOS_MAX     (1u << 20)
#define RESOLVE_SYMBOLS_MAX  (PS_ID_MAX - 1)
#define RESOLVE_NAME_MAX     65536 /* bytes of a name; the rest of a longer one is left out */
#define RESOLVE_SRCFILES_MAX (1u << 20)
#define RESOLVE_DEPTH_MAX    8192 /* frames of a stack; what is above is cut off */
#define RESOLVE_LOOKS_ALL    32u  /* each such look at a deep stack has all its pages */

struct resolver_opts {
	struct dso_search search;
	const char *kallsyms, *vmlinux;		    /* NULL: not given */
	const char *guest_kallsyms, *guest_vmlinux; /* of the kernel in virtual machines */
	bool force;	 /* files that were replaced since the recording are taken */
	bool trust_host; /* recordings that do not show where they were made are of this machine */
	bool no_demangle, demangle_ghc; /* ghc: names of Haskell, too */
	bool no_guessed; /* functions of stripped files get no names from the unwind tables */
	/*
	 * Decide as perf does where that is known to be wrong, to compare with it: return addresses
	 * are looked up as they are, a chain with garbage in it is thrown away whole, and mappings
	 * from before an exec stay.
	 */
	bool like_perf;
	bool inlines;	  /* functions inlined at an address become frames, from DWARF */
	bool srcline;	  /* frames get source lines, from DWARF */
	bool keep_stacks; /* registers and copies of stacks stay in the output */
	bool no_stitch;	  /* do not continue stacks whose copy ended by whole ones */
	bool stats;	  /* collect what resolver_say_stacks reports */
	bool missing;	  /* collect what resolver_missing reports */
	/*
	 * Pack what the symbols were taken from into this file, an archive that can stand for the
	 * recorded machine in dso_search.symfs. NULL: no.
	 */
	const char *bundle;
	/* Lower limits than the RESOLVE_* above, for tests. 0: those. */
	uint32_t frames_max, stacks_max, depth_max;
};

/* What was found, for the account at the end. Frames count once for each sample that has them. */
struct resolver_stats {
	uint64_t samples, frames, unknown;
	uint64_t reasons[PS_REASON_MAX];
	uint64_t useless;      /* files that the user named, and that have no symbols */
	uint64_t failed;       /* files that are there, but could not be read */
	uint64_t user_stacks;  /* samples with a copied user stack that could not be unwound */
	char strange_arch[32]; /* the machine of one of them, if it is one that is not unwound */
	uint64_t unwound, unwound_frames; /* samples whose user stack was, and frames of it */
	uint64_t ends[PS_END_MAX];	  /* how: enum ps_end_how */
	uint64_t stitched;		  /* of those whose copy ended */
	uint64_t looked;		  /* of these, by looks at the rest of the stack */
	uint64_t chains;		  /* samples with a chain by frame pointers */
	uint64_t chain_ends[PS_END_MAX];  /* how: of those with a part of user space */
	uint64_t hidden; /* of those: the innermost function hides its caller (opts.stats) */
};

struct resolver;

int resolver_new(struct resolver **r, const struct resolver_opts *opts, struct swriter *w,
		 struct diag *d);
void resolver_free(struct resolver *r); /* NULL is fine */

/*
 * Takes one record of the reader (which keeps events, chains and symbols) and writes what the
 * output is to have of it. HEADER makes it forget everything; HEADER and END are written by the
 * caller. 0, PP_ENOMEM, PP_ELIMIT, or an error of the output.
 */
int resolver_record(struct resolver *r, const struct sreader *in, const struct ps_record *rec);

/* Writes what waits for later stacks: before the end, and where the input pauses for long. */
int resolver_drain(void *resolver);

const struct resolver_stats *resolver_stats(const struct resolver *r);

/* Reports what happened to the user stacks, and what would help incomplete ones. */
void resolver_say_stacks(struct resolver *r, struct diag *d);

/*
 * The exit status that the account calls for: PP_EXIT_FAIL where a file that the user named has no
 * symbols, PP_EXIT_PARTIAL where this machine failed to give a file, else PP_EXIT_OK.
 */
uint32_t resolver_status(struct resolver *r);

/*
 * The table of --missing, as text: for each DSO and reason the samples that have addresses without
 * a name, where was looked, and what would help. *rows: how many there are. 0 or PP_ENOMEM.
 */
int resolver_missing(struct resolver *r, struct buf *text, uint32_t *rows);

/* Completes the archive of resolver_opts.bundle: 0, or an error that has been said to the diag. */
int resolver_bundle(struct resolver *r);

#endif
