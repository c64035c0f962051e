/* What can be probed, as tables: functions, markers, variables. */
#include "probe/look.h"

#include "base/array.h"
#include "base/err.h"
#include "base/intern.h"
#include "dwarf/dwarf_scan.h"
#include "event/glob.h"
#include "inspect/go_abi.h"
#include "inspect/inlined.h"
#include "inspect/lines.h"
#include "inspect/name.h"
#include "inspect/place.h"
#include "probe/point.h"
#include "inspect/scope.h"
#include "inspect/type.h"
#include "inspect/units.h"
#include "inspect/usdt.h"

#include <dwarf.h>
#include <inttypes.h>
#include <stdlib.h>
#include <stdio.h>
#include <string.h>

static int finish(struct look *l, struct sheet *r, int rc, const char *what)
{
	uint64_t n = r->n;
	int out = sheet_finish(r);

	rc = rc ? rc : out;
	if (rc && rc != PP_EPIPE)
		diag_error(l->diag, l->b->path, -1, "%s", pp_strerror(rc));
	if (rc)
		return PP_EXIT_FAIL;
	if (!n) {
		diag_error(l->diag, l->b->path, -1, "no %s", what);
		return PP_EXIT_FAIL;
	}
	return PP_EXIT_OK;
}

/* ---- functions ---- */

/* Where a function is described: in the file, or in that of a unit of split DWARF. */
struct described {
	Dwarf *dwarf;
	Dwarf_Off offset;
};

struct functions {
	struct look *l;
	struct sheet r;
	struct name_pattern pattern;
	struct name_pattern *wanted; /* NULL: all */
	struct name_scratch scratch;
	struct map64 dies; /* address of a function: index in entries, + 1 */
	struct described *entries;
	uint32_t n, cap;
	struct buf shown;
};

static int remember(struct functions *f, Dwarf *dwarf, const struct scan_entry *e)
{
	uint32_t *slot = map64_put(&f->dies, e->lo, NULL);
	struct described *v;

	if (!slot)
		return PP_ENOMEM;
	v = array_widen(f->entries, &f->cap, f->n, 4096, sizeof(*v));
	if (!v)
		return PP_ENOMEM;
	f->entries = v;
	f->entries[f->n++] = (struct described){dwarf, e->offset};
	*slot = f->n;
	return 0;
}

/* Where the functions of all units are described. */
static int read_dies(struct functions *f)
{
	struct binary *b = f->l->b;
	struct unit u = {0};
	int rc = 0;

	while (!rc && units_next(b, b->dwarf, &u)) {
		Dwarf *dwarf = dwarf_cu_getdwarf(u.content.cu);
		struct scan *scan;
		struct scan_entry e;

		if ((u.type != DW_UT_compile && !u.split) ||
		    scan_open(&scan, &u.content, &b->steps))
			continue;
		scan_children(scan, dwarf_dieoffset(&u.content));
		while (!rc && scan_next(scan, &e)) {
			Dwarf_Die die;
			Dwarf_Addr lo;

			if (e.tag != DW_TAG_subprogram)
				continue;
			if (e.complex && dwarf_offdie(dwarf, e.offset, &die) &&
			    dwarf_entrypc(&die, &lo) == 0)
				e.lo = lo;
			if (e.lo)
				rc = remember(f, dwarf, &e);
		}
		scan_free(scan);
	}
	return rc;
}

static const char *params_known(Dwarf_Die *die)
{
	Dwarf_Die child;
	bool any = false;

	if (dwarf_child(die, &child))
		return "none";
	do {
		if (dwarf_tag(&child) == DW_TAG_formal_parameter)
			any = true;
	} while (!any && dwarf_siblingof(&child, &child) == 0);
	return any ? "yes" : "none";
}

static const struct sheet_column function_columns[] = {
	{"name", 48, false},  {"address", 12, false}, {"size", 6, true},    {"params", 6, false},
	{"where", 24, false}, {"source", 6, false},   {"symbol", 0, false}, {0}};

