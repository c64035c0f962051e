/*
 * What folded text is about: its first line says what is counted, and of how much.
 *
 *	# event: cpu-clock, unit: ns, samples: 12345, stacks: marked, from: perf.data
 *
 *	struct fold_about a = {0};
 *	fold_about_event(&a, "cpu-clock", 9, "ns", 2);
 *	fold_about_from(&a, "perf.data", 9);
 *	a.samples = 12345;
 *	fold_about_write(&a, &buf);
 *
 * The line has no count at its end, so that programs that do not know it skip it. What is not
 * known is left out of it; the name after "from:" always is there, "-" if it is not known, and has
 * no blanks. "stacks: marked" is there if each stack that is not whole has a mark (stream/ends.h).
 * Keys that a reader does not know are skipped.
 */
#ifndef PP_FOLD_ABOUT_H
#define PP_FOLD_ABOUT_H

#include "base/buf.h"
#include "event/core_pmu.h"

#include <stdbool.h>
#include <stdint.h>

#define FOLD_ABOUT "# event: " /* begins the line */

struct fold_about {
	char event[200];  /* several are joined by "+"; "": not known */
	char unit[200];	  /* what the weights count: ns, samples, the name of a PMU's event;
			     "": not known, or several */
	char from[200];	  /* recordings, joined by ","; "": not known */
	char pmus[100];	  /* of kinds of CPU core that counted it, joined by "+"; "": no matter */
	char chains[200]; /* how the recorder got call chains, in its words; "": not known */
	uint64_t samples; /* 0: not known */
	bool units;	  /* there are several */
	bool uncounted;	  /* samples are missing from the sum */
	/* There are stacks that have a mark unless they are whole; others may have none. */
	bool marked, unmarked;
	int err; /* a code of pp_errno when memory ran out; fold_about_write passes it on */
};

/* Whether a line is such a line, and what it says. */
bool fold_about_parse(const char *line, size_t n, struct fold_about *a);

/*
 * Whether a line is a comment, of any program: "# interval: 100", "# made by x". A line that is
 * not a comment is a stack: names of threads can begin with '#'.
 */
bool fold_is_note(const char *line, size_t n);

/* An event is counted, in that unit; the same event again changes nothing. */
void fold_about_event(struct fold_about *a, const char *event, size_t event_len, const char *unit,
		      size_t unit_len);

/* It was counted by that PMU, one of several of its kind (core_pmu.h). */
void fold_about_pmu(struct fold_about *a, const char *pmu, size_t n);

/*
 * What a recorder says about its version: "perfpipe 0.9 (call chains: frame pointers: ...)". Of
 * several recordings the differing ways are kept.
 */
void fold_about_recorder(struct fold_about *a, const char *version, size_t n);

/* A recording, or another file, was read; the same again changes nothing. */
void fold_about_from(struct fold_about *a, const char *name, size_t n);

/*
 * What a text has of an event. Of several events each is the root of its stacks; of a list that had
 * no room for all, any may be among them.
 */
enum fold_has {
	FOLD_HAS_NONE,
	FOLD_HAS_ALL, /* there is no other */
	FOLD_HAS_ROOT,
};

/*
 * That, of a text about a. If there are others, *a becomes what is known of this one alone. The
 * event may have terms that say how it was recorded (core_pmu.h) where the text's has none, and the
 * other way round; it may be a shell pattern, and then be several.
 */
enum fold_has fold_about_choose(struct fold_about *a, const char *event);
/* Whether a root of n bytes is that of an event that was chosen so. */
bool fold_about_wants(const struct fold_about *a, const char *event, const char *root, size_t n);

/*
 * Takes terms off the names of events, except where two of them, or one of these and one of the
 * others, would be the same then.
 */
void fold_about_shorten(struct fold_about *a, const struct event_names *others);

/* Whether both know what they count, and it is not the same: their sum would be meaningless. */
bool fold_about_clashes(const struct fold_about *a, const struct fold_about *b);

/* Adds what b says, which does not clash, to a. */
void fold_about_merge(struct fold_about *a, const struct fold_about *b);

/* "cpu-clock in ns", for messages. */
void fold_about_describe(const struct fold_about *a, struct buf *b);

/* The line with its newline; nothing if neither event nor unit are known. */
void fold_about_write(const struct fold_about *a, struct buf *b);

/* The unit of an event that is known by its name only. Static storage. */
const char *fold_about_unit(const char *event, size_t n);

#endif
