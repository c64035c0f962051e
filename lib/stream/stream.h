/*
 * The event stream: what the filters say to each other. perfpipe-stream(5) is the format.
 *
 * A stream is a header, dictionary and context records, samples, and an END record. This reader
 * prints the time and the event of each sample:
 *
 *	struct sreader *r;
 *	const struct ps_record *rec;
 *	int rc = sreader_open(&r, "-", SREADER_EVENTS, diag);
 *
 *	while (!rc && !(rc = sreader_next(r, &rec)))
 *		if (rec->type == PS_SAMPLE && (e = sreader_event(r, rec->sample.event)))
 *			printf("%" PRIu64 " %s\n", rec->sample.time, e->name.p);
 *	status = sreader_status(r, rc);
 *	sreader_free(r);
 *
 * The reader keeps the dictionaries that it is asked for; the others are skipped. An id may be
 * defined again: the later definition holds for what follows. When id 1 of the call chains,
 * symbols, frames or stacks is defined again, all ids of that dictionary are forgotten: that is how
 * a producer bounds the memory of those after it. A reader of several streams in a row ("cat a b")
 * gets a PS_HEADER record at the beginning of each, where all dictionaries are empty.
 *
 * A filter that defines nothing in a dictionary passes its records on with swriter_copy. A filter
 * that adds to a dictionary of its input has to renumber it.
 */
#ifndef PP_STREAM_STREAM_H
#define PP_STREAM_STREAM_H

#include "base/buf.h"
#include "base/diag.h"
#include "base/out.h"
#include "base/src.h"
#include "stream/records.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define PS_MAGIC       "PPSTREAM"
#define PS_HEADER_SIZE 24	   /* magic, byte order mark, version, flags */
#define PS_BYTE_ORDER  0x01020304u /* as a u32 of the writer */
#define PS_VERSION     2	   /* a reader refuses a higher one */
#define PS_PLAIN       1	   /* version of a stream without packed records */
#define PS_RECORD_MAX  (1u << 24)  /* bytes of a record */
#define PS_ID_MAX      (1u << 22)  /* ids of a dictionary */
#define PS_ID_GAP      (1u << 16)  /* how far ids may be from dense: Dictionaries in the page */
#define PS_DICT_BYTES  (1u << 30)  /* bytes of a dictionary that a reader keeps */
#define PS_NONE	       UINT32_MAX  /* cpu, pid, tid that were not recorded */

enum ps_type {
	PS_HEADER = 0, /* not a record: the reader's word for the beginning of a stream */
#define PS_R(name, number, text, what) PS_##name = (number),
	PS_RECORDS(PS_R)
#undef PS_R
		PS_TYPES = 64,
};

/* Arrays in records: they point into the reader's buffer until the next sreader_next. */
struct ps_str {
	const char *p; /* not terminated in records, may be NULL if len is 0; terminated in
			  dictionaries, and never NULL there */
	uint32_t len;
};
struct ps_u32s {
	const uint32_t *v;
	uint32_t n;
};
struct ps_u64s {
	const uint64_t *v;
	uint32_t n;
};
struct ps_regs {
	uint64_t abi, mask;
	const uint64_t *v; /* as many as mask has bits */
};
struct ps_branches {
	uint32_t n, flags;
	uint64_t hw_idx;
	const uint64_t *v; /* 3 * n: from, to, flags */
};

