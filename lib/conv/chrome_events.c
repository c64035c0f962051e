/*
 * Chrome's events beside samples: what ran on each CPU, interrupts, intervals of plat, frequencies,
 * and all other tracepoints.
 */
#include "conv/chrome.h"

#include "base/array.h"
#include "base/err.h"
#include "base/json.h"

#include <inttypes.h>
#include <stdio.h>

#define CPUS_MAX 65536

static int name_cpu(struct chrome *w, struct chrome_cpu *v, uint32_t cpu)
{
	int rc;

	if (v->named)
		return 0;
	v->named = true;
	chrome_event(w, 'M', "__metadata", CHROME_CPUS, cpu, 0);
	buf_addf(&w->b, ",\"name\":\"thread_name\",\"args\":{\"name\":\"CPU %u\"}", cpu);
	rc = chrome_end(w);
	if (rc)
		return rc;
	chrome_event(w, 'M', "__metadata", CHROME_CPUS, cpu, 0);
	buf_addf(&w->b, ",\"name\":\"thread_sort_index\",\"args\":{\"sort_index\":%u}", cpu);
	rc = chrome_end(w);
	if (rc)
		return rc;
	chrome_event(w, 'M', "__metadata", CHROME_CPUS, cpu, 0);
	buf_adds(&w->b, ",\"name\":\"process_name\",\"args\":{\"name\":\"CPUs\"}");
	return chrome_end(w);
}

static int cpu_of(struct chrome *w, uint32_t cpu, struct chrome_cpu **v)
{
	if (cpu >= CPUS_MAX)
		return PP_ELIMIT;
	*v = array_widen(w->cpus, &w->ncpus, cpu, 16, sizeof(**v));
	if (!*v)
		return PP_ENOMEM;
	w->cpus = *v;
	*v += cpu;
	return name_cpu(w, *v, cpu);
}

/* What lasted until now on a CPU. */
static int put_lasted(struct chrome *w, const char *cat, uint32_t cpu, uint64_t since,
		      struct ps_str name, uint64_t end)
{
	chrome_event(w, 'X', cat, CHROME_CPUS, cpu, since);
	json_text(&w->b, "name", name.p, name.len);
	json_key(&w->b, "dur");
	chrome_us(&w->b, end - since);
	return chrome_end(w);
}

static int keep_text(struct chrome *w, const struct tpoint *p, uint32_t field,
		     const struct sreader *r, const struct ps_record *rec, uint32_t *text)
{
	struct qval v;

	*text = 0;
	if (!tpoint_value(p, field, r, rec, &v) || v.kind != QV_STR)
		return 0;
	return prof_text(w->c->p, v.s, v.len, text);
}

static int on_switch(struct chrome *w, struct chrome_cpu *c, const struct tpoint *p,
		     const struct sreader *r, const struct ps_record *rec)
{
	const struct ps_sample *s = &rec->sample;
	uint64_t since = c->run;
	struct qval v;
	int rc = 0;

	/* The idle thread is no work. */
	if (since && since <= s->time && c->tid)
		rc = put_lasted(w, "sched", s->cpu, since, prof_str(w->c->p, c->comm), s->time);
	c->run = s->time;
	c->tid = tpoint_value(p, POINT_NEXT_PID, r, rec, &v) ? (uint32_t)v.num : 0;
	return rc ? rc : keep_text(w, p, POINT_NEXT_COMM, r, rec, &c->comm);
}

static int on_softirq_end(struct chrome *w, struct chrome_cpu *c, const struct ps_sample *s)
{
	static const char *const names[] = {"HI",	"TIMER",   "NET_TX", "NET_RX",	"BLOCK",
					    "IRQ_POLL", "TASKLET", "SCHED",  "HRTIMER", "RCU"};
	const char *name = c->vec < sizeof(names) / sizeof(names[0]) ? names[c->vec] : "softirq";
	uint64_t since = c->softirq;

	c->softirq = 0;
	return !since || since > s->time ? 0
					 : put_lasted(w, "softirq", s->cpu, since,
						      ps_str(name, strlen(name)), s->time);
}

static int on_frequency(struct chrome *w, const struct tpoint *p, const struct sreader *r,
			const struct ps_record *rec)
{
	struct qval state, cpu;

	if (!tpoint_value(p, 0, r, rec, &state) || !tpoint_value(p, 1, r, rec, &cpu))
		return 0;
	chrome_event(w, 'C', "power", CHROME_CPUS, (uint32_t)cpu.num, rec->sample.time);
	buf_addf(&w->b, ",\"name\":\"%s CPU %u\",\"args\":{\"value\":%" PRIu64 "}",
		 p->kind == POINT_IDLE ? "cpu_idle" : "cpu_frequency", (unsigned)cpu.num,
		 p->kind == POINT_IDLE && (uint32_t)state.num == UINT32_MAX ? 0 : state.num);
	return chrome_end(w);
}

