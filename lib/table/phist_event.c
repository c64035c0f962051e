/*
 * Events of one name in one recording, such as "-e cpu-clock -G web -e cpu-clock -G db" makes: a
 * key "event" tells them apart by a number.
 */
#include "table/phist_parts.h"

#include "base/array.h"
#include "base/err.h"

#include <stdlib.h>

/* What is known of a descriptor. */
struct phist_event {
	uint32_t name;	 /* of recording, buffer and event in names; 0: not seen */
	uint32_t number; /* among those of that name, from 1 */
};

void phist_events_release(struct phist_events *t)
{
	intern_release(&t->names);
	free(t->v);
	free(t->counts);
	buf_release(&t->text);
}

static void forget(struct phist_events *t)
{
	intern_release(&t->names);
	t->names = (struct intern)INTERN_INIT;
	if (t->n)
		memset(t->v, 0, t->n * sizeof(*t->v));
	if (t->ncounts)
		memset(t->counts, 0, t->ncounts * sizeof(*t->counts));
}

static int add(struct phist_events *t, uint32_t source, const struct ps_event *e)
{
	struct phist_event *v = array_widen(t->v, &t->n, e->id, 64, sizeof(*v));
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
	/* A descriptor that is defined once more is the same event. */
	if (v[e->id].name != name)
		v[e->id] = (struct phist_event){name, ++counts[name]};
	t->any |= counts[name] > 1;
	return 0;
}

int phist_events_see(struct phist_events *t, const struct ps_record *rec)
{
	if (rec->type == PS_HEADER)
		forget(t);
	return rec->type == PS_EVENT ? add(t, rec->source, &rec->event) : 0;
}

int phist_events_key(struct phist_events *t, const struct sreader *r, uint32_t event,
		     struct qval *v)
{
	const struct ps_event *e = sreader_event(r, event);

	if (!e || v->s != e->name.p || event >= t->n || t->v[event].number < 2)
		return 0;
	buf_reset(&t->text);
	buf_add(&t->text, v->s, v->len);
	buf_addf(&t->text, " #%u", t->v[event].number);
	v->s = buf_str(&t->text);
	v->len = t->text.len;
	return t->text.err;
}
