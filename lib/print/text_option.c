/* The options that tell what the text is to look like. */
#include "print/text.h"

#include "base/err.h"
#include "print/tep.h"

#define CPU_LARGEST 65535

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
			return wrong(why, "--cpu", "no list of CPUs", arg);
		last = first;
		if (*p == '-' && (p++, !number(&p, &last)))
			return wrong(why, "--cpu", "no list of CPUs", arg);
		if (last < first)
			return wrong(why, "--cpu", "a range that ends before it begins", arg);
		c->range[c->n].first = first;
		c->range[c->n++].last = last;
	} while (*p == ',');
	return *p ? wrong(why, "--cpu", "no list of CPUs", arg) : 0;
}

/* Options of trace-cmd's own drawing of the function graph. */
static bool *graph_option(struct stext_trace *t, const char *name, size_t len)
{
	const struct {
		const char *name;
		bool *value;
	} options[] = {{"tailprint", &t->tail},
		       {"depth", &t->depth},
		       {"retval-skip", &t->no_retval},
		       {"retval-dec", &t->retval_dec},
		       {"retval-hex", &t->retval_hex}};

	for (size_t i = 0; i < sizeof(options) / sizeof(options[0]); i++)
		if (strlen(options[i].name) == len && !memcmp(options[i].name, name, len))
			return options[i].value;
	return NULL;
}

/* "[PLUGIN:]NAME[=VALUE]"; the function graph's are ours, the others libtraceevent's. */
static int plugin_option(struct stext_trace *t, const char *arg, struct buf *why)
{
	const char *colon = strchr(arg, ':'), *equal = strchr(arg, '=');
	const char *name = colon && (!equal || colon < equal) ? colon + 1 : arg;
	const char *value = equal ? equal + 1 : NULL;
	size_t len = equal ? (size_t)(equal - name) : strlen(name);
	bool *ours = NULL;

	if (!len)
		return wrong(why, "-O", "no option of a plugin", arg);
	if (name == arg ||
	    (name - arg == 7 && (!memcmp(arg, "fgraph:", 7) || !memcmp(arg, "ftrace:", 7))))
		ours = graph_option(t, name, len);
	if (!ours)
		return tep_plugin_option(arg) ? PP_ENOMEM : 0;
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

bool stext_option(struct stext_opts *o, int id, const char *arg, struct buf *why, int *rc)
{
	*rc = 0;
	switch (id) {
	case STEXT_OPT_ALL: o->all = true; return true;
	case 'F': *rc = text_fields_parse(&o->fields, arg, why); return true;
	case 'G': o->no_chains = true; return true;
	case STEXT_OPT_NS: o->ns = true; return true;
	case STEXT_OPT_REL: o->times = STEXT_TIME_REL; return true;
	case STEXT_OPT_DELTA: o->times = STEXT_TIME_DELTA; return true;
	case STEXT_OPT_CPU: *rc = cpu_list(&o->cpus, arg, why); return true;
	case 'l': o->trace.latency = true; return true;
	case 'R': o->trace.raw = true; return true;
	case 'N': o->trace.no_plugins = true; return true;
	case 'O': *rc = plugin_option(&o->trace, arg, why); return true;
	case STEXT_OPT_DIFF: o->trace.diff = true; return true;
	case STEXT_OPT_TRACE_CMD: *rc = version(&o->trace, arg, why); return true;
	default: return false;
	}
}
