/* Probes for as long as a recording runs. */
#include "inplace/inplace.h"

#include "base/array.h"
#include "base/err.h"
#include "inplace/maker.h"
#include "base/buf.h"
#include "probe/probe_lists.h"
#include "base/intern.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

/* ---- removing groups of probes: our own, and those of recorders that are gone ---- */

#define BUSY_TRIES 40 /* the kernel lets go of an event a while after it was closed */
#define BUSY_MS	   50

struct walk {
	const char *group; /* NULL: those whose recorder is gone */
	struct intern names;
	int rc;
};

/* Names of a group, or the groups. */
static int collect(void *ctx, const char *name, const char *line)
{
	struct walk *w = ctx;
	const char *slash = strchr(name, '/');
	size_t n = slash ? (size_t)(slash - name) : 0;
	char group[OWNER_GROUP_MAX + 1];
	uint32_t id;

	(void)line;
	if (!n || n >= sizeof(group))
		return 0;
	memcpy(group, name, n);
	group[n] = 0;
	if (w->group)
		return strcmp(group, w->group)
			       ? 0
			       : intern_add(&w->names, name, strlen(name), &id, NULL);
	return owner_gone(group) ? intern_add(&w->names, group, n, &id, NULL) : 0;
}

/* Kernels before 5.14 do not know groups here. */
static int remove_each(const struct tracefs *t, enum tracefs_list list, const char *group,
		       struct buf *why)
{
	struct walk w = {.group = group};
	int rc = tracefs_each(t, list, collect, &w);

	for (uint32_t id = 1; !rc && id <= w.names.n; id++)
		rc = tracefs_remove(t, list, intern_get(&w.names, id, NULL), why);
	intern_release(&w.names);
	return rc;
}

static bool is_there(const struct tracefs *t, enum tracefs_list list, const char *group)
{
	struct walk w = {.group = group};
	bool there = tracefs_each(t, list, collect, &w) || w.names.n;

	intern_release(&w.names);
	return there;
}

/*
 * All events of a group; `patient`: it waits a while for those in use. 0, or a code with the reason
 * in `why`.
 */
static int sweep_group(const struct tracefs *t, enum tracefs_list list, const char *group,
		       bool patient, struct buf *why)
{
	char all[OWNER_GROUP_MAX + 2];
	struct timespec pause = {.tv_nsec = BUSY_MS * 1000000};
	int rc = 0, tries = patient ? BUSY_TRIES : 1;

	snprintf(all, sizeof(all), "%s/", group);
	for (int i = 0; i < tries; i++) {
		rc = tracefs_remove(t, list, all, why);
		if (rc)
			rc = remove_each(t, list, group, why);
		if (!is_there(t, list, group))
			return 0;
		if (i + 1 < tries) {
			buf_reset(why);
			nanosleep(&pause, NULL);
		}
	}
	return rc ? rc : PP_EIO;
}

/*
 * Removes the probes of recorders that have exited, of which there are *n. 0, or an error of
 * reading that was reported; what is in use stays, with a warning.
 */
static int inplace_sweep(const struct tracefs *t, unsigned *n, struct diag *d)
{
	*n = 0;
	for (int list = 0; list < TRACEFS_LISTS; list++) {
		struct walk w = {0};
		struct buf why = BUF_INIT;
		int rc = tracefs_each(t, (enum tracefs_list)list, collect, &w);

		if (rc) {
			diag_error(d, t->dir, -1, "%s", pp_strerror(rc));
			intern_release(&w.names);
			return rc;
		}
		for (uint32_t id = 1; id <= w.names.n; id++) {
			const char *group = intern_get(&w.names, id, NULL);

			buf_reset(&why);
			if (sweep_group(t, (enum tracefs_list)list, group, false, &why)) {
				diag_warn(d, NULL, -1,
					  "probes of a recorder that has exited remain: %s",
					  buf_str(&why));
			} else {
				diag_note(d, NULL, -1,
					  "removed the probes of a recorder that has exited: %s",
					  group);
				++*n;
			}
		}
		buf_release(&why);
		intern_release(&w.names);
	}
	return 0;
}

int inplace_clean(const char *dir, struct diag *d)
{
	struct tracefs t;
	unsigned n;
	int rc = tracefs_open(&t, dir, d);

	return rc ? rc : inplace_sweep(&t, &n, d);
}

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

/* What becomes of the lines of some definitions. */
struct making {
	const char *filter;
	bool together; /* they are places of one event */
	bool patterns; /* what the kernel refuses is left out */
	uint32_t made, refused;
	struct buf first;		 /* why it refused the first */
	bool at_once;			 /* lines are only collected: */
	struct buf lines[TRACEFS_LISTS]; /* for each list */
};

/* The event that the places of some definitions are of, and the number of the next one. */
static uint32_t next_place(const struct inplace *in, const struct probe_line *l, char *kernel)
{
	uint32_t n = 0;

	snprintf(kernel, LINE_NAME_MAX + 1, "%c_places_%d_%u", l->kind[0], (int)l->list,
		 in->batches);
	for (unsigned i = in->n; i-- > 0 && in->v[i].batch == in->batches;)
		if (in->v[i].place > n && !strcmp(in->v[i].kernel, kernel))
			n = in->v[i].place;
	return n + 1;
}

