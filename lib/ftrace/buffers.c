/* Buffers that stay: they go on recording when the program that made them has ended. */
#include "ftrace/parts.h"

#include "base/err.h"
#include "base/out.h"
#include "ftrace/journal.h"
#include "inplace/owner.h"
#include "pevent/sysfile.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

#define TOP "top" /* the name of what is no instance */

/* ---- which buffer ---- */

static int no_instance(void *ctx, const char *path, const char *value, size_t len)
{
	(void)value;
	(void)len;
	snprintf(ctx, PATH_MAX, "%s", path);
	return 0;
}

/*
 * The files of a buffer: one of ours, another instance, or the top. *ours: it has a journal, which
 * is open then.
 */
static int find(const char *name, struct ftfiles *f, struct journal *j, bool *ours, struct diag *d)
{
	const char *root;
	char dir[PATH_MAX] = "", path[PATH_MAX];
	int rc = setup_root(&root, d);

	*j = (struct journal)JOURNAL_NONE;
	*ours = false;
	if (rc)
		return rc;
	*ours = !journal_open(j, root, name, d);
	if (*ours)
		rc = journal_each(j, JOURNAL_INSTANCE, no_instance, dir);
	else if (strcmp(name, TOP) != 0)
		snprintf(dir, sizeof(dir), "instances/%.200s", name);
	if (!rc && (snprintf(path, sizeof(path), "%s/%s", root, dir) >= PATH_MAX ||
		    strstr(dir, "..") || access(path, F_OK))) {
		diag_error(d, NULL, -1, "there is no buffer '%s'; --status lists the existing ones",
			   name);
		rc = PP_ENOENT;
	}
	if (rc)
		journal_leave(j);
	/* What is written here is no setting that is to be given back. */
	ftfiles_init(f, root, dir, NULL);
	return rc;
}

static int tell(int rc, struct buf *why, struct diag *d)
{
	if (rc)
		diag_error(d, NULL, -1, "%s", why->len ? buf_str(why) : pp_strerror(rc));
	buf_release(why);
	return rc;
}

/* ---- the beginning ---- */

/* "by root since 2026-11-27 07:00:00: pcap-ftrace --start x -e sched" */
static int sign(struct journal *j, const struct ftrace_config *c)
{
	struct buf by = BUF_INIT;
	time_t t = time(NULL);
	struct tm tm;
	char when[32] = "";
	int rc;

	if (localtime_r(&t, &tm))
		strftime(when, sizeof(when), "%Y-%m-%d %H:%M:%S", &tm);
	buf_addf(&by, "by user %ld since %s:", (long)getuid(), when);
	for (int i = 0; i < c->argc; i++) {
		buf_addc(&by, ' ');
		buf_add_safe(&by, c->argv[i], strlen(c->argv[i]));
	}
	rc = by.err ? by.err : journal_add(j, JOURNAL_BY, "-", buf_str(&by), by.len);
	buf_release(&by);
	return rc;
}

static bool sets_nothing(const struct ftrace_config *c)
{
	return !c->n_events && !c->tracer;
}

static int make(const struct ftrace_config *c, struct journal *j, const char *root, struct diag *d)
{
	struct setup s = {.c = c, .d = d, .root = root, .journal = j};
	int rc = sign(j, c);

	if (!rc)
		rc = setup_begin(&s, NULL);
	if (!rc)
		rc = setup_on(&s, true);
	setup_release(&s);
	return rc;
}

int ftrace_start(const struct ftrace_config *c, const char *name, struct diag *d)
{
	struct journal j;
	const char *root;
	unsigned swept;
	int rc = setup_root(&root, d);

	if (!rc && sets_nothing(c))
		return ftrace_switch(name, true, d);
	if (!rc && !strcmp(name, TOP)) {
		diag_error(d, NULL, -1, "'%s' is not an instance: use another name", TOP);
		return PP_EUSAGE;
	}
	if (!rc)
		rc = journal_sweep(root, &swept, d);
	if (!rc)
		rc = journal_begin(&j, root, name, false, d);
	if (rc)
		return rc;
	rc = make(c, &j, root, d);
	if (!rc) {
		journal_leave(&j);
		return 0;
	}
	if (journal_undo(&j, 0))
		journal_leave(&j);
	else
		journal_end(&j);
	return rc;
}

/* ---- while it is there ---- */

