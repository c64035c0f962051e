/* From descriptors to the table. */
#include "stat/parts.h"

#include "base/err.h"
#include "pevent/sysfile.h"
#include "stream/stream.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* ---- where CPUs are, by /sys/devices/system ---- */

#define NODES "/sys/devices/system/node"

static int number_of(int cpu, const char *name)
{
	char path[128];
	uint64_t v;

	snprintf(path, sizeof(path), "/sys/devices/system/cpu/cpu%d/topology/%s", cpu, name);
	return sysfile_u64(path, &v) || v > INT32_MAX ? 0 : (int)v;
}

static bool has_cpu(const char *node, int cpu)
{
	struct buf b = BUF_INIT;
	char path[300];
	int *cpus = NULL;
	size_t n = 0;
	bool found = false;

	snprintf(path, sizeof(path), NODES "/%s/cpulist", node);
	if (!sysfile_read(path, SYSFILE_MAX, &b) && !cpulist_parse(buf_str(&b), &cpus, &n))
		for (size_t i = 0; i < n && !found; i++)
			found = cpus[i] == cpu;
	buf_release(&b);
	free(cpus);
	return found;
}

static int node_of(int cpu)
{
	struct sysnames l = {0};
	int node = 0;

	if (!sysnames_read(&l, NODES, "node[0-9]*"))
		for (size_t i = 0; i < l.n; i++)
			if (has_cpu(l.v[i], cpu))
				node = (int)strtol(l.v[i] + 4, NULL, 10);
	sysnames_release(&l);
	return node;
}

void stat_place(int cpu, struct count_cpu *place)
{
	*place = (struct count_cpu){cpu, -1, -1, -1, -1};
	if (cpu < 0)
		return;
	place->socket = number_of(cpu, "physical_package_id");
	place->die = number_of(cpu, "die_id");
	place->core = number_of(cpu, "core_id");
	place->node = node_of(cpu);
}

#define MSEC_SCALE 1e-6

/* What leaves out the same levels is compared: as COUNTER.without has it. */
static uint32_t without_of(const struct stat_config *c, const struct stat_event *e)
{
	const struct perf_event_attr *a = &e->ev->attr;
	bool user = c->all_kernel || (a->exclude_user && !c->all_user);
	bool kernel = c->all_user || e->user_only || (a->exclude_kernel && !c->all_kernel);

	return (user ? PS_WITHOUT_USER : 0) | (kernel ? PS_WITHOUT_KERNEL : 0) |
	       (a->exclude_hv ? PS_WITHOUT_HV : 0) | (a->exclude_host ? PS_WITHOUT_HOST : 0) |
	       (a->exclude_idle ? PS_WITHOUT_IDLE : 0);
}

static int add_event(struct counting *s, const struct stat_event *e)
{
	const struct pevent *ev = e->ev;
	struct count_event ce = {
		.name = e->name,
		.cgroup = e->cgroup,
		.unit = ev->unit,
		.scale = ev->scale > 0 ? ev->scale : 1,
		.type = ev->attr.type,
		.config = ev->attr.config,
		.without = without_of(s->c, e),
		.supported = e->supported,
	};

	if (ev->tool) {
		ce.unit = "ns";
		ce.supported = ev->tool == PEVENT_DURATION_TIME || s->command.pid;
	} else if (count_is_clock(&(struct count_event){.role = count_role(&ce)}) && !ev->unit) {
		ce.unit = "msec";
		ce.scale = MSEC_SCALE;
	}
	return counts_add_event(&s->counts, &ce);
}

static int add_thread(struct counting *s, pid_t tid)
{
	struct buf comm = BUF_INIT;
	char path[64];
	int rc;

	snprintf(path, sizeof(path), "/proc/%d/comm", tid);
	if (s->c->by != COUNT_BY_THREAD || sysfile_read(path, 4096, &comm))
		buf_reset(&comm);
	while (comm.len && comm.data[comm.len - 1] == '\n')
		comm.data[--comm.len] = 0;
	rc = counts_add_thread(&s->counts, tid, buf_str(&comm));
	buf_release(&comm);
	return rc;
}

