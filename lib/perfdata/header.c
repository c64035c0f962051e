/*
 * What comes before the records of a perf.data: the file header, attributes, and the header
 * features, as tools/perf/Documentation/perf.data-file-format.txt describes them.
 */
#include "perfdata/perf_file.h"

#include "base/buf.h"
#include "base/err.h"

#include <inttypes.h>
#include <stdlib.h>

static struct perf_section get_section(struct cursor *c)
{
	struct perf_section s;

	s.offset = get_u64(c);
	s.size = get_u64(c);
	return s;
}

/* Reads a section whole. *bytes is to be freed. */
static int load(struct perf_reader *r, struct perf_section s, const char *what, uint8_t **bytes)
{
	int rc;

	*bytes = NULL;
	if (s.size > PERF_SECTION_MAX) {
		perf_damage(&r->info, PP_ECORRUPT, (int64_t)s.offset, "%s of %" PRIu64 " bytes",
			    what, s.size);
		return PP_ECORRUPT;
	}
	/* The size is checked against the file's before memory is asked for. */
	if (s.offset > src_size(r->in->src) || s.size > src_size(r->in->src) - s.offset) {
		perf_damage(&r->info, PP_ECUT, (int64_t)s.offset, "%s is cut off", what);
		return PP_ECUT;
	}
	*bytes = malloc(s.size + 1);
	if (!*bytes)
		return PP_ENOMEM;
	rc = src_pread(r->in->src, *bytes, s.size, s.offset);
	if (rc) {
		perf_damage(&r->info, rc, (int64_t)s.offset, "%s cannot be read", what);
		free(*bytes);
		*bytes = NULL;
	}
	return rc;
}

static int read_ids(struct perf_reader *r, struct perf_attr *a, struct perf_section s)
{
	struct cursor c;
	uint8_t *bytes;
	int rc = s.size ? load(r, s, "the ids of an event", &bytes) : 0;

	if (rc || !s.size)
		return rc == PP_ENOMEM ? rc : 0;
	c = cursor_make(bytes, s.size, r->info.swap);
	while (!rc && cursor_left(&c) >= 8)
		rc = perf_attr_id(&r->info, a, get_u64(&c));
	free(bytes);
	return rc;
}

static int read_attrs(struct perf_reader *r)
{
	uint64_t attr_size = r->attr_size;
	struct cursor c;
	uint8_t *bytes;
	int rc;

	if (attr_size < PERF_ATTR_SIZE_VER0 + 16 || attr_size > 4096) {
		perf_damage(&r->info, PP_ECORRUPT, 16, "attributes of %" PRIu64 " bytes",
			    attr_size);
		return PP_ECORRUPT;
	}
	rc = load(r, r->attr_table, "the table of events", &bytes);
	if (rc)
		return rc;
	c = cursor_make(bytes, r->attr_table.size, r->info.swap);
	while (!rc && cursor_left(&c) >= attr_size) {
		struct cursor attr = cursor_sub(&c, attr_size - 16);
		struct perf_section ids = get_section(&c);
		struct perf_attr *a;

		rc = perf_attr_add(&r->info, attr, &a);
		if (!rc)
			rc = read_ids(r, a, ids);
	}
	free(bytes);
	return rc;
}

static void swap_halves(uint64_t *bits)
{
	for (int i = 0; i < 4; i++)
		bits[i] = bits[i] << 32 | bits[i] >> 32;
}

/*
 * The bits are longs of the machine that recorded: of 32 bits, on a big endian one, they lie in
 * halves the other way round. Every perf writes the host's name, by whose bit the order is found.
 * Bits without it in either order are believed only when there are such features. Before Linux 3.2,
 * which was the first to write the name, there were two features.
 */
static void mend_features(uint64_t *bits, int version)
{
	const uint64_t hostname = UINT64_C(1) << PERF_FEAT_HOSTNAME;
	const uint64_t known = (UINT64_C(1) << (PERF_FEAT_CLN_SIZE + 1)) - 2;
	const uint64_t first =
		UINT64_C(1) << PERF_FEAT_TRACING_DATA | UINT64_C(1) << PERF_FEAT_BUILD_ID;

	if (bits[0] & hostname)
		return;
	swap_halves(bits);
	if (bits[0] & hostname)
		return;
	if (version == 1 && !(bits[0] & ~first))
		return;
	swap_halves(bits);
	if (bits[0] & ~known) {
		memset(bits, 0, 4 * sizeof(*bits));
		bits[0] = UINT64_C(1) << PERF_FEAT_BUILD_ID;
	}
}

