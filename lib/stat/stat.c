/* Runs: start, wait, read; again as often as is asked for; then the table. */
#include "stat/stat.h"

#include "base/array.h"
#include "base/err.h"
#include "pevent/sysfile.h"
#include "stat/parts.h"
#include "table/count_table.h"

#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/signalfd.h>
#include <sys/syscall.h>
#include <sys/timerfd.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define NS	 STAT_NS
#define TICK_NS	 100000000u /* how often threads are looked for that may have ended */
#define GRACE_MS 200	    /* for a command that was interrupted together with us */
#define EVENTS	 16

/* What epoll reports. */
enum of {
	OF_SIGNAL,
	OF_TIMER,
	OF_TICK,
	OF_CONTROL,
	OF_PROCESS,
	OF_CPUS,
	OF_WHILE,
	OF_PLACES = STAT_WATCH_PLACES
};

/* What ends the wait, and what to do meanwhile. */
struct wait {
	uint64_t end, interval; /* CLOCK_MONOTONIC ns; 0: none */
	uint64_t intervals;	/* still to come */
	size_t processes;	/* that still run */
	int *pidfds;
	bool stop;
};

static int os_error(const struct counting *s, const char *what)
{
	diag_error(s->d, NULL, -1, "%s: %s", what, strerror(errno));
	return PP_EIO;
}

/* ---- signals ---- */

static int block_signals(struct counting *s)
{
	sigset_t set;

	sigemptyset(&set);
	sigaddset(&set, SIGINT);
	sigaddset(&set, SIGTERM);
	sigaddset(&set, SIGHUP);
	sigaddset(&set, SIGCHLD);
	s->signals = signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK);
	sigaddset(&set, SIGPIPE);
	sigprocmask(SIG_BLOCK, &set, &s->old_mask);
	return s->signals < 0 ? os_error(s, "signalfd") : 0;
}

/* What came meanwhile was taken note of, and must not kill the caller now. */
static void restore_signals(struct counting *s)
{
	static const int taken[] = {SIGINT, SIGTERM, SIGHUP, SIGPIPE};
	struct timespec now = {0};
	sigset_t set;

	sigemptyset(&set);
	for (size_t i = 0; i < sizeof(taken) / sizeof(taken[0]); i++)
		sigaddset(&set, taken[i]);
	while (sigtimedwait(&set, NULL, &now) > 0)
		;
	sigprocmask(SIG_SETMASK, &s->old_mask, NULL);
}

static int take_signals(struct counting *s, struct wait *w)
{
	struct signalfd_siginfo info;
	ssize_t n;

	while ((n = read(s->signals, &info, sizeof(info))) == sizeof(info)) {
		if (info.ssi_signo != SIGCHLD)
			s->interrupted = w->stop = true;
		else if (s->command.pid && command_ended(&s->command))
			w->stop = true;
	}
	return n < 0 && errno != EAGAIN && errno != EINTR ? os_error(s, "signalfd") : 0;
}

/* A command that the same Ctrl-C has reached is about to end: its last counts belong to it. */
static void await_interrupted(struct counting *s)
{
	struct timespec t = {0, GRACE_MS * 1000000};
	sigset_t child;

	sigemptyset(&child);
	sigaddset(&child, SIGCHLD);
	if (s->interrupted && s->command.pid && !command_ended(&s->command) &&
	    sigtimedwait(&child, NULL, &t) > 0)
		command_ended(&s->command);
}

/* ---- waiting ---- */

static int watch(struct counting *s, int fd, enum of what)
{
	struct epoll_event e = {.events = EPOLLIN, .data.u64 = what};

	return epoll_ctl(s->epoll, EPOLL_CTL_ADD, fd, &e) ? os_error(s, "epoll") : 0;
}

static int set_timer(const struct counting *s, int timer, uint64_t first, uint64_t every)
{
	struct itimerspec t = {
		.it_value = {(time_t)(first / NS), (long)(first % NS)},
		.it_interval = {(time_t)(every / NS), (long)(every % NS)},
	};

	return timerfd_settime(timer, TFD_TIMER_ABSTIME, &t, NULL) ? os_error(s, "timerfd") : 0;
}

/* The processes that are counted, and are no command of ours: counting ends with the last. */
static int watch_processes(struct counting *s, struct wait *w)
{
	int rc = 0;

	if (!target_has_tasks(&s->c->want) || s->command.pid)
		return 0;
	w->pidfds = calloc(s->target.n_pids + 1, sizeof(int));
	if (!w->pidfds)
		return PP_ENOMEM;
	for (size_t i = 0; i < s->target.n_pids && !rc; i++) {
		int fd = (int)syscall(SYS_pidfd_open, s->target.pids[i], 0);

		if (fd < 0)
			continue;
		w->pidfds[w->processes++] = fd;
		rc = watch(s, fd, OF_PROCESS);
	}
	return rc;
}

