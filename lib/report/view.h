/*
 * What `preport --view` shows: lines that open and close. Private to lib/report; the screen is
 * view_screen.c's.
 *
 *	struct view v;
 *
 *	rc = view_make(&v, &result, false);
 *	rc = view_open(&v, 3);			(lines after it are further down now)
 *	view_line(&v, 3, &text);
 *	view_release(&v);
 *
 * There is a line for each event and each row of its table; below a row those of the tree of what
 * called it. Or the trees of what was called, from the root on. Trees are made when they are first
 * needed.
 */
#ifndef PP_REPORT_VIEW_H
#define PP_REPORT_VIEW_H

#include "report/parts.h"

#define VIEW_LINES_MAX (1u << 20)

struct view_line {
	uint32_t event;
	uint32_t row;	/* REPORT_NONE: a line of an event, or of its tree from the root on */
	uint32_t tree;	/* number of view.trees, from 1 on; 0: it has none yet */
	uint32_t node;	/* of the tree; 0: the line of a row or event */
	uint32_t depth; /* 0 events, 1 rows or the root's branches */
	uint32_t indent;
	bool open;
};

struct view {
	const struct result *s;
	bool roots; /* trees from the root on, not tables */
	struct view_line *v;
	uint32_t n, cap;
	struct branches *trees;
	uint32_t ntrees, cap_trees;
	uint32_t *tree_of;	       /* by row: its tree; 0: not made yet */
	uint32_t *root_of;	       /* the same by event */
	uint32_t key[REPORT_KEYS_MAX]; /* widths of columns */
};

/* All events opened. 0 or PP_ENOMEM. */
int view_make(struct view *v, const struct result *s, bool roots);
void view_release(struct view *v);

/*
 * Opens a line, with `all` everything below it too. 0, PP_ENOMEM, or PP_ELIMIT: too many lines;
 * what is open stays so.
 */
int view_open(struct view *v, uint32_t line, bool all);
void view_close(struct view *v, uint32_t line);

/* The line that one is below; itself: none. */
uint32_t view_parent(const struct view *v, uint32_t line);

/* Appends a line's text, safe for terminals. `share` is its percentage, for its colour. */
int view_text(struct view *v, uint32_t line, struct buf *b, double *share);

/* The names of its columns. */
void view_title(const struct view *v, struct buf *b);

/* The call of a line; NULL: it is of no function. */
const struct report_call *view_call(const struct view *v, uint32_t line);

/*
 * Opens what is open in another view, which is of another result of the same report, and moves *at
 * to the line that has what the cursor was on there. 0 or PP_ENOMEM.
 */
int view_follow(struct view *v, const struct view *from, uint32_t *at);

/* The texts of a line's thread, and of the file of its function; 0: it has none. */
uint32_t view_comm(const struct view *v, uint32_t line);
uint32_t view_dso(const struct view *v, uint32_t line);

/* ---- view_screen.c ---- */

struct report_screen;

/* Takes the terminal. 0 or an error, which was reported (PP_EUNSUPPORTED: there is none). */
int report_screen_open(struct report_screen **s, struct report *r);
void report_screen_close(struct report_screen *s); /* NULL is fine */

/*
 * Shows what came since a moment, or everything (NULL). 0, PP_ENOMEM, or PP_ENOENT: there is no
 * such column to sort by.
 */
int report_screen_show(struct report_screen *s, const struct report_since *since);

/* The moment that is to be used when the user asks for something else of what is shown. */
void report_screen_since(struct report_screen *s, const struct report_since *since);

/*
 * Does what keys ask for: those that were pressed (ms 0), or waits for one (ms -1). 0; PP_END: the
 * user has seen enough; PP_ENOMEM.
 */
int report_screen_keys(struct report_screen *s, int ms);

/* Shows everything until the user ends it. Returns the exit status. */
int report_view(struct report *r);

#endif
