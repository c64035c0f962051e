/* lib/base/opt.h: parsing, --help, what is reported about bad options, numbers. */
#include "base/opt.h"

#include "base/err.h"
#include "tap.h"

enum { OPT_STRICT = OPT_NO_SHORT };
enum { OPT_COLOR = OPT_NO_SHORT }; /* ids belong to a group */

static const struct opt opts[] = {
	{'o', "output", "FILE", "write to FILE"},
	{'v', "verbose", NULL, "say more"},
	{OPT_STRICT, "strict", NULL, "losses make the exit status 1"},
	{0},
};
static const struct opt more[] = {
	{OPT_COLOR, "color", "[WHEN]", "colour the output"},
	{'q', "quiet", NULL, "say less"},
	{0},
};

static int log_option(void *ctx, int id, const char *arg, struct buf *why)
{
	struct buf *log = ctx;

	if (arg && !strcmp(arg, "bad")) {
		buf_adds(why, "that is bad");
		return PP_EUSAGE;
	}
	buf_addc(log, id == OPT_STRICT ? 'S' : (char)id);
	if (arg)
		buf_addf(log, "=%s", arg);
	buf_addc(log, ' ');
	return 0;
}

static int log_more(void *ctx, int id, const char *arg, struct buf *why)
{
	(void)why;
	buf_addf(ctx, "%c%s%s ", id == OPT_COLOR ? 'C' : id, arg ? "=" : "", arg ? arg : "");
	return 0;
}

static const struct opt_habit habits[] = {
	{"pro other", "i stdio", "of others"},
	{"other prog", "stdio", "text"},
	{"*", "i input", "an operand"},
	{0},
};

struct row {
	const char *line;  /* arguments, separated by single blanks */
	const char *heard; /* by the handler */
	const char *rest;  /* operands */
	const char *text;  /* part of the text */
	int result;
	bool command; /* opt_parse_command */
};

static const struct row rows[] = {
	{"", "", "", "", OPT_RUN, false},
	{"-v -o x f", "v o=x ", "f", "", OPT_RUN, false},
	{"-vox f g", "v o=x ", "f g", "", OPT_RUN, false},
	{"--output=x --strict", "o=x S ", "", "", OPT_RUN, false},
	{"--output x", "o=x ", "", "", OPT_RUN, false},
	{"--color --color=never", "C C=never ", "", "", OPT_RUN, false},
	{"-qv --quiet", "q v q ", "", "", OPT_RUN, false},
	{"f -v g", "v ", "f g", "", OPT_RUN, false},
	{"f -- -v", "", "f -v", "", OPT_RUN, false},
	{"-", "", "-", "", OPT_RUN, false},
	{"-v make -o x", "v ", "make -o x", "", OPT_RUN, true},
	{"-v -- make -v", "v ", "make -v", "", OPT_RUN, true},
	{"--help", "", "", "usage: prog [OPTION]... [FILE]...\ndoes one thing\n", OPT_HELP, false},
	{"--help=options", "", "", "o\toutput\tFILE\t", OPT_HELP, false},
	{"--help=options", "", "", "\n-\tstrict\t-\t", OPT_HELP, false},
	{"--help=all", "", "", "prog: --help takes no argument except 'options'\n", OPT_USAGE,
	 false},
	{"--version", "", "", "prog (perfpipe) ", OPT_HELP, false},
	{"--srtict", "", "", "did you mean --strict?", OPT_USAGE, false},
	{"--stritc=3", "", "", "did you mean --strict?", OPT_USAGE, false},
	{"--xyzzy-plugh", "", "", "unknown option --xyzzy-plugh\n", OPT_USAGE, false},
	{"-x", "", "", "prog: unknown option -x\n", OPT_USAGE, false},
	{"--strict -vx", "S v ", "", "prog: unknown option -x\n", OPT_USAGE, false},
	{"-i f", "", "", "prog: -i: no option here: an operand\n", OPT_USAGE, false},
	{"-vi", "v ", "", "prog: -i: no option here: an operand\n", OPT_USAGE, false},
	{"--input=f", "", "", "prog: --input: no option here: an operand\n", OPT_USAGE, false},
	{"--stdio", "", "", "prog: --stdio: no option here: text\n", OPT_USAGE, false},
	{"--put", "", "", "unknown option --put", OPT_USAGE, false},
	{"-o", "", "", "option -o needs an argument\n", OPT_USAGE, false},
	{"--output", "", "", "option --output needs an argument\n", OPT_USAGE, false},
	{"--strict=1", "", "", "option --strict takes no argument\n", OPT_USAGE, false},
	{"-v -o bad", "v ", "", "prog: that is bad\nTry 'prog --help'.\n", OPT_USAGE, false},
};

