/*
 * A tree of paths, by what differs: equal paths are one node, and what begins alike is kept once.
 * A node is the path of its parent and a name, which is a number of its owner's. Nodes are numbered
 * from 1 on as they come, so that a node is greater than its parent; 0 is the root.
 *
 *	struct paths p;
 *	rc = paths_init(&p);
 *	rc = paths_index(&p);			(before paths_find)
 *	node = paths_find(&p, parent, name);	(PATHS_ROOT: there is none)
 *	if (!node)
 *		rc = paths_add(&p, parent, name, &node);
 *	while (node != PATHS_ROOT)
 *		node = paths_parent(&p, node);
 *	paths_release(&p);
 *
 * Most nodes are the child of the node before. So nodes form runs, in which each is the child of
 * the one before: a node takes 4 bytes for its name, and only a run has a parent. A block for each
 * 64 nodes says where runs begin. A run has up to PATHS_RUN nodes, so that what is added up along
 * it is found in a few steps. Ten million nodes in a million runs are 59 MB, and 8 MB for finding
 * children.
 */
#ifndef PP_BASE_PATH_TREE_H
#define PP_BASE_PATH_TREE_H

#include "base/children.h"

#define PATHS_ROOT     0u
#define PATHS_MAX      0x7fffffffu	/* nodes */
#define PATHS_NAME_MAX ((1u << 30) - 1) /* the greatest name */
#define PATHS_RUN      64u		/* nodes of a run */

/* Beside the name in paths.names. */
#define PATHS_FIRST (1u << 31) /* the node begins a run */
#define PATHS_MARK  (1u << 30) /* for the owner */

struct path_run {
	uint32_t first;	 /* its first node */
	uint32_t parent; /* of that */
	uint32_t depth;	 /* of that: 1 below the root */
	uint32_t note;	 /* for the owner; 0 at first */
};

struct path_block {
	uint64_t firsts; /* a bit for each of 64 nodes */
	uint32_t before; /* runs that begin before them */
};

struct paths {
	uint32_t *names; /* by node */
	struct path_block *blocks;
	struct path_run *runs; /* in the order of their nodes; the first is the root alone */
	struct children index; /* of runs, by parent and name of the first node; or nothing */
	uint32_t n, cap, nruns, cap_runs;
};

/* 0 or PP_ENOMEM. */
int paths_init(struct paths *p);
void paths_release(struct paths *p);

/* Makes the index, if there is none. 0 or PP_ENOMEM. */
int paths_index(struct paths *p);
/* Frees the index. */
void paths_settle(struct paths *p);

/*
 * A new child, of a parent that has none of that name, or may have several; it is in the index, if
 * there is one. 0, PP_ENOMEM or PP_ELIMIT.
 */
int paths_add(struct paths *p, uint32_t parent, uint32_t name, uint32_t *node);

static inline uint32_t paths_name(const struct paths *p, uint32_t node)
{
	return p->names[node] & PATHS_NAME_MAX;
}

/* The number of a node's run. */
static inline uint32_t paths_run(const struct paths *p, uint32_t node)
{
	const struct path_block *b = &p->blocks[node / 64];

	return b->before + (uint32_t)__builtin_popcountll(b->firsts << (63 - node % 64)) - 1;
}

/* The root is its own parent. */
static inline uint32_t paths_parent(const struct paths *p, uint32_t node)
{
	return p->names[node] & PATHS_FIRST ? p->runs[paths_run(p, node)].parent : node - 1;
}

static inline uint32_t paths_depth(const struct paths *p, uint32_t node)
{
	const struct path_run *r = &p->runs[paths_run(p, node)];

	return r->depth + (node - r->first);
}

/* The node after the last one of a run. */
static inline uint32_t paths_run_end(const struct paths *p, uint32_t run)
{
	return run + 1 < p->nruns ? p->runs[run + 1].first : p->n;
}

/* The child of that name, of a tree with an index; PATHS_ROOT: there is none. */
static inline uint32_t paths_find(const struct paths *p, uint32_t parent, uint32_t name)
{
	uint32_t hash, i, k = parent + 1, run;

	if (k < p->n && (p->names[k] & ~PATHS_MARK) == name)
		return k;
	hash = i = children_hash(parent, name);
	while ((run = children_next(&p->index, hash, &i)))
		if (p->runs[run].parent == parent && paths_name(p, p->runs[run].first) == name)
			return p->runs[run].first;
	return PATHS_ROOT;
}

#endif
