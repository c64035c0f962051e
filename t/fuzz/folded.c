/*
 * psvg's reader and its two writers. The first byte chooses options, the rest is folded text.
 * Whatever the names are, the frames in the SVG and the page must be valid UTF-8 without control
 * characters, nothing of the names is an element, and the account must add up.
 */
#include "base/buf.h"
#include "draw/flame.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check_text(const char *s, size_t n)
{
	for (size_t i = 0; i < n;) {
		int len = s[i] >= ' ' && s[i] < 0x7f ? 1 : utf8_len(s + i, n - i);

		if (!len || ((uint8_t)s[i] < ' ' && s[i] != '\n'))
			abort();
		if (len == 3 && !memcmp(s + i, "\xef\xbf", 2) && (uint8_t)s[i + 2] >= 0xbe)
			abort();
		i += (size_t)len;
	}
}

static void check_svg(const struct out *out, const struct flame_account *a)
{
	const char *svg = (const char *)out->data;
	const char *begin = memmem(svg, out->len, "<g id=\"frames\"", 14), *end, *p;
	uint64_t rects = 0;

	if (!begin)
		abort();
	end = memmem(begin, out->len - (size_t)(begin - svg), "<script>", 8);
	if (!end)
		abort();
	check_text(begin, (size_t)(end - begin));
	for (p = begin; (p = memmem(p, (size_t)(end - p), "<rect ", 6)); p += 6)
		rects++;
	if (rects != a->drawn + 1 || a->drawn > a->frames)
		abort();
}

/* Nothing of the names is an element or a script of the page. */
static void check_page(const struct out *out)
{
	const char *page = (const char *)out->data, *p = page, *end = page + out->len;
	unsigned scripts = 0;

	check_text(page, out->len);
	for (; (p = memmem(p, (size_t)(end - p), "<script", 7)); p += 7)
		scripts++;
	/* What is known, five columns, and the script. */
	if (scripts != 7)
		abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static int null = -1;
	struct flame_opts o = FLAME_OPTS_INIT;
	const struct flame_account *a;
	struct flame *f;
	struct out out;
	struct src *s;
	uint8_t how = size ? data[0] : 0;

	if (null < 0)
		null = open("/dev/null", O_WRONLY | O_CLOEXEC);
	o.inverted = how & 1;
	o.min_percent = how & 2;
	o.palette = how >> 4;
	if (flame_new(&f, how & 4))
		return 0;
	if (how & 8)
		flame_chart(f);
	if (src_from_mem(&s, size ? data + 1 : data, size ? size - 1 : 0, "fuzz")) {
		flame_free(f);
		return 0;
	}
	a = flame_account(f);
	if (!flame_read(f, s, NULL) && a->lines != a->stacks + a->malformed)
		abort();
	if (!out_init(&out, null)) {
		/* Small graphs stay in the buffer, where they can be looked at. */
		if (!flame_svg(f, &o, &out) && !out.written)
			check_svg(&out, a);
		out_release(&out);
	}
	o.min_width = how & 2 ? 1 : -1;
	o.total = how & 1 ? 1e6L : 0;
	if (!out_init(&out, null)) {
		if (!flame_page(f, &o, &out) && !out.written)
			check_page(&out);
		out_release(&out);
	}
	src_free(s);
	flame_free(f);
	return 0;
}
