/* Attributes: what each event is to record, and how it falls back where the kernel is older. */
#include "base/err.h"
#include "perfdata/format.h"
#include "pevent/sysfile.h"
#include "pevent/tracefs.h"
#include "record/parts.h"

#include <errno.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <unistd.h>

/* Does this machine have the hardware event? Asked for this process, as little as can be asked. */
static bool has_cycles(void)
{
	struct perf_event_attr attr = {
		.type = PERF_TYPE_HARDWARE,
		.size = sizeof(attr),
		.config = PERF_COUNT_HW_CPU_CYCLES,
		.disabled = 1,
		.exclude_kernel = 1,
		.exclude_hv = 1,
	};
	long fd = syscall(SYS_perf_event_open, &attr, 0, -1, -1, PERF_FLAG_FD_CLOEXEC);

	if (fd < 0)
		return errno != ENOENT && errno != ENODEV && errno != EOPNOTSUPP && errno != EINVAL;
	close((int)fd);
	return true;
}

/* The events to record: the user's, or the default one. */
static int choose(struct session *s)
{
	struct buf why = BUF_INIT;
	bool pmu;
	int rc;

	s->kept = s->c->events;
	s->events = &s->kept;
	if (s->kept.n)
		return 0;
	pmu = has_cycles();
	if (!pmu)
		diag_note(s->d, NULL, -1, "no hardware counters here: recording cpu-clock");
	rc = pevents_add(&s->fallback, pmu ? "cycles:P" : "cpu-clock", &why);
	if (!rc && pmu)
		memcpy(s->fallback.v[0].name, "cycles", sizeof("cycles"));
	if (!rc && s->c->cgroup)
		rc = pevents_cgroups(&s->fallback, s->c->cgroup, &why);
	s->events = &s->fallback;
	if (why.len)
		diag_error(s->d, NULL, -1, "%s", buf_str(&why));
	buf_release(&why);
	return rc;
}

static uint64_t max_rate(void)
{
	uint64_t v;

	if (sysfile_u64("/proc/sys/kernel/perf_event_max_sample_rate", &v) || !v)
		return UINT64_MAX;
	return v;
}

/* So many samples a second, or as many as the kernel allows. */
static int set_freq(const struct session *s, struct perf_event_attr *attr, uint64_t freq)
{
	uint64_t max = max_rate();

	attr->freq = 1;
	attr->sample_freq = freq > max ? max : freq;
	if (freq <= max || freq == UINT64_MAX || (!s->c->freq && freq == RECORD_FREQ_DEFAULT))
		return 0;
	if (s->c->strict_freq) {
		diag_error(
			s->d, NULL, -1,
			"the kernel's limit is %llu Hz: sysctl kernel.perf_event_max_sample_rate",
			(unsigned long long)max);
		return PP_EUSAGE;
	}
	diag_warn(s->d, NULL, -1, "the kernel's limit is %llu Hz (perf_event_max_sample_rate)",
		  (unsigned long long)max);
	return 0;
}

/* What the event's own terms say, then -c and -F, then what is usual for its kind. */
static int set_rate(const struct session *s, struct perf_event_attr *attr, const struct pevent *ev)
{
	const struct record_config *c = s->c;
	bool each = attr->type == PERF_TYPE_TRACEPOINT || attr->type == PERF_TYPE_BREAKPOINT;

	if (c->no_samples)
		return 0;
	if (ev->period || ev->freq) {
		attr->sample_period = ev->period;
		return ev->period ? 0 : set_freq(s, attr, ev->freq);
	}
	if (c->period || (!c->freq && !c->freq_max && each)) {
		attr->sample_period = c->period ? c->period : 1;
		return 0;
	}
	return set_freq(s, attr,
			c->freq_max ? UINT64_MAX
			: c->freq   ? c->freq
				    : RECORD_FREQ_DEFAULT);
}

void session_track(const struct session *s, struct perf_event_attr *attr)
{
	/* perf reads tables for unwinding through the mappings that have them. */
	attr->mmap_data = s->copies || s->c->map_data;
	attr->mmap = 1;
	attr->mmap2 = 1;
	attr->comm = 1;
	attr->comm_exec = 1;
	attr->task = 1;
	attr->context_switch = s->c->switch_events;
	attr->namespaces = s->c->namespaces;
	attr->cgroup = s->c->cgroups;
}

