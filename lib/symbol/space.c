#include "symbol/space.h"

#include "base/err.h"
#include "base/intern.h"

#include <stdlib.h>
#include <string.h>

#define MAP_OLD (1u << 31) /* flag of a mapping of the image before exec */

struct space {
	uint32_t refs;
	uint32_t serial;
	uint32_t n, cap;
	uint32_t tag;
	bool missed;	  /* an address that is not mapped was looked up */
	bool exec;	  /* the maps marked old are those of the image before */
	struct map *maps; /* by start, disjoint */
};

struct spaces {
	struct map64 by_pid;  /* index in table, + 1 */
	struct space **table; /* NULL: free */
	uint32_t n, cap;
	uint32_t serial;
	uint32_t exited[SPACES_EXITED_MAX]; /* pids, a ring; 0: none */
	struct map64 dying;		    /* pid: its place in the ring, + 1 */
	uint32_t next_exited;
};

int spaces_new(struct spaces **s)
{
	*s = calloc(1, sizeof(**s));
	return *s ? 0 : PP_ENOMEM;
}

static void space_unref(struct space *sp)
{
	if (sp && !--sp->refs) {
		free(sp->maps);
		free(sp);
	}
}

void spaces_free(struct spaces *s)
{
	if (!s)
		return;
	for (uint32_t i = 0; i < s->n; i++)
		space_unref(s->table[i]);
	free(s->table);
	map64_release(&s->by_pid);
	map64_release(&s->dying);
	free(s);
}

struct space *spaces_get(const struct spaces *s, uint32_t pid)
{
	uint32_t *slot = map64_get(&s->by_pid, pid);

	return slot && *slot ? s->table[*slot - 1] : NULL;
}

uint32_t space_serial(const struct space *sp)
{
	return sp->serial;
}

/* Never 0, nor what stands for the kernels in a key (2^32 - 1 and - 2). */
static uint32_t next_serial(struct spaces *s)
{
	s->serial = s->serial >= UINT32_MAX - 2 ? 1 : s->serial + 1;
	return s->serial;
}

static struct space *space_new(struct spaces *s, const struct space *copy)
{
	struct space *sp = calloc(1, sizeof(*sp));

	if (!sp)
		return NULL;
	sp->refs = 1;
	sp->serial = next_serial(s);
	if (copy)
		sp->tag = copy->tag;
	if (copy && copy->n) {
		sp->maps = malloc(copy->n * sizeof(*sp->maps));
		if (!sp->maps) {
			free(sp);
			return NULL;
		}
		memcpy(sp->maps, copy->maps, copy->n * sizeof(*sp->maps));
		sp->n = sp->cap = copy->n;
		sp->missed = copy->missed;
		sp->exec = copy->exec;
	}
	return sp;
}

/* The place of a process's space. NULL: out of memory. */
static struct space **place(struct spaces *s, uint32_t pid)
{
	uint32_t *slot = map64_put(&s->by_pid, pid, NULL);

	if (!slot)
		return NULL;
	if (!*slot) {
		if (s->n == s->cap) {
			uint32_t cap = s->cap ? s->cap * 2 : 64;
			struct space **t = realloc(s->table, cap * sizeof(*t));

			if (!t)
				return NULL;
			s->table = t;
			s->cap = cap;
		}
		s->table[s->n++] = NULL;
		*slot = s->n;
	}
	return &s->table[*slot - 1];
}

/* A pid that is used again is no longer that of a process that ended. */
static void revive(struct spaces *s, uint32_t pid)
{
	uint32_t *slot = map64_get(&s->dying, pid);

	if (!slot)
		return;
	s->exited[*slot - 1] = 0;
	map64_del(&s->dying, pid);
}

int spaces_fork(struct spaces *s, uint32_t pid, uint32_t parent)
{
	struct space *from = spaces_get(s, parent), **at;

	revive(s, pid);
	at = place(s, pid);
	if (!at)
		return PP_ENOMEM;
	if (from)
		from->refs++;
	space_unref(*at);
	*at = from;
	return 0;
}

void spaces_clear(struct spaces *s, uint32_t pid)
{
	uint32_t *slot = map64_get(&s->by_pid, pid);

	if (slot && *slot) {
		space_unref(s->table[*slot - 1]);
		s->table[*slot - 1] = NULL;
	}
}

void spaces_exit(struct spaces *s, uint32_t pid)
{
	uint32_t *ring = &s->exited[s->next_exited], *slot;

	revive(s, pid);
	if (*ring) {
		spaces_clear(s, *ring);
		map64_del(&s->dying, *ring);
	}
	slot = map64_put(&s->dying, pid, NULL);
	/* Without memory it is kept for ever, which is no harm. */
	*ring = slot ? pid : 0;
	s->next_exited = (s->next_exited + 1) % SPACES_EXITED_MAX;
	if (slot)
		*slot = (uint32_t)(ring - s->exited) + 1;
}

