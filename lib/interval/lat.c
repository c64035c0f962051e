/*
 * plat's side of the engines: which kinds there are, and records to the engine that they are for.
 */
#include "interval/lat_parts.h"

#include "base/array.h"

#include <stdlib.h>
#include <string.h>

/* ---- kinds ---- */

static bool in_list(const char *list, const char *name)
{
	size_t n = strlen(name);

	for (const char *s = list; s; s = strchr(s, ',') ? strchr(s, ',') + 1 : NULL)
		if (!strncmp(s, name, n) && (!s[n] || s[n] == ','))
			return true;
	return false;
}

/* Every name of a list of kinds has to be one. */
static int check_list(const struct lat *l, const char *list, struct buf *why)
{
	for (const char *s = list; s; s = strchr(s, ',') ? strchr(s, ',') + 1 : NULL) {
		size_t n = strcspn(s, ",");
		unsigned i = 0;

		while (i < l->e.nkinds && (strlen(l->e.kinds[i].k->name) != n ||
					   memcmp(l->e.kinds[i].k->name, s, n) != 0))
			i++;
		if (i == l->e.nkinds) {
			buf_addf(why, "no kind is called \"%.*s\" (--list-kinds)", (int)n, s);
			return PP_EUSAGE;
		}
	}
	return 0;
}

static int choose_kinds(struct lat *l, struct buf *why)
{
	const struct lat_pair *p = &l->o->pair;
	bool user = p->nstarts || p->nends;

	l->e.kinds = calloc(pair_nkinds + 1, sizeof(*l->e.kinds));
	if (!l->e.kinds)
		return PP_ENOMEM;
	for (unsigned i = 0; i < pair_nkinds; i++)
		l->e.kinds[i].k = &pair_kinds[i];
	l->e.nkinds = pair_nkinds + user;
	if (user) {
		l->e.user = (struct pair_kind){
			.name = p->name ? p->name : "pair", .by = "comm", .restart = p->restart};
		if (p->bytes)
			l->e.user.amount = l->e.user.amount_unit = "bytes";
		l->e.kinds[pair_nkinds].k = &l->e.user;
		l->e.kinds[pair_nkinds].on = true;
	}
	for (unsigned i = 0; i < pair_nkinds; i++) {
		struct lat_kind *k = &l->e.kinds[i];

		/* With -s and -e, those alone are what is wanted. */
		k->on = l->o->kinds ? in_list(l->o->kinds, k->k->name) : !user && !k->k->more;
	}
	return l->o->kinds ? check_list(l, l->o->kinds, why) : 0;
}

/*
 * What is kept of the stacks of points. Whoever writes them into a stream needs no texts of them.
 */
static int choose_stacks(struct lat *l)
{
	l->e.texts_wanted |= l->o->stacks || (l->o->unmatched && !l->o->points);
	if (l->o->points) {
		l->e.stacks_kept = lat_stacks_new(l->o->stacks_max);
		if (!l->e.stacks_kept)
			return PP_ENOMEM;
	}
	l->e.stacks_wanted = l->e.texts_wanted || l->e.stacks_kept;
	return 0;
}

int lat_new(struct lat **out, const struct lat_opts *o, struct diag *d, struct buf *why)
{
	struct lat *l = calloc(1, sizeof(*l));
	int rc;

	*out = l;
	if (!l)
		return PP_ENOMEM;
	l->o = o;
	l->e.d = d;
	l->e.raw = o->raw;
	l->e.symbol = o->raw ? NULL : o->symbol;
	l->e.device = o->raw ? NULL : o->device;
	l->e.symbol_ctx = o->symbol_ctx;
	strcpy(l->e.texts.unit, "ns");
	rc = choose_kinds(l, why);
	if (!rc)
		rc = lat_rows_new(l, why);
	if (!rc)
		rc = choose_stacks(l);
	if (!rc)
		rc = pair_user(&l->e, &o->pair, why);
	if (!rc)
		rc = sched_new(&l->e);
	if (rc) {
		lat_free(l);
		*out = NULL;
	}
	return rc;
}

/* ---- descriptors ---- */

static void unbind(struct lat_event *ev)
{
	pair_unbind(ev);
	sched_unbind(ev);
	*ev = (struct lat_event){0};
}

static void unbind_all(struct lat *l)
{
	for (uint32_t i = 0; i < l->nevents; i++)
		unbind(&l->events[i]);
}

static void forget_domains(struct lat *l)
{
	for (uint32_t i = 0; i < l->e.ndomains; i++)
		sched_release(&l->e.domains[i]);
	engine_forget_domains(&l->e);
}

void lat_free(struct lat *l)
{
	if (!l)
		return;
	unbind_all(l);
	forget_domains(l);
	pair_user_free(&l->e);
	lat_rows_release(l);
	engine_names_release(&l->e);
	lat_filter_release(&l->e.filter);
	pair_release(&l->e);
	engine_by_release(&l->e);
	buf_release(&l->e.thinned);
	free(l->e.domains);
	free(l->events);
	free(l->e.kinds);
	free(l);
}

