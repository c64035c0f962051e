/*
 * Writes a trace.dat, version 6 or 7. The pages of each CPU are collected in a file of their own,
 * PATH.cpuN, as trace-cmd does, and come to the recording in the end, packed if that is wanted. In
 * version 7 what is known at the beginning is a whole recording without events from the beginning
 * on: pdecode finds the pages beside it if the recorder dies.
 */
#include "ftrace/parts.h"

#include "base/err.h"
#include "base/out.h"
#include "tracedat/form.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zstd.h>

#define COPY_BYTES (1u << 20)
#define PACK_BYTES (256u << 10) /* of pages that are packed together */

static int failed(const struct datfile *f, int errnum)
{
	diag_error(f->d, f->path, -1, "cannot write: %s", strerror(errnum));
	return pp_errno(errnum) == PP_EPIPE ? PP_EIO : pp_errno(errnum);
}

static int add(struct datfile *f, const void *p, size_t n)
{
	int rc = out_write_all(f->fd, p, n);

	if (rc)
		return failed(f, errno);
	f->len += n;
	return 0;
}

static int add_buf(struct datfile *f, const struct buf *b)
{
	if (b->err) {
		diag_error(f->d, f->path, -1, "%s", pp_strerror(b->err));
		return b->err;
	}
	return add(f, b->data, b->len);
}

static int patch(struct datfile *f, uint64_t at, const void *p, size_t n)
{
	if (pwrite(f->fd, p, n, (off_t)at) != (ssize_t)n)
		return failed(f, errno ? errno : EIO);
	return 0;
}

/* Up to a multiple of n. */
static int align(struct datfile *f, uint64_t n)
{
	struct buf zero = BUF_INIT;
	int rc = 0;

	if (f->len % n) {
		buf_fill(&zero, 0, n - f->len % n);
		rc = add_buf(f, &zero);
	}
	buf_release(&zero);
	return rc;
}

/* ---- version 7 ---- */

static void section_head(struct buf *b, unsigned id, unsigned flags, uint64_t size)
{
	add_u16(b, (uint16_t)id);
	add_u16(b, (uint16_t)flags);
	add_u32(b, 0);
	add_u64(b, size);
}

/* A section; the option that tells where it is. */
static int section(struct datfile *f, unsigned id, const struct buf *content, struct buf *options)
{
	struct buf head = BUF_INIT;
	uint64_t at = f->len;
	int rc;

	head_option(options, id, &at, sizeof(at));
	section_head(&head, id, 0, content->len);
	rc = add_buf(f, &head);
	buf_release(&head);
	return rc ? rc : add_buf(f, content);
}

/* Options, to which what was written before leads; more can be added after these. */
static int add_options(struct datfile *f, struct buf *options)
{
	struct buf head = BUF_INIT;
	uint64_t none = 0, at = f->len;
	int rc;

	head_option(options, TRACE_OPT_DONE, &none, sizeof(none));
	section_head(&head, TRACE_OPT_DONE, 0, options->len);
	rc = add_buf(f, &head);
	buf_release(&head);
	if (!rc)
		rc = add_buf(f, options);
	if (!rc)
		rc = patch(f, f->link, &at, sizeof(at));
	f->link = f->len - sizeof(none);
	return rc;
}

static int begin7(struct datfile *f)
{
	const struct head *h = f->head;
	struct buf b = BUF_INIT, options = BUF_INIT;
	const char *packing = f->pack_level ? "zstd" : "none";
	int rc;

	head_magic(&b, "7", h->page_size);
	buf_add(&b, packing, strlen(packing) + 1);
	buf_adds(&b, f->pack_level ? ZSTD_VERSION_STRING : "");
	buf_addc(&b, 0);
	f->link = b.len;
	add_u64(&b, 0);
	rc = add_buf(f, &b);
	buf_release(&b);
	head_options(h, &options);
	if (!rc)
		rc = section(f, TRACE_OPT_HEADER_INFO, &h->header_info, &options);
	if (!rc)
		rc = section(f, TRACE_OPT_FTRACE_EVENTS, &h->ftrace_formats, &options);
	if (!rc)
		rc = section(f, TRACE_OPT_EVENT_FORMATS, &h->formats, &options);
	if (!rc)
		rc = section(f, TRACE_OPT_KALLSYMS, &h->kallsyms, &options);
	if (!rc)
		rc = section(f, TRACE_OPT_PRINTK, &h->printk, &options);
	if (!rc)
		rc = add_options(f, &options);
	buf_release(&options);
	return rc;
}

/* ---- version 6 ---- */

static int begin6(struct datfile *f)
{
	const struct head *h = f->head;
	struct buf b = BUF_INIT;
	int rc;

	head_magic(&b, "6", h->page_size);
	buf_join(&b, &h->header_info);
	buf_join(&b, &h->ftrace_formats);
	buf_join(&b, &h->formats);
	buf_join(&b, &h->kallsyms);
	buf_join(&b, &h->printk);
	rc = add_buf(f, &b);
	buf_release(&b);
	return rc;
}

