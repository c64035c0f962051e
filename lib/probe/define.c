/* From definitions to events: names, arguments at each point, lines for the kernel. */
#include "probe/define.h"

#include "base/err.h"
#include "probe/arg.h"
#include "inspect/find_binary.h"
#include "inspect/name_pattern.h"
#include "probe/point.h"
#include "inspect/units.h"
#include "inspect/usdt.h"
#include "symbol/package.h"

#include <dwarf.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* What is wanted of one definition. */
struct job {
	struct definer *d;
	struct spec *spec;
	struct points points;
	struct buf why, first; /* of the last point; of the first one that failed */
	uint32_t failed, made;
	int last;  /* error of such a point */
	bool each; /* a wildcard: an event for each function */
	bool told_late, told_skipped;
	const char *text;
	const struct point *pt; /* that is being made */
};

static void shown_name(const char *raw, struct buf *out)
{
	struct buf b = BUF_INIT;

	name_bare(name_shown(raw, &b), out);
	buf_release(&b);
}

/* The name of the event for a point. */
static void base_name(const struct job *j, const struct point *pt, struct buf *out)
{
	const struct spec *s = j->spec;
	struct buf shown = BUF_INIT;
	const char *end = "";
	char line[32];

	if (s->event && !j->each) {
		name_valid(s->event, NAME_EVENT_MAX, out);
		return;
	}
	if (pt->func && (s->kind == SPEC_SOURCE || s->kind == SPEC_ADDRESS || j->each || !s->func ||
			 strpbrk(s->func, "*?")))
		shown_name(pt->func, &shown);
	else
		name_bare(s->func, &shown);
	if (!j->each && s->func && s->kind != SPEC_ADDRESS && strpbrk(s->func, "*?[")) {
		buf_reset(&shown);
		buf_adds(&shown, s->func);
	}
	name_event(buf_str(&shown), out);
	if (s->kind == SPEC_RETURN || s->kind == SPEC_URETURN) {
		end = "__return";
	} else if (s->kind == SPEC_LINE || s->kind == SPEC_SOURCE || s->kind == SPEC_PATTERN) {
		snprintf(line, sizeof(line), "_L%" PRIu64,
			 s->kind == SPEC_PATTERN ? (uint64_t)pt->line : s->number);
		end = line;
	}
	if (out->len + strlen(end) > NAME_EVENT_MAX)
		out->len = NAME_EVENT_MAX - strlen(end);
	buf_adds(out, end);
	if (name_confuses_perf(buf_str(out)))
		buf_adds(out, "_");
	buf_inherit(out, &shown);
	buf_release(&shown);
}

/* ---- arguments ---- */

static int arguments(struct job *j, struct arg_site *site, struct fetches *f)
{
	int rc = 0;

	f->n = f->left_out = 0;
	site->late = false;
	site->skipped = 0;
	buf_reset(&site->skipped_names);
	buf_reset(&j->why);
	for (uint32_t i = 0; !rc && i < j->spec->n_args; i++)
		rc = arg_resolve(site, j->spec->args[i], f, &j->why);
	return !rc && f->no_memory ? PP_ENOMEM : rc;
}

static unsigned scope_index(const struct scopes *s, const struct point *pt)
{
	if (pt->inlined.addr)
		for (unsigned i = 0; i < s->n; i++)
			if (s->die[i].addr == pt->inlined.addr)
				return i;
	/* At the entry of a function the function itself is meant, not what is inlined there. */
	return s->n && !pt->entry && !pt->returns ? s->n - 1 : 0;
}

static void tell_skipped(struct job *j, const struct arg_site *site, const struct point *pt)
{
	if (!site->skipped || j->told_skipped)
		return;
	j->told_skipped = true;
	diag_say(j->d->diag, NULL, "%s: not recorded: %s", pt->func ? pt->func : j->text,
		 buf_str(&site->skipped_names));
}

