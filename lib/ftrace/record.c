/* The life of a recording. */
#include "ftrace/parts.h"

#include "base/err.h"
#include "inplace/inplace.h"
#include "inplace/owner.h"
#include "pevent/sysfile.h"
#include "record/command.h"

#include <errno.h>
#include <poll.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#define LIVE_MS 40  /* between rounds into a pipe */
#define FILE_MS 250 /* into a file */
#define REST_MS 5   /* at least, unless there is much to read */

struct recording {
	const struct ftrace_config *c;
	const volatile sig_atomic_t *stop;
	struct diag *d;
	struct journal journal;
	struct setup setup;
	struct head head;
	struct names names;
	struct rounds rounds;
	struct datfile file;
	struct live live;
	bool to_file;
	bool woken; /* a buffer was half full */
	struct inplace probes;
	struct command command;
	int process; /* becomes readable when the command ends */
	sigset_t old_mask;
	uint64_t until; /* ns of the monotonic clock; 0: no end */
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
	r->setup.command = r->command.pid;
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

static int take_pages(void *ctx, size_t cpu, uint8_t *pages, size_t n)
{
	struct recording *r = ctx;

	if (r->to_file)
		return datfile_pages(&r->file, cpu, pages, n);
	return live_pages(&r->live, r->rounds.cpus[cpu].cpu, pages, n);
}

/* A round: names first, as events come to the reader at once. */
static int one_round(struct recording *r, uint64_t *got)
{
	int rc = ftrounds_pass(&r->rounds, take_pages, r, got);

	if (!rc && *got)
		rc = comms_look(&r->names, &r->setup.files);
	if (rc || r->to_file) {
		buf_reset(&r->names.news);
		return rc;
	}
	rc = live_names(&r->live, &r->names);
	return rc ? rc : live_round(&r->live);
}

/* How long a round may wait. */
static int round_ms(const struct recording *r, uint64_t got)
{
	uint64_t ms = r->to_file ? FILE_MS : LIVE_MS, t = now();

	if (r->c->interval_ns)
		ms = r->c->interval_ns / 1000000;
	/* Where nothing tells how full a buffer is, it is looked at often while much comes. */
	if (!r->rounds.wakes && got > r->rounds.cpus[0].buffer_kb * 128)
		ms = REST_MS;
	if (r->until && t + ms * 1000000 > r->until)
		ms = r->until > t ? (r->until - t) / 1000000 + 1 : 0;
	return (int)ms;
}

/*
 * Waits until it is worth while to read. Kernels that wake up for each event, not when a buffer is
 * half full, are not asked again.
 */
static int wait_for_round(struct recording *r, struct pollfd *fds, uint64_t got)
{
	struct timespec rest = {.tv_nsec = REST_MS * 1000000};
	size_t n = 0;
	int ready;

	if (r->woken && got < r->rounds.cpus[0].buffer_kb * 128)
		r->rounds.wakes = false;
	if (r->process >= 0)
		fds[n++] = (struct pollfd){.fd = r->process, .events = POLLIN};
	for (size_t i = 0; i < r->rounds.n && r->rounds.wakes; i++)
		fds[n++] = (struct pollfd){.fd = r->rounds.cpus[i].fd, .events = POLLIN};
	if (got < r->rounds.cap)
		nanosleep(&rest, NULL);
	ready = poll(fds, n, round_ms(r, got));
	if (ready < 0 && errno != EINTR && errno != EAGAIN)
		return pp_errno(errno);
	r->woken = ready > 0 && !(r->process >= 0 && fds[0].revents);
	return 0;
}

static bool ended(struct recording *r)
{
	if (*r->stop || (r->until && now() >= r->until))
		return true;
	return r->c->command && (r->command.pid == 0 || command_ended(&r->command));
}

static int loop(struct recording *r)
{
	struct pollfd *fds = calloc(r->rounds.n + 1, sizeof(*fds));
	uint64_t got = 0;
	int rc = fds ? 0 : PP_ENOMEM;

	while (!rc && !ended(r)) {
		rc = wait_for_round(r, fds, got);
		if (!rc)
			rc = one_round(r, &got);
	}
	free(fds);
	return rc;
}

/* What is left, up to the last event. */
static int drain(struct recording *r)
{
	uint64_t got = 1;
	int rc = setup_on(&r->setup, false);

	while (!rc && got)
		rc = one_round(r, &got);
	return rc;
}

/* ---- beginning and end ---- */

static int open_output(struct recording *r)
{
	r->to_file = r->c->output && strcmp(r->c->output, "-") != 0;
	if (!r->to_file && isatty(STDOUT_FILENO)) {
		diag_error(r->d, NULL, -1,
			   "a recording is not for a terminal: -o FILE, or pipe it to pdecode");
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

static int begin_output(struct recording *r)
{
	const struct ftrace_config *c = r->c;

	if (r->to_file)
		return datfile_begin(&r->file, c->output, &r->head, c->version, c->pack_level,
				     r->d);
	return live_begin(&r->live, STDOUT_FILENO, &r->head, r->stop, r->d);
}

static int end_output(struct recording *r)
{
	if (r->to_file)
		return datfile_end(&r->file, &r->names, &r->rounds);
	return live_end(&r->live, ftrounds_tell(&r->rounds, "", NULL));
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

static int begin(struct recording *r)
{
	char group[OWNER_GROUP_MAX + 1];
	unsigned swept;
	int rc = setup_root(&r->setup.root, r->d);

	if (!rc)
		rc = open_output(r);
	if (!rc)
		rc = journal_sweep(r->setup.root, &swept, r->d);
	if (!rc)
		rc = owner_group(group);
	if (!rc)
		rc = journal_begin(&r->journal, r->setup.root, group, true, r->d);
	if (!rc && r->c->command)
		rc = make_command(r);
	if (!rc)
		rc = set_priority(r);
	if (!rc)
		rc = make_probes(r);
	if (!rc)
		rc = setup_begin(&r->setup, NULL);
	if (!rc)
		rc = setup_probes(&r->setup, &r->probes);
	if (!rc)
		rc = head_read(&r->head, &r->setup, false);
	if (!rc)
		rc = comms_begin(&r->names);
	if (!rc)
		rc = ftrounds_open(&r->rounds, &r->setup, &r->head, "trace_pipe_raw");
	return rc ? rc : begin_output(r);
}

static int run(struct recording *r)
{
	int rc = r->to_file ? 0 : live_names(&r->live, &r->names);

	if (!rc)
		rc = setup_on(&r->setup, true);
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

/* What would help against losses. */
static const char *advice(const struct recording *r)
{
	if (r->rounds.fixed)
		return ": larger buffers help (-b), or fewer events";
	return r->rounds.no_room ? ": fewer events help, or a faster reader"
				 : ": -b with a larger number than 4096 helps, or fewer events";
}

static int finish(struct recording *r, int rc, struct ftrace_stats *st)
{
	uint64_t from = 0;
	int back;

	st->command = r->c->command && !r->command.pid ? command_exit_status(&r->command) : 0;
	command_end(&r->command);
	if (r->process >= 0)
		close(r->process);
	for (size_t i = 0; i < r->rounds.n; i++)
		st->bytes += r->rounds.cpus[i].bytes;
	st->lost = ftrounds_tell(&r->rounds, advice(r), r->d);
	ftrounds_close(&r->rounds);
	back = journal_undo(&r->journal, from);
	inplace_end(&r->probes, r->d);
	if (back)
		journal_leave(&r->journal);
	journal_end(&r->journal);
	datfile_release(&r->file);
	live_release(&r->live);
	comms_release(&r->names);
	head_release(&r->head);
	setup_release(&r->setup);
	sigprocmask(SIG_SETMASK, &r->old_mask, NULL);
	return rc ? rc : back;
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
	r.setup.c = c;
	r.setup.d = d;
	r.setup.journal = &r.journal;
	block_signals(&r.old_mask);
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
