/*
 * Files of version 7 that were cut off. The options that tell where the pages of each CPU are come
 * after these pages; without them, the sections are found one after the other, and the CPUs in
 * them by what the kernel counted of each (a CPUSTAT option, before the pages), by the chunks of
 * what is packed, and by times: those of a CPU do not go back from one page to the next.
 */
#include "tracedat/parts.h"

#include "base/err.h"

#include <stdio.h>
#include <stdlib.h>

#define SECTIONS_MAX 65536 /* of a file */
#define WORD	     32	   /* bytes of a name that is made up */

/* ---- CPUs ---- */

/* A buffer whose CPUs are looked for. */
struct find {
	struct trace *t;
	struct trace_buffer *b;
	uint32_t number; /* of the buffer in the counts */
	uint32_t next;	 /* in the counts: where to look for the next CPU */
	uint32_t guessed;
};

/* The next CPU that had events; NULL: it was not counted. */
static const struct trace_count *next_count(struct find *f)
{
	const struct trace_counts *v = &f->t->counts;

	for (; f->next < v->n; f->next++)
		if (v->v[f->next].buffer == f->number && v->v[f->next].events)
			return &v->v[f->next++];
	return NULL;
}

static int add(struct find *f, const struct trace_count *count, uint64_t offset, uint64_t size)
{
	uint32_t cpu = count ? count->cpu : f->b->n;

	if (!size)
		return 0;
	f->guessed += !count;
	return trace_add_cpu(f->t, f->b, cpu, offset, size);
}

static uint64_t aligned(uint64_t offset, uint64_t page)
{
	return (offset + page - 1) / page * page;
}

/* Pages: of each CPU one after the other, without anything between them. */
static int plain_cpus(struct find *f, uint64_t at, uint64_t end)
{
	uint64_t page = f->b->page_size, begin = aligned(at, page), last = 0, events = 0;
	const struct trace_count *count = next_count(f);
	int rc = 0;

	for (at = begin; at < end && !rc; at += page) {
		struct trace_page_span span;
		struct tin in;
		const uint8_t *p;

		tin_file(&in, f->t, at, page);
		p = tin_bytes(&in, in.end - in.pos);
		if (p && in.end - at >= f->t->header_size) {
			trace_page_span(f->t, p, in.end - at, &span);
			if (at > begin &&
			    (span.first < last || (count && events == count->events))) {
				rc = add(f, count, begin, at - begin);
				count = next_count(f);
				begin = at;
				events = 0;
			}
			last = span.last;
			events += span.events;
		}
		rc = in.err ? in.err : rc;
		tin_release(&in);
	}
	return rc || begin >= end ? rc : add(f, count, begin, end - begin);
}

/* Of each CPU the number of its chunks, and these; the next one begins at a page. */
static int packed_cpus(struct find *f, uint64_t at, uint64_t end)
{
	uint64_t page = f->b->page_size;
	int rc = 0;

	for (at = aligned(at, page); at < end && !rc; at = aligned(at, page)) {
		uint64_t begin = at;
		uint32_t chunks;
		struct tin in;

		tin_file(&in, f->t, at, end - at);
		chunks = tin_u32(&in);
		while (chunks-- && !in.err) {
			uint32_t n = tin_u32(&in);

			tin_u32(&in);
			if (!in.err && n > in.end - in.pos)
				in.err = PP_ECUT;
			in.pos += in.err ? 0 : n;
		}
		at = in.err ? end : in.pos;
		rc = in.err && in.err != PP_ECUT ? in.err
						 : add(f, next_count(f), begin, at - begin);
		tin_release(&in);
	}
	return rc;
}

/* ---- sections ---- */

struct section {
	uint16_t id, flags;
	uint64_t at, content, end; /* its head, what follows it, the next one */
};

/* False: there is none. A size that is missing, or goes too far, is that of what is left. */
static bool section_at(struct trace *t, uint64_t at, struct section *s)
{
	struct tin in;
	uint64_t size;

	tin_file(&in, t, at, TRACE_SECTION_HEAD);
	s->at = at;
	s->id = tin_u16(&in);
	s->flags = tin_u16(&in);
	tin_u32(&in);
	size = tin_u64(&in);
	s->content = in.pos;
	if (!size || size > t->size - in.pos)
		size = t->size - in.pos;
	s->end = s->content + size;
	tin_release(&in);
	return !in.err && s->id < TRACE_OPT_KNOWN;
}

static bool is_buffer(const struct section *s)
{
	return s->id == TRACE_OPT_BUFFER || s->id == TRACE_OPT_BUFFER_TEXT;
}

static bool known(const struct trace *t, const struct section *s)
{
	for (uint32_t i = 0; i < t->nbuffers; i++)
		if (t->buffers[i].offset == s->at)
			return true;
	return false;
}

static const char *buffer_name(struct trace *t, uint32_t number)
{
	char text[WORD];

	if (!number)
		return "";
	if (number <= t->counts.nbuffers)
		return t->counts.names[number - 1];
	snprintf(text, sizeof(text), "buffer %u", number + 1);
	return arena_dup(&t->arena, text, strlen(text));
}

static int find_buffer(struct trace *t, const struct section *s, uint32_t number, uint32_t *guessed)
{
	struct find f = {.t = t, .number = number};
	const char *name = buffer_name(t, number);
	uint32_t page = t->page_size;
	int rc = name ? trace_add_buffer(t, name, &f.b) : PP_ENOMEM;

	if (rc)
		return rc;
	f.b->offset = s->at;
	f.b->clock = t->clock ? t->clock : "";
	f.b->text = s->id == TRACE_OPT_BUFFER_TEXT;
	if (f.b->text || page < t->header_size || page > TRACE_PAGE_MAX)
		return 0;
	rc = s->flags & TRACE_SECTION_PACKED ? packed_cpus(&f, s->content, s->end)
					     : plain_cpus(&f, s->content, s->end);
	*guessed += f.guessed;
	return rc;
}

void trace_find_sections(struct trace *t, uint64_t from)
{
	struct section s;

	for (int i = 0; i < SECTIONS_MAX && section_at(t, from, &s); i++, from = s.end)
		if (s.id >= TRACE_OPT_HEADER_INFO && !is_buffer(&s) && !t->sections[s.id])
			t->sections[s.id] = s.at;
}

int trace_find_buffers(struct trace *t, uint64_t from)
{
	uint32_t number = 0, found = 0, guessed = 0;
	struct section s;
	int rc = 0;

	for (int i = 0; i < SECTIONS_MAX && !rc && section_at(t, from, &s); i++, from = s.end) {
		if (!is_buffer(&s))
			continue;
		if (!known(t, &s)) {
			found++;
			rc = find_buffer(t, &s, number, &guessed);
		}
		number++;
	}
	if (found)
		diag_warn(t->d, t->name, -1,
			  "the events of %u buffer%s were found by their pages%s", found,
			  found == 1 ? "" : "s",
			  guessed ? ", not whose they are: CPUs have numbers in their order" : "");
	return rc;
}
