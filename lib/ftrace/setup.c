/* Brings what is wanted into an instance of ftrace, or to the top where only that can do it. */
#include "ftrace/parts.h"

#include "base/err.h"
#include "pevent/sysfile.h"
#include "pevent/tracefs.h"

#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#define BUFFER_KB     8192 /* of each CPU: a tenth of a second of much */
#define BUFFER_MIN_KB 1408
#define BUFFER_SHARE  32 /* of the free memory */

int setup_root(const char **root, struct diag *d)
{
	struct buf why = BUF_INIT;
	int rc = tracefs_find(root, &why);
	char path[PATH_MAX];

	if (!rc) {
		snprintf(path, sizeof(path), "%s/current_tracer", *root);
		if (access(path, W_OK)) {
			rc = pp_errno(errno);
			buf_addf(&why, "recording with ftrace needs write access to %s: ", *root);
			sysfile_need_root(&why, "CAP_DAC_OVERRIDE");
		}
	}
	if (rc)
		diag_error(d, NULL, -1, "%s", buf_str(&why));
	buf_release(&why);
	return rc;
}

/* ---- parts of it ---- */

/* "sym-offset", "nosym-offset", "sym-offset=1". */
static int set_option(struct setup *s, const char *word, struct buf *why)
{
	size_t n = strcspn(word, "=");
	bool off = !strncmp(word, "no", 2) && !word[n];
	const char *value = word[n] ? word + n + 1 : off ? "0" : "1";
	char name[300];

	snprintf(name, sizeof(name), "options/%.*s", (int)n, word);
	if (off && !ftfiles_has(&s->files, name))
		snprintf(name, sizeof(name), "options/%.*s", (int)n - 2, word + 2);
	else if (off)
		value = "1"; /* "noirq-info" is an option's own name */
	if (!ftfiles_has(&s->files, name)) {
		buf_addf(why, "this kernel has no option '%.*s'; see --list options", (int)n, word);
		return PP_ENOENT;
	}
	return ftfiles_set(&s->files, name, value, why);
}

/* The threads of processes, "12\n13\n": the kernel knows threads only. */
static int threads_of(const char *pids, struct buf *list, struct buf *why)
{
	struct sysnames names = {0};
	pid_t *v;
	size_t n;
	int rc = pidlist_parse(pids, &v, &n);

	if (rc) {
		buf_addf(why, "'%s' is not a list of processes", pids);
		return rc;
	}
	for (size_t i = 0; i < n && !rc; i++) {
		char path[64];

		snprintf(path, sizeof(path), "/proc/%ld/task", (long)v[i]);
		names = (struct sysnames){0};
		rc = sysnames_read(&names, path, "*");
		if (rc)
			buf_addf(why, "there is no process %ld", (long)v[i]);
		for (size_t k = 0; k < names.n; k++)
			buf_addf(list, "%s\n", names.v[k]);
		sysnames_release(&names);
	}
	free(v);
	return rc ? rc : list->err;
}

static int set_pids(struct setup *s, struct buf *why)
{
	const struct ftrace_config *c = s->c;
	struct buf list = BUF_INIT;
	int rc = 0;

	if (c->pids)
		rc = threads_of(c->pids, &list, why);
	if (c->only_command)
		buf_addf(&list, "%ld\n", (long)s->command);
	if (!rc && list.len && (c->n_events || c->profile || c->probes.n))
		rc = ftfiles_set_lines(&s->files, "set_event_pid", buf_str(&list), why);
	if (!rc && list.len && c->tracer)
		rc = ftfiles_set_lines(&s->files, "set_ftrace_pid", buf_str(&list), why);
	if (!rc && list.len && c->children) {
		rc = ftfiles_set(&s->files, "options/event-fork", "1", why);
		if (!rc && c->tracer)
			rc = ftfiles_set(&s->files, "options/function-fork", "1", why);
	}
	buf_release(&list);
	return rc;
}

