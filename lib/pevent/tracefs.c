/* Tracepoints: their numbers and fields, from tracefs. */
#include "pevent/tracefs.h"

#include "base/err.h"
#include "base/opt.h"
#include "pevent/sysfile.h"

#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <fnmatch.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#define FORMAT_MAX  (1u << 20) /* bytes of a format file */
#define PROBES_MAX  (4u << 20) /* of a list of probes */
#define NEAREST_MAX 2048       /* names that a misspelt one is compared with */

int tracefs_find(const char **dir, struct buf *why)
{
	static const char *const places[] = {"/sys/kernel/tracing", "/sys/kernel/debug/tracing"};
	bool denied = false;

	for (size_t i = 0; i < 2; i++) {
		char path[64];

		snprintf(path, sizeof(path), "%s/events", places[i]);
		if (!access(path, R_OK | X_OK)) {
			*dir = places[i];
			return 0;
		}
		denied = denied || errno == EACCES || errno == EPERM;
	}
	if (denied) {
		buf_addf(why, "tracepoints need read access to %s: ", places[0]);
		sysfile_need_root(why, "CAP_DAC_READ_SEARCH");
		buf_adds(why, ", or give it to your group");
		return PP_EACCES;
	}
	buf_addf(
		why,
		"tracepoints need tracefs, which is not mounted: mount -t tracefs nodev %s (as root)",
		places[0]);
	return PP_ENOENT;
}

bool tracefs_is_glob(const char *s)
{
	return strpbrk(s, "*?[") != NULL;
}

/* Tries one tracepoint; *hits counts those that are there. */
static int visit_one(const char *dir, const char *system, const char *name, tracefs_visit *visit,
		     void *ctx, size_t *hits)
{
	char path[PATH_MAX];
	uint64_t id;
	int rc;

	if (snprintf(path, sizeof(path), "%s/events/%s/%s/id", dir, system, name) >=
	    (int)sizeof(path))
		return 0;
	rc = sysfile_u64(path, &id);
	if (rc == PP_ENOENT)
		return 0; /* "enable" and "filter" are entries too */
	if (rc)
		return rc;
	(*hits)++;
	return visit(ctx, system, name, id);
}

static int visit_system(const char *dir, const char *system, const char *glob, tracefs_visit *visit,
			void *ctx, size_t *hits)
{
	struct sysnames names = {0};
	char path[PATH_MAX];
	int rc = 0;

	if (!tracefs_is_glob(glob))
		return visit_one(dir, system, glob, visit, ctx, hits);
	snprintf(path, sizeof(path), "%s/events/%s", dir, system);
	rc = sysnames_read(&names, path, glob);
	if (rc == PP_ENOENT)
		rc = 0;
	for (size_t i = 0; i < names.n && !rc; i++)
		rc = visit_one(dir, system, names.v[i], visit, ctx, hits);
	sysnames_release(&names);
	return rc;
}

/* Names what was probably meant. */
static void suggest(const char *dir, const char *system, const char *name, struct buf *why)
{
	struct sysnames systems = {0}, names = {0};
	char path[PATH_MAX];
	const char *near = NULL;

	snprintf(path, sizeof(path), "%s/events", dir);
	if (tracefs_is_glob(system) || tracefs_is_glob(name) || sysnames_read(&systems, path, "*"))
		goto out;
	snprintf(path, sizeof(path), "%s/events/%s", dir, system);
	if (!sysnames_read(&names, path, "*"))
		near = opt_nearest(name, (const char *const *)names.v, names.n);
	if (near) {
		buf_addf(why, "; did you mean %s:%s?", system, near);
	} else if (!names.n && systems.n <= NEAREST_MAX) {
		near = opt_nearest(system, (const char *const *)systems.v, systems.n);
		if (near)
			buf_addf(why, "; did you mean %s:%s?", near, name);
	}
out:
	sysnames_release(&systems);
	sysnames_release(&names);
}

