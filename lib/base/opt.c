/* Parsing of command lines, --help, and numbers with units. */
#include "base/opt.h"

#include "base/err.h"

#include <errno.h>
#include <getopt.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>

#define OPT_MAX	     256
#define HELP_COLUMNS 80
#define HELP_INDENT  30 /* where the text of options begins */
#define OPT_ID_HELP  (OPT_NO_SHORT + OPT_MAX)
#define OPT_ID_VER   (OPT_ID_HELP + 1)

/* All options of a program, in the order of --help. */
struct flat {
	struct {
		const struct opt *opt;
		const struct opt_group *group;
		bool given;
		const char *arg; /* the last */
	} v[OPT_MAX];
	size_t n;
};

static void flatten(const struct opt_spec *spec, struct flat *f)
{
	f->n = 0;
	for (const struct opt_group *g = spec->groups; g->opts; g++)
		for (const struct opt *o = g->opts; o->id && f->n < OPT_MAX; o++) {
			f->v[f->n].opt = o;
			f->v[f->n].given = false;
			f->v[f->n].arg = NULL;
			f->v[f->n++].group = g;
		}
}

/* Text in lines of 80 columns, the first of which has `at` columns already. Words stay whole. */
static void wrap(struct buf *b, size_t at, size_t indent, const char *text)
{
	while (*text) {
		size_t n = strcspn(text, " ");

		if (at > indent && at + 1 + n > HELP_COLUMNS) {
			buf_addc(b, '\n');
			buf_fill(b, ' ', indent);
			at = indent;
		} else if (at > indent) {
			buf_addc(b, ' ');
			at++;
		}
		buf_add(b, text, n);
		at += n;
		text += n + strspn(text + n, " ");
	}
	buf_addc(b, '\n');
}

static void help_line(struct buf *b, const struct opt *o)
{
	size_t start = b->len;

	if (o->id < OPT_NO_SHORT)
		buf_addf(b, "  -%c, --%s", o->id, o->name);
	else
		buf_addf(b, "      --%s", o->name);
	if (o->arg && o->arg[0] == '[')
		buf_addf(b, "[=%s", o->arg + 1);
	else if (o->arg)
		buf_addf(b, "%c%s", o->id < OPT_NO_SHORT ? ' ' : '=', o->arg);
	if (b->len - start >= HELP_INDENT) {
		buf_addc(b, '\n');
		start = b->len;
	}
	buf_fill(b, ' ', HELP_INDENT - (b->len - start));
	wrap(b, HELP_INDENT, HELP_INDENT, o->help);
}

void opt_help(const struct opt_spec *spec, struct buf *b)
{
	size_t start = b->len;
	struct flat f;

	flatten(spec, &f);
	buf_addf(b, "usage: %s", spec->prog);
	wrap(b, b->len - start, strlen("usage: "), spec->synopsis);
	wrap(b, 0, 0, spec->purpose);
	buf_addc(b, '\n');
	for (size_t i = 0; i < f.n; i++)
		help_line(b, f.v[i].opt);
	buf_addf(b, "      --help                  print this and exit\n"
		    "      --version               print the version and exit\n");
}

/* The same for programs: "SHORT<tab>LONG<tab>ARGUMENT<tab>HELP" a line, '-' where there is none. */
static void help_table(const struct opt_spec *spec, struct buf *b)
{
	struct flat f;

	flatten(spec, &f);
	for (size_t i = 0; i < f.n; i++) {
		const struct opt *o = f.v[i].opt;

		buf_addf(b, "%c\t%s\t%s\t%s\n", o->id < OPT_NO_SHORT ? o->id : '-', o->name,
			 o->arg ? o->arg : "-", o->help);
	}
	buf_adds(b, "-\thelp\t-\tprint this and exit\n"
		    "-\tversion\t-\tprint the version and exit\n");
}

/* Edits (insert, delete, replace) that turn a into b; both short. */
static size_t edits(const char *a, const char *b)
{
	size_t row[64], n = strlen(b);

	if (n >= 63 || strlen(a) >= 63)
		return 64;
	for (size_t j = 0; j <= n; j++)
		row[j] = j;
	for (size_t i = 0; a[i]; i++) {
		size_t diagonal = row[0];

		row[0] = i + 1;
		for (size_t j = 0; j < n; j++) {
			size_t best = diagonal + (a[i] != b[j]);

			if (row[j] + 1 < best)
				best = row[j] + 1;
			if (row[j + 1] + 1 < best)
				best = row[j + 1] + 1;
			diagonal = row[j + 1];
			row[j + 1] = best;
		}
	}
	return row[n];
}

