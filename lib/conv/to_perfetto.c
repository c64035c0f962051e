/*
 * Writes traces of Perfetto (github.com/google/perfetto, protos/perfetto/trace): samples with what
 * they refer to, which is told before its first use in the sequence of each event; names of threads
 * and processes. All times are given as one clock, the trace's own, whichever the recording had.
 */
#include "conv/perfetto.h"

#include "base/array.h"
#include "base/err.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

/* Fields of messages. */
enum { INTERNED_FUNCTION = 5, INTERNED_FRAME = 6, INTERNED_STACK = 7, INTERNED_BUILD_ID = 16 };
enum { INTERNED_PATH = 17, INTERNED_FILE = 18, INTERNED_MAPPING = 19 };
enum { STRING_ID = 1, STRING_TEXT = 2 };
enum { MAPPING_ID = 1, MAPPING_BUILD_ID = 2, MAPPING_PATH = 7 };
enum { FRAME_ID = 1, FRAME_NAME, FRAME_MAPPING, FRAME_ADDRESS, FRAME_FILE, FRAME_LINE, FRAME_KIND };
enum { STACK_ID = 1, STACK_FRAME = 2 };
enum { SAMPLE_CPU = 1, SAMPLE_PID, SAMPLE_TID, SAMPLE_STACK, SAMPLE_MODE, SAMPLE_COUNT };
enum { SAMPLE_UNWIND_ERROR = 16, SAMPLE_LOST = 17 };
enum { DEFAULTS_SAMPLE = 12, DEFAULTS_CLOCK = 58 };
enum { THREAD_TID = 1, THREAD_NAME = 2, THREAD_TGID = 3 };
enum { TREE_PROCESS = 1, TREE_THREAD = 2 };

#define KIND_KERNEL 2 /* of a frame */
#define MODE_KERNEL 1
#define MODE_USER   2
#define NO_DSO	    "[unknown]"

/* What is known of a stack. */
enum { STACK_NEW, STACK_WHOLE, STACK_MARKED, STACK_KERNEL = 4 };

static int open_perfetto(struct conv *c, void **ctx)
{
	struct perfetto *w = calloc(1, sizeof(*w));

	*ctx = w;
	if (w)
		w->c = c;
	return w ? 0 : PP_ENOMEM;
}

/* ---- the head ---- */

static void put_clock(struct perfetto *w, uint32_t clock, uint64_t time)
{
	pb_num(&w->inner, 1, clock);
	pb_num(&w->inner, 2, time);
	pb_take(&w->message, 1, &w->inner);
}

/* The clock, with the time of day if it is known, at the first time. */
static int begin(struct perfetto *w, uint64_t time)
{
	if (w->begun)
		return 0;
	w->begun = true;
	put_clock(w, BOOTTIME, time);
	if (w->c->wall_offset)
		put_clock(w, REALTIME, time + (uint64_t)w->c->wall_offset);
	pb_num(&w->message, 2, BOOTTIME);
	pb_take(&w->packet, PACKET_CLOCKS, &w->message);
	return perfetto_packet(w);
}

/* The kernel, by whose version Perfetto tells the states of threads. */
static int put_machine(struct perfetto *w)
{
	if (w->machine_told || !w->release.len)
		return 0;
	w->machine_told = true;
	pb_bytes(&w->inner, 1, "Linux", 5);
	pb_bytes(&w->inner, 3, w->release.data, w->release.len);
	if (w->machine.len)
		pb_bytes(&w->inner, 4, w->machine.data, w->machine.len);
	pb_take(&w->message, 1, &w->inner);
	pb_take(&w->packet, PACKET_SYSTEM, &w->message);
	return perfetto_packet(w);
}

static int advance(struct perfetto *w, uint64_t time)
{
	int rc = begin(w, time);

	if (time > w->now)
		w->now = time;
	return rc ? rc : put_machine(w);
}

/* ---- names ---- */

static int put_thread(struct perfetto *w, uint32_t pid, uint32_t tid, struct ps_str name)
{
	if (pid == PS_NONE || tid == PS_NONE)
		return 0;
	pb_num_always(&w->inner, THREAD_TID, tid);
	if (name.len)
		pb_bytes(&w->inner, THREAD_NAME, name.p, name.len);
	pb_num_always(&w->inner, THREAD_TGID, pid);
	pb_take(&w->message, TREE_THREAD, &w->inner);
	pb_take(&w->packet, PACKET_PROCESS_TREE, &w->message);
	pb_num_always(&w->packet, PACKET_TIME, w->now);
	return perfetto_packet(w);
}

