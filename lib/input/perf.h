/*
 * Decoding of perf.data. Private to lib/input: input.h is the door.
 *
 * The flow: perf_read.c reads records into blocks and queues them (order.h); in time order each is
 * given to perf_record.c (context) or perf_sample.c (samples), which write stream records.
 * perf_header.c, perf_attr.c and perf_tracing.c read what comes before.
 */
#ifndef PP_INPUT_PERF_H
#define PP_INPUT_PERF_H

#include "base/buf.h"
#include "base/cursor.h"
#include "base/hashids.h"
#include "base/intern.h"
#include "input/input.h"
#include "input/order.h"
#include "input/perf_format.h"
#include "stream/stream.h"

#define PERF_ATTRS_MAX	 65536	      /* events of a recording */
#define PERF_IDS_MAX	 (1u << 22)   /* their ids, together */
#define PERF_SECTION_MAX (256u << 20) /* bytes of a header section that is read at once */
#define PERF_BLOCK	 (1u << 20)   /* bytes that are read at a time */
#define PERF_CHAIN_MAX	 8190	      /* addresses of a call chain: what fits in a record */
#define PERF_CHAIN_IDS	 (1u << 16)   /* live call chains; beyond, the ids begin again */
#define PERF_CHAIN_BYTES (8u << 20)   /* bytes of the live call chains */
#define PERF_THREADS_MAX (1u << 22)   /* threads whose names are kept: the kernel's pid limit */
#define PERF_NAMES_MAX	 (256u << 20) /* bytes of all their names, and of all paths */
#define PERF_INFLATE_MAX (64u << 20)  /* bytes that one compressed record may become */

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
	uint64_t config1;
	uint32_t bp_type;
	int32_t clockid;
	uint32_t event;	   /* id of the stream's descriptor */
	int time_pos;	   /* index of the u64 in its samples that is the time; -1 none */
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
#define PERF_ATTR_USE_CLOCKID	 (1ull << 25)
#define PERF_ATTR_EXCLUDE_GUEST	 (1ull << 20)

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

/* The names of threads. */
struct perf_threads {
	struct map64 by_tid; /* tid to index in comms, + 1 */
	uint32_t *comms;     /* string ids; 0: has no name of its own */
	uint32_t n, cap;
};

struct perf_build_id {
	uint8_t len, bytes[20];
};

struct perf {
	struct src *src;
	struct swriter *w;
	struct diag *d;
	const char *name; /* of the file */
	uint32_t source;
	struct ps_end *account;

	bool swap, big_endian, pipe;
	uint64_t data_offset, data_size; /* file mode; size 0: never finished */
	uint64_t features[4];

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
	struct perf_threads threads;
	struct perf_tracing *tracing;
	struct order order;
	struct block *cur; /* block that is being read, and the next record in it */
	size_t pos;
	uint64_t left;		 /* bytes that may still be read */
	void *inflate;		 /* ZSTD_DCtx of compressed records */
	struct buf inflate_out;	 /* room for what is decompressed */
	struct buf inflate_tail; /* decompressed bytes that begin a record */

	uint64_t counts[256]; /* records of each type */
	uint64_t lost;	      /* events that the recorder says it lost */
	uint64_t untimed;     /* samples without a time, though their event has times */
	int damage;	      /* 0, PP_ECUT or PP_ECORRUPT: what the result suffers from */
	bool rounds;	      /* rounds have been seen */
};

/* ---- perf_read.c ---- */

int perf_decode(struct src *s, uint32_t source, struct swriter *w, struct diag *d,
		struct ps_end *account);

/* ---- perf_describe.c ---- */

/* INPUT_HEADER or INPUT_DUMP of a perf.data, in text. Returns as input_describe does. */
int perf_describe(struct src *s, enum input_view view, struct out *o, struct diag *d);

/* Notes damage: says it, and remembers it for the exit status. */
__attribute__((format(printf, 4, 5))) void perf_damage(struct perf *p, int err, int64_t offset,
						       const char *fmt, ...);

/* ---- perf_header.c: what comes before the records ---- */

int perf_read_file_header(struct perf *p, const uint8_t *first16);
int perf_read_features(struct perf *p);
/* One feature's section. */
int perf_feature(struct perf *p, uint32_t feature, struct cursor c);
/* The records of a build-id section, or of a HEADER_BUILD_ID record (one). */
int perf_build_id(struct perf *p, struct cursor c, uint16_t misc);

/* ---- perf_attr.c: events ---- */

/* Adds an event: the attribute of `size` bytes at c. */
int perf_attr_add(struct perf *p, struct cursor c, struct perf_attr **added);
int perf_attr_id(struct perf *p, struct perf_attr *a, uint64_t id);
/* Finds out where ids and times lie in records; to be repeated when an event is added. */
void perf_attr_layout(struct perf *p);
/* The event of a sample, by the id that lies in it; body is what follows the record's header. */
struct perf_attr *perf_attr_of_sample(struct perf *p, const uint8_t *body, size_t size);
/* The event with an id; of a single event recording the one; NULL if unknown. */
struct perf_attr *perf_attr_find(struct perf *p, uint64_t id);
/* Writes the descriptor of an event to the stream, unless that has been done. */
int perf_attr_write(struct perf *p, struct perf_attr *a);
int perf_attr_write_all(struct perf *p);
void perf_attr_release(struct perf_attr *a);
int perf_attr_rename(struct perf *p, struct perf_attr *a, const char *name, size_t len);
/* The name of an event by its attribute alone, as perf builds it. */
void perf_attr_name(const struct perf_attr *a, const struct perf_tracing *t, struct buf *name);

/* ---- perf_clock.c ---- */

/* Writes the SOURCE record, unless that has been done: an event of the recording tells its clock. */
int perf_announce(struct perf *p);
/* The header feature CLOCK_DATA. */
int perf_clock_data(struct perf *p, struct cursor c);

/* ---- perf_tracing.c: formats of tracepoints ---- */

/* Reads the tracing data (formats, kallsyms, printk formats) of `len` bytes. */
int perf_tracing_read(struct perf *p, struct cursor c);
void perf_tracing_free(struct perf_tracing *t);
/* The format text of a tracepoint id; NULL if unknown. */
uint32_t perf_tracing_long_size(const struct perf_tracing *t);
const char *perf_tracing_format(const struct perf_tracing *t, uint64_t id, size_t *len,
				const char **system, const char **name);

/* ---- perf_record.c: context records ---- */

/* The trailer of a record that is no sample (sample_id_all). */
struct perf_id {
	uint64_t time, id, stream_id;
	uint32_t pid, tid, cpu;
	bool has_time;
};
void perf_record_id(struct perf *p, const uint8_t *rec, size_t size, struct perf_id *id);
int perf_record(struct perf *p, uint8_t *rec, size_t size, uint64_t time);
int perf_string(struct perf *p, const char *s, size_t len, uint32_t *id);
/* The id of the DSO of a path, written to the stream when it is new. */
int perf_dso(struct perf *p, const char *path, size_t len, const uint8_t *build_id, size_t blen,
	     uint32_t flags, uint32_t *id);
int perf_comm(struct perf *p, uint32_t tid, uint32_t *comm);
void perf_threads_release(struct perf_threads *t);

/* ---- perf_sample.c ---- */

int perf_sample(struct perf *p, uint8_t *rec, size_t size, uint64_t time);
int perf_chain_id(struct perf *p, uint64_t *ips, uint64_t n, uint32_t *id);

#endif
