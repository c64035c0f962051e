/* The loop of the filters that read event streams and write one. */
#include "filter/filter.h"

#include "base/err.h"

#define SILENCE_MS 1000 /* after which nothing is held back any more */

/* The account of what a reader has read so far, less what an END that was written has told. */
static void account(struct ps_end *end, const struct sreader *r, const struct ps_end *told)
{
	const struct ps_end *a = sreader_account(r);

	end->lost = a->lost - told->lost;
	end->missing = a->missing - told->missing;
	if (a->status && !end->status)
		end->status = PP_EXIT_PARTIAL;
}

/* What is being written. */
struct stage {
	const struct filter *f;
	struct ssink *sink;
	struct ps_end *end;
	bool open;  /* a header has been written and its END has not */
	bool named; /* and so has this filter's provenance record, after those of upstream */
	int pauses; /* since the last record */
};

static void begin(struct stage *s)
{
	swriter_header(&s->sink->w);
	s->open = true;
	s->named = false;
}

static void name(struct stage *s)
{
	if (!s->named)
		swriter_provenance(&s->sink->w, s->f->name, s->f->argc, s->f->argv);
	s->named = true;
}

static int drain(struct stage *s)
{
	return s->f->drain ? s->f->drain(s->f->ctx) : 0;
}

/* Nothing has come for a while: what is written is handed on, later also what is held back. */
static void on_silence(void *ctx)
{
	struct stage *s = ctx;

	if (s->pauses++)
		(void)drain(s); /* an error shows in the writer, or again at the end */
}

static int on_pause(void *ctx)
{
	struct stage *s = ctx;

	(void)ssink_flush(s->sink);
	return s->f->drain && s->pauses == 1 ? SILENCE_MS : -1;
}

/* The stream that is being written is complete: what follows has an account of its own. */
static int finish(struct stage *s)
{
	int rc = drain(s);

	name(s);
	swriter_end(&s->sink->w, s->end);
	*s->end = (struct ps_end){.status = s->end->status};
	s->open = false;
	return rc;
}

/* One input. */
static int run_one(struct stage *s, const char *file, struct diag *d)
{
	struct ps_end told = {0};
	const struct ps_record *rec;
	struct sreader *r;
	struct src *src;
	int rc, status;
	bool any = false;

	rc = s->f->open ? s->f->open(s->f->open_ctx, file, &src, d) : src_open(&src, file, d);
	if (rc)
		return PP_EXIT_FAIL;
	src_on_pause(src, on_pause, s);
	src_before_pause(src, on_silence, s);
	if (sreader_new(&r, src, s->f->keep, d))
		return PP_EXIT_FAIL;
	while (!(rc = sreader_next(r, &rec))) {
		if (rec->type == PS_END)
			continue;
		if (rec->type == PS_HEADER) {
			/*
			 * At the first header, what is open is the last stream of the file before.
			 */
			if (any) {
				account(s->end, r, &told);
				told = *sreader_account(r);
			}
			if (s->open)
				rc = finish(s);
			begin(s);
			any = true;
		} else if (rec->type != PS_PROVENANCE) {
			name(s);
		}
		s->pauses = 0;
		if (!rc)
			rc = s->f->record(s->f->ctx, r, rec);
		if (rc || s->sink->w.err)
			break;
	}
	if (any)
		account(s->end, r, &told);
	status = sreader_status(r, rc);
	/* What ended the run was the filter: the reader has said nothing. */
	if (rc && rc != PP_END && !s->sink->w.err && status == PP_EXIT_FAIL &&
	    rc != PP_EUNSUPPORTED)
		diag_error(d, file, -1, "cannot continue: %s", pp_strerror(rc));
	sreader_free(r);
	return status;
}

void filter_run(const struct filter *f, char **files, int n, struct ssink *sink, struct diag *d,
		struct ps_end *end)
{
	struct stage s = {.f = f, .sink = sink, .end = end};
	int failed = 0;

	for (int i = 0; i < n || (!n && !i); i++) {
		int status = run_one(&s, n ? files[i] : "-", d);

		failed += status == PP_EXIT_FAIL;
		if (status && !end->status)
			end->status = PP_EXIT_PARTIAL;
	}
	if (failed == (n ? n : 1))
		end->status = PP_EXIT_FAIL;
	if (drain(&s))
		end->status = PP_EXIT_FAIL;
	/* The next filter needs a stream that says how it went. */
	if (!s.open)
		begin(&s);
	name(&s);
}
