/*
 * Compressed records (-z): what the rings hold as one zstd stream per recording, cut into
 * PERF_RECORD_COMPRESSED records; see perf.data-file-format.txt of the kernel tree.
 */
#include "base/err.h"
#include "perfdata/format.h"
#include "record/parts.h"

#include <zstd.h>

#define PAYLOAD_MAX (UINT16_MAX - 7 - sizeof(struct perf_event_header))

int pack_begin(struct pack *p, int level)
{
	if (!p->zstd)
		p->zstd = ZSTD_createCCtx();
	if (!p->zstd)
		return PP_ENOMEM;
	if (ZSTD_isError(ZSTD_CCtx_reset(p->zstd, ZSTD_reset_session_only)) ||
	    ZSTD_isError(ZSTD_CCtx_setParameter(p->zstd, ZSTD_c_compressionLevel, level)))
		return PP_ENOMEM;
	return 0;
}

void pack_release(struct pack *p)
{
	ZSTD_freeCCtx(p->zstd);
	buf_release(&p->flat);
	buf_release(&p->records);
}

/* Adds what n bytes become to p->flat; ZSTD_e_flush: all that the stream holds back, too. */
static int compress(struct pack *p, const void *bytes, size_t n, ZSTD_EndDirective how)
{
	ZSTD_inBuffer in = {bytes, n, 0};
	size_t left;

	do {
		ZSTD_outBuffer out;

		if (buf_reserve(&p->flat, ZSTD_CStreamOutSize()))
			return p->flat.err;
		out = (ZSTD_outBuffer){p->flat.data + p->flat.len, ZSTD_CStreamOutSize(), 0};
		left = ZSTD_compressStream2(p->zstd, &out, &in, how);
		if (ZSTD_isError(left))
			return PP_ENOMEM; /* nothing else can go wrong with a valid level */
		p->flat.len += out.pos;
	} while (in.pos < in.size || (how == ZSTD_e_flush && left));
	return 0;
}

/* What was compressed since the last time, as records. */
static int cut(struct pack *p)
{
	int rc = compress(p, NULL, 0, ZSTD_e_flush);

	for (size_t at = 0, n; at < p->flat.len && !rc; at += n) {
		struct perf_event_header h = {.type = PERF_REC_COMPRESSED};

		n = p->flat.len - at < PAYLOAD_MAX ? p->flat.len - at : PAYLOAD_MAX;
		h.size = (uint16_t)(sizeof(h) + n);
		buf_add(&p->records, &h, sizeof(h));
		buf_add(&p->records, p->flat.data + at, n);
		rc = p->records.err;
	}
	buf_reset(&p->flat);
	return rc;
}

int pack_events(struct pack *p, const struct iovec *v, size_t n, struct iovec *out)
{
	size_t room = PACK_CHUNK;
	int rc = 0;

	buf_reset(&p->records);
	for (size_t i = 0; i < n && !rc; i++) {
		const uint8_t *bytes = v[i].iov_base;
		size_t left = v[i].iov_len;

		while (left && !rc) {
			size_t part = left < room ? left : room;

			rc = compress(p, bytes, part, ZSTD_e_continue);
			bytes += part, left -= part, room -= part;
			if (rc || room)
				continue;
			rc = cut(p);
			room = PACK_CHUNK;
		}
	}
	if (!rc && room < PACK_CHUNK)
		rc = cut(p);
	*out = (struct iovec){p->records.data, p->records.len};
	return rc;
}
