/* Looks at the rest of stacks that are deeper than the largest copies. */
#include "record/deep.h"

#include "perfdata/format.h"
#include "record/parts.h"

#include <stdlib.h>
#include <string.h>
#include <sys/uio.h>

#define XXH_INLINE_ALL
#include <xxhash.h>

#define THREADS	  256u /* by the lower bits of their number, a power of two */
#define ASKED_MAX 64u  /* threads that are looked at after a round */
#define PAGE	  4096u
#define CHUNK	  14u		/* pages of a record, which has 16 bits for its bytes */
#define PAGES_MAX (16u << 8)	/* of a stack: 16 MB; what is larger is none */
#define COPY_MIN  32768u	/* smaller copies are continued by the helper's */
#define AGAIN	  10000000ull	/* ns after which a thread is looked at again */
#define ACTIVE	  500000000ull	/* after a look others are expected */
#define GONE	  2000000000ull /* after which it makes room for others */

struct deep_thread {
	uint32_t tid;
	uint32_t asked; /* 1 + where its newest sample is among those; 0: nowhere */
	uint64_t again; /* the time from which on it is looked at again */
	uint64_t base;	/* the lowest page that was looked at of late */
	uint64_t end;	/* of the stack */
	uint32_t looks; /* at this stack */
	uint32_t pages;
	uint64_t *hash; /* owned; of its pages, the uppermost first */
};

struct asked {
	const struct ring *ring;
	const struct perf_event_attr *attr;
	uint64_t pos;
	size_t size;
	struct trim trim;
	uint64_t id; /* of the helper */
};

struct deep {
	const struct session *s;
	uint64_t *ids; /* of the helper of each event; 0: its stacks are not looked at */
	struct deep_thread threads[THREADS];
	struct asked asked[ASKED_MAX];
	uint32_t n_asked;
	uint64_t zeroes;      /* the hash of a page of zeroes */
	uint64_t now, newest; /* ns; of the last round, of the last look */
	uint64_t count;
	uint8_t chunk[CHUNK * PAGE];
};

/* One look. */
struct look {
	struct deep *d;
	const struct asked *a;
	struct deep_thread *t;
	struct buf *b;
	uint64_t base; /* of the first page */
	uint64_t bytes;
};

/* A helper's own copies are as large as can be. */
static void find_ids(struct deep *d)
{
	const struct session *s = d->s;

	for (size_t i = s->events->n; i < s->n_attrs; i++) {
		const struct rec_attr *h = &s->attrs[i];

		if (!h->helper || !h->n_ids)
			continue;
		d->ids[i] = h->ids[0];
		for (size_t k = 0; k < s->events->n; k++)
			if (s->attrs[k].ev == h->ev && s->attrs[k].attr.freq)
				d->ids[k] = h->ids[0];
	}
}

struct deep *deep_new(const struct session *s)
{
	struct deep *d = calloc(1, sizeof(*d));

	if (d)
		d->ids = calloc(s->n_attrs + 1, sizeof(*d->ids));
	if (!d || !d->ids) {
		free(d);
		return NULL;
	}
	d->s = s;
	d->zeroes = XXH3_64bits(d->chunk, PAGE);
	find_ids(d);
	return d;
}

void deep_free(struct deep *d)
{
	if (!d)
		return;
	for (size_t i = 0; i < THREADS; i++)
		free(d->threads[i].hash);
	free(d->ids);
	free(d);
}

uint64_t deep_count(const struct deep *d)
{
	return d->count;
}

bool deep_active(const struct deep *d)
{
	return d->count && d->now - d->newest < ACTIVE;
}

void deep_note(struct deep *d, const struct ring *r, uint64_t pos, size_t size,
	       const struct perf_event_attr *a, const struct trim *t)
{
	const struct rec_attr *of =
		(const void *)((const char *)a - offsetof(struct rec_attr, attr));
	uint64_t id = d->ids[of - d->s->attrs];
	struct deep_thread *th = &d->threads[t->copy.tid & (THREADS - 1)];

	if (!id || !t->copy.tid || (!of->helper && t->full < COPY_MIN))
		return;
	if (!th->asked) {
		uint64_t from = th->tid == t->copy.tid || !th->tid ? th->again : th->again + GONE;

		if (d->now < from || d->n_asked == ASKED_MAX)
			return;
		th->asked = ++d->n_asked;
	}
	d->asked[th->asked - 1] = (struct asked){r, a, pos, size, *t, id};
}

void deep_forget(struct deep *d)
{
	for (uint32_t i = 0; i < d->n_asked; i++)
		d->threads[d->asked[i].trim.copy.tid & (THREADS - 1)].asked = 0;
	d->n_asked = 0;
}

/* Room for the hashes of a stack, which begins anew if its end is another. */
static bool prepare(struct deep *d, struct deep_thread *t, uint32_t tid, uint64_t end,
		    uint32_t pages)
{
	uint64_t *v;

	if (t->tid != tid || t->end != end)
		t->pages = t->looks = 0;
	t->tid = tid;
	t->end = end;
	if (pages <= t->pages)
		return true;
	v = realloc(t->hash, pages * sizeof(*v));
	if (!v)
		return false;
	t->hash = v;
	while (t->pages < pages)
		v[t->pages++] = d->zeroes;
	return true;
}

