/* The command line of pdiff; see pdiff_options.h. */
#include "diff/pdiff_options.h"

#include "base/err.h"

#include <glob.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

enum {
	EXACT = OPT_NO_SHORT,
	NORM,
	WORK,
	NOISE,
	LEARN,
	TEST,
	TOTAL,
	DEPENDENT,
	ALPHA,
	MIN_POINTS,
	MIN_RELATIVE,
	PERIOD,
	WIDE,
	TSV,
	JSON,
	MARKDOWN,
	JUNIT,
	FOLDED,
	GATE,
	BASE,
	NEW
};

const struct opt diff_options[] = {
	{'b', "by", "UNIT", "compare functions (default), stack, comm, or a key of phist"},
	{BASE, "base", "PATTERN", "base recordings: a file, a directory, a pattern"},
	{NEW, "new", "PATTERN", "new recordings, in the same way"},
	{TOTAL, "total", NULL, "judge functions together with the functions that they call"},
	{EXACT, "exact", NULL, "keep what a compiler adds to names (.isra.0, hashes)"},
	{NORM, "norm", "NORM", "auto (default), share, median, time or work"},
	{WORK, "work", "N,N,...", "work done in each recording: base ones first, then new ones"},
	{PERIOD, "period", "WEIGHT", "a sample weighs WEIGHT (for folded text without counts)"},
	{ALPHA, "alpha", "RATE", "false discovery rate (default 0.05)"},
	{MIN_POINTS, "min-points", "POINTS",
	 "smallest difference, in percent of all (default 0.5)"},
	{MIN_RELATIVE, "min-relative", "PERCENT", "and in percent of the base's value (default 5)"},
	{DEPENDENT, "dependent", NULL, "adjust for tests that depend on each other in any way"},
	{TEST, "test", "TEST", "quasi (default), or binomial: wrong, for comparisons"},
	{NOISE, "noise", "FILE", "how runs vary: to judge one recording against one"},
	{LEARN, "learn-noise", NULL, "write such a FILE from recordings of one build"},
	{GATE, "gate", "[strict]",
	 "exit with 3 if something regressed; strict: with 4 if it is unclear"},
	{'n', "top", "N", "at most N rows of text; 0: all (default 20)"},
	{WIDE, "wide", NULL, "do not cut names to fit 80 columns"},
	{TSV, "tsv", NULL, "write tab-separated values"},
	{JSON, "json", NULL, "write JSON"},
	{MARKDOWN, "markdown", NULL, "write Markdown, for a comment"},
	{JUNIT, "junit", NULL, "write JUnit XML, for a build server"},
	{FOLDED, "folded", NULL, "write folded text with two counts, base and new"},
	{0},
};

#define DATA "tsv json junit folded"

const struct opt_rule diff_rules[] = {
	{"learn-noise",
	 "gate noise markdown " DATA " alpha min-points min-relative dependent test top wide new",
	 NULL},
	{"tsv", "json markdown junit folded", NULL},
	{"json", "markdown junit folded", NULL},
	{"markdown", "junit folded", NULL},
	{"junit", "folded", NULL},
	{"top", DATA, NULL},
	{"wide", DATA " markdown", NULL},
	{0},
};

/* A file, a directory, or what a pattern matches. */
static int add_names(struct diff_names *names, const char *option, const char *pattern,
		     struct buf *why)
{
	glob_t g = {0};
	int rc = glob(pattern, GLOB_TILDE, NULL, &g);
	char **v = rc ? NULL : realloc(names->v, (names->n + g.gl_pathc) * sizeof(*v));

	if (!v) {
		buf_addf(why, "%s %s: %s", option, pattern,
			 rc == GLOB_NOMATCH ? "there is no such file" : "cannot be expanded");
		globfree(&g);
		return PP_EUSAGE;
	}
	names->v = v;
	for (size_t i = 0; i < g.gl_pathc && !rc; i++) {
		v[names->n] = strdup(g.gl_pathv[i]);
		rc = v[names->n] ? 0 : PP_EUSAGE;
		names->n += !rc;
	}
	globfree(&g);
	if (rc)
		buf_adds(why, "out of memory");
	return rc;
}

static int choose_norm(struct diff_opts *o, const char *arg, struct buf *why)
{
	static const char *const names[] = {
#define N(name, text) text,
		DIFF_NORMS(N)
#undef N
	};

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		if (strcmp(arg, names[i]) != 0)
			continue;
		o->norm = (enum diff_norm)i;
		return 0;
	}
	buf_addf(why, "--norm: '%s' must be one of auto, share, median, time, work", arg);
	return PP_EUSAGE;
}

static int choose_test(struct diff_opts *o, const char *arg, struct buf *why)
{
	o->binomial = !strcmp(arg, "binomial");
	if (o->binomial || !strcmp(arg, "quasi"))
		return 0;
	buf_addf(why, "--test: '%s' is neither quasi nor binomial", arg);
	return PP_EUSAGE;
}

