/*
 * The parts of recording; private to lib/record.
 *
 * tracing: the formats of tracepoints.  sink: output that does
 * not wait.  ring: the kernel's buffers.  synth: records for what exists already.  buildid: notes.
 * open: the matrix of event descriptors.  header: the records that describe the recording.
 */
#ifndef PP_RECORD_PARTS_H
#define PP_RECORD_PARTS_H

#include "base/intern.h"
#include "perfdata/known_stacks.h"
#include "pevent/online.h"
#include "record/alike.h"
#include "record/command.h"
#include "record/holes.h"
#include "record/looks.h"
#include "record/keep.h"
#include "record/record.h"
#include "symbol/mapping.h"

#include <linux/perf_event.h>
#include <signal.h>
#include <stdio.h>
#include <sys/types.h>
#include <sys/uio.h>

/* tracing_formats.c */

/*
 * Adds what a reader needs to decode the tracepoints of e: the "tracing data" of perf.data and
 * trace.dat version 0.6 (see trace-event-info.c of perf).
 */
int tracefs_data(const char *dir, const struct pevents *e, struct buf *b);

/* sink.c */

#define SESSION_OTHER_FDS 64 /* beside those of events */

#define SINK_MAX (64u << 20) /* bytes that may wait for a slow reader */

/* Output that keeps what a pipe does not take at once, so that the rings are drained meanwhile. */
struct sink {
	int fd;		 /* given by the caller */
	int own;	 /* our own, non-blocking description of the same pipe, or -1 */
	struct buf wait; /* bytes from `head` on are still to be written */
	size_t head;
	int err;	/* the first error; all later calls return it */
	int errnum;	/* its errno */
	uint64_t bytes; /* written */
};

void sink_init(struct sink *s, int fd);

/* Closes fd, frees what still waits. Returns the first error of all. */
int sink_close(struct sink *s);

static inline size_t sink_waiting(const struct sink *s)
{
	return s->wait.len - s->head;
}

/* The descriptor to wait for with POLLOUT while bytes are waiting; -1: writing waits on its own. */
static inline int sink_poll_fd(const struct sink *s)
{
	return s->own;
}

/* Writes or keeps all of it. v is changed. */
int sink_putv(struct sink *s, struct iovec *v, size_t n);
int sink_put(struct sink *s, const void *bytes, size_t n);

/* Writes what is waiting as far as it goes without waiting. */
int sink_flush(struct sink *s);

/* pack.c */

/* Bytes that records become between two flushes: readers have room for so many at a time. */
#define PACK_CHUNK (256u << 10)

/* A zstd stream; zeroed: none yet. */
struct pack {
	void *zstd;	    /* ZSTD_CCtx */
	struct buf flat;    /* compressed bytes that are in no record yet */
	struct buf records; /* PERF_RECORD_COMPRESSED */
};

/* Begins a stream of its own for a recording. 0 or PP_ENOMEM. */
int pack_begin(struct pack *p, int level);

/* The records that n pieces become, valid until the next call. 0 or PP_ENOMEM. */
int pack_events(struct pack *p, const struct iovec *v, size_t n, struct iovec *out);

void pack_release(struct pack *p);

/* option_words.c */

/* "any_call,u" to PERF_SAMPLE_BRANCH_*, added to *mask. 0 or PP_EUSAGE with the reason. */
int words_branches(const char *arg, uint64_t *mask, struct buf *why);

/* "ax,sp" to bits by register number; NULL: all. 0 or PP_EUSAGE with the reason. */
int words_registers(const char *arg, uint64_t *mask, struct buf *why);
uint64_t words_all_registers(void);
unsigned words_stack_pointer(void); /* by number */

/* "16M" to bytes (B, K, M, G, T of 1024); *unit: there is one. 0 or PP_EUSAGE. */
int words_size(const char *arg, uint64_t *bytes, bool *unit);

/* sample_ids.c */

/* An event that was opened when the head of the recording was written already. */
struct ring_id {
	uint64_t real, shown; /* the kernel's id, and the one that was announced */
	uint64_t base;	      /* what an earlier event of that id has counted */
	uint64_t sample_type, read_format;
};

/* Zeroed: none. */
struct ring_ids {
	struct buf list; /* struct ring_id, in the order of `real` */
};

int ids_add(struct ring_ids *ids, const struct ring_id *id);

