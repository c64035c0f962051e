/*
 * What the mains share: diagnostics on stderr, option handling, exit statuses.
 *
 *	struct cli cli;
 *	if (cli_start(&cli, &spec, argc, argv))
 *		return cli.status;
 *	... cli.first is the index of the first operand ...
 *	return cli_finish(&cli, status);
 */
#ifndef PP_CLI_H
#define PP_CLI_H

#include "base/diag.h"
#include "base/err.h"
#include "base/opt.h"
#include "base/sandbox.h"
#include "filter/ssink.h"

#include <signal.h>

struct cli {
	struct diag *diag;
	bool no_sandbox;
	bool stats, strict; /* of cli_account_options */
	int first;	    /* index of the first operand in argv */
	int status;	    /* what to return when cli_start fails */
};

/* Returns 0 to go on; otherwise the program returns cli->status (help was printed, or usage). */
int cli_start(struct cli *cli, const struct opt_spec *spec, int argc, char **argv);

/* As cli_start, for programs whose options end at the first operand. */
int cli_start_command(struct cli *cli, const struct opt_spec *spec, int argc, char **argv);

/*
 * Refuses options that have no effect in a mode (opt_check_effects), after cli_start. 0 to go on;
 * else it is reported, and the program ends with cli->status, by cli_finish.
 */
int cli_effects(struct cli *cli, const struct opt_spec *spec, int argc, char **argv,
		const struct opt_effect *table, unsigned mode, const char *on);

/*
 * The same by the form of what a filter writes to stdout: ssink_effects, or ssink_cpu_effects.
 * Prints the list that -O help asks for, if it does; then it is also not 0.
 */
int cli_sink_effects(struct cli *cli, const struct opt_spec *spec, int argc, char **argv,
		     const struct opt_effect *table, const struct ssink_opts *out);

/* The option that lets cli_confine do nothing, and its handler, whose context is a struct cli. */
extern const struct opt cli_sandbox_options[];
opt_handler cli_sandbox_option;

/* --stats and --strict of programs that account for samples; the context is a struct cli. */
extern const struct opt cli_account_options[];
opt_handler cli_account_option;

/*
 * After cli_start, before input is opened: gives up what a filter does not need. An output of "-"
 * is none. With -v it is reported what the kernel does not have.
 */
void cli_confine(const struct cli *cli, struct sandbox needs);

/*
 * Makes the first SIGINT, SIGTERM or SIGHUP set what is returned, so that the program ends in
 * order; the second one ends it.
 */
const volatile sig_atomic_t *cli_until_interrupt(void);

/* Sums up the warnings, frees, and gives the exit status back. */
int cli_finish(struct cli *cli, int status);

#endif
