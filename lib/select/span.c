/* Spans of time from text: 1.5s, +2s-, 10%-20%. */
#include "select/span.h"

#include "base/err.h"
#include "base/wide.h"

#include <ctype.h>
#include <math.h>
#include <stdlib.h>

#define SPANS_MAX (1u << 20)
#define NS_PER_S  UINT64_C(1000000000)

static const struct {
	const char *text;
	uint64_t ns;
} units[] = {{"ns", 1},	      {"us", 1000},	      {"ms", 1000000},
	     {"s", NS_PER_S}, {"min", 60 * NS_PER_S}, {"h", 3600 * NS_PER_S}};

size_t span_number(const char *text, uint64_t *ns, bool *has_unit)
{
	uint64_t whole = 0, fraction = 0, scale = 1, factor = NS_PER_S, part, rest;
	struct wide product;
	const char *p = text, *start;
	size_t n = 0;

	for (; isdigit((unsigned char)*p); p++)
		if (__builtin_mul_overflow(whole, 10, &whole) ||
		    __builtin_add_overflow(whole, *p - '0', &whole))
			return 0;
	if (p == text)
		return 0;
	if (*p == '.' && isdigit((unsigned char)p[1]))
		for (p++; isdigit((unsigned char)*p) && scale < NS_PER_S; p++) {
			fraction = 10 * fraction + (uint64_t)(*p - '0');
			scale *= 10;
		}
	for (start = p; isalpha((unsigned char)p[n]); n++)
		;
	*has_unit = n != 0;
	for (size_t i = 0; n && i < sizeof(units) / sizeof(units[0]); i++)
		if (strlen(units[i].text) == n && !memcmp(units[i].text, start, n)) {
			factor = units[i].ns;
			p += n;
			n = 0;
		}
	if (n || __builtin_mul_overflow(whole, factor, &whole))
		return 0;
	/* Both are below 3.6e21 / 1e9: it fits. */
	product = wide_mul(fraction, factor);
	part = wide_div(&product, scale, &rest);
	if (rest || __builtin_add_overflow(whole, part, ns))
		return 0;
	return (size_t)(p - text);
}

static bool percent(const char **p, double *fraction)
{
	char *end;
	double v;

	if (!isdigit((unsigned char)**p))
		return false;
	v = strtod(*p, &end);
	if (*end != '%' || !(v >= 0 && v <= 100))
		return false;
	*fraction = v / 100;
	*p = end + 1;
	return true;
}

static bool time_of(const char **p, struct span_time *t)
{
	const char *number = *p;
	bool has_unit;
	size_t n;

	*t = (struct span_time){.from = SPAN_PERCENT};
	if (percent(p, &t->fraction))
		return true;
	t->from = *number == '+' ? SPAN_START : *number == '-' ? SPAN_END : SPAN_ABSOLUTE;
	number += t->from != SPAN_ABSOLUTE;
	n = span_number(number, &t->ns, &has_unit);
	*p = number + n;
	return n != 0;
}

static struct span *add(struct spans *s)
{
	if (s->n == s->cap) {
		unsigned cap = s->cap ? 2 * s->cap : 4;
		struct span *v = s->n < SPANS_MAX ? realloc(s->v, cap * sizeof(*v)) : NULL;

		if (!v)
			return NULL;
		s->v = v;
		s->cap = cap;
	}
	s->v[s->n] = (struct span){.b = {.ns = UINT64_MAX}};
	return &s->v[s->n++];
}

int spans_add(struct spans *s, uint64_t first, uint64_t last)
{
	struct span *v = add(s);

	if (!v)
		return s->n < SPANS_MAX ? PP_ENOMEM : PP_ELIMIT;
	v->a.ns = first;
	v->b.ns = last;
	return 0;
}

void spans_release(struct spans *s)
{
	free(s->v);
	free(s->ranges);
	*s = (struct spans)SPANS_INIT;
}

/* "10%/2": the second tenth. */
static bool part(const char **p, struct span *v)
{
	double size = v->a.fraction;
	char *end;
	unsigned long n = strtoul(*p, &end, 10);

	if (!isdigit((unsigned char)**p) || !n || size <= 0 || ((double)n - 1) * size >= 1)
		return false;
	*p = end;
	v->a.fraction = size * ((double)n - 1);
	v->b = (struct span_time){.from = SPAN_PERCENT, .fraction = fmin(1, size * (double)n)};
	return true;
}

