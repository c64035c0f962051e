/* Files of tracefs, of an instance or of the top. */
#include "ftrace/tracefs_files.h"

#include "base/err.h"
#include "event/glob.h"
#include "ftrace/journal.h"
#include "inplace/owner.h"
#include "pevent/sysfile.h"

#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <unistd.h>

void ftfiles_init(struct ftfiles *f, const char *root, const char *dir, struct journal *j)
{
	f->root = root;
	f->journal = j;
	snprintf(f->dir, sizeof(f->dir), "%s", dir);
}

void ftfiles_path(const struct ftfiles *f, const char *name, char path[PATH_MAX], bool *own)
{
	if (*name == '/') {
		*own = false;
		snprintf(path, PATH_MAX, "%s", name);
		return;
	}
	*own = *f->dir && snprintf(path, PATH_MAX, "%s/%s/%s", f->root, f->dir, name) < PATH_MAX &&
	       !access(path, F_OK);
	if (!*own && snprintf(path, PATH_MAX, "%s/%s", f->root, name) >= PATH_MAX)
		*path = 0;
}

bool ftfiles_has(const struct ftfiles *f, const char *name)
{
	char path[PATH_MAX];
	bool own;

	ftfiles_path(f, name, path, &own);
	return !access(path, F_OK);
}

int ftfiles_read(const struct ftfiles *f, const char *name, struct buf *b)
{
	char path[PATH_MAX];
	bool own;

	ftfiles_path(f, name, path, &own);
	return sysfile_read(path, FTFILES_MAX, b);
}

/* "7 (expanded: 1408)" has two numbers: the second is what it becomes with the first use. */
static void expanded(struct buf *b)
{
	const char *text = buf_str(b), *at = strstr(text, "(expanded: ");
	size_t n = at ? strspn(at + 11, "0123456789") : 0;

	if (!n)
		return;
	memmove(b->data, at + 11, n);
	b->len = n;
	b->data[n] = 0;
}

static void chosen(struct buf *b)
{
	const char *open = strchr(buf_str(b), '['), *close = open ? strchr(open, ']') : NULL;

	if (!close)
		return;
	b->len = (size_t)(close - open - 1);
	memmove(b->data, open + 1, b->len);
	b->data[b->len] = 0;
}

int ftfiles_value(const struct ftfiles *f, const char *name, struct buf *b)
{
	int rc;

	buf_reset(b);
	rc = ftfiles_read(f, name, b);
	if (rc)
		return rc;
	while (b->len && isspace(b->data[b->len - 1]))
		b->data[--b->len] = 0;
	if (!strcmp(name, "trace_clock"))
		chosen(b);
	expanded(b);
	/* "1*" has a trigger, too. */
	if (b->len > 1 && strlen(name) > 6 && !strcmp(name + strlen(name) - 6, "enable"))
		b->data[b->len = 1] = 0;
	/* A filter that is not set reads as "none", and is taken away by 0. */
	if (b->len == 4 && strlen(name) > 6 && !strcmp(name + strlen(name) - 6, "filter") &&
	    !memcmp(b->data, "none", 4)) {
		buf_reset(b);
		buf_addc(b, '0');
	}
	return b->err;
}

/*
 * Lists have comments, words that they are empty, and commands ("schedule:traceoff:unlimited"),
 * which stay where they are.
 */
static void drop_comments(struct buf *b)
{
	size_t to = 0;

	for (size_t at = 0; at < b->len;) {
		const char *line = (const char *)b->data + at;
		const char *nl = memchr(line, '\n', b->len - at);
		size_t n = nl ? (size_t)(nl - line) + 1 : b->len - at;

		if (*line != '#' && strncmp(line, "no pid", 6) != 0 && !memchr(line, ':', n)) {
			memmove(b->data + to, line, n);
			to += n;
		}
		at += n;
	}
	if (b->data)
		b->data[to] = 0;
	b->len = to;
}

/* ---- the kernel's words ---- */

/*
 * The last entry of error_log if it is about the value:
 * "[ 12.3] event filter parse error: error: Field not found\n  Command: bad == 1\n ^\n"
 */
static bool logged(const char *log, const char *value, struct buf *why)
{
	const char *last = NULL, *command;
	size_t n = strcspn(value, "\n");

	for (const char *at = log; (at = strstr(at, "error: ")) != NULL; at += 7)
		if (strncmp(at, "error: error: ", 14) != 0)
			last = at + 7;
	command = last ? strstr(last, "Command: ") : NULL;
	if (!command || !n)
		return false;
	/* A trigger stands there without its first word. */
	command += strlen("Command: ");
	if (!memmem(command, strcspn(command, "\n"), value, n) &&
	    !memmem(value, n, command, strcspn(command, "\n")))
		return false;
	buf_addf(why, ": %.*s", (int)strcspn(last, "\n"), last);
	return true;
}

