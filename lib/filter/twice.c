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

/* One input, and back to its beginning. */
static int scan_one(struct src *s, unsigned keep, record_fn *fn, void *ctx)
{
	struct src_layer layer = {.read = read_on, .free = keep_open, .ctx = s};
	const struct ps_record *rec;
	struct sreader *r;
	struct src *borrowed;
	int rc = src_from_layer(&borrowed, layer, src_name(s)), failed = 0;

	if (!rc)
		rc = sreader_new(&r, borrowed, keep, NULL);
	if (rc)
		return rc;
	while (!failed && !sreader_next(r, &rec))
		failed = fn(ctx, r, rec);
	sreader_free(r);
	return failed;
}

int twice_scan(struct twice *t, char **files, int n, unsigned keep, record_fn *fn, void *ctx,
	       struct diag *d)
{
	int rc = 0;

	*t = (struct twice){.n = n ? n : 1};
	t->v = calloc((size_t)t->n, sizeof(struct src *));
	if (!t->v)
		return PP_ENOMEM;
	for (int i = 0; !rc && i < t->n; i++) {
		uint64_t start;

		if (src_open(&t->v[i], n ? files[i] : "-", d)) {
			t->v[i] = NULL;
			continue;
		}
		if (!src_seekable(t->v[i]) && src_spool(t->v[i], d)) {
			src_free(t->v[i]);
			t->v[i] = NULL;
			continue;
		}
		start = src_tell(t->v[i]);
		rc = scan_one(t->v[i], keep, fn, ctx);
		if (!rc)
			rc = src_seek(t->v[i], start);
	}
	return rc;
}

int twice_open(void *ctx, const char *file, struct src **s, struct diag *d)
{
	struct twice *t = ctx;

	(void)file;
	(void)d;
	*s = t->next < t->n ? t->v[t->next] : NULL;
	if (!*s)
		return t->next++, PP_ENOENT;
	t->v[t->next++] = NULL;
	return 0;
}

void twice_release(struct twice *t)
{
	for (int i = 0; t->v && i < t->n; i++)
		src_free(t->v[i]);
	free(t->v);
	*t = (struct twice){0};
}
