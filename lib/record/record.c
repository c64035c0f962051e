/* The recording itself: header, what exists already, then the rings until it is over. */
#include "record/record.h"

#include "base/err.h"
#include "perfdata/format.h"
#include "record/parts.h"

#include <errno.h>
#include <limits.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/epoll.h>
#include <sys/signalfd.h>
#include <sys/timerfd.h>
#include <sys/utsname.h>
#include <unistd.h>

/*
 * A round ends at least so often, for readers that follow live: what came in it is in order when
 * the next one ends, so that one does not have to wait for further events.
 */
#define TICK_MS	   100
#define SOON_MS	   40 /* ... after a round that had any */
#define EVENTS_MAX 64 /* taken from one epoll_wait */

/* What epoll reports: these, or OF_RING + index of a descriptor. */
enum of { OF_SIGNAL, OF_TIMER, OF_SINK, OF_RING };

struct recorder {
	const struct record_config *c;
	struct diag *d;
	struct session s;
	struct sink sink;
	struct command command;
	struct ring_counts counts;
	struct iovec *iov; /* two for each ring, one more */
	sigset_t old_mask;
	int epoll, signals, timer;
	size_t watched; /* descriptors of events that live */
	bool open;	/* the last round had records: they are in order when another has ended */
	bool stop;
	bool interrupted; /* a signal has ended it */
};

static int os_error(struct recorder *r, const char *what)
{
	diag_error(r->d, NULL, -1, "%s: %s", what, strerror(errno));
	return PP_EIO;
}

/* Says why the output failed; a reader that is gone is no error to tell. */
static int out_error(struct recorder *r, int rc)
{
	if (rc && rc != PP_EPIPE)
		diag_error(r->d, NULL, -1, "cannot write: %s", strerror(r->sink.errnum));
	return rc;
}

static int watch(struct recorder *r, int fd, uint32_t events, uint64_t what)
{
	struct epoll_event e = {.events = events, .data.u64 = what};

	if (epoll_ctl(r->epoll, EPOLL_CTL_ADD, fd, &e) && errno != EEXIST)
		return os_error(r, "epoll");
	return 0;
}

static int block_signals(struct recorder *r)
{
	sigset_t set;

	sigemptyset(&set);
	sigaddset(&set, SIGINT);
	sigaddset(&set, SIGTERM);
	sigaddset(&set, SIGHUP);
	sigaddset(&set, SIGCHLD);
	r->signals = signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK);
	sigaddset(&set, SIGPIPE); /* a reader that has gone is an error of write */
	sigprocmask(SIG_BLOCK, &set, &r->old_mask);
	return r->signals < 0 ? os_error(r, "signalfd") : 0;
}

/* What came meanwhile was taken note of, and must not kill the caller now. */
static void restore_signals(struct recorder *r)
{
	struct timespec now = {0};
	sigset_t set;

	sigemptyset(&set);
	sigaddset(&set, SIGINT);
	sigaddset(&set, SIGTERM);
	sigaddset(&set, SIGHUP);
	sigaddset(&set, SIGPIPE);
	while (sigtimedwait(&set, NULL, &now) > 0)
		;
	sigprocmask(SIG_SETMASK, &r->old_mask, NULL);
}

static int watch_all(struct recorder *r)
{
	const struct rec_attr *a = &r->s.attrs[0];
	int rc;

	r->epoll = epoll_create1(EPOLL_CLOEXEC);
	if (r->epoll < 0)
		return os_error(r, "epoll");
	r->timer = timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC | TFD_NONBLOCK);
	if (r->timer < 0)
		return os_error(r, "timerfd");
	rc = watch(r, r->signals, EPOLLIN, OF_SIGNAL);
	if (!rc)
		rc = watch(r, r->timer, EPOLLIN, OF_TIMER);
	if (!rc && sink_poll_fd(&r->sink) >= 0)
		rc = watch(r, sink_poll_fd(&r->sink), 0, OF_SINK); /* tells when the reader goes */
	/*
	 * One event of each CPU and thread: it tells of the shared ring, and of the thread's end.
	 */
	for (size_t i = 0; i < r->s.n_cpus * r->s.n_tids && !rc; i++) {
		if (a->fds[i] < 0)
			continue;
		rc = watch(r, a->fds[i], EPOLLIN, OF_RING + i);
		r->watched++;
	}
	return rc;
}

static int put_record(struct recorder *r, uint32_t type, uint16_t misc)
{
	struct perf_event_header h = {.type = type, .misc = misc, .size = sizeof(h)};

	return sink_put(&r->sink, &h, sizeof(h));
}

static int put_bytes(void *ctx, const void *bytes, size_t n)
{
	struct recorder *r = ctx;

	return sink_put(&r->sink, bytes, n);
}

/* The kernel, its modules, and the tasks that the events see. */
static int synthesize(struct recorder *r, struct synth *y)
{
	int rc = synth_kernel(y);

	if (rc == PP_EACCES || rc == PP_ENOENT) {
		diag_note(r->d, NULL, -1,
			  "/proc/kallsyms hides the kernel's addresses (kernel.kptr_restrict): the "
			  "recording does not tell where the kernel lies");
		rc = 0;
	}
	if (!rc)
		rc = synth_modules(y);
	if (!rc && r->c->all_cpus)
		rc = synth_processes(y);
	for (size_t i = 0; i < r->s.n_pids && !rc; i++)
		rc = synth_process(y, r->s.pids[i]);
	return rc ? rc : synth_flush(y);
}

