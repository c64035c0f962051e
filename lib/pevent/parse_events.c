/* The words of -e: lists, groups, and which kind of event each one is. */
#include "base/err.h"
#include "pevent/parts.h"
#include "pevent/tracefs.h"

#include <ctype.h>
#include <fnmatch.h>
#include <stdlib.h>
#include <string.h>

#define EVENT_MAX 4096 /* bytes of one event of a list */

/* An event on its way into the list. */
struct adding {
	struct pevents *e;
	struct buf *why;
	struct pevent ev;  /* what is known so far; its name is as it was written */
	const char *terms; /* between the slashes, or NULL */
	const char *mods;
	size_t hits;
};

static int add_event(struct pevents *e, const struct pevent *ev)
{
	if (e->n == PEVENTS_MAX)
		return PP_ELIMIT;
	if (e->n == e->cap) {
		size_t cap = e->cap ? 2 * e->cap : 16;
		struct pevent *v = realloc(e->v, cap * sizeof(*v));

		if (!v)
			return PP_ENOMEM;
		e->v = v;
		e->cap = cap;
	}
	e->v[e->n++] = *ev;
	return ev->name ? 0 : PP_ENOMEM;
}

static void quote(struct buf *why, const char *before, const char *text, const char *after)
{
	buf_adds(why, before);
	buf_add_safe(why, text, strlen(text));
	buf_adds(why, after);
}

/* The terms of an event that is none of a PMU's. */
static int take_terms(struct adding *a)
{
	struct buf copy = BUF_INIT;
	char *text, *key, *value;
	bool mine;
	int rc;

	if (!a->terms)
		return 0;
	buf_adds(&copy, a->terms);
	rc = copy.err;
	text = copy.data ? (char *)copy.data : (char[1]){0};
	while (!rc && term_next(&text, &key, &value)) {
		const char *near = term_nearest(key);

		if (strncmp(key, "config", 6) == 0)
			mine = false;
		else
			rc = term_take(a->e, &a->ev, key, value, &mine, a->why);
		if (rc || mine)
			continue;
		quote(a->why, "this event has no term '", key, "'");
		if (near)
			buf_addf(a->why, "; did you mean %s?", near);
		rc = PP_EUSAGE;
	}
	buf_release(&copy);
	return rc;
}

/* An event that is complete but for its terms and modifiers. */
static int add_plain(struct adding *a)
{
	int rc = take_terms(a);

	if (!rc)
		rc = modifiers_set(&a->ev, a->mods, a->why);
	return rc ? rc : add_event(a->e, &a->ev);
}

static int add_tracepoint(void *ctx, const char *system, const char *name, uint64_t id)
{
	struct adding *a = ctx;
	struct pevent ev = a->ev;
	struct buf full = BUF_INIT;
	int rc;

	buf_addf(&full, "%s:%s%s%s", system, name, a->mods[0] ? ":" : "", a->mods);
	ev.attr.type = PERF_TYPE_TRACEPOINT;
	ev.attr.config = id;
	ev.system = arena_dup(&a->e->arena, system, strlen(system));
	ev.tp = arena_dup(&a->e->arena, name, strlen(name));
	if (!ev.name && !full.err)
		ev.name = arena_dup(&a->e->arena, full.data, full.len);
	rc = !ev.system || !ev.tp ? PP_ENOMEM : add_event(a->e, &ev);
	buf_release(&full);
	return rc;
}

/* Probes and markers are tracepoints that somebody has to make. */
static void hint_probe(const char *system, struct buf *why)
{
	if (strncmp(system, "probe", 5) == 0 || strncmp(system, "sdt_", 4) == 0 ||
	    strcmp(system, "kprobes") == 0 || strcmp(system, "uprobes") == 0)
		buf_adds(why, "; a probe must be created before it can be recorded");
}