/* Moves a point after the set-up of the frame, where that is one way in. */
static int move_late(struct job *j, struct arg_site *site, struct point *pt, struct fetches *f)
{
	const struct func *fn = funcs_at(j->d->funcs, pt->func_addr);
	struct buf why = BUF_INIT;
	int rc = points_check(j->d->b, fn, site->body, &why);

	if (rc) {
		buf_reset(&j->why);
		buf_addf(&j->why,
			 "%s: its variables are not in place at its beginning, and it is not "
			 "known where its frame is set up",
			 pt->func);
		buf_release(&why);
		return rc;
	}
	buf_release(&why);
	pt->addr = site->pc = site->body;
	rc = scopes_at(site->scopes, j->d->b, pt->addr);
	site->from = 0;
	if (!j->told_late)
		diag_note(j->d->diag, NULL, -1, "%s: probed after its frame is set up", pt->func);
	j->told_late = true;
	return rc ? rc : arguments(j, site, f);
}

static int resolve(struct job *j, struct point *pt, struct fetches *f)
{
	struct scopes scopes = {.b = j->d->b};
	struct arg_site site = {.b = j->d->b,
				.scopes = &scopes,
				.pc = pt->addr,
				.entry = pt->entry && !pt->inlined.addr,
				.returns = (pt->returns && !pt->tail) || pt->uretprobe,
				.kernel_returns = pt->uretprobe};
	int rc = 0;

	f->n = 0;
	if (!j->spec->n_args)
		return 0;
	if (scopes_at(&scopes, j->d->b, pt->addr))
		scopes.n = 0;
	site.from = scope_index(&scopes, pt);
	if (pt->entry && !pt->inlined.addr)
		site.body = scope_body(&scopes);
	rc = arguments(j, &site, f);
	if (!rc && site.late)
		rc = move_late(j, &site, pt, f);
	if (!rc)
		tell_skipped(j, &site, pt);
	buf_release(&site.skipped_names);
	return rc;
}

/* ---- lines ---- */

static bool has_twin(const struct funcs *t, const struct func *f)
{
	for (uint32_t i = 0; i < t->n; i++)
		if (t->v[i].addr != f->addr && !strcmp(t->v[i].name, f->name))
			return true;
	return false;
}

/* In the kernel: a symbol and an offset. Where several have a name, it is counted from _text. */
static int kernel_place(struct job *j, uint64_t addr, struct buf *out)
{
	const struct func *f = funcs_at(j->d->funcs, addr);
	uint64_t from = f ? f->addr : 0;

	if (!f || addr < j->d->b->text) {
		buf_addf(&j->why, "0x%" PRIx64 " is not in a kernel function", addr);
		return PP_ENOENT;
	}
	if (has_twin(j->d->funcs, f)) {
		from = j->d->b->text;
		buf_adds(out, "_text");
	} else {
		/* Of several names for it the one that was asked for. */
		buf_adds(out,
			 !j->pt->inlined.addr && j->pt->func_addr == from ? j->pt->func : f->name);
	}
	if (addr > from)
		buf_addf(out, "+%" PRIu64, addr - from);
	return 0;
}

static int file_place(struct job *j, uint64_t addr, struct buf *out)
{
	struct binary *b = j->d->b;
	uint64_t offset;
	int rc = binary_offset(b, addr, &offset);

	if (rc)
		buf_addf(&j->why, "0x%" PRIx64 " is not in the code of the file", addr);
	else
		buf_addf(out, "%s:0x%" PRIx64, b->path, offset);
	return rc;
}

static int add_line(struct job *j, struct event *e, uint64_t addr, uint64_t ref,
		    const struct fetches *f)
{
	size_t had = e->lines.len;
	int rc;

	buf_addf(&e->lines, "%c:%s/%s ", e->kind, e->group, e->name);
	rc = j->d->b->kernel ? kernel_place(j, addr, &e->lines) : file_place(j, addr, &e->lines);
	if (rc) {
		e->lines.len = had;
		return rc;
	}
	if (ref)
		buf_addf(&e->lines, "(0x%" PRIx64 ")", ref);
	event_args(e, f);
	e->points++;
	j->made++;
	return e->lines.err;
}

