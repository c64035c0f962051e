/* What there is to trace with: tracers, clocks, options, events, functions; what can be printed. */
#include "ftrace/parts.h"

#include "base/err.h"
#include "event/glob.h"
#include "pevent/sysfile.h"
#include "print/check.h"

#include <stdio.h>

static int words(const char *root, const char *file, struct buf *text)
{
	const struct ftfiles top = {.root = root};
	struct buf v = BUF_INIT;
	int rc = ftfiles_read(&top, file, &v);

	for (char *p = (char *)v.data; !rc && p && *p;) {
		size_t n = strcspn(p, " \n");

		if (n) {
			buf_add(text, p, n);
			buf_addc(text, '\n');
		}
		p += n + (p[n] != 0);
	}
	buf_release(&v);
	return rc;
}

/* "sym-offset=0" a line. */
static int options(const char *root, const char *glob, struct buf *text)
{
	const struct ftfiles top = {.root = root};
	struct sysnames names = {0};
	char path[PATH_MAX];
	struct buf v = BUF_INIT;
	int rc;

	snprintf(path, sizeof(path), "%s/options", root);
	rc = sysnames_read(&names, path, glob);
	for (size_t i = 0; i < names.n && !rc; i++) {
		snprintf(path, sizeof(path), "options/%.200s", names.v[i]);
		if (!ftfiles_value(&top, path, &v))
			buf_addf(text, "%s=%s\n", names.v[i], buf_str(&v));
	}
	sysnames_release(&names);
	buf_release(&v);
	return rc;
}

static int events(const char *root, const char *glob, struct buf *text)
{
	const struct ftfiles top = {.root = root};
	struct buf v = BUF_INIT;
	int rc = ftfiles_read(&top, "available_events", &v);

	for (const char *p = rc ? "" : buf_str(&v); *p;) {
		size_t n = strcspn(p, "\n"), system = strcspn(p, ":\n");

		if (glob_match(glob, strlen(glob), p, n) ||
		    glob_match(glob, strlen(glob), p, system) ||
		    (system < n &&
		     glob_match(glob, strlen(glob), p + system + 1, n - system - 1))) {
			buf_add(text, p, n);
			buf_addc(text, '\n');
		}
		p += n + (p[n] == '\n');
	}
	buf_release(&v);
	return rc;
}

static int one(const char *root, const char *what, const char *glob, struct buf *text)
{
	if (!strcmp(what, "tracers"))
		return words(root, "available_tracers", text);
	if (!strcmp(what, "clocks"))
		return words(root, "trace_clock", text);
	if (!strcmp(what, "options"))
		return options(root, glob, text);
	if (!strcmp(what, "functions"))
		return functions_list(root, glob, text);
	return events(root, strcmp(what, "events") != 0 ? what : glob, text);
}

int ftrace_list(char *const *list, struct buf *text, struct diag *d)
{
	static const char *const all[] = {"tracers", "clocks", "options", "events"};
	const char *root;
	int rc = setup_root(&root, d);

	if (rc)
		return rc;
	if (list[0]) {
		rc = one(root, list[0], list[1] ? list[1] : "*", text);
		if (!rc && !text->len) {
			diag_error(d, NULL, -1, "nothing fits '%s'", list[1] ? list[1] : list[0]);
			return PP_ENOENT;
		}
	}
	for (size_t i = 0; i < sizeof(all) / sizeof(all[0]) && !list[0] && !rc; i++) {
		buf_addf(text, "%s%s:\n", i ? "\n" : "", all[i]);
		rc = one(root, all[i], "*", text);
	}
	if (rc)
		diag_error(d, root, -1, "%s", pp_strerror(rc));
	return rc;
}

/* ---- formats ---- */

/* "SYSTEM:EVENT\n" is one of the list. Adds it if its text cannot be printed. */
static int check(struct print_check *c, const struct ftfiles *top, const char *line, size_t len,
		 struct buf *failed)
{
	size_t system = strcspn(line, ":");
	struct buf format = BUF_INIT;
	char name[256], path[300];
	bool ok = true;
	int rc;

	if (system >= len || len >= sizeof(name))
		return 0;
	snprintf(name, sizeof(name), "%.*s", (int)len, line);
	name[system] = 0;
	snprintf(path, sizeof(path), "events/%s/%s/format", name, name + system + 1);
	rc = ftfiles_read(top, path, &format);
	if (!rc)
		rc = print_check_event(c, name, buf_str(&format), format.len, &ok);
	if (!rc && !ok)
		buf_addf(failed, "%.*s\n", (int)len, line);
	buf_release(&format);
	/* Events come and go with modules and probes. */
	return rc == PP_ENOENT ? 0 : rc ? rc : failed->err;
}

int ftrace_check_events(struct buf *failed, struct diag *d)
{
	struct ftfiles top = {0};
	struct print_check *c = NULL;
	struct buf events = BUF_INIT;
	size_t n = 0, bad = 0;
	int rc = setup_root(&top.root, d);

	if (rc)
		return rc;
	rc = ftfiles_read(&top, "available_events", &events);
	if (!rc)
		rc = print_check_new(&c);
	for (const char *p = buf_str(&events); !rc && *p; n++) {
		size_t len = strcspn(p, "\n");

		rc = check(c, &top, p, len, failed);
		p += len + (p[len] == '\n');
	}
	for (size_t i = 0; i < failed->len; i++)
		bad += failed->data[i] == '\n';
	print_check_free(c);
	buf_release(&events);
	if (rc)
		diag_error(d, NULL, -1, "%s", pp_strerror(rc));
	else
		diag_say(d, NULL, "%zu events, of which %zu cannot be printed as text", n, bad);
	return rc;
}