/* SYSTEM:NAME[:MODIFIERS], in place. */
static int add_tracepoints(struct adding *a, char *text)
{
	char *name = strchr(text, ':'), *mods;
	const char *dir = a->e->tracefs;
	int rc;

	*name++ = 0;
	mods = strchr(name, ':');
	if (mods) {
		*mods++ = 0;
		a->mods = mods;
	}
	if (!*text || !*name || strchr(text, '/') || strchr(name, '/')) {
		quote(a->why, "no tracepoint is called '", text, ":");
		quote(a->why, "", name, "'");
		return PP_EUSAGE;
	}
	a->ev.name = NULL;
	a->ev.pattern = tracefs_is_glob(text) || tracefs_is_glob(name) ? ++a->e->patterns : 0;
	rc = take_terms(a);
	if (!rc)
		rc = modifiers_set(&a->ev, a->mods, a->why);
	if (!rc && !dir)
		rc = tracefs_find(&dir, a->why);
	if (!rc)
		rc = tracefs_glob(dir, text, name, add_tracepoint, a, a->why);
	if (rc == PP_ENOENT)
		hint_probe(text, a->why);
	return rc;
}

static int add_pmu(void *ctx, const struct pmu *p)
{
	struct adding *a = ctx;
	struct pevent ev = a->ev;
	int rc = pmu_event(a->e, p, a->terms, &ev, a->why);

	a->hits++;
	if (!rc)
		rc = modifiers_set(&ev, a->mods, a->why);
	return rc ? rc : add_event(a->e, &ev);
}

/* PMU/TERMS/ */
static int add_pmus(struct adding *a, const char *pmu)
{
	size_t len = strlen(pmu);
	int rc = pmu_each(a->e, pmu, add_pmu, a);

	if (rc != PP_ENOENT || a->hits)
		return rc;
	if (len >= 2 && (strcmp(pmu + len - 2, ".c") == 0 || strcmp(pmu + len - 2, ".o") == 0)) {
		buf_adds(a->why, "BPF programs as events are not supported: use bpftrace or bcc");
		return PP_EUNSUPPORTED;
	}
	quote(a->why, "this machine has no PMU '", pmu, "'");
	if (strcmp(pmu, "cpu") == 0)
		buf_adds(a->why, " (no hardware counters, as in many virtual machines)");
	return PP_ENOENT;
}

/* A PMU that names an event so. */
static int add_if_named(void *ctx, const struct pmu *p)
{
	struct adding *a = ctx;

	return pmu_has_event(p, a->terms) ? add_pmu(ctx, p) : 0;
}

static int unknown(const char *name, struct buf *why)
{
	const char *near = name_nearest(name);

	quote(why, "no event is called '", name, "'");
	if (near)
		buf_addf(why, "; did you mean %s?", near);
	else if (strchr(name, '.') || strchr(name, '_'))
		buf_adds(why, "; names of a CPU's manual are not known here: write rNNN, or "
			      "cpu/event=N,umask=N/");
	else
		buf_adds(why, "; tracepoints are system:name");
	return PP_EUSAGE;
}

/* NAME[:MODIFIERS], a known event or one that a PMU names; or a tracepoint. In place. */
static int add_named(struct adding *a, char *text)
{
	char *colon = strchr(text, ':');
	int rc;

	if (colon)
		*colon = 0;
	if (name_find(text, &a->ev)) {
		if (colon)
			a->mods = colon + 1;
		return add_plain(a);
	}
	if (!a->terms && *text && strcmp(text, "*") != 0) {
		struct adding named = *a;

		named.terms = text;
		named.mods = colon ? colon + 1 : "";
		rc = pmu_each(a->e, "*", add_if_named, &named);
		if (named.hits || (rc && rc != PP_ENOENT))
			return rc;
		buf_reset(a->why);
	}
	if (!colon)
		return a->terms ? add_pmus(a, text) : unknown(text, a->why);
	if (!colon[1] || colon == text)
		return unknown(text, a->why);
	*colon = ':';
	return add_tracepoints(a, text);
}

/* Finds the terms and what follows them. */
static int split_terms(struct adding *a, char *text)
{
	char *open = strchr(text, '/'), *close = strrchr(text, '/');

	if (!open)
		return 0;
	if (open == close) {
		quote(a->why, "the second / is missing in '", text, "'");
		return PP_EUSAGE;
	}
	*open = *close = 0;
	a->terms = open + 1;
	a->mods = close + 1 + (close[1] == ':');
	return 0;
}