static void set_common(const struct session *s, struct perf_event_attr *attr)
{
	attr->size = sizeof(*attr);
	attr->sample_type = PERF_SAMPLE_IP | PERF_SAMPLE_TID | PERF_SAMPLE_TIME | PERF_SAMPLE_CPU |
			    PERF_SAMPLE_PERIOD;
	if (s->with_ids)
		attr->sample_type |= PERF_SAMPLE_IDENTIFIER;
	attr->sample_id_all = 1;
	attr->inherit = !s->c->no_inherit && !s->c->per_thread;
	attr->inherit_stat = attr->inherit && s->c->thread_counts;
	attr->use_clockid = 1;
	attr->clockid = s->c->use_clock ? s->c->clock : CLOCK_MONOTONIC;
	if (s->c->no_buffering)
		attr->wakeup_events = 1;
}

/* How the event's chains are recorded: by its own term, or by the options. */
static enum record_chains chains_of(const struct session *s, const struct pevent *ev)
{
	if (!ev->callgraph)
		return s->c->chains;
	return strcmp(ev->callgraph, "dwarf") == 0 ? RECORD_CHAINS_DWARF
	       : strcmp(ev->callgraph, "lbr") == 0 ? RECORD_CHAINS_LBR
	       : strcmp(ev->callgraph, "fp") == 0  ? RECORD_CHAINS_FP
						   : RECORD_NO_CHAINS;
}

/*
 * The largest copy that fits: a record has 65535 bytes, and the kernel makes the copy smaller where
 * what comes before it needs more, but does not count the registers after it.
 */
static uint32_t most_copied(const struct session *s)
{
	return s->c->regs_intr ? RECORD_STACK_MAX - 4096 : RECORD_STACK_MAX;
}

/* The user part of a chain is in the copy alone: readers would show it twice. */
static void set_copies(struct session *s, struct perf_event_attr *attr, uint32_t size)
{
	if (!size || !words_all_registers())
		return;
	attr->sample_type |= PERF_SAMPLE_REGS_USER | PERF_SAMPLE_STACK_USER;
	attr->sample_regs_user |= words_all_registers();
	attr->sample_stack_user = size < most_copied(s) ? size : most_copied(s);
	attr->exclude_callchain_user = 1;
	s->copies = true;
}

/* Call chains; lbr: of user space only, so of events that have that part. */
static void set_chains(struct session *s, struct rec_attr *a, const struct pevent *ev)
{
	struct perf_event_attr *attr = &a->attr;
	enum record_chains how = chains_of(s, ev);
	uint32_t size = ev->stack_size ? (ev->stack_size + 7) & ~7u : s->c->stack_size;

	if (!how)
		return;
	attr->sample_type |= PERF_SAMPLE_CALLCHAIN;
	attr->sample_max_stack = (uint16_t)(ev->max_stack ? ev->max_stack : s->c->max_stack);
	attr->exclude_callchain_kernel = s->c->user_chains && !s->c->kernel_chains;
	attr->exclude_callchain_user = s->c->kernel_chains && !s->c->user_chains;
	if (how == RECORD_CHAINS_DWARF)
		set_copies(s, attr, size ? size : RECORD_STACK_DEFAULT);
	a->choose = how == RECORD_CHAINS_AUTO;
	if (how == RECORD_CHAINS_LBR && !attr->exclude_user) {
		attr->sample_type |= PERF_SAMPLE_BRANCH_STACK;
		attr->branch_sample_type = PERF_SAMPLE_BRANCH_USER | PERF_SAMPLE_BRANCH_CALL_STACK |
					   PERF_SAMPLE_BRANCH_NO_CYCLES |
					   PERF_SAMPLE_BRANCH_NO_FLAGS;
	}
}

