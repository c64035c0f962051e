/* Probes that exist: registering events, listing and removing them. */
#include "probe/registry.h"

#include "base/buf.h"
#include "base/err.h"
#include "base/out.h"
#include "event/glob.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <unistd.h>

static void event_name(const struct event *e, char out[2 * NAME_EVENT_MAX + 4])
{
	snprintf(out, 2 * NAME_EVENT_MAX + 4, "%s/%s", e->group, e->name);
}

/*
 * Adds the lines of an event one by one; of a pattern what the kernel refuses is left out. The
 * event keeps the lines that were taken. 0, or the first refusal where that ends it.
 */
static int add_lines(const struct tracefs *t, enum tracefs_list list, struct event *e,
		     struct added *a, struct buf *why)
{
	char *lines = strdup(buf_str(&e->lines)), *save = NULL, *line;
	int rc = lines ? 0 : PP_ENOMEM;

	buf_reset(&e->lines);
	e->points = 0;
	line = lines ? strtok_r(lines, "\n", &save) : NULL;
	for (; !rc && line; line = strtok_r(NULL, "\n", &save)) {
		struct buf bad = BUF_INIT;

		rc = tracefs_add(t, list, line, &bad);
		if (!rc) {
			buf_addf(&e->lines, "%s\n", line);
			e->points++;
		} else if (e->pattern && rc != PP_ENOMEM) {
			rc = 0;
			a->refused++;
		}
		if (!why->len)
			buf_adds(why, buf_str(&bad));
		buf_release(&bad);
	}
	free(lines);
	return rc ? rc : e->lines.err;
}

int registry_add(const struct tracefs *t, enum tracefs_list list, struct event *e,
		 const char *mine_file, struct added *added, struct diag *d)
{
	uint32_t refused = added->refused;
	char name[2 * NAME_EVENT_MAX + 4];
	struct buf why = BUF_INIT;
	int rc = add_lines(t, list, e, added, &why), bad;

	event_name(e, name);
	refused = added->refused - refused;
	if (rc) {
		diag_error(d, NULL, -1, "%s: %s", name, why.len ? buf_str(&why) : pp_strerror(rc));
		if (e->points)
			registry_undo(t, list, e, mine_file, d);
	} else if (refused) {
		diag_warn(d, NULL, -1, "%s: %u of %u places left out: %s", name, refused,
			  refused + e->points, buf_str(&why));
	}
	bad = !rc && e->points ? mine_add(mine_file, name) : 0;
	if (bad)
		diag_warn(d, mine_file, -1, "%s: --all-mine will not know of %s", pp_strerror(bad),
			  name);
	added->made += rc ? 0 : e->points;
	added->unnoted = added->unnoted || bad;
	buf_release(&why);
	return rc;
}

void registry_undo(const struct tracefs *t, enum tracefs_list list, const struct event *e,
		   const char *mine_file, struct diag *d)
{
	char name[2 * NAME_EVENT_MAX + 4];
	struct buf why = BUF_INIT;
	int rc;

	event_name(e, name);
	rc = tracefs_remove(t, list, name, &why);
	if (rc)
		diag_error(d, NULL, -1, "%s was made, and cannot be removed: %s", name,
			   why.len ? buf_str(&why) : pp_strerror(rc));
	else
		mine_remove(mine_file, name);
	buf_release(&why);
}

/* ---- walking ---- */

struct walk {
	const struct tracefs *t;
	enum tracefs_list list;
	const char *mine_file;
	struct diag *d;
	/* listing */
	struct sheet sheet;
	/* removing */
	char **patterns;
	int n;
	bool all_mine;
	int failed;	     /* to tell whose a probe is */
	struct intern names; /* to remove: "LIST GROUP/EVENT", list as one digit */
};

