/* Functions and structures of the kernel, by its own types. */
#include "inspect/kbtf.h"

#include "base/buf.h"
#include "base/cursor.h"
#include "base/err.h"
#include "symbol/elf_file.h"
#include "symbol/reason.h"
#include "symbol/root.h"

#include <linux/btf.h>
#include <stdlib.h>
#include <string.h>

#define DEPTH	32
#define MEMBERS 100000 /* that are passed in a search */

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
	size_t text_base; /* bytes of base's texts */
};

struct type {
	uint32_t kind, n, size; /* size: or the type that it refers to */
	bool flag;
	const char *name;
	struct cursor more;
};

static const char *text_at(const struct kbtf *k, uint32_t offset)
{
	if (k->base && offset < k->text_base)
		return text_at(k->base, offset);
	return offset - k->text_base < k->text_len ? k->text + (offset - k->text_base) : "";
}

static bool get_type(const struct kbtf *k, uint32_t id, struct type *t)
{
	struct cursor c;
	uint32_t info, at;

	if (k->base && id <= k->n_base)
		return get_type(k->base, id, t);
	if (!id || id > k->n)
		return false;
	at = k->at[id - k->n_base];
	c = cursor_make(k->types + at, (size_t)(k->types_end - k->types - at), k->swap);
	t->name = text_at(k, get_u32(&c));
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
	case 17 /* BTF_KIND_DECL_TAG */: return 4;
	case BTF_KIND_ARRAY: return 12;
	case BTF_KIND_STRUCT:
	case BTF_KIND_UNION:
	case BTF_KIND_DATASEC:
	case 19 /* BTF_KIND_ENUM64 */: return 12 * (int64_t)n;
	case BTF_KIND_ENUM:
	case BTF_KIND_FUNC_PROTO: return 8 * (int64_t)n;
	default: return kind && kind <= 19 ? 0 : -1;
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
		uint32_t at = (uint32_t)(c.p - k->types), info;
		int64_t tail;

		get_u32(&c);
		info = get_u32(&c);
		get_u32(&c);
		tail = tail_size(BTF_INFO_KIND(info), BTF_INFO_VLEN(info));
		if (c.bad || tail < 0)
			return PP_ECORRUPT;
		cursor_skip(&c, (uint64_t)tail);
		if (c.bad)
			return PP_ECORRUPT;
		k->at[++k->n - k->n_base] = at;
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

/* The section of an ELF file. PP_ENOENT: it is none, or has none. */
static int read_section(const char *path, struct buf *bytes)
{
	struct elf_file *f = NULL;
	enum symtab_reason why;
	int rc = PP_ENOENT;

	if (elf_file_open(&f, path, &why) == 0) {
		GElf_Shdr sh;
		Elf_Scn *scn = elf_file_section(f, ".BTF", &sh);
		Elf_Data *data = scn ? elf_file_data(scn, &sh) : NULL;

		if (data && data->d_buf && data->d_size <= KBTF_MAX) {
			buf_add(bytes, data->d_buf, data->d_size);
			rc = bytes->err;
		}
	}
	elf_file_close(f);
	return rc;
}

int kbtf_open(struct kbtf **out, const char *path, const struct kbtf *base)
{
	struct kbtf *k = calloc(1, sizeof(*k));
	enum symtab_reason why;
	int rc;

	*out = NULL;
	if (!k)
		return PP_ENOMEM;
	rc = read_section(path, &k->bytes);
	if (rc == PP_ENOENT)
		rc = root_read(NULL, path, KBTF_MAX, &k->bytes, &why);
	return finish(out, k, base, rc);
}

int kbtf_bytes(struct kbtf **out, const void *bytes, size_t n, const struct kbtf *base)
{
	struct kbtf *k = calloc(1, sizeof(*k));

	*out = NULL;
	if (!k)
		return PP_ENOMEM;
	buf_add(&k->bytes, bytes, n);
	return finish(out, k, base, k->bytes.err ? k->bytes.err : n ? 0 : PP_ECORRUPT);
}

void kbtf_close(struct kbtf *k)
{
	if (!k)
		return;
	buf_release(&k->bytes);
	free(k->at);
	free(k);
}

int kbtf_function(const struct kbtf *k, const char *name, uint32_t *proto)
{
	for (uint32_t id = k->n_base + 1; id <= k->n; id++) {
		struct type t, p;

		if (!get_type(k, id, &t) || t.kind != BTF_KIND_FUNC || strcmp(t.name, name) != 0)
			continue;
		*proto = t.size;
		return get_type(k, t.size, &p) && p.kind == BTF_KIND_FUNC_PROTO ? 0 : PP_ENOENT;
	}
	return PP_ENOENT;
}

int kbtf_param(const struct kbtf *k, uint32_t proto, unsigned i, const char **name, uint32_t *type)
{
	struct type t;

	if (!get_type(k, proto, &t) || i >= t.n)
		return PP_ENOENT;
	cursor_skip(&t.more, 8 * (uint64_t)i);
	*name = text_at(k, get_u32(&t.more));
	*type = get_u32(&t.more);
	return t.more.bad || !*type ? PP_ENOENT : 0;
}

int kbtf_result(const struct kbtf *k, uint32_t proto, uint32_t *type)
{
	struct type t;

	if (!get_type(k, proto, &t) || !t.size)
		return PP_ENOENT;
	*type = t.size;
	return 0;
}

/* Takes away typedefs and the like. */
static bool strip(const struct kbtf *k, uint32_t *id, struct type *t)
{
	for (int i = 0; i < DEPTH; i++) {
		if (!get_type(k, *id, t))
			return false;
		switch (t->kind) {
		case BTF_KIND_TYPEDEF:
		case BTF_KIND_CONST:
		case BTF_KIND_VOLATILE:
		case BTF_KIND_RESTRICT:
		case 18 /* BTF_KIND_TYPE_TAG */: *id = t->size; break;
		default: return true;
		}
	}
	return false;
}

enum kbtf_class kbtf_class(const struct kbtf *k, uint32_t type, uint32_t *size, bool *sign)
{
	struct type t;

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
	case 19:
		*size = t.size;
		*sign = t.flag;
		return KBTF_NUMBER;
	case BTF_KIND_STRUCT:
	case BTF_KIND_UNION: *size = t.size; return KBTF_STRUCT;
	default: return KBTF_OTHER;
	}
}

int kbtf_target(const struct kbtf *k, uint32_t type, uint32_t *to)
{
	struct type t;

	if (!strip(k, &type, &t) || t.kind != BTF_KIND_PTR || !t.size)
		return PP_ENOENT;
	*to = t.size;
	return 0;
}

static int find(const struct kbtf *k, uint32_t type, const char *name, size_t len,
		struct kbtf_member *m, int depth, unsigned *left)
{
	struct type t;

	if (depth > DEPTH || !strip(k, &type, &t) ||
	    (t.kind != BTF_KIND_STRUCT && t.kind != BTF_KIND_UNION))
		return PP_ENOENT;
	for (uint32_t i = 0; i < t.n && *left; i++, --*left) {
		const char *s = text_at(k, get_u32(&t.more));
		uint32_t member = get_u32(&t.more), offset = get_u32(&t.more);
		uint64_t bit = t.flag ? BTF_MEMBER_BIT_OFFSET(offset) : offset;

		if (strlen(s) == len && !memcmp(s, name, len)) {
			*m = (struct kbtf_member){member, bit,
						  t.flag ? BTF_MEMBER_BITFIELD_SIZE(offset) : 0};
			return 0;
		}
		if (!*s && !find(k, member, name, len, m, depth + 1, left)) {
			m->bit += bit;
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
