/* A line for each switch: what runs on each CPU, by short names. */
#include "base/array.h"
#include "base/err.h"
#include "history/parts.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

/* Short name i: A0 to Z0, A1, ... Z9, then Aa, ... Zz, then a0 and so on. */
static void code_text(uint32_t i, char code[HISTORY_CODE])
{
	static const char second[] = "0123456789abcdefghijklmnopqrstuvwxyz";

	code[0] = (char)((i < 26 * 36 ? 'A' : 'a') + i % 26);
	code[1] = second[i / 26 % 36];
	code[2] = 0;
}

/* A short name for a thread. When all are taken, one that does not run loses its own. */
static int code_new(struct history *h, uint32_t thread)
{
	struct history_thread *t = &h->threads[thread], *other;
	uint32_t *v;

	if (!h->by_code)
		h->by_code = calloc(HISTORY_CODES, sizeof(*h->by_code));
	if (!h->by_code)
		return PP_ENOMEM;
	for (uint32_t tries = 0; tries < HISTORY_CODES; tries++) {
		v = &h->by_code[h->codes++ % HISTORY_CODES];
		other = *v ? &h->threads[*v - 1] : NULL;
		if (other && other->running)
			continue;
		if (other)
			other->code[0] = 0;
		*v = thread + 1;
		code_text((uint32_t)(v - h->by_code), t->code);
		return 0;
	}
	memcpy(t->code, "??", HISTORY_CODE);
	return 0;
}

/* The thread that the switch is to. Its index, or an error. */
static int64_t switch_to(struct history *h, struct history_cpu *c)
{
	const struct history_seen *v = &h->seen;
	int64_t i = history_thread(h, v->buffer, v->b);
	struct history_thread *t;

	if (i < 0)
		return i;
	t = &h->threads[i];
	if (c->current)
		h->threads[c->current - 1].running = false;
	c->current = (uint32_t)i + 1;
	c->last = v->time;
	t->running = true;
	if (v->b)
		return history_rename(h, t, &v->b_comm) ? PP_ENOMEM : i;
	return intern_add(&h->texts, "swapper", 7, &t->comm, NULL) ? PP_ENOMEM : i;
}

/* The column of a CPU of a compact map; *fresh: it had none. */
static int column_of(struct history *h, struct history_cpu *c, bool *fresh)
{
	uint32_t *v;

	*fresh = !c->column;
	if (c->column || !h->o.compact)
		return 0;
	v = array_widen(h->columns, &h->cap_columns, h->ncolumns, 16, sizeof(*v));
	if (!v)
		return PP_ENOMEM;
	h->columns = v;
	v[h->ncolumns++] = h->seen.cpu;
	c->column = h->ncolumns;
	return 0;
}

static void put_columns(struct history *h)
{
	uint32_t n = h->o.compact ? h->ncolumns : h->ncpus;

	buf_adds(&h->b, "  ");
	for (uint32_t i = 0; i < n; i++) {
		uint32_t cpu = h->o.compact ? h->columns[i] : i;
		uint32_t current = h->cpus[cpu].current;
		const char *code = current ? h->threads[current - 1].code : "";

		buf_addc(&h->b, cpu == h->seen.cpu ? '*' : ' ');
		buf_adds(&h->b, code);
		buf_fill(&h->b, ' ', HISTORY_CODE - strlen(code));
	}
}

int history_map(struct history *h)
{
	const struct history_seen *v = &h->seen;
	struct history_thread *t;
	struct history_cpu *c;
	bool announce, fresh;
	const char *name;
	size_t len;
	int64_t i;

	if (v->what != HISTORY_SWITCH)
		return 0;
	c = history_cpu(h, v->cpu);
	if (!c)
		return v->cpu < HISTORY_CPUS_MAX ? PP_ENOMEM : 0;
	i = switch_to(h, c);
	if (i < 0)
		return (int)i;
	t = &h->threads[i];
	h->switches++;
	if (v->mark == PS_MARK_FAIL)
		return 0;
	if (!t->code[0] && !t->tid)
		memcpy(t->code, ". ", HISTORY_CODE);
	announce = !t->code[0] || t->announced != t->comm;
	if ((!t->code[0] && code_new(h, (uint32_t)i)) || column_of(h, c, &fresh))
		return PP_ENOMEM;
	h->shown++;
	put_columns(h);
	buf_adds(&h->b, "  ");
	history_time(&h->b, v->time, 12);
	buf_adds(&h->b, " secs ");
	if (announce) {
		name = intern_get(&h->texts, t->comm, &len);
		buf_addf(&h->b, "%s => ", t->code);
		if (name)
			buf_add_safe(&h->b, name, len);
		buf_addf(&h->b, ":%" PRIu32, t->tid);
		t->announced = t->comm;
	}
	if (h->o.compact && fresh)
		buf_addf(&h->b, " (CPU %" PRIu32 ")", v->cpu);
	buf_addc(&h->b, '\n');
	return history_write(h);
}
