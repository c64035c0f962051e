/* pdecode: recordings to an event stream. */
#include "cli.h"
#include "input/input.h"
#include "stream/text.h"

#include <unistd.h>

static const struct opt opts[] = {
	SSINK_OPTIONS,
	INPUT_VIEW_OPTIONS,
	{'v', "verbose", NULL, "say what is passed over and what is done"},
	{'s', "stats", NULL, "print the account of samples on stderr"},
	{OPT_NO_SHORT + 1, "strict", NULL, "make losses that the recording reports exit status 1"},
	{0},
};
static const struct opt_spec spec = {"pdecode", "[OPTION]... [FILE]...",
				     "decode recordings (perf.data, trace.dat) to an event stream",
				     opts};

struct config {
	struct ssink_opts out;
	struct input_show show;
	bool verbose, strict, stats;
};

static int on_option(void *ctx, int id, const char *arg, struct buf *why)
{
	struct config *c = ctx;
	int rc;

	if (ssink_option(&c->out, id, arg, why, &rc) || input_view_option(&c->show, id, why, &rc))
		return rc;
	switch (id) {
	case 'v': c->verbose = true; break;
	case 's': c->stats = true; break;
	default: c->strict = true;
	}
	return 0;
}

/* Decodes one input into the stream. Returns its exit status. */
static int decode(const char *name, uint32_t source, struct ssink *sink, struct diag *d,
		  struct ps_end *end)
{
	struct src *s;
	int rc = src_open(&s, name, d);

	if (rc)
		return PP_EXIT_FAIL;
	return input_status(input_decode(s, source, &sink->w, d, end));
}

int main(int argc, char **argv)
{
	struct config c = {0};
	struct ps_end end = {0};
	struct ssink sink;
	struct cli cli;
	int failed = 0, n, status;

	if (cli_start(&cli, &spec, argc, argv, on_option, &c))
		return cli.status;
	diag_set_verbose(cli.diag, c.verbose);
	n = argc - cli.first;
	if (c.show.view != INPUT_EVENTS) {
		c.show.json = c.out.form == SSINK_JSON;
		c.show.all = c.out.text.all;
		return cli_finish(&cli, input_describe_all(argv + cli.first, n, &c.show,
							   STDOUT_FILENO, cli.diag));
	}
	if (ssink_open(&sink, STDOUT_FILENO, &c.out, cli.diag))
		return cli_finish(&cli, PP_EXIT_FAIL);
	swriter_header(&sink.w);
	swriter_provenance(&sink.w, "pdecode", argc, argv);
	for (int i = 0; i < n || (!n && !i); i++) {
		int st = decode(n ? argv[cli.first + i] : "-", (uint32_t)i + 1, &sink, cli.diag,
				&end);

		failed += st == PP_EXIT_FAIL;
		if (st)
			end.status = PP_EXIT_PARTIAL;
	}
	if (failed == (n ? n : 1))
		end.status = PP_EXIT_FAIL;
	if (c.strict && end.lost && !end.status)
		end.status = PP_EXIT_PARTIAL;
	status = ssink_close(&sink, &end, cli.diag);
	if (c.stats)
		diag_say(cli.diag, NULL, "%llu samples, %llu lost by the recorder, %llu missing",
			 (unsigned long long)end.samples, (unsigned long long)end.lost,
			 (unsigned long long)end.missing);
	return cli_finish(&cli, status);
}
