/*
 * Decoding of perf.data. Private to lib/perfdata: perfdata.h is the door.
 *
 * The flow: decode.c goes from the beginning to the end; header.c, attr.c,
 * feature.c and tracing.c read what comes before the records. read.c reads these into
 * blocks and queues them (order.h), but for perf's own (own.c); in time order each is given to
 * record.c (context) or sample.c (samples), which write stream records. describe.c
 * tells about a recording instead.
 */
#ifndef PP_PERFDATA_PARTS_H
#define PP_PERFDATA_PARTS_H

#include "base/buf.h"
#include "base/cursor.h"
#include "base/hashids.h"
#include "base/intern.h"
#include "merge/order.h"
#include "perfdata/perfdata.h"
#include "perfdata/format.h"
#include "stream/stream.h"

#define PERF_ATTRS_MAX	  65536	       /* events of a recording */
#define PERF_IDS_MAX	  (1u << 22)   /* their ids, together */
#define PERF_SECTION_MAX  (256u << 20) /* bytes of a header section that is read at once */
#define PERF_BLOCK	  (1u << 20)   /* bytes that are read at a time */
#define PERF_CHAIN_MAX	  8190	       /* addresses of a call chain: what fits in a record */
#define PERF_CHAIN_IDS	  (1u << 16)   /* live call chains; beyond, the ids begin again */
#define PERF_CHAIN_BYTES  (8u << 20)   /* bytes of the live call chains */
#define PERF_THREADS_MAX  (1u << 22)   /* threads whose names are kept: the kernel's pid limit */
#define PERF_NAMES_MAX	  (256u << 20) /* bytes of all their names, and of all paths */
#define PERF_DEFERRED_MAX (1u << 16)   /* deferred call chains that are queued */
#define PERF_TEXT_MAX	  (8u << 20)   /* bytes of text that a header feature is told in */
#define PERF_INFLATE_MAX  (64u << 20)  /* bytes that one compressed record may become */

/* An event of the recording: its attribute, and the descriptor in the stream. */
struct perf_attr {
	uint32_t type;
	uint64_t config;
	uint64_t sample_type;
	uint64_t read_format;
	uint64_t flags; /* PERF_ATTR_* bits below */
	uint64_t sample_period;
	uint64_t branch_sample_type;
	uint64_t regs_user, regs_intr;
	uint64_t config1, config2, config3, config4;
	uint64_t sig_data;
	uint32_t size; /* that it says it has */
	uint32_t wakeup, bp_type;
	uint32_t stack_user, aux_watermark, max_stack, aux_sample_size;
	int32_t clockid;
	uint32_t event;	   /* id of the stream's descriptor */
	int time_pos;	   /* index of the u64 in its samples that is the time; -1 none */
	uint32_t nfront;   /* u64s of its samples up to the period */
	bool written;	   /* the descriptor is in the stream */
	char *name;	   /* owned; NULL until known */
	struct buf fields; /* field table of a tracepoint */
};

/* Bits of perf_event_attr, in the kernel's order. */
#define PERF_ATTR_EXCLUDE_USER	 (1ull << 4)
#define PERF_ATTR_EXCLUDE_KERNEL (1ull << 5)
#define PERF_ATTR_EXCLUDE_HV	 (1ull << 6)
#define PERF_ATTR_FREQ		 (1ull << 10)
#define PERF_ATTR_PRECISE_SHIFT	 15
#define PERF_ATTR_SAMPLE_ID_ALL	 (1ull << 18)
#define PERF_ATTR_EXCLUDE_HOST	 (1ull << 19)
#define PERF_ATTR_EXCLUDE_GUEST	 (1ull << 20)
#define PERF_ATTR_USE_CLOCKID	 (1ull << 25)

