/* Payloads of a trace.dat as text, by libtraceevent and its plugins. */
#include "print/tep_trace.h"

#include "base/err.h"
#include "base/cursor.h"
#include "print/btf.h"
#include "print/tep.h"

#include <event-parse.h>
#include <event-utils.h>
#include <stdlib.h>
#include <trace-seq.h>

#define CPU_LARGEST 65535
#define FLAG_SECOND 2		 /* of common_flags */
#define ARGS_MAX    64		 /* of a function */
#define BTF_MAX	    (256u << 20) /* bytes */

struct tep_trace {
	struct tep_handle *tep;
	struct trace_seq seq;
	struct tep_tables tables;
	struct tep_room room; /* the payload that is being printed */
	struct tep_plugin_list *plugins;
	struct btf *btf;  /* types of the kernel; NULL: not recorded */
	struct buf types; /* parts of it */
	uint32_t long_size;
	int err; /* memory was lacking */
};

int tep_trace_new(struct tep_trace **out, uint32_t long_size, bool plugins)
{
	struct tep_trace *t = calloc(1, sizeof(*t));

	*out = t;
	if (!t)
		return PP_ENOMEM;
	t->tep = tep_open_quiet(long_size);
	if (!t->tep) {
		free(t);
		*out = NULL;
		return PP_ENOMEM;
	}
	t->long_size = long_size;
	tep_watch_memory();
	trace_seq_init(&t->seq);
	if (tep_lacked_memory()) {
		tep_trace_free(t);
		*out = NULL;
		return PP_ENOMEM;
	}
	if (plugins)
		t->plugins = tep_load_plugins(t->tep);
	return 0;
}

void tep_trace_free(struct tep_trace *t)
{
	if (!t)
		return;
	trace_seq_destroy(&t->seq);
	if (t->plugins)
		tep_unload_plugins(t->plugins, t->tep);
	tep_free(t->tep);
	btf_free(t->btf);
	buf_release(&t->types);
	tep_room_release(&t->room);
	buf_release(&t->tables.parts);
	free(t);
}

uint32_t tep_trace_least(const struct ps_event *e)
{
	struct ps_event_field f;
	uint32_t least = 0;
	size_t pos = 0;

	while (!ps_event_field_next(e, &pos, &f))
		if (!f.size && f.offset > least)
			least = f.offset;
	return least;
}

struct tep_event *tep_trace_event_of(struct tep_trace *t, const struct ps_event *e,
				     enum tep_risk *risk)
{
	struct tep_event *te;

	if (tep_learn_event(t->tep, e, &te, risk))
		t->err = PP_ENOMEM;
	return te;
}

int tep_trace_error(const struct tep_trace *t)
{
	return t->err;
}

/* The record of a sample in libtraceevent's form; data NULL: out of memory. */
static struct tep_record record(struct tep_trace *t, const struct ps_sample *s)
{
	/* A plugin has a table of all CPUs. */
	struct tep_record rec = {.ts = s->time,
				 .cpu = s->cpu <= CPU_LARGEST ? (int)s->cpu : -1,
				 .size = (int)s->payload.len,
				 .data = tep_room_put(&t->room, &s->payload)};

	if (!rec.data)
		t->err = PP_ENOMEM;
	tep_watch_memory();
	return rec;
}

/* The text that was printed. */
static const char *printed(struct tep_trace *t)
{
	trace_seq_terminate(&t->seq);
	if (tep_lacked_memory())
		t->err = PP_ENOMEM;
	return t->seq.buffer;
}

const char *tep_trace_info(struct tep_trace *t, struct tep_event *te, const struct ps_sample *s,
			   uint32_t least, enum tep_risk *risk, bool raw, size_t *len)
{
	const char *what = raw ? TEP_PRINT_INFO_RAW : TEP_PRINT_INFO, *text;
	struct tep_record rec = record(t, s);

	/* A field without a size is the rest of the record: it must not be less than nothing. */
	if (s->payload.len < least && least <= TEP_FIELD_END_MAX)
		rec.size = (int)least;

	*len = 0;
	trace_seq_reset(&t->seq);
	if (rec.data && !tep_prints(t->tep, &t->tables, te, risk, &rec, what)) {
		if (tep_lacked_memory())
			t->err = PP_ENOMEM;
		return NULL;
	}
	if (rec.data)
		tep_print_event(t->tep, &t->seq, &rec, "%s", what);
	text = printed(t);
	*len = strnlen(text, t->seq.len);
	return text;
}

