/* Definitions of probes of the kernel. */
#include "probe/kernel_probes.h"

#include "base/err.h"
#include "inspect/place.h"
#include "probe/arg.h"
#include "probe/new_event.h"
#include "probe/ksyms.h"
#include "probe/spec.h"
#include "symbol/root.h"

#include <ctype.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* di, si, dx, cx, r8, r9 by their DWARF numbers. */
static const int registers[] = {5, 4, 1, 2, 8, 9};

#define NEED_IMAGE \
	"lines and places within kernel functions are known only from its image with " \
	"debug information: --vmlinux FILE"

enum { REGISTERS = sizeof(registers) / sizeof(registers[0]) };

int kernel_open(struct kernel *k, const char *btf, const char *kallsyms, struct diag *d)
{
	const char *symbols = kallsyms ? kallsyms : KERNEL_KALLSYMS;
	const char *types = btf ? btf : KERNEL_BTF;
	enum symtab_reason why;
	int rc;

	memset(k, 0, sizeof(*k));
	k->diag = d;
	rc = root_read(NULL, symbols, KERNEL_TEXT_MAX, &k->symbols, &why);
	if (rc) {
		diag_error(d, symbols, -1, "%s", pp_strerror(rc));
		return rc;
	}
	k->btf_path = types;
	rc = kbtf_open(&k->btf, types, NULL);
	if (rc && (btf || rc == PP_ENOMEM)) {
		diag_error(d, types, -1, "%s", pp_strerror(rc));
		return rc;
	}
	return 0;
}

void kernel_close(struct kernel *k)
{
	kbtf_close(k->module);
	kbtf_close(k->btf);
	buf_release(&k->symbols);
}

/* The types of a module: DIRECTORY/MODULE, or MODULE.ko where that is a copy of files. */
static const struct kbtf *module_types(struct kernel *k, const char *module)
{
	const char *slash = strrchr(k->btf_path, '/');
	int dir = slash ? (int)(slash - k->btf_path) + 1 : 0;
	char path[4096 + 80];

	if (!strcmp(k->module_name, module))
		return k->module;
	kbtf_close(k->module);
	k->module = NULL;
	snprintf(k->module_name, sizeof(k->module_name), "%s", module);
	for (int i = 0; i < 2 && !k->module && dir < 4096; i++) {
		snprintf(path, sizeof(path), "%.*s%s%s", dir, k->btf_path, module, i ? ".ko" : "");
		kbtf_open(&k->module, path, k->btf);
	}
	return k->module;
}

/*
 * Finds the prototype of a function in the types of its module, or of the kernel ("", or a name
 * that is no module's). `as`: the kernel with those types.
 */
static bool prototype(struct kernel *k, const char *module, const char *func, struct kernel *as,
		      uint32_t *proto)
{
	*as = *k;
	if (*module && !strchr(module, '/'))
		as->btf = (struct kbtf *)module_types(k, module);
	return as->btf && !kbtf_function(as->btf, func, proto);
}

static const char *bare(const char *func)
{
	const char *colon = strchr(func, ':');

	return colon ? colon + 1 : func;
}

/* ---- arguments ---- */

struct var {
	struct value v;
	bool memory;
	uint32_t type;
	unsigned bits, bit;
};

struct site {
	struct kernel *k;
	uint32_t proto;
	bool typed, returns, entry;
};

static const char *open_param(const struct site *s, const char *name, size_t len, struct var *v)
{
	const char *p;
	uint32_t type, size;
	bool sign;

	if (!s->k->btf)
		return "the kernel's types are not available, so parameters are not known";
	if (!s->typed)
		return "the kernel's types do not have the function";
	if (!s->entry)
		return "parameters are known only where the function begins";
	for (unsigned i = 0; !kbtf_param(s->k->btf, s->proto, i, &p, &type); i++) {
		if (kbtf_class(s->k->btf, type, &size, &sign) == KBTF_STRUCT && size > 8)
			return "it comes after a structure";
		if (strlen(p) != len || memcmp(p, name, len) != 0)
			continue;
		if (i >= REGISTERS)
			v->v = (struct value){.base = VALUE_REGISTER,
					      .reg = 7,
					      .add = 8 * (int64_t)(i - REGISTERS + 1)};
		else
			v->v = (struct value){.base = VALUE_REGISTER, .reg = registers[i]};
		v->memory = i >= REGISTERS;
		v->type = type;
		return NULL;
	}
	return "the function has no such parameter";
}

