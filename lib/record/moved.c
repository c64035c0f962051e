/* Text that a program has moved onto other pages: the file that it is of. */
#include "record/parts.h"

#include <elf.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

/* Whether a mapping is memory, by its name: none, or that of huge pages and the like. */
static bool is_memory(const struct mapping *m)
{
	static const char *const names[] = {"[anon", "/anon_hugepage", "/memfd:", "/dev/"};

	for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++)
		if (!strncmp(m->name, names[i], strlen(names[i])))
			return true;
	return !m->name_len;
}

/* The segment that a part of the file is mapped from; NULL: none. */
static const struct phdr *segment_of(const struct phdr *v, size_t n, uint64_t offset, uint64_t page)
{
	for (size_t i = 0; i < n; i++)
		if (v[i].type == PT_LOAD && offset >= (v[i].offset & ~(page - 1)) &&
		    offset < v[i].offset + v[i].filesz)
			return &v[i];
	return NULL;
}

/* Whether it lies in the span of an executable segment of a file that has a part mapped. */
static bool is_text_of(const struct phdr *v, size_t n, const struct mapping *part,
		       const struct mapping *m, uint64_t *offset)
{
	uint64_t page = (uint64_t)sysconf(_SC_PAGESIZE), bias, start, end;
	const struct phdr *p = segment_of(v, n, part->offset, page);

	if (!p)
		return false;
	bias = part->start - (p->vaddr + (part->offset - p->offset));
	for (size_t i = 0; i < n; i++) {
		start = (bias + v[i].vaddr) & ~(page - 1);
		end = (bias + v[i].vaddr + v[i].memsz + page - 1) & ~(page - 1);
		if (v[i].type != PT_LOAD || !(v[i].flags & PF_X) || m->start < start ||
		    m->end > end)
			continue;
		*offset = v[i].offset + (m->start - (bias + v[i].vaddr));
		return true;
	}
	return false;
}

bool moved_text(const char *proc, pid_t pid, const struct mapping *m, char *room,
		struct mapping *as)
{
	const uint64_t beside[] = {m->start - 1, m->end};

	if (!(m->prot & PROT_EXEC) || !is_memory(m))
		return false;
	for (int i = 0; i < 2; i++) {
		struct phdr v[PHDRS_MAX];
		uint64_t offset;
		bool swap, is;
		int fd;

		if (!mapping_at(proc, pid, beside[i], room, as) || !as->inode || room[0] != '/' ||
		    is_memory(as))
			continue;
		fd = mapping_open(proc, pid, as);
		if (fd < 0)
			continue;
		is = is_text_of(v, phdrs_read(fd, v, &swap), as, m, &offset);
		close(fd);
		if (!is)
			continue;
		as->start = m->start;
		as->end = m->end;
		as->offset = offset;
		as->prot = m->prot;
		as->flags = m->flags;
		return true;
	}
	return false;
}
