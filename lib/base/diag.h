/*
 * Diagnostics: what a user should read on stderr.
 *
 * The library reports it to a struct diag; the program that made the diag decides where it goes. A
 * message is one line, "pdecode: perf.data: offset 4096: what is wrong", written in one piece, with
 * control characters replaced. A warning is printed the first time; the same warning (same format
 * string, same file) is then only counted, and summed up by diag_finish.
 *
 *	struct diag *d;
 *	rc = diag_new(&d, "pdecode", stderr_line, NULL);
 *	diag_warn(d, "perf.data", 4096, "record of type %u is cut off", type);
 *	diag_finish(d);		("pdecode: perf.data: 6 more like: record of type 9 is cut off")
 *	diag_free(d);
 *
 * A message is printed even when no memory is left. The file "-" is called DIAG_STDIN.
 */
#ifndef PP_BASE_DIAG_H
#define PP_BASE_DIAG_H

#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define DIAG_STDIN "(stdin)"

struct diag;

/* Receives one finished line, with its newline. */
typedef void diag_sink(void *ctx, const char *line, size_t len);

int diag_new(struct diag **d, const char *prog, diag_sink *sink, void *ctx);
void diag_free(struct diag *d); /* NULL is fine */

/*
 * A diag that prints like another, for a separate thread: the sink then has to be ready for
 * calls from several threads. It shows no progress.
 */
int diag_new_like(struct diag **d, const struct diag *like);

/* With verbose set, diag_note prints. */
void diag_set_verbose(struct diag *d, bool verbose);

/* With quiet set, diag_warn does not print. */
void diag_set_quiet(struct diag *d, bool quiet);

/*
 * All take the file (or NULL) and the offset in it in bytes (or -1), and a lower case text without
 * newline. A NULL diag is silent. diag_error prints always and returns nothing: the caller has a
 * code to return. diag_note prints only when verbose. diag_say always prints, and is not a warning.
 */
__attribute__((format(printf, 4, 5))) void diag_error(struct diag *d, const char *file,
						      int64_t offset, const char *fmt, ...);
__attribute__((format(printf, 4, 5))) void diag_warn(struct diag *d, const char *file,
						     int64_t offset, const char *fmt, ...);
void diag_vwarn(struct diag *d, const char *file, int64_t offset, const char *fmt, va_list ap);
__attribute__((format(printf, 4, 5))) void diag_note(struct diag *d, const char *file,
						     int64_t offset, const char *fmt, ...);
/* An error of several lines, which stay lines, in one write. */
void diag_lines(struct diag *d, const char *text);
__attribute__((format(printf, 3, 4))) void diag_say(struct diag *d, const char *file,
						    const char *fmt, ...);

/* Progress is printed only when switched on: by programs, when stderr is a terminal. */
void diag_set_progress(struct diag *d, bool on);

/*
 * This many bytes of a total are done. With total 0 (a pipe) nothing is shown: of the filters of a
 * pipeline only the first would have something to say. Shown from the second second on, in one
 * line that is written over, and wiped before the next message. Cheap: call it for each block.
 */
void diag_progress(struct diag *d, const char *file, uint64_t done, uint64_t total);

/* The same in words, every second, for work whose total is not known. */
__attribute__((format(printf, 2, 3))) void diag_show(struct diag *d, const char *fmt, ...);

/* Sums up the repeated warnings. */
void diag_finish(struct diag *d);

/* Whether nothing was printed so far. */
bool diag_silent(const struct diag *d);

/* A program that was run for this one has already printed what is wrong. */
void diag_told(struct diag *d);

#endif
