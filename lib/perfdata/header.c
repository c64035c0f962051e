/*
 * What comes before the records of a perf.data: the file header, attributes, and the header
 * features, as tools/perf/Documentation/perf.data-file-format.txt describes them.
 */
#include "perfdata/parts.h"

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

static void swap_halves(uint64_t *bits)
{
	for (int i = 0; i < 4; i++)
		bits[i] = bits[i] << 32 | bits[i] >> 32;
}

/*
 * The bits are longs of the machine that recorded: of 32 bits, on a big endian one, they lie in halves
 * the other way round. Every perf has the host's name, by which it tells which it is. Bits that say
 * nothing either way are believed only when there are such features. Before Linux 3.2, which came to
 * write the name, there were two of them.
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
	if (p->swap)
		mend_features(p->features, p->version);
	p->data_offset = data.offset;
	p->data_size = data.size;
	if (p->view)
		rc = perf_tell_file(p);
	if (rc)
		return rc;
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

/*
 * Features lie behind each other, in the order of their numbers; which there are, the file header
 * says. What others need is learned first: names of events, programs and PMUs. The formats of
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

static int read_feature(struct perf *p, uint32_t feature, struct section s, enum pass pass)
{
	struct cursor c;
	uint8_t *bytes;
	int rc;

	if (!s.size && !perf_feature_is_flag(feature))
		return 0;
	rc = load(p, s, "a header feature", &bytes);
	if (!rc) {
		c = cursor_make(bytes, s.size, p->swap);
		rc = pass == PASS_TELL ? perf_feature_tell(p, feature, c)
				       : perf_feature_learn(p, feature, c);
		free(bytes);
		if (rc && rc != PP_ENOMEM && !p->w->err)
			perf_damage(p, PP_ECORRUPT, (int64_t)s.offset,
				    "header feature %" PRIu32 " is damaged", feature);
	}
	/* Said once, and not tried again. */
	if (rc)
		p->features_bad[feature / 64] |= UINT64_C(1) << (feature % 64);
	return rc == PP_ENOMEM || p->w->err ? rc : 0;
}

static bool has_bit(const uint64_t *bits, uint32_t n)
{
	return bits[n / 64] >> (n % 64) & 1;
}

int perf_read_features(struct perf *p)
{
	uint64_t table = p->data_offset + p->data_size, at;
	int rc = 0;

	/* A recording that was never finished has no features. */
	if (!p->data_size || table < p->data_offset)
		return 0;
	for (enum pass pass = PASS_LEARN; pass < PASSES && !rc; pass++) {
		at = table;
		for (uint32_t f = 0; f < PERF_FEAT_MAX && !rc; f++) {
			uint8_t head[16];
			struct cursor c;

			if (!has_bit(p->features, f))
				continue;
			if (src_pread(p->src, head, sizeof(head), at)) {
				perf_damage(p, PP_ECUT, (int64_t)at,
					    "the table of header features is cut off");
				break;
			}
			at += sizeof(head);
			c = cursor_make(head, sizeof(head), p->swap);
			if (in_pass(pass, f) && !has_bit(p->features_bad, f))
				rc = read_feature(p, f, get_section(&c), pass);
		}
	}
	return rc;
}

/* Names of the events: attribute, ids and name of each. */
int perf_event_desc(struct perf *p, struct cursor c)
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
		name = perf_get_string(&c, &len);
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

bool perf_build_id_lacks_pid(struct cursor c)
{
	const uint8_t *path;

	cursor_skip(&c, 24);
	path = get_bytes(&c, 4);
	if (!path || (path[0] != '/' && path[0] != '['))
		return false;
	return path[1] > ' ' && path[2] > ' ' && path[3] > ' ';
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

	cursor_skip(&c, perf_build_id_lacks_pid(c) ? 0 : 4); /* pid of the guest */
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

int perf_build_id_table(struct perf *p, struct cursor c)
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