static int make_point(struct job *j, struct point *pt, struct fetches *f)
{
	struct buf base = BUF_INIT;
	struct event *e;
	int rc = resolve(j, pt, f);

	j->pt = pt;
	if (rc) {
		if (!j->failed++)
			buf_adds(&j->first, buf_str(&j->why));
		j->last = rc;
		return rc == PP_ENOMEM ? rc : 0;
	}
	base_name(j, pt, &base);
	e = base.err ? NULL
		     : definer_event(j->d, j->spec->group, buf_str(&base),
				     pt->uretprobe ? 'r' : 'p', f);
	buf_release(&base);
	if (!e)
		return PP_ENOMEM;
	e->pattern = j->spec->func && name_is_glob(j->spec->func);
	return add_line(j, e, pt->addr, 0, f);
}

/* ---- return probes ---- */

static const char *language(struct job *j, const struct point *pt)
{
	Dwarf_Die unit;
	int lang;

	if (j->d->b->go)
		return "Go";
	if (pt->func && !strncmp(pt->func, "_R", 2))
		return "Rust";
	if (pt->func && !strncmp(pt->func, "_ZN", 3) && strstr(pt->func, "17h"))
		return "Rust";
	if (pt->func && !strncmp(pt->func, "_Z", 2))
		return "C++";
	if (!j->d->b->dwarf || binary_unit(j->d->b, pt->addr, &unit))
		return "";
	lang = dwarf_srclang(&unit);
	return lang == DW_LANG_Rust ? "Rust" : lang == DW_LANG_Go ? "Go" : "";
}

static int check_uretprobe(struct job *j)
{
	for (uint32_t i = 0; i < j->points.n && !j->d->b->kernel; i++) {
		const char *lang = language(j, &j->points.v[i]);

		if (!strcmp(lang, "Go")) {
			diag_error(
				j->d->diag, NULL, -1,
				"%s: %%uretprobe crashes Go programs when a stack grows; use %%return",
				j->text);
			return PP_EUSAGE;
		}
		if (*lang) {
			diag_warn(
				j->d->diag, NULL, -1,
				"%s: %%uretprobe kills %s programs when %s passes through the function; "
				"%%return does not",
				j->text, lang, *lang == 'R' ? "a panic" : "an exception");
			break;
		}
	}
	return 0;
}

static bool asks_result(const struct spec *s)
{
	for (uint32_t i = 0; i < s->n_args; i++)
		if (strstr(s->args[i], "$retval"))
			return true;
	return false;
}

/* Where a function leaves by a jump to another one, its result is not there yet. */
static void drop_tails(struct job *j)
{
	uint32_t n = 0;

	for (uint32_t i = 0; i < j->points.n; i++)
		if (!j->points.v[i].tail)
			j->points.v[n++] = j->points.v[i];
	j->points.n = n;
}

static int check_returns(struct job *j)
{
	const struct points *p = &j->points;
	struct diag *diag = j->d->diag;
	bool result = asks_result(j->spec);

	if (result)
		drop_tails(j);
	if (!p->n) {
		diag_error(
			diag, NULL, -1,
			"%s: it always leaves by a jump to another function, where its result is not "
			"available yet; use %%uretprobe",
			j->text);
		return PP_ENOENT;
	}
	if (p->tails)
		diag_warn(diag, NULL, -1,
			  "%s: %u of the places where it returns are jumps to other functions%s",
			  j->text, p->tails,
			  result ? ", which return for it: those calls are not recorded"
				 : ": recorded before those run");
	if (p->indirect)
		diag_note(diag, NULL, -1, "%s: %u jumps could also be returns", j->text,
			  p->indirect);
	if (p->endless)
		diag_warn(diag, NULL, -1, "%s: %u functions have no instruction that returns",
			  j->text, p->endless);
	if (p->unreadable)
		diag_warn(
			diag, NULL, -1,
			"%s: %u functions have bytes that are not a known instruction; returns after them "
			"are not seen",
			j->text, p->unreadable);
	return 0;
}

/* ---- USDT ---- */

struct markers {
	struct job *j;
	struct name_pattern name;
	struct fetches *f;
	int rc;
};

