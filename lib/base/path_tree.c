/* A tree of paths: its memory, and the index of its runs. */
#include "base/path_tree.h"

#include "base/err.h"

#include <stdlib.h>

#define CAP_FIRST  1024u /* nodes; a multiple of 64 */
#define RUNS_FIRST 256u

void paths_release(struct paths *p)
{
	free(p->names);
	free(p->blocks);
	free(p->runs);
	children_release(&p->index);
	*p = (struct paths){0};
}

void paths_settle(struct paths *p)
{
	children_release(&p->index);
}

int paths_init(struct paths *p)
{
	*p = (struct paths){.n = 1, .cap = CAP_FIRST, .nruns = 1, .cap_runs = RUNS_FIRST};
	p->names = malloc(p->cap * sizeof(*p->names));
	p->blocks = malloc(p->cap / 64 * sizeof(*p->blocks));
	p->runs = malloc(p->cap_runs * sizeof(*p->runs));
	if (!p->names || !p->blocks || !p->runs) {
		paths_release(p);
		return PP_ENOMEM;
	}
	p->names[PATHS_ROOT] = PATHS_FIRST;
	p->blocks[0] = (struct path_block){1, 0};
	p->runs[0] = (struct path_run){PATHS_ROOT, PATHS_ROOT, 0, 0};
	return 0;
}

static void put(struct paths *p, uint32_t run)
{
	const struct path_run *r = &p->runs[run];

	children_put(&p->index, children_hash(r->parent, paths_name(p, r->first)), run);
}

/* With room for one more. */
static int make_index(struct paths *p)
{
	int rc = children_make(&p->index, (uint64_t)p->nruns + 1, p->nruns);

	for (uint32_t run = 1; run < p->nruns && !rc; run++)
		put(p, run);
	return rc;
}

int paths_index(struct paths *p)
{
	return p->index.slots ? 0 : make_index(p);
}

static int grow(struct paths *p)
{
	uint32_t cap = p->cap > PATHS_MAX / 2 ? PATHS_MAX / 64 * 64 : p->cap * 2;
	struct path_block *blocks;
	uint32_t *names;

	if (p->n >= cap || cap < CAP_FIRST)
		return PP_ELIMIT;
	names = realloc(p->names, (size_t)cap * sizeof(*names));
	if (!names)
		return PP_ENOMEM;
	p->names = names;
	blocks = realloc(p->blocks, (size_t)cap / 64 * sizeof(*blocks));
	if (!blocks)
		return PP_ENOMEM;
	p->blocks = blocks;
	p->cap = cap;
	return 0;
}

/* A run that begins with the next node. */
static int begin_run(struct paths *p, uint32_t parent)
{
	uint32_t cap = p->cap_runs * 2;
	struct path_run *v;
	int rc = 0;

	if (p->index.slots && children_full(&p->index, (uint64_t)p->nruns + 1))
		rc = make_index(p);
	if (rc)
		return rc;
	if (p->nruns == p->cap_runs) {
		v = realloc(p->runs, (size_t)cap * sizeof(*v));
		if (!v)
			return PP_ENOMEM;
		p->runs = v;
		p->cap_runs = cap;
	}
	p->runs[p->nruns] = (struct path_run){p->n, parent, paths_depth(p, parent) + 1, 0};
	return 0;
}

int paths_add(struct paths *p, uint32_t parent, uint32_t name, uint32_t *node)
{
	uint32_t k = p->n;
	bool first = parent + 1 != k || parent == PATHS_ROOT ||
		     k - p->runs[p->nruns - 1].first == PATHS_RUN;
	int rc = name > PATHS_NAME_MAX ? PP_ELIMIT : k == p->cap ? grow(p) : 0;

	if (!rc && first)
		rc = begin_run(p, parent);
	if (rc)
		return rc;
	if (k % 64 == 0)
		p->blocks[k / 64] = (struct path_block){0, p->nruns};
	p->names[k] = name | (first ? PATHS_FIRST : 0);
	p->n++;
	*node = k;
	if (!first)
		return 0;
	p->blocks[k / 64].firsts |= (uint64_t)1 << k % 64;
	p->nruns++;
	if (p->index.slots)
		put(p, p->nruns - 1);
	return 0;
}
