/*
 * Type information of BPF programs, for the names of their functions: the header feature BPF_BTF.
 * Its bytes are BTF as Documentation/bpf/btf.rst describes it, in the byte order of the recording.
 */
#include "perfdata/info.h"

#include "base/err.h"

#include <stdlib.h>

#define BTF_MAGIC     0xeb9f
#define BTF_TYPES_MAX (1u << 22) /* of one program */
#define BTF_MAX	      65536	 /* sets of types */

/* One set of types: what is needed to find the names of functions. */
struct btf {
	char *strings; /* ended by a NUL; in the arena, as the next */
	uint32_t strings_len;
	uint32_t *names; /* offset in strings of type i + 1 */
	uint32_t ntypes;
};

struct perf_btf {
	struct arena arena;
	struct map64 by_id; /* index in sets, + 1 */
	struct btf *sets;
	uint32_t n;
};

void perf_btf_free(struct perf_btf *b)
{
	if (!b)
		return;
	arena_release(&b->arena);
	map64_release(&b->by_id);
	free(b->sets);
	free(b);
}

/* Bytes that follow the 12 of a type of this kind with this number of members. */
static uint64_t type_tail(uint32_t kind, uint64_t vlen)
{
	static const uint8_t fixed[] = {[1] = 4, [3] = 12, [14] = 4, [17] = 4};
	static const uint8_t each[] = {[4] = 12, [5] = 12, [6] = 8, [13] = 8, [15] = 12, [19] = 12};

	return (kind < sizeof(fixed) ? fixed[kind] : 0) +
	       vlen * (kind < sizeof(each) ? each[kind] : 0);
}

/* The name of each type. */
static int read_types(struct perf_btf *b, struct btf *set, struct cursor c)
{
	struct cursor count = c;
	uint32_t n = 0;

	for (int pass = 0; pass < 2; pass++) {
		struct cursor *at = pass ? &c : &count;

		for (n = 0; cursor_left(at) >= 12 && n < BTF_TYPES_MAX; n++) {
			uint32_t name = get_u32(at), info = get_u32(at);

			get_u32(at); /* size or type */
			cursor_skip(at, type_tail(info >> 24 & 0x1f, info & 0xffff));
			if (pass)
				set->names[n] = name;
		}
		if (!pass) {
			set->names = arena_alloc(&b->arena, sizeof(*set->names) * ((size_t)n + 1));
			if (!set->names)
				return PP_ENOMEM;
		}
	}
	set->ntypes = n;
	return 0;
}

/* The blob of one set. One that cannot be read has no names: 0, or PP_ENOMEM. */
static int read_set(struct perf_btf *b, uint32_t id, struct cursor c)
{
	struct cursor whole = c, types, strings;
	struct btf *sets, set = {0};
	uint32_t *slot;
	uint16_t magic = get_u16(&c);
	uint32_t header, type_off, type_len, str_off, str_len;

	get_u16(&c); /* version, flags */
	header = get_u32(&c);
	type_off = get_u32(&c);
	type_len = get_u32(&c);
	str_off = get_u32(&c);
	str_len = get_u32(&c);
	if (c.bad || magic != BTF_MAGIC || b->n >= BTF_MAX)
		return 0;
	types = strings = whole;
	cursor_skip(&types, (uint64_t)header + type_off);
	cursor_skip(&strings, (uint64_t)header + str_off);
	types = cursor_sub(&types, type_len);
	strings = cursor_sub(&strings, str_len);
	if (types.bad || strings.bad)
		return 0;
	set.strings = arena_dup(&b->arena, strings.p, str_len);
	set.strings_len = str_len;
	if (!set.strings || read_types(b, &set, types))
		return PP_ENOMEM;
	sets = realloc(b->sets, ((size_t)b->n + 1) * sizeof(*sets));
	if (!sets)
		return PP_ENOMEM;
	b->sets = sets;
	slot = map64_put(&b->by_id, id, NULL);
	if (!slot)
		return PP_ENOMEM;
	b->sets[b->n++] = set;
	*slot = b->n;
	return 0;
}

int perf_btf_learn(struct perf_btf **b, struct cursor c)
{
	uint32_t n = get_u32(&c);
	int rc = 0;

	if (!*b) {
		*b = calloc(1, sizeof(**b));
		if (!*b)
			return PP_ENOMEM;
	}
	for (uint32_t i = 0; i < n && !c.bad && !rc; i++) {
		uint32_t id = get_u32(&c), size = get_u32(&c);
		struct cursor blob = cursor_sub(&c, size);

		if (!c.bad)
			rc = read_set(*b, id, blob);
	}
	return rc;
}

const char *perf_btf_name(const struct perf_btf *b, uint32_t id, uint32_t type)
{
	const uint32_t *slot = b ? map64_get(&b->by_id, id) : NULL;
	const struct btf *s = slot ? &b->sets[*slot - 1] : NULL;
	uint32_t off;

	if (!s || !type || type > s->ntypes)
		return NULL;
	off = s->names[type - 1];
	return off < s->strings_len && s->strings[off] ? s->strings + off : NULL;
}
