/*
 * Which kinds an event descriptor is of, where their fields lie in it, and keys and names of its
 * samples.
 */
#include "interval/pair_parts.h"

#include "event/core_pmu.h"
#include "event/shown.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define CALLS_MAX 8192 /* numbers of system calls are below it */

/* ---- event patterns ---- */

bool pair_matches(const char *pattern, const char *name, size_t len, struct ps_str *star)
{
	const char *at = strchr(pattern, '*');
	size_t n = strlen(pattern), head = at ? (size_t)(at - pattern) : n;
	size_t tail = at ? n - head - 1 : 0;

	*star = ps_str(NULL, 0);
	if (!at)
		return len == n && !memcmp(pattern, name, n);
	if (len < head + tail || memcmp(pattern, name, head) != 0 ||
	    memcmp(at + 1, name + len - tail, tail) != 0)
		return false;
	*star = ps_str(name + head, len - head - tail);
	return true;
}

/* The same for a pattern of a user, who may leave out the system. */
static bool matches_user(const char *pattern, const struct ps_event *e)
{
	const char *colon = memchr(e->name.p, ':', e->name.len);
	size_t skip = colon ? (size_t)(colon - e->name.p) + 1 : 0;
	struct core_event core;
	struct ps_str star;
	size_t n;
	const char *base = event_base_name(e->name.p, e->name.len, &core, &n);

	return pair_matches(pattern, e->name.p, e->name.len, &star) ||
	       pair_matches(pattern, base, (uint32_t)n, &star) ||
	       (skip && pair_matches(pattern, e->name.p + skip, e->name.len - skip, &star));
}

/* ---- binding ---- */

static void release(struct pair_bind *b)
{
	for (uint32_t i = 0; i < b->nkeys; i++) {
		field_release(&b->key[i]);
		field_release(&b->guard[i]);
		field_release(&b->instead[i]);
	}
	for (uint32_t i = 0; i < b->nparts; i++) {
		field_release(&b->parts[i].field);
		field_release(&b->parts[i].chooser);
		free(b->parts[i].symbolic);
		free(b->parts[i].other);
	}
	field_release(&b->value);
	field_release(&b->end_value);
	field_release(&b->amount);
	field_release(&b->when);
	map64_release(&b->names);
}

void pair_unbind(struct lat_event *ev)
{
	for (uint32_t i = 0; i < ev->npairs; i++)
		release(&ev->pairs[i]);
	free(ev->pairs);
	ev->pairs = NULL;
	ev->npairs = 0;
}

/* The next of a list with commas; false: no more. */
static bool next_piece(const char **list, struct ps_str *piece)
{
	size_t n = *list ? strcspn(*list, ",") : 0;

	if (!n)
		return false;
	*piece = ps_str(*list, n);
	*list += n + ((*list)[n] == ',');
	return true;
}

/* The number of a system call; PS_NONE, which none has, if it is not known. */
static uint64_t call_number(const struct engine *en, const char *name, size_t len)
{
	for (uint64_t i = 0; i < CALLS_MAX; i++) {
		const char *s = engine_syscall(en, i);

		if (s && strlen(s) == len && !memcmp(s, name, len))
			return i;
	}
	return PS_NONE;
}

static int bind_key(struct engine *en, struct pair_bind *b, const struct ps_event *e,
		    const char *list)
{
	struct ps_str p;

	while (b->nkeys < PAIR_KEYS && next_piece(&list, &p)) {
		const char *slash = memchr(p.p, '/', p.len), *ask = memchr(p.p, '?', p.len);
		uint32_t n = p.len, k = b->nkeys;
		int rc = 0;

		if (slash || ask)
			n = (uint32_t)((slash ? slash : ask) - p.p);
		if (ask) {
			b->called |= 1u << k;
			b->call_number = call_number(en, ask + 1, p.len - n - 1);
		}

		if (n == 1 && *p.p == '*')
			b->star_key |= 1u << k;
		else
			rc = field_resolve(&b->key[k], e, p.p, n);
		if (!rc && slash) {
			const char *bar = memchr(slash, '|', p.len - n);
			size_t len = bar ? (size_t)(bar - slash) - 1 : p.len - n - 1;

			b->guarded |= 1u << k;
			rc = field_resolve(&b->guard[k], e, slash + 1, len);
			if (!rc && bar)
				rc = field_resolve(&b->instead[k], e, bar + 1,
						   (size_t)(p.p + p.len - bar) - 1);
		}
		if (rc)
			return rc;
		b->nkeys++;
	}
	return 0;
}

