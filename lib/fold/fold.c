/* The tree of stacks with its names and weights; folded text in its order. */
#include "fold/fold.h"

#include "base/buf.h"
#include "base/err.h"
#include "base/intern.h"
#include "fold/table.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#define XXH_INLINE_ALL
#include <xxhash.h>

#define FOLD_NAME_END 12 /* bytes at the end of a name that was cut: "...#89abcdef" */

struct node {
	uint32_t parent, name;
	uint32_t depth : 31;
	uint32_t seen : 1; /* a stack ends here (its weight may be 0) */
	uint32_t len;	   /* bytes of the stack's text, with a ';' at its end */
};

/* Most that a search skips are recognized by the hash alone. */
struct child {
	uint32_t hash;
	uint32_t node; /* FOLD_ROOT: free */
};

struct fold {
	struct fold_opts opts;
	struct fold_account account;
	struct diag *diag;
	struct intern names;
	struct buf scratch;
	struct node *nodes; /* nodes[0] is the root */
	uint64_t *weights;  /* by node: what is added to for every sample lies close together */
	uint32_t n, cap;
	struct child *children; /* open addressing on (parent, name) */
	uint32_t children_mask;
	struct fold_table stacks;
	uint64_t seen;	     /* nodes with seen set */
	uint64_t deep;	     /* frames left out of stacks that are too deep */
	uint64_t wide;	     /* of stacks whose text is too long */
	uint64_t long_names; /* names that were cut */
	bool saturated;
	struct buf event; /* the event that is folded, once known */
	struct intern others;
	uint64_t others_count[FOLD_EVENTS_MAX];
	uint64_t others_more;
};

int fold_new(struct fold **out, const struct fold_opts *opts, struct diag *d)
{
	struct fold *f = calloc(1, sizeof(*f));

	*out = f;
	if (!f)
		return PP_ENOMEM;
	f->opts = *opts;
	f->diag = d;
	f->cap = 1024;
	f->nodes = calloc(f->cap, sizeof(*f->nodes));
	f->weights = calloc(f->cap, sizeof(*f->weights));
	f->n = 1;
	if (!f->nodes || !f->weights) {
		fold_free(f);
		*out = NULL;
		return PP_ENOMEM;
	}
	return 0;
}

void fold_free(struct fold *f)
{
	if (!f)
		return;
	intern_release(&f->names);
	intern_release(&f->others);
	buf_release(&f->scratch);
	buf_release(&f->event);
	free(f->nodes);
	free(f->weights);
	free(f->children);
	fold_table_release(&f->stacks);
	free(f);
}

const struct fold_opts *fold_options(const struct fold *f)
{
	return &f->opts;
}

struct diag *fold_diag(const struct fold *f)
{
	return f->diag;
}

struct fold_account *fold_account(struct fold *f)
{
	return &f->account;
}

uint64_t fold_stacks(const struct fold *f)
{
	return f->seen;
}

void fold_too_deep(struct fold *f, uint64_t frames)
{
	f->deep += frames;
}

int fold_each(const struct fold *f, fold_visit *fn, void *ctx)
{
	uint32_t depth = 0, *names;
	int rc = 0;

	for (uint32_t k = 0; k < f->n; k++)
		if (f->nodes[k].depth > depth)
			depth = f->nodes[k].depth;
	names = malloc(((size_t)depth + 1) * sizeof(*names));
	if (!names)
		return PP_ENOMEM;
	for (uint32_t k = 1; k < f->n && !rc; k++) {
		size_t n = 0;

		if (!f->nodes[k].seen)
			continue;
		for (uint32_t i = k; i != FOLD_ROOT; i = f->nodes[i].parent)
			names[n++] = f->nodes[i].name;
		rc = fn(ctx, names, n, f->weights[k]);
	}
	free(names);
	return rc;
}

const char *fold_name_text(const struct fold *f, uint32_t id, size_t *len)
{
	return intern_get(&f->names, id, len);
}

