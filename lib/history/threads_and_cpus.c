/* Threads and CPUs, and their names. */
#include "base/array.h"
#include "base/err.h"
#include "history/parts.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

/* ---- times as text, and the output ---- */

void history_ms(struct buf *b, uint64_t ns, int width)
{
	buf_add_u64(b, ns / 1000000, width, ' ');
	buf_addc(b, '.');
	buf_add_u64(b, ns % 1000000 / 1000, 3, '0');
	buf_addc(b, ' ');
}

void history_time(struct buf *b, uint64_t ns, int width)
{
	buf_add_u64(b, ns / 1000000000, width > 7 ? width - 7 : 0, ' ');
	buf_addc(b, '.');
	buf_add_u64(b, ns % 1000000000 / 1000, 6, '0');
}

int history_write(struct history *h)
{
	int rc = h->b.err;

	if (!rc && h->b.len)
		rc = out_add(&h->out, h->b.data, h->b.len);
	buf_reset(&h->b);
	return rc;
}

/* ---- threads and CPUs ---- */

static int64_t add(struct history *h)
{
	struct history_thread *v =
		array_widen(h->threads, &h->cap_threads, h->nthreads, 256, sizeof(*v));

	if (!v)
		return PP_ENOMEM;
	h->threads = v;
	v[h->nthreads] = (struct history_thread){
		.tid = PS_NONE, .pid = PS_NONE, .ppid = PS_NONE, .last_state = 'S'};
	return h->nthreads++;
}

int64_t history_thread(struct history *h, uint32_t buffer, uint32_t tid)
{
	uint32_t *slot = map64_put(&h->by_tid, (uint64_t)buffer << 32 | tid, NULL);
	int64_t i;

	if (!slot)
		return PP_ENOMEM;
	if (*slot)
		return *slot - 1;
	i = add(h);
	if (i < 0)
		return i;
	*slot = (uint32_t)i + 1;
	h->threads[i].tid = tid;
	if (!tid)
		h->threads[i].pid = 0;
	return i;
}

struct history_cpu *history_cpu(struct history *h, uint32_t cpu)
{
	struct history_cpu *v;

	if (cpu >= HISTORY_CPUS_MAX)
		return NULL;
	v = array_widen(h->cpus, &h->cap_cpus, cpu, 16, sizeof(*v));
	if (!v)
		return NULL;
	h->cpus = v;
	if (cpu >= h->ncpus)
		h->ncpus = cpu + 1;
	return &v[cpu];
}

struct history_thread *history_idle(struct history *h, uint32_t cpu)
{
	struct history_cpu *c = history_cpu(h, cpu);
	int64_t i;

	if (!c)
		return NULL;
	if (!c->idle) {
		i = add(h);
		if (i < 0)
			return NULL;
		h->threads[i].tid = h->threads[i].pid = 0;
		h->threads[i].idle = true;
		c->idle = (uint32_t)i + 1;
	}
	return &h->threads[c->idle - 1];
}

int history_rename(struct history *h, struct history_thread *t, const struct qval *name)
{
	if (name->kind != QV_STR || (t->recorded && t->comm) || t->idle)
		return 0;
	return intern_again(&h->texts, name->s, name->len, &t->comm);
}

int history_buffer(struct history *h, uint32_t source, const struct ps_str *name, uint32_t *id)
{
	struct buf key = BUF_INIT;
	int rc;

	buf_addf(&key, "%" PRIu32 ":", source);
	if (name)
		buf_add(&key, name->p, name->len);
	rc = key.err ? key.err : intern_add(&h->buffers, key.data, key.len, id, NULL);
	buf_release(&key);
	return !rc && *id > HISTORY_BUFFERS_MAX ? PP_ELIMIT : rc;
}

/* The thread of a context record. Those are of the main trace buffer. */
static int64_t of_context(struct history *h, const struct ps_record *rec, uint32_t *buffer)
{
	int rc = history_buffer(h, rec->source, NULL, buffer);

	return rc ? rc : history_thread(h, *buffer, rec->context.tid);
}

static int on_comm(struct history *h, const struct ps_record *rec)
{
	uint32_t buffer = 0;
	int64_t i = of_context(h, rec, &buffer);
	struct history_thread *t;
	const char *s;
	size_t len;

	if (i < 0)
		return (int)i;
	t = &h->threads[i];
	if (rec->context.pid != PS_NONE)
		t->pid = rec->context.pid;
	s = sreader_string(h->r, rec->comm.comm, &len);
	t->recorded = s != NULL;
	return s ? intern_again(&h->texts, s, len, &t->comm) : 0;
}

