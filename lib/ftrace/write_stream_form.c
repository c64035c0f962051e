/* The stream form: what comes is written at once, section by section; see perfpipe-formats(7). */
#include "ftrace/parts.h"

#include "base/err.h"
#include "tracedat/file_numbers.h"

#include <errno.h>
#include <poll.h>
#include <stdlib.h>
#include <unistd.h>

#define COMMIT_MASK ((UINT32_C(1) << 27) - 1) /* bytes of data of a page, in its second word */
#define PATIENCE_MS 2000 /* for a reader that takes nothing, when the recording is to end */

/*
 * All of it, also where the reader is slow; but a recording that is to end does not wait for one
 * that takes nothing.
 */
static int put(struct live *l, const uint8_t *p, size_t n)
{
	while (n) {
		struct pollfd room = {.fd = l->fd, .events = POLLOUT};
		ssize_t done;

		if (*l->stop && poll(&room, 1, PATIENCE_MS) == 0) {
			diag_error(l->d, NULL, -1, "the reader of the output is not reading");
			return PP_ECUT;
		}
		done = write(l->fd, p, n);
		if (done < 0 && (errno == EINTR || errno == EAGAIN)) {
			if (errno == EAGAIN)
				poll(&room, 1, PATIENCE_MS);
			continue;
		}
		if (done < 0) {
			int errnum = errno;

			if (errnum != EPIPE)
				diag_error(l->d, NULL, -1, "cannot write: %s", strerror(errnum));
			return pp_errno(errnum);
		}
		p += done;
		n -= (size_t)done;
	}
	return 0;
}

static void section(struct buf *b, unsigned id, const struct buf *content)
{
	trace_add_section(b, id, 0, content->len);
	buf_join(b, content);
}

static int flush(struct live *l)
{
	int rc = l->head.err ? l->head.err : put(l, l->head.data, l->head.len);

	buf_reset(&l->head);
	return rc;
}

/* Where the data of buffers are is known to files only. */
static int buffer_options(struct buf *options, const struct head *h,
			  const struct live_buffer *buffers, size_t n)
{
	struct twriter_part *cpus = calloc(h->n_cpus + 1, sizeof(*cpus));
	struct twriter_buffer b = {.page_size = h->file.page_size, .parts = cpus, .n = h->n_cpus};

	if (!cpus)
		return PP_ENOMEM;
	for (size_t i = 0; i < h->n_cpus; i++)
		cpus[i].cpu = h->cpus[i];
	for (size_t i = 0; i < n; i++) {
		b.name = buffers[i].name;
		b.is_text = buffers[i].is_text;
		buf_reset(&b.clock);
		trace_add_clock(&b.clock, buffers[i].clock);
		buf_inherit(options, &b.clock);
		trace_add_buffer_option(options, &b);
	}
	buf_release(&b.clock);
	free(cpus);
	return options->err;
}

int live_begin(struct live *l, int fd, struct head *h, const struct live_buffer *buffers, size_t n,
	       const volatile sig_atomic_t *stop, struct diag *d)
{
	struct buf options = BUF_INIT;
	int rc;

	*l = (struct live){.fd = fd, .stop = stop, .d = d, .page_size = h->file.page_size};
	trace_add_magic(&l->head, TRACE_LIVE, h->file.page_size);
	trace_head_options(&h->file, &options);
	rc = buffer_options(&options, h, buffers, n);
	trace_add_option(&options, TRACE_OPT_DONE, NULL, 0);
	section(&l->head, TRACE_OPT_DONE, &options);
	buf_release(&options);
	for (unsigned id = TRACE_OPT_HEADER_INFO; id <= TRACE_OPT_PRINTK; id++)
		section(&l->head, id, trace_head_section(&h->file, id));
	return rc ? rc : flush(l);
}

int live_names(struct live *l, struct names *names)
{
	if (!names->news.len)
		return names->news.err;
	trace_add_section(&l->head, TRACE_OPT_CMDLINES, 0, 8 + names->news.len);
	add_u64(&l->head, names->news.len);
	buf_join(&l->head, &names->news);
	buf_reset(&names->news);
	return flush(l);
}

/* The bytes that the last page has, and the number of lost events after them. */
static size_t used(const uint8_t *page, size_t size)
{
	unsigned long commit;
	size_t n;

	memcpy(&commit, page + 8, sizeof(commit));
	n = 8 + 2 * sizeof(commit) + (commit & COMMIT_MASK);
	return n < size ? n : size;
}

int live_pages(struct live *l, size_t buffer, int cpu, uint8_t *pages, size_t n)
{
	struct buf head = BUF_INIT;
	int rc;

	n += used(pages + n - l->page_size, l->page_size) - l->page_size;
	trace_add_section(&head, TRACE_LIVE_PAGES, 0, 8 + n);
	add_u32(&head, (uint32_t)buffer);
	add_u32(&head, (uint32_t)cpu);
	rc = head.err;
	if (!rc) {
		memcpy(pages - head.len, head.data, head.len);
		rc = put(l, pages - head.len, n + head.len);
	}
	buf_release(&head);
	return rc;
}

int live_text(struct live *l, size_t buffer, const struct buf *text)
{
	trace_add_section(&l->head, TRACE_OPT_BUFFER_TEXT, 0, 4 + text->len);
	add_u32(&l->head, (uint32_t)buffer);
	buf_join(&l->head, text);
	return flush(l);
}

int live_round(struct live *l)
{
	trace_add_section(&l->head, TRACE_LIVE_ROUND, 0, 0);
	return flush(l);
}

int live_end(struct live *l, uint64_t lost)
{
	trace_add_section(&l->head, TRACE_LIVE_END, 0, 8);
	add_u64(&l->head, lost);
	return flush(l);
}

void live_release(struct live *l)
{
	buf_release(&l->head);
}
