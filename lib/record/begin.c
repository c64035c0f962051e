/* What comes before the events: the header, the kernel, tasks and cgroups that exist already. */
#include "base/err.h"
#include "perfdata/format.h"
#include "pevent/cgroup.h"
#include "record/parts.h"

#include <limits.h>
#include <sys/utsname.h>

static int put_bytes(void *ctx, const void *bytes, size_t n)
{
	struct recorder *r = ctx;

	if (r->counts.keep)
		keep_records(r->counts.keep, bytes, n);
	return sink_put(&r->sink, bytes, n);
}

/* PERF_RECORD_CGROUP: id, path. */
static int put_cgroup(void *ctx, uint64_t id, const char *name)
{
	struct synth *y = ctx;
	size_t start = synth_begin(y, PERF_REC_CGROUP, 0);

	synth_u64(y, id);
	synth_name(y, name, strlen(name));
	buf_fill(&y->buf, 0, y->id_size);
	return synth_end(y, start);
}

/* Does any event see the kernel? Finding out where it lies takes as long as all else here. */
static bool sees_kernel(const struct session *s)
{
	for (size_t i = 0; i < s->events->n; i++)
		if (!s->attrs[i].attr.exclude_kernel)
			return true;
	return false;
}

static int synthesize_kernel(struct recorder *r, struct synth *y)
{
	int rc;

	if (!sees_kernel(&r->s) && !r->s.user_only)
		return 0;
	rc = synth_kernel(y);
	if (rc == PP_EACCES || rc == PP_ENOENT) {
		diag_note(r->d, NULL, -1,
			  "/proc/kallsyms hides the kernel's addresses (kernel.kptr_restrict): the "
			  "recording does not show where the kernel is");
		rc = 0;
	}
	return rc ? rc : synth_modules(y);
}

/* Are tasks of a process that was named still to be told about? Threads have their processes. */
static int synthesize_tasks(struct recorder *r, struct synth *y)
{
	int rc = 0;

	if (r->c->whom.all_cpus)
		return synth_processes(y);
	for (size_t i = 0; i < r->s.t.n_pids && !rc; i++)
		rc = synth_process(y, r->s.t.pids[i]);
	return rc;
}

/* The kernel, its modules, and the tasks that the events see. */
static int synthesize(struct recorder *r, struct synth *y)
{
	enum record_synth what = r->c->synth;
	int rc = 0;

	y->no_tasks = what == RECORD_SYNTH_MMAP;
	y->no_maps = what == RECORD_SYNTH_TASK;
	if (what == RECORD_SYNTH_ALL || what == RECORD_SYNTH_MMAP)
		rc = synthesize_kernel(r, y);
	if (!rc && r->c->cgroups && (what == RECORD_SYNTH_ALL || what == RECORD_SYNTH_CGROUP)) {
		rc = cgroup_each(put_cgroup, y);
		rc = rc == PP_ENOENT ? 0 : rc;
	}
	if (!rc && what != RECORD_SYNTH_NONE && what != RECORD_SYNTH_CGROUP)
		rc = synthesize_tasks(r, y);
	return rc ? rc : synth_flush(y);
}

int begin_output(struct recorder *r)
{
	struct buf header = BUF_INIT;
	struct utsname u = {0};
	char modules[PATH_MAX];
	struct synth y = {.proc = "/proc", .sys = "/sys", .modules = modules};
	int rc = header_write(&r->s, &header);

	if (r->counts.alike)
		alike_forget(r->counts.alike);
	if (!rc && r->c->pack_level)
		rc = pack_begin(&r->pack, r->c->pack_level);
	if (!rc)
		rc = sink_put(&r->sink, header.data, header.len);
	buf_release(&header);
	if (rc)
		return out_error(r, rc);
	uname(&u);
	snprintf(modules, sizeof(modules), "/lib/modules/%s", u.release);
	y.id_size = header_sample_id_size(&r->s);
	y.build_ids = !r->c->no_build_ids;
	y.data = r->s.copies || r->c->map_data;
	y.namespaces = r->c->namespaces;
	y.put = put_bytes;
	y.ctx = r;
	rc = synthesize(r, &y);
	synth_release(&y);
	if (!rc)
		rc = put_record(r, PERF_REC_FINISHED_INIT, 0);
	return out_error(r, rc);
}
