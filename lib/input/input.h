/*
 * Recordings to event streams: what pdecode is.
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
 * The kind of the input is found by its magic. Damage is said to the diag, what can be read is
 *read.
 */
#ifndef PP_INPUT_INPUT_H
#define PP_INPUT_INPUT_H

#include "stream/stream.h"

/*
 * Decodes everything in s, which it frees, as the recording `source` (from 1) and adds to the
 * account: lost, missing. Returns 0; PP_ECUT or PP_ECORRUPT: done as far as possible, the result is
 * partial; other codes: nothing could be decoded, or the output failed (w->err). What happened has
 * been said to d.
 */
int input_decode(struct src *s, uint32_t source, struct swriter *w, struct diag *d,
		 struct ps_end *account);

/* The exit status for a return value of input_decode. */
int input_status(int rc);

#endif
