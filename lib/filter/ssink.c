/* A filter's standard output: binary, text or JSON. */
#include "filter/ssink.h"

#include "base/err.h"
#include "base/out_end.h"
#include "filter/printers.h"

#include <unistd.h>

enum { PLAIN = OPT_NO_SHORT, THREADS };

/* A buffer of whole records. */
static int print(void *ctx, uint8_t *bytes, size_t n)
{
	struct ssink *s = ctx;

	return printers_take(s->print, bytes, n);
}

const struct opt ssink_options[] = {
	{'b', "binary", NULL, "write the binary event stream, even to a terminal"},
	{'t', "text", NULL, "write text, as perf script or trace-cmd report prints it"},
	{'j', "json", NULL, "write JSON, one object a line"},
	{PLAIN, "plain", NULL, "write the binary stream unpacked: version 1, for other readers"},
	{THREADS, "threads", "N", "use N threads to print and to decompress"},
	{0},
};

const struct opt_rule ssink_rules[] = {
	{"binary", "text json", NULL},
	{"text", "json", NULL},
	{"reltime", "deltatime", NULL},
	/* As perf script prints; these change how trace-cmd does. */
	{"latency", "fields", NULL},
	{"raw", "fields", NULL},
	{"no-plugins", "fields raw", NULL},
	{"ts-diff", "fields", NULL},
	{"trace-cmd", "fields", NULL},
	{0},
};

#define BIT(form) (1u << (form))
#define TEXT	  BIT(SSINK_TEXT)

/* clang-format off */
#define EFFECTS \
	{"fields hide-call-graph ns reltime deltatime latency raw no-plugins plugin ts-diff " \
	 "trace-cmd", TEXT}, \
	{"all", TEXT | BIT(SSINK_JSON)}, \
	{"plain", BIT(SSINK_BINARY)}, \
	{"binary text json", TEXT | BIT(SSINK_JSON) | BIT(SSINK_BINARY)}
/* clang-format on */

const struct opt_effect ssink_effects[] = {EFFECTS, {0}};
const struct opt_effect ssink_cpu_effects[] = {EFFECTS, {"cpu", TEXT | BIT(SSINK_JSON)}, {0}};

static enum ssink_form form_of(const struct ssink_opts *o, int fd)
{
	if (o->form != SSINK_AUTO)
		return o->form;
	return isatty(fd) ? SSINK_TEXT : SSINK_BINARY;
}

unsigned ssink_mode(const struct ssink_opts *opts, int fd, const char **on)
{
	enum ssink_form form = form_of(opts, fd);

	*on = form == SSINK_BINARY ? "binary output; give --text"
	      : form == SSINK_TEXT ? "text"
	      : form == SSINK_JSON ? "JSON"
				   : "output that replaces the stream";
	return BIT(form);
}

int ssink_option(void *opts, int id, const char *arg, struct buf *why)
{
	struct ssink_opts *o = opts;
	uint64_t n;

	switch (id) {
	case 'b': o->form = SSINK_BINARY; break;
	case 't': o->form = SSINK_TEXT; break;
	case 'j': o->form = SSINK_JSON; break;
	case PLAIN: o->plain = true; break;
	case THREADS:
		if (opt_u64(arg, 1, PRINTERS_MAX, &n)) {
			buf_addf(why, "--threads: a number from 1 to %d is needed", PRINTERS_MAX);
			return PP_EUSAGE;
		}
		o->threads = (unsigned)n;
		break;
	}
	return 0;
}

static int drop(void *ctx, uint8_t *bytes, size_t n)
{
	(void)ctx;
	(void)bytes;
	(void)n;
	return 0;
}

int ssink_open(struct ssink *s, int fd, const struct ssink_opts *opts, struct diag *d)
{
	struct stext_opts text = opts->text;
	enum ssink_form form = form_of(opts, fd);
	int rc;

	*s = (struct ssink){0};
	if (form == SSINK_BINARY || form == SSINK_NONE) {
		rc = form == SSINK_NONE ? out_init_fn(&s->out, drop, NULL) : out_init(&s->out, fd);
		swriter_init(&s->w, &s->out);
		return rc || opts->plain || form == SSINK_NONE
			       ? rc
			       : swriter_pack(&s->w, !out_is_pipe(&s->out));
	}
	rc = out_init(&s->text_out, fd);
	if (!rc)
		rc = out_init_fn(&s->out, print, s);
	text.form = form == SSINK_JSON ? STEXT_JSON : STEXT_PERF;
	if (!rc)
		rc = printers_new(&s->print, &s->text_out, &text, opts->threads, d);
	swriter_init(&s->w, &s->out);
	return rc;
}

int ssink_flush(void *sink)
{
	struct ssink *s = sink;

	if (!swriter_flush(&s->w))
		s->w.err = out_flush(&s->out);
	if (s->print && !s->w.err)
		s->w.err = printers_wait(s->print);
	if (s->print && !s->w.err)
		s->w.err = out_flush(&s->text_out);
	return -1;
}

int ssink_close(struct ssink *s, struct ps_end *end, struct diag *d)
{
	int rc = s->w.err, closed;

	if (!rc)
		rc = swriter_end(&s->w, end);
	swriter_release(&s->w);
	closed = out_close(&s->out);
	if (!rc)
		rc = closed;
	if (s->print) {
		closed = printers_free(s->print);
		if (!rc)
			rc = closed;
		closed = out_close(&s->text_out);
		if (!rc)
			rc = closed;
	}
	return out_report(rc, d) ? PP_EXIT_FAIL : (int)end->status;
}
