/*
 * What comes before the records of a perf.data: the file header, attributes, and the header
 * features, as tools/perf/Documentation/perf.data-file-format.txt describes them.
 */
#include "input/perf.h"

#include "base/buf.h"
#include "base/err.h"

#include <inttypes.h>
#include <stdlib.h>

struct section {
	uint64_t offset, size;
};

static struct section get_section(struct cursor *c)
{
	struct section s;

	s.offset = get_u64(c);
	s.size = get_u64(c);
	return s;
}

/* Reads a section whole. *bytes is to be freed. */
static int load(struct perf *p, struct section s, const char *what, uint8_t **bytes)
{
	int rc;

	*bytes = NULL;
	if (s.size > PERF_SECTION_MAX) {
		perf_damage(p, PP_ECORRUPT, (int64_t)s.offset, "%s of %" PRIu64 " bytes", what,
			    s.size);
		return PP_ECORRUPT;
	}
	/* The size is checked against the file's before memory is asked for. */
	if (s.offset > src_size(p->src) || s.size > src_size(p->src) - s.offset) {
		perf_damage(p, PP_ECUT, (int64_t)s.offset, "%s is cut off", what);
		return PP_ECUT;
	}
	*bytes = malloc(s.size + 1);
	if (!*bytes)
		return PP_ENOMEM;
	rc = src_pread(p->src, *bytes, s.size, s.offset);
	if (rc) {
		perf_damage(p, rc, (int64_t)s.offset, "%s cannot be read", what);
		free(*bytes);
		*bytes = NULL;
	}
	return rc;
}

static int read_ids(struct perf *p, struct perf_attr *a, struct section s)
{
	struct cursor c;
	uint8_t *bytes;
	int rc = s.size ? load(p, s, "the ids of an event", &bytes) : 0;

	if (rc || !s.size)
		return rc == PP_ENOMEM ? rc : 0;
	c = cursor_make(bytes, s.size, p->swap);
	while (!rc && cursor_left(&c) >= 8)
		rc = perf_attr_id(p, a, get_u64(&c));
	free(bytes);
	return rc;
}

static int read_attrs(struct perf *p, struct section s, uint64_t attr_size)
{
	struct cursor c;
	uint8_t *bytes;
	int rc;

	if (attr_size < PERF_ATTR_SIZE_VER0 + 16 || attr_size > 4096) {
		perf_damage(p, PP_ECORRUPT, 16, "attributes of %" PRIu64 " bytes", attr_size);
		return PP_ECORRUPT;
	}
	rc = load(p, s, "the table of events", &bytes);
	if (rc)
		return rc;
	c = cursor_make(bytes, s.size, p->swap);
	while (!rc && cursor_left(&c) >= attr_size) {
		struct cursor attr = cursor_sub(&c, attr_size - 16);
		struct section ids = get_section(&c);
		struct perf_attr *a;

		rc = perf_attr_add(p, attr, &a);
		if (!rc)
			rc = read_ids(p, a, ids);
	}
	free(bytes);
	return rc;
}

int perf_read_file_header(struct perf *p, const uint8_t *first16)
{
	uint8_t bytes[PERF_FILE_HEADER_SIZE];
	struct section attrs, data;
	uint64_t size, attr_size;
	struct cursor c;
	int rc = 0;

	memcpy(bytes, first16, 16);
	if (src_pread(p->src, bytes, sizeof(bytes), 0)) {
		diag_error(p->d, p->name, -1, "the file header is cut off");
		return PP_ECUT;
	}
	c = cursor_make(bytes, sizeof(bytes), p->swap);
	cursor_skip(&c, 8);
	size = get_u64(&c);
	attr_size = get_u64(&c);
	attrs = get_section(&c);
	data = get_section(&c);
	get_section(&c); /* event types: no longer used */
	for (int i = 0; i < 4; i++)
		p->features[i] = size >= PERF_FILE_HEADER_SIZE ? get_u64(&c) : 0;
	p->data_offset = data.offset;
	p->data_size = data.size;
	if (data.offset > src_size(p->src) || data.offset < 8) {
		diag_error(p->d, p->name, 40, "the data section lies outside of the file");
		return PP_ECORRUPT;
	}
	rc = read_attrs(p, attrs, attr_size);
	if (!rc && !p->nattrs) {
		diag_error(p->d, p->name, 24, "the recording has no events");
		rc = PP_ECORRUPT;
	}
	return rc;
}

