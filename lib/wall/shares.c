/* Steps of critical paths in words, and which have the same. */
#include "wall/shares.h"

#include "base/array.h"
#include "base/err.h"
#include "wall/parts.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

/*
 * What of a step tells its share: threads by their names, as there may be many threads. No gaps: it
 * is compared as bytes.
 */
struct look {
	uint32_t comm, stack, other_comm, for_stack;
	uint32_t request; /* the number of it, or what is known of the device */
	uint8_t state, kind, for_kind, flags;
};

static void add_name(const struct wall *w, uint32_t thread, struct buf *b)
{
	size_t len;
	const char *s = intern_get(&w->texts, w->threads[thread].comm, &len);

	buf_add(b, s ? s : "<...>", s ? len : 5);
}

/* Of which device a request was, and which it was: "8,0 W 123456+8". */
static void add_request(const struct wall *w, const struct wall_request *r, bool which,
			struct buf *b)
{
	size_t len = 0;
	const char *s = r ? intern_get(&w->texts, r->label, &len) : NULL;

	if (!s)
		return;
	buf_addc(b, ' ');
	buf_add(b, s, len);
	if (which && r->kind == WALL_KIND_DISK)
		buf_addf(b, " %" PRIu64 "+%" PRIu32, r->sector, r->n);
	else if (which)
		buf_addf(b, " %" PRIu32 " bytes", r->n);
}

static void add_state(const struct wall *w, const struct wall_step *s, bool which, struct buf *b)
{
	buf_adds(b, wall_step_state(s));
	add_request(w, wall_request(w, s->request), which, b);
	if (s->state == WALL_RUNNABLE && s->other)
		buf_adds(b, " behind ");
	if (s->state == WALL_BLOCKED && s->other)
		buf_adds(b, " woken by ");
	else if (s->state == WALL_BLOCKED && s->unknown)
		buf_adds(b, " waker not known");
	if (s->other)
		add_name(w, s->other, b);
}

static void add_frame(const struct lat_stack_frame *f, struct buf *b)
{
	size_t at = b->len;

	buf_add(b, f->name ? f->name : "[unknown]", f->name ? f->len : 9);
	for (; !b->err && at < b->len; at++)
		if (b->data[at] == ';' || b->data[at] == '\n')
			b->data[at] = ':';
}

/* Of a stack without its `skip` innermost frames: the place, or the whole of it. */
static void add_where(const struct wall *w, uint32_t stack, uint32_t skip, bool whole,
		      struct buf *b)
{
	struct lat_stack_frame f;
	uint32_t n = skip;

	if (!whole) {
		if (wall_place(w->kept, stack, skip, &f))
			buf_add(b, f.name, f.len);
		return;
	}
	while (lat_stacks_frame(w->kept, stack, n, &f))
		n++;
	while (n-- > skip && lat_stacks_frame(w->kept, stack, n, &f)) {
		add_frame(&f, b);
		if (n > skip)
			buf_addc(b, ';');
	}
}

/* Where a thread ran before a switch or a wakeup, the functions of these do not tell. */
static uint32_t skipped(const struct wall *w, const struct wall_step *s)
{
	return s->state == WALL_RUNNING && s->between ? wall_kernel_frames(w->kept, s->stack) : 0;
}

static void add_words(const struct wall_shares *s, const struct wall *w,
		      const struct wall_step *step, const struct look *look,
		      enum wall_share_text which, struct buf *b)
{
	struct lat_stack_frame f;

	switch (which) {
	case WALL_SHARE_THREAD: add_name(w, step->thread, b); break;
	case WALL_SHARE_STATE: add_state(w, step, s->requests, b); break;
	case WALL_SHARE_WHERE: add_where(w, step->stack, skipped(w, step), s->stacks, b); break;
	default:
		if (look->for_kind == WALL_NKINDS)
			break;
		buf_adds(b, wall_kinds[look->for_kind].name);
		if (!wall_place(w->kept, look->for_stack, 0, &f))
			break;
		buf_addc(b, ' ');
		buf_add(b, f.name, f.len);
		break;
	}
}

static int text_of(struct wall_shares *s, uint32_t *id)
{
	return s->words.err ? s->words.err
			    : intern_again(&s->texts, buf_str(&s->words), s->words.len, id);
}

static int make(struct wall_shares *s, const struct wall *w, const struct wall_step *step,
		const struct look *look, uint32_t *share)
{
	bool full = s->shares.n >= WALL_SHARES_MAX;
	uint32_t texts[WALL_SHARE_NTEXTS];
	int rc = 0;

	for (int i = 0; i < WALL_SHARE_NTEXTS && !rc; i++) {
		buf_reset(&s->words);
		if (full)
			buf_adds(&s->words, "(other)");
		else
			add_words(s, w, step, look, (enum wall_share_text)i, &s->words);
		rc = text_of(s, &texts[i]);
	}
	return rc ? rc : intern_add(&s->shares, texts, sizeof(texts), share, NULL);
}

int wall_share_of(struct wall_shares *s, struct wall *w, const struct wall_path *path, uint32_t i,
		  uint32_t *share)
{
	const struct wall_step *step = &path->v[i];
	const struct wall_request *r = wall_request(w, step->request);
	const struct wall_link *own =
		step->link ? &path->links[path->links[step->link].first] : NULL;
	const struct look look = {w->threads[step->thread].comm,
				  step->stack,
				  w->threads[step->other].comm,
				  own ? own->stack : 0,
				  !r		? 0
				  : s->requests ? r->number
						: r->label,
				  step->state,
				  step->kind,
				  own ? own->kind : WALL_NKINDS,
				  (uint8_t)(step->interrupted | step->unknown << 1 |
					    step->between << 2 | (step->other > 0) << 3)};
	uint32_t id, *of;
	bool fresh;
	int rc;

	/* What they refer to stays, but there may be many. */
	if (s->steps.n >= WALL_SHARES_MAX)
		wall_shares_moved(s);
	rc = intern_add(&s->steps, &look, sizeof(look), &id, &fresh);
	if (rc)
		return rc;
	of = array_widen(s->of, &s->cap, id, 256, sizeof(*of));
	if (!of)
		return PP_ENOMEM;
	s->of = of;
	if (fresh)
		rc = make(s, w, step, &look, &of[id]);
	*share = of[id];
	return rc;
}

const char *wall_share_text(const struct wall_shares *s, uint32_t share, enum wall_share_text which,
			    size_t *len)
{
	const char *entry = intern_get(&s->shares, share, NULL);
	uint32_t texts[WALL_SHARE_NTEXTS];

	memcpy(texts, entry, sizeof(texts));
	return intern_get(&s->texts, texts[which], len);
}

void wall_shares_moved(struct wall_shares *s)
{
	intern_release(&s->steps);
	s->steps = (struct intern)INTERN_INIT;
}

void wall_shares_release(struct wall_shares *s)
{
	intern_release(&s->texts);
	intern_release(&s->shares);
	intern_release(&s->steps);
	free(s->of);
	buf_release(&s->words);
}
