/*
 * Private to lib/interval: intervals as lines (lat_list.c), and as samples of a stream
 * (lat_emit.c).
 */
#ifndef PP_INTERVAL_LAT_OUT_H
#define PP_INTERVAL_LAT_OUT_H

#include "base/intern.h"
#include "interval/interval.h"
#include "interval/lat_context.h"
#include "interval/lat_fields.h"
#include "interval/lat_run.h"

#define LAT_COLUMNS_MAX (14 + 3 + LAT_BY_MAX + 1) /* its own, stacks, --by, an end */
struct lat_list {
	struct out out;
	struct buf line, cell, key;
	struct arena names; /* of the columns of --by */
	struct records to;
	struct record_column columns[LAT_COLUMNS_MAX];
	uint8_t what[LAT_COLUMNS_MAX]; /* in each of them */
	uint32_t ncolumns;
	enum table_form form;
	uint64_t slower;
	uint64_t n;	  /* lines */
	uint64_t shorter; /* intervals that were too short for one */
	uint64_t longest; /* of these, in unit */
	const char *unit; /* of the first of them; others do not count for the longest */
	uint32_t width;	  /* of the terminal; 0: none, or it does not matter */
	bool hidden;	  /* columns do not fit it */
	bool stacks;
	bool wide; /* nothing is cut */
};

int lat_list_open(struct lat_list *s, const struct plat_opts *o);
lat_sink_fn lat_list_add;
int lat_list_close(struct lat_list *s);
/* What there is to say of a list without a line: false if there were no intervals at all. */
bool lat_list_none(const struct lat_list *s, struct buf *b);

/* Lines for psvg --timeline (lat_timeline.c), perfpipe-timeline(5). */
#define LAT_TIMELINE_MAGIC "#PPTIMELINE1"
#define LAT_TIMELINE_KINDS "oncpu,runq,blocked,irq,softirq"
#define LAT_MARKS_MAX	   (4u << 20) /* events that are marks; those after them are counted */

/* An event of the input. */
struct lat_timeline_event {
	uint32_t mark;		   /* 0: not known, 1 no mark, else the mark's number + 1 */
	struct lat_fields *fields; /* of a mark */
};

struct lat_timeline {
	struct out out;
	struct buf line;
	struct intern threads;		   /* domain, tid and name */
	uint8_t *texts;			   /* by text id: defined */
	struct lat_timeline_event *events; /* by id */
	struct lat_fields_names names;	   /* the caller's */
	uint32_t ntexts, nevents, nmarks;
	uint64_t kinds; /* bits: defined */
	uint64_t n, marks, more_marks;
};

int lat_timeline_start(struct lat_timeline *t);
/* A record of the input: losses, marks. 0, PP_ENOMEM or the output's error. */
int lat_timeline_see(struct lat_timeline *t, const struct sreader *r, const struct ps_record *rec);
lat_sink_fn lat_timeline_add, lat_timeline_open;
int lat_timeline_close(struct lat_timeline *t, int status);

struct lat_emit {
	struct swriter *w;
	struct lat_defined strings;
	struct buf key;	     /* a sample's key_text */
	uint64_t kinds;	     /* bits: the descriptors that it has */
	uint64_t n, missing; /* samples; points without their stacks */
};

/* A record of the input, before the engine has seen it: what is context goes on. */
int lat_emit_record(struct lat_emit *e, struct lat *l, const struct sreader *r,
		    const struct ps_record *rec);
lat_sink_fn lat_emit_add;
void lat_emit_release(struct lat_emit *e);

/* ---- lat_say.c ---- */

/* Lines of text, one message each. */
void lat_say_lines(const struct buf *text, struct diag *d);
/*
 * The account: of each kind that had events, if asked for; else one line of all of them, if a start
 * has not found its end.
 */
void lat_say_account(const struct lat *l, bool all, struct diag *d);
/* Reports why there is no result. The status. */
int lat_say_nothing(const struct lat *l, uint64_t samples, struct diag *d);
/*
 * The kinds of the scheduler's of which more than a few intervals have no recorded end, and what
 * their sums are bounded by. False: there is none.
 */
bool lat_say_missing(const struct lat *l, struct diag *d);
/* How many wakeups do not tell who did them. False: all do. */
/* Events that were thinned by the recorder: what is paired may not belong together. */
bool lat_say_thinned(const struct lat *l, struct diag *d);
bool lat_say_wakers(const struct lat *l, struct diag *d);

#endif
