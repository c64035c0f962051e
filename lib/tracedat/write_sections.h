/*
 * Writing a trace.dat, version 6 or 7.
 *
 *	struct twriter w;
 *	rc = twriter_begin(&w, "x.dat", &head, 7, 0, diag);
 *	rc = twriter_buffer(&w, "", "local", 4096, &main);
 *	rc = twriter_pages(&w, main, cpu, pages, n);	(repeatedly)
 *	rc = twriter_end(&w, &names, &stats);
 *	twriter_release(&w);
 *
 * The pages of each CPU are collected in a file of their own, PATH.cpuN or PATH.BUFFER.cpuN, as
 * trace-cmd does, and are copied to the recording at the end, packed if requested. In version 7
 * what is known at the beginning is from the start a complete recording without events: the reader
 * finds the pages beside it if the writer dies. All numbers are in the byte order of this machine.
 * Functions return 0, or an error code that was reported to the diag.
 */
#ifndef PP_TRACEDAT_WRITE_SECTIONS_H
#define PP_TRACEDAT_WRITE_SECTIONS_H

#include "base/buf.h"
#include "base/diag.h"
#include "tracedat/file_numbers.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

/* What a recording begins with. */
struct trace_head {
	/* The contents of sections, from TRACE_OPT_HEADER_INFO to TRACE_OPT_PRINTK. */
	struct buf sections[TRACE_OPT_PRINTK + 1 - TRACE_OPT_HEADER_INFO];
	struct buf options; /* those on the machine and the recorder, but not the clock */
	struct buf clock;   /* the text of trace_clock */
	uint32_t page_size;
	uint32_t cpu_count; /* the machine's */
};

static inline struct buf *trace_head_section(struct trace_head *h, unsigned id)
{
	return &h->sections[id - TRACE_OPT_HEADER_INFO];
}

/* Adds its options, and that of the clock. */
void trace_head_options(const struct trace_head *h, struct buf *b);

void trace_head_release(struct trace_head *h);

/* Numbers of the format. */
static inline void add_u16(struct buf *b, uint16_t v)
{
	buf_add(b, &v, sizeof(v));
}
static inline void add_u32(struct buf *b, uint32_t v)
{
	buf_add(b, &v, sizeof(v));
}
static inline void add_u64(struct buf *b, uint64_t v)
{
	buf_add(b, &v, sizeof(v));
}

/* The first bytes, up to the page size; version "6", "7", TRACE_LIVE. */
void trace_add_magic(struct buf *b, const char *version, uint32_t page_size);
void trace_add_option(struct buf *b, unsigned id, const void *data, size_t n);
void trace_add_section(struct buf *b, unsigned id, unsigned flags, uint64_t size);

/* The clock that is chosen in a text of trace_clock, "[local] global ...", with its NUL. */
void trace_add_clock(struct buf *b, const char *text);

struct twriter_part {
	int cpu;
	int fd;		   /* its pages; -1: none */
	uint64_t at, size; /* where they are in the recording */
};

struct twriter_buffer {
	const char *name; /* not owned; "": the main one */
	struct buf clock; /* its name */
	uint32_t page_size;
	struct twriter_part *parts;
	size_t n;
	struct buf text; /* what a latency tracer prints: the buffer has no pages */
	bool is_text;
	uint64_t at; /* its section (7) or its options (6) */
};

/* The option of version 7 that describes a buffer: its name, its clock, where its pages are. */
void trace_add_buffer_option(struct buf *options, const struct twriter_buffer *b);

struct twriter {
	const char *path, *from; /* from: the name that the files of pages are derived from */
	struct trace_head *head;
	struct diag *d;
	int fd;
	struct twriter_buffer *buffers;
	size_t n;
	bool keep; /* the files of pages already exist, and stay */
	unsigned version;
	int pack_level;
	uint64_t len;
	uint64_t link; /* version 7: where the place of the next options is written */
};

/* The head stays the caller's, until the end. pack_level: of zstd, 0: not packed. */
int twriter_begin(struct twriter *w, const char *path, struct trace_head *head, unsigned version,
		  int pack_level, struct diag *d);

/* The pages are those of FROM.cpuN, which stay: after twriter_begin. */
void twriter_from(struct twriter *w, const char *from);

/* Another buffer, with its own page size; the first one is the main one. */
int twriter_buffer(struct twriter *w, const char *name, const char *clock, uint32_t page_size,
		   size_t *index);
/* A CPU of a buffer, also without pages. */
int twriter_cpu(struct twriter *w, size_t buffer, int cpu);
/* Whole pages. */
int twriter_pages(struct twriter *w, size_t buffer, int cpu, const uint8_t *pages, size_t n);
/* The file that the pages of a CPU are appended to; -1: there is none yet. */
int twriter_file(struct twriter *w, size_t buffer, int cpu);
/* What a latency tracer prints, instead of pages. */
int twriter_text(struct twriter *w, size_t buffer, const char *text, size_t n);

/* names: lines "PID COMM". stats: options that tell what the kernel counted, or NULL. */
int twriter_end(struct twriter *w, const struct buf *names, const struct buf *stats);

/*
 * Calls fn for the files of pages that there are of a recording: by the names of the buffers, the
 * main one ("") first, and by CPUs. 0, or an error, or what fn returned.
 */
typedef int trace_part_fn(void *ctx, const char *buffer, int cpu);
int trace_parts(const char *file, trace_part_fn *fn, void *ctx);

void twriter_release(struct twriter *w);

#endif
