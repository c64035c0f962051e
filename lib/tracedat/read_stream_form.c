/*
 * The stream form: what pcap-ftrace writes to a pipe, section by section, while it records. See
 * perfpipe-formats(7).
 *
 * Pages come round by round. What was in the buffers when a round began has come when it ends. So
 * all events up to the newest time of the round before it have: these are written in order of time,
 * the others wait. A round without pages tells that there is nothing else.
 */
#include "tracedat/parts.h"

#include "base/err.h"
#include "base/src.h"

#include <stdlib.h>

#define STEP (1u << 20) /* bytes of a section that are read at once */

struct live {
	struct trace *t;
	struct trace_heap heap;
	struct buf content;
	uint64_t limit;	 /* up to this time all is there */
	uint64_t newest; /* time of a page of this round */
	uint64_t pages;	 /* bytes of this round */
	uint64_t offset; /* of the section, for messages */
	bool begun;	 /* pages have come */
	bool whole;	 /* the end has */
};

int trace_take(struct src *s, struct buf *b, uint64_t n)
{
	int rc = 0;

	while (n && !rc) {
		size_t step = n < STEP ? (size_t)n : STEP;

		if (buf_reserve(b, step))
			return b->err;
		rc = src_read_all(s, b->data + b->len, step);
		if (rc)
			return rc == PP_END ? PP_ECUT : rc;
		b->len += step;
		n -= step;
	}
	return rc;
}

static int content(struct live *l, struct tin *in, uint64_t size)
{
	int rc;

	if (size > TRACE_SECTION_MAX)
		return PP_ELIMIT;
	buf_reset(&l->content);
	rc = trace_take(l->t->src, &l->content, size);
	tin_mem(in, l->t, l->content.data, l->content.len);
	return rc;
}

/* ---- what comes before the events ---- */

static int begin_events(struct live *l)
{
	int rc = 0;

	if (l->begun)
		return 0;
	l->begun = true;
	if (!l->t->announced)
		rc = trace_announce(l->t);
	if (!rc)
		rc = trace_begin_events(l->t);
	return rc;
}

static int options(struct live *l, struct tin *in)
{
	return l->begun || l->t->announced ? PP_ECORRUPT : trace_options6(l->t, in);
}

static int metadata(struct live *l, unsigned id, uint64_t size)
{
	struct trace *t = l->t;
	struct tin in;
	int rc = content(l, &in, size);

	if (rc)
		return rc;
	if (id == TRACE_OPT_DONE)
		rc = options(l, &in);
	else if (id != TRACE_OPT_HEADER_INFO && !t->announced)
		rc = trace_announce(t);
	if (!rc && id != TRACE_OPT_DONE)
		rc = trace_content(t, &in, id);
	if (!rc || rc == PP_ENOMEM || t->w->err)
		return rc;
	trace_damage(t, PP_ECORRUPT, (int64_t)l->offset, "a section is damaged: %s",
		     pp_strerror(rc));
	return 0;
}

/* ---- events ---- */

/* The CPU of a buffer; one that has come later is new. */
static int find_cpu(struct trace *t, uint32_t buffer, uint32_t cpu, uint32_t *index)
{
	if (buffer >= t->nbuffers || cpu >= TRACE_CPUS_MAX)
		return PP_ECORRUPT;
	for (*index = 0; *index < t->ncpus; ++*index)
		if (t->cpus[*index].cpu == cpu && t->cpus[*index].buffer == &t->buffers[buffer])
			return 0;
	return trace_add_cpu(t, &t->buffers[buffer], cpu, 0, 0);
}

static int pages(struct live *l, uint64_t size)
{
	struct trace *t = l->t;
	uint8_t head[8];
	struct trace_cpu *c;
	uint32_t index;
	size_t at;
	int rc = begin_events(l);

	if (!rc && size < sizeof(head))
		rc = PP_ECORRUPT;
	if (!rc)
		rc = src_read_all(t->src, head, sizeof(head));
	if (!rc)
		rc = find_cpu(t, (uint32_t)trace_number(t, head, 4),
			      (uint32_t)trace_number(t, head + 4, 4), &index);
	if (rc)
		return rc == PP_END ? PP_ECUT : rc;
	size -= sizeof(head);
	c = &t->cpus[index];
	if (c->buffer->page_size < t->header_size || c->buffer->page_size > TRACE_PAGE_MAX)
		return PP_ECORRUPT;
	if (t->held + size > TRACE_HELD_MAX)
		return PP_ELIMIT;
	at = c->coming.len;
	rc = trace_take(t->src, &c->coming, size);
	/* The last page may be without what it does not use. */
	if (size % c->buffer->page_size)
		buf_fill(&c->coming, 0, c->buffer->page_size - size % c->buffer->page_size);
	rc = rc ? rc : c->coming.err;
	t->held += c->coming.len - at;
	l->pages += size;
	for (; at + t->header_size <= c->coming.len; at += c->buffer->page_size) {
		uint64_t stamp = trace_number(t, c->coming.data + at, 8);

		l->newest = stamp > l->newest ? stamp : l->newest;
	}
	return rc;
}

