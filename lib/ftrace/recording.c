/* The life of a recording. */
#include "ftrace/parts.h"

#include "base/err.h"
#include "inplace/inplace.h"
#include "inplace/owner.h"
#include "pevent/online.h"
#include "pevent/sysfile.h"
#include "record/command.h"

#include <errno.h>
#include <inttypes.h>
#include <poll.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#define LIVE_MS 40	     /* between rounds into a pipe */
#define FILE_MS 250	     /* into a file */
#define REST_MS 5	     /* at least, unless there is much to read */
#define MUCH	(256u << 10) /* bytes of a round */
#define LOOK_NS 1000000000u  /* between looks for losses and for new CPUs */

struct recording {
	const struct ftrace_config *c;
	const volatile sig_atomic_t *stop;
	struct diag *d;
	struct journal journal;
	struct setup *setups;  /* of the buffers */
	struct rounds *rounds; /* likewise; none of those that have a text */
	size_t n;
	struct head head;
	struct names names;
	struct twriter file;
	struct live live;
	bool to_file;
	bool woken; /* a buffer was half full */
	struct inplace probes;
	struct command command;
	int process; /* becomes readable when the command ends */
	sigset_t old_mask;
	uint64_t until; /* ns of the monotonic clock; 0: no end */
	uint64_t looked;
	bool told; /* that events are being lost */
	struct pollfd *fds;
};

static uint64_t now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

static void block_signals(sigset_t *old)
{
	sigset_t set;

	sigemptyset(&set);
	sigaddset(&set, SIGCHLD);
	sigaddset(&set, SIGPIPE);
	sigprocmask(SIG_BLOCK, &set, old);
}

/* ---- the command ---- */

static int make_command(struct recording *r)
{
	int rc = command_prepare(&r->command, r->c->command, !r->to_file, &r->old_mask);

	if (rc) {
		diag_error(r->d, NULL, -1, "cannot start a process: %s", pp_strerror(rc));
		return rc;
	}
	for (size_t i = 0; i < r->n; i++)
		r->setups[i].command = r->command.pid;
	r->process = (int)syscall(SYS_pidfd_open, r->command.pid, 0);
	return 0;
}

static int start_command(struct recording *r)
{
	int errnum, rc = command_start(&r->command, &errnum);

	if (rc || errnum) {
		diag_error(r->d, r->c->command[0], -1, "cannot be run: %s",
			   rc ? pp_strerror(rc) : strerror(errnum));
		return rc ? rc : pp_errno(errnum);
	}
	return 0;
}

/* ---- rounds ---- */

static int take_pages(void *ctx, size_t buffer, int cpu, uint8_t *pages, size_t n)
{
	struct recording *r = ctx;

	if (r->to_file)
		return twriter_pages(&r->file, buffer, cpu, pages, n);
	return live_pages(&r->live, buffer, cpu, pages, n);
}

static int file_of(void *ctx, size_t buffer, int cpu)
{
	struct recording *r = ctx;

	return twriter_file(&r->file, buffer, cpu);
}

/* A round: names first, as events come to the reader at once. */
static int one_round(struct recording *r, uint64_t *got)
{
	uint64_t bytes;
	int rc = 0;

	*got = 0;
	for (size_t i = 0; i < r->n && !rc; i++) {
		rc = ftrounds_pass(&r->rounds[i], take_pages, r, &bytes);
		*got += bytes;
	}
	if (!rc && *got)
		rc = comms_look(&r->names, &r->setups->files);
	if (rc || r->to_file) {
		buf_reset(&r->names.news);
		return rc;
	}
	rc = live_names(&r->live, &r->names);
	return rc ? rc : live_round(&r->live);
}

/* Bytes of a round that are an eighth of the smallest buffer. */
static uint64_t an_eighth(const struct recording *r)
{
	uint64_t least = UINT64_MAX;

	for (size_t i = 0; i < r->n; i++)
		if (r->rounds[i].n && r->rounds[i].cpus->buffer_kb * 128 < least)
			least = r->rounds[i].cpus->buffer_kb * 128;
	return least;
}

