/* Reads the perf maps and jitdump files of processes that live, or lived, on this machine. */
#include "symbol/live_maps.h"

#include "base/err.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define STATUS_MAX 16384 /* bytes of /proc/PID/status */

void live_ask(struct live_process *l, uint32_t pid)
{
	enum symtab_reason why;
	struct buf b = BUF_INIT;
	unsigned long v;
	char path[64], *end;
	const char *line;

	*l = (struct live_process){.pid = pid, .user = LIVE_NOBODY};
	snprintf(path, sizeof(path), "/proc/%" PRIu32 "/status", pid);
	if (!root_read(NULL, path, STATUS_MAX, &b, &why)) {
		line = strstr(buf_str(&b), "\nUid:");
		if (line && sscanf(line, "\nUid: %*u %*u %*u %lu", &v) == 1)
			l->user = (uid_t)v;
		line = strstr(buf_str(&b), "\nSigCgt:");
		if (line)
			l->caught = strtoull(line + 8, NULL, 16);
		line = strstr(buf_str(&b), "\nNSpid:");
		for (line += line ? 7 : 0; line && *line != '\n'; line = end) {
			v = strtoul(line, &end, 10);
			if (end == line)
				break;
			l->inner = (uint32_t)v;
			end += strspn(end, "\t ");
		}
	}
	buf_release(&b);
}

static int read_place(const struct live_process *l, const struct root *root, const char *path,
		      size_t max, struct buf *b, char at[ROOT_PATH_MAX], struct buf *tried,
		      enum symtab_reason *why)
{
	int rc;

	if (!root_path(root, path, at))
		return PP_ENOENT;
	rc = root_read_owned(root, path, l->user, max, b, why);
	if (tried)
		buf_addf(tried, "%s: %s\n", at, symtab_reason_text(*why));
	return rc;
}

/* `inside`: as the process sees it; `outside`: here. */
static int read_places(const struct live_process *l, const char *inside, const char *outside,
		       size_t max, struct buf *b, char at[ROOT_PATH_MAX], struct buf *tried,
		       enum symtab_reason *why)
{
	struct root *root = NULL;
	char name[32];
	int rc;

	*why = SYMTAB_NOT_FOUND;
	snprintf(name, sizeof(name), "/proc/%" PRIu32 "/root", l->pid);
	rc = root_open(&root, name, NULL);
	if (!rc)
		rc = read_place(l, root, inside, max, b, at, tried, why);
	root_free(root);
	if (rc && *why != SYMTAB_OWNER)
		rc = read_place(l, NULL, outside, max, b, at, tried, why);
	return rc;
}

int live_read(const struct live_process *l, const char *path, size_t max, struct buf *b,
	      char at[ROOT_PATH_MAX], struct buf *tried, enum symtab_reason *why)
{
	return read_places(l, path, path, max, b, at, tried, why);
}

int live_map(const struct live_process *l, size_t max, struct buf *b, char at[ROOT_PATH_MAX],
	     struct buf *tried, enum symtab_reason *why)
{
	char inside[32], outside[32];

	snprintf(inside, sizeof(inside), "/tmp/perf-%" PRIu32 ".map", l->inner ? l->inner : l->pid);
	snprintf(outside, sizeof(outside), "/tmp/perf-%" PRIu32 ".map", l->pid);
	return read_places(l, inside, outside, max, b, at, tried, why);
}
