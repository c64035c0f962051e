/*
 * pdecode's reader of perf.data, to the event stream and through its text printer, and what it
 * tells of a recording. Whatever the input is: the stream that comes out is whole and
 * well-formed, so that its own reader finds nothing wrong with it, its samples are as many as its
 * END record says, and the exit status is one of those that are documented. Samples that
 * libtraceevent would print are left out: it crashes on formats that no kernel writes.
 */
#include "base/err.h"
#include "base/src.h"
#include "input/input.h"
#include "print/text.h"

#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static int collect(void *ctx, uint8_t *bytes, size_t n)
{
	buf_add(ctx, bytes, n);
	return ((struct buf *)ctx)->err;
}

static int discard(void *ctx, uint8_t *bytes, size_t n)
{
	(void)bytes;
	*(uint64_t *)ctx += n;
	return 0;
}

static void decode(const uint8_t *data, size_t size, struct buf *stream)
{
	struct ps_end end = {0};
	struct swriter w;
	struct src *s;
	struct out out;
	int rc;

	if (out_init_fn(&out, collect, stream))
		return;
	swriter_init(&w, &out);
	/* Half of the inputs to a packed stream, as pdecode writes it. */
	if (size % 2 && swriter_pack(&w, true))
		goto done;
	swriter_header(&w);
	if (!src_from_mem(&s, data, size, "fuzz")) {
		rc = input_decode(s, 1, &w, NULL, &end);
		end.status = (uint32_t)input_status(rc);
		if (end.status > PP_EXIT_FAIL)
			abort();
		swriter_end(&w, &end);
	}
done:
	swriter_release(&w);
	out_close(&out);
	out_release(&out);
}

static bool has_format(const struct sreader *r, const struct ps_record *rec)
{
	const struct ps_event *e =
		rec->type == PS_SAMPLE ? sreader_event(r, rec->sample.event) : NULL;

	return e && e->format.len;
}

static void read_back(const struct buf *stream, enum stext_form form)
{
	uint64_t written = 0, samples = 0;
	struct sreader *r;
	const struct ps_record *rec;
	struct stext *text;
	struct out out;
	struct src *s;
	int rc;

	if (out_init_fn(&out, discard, &written))
		return;
	if (!stext_new(&text, &out, &(struct stext_opts){.form = form}, NULL) &&
	    !src_from_mem(&s, stream->data, stream->len, "stream") &&
	    !sreader_new(&r, s, STEXT_KEEP, NULL)) {
		while (!(rc = sreader_next(r, &rec))) {
			samples += rec->type == PS_SAMPLE;
			if (form == STEXT_JSON || !has_format(r, rec))
				stext_record(text, r, rec);
		}
		if (rc != PP_END || samples != sreader_account(r)->samples)
			abort();
		sreader_free(r);
	}
	stext_free(text);
	out_release(&out);
}

/* --header and --dump: no more text than what the bytes and their limits allow. */
static void describe(const uint8_t *data, size_t size, enum input_view view)
{
	struct input_show show = {.view = view};
	uint64_t written = 0;
	struct out out;
	struct src *s;

	if (out_init_fn(&out, discard, &written))
		return;
	if (!src_from_mem(&s, data, size, "fuzz")) {
		int status = input_status(input_describe(s, &show, &out, NULL));

		out_flush(&out);
		if (status > PP_EXIT_FAIL || written > (UINT64_C(64) << 20) + 1000 * (uint64_t)size)
			abort();
	}
	out_release(&out);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct buf stream = BUF_INIT;

	describe(data, size, INPUT_HEADER);
	describe(data, size, INPUT_DUMP);
	decode(data, size, &stream);
	if (stream.len && !stream.err) {
		read_back(&stream, STEXT_PERF);
		read_back(&stream, STEXT_JSON);
	}
	buf_release(&stream);
	return 0;
}
