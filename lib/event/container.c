/* Containers by the paths of their cgroups. */
#include "event/container.h"

#include <string.h>

#define ID_DIGITS    64 /* of a container's id */
#define SHOWN_DIGITS 12

static bool is_hex(const char *s, size_t n)
{
	for (size_t i = 0; i < n; i++)
		if (!((s[i] >= '0' && s[i] <= '9') || (s[i] >= 'a' && s[i] <= 'f')))
			return false;
	return true;
}

static bool begins(const char *s, size_t n, const char *with)
{
	size_t len = strlen(with);

	return n > len && memcmp(s, with, len) == 0;
}

/* "docker-ID.scope", "crio-ID", "libpod-ID.scope", "ID"; but not what monitors one. */
static bool by_id(const char *s, size_t n, const char **id, size_t *id_len)
{
	const char *last;

	if (n < ID_DIGITS || memmem(s, n, "conmon", 6))
		return false;
	last = s + n - ID_DIGITS;
	if (!is_hex(last, ID_DIGITS) || (last > s && last[-1] != '-' && last[-1] != ':'))
		return false;
	*id = last;
	*id_len = SHOWN_DIGITS;
	return true;
}

/* "lxc.payload.web", "machine-web", and what is below "lxc". */
static bool by_name(const char *s, size_t n, bool lxc, const char **id, size_t *id_len)
{
	static const char *const heads[] = {"lxc.payload.", "machine-"};

	for (size_t i = 0; i < sizeof(heads) / sizeof(heads[0]); i++)
		if (begins(s, n, heads[i])) {
			*id = s + strlen(heads[i]);
			*id_len = n - strlen(heads[i]);
			return true;
		}
	*id = s;
	*id_len = n;
	return lxc && n > 0;
}

bool container_of_path(const char *path, size_t len, const char **id, size_t *id_len)
{
	const char *p = path, *end = path + len;
	bool found = false, lxc = false;

	while (p < end) {
		const char *slash = memchr(p, '/', (size_t)(end - p));
		size_t n = (size_t)((slash ? slash : end) - p), whole = n;
		const char *at;
		size_t at_len;

		if (n > 6 && memcmp(p + n - 6, ".scope", 6) == 0)
			n -= 6;
		if (by_id(p, n, &at, &at_len) || by_name(p, n, lxc, &at, &at_len)) {
			*id = at;
			*id_len = at_len;
			found = true;
		}
		lxc = n == 3 && memcmp(p, "lxc", 3) == 0;
		p += whole + 1;
	}
	return found;
}
