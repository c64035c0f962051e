/*
 * Decoding of trace.dat, versions 6 and 7. Private to lib/tracedat: tracedat.h is the interface.
 *
 * Sources: the pages trace-cmd.dat.v6(5) and trace-cmd.dat.v7(5), and, of the pages of the ring
 * buffer, Documentation/trace/ring-buffer-design.rst and include/linux/ring_buffer.h of the kernel
 * and the header_page and header_event texts that each recording carries.
 *
 * The flow: file.c reads the head of the file and finds the sections, option.c reads the options,
 * event_formats.c the texts (formats, tables), cpu.c gives the bytes of each CPU's pages, unpacked
 * by decompress.c, ring_pages.c the records in them, merge_cpus.c brings the records of all CPUs
 * and buffers in time order, record_sample.c writes them to the stream. latency_report.c reads what
 * latency tracers print, read_stream_form.c is the way of the stream form, to_file.c makes a file
 * of that.
 */
#ifndef PP_TRACEDAT_PARTS_H
#define PP_TRACEDAT_PARTS_H

#include "base/arena.h"
#include "base/buf.h"
#include "base/cursor.h"
#include "base/hashids.h"
#include "base/intern.h"
#include "stream/stream.h"
#include "tracedat/file_numbers.h"
#include "tracedat/tracedat.h"

#define TRACE_STRING_MAX   4096		/* bytes of a name: version, compression, system, buffer */
#define TRACE_FORMAT_MAX   (16u << 20)	/* bytes of the format of one event */
#define TRACE_FORMATS_SUM  (256u << 20) /* bytes of all of them */
#define TRACE_TABLE_MAX	   (256u << 20) /* bytes of kallsyms, printk formats, command lines */
#define TRACE_SECTION_MAX  (512u << 20) /* bytes of a section that is unpacked at once */
#define TRACE_OPTION_MAX   (16u << 20)	/* bytes of one option */
#define TRACE_OPTIONS_MAX  65536	/* options of a recording */
#define TRACE_EVENTS_MAX   65536	/* formats: their ids have 16 bits */
#define TRACE_SYSTEMS_MAX  4096
#define TRACE_BUFFERS_MAX  1024
#define TRACE_CPUS_MAX	   65536       /* CPUs of all buffers together */
#define TRACE_PAGE_MAX	   (1u << 24)  /* bytes of a page of the ring buffer */
#define TRACE_CHUNK_MAX	   (64u << 20) /* bytes that one compressed chunk may become */
#define TRACE_HELD_MAX	   (1u << 30)  /* bytes of pages that are held at a time */
#define TRACE_AHEAD_MAX	   (64u << 20) /* bytes of those that are unpacked before their turn */
#define TRACE_AHEAD_CHUNK  (1u << 20)  /* bytes of a chunk that is, packed or not */
#define TRACE_GROUP	   8	       /* chunks that are given to a thread at once */
#define TRACE_AHEAD_BEGIN  (1u << 20)  /* bytes of a file that is worth threads unasked */
#define TRACE_BLOCK	   (64u << 10) /* bytes of pages of a CPU that are read at a time */
#define TRACE_CMDLINES_MAX (1u << 22)  /* saved command lines */
#define TRACE_SHIFTS_MAX   (1u << 20)  /* time corrections */
#define TRACE_STACK_MAX	   4096	       /* addresses of a kernel stack */
#define TRACE_IPS_MAX	   (2 * TRACE_STACK_MAX) /* of a call chain */
#define TRACE_CHAIN_IDS \
	(1u << 16) /* live call chains; beyond, the ids begin again: as of perf.data */
#define TRACE_CHAIN_BYTES (8u << 20)

enum trace_packing { TRACE_PLAIN, TRACE_ZLIB, TRACE_ZSTD };

/*
 * A reader of metadata: over the file from an offset, or over unpacked bytes in memory. Reading
 * past the end gives zeroes or NULL and sets err.
 */
struct tin {
	struct trace *t;
	const uint8_t *mem; /* NULL: the file */
	uint64_t pos, end;  /* next byte, one past the last: in the file or in mem */
	struct buf window;  /* of the file: bytes at window_at */
	uint64_t window_at;
	uint8_t *unpacked; /* owned: what mem is */
	int err;
};

