/*
 * Encoding and decoding of stream records by the tables of records.h, for code that treats any
 * record alike: reader and writer, the merge, JSON.
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

/* Like ps_unbounded_size; 0 when the record would exceed PS_RECORD_MAX. */
size_t ps_encoded_size(const struct ps_typedesc *t, const void *fields);
uint8_t *ps_encode(const struct ps_typedesc *t, const void *fields, uint8_t *p);

/*
 * Decodes a record body in place: swaps it to host order if c->swap. Fields that the record does
 * not have become zero. 0 or PP_ECORRUPT.
 */
int ps_decode(const struct ps_typedesc *t, struct cursor *c, void *fields);

/* Both for a SAMPLE; its size is that of the whole record. */
size_t ps_sample_size(const struct ps_sample *s);
uint8_t *ps_sample_encode(const struct ps_sample *s, uint8_t *p);
/* The same without the bytes of user_stack: what comes before them, and after them. */
uint8_t *ps_sample_before_stack(const struct ps_sample *s, uint8_t *p);
uint8_t *ps_sample_after_stack(const struct ps_sample *s, uint8_t *p);
int ps_sample_decode(struct cursor *c, struct ps_sample *s);

/* Up to the next multiple of 8; in 64 bits, so that no length of 32 bits can wrap. */
static inline uint64_t ps_pad(uint64_t n)
{
	return (n + 7) & ~UINT64_C(7);
}

/* Length, bytes, zeroes up to a multiple of 8; p is at a multiple of 8. */
static inline uint8_t *ps_put_counted(uint8_t *p, uint32_t count, const void *bytes, size_t len)
{
	uint8_t *end = p + ps_pad(4 + len);

	memset(end - 8, 0, 8);
	memcpy(p, &count, 4);
	if (len)
		memcpy(p + 4, bytes, len);
	return end;
}

/* An id and what is reserved after it. */
static inline uint8_t *ps_put_ref(uint8_t *p, uint32_t id)
{
	uint32_t words[2] = {id, 0};

	memcpy(p, words, 8);
	return p + 8;
}

/* ---- records in host byte order, as they lie in the stream ---- */

/*
 * A CHAIN or a STACK record of `size` bytes; its array stays where it is. False: it is not whole.
 */
static inline bool ps_chain_whole(const uint8_t *raw, uint32_t size, struct ps_chain *c)
{
	uint32_t head[3];

	if (size < 24)
		return false;
	memcpy(head, raw + 8, sizeof(head));
	*c = (struct ps_chain){
		head[0], head[1], {(const uint64_t *)(const void *)(raw + 24), head[2]}};
	return head[2] <= (size - 24) / 8;
}

static inline bool ps_stack_whole(const uint8_t *raw, uint32_t size, struct ps_stack *s)
{
	uint32_t head[3];

	if (size < 24)
		return false;
	memcpy(head, raw + 8, sizeof(head));
	*s = (struct ps_stack){
		head[0], head[1], {(const uint32_t *)(const void *)(raw + 20), head[2]}};
	return head[2] <= (size - 20) / 4;
}

/* ---- what all samples have ---- */

/* What is fixed of a sample lies in a record as it lies in the struct. */
#define SAMPLE_FIXED (PS_SAMPLE_FIXED - 8)
_Static_assert(offsetof(struct ps_sample, cpu) == 4 && offsetof(struct ps_sample, time) == 8 &&
		       offsetof(struct ps_sample, pid) == 16 &&
		       offsetof(struct ps_sample, tid) == 20 &&
		       offsetof(struct ps_sample, comm) == 24 &&
		       offsetof(struct ps_sample, flags) == 28 &&
		       offsetof(struct ps_sample, fields) == SAMPLE_FIXED - 8,
	       "the struct has another order than the record");

/*
 * The fields that samples usually have come first in a record. They are written and read one
 * after the other, each asked for by name; those that may follow, the far ones, take a step each.
 */
