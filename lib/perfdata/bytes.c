/*
 * The bytes of a recording: read into blocks, in which the records stay until they are done with.
 */
#include "perfdata/perf_file.h"

#include <sys/mman.h>
#include <zstd.h>

#define WINDOW (1u << 20) /* bytes that are mapped at a time */

/* The unread rest of the file in a window. False: there is none, and nothing was done. */
static bool map_more(struct perf_bytes *in, uint64_t n, size_t have)
{
	uint64_t at = src_tell(in->src), left = in->left + have;
	struct src_window w;
	struct block *b;

	n = n > WINDOW ? n : WINDOW;
	if (!in->mapped || !left || (at - have) % 8 || src_seek(in->src, at - have))
		return false;
	if (!src_window(in->src, left < n ? left : n, &w))
		return src_seek(in->src, at), false;
	b = block_of_window(&w, in->blocks);
	if (!b) {
		munmap(w.map, w.mapped);
		return src_seek(in->src, at), false;
	}
	b->base = at - have;
	in->left = left - b->len;
	block_unref(in->cur);
	in->cur = b;
	in->pos = 0;
	diag_progress(in->d, in->name, src_tell(in->src), src_size(in->src));
	return true;
}

/* What lies in a block never moves: when it is full, the unread rest goes to a new one. */
int perf_need_more(struct perf_bytes *in, uint64_t n)
{
	struct block *b = in->cur;
	size_t have = b ? b->len - in->pos : 0;

	if (n > PERF_SECTION_MAX)
		return PP_ELIMIT;
	if (!b || in->pos + n > b->cap) {
		if (map_more(in, n, have))
			return in->cur->len >= n ? 0 : PP_ECUT;
		b = block_new(n > PERF_BLOCK ? n : PERF_BLOCK, in->blocks);
		if (!b)
			return PP_ENOMEM;
		b->base = src_tell(in->src) - have;
		if (have)
			memcpy(block_bytes(b), block_bytes(in->cur) + in->pos, have);
		b->len = have;
		block_unref(in->cur);
		in->cur = b;
		in->pos = 0;
	}
	while (b->len - in->pos < n) {
		size_t want = b->cap - b->len, got;
		int rc;

		if (want > in->left)
			want = (size_t)in->left;
		rc = src_read(in->src, block_bytes(b) + b->len, want, &got);
		if (rc)
			return rc;
		if (!got)
			return b->len > in->pos ? PP_ECUT : PP_END;
		b->len += got;
		in->left -= got;
		diag_progress(in->d, in->name, src_tell(in->src), src_size(in->src));
	}
	return 0;
}

int perf_skip(struct perf_bytes *in, uint64_t n)
{
	size_t have = in->cur->len - in->pos;
	int rc = 0;

	if (n <= have) {
		in->pos += n;
		return 0;
	}
	in->pos += have;
	for (n -= have; n && !rc;) {
		uint64_t step = n < PERF_BLOCK ? n : PERF_BLOCK;

		rc = perf_need(in, step);
		if (!rc)
			in->pos += step;
		n -= step;
	}
	return rc == PP_END ? PP_ECUT : rc;
}

void perf_bytes_release(struct perf_bytes *in)
{
	block_unref(in->cur);
	ZSTD_freeDCtx(in->inflate);
	block_unref(in->inflate_cur);
}
