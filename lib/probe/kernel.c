/* Definitions of probes of the kernel. */
#include "probe/kernel.h"

#include "base/err.h"
#include "event/glob.h"
#include "inspect/place.h"
#include "probe/event.h"
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
	"lines and places within functions of the kernel are known only from its image with " \
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

/* The next function of kallsyms: "ADDRESS t NAME[\t[MODULE]]". */
static bool next_symbol(const char **at, const char **name, size_t *len, const char **module,
			size_t *module_len)
{
	while (**at) {
		const char *line = *at, *end = line + strcspn(line, "\n");
		const char *type = memchr(line, ' ', (size_t)(end - line)), *tab;

		*at = *end ? end + 1 : end;
		if (!type || end - type < 4 || !strchr("tTwW", type[1]) || type[2] != ' ')
			continue;
		*name = type + 3;
		tab = memchr(*name, '\t', (size_t)(end - *name));
		*len = (size_t)((tab ? tab : end) - *name);
		*module = tab && tab[1] == '[' ? tab + 2 : "";
		*module_len = tab && tab[1] == '[' ? strcspn(tab + 2, "]\n") : 0;
		return true;
	}
	return false;
}

static unsigned count(const struct kernel *k, const char *wanted)
{
	const char *at = buf_str(&k->symbols), *name, *module;
	size_t len, module_len, n = strlen(wanted);
	unsigned found = 0;

	while (next_symbol(&at, &name, &len, &module, &module_len))
		found += len == n && !memcmp(name, wanted, n);
	return found;
}

/* The module that a function is in, by kallsyms; "": none, or that is not known. */
static void module_of(const struct kernel *k, const char *func, char out[64])
{
	const char *at = buf_str(&k->symbols), *name, *module, *colon = strchr(func, ':');
	size_t len, module_len, n = strlen(func);

	out[0] = 0;
	if (colon && colon - func < 64)
		snprintf(out, 64, "%.*s", (int)(colon - func), func);
	while (!colon && !out[0] && next_symbol(&at, &name, &len, &module, &module_len))
		if (len == n && !memcmp(name, func, n) && module_len < 64)
			snprintf(out, 64, "%.*s", (int)module_len, module);
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

/* Finds the prototype of a function, in the types of the kernel or of its module. `as`: the kernel
 * with those types. */
static bool prototype(struct kernel *k, const char *func, struct kernel *as, uint32_t *proto)
{
	const char *colon = strchr(func, ':'), *bare = colon ? colon + 1 : func;
	char module[64];

	*as = *k;
	if (!k->btf)
		return false;
	module_of(k, func, module);
	if (module[0] && strchr(module, '/') == NULL) {
		as->btf = (struct kbtf *)module_types(k, module);
		if (as->btf && !kbtf_function(as->btf, bare, proto))
			return true;
		as->btf = k->btf;
	}
	return !colon && !kbtf_function(k->btf, bare, proto);
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
		return "the kernel's types are not here, so parameters are not known";
	if (!s->typed)
		return "the kernel's types do not have the function";
	if (!s->entry)
		return "parameters are known where the function begins only";
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
		return "the result is there where a function returns only: FUNC%return";
	name = *name ? name : "retval";
	if (*type && (strstr(type, "string") || strchr(type, '[')))
		return fetch_add(f, name, "+0($retval)", type);
	if (!*type && s->typed && !kbtf_result(s->k->btf, s->proto, &t) &&
	    kbtf_class(s->k->btf, t, &size, &sign) == KBTF_NUMBER && size <= 8)
		snprintf(own, sizeof(own), "%c%u", sign ? 's' : 'u', 8 * size);
	return fetch_add(f, name, "$retval", *type ? type : own);
}

static const char *argument(const struct site *s, const char *text, struct fetches *f)
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
	if (expr[0] == '$' || strchr("%+-@\\", expr[0])) {
		char own[16];

		snprintf(own, sizeof(own), "arg%u", (unsigned)f->n + 1);
		if ((expr[0] == '$' || expr[0] == '%') && strlen(expr) < sizeof(own))
			snprintf(own, sizeof(own), "%s", expr + 1);
		return fetch_add(f, *name ? name : own, expr, type);
	}
	return variable(s, name, expr, type, f);
}

/* ---- definitions ---- */