/* The id that the recording has for the kernel's. */
uint64_t ids_shown(const struct ring_ids *ids, uint64_t real);

/* Changes them in records, one after another. */
void ids_change(const struct ring_ids *ids, uint8_t *data, size_t size);

void ids_release(struct ring_ids *ids);

/* Makes by_id of a session whose events are open. 0 or PP_ENOMEM. */
int ids_index(struct session *s);

/* The event with an id of the recording; NULL: there is none. The only one needs no id. */
const struct perf_event_attr *ids_attr(const struct session *s, uint64_t id);

/* ring_buffer.c */

/* A buffer, which belongs to an event of its own that others send their records to. */
struct ring {
	int cpu;   /* -1: of a thread on any CPU */
	pid_t tid; /* -1: of all */
	int fd;	   /* the event that owns the buffer; -1: there is none */
	bool back; /* the kernel writes backward, over the oldest */
	uint32_t pages;
	uint8_t *base; /* control page, then the data */
	size_t map_size;
	uint64_t mask; /* bytes of data - 1 */
	uint64_t tail, head;
	uint64_t lost;	     /* events that the kernel had no room for, so far */
	uint64_t look_to;    /* records that begin before this position may tell of losses */
	struct ring_ids ids; /* of a CPU that has come */
	struct buf copy;     /* records that are not read as the kernel wrote them */
};

/* What passed through the rings. */
struct ring_counts {
	bool all;	   /* look at each record; else only where one may tell of losses */
	struct keep *keep; /* gets each record; NULL: none */
	bool namespaces;   /* records of those are followed by copies in `more` */
	const struct session *trimmed; /* its copies of stacks are cut; NULL: there are none */
	struct holes *holes;	       /* gets the copies that came short; NULL: none */
	struct looks *looks;	       /* gets those that may go on; NULL: none */
	struct alike *alike;	       /* leaves out what is known of them; NULL: nothing */
	const struct session *sifted;  /* others' records are left out; NULL: none are */
	struct buf more;	       /* records to be written in this round */
	uint64_t samples, lost, throttled;
	size_t chain_at;	       /* where samples have their call chain; 0: not looked at */
	uint64_t chains, short_chains; /* of some: with a user part; one of a frame or two */
};

/*
 * Opens the owner and maps 1 + pages; pages is halved when the kernel allows no more, down to one.
 * 0, or a code with *errnum.
 */
int ring_open(struct ring *r, const struct perf_event_attr *like, uint32_t pages, int *errnum);
void ring_close(struct ring *r);

/* Up to where it is readable now; ring_peek goes up to where this was called last. */
uint64_t ring_head(const struct ring *r);
void ring_look(struct ring *r);

/*
 * Adds what is readable to a list of struct iovec; it stays readable until ring_done.
 */
void ring_peek(struct ring *r, struct buf *list, struct ring_counts *counts);
void ring_done(struct ring *r);

/*
 * Adds what a backward ring has that is newer than the last time, oldest first. Events go on
 * meanwhile, and none is lost: they are for the next time. Samples before `since` (a time as they
 * have it, at the offset time_at in them) are left out. 0 or PP_ENOMEM.
 */
int ring_take_back(struct ring *r, uint64_t since, size_t time_at, struct buf *b,
		   struct ring_counts *counts);

static inline uint8_t *ring_data(const struct ring *r)
{
	return r->base + (r->map_size - (size_t)(r->mask + 1));
}

/* A word at a position in the data; words are aligned, so none lies across the end. */
static inline uint64_t ring_word(const struct ring *r, uint64_t pos)
{
	uint64_t v;

	memcpy(&v, ring_data(r) + (pos & r->mask), sizeof(v));
	return v;
}

/* The piece from `from`, in one or two parts. */
static inline size_t ring_pieces(const struct ring *r, uint64_t from, uint64_t len,
				 struct iovec v[2])
{
	uint64_t at = from & r->mask, first = r->mask + 1 - at;

	if (first > len)
		first = len;
	v[0] = (struct iovec){ring_data(r) + at, (size_t)first};
	v[1] = (struct iovec){ring_data(r), (size_t)(len - first)};
	return first < len ? 2 : 1;
}

/* trim.c */

