/* What is selected, in the words of the command line. */
#include "select/select.h"

#include "base/err.h"

#include <ctype.h>
#include <stdlib.h>

static int wrong(struct buf *why, const char *option, const char *what, const char *arg)
{
	buf_addf(why, "%s: %s: ", option, what);
	buf_add_safe(why, arg, strlen(arg));
	return PP_EUSAGE;
}

void select_opts_release(struct select_opts *o)
{
	expr_free(o->condition);
	expr_free(o->after);
	expr_free(o->before);
	for (int i = 0; i < SELECT_SLICES; i++)
		buf_release(&o->slices[i]);
	spans_release(&o->times);
	*o = (struct select_opts)SELECT_OPTS_INIT;
}

static bool blank(const char *text)
{
	while (isspace((unsigned char)*text))
		text++;
	return !*text;
}

static int add(struct expr **x, const char *text, const char *option, struct buf *why)
{
	struct buf lines = BUF_INIT;
	int rc;

	if (blank(text))
		return 0;
	rc = *x ? expr_add(*x, text, &lines) : expr_new(x, text, EXPR_CONDITION, &lines);
	if (rc == PP_EUSAGE)
		buf_addf(why, "%s: %s", option, buf_str(&lines));
	buf_release(&lines);
	return rc;
}

int select_add(struct select_opts *o, const char *text, struct buf *why)
{
	return add(&o->condition, text, "expression", why);
}

/* ---- lists ---- */

/* "0,2-5" to "CPU in (0,2..5)". */
static int numbers(struct buf *b, const char *name, const char *list)
{
	const char *p = list;

	buf_addf(b, "%s%s in (", b->len ? " || " : "", name);
	do {
		size_t digits = strspn(p, "0123456789"), second;

		if (!digits || digits > 10)
			return PP_EUSAGE;
		buf_add(b, p, digits);
		p += digits;
		if (*p == '-') {
			second = strspn(++p, "0123456789");
			if (!second || second > 10)
				return PP_EUSAGE;
			buf_adds(b, "..");
			buf_add(b, p, second);
			p += second;
		}
		if (*p == ',')
			buf_addc(b, ',');
	} while (*p++ == ',');
	buf_addc(b, ')');
	return p[-1] ? PP_EUSAGE : b->err;
}

/* "bash,kwork*" to COMM ~ "bash" || COMM ~ "kwork*". */
static int names(struct buf *b, const char *list)
{
	const char *p = list;

	do {
		size_t n = strcspn(p, ",");

		if (!n)
			return PP_EUSAGE;
		buf_adds(b, b->len ? " || COMM ~ \"" : "COMM ~ \"");
		for (size_t i = 0; i < n; i++) {
			if (p[i] == '"')
				buf_addc(b, '\\');
			buf_addc(b, p[i]);
			if (p[i] == '\\' && i + 1 == n)
				buf_addc(b, '\\');
		}
		buf_addc(b, '"');
		p += n;
	} while (*p++ == ',');
	return b->err;
}

int select_slice(struct select_opts *o, enum select_slice slice, const char *list, struct buf *why)
{
	static const struct {
		const char *option, *field;
	} lists[] = {{"--cpu", "CPU"}, {"--pid", "PID"}, {"--tid", "TID"}, {"--comm", "COMM"}};
	struct buf *b = &o->slices[slice];
	int rc = slice == SELECT_COMM ? names(b, list) : numbers(b, lists[slice].field, list);

	return rc == PP_EUSAGE ? wrong(why, lists[slice].option, "not a list", list) : rc;
}

/* ---- options ---- */

static int count(const char *option, const char *arg, uint64_t *v, struct buf *why)
{
	return opt_u64(arg, 1, UINT64_MAX, v) ? wrong(why, option, "not a number from 1", arg) : 0;
}

