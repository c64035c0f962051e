/* Arguments of a probe: from what people write to what the kernel fetches. */
#include "probe/arg.h"

#include "base/err.h"
#include "inspect/go_abi.h"
#include "inspect/result.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define NO_RESULT "$retval exists only where a function returns: FUNC%return"

struct parts {
	const char *name, *expr, *type; /* name, type: "" if none */
	char copy[512];
};

static bool ident(char c)
{
	return isalnum((unsigned char)c) || c == '_';
}

/* Splits [NAME=]EXPR[:TYPE]. */
static int split(const char *text, struct parts *p, struct buf *why)
{
	size_t n = 0;
	char *colon;

	if (strlen(text) >= sizeof(p->copy)) {
		buf_addf(why, "argument is too long: %.40s...", text);
		return PP_EUSAGE;
	}
	snprintf(p->copy, sizeof(p->copy), "%s", text);
	p->name = p->type = "";
	p->expr = p->copy;
	while (ident(p->copy[n]))
		n++;
	if (n && p->copy[n] == '=') {
		p->copy[n] = 0;
		p->name = p->copy;
		p->expr = p->copy + n + 1;
	}
	colon = strrchr((char *)p->expr, ':');
	if (colon && colon > p->expr && colon[-1] != ':') {
		*colon = 0;
		p->type = colon + 1;
		if (!fetch_is_type(p->type)) {
			buf_addf(why, "'%s': the kernel has no type '%s'", text, p->type);
			return PP_EUSAGE;
		}
	}
	if (*p->name && !name_is_valid(p->name, strlen(p->name), NAME_ARG_MAX)) {
		buf_addf(why, "'%s': not a name for an argument", p->name);
		return PP_EUSAGE;
	}
	if (!*p->expr) {
		buf_addf(why, "'%s': an expression is missing", text);
		return PP_EUSAGE;
	}
	return 0;
}

/* ---- the kernel's syntax ---- */

/* Names of registers that people know: "rdi", "edi", "dil"; *bits: of the part. */
static const char *kernel_register(const char *s, size_t n, unsigned *bits)
{
	static const char *const plain[] = {"ax", "bx", "cx", "dx", "si", "di", "bp", "sp", "ip"};

	*bits = 64;
	for (size_t i = 0; i < sizeof(plain) / sizeof(plain[0]); i++) {
		if (n == 2 && !strncmp(s, plain[i], 2))
			return plain[i];
		if (n == 3 && (s[0] == 'r' || s[0] == 'e') && !strncmp(s + 1, plain[i], 2)) {
			*bits = s[0] == 'e' ? 32 : 64;
			return plain[i];
		}
	}
	return NULL;
}

/* Where the Nth argument is when a function is called by the C ABI of x86-64, counted from 1. */
static int add_argument(const struct arg_site *site, const char *digits, struct buf *out,
			struct buf *why)
{
	static const char *const registers[] = {"%di", "%si", "%dx", "%cx", "%r8", "%r9"};
	unsigned long n = strtoul(digits, NULL, 10);

	if (!site->entry || !n || n > 64 || (site->b && site->b->go)) {
		buf_addf(why, "$arg%lu: %s", n,
			 !n || n > 64	? "arguments are counted from 1"
			 : !site->entry ? "arguments are available only where a function begins"
					: "Go passes arguments in different places from C: "
					  "name the parameter");
		return PP_EUSAGE;
	}
	if (n <= 6)
		buf_adds(out, registers[n - 1]);
	else
		buf_addf(out, "+%lu(%%sp)", 8 * (n - 6));
	return 0;
}

/* What begins with '$' within an expression of the kernel's; *at moves to its end. */
static int add_special(const struct arg_site *site, const char **at, struct buf *out,
		       struct buf *why)
{
	size_t n = 1;

	while (ident((*at)[n]))
		n++;
	if (n == 7 && !memcmp(*at, "$retval", 7)) {
		if (!site->returns) {
			buf_adds(why, NO_RESULT);
			return PP_EUSAGE;
		}
		buf_adds(out, site->kernel_returns ? "$retval" : "%ax");
	} else if (n > 4 && !memcmp(*at, "$arg", 4) && strspn(*at + 4, "0123456789") >= n - 4) {
		int rc = add_argument(site, *at + 4, out, why);

		if (rc)
			return rc;
	} else {
		buf_add(out, *at, n);
	}
	*at += n;
	return 0;
}

