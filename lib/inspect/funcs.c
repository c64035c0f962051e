/* A table of functions: adding, order, look-up. */
#include "inspect/funcs.h"

#include "base/err.h"

#include <stdlib.h>

const char *func_source_name(enum func_source s)
{
	static const char *const names[] = {"symtab", "dynsym", "minidebug", "go", "frames"};

	return names[s];
}

int funcs_add(struct funcs *t, const struct func *f)
{
	if (t->n == t->cap) {
		uint32_t cap = t->cap ? t->cap * 2 : 1024;
		struct func *v;

		if (t->n >= FUNCS_MAX)
			return PP_ELIMIT;
		v = reallocarray(t->v, cap, sizeof(*v));
		if (!v)
			return PP_ENOMEM;
		t->v = v;
		t->cap = cap;
	}
	t->v[t->n++] = *f;
	return 0;
}

void funcs_release(struct funcs *t)
{
	free(t->v);
	arena_release(&t->names);
	elf_file_close(t->mini);
	gopcln_close(t->go);
	*t = (struct funcs){0};
}

const struct func *funcs_at(const struct funcs *t, uint64_t addr)
{
	const struct func *found = NULL;
	uint32_t lo = 0, hi = t->n;

	while (lo < hi) {
		uint32_t mid = lo + (hi - lo) / 2;

		if (t->v[mid].addr <= addr)
			lo = mid + 1;
		else
			hi = mid;
	}
	/* Of several that begin together the first; one further back may be longer. */
	for (uint32_t i = lo; i > 0 && lo - i < 64; i--) {
		const struct func *f = &t->v[i - 1];

		if (found && f->addr != found->addr)
			break;
		if (addr == f->addr || addr - f->addr < f->size)
			found = f;
	}
	return found;
}
