/*
 * Folds perf script text:
 *
 *	comm 12/34 [000] 5.678: 100 cycles:
 *		ffffffff81000000 inner+0x12 ([kernel.kallsyms])
 *		    7f0000000000 outer->inlined+0x34 (/usr/bin/x)
 *	(an empty line)
 *
 * What of it is there was chosen by the -F of perf script. Names are made as stackcollapse-perf.pl
 * makes them; the differences are in pfold(1).
 */
#include "fold/perf_parts.h"
#include "fold/readers.h"
#include "fold/tidy.h"
#include "symbol/demangled_name.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Appends the source line that follows a frame: without [...] and without space around it. */
static int add_srcline(struct reader *r)
{
	const char *p, *close;
	struct buf text = BUF_INIT;
	size_t n, from = 0;
	int rc = fold_lines_next(r->lines, &p, &n);

	if (rc)
		return rc == PP_END ? 0 : rc;
	for (const char *end = p + n; p < end;) {
		const char *open = memchr(p, '[', (size_t)(end - p));

		close = open ? memchr(open, ']', (size_t)(end - open)) : NULL;
		buf_add(&text, p, (size_t)((close ? open : end) - p));
		p = close ? close + 1 : end;
	}
	n = text.len;
	while (from < n && fold_is((char)text.data[from], FOLD_SPACE))
		from++;
	while (n > from && fold_is((char)text.data[n - 1], FOLD_SPACE))
		n--;
	if (n > from) {
		buf_addc(&r->name, ':');
		buf_add(&r->name, text.data + from, n - from);
	}
	rc = text.err;
	buf_release(&text);
	return rc;
}

/* One function of a line, with its source line if that is to be read. */
static int add_part(struct reader *r, const struct fold_symbol *s, bool srcline)
{
	uint32_t name;
	int rc;

	buf_reset(&r->name);
	fold_tidy(r->opts, s, &r->name);
	if (srcline) {
		rc = add_srcline(r);
		if (rc)
			return rc;
	}
	if (r->name.err)
		return r->name.err;
	rc = fold_name(r->fold, buf_str(&r->name), r->name.len, &name);
	return rc ? rc : fold_frames_push(&r->parts, r->fold, name);
}

/*
 * The names of a frame's functions, outermost first: those inlined into it are written
 * outer->inner. Empty parts count unless nothing but empty parts follows.
 */
static int split_functions(struct reader *r, const struct fold_frame_line *f)
{
	struct fold_symbol s = {.dso = f->dso,
				.dso_len = f->dso_len,
				.pc = f->pc,
				.pc_len = f->pc_len,
				.java = r->java};
	const char *p = f->func_len ? f->func : "[unknown]";
	size_t n = f->func_len ? fold_without_offset(f) : strlen(p);
	struct name_list names = name_list(p, name_without_arrows(p, n));
	bool unknown = false;
	int rc = 0;

	r->parts.n = 0;
	if (n && *p == '(' && memchr(p, ')', n) == p + n - 1)
		return 0; /* the name of a process */
	fold_lack_frame(&r->lack, f, r->opts);
	s.inlined = f->dso_len == 7 && !memcmp(f->dso, "inlined", 7);
	while (!rc && name_list_next(&names, &s.func, &s.func_len)) {
		unknown = unknown || fold_is_unknown(&s);
		rc = add_part(r, &s, r->opts->srcline && !unknown);
		s.inlined = true;
	}
	fold_frames_reverse(&r->parts);
	return rc;
}

static int push_entry(struct reader *r, uint32_t entry)
{
	const struct fold_cache *c = &r->caches[r->java];
	const struct fold_cache_entry *e = &c->entries[entry];
	int rc = 0;

	r->last = entry;
	if (e->name)
		return fold_frames_push(&r->frames, r->fold, e->name);
	for (uint32_t i = 1; !rc && i <= c->lists[e->list]; i++)
		rc = fold_frames_push(&r->frames, r->fold, c->lists[e->list + i]);
	return rc;
}

/* The function's names are made from its line, and kept if they depend on the key alone. */
static int new_frame(struct reader *r, const struct fold_frame_line *f, const struct text_key *key,
		     uint64_t hash)
{
	uint32_t entry;
	int rc = split_functions(r, f);

	for (size_t i = 0; !rc && i < r->parts.n; i++)
		rc = fold_frames_push(&r->frames, r->fold, r->parts.names[i]);
	r->last = 0;
	if (!rc && key)
		rc = fold_cache_add(&r->caches[r->java], hash, key, r->parts.names, r->parts.n,
				    &entry);
	if (!rc && key)
		r->last = entry;
	return rc;
}

