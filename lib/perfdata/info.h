/*
 * What is known about a recording: its file header, its events, its header features. It is the
 * same for those who decode its records and for those who print them. Private to lib/perfdata:
 * perfdata.h is the interface.
 *
 * perf_file.h fills it in; nothing here writes to the event stream.
 */
#ifndef PP_PERFDATA_INFO_H
#define PP_PERFDATA_INFO_H

#include "base/buf.h"
#include "base/cursor.h"
#include "base/diag.h"
#include "base/ended.h"
#include "base/intern.h"
#include "perfdata/format.h"
#include "stream/stream.h"

#define PERF_ATTRS_MAX	 65536	      /* events of a recording */
#define PERF_IDS_MAX	 (1u << 22)   /* their ids, together */
#define PERF_SECTION_MAX (256u << 20) /* bytes of a header section that is read at once */
#define PERF_CHAIN_MAX	 8190	      /* addresses of a call chain: what fits in a record */
#define PERF_TEXT_MAX	 (8u << 20)   /* bytes of the text of a header feature */

/* An event of the recording: its attribute, and what the decoder notes of its descriptor. */
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
	uint32_t size; /* as recorded */
	uint32_t wakeup, bp_type;
	uint32_t stack_user, aux_watermark, max_stack, aux_sample_size;
	int32_t clockid;
	/* Of the decoder: the descriptor in the stream. */
	uint32_t event;		   /* its id */
	bool written;		   /* it is in the stream */
	struct buf fields;	   /* field table of a tracepoint */
	struct probe_parts *parts; /* what a probe recorded in parts; NULL: nothing */
	/* Where what lies in its samples, by perf_attr_layout. */
	int time_pos;	 /* index of the u64 in its samples that is the time; -1 none */
	uint32_t nfront; /* u64s of its samples up to the period */
	char *name;	 /* owned; NULL until known */
	bool renamed;	 /* since the descriptor was written */
	/* How perf stat shows its counts. */
	uint64_t count_scale; /* bits of a double; 0: as they are */
	char *count_unit;     /* owned; NULL: none */
};

/* Bits of perf_event_attr, in the kernel's order. */
#define PERF_ATTR_EXCLUDE_USER	 (1ull << 4)
#define PERF_ATTR_EXCLUDE_KERNEL (1ull << 5)
#define PERF_ATTR_EXCLUDE_HV	 (1ull << 6)
#define PERF_ATTR_EXCLUDE_IDLE	 (1ull << 7)
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

#define PERF_POS_VARIES INT32_MIN /* to be looked up by event */

struct perf_build_id {
	uint8_t len, bytes[20];
};

/* What others need of the header features. */
struct perf_facts {
	uint32_t cpus_online, cpus_avail;
	uint32_t long_bits;		 /* 32, 64, 0 unknown */
	bool has_wall;			 /* the clock's relation to the time of day is known: */
	int64_t wall_offset;		 /* ns that are added to a time for the time of day */
	struct intern pmu_names;	 /* names of the machine's PMUs ... */
	struct map64 pmu_by_type;	 /* ... by event type */
	struct perf_btf *btf;		 /* type information of BPF programs; NULL: none */
	struct intern build_id_paths;	 /* paths of the build-id table ... */
	struct perf_build_id *build_ids; /* ... and what they have: build_ids[id - 1] */
};

struct perf_info {
	struct diag *d;
	const char *name; /* of the file */
	int damage;	  /* 0, PP_ECUT or PP_ECORRUPT: what the result suffers from */

	bool swap, big_endian, pipe;
	int version;			 /* of the file format: 1 or 2 */
	uint64_t data_offset, data_size; /* file mode; size 0: never finished */
	uint64_t features[4];

	struct perf_attr *attrs;
	uint32_t nattrs, attrs_cap;
	struct map64 by_id; /* PERF_SAMPLE_ID to index in attrs, + 1 */
	int id_pos;	    /* index of the u64 in a sample that is the id; -1 none */
	int id_back;	    /* the same in the trailer of other records, from the end; 0 none */
	bool alike;	    /* all events have one sample_type */
	bool copies;	    /* an event has copies of stacks */
	int time_pos;	    /* time_pos of all events; PERF_POS_VARIES */

	struct perf_tracing *tracing; /* NULL: no formats of tracepoints */
	struct perf_facts facts;
};

/* ---- info.c ---- */

void perf_info_init(struct perf_info *p, struct diag *d, const char *name);
void perf_info_release(struct perf_info *p);

/* Reports damage to the diag, and remembers it for the exit status. */
__attribute__((format(printf, 4, 5))) void perf_damage(struct perf_info *p, int err, int64_t offset,
						       const char *fmt, ...);

/* The name of a PMU by the type of its events; NULL if it is not known. */
const char *perf_pmu_name(const struct perf_info *p, uint32_t type);

