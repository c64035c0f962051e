/* Converting from the options to the exit status. */
#include "conv/parts.h"

#include "base/err.h"
#include "base/plain.h"
#include "filter/filter.h"
#include "fold/inputs.h"
#include "tracedat/tracedat.h"
#include "base/out.h"
#include "base/thread.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <string.h>
#include <unistd.h>
#include <stdlib.h>
#include <zlib.h>

/* ---- output that is packed by gzip ---- */

#define LEVEL  1	 /* of a profile: two thirds of the time of 4, a tenth larger */
#define WINDOW (15 + 16) /* with the header of gzip */
#define MEMORY 8
#define PIECE  65536

struct gzip {
	int from; /* the end of a pipe */
	struct out to;
	z_stream z;
	pthread_t thread;
	uint8_t bytes[PIECE];
	int err; /* the first one */
};

static int pack(struct gzip *z, size_t n, int flush)
{
	z->z.next_in = z->bytes;
	z->z.avail_in = (uInt)n;
	do {
		uint8_t *p = out_room(&z->to, PIECE);

		if (!p)
			return z->to.err;
		z->z.next_out = p;
		z->z.avail_out = PIECE;
		if (deflate(&z->z, flush) == Z_STREAM_ERROR)
			return PP_ECORRUPT;
		z->to.len += PIECE - z->z.avail_out;
	} while (!z->z.avail_out);
	return 0;
}

/* Reads to the end, whatever happens: who writes is told by gzip_finish. */
static void *run(void *ctx)
{
	struct gzip *z = ctx;
	bool any = false;
	ssize_t n;

	while ((n = read(z->from, z->bytes, PIECE)) > 0 || (n < 0 && errno == EINTR)) {
		any |= n > 0;
		if (n > 0 && !z->err)
			z->err = pack(z, (size_t)n, Z_NO_FLUSH);
	}
	if (n < 0 && !z->err)
		z->err = pp_errno(errno);
	if (any && !z->err)
		z->err = pack(z, 0, Z_FINISH);
	return NULL;
}

/* What gzip_start has begun, without the descriptors. */
static void drop(struct gzip *z)
{
	deflateEnd(&z->z);
	out_release(&z->to);
	free(z);
}

/*
 * *to: the descriptor to write to, which the caller closes; fd is closed by gzip_finish. 0,
 * PP_ENOMEM, or a code of pp_errno: fd stays open.
 */
static int gzip_start(struct gzip **out, int fd, int *to)
{
	struct gzip *z = calloc(1, sizeof(*z));
	int ends[2], rc;

	*out = NULL;
	if (!z)
		return PP_ENOMEM;
	rc = out_init(&z->to, fd);
	if (!rc && deflateInit2(&z->z, LEVEL, Z_DEFLATED, WINDOW, MEMORY, Z_DEFAULT_STRATEGY))
		rc = PP_ENOMEM;
	if (!rc && pipe2(ends, O_CLOEXEC))
		rc = pp_errno(errno);
	if (rc) {
		drop(z);
		return rc;
	}
	z->from = ends[0];
	rc = thread_start(&z->thread, run, z);
	if (rc) {
		close(ends[0]);
		close(ends[1]);
		drop(z);
		return rc;
	}
	*to = ends[1];
	*out = z;
	return 0;
}

/*
 * Waits until everything is compressed and written, closes, frees. Without data, nothing is
 * written. NULL is fine. 0, or the first error.
 */
static int gzip_finish(struct gzip *z)
{
	int rc, closed;

	if (!z)
		return 0;
	pthread_join(z->thread, NULL);
	close(z->from);
	rc = z->err;
	closed = out_close(&z->to);
	deflateEnd(&z->z);
	free(z);
	return rc ? rc : closed;
}

#define LARGE_JSON (512u << 20) /* bytes: what viewers cannot read as one text */

/* ---- what is reported ---- */

static void say_lacks(const struct conv *c)
{
	static const struct {
		unsigned can;
		const char *what;
	} things[] = {{CONV_TIMES, "times"},
		      {CONV_CPUS, "CPUs"},
		      {CONV_THREADS, "threads"},
		      {CONV_EVENTS, "several events"}};
	unsigned lacks = c->account.had & ~c->to->can;
	struct buf b = BUF_INIT;

	for (size_t i = 0; i < sizeof(things) / sizeof(things[0]); i++)
		if (lacks & things[i].can)
			buf_addf(&b, "%s%s", b.len ? ", " : "", things[i].what);
	if (b.len && !b.err)
		diag_say(c->d, NULL, "%s has no place for %s", c->to->name, buf_str(&b));
	buf_release(&b);
	if (c->account.raw)
		diag_say(c->d, NULL,
			 "%" PRIu64 " samples have only addresses: put psym before pconv",
			 c->account.raw);
	if (c->account.lost)
		diag_say(c->d, NULL, "the recording lost %" PRIu64 " events%s", c->account.lost,
			 c->to->can & CONV_LOSSES ? "" : ", which the output does not show");
}