/* A process's name, unless it was told. */
static int put_process(struct perfetto *w, uint32_t pid)
{
	const uint32_t *name = map64_get(&w->c->p->processes, pid);
	struct ps_str s = prof_str(w->c->p, name ? *name : 0);
	uint32_t *told;

	if (!name || !s.len)
		return 0;
	told = map64_put(&w->named, pid, NULL);
	if (!told)
		return PP_ENOMEM;
	if (*told == *name)
		return 0;
	*told = *name;
	pb_num_always(&w->inner, 1, pid);
	pb_bytes(&w->inner, 3, s.p, s.len);
	pb_take(&w->message, TREE_PROCESS, &w->inner);
	pb_take(&w->packet, PACKET_PROCESS_TREE, &w->message);
	pb_num_always(&w->packet, PACKET_TIME, w->now);
	return perfetto_packet(w);
}

static int put_threads(struct perfetto *w)
{
	struct prof *p = w->c->p;
	int rc = 0;

	while (w->nthreads < p->threads.n && !rc) {
		const struct prof_thread *t = prof_thread_of(p, ++w->nthreads);

		rc = put_process(w, t->pid);
		if (!rc)
			rc = put_thread(w, t->pid, t->tid, prof_str(p, t->comm));
	}
	return rc;
}

static int on_comm(struct perfetto *w, const struct sreader *r, const struct ps_comm *m)
{
	const char *name;
	uint32_t text;
	size_t n;
	int rc;

	name = sreader_string(r, m->comm, &n);
	rc = name ? prof_text(w->c->p, name, n, &text) : 0;
	if (rc || !name)
		return rc;
	if (m->pid == m->tid)
		rc = put_process(w, m->pid);
	return rc ? rc : put_thread(w, m->pid, m->tid, prof_str(w->c->p, text));
}

/* ---- what samples refer to ---- */

/* Whether something was told in a sequence: its place. NULL: out of memory. */
static uint8_t *place(uint8_t **v, uint32_t *n, uint32_t id)
{
	uint8_t *to = array_widen(*v, n, id, 4096, 1);

	if (to)
		*v = to;
	return to ? &to[id] : NULL;
}

/* A text, in the table of the field. */
static int intern_text(struct perfetto *w, uint32_t field, uint8_t **v, uint32_t *n, uint32_t text)
{
	uint8_t *told = place(v, n, text);
	struct ps_str s = prof_str(w->c->p, text);

	if (!told)
		return PP_ENOMEM;
	if (*told || !text)
		return 0;
	*told = 1;
	pb_num(&w->inner, STRING_ID, text);
	pb_bytes(&w->inner, STRING_TEXT, s.p, s.len);
	pb_take(&w->message, field, &w->inner);
	return 0;
}

/* A DSO, with its path and build-id, whose numbers are its own. That of none is one more. */
static int intern_dso(struct perfetto *w, struct perfetto_sequence *q, uint32_t dso)
{
	const struct prof_dso *d = prof_dso_of(w->c->p, dso);
	struct ps_str path = prof_str(w->c->p, d->path);
	uint8_t *told = place(&q->dsos, &q->ndsos, dso);

	if (!told)
		return PP_ENOMEM;
	if (*told)
		return 0;
	*told = 1;
	pb_num(&w->inner, STRING_ID, dso + 1);
	pb_bytes(&w->inner, STRING_TEXT, path.len ? path.p : NO_DSO,
		 path.len ? path.len : strlen(NO_DSO));
	pb_take(&w->message, INTERNED_PATH, &w->inner);
	if (d->build_id) {
		buf_reset(&w->text);
		prof_add_bytes(w->c->p, d->build_id, &w->text);
		buf_inherit(&w->inner, &w->text);
		pb_num(&w->inner, STRING_ID, dso + 1);
		pb_bytes(&w->inner, STRING_TEXT, w->text.data, w->text.len);
		pb_take(&w->message, INTERNED_BUILD_ID, &w->inner);
		pb_num(&w->inner, MAPPING_BUILD_ID, dso + 1);
	}
	pb_num(&w->inner, MAPPING_ID, dso + 1);
	pb_num(&w->inner, MAPPING_PATH, dso + 1);
	pb_take(&w->message, INTERNED_MAPPING, &w->inner);
	return 0;
}

