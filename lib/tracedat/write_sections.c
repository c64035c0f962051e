/* Writes a trace.dat: its beginning, the files of pages, its end. */
#include "tracedat/write_parts.h"

#include "base/err.h"
#include "base/out.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>
#include <zstd.h>

int twriter_failed(const struct twriter *w, int errnum)
{
	diag_error(w->d, w->path, -1, "cannot write: %s", strerror(errnum));
	return pp_errno(errnum) == PP_EPIPE ? PP_EIO : pp_errno(errnum);
}

int twriter_add(struct twriter *w, const void *p, size_t n)
{
	int rc = out_write_all(w->fd, p, n);

	if (rc)
		return twriter_failed(w, errno);
	w->len += n;
	return 0;
}

int twriter_add_buf(struct twriter *w, const struct buf *b)
{
	if (b->err) {
		diag_error(w->d, w->path, -1, "%s", pp_strerror(b->err));
		return b->err;
	}
	return twriter_add(w, b->data, b->len);
}

int twriter_patch(struct twriter *w, uint64_t at, const void *p, size_t n)
{
	if (pwrite(w->fd, p, n, (off_t)at) != (ssize_t)n)
		return twriter_failed(w, errno ? errno : EIO);
	return 0;
}

/* ---- pieces ---- */

void trace_add_magic(struct buf *b, const char *version, uint32_t page_size)
{
	const uint16_t one = 1;

	buf_add(b, TRACE_MAGIC, TRACE_MAGIC_LEN);
	buf_add(b, version, strlen(version) + 1);
	buf_addc(b, *(const uint8_t *)&one ? 0 : 1);
	buf_addc(b, sizeof(long));
	add_u32(b, page_size);
}

void trace_add_option(struct buf *b, unsigned id, const void *data, size_t n)
{
	add_u16(b, (uint16_t)id);
	add_u32(b, (uint32_t)n);
	buf_add(b, data, n);
}

void trace_add_section(struct buf *b, unsigned id, unsigned flags, uint64_t size)
{
	add_u16(b, (uint16_t)id);
	add_u16(b, (uint16_t)flags);
	add_u32(b, 0);
	add_u64(b, size);
}

void trace_add_clock(struct buf *b, const char *text)
{
	const char *open = strchr(text, '[');

	if (open)
		buf_add(b, open + 1, strcspn(open + 1, "]"));
	buf_addc(b, 0);
}

void trace_add_buffer_option(struct buf *options, const struct twriter_buffer *b)
{
	struct buf o = BUF_INIT;

	add_u64(&o, b->at);
	buf_add(&o, b->name, strlen(b->name) + 1);
	buf_add(&o, buf_str(&b->clock), strlen(buf_str(&b->clock)) + 1);
	if (!b->is_text) {
		add_u32(&o, b->page_size);
		add_u32(&o, (uint32_t)b->n);
	}
	for (size_t i = 0; i < b->n && !b->is_text; i++) {
		add_u32(&o, (uint32_t)b->parts[i].cpu);
		add_u64(&o, b->parts[i].at);
		add_u64(&o, b->parts[i].size);
	}
	trace_add_option(options, b->is_text ? TRACE_OPT_BUFFER_TEXT : TRACE_OPT_BUFFER, o.data,
			 o.len);
	buf_inherit(options, &o);
	buf_release(&o);
}

void trace_head_options(const struct trace_head *h, struct buf *b)
{
	buf_join(b, &h->options);
	trace_add_option(b, TRACE_OPT_TRACECLOCK, buf_str(&h->clock), h->clock.len + 1);
}

void trace_head_release(struct trace_head *h)
{
	for (size_t i = 0; i < sizeof(h->sections) / sizeof(h->sections[0]); i++)
		buf_release(&h->sections[i]);
	buf_release(&h->options);
	buf_release(&h->clock);
}

/* ---- version 7 ---- */

/* Its packed size, its size, its bytes. */
static int pack(const struct twriter *w, const struct buf *content, struct buf *packed)
{
	size_t cap = ZSTD_compressBound(content->len), got;

	add_u32(packed, 0);
	add_u32(packed, (uint32_t)content->len);
	if (buf_reserve(packed, cap))
		return twriter_failed(w, ENOMEM);
	got = ZSTD_compress(packed->data + packed->len, cap, content->data, content->len,
			    w->pack_level);
	if (ZSTD_isError(got))
		return twriter_failed(w, ENOMEM);
	packed->len += got;
	memcpy(packed->data, &(uint32_t){(uint32_t)got}, sizeof(uint32_t));
	return 0;
}

int twriter_section(struct twriter *w, unsigned id, const struct buf *content, struct buf *options)
{
	struct buf head = BUF_INIT, packed = BUF_INIT;
	uint64_t at = w->len;
	int rc = w->pack_level ? pack(w, content, &packed) : 0;

	if (w->pack_level)
		content = &packed;
	trace_add_option(options, id, &at, sizeof(at));
	trace_add_section(&head, id, w->pack_level ? TRACE_SECTION_PACKED : 0, content->len);
	if (!rc)
		rc = twriter_add_buf(w, &head);
	if (!rc)
		rc = twriter_add_buf(w, content);
	buf_release(&head);
	buf_release(&packed);
	return rc;
}

int twriter_options(struct twriter *w, struct buf *options)
{
	struct buf head = BUF_INIT;
	uint64_t none = 0, at = w->len;
	int rc;

	trace_add_option(options, TRACE_OPT_DONE, &none, sizeof(none));
	trace_add_section(&head, TRACE_OPT_DONE, 0, options->len);
	rc = twriter_add_buf(w, &head);
	buf_release(&head);
	if (!rc)
		rc = twriter_add_buf(w, options);
	if (!rc)
		rc = twriter_patch(w, w->link, &at, sizeof(at));
	w->link = w->len - sizeof(none);
	return rc;
}