const char *opt_nearest(const char *word, const char *const *names, size_t n)
{
	const char *best = NULL;
	size_t best_d = strlen(word) / 3 + 2;

	for (size_t i = 0; i < n; i++) {
		size_t d = edits(word, names[i]);

		if (d < best_d) {
			best_d = d;
			best = names[i];
		}
	}
	return best;
}

/* Whether a word is one of a list with blanks between. */
static bool listed(const char *list, const char *word, size_t len)
{
	for (const char *s = list; *s; s += strspn(s, " ")) {
		size_t n = strcspn(s, " ");

		if (n == len && !memcmp(s, word, n))
			return true;
		s += n;
	}
	return false;
}

/* What does the same as an option of another program; NULL: not known. */
static const char *habit(const struct opt_spec *spec, const char *name, size_t len)
{
	for (const struct opt_habit *h = spec->habits; h && h->progs; h++)
		if ((!strcmp(h->progs, "*") || listed(h->progs, spec->prog, strlen(spec->prog))) &&
		    listed(h->names, name, len))
			return h->instead;
	return NULL;
}

static const char *near_option(const struct opt_spec *spec, const char *word, size_t len)
{
	const char *names[OPT_MAX + 2];
	char name[64];
	size_t n = 0;
	struct flat f;

	if (len >= sizeof(name))
		return NULL;
	flatten(spec, &f);
	for (; n < f.n; n++)
		names[n] = f.v[n].opt->name;
	names[n++] = "help";
	names[n++] = "version";
	memcpy(name, word, len);
	name[len] = 0;
	return opt_nearest(name, names, n);
}

/* `dashes` tells a letter from a long name. */
static void say_unknown(const struct opt_spec *spec, const char *dashes, const char *word,
			struct buf *text)
{
	size_t len = strcspn(word, "=");
	const char *instead = habit(spec, word, len), *near = NULL;

	buf_addf(text, "%s: %s%s", spec->prog, instead ? "" : "unknown option ", dashes);
	buf_add_safe(text, word, len);
	if (instead)
		buf_addf(text, ": no option here: %s", instead);
	else if (dashes[1])
		near = near_option(spec, word, len);
	if (near)
		buf_addf(text, "; did you mean --%s?", near);
	buf_addf(text, "\nTry '%s --help'.\n", spec->prog);
}

static void say_getopt_error(const struct opt_spec *spec, int c, char **argv, struct buf *text)
{
	/* Among several letters, it is not yet theirs. */
	const char *word = argv[optind - 1];
	bool letter = optopt && optopt < OPT_NO_SHORT;

	if (c == ':') {
		buf_addf(text, "%s: option ", spec->prog);
		if (letter)
			buf_addf(text, "-%c", optopt);
		else
			buf_add_safe(text, word, strlen(word));
		buf_addf(text, " needs an argument\nTry '%s --help'.\n", spec->prog);
	} else if (!letter) {
		if (optopt && strchr(word, '='))
			buf_addf(text, "%s: option %.*s takes no argument\nTry '%s --help'.\n",
				 spec->prog, (int)strcspn(word, "="), word, spec->prog);
		else
			say_unknown(spec, "--", word + 2, text);
	} else {
		say_unknown(spec, "-", (char[]){(char)optopt, 0}, text);
	}
}

/*
 * What getopt_long has to know: a long option's value is its place among all, from OPT_NO_SHORT on.
 */
static void describe(const struct flat *f, struct option *longs, char *shorts)
{
	*shorts++ = ':';
	for (size_t i = 0; i < f->n; i++) {
		const struct opt *o = f->v[i].opt;
		int has = !o->arg	     ? no_argument
			  : o->arg[0] == '[' ? optional_argument
					     : required_argument;

		longs[i] = (struct option){o->name, has, NULL, OPT_NO_SHORT + (int)i};
		if (o->id >= OPT_NO_SHORT)
			continue;
		*shorts++ = (char)o->id;
		for (int k = 0; k < has; k++)
			*shorts++ = ':';
	}
	*shorts = 0;
	longs[f->n] = (struct option){"help", optional_argument, NULL, OPT_ID_HELP};
	longs[f->n + 1] = (struct option){"version", no_argument, NULL, OPT_ID_VER};
	longs[f->n + 2] = (struct option){0};
}

