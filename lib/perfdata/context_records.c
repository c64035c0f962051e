/* Records of a perf.data that are no samples: the context of processes, mappings, losses. */
#include "base/err.h"
#include "perfdata/decoder.h"
#include "perfdata/info.h"

#include <linux/perf_event.h>
#include <stdio.h>
#include <stdlib.h>

/* ---- the names of threads ---- */

#define THREADS_MAX (1u << 22) /* whose names are kept: the kernel's pid limit */

void perf_threads_release(struct perf_threads *t)
{
	map64_release(&t->comms);
	ended_release(&t->ended);
}

int perf_threads_set(struct perf_threads *t, uint32_t tid, uint32_t comm)
{
	uint32_t *c;

	if (t->comms.n >= THREADS_MAX)
		return PP_ELIMIT;
	ended_revive(&t->ended, tid);
	c = map64_put(&t->comms, tid, NULL);
	if (!c)
		return PP_ENOMEM;
	*c = comm;
	return 0;
}

int perf_threads_inherit(struct perf_threads *t, uint32_t tid, uint32_t ptid)
{
	return perf_threads_set(t, tid, perf_threads_get(t, ptid));
}

void perf_threads_exit(struct perf_threads *t, uint32_t tid)
{
	uint32_t gone;

	if (map64_get(&t->comms, tid) && ended_add(&t->ended, tid, &gone))
		map64_del(&t->comms, gone);
}

/* Mappings that are of no file: perf's rule for names. */
static bool no_file(const char *path, size_t len)
{
	static const char *const names[] = {
		"//anon",     "/dev/zero", "/anon_hugepage", "/memfd:",	   "[stack",
		"/SYSV",      "[anon:",	   "[anon_shmem:",   "[heap]",	   "[vdso]",
		"[vsyscall]", "[uprobes]", "[vectors]",	     "anon_inode:"};

	if (!len)
		return true;
	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		size_t n = strlen(names[i]);

		if (len >= n && !memcmp(path, names[i], n))
			return true;
	}
	return false;
}

/* The id of the DSO of a path, written to the stream when it is new. */
static int put_dso(struct perf_decoder *p, const char *path, size_t len, const uint8_t *build_id,
		   size_t blen, uint32_t flags, uint32_t *id)
{
	struct ps_dso d = {.path = ps_str(path, len)};
	struct buf key = BUF_INIT;
	bool fresh;
	int rc;

	if (no_file(path, len) && !(flags & (PS_DSO_KERNEL | PS_DSO_MODULE)))
		flags |= PS_DSO_NO_FILE;
	if (!blen) {
		uint32_t n = intern_find(&p->r.info.facts.build_id_paths, path, len);

		if (n) {
			build_id = p->r.info.facts.build_ids[n - 1].bytes;
			blen = p->r.info.facts.build_ids[n - 1].len;
		}
	}
	buf_add(&key, &flags, sizeof(flags));
	buf_addc(&key, (char)blen);
	buf_add(&key, build_id, blen);
	buf_add(&key, path, len);
	rc = key.err ? key.err : intern_add(&p->out.dsos, key.data, key.len, id, &fresh);
	buf_release(&key);
	if (rc || !fresh)
		return rc;
	if (*id >= PS_ID_MAX || p->out.dsos.arena.total > PERF_NAMES_MAX)
		return PP_ELIMIT;
	d.id = *id;
	d.flags = flags;
	d.build_id = ps_str((const char *)build_id, blen);
	return perf_put(p, PS_DSO, &d);
}

/* Event id of the stream for a PERF_SAMPLE_ID; 0 if unknown. */
static uint32_t event_of(struct perf_decoder *p, uint64_t id)
{
	struct perf_attr *a = id ? perf_attr_find(&p->r.info, id) : NULL;

	if (!a || perf_event_write(p, a))
		return 0;
	return a->event;
}

/*
 * The kernel's mapping is called "[kernel.kallsyms]_text": after the bracket comes the symbol whose
 * address pgoff holds, by which a relocated kernel is noticed. Modules are named by file or
 * "[ext4]".
 */
static int kernel_name(struct perf_decoder *p, const char *path, size_t *len, uint32_t *flags)
{
	const char *end = memchr(path, ']', *len);
	struct ps_meta m = {.key = ps_str("kernel_symbol", 13)};

	if (!end || *len < 8 || (memcmp(path, "[kernel", 7) && memcmp(path, "[guest", 6))) {
		*flags |= PS_DSO_MODULE;
		return 0;
	}
	*flags |= PS_DSO_KERNEL;
	m.value = ps_str(end + 1, *len - (size_t)(end + 1 - path));
	*len = (size_t)(end + 1 - path);
	return m.value.len ? perf_put(p, PS_META, &m) : 0;
}

/* What lies between the thread and the path. Returns the build-id, empty if there is none. */
static struct ps_str take_map(struct cursor *c, uint16_t misc, bool two, struct ps_mmap *m)
{
	struct ps_str build_id = {0};

