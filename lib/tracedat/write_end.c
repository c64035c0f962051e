/* The end of a trace.dat: the pages come to it, and the options that tell where they are. */
#include "tracedat/write_parts.h"

#include "base/err.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zstd.h>

#define COPY_BYTES (1u << 20)
#define PACK_BYTES (256u << 10) /* of pages that are packed together */

/* Up to a multiple of n. */
static int align(struct twriter *w, uint64_t n)
{
	struct buf zero = BUF_INIT;
	int rc = 0;

	if (w->len % n) {
		buf_fill(&zero, 0, n - w->len % n);
		rc = twriter_add_buf(w, &zero);
	}
	buf_release(&zero);
	return rc;
}

static int copy_plain(struct twriter *w, int part, uint64_t size, uint8_t *bytes)
{
	uint64_t at = 0;
	int rc = 0;

	while (at < size && !rc) {
		size_t want = size - at < COPY_BYTES ? (size_t)(size - at) : COPY_BYTES;
		ssize_t n = pread(part, bytes, want, (off_t)at);

		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			return twriter_failed(w, n ? errno : EIO);
		rc = twriter_add(w, bytes, (size_t)n);
		at += (uint64_t)n;
	}
	return rc;
}

/* Chunks: their number, then of each its packed size, its size, its bytes. */
static int copy_packed(struct twriter *w, int part, uint64_t size, uint8_t *bytes)
{
	uint32_t chunks = (uint32_t)((size + PACK_BYTES - 1) / PACK_BYTES);
	size_t cap = ZSTD_compressBound(PACK_BYTES);
	ZSTD_CCtx *z = ZSTD_createCCtx();
	uint8_t *packed = malloc(cap + 8);
	int rc = z && packed ? twriter_add(w, &chunks, sizeof(chunks)) : twriter_failed(w, ENOMEM);

	if (z)
		ZSTD_CCtx_setParameter(z, ZSTD_c_compressionLevel, w->pack_level);
	for (uint64_t at = 0; packed && at < size && !rc; at += PACK_BYTES) {
		uint32_t n = size - at < PACK_BYTES ? (uint32_t)(size - at) : PACK_BYTES, len;
		size_t got;

		if (pread(part, bytes, n, (off_t)at) != (ssize_t)n) {
			rc = twriter_failed(w, errno ? errno : EIO);
			break;
		}
		got = ZSTD_compress2(z, packed + 8, cap, bytes, n);
		if (ZSTD_isError(got)) {
			rc = twriter_failed(w, ENOMEM);
			break;
		}
		len = (uint32_t)got;
		memcpy(packed, &len, 4);
		memcpy(packed + 4, &n, 4);
		rc = twriter_add(w, packed, got + 8);
	}
	ZSTD_freeCCtx(z);
	free(packed);
	return rc;
}

static int copy_part(struct twriter *w, uint32_t page_size, struct twriter_part *p, uint8_t *bytes)
{
	struct stat st;
	/* Readers map pages; where they are packed, trace-cmd wants it so, too. */
	int rc = align(w, page_size);

	p->at = w->len;
	if (rc || p->fd < 0)
		return rc;
	if (fstat(p->fd, &st))
		return twriter_failed(w, errno);
	if (!st.st_size)
		return 0;
	rc = w->pack_level ? copy_packed(w, p->fd, (uint64_t)st.st_size, bytes)
			   : copy_plain(w, p->fd, (uint64_t)st.st_size, bytes);
	/* Of packed pages it is the bytes after the number of chunks. */
	p->size = w->pack_level ? w->len - p->at - 4 : (uint64_t)st.st_size;
	return rc;
}

/* The pages of all CPUs of a buffer, or its text. */
static int copy_buffer(struct twriter *w, struct twriter_buffer *b)
{
	uint8_t *bytes = malloc(COPY_BYTES);
	int rc = bytes ? 0 : twriter_failed(w, ENOMEM);

	if (!rc && b->is_text)
		rc = twriter_add_buf(w, &b->text);
	for (size_t i = 0; i < b->n && !rc && !b->is_text; i++)
		rc = copy_part(w, b->page_size, &b->parts[i], bytes);
	free(bytes);
	return rc;
}

static void add_names(struct buf *b, const struct buf *names)
{
	add_u64(b, names->len);
	buf_join(b, names);
}

/* ---- version 7 ---- */

static int buffer7(struct twriter *w, struct twriter_buffer *b, struct buf *options)
{
	bool packed = w->pack_level && !b->is_text;
	struct buf head = BUF_INIT;
	uint64_t size;
	int rc;

	b->at = w->len;
	trace_add_section(&head, b->is_text ? TRACE_OPT_BUFFER_TEXT : TRACE_OPT_BUFFER,
			  packed ? TRACE_SECTION_PACKED : 0, 0);
	rc = twriter_add_buf(w, &head);
	buf_release(&head);
	if (!rc)
		rc = copy_buffer(w, b);
	size = w->len - b->at - TRACE_SECTION_HEAD;
	if (!rc)
		rc = twriter_patch(w, b->at + 8, &size, sizeof(size));
	trace_add_buffer_option(options, b);
	return rc;
}

