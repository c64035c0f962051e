/* The formats, and the command line options that name them. */
#include "conv/parts.h"

#include "base/err.h"

#include <string.h>

enum { FROM = OPT_NO_SHORT, TO, STATS, STRICT };

const struct opt conv_options[] = {
	{TO, "to", "FORMAT",
	 "write this format: pprof, speedscope, firefox, perfetto, chrome, callgrind, sqlite, folded, "
	 "perf-script, stream or trace.dat; default: by the ending of -o, otherwise stream"},
	{FROM, "from", "FORMAT",
	 "the input has this format: pprof, speedscope, firefox, chrome, callgrind, instruments, folded, "
	 "collapsed (needs it) or stream; default: found by its first bytes"},
	{'o', "output", "FILE", "write to FILE instead of stdout; compressed if it ends in .gz"},
	{STATS, "stats", NULL, "print what happened to the samples on stderr"},
	{STRICT, "strict", NULL, "exit with 1 if the recording reports losses"},
	{0},
};

#define ALL (CONV_TIMES | CONV_CPUS | CONV_THREADS | CONV_LOSSES | CONV_EVENTS)

/* The first is that of inputs that begin as none of the others. */
static const struct conv_format formats[] = {
	{"folded", "folded text, as pfold writes it", ".folded .collapsed", 0, NULL, NULL, NULL},
	{"collapsed", "folded text without commands, as async-profiler writes it for Java", "",
	 CONV_BARE, NULL, NULL, NULL},
	{"instruments", "text of a call tree copied from Instruments", "", 0, NULL,
	 conv_from_instruments, conv_is_instruments},
	{"stream", "event stream", ".pstream", ALL, NULL, NULL, NULL},
	{"perf-script", "text, as pdecode -t prints it", ".txt", ALL, NULL, NULL, NULL},
	{"pprof", "pprof's profile.proto", ".pb.gz .pprof .prof .pb",
	 CONV_THREADS | CONV_LOSSES | CONV_EVENTS | CONV_PACKED | CONV_BINARY, &conv_to_pprof,
	 conv_from_pprof, conv_is_pprof},
	{"speedscope", "speedscope's JSON", ".speedscope.json",
	 CONV_THREADS | CONV_EVENTS | CONV_LOSSES, &conv_to_speedscope, conv_from_speedscope,
	 conv_is_speedscope},
	{"firefox", "processed JSON of the Firefox profiler", ".firefox.json",
	 CONV_TIMES | CONV_THREADS | CONV_EVENTS | CONV_LOSSES, &conv_to_firefox, conv_from_firefox,
	 conv_is_firefox},
	{"perfetto", "a Perfetto trace", ".perfetto-trace .pftrace .perfetto", ALL | CONV_BINARY,
	 &conv_to_perfetto, NULL, NULL},
	{"chrome", "Chrome's trace events, and .cpuprofile", ".chrome.json .trace.json .cpuprofile",
	 CONV_TIMES | CONV_THREADS | CONV_EVENTS | CONV_LOSSES, &conv_to_chrome, conv_from_chrome,
	 conv_is_chrome},
	{"callgrind", "callgrind's format, for KCachegrind", ".callgrind", CONV_EVENTS,
	 &conv_to_callgrind, conv_from_callgrind, conv_is_callgrind},
	{"sqlite", "SQL text for sqlite3", ".sql", ALL, &conv_to_sqlite, NULL, NULL},
	{"trace.dat", "a trace.dat, from what pcap-ftrace wrote to a pipe", ".dat", CONV_MADE, NULL,
	 NULL, NULL},
};
#define N_FORMATS (sizeof(formats) / sizeof(formats[0]))

const struct conv_format *conv_format_named(const char *name)
{
	for (size_t i = 0; i < N_FORMATS; i++)
		if (!strcmp(name, formats[i].name))
			return &formats[i];
	return NULL;
}

/* Whether a file's name ends in one of the endings, and has something before it. */
static bool ends_so(const char *file, size_t n, const char *endings)
{
	for (size_t len; *endings; endings += len + (endings[len] == ' ')) {
		len = strcspn(endings, " ");
		if (n > len && !memcmp(file + n - len, endings, len))
			return true;
	}
	return false;
}

const struct conv_format *conv_format_of_file(const char *file)
{
	size_t n = strlen(file);

	for (int packed = 0; packed < 2; packed++) {
		for (size_t i = 0; i < N_FORMATS; i++)
			if (ends_so(file, n, formats[i].endings))
				return &formats[i];
		n -= ends_so(file, n, ".gz") ? 3 : 0;
	}
	return NULL;
}

const struct conv_format *conv_format_of(const uint8_t *bytes, size_t n)
{
	for (size_t i = 0; i < N_FORMATS; i++)
		if (formats[i].is && formats[i].is(bytes, n))
			return &formats[i];
	return NULL;
}

static int format_named(const char *option, const char *name, const struct conv_format **f,
			struct buf *why)
{
	const char *names[N_FORMATS];

	*f = conv_format_named(name);
	if (*f)
		return 0;
	buf_addf(why, "--%s: there is no format %s; there are", option, name);
	for (size_t i = 0; i < N_FORMATS; i++) {
		names[i] = formats[i].name;
		buf_addf(why, "%s %s", i ? "," : "", names[i]);
	}
	return PP_EUSAGE;
}

int conv_option(void *ctx, int id, const char *arg, struct buf *why)
{
	struct conv_opts *o = ctx;
	int rc = 0;

	switch (id) {
	case TO:
		rc = format_named("to", arg, &o->to, why);
		if (!rc && !*o->to->endings) {
			buf_addf(why, "--to: %s is only read", arg);
			rc = PP_EUSAGE;
		}
		break;
	case FROM:
		rc = format_named("from", arg, &o->from, why);
		if (!rc && !o->from->read && (o->from->writer || o->from->can & CONV_MADE)) {
			buf_addf(why, "--from: %s is only written", arg);
			rc = PP_EUSAGE;
		}
		break;
	case 'o': o->output = arg; break;
	case STATS: o->stats = true; break;
	case STRICT: o->strict = true; break;
	}
	return rc;
}
