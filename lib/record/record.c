/* The recording itself: header, what exists already, then the rings until it is over. */
#include "record/record.h"

#include "base/err.h"
#include "perfdata/format.h"
#include "pevent/sysfile.h"
#include "record/parts.h"
#include "record/perfmap.h"

#include <errno.h>
#include <poll.h>
#include <sched.h>
#include <stdlib.h>
#include <sys/epoll.h>
#include <sys/resource.h>
#include <sys/signalfd.h>
#include <sys/syscall.h>
#include <sys/timerfd.h>
#include <unistd.h>

/*
 * A round ends at least so often, for readers that follow live: what came in it is in order when
 * the next one ends, so that one does not have to wait for further events.
 */
#define TICK_MS	   100
#define SOON_MS	   40 /* ... after a round that had any */
#define KEEP_MS	   10 /* ... with --bundle: files may be gone soon; and for deep stacks */
#define EVENTS_MAX 64 /* taken from one epoll_wait */

static int watch(struct recorder *r, int fd, uint32_t events, uint64_t what)
{
	struct epoll_event e = {.events = events, .data.u64 = what};

	if (epoll_ctl(r->epoll, EPOLL_CTL_ADD, fd, &e))
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
	sigaddset(&set, SIGUSR2); /* one that nothing waits for is not to end the recording */
	r->signals = signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK);
	sigaddset(&set, SIGPIPE); /* a reader that has gone is an error of write */
	sigaddset(&set, SIGXFSZ); /* likewise a file as large as it may be (setrlimit(2)) */
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
	sigaddset(&set, SIGXFSZ);
	sigaddset(&set, SIGUSR2); /* one that nothing waits for is not to end the recording */
	while (sigtimedwait(&set, NULL, &now) > 0)
		;
	sigprocmask(SIG_SETMASK, &r->old_mask, NULL);
}

/*
 * One event of each CPU and thread: it tells of the shared ring, and of the thread's end. The last
 * one is the tracker, if there is one, and then is everywhere.
 */
static int watch_events(struct recorder *r)
{
	const struct rec_attr *a = &r->s.attrs[r->s.n_attrs - 1];

	for (size_t i = 0; i < r->s.t.n_cpus * r->s.t.n_tids; i++) {
		struct epoll_event e = {.events = EPOLLIN, .data.u64 = OF_RING + i};

		if (a->fds[i] < 0)
			continue;
		if (!epoll_ctl(r->epoll, EPOLL_CTL_ADD, a->fds[i], &e))
			r->watched++;
		else if (errno != EEXIST)
			return os_error(r, "epoll");
	}
	return 0;
}

/* --while: a descriptor of a process tells of its end (Linux 5.3); without them it is asked for. */
static int watch_process(struct recorder *r)
{
	if (!r->c->while_pid)
		return 0;
	r->process = (int)syscall(SYS_pidfd_open, r->c->while_pid, 0);
	if (r->process >= 0)
		return watch(r, r->process, EPOLLIN, OF_PROCESS);
	if (errno == ENOSYS && (!kill(r->c->while_pid, 0) || errno == EPERM))
		return 0;
	diag_error(r->d, NULL, -1, "--while: process %d: %s", (int)r->c->while_pid,
		   strerror(errno));
	return errno == ESRCH ? PP_ENOENT : PP_EIO;
}

static int watch_all(struct recorder *r)
{
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
	if (!rc && r->control >= 0)
		rc = watch(r, r->control, EPOLLIN, OF_CONTROL);
	r->cpus = online_listen();
	if (!rc && r->cpus >= 0)
		rc = watch(r, r->cpus, EPOLLIN, OF_CPUS);
	if (!rc)
		rc = watch_process(r);
	return rc ? rc : watch_events(r);
}

/* The next moment at which something is to be done, in ns from the start; 0: none. */
static uint64_t next_deadline(const struct recorder *r)
{
	const struct record_config *c = r->c;
	uint64_t next = c->duration_ns;

	if (r->span < c->n_spans) {
		const struct record_span *s = &c->spans[r->span];
		uint64_t at = r->on ? s->to : s->from ? s->from : 1;

		if (at && (!next || at < next))
			next = at;
	}
	if (c->switch_ns) {
		uint64_t at = r->file_began - r->started + c->switch_ns;

		if (!next || at < next)
			next = at;
	}
	return next;
}

