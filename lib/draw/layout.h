/*
 * Private to lib/draw: the layout of a flame graph, for its SVG and its page.
 *
 *	struct layout l = {.f = f, .o = o, .out = out};
 *	rc = layout_init(&l, FLAME_DRAWN_MAX, 0.1);
 *	... layout_draws(&l, node), layout_total(&l, node), l.links[node].last ...
 *	layout_add_account(&l);
 *	layout_release(&l);
 *
 * Texts go to l->out; its error says what happened to them.
 */
#ifndef PP_DRAW_LAYOUT_H
#define PP_DRAW_LAYOUT_H

#include "draw/flame_tree.h"

#define PAD 10.0 /* left and right of the frames, in pixels */

struct layout {
	struct flame *f;
	const struct flame_opts *o;
	struct out *out;
	bool page; /* frames that are too narrow are merged, not left out */
	struct arena arena;
	struct flame_sums sums;
	struct flame_links *links; /* by node: the tree's, or own ones */
	struct flame_links *own;
	unsigned palette;
	long double *waiting; /* by node: what of total is waiting; NULL: the palette is another */
	struct label *labels; /* by name */
	long double *right;   /* by depth: right edge that is left for a frame, in counts */
	long double *gap;     /* by depth: counts not drawn since that edge was set */
	long double all;      /* the width of the root: what was counted, or more (--total) */
	long double least;    /* narrower frames are not drawn */
	double scale;	      /* pixels per count */
	double narrow;	      /* what `least` is, as min_width */
	bool percent;	      /* of all, not in pixels */
	uint32_t depth;	      /* of the deepest drawn frame */
	uint64_t drawn;
	double top, bottom, height;
	const char *unit; /* of the counts; "": not known */
};

/*
 * Sums, order, and what is too narrow: by the options, or else what is narrower than `narrow`
 * pixels, or as much more that no more than `most` frames are left. The account gets what is drawn.
 * 0, PP_END (nothing was counted) or PP_ENOMEM. Release it in any case.
 */
int layout_init(struct layout *l, uint64_t most, double narrow);
void layout_release(struct layout *l);

bool layout_draws(const struct layout *l, uint32_t node);

/* Turns the links around, to the first callee and the sibling to the right; and back. */
void layout_turn(struct layout *l);

/* What a node counts with its callees; of the base. */
static inline long double layout_total(const struct layout *l, uint32_t node)
{
	return l->sums.now[l->sums.at[node]];
}
static inline long double layout_base(const struct layout *l, uint32_t node)
{
	return l->sums.base[l->sums.at[node]];
}

/* What a frame is called, with its colour; valid as long as the layout. 0 or PP_ENOMEM. */
int layout_label(struct layout *l, uint32_t node, struct label **label);

/* The digits of v end at `end`; where they begin. */
static inline char *put_digits(char *end, uint64_t v)
{
	do
		*--end = (char)('0' + v % 10);
	while (v /= 10);
	return end;
}

void layout_add(struct layout *l, const char *s);
__attribute__((format(printf, 2, 3))) void layout_addf(struct layout *l, const char *fmt, ...);
/* What a buffer has, which is released; or its error. */
void layout_add_buf(struct layout *l, struct buf *b);
/* Any bytes as text of XML or HTML. */
void layout_add_text(struct layout *l, const char *s);
/* 1,234,567 or 1,234.5; at most three decimals. */
void layout_add_percent(struct layout *l, long double v);
/* A count with the name of what is counted, if that is known. */
void layout_add_amount(struct layout *l, long double count);
/* What is in the picture, and what of the input is not. */
void layout_add_account(struct layout *l);
/* How many of the stacks are whole, if the text has a mark for each that is not: layout_judged. */
bool layout_judged(const struct layout *l);
void layout_add_ends(struct layout *l);
/* How the recorder got call chains, if that is known: layout_recorded. */
bool layout_recorded(const struct layout *l);
void layout_add_chains(struct layout *l);
const char *layout_title(const struct layout *l);

#endif
