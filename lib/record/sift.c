/*
 * Processes with more threads than there can be descriptors: all CPUs are recorded, and only what
 * is of those processes, and of those that they start, is written.
 */
#include "base/err.h"
#include "perfdata/format.h"
#include "pevent/sysfile.h"
#include "record/parts.h"

#include <stdio.h>
#include <sys/syscall.h>
#include <unistd.h>

#define QUICK 4096 /* descriptors that are opened and closed within a second */

/* Whether this process may record all CPUs. */
static bool may_see_all(const struct session *s)
{
	struct perf_event_attr attr = {
		.type = PERF_TYPE_SOFTWARE,
		.size = sizeof(attr),
		.config = PERF_COUNT_SW_DUMMY,
		.disabled = 1,
		.exclude_kernel = s->c->all_user,
		.exclude_hv = 1,
	};
	long fd = syscall(SYS_perf_event_open, &attr, -1, s->t.cpus[0], -1, PERF_FLAG_FD_CLOEXEC);

	if (fd >= 0)
		close((int)fd);
	return fd >= 0;
}

int sift_choose(struct session *s)
{
	struct target *t = &s->t;
	uint64_t need = (uint64_t)t->n_cpus * t->n_tids * (s->c->events.n + 1);
	uint64_t most = sysfile_raise_files(need);
	bool fresh, named = s->c->whom.pids || s->c->whom.user;

	if (need <= (most < QUICK ? most : QUICK))
		return 0;
	if (!named || s->c->per_thread || s->c->no_inherit || !may_see_all(s))
		return 0;
	for (size_t i = 0; i < t->n_pids; i++)
		if (!map64_put(&s->sift.pids, (uint32_t)t->pids[i], &fresh))
			return PP_ENOMEM;
	diag_say(s->d, NULL,
		 "%zu threads: all CPUs are recorded, and events of other processes are left out; "
		 "losses can be theirs",
		 t->n_tids);
	t->tids[0] = -1;
	t->n_tids = 1;
	s->sift.on = true;
	return 0;
}

static bool knows(const struct sift *f, uint32_t pid)
{
	return map64_get(&f->pids, pid) != NULL;
}

/* FORK: pid, ppid, tid, ptid. A number that was used before may now be that of any process. */
int sift_learn(struct sift *f, const struct ring *r, uint64_t to)
{
	struct perf_event_header h;
	bool fresh;

	for (uint64_t pos = r->tail; to - pos >= sizeof(h); pos += h.size) {
		uint64_t both;
		uint32_t pid, parent;

		memcpy(&h, ring_data(r) + (pos & r->mask), sizeof(h));
		if (h.size < sizeof(h) || h.size > to - pos)
			break;
		if (h.type != PERF_REC_FORK)
			continue;
		both = ring_word(r, pos + sizeof(h));
		memcpy(&pid, &both, sizeof(pid));
		memcpy(&parent, (uint8_t *)&both + sizeof(pid), sizeof(parent));
		if (pid == parent)
			continue;
		if (!knows(f, parent))
			map64_del(&f->pids, pid);
		else if (!map64_put(&f->pids, pid, &fresh))
			return PP_ENOMEM;
	}
	return 0;
}

/* Where a record tells whose it is; 0: it is nobody's. */
static uint64_t pid_at(const struct session *s, const struct ring *r, uint64_t pos,
		       const struct perf_event_header *h, const struct ring_ids *ids)
{
	const struct perf_event_attr *a = &s->attrs[0].attr;
	uint64_t at = sizeof(*h);

	switch (h->type) {
	case PERF_REC_SAMPLE:
		if (s->with_ids && h->size >= at + 8)
			a = ids_attr(s, ids_shown(ids, ring_word(r, pos + at)));
		if (!a)
			return 0;
		at += a->sample_type & PERF_SAMPLE_IDENTIFIER ? 8 : 0;
		return at + (a->sample_type & PERF_SAMPLE_IP ? 8 : 0);
	case PERF_REC_MMAP:
	case PERF_REC_MMAP2:
	case PERF_REC_COMM:
	case PERF_REC_FORK:
	case PERF_REC_EXIT:
	case PERF_REC_READ:
	case PERF_REC_NAMESPACES: return at;
	case PERF_REC_SWITCH:
	case PERF_REC_SWITCH_CPU_WIDE: return h->size - header_sample_id_size(s);
	default: return 0;
	}
}

bool sift_wants(const struct session *s, const struct ring *r, uint64_t pos,
		const struct perf_event_header *h, const struct ring_ids *ids)
{
	uint64_t at = pid_at(s, r, pos, h, ids), both;
	uint32_t pid;

	if (!at || at % 8 || h->size < at + 8)
		return true;
	both = ring_word(r, pos + at);
	memcpy(&pid, &both, sizeof(pid));
	return pid == UINT32_MAX || knows(&s->sift, pid);
}

/* A process that has ended but was not waited for is none. */
static bool lives(pid_t pid)
{
	struct buf b = BUF_INIT;
	char path[64];
	const char *state;
	long threads = 0;
	char c = 'X';

	snprintf(path, sizeof(path), "/proc/%d/stat", (int)pid);
	if (!sysfile_read(path, SYSFILE_MAX, &b)) {
		state = strrchr(buf_str(&b), ')');
		if (state)
			(void)sscanf(state + 1,
				     " %c %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s "
				     "%*s %*s %ld",
				     &c, &threads);
	}
	buf_release(&b);
	return (c != 'Z' && c != 'X') || threads > 1; /* the first thread may have ended alone */
}

bool sift_any_left(const struct sift *f)
{
	for (uint32_t i = 0; f->pids.slots && i <= f->pids.mask; i++)
		if (f->pids.slots[i].used && lives((pid_t)f->pids.slots[i].key))
			return true;
	return false;
}