static void put_place(struct binary *b, struct sheet *r, Dwarf_Die *die)
{
	const char *file;
	int line;

	if (die && lines_declared(b, die, &file, &line) == 0)
		sheet_textf(r, "%s:%d", file, line);
	else
		sheet_text(r, "");
}

static int put_function(struct functions *f, const struct func *fn)
{
	uint32_t *slot = map64_get(&f->dies, fn->addr);
	Dwarf_Die die, *known = NULL;

	if (slot && *slot &&
	    dwarf_offdie(f->entries[*slot - 1].dwarf, f->entries[*slot - 1].offset, &die))
		known = &die;
	sheet_text(&f->r, name_shown(fn->name, &f->shown));
	sheet_textf(&f->r, "0x%" PRIx64, fn->addr);
	sheet_textf(&f->r, "%" PRIu64, fn->size);
	sheet_text(&f->r, known ? params_known(known) : "no");
	put_place(f->l->b, &f->r, known);
	sheet_text(&f->r, func_source_name((enum func_source)fn->source));
	sheet_text(&f->r, fn->name);
	return sheet_end_row(&f->r);
}

static int put_copy(void *ctx, const struct inlined_place *p)
{
	struct functions *f = ctx;
	const struct func *in = funcs_at(f->l->funcs, p->addr);
	Dwarf_Die die = p->die;

	if (!in)
		return 0;
	sheet_text(&f->r, name_shown(p->name, &f->shown));
	sheet_textf(&f->r, "0x%" PRIx64, p->addr);
	sheet_text(&f->r, "0");
	sheet_text(&f->r, params_known(&die));
	put_place(f->l->b, &f->r, &die);
	sheet_text(&f->r, "inlined");
	sheet_text(&f->r, in->name);
	return sheet_end_row(&f->r);
}

int look_functions(struct look *l, const char *pattern)
{
	struct functions f = {.l = l};
	int rc = sheet_begin(&f.r, function_columns, l->form);

	if (pattern) {
		name_pattern_set(&f.pattern, pattern);
		f.wanted = &f.pattern;
	}
	if (!rc)
		rc = read_dies(&f);
	for (uint32_t i = 0; !rc && i < l->funcs->n; i++)
		if (!f.wanted || name_match(f.wanted, l->funcs->v[i].name, &f.scratch) != NAME_NO)
			rc = put_function(&f, &l->funcs->v[i]);
	/* Copies of everything would be most of the list. */
	if (!rc && f.wanted)
		rc = inlined_each(l->b, f.wanted, NAME_PART, put_copy, &f);
	map64_release(&f.dies);
	free(f.entries);
	buf_release(&f.shown);
	name_scratch_release(&f.scratch);
	return finish(l, &f.r, rc, pattern ? "such functions" : "functions");
}

/* ---- markers ---- */

static const struct sheet_column marker_columns[] = {
	{"provider", 12, false},  {"name", 28, false},	   {"address", 12, false},
	{"semaphore", 10, false}, {"arguments", 0, false}, {0}};

struct marker_list {
	struct sheet r;
	const char *pattern;
};

static int put_marker(void *ctx, const struct usdt *u)
{
	struct marker_list *m = ctx;
	char full[512];

	snprintf(full, sizeof(full), "%s:%s", u->provider, u->name);
	if (m->pattern && !glob_match(m->pattern, strlen(m->pattern), full, strlen(full)) &&
	    !glob_match(m->pattern, strlen(m->pattern), u->name, strlen(u->name)))
		return 0;
	sheet_text(&m->r, u->provider);
	sheet_text(&m->r, u->name);
	sheet_textf(&m->r, "0x%" PRIx64, u->addr);
	if (u->semaphore)
		sheet_textf(&m->r, "0x%" PRIx64, u->semaphore);
	else
		sheet_text(&m->r, "");
	sheet_text(&m->r, u->args);
	return sheet_end_row(&m->r);
}

int look_markers(struct look *l, const char *pattern)
{
	struct marker_list m = {.pattern = pattern};
	int rc = sheet_begin(&m.r, marker_columns, l->form);

	if (!rc)
		rc = usdt_each(l->b, put_marker, &m);
	return finish(l, &m.r, rc, "markers (USDT)");
}