/* Once each: there can be several descriptors of a name. */
static int note_thinned(struct lat *l, struct ps_str name)
{
	struct buf *b = &l->e.thinned;

	for (const char *at = buf_str(b); *at; at += strcspn(at, "\n") + 1)
		if (strcspn(at, "\n") == name.len && !memcmp(at, name.p, name.len))
			return 0;
	buf_add(b, name.p, name.len);
	buf_addc(b, '\n');
	return b->err;
}

static int bind(struct lat *l, const struct sreader *r, const struct ps_record *rec)
{
	uint32_t id = rec->sample.event;
	const struct ps_event *e = sreader_event(r, id);
	struct lat_event *ev;
	int rc;

	ev = array_widen(l->events, &l->nevents, id, 32, sizeof(*ev));
	if (!ev)
		return PP_ENOMEM;
	l->events = ev;
	ev = &l->events[id];
	ev->bound = true;
	rc = engine_domain(&l->e, rec->source, e->buffer.p, e->buffer.len, &ev->domain);
	if (!rc)
		rc = sched_bind(&l->e, e, ev);
	if (!rc)
		rc = pair_bind(&l->e, e, ev);
	if (!rc && e->flags & PS_EVENT_THINNED && (ev->npairs || ev->sched))
		rc = note_thinned(l, e->name);
	return rc;
}

/* ---- records ---- */

/*
 * What few samples need is not inline in the function that takes them: the others need not save
 * registers for it.
 */
#define RARE __attribute__((noinline))

static int on_sample(struct lat *l, const struct sreader *r, const struct ps_record *rec);

RARE static int on_new_event(struct lat *l, const struct sreader *r, const struct ps_record *rec)
{
	int rc;

	/* An event that the stream does not define. */
	if (!sreader_event(r, rec->sample.event))
		return 0;
	rc = bind(l, r, rec);
	return rc ? rc : on_sample(l, r, rec);
}

RARE static int on_paired(struct lat *l, struct lat_event *ev, const struct sreader *r,
			  const struct ps_record *rec)
{
	int rc = ev->sched ? sched_sample(&l->e, ev, r, rec) : 0;

	return rc ? rc : pair_sample(&l->e, ev, r, rec);
}

static int on_sample(struct lat *l, const struct sreader *r, const struct ps_record *rec)
{
	const struct ps_sample *s = &rec->sample;
	struct lat_event *ev = s->event < l->nevents ? &l->events[s->event] : NULL;
	struct lat_domain *d;
	int rc = 0;

	if (!ev || !ev->bound)
		return on_new_event(l, r, rec);
	if (s->flags & (PS_SAMPLE_NO_TIME | PS_SAMPLE_JOINED))
		return 0;
	d = &l->e.domains[ev->domain];
	if (!d->first)
		d->first = s->time;
	if (s->time > d->last)
		d->last = s->time;
	if (d->sched && !ev->sched)
		rc = sched_other_sample(&l->e, d, s);
	if (rc)
		return rc;
	if (ev->npairs)
		return on_paired(l, ev, r, rec);
	return ev->sched ? sched_sample(&l->e, ev, r, rec) : 0;
}

/* A stream ends: what is open is accounted for. The next one is of another recording. */
static int end_stream(struct lat *l)
{
	int rc = pair_end(&l->e);

	if (!rc)
		rc = sched_end(&l->e);
	forget_domains(l);
	return rc;
}

RARE static int on_other(struct lat *l, const struct sreader *r, const struct ps_record *rec)
{
	int rc = 0;

	if (rec->type == PS_HEADER && l->any)
		rc = end_stream(l);
	if (!rc)
		rc = engine_by_see(&l->e, r, rec);
	if (!rc)
		rc = pair_see(&l->e, r, rec);
	if (!rc)
		rc = lat_filter_see(&l->e.filter, rec);
	if (rc)
		return rc;
	engine_names_see(&l->e, rec);
	switch (rec->type) {
	case PS_HEADER:
		unbind_all(l);
		l->any = true;
		break;
	case PS_EVENT:
		if (rec->event.id < l->nevents)
			unbind(&l->events[rec->event.id]);
		break;
	case PS_LOST: return engine_lost(&l->e, rec);
	case PS_SWITCH:
	case PS_COMM:
	case PS_FORK:
	case PS_EXIT: return sched_context(&l->e, r, rec);
	}
	return 0;
}

int lat_record(struct lat *l, const struct sreader *r, const struct ps_record *rec)
{
	return rec->type == PS_SAMPLE ? on_sample(l, r, rec) : on_other(l, r, rec);
}

int lat_bound(struct lat *l)
{
	struct lat_stacks *k = l->e.stacks_kept;
	int rc;

	if (!k || !lat_stacks_full(k))
		return 0;
	rc = lat_stacks_sweep(k);
	if (!rc)
		rc = pair_points(&l->e, lat_stacks_move);
	if (!rc)
		rc = sched_points(&l->e, lat_stacks_move);
	lat_stacks_swept(k);
	return rc;
}

int lat_end(struct lat *l)
{
	return end_stream(l);
}

int lat_complete(struct lat *l)
{
	return lat_rows_finish(l);
}

int lat_finish(struct lat *l)
{
	int rc = lat_end(l);

	return rc ? rc : lat_complete(l);
}

struct tables *lat_tables(struct lat *l)
{
	return &l->rows.tables;
}
