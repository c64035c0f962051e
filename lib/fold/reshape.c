/* Changing stacks that were folded. */
#include "fold/reshape.h"

#include "base/array.h"
#include "base/err.h"
#include "symbol/demangled_name.h"

#include <errno.h>
#include <regex.h>
#include <stdlib.h>
#include <string.h>

/* ---- template arguments ---- */

/* One walk through the name. False: brackets do not match. */
static bool strip(const char *s, size_t n, uint64_t depth, struct buf *b)
{
	struct name_walk w = {.s = s, .n = n};
	enum name_token token;
	uint64_t levels = 0;

	while ((token = name_next(&w)) && !w.odd) {
		if (token == NAME_OPEN && w.open[w.depth - 1] == 'T' && levels++ == depth)
			buf_adds(b, "<...>");
		/* What stands for all of it has its end already. */
		if (token == NAME_CLOSE && w.closed == 'T' && --levels == depth)
			continue;
		if (levels <= depth)
			buf_add(b, s + w.at, w.len);
	}
	return !w.depth && !w.odd;
}

/*
 * Adds a name without the template arguments below `depth` levels, as in "std::map<...>::find".
 * Operators, "<unknown>", "<T as Trait>::f" and unfinished ones stay as they are.
 */
static void fold_strip_templates(const char *s, size_t n, uint64_t depth, struct buf *b)
{
	size_t from = b->len;

	if (memchr(s, '<', n) && strip(s, n, depth, b))
		return;
	if (b->len > from)
		b->data[b->len = from] = 0;
	buf_add(b, s, n);
}

#define GROUPS 10

struct fold_rule {
	enum fold_rule_kind kind;
	regex_t regex;
	char *text; /* of FOLD_RENAME: what takes the place; owned */
	bool all;   /* of every match, not the first alone */
};

/* ---- rules ---- */

void fold_shape_release(struct fold_shape *s)
{
	for (uint32_t i = 0; i < s->n; i++) {
		regfree(&s->rules[i].regex);
		free(s->rules[i].text);
	}
	free(s->rules);
	*s = (struct fold_shape)FOLD_SHAPE_INIT;
}

bool fold_shape_any(const struct fold_shape *s)
{
	return s->n || s->recursion || s->templates || s->prefix;
}

static int compile(struct fold_rule *r, const char *text, int flags, struct buf *why)
{
	char wrong[128];
	int rc = regcomp(&r->regex, text, REG_EXTENDED | flags);

	if (!rc)
		return 0;
	regerror(rc, &r->regex, wrong, sizeof(wrong));
	buf_adds(why, "not a regular expression: ");
	buf_add_safe(why, text, strlen(text));
	buf_addf(why, ": %s", wrong);
	return rc == REG_ESPACE ? PP_ENOMEM : PP_EUSAGE;
}

/* Cuts "s/REGEX/TEXT/gi" at its separators, in place. False: it is none. */
static bool cut(char *text, char **regex, char **to, char **flags)
{
	char sep = text[0] == 's' ? text[1] : 0, *part[3], *out;
	int n = 0;

	if (!sep || sep == '\\' || sep == '\n')
		return false;
	for (char *p = text + 2; n < 3; n++) {
		part[n] = out = p;
		while (*p && (*p != sep || n == 2)) {
			/* A separator that is meant is without its backslash. */
			if (*p == '\\' && p[1] == sep)
				p++;
			else if (*p == '\\' && p[1])
				*out++ = *p++;
			*out++ = *p++;
		}
		if (n < 2 && !*p)
			return false;
		*out = 0;
		p++;
	}
	*regex = part[0];
	*to = part[1];
	*flags = part[2];
	return strspn(part[2], "gi") == strlen(part[2]);
}

static int rename_rule(struct fold_rule *r, char *text, struct buf *why)
{
	char *regex, *to, *flags;
	int rc;

	if (!cut(text, &regex, &to, &flags)) {
		buf_adds(why, "--rename needs s/REGEX/TEXT/, with g or i after it");
		return PP_EUSAGE;
	}
	r->all = strchr(flags, 'g') != NULL;
	rc = compile(r, regex, strchr(flags, 'i') ? REG_ICASE : 0, why);
	if (rc)
		return rc;
	for (const char *p = to; *p; p++) {
		if (*p != '\\' || !*++p || *p < '1' || *p > '9' ||
		    (size_t)(*p - '0') <= r->regex.re_nsub)
			continue;
		buf_addf(why, "--rename: there is no group %c", *p);
		regfree(&r->regex);
		return PP_EUSAGE;
	}
	r->text = strdup(to);
	if (!r->text)
		regfree(&r->regex);
	return r->text ? 0 : PP_ENOMEM;
}

int fold_shape_add(struct fold_shape *s, enum fold_rule_kind kind, const char *text,
		   struct buf *why)
{
	struct fold_rule r = {.kind = kind}, *v;
	char *copy = strdup(text);
	int rc;