int perf_read_features(struct perf *p)
{
	uint64_t at = p->data_offset + p->data_size;

	/* A recording that was never finished has no features. */
	if (!p->data_size || at < p->data_offset)
		return 0;
	for (uint32_t f = 0; f < PERF_FEAT_MAX; f++) {
		uint8_t head[16], *bytes;
		struct cursor c;
		struct section s;
		int rc;

		if (!(p->features[f / 64] >> (f % 64) & 1))
			continue;
		if (src_pread(p->src, head, sizeof(head), at)) {
			perf_damage(p, PP_ECUT, (int64_t)at,
				    "the table of header features is cut off");
			return 0;
		}
		at += sizeof(head);
		c = cursor_make(head, sizeof(head), p->swap);
		s = get_section(&c);
		rc = load(p, s, "a header feature", &bytes);
		if (!rc) {
			rc = perf_feature(p, f, cursor_make(bytes, s.size, p->swap));
			free(bytes);
		}
		if (rc == PP_ENOMEM || p->w->err)
			return rc;
		if (rc)
			perf_damage(p, PP_ECORRUPT, (int64_t)s.offset,
				    "header feature %u is damaged", f);
	}
	return 0;
}

static const char *feature_key(uint32_t feature)
{
	switch (feature) {
#define F(name, number, text) \
	case number: return text;
		PERF_FEATURES(F)
#undef F
	}
	return NULL;
}

static int meta(struct perf *p, const char *key, const char *value, size_t len)
{
	struct ps_meta m = {.key = ps_str(key, strlen(key)), .value = ps_str(value, len)};

	return swriter_put(p->w, PS_META, p->source, &m);
}

/* A string of a feature: u32 length with padding, text with NUL. */
static const char *get_string(struct cursor *c, size_t *len)
{
	uint32_t n = get_u32(c);

	return get_text(c, n, len);
}

static int string_feature(struct perf *p, const char *key, struct cursor c)
{
	size_t len;
	const char *s = get_string(&c, &len);

	return s ? meta(p, key, s, len) : PP_ECUT;
}

static int cmdline_feature(struct perf *p, const char *key, struct cursor c)
{
	uint32_t n = get_u32(&c);
	struct buf b = BUF_INIT;
	int rc = 0;

	for (uint32_t i = 0; i < n && !c.bad; i++) {
		size_t len;
		const char *s = get_string(&c, &len);

		if (!s)
			break;
		if (i)
			buf_addc(&b, ' ');
		buf_add(&b, s, len);
	}
	rc = c.bad ? PP_ECUT : meta(p, key, buf_str(&b), b.len);
	buf_release(&b);
	return rc;
}

static int numbers_feature(struct perf *p, const char *key, struct cursor c, unsigned n, bool wide)
{
	struct buf b = BUF_INIT;
	int rc;

	for (unsigned i = 0; i < n; i++)
		buf_addf(&b, "%s%" PRIu64, i ? " " : "", wide ? get_u64(&c) : get_u32(&c));
	rc = c.bad ? PP_ECUT : meta(p, key, buf_str(&b), b.len);
	buf_release(&b);
	return rc;
}