static int add_event(struct definer *d, const struct spec *sp, const struct fetches *f)
{
	bool returns = sp->kind == SPEC_RETURN || sp->kind == SPEC_URETURN;
	const char *colon = strchr(sp->func, ':');
	struct buf base = BUF_INIT;
	struct event *e;

	name_event(sp->event ? sp->event : colon ? colon + 1 : sp->func, &base);
	if (returns && !sp->event)
		buf_adds(&base, "__return");
	e = base.err ? NULL
		     : definer_event(d,
				     sp->group	? sp->group
				     : d->group ? d->group
						: "probe",
				     buf_str(&base), returns ? 'r' : 'p', f);
	buf_release(&base);
	if (!e)
		return PP_ENOMEM;
	buf_addf(&e->lines, "%c:%s/%s %s", e->kind, e->group, e->name, sp->func);
	if (sp->kind == SPEC_OFFSET && sp->number)
		buf_addf(&e->lines, "+%" PRIu64, sp->number);
	event_args(e, f);
	e->points++;
	return e->lines.err;
}

static int check(struct kernel *k, const struct spec *sp, struct buf *why)
{
	const char *colon;
	unsigned n;

	if (sp->kind == SPEC_LINE || sp->kind == SPEC_PATTERN || sp->kind == SPEC_SOURCE) {
		buf_adds(why, NEED_IMAGE);
		return PP_ENOENT;
	}
	if (sp->kind > SPEC_OFFSET && sp->kind != SPEC_RETURN && sp->kind != SPEC_URETURN) {
		buf_adds(why,
			 "of the kernel, functions, offsets in them and returns can be probed");
		return PP_EUSAGE;
	}
	colon = strchr(sp->func, ':');
	n = count(k, colon ? colon + 1 : sp->func);
	if (!n) {
		buf_addf(why, "the kernel has no function %s", sp->func);
		return PP_ENOENT;
	}
	if (n > 1)
		diag_warn(k->diag, NULL, -1,
			  "%s: %u functions have that name; the kernel may refuse it", sp->func, n);
	return 0;
}

int kernel_define(struct kernel *k, struct definer *d, const char *text)
{
	struct fetches *f = calloc(1, sizeof(*f));
	struct buf why = BUF_INIT;
	struct spec sp;
	int rc = spec_parse(&sp, text, &why);

	d->specs++;
	if (!f)
		rc = PP_ENOMEM;
	if (!rc)
		rc = check(k, &sp, &why);
	if (!rc) {
		bool returns = sp.kind == SPEC_RETURN || sp.kind == SPEC_URETURN;
		struct kernel as;
		struct site s = {.k = &as, .returns = returns, .entry = !returns && !sp.number};

		s.typed = prototype(k, sp.func, &as, &s.proto);
		for (uint32_t i = 0; !rc && i < sp.n_args; i++) {
			const char *bad = argument(&s, sp.args[i], f);

			if (bad) {
				buf_addf(&why, "'%s': %s", sp.args[i], bad);
				rc = PP_EUSAGE;
			}
		}
	}
	if (!rc)
		rc = add_event(d, &sp, f);
	if (rc)
		diag_error(d->diag, NULL, -1, "%s: %s", text,
			   why.len ? buf_str(&why) : pp_strerror(rc));
	spec_release(&sp);
	buf_release(&why);
	free(f);
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
	int out = sheet_finish(s);

	rc = rc ? rc : out;
	if (rc && rc != PP_EPIPE)
		diag_error(k->diag, NULL, -1, "%s", pp_strerror(rc));
	else if (!rc && !n)
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
	const char *at = buf_str(&k->symbols), *name, *module;
	struct buf text = BUF_INIT;
	size_t len, module_len;
	struct sheet s;
	char in[64];
	int rc = sheet_begin(&s, function_columns, form);

	while (!rc && next_symbol(&at, &name, &len, &module, &module_len)) {
		if (pattern && !glob_match(pattern, strlen(pattern), name, len))
			continue;
		buf_reset(&text);
		buf_add(&text, name, len);
		sheet_text(&s, buf_str(&text));
		snprintf(in, sizeof(in), "%.*s", (int)module_len, module);
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
	bool sign;
	int rc;

	if (!prototype(k, function, &as, &at.proto)) {
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
