/* Stacks of threads that sleep, read beyond their copies. */
#include "record/looks.h"

#include "base/err.h"
#include "pevent/sysfile.h"
#include "pevent/tracefs.h"
#include "record/parts.h"

#include <inttypes.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/uio.h>

#define PLACES	    16384u /* where threads slept, by a hash */
#define ASKED_MAX   256u   /* places that are looked at after a round */
#define RECORD_MAX  65528u /* bytes of a record: it has 16 bits for them */
#define TASK_REPORT 0xff   /* the states of include/linux/sched.h that switches tell */
#define SECOND	    1000000000ull
#define AGAIN	    (4 * SECOND)  /* after which the same place is looked at again */
#define LATER	    (SECOND / 20) /* likewise, where the thread was awake so often */
#define AWAKE_MAX   4

struct place {
	uint64_t key;	/* of the thread and its stack pointer */
	uint64_t again; /* the time from which on it is looked at again */
	uint32_t asked; /* 1 + where its newest sample is among those; 0: nowhere */
	uint8_t seen;	/* stacks that were read there, up to two */
	uint8_t awake;	/* looks in a row that came too late */
};

struct asked {
	const struct ring *ring;
	uint64_t pos;
	size_t size;
	struct trim trim;
	uint64_t key, id; /* id: of the helper */
};

struct looks {
	const struct session *s;
	uint64_t *ids;	/* of the helper of each switch; 0: it has none */
	uint32_t state; /* where prev_state is among the data of a switch */
	struct place places[PLACES];
	struct asked asked[ASKED_MAX];
	uint32_t n_asked;
	struct look_budget budget;
	uint64_t count;
	struct deep *deep;
	uint8_t stack[RECORD_MAX];
};

/* Where scheduler switches say whether the thread sleeps or was only displaced. */
static bool find_state(struct looks *l)
{
	uint32_t size;

	if (!l->s->tracefs || !tracefs_field_at(l->s->tracefs, "sched", "sched_switch",
						"prev_state", &l->state, &size))
		return false;
	if (__BYTE_ORDER__ == __ORDER_BIG_ENDIAN__)
		l->state += size - (uint32_t)sizeof(uint32_t);
	return size >= sizeof(uint32_t);
}

static bool is_switch(const struct pevent *ev)
{
	return ev->tp && !strcmp(ev->system, "sched") && !strcmp(ev->tp, "sched_switch");
}

/* The id of the helper of each switch. */
static int find_helpers(struct looks *l)
{
	const struct session *s = l->s;

	l->ids = calloc(s->n_attrs + 1, sizeof(*l->ids));
	if (!l->ids)
		return PP_ENOMEM;
	if (!find_state(l))
		return 0;
	for (size_t i = s->events->n; i < s->n_attrs; i++) {
		const struct rec_attr *h = &s->attrs[i];

		for (size_t k = 0; k < s->events->n && h->helper && h->n_ids; k++)
			if (s->attrs[k].ev == h->ev && is_switch(h->ev))
				l->ids[k] = h->ids[0];
	}
	return 0;
}

struct looks *looks_new(const struct session *s)
{
	struct looks *l = calloc(1, sizeof(*l));

	if (!l)
		return NULL;
	l->s = s;
	l->budget.began = l->budget.now = now_ns(CLOCK_MONOTONIC);
	l->deep = deep_new(s);
	if (!l->deep || find_helpers(l)) {
		looks_free(l);
		return NULL;
	}
	return l;
}

void looks_free(struct looks *l)
{
	if (!l)
		return;
	deep_free(l->deep);
	free(l->ids);
	free(l);
}

uint64_t looks_count(const struct looks *l)
{
	return l->count;
}

uint64_t looks_deep(const struct looks *l)
{
	return deep_count(l->deep);
}

bool looks_active(const struct looks *l)
{
	return deep_active(l->deep);
}

static struct place *place_of(struct looks *l, uint64_t key)
{
	return &l->places[key >> 32 & (PLACES - 1)];
}

/* Whether the thread of a switch goes to sleep: displaced ones have no bit of TASK_REPORT. */
static bool goes_to_sleep(const struct looks *l, const struct ring *r, uint64_t pos, size_t size,
			  const struct trim *t)
{
	uint64_t at = t->raw + l->state, word;
	uint32_t state;

	if (!t->raw || at + sizeof(state) > size)
		return false;
	word = ring_word(r, (pos + at) & ~UINT64_C(7));
	memcpy(&state, (uint8_t *)&word + (at & 7), sizeof(state));
	return state & TASK_REPORT;
}

void looks_note(struct looks *l, const struct ring *r, uint64_t pos, size_t size,
		const struct perf_event_attr *a, const struct trim *t)
{
	const struct rec_attr *of =
		(const void *)((const char *)a - offsetof(struct rec_attr, attr));
	uint64_t id = l->ids[of - l->s->attrs];
	struct place *p;
	uint64_t key;
	bool known;

	deep_note(l->deep, r, pos, size, a, t);
	if (!id || !t->copy.tid || !goes_to_sleep(l, r, pos, size, t))
		return;
	key = (t->copy.sp ^ (uint64_t)t->copy.tid << 44) * UINT64_C(0x9e3779b97f4a7c15);
	p = place_of(l, key);
	known = p->key == key;
	if (!known || !p->asked) {
		if ((known && l->budget.now < p->again) || l->n_asked == ASKED_MAX)
			return;
		*p = (struct place){.key = key,
				    .asked = ++l->n_asked,
				    .seen = known ? p->seen : 0,
				    .awake = known ? p->awake : 0};
	}
	l->asked[p->asked - 1] = (struct asked){r, pos, size, *t, key, id};
}

