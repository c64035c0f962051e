/* What the mains share: diagnostics on stderr, option handling, exit statuses. */
#include "cli.h"

#include "base/out.h"
#include "base/out_end.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static void to_stderr(void *ctx, const char *line, size_t len)
{
	(void)ctx;
	/* Nothing can be done, and nothing said, when stderr does not take it. */
	if (write(STDERR_FILENO, line, len) < 0)
		return;
}

/*
 * A file that is opened must not become stdin, stdout or stderr because that was closed: what is
 * meant for these would go there. They get /dev/null, opened the wrong way round, so that using
 * them fails.
 */
static void occupy_standard(void)
{
	for (int fd = STDIN_FILENO; fd <= STDERR_FILENO; fd++)
		if (fcntl(fd, F_GETFD) < 0 &&
		    open("/dev/null", fd == STDIN_FILENO ? O_WRONLY : O_RDONLY) != fd)
			_exit(PP_EXIT_FAIL);
}

#define LITERAL(s) (s), sizeof(s) - 1

typedef int parser(const struct opt_spec *, int, char **, struct buf *, int *);

static int start(struct cli *cli, const struct opt_spec *spec, int argc, char **argv, parser *parse)
{
	struct opt_spec with_habits = *spec;
	struct buf text = BUF_INIT;
	int rc;

	with_habits.habits = opt_habits;
	occupy_standard();
	*cli = (struct cli){.status = PP_EXIT_FAIL};
	if (diag_new(&cli->diag, spec->prog, to_stderr, NULL)) {
		to_stderr(NULL, spec->prog, strlen(spec->prog));
		to_stderr(NULL, LITERAL(": out of memory\n"));
		return -1;
	}
	diag_set_progress(cli->diag, isatty(STDERR_FILENO));
	rc = parse(&with_habits, argc, argv, &text, &cli->first);
	if (rc == OPT_RUN) {
		buf_release(&text);
		return 0;
	}
	cli->status = rc == OPT_HELP ? PP_EXIT_OK : PP_EXIT_USAGE;
	text.err = rc == OPT_FAIL ? PP_ENOMEM : text.err;
	if (out_text(rc == OPT_HELP ? STDOUT_FILENO : STDERR_FILENO, &text, cli->diag))
		cli->status = PP_EXIT_FAIL;
	buf_release(&text);
	diag_free(cli->diag);
	return -1;
}

static void let_pass(int sig)
{
	(void)sig;
}

/*
 * Control-C goes to every process of a pipeline. The recorder at its head ends cleanly; the filters
 * after it have to live on to finish what it recorded. So one that reads a pipe lets the first
 * SIGINT pass; the second ends it.
 */
static void outlive_interrupt(void)
{
	struct sigaction pass = {.sa_handler = let_pass, .sa_flags = SA_RESETHAND | SA_RESTART};
	struct sigaction old;
	struct stat st;

	if (!fstat(STDIN_FILENO, &st) && S_ISFIFO(st.st_mode) && !sigaction(SIGINT, NULL, &old) &&
	    old.sa_handler == SIG_DFL)
		sigaction(SIGINT, &pass, NULL);
}

/* A part of a mapped file is gone: nothing can be read on. */
static void cut_short(int sig)
{
	static const char what[] = ": a file was cut short while it was read\n";
	char text[64 + sizeof(what)];
	size_t n = strnlen(program_invocation_short_name, 64);

	(void)sig;
	memcpy(text, program_invocation_short_name, n);
	memcpy(text + n, what, sizeof(what) - 1);
	(void)!write(STDERR_FILENO, text, n + sizeof(what) - 1);
	_exit(PP_EXIT_FAIL);
}

int cli_start(struct cli *cli, const struct opt_spec *spec, int argc, char **argv)
{
	outlive_interrupt();
	sigaction(SIGBUS, &(struct sigaction){.sa_handler = cut_short}, NULL);
	return start(cli, spec, argc, argv, opt_parse);
}

int cli_start_command(struct cli *cli, const struct opt_spec *spec, int argc, char **argv)
{
	return start(cli, spec, argc, argv, opt_parse_command);
}

