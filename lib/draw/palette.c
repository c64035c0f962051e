/* The colours of frames, which follow from their names. */
#include "draw/flame_tree.h"

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

/* Those that --colors takes come first; the others are for frames of a kind. */
enum {
	HOT,
	MEM,
	IO,
	RED,
	GREEN,
	BLUE,
	AQUA,
	YELLOW,
	PURPLE,
	ORANGE,
	BY_KIND,
	WAKEUP,
	CHAIN,
	JAVA,
	JS,
	PERL,
	SAFE,
	WALL,
	NPALETTES,
	UNKNOWN = NPALETTES,
	KERNEL,
	INLINED,
	JIT,
	CPP,
	USER,
	SAFE_KERNEL, /* of these five, people who see few colours can tell each from the others */
	SAFE_INLINED,
	SAFE_JIT,
	SAFE_CPP,
	SAFE_USER,
	WALL_COLD, /* functions that mostly wait, and the states at the ends of their stacks */
	WALL_QUEUE,
	WALL_LOCK,
	WALL_DEVICE,
	WALL_OTHERS,
	WALL_TIME,
	WALL_IDLE,
	NRANGES
};

static const struct range ranges[NRANGES] = {
	[HOT] = {"hot", {13, 15}, {4, 13}, {0, 4}},
	[MEM] = {"mem", {2, 7}, {11, 14}, {5, 9}},
	[IO] = {"io", {7, 9}, {9, 12}, {13, 15}},
	[RED] = {"red", {14, 15}, {6, 10}, {6, 10}},
	[GREEN] = {"green", {5, 9}, {12, 14}, {5, 9}},
	[BLUE] = {"blue", {7, 10}, {10, 12}, {14, 15}},
	[AQUA] = {"aqua", {5, 9}, {12, 14}, {12, 14}},
	[YELLOW] = {"yellow", {13, 14}, {12, 14}, {3, 8}},
	[PURPLE] = {"purple", {12, 14}, {8, 11}, {13, 15}},
	[ORANGE] = {"orange", {14, 15}, {8, 11}, {1, 5}},
	[BY_KIND] = {"kind", {0}, {0}, {0}},
	[WAKEUP] = {"wakeup", {5, 9}, {12, 14}, {12, 14}},
	[CHAIN] = {"chain", {0}, {0}, {0}},
	[JAVA] = {"java", {0}, {0}, {0}},
	[JS] = {"js", {0}, {0}, {0}},
	[PERL] = {"perl", {0}, {0}, {0}},
	[SAFE] = {"safe", {0}, {0}, {0}},
	[WALL] = {"wall", {0}, {0}, {0}},
	[UNKNOWN] = {"", {12, 12}, {12, 12}, {12, 12}},
	[KERNEL] = {"", {14, 15}, {9, 11}, {2, 5}},
	[INLINED] = {"", {6, 8}, {12, 14}, {13, 14}},
	[JIT] = {"", {6, 9}, {12, 14}, {5, 8}},
	[CPP] = {"", {13, 14}, {12, 14}, {4, 7}},
	[USER] = {"", {14, 15}, {6, 9}, {6, 8}},
	[SAFE_KERNEL] = {"", {14, 14}, {9, 10}, {0, 2}},
	[SAFE_INLINED] = {"", {5, 7}, {11, 12}, {14, 15}},
	[SAFE_JIT] = {"", {1, 3}, {10, 11}, {7, 8}},
	[SAFE_CPP] = {"", {15, 15}, {14, 14}, {4, 8}},
	[SAFE_USER] = {"", {12, 13}, {7, 9}, {10, 11}},
	[WALL_COLD] = {"", {10, 12}, {12, 13}, {14, 15}},
	[WALL_QUEUE] = {"", {15, 15}, {14, 14}, {3, 3}},
	[WALL_LOCK] = {"", {12, 12}, {7, 7}, {14, 14}},
	[WALL_DEVICE] = {"", {5, 5}, {8, 8}, {14, 14}},
	[WALL_OTHERS] = {"", {4, 4}, {12, 12}, {11, 11}},
	[WALL_TIME] = {"", {7, 7}, {11, 11}, {15, 15}},
	[WALL_IDLE] = {"", {10, 10}, {12, 12}, {12, 12}},
};

