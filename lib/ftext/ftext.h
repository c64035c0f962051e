/*
 * Decoding of ftrace text: what `cat trace`, `cat trace_pipe` and `trace-cmd report` print.
 *
 *	if (ftext_looks_like(bytes, n, &more))
 *		rc = ftext_decode(src, 1, &writer, diag, &account);
 *
 * The header of the stream and its END are the caller's.
 */
#ifndef PP_FTEXT_FTEXT_H
#define PP_FTEXT_FTEXT_H

#include "base/diag.h"
#include "base/src.h"
#include "stream/stream.h"

#define FTEXT_PEEK 4096 /* bytes by which text is recognized */

/*
 * Whether bytes are the beginning of such a text. Sets `more` if they are too few to decide and
 * the input continues.
 */
bool ftext_looks_like(const uint8_t *p, size_t n, bool *more);

/*
 * Decodes all of s, which stays the caller's, as the recording `source` (from 1), and adds to the
 * account. Returns 0; PP_ECUT or PP_ECORRUPT: the result is partial; other codes: nothing could be
 * decoded, or the output failed (w->err). Problems have been reported to d.
 */
int ftext_decode(struct src *s, uint32_t source, struct swriter *w, struct diag *d,
		 struct ps_end *account);

#endif
