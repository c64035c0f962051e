/* The formats of tracepoints, which a reader needs to decode them. */
#include "base/err.h"
#include "pevent/sysfile.h"
#include "record/parts.h"

#include <limits.h>
#include <stdlib.h>
#include <unistd.h>

#define FORMAT_MAX (1u << 20)  /* bytes of a format file */
#define PRINTK_MAX (16u << 20) /* bytes of printk_formats */

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

static const char *shown(const struct pevent *ev)
{
	return ev->shown ? ev->shown : ev->system;
}

static int by_system_and_name(const void *a, const void *b)
{
	const struct pevent *x = *(const struct pevent *const *)a;
	const struct pevent *y = *(const struct pevent *const *)b;
	int d = strcmp(shown(x), shown(y));

	d = d ? d : strcmp(x->tp, y->tp);
	return d ? d : strcmp(x->system, y->system);
}

/* The formats of each system's events, every one once. */
static int add_formats(struct buf *b, const char *dir, const struct pevent **v, size_t n)
{
	size_t at_systems = b->len, at_count = 0;
	uint32_t systems = 0, count = 0;
	char path[PATH_MAX];
	int rc = 0;

	buf_add(b, &systems, 4);
	for (size_t i = 0; i < n && !rc && !b->err; i++) {
		bool fresh = !i || strcmp(shown(v[i]), shown(v[i - 1])) != 0;

		if (!fresh && strcmp(v[i]->tp, v[i - 1]->tp) == 0 &&
		    strcmp(v[i]->system, v[i - 1]->system) == 0)
			continue;
		if (fresh) {
			systems++;
			count = 0;
			buf_add(b, shown(v[i]), strlen(shown(v[i])) + 1);
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

int tracefs_data(const char *dir, const struct pevents *e, struct buf *b)
{
	static const char magic[] = "\027\010\104tracing0.6";
	const struct pevent **v = calloc(e->n ? e->n : 1, sizeof(*v));
	const uint16_t one = 1;
	uint64_t zero = 0;
	uint32_t page = (uint32_t)sysconf(_SC_PAGESIZE);
	char path[PATH_MAX];
	size_t n = 0;
	int rc;

	if (!v)
		return PP_ENOMEM;
	for (size_t i = 0; i < e->n; i++)
		if (e->v[i].attr.type == PERF_TYPE_TRACEPOINT)
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