/* What is left out of a sample: its copy, of `full` bytes, has its size at `at`. */
struct trim {
	uint64_t at, full, left; /* bytes */
	uint64_t raw;		 /* where the data of a tracepoint begin; 0: there are none */
	bool whole;		 /* the record was understood to its end */
	bool cut;		 /* the copy is as long as it may be: the stack may go on */
	struct short_copy copy;	 /* tid 0: the sample does not tell */
	bool alike;		 /* of what is left, `bytes` are of the copy, and in use: alike.h */
	uint64_t bytes;
	uint64_t words[KNOWN_COPY_WORDS]; /* come after these, if there is room */
};

/* Whether the record at a position is a sample of which something is left out. */
bool trim_find(const struct ring *r, uint64_t pos, size_t size, const struct perf_event_attr *a,
	       struct trim *t);

/*
 * Adds what comes before the bytes that are left, with other sizes than in the ring, which cannot
 * be written; and what comes after them.
 */
void trim_head(struct buf *b, const struct ring *r, uint64_t pos, size_t size,
	       const struct trim *t);
void trim_tail(struct buf *b, const struct ring *r, uint64_t pos, size_t size,
	       const struct trim *t);

/* Adds the sample once more, as one of the event with this id, with another copy of the stack. */
void trim_as(struct buf *b, const struct ring *r, uint64_t pos, size_t size, const struct trim *t,
	     uint64_t id, const void *bytes, uint64_t n);

/*
 * Adds the record at a position in a ring. Of a copy of a user stack only what the thread's stack
 * had; a size above that of the bytes in use still shows that the kernel copied less than it was
 * to. a: what a sample is of; NULL: the record is added as it is.
 */
void trim_add(struct buf *b, const struct ring *r, uint64_t pos, size_t size,
	      const struct perf_event_attr *a);

/* buildid.c */

#define BUILDID_MAX 20 /* bytes that a record holds */

/* The GNU build-id among ELF notes; *len 0 if there is none. swap: notes of the other byte order.
 */
void buildid_from_notes(const void *notes, size_t size, bool swap, uint8_t id[BUILDID_MAX],
			size_t *len);

/* The same from an ELF file: its PT_NOTE segments. */
void buildid_from_elf(int fd, uint8_t id[BUILDID_MAX], size_t *len);

#define PHDRS_MAX 256 /* program headers that are looked at */

struct phdr {
	uint32_t type, flags;
	uint64_t offset, vaddr, filesz, memsz;
};

/* The program headers of an ELF file; 0: it is none. *swap: it has the other byte order. */
size_t phdrs_read(int fd, struct phdr v[PHDRS_MAX], bool *swap);

/* moved.c */

/*
 * Whether memory that is code lies where a file's code belongs, as programs do that move their text
 * onto huge pages: *as is the mapping of the file that it stands for. `room`: as for mapping_at.
 */
bool moved_text(const char *proc, pid_t pid, const struct mapping *m, char *room,
		struct mapping *as);

/* synth.c and kernel_maps.c */

typedef int synth_put(void *ctx, const void *bytes, size_t n);

struct synth {
	const char *proc, *sys, *modules; /* "/proc", "/sys", "/lib/modules" */
	size_t id_size;			  /* bytes of the sample_id after each record */
	synth_put *put; /* gets the records in large pieces; NULL: they stay in buf */
	void *ctx;
	struct buf buf, text; /* records; scratch */
	struct intern files;  /* device, inode and path of the files whose build-id is known */
	struct buf ids;	      /* struct build id for each of `files` */
	struct proc_maps maps;
	bool build_ids;		/* read build-ids of mapped files */
	bool data;		/* mappings of files that are not code, too */
	bool no_tasks, no_maps; /* the others only */
	bool namespaces;	/* NAMESPACES of each thread, too */
};

/* FORK, COMM and MMAP2 for every process, or for those listed. Tasks that vanish are left out. */
int synth_processes(struct synth *s);
int synth_process(struct synth *s, pid_t pid);

/* MMAP and build-id of the kernel and its modules. PP_EACCES if kallsyms shows no addresses. */
int synth_kernel(struct synth *s);
int synth_modules(struct synth *s);

/* Hands what is collected to put. */
int synth_flush(struct synth *s);
void synth_release(struct synth *s);

