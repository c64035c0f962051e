/*
 * The payload of a tracepoint in JSON: its fields by their names, with the values that they have.
 */
#include "print/json_records.h"
#include "stream/payload.h"

/* The bytes of a field: where they lie, or, of a dynamic one, where it says. False: outside. */
static bool field_bytes(const struct ps_str *payload, const struct ps_event_field *f,
			struct ps_str *bytes)
{
	uint64_t at = f->offset, len = f->size, end = at + len;
	uint32_t word;

	if (end > payload->len)
		return false;
	if (f->flags & PS_FIELD_DYNAMIC) {
		if (len != sizeof(word))
			return false;
		memcpy(&word, payload->p + at, sizeof(word));
		at = (word & 0xffff) + (f->flags & PS_FIELD_RELATIVE ? end : 0);
		len = word >> 16;
		if (at + len > payload->len)
			return false;
	}
	*bytes = ps_str(payload->p + at, len);
	return true;
}

static void add_number(struct buf *b, const char *p, uint32_t size, uint32_t flags)
{
	uint64_t v = ps_payload_number(p, size);
	unsigned unused = 64 - 8 * size;

	if (flags & PS_FIELD_POINTER) {
		buf_adds(b, "\"0x");
		buf_add_hex(b, v, 0, ' ');
		buf_addc(b, '"');
	} else if ((flags & PS_FIELD_SIGNED) && (int64_t)(v << unused) < 0) {
		buf_addc(b, '-');
		buf_add_u64(b, -(uint64_t)((int64_t)(v << unused) >> unused), 0, ' ');
	} else {
		buf_add_u64(b, v, 0, ' ');
	}
}

static void add_hex(struct buf *b, const struct ps_str *s)
{
	buf_addc(b, '"');
	for (uint32_t i = 0; i < s->len; i++)
		buf_add_hex(b, (uint8_t)s->p[i], 2, '0');
	buf_addc(b, '"');
}

static void add_value(struct buf *b, const struct ps_str *s, const struct ps_event_field *f)
{
	bool array = f->flags & (PS_FIELD_ARRAY | PS_FIELD_DYNAMIC);
	uint32_t size = array ? f->element : f->size;

	if (f->flags & PS_FIELD_STRING) {
		buf_add_json(b, s->p, strnlen(s->p, s->len));
	} else if (size != 1 && size != 2 && size != 4 && size != 8) {
		add_hex(b, s);
	} else if (!array) {
		add_number(b, s->p, size, f->flags);
	} else {
		buf_addc(b, '[');
		for (uint32_t i = 0; i + size <= s->len; i += size) {
			if (i)
				buf_addc(b, ',');
			add_number(b, s->p + i, size, f->flags);
		}
		buf_addc(b, ']');
	}
}

int ps_json_payload(struct buf *b, struct out *o, const struct ps_event *e,
		    const struct ps_str *payload)
{
	/* No byte belongs to two fields: more than this is a table that wants to fill the disk. */
	uint64_t budget = 2 * (uint64_t)payload->len;
	struct ps_event_field f;
	struct ps_str bytes;
	size_t pos = 0;
	int rc = 0;

	buf_adds(b, ",\"fields\":{");
	for (int i = 0; !rc && i < PS_EVENT_FIELDS_MAX && !ps_event_field_next(e, &pos, &f); i++) {
		if (i)
			buf_addc(b, ',');
		buf_add_json(b, f.name.p, f.name.len);
		buf_addc(b, ':');
		if (field_bytes(payload, &f, &bytes) && bytes.len <= budget) {
			budget -= bytes.len;
			add_value(b, &bytes, &f);
		} else {
			buf_adds(b, "null");
		}
		rc = ps_text_spill(b, o);
	}
	buf_addc(b, '}');
	return rc;
}