/* ---- variables ---- */

static const struct sheet_column variable_columns[] = {{"function", 20, false},
						       {"address", 12, false},
						       {"kind", 8, false},
						       {"name", 16, false},
						       {"type", 24, false},
						       {"place", 0, false},
						       {0}};

struct variables {
	struct look *l;
	struct sheet r;
	struct scopes scopes;
	const struct point *pt;
	uint64_t pc, body;
	struct buf text;
};

static int put_variable(void *ctx, const struct variable *v)
{
	struct variables *s = ctx;
	Dwarf_Die die = v->die, type;
	Dwarf_Die *function = s->scopes.n ? &s->scopes.die[0] : NULL;
	struct place p;

	sheet_text(&s->r, name_shown(s->pt->func, &s->text));
	sheet_textf(&s->r, "0x%" PRIx64, s->pc);
	sheet_text(&s->r, go_abi_is_result(v) ? "result"
			  : v->param	      ? "param"
			  : function	      ? "var"
					      : "global");
	sheet_text(&s->r, v->name);
	buf_reset(&s->text);
	if (type_of(&die, &type))
		buf_adds(&s->text, "void");
	else
		type_name(&type, &s->text);
	sheet_text(&s->r, buf_str(&s->text));
	buf_reset(&s->text);
	if (!s->pt->entry || !s->l->b->go || !function || !go_abi_param(&s->scopes, v, &p))
		place_of(&p, s->l->b, function, &die, s->pc);
	if (v->gone)
		buf_adds(&s->text, PLACE_GONE);
	else
		place_show(&p, s->l->b, s->pc, &s->text);
	if (!v->gone && p.late && s->body > s->pc)
		buf_addf(&s->text, " from +%" PRIu64 " on", s->body - s->pc);
	sheet_text(&s->r, buf_str(&s->text));
	return sheet_end_row(&s->r);
}

static int at_point(struct variables *s, const struct point *pt)
{
	unsigned from;
	int rc;

	s->pt = pt;
	s->pc = pt->addr;
	s->body = 0;
	rc = scopes_at(&s->scopes, s->l->b, pt->addr);
	if (rc)
		return rc;
	from = pt->entry ? 0 : s->scopes.n - 1;
	for (unsigned i = 0; pt->inlined.addr && i < s->scopes.n; i++)
		if (s->scopes.die[i].addr == pt->inlined.addr)
			from = i;
	if (pt->entry)
		s->body = scope_body(&s->scopes);
	rc = scopes_each(&s->scopes, from, put_variable, s);
	if (!rc && s->l->externs) {
		unsigned n = s->scopes.n;

		s->scopes.n = 0;
		rc = scopes_globals(&s->scopes, put_variable, s);
		s->scopes.n = n;
	}
	return rc;
}

int look_variables(struct look *l, const char *what)
{
	struct variables s = {.l = l};
	struct points points = {0};
	struct buf why = BUF_INIT;
	struct spec spec;
	int rc = spec_parse(&spec, what, &why), described = 0;

	if (!rc && !l->b->dwarf) {
		buf_addf(&why, "%s has no debug information, so variables are not known",
			 l->b->path);
		rc = PP_ENOENT;
	}
	if (!rc)
		rc = points_find(&points, l->b, l->funcs, &spec, true, &why);
	if (rc) {
		diag_error(l->diag, NULL, -1, "%s: %s", what,
			   why.len ? buf_str(&why) : pp_strerror(rc));
	} else {
		rc = sheet_begin(&s.r, variable_columns, l->form);
		for (uint32_t i = 0; !rc && i < points.n; i++) {
			rc = at_point(&s, &points.v[i]);
			described += !rc;
			rc = rc == PP_ENOENT ? 0 : rc;
		}
		rc = finish(l, &s.r, rc, described ? "variables there" : "debug information there");
	}
	points_release(&points);
	spec_release(&spec);
	buf_release(&s.text);
	buf_release(&why);
	return rc < 0 ? (rc == PP_EUSAGE ? PP_EXIT_USAGE : PP_EXIT_FAIL) : rc;
}
