/* The nodes of the tree of stacks: found, and added. */
#include "base/err.h"
#include "fold/stack_tree.h"

#include <stdlib.h>

#define NODES_FIRST 1024

int fold_nodes_init(struct fold *f)
{
	f->cap = NODES_FIRST;
	f->nodes = calloc(f->cap, sizeof(*f->nodes));
	f->weights = calloc(f->cap, sizeof(*f->weights));
	f->n = 1;
	return f->nodes && f->weights ? 0 : PP_ENOMEM;
}

void fold_settle(struct fold *f)
{
	children_release(&f->children);
	fold_table_release(&f->stacks);
}

void fold_nodes_release(struct fold *f)
{
	fold_settle(f);
	free(f->nodes);
	free(f->weights);
}

uint32_t fold_nodes_depth(const struct fold *f)
{
	uint32_t depth = 0;

	for (uint32_t k = 0; k < f->n; k++)
		if (f->nodes[k].depth > depth)
			depth = f->nodes[k].depth;
	return depth;
}

/* FOLD_ROOT: there is none. */
static inline uint32_t find_child(const struct fold *f, uint32_t parent, uint32_t name)
{
	uint32_t hash, i, k = parent + 1;

	if (k < f->n && f->nodes[k].parent == parent && f->nodes[k].name == name)
		return k;
	hash = i = children_hash(parent, name);
	while ((k = children_next(&f->children, hash, &i)))
		if (f->nodes[k].parent == parent && f->nodes[k].name == name)
			break;
	return k;
}

static int make_children(struct fold *f, uint64_t n)
{
	uint64_t used = 1;
	int rc;

	for (uint32_t k = 1; k < f->n; k++)
		used += children_slotted(f->nodes[k].parent, k);
	rc = children_make(&f->children, n, used);
	for (uint32_t k = 1; k < f->n && !rc; k++)
		if (children_slotted(f->nodes[k].parent, k))
			children_put(&f->children,
				     children_hash(f->nodes[k].parent, f->nodes[k].name), k);
	return rc;
}

static int grow_nodes(struct fold *f, uint32_t more)
{
	uint32_t cap = f->cap;
	struct node *nodes;
	uint64_t *weights;

	if (more > FOLD_NODES_MAX - f->n)
		return PP_ELIMIT;
	while (cap < f->n + more)
		cap = cap > FOLD_NODES_MAX / 2 ? FOLD_NODES_MAX : cap * 2;
	nodes = realloc(f->nodes, (size_t)cap * sizeof(*nodes));
	if (!nodes)
		return PP_ENOMEM;
	f->nodes = nodes;
	weights = realloc(f->weights, (size_t)cap * sizeof(*weights));
	if (!weights)
		return PP_ENOMEM;
	f->weights = weights;
	f->cap = cap;
	return 0;
}

static int make_room(struct fold *f, uint32_t more)
{
	int rc = f->cap - f->n < more ? grow_nodes(f, more) : 0;

	if (!rc && children_full(&f->children, (uint64_t)f->n + more))
		rc = make_children(f, (uint64_t)f->n + more);
	return rc;
}

/* New nodes on top of *node, which has no child of the first name. */
static int add_frames(struct fold *f, uint32_t *node, const uint32_t *names, ptrdiff_t step,
		      uint32_t n)
{
	size_t len = f->nodes[*node].len, name_len;
	int rc = make_room(f, n);

	if (rc)
		return rc;
	for (uint32_t i = 0; i < n; i++) {
		uint32_t name = names[(ptrdiff_t)i * step];

		if (name > FOLD_NAMES_MAX)
			return PP_ELIMIT;
		(void)intern_get(&f->names, name, &name_len);
		len += name_len + 1;
		if (len > FOLD_STACK_MAX)
			return PP_END;
		f->nodes[f->n] = (struct node){.parent = *node & FOLD_NODES_MAX,
					       .name = name & FOLD_NAMES_MAX,
					       .depth = (f->nodes[*node].depth + 1u) & 0x1ffff,
					       .len = len & 0xfffff};
		f->weights[f->n] = 0;
		if (children_slotted(*node, f->n))
			children_put(&f->children, children_hash(*node, name), f->n);
		*node = f->n++;
	}
	return 0;
}

/*
 * The node of the n names on top of *node. What has no room is left out: *deep or *wide is the
 * number of those frames.
 */
static int extend(struct fold *f, uint32_t *node, const uint32_t *names, ptrdiff_t step, size_t n,
		  uint64_t *deep, uint64_t *wide)
{
	size_t room = FOLD_DEPTH_MAX - f->nodes[*node].depth, i = 0;
	uint32_t child, before;
	int rc = f->children.slots ? 0 : make_children(f, f->n);

	if (rc)
		return rc;
	*deep = n > room ? n - room : 0;
	n -= *deep;
	for (; i < n && (child = find_child(f, *node, names[(ptrdiff_t)i * step])); i++)
		*node = child;
	before = f->n;
	if (i < n)
		rc = add_frames(f, node, names + (ptrdiff_t)i * step, step, (uint32_t)(n - i));
	i += f->n - before;
	if (rc != PP_END)
		return rc;
	/* Where one frame is left out, those after it are as well. */
	*wide = n - i + *deep;
	*deep = 0;
	return 0;
}

int fold_path(struct fold *f, uint32_t below, const uint32_t *names, size_t n, uint32_t *node,
	      size_t *left_out)
{
	uint64_t deep = 0, wide = 0;
	int rc;

	*node = below;
	rc = extend(f, node, names, 1, n, &deep, &wide);
	*left_out = deep + wide;
	return rc;
}

int fold_stack(struct fold *f, const uint32_t *names, size_t n, uint32_t *node)
{
	uint64_t deep = 0, wide = 0;
	struct fold_key key;
	int rc;

	*node = FOLD_ROOT;
	if (n > FOLD_DEPTH_MAX) {
		f->deep += n - FOLD_DEPTH_MAX;
		names += n - FOLD_DEPTH_MAX;
		n = FOLD_DEPTH_MAX;
	}
	if (!n)
		return 0;
	key = fold_table_key(names, n);
	*node = fold_table_find(&f->stacks, key);
	if (*node)
		return 0;
	rc = extend(f, node, names + n - 1, -1, n, &deep, &wide);
	f->deep += deep;
	f->wide += wide;
	return rc ? rc : fold_table_add(&f->stacks, key, *node);
}