static int set_timer(struct recorder *r)
{
	struct itimerspec t = {0};
	uint64_t at = next_deadline(r);

	if (!at)
		return 0;
	at += r->started;
	t.it_value.tv_sec = (time_t)(at / 1000000000u);
	t.it_value.tv_nsec = (long)(at % 1000000000u);
	return timerfd_settime(r->timer, TFD_TIMER_ABSTIME, &t, NULL) ? os_error(r, "timerfd") : 0;
}

/* Does what is due: spans of --delay begin and end, and the recording ends. */
static int on_timer(struct recorder *r)
{
	uint64_t now = now_ns(CLOCK_MONOTONIC) - r->started;
	uint64_t ignored;

	if (read(r->timer, &ignored, sizeof(ignored)) < 0 && errno != EAGAIN)
		return os_error(r, "timerfd");
	while (r->span < r->c->n_spans) {
		const struct record_span *s = &r->c->spans[r->span];

		if (!r->on && now >= s->from) {
			session_enable(&r->s, true, NULL);
			r->on = true;
		} else if (r->on && s->to && now >= s->to) {
			session_enable(&r->s, false, NULL);
			r->on = false;
			r->stop |= ++r->span == r->c->n_spans;
		} else {
			break;
		}
	}
	r->stop |= r->c->duration_ns && now >= r->c->duration_ns;
	return set_timer(r);
}

static int start(struct recorder *r)
{
	int errnum = 0, rc = 0;

	r->started = r->file_began = now_ns(CLOCK_MONOTONIC);
	if (session_sees_others(r->c) && !r->c->n_spans && !r->c->disabled)
		session_enable(&r->s, true, NULL);
	/* Scripts that make probes first take a while to come here. */
	if (r->c->tally && r->c->while_pid)
		diag_say(r->d, NULL, "recording has begun%s",
			 r->c->duration_ns ? "" : "; Control-C ends it");
	rc = set_timer(r);
	if (rc || !r->c->command)
		return rc;
	rc = command_start(&r->command, &errnum);
	if (!rc && !errnum)
		return 0;
	diag_error(r->d, NULL, -1, "cannot execute %s: %s", r->c->command[0],
		   rc ? pp_strerror(rc) : strerror(errnum));
	/* "-g dwarf" is an old mistake. */
	if (errnum == ENOENT &&
	    (!strcmp(r->c->command[0], "dwarf") || !strcmp(r->c->command[0], "fp") ||
	     !strcmp(r->c->command[0], "lbr")))
		diag_error(r->d, NULL, -1, "-g takes no argument: use --call-graph %s",
			   r->c->command[0]);
	return rc ? rc : errnum == ENOENT ? PP_ENOENT : PP_EIO;
}

/* Signals that came; SIGCHLD may be the command's end. */
static void take_signals(struct recorder *r)
{
	struct signalfd_siginfo info;
	ssize_t n;

	while ((n = read(r->signals, &info, sizeof(info))) == sizeof(info)) {
		if (info.ssi_signo == SIGUSR2)
			r->snap = true;
		else if (info.ssi_signo != SIGCHLD || (r->c->command && command_ended(&r->command)))
			r->stop = true;
	}
	if (n < 0 && errno != EAGAIN && errno != EINTR)
		r->stop = true; /* nothing else could end it */
}

