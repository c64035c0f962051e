/* Removing groups of probes: our own, and those of recorders that are gone. */
#include "inplace/sweep.h"

#include "base/err.h"
#include "base/intern.h"
#include "inplace/inplace.h"

#include <stdio.h>
#include <string.h>
#include <time.h>

#define BUSY_TRIES 40 /* the kernel lets go of an event a while after it was closed */
#define BUSY_MS	   50

struct walk {
	const char *group; /* NULL: those whose recorder is gone */
	struct intern names;
	int rc;
};

/* Names of a group, or the groups. */
static int collect(void *ctx, const char *name, const char *line)
{
	struct walk *w = ctx;
	const char *slash = strchr(name, '/');
	size_t n = slash ? (size_t)(slash - name) : 0;
	char group[OWNER_GROUP_MAX + 1];
	uint32_t id;

	(void)line;
	if (!n || n >= sizeof(group))
		return 0;
	memcpy(group, name, n);
	group[n] = 0;
	if (w->group)
		return strcmp(group, w->group)
			       ? 0
			       : intern_add(&w->names, name, strlen(name), &id, NULL);
	return owner_gone(group) ? intern_add(&w->names, group, n, &id, NULL) : 0;
}

/* Kernels before 5.14 do not know groups here. */
static int remove_each(const struct tracefs *t, enum tracefs_list list, const char *group,
		       struct buf *why)
{
	struct walk w = {.group = group};
	int rc = tracefs_each(t, list, collect, &w);

	for (uint32_t id = 1; !rc && id <= w.names.n; id++)
		rc = tracefs_remove(t, list, intern_get(&w.names, id, NULL), why);
	intern_release(&w.names);
	return rc;
}

static bool is_there(const struct tracefs *t, enum tracefs_list list, const char *group)
{
	struct walk w = {.group = group};
	bool there = tracefs_each(t, list, collect, &w) || w.names.n;

	intern_release(&w.names);
	return there;
}

int sweep_group(const struct tracefs *t, enum tracefs_list list, const char *group, bool patient,
		struct buf *why)
{
	char all[OWNER_GROUP_MAX + 2];
	struct timespec pause = {.tv_nsec = BUSY_MS * 1000000};
	int rc = 0, tries = patient ? BUSY_TRIES : 1;

	snprintf(all, sizeof(all), "%s/", group);
	for (int i = 0; i < tries; i++) {
		rc = tracefs_remove(t, list, all, why);
		if (rc)
			rc = remove_each(t, list, group, why);
		if (!is_there(t, list, group))
			return 0;
		if (i + 1 < tries) {
			buf_reset(why);
			nanosleep(&pause, NULL);
		}
	}
	return rc ? rc : PP_EIO;
}

int inplace_sweep(const struct tracefs *t, unsigned *n, struct diag *d)
{
	*n = 0;
	for (int list = 0; list < TRACEFS_LISTS; list++) {
		struct walk w = {0};
		struct buf why = BUF_INIT;
		int rc = tracefs_each(t, (enum tracefs_list)list, collect, &w);

		if (rc) {
			diag_error(d, t->dir, -1, "%s", pp_strerror(rc));
			intern_release(&w.names);
			return rc;
		}
		for (uint32_t id = 1; id <= w.names.n; id++) {
			const char *group = intern_get(&w.names, id, NULL);

			buf_reset(&why);
			if (sweep_group(t, (enum tracefs_list)list, group, false, &why)) {
				diag_warn(d, NULL, -1,
					  "probes of a recorder that has exited remain: %s",
					  buf_str(&why));
			} else {
				diag_note(d, NULL, -1,
					  "removed the probes of a recorder that has exited: %s",
					  group);
				++*n;
			}
		}
		buf_release(&why);
		intern_release(&w.names);
	}
	return 0;
}

int inplace_clean(const char *dir, struct diag *d)
{
	struct tracefs t;
	unsigned n;
	int rc = tracefs_open(&t, dir, d);

	return rc ? rc : inplace_sweep(&t, &n, d);
}