/* struct ps_mmap, struct ps_comm, ...: the records' fields. */
#define PS_C_u32	       uint32_t
#define PS_C_u64	       uint64_t
#define PS_C_str	       struct ps_str
#define PS_C_u32s	       struct ps_u32s
#define PS_C_u64s	       struct ps_u64s
#define PS_F(kind, name, what) PS_C_##kind name;
struct ps_string {
	PS_FIELDS_STRING(PS_F)
};
struct ps_source {
	PS_FIELDS_SOURCE(PS_F)
};
struct ps_meta {
	PS_FIELDS_META(PS_F)
};
struct ps_provenance {
	PS_FIELDS_PROVENANCE(PS_F)
};
struct ps_event {
	PS_FIELDS_EVENT(PS_F)
};
struct ps_event_field {
	PS_FIELDS_EVENT_FIELD(PS_F)
};
struct ps_dso {
	PS_FIELDS_DSO(PS_F)
};
struct ps_context {
	PS_FIELDS_CONTEXT(PS_F)
};
struct ps_mmap {
	PS_FIELDS_MMAP(PS_F)
};
struct ps_comm {
	PS_FIELDS_COMM(PS_F)
};
struct ps_fork {
	PS_FIELDS_FORK(PS_F)
};
struct ps_exit {
	PS_FIELDS_EXIT(PS_F)
};
struct ps_ksymbol {
	PS_FIELDS_KSYMBOL(PS_F)
};
struct ps_bpf {
	PS_FIELDS_BPF(PS_F)
};
struct ps_namespaces {
	PS_FIELDS_NAMESPACES(PS_F)
};
struct ps_cgroup {
	PS_FIELDS_CGROUP(PS_F)
};
struct ps_switch {
	PS_FIELDS_SWITCH(PS_F)
};
struct ps_lost {
	PS_FIELDS_LOST(PS_F)
};
struct ps_throttle {
	PS_FIELDS_THROTTLE(PS_F)
};
struct ps_text_poke {
	PS_FIELDS_TEXT_POKE(PS_F)
};
struct ps_aux {
	PS_FIELDS_AUX(PS_F)
};
struct ps_read {
	PS_FIELDS_READ(PS_F)
};
struct ps_blob {
	PS_FIELDS_BLOB(PS_F)
};
struct ps_other {
	PS_FIELDS_OTHER(PS_F)
};
struct ps_counter {
	PS_FIELDS_COUNTER(PS_F)
};
struct ps_count {
	PS_FIELDS_COUNT(PS_F)
};
struct ps_round {
	PS_FIELDS_ROUND(PS_F)
};
struct ps_chain {
	PS_FIELDS_CHAIN(PS_F)
};
struct ps_symbol {
	PS_FIELDS_SYMBOL(PS_F)
};
struct ps_frame {
	PS_FIELDS_FRAME(PS_F)
};
struct ps_stack {
	PS_FIELDS_STACK(PS_F)
};
struct ps_srcfile {
	PS_FIELDS_SRCFILE(PS_F)
};
struct ps_chains {
	PS_FIELDS_CHAINS(PS_F)
};
struct ps_stacks {
	PS_FIELDS_STACKS(PS_F)
};
struct ps_samples {
	PS_FIELDS_SAMPLES(PS_F)
};
struct ps_end {
	PS_FIELDS_END(PS_F)
};
#undef PS_F

/* Marks of a sample (pfilter): the low two bits of its flags. */
enum ps_mark {
	PS_MARK_PASS = 0, /* also: never filtered */
	PS_MARK_FAIL = 1,
	PS_MARK_NA = 2, /* the expression does not apply */
	PS_MARK_MASK = 3,
};
#define PS_SAMPLE_MODE_SHIFT 2 /* bits 2 to 4: PERF_RECORD_MISC_CPUMODE of the kernel */
#define PS_SAMPLE_MODE_MASK  (7u << PS_SAMPLE_MODE_SHIFT)
#define PS_SAMPLE_EXACT_IP   (1u << 5)
#define PS_SAMPLE_NO_TIME    (1u << 6) /* the event was recorded without a time */
#define PS_SAMPLE_JOINED     (1u << 7) /* a stack that the sample before it has as its chain */
#define PS_SAMPLE_EXITED     (1u << 8) /* recorded without a thread: it was about to end */
#define PS_SAMPLE_SHORT_COPY (1u << 9) /* less of the stack was copied than was to be */
#define PS_SAMPLE_FLAGS_AT   36	       /* bytes from the beginning of the record to its flags */
#define PS_SAMPLE_FIELDS_AT  40	       /* to its fields */
#define PS_SAMPLE_FIXED	     48	       /* bytes of the fixed part, record header included */

