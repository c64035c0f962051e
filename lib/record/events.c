/* Attributes: what each event is to record, and how it falls back where the kernel is older. */
#include "base/err.h"
#include "perfdata/format.h"
#include "pevent/sysfile.h"
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

	s->events = &s->c->events;
	if (s->c->events.n)
		return 0;
	pmu = has_cycles();
	if (!pmu)
		diag_note(s->d, NULL, -1, "no hardware counters here: recording cpu-clock");
	rc = pevents_add(&s->fallback, pmu ? "cycles:P" : "cpu-clock", &why);
	if (!rc)
		strcpy(s->fallback.v[0].name, pmu ? "cycles" : "cpu-clock");
	s->events = &s->fallback;
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

/* Whole or parts of a second: -c, -F, or the default of the kind of event. */
static void set_rate(const struct session *s, struct perf_event_attr *attr)
{
	const struct record_config *c = s->c;
	uint64_t max;

	if (c->period || (!c->freq && !c->freq_max && attr->type == PERF_TYPE_TRACEPOINT)) {
		attr->sample_period = c->period ? c->period : 1;
		return;
	}
	max = max_rate();
	attr->freq = 1;
	attr->sample_freq = c->freq_max ? max : c->freq ? c->freq : RECORD_FREQ_DEFAULT;
	if (attr->sample_freq <= max)
		return;
	if (c->freq)
		diag_warn(s->d, NULL, -1,
			  "the kernel's limit is %llu Hz (perf_event_max_sample_rate)",
			  (unsigned long long)max);
	attr->sample_freq = max;
}

static void set_tracking(const struct session *s, struct perf_event_attr *attr)
{
	/* perf reads tables for unwinding through the mappings that have them. */
	attr->mmap_data = s->c->chains == RECORD_CHAINS_DWARF;
	attr->mmap = 1;
	attr->mmap2 = 1;
	attr->comm = 1;
	attr->comm_exec = 1;
	attr->task = 1;
}

static void set_common(const struct session *s, struct perf_event_attr *attr)
{
	attr->size = sizeof(*attr);
	attr->sample_type = PERF_SAMPLE_IP | PERF_SAMPLE_TID | PERF_SAMPLE_TIME | PERF_SAMPLE_CPU |
			    PERF_SAMPLE_PERIOD;
	if (s->with_ids)
		attr->sample_type |= PERF_SAMPLE_IDENTIFIER;
	attr->sample_id_all = 1;
	attr->inherit = 1;
	if (s->c->use_clock) {
		attr->use_clockid = 1;
		attr->clockid = s->c->clock;
	}
}

/*
 * The registers that a copy of the stack is unwound from, as perf_regs.h of the architecture
 * numbers them.
 */
#if defined(__x86_64__)
#define USER_REGS UINT64_C(0xff0fff) /* without ds, es, fs, gs, which the kernel refuses */
#elif defined(__i386__)
#define USER_REGS UINT64_C(0xfff)
#elif defined(__aarch64__)
#define USER_REGS ((UINT64_C(1) << 33) - 1)
#elif defined(__riscv)
#define USER_REGS UINT64_C(0xffffffff)
#elif defined(__arm__)
#define USER_REGS UINT64_C(0xffff)
#else
#define USER_REGS UINT64_C(0) /* not known */
#endif

/* Call chains; lbr: of user space only, so of events that have that part. */
static void set_chains(const struct session *s, struct perf_event_attr *attr)
{
	enum record_chains how = s->c->chains;

	if (!how)
		return;
	attr->sample_type |= PERF_SAMPLE_CALLCHAIN;
	if (how == RECORD_CHAINS_DWARF && USER_REGS) {
		attr->sample_type |= PERF_SAMPLE_REGS_USER | PERF_SAMPLE_STACK_USER;
		attr->sample_regs_user = USER_REGS;
		attr->sample_stack_user =
			s->c->stack_size ? s->c->stack_size : RECORD_STACK_DEFAULT;
		attr->exclude_callchain_user = 1;
	}
	if (how == RECORD_CHAINS_LBR && !attr->exclude_user) {
		attr->sample_type |= PERF_SAMPLE_BRANCH_STACK;
		attr->branch_sample_type = PERF_SAMPLE_BRANCH_USER | PERF_SAMPLE_BRANCH_CALL_STACK |
					   PERF_SAMPLE_BRANCH_NO_CYCLES |
					   PERF_SAMPLE_BRANCH_NO_FLAGS;
	}
}

static int set_event(struct session *s, struct rec_attr *a, const struct pevent *ev, bool on_exec)
{
	struct perf_event_attr *attr = &a->attr;

	a->ev = ev;
	a->name = strdup(ev->name);
	*attr = ev->attr;
	set_common(s, attr);
	set_rate(s, attr);
	attr->disabled = 1;
	attr->enable_on_exec = on_exec;
	set_chains(s, attr);
	if (attr->type == PERF_TYPE_TRACEPOINT ||
	    (attr->type == PERF_TYPE_SOFTWARE && attr->config == PERF_COUNT_SW_BPF_OUTPUT))
		attr->sample_type |= PERF_SAMPLE_RAW;
	return a->name ? 0 : PP_ENOMEM;
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

int session_attrs(struct session *s, bool track_apart, bool on_exec)
{
	int rc = choose(s);

	if (rc)
		return rc;
	s->n_attrs = s->events->n + track_apart;
	s->with_ids = s->n_attrs > 1;
	s->attrs = calloc(s->n_attrs, sizeof(*s->attrs));
	if (!s->attrs) {
		s->n_attrs = 0;
		return PP_ENOMEM;
	}
	for (size_t i = 0; i < s->events->n && !rc; i++)
		rc = set_event(s, &s->attrs[i], &s->events->v[i], on_exec);
	if (!rc && track_apart)
		rc = set_tracker(s, &s->attrs[s->n_attrs - 1]);
	/* Without a tracker the first event does it, and runs from the beginning if it must. */
	set_tracking(s, &s->attrs[track_apart ? s->n_attrs - 1 : 0].attr);
	if (!track_apart && !on_exec)
		s->attrs[0].attr.disabled = 0;
	for (size_t i = 0; i < s->n_attrs; i++)
		attr_adapt(s, &s->attrs[i]);
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
	attr->build_id = tracking && s->level < 2;  /* 5.12 */
	attr->bpf_event = tracking && s->level < 3; /* 5.1 */
	attr->ksymbol = tracking && s->level < 3;
	attr->exclude_guest = s->level < 4 && a->ev && a->ev->attr.exclude_guest;
	if (s->user_only) {
		attr->exclude_kernel = 1;
		attr->exclude_hv = 1;
		attr->exclude_callchain_kernel = 1;
	}
}
