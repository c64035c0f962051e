/*
 * What the files that read event streams share: from_stream.c reads records and samples,
 * from_stream_stacks.c makes frames and stacks.
 */
#ifndef PP_CONV_FROM_STREAM_H
#define PP_CONV_FROM_STREAM_H

#include "conv/parts.h"
#include "event/event_numbers.h"

#define RECENT	   1024
#define MARKS_KEPT 64

struct stream_event {
	struct prof_event as; /* name 0: not known */
	uint32_t event;	      /* of the profile; 0: had no sample yet */
	bool one;	      /* each sample weighs 1 */
};

struct known_thread {
	uint32_t pid, tid, comm; /* of the stream */
	uint32_t thread;	 /* 0: free */
};

struct known_symbol {
	uint32_t name, linkage; /* texts */
	bool known;
};

/* A part of a stack with everything below it. */
struct known_part {
	uint32_t stack, flags; /* flags: the mark that the stack begins with */
	bool known;
};

/* A mark by what it says. */
struct known_mark {
	uint32_t flags, dso; /* dso: of the stream */
	uint32_t frame;	     /* 0: not known */
};

struct stream_input {
	struct conv *c;
	struct sreader *in;
	struct stream_event *events;
	uint32_t *frames, *stacks; /* by number: number + 1 in the profile; 0: not yet known */
	uint32_t nevents, nframes, nstacks;
	struct known_symbol *symbols;
	struct known_part *parts;
	uint32_t *dsos, *files; /* by number: number + 1 in the profile */
	uint32_t nsymbols, nparts, ndsos, nfiles;
	struct map64 chains; /* the same */
	struct known_mark marks[MARKS_KEPT];
	struct event_numbers numbers; /* since the header */
	struct known_thread recent[RECENT];
	uint32_t used_frame, used_symbol, used_dso, used_string, used_chain; /* the greatest */
	uint32_t *path;
	uint32_t path_cap;
	struct buf text;
	bool undefined;
};

static inline void used(uint32_t id, uint32_t *most)
{
	if (id > *most)
		*most = id;
}

/* The stack of a sample that has one, or a chain of addresses. 0 or an error. */
int stream_stack(struct stream_input *s, const struct ps_sample *p, uint32_t *stack);
int stream_chain(struct stream_input *s, uint32_t id, uint32_t *stack);

#endif