static void kernels_words(const struct ftfiles *f, const char *value, struct buf *why)
{
	struct buf log = BUF_INIT;
	char path[PATH_MAX];

	for (size_t i = 0; i < 2; i++) {
		if (!i && !*f->dir)
			continue;
		buf_reset(&log);
		if (snprintf(path, sizeof(path), "%s/%s%serror_log", f->root, i ? "" : f->dir,
			     i ? "" : "/") >= (int)sizeof(path) ||
		    sysfile_read(path, FTFILES_MAX, &log))
			continue;
		if (logged(buf_str(&log), value, why))
			break;
	}
	buf_release(&log);
}

static int refused(const struct ftfiles *f, const char *name, const char *value, int errnum,
		   struct buf *why)
{
	size_t n = strcspn(value, "\n");
	bool more = n > 60 || value[n];

	buf_addf(why, "the kernel does not accept '");
	buf_add_safe(why, value, n > 60 ? 60 : n);
	buf_addf(why, "%s' for %s: %s", more ? "..." : "", name, strerror(errnum));
	if (errnum == EACCES || errnum == EPERM) {
		buf_adds(why, ": ");
		sysfile_need_root(why, "CAP_SYS_ADMIN, and a kernel that is not locked down");
	} else {
		kernels_words(f, value, why);
	}
	return pp_errno(errnum);
}

/* ---- settings ---- */

/* What a file has, as it would have to be written. */
static int former(const struct ftfiles *f, const char *name, bool lines, struct buf *b)
{
	int rc = lines ? ftfiles_read(f, name, b) : ftfiles_value(f, name, b);

	if (lines)
		drop_comments(b);
	return rc ? rc : b->err;
}

static bool is_so(const struct ftfiles *f, const char *name, const char *value, bool lines)
{
	struct buf now = BUF_INIT;
	bool so = !former(f, name, lines, &now) && !strcmp(buf_str(&now), value);

	buf_release(&now);
	return so;
}

/* Somebody else has set it: fine, if it is as it is wanted. */
static int share(const struct ftfiles *f, const char *name, const char *value, bool lines,
		 const char *holder, const struct buf *was, struct buf *why)
{
	const char *pid = holder + strlen(OWNER_PREFIX);

	if (is_so(f, name, value, lines))
		return journal_add(f->journal, JOURNAL_SET, name, buf_str(was), was->len);
	buf_addf(why, "%s exists only once, and ", name);
	if (!strcmp(holder, f->journal->name))
		buf_adds(why, "another buffer of this recording has set it differently");
	else if (!strncmp(holder, OWNER_PREFIX, strlen(OWNER_PREFIX)))
		buf_addf(why, "another pcap-ftrace has set it: process %.*s",
			 (int)strcspn(pid, "_"), pid);
	else
		buf_addf(why, "it is set for the buffer '%s'", holder);
	return PP_EUSAGE;
}

/* Keeps what a file of the top has been. */
static int keep(const struct ftfiles *f, const char *name, bool lines, struct buf *why)
{
	const struct ftfiles top = {.root = f->root};
	struct buf was = BUF_INIT;
	int rc = former(&top, name, lines, &was);

	if (!rc)
		rc = journal_add(f->journal, JOURNAL_SET, name, buf_str(&was), was.len);
	if (rc)
		buf_addf(why, "cannot save the old value of %s: %s", name, pp_strerror(rc));
	buf_release(&was);
	return rc;
}

static int put(const struct ftfiles *f, const char *name, const char *path, const char *value,
	       struct buf *why)
{
	int errnum = ftput(path, O_TRUNC, value, strlen(value));

	return errnum ? refused(f, name, value, errnum, why) : 0;
}

/* What there is once for the whole machine. */
static int set_shared(const struct ftfiles *f, const char *name, const char *path,
		      const char *value, bool lines, struct buf *why)
{
	char holder[JOURNAL_NAME_MAX + 1];
	struct buf was = BUF_INIT;
	int lock = journal_lock(), rc = journal_holder(f->journal, name, holder, &was);

	/* A filter of all events of a system, then another one of one of them. */
	bool again = !rc && !*f->dir && !strcmp(holder, f->journal->name);

	if (!rc && !again) {
		rc = share(f, name, value, lines, holder, &was, why);
	} else if (again || rc == PP_ENOENT) {
		rc = again ? 0 : keep(f, name, lines, why);
		rc = rc ? rc : put(f, name, path, value, why);
	}
	buf_release(&was);
	journal_unlock(lock);
	return rc;
}