static void test_row(const struct row *r)
{
	char line[128], *argv[16] = {0}, *save = NULL, name[] = "prog";
	struct buf log = BUF_INIT, text = BUF_INIT, rest = BUF_INIT;
	const struct opt_group groups[] = {{opts, log_option, &log}, {more, log_more, &log}, {0}};
	const struct opt_spec spec = {"prog", "[OPTION]... [FILE]...", "does one thing", groups,
				      .habits = habits};
	int argc = 1, first = 0, rc;

	argv[0] = name;
	snprintf(line, sizeof(line), "%s", r->line);
	for (char *w = strtok_r(line, " ", &save); w; w = strtok_r(NULL, " ", &save))
		argv[argc++] = w;
	rc = (r->command ? opt_parse_command : opt_parse)(&spec, argc, argv, &text, &first);
	is_int(rc, r->result, "'%s': result", r->line);
	is_str(buf_str(&log), r->heard, "'%s': options", r->line);
	for (int i = first; rc == OPT_RUN && i < argc; i++)
		buf_addf(&rest, "%s%s", rest.len ? " " : "", argv[i]);
	is_str(buf_str(&rest), r->rest, "'%s': operands", r->line);
	ok(r->text[0] ? strstr(buf_str(&text), r->text) != NULL : !text.len, "'%s': text '%s'",
	   r->line, r->text);
	if (r->result != OPT_RUN && r->text[0] && !strstr(buf_str(&text), r->text))
		tap_text("got", buf_str(&text), text.len);
	buf_release(&log);
	buf_release(&text);
	buf_release(&rest);
}

static void test_help(void)
{
	const struct opt_group groups[] = {{opts, log_option, NULL}, {more, log_more, NULL}, {0}};
	const struct opt_spec spec = {"prog", "[OPTION]... [FILE]...", "does one thing", groups};
	struct buf b = BUF_INIT;

	opt_help(&spec, &b);
	is_str(buf_str(&b),
	       "usage: prog [OPTION]... [FILE]...\n"
	       "does one thing\n"
	       "\n"
	       "  -o, --output FILE           write to FILE\n"
	       "  -v, --verbose               say more\n"
	       "      --strict                losses make the exit status 1\n"
	       "      --color[=WHEN]          colour the output\n"
	       "  -q, --quiet                 say less\n"
	       "      --help                  print this and exit\n"
	       "      --version               print the version and exit\n",
	       "--help lists every option");
	buf_release(&b);
}

