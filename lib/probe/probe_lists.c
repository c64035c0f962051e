/* The kernel's lists of probes. */
#include "probe/probe_lists.h"

#include "base/err.h"
#include "base/out.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <unistd.h>

static const char *const list_names[TRACEFS_LISTS] = {"uprobe_events", "kprobe_events",
						      "dynamic_events"};

int tracefs_open(struct tracefs *t, const char *dir, struct diag *d)
{
	static const char *const dirs[] = {"/sys/kernel/tracing", "/sys/kernel/debug/tracing"};
	char path[320];

	t->diag = d;
	for (size_t i = 0; i < 2; i++) {
		snprintf(t->dir, sizeof(t->dir), "%s", dir ? dir : dirs[i]);
		snprintf(path, sizeof(path), "%s/uprobe_events", t->dir);
		if (access(path, F_OK) == 0)
			return 0;
		snprintf(path, sizeof(path), "%s/kprobe_events", t->dir);
		if (access(path, F_OK) == 0)
			return 0;
	}
	if (errno == EACCES)
		diag_error(d, t->dir, -1, "permission denied: probes require root");
	else
		diag_error(d, dir ? dir : dirs[0], -1,
			   "no probes here: is tracefs mounted, and has the kernel "
			   "CONFIG_UPROBE_EVENTS or CONFIG_KPROBE_EVENTS?");
	return errno == EACCES ? PP_EACCES : PP_ENOENT;
}

static int open_list(const struct tracefs *t, const char *name, int flags)
{
	char path[320];

	snprintf(path, sizeof(path), "%s/%s", t->dir, name);
	return open(path, flags | O_CLOEXEC);
}

int tracefs_lock(const struct tracefs *t)
{
	int fd = -1;

	/* The lists are root's alone: nobody else can hold a lock on them. */
	for (int i = 0; fd < 0 && i < TRACEFS_LISTS; i++)
		fd = open_list(t, list_names[i], O_RDONLY);
	while (fd >= 0 && flock(fd, LOCK_EX))
		if (errno != EINTR) {
			close(fd);
			return -1;
		}
	return fd;
}

bool tracefs_has(const struct tracefs *t, enum tracefs_list list)
{
	int fd = open_list(t, list_names[list], O_RDONLY);

	if (fd >= 0)
		close(fd);
	return fd >= 0 || errno == EACCES;
}

static int read_file(const struct tracefs *t, const char *name, struct buf *text)
{
	int fd = open_list(t, name, O_RDONLY);
	ssize_t n = 1;
	int rc = 0;

	if (fd < 0)
		return errno == ENOENT ? 0 : pp_errno(errno);
	while (n > 0 && !rc) {
		if (buf_reserve(text, 65536))
			break;
		n = read(fd, text->data + text->len, 65536);
		if (n < 0)
			rc = pp_errno(errno);
		else
			text->len += (size_t)n;
		if (text->len > TRACEFS_LIST_MAX)
			rc = PP_ELIMIT;
	}
	close(fd);
	if (text->data)
		text->data[text->len] = 0;
	return rc ? rc : text->err;
}

/* The text of a list; a list that is not there is empty. 0, or an error. */
static int tracefs_read(const struct tracefs *t, enum tracefs_list list, struct buf *text)
{
	return read_file(t, list_names[list], text);
}

/* The kernel's last complaint: "[ 12.3] trace_uprobe: error: Invalid ...". */
static void last_error(const struct tracefs *t, struct buf *why)
{
	struct buf log = BUF_INIT;
	const char *at, *last = NULL;

	if (read_file(t, "error_log", &log) == 0 && log.len)
		for (at = buf_str(&log); (at = strstr(at, "error: ")) != NULL; at += 7)
			last = at + 7;
	if (last)
		buf_addf(why, " (%.*s)", (int)strcspn(last, "\n"), last);
	buf_release(&log);
}

static int append(const struct tracefs *t, enum tracefs_list list, const char *line,
		  struct buf *why)
{
	char text[TRACEFS_LINE_MAX + 2];
	size_t n = strlen(line);
	int fd = open_list(t, list_names[list], O_WRONLY | O_APPEND), rc = 0;
	ssize_t done;

	if (fd < 0) {
		rc = pp_errno(errno);
		buf_addf(why, "%s/%s: %s", t->dir, list_names[list], strerror(errno));
		return rc;
	}
	/* In one write: the kernel takes whole lines. Without malloc, as it also cleans up. */
	memcpy(text, line, n);
	text[n] = '\n';
	done = write(fd, text, n + 1);
	if (done != (ssize_t)(n + 1)) {
		int errnum = done < 0 ? errno : EIO;

		rc = pp_errno(errnum);
		buf_addf(why, "the kernel does not accept '%s': %s", line, strerror(errnum));
		if (errnum != EBUSY && errnum != EACCES)
			last_error(t, why);
	}
	if (close(fd) && !rc)
		rc = pp_errno(errno);
	return rc;
}

int tracefs_add(const struct tracefs *t, enum tracefs_list list, const char *line, struct buf *why)
{
	if (strlen(line) > TRACEFS_LINE_MAX) {
		buf_addf(why,
			 "the definition is longer than the %d characters that the kernel accepts",
			 TRACEFS_LINE_MAX);
		return PP_ELIMIT;
	}
	return append(t, list, line, why);
}

int tracefs_add_all(const struct tracefs *t, enum tracefs_list list, const struct buf *lines)
{
	int fd = lines->err ? -1 : open_list(t, list_names[list], O_WRONLY | O_APPEND), rc = 0;
	size_t done = 0;

	if (fd < 0)
		return lines->err ? lines->err : pp_errno(errno);
	/* It may take a part, up to the end of a line. */
	while (!rc && done < lines->len) {
		ssize_t n = write(fd, lines->data + done, lines->len - done);

		if (n > 0)
			done += (size_t)n;
		else if (n == 0 || errno != EINTR)
			rc = n ? pp_errno(errno) : PP_EIO;
	}
	if (close(fd) && !rc)
		rc = pp_errno(errno);
	return rc;
}

int tracefs_remove(const struct tracefs *t, enum tracefs_list list, const char *name,
		   struct buf *why)
{
	char line[256];
	int rc;

	snprintf(line, sizeof(line), "-:%s", name);
	rc = append(t, list, line, why);
	if (rc == pp_errno(EBUSY)) {
		buf_reset(why);
		buf_addf(why, "%s is in use: something records it", name);
	}
	return rc;
}

int tracefs_each(const struct tracefs *t, enum tracefs_list list, tracefs_fn *fn, void *ctx)
{
	struct buf text = BUF_INIT;
	int rc = tracefs_read(t, list, &text);
	char *save = NULL, *line;

	line = rc || !text.len ? NULL : strtok_r((char *)text.data, "\n", &save);
	for (; line && !rc; line = strtok_r(NULL, "\n", &save)) {
		const char *name = strchr(line, ':');
		char event[256];

		if (!name)
			continue;
		snprintf(event, sizeof(event), "%.*s", (int)strcspn(name + 1, " "), name + 1);
		rc = fn(ctx, event, line);
	}
	buf_release(&text);
	return rc;
}
