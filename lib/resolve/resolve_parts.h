/*
 * The insides of the resolver: its state, split by role, then what each file does for the others,
 * lowest first; a file calls only those above it. Private to lib/resolve.
 */
#ifndef PP_RESOLVE_RESOLVE_PARTS_H
#define PP_RESOLVE_RESOLVE_PARTS_H

#include "base/hashids.h"
#include "base/intern.h"
#include "resolve/bundle.h"
#include "resolve/frame_map.h"
#include "resolve/missing.h"
#include "resolve/resolve.h"
#include "dwarf/debuginfo.h"
#include "symbol/jit.h"
#include "symbol/kernel_symbols.h"
#include "symbol/ranges.h"
#include "symbol/space.h"
#include "unwind/start.h"
#include "unwind/unwind.h"

#define CTX_MAX	 ((uint64_t)-4095) /* PERF_CONTEXT_MAX: markers are at and above it */
#define CTX_USER ((uint64_t)-512)

/*
 * Addresses of a chain at which the kernel stops unless it is told otherwise: the default of the
 * sysctl kernel.perf_event_max_stack.
 */
#define CHAIN_FULL 127

/* Where an address belongs: the values of PERF_RECORD_MISC_CPUMODE. */
enum mode {
	MODE_UNKNOWN,
	MODE_KERNEL,
	MODE_USER,
	MODE_HV,
	MODE_GUEST_KERNEL,
	MODE_GUEST_USER,
	MODES
};

/*
 * The mode of a sample; unknown where the recording has a number that the kernel does not define.
 */
static inline enum mode sample_mode(const struct ps_sample *s)
{
	uint32_t mode = (s->flags & PS_SAMPLE_MODE_MASK) >> PS_SAMPLE_MODE_SHIFT;

	return mode < MODES ? (enum mode)mode : MODE_UNKNOWN;
}

/* ---- DSOs ---- */

/* Where the source lines and the inlined functions of a DSO come from. */
struct dso_lines {
	struct elf_file *file, *alt; /* NULL: none; alt: what dwz moved */
	bool opened;
	struct debuginfo *info;
	struct map64 names; /* name of an inlined function in the info: symbol id */
};

#define DSO_TEXT_MAX 8 /* executable mappings of a file that are remembered */

/* A DSO with what has been found in it. */
struct rdso {
	char *path;
	struct build_id id;
	struct inode inode; /* of its file, as its first mapping shows */
	uint32_t other;	    /* what was mapped by the same path: index in r->dsos, + 1; 0: none */
	uint32_t flags;
	uint32_t source;
	uint32_t out; /* its id in the output */
	bool loaded;
	bool absolute;	 /* its mappings are looked up by the address itself */
	bool memfd;	 /* memory that the process named: code it made, or a program */
	bool dynamic;	 /* the table has only what the dynamic linker needs */
	uint32_t reason; /* why table is NULL */
	struct symtab *owned;
	const struct symtab *table;
	uint32_t *symbol_ids; /* by index in the table; 0: not yet defined */
	struct elf_segments segments;
	struct elf_mapping text[DSO_TEXT_MAX]; /* its executable mappings, different ones */
	uint32_t n_text;
	struct dso_lines lines;
	bool cfi_sought;
	struct cfi *cfi; /* NULL: there is none */
	bool anchored;	 /* the anchors were sought */
	struct start_anchors anchors;
	struct map64 ends;    /* address: how a chain ends there, + 1 */
	struct map64 leaves;  /* address: whether its function hides its caller there */
	struct map64 guessed; /* function without a name: symbol id */
	uint64_t delta;	      /* of the kernel: how far it was moved */
	uint64_t base;	      /* of a kernel module: where it is mapped */
	uint32_t jit;	      /* of generated code: index in the machine's code, + 1 */
	/* File offset, or kernel address: frame; of plain and of return addresses. */
	struct frame_map frames[2];
	char *found;	    /* of a kernel module: the path that was used; owned */
	char live_root[32]; /* of the live process that it was read in; "": none */
	char mapped[80];    /* its first mapping, as a file of the process; "": none */
	struct buf tried;   /* of a DSO without symbols: "path: why", one per line */
	struct buf unread;  /* of --missing: its split debug information that was not found */
};

/* All DSOs of the stream, the resolver's own among them. */
struct rdsos {
	struct rdso **v;
	uint32_t n, cap;
	struct map64 by_id; /* a DSO's id in the input: index in v, + 1 */
};

/* ---- machines ---- */

/* The unwind tables of generated codes of one kind. */
struct rjit_tables {
	struct buf image; /* what cfi reads */
	struct cfi *cfi;  /* NULL: they could not be read */
};