/* One span; *p then points after it. `comma`: it stands between the ends. */
static bool one(const char **p, struct span *v, bool comma)
{
	const char *between = comma ? "," : "..";
	bool low = false;

	if (strncmp(*p, between, strlen(between)) != 0) {
		low = time_of(p, &v->a);
		if (!low)
			return false;
	}
	if (low && v->a.from == SPAN_PERCENT && **p == '/') {
		(*p)++;
		return part(p, v);
	}
	if (low && v->a.from == SPAN_PERCENT && **p == '-') {
		(*p)++;
		return time_of(p, &v->b) && v->b.from == SPAN_PERCENT;
	}
	if (strncmp(*p, between, strlen(between)) != 0)
		return false;
	*p += strlen(between);
	if (**p && (comma || **p != ','))
		return time_of(p, &v->b);
	return low;
}

int spans_parse(struct spans *s, const char *text, struct buf *why)
{
	bool comma = !strstr(text, "..") && !strchr(text, '%');
	const char *p = text;

	do {
		struct span *v = add(s);

		if (!v)
			return PP_ENOMEM;
		if (!one(&p, v, comma) || (*p && *p != ',')) {
			buf_adds(why, "not A..B, A.., ..B, P%/N or P%-P%: ");
			buf_add_safe(why, text, strlen(text));
			return PP_EUSAGE;
		}
		if (v->a.from == v->b.from &&
		    (v->a.from == SPAN_PERCENT ? v->a.fraction > v->b.fraction
		     : v->a.from == SPAN_END   ? v->a.ns < v->b.ns
					       : v->a.ns > v->b.ns)) {
			buf_adds(why, "the end lies before the beginning: ");
			buf_add_safe(why, text, strlen(text));
			return PP_EUSAGE;
		}
	} while (*p++);
	return 0;
}

static bool any(const struct spans *s, enum span_from from)
{
	for (unsigned i = 0; i < s->n; i++)
		if (s->v[i].a.from == from || s->v[i].b.from == from)
			return true;
	return false;
}

bool spans_need_first(const struct spans *s)
{
	return any(s, SPAN_START) || spans_need_last(s);
}

bool spans_need_last(const struct spans *s)
{
	return any(s, SPAN_END) || any(s, SPAN_PERCENT);
}

static uint64_t settle(const struct span_time *t, uint64_t first, uint64_t last)
{
	uint64_t v;

	switch (t->from) {
	case SPAN_START: return __builtin_add_overflow(first, t->ns, &v) ? UINT64_MAX : v;
	case SPAN_END: return t->ns > last ? 0 : last - t->ns;
	case SPAN_PERCENT: return first + (uint64_t)llround(t->fraction * (double)(last - first));
	default: return t->ns;
	}
}

static int by_first(const void *a, const void *b)
{
	const struct span_range *x = a, *y = b;

	return x->first < y->first ? -1 : x->first > y->first;
}

int spans_settle(struct spans *s, uint64_t first, uint64_t last)
{
	struct span_range *r = calloc(s->n ? s->n : 1, sizeof(*r));
	unsigned n = 0;

	if (!r)
		return PP_ENOMEM;
	for (unsigned i = 0; i < s->n; i++)
		r[i] = (struct span_range){settle(&s->v[i].a, first, last),
					   settle(&s->v[i].b, first, last)};
	qsort(r, s->n, sizeof(*r), by_first);
	for (unsigned i = 0; i < s->n; i++) {
		if (r[i].first > r[i].last)
			continue;
		if (n && r[i].first <= r[n - 1].last)
			r[n - 1].last = r[i].last > r[n - 1].last ? r[i].last : r[n - 1].last;
		else
			r[n++] = r[i];
	}
	free(s->ranges);
	s->ranges = r;
	s->nranges = n;
	return 0;
}

bool spans_hold(const struct spans *s, uint64_t time)
{
	unsigned low = 0, high = s->nranges;

	/* The last range that begins at or before the time. */
	while (low < high) {
		unsigned mid = low + (high - low) / 2;

		if (s->ranges[mid].first <= time)
			low = mid + 1;
		else
			high = mid;
	}
	return low && time <= s->ranges[low - 1].last;
}