static bool wakes(const struct recording *r)
{
	bool all = true;

	for (size_t i = 0; i < r->n; i++)
		all &= !r->rounds[i].n || r->rounds[i].wakes;
	return all;
}

/* How long a round may wait. */
static int round_ms(const struct recording *r, uint64_t got)
{
	uint64_t ms = r->to_file ? FILE_MS : LIVE_MS, t = now();

	if (r->c->interval_ns)
		ms = r->c->interval_ns / 1000000;
	/* Where nothing tells how full a buffer is, it is looked at often while much comes. */
	if (!wakes(r) && got > an_eighth(r))
		ms = REST_MS;
	if (r->until && t + ms * 1000000 > r->until)
		ms = r->until > t ? (r->until - t) / 1000000 + 1 : 0;
	return (int)ms;
}

/* The command first, if there is one. */
static int poll_all(struct recording *r, uint64_t got)
{
	size_t n = 0;

	if (r->process >= 0)
		r->fds[n++] = (struct pollfd){.fd = r->process, .events = POLLIN};
	for (size_t i = 0; i < r->n; i++)
		for (size_t k = 0; k < r->rounds[i].n && r->rounds[i].wakes; k++)
			r->fds[n++] =
				(struct pollfd){.fd = r->rounds[i].cpus[k].fd, .events = POLLIN};
	return poll(r->fds, n, round_ms(r, got));
}

/*
 * Waits until it is worth while to read. Kernels that wake up for each event, not when a buffer is
 * half full, are not asked again.
 */
static int wait_for_round(struct recording *r, uint64_t got)
{
	struct timespec rest = {.tv_nsec = REST_MS * 1000000};
	int ready;

	for (size_t i = 0; i < r->n && r->woken && got < an_eighth(r); i++)
		r->rounds[i].wakes = false;
	if (got < MUCH)
		nanosleep(&rest, NULL);
	ready = poll_all(r, got);
	if (ready < 0 && errno != EINTR && errno != EAGAIN)
		return pp_errno(errno);
	r->woken = ready > 0 && !(r->process >= 0 && r->fds[0].revents);
	return 0;
}

/* What would help against losses. */
static const char *advice(const struct recording *r)
{
	bool fixed = false, no_room = false;

	for (size_t i = 0; i < r->n; i++) {
		fixed |= r->rounds[i].fixed;
		no_room |= r->rounds[i].no_room;
	}
	if (fixed)
		return ": larger buffers help (-b), or fewer events";
	return no_room ? ": fewer events help, or a faster reader"
		       : ": -b with a number larger than 8192 helps, or fewer events";
}

/* Who waits for something to happen wants to know before the end that it may be missing. */
static void look_for_losses(struct recording *r)
{
	uint64_t lost = 0;

	for (size_t i = 0; i < r->n && !r->told; i++)
		lost += ftrounds_lost(&r->rounds[i]);
	if (lost)
		diag_warn(r->d, NULL, -1, "events are being lost, %" PRIu64 " so far%s", lost,
			  advice(r));
	r->told |= lost > 0;
}

/*
 * Losses until now, and CPUs that the machine gets while it runs; those that are only offline have
 * buffers already.
 */
static int look_around(struct recording *r)
{
	uint64_t t = now();
	size_t n, sum = 1;
	int *cpus, rc = 0;

	if (r->fds && t - r->looked < LOOK_NS)
		return 0;
	if (r->fds)
		look_for_losses(r);
	r->looked = t;
	if (online_present(&cpus, &n))
		return 0;
	for (size_t i = 0; i < r->n && !rc; i++) {
		if (r->rounds[i].pages && n > r->rounds[i].n)
			rc = ftrounds_more(&r->rounds[i], cpus, n);
		sum += r->rounds[i].n;
	}
	free(cpus);
	if (!rc) {
		struct pollfd *v = realloc(r->fds, sum * sizeof(*v));

		rc = v ? 0 : PP_ENOMEM;
		r->fds = v ? v : r->fds;
	}
	return rc;
}

