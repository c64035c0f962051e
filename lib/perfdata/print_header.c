/* --header of a perf.data: prints the file header and the header features. */
#include "perfdata/perfdata.h"

#include "base/err.h"
#include "perfdata/dump_records.h"

#include <inttypes.h>
#include <time.h>

struct describer {
	struct perf_reader r;
	struct buf text; /* what waits to be printed */
	struct out *out;
	struct blocks blocks;
};

/* What lies where, as perf prints it: of a pipe all is 0, and its versions are one less. */
static void tell_file(const struct perf_info *p, const struct src *s, struct buf *b)
{
	uint64_t at = p->pipe ? 0 : p->data_offset + p->data_size;
	time_t changed = (time_t)src_mtime(s);
	char date[64];
	struct tm tm;

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
}

static void tell_missing(const struct perf_info *p, struct buf *b)
{
	static const struct {
		uint32_t number;
		const char *name;
	} features[] = {
#define F(name, number, text) {number, #name},
		PERF_FEATURES(F)
#undef F
	};

	buf_adds(b, "# missing features: ");
	for (size_t i = 0; i < sizeof(features) / sizeof(features[0]); i++) {
		if (!perf_has_feature(p, features[i].number))
			buf_addf(b, "%s ", features[i].name);
	}
	buf_adds(b, "\n# ========\n#\n");
}

static int flush(struct describer *p)
{
	int rc = p->text.err;

	if (!rc && p->text.len)
		rc = out_add(p->out, p->text.data, p->text.len);
	buf_reset(&p->text);
	return rc;
}

static int tell_feature(void *ctx, uint32_t feature, struct cursor c)
{
	struct describer *p = ctx;
	int rc, told;

	if (feature == PERF_FEAT_TRACING_DATA)
		return 0;
	if (!perf_feature_known(feature)) {
		if (feature != PERF_FEAT_BUILD_ID)
			diag_note(p->r.info.d, p->r.info.name, -1,
				  "header feature %" PRIu32 " is skipped", feature);
		return 0;
	}
	rc = perf_feature_lines(&p->r.info, feature, c, &p->text);
	told = flush(p);
	return told ? told : rc;
}

/* Records are read for the features in them, and to see whether they are whole. */
static int no_record(void *ctx, const struct perf_raw *raw)
{
	(void)ctx;
	(void)raw;
	return 0;
}

static int describe(struct describer *p)
{
	struct perf_info *info = &p->r.info;
	int rc = perf_reader_open(&p->r), told;

	if (rc)
		return rc;
	tell_file(info, p->r.first.src, &p->text);
	rc = flush(p);
	if (rc)
		return rc;
	/* What can still be read of a damaged header is printed, too. */
	rc = perf_reader_header(&p->r, true);
	if (!rc)
		rc = perf_reader_ended(&p->r, perf_reader_records(&p->r));
	if (!info->pipe)
		tell_missing(info, &p->text);
	told = flush(p);
	if (p->out->err || told)
		return p->out->err ? p->out->err : told;
	return rc ? rc : info->damage;
}

int perf_describe(struct src *s, enum perf_describe what, struct out *o, struct diag *d)
{
	struct describer p = {.out = o};
	int rc;

	if (what == PERF_DESCRIBE_DUMP)
		return perf_dump(s, o, d);
	perf_reader_init(&p.r, s, d, &p.blocks);
	p.r.sink = (struct perf_sink){no_record, tell_feature, &p};
	rc = describe(&p);
	perf_reader_release(&p.r);
	buf_release(&p.text);
	blocks_release(&p.blocks);
	return rc;
}
