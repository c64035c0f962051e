/* Reads the lines of plat --timeline into columns. */
#include "draw/timeline_parts.h"

#include "base/array.h"
#include "base/err.h"
#include "draw/page.h"

#include <stdlib.h>
#include <string.h>

#define BLOCK	 (1u << 18)
#define LINE_MAX (1u << 16)
#define FIELDS	 8

int timeline_new(struct timeline **t)
{
	*t = calloc(1, sizeof(**t));
	return *t ? 0 : PP_ENOMEM;
}

void timeline_free(struct timeline *t)
{
	if (!t)
		return;
	for (int i = 0; i < NCOLUMNS; i++)
		buf_release(&t->columns[i]);
	buf_release(&t->texts);
	buf_release(&t->from);
	buf_release(&t->unit);
	buf_release(&t->losses);
	buf_release(&t->events);
	for (uint32_t i = 0; i < t->nslices; i++)
		buf_release(&t->slices[i]);
	free(t->slices);
	buf_release(&t->fields);
	intern_release(&t->step_texts);
	free(t->step_text);
	free(t->threads);
	free(t->text_of);
	free(t->ends);
	free(t);
}

bool timeline_is(const char *magic, size_t n)
{
	return n >= sizeof(TIMELINE_MAGIC) - 1 &&
	       !memcmp(magic, TIMELINE_MAGIC, sizeof(TIMELINE_MAGIC) - 1);
}

const struct timeline_account *timeline_account(const struct timeline *t)
{
	return &t->account;
}

bool timeline_is_thread(const char *kind)
{
	static const char *const of[] = {"oncpu", "runq", "blocked", "offcpu"};

	for (size_t i = 0; i < sizeof(of) / sizeof(*of); i++)
		if (!strcmp(kind, of[i]))
			return true;
	return false;
}

const char *timeline_text(const struct timeline *t, uint32_t number)
{
	const char *p = buf_str(&t->texts), *end = p + t->texts.len;

	while (number > 1 && p < end) {
		p += strlen(p) + 1;
		number--;
	}
	return number && p < end ? p : "";
}

/* ---- columns ---- */

void timeline_put_signed(struct buf *b, uint64_t from, uint64_t to)
{
	uint64_t v = to - from;

	page_number(b, v << 1 ^ (0 - (v >> 63)));
}

uint64_t timeline_take(const struct buf *b, size_t *at)
{
	uint64_t v = 0;

	for (unsigned shift = 0; *at < b->len && shift < 64; shift += 7) {
		uint8_t byte = (uint8_t)b->data[(*at)++];

		v |= (uint64_t)(byte & 0x7f) << shift;
		if (byte < 0x80)
			break;
	}
	return v;
}

/* The lane that an interval is in: its thread's, or that of its kind on its CPU. */
static uint32_t lane_of(const struct timeline *t, uint32_t who, unsigned kind, uint32_t cpu)
{
	if (timeline_is_thread(t->kinds[kind]))
		return who * 2;
	return (cpu == UINT32_MAX ? 0 : cpu + 1) * 2 * TIMELINE_KINDS_MAX + 2 * kind + 1;
}

static int end_of(struct timeline *t, uint32_t lane, uint64_t **end)
{
	uint64_t *v = array_widen(t->ends, &t->ends_cap, lane, 256, sizeof(*v));

	if (!v)
		return PP_ENOMEM;
	t->ends = v;
	*end = &v[lane];
	return 0;
}

int timeline_each(const struct timeline *t, timeline_fn *fn, void *ctx)
{
	uint64_t n = t->account.intervals + t->account.open;
	uint64_t *ends = calloc(t->ends_cap + 1, sizeof(*ends));
	size_t at[NCOLUMNS] = {0};
	int rc = ends ? 0 : PP_ENOMEM;

	for (uint64_t i = 0; i < n && !rc; i++) {
		struct timeline_interval iv = {
			.who = (uint32_t)timeline_take(&t->columns[COLUMN_WHO], &at[COLUMN_WHO])};
		uint64_t kind = timeline_take(&t->columns[COLUMN_KIND], &at[COLUMN_KIND]);
		uint64_t gap = timeline_take(&t->columns[COLUMN_GAP], &at[COLUMN_GAP]);
		uint32_t lane;

		iv.open = kind & 1;
		iv.kind = kind / 2 % TIMELINE_KINDS_MAX;
		iv.cpu = (uint32_t)(kind / 2 / TIMELINE_KINDS_MAX) - 1;
		iv.dur = timeline_take(&t->columns[COLUMN_DUR], &at[COLUMN_DUR]);
		iv.name = (uint32_t)timeline_take(&t->columns[COLUMN_NAME], &at[COLUMN_NAME]);
		if (!strcmp(t->kinds[iv.kind], "runq"))
			iv.waker = (uint32_t)timeline_take(&t->columns[COLUMN_WAKER],
							   &at[COLUMN_WAKER]);
		lane = lane_of(t, iv.who, iv.kind, iv.cpu);
		iv.start = ends[lane] + (gap >> 1 ^ (0 - (gap & 1)));
		ends[lane] = iv.start + iv.dur;
		iv.start += t->base - t->first;
		rc = fn(ctx, &iv);
	}
	free(ends);
	return rc;
}