/* The fields that were asked for beside the usual ones. */
static int set_fields(const struct session *s, struct perf_event_attr *attr,
		      const struct pevent *ev)
{
	const struct record_config *c = s->c;
	uint64_t branches = c->branches;
	struct buf why = BUF_INIT;
	int rc = 0;

	attr->sample_type |= c->sample;
	if (attr->type == PERF_TYPE_BREAKPOINT)
		attr->sample_type |= PERF_SAMPLE_ADDR;
	if (c->cgroups)
		attr->sample_type |= PERF_SAMPLE_CGROUP;
	if (ev->branch)
		rc = words_branches(ev->branch, &branches, &why);
	if (rc)
		diag_error(s->d, NULL, -1, "%s: branch_type: %s", ev->name, buf_str(&why));
	buf_release(&why);
	if (branches) {
		attr->sample_type |= PERF_SAMPLE_BRANCH_STACK;
		attr->branch_sample_type |= branches;
	}
	if (c->regs_intr) {
		attr->sample_type |= PERF_SAMPLE_REGS_INTR;
		attr->sample_regs_intr = c->regs_intr;
	}
	if (c->regs_user) {
		attr->sample_type |= PERF_SAMPLE_REGS_USER;
		attr->sample_regs_user |= c->regs_user;
	}
	return rc;
}

/* Whether a tracepoint may be a probe. */
static bool is_probe(const struct session *s, const struct pevent *ev)
{
	struct buf name = BUF_INIT;
	bool is;

	buf_addf(&name, "\n%s/%s\n", ev->system, ev->tp);
	is = !s->probes.len || name.err || strstr(buf_str(&s->probes), buf_str(&name));
	buf_release(&name);
	return is;
}

/*
 * With a fixed period the field tells nothing; and software events and tracepoints that have it are
 * recorded each time, whatever the period (perf_swevent_event of the kernel). Tracepoints that
 * count more than one, which are those of sched_stat_*, need it to be recorded once only. The place
 * of a tracepoint is in its name, unless it is a probe, which can have many. Leaving both out saves
 * a sixth of what an event costs.
 */
static void make_lean(const struct session *s, struct perf_event_attr *attr,
		      const struct pevent *ev)
{
	bool counts = attr->sample_period == 1 && ev->tp && strncmp(ev->tp, "sched_stat_", 11) == 0;

	if (attr->freq || !attr->sample_period)
		return;
	if (!s->c->with_period && !counts)
		attr->sample_type &= ~(uint64_t)PERF_SAMPLE_PERIOD;
	if (attr->type == PERF_TYPE_TRACEPOINT && !s->c->snapshot && !s->c->with_period &&
	    !is_probe(s, ev) &&
	    !(attr->sample_type & (PERF_SAMPLE_CALLCHAIN | PERF_SAMPLE_BRANCH_STACK)))
		attr->sample_type &= ~(uint64_t)PERF_SAMPLE_IP;
}

/* :S: samples of the leader carry the counts of all, which are not sampled themselves. */
static void set_counted_too(struct rec_attr *a, const struct rec_attr *leader)
{
	struct perf_event_attr *attr = &a->attr;

	attr->sample_type |= PERF_SAMPLE_READ;
	if (a->in_group)
		attr->inherit = attr->inherit_stat = 0;
	if (a == leader)
		return;
	attr->freq = 0;
	attr->sample_period = 0;
	attr->sample_type |= leader->attr.sample_type;
}

static int set_event(struct session *s, struct rec_attr *a, const struct pevent *ev, bool on_exec)
{
	struct perf_event_attr *attr = &a->attr;
	int rc;

	a->ev = ev;
	a->name = strdup(ev->name);
	*attr = ev->attr;
	set_common(s, attr);
	if (ev->tool) {
		diag_error(s->d, NULL, -1, "%s can only be counted (--stat)", ev->name);
		return PP_EUSAGE;
	}
	rc = set_rate(s, attr, ev);
	attr->disabled = 1;
	attr->enable_on_exec = on_exec;
	if (s->c->all_user)
		attr->exclude_user = 0, attr->exclude_kernel = 1;
	if (s->c->all_kernel)
		attr->exclude_user = 1, attr->exclude_kernel = 0;
	if (ev->inherit)
		attr->inherit = ev->inherit == PEVENT_YES && !s->c->per_thread;
	attr->write_backward = s->c->snapshot;
	set_chains(s, a, ev);
	if (!rc)
		rc = set_fields(s, attr, ev);
	if (attr->type == PERF_TYPE_TRACEPOINT ||
	    (attr->type == PERF_TYPE_SOFTWARE && attr->config == PERF_COUNT_SW_BPF_OUTPUT))
		attr->sample_type |= PERF_SAMPLE_RAW;
	make_lean(s, attr, ev);
	return rc ? rc : a->name ? 0 : PP_ENOMEM;
}

