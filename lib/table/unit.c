/* Amounts with their unit, with three digits, for people. */
#include "table/unit.h"

#include <math.h>
#include <stdio.h>

/* From the smallest on: names and how many of the one before make one. */
struct scale {
	const char *unit;
	struct {
		const char *name;
		double factor;
	} step[6];
};

/* clang-format off */
static const struct scale counts = {"", {{"", 1}, {"k", 1e3}, {"M", 1e3}, {"G", 1e3}, {"T", 1e3}}};
static const struct scale scales[] = {
	{"ns", {{"ns", 1}, {"us", 1e3}, {"ms", 1e3}, {"s", 1e3}}},
	{"bytes", {{"B", 1}, {"KiB", 1024}, {"MiB", 1024}, {"GiB", 1024}, {"TiB", 1024}}},
};
/* clang-format on */

static const struct scale *scale_of(const char *unit)
{
	for (size_t i = 0; i < sizeof(scales) / sizeof(scales[0]); i++)
		if (!strcmp(scales[i].unit, unit))
			return &scales[i];
	return NULL;
}

bool unit_known(const char *unit)
{
	return scale_of(unit) != NULL;
}

void unit_add_int(struct buf *b, hist_int v)
{
	struct wide m;
	uint64_t digit;
	char digits[40];
	size_t n = sizeof(digits);

	if (v >= 0 && v <= UINT64_MAX) {
		buf_add_u64(b, (uint64_t)v, 0, ' ');
		return;
	}
	m = wide_of(v < 0 ? -v : v);
	do {
		wide_div(&m, 10, &digit);
		digits[--n] = (char)('0' + (int)digit);
	} while (m.hi || m.lo);
	if (v < 0)
		buf_addc(b, '-');
	buf_add(b, digits + n, sizeof(digits) - n);
}

static void add_scaled(struct buf *b, double v, const struct scale *s)
{
	double m = fabs(v);
	size_t i = 0;

	/* 999.6 would be written as 1000. */
	while (s->step[i + 1].name && m >= s->step[i + 1].factor * 0.9995) {
		m /= s->step[++i].factor;
	}
	if (v < 0)
		buf_addc(b, '-');
	if (m == floor(m) && (m >= 100 || i == 0))
		buf_addf(b, "%.0f %s", m, s->step[i].name);
	else
		buf_addf(b, "%.*f %s", m >= 99.95 ? 0 : m >= 9.995 ? 1 : 2, m, s->step[i].name);
}

void unit_add(struct buf *b, hist_int v, const char *unit)
{
	const struct scale *s = scale_of(unit);

	if (s)
		add_scaled(b, (double)v, s);
	else
		unit_add_int(b, v);
}

void unit_add_mean(struct buf *b, double v, const char *unit)
{
	const struct scale *s = scale_of(unit);
	double m = fabs(v);

	if (isnan(v))
		buf_addc(b, '-');
	else if (s)
		add_scaled(b, v, s);
	else
		buf_addf(b, "%.*f",
			 v == floor(v) || m >= 1000 ? 0
			 : m >= 100		    ? 1
			 : m >= 10		    ? 2
						    : 3,
			 v);
}

void unit_add_short(struct buf *b, double v, const char *unit)
{
	const struct scale *s = scale_of(unit);
	double m = fabs(v);
	size_t i = 0;

	if (m == 0 || (!s && m < 10000)) {
		buf_addf(b, "%.4g", v);
		return;
	}
	s = s ? s : &counts;
	while (s->step[i + 1].name && m >= s->step[i + 1].factor * 0.9995)
		m /= s->step[++i].factor;
	buf_addf(b, "%s%.4g%s%s", v < 0 ? "-" : "", m, *s->unit ? " " : "", s->step[i].name);
}

uint32_t text_width(const char *s, size_t n)
{
	uint32_t w = 0;

	for (size_t i = 0; i < n; i++)
		w += ((uint8_t)s[i] & 0xc0) != 0x80;
	return w;
}

size_t text_fit(const char *s, size_t n, uint32_t columns)
{
	size_t len = 0;

	for (uint32_t w = 0; len < n; len++)
		if (((uint8_t)s[len] & 0xc0) != 0x80 && w++ == columns)
			break;
	return len;
}

void buf_cut(struct buf *b, size_t from, uint32_t room, const char *end)
{
	uint32_t w = text_width(end, strlen(end));
	const char *s = buf_str(b) + from;

	if (!room || text_width(s, b->len - from) <= room)
		return;
	b->len = from + text_fit(s, b->len - from, room > w ? room - w : 0);
	buf_adds(b, end);
}

void buf_add_markup(struct buf *b, const char *s, size_t n, const char *marks)
{
	struct buf safe = BUF_INIT;

	buf_add_safe(&safe, s, n);
	for (size_t i = 0; i < safe.len; i++) {
		char c = (char)safe.data[i];

		if (c && strchr(marks, c))
			buf_addf(b, "&#%d;", c);
		else
			buf_addc(b, c);
	}
	buf_inherit(b, &safe);
	buf_release(&safe);
}