static inline bool perf_has_feature(const struct perf_info *p, uint32_t feature)
{
	return p->features[feature / 64] >> (feature % 64) & 1;
}

/* ---- string.c ---- */

/* A string of a feature: u32 length with padding, text with NUL. NULL: cut off. */
const char *perf_get_string(struct cursor *c, size_t *len);
/* Such a string at the end of b, made fit for a terminal. */
void perf_add_string(struct cursor *c, struct buf *b);
/* A text up to a NUL, or the end. */
const char *perf_nul_text(struct cursor *c, size_t *len);
/* The CPUs of a map, as "0-3,8". */
void perf_add_cpus(struct cursor *c, struct buf *b);

/* ---- attr.c ---- */

/* Takes the attribute of an event from its bytes. 0 or PP_ECUT. */
int perf_attr_parse(const struct perf_info *p, struct cursor c, struct perf_attr *a);
/* Adds an event: the attribute of `size` bytes at c. */
int perf_attr_add(struct perf_info *p, struct cursor c, struct perf_attr **added);
int perf_attr_id(struct perf_info *p, struct perf_attr *a, uint64_t id);
/* Finds out where ids and times lie in records; to be repeated when an event is added. */
void perf_attr_layout(struct perf_info *p);
/* Gives an event its name. */
int perf_attr_rename(struct perf_attr *a, const char *name, size_t len);
void perf_attr_release(struct perf_attr *a);
/* The event with an id; of a single event recording the one; NULL if unknown. */
static inline struct perf_attr *perf_attr_find(const struct perf_info *p, uint64_t id)
{
	const uint32_t *slot;

	/* perf takes the first event for id 0, and the only one for every id. */
	if (p->nattrs == 1 || (!id && p->nattrs))
		return &p->attrs[0];
	slot = map64_get(&p->by_id, id);
	return slot ? &p->attrs[*slot - 1] : NULL;
}
/* The event of a sample, by the id that lies in it; body is what follows the record's header. */
static inline struct perf_attr *perf_attr_of_sample(const struct perf_info *p, const uint8_t *body,
						    size_t size)
{
	struct cursor c = cursor_make(body, size, p->swap);

	if (p->nattrs <= 1 || p->id_pos < 0)
		return p->nattrs ? &p->attrs[0] : NULL;
	cursor_skip(&c, 8 * (uint64_t)p->id_pos);
	return perf_attr_find(p, get_u64(&c));
}

/* ---- attr_name.c ---- */

/*
 * Adds the name of an event: the one that the recording has, or one that is made as perf does it.
 */
void perf_attr_name(const struct perf_info *p, const struct perf_attr *a, struct buf *name);
/* What the period of an event counts. */
const char *perf_attr_unit(const struct perf_attr *a);

/* ---- attr_text.c ---- */

/* ", type = 1 (PERF_TYPE_SOFTWARE), size = 128, ..." */
void perf_attr_text(const struct perf_info *p, const struct perf_attr *a, struct buf *b);

/* ---- tracing_data.c ---- */

/* Reads the formats in tracing data, into *t, which is made when it is NULL. */
int perf_tracing_read(struct perf_tracing **t, struct cursor c);
void perf_tracing_free(struct perf_tracing *t);

enum perf_table {
	PERF_TABLE_KALLSYMS,
	PERF_TABLE_PRINTK,
	PERF_TABLES,
};
/* The texts that lie after the formats. 0, PP_ECUT, PP_ECORRUPT. */
int perf_tracing_tables(struct cursor c, struct ps_str tables[PERF_TABLES]);
/* Bytes of a long (4 or 8) and of a page (0 unknown) of the recorded machine. */
uint32_t perf_tracing_long_size(const struct perf_tracing *t);
uint32_t perf_tracing_page_size(const struct perf_tracing *t);
/* The format text of a tracepoint id; NULL if unknown. */
const char *perf_tracing_format(const struct perf_tracing *t, uint64_t id, size_t *len,
				const char **system, const char **name);

/* ---- bpf_types.c ---- */

/* Takes the type information of BPF programs, for their names. */
int perf_btf_learn(struct perf_btf **b, struct cursor c);
void perf_btf_free(struct perf_btf *b);
/* The name of a type of program `id`; NULL if it has none. */
const char *perf_btf_name(const struct perf_btf *b, uint32_t id, uint32_t type);

/* ---- recorded_build_ids.c ---- */

/* A record of a build-id section, or a HEADER_BUILD_ID record. */
int perf_build_id(struct perf_info *p, struct cursor c, uint16_t misc);
int perf_build_id_table(struct perf_info *p, struct cursor c);
/*
 * The pid came with Linux 2.6.35. In what is older the path begins where otherwise the build-id is
 * padded with four bytes, of which at most the first one is used, for its size.
 */
