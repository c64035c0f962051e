/*
 * Where CPUs are: core, die, socket, NUMA node, by /sys/devices/system (sysfs-devices-system-cpu in
 * the kernel's documentation of its ABI).
 */
#include "stat/parts.h"

#include "base/err.h"
#include "pevent/sysfile.h"

#include <stdio.h>
#include <stdlib.h>

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
