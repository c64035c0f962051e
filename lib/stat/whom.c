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
