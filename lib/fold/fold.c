/* The tree of stacks with its names and weights; folded text in its order. */
#include "fold/fold.h"

#include "base/buf.h"
#include "base/err.h"
#include "fold/stack_tree.h"
#include "stream/ends.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#define XXH_INLINE_ALL
#include <xxhash.h>

#define FOLD_NAME_END 12 /* bytes at the end of a name that was cut: "...#89abcdef" */

int fold_new(struct fold **out, const struct fold_opts *opts, struct diag *d)
{
	struct fold *f = calloc(1, sizeof(*f));

	*out = f;
	if (!f)
		return PP_ENOMEM;
	f->opts = *opts;
	f->diag = d;
	f->lanes[0] = calloc(1, sizeof(*f->lanes[0]));
	if (fold_nodes_init(f) || !f->lanes[0]) {
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
	buf_release(&f->scratch);
	fold_lanes_release(f);
	fold_nodes_release(f);
	free(f->runs);
	free(f->times);
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

bool fold_is_cut(const struct fold *f)
{
	return f->account.partial || f->deep || f->wide || f->saturated;
}

bool fold_is_partial(const struct fold *f)
{
	return fold_is_cut(f) || f->account.lacks;
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
	uint32_t *names = malloc(((size_t)fold_nodes_depth(f) + 1) * sizeof(*names));
	int rc = 0;

	if (!names)
		return PP_ENOMEM;
	for (uint32_t k = 1; k < f->paths.n && !rc; k++) {
		size_t n = 0;

		if (!fold_node_ends(f, k))
			continue;
		for (uint32_t i = k; i != FOLD_ROOT; i = paths_parent(&f->paths, i))
			names[n++] = paths_name(&f->paths, i);
		rc = fn(ctx, names, n, weights_get(&f->weights, k));
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

uint32_t fold_nodes(const struct fold *f)
{
	return f->paths.n;
}

uint32_t fold_node(const struct fold *f, uint32_t node, uint32_t *name, uint64_t *weight)
{
	*name = paths_name(&f->paths, node);
	if (weight)
		*weight = weights_get(&f->weights, node);
	return paths_parent(&f->paths, node);
}

uint64_t fold_weight(const struct fold *f, uint32_t node)
{
	return weights_get(&f->weights, node);
}

const struct paths *fold_paths(const struct fold *f)
{
	return &f->paths;
}

bool fold_node_ends(const struct fold *f, uint32_t node)
{
	return f->paths.names[node] & PATHS_MARK;
}

int fold_add(struct fold *f, uint32_t node, uint64_t weight)
{
	if (f->lane == f->owner)
		fold_weigh(f, node, weight);
	else
		fold_lane_add(f, node, weight);
	if (f->opts.chart)
		fold_chart_add(f, node, weight);
	if (f->opts.times)
		fold_time_add(f, node, weight);
	return f->lane_err;
}

int fold_ends(const struct fold *f, struct ps_ends *e)
{
	const struct paths *p = &f->paths;
	uint8_t *ends = calloc(p->n, 1);

	*e = (struct ps_ends){0};
	if (!ends)
		return PP_ENOMEM;
	/* A node's parent comes before it. */
	for (uint32_t i = 1; i < p->n; i++) {
		size_t len;
		const char *name = intern_get(&f->names, paths_name(p, i), &len);

		ends[i] = ps_ends_add(e, ends[paths_parent(p, i)], name, len,
				      weights_get(&f->weights, i));
	}
	free(ends);
	return 0;
}

void fold_write_about(struct fold *f, struct buf *b)
{
	if (!f->account.unsaid)
		fold_about_write(&f->account.about, b);
}

static void finish_about(struct fold *f)
{
	const struct fold_about *a = &f->account.about;

	if (f->account.told)
		return;
	if (a->units && !fold_by_event(&f->opts))
		diag_warn(f->diag, NULL, -1, "weights in different units are added up: of %s",
			  a->event);
	if (f->account.unsaid && (*a->event || *a->unit))
		diag_warn(f->diag, NULL, -1,
			  "some folded text has no line that says what it counts: it was added "
			  "anyway, and the result has none either");
}

void fold_tell_periods(const struct fold_periods *p, struct diag *d)
{
	if (p->zero)
		diag_warn(d, NULL, -1,
			  "samples with a period of 0: %" PRIu64
			  " weigh nothing (--count of pfold and preport counts them)",
			  p->zero);
	if (p->absurd)
		diag_warn(d, NULL, -1,
			  "samples with a period of 2^63 or more, which cannot be true: %" PRIu64
			  " outweigh all others (--count of pfold and preport does without)",
			  p->absurd);
}

/* ---- names without the terms that say how an event was recorded ---- */

/* Those of the frames at a depth, which are events. */
static int shorten_roots(struct fold *f, uint32_t depth)
{
	struct intern names = INTERN_INIT;
	struct event_names all = {fold_interned, &names, 0};
	struct paths *p = &f->paths;
	struct core_event e;
	uint32_t id = 0;
	size_t len;
	int rc = 0;

	for (uint32_t k = 1; k < p->n && !rc; k++) {
		const char *s = intern_get(&f->names, paths_name(p, k), &len);

		if (paths_depth(p, k) == depth)
			rc = intern_add(&names, s, len, &id, NULL);
	}
	all.n = names.n;
	for (uint32_t k = 1; k < p->n && !rc; k++) {
		const char *s = intern_get(&f->names, paths_name(p, k), &len);

		if (paths_depth(p, k) != depth || !event_short_name(s, len, &all, &e))
			continue;
		rc = fold_name(f, e.name, e.len, &id);
		rc = !rc && id > PATHS_NAME_MAX ? PP_ELIMIT : rc;
		p->names[k] = (p->names[k] & ~PATHS_NAME_MAX) | (id & PATHS_NAME_MAX);
	}
	intern_release(&names);
	return rc;
}

static int shorten(struct fold *f)
{
	const struct event_names lanes = {fold_interned, &f->lane_names, f->lane_names.n};
	const struct fold_opts *o = &f->opts;
	struct fold_about *a = &f->account.about;
	int rc = 0;

	/* What the user asked for stays. */
	if (!o->event || strcmp(o->event, a->event) != 0)
		fold_about_shorten(a, &lanes);
	for (uint32_t i = 0; i < o->nby && !rc; i++)
		if (!strcmp(o->by[i], "event"))
			rc = shorten_roots(f, i + 1);
	return rc;
}

int fold_finish(struct fold *f)
{
	int rc = fold_choose(f);

	fold_settle(f);
	rc = rc ? rc : shorten(f);
	if (!f->opts.count)
		fold_tell_periods(&f->account.periods, f->diag);
	finish_about(f);
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
	return rc;
}