/* "0-3,6" as the mask that the kernel wants: 32 CPUs a word, the first ones last. */
static int set_cpus(struct setup *s, struct buf *why)
{
	uint32_t words[256] = {0};
	struct buf mask = BUF_INIT;
	size_t n, top = 0;
	int *cpus, rc = cpulist_parse(s->c->cpus, &cpus, &n);

	for (size_t i = 0; i < n && !rc; i++) {
		size_t w = (size_t)cpus[i] / 32;

		if (w >= sizeof(words) / sizeof(words[0])) {
			rc = PP_ELIMIT;
			break;
		}
		words[w] |= UINT32_C(1) << cpus[i] % 32;
		top = w > top ? w : top;
	}
	if (rc) {
		buf_addf(why, "'%s' is not a list of CPUs", s->c->cpus);
		return rc;
	}
	free(cpus);
	for (size_t w = top + 1; w-- > 0;)
		buf_addf(&mask, w ? "%08x," : "%08x", words[w]);
	rc = mask.err ? mask.err : ftfiles_set(&s->files, "tracing_cpumask", buf_str(&mask), why);
	buf_release(&mask);
	return rc;
}

/* To grow while it records costs events: so it is large from the beginning, if there is memory. */
static int set_buffer(struct setup *s, struct buf *why)
{
	uint64_t kb = ftrounds_free_kb() / BUFFER_SHARE / (uint64_t)sysconf(_SC_NPROCESSORS_CONF);
	char text[32];

	kb = kb > BUFFER_KB ? BUFFER_KB : kb < BUFFER_MIN_KB ? BUFFER_MIN_KB : kb;
	if (s->c->buffer_kb)
		kb = s->c->buffer_kb;
	snprintf(text, sizeof(text), "%llu", (unsigned long long)kb);
	return ftfiles_set(&s->files, "buffer_size_kb", text, why);
}

static int set_clock(struct setup *s, struct buf *why)
{
	struct buf clocks = BUF_INIT;
	int rc = ftfiles_set(&s->files, "trace_clock", s->c->clock, why);

	if (rc && !ftfiles_read(&s->files, "trace_clock", &clocks))
		buf_addf(why, "; it has %.*s", (int)strcspn(buf_str(&clocks), "\n"),
			 buf_str(&clocks));
	buf_release(&clocks);
	return rc;
}

static int set_lists(struct setup *s, struct buf *why)
{
	const struct ftrace_config *c = s->c;
	const struct {
		const char *file;
		const struct ftrace_words *words;
	} lists[] = {
		{"set_ftrace_filter", &c->functions},
		{"set_ftrace_notrace", &c->not_functions},
		{"set_graph_function", &c->graph},
		{"set_graph_notrace", &c->not_graph},
	};
	int rc = 0;

	for (size_t i = 0; i < sizeof(lists) / sizeof(lists[0]) && !rc; i++)
		if (lists[i].words->n)
			rc = setup_functions(s, lists[i].file, lists[i].words, why);
	return rc;
}

/* What the kernel has but once for the whole machine, so that others notice. */
static void tell_shared(const struct setup *s, const char *name)
{
	char path[PATH_MAX];
	bool own;

	ftfiles_path(&s->files, name, path, &own);
	if (!own && !s->top)
		diag_note(s->d, NULL, -1, "%s is temporarily set for the whole machine", name);
}

static int tracer_fault(struct setup *s, struct buf *why)
{
	struct buf have = BUF_INIT;
	const struct ftfiles top = {.root = s->root};

	if (!ftfiles_read(&top, "available_tracers", &have)) {
		size_t n = strlen(s->c->tracer);
		const char *at = strstr(buf_str(&have), s->c->tracer);

		if (!at || (at[n] != ' ' && at[n] != '\n')) {
			buf_reset(why);
			buf_addf(why, "this kernel has no tracer '%s', but %.*s", s->c->tracer,
				 (int)strcspn(buf_str(&have), "\n"), buf_str(&have));
		} else {
			s->no_tracer = true;
		}
	}
	buf_release(&have);
	return PP_EUNSUPPORTED;
}