static enum pair_render render_of(struct ps_str p)
{
	static const char *const texts[] = {
#define R(name, text, what) text,
		PAIR_RENDERS(R)
#undef R
	};

	for (int i = 0; i < PAIR_NRENDERS; i++)
		if (strlen(texts[i]) == p.len && !memcmp(texts[i], p.p, p.len))
			return (enum pair_render)i;
	return PAIR_RENDER_PLAIN;
}

/* The names of a number; of kvm_exit there are two lists of them. */
static int bind_names(struct pair_part *part, const struct ps_event *e, const char *name)
{
	char chooser[SYMBOLIC_TEXT];
	int rc = 0;

	part->symbolic = malloc(sizeof(*part->symbolic));
	part->other = malloc(sizeof(*part->other));
	if (!part->symbolic || !part->other)
		return PP_ENOMEM;
	symbolic_parse(part->symbolic, e->format.p, e->format.len, name);
	if (symbolic_choice(part->symbolic, e->format.p, e->format.len, name, chooser,
			    &part->chosen, part->other))
		rc = field_resolve(&part->chooser, e, chooser, strlen(chooser));
	else
		rc = PP_ENOENT;
	if (rc) {
		free(part->other);
		part->other = NULL;
	}
	return rc == PP_ENOENT ? 0 : rc;
}

/* A part of a name: FIELD[:RENDER]. A field that the event lacks is left out. */
static int bind_part(struct pair_bind *b, const struct ps_event *e, struct ps_str p)
{
	struct pair_part *part = &b->parts[b->nparts];
	const char *colon = memchr(p.p, ':', p.len);
	char name[64];
	int rc;

	*part = (struct pair_part){.star = p.len == 1 && *p.p == '*'};
	if (colon) {
		size_t n = (size_t)(colon - p.p);

		part->render = render_of(ps_str(colon + 1, p.len - n - 1));
		p.len = (uint32_t)n;
	}
	if (part->star || part->render == PAIR_RENDER_COMM) {
		part->comm = !part->star;
		b->nparts++;
		return 0;
	}
	rc = field_resolve(&part->field, e, p.p, p.len);
	if (rc)
		return rc == PP_ENOENT ? 0 : rc;
	b->nparts++;
	if (part->render != PAIR_RENDER_SYMBOLIC || p.len >= sizeof(name))
		return 0;
	memcpy(name, p.p, p.len);
	name[p.len] = 0;
	return bind_names(part, e, name);
}

/* A field that the event has to have if it is named. */
static int bind_value(struct field *f, bool *has, const struct ps_event *e, const char *name)
{
	int rc = name ? field_resolve(f, e, name, strlen(name)) : 0;

	*has = name && !rc;
	return rc;
}

/* "FIELD", "!FIELD", "FIELD=1" or "FIELD=CALL". */
static int bind_when(struct pair_bind *b, const struct ps_event *e, const char *when)
{
	const char *equal = when ? strchr(when, '=') : NULL;
	int rc;

	b->when_not = when && *when == '!';
	if (!equal)
		return bind_value(&b->when, &b->has_when, e, when ? when + b->when_not : NULL);
	b->when_equal = equal[1] >= '0' && equal[1] <= '9';
	b->when_number = strtoull(equal + 1, NULL, 10);
	b->when_call = b->when_equal ? NULL : equal + 1;
	rc = field_resolve(&b->when, e, when, (size_t)(equal - when));
	b->has_when = !rc;
	return rc;
}

static int bind_fields(struct engine *en, struct pair_bind *b, const struct ps_event *e,
		       const struct pair_event *pe)
{
	const char *names = pe->name, *amount = en->kinds[b->kind].k->amount;
	bool literal = names && *names == '=';
	struct ps_str p;
	int rc = bind_key(en, b, e, pe->key);

	if (!rc)
		rc = bind_value(&b->value, &b->has_value, e, pe->value);
	if (!rc)
		rc = bind_value(&b->end_value, &b->has_end_value, e, pe->end_value);
	if (!rc)
		rc = bind_when(b, e, pe->when);
	while (!rc && !literal && b->nparts < PAIR_NAMES && next_piece(&names, &p))
		rc = bind_part(b, e, p);
	if (!rc && pe->role == PAIR_START) {
		rc = bind_value(&b->amount, &b->has_amount, e, amount);
		rc = rc == PP_ENOENT ? 0 : rc;
	}
	return rc;
}

