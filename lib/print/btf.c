/*
 * The kernel's types (BTF): names and types of the arguments of functions, for the function
 * tracer.
 */
#include "print/btf.h"

#include "base/cursor.h"
#include "base/err.h"
#include "base/intern.h"

#include <stdlib.h>

#define MAGIC	       0xeb9f
#define TYPE_BYTES     12
#define TYPES_MAX      (1u << 22)
#define RESOLVE_MAX    32  /* names of names of a type */
#define NAME_MAX_SHOWN 512 /* bytes of a name: the kernel's have fewer */
#define INT_SIGNED     1   /* bit of the encoding of an INT */
#define ENCODING(x)    ((x) >> 24 & 0xf)

/* Kinds of types. K(NAME, number, bytes after the head, bytes for each of its parts) */
#define KINDS(K) \
	K(INT, 1, 4, 0) \
	K(PTR, 2, 0, 0) \
	K(ARRAY, 3, 12, 0) \
	K(STRUCT, 4, 0, 12) \
	K(UNION, 5, 0, 12) \
	K(ENUM, 6, 0, 8) \
	K(FWD, 7, 0, 0) \
	K(TYPEDEF, 8, 0, 0) \
	K(VOLATILE, 9, 0, 0) \
	K(CONST, 10, 0, 0) \
	K(RESTRICT, 11, 0, 0) \
	K(FUNC, 12, 0, 0) \
	K(FUNC_PROTO, 13, 0, 8) \
	K(VAR, 14, 4, 0) \
	K(DATASEC, 15, 0, 12) \
	K(FLOAT, 16, 0, 0) \
	K(DECL_TAG, 17, 4, 0) \
	K(TYPE_TAG, 18, 0, 0) \
	K(ENUM64, 19, 0, 12)
enum kind {
	KIND_VOID,
#define K(name, number, more, part) KIND_##name = (number),
	KINDS(K)
#undef K
		KIND_END
};

struct type {
	uint32_t name, kind, parts, type;
	struct cursor more; /* what is after the head */
};

struct btf {
	struct buf bytes;
	bool swap;
	const uint8_t *types;
	const char *strings; /* the last byte is NUL */
	uint32_t strings_len;
	uint32_t *at; /* of each type, from 1, in types */
	uint32_t n;
	uint64_t types_len;
	struct map64 funcs; /* hash of a name to its type */
};

static uint64_t hash(const char *s, size_t len)
{
	uint64_t h = 0xcbf29ce484222325;

	for (size_t i = 0; i < len; i++)
		h = (h ^ (uint8_t)s[i]) * 0x100000001b3;
	return h;
}

static const char *name_of(const struct btf *t, uint32_t at)
{
	return at < t->strings_len ? t->strings + at : "";
}

/* The type at a place; *size: its bytes. False: it makes no sense. */
static bool read_type(const struct btf *t, uint64_t at, struct type *out, uint64_t *size)
{
	static const struct {
		uint8_t more, part;
	} sizes[KIND_END] = {
#define K(name, number, more, part) [number] = {more, part},
		KINDS(K)
#undef K
	};
	struct cursor c = cursor_make(t->types + at, t->types_len - at, t->swap);
	uint32_t info;

	out->name = get_u32(&c);
	info = get_u32(&c);
	out->type = get_u32(&c);
	out->parts = info & 0xffff;
	out->kind = info >> 24 & 0x1f;
	if (!out->kind || out->kind >= KIND_END)
		return false;
	*size = sizes[out->kind].more + (uint64_t)sizes[out->kind].part * out->parts;
	out->more = cursor_sub(&c, *size);
	*size += TYPE_BYTES;
	return !c.bad;
}

static bool find_type(const struct btf *t, uint32_t id, struct type *out)
{
	uint64_t size;

	return id && id <= t->n && read_type(t, t->at[id], out, &size);
}

/* After names and qualifiers; void is a kind of its own. */
static void resolve(const struct btf *t, uint32_t id, struct type *out)
{
	for (int i = 0; i < RESOLVE_MAX; i++) {
		if (!find_type(t, id, out))
			break;
		switch (out->kind) {
		case KIND_TYPEDEF:
		case KIND_VOLATILE:
		case KIND_CONST:
		case KIND_RESTRICT:
		case KIND_TYPE_TAG: id = out->type; break;
		default: return;
		}
	}
	*out = (struct type){.kind = KIND_VOID};
}

/* Where the types and the names are. */
static int sections(struct btf *t)
{
	struct cursor c = cursor_make(t->bytes.data, t->bytes.len, false);
	uint32_t head, types, types_len, strings;
	uint16_t magic = get_u16(&c);

	c.swap = t->swap = magic != MAGIC;
	if (t->swap && magic != __builtin_bswap16(MAGIC))
		return PP_ECORRUPT;
	get_u8(&c);
	get_u8(&c);
	head = get_u32(&c);
	types = get_u32(&c);
	types_len = get_u32(&c);
	strings = get_u32(&c);
	t->strings_len = get_u32(&c);
	if (c.bad || (uint64_t)head + types + types_len > t->bytes.len ||
	    (uint64_t)head + strings + t->strings_len > t->bytes.len || !t->strings_len ||
	    t->bytes.data[(uint64_t)head + strings + t->strings_len - 1])
		return PP_ECORRUPT;
	t->types = t->bytes.data + head + types;
	t->types_len = types_len;
	t->strings = (const char *)t->bytes.data + head + strings;
	return 0;
}

