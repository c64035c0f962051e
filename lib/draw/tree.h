/*
 * Private to lib/draw: the tree of struct flame, and the pieces of text and colour of the SVG.
 *
 *	struct label l = {0};
 *	rc = label_make(&l, name, len, palette, &arena);
 *	size_t n = label_fit(&l, 80, 12);	(bytes of l.text that fit into 80 pixels)
 */
#ifndef PP_DRAW_TREE_H
#define PP_DRAW_TREE_H

#include "base/arena.h"
#include "base/buf.h"
#include "base/intern.h"
#include "draw/flame.h"

#define FLAME_ROOT 0u /* index of the root in nodes; no frame is its own callee: also "none" */

struct flame_node {
	long double self; /* counts of the stacks that end here */
	uint32_t parent;  /* always less than the node's own index */
	uint32_t name;	  /* in names; 0 for the root */
	uint32_t depth;	  /* 0 for the root */
};

struct flame {
	bool reverse;
	struct flame_node *nodes;
	uint32_t n, cap;
	struct intern names;
	struct map64 children; /* parent << 32 | name: index of the node */
	/* The last stack: the next one often begins like it, and need not look up those frames. */
	struct buf last;
	uint32_t depth;
	uint32_t *path; /* FLAME_DEPTH_MAX nodes */
	size_t *ends;	/* where each frame ends in `last` */
	struct flame_account account;
};

/* A frame's name as it is shown. Everything lives in the arena that label_make was given. */
struct label {
	const char *full; /* valid UTF-8 that XML allows, not yet escaped; NULL: not made yet */
	size_t full_len;
	size_t text_len; /* without the annotation _[k], _[i], _[j] or _[w] */
	float em;	 /* estimated width of the text in units of the font size */
	char fill[4];	 /* three hexadecimal digits and a NUL */
	bool plain;	 /* nothing in it needs escaping */
};

int label_make(struct label *l, const char *name, size_t len, unsigned palette, struct arena *a);

/* Bytes of the text that fit into `width` pixels, with ".." after them if not all; 0: none. */
size_t label_fit(const struct label *l, double width, double font_size);

/* Makes any bytes text that XML 1.0 may contain, not yet escaped. */
void xml_clean(struct buf *b, const char *s, size_t n);

/* Escapes cleaned text for use as content and as attribute. 0 or the output's error. */
int xml_escape(struct out *o, const char *s, size_t n);

/* The colour of a function, the same in every graph. */
void palette_fill(unsigned palette, const char *name, size_t len, char fill[4]);

/* share/psvg.js, psvg-chart.js and psvg.css, made into C by the build. */
extern const char draw_script[], draw_chart_script[], draw_style[];

#endif
