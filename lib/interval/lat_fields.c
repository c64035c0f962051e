/* The fields of events as text, for the marks of plat --timeline: "dev=8,0 rwbs=R comm=cat". */
#include "interval/lat_fields.h"

#include "base/err.h"
#include "event/shown.h"
#include "stream/payload.h"

#include <stdlib.h>
#include <string.h>

struct one {
	struct field field;
	struct shown shown;
};

struct lat_fields {
	struct one v[LAT_FIELDS_MAX];
	unsigned n;
};

void lat_fields_free(struct lat_fields *f)
{
	if (!f)
		return;
	for (unsigned i = 0; i < f->n; i++) {
		shown_release(&f->v[i].shown);
		field_release(&f->v[i].field);
	}
	free(f);
}

static int add(struct lat_fields *f, const struct ps_event *e, const struct ps_str *name)
{
	struct one *v = &f->v[f->n];
	int rc = field_resolve(&v->field, e, name->p, name->len);

	if (rc == PP_ENOENT)
		return 0;
	if (!rc && v->field.id == FIELD_PAYLOAD && v->field.kind != QV_BYTES) {
		f->n++;
		return shown_init(&v->shown, e, &v->field);
	}
	if (!rc)
		field_release(&v->field);
	return rc;
}

int lat_fields_new(struct lat_fields **out, const struct ps_event *e)
{
	static const char common[] = "common_";
	struct lat_fields *f = calloc(1, sizeof(*f));
	struct ps_event_field field;
	size_t pos = 0;
	int rc = f ? 0 : PP_ENOMEM;

	*out = NULL;
	while (!rc && f->n < LAT_FIELDS_MAX && !ps_event_field_next(e, &pos, &field)) {
		if (field.name.len < sizeof(common) ||
		    memcmp(field.name.p, common, sizeof(common) - 1) != 0)
			rc = add(f, e, &field.name);
	}
	if (rc)
		lat_fields_free(f);
	else
		*out = f;
	return rc;
}

static void add_address(uint64_t addr, uint32_t source, const struct lat_fields_names *names,
			struct buf *b)
{
	size_t len;
	const char *name = names->symbol ? names->symbol(names->ctx, source, addr, &len) : NULL;

	if (name)
		buf_add_safe(b, name, len);
	else
		buf_addf(b, "0x%llx", (unsigned long long)addr);
}

static void add_number(const struct one *v, const struct qval *q, uint32_t source,
		       const struct lat_fields_names *names, struct buf *b)
{

	if (v->shown.kind == SHOWN_TEXT && shown_text(&v->shown, q->num, b))
		return;
	if (v->shown.kind == SHOWN_DEVICE)
		shown_device(q->num, b);
	else if (v->shown.kind == SHOWN_ADDRESS && q->num)
		add_address(q->num, source, names, b);
	else if (q->is_unsigned)
		buf_addf(b, "%llu", (unsigned long long)q->num);
	else
		buf_addf(b, "%lld", (long long)(int64_t)q->num);
}

void lat_fields_add(const struct lat_fields *f, const struct sreader *r,
		    const struct ps_record *rec, const struct lat_fields_names *names,
		    struct buf *b)
{
	size_t from = b->len;

	for (unsigned i = 0; i < f->n && b->len - from < LAT_FIELDS_BYTES; i++) {
		const struct one *v = &f->v[i];
		struct qval q;

		if (!field_get(&v->field, r, rec, &q))
			continue;
		if (b->len > from)
			buf_addc(b, ' ');
		buf_add_safe(b, v->field.name, v->field.name_len);
		buf_addc(b, '=');
		if (q.kind == QV_INT)
			add_number(v, &q, rec->source, names, b);
		else if (q.kind == QV_STR)
			buf_add_safe(b, q.s, q.len < LAT_FIELDS_TEXT ? q.len : LAT_FIELDS_TEXT);
	}
}
