/* perfpipe: where to start: what there is, what a recording answers, what this machine allows. */
#include "base/out.h"
#include "base/out_end.h"
#include "cli.h"
#include "guide/doctor.h"
#include "guide/front.h"
#include "guide/share.h"

#include <string.h>
#include <unistd.h>

enum { TSV = OPT_NO_SHORT, FEATURES };

static const struct opt options[] = {
	{TSV, "tsv", NULL, "write rows of tab-separated values, for scripts"},
	{FEATURES, "features", NULL, "with version: the libraries, and what the kernel allows"},
	{0},
};

struct config {
	bool tsv, features;
	struct cli *cli;
};

static int on_option(void *ctx, int id, const char *arg, struct buf *why)
{
	struct config *c = ctx;

	(void)arg;
	(void)why;
	*(id == TSV ? &c->tsv : &c->features) = true;
	return 0;
}

static int fail(struct diag *d, int rc, struct buf *why)
{
	diag_error(d, NULL, -1, "%s", why->len ? buf_str(why) : pp_strerror(rc));
	buf_release(why);
	return rc == PP_EUSAGE ? PP_EXIT_USAGE : PP_EXIT_FAIL;
}

static int recordings(const struct config *c, char **files, int n, struct buf *b, struct diag *d)
{
	int failed = 0, worst = PP_EXIT_OK, status;

	cli_confine(c->cli, (struct sandbox){.processes = true});
	for (int i = 0; i < n; i++) {
		if (i && !c->tsv)
			buf_addc(b, '\n');
		status = front_recording(files[i], c->tsv, b, d);
		failed += status == PP_EXIT_FAIL;
		if (status)
			worst = PP_EXIT_PARTIAL;
	}
	return failed == n ? PP_EXIT_FAIL : worst;
}

static int command(const struct config *c, char **words, int n, struct buf *b, struct diag *d)
{
	const char *name = n ? words[0] : "";
	struct buf why = BUF_INIT;
	int rc;

	if (c->features && strcmp(name, "version") != 0)
		buf_adds(&why, "--features has no effect without version");
	else if (c->tsv && (!n || !strcmp(name, "version")))
		buf_adds(&why, "--tsv is for a RECORDING, doctor and recipes");
	else if (n > 1 &&
		 (!strcmp(name, "doctor") || !strcmp(name, "version") || !strcmp(name, "recipes")))
		buf_addf(&why, "%s takes no operand; a file with that name is ./%s", name, name);
	else if (!strcmp(name, "run") || !strcmp(name, "complete"))
		buf_addf(&why, "%s has to come first, followed by its arguments: see --help", name);
	if (why.len)
		return fail(d, PP_EUSAGE, &why);
	if (!n)
		front_welcome(b);
	else if (!strcmp(name, "doctor"))
		return doctor_print(c->tsv, b) ? PP_EXIT_PARTIAL : PP_EXIT_OK;
	else if (!strcmp(name, "version"))
		front_version(c->features, b);
	else if (!strcmp(name, "fields"))
		front_fields(c->tsv, b);
	else if (!strcmp(name, "recipes"))
		return (rc = front_recipes(c->tsv, b, &why)) ? fail(d, rc, &why) : PP_EXIT_OK;
	else
		return recordings(c, words, n, b, d);
	return PP_EXIT_OK;
}

int main(int argc, char **argv)
{
	struct cli cli;
	struct config c = {.cli = &cli};
	const struct opt_group groups[] = {
		{options, on_option, &c}, {cli_sandbox_options, cli_sandbox_option, &cli}, {0}};
	const struct opt_spec spec = {
		"perfpipe", "[OPTION]... [RECORDING... | COMMAND [ARG]...]",
		"the questions, what a recording answers, what this machine allows; commands: doctor, "
		"recipes, run RECIPE, fields, version, complete PROGRAM WORD...",
		groups};
	bool run = argc > 2 && !strcmp(argv[1], "run");
	bool complete = argc > 3 && !strcmp(argv[1], "complete");
	struct buf text = BUF_INIT;
	int rc, status;

	/* The options of a recipe, and those that are being typed, are not its own. */
	if (cli_start(&cli, &spec, run || complete ? 1 : argc, argv))
		return cli.status;
	if (run || complete) {
		rc = run ? share_run(argv[2], argv + 2, &text) : share_complete(argv + 1, &text);
		return cli_finish(&cli, fail(cli.diag, rc, &text));
	}
	status = command(&c, argv + cli.first, argc - cli.first, &text, cli.diag);
	rc = out_text(STDOUT_FILENO, &text, cli.diag);
	if (rc && rc != PP_EPIPE)
		status = PP_EXIT_FAIL;
	buf_release(&text);
	return cli_finish(&cli, status);
}
