/*
 * Which calls are of 32 bits on a machine of 64: their numbers are those of another table.
 *
 * No event tells it. What does: the registers of user space, where they were recorded, have an ABI;
 * and the kernel maps a process's [vdso] below 4 GB when its program is of 32 bits, far above that
 * when it is of 64. Calls by `int $0x80` of a program of 64 bits are not found out.
 */
#include "base/err.h"
#include "event/glob.h"
#include "strace/parts.h"

#include <stdio.h>
#include <stdlib.h>

#define REGS_ABI_32 1 /* PERF_SAMPLE_REGS_ABI_32 */

void strace_set_arch(struct strace *s, const char *arch, size_t len)
{
	if (len >= sizeof(s->arch))
		return;
	memcpy(s->arch, arch, len);
	s->arch[len] = 0;
	s->arm = !strncmp(s->arch, "aarch64", 7) || !strncmp(s->arch, "arm", 3);
	s->narrow_arch = !strcmp(s->arch, "x86_64")    ? "i386"
			 : !strcmp(s->arch, "aarch64") ? "arm"
						       : NULL;
	strace_forget_names(s);
}

static int set(struct strace *s, uint32_t pid, bool narrow)
{
	uint32_t *slot;

	if (!narrow) {
		map64_del(&s->narrow, pid);
		return 0;
	}
	slot = map64_put(&s->narrow, pid, NULL);
	if (!slot)
		return PP_ENOMEM;
	*slot = 1;
	return 0;
}

int strace_abi_mmap(struct strace *s, const struct sreader *r, const struct ps_mmap *m)
{
	const struct ps_dso *dso = sreader_dso(r, m->dso);

	if (!dso || dso->path.len != 6 || memcmp(dso->path.p, "[vdso]", 6) != 0)
		return 0;
	return set(s, m->pid, m->addr <= UINT32_MAX);
}

int strace_abi_fork(struct strace *s, uint32_t pid, uint32_t parent)
{
	return pid == parent || !s->narrow.n ? 0 : set(s, pid, map64_get(&s->narrow, parent));
}

void strace_abi_exit(struct strace *s, uint32_t pid)
{
	if (s->narrow.n)
		map64_del(&s->narrow, pid);
}

/* What --abi says of a thread: 32, 64, or 0, nothing. */
static int asked(const struct strace *s, const struct thread *t)
{
	size_t len;
	const char *comm = strace_text(s, t->comm, &len);
	int bits = 0;

	for (unsigned i = 0; i < s->o.nabis; i++) {
		const char *who = s->o.abis[i] + 2;
		char *end;
		unsigned long id = *who ? strtoul(who + 1, &end, 10) : 0;

		if (!*who || (end != who + 1 && !*end && (id == t->pid || id == t->tid)) ||
		    glob_match(who + 1, strlen(who + 1), comm, len))
			bits = *s->o.abis[i] == '3' ? 32 : 64;
	}
	return bits;
}

int strace_abi_of(struct strace *s, const struct ps_sample *p, struct thread *t)
{
	int bits = s->narrow_arch ? asked(s, t) : 64, rc = 0;

	if (!bits && ps_sample_has(p, user_regs) && p->user_regs.abi)
		rc = set(s, t->pid, p->user_regs.abi == REGS_ABI_32);
	t->narrow = bits ? bits == 32 : map64_get(&s->narrow, t->pid) != NULL;
	return rc;
}
