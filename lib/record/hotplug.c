/* CPUs that come and go while they are recorded. */
#include "base/err.h"
#include "record/parts.h"

#include <sys/ioctl.h>
#include <unistd.h>

#define TRIES_MAX 100 /* ten seconds */

/* Closes the events of a CPU that is gone. Its buffer stays: it holds the last records. */
static bool leave(struct session *s, size_t cpu)
{
	bool any = false;

	for (size_t i = 0; i < s->n_attrs; i++) {
		struct rec_attr *a = &s->attrs[i];
		uint64_t value, lost;
		int fd = a->fds[cpu];

		if (fd < 0)
			continue;
		session_read(a, fd, &value, &lost);
		if (!a->attr.write_backward)
			s->gone_lost += lost;
		if (a->base && a->attr.sample_type & PERF_SAMPLE_READ)
			a->base[cpu] += value;
		a->fds[cpu] = -1;
		close(fd);
		any = true;
	}
	return any;
}

static void enable(const struct session *s, size_t cpu)
{
	for (size_t i = 0; i < s->n_attrs; i++)
		if (s->attrs[i].on && s->attrs[i].fds[cpu] >= 0)
			ioctl(s->attrs[i].fds[cpu], PERF_EVENT_IOC_ENABLE, 0);
}

static void say_unrecorded(struct session *s, int cpu, const char *why)
{
	diag_warn(s->d, NULL, -1, "CPU %d has come online, and is not recorded: %s", cpu, why);
	s->unrecorded++;
}

/*
 * Opens the events of a CPU that has come. *came is set if there are any now. A CPU is online a bit
 * before it takes events: then it comes once more.
 */
static int come(struct session *s, size_t cpu, bool *came)
{
	int rc;

	leave(s, cpu); /* if it was away for a moment only */
	rc = session_open_on(s, cpu);
	if (!rc) {
		s->tries = 0;
		enable(s, cpu);
		diag_note(s->d, NULL, -1, "CPU %d has come online: it is recorded from now on",
			  s->t.cpus[cpu]);
		*came = true;
		return 0;
	}
	leave(s, cpu);
	if (rc == PP_ENOMEM)
		return rc;
	if (rc == PP_END && s->tries++ < TRIES_MAX)
		online_forget(&s->online, s->t.cpus[cpu]);
	else
		say_unrecorded(s, s->t.cpus[cpu],
			       rc == PP_END ? "it does not accept events" : pp_strerror(rc));
	return 0;
}

static bool expected(const struct session *s, int cpu)
{
	for (size_t i = 0; i < s->t.n_cpus; i++)
		if (s->t.cpus[i] == cpu)
			return true;
	return false;
}

/* Those that came, but have no place: their samples would be missing without a word. */
static void look_at_others(struct session *s)
{
	const struct online *o = &s->online;

	for (size_t i = 0; i < o->n; i++) {
		if (online_had(o, o->cpus[i]))
			continue;
		if (!s->hotplug && !s->c->per_thread && !s->c->whom.cpus)
			say_unrecorded(s, o->cpus[i], "only -a records CPUs that come online");
		else if (s->hotplug && !s->c->whom.cpus && !expected(s, o->cpus[i]))
			say_unrecorded(s, o->cpus[i],
				       "it was not in the machine when the recording began");
	}
}

int hotplug_look(struct session *s, bool *came)
{
	const struct online *o = &s->online;
	bool changed;
	int rc = online_look(&s->online, &changed);

	*came = false;
	if (rc || !changed)
		return rc == PP_ENOMEM ? rc : 0;
	for (size_t c = 0; s->hotplug && c < s->t.n_cpus && !rc; c++) {
		int cpu = s->t.cpus[c];

		if (!online_has(o, cpu) && leave(s, c))
			diag_note(s->d, NULL, -1, "CPU %d has gone offline", cpu);
		else if (!online_had(o, cpu) && online_has(o, cpu))
			rc = come(s, c, came);
	}
	look_at_others(s);
	return rc;
}