/* "[NAME=]argN[:TYPE]" of a definition, from the arguments that the marker has. */
static int choose_arg(struct job *j, const struct fetches *all, const char *text, struct fetches *f)
{
	const char *equals = strchr(text, '='), *at = equals ? equals + 1 : text;
	size_t n = strcspn(at, ":"), k = 0;
	const char *type = at[n] ? at + n + 1 : NULL, *wrong;
	struct buf name = BUF_INIT, place = BUF_INIT;
	bool from_memory = type && strstr(type, "string");

	while (k < all->n && (strlen(all->v[k].name) != n || memcmp(all->v[k].name, at, n) != 0))
		k++;
	if (k == all->n || (type && !fetch_is_type(type))) {
		const char *dollar = strstr(at, "$arg"), *colon = strrchr(at, ':');

		buf_addf(&j->why, "%s: %s", text,
			 k < all->n ? "not a kernel type"
				    : "arguments of markers are arg1, arg2, ...");
		/* As in the kernel's own syntax, and bpftrace's. */
		if (k == all->n && dollar)
			buf_addf(&j->why, ": %.*s%.*s%s", (int)(at - text), text,
				 (int)(strspn(dollar + 4, "0123456789") + 3), dollar + 1,
				 colon ? colon : "");
		return PP_EUSAGE;
	}
	if (equals)
		buf_add(&name, text, (size_t)(equals - text));
	else
		buf_adds(&name, all->v[k].name);
	buf_addf(&place, from_memory ? "+0(%s)" : "%s", all->v[k].text);
	wrong = fetch_add(f, buf_str(&name), buf_str(&place), type ? type : all->v[k].type);
	if (wrong)
		buf_addf(&j->why, "%s: %s", text, wrong);
	buf_release(&name);
	buf_release(&place);
	return wrong ? PP_EUSAGE : 0;
}

/* The arguments that the definition names, if it names any. */
static int choose_args(struct job *j, struct fetches *f)
{
	struct fetches *all;
	int rc = 0;

	if (!j->spec->n_args)
		return 0;
	all = malloc(sizeof(*all));
	if (!all)
		return PP_ENOMEM;
	*all = *f;
	f->n = 0;
	for (uint32_t i = 0; !rc && i < j->spec->n_args; i++)
		rc = choose_arg(j, all, j->spec->args[i], f);
	free(all);
	return rc;
}

static int marker_args(struct markers *m, const struct usdt *u)
{
	const char *at = u->args;
	struct buf text = BUF_INIT;
	char type[16], name[16];
	int rc;

	m->f->n = 0;
	for (unsigned i = 1; (rc = usdt_operand(m->j->d->b, u, &at, &text, type)) != PP_ENOENT;
	     i++) {
		snprintf(name, sizeof(name), "arg%u", i);
		if (rc || fetch_add(m->f, name, buf_str(&text), type))
			diag_warn(m->j->d->diag, NULL, -1,
				  "%s:%s: argument %u is where the kernel cannot get it: %s",
				  u->provider, u->name, i, u->args);
	}
	rc = text.err;
	buf_release(&text);
	return rc ? rc : choose_args(m->j, m->f);
}

static int on_marker(void *ctx, const struct usdt *u)
{
	struct markers *m = ctx;
	struct job *j = m->j;
	struct buf base = BUF_INIT, group = BUF_INIT;
	struct name_scratch scratch = {0};
	struct event *e;
	int rc;

	if ((j->spec->src && strcmp(j->spec->src, u->provider) != 0) ||
	    name_match(&m->name, u->name, &scratch) != NAME_WHOLE) {
		name_scratch_release(&scratch);
		return 0;
	}
	name_scratch_release(&scratch);
	rc = marker_args(m, u);
	name_event(j->spec->event && !m->name.glob ? j->spec->event : u->name, &base);
	buf_adds(&base, "");
	name_valid("sdt_", NAME_EVENT_MAX, &group);
	buf_reset(&group);
	buf_addf(&group, "sdt_%.58s", u->provider);
	if (!rc) {
		struct buf valid = BUF_INIT;

		name_valid(buf_str(&group), NAME_EVENT_MAX, &valid);
		e = definer_event(j->d,
				  j->spec->group ? j->spec->group
				  : j->d->group	 ? j->d->group
						 : buf_str(&valid),
				  buf_str(&base), 'p', m->f);
		rc = e ? add_line(j, e, u->addr, u->semaphore, m->f) : PP_ENOMEM;
		buf_release(&valid);
	}
	buf_release(&base);
	buf_release(&group);
	return rc;
}

