/* Functions and structures of the kernel, by its own types. */
#include "event/kbtf.h"

#include "base/buf.h"
#include "base/err.h"
#include "base/intern.h"
#include "event/kbtf_parts.h"

#include <stdlib.h>
#include <string.h>
#include <xxhash.h>

#define MEMBERS 10000 /* that are passed in a search */

struct kbtf {
	struct buf bytes;
	bool swap;
	const uint8_t *types, *types_end;
	const char *text;
	size_t text_len;
	uint32_t *at; /* offset of each type in types; at[0] is void, or the last of base */
	uint32_t n;   /* types; those of base come first */
	const struct kbtf *base; /* NULL: none */
	uint32_t n_base;
	size_t text_base;	/* bytes of base's texts */
	struct map64 functions; /* the hash of a name to the first function with it */
};

static uint64_t hash(const char *s)
{
	return XXH3_64bits(s, strlen(s));
}

const char *kbtf_text(const struct kbtf *k, uint32_t offset)
{
	if (k->base && offset < k->text_base)
		return kbtf_text(k->base, offset);
	return offset - k->text_base < k->text_len ? k->text + (offset - k->text_base) : "";
}

bool kbtf_entry(const struct kbtf *k, uint32_t id, struct kbtf_entry *t)
{
	struct cursor c;
	uint32_t info, at;

	if (k->base && id <= k->n_base)
		return kbtf_entry(k->base, id, t);
	if (!id || id > k->n)
		return false;
	at = k->at[id - k->n_base];
	c = cursor_make(k->types + at, (size_t)(k->types_end - k->types - at), k->swap);
	t->name = kbtf_text(k, get_u32(&c));
	info = get_u32(&c);
	t->size = get_u32(&c);
	t->kind = BTF_INFO_KIND(info);
	t->n = BTF_INFO_VLEN(info);
	t->flag = BTF_INFO_KFLAG(info);
	t->more = c;
	return !c.bad;
}

/* Bytes that follow the first twelve of a type; -1: no kind that is known. */
static int64_t tail_size(uint32_t kind, uint32_t n)
{
	switch (kind) {
	case BTF_KIND_INT:
	case BTF_KIND_VAR:
	case KIND_DECL_TAG: return 4;
	case BTF_KIND_ARRAY: return 12;
	case BTF_KIND_STRUCT:
	case BTF_KIND_UNION:
	case BTF_KIND_DATASEC:
	case KIND_ENUM64: return 12 * (int64_t)n;
	case BTF_KIND_ENUM:
	case BTF_KIND_FUNC_PROTO: return 8 * (int64_t)n;
	default: return kind && kind <= KIND_LAST ? 0 : -1;
	}
}

static int index_types(struct kbtf *k)
{
	struct cursor c = cursor_make(k->types, (size_t)(k->types_end - k->types), k->swap);
	uint32_t cap = (uint32_t)(cursor_left(&c) / 12) + 2;

	k->at = calloc(cap, sizeof(*k->at));
	if (!k->at)
		return PP_ENOMEM;
	while (cursor_left(&c)) {
		uint32_t at = (uint32_t)(c.p - k->types), name = get_u32(&c), info, *slot;
		int64_t tail;

		info = get_u32(&c);
		get_u32(&c);
		tail = tail_size(BTF_INFO_KIND(info), BTF_INFO_VLEN(info));
		if (c.bad || tail < 0)
			return PP_ECORRUPT;
		cursor_skip(&c, (uint64_t)tail);
		if (c.bad)
			return PP_ECORRUPT;
		k->at[++k->n - k->n_base] = at;
		if (BTF_INFO_KIND(info) != BTF_KIND_FUNC)
			continue;
		slot = map64_put(&k->functions, hash(kbtf_text(k, name)), NULL);
		if (!slot)
			return PP_ENOMEM;
		*slot = *slot ? *slot : k->n;
	}
	return 0;
}