/* The generated code of a process. */
struct rjit {
	uint32_t pid;
	uint32_t inner;	 /* its number in its own pid namespace; 0: not recorded */
	uint32_t dso;	 /* index in r->dsos, + 1; 0: not yet made */
	char *dump_path; /* of its jitdump file, if the recording shows one */
	uint64_t dump_ino;
	bool map_loaded, dump_loaded;
	char *map_path;	   /* the perf map that was read */
	uint64_t map_size; /* its bytes then: it grows while the process lives */
	uint32_t reason;   /* why there are no names */
	struct jit *map, *dump;
	uint32_t *symbol_ids[2]; /* by code, of the map and the dump */
	uint32_t nids[2];
	bool code_sought;
	struct rjit_code **codes; /* of each map that was read; the last is that of `map` */
	uint32_t ncodes;
	struct rjit_code *dump_code;
	struct rjit_tables **tables;
	uint32_t ntables, tables_cap;
	struct map64 by_tables; /* number in the dump and size of the code: index in tables, + 1 */
};

struct rjits {
	struct rjit *v;
	uint32_t n, cap;
	struct map64 by_pid; /* index in v, + 1 */
};

/* A kernel: of the machine itself, or of its guests. */
struct rkernel {
	struct kernel kernel;
	struct kernel_opts opts;
	uint32_t dso; /* index in r->dsos, + 1; 0: not yet known */
};

/* What of the input is kept as it came, in the output. */
struct text_ids {
	struct map64 frames;  /* frame of the input: frame */
	struct map64 symbols; /* symbol of the input: symbol */
	uint32_t most;	      /* the greatest id in symbols */
};

/* Names that the recording holds for files. */
struct recorded {
	struct intern paths;
	struct recorded_file {
		uint64_t vaddr, offset; /* as in their BLOB */
		struct jit *names;
		struct map64 symbols; /* DSO of the output, and code in names: symbol */
	} * v;			      /* by path's id - 1 */
	uint32_t n;
};

/* The machine that a source was recorded on. */
struct machine {
	uint32_t source;
	bool said;     /* that this machine's files are not used */
	bool mono;     /* the times are of CLOCK_MONOTONIC */
	bool foreign;  /* it has the other byte order */
	uint32_t page; /* bytes of a page */
	struct spaces *spaces;
	struct rjits code;
	struct rkernel host;
	struct rkernel guest; /* of all its guests, which are taken to be alike */
	struct ranges kmods;  /* modules that are mapped: index in r->dsos, + 1 */
	struct map64 modules; /* text of a module's name in the kernel's table: the same */
	struct map64 ksyms;   /* start of an announced symbol: symbol id */
	struct text_ids text;
	struct recorded recorded;
	/*
	 * The frame without a DSO, by mode; [0] in a process, but not mapped. 0: not yet defined.
	 */
	uint32_t nowhere[MODES];
};

struct machines {
	struct machine **v; /* by source; NULL: not yet seen */
	uint32_t n;
};

/* ---- what was found before ---- */

/* Where a resolved chain or address is valid that was found without the mappings of a process. */
#define KERNEL_SPACE UINT32_MAX
#define GUEST_SPACE  (UINT32_MAX - 1)

/* Where it is valid if it was found with them. */
static inline uint32_t space_key(const struct space *sp)
{
	return sp ? space_serial(sp) : 0;
}

/* What a chain was resolved to, and in which space. */
struct chain_state {
	uint32_t space;	 /* serial, 0: none; KERNEL_SPACE */
	uint32_t stack;	 /* 0: not yet */
	uint16_t frames; /* at most RESOLVE_DEPTH_MAX */
	uint16_t unknown;
	uint16_t source;
	uint8_t mode;	  /* of the sample; MODES: of any */
	uint8_t end;	  /* how the user's part ended: enum ps_end_how */
	uint32_t missing; /* the set in r->lacks */
	uint32_t known;	  /* the stack of the input that it was compared with; 0: none */
	uint64_t first;	  /* address that is not a marker; 0: none */
};

/* What is known of a part of a chain, and of all below it. */
#define PART_DONE  1u /* what follows holds */
#define PART_WHOLE 2u /* only whole chains tell what their stacks are: of it, and of all above it */
#define PART_LAST  4u /* it can be the top of a chain */
#define PART_LEAF  8u /* its last frame is in no mapping of the process */
#define PART_STRAY 16u /* one before that is */

/*
 * What a part of a chain, with all below it, was resolved to. Its base is the uppermost part that
 * means something else in another process, itself or one below it.
 */
struct part_state {
	uint32_t base;	/* 0: there is none */
	uint32_t space; /* of a part that is its own base */
	uint32_t under; /* the base's stack then; what is above holds as long as that is the same */
	uint32_t stack; /* of the output; 0: no frames */
	uint16_t frames, unknown, source;
	uint8_t mode; /* of the sample; MODES: of any */
	uint8_t flags;
	uint8_t end;	/* enum ps_end_how, of the part at the root */
	uint64_t first; /* address of a chain of which this is the top; 0: not known */
};

/* The same part in several processes. */
#define RECALL_SETS 8192 /* a power of two */
struct part_recall {
	uint32_t id;
	struct part_state st;
};

/* Is used with the id of a frame, where resolve_frame gives it, for: it has no symbol. */
#define FRAME_UNKNOWN (1u << 31)