/* For synth.c and kernel_maps.c: a record is begun, filled, and ended, which sets its size. */
size_t synth_begin(struct synth *s, uint32_t type, uint16_t misc);
void synth_u32(struct synth *s, uint32_t v);
void synth_u64(struct synth *s, uint64_t v);
void synth_name(struct synth *s, const char *name, size_t len); /* padded to 8 bytes */
int synth_end(struct synth *s, size_t start);

/* namespaces.c */

/* The number of a thread in its own pid namespace; 0: it is gone. */
uint32_t namespaces_inner(const char *proc, uint32_t tid);

/* Adds the copy of a NAMESPACES record with the thread's number; nothing if that is not known. */
void namespaces_follow(struct buf *b, const void *record, size_t size);

/* descriptors.c */

/* One attribute: an event, or the tracker of tasks and mappings. */
struct rec_attr {
	struct perf_event_attr attr;
	const struct pevent *ev; /* NULL for the tracker */
	char *name;		 /* owned */
	int *fds;		 /* [cpu * tids + tid], -1 where there is none */
	uint64_t *ids;
	size_t n_ids;
	size_t leader;	/* index of the group's first event; its own if it is alone */
	bool in_group;	/* there are others */
	int cgroup_fd;	/* -1: none */
	int *only_cpus; /* where its PMU is to be opened; NULL: everywhere */
	size_t n_only;
	uint64_t *shown; /* [cpu]: the id that the recording has for it; NULL: CPUs do not come */
	uint64_t *base;	 /* [cpu]: what was counted there before the CPU went */
	bool on;	 /* it was enabled */
	bool choose;	 /* its call chains are by --call-graph auto */
	bool helper;	 /* of the event `ev`, after whose name it has its own */
};

/* The processes whose records are kept, where all CPUs are recorded for them (sift.c). */
struct sift {
	bool on;
	struct map64 pids;
};

struct session {
	const struct record_config *c;
	struct diag *d;
	struct rec_attr *attrs;
	size_t n_attrs;
	struct pevents fallback; /* the default event, if the user named none */
	struct pevents kept;	 /* the user's, without those that were left out (spare.c) */
	const struct pevents *events;
	uint32_t copy_rated; /* bytes of a stack by --call-graph auto: of rated events; */
	uint32_t copy_each;  /* and of others; 0: none */
	uint32_t copy_cut;   /* of rated ones where too much changes; 0: all is written (alike.h) */
	uint64_t help_rated, help_each; /* Hz of their helpers; 0: none */
	bool no_helpers;		/* there is room for one event only */
	struct buf chosen;		/* what was chosen, in words; empty: nothing was */
	struct buf left_out;		/* events that were, separated by commas */
	size_t n_left_out;
	bool copies;	    /* some event has copies of user stacks */
	struct target t;    /* with a buffer for each thread: one CPU, -1 */
	struct ring *rings; /* n_rings, fd -1 where there is none; then those backward */
	size_t n_rings;	    /* all of them */
	size_t n_rows;	    /* CPUs, or threads: buffers of a kind */
	uint32_t pages, back_pages;
	uint32_t pages_max; /* of a buffer that grows */
	int level;	    /* how much was left out for older kernels */
	bool user_only;	    /* the kernel side is forbidden */
	bool with_ids;	    /* samples carry the id of their event */
	const char *tracefs;
	struct buf probes;  /* as tracefs_probes has them; empty: not known */
	bool hotplug;	    /* CPUs are recorded, not tasks on them */
	bool late;	    /* the head of the recording is written */
	struct map64 by_id; /* index of `attrs` by the ids that the recording has */
	struct sift sift;
	struct online online;
	size_t n_home;	     /* CPUs of the target that were there at first; others may come */
	uint64_t gone_lost;  /* by events of CPUs that went */
	uint32_t unrecorded; /* CPUs that came and are not recorded */
	unsigned tries;	     /* to open events on one that was not ready */
};

/* Finds CPUs and threads (child: the command's process, or 0), opens and maps everything. */
int session_open(struct session *s, pid_t child);

/* Starts or stops all events; for one that is a name's only ("enable cycles" of --control). */
void session_enable(struct session *s, bool on, const char *name);

/*
 * Gives a ring a buffer of so many pages. *old is the one before, to be read to its end and closed.
 */
int session_grow(struct session *s, struct ring *r, uint32_t pages, struct ring *old);

