/* Pages of stacks that were never touched, read so that copies of the stack go on after them. */
#include "record/holes.h"

#include "record/parts.h"

#include <errno.h>
#include <stdlib.h>
#include <sys/uio.h>
#include <unistd.h>

#define KNOWN	  16384u /* threads, by the lower bits of their number */
#define ASKED_MAX 1024u	 /* copies that are looked at after a round */
#define REACH	  65536u /* bytes above the stack pointer: no copy is longer */
#define PAGES_MAX (REACH / 4096 + 1)
#define AGAIN	  1000000000ull /* ns after which the same hole is looked at again */

struct known {
	uint64_t end;	/* of the copy that was looked at last */
	uint64_t again; /* the time from which on the same end is looked at again */
	uint32_t tid;
	bool holes;
};

struct holes {
	struct known known[KNOWN];
	struct short_copy asked[ASKED_MAX];
	size_t n_asked;
	uint64_t page;
	uint64_t began, spent; /* ns */
	struct holes_counts counts;
};

struct holes *holes_new(void)
{
	struct holes *h = calloc(1, sizeof(*h));
	long page = sysconf(_SC_PAGESIZE);

	if (!h)
		return NULL;
	h->page = page > 0 ? (uint64_t)page : 4096;
	h->began = now_ns(CLOCK_MONOTONIC);
	return h;
}

void holes_free(struct holes *h)
{
	free(h);
}

struct holes_counts holes_counts(const struct holes *h)
{
	return h->counts;
}

void holes_note(struct holes *h, const struct short_copy *s)
{
	const struct known *k = &h->known[s->tid % KNOWN];
	bool same = k->tid == s->tid && k->end == s->end;

	if (!s->tid || (same && k->again == UINT64_MAX) || h->n_asked == ASKED_MAX)
		return;
	h->asked[h->n_asked++] = *s;
}

/* Reads a byte of each page from `from` to `to`, one after the other. How many were read. */
static uint64_t touch(const struct holes *h, pid_t pid, uint64_t from, uint64_t to)
{
	struct iovec theirs[PAGES_MAX], ours;
	uint8_t bytes[PAGES_MAX];
	size_t n = 0;
	ssize_t got;

	for (uint64_t at = from; at < to && n < PAGES_MAX; at += h->page)
		theirs[n++] = (struct iovec){(void *)(uintptr_t)at, 1};
	ours = (struct iovec){bytes, n};
	got = n ? process_vm_readv(pid, &ours, 1, theirs, n, 0) : 0;
	return got > 0 ? (uint64_t)got : 0;
}

/* Whether the copy ended at a page that was not there; reads what a copy can have from there on. */
static bool look(struct holes *h, const struct short_copy *s, bool *denied)
{
	uint64_t end, hole = (s->end + h->page - 1) & ~(h->page - 1), got;
	struct mapping m;

	*denied = false;
	if (!mapping_at("/proc", (pid_t)s->pid, s->sp, NULL, &m) || hole >= m.end)
		return false;
	end = m.end - s->sp > REACH ? s->sp + REACH : m.end;
	errno = 0;
	got = touch(h, (pid_t)s->pid, hole, end);
	*denied = !got && errno == EPERM;
	h->counts.pages += got;
	return got > 0;
}

void holes_fill(struct holes *h)
{
	uint64_t now = h->n_asked ? now_ns(CLOCK_MONOTONIC) : 0;

	for (size_t i = 0; i < h->n_asked; i++) {
		const struct short_copy *s = &h->asked[i];
		struct known *k = &h->known[s->tid % KNOWN];
		uint64_t before = now;
		bool denied, hole;

		if (k->tid == s->tid && k->end == s->end && now < k->again)
			continue;
		if (!may_look(h->began, now, h->spent))
			break;
		hole = look(h, s, &denied);
		now = now_ns(CLOCK_MONOTONIC);
		h->spent += now - before;
		if (k->tid != s->tid)
			k->holes = false;
		h->counts.threads += hole && !k->holes;
		h->counts.denied += denied;
		k->tid = s->tid;
		k->end = s->end;
		k->holes |= hole;
		k->again = hole ? now + AGAIN : UINT64_MAX;
	}
	h->n_asked = 0;
}
