/*
 * The dictionaries of a merge. An entry is written when a record first refers to it, under an id
 * that no other input uses. Id 1 of those that can begin again is defined for that only: by it the
 * readers of the output forget the others.
 */
#include "merge/parts.h"

#include "base/err.h"
#include "base/array.h"
#include "stream/codec.h"

#include <stdlib.h>

static const struct {
	uint32_t type;
	bool restarts;
} dicts[] = {
#define D(NAME, name, again) {PS_##NAME, again},
	MERGE_DICTS(D)
#undef D
};

/* The place of an id; NULL: out of memory. */
static struct merge_id *id_place(struct merge_ids *ids, uint32_t id)
{
	struct merge_id *v = array_widen(ids->v, &ids->n, id, 256, sizeof(*v));

	if (!v)
		return NULL;
	ids->v = v;
	return &v[id];
}

static const void *entry(const struct sreader *r, enum merge_dict dict, uint32_t id,
			 struct ps_string *room)
{
	size_t len;

	switch (dict) {
	case MERGE_STRING:
		room->text.p = sreader_string(r, id, &len);
		room->text.len = (uint32_t)len;
		return room->text.p ? room : NULL;
	case MERGE_DSO: return sreader_dso(r, id);
	case MERGE_CHAIN: return sreader_chain(r, id);
	case MERGE_SYMBOL: return sreader_symbol(r, id);
	case MERGE_FRAME: return sreader_frame(r, id);
	case MERGE_STACK: return sreader_stack(r, id);
	case MERGE_SRCFILE: return sreader_srcfile(r, id);
	default: return NULL;
	}
}

union definition {
	struct ps_string string;
	struct ps_event event;
	struct ps_dso dso;
	struct ps_chain chain;
	struct ps_symbol symbol;
	struct ps_frame frame;
	struct ps_stack stack;
	struct ps_srcfile srcfile;
};

static int put_frames(struct smerge *m, struct merge_input *in, struct ps_stack *s)
{
	int rc = 0;

	buf_reset(&m->frames);
	for (uint32_t i = 0; i < s->frames.n && !rc; i++) {
		uint32_t id;

		rc = merge_ref(m, in, MERGE_FRAME, s->frames.v[i], &id);
		buf_add(&m->frames, &id, sizeof(id));
	}
	s->frames.v = (const uint32_t *)(const void *)m->frames.data;
	return rc ? rc : m->frames.err;
}

/* What an entry refers to, renumbered. */
static int renumber(struct smerge *m, struct merge_input *in, enum merge_dict dict,
		    union definition *d)
{
	int rc;

	switch (dict) {
	case MERGE_SYMBOL: return merge_ref(m, in, MERGE_DSO, d->symbol.dso, &d->symbol.dso);
	case MERGE_FRAME:
		rc = merge_ref(m, in, MERGE_SYMBOL, d->frame.symbol, &d->frame.symbol);
		if (!rc)
			rc = merge_ref(m, in, MERGE_DSO, d->frame.dso, &d->frame.dso);
		if (!rc)
			rc = merge_ref(m, in, MERGE_SRCFILE, d->frame.srcfile, &d->frame.srcfile);
		return rc;
	case MERGE_STACK: return put_frames(m, in, &d->stack);
	default: return 0;
	}
}

/* Writes an entry under the id `out`. */
static int put(struct smerge *m, struct merge_input *in, enum merge_dict dict, const void *fields,
	       uint32_t source, uint32_t out)
{
	const struct ps_typedesc *t = ps_typedesc(dicts[dict].type);
	union definition d;
	int rc;

	memcpy(&d, fields, t->size);
	rc = renumber(m, in, dict, &d);
	if (rc)
		return rc;
	/* All begin with the id. */
	d.string.id = out;
	m->out[dict].bytes += ps_unbounded_size(t, &d);
	return swriter_put(m->w, dicts[dict].type, source, &d);
}

static int new_id(struct smerge *m, enum merge_dict dict, struct merge_id *id)
{
	struct merge_out *o = &m->out[dict];

	if (!dicts[dict].restarts && id->out)
		return 0;
	if (o->last + 1 >= PS_ID_MAX)
		return PP_ELIMIT;
	id->out = ++o->last;
	return 0;
}

int merge_ref(struct smerge *m, struct merge_input *in, enum merge_dict dict, uint32_t id,
	      uint32_t *out)
{
	struct merge_ids *ids = &in->ids[dict];
	struct merge_id *place;
	struct ps_string room = {0};
	const void *fields;
	int rc;

	if (id < ids->n && ids->v[id].epoch == m->out[dict].epoch) {
		*out = ids->v[id].out;
		return 0;
	}
	*out = 0;
	if (!id || id >= PS_ID_MAX)
		return 0;
	fields = entry(in->r, dict, id, &room);
	if (!fields)
		return 0; /* the reader will notice that it is not defined */
	place = id_place(ids, id);
	if (!place)
		return PP_ENOMEM;
	rc = new_id(m, dict, place);
	if (!rc) {
		place->epoch = m->out[dict].epoch;
		*out = place->out;
		rc = put(m, in, dict, fields, in->out_source, place->out);
	}
	return rc;
}