static int parse(struct kbtf *k)
{
	struct cursor c = cursor_make(k->bytes.data, k->bytes.len, false), head;
	uint32_t head_len, type_off, type_len, text_off, text_len;
	uint16_t magic = get_u16(&c);

	k->swap = c.swap = magic == __builtin_bswap16(BTF_MAGIC);
	if (magic != BTF_MAGIC && !k->swap)
		return PP_ECORRUPT;
	get_u16(&c);
	head_len = get_u32(&c);
	type_off = get_u32(&c);
	type_len = get_u32(&c);
	text_off = get_u32(&c);
	text_len = get_u32(&c);
	head = cursor_make(k->bytes.data, k->bytes.len, k->swap);
	cursor_skip(&head, head_len);
	if (c.bad || head.bad || (uint64_t)type_off + type_len > cursor_left(&head) ||
	    (uint64_t)text_off + text_len > cursor_left(&head) || !text_len ||
	    head.p[text_off + text_len - 1])
		return PP_ECORRUPT;
	k->types = head.p + type_off;
	k->types_end = k->types + type_len;
	k->text = (const char *)head.p + text_off;
	k->text_len = text_len;
	return index_types(k);
}

static int finish(struct kbtf **out, struct kbtf *k, const struct kbtf *base, int rc)
{
	if (base) {
		k->base = base;
		k->n = k->n_base = base->n;
		k->text_base = base->text_base + base->text_len;
	}
	if (!rc)
		rc = parse(k);
	if (rc) {
		kbtf_close(k);
		k = NULL;
	}
	*out = k;
	return rc;
}

int kbtf_take(struct kbtf **out, struct buf *bytes, const struct kbtf *base)
{
	struct kbtf *k = calloc(1, sizeof(*k));

	*out = NULL;
	if (!k)
		return PP_ENOMEM;
	k->bytes = *bytes;
	*bytes = (struct buf)BUF_INIT;
	return finish(out, k, base, k->bytes.err ? k->bytes.err : k->bytes.len ? 0 : PP_ECORRUPT);
}

int kbtf_bytes(struct kbtf **out, const void *bytes, size_t n, const struct kbtf *base)
{
	struct buf copy = BUF_INIT;

	buf_add(&copy, bytes, n);
	return kbtf_take(out, &copy, base);
}

void kbtf_close(struct kbtf *k)
{
	if (!k)
		return;
	map64_release(&k->functions);
	buf_release(&k->bytes);
	free(k->at);
	free(k);
}

const char *kbtf_name(const struct kbtf *k, uint32_t type)
{
	struct kbtf_entry t;

	return kbtf_entry(k, type, &t) ? t.name : "";
}

static bool is_function(const struct kbtf *k, uint32_t id, const char *name, uint32_t *proto)
{
	struct kbtf_entry t;

	if (!kbtf_entry(k, id, &t) || t.kind != BTF_KIND_FUNC || strcmp(t.name, name) != 0)
		return false;
	*proto = t.size;
	return true;
}

int kbtf_function(const struct kbtf *k, const char *name, uint32_t *proto)
{
	const uint32_t *slot = map64_get(&k->functions, hash(name));
	struct kbtf_entry p;

	if (!slot)
		return PP_ENOENT;
	/* Names with the same hash are not in the index, but for the first. */
	for (uint32_t id = *slot; id <= k->n; id++)
		if (is_function(k, id, name, proto))
			return kbtf_entry(k, *proto, &p) && p.kind == BTF_KIND_FUNC_PROTO
				       ? 0
				       : PP_ENOENT;
	return PP_ENOENT;
}