static bool ended(struct recording *r)
{
	if (*r->stop || (r->until && now() >= r->until))
		return true;
	if (r->c->while_pid && kill(r->c->while_pid, 0) && errno == ESRCH)
		return true;
	return r->c->command && (r->command.pid == 0 || command_ended(&r->command));
}

static int loop(struct recording *r)
{
	uint64_t got = 0;
	int rc = look_around(r);

	while (!rc && !ended(r)) {
		rc = wait_for_round(r, got);
		if (!rc)
			rc = look_around(r);
		if (!rc)
			rc = one_round(r, &got);
	}
	return rc;
}

static int switch_all(struct recording *r, bool on)
{
	int rc = 0;

	for (size_t i = 0; i < r->n && !rc; i++)
		rc = setup_on(&r->setups[i], on);
	return rc;
}

/* What a latency tracer has found. */
static int take_text(struct recording *r, size_t i)
{
	struct buf text = BUF_INIT;
	int rc = fttext_read(&r->setups[i].files, &text, r->d);

	if (!rc && r->to_file)
		rc = twriter_text(&r->file, i, buf_str(&text), text.len);
	else if (!rc)
		rc = live_text(&r->live, i, &text);
	buf_release(&text);
	return rc;
}

/* What is left, up to the last event. */
static int drain(struct recording *r)
{
	uint64_t got = 1;
	int rc = switch_all(r, false);

	while (!rc && got)
		rc = one_round(r, &got);
	for (size_t i = 0; i < r->n; i++)
		ftrounds_count(&r->rounds[i]);
	for (size_t i = 0; i < r->n && !rc; i++)
		if (fttext_is(r->setups[i].c->tracer))
			rc = take_text(r, i);
	return rc;
}

/* ---- beginning and end ---- */

static int open_output(struct recording *r)
{
	r->to_file = r->c->output && strcmp(r->c->output, "-") != 0;
	if (!r->to_file && isatty(STDOUT_FILENO)) {
		diag_error(r->d, NULL, -1,
			   "a recording cannot go to a terminal: -o FILE, or pipe it to pdecode");
		return PP_EUSAGE;
	}
	return 0;
}

static int set_priority(struct recording *r)
{
	struct sched_param p = {.sched_priority = r->c->realtime};

	if (!r->c->realtime || !sched_setscheduler(0, SCHED_FIFO, &p))
		return 0;
	diag_error(r->d, NULL, -1, "--realtime: %s", strerror(errno));
	return PP_EACCES;
}

/* A buffer of the file, with files for the pages of all CPUs that there are. */
static int file_buffer(struct recording *r, size_t i)
{
	const struct setup *s = &r->setups[i];
	struct buf clock = BUF_INIT;
	size_t index;
	int rc;

	trace_add_clock(&clock, buf_str(&s->clock));
	rc = clock.err ? clock.err
		       : twriter_buffer(&r->file, s->c->name, buf_str(&clock),
					r->head.file.page_size, &index);
	buf_release(&clock);
	if (!rc && fttext_is(s->c->tracer))
		return twriter_text(&r->file, index, "", 0);
	for (size_t k = 0; k < r->head.n_cpus && !rc; k++)
		rc = twriter_cpu(&r->file, index, r->head.cpus[k]);
	return rc;
}

static int begin_live(struct recording *r)
{
	struct live_buffer *v = calloc(r->n, sizeof(*v));
	int rc = v ? 0 : PP_ENOMEM;

	for (size_t i = 0; i < r->n && !rc; i++)
		v[i] = (struct live_buffer){r->setups[i].c->name, buf_str(&r->setups[i].clock),
					    fttext_is(r->setups[i].c->tracer)};
	if (!rc)
		rc = live_begin(&r->live, STDOUT_FILENO, &r->head, v, r->n, r->stop, r->d);
	free(v);
	return rc;
}

static int begin_output(struct recording *r)
{
	const struct ftrace_config *c = r->c;
	int rc;

	if (!r->to_file)
		return begin_live(r);
	rc = twriter_begin(&r->file, c->output, &r->head.file, c->version, c->pack_level, r->d);
	for (size_t i = 0; i < r->n && !rc; i++)
		rc = file_buffer(r, i);
	return rc;
}

