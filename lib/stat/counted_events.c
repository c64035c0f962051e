/* Which events are counted: the user's, or the usual ones; for each cgroup, if wanted. */
#include "stat/parts.h"

#include "base/err.h"
#include "pevent/cgroup.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define CPU_EVENTS "/sys/bus/event_source/devices/cpu/events/"

static const char caches[] = "L1-dcache-loads,L1-dcache-load-misses,LLC-loads,LLC-load-misses";
static const char more_caches[] = "L1-icache-loads,L1-icache-load-misses,dTLB-loads,"
				  "dTLB-load-misses,iTLB-loads,iTLB-load-misses";
static const char prefetches[] = "L1-dcache-prefetches,L1-dcache-prefetch-misses";

static int add_words(struct counting *s, const char *words)
{
	struct buf why = BUF_INIT;
	int rc = pevents_add(&s->usual, words, &why);

	if (rc)
		diag_error(s->d, NULL, -1, "%s", why.len ? buf_str(&why) : pp_strerror(rc));
	buf_release(&why);
	return rc;
}

static bool there_is(const char *path)
{
	return access(path, R_OK) == 0;
}

/* What the user did not name. */
static int add_usual(struct counting *s)
{
	int rc = 0;

	if (s->c->nothing)
		return 0;
	if (!s->c->events.n) {
		rc = add_words(s, s->system_wide ? "cpu-clock" : "task-clock");
		if (!rc)
			rc = add_words(s, "context-switches,cpu-migrations,page-faults,cycles");
		if (!rc && there_is(CPU_EVENTS "stalled-cycles-frontend"))
			rc = add_words(s, "stalled-cycles-frontend");
		if (!rc && there_is(CPU_EVENTS "stalled-cycles-backend"))
			rc = add_words(s, "stalled-cycles-backend");
		if (!rc)
			rc = add_words(s, "instructions,branches,branch-misses");
	}
	if (!rc && s->c->detail > 0)
		rc = add_words(s, caches);
	if (!rc && s->c->detail > 1)
		rc = add_words(s, more_caches);
	if (!rc && s->c->detail > 2)
		rc = add_words(s, prefetches);
	return rc;
}

static int set_event(struct counting *s, struct stat_event *e, const struct pevent *ev,
		     const char *cgroup, uint32_t set)
{
	struct buf full = BUF_INIT, why = BUF_INIT;
	int rc = 0;

	*e = (struct stat_event){.ev = ev, .cgroup = cgroup, .cgroup_fd = -1, .set = set};
	e->name = strdup(ev->name);
	if (!e->name)
		return PP_ENOMEM;
	if (cgroup)
		rc = cgroup_open(cgroup, &e->cgroup_fd, &full, &why);
	if (rc) {
		e->cgroup_fd = -1;
		diag_error(s->d, NULL, -1, "%s", why.len ? buf_str(&why) : pp_strerror(rc));
	}
	buf_release(&full);
	buf_release(&why);
	return rc;
}

/* All events, for one cgroup, or with those of their own. */
static int add_set(struct counting *s, const char *cgroup, uint32_t set)
{
	const struct pevents *lists[] = {&s->c->events, &s->usual};
	int rc = 0;

	for (size_t l = 0; l < 2; l++)
		for (size_t i = 0; i < lists[l]->n && !rc; i++) {
			const struct pevent *ev = &lists[l]->v[i];

			rc = set_event(s, &s->events[s->n_events], ev, cgroup ? cgroup : ev->cgroup,
				       set);
			s->n_events += s->events[s->n_events].ev != NULL;
		}
	return rc;
}

/* Events of `usual` have groups of their own: none. */
int stat_events(struct counting *s)
{
	size_t n, sets = 1;
	uint32_t set = 0;
	char *rest, *name;
	int rc = add_usual(s);

	if (rc)
		return rc;
	for (const char *p = s->c->each_cgroup; p && *p; p++)
		sets += *p == ',';
	n = (s->c->nothing ? 0 : s->c->events.n + s->usual.n) * sets;
	if (n > PEVENTS_MAX) {
		diag_error(s->d, NULL, -1, "more than %d events", PEVENTS_MAX);
		return PP_ELIMIT;
	}
	s->events = calloc(n + 1, sizeof(*s->events));
	if (!s->events)
		return PP_ENOMEM;
	if (s->c->nothing)
		return 0;
	if (!s->c->each_cgroup)
		return add_set(s, NULL, 0);
	s->cgroup_names = strdup(s->c->each_cgroup);
	if (!s->cgroup_names)
		return PP_ENOMEM;
	for (rest = s->cgroup_names; !rc && (name = strsep(&rest, ","));)
		if (*name)
			rc = add_set(s, name, set++);
	return rc;
}

void stat_events_release(struct counting *s)
{
	for (uint32_t i = 0; i < s->n_events; i++) {
		struct stat_event *e = &s->events[i];

		free(e->name);
		free(e->fds);
		free(e->leads);
		free(e->base);
		if (e->cgroup_fd >= 0)
			close(e->cgroup_fd);
	}
	free(s->events);
	free(s->cgroup_names);
	pevents_release(&s->usual);
}