/* Room for another binding of the event. NULL: out of memory. */
static struct pair_bind *another(struct lat_event *ev)
{
	struct pair_bind *v = realloc(ev->pairs, (ev->npairs + 1) * sizeof(*v));

	if (!v)
		return NULL;
	ev->pairs = v;
	v[ev->npairs] = (struct pair_bind){0};
	return &v[ev->npairs];
}

static int bind_kind(struct engine *en, uint32_t kind, const struct ps_event *e,
		     struct lat_event *ev)
{
	const struct pair_kind *k = en->kinds[kind].k;

	for (int i = 0; i < PAIR_EVENTS && k->events[i].role != PAIR_NONE; i++) {
		const struct pair_event *pe = &k->events[i];
		struct pair_bind *b;
		struct ps_str star;
		int rc;

		if (pe->except && pair_matches(pe->except, e->name.p, e->name.len, &star))
			continue;
		if (!pair_matches(pe->event, e->name.p, e->name.len, &star))
			continue;
		b = another(ev);
		if (!b)
			return PP_ENOMEM;
		b->kind = kind;
		b->role = pe->role;
		b->again = pe->again;
		b->scale = pe->scale ? pe->scale : 1;
		rc = bind_fields(en, b, e, pe);
		if (pe->name && *pe->name == '=')
			star = ps_str(pe->name + 1, (uint32_t)strlen(pe->name + 1));
		if (!rc)
			rc = engine_text(en, star.p, star.len, &b->star);
		if (pe->name && *pe->name == '=')
			b->event_name = b->star;
		if (rc)
			release(b);
		/* An event of that name without the fields: of a kernel that does it otherwise. */
		if (rc == PP_ENOENT)
			continue;
		if (rc)
			return rc;
		ev->npairs++;
	}
	return 0;
}

#define RETURN "__return"

/* Of the event of a return the name of the function's own event; 0 of others. */
static int returned_name(struct engine *en, const struct ps_event *e, uint32_t *call)
{
	const size_t tail = sizeof(RETURN) - 1, n = e->name.len;

	*call = 0;
	if (n <= tail || memcmp(e->name.p + n - tail, RETURN, tail) != 0)
		return 0;
	return engine_text(en, e->name.p, n - tail, call);
}

/* X of -s X__return. */
static int bind_call(struct engine *en, struct pair_user *u, const struct ps_event *e,
		     struct lat_event *ev)
{
	char name[256];
	struct ps_event returned = *e;
	struct pair_bind *b;

	if (!en->bytes && !en->outermost && !en->by.n)
		return 0;
	if (u->role != PAIR_START || !u->event || e->name.len + sizeof(RETURN) > sizeof(name))
		return 0;
	memcpy(name, e->name.p, e->name.len);
	memcpy(name + e->name.len, RETURN, sizeof(RETURN));
	returned.name = ps_str(name, (uint32_t)(e->name.len + sizeof(RETURN) - 1));
	if (!matches_user(u->event, &returned))
		return 0;
	b = another(ev);
	if (!b)
		return PP_ENOMEM;
	b->kind = en->nkinds - 1;
	b->role = PAIR_CALL;
	b->user = u;
	b->alone = true;
	b->nkeys = 1;
	ev->npairs++;
	return engine_text(en, e->name.p, e->name.len, &b->call);
}

static int bind_user(struct engine *en, struct pair_user *u, const struct ps_event *e,
		     struct lat_event *ev)
{
	bool alone = matches_user(u->whole, e);
	struct pair_bind *b;

	if (!alone && !(u->event && matches_user(u->event, e)))
		return bind_call(en, u, e, ev);
	b = another(ev);
	if (!b)
		return PP_ENOMEM;
	b->kind = en->nkinds - 1;
	b->role = u->role;
	b->user = u;
	u->bound = true;
	b->alone = alone;
	b->nkeys = alone ? 1 : expr_count(u->key);
	ev->npairs++;
	if (returned_name(en, e, &b->call))
		return PP_ENOMEM;
	return engine_text(en, e->name.p, e->name.len, &b->event_name);
}

