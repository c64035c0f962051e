/*
 * What sample_stacks.c (samples) and frame_names.c (names of their frames) share. Private to
 * lib/fold.
 */
#ifndef PP_FOLD_SAMPLE_STACKS_PARTS_H
#define PP_FOLD_SAMPLE_STACKS_PARTS_H

#include "base/buf.h"
#include "base/intern.h"
#include "fold/by.h"
#include "fold/fold.h"
#include "fold/function_graph.h"
#include "fold/recent_stacks.h"
#include "stream/stream.h"

/* What is known of an event descriptor. */
enum choice { CHOICE_NEW, CHOICE_FOLD, CHOICE_FOLD_ONE, CHOICE_LEAVE };

struct fold_event {
	uint8_t choice; /* enum choice */
	uint8_t lane;
};

/* The node of a stack below the command that it was last seen with. */
struct stack_node {
	uint32_t comm; /* name id; 0: none */
	uint32_t node;
};

/* The same for the nodes of a part of a stack. */
struct part_node {
	uint32_t comm;
	uint32_t node;	  /* of samples whose stack ends here */
	uint32_t through; /* what the next part is based on */
	uint32_t flags;	  /* PART_* */
};
#define PART_BROKEN 1u /* its last frame is an address in no mapping */
#define PART_FULL   2u /* the tree has no room for its frames */
#define PART_ENDS   4u /* `through` is not known */

/* The name of a symbol's frames in a DSO. */
struct symbol_name {
	uint32_t dso;
	uint32_t name; /* name id; 0: none */
};

/*
 * The names of the threads that were seen last, by tid: most samples are of one of a few threads.
 */
#define RECENT_COMMS 256

struct comm_name {
	uint32_t comm, tid; /* of the sample */
	uint32_t value;	    /* as in comms; 0: none */
};

struct fstream {
	struct comm_name recent[RECENT_COMMS];
	struct fold *fold;
	const struct fold_opts *opts;
	struct fold_account *account;
	struct fold_about about; /* of this stream: where it is from */
	struct sreader *in;
	struct fold_by by;
	struct fold_graph graph;
	struct map64 comms;	 /* thread and string id: name id * 2 + is Java */
	struct map64 sliced;	 /* comm's name id, and slice: name id of both */
	struct map64 nodes;	 /* comm's name id, and chain id: node + 1 */
	struct map64 ips;	 /* address of a chain without symbols: name id */
	struct fold_table paths; /* a node, and names on top of it: the node of both */
	/* By id, each with room for as many as its `cap` below. */
	struct stack_node *stacks;
	struct part_node *parts;     /* parts of stacks */
	struct symbol_name *symbols; /* but for frames that are inlined, or of Java */
	uint32_t *names[2];	     /* of frames, for others and Java: name id; 0: not yet */
	struct fold_event *events;
	/* The same for what is being made. */
	uint32_t *ids;	/* parts of a stack, from its top */
	uint32_t *path; /* names of the stack */
	size_t path_cap;
	uint32_t stacks_cap, parts_cap, symbols_cap, frames_cap, events_cap, ids_cap;
	/* The greatest ids that were looked up since the tables above were emptied. */
	uint32_t used_string, used_stack, used_chain, used_frame, used_symbol, used_dso;
	bool judged;		  /* psym has told how stacks ended */
	uint32_t unknown, broken; /* names of [unknown] and [broken stack]; 0: not yet made */
	struct buf name;
	uint64_t raw;		 /* samples that were folded without symbols */
	struct fold_event calls; /* of the function_graph tracer */
	bool undefined;		 /* something was referred to that the stream does not define */
};

static inline void used(uint32_t id, uint32_t *most)
{
	if (id > *most)
		*most = id;
}

/* The place of a frame's name. NULL: out of memory. */
uint32_t *fstream_name(struct fstream *s, uint32_t frame, bool java);

/* Room in the path for n names and the command's. */
int fstream_room(struct fstream *s, size_t n);

/* ---- stream_tree.c ---- */

/* Adds the names of a sample's stack to the path, leaf first, and its command. */
int fstream_path(struct fstream *s, const struct ps_sample *p, uint32_t comm, bool java, size_t *n);

/* The node of that. */
int fstream_node(struct fstream *s, const struct ps_sample *p, uint32_t comm, bool java,
		 uint32_t *node);

/*
 * Counts a sample whose stack came in parts: a part that is new becomes nodes on top of those of
 * the one below it. False: it did not come so, or cannot be counted so.
 */
bool fstream_count_parts(struct fstream *s, const struct ps_sample *p, uint32_t comm, bool java,
			 uint64_t weight, int *rc);

/* ---- stream_marks.c ---- */

/* The names that broken stacks have. 0, PP_ENOMEM or PP_ELIMIT. */
int fstream_mark_names(struct fstream *s);

/* Whether a frame is an address in no mapping of its process. */
bool fstream_nowhere(const struct fstream *s, uint32_t frame);

/* Whether the flags of a stack call for a mark below its root. */
bool fstream_has_mark(uint32_t flags);

/*
 * The marks of a stack whose names are in the path from `from` on, leaf first: each run of
 * addresses in no mapping becomes one frame, and one below the root says how the walk up a copied
 * stack ended, if that was not at the outermost function.
 */
int fstream_marks(struct fstream *s, const struct ps_stack *st, size_t from, size_t *n);

/* The mark of the stacks that are based on a part, in path[0], if it has one; *n: 1 then. */
int fstream_part_mark(struct fstream *s, const struct ps_part *root, uint32_t *path, size_t *n);

/* ---- frame_names.c ---- */

/* The name of a frame, without its address. 0, PP_ENOMEM or PP_ELIMIT. */
int fstream_frame(struct fstream *s, uint32_t frame, bool java, uint32_t *name);

/*
 * Adds to the path, leaf first, the names of a stack, whose frames have their addresses in the call
 * chain, or the addresses of a chain that nobody symbolized. *n: names in the path.
 */
int fstream_stack(struct fstream *s, const struct ps_sample *p, const struct ps_stack *st,
		  const struct ps_chain *c, bool java, size_t *n);
int fstream_chain(struct fstream *s, const struct ps_chain *c, size_t *n);

#endif
