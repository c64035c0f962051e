/* One recording in several files (--switch-output), each of which can be read by itself. */
#include "base/err.h"
#include "record/parts.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

#define HUNDREDTH 10000000 /* ns of a hundredth of a second */

bool files_due(const struct recorder *r)
{
	const struct record_config *c = r->c;

	return (c->switch_signal && r->snap) ||
	       (c->switch_size && r->sink.bytes + sink_waiting(&r->sink) >= c->switch_size) ||
	       (c->switch_ns && now_ns(CLOCK_MONOTONIC) - r->file_began >= c->switch_ns);
}

/*
 * FILE.2026112303420517: with hundredths of a second, as perf does; with later ones where a file of
 * that name is there.
 */
static bool stamped(const char *path, char name[PATH_MAX])
{
	struct timespec t = {0};
	struct tm tm;
	char stamp[32];

	clock_gettime(CLOCK_REALTIME, &t);
	do {
		localtime_r(&t.tv_sec, &tm);
		strftime(stamp, sizeof(stamp), "%Y%m%d%H%M%S", &tm);
		if (snprintf(name, PATH_MAX, "%s.%s%02ld", path, stamp, t.tv_nsec / HUNDREDTH) >=
		    PATH_MAX)
			return false;
		t.tv_nsec += HUNDREDTH;
		t.tv_sec += t.tv_nsec / 1000000000;
		t.tv_nsec %= 1000000000;
	} while (!access(name, F_OK));
	return true;
}

/* Removes the oldest file where only the newest ones are kept. */
static void forget_oldest(struct recorder *r)
{
	size_t len;

	if (!r->c->switch_files || r->n_files <= r->c->switch_files)
		return;
	len = strlen(buf_str(&r->files)) + 1;
	(void)unlink(buf_str(&r->files));
	memmove(r->files.data, r->files.data + len, r->files.len - len);
	r->files.len -= len;
	r->n_files--;
}

static int give_name(struct recorder *r)
{
	char name[PATH_MAX];

	if (!stamped(r->c->path, name))
		errno = ENAMETOOLONG;
	else if (!rename(r->c->path, name))
		errno = 0;
	if (errno) {
		diag_error(r->d, r->c->path, -1, "cannot rename: %s", strerror(errno));
		return PP_EIO;
	}
	buf_add(&r->files, name, strlen(name) + 1);
	r->n_files++;
	forget_oldest(r);
	diag_note(r->d, name, -1, "written");
	return r->files.err;
}

int files_switch(struct recorder *r, bool last)
{
	int fd, rc;

	r->bytes += r->sink.bytes;
	rc = sink_close(&r->sink);
	if (rc)
		return out_error(r, rc);
	r->sink.bytes = 0;
	rc = r->c->path && r->c->stamp_file ? give_name(r) : 0;
	if (rc || last || !r->c->path)
		return rc;
	fd = open(r->c->path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
	if (fd < 0) {
		diag_error(r->d, r->c->path, -1, "cannot write: %s", strerror(errno));
		return PP_EIO;
	}
	sink_init(&r->sink, fd);
	r->file_began = now_ns(CLOCK_MONOTONIC);
	return 0;
}
