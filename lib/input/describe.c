/* What recordings say about themselves: --header, --dump and --list. */
#include "input/input.h"

#include "base/err.h"
#include "input/kind.h"
#include "input/perf.h"
#include "input/trace.h"
#include "stream/tally.h"

/* ---- the list of events: of any input, from the stream that it is decoded to ---- */

struct list {
	struct sreader *back;
	struct tally *tally;
};

static int count(void *ctx, uint8_t *bytes, size_t n)
{
	struct list *l = ctx;
	struct ps_record rec;
	int rc;

	sreader_feed(l->back, bytes, n);
	while (!(rc = sreader_next(l->back, &rec))) {
		rc = tally_record(l->tally, l->back, &rec);
		if (rc)
			return rc;
	}
	return rc == PP_END ? 0 : rc;
}

static int list(struct src *s, const struct input_show *show, struct out *o, struct diag *d)
{
	struct list l = {0};
	struct ps_end end = {0};
	struct swriter w;
	struct out records;
	int rc, decoded;

	rc = out_init_fn(&records, count, &l);
	if (!rc)
		rc = tally_new(&l.tally, show->all);
	if (!rc)
		rc = sreader_new_fed(&l.back, "(output)", SREADER_EVENTS, d);
	if (rc) {
		src_free(s);
	} else {
		swriter_init(&w, &records);
		swriter_header(&w);
		decoded = input_decode(s, 1, &w, d, &end);
		rc = w.err ? w.err : out_flush(&records);
		if (!rc)
			rc = tally_print(l.tally, o, show->json);
		if (!rc)
			rc = decoded;
	}
	tally_free(l.tally);
	sreader_free(l.back);
	out_release(&records);
	return rc;
}

/* ---- all ---- */

bool input_view_option(struct input_show *show, int id, struct buf *why, int *rc)
{
	enum input_view view;

	switch (id) {
	case INPUT_OPT_HEADER: view = INPUT_HEADER; break;
	case INPUT_OPT_DUMP: view = INPUT_DUMP; break;
	case INPUT_OPT_LIST: view = INPUT_LIST; break;
	default: return false;
	}
	*rc = 0;
	if (show->view != INPUT_EVENTS && show->view != view) {
		buf_adds(why, "one of --header, --dump and --list at a time");
		*rc = PP_EUSAGE;
	}
	show->view = view;
	return true;
}

int input_describe(struct src *s, const struct input_show *show, struct out *o, struct diag *d)
{
	enum input_kind kind;
	int rc;

	if (show->view == INPUT_LIST)
		return list(s, show, o, d);
	rc = input_unwrap(&s, &kind, d);
	if (!rc && kind == KIND_PERF)
		rc = perf_describe(s, show->view, o, d);
	else if (!rc && kind == KIND_TRACE_DAT)
		rc = trace_describe(s, show->view, o, d);
	else if (!rc) {
		diag_error(d, src_name(s), -1, "not supported for event streams and text");
		rc = PP_EUNSUPPORTED;
	}
	src_free(s);
	return rc;
}

/* One file. Its exit status. */
static int describe(const char *name, const struct input_show *show, struct out *o, struct diag *d)
{
	struct src *s;

	if (input_open(&s, name, d))
		return PP_EXIT_FAIL;
	return input_status(input_describe(s, show, o, d));
}

int input_describe_all(char *const *files, int n, const struct input_show *show, int fd,
		       struct diag *d)
{
	int failed = 0, status = PP_EXIT_OK, rc;
	struct out o;

	if (show->json && show->view != INPUT_LIST) {
		diag_error(d, NULL, -1, "--header and --dump have no JSON form");
		return PP_EXIT_USAGE;
	}
	if (out_init(&o, fd)) {
		diag_error(d, NULL, -1, "%s", pp_strerror(PP_ENOMEM));
		return PP_EXIT_FAIL;
	}
	for (int i = 0; (i < n || (!n && !i)) && !o.err; i++) {
		int st;

		if (i && !show->json)
			out_add(&o, "\n", 1);
		st = describe(n ? files[i] : "-", show, &o, d);
		failed += st == PP_EXIT_FAIL;
		if (st)
			status = PP_EXIT_PARTIAL;
	}
	if (failed == (n ? n : 1))
		status = PP_EXIT_FAIL;
	rc = out_close(&o);
	if (rc && rc != PP_EPIPE)
		diag_error(d, NULL, -1, "cannot write the output: %s", pp_strerror(rc));
	return rc ? PP_EXIT_FAIL : status;
}