int tracefs_glob(const char *dir, const char *system, const char *name, tracefs_visit *visit,
		 void *ctx, struct buf *why)
{
	struct sysnames systems = {0};
	char path[PATH_MAX];
	size_t hits = 0;
	int rc = 0;

	snprintf(path, sizeof(path), "%s/events", dir);
	if (!tracefs_is_glob(system)) {
		rc = visit_system(dir, system, name, visit, ctx, &hits);
	} else {
		rc = sysnames_read(&systems, path, system);
		/* ftrace's own entries have numbers, but are no events for perf_event_open. */
		for (size_t i = 0; i < systems.n && !rc; i++)
			if (strcmp(systems.v[i], "ftrace") != 0)
				rc = visit_system(dir, systems.v[i], name, visit, ctx, &hits);
		sysnames_release(&systems);
	}
	if (rc == PP_EACCES)
		buf_addf(why, "%s cannot be read: permission denied", path);
	if (rc || hits)
		return rc;
	buf_adds(why, "no tracepoint is called '");
	buf_add_safe(why, system, strlen(system));
	buf_addc(why, ':');
	buf_add_safe(why, name, strlen(name));
	buf_addc(why, '\'');
	suggest(dir, system, name, why);
	return PP_ENOENT;
}

/*
 * Takes "char prev_comm[16]", "__data_loc char[] name" or "unsigned long addr" apart: the name
 * is the last word; an array's size goes to the type.
 */
static void add_field(const char *text, size_t len, struct buf *b)
{
	size_t end = len, start;

	if (len && text[len - 1] == ']')
		while (end && text[end] != '[')
			end--;
	for (start = end;
	     start && (isalnum((unsigned char)text[start - 1]) || text[start - 1] == '_');)
		start--;
	if (start == end)
		return;
	buf_add(b, text + start, end - start);
	buf_addc(b, '\t');
	buf_add(b, text, start);
	while (b->len && b->data[b->len - 1] == ' ')
		b->data[--b->len] = 0;
	buf_add(b, text + end, len - end);
	buf_addc(b, '\n');
}

static int read_format(const char *dir, const char *system, const char *name, struct buf *text)
{
	char path[PATH_MAX];

	if (snprintf(path, sizeof(path), "%s/events/%s/%s/format", dir, system, name) >=
	    (int)sizeof(path))
		return PP_ENOENT;
	return sysfile_read(path, FORMAT_MAX, text);
}

bool tracefs_field_at(const char *dir, const char *system, const char *name, const char *field,
		      uint32_t *offset, uint32_t *size)
{
	struct buf text = BUF_INIT, line = BUF_INIT;
	const char *p = NULL;
	bool found;

	buf_addf(&line, " %s;\toffset:", field);
	if (!read_format(dir, system, name, &text) && !line.err)
		p = strstr(buf_str(&text), buf_str(&line));
	found = p && sscanf(p + line.len, "%" SCNu32 ";\tsize:%" SCNu32, offset, size) == 2;
	buf_release(&text);
	buf_release(&line);
	return found;
}

int tracefs_fields(const char *dir, const char *system, const char *name, bool common,
		   struct buf *b)
{
	struct buf text = BUF_INIT;
	int rc = read_format(dir, system, name, &text);

	for (const char *p = rc ? "" : buf_str(&text); *p;) {
		size_t line = strcspn(p, "\n");

		if (strncmp(p, "\tfield:", 7) == 0) {
			size_t len = strcspn(p + 7, ";\n"), at = b->len;

			add_field(p + 7, len, b);
			if (!common && b->len > at && !strncmp((char *)b->data + at, "common_", 7))
				b->len = at;
		}
		p += line + (p[line] == '\n');
	}
	buf_release(&text);
	return rc ? rc : b->err;
}