#define RECENT_SETS   4096 /* a power of two */
#define RECENT_ID     ((1u << 22) - 1)
#define RECENT_RET    (1u << 22)
#define RECENT_NAMED  (1u << 23)
#define RECENT_SOURCE 24 /* shift */

struct recent_frame {
	uint64_t ip;
	uint32_t space; /* its serial; KERNEL_SPACE */
	uint32_t what;	/* the frame's id, RECENT_* and the source; 0: none */
};

#define CHAIN_TAIL_MAX 256

/*
 * The outer end of the chain that was resolved last: what user space calls return to, the outermost
 * first. Most samples of a thread have most of it in common with the one before.
 */
struct chain_tail {
	uint32_t space; /* as in chain_state */
	uint32_t source;
	uint32_t n;
	uint64_t ips[CHAIN_TAIL_MAX];
	uint32_t ids[CHAIN_TAIL_MAX]; /* of frames, as resolve_frame gives them */
};

/* What need not be looked up again. */
struct seen {
	struct chain_state *chains; /* by chain id */
	uint32_t nchains;
	uint32_t known;		  /* the greatest id of a stack of the input that one of them has */
	struct part_state *parts; /* by id of a chain's part */
	uint32_t nparts;
	struct part_recall *recall; /* NULL: not yet needed */
	uint32_t *path;		    /* parts of a chain, from its top */
	uint32_t path_cap;
	/*
	 * Frames that were found last, by address: most of a new chain's addresses are those of a
	 * chain just before, and one look here is a third of a search for the mapping and one in
	 * its DSO. Garbage, which is not an address of a mapping, is not kept. Each address has two
	 * places, the first for the last used: processes of one program have the same addresses.
	 */
	struct recent_frame recent[RECENT_SETS][2];
	struct chain_tail tail;
};

/* The places of an address among the recent ones. */
static inline struct recent_frame *recent_set(struct seen *s, uint64_t ip)
{
	return s->recent[(ip ^ ip >> 12) & (RECENT_SETS - 1)];
}

/* ---- output, account, and all of it ---- */

#define FRAME_INLINED 1u /* into the next one */
#define FRAME_LINE    2u /* its source line is known */

/* What the output has, under which ids. */
struct emitted {
	uint32_t nframes, nsymbols;
	uint32_t frames_max;
	uint32_t restarts;	 /* how often ids of frames or stacks began again */
	uint32_t frame_restarts; /* how often those of frames did */
	struct hashids stacks;
	/*
	 * Chains get ids of their own from the first sample on whose stack is unwound.
	 */
	bool own_chains;
	struct hashids chains;
	uint32_t chain_restarts; /* how often their ids began */
	struct intern srcfiles;
	struct buf name; /* of the demangler */
	/* By frame id: 0 if it has a symbol, else the pair in r->lacks (or 1). */
	uint16_t *miss;
	uint32_t *symbols; /* by frame id; 0: none */
	uint8_t *lines;	   /* by frame id: FRAME_INLINED, FRAME_LINE; NULL: none has either */
};

/* A line of the table of --missing. */
struct missing_row {
	char *path, *tried; /* owned; "": none */
	struct build_id id;
	uint32_t reason, flags;
	bool inlines; /* it is about inlined functions: frames that there might be */
	uint64_t samples, frames;
};

/* What --missing shows. */
struct lacks {
	struct missing missing;
	struct missing_row *rows; /* of the streams before */
	uint32_t nrows, rows_cap;
};

/* The stack that is being made. */
struct stack_made {
	uint32_t depth_max;
	uint32_t frames[RESOLVE_DEPTH_MAX + 1];
};

#define ENDS_MAX (1u << 16) /* threads, and stacks that were cut, which are remembered */

/* A stack whose copy ended. */
struct cut_stack {
	uint64_t sp;
	uint32_t thread; /* index in ends.tops */
	uint32_t len;	 /* of the copy */
};

/* What is missing in incomplete stacks. */
struct ends {
	struct map64 by_thread; /* source and thread: index in tops, + 1 */
	uint64_t *tops;		/* by thread: where its whole stacks end; 0: none was seen */
	uint32_t ntops, tops_cap;
	struct cut_stack *cut;
	uint32_t ncut, cut_cap;
	struct intern files;  /* of the last frames */
	struct map64 by_file; /* how it ended, and the file: index in counts, + 1 */
	struct end_count {
		uint32_t end, file;
		uint64_t stacks;
	} * counts;
	uint32_t ncounts, counts_cap;
	char recorded[256]; /* what the recorder says of its version and of call chains */
	uint32_t denied;    /* processes whose generated code this user may not read */
};

