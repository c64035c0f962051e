/* Inputs that are read twice; a pipe is copied for that. */
#include "filter/twice.h"

#include "base/err.h"

#include <stdlib.h>

static int read_on(void *ctx, void *buf, size_t n, size_t *got)
{
	return src_read(ctx, buf, n, got);
}

static void keep_open(void *ctx)
{
	(void)ctx;
}

typedef int record_fn(void *ctx, const struct sreader *r, const struct ps_record *rec);

/*
 * What the second reading finds again, and reports. Of other errors the first reading knows
 * alone: what it has found out is not that of the whole input.
 */
static bool is_damage(int rc)
{
	return rc == PP_END || rc == PP_ECUT || rc == PP_ECORRUPT || rc == PP_EUNSUPPORTED;
}

/* One input. */
static int scan_one(struct src *s, unsigned keep, record_fn *fn, void *ctx)
{
	struct src_layer layer = {.read = read_on, .free = keep_open, .ctx = s};
	const struct ps_record *rec;
	struct sreader *r;
	struct src *borrowed;
	int rc = src_from_layer(&borrowed, layer, src_name(s));

	if (!rc)
		rc = sreader_new(&r, borrowed, keep, NULL);
	if (rc)
		return rc;
	while (!(rc = sreader_next(r, &rec))) {
		rc = fn(ctx, r, rec);
		if (rc)
			break;
	}
	sreader_free(r);
	return is_damage(rc) ? 0 : rc;
}

static void close_all(struct twice *t)
{
	for (int i = 0; t->v && i < t->n; i++) {
		src_free(t->v[i]);
		t->v[i] = NULL;
	}
}

/* Opens an input, which is NULL where that cannot be, and scans it. */
static int scan_input(struct src **s, const char *file, unsigned keep, record_fn *fn, void *ctx,
		      struct diag *d)
{
	uint64_t start;
	int rc;

	if (src_open(s, file, d)) {
		*s = NULL;
		return 0;
	}
	if (!src_seekable(*s) && src_spool(*s, d)) {
		src_free(*s);
		*s = NULL;
		return 0;
	}
	start = src_tell(*s);
	rc = scan_one(*s, keep, fn, ctx);
	if (!rc)
		rc = src_seek(*s, start);
	if (rc)
		diag_error(d, file, -1, "cannot read it the first of two times: %s",
			   pp_strerror(rc));
	return rc;
}

void twice_scan(struct twice *t, char **files, int n, unsigned keep, record_fn *fn, void *ctx,
		struct diag *d)
{
	int rc = 0;

	*t = (struct twice){.n = n ? n : 1};
	t->v = calloc((size_t)t->n, sizeof(struct src *));
	if (!t->v) {
		diag_error(d, NULL, -1, "%s", pp_strerror(PP_ENOMEM));
		return;
	}
	for (int i = 0; !rc && i < t->n; i++)
		rc = scan_input(&t->v[i], n ? files[i] : "-", keep, fn, ctx, d);
	if (rc)
		close_all(t);
}

int twice_open(void *ctx, const char *file, struct src **s, struct diag *d)
{
	struct twice *t = ctx;

	(void)file;
	(void)d;
	*s = t->v && t->next < t->n ? t->v[t->next] : NULL;
	if (!*s)
		return t->next++, PP_ENOENT;
	t->v[t->next++] = NULL;
	return 0;
}

void twice_release(struct twice *t)
{
	close_all(t);
	free(t->v);
	*t = (struct twice){0};
}