static int begin(struct recorder *r)
{
	struct buf header = BUF_INIT;
	struct utsname u = {0};
	char modules[PATH_MAX];
	struct synth y = {.proc = "/proc", .sys = "/sys", .modules = modules};
	int rc = header_write(&r->s, &header);

	if (!rc)
		rc = sink_put(&r->sink, header.data, header.len);
	buf_release(&header);
	if (rc)
		return out_error(r, rc);
	uname(&u);
	snprintf(modules, sizeof(modules), "/lib/modules/%s", u.release);
	y.id_size = header_sample_id_size(&r->s);
	y.build_ids = true;
	y.data = r->s.c->chains == RECORD_CHAINS_DWARF;
	y.put = put_bytes;
	y.ctx = r;
	rc = synthesize(r, &y);
	synth_release(&y);
	if (!rc)
		rc = put_record(r, PERF_REC_FINISHED_INIT, 0);
	return out_error(r, rc);
}

/* Takes what is in all rings, and ends the round. `force`: even if much is waiting to be written.
 */
static int pass(struct recorder *r, bool force)
{
	struct perf_event_header round = {.type = PERF_REC_FINISHED_ROUND, .size = sizeof(round)};
	size_t n = 0;
	int rc;

	if (sink_waiting(&r->sink) > SINK_MAX && !force)
		return sink_flush(
			&r->sink); /* the rings hold it; the kernel counts what it loses */
	for (size_t i = 0; i < r->s.n_rings; i++)
		n += ring_peek(&r->s.rings[i], r->iov + n, &r->counts);
	if (!n && !r->open)
		return sink_flush(&r->sink);
	r->open = n;
	r->iov[n++] = (struct iovec){&round, sizeof(round)};
	rc = sink_putv(&r->sink, r->iov, n);
	for (size_t i = 0; i < r->s.n_rings; i++)
		ring_done(&r->s.rings[i]);
	return rc;
}

static int start(struct recorder *r)
{
	struct itimerspec t = {0};
	int errnum = 0, rc = 0;

	if (r->s.c->all_cpus || r->s.c->pids)
		session_enable(&r->s, true);
	t.it_value.tv_sec = (time_t)(r->c->duration_ns / 1000000000u);
	t.it_value.tv_nsec = (long)(r->c->duration_ns % 1000000000u);
	if (r->c->duration_ns && timerfd_settime(r->timer, 0, &t, NULL))
		return os_error(r, "timerfd");
	if (!r->c->command)
		return 0;
	rc = command_start(&r->command, &errnum);
	if (!rc && !errnum)
		return 0;
	diag_error(r->d, NULL, -1, "cannot execute %s: %s", r->c->command[0],
		   rc ? pp_strerror(rc) : strerror(errnum));
	return rc ? rc : errnum == ENOENT ? PP_ENOENT : PP_EIO;
}

/* Signals that came; SIGCHLD may be the command's end. */
static void take_signals(struct recorder *r)
{
	struct signalfd_siginfo info;

	while (read(r->signals, &info, sizeof(info)) == sizeof(info)) {
		if (info.ssi_signo != SIGCHLD)
			r->stop = r->interrupted = true;
		else if (r->c->command && command_ended(&r->command))
			r->stop = true;
	}
}

static int take_event(struct recorder *r, const struct epoll_event *e)
{
	switch (e->data.u64) {
	case OF_SIGNAL: take_signals(r); break;
	case OF_TIMER: r->stop = true; break;
	case OF_SINK:
		if (e->events & EPOLLERR)
			return PP_EPIPE;
		break;
	default:
		if (!(e->events & (EPOLLHUP | EPOLLERR)))
			break;
		/* The thread and all that it has started have ended. */
		epoll_ctl(r->epoll, EPOLL_CTL_DEL, r->s.attrs[0].fds[e->data.u64 - OF_RING], NULL);
		if (!--r->watched)
			r->stop = true;
	}
	return 0;
}

static int loop(struct recorder *r)
{
	struct epoll_event events[EVENTS_MAX];
	bool waiting = false;
	int rc = 0;

	while (!rc && !r->stop) {
		bool want = sink_poll_fd(&r->sink) >= 0 && sink_waiting(&r->sink);
		int n;

		if (want != waiting) {
			struct epoll_event e = {.events = want ? EPOLLOUT : 0, .data.u64 = OF_SINK};

			epoll_ctl(r->epoll, EPOLL_CTL_MOD, sink_poll_fd(&r->sink), &e);
			waiting = want;
		}
		n = epoll_wait(r->epoll, events, EVENTS_MAX, r->open ? SOON_MS : TICK_MS);
		if (n < 0 && errno != EINTR)
			return os_error(r, "epoll");
		for (int i = 0; i < n && !rc; i++)
			rc = take_event(r, &events[i]);
		if (!rc)
			rc = pass(r, false);
	}
	return rc;
}

