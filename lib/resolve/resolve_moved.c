/*
 * Text that a program has moved onto other pages, as for huge ones (node --use-largepages): its
 * mapping is that of memory, but what it holds is still the file's.
 */
#include "resolve/resolve_parts.h"

#include "base/err.h"

/* The mapping of a file, not of memory, at an address; NULL: none. */
static const struct map *file_at(const struct resolver *r, struct space *sp, uint64_t addr)
{
	const struct map *map = sp ? space_find(sp, addr) : NULL;
	const struct rdso *d = map ? r->dsos.v[map->dso - 1] : NULL;

	return d && !d->jit && !d->memfd && !d->absolute && d->path[0] == '/' &&
			       !(d->flags & PS_DSO_NO_FILE)
		       ? map
		       : NULL;
}

bool resolve_moved(const struct resolver *r, const struct machine *m, const struct ps_mmap *rec,
		   struct map *map)
{
	const struct map *under = file_at(r, spaces_get(m->spaces, rec->pid), rec->addr);

	if (r->opts.like_perf || !under || under->end - rec->addr < rec->len)
		return false;
	map->pgoff = under->pgoff + (rec->addr - under->start);
	map->dso = under->dso;
	return true;
}

int resolve_moved_between(struct resolver *r, struct machine *m, uint32_t pid,
			  const struct map *after)
{
	struct space *sp = spaces_get(m->spaces, pid);
	const struct map *map = sp && after->start ? space_find(sp, after->start - 1) : NULL;
	struct map moved, before;

	if (!map || r->opts.like_perf || !map->start || !r->dsos.v[map->dso - 1]->jit)
		return 0;
	moved = *map;
	map = file_at(r, sp, moved.start - 1);
	if (!map)
		return 0;
	before = *map;
	moved.pgoff = before.pgoff + (moved.start - before.start);
	moved.dso = before.dso;
	return before.dso == after->dso && before.end == moved.start &&
			       moved.pgoff + (moved.end - moved.start) == after->pgoff
		       ? spaces_map(m->spaces, pid, &moved)
		       : 0;
}
