/*
 * Decoding of a recording to an event stream: the sink (perf_file.h) that puts the kernel's records
 * in time order and writes stream records. Private to lib/perfdata.
 *
 * The flow: decode_recording.c gets each record. perf's own become facts at once (session.c); those
 * of the kernel are queued (merge/order.h), and in their turn given to context_records.c (context,
 * with side_records.c and deferred.c) or perf_sample.c. put_records.c and event_descriptors.c write
 * what others refer to, just before that.
 */
#ifndef PP_PERFDATA_DECODER_H
#define PP_PERFDATA_DECODER_H

#include "base/hashids.h"
#include "merge/order.h"
#include "perfdata/known_stacks.h"
#include "perfdata/perfdata.h"
#include "perfdata/perf_file.h"
#include "stream/stream.h"

#define PERF_CHAIN_IDS	  (1u << 16)   /* live call chains; beyond, the ids begin again */
#define PERF_CHAIN_BYTES  (8u << 20)   /* bytes of the live call chains */
#define PERF_NAMES_MAX	  (256u << 20) /* bytes of all names of threads, and of all paths */
#define PERF_DEFERRED_MAX (1u << 16)   /* deferred call chains that are queued */

/*
 * The call chains of the samples that are delivered next, hashed before their turn: the table of
 * chains does not fit in the processor's caches, and the wait for it would be most of a sample's
 * time.
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

/* What has been written to the stream so far. */
struct perf_written {
	bool source;	       /* the SOURCE record */
	bool events;	       /* the descriptors of all events */
	bool wall;	       /* the fact about the time of day */
	struct buf metas;      /* facts, before the SOURCE record */
	struct intern strings; /* STRING records */
	struct intern dsos;    /* DSO records: keys */
	struct hashids chains; /* CHAIN records */
};

/* The last values of counters in samples. */
struct perf_counters {
	struct map64 by_id; /* PERF_SAMPLE_ID to index in last */
	uint64_t *last;
	uint32_t n, cap;
};

/* What perf stat record counted: whose counts they are, and whether the counters are written. */
struct perf_counts {
	struct buf tids; /* uint32_t for each index of the thread map */
	bool counters;	 /* the descriptors of events and COUNTER records are in the stream */
};

/* Queued PERF_RECORD_CALLCHAIN_DEFERRED. */
struct perf_deferred {
	struct perf_deferred_chain {
		uint32_t tid;
		uint64_t cookie, n;
		const uint8_t *ips; /* n addresses, in the record */
	} * v;
	uint32_t n;
	struct map64 by_key; /* thread and cookie to index in v, + 1 */
	struct map64 by_rec; /* the same by where the addresses are */
	struct buf merged;   /* room for a call chain that is put together */
};

#define PERF_NAMES_FILES_MAX 65536

/* Files of which simpleperf's records tell names: by the numbers that these have. */
struct perf_names {
	struct map64 by_id; /* index in files, + 1 */
	struct intern paths;
	struct perf_names_file *files;
	uint32_t n;
};

/* What there is to report at the end. */
struct perf_tally {
	uint64_t aux_cut;    /* AUX records of trace data that were cut off */
	uint64_t undeferred; /* samples whose deferred call chain did not come in time */
	uint64_t lost;	     /* events that the recorder lost */
	uint64_t lost_in_ring, lost_at_end, lost_dropped; /* by who counted them */
	uint64_t untimed; /* samples without a time, though their event has times */
};

struct perf_decoder {
	struct perf_reader r;
	struct swriter *w;
	uint32_t source;
	struct ps_end *account;
	struct perf_written out;
	struct order order;
	struct perf_ahead ahead;
	struct perf_threads threads; /* names: string ids */
	struct perf_counters counters;
	struct perf_counts counts;
	struct perf_deferred deferred;
	struct perf_names names;
	struct perf_tally tally;
	struct known_stacks stacks; /* of which samples have only what changed ... */
	struct block *whole;	    /* ... and where these are put together */
};

/* Time, CPU and thread of a record, from its trailer. */
#define PERF_CONTEXT(id) .time = (id)->time, .cpu = (id)->cpu, .pid = (id)->pid, .tid = (id)->tid

/* ---- put_records.c: records of the stream, and what comes before the first ---- */

/* Writes the SOURCE record, for whose clock an event must be known, and the facts so far. */
int perf_announce(struct perf_decoder *p);
/* A record for the stream, with the SOURCE record before the first. */
static inline int perf_put(struct perf_decoder *p, enum ps_type type, const void *fields)
{
	if (!p->out.source && perf_announce(p))
		return p->w->err;
	return swriter_put(p->w, type, p->source, fields);
}
/* A META record, held back until the SOURCE record is written. */
int perf_meta(struct perf_decoder *p, const char *key, const char *value, size_t len);
/* The same of a text that was put together, and is released; PP_ECUT if what it is from was cut. */
int perf_meta_buf(struct perf_decoder *p, const char *key, bool cut, struct buf *value);
/* The id of a text, which is written when it is new. */
int perf_put_string(struct perf_decoder *p, const char *s, size_t len, uint32_t *id);
/* A text that psym or a printer needs, in parts: BLOB records of this kind. */
int perf_blob(struct perf_decoder *p, uint32_t kind, const void *data, uint64_t len);

