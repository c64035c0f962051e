/*
 * Takes from perf's own records what is needed to read on: events and their names, build-ids,
 * header features of the pipe form, the end mark. They are not put in order, but act when they are
 * read.
 */
#include "perfdata/perf_file.h"

enum { UPDATE_NAME = 2 };

static int learn_attr(struct perf_reader *r, uint16_t misc, struct cursor c)
{
	struct cursor peek = c;
	struct perf_attr *a;
	uint32_t size;
	int rc;

	if (misc == PERF_MISC_END_MARK)
		r->mark_announced = true;
	get_u32(&peek);
	size = get_u32(&peek);
	if (size < PERF_ATTR_SIZE_VER0)
		size = PERF_ATTR_SIZE_VER0;
	rc = perf_attr_add(&r->info, cursor_sub(&c, size), &a);
	while (!rc && cursor_left(&c) >= 8)
		rc = perf_attr_id(&r->info, a, get_u64(&c));
	perf_attr_layout(&r->info);
	return rc;
}

static int learn_name(struct perf_reader *r, struct cursor c)
{
	uint64_t kind = get_u64(&c), id = get_u64(&c);
	const uint32_t *slot = map64_get(&r->info.by_id, id);
	const char *text;
	size_t len;

	if (c.bad || kind != UPDATE_NAME || !slot)
		return c.bad ? PP_ECUT : 0;
	text = get_text(&c, cursor_left(&c), &len);
	return text ? perf_attr_rename(&r->info.attrs[*slot - 1], text, len) : PP_ECUT;
}

static int learn_feature(struct perf_reader *r, struct cursor c)
{
	uint32_t feature = (uint32_t)get_u64(&c);

	if (c.bad)
		return PP_ECUT;
	if (!cursor_left(&c) && !perf_feature_is_flag(feature))
		return 0;
	return perf_feature_learn(&r->info, feature, c);
}

int perf_own_learn(struct perf_reader *r, const struct perf_raw *raw)
{
	struct cursor c = perf_raw_body(raw, r->info.swap);

	switch (raw->type) {
	case PERF_REC_HEADER_ATTR: return learn_attr(r, raw->misc, c);
	case PERF_REC_EVENT_UPDATE: return learn_name(r, c);
	case PERF_REC_HEADER_BUILD_ID: return perf_build_id(&r->info, c, raw->misc);
	case PERF_REC_HEADER_FEATURE: return learn_feature(r, c);
	case PERF_REC_FINISHED_ROUND:
		if (raw->misc == PERF_MISC_END_MARK) {
			r->mark_seen = true;
			src_unfollow(r->first.src);
		}
		return 0;
	default: return 0;
	}
}
