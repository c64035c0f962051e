/*
 * Counts in an event stream, or in a perf.data that is decoded first: in perf stat's columns, as
 * perf script lists them, and as tables. What is printed stays in proportion to the input.
 */
#include "base/err.h"
#include "count/recorded_counts.h"
#include "input/input.h"
#include "table/count_table.h"

#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#define PRINTED_MAX (64u << 20) /* bytes, for an input of a few kB */

static int collect(void *ctx, uint8_t *bytes, size_t n)
{
	buf_add(ctx, bytes, n);
	return ((struct buf *)ctx)->err;
}

/* The stream that pdecode would make. */
static void decode(const uint8_t *data, size_t size, struct buf *stream)
{
	struct ps_end end = {0};
	struct swriter w;
	struct src *s;
	struct out out;

	if (out_init_fn(&out, collect, stream))
		return;
	swriter_init(&w, &out);
	swriter_header(&w);
	if (!src_from_mem(&s, data, size, "fuzz")) {
		end.status = (uint32_t)input_status(input_decode(s, 1, &w, NULL, &end));
		swriter_end(&w, &end);
	}
	out_close(&out);
	out_release(&out);
}

static int add_round(void *ctx, const struct counts *c, uint64_t interval, uint64_t elapsed)
{
	return count_table_add(ctx, c, interval, elapsed);
}

static void read_counts(const uint8_t *data, size_t size, enum count_view view,
			struct tables *tables)
{
	const struct ps_record *rec;
	struct count_reader *cr;
	struct buf text = BUF_INIT;
	struct sreader *r;
	struct src *s;

	if (count_reader_new(&cr, view))
		return;
	if (tables)
		count_reader_on_round(cr, add_round, tables);
	if (!src_from_mem(&s, data, size, "stream") && !sreader_new(&r, s, SREADER_EVENTS, NULL)) {
		while (!sreader_next(r, &rec))
			if (count_reader_take(cr, r, rec, &text))
				break;
		sreader_free(r);
	}
	if (text.len > PRINTED_MAX || (text.len && memchr(text.data, 0, text.len)))
		abort();
	buf_release(&text);
	count_reader_free(cr);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct buf stream = BUF_INIT;
	struct tables tables;

	if (size < sizeof(PS_MAGIC) || memcmp(data, PS_MAGIC, sizeof(PS_MAGIC) - 1) != 0) {
		decode(data, size, &stream);
		data = stream.data;
		size = stream.len;
	}
	tables_init(&tables);
	if (size) {
		read_counts(data, size, COUNT_VIEW_TABLE, NULL);
		read_counts(data, size, COUNT_VIEW_RAW, NULL);
		read_counts(data, size, COUNT_VIEW_TABLE, &tables);
	}
	tables_release(&tables);
	buf_release(&stream);
	return 0;
}
