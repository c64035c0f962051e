/*
 * Reading a recording: the file header, its features, and the records one after another, from one
 * file or from several in turn. Private to lib/perfdata.
 *
 * The reader takes from the records what it needs to read on (learn.c, own.c), and gives each of
 * them to a struct perf_sink: the decoder (decode_recording.c) makes a stream of them, --dump
 * (dump_records.c) prints them, and --header (print_header.c) wants the features only.
 */
#ifndef PP_PERFDATA_PERF_FILE_H
#define PP_PERFDATA_PERF_FILE_H

#include "base/err.h"
#include "base/out.h"
#include "base/src.h"
#include "merge/order.h"
#include "perfdata/info.h"

#define PERF_BLOCK	   (1u << 18)  /* bytes that are read at a time */
#define PERF_INFLATE_MAX   (64u << 20) /* bytes that one compressed record may become */
#define PERF_OTHERS_MAX	   8	       /* types of records without a name that are told apart */
#define PERF_REC_BYTES_MAX (64u << 20) /* bytes of a record; most have 16 bits for their size */

/* ---- bytes.c: where the bytes come from ---- */

/* One file. A directory has several, which are read in turn. */
struct perf_bytes {
	struct src *src;
	struct block *cur; /* block that is being read, and the next record in it */
	size_t pos;
	uint64_t left;		   /* bytes that may still be read */
	void *inflate;		   /* ZSTD_DCtx of compressed records */
	struct block *inflate_cur; /* where they are decompressed to ... */
	size_t inflate_pos;	   /* ... and the records before this are taken */
	uint64_t inflated;	   /* bytes that compressed records became */
	bool mapped;		   /* they are mapped, if they can be, rather than read */
	struct blocks *blocks;	   /* where memory comes from */
	struct diag *d;		   /* for progress */
	const char *name;	   /* of the recording */
};

/*
 * Makes n contiguous bytes available at in->pos of the block in->cur. 0, PP_END (nothing is left),
 * PP_ECUT (less than n), or an error of the input.
 */
int perf_need_more(struct perf_bytes *in, uint64_t n);
static inline int perf_need(struct perf_bytes *in, uint64_t n)
{
	return in->cur && in->cur->len - in->pos >= n ? 0 : perf_need_more(in, n);
}
/* Skips n bytes of the input that need not be kept (hardware trace data). */
int perf_skip(struct perf_bytes *in, uint64_t n);
/* Leaves src to the caller. */
void perf_bytes_release(struct perf_bytes *in);

/* ---- who gets the records ---- */

/* A record as it lies in a block. */
struct perf_raw {
	struct block *block;
	uint8_t *rec; /* the whole record, with its header */
	uint32_t type;
	uint16_t misc;
	size_t size;
};

/* Its offset in the file, or in what was decompressed. */
static inline int64_t perf_raw_offset(const struct perf_raw *raw)
{
	return (int64_t)(raw->block->base + (size_t)(raw->rec - block_bytes(raw->block)));
}
/* What follows its header. */
static inline struct cursor perf_raw_body(const struct perf_raw *raw, bool swap)
{
	return cursor_make(raw->rec + 8, raw->size - 8, swap);
}

/*
 * Both return 0, or PP_ECUT or PP_ECORRUPT for what is damaged, which is reported and skipped, or
 * another code, which ends the reading.
 */
struct perf_sink {
	/* A record, before what follows it is read. perf_own_learn has seen it. */
	int (*record)(void *ctx, const struct perf_raw *raw);
	/* A header feature: of a file before the records, of a pipe in a record, after that. */
	int (*feature)(void *ctx, uint32_t feature, struct cursor c);
	void *ctx;
};

struct perf_section {
	uint64_t offset, size;
};