static int take_event(struct recorder *r, const struct epoll_event *e)
{
	const struct rec_attr *a = &r->s.attrs[r->s.n_attrs - 1];

	switch (e->data.u64) {
	case OF_SIGNAL: take_signals(r); break;
	case OF_TIMER: return on_timer(r);
	case OF_CONTROL: return control_take(r);
	case OF_CPUS:
		online_hear(&r->s.online, r->cpus);
		r->next_look = 0;
		break;
	case OF_PROCESS: r->stop = true; break;
	case OF_SINK:
		if (e->events & EPOLLERR)
			return PP_EPIPE;
		break;
	default:
		if (!(e->events & (EPOLLHUP | EPOLLERR)))
			break;
		/* The thread and all that it has started have ended, or the CPU is gone. */
		epoll_ctl(r->epoll, EPOLL_CTL_DEL, a->fds[e->data.u64 - OF_RING], NULL);
		/* A command is over when it can be waited for, which is soon. */
		if (!--r->watched && !r->s.hotplug && !r->command.pid)
			r->stop = true;
	}
	return 0;
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

/* Whatever is still in the rings, and the end of a file. */
static int end_output(struct recorder *r, bool last)
{
	int rc = r->c->snapshot ? rounds_snapshot(r) : rounds_pass(r, true);

	if (!rc)
		rc = rounds_end(r, last);
	return out_error(r, rc);
}

/* SIGUSR2, and limits of size and time. */
static int take_limits(struct recorder *r)
{
	bool snap = r->snap;
	int rc = 0;

	if (files_due(r)) {
		rc = end_output(r, false);
		if (!rc)
			rc = files_switch(r, false);
		if (!rc)
			rc = begin_output(r);
		rc = rc ? rc : set_timer(r);
	} else if (snap && r->c->snapshot) {
		rc = out_error(r, rounds_snapshot(r));
	}
	r->snap = false;
	if (r->c->max_size && r->bytes + r->sink.bytes + sink_waiting(&r->sink) >= r->c->max_size) {
		diag_note(r->d, NULL, -1, "the recording ends: --max-size is reached");
		r->stop = true;
	}
	return rc;
}

/* What there is so far, for people who watch a terminal. */
static void show(const struct recorder *r)
{
	const struct ring_counts *n = &r->counts;
	double bytes = (double)(r->bytes + r->sink.bytes);

	if (n->lost)
		diag_show(r->d, "%llu samples, %.1f MB, %llu events lost",
			  (unsigned long long)n->samples, bytes / 1e6, (unsigned long long)n->lost);
	else
		diag_show(r->d, "%llu samples, %.1f MB", (unsigned long long)n->samples,
			  bytes / 1e6);
}

/* Milliseconds to wait for events. */
static int patience(const struct recorder *r)
{
	bool often = r->c->bundle || (r->counts.looks && looks_active(r->counts.looks));

	return often ? KEEP_MS : r->open ? SOON_MS : TICK_MS;
}

/* What nothing tells of: CPUs that came and went, the end of a process without a descriptor. */
static int look(struct recorder *r)
{
	uint64_t now = now_ns(CLOCK_MONOTONIC);
	bool came;
	int rc;

	if (now < r->next_look)
		return 0;
	r->next_look = now + TICK_MS * 1000000ull;
	if (r->c->while_pid && r->process < 0 && kill(r->c->while_pid, 0) && errno == ESRCH)
		r->stop = true;
	if (r->s.sift.on && !sift_any_left(&r->s.sift))
		r->stop = true;
	rc = hotplug_look(&r->s, &came);
	if (rc)
		return out_error(r, rc);
	return came ? watch_events(r) : 0;
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
		n = epoll_wait(r->epoll, events, EVENTS_MAX, patience(r));
		if (n < 0 && errno != EINTR)
			return os_error(r, "epoll");
		for (int i = 0; i < n && !rc; i++)
			rc = take_event(r, &events[i]);
		if (!rc)
			rc = out_error(r, rounds_pass(r, false));
		if (!rc && !r->stop)
			rc = take_limits(r);
		if (!rc && !r->stop)
			rc = look(r);
		show(r);
	}
	return rc;
}

static int finish(struct recorder *r)
{
	int rc;

	session_enable(&r->s, false, NULL);
	rc = end_output(r, true);
	return rc ? rc : drain(r);
}

/* Where samples have their call chain; see "struct perf_event_sample" in perf_event_open(2). */
static size_t chain_at(const struct session *s)
{
	const struct perf_event_attr *attr = &s->attrs[0].attr;
	uint64_t type = attr->sample_type;
	uint64_t before = PERF_SAMPLE_IDENTIFIER | PERF_SAMPLE_IP | PERF_SAMPLE_TID |
			  PERF_SAMPLE_TIME | PERF_SAMPLE_ADDR | PERF_SAMPLE_CPU |
			  PERF_SAMPLE_PERIOD;

	if (s->events->n != 1 || !(type & PERF_SAMPLE_CALLCHAIN) ||
	    type & (PERF_SAMPLE_READ | PERF_SAMPLE_STACK_USER) ||
	    attr->branch_sample_type & PERF_SAMPLE_BRANCH_CALL_STACK)
		return 0;
	return sizeof(struct perf_event_header) + 8 * (size_t)__builtin_popcountll(type & before);
}