static int write_one(const char *name, const char *file, const char *value, struct diag *d)
{
	struct buf why = BUF_INIT;
	struct journal j;
	struct ftfiles f;
	bool ours;
	int rc = find(name, &f, &j, &ours, d);

	if (rc)
		return rc;
	rc = ftfiles_write(&f, file, value, &why);
	journal_leave(&j);
	return tell(rc, &why, d);
}

int ftrace_switch(const char *name, bool on, struct diag *d)
{
	return write_one(name, "tracing_on", on ? "1" : "0", d);
}

int ftrace_clear(const char *name, struct diag *d)
{
	return write_one(name, "trace", "\n", d);
}

/*
 * While a buffer's text is open, nothing is recorded, if the option says so: to read what is
 * recorded causes new events, without end. If we are killed, the watcher restores the option, and
 * the kernel closes the text.
 */
struct pause {
	struct journal journal;
	int held; /* the text; -1: none */
	bool begun;
	sigset_t mask; /* of signals, before */
};

#define NO_PAUSE \
	{ \
		.journal = JOURNAL_NONE, .held = -1 \
	}

static void pause_end(struct pause *p)
{
	if (p->held >= 0)
		close(p->held);
	if (journal_undo(&p->journal, 0))
		journal_leave(&p->journal);
	journal_end(&p->journal);
	/* If the reader of the output is gone, this ends the program. */
	if (p->begun)
		sigprocmask(SIG_SETMASK, &p->mask, NULL);
	p->begun = false;
}

static void block_sigpipe(struct pause *p)
{
	sigset_t set;

	sigemptyset(&set);
	sigaddset(&set, SIGPIPE);
	p->begun = !sigprocmask(SIG_BLOCK, &set, &p->mask);
}

/* Before Linux 5.8 this is not an option: it is always so. */
static int set_pause(const struct ftfiles *f, struct pause *p, struct buf *why, struct diag *d)
{
	char path[PATH_MAX], group[OWNER_GROUP_MAX + 1];
	struct ftfiles top;
	bool own;
	int rc;

	ftfiles_path(f, "options/pause-on-trace", path, &own);
	if ((!own && *f->dir) || access(path, F_OK))
		return 0;
	rc = owner_group(group);
	if (rc)
		buf_addf(why, "/proc: %s", pp_strerror(rc));
	if (!rc)
		rc = journal_begin(&p->journal, f->root, group, true, d);
	ftfiles_init(&top, f->root, "", &p->journal);
	/* Several readers of one buffer share it: the last one restores it. */
	return rc ? rc : ftfiles_set(&top, path + strlen(f->root) + 1, "1", why);
}

/* Until pause_end the buffer records nothing. */
static int pause_begin(const struct ftfiles *f, struct pause *p, struct diag *d)
{
	char path[PATH_MAX];
	struct buf why = BUF_INIT;
	bool own;
	int rc;

	*p = (struct pause)NO_PAUSE;
	block_sigpipe(p);
	rc = set_pause(f, p, &why, d);
	if (!rc) {
		ftfiles_path(f, "trace", path, &own);
		p->held = open(path, O_RDONLY | O_CLOEXEC);
		rc = p->held < 0 ? pp_errno(errno) : 0;
		if (rc)
			buf_addf(&why, "%s: %s", path, pp_strerror(rc));
	}
	if (rc)
		pause_end(p);
	return why.len ? tell(rc, &why, d) : rc; /* what has no words here was reported */
}

/* A file of tracefs as it is, which may be long. */
static int print_file(const struct ftfiles *f, const char *name, int to, struct diag *d)
{
	char path[PATH_MAX];
	bool own;
	int from, rc = 0;
	struct buf b = BUF_INIT;

	ftfiles_path(f, name, path, &own);
	from = open(path, O_RDONLY | O_CLOEXEC);
	if (from < 0) {
		diag_error(d, path, -1, "%s", strerror(errno));
		return pp_errno(errno);
	}
	while (!rc) {
		ssize_t n;

		buf_reset(&b);
		if (buf_reserve(&b, 65536)) {
			rc = b.err;
			break;
		}
		n = read(from, b.data, 65536);
		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0) {
			rc = n ? pp_errno(errno) : 0;
			break;
		}
		rc = out_write_all(to, b.data, (size_t)n);
	}
	close(from);
	buf_release(&b);
	if (rc && rc != PP_EPIPE)
		diag_error(d, path, -1, "%s", pp_strerror(rc));
	return rc;
}

/* The same of these CPUs, one after the other, or of all together. */
static int print_cpus(const struct ftfiles *f, const char *name, const char *cpus, int to,
		      struct diag *d)
{
	char path[64];
	size_t n;
	int *v, rc;