static int begin7(struct twriter *w)
{
	struct buf b = BUF_INIT, options = BUF_INIT;
	const char *packing = w->pack_level ? "zstd" : "none";
	int rc;

	trace_add_magic(&b, "7", w->head->page_size);
	buf_add(&b, packing, strlen(packing) + 1);
	buf_adds(&b, w->pack_level ? ZSTD_VERSION_STRING : "");
	buf_addc(&b, 0);
	w->link = b.len;
	add_u64(&b, 0);
	rc = twriter_add_buf(w, &b);
	buf_release(&b);
	trace_head_options(w->head, &options);
	for (unsigned id = TRACE_OPT_HEADER_INFO; id <= TRACE_OPT_PRINTK && !rc; id++)
		rc = twriter_section(w, id, trace_head_section(w->head, id), &options);
	if (!rc)
		rc = twriter_options(w, &options);
	buf_release(&options);
	return rc;
}

/* ---- version 6 ---- */

static int begin6(struct twriter *w)
{
	struct buf b = BUF_INIT;
	int rc;

	trace_add_magic(&b, "6", w->head->page_size);
	rc = twriter_add_buf(w, &b);
	buf_release(&b);
	for (unsigned id = TRACE_OPT_HEADER_INFO; id <= TRACE_OPT_PRINTK && !rc; id++)
		rc = twriter_add_buf(w, trace_head_section(w->head, id));
	return rc;
}

/* ---- buffers ---- */

int twriter_begin(struct twriter *w, const char *path, struct trace_head *head, unsigned version,
		  int pack_level, struct diag *d)
{
	*w = (struct twriter){.path = path,
			      .from = path,
			      .head = head,
			      .d = d,
			      .version = version,
			      .pack_level = pack_level};
	w->fd = open(path, O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
	if (w->fd < 0)
		return twriter_failed(w, errno);
	return version == 6 ? begin6(w) : begin7(w);
}

void twriter_from(struct twriter *w, const char *from)
{
	w->from = from;
	w->keep = true;
}

int twriter_buffer(struct twriter *w, const char *name, const char *clock, uint32_t page_size,
		   size_t *index)
{
	struct twriter_buffer *v = realloc(w->buffers, (w->n + 1) * sizeof(*v));

	if (!v)
		return twriter_failed(w, ENOMEM);
	w->buffers = v;
	*index = w->n;
	v[w->n] = (struct twriter_buffer){.name = name, .page_size = page_size};
	buf_adds(&v[w->n].clock, clock);
	return v[w->n++].clock.err;
}

int twriter_part_path(const struct twriter *w, const struct twriter_buffer *b, int cpu,
		      char path[PATH_MAX])
{
	int n = snprintf(path, PATH_MAX, "%s%s%s.cpu%d", w->from, *b->name ? "." : "", b->name,
			 cpu);

	return n >= PATH_MAX ? twriter_failed(w, ENAMETOOLONG) : 0;
}

static int open_part(struct twriter *w, const struct twriter_buffer *b, struct twriter_part *p)
{
	/* What another recording left is not mixed with ours. */
	int flags = w->keep ? O_RDONLY : O_RDWR | O_CREAT | O_TRUNC;
	char path[PATH_MAX];
	int rc = twriter_part_path(w, b, p->cpu, path);

	if (rc)
		return rc;
	p->fd = open(path, flags | O_CLOEXEC | O_NOFOLLOW, 0600);
	return p->fd < 0 && !w->keep ? twriter_failed(w, errno) : 0;
}

static struct twriter_part *find_part(struct twriter_buffer *b, int cpu)
{
	for (size_t i = 0; i < b->n; i++)
		if (b->parts[i].cpu == cpu)
			return &b->parts[i];
	return NULL;
}

int twriter_cpu(struct twriter *w, size_t buffer, int cpu)
{
	struct twriter_buffer *b = &w->buffers[buffer];
	struct twriter_part *v;

	if (find_part(b, cpu))
		return 0;
	v = realloc(b->parts, (b->n + 1) * sizeof(*v));
	if (!v)
		return twriter_failed(w, ENOMEM);
	b->parts = v;
	v[b->n] = (struct twriter_part){.cpu = cpu, .fd = -1};
	return open_part(w, b, &v[b->n++]);
}

int twriter_pages(struct twriter *w, size_t buffer, int cpu, const uint8_t *pages, size_t n)
{
	struct twriter_buffer *b = &w->buffers[buffer];
	int rc = twriter_cpu(w, buffer, cpu);

	if (rc)
		return rc;
	return out_write_all(find_part(b, cpu)->fd, pages, n) ? twriter_failed(w, errno) : 0;
}

int twriter_file(struct twriter *w, size_t buffer, int cpu)
{
	const struct twriter_part *p = find_part(&w->buffers[buffer], cpu);

	return p ? p->fd : -1;
}

int twriter_text(struct twriter *w, size_t buffer, const char *text, size_t n)
{
	struct twriter_buffer *b = &w->buffers[buffer];

	b->is_text = true;
	buf_add(&b->text, text, n);
	return b->text.err ? twriter_failed(w, ENOMEM) : 0;
}

void twriter_release(struct twriter *w)
{
	if (w->fd >= 0)
		close(w->fd);
	for (size_t i = 0; i < w->n; i++) {
		struct twriter_buffer *b = &w->buffers[i];

		for (size_t k = 0; k < b->n; k++)
			if (b->parts[k].fd >= 0)
				close(b->parts[k].fd);
		free(b->parts);
		buf_release(&b->clock);
		buf_release(&b->text);
	}
	free(w->buffers);
	*w = (struct twriter){.fd = -1};
}