static const char *deref(const struct kernel *k, struct var *v)
{
	uint32_t to;

	if (kbtf_target(k->btf, v->type, &to))
		return "not a pointer to a type";
	if (v->memory && !value_load(&v->v))
		return "too many pointers";
	v->memory = true;
	v->type = to;
	return NULL;
}

static const char *member(const struct kernel *k, struct var *v, const char *name, size_t len)
{
	struct kbtf_member m;
	uint32_t size;
	bool sign;
	const char *why = NULL;

	if (kbtf_class(k->btf, v->type, &size, &sign) == KBTF_POINTER)
		why = deref(k, v);
	if (why)
		return why;
	if (!v->memory)
		return "a structure in a register";
	if (kbtf_find(k->btf, v->type, name, len, &m))
		return "has no such member";
	v->v.add += (int64_t)(m.bit / 8);
	v->bits = m.bits;
	v->bit = m.bit % 8;
	v->type = m.type;
	return NULL;
}

/* What follows the name of a parameter. */
static const char *steps(const struct kernel *k, struct var *v, const char *s, const char **last)
{
	const char *why = NULL;

	while (*s && !why) {
		size_t n = 0;

		s += !strncmp(s, "->", 2) ? 2 : *s == '.' ? 1 : 0;
		while (isalnum((unsigned char)s[n]) || s[n] == '_')
			n++;
		if (!n)
			return "not understood";
		*last = s;
		why = member(k, v, s, n);
		s += n;
	}
	return why;
}

static const char *put(const struct kernel *k, struct var *v, const char *name, const char *type,
		       struct fetches *f)
{
	struct buf text = BUF_INIT;
	char own[16];
	const char *why = NULL;
	uint32_t size;
	bool sign;
	enum kbtf_class c = kbtf_class(k->btf, v->type, &size, &sign);

	if (*type && (strstr(type, "string") || strchr(type, '[')) && c == KBTF_POINTER) {
		if (v->memory && !value_load(&v->v))
			why = "too many pointers";
		v->memory = true;
	} else if (!*type && v->bits) {
		unsigned container = 8;

		while (container < v->bit + v->bits)
			container *= 2;
		snprintf(own, sizeof(own), "b%u@%u/%u", v->bits, v->bit, container);
		type = own;
	} else if (!*type) {
		if ((c != KBTF_NUMBER && c != KBTF_POINTER) || size > 8)
			why = "a structure or an array: name a member";
		snprintf(own, sizeof(own), "%c%u",
			 c == KBTF_POINTER ? 'x'
			 : sign		   ? 's'
					   : 'u',
			 8 * size);
		type = own;
	}
	if (!why)
		why = place_text(&v->v, v->memory, NULL, 0, &text);
	if (!why)
		why = text.err ? FETCH_NO_MEMORY : fetch_add(f, name, buf_str(&text), type);
	buf_release(&text);
	return why;
}

static const char *all_params(const struct site *s, struct fetches *f, struct diag *d)
{
	const char *name, *why = "the kernel's types do not have the function";
	uint32_t type;

	if (!s->k->btf || !s->typed)
		return why;
	for (unsigned i = 0; !kbtf_param(s->k->btf, s->proto, i, &name, &type); i++) {
		struct var v = {0};

		why = open_param(s, name, strlen(name), &v);
		why = why ? why : put(s->k, &v, name, "", f);
		if (why)
			diag_say(d, NULL, "not recorded: %s (%s)", name, why);
	}
	return NULL;
}

static const char *variable(const struct site *s, const char *name, char *expr, const char *type,
			    struct fetches *f)
{
	size_t n = strcspn(expr, "-.");
	struct var v = {0};
	const char *why, *last = expr;
	char called[64];

	why = open_param(s, expr, n, &v);
	if (!why)
		why = steps(s->k, &v, expr + n, &last);
	snprintf(called, sizeof(called), "%.*s", (int)strcspn(last, "-."), last);
	return why ? why : put(s->k, &v, *name ? name : called, type, f);
}

static const char *result(const struct site *s, const char *name, const char *type,
			  struct fetches *f)
{
	char own[16] = "";
	uint32_t t, size;
	bool sign;

