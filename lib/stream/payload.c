/* The fields of tracepoints' payloads, and their byte order. */
#include "stream/payload.h"

#include "base/cursor.h"
#include "base/err.h"

static void swap_at(uint8_t *p, size_t size)
{
	for (size_t i = 0; i < size / 2; i++) {
		uint8_t b = p[i];

		p[i] = p[size - 1 - i];
		p[size - 1 - i] = b;
	}
}

/*
 * Swaps the elements of a range. No byte belongs to two fields, so that `budget`, the payload's
 * length for the fields and again for what they point to, is enough for every true table.
 */
static void swap_range(uint8_t *payload, size_t len, uint64_t offset, uint64_t size,
		       uint32_t element, uint64_t *budget)
{
	if (element != 2 && element != 4 && element != 8)
		return;
	if (offset > len || size > len - offset || size > *budget)
		return;
	*budget -= size;
	for (uint64_t i = 0; i + element <= size; i += element)
		swap_at(payload + offset + i, element);
}

/* What a location word tells of, which is in host order; the word lies in the payload. */
static void swap_pointed(uint8_t *payload, size_t len, const struct ps_event_field *f,
			 uint64_t *budget)
{
	uint64_t end = (uint64_t)f->offset + 4, offset;
	uint32_t word;

	if (end > len)
		return;
	memcpy(&word, payload + f->offset, 4);
	offset = (word & 0xffff) + (f->flags & PS_FIELD_RELATIVE ? end : 0);
	swap_range(payload, len, offset, word >> 16, f->element, budget);
}

static void swap_dynamic(uint8_t *payload, size_t len, const struct ps_event_field *f,
			 uint64_t *budget)
{
	if (*budget < 4)
		return;
	swap_range(payload, len, f->offset, 4, 4, budget);
	if (!(f->flags & PS_FIELD_STRING))
		swap_pointed(payload, len, f, budget);
}

void ps_payload_swap(const struct ps_str *fields, uint8_t *payload, size_t len)
{
	const struct ps_event table = {.fields = *fields};
	uint64_t budget = 2 * (uint64_t)len;
	struct ps_event_field f;
	size_t pos = 0;

	for (int i = 0; i < PS_EVENT_FIELDS_MAX && !ps_event_field_next(&table, &pos, &f); i++) {
		if (f.flags & PS_FIELD_DYNAMIC)
			swap_dynamic(payload, len, &f, &budget);
		else if (!(f.flags & PS_FIELD_STRING))
			swap_range(payload, len, f.offset, f.size, f.element, &budget);
	}
}

void ps_payload_swap_arrays(const struct ps_str *fields, uint8_t *payload, size_t len)
{
	const struct ps_event table = {.fields = *fields};
	uint64_t budget = len;
	struct ps_event_field f;
	size_t pos = 0;

	for (int i = 0; i < PS_EVENT_FIELDS_MAX && !ps_event_field_next(&table, &pos, &f); i++) {
		if (f.flags & PS_FIELD_STRING || !(f.flags & PS_FIELD_ARRAY))
			continue;
		if (f.flags & PS_FIELD_DYNAMIC)
			swap_pointed(payload, len, &f, &budget);
		else
			swap_range(payload, len, f.offset, f.size, f.element, &budget);
	}
}

/* A text of an entry: its length is swapped, and skipped with the bytes. */
static void swap_text(struct cursor *c)
{
	uint8_t *at = (uint8_t *)c->p;
	uint64_t n = get_u32(c);

	if (c->bad)
		return;
	swap_at(at, 4);
	cursor_skip(c, ((4 + n + 7) & ~UINT64_C(7)) - 4);
}

int ps_fields_swap(uint8_t *table, size_t len)
{
	struct cursor c = cursor_make(table, len, true);

	while (cursor_left(&c)) {
		uint8_t *at = (uint8_t *)get_bytes(&c, 16);

		if (!at)
			return PP_ECORRUPT;
		for (int i = 0; i < 4; i++)
			swap_at(at + 4 * (size_t)i, 4);
		swap_text(&c);
		swap_text(&c);
		if (c.bad)
			return PP_ECORRUPT;
	}
	return 0;
}
