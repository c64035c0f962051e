/*
 * Folds perf script text:
 *
 *	comm 12/34 [000] 5.678: 100 cycles:
 *		ffffffff81000000 inner+0x12 ([kernel.kallsyms])
 *		    7f0000000000 outer->inlined+0x34 (/usr/bin/x)
 *	(an empty line)
 *
 * Read as stackcollapse-perf.pl reads it, whose regular expressions are quoted below: its result is
 * what others compare ours with.
 */
#include "fold/by.h"
#include "fold/cache.h"
#include "fold/header.h"
#include "fold/readers.h"
#include "fold/tidy.h"
#include "symbol/name.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct reader {
	struct fold *fold;
	const struct fold_opts *opts;
	struct fold_account *account;
	struct fold_lines *lines;
	struct fold_frames frames; /* of the sample, leaf first */
	uint32_t comm;		   /* of the sample; 0: there is none, or it is filtered out */
	uint32_t by[FOLD_BY_MAX];  /* frames above the command, leaf first */
	bool filtered;		   /* the last header was of another event */
	bool java;
	uint64_t weight;		   /* of the sample */
	uint64_t period;		   /* as its header has it; 0: it has none */
	uint32_t lane;			   /* of the sample */
	bool periods[FOLD_EVENTS_MAX + 1]; /* by lane: headers have periods */
	/* The event that was noted last, and its lane. */
	char event[64];
	size_t event_len;
	uint32_t event_lane;
	/* One for the names as they are, one for those in Java processes. */
	struct fold_cache caches[2];
	uint32_t last;		  /* entry of the line before in its cache; 0: none */
	struct buf line, name;	  /* scratch */
	struct fold_frames parts; /* names of one line */
};

/* The parts of a line with a frame. */
struct frame_line {
	const char *pc, *func, *dso;
	size_t pc_len, func_len, dso_len;
	bool plain; /* func begins after the whole first word */
};

/*
 * The end of a line's DSO: its last ')', or the mark of a file that is gone, "(/bin/x (deleted))".
 */
static const char *dso_end(const char *p, size_t n)
{
	static const char gone[] = " (deleted)";
	const size_t len = sizeof(gone) - 1;
	const char *close = memrchr(p, ')', n);

	if (!close || (size_t)(close - p) < len || memcmp(close - len, gone, len) != 0)
		return close;
	return memmem(p, (size_t)(close - len - p), " (", 2) ? close - len : close;
}

/*
 * Like /^\s*(\w+)\s*(.+) \((.*)\)/, with what it gives back when it has to: the DSO begins after
 * the last " (" that a ')' follows, and the function has at least one byte, if need be the last of
 * the word before.
 */
static bool frame_parse(const char *p, size_t n, struct frame_line *f)
{
	const char *close = dso_end(p, n), *at = close;
	size_t word = 0, end, open, func;

	while (word < n && fold_is(p[word], FOLD_SPACE))
		word++;
	for (end = word; end < n && fold_is(p[end], FOLD_WORD);)
		end++;
	if (end == word || !close || close < p + end)
		return false;
	do
		at = memrchr(p + end, '(', (size_t)(at - p) - end);
	while (at && (at == p + end || at[-1] != ' '));
	if (!at)
		return false;
	open = (size_t)(at - p) - 1;
	f->plain = open > end;
	if (f->plain) {
		for (func = end; func < open - 1 && fold_is(p[func], FOLD_SPACE);)
			func++;
	} else {
		func = --end;
		if (end == word)
			return false;
	}
	f->pc = p + word;
	f->pc_len = end - word;
	f->func = p + func;
	f->func_len = open - func;
	f->dso = p + open + 2;
	f->dso_len = (size_t)(close - f->dso);
	return true;
}

