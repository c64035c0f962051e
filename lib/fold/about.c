/* The first line of folded text: what is counted. */
#include "fold/about.h"

#include <inttypes.h>
#include <string.h>

/* Copies text that is to be part of the line; what is too long is cut between characters. */
static void keep(struct fold_about *a, char *to, size_t size, const char *s, size_t n)
{
	struct buf b = BUF_INIT;
	size_t len;

	buf_add_safe(&b, s, n);
	len = b.err ? 0 : b.len < size ? b.len : size - 1;
	while (len < b.len && len && ((uint8_t)b.data[len] & 0xc0) == 0x80)
		len--;
	if (len)
		memcpy(to, b.data, len);
	to[len] = 0;
	if (b.err)
		a->err = b.err;
	buf_release(&b);
}

/* Whether a list, separated by `sep`, has an item. */
static bool has_item(const char *list, char sep, const char *item, size_t n)
{
	for (const char *p = list; p; p = strchr(p, sep), p = p ? p + 1 : NULL)
		if (!strncmp(p, item, n) && (p[n] == sep || !p[n]))
			return true;
	return false;
}

/* Adds an item to a list; when there is no room, "..." says that there are more. */
static void add_item(char *list, size_t size, char sep, const char *item)
{
	size_t len = strlen(list), n = strlen(item);

	if (!n || (len && has_item(list, sep, item, n)))
		return;
	if (len + n + 6 > size) {
		if (len && len + 5 < size && !has_item(list, sep, "...", 3)) {
			list[len] = sep;
			memcpy(list + len + 1, "...", 4);
		}
		return;
	}
	if (len)
		list[len++] = sep;
	memcpy(list + len, item, n + 1);
}

/* Where the value ends that begins at s: before ", KEY: ". */
static size_t value_end(const char *s, size_t n)
{
	for (size_t i = 0; i + 2 < n; i++) {
		size_t k = i + 2;

		if (s[i] != ',' || s[i + 1] != ' ')
			continue;
		while (k < n && s[k] >= 'a' && s[k] <= 'z')
			k++;
		if (k > i + 2 && k + 1 < n && s[k] == ':' && s[k + 1] == ' ')
			return i;
	}
	return n;
}

static uint64_t number(const char *s, size_t n)
{
	uint64_t v = 0;

	for (size_t i = 0; i < n; i++)
		if (s[i] < '0' || s[i] > '9' || __builtin_mul_overflow(v, 10, &v) ||
		    __builtin_add_overflow(v, (uint64_t)(s[i] - '0'), &v))
			return 0;
	return v;
}

static bool is_key(const char *s, size_t n, const char *key)
{
	return n == strlen(key) && !memcmp(s, key, n);
}

bool fold_about_parse(const char *line, size_t n, struct fold_about *a)
{
	const char *end = line + n;

	if (n < sizeof(FOLD_ABOUT) - 1 || memcmp(line, FOLD_ABOUT, sizeof(FOLD_ABOUT) - 1))
		return false;
	*a = (struct fold_about){.uncounted = true};
	for (const char *p = line + 2; p < end;) {
		const char *colon = memchr(p, ':', (size_t)(end - p)), *value;
		size_t key, len;

		if (!colon || end - colon < 2)
			break;
		key = (size_t)(colon - p);
		value = colon + 2;
		len = value_end(value, (size_t)(end - value));
		if (is_key(p, key, "event") && !is_key(value, len, "-"))
			keep(a, a->event, sizeof(a->event), value, len);
		else if (is_key(p, key, "unit"))
			keep(a, a->unit, sizeof(a->unit), value, len);
		else if (is_key(p, key, "from") && !is_key(value, len, "-"))
			keep(a, a->from, sizeof(a->from), value, len);
		else if (is_key(p, key, "pmus"))
			keep(a, a->pmus, sizeof(a->pmus), value, len);
		else if (is_key(p, key, "chains"))
			keep(a, a->chains, sizeof(a->chains), value, len);
		else if (is_key(p, key, "samples"))
			a->samples = number(value, len);
		else if (is_key(p, key, "stacks"))
			a->marked = is_key(value, len, "marked");
		p = value + len + 2;
	}
	a->uncounted = !a->samples;
	return true;
}

