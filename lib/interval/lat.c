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

		while (i < l->nkinds &&
		       (strlen(l->kinds[i].k->name) != n || memcmp(l->kinds[i].k->name, s, n) != 0))
			i++;
		if (i == l->nkinds) {
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

	l->kinds = calloc(pair_nkinds + 1, sizeof(*l->kinds));
	if (!l->kinds)
		return PP_ENOMEM;
	for (unsigned i = 0; i < pair_nkinds; i++)
		l->kinds[i].k = &pair_kinds[i];
	l->nkinds = pair_nkinds + user;
	if (user) {
		l->user = (struct pair_kind){
			.name = p->name ? p->name : "pair", .by = "comm", .restart = p->restart};
		l->kinds[pair_nkinds].k = &l->user;
		l->kinds[pair_nkinds].on = true;
	}
	for (unsigned i = 0; i < pair_nkinds; i++) {
		struct lat_kind *k = &l->kinds[i];

		k->chosen = l->o->kinds && in_list(l->o->kinds, k->k->name);
		/* With -s and -e, those alone are what is wanted. */
		k->on = k->chosen || (!l->o->kinds && !user && !k->k->more);
	}
	return l->o->kinds ? check_list(l, l->o->kinds, why) : 0;
}

int lat_new(struct lat **out, const struct lat_opts *o, struct diag *d, struct buf *why)
{
	struct lat *l = calloc(1, sizeof(*l));
	int rc;

	*out = l;
	if (!l)
		return PP_ENOMEM;
	l->o = o;
	l->d = d;
	strcpy(l->unit, "ns");
	tables_init(&l->tables);
	rc = choose_kinds(l, why);
	if (!rc)
		rc = lat_rows_new(l, why);
	if (!rc)
		rc = pair_user(l, why);
	if (!rc)
		rc = sched_new(l);
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
	for (uint32_t i = 0; i < l->ndomains; i++) {
		sched_release(&l->domains[i]);
		free(l->domains[i].cpu_lost);
	}
	l->ndomains = 0;
	l->main_domain[1] = 0;
}

void lat_free(struct lat *l)
{
	if (!l)
		return;
	unbind_all(l);
	forget_domains(l);
	pair_user_free(l);
	lat_rows_release(l);
	lat_names_release(l);
	lat_filter_release(&l->filter);
	open_release(&l->open);
	free(l->domains);
	free(l->events);
	free(l->kinds);
	free(l);
}

int lat_domain_of(struct lat *l, uint32_t source, const char *buffer, size_t len, uint32_t *domain)
{
	uint32_t name;

	if (!len && l->main_domain[1] && l->main_domain[0] == source) {
		*domain = l->main_domain[1] - 1;
		return 0;
	}
	if (lat_text(l, buffer, len, &name))
		return PP_ENOMEM;
	for (*domain = 0; *domain < l->ndomains; ++*domain)
		if (l->domains[*domain].source == source && l->domains[*domain].buffer == name)
			break;
	if (*domain == l->ndomains) {
		struct lat_domain *v;

		/* As many recordings as nobody has: the last ones are taken for one. */
		if (l->ndomains == LAT_DOMAINS_MAX) {
			*domain = LAT_DOMAINS_MAX - 1;
			return 0;
		}
		v = realloc(l->domains, (l->ndomains + 1) * sizeof(*v));
		if (!v)
			return PP_ENOMEM;
		l->domains = v;
		v[l->ndomains++] = (struct lat_domain){.source = source, .buffer = name};
	}
	if (!len) {
		l->main_domain[0] = source;
		l->main_domain[1] = *domain + 1;
	}
	return 0;
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
	rc = lat_domain_of(l, rec->source, e->buffer.p, e->buffer.len, &ev->domain);
	if (!rc)
		rc = sched_bind(l, e, ev);
	if (!rc)
		rc = pair_bind(l, e, ev);
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
	int rc = ev->sched ? sched_sample(l, ev, r, rec) : 0;

	return rc ? rc : pair_sample(l, ev, r, rec);
}

static int on_sample(struct lat *l, const struct sreader *r, const struct ps_record *rec)
{
	const struct ps_sample *s = &rec->sample;
	struct lat_event *ev = s->event < l->nevents ? &l->events[s->event] : NULL;
	struct lat_domain *d;

	if (!ev || !ev->bound)
		return on_new_event(l, r, rec);
	if (s->flags & (PS_SAMPLE_NO_TIME | PS_SAMPLE_JOINED))
		return 0;
	d = &l->domains[ev->domain];
	if (!d->first)
		d->first = s->time;
	if (s->time > d->last)
		d->last = s->time;
	if (ev->npairs)
		return on_paired(l, ev, r, rec);
	return ev->sched ? sched_sample(l, ev, r, rec) : 0;
}

