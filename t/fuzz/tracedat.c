/*
 * The decoder of trace.dat (decode.h). What a recording says about itself is printed, too, and of
 * some inputs, or with FUZZ_TEXT in the environment of all, the text, which takes much longer:
 * libtraceevent loads its plugins, and a child tries each format. Of the stream form a file is
 * made.
 */
#include "decode.h"
#include "print/text.h"

#include <dirent.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check_sample(const struct sreader *r, const struct ps_sample *s)
{
	if (ps_sample_has(s, chain) && !sreader_chain(r, s->chain))
		abort();
}

#define TEXT_RARELY 64		/* inputs of which one is printed as text */
#define TEXT_MAX    (16u << 20) /* bytes of text: more is not looked at */

static int discard(void *ctx, uint8_t *bytes, size_t n)
{
	(void)bytes;
	*(uint64_t *)ctx += n;
	return *(uint64_t *)ctx > TEXT_MAX ? PP_EIO : 0;
}

static int collect(void *ctx, uint8_t *bytes, size_t n)
{
	buf_add(ctx, bytes, n);
	return ((struct buf *)ctx)->err;
}

/* How the text is printed differs from input to input. */
static void print_text(const uint8_t *data, size_t size, uint32_t sum)
{
	struct stext_opts o = {.form = sum & 1 ? STEXT_PERF : STEXT_JSON};
	struct ps_end end = {0};
	uint64_t printed = 0;
	struct stext *text;
	struct sreader *back;
	struct buf stream = BUF_INIT;
	struct swriter w;
	const struct ps_record *rec;
	struct src *s;
	struct out out, records;

	o.trace.raw = sum & 2;
	o.trace.no_plugins = sum & 4;
	o.trace.latency = sum & 8;
	o.trace.v34 = sum & 16;
	o.trace.diff = o.ns = sum & 32;
	if (src_from_mem(&s, data, size, "fuzz") || out_init_fn(&out, discard, &printed) ||
	    out_init_fn(&records, collect, &stream))
		abort();
	swriter_init(&w, &records);
	swriter_header(&w);
	input_decode(s, 1, &w, NULL, &end);
	swriter_end(&w, &end);
	out_flush(&records);
	if (stext_new(&text, &out, &o, NULL) || sreader_new_fed(&back, "x", STEXT_KEEP, NULL))
		abort();
	sreader_feed(back, stream.data, stream.len);
	while (!sreader_next(back, &rec))
		if (stext_record(text, back, rec))
			break;
	stext_free(text);
	sreader_free(back);
	out_release(&out);
	out_release(&records);
	buf_release(&stream);
}

static void describe(const uint8_t *data, size_t size, enum input_view view)
{
	struct input_show show = {.view = view};
	uint64_t printed = 0;
	struct src *s;
	struct out out;

	if (src_from_mem(&s, data, size, "fuzz") || out_init_fn(&out, discard, &printed))
		abort();
	input_describe(s, &show, &out, NULL);
	out_flush(&out);
	out_release(&out);
}

/* In a folder of its own, since names of files come from the input. */
static void to_file(const uint8_t *data, size_t size)
{
	char dir[] = "/tmp/perfpipe-fuzz.XXXXXX", path[sizeof(dir) + 300];
	struct trace_to_file o = {.path = path, .version = 6 + (size & 1)};
	const struct dirent *e;
	struct src *s;
	DIR *d;

	if (!mkdtemp(dir) || src_from_mem(&s, data, size, "fuzz"))
		abort();
	snprintf(path, sizeof(path), "%s/x", dir);
	trace_to_file(s, &o, NULL);
	src_free(s);
	d = opendir(dir);
	while (d && (e = readdir(d))) {
		snprintf(path, sizeof(path), "%s/%s", dir, e->d_name);
		unlink(path);
	}
	if (!d || closedir(d) || rmdir(dir))
		abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	uint32_t sum = 2166136261u;

	if (size < 10 || memcmp(data, "\x17\x08\x44tracing", 10) != 0)
		return 0;
	decode_and_check(data, size, SREADER_EVENTS | SREADER_CHAINS, check_sample);
	if (size > 17 && !memcmp(data + 10, "stream", 7))
		to_file(data, size);
	describe(data, size, INPUT_HEADER);
	describe(data, size, INPUT_DUMP);
	for (size_t i = 0; i < size; i++)
		sum = (sum ^ data[i]) * 16777619u;
	if (!(sum >> 8 & (TEXT_RARELY - 1)) || getenv("FUZZ_TEXT"))
		print_text(data, size, sum);
	return 0;
}