	m->addr = get_u64(c);
	m->len = get_u64(c);
	m->pgoff = get_u64(c);
	if (!two)
		return build_id;
	if (perf_mmap2_has_build_id(*c, misc)) {
		uint8_t len = get_u8(c);

		cursor_skip(c, 3);
		build_id = ps_str((const char *)get_bytes(c, 20), len);
	} else {
		m->maj = get_u32(c);
		m->min = get_u32(c);
		m->ino = get_u64(c);
		m->ino_generation = get_u64(c);
	}
	m->prot = get_u32(c);
	m->map_flags = get_u32(c);
	return build_id;
}

static int do_mmap(struct perf_decoder *p, struct cursor c, uint16_t misc, bool two,
		   const struct perf_id *id)
{
	struct ps_mmap m = {PERF_CONTEXT(id)};
	uint32_t mode = misc & PERF_MISC_CPUMODE, dso_flags = 0;
	struct ps_str build_id;
	const char *path;
	size_t len;
	int rc;

	m.pid = get_u32(&c);
	m.tid = get_u32(&c);
	build_id = take_map(&c, misc, two, &m);
	path = get_text(&c, cursor_left(&c), &len);
	if (c.bad || !path)
		return PP_ECUT;
	if (mode == PERF_MISC_KERNEL || mode == PERF_MISC_GUEST_KERNEL) {
		m.flags |= PS_MMAP_KERNEL;
		rc = kernel_name(p, path, &len, &dso_flags);
		if (rc)
			return rc;
	}
	if (mode >= PERF_MISC_GUEST_KERNEL) {
		m.flags |= PS_MMAP_GUEST;
		dso_flags |= PS_DSO_GUEST;
	}
	/* Without PROT_EXEC nothing runs there: MMAP shows it in misc, MMAP2 in prot. */
	if (two ? !ps_mmap_runs(m.prot) : (misc & PERF_MISC_MMAP_DATA) != 0)
		m.flags |= PS_MMAP_DATA;
	rc = put_dso(p, path, len, (const uint8_t *)build_id.p, build_id.len, dso_flags, &m.dso);
	return rc ? rc : perf_put(p, PS_MMAP, &m);
}

static int do_comm(struct perf_decoder *p, struct cursor c, uint16_t misc, const struct perf_id *id)
{
	struct ps_comm m = {PERF_CONTEXT(id)};
	const char *name;
	size_t len;
	int rc;

	m.pid = get_u32(&c);
	m.tid = get_u32(&c);
	name = get_text(&c, cursor_left(&c), &len);
	if (c.bad || !name)
		return PP_ECUT;
	m.flags = misc & PERF_MISC_COMM_EXEC ? PS_COMM_EXEC : 0;
	rc = perf_put_string(p, name, len, &m.comm);
	if (!rc)
		rc = perf_threads_set(&p->threads, m.tid, m.comm);
	return rc ? rc : perf_put(p, PS_COMM, &m);
}

static int do_task(struct perf_decoder *p, struct cursor c, uint32_t type, uint16_t misc,
		   const struct perf_id *id)
{
	struct ps_fork m = {PERF_CONTEXT(id)};
	int rc = 0;

	m.pid = get_u32(&c);
	m.ppid = get_u32(&c);
	m.tid = get_u32(&c);
	m.ptid = get_u32(&c);
	if (c.bad)
		return PP_ECUT;
	if (!m.time)
		m.time = get_u64(&c);
	if (type == PERF_REC_FORK) {
		m.flags = misc & PERF_MISC_FORK_EXEC ? 1 : 0;
		rc = perf_threads_inherit(&p->threads, m.tid, m.ptid);
	} else {
		perf_threads_exit(&p->threads, m.tid);
	}
	return rc ? rc : perf_put(p, type == PERF_REC_FORK ? PS_FORK : PS_EXIT, &m);
}

/*
 * The kernel counts in the ring buffer what did not fit, but not what was lost after the last
 * record that did. At the end perf itself counts those of each event (PERF_FORMAT_LOST), in records
 * of the time 0: these are the same losses again, and the last ones. Other lost samples are those
 * that the hardware dropped.
 */
static void count_lost(struct perf_decoder *p, const struct ps_lost *m)
{
	uint64_t before = p->tally.lost;

	if (m->kind == PS_LOST_RECORDS)
		p->tally.lost_in_ring += m->count;
	else if (!m->time)
		p->tally.lost_at_end += m->count;
	else
		p->tally.lost_dropped += m->count;
	p->tally.lost = p->tally.lost_dropped + (p->tally.lost_in_ring > p->tally.lost_at_end
							 ? p->tally.lost_in_ring
							 : p->tally.lost_at_end);
	p->account->lost += p->tally.lost - before;
}

static int do_lost(struct perf_decoder *p, struct cursor c, uint16_t misc, bool samples,
		   const struct perf_id *id)
{
	struct ps_lost m = {PERF_CONTEXT(id)};

	if (!samples)
		m.event = event_of(p, get_u64(&c));
	else
		m.event = event_of(p, id->id);
	m.count = get_u64(&c);
	m.kind = samples ? PS_LOST_SAMPLES : PS_LOST_RECORDS;
	if (c.bad)
		return PP_ECUT;
	/* Samples that a BPF filter of the user's dropped are no loss. */
	if (samples && (misc & PERF_MISC_LOST_SAMPLES_BPF))
		return 0;
	count_lost(p, &m);
	return perf_put(p, PS_LOST, &m);
}

