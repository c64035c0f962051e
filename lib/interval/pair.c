/* The engine of pairs: opens an interval at a start, and gives it to the sink at its end. */
#include "interval/engine.h"
#include "interval/pair_parts.h"

#include <stdlib.h>
#include <string.h>

/* Each kind that has events with `again` has a bit. */
static uint64_t told_bit(uint32_t kind)
{
	return kind < 64 ? UINT64_C(1) << kind : 0;
}

/*
 * An interval was ended, and not by an event that tells it again: what those have begun does not
 * count.
 */
static void tell(struct engine *en, uint32_t kind, uint32_t domain)
{
	en->domains[domain].told |= told_bit(kind);
	for (uint32_t i = 1; i <= en->open.n; i++) {
		const struct open_entry *e = &en->open.v[i];

		if (e->kind != kind || e->domain != domain || !e->again)
			continue;
		en->kinds[kind].count[LAT_STARTS]--;
		open_del(&en->open, i);
	}
}

/* What never ends, or was cancelled, is neither open nor restarted. */
static bool is_cancelled(const struct engine *en, const struct open_entry *e)
{
	const char *endless = en->kinds[e->kind].k->endless, *name;
	struct ps_str star;
	size_t len;

	if (e->cancelled || !endless)
		return e->cancelled;
	name = engine_name(en, e->name, &len);
	return pair_matches(endless, name, len, &star);
}

/* Whether an open interval was open when events were lost that may have been its. */
static bool lost_since(const struct engine *en, const struct open_entry *e)
{
	return engine_lost_since(&en->domains[e->domain], e->number,
				 en->kinds[e->kind].k->per_cpu ? e->start.cpu : PS_NONE);
}

/* Whether it is given up for that. */
static bool stale(const struct engine *en, const struct open_entry *e)
{
	bool counts = en->across_losses && en->kinds[e->kind].k == &en->user;

	return !counts && lost_since(en, e);
}

/* The newest open interval of a key, after those that losses have touched are given up. */
static uint32_t find(struct engine *en, const struct pair_bind *b, uint32_t hash, uint32_t domain,
		     const uint64_t *key)
{
	uint32_t i;

	while ((i = open_find(&en->open, hash, b->kind, domain, key)) != 0 &&
	       stale(en, &en->open.v[i])) {
		en->kinds[b->kind].count[LAT_LOST]++;
		open_del(&en->open, i);
	}
	return i;
}

static int get_who(struct engine *en, const struct sreader *r, const struct ps_sample *s,
		   struct lat_who *who)
{
	who->pid = s->pid;
	who->tid = s->tid;
	return engine_string(en, r, s->comm, &who->comm);
}

static uint64_t get_number(const struct field *f, const struct sreader *r,
			   const struct ps_record *rec, uint64_t otherwise)
{
	struct qval v;

	return field_get(f, r, rec, &v) && v.kind == QV_INT ? v.num : otherwise;
}

/* ---- calls: what is asked of X at -s X__return ---- */

/* What --unmatched adds up, of an event of a user's. */
static uint64_t bytes_of(struct engine *en, const struct sreader *r, const struct ps_record *rec,
			 uint64_t otherwise)
{
	struct qval v;

	for (unsigned i = 0; en->bytes && i < expr_count(en->bytes); i++)
		if (expr_value(en->bytes, i, r, rec, &v) && v.kind == QV_INT)
			return v.num;
	return otherwise;
}

/*
 * The calls of a thread nest. Of those within others only the outermost counts with
 * en->outermost: then the same call once more means that it did not return (longjmp), or that its
 * return was lost.
 */
static int on_call(struct engine *en, struct pair_bind *b, uint32_t domain, const uint64_t *key,
		   const struct sreader *r, const struct ps_record *rec)
{
	struct open_table *t = &en->calls;
	uint32_t hash = open_hash(b->kind, domain, key), i, top, seen = 0;
	struct open_entry *e;
	int rc;

	top = open_find(t, hash, b->kind, domain, key);
	for (i = top; i && en->outermost && !seen; i = t->v[i].next)
		seen = t->v[i].name == b->call ? i : 0;
	while (top &&
	       (seen || engine_lost_since(&en->domains[domain], t->v[top].number, PS_NONE))) {
		seen = seen == top ? 0 : seen;
		open_del(t, top);
		top = open_find(t, hash, b->kind, domain, key);
	}
	rc = open_add(t, hash, b->kind, domain, key, top, &e);
	if (rc)
		return rc == PP_ELIMIT ? 0 : rc;
	e->number = en->losses;
	e->name = b->call;
	e->amount = bytes_of(en, r, rec, 0);
	return engine_values(en, r, rec, e->by, &e->set, &e->numbers);
}

/*
 * The call that returns here is taken out, and those in it whose returns are missing. False:
 * what begins here is not to count.
 */