/* What a format says about an event, as far as it is needed here. */
enum trace_kind { TRACE_EVENT, TRACE_FUNCTION, TRACE_KERNEL_STACK, TRACE_USER_STACK };
struct trace_event {
	const char *system, *name, *format; /* in the arena */
	size_t len;
	uint32_t id;	     /* of the format */
	uint32_t descriptor; /* in the stream, for the first buffer; 0: not written */
	enum trace_kind kind;
	bool ready;		   /* the field table is made */
	struct probe_parts *parts; /* what a probe recorded in parts; NULL: nothing */
	struct buf fields;	   /* field table */
	/* function: ip, parent_ip; kernel_stack: size, caller; user_stack: tgid, caller */
	uint32_t at[2], size[2];
};

struct trace_cmdline {
	uint32_t string; /* id of the STRING record; 0: not written */
	uint32_t len;
	const char *comm;
};

/* A record of the ring buffer. */
struct trace_rec {
	const uint8_t *data;
	uint32_t size;
	uint32_t type;	/* UINT32_MAX: it is too short to have one */
	uint64_t time;	/* corrected */
	int64_t missed; /* events that were lost before it; -1: unknown how many */
};

/* Contexts of zstd, for one thread: ZSTD_DCtx. */
struct trace_zstd {
	void *framed, *bare; /* bare: of frames without a magic number */
};

/* Packed pages of a CPU. */
struct trace_chunk {
	int rc;		  /* why it is not available */
	bool ahead;	  /* its packed bytes were read, and there is room for the others */
	uint64_t offset;  /* in the file */
	uint32_t n, size; /* bytes, packed and unpacked */
	struct buf packed;
	uint8_t *bytes; /* unpacked; owned */
	size_t cap;	/* allocated */
};

/* Those that come one after another, for one thread. */
struct trace_group {
	struct trace_chunk v[TRACE_GROUP];
	uint32_t n, at;		  /* at: the next one */
	bool given;		  /* to the threads that unpack */
	bool done;		  /* by one of them; until then it is theirs */
	struct trace_group *next; /* that waits for a thread */
};

/* The data of one CPU of one buffer. */
struct trace_cpu {
	struct trace_buffer *buffer;
	uint32_t cpu;
	struct src *src;       /* a file of its own; owned; NULL: the recording */
	uint64_t offset, size; /* in the file */
	uint64_t pos, left;    /* next byte in the file and how many follow */
	uint32_t chunks;       /* packed: how many are left */
	bool begun;
	uint8_t *block;			       /* pages; owned */
	size_t block_len, block_cap, block_at; /* bytes in it, allocated, where the next page is */
	uint64_t block_offset;		       /* in the file, for messages */
	struct trace_group *groups;	       /* packed: two, in turns; owned */
	unsigned now;			       /* which of them is read */
	const uint8_t *page;		       /* the data of the page that is being read */
	uint32_t at, commit;		       /* next record, end of the data */
	uint64_t stamp;			       /* raw time */
	int64_t missed;
	struct trace_rec last; /* what is being delivered */
	struct trace_rec rec;  /* the one after it, which waits for its turn */
	struct trace_rec peek; /* the one after that, when it was looked at */
	bool peeked;
	bool waits;	   /* rec waits in the heap */
	struct buf coming; /* of the stream form: pages that are read when the block is done */
	uint32_t joined;   /* stacks to come that a sample has as its call chain */
	struct buf hold, hold_rec; /* bytes of last and rec, when their block had to go */
	uint64_t samples, lost;	   /* lost: at least, where a number is not known */
	uint64_t first, until;	   /* times of the first and the last sample */
	uint32_t pid, comm;	   /* of the last sample */
	bool pid_known;
};

struct trace_buffer {
	const char *name, *clock; /* in the arena; name "": the main one */
	uint64_t offset;	  /* of its section (7) or options (6) */
	uint32_t page_size;
	bool text; /* what the latency tracers print, no pages */
	bool packed;
	uint32_t index;
	uint32_t first, n; /* its CPUs in trace.cpus */
};

