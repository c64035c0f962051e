/* The loop of filters that read streams and write none; see read_input.h. */
#include "stream/read_input.h"

#include "base/err.h"

int input_read(const struct input_reader *in, struct src *s)
{
	const struct ps_record *rec;
	struct sreader *r;
	int rc = 0, status;
	bool ours;

	if (in->pause)
		src_on_pause(s, in->pause, in->pause_ctx);
	if (sreader_new(&r, s, in->keep, in->d))
		return PP_EXIT_FAIL;
	while (!rc && !(rc = sreader_next(r, &rec)))
		rc = in->record(in->ctx, r, rec);
	/* The reader has reported its own errors. */
	ours = rc == PP_ENOMEM || rc == PP_ELIMIT;
	if (ours)
		diag_error(in->d, src_name(s), -1, "cannot continue: %s", pp_strerror(rc));
	status = ours ? PP_EXIT_FAIL : sreader_status(r, rc);
	*in->lost += sreader_account(r)->lost;
	sreader_free(r);
	return status;
}

int input_read_file(const struct input_reader *in, const char *name)
{
	struct src *s;

	return src_open(&s, name, in->d) ? PP_EXIT_FAIL : input_read(in, s);
}