static bool take_call(struct engine *en, struct pair_bind *b, uint32_t domain,
		      const struct ps_sample *s, struct open_entry *call)
{
	const uint64_t key[PAIR_KEYS] = {s->tid};
	uint32_t hash = open_hash(b->kind, domain, key), i, last;

	*call = (struct open_entry){0};
	i = open_find(&en->calls, hash, b->kind, domain, key);
	while (i && en->calls.v[i].name != b->call)
		i = en->calls.v[i].next;
	if (!i)
		return !en->outermost;
	*call = en->calls.v[i];
	do {
		last = open_find(&en->calls, hash, b->kind, domain, key);
		open_del(&en->calls, last);
	} while (last != i);
	return !en->outermost || !open_find(&en->calls, hash, b->kind, domain, key);
}

static int on_start(struct engine *en, struct pair_bind *b, uint32_t domain, const uint64_t *key,
		    const struct sreader *r, const struct ps_record *rec)
{
	uint32_t hash = open_hash(b->kind, domain, key), older = find(en, b, hash, domain, key);
	struct lat_kind *k = &en->kinds[b->kind];
	bool called = b->call && en->calls.slots;
	struct open_entry *e, call;
	int rc;

	if (called && !take_call(en, b, domain, &rec->sample, &call))
		return 0;
	k->count[LAT_STARTS]++;
	if (older &&
	    ((k->k->restart != PAIR_NEST && !b->by_instead) || en->open.v[older].cancelled)) {
		bool cancelled = is_cancelled(en, &en->open.v[older]);

		k->count[cancelled ? LAT_CANCELLED : LAT_RESTARTED]++;
		if (k->k->restart == PAIR_KEEP && !cancelled)
			return 0;
		open_del(&en->open, older);
		older = open_find(&en->open, hash, b->kind, domain, key);
	}
	rc = open_add(&en->open, hash, b->kind, domain, key, older, &e);
	if (rc == PP_ELIMIT) {
		if (!k->count[LAT_NO_ROOM]++)
			diag_warn(en->d, NULL, -1, "%s: more open intervals at a time than %s",
				  k->k->name,
				  older ? "can nest" : "plat can follow: some are left out");
		return 0;
	}
	if (rc)
		return rc;
	e->number = en->losses;
	e->again = b->again;
	e->shown = b->nkeys ? b->nkeys - 1 : 0;
	e->value = b->has_value ? get_number(&b->value, r, rec, 0) : rec->sample.time;
	e->amount = b->has_amount ? get_number(&b->amount, r, rec, 0)
				  : bytes_of(en, r, rec, called ? call.amount : 0);
	if (called) {
		memcpy(e->by, call.by, sizeof(e->by));
		e->set = call.set;
		e->numbers = call.numbers;
	}
	rc = engine_point(en, r, rec, &e->start);
	if (!rc)
		rc = get_who(en, r, &rec->sample, &e->who);
	if (!rc)
		rc = pair_name(en, b, r, rec, &e->name);
	return rc ? rc : engine_values(en, r, rec, e->by, &e->set, &e->numbers);
}

static void interval_of(struct engine *en, const struct open_entry *e, struct interval *iv)
{
	*iv = (struct interval){.kind = e->kind,
				.source = en->domains[e->domain].source,
				.domain = e->domain,
				.who = e->who,
				.waker = {PS_NONE, PS_NONE, 0},
				.start = e->start,
				.key = e->key[e->shown],
				.keys = en->kinds[e->kind].k == &en->user ? e->key : NULL,
				.nkeys = e->shown + 1,
				.name = e->name,
				.amount = e->amount,
				.values = e->by,
				.set = e->set,
				.numbers = e->numbers};
}

static int on_end(struct engine *en, struct pair_bind *b, uint32_t domain, const uint64_t *key,
		  const struct sreader *r, const struct ps_record *rec)
{
	uint32_t i = find(en, b, open_hash(b->kind, domain, key), domain, key);
	struct lat_kind *k = &en->kinds[b->kind];
	uint64_t values[LAT_BY_MAX], to = rec->sample.time;
	struct interval iv;
	int rc;

	en->flushes += i && b->flush;
	if (!i) {
		en->flushed += b->second_end;
		k->count[LAT_NO_START] += !k->k->lone_ends && !b->second_end;
		return 0;
	}
	interval_of(en, &en->open.v[i], &iv);
	memcpy(values, iv.values, sizeof(values));
	iv.values = values;
	rc = engine_point(en, r, rec, &iv.end);
	if (!rc && !iv.name)
		rc = pair_name(en, b, r, rec, &iv.name);
	if (!rc)
		rc = engine_values(en, r, rec, values, &iv.set, &iv.numbers);
	if (b->has_value)
		to = get_number(&b->value, r, rec, en->open.v[i].value);
	if (!rc)
		rc = en->sink.interval(en->sink.ctx, &iv, en->open.v[i].value, to);
	open_del(&en->open, i);
	if (!b->again && told_bit(b->kind) & ~en->domains[domain].told)
		tell(en, b->kind, domain);
	return rc;
}

