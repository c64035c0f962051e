/*
 * pconv: every reader by what the bytes are, or as "collapsed" text, which no bytes tell, if they
 * begin with a blank; and a writer, chosen by how many they are. What is
 * written in a format that is read, too, is read back, with as many samples.
 */
#include "base/err.h"
#include "base/out.h"
#include "conv/parts.h"

#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static int collect(void *ctx, uint8_t *bytes, size_t n)
{
	buf_add(ctx, bytes, n);
	return ((struct buf *)ctx)->err;
}

/* Converts; the account tells how many samples there were. 0, PP_ECUT or an error. */
static int convert(const void *bytes, size_t n, const struct conv_writer *w, struct buf *to,
		   struct conv_account *account)
{
	static const char blank = ' ';
	const struct conv_format *from =
		n && !memcmp(bytes, &blank, 1) ? conv_format_named("collapsed") : NULL;
	struct conv c = {.to = conv_format_named("sqlite")};
	struct out out;
	struct src *s;
	int rc, ended;

	if (out_init_fn(&out, collect, to) || src_from_mem(&s, bytes, n, "fuzz"))
		abort();
	c.out = &out;
	rc = conv_begin(&c, w);
	if (rc)
		src_free(s);
	else
		rc = conv_read(&c, from, s);
	ended = conv_end(&c, rc);
	rc = rc ? rc : ended;
	if (out_flush(&out) && !rc)
		rc = PP_ENOMEM;
	*account = c.account;
	out_release(&out);
	conv_release(&c);
	return rc;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static const struct {
		const struct conv_writer *writer;
		bool read, counts; /* it is read, and has as many samples then */
	} formats[] = {{&conv_to_stream, true, true},	   {&conv_to_pprof, true, false},
		       {&conv_to_speedscope, true, false}, {&conv_to_firefox, true, false},
		       {&conv_to_callgrind, true, false},  {&conv_to_sqlite, false, false},
		       {&conv_to_chrome, true, false},	   {&conv_to_perfetto, false, false}};

	/* One for each input: all of them would take ten times as long. */
	for (size_t i = size % (sizeof(formats) / sizeof(formats[0])), once = 1; once; once = 0) {
		struct conv_account first, again;
		struct buf made = BUF_INIT, back = BUF_INIT;
		int rc = convert(data, size, formats[i].writer, &made, &first);

		if ((!rc || rc == PP_ECUT) && formats[i].read && first.taken) {
			rc = convert(made.data, made.len, &conv_to_stream, &back, &again);
			if (rc && rc != PP_ECUT)
				abort();
			if (formats[i].counts && again.samples != first.taken)
				abort();
		}
		buf_release(&made);
		buf_release(&back);
	}
	return 0;
}
