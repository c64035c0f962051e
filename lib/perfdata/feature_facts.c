/* Header features as facts in the stream: META records, and BLOBs of the texts in tracing data. */
#include "perfdata/decoder.h"

#include "base/err.h"

#include <inttypes.h>
#include <stdio.h>

/* What is added to a time for the time of day. */
static int put_wall(struct perf_decoder *p)
{
	char text[32];

	p->out.wall = true;
	snprintf(text, sizeof(text), "%" PRId64, p->r.info.facts.wall_offset);
	return perf_meta(p, "wall_offset", text, strlen(text));
}

/* Kernel symbols, then printk formats. */
static int put_tables(struct perf_decoder *p, struct cursor c)
{
	struct ps_str tables[PERF_TABLES];
	int rc = perf_tracing_tables(c, tables), put = 0;

	for (uint32_t i = 0; i < PERF_TABLES && !put; i++)
		put = perf_blob(p, PS_BLOB_KALLSYMS + i, tables[i].p, tables[i].len);
	return put ? put : rc;
}

static int put_value(struct perf_decoder *p, uint32_t feature, struct cursor c)
{
	const char *key = perf_feature_key(feature);
	struct buf value = BUF_INIT;
	int rc = perf_feature_value(&p->r.info, feature, c, &value);

	if (!rc)
		rc = perf_meta(p, key, buf_str(&value), value.len);
	buf_release(&value);
	return rc;
}

int perf_feature_put(struct perf_decoder *p, uint32_t feature, struct cursor c)
{
	int rc = 0;

	if (p->r.info.facts.has_wall && !p->out.wall)
		rc = put_wall(p);
	if (!rc && feature == PERF_FEAT_EVENT_DESC)
		rc = perf_event_write_renamed(p);
	if (rc)
		return rc;
	if (feature == PERF_FEAT_TRACING_DATA)
		return put_tables(p, c);
	if (perf_feature_known(feature))
		return put_value(p, feature, c);
	if (feature == FEAT_SIMPLEPERF_FILE || feature == FEAT_SIMPLEPERF_FILE2)
		return perf_names_put(p, feature, c);
	if (feature == FEAT_SIMPLEPERF_KALLSYMS)
		return perf_blob(p, PS_BLOB_KALLSYMS, c.p, cursor_left(&c));
	if (feature != PERF_FEAT_BUILD_ID)
		diag_note(p->r.info.d, p->r.info.name, -1, "header feature %" PRIu32 " is skipped",
			  feature);
	return 0;
}