/*
 * To look at each record takes a fifth of the time that a recording of tracepoints takes. It finds
 * samples to count, and throttling, which tracepoints do not have.
 */
static bool look_at_all(const struct recorder *r)
{
	for (size_t i = 0; i < r->s.events->n; i++)
		if (r->s.attrs[i].attr.type != PERF_TYPE_TRACEPOINT)
			return true;
	return r->c->tally || r->c->overhead || r->c->bundle || r->c->namespaces;
}

static int run(struct recorder *r)
{
	int rc = control_open(r);

	if (!rc)
		rc = watch_all(r);
	r->lost = calloc(r->s.n_rows, sizeof(*r->lost));
	r->counts.chain_at = chain_at(&r->s);
	r->counts.all = look_at_all(r);
	r->counts.namespaces = r->c->namespaces;
	r->counts.trimmed = r->s.copies ? &r->s : NULL;
	if (r->s.copies && !r->c->no_touch &&
	    (!(r->counts.holes = holes_new()) || !(r->counts.looks = looks_new(&r->s))))
		rc = PP_ENOMEM;
	if (r->s.copy_cut && !(r->counts.alike = alike_new(r->s.copy_cut)))
		rc = PP_ENOMEM;
	r->counts.sifted = r->s.sift.on ? &r->s : NULL;
	if (!rc && !r->lost)
		rc = PP_ENOMEM;
	if (!rc)
		rc = begin_output(r);
	if (!rc)
		rc = start(r);
	if (rc)
		return rc;
	rc = loop(r);
	return rc ? rc : finish(r);
}

static uint64_t micros(const struct timeval *t)
{
	return (uint64_t)t->tv_sec * 1000000u + (uint64_t)t->tv_usec;
}

/* --overhead: what recording took of the machine, as far as this process can see. */
static void tell_overhead(const struct recorder *r)
{
	double elapsed = (double)(now_ns(CLOCK_MONOTONIC) - r->began) / 1e9;
	struct rusage u;
	double user, sys;

	if (getrusage(RUSAGE_SELF, &u))
		return;
	user = (double)micros(&u.ru_utime) / 1e6;
	sys = (double)micros(&u.ru_stime) / 1e6;
	diag_say(r->d, NULL,
		 "recording took %.3f s user and %.3f s system time in %.3f s, %.2f %% of a CPU; "
		 "%.1f MB/s written, %.0f samples/s",
		 user, sys, elapsed, 100 * (user + sys) / elapsed,
		 (double)(r->bytes + r->sink.bytes) / 1e6 / elapsed,
		 (double)r->counts.samples / elapsed);
}

static int check(const struct record_config *c, struct diag *d)
{
	const struct target_want *w = &c->whom;
	const char *wrong = NULL;
	bool cgroup;

	if (!w->all_cpus && !target_has_tasks(w) && !c->command)
		wrong = "nothing to record: all CPUs, processes or a command";
	else if ((w->pids != NULL) + (w->tids != NULL) + (w->user != NULL) > 1)
		wrong = "processes, threads and a user cannot be combined (-p, -t, -u)";
	else if (c->per_thread && (w->all_cpus || w->cpus))
		wrong = "--per-thread is for processes, threads or a command, on any CPU";
	else if (c->period && (c->freq || c->freq_max))
		wrong = "either a period or a frequency can be given";
	else if (c->disabled && !c->control)
		wrong = "--delay=-1 needs --control, by which events are enabled";
	cgroup = c->cgroup != NULL;
	for (size_t i = 0; i < c->events.n; i++)
		cgroup |= c->events.v[i].cgroup != NULL;
	if (cgroup && target_has_tasks(w) && !wrong)
		wrong = "a cgroup and processes cannot be combined (--cgroup, -p, -t, -u)";
	if (wrong)
		diag_error(d, NULL, -1, "%s", wrong);
	return wrong ? PP_EUSAGE : 0;
}