void looks_forget(struct looks *l)
{
	for (uint32_t i = 0; i < l->n_asked; i++)
		place_of(l, l->asked[i].key)->asked = 0;
	l->n_asked = 0;
	deep_forget(l->deep);
}

/* Whether a thread sleeps with this stack pointer; see /proc/PID/syscall in proc(5). */
static bool sleeps_at(const struct short_copy *c)
{
	struct buf line = BUF_INIT;
	char path[64], *sp = NULL;
	bool so;

	snprintf(path, sizeof(path), "/proc/%" PRIu32 "/task/%" PRIu32 "/syscall", c->pid, c->tid);
	/* The last two numbers are the stack pointer and the program counter. */
	if (!sysfile_read(path, LINE_MAX, &line) && line.len &&
	    (sp = strrchr((char *)line.data, ' '))) {
		*sp = 0;
		sp = strrchr((char *)line.data, ' ');
	}
	so = sp && strtoull(sp, NULL, 16) == c->sp;
	buf_release(&line);
	return so;
}

/* Reads the stack from its pointer on; how many bytes, whole words; 0: none. */
static uint64_t read_stack(struct looks *l, const struct asked *a)
{
	const struct short_copy *c = &a->trim.copy;
	uint64_t room = RECORD_MAX - (a->size - a->trim.full);
	struct iovec ours = {l->stack, 0}, theirs = {(void *)(uintptr_t)c->sp, 0};
	struct mapping m;
	ssize_t got;

	if (!mapping_at("/proc", (pid_t)c->pid, c->sp, NULL, &m))
		return 0;
	ours.iov_len = theirs.iov_len = (size_t)(m.end - c->sp < room ? m.end - c->sp : room);
	got = process_vm_readv((pid_t)c->pid, &ours, 1, &theirs, 1, 0);
	return got > 0 ? (uint64_t)got & ~UINT64_C(7) : 0;
}

/* Whether what was read begins with the copy. */
static bool begins_with_copy(const struct looks *l, const struct asked *a)
{
	struct iovec v[2];
	size_t n = ring_pieces(a->ring, a->pos + a->trim.at + 8, a->trim.full, v), at = 0;
	bool same = true;

	for (size_t i = 0; i < n && same; at += v[i++].iov_len)
		same = !memcmp(l->stack + at, v[i].iov_base, v[i].iov_len);
	return same;
}

/* What came of a look. */
enum look { LOOK_ALL, LOOK_AWAKE, LOOK_READ };

static enum look look(struct looks *l, const struct asked *a, struct buf *b)
{
	uint64_t n;

	if (!sleeps_at(&a->trim.copy))
		return LOOK_AWAKE;
	n = read_stack(l, a);
	if (n <= a->trim.full)
		return LOOK_ALL;
	if (!begins_with_copy(l, a) || !sleeps_at(&a->trim.copy))
		return LOOK_AWAKE;
	trim_as(b, a->ring, a->pos, a->size, &a->trim, a->id, l->stack, n);
	l->budget.bytes += n;
	l->count++;
	return LOOK_READ;
}

/*
 * When to look there again. Two stacks are read as soon as can be, since psym takes what it saw
 * twice for the callers of all at that place; then now and then one.
 */
static void plan(struct place *p, enum look how, uint64_t now)
{
	p->awake = how != LOOK_AWAKE ? 0 : p->awake < AWAKE_MAX ? p->awake + 1 : AWAKE_MAX;
	p->seen += how == LOOK_READ && p->seen < 2;
	p->again = how == LOOK_ALL		     ? UINT64_MAX
		   : how == LOOK_READ && p->seen > 1 ? now + AGAIN
		   : p->awake == AWAKE_MAX	     ? now + LATER
						     : now;
}

static void take_sleepers(struct looks *l, struct buf *b)
{
	uint64_t cpu;

	if (!l->n_asked)
		return;
	cpu = now_ns(CLOCK_THREAD_CPUTIME_ID);
	for (uint32_t i = 0; i < l->n_asked; i++) {
		const struct asked *a = &l->asked[i];
		struct place *p = place_of(l, a->key);
		uint64_t before = cpu;
		enum look how;

		if (p->key == a->key)
			p->asked = 0;
		if (!look_may(&l->budget))
			continue;
		how = look(l, a, b);
		cpu = now_ns(CLOCK_THREAD_CPUTIME_ID);
		l->budget.spent += cpu - before;
		if (p->key == a->key)
			plan(p, how, l->budget.now);
	}
	l->n_asked = 0;
}

void looks_take(struct looks *l, struct buf *b)
{
	l->budget.now = now_ns(CLOCK_MONOTONIC);
	take_sleepers(l, b);
	deep_take(l->deep, &l->budget, b);
}