	if (!s->returns)
		return "the result exists only where a function returns: FUNC%return";
	name = *name ? name : "retval";
	if (*type && (strstr(type, "string") || strchr(type, '[')))
		return fetch_add(f, name, "+0($retval)", type);
	if (!*type && s->typed && !kbtf_result(s->k->btf, s->proto, &t) &&
	    kbtf_class(s->k->btf, t, &size, &sign) == KBTF_NUMBER && size <= 8)
		snprintf(own, sizeof(own), "%c%u", sign ? 's' : 'u', 8 * size);
	return fetch_add(f, name, "$retval", *type ? type : own);
}

/* In the kernel's syntax. NULL; or why not, which may be in `why`. */
static const char *raw(const struct site *s, const char *name, const char *expr, const char *type,
		       struct fetches *f, struct buf *why)
{
	const struct arg_site at = {
		.entry = s->entry, .returns = s->returns, .kernel_returns = s->returns};
	struct buf text = BUF_INIT;
	const char *bad = NULL;
	unsigned bits;
	char own[16];

	snprintf(own, sizeof(own), "arg%u", (unsigned)f->n + 1);
	if ((expr[0] == '$' || expr[0] == '%') && strlen(expr) < sizeof(own))
		snprintf(own, sizeof(own), "%s", expr + 1);
	if (arg_kernel_syntax(&at, expr, &text, &bits, why))
		bad = text.err ? FETCH_NO_MEMORY : buf_str(why);
	if (!bad)
		bad = fetch_add(f, *name ? name : own, buf_str(&text),
				!*type && bits == 32 ? "u32" : type);
	buf_release(&text);
	return bad;
}

static const char *argument(const struct site *s, const char *text, struct fetches *f,
			    struct buf *why)
{
	char copy[512], *expr = copy, *colon, *equals;
	const char *name = "", *type = "";

	if (strlen(text) >= sizeof(copy))
		return "too long";
	snprintf(copy, sizeof(copy), "%s", text);
	equals = strchr(copy, '=');
	if (equals && name_is_valid(copy, (size_t)(equals - copy), NAME_ARG_MAX)) {
		*equals = 0;
		name = copy;
		expr = equals + 1;
	}
	colon = strrchr(expr, ':');
	if (colon) {
		*colon = 0;
		type = colon + 1;
		if (!fetch_is_type(type))
			return "the kernel has no such type";
	}
	if (!strcmp(expr, "$params"))
		return all_params(s, f, s->k->diag);
	if (!strcmp(expr, "$retval"))
		return result(s, name, type, f);
	if (expr[0] == '$' || strchr("%+-@\\", expr[0]))
		return raw(s, name, expr, type, f, why);
	return variable(s, name, expr, type, f);
}

/* ---- definitions ---- */

/* What is wanted of one definition. */
struct job {
	struct kernel *k;
	struct definer *d;
	const struct spec *sp;
	const char *text;
	bool returns;
	struct fetches *f;
	struct buf why, first; /* of the last function that failed; of the first one */
	uint32_t failed, made;
};

/* `base`: what the event is called. */
static int add_event(struct job *j, const char *place, const char *base)
{
	const struct spec *sp = j->sp;
	struct definer *d = j->d;
	struct buf name = BUF_INIT;
	struct event *e;

	name_event(base, &name);
	if (j->returns && !sp->event)
		buf_adds(&name, "__return");
	e = name.err ? NULL
		     : definer_event(d,
				     sp->group	? sp->group
				     : d->group ? d->group
						: "probe",
				     buf_str(&name), j->returns ? 'r' : 'p', j->f);
	buf_release(&name);
	if (!e)
		return PP_ENOMEM;
	e->pattern = name_is_glob(sp->func);
	buf_addf(&e->lines, "%c:%s/%s %s", e->kind, e->group, e->name, place);
	if (sp->kind == SPEC_OFFSET && sp->number)
		buf_addf(&e->lines, "+%" PRIu64, sp->number);
	event_args(e, j->f);
	e->points++;
	return e->lines.err;
}

/* Its arguments for a function. */
static int arguments(struct job *j, const char *module, const char *func)
{
	struct kernel as;
	struct site s = {.k = &as, .returns = j->returns, .entry = !j->returns && !j->sp->number};

	j->f->n = j->f->left_out = 0;
	buf_reset(&j->why);
	if (j->sp->n_args)
		s.typed = prototype(j->k, module, func, &as, &s.proto);
	for (uint32_t i = 0; i < j->sp->n_args; i++) {
		struct buf why = BUF_INIT;
		const char *bad = argument(&s, j->sp->args[i], j->f, &why);

		if (bad)
			buf_addf(&j->why, "'%s': %s", j->sp->args[i], bad);
		buf_release(&why);
		if (bad)
			return PP_EUSAGE;
	}
	return 0;
}

