/* Indexes the members of a tar archive, follows its links, and writes one. */
#include "symbol/tar.h"

#include "base/err.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define BLOCK 512

/* Fields of a header block: offset and size (POSIX.1-2001, "ustar Interchange Format"). */
#define F_SIZE	 124, 12
#define F_SUM	 148, 8
#define F_TYPE	 156
#define F_LINK	 157
#define F_MAGIC	 257
#define F_PREFIX 345

/* What the headers before a member's own say of it. */
struct extra {
	char path[TAR_NAME_MAX], link[TAR_NAME_MAX]; /* "": nothing */
	uint64_t size;
	bool has_size, too_long;
};

static uint64_t number(const uint8_t *p, int at, int n)
{
	uint64_t v = 0;

	p += at;
	if (p[0] & 0x80) { /* base 256, of GNU tar */
		for (int i = n - 8; i < n; i++)
			v = v << 8 | p[i];
		return v;
	}
	while (n && *p == ' ') {
		p++;
		n--;
	}
	for (; n && *p >= '0' && *p <= '7'; p++, n--)
		v = v << 3 | (uint64_t)(*p - '0');
	return v;
}

static bool sum_is_right(const uint8_t *h)
{
	uint64_t sum = 0;

	for (int i = 0; i < BLOCK; i++)
		sum += i >= 148 && i < 156 ? ' ' : h[i];
	return sum == number(h, F_SUM);
}

static void keep(struct extra *x, char to[TAR_NAME_MAX], const void *text, size_t n)
{
	n = strnlen(text, n);
	if (n >= TAR_NAME_MAX) {
		x->too_long = true;
		n = 0;
	}
	memcpy(to, text, n);
	to[n] = 0;
}

/* Records "LENGTH KEY=VALUE\n" of a pax header. */
static void pax(struct extra *x, const char *p, size_t n)
{
	while (n) {
		const char *end = p + n, *q = p, *eq;
		size_t len = 0;

		while (q < end && *q >= '0' && *q <= '9' && len <= n)
			len = len * 10 + (size_t)(*q++ - '0');
		if (q == end || *q++ != ' ' || len > n || len < (size_t)(q - p) + 1)
			return;
		end = p + len - 1;
		eq = memchr(q, '=', (size_t)(end - q));
		if (eq && eq - q == 4 && !memcmp(q, "path", 4))
			keep(x, x->path, eq + 1, (size_t)(end - eq - 1));
		else if (eq && eq - q == 8 && !memcmp(q, "linkpath", 8))
			keep(x, x->link, eq + 1, (size_t)(end - eq - 1));
		else if (eq && eq - q == 4 && !memcmp(q, "size", 4) && end - eq <= 20) {
			x->has_size = true;
			for (x->size = 0, eq++; eq < end && *eq >= '0' && *eq <= '9'; eq++)
				x->size = x->size * 10 + (uint64_t)(*eq - '0');
		}
		n -= len;
		p += len;
	}
}

/* Takes the last component off. */
static void up(const char *out, size_t *len)
{
	while (*len && out[--*len] != '/')
		;
}

/* Appends a path's components to `out`, "/a/b" for "./a//c/../b". False if it is too long. */
static bool clean(char *out, size_t *len, const char *path)
{
	while (*path) {
		size_t n = strcspn(path, "/");

		if (n == 2 && path[0] == '.' && path[1] == '.') {
			up(out, len);
		} else if (n && !(n == 1 && path[0] == '.')) {
			if (*len + n + 2 > TAR_NAME_MAX)
				return false;
			out[(*len)++] = '/';
			memcpy(out + *len, path, n);
			*len += n;
		}
		path += n + (path[n] == '/');
	}
	out[*len] = 0;
	return true;
}

static bool has_up(const char *path)
{
	for (const char *p = path; (p = strstr(p, "..")); p += 2)
		if ((p == path || p[-1] == '/') && (!p[2] || p[2] == '/'))
			return true;
	return false;
}

int tar_path(const char *path, char out[TAR_NAME_MAX])
{
	char whole[TAR_NAME_MAX];
	size_t len = 0;

	if (!clean(whole, &len, path) || !len)
		return PP_ENOENT;
	memcpy(out, whole + 1, len);
	return 0;
}

