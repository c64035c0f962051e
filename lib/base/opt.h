/*
 * Command line options: one description per option feeds getopt_long, --help and the check of the
 * man pages (t/lint-man). Options come in groups, each with its handler: those that several
 * programs share are a group of the library, and a program adds its own.
 *
 *	enum { STRICT = OPT_NO_SHORT };
 *	static const struct opt options[] = {
 *		{'o', "output", "FILE", "write to FILE"},
 *		{STRICT, "strict", NULL, "exit 1 if the recording reports losses"},
 *		{0},
 *	};
 *	const struct opt_group groups[] = {
 *		{ssink_options, ssink_option, &config.out},
 *		{options, on_option, &config},
 *		{0},
 *	};
 *	struct opt_spec spec = {"pfold", "[OPTION]... [FILE]...", "collapse stacks", groups};
 *
 *	rc = opt_parse(&spec, argc, argv, &text, &first);
 *
 * Every program has --help and --version without listing them.
 */
#ifndef PP_BASE_OPT_H
#define PP_BASE_OPT_H

#include "base/buf.h"

#include <stdbool.h>

#define OPT_NO_SHORT 256 /* ids from it on have no short option */

/* The version, of CHANGELOG.md. */
extern const char pp_version[];

struct opt {
	/*
	 * The short option's letter, or from OPT_NO_SHORT on; an id of its group. 0 ends the table.
	 */
	int id;
	const char *name; /* the long option; every option has one */
	const char *arg;  /* name of its argument, NULL if none; "[X]" if it may be left out */
	const char *help; /* a few words, lower case */
};

/*
 * Called for each option of a group, with its id and argument (NULL if none). Returns 0, or
 * PP_EUSAGE after writing what is wrong to `why` ("-F: not a number").
 */
typedef int opt_handler(void *ctx, int id, const char *arg, struct buf *why);

/*
 * How options relate to each other, so that none is accepted without effect. Names are long
 * ones, separated by blanks; NAME=VALUE is the option with this argument.
 */
struct opt_rule {
	const char *option;
	const char *against; /* with these it changes nothing: refused; "*": all; NULL: none */
	const char *needs;   /* without any of these it also changes nothing; NULL: none */
};

struct opt_group {
	const struct opt *opts;
	opt_handler *handle;
	void *ctx;		      /* given to the handler */
	const struct opt_rule *rules; /* NULL, or a list that one without option ends */
};

/*
 * Options that have an effect in some modes only, where a mode is known later than the command
 * line: what the output is, what is in the input.
 */
struct opt_effect {
	const char *options; /* long names, separated by blanks */
	unsigned modes;	     /* a bit for each */
};

/*
 * What users of other programs type out of habit, and the equivalents here. `names` are options
 * that
 * the programs of `progs` ("*": all) do not have: letters and long names. Both are separated by
 * blanks.
 */
struct opt_habit {
	const char *progs;
	const char *names;
	const char *instead; /* a few words; ends the message */
};

/* The habits of users of perf, trace-cmd, FlameGraph, bcc and strace; one without progs ends them.
 */
extern const struct opt_habit opt_habits[];

struct opt_spec {
	const char *prog;
	const char *synopsis;		/* what follows the name: "[OPTION]... [FILE]..." */
	const char *purpose;		/* one line, lower case */
	const struct opt_group *groups; /* one without opts ends them */
	/* NULL, or those that one without progs ends; the first that matches is reported */
	const struct opt_habit *habits;
	void (*features)(struct buf *text); /* NULL, or what --version adds with --features */
};

enum opt_result {
	OPT_RUN,   /* parsed; continue */
	OPT_HELP,  /* text is to be printed on stdout, exit 0 */
	OPT_USAGE, /* text is to be printed on stderr, exit 64 */
	OPT_FAIL,  /* out of memory */
};

/* Parses. `first` gets the index of the first operand (argv is permuted). Returns enum opt_result.
 */
int opt_parse(const struct opt_spec *spec, int argc, char **argv, struct buf *text, int *first);

/*
 * Parses like opt_parse, but options end at the first operand (pcap-perf -- COMMAND), unless it
 * is a time (pcap-perf 10 -o FILE).
 */
int opt_parse_command(const struct opt_spec *spec, int argc, char **argv, struct buf *text,
		      int *first);

/*
 * Checks a command line that was parsed before: OPT_RUN; or OPT_USAGE, and text, if an option is
 * given that has no effect in this mode, one bit of opt_effect.modes. `on` is what it has no effect
 * on, in words. A table without options ends.
 */
int opt_check_effects(const struct opt_spec *spec, int argc, char **argv,
		      const struct opt_effect *table, unsigned mode, const char *on,
		      struct buf *text);

/* The --help text. */
void opt_help(const struct opt_spec *spec, struct buf *text);

/*
 * Numbers of options: the whole text must be one. opt_u64 takes decimal, 0x and 0 prefixes and the
 * suffixes k, M, G (powers of 1000). Return 0 or PP_EUSAGE.
 */
int opt_u64(const char *arg, uint64_t min, uint64_t max, uint64_t *v);

/*
 * A decimal number from min to max; if percent is not NULL a '%' may follow, which sets it. 0, or
 * PP_EUSAGE with what is wrong with the option --name in `why`.
 */
int opt_double(const char *name, const char *arg, double min, double max, double *v, bool *percent,
	       struct buf *why);

/*
 * A duration with its unit, as "1.5ms": ns, us, ms, s, m, h; with `zero`, 0 (which needs no unit)
 * too. 0, or PP_EUSAGE with what is wrong with the option --name in `why`.
 */
int opt_duration(const char *name, const char *arg, bool zero, uint64_t *ns, struct buf *why);

/* How often something is to be done: a duration, of which a number without unit is in seconds. */
int opt_period(const char *name, const char *arg, uint64_t *ns, struct buf *why);

/* The entry of `names` (n of them) nearest to `word`, NULL if none is near. */
const char *opt_nearest(const char *word, const char *const *names, size_t n);

#endif