/* The sample once more, of the helper, with these bytes as its copy, and when they were read. */
static void add(struct look *l, uint64_t at, const uint8_t *bytes, uint64_t n, bool last)
{
	const struct perf_event_attr *a = l->a->attr;
	uint64_t mask = a->sample_regs_user, type = a->sample_type;
	uint64_t below = (UINT64_C(1) << words_stack_pointer()) - 1;
	uint64_t regs[64] = {l->base, l->t->end, 2 * (uint64_t)l->t->looks + last}, now;
	size_t start = l->b->len, count = (size_t)__builtin_popcountll(mask);

	trim_as(l->b, l->a->ring, l->a->pos, l->a->size, &l->a->trim, l->a->id, bytes, n);
	if (l->b->err)
		return;
	regs[__builtin_popcountll(mask & below)] = at;
	memcpy(l->b->data + start + l->a->trim.at - 8 * count, regs, 8 * count);
	now = now_ns((clockid_t)a->clockid);
	memcpy(l->b->data + start + sizeof(struct perf_event_header) +
		       8 * (size_t)__builtin_popcountll(type & (PERF_SAMPLE_IDENTIFIER |
								PERF_SAMPLE_IP | PERF_SAMPLE_TID)),
	       &now, sizeof(now));
	l->bytes += l->b->len - start;
}

/* Whether a page of the chunk is to be written: it changed, or all are written that hold anything. */
static bool is_new(const struct look *l, uint64_t at, const uint8_t *page)
{
	uint64_t *known = &l->t->hash[(l->t->end - at) / PAGE - 1], hash = XXH3_64bits(page, PAGE);
	bool all = l->t->looks % PERF_DEEP_ALL == 0;
	bool is = hash != *known || (all && hash != l->d->zeroes);

	*known = hash;
	return is;
}

static void add_chunk(struct look *l, uint64_t at, uint64_t pages)
{
	const uint8_t *chunk = l->d->chunk;
	uint64_t from = 0;

	for (uint64_t i = 0; i <= pages; i++) {
		if (i < pages && is_new(l, at + i * PAGE, chunk + i * PAGE))
			continue;
		if (i > from)
			add(l, at + from * PAGE, chunk + from * PAGE, (i - from) * PAGE, false);
		from = i + 1;
	}
}

/* Reads a stack to its end. False: it could not be read, and what was written is no look. */
static bool read_all(struct look *l)
{
	uint64_t n = 0;

	for (uint64_t at = l->base; at < l->t->end; at += n) {
		struct iovec ours = {l->d->chunk, 0}, theirs = {(void *)(uintptr_t)at, 0};

		n = l->t->end - at < CHUNK * PAGE ? l->t->end - at : CHUNK * PAGE;
		ours.iov_len = theirs.iov_len = (size_t)n;
		if (process_vm_readv((pid_t)l->a->trim.copy.pid, &ours, 1, &theirs, 1, 0) !=
		    (ssize_t)n)
			return false;
		add_chunk(l, at, n / PAGE);
	}
	/* The last word once more: that is all. */
	add(l, l->t->end - 8, l->d->chunk + n - 8, 8, true);
	return !l->b->err;
}

/* Where to begin: stacks become deeper and less deep, and what lies between looks is to be in both. */
static uint64_t base_of(const struct deep_thread *t, const struct short_copy *c)
{
	uint64_t base = c->sp & ~(uint64_t)(PAGE - 1);
	bool lower = t->tid == c->tid && t->base < base && base < t->end;

	return lower && t->looks % PERF_DEEP_ALL ? t->base : base;
}

static void look(struct deep *d, const struct asked *a, struct look_budget *budget, struct buf *b)
{
	const struct short_copy *c = &a->trim.copy;
	struct deep_thread *t = &d->threads[c->tid & (THREADS - 1)];
	struct look l = {d, a, t, b, base_of(t, c), 0};
	size_t start = b->len;
	struct mapping m;

	t->again = budget->now + AGAIN;
	if (!mapping_at("/proc", (pid_t)c->pid, c->sp, NULL, &m) || m.end % PAGE ||
	    m.end - l.base > (uint64_t)PAGES_MAX * PAGE ||
	    !prepare(d, t, c->tid, m.end, (uint32_t)((m.end - l.base) / PAGE)))
		return;
	if (!read_all(&l)) {
		b->len = start;
		t->pages = t->looks = 0;
		return;
	}
	t->base = l.base;
	t->looks++;
	d->count++;
	d->newest = d->now;
	budget->bytes += l.bytes;
}

void deep_take(struct deep *d, struct look_budget *budget, struct buf *b)
{
	uint64_t cpu, before;

	d->now = budget->now;
	if (!d->n_asked)
		return;
	before = now_ns(CLOCK_THREAD_CPUTIME_ID);
	for (uint32_t i = 0; i < d->n_asked && look_may(budget); i++) {
		look(d, &d->asked[i], budget, b);
		cpu = now_ns(CLOCK_THREAD_CPUTIME_ID);
		budget->spent += cpu - before;
		before = cpu;
	}
	deep_forget(d);
}