int arg_kernel_syntax(const struct arg_site *site, const char *s, struct buf *out, unsigned *bits,
		      struct buf *why)
{
	static const char *const others[] = {"flags", "orig_ax", "cs",	"ss",  "r8",  "r9",
					     "r10",   "r11",	 "r12", "r13", "r14", "r15"};
	const char *whole = s;
	bool memory = strchr(s, '(') != NULL;

	*bits = 64;
	while (*s) {
		const char *name = NULL;
		size_t n = 0;

		if (*s == '$') {
			int rc = add_special(site, &s, out, why);

			if (rc)
				return rc;
			continue;
		}
		buf_addc(out, *s);
		if (*s++ != '%')
			continue;
		while (ident(s[n]))
			n++;
		name = kernel_register(s, n, bits);
		for (size_t i = 0; !name && i < sizeof(others) / sizeof(others[0]); i++)
			if (strlen(others[i]) == n && !strncmp(s, others[i], n))
				name = others[i];
		if (!name) {
			buf_addf(why,
				 "'%s': the kernel knows no register %%%.*s; it has %%ax %%bx %%cx "
				 "%%dx %%si %%di %%bp %%sp %%ip %%r8 to %%r15",
				 whole, (int)n, s);
			return PP_EUSAGE;
		}
		buf_adds(out, name);
		s += n;
	}
	if (memory)
		*bits = 64;
	return out->err;
}

static int raw(const struct arg_site *site, const struct parts *p, struct fetches *f,
	       struct buf *why)
{
	struct buf text = BUF_INIT;
	unsigned bits;
	int rc = arg_kernel_syntax(site, p->expr, &text, &bits, why);
	const char *type = *p->type ? p->type : bits == 32 ? "u32" : "";
	char name[NAME_ARG_MAX + 1] = "";
	const char *bad;

	if (!rc) {
		/* A register's name is a good one for the argument. */
		if (*p->name)
			snprintf(name, sizeof(name), "%s", p->name);
		else if (strchr("%$", p->expr[0]) && strlen(p->expr) < sizeof(name))
			snprintf(name, sizeof(name), "%s", p->expr + 1);
		else
			snprintf(name, sizeof(name), "arg%u", (unsigned)f->n + 1);
		bad = fetch_add(f, name, buf_str(&text), type);
		if (bad) {
			buf_addf(why, "'%s': %s", p->expr, bad);
			rc = PP_EUSAGE;
		}
	}
	buf_release(&text);
	return rc;
}

/* ---- variables ---- */

/* The last name in an expression, by which an argument is called. */
static void last_name(const char *expr, char out[NAME_ARG_MAX + 1])
{
	const char *end = expr + strlen(expr), *start;

	while (end > expr && (!ident(end[-1]) || isdigit((unsigned char)end[-1])))
		end--;
	while (*end && isdigit((unsigned char)*end) && end > expr && ident(end[-1]))
		end++;
	start = end;
	while (start > expr && ident(start[-1]))
		start--;
	if (end - start > NAME_ARG_MAX)
		end = start + NAME_ARG_MAX;
	snprintf(out, NAME_ARG_MAX + 1, "%.*s", (int)(end - start), start);
}

static const char *open_variable(struct arg_site *site, const struct variable *v, struct loc *l)
{
	Dwarf_Die *function = site->scopes->n ? &site->scopes->die[0] : NULL;
	Dwarf_Die die = v->die;

	memset(l, 0, sizeof(*l));
	if (v->gone)
		return PLACE_GONE;
	if (!site->entry || !site->b->go || !go_abi_param(site->scopes, v, &l->place))
		place_of(&l->place, site->b, function, &die, site->pc);
	l->untyped = type_of(&die, &l->type) != 0;
	if (l->place.kind == PLACE_NONE)
		return l->place.why;
	if (l->place.late && site->body && site->pc < site->body)
		site->late = true;
	return NULL;
}

/* The bytes of a name: also ns::name. */
static size_t name_len(const char *s)
{
	size_t n = 0;

	while (ident(s[n]) || (s[n] == ':' && s[n + 1] == ':') ||
	       (n && s[n] == ':' && s[n - 1] == ':'))
		n++;
	return n;
}