/* A thread begins, with its parent's name: what is known of that number is of one before it. */
static int on_fork(struct history *h, const struct ps_record *rec)
{
	const struct ps_fork *f = &rec->fork;
	uint32_t buffer = 0, *parent;
	int64_t i = of_context(h, rec, &buffer);
	struct history_thread *t;

	if (i < 0)
		return (int)i;
	t = &h->threads[i];
	if (!(f->flags & 1) && (t->last || t->runs.n || t->code[0])) {
		t->ended = true;
		map64_del(&h->by_tid, (uint64_t)buffer << 32 | f->tid);
		i = history_thread(h, buffer, f->tid);
		if (i < 0)
			return (int)i;
		t = &h->threads[i];
	}
	t->pid = f->pid;
	t->ppid = f->pid == f->tid ? f->ppid : f->pid;
	parent = map64_get(&h->by_tid, (uint64_t)buffer << 32 | f->ptid);
	if (!(f->flags & 1) && parent) {
		t->comm = h->threads[*parent - 1].comm;
		t->recorded = h->threads[*parent - 1].recorded;
	}
	return 0;
}

static int on_exit_record(struct history *h, const struct ps_record *rec)
{
	uint32_t buffer = 0;
	int64_t i = of_context(h, rec, &buffer);

	if (i < 0)
		return (int)i;
	h->threads[i].ended = true;
	return 0;
}

/* "nrcpus" of the recording: how many are online, and how many there are. */
static int on_meta(struct history *h, const struct ps_meta *m)
{
	char text[32];
	unsigned long n;

	if (m->key.len != 6 || memcmp(m->key.p, "nrcpus", 6) != 0 || m->value.len >= sizeof(text))
		return 0;
	memcpy(text, m->value.p, m->value.len);
	text[m->value.len] = 0;
	n = strtoul(text, NULL, 10);
	return !n || n > HISTORY_CPUS_MAX || history_cpu(h, (uint32_t)n - 1) ? 0 : PP_ENOMEM;
}

int history_context(struct history *h, const struct ps_record *rec)
{
	if (rec->type == PS_META)
		return on_meta(h, &rec->meta);
	if (rec->context.tid == PS_NONE)
		return 0;
	switch (rec->type) {
	case PS_COMM: return on_comm(h, rec);
	case PS_FORK: return on_fork(h, rec);
	case PS_EXIT: return on_exit_record(h, rec);
	}
	return 0;
}

void history_forget(struct history *h)
{
	map64_clear(&h->by_tid);
	h->nthreads = h->ncpus = h->ncolumns = 0;
	if (h->cpus)
		memset(h->cpus, 0, h->cap_cpus * sizeof(*h->cpus));
	if (h->by_code)
		memset(h->by_code, 0, HISTORY_CODES * sizeof(*h->by_code));
	h->codes = 0;
	h->waking = false;
	h->first = h->end = h->lost_at = 0;
}

void history_task(const struct history *h, const struct history_thread *t, struct buf *b)
{
	size_t len, at = b->len;
	const char *s = intern_get(&h->texts, t->comm, &len);

	if (t->idle)
		buf_adds(b, "<idle>");
	else if (!t->tid)
		buf_adds(b, "swapper");
	else if (s)
		buf_add_safe(b, s, len < HISTORY_TASK ? len : HISTORY_TASK);
	else
		buf_adds(b, "<...>");
	if (t->tid && (t->pid == PS_NONE || t->pid == t->tid))
		buf_addf(b, "[%" PRIu32 "]", t->tid);
	else if (t->tid)
		buf_addf(b, "[%" PRIu32 "/%" PRIu32 "]", t->tid, t->pid);
	if (!b->err && b->len - at > HISTORY_TASK)
		b->data[b->len = at + HISTORY_TASK] = 0;
}

/* Mean and variance without large sums (Welford). */
void history_count(struct history_stats *s, uint64_t v)
{
	double away = (double)v - s->mean;

	s->min = s->n && s->min < v ? s->min : v;
	s->max = s->max > v ? s->max : v;
	s->sum += v;
	s->n++;
	s->mean += away / (double)s->n;
	s->squares += away * ((double)v - s->mean);
}