/* PERF_SAMPLE_* in the order of the kernel's bits. */
enum perf_sample_bits {
	PSB_IP = 1 << 0,
	PSB_TID = 1 << 1,
	PSB_TIME = 1 << 2,
	PSB_ADDR = 1 << 3,
	PSB_READ = 1 << 4,
	PSB_CALLCHAIN = 1 << 5,
	PSB_ID = 1 << 6,
	PSB_CPU = 1 << 7,
	PSB_PERIOD = 1 << 8,
	PSB_STREAM_ID = 1 << 9,
	PSB_RAW = 1 << 10,
	PSB_BRANCH_STACK = 1 << 11,
	PSB_REGS_USER = 1 << 12,
	PSB_STACK_USER = 1 << 13,
	PSB_WEIGHT = 1 << 14,
	PSB_DATA_SRC = 1 << 15,
	PSB_IDENTIFIER = 1 << 16,
	PSB_TRANSACTION = 1 << 17,
	PSB_REGS_INTR = 1 << 18,
	PSB_PHYS_ADDR = 1 << 19,
	PSB_AUX = 1 << 20,
	PSB_CGROUP = 1 << 21,
	PSB_DATA_PAGE_SIZE = 1 << 22,
	PSB_CODE_PAGE_SIZE = 1 << 23,
	PSB_WEIGHT_STRUCT = 1 << 24,
	PSB_KNOWN = (1 << 25) - 1,
};

/*
 * The call chains of the samples that are delivered next, hashed before their turn: the table of
 * chains does not fit in the processor's caches, and the wait for it would be most of a sample's time.
 */
#define PERF_AHEAD (2 * ORDER_AHEAD) /* a power of two */

struct perf_ahead {
	struct {
		const uint8_t *ips; /* NULL: not hashed */
		uint64_t n;
		struct hashids_hash hash;
	} v[PERF_AHEAD];
	uint32_t in, out;
	uint32_t now; /* index + 1 of the record whose turn it is; 0: it has none */
};

/* The names of threads. */
struct perf_threads {
	struct map64 by_tid; /* tid to index in comms, + 1 */
	uint32_t *comms;     /* string ids; 0: has no name of its own */
	uint32_t n, cap;
};

/* The last values of counters that samples told. */
struct perf_counters {
	struct map64 by_id; /* PERF_SAMPLE_ID to index in last */
	uint64_t *last;
	uint32_t n, cap;
};

/* A queued PERF_RECORD_CALLCHAIN_DEFERRED. */
struct perf_deferred {
	uint32_t tid;
	uint64_t cookie, n;
	const uint8_t *ips; /* n addresses, in the record */
};

struct perf_build_id {
	uint8_t len, bytes[20];
};

/* What the header features say that others need. */
struct perf_facts {
	uint32_t cpus_online, cpus_avail;
	uint32_t long_bits;	  /* 32, 64, 0 unknown */
	struct intern pmu_names;  /* names of the machine's PMUs ... */
	struct map64 pmu_by_type; /* ... by event type */
	struct buf metas;	  /* facts, before the source is announced */
	struct perf_btf *btf;	  /* type information of BPF programs; NULL: none */
};

/* What is to be told about the recording, instead of its events. */
struct perf_view {
	enum perf_describe what;
	struct buf text; /* what waits to be printed */
	struct out *out;
};

struct perf {
	struct src *src;
	struct swriter *w;
	struct diag *d;
	const char *name; /* of the file */
	uint32_t source;
	struct ps_end *account;

	struct perf_view *view; /* NULL: decode */
	bool swap, big_endian, pipe;
	int version;			 /* of the file format: 1 or 2 */
	bool mark_announced, mark_seen;	 /* PERF_MISC_END_MARK */
	uint64_t data_offset, data_size; /* file mode; size 0: never finished */
	uint64_t features[4], features_bad[4];
	struct perf_facts facts;

	struct perf_attr *attrs;
	uint32_t nattrs, attrs_cap;
	struct map64 by_id; /* PERF_SAMPLE_ID to index in attrs, + 1 */
	int id_pos;	    /* index of the u64 in a sample that is the id; -1 none */
	int id_back;	    /* the same in the trailer of other records, from the end; 0 none */
	bool alike;	    /* all events have one sample_type */
	bool announced;	    /* the SOURCE record is in the stream */
	bool described;	    /* the descriptors of all events are in the stream */

