/*
 * What every format of profiles has in common: texts, frames, stacks, threads and events, each kept
 * once and known by a small number. A reader fills it and gives out samples that refer to it; a
 * writer looks up what it has not written yet.
 *
 *	rc = prof_new(&p, PROF_ADDRS, diag);
 *	rc = prof_text(p, "main", 4, &frame.name);
 *	rc = prof_frame(p, &frame, &id);
 *	rc = prof_stack(p, &id, 1, &sample.stack);	(leaf first)
 *	...
 *	while (node) {					(leaf first again)
 *		node = prof_up(p, node, &id);
 *		f = prof_frame_of(p, id);
 *	}
 *	prof_free(p);
 *
 * All numbers count from 1 and are dense; 0 means none: the empty text, no DSO, the empty stack.
 */
#ifndef PP_CONV_PROF_H
#define PP_CONV_PROF_H

#include "base/diag.h"
#include "base/intern.h"
#include "stream/stream.h"

#include <stdbool.h>
#include <stdint.h>

/* The structs are kept by their bytes: none has padding. */
struct prof_frame {
	uint64_t addr;	  /* in its DSO, of the kernel absolute; 0: not known, or not kept */
	uint32_t name;	  /* text; 0: no symbol */
	uint32_t linkage; /* text, if the symbol table has another */
	uint32_t dso;	  /* 0: none */
	uint32_t file;	  /* text: the source file; 0: not known */
	uint32_t line;	  /* 0: not known */
	uint32_t flags;	  /* PROF_FRAME_* */
};
#define PROF_FRAME_KERNEL  1u
#define PROF_FRAME_INLINED 2u /* into the next one towards the root */
#define PROF_FRAME_MARK	   4u /* no function: says how the stack ended (stream/ends.h) */

struct prof_dso {
	uint32_t path;	   /* text */
	uint32_t build_id; /* text: in hexadecimal */
	uint32_t flags;	   /* PS_DSO_* */
};

struct prof_thread {
	uint32_t pid, tid; /* PS_NONE: not known */
	uint32_t comm;	   /* text */
};

struct prof_event {
	uint32_t name, unit; /* texts */
};

/* Samples that are alike, usually one. */
struct prof_sample {
	uint32_t event, thread, stack;
	uint32_t cpu;	 /* PS_NONE: not known */
	uint64_t time;	 /* ns; meaningless unless timed */
	uint64_t weight; /* of all, in the unit of the event */
	uint64_t count;	 /* how many they are; 0: not known */
	bool timed;
};

#define PROF_ADDRS 1u /* frames of one function and line differ by their address */

struct prof {
	unsigned flags;
	struct intern texts, frames, dsos, threads, events;
	struct fold *tree; /* stacks: paths of frames */
	struct diag *d;
	struct map64 processes; /* pid: text */
	uint64_t left_out;	/* frames that stacks had no room for */
	struct buf text;
};

int prof_new(struct prof **p, unsigned flags, struct diag *d);
void prof_free(struct prof *p); /* NULL is fine */

/* Each gives the number of an equal one. 0, PP_ENOMEM or PP_ELIMIT. */
int prof_text(struct prof *p, const char *s, size_t n, uint32_t *id);	 /* not UTF-8: '?' */
int prof_hex(struct prof *p, const void *bytes, size_t n, uint32_t *id); /* as text */
int prof_frame(struct prof *p, const struct prof_frame *f, uint32_t *id);
int prof_dso(struct prof *p, const struct prof_dso *dso, uint32_t *id);
int prof_thread(struct prof *p, const struct prof_thread *t, uint32_t *id);
int prof_event(struct prof *p, const struct prof_event *e, uint32_t *id);

/*
 * The stack of n frames, leaf first; of n more on top of another, outermost first, of which
 * *left_out at the leaf have no room (FOLD_DEPTH_MAX); of one more. What is left out is counted.
 */
int prof_stack(struct prof *p, const uint32_t *frames, size_t n, uint32_t *stack);
int prof_path(struct prof *p, uint32_t stack, const uint32_t *frames, size_t n, uint32_t *end,
	      size_t *left_out);
int prof_push(struct prof *p, uint32_t stack, uint32_t frame, uint32_t *pushed);

/* The stack without its leaf, which is *frame. The number of stacks and their parts, 0 included. */
uint32_t prof_up(const struct prof *p, uint32_t stack, uint32_t *frame);
uint32_t prof_stacks(const struct prof *p);

/* What a number stands for; for 0 an empty one. */
struct ps_str prof_str(const struct prof *p, uint32_t text);
const struct prof_frame *prof_frame_of(const struct prof *p, uint32_t frame);
const struct prof_dso *prof_dso_of(const struct prof *p, uint32_t dso);
const struct prof_thread *prof_thread_of(const struct prof *p, uint32_t thread);
const struct prof_event *prof_event_of(const struct prof *p, uint32_t event);

/* The name of a process, by which the threads that have another are shown. */
int prof_name_process(struct prof *p, uint32_t pid, uint32_t name);
struct ps_str prof_process(const struct prof *p, const struct prof_thread *t);

/*
 * Appends the name that a frame is shown by where the format has no field for what is missing:
 * "[libc.so.6]" without a symbol, "[unknown]" without a DSO, and "_[i]" after what was inlined.
 */
void prof_show(const struct prof *p, const struct prof_frame *f, struct buf *b);

/*
 * The reverse: the frame of a shown name with what else is known of it (NULL or empty: nothing).
 * Its source file if the line is known, else its DSO.
 */
int prof_shown(struct prof *p, struct ps_str name, struct ps_str file, uint64_t line, uint32_t *id);

/* PS_DSO_* of a DSO by its name; the name of a path's file; whether a name is a mark. */
uint32_t prof_dso_flags(struct ps_str path);
struct ps_str prof_file_name(struct ps_str path);
bool prof_is_mark(struct ps_str name);

/* Appends the bytes of a text in hexadecimal. */
void prof_add_bytes(const struct prof *p, uint32_t text, struct buf *b);

/* Appends "comm (pid/tid)", as much of it as is known. */
void prof_show_thread(const struct prof *p, const struct prof_thread *t, struct buf *b);

/* The reverse: the thread of such a text. */
int prof_shown_thread(struct prof *p, struct ps_str shown, uint32_t *id);

/* The event of a name and a unit; both may be empty. */
int prof_named_event(struct prof *p, struct ps_str name, struct ps_str unit, uint32_t *id);

/* The nanoseconds of one of a unit, such as us; 0: it is not a time. */
uint64_t prof_unit_ns(struct ps_str unit);

#endif