static bool any_thread(const struct counting *s)
{
	for (size_t i = 0; i < s->n_tids; i++)
		if (!kill(s->tids[i], 0) || errno != ESRCH)
			return true;
	return false;
}

static int start_waiting(struct counting *s, struct wait *w)
{
	uint64_t limit = s->c->duration_ns ? s->c->duration_ns : s->c->timeout_ns;
	uint64_t first;
	int rc = watch_processes(s, w);

	w->end = limit ? s->began + limit : 0;
	w->interval = s->c->interval_ns ? s->began + s->c->interval_ns : 0;
	w->intervals = s->c->intervals;
	first = !w->end || (w->interval && w->interval < w->end) ? w->interval : w->end;
	if (!rc)
		rc = set_timer(s, s->timer, first, 0);
	if (!rc && s->c->want.tids)
		rc = set_timer(s, s->tick, s->began + TICK_NS, TICK_NS);
	return rc;
}

/* An interval is over, or all time. */
static int take_timer(struct counting *s, struct wait *w)
{
	uint64_t n, now = stat_now();
	int rc = 0;

	if (read(s->timer, &n, sizeof(n)) < 0)
		return errno == EAGAIN || errno == EINTR ? 0 : os_error(s, "timerfd");
	/* The last interval ends with the counting: it is printed then. */
	if (w->end && now >= w->end) {
		w->stop = true;
		return 0;
	}
	if (w->interval && now >= w->interval) {
		rc = stat_print_interval(s);
		while (w->interval <= stat_now())
			w->interval += s->c->interval_ns;
		if (w->intervals && !--w->intervals)
			w->stop = true;
	}
	if (rc || w->stop)
		return rc;
	return set_timer(s, s->timer,
			 !w->end || (w->interval && w->interval < w->end) ? w->interval : w->end,
			 0);
}

static void take_process(struct wait *w)
{
	size_t left = 0;

	for (size_t i = 0; i < w->processes; i++) {
		struct pollfd p = {.fd = w->pidfds[i], .events = POLLIN};

		if (poll(&p, 1, 0) > 0 && p.revents)
			close(p.fd);
		else
			w->pidfds[left++] = w->pidfds[i];
	}
	w->processes = left;
	w->stop |= !left;
}

static int take(struct counting *s, struct wait *w, enum of what)
{
	uint64_t n;

	switch (what) {
	case OF_SIGNAL: return take_signals(s, w);
	case OF_TIMER: return take_timer(s, w);
	case OF_TICK:
		if (read(s->tick, &n, sizeof(n)) < 0)
			return errno == EAGAIN ? 0 : os_error(s, "timerfd");
		w->stop |= !any_thread(s);
		return 0;
	case OF_CONTROL:
		if (stat_control_take(&s->control, s, &w->stop) == PP_END)
			epoll_ctl(s->epoll, EPOLL_CTL_DEL, s->control.in, NULL);
		return 0;
	case OF_PROCESS: take_process(w); return 0;
	case OF_PLACES: stat_places_take(s); return 0;
	case OF_WHILE: s->interrupted = w->stop = true; return 0;
	case OF_CPUS: online_hear(&s->online, s->cpus_change); return stat_look_at_cpus(s, false);
	}
	return 0;
}

/* Until the end of what is counted. */
static int wait_for_end(struct counting *s)
{
	struct epoll_event events[EVENTS];
	struct wait w = {.stop = s->over};
	int rc = start_waiting(s, &w), n;

	while (!rc && !w.stop) {
		n = epoll_wait(s->epoll, events, EVENTS, -1);
		if (n < 0 && errno != EINTR)
			rc = os_error(s, "epoll");
		for (int i = 0; i < n && !rc; i++)
			rc = take(s, &w, (enum of)events[i].data.u64);
	}
	for (size_t i = 0; i < w.processes; i++)
		close(w.pidfds[i]);
	free(w.pidfds);
	return rc;
}

/* --while: the process that counting is to end with. */
static int watch_other(struct counting *s)
{
	if (!s->c->while_pid)
		return 0;
	s->other = (int)syscall(SYS_pidfd_open, s->c->while_pid, 0);
	return s->other < 0 ? os_error(s, "--while") : watch(s, s->other, OF_WHILE);
}

