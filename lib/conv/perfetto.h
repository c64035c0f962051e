/*
 * What the files that write Perfetto's traces share: to_perfetto.c has packets, names and samples,
 * perfetto_ftrace.c the events of each CPU, perfetto_tracks.c slices and counters. The numbers of
 * fields are those of perfetto's protos/perfetto/trace.
 */
#ifndef PP_CONV_PERFETTO_H
#define PP_CONV_PERFETTO_H

#include "conv/parts.h"
#include "conv/pb.h"
#include "conv/tpoints.h"

/* Fields of TracePacket. */
enum {
	PACKET_FTRACE = 1,
	PACKET_PROCESS_TREE = 2,
	PACKET_CLOCKS = 6,
	PACKET_TIME = 8,
	PACKET_SEQUENCE = 10,
	PACKET_TRACK_EVENT = 11,
	PACKET_INTERNED = 12,
	PACKET_SEQUENCE_FLAGS = 13,
	PACKET_SYSTEM = 45,
	PACKET_DEFAULTS = 59,
	PACKET_TRACK = 60,
	PACKET_SAMPLE = 66
};
#define SEQUENCE_BEGINS	 1
#define SEQUENCE_GOES_ON 2
#define TRACKS		 1 /* the sequence of slices and counters; those of samples follow */
#define BOOTTIME	 6
#define REALTIME	 1

/* The events of a CPU that were not written yet. */
struct perfetto_cpu {
	uint32_t cpu;
	struct buf events;
	bool lost; /* some before these */
};

/* The samples of an event: what its sequence has interned. */
struct perfetto_sequence {
	bool begun;
	uint8_t *stacks, *frames; /* by number: what is known to be there; of stacks STACK_* */
	uint8_t *names, *files, *dsos;
	uint32_t nstacks, nframes, nnames, nfiles, ndsos;
	uint64_t *counts; /* by slot of the CPU: the sum of all weights */
	uint32_t ncounts;
};

/* How the counts of an event are shown; a factor of 0: as they are. */
struct perfetto_scale {
	double factor;
	uint32_t unit; /* text */
};

struct perfetto {
	struct conv *c;
	struct tpoints points;
	struct buf out, packet, message, inner; /* empty except for what is being made */
	struct buf path, text;			/* to be reset before use */
	struct perfetto_sequence *sequences;	/* by event */
	uint32_t nsequences;
	struct map64 slots; /* CPU: its slot + 1 */
	struct perfetto_cpu *cpus;
	uint32_t ncpus, cpus_cap;
	struct intern tracks; /* what each is of; its number is its uuid */
	uint64_t *ends;	      /* by uuid: when its last slice ended */
	uint32_t nends;
	bool tracks_begun;
	struct perfetto_scale *scales; /* by event of the stream */
	uint32_t nscales;
	struct ps_count *counts; /* since the last ROUND */
	uint32_t ncounts, counts_cap;
	struct map64 named; /* pid: text, of processes */
	uint32_t nthreads;  /* that were written */
	struct buf release, machine;
	uint64_t now;	  /* the latest time */
	uint64_t untimed; /* samples */
	bool begun, machine_told;
};

/* Writes the packet that was made. */
static inline int perfetto_packet(struct perfetto *w)
{
	pb_take(&w->out, 1, &w->packet);
	return conv_flush(w->c, &w->out, CONV_BLOCK);
}

/* The slot of a CPU. 0, PP_ENOMEM, PP_ELIMIT. */
int perfetto_slot(struct perfetto *w, uint32_t cpu, uint32_t *slot);

/* A sample of a tracepoint joins the events of its CPU; events were lost there. */
int perfetto_event(struct perfetto *w, const struct tpoint *p, const struct sreader *r,
		   const struct ps_record *rec);
int perfetto_events_lost(struct perfetto *w, uint32_t cpu);
int perfetto_events_flush(struct perfetto *w);

/* A sample of plat --emit; COUNTER, COUNT and ROUND records; a mark at a place in time. */
int perfetto_slice(struct perfetto *w, const struct sreader *r, const struct ps_record *rec);
int perfetto_counter(struct perfetto *w, const struct ps_counter *c);
int perfetto_count(struct perfetto *w, const struct ps_count *c);
int perfetto_round(struct perfetto *w, const struct sreader *r, uint64_t elapsed);
int perfetto_instant(struct perfetto *w, uint64_t time, const char *text);

#endif
