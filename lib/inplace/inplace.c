/* Probes for as long as a recording runs. */
#include "inplace/inplace.h"

#include "base/array.h"
#include "base/err.h"
#include "inplace/maker.h"
#include "inplace/sweep.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- signals ---- */

/* From the first probe on, nothing may end this process before the probes are removed. */
static void hold_signals(struct inplace *in)
{
	sigset_t set;

	sigemptyset(&set);
	sigaddset(&set, SIGINT);
	sigaddset(&set, SIGTERM);
	sigaddset(&set, SIGHUP);
	sigaddset(&set, SIGPIPE);
	in->held = !sigprocmask(SIG_BLOCK, &set, &in->old_mask);
}

/* ---- events ---- */

static bool kernel_name_taken(const struct inplace *in, const char *name)
{
	for (unsigned i = 0; i < in->n; i++)
		if (!strcmp(in->v[i].kernel, name))
			return true;
	return false;
}

/* The event of a line: one that is there, or a new one. NULL: no memory, or too many. */
static struct inplace_event *find_event(struct inplace *in, const struct probe_line *l,
					const char *filter)
{
	struct inplace_event *e;

	for (unsigned i = in->n; i-- > 0 && in->v[i].batch == in->batches;)
		if (!strcmp(in->v[i].group, l->group) && !strcmp(in->v[i].event, l->event))
			return &in->v[i];
	if (in->n == INPLACE_EVENTS_MAX)
		return NULL;
	e = array_widen(in->v, &in->cap, in->n, 16, sizeof(*e));
	if (!e)
		return NULL;
	in->v = e;
	e += in->n;
	*e = (struct inplace_event){.batch = in->batches, .filter = filter};
	memcpy(e->group, l->group, sizeof(e->group));
	memcpy(e->event, l->event, sizeof(e->event));
	memcpy(e->kernel, l->event, sizeof(e->kernel));
	/* Groups of several definitions are one in the kernel: NAME, NAME_1, ... */
	for (unsigned k = 1; kernel_name_taken(in, e->kernel); k++) {
		char number[12];

		snprintf(number, sizeof(number), "_%u", k);
		snprintf(e->kernel, sizeof(e->kernel), "%.*s%s",
			 (int)(LINE_NAME_MAX - strlen(number)), l->event, number);
	}
	in->n++;
	return e;
}

static int make_line(struct inplace *in, const char *text, size_t n, const char *filter,
		     struct diag *d)
{
	struct buf why = BUF_INIT, line = BUF_INIT;
	struct probe_line l;
	struct inplace_event *e;
	int rc = line_parse(&l, text, n, &why);

	e = rc ? NULL : find_event(in, &l, filter);
	if (!rc && !e) {
		rc = in->n == INPLACE_EVENTS_MAX ? PP_ELIMIT : PP_ENOMEM;
		buf_addf(&why, "more than %d events", INPLACE_EVENTS_MAX);
	}
	if (!rc && !tracefs_has(&in->tracefs, l.list)) {
		rc = PP_EUNSUPPORTED;
		buf_addf(&why, "this kernel has no %s",
			 l.list == TRACEFS_UPROBES   ? "uprobes"
			 : l.list == TRACEFS_DYNAMIC ? "fprobes"
						     : "kprobes");
	}
	if (!rc) {
		line_write(&l, in->group, e->kernel, &line);
		in->used[l.list] = true;
		rc = line.err ? line.err : tracefs_add(&in->tracefs, l.list, buf_str(&line), &why);
	}
	if (rc)
		diag_error(d, NULL, -1, "no probe: %s",
			   why.len && rc != PP_ENOMEM ? buf_str(&why) : pp_strerror(rc));
	buf_release(&line);
	buf_release(&why);
	return rc;
}

static int make_lines(struct inplace *in, const char *text, const char *filter, struct diag *d)
{
	int rc = 0;

	while (!rc && *text) {
		size_t n = strcspn(text, "\n");

		if (strspn(text, " \t") < n)
			rc = make_line(in, text, n, filter, d);
		text += n + (text[n] == '\n');
	}
	return rc;
}

/* ---- definitions ---- */

/* Where definitions without a file have theirs from. */
struct source {
	const char *pids;     /* NULL: none */
	char *const *command; /* NULL: none */
};

/* Definitions from `first` on that pprobe can be given at once; at least one. */
static unsigned together(const struct probe_words *w, unsigned first)
{
	const struct probe_word *a = &w->v[first];
	unsigned n = first + 1;

	while (n < w->n && !a->filter && !w->v[n].filter && w->v[n].of == a->of &&
	       w->v[n].file == a->file && !line_is_kernels(w->v[n].text))
		n++;
	return n - first;
}