/* What ends an interval comes first: an event may be the end of one and the start of the next. */
static int by_role(const void *a, const void *b)
{
	const struct pair_bind *x = a, *y = b;
	int sx = x->role == PAIR_START, sy = y->role == PAIR_START;

	return sx != sy ? sx - sy : (x->kind > y->kind) - (x->kind < y->kind);
}

int pair_bind(struct engine *en, const struct ps_event *e, struct lat_event *ev)
{
	int rc = 0;

	for (uint32_t k = 0; k < en->nkinds && !rc; k++)
		if (en->kinds[k].on)
			rc = bind_kind(en, k, e, ev);
	for (uint32_t i = 0; i < en->nusers && !rc; i++)
		rc = bind_user(en, &en->users[i], e, ev);
	if (ev->npairs > 1)
		qsort(ev->pairs, ev->npairs, sizeof(*ev->pairs), by_role);
	return rc;
}

/* ---- keys ---- */

static int key_value(struct engine *en, const struct qval *v, uint64_t *key)
{
	uint32_t id;

	if (v->kind == QV_INT) {
		*key = v->num;
		return 0;
	}
	/* Texts and numbers are not equal. */
	if (engine_text(en, v->s, v->len, &id))
		return PP_ENOMEM;
	*key = LAT_KEY_TEXT | id;
	return 0;
}

static int user_key(struct engine *en, const struct pair_bind *b, const struct sreader *r,
		    const struct ps_record *rec, uint64_t *key)
{
	struct expr *x = b->alone ? b->user->thread : b->user->key;
	struct qval v;
	int rc = 0;

	if (b->user->condition && b->role != PAIR_CALL &&
	    expr_mark(b->user->condition, r, rec) != PS_MARK_PASS)
		return PP_ENOENT;
	for (unsigned i = 0; i < expr_count(x) && i < PAIR_KEYS && !rc; i++) {
		if (!expr_value(x, i, r, rec, &v) || v.kind == QV_NA)
			return PP_ENOENT;
		rc = key_value(en, &v, &key[i]);
	}
	return rc;
}

static bool is_meant(const struct engine *en, const struct pair_bind *b, const struct sreader *r,
		     const struct ps_record *rec)
{
	struct ps_str star;
	const char *name;
	struct qval v;

	if (!field_get(&b->when, r, rec, &v))
		return false;
	if (b->when_equal)
		return v.num == b->when_number;
	if (!b->when_call)
		return !v.num == b->when_not;
	name = engine_syscall(en, v.num);
	return name && pair_matches(b->when_call, name, strlen(name), &star);
}

/*
 * A request without bytes: what is done is its key, since a flush is issued at sector 0 and
 * complete at -1. The request that it was made for is complete once more after it, then without
 * bytes; so an end that is no flush's need not have a start.
 */
static int key_instead(struct engine *en, struct pair_bind *b, uint32_t i, const struct sreader *r,
		       const struct ps_record *rec, uint64_t *key)
{
	struct qval v;

	if (!field_get(&b->instead[i], r, rec, &v))
		return PP_ENOENT;
	b->by_instead = true;
	b->flush = v.kind != QV_INT && v.len && *v.s == 'F';
	b->second_end = v.kind != QV_INT && !b->flush;
	return key_value(en, &v, key);
}

int pair_key(struct engine *en, struct pair_bind *b, const struct sreader *r,
	     const struct ps_record *rec, uint64_t *key)
{
	struct qval v;
	int rc = 0;

	b->by_instead = b->flush = b->second_end = false;
	if (b->user)
		return user_key(en, b, r, rec, key);
	if (b->has_when && !is_meant(en, b, r, rec))
		return PP_ENOENT;
	for (uint32_t i = 0; i < b->nkeys && !rc; i++) {
		if (b->star_key & (1u << i))
			key[i] = LAT_KEY_TEXT | b->star;
		else if (!field_get(&b->key[i], r, rec, &v))
			return PP_ENOENT;
		else
			rc = key_value(en, &v, &key[i]);
		if (b->called & (1u << i) && key[i] == UINT64_MAX)
			key[i] = b->call_number;
		if (!rc && b->guarded & (1u << i) && field_get(&b->guard[i], r, rec, &v) && !v.num)
			rc = key_instead(en, b, i, r, rec, &key[i]);
	}
	return rc;
}