static const char *steps(struct loc *l, const char *s)
{
	const char *why = NULL;

	while (*s && !why) {
		if (*s == '[') {
			char *end;
			long long i = strtoll(s + 1, &end, 0);

			if (end == s + 1 || *end != ']')
				return "an index must be a number";
			s = end + 1;
			why = loc_index(l, i);
		} else if (*s == '.' || *s == '%' || (s[0] == '-' && s[1] == '>')) {
			size_t n;

			s += *s == '-' ? 2 : 1;
			n = name_len(s);
			if (!n)
				return "the name of a member is missing";
			why = loc_member(l, s, n);
			s += n;
		} else {
			return "not understood";
		}
	}
	return why;
}

static int near_names(struct arg_site *site, const char *name, size_t len, struct buf *why);

static int variable(struct arg_site *site, const struct parts *p, struct fetches *f,
		    struct buf *why)
{
	const char *s = p->expr, *bad;
	char name[NAME_ARG_MAX + 1];
	unsigned stars = 0;
	struct variable v = {0};
	struct loc l;
	size_t n;

	while (*s == '*') {
		stars++;
		s++;
	}
	n = name_len(s);
	if (!n) {
		buf_addf(why, "'%s': not understood", p->expr);
		return PP_EUSAGE;
	}
	if (!site->b->dwarf || !site->scopes->n) {
		buf_addf(why,
			 "'%s': there is no debug information here, so variables are not known; "
			 "registers are available (%%di, %%si, ...)",
			 p->expr);
		return PP_ENOENT;
	}
	if (scopes_find(site->scopes, site->from, s, n, &v))
		return near_names(site, s, n, why);
	bad = open_variable(site, &v, &l);
	if (!bad)
		bad = steps(&l, s + n);
	while (!bad && stars--)
		bad = loc_deref(&l);
	last_name(p->expr, name);
	if (!bad)
		bad = fetch_loc(f, *p->name ? p->name : name, &l, *p->type ? p->type : NULL,
				site->b, site->pc);
	if (!bad)
		return 0;
	buf_addf(why, "'%s': %s", p->expr, bad);
	return PP_ENOENT;
}

struct listing {
	struct buf *out;
	uint32_t n;
};

static int list_name(void *ctx, const struct variable *v)
{
	struct listing *l = ctx;

	if (l->n < 20)
		buf_addf(l->out, "%s%s", l->n ? ", " : "", v->name);
	l->n++;
	return 0;
}

static int near_names(struct arg_site *site, const char *name, size_t len, struct buf *why)
{
	struct listing l = {why, 0};

	buf_addf(why, "'%.*s': no such variable here; there are: ", (int)len, name);
	scopes_each(site->scopes, site->from, list_name, &l);
	if (!l.n)
		buf_adds(why, "none");
	else if (l.n > 20)
		buf_adds(why, ", ...");
	return PP_ENOENT;
}

/* ---- $params, $vars ---- */

struct all {
	struct arg_site *site;
	struct fetches *f;
	bool params_only;
	const char *seen[FETCH_MAX];
	uint32_t n_seen;
};

static int add_one(void *ctx, const struct variable *v)
{
	struct all *a = ctx;
	struct loc l;
	const char *bad;

	if (a->params_only && (!v->param || v->scope != a->site->from))
		return 0;
	for (uint32_t i = 0; i < a->n_seen; i++)
		if (!strcmp(a->seen[i], v->name))
			return 0;
	if (a->n_seen == FETCH_MAX)
		return 0;
	a->seen[a->n_seen++] = v->name;
	if (go_abi_is_result(v))
		return 0;
	bad = open_variable(a->site, v, &l);
	if (!bad)
		bad = fetch_loc(a->f, v->name, &l, NULL, a->site->b, a->site->pc);
	if (bad) {
		buf_addf(&a->site->skipped_names, "%s%s (%s)", a->site->skipped ? ", " : "",
			 v->name, bad);
		a->site->skipped++;
	}
	return 0;
}

static int add_all(struct arg_site *site, bool params_only, struct fetches *f, struct buf *why)
{
	struct all a = {.site = site, .f = f, .params_only = params_only};

	if (!site->b->dwarf || !site->scopes->n) {
		buf_addf(why, "'%s': there is no debug information here",
			 params_only ? "$params" : "$vars");
		return PP_ENOENT;
	}
	scopes_each(site->scopes, site->from, add_one, &a);
	return 0;
}

/* ---- what begins with '$' ---- */

static int plain(const struct parts *p, const char *name, const char *type, struct fetches *f,
		 struct buf *why)
{
	const char *bad =
		fetch_add(f, *p->name ? p->name : name, p->expr, *p->type ? p->type : type);

