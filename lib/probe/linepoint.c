/*
 * The places of source lines. A line can begin at many addresses: of each block of code that is
 * nested in another, inlined copies too, the first is taken, so that passing a line counts once.
 */

#include "base/err.h"
#include "event/glob.h"
#include "inspect/source_lines.h"
#include "probe/point.h"
#include "inspect/scope.h"
#include "symbol/beneath.h"

#include <dwarf.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct lookup {
	struct points *p;
	struct binary *b;
	struct funcs *t;
	const char *file;
	size_t file_len;
	int line;	   /* 0: any whose text fits */
	Dwarf_Die *within; /* NULL: anywhere in the unit */
	int nearest;	   /* the next line after it that has code, 0: none */
	struct buf *why;
	Dwarf_Off blocks[POINTS_MAX / 100]; /* of the points */
	uint32_t n_blocks;
};

static int take(struct lookup *l, const struct line_row *r)
{
	struct scopes s;
	struct point pt = {.addr = r->addr, .line = r->line};
	const struct func *f = funcs_at(l->t, r->addr);
	Dwarf_Off block;
	struct buf why = BUF_INIT;
	int rc;

	if (!f || scopes_at(&s, l->b, r->addr))
		return 0;
	block = dwarf_dieoffset(&s.die[s.n - 1]);
	for (uint32_t i = 0; i < l->n_blocks; i++)
		if (l->blocks[i] == block)
			return 0;
	if (l->n_blocks == sizeof(l->blocks) / sizeof(l->blocks[0]))
		return PP_ELIMIT;
	rc = points_check(l->b, f, r->addr, &why);
	buf_release(&why);
	if (rc == PP_ENOENT)
		return 0;
	if (rc)
		return rc;
	l->blocks[l->n_blocks++] = block;
	pt.func = f->name;
	pt.func_addr = f->addr;
	return points_add(l->p, &pt);
}

static int on_row(void *ctx, const struct line_row *r)
{
	struct lookup *l = ctx;

	if (!lines_same_file(r->file, l->file, l->file_len) ||
	    (l->within && dwarf_haspc(l->within, r->addr) <= 0))
		return 0;
	if (r->line > l->line && (!l->nearest || r->line < l->nearest))
		l->nearest = r->line;
	return r->line == l->line ? take(l, r) : 0;
}

static void no_code(const struct lookup *l, struct buf *why)
{
	buf_addf(why, "%.*s:%d has no code", (int)l->file_len, l->file, l->line);
	if (l->nearest)
		buf_addf(why, "; the next line with code is %d", l->nearest);
}

int linepoints_source(struct points *p, struct binary *b, struct funcs *t, const struct spec *s,
		      struct buf *why)
{
	struct lookup *l = calloc(1, sizeof(*l));
	Dwarf_CU *cu = NULL;
	Dwarf_Die unit;
	uint8_t type;
	int rc = 0;

	if (!l)
		return PP_ENOMEM;
	l->p = p;
	l->b = b;
	l->t = t;
	l->file = s->src;
	l->file_len = strlen(s->src);
	l->line = (int)s->number;
	if (!b->dwarf) {
		buf_addf(why, "%s has no debug information, so lines are not known", b->path);
		rc = PP_ENOENT;
	}
	while (!rc && dwarf_get_units(b->dwarf, cu, &cu, NULL, &type, &unit, NULL) == 0)
		rc = lines_each(&unit, on_row, l);
	if (!rc && !p->n) {
		no_code(l, why);
		rc = PP_ENOENT;
	}
	free(l);
	return rc;
}

/* Lines of a source that have a text, blanks and all. */
struct source {
	char **line; /* owned, and each of them */
	size_t n;
};

static void source_release(struct source *src)
{
	for (size_t i = 0; i < src->n; i++)
		free(src->line[i]);
	free(src->line);
}