/* What the kernel counted of a CPU. */
struct trace_count {
	uint32_t buffer; /* 0: the main one */
	uint32_t cpu;
	uint64_t events;
};
struct trace_counts {
	struct trace_count *v; /* in the order of the buffers, then of CPUs; owned */
	uint32_t n, cap;
	const char **names; /* of further buffers, in the arena; owned */
	uint32_t nbuffers;
};

struct trace_shift {
	uint64_t time;
	int64_t offset;
	uint64_t scaling, fraction;
};
struct trace_shifts {
	struct trace_shift *v;
	uint32_t n;
};

struct trace {
	struct src *src;
	struct swriter *w;
	struct diag *d;
	const char *name;
	uint32_t source;
	struct ps_end *account;
	struct arena arena;

	unsigned version;
	bool swap, big_endian;
	bool live;	    /* the stream form */
	bool stats;	    /* the account of each CPU is told */
	uint64_t lost;	    /* events, at least ... */
	bool lost_more;	    /* ... as it was not told each time how many */
	bool separate;	    /* stacks are not joined with their events */
	bool options_cut;   /* some options could not be read */
	uint32_t long_size; /* of user space, then of the kernel when header_page is read */
	uint32_t page_size;
	uint32_t header_size; /* bytes before the data of a page */
	uint32_t nr_cpus;
	enum trace_packing packing;
	struct trace_zstd zstd;
	struct trace_unpackers *unpackers;  /* NULL: no other threads */
	uint64_t size;			    /* of the file */
	uint64_t sections[TRACE_OPT_KNOWN]; /* where they are; version 6: where their content is */
	uint32_t noptions;

	/* times */
	bool ticks;	   /* the clock does not count ns */
	int64_t ts_offset; /* ns */
	uint32_t tsc_mult, tsc_shift;
	struct trace_shifts *shifts; /* of each CPU */
	uint32_t nshifts, shift_flags;
	const char *clock;

	/* texts */
	struct trace_event *events;
	uint32_t nevents, events_cap;
	uint32_t *by_id; /* TRACE_EVENTS_MAX entries: index in events, + 1 */
	uint64_t format_bytes;
	uint32_t type_at, type_size, pid_at; /* common fields */
	bool common_known;
	uint32_t stack_type, user_type; /* ids of kernel_stack, user_stack; UINT32_MAX: none */
	struct ps_sample sample;  /* what is being written; its fields say what of it is true */
	struct map64 descriptors; /* of further buffers: index << 32 | format id */
	uint32_t ndescriptors;
	struct map64 pids; /* to index in cmdlines, + 1 */
	struct trace_cmdline *cmdlines;
	uint32_t ncmdlines, cmdlines_cap;
	struct intern strings;
	struct hashids chains;
	uint64_t *ips;	    /* TRACE_IPS_MAX */
	struct buf payload; /* in host order */

	struct trace_counts counts;
	struct trace_buffer *buffers;
	uint32_t nbuffers;
	struct trace_cpu *cpus;
	uint32_t ncpus, cpus_cap;
	uint64_t held;	    /* bytes of blocks */
	uint64_t ahead;	    /* bytes of chunks that were given to threads */
	uint64_t data_read; /* bytes, for the progress */
	struct buf packed;  /* a chunk */
	uint32_t texts;	    /* of latency tracers: each is a source of its own */
	struct buf metas;   /* facts, before the source is announced */
	bool announced;
	int damage;
};

/* ---- in.c ---- */

/* Reports damage to the diag, and remembers it for the exit status. */
__attribute__((format(printf, 4, 5))) void trace_damage(struct trace *t, int err, int64_t offset,
							const char *fmt, ...);

/* ---- file.c ---- */

/* Spools the input; 0 or an error, which has been said. trace_release in any case but that. */
int trace_init(struct trace *t, struct src *s, uint32_t source, struct swriter *w, struct diag *d);
/* The same for what is read while it comes. */
void trace_init_live(struct trace *t, struct src *s, uint32_t source, struct swriter *w,
		     struct diag *d);
