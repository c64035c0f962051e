/* The command line options of reports. */
#include "report/report.h"

#include "base/err.h"
#include "table/gate.h"

#include <string.h>

enum {
	TREE = OPT_NO_SHORT,
	NO_CHILDREN,
	MIN_SHARE,
	DEPTH,
	PARENT,
	ASCII,
	SORT,
	FAIL_IF,
	ADDRS,
	WIDE,
	TSV,
	JSON,
	MARKDOWN,
	HTML,
	EVERY,
	CUMULATIVE,
	ANNOTATE,
	SOURCE,
	TRUST_HOST,
	VIEW
};

const struct opt report_options[] = {
	{'b', "by", "KEYS", "a row for each KEYS: names or expressions (default comm,dso,sym)"},
	{'e', "event", "EVENT", "only samples of EVENT, a name or pattern"},
	{'c', "count", NULL, "count samples instead of adding up their periods"},
	{NO_CHILDREN, "no-children", NULL, "show only the functions' own share, without callees"},
	{TREE, "tree", "KIND", "print call trees: caller (starting at the root) or callee"},
	{PARENT, "of-parent", NULL, "percentages in trees refer to the function one step up"},
	{DEPTH, "depth", "N", "trees: at most N frames of a branch"},
	{'f', "function", "NAME", "its callers, callees and source lines; NAME may be a pattern"},
	{ANNOTATE, "annotate", NULL, "with --function: also the instructions"},
	{'S', "symfs", "DIR", "look for binaries first in DIR or a tar archive (repeatable)"},
	{'D', "debug-dir", "DIR",
	 "look for debug files below DIR (default /usr/lib/debug; repeatable)"},
	{'K', "vmlinux", "FILE", "the kernel's code: a vmlinux, or /proc/kcore"},
	{TRUST_HOST, "trust-host", NULL, "this machine's binaries are those of the recording"},
	{SOURCE, "source", "DIR", "show source lines from files below DIR"},
	{ADDRS, "addrs", NULL, "distinguish functions without a name by their address"},
	{MIN_SHARE, "min-share", "PERCENT",
	 "leave out rows and branches with less (default 0.5 in trees)"},
	{'n', "samples", NULL, "also show the number of samples"},
	{'t', "top", "N", "only the first N rows of each table"},
	{SORT, "sort", "COLUMN", "sort by children, self, samples or a key; -COLUMN: reverse"},
	GATE_OPTION(FAIL_IF, "share(self, sym == f) > 5%"),
	{ASCII, "ascii", NULL, "draw trees with ASCII characters"},
	{WIDE, "wide", NULL, "write full lines and paths, even if the terminal is narrower"},
	{EVERY, "every", "TIME", "report every TIME, such as 2s, then their sum"},
	{CUMULATIVE, "cumulative", NULL, "with --every: everything until then"},
	{VIEW, "view", NULL, "browse tables and trees on the terminal; h shows the keys"},
	{TSV, "tsv", NULL, "write tab-separated values"},
	{JSON, "json", NULL, "write JSON, one object a row"},
	{MARKDOWN, "markdown", NULL, "write Markdown"},
	{HTML, "html", NULL, "with --function: write an HTML page"},
	{0},
};

#define DATA "tsv json"

const struct opt_rule report_rules[] = {
	{"annotate", NULL, "function"},
	{"html", "tsv json markdown", "function"},
	{"markdown", "function tsv json", NULL},
	{"tree", "function", NULL},
	{"by", "function tree=caller", NULL},
	{"view", "function tsv json markdown html", NULL},
	{"tsv", "json", NULL},
	{"every", "function tsv json markdown html", NULL},
	{"cumulative", NULL, "every"},
	{"fail-if", "tree function view every", NULL},
	{"symfs", NULL, "annotate view"},
	{"debug-dir", NULL, "annotate view"},
	{"vmlinux", NULL, "annotate view"},
	{"trust-host", NULL, "annotate view"},
	{"source", DATA " html", "function"},
	{"of-parent", DATA, "tree view"},
	{"depth", NULL, "tree view"},
	{"ascii", DATA " html", "tree view annotate"},
	{"samples", DATA " markdown function tree=caller", NULL},
	{"top", "function tree=caller", NULL},
	{"sort", "function tree=caller", NULL},
	{"no-children", "function tree", NULL},
	{"wide", DATA " markdown html", NULL},
	{0},
};

static int number(const char *name, const char *arg, uint32_t *v, struct buf *why)
{
	uint64_t n;

	if (!opt_u64(arg, 1, INT32_MAX, &n)) {
		*v = (uint32_t)n;
		return 0;
	}
	buf_addf(why, "--%s: not a number from 1 to %d: ", name, INT32_MAX);
	buf_add_safe(why, arg, strlen(arg));
	return PP_EUSAGE;
}

static int tree(struct report_opts *o, const char *arg, struct buf *why)
{
	if (!strcmp(arg, "callee"))
		o->tree = REPORT_CALLEE;
	else if (!strcmp(arg, "caller"))
		o->tree = REPORT_CALLER;
	else {
		buf_adds(why, "--tree: neither caller nor callee: ");
		buf_add_safe(why, arg, strlen(arg));
		return PP_EUSAGE;
	}
	return 0;
}

static int add_dir(const char **dirs, size_t *n, const char *arg, struct buf *why)
{
	if (*n == REPORT_DIRS_MAX) {
		buf_addf(why, "more than %d directories", REPORT_DIRS_MAX);
		return PP_EUSAGE;
	}
	dirs[(*n)++] = arg;
	return 0;
}

int report_option(void *opts, int id, const char *arg, struct buf *why)
{
	struct report_opts *o = opts;
	bool percent;

	switch (id) {
	case 'b': o->by = arg; break;
	case 'e': o->event = arg; break;
	case 'c': o->count = true; break;
	case 'n': o->samples = true; break;
	case 't': return number("top", arg, &o->top, why);
	case TREE: return tree(o, arg, why);
	case NO_CHILDREN: o->no_children = true; break;
	case MIN_SHARE: return opt_double("min-share", arg, 0, 100, &o->min_share, &percent, why);
	case DEPTH: return number("depth", arg, &o->depth, why);
	case PARENT: o->of_parent = true; break;
	case ASCII: o->ascii = true; break;
	case SORT: o->sort = arg; break;
	case FAIL_IF: return gate_texts_add(&o->gates, arg, why);
	case ADDRS: o->addrs = true; break;
	case WIDE: o->wide = true; break;
	case TSV: o->form = TABLE_FORM_TSV; break;
	case JSON: o->form = TABLE_FORM_JSON; break;
	case 'f': o->function = arg; break;
	case ANNOTATE: o->annotate = true; break;
	case 'S': return add_dir(o->symfs, &o->n_symfs, arg, why);
	case 'D': return add_dir(o->debug, &o->n_debug, arg, why);
	case 'K': o->vmlinux = arg; break;
	case TRUST_HOST: o->trust_host = true; break;
	case SOURCE: o->source = arg; break;
	case VIEW: o->view = true; break;
	case EVERY: return opt_period("every", arg, &o->every, why);
	case CUMULATIVE: o->cumulative = true; break;
	case HTML: o->form = TABLE_FORM_HTML; break;
	case MARKDOWN: o->form = TABLE_FORM_MARKDOWN; break;
	}
	return 0;
}
