/*
 * BPF programs of the recorded machine: the header features BPF_PROG_INFO and BPF_BTF. Their bytes
 * are struct bpf_prog_info of <linux/bpf.h> with what it points to, and BTF as
 * Documentation/bpf/btf.rst describes it. Numbers are in the byte order of the recording.
 */
#include "perfdata/parts.h"

#include "base/err.h"

#include <inttypes.h>
#include <stdlib.h>

#define BTF_MAGIC     0xeb9f
#define BTF_TYPES_MAX (1u << 22) /* of one program */
#define BTF_MAX	      65536	 /* sets of types */
#define KSYM_NAME_MAX 512	 /* the kernel's KSYM_NAME_LEN */

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

int perf_btf_learn(struct perf *p, struct cursor c)
{
	uint32_t n = get_u32(&c);
	int rc = 0;

	if (!p->facts.btf) {
		p->facts.btf = calloc(1, sizeof(*p->facts.btf));
		if (!p->facts.btf)
			return PP_ENOMEM;
	}
	for (uint32_t i = 0; i < n && !c.bad && !rc; i++) {
		uint32_t id = get_u32(&c), size = get_u32(&c);
		struct cursor blob = cursor_sub(&c, size);

		if (!c.bad)
			rc = read_set(p->facts.btf, id, blob);
	}
	return rc;
}

/* The name of a type; NULL if it has none. */
static const char *type_name(const struct perf_btf *b, uint32_t id, uint32_t type)
{
	const uint32_t *slot = b ? map64_get(&b->by_id, id) : NULL;
	const struct btf *s = slot ? &b->sets[*slot - 1] : NULL;
	uint32_t off;

	if (!s || !type || type > s->ntypes)
		return NULL;
	off = s->names[type - 1];
	return off < s->strings_len && s->strings[off] ? s->strings + off : NULL;
}

/* ---- programs ---- */

/* What is used of struct bpf_prog_info. Offsets are in what follows it. */
struct prog {
	uint32_t id, btf_id;
	uint8_t tag[8];
	char name[16];
	uint32_t nfuncs, nlens, ntags;
	uint64_t ksyms, lens, tags;
	uint32_t nfunc_info, func_info_size;
	uint64_t func_info;
	struct cursor data;
};

static void read_prog(struct cursor *c, struct prog *g)
{
	struct cursor info;
	const uint8_t *tag, *name;
	uint32_t info_len = get_u32(c), data_len = get_u32(c);

	*g = (struct prog){0};
	get_u64(c); /* which of the arrays there are */
	info = cursor_sub(c, info_len);
	g->data = cursor_sub(c, data_len);
	get_u32(&info); /* type */
	g->id = get_u32(&info);
	tag = get_bytes(&info, 8);
	cursor_skip(&info, 48); /* up to map_ids */
	name = get_bytes(&info, 16);
	if (tag && name) {
		memcpy(g->tag, tag, sizeof(g->tag));
		memcpy(g->name, name, sizeof(g->name));
	}
	cursor_skip(&info, 24); /* ifindex, flags, network namespace */
	g->nfuncs = get_u32(&info);
	g->nlens = get_u32(&info);
	g->ksyms = get_u64(&info);
	g->lens = get_u64(&info);
	g->btf_id = get_u32(&info);
	g->func_info_size = get_u32(&info);
	g->func_info = get_u64(&info);
	g->nfunc_info = get_u32(&info);
	cursor_skip(&info, 4 + 8 + 8 + 4 + 4 + 4); /* lines, up to prog_tags */
	g->ntags = get_u32(&info);
	g->tags = get_u64(&info);
}

/* Element i of size `each` of an array in the data. */
static struct cursor element(const struct prog *g, uint64_t array, uint32_t i, uint64_t each)
{
	struct cursor c = g->data;

	if (array > cursor_left(&c))
		return (struct cursor){.bad = true};
	cursor_skip(&c, array);
	cursor_skip(&c, i * each);
	return cursor_sub(&c, each);
}

/* The name that the kernel gives the symbol of function i. */
static void add_name(const struct perf *p, const struct prog *g, uint32_t i, struct buf *b)
{
	struct cursor c = element(g, g->tags, i, 8);
	const uint8_t *tag = i < g->ntags ? get_bytes(&c, 8) : NULL;
	const char *name = NULL;

	if (i < g->nfunc_info && g->func_info_size >= 8) {
		c = element(g, g->func_info, i, g->func_info_size);
		get_u32(&c); /* instruction */
		name = type_name(p->facts.btf, g->btf_id, get_u32(&c));
	}
	buf_adds(b, "bpf_prog_");
	for (int k = 0; k < 8; k++)
		buf_add_hex(b, (tag ? tag : g->tag)[k], 2, '0');
	buf_addc(b, '_');
	if (name)
		buf_add_safe(b, name, strnlen(name, KSYM_NAME_MAX));
	else if (g->nfuncs <= 1 && g->name[0])
		buf_add_safe(b, g->name, strnlen(g->name, sizeof(g->name)));
	else
		buf_addc(b, 'F');
}

static void add_function(const struct perf *p, const struct prog *g, uint32_t i, struct buf *b)
{
	struct cursor addr = element(g, g->ksyms, i, 8), len = element(g, g->lens, i, 4);

	add_name(p, g, i, b);
	buf_addf(b, " addr %#" PRIx64 " size %" PRIu32 "\n", get_u64(&addr), get_u32(&len));
}

void perf_lines_bpf_progs(const struct perf *p, struct cursor *c, struct buf *b)
{
	uint32_t n = get_u32(c);

	if (!n)
		buf_adds(b, "bpf_prog_info empty\n");
	for (uint32_t i = 0; i < n && perf_lines_more(c, b); i++) {
		struct prog g;

		read_prog(c, &g);
		if (c->bad)
			return;
		buf_addf(b, "bpf_prog_info %" PRIu32 ":", g.id);
		if (g.nfuncs == 1) {
			buf_addc(b, ' ');
			add_function(p, &g, 0, b);
			continue;
		}
		buf_addc(b, '\n');
		if (g.nfuncs > cursor_left(&g.data) / 8)
			g.nfuncs = 0;
		for (uint32_t k = 0; k < g.nfuncs && perf_lines_more(c, b); k++) {
			buf_addf(b, "\tsub_prog %" PRIu32 ": ", k);
			add_function(p, &g, k, b);
		}
	}
}

void perf_lines_btf(const struct perf *p, struct cursor *c, struct buf *b)
{
	uint32_t n = get_u32(c);

	(void)p;
	if (!n)
		buf_adds(b, "btf info empty\n");
	for (uint32_t i = 0; i < n && perf_lines_more(c, b); i++) {
		uint32_t id = get_u32(c), size = get_u32(c);

		cursor_skip(c, size);
		if (!c->bad)
			buf_addf(b, "btf info of id %" PRIu32 "\n", id);
	}
}