/* At a place in time, with all of its fields. */
static int put_instant(struct chrome *w, const struct tpoint *p, const struct sreader *r,
		       const struct ps_record *rec, uint32_t thread)
{
	const struct prof_thread *t = prof_thread_of(w->c->p, thread);
	struct buf *b = &w->b;
	struct qval v;

	chrome_event(w, 'i', "tracepoint", t->pid, t->tid, rec->sample.time);
	json_text(b, "name", p->name, strlen(p->name));
	buf_adds(b, ",\"s\":\"t\",\"args\":{");
	json_num(b, "cpu", rec->sample.cpu);
	for (uint32_t i = 0; i < p->n; i++) {
		char name[64];

		if (!tpoint_value(p, i, r, rec, &v) || v.kind == QV_BYTES)
			continue;
		snprintf(name, sizeof(name), "%.*s", (int)p->fields[i].f.name_len,
			 p->fields[i].f.name);
		buf_addc(b, ',');
		buf_add_json(b, name, strlen(name));
		buf_addc(b, ':');
		if (v.kind == QV_STR)
			buf_add_json(b, v.s, v.len);
		else if (v.is_unsigned)
			buf_add_u64(b, v.num, 0, ' ');
		else
			buf_addf(b, "%" PRId64, (int64_t)v.num);
	}
	buf_addc(b, '}');
	return chrome_end(w);
}

static int on_tpoint(struct chrome *w, const struct tpoint *p, const struct sreader *r,
		     const struct ps_record *rec, uint32_t thread)
{
	const struct ps_sample *s = &rec->sample;
	struct chrome_cpu *c;
	struct qval v;
	uint64_t since;
	int rc = s->cpu == PS_NONE ? PP_ENOENT : cpu_of(w, s->cpu, &c);

	if (rc)
		return rc == PP_ENOENT ? put_instant(w, p, r, rec, thread) : rc;
	switch (p->kind) {
	case POINT_SWITCH: return on_switch(w, c, p, r, rec);
	case POINT_IRQ: c->irq = s->time; return keep_text(w, p, 1, r, rec, &c->irq_name);
	case POINT_IRQ_EXIT:
		since = c->irq;
		c->irq = 0;
		return !since || since > s->time
			       ? 0
			       : put_lasted(w, "irq", s->cpu, since, prof_str(w->c->p, c->irq_name),
					    s->time);
	case POINT_SOFTIRQ:
		c->softirq = s->time;
		c->vec = tpoint_value(p, 0, r, rec, &v) ? (uint32_t)v.num : 0;
		return 0;
	case POINT_SOFTIRQ_EXIT: return on_softirq_end(w, c, s);
	case POINT_FREQUENCY:
	case POINT_IDLE: return on_frequency(w, p, r, rec);
	default: return put_instant(w, p, r, rec, thread);
	}
}

/* An interval of plat: they may overlap. */
static int put_interval(struct chrome *w, const struct sreader *r, const struct ps_record *rec,
			uint32_t thread)
{
	const struct prof_thread *t = prof_thread_of(w->c->p, thread);
	const struct ps_sample *s = &rec->sample;
	const struct ps_event *e = sreader_event(r, s->event);
	struct ps_str key = ps_sample_has(s, key_text) ? s->key_text : ps_str("", 0);
	struct ps_str kind = e ? e->name : ps_str("interval", 8);
	uint64_t id = ++w->async;
	int rc = 0;

	for (int end = 0; end < 2 && !rc; end++) {
		chrome_event(w, end ? 'e' : 'b', "plat", t->pid, t->tid,
			     end && s->end_time > s->time ? s->end_time : s->time);
		json_num(&w->b, "id", id);
		json_text(&w->b, "name", kind.p, kind.len);
		if (key.len && !end) {
			buf_adds(&w->b, ",\"args\":{");
			json_text(&w->b, "key", key.p, key.len);
			buf_addc(&w->b, '}');
		}
		rc = chrome_end(w);
	}
	return rc;
}

/* The thread of a sample, with its name. */
static int thread_of(struct chrome *w, const struct sreader *r, const struct ps_sample *s,
		     uint32_t *thread)
{
	struct prof_thread t = {s->pid, s->tid, 0};
	size_t n;
	const char *comm = sreader_string(r, s->comm, &n);
	int rc = comm ? prof_text(w->c->p, comm, n, &t.comm) : 0;

	if (!rc)
		rc = prof_thread(w->c->p, &t, thread);
	return rc ? rc : chrome_thread(w, *thread);
}

static int on_lost(struct chrome *w, const struct ps_lost *m)
{
	if (m->cpu < w->ncpus)
		w->cpus[m->cpu] = (struct chrome_cpu){.named = w->cpus[m->cpu].named};
	chrome_event(w, 'i', "lost", m->pid, m->tid, m->time ? m->time : w->now);
	buf_addf(&w->b, ",\"name\":\"the recording lost %" PRIu64 " events\",\"s\":\"g\"",
		 m->count);
	return chrome_end(w);
}

int chrome_record(struct chrome *w, const struct sreader *r, const struct ps_record *rec,
		  bool *taken)
{
	const struct ps_sample *s = &rec->sample;
	const struct tpoint *p;
	uint32_t thread;
	int rc;

	if (rec->type == PS_HEADER)
		tpoints_forget(&w->points);
	if (rec->type == PS_EVENT)
		return tpoints_bind(&w->points, r, rec->event.id);
	if (rec->type == PS_LOST)
		return on_lost(w, &rec->lost);
	if (rec->type != PS_SAMPLE || s->flags & (PS_SAMPLE_JOINED | PS_SAMPLE_NO_TIME) ||
	    (s->flags & PS_MARK_MASK) != PS_MARK_PASS)
		return 0;
	p = tpoints_of(&w->points, s);
	if (!p && !ps_sample_has(s, end_time))
		return 0;
	w->now = s->time > w->now ? s->time : w->now;
	*taken = !p || !p->chains;
	rc = thread_of(w, r, s, &thread);
	if (rc)
		return rc;
	return p ? on_tpoint(w, p, r, rec, thread) : put_interval(w, r, rec, thread);
}
