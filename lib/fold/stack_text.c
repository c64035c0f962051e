/* Finds out which text an input is, and has it folded. */
#include "fold/stack_text.h"

#include "fold/sample_header.h"
#include "fold/readers.h"

#include <stdlib.h>
#include <string.h>

enum kind { UNDECIDED, PERF, BPFTRACE, DTRACE, TRACECMD, FOLDED };

/* "@[", "@name[", "@[, comm]: 3". */
static bool is_bpftrace_map(const char *p, size_t n)
{
	size_t i = n && p[0] == '@' ? fold_span(p, 1, n, FOLD_WORD) : n;

	return i < n && p[i] == '[' && (i + 1 == n || p[i + 1] == ',' || p[n - 1] != ':');
}

static bool is_bpftrace(const char *p, size_t n)
{
	static const char start[] = "Attaching ";
	size_t i = sizeof(start) - 1, digits;

	if (is_bpftrace_map(p, n))
		return true;
	if (n < i || memcmp(p, start, i))
		return false;
	digits = fold_span(p, i, n, FOLD_DIGIT);
	return digits > i && n - digits >= 6 && !memcmp(p + digits, " probe", 6);
}

static bool ends_with_count(const char *p, size_t n)
{
	size_t i = n;

	while (i && fold_is(p[i - 1], FOLD_DIGIT))
		i--;
	return i < n && i > 1 && p[i - 1] == ' ';
}

/* The line of DTrace about a probe: CPU, number, and a name with a colon. */
static bool is_probe(const char *p, size_t n)
{
	size_t i = 0;

	for (int k = 0; k < 2; k++) {
		size_t from = fold_span(p, i, n, FOLD_SPACE);

		i = fold_span(p, from, n, FOLD_DIGIT);
		if (i == from || i == n || !fold_is(p[i], FOLD_SPACE))
			return false;
	}
	i = fold_span(p, i, n, FOLD_SPACE);
	return memchr(p + i, ':', n - i) && !memchr(p + i, '(', n - i);
}

static enum kind kind_of_line(const char *p, size_t n, bool *count)
{
	struct fold_header h;

	if (!n)
		return UNDECIDED;
	if (p[0] == '#' && fold_is_comment(p, n)) {
		/* Or the folded stack of a thread whose name begins so. */
		*count = *count || (n > 1 && !fold_is(p[1], FOLD_SPACE) && ends_with_count(p, n));
		return UNDECIDED;
	}
	if (is_bpftrace(p, n))
		return BPFTRACE;
	if (fold_is_tracecmd(p, n))
		return TRACECMD;
	if (fold_is_dtrace(p, n))
		return DTRACE;
	if (fold_is_preamble(p, n) || fold_is_address(p, n))
		return UNDECIDED;
	/* "  0  64091   :tick-60s" */
	if (fold_is(p[0], FOLD_SPACE) && is_probe(p, n))
		return UNDECIDED;
	if (fold_is(p[0], FOLD_SPACE))
		return fold_span(p, 0, n, FOLD_SPACE) == n ? UNDECIDED : PERF;
	if (!ends_with_count(p, n))
		return fold_header_parse(p, n, 0, &h) && h.pid_len + h.timed ? PERF : UNDECIDED;
	if (!fold_header_parse(p, n, 0, &h) || !h.pid_len)
		return FOLDED;
	if (h.timed)
		return PERF;
	/* "Web Content 12 3" may be either. */
	*count = true;
	return memchr(p, ';', n) ? FOLDED : UNDECIDED;
}

/* Reads until the kind is clear. What is never clear is folded text if it has counts. */
static int find_kind(struct fold_lines *l, enum kind *kind)
{
	size_t at = 0;
	bool count = false;

	*kind = UNDECIDED;
	for (;;) {
		const uint8_t *nl = memchr(l->buf + at, '\n', l->end - at);
		int rc;

		if (!nl && !l->eof && l->end < FOLD_KIND_MAX) {
			rc = fold_lines_fill(l);
			if (rc)
				return rc;
			continue;
		}
		if (!nl)
			nl = l->buf + l->end;
		*kind = kind_of_line((const char *)l->buf + at, (size_t)(nl - l->buf) - at, &count);
		at = (size_t)(nl - l->buf) + 1;
		if (*kind != UNDECIDED)
			return 0;
		if (at >= l->end && (l->eof || l->end >= FOLD_KIND_MAX))
			break;
		if (at > l->end)
			at = l->end;
	}
	*kind = count ? FOLDED : PERF;
	return 0;
}

int fold_text(struct fold *f, struct src *s)
{
	struct fold_lines l;
	enum kind kind;
	int rc = fold_lines_init(&l, f, s);

	if (!rc)
		rc = find_kind(&l, &kind);
	if (!rc && memchr(l.buf, 0, l.end)) {
		diag_error(fold_diag(f), src_name(s), -1, "is binary, but not an event stream");
		rc = PP_EUNSUPPORTED;
	}
	if (!rc)
		rc = kind == BPFTRACE	? fold_bpftrace(f, &l)
		     : kind == DTRACE	? fold_dtrace(f, &l)
		     : kind == TRACECMD ? fold_tracecmd(f, &l)
		     : kind == FOLDED	? fold_folded(f, &l)
					: fold_perf(f, &l);
	if (pp_is_io(rc))
		diag_error(fold_diag(f), src_name(s), (int64_t)src_tell(s), "cannot read: %s",
			   pp_strerror(rc));
	if (!rc && l.cut) {
		diag_warn(fold_diag(f), src_name(s), (int64_t)l.line,
			  "input is cut off: it ends in the middle of a line");
		rc = PP_ECUT;
	}
	fold_lines_release(&l);
	return rc;
}
