/* The decoder of ftrace text (decode.h). The stacks and payloads that come out are whole. */
#include "decode.h"
#include "ftext/parts.h"

#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

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

static void check_sample(const struct sreader *r, const struct ps_sample *s)
{
	if (ps_sample_has(s, stack))
		check_stack(r, s->stack);
	check_fields(sreader_event(r, s->event), &s->payload);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	bool more;

	if (ftext_looks_like(data, size < FTEXT_PEEK ? size : FTEXT_PEEK, &more))
		decode_and_check(data, size, SREADER_EVENTS | SREADER_SYMBOLS, check_sample);
	return 0;
}
