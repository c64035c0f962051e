/* Which events are meant, and switching them on. */
#include "ftrace/parts.h"

#include "base/err.h"
#include "base/opt.h"
#include "event/glob.h"
#include "inplace/owner.h"
#include "pevent/tracefs.h"

#include <stdio.h>
#include <stdlib.h>

struct one {
	const char *system, *name;
	bool on;
	const struct ftrace_event *of; /* the last word that it fits */
};

struct all {
	struct buf text; /* available_events, with NULs */
	struct one *v;
	size_t n;
};

static int by_system(const void *a, const void *b)
{
	const struct one *x = a, *y = b;
	int order = strcmp(x->system, y->system);

	return order ? order : strcmp(x->name, y->name);
}

/* Lines "SYSTEM:EVENT". */
static int load(const struct setup *s, struct all *all, struct buf *why)
{
	size_t cap = 0;
	int rc;
	const struct ftfiles top = {.root = s->root};

	rc = ftfiles_read(&top, "available_events", &all->text);
	for (char *p = (char *)all->text.data; !rc && p && *p;) {
		char *nl = strchr(p, '\n'), *colon = strchr(p, ':');

		if (!nl)
			break;
		*nl = 0;
		/* Probes of other recorders go when these end. */
		if (!strncmp(p, OWNER_PREFIX, strlen(OWNER_PREFIX)))
			colon = NULL;
		if (colon && colon < nl && all->n == cap) {
			struct one *v;

			cap = cap ? cap * 2 : 4096;
			v = realloc(all->v, cap * sizeof(*v));
			if (!v)
				return PP_ENOMEM;
			all->v = v;
		}
		if (colon && colon < nl) {
			*colon = 0;
			all->v[all->n++] = (struct one){.system = p, .name = colon + 1};
		}
		p = nl + 1;
	}
	if (rc)
		buf_addf(why, "available_events: %s", pp_strerror(rc));
	else if (all->n)
		qsort(all->v, all->n, sizeof(*all->v), by_system);
	return rc;
}

static bool fits(const char *pattern, size_t n, const char *name)
{
	return glob_match(pattern, n, name, strlen(name));
}

/* "all", "SYS:EVENT" (also with a slash), or a pattern for either. */
static bool is_meant(const char *pattern, const struct one *o)
{
	size_t n = strcspn(pattern, ":/");

	if (!strcmp(pattern, "all"))
		return true;
	if (!pattern[n])
		return fits(pattern, n, o->system) || fits(pattern, n, o->name);
	return fits(pattern, n, o->system) &&
	       (!pattern[n + 1] || fits(pattern + n + 1, strlen(pattern + n + 1), o->name));
}

static void nearest(const struct all *all, const char *pattern, struct buf *why)
{
	size_t n = strcspn(pattern, ":/");
	const char **names = calloc(2 * all->n + 1, sizeof(*names)), *near;
	const char *word = pattern[n] ? pattern + n + 1 : pattern;

	if (!names)
		return;
	for (size_t i = 0; i < all->n; i++)
		names[i] = all->v[i].name;
	near = opt_nearest(word, names, all->n);
	for (size_t i = 0; i < all->n && near; i++)
		if (!strcmp(all->v[i].name, near)) {
			buf_addf(why, "; did you mean %s:%s?", all->v[i].system, near);
			break;
		}
	free(names);
}

static int mark(const struct ftrace_event *e, struct all *all, struct buf *why)
{
	size_t hits = 0;

	for (size_t i = 0; i < all->n; i++) {
		if (!is_meant(e->pattern, &all->v[i]))
			continue;
		hits++;
		all->v[i].on = !e->not ;
		all->v[i].of = e;
	}
	if (hits || e->maybe)
		return 0;
	buf_adds(why, "no event matches '");
	buf_add_safe(why, e->pattern, strlen(e->pattern));
	buf_addc(why, '\'');
	nearest(all, e->pattern, why);
	return PP_ENOENT;
}

static int switch_on(const struct setup *s, const char *what, struct buf *why)
{
	char name[600];

	snprintf(name, sizeof(name), "events/%s%senable", what, *what ? "/" : "");
	return ftfiles_set(&s->files, name, "1", why);
}

static void path_of(const struct one *o, char path[512])
{
	snprintf(path, 512, "%s/%s", o->system, o->name);
}

/* Keeps which events there are, for their formats. */
static int remember(struct setup *s, const struct one *o)
{
	char path[512];
	const char *copy;

	path_of(o, path);
	copy = arena_dup(&s->arena, path, strlen(path));
	return copy ? ftrace_words_add(&s->events, copy) : PP_ENOMEM;
}