static uint64_t tell_lost(const struct recording *r, const char *action, struct diag *d)
{
	uint64_t lost = 0;

	for (size_t i = 0; i < r->n; i++)
		lost += ftrounds_tell(&r->rounds[i], action, d);
	return lost;
}

static int end_output(struct recording *r)
{
	struct buf names = BUF_INIT, stats = BUF_INIT;
	int rc;

	if (!r->to_file)
		return live_end(&r->live, tell_lost(r, "", NULL));
	comms_all(&r->names, &names);
	for (size_t i = 0; i < r->n; i++)
		ftrounds_stats(&r->rounds[i], r->file.buffers[i].name, &stats);
	rc = names.err ? names.err : stats.err;
	if (!rc)
		rc = twriter_end(&r->file, &names, &stats);
	buf_release(&names);
	buf_release(&stats);
	return rc;
}

/* Probes that are here for this recording. If we are killed, the watcher removes them. */
static int make_probes(struct recording *r)
{
	static const char *const lists[] = {"uprobe_events", "kprobe_events", "dynamic_events"};
	char undo[OWNER_GROUP_MAX + 8];
	int rc = 0;

	if (!r->c->probes.n)
		return 0;
	snprintf(undo, sizeof(undo), "-:%s/", r->journal.name);
	for (size_t i = 0; i < sizeof(lists) / sizeof(lists[0]) && !rc; i++)
		rc = journal_add(&r->journal, JOURNAL_APPEND, lists[i], undo, strlen(undo));
	if (rc)
		diag_error(r->d, NULL, -1, "%s", pp_strerror(rc));
	return rc ? rc : inplace_make(&r->probes, &r->c->probes, r->c->pids, r->c->command, r->d);
}

/* Each buffer in an instance of its own. */
static int make_buffers(struct recording *r)
{
	char name[JOURNAL_NAME_MAX + FTRACE_NAME_MAX + 3];
	int rc = 0;

	for (size_t i = 0; i < r->n && !rc; i++) {
		struct setup *s = &r->setups[i];

		snprintf(name, sizeof(name), "%s%s%s", r->journal.name, i ? "." : "", s->c->name);
		rc = setup_begin(s, name);
		if (!rc && !i)
			rc = setup_probes(s, &r->probes);
		if (!rc)
			rc = ftfiles_read(&s->files, "trace_clock", &s->clock);
	}
	return rc;
}

static int open_buffers(struct recording *r)
{
	int rc = 0;

	for (size_t i = 0; i < r->n && !rc; i++) {
		r->rounds[i].buffer = i;
		r->rounds[i].to = r->to_file ? file_of : NULL;
		if (!fttext_is(r->setups[i].c->tracer))
			rc = ftrounds_open(&r->rounds[i], &r->setups[i], &r->head,
					   "trace_pipe_raw");
	}
	return rc;
}

static int begin(struct recording *r)
{
	char group[OWNER_GROUP_MAX + 1];
	unsigned swept;
	const char *root;
	int rc = setup_root(&root, r->d);

	for (size_t i = 0; i < r->n; i++)
		r->setups[i].root = root;

	if (!rc)
		rc = open_output(r);
	if (!rc)
		rc = journal_sweep(root, &swept, r->d);
	if (!rc)
		rc = owner_group(group);
	if (!rc)
		rc = journal_begin(&r->journal, root, group, true, r->d);
	if (!rc && r->c->command)
		rc = make_command(r);
	if (!rc)
		rc = set_priority(r);
	if (!rc)
		rc = make_probes(r);
	if (!rc)
		rc = make_buffers(r);
	if (!rc)
		rc = head_read(&r->head, r->setups, r->n, false);
	if (!rc)
		rc = comms_begin(&r->names);
	if (!rc)
		rc = open_buffers(r);
	return rc ? rc : begin_output(r);
}

