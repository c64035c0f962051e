#include "stream/filter.h"

#include "base/err.h"

/* The account of what a reader has read so far, less what an earlier END has told. */
static void account(struct ps_end *end, const struct sreader *r, const struct ps_end *told)
{
	const struct ps_end *a = sreader_account(r);

	end->lost = a->lost - told->lost;
	end->missing = a->missing - told->missing;
	if (a->status && !end->status)
		end->status = PP_EXIT_PARTIAL;
}

static int begin(const struct filter *f, struct swriter *w)
{
	swriter_header(w);
	return swriter_provenance(w, f->name, f->argc, f->argv);
}

/* One input. *open: a header has been written and its END has not. */
static int run_one(const struct filter *f, const char *file, struct ssink *sink, struct diag *d,
		   struct ps_end *end, bool *open)
{
	struct ps_end told = {0};
	struct ps_record rec;
	struct sreader *r;
	int rc = sreader_open(&r, file, f->keep, d), status;

	if (rc)
		return PP_EXIT_FAIL;
	sreader_on_wait(r, ssink_flush, sink);
	while (!(rc = sreader_next(r, &rec))) {
		if (rec.type == PS_END)
			continue;
		if (rec.type == PS_HEADER && *open) {
			account(end, r, &told);
			told = *sreader_account(r);
			swriter_end(&sink->w, end);
			*end = (struct ps_end){.status = end->status};
		}
		if (rec.type == PS_HEADER) {
			begin(f, &sink->w);
			*open = true;
		}
		rc = f->record(f->ctx, r, &rec);
		if (rc || sink->w.err)
			break;
	}
	account(end, r, &told);
	status = sreader_status(r, rc);
	/* What ended the run was the filter: the reader has said nothing. */
	if (rc && rc != PP_END && !sink->w.err && status == PP_EXIT_FAIL && rc != PP_EUNSUPPORTED)
		diag_error(d, file, -1, "cannot go on: %s", pp_strerror(rc));
	sreader_free(r);
	return status;
}

void filter_run(const struct filter *f, char **files, int n, struct ssink *sink, struct diag *d,
		struct ps_end *end)
{
	bool open = false;
	int failed = 0;

	for (int i = 0; i < n || (!n && !i); i++) {
		int status = run_one(f, n ? files[i] : "-", sink, d, end, &open);

		failed += status == PP_EXIT_FAIL;
		if (status && !end->status)
			end->status = PP_EXIT_PARTIAL;
	}
	if (failed == (n ? n : 1))
		end->status = PP_EXIT_FAIL;
	/* The next filter shall find a stream that says how it went. */
	if (!open)
		begin(f, &sink->w);
}