	if (!copy)
		return PP_ENOMEM;
	if (s->n == FOLD_RULES_MAX) {
		buf_addf(why, "more than %d rules", FOLD_RULES_MAX);
		rc = PP_EUSAGE;
	} else if (kind == FOLD_RENAME) {
		rc = rename_rule(&r, copy, why);
	} else {
		rc = compile(&r, text, REG_NOSUB, why);
	}
	free(copy);
	if (rc)
		return rc;
	v = reallocarray(s->rules, s->n + 1, sizeof(*v));
	if (!v) {
		regfree(&r.regex);
		free(r.text);
		return PP_ENOMEM;
	}
	s->rules = v;
	v[s->n++] = r;
	return 0;
}

/* ---- names ---- */

/* What becomes of a name. */
struct shaped {
	uint32_t name; /* in the new fold; 0: not yet known, or none is left */
	bool known;
	bool only, root, hide;
};

struct shaping {
	const struct fold_shape *s;
	struct fold *from, *to;
	struct shaped *names; /* by name of from */
	uint32_t nnames;
	uint32_t *nodes; /* of a chart: by node of from, node of to + 1; UINT32_MAX: left out */
	uint32_t nnodes;
	uint32_t prefix[FOLD_PREFIX_MAX]; /* outermost first */
	uint32_t nprefix;
	uint32_t *path, *old; /* names of a stack, leaf first; FOLD_DEPTH_MAX and more */
	struct buf text, other;
	bool has_only, has_root;
};

static void put_replacement(struct buf *b, const struct fold_rule *r, const char *s,
			    const regmatch_t *m)
{
	for (const char *p = r->text; *p; p++) {
		int group = *p == '&' ? 0 : -1;

		if (*p == '\\' && p[1]) {
			p++;
			if (*p >= '0' && *p <= '9')
				group = *p - '0';
		}
		if (group < 0)
			buf_addc(b, *p);
		else if (m[group].rm_so >= 0)
			buf_add(b, s + m[group].rm_so, (size_t)(m[group].rm_eo - m[group].rm_so));
	}
}

/*
 * Whether a rule matches a text: 1, 0, or PP_ENOMEM. The regexec of glibc returns REG_NOMATCH for
 * every failure; only errno tells one of memory.
 */
static int rule_matches(const struct fold_rule *r, const char *s, size_t n, regmatch_t *m,
			int flags)
{
	errno = 0;
	if (!regexec(&r->regex, s, n, m, flags))
		return 1;
	return errno == ENOMEM ? PP_ENOMEM : 0;
}

/* Changes t->text by a rule. */
static int rename_text(struct shaping *t, const struct fold_rule *r)
{
	const char *s = buf_str(&t->text), *end = s + t->text.len;
	regmatch_t m[GROUPS];
	struct buf swap;
	int flags = 0, found;

	buf_reset(&t->other);
	while ((found = rule_matches(r, s, GROUPS, m, flags)) > 0) {
		const char *next = s + m[0].rm_eo;

		buf_add(&t->other, s, (size_t)m[0].rm_so);
		put_replacement(&t->other, r, s, m);
		/* After a match of nothing a byte goes on as it is. */
		if (m[0].rm_so == m[0].rm_eo && next < end)
			buf_addc(&t->other, *next++);
		else if (m[0].rm_so == m[0].rm_eo) {
			s = end;
			break;
		}
		s = next;
		flags = REG_NOTBOL;
		if (!r->all)
			break;
	}
	buf_add(&t->other, s, (size_t)(end - s));
	swap = t->text;
	t->text = t->other;
	t->other = swap;
	if (found < 0)
		return found;
	return t->text.err || t->other.err ? PP_ENOMEM : 0;
}

static int shape_name(struct shaping *t, uint32_t id, struct shaped *v)
{
	const struct fold_shape *s = t->s;
	size_t n;
	const char *name = fold_name_text(t->from, id, &n);
	int rc = 0;

	buf_reset(&t->text);
	if (s->templates)
		fold_strip_templates(name, n, s->depth, &t->text);
	else
		buf_add(&t->text, name, n);
	for (uint32_t i = 0; i < s->n && !rc; i++)
		if (s->rules[i].kind == FOLD_RENAME)
			rc = rename_text(t, &s->rules[i]);
	if (rc || t->text.err)
		return rc ? rc : PP_ENOMEM;
	v->known = true;
	for (uint32_t i = 0; i < s->n; i++) {
		const struct fold_rule *r = &s->rules[i];

		if (r->kind == FOLD_RENAME)
			continue;
		rc = rule_matches(r, buf_str(&t->text), 0, NULL, 0);
		if (rc < 0)
			return rc;
		if (!rc)
			continue;
		v->only |= r->kind == FOLD_ONLY;
		v->root |= r->kind == FOLD_TO_ROOT;
		v->hide |= r->kind == FOLD_HIDE;
	}
	/* A name of which nothing is left is hidden. */
	v->hide |= n && !t->text.len;
	return fold_name(t->to, buf_str(&t->text), t->text.len, &v->name);
}

static int shaped_name(struct shaping *t, uint32_t id, const struct shaped **out)
{
	struct shaped *v = array_widen(t->names, &t->nnames, id, 1024, sizeof(*v));
	int rc;

	if (!v)
		return PP_ENOMEM;
	t->names = v;
	*out = &v[id];
	if (v[id].known)
		return 0;
	rc = shape_name(t, id, &v[id]);
	return rc;
}