static int do_throttle(struct perf_decoder *p, struct cursor c, bool resumed,
		       const struct perf_id *id)
{
	struct ps_throttle m = {PERF_CONTEXT(id)};
	uint64_t time = get_u64(&c);

	if (!m.time)
		m.time = time;
	m.id = get_u64(&c);
	m.stream_id = get_u64(&c);
	m.event = event_of(p, m.id);
	m.flags = resumed;
	return c.bad ? PP_ECUT : perf_put(p, PS_THROTTLE, &m);
}

static int do_switch(struct perf_decoder *p, struct cursor c, uint16_t misc, bool wide,
		     const struct perf_id *id)
{
	struct ps_switch m = {PERF_CONTEXT(id)};

	m.flags = misc & PERF_MISC_SWITCH_OUT ? 1 : 0;
	if (misc & (1 << 14))
		m.flags |= 2;
	if (wide) {
		m.flags |= 4;
		m.other_pid = get_u32(&c);
		m.other_tid = get_u32(&c);
	}
	return c.bad ? PP_ECUT : perf_put(p, PS_SWITCH, &m);
}

static int do_ksymbol(struct perf_decoder *p, struct cursor c, const struct perf_id *id)
{
	struct ps_ksymbol m = {PERF_CONTEXT(id)};
	size_t len;

	m.addr = get_u64(&c);
	m.len = get_u32(&c);
	m.ksym_type = get_u16(&c);
	m.flags = get_u16(&c);
	m.name.p = get_text(&c, cursor_left(&c), &len);
	m.name.len = (uint32_t)len;
	return c.bad ? PP_ECUT : perf_put(p, PS_KSYMBOL, &m);
}

static int do_cgroup(struct perf_decoder *p, struct cursor c, const struct perf_id *id)
{
	struct ps_cgroup m = {PERF_CONTEXT(id)};
	size_t len;

	m.id = get_u64(&c);
	m.path.p = get_text(&c, cursor_left(&c), &len);
	m.path.len = (uint32_t)len;
	return c.bad ? PP_ECUT : perf_put(p, PS_CGROUP, &m);
}

/* A record that has no type of its own in the stream: its bytes travel. */
static int do_other(struct perf_decoder *p, uint32_t type, uint16_t misc, const uint8_t *rec,
		    size_t size, const struct perf_id *id)
{
	struct ps_other m = {PERF_CONTEXT(id)};

	m.record_type = type;
	m.misc = misc;
	m.data = ps_str((const char *)rec, size);
	return perf_put(p, PS_OTHER, &m);
}

int perf_record(struct perf_decoder *p, uint8_t *rec, size_t size, uint64_t time)
{
	struct cursor c = cursor_make(rec, size, p->r.info.swap);
	uint32_t type = get_u32(&c);
	uint16_t misc = get_u16(&c);
	struct perf_id id;

	get_u16(&c);
	perf_record_id(&p->r.info, rec, size, &id);
	id.time = time;
	switch (type) {
	case PERF_REC_MMAP: return do_mmap(p, c, misc, false, &id);
	case PERF_REC_MMAP2: return do_mmap(p, c, misc, true, &id);
	case PERF_REC_COMM: return do_comm(p, c, misc, &id);
	case PERF_REC_FORK:
	case PERF_REC_EXIT: return do_task(p, c, type, misc, &id);
	case PERF_REC_LOST: return do_lost(p, c, misc, false, &id);
	case PERF_REC_LOST_SAMPLES: return do_lost(p, c, misc, true, &id);
	case PERF_REC_THROTTLE:
	case PERF_REC_UNTHROTTLE: return do_throttle(p, c, type == PERF_REC_UNTHROTTLE, &id);
	case PERF_REC_SWITCH:
	case PERF_REC_SWITCH_CPU_WIDE:
		return do_switch(p, c, misc, type == PERF_REC_SWITCH_CPU_WIDE, &id);
	case PERF_REC_KSYMBOL: return do_ksymbol(p, c, &id);
	case PERF_REC_CGROUP: return do_cgroup(p, c, &id);
	case PERF_REC_READ: return perf_record_read(p, c, &id);
	case PERF_REC_NAMESPACES: return perf_record_namespaces(p, c, &id);
	case PERF_REC_BPF_EVENT: return perf_record_bpf(p, c, &id);
	case PERF_REC_TEXT_POKE: return perf_record_text_poke(p, c, &id);
	case PERF_REC_AUX:
	case PERF_REC_ITRACE_START:
	case PERF_REC_AUX_OUTPUT_HW_ID: return perf_record_aux(p, c, type, &id);
	case PERF_REC_CALLCHAIN_DEFERRED: return perf_deferred_done(p, rec, size);
	default: return do_other(p, type, misc, rec, size, &id);
	}
}