static int end7(struct twriter *w, const struct buf *names, const struct buf *stats)
{
	struct buf options = BUF_INIT, b = BUF_INIT;
	int rc;

	add_names(&b, names);
	rc = twriter_section(w, TRACE_OPT_CMDLINES, &b, &options);
	if (stats)
		buf_join(&options, stats);
	/* Of a file that is cut off somewhere, what comes before can be read. */
	for (size_t i = 0; i < w->n && !rc; i++) {
		rc = twriter_options(w, &options);
		buf_reset(&options);
		if (!rc)
			rc = buffer7(w, &w->buffers[i], &options);
	}
	if (!rc)
		rc = twriter_options(w, &options);
	buf_release(&options);
	buf_release(&b);
	return rc;
}

/* ---- version 6 ---- */

/* What comes before the data of a buffer: *table is where their places are to be written. */
static void buffer6(const struct twriter *w, const struct twriter_buffer *b, struct buf *text,
		    uint64_t *table)
{
	buf_add(text, b->is_text ? "latency  " : "flyrecord", 10);
	*table = w->len + text->len;
	if (!b->is_text)
		buf_fill(text, 0, (size_t)w->head->cpu_count * 16);
}

static int places6(struct twriter *w, const struct twriter_buffer *b, uint64_t table)
{
	int rc = 0;

	/* Version 6 counts CPUs, from 0. */
	for (size_t i = 0; i < b->n && !rc && !b->is_text; i++) {
		const struct twriter_part *p = &b->parts[i];
		uint64_t place[2] = {p->at, p->size};

		if ((uint32_t)p->cpu < w->head->cpu_count)
			rc = twriter_patch(w, table + 16 * (uint64_t)p->cpu, place, sizeof(place));
	}
	return rc;
}

static int further6(struct twriter *w, struct twriter_buffer *b, uint64_t option)
{
	struct buf text = BUF_INIT;
	uint64_t table;
	int rc;

	b->at = w->len;
	buffer6(w, b, &text, &table);
	rc = twriter_add_buf(w, &text);
	buf_release(&text);
	if (!rc)
		rc = twriter_patch(w, option, &b->at, sizeof(b->at));
	if (!rc)
		rc = copy_buffer(w, b);
	return rc ? rc : places6(w, b, table);
}

/* The options; where those of further buffers are, whose places are not known yet. */
static void options6(const struct twriter *w, const struct buf *stats, struct buf *b,
		     uint64_t *places)
{
	buf_add(b, "options  ", 10);
	/* With the option of the clock, trace-cmd takes the text of a tracer for the clock's. */
	if (w->buffers->is_text)
		buf_join(b, &w->head->options);
	else
		trace_head_options(w->head, b);
	if (stats)
		buf_join(b, stats);
	for (size_t i = 1; i < w->n; i++) {
		const char *name = w->buffers[i].name;

		add_u16(b, TRACE_OPT_BUFFER);
		add_u32(b, (uint32_t)(8 + strlen(name) + 1));
		places[i] = w->len + b->len;
		add_u64(b, 0);
		buf_add(b, name, strlen(name) + 1);
	}
	add_u16(b, TRACE_OPT_DONE);
}

static int end6(struct twriter *w, const struct buf *names, const struct buf *stats)
{
	uint64_t *places = calloc(w->n + 1, sizeof(*places)), table;
	struct twriter_buffer *main = w->buffers;
	struct buf b = BUF_INIT;
	int rc;

	if (!places)
		return twriter_failed(w, ENOMEM);
	add_names(&b, names);
	add_u32(&b, w->head->cpu_count);
	options6(w, stats, &b, places);
	buffer6(w, main, &b, &table);
	if (!main->is_text) {
		add_u64(&b, w->head->clock.len);
		buf_join(&b, &w->head->clock);
	}
	rc = twriter_add_buf(w, &b);
	if (!rc)
		rc = copy_buffer(w, main);
	if (!rc)
		rc = places6(w, main, table);
	for (size_t i = 1; i < w->n && !rc; i++)
		rc = further6(w, &w->buffers[i], places[i]);
	buf_release(&b);
	free(places);
	return rc;
}

/* ---- both ---- */

/* Text of version 6 goes on to the end of the file. */
static int check(const struct twriter *w)
{
	bool text = false;

	for (size_t i = 0; i < w->n; i++)
		text |= w->buffers[i].is_text;
	if (w->version != 6 || w->n == 1 || !text)
		return 0;
	diag_error(w->d, w->path, -1,
		   "version 6 has no place for a latency tracer in addition to other buffers");
	return PP_EUNSUPPORTED;
}

/* The pages are in the recording now. */
static void remove_parts(const struct twriter *w)
{
	char path[PATH_MAX];

	for (size_t i = 0; i < w->n; i++)
		for (size_t k = 0; k < w->buffers[i].n; k++)
			if (!twriter_part_path(w, &w->buffers[i], w->buffers[i].parts[k].cpu, path))
				unlink(path);
}

int twriter_end(struct twriter *w, const struct buf *names, const struct buf *stats)
{
	int rc = check(w);

	if (!rc)
		rc = w->version == 6 ? end6(w, names, stats) : end7(w, names, stats);
	if (!rc && close(w->fd))
		rc = twriter_failed(w, errno);
	w->fd = rc ? w->fd : -1;
	if (!rc && !w->keep)
		remove_parts(w);
	else if (rc)
		diag_say(w->d, w->path, "the events remain in %s.*cpu*", w->path);
	return rc;
}