int stat_lay_out(struct counting *s)
{
	int rc = 0;

	for (uint32_t i = 0; i < s->n_events && !rc; i++)
		rc = add_event(s, &s->events[i]);
	for (size_t i = 0; i < s->n_cpus && !rc; i++) {
		struct count_cpu place;

		stat_place(s->cpus[i], &place);
		rc = counts_add_cpu(&s->counts, &place);
	}
	for (size_t i = 0; i < s->n_tids && !rc; i++)
		rc = add_thread(s, s->tids[i]);
	if (!rc)
		rc = counts_lay_out(&s->counts);
	if (rc == PP_ELIMIT)
		diag_error(s->d, NULL, -1, "too many events by CPUs by threads");
	return rc;
}

static uint64_t ns_of(const struct timeval *t)
{
	return (uint64_t)t->tv_sec * 1000000000 + (uint64_t)t->tv_usec * 1000;
}

/* Times that the kernel has no counters of. */
static struct count_value tool_value(const struct counting *s, enum pevent_tool tool)
{
	uint64_t elapsed = (s->ended ? s->ended : stat_now()) - s->began;
	uint64_t v = elapsed;

	if (tool == PEVENT_USER_TIME)
		v = ns_of(&s->command.usage.ru_utime);
	else if (tool == PEVENT_SYSTEM_TIME)
		v = ns_of(&s->command.usage.ru_stime);
	return (struct count_value){v, elapsed, elapsed};
}

int stat_read_counter(const struct counting *s, const struct stat_event *e, int fd,
		      struct count_value *value)
{
	uint64_t v[3] = {0};
	ssize_t n;

	*value = (struct count_value){0};
	n = read(fd, v, sizeof(v));
	if (n < 0) {
		diag_error(s->d, NULL, -1, "cannot read the counter of %s: %s", e->name,
			   strerror(errno));
		return PP_EIO;
	}
	/* Nothing: a pinned event that could not be kept on the hardware. */
	if (n == sizeof(v))
		*value = (struct count_value){v[0], v[1], v[2]};
	return 0;
}

/* With what was counted there before. A CPU that never was there has no counts, not even none. */
static int read_cell(const struct counting *s, const struct stat_event *e, uint32_t cpu,
		     uint32_t thread, struct count_value *value)
{
	size_t at = (size_t)cpu * s->n_tids + thread;
	const struct count_value *base = &e->base[at];
	bool away = s->cpus[cpu] >= 0 && !online_has(&s->online, s->cpus[cpu]);
	int rc;

	*value = *base;
	if (e->fds[at] < 0) {
		if (e->ev->cpus || e->ev->tool || (away && !base->enabled))
			value->running = COUNT_ABSENT;
		return 0;
	}
	rc = stat_read_counter(s, e, e->fds[at], value);
	value->value += base->value;
	value->enabled += base->enabled;
	value->running += base->running;
	return rc;
}

static int read_part(struct counting *s, size_t from, size_t to)
{
	int rc = 0;

	for (uint32_t i = 0; i < s->n_events && !rc; i++)
		for (uint32_t c = 0; c < s->n_cpus && !rc; c++)
			for (uint32_t t = (uint32_t)from; t < to && !rc; t++)
				rc = read_cell(s, &s->events[i], c, t,
					       counts_cell(&s->counts, i, c, t));
	return rc;
}

int stat_read(struct counting *s)
{
	int rc;

	stat_places_take(s);
	rc = stat_files_each(s, read_part);
	for (uint32_t i = 0; i < s->n_events && !rc; i++) {
		const struct stat_event *e = &s->events[i];

		if (e->ev->tool && s->n_cpus && s->n_tids)
			*counts_cell(&s->counts, i, 0, 0) = tool_value(s, e->ev->tool);
		/* In a later run it may be there. */
		s->counts.events[i].supported |= e->supported;
	}
	return rc;
}