static int set_priority(struct recorder *r)
{
	struct sched_param p = {.sched_priority = r->c->realtime};
	struct buf why = BUF_INIT;
	bool denied;

	if (!r->c->realtime || !sched_setscheduler(0, SCHED_FIFO, &p))
		return 0;
	denied = errno == EPERM;
	buf_adds(&why, strerror(errno));
	if (denied) {
		buf_adds(&why, ": ");
		sysfile_need_root(&why, "CAP_SYS_NICE");
		buf_adds(&why, ", or raise ulimit -r");
	}
	diag_error(r->d, NULL, -1, "--realtime: %s", buf_str(&why));
	buf_release(&why);
	return PP_EACCES;
}

static void close_fd(int fd)
{
	if (fd >= 0)
		close(fd);
}

static int prepare(struct recorder *r)
{
	const struct record_config *c = r->c;
	int rc = block_signals(r);

	if (!rc && c->command) {
		rc = command_prepare(&r->command, c->command, c->fd == STDOUT_FILENO,
				     c->mask ? c->mask : &r->old_mask);
		if (rc)
			diag_error(r->d, NULL, -1, "cannot start a process: %s", pp_strerror(rc));
	}
	if (!rc)
		rc = set_priority(r);
	if (!rc && r->c->bundle)
		rc = keep_new(&r->counts.keep, r->c->bundle, &r->s, r->d);
	return rc ? rc : session_open(&r->s, r->command.pid);
}

static int record(struct recorder *r, struct record_stats *st)
{
	uint32_t missing = 0;
	bool ran;
	int rc = prepare(r);

	if (!rc && r->c->perf_map)
		perfmap_ask(&r->s, true);
	if (!rc)
		rc = run(r);
	if (!rc && r->c->perf_map)
		perfmap_ask(&r->s, false);
	if (r->counts.keep)
		rc = keep_close(r->counts.keep, rc, &missing);
	ran = r->command.pid == 0;
	command_end(&r->command);
	rounds_tell(r);
	*st = (struct record_stats){
		.samples = r->counts.samples,
		.lost = r->counts.lost,
		.bytes = r->bytes + r->sink.bytes,
		.missing = missing + r->s.unrecorded,
		.command = r->c->command && ran ? command_exit_status(&r->command) : 0,
	};
	if (r->c->overhead)
		tell_overhead(r);
	/* The reader first: the kernel takes 10 ms and more to close a tracepoint. */
	if (rc)
		sink_close(&r->sink);
	else
		rc = files_switch(r, true);
	return rc;
}

int record_run(const struct record_config *c, struct diag *d, struct record_stats *st)
{
	struct recorder r = {.c = c,
			     .d = d,
			     .epoll = -1,
			     .signals = -1,
			     .timer = -1,
			     .cpus = -1,
			     .process = -1,
			     .control = -1,
			     .ack = -1,
			     .began = now_ns(CLOCK_MONOTONIC)};
	struct target_want *whom = &r.own.whom;
	int leaving, rc;

	*st = (struct record_stats){0};
	r.own = *c;
	r.c = &r.own;
	if (whom->all_cpus && target_has_tasks(whom)) {
		diag_warn(d, NULL, -1, "certain tasks are recorded (-p, -t, -u), not all (-a)");
		whom->all_cpus = false;
	}
	rc = check(r.c, d);
	if (rc) {
		close_fd(c->fd);
		return rc;
	}
	r.s.c = r.c;
	r.s.d = d;
	r.command = (struct command)COMMAND_NONE;
	sink_init(&r.sink, c->fd);
	rc = record(&r, st);
	leaving = session_leave(&r.s);
	session_close(&r.s);
	close_fd(leaving);
	buf_release(&r.iov);
	free(r.lost);
	buf_release(&r.files);
	pack_release(&r.pack);
	buf_release(&r.counts.more);
	holes_free(r.counts.holes);
	looks_free(r.counts.looks);
	alike_free(r.counts.alike);
	control_close(&r);
	close_fd(r.epoll);
	close_fd(r.signals);
	close_fd(r.timer);
	close_fd(r.cpus);
	close_fd(r.process);
	restore_signals(&r);
	return rc;
}