/* ---- lines ---- */

/* The fields of a line after its first character: numbers, UINT64_MAX for an empty one. */
struct fields {
	const char *s[FIELDS];
	size_t len[FIELDS];
	uint64_t v[FIELDS];
	unsigned n;
	bool numbers; /* all are */
	bool four;    /* the first four are */
};

static bool number(const char *s, size_t n, uint64_t *v)
{
	*v = n ? 0 : UINT64_MAX;
	for (size_t i = 0; i < n; i++)
		if (s[i] < '0' || s[i] > '9' || __builtin_mul_overflow(*v, 10, v) ||
		    __builtin_add_overflow(*v, (uint64_t)(s[i] - '0'), v))
			return false;
	return true;
}

static void split(const char *s, size_t n, struct fields *f)
{
	const char *end = s + n, *tab;

	f->n = 0;
	f->numbers = f->four = true;
	while (s < end && *s == '\t' && f->n < FIELDS) {
		unsigned i = f->n++;

		tab = memchr(s + 1, '\t', (size_t)(end - s - 1));
		f->s[i] = s + 1;
		f->len[i] = (size_t)((tab ? tab : end) - f->s[i]);
		if (!number(f->s[i], f->len[i], &f->v[i])) {
			f->v[i] = UINT64_MAX;
			f->numbers = false;
			f->four = f->four && i >= 4;
		}
		s = tab ? tab : end;
	}
}

static void cover(struct timeline *t, uint64_t from, uint64_t to)
{
	t->last = t->begun && t->last > to ? t->last : to;
	t->first = t->begun && t->first < from ? t->first : from;
}

/* PP_ECORRUPT stands for a line that means nothing. */
static int take_interval(struct timeline *t, const struct fields *f, bool open)
{
	uint64_t kind = f->v[0], who = f->v[1], cpu = f->v[2], start = f->v[3], dur = f->v[4], *end;
	uint64_t name = f->v[5] == UINT64_MAX ? 0 : f->v[5], waker = f->v[6];
	uint32_t lane;

	if (!f->numbers || f->n < 7 || kind >= TIMELINE_KINDS_MAX || !t->kinds[kind][0] ||
	    who > t->nthreads || waker > t->nthreads || start > INT64_MAX || dur > INT64_MAX ||
	    (cpu != UINT64_MAX && cpu >= TIMELINE_CPUS_MAX) ||
	    (name && (name >= t->text_of_cap || !t->text_of[name])))
		return PP_ECORRUPT;
	if (timeline_is_thread(t->kinds[kind]) && !who)
		return PP_ECORRUPT;
	cover(t, start, start + dur);
	if (!t->begun && !t->account.marks)
		t->base = t->last_mark = start;
	t->begun = true;
	lane = lane_of(t, (uint32_t)who, (unsigned)kind, (uint32_t)cpu);
	if (end_of(t, lane, &end))
		return PP_ENOMEM;
	page_number(&t->columns[COLUMN_WHO], who);
	page_number(&t->columns[COLUMN_KIND],
		    ((uint64_t)(uint32_t)(cpu + 1) * TIMELINE_KINDS_MAX + kind) * 2 + open);
	timeline_put_signed(&t->columns[COLUMN_GAP], *end, start - t->base);
	page_number(&t->columns[COLUMN_DUR], dur);
	page_number(&t->columns[COLUMN_NAME], name ? t->text_of[name] : 0);
	if (!strcmp(t->kinds[kind], "runq"))
		page_number(&t->columns[COLUMN_WAKER], waker);
	*end = start - t->base + dur;
	t->account.intervals += !open;
	t->account.open += open;
	return 0;
}

