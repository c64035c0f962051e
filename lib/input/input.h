/*
 * Recordings to event streams: the core of pdecode.
 *
 *	struct src *s;
 *	struct out out;
 *	struct swriter w;
 *	struct ps_end end = {0};
 *
 *	src_open(&s, "perf.data", d);
 *	out_init(&out, STDOUT_FILENO);
 *	swriter_init(&w, &out);
 *	swriter_header(&w);
 *	rc = input_decode(s, 1, &w, d, &end);
 *	end.status = input_status(rc);
 *	swriter_end(&w, &end);
 *
 * The kind of the input is determined by its magic. Damage is reported to the diag, the readable
 * part is
 * read. input_describe prints facts about a recording instead: its header, its raw records, its
 * events.
 */
#ifndef PP_INPUT_INPUT_H
#define PP_INPUT_INPUT_H

#include "base/opt.h"
#include "stream/stream.h"
#include "tracedat/tracedat.h"

/*
 * Opens a file, "-" for stdin, or the directory form of a perf.data. Reports what is wrong to d,
 * and returns as src_open does.
 */
int input_open(struct src **s, const char *name, struct diag *d);

/*
 * Decodes everything in s, which it frees, as the recording `source` (from 1) and adds to the
 * account: lost, missing. Returns 0; PP_ECUT or PP_ECORRUPT: done as far as possible, the result is
 * partial; other codes: nothing could be decoded, or the output failed (w->err). What happened has
 * been reported to d.
 */
int input_decode(struct src *s, uint32_t source, struct swriter *w, struct diag *d,
		 struct ps_end *account);

/*
 * Decodes as input_decode does, with options; opts->stats also reports the records of a perf.data
 * by type.
 */
int input_decode_as(struct src *s, uint32_t source, struct swriter *w, struct diag *d,
		    struct ps_end *account, const struct trace_opts *opts);

/* The exit status for a return value of input_decode. */
int input_status(int rc);

/* ---- facts about a recording ---- */

enum input_view {
	INPUT_EVENTS,	 /* none of these: the events themselves */
	INPUT_HEADER,	 /* facts about the recording and its machine */
	INPUT_DUMP,	 /* every raw record, with its bytes */
	INPUT_LIST,	 /* its events, with their sample counts */
	INPUT_FUNCTIONS, /* the kernel symbols that it has */
	INPUT_CHECK,	 /* the events whose text cannot be printed */
};

/* Whether an event's text can be printed (*ok), which the printer knows. 0 or PP_ENOMEM. */
struct input_check {
	int (*fn)(void *ctx, const struct ps_event *e, bool *ok);
	void *ctx;
	uint64_t n, bad; /* events with a format, those that cannot be printed */
};

struct input_show {
	enum input_view view;
	bool json;		   /* INPUT_LIST: an object a line */
	bool all;		   /* INPUT_LIST: also samples that a filter rejected */
	struct input_check *check; /* INPUT_CHECK */
};

/* The command line options for that, and their handler, whose context is a struct input_show. */
extern const struct opt input_view_options[];
extern const struct opt_rule input_view_rules[];
extern const struct opt_effect input_view_effects[];
opt_handler input_view_option;

/*
 * Prints what `show` asks for of everything in s, which it frees. Returns what input_decode does,
 * or an error of the output (o->err).
 */
int input_describe(struct src *s, const struct input_show *show, struct out *o, struct diag *d);

/*
 * Prints that of files, to a descriptor; with n 0 of stdin. Returns the exit status; what is wrong
 * has been reported.
 */
int input_describe_all(char *const *files, int n, const struct input_show *show, int fd,
		       struct diag *d);

#endif