static inline bool is_plain(uint8_t c)
{
	return c >= ' ' && c < 0x7f && c != ';';
}

/* A name in which something is replaced: character by character, as text for a terminal. */
static int add_cleaned(struct buf *b, const char *s, size_t n)
{
	buf_reset(b);
	for (size_t i = 0; i < n;) {
		int len = utf8_shown(s + i, n - i), control = utf8_len(s + i, n - i);

		if (!len || s[i] == ';')
			buf_addc(b, s[i] == ';' ? ':' : '?');
		else
			buf_add(b, s + i, (size_t)len);
		i += (size_t)(control ? control : 1);
	}
	return b->err;
}

/* Cuts a name that is too long. Its end tells it from others that begin as it does. */
static int cut_name(const char *s, size_t n, struct buf *b)
{
	size_t keep = FOLD_NAME_MAX - FOLD_NAME_END;

	while (keep && ((uint8_t)s[keep] & 0xc0) == 0x80)
		keep--;
	if (add_cleaned(b, s, keep))
		return b->err;
	buf_addf(b, "...#%08x", (unsigned)XXH3_64bits(s, n));
	return b->err;
}

int fold_name(struct fold *f, const void *bytes, size_t len, uint32_t *id)
{
	const char *p = bytes;
	bool fresh;
	size_t i = 0;
	int rc;

	if (len <= FOLD_NAME_MAX) {
		while (i < len && is_plain((uint8_t)p[i]))
			i++;
		if (i == len)
			return intern_add(&f->names, len ? bytes : "", len, id, NULL);
		rc = add_cleaned(&f->scratch, p, len);
	} else {
		rc = cut_name(p, len, &f->scratch);
	}
	if (!rc)
		rc = intern_add(&f->names, f->scratch.data, f->scratch.len, id, &fresh);
	f->long_names += !rc && fresh && len > FOLD_NAME_MAX;
	return rc;
}

int fold_comm(struct fold *f, const char *comm, size_t len, const char *pid, const char *tid,
	      uint32_t *id)
{
	struct buf text = BUF_INIT;
	uint8_t small[64];
	int rc;

	if (len <= sizeof(small) && !f->opts.pid && !f->opts.tid) {
		for (size_t i = 0; i < len; i++)
			small[i] = comm[i] == ' ' ? '_' : (uint8_t)comm[i];
		return fold_name(f, small, len, id);
	}
	buf_add(&text, comm, len);
	if (f->opts.pid || f->opts.tid)
		buf_addf(&text, "-%s", pid);
	if (f->opts.tid)
		buf_addf(&text, "/%s", tid);
	for (size_t i = 0; i < text.len; i++)
		if (text.data[i] == ' ')
			text.data[i] = '_';
	rc = text.err ? text.err : fold_name(f, buf_str(&text), text.len, id);
	buf_release(&text);
	return rc;
}

static bool is_event(const char *want, size_t want_len, const char *name, size_t len)
{
	return want_len == len && !memcmp(want, name, len);
}

bool fold_event(struct fold *f, const char *name, size_t len)
{
	uint32_t id;

	if (f->opts.event && *f->opts.event)
		return is_event(f->opts.event, strlen(f->opts.event), name, len);
	if (!f->event.len && len)
		buf_add(&f->event, name, len);
	if (is_event(buf_str(&f->event), f->event.len, name, len))
		return true;
	id = intern_find(&f->others, name, len);
	if (id || (f->others.n < FOLD_EVENTS_MAX && !intern_add(&f->others, name, len, &id, NULL)))
		f->others_count[id - 1]++;
	else
		f->others_more++;
	return false;
}

static inline uint32_t child_hash(uint32_t parent, uint32_t name)
{
	uint64_t k = ((uint64_t)parent << 32 | name) * 0x9e3779b97f4a7c15u;

	return (uint32_t)((k ^ k >> 29) * 0xbf58476d1ce4e5b9u >> 32);
}

