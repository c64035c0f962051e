/* Tracepoints: their numbers, fields and formats, from tracefs. */
#include "base/err.h"
#include "base/opt.h"
#include "record/parts.h"

#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <fnmatch.h>
#include <limits.h>
#include <stdlib.h>
#include <unistd.h>

#define NAMES_MAX   16384	/* entries of one directory */
#define FORMAT_MAX  (1u << 20)	/* bytes of a format file */
#define PRINTK_MAX  (16u << 20) /* bytes of printk_formats */
#define NEAREST_MAX 2048	/* names that a misspelt one is compared with */

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
		buf_addf(why,
			 "tracepoints need read access to %s: be root, or give it to your group",
			 places[0]);
		return PP_EACCES;
	}
	buf_addf(
		why,
		"tracepoints need tracefs, which is not mounted: mount -t tracefs nodev %s (as root)",
		places[0]);
	return PP_ENOENT;
}

struct names {
	char **v;
	size_t n, cap;
};

static void names_release(struct names *l)
{
	for (size_t i = 0; i < l->n; i++)
		free(l->v[i]);
	free(l->v);
	*l = (struct names){0};
}

static int by_name(const void *a, const void *b)
{
	return strcmp(*(char *const *)a, *(char *const *)b);
}

/* The entries of a directory that fit the glob, in order. */
static int names_read(struct names *l, const char *dir, const char *glob)
{
	DIR *d = opendir(dir);
	struct dirent *e;
	int rc = 0;

	if (!d)
		return pp_errno(errno);
	while (!rc && (e = readdir(d))) {
		char **v = l->v;

		if (fnmatch(glob, e->d_name, FNM_PERIOD) != 0)
			continue;
		if (l->n == l->cap) {
			l->cap = l->cap ? 2 * l->cap : 64;
			v = l->cap > NAMES_MAX ? NULL : realloc(v, l->cap * sizeof(*v));
		}
		if (!v) {
			rc = l->cap > NAMES_MAX ? PP_ELIMIT : PP_ENOMEM;
			break;
		}
		l->v = v;
		v[l->n] = strdup(e->d_name);
		if (v[l->n])
			l->n++;
		else
			rc = PP_ENOMEM;
	}
	closedir(d);
	if (l->n)
		qsort(l->v, l->n, sizeof(*l->v), by_name);
	return rc;
}

static bool is_glob(const char *s)
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
	struct names names = {0};
	char path[PATH_MAX];
	int rc = 0;

	if (!is_glob(glob))
		return visit_one(dir, system, glob, visit, ctx, hits);
	snprintf(path, sizeof(path), "%s/events/%s", dir, system);
	rc = names_read(&names, path, glob);
	if (rc == PP_ENOENT)
		rc = 0;
	for (size_t i = 0; i < names.n && !rc; i++)
		rc = visit_one(dir, system, names.v[i], visit, ctx, hits);
	names_release(&names);
	return rc;
}

/* Names what was probably meant. */
static void suggest(const char *dir, const char *system, const char *name, struct buf *why)
{
	struct names systems = {0}, names = {0};
	char path[PATH_MAX];
	const char *near = NULL;

	snprintf(path, sizeof(path), "%s/events", dir);
	if (is_glob(system) || is_glob(name) || names_read(&systems, path, "*"))
		goto out;
	snprintf(path, sizeof(path), "%s/events/%s", dir, system);
	if (!names_read(&names, path, "*"))
		near = opt_nearest(name, (const char *const *)names.v, names.n);
	if (near) {
		buf_addf(why, "; did you mean %s:%s?", system, near);
	} else if (!names.n && systems.n <= NEAREST_MAX) {
		near = opt_nearest(system, (const char *const *)systems.v, systems.n);
		if (near)
			buf_addf(why, "; did you mean %s:%s?", near, name);
	}
out:
	names_release(&systems);
	names_release(&names);
}

