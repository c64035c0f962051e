/* The function graph tracer's calls and returns as trace-cmd draws them. */
#include "print/text_trace.h"

#define INDENT	  2
#define DEPTH_MAX 512 /* deeper ones are drawn at this depth */
#define WIDTH	  7   /* of a duration */
#define ERRNO_MAX 4095

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

static void add_depth(struct buf *b, const struct stext_trace *o, const struct graph_call *c)
{
	if (o->depth)
		buf_addf(b, " (%lld)", (long long)c->depth);
}

/* Of trace-cmd 3.4: error codes in decimal, all else in hexadecimal. */
static void add_retval(struct buf *b, const struct stext_trace *o, const struct graph_call *ret)
{
	bool error = ret->retval >= (uint64_t)-ERRNO_MAX;

	if (!o->v34 || !ret->has_retval || o->no_retval)
		return;
	if (o->retval_dec || (error && !o->retval_hex))
		buf_addf(b, " (ret=%lld)", (long long)ret->retval);
	else
		buf_addf(b, " (ret=0x%llx)", (unsigned long long)ret->retval);
}

void text_graph_entry(struct buf *b, const struct stext_trace *o, const struct graph_call *entry,
		      const struct graph_names *names, const struct graph_call *ret)
{
	const char *caller = o->v34 ? names->caller : NULL;

	if (ret)
		add_duration(b, ret->rettime - ret->calltime);
	else
		buf_adds(b, "             |  ");
	add_indent(b, entry->depth);
	if (names->func)
		buf_add_safe(b, names->func, strlen(names->func));
	else
		buf_add_hex(b, entry->func, 0, ' ');
	buf_addc(b, '(');
	if (o->v34 && names->func && names->args)
		buf_add_safe(b, buf_str(names->args), names->args->len);
	buf_adds(b, ret ? ");" : ")");
	if (ret)
		add_depth(b, o, entry);
	if (caller) {
		buf_adds(b, " /* <-");
		buf_add_safe(b, caller, strlen(caller));
		buf_adds(b, " */");
	}
	if (ret) {
		add_retval(b, o, ret);
	} else {
		buf_adds(b, " {");
		add_depth(b, o, entry);
	}
}

void text_graph_exit(struct buf *b, const struct stext_trace *o, const struct graph_call *ret,
		     const char *func)
{
	add_duration(b, ret->rettime - ret->calltime);
	add_indent(b, ret->depth);
	buf_addc(b, '}');
	if (o->tail && !func)
		return; /* as trace-cmd does */
	if (o->tail) {
		buf_adds(b, " /* ");
		buf_add_safe(b, func, strlen(func));
		buf_adds(b, " */");
	}
	add_depth(b, o, ret);
	add_retval(b, o, ret);
}