/* ---- event_descriptors.c: descriptors of events ---- */

/* Writes the descriptor of an event to the stream, unless that has been done. */
int perf_event_write(struct perf_decoder *p, struct perf_attr *a);
int perf_event_write_all(struct perf_decoder *p);
/* Writes those again whose events have been renamed since. */
int perf_event_write_renamed(struct perf_decoder *p);

/* ---- put_records.c: names of threads ---- */

/* The string id of a thread's name, as perf has it. */
int perf_comm(struct perf_decoder *p, uint32_t tid, uint32_t *comm);

/* ---- feature.c: header features ---- */

/* Makes facts of a feature: META and BLOB records. */
int perf_feature_put(struct perf_decoder *p, uint32_t feature, struct cursor c);

/* ---- simpleperf.c: names that the recording holds ---- */

/* Makes BLOBs of the features 128 and 132. */
int perf_names_put(struct perf_decoder *p, uint32_t feature, struct cursor c);
/* The records that came before these: a file, and a symbol of one. */
int perf_names_file(struct perf_decoder *p, struct cursor c);
int perf_names_symbol(struct perf_decoder *p, struct cursor c);
void perf_names_release(struct perf_names *t);

/* ---- session.c: perf's own records ---- */

/* Makes facts of a record that is about the recording as a whole. */
int perf_session_put(struct perf_decoder *p, const struct perf_raw *raw);

/* ---- counts.c: records of perf stat ---- */

int perf_thread_map(struct perf_decoder *p, struct cursor c);
int perf_stat_config(struct perf_decoder *p, struct cursor c);
int perf_count(struct perf_decoder *p, struct cursor c);
int perf_round(struct perf_decoder *p, struct cursor c);
/* Sets the unit of an event's counts. 0 or PP_ENOMEM. */
int perf_counter_unit(struct perf_attr *a, const char *unit, size_t len);

/* ---- context_records.c: context records ---- */

int perf_record(struct perf_decoder *p, uint8_t *rec, size_t size, uint64_t time);

/* ---- side_records.c: further records of the kernel ---- */

int perf_record_read(struct perf_decoder *p, struct cursor c, const struct perf_id *id);
int perf_record_namespaces(struct perf_decoder *p, struct cursor c, const struct perf_id *id);
int perf_record_bpf(struct perf_decoder *p, struct cursor c, const struct perf_id *id);
int perf_record_text_poke(struct perf_decoder *p, struct cursor c, const struct perf_id *id);
int perf_record_aux(struct perf_decoder *p, struct cursor c, uint32_t type,
		    const struct perf_id *id);

/* ---- deferred.c ---- */

/* Queues a deferred call chain; the record must live until its turn has come. */
int perf_deferred_add(struct perf_decoder *p, const uint8_t *rec, size_t size, uint32_t tid);
/* Its turn has come: it is no longer queued. */
int perf_deferred_done(struct perf_decoder *p, const uint8_t *rec, size_t size);
/*
 * Puts a call chain that ends in PERF_CONTEXT_USER_DEFERRED and a cookie together in out, which has
 * room for PERF_CHAIN_MAX. Returns how many addresses; 0: it is none, or the rest of it is not
 * queued.
 */
uint64_t perf_deferred_merge(struct perf_decoder *p, uint32_t tid, uint64_t *ips, uint64_t n,
			     uint64_t *out);
void perf_deferred_release(struct perf_deferred *d);

/* ---- perf_sample.c ---- */

int perf_sample(struct perf_decoder *p, uint8_t *rec, size_t size, uint64_t time);
/* An order_ahead_fn: looks at the call chain of a sample whose turn will come. */
void perf_ahead(void *ctx, const uint8_t *rec);

/* ---- expand_copies.c ---- */

/*
 * Makes a sample whole whose copy of the stack is without what samples before it had: *raw is
 * another record then. Samples in the order of the recording. 0, PP_ENOMEM or PP_ECORRUPT.
 */
int perf_expand_copy(struct perf_decoder *p, const struct perf_attr *a, struct perf_raw *raw);
void perf_expand_release(struct perf_decoder *p);

/* ---- group.c ---- */

/* Writes a sample with counter values: one for each counter that went on. */
int perf_sample_values(struct perf_decoder *p, const struct ps_sample *s);
void perf_counters_release(struct perf_counters *c);

/* ---- account.c: what there is to report at the end ---- */

/* To the diag; with `types` also the number of records of each type. */
void perf_report(const struct perf_decoder *p, bool types);

#endif