int perf_read_file_header(struct perf_reader *r, const uint8_t *first16)
{
	uint8_t bytes[PERF_FILE_HEADER_SIZE];
	struct perf_info *p = &r->info;
	struct perf_section data;
	struct cursor c;
	uint64_t size;

	memcpy(bytes, first16, 16);
	if (src_pread(r->in->src, bytes, sizeof(bytes), 0)) {
		diag_error(p->d, p->name, -1, "the file header is cut off");
		return PP_ECUT;
	}
	c = cursor_make(bytes, sizeof(bytes), p->swap);
	cursor_skip(&c, 8);
	size = get_u64(&c);
	r->attr_size = get_u64(&c);
	r->attr_table = get_section(&c);
	data = get_section(&c);
	get_section(&c); /* event types: no longer used */
	for (int i = 0; i < 4; i++)
		p->features[i] = size >= PERF_FILE_HEADER_SIZE ? get_u64(&c) : 0;
	if (p->big_endian)
		mend_features(p->features, p->version);
	p->data_offset = data.offset;
	p->data_size = data.size;
	return 0;
}

int perf_read_events(struct perf_reader *r)
{
	struct perf_info *p = &r->info;
	int rc;

	if (p->data_offset > src_size(r->in->src) || p->data_offset < 8) {
		diag_error(p->d, p->name, 40, "the data section is outside the file");
		return PP_ECORRUPT;
	}
	rc = read_attrs(r);
	if (!rc && !p->nattrs) {
		diag_error(p->d, p->name, 24, "the recording has no events");
		rc = PP_ECORRUPT;
	}
	return rc;
}

/*
 * Features lie one after the other, in the order of their numbers; the file header says which there
 * are. What others need is learned first: names of events, programs and PMUs. The formats of
 * tracepoints come last, since with them the first record is written, which names the machine.
 */
enum pass { PASS_LEARN, PASS_TRACING, PASS_TELL, PASSES };

static bool in_pass(enum pass pass, uint32_t feature)
{
	bool tables = feature == PERF_FEAT_TRACING_DATA || feature == PERF_FEAT_BUILD_ID;

	switch (pass) {
	case PASS_LEARN: return feature != PERF_FEAT_TRACING_DATA;
	case PASS_TRACING: return feature == PERF_FEAT_TRACING_DATA;
	default: return !tables;
	}
}

/* simpleperf: records that come before all others. */
static int take_init_map(struct perf_reader *r, const uint8_t *bytes, uint64_t n)
{
	buf_add(&r->init_map, bytes, n);
	return r->init_map.err;
}

static int read_feature(struct perf_reader *r, uint32_t feature, struct perf_section s,
			enum pass pass)
{
	struct cursor c;
	uint8_t *bytes;
	int rc;

	if (!s.size && !perf_feature_is_flag(feature))
		return 0;
	rc = load(r, s, "a header feature", &bytes);
	if (!rc) {
		c = cursor_make(bytes, s.size, r->info.swap);
		rc = pass == PASS_TELL ? 0 : perf_feature_learn(&r->info, feature, c);
		if (!rc && feature == FEAT_SIMPLEPERF_INIT_MAP && pass == PASS_TELL)
			rc = take_init_map(r, bytes, s.size);
		else if (!rc && pass != PASS_LEARN)
			rc = perf_feed_feature(r, feature, c);
		free(bytes);
		if (rc && rc != PP_ENOMEM && !r->stopped)
			perf_damage(&r->info, PP_ECORRUPT, (int64_t)s.offset,
				    "header feature %" PRIu32 " is damaged", feature);
	}
	/* Reported once, and not tried again. */
	if (rc)
		r->features_bad[feature / 64] |= UINT64_C(1) << (feature % 64);
	return rc == PP_ENOMEM || r->stopped ? rc : 0;
}

static bool is_bad(const struct perf_reader *r, uint32_t feature)
{
	return r->features_bad[feature / 64] >> (feature % 64) & 1;
}

/* One pass through the table of features. */
static int read_pass(struct perf_reader *r, uint64_t table, enum pass pass)
{
	int rc = 0;

	for (uint32_t f = 0; f < PERF_FEAT_MAX && !rc; f++) {
		uint8_t head[16];
		struct cursor c;

		if (!perf_has_feature(&r->info, f))
			continue;
		if (src_pread(r->in->src, head, sizeof(head), table)) {
			perf_damage(&r->info, PP_ECUT, (int64_t)table,
				    "the table of header features is cut off");
			return 0;
		}
		table += sizeof(head);
		c = cursor_make(head, sizeof(head), r->info.swap);
		if (in_pass(pass, f) && !is_bad(r, f))
			rc = read_feature(r, f, get_section(&c), pass);
	}
	return rc;
}

int perf_read_features(struct perf_reader *r)
{
	uint64_t table = r->info.data_offset + r->info.data_size;
	int rc = 0;

	/* A recording that was never finished has no features. */
	if (!r->info.data_size || table < r->info.data_offset)
		return 0;
	for (enum pass pass = PASS_LEARN; pass < PASSES && !rc; pass++)
		rc = read_pass(r, table, pass);
	return rc;
}