static int rate(const char *arg, double *v, struct buf *why)
{
	bool percent = false;
	int rc = opt_double("sample", arg, 0, 100, v, &percent, why);

	if (rc)
		return rc;
	if (percent)
		*v /= 100;
	return *v <= 1 ? 0 : wrong(why, "--sample", "not from 0 to 1, or a percentage", arg);
}

static int margin(struct select_opts *o, const char *arg, struct buf *why)
{
	bool unit;
	size_t n = span_number(arg, &o->margin_before, &unit);

	o->margin_after = o->margin_before;
	if (n && arg[n] == ',') {
		size_t more = span_number(arg + n + 1, &o->margin_after, &unit);

		n = more ? n + 1 + more : 0;
	}
	return n && !arg[n] ? 0 : wrong(why, "--margin", "not TIME or TIME,TIME", arg);
}

static int times(struct select_opts *o, const char *arg, struct buf *why)
{
	struct buf what = BUF_INIT;
	int rc = spans_parse(&o->times, arg, &what);

	if (rc == PP_EUSAGE)
		buf_addf(why, "--time: %s", buf_str(&what));
	buf_release(&what);
	return rc;
}

enum {
	TIME = OPT_NO_SHORT,
	CPU,
	PID,
	TID,
	COMM,
	EVERY,
	SAMPLE,
	SEED,
	AFTER,
	BEFORE,
	MARGIN,
	LENIENT,
};

const struct opt select_options[] = {
	{'e', "expression", "EXPR", "pass samples for which EXPR, or one of several, holds"},
	{'v', "invert", NULL, "pass samples for which the expression does not hold"},
	{TIME, "time", "SPANS", "A..B, A.., ..B in seconds, +A..+B from the start, 10%/2, 0%-5%"},
	{CPU, "cpu", "LIST", "these CPUs: 0,2-5"},
	{PID, "pid", "LIST", "these processes"},
	{TID, "tid", "LIST", "these threads"},
	{COMM, "comm", "LIST", "threads of these names, or shell patterns"},
	{AFTER, "after", "EXPR", "start at a sample for which EXPR holds"},
	{BEFORE, "before", "EXPR", "end at a sample for which EXPR holds"},
	{MARGIN, "margin", "TIME[,TIME]",
	 "start windows this much earlier, end them this much later"},
	{EVERY, "every", "N", "of the samples that pass, every Nth"},
	{SAMPLE, "sample", "RATE", "of the samples that pass, a random part: 0.1 or 10%"},
	{SEED, "seed", "N", "seed of --sample's random choice (default 0)"},
	{'n', "first", "N", "of the samples that pass, the first N"},
	{LENIENT, "lenient", NULL, "allow names that no event has in an expression"},
	{0},
};

const struct opt_rule select_rules[] = {
	{"seed", NULL, "sample"},
	{"margin", NULL, "after before"},
	{0},
};

int select_option(void *opts, int id, const char *arg, struct buf *why)
{
	struct select_opts *o = opts;

	switch (id) {
	case 'e': o->given = true; return add(&o->condition, arg, "-e", why);
	case 'v': o->invert = true; break;
	case 'n': return count("--first", arg, &o->first, why);
	case TIME: return times(o, arg, why);
	case CPU: return select_slice(o, SELECT_CPU, arg, why);
	case PID: return select_slice(o, SELECT_PID, arg, why);
	case TID: return select_slice(o, SELECT_TID, arg, why);
	case COMM: return select_slice(o, SELECT_COMM, arg, why);
	case AFTER: return add(&o->after, arg, "--after", why);
	case BEFORE: return add(&o->before, arg, "--before", why);
	case MARGIN: return margin(o, arg, why);
	case EVERY: return count("--every", arg, &o->every, why);
	case SAMPLE: return rate(arg, &o->rate, why);
	case SEED:
		if (opt_u64(arg, 0, UINT64_MAX, &o->seed))
			return wrong(why, "--seed", "not a number", arg);
		break;
	case LENIENT: o->lenient = true; break;
	}
	return 0;
}
