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
#include "record/command.h"
#include "record/record.h"

#include <linux/perf_event.h>
#include <signal.h>
#include <stdio.h>
#include <sys/types.h>
#include <sys/uio.h>

/* tracing.c */

/*
 * Adds what a reader needs to decode the tracepoints of e: the "tracing data" of perf.data and
 * trace.dat version 0.6 (see trace-event-info.c of perf).
 */
int tracefs_data(const char *dir, const struct pevents *e, struct buf *b);

/* sink.c */

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

/* The descriptor to wait for with POLLOUT while bytes are waiting; -1: writing waits by itself. */
static inline int sink_poll_fd(const struct sink *s)
{
	return s->own;
}

/* Writes or keeps all of it. v is changed. */
int sink_putv(struct sink *s, struct iovec *v, size_t n);
int sink_put(struct sink *s, const void *bytes, size_t n);

/* Writes what is waiting as far as it goes without waiting. */
int sink_flush(struct sink *s);

/* ring.c */

struct ring {
	int cpu, fd;   /* fd: the event that owns the buffer */
	uint8_t *base; /* control page, then the data */
	size_t map_size;
	uint64_t mask; /* bytes of data - 1 */
	uint64_t tail, head;
};

/* What passed through the rings. */
struct ring_counts {
	uint64_t samples, lost, throttled;
};

/* Maps 1 + pages; pages is halved when the kernel allows no more, down to one. */
int ring_map(struct ring *r, int cpu, int fd, uint32_t *pages, int *errnum);
void ring_unmap(struct ring *r);

/* What is readable, as 0 to 2 pieces; they stay readable until ring_done. */
size_t ring_peek(struct ring *r, struct iovec v[2], struct ring_counts *counts);
void ring_done(struct ring *r);

/* buildid.c */

#define BUILDID_MAX 20 /* bytes that a record holds */

/* The GNU build-id among ELF notes; *len 0 if there is none. swap: notes of the other byte order.
 */
void buildid_from_notes(const void *notes, size_t size, bool swap, uint8_t id[BUILDID_MAX],
			size_t *len);

/* The same from an ELF file: its PT_NOTE segments. */
void buildid_from_elf(int fd, uint8_t id[BUILDID_MAX], size_t *len);

/* synth.c and kernel.c */

typedef int synth_put(void *ctx, const void *bytes, size_t n);

struct synth {
	const char *proc, *sys, *modules; /* "/proc", "/sys", "/lib/modules" */
	size_t id_size;			  /* bytes of the sample_id behind each record */
	synth_put *put; /* gets the records in large pieces; NULL: they stay in buf */
	void *ctx;
	struct buf buf, text; /* records; scratch */
	struct intern files;  /* device, inode and path of the files whose build-id is known */
	struct buf ids;	      /* struct build id for each of `files` */
	bool build_ids;	      /* read build-ids of mapped files */
	bool data;	      /* mappings of files that are not code, too */
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

/* For synth.c and kernel.c: a record is begun, filled, and ended, which sets its size. */
size_t synth_begin(struct synth *s, uint32_t type, uint16_t misc);
void synth_u32(struct synth *s, uint32_t v);
void synth_u64(struct synth *s, uint64_t v);
void synth_name(struct synth *s, const char *name, size_t len); /* padded to 8 bytes */
int synth_end(struct synth *s, size_t start);

/* open.c */

/* One attribute: an event, or the tracker of tasks and mappings. */
struct rec_attr {
	struct perf_event_attr attr;
	const struct pevent *ev; /* NULL for the tracker */
	char *name;		 /* owned */
	int *fds;		 /* [cpu * tids + tid], -1 where there is none */
	uint64_t *ids;
	size_t n_ids;
};

struct session {
	const struct record_config *c;
	struct diag *d;
	struct rec_attr *attrs;
	size_t n_attrs;
	struct pevents fallback; /* the default event, if the user named none */
	const struct pevents *events;
	int *cpus;
	size_t n_cpus;
	pid_t *pids, *tids; /* tids: {-1} for every task */
	size_t n_pids, n_tids;
	struct ring *rings; /* n_rings, of the CPUs that are there */
	size_t n_rings;
	uint32_t pages;
	int level;	/* how much was left out for older kernels */
	bool user_only; /* the kernel side is forbidden */
	bool with_ids;	/* samples carry the id of their event */
	const char *tracefs;
};

/* Finds CPUs and threads (child: the command's process, or 0), opens and maps everything. */
int session_open(struct session *s, pid_t child);

/* Starts or stops all events. */
void session_enable(struct session *s, bool on);

/* Events that were lost, by the kernel's own account; false if it keeps none. */
bool session_lost(const struct session *s, uint64_t *lost);

void session_close(struct session *s);

/* events.c: the default event and the attributes of all. */
int session_attrs(struct session *s, bool track_apart, bool on_exec);
void attr_adapt(struct session *s, struct rec_attr *a);

/* header.c */

/* Bytes of the sample_id behind each record that is no sample. */
size_t header_sample_id_size(const struct session *s);

/* The pipe header, attributes, names, features and tracing data. */
int header_write(const struct session *s, struct buf *b);

#endif
