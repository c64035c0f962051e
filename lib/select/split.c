/* Writes a stream to several files, by time or by number of samples. */
#include "select/split.h"

#include "base/err.h"
#include "select/span.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#define FILES_MAX 9999
#define KEPT_MAX  (UINT64_C(1) << 32) /* bytes of dictionaries and context */

int split_parse(struct split *sp, const char *text, struct buf *why)
{
	bool unit = false;
	size_t n = span_number(text, &sp->ns, &unit);

	if (n && !text[n] && unit && sp->ns)
		return 0;
	sp->ns = 0;
	if (!opt_u64(text, 1, UINT64_MAX, &sp->samples))
		return 0;
	buf_adds(why, "--split: not a number of samples, nor a time with its unit: ");
	buf_add_safe(why, text, strlen(text));
	return PP_EUSAGE;
}

int split_check(const struct split *sp, struct buf *why)
{
	if ((sp->prefix != NULL) == (sp->ns || sp->samples))
		return 0;
	buf_adds(why, "--split and --output must be given together");
	return PP_EUSAGE;
}

static int keep(void *ctx, uint8_t *bytes, size_t n)
{
	struct split *sp = ctx;

	if ((uint64_t)sp->kept.len + n > KEPT_MAX)
		return PP_ELIMIT;
	buf_add(&sp->kept, bytes, n);
	return sp->kept.err;
}

static int open_next(struct split *sp)
{
	char path[4096];
	int fd = -1, rc;

	if (sp->number == FILES_MAX) {
		diag_error(sp->d, NULL, -1, "--split would make more than %d files", FILES_MAX);
		return PP_ELIMIT;
	}
	sp->number++;
	if (snprintf(path, sizeof(path), "%s.%04u", sp->prefix, sp->number) < (int)sizeof(path))
		fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
	else
		errno = ENAMETOOLONG;
	if (fd < 0) {
		diag_error(sp->d, path, -1, "cannot write: %s", strerror(errno));
		return pp_errno(errno);
	}
	rc = ssink_open(sp->sink, fd, sp->opts, sp->d);
	sp->n = 0;
	return rc;
}

int split_begin(struct split *sp, struct ssink *sink, const struct ssink_opts *opts, struct diag *d)
{
	int rc = out_init_fn(&sp->out, keep, sp);

	sp->sink = sink;
	sp->opts = opts;
	sp->d = d;
	swriter_init(&sp->w, &sp->out);
	return rc ? rc : open_next(sp);
}

/* The dictionaries whose ids begin anew with 1 (stream.h). */
static bool restarts(uint32_t type)
{
	return type == PS_CHAIN || type == PS_SYMBOL || type == PS_FRAME || type == PS_STACK;
}

static uint32_t size_at(const uint8_t *p)
{
	uint32_t size;

	memcpy(&size, p, 4);
	return size;
}

static uint32_t type_at(const uint8_t *p)
{
	uint16_t type;

	memcpy(&type, p + 4, 2);
	return type;
}

/* Forgets all records of a type. */
static int drop_type(struct split *sp, uint32_t type)
{
	uint8_t *p, *end, *to;
	int rc = out_flush(&sp->out);

	if (rc || !sp->kept.len)
		return rc;
	p = to = sp->kept.data;
	for (end = p + sp->kept.len; p < end;) {
		uint32_t size = size_at(p);

		if (type_at(p) != type) {
			memmove(to, p, size);
			to += size;
		}
		p += size;
	}
	sp->kept.len = (size_t)(to - sp->kept.data);
	return 0;
}

int split_see(struct split *sp, const struct ps_record *rec)
{
	int rc = 0;

	switch (rec->type) {
	case PS_HEADER:
		rc = out_flush(&sp->out);
		buf_reset(&sp->kept);
		sp->started = false;
		return rc;
	/* What happened once is in the file of its time. */
	case PS_SAMPLE:
	case PS_END:
	case PS_SWITCH:
	case PS_LOST:
	case PS_THROTTLE:
	case PS_AUX:
	case PS_READ:
	case PS_COUNTER:
	case PS_COUNT:
	case PS_ROUND:
	case PS_OTHER: return 0;
	default: break;
	}
	if (restarts(rec->type) && rec->chain.id == 1)
		rc = drop_type(sp, rec->type);
	if (!rc)
		rc = swriter_copy(&sp->w, rec);
	return rc == PP_EUNSUPPORTED ? 0 : rc;
}

/* The dictionaries and the context so far. */
static int replay(struct split *sp)
{
	struct swriter *w = &sp->sink->w;
	int rc = out_flush(&sp->out);

	if (!rc)
		rc = swriter_header(w);
	for (size_t pos = 0; !rc && pos < sp->kept.len;) {
		struct ps_record rec = {.type = type_at(sp->kept.data + pos),
					.raw = sp->kept.data + pos,
					.size = size_at(sp->kept.data + pos)};

		rc = swriter_copy(w, &rec);
		pos += rec.size;
	}
	return rc ? rc : swriter_provenance(w, "pfilter", sp->argc, sp->argv);
}

static int next_file(struct split *sp)
{
	struct ps_end end = {.status = PP_EXIT_OK};
	int rc;

	if (ssink_close(sp->sink, &end, sp->d))
		return sp->sink->out.err ? sp->sink->out.err : PP_EIO;
	rc = open_next(sp);
	return rc ? rc : replay(sp);
}

int split_sample(struct split *sp, const struct ps_record *rec)
{
	uint64_t time = rec->sample.time;
	int rc = 0;

	if (!sp->started)
		sp->from = time;
	sp->started = true;
	if (sp->samples && sp->n == sp->samples)
		rc = next_file(sp);
	if (sp->ns && time >= sp->from && time - sp->from >= sp->ns) {
		sp->from = time - (time - sp->from) % sp->ns;
		/* A part of time without samples has no file. */
		if (sp->n)
			rc = next_file(sp);
	}
	sp->n++;
	return rc;
}

void split_release(struct split *sp)
{
	out_release(&sp->out);
	buf_release(&sp->kept);
}