/* The kinds of the optional fields, in C. */
#define PS_S_u64    uint64_t
#define PS_S_ref    uint32_t
#define PS_S_str    struct ps_str
#define PS_S_regs   struct ps_regs
#define PS_S_branch struct ps_branches
#define PS_S_u64s   struct ps_u64s
struct ps_sample {
	uint32_t event; /* descriptor */
	uint32_t cpu;
	uint64_t time; /* ns */
	uint32_t pid, tid;
	uint32_t comm;	 /* string; 0 unknown */
	uint32_t flags;	 /* mark, mode, PS_SAMPLE_* */
	uint64_t fields; /* which of the following there are, PS_HAS(name); a reader sets the
			    others to 0 */
#define PS_F(bit, kind, name, what) PS_S_##kind name;
	PS_SAMPLE_FIELDS(PS_F)
#undef PS_F
};
enum ps_sample_bit {
#define PS_F(bit, kind, name, what) PS_BIT_##name = (bit),
	PS_SAMPLE_FIELDS(PS_F)
#undef PS_F
};
#define PS_HAS(name)	       (UINT64_C(1) << PS_BIT_##name)
#define ps_sample_has(s, name) (((s)->fields & PS_HAS(name)) != 0)

/* EVENT.perf_type: none of the kernel's, made by a filter */
#define PS_TYPE_MADE	      UINT32_MAX
#define PS_EVENT_SAMPLED      1u /* period or frequency */
#define PS_EVENT_FREQ	      2u
#define PS_EVENT_CHAINS	      4u
#define PS_EVENT_BRANCH_CALLS 8u
#define PS_EVENT_THINNED      16u /* a tracepoint, of which not every one was recorded */
#define PS_EVENT_HELPER	      32u

/* BLOB.kind */
enum ps_blob_kind {
	PS_BLOB_KALLSYMS = 1,
	PS_BLOB_PRINTK = 2,   /* printk formats */
	PS_BLOB_CMDLINES = 3, /* saved command lines */
	PS_BLOB_SYMBOLS = 4,  /* of a file */
	PS_BLOB_BTF = 5,
	PS_BLOB_TEXT = 6, /* of a tracer: a printer puts its heads before it */
};

#define PS_FIELD_SIGNED	  1u
#define PS_FIELD_ARRAY	  2u
#define PS_FIELD_DYNAMIC  4u
#define PS_FIELD_RELATIVE 8u
#define PS_FIELD_STRING	  16u
#define PS_FIELD_POINTER  32u
#define PS_DSO_KERNEL	  1u
#define PS_DSO_MODULE	  2u
#define PS_DSO_NO_FILE	  4u
#define PS_DSO_GUEST	  8u
#define PS_MMAP_KERNEL	  1u
#define PS_MMAP_DATA	  2u
#define PS_MMAP_GUEST	  4u
#define PS_FRAME_KERNEL	  1u
#define PS_FRAME_INLINED  2u
#define PS_FRAME_GUEST	  4u
#define PS_COMM_EXEC	  1u
#define PS_LOST_RECORDS	  1u /* LOST.kind */
#define PS_LOST_SAMPLES	  2u
#define PS_LOST_TRACE	  4u /* hardware trace data */
#define PS_WITHOUT_USER	  1u /* COUNTER.without */
#define PS_WITHOUT_KERNEL 2u
#define PS_WITHOUT_HV	  4u
#define PS_WITHOUT_HOST	  8u
#define PS_WITHOUT_IDLE	  16u
#define PS_WITHOUT_GUEST  32u

/* SYMBOL.flags; a frame with such a symbol has the reason why there is no real one. */
#define PS_SYMBOL_GUESSED 4u

/* STACK.flags, CHAIN.flags */
#define PS_STACK_CUT	     1u
#define PS_STACK_GUESSED     2u
#define PS_STACK_STITCHED    4u
#define PS_STACK_END_SHIFT   8 /* enum ps_end_how */
#define PS_STACK_END_MASK    (0xffu << PS_STACK_END_SHIFT)
#define PS_STACK_BYTES_SHIFT 16

enum ps_end_how {
#define PS_E(name, number, text) PS_END_##name = (number),
	PS_ENDS(PS_E)
#undef PS_E
		PS_END_MAX = 32,
};
/* The text of how a walk ended; never NULL. */
const char *ps_end_how(uint32_t end);

enum ps_reason {
#define PS_R(name, number, text) PS_REASON_##name = (number),
	PS_REASONS(PS_R)
#undef PS_R
		PS_REASON_MAX = 32,
};
/* The text of a reason; never NULL. */
const char *ps_reason(uint32_t reason);

