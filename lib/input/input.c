/* Opening an input and decoding it, whatever its kind. */
#include "input/input.h"

#include "base/err.h"
#include "ftext/ftext.h"
#include "input/kind.h"
#include "perfdata/perfdata.h"
#include "tracedat/tracedat.h"

#include <sys/stat.h>
#include <unistd.h>

/* A further stream after one that is done: its ids are its own. *told: what was accounted for. */
static void next_stream(struct swriter *w, const struct sreader *r, struct ps_end *told)
{
	const struct ps_end *a = sreader_account(r);
	struct ps_end end = {.lost = a->lost - told->lost,
			     .missing = a->missing - told->missing,
			     .status = a->status ? PP_EXIT_PARTIAL : 0};

	*told = *a;
	swriter_end(w, &end);
	swriter_header(w);
}

/*
 * An event stream as input: its records are passed on, its END becomes part of the account. Several
 * streams in a row stay several.
 */
static int copy_stream(struct src *s, struct swriter *w, struct diag *d, struct ps_end *account)
{
	struct ps_end told = {0};
	struct sreader *r;
	const struct ps_record *rec;
	bool any = false;
	int rc = sreader_new(&r, s, 0, d);

	if (rc)
		return rc;
	while (!(rc = sreader_next(r, &rec)) && !w->err) {
		/* Of a file that grows: the stream is whole. */
		if (rec->type == PS_END)
			src_unfollow(s);
		if (rec->type == PS_HEADER && any)
			next_stream(w, r, &told);
		else if (rec->type != PS_HEADER && rec->type != PS_END)
			swriter_copy(w, rec);
		any = true;
	}
	account->lost += sreader_account(r)->lost - told.lost;
	account->missing += sreader_account(r)->missing - told.missing;
	switch (sreader_status(r, rc)) {
	case PP_EXIT_PARTIAL: rc = PP_ECUT; break;
	case PP_EXIT_FAIL: rc = rc == PP_END ? PP_EUNSUPPORTED : rc; break;
	}
	sreader_free(r);
	return rc == PP_END ? 0 : rc;
}

/* trace-cmd makes a trace.dat in the end; when it was killed, there are pages alone. */
static void tell_leftovers(const char *name, struct diag *d)
{
	struct buf path = BUF_INIT;

	buf_addf(&path, "%s.cpu0", name);
	if (!path.err && !access(buf_str(&path), F_OK))
		diag_say(d, name,
			 "a killed recorder left its pages: pcap-ftrace "
			 "--restore FILE -o x.dat makes a recording from them");
	buf_release(&path);
}

int input_open(struct src **s, const char *name, struct diag *d)
{
	struct buf path = BUF_INIT;
	struct stat st;
	int rc;

	if (!strcmp(name, "-") || stat(name, &st) || !S_ISDIR(st.st_mode)) {
		rc = src_open(s, name, d);
		if (rc == PP_ENOENT)
			tell_leftovers(name, d);
		return rc;
	}
	buf_addf(&path, "%s%sdata", name, name[0] && name[strlen(name) - 1] == '/' ? "" : "/");
	rc = path.err;
	if (!rc && access(buf_str(&path), F_OK)) {
		diag_error(d, name, -1, "is a directory without a recording");
		rc = PP_EUNSUPPORTED;
	}
	if (!rc)
		rc = src_open_file(s, buf_str(&path), d);
	buf_release(&path);
	return rc;
}

int input_decode_as(struct src *s, uint32_t source, struct swriter *w, struct diag *d,
		    struct ps_end *account, const struct trace_opts *opts)
{
	enum input_kind kind;
	int rc = input_unwrap(&s, &kind, d);

	if (!rc && kind == KIND_STREAM)
		return copy_stream(s, w, d, account);
	if (!rc && kind == KIND_TRACE_DAT && src_follows(s)) {
		diag_error(d, src_name(s), -1,
			   "trace-cmd writes a trace.dat when it ends: it cannot be followed");
		rc = PP_EUNSUPPORTED;
	}
	if (!rc && kind == KIND_FTRACE_TEXT)
		rc = ftext_decode(s, source, w, d, account);
	else if (!rc)
		rc = kind == KIND_PERF ? perf_decode(s, source, w, d, account, opts && opts->stats)
				       : trace_decode(s, source, w, d, account, opts);
	src_free(s);
	return rc;
}

int input_decode(struct src *s, uint32_t source, struct swriter *w, struct diag *d,
		 struct ps_end *account)
{
	return input_decode_as(s, source, w, d, account, NULL);
}

int input_status(int rc)
{
	if (!rc)
		return PP_EXIT_OK;
	return rc == PP_ECUT || rc == PP_ECORRUPT || rc == PP_ELIMIT || pp_is_io(rc)
		       ? PP_EXIT_PARTIAL
		       : PP_EXIT_FAIL;
}
