/*
 * What the files that read perf script text share. Private to lib/fold: perf.c and perf_header.c.
 */
#ifndef PP_FOLD_PERF_PARTS_H
#define PP_FOLD_PERF_PARTS_H

#include "fold/by.h"
#include "fold/cache.h"
#include "fold/frame.h"
#include "fold/sample_header.h"
#include "fold/lack.h"
#include "fold/text_lines.h"

struct reader {
	struct fold *fold;
	const struct fold_opts *opts;
	struct fold_account *account;
	struct fold_lines *lines;
	struct fold_frames frames; /* of the sample, leaf first */
	uint32_t comm;		   /* of the sample; 0: there is none, or it is filtered out */
	uint32_t by[FOLD_BY_MAX];  /* frames above the command, leaf first */
	bool filtered;		   /* the last header was of another event, or of no sample */
	bool chained;		   /* its frames have lines of their own */
	bool ended, blank;	   /* by an empty line: the sample; the last one was */
	bool any;		   /* the first header is known, and what is: */
	unsigned without;	   /* FOLD_NO_* */
	bool java;
	uint64_t weight;		   /* of the sample */
	uint64_t period;		   /* what it stands for; 0: this is not known */
	bool told;			   /* by its header */
	uint32_t lane;			   /* of the sample */
	bool periods[FOLD_EVENTS_MAX + 1]; /* by lane: headers have periods */
	/* The event that was noted last, and its lane. */
	char event[64];
	size_t event_len;
	uint32_t event_lane;
	struct fold_lack lack;
	uint64_t lost; /* events, by the text */
	/* One for the names as they are, one for those in Java processes. */
	struct fold_cache caches[2];
	uint32_t last;	       /* entry of the line before in its cache; 0: none */
	struct buf line, name; /* scratch */
	struct buf leaf;       /* the end of the header, where the sample's function may be */
	struct buf held;       /* a line that may be a command, or its beginning, at: */
	uint64_t held_at;
	struct fold_frames parts; /* names of one line */
};

/*
 * Begins the sample of a header, after the one before was ended: r->comm is 0 if it is not folded.
 * 0, PP_ENOMEM or PP_ELIMIT.
 */
int fold_perf_header(struct reader *r, const struct fold_header *h);

#endif
