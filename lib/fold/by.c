/* Frames above the command: the values of fields. */
#include "fold/by.h"

#include "base/array.h"
#include "base/err.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#define NUMBER (1u << 30) /* a number of v, not the name of a command */

enum special { SPECIAL_NONE, SPECIAL_THREAD, SPECIAL_CGROUP, SPECIAL_HEX };

/* An event descriptor: where it has the fields. */
struct fold_by_event {
	bool known;
	uint32_t has; /* bits */
	struct field fields[FOLD_BY_MAX];
};

static void forget_event(struct fold_by_event *e)
{
	for (int i = 0; i < FOLD_BY_MAX; i++)
		if (e->has & 1u << i)
			field_release(&e->fields[i]);
	*e = (struct fold_by_event){0};
}

void fold_by_release(struct fold_by *b)
{
	for (uint32_t i = 0; i < b->nevents; i++)
		forget_event(&b->events[i]);
	free(b->events);
	map64_release(&b->pairs);
	map64_release(&b->cgroups);
	intern_release(&b->paths);
	free(b->v);
	buf_release(&b->text);
}

static int see_cgroup(struct fold_by *b, const struct ps_cgroup *c)
{
	uint32_t *slot = map64_put(&b->cgroups, c->id, NULL);

	return slot ? intern_add(&b->paths, c->path.p, c->path.len, slot, NULL) : PP_ENOMEM;
}

int fold_by_see(struct fold_by *b, const struct ps_record *rec)
{
	switch (rec->type) {
	case PS_CGROUP: return see_cgroup(b, &rec->cgroup);
	case PS_EVENT:
		if (rec->event.id < b->nevents)
			forget_event(&b->events[rec->event.id]);
		break;
	case PS_HEADER:
		for (uint32_t i = 0; i < b->nevents; i++)
			forget_event(&b->events[i]);
		map64_clear(&b->cgroups);
		break;
	}
	return 0;
}

static enum special special(const char *key)
{
	if (!strcmp(key, "thread"))
		return SPECIAL_THREAD;
	if (!strcmp(key, "cgroup"))
		return SPECIAL_CGROUP;
	if (!strcmp(key, "ip") || !strcmp(key, "addr") || !strcmp(key, "phys_addr"))
		return SPECIAL_HEX;
	return SPECIAL_NONE;
}

static int event_of(struct fold_by *b, const struct sreader *r, uint32_t id,
		    struct fold_by_event **out)
{
	const struct fold_opts *o = fold_options(b->fold);
	struct fold_by_event *v = array_widen(b->events, &b->nevents, id, 64, sizeof(*v));
	const struct ps_event *e = sreader_event(r, id);
	int rc;

	if (!v)
		return PP_ENOMEM;
	b->events = v;
	*out = v += id;
	if (v->known || !e)
		return 0;
	v->known = true;
	for (uint32_t i = 0; i < o->nby; i++) {
		rc = field_resolve(&v->fields[i], e, o->by[i], strlen(o->by[i]));
		if (rc == PP_ENOMEM)
			return rc;
		if (!rc)
			v->has |= 1u << i;
	}
	return 0;
}

static bool put_thread(struct fold_by *b, const struct sreader *r, const struct ps_sample *s)
{
	size_t len;
	const char *comm = s->comm ? sreader_string(r, s->comm, &len) : NULL;

	if (s->tid == PS_NONE)
		return false;
	if (comm)
		buf_add(&b->text, comm, len);
	else
		buf_adds(&b->text, "[unknown]");
	buf_addf(&b->text, "/%" PRIu32, s->tid);
	return true;
}

static void put_value(struct fold_by *b, const char *key, const struct qval *v)
{
	enum special how = special(key);
	const uint32_t *path;
	const char *text;
	size_t len;

	if (v->kind == QV_STR) {
		buf_add(&b->text, v->s, v->len);
		return;
	}
	path = how == SPECIAL_CGROUP ? map64_get(&b->cgroups, v->num) : NULL;
	text = path ? intern_get(&b->paths, *path, &len) : NULL;
	if (text)
		buf_add(&b->text, text, len);
	else if (how == SPECIAL_HEX)
		buf_addf(&b->text, "%s 0x%" PRIx64, key, v->num);
	else if (v->is_unsigned)
		buf_addf(&b->text, "%s %" PRIu64, key, v->num);
	else
		buf_addf(&b->text, "%s %" PRId64, key, (int64_t)v->num);
}

/* The frame of a field: its text, or its name and number. */
static int frame_of(struct fold_by *b, const struct fold_by_event *e, uint32_t i,
		    const struct sreader *r, const struct ps_record *rec, uint32_t *name)
{
	const char *key = fold_options(b->fold)->by[i];
	struct qval v;

	buf_reset(&b->text);
	if (e->has & 1u << i && field_get(&e->fields[i], r, rec, &v) &&
	    (v.kind == QV_INT || v.kind == QV_STR)) {
		put_value(b, key, &v);
		b->any[i] = true;
	} else if (special(key) == SPECIAL_THREAD && put_thread(b, r, &rec->sample)) {
		b->any[i] = true;
	} else {
		buf_addf(&b->text, "[no %s]", key);
	}
	if (!b->text.len)
		buf_addf(&b->text, "[empty %s]", key);
	return b->text.err ? b->text.err : fold_name(b->fold, buf_str(&b->text), b->text.len, name);
}