static int check_kind(const struct spec *sp, struct buf *why)
{
	if (sp->kind == SPEC_LINE || sp->kind == SPEC_PATTERN || sp->kind == SPEC_SOURCE) {
		buf_adds(why, NEED_IMAGE);
		return PP_ENOENT;
	}
	if (sp->kind > SPEC_OFFSET && sp->kind != SPEC_RETURN && sp->kind != SPEC_URETURN) {
		buf_adds(why,
			 "in the kernel, functions, offsets in them and returns can be probed");
		return PP_EUSAGE;
	}
	return 0;
}

static int define_one(struct job *j)
{
	const char *func = j->sp->func, *symbols = buf_str(&j->k->symbols);
	unsigned n = ksyms_count(symbols, func);
	char module[64];
	int rc;

	if (!n) {
		buf_addf(&j->why, "the kernel has no function %s", func);
		if (!strncmp(func, "usdt:", 5) || !strncmp(func, "u:", 2))
			buf_adds(&j->why,
				 "; a marker of a program: -x FILE --probe '%PROVIDER:NAME'");
		return PP_ENOENT;
	}
	if (n > 1)
		diag_warn(j->k->diag, NULL, -1,
			  "%s: %u functions have that name; the kernel may refuse it", func, n);
	ksyms_module(symbols, func, module);
	rc = arguments(j, module, bare(func));
	return rc ? rc : add_event(j, func, j->sp->event ? j->sp->event : bare(func));
}

/* One of those that fit a pattern. What cannot be had of it is counted. */
static int define_match(struct job *j, const struct ksym *s, bool each)
{
	char module[64], place[64 + KSYMS_NAME_MAX + 2], func[KSYMS_NAME_MAX];
	const char *base = j->sp->event ? j->sp->event : bare(j->sp->func);
	int rc;

	snprintf(module, sizeof(module), "%.*s", (int)s->module_len, s->module);
	snprintf(func, sizeof(func), "%.*s", (int)s->len, s->name);
	snprintf(place, sizeof(place), "%s%s%s", module, *module ? ":" : "", func);
	rc = arguments(j, module, func);
	if (rc) {
		j->failed++;
		if (!j->first.len)
			buf_addf(&j->first, "%s: %s", func, buf_str(&j->why));
		return rc == PP_ENOMEM ? rc : 0;
	}
	j->made++;
	return add_event(j, place, each ? func : base);
}

static void tell_left(const struct job *j, const struct ksyms_left *left)
{
	if (left->twins)
		diag_warn(j->k->diag, NULL, -1,
			  "%s: %u functions left out: others have the same name", j->text,
			  left->twins);
	if (left->init)
		diag_note(j->k->diag, NULL, -1,
			  "%s: %u functions existed only while the kernel started", j->text,
			  left->init);
	if (j->failed)
		diag_warn(j->k->diag, NULL, -1, "%s: %u of %u places left out: %s", j->text,
			  j->failed, j->failed + j->made, buf_str(&j->first));
	j->d->failed += j->failed + left->twins;
}

static int define_pattern(struct job *j)
{
	struct ksyms_left left;
	struct ksym *v;
	uint32_t n;
	int rc = ksyms_pattern(buf_str(&j->k->symbols), j->sp->func, &v, &n, &left);
	bool each = !j->sp->event && n <= DEFINE_EACH_MAX;

	for (uint32_t i = 0; !rc && i < n; i++)
		rc = define_match(j, &v[i], each);
	free(v);
	if (!rc && !n) {
		buf_reset(&j->why);
		buf_addf(&j->why, "the kernel has no function that matches and can be probed");
		rc = PP_ENOENT;
	} else if (!rc && !j->made) {
		rc = PP_EUSAGE;
	}
	if (!rc)
		tell_left(j, &left);
	return rc;
}