/* Length without the offset, as s/\+0x[\da-f]+$// leaves it. */
static size_t without_offset(const char *s, size_t n)
{
	size_t i = n;

	while (i && fold_is(s[i - 1], FOLD_HEX))
		i--;
	if (i < n && i >= 3 && !memcmp(s + i - 3, "+0x", 3))
		return i - 3;
	return n;
}

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
static int split_functions(struct reader *r, const struct frame_line *f)
{
	struct fold_symbol s = {.dso = f->dso,
				.dso_len = f->dso_len,
				.pc = f->pc,
				.pc_len = f->pc_len,
				.java = r->java};
	size_t n = without_offset(f->func, f->func_len);
	struct name_list names = name_list(f->func, name_without_arrows(f->func, n));
	bool unknown = false;
	int rc = 0;

	r->parts.n = 0;
	if (f->func_len && *f->func == '(')
		return 0; /* the name of a process */
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
static int new_frame(struct reader *r, const struct frame_line *f, const struct fold_key *key,
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

/* A line with a frame, or of no known form. */
static int frame_line(struct reader *r, const char *p, size_t n)
{
	struct frame_line f;
	struct fold_key key;
	uint32_t before = r->last, entry;
	uint64_t hash;
	size_t bare;
	int rc;

	if (r->opts->srcline) {
		/* The next line is read before this one is done with. */
		buf_reset(&r->line);
		buf_add(&r->line, p, n);
		if (r->line.err)
			return r->line.err;
		p = buf_str(&r->line);
	}
	if (!frame_parse(p, n, &f)) {
		fold_lines_odd(r->lines, p, n);
		return 0;
	}
	if (!r->comm) {
		r->account->outside += !r->filtered;
		return 0;
	}
	if (r->opts->srcline || !f.plain)
		return new_frame(r, &f, NULL, 0);
	bare = without_offset(f.func, f.func_len);
	key.head = r->opts->addrs ? p : f.pc + f.pc_len;
	key.head_len = (uint32_t)(f.func + bare - key.head);
	key.tail = f.func + f.func_len;
	key.tail_len = (uint32_t)(p + n - key.tail);
	key.offset = bare < f.func_len;
	entry = fold_cache_find(&r->caches[r->java], &key, &hash);
	if (!entry)
		rc = new_frame(r, &f, &key, hash);
	else
		rc = push_entry(r, entry);
	if (!rc && before && r->last)
		r->caches[r->java].entries[before].next = r->last;
	return 0;
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

/*
 * The event and the period at the end of a header, as /:\s*(\d+)*\s+(\S+):\s*$/: the last word,
 * with a colon at its end, and before it a colon or a number that a colon precedes.
 */
static bool event_parse(const char *p, size_t n, const char **event, size_t *event_len,
			uint64_t *period, bool *given, struct fold_periods *odd)
{
	size_t end = n, word, digits, i;

	while (end && fold_is(p[end - 1], FOLD_SPACE))
		end--;
	if (!end || p[end - 1] != ':')
		return false;
	for (word = --end; word && !fold_is(p[word - 1], FOLD_SPACE);)
		word--;
	for (i = word; i && fold_is(p[i - 1], FOLD_SPACE);)
		i--;
	if (word == end || i == word)
		return false;
	for (digits = i; digits && fold_is(p[digits - 1], FOLD_DIGIT);)
		digits--;
	*period = fold_number(p + digits, i - digits);
	/* 0 and no number stand for 1, but other ways to write 0 do not. */
	if (i == digits || (i == digits + 1 && p[digits] == '0')) {
		*period = 1;
		odd->one += i > digits;
	}
	*given = digits < i;
	if (digits < i)
		for (i = digits; i && fold_is(p[i - 1], FOLD_SPACE);)
			i--;
	*event = p + word;
	*event_len = end - word;
	return i && p[i - 1] == ':';
}

#define NUMBER_MAX 32 /* digits of a pid that are kept */

static void copy_number(char *to, const char *digits, size_t len)
{
	if (len > NUMBER_MAX)
		len = NUMBER_MAX;
	memcpy(to, digits, len);
	to[len] = 0;
}

/* Notes the event of samples that are folded; in a text it is one. */
static void note_event(struct reader *r, const char *event, size_t n, bool period)
{
	if (period && !r->opts->count)
		r->periods[r->lane] = true;
	/* One on several PMUs of CPU cores has several names. */
	if (n != r->event_len || memcmp(event, r->event, n) != 0 || r->lane != r->event_lane) {
		fold_note(r->fold, r->lane, event, n, "", 0);
		r->event_lane = r->lane;
		r->event_len = n < sizeof(r->event) ? n : 0;
		memcpy(r->event, event, r->event_len);
	}
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

/* The frames of --by: what the header has, the CPU as [000]. */
static int name_by(struct reader *r, const char *p, size_t n, const struct fold_header *h,
		   const char *event, size_t event_len)
{
	bool both = h->tid_len && !(h->tid_len == 1 && *h->tid == '0');
	struct fold_by_text t = {.comm = p,
				 .comm_len = h->comm_len,
				 .pid = h->pid,
				 .pid_len = both ? h->pid_len : 0,
				 .tid = both ? h->tid : h->pid,
				 .tid_len = both ? h->tid_len : h->pid_len,
				 .event = event,
				 .event_len = event_len};
	const char *open = memchr(h->pid, '[', (size_t)(p + n - h->pid)), *end = p + n;

	if (open) {
		t.cpu = ++open;
		while (open < end && fold_is(*open, FOLD_DIGIT))
			open++;
		t.cpu_len = open < end && *open == ']' ? (size_t)(open - t.cpu) : 0;
	}
	return fold_by_text(r->fold, &t, r->by);
}

static int header(struct reader *r, const char *p, size_t n, const struct fold_header *h)
{
	char pid[NUMBER_MAX + 1] = "?", tid[NUMBER_MAX + 1];
	const char *event = NULL;
	size_t event_len;
	uint64_t period;
	uint32_t lane;
	bool given;
	int rc;

	r->account->samples++;
	if (!event_parse(p, n, &event, &event_len, &period, &given, &r->account->periods)) {
		period = 1;
		given = false;
		event_len = 0;
		r->lane = 0;
	} else if ((lane = fold_event(r->fold, event, event_len)) == FOLD_LEAVE) {
		r->account->filtered++;
		r->filtered = true;
		return 0;
	} else {
		r->lane = lane;
		note_event(r, event, event_len, given);
	}
	r->filtered = false;
	r->period = given ? period : 0;
	r->account->joined += r->comm != 0;
	r->weight = r->opts->count ? 1 : period;
	r->last = 0; /* it may be of the other cache */
	r->java = fold_is_java(p, h->comm_len);
	if (h->tid_len && !(h->tid_len == 1 && *h->tid == '0')) {
		copy_number(pid, h->pid, h->pid_len);
		copy_number(tid, h->tid, h->tid_len);
	} else {
		copy_number(tid, h->pid, h->pid_len);
	}
	rc = r->opts->nby ? name_by(r, p, n, h, event, event_len) : 0;
	return rc ? rc : fold_comm(r->fold, p, h->comm_len, pid, tid, &r->comm);
}

static int end_sample(struct reader *r)
{
	uint32_t node;
	int rc;

	r->filtered = false;
	if (!r->comm)
		return 0;
	fold_sample(r->fold, r->lane, r->period, r->period != 0, r->frames.n > 0);
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
	return rc;
}

static int perf_line(struct reader *r, const char *p, size_t n)
{
	struct fold_header h;

	if (!n)
		return end_sample(r);
	if (*p == '#' && fold_is_comment(p, n))
		return 0;
	if (!fold_is(*p, FOLD_SPACE) && fold_header_parse(p, n, &h))
		return header(r, p, n, &h);
	return frame_line(r, p, n);
}

int fold_perf(struct fold *f, struct fold_lines *l)
{
	struct reader r = {
		.fold = f, .opts = fold_options(f), .account = fold_account(f), .lines = l};
	const uint64_t samples = r.account->samples, folded = r.account->folded;
	const uint64_t joined = r.account->joined;
	const char *p;
	size_t n;
	int rc = fold_text_can(f, src_name(l->src), "text of perf script", true, true);

	while (!rc && !(rc = fold_lines_next(l, &p, &n))) {
		rc = perf_line(&r, p, n);
		if (rc)
			break;
		rc = expected_frames(&r);
		if (rc)
			break;
	}
	/* The last sample may lack its empty line. */
	if (rc == PP_END)
		rc = end_sample(&r);
	if (!rc && r.account->folded == folded && l->odd > r.account->samples - samples) {
		fold_lines_no_text(l);
		rc = PP_EUNSUPPORTED;
	}
	if (!rc && r.account->folded == folded && r.account->joined > joined) {
		diag_error(fold_diag(f), src_name(l->src), -1,
			   "no sample has a call stack: %" PRIu64 " are lines of their own",
			   r.account->samples - samples);
		rc = PP_EUNSUPPORTED;
	}
	if (!rc)
		rc = tell(&r);
	if (!rc && r.account->joined)
		diag_warn(fold_diag(f), src_name(l->src), -1,
			  "samples that no empty line ends, taken for one with the next: %" PRIu64,
			  r.account->joined);
	fold_cache_release(&r.caches[0]);
	fold_cache_release(&r.caches[1]);
	buf_release(&r.line);
	buf_release(&r.name);
	free(r.parts.names);
	free(r.frames.names);
	return rc;
}
