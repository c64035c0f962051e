/* What can be probed: the lines of a function or a file, with their text where it is there. */
#include "base/err.h"
#include "inspect/source_lines.h"
#include "probe/look.h"
#include "probe/point.h"
#include "inspect/scope.h"
#include "probe/spec.h"
#include "symbol/beneath.h"

#include <dwarf.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define LINES_MAX (1u << 22) /* of a file */

struct lines {
	struct look *l;
	char *file; /* owned */
	Dwarf_Die *within;
	uint32_t first, last; /* lines that are shown; last 0: all */
	uint32_t base;	      /* the function's first line, or 0 */
	uint32_t *places;     /* for each line the number of places */
	uint32_t n;
};

static int on_row(void *ctx, const struct line_row *r)
{
	struct lines *s = ctx;
	uint32_t line = (uint32_t)r->line;

	if (!s->file || !lines_same_file(r->file, s->file, strlen(s->file)) || line >= LINES_MAX ||
	    line < s->first || (s->last && line > s->last) ||
	    (s->within && dwarf_haspc(s->within, r->addr) <= 0))
		return 0;
	if (line >= s->n) {
		uint32_t n = line + 1024;
		uint32_t *v = reallocarray(s->places, n, sizeof(*v));

		if (!v)
			return PP_ENOMEM;
		memset(v + s->n, 0, (n - s->n) * sizeof(*v));
		s->places = v;
		s->n = n;
	}
	s->places[line]++;
	return 0;
}

static const struct record_column columns[] = {
	{"line", 6, true}, {"relative", 5}, {"probe", 5}, {"text", 0}, {0}};

/* Tabs as blanks. */
static void expand(const char *text, struct buf *b)
{
	size_t column = 0;

	buf_reset(b);
	for (; *text; text++, column++) {
		size_t n = *text == '\t' ? 8 - column % 8 : 1;

		buf_fill(b, *text == '\t' ? ' ' : *text, n);
		column += n - 1;
	}
}

static int put(struct lines *s)
{
	struct sheet r;
	FILE *f = beneath_text(s->file);
	struct buf shown = BUF_INIT;
	char *text = NULL;
	size_t cap = 0;
	uint32_t to = 0, n = 0;
	int rc = sheet_begin(&r, columns, s->l->form);

	for (uint32_t i = 1; i < s->n; i++)
		if (s->places[i])
			to = i;
	to = f && s->last ? s->last : to;
	if (!f && s->l->form == TABLE_FORM_TEXT)
		diag_say(s->l->diag, s->file, "cannot be read, so the text of lines is not shown");
	for (uint32_t i = 1; !rc && i <= to; i++) {
		bool some = i < s->n && s->places[i];
		ssize_t len = f ? getline(&text, &cap, f) : -1;

		if (i < (s->first ? s->first : s->base) || (len < 0 && !some))
			continue;
		while (len > 0 && strchr("\n\r", text[len - 1]))
			text[--len] = 0;
		sheet_textf(&r, "%u", i);
		if (s->base)
			sheet_textf(&r, "%+d", (int)(i - s->base));
		else
			sheet_text(&r, "");
		sheet_text(&r, some ? "yes" : "");
		expand(s->l->form == TABLE_FORM_TEXT && len > 0 ? text : "", &shown);
		sheet_text(&r, s->l->form == TABLE_FORM_TEXT ? buf_str(&shown)
			       : len > 0		     ? text
							     : "");
		rc = sheet_end_row(&r);
		n += some;
	}
	free(text);
	buf_release(&shown);
	if (f)
		fclose(f);
	rc = sheet_finish(&r, rc, s->file, s->l->diag);
	if (!rc && !n) {
		diag_error(s->l->diag, s->file, -1, "no lines with code there");
		rc = PP_ENOENT;
	}
	return rc;
}