	struct intern strings;		 /* STRING records */
	struct intern dsos;		 /* DSO records: keys */
	struct intern build_id_paths;	 /* paths of the build-id table ... */
	struct perf_build_id *build_ids; /* ... and what they have: build_ids[id - 1] */
	struct hashids chains;		 /* CHAIN records */
	struct perf_ahead ahead;	 /* those that come next */
	struct perf_threads threads;
	struct perf_counters counters;
	struct perf_tracing *tracing;
	struct order order;
	struct block *cur; /* block that is being read, and the next record in it */
	size_t pos;
	uint64_t left;		 /* bytes that may still be read */
	void *inflate;		 /* ZSTD_DCtx of compressed records */
	struct buf inflate_out;	 /* room for what is decompressed */
	struct buf inflate_tail; /* decompressed bytes that begin a record */

	struct perf_deferred *deferred; /* deferred[ndeferred] */
	struct map64 deferred_by_key;	/* thread and cookie to index in deferred, + 1 */
	uint32_t ndeferred;
	struct buf merged; /* room for a call chain that is put together */

	uint64_t counts[256]; /* records of each type */
	uint64_t aux_bytes;   /* of hardware trace data, passed over */
	uint64_t aux_cut;     /* AUX records that say it was cut off */
	uint64_t undeferred;  /* samples whose deferred call chain did not come in time */
	uint64_t lost;	      /* events that the recorder says it lost */
	uint64_t lost_in_ring, lost_at_end, lost_dropped; /* by who says it */
	uint64_t untimed;  /* samples without a time, though their event has times */
	int damage;	   /* 0, PP_ECUT or PP_ECORRUPT: what the result suffers from */
	bool rounds;	   /* rounds have been seen */
	bool stats;	   /* tell how many there are of each type */
	uint64_t budget;   /* directory form: bytes that are read of a file at a time; 0 all */
	uint64_t newest;   /* time of the last record that was read */
	uint64_t inflated; /* bytes that compressed records became */
};

/* ---- decode.c ---- */

/* As perf_decode; with a view the records are not decoded to w, but printed. */
int perf_decode_view(struct src *s, uint32_t source, struct swriter *w, struct diag *d,
		     struct ps_end *account, struct perf_view *view, bool stats);

/* Notes damage: says it, and remembers it for the exit status. */
__attribute__((format(printf, 4, 5))) void perf_damage(struct perf *p, int err, int64_t offset,
						       const char *fmt, ...);

/* ---- read.c: the records ---- */

/*
 * All of them, up to the end or to where they cannot be read any more: PP_END or what is wrong. With a
 * budget 0, when that is used up.
 */
int perf_read_records(struct perf *p);
/*
 * Makes n contiguous bytes available at p->pos of the block p->cur. 0, PP_END (nothing is left),
 * PP_ECUT (less than n).
 */
int perf_need_more(struct perf *p, uint64_t n);
static inline int perf_need(struct perf *p, uint64_t n)
{
	return p->cur && p->cur->len - p->pos >= n ? 0 : perf_need_more(p, n);
}
/* A record in its turn: an order_fn. */
int perf_deliver(void *ctx, uint64_t time, uint8_t *rec, struct block *b);
/* Passes over n bytes of the input that need not be kept (hardware trace data). */
int perf_skip(struct perf *p, uint64_t n);
/* A compressed record: its bytes continue the stream of records that the recorder compressed. */
int perf_inflate(struct perf *p, struct cursor c, bool sized);

void perf_inflate_free(void *inflate);

/* ---- dir.c: the directory form ---- */

/* perf_read_records of the file and of those beside it. */
int perf_read_parts(struct perf *p);
/* The kernel's symbols that lie beside it. 0, or why it cannot go on. */
int perf_read_kallsyms(struct perf *p);

/* ---- own.c: perf's own records ---- */

int perf_own_record(struct perf *p, uint32_t type, uint16_t misc, struct cursor c);