static int pair(struct fold_by *b, uint32_t name, uint32_t *comm)
{
	uint32_t *slot = map64_put(&b->pairs, (uint64_t)*comm << 32 | name, NULL);
	struct fold_by_pair *v;

	if (!slot)
		return PP_ENOMEM;
	if (!*slot) {
		v = array_widen(b->v, &b->cap, b->n, 256, sizeof(*v));
		if (!v)
			return PP_ENOMEM;
		b->v = v;
		v[b->n++] = (struct fold_by_pair){*comm, name};
		*slot = b->n;
	}
	if (*slot >= NUMBER)
		return PP_ELIMIT;
	*comm = NUMBER | (*slot - 1);
	return 0;
}

int fold_by_apply(struct fold_by *b, const struct sreader *r, const struct ps_record *rec,
		  uint32_t *comm)
{
	struct fold_by_event *e;
	uint32_t name;
	int rc = event_of(b, r, rec->sample.event, &e);

	if (!rc && *comm >= NUMBER)
		rc = PP_ELIMIT;
	for (uint32_t i = fold_options(b->fold)->nby; i-- && !rc;) {
		rc = frame_of(b, e, i, r, rec, &name);
		if (!rc)
			rc = pair(b, name, comm);
	}
	return rc;
}

void fold_by_put(const struct fold_by *b, uint32_t comm, uint32_t *path, size_t *n)
{
	uint32_t above[FOLD_BY_MAX], k = 0;

	for (; comm & NUMBER && k < FOLD_BY_MAX; comm = b->v[comm & ~NUMBER].below)
		above[k++] = b->v[comm & ~NUMBER].name;
	path[(*n)++] = comm;
	while (k--)
		path[(*n)++] = above[k];
}

bool fold_by_complete(const struct fold_by *b, const char *name)
{
	const struct fold_opts *o = fold_options(b->fold);
	bool complete = true;

	for (uint32_t i = 0; i < o->nby; i++) {
		if (b->any[i])
			continue;
		diag_error(fold_diag(b->fold), name, -1, "no sample has a field %s", o->by[i]);
		complete = false;
	}
	return complete;
}

/* ---- text ---- */

static const char *const text_keys[] = {"comm", "pid", "tid", "thread", "cpu", "event"};

int fold_text_can(struct fold *f, const char *name, const char *what, bool samples, bool timed)
{
	const struct fold_opts *o = fold_options(f);

	if (o->chart && !timed) {
		diag_error(fold_diag(f), name, -1,
			   "--chart needs samples in the order of time: %s has sums", what);
		return PP_EUNSUPPORTED;
	}
	for (uint32_t i = 0; i < o->nby; i++) {
		bool known = false;

		for (size_t k = 0; k < sizeof(text_keys) / sizeof(*text_keys); k++)
			known |= samples && !strcmp(o->by[i], text_keys[k]);
		if (known)
			continue;
		diag_error(fold_diag(f), name, -1, "--by %s: %s does not tell it%s", o->by[i], what,
			   samples ? "; an event stream may (pdecode)" : "");
		return PP_EUNSUPPORTED;
	}
	return 0;
}

bool fold_by_about(const struct fold *f, const struct fold_about *a)
{
	const struct fold_opts *o = fold_options(f);

	return o->nby == 1 && !strcmp(o->by[0], "event") && *a->event;
}

int fold_by_text(struct fold *f, const struct fold_by_text *t, uint32_t names[FOLD_BY_MAX])
{
	const struct fold_opts *o = fold_options(f);
	struct buf b = BUF_INIT;
	int rc = 0;

	for (uint32_t i = 0; i < o->nby && !rc; i++) {
		const char *key = o->by[i], *s = t->cpu;
		size_t n = t->cpu_len;

		buf_reset(&b);
		if (!strcmp(key, "comm") || !strcmp(key, "thread"))
			s = t->comm, n = t->comm_len;
		else if (!strcmp(key, "pid"))
			s = t->pid, n = t->pid_len;
		else if (!strcmp(key, "tid"))
			s = t->tid, n = t->tid_len;
		else if (!strcmp(key, "event"))
			s = t->event, n = t->event_len;
		/* Numbers are without the zeros that CPUs are printed with. */
		while (!strcmp(key, "cpu") && n > 1 && *s == '0')
			s++, n--;
		if (!n)
			buf_addf(&b, "[no %s]", key);
		else if (strlen(key) == 3)
			buf_addf(&b, "%s ", key);
		buf_add(&b, s, n);
		if (!strcmp(key, "thread")) {
			buf_addc(&b, '/');
			buf_add(&b, t->tid, t->tid_len);
		}
		rc = b.err ? b.err : fold_name(f, buf_str(&b), b.len, &names[o->nby - 1 - i]);
	}
	buf_release(&b);
	return rc;
}