/*
 * Options of a tracer are one and the same in all instances, in most kernels: whether the top's
 * changes, too, tells.
 */
static int set_option(const struct ftfiles *f, const char *name, const char *path,
		      const char *value, struct buf *why)
{
	const struct ftfiles top = {.root = f->root};
	char holder[JOURNAL_NAME_MAX + 1];
	struct buf was = BUF_INIT;
	uint64_t from = f->journal->len;
	int lock = journal_lock(), rc = journal_holder(f->journal, name, holder, &was);

	if (!rc && !is_so(f, name, buf_str(&was), false)) {
		rc = share(f, name, value, false, holder, &was, why);
	} else if (is_so(f, name, value, false)) {
		rc = 0; /* what somebody else has set is not ours to take away */
	} else {
		buf_reset(&was);
		rc = ftfiles_value(&top, name, &was) == 0 ? keep(f, name, false, why) : 0;
		rc = rc ? rc : put(f, name, path, value, why);
		if (!rc && is_so(&top, name, buf_str(&was), false))
			rc = journal_forget(f->journal, from);
	}
	buf_release(&was);
	journal_unlock(lock);
	return rc;
}

static int set(const struct ftfiles *f, const char *name, const char *value, bool lines,
	       struct buf *why)
{
	char path[PATH_MAX];
	bool own;

	ftfiles_path(f, name, path, &own);
	if (access(path, F_OK)) {
		buf_addf(why, "this kernel has no %s", name);
		return PP_ENOENT;
	}
	if (!f->journal)
		return put(f, name, path, value, why);
	if (own && !strncmp(name, "options/", strlen("options/")))
		return set_option(f, name, path, value, why);
	return own ? put(f, name, path, value, why) : set_shared(f, name, path, value, lines, why);
}

int ftfiles_set(const struct ftfiles *f, const char *name, const char *value, struct buf *why)
{
	return set(f, name, value, false, why);
}

int ftfiles_set_lines(const struct ftfiles *f, const char *name, const char *value, struct buf *why)
{
	return set(f, name, value, true, why);
}

int ftfiles_add(const struct ftfiles *f, const char *name, const char *line, const char *undo,
		struct buf *why)
{
	struct buf text = BUF_INIT;
	char path[PATH_MAX];
	int errnum, rc = 0;
	bool own;

	ftfiles_path(f, name, path, &own);
	if (!own && f->journal && undo)
		rc = journal_add(f->journal, JOURNAL_APPEND, name, undo, strlen(undo));
	if (rc) {
		buf_adds(why, pp_strerror(rc));
		return rc;
	}
	/* Without its end a line is taken at the close, where the kernel reports nothing. */
	buf_addf(&text, "%s\n", line);
	errnum = text.err ? ENOMEM : ftput(path, O_APPEND, buf_str(&text), text.len);
	buf_release(&text);
	return errnum ? refused(f, name, line, errnum, why) : 0;
}

int ftfiles_write(const struct ftfiles *f, const char *name, const char *value, struct buf *why)
{
	char path[PATH_MAX];
	int errnum;
	bool own;

	ftfiles_path(f, name, path, &own);
	errnum = ftput(path, O_TRUNC, value, strlen(value));
	return errnum ? refused(f, name, value, errnum, why) : 0;
}

/* ---- what latency tracers keep ---- */

bool fttext_is(const char *tracer)
{
	static const char *const patterns[] = {"wakeup*", "irqsoff", "preemptoff",
					       "preemptirqsoff"};

	for (size_t i = 0; tracer && i < sizeof(patterns) / sizeof(patterns[0]); i++)
		if (glob_match(patterns[i], strlen(patterns[i]), tracer, strlen(tracer)))
			return true;
	return false;
}

bool fttext_has(const struct ftfiles *f)
{
	struct buf tracer = BUF_INIT;
	bool is = !ftfiles_value(f, "current_tracer", &tracer) && fttext_is(buf_str(&tracer));

	buf_release(&tracer);
	return is;
}

int fttext_read(const struct ftfiles *f, struct buf *text, struct diag *d)
{
	int rc = ftfiles_read(f, "trace", text);

	if (rc)
		diag_error(d, NULL, -1, "the findings of the tracer cannot be read: %s",
			   pp_strerror(rc));
	return rc;
}
