/* What can be probed, as tables: markers, variables. */
#include "probe/look.h"

#include "base/err.h"
#include "event/glob.h"
#include "inspect/go_abi.h"
#include "inspect/name_pattern.h"
#include "inspect/place.h"
#include "probe/point.h"
#include "inspect/scope.h"
#include "inspect/type.h"
#include "inspect/usdt.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

int look_finish(struct look *l, struct sheet *r, int rc, const char *what)
{
	int status = sheet_status(r, rc, l->b->path, what, l->diag);

	return !status && l->b->damaged ? PP_EXIT_PARTIAL : status;
}

/* ---- markers ---- */

static const struct record_column marker_columns[] = {
	{"provider", 12}, {"name", 28}, {"address", 12}, {"semaphore", 10}, {"arguments", 0}, {0}};

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
	return look_finish(l, &m.r, rc, "markers (USDT)");
}

/* ---- variables ---- */

static const struct record_column variable_columns[] = {
	{"function", 20}, {"address", 12}, {"kind", 8}, {"name", 16},
	{"type", 24},	  {"place", 0},	   {0}};

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
	return s->text.err ? s->text.err : sheet_end_row(&s->r);
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
		rc = look_finish(l, &s.r, rc,
				 described ? "variables there" : "debug information there");
	}
	points_release(&points);
	spec_release(&spec);
	buf_release(&s.text);
	buf_release(&why);
	return rc < 0 ? (rc == PP_EUSAGE ? PP_EXIT_USAGE : PP_EXIT_FAIL) : rc;
}