/* ---- beginning ---- */

static int open_part(struct datfile *f, const char *of, size_t i)
{
	/* What another recording left is not mixed with ours. */
	int flags = f->keep ? O_RDONLY : O_RDWR | O_CREAT | O_TRUNC;
	char path[PATH_MAX];

	if (snprintf(path, sizeof(path), "%s.cpu%d", of, f->head->cpus[i]) >= (int)sizeof(path))
		return failed(f, ENAMETOOLONG);
	f->parts[i] = open(path, flags | O_CLOEXEC | O_NOFOLLOW, 0600);
	return f->parts[i] < 0 && !f->keep ? failed(f, errno) : 0;
}

static int begin(struct datfile *f, const char *of)
{
	int rc;

	f->parts = malloc((f->head->n_cpus + 1) * sizeof(*f->parts));
	if (!f->parts)
		return failed(f, ENOMEM);
	for (; f->n < f->head->n_cpus; f->n++) {
		rc = open_part(f, of, f->n);
		if (rc)
			return rc;
	}
	f->fd = open(f->path, O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
	if (f->fd < 0)
		return failed(f, errno);
	return f->version == 6 ? begin6(f) : begin7(f);
}

int datfile_begin(struct datfile *f, const char *path, const struct head *h, unsigned version,
		  int pack_level, struct diag *d)
{
	*f = (struct datfile){.path = path,
			      .head = h,
			      .d = d,
			      .fd = -1,
			      .version = version,
			      .pack_level = pack_level};
	return begin(f, path);
}

int datfile_of(struct datfile *f, const char *path, const char *from, const struct head *h,
	       unsigned version, int pack_level, struct diag *d)
{
	*f = (struct datfile){.path = path,
			      .head = h,
			      .d = d,
			      .fd = -1,
			      .keep = true,
			      .version = version,
			      .pack_level = pack_level};
	return begin(f, from);
}

int datfile_pages(void *ctx, size_t cpu, uint8_t *pages, size_t n)
{
	struct datfile *f = ctx;

	return out_write_all(f->parts[cpu], pages, n) ? failed(f, errno) : 0;
}

/* ---- the end ---- */

struct place {
	uint64_t at, size;
};

static int copy_plain(struct datfile *f, int part, uint64_t size, uint8_t *bytes)
{
	uint64_t at = 0;
	int rc = 0;

	while (at < size && !rc) {
		size_t want = size - at < COPY_BYTES ? (size_t)(size - at) : COPY_BYTES;
		ssize_t n = pread(part, bytes, want, (off_t)at);

		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			return failed(f, n ? errno : EIO);
		rc = add(f, bytes, (size_t)n);
		at += (uint64_t)n;
	}
	return rc;
}

/* Chunks: their number, then of each its packed size, its size, its bytes. */
static int copy_packed(struct datfile *f, int part, uint64_t size, uint8_t *bytes)
{
	uint32_t chunks = (uint32_t)((size + PACK_BYTES - 1) / PACK_BYTES);
	size_t cap = ZSTD_compressBound(PACK_BYTES);
	ZSTD_CCtx *z = ZSTD_createCCtx();
	uint8_t *packed = malloc(cap + 8);
	int rc = z && packed ? add(f, &chunks, sizeof(chunks)) : failed(f, ENOMEM);

	if (z)
		ZSTD_CCtx_setParameter(z, ZSTD_c_compressionLevel, f->pack_level);
	for (uint64_t at = 0; packed && at < size && !rc; at += PACK_BYTES) {
		uint32_t n = size - at < PACK_BYTES ? (uint32_t)(size - at) : PACK_BYTES, len;
		size_t got;

		if (pread(part, bytes, n, (off_t)at) != (ssize_t)n) {
			rc = failed(f, errno ? errno : EIO);
			break;
		}
		got = ZSTD_compress2(z, packed + 8, cap, bytes, n);
		if (ZSTD_isError(got)) {
			rc = failed(f, ENOMEM);
			break;
		}
		len = (uint32_t)got;
		memcpy(packed, &len, 4);
		memcpy(packed + 4, &n, 4);
		rc = add(f, packed, got + 8);
	}
	ZSTD_freeCCtx(z);
	free(packed);
	return rc;
}

/* The pages of all CPUs, and where they are. */
static int copy_parts(struct datfile *f, struct place *places)
{
	uint8_t *bytes = malloc(COPY_BYTES);
	int rc = bytes ? 0 : failed(f, ENOMEM);

	for (size_t i = 0; i < f->n && !rc; i++) {
		struct stat st;

		/* Readers map pages; where they are packed, trace-cmd wants it so, too. */
		rc = align(f, f->head->page_size);
		places[i] = (struct place){.at = f->len};
		if (!rc && f->parts[i] < 0)
			continue;
		if (!rc && fstat(f->parts[i], &st))
			rc = failed(f, errno);
		if (rc)
			break;
		if (!st.st_size)
			continue;
		rc = f->pack_level ? copy_packed(f, f->parts[i], (uint64_t)st.st_size, bytes)
				   : copy_plain(f, f->parts[i], (uint64_t)st.st_size, bytes);
		/* Of packed pages it is the bytes after the number of chunks. */
		places[i].size = f->pack_level ? f->len - places[i].at - 4 : (uint64_t)st.st_size;
	}
	free(bytes);
	return rc;
}

static void add_stats(struct buf *options, const struct rounds *r)
{
	struct buf text = BUF_INIT;

	for (size_t i = 0; i < r->n; i++) {
		buf_reset(&text);
		ftrounds_stats(r, i, &text);
		head_option(options, TRACE_OPT_CPUSTAT, buf_str(&text), text.len + 1);
	}
	buf_release(&text);
}

static void add_cmdlines(struct buf *b, const struct names *names)
{
	struct buf all = BUF_INIT;

	comms_all(names, &all);
	add_u64(b, all.len);
	buf_join(b, &all);
	buf_release(&all);
}

static void buffer_option(struct datfile *f, uint64_t at, const struct place *places,
			  struct buf *options)
{
	const char *open = strchr(buf_str(&f->head->clock), '[');
	struct buf o = BUF_INIT;

	add_u64(&o, at);
	buf_addc(&o, 0);
	if (open)
		buf_add(&o, open + 1, strcspn(open + 1, "]"));
	buf_addc(&o, 0);
	add_u32(&o, f->head->page_size);
	add_u32(&o, (uint32_t)f->n);
	for (size_t i = 0; i < f->n; i++) {
		add_u32(&o, (uint32_t)f->head->cpus[i]);
		add_u64(&o, places[i].at);
		add_u64(&o, places[i].size);
	}
	head_option(options, TRACE_OPT_BUFFER, o.data, o.len);
	buf_inherit(options, &o);
	buf_release(&o);
}

static int end7(struct datfile *f, const struct names *names, const struct rounds *r,
		struct place *places)
{
	struct buf options = BUF_INIT, b = BUF_INIT;
	uint64_t at, size;
	int rc;

	add_cmdlines(&b, names);
	rc = section(f, TRACE_OPT_CMDLINES, &b, &options);
	buf_reset(&b);
	at = f->len;
	section_head(&b, TRACE_OPT_BUFFER, f->pack_level ? TRACE_SECTION_PACKED : 0, 0);
	if (!rc)
		rc = add_buf(f, &b);
	if (!rc)
		rc = copy_parts(f, places);
	size = f->len - at - TRACE_SECTION_HEAD;
	if (!rc)
		rc = patch(f, at + 8, &size, sizeof(size));
	add_stats(&options, r);
	buffer_option(f, at, places, &options);
	if (!rc)
		rc = add_options(f, &options);
	buf_release(&options);
	buf_release(&b);
	return rc;
}

static int end6(struct datfile *f, const struct names *names, const struct rounds *r,
		struct place *places)
{
	struct buf b = BUF_INIT, options = BUF_INIT;
	uint64_t at;
	int rc;

	add_cmdlines(&b, names);
	/* Version 6 counts CPUs, from 0. */
	add_u32(&b, f->head->cpu_count);
	buf_add(&b, "options  ", 10);
	head_options(f->head, &options);
	add_stats(&options, r);
	buf_join(&b, &options);
	add_u16(&b, TRACE_OPT_DONE);
	buf_add(&b, "flyrecord", 10);
	at = f->len + b.len;
	buf_fill(&b, 0, (size_t)f->head->cpu_count * 16);
	add_u64(&b, f->head->clock.len);
	buf_join(&b, &f->head->clock);
	rc = add_buf(f, &b);
	if (!rc)
		rc = copy_parts(f, places);
	for (size_t i = 0; i < f->n && !rc; i++)
		rc = patch(f, at + 16 * (uint64_t)f->head->cpus[i], &places[i], sizeof(places[i]));
	buf_release(&b);
	buf_release(&options);
	return rc;
}

/* The pages are in the recording now. */
static void remove_parts(struct datfile *f)
{
	char path[PATH_MAX];

	for (size_t i = 0; i < f->n; i++) {
		snprintf(path, sizeof(path), "%s.cpu%d", f->path, f->head->cpus[i]);
		unlink(path);
	}
}

int datfile_end(struct datfile *f, const struct names *names, const struct rounds *r)
{
	struct place *places = calloc(f->n ? f->n : 1, sizeof(*places));
	int rc = !places	   ? failed(f, ENOMEM)
		 : f->version == 6 ? end6(f, names, r, places)
				   : end7(f, names, r, places);

	free(places);
	if (!rc && close(f->fd))
		rc = failed(f, errno);
	f->fd = -1;
	if (!rc && !f->keep)
		remove_parts(f);
	else if (rc)
		diag_say(f->d, f->path, "the events stay in %s.cpu*", f->path);
	return rc;
}

void datfile_release(struct datfile *f)
{
	if (f->fd >= 0)
		close(f->fd);
	for (size_t i = 0; i < f->n; i++)
		if (f->parts[i] >= 0)
			close(f->parts[i]);
	free(f->parts);
}