int kernel_define(struct kernel *k, struct definer *d, const char *text)
{
	struct spec sp;
	struct job j = {.k = k, .d = d, .sp = &sp, .text = text, .f = calloc(1, sizeof(*j.f))};
	int rc = spec_parse(&sp, text, &j.why);

	d->specs++;
	if (!j.f)
		rc = PP_ENOMEM;
	if (!rc)
		rc = check_kind(&sp, &j.why);
	j.returns = sp.kind == SPEC_RETURN || sp.kind == SPEC_URETURN;
	if (!rc)
		rc = name_is_glob(sp.func) ? define_pattern(&j) : define_one(&j);
	if (rc)
		diag_error(d->diag, NULL, -1, "%s: %s", text,
			   j.why.len ? buf_str(&j.why) : pp_strerror(rc));
	spec_release(&sp);
	buf_release(&j.first);
	buf_release(&j.why);
	free(j.f);
	return rc;
}

/* ---- lists ---- */

static const struct sheet_column function_columns[] = {
	{"name", 40, false}, {"params", 6, false}, {"module", 0, false}, {0}};
static const struct sheet_column variable_columns[] = {
	{"name", 20, false}, {"type", 8, false}, {"place", 0, false}, {0}};

static int finish(struct kernel *k, struct sheet *s, int rc, const char *what)
{
	uint64_t n = s->n;

	rc = sheet_finish(s, rc, NULL, k->diag);
	if (!rc && !n)
		diag_error(k->diag, NULL, -1, "no %s", what);
	return rc || !n ? PP_EXIT_FAIL : PP_EXIT_OK;
}

static bool has_types(struct kernel *k, const char *func, const char *module)
{
	const struct kbtf *t = *module && !strchr(module, '/') ? module_types(k, module) : NULL;
	uint32_t proto;

	return (t && !kbtf_function(t, func, &proto)) || !kbtf_function(k->btf, func, &proto);
}

int kernel_functions(struct kernel *k, const char *pattern, enum sheet_form form)
{
	const char *at = buf_str(&k->symbols);
	struct buf text = BUF_INIT;
	struct ksym f;
	struct sheet s;
	char in[64];
	int rc = sheet_begin(&s, function_columns, form);

	while (!rc && ksyms_next(&at, &f)) {
		if (pattern && !ksyms_fits(&f, pattern))
			continue;
		buf_reset(&text);
		buf_add(&text, f.name, f.len);
		sheet_text(&s, buf_str(&text));
		snprintf(in, sizeof(in), "%.*s", (int)f.module_len, f.module);
		/* Looking up each of 100,000 in a list takes too long. */
		sheet_text(&s, !pattern || !k->btf		  ? ""
			       : has_types(k, buf_str(&text), in) ? "yes"
								  : "no");
		sheet_text(&s, in);
		rc = text.err ? text.err : sheet_end_row(&s);
	}
	buf_release(&text);
	return finish(k, &s, rc, "such functions; is kallsyms readable?");
}

int kernel_variables(struct kernel *k, const char *function, enum sheet_form form)
{
	struct kernel as;
	struct site at = {.k = &as, .typed = true, .entry = true};
	struct buf text = BUF_INIT;
	struct sheet s;
	const char *name, *why;
	uint32_t type, size;
	char module[64];
	bool sign;
	int rc;

	ksyms_module(buf_str(&k->symbols), function, module);
	if (!prototype(k, module, bare(function), &as, &at.proto)) {
		const char *place = strpbrk(function, ":+");
		bool inside = place && isdigit((unsigned char)place[1]);

		diag_error(k->diag, NULL, -1, "%s: %s", function,
			   inside ? NEED_IMAGE : "the kernel's types do not have the function");
		return PP_EXIT_FAIL;
	}
	rc = sheet_begin(&s, variable_columns, form);
	for (unsigned i = 0; !rc && !kbtf_param(as.btf, at.proto, i, &name, &type); i++) {
		struct var v = {0};
		enum kbtf_class c = kbtf_class(as.btf, type, &size, &sign);

		buf_reset(&text);
		why = open_param(&at, name, strlen(name), &v);
		why = why ? why : place_text(&v.v, v.memory, NULL, 0, &text);
		sheet_text(&s, name);
		sheet_textf(&s, "%c%u", c == KBTF_POINTER ? 'x' : sign ? 's' : 'u', 8 * size);
		sheet_text(&s, why ? why : buf_str(&text));
		rc = text.err ? text.err : sheet_end_row(&s);
	}
	buf_release(&text);
	return finish(k, &s, rc, "parameters");
}
