/*
 * What sample_tree.c (samples) and sample_frames.c (their stacks) share. Private to lib/report.
 */
#ifndef PP_REPORT_SAMPLE_TREE_PARTS_H
#define PP_REPORT_SAMPLE_TREE_PARTS_H

#include "event/event_numbers.h"
#include "report/parts.h"

#define RECENT 64

/* What a descriptor is, decided when its first sample counts. */
struct input_event {
	uint8_t choice;
	uint32_t event; /* of report.events */
};

struct known_stack {
	uint32_t group, node; /* the last group that it was seen with; 0: none */
	uint8_t end;	      /* as input_stack has it */
};

/* A frame: its call, and whether no mapping holds its address. */
struct known_frame {
	uint32_t call : 31, lost : 1; /* call 0: not known */
};

struct recent_group {
	uint64_t key; /* event and comm */
	uint32_t group;
};

/* The texts of names, by their numbers in the stream; 0: not known. */
struct known_texts {
	uint32_t *v, n;
};

struct input {
	struct report *r;
	struct sreader *in;
	struct input_event *events;
	uint32_t nevents;
	struct event_numbers numbers;
	struct known_frame *frames;
	uint32_t nframes;
	struct known_texts symbols, dsos;
	struct known_stack *stacks;
	uint32_t nstacks;
	struct map64 chains; /* node by group and chain */
	struct recent_group recent[RECENT];
	uint32_t *path; /* calls, leaf first */
	size_t path_cap;
	uint32_t used_frame, used_symbol, used_dso, used_string, used_chain; /* the greatest */
	bool comm_only; /* of the sample there is at most the key comm */
	bool by_line, undefined;
	struct buf text;
};

static inline void used(uint32_t id, uint32_t *most)
{
	if (id > *most)
		*most = id;
}

/* ---- sample_frames.c ---- */

/* Makes room in the path for more than n calls. 0 or PP_ENOMEM. */
int input_room(struct input *s, size_t n);

/*
 * Fills the path with the calls of a stack, or with the addresses of a chain without symbols.
 * *end: how a stack that is not whole ended (enum ps_end_how), which has a mark; else PS_END_NONE.
 * 0, PP_ENOMEM or PP_ELIMIT.
 */
int input_stack(struct input *s, const struct ps_stack *st, size_t *n, uint32_t *end);
int input_chain(struct input *s, const struct ps_chain *c, size_t *n);

/* Symbols or DSOs are defined again. */
void input_forget_texts(struct known_texts *t);

#endif
