/* Events that are being defined: their names, which are not to be taken twice. */
#include "probe/define.h"

#include "base/err.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

void definer_init(struct definer *d, struct binary *b, struct funcs *t, struct diag *diag)
{
	memset(d, 0, sizeof(*d));
	d->b = b;
	d->funcs = t;
	d->diag = diag;
}

void definer_release(struct definer *d)
{
	for (uint32_t i = 0; i < d->n; i++) {
		free(d->v[i].args);
		buf_release(&d->v[i].lines);
	}
	free(d->v);
	intern_release(&d->taken);
	if (d->lock)
		close(d->lock - 1);
	memset(d, 0, sizeof(*d));
}

static int take(void *ctx, const char *name, const char *line)
{
	struct definer *d = ctx;
	uint32_t id;

	(void)line;
	return intern_add(&d->taken, name, strlen(name), &id, NULL);
}

int definer_take_names(struct definer *d, const struct tracefs *t)
{
	int rc = 0;

	d->lock = tracefs_lock(t) + 1;
	for (int i = 0; !rc && i < TRACEFS_LISTS; i++) {
		rc = tracefs_each(t, (enum tracefs_list)i, take, d);
		rc = rc == PP_EACCES ? 0 : rc;
	}
	return rc;
}

void event_args(struct event *e, const struct fetches *f)
{
	for (uint32_t i = 0; i < f->n; i++)
		buf_addf(&e->lines, " %s=%s%s%s", f->v[i].name, f->v[i].text,
			 *f->v[i].type ? ":" : "", f->v[i].type);
	buf_addc(&e->lines, '\n');
}

static bool fits(const struct event *e, const char *group, const char *base, char kind,
		 const struct fetches *args)
{
	static const struct fetches none;

	return e->kind == kind && !strcmp(e->group, group) && !strcmp(e->base, base) &&
	       fetches_alike(e->args ? e->args : &none, args);
}

/* NAME, NAME_1, NAME_2 ..., whichever is free. */
static int choose_name(struct definer *d, struct event *e)
{
	char full[2 * NAME_EVENT_MAX + 4];
	uint32_t id;

	for (unsigned k = 0; k < 100000; k++) {
		char number[12] = "";

		if (k)
			snprintf(number, sizeof(number), "_%u", k);
		snprintf(e->name, sizeof(e->name), "%.*s%s", (int)(NAME_EVENT_MAX - strlen(number)),
			 e->base, number);
		snprintf(full, sizeof(full), "%s/%s", e->group, e->name);
		if (intern_find(&d->taken, full, strlen(full)))
			continue;
		return intern_add(&d->taken, full, strlen(full), &id, NULL);
	}
	return PP_ELIMIT;
}

/* "probe_" and the file's name up to its first character that is none of a name. */
static void default_group(const struct definer *d, struct buf *group)
{
	const char *slash = strrchr(d->b->path, '/'), *file = slash ? slash + 1 : d->b->path;
	char name[128];

	if (d->b->kernel) {
		buf_adds(group, "probe");
		return;
	}
	snprintf(name, sizeof(name), "probe_%.*s", (int)strcspn(file, "-.@+ "), file);
	name_valid(name, NAME_EVENT_MAX, group);
}

static int new_event(struct definer *d, const char *group, const char *base, char kind,
		     const struct fetches *args, struct event *e)
{
	memset(e, 0, sizeof(*e));
	e->kind = kind;
	e->spec = d->specs;
	snprintf(e->group, sizeof(e->group), "%s", group);
	snprintf(e->base, sizeof(e->base), "%s", base);
	if (args->n) {
		e->args = malloc(sizeof(*e->args));
		if (!e->args)
			return PP_ENOMEM;
		*e->args = *args;
	}
	return choose_name(d, e);
}

struct event *definer_event(struct definer *d, const char *group, const char *base, char kind,
			    const struct fetches *args)
{
	struct buf own = BUF_INIT;
	struct event *e = NULL;

	if (!group)
		group = d->group;
	if (!group) {
		default_group(d, &own);
		group = buf_str(&own);
	}
	for (uint32_t i = 0; !e && i < d->n; i++)
		if (d->v[i].spec == d->specs && fits(&d->v[i], group, base, kind, args))
			e = &d->v[i];
	if (!e && d->n == d->cap) {
		uint32_t cap = d->cap ? d->cap * 2 : 8;
		struct event *v = reallocarray(d->v, cap, sizeof(*v));

		if (v) {
			d->v = v;
			d->cap = cap;
		}
	}
	if (!e && d->n < d->cap && !own.err && !new_event(d, group, base, kind, args, &d->v[d->n]))
		e = &d->v[d->n++];
	buf_release(&own);
	return e;
}
