#include "base/diag.h"

#include "base/buf.h"
#include "base/err.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define DIAG_KINDS_MAX 256  /* distinct warnings that are remembered */
#define PROGRESS_AFTER 1000 /* ms of work before progress is shown */
#define PROGRESS_EVERY 200  /* ms between two lines of it */

struct diag_kind {
	char *key; /* file, 0, format string */
	size_t len;
	char *first; /* the first text, for the sum */
	char *file;
	uint64_t count;
};

struct diag {
	char *prog;
	diag_sink *sink;
	void *ctx;
	bool verbose;
	bool progress, shown;	  /* progress is wanted; a line of it is on the screen */
	int64_t started, updated; /* ms: of the first call, of the last line */
	uint64_t warnings;
	uint64_t unlisted; /* warnings beyond DIAG_KINDS_MAX kinds */
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
	if (!d->prog) {
		free(d);
		*out = NULL;
		return PP_ENOMEM;
	}
	return 0;
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
	free(d->prog);
	free(d);
}

void diag_set_verbose(struct diag *d, bool verbose)
{
	d->verbose = verbose;
}

uint64_t diag_warnings(const struct diag *d)
{
	return d->warnings;
}

/* Wipes the progress line, so that what comes next begins a line of its own. */
static void wipe(struct diag *d)
{
	if (d->shown)
		d->sink(d->ctx, "\r\033[K", 4);
	d->shown = false;
}

static void emit(struct diag *d, const char *file, int64_t offset, const char *text)
{
	struct buf b = BUF_INIT;

	wipe(d);
	buf_addf(&b, "%s: ", d->prog);
	if (file) {
		buf_add_safe(&b, file, strlen(file));
		buf_adds(&b, ": ");
	}
	if (offset >= 0)
		buf_addf(&b, "offset %" PRId64 ": ", offset);
	buf_add_safe(&b, text, strlen(text));
	buf_addc(&b, '\n');
	if (!b.err)
		d->sink(d->ctx, buf_str(&b), b.len);
	buf_release(&b);
}

static void emit_va(struct diag *d, const char *file, int64_t offset, const char *fmt, va_list ap)
{
	struct buf b = BUF_INIT;

	buf_vaddf(&b, fmt, ap);
	emit(d, file, offset, buf_str(&b));
	buf_release(&b);
}

/* Remembers a warning. Returns true when it is the first of its kind. */
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
	if (d->nkinds == DIAG_KINDS_MAX || key.err) {
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
	struct buf b = BUF_INIT;

	if (!d)
		return;
	wipe(d);
	buf_addf(&b, "%s: ", d->prog);
	for (const char *line = text; *line;) {
		size_t n = strcspn(line, "\n");

		buf_add_safe(&b, line, n);
		buf_addc(&b, '\n');
		line += n + (line[n] != 0);
	}
	if (!b.err)
		d->sink(d->ctx, buf_str(&b), b.len);
	buf_release(&b);
}

void diag_vwarn(struct diag *d, const char *file, int64_t offset, const char *fmt, va_list ap)
{
	struct buf b = BUF_INIT;

	if (!d)
		return;
	d->warnings++;
	buf_vaddf(&b, fmt, ap);
	if (remember(d, file, fmt, buf_str(&b)))
		emit(d, file, offset, buf_str(&b));
	buf_release(&b);
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

void diag_progress(struct diag *d, const char *file, uint64_t done, uint64_t total)
{
	struct buf b = BUF_INIT;
	int64_t now;

	if (!d || !d->progress || !total)
		return;
	now = now_ms();
	if (!d->started)
		d->started = d->updated = now;
	if (now - d->started < PROGRESS_AFTER || now - d->updated < PROGRESS_EVERY)
		return;
	d->updated = now;
	buf_addf(&b, "\r\033[K%s: ", d->prog);
	buf_add_safe(&b, file, strlen(file));
	buf_addf(&b, ": %3.0f %% of %.0f MB", 100.0 * (double)done / (double)total,
		 (double)total / 1e6);
	if (!b.err)
		d->sink(d->ctx, buf_str(&b), b.len);
	d->shown = true;
	buf_release(&b);
}

void diag_finish(struct diag *d)
{
	struct buf b = BUF_INIT;

	if (!d)
		return;
	wipe(d);
	for (unsigned i = 0; i < d->nkinds; i++) {
		struct diag_kind *k = &d->kinds[i];

		if (k->count > 1) {
			buf_reset(&b);
			buf_addf(&b, "%" PRIu64 " more like: %s", k->count - 1,
				 k->first ? k->first : "");
			emit(d, k->file, -1, buf_str(&b));
		}
		k->count = 1;
	}
	if (d->unlisted)
		diag_say(d, NULL, "%" PRIu64 " further warnings are not shown", d->unlisted);
	d->unlisted = 0;
	buf_release(&b);
}