	if (!bad)
		return 0;
	buf_addf(why, "'%s': %s", p->expr, bad);
	return PP_EUSAGE;
}

/* All that a function of Go returns. */
static int go_results(struct arg_site *site, const struct parts *p, struct fetches *f,
		      struct buf *why)
{
	const char *bad = NULL, *name = NULL;
	struct loc l;

	for (unsigned i = 0; !bad && !go_abi_result(site->scopes, i, &l, &name); i++) {
		if (*p->name || !name || *name == '~')
			name = *p->name ? p->name : "retval";
		bad = fetch_loc(f, name, &l, NULL, site->b, site->pc);
	}
	if (!bad)
		return 0;
	buf_addf(why, "'%s': %s", p->expr, bad);
	return PP_ENOENT;
}

void arg_name_result(struct fetches *f, uint32_t from)
{
	for (uint32_t i = from; i < f->n; i++) {
		char *text = f->v[i].text, *at = strstr(text, "%ax"), with[FETCH_TEXT_MAX + 8];
		int n;

		if (!at)
			continue;
		n = snprintf(with, sizeof(with), "%.*s$retval%s", (int)(at - text), text,
			     at + strlen("%ax"));
		if (n > 0 && (size_t)n + strlen(f->v[i].type) < FETCH_TEXT_MAX)
			memcpy(text, with, (size_t)n + 1);
	}
}

static int retval(struct arg_site *site, const struct parts *p, struct fetches *f, struct buf *why)
{
	const char *bad, *rest = p->expr + strlen("$retval");
	uint32_t had;
	struct loc l;

	if (!site->returns) {
		buf_adds(why, NO_RESULT);
		return PP_EUSAGE;
	}
	bad = result_loc(site->b, site->scopes, &l);
	if (!bad)
		bad = steps(&l, rest);
	if (!bad && site->b->go && !*rest && !*p->type)
		return go_results(site, p, f, why);
	/* Without a description it is the register. */
	if (bad && !*rest && (!site->b->dwarf || !site->scopes->n)) {
		l = (struct loc){.place = place_register(0), .untyped = true};
		bad = NULL;
		if (!*p->type) {
			bad = fetch_add(f, *p->name ? p->name : "retval",
					site->kernel_returns ? "$retval" : "%ax", "");
			if (!bad)
				return 0;
		} else if (strstr(p->type, "string") || strchr(p->type, '[')) {
			bad = fetch_add(f, *p->name ? p->name : "retval", "+0(%ax)", p->type);
			if (!bad)
				return 0;
		}
	}
	had = f->n;
	if (!bad)
		bad = fetch_loc(f, *p->name ? p->name : "retval", &l, *p->type ? p->type : NULL,
				site->b, site->pc);
	if (!bad && site->kernel_returns)
		arg_name_result(f, had);
	if (!bad)
		return 0;
	buf_addf(why, "'%s': %s", p->expr, bad);
	return PP_ENOENT;
}

static int special(struct arg_site *site, const struct parts *p, struct fetches *f, struct buf *why)
{
	if (!strcmp(p->expr, "$params"))
		return add_all(site, true, f, why);
	if (!strcmp(p->expr, "$vars"))
		return add_all(site, false, f, why);
	if (!strncmp(p->expr, "$retval", 7))
		return retval(site, p, f, why);
	if (!strncmp(p->expr, "$arg", 4) && isdigit((unsigned char)p->expr[4]))
		return raw(site, p, f, why);
	if (!strcmp(p->expr, "$comm"))
		return plain(p, "comm", "string", f, why);
	if (!strncmp(p->expr, "$stack", 6) &&
	    strspn(p->expr + 6, "0123456789") == strlen(p->expr + 6))
		return plain(p, p->expr + 1, "", f, why);
	buf_addf(why,
		 "'%s': there are $params, $vars, $argN, $retval, $comm, $stack and "
		 "$stackN",
		 p->expr);
	return PP_EUSAGE;
}

int arg_resolve(struct arg_site *site, const char *text, struct fetches *f, struct buf *why)
{
	struct parts p;
	int rc = split(text, &p, why);

	if (rc)
		return rc;
	if (p.expr[0] == '$')
		return special(site, &p, f, why);
	if (strchr("%+-@\\", p.expr[0]))
		return raw(site, &p, f, why);
	return variable(site, &p, f, why);
}