struct resolver {
	struct resolver_opts opts;
	struct swriter *w;
	struct diag *d;
	struct rdsos dsos;
	struct machines machines;
	struct seen seen;
	struct emitted out;
	struct lacks lacks;
	struct bundle *bundle; /* of resolver_opts.bundle; NULL: none */
	struct stack_made stack;
	struct rows rows;	     /* of all DSOs */
	struct unwinding *unwinding; /* NULL: nothing was unwound */
	struct stitcher *stitcher;   /* NULL: nothing was kept to stitch */
	struct holding *holding;     /* NULL: nothing was held back */
	struct looked *looked;	     /* NULL: no deep stack was looked at */
	struct ends ends;
	struct resolver_stats stats;
	bool files_allowed; /* as many as the system lets a process have */
	uint32_t pid;	    /* of the sample that is being resolved */
};

/* ---- resolve_emit.c: ids, and their definitions in the output ---- */

/* A new DSO, also written to the output. *index is its place + 1. */
int resolve_add_dso(struct resolver *r, uint32_t source, struct ps_str path, struct ps_str build_id,
		    uint32_t flags, uint32_t *index);

/* A symbol, written to the output. */
int resolve_put_symbol(struct resolver *r, uint32_t source, const char *name, uint32_t dso,
		       uint64_t addr, uint64_t size, uint32_t *id);

/* The symbol of a function that is known by its beginning only. */
int resolve_put_guessed(struct resolver *r, uint32_t source, const char *name, uint32_t dso,
			const struct cfi_function *f, uint32_t *id);

/* A symbol of the input. */
int resolve_keep_symbol(struct resolver *r, uint32_t source, const struct ps_symbol *sym,
			uint32_t dso, uint32_t *id);

/* The symbol of a function that is inlined somewhere. */
int resolve_put_inlined(struct resolver *r, uint32_t source, const char *name, uint32_t dso,
			uint32_t *id);

/* Writes a frame under a new id. */
int resolve_put_frame(struct resolver *r, uint32_t source, struct ps_frame *f, uint32_t *id);

/* The stack of the n frames in r->stack, written if it is new. */
int resolve_put_stack(struct resolver *r, uint32_t source, uint32_t n, uint32_t flags,
		      uint32_t *id);

/* The id of a chain, written if it is new: c->id. Only with own_chains. */
int resolve_put_chain(struct resolver *r, uint32_t source, struct ps_chain *c);

/* The id of a source file, written at its first use; 0: none, or too many. */
int resolve_put_srcfile(struct resolver *r, uint32_t source, const char *path, uint32_t *id);

/* Forgets what chains and addresses were resolved to; ids stay. */
void resolve_forget_chains(struct resolver *r);

/* The same of chains alone: their ids begin again. */
void resolve_forget_ids(struct resolver *r);

/* Packed: before the stacks of a sample, whose ids begin again when there are many. */
void resolve_stack_room(struct resolver *r);

/* Forgets frames and stacks: their ids begin again. */
void resolve_restart(struct resolver *r);

/* ---- resolve_moved.c ---- */

/*
 * Whether memory is mapped where a file's code was: it is that code then, and the map gets its DSO
 * and offset. And where memory lies between two mappings of a file's code, of which `after` is the
 * second, at the same distance. 0 or PP_ENOMEM, PP_ELIMIT.
 */
bool resolve_moved(const struct resolver *r, const struct machine *m, const struct ps_mmap *rec,
		   struct map *map);
int resolve_moved_between(struct resolver *r, struct machine *m, uint32_t pid,
			  const struct map *after);

/* ---- resolve_jit.c: generated code ---- */

/*
 * Memory that a process filled with code itself goes by the name of the map that its symbols could
 * be in, as with perf: *index, the DSO of the mapping, becomes the DSO of that name. *absolute:
 * offsets in it are addresses.
 */
int resolve_generated(struct resolver *r, struct machine *m, const struct ps_mmap *rec,
		      uint32_t *index, bool *absolute);

/* The DSO of a process's generated code: index + 1 in r->dsos. */
int resolve_jit_dso(struct resolver *r, struct machine *m, uint32_t pid, uint32_t *index);

/* A mapping of a file came: it may be a jitdump, which its name shows. */
int resolve_jit_mmap(struct resolver *r, struct machine *m, const struct ps_mmap *rec,
		     const char *path);

/* What number a process has in its own pid namespace, by which it names its map. */
int resolve_namespaces(struct machine *m, const struct ps_namespaces *rec);

/* The generated code of a space is brought to the time of a sample. */
int resolve_jit_advance(struct resolver *r, struct machine *m, struct space *sp, uint64_t time);

/*
 * The symbol of an address of generated code: *symbol is its id, 0 with *reason if there is none.
 * `jit` is an index in the machine's code, + 1.
 */
int resolve_jit_symbol(struct resolver *r, struct machine *m, uint32_t jit, uint64_t addr,
		       uint32_t *symbol, uint32_t *reason);

/* Symbols that the recording holds for it, instead of a perf map. 0 or PP_ENOMEM. */
int resolve_jit_recorded(struct machine *m, uint32_t pid, const struct ps_blob *b);

/* ---- resolve_jit_cfi.c ---- */

/*
 * The unwind table of an address of generated code, if a jitdump has one, for a machine (EM_*) of
 * 64 bits. 0 or PP_ENOMEM.
 */
