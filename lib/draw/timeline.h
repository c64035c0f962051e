/*
 * Timelines: the lines of plat --timeline, perfpipe-timeline(5), become one HTML page with a
 * canvas, or a static SVG for documents.
 *
 *	struct timeline *t;
 *	rc = timeline_new(&t);
 *	rc = timeline_read(t, src, diag);
 *	rc = timeline_page(t, &opts, &out);
 *	timeline_free(t);
 *
 * What was read is kept as columns of small numbers, some 6 bytes an interval: an interval begins,
 * usually, where the last one of its thread ended. The page has the same columns, compressed.
 */
#ifndef PP_DRAW_TIMELINE_H
#define PP_DRAW_TIMELINE_H

#include "base/buf.h"
#include "base/diag.h"
#include "base/out.h"
#include "base/src.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define TIMELINE_MAGIC	     "#PPTIMELINE1"
#define TIMELINE_KINDS_MAX   32		/* kinds of intervals */
#define TIMELINE_THREADS_MAX (1u << 20) /* threads, texts */
#define TIMELINE_CPUS_MAX    65536
#define TIMELINE_STEPS_MAX   (1u << 21) /* of critical paths */
#define TIMELINE_SLICE	     8192	/* marks whose fields are packed together in the page */
#define TIMELINE_RECTS_MAX   20000	/* of the SVG */
#define TIMELINE_TASKS_MAX   40		/* lanes of the SVG; the page has all */

struct timeline;

struct timeline_opts {
	const char *title, *subtitle, *notes; /* NULL: none */
	double width;			      /* of the SVG, pixels */
};

/* From the argument of --timeline, NULL none: html or svg. 0, or PP_EUSAGE with `why`. */
int timeline_form(const char *arg, bool *svg, struct buf *why);

/* What was read, for messages. */
struct timeline_account {
	uint64_t intervals, open, losses, marks, malformed, steps;
	bool partial; /* plat says so, or the end is missing */
};

int timeline_new(struct timeline **t);
void timeline_free(struct timeline *t); /* NULL is fine */

/* Whether an input is such lines, by its first bytes. */
bool timeline_is(const char *magic, size_t n);

/*
 * Reads one input; a timeline has one. Damage is reported, and makes it partial. 0, or an
 * error that was reported: PP_EUNSUPPORTED, PP_EIO, PP_ENOMEM, PP_ELIMIT.
 */
int timeline_read(struct timeline *t, struct src *s, struct diag *d);

/*
 * Reads the critical paths of an event stream (plat --emit path) that are drawn into the timeline,
 * which has been read. Frees the source. The same errors, and PP_EMISMATCH: there are none, or they
 * are of another time.
 */
int timeline_read_path(struct timeline *t, struct src *s, struct diag *d);
const struct timeline_account *timeline_account(const struct timeline *t);

/* Write the page or the SVG. 0, PP_END (no interval: nothing is written), PP_ENOMEM, or the error
 * of the output. */
int timeline_page(struct timeline *t, const struct timeline_opts *o, struct out *out);
int timeline_svg(struct timeline *t, const struct timeline_opts *o, struct out *out);

#endif