/* A sample as it lay in its record SAMPLES. */
struct ps_packed {
	const uint8_t *p; /* NULL: it cannot be handed on so */
	uint32_t len;
	uint32_t mark; /* in these bytes; that of the sample may be another */
	uint64_t at;   /* the number of the record << 32 | that of the sample in it, from 0 */
};

/* One record as the reader gives it. Pointers live until the next sreader_next. */
struct ps_record {
	uint32_t type;		 /* enum ps_type; may be one that this version does not know */
	uint32_t source;	 /* id of the SOURCE record that it belongs to */
	const uint8_t *raw;	 /* the whole record as it came; NULL: it was packed */
	uint32_t size;		 /* bytes of raw */
	bool foreign;		 /* the stream was written in the other byte order: raw is, too */
	struct ps_packed packed; /* of a SAMPLE without raw */
	union {
		struct ps_sample sample;
		struct ps_context context; /* of every record that has one */
		struct ps_string string;
		struct ps_source src;
		struct ps_meta meta;
		struct ps_provenance provenance;
		struct ps_event event;
		struct ps_dso dso;
		struct ps_mmap mmap;
		struct ps_comm comm;
		struct ps_fork fork;
		struct ps_exit exit;
		struct ps_ksymbol ksymbol;
		struct ps_bpf bpf;
		struct ps_namespaces namespaces;
		struct ps_cgroup cgroup;
		struct ps_switch sw;
		struct ps_lost lost;
		struct ps_throttle throttle;
		struct ps_text_poke text_poke;
		struct ps_aux aux;
		struct ps_read read;
		struct ps_blob blob;
		struct ps_other other;
		struct ps_counter counter;
		struct ps_count count;
		struct ps_round round;
		struct ps_chain chain;
		struct ps_symbol symbol;
		struct ps_frame frame;
		struct ps_stack stack;
		struct ps_srcfile srcfile;
		struct ps_chains chains;
		struct ps_stacks stacks;
		struct ps_samples samples;
		struct ps_end end;
	};
};

/* ---- reading ---- */

struct sreader;

/* Dictionaries that a reader keeps; strings always. */
enum sreader_keep {
	SREADER_EVENTS = 1,
	SREADER_DSOS = 2,
	SREADER_CHAINS = 4,
	SREADER_SYMBOLS = 8, /* symbols, frames, stacks, source files */
	/*
	 * Of packed streams, CHAINS and STACKS come as they are, and samples name chains and stacks
	 * by their parts: sreader_chain_part, sreader_stack_part. Without it a CHAIN or STACK comes
	 * in their place before the first sample that has it.
	 */
	SREADER_PARTS = 16,
	/*
	 * Samples of helpers (PS_EVENT_HELPER) also come, for those that pass them on or take their
	 * stacks. Nobody else sees them.
	 */
	SREADER_HELPERS = 32,
};

/* A reader of a file or "-". What is wrong is reported to d, which must outlive the reader. */
int sreader_open(struct sreader **r, const char *name, unsigned keep, struct diag *d);

/* A reader of a source, which it frees. */
int sreader_new(struct sreader **r, struct src *s, unsigned keep, struct diag *d);

/* A reader that is fed with whole records by sreader_feed; sreader_next then gives PP_END when more
 * is needed. */
int sreader_new_fed(struct sreader **r, const char *name, unsigned keep, struct diag *d);
void sreader_feed(struct sreader *r, uint8_t *bytes, size_t len);

/* Whether a stream or a recording begins among whole records in host byte order: HEADER, SOURCE. */
bool ps_has_heads(const uint8_t *bytes, size_t len);
void sreader_free(struct sreader *r); /* NULL is fine */

/*
 * The next record, the reader's until the next call. A header where an END record should be is
 * reported, and makes the status partial; what follows it is read. 0; PP_END at the end of input;
 * PP_ECUT: the input ended without an END record or within a record; PP_ECORRUPT, PP_EUNSUPPORTED
 * (no stream, or a later version), PP_ELIMIT, PP_EIO, PP_ENOMEM. Errors have been reported to the
 * diag. After an error nothing more comes.
 */
int sreader_next(struct sreader *r, const struct ps_record **rec);

/* Whether a sample is of a helper. */
bool sreader_helps(const struct sreader *r, const struct ps_sample *s);

