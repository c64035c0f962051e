#include "input/input.h"

#include "base/err.h"
#include "input/perf.h"
#include "input/trace.h"
#include "input/unpack.h"

#include <string.h>

#define UNPACK_DEPTH_MAX 4 /* layers of compression */

/* Kinds of input, by their first bytes. */
enum kind {
	KIND_UNKNOWN,
	KIND_PERF,
	KIND_PERF_OLD,
	KIND_TRACE_DAT,
	KIND_STREAM,
	KIND_GZIP,
	KIND_ZSTD
};

static enum kind kind_of(const uint8_t *p, size_t n)
{
	static const struct {
		const char *magic;
		size_t len;
		enum kind kind;
	} kinds[] = {
		{PERF_MAGIC2, 8, KIND_PERF},
		{PERF_MAGIC2_SWAP, 8, KIND_PERF},
		{"PERFFILE", 8, KIND_PERF_OLD},
		{"ELIFFREP", 8, KIND_PERF_OLD},
		{TRACE_MAGIC, TRACE_MAGIC_LEN, KIND_TRACE_DAT},
		{PS_MAGIC, 8, KIND_STREAM},
		{"\x1f\x8b", 2, KIND_GZIP},
		{"\x28\xb5\x2f\xfd", 4, KIND_ZSTD},
	};

	for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++)
		if (n >= kinds[i].len && !memcmp(p, kinds[i].magic, kinds[i].len))
			return kinds[i].kind;
	return KIND_UNKNOWN;
}

/* An event stream as input: its records are passed on, its END becomes part of the account. */
static int copy_stream(struct src *s, struct swriter *w, struct diag *d, struct ps_end *account)
{
	struct sreader *r;
	struct ps_record rec;
	int rc = sreader_new(&r, s, 0, d);

	if (rc)
		return rc;
	while (!(rc = sreader_next(r, &rec)))
		if (rec.type != PS_HEADER && rec.type != PS_END && swriter_copy(w, &rec) && w->err)
			break;
	account->lost += sreader_account(r)->lost;
	account->missing += sreader_account(r)->missing;
	if (sreader_status(r, rc) == PP_EXIT_PARTIAL)
		rc = PP_ECUT;
	sreader_free(r);
	return rc == PP_END ? 0 : rc;
}

/* Reads up to n bytes and gives them back. */
static int peek(struct src *s, uint8_t *bytes, size_t n, size_t *got)
{
	size_t more = 1;
	int rc = 0;

	for (*got = 0; !rc && more && *got < n; *got += more)
		rc = src_read(s, bytes + *got, n - *got, &more);
	return rc ? rc : src_unread(s, bytes, *got);
}

/* Unpacks what is packed, however often; *kind is what is inside. */
static int unwrap(struct src **s, enum kind *kind, size_t *n, struct diag *d)
{
	uint8_t first[16];

	for (int depth = 0; depth < UNPACK_DEPTH_MAX; depth++) {
		int rc = peek(*s, first, sizeof(first), n);

		if (rc) {
			diag_error(d, src_name(*s), -1, "cannot read: %s", pp_strerror(rc));
			return rc;
		}
		*kind = kind_of(first, *n);
		if (*kind == KIND_GZIP)
			rc = unpack_gzip(s, *s, d);
		else if (*kind == KIND_ZSTD)
			rc = unpack_zstd(s, *s, d);
		else
			return 0;
		if (rc)
			return rc;
	}
	diag_error(d, src_name(*s), -1, "is compressed more than %d times", UNPACK_DEPTH_MAX);
	return PP_EUNSUPPORTED;
}

int input_decode(struct src *s, uint32_t source, struct swriter *w, struct diag *d,
		 struct ps_end *account)
{
	enum kind kind;
	size_t n;
	int rc = unwrap(&s, &kind, &n, d);

	if (rc) {
		src_free(s);
		return rc;
	}
	if (!n) {
		diag_error(d, src_name(s), -1, "is empty");
		src_free(s);
		return PP_ECUT;
	}
	switch (kind) {
	case KIND_PERF: rc = perf_decode(s, source, w, d, account); break;
	case KIND_STREAM: return copy_stream(s, w, d, account);
	case KIND_PERF_OLD:
		diag_error(d, src_name(s), 0, "perf.data of version 1 (before Linux 3.2)");
		rc = PP_EUNSUPPORTED;
		break;
	case KIND_TRACE_DAT: rc = trace_decode(s, source, w, d, account); break;
	default:
		diag_error(d, src_name(s), 0,
			   "is neither perf.data, trace.dat nor an event stream");
		rc = PP_EUNSUPPORTED;
	}
	src_free(s);
	return rc;
}

int input_status(int rc)
{
	if (!rc)
		return PP_EXIT_OK;
	return rc == PP_ECUT || rc == PP_ECORRUPT || rc == PP_EIO || rc == PP_ELIMIT
		       ? PP_EXIT_PARTIAL
		       : PP_EXIT_FAIL;
}
