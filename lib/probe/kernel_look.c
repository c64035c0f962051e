/* What the kernel's symbols and types have, as tables: functions, parameters, members. */
#include "base/err.h"
#include "probe/kernel_probes.h"
#include "probe/kernel_args.h"
#include "probe/ksyms.h"

#include <ctype.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#define NEST_MAX    32	   /* unnamed structures in each other */
#define MEMBERS_MAX 100000 /* of a structure, with those of unnamed ones */

static const struct record_column function_columns[] = {
	{"name", 40}, {"params", 6}, {"module", 0}, {0}};
static const struct record_column signature_columns[] = {
	{"name", 40}, {"module", 12}, {"declaration", 0}, {0}};
static const struct record_column variable_columns[] = {
	{"name", 16}, {"type", 32}, {"place", 0}, {0}};
static const struct record_column member_columns[] = {{"offset", 7, true},
						      {"size", 6, true},
						      {"bit", 4, true},
						      {"bits", 4, true},
						      {"name", 24},
						      {"type", 0},
						      {0}};

/* ---- functions ---- */

static int put_function(struct probed_kernel *k, struct sheet *s, const struct ksym *f, bool typed,
			bool signatures)
{
	struct buf name = BUF_INIT, text = BUF_INIT;
	const struct kbtf *types;
	uint32_t proto;
	char in[64];
	bool known;
	int rc;

	buf_add(&name, f->name, f->len);
	snprintf(in, sizeof(in), "%.*s", (int)f->module_len, f->module);
	known = typed && kernel_prototype(k, in, buf_str(&name), &types, &proto);
	sheet_text(s, buf_str(&name));
	if (signatures) {
		sheet_text(s, in);
		if (known)
			kbtf_declare(types, proto, buf_str(&name), &text);
		sheet_text(s, buf_str(&text));
	} else {
		sheet_text(s, !typed ? "" : known ? "yes" : "no");
		sheet_text(s, in);
	}
	rc = name.err ? name.err : text.err ? text.err : sheet_end_row(s);
	buf_release(&text);
	buf_release(&name);
	return rc;
}

int kernel_functions(struct probed_kernel *k, const char *pattern, bool signatures,
		     enum table_form form)
{
	const char *at = buf_str(&k->symbols);
	/* Without a pattern it is a list of names, of which there are 100,000. */
	bool typed = k->btf && (pattern || signatures);
	struct ksym f;
	struct sheet s;
	int rc = sheet_begin(&s, signatures ? signature_columns : function_columns, form);

	if (signatures && !k->btf)
		diag_warn(k->diag, NULL, -1, "the kernel's types are not here: no declarations");
	while (!rc && ksyms_next(&at, &f))
		if (!pattern || ksyms_fits(&f, pattern))
			rc = put_function(k, &s, &f, typed, signatures);
	return sheet_status(&s, rc, NULL, "such functions; is kallsyms readable?", k->diag);
}

/* ---- parameters ---- */

static int put_variable(struct sheet *s, const struct kbtf *types, uint32_t type, const char *name,
			const char *place)
{
	struct buf text = BUF_INIT;
	int rc;

	kbtf_declare(types, type, "", &text);
	sheet_text(s, name);
	sheet_text(s, buf_str(&text));
	sheet_text(s, place);
	rc = text.err ? text.err : sheet_end_row(s);
	buf_release(&text);
	return rc;
}

static int put_params(struct sheet *s, const struct kernel_site *at)
{
	struct buf place = BUF_INIT;
	const char *name;
	uint32_t type;
	int rc = 0;

	for (unsigned i = 0; !rc && !kbtf_param(at->types, at->proto, i, &name, &type); i++) {
		buf_reset(&place);
		kernel_param_place(at, name, &place);
		rc = put_variable(s, at->types, type, name, buf_str(&place));
		rc = place.err ? place.err : rc;
	}
	buf_release(&place);
	if (!rc && !kbtf_result(at->types, at->proto, &type))
		rc = put_variable(s, at->types, type, "$retval", "where it returns");
	return rc;
}

int kernel_variables(struct probed_kernel *k, const char *function, enum table_form form)
{
	struct kernel_site at = {.entry = true, .diag = k->diag};
	const char *colon = strchr(function, ':');
	struct sheet s;
	char module[64];
	int rc;

	ksyms_module(buf_str(&k->symbols), function, module);
	if (!kernel_prototype(k, module, colon ? colon + 1 : function, &at.types, &at.proto)) {
		const char *place = strpbrk(function, ":+");
		bool inside = place && isdigit((unsigned char)place[1]);

		diag_error(k->diag, NULL, -1, "%s: %s", function,
			   inside ? KERNEL_NEED_IMAGE
				  : "the kernel's types do not have the function");
		return PP_EXIT_FAIL;
	}
	rc = sheet_begin(&s, variable_columns, form);
	if (!rc)
		rc = put_params(&s, &at);
	return sheet_status(&s, rc, NULL, "parameters, and no result", k->diag);
}

/* ---- members ---- */

struct members {
	struct sheet s;
	const struct kbtf *types;
	unsigned left;
};

static int put_member(struct members *l, const struct kbtf_member *m, uint64_t bit)
{
	struct buf text = BUF_INIT;
	uint64_t size;
	bool sign;
	int rc;

	kbtf_class(l->types, m->type, &size, &sign);
	kbtf_declare(l->types, m->type, "", &text);
	record_u64(&l->s.cells, bit / 8);
	record_u64(&l->s.cells, size);
	if (m->bits) {
		record_u64(&l->s.cells, bit % 8);
		record_u64(&l->s.cells, m->bits);
	} else {
		sheet_text(&l->s, "");
		sheet_text(&l->s, "");
	}
	sheet_text(&l->s, m->name);
	sheet_text(&l->s, buf_str(&text));
	rc = text.err ? text.err : sheet_end_row(&l->s);
	buf_release(&text);
	return rc;
}

/* `bit`: where the structure itself begins. */
static int put_members(struct members *l, uint32_t type, uint64_t bit, int depth)
{
	struct kbtf_member m;
	int rc = 0;

	for (uint32_t i = 0; !rc && !kbtf_member(l->types, type, i, &m); i++) {
		uint64_t size;
		bool sign;

		if (depth > NEST_MAX || !l->left--)
			return PP_ELIMIT;
		if (*m.name || !kbtf_has_members(kbtf_class(l->types, m.type, &size, &sign)))
			rc = put_member(l, &m, bit + m.bit);
		else
			rc = put_members(l, m.type, bit + m.bit, depth + 1);
	}
	return rc;
}

int kernel_members(struct probed_kernel *k, const char *name, enum table_form form)
{
	const char *colon = strchr(name, ':'), *type_name = colon ? colon + 1 : name;
	struct members l = {.types = k->btf, .left = MEMBERS_MAX};
	char module[64];
	uint32_t type;
	int rc;

	if (colon) {
		snprintf(module, sizeof(module), "%.*s", (int)(colon - name), name);
		l.types = strchr(module, '/') ? NULL : kernel_module(k, module);
	}
	if (!l.types || kbtf_type(l.types, type_name, &type)) {
		diag_error(k->diag, NULL, -1, "%s: %s", name,
			   l.types ? "the types have no structure of that name; those of "
				     "modules are MODULE:NAME"
			   : colon ? "the types of the module are not here"
				   : "the kernel's types are not here: --btf FILE");
		return PP_EXIT_FAIL;
	}
	rc = sheet_begin(&l.s, member_columns, form);
	if (!rc)
		rc = put_members(&l, type, 0, 0);
	return sheet_status(&l.s, rc, NULL, "members", k->diag);
}
