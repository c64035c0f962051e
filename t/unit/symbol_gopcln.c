/* Go's function table, by hand: two functions with names, and frames that grow and shrink. */
#include "symbol/gopcln.h"

#include "base/buf.h"
#include "base/err.h"
#include "tap.h"

#include <stdlib.h>

#define TEXT 0x401000u

static void put(struct buf *b, uint64_t v, unsigned size)
{
	uint8_t bytes[8];

	for (unsigned i = 0; i < size; i++)
		bytes[i] = (uint8_t)(v >> 8 * i);
	buf_add(b, bytes, size);
}

/*
 * src/debug/gosym/pclntab.go: a head, names, tables of values by address, functions. `magic` of Go
 * 1.18 or 1.20.
 */
static void make(struct buf *b, uint32_t magic)
{
	static const char names[] = "main.main\0main.leaf";
	/* Pairs of a difference (zigzag) and bytes of code: -1 + 1 = 0 for 4, + 24 for 20, back. */
	static const uint8_t frames[] = {0, 2, 4, 48, 20, 47, 8, 0};
	const uint64_t head = 8 + 8 * 8, at_names = head, at_tables = at_names + 24,
		       at_funcs = at_tables + 8;

	put(b, magic, 4);
	put(b, 0x0801 << 16, 4); /* the smallest instruction 1 byte, words of 8 */
	put(b, 2, 8);		 /* functions */
	put(b, 1, 8);		 /* files */
	put(b, TEXT, 8);
	put(b, at_names, 8);
	put(b, at_tables, 8); /* of compilation units: where the names end */
	put(b, at_tables, 8);
	put(b, at_tables, 8);
	put(b, at_funcs, 8);
	buf_add(b, names, sizeof(names));
	while (b->len < at_tables)
		put(b, 0, 1);
	buf_add(b, frames, sizeof(frames));
	/* entry and record of each, then the end; the records: 24 bytes after at_funcs and on */
	put(b, 0, 4);
	put(b, 24, 4);
	put(b, 32, 4);
	put(b, 48, 4);
	put(b, 64, 4);
	put(b, 0, 4);
	for (int i = 0; i < 2; i++) {
		put(b, i ? 32 : 0, 4); /* entry */
		put(b, i ? 10 : 0, 4); /* name */
		put(b, 0, 4);	       /* arguments */
		put(b, 0, 4);	       /* deferred returns */
		put(b, i ? 0 : 1, 4);  /* frames; 0: none */
		put(b, 0, 4);
	}
}

static void test_table(uint32_t magic)
{
	struct gopcln_function fn;
	uint64_t start, end;
	struct buf b = BUF_INIT;
	struct gopcln *g;
	uint32_t size;

	make(&b, magic);
	is_int(gopcln_memory(&g, b.data, b.len, false, 0), 0, "%x: a table", magic);
	is_u64(gopcln_count(g), 2, "two functions");
	is_int(gopcln_find(g, TEXT + 31, &fn), 0, "the first one's last address");
	is_str(fn.name, "main.main", "its name");
	is_u64(fn.addr, TEXT, "its beginning");
	is_u64(fn.size, 32, "its size");
	is_int(gopcln_frame(g, &fn, TEXT + 3, &size, &start, &end), 0, "its frame");
	is_u64(size, 0, "nothing was pushed");
	is_int(gopcln_frame(g, &fn, TEXT + 4, &size, &start, &end), 0, "after the prologue");
	is_u64(size, 24, "24 bytes");
	is_u64(start, TEXT + 4, "from there on");
	is_u64(end, TEXT + 24, "up to the epilogue");
	is_int(gopcln_frame(g, &fn, TEXT + 31, &size, &start, &end), 0, "after the epilogue");
	is_u64(size, 0, "nothing is left");
	is_int(gopcln_find(g, TEXT + 32, &fn), 0, "the second one");
	is_str(fn.name, "main.leaf", "its name");
	is_int(gopcln_frame(g, &fn, TEXT + 32, &size, &start, &end), PP_ENOENT, "has no frames");
	is_int(gopcln_find(g, TEXT + 64, &fn), PP_ENOENT, "nothing after it");
	is_int(gopcln_find(g, TEXT - 1, &fn), PP_ENOENT, "nor before");
	gopcln_close(g);
	buf_release(&b);
}

/* Cut anywhere, it tells less, and never of what is not there. */
static void test_cut(void)
{
	struct gopcln_function fn;
	struct buf b = BUF_INIT;
	struct gopcln *g;
	bool all = true;

	make(&b, 0xfffffff1);
	for (size_t n = 0; n < b.len; n++) {
		uint8_t *p = malloc(n ? n : 1);

		memcpy(p, b.data, n);
		if (!gopcln_memory(&g, p, n, false, 0)) {
			for (uint32_t i = 0; i < gopcln_count(g); i++)
				all = all &&
				      (gopcln_get(g, i, &fn) || !fn.name || strlen(fn.name) < n);
			gopcln_close(g);
		}
		free(p);
	}
	ok(all, "cut at every byte");
	buf_release(&b);
}

int main(void)
{
	test_table(0xfffffff0);
	test_table(0xfffffff1);
	test_cut();
	return done();
}