/* Groups of several definitions are one in the kernel: NAME, NAME_1, ... */
static void choose_name(const struct inplace *in, const struct probe_line *l, char *kernel)
{
	memcpy(kernel, l->event, sizeof(l->event));
	for (unsigned k = 1; kernel_name_taken(in, kernel); k++) {
		char number[12];

		snprintf(number, sizeof(number), "_%u", k);
		snprintf(kernel, LINE_NAME_MAX + 1, "%.*s%s", (int)(LINE_NAME_MAX - strlen(number)),
			 l->event, number);
	}
}

/* The event of a line: one that is there, or a new one. NULL: no memory, or too many. */
static struct inplace_event *find_event(struct inplace *in, const struct probe_line *l,
					const struct making *m)
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
	*e = (struct inplace_event){.batch = in->batches, .filter = m->filter};
	memcpy(e->group, l->group, sizeof(e->group));
	memcpy(e->event, l->event, sizeof(e->event));
	if (m->together)
		e->place = next_place(in, l, e->kernel);
	else
		choose_name(in, l, e->kernel);
	in->n++;
	return e;
}

/* The line for the kernel's list. What it records besides does not matter to a place. */
static int add_line(struct inplace *in, struct probe_line *l, const struct inplace_event *e,
		    struct making *m, struct buf *why)
{
	struct buf line = BUF_INIT;
	int rc;

	if (e->place)
		l->rest_len = strcspn(l->rest, " \t\n");
	line_write(l, in->group, e->kernel, &line);
	if (e->place)
		buf_addf(&line, " place=\\%u:u32", (unsigned)e->place);
	in->used[l->list] = true;
	rc = line.err;
	if (!rc && m->at_once)
		buf_addf(&m->lines[l->list], "%s\n", buf_str(&line));
	else if (!rc)
		rc = tracefs_add(&in->tracefs, l->list, buf_str(&line), why);
	buf_release(&line);
	return rc;
}

static int make_line(struct inplace *in, const char *text, size_t n, struct making *m,
		     struct diag *d)
{
	struct buf why = BUF_INIT;
	struct probe_line l;
	struct inplace_event *e;
	unsigned before = in->n;
	int rc = line_parse(&l, text, n, &why);

	e = rc ? NULL : find_event(in, &l, m);
	if (!rc && !e) {
		rc = in->n == INPLACE_EVENTS_MAX ? PP_ELIMIT : PP_ENOMEM;
		buf_addf(&why, "more than %d functions or events: use a narrower pattern",
			 INPLACE_EVENTS_MAX);
	} else if (!rc && !tracefs_has(&in->tracefs, l.list)) {
		rc = PP_EUNSUPPORTED;
		buf_addf(&why, "this kernel has no %s",
			 l.list == TRACEFS_UPROBES   ? "uprobes"
			 : l.list == TRACEFS_DYNAMIC ? "fprobes"
						     : "kprobes");
	} else if (!rc) {
		rc = add_line(in, &l, e, m, &why);
		m->made += !rc;
		if (rc && rc != PP_ENOMEM && m->patterns) {
			in->n = before; /* an event that has other lines stays */
			m->refused++;
			if (!m->first.len)
				buf_adds(&m->first, buf_str(&why));
			rc = 0;
		}
	}
	if (rc)
		diag_error(d, NULL, -1, "no probe: %s",
			   why.len && rc != PP_ENOMEM ? buf_str(&why) : pp_strerror(rc));
	buf_release(&why);
	return rc;
}

/* How many events lines are of, as far as that matters: lines of one event come together. */
static unsigned count_events(const char *text)
{
	unsigned n = 0;
	const char *last = "";
	size_t last_len = 0;

	while (*text) {
		size_t len = strcspn(text, " \n");

		if (len && (len != last_len || memcmp(text, last, len) != 0))
			n++;
		last = text;
		last_len = len;
		text += strcspn(text, "\n");
		text += *text == '\n';
	}
	return n;
}

static int make_each(struct inplace *in, const char *text, struct making *m, struct diag *d)
{
	int rc = 0;

	while (!rc && *text) {
		size_t n = strcspn(text, "\n");

		if (strspn(text, " \t") < n)
			rc = make_line(in, text, n, m, d);
		text += n + (text[n] == '\n');
	}
	return rc;
}