static int start_without_header(struct reader *r);
static int end_sample(struct reader *r);

/* A line of a call chain, or the end of a header; what it is of is there. */
static int take_frame(struct reader *r, const struct fold_frame_line *f, const char *p, size_t n)
{
	struct text_key key;
	uint32_t before = r->last, entry;
	uint64_t hash;
	size_t bare;
	int rc;

	if (r->opts->srcline)
		return new_frame(r, f, NULL, 0);
	bare = fold_without_offset(f);
	key.head = r->opts->addrs ? p : f->pc + f->pc_len;
	key.head_len = (uint32_t)(f->func + bare - key.head);
	key.tail = f->func + f->func_len;
	key.tail_len = (uint32_t)(p + n - key.tail);
	key.offset = bare < f->func_len;
	entry = fold_cache_find(&r->caches[r->java], &key, &hash);
	if (!entry)
		rc = new_frame(r, f, &key, hash);
	else
		rc = push_entry(r, entry);
	if (!rc && before && r->last)
		r->caches[r->java].entries[before].next = r->last;
	return rc;
}

/* A line with a frame, or of no known form. */
static int frame_line(struct reader *r, const char *p, size_t n)
{
	struct fold_frame_line f;
	bool blank = r->blank, alone;
	int rc;

	r->blank = false;
	if (r->opts->srcline) {
		/* The next line is read before this one is done with. */
		buf_reset(&r->line);
		buf_add(&r->line, p, n);
		if (r->line.err)
			return r->line.err;
		p = buf_str(&r->line);
	}
	/* A line that is cut off may be so within its name. */
	if (!fold_frame_parse(p, n, &f) || (!f.has_dso && (r->lines->cut || n == FOLD_LINE_MAX))) {
		if (!r->filtered && !fold_frame_is_other(p, n))
			fold_lines_odd(r->lines, p, n);
		return 0;
	}
	if (r->filtered)
		return 0;
	alone = !r->comm && (blank || r->held.len) && fold_frame_in_columns(p, &f);
	if (alone && (rc = start_without_header(r)))
		return rc;
	if (!r->comm) {
		r->account->outside += !r->filtered;
		return 0;
	}
	r->chained = true;
	rc = take_frame(r, &f, p, n);
	/* Without a tab it is no call chain, and -F left out all before it. */
	if (!rc && alone && *p == ' ') {
		rc = end_sample(r);
		r->blank = true;
	}
	return rc;
}

/*
 * Takes lines for as long as they are those that came next the last time. Stops at the first that
 * is not, or is not wholly in the buffer.
 */
static int expected_frames(struct reader *r)
{
	const struct fold_cache *cache = &r->caches[r->java];
	struct fold_lines *l = r->lines;
	int rc = 0;

	while (!rc && r->last) {
		const char *p = (const char *)l->buf + l->pos, *key = p;
		const char *end = (const char *)l->buf + l->end;
		uint32_t next = cache->entries[r->last].next;
		size_t n;

		if (!next)
			return 0;
		if (!r->opts->addrs) {
			/* The newline after the buffer's end is neither. */
			while (fold_is(*key, FOLD_SPACE))
				key++;
			/* A line that is not indented may be a header. */
			if (key == p || !fold_is(*key, FOLD_WORD))
				return 0;
			while (fold_is(*key, FOLD_WORD))
				key++;
		} else if (!fold_is(*p, FOLD_SPACE)) {
			return 0;
		}
		n = fold_cache_match(cache, next, key, (size_t)(end - key) + 1);
		if (!n || key + n >= end || (size_t)(key - p) + n > FOLD_LINE_MAX)
			return 0;
		l->line = l->base + l->pos;
		l->pos += (size_t)(key - p) + n + 1;
		rc = push_entry(r, next);
	}
	return rc;
}

/* Of the headers without a period each counts 1. */
static int tell(struct reader *r)
{
	const char *name = src_name(r->lines->src);
	struct fold_about from = {0}, *a;

	for (uint32_t i = 0; (a = fold_lane_about(r->fold, i)); i++) {
		const char *unit =
			r->periods[i] ? fold_about_unit(a->event, strlen(a->event)) : "samples";

		if (!*a->event)
			continue;
		/* Of several events, each with a root, only that is known which all have. */
		a->units = r->periods[i] && strchr(a->event, '+');
		if (!a->units)
			snprintf(a->unit, sizeof(a->unit), "%s", unit);
	}
	fold_about_from(&from, name, strlen(name));
	return fold_tell_lanes(r->fold, &from, name);
}