/* ---- session.c: those that tell about the recording ---- */

int perf_event_update(struct perf *p, struct cursor c);
int perf_auxtrace_info(struct perf *p, struct cursor c);
int perf_auxtrace_error(struct perf *p, struct cursor c);
int perf_thread_map(struct perf *p, struct cursor c);
int perf_cpu_map(struct perf *p, struct cursor c);
int perf_stat_config(struct perf *p, struct cursor c);
int perf_stat(struct perf *p, struct cursor c);
int perf_stat_round(struct perf *p, struct cursor c);
int perf_time_conv(struct perf *p, struct cursor c);
int perf_bpf_metadata(struct perf *p, struct cursor c);
/* The CPUs of a map, as "0-3,8". */
void perf_add_cpus(struct cursor *c, struct buf *b);

/* ---- describe.c ---- */

int perf_tell_file(struct perf *p);  /* what the file header says */
int perf_tell_end(struct perf *p);   /* when everything has been read */
int perf_tell_flush(struct perf *p); /* gives what waits to the output */

/* ---- dump.c ---- */

/* A record and its bytes, before it is decoded, which may change them. 0 or an error of the output. */
int perf_dump(struct perf *p, struct block *b, uint8_t *rec, uint32_t type, uint16_t misc,
	      size_t size);

/* ---- header.c: what comes before the records ---- */

int perf_read_file_header(struct perf *p, const uint8_t *first16);
int perf_read_features(struct perf *p);
/* The records of a build-id section, or of a HEADER_BUILD_ID record (one). */
int perf_build_id(struct perf *p, struct cursor c, uint16_t misc);
/*
 * The pid came with Linux 2.6.35. In what is older the path begins where otherwise the build-id is padded
 * with four bytes, of which at most the first one is used, for its size.
 */
bool perf_build_id_lacks_pid(struct cursor c);

static inline bool perf_has_feature(const struct perf *p, uint32_t feature)
{
	return p->features[feature / 64] >> (feature % 64) & 1;
}
/* Names of the events: those of an EVENT_DESC section. */
int perf_event_desc(struct perf *p, struct cursor c);
int perf_build_id_table(struct perf *p, struct cursor c);

/* ---- feature.c: header features ---- */

/* A feature that says something by being there; of others a content of no bytes says nothing. */
static inline bool perf_feature_is_flag(uint32_t feature)
{
	return feature == PERF_FEAT_BRANCH_STACK || feature == PERF_FEAT_STAT ||
	       feature == PERF_FEAT_AUXTRACE;
}
/* Takes from a feature's section what the decoder needs. */
int perf_feature_learn(struct perf *p, uint32_t feature, struct cursor c);
/* Makes a fact of it: a META record, or for INPUT_HEADER lines of text. */
int perf_feature_tell(struct perf *p, uint32_t feature, struct cursor c);
/* The lines themselves, each with "# " before it. 0, PP_ECUT, PP_ENOMEM. */
int perf_feature_lines(const struct perf *p, uint32_t feature, struct cursor c, struct buf *b);
/* A META record, held back until the source is announced; and one at once. */
int perf_meta(struct perf *p, const char *key, const char *value, size_t len);
int perf_meta_put(struct perf *p, const char *key, size_t klen, const char *value, size_t len);
/* The name of a PMU by the type of its events; NULL if it is not known. */
const char *perf_pmu_name(const struct perf *p, uint32_t type);
void perf_facts_release(struct perf_facts *f);

/* ---- clock.c ---- */

/* Writes the SOURCE record and what is known so far: an event of the recording tells its clock. */
int perf_announce(struct perf *p);

/* A record for the stream, with the SOURCE record before the first. */
static inline int perf_put(struct perf *p, enum ps_type type, const void *fields)
{
	if (!p->announced && perf_announce(p))
		return p->w->err;
	return swriter_put(p->w, type, p->source, fields);
}

/* ---- topology.c: features about the machine, as lines of text ---- */