/* Hundreds of lines in one call, which takes half the time. False: one of them was refused. */
static bool make_at_once(struct inplace *in, const char *text, struct making *m, struct diag *d,
			 int *rc)
{
	unsigned before = in->n;
	bool good = true;

	m->at_once = true;
	*rc = make_each(in, text, m, d);
	m->at_once = false;
	for (int i = 0; i < TRACEFS_LISTS; i++) {
		if (!*rc && m->lines[i].len &&
		    tracefs_add_all(&in->tracefs, (enum tracefs_list)i, &m->lines[i]))
			good = false;
		buf_release(&m->lines[i]);
	}
	for (unsigned i = before; !good && i < in->n; i++) {
		char name[OWNER_GROUP_MAX + LINE_NAME_MAX + 2];
		struct buf why = BUF_INIT;

		snprintf(name, sizeof(name), "%s/%s", in->group, in->v[i].kernel);
		for (int k = 0; in->v[i].place == 1 && k < TRACEFS_LISTS; k++)
			if (in->used[k])
				tracefs_remove(&in->tracefs, (enum tracefs_list)k, name, &why);
		buf_release(&why);
	}
	if (!good) {
		in->n = before;
		m->made = 0;
	}
	return good;
}

static int make_lines(struct inplace *in, const char *text, struct making *m, struct diag *d)
{
	int rc = 0;

	m->together = in->counting && !m->filter && count_events(text) > INPLACE_APART;
	if (!m->together || !make_at_once(in, text, m, d, &rc))
		rc = make_each(in, text, m, d);
	if (!rc && m->refused && !m->made) {
		diag_error(d, NULL, -1, "the kernel takes none of %u probes: %s", m->refused,
			   buf_str(&m->first));
		rc = PP_EUNSUPPORTED;
	} else if (!rc && m->refused) {
		diag_warn(d, NULL, -1, "%u of %u places left out: %s", m->refused,
			  m->refused + m->made, buf_str(&m->first));
	}
	buf_release(&m->first);
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
			       .each = in->counting && !a->filter,
			       .texts = texts,
			       .n = n,
			       .mask = in->held ? &in->old_mask : NULL};
	struct making making = {.filter = a->filter};
	struct buf lines = BUF_INIT;
	char pid[16];
	int rc;

	for (unsigned i = 0; i < n; i++) {
		texts[i] = words->v[first + i].text;
		making.patterns |= texts[i][strcspn(texts[i], "*?[ \t")] > ' ';
	}
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
		rc = make_lines(in, buf_str(&lines), &making, d);
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
			rc = make_lines(in, a->text, &(struct making){.filter = a->filter}, d);
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

/* The names of an event's places: the texts live in the list's arena. */
static int name_places(const struct inplace *in, const char *kernel, struct pevents *e,
		       struct pevent *ev)
{
	const char **names;
	uint32_t n = 0;

	for (unsigned i = 0; i < in->n; i++)
		n += !strcmp(in->v[i].kernel, kernel);
	names = arena_zalloc(&e->arena, n * sizeof(*names));
	ev->places = names;
	ev->n_places = n;
	for (unsigned i = 0; names && i < in->n; i++) {
		const struct inplace_event *v = &in->v[i];
		struct buf name = BUF_INIT;

		if (strcmp(v->kernel, kernel) != 0)
			continue;
		buf_addf(&name, "%s:%s", v->group, v->event);
		names[v->place - 1] = name.err ? NULL : arena_dup(&e->arena, name.data, name.len);
		names = names[v->place - 1] ? names : NULL;
		buf_release(&name);
	}
	return names ? 0 : PP_ENOMEM;
}

/* The name by which an event that was added last is shown. */
static int show_as(const struct inplace_event *v, struct pevents *e, struct pevent *ev)
{
	struct buf name = BUF_INIT;

	buf_addf(&name, "%s:%s", v->group, v->kernel);
	ev->shown = arena_dup(&e->arena, v->group, strlen(v->group));
	ev->name = name.err ? NULL : arena_dup(&e->arena, name.data, name.len);
	buf_release(&name);
	return ev->shown && ev->name ? 0 : PP_ENOMEM;
}

static int add_event(const struct inplace *in, const struct inplace_event *v, struct pevents *e,
		     const char *cgroup, struct buf *why)
{
	struct buf name = BUF_INIT;
	int rc;

	buf_addf(&name, "%s:%s", in->group, v->kernel);
	rc = name.err ? name.err : pevents_add(e, buf_str(&name), why);
	buf_release(&name);
	if (!rc && v->filter)
		rc = pevents_filter(e, v->filter, why);
	if (!rc && cgroup)
		rc = pevents_cgroups(e, cgroup, why);
	if (!rc && e->n > e->last)
		rc = show_as(v, e, &e->v[e->n - 1]);
	if (!rc && v->place && e->n > e->last)
		rc = name_places(in, v->kernel, e, &e->v[e->n - 1]);
	return rc;
}

static int add_events(const struct inplace *in, struct pevents *e, const char *cgroup,
		      struct diag *d)
{
	struct buf why = BUF_INIT;
	int rc = 0;

	/* The first of its places stands for an event that has many. */
	for (unsigned i = 0; i < in->n && !rc; i++)
		if (in->v[i].place <= 1)
			rc = add_event(in, &in->v[i], e, cgroup, &why);
	if (rc)
		diag_error(d, NULL, -1, "%s", why.len ? buf_str(&why) : pp_strerror(rc));
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