static int each_list(struct walk *w, tracefs_fn *fn)
{
	int rc = 0;

	/* dynamic_events has what the two others have, and more. */
	for (int i = TRACEFS_LISTS; !rc && i-- > 0;) {
		w->list = (enum tracefs_list)i;
		if (w->list != TRACEFS_DYNAMIC && tracefs_has(w->t, TRACEFS_DYNAMIC))
			break;
		rc = tracefs_each(w->t, w->list, fn, w);
	}
	return rc;
}

static bool wanted(struct walk *w, const char *name)
{
	const char *slash = strchr(name, '/'), *event = slash ? slash + 1 : name;
	char full[256];
	bool mine = false;

	if (w->all_mine) {
		w->failed = mine_has(w->mine_file, name, &mine);
		return mine;
	}
	snprintf(full, sizeof(full), "%s", name);
	if (slash)
		full[slash - name] = ':';
	for (int i = 0; i < w->n; i++) {
		const char *p = w->patterns[i];
		size_t n = strlen(p);

		if (glob_match(p, n, full, strlen(full)) || glob_match(p, n, name, strlen(name)) ||
		    glob_match(p, n, event, strlen(event)))
			return true;
	}
	return false;
}

static const struct record_column columns[] = {{"event", 32}, {"mine", 4}, {"definition", 0}, {0}};

static int put(void *ctx, const char *name, const char *line)
{
	struct walk *w = ctx;
	char *event = strdup(name), *slash = event ? strchr(event, '/') : NULL;
	bool mine = false;
	int rc = event ? 0 : PP_ENOMEM;

	if (!rc && w->n && !wanted(w, name)) {
		free(event);
		return 0;
	}
	rc = rc ? rc : mine_has(w->mine_file, name, &mine);

	/* Who may not read the file made none of them. */
	if (rc && rc != PP_EACCES) {
		free(event);
		return rc;
	}
	if (slash)
		*slash = ':';
	sheet_text(&w->sheet, event);
	sheet_text(&w->sheet, mine ? "mine" : "");
	sheet_text(&w->sheet, line);
	free(event);
	return sheet_end_row(&w->sheet);
}

int registry_list(const struct tracefs *t, char **patterns, int n, enum table_form form,
		  const char *mine_file, struct diag *d)
{
	struct walk w = {.t = t, .mine_file = mine_file, .d = d, .patterns = patterns, .n = n};
	int rc = sheet_begin(&w.sheet, columns, form);

	if (!rc)
		rc = each_list(&w, put);
	rc = sheet_finish(&w.sheet, rc, t->dir, d);
	if (!rc && n && !w.sheet.n) {
		diag_error(d, NULL, -1, "no probe matches");
		rc = PP_ENOENT;
	}
	return rc ? PP_EXIT_FAIL : PP_EXIT_OK;
}

static int collect(void *ctx, const char *name, const char *line)
{
	struct walk *w = ctx;
	char key[256];
	uint32_t id;

	/* Eprobes and others are not ours to remove. */
	if (!strchr("prf", line[0]) || !wanted(w, name))
		return w->failed;
	snprintf(key, sizeof(key), "%d%s", (int)w->list, name);
	return intern_add(&w->names, key, strlen(key), &id, NULL);
}

static int remove_all(struct walk *w)
{
	int status = PP_EXIT_OK;

	for (uint32_t id = 1; id <= w->names.n; id++) {
		const char *key = intern_get(&w->names, id, NULL), *name = key + 1;
		struct buf why = BUF_INIT;

		if (tracefs_remove(w->t, (enum tracefs_list)(key[0] - '0'), name, &why)) {
			diag_error(w->d, NULL, -1, "%s: %s", name,
				   why.len ? buf_str(&why) : "it cannot be removed");
			status = PP_EXIT_FAIL;
		} else {
			/* A name that stays says nothing of a probe that is gone. */
			mine_remove(w->mine_file, name);
			diag_note(w->d, NULL, -1, "%s: removed", name);
		}
		buf_release(&why);
	}
	return status;
}