static int add_text(struct pevents *e, char *text, struct buf *why)
{
	struct adding a = {.e = e, .why = why, .mods = ""};
	int rc;

	a.ev.attr.size = sizeof(a.ev.attr);
	a.ev.attr.exclude_guest = 1;
	a.ev.name = arena_dup(&e->arena, text, strlen(text));
	if (!a.ev.name)
		return PP_ENOMEM;
	if (strncmp(text, "mem:", 4) == 0) {
		rc = name_breakpoint(text + 4, &a.ev, &a.mods, why);
		return rc ? rc : add_plain(&a);
	}
	if (text[0] == '.' || text[0] == '/')
		return add_pmus(&a, ".o");
	rc = split_terms(&a, text);
	if (rc)
		return rc;
	if (isdigit((unsigned char)text[0]) && name_numbers(text, &a.ev, &a.mods))
		return add_plain(&a);
	return add_named(&a, text);
}

/* Bytes of the event at p: to the next comma or brace that is not between slashes. */
static size_t extent(const char *p)
{
	bool paired = strncmp(p, "mem:", 4) != 0, inside = false, quoted = false;
	const char *start = p;

	for (; *p; p++) {
		if (inside && *p == '\'')
			quoted = !quoted;
		else if (*p == '/' && paired && !quoted)
			inside = !inside;
		else if (!inside && (*p == ',' || *p == '{' || *p == '}'))
			break;
	}
	return (size_t)(p - start);
}

static int add_one(struct pevents *e, const char **p, struct buf *why)
{
	char text[EVENT_MAX];
	size_t len;

	*p += strspn(*p, " \t\n");
	len = extent(*p);
	if (!len || len >= sizeof(text)) {
		buf_adds(why, len ? "an event name is too long" : "an event name is empty");
		return PP_EUSAGE;
	}
	memcpy(text, *p, len);
	text[len] = 0;
	*p += len;
	while (len && isspace((unsigned char)text[len - 1]))
		text[--len] = 0;
	return add_text(e, text, why);
}

/* What is common to the events from `first` on: their group and its modifiers. */
static int close_group(struct pevents *e, size_t first, char *name, const char *mods,
		       struct buf *why)
{
	int rc = 0;

	e->groups++;
	for (size_t i = first; i < e->n && !rc; i++) {
		e->v[i].group = e->groups;
		e->v[i].group_name = name;
		rc = modifiers_set(&e->v[i], mods, why);
	}
	return rc;
}

/* [NAME]{EVENT,...}[:MODIFIERS] at *p, whose brace is `len` bytes on. */
static int add_group(struct pevents *e, const char **p, size_t len, struct buf *why)
{
	char mods[32] = "", *name = len ? arena_dup(&e->arena, *p, len) : NULL;
	size_t first = e->n, n;
	int rc = len && !name ? PP_ENOMEM : 0;

	*p += len;
	do {
		(*p)++;
		rc = rc ? rc : add_one(e, p, why);
	} while (!rc && **p == ',');
	if (rc)
		return rc;
	if (**p != '}') {
		buf_adds(why, "a group is not closed: } is missing");
		return PP_EUSAGE;
	}
	(*p)++;
	if (**p == ':') {
		n = strcspn(++*p, ", \t\n");
		if (n >= sizeof(mods)) {
			buf_adds(why, "too many modifiers after }");
			return PP_EUSAGE;
		}
		memcpy(mods, *p, n);
		mods[n] = 0;
		*p += n;
	}
	return close_group(e, first, name, mods, why);
}

/* Takes the tracepoints that fit both globs out of the list, but those of groups. */
static size_t take_out(struct pevents *e, const char *system, const char *name)
{
	size_t kept = 0, last = e->last, n = e->n;

	for (size_t i = 0; i < n; i++) {
		const struct pevent *ev = &e->v[i];

		if (ev->tp && !ev->group && !fnmatch(system, ev->system, 0) &&
		    !fnmatch(name, ev->tp, 0))
			e->last -= i < last;
		else
			e->v[kept++] = *ev;
	}
	e->n = kept;
	return n - kept;
}

