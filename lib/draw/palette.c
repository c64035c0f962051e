/* The colours of frames, which follow from their names. */
#include "draw/tree.h"

#include "base/err.h"

#include <string.h>

/*
 * A colour is three hexadecimal digits, #rgb: for twelve bits a graph is a tenth smaller than with
 * twenty-four, and no eye misses the rest. Each channel varies within its range, by bits of the
 * hash of the name. All are light enough for black text.
 */
struct range {
	char name[8];
	uint8_t r[2], g[2], b[2];
};

enum { BY_KIND = 10, UNKNOWN, KERNEL, INLINED, JIT, CPP, USER };

/* The first ones are what --colors takes; those after BY_KIND are for frames of a kind. */
static const struct range ranges[] = {
	{"hot", {13, 15}, {4, 13}, {0, 4}},	    {"mem", {2, 7}, {11, 14}, {5, 9}},
	{"io", {7, 9}, {9, 12}, {13, 15}},	    {"red", {14, 15}, {6, 10}, {6, 10}},
	{"green", {5, 9}, {12, 14}, {5, 9}},	    {"blue", {7, 10}, {10, 12}, {14, 15}},
	{"aqua", {5, 9}, {12, 14}, {12, 14}},	    {"yellow", {13, 14}, {12, 14}, {3, 8}},
	{"purple", {12, 14}, {8, 11}, {13, 15}},    {"orange", {14, 15}, {8, 11}, {1, 5}},
	{"kind", {0, 0}, {0, 0}, {0, 0}},	    [UNKNOWN] = {"", {12, 12}, {12, 12}, {12, 12}},
	[KERNEL] = {"", {14, 15}, {9, 11}, {2, 5}}, [INLINED] = {"", {6, 8}, {12, 14}, {13, 14}},
	[JIT] = {"", {6, 9}, {12, 14}, {5, 8}},	    [CPP] = {"", {13, 14}, {12, 14}, {4, 7}},
	[USER] = {"", {14, 15}, {6, 9}, {6, 8}},
};

int flame_palette(const char *name, unsigned *palette)
{
	for (unsigned i = 0; i <= BY_KIND; i++) {
		if (!strcmp(name, ranges[i].name)) {
			*palette = i;
			return 0;
		}
	}
	return PP_ENOENT;
}

const char *flame_palette_name(unsigned palette)
{
	return palette <= BY_KIND ? ranges[palette].name : NULL;
}

int flame_palette_option(const char *name, unsigned *palette, struct buf *why)
{
	if (!flame_palette(name, palette))
		return 0;
	buf_adds(why, "--colors: no palette ");
	buf_add_safe(why, name, strlen(name));
	buf_adds(why, "; there are:");
	for (unsigned i = 0; flame_palette_name(i); i++)
		buf_addf(why, " %s", flame_palette_name(i));
	return PP_EUSAGE;
}

static bool ends_in(const char *s, size_t n, const char *end)
{
	size_t len = strlen(end);

	return n >= len && !memcmp(s + n - len, end, len);
}

static unsigned kind_of(const char *s, size_t n)
{
	if (ends_in(s, n, "_[k]"))
		return KERNEL;
	if (ends_in(s, n, "_[i]"))
		return INLINED;
	if (ends_in(s, n, "_[j]"))
		return JIT;
	return memmem(s, n, "::", 2) ? CPP : USER;
}

/* FNV-1a, and a last mixing: short names would differ in the low bits only. */
static uint32_t hash(const char *s, size_t n)
{
	uint32_t h = 2166136261u;

	for (size_t i = 0; i < n; i++)
		h = (h ^ (uint8_t)s[i]) * 16777619u;
	h = (h ^ h >> 15) * 0x85ebca6bu;
	return h ^ h >> 13;
}

static char channel(const uint8_t range[2], uint32_t bits)
{
	unsigned span = range[1] - range[0] + 1u;

	return "0123456789abcdef"[range[0] + (bits & 0x3ff) * span / 0x400];
}

void palette_fill(unsigned palette, const char *name, size_t len, char fill[4])
{
	uint32_t h = hash(name, len);
	const struct range *r;

	if (palette > BY_KIND)
		palette = 0;
	/* A frame without a symbol, [unknown] or [libc.so.6], must not look like a function. */
	if (!len || (name[0] == '[' && name[len - 1] == ']'))
		palette = UNKNOWN;
	else if (palette == BY_KIND)
		palette = kind_of(name, len);
	r = &ranges[palette];
	fill[0] = channel(r->r, h);
	fill[1] = channel(r->g, h >> 10);
	fill[2] = channel(r->b, h >> 20);
	fill[3] = 0;
}
