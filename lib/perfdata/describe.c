/* What a perf.data says about itself: the file header and the header features. */
#include "perfdata/parts.h"

#include "base/err.h"

#include <inttypes.h>
#include <time.h>

/* What lies where, as perf prints it: of a pipe all is 0, and its versions are one less. */
int perf_tell_file(struct perf *p)
{
	uint64_t at = p->pipe ? 0 : p->data_offset + p->data_size;
	time_t changed = (time_t)src_mtime(p->src);
	struct buf *b = &p->view->text;
	char date[64];
	struct tm tm;

	if (p->view->what != PERF_DESCRIBE_HEADER)
		return 0;
	buf_adds(b, "# ========\n");
	if (changed && localtime_r(&changed, &tm) &&
	    strftime(date, sizeof(date), "%a %b %e %H:%M:%S %Y", &tm))
		buf_addf(b, "# captured on    : %s\n", date);
	buf_addf(b,
		 "# header version : %d\n# data offset    : %" PRIu64
		 "\n# data size      : %" PRIu64 "\n# feat offset    : %" PRIu64 "\n",
		 p->version - 1, p->data_offset, p->data_size, at);
	if (p->pipe)
		buf_adds(b, "# ========\n#\n");
	return perf_tell_flush(p);
}

static void tell_missing(struct perf *p)
{
	static const struct {
		uint32_t number;
		const char *name;
	} features[] = {
#define F(name, number, text) {number, #name},
		PERF_FEATURES(F)
#undef F
	};
	struct buf *b = &p->view->text;

	buf_adds(b, "# missing features: ");
	for (size_t i = 0; i < sizeof(features) / sizeof(features[0]); i++) {
		uint32_t n = features[i].number;

		if (!(p->features[n / 64] >> (n % 64) & 1))
			buf_addf(b, "%s ", features[i].name);
	}
	buf_adds(b, "\n# ========\n#\n");
}

int perf_tell_end(struct perf *p)
{
	if (p->view->what == PERF_DESCRIBE_HEADER && !p->pipe)
		tell_missing(p);
	return perf_tell_flush(p);
}

int perf_tell_flush(struct perf *p)
{
	struct buf *b = &p->view->text;
	int rc = b->err;

	if (!rc && b->len)
		rc = out_add(p->view->out, b->data, b->len);
	buf_reset(b);
	return rc;
}

/* The stream is not wanted. */
static int discard(void *ctx, uint8_t *bytes, size_t n)
{
	(void)ctx;
	(void)bytes;
	(void)n;
	return 0;
}

int perf_describe(struct src *s, enum perf_describe what, struct out *o, struct diag *d)
{
	struct perf_view v = {.what = what, .text = BUF_INIT, .out = o};
	struct ps_end end = {0};
	struct swriter w;
	struct out records;
	int rc = out_init_fn(&records, discard, NULL);

	if (rc)
		return rc;
	swriter_init(&w, &records);
	rc = perf_decode_view(s, 1, &w, d, &end, &v, false);
	buf_release(&v.text);
	out_release(&records);
	return rc;
}