int resolve_jit_cfi(struct resolver *r, struct machine *m, uint32_t jit, struct space *sp,
		    unsigned machine, uint64_t addr, struct unwind_place *place);
void resolve_jit_cfi_release(struct rjit *j);

/* ---- resolve_jit_code.c: generated code without tables ---- */

/*
 * What is at an address of generated code: a cfi with rows from its instructions, if the process
 * lives, or the bundle or the jitdump has them. c: the code in the jitdump; NULL: it has none
 * there. 0, or an error.
 */
int resolve_jit_code(struct resolver *r, struct machine *m, uint32_t jit, struct space *sp,
		     unsigned machine, uint64_t addr, const struct jit_code *c,
		     struct unwind_place *place);
void resolve_jit_code_forget(struct rjit *j); /* there will be another map */
void resolve_jit_code_release(struct rjit *j);

/* ---- resolve_jit.c: generated code ---- */

/* The source line of an address of generated code, if a jitdump has it. */
bool resolve_jit_line(const struct machine *m, uint32_t jit, uint64_t addr, struct source_frame *f);

/* The bytes of the perf map or the jitdump of a process that were read before. 0, or an error. */
int resolve_jit_read(struct resolver *r, struct machine *m, uint32_t jit, bool dump, struct buf *b);

void rjits_release(struct machine *m);

/* ---- resolve_say.c: files that could not be read ---- */

/* Reports what of a DSO's file, or of one of its others, could not be read: err, if any. */
void resolve_say_failed(struct resolver *r, const char *path, int err);
/* The same, of all files of a DSO that were found: what is there, and this machine did not give. */
void resolve_say_file(struct resolver *r, const struct dso_file *f);
/* The same, of the files that are still open for its stacks. */
void resolve_say_unread(struct resolver *r, struct rdso *d);

/* ---- resolve_lines.c: DWARF ---- */

/*
 * Opens what the lines of a DSO come from, from the files that were found for it. 0 or PP_ENOMEM.
 */
int resolve_take_dwarf(struct resolver *r, struct rdso *d, struct dso_file *f);

/*
 * Gives a frame that is about to be written its source line, and writes the frames of what is
 * inlined at its address before it: *first is the first of them, 0 if there are none. vaddr is the
 * address that was looked up, without the kernel's move.
 */
int resolve_lines(struct resolver *r, struct machine *m, struct rdso *d, uint64_t vaddr,
		  struct ps_frame *f, uint32_t *first);

void resolve_lines_release(struct rdso *d);

/* ---- resolve_cfi.c: unwind tables ---- */

/* Takes the tables of a DSO from the files that were found for it. 0 or PP_ENOMEM. */
int resolve_take_cfi(struct resolver *r, struct rdso *d, const struct dso_file *f);

/* The same of a DSO whose files were sought before there was anything to unwind. 0 or PP_ENOMEM. */
int resolve_find_cfi(struct resolver *r, struct machine *m, struct rdso *d);

/* ---- resolve_search.c ---- */

/* Where the files of a DSO are sought, and what proves them. They belong to r and d. */
void resolve_search(struct resolver *r, struct machine *m, const struct rdso *d,
		    struct dso_search *search);

/* ---- resolve_dso.c: where the symbols of a DSO come from ---- */

/* A DSO of the input: known to the machine, and written with its number in the output. */
int resolve_dso(struct resolver *r, struct machine *m, const struct ps_dso *rec);

/* Finds the symbols of a DSO, or of a kernel module at the place where it was loaded, once. */
int resolve_load(struct resolver *r, struct machine *m, struct rdso *d);
int resolve_load_module(struct resolver *r, struct machine *m, struct rdso *d);

/*
 * The DSO-relative virtual address of an offset in a DSO that was loaded: 0, or PP_ENOENT when it
 * cannot be told; it is the offset then.
 */
int resolve_vaddr(const struct machine *m, const struct rdso *d, uint64_t off, uint64_t *vaddr);

void rdso_free(struct rdso *d);

/* ---- resolve_recorded.c: names that the recording holds ---- */

/* Takes those of a BLOB, if it has some. 0 or PP_ENOMEM. */
int resolve_recorded_add(struct resolver *r, struct machine *m, const struct ps_blob *b);

/*
 * The symbol at an offset in a file, in a module's memory, or at an address of the kernel; `shown`
 * is the address that the output has for it. *symbol stays as it is where there is none.
 */
int resolve_recorded(struct resolver *r, struct machine *m, struct rdso *d, uint64_t off,
		     uint64_t shown, uint32_t *symbol);

void resolve_recorded_release(struct machine *m);

/* ---- resolve_frame.c: from an address to a frame ---- */

/*
 * Whether an address in a symbol is one of its function: one whose size is not known seems to go on
 * over functions after it that have no symbol. As perf has it, it does. 0 or PP_ENOMEM.
 */
