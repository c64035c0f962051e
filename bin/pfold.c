#include "cli.h"

#include "base/src.h"
#include "query/fold.h"
#include "query/fold_stream.h"
#include "query/fold_text.h"

#include <inttypes.h>
#include <string.h>
#include <unistd.h>

#define STREAM_MAGIC "PPSTREAM"

enum { ADDRS = OPT_NO_SHORT + 1, EVENT_FILTER, SRCLINE, STATS };

static const struct opt opts[] = {
	{'p', "pid", NULL, "the first frame is the command and its process id"},
	{'t', "tid", NULL, "the first frame is the command and its process and thread id"},
	{'k', "kernel", NULL, "mark kernel functions with _[k]"},
	{'j', "jit", NULL, "mark functions of JIT maps with _[j]"},
	{'a', "all", NULL, "all marks: --kernel and --jit"},
	{ADDRS, "addrs", NULL, "keep the addresses of unknown functions"},
	{SRCLINE, "srcline", NULL, "read the source lines of perf script -F +srcline"},
	{'e', "event", "EVENT", "fold samples of EVENT (default: of the first event seen)"},
	{EVENT_FILTER, "event-filter", "EVENT", "the same as --event"},
	{'c', "count", NULL, "count samples instead of adding up their periods"},
	{STATS, "stats", NULL, "print what became of the samples to stderr"},
	{0},
};

static const struct opt_spec spec = {"pfold", "[OPTION]... [FILE]...",
				     "collapse call stacks to folded text", opts};

struct config {
	struct fold_opts fold;
	bool stats;
};

static int on_option(void *ctx, int id, const char *arg, struct buf *why)
{
	struct config *c = ctx;

	(void)why;
	switch (id) {
	case 'p': c->fold.pid = true; break;
	case 't': c->fold.tid = true; break;
	case 'a': c->fold.kernel = c->fold.jit = true; break;
	case 'k': c->fold.kernel = true; break;
	case 'j': c->fold.jit = true; break;
	case ADDRS: c->fold.addrs = true; break;
	case SRCLINE: c->fold.srcline = true; break;
	case 'e':
	case EVENT_FILTER: c->fold.event = arg; break;
	case 'c': c->fold.count = true; break;
	case STATS: c->stats = true; break;
	}
	return 0;
}

/* Folds a source, whatever its kind, and frees it. */
static int read_source(struct fold *f, struct src *s, struct diag *d)
{
	char magic[sizeof(STREAM_MAGIC) - 1];
	size_t n = 0, got = 1;
	int rc = 0;

	while (!rc && got && n < sizeof(magic)) {
		rc = src_read(s, magic + n, sizeof(magic) - n, &got);
		n += got;
	}
	if (!rc)
		rc = src_unread(s, magic, n);
	if (rc) {
		diag_error(d, src_name(s), -1, "cannot read: %s", pp_strerror(rc));
		src_free(s);
		return rc;
	}
	if (n == sizeof(magic) && !memcmp(magic, STREAM_MAGIC, n))
		return fold_stream(f, s);
	rc = fold_text(f, s);
	src_free(s);
	return rc;
}

/* Folds all files; the exit status of the worst. */
static int read_all(struct fold *f, int n, char **names, struct diag *d)
{
	static char *standard_input[] = {"-"};
	int status = PP_EXIT_OK, i = 0;

	if (!n)
		names = standard_input;
	do {
		struct src *s;
		int rc = src_open(&s, names[i], d);

		if (rc)
			return PP_EXIT_FAIL;
		rc = read_source(f, s, d);
		if (rc == PP_ECUT)
			status = PP_EXIT_PARTIAL;
		else if (rc)
			return PP_EXIT_FAIL;
	} while (++i < n);
	return status;
}

static void print_stats(struct fold *f, struct diag *d)
{
	const struct fold_account *a = fold_account(f);

	diag_say(d, NULL,
		 "samples %" PRIu64 " = folded %" PRIu64 " + without stack %" PRIu64
		 " + filtered out %" PRIu64 " + joined to the next %" PRIu64,
		 a->samples, a->folded, a->bare, a->filtered, a->joined);
	diag_say(d, NULL, "stacks %" PRIu64 ", weight %" PRIu64 ", unrecognised lines %" PRIu64,
		 fold_stacks(f), a->weight, a->unrecognised);
}

static int finish(struct fold *f, int status, struct diag *d)
{
	const struct fold_account *a = fold_account(f);
	struct out o;
	int rc, close_rc;

	fold_finish(f);
	if (!fold_stacks(f)) {
		if (a->filtered)
			diag_error(d, NULL, -1, "no samples of %s, but %" PRIu64 " of other events",
				   fold_options(f)->event, a->filtered);
		else
			diag_error(d, NULL, -1, "no samples%s",
				   a->outside ? ": perf script printed no call stacks" : "");
		return PP_EXIT_PARTIAL;
	}
	rc = out_init(&o, STDOUT_FILENO);
	if (!rc)
		rc = fold_write(f, &o);
	close_rc = out_close(&o);
	rc = rc ? rc : close_rc;
	if (rc && rc != PP_EPIPE)
		diag_error(d, NULL, -1, "cannot write: %s", pp_strerror(rc));
	return rc ? PP_EXIT_FAIL : status;
}

int main(int argc, char **argv)
{
	struct config config = {0};
	struct fold *f;
	struct cli cli;
	int status;

	if (cli_start(&cli, &spec, argc, argv, on_option, &config))
		return cli.status;
	if (fold_new(&f, &config.fold, cli.diag))
		return cli_finish(&cli, PP_EXIT_FAIL);
	status = read_all(f, argc - cli.first, argv + cli.first, cli.diag);
	if (status != PP_EXIT_FAIL)
		status = finish(f, status, cli.diag);
	if (config.stats)
		print_stats(f, cli.diag);
	fold_free(f);
	return cli_finish(&cli, status);
}