/* ---- stacks ---- */

/* The node of a stack in the new fold + 1; *node UINT32_MAX: it is left out. */
static int shape_stack(struct shaping *t, const uint32_t *names, size_t n, uint32_t *node)
{
	uint32_t by = fold_options(t->from)->nby, before = 0;
	size_t len = 0, below = n > by ? n - by : 0, top = below;
	bool only = !t->has_only, rooted = !t->has_root;
	const struct shaped *v;
	int rc;

	/* Where the stack begins: the outermost match below the frames of --by. */
	for (size_t i = n; i--;) {
		rc = shaped_name(t, names[i], &v);
		if (rc)
			return rc;
		only |= v->only;
		if (!rooted && i < below && v->root) {
			top = i + 1;
			rooted = true;
		}
	}
	*node = UINT32_MAX;
	if (!only || !rooted)
		return 0;
	for (size_t i = 0; i < n; i++) {
		if (i >= top && i < below)
			continue;
		v = &t->names[names[i]];
		if (i == below)
			before = 0;
		if (v->hide || (t->s->recursion && before && v->name == before))
			continue;
		t->path[len++] = before = v->name;
	}
	for (uint32_t i = t->nprefix; i--;)
		t->path[len++] = t->prefix[i];
	/* All of it is hidden. */
	if (!len)
		return 0;
	rc = fold_stack(t->to, t->path, len, node);
	++*node;
	return rc;
}

/* A fold_visit. */
static int on_stack(void *ctx, const uint32_t *names, size_t n, uint64_t weight)
{
	struct shaping *t = ctx;
	uint32_t node;
	int rc = shape_stack(t, names, n, &node);

	if (rc)
		return rc;
	if (node == UINT32_MAX)
		fold_account(t->to)->left_out++;
	else
		fold_add(t->to, node - 1, weight);
	return 0;
}

/* A fold_chart_visit: a stack of a chart, which comes as often as it came in time. */
static int on_time(void *ctx, uint32_t node, uint64_t weight)
{
	struct shaping *t = ctx;
	uint32_t *v = array_widen(t->nodes, &t->nnodes, node, 1024, sizeof(*v)), name;
	size_t n = 0;
	int rc = 0;

	if (!v)
		return PP_ENOMEM;
	t->nodes = v;
	if (!v[node]) {
		for (uint32_t k = node; k != FOLD_ROOT; t->old[n++] = name)
			k = fold_node(t->from, k, &name, NULL);
		rc = shape_stack(t, t->old, n, &v[node]);
		if (!rc && v[node] == UINT32_MAX)
			fold_account(t->to)->left_out++;
	}
	if (!rc && v[node] != UINT32_MAX)
		fold_add(t->to, v[node] - 1, weight);
	return rc;
}

static int make_prefix(struct shaping *t)
{
	const char *p = t->s->prefix;
	int rc = 0;

	while (p && !rc && t->nprefix < FOLD_PREFIX_MAX) {
		size_t n = strcspn(p, ";");

		if (n)
			rc = fold_name(t->to, p, n, &t->prefix[t->nprefix++]);
		p = p[n] ? p + n + 1 : NULL;
	}
	return rc;
}

int fold_shape(struct fold *f, const struct fold_shape *s, struct fold **to)
{
	struct shaping t = {.s = s, .from = f};
	struct fold_account *a;
	int rc;

	*to = NULL;
	/* What is to be reported about the input. */
	rc = fold_finish(f);
	if (!rc)
		rc = fold_new(to, fold_options(f), fold_diag(f));
	if (rc)
		return rc;
	t.to = *to;
	a = fold_account(t.to);
	*a = *fold_account(f);
	a->weight = 0;
	a->told = true;
	a->partial = fold_is_cut(f);
	for (uint32_t i = 0; i < s->n; i++) {
		t.has_only |= s->rules[i].kind == FOLD_ONLY;
		t.has_root |= s->rules[i].kind == FOLD_TO_ROOT;
		/* What is changed or left out can be the marks. */
		a->about.unmarked |= s->rules[i].kind != FOLD_ONLY;
	}
	t.path = malloc((FOLD_DEPTH_MAX + FOLD_PREFIX_MAX + 64) * sizeof(*t.path));
	t.old = malloc((FOLD_DEPTH_MAX + 64) * sizeof(*t.old));
	if (!t.path || !t.old)
		rc = PP_ENOMEM;
	rc = rc ? rc : make_prefix(&t);
	if (!rc)
		rc = fold_options(f)->chart ? fold_chart_each(f, on_time, &t)
					    : fold_each(f, on_stack, &t);
	/* How many samples are left is not known. */
	if (a->left_out)
		a->about.uncounted = true;
	free(t.path);
	free(t.old);
	free(t.names);
	free(t.nodes);
	buf_release(&t.text);
	buf_release(&t.other);
	if (rc) {
		fold_free(*to);
		*to = NULL;
	}
	return rc;
}
