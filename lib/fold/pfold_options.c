/* The command line options of pfold. */
#include "fold/pfold_options.h"

#include "base/err.h"
#include "fold/by.h"

#include <stdlib.h>
#include <string.h>

enum {
	ADDRS = OPT_NO_SHORT,
	BY,
	CHART,
	EVENT_FILTER,
	HIDE,
	INLINE,
	KALLSYMS,
	MERGE_RECURSION,
	NO_HEADER,
	NO_MARKS,
	ONLY,
	OTHER,
	PREFIX,
	RENAME,
	ROOT,
	SRCLINE,
	STATS,
	STRICT,
	STRIP_TEMPLATES,
	WAKER
};

const struct opt pfold_options[] = {
	{'p', "pid", NULL, "the first frame is the command and its process id"},
	{'t', "tid", NULL, "the first frame is the command and its process and thread id"},
	{BY, "by", "KEYS", "frames above the command: cpu, cgroup, thread, event, any field"},
	{PREFIX, "prefix", "TEXT", "a frame above all others, or several separated by ';'"},
	{'k', "kernel", NULL, "mark kernel functions with _[k]"},
	{'j', "jit", NULL, "mark functions of JIT maps with _[j]"},
	{'a', "all", NULL, "all marks: --kernel and --jit"},
	{INLINE, "inline", NULL, "mark inlined functions with _[i] (they always are)"},
	{ADDRS, "addrs", NULL, "keep the addresses of unknown functions"},
	{NO_MARKS, "no-marks", NULL, "leave out the frames that say how a stack ended"},
	{STRIP_TEMPLATES, "strip-templates", "[DEPTH]",
	 "C++, Rust: names without template arguments, or those below DEPTH"},
	{RENAME, "rename", "s/REGEX/TEXT/", "change names (repeatable)"},
	{ONLY, "only", "REGEX", "only stacks with a function that matches (repeatable)"},
	{ROOT, "root", "REGEX", "stacks begin at the outermost function that matches (repeatable)"},
	{HIDE, "hide", "REGEX", "leave out functions that match (repeatable)"},
	{MERGE_RECURSION, "merge-recursion", NULL, "a function that calls itself is one frame"},
	{CHART, "chart", NULL, "keep time order, for psvg --flamechart"},
	{NO_HEADER, "no-header", NULL, "leave out the first line, which says what is counted"},
	{KALLSYMS, "kallsyms", "FILE", "function_graph: functions from a saved /proc/kallsyms"},
	{SRCLINE, "srcline", NULL, "read the source lines of perf script -F +srcline"},
	{'e', "event", "EVENT", "fold samples of EVENT (default: the one with the most weight)"},
	{EVENT_FILTER, "event-filter", "EVENT", "the same as --event"},
	{'c', "count", NULL, "count samples instead of adding up their periods"},
	{WAKER, "waker", NULL, "add the waker's stack of intervals, upside down"},
	{OTHER, "other", NULL, "fold the second stack of intervals: the waker's"},
	{STATS, "stats", NULL, "print what happened to the samples on stderr"},
	{STRICT, "strict", NULL, "exit with 1 if the recording reports losses"},
	{0},
};

const struct opt_rule pfold_rules[] = {
	{"pid", "tid", NULL}, {"other", "waker", NULL},	       {"kernel", "all", NULL},
	{"jit", "all", NULL}, {"event", "event-filter", NULL}, {0},
};

static int set_by(struct pfold_opts *o, const char *arg, struct buf *why)
{
	struct fold_opts *f = &o->fold;
	char *p;
	int rc;

	if (o->keys) {
		buf_adds(why, "--by is given twice: separate several keys by commas");
		return PP_EUSAGE;
	}
	p = o->keys = strdup(arg);
	if (!p)
		return PP_ENOMEM;
	for (char *key; (key = strsep(&p, ","));) {
		key += strspn(key, " ");
		key[strcspn(key, " ")] = 0;
		if (!*key || f->nby == FOLD_BY_MAX) {
			buf_adds(why, *key ? "--by: too many keys" : "--by: a key is empty");
			return PP_EUSAGE;
		}
		f->by[f->nby++] = key;
		rc = fold_by_check(key, why);
		if (rc)
			return rc;
	}
	return 0;
}

static int set_templates(struct fold_shape *s, const char *arg, struct buf *why)
{
	s->templates = true;
	s->depth = 0;
	if (!arg || !opt_u64(arg, 0, 255, &s->depth))
		return 0;
	buf_adds(why, "--strip-templates: not a depth: ");
	buf_add_safe(why, arg, strlen(arg));
	return PP_EUSAGE;
}

static int set_prefix(struct fold_shape *s, const char *arg, struct buf *why)
{
	int frames = 1;

	for (const char *p = arg; *p; p++)
		frames += *p == ';';
	if (!arg[strspn(arg, ";")] || frames > FOLD_PREFIX_MAX) {
		buf_addf(why, "--prefix needs 1 to %d frames", FOLD_PREFIX_MAX);
		return PP_EUSAGE;
	}
	s->prefix = arg;
	return 0;
}

int pfold_option(void *opts, int id, const char *arg, struct buf *why)
{
	struct pfold_opts *o = opts;
	struct fold_opts *f = &o->fold;

	switch (id) {
	case 'p': f->pid = true; break;
	case 't': f->tid = true; break;
	case BY: return set_by(o, arg, why);
	case PREFIX: return set_prefix(&o->shape, arg, why);
	case 'a': f->kernel = f->jit = true; break;
	case 'k': f->kernel = true; break;
	case 'j': f->jit = true; break;
	case INLINE: break;
	case ADDRS: f->addrs = true; break;
	case NO_HEADER: o->no_header = true; break;
	case NO_MARKS: f->no_marks = true; break;
	case STRIP_TEMPLATES: return set_templates(&o->shape, arg, why);
	case RENAME: return fold_shape_add(&o->shape, FOLD_RENAME, arg, why);
	case ONLY: return fold_shape_add(&o->shape, FOLD_ONLY, arg, why);
	case ROOT: return fold_shape_add(&o->shape, FOLD_TO_ROOT, arg, why);
	case HIDE: return fold_shape_add(&o->shape, FOLD_HIDE, arg, why);
	case KALLSYMS: f->kallsyms = arg; break;
	case MERGE_RECURSION: o->shape.recursion = true; break;
	case CHART: f->chart = true; break;
	case SRCLINE: f->srcline = true; break;
	case 'e':
	case EVENT_FILTER: f->event = arg; break;
	case 'c': f->count = true; break;
	case WAKER: f->second = FOLD_BOTH; break;
	case OTHER: f->second = FOLD_OTHER; break;
	case STATS: o->stats = true; break;
	case STRICT: o->strict = true; break;
	}
	return 0;
}

void pfold_opts_release(struct pfold_opts *o)
{
	fold_shape_release(&o->shape);
	free(o->keys);
}