/* Names of the events: attribute, ids and name of each. */
static int event_desc(struct perf *p, struct cursor c)
{
	uint32_t n = get_u32(&c), attr_size = get_u32(&c);

	if (n > PERF_ATTRS_MAX)
		return PP_ECORRUPT;
	for (uint32_t i = 0; i < n; i++) {
		struct perf_attr *a = i < p->nattrs ? &p->attrs[i] : NULL;
		const char *name;
		uint32_t nids;
		size_t len;
		int rc;

		cursor_skip(&c, attr_size);
		nids = get_u32(&c);
		name = get_string(&c, &len);
		if (name && nids && cursor_left(&c) >= 8 && p->nattrs > 1) {
			struct cursor ids = c;
			uint32_t *slot = map64_get(&p->by_id, get_u64(&ids));

			if (slot)
				a = &p->attrs[*slot - 1];
		}
		cursor_skip(&c, 8 * (uint64_t)nids);
		if (c.bad || !name)
			return PP_ECUT;
		rc = a ? perf_attr_rename(p, a, name, len) : 0;
		if (rc)
			return rc;
	}
	return 0;
}

int perf_build_id(struct perf *p, struct cursor c, uint16_t misc)
{
	const uint8_t *id;
	const char *path;
	struct perf_build_id *v;
	uint32_t n;
	uint8_t len = 20;
	size_t plen;
	bool fresh;
	int rc;

	get_u32(&c); /* pid of the guest */
	id = get_bytes(&c, 24);
	path = get_text(&c, cursor_left(&c), &plen);
	if (!id || !path || !plen)
		return PP_ECUT;
	if ((misc & PERF_MISC_BUILD_ID_SIZE) && id[20] && id[20] <= 20)
		len = id[20];
	rc = intern_add(&p->build_id_paths, path, plen, &n, &fresh);
	if (rc)
		return rc;
	if (fresh) {
		v = realloc(p->build_ids, p->build_id_paths.cap * sizeof(*v));
		if (!v)
			return PP_ENOMEM;
		p->build_ids = v;
	}
	p->build_ids[n - 1].len = len;
	memcpy(p->build_ids[n - 1].bytes, id, 20);
	return 0;
}

static int build_id_table(struct perf *p, struct cursor c)
{
	while (cursor_left(&c) >= 8) {
		struct cursor body;
		uint16_t misc, size;
		int rc;

		get_u32(&c);
		misc = get_u16(&c);
		size = get_u16(&c);
		if (size < 8)
			return PP_ECORRUPT;
		body = cursor_sub(&c, size - 8u);
		if (c.bad)
			return PP_ECUT;
		rc = perf_build_id(p, body, misc);
		if (rc)
			return rc;
	}
	return 0;
}

int perf_feature(struct perf *p, uint32_t feature, struct cursor c)
{
	const char *key = feature_key(feature);

	switch (feature) {
	case PERF_FEAT_TRACING_DATA: return perf_tracing_read(p, c);
	case PERF_FEAT_BUILD_ID: return build_id_table(p, c);
	case PERF_FEAT_HOSTNAME:
	case PERF_FEAT_OSRELEASE:
	case PERF_FEAT_VERSION:
	case PERF_FEAT_ARCH:
	case PERF_FEAT_CPUDESC:
	case PERF_FEAT_CPUID: return string_feature(p, key, c);
	case PERF_FEAT_NRCPUS: return numbers_feature(p, key, c, 2, false);
	case PERF_FEAT_TOTAL_MEM: return numbers_feature(p, key, c, 1, true);
	case PERF_FEAT_SAMPLE_TIME: return numbers_feature(p, key, c, 2, true);
	case PERF_FEAT_CLOCKID: return numbers_feature(p, key, c, 1, true);
	case PERF_FEAT_CLOCK_DATA: return perf_clock_data(p, c);
	case PERF_FEAT_CMDLINE: return cmdline_feature(p, key, c);
	case PERF_FEAT_EVENT_DESC: return event_desc(p, c);
	default:
		diag_note(p->d, p->name, -1, "header feature %u (%s) is passed over", feature,
			  key ? key : "unknown");
		return 0;
	}
}
