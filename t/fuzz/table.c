/*
 * The reader of the tables of phist and plat. What it takes must come out in all forms, be drawn,
 * and be the same when it is read and written again.
 */
#include "base/buf.h"
#include "draw/chart.h"
#include "table/table.h"

#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static int collect(void *ctx, uint8_t *bytes, size_t n)
{
	buf_add(ctx, bytes, n);
	return 0;
}

static int read_from(struct tables *ts, const void *bytes, size_t len)
{
	struct src *s;
	int rc = src_from_mem(&s, bytes, len, "fuzz");

	if (rc)
		return rc;
	rc = tables_read(ts, s, NULL);
	src_free(s);
	return rc;
}

/* Sorted by the keys: that of equal counts is then the same, too. */
static int write_to(struct tables *ts, struct buf *b, enum table_form form)
{
	const struct table_opts o = {.form = form, .draw = true};
	struct out out;
	int rc = out_init_fn(&out, collect, b);

	for (uint32_t i = 0; i < ts->n && !rc; i++)
		rc = table_sort(ts->v[i], ts->v[i]->nkeys ? ts->v[i]->keys[0].name : NULL);
	if (!rc)
		rc = tables_write(ts, &o, &out);
	if (!rc)
		rc = out_flush(&out);
	out_release(&out);
	return rc;
}

/* Every attribute's number is one; the text between the tags may say anything. */
static void check_attributes(const char *svg)
{
	while ((svg = strchr(svg, '<'))) {
		const char *end = strchr(svg, '>');

		for (const char *p = svg; end && (p = strstr(p, "=\"")) && p < end; p += 2)
			if (!strncmp(p + 2, "nan", 3) || !strncmp(p + 2, "inf", 3) ||
			    !strncmp(p + 2, "-nan", 4) || !strncmp(p + 2, "-inf", 4))
				abort();
		svg++;
	}
}

static void draw(struct tables *ts, enum chart_view view)
{
	struct chart_opts o = CHART_OPTS_INIT;
	struct buf b = BUF_INIT;
	struct out out;

	o.view = view;
	if (!out_init_fn(&out, collect, &b)) {
		if (!chart_svg(ts, &o, &out) && out_flush(&out))
			abort();
		check_attributes(buf_str(&b));
		out_release(&out);
	}
	buf_release(&b);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct tables ts, back;
	struct buf a = BUF_INIT, b = BUF_INIT, c = BUF_INIT;

	tables_init(&ts);
	tables_init(&back);
	read_from(&ts, data, size);
	if (write_to(&ts, &a, size % 2 ? TABLE_FORM_TEXT : TABLE_FORM_JSON))
		abort();
	if (ts.n && size > 2 && size % 3)
		draw(&ts, (enum chart_view)((size + data[size - 2]) % (CHART_HEAT + 1)));
	if (write_to(&ts, &b, TABLE_FORM_TSV))
		abort();
	/*
	 * What has been read partly says so, and cannot be told from what is whole in any other
	 * way.
	 */
	if (ts.n) {
		read_from(&back, b.data, b.len);
		if (write_to(&back, &c, TABLE_FORM_TSV) || b.len != c.len ||
		    memcmp(b.data, c.data, b.len) != 0)
			abort();
	}
	tables_release(&ts);
	tables_release(&back);
	buf_release(&a);
	buf_release(&b);
	buf_release(&c);
	return 0;
}
