/* Values that a probe had to record in parts, put together. */
#include "event/probe_parts.h"

#include "base/err.h"

#include <ctype.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum part { PART_NONE, PART_PTR, PART_LEN, PART_END, PART_STR, PART_ELEM, PART_SIGNED };

struct field {
	const char *line; /* in the text, up to its newline */
	size_t line_len;
	const char *name;
	size_t len, base; /* of the name, of what is before "__" */
	uint32_t offset, size, element, bits;
	enum part part;
	struct {
		const char *p;
		size_t n;
	} conversion;	/* in the print format */
	int head, tail; /* indices of the fields with its pointer and its length or end, or -1 */
};

struct probe_parts {
	struct field f[PROBE_PARTS_MAX];
	int n;
};

static uint32_t number_after(const char *line, size_t n, const char *word)
{
	const char *at = memmem(line, n, word, strlen(word));

	return at ? (uint32_t)strtoul(at + strlen(word), NULL, 10) : 0;
}

static void classify(struct field *f)
{
	static const struct {
		const char *end;
		enum part part;
	} ends[] = {{"__ptr", PART_PTR}, {"__len", PART_LEN},	{"__end", PART_END},
		    {"__str", PART_STR}, {"__elem", PART_ELEM}, {0}};
	size_t i;

	f->base = f->len;
	for (i = 0; ends[i].end; i++) {
		size_t n = strlen(ends[i].end);

		if (f->len > n && !memcmp(f->name + f->len - n, ends[i].end, n)) {
			f->part = ends[i].part;
			f->base = f->len - n;
		}
	}
	for (i = f->len; i > 0 && isdigit((unsigned char)f->name[i - 1]); i--)
		;
	if (i > 3 && i < f->len && f->len - i <= 2 && !memcmp(f->name + i - 3, "__s", 3)) {
		f->bits = (uint32_t)strtoul(f->name + i, NULL, 10);
		if (!f->bits || f->bits > 64 || f->bits > 8 * f->size)
			return;
		f->part = PART_SIGNED;
		f->base = i - 3;
	}
}

/* "	field:u8 name__str[64];	offset:24;	size:64;	signed:0;" */
static bool parse_field(const char *line, size_t n, struct field *f)
{
	const char *semi = memchr(line, ';', n), *end, *start;

	if (n < 8 || memcmp(line, "\tfield:", 7) != 0 || !semi)
		return false;
	memset(f, 0, sizeof(*f));
	f->head = f->tail = -1;
	f->line = line;
	f->line_len = n;
	end = memchr(line, '[', (size_t)(semi - line));
	end = end ? end : semi;
	f->element = 1;
	for (start = end; start > line && (isalnum((unsigned char)start[-1]) || start[-1] == '_');)
		start--;
	f->name = start;
	f->len = (size_t)(end - start);
	f->offset = number_after(semi, n - (size_t)(semi - line), "offset:");
	f->size = number_after(semi, n - (size_t)(semi - line), "size:");
	/* The kernel writes no number of elements: "field:s64 a[];". */
	if (*end == '[')
		f->element = (uint32_t)strtoul(line + 8, NULL, 10) / 8;
	if (!f->element || f->element > 8 || f->size % f->element)
		f->element = 1;
	if (!f->len || f->offset > 65536 || !f->size || f->size > 65536)
		return false;
	classify(f);
	if (f->part == PART_STR && (f->element != 1 || *end != '['))
		f->part = PART_NONE;
	return true;
}

/* The pointer and the length of texts and sequences. */
static void connect(struct probe_parts *p)
{
	for (int i = 0; i < p->n; i++) {
		struct field *f = &p->f[i];

		if (f->part != PART_STR && f->part != PART_ELEM)
			continue;
		for (int k = 0; k < p->n; k++) {
			const struct field *g = &p->f[k];

			if (g->base != f->base || memcmp(g->name, f->name, f->base) != 0 ||
			    g->size != 8)
				continue;
			if (g->part == PART_PTR)
				f->head = k;
			if (g->part == PART_LEN || g->part == PART_END)
				f->tail = k;
		}
	}
}

/* The conversions of the fields in the print format, " name=%d": false if it has another form. */
static bool find_conversions(struct probe_parts *p, const char *fmt, const char *end)
{
	const char *at = fmt;

	for (int i = 0; i < p->n; i++) {
		struct field *f = &p->f[i];
		const char *next = at;

		do {
			next = memmem(next, (size_t)(end - next), f->name, f->len);
			if (!next)
				return false;
			next += f->len;
		} while (next < end && (*next != '=' || next[-(ptrdiff_t)f->len - 1] != ' '));
		if (next >= end)
			return false;
		if (i)
			p->f[i - 1].conversion.n =
				(size_t)(next - f->len - 1 - p->f[i - 1].conversion.p);
		f->conversion.p = at = next + 1;
		f->conversion.n = (size_t)(end - f->conversion.p);
	}
	return true;
}

static bool shown(const struct probe_parts *p, int i)
{
	for (int k = 0; k < p->n; k++)
		if (p->f[k].head == i || p->f[k].tail == i)
			return false;
	return true;
}

