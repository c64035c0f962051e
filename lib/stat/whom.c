/* Whom counting is for: CPUs and threads. */
#include "stat/parts.h"

#include "base/err.h"
#include "pevent/sysfile.h"

#include <stdio.h>
#include <stdlib.h>

/* The threads of all processes. Those that end meanwhile are not missed. */
static int find_threads(struct counting *s)
{
	struct sysnames pids = {0}, tids = {0};
	struct buf list = BUF_INIT;
	int rc = sysnames_read(&pids, "/proc", "[0-9]*");

	for (size_t i = 0; i < pids.n && !rc; i++) {
		char path[300];

		snprintf(path, sizeof(path), "/proc/%s/task", pids.v[i]);
		if (sysnames_read(&tids, path, "[0-9]*"))
			tids.n = 0;
		for (size_t k = 0; k < tids.n; k++) {
			pid_t tid = (pid_t)strtol(tids.v[k], NULL, 10);

			buf_add(&list, &tid, sizeof(tid));
		}
		sysnames_release(&tids);
	}
	sysnames_release(&pids);
	s->all_tids = (pid_t *)(void *)list.data;
	s->tids = s->all_tids;
	s->n_tids = list.len / sizeof(pid_t);
	return rc ? rc : list.err;
}

int stat_find_target(struct counting *s)
{
	struct target_want want = s->c->want;
	int rc;

	want.all_cpus = s->system_wide;
	if (target_has_tasks(&want) && (want.cpus || s->c->want.all_cpus)) {
		diag_warn(s->d, NULL, -1, "tasks are counted on all CPUs: -a and -C are ignored");
		want.all_cpus = false;
		want.cpus = NULL;
	}
	rc = target_find(&s->target, &want, 1, s->d);
	if (!rc)
		rc = stat_expect_cpus(s);
	if (rc)
		return rc;
	s->any_cpu = -1;
	s->cpus = s->target.cpus;
	s->n_cpus = s->target.n_cpus;
	s->tids = s->target.tids;
	s->n_tids = s->target.n_tids;
	if (!s->system_wide || s->c->by == COUNT_BY_THREAD) {
		s->cpus = &s->any_cpu;
		s->n_cpus = 1;
	}
	if (!s->system_wide && !target_has_tasks(&want)) {
		s->tids = &s->command_tid;
		s->n_tids = 1;
	}
	return s->system_wide && s->c->by == COUNT_BY_THREAD ? find_threads(s) : 0;
}

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