static void say_nothing(const struct conv *c)
{
	if (c->account.filtered)
		diag_error(c->d, NULL, -1, "none of the %" PRIu64 " samples passed the filter",
			   c->account.filtered);
	else
		diag_error(c->d, NULL, -1, "no samples");
}

static void say_stats(const struct conv_account *a, struct diag *d)
{
	diag_say(d, NULL,
		 "samples %" PRIu64 " = written %" PRIu64 " + not passing %" PRIu64
		 " + joined to another %" PRIu64,
		 a->samples, a->taken, a->filtered, a->joined);
}

/* ---- output ---- */

/* The descriptor of the output; what packs it, if anything does. -1: failed, which is reported. */
static int open_output(const struct conv_opts *o, const struct conv_format *to, struct gzip **pack,
		       struct diag *d)
{
	size_t len = o->output ? strlen(o->output) : 0;
	bool packed = to->can & CONV_PACKED || (len > 3 && !strcmp(o->output + len - 3, ".gz"));
	int fd = STDOUT_FILENO, in, rc;

	*pack = NULL;
	if (!o->output && to->can & CONV_BINARY && isatty(fd)) {
		diag_error(d, NULL, -1, "%s is binary, and this is a terminal: give -o FILE",
			   to->name);
		return -1;
	}
	if (o->output && strcmp(o->output, "-") != 0)
		fd = open(o->output, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
	if (fd < 0)
		diag_error(d, o->output, -1, "cannot write: %s", strerror(errno));
	if (fd < 0 || !packed)
		return fd;
	rc = gzip_start(pack, fd, &in);
	if (!rc)
		return in;
	diag_error(d, o->output, -1, "cannot pack: %s", pp_strerror(rc));
	return -1;
}

/* ---- by a writer of the format; as all that have a descriptor, they take it over ---- */

static int convert(struct conv *c, const struct conv_opts *o, char **files, int n)
{
	int rc = conv_begin(c, c->to->writer), worst = 0;

	for (int i = 0; i < n && !rc; i++) {
		struct src *s;

		rc = plain_open(&s, files[i], c->d);
		if (!rc)
			rc = conv_read(c, o->from, s);
		if (rc == PP_ECUT)
			worst = rc, rc = 0;
	}
	if (!rc && c->account.taken)
		return conv_end(c, worst) ? PP_EXIT_FAIL : worst ? PP_EXIT_PARTIAL : PP_EXIT_OK;
	if (rc == PP_ENOMEM || rc == PP_ELIMIT)
		diag_error(c->d, NULL, -1, "cannot keep all of it: %s", pp_strerror(rc));
	if (!rc)
		say_nothing(c);
	return rc ? PP_EXIT_FAIL : PP_EXIT_PARTIAL;
}

static int run_writer(const struct conv_opts *o, const struct conv_format *to, int fd, char **files,
		      int n, struct diag *d)
{
	struct conv c = {.to = to, .d = d};
	int status = PP_EXIT_FAIL, rc;
	struct out out;

	c.out = &out;
	if (!out_init(&out, fd))
		status = convert(&c, o, files, n);
	if (status != PP_EXIT_FAIL && c.account.taken) {
		say_lacks(&c);
		if (!(to->can & CONV_BINARY) && out.written > LARGE_JSON)
			diag_warn(d, NULL, -1, "more than 512 MB: many viewers cannot read that");
	}
	rc = out_close(&out);
	if (rc && rc != PP_EPIPE)
		diag_error(d, o->output, -1, "cannot write: %s", pp_strerror(rc));
	if (o->stats)
		say_stats(&c.account, d);
	if (!status && o->strict && c.account.lost)
		status = PP_EXIT_PARTIAL;
	conv_release(&c);
	return rc ? PP_EXIT_FAIL : status;
}

/* ---- by way of the event stream ---- */

static int copy(void *ctx, const struct sreader *r, const struct ps_record *rec)
{
	(void)r;
	/* The filter writes headers itself. */
	return rec->type == PS_HEADER ? 0 : swriter_copy(&((struct ssink *)ctx)->w, rec);
}

static int run_stream(const struct conv_opts *o, const struct conv_format *to, int fd, char **files,
		      int n, const struct conv_args *args, struct diag *d)
{
	struct ssink_opts form = {.form = strcmp(to->name, "stream") != 0 ? SSINK_TEXT
									  : SSINK_AUTO};
	struct ssink sink;
	struct filter f = {.name = "pconv",
			   .argc = args->argc,
			   .argv = args->argv,
			   .record = copy,
			   .ctx = &sink,
			   .open = conv_open_stream,
			   .open_ctx = (void *)o};
	struct ps_end end = {0};
	struct conv_account all = {0};

	if (ssink_open(&sink, fd, &form, d)) {
		close(fd);
		return PP_EXIT_FAIL;
	}
	f.keep = SREADER_EVENTS | (sink.w.pack ? SREADER_PARTS : 0);
	filter_run(&f, files, n, &sink, d, &end);
	if (o->strict && end.lost && !end.status)
		end.status = PP_EXIT_PARTIAL;
	if (!end.status && !sink.w.samples && !sink.w.earlier) {
		diag_error(d, NULL, -1, "no samples");
		end.status = PP_EXIT_PARTIAL;
	}
	all.samples = all.taken = sink.w.samples + sink.w.earlier;
	if (o->stats)
		say_stats(&all, d);
	return ssink_close(&sink, &end, d);
}

static int run_folded(const struct conv_opts *o, int fd, char **files, int n, struct diag *d)
{
	static const struct fold_opts plain;
	int status = PP_EXIT_OK, rc = 0;
	struct fold *f;

	if (fold_new(&f, &plain, d)) {
		close(fd);
		return PP_EXIT_FAIL;
	}
	for (int i = 0; i < n && (!rc || rc == PP_ECUT); i++) {
		struct src *s;

		rc = conv_open_foldable(o, files[i], &s, d);
		if (!rc)
			rc = fold_source(f, s, d);
		status = rc ? PP_EXIT_PARTIAL : status;
	}
	if (rc == PP_ENOMEM || rc == PP_ELIMIT)
		diag_error(d, NULL, -1, "cannot keep all stacks: %s", pp_strerror(rc));
	if (rc && rc != PP_ECUT) {
		close(fd);
		status = PP_EXIT_FAIL;
	} else {
		status = fold_print(f, fd, true, status);
	}
	if (!status && o->strict && fold_account(f)->lost)
		status = PP_EXIT_PARTIAL;
	if (o->stats)
		fold_describe(f, d);
	fold_free(f);
	return status;
}

/* ---- recordings ---- */

static int run_recording(const struct conv_opts *o, char **files, int n, struct diag *d)
{
	const struct trace_to_file as = {.path = o->output, .version = 7};
	struct src *s;
	int rc;

	if (o->from || o->stats || o->strict) {
		diag_error(d, NULL, -1,
			   "--from, --stats and --strict have no effect on a trace.dat");
		return PP_EXIT_USAGE;
	}
	if (!o->output || !strcmp(o->output, "-") || n > 1) {
		diag_error(
			d, NULL, -1,
			"a trace.dat is made from one recording, and written to a file: give -o FILE");
		return PP_EXIT_USAGE;
	}
	if (plain_open(&s, files[0], d))
		return PP_EXIT_FAIL;
	rc = trace_to_file(s, &as, d);
	src_free(s);
	return !rc				    ? PP_EXIT_OK
	       : rc == PP_ECUT || rc == PP_ECORRUPT ? PP_EXIT_PARTIAL
						    : PP_EXIT_FAIL;
}

static bool is_database(const char *file)
{
	const char *dot = strrchr(file, '.');

	return dot && (!strcmp(dot, ".db") || !strcmp(dot, ".sqlite") || !strcmp(dot, ".sqlite3"));
}

int conv_run(const struct conv_opts *o, char **files, int n, const struct conv_args *args,
	     struct diag *d)
{
	static char *standard_input[] = {"-"};
	const struct conv_format *to = o->to;
	struct gzip *pack;
	int fd, status, rc;

	if (!to && o->output)
		to = conv_format_of_file(o->output);
	if (o->output && is_database(o->output)) {
		diag_error(d, o->output, -1,
			   "is made by sqlite3 from SQL text: pconv --to sqlite FILE | sqlite3 "
			   "DATABASE");
		return PP_EXIT_USAGE;
	}
	if (!to && o->output) {
		diag_error(d, o->output, -1, "its ending shows no format: give --to FORMAT");
		return PP_EXIT_USAGE;
	}
	if (!to)
		to = conv_format_named("stream");
	if (!n)
		files = standard_input, n = 1;
	if (to->can & CONV_MADE)
		return run_recording(o, files, n, d);
	fd = open_output(o, to, &pack, d);
	if (fd < 0)
		return PP_EXIT_FAIL;
	if (to->writer)
		status = run_writer(o, to, fd, files, n, d);
	else if (!strcmp(to->name, "folded"))
		status = run_folded(o, fd, files, n, d);
	else
		status = run_stream(o, to, fd, files, n, args, d);
	rc = gzip_finish(pack);
	if (rc && rc != PP_EPIPE)
		diag_error(d, o->output, -1, "cannot write: %s", pp_strerror(rc));
	return rc ? PP_EXIT_FAIL : status;
}
