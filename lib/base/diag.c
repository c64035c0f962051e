/*
 * Messages to the user: their form, repeated warnings, progress. Nothing is allocated to print one,
 * as one may say that there is no memory left.
 */
#include "base/diag.h"

#include "base/buf.h"
#include "base/err.h"

#include <errno.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define DIAG_ROOM      4096 /* bytes of a message that always fit */
#define DIAG_KINDS_MAX 256  /* distinct warnings that are remembered */
#define PROGRESS_AFTER 1000 /* ms of work before progress is shown */
#define PROGRESS_EVERY 200  /* ms between two lines of it */
#define SHOW_EVERY     1000 /* of diag_show */

struct diag_kind {
	char *key; /* file, 0, format string */
	size_t len;
	char *first; /* the first text, for the sum */
	char *file;
	uint64_t count;
};

struct diag {
	char *prog;
	struct buf text, line; /* the message that is being made; as it is printed */
	diag_sink *sink;
	void *ctx;
	bool verbose, quiet;
	bool progress, shown;	  /* progress is wanted; a line of it is on the screen */
	int64_t started, updated; /* ms: of the first call, of the last line */
	uint64_t lines;		  /* messages printed */
	uint64_t unlisted;	  /* warnings beyond DIAG_KINDS_MAX kinds */
	struct diag_kind kinds[DIAG_KINDS_MAX];
	unsigned nkinds;
};

int diag_new(struct diag **out, const char *prog, diag_sink *sink, void *ctx)
{
	struct diag *d = calloc(1, sizeof(*d));

	*out = d;
	if (!d)
		return PP_ENOMEM;
	d->prog = strdup(prog);
	d->sink = sink;
	d->ctx = ctx;
	if (d->prog && !buf_reserve(&d->text, DIAG_ROOM) && !buf_reserve(&d->line, 4 * DIAG_ROOM))
		return 0;
	diag_free(d);
	*out = NULL;
	return PP_ENOMEM;
}

int diag_new_like(struct diag **out, const struct diag *like)
{
	int rc;

	*out = NULL;
	if (!like)
		return 0;
	rc = diag_new(out, like->prog, like->sink, like->ctx);
	if (!rc)
		(*out)->verbose = like->verbose;
	return rc;
}

void diag_free(struct diag *d)
{
	if (!d)
		return;
	for (unsigned i = 0; i < d->nkinds; i++) {
		free(d->kinds[i].key);
		free(d->kinds[i].first);
		free(d->kinds[i].file);
	}
	buf_release(&d->text);
	buf_release(&d->line);
	free(d->prog);
	free(d);
}

void diag_set_verbose(struct diag *d, bool verbose)
{
	d->verbose = verbose;
}

void diag_set_quiet(struct diag *d, bool quiet)
{
	d->quiet = quiet;
}

bool diag_silent(const struct diag *d)
{
	return !d->lines;
}

void diag_told(struct diag *d)
{
	d->lines++;
}

/* Wipes the progress line, so that what comes next begins a line of its own. */
static void wipe(struct diag *d)
{
	if (d->shown)
		d->sink(d->ctx, "\r\033[K", 4);
	d->shown = false;
}

/* The program's name, where each message begins. */
static struct buf *begin_line(struct diag *d)
{
	wipe(d);
	buf_reset(&d->line);
	buf_adds(&d->line, d->prog);
	buf_adds(&d->line, ": ");
	return &d->line;
}

/* What there was no memory for is missing. */
static void end_line(struct diag *d)
{
	struct buf *b = &d->line;

	if (b->err) {
		b->err = 0;
		if (b->cap - b->len < 2)
			b->len = b->cap - 2;
		buf_addc(b, '\n');
	}
	d->lines++;
	d->sink(d->ctx, buf_str(b), b->len);
}

/* errno stays as it was: callers report it, and then return it. */
static void emit(struct diag *d, const char *file, int64_t offset, const char *text)
{
	int errnum = errno;
	struct buf *b = begin_line(d);

	if (file && !strcmp(file, "-"))
		file = DIAG_STDIN;
	if (file) {
		buf_add_safe(b, file, strlen(file));
		buf_adds(b, ": ");
	}
	if (offset >= 0)
		buf_addf(b, "offset %" PRId64 ": ", offset);
	buf_add_safe(b, text, strlen(text));
	buf_addc(b, '\n');
	end_line(d);
	errno = errnum;
}

/* The text of a message, until the next one. */
static const char *format(struct diag *d, const char *fmt, va_list ap)
{
	buf_reset(&d->text);
	d->text.err = 0;
	buf_vaddf(&d->text, fmt, ap);
	return buf_str(&d->text);
}

static void emit_va(struct diag *d, const char *file, int64_t offset, const char *fmt, va_list ap)
{
	emit(d, file, offset, format(d, fmt, ap));
}