/* Entries of the dictionaries; NULL for an id that is not defined. Live until redefined. */
const char *sreader_string(const struct sreader *r, uint32_t id, size_t *len);
const struct ps_event *sreader_event(const struct sreader *r, uint32_t id);
const struct ps_dso *sreader_dso(const struct sreader *r, uint32_t id);
const struct ps_chain *sreader_chain(const struct sreader *r, uint32_t id);
const struct ps_symbol *sreader_symbol(const struct sreader *r, uint32_t id);
const struct ps_frame *sreader_frame(const struct sreader *r, uint32_t id);
const struct ps_stack *sreader_stack(const struct sreader *r, uint32_t id);
const struct ps_srcfile *sreader_srcfile(const struct sreader *r, uint32_t id);

/*
 * With SREADER_PARTS, sreader_chain and sreader_stack put what they give together: an entry lives
 * until PS_WHOLES others have been asked for, or the next record.
 *
 * A part of a chain or a stack. Its words, addresses or the ids of frames, live until the next
 * record; the first is at the root. Their `total` is that of the whole chain up to here. False: it
 * is not defined.
 */
#define PS_WHOLES     4
#define PS_PART_WORDS 8 /* of a part, at most */
struct ps_part {
	uint32_t parent; /* 0: none */
	uint32_t n, total;
	uint32_t flags; /* CHAIN.flags or STACK.flags of what ends here */
	uint64_t mark;	/* PERF_CONTEXT_* that its section of a chain begins with; 0: none */
	bool last;	/* of its section, at the leaf */
	bool strange;	/* the mark, which is not one of the usual, is the first word */
	const uint64_t *words;
};
bool sreader_chain_part(const struct sreader *r, uint32_t id, struct ps_part *p);
bool sreader_stack_part(const struct sreader *r, uint32_t id, struct ps_part *p);

/*
 * What CGROUP and NAMESPACES records said: the path of a cgroup (not terminated; NULL: not
 * known), the number of a process in its own namespace (false: not known).
 */
const char *sreader_cgroup(const struct sreader *r, uint32_t source, uint64_t id, size_t *len);
bool sreader_inner_pid(const struct sreader *r, uint32_t source, uint32_t pid, uint32_t *inner);

/*
 * Walks through EVENT.fields: *pos begins at 0. 0, PP_END or PP_ECORRUPT; texts are not terminated.
 */
int ps_event_field_next(const struct ps_event *e, size_t *pos, struct ps_event_field *f);

/* The field of a name; false: there is none. */
bool ps_event_field_find(const struct ps_event *e, const char *name, size_t len,
			 struct ps_event_field *f);

/* Appends an entry to a field table that is being made (EVENT.fields). */
void ps_event_field_add(struct buf *table, const struct ps_event_field *f);

/*
 * The account of all streams read so far: the sums of their END records, the worst of their
 * statuses.
 */
const struct ps_end *sreader_account(const struct sreader *r);

/*
 * The exit status that a filter should give for its input, from what upstream reported and the code
 * `rc` that sreader_next ended with (PP_END is fine). PP_EXIT_FAIL only if nothing could be read:
 * of the input, or by what wrote it (its END says so, and no sample came). The reader has reported
 * it.
 */
int sreader_status(const struct sreader *r, int rc);

/* ---- writing ---- */

struct swriter {
	struct out *out;
	uint64_t records, samples;  /* since the header */
	uint64_t earlier;	    /* samples of the streams before */
	int err;		    /* first error */
	uint64_t types[PS_END + 1]; /* records of each type, of all streams; 0: of unknown ones */
	struct packer *pack;	    /* NULL: records are written one by one */
};

/* It writes to `out`, which must outlive the writer. */
void swriter_init(struct swriter *w, struct out *out);

/*
 * From the next header on, streams are written packed (version 2): chains and stacks in parts that
 * are written once, samples many to a record. What is put is the same. It needs swriter_release,
 * and where the other end has to see at once what was put, swriter_flush. `payloads`: samples that
 * have one are also packed, which makes them a quarter as large, but takes longer than it takes a
 * pipe to move their bytes. 0 or PP_ENOMEM.
 */
int swriter_pack(struct swriter *w, bool payloads);
int swriter_flush(struct swriter *w); /* to the output, whose own buffer is not flushed */
void swriter_release(struct swriter *w);

