/*
 * Encoding and decoding of stream records by the tables of records.h. Private to lib/stream.
 */
#ifndef PP_STREAM_CODEC_H
#define PP_STREAM_CODEC_H

#include "base/cursor.h"
#include "stream/stream.h"

enum ps_kind { PS_KIND_u32, PS_KIND_u64, PS_KIND_str, PS_KIND_u32s, PS_KIND_u64s };

struct ps_fielddesc {
	const char *name;
	uint16_t offset; /* in the C struct */
	uint16_t kind;	 /* enum ps_kind */
};

struct ps_typedesc {
	const char *name;
	const struct ps_fielddesc *fields;
	unsigned nfields;
	unsigned size; /* of the C struct */
	bool context;  /* begins with struct ps_context */
};

/* NULL for a type that is not known. Of SAMPLE only the name is here. */
const struct ps_typedesc *ps_typedesc(uint32_t type);
extern const struct ps_typedesc ps_event_field_desc;

/* Bytes that the fields take on the wire (without the record header), a multiple of 8. */
size_t ps_unbounded_size(const struct ps_typedesc *t, const void *fields);

/* The same; 0 when the record would exceed PS_RECORD_MAX. */
size_t ps_encoded_size(const struct ps_typedesc *t, const void *fields);
uint8_t *ps_encode(const struct ps_typedesc *t, const void *fields, uint8_t *p);

/*
 * Decodes a record body in place: swaps it to host order if c->swap. Fields that the record lacks
 * become zero. 0 or PP_ECORRUPT.
 */
int ps_decode(const struct ps_typedesc *t, struct cursor *c, void *fields);

/* The same for a SAMPLE; its size is that of the whole record. */
size_t ps_sample_size(const struct ps_sample *s);
uint8_t *ps_sample_encode(const struct ps_sample *s, uint8_t *p);
int ps_sample_decode(struct cursor *c, struct ps_sample *s);

static inline size_t ps_pad(size_t n)
{
	return (n + 7) & ~(size_t)7;
}

#endif