static void on_cancel(struct engine *en, struct pair_bind *b, uint32_t domain, const uint64_t *key)
{
	uint32_t i = find(en, b, open_hash(b->kind, domain, key), domain, key);

	if (i)
		en->open.v[i].cancelled = true;
}

/* The interval has begun before it was meant to: a lock was wanted, and now is had. */
static int on_move(struct engine *en, struct pair_bind *b, uint32_t domain, const uint64_t *key,
		   const struct sreader *r, const struct ps_record *rec)
{
	uint32_t i = find(en, b, open_hash(b->kind, domain, key), domain, key);

	if (!i)
		return 0;
	en->open.v[i].value = rec->sample.time;
	en->open.v[i].number = en->losses;
	return engine_point(en, r, rec, &en->open.v[i].start);
}

/* An event that is an interval in itself, with two values of one clock. It ends with the event. */
static int on_whole(struct engine *en, struct pair_bind *b, uint32_t domain, const uint64_t *key,
		    const struct sreader *r, const struct ps_record *rec)
{
	uint64_t values[LAT_BY_MAX], from, to;
	struct interval iv = {.kind = b->kind,
			      .source = rec->source,
			      .domain = domain,
			      .waker = {PS_NONE, PS_NONE, 0},
			      .key = key[b->nkeys ? b->nkeys - 1 : 0],
			      .values = values};
	int rc;

	from = b->has_value ? get_number(&b->value, r, rec, 0) : 0;
	to = b->has_end_value ? get_number(&b->end_value, r, rec, from) * b->scale : from;
	en->kinds[b->kind].count[LAT_STARTS]++;
	rc = engine_point(en, r, rec, &iv.end);
	iv.start = iv.end;
	if (to >= from && to - from <= iv.end.time)
		iv.start.time -= to - from;
	if (!rc)
		rc = get_who(en, r, &rec->sample, &iv.who);
	if (!rc)
		rc = pair_name(en, b, r, rec, &iv.name);
	if (!rc)
		rc = engine_values(en, r, rec, values, &iv.set, &iv.numbers);
	return rc ? rc : en->sink.interval(en->sink.ctx, &iv, from, to);
}

int pair_sample(struct engine *en, struct lat_event *ev, const struct sreader *r,
		const struct ps_record *rec)
{
	for (uint32_t i = 0; i < ev->npairs; i++) {
		struct pair_bind *b = &ev->pairs[i];
		uint64_t key[PAIR_KEYS] = {0};
		int rc = PP_ENOENT;

		if (!b->again || !(en->domains[ev->domain].told & told_bit(b->kind)))
			rc = pair_key(en, b, r, rec, key);
		/* This sample lacks the key, or the condition does not hold. */
		if (rc == PP_ENOENT) {
			struct open_entry call;

			/* Its call has returned nevertheless. */
			if (b->call && b->role == PAIR_START)
				take_call(en, b, ev->domain, &rec->sample, &call);
			continue;
		}
		if (rc)
			return rc;
		switch (b->role) {
		case PAIR_START: rc = on_start(en, b, ev->domain, key, r, rec); break;
		case PAIR_END: rc = on_end(en, b, ev->domain, key, r, rec); break;
		case PAIR_CALL: rc = on_call(en, b, ev->domain, key, r, rec); break;
		case PAIR_CANCEL: on_cancel(en, b, ev->domain, key); break;
		case PAIR_MOVE: rc = on_move(en, b, ev->domain, key, r, rec); break;
		case PAIR_WHOLE: rc = on_whole(en, b, ev->domain, key, r, rec); break;
		case PAIR_NONE: break;
		}
		if (rc)
			return rc;
	}
	return 0;
}

int pair_points(struct engine *en, lat_point_fn *fn)
{
	int rc = 0;

	for (uint32_t i = 1; i <= en->open.n && !rc; i++)
		if (en->open.v[i].kind != OPEN_FREE)
			rc = fn(en->stacks_kept, &en->open.v[i].start);
	return rc;
}

int pair_end(struct engine *en)
{
	int rc = 0;

	for (uint32_t i = 1; i <= en->open.n && !rc; i++) {
		struct open_entry *e = &en->open.v[i];
		struct interval iv;

		if (e->kind == OPEN_FREE)
			continue;
		if (stale(en, e)) {
			en->kinds[e->kind].count[LAT_LOST]++;
			continue;
		}
		if (is_cancelled(en, e)) {
			en->kinds[e->kind].count[LAT_CANCELLED]++;
			continue;
		}
		en->doubtful += lost_since(en, e);
		interval_of(en, e, &iv);
		rc = en->sink.open(en->sink.ctx, &iv, iv.start.time, en->domains[e->domain].last);
	}
	open_release(&en->open);
	open_release(&en->calls);
	return rc;
}

void pair_release(struct engine *en)
{
	open_release(&en->open);
	open_release(&en->calls);
}
