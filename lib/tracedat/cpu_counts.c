/* What the kernel counted of each CPU, as the options of a trace.dat have it (CPUSTAT). */
#include "tracedat/parts.h"

#include "base/array.h"
#include "base/err.h"

#include <stdlib.h>

#define WORD 32 /* bytes of a number in a text */

static uint64_t number_after(const char *text, size_t len, const char *key)
{
	const char *p = memmem(text, len, key, strlen(key));
	char word[WORD] = "";

	if (!p)
		return 0;
	p += strlen(key);
	len -= (size_t)(p - text);
	memcpy(word, p, len < WORD - 1 ? len : WORD - 1);
	return strtoull(word, NULL, 10);
}

/* "\nBuffer: NAME\n\n" comes before the counts of a further buffer. */
static int count_buffer(struct trace_counts *v, struct arena *a, const char *text, size_t len)
{
	const char *name = memmem(text, len, "Buffer: ", 8), *end;

	if (!name || v->nbuffers >= TRACE_BUFFERS_MAX)
		return 0;
	name += 8;
	len -= (size_t)(name - text);
	end = memchr(name, '\n', len);
	if (!v->names)
		v->names = calloc(TRACE_BUFFERS_MAX, sizeof(*v->names));
	if (!v->names)
		return PP_ENOMEM;
	v->names[v->nbuffers] = arena_dup(a, name, end ? (size_t)(end - name) : len);
	return v->names[v->nbuffers++] ? 0 : PP_ENOMEM;
}

int trace_count(struct trace *t, const char *text, size_t len)
{
	struct trace_counts *v = &t->counts;
	struct trace_count *to;

	if (!memmem(text, len, "CPU: ", 5))
		return count_buffer(v, &t->arena, text, len);
	if (v->n >= TRACE_CPUS_MAX)
		return 0;
	to = array_widen(v->v, &v->cap, v->n, 16, sizeof(*to));
	if (!to)
		return PP_ENOMEM;
	v->v = to;
	v->v[v->n++] = (struct trace_count){
		.buffer = v->nbuffers,
		.cpu = (uint32_t)number_after(text, len, "CPU: "),
		/* Not all had been read by then. */
		.events = number_after(text, len, "read events: ") +
			  number_after(text, len, "entries: "),
	};
	return 0;
}
