/*
 * System calls of a recording as text: what strace prints of a running program.
 *
 *	struct strace_opts o = {.calls = "open*,net"};
 *	struct strace *s;
 *
 *	rc = strace_new(&s, &o, STDOUT_FILENO, diag);
 *	status = strace_files(s, names, n);
 *	status = strace_close(s, status);
 *	strace_free(s);
 *
 * Input is event streams with raw_syscalls:sys_enter and sys_exit, or with syscalls:sys_enter_* and
 * syscalls:sys_exit_*, of perf.data and trace.dat. A call is written when it ends, with the time at
 * which it began. Kept are the calls that have not ended, and the files that processes have open as
 * far as their paths are known.
 */
#ifndef PP_STRACE_STRACE_H
#define PP_STRACE_STRACE_H

#include "base/diag.h"
#include "base/opt.h"
#include "table/table.h"

#define STRACE_ABIS_MAX 64

enum strace_form { STRACE_TEXT, STRACE_LINES, STRACE_TSV, STRACE_JSON };

struct strace_opts {
	const char
		*calls;	  /* names, patterns (glob.h) and groups, commas between; "!" turns round */
	bool failed;	  /* only calls that failed */
	uint64_t slower;  /* ns: only calls that took as long or longer */
	bool summary;	  /* a table of calls instead of them */
	bool by_thread;	  /* with a row for each thread's */
	bool raw;	  /* numbers, not the names of flags and errors */
	const char *arch; /* whose numbers and flags they are; NULL: as recorded */
	const char *abis[STRACE_ABIS_MAX]; /* "32" or "64", for all, or ":" and for whom */
	unsigned nabis;
	enum strace_form form;
	struct table_opts table;
};

/* The options, and their handler, whose context is a struct strace_opts. */
extern const struct opt strace_options[];
extern const struct opt_rule strace_rules[];
opt_handler strace_option;

struct strace;

/* Texts of opts and the diag must outlive it. 0, PP_EUSAGE (a condition; reported) or PP_ENOMEM. */
int strace_new(struct strace **s, const struct strace_opts *opts, int fd, struct diag *d);
void strace_free(struct strace *s); /* NULL is fine */

/* Reads event streams, stdin if n is 0, and writes. Returns the exit status. */
int strace_files(struct strace *s, char **names, int n);

/*
 * Writes what is left and closes the output. `status` is that of the reading; returns the exit
 * status of the whole: PP_EXIT_PARTIAL if there was no system call, which is reported.
 */
int strace_close(struct strace *s, int status);

/* Events that the recordings say they lost; the account. */
uint64_t strace_lost(const struct strace *s);
void strace_describe(const struct strace *s);

#endif
