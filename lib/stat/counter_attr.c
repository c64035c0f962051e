/* What the kernel is asked for, and why it may refuse. */
#include "stat/parts.h"

#include "base/err.h"
#include "pevent/sysfile.h"

#include <errno.h>
#include <string.h>

#define PARANOID "/proc/sys/kernel/perf_event_paranoid"

struct perf_event_attr stat_attr(const struct counting *s, const struct stat_event *e, bool leads)
{
	struct perf_event_attr attr = e->ev->attr;

	attr.size = sizeof(attr);
	attr.read_format = PERF_FORMAT_TOTAL_TIME_ENABLED | PERF_FORMAT_TOTAL_TIME_RUNNING;
	attr.inherit = !s->c->no_inherit && e->ev->inherit != PEVENT_NO;
	attr.disabled = leads;
	attr.enable_on_exec = leads && s->command.pid && !s->system_wide && !s->c->delay_ns &&
			      !s->c->disabled && !target_has_tasks(&s->c->want);
	if (s->c->all_user || e->user_only)
		attr.exclude_kernel = 1;
	if (e->user_only)
		attr.exclude_hv = 1;
	if (s->c->all_user)
		attr.exclude_user = 0;
	if (s->c->all_kernel) {
		attr.exclude_user = 1;
		attr.exclude_kernel = 0;
	}
	return attr;
}

int stat_cannot(const struct counting *s, const struct stat_event *e, int errnum)
{
	struct buf need = BUF_INIT;
	uint64_t level = 0;
	int rc = pp_errno(errnum);

	sysfile_u64(PARANOID, &level);
	sysfile_need_root(&need, "CAP_PERFMON");
	if (errnum == EACCES || errnum == EPERM)
		diag_error(s->d, NULL, -1,
			   "cannot count %s: the kernel does not permit it: %s "
			   "(kernel.perf_event_paranoid is %lld; all CPUs need 0 or less, the "
			   "kernel side 1 or less)",
			   e->ev->name, buf_str(&need), (long long)level);
	else if (errnum == EMFILE || errnum == ENFILE)
		diag_error(s->d, NULL, -1,
			   "cannot count %s: too many open files: %zu threads and %u "
			   "events need %llu, and %llu are allowed: name fewer events (-e) or "
			   "processes, raise the limit (ulimit -n), or count all CPUs (-a)",
			   e->ev->name, s->n_tids, s->n_events,
			   (unsigned long long)s->n_tids * s->n_cpus * s->n_events,
			   (unsigned long long)sysfile_raise_files(0));
	else
		diag_error(s->d, NULL, -1, "cannot count %s: %s", e->ev->name, strerror(errnum));
	buf_release(&need);
	return rc == PP_EPIPE ? PP_EIO : rc;
}