/* A string of a feature: u32 length with padding, text with NUL. NULL: cut off. */
const char *perf_get_string(struct cursor *c, size_t *len);
/* The same, made fit for a terminal, at the end of b. */
void perf_add_string(struct cursor *c, struct buf *b);

/* Whether the next line may be read: nothing was cut off, and there is not too much text. */
static inline bool perf_lines_more(const struct cursor *c, const struct buf *b)
{
	return !c->bad && b->len < PERF_TEXT_MAX;
}

/* Each adds the lines that a feature's section is told in. */
typedef void perf_lines_fn(const struct perf *p, struct cursor *c, struct buf *b);
perf_lines_fn perf_lines_cpu_topology, perf_lines_numa_topology, perf_lines_cache,
	perf_lines_mem_topology, perf_lines_hybrid_topology, perf_lines_cpu_domains;

/* ---- bpf.c ---- */

perf_lines_fn perf_lines_bpf_progs, perf_lines_btf;
/* Takes the type information of BPF programs, for their names. */
int perf_btf_learn(struct perf *p, struct cursor c);
void perf_btf_free(struct perf_btf *b);

/* ---- attr_text.c ---- */

/* ", type = 1 (PERF_TYPE_SOFTWARE), size = 128, ..." */
void perf_attr_text(const struct perf *p, const struct perf_attr *a, struct buf *b);

/* ---- attr.c: events ---- */

/* Takes the attribute of an event from its bytes. 0 or PP_ECUT. */
int perf_attr_parse(const struct perf *p, struct cursor c, struct perf_attr *a);

/* Adds an event: the attribute of `size` bytes at c. */
int perf_attr_add(struct perf *p, struct cursor c, struct perf_attr **added);
int perf_attr_id(struct perf *p, struct perf_attr *a, uint64_t id);
/* Finds out where ids and times lie in records; to be repeated when an event is added. */
void perf_attr_layout(struct perf *p);
/* The event with an id; of a single event recording the one; NULL if unknown. */
static inline struct perf_attr *perf_attr_find(struct perf *p, uint64_t id)
{
	const uint32_t *slot;

	/* perf takes the first event for id 0, and the only one for every id. */
	if (p->nattrs == 1 || (!id && p->nattrs))
		return &p->attrs[0];
	slot = map64_get(&p->by_id, id);
	return slot ? &p->attrs[*slot - 1] : NULL;
}
/* The event of a sample, by the id that lies in it; body is what follows the record's header. */
static inline struct perf_attr *perf_attr_of_sample(struct perf *p, const uint8_t *body,
						    size_t size)
{
	struct cursor c = cursor_make(body, size, p->swap);

	if (p->nattrs <= 1 || p->id_pos < 0)
		return p->nattrs ? &p->attrs[0] : NULL;
	cursor_skip(&c, 8 * (uint64_t)p->id_pos);
	return perf_attr_find(p, get_u64(&c));
}
/* Writes the descriptor of an event to the stream, unless that has been done. */
int perf_attr_write(struct perf *p, struct perf_attr *a);
int perf_attr_write_all(struct perf *p);
void perf_attr_release(struct perf_attr *a);
/* Gives an event its name; its descriptor is written again. */
int perf_attr_rename(struct perf *p, struct perf_attr *a, const char *name, size_t len);
/* The name of an event by its attribute alone, as perf builds it. */
void perf_attr_name(const struct perf *p, const struct perf_attr *a, struct buf *name);

/* ---- clock.c ---- */

/* Makes a fact of what the header feature CLOCK_DATA says of the time of day. */
int perf_clock_data(struct perf *p, struct cursor c);

/* ---- tracing.c: formats of tracepoints ---- */

