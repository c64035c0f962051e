/*
 * Keeping binaries that were hit, for a recording that is symbolized elsewhere or later
 * (--bundle).
 *
 *	rc = keep_new(&k, "app.tar.zst", &session, diag);
 *	keep_records(k, bytes, n);		(records of what exists already)
 *	keep_parts(k, parts, 2);		(each record of the ring buffers)
 *	rc = keep_round(k);			(after each round over all of them)
 *	rc = keep_close(k, rc, &missing);
 *
 * Files of mappings are open from their record on. What was hit is packed by keep_close: binaries
 * by their build-id, /proc/kallsyms, the vdso, perf maps; not debug files, which psym --bundle
 * finds.
 */
#ifndef PP_RECORD_KEEP_H
#define PP_RECORD_KEEP_H

#include "base/diag.h"

#include <stddef.h>
#include <stdint.h>
#include <sys/uio.h>

struct keep;
struct session;

/* Makes the file. The session must outlive it. What is wrong is reported to d. */
int keep_new(struct keep **k, const char *name, const struct session *s, struct diag *d);

/* Whole records in a row; and one that may lie in two parts. Lack of memory is kept for the end. */
void keep_records(struct keep *k, const void *bytes, size_t n);
void keep_parts(struct keep *k, const struct iovec *v, size_t n);

/* Looks up the addresses of the round. 0 or PP_ENOMEM. */
int keep_round(struct keep *k);

/*
 * Writes the bundle and frees k (NULL is fine); after an error of the recording the file is
 * removed. *missing: files that were hit but could not be had, which were named. 0, or an error
 * that has been reported.
 */
int keep_close(struct keep *k, int err, uint32_t *missing);

#endif