/* u32 buffer, then what its latency tracer prints. */
static int text(struct live *l, uint64_t size)
{
	struct trace *t = l->t;
	struct tin in;
	struct src *s;
	uint32_t buffer;
	int rc = begin_events(l);

	if (!rc)
		rc = content(l, &in, size);
	buffer = rc ? 0 : tin_u32(&in);
	if (!rc && (in.err || buffer >= t->nbuffers))
		rc = PP_ECORRUPT;
	if (!rc)
		rc = src_from_mem(&s, l->content.data + 4, l->content.len - 4, t->name);
	return rc ? rc : trace_text(t, s);
}

static int round_end(struct live *l)
{
	int rc = begin_events(l);

	if (!rc)
		rc = trace_heap_feed(l->t, &l->heap);
	if (!rc)
		rc = trace_heap_run(l->t, &l->heap, l->pages ? l->limit : UINT64_MAX);
	l->limit = l->newest;
	l->pages = 0;
	return rc;
}

/* ---- sections ---- */

static int skip(struct live *l, uint64_t size)
{
	int rc = 0;

	while (size && !rc) {
		uint64_t n = size < STEP ? size : STEP;

		buf_reset(&l->content);
		rc = trace_take(l->t->src, &l->content, n);
		size -= n;
	}
	return rc;
}

static int section(struct live *l)
{
	struct trace *t = l->t;
	uint8_t head[TRACE_SECTION_HEAD];
	unsigned id;
	uint64_t size;
	int rc;

	l->offset = src_tell(t->src);
	rc = src_read_all(t->src, head, sizeof(head));
	if (rc)
		return rc == PP_END ? PP_ECUT : rc;
	id = (unsigned)trace_number(t, head, 2);
	size = trace_number(t, head + 8, 8);
	switch (id) {
	case TRACE_LIVE_PAGES: return pages(l, size);
	case TRACE_OPT_BUFFER_TEXT: return text(l, size);
	case TRACE_LIVE_ROUND: rc = skip(l, size); return rc ? rc : round_end(l);
	case TRACE_LIVE_END: l->whole = true; return skip(l, size);
	case TRACE_OPT_DONE:
	case TRACE_OPT_HEADER_INFO:
	case TRACE_OPT_FTRACE_EVENTS:
	case TRACE_OPT_EVENT_FORMATS:
	case TRACE_OPT_KALLSYMS:
	case TRACE_OPT_PRINTK:
	case TRACE_OPT_CMDLINES:
	case TRACE_OPT_BTF_FILE: return metadata(l, id, size);
	default:
		diag_note(t->d, t->name, (int64_t)l->offset, "a section of kind %u: skipped", id);
		return skip(l, size);
	}
}

static int head(struct live *l)
{
	struct trace *t = l->t;
	uint8_t bytes[TRACE_MAGIC_LEN + sizeof(TRACE_LIVE) + 6];
	const uint8_t *p = bytes + TRACE_MAGIC_LEN + sizeof(TRACE_LIVE);
	int rc = src_read_all(t->src, bytes, sizeof(bytes));

	if (rc)
		return rc == PP_END ? PP_ECUT : rc;
	t->version = 7;
	rc = trace_byte_order(t, p);
	t->page_size = (uint32_t)trace_number(t, p + 2, 4);
	return rc;
}

bool trace_is_live(struct src *s)
{
	uint8_t bytes[TRACE_MAGIC_LEN + sizeof(TRACE_LIVE)];
	size_t got;

	return !src_peek(s, bytes, sizeof(bytes), &got) && got == sizeof(bytes) &&
	       !memcmp(bytes + TRACE_MAGIC_LEN, TRACE_LIVE, sizeof(TRACE_LIVE));
}

int trace_live(struct trace *t)
{
	struct live l = {.t = t};
	int rc = head(&l), last;

	while (!rc && !l.whole)
		rc = section(&l);
	if (rc && rc != PP_ENOMEM && !t->w->err)
		trace_damage(t, rc == PP_ECUT ? PP_ECUT : PP_ECORRUPT, (int64_t)l.offset, "%s",
			     rc == PP_ECUT ? "the recorder ended before the recording did"
					   : pp_strerror(rc));
	/* What has come is written, whatever happened then. */
	if (l.begun && rc != PP_ENOMEM && !t->w->err) {
		last = trace_heap_feed(t, &l.heap);
		if (!last)
			last = trace_heap_run(t, &l.heap, UINT64_MAX);
		rc = last;
	}
	trace_heap_release(&l.heap);
	buf_release(&l.content);
	return rc;
}