static unsigned conversions(const struct field *f)
{
	unsigned n = 0;

	for (size_t i = 0; i < f->conversion.n; i++)
		n += f->conversion.p[i] == '%';
	return n;
}

static const char *signed_type(uint32_t size)
{
	return size == 1 ? "s8" : size == 2 ? "s16" : size == 4 ? "s32" : "s64";
}

static const char *element_type(uint32_t size, bool sign)
{
	switch (size) {
	case 1: return sign ? "signed char" : "unsigned char";
	case 2: return sign ? "short" : "unsigned short";
	case 4: return sign ? "int" : "unsigned int";
	default: return sign ? "long long" : "unsigned long long";
	}
}

static void put_field(const struct field *f, struct buf *b)
{
	switch (f->part) {
	case PART_STR:
		buf_addf(b, "\tfield:char %.*s[%u];\toffset:%u;\tsize:%u;\tsigned:0;\n",
			 (int)f->base, f->name, f->size, f->offset, f->size);
		break;
	case PART_SIGNED:
		buf_addf(b, "\tfield:%s %.*s;\toffset:%u;\tsize:%u;\tsigned:1;\n",
			 signed_type(f->size), (int)f->base, f->name, f->offset, f->size);
		break;
	case PART_ELEM:
		/* Types that libtraceevent knows the size of, which it prints 0 otherwise. */
		buf_addf(b, "\tfield:%s %.*s", element_type(f->element, f->line[7] == 's'),
			 (int)f->base, f->name);
		buf_addf(b, "[%u];\toffset:%u;\tsize:%u;\tsigned:%d;\n", f->size / f->element,
			 f->offset, f->size, f->line[7] == 's');
		break;
	default: buf_add(b, f->line, f->line_len); buf_addc(b, '\n');
	}
}

/* Whether fields that stay have the name, too: then it is not given to another. */
static bool name_is_free(const struct probe_parts *p, int i)
{
	const struct field *f = &p->f[i];

	for (int k = 0; k < p->n; k++)
		if (k != i && p->f[k].part != PART_PTR && p->f[k].part != PART_LEN &&
		    p->f[k].part != PART_END &&
		    (p->f[k].part == PART_NONE ? p->f[k].len : p->f[k].base) == f->base &&
		    !memcmp(p->f[k].name, f->name, f->base))
			return false;
	return true;
}

static void put_conversion(const struct field *f, struct buf *b)
{
	size_t n = f->part == PART_NONE || f->part == PART_PTR || f->part == PART_LEN ||
				   f->part == PART_END
			   ? f->len
			   : f->base;

	buf_addf(b, " %.*s=", (int)n, f->name);
	if (f->part == PART_STR)
		buf_adds(b, "\\\"%s\\\"");
	else if (f->part == PART_SIGNED)
		buf_adds(b, f->size == 8 ? "%Ld" : "%d");
	else
		buf_add(b, f->conversion.p, f->conversion.n);
}

static void put_arguments(const struct field *f, struct buf *b)
{
	unsigned n = conversions(f);

	if (f->part == PART_STR || f->part == PART_SIGNED) {
		buf_addf(b, ", REC->%.*s", (int)f->base, f->name);
		return;
	}
	if (f->conversion.n && f->conversion.p[0] == '{') {
		for (unsigned i = 0; i < n; i++)
			buf_addf(b, ", REC->%.*s[%u]",
				 (int)(f->part == PART_ELEM ? f->base : f->len), f->name, i);
		return;
	}
	if (f->conversion.n && memmem(f->conversion.p, f->conversion.n, "%s", 2))
		buf_addf(b, ", __get_str(%.*s)", (int)f->len, f->name);
	else
		buf_addf(b, ", REC->%.*s", (int)f->len, f->name);
}

struct source {
	const char *fields, *fields_end; /* the lines of the probe's own fields */
	const char *fmt, *fmt_end;	 /* between the quotes */
	const char *args; /* after "fmt", of the addresses; up to the first own one */
	size_t args_len;
};

static void rewrite(const struct probe_parts *p, const char *text, const struct source *s,
		    struct buf *b)
{
	const char *first = p->f[0].conversion.p - p->f[0].len - 2;

	buf_add(b, text, (size_t)(s->fields - text));
	for (int i = 0; i < p->n; i++)
		put_field(&p->f[i], b);
	buf_add(b, s->fields_end, (size_t)(s->fmt - s->fields_end));
	buf_add(b, s->fmt, (size_t)(first - s->fmt));
	for (int i = 0; i < p->n; i++)
		if (shown(p, i))
			put_conversion(&p->f[i], b);
	buf_addc(b, '"');
	buf_add(b, s->args, s->args_len);
	for (int i = 0; i < p->n; i++)
		if (shown(p, i))
			put_arguments(&p->f[i], b);
	buf_addc(b, '\n');
}

