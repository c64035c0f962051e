/* The function graph tracer's calls and returns as trace-cmd draws them. */
#include "stream/text_trace.h"

#define INDENT	  2
#define DEPTH_MAX 512 /* deeper ones are drawn at this depth */
#define WIDTH	  7   /* of a duration */

/* A mark for calls that took long. */
static char mark(uint64_t ns)
{
	static const struct {
		uint64_t above;
		char mark;
	} marks[] = {{1000000000, '$'}, {1000000, '#'}, {100000, '!'}, {10000, '+'}};

	for (size_t i = 0; i < sizeof(marks) / sizeof(marks[0]); i++)
		if (ns > marks[i].above)
			return marks[i].mark;
	return ' ';
}

static void add_duration(struct buf *b, uint64_t ns)
{
	size_t start, len;

	buf_addc(b, mark(ns));
	buf_addc(b, ' ');
	start = b->len;
	buf_add_u64(b, ns / 1000, 0, ' ');
	if (b->len - start < WIDTH) {
		buf_addc(b, '.');
		buf_add_u64(b, ns % 1000, 3, '0');
	}
	len = b->len - start;
	buf_adds(b, " us ");
	if (len < WIDTH)
		buf_fill(b, ' ', WIDTH - len);
	buf_adds(b, "|  ");
}

static void add_indent(struct buf *b, uint64_t depth)
{
	buf_fill(b, ' ', (size_t)(depth < DEPTH_MAX ? depth : DEPTH_MAX) * INDENT);
}

void text_graph_entry(struct buf *b, const struct graph_call *entry, const char *name,
		      const struct graph_call *ret)
{
	if (ret)
		add_duration(b, ret->rettime - ret->calltime);
	else
		buf_adds(b, "             |  ");
	add_indent(b, entry->depth);
	if (name)
		buf_add_safe(b, name, strlen(name));
	else
		buf_add_hex(b, entry->func, 0, ' ');
	buf_adds(b, ret ? "();" : "() {");
}

void text_graph_exit(struct buf *b, const struct graph_call *ret)
{
	add_duration(b, ret->rettime - ret->calltime);
	add_indent(b, ret->depth);
	buf_addc(b, '}');
}