static uint32_t child_slot(const struct fold *f, uint32_t hash, uint32_t parent, uint32_t name)
{
	uint32_t i = hash & f->children_mask, k;

	for (; (k = f->children[i].node) != FOLD_ROOT; i = (i + 1) & f->children_mask)
		if (f->children[i].hash == hash && f->nodes[k].parent == parent &&
		    f->nodes[k].name == name)
			break;
	return i;
}

static int grow_children(struct fold *f)
{
	uint32_t nslots = f->children_mask ? (f->children_mask + 1) * 2 : 4096;
	struct child *slots = calloc(nslots, sizeof(*slots));

	if (!slots)
		return PP_ENOMEM;
	for (uint32_t k = 0; f->children && k <= f->children_mask; k++) {
		uint32_t i = f->children[k].hash & (nslots - 1);

		if (f->children[k].node == FOLD_ROOT)
			continue;
		while (slots[i].node != FOLD_ROOT)
			i = (i + 1) & (nslots - 1);
		slots[i] = f->children[k];
	}
	free(f->children);
	f->children = slots;
	f->children_mask = nslots - 1;
	return 0;
}

static int grow_nodes(struct fold *f)
{
	uint32_t cap = f->cap * 2;
	struct node *nodes;
	uint64_t *weights;

	if (f->n >= FOLD_NODES_MAX)
		return PP_ELIMIT;
	if (cap > FOLD_NODES_MAX)
		cap = FOLD_NODES_MAX;
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

/*
 * The node of parent's stack with one more frame towards the leaf; the parent itself, if there is
 * no room for one.
 */
static int add_frame(struct fold *f, uint32_t parent, uint32_t name, uint32_t *node)
{
	uint32_t hash, i;
	size_t len;
	int rc;

	if (f->nodes[parent].depth >= FOLD_DEPTH_MAX) {
		f->deep++;
		*node = parent;
		return 0;
	}
	if (f->n >= f->children_mask / 2 && f->children_mask < UINT32_MAX / 2) {
		rc = grow_children(f);
		if (rc)
			return rc;
	}
	hash = child_hash(parent, name);
	i = child_slot(f, hash, parent, name);
	if (f->children[i].node != FOLD_ROOT) {
		*node = f->children[i].node;
		return 0;
	}
	(void)intern_get(&f->names, name, &len);
	len += f->nodes[parent].len + 1;
	if (len > FOLD_STACK_MAX) {
		f->wide++;
		*node = parent;
		return 0;
	}
	if (f->n == f->cap) {
		rc = grow_nodes(f);
		if (rc)
			return rc;
	}
	f->nodes[f->n] = (struct node){.parent = parent,
				       .name = name,
				       .depth = (f->nodes[parent].depth + 1) & 0x7fffffff,
				       .len = (uint32_t)len};
	f->weights[f->n] = 0;
	*node = f->n++;
	f->children[i] = (struct child){hash, *node};
	return 0;
}

int fold_stack(struct fold *f, const uint32_t *names, size_t n, uint32_t *node)
{
	*node = FOLD_ROOT;
	if (n > FOLD_DEPTH_MAX) {
		f->deep += n - FOLD_DEPTH_MAX;
		names += n - FOLD_DEPTH_MAX;
		n = FOLD_DEPTH_MAX;
	}
	return n ? fold_stack_hashed(f, fold_table_hash(names, n), names, n, node) : 0;
}

uint32_t fold_stack_hash(const uint32_t *names, size_t n)
{
	return fold_table_hash(names, n);
}

void fold_stack_soon(const struct fold *f, uint32_t hash, bool next)
{
	__builtin_prefetch(fold_table_place(&f->stacks, hash, next));
}

int fold_stack_hashed(struct fold *f, uint32_t hash, const uint32_t *names, size_t n,
		      uint32_t *node)
{
	int rc = 0;

	*node = fold_table_find(&f->stacks, hash, names, n);
	if (*node)
		return 0;
	for (size_t k = n; k-- > 0 && !rc;) {
		uint32_t parent = *node;
		uint64_t deep = f->deep;

		rc = add_frame(f, parent, names[k], node);
		if (*node != parent)
			continue;
		/* Where one frame is left out, those after it are, too. */
		*(f->deep > deep ? &f->deep : &f->wide) += k;
		break;
	}
	return rc ? rc : fold_table_add(&f->stacks, hash, names, n, *node);
}

uint32_t fold_nodes(const struct fold *f)
{
	return f->n;
}

uint32_t fold_node(const struct fold *f, uint32_t node, uint32_t *name, uint64_t *weight)
{
	*name = f->nodes[node].name;
	*weight = f->weights[node];
	return f->nodes[node].parent;
}

void fold_add_soon(const struct fold *f, uint32_t node)
{
	__builtin_prefetch(&f->weights[node], 1);
}

void fold_add(struct fold *f, uint32_t node, uint64_t weight)
{
	uint64_t *w = &f->weights[node];

	if (!*w) {
		f->seen += !f->nodes[node].seen;
		f->nodes[node].seen = 1;
	}
	if (__builtin_add_overflow(*w, weight, w)) {
		*w = UINT64_MAX;
		f->saturated = true;
	}
	if (__builtin_add_overflow(f->account.weight, weight, &f->account.weight))
		f->account.weight = UINT64_MAX;
}

static void finish_events(struct fold *f)
{
	struct buf b = BUF_INIT;

	if (!f->others.n)
		return;
	for (uint32_t id = 1; id <= f->others.n; id++) {
		size_t len;
		const char *name = intern_get(&f->others, id, &len);

		buf_adds(&b, id > 1 ? ", " : "");
		buf_add_safe(&b, name, len);
		buf_addf(&b, " (%" PRIu64 ")", f->others_count[id - 1]);
	}
	if (f->others_more)
		buf_addf(&b, ", more (%" PRIu64 ")", f->others_more);
	diag_warn(f->diag, NULL, -1,
		  "only samples of %s are folded; left out: %s; choose with --event",
		  buf_str(&f->event), buf_str(&b));
	buf_release(&b);
}

int fold_tell(struct fold *f, const struct fold_about *a, const char *name)
{
	struct buf b = BUF_INIT;

	if (!fold_about_clashes(&f->account.about, a)) {
		fold_about_merge(&f->account.about, a);
		return 0;
	}
	buf_adds(&b, "counts ");
	fold_about_describe(a, &b);
	buf_adds(&b, ", but what was read before counts ");
	fold_about_describe(&f->account.about, &b);
	diag_error(f->diag, name, -1, "%s: their sum would mean nothing", buf_str(&b));
	buf_release(&b);
	return PP_EMISMATCH;
}

void fold_write_about(struct fold *f, struct buf *b)
{
	if (!f->account.unsaid)
		fold_about_write(&f->account.about, b);
}

static void finish_about(struct fold *f)
{
	const struct fold_about *a = &f->account.about;

	if (a->units)
		diag_warn(f->diag, NULL, -1, "weights in different units are added up: of %s",
			  a->event);
	if (f->account.unsaid && (*a->event || *a->unit))
		diag_warn(
			f->diag, NULL, -1,
			"some folded text has no line that tells what it counts: it was added all "
			"the same, and the result has none either");
}

void fold_finish(struct fold *f)
{
	finish_about(f);
	finish_events(f);
	if (f->deep)
		diag_warn(f->diag, NULL, -1,
			  "stacks of more than %d frames: %" PRIu64 " frames are left out",
			  FOLD_DEPTH_MAX, f->deep);
	if (f->wide)
		diag_warn(f->diag, NULL, -1,
			  "stacks of more than %d bytes of text: %" PRIu64 " frames are left out",
			  FOLD_STACK_MAX, f->wide);
	if (f->long_names)
		diag_warn(f->diag, NULL, -1, "names of more than %d bytes are cut: %" PRIu64,
			  FOLD_NAME_MAX, f->long_names);
	if (f->saturated)
		diag_warn(f->diag, NULL, -1, "a count exceeds %" PRIu64 " and stays there",
			  UINT64_MAX);
}

/*
 * Writing. The order is that of the stacks' whole text, where a name may hold bytes below ';': the
 * stack "a" comes before "a-x", but "a;b" after it. So each name has two sort keys: as the last
 * frame of a stack, and with its ';'.
 */

struct sort_key {
	uint64_t prefix; /* the first 8 bytes, big-endian: decides most comparisons */
	const char *text;
	uint32_t len;
	uint32_t key; /* name * 2, + 1 with ';' */
};

static int compare_keys(const void *va, const void *vb)
{
	const struct sort_key *a = va, *b = vb;
	uint32_t min = a->len < b->len ? a->len : b->len;
	bool a_ends, b_ends;
	int r;

	if (a->prefix != b->prefix)
		return a->prefix < b->prefix ? -1 : 1;
	r = memcmp(a->text, b->text, min);
	if (r)
		return r;
	/* What follows: nothing, ';', or more of the name. */
	a_ends = a->len == min;
	b_ends = b->len == min;
	if (a_ends && b_ends)
		return (int)(a->key & 1) - (int)(b->key & 1);
	if (a_ends)
		return a->key & 1 && (uint8_t)b->text[min] < ';' ? 1 : -1;
	return b->key & 1 && (uint8_t)a->text[min] < ';' ? -1 : 1;
}

static uint64_t key_prefix(const char *text, uint32_t len, bool inner)
{
	uint8_t bytes[8] = {0};
	uint64_t v;

	memcpy(bytes, text, len < 8 ? len : 8);
	if (inner && len < 8)
		bytes[len] = ';';
	memcpy(&v, bytes, 8);
#if __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
	v = __builtin_bswap64(v);
#endif
	return v;
}

/* rank[name * 2 + inner]: place of that key in the order of all keys. */
static int rank_names(const struct fold *f, uint32_t **out)
{
	size_t n = (size_t)f->names.n * 2;
	struct sort_key *keys = malloc((n + 1) * sizeof(*keys));
	uint32_t *rank = malloc((n + 2) * sizeof(*rank));

	*out = rank;
	if (!keys || !rank) {
		free(keys);
		free(rank);
		*out = NULL;
		return PP_ENOMEM;
	}
	for (size_t i = 0; i < n; i++) {
		uint32_t name = (uint32_t)(i / 2 + 1);
		size_t len;

		keys[i].text = intern_get(&f->names, name, &len);
		keys[i].len = (uint32_t)len;
		keys[i].key = name * 2 + (i & 1);
		keys[i].prefix = key_prefix(keys[i].text, keys[i].len, i & 1);
	}
	qsort(keys, n, sizeof(*keys), compare_keys);
	for (size_t i = 0; i < n; i++)
		rank[keys[i].key] = (uint32_t)i;
	free(keys);
	return 0;
}

/* What hangs below each node, in order: entries[start[node] .. start[node + 1]), rank and node. */
struct layout {
	uint32_t *rank;
	size_t *start;
	uint64_t *entries;
};

static void layout_release(struct layout *l)
{
	free(l->rank);
	free(l->start);
	free(l->entries);
}

static int compare_u64(const void *va, const void *vb)
{
	uint64_t a, b;

	memcpy(&a, va, sizeof(a));
	memcpy(&b, vb, sizeof(b));
	return a < b ? -1 : a > b;
}

static void sort_entries(uint64_t *e, size_t n)
{
	if (n > 16) {
		qsort(e, n, sizeof(*e), compare_u64);
		return;
	}
	for (size_t i = 1; i < n; i++) {
		uint64_t v = e[i];
		size_t k = i;

		for (; k && e[k - 1] > v; k--)
			e[k] = e[k - 1];
		e[k] = v;
	}
}

static int layout_make(const struct fold *f, struct layout *l)
{
	uint8_t *inner = calloc(f->n, 1);
	size_t sum = 0;
	int rc = rank_names(f, &l->rank);

	l->start = calloc((size_t)f->n + 2, sizeof(*l->start));
	l->entries = malloc(((size_t)f->n * 2 + 1) * sizeof(*l->entries));
	if (rc || !inner || !l->start || !l->entries) {
		free(inner);
		return PP_ENOMEM;
	}
	for (uint32_t k = 1; k < f->n; k++)
		inner[f->nodes[k].parent] = 1;
	for (uint32_t k = 1; k < f->n; k++)
		l->start[f->nodes[k].parent + 2] += (size_t)inner[k] + f->nodes[k].seen;
	for (size_t k = 2; k < (size_t)f->n + 2; k++)
		l->start[k] = sum += l->start[k];
	/* start[k + 1] is where the entries of k go next; in the end, where they end. */
	for (uint32_t k = 1; k < f->n; k++) {
		const struct node *node = &f->nodes[k];
		size_t *at = &l->start[node->parent + 1];

		if (node->seen)
			l->entries[(*at)++] = (uint64_t)l->rank[node->name * 2] << 32 | k;
		if (inner[k])
			l->entries[(*at)++] = (uint64_t)l->rank[node->name * 2 + 1] << 32 | k;
	}
	for (uint32_t k = 0; k < f->n; k++)
		sort_entries(l->entries + l->start[k], l->start[k + 1] - l->start[k]);
	free(inner);
	return 0;
}

static int write_line(const struct fold *f, struct out *o, const struct buf *path, uint32_t node)
{
	char digits[24], *d = digits + sizeof(digits);
	uint64_t v = f->weights[node];
	size_t len, n;
	const char *name = intern_get(&f->names, f->nodes[node].name, &len);
	uint8_t *p;

	*--d = '\n';
	do
		*--d = (char)('0' + v % 10);
	while (v /= 10);
	*--d = ' ';
	n = (size_t)(digits + sizeof(digits) - d);
	p = out_room(o, path->len + len + n);
	if (!p)
		return o->err;
	if (path->len)
		memcpy(p, path->data, path->len);
	memcpy(p + path->len, name, len);
	memcpy(p + path->len + len, d, n);
	o->len += path->len + len + n;
	return 0;
}

struct level {
	size_t next, end; /* entries still to write */
	size_t path;	  /* length of the path above */
};

static int write_tree(const struct fold *f, const struct layout *l, struct level *levels,
		      struct buf *path, struct out *o)
{
	struct level *at = levels;
	int rc = 0;

	*at = (struct level){l->start[0], l->start[1], 0};
	while (!rc) {
		uint32_t node;
		const char *name;
		size_t len;

		path->len = at->path;
		if (at->next == at->end) {
			if (at-- == levels)
				break;
			continue;
		}
		node = (uint32_t)l->entries[at->next];
		if ((uint32_t)(l->entries[at->next++] >> 32) == l->rank[f->nodes[node].name * 2]) {
			rc = write_line(f, o, path, node);
			continue;
		}
		name = intern_get(&f->names, f->nodes[node].name, &len);
		buf_add(path, name, len);
		buf_addc(path, ';');
		rc = path->err;
		*++at = (struct level){l->start[node], l->start[node + 1], path->len};
	}
	return rc;
}

int fold_write(struct fold *f, struct out *o)
{
	struct layout l = {0};
	struct buf path = BUF_INIT;
	struct level *levels;
	uint32_t depth = 0;
	int rc = layout_make(f, &l);

	for (uint32_t k = 0; k < f->n; k++)
		if (f->nodes[k].depth > depth)
			depth = f->nodes[k].depth;
	levels = malloc(((size_t)depth + 2) * sizeof(*levels));
	if (!levels)
		rc = PP_ENOMEM;
	if (!rc)
		rc = write_tree(f, &l, levels, &path, o);
	free(levels);
	buf_release(&path);
	layout_release(&l);
	return rc;
}