static int open_waiting(struct counting *s)
{
	int rc;

	s->epoll = epoll_create1(EPOLL_CLOEXEC);
	if (s->epoll < 0)
		return os_error(s, "epoll");
	s->timer = timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC | TFD_NONBLOCK);
	s->tick = timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC | TFD_NONBLOCK);
	if (s->timer < 0 || s->tick < 0)
		return os_error(s, "timerfd");
	rc = watch(s, s->signals, OF_SIGNAL);
	if (!rc)
		rc = watch(s, s->timer, OF_TIMER);
	if (!rc)
		rc = watch(s, s->tick, OF_TICK);
	if (!rc && s->control.in >= 0)
		rc = watch(s, s->control.in, OF_CONTROL);
	if (!rc)
		rc = watch_other(s);
	s->cpus_change = s->system_wide ? online_listen() : -1;
	if (!rc && s->cpus_change >= 0)
		rc = watch(s, s->cpus_change, OF_CPUS);
	return rc;
}

/* ---- a run ---- */

static int run_shell(struct counting *s, const char *command)
{
	int status;

	if (!command)
		return 0;
	/* system(3) waits with SIGCHLD blocked, as it is here. */
	status = system(command);
	if (!status)
		return 0;
	diag_error(s->d, NULL, -1, "'%s' failed with status %d", command,
		   WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status));
	return PP_EIO;
}

static int prepare(struct counting *s)
{
	int rc;

	if (!s->c->command)
		return 0;
	rc = command_prepare(&s->command, s->c->command, false,
			     s->c->mask ? s->c->mask : &s->old_mask);
	if (rc)
		diag_error(s->d, NULL, -1, "cannot start a process: %s", pp_strerror(rc));
	if (!s->system_wide && !target_has_tasks(&s->c->want))
		s->command_tid = s->command.pid;
	return rc;
}

static int start_command(struct counting *s)
{
	int errnum = 0, rc;

	if (!s->c->command)
		return 0;
	rc = command_start(&s->command, &errnum);
	if (!rc && !errnum)
		return 0;
	diag_error(s->d, NULL, -1, "cannot execute %s: %s", s->c->command[0],
		   rc ? pp_strerror(rc) : strerror(errnum));
	return rc ? rc : errnum == ENOENT ? PP_ENOENT : PP_EIO;
}

/* By hand, unless exec does it. */
static bool enabled_by_exec(const struct counting *s)
{
	return s->command_tid > 0;
}

/* The time before counting begins, unless it is over then. */
static void delay(struct counting *s)
{
	uint64_t end = stat_now() + s->c->delay_ns, now;
	struct wait w = {0};

	while (!w.stop && (now = stat_now()) < end) {
		struct pollfd p = {.fd = s->signals, .events = POLLIN};
		const struct timespec t = {(time_t)((end - now) / NS), (long)((end - now) % NS)};

		if (ppoll(&p, 1, &t, NULL) > 0)
			w.stop |= take_signals(s, &w) != 0;
	}
	s->over = w.stop;
}

static int start(struct counting *s)
{
	int rc;

	if (!s->c->delay_ns && !s->c->disabled && !enabled_by_exec(s))
		stat_enable(s, true);
	s->began = s->last = stat_now();
	s->ended = 0;
	rc = start_command(s);
	if (rc || !s->c->delay_ns)
		return rc;
	delay(s);
	stat_enable(s, true);
	s->began = s->last = stat_now();
	return 0;
}

static int note_time(struct counting *s)
{
	double *v = array_widen(s->runs, &s->cap_runs, s->n_runs, 16, sizeof(*v));

	if (!v)
		return PP_ENOMEM;
	s->runs = v;
	v[s->n_runs++] = (double)(s->ended - s->began) / NS;
	return 0;
}

/* The whole of a run, after its intervals. */
static int sum_up(struct counting *s)
{
	int rc = 0;

	/* What remained of an interval. */
	if (s->c->interval_ns && s->ended > s->last && !s->c->intervals)
		rc = stat_print_interval(s);
	if (!rc)
		rc = stat_read(s);
	if (!rc && s->c->form == STAT_TSV && !s->c->interval_ns) {
		counts_sum(&s->counts, COUNT_ANEW);
		return count_table_add(&s->tables, &s->counts, 0, s->ended - s->began);
	}
	counts_sum(&s->counts, s->c->repeat && !s->c->interval_ns ? COUNT_WHOLE : COUNT_ANEW);
	return rc;
}

static int measure(struct counting *s)
{
	int rc = stat_begin_cpus(s);

	if (!rc)
		rc = stat_open(s);
	if (!rc && !s->counts.laid_out)
		rc = stat_lay_out(s);
	if (!rc) {
		counts_clear(&s->counts);
		rc = start(s);
	}
	if (!rc)
		rc = wait_for_end(s);
	if (rc)
		return rc;
	await_interrupted(s);
	rc = stat_look_at_cpus(s, true);
	if (rc)
		return rc;
	stat_enable(s, false);
	s->ended = stat_now();
	stat_places_end(s);
	/* What it used is known when it has ended. */
	s->cut_short = s->command.pid != 0;
	command_end(&s->command);
	rc = note_time(s);
	return rc ? rc : sum_up(s);
}

