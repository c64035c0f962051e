/* Reads folded text into the tree of a flame graph. */
#include "draw/flame_tree.h"

#include "base/err.h"
#include "fold/canon.h"
#include "fold/fold.h"
#include "stream/foreign.h"
#include "stream/stream.h"

#include <stdlib.h>
#include <string.h>

#define BLOCK	   (1u << 18) /* bytes asked for at once */
#define LOOK_AT	   512	      /* first bytes, to know other formats by */
#define NUMBER_MAX 63	      /* characters of a count */

#define PARTIAL "# partial: " /* begins the last line of pfold's text when its input was damaged */

struct reader {
	struct flame *f;
	struct src *s;
	struct diag *d;
	struct buf stack, name; /* of take_side */
	char *data;		/* FLAME_LINE_MAX + BLOCK bytes */
	size_t len;
	uint64_t offset; /* of data in the input */
	bool eof;
	bool skip;						    /* in a line that is too long */
	bool first;						    /* no line was taken yet */
	bool told;						    /* what is counted */
	bool other;						    /* not the chosen event */
	bool rooted;						    /* events are the roots */
	struct fold_about chosen;				    /* the event, then */
	char every[200];					    /* becomes the root, if any */
	uint64_t lines, doubles;				    /* with a count, with two */
	uint64_t malformed;					    /* before this text */
	enum { COLUMNS_UNKNOWN, COLUMNS_ONE, COLUMNS_TWO } columns; /* of a comparison */
};

static bool parse_float(const char *s, size_t n, long double *v)
{
	char text[NUMBER_MAX + 1], *end;

	if (n > NUMBER_MAX)
		return false;
	memcpy(text, s, n);
	text[n] = 0;
	/* strtold also takes spaces, signs, hexadecimal, inf and nan. */
	if (strspn(text, "0123456789.eE+-") < n || text[0] == '+' || text[0] == '-')
		return false;
	*v = strtold(text, &end);
	return end == text + n && *v >= 0 && *v <= FLAME_COUNT_MAX;
}

static bool parse_count(const char *s, size_t n, long double *v)
{
	uint64_t x = 0;
	size_t i;

	for (i = 0; i < n && s[i] >= '0' && s[i] <= '9'; i++)
		if (__builtin_mul_overflow(x, 10, &x) ||
		    __builtin_add_overflow(x, (uint64_t)(s[i] - '0'), &x))
			return parse_float(s, n, v);
	if (!n || i < n)
		return n && parse_float(s, n, v);
	*v = (long double)x;
	return true;
}

/*
 * Whether there are NUL bytes, and the first line has no count: a name may have them, if need be.
 */
static bool is_binary(const char *p, size_t n)
{
	const char *newline = memchr(p, '\n', n), *space;
	size_t line = newline ? (size_t)(newline - p) : n;
	long double count;

	if (!memchr(p, 0, n))
		return false;
	space = memrchr(p, ' ', line);
	return !space || !parse_count(space + 1, line - (size_t)(space + 1 - p), &count);
}

static int refuse_kind(struct reader *r)
{
	const struct ps_foreign *other = ps_foreign(r->data, r->len);

	if (r->len >= 8 && !memcmp(r->data, PS_MAGIC, 8))
		diag_error(r->d, src_name(r->s), -1, "is an event stream: put pfold before psvg");
	else if (other)
		diag_error(r->d, src_name(r->s), -1, "is %s: %s", other->is,
			   other->recorded ? "put pdecode, psym and pfold before psvg"
					   : other->remedy);
	else if (is_binary(r->data, r->len))
		diag_error(r->d, src_name(r->s), -1,
			   "is binary, not folded text: pfold makes that from an event stream");
	else
		return 0;
	return PP_EUNSUPPORTED;
}

static bool is_blank(char c)
{
	return c == ' ' || c == '\t' || c == '\r';
}

/* Whether a stack ends in a count of its own, as in the "main;f 10 12" of a comparison. */
static bool ends_with_count(const char *stack, size_t n)
{
	const char *space = memrchr(stack, ' ', n);
	long double count;

	return space && parse_count(space + 1, n - (size_t)(space + 1 - stack), &count);
}

/* Of several events, what is known of the one that was chosen. False: it is not among them. */
static bool choose_event(struct reader *r, struct fold_about *a)
{
	enum fold_has has = fold_about_choose(a, r->f->event);

	r->chosen = *a;
	r->other = has == FOLD_HAS_NONE;
	r->rooted = has == FOLD_HAS_ROOT;
	for (char *p = a->event; r->other && *p;) {
		size_t n = strcspn(p, "+");

		fold_about_event(&r->f->other, p, n, "", 0);
		p += n + (p[n] == '+');
	}
	return !r->other;
}

/*
 * What is left of a stack when one event was chosen, of several that are roots: false if it is
 * another's.
 */
static bool below_event(struct reader *r, const char **line, const char *space)
{
	size_t len = (size_t)(space - *line);
	const char *semicolon = memchr(*line, ';', len);
	size_t root = semicolon ? (size_t)(semicolon - *line) : len;

	if (!fold_about_wants(&r->chosen, r->f->event, *line, root)) {
		fold_about_event(&r->f->other, *line, root, "", 0);
		return false;
	}
	*line += root + (semicolon != NULL);
	return true;
}