static int intern_frame(struct perfetto *w, struct perfetto_sequence *q, uint32_t frame)
{
	const struct prof_frame *f = prof_frame_of(w->c->p, frame);
	uint8_t *told = place(&q->frames, &q->nframes, frame);
	uint32_t name = f->name;
	int rc;

	if (!told)
		return PP_ENOMEM;
	if (*told)
		return 0;
	*told = 1;
	rc = intern_dso(w, q, f->dso);
	if (!rc && (!name || f->flags & PROF_FRAME_INLINED)) {
		buf_reset(&w->text);
		prof_show(w->c->p, f, &w->text);
		rc = w->text.err ? w->text.err
				 : prof_text(w->c->p, buf_str(&w->text), w->text.len, &name);
	}
	if (!rc)
		rc = intern_text(w, INTERNED_FUNCTION, &q->names, &q->nnames, name);
	if (!rc)
		rc = intern_text(w, INTERNED_FILE, &q->files, &q->nfiles, f->file);
	pb_num(&w->inner, FRAME_ID, frame);
	pb_num(&w->inner, FRAME_NAME, name);
	pb_num(&w->inner, FRAME_MAPPING, f->dso + 1);
	pb_num_always(&w->inner, FRAME_ADDRESS, f->addr);
	pb_num(&w->inner, FRAME_FILE, f->file);
	pb_num(&w->inner, FRAME_LINE, f->line);
	pb_num(&w->inner, FRAME_KIND, f->flags & PROF_FRAME_KERNEL ? KIND_KERNEL : 0);
	pb_take(&w->message, INTERNED_FRAME, &w->inner);
	return rc;
}

static int intern_stack(struct perfetto *w, struct perfetto_sequence *q, uint32_t stack,
			uint8_t *known)
{
	uint32_t frame = 0, first = 0, *path;
	size_t n = 0;
	int rc = 0;

	buf_reset(&w->path);
	for (uint32_t node = stack; node && !rc; n++) {
		node = prof_up(w->c->p, node, &frame);
		first = first ? first : frame;
		buf_add(&w->path, &frame, sizeof(frame));
		rc = intern_frame(w, q, frame);
	}
	if (rc || w->path.err)
		return rc ? rc : w->path.err;
	*known =
		prof_frame_of(w->c->p, frame)->flags & PROF_FRAME_MARK ? STACK_MARKED : STACK_WHOLE;
	*known |= prof_frame_of(w->c->p, first)->flags & PROF_FRAME_KERNEL ? STACK_KERNEL : 0;
	path = (uint32_t *)(void *)w->path.data;
	pb_num(&w->inner, STACK_ID, stack);
	/* The outermost comes first. */
	while (n)
		pb_num(&w->inner, STACK_FRAME, path[--n]);
	pb_take(&w->message, INTERNED_STACK, &w->inner);
	pb_take(&w->packet, PACKET_INTERNED, &w->message);
	return w->packet.err;
}

/* ---- samples ---- */

/* The first packet of a sequence says what is counted, and by which clock. */
static int begin_sequence(struct perfetto *w, uint32_t event)
{
	const struct prof_event *e = prof_event_of(w->c->p, event);
	struct ps_str name = prof_str(w->c->p, e->name), unit = prof_str(w->c->p, e->unit);

	buf_reset(&w->text);
	buf_addf(&w->text, "%.*s (%.*s)", (int)name.len, name.p, (int)unit.len, unit.p);
	buf_inherit(&w->inner, &w->text);
	pb_num(&w->inner, 1, 1); /* a period, since it has to have one */
	pb_bytes(&w->inner, 10, w->text.data, w->text.len);
	pb_take(&w->message, 1, &w->inner);
	buf_reset(&w->path);
	pb_take(&w->path, DEFAULTS_SAMPLE, &w->message);
	pb_num(&w->path, DEFAULTS_CLOCK, BOOTTIME);
	pb_take(&w->packet, PACKET_DEFAULTS, &w->path);
	return w->packet.err;
}

/* The sequence of an event, which gets a packet. NULL: out of memory. */
static struct perfetto_sequence *sequence_of(struct perfetto *w, uint32_t event, uint64_t time)
{
	struct perfetto_sequence *q =
		array_widen(w->sequences, &w->nsequences, event, 16, sizeof(*q));