static int add_member(struct tar *t, const char *name, const struct tar_member *m)
{
	char path[TAR_NAME_MAX];
	size_t len = 0;
	uint32_t id;
	int rc;

	/* No archive that is made properly has ".." in its names. */
	if (has_up(name) || !clean(path, &len, name) || !len)
		return 0;
	rc = intern_add(&t->names, path, len, &id, NULL);
	if (rc)
		return rc;
	if (id > t->cap) {
		uint32_t cap = t->cap ? t->cap * 2 : 256;
		struct tar_member *v;

		if (id > TAR_MEMBERS_MAX)
			return PP_ELIMIT;
		v = realloc(t->members, cap * sizeof(*v));
		if (!v)
			return PP_ENOMEM;
		t->members = v;
		t->cap = cap;
	}
	t->members[id - 1] = *m;
	return 0;
}

static void name_of(const uint8_t *h, const struct extra *x, char out[TAR_NAME_MAX])
{
	bool ustar = !memcmp(h + F_MAGIC, "ustar", 6); /* GNU's magic has a blank after it */
	int n = 0;

	if (x->path[0]) {
		memcpy(out, x->path, strlen(x->path) + 1);
		return;
	}
	if (ustar && h[F_PREFIX])
		n = snprintf(out, TAR_NAME_MAX, "%.*s/", 155, (const char *)h + F_PREFIX);
	snprintf(out + n, TAR_NAME_MAX - (size_t)n, "%.*s", 100, (const char *)h);
}

/* A member that is no header for the next. */
static int take(struct tar *t, const uint8_t *h, const struct extra *x, uint64_t at, uint64_t size)
{
	struct tar_member m = {.offset = at, .len = size};
	char name[TAR_NAME_MAX], link[TAR_NAME_MAX];
	int rc;

	if (x->too_long)
		return 0;
	name_of(h, x, name);
	switch (h[F_TYPE]) {
	case 0:
	case '0':
	case '7': return add_member(t, name, &m);
	case '1':
	case '2': break;
	default: return 0;
	}
	if (x->link[0])
		memcpy(link, x->link, strlen(x->link) + 1);
	else
		snprintf(link, sizeof(link), "%.*s", 100, (const char *)h + F_LINK);
	rc = intern_add(&t->links, link, strlen(link), &m.target, NULL);
	m.hard = h[F_TYPE] == '1';
	return rc ? rc : add_member(t, name, &m);
}

int tar_index(struct tar *t, const void *bytes, size_t len)
{
	struct extra *x = calloc(1, sizeof(*x));
	size_t at = 0;
	int rc = x ? 0 : PP_ENOMEM;

	*t = (struct tar){.bytes = bytes, .len = len};
	while (!rc) {
		const uint8_t *h = t->bytes + at;
		uint64_t size;

		if (len - at < BLOCK) {
			rc = at ? PP_ECUT : PP_EUNSUPPORTED;
			break;
		}
		/* A block of zeroes ends the archive. */
		if (!h[0] && !memcmp(h, h + 1, BLOCK - 1))
			break;
		if (!sum_is_right(h)) {
			rc = at ? PP_ECORRUPT : PP_EUNSUPPORTED;
			break;
		}
		size = x->has_size ? x->size : number(h, F_SIZE);
		at += BLOCK;
		if (size > len - at) {
			rc = PP_ECUT;
			break;
		}
		if (h[F_TYPE] == 'x') {
			pax(x, (const char *)t->bytes + at, size);
		} else if (h[F_TYPE] == 'L' || h[F_TYPE] == 'K') {
			keep(x, h[F_TYPE] == 'L' ? x->path : x->link, t->bytes + at, size);
		} else {
			rc = take(t, h, x, at, size);
			*x = (struct extra){0};
		}
		size = (size + BLOCK - 1) / BLOCK * BLOCK;
		at = size > len - at ? len : at + (size_t)size;
	}
	free(x);
	return rc;
}

void tar_release(struct tar *t)
{
	intern_release(&t->names);
	intern_release(&t->links);
	free(t->members);
	*t = (struct tar){0};
}

static const struct tar_member *member(const struct tar *t, const char *path, size_t len)
{
	uint32_t id = intern_find(&t->names, path, len);

	return id ? &t->members[id - 1] : NULL;
}

/* The length of the first part of a clean path that is a link, and what it is; 0: none is. */
static size_t first_link(const struct tar *t, const char *path, size_t len,
			 const struct tar_member **m)
{
	for (size_t n = 1; n <= len; n++) {
		if (n < len && path[n] != '/')
			continue;
		*m = member(t, path, n);
		if (*m && (*m)->target)
			return n;
	}
	return 0;
}

