/* lib/base/diag.h and err.h: the form of messages, and that a warning is not repeated. */
#include "base/diag.h"

#include "base/buf.h"
#include "base/err.h"
#include "tap.h"

#include <errno.h>
#include <stdlib.h>
#include <sys/resource.h>

struct heard {
	struct buf text;
	int lines;
};

static void hear(void *ctx, const char *line, size_t len)
{
	struct heard *h = ctx;

	h->lines++;
	buf_add(&h->text, line, len);
}

/* What was heard since the last time. */
static const char *said(struct heard *h)
{
	static char text[4096];

	snprintf(text, sizeof(text), "%s", buf_str(&h->text));
	buf_release(&h->text);
	return text;
}

static void test_form(void)
{
	struct heard h = {0};
	struct diag *d;

	is_int(diag_new(&d, "pdecode", hear, &h), 0, "new");
	diag_error(d, "perf.data", 4096, "record of type %u is cut off", 9u);
	is_str(said(&h), "pdecode: perf.data: offset 4096: record of type 9 is cut off\n", "all");
	diag_error(d, "perf.data", -1, "cannot read");
	is_str(said(&h), "pdecode: perf.data: cannot read\n", "no offset");
	diag_error(d, NULL, 0, "x");
	is_str(said(&h), "pdecode: offset 0: x\n", "offset 0 is an offset");
	diag_error(d, "a\nb\033", -1, "comm is '%s'", "\r\b");
	is_str(said(&h), "pdecode: a\\x0ab\\x1b: comm is '\\x0d\\x08'\n",
	       "control characters of names and texts are replaced");
	diag_note(d, NULL, -1, "quiet");
	is_str(said(&h), "", "a note is not heard");
	diag_set_verbose(d, true);
	diag_note(d, NULL, -1, "loud");
	is_str(said(&h), "pdecode: loud\n", "unless verbose");
	diag_say(d, "f", "%d samples", 3);
	is_str(said(&h), "pdecode: f: 3 samples\n", "something said");
	diag_free(d);
}

static void test_repeats(void)
{
	struct heard h = {0};
	struct diag *d;

	diag_new(&d, "p", hear, &h);
	for (int i = 0; i < 7; i++)
		diag_warn(d, "f", i, "record of type %d", i);
	is_str(said(&h), "p: f: offset 0: record of type 0\n", "a warning is printed once");
	diag_warn(d, "g", -1, "record of type %d", 1);
	is_str(said(&h), "p: g: record of type 1\n", "and once for another file");
	diag_finish(d);
	is_str(said(&h), "p: f: 6 more like: record of type 0\n", "and summed up at the end");
	diag_finish(d);
	is_str(said(&h), "", "once");
	diag_free(d);
}

static void test_many_kinds(void)
{
	struct heard h = {0};
	struct diag *d;
	char file[16];

	diag_new(&d, "p", hear, &h);
	for (int i = 0; i < 1000; i++) {
		snprintf(file, sizeof(file), "file%d", i);
		diag_warn(d, file, -1, "same");
	}
	ok(h.lines > 0 && h.lines < 1000, "the kinds that are remembered are limited");
	h.lines = 0;
	buf_release(&h.text);
	diag_finish(d);
	is_int(h.lines, 1, "the others are summed up in one line");
	ok(strstr(said(&h), "further warnings are not shown") != NULL, "which says so");
	diag_free(d);
}

static void test_silent(void)
{
	diag_error(NULL, NULL, -1, "x");
	diag_warn(NULL, NULL, -1, "x");
	diag_note(NULL, NULL, -1, "x");
	diag_say(NULL, NULL, "x");
	diag_finish(NULL);
	diag_free(NULL);
	ok(true, "no diag is a silent diag");
}

static void test_errors(void)
{
	static const int codes[] = {
#define PP_E(name, value, text) name,
		PP_ERRORS(PP_E)
#undef PP_E
	};
	size_t n = sizeof(codes) / sizeof(codes[0]);
	bool distinct = true;

	for (size_t i = 0; i < n; i++)
		for (size_t j = 0; j < i; j++)
			distinct = distinct && codes[i] != codes[j] &&
				   strcmp(pp_strerror(codes[i]), pp_strerror(codes[j])) != 0;
	ok(distinct, "each code has its own number and text");
	ok(pp_strerror(12345) != NULL, "an unknown code has a text too");
	is_int(pp_errno(ENOENT), PP_ENOENT, "ENOENT");
	is_int(pp_errno(EPIPE), PP_EPIPE, "EPIPE");
	is_int(pp_errno(EPERM), PP_EACCES, "EPERM");
	is_int(pp_errno(EIO), PP_EIO, "EIO");
	is_str(pp_strerror(pp_errno(ENOSPC)), strerror(ENOSPC), "ENOSPC keeps the system's words");
	is_str(pp_strerror(pp_errno(EAGAIN)), strerror(EAGAIN), "EAGAIN, too");
	ok(pp_is_io(PP_EIO) && pp_is_io(pp_errno(ENOSPC)) && !pp_is_io(PP_ENOMEM) && !pp_is_io(0),
	   "which are input or output errors");
}

/* Takes all memory that there is, in a list. */
static void **take_memory(void)
{
	void **all = NULL;

	for (size_t n = 1u << 20; n >= sizeof(void *); n /= 2)
		for (void **p; (p = malloc(n)); all = p)
			*p = all;
	return all;
}

/* False where the limit has no effect: an emulator needs memory of its own. */
static bool limit_memory(struct rlimit *before)
{
	struct rlimit none = {0};
	void *volatile p;

	getrlimit(RLIMIT_AS, before);
	none.rlim_max = before->rlim_max;
	setrlimit(RLIMIT_AS, &none);
	p = malloc(256u << 20);
	free(p);
	return !p;
}

static char loud[32768];

static void keep(void *ctx, const char *line, size_t len)
{
	(void)ctx;
	snprintf(loud, sizeof(loud), "%.*s", (int)len, line);
}

static void test_no_memory(void)
{
	static char longer[20000];
	struct rlimit before;
	struct diag *d;
	void **all;

	is_int(diag_new(&d, "p", keep, NULL), 0, "no memory: new");
#ifdef __SANITIZE_ADDRESS__
	diag_free(d);
	return;
#endif
	if (!limit_memory(&before)) {
		setrlimit(RLIMIT_AS, &before);
		diag_free(d);
		return;
	}
	memset(longer, 'x', sizeof(longer) - 1);
	all = take_memory();
	diag_error(d, "f", 7, "cannot go on: %s", pp_strerror(PP_ENOMEM));
	is_str(loud, "p: f: offset 7: cannot go on: out of memory\n", "an error without memory");
	diag_warn(d, "f", -1, "%d", 1);
	is_str(loud, "p: f: 1\n", "a warning without memory");
	diag_error(d, NULL, -1, "%s", longer);
	ok(!memcmp(loud, "p: xxx", 6) && strlen(loud) > 4096 && strlen(loud) < sizeof(longer) &&
		   strchr(loud, '\n') == loud + strlen(loud) - 1,
	   "a text that needs memory is cut");
	diag_error(d, NULL, -1, "short");
	is_str(loud, "p: short\n", "the next one is whole again");
	setrlimit(RLIMIT_AS, &before);
	while (all) {
		void **next = *all;

		free(all);
		all = next;
	}
	diag_free(d);
}

int main(void)
{
	test_form();
	test_repeats();
	test_many_kinds();
	test_silent();
	test_errors();
	test_no_memory();
	return done();
}