static int set_tracer(struct setup *s, struct buf *why)
{
	const struct ftrace_config *c = s->c;
	char text[32];
	int rc = 0;

	if (c->depth) {
		snprintf(text, sizeof(text), "%u", c->depth);
		rc = ftfiles_set(&s->files, "max_graph_depth", text, why);
		tell_shared(s, "max_graph_depth");
	}
	if (!rc && c->thresh)
		rc = ftfiles_set(&s->files, "tracing_thresh", c->thresh, why);
	if (!rc && (c->graph.n || c->not_graph.n))
		tell_shared(s, "set_graph_function");
	if (!rc && ftfiles_set(&s->files, "current_tracer", c->tracer, why))
		rc = tracer_fault(s, why);
	return rc;
}

static int set_all(struct setup *s, struct buf *why)
{
	const struct ftrace_config *c = s->c;
	int rc = ftfiles_set(&s->files, "tracing_on", "0", why);

	if (!rc && c->clock)
		rc = set_clock(s, why);
	if (!rc)
		rc = set_buffer(s, why);
	if (!rc && c->cpus)
		rc = set_cpus(s, why);
	if (!rc)
		rc = set_lists(s, why);
	if (!rc && c->tracer)
		rc = set_tracer(s, why);
	/* Only when it is there, older kernels have the options of a tracer. */
	for (size_t i = 0; i < c->options.n && !rc; i++)
		rc = set_option(s, c->options.v[i], why);
	if (!rc && c->stacks)
		rc = ftfiles_set(&s->files, "options/stacktrace", "1", why);
	if (!rc && c->func_stacks)
		rc = ftfiles_set(&s->files, "options/func_stack_trace", "1", why);
	if (!rc)
		rc = set_pids(s, why);
	return rc ? rc : setup_events(s, why);
}

/* ---- the place ---- */

/* "7 (expanded: 1408)": what the top's buffer has, and will have when it is used. */
static int keep_expansion(struct setup *s)
{
	const struct ftfiles top = {.root = s->root};
	struct buf text = BUF_INIT, value = BUF_INIT;
	const char *at;
	int rc = ftfiles_read(&top, "buffer_size_kb", &text);

	at = strstr(buf_str(&text), " (expanded: ");
	if (!rc && at) {
		buf_add(&value, text.data, (size_t)(at - buf_str(&text)) + 1);
		buf_add(&value, at + 12, strspn(at + 12, "0123456789"));
		rc = value.err ? value.err
			       : journal_add(s->journal, JOURNAL_EXPAND, "buffer_size_kb",
					     buf_str(&value), value.len);
	}
	buf_release(&text);
	buf_release(&value);
	return rc;
}

/* Noted when it is there: what somebody else has made is not ours to remove. */
static int make_instance(struct setup *s, const char *name, struct buf *why)
{
	char dir[PATH_MAX], path[PATH_MAX];
	int rc = 0;

	snprintf(dir, sizeof(dir), "instances/%s", name);
	snprintf(path, sizeof(path), "%s/instances/%.200s", s->root, name);
	if (mkdir(path, 0750)) {
		rc = errno == EEXIST ? PP_EUSAGE : pp_errno(errno);
		buf_addf(why, "cannot make the instance %s: %s", path, strerror(errno));
		return rc;
	}
	rc = keep_expansion(s);
	if (!rc)
		rc = journal_add(s->journal, JOURNAL_INSTANCE, dir, "", 0);
	if (rc) {
		buf_addf(why, "cannot save the changes: %s", pp_strerror(rc));
		rmdir(path);
		return rc;
	}
	ftfiles_init(&s->files, s->root, dir, s->journal);
	return 0;
}