/*
 * The tracker: an event that never counts, and so only carries the news of tasks and mappings. It
 * runs from the beginning, so that nothing is missed between the synthesized records and the start.
 */
static int set_tracker(struct session *s, struct rec_attr *a)
{
	a->name = strdup("dummy:u");
	a->attr.type = PERF_TYPE_SOFTWARE;
	a->attr.config = PERF_COUNT_SW_DUMMY;
	a->attr.sample_period = 1;
	a->attr.exclude_kernel = 1; /* so that it is permitted where only user space is */
	a->attr.exclude_hv = 1;
	set_common(s, &a->attr);
	return a->name ? 0 : PP_ENOMEM;
}

/* --call-graph auto, when the rates of all events are known. */
static int choose_chains(struct session *s)
{
	int rc = chains_choose(s);

	for (size_t i = 0; i < s->events->n; i++) {
		struct perf_event_attr *attr = &s->attrs[i].attr;

		if (s->attrs[i].choose)
			set_copies(s, attr, attr->freq ? s->copy_rated : s->copy_each);
	}
	return rc;
}

/* Which event leads each group. */
static void set_groups(struct session *s)
{
	for (size_t i = 0; i < s->events->n; i++) {
		struct rec_attr *a = &s->attrs[i];
		uint32_t group = s->c->group ? 1 : a->ev->group;

		a->leader = i;
		for (size_t k = 0; k < i && group && a->leader == i; k++)
			if (s->c->group || s->events->v[k].group == group)
				a->leader = k;
		if (a->leader != i)
			a->in_group = s->attrs[a->leader].in_group = true;
	}
	for (size_t i = 0; i < s->events->n; i++)
		if (s->attrs[i].ev->counted_too)
			set_counted_too(&s->attrs[i], &s->attrs[s->attrs[i].leader]);
}

/* -F is meant for samples of time, and thins events that happen: what belongs together is torn. */
static void say_thinned(const struct session *s)
{
	const struct rec_attr *timed = NULL;
	struct buf names = BUF_INIT;

	if (!s->c->freq && !s->c->freq_max)
		return;
	for (size_t i = 0; i < s->events->n; i++) {
		const struct rec_attr *a = &s->attrs[i];

		if (a->attr.type != PERF_TYPE_TRACEPOINT)
			timed = timed ? timed : a;
		else if (a->attr.freq && !a->ev->freq)
			buf_addf(&names, "%s%s", names.len ? ", " : "", a->name);
	}
	if (names.len && s->c->freq)
		diag_say(s->d, NULL,
			 "-F: of %s at most some %llu a second are recorded, not all; for all: "
			 "-e %s/freq=%llu/%s without -F",
			 buf_str(&names), (unsigned long long)s->c->freq,
			 timed && !strchr(timed->name, '/') ? timed->name : "cpu-clock",
			 (unsigned long long)s->c->freq, timed ? "" : " beside it,");
	else if (names.len)
		diag_say(s->d, NULL, "-F: not every %s is recorded", buf_str(&names));
	buf_release(&names);
}

/* Whether an event is one whose cut stacks a helper would continue. */
static bool wants_help(const struct rec_attr *a)
{
	return a->choose && a->attr.sample_stack_user && !a->in_group &&
	       !(a->ev->tp && !strncmp(a->ev->tp, "sched_stat_", 11));
}

/* Of an event that never comes. */
static void set_silent(struct perf_event_attr *a)
{
	a->type = PERF_TYPE_SOFTWARE;
	a->config = PERF_COUNT_SW_DUMMY;
	a->config1 = a->config2 = 0;
	a->precise_ip = 0;
}

/*
 * Rare samples with large copies, beside the frequent ones of an event with small copies: its
 * helper. The kernel takes the first ones of a rare event all. Where the event's own copies are as
 * large as can be, the helper has none, but looks at deeper stacks are samples of it (deep.h).
 */
