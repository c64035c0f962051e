/* Finds out what an input is, and folds it; the account at the end. */
#include "fold/inputs.h"

#include "base/buf.h"
#include "base/each_input.h"
#include "base/out_end.h"
#include "base/plain.h"
#include "fold/sample_stacks.h"
#include "fold/stack_text.h"
#include "stream/ends.h"
#include "stream/foreign.h"
#include "stream/stream.h"

#include <inttypes.h>
#include <string.h>

int fold_source(struct fold *f, struct src *s, struct diag *d)
{
	const size_t magic_len = sizeof(PS_MAGIC) - 1;
	const struct ps_foreign *other;
	char magic[PS_FOREIGN_MAX];
	size_t n;
	int rc = src_peek(s, magic, sizeof(magic), &n);

	if (rc)
		diag_error(d, src_name(s), -1, "cannot read: %s", pp_strerror(rc));
	else if (n >= magic_len && !memcmp(magic, PS_MAGIC, magic_len))
		return fold_stream(f, s);
	else if ((other = ps_foreign(magic, n))) {
		diag_error(d, src_name(s), -1, "is %s: %s", other->is,
			   other->recorded ? "pdecode and psym have to read it first"
					   : other->remedy);
		rc = PP_EUNSUPPORTED;
	} else
		rc = fold_text(f, s);
	src_free(s);
	return rc;
}

static int fold_file(void *ctx, const char *name)
{
	struct fold *f = ctx;
	struct diag *d = fold_diag(f);
	struct src *s;
	int rc = plain_open(&s, name, d);

	if (!rc)
		rc = fold_source(f, s, d);
	if (rc == PP_ENOMEM || rc == PP_ELIMIT)
		diag_error(d, name, -1, "cannot keep all stacks: %s", pp_strerror(rc));
	return !rc ? PP_EXIT_OK : rc == PP_ECUT ? PP_EXIT_PARTIAL : PP_EXIT_FAIL;
}

int fold_files(struct fold *f, char **names, int n, struct diag *d)
{
	int status = each_input(names, n, fold_file, f);

	if (status < PP_EXIT_FAIL && fold_account(f)->partial) {
		diag_say(d, NULL, "the folded text is partial: its source was damaged");
		status = PP_EXIT_PARTIAL;
	}
	return status;
}

static int write_all(struct fold *f, bool header, bool partial, struct out *o)
{
	struct buf b = BUF_INIT;
	int rc;

	if (header)
		fold_write_about(f, &b);
	rc = b.err ? b.err : out_add(o, buf_str(&b), b.len);
	buf_release(&b);
	if (!rc)
		rc = fold_write(f, o);
	if (!rc && partial)
		rc = out_add(o, FOLD_PARTIAL "\n", sizeof(FOLD_PARTIAL));
	return rc;
}

static void say_nothing(struct fold *f, struct diag *d)
{
	const struct fold_account *a = fold_account(f);

	if (a->filtered && fold_options(f)->event)
		diag_error(d, NULL, -1, "no samples of %s, but %" PRIu64 " of other events",
			   fold_options(f)->event, a->filtered);
	else if (a->left_out)
		diag_error(d, NULL, -1,
			   "none of %" PRIu64
			   " stacks is left by --only, --root, --hide and --rename",
			   a->left_out);
	else if (a->filtered)
		diag_error(d, NULL, -1, "none of the %" PRIu64 " samples passed the filter",
			   a->filtered);
	else
		diag_error(d, NULL, -1, "no samples%s",
			   a->outside ? ": perf script printed no call stacks" : "");
}

int fold_print(struct fold *f, int fd, bool header, int status)
{
	struct diag *d = fold_diag(f);
	struct out o;
	int rc = fold_finish(f), close_rc;
	bool nothing = !rc && !fold_stacks(f);

	if (rc && rc != PP_EMISMATCH)
		diag_error(d, NULL, -1, "cannot keep all stacks: %s", pp_strerror(rc));
	if (nothing)
		say_nothing(f, d);
	if (!status && fold_is_cut(f))
		status = PP_EXIT_PARTIAL;
	(void)out_init(&o, fd);
	if (!rc && !nothing)
		rc = write_all(f, header, status == PP_EXIT_PARTIAL, &o);
	if (!status && fold_is_partial(f))
		status = PP_EXIT_PARTIAL;
	close_rc = out_end(&o, 0, d);
	return rc || close_rc ? PP_EXIT_FAIL : nothing ? PP_EXIT_PARTIAL : status;
}

void fold_describe(struct fold *f, struct diag *d)
{
	const struct fold_account *a = fold_account(f);
	struct buf b = BUF_INIT;
	struct ps_ends ends;

	diag_say(d, NULL,
		 "samples %" PRIu64 " = folded %" PRIu64 " + without stack %" PRIu64
		 " + filtered out %" PRIu64 " + joined to the next %" PRIu64,
		 a->samples, a->folded, a->bare, a->filtered, a->joined);
	diag_say(d, NULL, "stacks %" PRIu64 ", weight %" PRIu64 ", unrecognized lines %" PRIu64,
		 fold_stacks(f), a->weight, a->unrecognised);
	if (!a->about.marked || a->about.unmarked || a->unsaid || fold_ends(f, &ends))
		return;
	ps_ends_describe(&ends, &b);
	diag_say(d, NULL, "%s", buf_str(&b));
	buf_release(&b);
}
