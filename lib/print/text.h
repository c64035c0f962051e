/*
 * The event stream as text for people and scripts: what `perf script` prints, or JSON lines.
 *
 *	struct stext *t;
 *	stext_new(&t, &out, STEXT_PERF, diag);
 *	while (!sreader_next(r, &rec))
 *		rc = stext_record(t, r, rec);
 *	stext_free(t);
 *
 * The reader has to keep all dictionaries (STEXT_KEEP).
 */
#ifndef PP_PRINT_TEXT_H
#define PP_PRINT_TEXT_H

#include "base/opt.h"
#include "stream/stream.h"
#include "print/text_fields.h"

#define STEXT_KEEP (SREADER_EVENTS | SREADER_DSOS | SREADER_CHAINS | SREADER_SYMBOLS)

enum stext_form {
	STEXT_PERF, /* as perf script: samples only */
	STEXT_JSON, /* one object a record, context records too: perfpipe-stream(5) */
};

enum stext_times {
	STEXT_TIME_AS_IS,
	STEXT_TIME_REL,	  /* since the first line */
	STEXT_TIME_DELTA, /* since the line before */
};

#define STEXT_CPUS_MAX 64

/* "0,2-5": CPUs from first to last; none: all. */
struct stext_cpus {
	uint32_t n;
	struct {
		uint32_t first, last;
	} range[STEXT_CPUS_MAX];
};

/* How the samples of a trace.dat are printed: options of trace-cmd report. */
struct stext_trace {
	bool latency;	 /* the column of interrupts, short names */
	bool raw;	 /* fields instead of the print format */
	bool no_plugins; /* of libtraceevent */
	bool diff;	 /* times since the line before */
	bool v34;	 /* as trace-cmd 3.4 prints them, not 3.1 */
	/* of the function graph */
	bool tail, depth, no_retval, retval_dec, retval_hex;
};

/* How the text is to look; the strings must outlive the printer. */
struct stext_opts {
	enum stext_form form;
	bool all;		   /* samples that a filter has marked as not passing, too */
	struct text_fields fields; /* -F */
	bool ns;		   /* times with all their digits */
	bool no_chains;		   /* the address instead of the call chain */
	enum stext_times times;
	struct stext_cpus cpus;
	struct stext_trace trace;
	bool list_options; /* -O help: nothing else is to be done */
};

/* Whether the samples of a CPU are to be printed. */
static inline bool stext_shows_cpu(const struct stext_opts *o, uint32_t cpu)
{
	for (uint32_t i = 0; i < o->cpus.n; i++)
		if (cpu >= o->cpus.range[i].first && cpu <= o->cpus.range[i].last)
			return true;
	return !o->cpus.n;
}

/* Whether a sample is to be printed, by its mark and its CPU. */
static inline bool stext_shows(const struct stext_opts *o, const struct ps_sample *s)
{
	return (o->all || (s->flags & PS_MARK_MASK) == PS_MARK_PASS) && stext_shows_cpu(o, s->cpu);
}

struct stext;

/* Prints to `out`, which must outlive it. A NULL diag is silent. */
int stext_new(struct stext **t, struct out *out, const struct stext_opts *opts, struct diag *d);
void stext_free(struct stext *t); /* NULL is fine */

/* Switches to another output; only between records. */
void stext_to(struct stext *t, struct out *out);

/* Prints one record, if it is of a type that the form shows. Returns 0 or an error of the output.
 */
int stext_record(struct stext *t, const struct sreader *r, const struct ps_record *rec);

/*
 * Several printers can share a stream: each takes all records, in order, and prints some of them.
 * This takes a record that another one prints, for what the lines after it depend on. What it
 * gives the output nevertheless is to be dropped. Returns 0 or an error.
 */
int stext_pass(struct stext *t, const struct sreader *r, const struct ps_record *rec);

/*
 * Whether samples cannot be shared: lines of a trace.dat depend on payloads of those before. It can
 * change with a record SOURCE or HEADER, which no other printer may be ahead of.
 */
bool stext_in_order(const struct stext *t);

/*
 * Options that say how the text is to look, and their handler, whose context is a struct
 * stext_opts. --cpu is separate because some filters have one of their own.
 */
extern const struct opt stext_options[], stext_cpu_options[];
opt_handler stext_option;

/* Appends what -O can set, one per line. */
void stext_list_options(struct buf *b);

#endif
