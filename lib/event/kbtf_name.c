/*
 * Types of the kernel as C writes them. A declaration has what is to the left of the name (the type
 * that everything comes to, and stars) and to the right of it (arrays and parameters).
 */
#include "event/kbtf_parts.h"

#include <string.h>

#define STEPS	  500  /* of a declaration: functions take functions that take functions */
#define LONG	  8192 /* bytes of one */
#define NAME_LONG 512  /* bytes of a name: the kernel's have fewer */
#define KIND_FWD  7

struct decl {
	const struct kbtf *k;
	struct buf *b;
	size_t start, from; /* where it begins in b; where the parameter that is at hand does */
	unsigned left, depth;
};

static void put_left(struct decl *d, uint32_t id);
static void put_right(struct decl *d, uint32_t id);

static bool too_long(const struct decl *d)
{
	return d->b->len - d->start > LONG;
}

static void put_name(struct decl *d, const char *name)
{
	buf_add(d->b, name, strnlen(name, NAME_LONG));
}

/* False: it is enough. */
static bool descend(struct decl *d)
{
	if (d->depth >= KBTF_DEPTH || !d->left || too_long(d)) {
		d->left = 0;
		return false;
	}
	d->left--;
	d->depth++;
	return true;
}

static bool suffixed(const struct decl *d, uint32_t id)
{
	struct kbtf_entry t;

	for (int i = 0; i < KBTF_DEPTH && kbtf_entry(d->k, id, &t); i++) {
		if (t.kind != BTF_KIND_CONST && t.kind != BTF_KIND_VOLATILE &&
		    t.kind != BTF_KIND_RESTRICT && t.kind != KIND_TYPE_TAG)
			return t.kind == BTF_KIND_ARRAY || t.kind == BTF_KIND_FUNC_PROTO;
		id = t.size;
	}
	return false;
}

static bool pointer(const struct decl *d, uint32_t id)
{
	struct kbtf_entry t;

	return kbtf_entry(d->k, id, &t) && t.kind == BTF_KIND_PTR;
}

/* A blank, unless what is before does without. */
static void put_gap(struct decl *d)
{
	if (d->b->len > d->from && !strchr("*( ", d->b->data[d->b->len - 1]))
		buf_addc(d->b, ' ');
}

static void put_word(struct decl *d, const char *word)
{
	put_gap(d);
	buf_adds(d->b, word);
}

static void put_named(struct decl *d, const char *word, const char *name)
{
	put_word(d, word);
	if (*word)
		buf_addc(d->b, ' ');
	else
		put_gap(d);
	put_name(d, name);
}

static void put_qualified(struct decl *d, const char *word, uint32_t of)
{
	bool after = pointer(d, of);

	if (!after)
		put_word(d, word);
	put_left(d, of);
	if (after) {
		buf_adds(d->b, word);
		buf_addc(d->b, ' ');
	}
}

/* What an annotation is called in the kernel's sources: __user, __rcu. Others have no name. */
static void put_tag(struct decl *d, const char *name)
{
	if (!*name || name[strspn(name, "abcdefghijklmnopqrstuvwxyz_")])
		return;
	put_named(d, "", "__");
	put_name(d, name);
}

static void put_kind(struct decl *d, const struct kbtf_entry *t)
{
	const char *word = "";

	switch (t->kind) {
	case BTF_KIND_STRUCT: word = "struct"; break;
	case BTF_KIND_UNION: word = "union"; break;
	case KIND_FWD: word = t->flag ? "union" : "struct"; break;
	case BTF_KIND_ENUM:
	case KIND_ENUM64: word = "enum"; break;
	}
	put_named(d, word, *t->name ? t->name : *word ? "{...}" : "?");
}

static void put_left(struct decl *d, uint32_t id)
{
	struct kbtf_entry t;

	if (!id) {
		put_word(d, "void");
		return;
	}
	if (!kbtf_entry(d->k, id, &t)) {
		put_word(d, "?");
		return;
	}
	if (!descend(d)) {
		put_word(d, "...");
		return;
	}
	switch (t.kind) {
	case BTF_KIND_PTR:
		put_left(d, t.size);
		put_gap(d);
		buf_adds(d->b, suffixed(d, t.size) ? "(*" : "*");
		break;
	case BTF_KIND_CONST: put_qualified(d, "const", t.size); break;
	case BTF_KIND_VOLATILE: put_qualified(d, "volatile", t.size); break;
	case BTF_KIND_RESTRICT: put_left(d, t.size); break;
	case KIND_TYPE_TAG:
		put_left(d, t.size);
		put_tag(d, t.name);
		break;
	case BTF_KIND_ARRAY: put_left(d, get_u32(&t.more)); break;
	case BTF_KIND_FUNC_PROTO: put_left(d, t.size); break;
	default: put_kind(d, &t);
	}
	d->depth--;
}

static void put_param(struct decl *d, const char *name, uint32_t type)
{
	size_t before = d->from;

	d->from = d->b->len;
	put_left(d, type);
	if (*name) {
		put_gap(d);
		put_name(d, name);
	}
	put_right(d, type);
	d->from = before;
}

static void put_params(struct decl *d, struct kbtf_entry *t)
{
	buf_addc(d->b, '(');
	for (uint32_t i = 0; i < t->n && d->left && !too_long(d); i++) {
		const char *name = kbtf_text(d->k, get_u32(&t->more));
		uint32_t type = get_u32(&t->more);

		buf_adds(d->b, i ? ", " : "");
		if (type || *name)
			put_param(d, name, type);
		else
			buf_adds(d->b, "...");
	}
	buf_adds(d->b, t->n ? ")" : "void)");
}

static void put_array(struct decl *d, struct kbtf_entry *t)
{
	uint32_t elem = get_u32(&t->more), n;

	get_u32(&t->more);
	n = get_u32(&t->more);
	if (n)
		buf_addf(d->b, "[%u]", n);
	else
		buf_adds(d->b, "[]");
	put_right(d, elem);
}

static void put_right(struct decl *d, uint32_t id)
{
	struct kbtf_entry t;

	if (!kbtf_entry(d->k, id, &t) || !descend(d))
		return;
	switch (t.kind) {
	case BTF_KIND_PTR:
		buf_adds(d->b, suffixed(d, t.size) ? ")" : "");
		put_right(d, t.size);
		break;
	case BTF_KIND_CONST:
	case BTF_KIND_VOLATILE:
	case BTF_KIND_RESTRICT:
	case KIND_TYPE_TAG: put_right(d, t.size); break;
	case BTF_KIND_ARRAY: put_array(d, &t); break;
	case BTF_KIND_FUNC_PROTO:
		put_params(d, &t);
		put_right(d, t.size);
		break;
	}
	d->depth--;
}

void kbtf_declare(const struct kbtf *k, uint32_t type, const char *name, struct buf *b)
{
	struct decl d = {.k = k, .b = b, .start = b->len, .left = STEPS};

	put_param(&d, name, type);
}