int resolve_is_of(struct resolver *r, struct machine *m, struct rdso *d, uint64_t vaddr,
		  const struct symbol *s, bool *is);

/*
 * The frame of an address, written if it is new; FRAME_UNKNOWN may be with it. `ret`: it is a
 * return address, so that the call lies before it. sp may be NULL: nothing is known of the process.
 */
int resolve_frame(struct resolver *r, struct machine *m, struct space *sp, uint64_t ip,
		  enum mode mode, bool ret, uint32_t *id);

/* ---- resolve_leaf.c: functions that hide their callers ---- */

/*
 * Counts a sample of which that can be told: it has a chain of frame pointers, and its function had
 * not set one up (x86-64). 0 or PP_ENOMEM.
 */
int resolve_count_leaf(struct resolver *r, struct machine *m, const struct sreader *in,
		       const struct ps_sample *s);

/* ---- resolve_start.c: whether chains of frame pointers are whole ---- */

/* Addresses of a chain, the outermost first. */
struct outer_addresses {
	const uint64_t *ips; /* of the outermost; the next is `step` from it */
	ptrdiff_t step;
	uint32_t n;
	bool leaf; /* the last of them is where the sample was taken */
};

/*
 * A start may leave any number in the frame pointer, which the kernel then follows: that of main's
 * caller in glibc 2.43 leads to the arguments of the program, that of Go's scheduler to the
 * goroutine that it left, whose stack may be another by now. *past: so many of the addresses come
 * after a start of Go's scheduler, or after another one if the last of them is not mapped: they are
 * not part of the stack. *mapped: something is mapped at one of the addresses. 0, or an error.
 */
int resolve_past_start(struct resolver *r, struct machine *m, struct space *sp,
		       const struct outer_addresses *a, uint32_t *past, bool *mapped);

/*
 * Where Go's scheduler has left a goroutine, whose frames are not its callers, though its frame
 * pointer leads there: *at, counted from 1, of the innermost of the addresses; 0: nowhere. 0, or an
 * error.
 */
int resolve_go_top(struct resolver *r, struct machine *m, struct space *sp,
		   const struct outer_addresses *a, uint32_t *at);

/* The functions of a file that lead to its starts. */
const struct start_anchors *resolve_anchors(struct rdso *d);

/*
 * How a chain ended whose outermost address in user space is ip: *end, PS_END_OUTERMOST if it is
 * whole. `ret`: it is a return address. 0, or an error.
 */
int resolve_chain_end(struct resolver *r, struct machine *m, struct space *sp, uint64_t ip,
		      bool ret, uint32_t *end);

/* ---- resolve_callers.c: which functions called which, at their places in the stack ---- */

/* A function, of which it may be unknown where it calls the next: then it is its beginning. */
struct caller {
	uint64_t ip;
	uint32_t frame;	   /* as in a step below */
	uint32_t function; /* of that frame */
	uint32_t next;	   /* its own caller: index, + 1; 0: it is the outermost */
	bool known;	   /* there was one */
	bool exact;	   /* nothing returns to ip */
	bool several;	   /* it calls from several places */
	bool unlike;	   /* stacks have several functions here: it is not known */
	bool twice;	   /* it was seen again */
};

struct callers {
	struct map64 places; /* of a function and the end of its frame: index in v, + 1 */
	struct map64 of;     /* of a function, wherever its frame was: its caller's function */
	struct caller *v;
	uint32_t n, cap;
};

/* Who looks: to find where functions begin. */
struct caller_space {
	struct machine *m;
	struct space *sp;
};

/* The function of a frame, with those that are inlined into it, as a number. */
uint32_t resolve_function(const struct resolver *r, uint32_t frame);

/* What called the function whose frame ends at cfa: index in v, + 1; 0: not known. */
uint32_t callers_find(const struct callers *c, uint32_t function, uint64_t cfa);

/* The same, known or not; 0: out of memory. */
uint32_t callers_place(struct callers *c, uint32_t function, uint64_t cfa);

/* A stack has this caller of the function there. 0, or an error. */
int callers_put(struct resolver *r, struct callers *c, const struct caller_space *space,
		uint32_t function, uint32_t at, const struct caller *caller);

/* Whether all callers from there on are known, and that of `function` is sure. */
bool callers_sure(const struct callers *c, uint32_t function, uint32_t at);

/* Whether two tables have the same callers there. */
bool callers_same(const struct callers *a, uint32_t at_a, const struct callers *b, uint32_t at_b);

void callers_release(struct callers *c);

/* ---- resolve_stitch.c: what continues a stack whose copy ended ---- */

/* A caller's caller, and so on, to the outermost. */
struct stitch_step {
	uint64_t ip;
	uint32_t frame; /* as resolve_frame gives it, without FRAME_UNKNOWN */
	bool exact;
	uint32_t next; /* private */
};

/* The same, while it is read. */
struct stitch_at {
	struct stitch_step step;
	uint32_t caller; /* private: the same, by functions */
	bool by_function;
};

