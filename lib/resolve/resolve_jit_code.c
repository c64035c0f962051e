/*
 * Unwind rows for generated code without tables, from its instructions: functions as the perf map
 * has them, bytes of the process that lives, or of the core file that a bundle has of it.
 */
#include "resolve/resolve_parts.h"

#include "base/err.h"
#include "symbol/mapping.h"
#include "symbol/process_code.h"

#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define JIT_MAPS_MAX 256 /* times that a perf map is read again with the code */
#define TINY	     64	 /* bytes of code that only calls another; Python's has 11 to 21 */

/* Code that rows are made of: that of a jitdump, or of one perf map. */
struct rjit_code {
	struct jit *jit;	     /* NULL: there is a newer map */
	struct process_code *memory; /* NULL: the jitdump has the bytes */
	struct cfi *cfi;
};

static int read_memory(void *ctx, uint64_t addr, void *to, size_t n)
{
	struct rjit_code *t = ctx;

	return process_code_read(t->memory, addr, to, n);
}

static int function_in_memory(void *ctx, uint64_t addr, uint64_t *start, uint64_t *end)
{
	const struct rjit_code *t = ctx;
	uint32_t code = t->jit ? jit_find(t->jit, addr) : 0;
	const struct jit_code *c = code ? jit_code(t->jit, code) : NULL;

	if (!c)
		return PP_ENOENT;
	*start = c->start;
	*end = c->end;
	return 0;
}

/* What a jitdump has can come to any address: a vaddr's upper half is the number of the bytes. */
static int function_in_dump(void *ctx, uint64_t vaddr, uint64_t *start, uint64_t *end)
{
	const struct rjit_code *t = ctx;
	size_t n;

	if (!jit_bytes(t->jit, (uint32_t)(vaddr >> 32), &n) || (uint32_t)vaddr >= n)
		return PP_ENOENT;
	*start = vaddr >> 32 << 32;
	*end = *start + n;
	return 0;
}

static int read_dump(void *ctx, uint64_t vaddr, void *to, size_t n)
{
	const struct rjit_code *t = ctx;
	uint32_t in = (uint32_t)vaddr;
	size_t len;
	const uint8_t *bytes = jit_bytes(t->jit, (uint32_t)(vaddr >> 32), &len);

	if (!bytes || in > len || n > len - in)
		return PP_ENOENT;
	memcpy(to, bytes + in, n);
	return 0;
}

struct sameness {
	const struct resolver *r;
	struct space *recorded;
};

/* PP_END: a file has code where the recorded process had it. */
static int compare(void *ctx, const struct mapping *m)
{
	const struct sameness *s = ctx;
	const struct map *map = space_find(s->recorded, m->start);

	return map && m->name[0] == '/' && !strcmp(s->r->dsos.v[map->dso - 1]->path, m->name)
		       ? PP_END
		       : 0;
}

/*
 * Whether the process that has this number now is the recorded one: a file with code is where it
 * was then. Those of another process are elsewhere, unless addresses are not random.
 */
static bool same_process(const struct resolver *r, struct space *sp, uint32_t pid)
{
	struct sameness s = {r, sp};
	struct proc_maps maps = {.proc = "/proc", .each = compare, .ctx = &s};

	return mapping_read(&maps, (pid_t)pid) == PP_END;
}

/* Whether a process is there whose memory only others may read. */
static bool is_denied(uint32_t pid)
{
	char path[40];
	int fd;

	snprintf(path, sizeof(path), "/proc/%" PRIu32 "/maps", pid);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return errno == EACCES || errno == EPERM;
	close(fd);
	return false;
}

/* From the first of the places where it can be. 0; PP_ENOENT, PP_ENOMEM. */
static int open_bytes(struct resolver *r, struct machine *m, struct rjit *j, struct space *sp,
		      struct process_code **bytes)
{
	const struct dso_search *o = &r->opts.search;
	enum symtab_reason why;
	struct elf_file *f;
	char path[40];
	int rc = PP_ENOENT;