/* The first map that ends after addr. */
static uint32_t lower(const struct space *sp, uint64_t addr)
{
	uint32_t lo = 0, hi = sp->n;

	while (lo < hi) {
		uint32_t mid = lo + (hi - lo) / 2;

		if (sp->maps[mid].end <= addr)
			lo = mid + 1;
		else
			hi = mid;
	}
	return lo;
}

const struct map *space_find(struct space *sp, uint64_t addr)
{
	uint32_t i = lower(sp, addr);

	if (i < sp->n && sp->maps[i].start <= addr)
		return &sp->maps[i];
	sp->missed = true;
	return NULL;
}

/* Makes room for `more` maps at index i. */
static int open_gap(struct space *sp, uint32_t i, uint32_t more)
{
	if (sp->n + more > SPACE_MAPS_MAX)
		return PP_ELIMIT;
	if (sp->n + more > sp->cap) {
		uint32_t cap = sp->cap ? sp->cap * 2 : 32;
		struct map *v;

		while (cap < sp->n + more)
			cap *= 2;
		v = realloc(sp->maps, cap * sizeof(*v));
		if (!v)
			return PP_ENOMEM;
		sp->maps = v;
		sp->cap = cap;
	}
	memmove(sp->maps + i + more, sp->maps + i, (sp->n - i) * sizeof(*sp->maps));
	sp->n += more;
	return 0;
}

static void remove_maps(struct space *sp, uint32_t i, uint32_t n)
{
	memmove(sp->maps + i, sp->maps + i + n, (sp->n - i - n) * sizeof(*sp->maps));
	sp->n -= n;
}

/* Takes [start, end) out of the older maps; returns where the new one belongs. */
static int cut_out(struct space *sp, uint64_t start, uint64_t end, uint32_t *at)
{
	uint32_t i = lower(sp, start), n = 0;
	struct map *m = sp->maps + i;
	int rc;

	if (i < sp->n && m->start < start) {
		uint64_t old_end = m->end;

		if (old_end > end) {
			/* The new one lies within: a second piece remains behind it. */
			rc = open_gap(sp, i + 1, 1);
			if (rc)
				return rc;
			m = sp->maps + i;
			m[1] = m[0];
			m[1].start = end;
			m[1].pgoff += end - m[0].start;
		}
		m->end = start;
		i++;
	}
	while (i + n < sp->n && sp->maps[i + n].end <= end)
		n++;
	if (n)
		remove_maps(sp, i, n);
	if (i < sp->n && sp->maps[i].start < end) {
		sp->maps[i].pgoff += end - sp->maps[i].start;
		sp->maps[i].start = end;
	}
	*at = i;
	return 0;
}

/* A process's own space, not shared with another. NULL: out of memory. */
static struct space *own(struct spaces *s, uint32_t pid)
{
	struct space **at = place(s, pid), *sp;

	if (!at)
		return NULL;
	if (!*at || (*at)->refs > 1) {
		sp = space_new(s, *at);
		if (!sp)
			return NULL;
		space_unref(*at);
		*at = sp;
	}
	return *at;
}

int spaces_set_tag(struct spaces *s, uint32_t pid, uint32_t tag)
{
	struct space *sp = own(s, pid);

	if (!sp)
		return PP_ENOMEM;
	sp->tag = tag;
	return 0;
}

uint32_t space_tag(const struct space *sp)
{
	return sp->tag;
}

void spaces_touch(struct spaces *s, struct space *sp)
{
	sp->serial = next_serial(s);
}

int spaces_exec(struct spaces *s, uint32_t pid)
{
	struct space *sp;

	if (!spaces_get(s, pid))
		return 0;
	sp = own(s, pid);
	if (!sp)
		return PP_ENOMEM;
	sp->exec = true;
	sp->tag = 0;
	for (uint32_t i = 0; i < sp->n; i++)
		sp->maps[i].flags |= MAP_OLD;
	return 0;
}

int spaces_settle(struct spaces *s, uint32_t pid)
{
	struct space *sp = spaces_get(s, pid);
	uint32_t n = 0;

	if (!sp || !sp->exec)
		return 0;
	sp = own(s, pid);
	if (!sp)
		return PP_ENOMEM;
	for (uint32_t i = 0; i < sp->n; i++)
		if (!(sp->maps[i].flags & MAP_OLD))
			sp->maps[n++] = sp->maps[i];
	sp->n = n;
	sp->exec = false;
	sp->serial = next_serial(s);
	return 0;
}

int spaces_map(struct spaces *s, uint32_t pid, const struct map *m)
{
	struct space *sp;
	uint32_t i;
	bool covers;
	int rc;

	if (m->start >= m->end)
		return 0;
	sp = own(s, pid);
	if (!sp)
		return PP_ENOMEM;
	i = lower(sp, m->start);
	covers = i < sp->n && sp->maps[i].start < m->end;
	/* Also when it fails then: what it covers may be gone. */
	if (covers || sp->missed) {
		sp->serial = next_serial(s);
		sp->missed = false;
	}
	rc = cut_out(sp, m->start, m->end, &i);
	if (!rc)
		rc = open_gap(sp, i, 1);
	if (!rc)
		sp->maps[i] = *m;
	return rc;
}