int tracefs_probes(const char *dir, struct buf *names)
{
	static const char *const lists[] = {"kprobe_events", "uprobe_events", "dynamic_events"};
	struct buf text = BUF_INIT;
	char path[PATH_MAX];
	int rc = 0;

	for (size_t i = 0; i < sizeof(lists) / sizeof(*lists) && !rc; i++) {
		snprintf(path, sizeof(path), "%s/%s", dir, lists[i]);
		rc = sysfile_read(path, PROBES_MAX, &text);
		rc = rc == PP_ENOENT ? 0 : rc;
		buf_addc(&text, '\n');
	}
	/* "p:SYSTEM/NAME PLACE ARGUMENTS", "r8:SYSTEM/NAME ...". */
	buf_addc(names, '\n');
	for (const char *p = buf_str(&text); *p && !rc; p += strspn(p, "\n")) {
		size_t line = strcspn(p, "\n"), kind = strcspn(p, ": \n"), name;

		if (p[kind] == ':') {
			name = strcspn(p + kind + 1, " \n");
			buf_add(names, p + kind + 1, name);
			buf_addc(names, '\n');
		}
		p += line;
	}
	rc = rc ? rc : text.err ? text.err : names->err;
	buf_release(&text);
	return rc;
}

/* Beside the fields of the event: <linux/trace_events.h> knows these in every filter. */
static const char *const filter_words[] = {"comm", "COMM", "cpu", "CPU", "common_stacktrace"};

/* Is the word a name that stands for itself, not a number, function, enum or part of a text? */
static bool misplaced(const char *word, size_t len, const char *const *names, size_t n)
{
	if (isdigit((unsigned char)word[0]))
		return false;
	for (size_t i = 0; i < n; i++)
		if (strlen(names[i]) == len && strncmp(names[i], word, len) == 0)
			return false;
	for (size_t i = 0; i < sizeof(filter_words) / sizeof(filter_words[0]); i++)
		if (strlen(filter_words[i]) == len && strncmp(filter_words[i], word, len) == 0)
			return false;
	return true;
}

/* The first word of the expression, outside of quotes, that is the left side of a comparison. */
static size_t find_misplaced(const char *expr, const char *const *names, size_t n,
			     const char **word)
{
	bool left = true;

	for (const char *p = expr; *p;) {
		size_t len = 0;

		if (*p == '"' || *p == '\'') {
			const char *close = strchr(p + 1, *p);

			if (!close)
				return 0;
			p = close + 1;
			continue;
		}
		while (isalnum((unsigned char)p[len]) || p[len] == '_' || (len && p[len] == '.'))
			len++;
		if (!len) {
			left = *p == '&' || *p == '|' || *p == '(' || *p == '!' ||
			       (left && isspace((unsigned char)*p));
			if (p[0] == '!' && (p[1] == '=' || p[1] == '~'))
				left = false;
			p++;
			continue;
		}
		if (left && misplaced(p, len, names, n)) {
			*word = p;
			return len;
		}
		left = false;
		p += len;
	}
	return 0;
}

void tracefs_filter_fault(const char *dir, const char *system, const char *name, const char *filter,
			  struct buf *why)
{
	struct buf fields = BUF_INIT;
	const char *names[256], *word = NULL, *near = NULL;
	char copy[64];
	size_t n = 0, len = 0;

	if (tracefs_fields(dir, system, name, true, &fields) || !fields.len)
		goto out;
	for (char *p = (char *)fields.data, *end; *p && n < 256; p = end + 1) {
		end = strchr(p, '\n');
		if (!end)
			break;
		p[strcspn(p, "\t")] = 0;
		names[n++] = p;
	}
	len = find_misplaced(filter, names, n, &word);
	if (len && len < sizeof(copy)) {
		memcpy(copy, word, len);
		copy[len] = 0;
		near = opt_nearest(copy, names, n);
		buf_addf(why, ": it has no field '%s'", copy);
		if (near)
			buf_addf(why, "; did you mean %s?", near);
	}
	if (!near) {
		buf_adds(why, len ? "; its fields are" : ": its fields are");
		for (size_t i = 0; i < n; i++)
			if (strncmp(names[i], "common_", 7) != 0)
				buf_addf(why, " %s", names[i]);
	}
out:
	buf_release(&fields);
}