/* The top is everybody's: nobody else's recording is disturbed. */
static int take_top(struct setup *s, struct buf *why)
{
	struct buf v = BUF_INIT;
	int rc;

	ftfiles_init(&s->files, s->root, "", s->journal);
	rc = ftfiles_value(&s->files, "current_tracer", &v);
	if (!rc && strcmp(buf_str(&v), "nop") != 0) {
		buf_addf(
			why,
			"the tracer %s works only at the top level of ftrace, where somebody uses %s",
			s->c->tracer, buf_str(&v));
		rc = PP_EUSAGE;
	}
	buf_reset(&v);
	if (!rc)
		rc = ftfiles_read(&s->files, "set_event", &v);
	if (!rc && v.len) {
		buf_addf(
			why,
			"the tracer %s works only at the top level of ftrace, where somebody records "
			"events, such as %.*s",
			s->c->tracer, (int)strcspn(buf_str(&v), "\n"), buf_str(&v));
		rc = PP_EUSAGE;
	}
	buf_release(&v);
	if (rc)
		return rc;
	s->top = true;
	diag_note(
		s->d, NULL, -1,
		"the tracer %s does not work in instances here: the top level of ftrace is used, and "
		"given back",
		s->c->tracer);
	return 0;
}

static bool wants_symbols(const struct ftrace_config *c)
{
	return c->tracer || c->stacks || c->func_stacks;
}

/* Symbols are wanted for stacks by triggers, too. */
static bool triggers_stacks(const struct ftrace_config *c)
{
	for (size_t i = 0; i < c->n_events; i++)
		for (size_t k = 0; k < c->events[i].triggers.n; k++)
			if (!strncmp(c->events[i].triggers.v[k], "stacktrace", 10))
				return true;
	return false;
}

int setup_begin(struct setup *s, const char *name)
{
	struct buf why = BUF_INIT;
	uint64_t from = s->journal->len;
	int rc;

	s->symbols = wants_symbols(s->c) || triggers_stacks(s->c);
	rc = make_instance(s, name ? name : s->journal->name, &why);
	if (!rc)
		rc = set_all(s, &why);
	if (rc && s->no_tracer) {
		rc = journal_undo(s->journal, from);
		buf_reset(&why);
		s->events.n = 0;
		if (!rc)
			rc = take_top(s, &why);
		/* What is in the top's buffer goes when its clock or its size is set. */
		if (!rc)
			rc = set_all(s, &why);
		if (!rc)
			rc = ftfiles_write(&s->files, "trace", "\n", &why);
	}
	if (rc)
		diag_error(s->d, NULL, -1, "%s", why.len ? buf_str(&why) : pp_strerror(rc));
	buf_release(&why);
	return rc;
}

int setup_probes(struct setup *s, const struct inplace *probes)
{
	struct buf why = BUF_INIT;
	int rc = 0;

	s->probes = probes;
	for (unsigned i = 0; i < probes->n && !rc; i++) {
		const struct inplace_event *e = &probes->v[i];
		char name[300];

		if (e->filter) {
			snprintf(name, sizeof(name), "events/%s/%s/filter", probes->group,
				 e->kernel);
			rc = ftfiles_set(&s->files, name, e->filter, &why);
		}
		snprintf(name, sizeof(name), "events/%s/%s/enable", probes->group, e->kernel);
		if (!rc)
			rc = ftfiles_set(&s->files, name, "1", &why);
	}
	if (rc)
		diag_error(s->d, NULL, -1, "%s", buf_str(&why));
	buf_release(&why);
	return rc;
}

int setup_on(struct setup *s, bool on)
{
	struct buf why = BUF_INIT;
	int rc = ftfiles_write(&s->files, "tracing_on", on ? "1" : "0", &why);

	/* What has been longest before the buffer was on has left nothing in it. */
	if (!rc && on && fttext_is(s->c->tracer))
		rc = ftfiles_set(&s->files, "tracing_max_latency", "0", &why);

	if (rc)
		diag_error(s->d, NULL, -1, "%s", buf_str(&why));
	buf_release(&why);
	return rc;
}

void setup_release(struct setup *s)
{
	free(s->events.v);
	buf_release(&s->clock);
	arena_release(&s->arena);
}
