/*
 * Flame graphs: folded stacks become a tree of frames, and the tree one self-contained SVG.
 *
 *	struct flame *f;
 *	struct flame_opts o = FLAME_OPTS_INIT;
 *	rc = flame_new(&f, false);
 *	rc = flame_read(f, src, diag);		("main;parse;read_line 12", one per line)
 *	rc = flame_add(f, "main;emit", 9, 3);	(or stack by stack)
 *	rc = flame_svg(f, &o, &out);
 *	flame_free(f);
 *
 * Equal frames below the same caller are one frame, whatever the order of the stacks; siblings are
 * in byte order of their names, left to right, after what belongs to the caller itself. All stacks
 * begin in the root, which is called "all". The width of a frame is its count, that of its callees
 * included.
 *
 * The SVG is XML 1.0 for any bytes in the names: control characters, invalid UTF-8 and the two
 * noncharacters that XML forbids are written as \xHH. It is readable without a script; where
 * scripts run, share/psvg.js makes it zoom and search.
 */
#ifndef PP_DRAW_FLAME_H
#define PP_DRAW_FLAME_H

#include "base/buf.h"
#include "base/diag.h"
#include "base/out.h"
#include "base/src.h"
#include "fold/about.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define FLAME_DEPTH_MAX 4096	   /* frames of a stack below the root; deeper ones are cut */
#define FLAME_LINE_MAX	(1u << 20) /* bytes of a line of folded text */
#define FLAME_NODES_MAX (1u << 27) /* different frames of a tree */
#define FLAME_DRAWN_MAX 20000	   /* frames of an SVG, if no width is asked for */
#define FLAME_PAGE_MAX	1500000	   /* frames of a page, the same */
#define FLAME_COUNT_MAX 1e24L	   /* count of one stack */

struct flame;

/* What was read, for messages and for the text in the picture. */
struct flame_account {
	uint64_t lines;		 /* lines seen, empty ones left out */
	uint64_t stacks;	 /* stacks in the tree, equal ones each time */
	bool partial;		 /* pfold says that its input was damaged or cut off */
	uint64_t malformed;	 /* lines that are not "frames count", or too long */
	uint64_t deep;		 /* stacks of which frames beyond FLAME_DEPTH_MAX were cut */
	uint64_t frames;	 /* different frames, without the root */
	uint64_t drawn;		 /* of these in the SVG; set by flame_svg */
	long double total;	 /* sum of the counts */
	struct fold_about about; /* what is counted, as the text says */
	bool unsaid;		 /* there was text that does not say */
	long double pruned;	 /* counts in the frames that are too narrow; set by flame_svg */
};

/* With reverse set, stacks begin with their leaf: callers merge above callees. 0 or PP_ENOMEM. */
int flame_new(struct flame **f, bool reverse);
void flame_free(struct flame *f); /* NULL is fine */

/*
 * Adds a stack of len bytes, frames separated by semicolons, root first; nothing is kept of the
 * bytes. Counts must be finite, 0 or more, at most FLAME_COUNT_MAX (else PP_EUSAGE). A stack of no
XX */
int flame_add(struct flame *f, const char *frames, size_t len, long double count);

/*
 * From now on there are two profiles: a graph of the new one, coloured by the difference to the
 * base. 0 or PP_ENOMEM. Stacks are added with both counts, or read: from text with two counts a
 * line, or with one, which is of the side that was chosen last (the new one).
 */
int flame_compare(struct flame *f);
void flame_side(struct flame *f, bool base);
bool flame_is_both(const struct flame *f); /* text with two counts was read */
int flame_add_both(struct flame *f, const char *frames, size_t len, long double base,
		   long double count);

/*
 * Reads folded text to its end: on each line frames, a space, and a count after the last space (an
 * integer or a float). What is not such a line is reported to d, counted and left out; a line that
 * begins with "# partial: " says that what was folded was damaged, and one with "# event: " what is
 * counted; both go to the account. PP_EMISMATCH: it is not what was counted before. Other
 * kinds of input are known by their first bytes: PP_EUNSUPPORTED. Else 0, PP_EIO, PP_ENOMEM or
 * PP_ELIMIT; all of these are reported to d as well.
 */