/* The header, which begins a stream. Every put returns 0 or the first error. */
int swriter_header(struct swriter *w);

/*
 * For packed streams only (w->pack): chains and stacks get the ids that samples name them by from
 * here, the same for what is equal. They count up by parts: a caller that makes many has them
 * begin again
 * with swriter_restart (PS_CHAINS, PS_STACKS) when there are many, which ends the use of all ids
 * from before. A caller that copies CHAINS or STACKS must do so before the first of these. c->id
 * and s->id mean nothing.
 */
#define PS_PARTS_LIVE (1u << 14) /* many: what all filters keep of them fits in a core's cache */
int swriter_chain(struct swriter *w, uint32_t source, const struct ps_chain *c, uint32_t *id);
int swriter_stack(struct swriter *w, uint32_t source, const struct ps_stack *s, uint32_t *id);
/*
 * swriter_chain in two steps for a caller that knows early which chains come, so that memory can be
 * fetched between them. The place is below PS_CHAINS_SOON; the addresses stay until the second. The
 * first gives 0, PP_ENOMEM or PP_ELIMIT: the second must not follow then.
 */
#define PS_CHAINS_SOON 16
int swriter_chain_soon(struct swriter *w, uint32_t place, const struct ps_chain *c);
int swriter_chain_now(struct swriter *w, uint32_t source, uint32_t place, uint32_t *id);
/* n frames (8 at most), the first at the root, on top of a stack, or of none: 0. */
int swriter_stack_part(struct swriter *w, uint32_t source, uint32_t parent, const uint32_t *frames,
		       uint32_t n, uint32_t flags, uint32_t *id);
uint32_t swriter_parts(const struct swriter *w, enum ps_type type); /* the last id */
int swriter_restart(struct swriter *w, enum ps_type type);

/* Sets all of a sample to 0, faster than the compiler would. */
void ps_sample_clear(struct ps_sample *s);

/* Sets what nearly all samples have to 0, up to the id, for a sample that gets no other field:
 * by name, since memset begins slowly. */
static inline void ps_sample_clear_near(struct ps_sample *s)
{
	s->fields = s->ip = s->period = s->addr = s->id = 0;
	s->chain = s->stack = 0;
	s->payload = (struct ps_str){0};
	s->event = s->cpu = s->pid = s->tid = s->comm = s->flags = 0;
	s->time = 0;
}

/* A record of any type but SAMPLE; `fields` points to the struct of the type (struct ps_mmap ...).
 */
int swriter_put(struct swriter *w, enum ps_type type, uint32_t source, const void *fields);
int swriter_sample(struct swriter *w, uint32_t source, const struct ps_sample *s);

/*
 * A record as it came from a reader, with what later versions have added. Of a stream in the other
 * byte order, records of unknown types cannot be passed on: PP_EUNSUPPORTED, and nothing is
 * written. The same with PP_EUSAGE for PS_HEADER and PS_END, which a filter writes itself.
 */
int swriter_copy(struct swriter *w, const struct ps_record *rec);

/* Copies a SAMPLE with another mark. */
int swriter_copy_marked(struct swriter *w, const struct ps_record *rec, enum ps_mark mark);

/*
 * Copies a SAMPLE that has no stack, with one. False: it has one, or came in the other byte
 * order, and nothing is written; else *rc is as of swriter_copy.
 */
bool swriter_copy_stack(struct swriter *w, const struct ps_record *rec, uint32_t stack, int *rc);

/* The END record; records and samples of `end` are filled in. */
int swriter_end(struct swriter *w, struct ps_end *end);

/* The records that were written, by type: "81 sample, 5 mmap, ...". */
void swriter_add_types(const struct swriter *w, struct buf *b);

/* Writes the provenance record of a program. */
int swriter_provenance(struct swriter *w, const char *name, int argc, char **argv);

/*
 * Whether code can be in a mapping with these PROT_* (mmap(2)). A mapping that is neither for
 * read, write nor
 * execute does not tell: 0 is not known, and simpleperf marks a file of JIT symbols by 0x4000.
 */
static inline bool ps_mmap_runs(uint32_t prot)
{
	return !(prot & 7) || prot & 4;
}

static inline struct ps_str ps_str(const char *p, size_t len)
{
	return (struct ps_str){p, (uint32_t)len};
}

#endif
