/*
 * A stream as text, printed by several threads.
 *
 *	struct printers *p;
 *	printers_new(&p, &out, &opts, threads, diag);
 *	rc = printers_take(p, bytes, n);	(whole records)
 *	rc = printers_wait(p);			(all of it is in `out`)
 *	rc = printers_free(p);
 *
 * Each printer reads the whole stream, and so knows what is defined; a block of records is printed
 * by the first that comes to it, and the texts are written in the order of the blocks. Text whose
 * lines depend on those before, such as of a trace.dat, is printed by one thread, besides the one
 * that makes the stream. Threads begin after PRINTERS_BEGIN bytes: until then, printers_take
 * prints. The text does not depend on how many there are.
 */
#ifndef PP_FILTER_PRINTERS_H
#define PP_FILTER_PRINTERS_H

#include "print/text.h"

#define PRINTERS_BEGIN (1u << 20)
#define PRINTERS_MAX   64

struct printers;

/*
 * Prints to `out`, which is not to be touched between printers_take and printers_wait. threads:
 * that print, at most; 0: one for each CPU, four at most; 1: the calling one.
 */
int printers_new(struct printers **p, struct out *out, const struct stext_opts *opts,
		 unsigned threads, struct diag *d);

/* Takes whole records. 0, or what a printer failed with: PP_ENOMEM or an error of the output. */
int printers_take(struct printers *p, uint8_t *bytes, size_t n);

/* Waits until all that was taken is in the output. 0, or as above. */
int printers_wait(struct printers *p);

/* Waits and frees; NULL is fine. */
int printers_free(struct printers *p);

#endif
