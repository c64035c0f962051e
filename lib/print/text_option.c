/* The options that tell what the text is to look like. */
#include "print/text.h"

#include "base/err.h"
#include "print/tep.h"

#include <stddef.h>

#define CPU_LARGEST 65535

enum { ALL = OPT_NO_SHORT, NS, REL, DELTA, DIFF, TRACE_CMD, CPU };

const struct opt stext_options[] = {
	{'F', "fields", "LIST", "what to print for a sample, as with perf script -F"},
	{'G', "hide-call-graph", NULL, "print the address instead of the call chain"},
	{NS, "ns", NULL, "print times with nine decimals"},
	{REL, "reltime", NULL, "print times since the first line"},
	{DELTA, "deltatime", NULL, "print times since the line before"},
	{'l', "latency", NULL, "trace.dat: print the column of interrupts"},
	{'R', "raw", NULL, "trace.dat: print fields, not their text"},
	{'N', "no-plugins", NULL, "trace.dat: print without libtraceevent's plugins"},
	{'O', "plugin", "OPTION",
	 "trace.dat: an option of a plugin, such as fgraph:tailprint; help lists them"},
	{DIFF, "ts-diff", NULL, "trace.dat: print times since the line before"},
	{TRACE_CMD, "trace-cmd", "VERSION", "trace.dat: print as trace-cmd 3.1 (default) or 3.4"},
	{ALL, "all", NULL, "also print the samples that a filter marked as failing"},
	{0},
};

const struct opt stext_cpu_options[] = {
	{CPU, "cpu", "LIST", "print only the samples of these CPUs"},
	{0},
};

static int wrong(struct buf *why, const char *option, const char *what, const char *arg)
{
	buf_addf(why, "%s: %s: ", option, what);
	buf_add_safe(why, arg, strlen(arg));
	return PP_EUSAGE;
}

static bool number(const char **p, uint32_t *v)
{
	const char *s = *p;

	for (*v = 0; *s >= '0' && *s <= '9' && *v <= CPU_LARGEST; s++)
		*v = *v * 10 + (uint32_t)(*s - '0');
	if (s == *p || *v > CPU_LARGEST)
		return false;
	*p = s;
	return true;
}

/* "0,2-5"; further lists add to it. */
static int cpu_list(struct stext_cpus *c, const char *arg, struct buf *why)
{
	const char *p = arg;

	do {
		uint32_t first, last;

		if (p != arg)
			p++;
		if (c->n == STEXT_CPUS_MAX)
			return wrong(why, "--cpu", "too many ranges", arg);
		if (!number(&p, &first))
			return wrong(why, "--cpu", "not a list of CPUs", arg);
		last = first;
		if (*p == '-' && (p++, !number(&p, &last)))
			return wrong(why, "--cpu", "not a list of CPUs", arg);
		if (last < first)
			return wrong(why, "--cpu", "a range that ends before it begins", arg);
		c->range[c->n].first = first;
		c->range[c->n++].last = last;
	} while (*p == ',');
	return *p ? wrong(why, "--cpu", "not a list of CPUs", arg) : 0;
}

/* Options of trace-cmd's own drawing of the function graph. */
static const struct {
	const char *name;
	size_t offset; /* of a bool of struct stext_trace */
	const char *what;
} graph_options[] = {
	{"tailprint", offsetof(struct stext_trace, tail), "print the function's name at its end"},
	{"depth", offsetof(struct stext_trace, depth), "print the depth of calls"},
	{"retval-skip", offsetof(struct stext_trace, no_retval), "do not print results"},
	{"retval-dec", offsetof(struct stext_trace, retval_dec),
	 "print results as decimal numbers"},
	{"retval-hex", offsetof(struct stext_trace, retval_hex),
	 "print results as hexadecimal numbers"}};

#define N_GRAPH_OPTIONS (sizeof(graph_options) / sizeof(graph_options[0]))

static bool *graph_option(struct stext_trace *t, const char *name, size_t len)
{
	for (size_t i = 0; i < N_GRAPH_OPTIONS; i++)
		if (strlen(graph_options[i].name) == len &&
		    !memcmp(graph_options[i].name, name, len))
			return (bool *)((char *)t + graph_options[i].offset);
	return NULL;
}

/* An option that is not the function graph's. */
static int others_option(const char *arg, struct buf *why)
{
	struct buf have = BUF_INIT;
	int rc = tep_plugin_option(arg, &have);

	if (rc == PP_EUSAGE) {
		wrong(why, "-O", "not a plugin option", arg);
		for (size_t i = 0; i < N_GRAPH_OPTIONS; i++)
			buf_addf(why, "%s fgraph:%s", i ? "," : "; there are",
				 graph_options[i].name);
		buf_join(why, &have);
	}
	buf_release(&have);
	return rc;
}

/* "[PLUGIN:]NAME[=VALUE]"; the function graph's are ours, the others libtraceevent's. */
static int plugin_option(struct stext_trace *t, const char *arg, struct buf *why)
{
	const char *colon = strchr(arg, ':'), *equal = strchr(arg, '=');
	const char *name = colon && (!equal || colon < equal) ? colon + 1 : arg;
	const char *value = equal ? equal + 1 : NULL;
	size_t len = equal ? (size_t)(equal - name) : strlen(name);
	bool *ours = NULL;

	if (name == arg ||
	    (name - arg == 7 && (!memcmp(arg, "fgraph:", 7) || !memcmp(arg, "ftrace:", 7))))
		ours = graph_option(t, name, len);
	if (!ours)
		return others_option(arg, why);
	if (value && strcmp(value, "1") && strcmp(value, "0") && strcmp(value, "true") &&
	    strcmp(value, "false"))
		return wrong(why, "-O", "neither 0 nor 1", arg);
	*ours = value ? *value == '1' || *value == 't' : !*ours;
	return 0;
}

static int version(struct stext_trace *t, const char *arg, struct buf *why)
{
	t->v34 = !strcmp(arg, "3.4");
	return t->v34 || !strcmp(arg, "3.1")
		       ? 0
		       : wrong(why, "--trace-cmd", "neither 3.1 nor 3.4", arg);
}

int stext_option(void *opts, int id, const char *arg, struct buf *why)
{
	struct stext_opts *o = opts;

	switch (id) {
	case ALL: o->all = true; break;
	case 'F': return text_fields_parse(&o->fields, arg, why);
	case 'G': o->no_chains = true; break;
	case NS: o->ns = true; break;
	case REL: o->times = STEXT_TIME_REL; break;
	case DELTA: o->times = STEXT_TIME_DELTA; break;
	case CPU: return cpu_list(&o->cpus, arg, why);
	case 'l': o->trace.latency = true; break;
	case 'R': o->trace.raw = true; break;
	case 'N': o->trace.no_plugins = true; break;
	case 'O':
		o->list_options |= !strcmp(arg, "help");
		return o->list_options ? 0 : plugin_option(&o->trace, arg, why);
	case DIFF: o->trace.diff = true; break;
	case TRACE_CMD: return version(&o->trace, arg, why);
	}
	return 0;
}

void stext_list_options(struct buf *b)
{
	for (size_t i = 0; i < N_GRAPH_OPTIONS; i++)
		buf_addf(b, "fgraph:%-20s %s\n", graph_options[i].name, graph_options[i].what);
	tep_list_options(b);
}
