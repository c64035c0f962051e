/* Unpacking an input, and finding its kind by its first bytes. */
#include "input/kind.h"

#include "base/err.h"
#include "base/plain.h"
#include "ftext/ftext.h"
#include "perfdata/format.h"
#include "tracedat/tracedat.h"
#include "stream/foreign.h"
#include "stream/stream.h"

#include <string.h>

static enum input_kind kind_of(const uint8_t *p, size_t n)
{
	static const struct {
		const char *magic;
		size_t len;
		enum input_kind kind;
	} kinds[] = {
		{PERF_MAGIC2, 8, KIND_PERF}, {PERF_MAGIC2_SWAP, 8, KIND_PERF},
		{PERF_MAGIC1, 8, KIND_PERF}, {TRACE_MAGIC, TRACE_MAGIC_LEN, KIND_TRACE_DAT},
		{PS_MAGIC, 8, KIND_STREAM},
	};

	for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++)
		if (n >= kinds[i].len && !memcmp(p, kinds[i].magic, kinds[i].len))
			return kinds[i].kind;
	return KIND_UNKNOWN;
}

/* Text has no magic: lines are looked at until one is an event. */
static int look_for_text(struct src *s, enum input_kind *kind)
{
	uint8_t bytes[FTEXT_PEEK];
	size_t n = 0, got = 1;
	bool more = true, found = false;
	int rc = 0;

	while (!rc && got && more && !found && n < sizeof(bytes)) {
		rc = src_read(s, bytes + n, sizeof(bytes) - n, &got);
		if (rc)
			break;
		n += got;
		found = ftext_looks_like(bytes, n, &more);
	}
	if (found)
		*kind = KIND_FTRACE_TEXT;
	return rc ? rc : src_unread(s, bytes, n);
}

/* Reports why an input of this kind, or without a byte, cannot be read; 0 if it can. */
static int refuse(enum input_kind kind, bool empty, struct src *s, struct diag *d)
{
	const struct ps_foreign *other;
	uint8_t first[PS_FOREIGN_TEXT];
	size_t n;

	if (empty) {
		diag_error(d, src_name(s), -1,
			   "is empty: what was to write it could not, and says why");
		return PP_EUNSUPPORTED;
	}
	if (kind != KIND_UNKNOWN)
		return 0;
	if (src_peek(s, first, sizeof(first), &n))
		n = 0;
	other = ps_foreign(first, n);
	other = other ? other : ps_foreign_text(first, n);
	diag_error(d, src_name(s), 0,
		   "is neither perf.data, trace.dat, ftrace text nor an event stream%s%s%s%s",
		   other ? ", but " : "", other ? other->is : "",
		   other && other->remedy ? ": " : "", other && other->remedy ? other->remedy : "");
	return PP_EUNSUPPORTED;
}

int input_unwrap(struct src **s, enum input_kind *kind, struct diag *d)
{
	uint8_t first[16];
	size_t n;
	int rc = plain_src(s, d);

	*kind = KIND_UNKNOWN;
	if (rc)
		return rc;
	rc = src_peek(*s, first, sizeof(first), &n);
	if (!rc)
		*kind = kind_of(first, n);
	if (!rc && *kind == KIND_UNKNOWN && n)
		rc = look_for_text(*s, kind);
	if (rc) {
		diag_error(d, src_name(*s), -1, "cannot read: %s", pp_strerror(rc));
		return rc;
	}
	return refuse(*kind, !n, *s, d);
}