/* Takes the components of a link's target that lead upwards off the directory that it is in. */
static bool follow(const struct tar *t, const struct tar_member *m, char *dir, size_t *len)
{
	const char *to = intern_get(&t->links, m->target, NULL);
	bool ok = true;

	if (m->hard || to[0] == '/')
		*len = 0;
	else
		up(dir, len);
	while (*to && ok) {
		size_t n = strcspn(to, "/");
		char part[256];

		if (n < sizeof(part)) {
			memcpy(part, to, n);
			part[n] = 0;
			ok = clean(dir, len, part);
		} else {
			ok = false;
		}
		to += n + (to[n] == '/');
	}
	return ok;
}

int tar_find(const struct tar *t, const char *path, struct tar_file *file)
{
	char now[TAR_NAME_MAX], next[TAR_NAME_MAX];
	const struct tar_member *m;
	size_t len = 0, n, got;

	if (!clean(now, &len, path))
		return PP_ENOENT;
	for (int links = 0; links <= TAR_LINKS_MAX; links++) {
		n = first_link(t, now, len, &m);
		if (!n) {
			m = member(t, now, len);
			if (!m)
				return PP_ENOENT;
			*file = (struct tar_file){t->bytes + m->offset, m->len};
			return 0;
		}
		memcpy(next, now, n);
		got = n;
		if (!follow(t, m, next, &got) || got + len - n >= TAR_NAME_MAX)
			return PP_ENOENT;
		memcpy(next + got, now + n, len - n);
		len = got + len - n;
		memcpy(now, next, len);
		now[len] = 0;
	}
	return PP_ENOENT;
}

/* ---- writing ---- */

static int put_block(struct out *o, const char *name, uint64_t size, char type)
{
	char h[BLOCK] = {0};
	unsigned sum = 0;

	snprintf(h, 100, "%s", name);
	snprintf(h + 100, 8, "%07o", 0644);
	snprintf(h + 108, 8, "%07o", 0);
	snprintf(h + 116, 8, "%07o", 0);
	snprintf(h + 124, 12, "%011llo", (unsigned long long)(size & 077777777777));
	snprintf(h + 136, 12, "%011o", 0);
	h[F_TYPE] = type;
	memcpy(h + F_MAGIC, "ustar\00000", 8);
	memset(h + 148, ' ', 8);
	for (int i = 0; i < BLOCK; i++)
		sum += (uint8_t)h[i];
	snprintf(h + 148, 8, "%06o", sum & 0777777);
	return out_add(o, h, BLOCK);
}

/* A record of a pax header, whose length counts its own digits. */
static int pax_record(char *to, size_t size, const char *key, const char *value)
{
	int body = (int)(strlen(key) + strlen(value)) + 3, len = body + 1;

	while (len != body + snprintf(NULL, 0, "%d", len))
		len = body + snprintf(NULL, 0, "%d", len);
	return snprintf(to, size, "%d %s=%s\n", len, key, value);
}

int tar_header(struct out *o, const char *path, uint64_t len)
{
	char more[TAR_NAME_MAX + 64], digits[24];
	int n = 0, rc = 0;

	if (strlen(path) >= TAR_NAME_MAX)
		return PP_ELIMIT;
	if (strlen(path) >= 100)
		n = pax_record(more, sizeof(more), "path", path);
	if (len > 077777777777) {
		snprintf(digits, sizeof(digits), "%llu", (unsigned long long)len);
		n += pax_record(more + n, sizeof(more) - (size_t)n, "size", digits);
	}
	if (n) {
		rc = put_block(o, "././@PaxHeader", (uint64_t)n, 'x');
		if (!rc)
			rc = out_add(o, more, (size_t)n);
		if (!rc)
			rc = tar_pad(o, (uint64_t)n);
	}
	return rc ? rc : put_block(o, path, len, '0');
}

int tar_pad(struct out *o, uint64_t len)
{
	static const char zeroes[BLOCK];

	return out_add(o, zeroes, (size_t)((BLOCK - len % BLOCK) % BLOCK));
}

int tar_end(struct out *o)
{
	static const char zeroes[2 * BLOCK];

	return out_add(o, zeroes, sizeof(zeroes));
}
