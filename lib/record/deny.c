/* What it means when the kernel refuses an event or a buffer, and what can be done about it. */
#include "base/err.h"
#include "pevent/sysfile.h"
#include "record/parts.h"

#include <errno.h>
#include <unistd.h>

#define PARANOID "/proc/sys/kernel/perf_event_paranoid"

/* Permissions: what is needed, what is so now, and what can be done without it. */
static void denied(const struct session *s, const struct rec_attr *a, struct buf *why)
{
	bool tracepoint = a->attr.type == PERF_TYPE_TRACEPOINT;
	const char *option = a->attr.namespaces				   ? "--namespaces"
			     : a->attr.sample_type & PERF_SAMPLE_PHYS_ADDR ? "--phys-data"
			     : a->attr.sample_type & PERF_SAMPLE_REGS_INTR ? "--intr-regs"
									   : NULL;
	uint64_t level;

	buf_adds(why, "the kernel does not permit it: ");
	/* Some tracepoints, in the path of what perf does itself, are not for anybody. */
	if (tracepoint && !geteuid()) {
		buf_adds(why, "some events can only be counted (--stat); others need ");
		buf_adds(why, "CAP_PERFMON, which root may not have in a container");
		return;
	}
	if (s->t.n_pids && geteuid())
		buf_adds(why, "is the process yours? Otherwise ");
	sysfile_need_root(why, "CAP_PERFMON");
	if (tracepoint)
		buf_adds(why, ", or set kernel.perf_event_paranoid to -1");
	if (sysfile_u64(PARANOID, &level))
		return;
	buf_addf(why, " (kernel.perf_event_paranoid is %lld", (long long)level);
	if ((int64_t)level <= 0 || tracepoint)
		buf_adds(why, ")");
	else if ((int64_t)level > 2)
		buf_adds(why, "; 2 or less lets you record your own processes)");
	else
		buf_adds(why, "; all CPUs need 0 or less, the kernel side 1 or less)");
	if (option)
		buf_addf(why, "; or leave out %s", option);
	else if (!tracepoint && (int64_t)level <= 2 && s->c->whom.all_cpus)
		buf_adds(why, "; without it: your own processes, by -p, -u or -- COMMAND");
	else if (!tracepoint && (int64_t)level == 2 && !a->attr.exclude_kernel)
		buf_adds(why, "; without it: user space only, as cycles:u");
}

/* The machine does not have what is asked for. */
static void missing(const struct rec_attr *a, struct buf *why)
{
	switch (a->attr.type) {
	case PERF_TYPE_SOFTWARE:
	case PERF_TYPE_TRACEPOINT: buf_adds(why, "the kernel does not have it"); break;
	case PERF_TYPE_BREAKPOINT:
		buf_adds(why, "the machine has no such breakpoint; lengths are 1, 2, 4 and 8, and "
			      "an address is a multiple of them");
		break;
	case PERF_TYPE_HARDWARE:
	case PERF_TYPE_HW_CACHE:
	case PERF_TYPE_RAW:
		buf_adds(why, "the machine does not count it (is it virtual?); cpu-clock "
			      "works everywhere");
		break;
	default: buf_adds(why, "its PMU does not accept it");
	}
}

static void invalid(const struct session *s, const struct rec_attr *a, struct buf *why)
{
	if (a->attr.branch_sample_type)
		buf_adds(why, "it has no record of last branches (LBR) here; --call-graph dwarf "
			      "works everywhere");
	else if (a->attr.type == PERF_TYPE_BREAKPOINT)
		missing(a, why);
	else if (a->ev && a->ev->pmu)
		buf_addf(why, "the PMU %s %s", a->ev->pmu,
			 s->c->whom.all_cpus ? "does not sample this; count it with --stat"
					     : "does not count single tasks (record -a), or does "
					       "not sample this (count it with --stat)");
	else if (s->c->use_clock && s->c->clock != CLOCK_MONOTONIC &&
		 s->c->clock != CLOCK_MONOTONIC_RAW)
		buf_adds(why, "the kernel considers it invalid; hardware events can only use "
			      "the clocks monotonic and monotonic_raw (-k)");
	else if (a->in_group)
		buf_adds(why, "the kernel does not accept this group; without {} it may");
	else
		buf_adds(why, "the kernel considers it invalid");
}

/* Threads by CPUs by events: how many there would have to be, and how far it goes without. */
static void too_many_files(const struct session *s, struct buf *why)
{
	uint64_t each = (uint64_t)s->t.n_cpus * s->n_attrs,
		 need = each * s->t.n_tids + SESSION_OTHER_FDS;
	uint64_t most = sysfile_raise_files(0);

	buf_addf(why, "too many open files: %llu are needed, for ", (unsigned long long)need);
	if (s->t.n_tids > 1)
		buf_addf(why, "%zu threads on ", s->t.n_tids);
	buf_addf(why, "%zu CPUs, and %llu are allowed: ", s->t.n_cpus, (unsigned long long)most);
	if (geteuid())
		buf_addf(why,
			 "let root raise this shell's limit (prlimit --pid PID --nofile=%llu), ",
			 (unsigned long long)need);
	else
		buf_adds(why, "raise fs.nr_open, ");
	if (s->t.n_tids > 1 && most > SESSION_OTHER_FDS + each)
		buf_addf(why, "name up to %llu of the threads (-t), ",
			 (unsigned long long)((most - SESSION_OTHER_FDS) / each));
	buf_adds(why, "or record all CPUs (-a)");
}

int deny_event(const struct session *s, const struct rec_attr *a, int errnum)
{
	struct buf why = BUF_INIT;
	int rc = pp_errno(errnum);

	switch (errnum) {
	case EACCES:
	case EPERM: denied(s, a, &why); break;
	case ENOENT:
	case ENODEV: missing(a, &why); break;
	case EOPNOTSUPP:
		if (a->attr.branch_sample_type || (a->ev && a->ev->pmu))
			invalid(s, a, &why);
		else
			missing(a, &why);
		break;
	case EINVAL: invalid(s, a, &why); break;
	case EBUSY: buf_adds(&why, "another program has the counter"); break;
	case EMFILE:
	case ENFILE: too_many_files(s, &why); break;
	case ENOSPC:
		buf_adds(&why, "no counter or breakpoint is left: name fewer events, or end other "
			       "programs that use them");
		break;
	case ENOSYS: buf_adds(&why, "the kernel has no perf events"); break;
	default: buf_adds(&why, strerror(errnum)); break;
	}
	diag_error(s->d, NULL, -1, "cannot record %s: %s", a->name, buf_str(&why));
	buf_release(&why);
	return rc == PP_EPIPE ? PP_EIO : rc;
}

int deny_ring(const struct session *s, int errnum)
{
	int rc = pp_errno(errnum);

	diag_error(s->d, NULL, -1, "cannot map a ring buffer: %s%s", strerror(errnum),
		   errnum == EPERM ? ": raise kernel.perf_event_mlock_kb or the limit of locked "
				     "memory (ulimit -l), or ask for less (-m)"
				   : "");
	return rc == PP_EPIPE ? PP_EIO : rc;
}