int flame_palette(const char *name, unsigned *palette)
{
	for (unsigned i = 0; i < NPALETTES; i++) {
		if (!strcmp(name, ranges[i].name)) {
			*palette = i;
			return 0;
		}
	}
	return PP_ENOENT;
}

const char *flame_palette_name(unsigned palette)
{
	return palette < NPALETTES ? ranges[palette].name : NULL;
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

int flame_back_option(const char *text, char back[8], struct buf *why)
{
	static const char *const names[][2] = {{"yellow", "#fbf9e0"}, {"blue", "#eaf0fb"},
					       {"green", "#eaf5ea"},  {"grey", "#f0f0f0"},
					       {"gray", "#f0f0f0"},   {"white", "#ffffff"}};

	for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++) {
		if (!strcmp(text, names[i][0])) {
			memcpy(back, names[i][1], 8);
			return 0;
		}
	}
	if (strlen(text) == 7 && *text == '#' && strspn(text + 1, "0123456789abcdefABCDEF") == 6) {
		memcpy(back, text, 8);
		return 0;
	}
	buf_adds(why, "--bgcolors: neither #rrggbb nor yellow, blue, green, grey or white: ");
	buf_add_safe(why, text, strlen(text));
	return PP_EUSAGE;
}

static bool ends_in(const char *s, size_t n, const char *end)
{
	size_t len = strlen(end);

	return n >= len && !memcmp(s + n - len, end, len);
}

static bool has(const char *s, size_t n, const char *part)
{
	return memmem(s, n, part, strlen(part)) != NULL;
}

static unsigned kind_of(const char *s, size_t n)
{
	if (ends_in(s, n, "_[k]"))
		return KERNEL;
	if (ends_in(s, n, "_[i]"))
		return INLINED;
	if (ends_in(s, n, "_[j]"))
		return JIT;
	return has(s, n, "::") ? CPP : USER;
}

/* A Java class with its package: java/util/HashMap. */
static bool is_java(const char *s, size_t n)
{
	static const char *const roots[] = {"java/", "javax/", "jdk/", "net/",
					    "org/",  "com/",   "io/",  "sun/"};

	if (n && *s == 'L') {
		s++;
		n--;
	}
	for (size_t i = 0; i < sizeof(roots) / sizeof(*roots); i++)
		if (n > strlen(roots[i]) && !memcmp(s, roots[i], strlen(roots[i])))
			return true;
	return has(s, n, ":::");
}

/* The colours of a language: its own code, what was inlined or built in, C++, kernel, others. */
static unsigned language_kind(unsigned palette, const char *s, size_t n)
{
	bool jit = ends_in(s, n, "_[j]"), inlined = ends_in(s, n, "_[i]");

	if (palette == JAVA && (jit || (!inlined && is_java(s, n))))
		return GREEN;
	if (palette == JAVA && inlined)
		return AQUA;
	if (palette == JS && jit)
		return has(s, n, "/") ? GREEN : AQUA;
	if (has(s, n, "::"))
		return YELLOW;
	if (palette == JS && has(s, n, "/") && has(s, n, ".js"))
		return GREEN;
	if (palette == JS && has(s, n, ":"))
		return AQUA;
	if (palette == PERL && (has(s, n, "Perl") || has(s, n, ".pl")))
		return GREEN;
	return ends_in(s, n, "_[k]") ? ORANGE : RED;
}

/* A function of which only the start is known: gzip+0x4a20, gzip+0x1f3c.cold, gzip+0x2020@plt. */
static bool is_guessed(const char *s, size_t n)
{
	size_t digits = 0;

	if (ends_in(s, n, ".cold"))
		n -= 5;
	else if (ends_in(s, n, "@plt"))
		n -= 4;
	while (digits < n && strchr("0123456789abcdef", s[n - 1 - digits]))
		digits++;
	return digits && digits + 3 < n && !memcmp(s + n - digits - 3, "+0x", 3);
}