/* A frame at its place in the stack: what is called from there. */
struct stitch_key {
	uint64_t ip, sp, cfa; /* cfa: the end of the frame; 0: unknown */
	uint32_t frame;	      /* as in a step; 0: none */
};

/*
 * A whole stack was found: frames[i], of res->n, is that of res->ips[i]. Of a thread, so that what
 * it has in common with its last one need not be learnt again. inner: the first frame that is to be
 * known; the innermost of all was interrupted anywhere, and calls nothing. 0 or PP_ENOMEM.
 */
int resolve_stitch_learn(struct resolver *r, uint64_t thread, const struct caller_space *space,
			 const struct unwind_result *res, const uint32_t *frames, uint32_t inner);

/* The same of a stack whose copy ended: what it has. */
int resolve_stitch_part(struct resolver *r, const struct caller_space *space,
			const struct unwind_result *res, const uint32_t *frames);

/*
 * The first frame after the one with a key, and those that follow it, in all whole stacks that have
 * it. False: there is none, or these stacks do not agree; at the end. seen: the whole stack of the
 * same event is among them, so that one is enough.
 */
bool resolve_stitch_first(const struct resolver *r, const struct stitch_key *key, bool seen,
			  struct stitch_at *at);
bool resolve_stitch_next(const struct resolver *r, struct stitch_at *at);

void resolve_stitch_forget(struct resolver *r);
void resolve_stitch_release(struct resolver *r);

/* ---- resolve_ends.c ---- */

/* A stack that was unwound. */
struct unwound {
	uint64_t thread;       /* and source */
	uint64_t inner, outer; /* the stack pointers of its first and last frame */
	uint32_t frames, end, len;
	const char *file; /* of its last frame; NULL: none */
};

/* Counts how it ended. 0 or PP_ENOMEM. */
int resolve_ends_add(struct resolver *r, const struct unwound *u);
void resolve_ends_release(struct resolver *r);

/* ---- resolve_unwind.c: copies of user stacks ---- */

/* Counts a copy of a stack that cannot be unwound, and notes why. */
void resolve_not_unwound(struct resolver *r, const struct machine *m, const struct ps_sample *s);

/* Whether a sample has a copy of its stack and the registers that go with it. */
bool resolve_can_unwind(const struct machine *m, const struct ps_sample *s);

/*
 * The chain of such a sample: what c (or NULL) has of the kernel, then what was unwound. It and the
 * result live until the next one; it has no id.
 */
int resolve_unwind(struct resolver *r, struct machine *m, const struct ps_sample *s,
		   const struct ps_chain *c, struct ps_chain *out, struct unwind_result *res);

/* What of it is to be counted, and how: resolve_ends_add. */
struct unwound resolve_unwound(const struct resolver *r, const struct ps_sample *s,
			       const struct unwind_result *res);

/*
 * Goes on where the copy of a thread of process pid ended, whose last bytes are these. *whole: it
 * came to a start; the first frame of the result is then the one where the copy ended.
 */
struct unwind_rest {
	const struct unwind_arch *arch;
	const struct unwind_state *state;
	const uint8_t *tail;
	size_t len;
};

int resolve_unwind_rest(struct resolver *r, struct machine *m, uint32_t pid,
			const struct unwind_rest *rest, const struct unwind_beyond *beyond,
			struct unwind_result *res, bool *whole);

/* The same from a stack of branches that are calls: those that the innermost function is in. */
int resolve_branch_calls(struct resolver *r, const struct ps_sample *s, const struct ps_chain *c,
			 struct ps_chain *out);

/* The address spaces are gone. */
void resolve_unwind_forget(struct resolver *r);
void resolve_unwind_release(struct resolver *r);

/* ---- resolve_text.c: stacks that came with names ---- */

/*
 * The stack that a sample came with, if there is one: st is NULL otherwise. What another psym has
 * named in it stays named. Frames belong to addresses in turn, each with those inlined at it
 * before it.
 */
struct known {
	const struct sreader *in;
	const struct ps_stack *st;
	uint32_t id; /* 0: none */
	uint32_t at; /* the frame that the next address has */
};

struct known resolve_known(const struct sreader *in, uint32_t id);

/* Whether it has frames for n addresses, so that they can be compared. */
bool resolve_known_fits(const struct known *k, uint32_t n);

/* The frames of an address in it. */
struct known_frames {
	uint32_t first, n;	   /* of its frames; n 0: none */
	bool named, guessed, line; /* the function itself */
};

/* Those of the next address. */
struct known_frames resolve_known_next(struct known *k);

/*
 * Whether they stay, rather than the frame `id` (with FRAME_UNKNOWN) that was found for the
 * address now: if they are named, unless only this one has inlined functions or a line; or if
 * this one does not have what they have.
 */
bool resolve_known_wins(const struct resolver *r, const struct known_frames *a, uint32_t id);

/* A frame of the input in the output. */
int resolve_keep_frame(struct resolver *r, struct machine *m, const struct sreader *in, uint32_t id,
		       uint32_t *out);