static int index_types(struct btf *t)
{
	uint64_t max = t->types_len / TYPE_BYTES, size;
	struct type type;

	if (max > TYPES_MAX)
		return PP_ELIMIT;
	t->at = calloc(max + 1, sizeof(*t->at));
	if (!t->at)
		return PP_ENOMEM;
	for (uint64_t at = 0; at < t->types_len; at += size) {
		if (!read_type(t, at, &type, &size))
			return PP_ECORRUPT;
		t->at[++t->n] = (uint32_t)at;
		if (type.kind == KIND_FUNC) {
			const char *name = name_of(t, type.name);
			uint32_t *slot = map64_put(&t->funcs, hash(name, strlen(name)), NULL);

			if (!slot)
				return PP_ENOMEM;
			if (!*slot)
				*slot = t->n;
		}
	}
	return 0;
}

int btf_new(struct btf **out, struct buf *bytes)
{
	struct btf *t = calloc(1, sizeof(*t));
	int rc;

	*out = t;
	if (!t)
		return PP_ENOMEM;
	t->bytes = *bytes;
	*bytes = (struct buf)BUF_INIT;
	rc = sections(t);
	if (!rc)
		rc = index_types(t);
	if (rc) {
		btf_free(t);
		*out = NULL;
	}
	return rc;
}

void btf_free(struct btf *t)
{
	if (!t)
		return;
	map64_release(&t->funcs);
	buf_release(&t->bytes);
	free(t->at);
	free(t);
}

static bool find_func(const struct btf *t, const char *name, size_t len, struct type *proto)
{
	uint32_t *slot = map64_get(&t->funcs, hash(name, len));
	struct type type;
	const char *found;

	if (!slot || !find_type(t, *slot, &type))
		return false;
	found = name_of(t, type.name);
	return strlen(found) == len && !memcmp(found, name, len) &&
	       find_type(t, type.type, proto) && proto->kind == KIND_FUNC_PROTO;
}

/*
 * The parameters of a function; false if it is not known. A compiler's variant, "name.isra.0", has
 * those of its origin.
 */
static bool prototype(const struct btf *t, const char *func, struct type *proto)
{
	const char *dot = strchr(func, '.');

	if (!t)
		return false;
	return find_func(t, func, strlen(func), proto) ||
	       (dot && find_func(t, func, (size_t)(dot - func), proto));
}

/* A structure that is passed by value: as many words as it has. Returns how many there were. */
static uint32_t add_struct(const struct type *x, const uint64_t *args, uint32_t n, struct buf *b)
{
	uint32_t words = x->type > 8 ? (uint32_t)(((uint64_t)x->type + 7) / 8) : 1;

	buf_addf(b, "(%s)[", x->kind == KIND_STRUCT ? "STRUCT" : "UNION");
	for (uint32_t i = 0; i < words; i++) {
		if (i == n) {
			buf_adds(b, "...");
			words = n;
			break;
		}
		buf_addf(b, "0x%llx%s", (unsigned long long)args[i], i + 1 < words ? ":" : "");
	}
	buf_addc(b, ']');
	return words;
}

/* Returns how many of the n words belong to it. */
static uint32_t add_arg(const struct btf *t, uint32_t type, const uint64_t *args, uint32_t n,
			struct buf *b)
{
	struct type x;

	resolve(t, type, &x);
	if (x.kind == KIND_STRUCT || x.kind == KIND_UNION)
		return add_struct(&x, args, n, b);
	if ((x.kind == KIND_INT && ENCODING(get_u32(&x.more)) & INT_SIGNED) ||
	    x.kind == KIND_ENUM || x.kind == KIND_ENUM64)
		buf_addf(b, "%lld", (long long)args[0]);
	else
		buf_addf(b, "0x%llx", (unsigned long long)args[0]);
	return 1;
}

void btf_add_args(const struct btf *t, const char *func, const uint64_t *args, uint32_t n,
		  struct buf *b)
{
	struct type proto;
	bool known = prototype(t, func, &proto);

	for (uint32_t i = 0; !known && i < n; i++)
		buf_addf(b, "%s%llx", i ? ", " : "", (unsigned long long)args[i]);
	for (uint32_t i = 0, k = 0; known && i < n && k < proto.parts; k++) {
		const char *name = name_of(t, get_u32(&proto.more));
		uint32_t type = get_u32(&proto.more);

		buf_adds(b, k ? ", " : "");
		buf_add_safe(b, name, strnlen(name, NAME_MAX_SHOWN));
		buf_addc(b, '=');
		i += add_arg(t, type, args + i, n - i, b);
	}
}
