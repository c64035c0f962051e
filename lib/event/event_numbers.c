/* Numbers for events of one name. */
#include "event/event_numbers.h"

#include "base/array.h"
#include "base/err.h"

#include <stdlib.h>

int event_numbers_define(struct event_numbers *t, uint32_t source, const struct ps_event *e,
			 bool *fresh)
{
	struct event_number *v = array_widen(t->v, &t->n, e->id, 64, sizeof(*v));
	uint32_t *counts, name;
	int rc;

	if (!v)
		return PP_ENOMEM;
	t->v = v;
	buf_reset(&t->text);
	buf_add(&t->text, &source, sizeof(source));
	buf_add(&t->text, e->buffer.p, e->buffer.len);
	buf_addc(&t->text, 0);
	buf_add(&t->text, e->name.p, e->name.len);
	rc = t->text.err ? t->text.err
			 : intern_add(&t->names, t->text.data, t->text.len, &name, NULL);
	if (rc)
		return rc;
	counts = array_widen(t->counts, &t->ncounts, name, 64, sizeof(*counts));
	if (!counts)
		return PP_ENOMEM;
	t->counts = counts;
	if (fresh)
		*fresh = v[e->id].name != name;
	if (v[e->id].name != name)
		v[e->id] = (struct event_number){name, ++counts[name]};
	t->any |= counts[name] > 1;
	return 0;
}

void event_numbers_forget(struct event_numbers *t)
{
	intern_release(&t->names);
	t->names = (struct intern)INTERN_INIT;
	if (t->n)
		memset(t->v, 0, t->n * sizeof(*t->v));
	if (t->ncounts)
		memset(t->counts, 0, t->ncounts * sizeof(*t->counts));
}

void event_numbers_release(struct event_numbers *t)
{
	intern_release(&t->names);
	free(t->v);
	free(t->counts);
	buf_release(&t->text);
}