int kbtf_type(const struct kbtf *k, const char *name, uint32_t *type)
{
	static const struct {
		const char *word;
		uint32_t kind;
	} words[] = {{"struct ", BTF_KIND_STRUCT}, {"union ", BTF_KIND_UNION}};
	uint32_t kind = 0;

	for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++)
		if (!strncmp(name, words[i].word, strlen(words[i].word))) {
			kind = words[i].kind;
			name += strlen(words[i].word);
		}
	name += strspn(name, " ");
	for (uint32_t id = 1; *name && id <= k->n; id++) {
		struct kbtf_entry t;

		if (!kbtf_entry(k, id, &t) || strcmp(t.name, name) != 0 ||
		    (kind ? t.kind != kind
			  : t.kind != BTF_KIND_STRUCT && t.kind != BTF_KIND_UNION &&
				     t.kind != BTF_KIND_TYPEDEF))
			continue;
		*type = id;
		return 0;
	}
	return PP_ENOENT;
}

int kbtf_param(const struct kbtf *k, uint32_t proto, unsigned i, const char **name, uint32_t *type)
{
	struct kbtf_entry t;

	if (!kbtf_entry(k, proto, &t) || t.kind != BTF_KIND_FUNC_PROTO || i >= t.n)
		return PP_ENOENT;
	cursor_skip(&t.more, 8 * (uint64_t)i);
	*name = kbtf_text(k, get_u32(&t.more));
	*type = get_u32(&t.more);
	return t.more.bad || !*type ? PP_ENOENT : 0;
}

int kbtf_result(const struct kbtf *k, uint32_t proto, uint32_t *type)
{
	struct kbtf_entry t;

	if (!kbtf_entry(k, proto, &t) || t.kind != BTF_KIND_FUNC_PROTO || !t.size)
		return PP_ENOENT;
	*type = t.size;
	return 0;
}

/* Takes away typedefs and the like. */
static bool strip(const struct kbtf *k, uint32_t *id, struct kbtf_entry *t)
{
	for (int i = 0; i < KBTF_DEPTH; i++) {
		if (!kbtf_entry(k, *id, t))
			return false;
		switch (t->kind) {
		case BTF_KIND_TYPEDEF:
		case BTF_KIND_CONST:
		case BTF_KIND_VOLATILE:
		case BTF_KIND_RESTRICT:
		case KIND_TYPE_TAG: *id = t->size; break;
		default: return true;
		}
	}
	return false;
}

/* An array with arrays in it: what its elements are in the end, and the bytes of all. */
static uint64_t array_size(const struct kbtf *k, struct kbtf_entry *t)
{
	uint64_t size = 1;
	uint32_t elem;

	for (int i = 0; i < KBTF_DEPTH && t->kind == BTF_KIND_ARRAY; i++) {
		elem = get_u32(&t->more);
		get_u32(&t->more);
		if (__builtin_mul_overflow(size, get_u32(&t->more), &size) || t->more.bad ||
		    !strip(k, &elem, t))
			return 0;
	}
	switch (t->kind) {
	case BTF_KIND_PTR: elem = 8; break;
	case BTF_KIND_INT:
	case BTF_KIND_ENUM:
	case KIND_ENUM64:
	case BTF_KIND_STRUCT:
	case BTF_KIND_UNION:
	case 16 /* BTF_KIND_FLOAT */: elem = t->size; break;
	default: return 0;
	}
	return __builtin_mul_overflow(size, elem, &size) ? 0 : size;
}

enum kbtf_class kbtf_class(const struct kbtf *k, uint32_t type, uint64_t *size, bool *sign)
{
	struct kbtf_entry t;

	*size = 8;
	*sign = false;
	if (!strip(k, &type, &t))
		return KBTF_OTHER;
	switch (t.kind) {
	case BTF_KIND_PTR: return KBTF_POINTER;
	case BTF_KIND_INT:
		*size = t.size;
		*sign = BTF_INT_ENCODING(get_u32(&t.more)) & BTF_INT_SIGNED;
		return KBTF_NUMBER;
	case BTF_KIND_ENUM:
	case KIND_ENUM64:
		*size = t.size;
		*sign = t.flag;
		return KBTF_ENUM;
	case BTF_KIND_STRUCT:
	case BTF_KIND_UNION:
		*size = t.size;
		return t.kind == BTF_KIND_UNION ? KBTF_UNION : KBTF_STRUCT;
	case BTF_KIND_ARRAY: *size = array_size(k, &t); return KBTF_ARRAY;
	default: *size = 0; return KBTF_OTHER;
	}
}

