/*
 * The address spaces of processes, by process: fork, exec, exit, and what changes a serial number.
 */
#include "symbol/space.h"

#include "base/array.h"
#include "base/ended.h"
#include "base/err.h"
#include "base/intern.h"

#include <stdlib.h>
#include <string.h>

struct space {
	uint32_t refs;
	uint32_t serial;
	uint32_t tag;
	bool missed; /* an address that is not mapped was looked up */
	bool exec;   /* old is what the image before exec had mapped */
	struct maps maps, old;
};

struct spaces {
	struct map64 by_pid;  /* index in table, + 1 */
	struct space **table; /* NULL: free */
	uint32_t n, cap;
	uint32_t serial;
	struct ended ended;
	uint32_t *vacant; /* indices in table, + 1, of processes that were forgotten */
	uint32_t nvacant, vacant_cap;
};

int spaces_new(struct spaces **s)
{
	*s = calloc(1, sizeof(**s));
	return *s ? 0 : PP_ENOMEM;
}

static void space_unref(struct space *sp)
{
	if (sp && !--sp->refs) {
		maps_release(&sp->maps);
		maps_release(&sp->old);
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
	free(s->vacant);
	map64_release(&s->by_pid);
	ended_release(&s->ended);
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
	if (copy) {
		sp->tag = copy->tag;
		sp->missed = copy->missed;
		sp->exec = copy->exec;
		maps_copy(&sp->maps, &copy->maps);
		maps_copy(&sp->old, &copy->old);
	}
	return sp;
}

/* The place of a process's space. NULL: out of memory. */
static struct space **place(struct spaces *s, uint32_t pid)
{
	uint32_t *slot = map64_put(&s->by_pid, pid, NULL);

	if (!slot)
		return NULL;
	if (!*slot && s->nvacant) {
		*slot = s->vacant[--s->nvacant];
	} else if (!*slot) {
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

int spaces_fork(struct spaces *s, uint32_t pid, uint32_t parent)
{
	struct space *from = spaces_get(s, parent), **at;

	ended_revive(&s->ended, pid);
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

/* Nothing is known of the process any more; its place is free for another. */
static void forget(struct spaces *s, uint32_t pid)
{
	const uint32_t *slot = map64_get(&s->by_pid, pid);
	uint32_t *v;

	if (!slot)
		return;
	spaces_clear(s, pid);
	v = array_widen(s->vacant, &s->vacant_cap, s->nvacant, 64, sizeof(*v));
	if (!v)
		return;
	s->vacant = v;
	s->vacant[s->nvacant++] = *slot;
	map64_del(&s->by_pid, pid);
}

void spaces_exit(struct spaces *s, uint32_t pid)
{
	uint32_t gone;

	if (map64_get(&s->by_pid, pid) && ended_add(&s->ended, pid, &gone))
		forget(s, gone);
}

const struct map *space_find(struct space *sp, uint64_t addr)
{
	const struct map *m = maps_find(&sp->maps, addr);

	if (!m && sp->exec)
		m = maps_find(&sp->old, addr);
	if (!m)
		sp->missed = true;
	return m;
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
	sp->tag = 0;
	/* The image before it is the one that is left. Older ones are gone. */
	if (sp->exec && sp->maps.root)
		sp->serial = next_serial(s);
	if (!sp->exec || sp->maps.root) {
		maps_release(&sp->old);
		sp->old = sp->maps;
		sp->maps = (struct maps){0};
	}
	sp->exec = true;
	return 0;
}

int spaces_settle(struct spaces *s, uint32_t pid)
{
	struct space *sp = spaces_get(s, pid);

	if (!sp || !sp->exec)
		return 0;
	sp = own(s, pid);
	if (!sp)
		return PP_ENOMEM;
	maps_release(&sp->old);
	sp->exec = false;
	sp->serial = next_serial(s);
	return 0;
}

int spaces_map(struct spaces *s, uint32_t pid, const struct map *m)
{
	struct space *sp;

	if (m->start >= m->end)
		return 0;
	sp = own(s, pid);
	if (!sp)
		return PP_ENOMEM;
	/* Also when it fails then: what it covers may be gone. */
	if (sp->missed || maps_any(&sp->maps, m->start, m->end) ||
	    (sp->exec && maps_any(&sp->old, m->start, m->end))) {
		sp->serial = next_serial(s);
		sp->missed = false;
	}
	return maps_put(&sp->maps, m);
}