int registry_delete(const struct tracefs *t, char **patterns, int n, bool all_mine,
		    const char *mine_file, struct diag *d)
{
	struct walk w = {.t = t,
			 .mine_file = mine_file,
			 .d = d,
			 .patterns = patterns,
			 .n = n,
			 .all_mine = all_mine};
	int rc = each_list(&w, collect), status = PP_EXIT_FAIL;

	if (rc) {
		diag_error(d, t->dir, -1, "%s", pp_strerror(rc));
	} else if (!w.names.n && !all_mine) {
		diag_error(d, NULL, -1, "no probe matches");
	} else {
		status = remove_all(&w);
	}
	intern_release(&w.names);
	return status;
}

/* ---- the probes of pprobe ---- */

#define MINE_MAX (4u << 20) /* bytes of the file */

/* Opens and locks it; nobody else can have put another file there: /run is root's. */
static int open_locked(const char *file, int flags)
{
	int fd = open(file, flags | O_CLOEXEC | O_NOFOLLOW, 0600);

	if (fd >= 0 && flock(fd, (flags & O_ACCMODE) == O_RDONLY ? LOCK_SH : LOCK_EX)) {
		close(fd);
		return -1;
	}
	return fd;
}

static int read_all(int fd, struct buf *b)
{
	ssize_t n;

	do {
		if (buf_reserve(b, 4096) || b->len > MINE_MAX)
			return b->err ? b->err : PP_ELIMIT;
		n = pread(fd, b->data + b->len, 4096, (off_t)b->len);
		if (n < 0)
			return pp_errno(errno);
		b->len += (size_t)n;
		b->data[b->len] = 0;
	} while (n);
	return 0;
}

/* The line of a name, or NULL. */
static char *find(const struct buf *b, const char *name)
{
	size_t n = strlen(name);
	char *at = (char *)b->data;

	while (at && *at) {
		if (!strncmp(at, name, n) && at[n] == '\n')
			return at;
		at = strchr(at, '\n');
		at = at ? at + 1 : NULL;
	}
	return NULL;
}

int mine_add(const char *file, const char *name)
{
	struct buf b = BUF_INIT;
	int fd = open_locked(file, O_RDWR | O_CREAT), rc;

	if (fd < 0)
		return pp_errno(errno);
	rc = read_all(fd, &b);
	if (!rc && !find(&b, name)) {
		size_t had = b.len;

		buf_adds(&b, name);
		buf_addc(&b, '\n');
		rc = b.err;
		if (!rc && lseek(fd, (off_t)had, SEEK_SET) < 0)
			rc = pp_errno(errno);
		rc = rc ? rc : out_write_all(fd, b.data + had, b.len - had);
	}
	close(fd);
	buf_release(&b);
	return rc;
}

int mine_remove(const char *file, const char *name)
{
	struct buf b = BUF_INIT;
	int fd = open_locked(file, O_RDWR), rc;
	char *at;

	if (fd < 0)
		return errno == ENOENT ? 0 : pp_errno(errno);
	rc = read_all(fd, &b);
	at = rc ? NULL : find(&b, name);
	if (at) {
		size_t n = strlen(name) + 1, start = (size_t)(at - (char *)b.data);

		memmove(at, at + n, b.len - start - n);
		b.len -= n;
		if (lseek(fd, 0, SEEK_SET) < 0)
			rc = pp_errno(errno);
		rc = rc ? rc : out_write_all(fd, b.data, b.len);
		if (!rc && ftruncate(fd, (off_t)b.len))
			rc = pp_errno(errno);
	}
	close(fd);
	buf_release(&b);
	return rc;
}

int mine_has(const char *file, const char *name, bool *mine)
{
	struct buf b = BUF_INIT;
	int fd = open_locked(file, O_RDONLY), rc;

	*mine = false;
	if (fd < 0)
		return errno == ENOENT ? 0 : pp_errno(errno);
	rc = read_all(fd, &b);
	*mine = !rc && find(&b, name);
	close(fd);
	buf_release(&b);
	return rc;
}