static int of_file(struct lines *s)
{
	struct binary *b = s->l->b;
	Dwarf_CU *cu = NULL;
	Dwarf_Die unit;
	uint8_t type;
	int rc = 0;

	while (!rc && dwarf_get_units(b->dwarf, cu, &cu, NULL, &type, &unit, NULL) == 0)
		rc = lines_each(&unit, on_row, s);
	return rc;
}

static int of_function(struct lines *s, const char *what)
{
	struct points p = {0};
	struct buf why = BUF_INIT;
	struct scopes scopes;
	const char *file;
	struct spec spec;
	int rc = spec_parse(&spec, what, &why), line = 0;

	if (!rc)
		rc = points_find(&p, s->l->b, s->l->funcs, &spec, true, &why);
	if (rc) {
		diag_error(s->l->diag, NULL, -1, "%s: %s", what,
			   why.len ? buf_str(&why) : pp_strerror(rc));
	} else if (scopes_at(&scopes, s->l->b, p.v[0].addr) ||
		   lines_declared(s->l->b, p.v[0].inlined.addr ? &p.v[0].inlined : &scopes.die[0],
				  &file, &line)) {
		diag_error(s->l->diag, s->l->b->path, -1, "no debug information about %s", what);
		rc = PP_ENOENT;
	} else {
		Dwarf_Die within = p.v[0].inlined.addr ? p.v[0].inlined : scopes.die[0];

		s->within = &within;
		s->base = (uint32_t)line;
		s->file = strdup(file);
		rc = s->file ? lines_each(&scopes.unit, on_row, s) : PP_ENOMEM;
		s->within = NULL;
	}
	points_release(&p);
	spec_release(&spec);
	buf_release(&why);
	return rc;
}

/* "FILE", "FILE:N", "FILE:N-M". */
static bool names_file(struct lines *s, const char *what)
{
	const char *colon = strrchr(what, ':'), *end = colon ? colon : what + strlen(what);
	char *rest;

	s->file = strndup(what, (size_t)(end - what));
	if (!s->file || !spec_is_file(s->file))
		return false;
	if (colon) {
		s->first = (uint32_t)strtoul(colon + 1, &rest, 10);
		s->last = s->first;
		if (*rest == '-')
			s->last = (uint32_t)strtoul(rest + 1, &rest, 10);
		if (*rest || !s->first || s->last < s->first)
			return false;
	}
	return true;
}

/* The name of a file as the line tables have it, so that its text can be read. */
static int find_path(void *ctx, const struct line_row *r)
{
	struct lines *s = ctx;
	char *full;

	if (!lines_same_file(r->file, s->file, strlen(s->file)))
		return 0;
	full = strdup(r->file);
	if (!full)
		return PP_ENOMEM;
	free(s->file);
	s->file = full;
	return 1;
}

static int find_file(struct lines *s)
{
	Dwarf_CU *cu = NULL;
	Dwarf_Die unit;
	uint8_t type;
	int rc = 0;

	while (!rc && dwarf_get_units(s->l->b->dwarf, cu, &cu, NULL, &type, &unit, NULL) == 0)
		rc = lines_each(&unit, find_path, s);
	return rc < 0 ? rc : 0;
}

int look_lines(struct look *l, const char *what)
{
	struct lines s = {.l = l};
	int rc;

	if (!l->b->dwarf) {
		diag_error(l->diag, l->b->path, -1, "no debug information, so lines are not known");
		return PP_EXIT_FAIL;
	}
	if (names_file(&s, what)) {
		rc = find_file(&s);
		rc = rc ? rc : of_file(&s);
	} else {
		s.first = s.last = 0;
		free(s.file);
		s.file = NULL;
		rc = of_function(&s, what);
	}
	if (!rc)
		rc = put(&s);
	free(s.file);
	free(s.places);
	return !rc ? PP_EXIT_OK : rc == PP_EUSAGE ? PP_EXIT_USAGE : PP_EXIT_FAIL;
}