/* ---- names ---- */

/* The names that are meant in this sample. */
static const struct symbolic *names_of(const struct pair_part *part, const struct sreader *r,
				       const struct ps_record *rec)
{
	struct qval v;

	return part->other && field_get(&part->chooser, r, rec, &v) && v.num != part->chosen
		       ? part->other
		       : part->symbolic;
}

static void add_number(struct engine *en, const struct pair_part *part, const struct sreader *r,
		       const struct ps_record *rec, uint64_t v, bool is_unsigned)
{
	char names[SYMBOLIC_ALL];
	const char *s = NULL;
	size_t len = 0;

	switch (part->render) {
	case PAIR_RENDER_HEX: buf_addf(&en->texts.text, "0x%" PRIx64, v); return;
	case PAIR_RENDER_DEV:
		if (en->device)
			s = en->device(en->symbol_ctx, rec->source, v, &len);
		if (!s) {
			shown_device(v, &en->texts.text);
			return;
		}
		break;
	case PAIR_RENDER_SYMBOLIC:
		s = !en->raw && symbolic_text(names_of(part, r, rec), v, names) ? names : NULL;
		break;
	case PAIR_RENDER_SYSCALL: s = en->raw ? NULL : engine_syscall(en, v); break;
	case PAIR_RENDER_ADDR:
		if (en->symbol)
			s = en->symbol(en->symbol_ctx, rec->source, v, &len);
		if (!s)
			buf_addf(&en->texts.text, "0x%" PRIx64, v);
		break;
	default: break;
	}
	if (s)
		buf_add(&en->texts.text, s, len ? len : strlen(s));
	else if (part->render != PAIR_RENDER_ADDR && is_unsigned)
		buf_addf(&en->texts.text, "%" PRIu64, v);
	else if (part->render != PAIR_RENDER_ADDR)
		buf_addf(&en->texts.text, "%" PRId64, (int64_t)v);
}

static int add_part(struct engine *en, const struct pair_part *part, const struct pair_bind *b,
		    const struct sreader *r, const struct ps_record *rec)
{
	struct qval v;
	size_t len;
	const char *s;

	if (part->star) {
		s = engine_name(en, b->star, &len);
		buf_add(&en->texts.text, s, len);
	} else if (part->comm) {
		s = sreader_string(r, rec->sample.comm, &len);
		buf_add(&en->texts.text, s ? s : "<...>", s ? len : 5);
	} else if (!field_get(&part->field, r, rec, &v)) {
		buf_adds(&en->texts.text, "?");
	} else if (v.kind == QV_INT) {
		add_number(en, part, r, rec, v.num, v.is_unsigned);
	} else {
		buf_add(&en->texts.text, v.s, v.len);
	}
	return en->texts.text.err;
}

int pair_name(struct engine *en, struct pair_bind *b, const struct sreader *r,
	      const struct ps_record *rec, uint32_t *name)
{
	const struct pair_part *first = &b->parts[0];
	uint32_t *known = NULL;
	struct qval v;

	*name = b->event_name;
	if (!b->nparts)
		return 0;
	*name = b->star;
	if (b->nparts == 1 && first->star)
		return 0;
	/* One field, as it is in most kinds: no text is made. */
	if (b->nparts == 1 && !first->comm && !first->other &&
	    field_get(&first->field, r, rec, &v)) {
		if (v.kind != QV_INT)
			return engine_text(en, v.s, v.len, name);
		if (b->names.n > LAT_NAMES_MAX)
			map64_clear(&b->names);
		known = map64_put(&b->names, v.num, NULL);
		if (!known)
			return PP_ENOMEM;
		*name = *known;
		if (*name)
			return 0;
	}
	buf_reset(&en->texts.text);
	for (uint32_t i = 0; i < b->nparts; i++) {
		if (i)
			buf_addc(&en->texts.text, ' ');
		if (add_part(en, &b->parts[i], b, r, rec))
			return PP_ENOMEM;
	}
	if (engine_text(en, buf_str(&en->texts.text), en->texts.text.len, name))
		return PP_ENOMEM;
	if (known)
		*known = *name;
	return 0;
}
