/*
 * Compressed input: gzip (RFC 1952) and zstd (RFC 8878), several members or frames in a row included.
 *
 *	rc = unpack_gzip(&s, packed, d);	(s reads what packed holds; it cannot seek)
 */
#ifndef PP_INPUT_UNPACK_H
#define PP_INPUT_UNPACK_H

#include "base/src.h"

/*
 * A source over a packed one, which it takes over (also when this fails). Damage of the packed bytes
 * is said to d and ends the source early, as a cut off input does. 0 or PP_ENOMEM.
 */
int unpack_gzip(struct src **s, struct src *packed, struct diag *d);
int unpack_zstd(struct src **s, struct src *packed, struct diag *d);

#endif