/* Reads and writes everything but the events: then the buffers and CPUs are known. */
int trace_metadata(struct trace *t);
void trace_release(struct trace *t);
/* The bytes that tell the byte order and the size of a long. 0, or an error, which was reported. */
int trace_byte_order(struct trace *t, const uint8_t *p);
/* The content of a section with texts, by its number. */
int trace_content(struct trace *t, struct tin *in, unsigned id);
/* When all CPUs are known: their order, and what a printer needs. */
int trace_begin_events(struct trace *t);

/* ---- in.c: reading metadata ---- */

/* Over the file from an offset, at most len bytes. */
void tin_file(struct tin *in, struct trace *t, uint64_t offset, uint64_t len);
void tin_mem(struct tin *in, struct trace *t, const uint8_t *mem, uint64_t len);
/*
 * Over the content of the section at an offset (version 7), unpacked. *id and *flags are those of
 * its header; content of data sections is not unpacked. 0 or an error, which has not been said.
 */
int tin_section(struct tin *in, struct trace *t, uint64_t offset, uint16_t *id, uint16_t *flags);
void tin_release(struct tin *in);
/* The next n bytes, in place until the next call; NULL and err when there are fewer. */
const uint8_t *tin_bytes(struct tin *in, uint64_t n);
uint16_t tin_u16(struct tin *in);
uint32_t tin_u32(struct tin *in);
uint64_t tin_u64(struct tin *in);
/* A NUL-terminated text of at most TRACE_STRING_MAX bytes, in the arena; NULL and err. */
const char *tin_text(struct tin *in);

/* ---- decompress.c ---- */

/* Unpacks n bytes to exactly `size`. 0 or PP_ECORRUPT, PP_ENOMEM. */
int trace_unpack(const struct trace *t, struct trace_zstd *z, const uint8_t *packed, size_t n,
		 uint8_t *to, size_t size);
void trace_zstd_release(struct trace_zstd *z);

/*
 * Starts threads that unpack chunks, if there are any: `threads` with the calling one; 0: as many
 * as there are CPUs to be had, if the file is not small. Without memory there are fewer, or none.
 */
void trace_unpackers_start(struct trace *t, unsigned threads);
/* What was given is not unpacked after this. */
void trace_unpackers_end(struct trace *t);
/* Gives them chunks: they unpack those that are `ahead`. */
void trace_unpackers_give(struct trace *t, struct trace_group *g);
/* Waits until chunks that were given are done; the rc of each says how it went. */
void trace_unpackers_wait(struct trace *t, struct trace_group *g);

/* ---- option.c ---- */

/* Reads the options of version 6, up to the mark of their end. 0 or an error. */
int trace_options6(struct trace *t, struct tin *in);
/* Follows the option sections of version 7. */
int trace_options7(struct trace *t, uint64_t offset);
/* A fact about the recording: kept until the source is announced, which needs the clock. */
int trace_meta(struct trace *t, const char *key, const char *value, size_t len);
/* Writes the SOURCE record and what is known about it. */
int trace_announce(struct trace *t);
/* "[local] global ...": the one in brackets. */
void trace_clock(struct trace *t, const char *text, size_t len);
/* Adds a CPU to the newest buffer. */
int trace_add_cpu(struct trace *t, struct trace_buffer *b, uint32_t cpu, uint64_t offset,
		  uint64_t size);
int trace_add_buffer(struct trace *t, const char *name, struct trace_buffer **b);

/* ---- option.c: the counts of CPUs ---- */

/* Takes the text of a CPUSTAT option. 0 or PP_ENOMEM. */
int trace_count(struct trace *t, const char *text, size_t len);

/* ---- salvage.c ---- */

/*
 * Where options of version 7 are missing: finds the sections that they would have told of, in the
 * order in which they are from an offset on; then, when the head of pages is known, buffers and
 * their CPUs. 0 or an error that ends everything.
 */
void trace_find_sections(struct trace *t, uint64_t from);
int trace_find_buffers(struct trace *t, uint64_t from);

/* ---- event_formats.c ---- */