bool perf_build_id_lacks_pid(struct cursor c);

/* ---- learn.c ---- */

/* Takes from a feature's section what is needed to read on. */
int perf_feature_learn(struct perf_info *p, uint32_t feature, struct cursor c);
/* Whether a feature means something by being there; others mean nothing without content. */
static inline bool perf_feature_is_flag(uint32_t feature)
{
	return feature == PERF_FEAT_BRANCH_STACK || feature == PERF_FEAT_STAT ||
	       feature == PERF_FEAT_AUXTRACE;
}

/* ---- feature.c ---- */

/* Whether a feature has a value and lines. */
bool perf_feature_known(uint32_t feature);
/* The name by which the stream has it. */
const char *perf_feature_key(uint32_t feature);
/* Its value, of one or more lines. 0, PP_ECUT, PP_ENOMEM. */
int perf_feature_value(const struct perf_info *p, uint32_t feature, struct cursor c, struct buf *b);
/* The lines that perf prints of it, each with "# " before it. 0, PP_ECUT, PP_ENOMEM. */
int perf_feature_lines(const struct perf_info *p, uint32_t feature, struct cursor c, struct buf *b);

/* Adds the lines of a feature's section. */
typedef void perf_lines_fn(const struct perf_info *p, struct cursor *c, struct buf *b);

/* Whether the next line may be read: nothing was cut off, and there is not too much text. */
static inline bool perf_lines_more(const struct cursor *c, const struct buf *b)
{
	return !c->bad && b->len < PERF_TEXT_MAX;
}

/* ---- machine.c ---- */

perf_lines_fn perf_lines_cpu_topology, perf_lines_numa_topology, perf_lines_cache,
	perf_lines_mem_topology, perf_lines_hybrid_topology, perf_lines_cpu_domains;

/* ---- bpf.c ---- */

perf_lines_fn perf_lines_bpf_progs, perf_lines_btf;

/* ---- trailer.c ---- */

/* The trailer of a record other than a sample (sample_id_all). */
struct perf_id {
	uint64_t time, id, stream_id;
	uint32_t pid, tid, cpu;
	bool has_time;
	size_t size; /* bytes that it takes */
};
void perf_record_id(const struct perf_info *p, const uint8_t *rec, size_t size, struct perf_id *id);
/*
 * Whether there is a build-id in an MMAP2 record, or the device and inode that share its place: c
 * is at that place. Kernels leave the bit of misc set for a recorder that wants no build-ids when
 * another one at the same time does, so the bytes must also look like one: 1 to 20 bytes, zeroes
 * after them.
 */
bool perf_mmap2_has_build_id(struct cursor c, uint16_t misc);

/* ---- take.c ---- */

#define PERF_READ_MEMBERS 2048 /* events of a group whose values are in a sample */

/* A sample as it is taken from a record; its arrays lie there, in host byte order. */
struct perf_taken {
	struct ps_sample s; /* without chain, event, comm */
	uint64_t *ips;
	uint64_t nips;
	uint64_t reads[5 + 3 * PERF_READ_MEMBERS];
};

/*
 * take_u64s, at an address that is a multiple of 8. In a damaged recording an array can lie
 * anywhere: then it is moved down over what was read just before it, usually its number; so at
 * least 7 bytes were.
 */
static inline uint64_t *perf_take_u64s(struct cursor *c, uint64_t n)
{
	uint64_t *v = take_u64s(c, n);
	uintptr_t off = (uintptr_t)v % 8;

	return off ? memmove((uint8_t *)v - off, v, 8 * n) : v;
}

/*
 * Takes the fields of a sample of event a from what follows the record's header. Not cleared:
 * t->reads.
 */
int perf_sample_take(const struct perf_info *p, const struct perf_attr *a, struct cursor *c,
		     struct perf_taken *t);

/* ---- context_records.c: the names of threads ---- */

/* The names of threads, as numbers of the caller's. */
struct perf_threads {
	struct map64 comms; /* by tid: ids; 0: has no name of its own */
	struct ended ended;
};

/* The name of a thread; 0: none of its own. */
static inline uint32_t perf_threads_get(const struct perf_threads *t, uint32_t tid)
{
	const uint32_t *comm = map64_get(&t->comms, tid);

	return comm ? *comm : 0;
}
/* 0, PP_ENOMEM, or PP_ELIMIT: more threads than a kernel can have. */
int perf_threads_set(struct perf_threads *t, uint32_t tid, uint32_t comm);
/* A new thread has the name of its parent, if that is known. */
int perf_threads_inherit(struct perf_threads *t, uint32_t tid, uint32_t ptid);
/* A thread ended. It keeps its name for samples that come late, until ENDED_MAX others ended. */
void perf_threads_exit(struct perf_threads *t, uint32_t tid);
void perf_threads_release(struct perf_threads *t);

#endif
