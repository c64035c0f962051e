/*
 * Slices of threads, which nest, as stacks that weigh how long each was the innermost.
 *
 *	rc = slices_new(&s);
 *	rc = slices_add(s, 'X', thread, frame, start, duration);
 *	rc = slices_add(s, 'B', thread, frame, start, 0), ... 'E' ends the last 'B' of the thread
 *	rc = slices_give(s, conv, &strange);
 *	slices_free(s);
 *
 * Times are in microseconds.
 */
#ifndef PP_CONV_SLICES_H
#define PP_CONV_SLICES_H

#include "conv/parts.h"

struct slices;

int slices_new(struct slices **s);
void slices_free(struct slices *s); /* NULL is fine */

/* 0, PP_ENOMEM, PP_ELIMIT. */
int slices_add(struct slices *s, char ph, uint32_t thread, uint32_t frame, double ts, double dur);

/* Gives all as samples. A slice that ends after the one that it is in is cut there, and counted. */
int slices_give(struct slices *s, struct conv *c, bool *strange);

#endif
