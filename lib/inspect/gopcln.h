/*
 * The function table of Go programs (pclntab), which is there when all symbols are stripped.
 *
 *	rc = gopcln_load(&funcs, binary);	(PP_ENOENT: there is no such table)
 *
 * Format: Go's src/internal/abi and src/debug/gosym, versions 1.2, 1.16, 1.18 and 1.20 on.
 */
#ifndef PP_INSPECT_GOPCLN_H
#define PP_INSPECT_GOPCLN_H

#include "inspect/funcs.h"

#define GOPCLN_MAX (512u << 20) /* bytes of the table; kubectl has 30 MB */

/* Adds the functions of the table to t, and keeps its bytes there. 0, or an error. */
int gopcln_load(struct funcs *t, struct binary *b);

/* The same for the bytes of a table; text is where its code begins, for versions that need it. */
int gopcln_parse(struct funcs *t, const uint8_t *bytes, size_t len, bool swap, uint64_t text);

#endif