static int run(struct counting *s)
{
	int rc = run_shell(s, s->c->before);

	s->over = false;
	if (!rc && s->c->sync)
		sync();
	if (!rc)
		rc = prepare(s);
	if (!rc)
		rc = measure(s);
	command_end(&s->command);
	if (!rc)
		rc = run_shell(s, s->c->after);
	return rc;
}

static int runs(struct counting *s)
{
	unsigned n = 0;
	int rc = 0;

	while (!rc && !s->interrupted && (!s->c->repeat || n < s->c->repeat)) {
		if (n && s->c->verbose)
			diag_say(s->d, NULL, "run %u", n + 1);
		rc = run(s);
		n++;
		/* Without an end, each run has its table. */
		if (!rc && !s->c->repeat && !s->c->interval_ns) {
			rc = stat_print(s);
			s->n_runs = 0;
		}
		/* The kernel takes 10 ms and more to close a tracepoint: the last run's wait. */
		if (s->c->repeat != n && !s->interrupted)
			stat_close(s);
	}
	return rc;
}

/* ---- all ---- */

static int check(const struct counting *s)
{
	const struct stat_config *c = s->c;
	const char *wrong = NULL;

	if (c->by == COUNT_BY_THREAD && !s->system_wide && !target_has_tasks(&c->want))
		wrong = "--per-thread is for -a, -p and -t";
	else if (c->by != COUNT_BY_ALL && c->by != COUNT_BY_THREAD && !s->system_wide)
		wrong = "counts by CPU, core, die, socket or node are those of all CPUs: add -a";
	else if (c->each_cgroup && !s->system_wide)
		wrong = "cgroups are counted on all CPUs: add -a";
	else if (c->intervals && !c->interval_ns)
		wrong = "--interval-count needs -I";
	else if (c->timeout_ns && c->interval_ns)
		wrong = "--timeout cannot be combined with -I: use --interval-count";
	else if (c->runs_table && c->repeat < 2)
		wrong = "--table is for repeated runs: add -r";
	else if (c->metric_only && (c->repeat > 1 || c->by == COUNT_BY_THREAD))
		wrong = "--metric-only cannot be combined with -r or --per-thread";
	else if (c->repeat != 1 && !c->command)
		wrong = "-r needs a command";
	for (size_t i = 0; i < c->events.n && !s->system_wide && !wrong; i++)
		if (c->events.v[i].cgroup)
			wrong = "cgroups are counted on all CPUs: add -a";
	if (wrong)
		diag_error(s->d, NULL, -1, "%s", wrong);
	return wrong ? PP_EUSAGE : 0;
}

static int count(struct counting *s)
{
	int rc = check(s);

	if (!rc)
		rc = stat_events(s);
	if (!rc)
		rc = stat_find_target(s);
	if (!rc)
		rc = stat_output(s);
	if (!rc && s->c->control)
		rc = stat_control_open(&s->control, s->c->control, s->d);
	if (!rc)
		rc = block_signals(s);
	if (!rc)
		rc = open_waiting(s);
	if (!rc)
		rc = runs(s);
	if (!rc && (s->c->repeat || s->c->interval_ns) && (!s->c->interval_ns || s->c->summary))
		rc = stat_print(s);
	return rc;
}

static void close_fd(int fd)
{
	if (fd >= 0)
		close(fd);
}

int stat_run(const struct stat_config *c, struct diag *d, int *status)
{
	struct counting s = {.c = c, .d = d, .out = -1, .epoll = -1, .signals = -1};
	int rc, closed;

	s.timer = s.tick = s.cpus_change = s.other = s.control.in = s.control.ack = -1;
	s.command = (struct command)COMMAND_NONE;
	diag_set_verbose(d, c->verbose);
	counts_init(&s.counts, c->by);
	s.counts.no_scale = c->no_scale;
	s.system_wide =
		!target_has_tasks(&c->want) && (c->want.all_cpus || c->want.cpus || !c->command);
	rc = count(&s);
	/* Of a command that was not to go on, the status says nothing. */
	*status = rc || s.cut_short ? 0 : command_exit_status(&s.command);
	if (!*status && s.uncounted)
		*status = PP_EXIT_PARTIAL;
	closed = stat_output_close(&s);
	stat_close(&s);
	stat_places_release(&s);
	if (s.signals >= 0)
		restore_signals(&s);
	stat_control_close(&s.control);
	stat_events_release(&s);
	target_release(&s.target);
	counts_release(&s.counts);
	free(s.runs);
	free(s.all_tids);
	close_fd(s.epoll);
	close_fd(s.signals);
	close_fd(s.timer);
	close_fd(s.tick);
	close_fd(s.cpus_change);
	close_fd(s.other);
	online_release(&s.online);
	return rc ? rc : closed;
}
