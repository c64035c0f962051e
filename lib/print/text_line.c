/* What the lines of all events of a trace.dat begin with, and the text in them. */
#include "print/tep_trace.h"
#include "print/text_trace.h"

#define NAME_WIDTH 20
#define COMM_WIDTH 16
#define COMM_SHORT 8 /* in the latency format */
#define DIFF_WIDTH 8

/* How many of the bytes are plain text, eight at a time. */
static size_t plain(const char *s, size_t n)
{
	const uint64_t ones = 0x0101010101010101, high = 0x80 * ones;
	size_t i = 0;

	for (; i + 8 <= n; i += 8) {
		uint64_t x;

		memcpy(&x, s + i, 8);
		/* Below ' ', above '~', or not ASCII. */
		if (((x - ' ' * ones) | (x + ones) | x) & high)
			break;
	}
	return i;
}

void text_line_text(struct buf *b, const char *s, size_t n)
{
	while (n) {
		size_t run = plain(s, n);

		while (run < n &&
		       ((s[run] >= ' ' && s[run] < 0x7f) || s[run] == '\n' || s[run] == '\t'))
			run++;
		buf_add(b, s, run);
		s += run;
		n -= run;
		for (run = 0; run < n && s[run] != '\n' && s[run] != '\t';)
			run++;
		buf_add_safe(b, s, run);
		s += run;
		n -= run;
	}
}

void text_line_prefix(struct buf *b, const struct text_page *page, const char *file,
		      const char *buffer)
{
	bool files = page->traces > 1;
	const char *name = *buffer || !files ? buffer : file;
	size_t len = strlen(name), width = page->buffer_width;

	if (!files && !page->buffers)
		return;
	if (files && page->file_width > width)
		width = page->file_width;
	if (len < width)
		buf_fill(b, ' ', width - len);
	buf_add_safe(b, name, len);
	buf_adds(b, len ? ": " : "  ");
}

static void add_decimal(struct buf *b, uint64_t v, uint64_t unit, int digits)
{
	buf_addc(b, ' ');
	buf_add_u64(b, v / unit, 5, ' ');
	buf_addc(b, '.');
	buf_add_u64(b, v % unit, digits, '0');
}

/*
 * The time, in microseconds unless ns are asked for. The difference is in the same unit, also of
 * ticks, which are no ns, but in ns when the recording does not name its clock: as trace-cmd has
 * it.
 */
static void add_time(struct buf *b, struct text_page *page, const struct stext_opts *o,
		     const struct text_line *l)
{
	uint64_t time = l->s->time, before = page->last_time, diff;
	size_t start;

	if (!o->ns)
		time = (time + 500) / 1000;
	diff = l->clock ? time : l->s->time;
	if (!l->name)
		buf_adds(b, TEXT_UNKNOWN);
	else if (l->ticks)
		buf_add_u64(b, l->s->time, 12, ' ');
	else
		add_decimal(b, time, o->ns ? 1000000000 : 1000000, o->ns ? 9 : 6);
	if (l->name)
		buf_addc(b, ':');
	page->last_time = diff;
	if (!o->trace.diff)
		return;
	buf_addc(b, ' ');
	start = b->len;
	if (before)
		buf_addf(b, "(+%lld)", (long long)(diff - before));
	if (b->len - start < DIFF_WIDTH)
		buf_fill(b, ' ', DIFF_WIDTH - (b->len - start));
}

/* The name of a sample's thread; where none was saved, that of other events. */
static const char *command(const struct text_line *l, size_t *len)
{
	const char *comm = l->s->comm ? sreader_string(l->r, l->s->comm, len) : NULL;

	if (!comm) {
		comm = tep_trace_comm(l->tep, l->s->tid);
		*len = strlen(comm);
	}
	return comm;
}

/* Command and thread. */
static void add_task(struct buf *b, const struct stext_opts *o, const struct text_line *l)
{
	struct text_task *task = &l->tasks->v[l->s->tid % TEXT_TASKS];
	size_t start = b->len, len, width = o->trace.latency ? COMM_SHORT : COMM_WIDTH;
	const char *comm;

	if (task->len && task->tid == l->s->tid && task->comm == l->s->comm) {
		buf_add(b, task->text, task->len);
		return;
	}
	comm = command(l, &len);
	if (len < width)
		buf_fill(b, ' ', width - len);
	buf_add_safe(b, comm, o->trace.latency && len > width ? width : len);
	len = b->len;
	buf_addc(b, '-');
	if (l->s->tid <= INT32_MAX)
		buf_add_u64(b, l->s->tid, 0, ' ');
	else
		buf_addf(b, "%d", (int)l->s->tid);
	if (b->len - len < 6)
		buf_fill(b, ' ', 6 - (b->len - len));
	len = b->len - start;
	if (!b->err && len <= sizeof(task->text) &&
	    (l->s->comm || tep_trace_knows(l->tep, l->s->tid))) {
		memcpy(task->text, b->data + start, len);
		task->tid = l->s->tid;
		task->comm = l->s->comm;
		task->len = (uint32_t)len;
	}
}

static void add_cpu(struct buf *b, const struct stext_opts *o, const struct text_line *l)
{
	bool latency = o->trace.latency;

	buf_adds(b, latency ? " " : " [");
	buf_add_u64(b, l->s->cpu, 3, latency ? ' ' : '0');
	if (!latency)
		buf_addc(b, ']');
}

/* Flags of the interrupts; trace-cmd 3.4 always prints them. */
static void add_flags(struct buf *b, const struct stext_opts *o, const struct text_line *l)
{
	if (o->trace.raw)
		buf_addf(b, "-0x%x", tep_trace_flags(l->tep, l->s));
	else if (!o->trace.latency)
		buf_addc(b, ' ');
	if (!o->trace.raw)
		buf_adds(b, l->name ? tep_trace_latency(l->tep, l->s, o->trace.v34) : TEXT_UNKNOWN);
}

void text_line_start(struct buf *b, struct text_page *page, const struct stext_opts *o,
		     const struct text_line *l)
{
	if (l->name) {
		add_task(b, o, l);
		add_cpu(b, o, l);
	} else {
		buf_adds(b, TEXT_UNKNOWN);
	}
	if (o->trace.latency || o->trace.v34)
		add_flags(b, o, l);
	add_time(b, page, o, l);
	if (l->name)
		buf_add(b, l->name, l->name_len);
	else
		text_line_name(b, "(NULL)");
}

void text_line_name(struct buf *b, const char *name)
{
	size_t len = strlen(name);

	buf_addc(b, ' ');
	buf_add_safe(b, name, len);
	buf_adds(b, ": ");
	if (len < NAME_WIDTH)
		buf_fill(b, ' ', NAME_WIDTH - len);
}
