/* The CPUs that are online, by sysfs. */
#include "pevent/online.h"

#include "base/err.h"
#include "pevent/sysfile.h"

#include <linux/netlink.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#define PRESENT	     "/sys/devices/system/cpu/present"
#define FROM_KERNEL  1	  /* the group of the kernel's own messages */
#define MESSAGE_MAX  4096 /* bytes that are looked at */
#define MESSAGES_MAX 4096 /* taken at once */

static bool has(const int *list, size_t n, int v)
{
	for (size_t i = 0; i < n; i++)
		if (list[i] == v)
			return true;
	return false;
}

int online_look(struct online *o, bool *changed)
{
	struct buf now = BUF_INIT;
	int *cpus = NULL;
	size_t n = 0;
	int rc = sysfile_read(ONLINE_FILE, SYSFILE_MAX, &now);

	*changed = !rc && (!o->cpus || strcmp(buf_str(&now), buf_str(&o->text)) != 0);
	if (*changed)
		rc = cpulist_parse(buf_str(&now), &cpus, &n);
	if (rc || !*changed) {
		*changed = false;
		buf_release(&now);
		return rc;
	}
	buf_release(&o->text);
	o->text = now;
	free(o->before);
	o->before = o->cpus;
	o->n_before = o->n;
	o->cpus = cpus;
	o->n = n;
	return 0;
}

bool online_has(const struct online *o, int cpu)
{
	return has(o->cpus, o->n, cpu);
}

bool online_had(const struct online *o, int cpu)
{
	return has(o->before, o->n_before, cpu);
}

int online_present(int **cpus, size_t *n)
{
	struct buf b = BUF_INIT;
	int rc = sysfile_read(PRESENT, SYSFILE_MAX, &b);

	if (!rc)
		rc = cpulist_parse(buf_str(&b), cpus, n);
	buf_release(&b);
	return rc;
}

int online_listen(void)
{
	const struct sockaddr_nl a = {.nl_family = AF_NETLINK, .nl_groups = FROM_KERNEL};
	int fd = socket(AF_NETLINK, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK,
			NETLINK_KOBJECT_UEVENT);

	if (fd >= 0 && bind(fd, (const struct sockaddr *)&a, sizeof(a))) {
		close(fd);
		return -1;
	}
	return fd;
}

void online_forget(struct online *o, int cpu)
{
	size_t kept = 0;

	for (size_t i = 0; i < o->n; i++)
		if (o->cpus[i] != cpu)
			o->cpus[kept++] = o->cpus[i];
	if (kept < o->n)
		buf_reset(&o->text);
	o->n = kept;
}

void online_hear(struct online *o, int fd)
{
	char message[MESSAGE_MAX + 1];
	int cpu;

	for (unsigned k = 0; k < MESSAGES_MAX; k++) {
		ssize_t n = recv(fd, message, MESSAGE_MAX, 0);

		if (n < 0)
			return;
		message[n] = 0;
		if (sscanf(message, "offline@/devices/system/cpu/cpu%d", &cpu) == 1)
			online_forget(o, cpu);
	}
}

void online_release(struct online *o)
{
	buf_release(&o->text);
	free(o->cpus);
	free(o->before);
	*o = (struct online){0};
}