static int make_by_pprobe(struct inplace *in, const struct probe_words *words, unsigned first,
			  unsigned n, const struct source *from, struct diag *d)
{
	const struct probe_word *a = &words->v[first];
	const char *texts[PROBE_WORDS_MAX];
	struct maker_want m = {.file = a->file,
			       .kernel = a->of == PROBE_OF_KERNEL,
			       .texts = texts,
			       .n = n,
			       .mask = in->held ? &in->old_mask : NULL};
	struct buf lines = BUF_INIT;
	char pid[16];
	int rc;

	for (unsigned i = 0; i < n; i++)
		texts[i] = words->v[first + i].text;
	if (m.kernel) {
		m.file = NULL;
	} else if (from->pids) {
		snprintf(pid, sizeof(pid), "%.*s", (int)strcspn(from->pids, ","), from->pids);
		m.pid = pid;
	} else if (!m.file) {
		m.file = from->command ? from->command[0] : NULL;
	}
	if (!m.kernel && !m.file && !m.pid) {
		diag_error(
			d, NULL, -1,
			"--probe '%s': of which program? -x FILE, -p PID or a command; --kprobe is "
			"for the kernel",
			a->text);
		return PP_EUSAGE;
	}
	rc = maker_run(&m, &lines, d);
	if (!rc)
		rc = make_lines(in, buf_str(&lines), a->filter, d);
	buf_release(&lines);
	return rc;
}

static int make(struct inplace *in, const struct probe_words *w, const struct source *from,
		struct diag *d)
{
	unsigned i = 0, n;
	bool kernels = false; /* so were the words before */
	int rc = 0;

	while (!rc && i < w->n) {
		const struct probe_word *a = &w->v[i];

		n = 1;
		if (line_is_kernels(a->text)) {
			/* Lines of one event may come one by one. */
			in->batches += !kernels || a->filter;
			kernels = true;
			rc = make_lines(in, a->text, a->filter, d);
		} else {
			in->batches++;
			kernels = false;
			n = together(w, i);
			rc = make_by_pprobe(in, w, i, n, from, d);
		}
		i += n;
	}
	return rc;
}

static int add_events(const struct inplace *in, struct pevents *e, const char *cgroup,
		      struct diag *d)
{
	struct buf name = BUF_INIT, why = BUF_INIT;
	int rc = 0;

	for (unsigned i = 0; i < in->n && !rc; i++) {
		const struct inplace_event *v = &in->v[i];
		struct pevent *ev;

		buf_reset(&name);
		buf_addf(&name, "%s:%s", in->group, v->kernel);
		rc = name.err ? name.err : pevents_add(e, buf_str(&name), &why);
		if (!rc && v->filter)
			rc = pevents_filter(e, v->filter, &why);
		if (!rc && cgroup)
			rc = pevents_cgroups(e, cgroup, &why);
		if (rc || e->n == e->last)
			break;
		ev = &e->v[e->n - 1];
		buf_reset(&name);
		buf_addf(&name, "%s:%s", v->group, v->kernel);
		ev->shown = arena_dup(&e->arena, v->group, strlen(v->group));
		ev->name = name.err ? NULL : arena_dup(&e->arena, name.data, name.len);
		if (!ev->shown || !ev->name)
			rc = PP_ENOMEM;
	}
	if (rc)
		diag_error(d, NULL, -1, "%s", why.len ? buf_str(&why) : pp_strerror(rc));
	buf_release(&name);
	buf_release(&why);
	return rc;
}

int inplace_make(struct inplace *in, const struct probe_words *w, const char *pids,
		 char *const *command, struct diag *d)
{
	const struct source from = {pids, command};
	unsigned swept;
	int rc;

	if (!w->n)
		return 0;
	rc = tracefs_open(&in->tracefs, NULL, d);
	if (!rc) {
		rc = owner_group(in->group);
		if (rc)
			diag_error(d, "/proc/self", -1, "%s", pp_strerror(rc));
	}
	if (rc) {
		in->group[0] = 0;
		return rc;
	}
	rc = inplace_sweep(&in->tracefs, &swept, d);
	return rc ? rc : make(in, w, &from, d);
}

int inplace_begin(struct inplace *in, const struct probe_words *w, const char *pids,
		  char *const *command, const char *cgroup, struct pevents *events,
		  const sigset_t **mask, struct diag *d)
{
	int rc;

	if (!w->n)
		return 0;
	hold_signals(in);
	if (in->held)
		*mask = &in->old_mask;
	rc = inplace_make(in, w, pids, command, d);
	return rc ? rc : add_events(in, events, cgroup, d);
}

void inplace_end(struct inplace *in, struct diag *d)
{
	struct buf why = BUF_INIT;

	for (int list = 0; list < TRACEFS_LISTS; list++) {
		buf_reset(&why);
		if (in->used[list] &&
		    sweep_group(&in->tracefs, (enum tracefs_list)list, in->group, true, &why))
			diag_warn(
				d, NULL, -1,
				"probes remain, which the next recording with --probe removes: %s",
				buf_str(&why));
	}
	buf_release(&why);
	free(in->v);
	if (in->held)
		sigprocmask(SIG_SETMASK, &in->old_mask, NULL);
	*in = (struct inplace)INPLACE_NONE;
}