static int run(struct recording *r)
{
	int rc = r->to_file ? 0 : live_names(&r->live, &r->names);

	if (!rc)
		rc = switch_all(r, true);
	if (!rc && r->c->command)
		rc = start_command(r);
	if (r->c->duration_ns)
		r->until = now() + r->c->duration_ns;
	if (!rc)
		rc = loop(r);
	if (!rc)
		rc = drain(r);
	return rc ? rc : end_output(r);
}

static int finish(struct recording *r, int rc, struct ftrace_stats *st)
{
	uint64_t from = 0;
	int back;

	st->command = r->c->command && !r->command.pid ? command_exit_status(&r->command) : 0;
	command_end(&r->command);
	if (r->process >= 0)
		close(r->process);
	st->lost = tell_lost(r, advice(r), r->d);
	for (size_t i = 0; i < r->n; i++) {
		for (size_t k = 0; k < r->rounds[i].n; k++)
			st->bytes += r->rounds[i].cpus[k].bytes;
		ftrounds_close(&r->rounds[i]);
	}
	back = journal_undo(&r->journal, from);
	inplace_end(&r->probes, r->d);
	if (back)
		journal_leave(&r->journal);
	journal_end(&r->journal);
	twriter_release(&r->file);
	live_release(&r->live);
	comms_release(&r->names);
	head_release(&r->head);
	for (size_t i = 0; i < r->n; i++)
		setup_release(&r->setups[i]);
	free(r->setups);
	free(r->rounds);
	free(r->fds);
	sigprocmask(SIG_SETMASK, &r->old_mask, NULL);
	return rc ? rc : back;
}

static int allocate(struct recording *r)
{
	const struct ftrace_config *c;
	size_t n = 1;

	for (c = r->c->next; c; c = c->next)
		n++;
	r->setups = calloc(n, sizeof(*r->setups));
	r->rounds = calloc(n, sizeof(*r->rounds));
	if (!r->setups || !r->rounds)
		return PP_ENOMEM;
	for (c = r->c; c; c = c->next)
		r->setups[r->n++] = (struct setup){.c = c, .d = r->d, .journal = &r->journal};
	return 0;
}

int ftrace_record(const struct ftrace_config *c, const volatile sig_atomic_t *stop, struct diag *d,
		  struct ftrace_stats *st)
{
	struct recording r = {.c = c,
			      .stop = stop,
			      .d = d,
			      .journal = JOURNAL_NONE,
			      .command = COMMAND_NONE,
			      .probes = INPLACE_NONE,
			      .process = -1,
			      .file = {.fd = -1}};
	int rc;

	*st = (struct ftrace_stats){0};
	block_signals(&r.old_mask);
	rc = allocate(&r);
	if (!rc)
		rc = begin(&r);
	if (!rc)
		rc = run(&r);
	if (rc == PP_ENOMEM)
		diag_error(d, NULL, -1, "%s", pp_strerror(rc));
	return finish(&r, rc, st);
}

int record_wait(const struct ftrace_config *c, const volatile sig_atomic_t *stop, int *status,
		struct diag *d)
{
	struct recording r = {.c = c, .stop = stop, .d = d, .command = COMMAND_NONE, .process = -1};
	int rc = 0;

	block_signals(&r.old_mask);
	if (c->command)
		rc = make_command(&r);
	if (!rc && c->command)
		rc = start_command(&r);
	if (c->duration_ns)
		r.until = now() + c->duration_ns;
	while (!rc && !ended(&r)) {
		struct pollfd p = {.fd = r.process, .events = POLLIN};
		uint64_t t = now(), ms = FILE_MS;

		if (r.until && t + ms * 1000000 > r.until)
			ms = r.until > t ? (r.until - t) / 1000000 + 1 : 0;
		poll(&p, 1, (int)ms);
	}
	*status = c->command && !r.command.pid ? command_exit_status(&r.command) : 0;
	command_end(&r.command);
	if (r.process >= 0)
		close(r.process);
	sigprocmask(SIG_SETMASK, &r.old_mask, NULL);
	return rc;
}
