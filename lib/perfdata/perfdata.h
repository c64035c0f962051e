/*
 * Decoding of perf.data: files, pipes and directories that perf record or pcap-perf wrote.
 *
 *	struct ps_end account = {0};
 *	rc = perf_decode(src, 1, &writer, diag, &account, false);
 *
 * The caller has decompressed the input and found its kind by its magic (input/input.h); the
 * header of the stream and its END are also the caller's.
 */
#ifndef PP_PERFDATA_PERFDATA_H
#define PP_PERFDATA_PERFDATA_H

#include "base/diag.h"
#include "base/out.h"
#include "base/src.h"
#include "stream/stream.h"

/*
 * Decodes all of s, which stays the caller's, as the recording `source` (from 1) and adds to the
 * account: lost, missing. With `stats`, the numbers of its records by type are reported to d.
 * Returns 0; PP_ECUT or PP_ECORRUPT: done as far as possible, the result is partial; other codes:
 * nothing could be decoded, or the output failed (w->err). Problems have been reported to d.
 */
int perf_decode(struct src *s, uint32_t source, struct swriter *w, struct diag *d,
		struct ps_end *account, bool stats);

enum perf_describe {
	PERF_DESCRIBE_HEADER, /* facts about the recording and its machine */
	PERF_DESCRIBE_DUMP,   /* every raw record, with its bytes */
};

/* Prints that as text. Returns what perf_decode does, or an error of the output (o->err). */
int perf_describe(struct src *s, enum perf_describe what, struct out *o, struct diag *d);

#endif