/* The events of a system: with one write where they are all wanted, and are ours alone. */
static int enable_system(struct setup *s, const struct all *all, size_t from, size_t to,
			 struct buf *why)
{
	size_t on = 0;
	char path[512];
	int rc = 0;

	for (size_t i = from; i < to && !rc; i++) {
		on += all->v[i].on;
		if (all->v[i].on)
			rc = remember(s, &all->v[i]);
	}
	if (rc || !on)
		return rc;
	/* Some events of a system cannot be switched on by everybody: then each is tried. */
	if (on == to - from && *s->files.dir && !switch_on(s, all->v[from].system, why))
		return 0;
	buf_reset(why);
	for (size_t i = from; i < to && !rc; i++) {
		if (!all->v[i].on)
			continue;
		path_of(&all->v[i], path);
		rc = switch_on(s, path, why);
		if (rc && on > 1) {
			diag_warn(s->d, NULL, -1, "%s:%s is left out: %s", all->v[i].system,
				  all->v[i].name, buf_str(why));
			buf_reset(why);
			rc = 0;
		}
	}
	return rc;
}

/* One event's filter. What is wrong with it is told by the event's fields, too. */
static int filter_one(const struct setup *s, const struct one *o, const char *expr, struct buf *why)
{
	char name[600];
	int rc;

	snprintf(name, sizeof(name), "events/%s/%s/filter", o->system, o->name);
	rc = ftfiles_set(&s->files, name, expr, why);
	if (rc && strstr(buf_str(why), "Field not found"))
		tracefs_filter_fault(s->root, o->system, o->name, expr, why);
	return rc;
}

/* The filter of a word: for those of its events that have its fields. */
static int filter(struct setup *s, const struct all *all, const struct ftrace_event *e,
		  struct buf *why)
{
	const struct one *refused = NULL;
	struct buf first = BUF_INIT;
	size_t taken = 0, left = 0;

	for (size_t i = 0; i < all->n; i++) {
		const struct one *o = &all->v[i];

		if (!o->on || o->of != e)
			continue;
		buf_reset(why);
		if (!filter_one(s, o, e->filter, why)) {
			taken++;
		} else if (!left++) {
			refused = o;
			buf_join(&first, why);
		}
	}
	buf_reset(why);
	if (left && taken)
		diag_warn(
			s->d, NULL, -1,
			"%zu of the events of -e %s do not accept the filter, such as %s:%s: all of "
			"these are recorded",
			left, e->pattern, refused->system, refused->name);
	else if (left)
		buf_join(why, &first);
	buf_release(&first);
	return left && !taken ? PP_EUSAGE : 0;
}

static int triggers(struct setup *s, const struct all *all, const struct ftrace_event *e,
		    struct buf *why)
{
	struct buf undo = BUF_INIT;
	char name[600];
	int rc = 0;

	for (size_t k = 0; k < e->triggers.n && !rc; k++) {
		buf_reset(&undo);
		buf_addf(&undo, "!%s", e->triggers.v[k]);
		for (size_t i = 0; i < all->n && !rc; i++) {
			if (!all->v[i].on || all->v[i].of != e)
				continue;
			snprintf(name, sizeof(name), "events/%s/%s/trigger", all->v[i].system,
				 all->v[i].name);
			rc = ftfiles_add(&s->files, name, e->triggers.v[k], buf_str(&undo), why);
		}
	}
	rc = rc ? rc : undo.err;
	buf_release(&undo);
	return rc;
}

int setup_events(struct setup *s, struct buf *why)
{
	const struct ftrace_config *c = s->c;
	struct all all = {0};
	int rc = c->n_events ? load(s, &all, why) : 0;

	for (size_t i = 0; i < c->n_events && !rc; i++)
		rc = mark(&c->events[i], &all, why);
	/* Filters first: nothing that is not wanted is recorded. */
	for (size_t i = 0; i < c->n_events && !rc; i++)
		if (c->events[i].filter)
			rc = filter(s, &all, &c->events[i], why);
	for (size_t i = 0; i < c->n_events && !rc; i++)
		rc = triggers(s, &all, &c->events[i], why);
	for (size_t i = 0, to; i < all.n && !rc; i = to) {
		for (to = i + 1; to < all.n && !strcmp(all.v[to].system, all.v[i].system); to++)
			;
		rc = enable_system(s, &all, i, to, why);
	}
	if (rc == PP_ENOMEM && !why->len)
		buf_adds(why, pp_strerror(rc));
	free(all.v);
	buf_release(&all.text);
	return rc;
}