/* A kind keeps its name: intervals that came before are kept as this name has them. */
static int take_kind(struct timeline *t, const struct fields *f)
{
	size_t len = f->n < 2 ? 0 : strnlen(f->s[1], f->len[1]);
	char *kind;

	if (!len || f->v[0] >= TIMELINE_KINDS_MAX || len >= sizeof(t->kinds[0]))
		return PP_ECORRUPT;
	kind = t->kinds[f->v[0]];
	if (kind[0] && (strlen(kind) != len || memcmp(kind, f->s[1], len) != 0))
		return PP_ECORRUPT;
	memcpy(kind, f->s[1], len);
	kind[len] = 0;
	if (f->n > 2 && !t->unit.len)
		buf_add(&t->unit, f->s[2], f->len[2]);
	return t->unit.err;
}

static int take_thread(struct timeline *t, const struct fields *f)
{
	struct timeline_thread *v;
	uint64_t name = f->n > 3 ? f->v[3] : 0;

	if (!f->numbers || f->n < 5 || f->v[0] != t->nthreads + 1 || f->v[1] >= UINT32_MAX ||
	    (name && (name >= t->text_of_cap || !t->text_of[name])))
		return PP_ECORRUPT;
	if (t->nthreads == TIMELINE_THREADS_MAX)
		return PP_ELIMIT;
	v = array_widen(t->threads, &t->threads_cap, t->nthreads + 1, 64, sizeof(*v));
	if (!v)
		return PP_ENOMEM;
	t->threads = v;
	v[++t->nthreads] = (struct timeline_thread){(uint32_t)f->v[1], (uint32_t)f->v[2],
						    name ? t->text_of[name] : 0, (uint32_t)f->v[4]};
	return 0;
}

static int take_text(struct timeline *t, const struct fields *f)
{
	uint32_t *v;

	if (f->n < 2 || f->v[0] > 2 * (uint64_t)TIMELINE_THREADS_MAX || !f->v[0])
		return PP_ECORRUPT;
	v = array_widen(t->text_of, &t->text_of_cap, (uint32_t)f->v[0], 256, sizeof(*v));
	if (!v)
		return PP_ENOMEM;
	t->text_of = v;
	v[f->v[0]] = ++t->ntexts;
	buf_add(&t->texts, f->s[1], strnlen(f->s[1], f->len[1]));
	buf_addc(&t->texts, 0);
	return t->texts.err;
}

int timeline_slice(struct timeline *t)
{
	struct buf *v;
	int rc;

	if (!t->fields.len)
		return t->fields.err;
	v = array_widen(t->slices, &t->slices_cap, t->nslices, 16, sizeof(*v));
	if (!v)
		return PP_ENOMEM;
	t->slices = v;
	v[t->nslices] = (struct buf)BUF_INIT;
	rc = page_pack(&v[t->nslices++], &t->fields);
	buf_reset(&t->fields);
	return rc;
}

/* The fields of a mark, which may have none. */
static int take_fields(struct timeline *t, const struct fields *f)
{
	if (f->n > 4)
		buf_add(&t->fields, f->s[4], strnlen(f->s[4], f->len[4]));
	buf_addc(&t->fields, 0);
	return t->account.marks % TIMELINE_SLICE ? t->fields.err : timeline_slice(t);
}

static int take_mark(struct timeline *t, const struct fields *f)
{
	struct buf *b = &t->columns[COLUMN_MARKS];

	if (!f->four || f->n < 4 || f->v[0] > UINT32_MAX || f->v[2] > INT64_MAX ||
	    (f->v[1] != UINT64_MAX && f->v[1] >= TIMELINE_CPUS_MAX))
		return PP_ECORRUPT;
	if (!t->begun && !t->account.marks)
		t->base = t->last_mark = f->v[2];
	page_number(b, f->v[0]);
	page_number(b, (uint32_t)(f->v[1] + 1));
	timeline_put_signed(b, t->last_mark, f->v[2]);
	page_number(b, f->v[3]);
	t->last_mark = f->v[2];
	t->account.marks++;
	return b->err ? b->err : take_fields(t, f);
}

static int take_loss(struct timeline *t, const struct fields *f)
{
	if (!f->numbers || f->n < 3)
		return PP_ECORRUPT;
	t->account.losses++;
	buf_addf(&t->losses, "%s[%lld,\"%llu\",%llu]", t->losses.len ? "," : "",
		 f->v[0] == UINT64_MAX ? -1ll : (long long)f->v[0], (unsigned long long)f->v[1],
		 (unsigned long long)f->v[2]);
	return t->losses.err;
}