static int add_helpers(struct session *s)
{
	for (size_t i = 0, n = 0; i < s->events->n && n < CHAINS_HELPERS; i++) {
		const struct rec_attr *a = &s->attrs[i];
		struct rec_attr *h = &s->attrs[s->n_attrs];
		uint64_t hz = a->attr.freq ? s->help_rated : s->help_each;
		bool looks = !hz && a->attr.freq && a->attr.sample_stack_user == most_copied(s) &&
			     !(a->attr.sample_type & PERF_SAMPLE_BRANCH_STACK) && !s->no_helpers &&
			     !s->c->no_touch;
		struct buf name = BUF_INIT;

		if ((!hz && !looks) || !wants_help(a))
			continue;
		buf_addf(&name, PERF_HELPER "%s", a->name);
		if (name.err)
			return name.err;
		*h = (struct rec_attr){.attr = a->attr,
				       .ev = a->ev,
				       .name = (char *)name.data,
				       .leader = s->n_attrs,
				       .cgroup_fd = -1,
				       .helper = true};
		h->attr.freq = 1;
		h->attr.sample_freq = looks ? 1 : hz;
		if (looks)
			set_silent(&h->attr);
		h->attr.sample_stack_user = most_copied(s);
		s->n_attrs++;
		n++;
	}
	return 0;
}

int session_attrs(struct session *s, bool track_apart, bool on_exec)
{
	int rc = choose(s);

	if (rc)
		return rc;
	track_apart |= s->c->snapshot || s->events->v[0].cgroup || s->events->v[0].pmu;
	s->n_attrs = s->events->n;
	/* There may be helpers. */
	s->with_ids = s->n_attrs + track_apart > 1 ||
		      (s->c->chains == RECORD_CHAINS_AUTO && !s->no_helpers);
	s->attrs = calloc(2 * s->n_attrs + 1, sizeof(*s->attrs));
	if (!s->attrs) {
		s->n_attrs = 0;
		return PP_ENOMEM;
	}
	for (size_t i = 0; i < s->n_attrs; i++)
		s->attrs[i].cgroup_fd = -1;
	if (!s->tracefs || tracefs_probes(s->tracefs, &s->probes))
		buf_release(&s->probes);
	for (size_t i = 0; i < s->events->n && !rc; i++)
		rc = set_event(s, &s->attrs[i], &s->events->v[i], on_exec);
	if (!rc)
		rc = choose_chains(s);
	if (!rc)
		set_groups(s);
	if (!rc)
		rc = add_helpers(s);
	if (!rc && track_apart) {
		struct rec_attr *t = &s->attrs[s->n_attrs];

		t->cgroup_fd = -1;
		t->leader = s->n_attrs++;
		rc = set_tracker(s, t);
	}
	if (rc)
		return rc;
	/* Without a tracker the first event does it, and runs from the beginning if it must. */
	session_track(s, &s->attrs[track_apart ? s->n_attrs - 1 : 0].attr);
	if (!track_apart && !on_exec && !s->c->disabled && !s->c->n_spans)
		s->attrs[0].attr.disabled = 0;
	for (size_t i = 0; i < s->n_attrs; i++)
		attr_adapt(s, &s->attrs[i]);
	if (!rc)
		say_thinned(s);
	return rc;
}

/* Newer features go first; see the history of perf_event_open(2). */
void attr_adapt(struct session *s, struct rec_attr *a)
{
	struct perf_event_attr *attr = &a->attr;
	bool tracking = attr->task;

	attr->read_format = PERF_FORMAT_ID;
	if (s->level < 1) /* 6.0 */
		attr->read_format |= PERF_FORMAT_LOST;
	if (attr->sample_type & PERF_SAMPLE_READ && a->in_group)
		attr->read_format |= PERF_FORMAT_GROUP;
	if (s->c->running_time)
		attr->read_format |=
			PERF_FORMAT_TOTAL_TIME_ENABLED | PERF_FORMAT_TOTAL_TIME_RUNNING;
	attr->build_id = tracking && s->level < 2 && !s->c->no_build_ids; /* 5.12 */
	attr->bpf_event = tracking && s->level < 3 && !s->c->no_bpf;	  /* 5.1 */
	attr->ksymbol = tracking && s->level < 3;
	attr->exclude_guest = s->level < 4 && a->ev && a->ev->attr.exclude_guest;
	if (s->user_only) {
		attr->exclude_kernel = 1;
		attr->exclude_hv = 1;
		attr->exclude_callchain_kernel = 1;
	}
}
