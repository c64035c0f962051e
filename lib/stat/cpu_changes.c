/* CPUs that come and go while all are counted. */
#include "stat/parts.h"

#include "base/err.h"

#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

int stat_expect_cpus(struct counting *s)
{
	struct target *t = &s->target;
	bool changed;
	int *all, rc = online_look(&s->online, &changed);

	if (rc) {
		diag_error(s->d, NULL, -1, "%s: %s", ONLINE_FILE, pp_strerror(rc));
		return rc;
	}
	if (!s->system_wide || s->c->by == COUNT_BY_THREAD || !t->n_away)
		return 0;
	all = realloc(t->cpus, (t->n_cpus + t->n_away) * sizeof(*all));
	if (!all)
		return PP_ENOMEM;
	memcpy(all + t->n_cpus, t->away, t->n_away * sizeof(*all));
	t->cpus = all;
	t->n_cpus += t->n_away;
	s->cpus = t->cpus;
	s->n_cpus = t->n_cpus;
	return 0;
}

/* Sysfs tells where a CPU is only while it is online. */
static int find_place(struct counting *s, size_t cpu)
{
	struct count_cpu place;

	stat_place(s->cpus[cpu], &place);
	return counts_move_cpu(&s->counts, (uint32_t)cpu, &place);
}

int stat_begin_cpus(struct counting *s)
{
	bool changed;
	int rc = online_look(&s->online, &changed);

	if (rc || !changed)
		return rc == PP_ENOMEM ? rc : 0;
	for (size_t c = 0; c < s->n_cpus && s->counts.laid_out && !rc; c++)
		if (s->cpus[c] >= 0 && online_has(&s->online, s->cpus[c]))
			rc = find_place(s, c);
	return rc;
}

/* What the counters of a CPU say at last. It may be back: then there are new ones. */
static int leave(struct counting *s, size_t cpu)
{
	int rc = 0;

	stat_places_leave(s, cpu);
	for (uint32_t i = 0; i < s->n_events && !rc; i++) {
		struct stat_event *e = &s->events[i];

		for (size_t t = 0; t < s->n_tids && !rc; t++) {
			size_t at = cpu * s->n_tids + t;
			struct count_value v;

			if (e->fds[at] < 0)
				continue;
			rc = stat_read_counter(s, e, e->fds[at], &v);
			e->base[at].value += v.value;
			e->base[at].enabled += v.enabled;
			e->base[at].running += v.running;
			close(e->fds[at]);
			e->fds[at] = -1;
		}
	}
	return rc;
}

/* Whether an event that other CPUs have could not be opened here. */
static bool lacks_any(const struct counting *s, size_t cpu)
{
	for (uint32_t i = 0; i < s->n_events; i++) {
		const struct stat_event *e = &s->events[i];

		if (e->supported && !e->place && !e->ev->cpus && e->fds[cpu * s->n_tids] < 0)
			return true;
	}
	return false;
}

static void enable(const struct counting *s, size_t cpu)
{
	stat_places_enable(s, true, 0, s->n_tids);
	for (uint32_t i = 0; i < s->n_events; i++) {
		const struct stat_event *e = &s->events[i];

		for (size_t t = 0; t < s->n_tids; t++) {
			size_t at = cpu * s->n_tids + t;

			if (e->fds[at] >= 0 && e->leads[at])
				ioctl(e->fds[at], PERF_EVENT_IOC_ENABLE, 0);
		}
	}
}

/*
 * A CPU is online a bit before it takes events: then it comes once more, with the message of the
 * kernel that it is ready.
 */
static int come(struct counting *s, size_t cpu)
{
	int rc = stat_open_on(s, cpu);

	if (!rc && lacks_any(s, cpu)) {
		online_forget(&s->online, s->cpus[cpu]);
		return leave(s, cpu);
	}
	if (rc)
		return rc;
	if (s->on)
		enable(s, cpu);
	diag_note(s->d, NULL, -1, "CPU %d has come online: it is counted from now on",
		  s->cpus[cpu]);
	return find_place(s, cpu);
}

static bool expected(const struct counting *s, int cpu)
{
	for (size_t i = 0; i < s->target.n_cpus; i++)
		if (s->target.cpus[i] == cpu)
			return true;
	return false;
}

static void say_uncounted(struct counting *s, int cpu, const char *why)
{
	diag_warn(s->d, NULL, -1, "CPU %d has come online, and is not counted: %s", cpu, why);
	s->uncounted = true;
}

/* CPUs that come and have no place in the table. Tasks are counted wherever they run. */
static void look_at_others(struct counting *s)
{
	const struct online *o = &s->online;

	for (size_t i = 0; i < o->n && !s->c->want.cpus; i++)
		if (!online_had(o, o->cpus[i]) && !expected(s, o->cpus[i]))
			say_uncounted(s, o->cpus[i],
				      "it was not in the machine when counting began");
}

int stat_look_at_cpus(struct counting *s, bool at_end)
{
	const struct online *o = &s->online;
	bool changed;
	int rc;

	if (!s->system_wide || s->c->by == COUNT_BY_THREAD)
		return 0;
	rc = online_look(&s->online, &changed);
	if (rc || !changed)
		return rc == PP_ENOMEM ? rc : 0;
	look_at_others(s);
	for (size_t c = 0; c < s->n_cpus && !rc; c++) {
		int cpu = s->cpus[c];
		bool has = online_has(o, cpu), had = online_had(o, cpu);

		if (!has || !had)
			rc = leave(s, c);
		if (had && !has)
			diag_note(s->d, NULL, -1, "CPU %d has gone offline", cpu);
		else if (has && !had && at_end)
			say_uncounted(s, cpu, "counting ended before it was ready");
		else if (!rc && has && !had)
			rc = come(s, c);
	}
	return rc;
}
