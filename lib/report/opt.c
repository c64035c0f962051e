/* The command line options of reports. */
#include "report/report.h"

#include "base/err.h"

#include <langinfo.h>
#include <string.h>

enum {
	TREE = OPT_NO_SHORT,
	NO_CHILDREN,
	MIN_SHARE,
	DEPTH,
	PARENT,
	ASCII,
	SORT,
	ADDRS,
	WIDE,
	TSV,
	JSON,
	MARKDOWN
};

const struct opt report_options[] = {
	{'b', "by", "KEYS", "a row for each KEYS: names or expressions (default comm,dso,sym)"},
	{'e', "event", "EVENT", "only samples of EVENT, a name or pattern"},
	{'c', "count", NULL, "count samples instead of adding up their periods"},
	{NO_CHILDREN, "no-children", NULL, "what functions have themselves, without callees"},
	{TREE, "tree", "KIND", "print call trees: caller (from the root on) or callee"},
	{PARENT, "of-parent", NULL, "percentages in trees are of what is one step up"},
	{DEPTH, "depth", "N", "trees: only N frames of a branch"},
	{ADDRS, "addrs", NULL, "tell functions without a name apart by their address"},
	{MIN_SHARE, "min-share", "PERCENT", "leave out what has less (default 0.5 in trees)"},
	{'n', "samples", NULL, "show the number of samples, too"},
	{'t', "top", "N", "only the first N rows of each table"},
	{SORT, "sort", "COLUMN", "sort by children, self, samples or a key; -COLUMN: backwards"},
	{ASCII, "ascii", NULL, "draw trees with ASCII characters"},
	{WIDE, "wide", NULL, "whole lines and paths, also where the terminal is narrower"},
	{TSV, "tsv", NULL, "write tab-separated values"},
	{JSON, "json", NULL, "write JSON, one object a row"},
	{MARKDOWN, "markdown", NULL, "write Markdown"},
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
	/* Where the terminal has no other characters. */
	if (strcmp(nl_langinfo(CODESET), "UTF-8") != 0)
		o->ascii = true;
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
	case ADDRS: o->addrs = true; break;
	case WIDE: o->wide = true; break;
	case TSV: o->form = REPORT_TSV; break;
	case JSON: o->form = REPORT_JSON; break;
	case MARKDOWN: o->form = REPORT_MARKDOWN; break;
	}
	return 0;
}