	if (!q)
		return NULL;
	w->sequences = q;
	q += event;
	pb_num_always(&w->packet, PACKET_TIME, time);
	pb_num(&w->packet, PACKET_SEQUENCE, TRACKS + event);
	pb_num(&w->packet, PACKET_SEQUENCE_FLAGS, q->begun ? SEQUENCE_GOES_ON : SEQUENCE_BEGINS);
	if (!q->begun && begin_sequence(w, event))
		return NULL;
	q->begun = true;
	return q;
}

/* What the counter of an event on a CPU is after one more sample. */
static int count_on(struct perfetto *w, struct perfetto_sequence *q, const struct prof_sample *s,
		    uint64_t *count)
{
	uint32_t slot;
	uint64_t *v;
	int rc = perfetto_slot(w, s->cpu, &slot);

	if (rc)
		return rc;
	v = array_widen(q->counts, &q->ncounts, slot, 16, sizeof(*v));
	if (!v)
		return PP_ENOMEM;
	q->counts = v;
	*count = v[slot] += s->weight;
	return 0;
}

static int sample(void *ctx, const struct prof_sample *s)
{
	struct perfetto *w = ctx;
	const struct prof_thread *t = prof_thread_of(w->c->p, s->thread);
	struct perfetto_sequence *q;
	uint8_t *stack = NULL;
	uint64_t count = 0;
	int rc = 0;

	/* Those without a time come with the ones before them, if there is any. */
	w->untimed += !s->timed;
	if (!s->timed && !w->begun)
		return 0;
	rc = s->timed ? advance(w, s->time) : 0;
	if (!rc)
		rc = put_threads(w);
	q = rc ? NULL : sequence_of(w, s->event, s->timed ? s->time : w->now);
	if (!q)
		return rc ? rc : PP_ENOMEM;
	rc = count_on(w, q, s, &count);
	stack = place(&q->stacks, &q->nstacks, s->stack);
	if (!rc && !stack)
		rc = PP_ENOMEM;
	if (!rc && s->stack && !*stack)
		rc = intern_stack(w, q, s->stack, stack);
	if (rc)
		return rc;
	if (s->cpu != PS_NONE)
		pb_num_always(&w->message, SAMPLE_CPU, s->cpu);
	if (t->pid != PS_NONE)
		pb_num_always(&w->message, SAMPLE_PID, t->pid);
	if (t->tid != PS_NONE)
		pb_num_always(&w->message, SAMPLE_TID, t->tid);
	pb_num(&w->message, SAMPLE_STACK, s->stack);
	pb_num(&w->message, SAMPLE_MODE,
	       !s->stack	       ? 0
	       : *stack & STACK_KERNEL ? MODE_KERNEL
				       : MODE_USER);
	pb_num_always(&w->message, SAMPLE_COUNT, count);
	if (s->stack && *stack & STACK_MARKED)
		pb_num_always(&w->message, SAMPLE_UNWIND_ERROR, 0);
	pb_take(&w->packet, PACKET_SAMPLE, &w->message);
	return perfetto_packet(w);
}

/* ---- records of a stream ---- */

static int on_meta(struct perfetto *w, const struct ps_meta *m)
{
	struct buf *b = m->key.len == 9 && !memcmp(m->key.p, "osrelease", 9) ? &w->release
			: m->key.len == 4 && !memcmp(m->key.p, "arch", 4)    ? &w->machine
									     : NULL;

	if (b && !b->len && m->value.len < 256)
		buf_add(b, m->value.p, m->value.len);
	return b ? b->err : 0;
}

/* In the account of Perfetto, and where one sees it. */
static int on_lost(struct perfetto *w, const struct ps_lost *m)
{
	uint64_t time = m->time ? m->time : w->now;
	struct perfetto_sequence *q = NULL;
	char text[64];
	int rc = advance(w, time);

	snprintf(text, sizeof(text), "the recording lost %" PRIu64 " events", m->count);
	if (m->flags & 1)
		snprintf(text, sizeof(text), "the recording lost events");
	if (!rc)
		rc = perfetto_instant(w, time, text);
	if (!rc && m->cpu != PS_NONE)
		rc = perfetto_events_lost(w, m->cpu);
	for (uint32_t i = 1; i < w->nsequences && !rc && !q; i++)
		if (w->sequences[i].begun)
			q = sequence_of(w, i, time);
	if (rc || !q)
		return rc;
	pb_num_always(&w->message, SAMPLE_CPU, m->cpu == PS_NONE ? 0 : m->cpu);
	pb_num(&w->message, SAMPLE_LOST, m->count ? m->count : 1);
	pb_take(&w->packet, PACKET_SAMPLE, &w->message);
	return perfetto_packet(w);
}

