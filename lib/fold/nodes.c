/* The nodes of the tree of stacks: found, and added. */
#include "base/err.h"
#include "fold/stack_tree.h"

int fold_nodes_init(struct fold *f)
{
	int rc = paths_init(&f->paths);

	return rc ? rc : weights_widen(&f->weights, 1);
}

void fold_settle(struct fold *f)
{
	paths_settle(&f->paths);
	fold_table_release(&f->stacks);
}

void fold_nodes_release(struct fold *f)
{
	fold_settle(f);
	paths_release(&f->paths);
	weights_release(&f->weights);
}

uint32_t fold_nodes_depth(const struct fold *f)
{
	const struct paths *p = &f->paths;
	uint32_t depth = 0;

	for (uint32_t run = 0; run < p->nruns; run++) {
		uint32_t deepest = paths_depth(p, paths_run_end(p, run) - 1);

		depth = deepest > depth ? deepest : depth;
	}
	return depth;
}

static size_t name_len(const struct fold *f, uint32_t name)
{
	size_t len = 0;

	(void)intern_get(&f->names, name, &len);
	return len;
}

/* Bytes of a stack's text, with a ';' at its end. A run's note is those of the stack below it. */
static size_t text_len(const struct fold *f, uint32_t node)
{
	const struct path_run *r = &f->paths.runs[paths_run(&f->paths, node)];
	size_t len = r->note;

	if (node == FOLD_ROOT)
		return 0;
	if (node == f->tip)
		return f->tip_len;
	for (uint32_t k = r->first; k <= node; k++)
		len += name_len(f, paths_name(&f->paths, k)) + 1;
	return len;
}

/* New nodes on top of *node, which has no child of the first name. */
static int add_frames(struct fold *f, uint32_t *node, const uint32_t *names, ptrdiff_t step,
		      uint32_t n)
{
	size_t len = text_len(f, *node), before;
	int rc = weights_widen(&f->weights, f->paths.n + n);

	for (uint32_t i = 0; i < n && !rc; i++) {
		uint32_t name = names[(ptrdiff_t)i * step];

		before = len;
		len += name_len(f, name) + 1;
		if (len > FOLD_STACK_MAX)
			return PP_END;
		rc = paths_add(&f->paths, *node, name, node);
		if (rc)
			break;
		f->tip = *node;
		f->tip_len = len;
		if (f->paths.names[*node] & PATHS_FIRST)
			f->paths.runs[f->paths.nruns - 1].note = (uint32_t)before;
	}
	return rc;
}

/*
 * The node of the n names on top of *node. What has no room is left out: *deep or *wide is the
 * number of those frames.
 */
static int extend(struct fold *f, uint32_t *node, const uint32_t *names, ptrdiff_t step, size_t n,
		  uint64_t *deep, uint64_t *wide)
{
	size_t room = FOLD_DEPTH_MAX - paths_depth(&f->paths, *node), i = 0;
	uint32_t child, before;
	int rc = paths_index(&f->paths);

	if (rc)
		return rc;
	*deep = n > room ? n - room : 0;
	n -= *deep;
	for (; i < n && (child = paths_find(&f->paths, *node, names[(ptrdiff_t)i * step])); i++)
		*node = child;
	before = f->paths.n;
	if (i < n)
		rc = add_frames(f, node, names + (ptrdiff_t)i * step, step, (uint32_t)(n - i));
	i += f->paths.n - before;
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
