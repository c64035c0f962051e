/* The field tables of events: walked through, searched, and made. */
#include "stream/codec.h"

#include "base/err.h"

int ps_event_field_next(const struct ps_event *e, size_t *pos, struct ps_event_field *f)
{
	struct cursor c;
	int rc;

	if (*pos >= e->fields.len)
		return PP_END;
	c = cursor_make(e->fields.p + *pos, e->fields.len - *pos, false);
	rc = ps_decode(&ps_event_field_desc, &c, f);
	*pos = (size_t)(c.p - (const uint8_t *)e->fields.p);
	return !rc && (!f->name.p || !f->type.p) ? PP_ECORRUPT : rc;
}

bool ps_event_field_find(const struct ps_event *e, const char *name, size_t len,
			 struct ps_event_field *f)
{
	size_t pos = 0;

	while (!ps_event_field_next(e, &pos, f))
		if (f->name.len == len && !memcmp(f->name.p, name, len))
			return true;
	return false;
}

void ps_event_field_add(struct buf *table, const struct ps_event_field *f)
{
	size_t size = ps_encoded_size(&ps_event_field_desc, f);

	if (buf_reserve(table, size))
		return;
	ps_encode(&ps_event_field_desc, f, table->data + table->len);
	table->len += size;
}
