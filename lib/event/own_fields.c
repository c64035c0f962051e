/* Some fields of an event by their names. */
#include "event/own_fields.h"

#include "base/err.h"

#include <string.h>

int payload_bind(struct payload *p, const struct ps_event *e, const char *const *names)
{
	*p = (struct payload){0};
	for (int i = 0; i < PAYLOAD_FIELDS && names[i]; i++) {
		struct field *f = &p->fields[i];
		int rc = field_resolve(f, e, names[i], strlen(names[i]));

		if (rc == PP_ENOMEM)
			return rc;
		if (!rc && f->id == FIELD_PAYLOAD)
			p->has |= 1u << i;
		else if (!rc)
			field_release(f);
	}
	return 0;
}

void payload_release(struct payload *p)
{
	for (int i = 0; i < PAYLOAD_FIELDS; i++)
		if (p->has & 1u << i)
			field_release(&p->fields[i]);
	*p = (struct payload){0};
}

bool payload_number(const struct payload *p, int i, const struct sreader *r,
		    const struct ps_record *rec, uint64_t *v)
{
	struct qval q;

	if (!(p->has & 1u << i) || !field_get(&p->fields[i], r, rec, &q) || q.kind != QV_INT)
		return false;
	*v = q.num;
	return true;
}

void payload_text(const struct payload *p, int i, const struct sreader *r,
		  const struct ps_record *rec, struct qval *q)
{
	if (!(p->has & 1u << i) || !field_get(&p->fields[i], r, rec, q) || q->kind != QV_STR)
		*q = (struct qval){.kind = QV_NA};
}