int cli_effects(struct cli *cli, const struct opt_spec *spec, int argc, char **argv,
		const struct opt_effect *table, unsigned mode, const char *on)
{
	struct buf text = BUF_INIT;
	int rc = opt_check_effects(spec, argc, argv, table, mode, on, &text);

	if (rc == OPT_RUN)
		return 0;
	cli->status = PP_EXIT_USAGE;
	if (text.err || out_write_all(STDERR_FILENO, buf_str(&text), text.len))
		cli->status = PP_EXIT_FAIL;
	buf_release(&text);
	return -1;
}

/* What -O help asks for, which ends the program. */
static int list_options(struct cli *cli)
{
	struct buf text = BUF_INIT;
	int rc;

	stext_list_options(&text);
	rc = out_text(STDOUT_FILENO, &text, cli->diag);
	buf_release(&text);
	cli->status = rc && rc != PP_EPIPE ? PP_EXIT_FAIL : PP_EXIT_OK;
	return -1;
}

int cli_sink_effects(struct cli *cli, const struct opt_spec *spec, int argc, char **argv,
		     const struct opt_effect *table, const struct ssink_opts *out)
{
	const char *on;
	unsigned mode = ssink_mode(out, STDOUT_FILENO, &on);

	if (out->text.list_options)
		return list_options(cli);
	return cli_effects(cli, spec, argc, argv, table, mode, on);
}

const struct opt cli_sandbox_options[] = {
	{OPT_NO_SHORT, "no-sandbox", NULL,
	 "keep the right to start programs, connect and write files"},
	{0},
};

int cli_sandbox_option(void *ctx, int id, const char *arg, struct buf *why)
{
	(void)id;
	(void)arg;
	(void)why;
	((struct cli *)ctx)->no_sandbox = true;
	return 0;
}

enum { STATS = OPT_NO_SHORT, STRICT };

const struct opt cli_account_options[] = {
	{STATS, "stats", NULL, "print what happened to the samples on stderr"},
	{STRICT, "strict", NULL, "exit with 1 if the recording reports losses"},
	{0},
};

int cli_account_option(void *ctx, int id, const char *arg, struct buf *why)
{
	struct cli *c = ctx;

	(void)arg;
	(void)why;
	*(id == STATS ? &c->stats : &c->strict) = true;
	return 0;
}

/* Such programs write what they have counted when they end. */
#ifdef PP_COVERAGE
#define COVERAGE true
#else
#define COVERAGE false
#endif

void cli_confine(const struct cli *cli, struct sandbox needs)
{
	if (cli->no_sandbox || COVERAGE)
		return;
	if (needs.output && !strcmp(needs.output, "-"))
		needs.output = NULL;
	if (!sandbox_enter(&needs))
		diag_note(cli->diag, NULL, -1,
			  "the kernel has no system call filters, or does "
			  "not allow them: this program is not confined");
}

static volatile sig_atomic_t interrupted;

static void interrupt(int sig)
{
	(void)sig;
	interrupted = 1;
}

const volatile sig_atomic_t *cli_until_interrupt(void)
{
	struct sigaction end = {.sa_handler = interrupt, .sa_flags = SA_RESETHAND}, old;

	sigaction(SIGINT, &end, NULL);
	sigaction(SIGTERM, &end, NULL);
	/* Programs that nohup(1) has started go on. */
	if (!sigaction(SIGHUP, NULL, &old) && old.sa_handler != SIG_IGN)
		sigaction(SIGHUP, &end, NULL);
	return &interrupted;
}

int cli_finish(struct cli *cli, int status)
{
	int errnum = errno;

	/*
	 * Where memory is short there is not always one who reports it. A reader that is gone is
	 * no news.
	 */
	if (status == PP_EXIT_FAIL && diag_silent(cli->diag) && errnum != EPIPE)
		diag_error(cli->diag, NULL, -1, "cannot continue: %s",
			   errnum ? strerror(errnum) : "it failed");
	diag_finish(cli->diag);
	diag_free(cli->diag);
	return status;
}