#define NEAR_FIELDS(F) \
	F(u64, ip) \
	F(u64, period) \
	F(ref, chain) \
	F(ref, stack) \
	F(str, payload) \
	F(u64, addr) \
	F(u64, id)
#define F(kind, name) | PS_HAS(name)
enum { PS_SAMPLE_NEAR = 0 NEAR_FIELDS(F) };
#undef F
#define NEAR_SIZE (offsetof(struct ps_sample, stream_id) - offsetof(struct ps_sample, ip))
_Static_assert(PS_SAMPLE_NEAR == 127 && NEAR_SIZE == 40 + sizeof(struct ps_str),
	       "they do not come first");

#define SIZE_u64(x) 8
#define SIZE_ref(x) 8
#define SIZE_str(x) ps_pad(4 + (uint64_t)(x).len)

/* Sets the far fields to 0. */
void ps_sample_clear_far(struct ps_sample *s);

/*
 * These take the fields apart from the sample, so that they can be compiled for a set of them.
 * PS_SAMPLE_EVENT is that of an event of trace.dat: what a tracepoint wrote, and nothing else.
 */
#define PS_SAMPLE_EVENT PS_HAS(payload)

/* The near fields of a sample in host order; what is not in `fields` becomes 0. */
static inline const uint8_t *ps_sample_take(const uint8_t *p, const uint8_t *end, uint64_t fields,
					    struct ps_sample *s)
{
	memset(&s->ip, 0, NEAR_SIZE);
#define TAKE_u64(x) memcpy(&(x), p, sizeof(x))
#define TAKE_ref(x) memcpy(&(x), p, sizeof(x))
#define TAKE_str(x) memcpy(&(x).len, p, 4), (x).p = (const char *)p + 4
#define F(kind, name) \
	if (fields & PS_HAS(name)) { \
		if (end - p < 8) \
			return NULL; \
		TAKE_##kind(s->name); \
		if ((uint64_t)(end - p) < SIZE_##kind(s->name)) \
			return NULL; \
		p += SIZE_##kind(s->name); \
	}
	NEAR_FIELDS(F)
#undef F
	return p;
}

/*
 * Reads the fixed part and the near fields of a sample in host order; those that it does not have
 * become 0.
 * Where the far fields begin, NULL if it is cut off. The far fields of s stay as they are.
 */
static inline const uint8_t *ps_sample_near(const uint8_t *p, const uint8_t *end,
					    struct ps_sample *s)
{
	if (end - p < SAMPLE_FIXED)
		return NULL;
	memcpy(s, p, SAMPLE_FIXED);
	p += SAMPLE_FIXED;
	if (s->fields == PS_SAMPLE_EVENT)
		return ps_sample_take(p, end, PS_SAMPLE_EVENT, s);
	return ps_sample_take(p, end, s->fields, s);
}

/* Bytes of the whole record of a sample, its near fields only. */
static inline size_t ps_sample_near_size(const struct ps_sample *s, uint64_t fields)
{
	size_t n = PS_SAMPLE_FIXED;

#define F(kind, name) n += fields & PS_HAS(name) ? SIZE_##kind(s->name) : 0;
	NEAR_FIELDS(F)
#undef F
	return n;
}

/* Writes the fixed part and the near fields. Where the far fields belong. */
static inline uint8_t *ps_sample_put_near(const struct ps_sample *s, uint64_t fields, uint8_t *p)
{
	memcpy(p, s, SAMPLE_FIXED);
	p += SAMPLE_FIXED;
#define PUT_u64(x) memcpy(p, &(x), 8)
#define PUT_ref(x) ps_put_ref(p, x)
#define PUT_str(x) ps_put_counted(p, (x).len, (x).p, (x).len)
#define F(kind, name) \
	if (fields & PS_HAS(name)) { \
		PUT_##kind(s->name); \
		p += SIZE_##kind(s->name); \
	}
	NEAR_FIELDS(F)
#undef F
	return p;
}

#endif
