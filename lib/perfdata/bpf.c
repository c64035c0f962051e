/*
 * BPF programs of the recorded machine, as lines of text: the header features BPF_PROG_INFO and
 * BPF_BTF. Their bytes are struct bpf_prog_info of <linux/bpf.h> with what it points to, in the
 * byte order of the recording.
 */
#include "perfdata/info.h"

#include <inttypes.h>

#define KSYM_NAME_MAX 512 /* the kernel's KSYM_NAME_LEN */

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

/*
 * How many bytes follow each of n programs, beyond what its head says: some builds of perf (Red
 * Hat's 4.18) take the struct as longer than the library that filled it, and write what lies after
 * it in memory. It is the number with which the last program ends where the feature does; 0 if
 * there is none.
 */
static uint32_t gap_after_progs(struct cursor c, uint32_t n)
{
	enum { LONGEST = 64 };

	for (uint32_t gap = 0; gap <= LONGEST; gap += 8) {
		struct cursor at = c;

		for (uint32_t i = 0; i < n && !at.bad; i++) {
			uint64_t len = get_u32(&at);

			len += get_u32(&at);
			cursor_skip(&at, 8 + len + gap);
		}
		if (!at.bad && !cursor_left(&at))
			return gap;
	}
	return 0;
}

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
static void add_name(const struct perf_info *p, const struct prog *g, uint32_t i, struct buf *b)
{
	struct cursor c = element(g, g->tags, i, 8);
	const uint8_t *tag = i < g->ntags ? get_bytes(&c, 8) : NULL;
	const char *name = NULL;

	if (i < g->nfunc_info && g->func_info_size >= 8) {
		c = element(g, g->func_info, i, g->func_info_size);
		get_u32(&c); /* instruction */
		name = perf_btf_name(p->facts.btf, g->btf_id, get_u32(&c));
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

static void add_function(const struct perf_info *p, const struct prog *g, uint32_t i, struct buf *b)
{
	struct cursor addr = element(g, g->ksyms, i, 8), len = element(g, g->lens, i, 4);

	add_name(p, g, i, b);
	buf_addf(b, " addr %#" PRIx64 " size %" PRIu32 "\n", get_u64(&addr), get_u32(&len));
}

void perf_lines_bpf_progs(const struct perf_info *p, struct cursor *c, struct buf *b)
{
	uint32_t n = get_u32(c), gap = gap_after_progs(*c, n);

	if (!n)
		buf_adds(b, "bpf_prog_info empty\n");
	for (uint32_t i = 0; i < n && perf_lines_more(c, b); i++) {
		struct prog g;

		read_prog(c, &g);
		cursor_skip(c, gap);
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

void perf_lines_btf(const struct perf_info *p, struct cursor *c, struct buf *b)
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