/* The states of plat --emit wall, and what each is about. */
static const struct {
	const char *name;
	unsigned class;
	const char *what; /* in the legend, or NULL */
} states[] = {
	{"[runnable]", WALL_QUEUE, "waiting for a CPU"},
	{"[lock]", WALL_LOCK, "for a lock"},
	{"[condition]", WALL_LOCK, NULL},
	{"[join]", WALL_LOCK, NULL},
	{"[disk]", WALL_DEVICE, "for a disk or memory"},
	{"[memory]", WALL_DEVICE, NULL},
	{"[network]", WALL_OTHERS, "for another process"},
	{"[pipe]", WALL_OTHERS, NULL},
	{"[child]", WALL_OTHERS, NULL},
	{"[timer]", WALL_TIME, "for a time, or unknown"},
	{"[blocked]", WALL_TIME, NULL},
	{"[stopped]", WALL_TIME, NULL},
};

/* Functions are hot, unless palette_mostly_waits. */
static unsigned wall_class(const char *s, size_t n)
{
	for (size_t i = 0; i < sizeof(states) / sizeof(*states); i++)
		if (n == strlen(states[i].name) && !memcmp(s, states[i].name, n))
			return states[i].class;
	if (ends_in(s, n, ": idle]"))
		return WALL_IDLE;
	if (n == 9 && !memcmp(s, "[running]", 9))
		return HOT;
	/* Between a thread and who woke it. */
	if (n == 2 && !memcmp(s, "--", 2))
		return UNKNOWN;
	return n && *s == '[' && s[n - 1] == ']' ? UNKNOWN : HOT;
}

bool palette_is_of_states(const char *event)
{
	return !strcmp(event, "wall") || !strcmp(event, "chain") || !strcmp(event, "path");
}

unsigned palette_wall(void)
{
	return WALL;
}

bool palette_waits(const char *name, size_t len)
{
	return wall_class(name, len) > WALL_COLD;
}

unsigned palette_mostly_waits(unsigned class)
{
	return class == HOT ? WALL_COLD : class;
}

bool palette_legend(size_t i, unsigned *class, const char **what)
{
	static const struct {
		unsigned class;
		const char *what;
	} ends[] = {{HOT, "mostly running"}, {WALL_COLD, "mostly waiting"}};
	size_t n = sizeof(ends) / sizeof(*ends), k = 0;

	if (i < n) {
		*class = ends[i].class;
		*what = ends[i].what;
		return true;
	}
	for (i -= n; k < sizeof(states) / sizeof(*states) && (!states[k].what || i--); k++)
		;
	if (k == sizeof(states) / sizeof(*states))
		return false;
	*class = states[k].class;
	*what = states[k].what;
	return true;
}

unsigned palette_class(unsigned palette, const char *name, size_t len)
{
	if (palette == WALL)
		return is_guessed(name, len) ? UNKNOWN : wall_class(name, len);
	/* A frame without a symbol, [unknown] or [libc.so.6], must not look like a function. */
	if (!len || (name[0] == '[' && name[len - 1] == ']') || is_guessed(name, len))
		return UNKNOWN;
	switch (palette) {
	case BY_KIND: return kind_of(name, len);
	case SAFE: return kind_of(name, len) - KERNEL + SAFE_KERNEL;
	case JAVA:
	case JS:
	case PERL: return language_kind(palette, name, len);
	case CHAIN: return ends_in(name, len, "_[w]") ? AQUA : BLUE;
	default: return palette < NPALETTES ? palette : HOT;
	}
}

bool palette_range(unsigned class, uint8_t v[6])
{
	if (class >= NRANGES)
		return false;
	memcpy(v, ranges[class].r, 2);
	memcpy(v + 2, ranges[class].g, 2);
	memcpy(v + 4, ranges[class].b, 2);
	return true;
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

void palette_fill(unsigned class, const char *name, size_t len, char fill[4])
{
	uint32_t h = hash(name, len);
	const struct range *r = &ranges[class];

	fill[0] = channel(r->r, h);
	fill[1] = channel(r->g, h >> 10);
	fill[2] = channel(r->b, h >> 20);
	fill[3] = 0;
}