static int on_sample(struct perfetto *w, const struct sreader *r, const struct ps_record *rec,
		     bool *taken)
{
	const struct ps_sample *s = &rec->sample;
	const struct tpoint *p = tpoints_of(&w->points, s);
	bool slice = ps_sample_has(s, end_time);
	int rc;

	if (s->flags & (PS_SAMPLE_JOINED | PS_SAMPLE_NO_TIME) ||
	    (s->flags & PS_MARK_MASK) != PS_MARK_PASS || (!p && !slice))
		return 0;
	rc = advance(w, s->time);
	if (rc)
		return rc;
	/* What has a stack is a sample, too; psym makes one of an address alone as well. */
	*taken = slice || !p->chains;
	w->c->account.had |= CONV_TIMES;
	return slice ? perfetto_slice(w, r, rec) : perfetto_event(w, p, r, rec);
}

static int record(void *ctx, const struct sreader *r, const struct ps_record *rec, bool *taken)
{
	struct perfetto *w = ctx;

	switch (rec->type) {
	case PS_HEADER:
		tpoints_forget(&w->points);
		w->ncounts = 0;
		break;
	case PS_META: return on_meta(w, &rec->meta);
	case PS_EVENT: return tpoints_bind(&w->points, r, rec->event.id);
	case PS_COMM: return on_comm(w, r, &rec->comm);
	case PS_FORK: return put_thread(w, rec->fork.pid, rec->fork.tid, ps_str("", 0));
	case PS_LOST: return on_lost(w, &rec->lost);
	case PS_COUNTER: return perfetto_counter(w, &rec->counter);
	case PS_COUNT: *taken = true; return perfetto_count(w, &rec->count);
	case PS_ROUND: return perfetto_round(w, r, rec->round.elapsed);
	case PS_END: return perfetto_round(w, r, 0);
	case PS_SAMPLE: return on_sample(w, r, rec, taken);
	}
	return 0;
}

static int close_perfetto(void *ctx)
{
	struct perfetto *w = ctx;
	int rc = perfetto_events_flush(w);

	if (!w->begun && w->untimed) {
		diag_error(w->c->d, NULL, -1, "perfetto shows times, and the input has none");
		return PP_EUNSUPPORTED;
	}
	for (uint32_t i = 1; i <= w->c->p->threads.n && !rc; i++)
		rc = put_process(w, prof_thread_of(w->c->p, i)->pid);
	buf_reset(&w->path);
	conv_add_comment(w->c, &w->path);
	if (!rc)
		rc = w->path.err ? w->path.err : perfetto_instant(w, w->now, buf_str(&w->path));
	return rc ? rc : conv_flush(w->c, &w->out, 0);
}

static void free_perfetto(void *ctx)
{
	struct perfetto *w = ctx;

	if (!w)
		return;
	for (uint32_t i = 0; i < w->nsequences; i++) {
		struct perfetto_sequence *q = &w->sequences[i];

		free(q->stacks);
		free(q->frames);
		free(q->names);
		free(q->files);
		free(q->dsos);
		free(q->counts);
	}
	for (uint32_t i = 0; i < w->ncpus; i++)
		buf_release(&w->cpus[i].events);
	free(w->sequences);
	free(w->cpus);
	free(w->ends);
	free(w->scales);
	free(w->counts);
	map64_release(&w->slots);
	map64_release(&w->named);
	intern_release(&w->tracks);
	tpoints_release(&w->points);
	buf_release(&w->out);
	buf_release(&w->packet);
	buf_release(&w->message);
	buf_release(&w->inner);
	buf_release(&w->path);
	buf_release(&w->text);
	buf_release(&w->release);
	buf_release(&w->machine);
	free(w);
}

const struct conv_writer conv_to_perfetto = {
	.open = open_perfetto,
	.sample = sample,
	.record = record,
	.close = close_perfetto,
	.free = free_perfetto,
	.prof = PROF_ADDRS,
};