/* The function at the end of the header, if no call chain followed. */
static int add_leaf(struct reader *r)
{
	struct fold_frame_line f;
	const char *p = buf_str(&r->leaf);
	size_t n = r->leaf.len;

	if (r->chained || !n || !fold_frame_parse(p, n, &f))
		return 0;
	/* Before a call chain that is empty: the address that the event is about. */
	if (r->ended && !f.func_len && !f.has_dso)
		return 0;
	return take_frame(r, &f, p, n);
}

static int end_sample(struct reader *r)
{
	uint32_t node;
	int rc = 0;

	r->filtered = false;
	if (r->comm)
		rc = add_leaf(r);
	if (rc || !r->comm) {
		r->ended = false;
		return rc;
	}
	r->lack.ip |= !r->chained && !r->ended && !r->frames.n;
	fold_sample(r->fold, r->lane, r->period, r->told, r->frames.n > 0);
	/* There is always room for one more, but not before there is any. */
	if (!r->frames.cap && (rc = fold_frames_grow(&r->frames, r->fold)))
		return rc;
	r->frames.names[r->frames.n++] = r->comm;
	for (uint32_t i = 0; i < r->opts->nby; i++) {
		rc = fold_frames_push(&r->frames, r->fold, r->by[i]);
		if (rc)
			return rc;
	}
	rc = fold_stack(r->fold, r->frames.names, r->frames.n, &node);
	if (!rc)
		fold_add(r->fold, node, r->weight);
	r->frames.n = 0;
	r->comm = 0;
	r->last = 0;
	r->chained = r->ended = false;
	return rc;
}

static int header(struct reader *r, const struct fold_header *h)
{
	int rc = end_sample(r);

	return rc ? rc : fold_perf_header(r, h);
}

/* A line that was kept as the beginning of a command, and is none. */
static void drop_held(struct reader *r)
{
	uint64_t line = r->lines->line;

	if (r->held.len && !r->filtered) {
		r->lines->line = r->held_at;
		fold_lines_odd(r->lines, buf_str(&r->held), r->held.len);
		r->lines->line = line;
	}
	buf_reset(&r->held);
}

/*
 * Keeps a line that may be a command without anything else, or the first line of one: commands may
 * have newlines.
 */
static bool hold(struct reader *r, const char *p, size_t n)
{
	struct fold_frame_line f;

	if (*p == '\t' || n > FOLD_COMM_COUNT || r->chained || fold_frame_is_other(p, n) ||
	    fold_frame_parse(p, n, &f))
		return false;
	if (r->held.len)
		buf_addc(&r->held, '\n');
	else
		r->held_at = r->lines->line;
	buf_add(&r->held, p, n);
	return true;
}

/* The last lines that were kept are the beginning of the header's command, as many as fit. */
static void join_held(struct reader *r, struct fold_header *h)
{
	size_t from = 0, len;

	buf_addc(&r->held, '\n');
	buf_add(&r->held, h->comm, h->comm_len);
	for (;;) {
		const char *p = buf_str(&r->held) + from, *next;

		len = r->held.len - from;
		/* The columns of a command, as in set_comm. */
		if (len == FOLD_COMM_MAX)
			while (*p == ' ')
				p++, len--;
		next = memchr(p, '\n', len);
		if (len < FOLD_COMM_MAX) {
			h->comm = p;
			h->comm_len = len;
			return;
		}
		if (!next)
			return;
		if (!r->filtered)
			fold_lines_odd(r->lines, p, (size_t)(next - p));
		from = (size_t)(next + 1 - buf_str(&r->held));
	}
}

/* A frame without a header: -F left out all of it, or all but the command, which is held. */
static int start_without_header(struct reader *r)
{
	struct fold_header h = FOLD_HEADER_INIT;
	int rc;

	if (r->held.len) {
		h.comm = buf_str(&r->held);
		h.comm_len = r->held.len - 1;
	}
	if (r->filtered || (r->held.len && h.comm[h.comm_len] != ' '))
		return 0;
	rc = header(r, &h);
	buf_reset(&r->held);
	return rc;
}