/* The first of the names that was given; NULL: none was. */
/* The first of `names` that was given; of "*", the first option but `own`. NULL: none was. */
static const char *given(const struct flat *f, const char *names, const char *own)
{
	for (size_t i = 0; names && !strcmp(names, "*") && i < f->n; i++)
		if (f->v[i].given && strcmp(f->v[i].opt->name, own) != 0)
			return f->v[i].opt->name;
	for (const char *s = names; s && *s; s += strspn(s, " ")) {
		size_t all = strcspn(s, " "), n = strcspn(s, " =");
		const char *value = n < all ? s + n + 1 : NULL;

		for (size_t i = 0; i < f->n; i++)
			if (f->v[i].given && strlen(f->v[i].opt->name) == n &&
			    !memcmp(f->v[i].opt->name, s, n) &&
			    (!value || (f->v[i].arg && strlen(f->v[i].arg) == all - n - 1 &&
					!memcmp(f->v[i].arg, value, all - n - 1))))
				return f->v[i].opt->name;
		s += all;
	}
	return NULL;
}

static int refuse(const struct opt_spec *spec, struct buf *text)
{
	buf_addf(text, "\nTry '%s --help'.\n", spec->prog);
	return OPT_USAGE;
}

static int help(const struct opt_spec *spec, const char *arg, struct buf *text)
{
	if (!arg) {
		opt_help(spec, text);
	} else if (!strcmp(arg, "options")) {
		help_table(spec, text);
	} else {
		buf_addf(text, "%s: --help takes no argument except 'options'", spec->prog);
		return refuse(spec, text);
	}
	return OPT_HELP;
}

static int check_rules(const struct opt_spec *spec, const struct opt_rule *rules,
		       const struct flat *f, struct buf *text)
{
	for (const struct opt_rule *r = rules; r && r->option; r++) {
		const char *other = given(f, r->against, r->option);

		if (!given(f, r->option, NULL))
			continue;
		if (other) {
			buf_addf(text, "%s: --%s has no effect with --%s", spec->prog, r->option,
				 other);
		} else if (r->needs && !given(f, r->needs, NULL)) {
			buf_addf(text, "%s: --%s has no effect without --", spec->prog, r->option);
			for (const char *s = r->needs; *s; s++)
				buf_adds(text, *s == ' ' ? " or --" : (char[]){*s, 0});
		} else {
			continue;
		}
		return refuse(spec, text);
	}
	return OPT_RUN;
}

/* Notes what getopt_long returned; its place among all. */
static size_t note(struct flat *f, int c, const char *arg)
{
	size_t i = c >= OPT_NO_SHORT ? (size_t)(c - OPT_NO_SHORT) : 0;

	while (c < OPT_NO_SHORT && i < f->n && f->v[i].opt->id != c)
		i++;
	if (i < f->n) {
		f->v[i].given = true;
		f->v[i].arg = arg;
	}
	return i;
}

/* The same, and gives it to its group. */
static int hand_out(struct flat *f, int c, const char *arg, struct buf *why)
{
	size_t i = note(f, c, arg);

	if (i >= f->n)
		return PP_EUSAGE;
	return f->v[i].group->handle(f->v[i].group->ctx, f->v[i].opt->id, arg, why);
}

/* The operand that is next is a time, such as 10 or 500ms, and options come after it. */
static bool is_time_among_options(char **argv, int argc)
{
	const char *s = optind + 1 < argc ? argv[optind] : "";
	size_t n = strspn(s, "0123456789.");

	return n && !s[n + strspn(s + n, "nusmhi")] && argv[optind + 1][0] == '-' &&
	       argv[optind + 1][1] && strcmp(argv[optind + 1], "--") != 0;
}

static bool has_word(int argc, char **argv, const char *word)
{
	for (int i = 1; i < argc && strcmp(argv[i], "--") != 0; i++)
		if (!strcmp(argv[i], word))
			return true;
	return false;
}

static int parse(const struct opt_spec *spec, int argc, char **argv, struct buf *text, int *first,
		 bool permute)
{
	struct option longs[OPT_MAX + 3];
	char shorts[3 * OPT_MAX + 3];
	struct flat f;
	int c, rc, time = 0;

	flatten(spec, &f);
	shorts[0] = '+';
	describe(&f, longs, shorts + 1);
	optind = 0;
	opterr = 0;
	for (;;) {
		c = getopt_long(argc, argv, permute ? shorts + 1 : shorts, longs, NULL);
		if (c == -1 && !permute && !time && is_time_among_options(argv, argc)) {
			time = optind++;
			continue;
		}
		if (c == -1)
			break;
		if (c == OPT_ID_HELP)
			return help(spec, optarg, text);
		if (c == OPT_ID_VER) {
			buf_addf(text, "%s (perfpipe) %s\n", spec->prog, pp_version);
			if (spec->features && has_word(argc, argv, "--features"))
				spec->features(text);
			return OPT_HELP;
		}
		if (c == '?' || c == ':') {
			say_getopt_error(spec, c, argv, text);
			return OPT_USAGE;
		}
		buf_addf(text, "%s: ", spec->prog);
		rc = hand_out(&f, c, optarg, text);
		if (rc == PP_ENOMEM)
			return OPT_FAIL;
		if (rc)
			return refuse(spec, text);
		buf_reset(text);
	}
	if (time) { /* it is the first operand */
		char *word = argv[time];

		optind -= strcmp(argv[optind - 1], "--") ? 1 : 2;
		memmove(argv + time, argv + time + 1, (size_t)(optind - time) * sizeof(*argv));
		argv[optind] = word;
	}
	*first = optind;
	for (const struct opt_group *g = spec->groups; g->opts; g++)
		if (check_rules(spec, g->rules, &f, text))
			return OPT_USAGE;
	return OPT_RUN;
}

