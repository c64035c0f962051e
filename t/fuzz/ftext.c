/*
 * The decoder of ftrace text. What comes out must be a stream that our own reader takes without a
 * complaint, whose stacks, names and payloads are whole, with the account that the decoder gave.
 */
#include "base/err.h"
#include "base/out.h"
#include "base/src.h"
#include "input/ftext.h"
#include "input/input.h"
#include "stream/stream.h"

#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

struct check {
	struct sreader *back;
	uint64_t samples;
};

static void check_stack(const struct sreader *r, uint32_t id)
{
	const struct ps_stack *st = sreader_stack(r, id);

	for (uint32_t i = 0; st && i < st->frames.n; i++)
		if (!sreader_frame(r, st->frames.v[i]))
			abort();
	if (!st)
		abort();
}

/* Every field of the table is in the payload. */
static void check_fields(const struct ps_event *e, const struct ps_str *payload)
{
	struct ps_event_field f;
	size_t pos = 0;
	uint32_t word;

	while (!ps_event_field_next(e, &pos, &f)) {
		if (f.offset + f.size > payload->len)
			abort();
		if (!(f.flags & PS_FIELD_DYNAMIC))
			continue;
		memcpy(&word, payload->p + f.offset, 4);
		if ((word & UINT16_MAX) + (word >> 16) > payload->len)
			abort();
	}
}

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
		if (ps_sample_has(&rec.sample, stack))
			check_stack(c->back, rec.sample.stack);
		check_fields(sreader_event(c->back, rec.sample.event), &rec.sample.payload);
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
	bool more;

	if (!ftext_looks_like(data, size < FTEXT_PEEK ? size : FTEXT_PEEK, &more))
		return 0;
	if (sreader_new_fed(&c.back, "(output)", SREADER_EVENTS | SREADER_SYMBOLS, NULL))
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
