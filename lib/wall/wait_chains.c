/*
 * plat --emit chain: waits as samples. The stack of each goes on with whoever ended it: the stack
 * of the waker, upside down, its name, what it did meanwhile, and if that was a wait, its waker...
 */
#include "wall/parts.h"

#include "base/array.h"
#include "base/err.h"

#include <string.h>

#define BETWEEN	   "--"
#define BIRTH_TEXT "[not yet started]"
#define NODES_MAX  (1u << 20) /* different chains that are remembered */

/* A link of a chain, or what is at its end. No gaps: it is compared as bytes. */
struct node {
	uint32_t up;	/* the link before; 0: it is the first */
	uint32_t stack; /* where a thread waits, or what it does */
	uint32_t state; /* text; 0: none */
	uint32_t user;	/* without the stack's kernel frames */
	uint32_t waker; /* its name: text; PS_NONE: it is the end */
	uint32_t waker_stack;
};

void wall_chains_release(struct wall_chains *c)
{
	wall_paths_free(c->paths);
	wall_path_release(&c->path);
	intern_release(&c->nodes);
	free(c->stacks);
	free(c->links);
	free(c->parts);
}

void wall_chains_forget(struct wall_chains *c)
{
	intern_release(&c->nodes);
	c->nodes = (struct intern)INTERN_INIT;
	if (c->cap_stacks)
		memset(c->stacks, 0, c->cap_stacks * sizeof(*c->stacks));
}

/* ---- stacks ---- */

static int add_part(struct wall_chains *c, struct lat_stack_part part)
{
	struct lat_stack_part *v = array_widen(c->parts, &c->cap_parts, c->nparts, 64, sizeof(*v));

	if (!v)
		return PP_ENOMEM;
	c->parts = v;
	v[c->nparts++] = part;
	return 0;
}

static int add_name(struct wall_chains *c, const char *name, size_t len)
{
	return name ? add_part(c, (struct lat_stack_part){.name = name, .len = len}) : 0;
}

static int add_text(struct wall_chains *c, const struct wall *w, uint32_t text)
{
	size_t len = 0;
	const char *name = intern_get(&w->texts, text, &len);

	return add_name(c, name, len);
}

/* The parts of a node, the innermost first. */
static int add_node(struct wall_chains *c, const struct wall *w, const struct node *n)
{
	uint32_t skip = n->user ? wall_kernel_frames(w->kept, n->stack) : 0;
	int rc = 0;

	if (n->waker != PS_NONE) {
		rc = n->waker ? add_text(c, w, n->waker) : add_name(c, "<...>", 5);
		if (!rc)
			rc = add_part(c, (struct lat_stack_part){.stack = n->waker_stack,
								 .turned = true});
		if (!rc)
			rc = add_name(c, BETWEEN, strlen(BETWEEN));
	}
	if (!rc && n->state)
		rc = add_text(c, w, n->state);
	return rc ? rc : add_part(c, (struct lat_stack_part){.stack = n->stack, .skip = skip});
}

/* The stack of a chain with this end. 0; PP_ELIMIT: there is no room; PP_ENOMEM. */
static int make_stack(struct wall_chains *c, struct wall *w, uint32_t end, uint32_t *stack)
{
	int rc = 0;

	c->nparts = 0;
	for (uint32_t id = end; id && !rc;) {
		struct node n;

		memcpy(&n, intern_get(&c->nodes, id, NULL), sizeof(n));
		rc = add_node(c, w, &n);
		id = n.up;
	}
	for (uint32_t i = 0; i < c->nparts / 2; i++) {
		struct lat_stack_part part = c->parts[i];

		c->parts[i] = c->parts[c->nparts - 1 - i];
		c->parts[c->nparts - 1 - i] = part;
	}
	return rc ? rc : lat_stacks_join(w->kept, c->parts, c->nparts, stack);
}

/* ---- nodes ---- */

static int node_of(struct wall_chains *c, struct wall *w, struct node n, const char *state,
		   uint32_t *id)
{
	int rc = state ? intern_again(&w->texts, state, strlen(state), &n.state) : 0;

	return rc ? rc : intern_add(&c->nodes, &n, sizeof(n), id, NULL);
}