/* DTrace has query-start for query__start, and so have the manuals of programs with its markers. */
static void dtrace_name(const char *name, struct buf *out)
{
	for (; *name; name++) {
		if (*name == '[')
			break;
		buf_adds(out, *name == '-' ? "__" : (const char[]){*name, 0});
	}
	buf_adds(out, name);
}

static int markers(struct job *j, struct fetches *f)
{
	struct markers m = {.j = j, .f = f};
	struct buf name = BUF_INIT;
	int rc;

	dtrace_name(j->spec->func, &name);
	if (name.err) {
		buf_release(&name);
		return PP_ENOMEM;
	}
	name_pattern_set(&m.name, buf_str(&name));
	rc = usdt_each(j->d->b, on_marker, &m);
	buf_release(&name);
	if (!rc && !j->made) {
		buf_addf(&j->why, "%s has no marker %s%s%s", j->d->b->path,
			 j->spec->src ? j->spec->src : "", j->spec->src ? ":" : "", j->spec->func);
		rc = PP_ENOENT;
	}
	return rc;
}

/* ---- a definition ---- */

static void tell_many(struct job *j)
{
	const struct points *p = &j->points;
	bool glob = j->spec->func && name_is_glob(j->spec->func);

	if (p->functions > 1 && !glob && j->spec->kind != SPEC_SOURCE)
		diag_note(j->d->diag, NULL, -1, "%s: %u functions have that name", j->text,
			  p->functions);
	if (p->copies)
		diag_note(j->d->diag, NULL, -1, "%s: and %u inlined copies", j->text, p->copies);
	if (p->ifuncs && p->n)
		diag_note(j->d->diag, NULL, -1,
			  "%s: %u more only select the function that is called (ifunc)", j->text,
			  p->ifuncs);
}

int define_too_many(uint32_t n, struct buf *why)
{
	buf_addf(why, "%u functions, and at most %d can be told apart: use a narrower pattern", n,
		 DEFINE_EACH_TOP);
	return PP_ELIMIT;
}

static int functions(struct job *j, struct fetches *f)
{
	struct definer *d = j->d;
	int rc = points_find(&j->points, d->b, d->funcs, j->spec, !d->no_copies, &j->why);

	if (!rc && j->spec->kind == SPEC_URETURN)
		rc = check_uretprobe(j);
	if (!rc && j->spec->kind == SPEC_RETURN)
		rc = check_returns(j);
	if (rc)
		return rc;
	j->each = j->spec->func && strpbrk(j->spec->func, "*?") && !j->spec->event &&
		  !strstr(j->spec->func, "(*") && j->points.functions > 1 &&
		  (d->each || j->points.functions <= DEFINE_EACH_MAX);
	if (d->each && j->points.functions > DEFINE_EACH_TOP)
		return define_too_many(j->points.functions, &j->why);
	tell_many(j);
	for (uint32_t i = 0; !rc && i < j->points.n; i++)
		rc = make_point(j, &j->points.v[i], f);
	if (rc)
		return rc;
	if (!j->made)
		return j->last ? j->last : PP_ENOENT;
	if (j->failed)
		diag_warn(d->diag, NULL, -1, "%s: %u of %u places left out: %s", j->text, j->failed,
			  j->points.n, buf_str(&j->first));
	d->failed += j->failed;
	return 0;
}

