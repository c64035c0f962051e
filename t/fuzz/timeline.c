/*
 * psvg's reader of timelines and its two writers; after a timeline there may be a stream with
 * critical paths. What the page has between its elements of data
 * must not end them, whatever the names are.
 */
#include "draw/timeline.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check_page(const struct out *out, uint64_t marks)
{
	const char *p = (const char *)out->data, *end = p + out->len;
	unsigned scripts = 0;

	for (; (p = memmem(p, (size_t)(end - p), "</script>", 9)); p += 9)
		scripts++;
	/* What the page is about, its eight columns, slices of fields, and its script. */
	if (scripts != 10 + (marks + TIMELINE_SLICE - 1) / TIMELINE_SLICE)
		abort();
}

static void check_svg(const struct out *out)
{
	const char *p = (const char *)out->data, *end = p + out->len;
	unsigned rects = 0;

	for (; (p = memmem(p, (size_t)(end - p), "<rect ", 6)); p += 6)
		rects++;
	if (rects > TIMELINE_RECTS_MAX + 1)
		abort();
}

/* The paths of a stream. */
static void read_paths(struct timeline *t, const uint8_t *data, size_t size)
{
	struct src *s;

	if (!src_from_mem(&s, data, size, "paths"))
		timeline_read_path(t, s, NULL);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct timeline_opts o = {.title = "fuzz", .width = 300}; /* fewer cells take less time */
	const uint8_t *stream = memmem(data, size, "PPSTREAM", 8);
	size_t lines = stream ? (size_t)(stream - data) : size;
	static int null = -1;
	struct timeline *t;
	struct out out;
	struct src *s;

	if (null < 0)
		null = open("/dev/null", O_WRONLY | O_CLOEXEC);
	if (timeline_new(&t))
		return 0;
	if (!src_from_mem(&s, data, lines, "fuzz")) {
		for (int svg = 0; !timeline_read(t, s, NULL) && svg < 2; svg++) {
			if (stream && !svg)
				read_paths(t, stream, size - lines);
			if (out_init(&out, null))
				break;
			if (!(svg ? timeline_svg(t, &o, &out) : timeline_page(t, &o, &out)) &&
			    !out.written)
				svg ? check_svg(&out)
				    : check_page(&out, timeline_account(t)->marks);
			out_release(&out);
		}
		src_free(s);
	}
	timeline_free(t);
	return 0;
}