/* !SYSTEM:NAME at *p: what fits of the tracepoints named so far is left out. */
static int leave_out(struct pevents *e, const char **p, struct buf *why)
{
	size_t len = extent(*p), n;
	char text[EVENT_MAX], *name;

	if (len >= sizeof(text)) {
		buf_adds(why, "an event name is too long");
		return PP_EUSAGE;
	}
	memcpy(text, *p + 1, len - 1);
	text[len - 1] = 0;
	*p += len;
	for (n = len - 1; n && isspace((unsigned char)text[n - 1]);)
		text[--n] = 0;
	name = strchr(text, ':');
	if (!name || name == text || !name[1]) {
		buf_adds(why, "! leaves out tracepoints, as in 'sched:*,!sched:sched_stat*'");
		return PP_EUSAGE;
	}
	*name++ = 0;
	n = take_out(e, text, name);
	if (n && e->n)
		return 0;
	quote(why, e->n ? "none of the events before it is called '" : "no event is left after '!",
	      text, ":");
	quote(why, "", name, "'");
	return PP_EUSAGE;
}

int pevents_add(struct pevents *e, const char *list, struct buf *why)
{
	const char *p = list;
	int rc = 0;

	e->last = e->n;
	while (!rc) {
		size_t len;

		p += strspn(p, " \t\n");
		len = extent(p);
		if (*p == '!')
			rc = leave_out(e, &p, why);
		else
			rc = p[len] == '{' ? add_group(e, &p, len, why) : add_one(e, &p, why);
		p += rc ? 0 : strspn(p, " \t\n");
		if (rc || !*p)
			break;
		if (*p++ != ',') {
			buf_adds(why, "a comma is missing before '");
			buf_add_safe(why, p - 1, strlen(p - 1));
			buf_adds(why, "'");
			rc = PP_EUSAGE;
		}
	}
	if (rc && !why->len)
		buf_adds(why, rc == PP_ELIMIT ? "too many events" : pp_strerror(rc));
	return rc;
}

int pevents_filter(struct pevents *e, const char *expr, struct buf *why)
{
	struct buf joined = BUF_INIT;
	size_t set = 0;
	int rc = 0;

	for (size_t i = e->last; i < e->n && !rc; i++) {
		struct pevent *ev = &e->v[i];

		if (!ev->tp && !ev->pmu)
			continue;
		buf_reset(&joined);
		if (ev->filter)
			buf_addf(&joined, "(%s) && (%s)", ev->filter, expr);
		else
			buf_adds(&joined, expr);
		ev->filter = joined.err ? NULL : arena_dup(&e->arena, buf_str(&joined), joined.len);
		if (!ev->filter)
			rc = PP_ENOMEM;
		set++;
	}
	buf_release(&joined);
	if (!rc && !set) {
		buf_adds(why, "a filter must follow the tracepoints that it is for (-e)");
		rc = PP_EUSAGE;
	}
	return rc;
}

int pevents_cgroups(struct pevents *e, const char *list, struct buf *why)
{
	size_t first = 0, given = 0, at;
	char *name = NULL;

	while (first < e->n && e->v[first].cgroup)
		first++;
	for (at = first;; at++, given++) {
		size_t len = strcspn(list, ",");

		if (at >= e->n) {
			buf_adds(why, "more cgroups than events before them (-e)");
			return PP_EUSAGE;
		}
		name = arena_dup(&e->arena, list, len);
		if (!name)
			return PP_ENOMEM;
		e->v[at].cgroup = name;
		list += len;
		if (!*list++)
			break;
	}
	for (at = first + 1; !given && at < e->n; at++)
		e->v[at].cgroup = name;
	return 0;
}

void pevents_release(struct pevents *e)
{
	const char *sys = e->sys, *tracefs = e->tracefs;

	free(e->v);
	arena_release(&e->arena);
	*e = (struct pevents){.sys = sys, .tracefs = tracefs};
}
