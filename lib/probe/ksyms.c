/* The functions in the text of kallsyms. */
#include "probe/ksyms.h"

#include "base/array.h"
#include "base/err.h"
#include "event/glob.h"
#include "probe/point.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Lines are "ADDRESS t NAME[\t[MODULE]]". */
bool ksyms_next(const char **at, struct ksym *s)
{
	while (**at) {
		const char *line = *at, *end = line + strcspn(line, "\n");
		const char *type = memchr(line, ' ', (size_t)(end - line)), *tab;

		*at = *end ? end + 1 : end;
		if (!type || end - type < 4 || !strchr("tTwW", type[1]) || type[2] != ' ')
			continue;
		s->addr = strtoull(line, NULL, 16);
		s->name = type + 3;
		tab = memchr(s->name, '\t', (size_t)(end - s->name));
		s->len = (size_t)((tab ? tab : end) - s->name);
		s->module = tab && tab[1] == '[' ? tab + 2 : "";
		s->module_len = tab && tab[1] == '[' ? strcspn(tab + 2, "]\n") : 0;
		return true;
	}
	return false;
}

static bool named(const struct ksym *s, const char *name)
{
	return s->len == strlen(name) && !memcmp(s->name, name, s->len);
}

unsigned ksyms_count(const char *text, const char *func)
{
	const char *colon = strchr(func, ':'), *name = colon ? colon + 1 : func;
	size_t module = colon ? (size_t)(colon - func) : 0;
	unsigned found = 0;
	struct ksym s;

	while (ksyms_next(&text, &s))
		found += named(&s, name) &&
			 (!colon || (s.module_len == module && !memcmp(s.module, func, module)));
	return found;
}

void ksyms_module(const char *text, const char *func, char out[64])
{
	const char *colon = strchr(func, ':');
	struct ksym s;

	out[0] = 0;
	if (colon && colon - func < 64)
		snprintf(out, 64, "%.*s", (int)(colon - func), func);
	while (!colon && !out[0] && ksyms_next(&text, &s))
		if (named(&s, func) && s.module_len < 64)
			snprintf(out, 64, "%.*s", (int)s.module_len, s.module);
}

bool ksyms_fits(const struct ksym *s, const char *pattern)
{
	const char *colon = strchr(pattern, ':');

	if (colon && !glob_match(pattern, (size_t)(colon - pattern), s->module, s->module_len))
		return false;
	pattern = colon ? colon + 1 : pattern;
	return glob_match(pattern, strlen(pattern), s->name, s->len);
}

/* ---- patterns ---- */

struct range {
	uint64_t from, to;
};

/* Where the code lies that is needed while the kernel starts, and gone after that. */
static struct range init_code(const char *text)
{
	struct range r = {0, 0};
	struct ksym s;

	while (ksyms_next(&text, &s))
		if (named(&s, "_sinittext"))
			r.from = s.addr;
		else if (named(&s, "_einittext"))
			r.to = s.addr;
	return r;
}

/* The part of a function that is out of line, or the bytes before one that begins. */
static bool is_part(const struct ksym *s)
{
	static const char *const begins[] = {"__pfx_", "__cfi_"};

	for (size_t i = 0; i < sizeof(begins) / sizeof(begins[0]); i++)
		if (s->len > strlen(begins[i]) && !strncmp(s->name, begins[i], strlen(begins[i])))
			return true;
	return memmem(s->name, s->len, ".cold", 5) || memmem(s->name, s->len, ".part.", 6);
}

static int by_name(const void *a, const void *b)
{
	const struct ksym *x = a, *y = b;
	int rc = memcmp(x->name, y->name, x->len < y->len ? x->len : y->len);

	return rc ? rc : (x->len > y->len) - (x->len < y->len);
}

/* Leaves names that are there once. */
static uint32_t drop_twins(struct ksym *v, uint32_t n, uint32_t *twins)
{
	uint32_t kept = 0;

	for (uint32_t i = 0, end; i < n; i = end) {
		for (end = i + 1; end < n && !by_name(&v[i], &v[end]); end++)
			;
		if (end == i + 1)
			v[kept++] = v[i];
		else
			*twins += end - i;
	}
	return kept;
}

int ksyms_pattern(const char *text, const char *pattern, struct ksym **v, uint32_t *n,
		  struct ksyms_left *left)
{
	struct range init = init_code(text);
	uint32_t cap = 0;
	struct ksym s;

	*v = NULL;
	*n = 0;
	memset(left, 0, sizeof(*left));
	while (ksyms_next(&text, &s)) {
		struct ksym *wider;

		if (!ksyms_fits(&s, pattern) || s.len >= KSYMS_NAME_MAX || is_part(&s))
			continue;
		if (s.addr >= init.from && s.addr < init.to) {
			left->init++;
			continue;
		}
		wider = *n < POINTS_MAX ? array_widen(*v, &cap, *n, 64, sizeof(**v)) : NULL;
		if (!wider)
			return *n < POINTS_MAX ? PP_ENOMEM : PP_ELIMIT;
		*v = wider;
		(*v)[(*n)++] = s;
	}
	if (*n)
		qsort(*v, *n, sizeof(**v), by_name);
	*n = drop_twins(*v, *n, &left->twins);
	return 0;
}