/* Opens all events of a CPU of the target. 0, PP_END: it is offline, or another code. */
int session_open_on(struct session *s, size_t cpu);

/* Events that were lost, by the kernel's own account; false if it keeps none. */
bool session_lost(const struct session *s, uint64_t *lost);

/* What one of an event's descriptors has counted, and lost; 0 where the kernel does not tell. */
void session_read(const struct rec_attr *a, int fd, uint64_t *value, uint64_t *lost);

/* The events see tasks that were there before, so that a tracker and its synthesis are needed. */
static inline bool session_sees_others(const struct record_config *c)
{
	return c->whom.all_cpus || target_has_tasks(&c->whom);
}

void session_close(struct session *s);

/*
 * leave.c: called before it, has a process of its own hold the descriptors of many tracepoints
 * until what is returned has also been closed; -1: there is none.
 */
int session_leave(const struct session *s);

/* sift.c */

/* Changes the target into all CPUs where a descriptor for each thread would be too many. */
int sift_choose(struct session *s);

/* Learns of new processes from the records of a ring up to a position. 0 or PP_ENOMEM. */
int sift_learn(struct sift *f, const struct ring *r, uint64_t to);

/* Whether the record at a position is to be kept. ids: of the ring that it was in. */
bool sift_wants(const struct session *s, const struct ring *r, uint64_t pos,
		const struct perf_event_header *h, const struct ring_ids *ids);

/* Whether any of the processes still runs. */
bool sift_any_left(const struct sift *f);

/* spare.c */

/* Whether an event that cannot be opened is one of several that a pattern named. */
bool spare_may_go(const struct session *s, const struct rec_attr *a, int errnum);

/* Goes on without it: attrs[at], which has no descriptors. 0 or PP_ENOMEM. */
int spare_leave_out(struct session *s, size_t at);
void spare_say(const struct session *s);

/* hotplug.c */

/*
 * Looks whether CPUs have come or gone, which it reports: opens events for those, and closes those
 * of these. *came: there are new descriptors. 0, or a code that has been told.
 */
int hotplug_look(struct session *s, bool *came);

/* deny.c */

/* Reports why the kernel refused an event, and what can be done. Returns the code that fits. */
int deny_event(const struct session *s, const struct rec_attr *a, int errnum);
int deny_ring(const struct session *s, int errnum);

/* chains.c */

#define CHAINS_BUDGET	  64000000u  /* bytes of copies in a second, at most */
#define CHAINS_COPY_GOOD  16384u     /* bytes of a copy that hold most stacks */
#define CHAINS_SMALL	  40000000u  /* the budget where each is smaller */
#define CHAINS_ALIKE	  200000000u /* bytes copied, where what did not change is left out */
#define CHAINS_COPY_ALIKE 8192u	     /* bytes of such a copy, at most */
#define CHAINS_COPY_LEAST 1024u	     /* bytes of a copy that a budget allows; else there are none */
#define CHAINS_COPY_SMALL 512u	     /* bytes to which a copy may be cut */
#define CHAINS_COPY_EACH  1024u	     /* of events that come as often as they like */
#define CHAINS_HELP	  40000000u /* the budget of helpers, whose copies are as large as can be */
#define CHAINS_HELP_HZ	  399u	    /* of each CPU, at most */
#define CHAINS_HELPERS	  16u	    /* at most */

/* What the choice of --call-graph auto is founded on. */
struct chains_facts {
	uint64_t hz;	 /* samples in a second of a busy CPU, of all events with a frequency */
	uint64_t cpus;	 /* that are busy with what is recorded, at most */
	unsigned framed; /* of a hundred functions of the program; 0: not known */
	bool go;	 /* what is recorded was made by Go's linker */
	bool newest;	 /* the buffers keep the newest records */
	bool copies;	 /* there can be copies of user stacks */
	bool waits;	 /* the events are in functions that wait */
	bool whole;	 /* samples have fields with which copies are written as they are */
};

/*
 * Bytes that are copied of the user stack; 0: none, but the kernel follows frame pointers. For
 * events with a frequency, and for those without one. *why: in words. *cut: only what changed of
 * them is written, but so many where that is too much; 0: all are.
 */
uint32_t chains_rated(const struct chains_facts *f, uint32_t *cut, const char **why);
uint32_t chains_each(const struct chains_facts *f, const char **why);