/* The kernel tells of losses in the next record that fits; the last ones are told here. */
static int put_last_losses(struct recorder *r)
{
	struct perf_event_header h = {.type = PERF_REC_LOST};
	uint64_t total, body[2 + 4] = {0}; /* id, lost, sample_id */

	if (!session_lost(&r->s, &total) || total <= r->counts.lost)
		return 0;
	body[0] = r->s.attrs[0].n_ids ? r->s.attrs[0].ids[0] : 0;
	body[1] = total - r->counts.lost;
	r->counts.lost = total;
	h.size = (uint16_t)(sizeof(h) + 16 + header_sample_id_size(&r->s));
	sink_put(&r->sink, &h, sizeof(h));
	return sink_put(&r->sink, body, h.size - sizeof(h));
}

/* Waits until all is written. A second signal ends the wait. */
static int drain(struct recorder *r)
{
	int rc = sink_flush(&r->sink);

	r->stop = false;
	while (!rc && sink_waiting(&r->sink)) {
		struct pollfd p[2] = {{.fd = sink_poll_fd(&r->sink), .events = POLLOUT},
				      {.fd = r->signals, .events = POLLIN}};

		if (poll(p, 2, -1) < 0 && errno != EINTR)
			return os_error(r, "poll");
		if (p[1].revents) {
			take_signals(r);
			if (r->stop) {
				diag_error(r->d, NULL, -1, "interrupted: %zu bytes are not written",
					   sink_waiting(&r->sink));
				return PP_ECUT;
			}
		}
		rc = sink_flush(&r->sink);
	}
	return out_error(r, rc);
}

static int finish(struct recorder *r)
{
	int rc;

	session_enable(&r->s, false);
	rc = pass(r, true);
	if (!rc)
		rc = put_last_losses(r);
	if (!rc)
		rc = put_record(r, PERF_REC_FINISHED_ROUND, PERF_MISC_END_MARK);
	return rc ? out_error(r, rc) : drain(r);
}

static int run(struct recorder *r)
{
	int rc = watch_all(r);

	r->iov = calloc(2 * r->s.n_rings + 1, sizeof(*r->iov));
	if (!rc && !r->iov)
		rc = PP_ENOMEM;
	if (!rc)
		rc = begin(r);
	if (!rc)
		rc = start(r);
	if (rc)
		return rc;
	rc = loop(r);
	return rc ? out_error(r, rc) : finish(r);
}

static void tell_losses(struct recorder *r)
{
	if (r->counts.lost)
		diag_warn(r->d, NULL, -1,
			  "%llu events lost: the ring buffers were full (see -m, -F)",
			  (unsigned long long)r->counts.lost);
	if (r->counts.throttled)
		diag_note(
			r->d, NULL, -1,
			"the kernel paused sampling %llu times (perf_event_max_sample_rate, or idle)",
			(unsigned long long)r->counts.throttled);
}

static int check(const struct record_config *c, struct diag *d)
{
	const char *wrong = NULL;

	if (!c->all_cpus && !c->pids && !c->command)
		wrong = "nothing to record: all CPUs, processes or a command";
	else if (c->all_cpus && c->pids)
		wrong = "either all CPUs or processes can be recorded";
	else if (c->cpus && !c->all_cpus)
		wrong = "CPUs are chosen when all processes are recorded";
	else if (c->period && (c->freq || c->freq_max))
		wrong = "either a period or a frequency can be given";
	if (wrong)
		diag_error(d, NULL, -1, "%s", wrong);
	return wrong ? PP_EUSAGE : 0;
}

static void close_fd(int fd)
{
	if (fd >= 0)
		close(fd);
}

int record_run(const struct record_config *c, struct diag *d, struct record_stats *st)
{
	struct recorder r = {.c = c, .d = d, .epoll = -1, .signals = -1, .timer = -1};
	int rc = check(c, d);

	*st = (struct record_stats){0};
	if (rc) {
		close_fd(c->fd);
		return rc;
	}
	r.s.c = c;
	r.s.d = d;
	r.command = (struct command)COMMAND_NONE;
	sink_init(&r.sink, c->fd);
	rc = block_signals(&r);
	if (!rc && c->command) {
		rc = command_prepare(&r.command, c->command, c->fd == STDOUT_FILENO, &r.old_mask);
		if (rc)
			diag_error(d, NULL, -1, "cannot start a process: %s", pp_strerror(rc));
	}
	if (!rc)
		rc = session_open(&r.s, r.command.pid);
	if (!rc)
		rc = run(&r);
	command_end(&r.command);
	tell_losses(&r);
	*st = (struct record_stats){r.counts.samples, r.counts.lost, r.sink.bytes};
	/* The reader first: the kernel takes 10 ms and more to close a tracepoint. */
	if (sink_close(&r.sink) && !rc)
		rc = out_error(&r, r.sink.err);
	session_close(&r.s);
	free(r.iov);
	close_fd(r.epoll);
	close_fd(r.signals);
	close_fd(r.timer);
	restore_signals(&r);
	return rc;
}