static int choose_gate(struct diff_command *c, const char *arg, struct buf *why)
{
	c->gate = arg ? DIFF_GATE_STRICT : DIFF_GATE_PLAIN;
	if (!arg || !strcmp(arg, "strict"))
		return 0;
	buf_addf(why, "--gate: '%s' is not strict", arg);
	return PP_EUSAGE;
}

static int percent(const char *name, const char *arg, double *v, struct buf *why)
{
	int rc = opt_double(name, arg, 0, 100, v, NULL, why);

	*v /= 100;
	return rc;
}

int diff_option(void *ctx, int id, const char *arg, struct buf *why)
{
	struct diff_command *c = ctx;
	struct diff_opts *o = &c->opts;
	uint64_t n;

	switch (id) {
	case 'b': o->by = arg; break;
	case BASE: return add_names(&c->base, "--base", arg, why);
	case NEW: return add_names(&c->other, "--new", arg, why);
	case TOTAL: o->total = true; break;
	case EXACT: o->exact = true; break;
	case NORM: return choose_norm(o, arg, why);
	case WORK:
		o->work = arg;
		o->norm = DIFF_NORM_WORK;
		break;
	case PERIOD: return opt_double("period", arg, 1e-9, 1e18, &o->period, NULL, why);
	case ALPHA: return opt_double("alpha", arg, 1e-9, 1, &o->alpha, NULL, why);
	case MIN_POINTS: return percent("min-points", arg, &o->min_points, why);
	case MIN_RELATIVE: return percent("min-relative", arg, &o->min_relative, why);
	case DEPENDENT: o->any = true; break;
	case TEST: return choose_test(o, arg, why);
	case NOISE: o->noise = arg; break;
	case LEARN: c->learn = true; break;
	case GATE: return choose_gate(c, arg, why);
	case 'n':
		if (opt_u64(arg, 0, UINT32_MAX, &n)) {
			buf_adds(why, "-n: not a number of rows");
			return PP_EUSAGE;
		}
		o->top = (unsigned)n;
		break;
	case WIDE: o->wide = true; break;
	case TSV: c->form = DIFF_FORM_TSV; break;
	case JSON: c->form = DIFF_FORM_JSON; break;
	case MARKDOWN: c->form = DIFF_FORM_MARKDOWN; break;
	case JUNIT: c->form = DIFF_FORM_JUNIT; break;
	case FOLDED:
		c->form = DIFF_FORM_FOLDED;
		o->stacks = true;
		break;
	}
	return 0;
}

int diff_command_check(struct diff_command *c, struct diag *diag)
{
	const char *why = NULL;

	if (!strcmp(c->opts.by, "functions"))
		c->opts.by = "function";
	if (c->opts.total && strcmp(c->opts.by, "function") != 0)
		why = "--total is for functions: only they call something";
	else if (c->opts.stacks && strcmp(c->opts.by, "function") != 0 &&
		 strcmp(c->opts.by, "stack") != 0 && strcmp(c->opts.by, "comm") != 0)
		why = "--folded writes stacks: it is for functions, stacks and comm";
	if (!why)
		return 0;
	diag_error(diag, NULL, -1, "%s", why);
	return PP_EUSAGE;
}

int diff_status(const struct diff *d, const struct diff_command *c, struct diag *diag)
{
	const struct diff_result *r = diff_result(d);
	int status = r->partial ? PP_EXIT_PARTIAL : PP_EXIT_OK;

	if (r->partial)
		diag_say(diag, NULL, "the result is partial: a recording was damaged or cut off");
	if (!c->gate)
		return status;
	if (!r->gated) {
		diag_say(diag, NULL,
			 "one recording against one decides nothing: give several, or --noise");
		return c->gate == DIFF_GATE_STRICT ? PP_EXIT_UNSURE : status;
	}
	if (r->worse) {
		diag_say(diag, NULL, "gate failed: %" PRIu64 " regressed, %" PRIu64 " new",
			 r->verdicts[DIFF_REGRESSED], r->verdicts[DIFF_NEW]);
		return PP_EXIT_WORSE;
	}
	if (c->gate == DIFF_GATE_STRICT && r->unclear && !status) {
		diag_say(diag, NULL, "gate undecided: %" PRIu64 " unclear",
			 r->verdicts[DIFF_UNCLEAR]);
		return PP_EXIT_UNSURE;
	}
	return status;
}

static void names_release(struct diff_names *names)
{
	for (int i = 0; i < names->n; i++)
		free(names->v[i]);
	free(names->v);
}

void diff_command_release(struct diff_command *c)
{
	names_release(&c->base);
	names_release(&c->other);
}
