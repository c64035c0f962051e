/*
 * The plain bytes of an input: decompressed, however often it was compressed, and without the byte
 * order mark that editors write before text.
 *
 *	rc = plain_open(&s, "a.folded.gz", d);	("-" is stdin)
 *
 * Offsets in a compressed input are those of its content.
 */
#ifndef PP_BASE_PLAIN_H
#define PP_BASE_PLAIN_H

#include "base/src.h"

/*
 * Opens a file as src_open does. 0, or an error that was reported to d: that of src_open, of
 * reading, PP_EUNSUPPORTED for text in UTF-16 or UTF-32, and for input that is compressed too
 * often.
 */
int plain_open(struct src **s, const char *name, struct diag *d);

/* The same for a source, which is replaced and stays the caller's to free (NULL: no memory). */
int plain_src(struct src **s, struct diag *d);

#endif