int trace_headers(struct trace *t, struct tin *in);
int trace_ftrace_formats(struct trace *t, struct tin *in);
int trace_system_formats(struct trace *t, struct tin *in);
/* A table with a size before it, of 4 or 8 bytes: passed on as BLOB of a kind. */
int trace_table(struct trace *t, struct tin *in, uint32_t kind, unsigned size_bytes);
int trace_blob(struct trace *t, uint32_t kind, const uint8_t *data, uint64_t len, bool last);
/* Makes the field table of an event, unless it has one. What fails is in e->fields.err. */
void trace_event_make(struct trace *t, struct trace_event *e);
/* The event of a format id, its field table made; NULL if it is not known. */
static inline struct trace_event *trace_event_find(struct trace *t, uint32_t id)
{
	uint32_t i = t->by_id && id < TRACE_EVENTS_MAX ? t->by_id[id] : 0;
	struct trace_event *e = i ? &t->events[i - 1] : NULL;

	if (e && !e->ready)
		trace_event_make(t, e);
	return e;
}
/* The descriptor of an event of a buffer, written to the stream when it is new. */
int trace_descriptor(struct trace *t, struct trace_event *e, const struct trace_buffer *b,
		     uint32_t *id);
/* An event whose format is missing in the recording. */
int trace_event_missing(struct trace *t, uint32_t id, struct trace_event **e);

/* ---- cpu.c ---- */

/* The next page: *page has *len bytes. 0, PP_END, or an error. */
int trace_next_page(struct trace *t, struct trace_cpu *c, const uint8_t **page, size_t *len);
void trace_cpu_release(struct trace_cpu *c);

/* ---- ring_pages.c ---- */

/* The raw times of a page's head and of its last record, and the number of its events. */
struct trace_page_span {
	uint64_t first, last, events;
};
/* Of a page, which has a head at least. */
void trace_page_span(struct trace *t, const uint8_t *page, size_t len,
		     struct trace_page_span *span);

/* The next record of a CPU: 0, PP_END, PP_ENOMEM, PP_EIO. Damage has been noted. */
int trace_next_record(struct trace *t, struct trace_cpu *c, struct trace_rec *rec);

/* ---- merge_cpus.c ---- */

/* The CPUs that have a record, the first of all on top. */
struct trace_heap {
	struct trace_heap_cpu {
		uint64_t time; /* of its next record */
		uint32_t cpu;  /* index */
	} * v;
	uint32_t n, cap;
};

/* All events of a file. */
int trace_merge(struct trace *t);
/* Takes those in that are not in it, and have a record. */
int trace_heap_feed(struct trace *t, struct trace_heap *h);
/* Writes the events up to a time. */
int trace_heap_run(struct trace *t, struct trace_heap *h, uint64_t limit);
void trace_heap_release(struct trace_heap *h);

/* ---- leftovers.c ---- */

/*
 * Adds the buffers that a recorder that was killed left beside the recording. Only what pcap-ftrace
 * writes is a recording by then. 0 or PP_ENOMEM.
 */
int trace_leftovers(struct trace *t);

/* ---- latency_report.c: what latency tracers print ---- */

/* All of s, which it frees, as events. 0 or an error; damage was noted. */
int trace_text(struct trace *t, struct src *s);
/* That of a buffer of a file: packed in chunks, or `size` bytes at most. */
int trace_text_of_file(struct trace *t, struct trace_buffer *b, uint64_t offset, uint64_t size);

/* ---- read_stream_form.c ---- */

/* Adds n bytes of an input; memory is taken as they come. 0, PP_ECUT or an error. */
int trace_take(struct src *s, struct buf *b, uint64_t n);

/* Whether an input has the stream form, which is not to be spooled. */
bool trace_is_live(struct src *s);
/* Decodes it. Returns as trace_decode. */
int trace_live(struct trace *t);

/* ---- record_sample.c ---- */

/*
 * Writes a record, c->last; next: what follows it on its CPU, NULL if nothing does, after: what
 * follows that, NULL if it was not looked at.
 */
int trace_sample(struct trace *t, struct trace_cpu *c, const struct trace_rec *next,
		 const struct trace_rec *after);

static inline uint64_t trace_number(const struct trace *t, const uint8_t *p, uint32_t size)
{
	struct cursor c = cursor_make(p, size, t->swap);

	switch (size) {
	case 1: return get_u8(&c);
	case 2: return get_u16(&c);
	case 4: return get_u32(&c);
	case 8: return get_u64(&c);
	default: return 0;
	}
}

#endif
