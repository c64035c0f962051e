/* CPUs and threads by the user's words. */
#include "pevent/target.h"

#include "base/err.h"
#include "pevent/online.h"
#include "pevent/sysfile.h"

#include <dirent.h>
#include <errno.h>
#include <pwd.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>

static bool has(const int *list, size_t n, int v)
{
	for (size_t i = 0; i < n; i++)
		if (list[i] == v)
			return true;
	return false;
}

/* CPUs that are wanted, and in the machine, but offline. Without a list of all there are none. */
static int find_away(struct target *t, const struct online *o, const int *wanted, size_t n_wanted)
{
	int *present = NULL;
	size_t n = 0;
	int rc = online_present(&present, &n);

	if (rc)
		return rc == PP_ENOMEM ? rc : 0;
	for (size_t i = 0; i < n; i++)
		if (!online_has(o, present[i]) && (!wanted || has(wanted, n_wanted, present[i])))
			present[t->n_away++] = present[i];
	t->away = present;
	return 0;
}

/* Those that are online, of the CPUs that the user named. */
static int named_cpus(struct target *t, const struct online *o, const char *list, struct diag *d)
{
	size_t kept = 0;
	int rc = cpulist_parse(list, &t->cpus, &t->n_cpus);

	if (rc) {
		diag_error(d, NULL, -1, "'%s' is not a list of CPUs", list);
		return rc;
	}
	rc = find_away(t, o, t->cpus, t->n_cpus);
	for (size_t i = 0; i < t->n_cpus; i++) {
		if (online_has(o, t->cpus[i]))
			t->cpus[kept++] = t->cpus[i];
		else
			diag_warn(d, NULL, -1, "CPU %d is not online", t->cpus[i]);
	}
	t->n_cpus = kept;
	return rc;
}

static int find_cpus(struct target *t, const char *wanted, struct diag *d)
{
	struct online o = {0};
	bool changed;
	int rc = online_look(&o, &changed);

	if (rc) {
		diag_error(d, NULL, -1, "%s: %s", ONLINE_FILE, pp_strerror(rc));
	} else if (wanted) {
		rc = named_cpus(t, &o, wanted, d);
	} else {
		t->cpus = o.cpus;
		t->n_cpus = o.n;
		rc = find_away(t, &o, NULL, 0);
		o.cpus = NULL;
	}
	online_release(&o);
	return rc;
}

static int add_threads(pid_t pid, struct buf *tids)
{
	char path[64];
	struct dirent *e;
	DIR *d;

	snprintf(path, sizeof(path), "/proc/%d/task", pid);
	d = opendir(path);
	if (!d)
		return PP_ENOENT;
	while ((e = readdir(d))) {
		pid_t tid = (pid_t)strtol(e->d_name, NULL, 10);

		if (tid > 0)
			buf_add(tids, &tid, sizeof(tid));
	}
	closedir(d);
	return tids->err;
}

/* The process of a thread; 0: there is none. */
static pid_t process_of(pid_t tid)
{
	struct buf b = BUF_INIT;
	char path[64];
	const char *line;
	pid_t pid = 0;

	snprintf(path, sizeof(path), "/proc/%d/status", tid);
	if (!sysfile_read(path, SYSFILE_MAX, &b)) {
		line = strstr(buf_str(&b), "\nTgid:");
		pid = line ? (pid_t)strtol(line + 6, NULL, 10) : 0;
	}
	buf_release(&b);
	return pid;
}

static int bad_list(const char *list, const char *what, struct diag *d)
{
	diag_error(d, NULL, -1, "'%s' is not a list of %s", list, what);
	return PP_EUSAGE;
}

static int take_pids(struct target *t, const char *list, struct buf *tids, struct diag *d)
{
	int rc = 0;

	if (pidlist_parse(list, &t->pids, &t->n_pids))
		return bad_list(list, "process numbers", d);
	for (size_t i = 0; i < t->n_pids && !rc; i++) {
		rc = add_threads(t->pids[i], tids);
		if (rc == PP_ENOENT)
			diag_error(d, NULL, -1, "there is no process %d", t->pids[i]);
	}
	return rc;
}

/* Threads; what exists already is told about their processes. */
static int take_tids(struct target *t, const char *list, struct buf *tids, struct diag *d)
{
	struct buf pids = BUF_INIT;
	pid_t *v, pid;
	size_t n;
	int rc = 0;

	if (pidlist_parse(list, &v, &n))
		return bad_list(list, "thread numbers", d);
	for (size_t i = 0; i < n && !rc; i++) {
		pid = process_of(v[i]);
		if (!pid) {
			diag_error(d, NULL, -1, "there is no thread %d", v[i]);
			rc = PP_ENOENT;
		} else if (!has((int *)(void *)pids.data, pids.len / sizeof(pid), pid)) {
			buf_add(&pids, &pid, sizeof(pid));
		}
	}
	buf_add(tids, v, n * sizeof(*v));
	free(v);
	t->pids = (pid_t *)(void *)pids.data;
	t->n_pids = pids.len / sizeof(pid);
	return rc ? rc : pids.err;
}

static bool user_number(const char *user, uid_t *uid)
{
	const struct passwd *p = getpwnam(user);
	char *end;
	unsigned long v = strtoul(user, &end, 10);

	*uid = p ? p->pw_uid : (uid_t)v;
	return p || (*user >= '0' && *user <= '9' && !*end && v < UINT32_MAX);
}

/* Every process of a user; those that end meanwhile are left out. */
static int take_user(struct target *t, const char *user, struct buf *tids, struct diag *d)
{
	struct buf pids = BUF_INIT;
	struct dirent *e;
	uid_t uid;
	DIR *dir;
	int rc = 0;

	if (!user_number(user, &uid)) {
		diag_error(d, NULL, -1, "there is no user '%s'", user);
		return PP_ENOENT;
	}
	dir = opendir("/proc");
	while (dir && !rc && (e = readdir(dir))) {
		pid_t pid = (pid_t)strtol(e->d_name, NULL, 10);
		struct stat st;

		if (pid <= 0 || fstatat(dirfd(dir), e->d_name, &st, 0) || st.st_uid != uid)
			continue;
		rc = add_threads(pid, tids);
		if (!rc)
			buf_add(&pids, &pid, sizeof(pid));
		rc = rc == PP_ENOENT ? 0 : rc;
	}
	if (dir)
		closedir(dir);
	if (!rc && !tids->len) {
		diag_error(d, NULL, -1, "user '%s' has no process", user);
		rc = PP_ENOENT;
	}
	t->pids = (pid_t *)(void *)pids.data;
	t->n_pids = pids.len / sizeof(pid_t);
	return rc ? rc : pids.err;
}

int target_find(struct target *t, const struct target_want *w, pid_t child, struct diag *d)
{
	struct buf tids = BUF_INIT;
	pid_t one = w->all_cpus ? -1 : child;
	int rc = find_cpus(t, w->cpus, d);

	if (!rc && w->pids)
		rc = take_pids(t, w->pids, &tids, d);
	else if (!rc && w->tids)
		rc = take_tids(t, w->tids, &tids, d);
	else if (!rc && w->user)
		rc = take_user(t, w->user, &tids, d);
	else
		buf_add(&tids, &one, sizeof(one));
	rc = rc ? rc : tids.err;
	t->tids = (pid_t *)(void *)tids.data;
	t->n_tids = tids.len / sizeof(pid_t);
	return rc;
}

void target_release(struct target *t)
{
	free(t->cpus);
	free(t->away);
	free(t->pids);
	free(t->tids);
	*t = (struct target){0};
}