/* Samples in a second and of a CPU that `n` helpers take beside copies of `size`; 0: none. */
uint64_t chains_helper(const struct chains_facts *f, uint32_t size, size_t n);

/* Chooses for the attributes that ask for it: copy_rated, copy_each, chosen. 0 or PP_ENOMEM. */
int chains_choose(struct session *s);

/* attributes.c: the default event and the attributes of all. */
int session_attrs(struct session *s, bool track_apart, bool on_exec);
void attr_adapt(struct session *s, struct rec_attr *a);
/* This event carries the news of tasks and mappings. */
void session_track(const struct session *s, struct perf_event_attr *attr);

/* recording_header.c */

/* Bytes of the sample_id after each record other than a sample. */
size_t header_sample_id_size(const struct session *s);

/* The pipe header, attributes, names, features and tracing data. */
int header_write(const struct session *s, struct buf *b);

/* running.c: what the parts of a running recording share */

struct recorder {
	struct record_config own; /* contradictions are settled */
	const struct record_config *c;
	struct diag *d;
	struct session s;
	struct sink sink;
	struct pack pack;
	struct command command;
	struct ring_counts counts;
	struct buf iov; /* struct iovec: what is to be written */
	uint64_t *lost; /* for each row, before a round */
	sigset_t old_mask;
	int epoll, signals, timer;
	int cpus, process; /* of online_listen; of while_pid, where the kernel has such */
	size_t watched;	   /* descriptors of events that live */
	bool stop;
	bool open; /* events were written after the last round but one */
	bool snap; /* SIGUSR2 has come: a snapshot, or a new file */

	uint64_t began, started; /* the process, the events: ns of CLOCK_MONOTONIC */
	uint64_t next_look;	 /* the same, at the CPUs that are online */
	size_t span;		 /* the one that is or comes */
	bool on;		 /* events are on */

	int control, ack; /* of --control; -1: none */
	struct buf line;  /* of a command that is not whole */

	uint64_t file_began; /* when the file was begun, as `started` */
	uint64_t bytes;	     /* in earlier files */
	struct buf files;    /* names of those, each with a NUL */
	uint32_t n_files;
};

/* What epoll reports: these, or OF_RING + index of a descriptor. */
enum of { OF_SIGNAL, OF_TIMER, OF_SINK, OF_CONTROL, OF_CPUS, OF_PROCESS, OF_RING };

uint64_t now_ns(clockid_t clock);

/*
 * Whether looks into the memory of others, which have taken `spent` ns since `began`, may go on at
 * `now`: they take a twentieth of a CPU at most.
 */
static inline bool may_look(uint64_t began, uint64_t now, uint64_t spent)
{
	return spent <= (now - began + 1000000000u) / 20;
}

static inline bool look_may(const struct look_budget *b)
{
	uint64_t age = b->now - b->began + 1000000000u;

	return may_look(b->began, b->now, b->spent) &&
	       b->bytes <= age / 1000 * (LOOKS_BYTES / 1000) / 1000;
}

/* Reports errno. PP_EIO. */
int os_error(struct recorder *r, const char *what);

/*
 * Says why the output failed, and gives rc back; a reader that is gone is not an error to report.
 */
int out_error(struct recorder *r, int rc);

int put_record(struct recorder *r, uint32_t type, uint16_t misc);

/* begin.c: the header, and records for what exists already. */
int begin_output(struct recorder *r);

/* rounds.c: takes what is in all rings, and ends the round. `force`: however much is waiting. */
int rounds_pass(struct recorder *r, bool force);

/* What backward rings keep, as a round. */
int rounds_snapshot(struct recorder *r);

/*
 * The mark of the end of a file; in the last one, before it the losses that the kernel has not
 * reported in a record. Those of an earlier one are reported in the next.
 */
int rounds_end(struct recorder *r, bool last);

/* At the end: what was lost, and what would help. */
void rounds_tell(struct recorder *r);

/* control.c */

int control_open(struct recorder *r);
void control_close(struct recorder *r);

/* Commands that have come. 0, or an error of what they did. */
int control_take(struct recorder *r);

/* switch_output.c */

/* Is it time for a new file? */
bool files_due(const struct recorder *r);

/* Ends the file, gives it its name, and begins the next; `last`: no next. */
int files_switch(struct recorder *r, bool last);

#endif