/* Reads the tracing data (formats, kallsyms, printk formats) of `len` bytes. */
int perf_tracing_read(struct perf *p, struct cursor c);
void perf_tracing_free(struct perf_tracing *t);
/* A text that psym or a printer needs, in parts: BLOB records of this kind. */
int perf_blob(struct perf *p, uint32_t kind, const uint8_t *data, uint64_t len);
/* Bytes of a long (4 or 8) and of a page (0 unknown) of the recorded machine. */
uint32_t perf_tracing_long_size(const struct perf_tracing *t);
uint32_t perf_tracing_page_size(const struct perf_tracing *t);
/* The format text of a tracepoint id; NULL if unknown. */
const char *perf_tracing_format(const struct perf_tracing *t, uint64_t id, size_t *len,
				const char **system, const char **name);

/* ---- record.c: context records ---- */

/* The trailer of a record that is no sample (sample_id_all). */
struct perf_id {
	uint64_t time, id, stream_id;
	uint32_t pid, tid, cpu;
	bool has_time;
	size_t size; /* bytes that it takes */
};
void perf_record_id(struct perf *p, const uint8_t *rec, size_t size, struct perf_id *id);
int perf_record(struct perf *p, uint8_t *rec, size_t size, uint64_t time);
/*
 * Whether there is a build-id in an MMAP2 record, or the device and inode that share its place: c is at
 * that place. Kernels leave the bit of misc set for a recorder that wants no build-ids when another one
 * at the same time does, so the bytes must look like one, too: 1 to 20 bytes, zeroes behind them.
 */
bool perf_mmap2_has_build_id(struct cursor c, uint16_t misc);
int perf_comm(struct perf *p, uint32_t tid, uint32_t *comm);
void perf_threads_release(struct perf_threads *t);

/* ---- kernel.c: further records of the kernel ---- */

int perf_record_read(struct perf *p, struct cursor c, const struct perf_id *id);
int perf_record_namespaces(struct perf *p, struct cursor c, const struct perf_id *id);
int perf_record_bpf(struct perf *p, struct cursor c, const struct perf_id *id);
int perf_record_text_poke(struct perf *p, struct cursor c, const struct perf_id *id);
int perf_record_aux(struct perf *p, struct cursor c, uint32_t type, const struct perf_id *id);

/* A deferred call chain is queued; its turn has come. The record must live in between. */
int perf_deferred_add(struct perf *p, const uint8_t *rec, size_t size, uint32_t tid);
int perf_deferred_done(struct perf *p, const uint8_t *rec, size_t size, uint32_t tid);
/*
 * Puts a call chain that ends in PERF_CONTEXT_USER_DEFERRED and a cookie together in out, which has room
 * for PERF_CHAIN_MAX. Returns how many addresses; 0: it is none, or the rest of it is not queued.
 */
uint64_t perf_deferred_merge(struct perf *p, uint32_t tid, uint64_t *ips, uint64_t n,
			     uint64_t *out);

/* ---- sample.c ---- */

#define PERF_READ_MEMBERS 2048 /* events of a group whose values are in a sample */

/* A sample as it is taken from a record; its arrays lie there, in host byte order. */
struct perf_taken {
	struct ps_sample s; /* without chain, event, comm */
	uint64_t *ips;
	uint64_t nips;
	uint64_t reads[5 + 3 * PERF_READ_MEMBERS];
};

/* Number i of an array in a record: of a damaged one it need not be aligned. */
static inline uint64_t perf_u64(const uint64_t *v, uint64_t i)
{
	uint64_t x;

	memcpy(&x, (const uint8_t *)v + 8 * i, 8);
	return x;
}

/* Takes the fields of a sample of event a from what follows the record's header. Not cleared: t->reads. */
int perf_sample_take(struct perf *p, const struct perf_attr *a, struct cursor *c,
		     struct perf_taken *t);
int perf_sample(struct perf *p, uint8_t *rec, size_t size, uint64_t time);

/* An order_ahead_fn, and the order_fn that belongs to it. */
void perf_ahead(void *ctx, const uint8_t *rec);
int perf_deliver_ahead(void *ctx, uint64_t time, uint8_t *rec, struct block *b);

/* ---- group.c ---- */

/* Writes a sample with counter values: one for each counter that went on. */
int perf_sample_values(struct perf *p, const struct ps_sample *s);
void perf_counters_release(struct perf_counters *c);

#endif
