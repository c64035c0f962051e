/* Tar archives: what is written is read back, by tar, too. */
#include "symbol/tar.h"

#include "base/buf.h"
#include "base/err.h"
#include "tap.h"

#include <stdlib.h>

static int take(void *ctx, uint8_t *bytes, size_t n)
{
	buf_add(ctx, bytes, n);
	return ((struct buf *)ctx)->err;
}

static void add(struct out *o, const char *path, const char *text)
{
	if (tar_header(o, path, strlen(text)) || out_add(o, text, strlen(text)) ||
	    tar_pad(o, strlen(text)))
		abort();
}

/* Turns the last header that was written for `name` into a link. */
static void make_link(struct buf *b, size_t at, char type, const char *to)
{
	uint8_t *h = b->data + at;
	unsigned sum = 0;

	h[156] = (uint8_t)type;
	memcpy(h + 157, to, strlen(to) + 1);
	memset(h + 148, ' ', 8);
	for (int i = 0; i < 512; i++)
		sum += h[i];
	snprintf((char *)h + 148, 8, "%06o", sum);
}

static void add_link(struct out *o, struct buf *b, const char *path, char type, const char *to)
{
	size_t at;

	out_flush(o);
	at = b->len;
	tar_header(o, path, 0);
	out_flush(o);
	make_link(b, at, type, to);
}

static char long_name[400];

static const struct {
	const char *path, *text; /* NULL: not there */
} finds[] = {
	{"usr/bin/a", "text of a"},
	{"/usr/bin/a", "text of a"},
	{"//usr/./bin//a", "text of a"},
	{"/usr/bin/twice", "second"},
	{"/usr/bin/empty", ""},
	{"/usr/bin", NULL},
	{"/usr/bin/none", NULL},
	{"/usr/bin/../bin/a", "text of a"},
	{"/etc/passwd", NULL},
	{"/bin/a", "text of a"},
	{"/usr/bin/beside", "text of a"},
	{"/usr/lib/up", "text of a"},
	{"/usr/bin/hard", "text of a"},
	{"/usr/bin/loop", NULL},
	{"/usr/bin/dangling", NULL},
	{"/usr/bin/outside", NULL},
	{"", NULL},
	{"/", NULL},
	{long_name, "long"},
};

static void fill(struct buf *b)
{
	struct out o;

	memset(long_name, 'n', sizeof(long_name) - 1);
	for (size_t i = 0; i < sizeof(long_name) - 1; i += 50)
		long_name[i] = '/';
	if (out_init_fn(&o, take, b))
		abort();
	add(&o, "usr/bin/a", "text of a");
	add(&o, "./usr/bin/twice", "first");
	add(&o, "usr/bin/twice", "second");
	add(&o, "usr/bin/empty", "");
	add(&o, "../etc/passwd", "evil");
	add(&o, long_name + 1, "long");
	add_link(&o, b, "bin", '2', "usr/bin");
	add_link(&o, b, "usr/bin/beside", '2', "a");
	add_link(&o, b, "usr/lib/up", '2', "../../bin/a");
	add_link(&o, b, "usr/bin/hard", '1', "usr/bin/a");
	add_link(&o, b, "usr/bin/loop", '2', "loop");
	add_link(&o, b, "usr/bin/dangling", '2', "nothing");
	add_link(&o, b, "usr/bin/outside", '2', "../../../../../etc/shadow");
	tar_end(&o);
	out_flush(&o);
	out_release(&o);
}

static void test_finds(const struct buf *b)
{
	struct tar t;

	is_int(tar_index(&t, b->data, b->len), 0, "an archive");
	for (size_t i = 0; i < sizeof(finds) / sizeof(finds[0]); i++) {
		struct tar_file f = {0};
		char text[32];
		int rc = tar_find(&t, finds[i].path, &f);

		snprintf(text, sizeof(text), "%.*s", (int)f.len, (const char *)f.bytes);
		is_str(rc ? NULL : text, finds[i].text, "'%.30s'", finds[i].path);
	}
	tar_release(&t);
}

/* Cut at every byte: what is whole is found, and the damage is told. */
static void test_cut(const struct buf *b)
{
	size_t wrong = 0;

	for (size_t cut = 0; cut < b->len; cut++) {
		struct tar_file f;
		struct tar t;
		int rc = tar_index(&t, b->data, cut);
		bool found = !tar_find(&t, "usr/bin/a", &f);

		/* The first of the blocks of zeroes is the end. */
		wrong += rc != (cut < 512 ? PP_EUNSUPPORTED : cut < b->len - 512 ? PP_ECUT : 0);
		wrong += found != (cut >= 512 + 9) || (found && f.len != 9);
		tar_release(&t);
	}
	is_int((int64_t)wrong, 0, "cut at every byte");
}

int main(void)
{
	struct buf b = BUF_INIT;
	struct tar t;

	fill(&b);
	test_finds(&b);
	test_cut(&b);
	b.data[600 + 512] ^= 1;
	is_int(tar_index(&t, b.data, b.len), PP_ECORRUPT, "a header whose checksum is wrong");
	tar_release(&t);
	is_int(tar_index(&t, "#!/bin/sh\n", 10), PP_EUNSUPPORTED, "too short");
	tar_release(&t);
	memset(b.data, 'x', b.len);
	is_int(tar_index(&t, b.data, b.len), PP_EUNSUPPORTED, "no archive");
	tar_release(&t);
	buf_release(&b);
	return done();
}