/* A function with its file before it, as bpftrace and bcc have it, is asked for in another way. */
static bool has_file(struct job *j, const char *p)
{
	static const char *const kinds[] = {"uprobe:", "uretprobe:", "p:", "r:"};
	size_t kind = 0;
	const char *func;

	while (kind < 4 && strncmp(p, kinds[kind], strlen(kinds[kind])) != 0)
		kind++;
	p += kind < 4 ? strlen(kinds[kind]) : 0;
	func = strchr(p, ':');
	if (!func || (kind == 4 && *p != '/'))
		return false;
	buf_reset(&j->why);
	buf_addf(&j->why, "a function of a file: -x %.*s --probe '%s%s'", (int)(func - p), p,
		 func + 1, kind % 2 ? "%return" : "");
	return true;
}

/* Whether a path, as another program has it, is that of the file: also its name alone. */
static bool is_path(const char *said, const char *path)
{
	const char *slash = strrchr(path, '/');

	return find_same_file(said, path) || !strcmp(said, slash ? slash + 1 : path);
}

/*
 * Markers by the names that other programs have for them: usdt:PATH:PROVIDER:NAME, u:PATH:NAME,
 * sdt_PROVIDER:NAME, or just their name. PATH is said by other means here.
 */
static int marker_by_name(struct job *j, struct spec *s, struct fetches *f)
{
	struct buf before = j->why;
	const char *path = j->d->b->path;
	bool prefixed = true;
	char *p = s->copy + (s->func - s->copy), *colon;
	int rc;

	if (has_file(j, p))
		return PP_EUSAGE;
	if (!strncmp(p, "usdt:", 5))
		p += 5;
	else if (!strncmp(p, "u:", 2))
		p += 2;
	else
		prefixed = !strncmp(p, "sdt_", 4);
	colon = prefixed ? strchr(p, ':') : NULL;
	if (colon) {
		*colon = 0;
		if (is_path(p, path)) {
			p = colon + 1;
		} else if (strchr(p, '/')) {
			buf_reset(&j->why);
			buf_addf(&j->why, "a marker of another file: -x %s --probe '%%%s'", p,
				 colon + 1);
			return PP_EUSAGE;
		} else {
			*colon = ':';
		}
	}
	spec_marker(s, p);
	j->why = (struct buf)BUF_INIT;
	rc = markers(j, f);
	if (rc != PP_ENOENT || prefixed) {
		buf_release(&before);
		return rc;
	}
	buf_release(&j->why);
	j->why = before;
	return rc;
}

/* What would tell of functions that the file itself does not name any more. */
static void hint_stripped(struct job *j)
{
	char package[PACKAGE_NAME_MAX];
	const struct binary *b = j->d->b;

	if (!binary_is_stripped(b))
		return;
	buf_adds(&j->why, "; its symbols were stripped");
	if (!package_of(b->path, package))
		buf_addf(&j->why, ": package %s-dbgsym has them", package);
}

int definer_add(struct definer *d, const char *text)
{
	struct spec s;
	struct job j = {.d = d, .spec = &s, .text = text};
	struct fetches *f = calloc(1, sizeof(*f));
	int rc = spec_parse(&s, text, &j.why);
	bool function = s.kind != SPEC_MARKER;

	d->specs++;
	if (!f)
		rc = PP_ENOMEM;
	/* The kernel's own return probes are safe in the kernel. */
	if (!rc && d->b->kernel && s.kind == SPEC_RETURN)
		s.kind = SPEC_URETURN;
	if (!rc)
		rc = s.kind == SPEC_MARKER ? markers(&j, f) : functions(&j, f);
	if (rc == PP_ENOENT && !j.made && s.kind == SPEC_ENTRY && !s.src && s.func && !d->b->kernel)
		rc = marker_by_name(&j, &s, f);
	if (rc == PP_ENOENT && j.why.len && function && !d->b->kernel)
		hint_stripped(&j);
	if (rc && (j.why.len || rc == PP_ENOMEM || rc == PP_ELIMIT))
		diag_error(d->diag, NULL, -1, "%s: %s", text,
			   j.why.len ? buf_str(&j.why) : pp_strerror(rc));
	points_release(&j.points);
	buf_release(&j.why);
	buf_release(&j.first);
	spec_release(&s);
	free(f);
	return rc;
}