int tracefs_glob(const char *dir, const char *system, const char *name, tracefs_visit *visit,
		 void *ctx, struct buf *why)
{
	struct names systems = {0};
	char path[PATH_MAX];
	size_t hits = 0;
	int rc = 0;

	snprintf(path, sizeof(path), "%s/events", dir);
	if (!is_glob(system)) {
		rc = visit_system(dir, system, name, visit, ctx, &hits);
	} else {
		rc = names_read(&systems, path, system);
		/* ftrace's own entries have numbers, but are no events for perf_event_open. */
		for (size_t i = 0; i < systems.n && !rc; i++)
			if (strcmp(systems.v[i], "ftrace") != 0)
				rc = visit_system(dir, systems.v[i], name, visit, ctx, &hits);
		names_release(&systems);
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

/* The name in a line such as "\tfield:char prev_comm[16];\toffset:8;...". */
static void add_field(const char *line, size_t len, struct buf *fields)
{
	const char *end = memchr(line, ';', len), *start;

	if (!end)
		return;
	if (end > line && end[-1] == ']')
		while (end > line && *end != '[')
			end--;
	for (start = end; start > line && (isalnum((unsigned char)start[-1]) || start[-1] == '_');)
		start--;
	if (start == end)
		return;
	buf_add(fields, start, (size_t)(end - start));
	buf_addc(fields, '\n');
}

/* Adds, separated by newlines, the fields that a filter on the tracepoint can use. */
static int add_fields(const char *dir, const char *system, const char *name, struct buf *fields)
{
	struct buf text = BUF_INIT;
	char path[PATH_MAX];
	int rc;

	snprintf(path, sizeof(path), "%s/events/%s/%s/format", dir, system, name);
	rc = sysfile_read(path, FORMAT_MAX, &text);
	for (const char *p = rc ? "" : buf_str(&text); *p;) {
		size_t len = strcspn(p, "\n");

		if (strncmp(p, "\tfield:", 7) == 0)
			add_field(p + 7, len - 7, fields);
		p += len + (p[len] == '\n');
	}
	buf_release(&text);
	return rc ? rc : fields->err;
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

void tracefs_filter_fault(const char *dir, const struct record_event *ev, struct buf *why)
{
	struct buf fields = BUF_INIT;
	const char *names[256], *word = NULL, *near = NULL;
	char copy[64];
	size_t n = 0, len = 0;

	if (add_fields(dir, ev->system, ev->tp, &fields) || !fields.len)
		goto out;
	for (char *p = (char *)fields.data; *p && n < 256;) {
		char *end = strchr(p, '\n');

		if (!end)
			break;
		*end = 0;
		names[n++] = p;
		p = end + 1;
	}
	len = find_misplaced(ev->filter, names, n, &word);
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

/* A file with its size before it, in size_bytes bytes of host order. */
static int add_file(struct buf *b, const char *path, size_t max, size_t size_bytes)
{
	size_t at = b->len;
	uint64_t size = 0;
	uint32_t size32;
	int rc;

	buf_add(b, &size, size_bytes);
	rc = sysfile_read(path, max, b);
	if (rc == PP_ENOENT)
		return b->err;
	if (rc || b->err)
		return rc ? rc : b->err;
	size = b->len - at - size_bytes;
	size32 = (uint32_t)size;
	if (size_bytes == 4)
		memcpy(b->data + at, &size32, 4);
	else
		memcpy(b->data + at, &size, 8);
	return 0;
}

static int add_header_file(struct buf *b, const char *dir, const char *name)
{
	char path[PATH_MAX];

	snprintf(path, sizeof(path), "%s/events/%s", dir, name);
	buf_add(b, name, strlen(name) + 1);
	return add_file(b, path, FORMAT_MAX, 8);
}

static int by_system_and_name(const void *a, const void *b)
{
	const struct record_event *x = *(const struct record_event *const *)a;
	const struct record_event *y = *(const struct record_event *const *)b;
	int d = strcmp(x->system, y->system);

	return d ? d : strcmp(x->tp, y->tp);
}

/* The formats of each system's events, every one once. */
static int add_formats(struct buf *b, const char *dir, const struct record_event **v, size_t n)
{
	size_t at_systems = b->len, at_count = 0;
	uint32_t systems = 0, count = 0;
	char path[PATH_MAX];
	int rc = 0;

	buf_add(b, &systems, 4);
	for (size_t i = 0; i < n && !rc && !b->err; i++) {
		bool fresh = !i || strcmp(v[i]->system, v[i - 1]->system) != 0;

		if (!fresh && strcmp(v[i]->tp, v[i - 1]->tp) == 0)
			continue;
		if (fresh) {
			systems++;
			count = 0;
			buf_add(b, v[i]->system, strlen(v[i]->system) + 1);
			at_count = b->len;
			buf_add(b, &count, 4);
		}
		count++;
		snprintf(path, sizeof(path), "%s/events/%s/%s/format", dir, v[i]->system, v[i]->tp);
		rc = add_file(b, path, FORMAT_MAX, 8);
		if (!rc && !b->err)
			memcpy(b->data + at_count, &count, 4);
	}
	if (!rc && !b->err)
		memcpy(b->data + at_systems, &systems, 4);
	return rc ? rc : b->err;
}

int tracefs_data(const char *dir, const struct record_events *e, struct buf *b)
{
	static const char magic[] = "\027\010\104tracing0.6";
	const struct record_event **v = calloc(e->n ? e->n : 1, sizeof(*v));
	const uint16_t one = 1;
	uint64_t zero = 0;
	uint32_t page = (uint32_t)sysconf(_SC_PAGESIZE);
	char path[PATH_MAX];
	size_t n = 0;
	int rc;

	if (!v)
		return PP_ENOMEM;
	for (size_t i = 0; i < e->n; i++)
		if (e->v[i].type == PERF_TYPE_TRACEPOINT)
			v[n++] = &e->v[i];
	qsort(v, n, sizeof(*v), by_system_and_name);
	buf_add(b, magic, sizeof(magic));
	buf_addc(b, *(const uint8_t *)&one == 1 ? 0 : 1); /* big endian? */
	buf_addc(b, sizeof(long));
	buf_add(b, &page, 4);
	rc = add_header_file(b, dir, "header_page");
	if (!rc)
		rc = add_header_file(b, dir, "header_event");
	buf_add(b, &zero, 4); /* ftrace's own entries: none is recorded */
	if (!rc)
		rc = add_formats(b, dir, v, n);
	buf_add(b, &zero, 4); /* kallsyms: the mappings and build-ids tell the symbols */
	snprintf(path, sizeof(path), "%s/printk_formats", dir);
	if (!rc)
		rc = add_file(b, path, PRINTK_MAX, 4);
	buf_add(b, &zero, 8); /* saved_cmdlines: the COMM records tell the names */
	free(v);
	return rc ? rc : b->err;
}