/*
 * Descriptors are written as they come: a printer has to know all of them before the first sample.
 */
static int define_event(struct smerge *m, struct merge_input *in, const struct ps_record *rec)
{
	struct merge_id *place;
	uint32_t source;
	int rc;

	if (!rec->event.id || rec->event.id >= PS_ID_MAX)
		return 0;
	place = id_place(&in->ids[MERGE_EVENT], rec->event.id);
	if (!place)
		return PP_ENOMEM;
	rc = new_id(m, MERGE_EVENT, place);
	if (!rc)
		rc = merge_source(m, in, rec->source, &source);
	if (rc)
		return rc;
	place->epoch = m->out[MERGE_EVENT].epoch;
	return put(m, in, MERGE_EVENT, &rec->event, source, place->out);
}

int merge_define(struct smerge *m, struct merge_input *in, const struct ps_record *rec, bool *taken)
{
	enum merge_dict dict;
	struct merge_ids *ids;
	uint32_t id = rec->string.id;
	int rc;

	*taken = true;
	switch (rec->type) {
#define D(NAME, name, again) \
	case PS_##NAME: dict = MERGE_##NAME; break;
		MERGE_DICTS(D)
#undef D
	default: *taken = false; return 0;
	}
	if (dict == MERGE_EVENT)
		return define_event(m, in, rec);
	ids = &in->ids[dict];
	if (id == 1 && dicts[dict].restarts) {
		if (ids->begun && ids->n)
			memset(ids->v, 0, ids->n * sizeof(*ids->v));
		ids->begun = true;
	}
	/* What refers to it in the output needs the new definition. */
	if (id >= ids->n || ids->v[id].epoch != m->out[dict].epoch)
		return 0;
	rc = merge_source(m, in, rec->source, &in->out_source);
	return rc ? rc : put(m, in, dict, &rec->sample, in->out_source, ids->v[id].out);
}

static bool full(const struct smerge *m, enum merge_dict dict)
{
	return m->out[dict].last >= m->live_ids || m->out[dict].bytes >= SMERGE_LIVE_BYTES;
}

/* Id 1 is defined again: all ids are forgotten. */
static int restart(struct smerge *m, enum merge_dict dict)
{
	union definition none = {.string = {.id = 1}};

	m->out[dict] = (struct merge_out){.last = 1, .epoch = m->out[dict].epoch + 1};
	return swriter_put(m->w, dicts[dict].type, 0, &none);
}

int merge_bound(struct smerge *m)
{
	int rc = 0;

	if (full(m, MERGE_CHAIN))
		rc = restart(m, MERGE_CHAIN);
	if (!rc && (full(m, MERGE_SYMBOL) || full(m, MERGE_FRAME) || full(m, MERGE_STACK))) {
		/* Stacks hold frames and frames hold symbols: none may outlive the other. */
		rc = restart(m, MERGE_SYMBOL);
		if (!rc)
			rc = restart(m, MERGE_FRAME);
		if (!rc)
			rc = restart(m, MERGE_STACK);
	}
	return rc;
}

void merge_forget(struct merge_input *in)
{
	for (int i = 0; i < MERGE_NDICTS; i++) {
		for (uint32_t k = 0; k < in->ids[i].n; k++)
			in->ids[i].v[k].epoch = 0;
		in->ids[i].begun = false;
	}
	if (in->nsources)
		memset(in->sources, 0, in->nsources * sizeof(*in->sources));
}

int merge_source(struct smerge *m, struct merge_input *in, uint32_t source, uint32_t *out)
{
	if (source < in->nsources && in->sources[source]) {
		*out = in->sources[source];
		return 0;
	}
	*out = 0;
	if (!source)
		return 0;
	if (source >= in->nsources) {
		uint32_t n = source + 8, *v = realloc(in->sources, n * sizeof(*v));

		if (!v)
			return PP_ENOMEM;
		memset(v + in->nsources, 0, (n - in->nsources) * sizeof(*v));
		in->sources = v;
		in->nsources = n;
	}
	if (m->nsources > SMERGE_SOURCES_MAX)
		return PP_ELIMIT;
	if (!(m->nsources & (m->nsources - 1))) {
		struct merge_source *v = realloc(m->sources, (size_t)m->nsources * 2 * sizeof(*v));

		if (!v)
			return PP_ENOMEM;
		m->sources = v;
	}
	*out = in->sources[source] = m->nsources;
	m->sources[m->nsources] = (struct merge_source){0};
	while (m->in[m->sources[m->nsources].input] != in)
		m->sources[m->nsources].input++;
	m->nsources++;
	return 0;
}