bool kbtf_is_char(const struct kbtf *k, uint32_t type)
{
	struct kbtf_entry t;

	return strip(k, &type, &t) && t.kind == BTF_KIND_INT && t.size == 1 &&
	       (BTF_INT_ENCODING(get_u32(&t.more)) & BTF_INT_CHAR || !strcmp(t.name, "char"));
}

int kbtf_target(const struct kbtf *k, uint32_t type, uint32_t *to)
{
	struct kbtf_entry t;

	if (!strip(k, &type, &t) || t.kind != BTF_KIND_PTR || !t.size)
		return PP_ENOENT;
	*to = t.size;
	return 0;
}

int kbtf_array(const struct kbtf *k, uint32_t type, uint32_t *elem, uint32_t *n)
{
	struct kbtf_entry t;

	if (!strip(k, &type, &t) || t.kind != BTF_KIND_ARRAY)
		return PP_ENOENT;
	*elem = get_u32(&t.more);
	get_u32(&t.more);
	*n = get_u32(&t.more);
	return t.more.bad ? PP_ENOENT : 0;
}

/* Before Linux 5.0, and where the structure has no flag, a bit field is a type of its own. */
static void own_bits(const struct kbtf *k, struct kbtf_member *m)
{
	struct kbtf_entry t;
	uint32_t type = m->type, word;

	if (!strip(k, &type, &t) || t.kind != BTF_KIND_INT)
		return;
	word = get_u32(&t.more);
	if (BTF_INT_OFFSET(word) || BTF_INT_BITS(word) != 8 * (uint64_t)t.size) {
		m->bit += BTF_INT_OFFSET(word);
		m->bits = BTF_INT_BITS(word);
	}
}

static void next_member(const struct kbtf *k, struct kbtf_entry *t, struct kbtf_member *m)
{
	uint32_t offset;

	m->name = kbtf_text(k, get_u32(&t->more));
	m->type = get_u32(&t->more);
	offset = get_u32(&t->more);
	m->bit = t->flag ? BTF_MEMBER_BIT_OFFSET(offset) : offset;
	m->bits = t->flag ? BTF_MEMBER_BITFIELD_SIZE(offset) : 0;
	if (!t->flag)
		own_bits(k, m);
}

static bool structure(const struct kbtf *k, uint32_t type, struct kbtf_entry *t)
{
	return strip(k, &type, t) && (t->kind == BTF_KIND_STRUCT || t->kind == BTF_KIND_UNION);
}

int kbtf_member(const struct kbtf *k, uint32_t type, uint32_t i, struct kbtf_member *m)
{
	struct kbtf_entry t;

	if (!structure(k, type, &t) || i >= t.n)
		return PP_ENOENT;
	cursor_skip(&t.more, 12 * (uint64_t)i);
	next_member(k, &t, m);
	return t.more.bad ? PP_ENOENT : 0;
}

static int find(const struct kbtf *k, uint32_t type, const char *name, size_t len,
		struct kbtf_member *found, int depth, unsigned *left)
{
	struct kbtf_entry t;

	if (depth > KBTF_DEPTH || !structure(k, type, &t))
		return PP_ENOENT;
	for (uint32_t i = 0; i < t.n && *left; i++) {
		struct kbtf_member m;

		--*left;
		next_member(k, &t, &m);
		if (strlen(m.name) == len && !memcmp(m.name, name, len)) {
			*found = m;
			return 0;
		}
		if (!*m.name && !find(k, m.type, name, len, found, depth + 1, left)) {
			found->bit += m.bit;
			return 0;
		}
	}
	return PP_ENOENT;
}

int kbtf_find(const struct kbtf *k, uint32_t type, const char *name, size_t len,
	      struct kbtf_member *m)
{
	unsigned left = MEMBERS;

	return find(k, type, name, len, m, 0, &left);
}