bool fold_is_note(const char *line, size_t n)
{
	size_t key = 2;

	if (!n || line[0] != '#' || (n > 1 && line[1] != ' ' && line[1] != '\t'))
		return false;
	if (!memchr(line, ';', n))
		return true;
	while (key < n &&
	       ((line[key] >= 'a' && line[key] <= 'z') || (line[key] >= 'A' && line[key] <= 'Z') ||
		line[key] == '_' || line[key] == '-'))
		key++;
	return key > 2 && key + 1 < n && line[key] == ':' && line[key + 1] == ' ';
}

void fold_about_event(struct fold_about *a, const char *event, size_t event_len, const char *unit,
		      size_t unit_len)
{
	char text[sizeof(a->event)], name[sizeof(a->unit)];

	keep(a, text, sizeof(text), event, event_len);
	add_item(a->event, sizeof(a->event), '+', text);
	if (a->units)
		return;
	keep(a, name, sizeof(name), unit, unit_len);
	a->units = *a->unit && strcmp(a->unit, name) != 0;
	memcpy(a->unit, name, sizeof(name));
	if (a->units)
		*a->unit = 0;
}

bool fold_about_wants(const struct fold_about *a, const char *event, const char *root, size_t n)
{
	size_t len = strlen(event);

	if (has_item(a->event, '+', event, len))
		return n == len && !memcmp(event, root, n);
	return event_fits(event, len, root, n) || event_same(event, len, root, n);
}

/* Adds one of the events of a text, whose unit may be that of all of them. */
static void choose(struct fold_about *one, const struct fold_about *a, const char *event, size_t n)
{
	const char *unit = *a->unit ? a->unit : fold_about_unit(event, n);

	fold_about_event(one, event, n, unit, strlen(unit));
}

enum fold_has fold_about_choose(struct fold_about *a, const char *event)
{
	struct fold_about one = {.uncounted = true, .marked = a->marked, .unmarked = a->unmarked};
	size_t n;

	if (!strcmp(a->event, event))
		return FOLD_HAS_ALL;
	for (const char *p = a->event; *p; p += n + (p[n] == '+')) {
		n = strcspn(p, "+");
		if (fold_about_wants(a, event, p, n))
			choose(&one, a, p, n);
	}
	if (*one.event && !strchr(a->event, '+'))
		return FOLD_HAS_ALL;
	if (!*one.event && !has_item(a->event, '+', "...", 3))
		return FOLD_HAS_NONE;
	if (!*one.event)
		choose(&one, a, event, strlen(event));
	memcpy(one.from, a->from, sizeof(one.from));
	memcpy(one.pmus, a->pmus, sizeof(one.pmus));
	memcpy(one.chains, a->chains, sizeof(one.chains));
	*a = one;
	return FOLD_HAS_ROOT;
}

/* ---- names without the terms that say how an event was recorded ---- */

static const char *item_of(const void *ctx, uint32_t i, size_t *len)
{
	const char *p = ctx;

	while (i--)
		p += strcspn(p, "+") + 1;
	*len = strcspn(p, "+");
	return p;
}

static uint32_t items(const char *list)
{
	uint32_t n = *list != 0;

	for (; *list; list++)
		n += *list == '+';
	return n;
}

void fold_about_shorten(struct fold_about *a, const struct event_names *others)
{
	const struct event_names all = {item_of, a->event, items(a->event)};
	char list[sizeof(a->event)] = "";
	struct core_event e, same;
	size_t n;

	for (uint32_t i = 0; i < all.n; i++) {
		const char *p = item_of(a->event, i, &n);
		bool cut =
			event_short_name(p, n, &all, &e) && event_short_name(p, n, others, &same);
		char item[sizeof(a->event)];

		memcpy(item, cut ? e.name : p, cut ? e.len : n);
		item[cut ? e.len : n] = 0;
		add_item(list, sizeof(list), '+', item);
	}
	memcpy(a->event, list, sizeof(list));
}

void fold_about_pmu(struct fold_about *a, const char *pmu, size_t n)
{
	char text[sizeof(a->pmus)];

	keep(a, text, sizeof(text), pmu, n);
	add_item(a->pmus, sizeof(a->pmus), '+', text);
}

