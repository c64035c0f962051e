/*
 * The decoder of trace.dat. The input is a recording; what comes out must be a stream that our own
 * reader takes without a complaint, with the account that the decoder gave.
 */
#include "base/err.h"
#include "base/out.h"
#include "base/src.h"
#include "input/input.h"
#include "stream/stream.h"

#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

struct check {
	struct sreader *back;
	uint64_t samples;
};

/* Every buffer of the output is read back. */
static int read_back(void *ctx, uint8_t *bytes, size_t n)
{
	struct check *c = ctx;
	struct ps_record rec;
	int rc;

	sreader_feed(c->back, bytes, n);
	while (!(rc = sreader_next(c->back, &rec))) {
		if (rec.type != PS_SAMPLE)
			continue;
		c->samples++;
		if (!sreader_event(c->back, rec.sample.event))
			abort();
		if (ps_sample_has(&rec.sample, chain) && !sreader_chain(c->back, rec.sample.chain))
			abort();
		if (rec.sample.comm && !sreader_string(c->back, rec.sample.comm, NULL))
			abort();
	}
	if (rc != PP_END)
		abort();
	return 0;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct ps_end end = {0};
	struct check c = {0};
	struct swriter w;
	struct src *s;
	struct out out;

	if (size < 10 || memcmp(data, "\x17\x08\x44tracing", 10) != 0)
		return 0;
	if (sreader_new_fed(&c.back, "(output)", SREADER_EVENTS | SREADER_CHAINS, NULL))
		return 0;
	if (src_from_mem(&s, data, size, "fuzz") || out_init_fn(&out, read_back, &c))
		abort();
	swriter_init(&w, &out);
	swriter_header(&w);
	end.status = (uint32_t)input_status(input_decode(s, 1, &w, NULL, &end));
	if (w.err || swriter_end(&w, &end) || out_flush(&out) || c.samples != end.samples)
		abort();
	out_release(&out);
	sreader_free(c.back);
	return 0;
}