/* Each event becomes a root; where there are several, pfold --by event made them. */
static int take_every(struct reader *r, const struct fold_about *a)
{
	struct fold_about *known = &r->f->account.about;
	struct fold_about rest = *a;

	*r->every = 0;
	if (!strchr(a->event, '+'))
		memcpy(r->every, *a->event ? a->event : "-", *a->event ? sizeof(r->every) : 2);
	for (const char *p = a->event; *p;) {
		size_t n = strcspn(p, "+");

		fold_about_event(known, p, n, a->unit, strlen(a->unit));
		p += n + (p[n] == '+');
	}
	*rest.event = *rest.unit = 0;
	fold_about_merge(known, &rest);
	return known->err;
}

/* A stack with its event as the root. */
static int add_every(struct reader *r, const char *line, size_t n, long double count)
{
	struct buf *b = &r->f->rooted;

	if (!*r->every)
		return flame_add(r->f, line, n, count);
	buf_reset(b);
	buf_addf(b, "%s%s", r->every, n ? ";" : "");
	buf_add(b, line, n);
	return b->err ? b->err : flame_add(r->f, buf_str(b), b->len, count);
}

static bool every_event(const struct flame *f)
{
	return f->event && !strcmp(f->event, FLAME_EVERY);
}

/* What is counted has to be the same in all of the input. */
static int take_about(struct reader *r, struct fold_about *about)
{
	struct fold_about *known = &r->f->account.about;
	struct buf b = BUF_INIT;

	r->told = true;
	if (every_event(r->f))
		return take_every(r, about);
	if (r->f->event && !choose_event(r, about))
		return r->f->other.err;
	if (!fold_about_clashes(known, about)) {
		fold_about_merge(known, about);
		return about->err ? about->err : known->err;
	}
	buf_adds(&b, "counts ");
	fold_about_describe(about, &b);
	buf_adds(&b, ", but the input before counts ");
	fold_about_describe(known, &b);
	diag_error(r->d, src_name(r->s), -1, "%s: select one with --event", buf_str(&b));
	buf_release(&b);
	return PP_EMISMATCH;
}

/* A stack of one side alone: functions have the names by which pdiff compares them. */
static int take_side(struct reader *r, const char *stack, size_t n, long double count)
{
	const char *end = stack + n, *next = memchr(stack, ';', n);
	bool base = r->f->diff->base_side;

	buf_reset(&r->stack);
	/* The first is the command. */
	buf_add(&r->stack, stack, next ? (size_t)(next - stack) : n);
	while (next) {
		const char *name = next + 1;

		next = memchr(name, ';', (size_t)(end - name));
		canon_name(name, (size_t)((next ? next : end) - name), &r->name);
		buf_addc(&r->stack, ';');
		buf_add(&r->stack, r->name.data, r->name.len);
	}
	if (r->stack.err || r->name.err)
		return PP_ENOMEM;
	return flame_add_both(r->f, buf_str(&r->stack), r->stack.len, base ? count : 0,
			      base ? 0 : count);
}

/* A line of a comparison, whose last count is at `space`. The first one decides. */
static int take_both(struct reader *r, const char *line, const char *space, long double count)
{
	const char *first = memrchr(line, ' ', (size_t)(space - line));
	struct flame_diff *d = r->f->diff;
	long double base = 0;
	bool two = first && parse_count(first + 1, (size_t)(space - first - 1), &base);

	if (r->columns == COLUMNS_UNKNOWN) {
		r->columns = two ? COLUMNS_TWO : COLUMNS_ONE;
		d->both |= two;
	}
	if (r->columns == COLUMNS_TWO && two)
		return flame_add_both(r->f, line, (size_t)(first - line), base, count);
	if (r->columns == COLUMNS_TWO) {
		r->f->account.malformed++;
		diag_warn(r->d, src_name(r->s), (int64_t)(r->offset + (size_t)(line - r->data)),
			  "line without two counts is left out");
		return 0;
	}
	return take_side(r, line, (size_t)(space - line), count);
}

