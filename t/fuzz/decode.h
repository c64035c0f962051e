/*
 * What the fuzz entries of decoders share: the recording is decoded, and the stream that comes
 * out is read back at once. It must be one that our own reader takes without a complaint, with
 * the account that the decoder gave.
 *
 *	decode_and_check(data, size, SREADER_EVENTS | SREADER_CHAINS, check_sample);
 */
#ifndef PP_FUZZ_DECODE_H
#define PP_FUZZ_DECODE_H

#include "base/err.h"
#include "base/out.h"
#include "base/src.h"
#include "input/input.h"
#include "stream/stream.h"

#include <stdlib.h>

struct check {
	struct sreader *back;
	uint64_t samples;
	void (*sample)(const struct sreader *r, const struct ps_sample *s);
};

/* Every buffer of the output is read back. */
static int read_back(void *ctx, uint8_t *bytes, size_t n)
{
	struct check *c = ctx;
	const struct ps_record *rec;
	int rc;

	sreader_feed(c->back, bytes, n);
	while (!(rc = sreader_next(c->back, &rec))) {
		if (rec->type != PS_SAMPLE)
			continue;
		c->samples++;
		if (!sreader_event(c->back, rec->sample.event))
			abort();
		if (rec->sample.comm && !sreader_string(c->back, rec->sample.comm, NULL))
			abort();
		c->sample(c->back, &rec->sample);
	}
	if (rc != PP_END)
		abort();
	return 0;
}

/* `sample` aborts if a sample is not whole. */
static void decode_and_check(const uint8_t *data, size_t size, unsigned keep,
			     void (*sample)(const struct sreader *r, const struct ps_sample *s))
{
	struct check c = {.sample = sample};
	struct ps_end end = {0};
	struct swriter w;
	struct src *s;
	struct out out;

	if (sreader_new_fed(&c.back, "(output)", keep, NULL) ||
	    src_from_mem(&s, data, size, "fuzz") || out_init_fn(&out, read_back, &c))
		abort();
	swriter_init(&w, &out);
	swriter_header(&w);
	end.status = (uint32_t)input_status(input_decode(s, 1, &w, NULL, &end));
	if (w.err || swriter_end(&w, &end) || out_flush(&out) || c.samples != end.samples)
		abort();
	out_release(&out);
	sreader_free(c.back);
}

#endif