/* Finds the parts of the text. False: it is not that of a probe with arguments. */
static bool find_source(const char *text, size_t len, struct source *s)
{
	static const char *const heads[] = {" __probe_ip;", " __probe_ret_ip;"};
	const char *at = NULL, *end = text + len, *quote;

	for (int i = 0; i < 2; i++) {
		const char *found = memmem(text, len, heads[i], strlen(heads[i]));

		at = found && found > at ? found : at;
	}
	if (!at || !(s->fields = memchr(at, '\n', (size_t)(end - at))))
		return false;
	s->fields++;
	at = memmem(s->fields, (size_t)(end - s->fields), "print fmt: \"", 12);
	if (!at)
		return false;
	s->fields_end = at;
	while (s->fields_end > s->fields && s->fields_end[-1] == '\n')
		s->fields_end--;
	s->fields_end += s->fields_end < at;
	s->fmt = at + 12;
	quote = s->fmt;
	while (quote < end && (*quote != '"' || quote[-1] == '\\'))
		quote++;
	if (quote == end)
		return false;
	s->fmt_end = quote;
	s->args = quote + 1;
	return true;
}

/* The arguments before the first field's: those of the addresses. */
static bool head_arguments(const struct probe_parts *p, struct source *s, const char *end)
{
	char name[256];
	const char *own;

	snprintf(name, sizeof(name), "%.*s", (int)p->f[0].len, p->f[0].name);
	own = memmem(s->args, (size_t)(end - s->args), name, p->f[0].len);
	while (own && own > s->args && *own != ',')
		own--;
	if (!own)
		return false;
	s->args_len = (size_t)(own - s->args);
	return true;
}

int probe_parts_new(struct probe_parts **out, const char *text, size_t len, struct buf *format)
{
	struct source s = {0};
	struct probe_parts *p;
	bool any = false;

	*out = NULL;
	if (!memmem(text, len, "__", 2) || !find_source(text, len, &s))
		return 0;
	p = calloc(1, sizeof(*p));
	if (!p)
		return PP_ENOMEM;
	for (const char *at = s.fields; at < s.fields_end;) {
		const char *nl = memchr(at, '\n', (size_t)(s.fields_end - at));
		size_t n = (size_t)((nl ? nl : s.fields_end) - at);

		if (p->n == PROBE_PARTS_MAX || (n && !parse_field(at, n, &p->f[p->n++]))) {
			probe_parts_free(p);
			return 0;
		}
		at += n + (nl != NULL);
	}
	for (int i = 0; i < p->n; i++) {
		if (p->f[i].part >= PART_STR && !name_is_free(p, i))
			p->f[i].part = PART_NONE;
		any = any || p->f[i].part >= PART_STR;
	}
	connect(p);
	if (!any || !find_conversions(p, s.fmt, s.fmt_end) || !head_arguments(p, &s, text + len)) {
		probe_parts_free(p);
		return 0;
	}
	rewrite(p, text, &s, format);
	if (format->err) {
		probe_parts_free(p);
		return PP_ENOMEM;
	}
	*out = p;
	return 0;
}

void probe_parts_free(struct probe_parts *p)
{
	free(p);
}

static uint64_t load(const uint8_t *p, uint32_t size)
{
	uint64_t v = 0;
	uint16_t h;
	uint32_t w;

	switch (size) {
	case 1: return *p;
	case 2: memcpy(&h, p, 2); return h;
	case 4: memcpy(&w, p, 4); return w;
	case 8: memcpy(&v, p, 8); return v;
	default: return 0;
	}
}

static void spread_sign(const struct field *f, uint8_t *at)
{
	uint64_t v = load(at, f->size), sign = UINT64_C(1) << (f->bits - 1);
	uint16_t h;
	uint32_t w;

	v = (v ^ sign) - sign;
	h = (uint16_t)v;
	w = (uint32_t)v;
	switch (f->size) {
	case 1: *at = (uint8_t)v; break;
	case 2: memcpy(at, &h, 2); break;
	case 4: memcpy(at, &w, 4); break;
	case 8: memcpy(at, &v, 8); break;
	}
}

/* Clears what is after the end of a text or sequence. */
static void clear_rest(const struct probe_parts *p, const struct field *f, uint8_t *payload,
		       size_t len)
{
	const struct field *tail = f->tail >= 0 ? &p->f[f->tail] : NULL;
	const struct field *head = f->head >= 0 ? &p->f[f->head] : NULL;
	uint64_t n;

	if (!tail || tail->offset + 8u > len || (head && head->offset + 8u > len))
		return;
	n = load(payload + tail->offset, 8);
	if (tail->part == PART_END) {
		if (!head)
			return;
		n -= load(payload + head->offset, 8);
	} else if (n < f->size) {
		n *= f->element;
	}
	if (n < f->size)
		memset(payload + f->offset + n, 0, f->size - n);
}

void probe_parts_join(const struct probe_parts *p, uint8_t *payload, size_t len)
{
	for (int i = 0; p && i < p->n; i++) {
		const struct field *f = &p->f[i];

		if ((uint64_t)f->offset + f->size > len)
			continue;
		if (f->part == PART_SIGNED)
			spread_sign(f, payload + f->offset);
		else if (f->part == PART_STR || f->part == PART_ELEM)
			clear_rest(p, f, payload, len);
	}
}