/*
 * Remembers a warning. Returns true when it is the first of its kind, or there is no memory for it.
 */
static bool remember(struct diag *d, const char *file, const char *fmt, const char *text)
{
	struct buf key = BUF_INIT;
	struct diag_kind *k;

	buf_adds(&key, file ? file : "");
	buf_addc(&key, 0);
	buf_adds(&key, fmt);
	for (k = d->kinds; k < d->kinds + d->nkinds; k++) {
		if (k->len == key.len && !memcmp(k->key, key.data, key.len)) {
			k->count++;
			buf_release(&key);
			return false;
		}
	}
	if (key.err) {
		buf_release(&key);
		return true;
	}
	if (d->nkinds == DIAG_KINDS_MAX) {
		d->unlisted++;
		buf_release(&key);
		return false;
	}
	*k = (struct diag_kind){.key = (char *)key.data, .len = key.len, .count = 1};
	k->first = strdup(text);
	k->file = file ? strdup(file) : NULL;
	d->nkinds++;
	return true;
}

void diag_error(struct diag *d, const char *file, int64_t offset, const char *fmt, ...)
{
	va_list ap;

	if (!d)
		return;
	va_start(ap, fmt);
	emit_va(d, file, offset, fmt, ap);
	va_end(ap);
}

void diag_lines(struct diag *d, const char *text)
{
	struct buf *b;

	if (!d)
		return;
	b = begin_line(d);
	for (const char *line = text; *line;) {
		size_t n = strcspn(line, "\n");

		buf_add_safe(b, line, n);
		buf_addc(b, '\n');
		line += n + (line[n] != 0);
	}
	end_line(d);
}

void diag_vwarn(struct diag *d, const char *file, int64_t offset, const char *fmt, va_list ap)
{
	const char *text;

	if (!d || d->quiet)
		return;
	text = format(d, fmt, ap);
	if (remember(d, file, fmt, text))
		emit(d, file, offset, text);
}

void diag_warn(struct diag *d, const char *file, int64_t offset, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	diag_vwarn(d, file, offset, fmt, ap);
	va_end(ap);
}

void diag_note(struct diag *d, const char *file, int64_t offset, const char *fmt, ...)
{
	va_list ap;

	if (!d || !d->verbose)
		return;
	va_start(ap, fmt);
	emit_va(d, file, offset, fmt, ap);
	va_end(ap);
}

void diag_say(struct diag *d, const char *file, const char *fmt, ...)
{
	va_list ap;

	if (!d)
		return;
	va_start(ap, fmt);
	emit_va(d, file, -1, fmt, ap);
	va_end(ap);
}

void diag_set_progress(struct diag *d, bool on)
{
	d->progress = on;
}

static int64_t now_ms(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (int64_t)t.tv_sec * 1000 + t.tv_nsec / 1000000;
}

/* Whether it is time for a line of progress, so many ms after the last one. It is begun then. */
static bool begin_progress(struct diag *d, int64_t every)
{
	int64_t now;

	if (!d || !d->progress)
		return false;
	now = now_ms();
	if (!d->started)
		d->started = d->updated = now;
	if (now - d->started < PROGRESS_AFTER || now - d->updated < every)
		return false;
	d->updated = now;
	buf_reset(&d->line);
	buf_addf(&d->line, "\r\033[K%s: ", d->prog);
	return true;
}

/* What another program prints to the terminal is to begin where the line does: it covers it. */
static void end_progress(struct diag *d)
{
	buf_addc(&d->line, '\r');
	if (!d->line.err)
		d->sink(d->ctx, buf_str(&d->line), d->line.len);
	d->line.err = 0;
	d->shown = true;
}

void diag_progress(struct diag *d, const char *file, uint64_t done, uint64_t total)
{
	if (!total || !begin_progress(d, PROGRESS_EVERY))
		return;
	buf_add_safe(&d->line, file, strlen(file));
	buf_addf(&d->line, ": %3.0f %% of %.0f MB", 100.0 * (double)done / (double)total,
		 (double)total / 1e6);
	end_progress(d);
}

void diag_show(struct diag *d, const char *fmt, ...)
{
	va_list ap;

	if (!begin_progress(d, SHOW_EVERY))
		return;
	va_start(ap, fmt);
	buf_vaddf(&d->line, fmt, ap);
	va_end(ap);
	end_progress(d);
}

void diag_finish(struct diag *d)
{
	if (!d)
		return;
	wipe(d);
	for (unsigned i = 0; i < d->nkinds; i++) {
		struct diag_kind *k = &d->kinds[i];

		if (k->count > 1)
			diag_say(d, k->file, "%" PRIu64 " more like: %s", k->count - 1,
				 k->first ? k->first : "");
		k->count = 1;
	}
	if (d->unlisted)
		diag_say(d, NULL, "%" PRIu64 " further warnings are not shown", d->unlisted);
	d->unlisted = 0;
}
