/*
 * Decoding of trace.dat, versions 6 and 7, as trace-cmd record writes them.
 *
 *	struct ps_end account = {0};
 *	rc = trace_decode(src, 1, &writer, diag, &account, &(struct trace_opts){.stats = true});
 *
 * The caller has unpacked the input and determined its kind by its magic (input/input.h); the
 * header of the stream and its END are also the caller's.
 */
#ifndef PP_TRACEDAT_TRACEDAT_H
#define PP_TRACEDAT_TRACEDAT_H

#include "base/diag.h"
#include "base/out.h"
#include "base/src.h"
#include "stream/stream.h"
#include "tracedat/file_numbers.h"

struct trace_opts {
	bool stats;	      /* report the account of each CPU */
	bool separate_stacks; /* kernel_stack and user_stack are not joined with events */
	unsigned threads; /* that decode: the calling one, others unpack; 0: as there are CPUs */
};

/*
 * Decodes all of s, which stays the caller's, as the recording `source` (from 1) and adds to the
 * account: lost, missing. opts may be NULL. Returns 0; PP_ECUT or PP_ECORRUPT: done as far as
 * possible, the result is partial; other codes: nothing could be decoded, or the output failed
 * (w->err). Problems have been reported to d.
 */
int trace_decode(struct src *s, uint32_t source, struct swriter *w, struct diag *d,
		 struct ps_end *account, const struct trace_opts *opts);

/* The result of converting the stream form of a recording. */
struct trace_to_file {
	const char *path;
	unsigned version; /* 6, 7 */
	int pack_level;	  /* of zstd; 0: not packed */
};

/*
 * Makes a trace.dat of the stream form in s, which stays the caller's. Returns 0; PP_ECUT or
 * PP_ECORRUPT: of what has come; other codes: nothing was made. Each was reported.
 */
int trace_to_file(struct src *s, const struct trace_to_file *o, struct diag *d);

/*
 * Prints what the recording says about itself. Returns what trace_decode returns, or an error of
 * o.
 */
int trace_describe(struct src *s, struct out *o, struct diag *d);

/* Prints the metadata, part by part, as trace-cmd dump does. 0 or an error, which was reported. */
int trace_dump(struct src *s, struct out *o, struct diag *d);

/*
 * Calls fn with the format of each event that a trace.dat has one of, also without samples: its
 * name ("sched:sched_switch"), id (config) and format. 0, what fn returned, or as trace_decode.
 */
int trace_formats(struct src *s, int (*fn)(void *ctx, const struct ps_event *e), void *ctx,
		  struct diag *d);

#endif