/* How many of its frames have no name. */
uint32_t resolve_known_unnamed(const struct known *k);

/*
 * The frames of a stack that the input has, to r->stack: of a sample without addresses, whose stack
 * cannot be made again. cut: it has more than *n, or had before.
 */
int resolve_text_stack(struct resolver *r, struct machine *m, const struct sreader *in,
		       const struct ps_stack *st, uint32_t *n, bool *cut);

/* A symbol or a frame of the input is defined again. */
void resolve_text_forget(struct machine *m, const struct ps_record *rec);

/* ---- resolve_chain.c: from a chain to its frames ---- */

/* What is common to the addresses of a part of a chain. */
struct part {
	struct space *sp;
	struct known *known; /* the input's stack, beside it */
	enum mode mode;
	bool ret; /* the next address is one that was returned to */
};

/* What follows a marker in a chain. */
enum mode resolve_mode_of_marker(uint64_t ip);

/* New frames that n addresses can make. */
uint64_t resolve_frames_of(const struct resolver *r, uint32_t n);

/* The set of what is missing for the n frames in r->stack.frames. */
int resolve_miss_frames(struct resolver *r, uint32_t n, uint32_t *set);

/*
 * The frames of the next address, the innermost first, on top of the *depth of the stack that is
 * being made. Where the input has names, nothing is looked up, if not for more than names.
 */
int resolve_address(struct resolver *r, struct machine *m, const struct part *p, uint64_t ip,
		    uint32_t *depth, uint32_t *unknown);

/* The first address of a chain that is not a marker; 0: there is none. */
uint64_t resolve_first(const struct ps_chain *c);

/*
 * The frames of a chain, to r->stack: *st gets what is known of it, but for the stack. *cut: there
 * are more. Ids of frames may begin again before: resolve_chain_restarts.
 */
int resolve_chain_frames(struct resolver *r, struct machine *m, struct space *sp,
			 const struct ps_chain *c, enum mode mode, const struct known *known,
			 struct chain_state *st, bool *cut);

/* Whether so many addresses more make them begin again. */
bool resolve_chain_restarts(const struct resolver *r, uint32_t addresses);

/* The stack of a chain, written if it is new: *st gets what is known of it then. */
int resolve_chain(struct resolver *r, struct machine *m, struct space *sp, const struct ps_chain *c,
		  enum mode mode, const struct known *known, struct chain_state *st);

/* ---- resolve_part.c: chains by their parts ---- */

/*
 * The stack of a chain whose parts came as they are, each resolved once in a process: *st points to
 * it until the next call. False: only the whole chain shows it; nothing was done, unless *rc is an
 * error.
 */
bool resolve_by_parts(struct resolver *r, struct machine *m, const struct sreader *in,
		      const struct ps_sample *s, const struct part_state **st, int *rc);

/* ---- resolve_looks.c: looks at stacks that are deeper than copies ---- */

/* Whether a helper's sample is one; it was taken then. *rc: 0, or an error. */
bool resolve_look(struct resolver *r, struct machine *m, const struct ps_sample *s, int *rc);
void resolve_looks_release(struct resolver *r);

/* ---- resolve_hold.c: samples that wait for later stacks ---- */

/*
 * Continues those of a thread that are held back and whose time is from[0] or later, and not beyond
 * from[1], by what looks found. 0, or an error.
 */
int resolve_hold_rest(struct resolver *r, struct machine *m, uint64_t thread,
		      const uint64_t from[2], const struct unwind_beyond *beyond);

/*
 * Takes a sample with a chain or an address, if it can: false: it is to be written in another way,
 * after resolve_held. *rc: 0, or an error.
 */
bool resolve_hold(struct resolver *r, struct machine *m, const struct ps_sample *s,
		  const struct ps_chain *c, int *rc);

/* Takes a helper's sample, of which nothing but the stack is needed. 0, or an error. */
int resolve_learn(struct resolver *r, struct machine *m, const struct ps_sample *s,
		  const struct ps_chain *c);

/* Writes what is held back, or a record of the input or of our own after it. */
int resolve_held(struct resolver *r);
int resolve_copy(struct resolver *r, const struct ps_record *rec);
int resolve_put(struct resolver *r, enum ps_type type, uint32_t source, const void *fields);
void resolve_hold_release(struct resolver *r);

/* ---- resolve_context.c: records other than samples ---- */

/* A mapping, which is also written to the output. */
int resolve_mmap(struct resolver *r, struct machine *m, const struct ps_mmap *rec);

/* Other records are only learnt from. */
int resolve_context(struct resolver *r, struct machine *m, const struct ps_record *rec);

/* ---- resolve_missing.c: the table of --missing ---- */

/* Keeps for the table what the stream that ends here lacked. */
int resolve_missing_keep(struct resolver *r);
void resolve_missing_release(struct resolver *r);

/* ---- resolve_bundle.c: --bundle ---- */

/* Packs the files of the stream that ends here, if there is to be a bundle. */
int resolve_bundle_keep(struct resolver *r);

#endif