/*
 * Versions of libtraceevent read the second bit in two ways: until Linux 6.13 it meant that the
 * machine cannot tell whether interrupts are off, since then that the thread is to be preempted
 * lazily.
 */
static void set_flags(char *text, int flags, bool lazy)
{
	bool second = flags & FLAG_SECOND;

	text[0] = flags & TRACE_FLAG_IRQS_OFF ? 'd' : second && !lazy ? 'X' : '.';
	text[1] = flags & TRACE_FLAG_NEED_RESCHED ? 'N' : second && lazy ? 'L' : '.';
}

const char *tep_trace_latency(struct tep_trace *t, const struct ps_sample *s, bool lazy)
{
	struct tep_record rec = record(t, s);

	trace_seq_reset(&t->seq);
	if (rec.data)
		tep_print_event(t->tep, &t->seq, &rec, "%s", TEP_PRINT_LATENCY);
	printed(t);
	if (t->seq.len > 1)
		set_flags(t->seq.buffer, tep_data_flags(t->tep, &rec), lazy);
	return t->seq.buffer;
}

int tep_trace_flags(struct tep_trace *t, const struct ps_sample *s)
{
	struct tep_record rec = record(t, s);

	return rec.data ? tep_data_flags(t->tep, &rec) : 0;
}

bool tep_trace_has_handler(const struct tep_event *te)
{
	return te && te->handler;
}

void tep_trace_learn(struct tep_trace *t, uint32_t pid, const char *comm, size_t len)
{
	/* Of two names that it was given before it has sorted them, it would take either. */
	char *copy;

	tep_watch_memory();
	copy = tep_is_pid_registered(t->tep, (int)pid) ? NULL : strndup(comm, len);
	if (copy)
		tep_register_comm(t->tep, copy, (int)pid);
	if (tep_lacked_memory())
		t->err = PP_ENOMEM;
	free(copy);
}

bool tep_trace_knows(struct tep_trace *t, uint32_t pid)
{
	return tep_is_pid_registered(t->tep, (int)pid);
}

const char *tep_trace_comm(struct tep_trace *t, uint32_t pid)
{
	return tep_data_comm_from_pid(t->tep, (int)pid);
}

const char *tep_trace_function(struct tep_trace *t, uint64_t addr)
{
	return tep_find_function(t->tep, addr);
}

void tep_trace_args(struct tep_trace *t, uint64_t func, const struct ps_str *payload, uint32_t at,
		    struct buf *b)
{
	struct cursor c = cursor_make(payload->p, payload->len, false);
	const char *name = tep_trace_function(t, func);
	uint64_t args[ARGS_MAX];
	uint32_t n = 0;

	if (!name)
		return;
	cursor_skip(&c, at);
	while (n < ARGS_MAX && cursor_left(&c) >= t->long_size)
		args[n++] = t->long_size == 4 ? get_u32(&c) : get_u64(&c);
	btf_add_args(t->btf, name, args, n, b);
}

/* The kernel's types, when all parts are there. Damaged ones are none. */
static int take_types(struct tep_trace *t, const struct ps_blob *b)
{
	int rc = 0;

	if (t->btf)
		return 0;
	if (t->types.len + b->data.len <= BTF_MAX)
		buf_add(&t->types, b->data.p, b->data.len);
	if (t->types.err)
		return t->types.err;
	if (b->flags & 1)
		rc = btf_new(&t->btf, &t->types);
	return rc == PP_ENOMEM ? rc : 0;
}

int tep_trace_table(struct tep_trace *t, const struct ps_blob *b)
{
	if (b->kind == PS_BLOB_BTF)
		return take_types(t, b);
	return tep_take_table(t->tep, &t->tables, b);
}
