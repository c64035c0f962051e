/*
 * The nodes of stacks in the tree. Of stacks that come in parts, each part with all below it has a
 * node, so that a sample adds to the node of the part that names its stack.
 */
#include "fold/sample_stacks_parts.h"

#include "base/array.h"
#include "base/err.h"

/* ---- whole stacks ---- */

int fstream_path(struct fstream *s, const struct ps_sample *p, uint32_t comm, bool java, size_t *n)
{
	const struct ps_stack *st = ps_sample_has(p, stack) ? sreader_stack(s->in, p->stack) : NULL;
	const struct ps_chain *c = ps_sample_has(p, chain) ? sreader_chain(s->in, p->chain) : NULL;
	size_t from = *n;
	int rc = fstream_room(s, *n + FOLD_BY_MAX);

	/* What is not defined is not known: the sample counts for its command alone. */
	if ((ps_sample_has(p, stack) && !st) || (!st && ps_sample_has(p, chain) && !c))
		s->undefined = true;
	if (!rc && st)
		rc = fstream_stack(s, p, st, c, java, n);
	else if (!rc && c)
		rc = fstream_chain(s, c, n);
	if (st && st->flags & PS_STACK_END_MASK)
		s->judged = true;
	if (!rc && st && !s->opts->no_marks)
		rc = fstream_marks(s, st, from, n);
	if (!rc)
		rc = fstream_room(s, *n + FOLD_BY_MAX);
	if (!rc)
		fold_by_put(&s->by, comm, s->path, n);
	return rc;
}

int fstream_node(struct fstream *s, const struct ps_sample *p, uint32_t comm, bool java,
		 uint32_t *node)
{
	size_t n = 0;
	int rc = fstream_path(s, p, comm, java, &n);

	return rc ? rc : fold_stack(s->fold, s->path, n, node);
}

/* ---- stacks in parts ---- */

/* The node that stacks of a command begin with, on which the part at the root stands. */
static int root_node(struct fstream *s, uint32_t comm, const struct ps_part *root,
		     struct part_node *at)
{
	uint32_t path[FOLD_BY_MAX + 2];
	size_t n = 0;
	int rc = 0;

	if (!s->opts->no_marks)
		rc = fstream_part_mark(s, root, path, &n);
	fold_by_put(&s->by, comm, path, &n);
	*at = (struct part_node){.comm = comm};
	return rc ? rc : fold_stack(s->fold, path, n, &at->through);
}

/*
 * The node of the names list[1] to list[n], outermost first, on top of another. It is looked up at
 * once, as the tree would take a look for each name.
 */
static int extend(struct fstream *s, uint32_t below, uint32_t *list, size_t n, uint32_t *node,
		  uint32_t *flags)
{
	struct fold_key key;
	size_t left_out;
	int rc;

	*node = below;
	if (!n)
		return 0;
	list[0] = below;
	key = fold_table_key(list, n + 1);
	*node = fold_table_find(&s->paths, key);
	if (*node)
		return 0;
	rc = fold_path(s->fold, below, list + 1, n, node, &left_out);
	if (!rc && left_out) {
		*flags |= PART_FULL;
		return 0;
	}
	return rc ? rc : fold_table_add(&s->paths, key, *node);
}

/*
 * The names of a part on top of *at, from list[1] on. What fstream_marks does to whole stacks:
 * addresses in no mapping become one frame. *alone: the innermost is one, and none before it is.
 */
static int part_names(struct fstream *s, const struct ps_part *p, bool java, struct part_node *at,
		      uint32_t *list, size_t *n, bool *alone)
{
	bool broken = at->flags & PART_BROKEN, before;
	uint32_t name;
	int rc;

	*n = 0;
	*alone = false;
	for (uint32_t i = 0; i < p->n; i++) {
		rc = fstream_frame(s, (uint32_t)p->words[i], java, &name);
		if (rc)
			return rc;
		before = broken;
		broken = !s->opts->no_marks && name == s->unknown &&
			 fstream_nowhere(s, (uint32_t)p->words[i]);
		if (!broken || !before)
			list[++*n] = broken ? s->broken : name;
		*alone = broken && !before;
	}
	at->flags &= ~PART_BROKEN;
	at->flags |= broken ? PART_BROKEN : 0;
	return 0;
}

