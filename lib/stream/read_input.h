/*
 * An input of a filter, from its first record to its last.
 *
 *	const struct input_reader in = {FIELD_KEEP, on_record, x, diag, &x->lost};
 *
 *	status = input_read_file(&in, name);	(an exit status)
 */
#ifndef PP_STREAM_READ_INPUT_H
#define PP_STREAM_READ_INPUT_H

#include "base/src.h"
#include "stream/stream.h"

struct input_reader {
	unsigned keep; /* of sreader_new */
	/* Takes a record. 0, PP_ENOMEM or PP_ELIMIT, which is reported, or an error that was. */
	int (*record)(void *ctx, const struct sreader *r, const struct ps_record *rec);
	void *ctx;
	struct diag *d;
	uint64_t *lost;	     /* lost events are added to it */
	src_pause_fn *pause; /* and its context; or NULL */
	void *pause_ctx;
};

/* Reads all of a source, which is freed, or of a file. Returns the exit status. */
int input_read(const struct input_reader *in, struct src *s);
int input_read_file(const struct input_reader *in, const char *name);

#endif