/* A frame in a text that has lost the white space at the beginning of its lines. */
static bool is_bare_frame(const struct reader *r, const char *p, size_t n,
			  const struct fold_header *h)
{
	struct fold_frame_line f;

	return !r->blank && !h->timed && !h->cpu_len && !h->event_len && !h->record &&
	       fold_frame_parse(p, n, &f) && f.pc == p && f.has_dso;
}

static bool is_header(const struct reader *r, const char *p, size_t n, struct fold_header *h)
{
	/* Commands may begin with white space, too, but a frame is none. */
	if ((*p == '\t' && !r->blank) || !fold_header_parse(p, n, r->without, h) ||
	    is_bare_frame(r, p, n, h))
		return false;
	if (!fold_is(*p, FOLD_SPACE) || h->timed || h->cpu_len)
		return true;
	return h->event_len || h->record ||
	       (*p == ' ' && fold_span(h->rest, 0, h->rest_len, FOLD_SPACE) == h->rest_len);
}

/* An empty line ends a sample. A command alone with a blank was one, too. */
static int empty_line(struct reader *r)
{
	struct fold_header h = FOLD_HEADER_INIT;
	int rc = 0;

	if (r->held.len && buf_str(&r->held)[r->held.len - 1] == ' ') {
		h.comm = buf_str(&r->held);
		h.comm_len = r->held.len - 1;
		rc = header(r, &h);
		buf_reset(&r->held);
	} else if (r->held.len) {
		drop_held(r);
	}
	r->ended = r->blank = true;
	return rc ? rc : end_sample(r);
}

static int perf_line(struct reader *r, const char *p, size_t n)
{
	struct fold_header h;
	int rc;

	if (n && p[n - 1] == '\r')
		n--;
	if (!n)
		return empty_line(r);
	if (*p == '#' && fold_is_comment(p, n))
		return 0;
	if (is_header(r, p, n, &h)) {
		if (r->held.len)
			join_held(r, &h);
		rc = r->held.err ? r->held.err : header(r, &h);
		buf_reset(&r->held);
		/* Commands of lines that are no samples begin with white space, too. */
		r->blank = h.record;
		return rc;
	}
	if (hold(r, p, n)) {
		r->blank = false;
		return r->held.err;
	}
	return frame_line(r, p, n);
}

/* What is missing of the sample's fields, or of the text. */
static void tell_missing(struct reader *r, uint64_t outside)
{
	const char *name = src_name(r->lines->src);

	if (fold_lack_tell(&r->lack, fold_diag(r->fold), name))
		r->account->lacks = true;
	if (r->account->outside > outside) {
		diag_warn(fold_diag(r->fold), name, -1,
			  "lines of frames before the first sample are left out: %" PRIu64,
			  r->account->outside - outside);
		r->account->lacks = true;
	}
	if (!r->lost)
		return;
	diag_warn(fold_diag(r->fold), name, -1, "events lost by the recorder: %" PRIu64, r->lost);
	if (__builtin_add_overflow(r->account->lost, r->lost, &r->account->lost))
		r->account->lost = UINT64_MAX;
}

int fold_perf(struct fold *f, struct fold_lines *l)
{
	struct reader r = {.fold = f,
			   .opts = fold_options(f),
			   .account = fold_account(f),
			   .lines = l,
			   .blank = true};
	const uint64_t samples = r.account->samples, folded = r.account->folded;
	const uint64_t outside = r.account->outside;
	const char *p;
	size_t n;
	int rc = fold_text_can(f, src_name(l->src), "perf script text", true, true);

	while (!rc && !(rc = fold_lines_next(l, &p, &n))) {
		rc = perf_line(&r, p, n);
		if (rc)
			break;
		rc = expected_frames(&r);
		if (rc)
			break;
	}
	/* The last sample may lack its empty line. */
	if (rc == PP_END) {
		drop_held(&r);
		rc = end_sample(&r);
	}
	if (!rc && r.account->folded == folded && l->odd > r.account->samples - samples) {
		fold_lines_no_text(l);
		rc = PP_EUNSUPPORTED;
	}
	if (!rc)
		rc = tell(&r);
	if (!rc)
		tell_missing(&r, outside);
	fold_cache_release(&r.caches[0]);
	fold_cache_release(&r.caches[1]);
	buf_release(&r.line);
	buf_release(&r.name);
	buf_release(&r.leaf);
	buf_release(&r.held);
	free(r.parts.names);
	free(r.frames.names);
	return rc;
}
