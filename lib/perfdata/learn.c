/*
 * Takes from header features what is needed to read on: names of events and of PMUs, formats of
 * tracepoints, build-ids, the size of a long, the clock.
 */
#include "perfdata/info.h"

#include "base/err.h"

#define CLOCK_DATA_VERSION 1

static int learn_pmus(struct perf_info *p, struct cursor c)
{
	uint32_t n = get_u32(&c);

	for (uint32_t i = 0; i < n; i++) {
		uint32_t type = get_u32(&c), id, *slot;
		size_t len;
		const char *name = perf_get_string(&c, &len);
		int rc;

		if (!name)
			return PP_ECUT;
		rc = intern_add(&p->facts.pmu_names, name, len, &id, NULL);
		slot = rc ? NULL : map64_put(&p->facts.pmu_by_type, type, NULL);
		if (!slot)
			return rc ? rc : PP_ENOMEM;
		*slot = id;
	}
	return 0;
}

/* How long a long is, by the name of the machine that uname(2) gives. */
static uint32_t long_bits(const char *arch, size_t len)
{
	static const char *const wide[] = {"s390x", "alpha", "ppc64le", "aarch64_be"};
	static const char *const narrow[] = {"i386", "i486", "i586", "i686",  "x86",	"arm",
					     "mips", "ppc",  "s390", "sparc", "parisc", "m68k"};

	for (size_t i = 0; i < sizeof(wide) / sizeof(wide[0]); i++)
		if (len == strlen(wide[i]) && !memcmp(arch, wide[i], len))
			return 64;
	for (size_t i = 0; i < sizeof(narrow) / sizeof(narrow[0]); i++)
		if (len == strlen(narrow[i]) && !memcmp(arch, narrow[i], len))
			return 32;
	if (len > 2 && !memcmp(arch + len - 2, "64", 2))
		return 64;
	return (len > 4 && !memcmp(arch, "armv", 4)) ? 32 : 0;
}

/* Names of the events: attribute, ids and name of each. */
static int learn_names(struct perf_info *p, struct cursor c)
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
		rc = a ? perf_attr_rename(a, name, len) : 0;
		if (rc)
			return rc;
	}
	return 0;
}

/* The time of day when the clock showed a time. u32 version, u32 clock, u64 ns of both. */
static int learn_clock(struct perf_info *p, struct cursor c)
{
	uint32_t version = get_u32(&c);
	uint64_t wall, clock;

	get_u32(&c);
	wall = get_u64(&c);
	clock = get_u64(&c);
	if (c.bad)
		return PP_ECUT;
	p->facts.has_wall = version == CLOCK_DATA_VERSION;
	p->facts.wall_offset = (int64_t)(wall - clock);
	return 0;
}

/* The number after a ','; false: there is none, or something is after it that is no ','. */
static bool next_number(const char **s, const char *end, uint64_t *v)
{
	const char *p = *s;

	*v = 0;
	if (p == end || *p++ != ',' || p == end)
		return false;
	for (; p < end && *p >= '0' && *p <= '9'; p++)
		if (__builtin_mul_overflow(*v, 10, v) ||
		    __builtin_add_overflow(*v, (uint64_t)(*p - '0'), v))
			return false;
	*s = p;
	return p == end || *p == ',';
}

/* A line "NAME,TYPE,CONFIG" names the events that are so and have no name of their own. */
static int learn_event_type(struct perf_info *p, const char *line, size_t n)
{
	const char *end = line + n, *at = memchr(line, ',', n);
	size_t len = at ? (size_t)(at - line) : 0;
	uint64_t type, config;
	int rc = 0;

	if (!len || !next_number(&at, end, &type) || !next_number(&at, end, &config) || at != end)
		return 0;
	for (uint32_t i = 0; i < p->nattrs && !rc; i++) {
		struct perf_attr *a = &p->attrs[i];

		if (!a->name && a->type == type && a->config == config)
			rc = perf_attr_rename(a, line, len);
	}
	return rc;
}

/*
 * simpleperf: names and values, each ended by a NUL. event_type_info is about the events, a line
 * for each (ScopedEventTypes in its event_type.cpp).
 */
static int learn_simpleperf(struct perf_info *p, struct cursor c)
{
	static const char wanted[] = "event_type_info";
	int rc = 0;

	while (cursor_left(&c) && !rc) {
		size_t n;
		const char *key = perf_nul_text(&c, &n);
		bool is = n == sizeof(wanted) - 1 && !memcmp(key, wanted, n);
		const char *s = perf_nul_text(&c, &n), *end = s + n;

		while (is && s < end && !rc) {
			const char *newline = memchr(s, '\n', (size_t)(end - s));
			size_t len = (size_t)((newline ? newline : end) - s);

			rc = learn_event_type(p, s, len);
			s += len + (newline != NULL);
		}
	}
	return rc;
}

int perf_feature_learn(struct perf_info *p, uint32_t feature, struct cursor c)
{
	const char *s;
	size_t len;

	switch (feature) {
	case PERF_FEAT_TRACING_DATA: return perf_tracing_read(&p->tracing, c);
	case PERF_FEAT_BUILD_ID: return perf_build_id_table(p, c);
	case PERF_FEAT_EVENT_DESC: return learn_names(p, c);
	case PERF_FEAT_PMU_MAPPINGS: return learn_pmus(p, c);
	case PERF_FEAT_CLOCK_DATA: return learn_clock(p, c);
	case PERF_FEAT_BPF_BTF: return perf_btf_learn(&p->facts.btf, c);
	case FEAT_SIMPLEPERF_META: return learn_simpleperf(p, c);
	case PERF_FEAT_ARCH:
		s = perf_get_string(&c, &len);
		if (s)
			p->facts.long_bits = long_bits(s, len);
		return s ? 0 : PP_ECUT;
	case PERF_FEAT_NRCPUS:
		p->facts.cpus_avail = get_u32(&c);
		p->facts.cpus_online = get_u32(&c);
		return c.bad ? PP_ECUT : 0;
	default: return 0;
	}
}
