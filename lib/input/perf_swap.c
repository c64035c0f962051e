/*
 * Payloads of tracepoints that were recorded on a machine of the other byte order. What their
 * fields are is said by the tracepoint's format; the bytes are turned once, here, so that all that
 * follows in the pipe reads host order.
 */
#include "input/perf.h"

#include "base/err.h"

#include <stdlib.h>

#define SWAP_FIELDS_MAX 4096 /* fields of an event that are turned around; real ones have < 100 */

/* Bytes of a C type by its name, without blanks at the end; 1 if it is not known. */
static uint32_t type_size(const char *s, size_t len, uint32_t long_size)
{
	static const struct {
		const char *name;
		uint32_t size; /* 0: a long */
	} types[] = {
		{"16", 2},
		{"short", 2},
		{"32", 4},
		{"int", 4},
		{"unsigned", 4},
		{"64", 8},
		{"long long", 8},
		{"unsigned long", 0},
		{"long", 0},
		{"unsigned short", 2},
		{"short int", 2},
		{"long int", 0},
		{"long long int", 8},
	};
	uint32_t best = 1;
	size_t best_len = 0;

	/* "__u32", "u32", "s32" and "uint32_t" all hold their number: a type ends in it, or "_t". */
	if (len > 2 && !memcmp(s + len - 2, "_t", 2))
		len -= 2;
	for (size_t i = 0; i < sizeof(types) / sizeof(types[0]); i++) {
		size_t n = strlen(types[i].name);

		if (n > best_len && len >= n && !memcmp(s + len - n, types[i].name, n)) {
			best = types[i].size ? types[i].size : long_size;
			best_len = n;
		}
	}
	return best;
}

/* The type of the elements of "__data_loc u32[]": what stands before the bracket. */
static uint32_t dynamic_size(struct ps_str type, uint32_t long_size)
{
	size_t len = type.len;

	while (len && (type.p[len - 1] == ']' || type.p[len - 1] == '[' || type.p[len - 1] == ' '))
		len--;
	return type_size(type.p, len, long_size);
}

int perf_swap_fields(struct perf_attr *a, const struct ps_event *e, uint32_t long_size)
{
	struct ps_event_field f;
	size_t pos = 0;

	free(a->fields);
	a->nfields = 0;
	a->fields = calloc(SWAP_FIELDS_MAX, sizeof(*a->fields));
	if (!a->fields)
		return PP_ENOMEM;
	while (a->nfields < SWAP_FIELDS_MAX && !ps_event_field_next(e, &pos, &f)) {
		struct perf_field s = {.offset = f.offset, .size = f.size, .element = f.element};

		if (f.flags & PS_FIELD_DYNAMIC) {
			s.element = f.size;
			s.dynamic = dynamic_size(f.type, long_size);
			s.relative = (f.flags & PS_FIELD_RELATIVE) != 0;
		} else if (f.flags & PS_FIELD_ARRAY) {
			uint32_t n = type_size(f.type.p, f.type.len, long_size);

			s.element = f.flags & PS_FIELD_STRING ? 1 : n > 1 ? n : f.element;
		}
		if (s.element == 2 || s.element == 4 || s.element == 8)
			a->fields[a->nfields++] = s;
	}
	return 0;
}

/* Reverses each `element` of the bytes from offset to offset + size, as far as they are there. */
static void reverse(uint8_t *payload, size_t len, uint64_t offset, uint64_t size, uint32_t element)
{
	for (uint64_t at = offset; at + element <= len && at + element <= offset + size;
	     at += element) {
		for (uint32_t i = 0; i < element / 2; i++) {
			uint8_t b = payload[at + i];

			payload[at + i] = payload[at + element - 1 - i];
			payload[at + element - 1 - i] = b;
		}
	}
}

void perf_swap_payload(const struct perf_attr *a, uint8_t *payload, size_t len)
{
	for (const struct perf_field *f = a->fields; f < a->fields + a->nfields; f++) {
		uint32_t where;

		reverse(payload, len, f->offset, f->size, f->element);
		if (f->dynamic < 2 || f->size != 4 || len < 4 || f->offset > len - 4)
			continue;
		/* The location word: length in the upper half, offset in the lower. */
		memcpy(&where, payload + f->offset, 4);
		reverse(payload, len,
			(where & 0xffff) + (f->relative ? (uint64_t)f->offset + f->size : 0),
			where >> 16, f->dynamic);
	}
}