	if (!cpus)
		return print_file(f, name, to, d);
	rc = cpulist_parse(cpus, &v, &n);
	if (rc) {
		diag_error(d, NULL, -1, "'%s' is not a list of CPUs", cpus);
		return rc;
	}
	for (size_t i = 0; i < n && !rc; i++) {
		snprintf(path, sizeof(path), "per_cpu/cpu%d/%s", v[i], name);
		rc = print_file(f, path, to, d);
	}
	free(v);
	return rc;
}

int ftrace_show(const char *name, const char *cpus, int fd, struct diag *d)
{
	struct journal j;
	struct ftfiles f;
	struct pause p;
	bool ours;
	int rc = find(name, &f, &j, &ours, d);

	if (rc)
		return rc;
	journal_leave(&j);
	rc = pause_begin(&f, &p, d);
	if (rc)
		return rc;
	rc = print_cpus(&f, "trace", cpus, fd, d);
	pause_end(&p);
	return rc;
}

int ftrace_snapshot(const char *name, const char *cpus, int fd, struct diag *d)
{
	struct buf why = BUF_INIT, had = BUF_INIT;
	struct journal j;
	struct ftfiles f;
	bool ours, free_it;
	int rc = find(name, &f, &j, &ours, d);

	if (rc)
		return rc;
	journal_leave(&j);
	if (!ftfiles_has(&f, "snapshot")) {
		diag_error(d, NULL, -1, "this kernel has no snapshots (CONFIG_TRACER_SNAPSHOT)");
		return PP_EUNSUPPORTED;
	}
	ftfiles_read(&f, "snapshot", &had);
	free_it = strstr(buf_str(&had), "Snapshot is freed") != NULL;
	buf_release(&had);
	rc = ftfiles_write(&f, "snapshot", "1", &why);
	if (!rc)
		rc = print_cpus(&f, "snapshot", cpus, fd, d);
	/* It takes as much memory as the buffer. */
	if (free_it && !rc)
		rc = ftfiles_write(&f, "snapshot", "0", &why);
	if (why.len)
		return tell(rc, &why, d);
	return rc;
}

/* ---- extract ---- */

struct extraction {
	struct setup s;
	struct head head;
	struct names names;
	struct rounds rounds;
	struct twriter file;
	struct pause pause;
};

static int open_file(struct extraction *x, const struct ftrace_config *c)
{
	struct buf clock = BUF_INIT;
	size_t index;
	int rc = twriter_begin(&x->file, c->output, &x->head.file, c->version, c->pack_level,
			       x->s.d);

	trace_add_clock(&clock, buf_str(&x->head.file.clock));
	if (!rc)
		rc = clock.err ? clock.err
			       : twriter_buffer(&x->file, "", buf_str(&clock),
						x->head.file.page_size, &index);
	buf_release(&clock);
	return rc;
}

static int take_pages(void *ctx, size_t buffer, int cpu, uint8_t *pages, size_t n)
{
	return twriter_pages(ctx, buffer, cpu, pages, n);
}

/* All that is in the buffer. */
static int extract_pages(struct extraction *x)
{
	uint64_t got = 1;
	int rc = ftrounds_open(&x->rounds, &x->s, &x->head, "trace_pipe_raw");

	x->rounds.fixed = true;
	while (!rc && got)
		rc = ftrounds_pass(&x->rounds, take_pages, &x->file, &got);
	return rc;
}

static int extract_text(struct extraction *x)
{
	struct buf text = BUF_INIT;
	int rc = fttext_read(&x->s.files, &text, x->s.d);

	if (!rc)
		rc = twriter_text(&x->file, 0, buf_str(&text), text.len);
	buf_release(&text);
	return rc;
}

static int end_file(struct extraction *x)
{
	struct buf names = BUF_INIT, stats = BUF_INIT;
	int rc;

	comms_all(&x->names, &names);
	ftrounds_stats(&x->rounds, "", &stats);
	rc = names.err ? names.err : stats.err;
	if (!rc)
		rc = twriter_end(&x->file, &names, &stats);
	buf_release(&names);
	buf_release(&stats);
	return rc;
}

static int begin_extraction(struct extraction *x)
{
	int rc = head_read(&x->head, &x->s, 1, true);

	if (!rc)
		rc = comms_begin(&x->names);
	return rc ? rc : comms_look(&x->names, &x->s.files);
}

