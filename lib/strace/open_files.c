/* The files that processes have open, as far as a probe has told their paths. */
#include "base/err.h"
#include "strace/parts.h"

#include <errno.h>
#include <stdlib.h>

static uint64_t key_of(uint32_t pid, uint64_t fd)
{
	return (uint64_t)pid << 32 | (uint32_t)fd;
}

uint32_t strace_file(const struct strace *s, uint32_t pid, uint64_t fd)
{
	const uint32_t *slot = map64_get(&s->files, key_of(pid, fd));

	return slot ? *slot : 0;
}

static int set(struct strace *s, uint32_t pid, uint64_t fd, uint32_t path)
{
	uint32_t *slot = map64_get(&s->files, key_of(pid, fd));

	if (!slot && (!path || s->files.n >= STRACE_FILES_MAX))
		return 0;
	if (!path) {
		map64_del(&s->files, key_of(pid, fd));
		return 0;
	}
	slot = map64_put(&s->files, key_of(pid, fd), NULL);
	if (!slot)
		return PP_ENOMEM;
	*slot = path;
	return 0;
}

int strace_files_after(struct strace *s, const struct call *c)
{
	const struct known_call *k = strace_known(s, c->name);
	uint32_t pid = c->t->pid;

	if (!k)
		return PP_ENOMEM;
	if (k->what & WHAT_CONNECTS && c->begun && (!c->ret || c->ret == -EINPROGRESS))
		return c->t->sockaddr ? set(s, pid, c->t->arg[0], c->t->sockaddr) : 0;
	if (!c->begun || !c->ended || c->ret < 0)
		return 0;
	if (k->what & WHAT_OPENS)
		return set(s, pid, (uint64_t)c->ret, c->t->path[0]);
	if (k->what & WHAT_CLOSES)
		return set(s, pid, c->t->arg[0], 0);
	if (k->what & WHAT_DOUBLES)
		return set(s, pid, (uint64_t)c->ret, strace_file(s, pid, c->t->arg[0]));
	return k->what & WHAT_MAKES ? set(s, pid, (uint64_t)c->ret, 0) : 0;
}

int strace_files_fork(struct strace *s, uint32_t pid, uint32_t parent)
{
	uint32_t n = s->files.n;
	uint64_t *keys;
	int rc = 0;

	if (pid == parent || !n)
		return 0;
	keys = malloc(n * sizeof(*keys));
	if (!keys)
		return PP_ENOMEM;
	n = 0;
	for (uint32_t i = 0; i <= s->files.mask; i++)
		if (s->files.slots[i].used && s->files.slots[i].key >> 32 == parent)
			keys[n++] = s->files.slots[i].key;
	for (uint32_t i = 0; i < n && !rc; i++)
		rc = set(s, pid, keys[i], strace_file(s, parent, keys[i]));
	free(keys);
	return rc;
}