struct perf_reader {
	struct perf_info info;
	struct perf_sink sink;
	struct perf_bytes first; /* the file that was given */
	struct perf_bytes *in;	 /* the one whose turn it is */
	struct buf split;	 /* simpleperf: the parts of a long record */
	struct buf init_map; /* simpleperf: records of what had been mapped before (feature 134) */
	struct perf_section attr_table; /* of a file: its events ... */
	uint64_t attr_size;		/* ... bytes of each */
	uint64_t features_bad[4];	/* those that have been reported */
	uint64_t budget;      /* directory form: bytes that are read of a file at a time; 0 all */
	uint64_t newest;      /* time of the last record, that the sink notes */
	uint64_t counts[255]; /* records of each type, */
	uint64_t simpleperf[PERF_SIMPLEPERF_MAX]; /* of simpleperf's, */
	uint64_t other;				  /* and of those beyond, */
	struct {
		uint32_t type;
		uint64_t n;
	} others[PERF_OTHERS_MAX];	/* of which these came first; n 0: no more */
	uint64_t aux_bytes;		/* of hardware trace data, skipped, */
	uint32_t aux_type;		/* of this kind (AUXTRACE_INFO); 0: not known */
	bool mark_announced, mark_seen; /* PERF_MISC_END_MARK */
	int stopped;			/* the code with which the sink ended the reading */
};

/* Gives a record to the sink. */
static inline int perf_feed_record(struct perf_reader *r, const struct perf_raw *raw)
{
	int rc = r->sink.record(r->sink.ctx, raw);

	if (rc && rc != PP_ECUT && rc != PP_ECORRUPT)
		r->stopped = rc;
	return rc;
}
/* Gives a header feature to the sink. */
static inline int perf_feed_feature(struct perf_reader *r, uint32_t feature, struct cursor c)
{
	int rc = r->sink.feature(r->sink.ctx, feature, c);

	if (rc && rc != PP_ECUT && rc != PP_ECORRUPT)
		r->stopped = rc;
	return rc;
}

/* ---- header.c: what comes before the records ---- */

/* Where what lies in a file. */
int perf_read_file_header(struct perf_reader *r, const uint8_t *first16);
/* Its events. */
int perf_read_events(struct perf_reader *r);
/* Reads the header features of a file; each is given to the sink. */
int perf_read_features(struct perf_reader *r);

/* ---- own.c: what is needed of perf's own records ---- */

/* Notes it. 0, PP_ECUT or PP_ECORRUPT, PP_ENOMEM, PP_ELIMIT. */
int perf_own_learn(struct perf_reader *r, const struct perf_raw *raw);

/* ---- read_records.c: the records ---- */

/*
 * All of them, up to the end or to where they cannot be read any more: PP_END or what is wrong.
 * With a budget 0, when that is used up.
 */
int perf_read_records(struct perf_reader *r);
/* Those that simpleperf has in a header feature, before the others. 0, or an error of the sink. */
int perf_read_init_map(struct perf_reader *r);

/* ---- dir.c: the directory form ---- */

/* Does what perf_read_records does, with the file and with those beside it. */
int perf_read_parts(struct perf_reader *r);
/* Adds the kernel's symbols that lie beside it to b. 0, or why it cannot go on. */
int perf_read_kallsyms(struct perf_reader *r, struct buf *b);

/* ---- perf_file.c: from the beginning to the end ---- */

void perf_reader_init(struct perf_reader *r, struct src *s, struct diag *d, struct blocks *blocks);
/* Leaves the source to the caller. */
void perf_reader_release(struct perf_reader *r);

/* The file header. 0, or why nothing can be read; what is wrong has been reported. */
int perf_reader_open(struct perf_reader *r);
/*
 * The events and features of a file; the records come next. 0, or why they cannot. With `anyway`
 * features are read though the events cannot be read.
 */
int perf_reader_header(struct perf_reader *r, bool anyway);
/* All records. What ended it: for perf_reader_ended. */
int perf_reader_records(struct perf_reader *r);
/*
 * Reports what ended the reading of records, unless that was the end of a whole recording. 0, or a
 * code that does not mean damage.
 */
int perf_reader_ended(struct perf_reader *r, int rc);

#endif