int flame_read(struct flame *f, struct src *s, struct diag *d);

/*
 * Stacks come in time order: frames are merged only with the one before them. Before the
 * first stack; not with flame_compare.
 */
void flame_chart(struct flame *f);

/*
 * From now on, text is read for one event only, which it has to name: in its first line, or, if
 * that names several, as the root of each stack (pfold --by event), which is left out then.
 * FLAME_EVERY: all events, each as a root of its own. NULL: all of it, which has to be one event.
 * The name outlives the tree, or the next call.
 */
#define FLAME_EVERY "all"
void flame_choose(struct flame *f, const char *event);

/* "cycles, page-faults": the events that were left out; nothing if there are none. */
void flame_describe_others(const struct flame *f, struct buf *b);

/* Multiplies all counts that were added. */
void flame_scale(struct flame *f, double factor);

/* Belongs to f. */
const struct flame_account *flame_account(const struct flame *f);

/*
 * The account as one line of text; what was drawn is in it after flame_svg. The number of stacks
 * plus that of malformed lines is that of lines, if no stack was added by hand; the counts drawn
 * and those too narrow make the counts read.
 */
void flame_describe(const struct flame *f, struct buf *b);

struct flame_opts {
	const char *title;	/* NULL: "Flame Graph", "Icicle Graph", ... */
	const char *subtitle;	/* NULL: none */
	const char *notes;	/* NULL: none; go into the SVG's description */
	const char *count_name; /* what is counted; "": as the folded text says */
	const char *search;	/* regular expression that is searched at first; NULL: none */
	const char *font;	/* asked for first; NULL: none */
	const char *name_type;	/* comes before the name in the details; NULL: nothing */
	char back[8];		/* "#rrggbb" behind all, also in the dark; "": white or dark */
	long double total;	/* what the root stands for, if it is more than what was counted */
	double width;		/* pixels; without `fixed`, only until a script fits the window */
	double frame_height;	/* pixels */
	double font_size;	/* pixels */
	/*
	 * Narrower frames are left out; pixels, or see min_percent. Less than 0: 0.1 pixels, or
	 * more until no more than FLAME_DRAWN_MAX frames are left; of a page, which merges them,
	 * 0, or more until no more than FLAME_PAGE_MAX are left.
	 */
	double min_width;
	bool min_percent; /* min_width is in percent of the total */
	bool fixed;	  /* the script keeps the width */
	bool inverted;	  /* icicle: the root is at the top */
	bool reverse;	  /* a page begins with the stacks merged from the leaf */
	unsigned palette; /* from flame_palette */
	bool coloured;	  /* it was asked for; else the event may have its own */
	/* Of two profiles: */
	bool leaf;   /* colours by the difference of the frame alone, not with its callees */
	bool raw;    /* counts as they are, not scaled to the same total */
	bool gone;   /* only what the new one no longer has */
	bool negate; /* red is less */
};

#define FLAME_OPTS_INIT \
	{ \
		.count_name = "", .width = 1200, .frame_height = 16, .font_size = 12, \
		.min_width = -1 \
	}

/* The background of an option's argument: #rrggbb, or a name. 0, or PP_EUSAGE with why. */
int flame_back_option(const char *text, char back[8], struct buf *why);

/* The number of a palette of that name: 0 or PP_ENOENT. */
int flame_palette(const char *name, unsigned *palette);

/*
 * The number of a palette, from an option's argument: PP_EUSAGE, with the names that there are in
 * `why`.
 */
int flame_palette_option(const char *name, unsigned *palette, struct buf *why);

/* The names of the palettes, from 0 on; NULL after the last. Static storage. */
const char *flame_palette_name(unsigned palette);

/*
 * Writes the SVG. 0, PP_END (nothing was counted: nothing is written), PP_ENOMEM, or the error of
 * the output. The tree stays as it is.
 */
int flame_svg(struct flame *f, const struct flame_opts *o, struct out *out);

/*
 * Writes one HTML page with the whole tree in it, which its script draws from either side; the same
 * results. Frames that are too narrow are merged with their neighbours.
 */
int flame_page(struct flame *f, const struct flame_opts *o, struct out *out);

#endif