/* Adds a way to the list of them; a comma would begin the next key of the line. */
static void add_chains(struct fold_about *a, const char *s, size_t n)
{
	char text[sizeof(a->chains)];

	keep(a, text, sizeof(text), s, n);
	for (char *p = text; *p; p++)
		*p = *p == ',' || *p == '|' ? ' ' : *p;
	add_item(a->chains, sizeof(a->chains), '|', text);
}

void fold_about_recorder(struct fold_about *a, const char *version, size_t n)
{
	static const char start[] = "(call chains: ";
	const char *at = memmem(version, n, start, sizeof(start) - 1);
	size_t len;

	if (!at)
		return;
	at += sizeof(start) - 1;
	len = (size_t)(version + n - at);
	if (len && at[len - 1] == ')')
		add_chains(a, at, len - 1);
}

void fold_about_from(struct fold_about *a, const char *name, size_t n)
{
	char text[sizeof(a->from)];

	if ((n == 1 && *name == '-') || (n == 7 && !memcmp(name, "(stdin)", 7)))
		return;
	keep(a, text, sizeof(text), name, n);
	for (char *p = text; *p; p++)
		if (*p == ' ' || *p == ',')
			*p = '_';
	add_item(a->from, sizeof(a->from), ',', text);
}

static bool differ(const char *a, const char *b)
{
	return *a && *b && strcmp(a, b) != 0;
}

bool fold_about_clashes(const struct fold_about *a, const struct fold_about *b)
{
	return differ(a->event, b->event) || differ(a->unit, b->unit) ||
	       (a->units && (b->units || *b->unit)) || (b->units && *a->unit);
}

void fold_about_merge(struct fold_about *a, const struct fold_about *b)
{
	if (!*a->event)
		memcpy(a->event, b->event, sizeof(a->event));
	if (!*a->unit)
		memcpy(a->unit, b->unit, sizeof(a->unit));
	if (__builtin_add_overflow(a->samples, b->samples, &a->samples))
		a->samples = UINT64_MAX;
	a->err = a->err ? a->err : b->err;
	a->units |= b->units;
	a->uncounted |= b->uncounted;
	for (const char *p = b->pmus; *p;) {
		size_t n = strcspn(p, "+");

		fold_about_pmu(a, p, n);
		p += n + (p[n] == '+');
	}
	for (const char *p = b->chains; *p;) {
		size_t n = strcspn(p, "|");

		add_chains(a, p, n);
		p += n + (p[n] == '|');
	}
	a->marked |= b->marked;
	a->unmarked |= b->unmarked || !b->marked;
	for (const char *p = b->from; *p;) {
		size_t n = strcspn(p, ",");

		fold_about_from(a, p, n);
		p += n + (p[n] == ',');
	}
}

void fold_about_describe(const struct fold_about *a, struct buf *b)
{
	buf_adds(b, *a->event ? a->event : "an unknown event");
	if (*a->unit)
		buf_addf(b, " in %s", a->unit);
	else if (a->units)
		buf_adds(b, " in several units");
}

void fold_about_write(const struct fold_about *a, struct buf *b)
{
	if (a->err)
		b->err = a->err;
	if (!*a->event && !*a->unit)
		return;
	buf_addf(b, "%s%s", FOLD_ABOUT, *a->event ? a->event : "-");
	if (*a->unit)
		buf_addf(b, ", unit: %s", a->unit);
	if (a->samples && !a->uncounted)
		buf_addf(b, ", samples: %" PRIu64, a->samples);
	if (*a->pmus)
		buf_addf(b, ", pmus: %s", a->pmus);
	if (*a->chains)
		buf_addf(b, ", chains: %s", a->chains);
	if (a->marked && !a->unmarked)
		buf_adds(b, ", stacks: marked");
	buf_addf(b, ", from: %s\n", *a->from ? a->from : "-");
}

const char *fold_about_unit(const char *event, size_t n)
{
	static const struct {
		char event[12], unit[8];
	} known[] = {{"cpu-clock", "ns"}, {"task-clock", "ns"}, {"cycles", "cycles"}};

	for (size_t i = 0; i < sizeof(known) / sizeof(*known); i++) {
		size_t len = strlen(known[i].event);

		if (n >= len && !memcmp(event, known[i].event, len) &&
		    (n == len || event[len] == ':' || event[len] == '/'))
			return known[i].unit;
	}
	return "events";
}
