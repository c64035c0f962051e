/* Events of CPU cores by their names: PMU/EVENT,TERMS/MODIFIERS. */
#include "event/core_pmu.h"

#include "event/glob.h"

#include <ctype.h>
#include <string.h>

static bool begins(const char *s, size_t n, const char *with)
{
	size_t len = strlen(with);

	return n > len && !memcmp(s, with, len);
}

/* cpu_core, cpu_atom; armv8_cortex_a53; apple_icestorm_pmu. "cpu" is the only one where it is. */
static bool is_core_pmu(const char *s, size_t n)
{
	return begins(s, n, "cpu_") || (begins(s, n, "armv") && isdigit((unsigned char)s[4])) ||
	       begins(s, n, "apple_");
}

/* r and hexadecimal digits. */
static bool is_raw(const char *s, size_t n)
{
	if (n < 2 || *s != 'r')
		return false;
	for (size_t i = 1; i < n; i++)
		if (!isxdigit((unsigned char)s[i]))
			return false;
	return true;
}

bool core_event(const char *name, size_t len, struct core_event *e)
{
	const char *slash = memchr(name, '/', len), *end, *comma, *colon, *mods;
	size_t pmu_len = slash ? (size_t)(slash - name) : 0, terms, first, n = 0;

	if (!slash || len >= CORE_EVENT_MAX || !is_core_pmu(name, pmu_len))
		return false;
	slash++;
	end = memchr(slash, '/', (size_t)(name + len - slash));
	if (!end || end == slash)
		return false;
	mods = end + 1;
	terms = (size_t)(end - slash);
	comma = memchr(slash, ',', terms);
	first = comma ? (size_t)(comma - slash) : terms;
	if (!first || memchr(slash, '=', first) || is_raw(slash, first))
		return false;
	/* With terms it stays between slashes, as an event of a machine with one kind of core. */
	if (comma) {
		memcpy(e->name, "cpu/", n = 4);
		memcpy(e->name + n, slash, terms + 1);
		n += terms + 1;
	} else {
		memcpy(e->name, slash, terms);
		n = terms;
	}
	if (mods < name + len && *mods == ':')
		mods++;
	colon = memchr(slash, ':', terms);
	if (mods < name + len && !comma && !colon)
		e->name[n++] = ':';
	memcpy(e->name + n, mods, (size_t)(name + len - mods));
	n += (size_t)(name + len - mods);
	e->name[n] = 0;
	e->len = n;
	e->pmu = name;
	e->pmu_len = pmu_len;
	return true;
}

/* What perf-record(1) has as terms of any event, but for those that say which event it is. */
static bool is_way_to_record(const char *term, size_t n)
{
	static const char *const keys[] = {
		"period",	"freq",	     "branch_type", "time",	  "call-graph",
		"stack-size",	"inherit",   "no-inherit",  "max-stack",  "overwrite",
		"no-overwrite", "percore",   "aux-output",  "aux-action", "aux-sample-size",
		"nr",		"metric-id",
	};
	const char *equal = memchr(term, '=', n);
	size_t len = equal ? (size_t)(equal - term) : n;

	for (size_t i = 0; i < sizeof(keys) / sizeof(*keys); i++)
		if (strlen(keys[i]) == len && !memcmp(keys[i], term, len))
			return true;
	return false;
}

bool event_without_terms(const char *name, size_t len, struct core_event *e)
{
	const char *slash = memchr(name, '/', len), *last = slash, *mods;
	size_t n = slash ? (size_t)(slash - name) : 0, more;

	for (const char *p = slash; p && p < name + len; p++)
		last = *p == '/' ? p : last;
	if (!n || last == slash || len >= CORE_EVENT_MAX)
		return false;
	for (const char *p = slash + 1; p < last; p += more + 1) {
		const char *comma = memchr(p, ',', (size_t)(last - p));

		more = (size_t)((comma ? comma : last) - p);
		if (!is_way_to_record(p, more))
			return false;
	}
	mods = last + 1;
	if (memchr(mods, ' ', (size_t)(name + len - mods)))
		return false;
	memcpy(e->name, name, n);
	if (mods < name + len && *mods != ':')
		e->name[n++] = ':';
	memcpy(e->name + n, mods, (size_t)(name + len - mods));
	n += (size_t)(name + len - mods);
	e->name[n] = 0;
	e->len = n;
	e->pmu = name;
	e->pmu_len = 0;
	return true;
}

static bool same(const char *a, size_t a_len, const char *b, size_t b_len)
{
	return a_len == b_len && !memcmp(a, b, a_len);
}

bool event_short_name(const char *name, size_t len, const struct event_names *all,
		      struct core_event *e)
{
	struct core_event theirs;
	size_t other_len, n;

	if (!event_without_terms(name, len, e))
		return false;
	for (uint32_t i = 0; i < all->n; i++) {
		const char *other = all->get(all->ctx, i, &other_len), *base;

		if (!other || same(other, other_len, name, len))
			continue;
		base = event_base_name(other, other_len, &theirs, &n);
		if (same(base, n, e->name, e->len))
			return false;
	}
	return true;
}

bool event_same(const char *want, size_t want_len, const char *name, size_t len)
{
	struct core_event e;

	return same(want, want_len, name, len) ||
	       (event_without_terms(want, want_len, &e) && same(e.name, e.len, name, len)) ||
	       (event_without_terms(name, len, &e) && same(want, want_len, e.name, e.len));
}

bool event_fits(const char *pattern, size_t pattern_len, const char *name, size_t len)
{
	struct core_event e;
	const char *base;
	size_t n;

	if (glob_match(pattern, pattern_len, name, len) || same(pattern, pattern_len, name, len))
		return true;
	base = event_base_name(name, len, &e, &n);
	return base != name && glob_match(pattern, pattern_len, base, n);
}