int opt_check_effects(const struct opt_spec *spec, int argc, char **argv,
		      const struct opt_effect *table, unsigned mode, const char *on,
		      struct buf *text)
{
	struct option longs[OPT_MAX + 3];
	char shorts[3 * OPT_MAX + 3];
	struct flat f;
	int c;

	flatten(spec, &f);
	describe(&f, longs, shorts);
	optind = 0;
	while ((c = getopt_long(argc, argv, shorts, longs, NULL)) != -1)
		note(&f, c, optarg);
	for (; table->options; table++) {
		const char *option = table->modes & mode ? NULL : given(&f, table->options, NULL);

		if (!option)
			continue;
		buf_addf(text, "%s: --%s has no effect on %s", spec->prog, option, on);
		return refuse(spec, text);
	}
	return OPT_RUN;
}

int opt_parse(const struct opt_spec *spec, int argc, char **argv, struct buf *text, int *first)
{
	return parse(spec, argc, argv, text, first, true);
}

int opt_parse_command(const struct opt_spec *spec, int argc, char **argv, struct buf *text,
		      int *first)
{
	return parse(spec, argc, argv, text, first, false);
}

int opt_u64(const char *arg, uint64_t min, uint64_t max, uint64_t *v)
{
	uint64_t x, scale = 1;
	char *end;

	if (arg[0] < '0' || arg[0] > '9')
		return PP_EUSAGE;
	errno = 0;
	x = strtoull(arg, &end, 0);
	if (errno)
		return PP_EUSAGE;
	switch (*end) {
	case 'k':
	case 'K': scale = 1000, end++; break;
	case 'M': scale = 1000000, end++; break;
	case 'G': scale = 1000000000, end++; break;
	}
	if (*end || __builtin_mul_overflow(x, scale, &x) || x < min || x > max)
		return PP_EUSAGE;
	*v = x;
	return 0;
}

int opt_double(const char *name, const char *arg, double min, double max, double *v, bool *percent,
	       struct buf *why)
{
	char *end;

	*v = strtod(arg, &end);
	if (percent)
		*percent = *end == '%';
	if (end > arg && *v >= min && *v <= max && !end[percent && *percent])
		return 0;
	buf_addf(why, "--%s: not a number from %g to %g%s: ", name, min, max,
		 percent ? ", or such a number and %" : "");
	buf_add_safe(why, arg, strlen(arg));
	return PP_EUSAGE;
}

int opt_duration(const char *name, const char *arg, bool zero, uint64_t *ns, struct buf *why)
{
	static const struct {
		const char *name;
		double ns;
	} units[] = {{"ns", 1}, {"us", 1e3}, {"ms", 1e6}, {"s", 1e9}, {"m", 60e9}, {"h", 3600e9}};
	char *end;
	double v = arg[0] >= '0' && arg[0] <= '9' ? strtod(arg, &end) : -1;

	for (size_t i = 0; v >= 0 && i < sizeof(units) / sizeof(units[0]); i++) {
		if (strcmp(end, units[i].name) != 0 && (*end || v > 0))
			continue;
		v *= units[i].ns;
		if ((v < 1 && !(zero && v <= 0)) || v >= 0x1p63)
			break;
		*ns = (uint64_t)(v + 0.5);
		return 0;
	}
	buf_addf(why, "--%s: not a duration like 10ms (ns, us, ms, s, m, h): ", name);
	buf_add_safe(why, arg, strlen(arg));
	return PP_EUSAGE;
}

int opt_period(const char *name, const char *arg, uint64_t *ns, struct buf *why)
{
	char with_unit[32];
	size_t n = strlen(arg);

	if (!n || n > sizeof(with_unit) - 2 || strspn(arg, "0123456789.") != n)
		return opt_duration(name, arg, false, ns, why);
	snprintf(with_unit, sizeof(with_unit), "%ss", arg);
	return opt_duration(name, with_unit, false, ns, why);
}