static int source_read(struct source *src, const char *path)
{
	FILE *f = beneath_text(path);
	char *text = NULL;
	size_t cap = 0;
	int rc = 0;

	memset(src, 0, sizeof(*src));
	if (!f)
		return PP_ENOENT;
	while (getline(&text, &cap, f) >= 0) {
		char **v = reallocarray(src->line, src->n + 1, sizeof(*v));

		if (!v) {
			rc = PP_ENOMEM;
			break;
		}
		src->line = v;
		src->line[src->n++] = text;
		text = NULL;
		cap = 0;
	}
	free(text);
	fclose(f);
	return rc;
}

struct by_text {
	struct lookup *l;
	struct source src;
	const char *pattern;
};

static int on_text_row(void *ctx, const struct line_row *r)
{
	struct by_text *t = ctx;
	size_t i = (size_t)r->line - 1;
	const char *text;

	if (!lines_same_file(r->file, t->l->file, t->l->file_len) || i >= t->src.n ||
	    (t->l->within && dwarf_haspc(t->l->within, r->addr) <= 0))
		return 0;
	text = t->src.line[i] + strspn(t->src.line[i], " \t");
	if (!glob_match(t->pattern, strlen(t->pattern), text, strcspn(text, "\n")))
		return 0;
	/* Blocks are counted for each line. */
	if (t->l->line != r->line)
		t->l->n_blocks = 0;
	t->l->line = r->line;
	return take(t->l, r);
}

static int by_pattern(struct lookup *l, Dwarf_Die *unit, const char *pattern, struct buf *why)
{
	struct by_text t = {.l = l, .pattern = pattern};
	int rc = source_read(&t.src, l->file);

	if (rc)
		buf_addf(why, "%s cannot be read, so its text is not known", l->file);
	else
		rc = lines_each(unit, on_text_row, &t);
	source_release(&t.src);
	return rc;
}

/* The function's or inlined call's own entry, and the line at which the function was declared. */
static int declared(struct lookup *l, struct scopes *s, const struct point *pt, Dwarf_Die *die,
		    int *line)
{
	if (scopes_at(s, l->b, pt->addr))
		return PP_ENOENT;
	*die = pt->inlined.addr ? pt->inlined : s->die[0];
	l->within = die;
	if (lines_declared(l->b, die, &l->file, line))
		return PP_ENOENT;
	l->file_len = strlen(l->file);
	return 0;
}

int linepoints_functions(struct points *p, const struct points *found, struct binary *b,
			 struct funcs *t, const struct spec *s, struct buf *why)
{
	struct lookup *l = calloc(1, sizeof(*l));
	bool known = false;
	int rc = l ? 0 : PP_ENOMEM;

	for (uint32_t i = 0; !rc && i < found->n; i++) {
		struct scopes scopes;
		Dwarf_Die die;
		int first;

		memset(l, 0, sizeof(*l));
		l->p = p;
		l->b = b;
		l->t = t;
		if (declared(l, &scopes, &found->v[i], &die, &first))
			continue;
		known = true;
		l->line = first + (int)s->number;
		if (s->kind == SPEC_PATTERN)
			rc = by_pattern(l, &scopes.unit, s->pattern, why);
		else
			rc = lines_each(&scopes.unit, on_row, l);
		if (!rc && !p->n && s->kind == SPEC_LINE && i + 1 == found->n && !why->len) {
			buf_addf(why, "%s:%" PRIu64 " (%s:%d) has no code", s->func, s->number,
				 l->file, l->line);
			if (l->nearest)
				buf_addf(why, "; the next line with code is %s:%d", s->func,
					 l->nearest - first);
		}
	}
	if (!rc && found->n && !known) {
		buf_addf(why, "%s has no debug information about %s, so lines are not known",
			 b->path, s->func);
		rc = PP_ENOENT;
	}
	free(l);
	return rc;
}

void linepoints_keep_file(struct points *p, struct binary *b, const char *src)
{
	uint32_t n = 0;

	for (uint32_t i = 0; i < p->n; i++) {
		struct scopes s;
		const char *file;
		int line;

		if (scopes_at(&s, b, p->v[i].addr) || lines_declared(b, &s.die[0], &file, &line) ||
		    !lines_same_file(file, src, strlen(src)))
			continue;
		p->v[n++] = p->v[i];
	}
	p->n = n;
}