static int take_end(struct timeline *t, const struct fields *f, struct diag *d, const char *name)
{
	if (!f->numbers || f->n < 2)
		return PP_ECORRUPT;
	t->ended = true;
	if (f->v[0] != t->account.intervals)
		diag_error(d, name, -1, "%llu of %llu intervals are missing",
			   (unsigned long long)(f->v[0] - t->account.intervals),
			   (unsigned long long)f->v[0]);
	t->account.partial |= f->v[1] != 0 || f->v[0] != t->account.intervals;
	return 0;
}

static int take_line(struct timeline *t, const char *s, size_t n, struct diag *d, const char *name)
{
	struct fields f;

	if (!n || *s == '#')
		return 0;
	split(s + 1, n - 1, &f);
	switch (*s) {
	case 'i': return take_interval(t, &f, false);
	case 'o': return take_interval(t, &f, true);
	case 't': return take_thread(t, &f);
	case 'n': return take_text(t, &f);
	case 'e': return take_mark(t, &f);
	case 'l': return take_loss(t, &f);
	case 'z': return take_end(t, &f, d, name);
	case 'k': return take_kind(t, &f);
	case 'x':
		if (f.n < 2)
			return PP_ECORRUPT;
		buf_adds(&t->events, t->events.len ? "," : "");
		buf_add_json(&t->events, f.s[1], f.len[1]);
		return t->events.err;
	case 'm':
		if (f.n > 1 && f.len[0] == 4 && !memcmp(f.s[0], "from", 4)) {
			buf_adds(&t->from, t->from.len ? ", " : "");
			buf_add(&t->from, f.s[1], f.len[1]);
		}
		return t->from.err;
	}
	/* Lines of kinds that are not known are for later versions. */
	return 0;
}

static int take_lines(struct timeline *t, char *data, size_t *len, struct src *s, struct diag *d,
		      uint64_t *offset)
{
	const char *p = data, *end = data + *len, *newline;
	int rc = 0;

	while (!rc && (newline = memchr(p, '\n', (size_t)(end - p)))) {
		rc = take_line(t, p, (size_t)(newline - p), d, src_name(s));
		if (rc == PP_ECORRUPT) {
			t->account.malformed++;
			diag_warn(d, src_name(s), (int64_t)(*offset + (size_t)(p - data)),
				  "unknown line is left out");
			rc = 0;
		}
		p = newline + 1;
	}
	if (!rc && (size_t)(end - p) > LINE_MAX) {
		diag_error(d, src_name(s), (int64_t)*offset, "a line is too long");
		rc = PP_EUNSUPPORTED;
	}
	*offset += (size_t)(p - data);
	*len = (size_t)(end - p);
	memmove(data, p, *len);
	return rc;
}

int timeline_read(struct timeline *t, struct src *s, struct diag *d)
{
	char *data = malloc(LINE_MAX + BLOCK + 1);
	uint64_t offset = 0;
	size_t len = 0, got = 1;
	int rc = data ? 0 : PP_ENOMEM;

	while (!rc && got) {
		rc = src_read(s, data + len, BLOCK, &got);
		if (rc == PP_ECUT) {
			/* Packed, and cut off: that was reported. */
			t->account.partial = true;
			rc = 0;
		}
		if (rc) {
			diag_error(d, src_name(s), -1, "cannot read: %s", pp_strerror(rc));
			free(data);
			return rc;
		}
		len += got;
		rc = take_lines(t, data, &len, s, d, &offset);
		diag_progress(d, src_name(s), src_tell(s), src_size(s));
	}
	free(data);
	for (int i = 0; i < NCOLUMNS && !rc; i++)
		rc = t->columns[i].err;
	if (rc == PP_ENOMEM || rc == PP_ELIMIT)
		diag_error(d, src_name(s), -1, "cannot keep the timeline: %s", pp_strerror(rc));
	if (!rc && (len || !t->ended)) {
		diag_error(d, src_name(s), -1, "is cut off: its last line is missing");
		t->account.partial = true;
	}
	t->account.partial |= t->account.malformed != 0;
	return rc;
}

int timeline_form(const char *arg, bool *svg, struct buf *why)
{
	*svg = arg && !strcmp(arg, "svg");
	if (!arg || *svg || !strcmp(arg, "html"))
		return 0;
	buf_adds(why, "--timeline: html or svg, not ");
	buf_add_safe(why, arg, strlen(arg));
	return PP_EUSAGE;
}