static int end_extraction(struct extraction *x, int rc)
{
	if (rc == PP_ENOMEM)
		diag_error(x->s.d, NULL, -1, "%s", pp_strerror(rc));
	ftrounds_close(&x->rounds);
	pause_end(&x->pause);
	twriter_release(&x->file);
	comms_release(&x->names);
	head_release(&x->head);
	setup_release(&x->s);
	return rc;
}

int ftrace_extract(const struct ftrace_config *c, const char *name, struct diag *d,
		   struct ftrace_stats *st)
{
	struct extraction x = {.s = {.c = c, .d = d}, .file = {.fd = -1}, .pause = NO_PAUSE};
	struct journal j;
	bool ours;
	int rc = find(name, &x.s.files, &j, &ours, d);

	if (rc)
		return rc;
	journal_leave(&j);
	x.s.root = x.s.files.root;
	/* What is read for the head of the file would take the place of what was recorded. */
	rc = pause_begin(&x.s.files, &x.pause, d);
	if (!rc)
		rc = begin_extraction(&x);
	if (!rc)
		rc = open_file(&x, c);
	if (!rc)
		rc = fttext_has(&x.s.files) ? extract_text(&x) : extract_pages(&x);
	if (!rc)
		rc = end_file(&x);
	for (size_t i = 0; i < x.rounds.n; i++)
		st->bytes += x.rounds.cpus[i].bytes;
	st->lost = ftrounds_tell(&x.rounds, ": older events are gone", d);
	return end_extraction(&x, rc);
}

/* A file of pages that was left: of which buffer, of which CPU. */
static int take_part(void *ctx, const char *buffer, int cpu)
{
	struct extraction *x = ctx;
	size_t index;
	int rc = 0;

	for (index = 0; index < x->file.n; index++)
		if (!strcmp(x->file.buffers[index].name, buffer))
			break;
	if (index == x->file.n) {
		const char *name = arena_dup(&x->s.arena, buffer, strlen(buffer));

		rc = name ? twriter_buffer(&x->file, name, buf_str(&x->file.buffers[0].clock),
					   x->head.file.page_size, &index)
			  : PP_ENOMEM;
	}
	return rc ? rc : twriter_cpu(&x->file, index, cpu);
}

static int count_part(void *ctx, const char *buffer, int cpu)
{
	(void)buffer;
	(void)cpu;
	++*(unsigned *)ctx;
	return 0;
}

int ftrace_restore(const struct ftrace_config *c, const char *file, struct diag *d)
{
	struct extraction x = {.s = {.c = c, .d = d}, .file = {.fd = -1}, .pause = NO_PAUSE};
	unsigned parts = 0;
	int rc = setup_root(&x.s.root, d);

	if (!rc) {
		ftfiles_init(&x.s.files, x.s.root, "", NULL);
		rc = trace_parts(file, count_part, &parts);
	}
	if (!rc && !parts) {
		diag_error(d, file, -1, "there is no %s.cpu0, nor one of another CPU or buffer",
			   file);
		rc = PP_ENOENT;
	}
	if (!rc)
		rc = begin_extraction(&x);
	if (!rc)
		rc = open_file(&x, c);
	twriter_from(&x.file, file);
	if (!rc)
		rc = trace_parts(file, take_part, &x);
	if (!rc)
		rc = end_file(&x);
	return end_extraction(&x, rc);
}

/* ---- the end ---- */

static int reset_one(const char *root, const char *name, struct diag *d)
{
	struct journal j;
	int rc = journal_open(&j, root, name, d);

	if (rc) {
		diag_error(d, NULL, -1, "this program has set up no buffer '%s'", name);
		return rc;
	}
	rc = journal_undo(&j, 0);
	if (rc)
		journal_leave(&j);
	else
		journal_end(&j);
	return rc;
}

struct reset {
	const char *root;
	struct diag *d;
	int rc;
};

static int reset_ours(void *ctx, const char *name)
{
	struct reset *r = ctx;
	int rc;

	/* A recorder that works gives back itself. */
	if (!strncmp(name, OWNER_PREFIX, strlen(OWNER_PREFIX)))
		return 0;
	rc = reset_one(r->root, name, r->d);
	r->rc = r->rc ? r->rc : rc;
	return 0;
}

int ftrace_reset(const char *name, struct diag *d)
{
	struct reset r = {.d = d};
	unsigned n;
	int rc = setup_root(&r.root, d);

	if (rc)
		return rc;
	if (name)
		return reset_one(r.root, name, d);
	rc = journal_sweep(r.root, &n, d);
	if (!rc)
		rc = journal_names(reset_ours, &r);
	return rc ? rc : r.rc;
}
