/* Events of CPU cores by their names: PMU/EVENT,TERMS/MODIFIERS. */
#include "event/core_pmu.h"

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