/* A part on top of *at, which becomes its own. */
static int add_part(struct fstream *s, uint32_t id, bool java, struct part_node *at)
{
	uint32_t list[PS_PART_WORDS + 1], below = at->through;
	struct ps_part p;
	size_t n;
	bool alone;
	int rc = 0;

	if (!sreader_stack_part(s->in, id, &p))
		return PP_ENOENT;
	if (!(at->flags & PART_FULL)) {
		rc = part_names(s, &p, java, at, list, &n, &alone);
		if (!rc)
			rc = extend(s, below, list, n, &at->through, &at->flags);
		at->node = at->through;
		/* The innermost function can be code that no record tells of. */
		if (!rc && alone) {
			list[n] = s->unknown;
			rc = extend(s, below, list, n, &at->node, &at->flags);
		}
	}
	if (!rc)
		s->parts[id] = *at;
	return rc;
}

static int push(struct fstream *s, uint32_t n, uint32_t id)
{
	uint32_t *v = array_widen(s->ids, &s->ids_cap, n, 256, sizeof(*v));

	if (!v)
		return PP_ENOMEM;
	s->ids = v;
	v[n] = id;
	return 0;
}

/* The parts of a stack that have no node below the command. PP_ENOENT: one is not defined. */
static int add_parts(struct fstream *s, uint32_t top, uint32_t comm, bool java)
{
	struct part_node at, *known = NULL;
	struct ps_part p;
	uint32_t n = 0;
	int rc = 0;

	for (uint32_t id = top; id && !rc; id = p.parent) {
		if (id < s->parts_cap && s->parts[id].comm == comm &&
		    !(s->parts[id].flags & PART_ENDS)) {
			known = &s->parts[id];
			break;
		}
		rc = sreader_stack_part(s->in, id, &p) ? push(s, n++, id) : PP_ENOENT;
	}
	if (!rc && !s->opts->no_marks)
		rc = fstream_mark_names(s);
	if (!rc && known)
		at = *known;
	else if (!rc)
		rc = root_node(s, comm, &p, &at);
	while (n && !rc)
		rc = add_part(s, s->ids[--n], java, &at);
	return rc;
}

/* The node of a stack that has a mark below its root: made as a whole. */
static int add_whole(struct fstream *s, const struct ps_sample *p, uint32_t comm, bool java)
{
	struct part_node *k = &s->parts[p->stack];
	int rc = fstream_node(s, p, comm, java, &k->node);

	k->comm = rc ? 0 : comm;
	k->flags = PART_ENDS;
	return rc;
}

/*
 * Whether a stack's mark is that of its part at the root, which all stacks on top of it have; that
 * of an address in no mapping is the frame itself, unless there is no other.
 */
static bool marked_by_parts(const struct fstream *s, const struct ps_part *top)
{
	struct ps_part p = *top;

	while (p.parent)
		if (!sreader_stack_part(s->in, p.parent, &p))
			return false;
	if ((p.flags ^ top->flags) & PS_STACK_END_MASK)
		return false;
	return (top->flags & PS_STACK_END_MASK) >> PS_STACK_END_SHIFT != PS_END_NO_MAPPING ||
	       (top->total > 1 && p.n && fstream_nowhere(s, (uint32_t)p.words[0]));
}

static int add(struct fstream *s, const struct ps_sample *p, uint32_t comm, bool java)
{
	struct part_node *v;
	struct ps_part top;

	if (!sreader_stack_part(s->in, p->stack, &top))
		return PP_ENOENT;
	v = array_widen(s->parts, &s->parts_cap, p->stack, 4096, sizeof(*v));
	if (!v)
		return PP_ENOMEM;
	s->parts = v;
	if (top.flags & PS_STACK_END_MASK)
		s->judged = true;
	return !s->opts->no_marks && fstream_has_mark(top.flags) && !marked_by_parts(s, &top)
		       ? add_whole(s, p, comm, java)
		       : add_parts(s, p->stack, comm, java);
}

bool fstream_count_parts(struct fstream *s, const struct ps_sample *p, uint32_t comm, bool java,
			 uint64_t weight, int *rc)
{
	*rc = 0;
	if (s->opts->addrs || s->opts->second == FOLD_BOTH || !ps_sample_has(p, stack))
		return false;
	if (p->stack >= s->parts_cap || s->parts[p->stack].comm != comm) {
		*rc = add(s, p, comm, java);
		if (*rc == PP_ENOENT) {
			*rc = 0;
			return false;
		}
		if (*rc)
			return true;
	}
	/* What is left out is counted by who adds whole stacks. */
	if (s->parts[p->stack].flags & PART_FULL)
		return false;
	fold_add(s->fold, s->parts[p->stack].node, weight);
	return true;
}