/* Events were lost: what was open then has no end that can be trusted. */
static int on_lost(struct lat *l, const struct ps_record *rec)
{
	const struct ps_lost *lost = &rec->lost;
	uint64_t number = ++l->losses;

	/* Hardware trace data is none of the events. */
	if (lost->kind == 4)
		return 0;
	for (uint32_t i = 0; i < l->ndomains; i++) {
		struct lat_domain *d = &l->domains[i];
		uint64_t *v;

		if (d->source != rec->source)
			continue;
		d->lost = number;
		if (lost->cpu >= LAT_CPUS_MAX) {
			d->lost_all = number;
			continue;
		}
		v = array_widen(d->cpu_lost, &d->ncpus, lost->cpu, 16, sizeof(*v));
		if (!v)
			return PP_ENOMEM;
		d->cpu_lost = v;
		d->cpu_lost[lost->cpu] = number;
	}
	return 0;
}

/* A stream ends: what is open is accounted for. The next one is of another recording. */
static int end_stream(struct lat *l)
{
	int rc = pair_end(l);

	if (!rc)
		rc = sched_end(l);
	forget_domains(l);
	return rc;
}

static int see(struct lat *l, const struct sreader *r, const struct ps_record *rec)
{
	int rc = 0;

	for (uint32_t i = 0; i < l->nby && !rc; i++)
		rc = expr_see(l->by[i], r, rec);
	return rc ? rc : pair_see(l, r, rec);
}

RARE static int on_other(struct lat *l, const struct sreader *r, const struct ps_record *rec)
{
	int rc = 0;

	if (rec->type == PS_HEADER && l->any)
		rc = end_stream(l);
	if (!rc)
		rc = see(l, r, rec);
	if (!rc)
		rc = lat_filter_see(&l->filter, rec);
	if (rc)
		return rc;
	lat_names_see(l, rec);
	switch (rec->type) {
	case PS_HEADER:
		unbind_all(l);
		l->any = true;
		break;
	case PS_EVENT:
		if (rec->event.id < l->nevents)
			unbind(&l->events[rec->event.id]);
		break;
	case PS_LOST: return on_lost(l, rec);
	case PS_SWITCH:
	case PS_COMM:
	case PS_FORK:
	case PS_EXIT: return sched_context(l, r, rec);
	}
	return 0;
}

int lat_record(struct lat *l, const struct sreader *r, const struct ps_record *rec)
{
	return rec->type == PS_SAMPLE ? on_sample(l, r, rec) : on_other(l, r, rec);
}

int lat_finish(struct lat *l)
{
	int rc = end_stream(l);

	return rc ? rc : lat_rows_finish(l);
}

struct tables *lat_tables(struct lat *l)
{
	return &l->tables;
}

const uint64_t *lat_account(const struct lat *l, unsigned i, const char **name)
{
	if (i >= l->nkinds)
		return NULL;
	*name = l->kinds[i].k->name;
	return l->kinds[i].count;
}

const char *lat_kind_unit(const struct lat *l, unsigned i)
{
	return l->kinds[i].k->unit ? l->kinds[i].k->unit : l->unit;
}

const char *lat_amount_unit(const struct lat *l, unsigned i)
{
	return l->o->unmatched && l->kinds[i].k->amount ? l->kinds[i].k->amount_unit : NULL;
}

int lat_text_of(struct lat *l, const struct sreader *r, uint32_t string, uint32_t *id)
{
	return lat_string(l, r, string, id);
}

bool lat_kind_on(const struct lat *l, unsigned i)
{
	return l->kinds[i].on;
}

bool lat_by_term(const struct lat *l, enum lat_term term)
{
	const struct lat_kind *k = &l->kinds[0];

	for (uint32_t i = 0; i < k->nterms && l->o->by; i++)
		if (k->terms[i] == term)
			return true;
	return false;
}

struct ps_str lat_by_text(const struct lat *l, uint32_t i)
{
	return i < l->nby ? expr_text(l->by[i], 0) : ps_str(NULL, 0);
}

bool lat_by_is_address(const struct lat *l, uint32_t i)
{
	return l->by_hex & (1u << i);
}

unsigned lat_problems(const struct lat *l, struct buf *why, unsigned *by)
{
	*by = 0;
	for (uint32_t i = 0; i < l->nby; i++)
		*by += expr_problems(l->by[i], why);
	return *by + pair_problems(l, why);
}