/* Takes a line without its newline. */
static int take_line(struct reader *r, const char *line, size_t n)
{
	struct fold_about about;
	const char *space, *end;
	long double count;
	bool first = r->first;
	int rc;

	while (n && is_blank(line[n - 1]))
		n--;
	if (!n)
		return 0;
	end = line + n;
	r->first = false;
	if (n > sizeof(PARTIAL) && !memcmp(line, PARTIAL, sizeof(PARTIAL) - 1)) {
		r->f->account.partial = true;
		diag_say(r->d, src_name(r->s), "the folded text is %.*s", (int)(n - 2), line + 2);
		return 0;
	}
	if (*line == '#' && fold_about_parse(line, n, &about))
		return take_about(r, &about);
	if (*line == '#' && flame_diff_line(r->f, line, n, &rc))
		return rc;
	if (fold_is_note(line, n))
		return 0;
	if (r->f->event && !r->told) {
		diag_error(r->d, src_name(r->s), -1,
			   "does not say what it counts: --event cannot select");
		return PP_EMISMATCH;
	}
	if (r->other)
		return 0;
	space = memrchr(line, ' ', n);
	if (r->rooted && space && !below_event(r, &line, space))
		return r->f->other.err;
	r->f->account.lines++;
	if (!space || !parse_count(space + 1, (size_t)(end - space - 1), &count)) {
		if (first && memchr(line, '\t', n)) {
			diag_error(r->d, src_name(r->s), -1,
				   "is a table (text with tabs), not folded text");
			return PP_EUNSUPPORTED;
		}
		r->f->account.malformed++;
		diag_warn(r->d, src_name(r->s), (int64_t)(r->offset + (size_t)(line - r->data)),
			  "line without a count after its last space is left out");
		return 0;
	}
	r->f->account.unsaid |= !r->told;
	if (r->f->diff)
		return take_both(r, line, space, count);
	/* One line with a single count decides it. */
	if (r->doubles == r->lines++)
		r->doubles += ends_with_count(line, (size_t)(space - line));
	return add_every(r, line, (size_t)(space - line), count);
}

static int take(struct reader *r, const char *line, size_t n)
{
	if (n <= FLAME_LINE_MAX)
		return take_line(r, line, n);
	diag_warn(r->d, src_name(r->s), (int64_t)(r->offset + (size_t)(line - r->data)),
		  "line of more than %u bytes is left out", FLAME_LINE_MAX);
	r->f->account.lines++;
	r->f->account.malformed++;
	r->first = false;
	return 0;
}

/* Takes the lines in the buffer and moves the rest to its front. */
static int take_lines(struct reader *r)
{
	const char *p = r->data, *end = r->data + r->len, *newline;
	int rc = 0;

	while (!rc && (newline = memchr(p, '\n', (size_t)(end - p)))) {
		if (!r->skip)
			rc = take(r, p, (size_t)(newline - p));
		r->skip = false;
		p = newline + 1;
	}
	if (!rc && !r->skip && (size_t)(end - p) > FLAME_LINE_MAX) {
		rc = take(r, p, (size_t)(end - p));
		r->skip = true;
	}
	if (r->skip)
		p = end;
	r->len = (size_t)(end - p);
	r->offset += (size_t)(p - r->data);
	memmove(r->data, p, r->len);
	return rc;
}

/*
 * What turns out to be no folded text, or a comparison, when all of it was read. One line without a
 * count may be one that was cut off.
 */
static int refuse_text(struct reader *r)
{
	if (!r->lines && !r->f->diff && r->f->account.malformed > r->malformed + 1) {
		diag_error(
			r->d, src_name(r->s), -1,
			"is not folded text: pfold makes that from an event stream, or of the text of "
			"perf script");
		return PP_EUNSUPPORTED;
	}
	if (!r->lines || r->doubles < r->lines)
		return 0;
	diag_error(r->d, src_name(r->s), -1, "%s; psvg --diff draws both", FOLD_TWO_COUNTS);
	return PP_EUNSUPPORTED;
}

static int fill(struct reader *r)
{
	size_t got;
	int rc = src_read(r->s, r->data + r->len, BLOCK, &got);

	/* What is packed and cut off was reported. */
	if (rc == PP_ECUT) {
		r->f->account.partial = r->eof = true;
		return 0;
	}
	if (rc) {
		diag_error(r->d, src_name(r->s), -1, "cannot read: %s", pp_strerror(rc));
		return rc;
	}
	r->len += got;
	r->eof = !got;
	diag_progress(r->d, src_name(r->s), src_tell(r->s), src_size(r->s));
	return 0;
}

static int read_all(struct reader *r)
{
	int rc = 0;

	while (!rc && !r->eof && r->len < LOOK_AT)
		rc = fill(r);
	if (!rc)
		rc = refuse_kind(r);
	while (!rc && !r->eof) {
		rc = take_lines(r);
		if (!rc)
			rc = fill(r);
	}
	if (!rc)
		rc = take_lines(r);
	if (!rc && r->len) {
		diag_warn(r->d, src_name(r->s), -1,
			  "the last line has no newline: the input may be cut off");
		rc = take_line(r, r->data, r->len);
	}
	return rc ? rc : refuse_text(r);
}

int flame_read(struct flame *f, struct src *s, struct diag *d)
{
	struct reader r = {
		.f = f, .s = s, .d = d, .first = true, .malformed = f->account.malformed};
	uint64_t deep = f->account.deep;
	int rc;

	r.data = malloc(FLAME_LINE_MAX + BLOCK + 1);
	rc = r.data ? read_all(&r) : PP_ENOMEM;
	if (rc == PP_ENOMEM || rc == PP_ELIMIT)
		diag_error(d, src_name(s), -1, "cannot keep all stacks: %s", pp_strerror(rc));
	buf_release(&r.stack);
	buf_release(&r.name);
	free(r.data);
	deep = f->account.deep - deep;
	if (deep)
		diag_warn(d, src_name(s), -1, "%llu stacks have more than %d frames and are cut",
			  (unsigned long long)deep, FLAME_DEPTH_MAX);
	return rc;
}