/* The nodes of a path's links: each comes after the one that it continues. */
static int set_links(struct wall_chains *c, struct wall *w)
{
	const struct wall_path *p = &c->path;
	uint32_t *v = array_widen(c->links, &c->cap_links, p->nlinks, 64, sizeof(*v));
	int rc = 0;

	if (!v)
		return PP_ENOMEM;
	c->links = v;
	v[0] = 0;
	for (uint32_t i = 1; i <= p->nlinks && !rc; i++) {
		const struct wall_link *l = &p->links[i];
		const struct node n = {.up = v[l->up],
				       .stack = l->stack,
				       .waker = w->threads[l->waker].comm,
				       .waker_stack = l->waker_stack};

		rc = node_of(c, w, n,
			     l->kind == WALL_NKINDS ? BIRTH_TEXT : wall_kinds[l->kind].name, &v[i]);
	}
	return rc;
}

static int end_of(struct wall_chains *c, struct wall *w, const struct wall_step *s, uint32_t *id)
{
	bool running = s->state == WALL_RUNNING && !s->interrupted;
	const struct node n = {.up = c->links[s->link],
			       .stack = s->stack,
			       .user = running && s->between,
			       .waker = PS_NONE};

	return node_of(c, w, n,
		       !running	    ? wall_step_state(s)
		       : s->between ? WALL_RUNNING_TEXT
				    : NULL,
		       id);
}

/* ---- waits ---- */

/* What replaces a wait, added up by chain. */
static int put(struct wall_chains *c, struct wall *w, struct wall_piece *p, uint32_t end,
	       uint64_t ns)
{
	uint32_t *v = array_widen(c->stacks, &c->cap_stacks, end, 256, sizeof(*v));
	int rc = 0;

	if (!v)
		return PP_ENOMEM;
	c->stacks = v;
	if (!v[end])
		rc = make_stack(c, w, end, &v[end]);
	if (rc == PP_ELIMIT) {
		c->e.missing++;
		rc = 0;
	}
	p->ns = ns;
	p->stack = v[end];
	return rc ? rc : wall_emit_piece(&c->e, w, p);
}

static int put_path(struct wall_chains *c, struct wall *w, struct wall_piece *p)
{
	struct {
		uint32_t end;
		uint64_t ns;
	} sums[32]; /* steps of a kind tend to be near each other */
	uint32_t n = 0, k, end;
	int rc = set_links(c, w);

	for (uint32_t i = 0; i < c->path.n && !rc; i++) {
		const struct wall_step *s = &c->path.v[i];

		c->deep += s->deep;
		rc = end_of(c, w, s, &end);
		for (k = 0; k < n && sums[k].end != end; k++)
			;
		if (k == sizeof(sums) / sizeof(*sums)) {
			for (k = 0; k < n && !rc; k++)
				rc = put(c, w, p, sums[k].end, sums[k].ns);
			k = n = 0;
		}
		if (k == n) {
			sums[n].end = end;
			sums[n++].ns = 0;
		}
		sums[k].ns += s->end - s->begin;
	}
	for (k = 0; k < n && !rc; k++)
		rc = put(c, w, p, sums[k].end, sums[k].ns);
	return rc;
}

int wall_chains_segment(void *ctx, struct wall *w, const struct wall_segment *s)
{
	struct wall_chains *c = ctx;
	struct wall_piece p = {
		.begin = s->begin, .end = s->end, .thread = s->thread, .cpu = PS_NONE};
	struct wall_from from = {.thread = s->thread, .time = s->end, .state = s->state};
	int rc = wall_paths_segment(c->paths, w, s);

	if (!rc && s->state == WALL_BLOCKED)
		rc = wall_emit_wait(&c->e, w, s, &p.state);
	if (rc || !p.state)
		return rc;
	if (c->nodes.n >= NODES_MAX)
		wall_chains_forget(c);
	from.last = w->threads[s->thread].last;
	rc = wall_path(c->paths, w, &from, s->begin, &c->path);
	c->cut += !rc && c->path.cut;
	return rc ? rc : put_path(c, w, &p);
}

int wall_chains_moved(void *ctx, struct wall *w)
{
	struct wall_chains *c = ctx;

	wall_chains_forget(c);
	return wall_paths_moved(c->paths, w);
}
