/*
 * The directory form of a perf.data: "data" is a recording in file form; `perf record --threads`
 * adds "data.0", "data.1" ... with records only, `perf record --kcore` "kcore_dir" with kallsyms.
 * The format is that of tools/perf/Documentation/perf.data-directory-format.txt of the kernel tree.
 */
#include "perfdata/perf_file.h"

#include "base/err.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#define PARTS_MAX    65536	/* files with records: one for each thread that wrote */
#define PART_BYTES   PERF_BLOCK /* that are read of one before another's turn comes */
#define KALLSYMS_MAX (256u << 20)

/* One of the files. */
struct part {
	struct perf_bytes *in;	 /* that of the reader, or bytes: */
	struct perf_bytes bytes; /* src is NULL when it could not be opened */
	uint64_t time;		 /* of the last record that was read */
	bool done;
};

/* The path of a file beside the recording: 0, PP_ENOMEM, PP_ENOENT (it is in no such directory). */
static int beside(const char *recording, const char *name, struct buf *path)
{
	size_t len = strlen(recording);

	if (len < 4 || strcmp(recording + len - 4, "data") != 0 ||
	    (len > 4 && recording[len - 5] != '/'))
		return PP_ENOENT;
	buf_reset(path);
	buf_add(path, recording, len - 4);
	buf_adds(path, name);
	return path->err;
}

static int open_part(struct perf_reader *r, struct part *t, const char *path)
{
	int rc;

	*t = (struct part){.bytes = {.left = UINT64_MAX,
				     .blocks = r->first.blocks,
				     .d = r->first.d,
				     .name = r->first.name}};
	rc = src_open_file(&t->bytes.src, path, r->info.d);
	/* What is no file is damage of the whole, not another format. */
	return rc == PP_EUNSUPPORTED ? PP_ECORRUPT : rc;
}

/* The file "data" itself, and those beside it. */
static int open_parts(struct perf_reader *r, struct part **parts, uint32_t *n)
{
	struct buf path = BUF_INIT;
	char name[32];
	int rc = 0;

	for (*n = 1; *n <= PARTS_MAX && !rc; ++*n) {
		struct part *v;

		snprintf(name, sizeof(name), "data.%" PRIu32, *n - 1);
		rc = beside(r->info.name, name, &path);
		if (rc || access(buf_str(&path), F_OK) != 0)
			break;
		v = realloc(*parts, ((size_t)*n + 1) * sizeof(*v));
		if (!v) {
			rc = PP_ENOMEM;
			break;
		}
		*parts = v;
		v[0] = (struct part){0};
		rc = open_part(r, &v[*n], buf_str(&path));
		if (rc && rc != PP_ENOMEM) {
			perf_damage(&r->info, rc, -1, "%s: its content is missing", name);
			rc = 0;
		}
	}
	for (uint32_t i = 0; *parts && i < *n; i++)
		(*parts)[i].in = i ? &(*parts)[i].bytes : &r->first;
	buf_release(&path);
	return rc == PP_ENOENT ? 0 : rc;
}

/* The part whose records are the oldest. */
static struct part *oldest(struct part *parts, uint32_t n)
{
	struct part *best = NULL;

	for (uint32_t i = 0; i < n; i++)
		if (!parts[i].done && (!best || parts[i].time < best->time))
			best = &parts[i];
	return best;
}

/* Some records of a part. Returns what ended the reading of all, or 0. */
static int read_some(struct perf_reader *r, struct part *t, int *first_rc)
{
	int rc;

	r->in = t->in;
	r->newest = t->time;
	rc = perf_read_records(r);
	t->time = r->newest;
	if (rc && t->in == &r->first)
		*first_rc = rc;
	else if (rc && rc != PP_END && rc != PP_ENOMEM && !r->stopped)
		perf_damage(&r->info, rc, (int64_t)src_tell(t->in->src), "%s: %s",
			    src_name(t->in->src), pp_strerror(rc));
	t->done = rc != 0;
	r->in = &r->first;
	return rc == PP_ENOMEM || r->stopped ? rc : 0;
}

/* All of them, by turns. */
static int read_all(struct perf_reader *r, struct part *parts, uint32_t n)
{
	int first_rc = PP_END, rc = 0;
	struct part *t;

	r->budget = PART_BYTES;
	for (uint32_t i = 1; i < n; i++)
		parts[i].done = !parts[i].bytes.src;
	while (!rc && (t = oldest(parts, n)))
		rc = read_some(r, t, &first_rc);
	/* Records of the parts lie in their blocks until they are delivered. */
	for (uint32_t i = 1; i < n; i++) {
		src_free(parts[i].bytes.src);
		perf_bytes_release(&parts[i].bytes);
	}
	return rc ? rc : first_rc;
}

int perf_read_parts(struct perf_reader *r)
{
	bool directory = perf_has_feature(&r->info, PERF_FEAT_DIR_FORMAT);
	struct part *parts = NULL;
	uint32_t n = 1;
	int rc = directory ? open_parts(r, &parts, &n) : 0;

	if (rc == PP_ENOMEM) {
		free(parts);
		return rc;
	}
	if (!parts) {
		if (directory)
			diag_note(r->info.d, r->info.name, -1,
				  "there are no files data.0, ... next to it");
		return perf_read_records(r);
	}
	rc = read_all(r, parts, n);
	free(parts);
	return rc;
}

static int read_text(struct src *s, struct buf *b)
{
	size_t got = 0;
	int rc;

	do {
		rc = buf_reserve(b, PERF_BLOCK);
		if (!rc)
			rc = src_read(s, b->data + b->len, PERF_BLOCK, &got);
		b->len += rc ? 0 : got;
	} while (!rc && got && b->len < KALLSYMS_MAX);
	return rc;
}

int perf_read_kallsyms(struct perf_reader *r, struct buf *b)
{
	struct buf path = BUF_INIT;
	struct src *s;
	int rc;

	if (r->info.pipe)
		return 0;
	rc = beside(r->info.name, "kcore_dir/kallsyms", &path);
	if (!rc && access(buf_str(&path), R_OK) != 0)
		rc = PP_ENOENT;
	if (!rc)
		rc = src_open_file(&s, buf_str(&path), r->info.d);
	if (!rc) {
		rc = read_text(s, b);
		src_free(s);
	}
	buf_release(&path);
	if (rc && rc != PP_ENOENT && rc != PP_ENOMEM) {
		perf_damage(&r->info, rc, -1, "kcore_dir/kallsyms: it cannot be read");
		buf_reset(b);
	}
	return rc == PP_ENOMEM ? rc : 0;
}
