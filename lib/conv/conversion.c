/* What readers and writers have in common while something is converted. */
#include "conv/parts.h"

#include "base/err.h"
#include "conv/json_reader.h"

#include <inttypes.h>

int conv_give(struct conv *c, const struct prof_sample *s)
{
	struct conv_account *a = &c->account;

	a->samples += s->count ? s->count : 1;
	a->taken += s->count ? s->count : 1;
	if (s->timed) {
		a->first = a->had & CONV_TIMES && a->first < s->time ? a->first : s->time;
		a->last = a->last > s->time ? a->last : s->time;
		a->had |= CONV_TIMES;
	}
	a->had |= s->cpu != PS_NONE ? CONV_CPUS : 0;
	a->had |= c->last_event && s->event != c->last_event ? CONV_EVENTS : 0;
	a->had |= c->last_thread && s->thread != c->last_thread ? CONV_THREADS : 0;
	c->last_event = s->event;
	c->last_thread = s->thread;
	return c->writer->sample(c->ctx, s);
}

int conv_begin(struct conv *c, const struct conv_writer *w)
{
	int rc = prof_new(&c->p, w->prof, c->d);

	c->writer = w;
	return rc ? rc : w->open(c, &c->ctx);
}

int conv_end(struct conv *c, int rc)
{
	c->partial |= rc == PP_ECUT;
	if (!rc || rc == PP_ECUT)
		rc = c->writer->close(c->ctx);
	return rc;
}

void conv_release(struct conv *c)
{
	if (c->writer)
		c->writer->free(c->ctx);
	prof_free(c->p);
	buf_release(&c->cmdline);
}

void conv_add_comment(const struct conv *c, struct buf *b)
{
	if (c->cmdline.len)
		buf_addf(b, "recorded by: %s; ", buf_str(&c->cmdline));
	if (c->account.lost)
		buf_addf(b, "the recording lost %" PRIu64 " events; ", c->account.lost);
	if (c->partial)
		buf_adds(b, "partial: the input was damaged, cut off or estimated; ");
	buf_addf(b, "written by perfpipe pconv %s", pp_version);
}

int conv_json_status(struct conv *c, const struct conv_input *in, int rc, const struct json *j,
		     bool strange)
{
	struct json after = *j;

	if (!rc && j->bad) {
		diag_error(c->d, in->name, j->p - in->bytes, "the JSON is damaged or cut off");
		rc = PP_ECUT;
	} else if (!rc && (json_peek(&after) || after.p < after.end)) {
		diag_error(c->d, in->name, after.p - in->bytes,
			   "the profile ends here: what follows is not read");
		rc = PP_ECUT;
	} else if (!rc && strange) {
		diag_error(c->d, in->name, -1,
			   "the profile is damaged: its parts do not fit together");
		rc = PP_ECUT;
	}
	return rc;
}
