/*
 * What the latency tracers print (wakeup, irqsoff, ...): a buffer that is text, not pages. It is
 * read as the text that it is (ftext/), as a recording beside the one that it is in: one source
 * more.
 */
#include "tracedat/parts.h"

#include "base/err.h"
#include "base/src.h"
#include "ftext/ftext.h"

int trace_text(struct trace *t, struct src *s)
{
	int rc = 0;

	/* Where the recording is described, there is no account, and no events are wanted. */
	if (!t->account) {
		src_free(s);
		return 0;
	}
	/* What a printer prints before and after the text. */
	rc = trace_blob(t, PS_BLOB_TEXT, NULL, 0, false);
	if (!rc)
		rc = ftext_decode(s, t->source + ++t->texts, t->w, t->d, t->account);
	src_free(s);
	if (rc == PP_ECUT || rc == PP_ECORRUPT) {
		trace_damage(t, rc, -1, "the text of the tracer is damaged");
		rc = 0;
	}
	return rc ? rc : trace_blob(t, PS_BLOB_TEXT, NULL, 0, true);
}

/* ---- of a file ---- */

struct pages {
	struct trace *t;
	struct trace_cpu cpu;
	const uint8_t *page;
	size_t left;
};

static int read_pages(void *ctx, void *to, size_t n, size_t *got)
{
	struct pages *p = ctx;
	int rc = 0;

	*got = 0;
	if (!p->left)
		rc = trace_next_page(p->t, &p->cpu, &p->page, &p->left);
	if (rc)
		return rc == PP_END ? 0 : rc;
	*got = p->left < n ? p->left : n;
	memcpy(to, p->page, *got);
	p->page += *got;
	p->left -= *got;
	return 0;
}

static void no_free(void *ctx)
{
	(void)ctx;
}

int trace_text_of_file(struct trace *t, struct trace_buffer *b, uint64_t offset, uint64_t size)
{
	struct pages p = {.t = t, .cpu = {.buffer = b, .offset = offset, .size = size}};
	struct src *s;
	int rc;

	b->page_size = TRACE_BLOCK;
	rc = src_from_layer(&s, (struct src_layer){read_pages, no_free, &p}, t->name);
	if (!rc)
		rc = trace_text(t, s);
	t->held -= p.cpu.block_cap;
	trace_cpu_release(&p.cpu);
	return rc;
}