static void test_numbers(void)
{
	static const struct {
		const char *text;
		int rc;
		uint64_t v;
	} n[] = {
		{"0", 0, 0},
		{"99", 0, 99},
		{"0x10", 0, 16},
		{"010", 0, 8},
		{"4k", 0, 4000},
		{"4K", 0, 4000},
		{"2M", 0, 2000000},
		{"18G", 0, 18000000000},
		{"18446744073709551615", 0, UINT64_MAX},
		{"18446744073709551616", PP_EUSAGE, 0},
		{"18446744073709551615k", PP_EUSAGE, 0},
		{"", PP_EUSAGE, 0},
		{"-1", PP_EUSAGE, 0},
		{"+1", PP_EUSAGE, 0},
		{" 1", PP_EUSAGE, 0},
		{"1 ", PP_EUSAGE, 0},
		{"1kk", PP_EUSAGE, 0},
		{"1.5", PP_EUSAGE, 0},
		{"abc", PP_EUSAGE, 0},
		{"0x", PP_EUSAGE, 0},
	};
	uint64_t v;

	for (size_t i = 0; i < sizeof(n) / sizeof(n[0]); i++) {
		v = 0;
		is_int(opt_u64(n[i].text, 0, UINT64_MAX, &v), n[i].rc, "number '%s'", n[i].text);
		is_u64(v, n[i].v, "value of '%s'", n[i].text);
	}
	is_int(opt_u64("9", 10, 20, &v), PP_EUSAGE, "below the minimum");
	is_int(opt_u64("10", 10, 20, &v), 0, "the minimum");
	is_int(opt_u64("20", 10, 20, &v), 0, "the maximum");
	is_int(opt_u64("21", 10, 20, &v), PP_EUSAGE, "above the maximum");
}

static void test_durations(void)
{
	static const struct {
		const char *text;
		int rc;
		uint64_t ns;
	} rows_of[] =
		{
			{"1ns", 0, 1},		{"1.5us", 0, 1500},	{"10ms", 0, 10000000},
			{"2s", 0, 2000000000},	{"1m", 0, 60000000000}, {"1h", 0, 3600000000000},
			{"0s", PP_EUSAGE, 0},	{"10", PP_EUSAGE, 0},	{"10 ms", PP_EUSAGE, 0},
			{"-1s", PP_EUSAGE, 0},	{"ms", PP_EUSAGE, 0},	{"1e30s", PP_EUSAGE, 0},
			{"nans", PP_EUSAGE, 0}, {"", PP_EUSAGE, 0},	{"0", PP_EUSAGE, 0},
		},
	  with_zero[] = {
		  {"0", 0, 0},		 {"0ms", 0, 0},		  {"1us", 0, 1000},
		  {"10", PP_EUSAGE, 0},	 {"0.1ns", PP_EUSAGE, 0}, {"0x", PP_EUSAGE, 0},
		  {"0 s", PP_EUSAGE, 0}, {"", PP_EUSAGE, 0},
	  };
	struct buf why = BUF_INIT;
	uint64_t ns;

	for (size_t i = 0; i < sizeof(rows_of) / sizeof(rows_of[0]); i++) {
		ns = 7;
		is_int(opt_duration("slower", rows_of[i].text, false, &ns, &why), rows_of[i].rc,
		       "duration '%s'", rows_of[i].text);
		is_u64(ns, rows_of[i].rc ? 7 : rows_of[i].ns, "ns of '%s'", rows_of[i].text);
	}
	for (size_t i = 0; i < sizeof(with_zero) / sizeof(with_zero[0]); i++) {
		ns = 7;
		is_int(opt_duration("slower", with_zero[i].text, true, &ns, &why), with_zero[i].rc,
		       "or 0: '%s'", with_zero[i].text);
		is_u64(ns, with_zero[i].rc ? 7 : with_zero[i].ns, "ns of '%s'", with_zero[i].text);
	}
	ok(strstr(buf_str(&why), "--slower: not a duration like 10ms") != NULL, "it is reported");
	buf_release(&why);
}

static void test_nearest(void)
{
	static const char *const names[] = {"cycles", "cpu-clock", "page-faults"};

	is_str(opt_nearest("cylces", names, 3), "cycles", "two letters exchanged");
	is_str(opt_nearest("cpuclock", names, 3), "cpu-clock", "one left out");
	is_str(opt_nearest("page-fault", names, 3), "page-faults", "one at the end");
	is_str(opt_nearest("zzzzzz", names, 3), NULL, "nothing near");
	is_str(opt_nearest("x", names, 0), NULL, "no names");
}

int main(void)
{
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
		test_row(&rows[i]);
	test_help();
	test_numbers();
	test_durations();
	test_nearest();
	return done();
}