	snprintf(path, sizeof(path), "/tmp/perf-%" PRIu32 ".core", j->pid);
	for (size_t i = 0; i < o->n_symfs && rc == PP_ENOENT; i++) {
		rc = root_elf(o->symfs[i], path, NULL, &f, &why);
		if (rc)
			continue;
		rc = process_code_core(bytes, f);
		elf_file_close(f);
	}
	if (rc && rc != PP_ENOMEM && !o->n_symfs && !r->opts.like_perf &&
	    origin_files(&m->host.kernel.origin) == ORIGIN_HERE) {
		if (same_process(r, sp, j->pid))
			rc = process_code_live(bytes, j->pid);
		r->ends.denied += rc == PP_ENOENT && is_denied(j->pid);
	}
	return !rc || rc == PP_ENOMEM ? rc : PP_ENOENT;
}

/* Takes over `memory`, also where it fails. */
static int make(struct resolver *r, struct jit *jit, struct process_code *memory, unsigned machine,
		struct rjit_code **out)
{
	struct cfi_memory m = {.read = memory ? read_memory : read_dump,
			       .function = memory ? function_in_memory : function_in_dump};
	struct rjit_code *t = calloc(1, sizeof(*t));
	int rc;

	if (!t) {
		process_code_close(memory);
		return PP_ENOMEM;
	}
	*t = (struct rjit_code){.jit = jit, .memory = memory};
	m.ctx = *out = t;
	rc = cfi_new(&t->cfi, &r->rows);
	if (!rc)
		cfi_add_memory(t->cfi, machine, &m);
	return rc;
}

/* The code of the map that there is now, if it can be read. */
static int map_code(struct resolver *r, struct machine *m, struct rjit *j, struct space *sp,
		    unsigned machine)
{
	struct process_code *memory = NULL;
	struct rjit_code **v;
	int rc;

	if (j->code_sought || !j->map || j->ncodes >= JIT_MAPS_MAX)
		return 0;
	j->code_sought = true;
	rc = open_bytes(r, m, j, sp, &memory);
	if (rc)
		return rc == PP_ENOMEM ? rc : 0;
	v = reallocarray(j->codes, j->ncodes + 1, sizeof(struct rjit_code *));
	if (!v) {
		process_code_close(memory);
		return PP_ENOMEM;
	}
	j->codes = v;
	v[j->ncodes] = NULL;
	rc = make(r, j->map, memory, machine, &v[j->ncodes]);
	j->ncodes += v[j->ncodes] != NULL;
	return rc;
}

static void put(const struct rjit_code *t, uint64_t vaddr, const struct jit_code *c, uint64_t addr,
		struct unwind_place *place)
{
	place->cfi = t->cfi;
	place->changes = true;
	place->vaddr = vaddr + (addr - c->start);
	place->start = c->start;
	place->len = c->end - c->start;
}

int resolve_jit_code(struct resolver *r, struct machine *m, uint32_t jit, struct space *sp,
		     unsigned machine, uint64_t addr, const struct jit_code *c,
		     struct unwind_place *place)
{
	struct rjit *j = &m->code.v[jit - 1];
	uint32_t code;
	int rc = 0;

	if (machine != EM_X86_64 && machine != EM_AARCH64)
		return 0;
	if (c) {
		if (c->bytes && !j->dump_code)
			rc = make(r, j->dump, NULL, machine, &j->dump_code);
		if (c->bytes && !rc)
			put(j->dump_code, (uint64_t)c->bytes << 32, c, addr, place);
		return rc;
	}
	code = j->map ? jit_find(j->map, addr) : 0;
	if (!code)
		return 0;
	c = jit_code(j->map, code);
	place->tiny = c->end - c->start <= TINY;
	rc = map_code(r, m, j, sp, machine);
	if (!rc && j->ncodes && j->codes[j->ncodes - 1]->jit == j->map)
		put(j->codes[j->ncodes - 1], c->start, c, addr, place);
	return rc;
}

void resolve_jit_code_forget(struct rjit *j)
{
	if (j->ncodes)
		j->codes[j->ncodes - 1]->jit = NULL;
	j->code_sought = false;
}

static void free_code(struct rjit_code *t)
{
	if (!t)
		return;
	cfi_free(t->cfi);
	process_code_close(t->memory);
	free(t);
}

void resolve_jit_code_release(struct rjit *j)
{
	for (uint32_t i = 0; i < j->ncodes; i++)
		free_code(j->codes[i]);
	free_code(j->dump_code);
	free(j->codes);
}
