/*
 * What the files that write Chrome's trace events share: chrome.c has what all events have,
 * to_chrome.c profiles of samples, chrome_events.c lanes of CPUs, intervals and single events.
 */
#ifndef PP_CONV_CHROME_H
#define PP_CONV_CHROME_H

#include "conv/locals.h"
#include "conv/parts.h"
#include "conv/tpoints.h"
#include "conv/tracks.h"

#define CHROME_CPUS 99999999u /* the process whose threads are the CPUs */

/* What runs on a CPU. Times of 0: nothing. */
struct chrome_cpu {
	bool named;
	uint64_t run, irq, softirq; /* since when */
	uint32_t tid, comm;	    /* which thread; text */
	uint32_t irq_name, vec;
};

/* A sample: its node, us since the one before. */
struct chrome_sample {
	uint64_t delta, weight;
	uint32_t node;
};

/* The samples of a thread and event that were not written yet. */
struct chrome_profile {
	uint32_t thread, event;
	bool begun, any, idle; /* any: it has a sample; idle: that node was defined */
	struct locals written; /* stacks that have a node */
	struct buf nodes;
	struct chrome_sample *samples;
	uint32_t n, cap;
	uint64_t start, end; /* ns: of the first sample, of all so far */
	uint64_t last;	     /* us: where the deltas are */
};

struct chrome {
	struct conv *c;
	struct tpoints points;
	struct buf b, text, call;
	struct lanes lanes;
	struct chrome_profile *profiles; /* by lane */
	uint32_t nprofiles, profiles_cap;
	struct arena calls;
	struct ps_str *frames; /* by number: its callFrame, which is in the arena */
	uint32_t nframes;
	struct chrome_cpu *cpus;
	uint32_t ncpus;
	uint32_t *path, path_cap;
	struct map64 named; /* pid and tid: the text that is its name */
	uint64_t events, async;
	size_t kept; /* bytes of nodes and samples since all were written */
	uint64_t now;
};

/* Begins an event of a kind ('X', 'i', ...); its further members follow, then chrome_end. */
void chrome_event(struct chrome *w, char ph, const char *cat, uint32_t pid, uint32_t tid,
		  uint64_t ns);
int chrome_end(struct chrome *w);
void chrome_us(struct buf *b, uint64_t ns);

/* Those without numbers get that of the profile. */
static inline uint32_t chrome_tid(const struct prof_thread *t, uint32_t thread)
{
	return t->tid == PS_NONE ? thread : t->tid;
}

/* Metadata: the name of what. */
int chrome_name(struct chrome *w, const char *what, uint32_t pid, uint32_t tid, struct ps_str name);

/* A thread's name, and that of its process. */
int chrome_thread(struct chrome *w, uint32_t thread);

/* What conv_writer.record takes. */
int chrome_record(struct chrome *w, const struct sreader *r, const struct ps_record *rec,
		  bool *taken);

#endif
