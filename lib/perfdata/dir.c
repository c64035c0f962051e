/*
 * The directory form of a perf.data: "data" is a recording in file form; `perf record --threads` adds
 * "data.0", "data.1" ... with records only, `perf record --kcore` "kcore_dir" with kallsyms. The format
 * is that of tools/perf/Documentation/perf.data-directory-format.txt of the kernel tree.
 */
#include "perfdata/parts.h"

#include "base/err.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#define PARTS_MAX    65536	/* files with records: one for each thread that wrote */
#define PART_BYTES   PERF_BLOCK /* that are read of one before another's turn comes */
#define KALLSYMS_MAX (256u << 20)

/* Where the reading of one file stands; that of the one whose turn it is lies in struct perf. */
struct perf_part {
	struct src *src;
	struct block *cur;
	size_t pos;
	uint64_t left;
	void *inflate;
	struct buf inflate_tail;
	uint64_t inflated;
	uint64_t time; /* of the last record that was read */
	bool done;
};

/* The path of a file beside the recording: 0, PP_ENOMEM, PP_ENOENT (it is in no directory of this form). */
static int beside(const struct perf *p, const char *name, struct buf *path)
{
	size_t len = strlen(p->name);

	if (len < 4 || strcmp(p->name + len - 4, "data") != 0 ||
	    (len > 4 && p->name[len - 5] != '/'))
		return PP_ENOENT;
	buf_reset(path);
	buf_add(path, p->name, len - 4);
	buf_adds(path, name);
	return path->err;
}

/* Exchanges the state of a part with that of struct perf. */
static void turn(struct perf *p, struct perf_part *t)
{
	struct perf_part was = {.src = p->src,
				.cur = p->cur,
				.pos = p->pos,
				.left = p->left,
				.inflate = p->inflate,
				.inflate_tail = p->inflate_tail,
				.inflated = p->inflated,
				.time = t->time,
				.done = t->done};

	p->src = t->src;
	p->cur = t->cur;
	p->pos = t->pos;
	p->left = t->left;
	p->inflate = t->inflate;
	p->inflate_tail = t->inflate_tail;
	p->inflated = t->inflated;
	*t = was;
}

static int open_parts(struct perf *p, struct perf_part **parts, uint32_t *n)
{
	struct buf path = BUF_INIT;
	char name[32];
	int rc = 0;

	for (*n = 1; *n <= PARTS_MAX && !rc; ++*n) {
		struct perf_part *v;

		snprintf(name, sizeof(name), "data.%" PRIu32, *n - 1);
		rc = beside(p, name, &path);
		if (rc || access(buf_str(&path), F_OK) != 0)
			break;
		v = realloc(*parts, ((size_t)*n + 1) * sizeof(*v));
		if (!v) {
			rc = PP_ENOMEM;
			break;
		}
		*parts = v;
		v[0] = (struct perf_part){0}; /* the file "data" itself */
		v[*n] = (struct perf_part){.left = UINT64_MAX};
		rc = src_open(&v[*n].src, buf_str(&path), p->d);
		if (rc && rc != PP_ENOMEM) {
			perf_damage(p, rc, -1, "%s: what it holds is missing", name);
			rc = 0;
		}
	}
	buf_release(&path);
	return rc == PP_ENOENT ? 0 : rc;
}

static void close_part(struct perf_part *t)
{
	src_free(t->src);
	block_unref(t->cur);
	perf_inflate_free(t->inflate);
	buf_release(&t->inflate_tail);
}

/* The part whose records are the oldest. */
static struct perf_part *oldest(struct perf_part *parts, uint32_t n)
{
	struct perf_part *best = NULL;

	for (uint32_t i = 0; i < n; i++)
		if (!parts[i].done && (!best || parts[i].time < best->time))
			best = &parts[i];
	return best;
}

/* Some records of a part. Returns what ended the reading of all, or 0. */
static int read_some(struct perf *p, struct perf_part *t, bool first, int *first_rc)
{
	int rc;

	if (!first)
		turn(p, t);
	p->newest = t->time;
	rc = perf_read_records(p);
	t->time = p->newest;
	if (first && rc)
		*first_rc = rc;
	else if (rc && rc != PP_END && rc != PP_ENOMEM && !p->w->err)
		perf_damage(p, rc, (int64_t)src_tell(p->src), "%s: %s", src_name(p->src),
			    pp_strerror(rc));
	t->done = rc != 0;
	if (!first)
		turn(p, t);
	return rc == PP_ENOMEM || p->w->err ? rc : 0;
}

int perf_read_parts(struct perf *p)
{
	struct perf_part *parts = NULL, *t;
	uint32_t n = 1;
	int rc = perf_has_feature(p, PERF_FEAT_DIR_FORMAT) ? open_parts(p, &parts, &n) : 0;
	int first_rc = PP_END;

	if (rc == PP_ENOMEM)
		return rc;
	if (!parts) {
		if (perf_has_feature(p, PERF_FEAT_DIR_FORMAT))
			diag_note(p->d, p->name, -1, "there are no files data.0, ... beside it");
		return perf_read_records(p);
	}
	rc = 0;
	p->budget = PART_BYTES;
	while (!rc && (t = oldest(parts, n)))
		rc = t == parts || t->src ? read_some(p, t, t == parts, &first_rc)
					  : (t->done = true, 0);
	/* Records of the parts lie in their blocks until they are delivered. */
	for (uint32_t i = 1; i < n; i++)
		close_part(&parts[i]);
	free(parts);
	return rc ? rc : first_rc;
}

int perf_read_kallsyms(struct perf *p)
{
	struct buf path = BUF_INIT, text = BUF_INIT;
	struct src *s;
	size_t got = 0;
	int rc = 0;

	if (p->pipe)
		return 0;
	rc = beside(p, "kcore_dir/kallsyms", &path);
	if (!rc && access(buf_str(&path), R_OK) != 0)
		rc = PP_ENOENT;
	if (!rc)
		rc = src_open(&s, buf_str(&path), p->d);
	if (!rc) {
		do {
			rc = buf_reserve(&text, PERF_BLOCK);
			if (!rc)
				rc = src_read(s, text.data + text.len, PERF_BLOCK, &got);
			text.len += rc ? 0 : got;
		} while (!rc && got && text.len < KALLSYMS_MAX);
		if (!rc)
			rc = perf_blob(p, 1, text.data, text.len);
		src_free(s);
	}
	buf_release(&path);
	buf_release(&text);
	if (rc && rc != PP_ENOENT && rc != PP_ENOMEM && !p->w->err) {
		perf_damage(p, rc, -1, "kcore_dir/kallsyms: it cannot be read");
		rc = 0;
	}
	return rc == PP_ENOENT ? 0 : rc;
}
