/* Parses the text of /proc/kallsyms, and moves it to where the recorded kernel was. */
#include "symbol/kallsyms.h"

#include "base/buf.h"
#include "base/cursor.h"
#include "base/err.h"
#include "base/intern.h"
#include "symbol/symtab_build.h"

#include <errno.h>
#include <stdlib.h>

struct line {
	uint64_t addr;
	char type;
	const char *name, *module; /* not terminated */
	size_t name_len, module_len;
};

struct parser {
	const struct kallsyms_opts *opts;
	struct kallsyms *k;
	struct symtab_builder b;
	struct intern modules;
	uint32_t *module_text; /* text of the module with id i + 1 */
	uint32_t last_module;  /* id of the line before */
	uint64_t addr_bits;    /* all addresses or'ed: 0 when they are hidden */
	uint64_t ref;
	bool has_ref;
};

static int hex_digit(uint8_t c)
{
	if (c >= '0' && c <= '9')
		return c - '0';
	c |= 0x20;
	return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

static bool is_blank(char c)
{
	return c == ' ' || c == '\t';
}

/* Takes one line apart; false if it is not of the format. */
static bool split_line(struct cursor *c, struct line *l)
{
	const char *end = memchr(c->p, '\n', cursor_left(c));
	const char *p = (const char *)c->p, *name;
	int digits = 0, d;

	if (!end)
		end = (const char *)c->end;
	cursor_skip(c, (uint64_t)(end - p) + (end < (const char *)c->end));
	for (l->addr = 0; p < end && (d = hex_digit((uint8_t)*p)) >= 0; p++, digits++)
		l->addr = l->addr << 4 | (uint64_t)d;
	if (!digits || digits > 16 || end - p < 4 || p[0] != ' ' || p[2] != ' ')
		return false;
	l->type = p[1];
	name = p += 3;
	while (p < end && !is_blank(*p) && *p)
		p++;
	l->name = name;
	l->name_len = (size_t)(p - name);
	while (p < end && is_blank(*p))
		p++;
	l->module = NULL;
	l->module_len = 0;
	if (end - p > 2 && *p == '[') {
		const char *close = memchr(p, ']', (size_t)(end - p));

		l->module = p + 1;
		l->module_len = close ? (size_t)(close - l->module) : 0;
	}
	return l->name_len != 0;
}

static bool is(const struct line *l, const char *name)
{
	return !l->module_len && l->name_len == strlen(name) && !memcmp(l->name, name, l->name_len);
}

static int find_module(struct parser *p, const struct line *l, uint32_t *text)
{
	const char *last;
	uint32_t id, *grown;
	size_t len;
	bool fresh;
	int rc;

	*text = 0;
	if (!l->module_len)
		return 0;
	last = intern_get(&p->modules, p->last_module, &len);
	if (last && p->module_text && len == l->module_len && !memcmp(last, l->module, len)) {
		*text = p->module_text[p->last_module - 1];
		return 0;
	}
	rc = intern_add(&p->modules, l->module, l->module_len, &id, &fresh);
	if (!rc && fresh) {
		grown = id <= KALLSYMS_MAX_MODULES
				? realloc(p->module_text, id * sizeof(*p->module_text))
				: NULL;
		if (!grown)
			return id <= KALLSYMS_MAX_MODULES ? PP_ENOMEM : PP_ELIMIT;
		p->module_text = grown;
		rc = symtab_builder_text(&p->b, l->module, l->module_len, &grown[id - 1]);
	}
	if (!rc) {
		p->last_module = id;
		*text = p->module_text[id - 1];
	}
	return rc;
}

static void note_landmarks(struct parser *p, const struct line *l)
{
	if (is(l, "_text"))
		p->k->text = l->addr;
	else if (is(l, "_stext"))
		p->k->stext = l->addr;
	else if (is(l, "_etext"))
		p->k->etext = l->addr;
	if (p->opts && p->opts->ref_name && !p->has_ref && is(l, p->opts->ref_name)) {
		p->ref = l->addr;
		p->has_ref = true;
	}
}

static bool ends_in(const struct line *l, const char *end)
{
	size_t n = strlen(end);

	return l->name_len >= n && !memcmp(l->name + l->name_len - n, end, n);
}

/*
 * What the linker script calls a place, such as _stext or __lock_text_start: it is no function. A
 * call of 32-bit programs that has the address of that of the others.
 */
static bool says_less(const struct line *l)
{
	if (l->name[0] != '_' || l->module_len)
		return false;
	if (l->name_len > 7 && !memcmp(l->name, "__ia32_", 7))
		return true;
	return is(l, "_text") || is(l, "_stext") || is(l, "_etext") ||
	       (l->name_len > 2 && l->name[1] == '_' &&
		(ends_in(l, "_text_start") || ends_in(l, "_text_end")));
}

static int add_line(struct parser *p, const struct line *l)
{
	struct symtab_raw raw = {.start = l->addr, .end = l->addr};
	char upper = (char)(l->type & ~0x20);
	int rc;

	p->addr_bits |= l->addr;
	if (upper != 'T' && upper != 'W' && upper != 'D' && upper != 'B')
		return 0;
	/* Mapping symbols of ARM modules. */
	if (l->name[0] == '$')
		return 0;
	if (l->name[0] == '_' || (p->opts && p->opts->ref_name))
		note_landmarks(p, l);
	raw.bind = upper == 'W' || says_less(l) ? SYMTAB_WEAK
		   : l->type == upper		? SYMTAB_GLOBAL
						: SYMTAB_LOCAL;
	rc = find_module(p, l, &raw.module);
	if (!rc)
		rc = symtab_builder_text(&p->b, l->name, l->name_len, &raw.name);
	return rc ? rc : symtab_builder_add(&p->b, &raw);
}

/* Moves the kernel's symbols by the delta and drops those of modules. */
static void relocate(struct parser *p)
{
	uint32_t kept = 0;

	for (uint32_t i = 0; i < p->b.n; i++) {
		struct symtab_raw r = p->b.raw[i];

		if (r.module)
			continue;
		r.start += p->k->delta;
		r.end += p->k->delta;
		p->b.raw[kept++] = r;
	}
	p->b.n = kept;
	p->b.sorted = false;
}

static int build(struct parser *p, enum symtab_reason *why)
{
	int rc;

	*why = SYMTAB_NO_MEMORY;
	if (!p->b.n) {
		*why = p->k->skipped ? SYMTAB_CORRUPT : SYMTAB_STRIPPED;
		return symtab_reason_err(*why);
	}
	if (!p->addr_bits) {
		*why = SYMTAB_RESTRICTED;
		return PP_EACCES;
	}
	if (p->opts && p->opts->ref_name) {
		if (!p->has_ref) {
			*why = SYMTAB_NO_REF;
			return PP_EMISMATCH;
		}
		p->k->delta = p->opts->ref_addr - p->ref;
	}
	if (p->k->delta)
		relocate(p);
	rc = symtab_builder_fix_ends(&p->b, p->opts && p->opts->last ? SYMTAB_ENDS_LAST
								     : SYMTAB_ENDS_KALLSYMS);
	if (!rc)
		rc = symtab_builder_unify(&p->b);
	if (!rc)
		rc = symtab_builder_finish(&p->b, &p->k->table);
	if (!rc)
		*why = SYMTAB_OK;
	return rc;
}

int kallsyms_parse(const void *text, size_t len, const struct kallsyms_opts *opts,
		   struct kallsyms *k, enum symtab_reason *why)
{
	struct parser p = {.opts = opts, .k = k};
	struct cursor c = cursor_make(text, len, false);
	struct line l;
	int rc = 0;

	*k = (struct kallsyms){0};
	while (cursor_left(&c) && !rc) {
		if (split_line(&c, &l))
			rc = add_line(&p, &l);
		else
			k->skipped++;
	}
	if (rc)
		*why = rc == PP_ENOMEM ? SYMTAB_NO_MEMORY : SYMTAB_CORRUPT;
	else
		rc = build(&p, why);
	symtab_builder_release(&p.b);
	intern_release(&p.modules);
	free(p.module_text);
	return rc;
}

void kallsyms_release(struct kallsyms *k)
{
	symtab_free(k->table);
	*k = (struct kallsyms){0};
}
