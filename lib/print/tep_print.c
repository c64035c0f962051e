/*
 * Payloads of tracepoints of a perf.data as text: quickly where that is possible, else by
 * libtraceevent.
 */
#include "print/tep_print.h"

#include "base/err.h"
#include "base/intern.h"
#include "print/tep.h"
#include "print/text_fast.h"

#include <event-parse.h>
#include <pthread.h>
#include <stdlib.h>
#include <trace-seq.h>

#define COMPARED 64 /* payloads of an event that are printed in both ways, and compared */

/* What is known of an event of the stream. */
struct known {
	struct tep_event *te; /* NULL: it has no usable format */
	enum tep_risk risk;
	struct text_fast *fast; /* NULL: libtraceevent prints it; owned */
	unsigned compared;
};

/* libtraceevent has variables of its own: handles are not enough for several threads. */
static pthread_mutex_t one_thread = PTHREAD_MUTEX_INITIALIZER;

struct tep_print {
	struct tep_handle *tep;
	struct trace_seq seq;
	struct map64 by_event; /* id of the stream to index in known, + 1 */
	struct known *known;
	uint32_t n, cap;
	uint32_t long_size;   /* of the recorded machine */
	struct tep_room room; /* the payload that is being printed */
	struct tep_tables tables;
	struct buf one; /* text of a payload */
	int err;	/* memory was lacking */
};

int tep_print_new(struct tep_print **out, uint32_t long_size)
{
	struct tep_print *t = calloc(1, sizeof(*t));

	*out = t;
	if (!t)
		return PP_ENOMEM;
	pthread_mutex_lock(&one_thread);
	t->tep = tep_open_quiet(long_size);
	pthread_mutex_unlock(&one_thread);
	if (!t->tep) {
		free(t);
		*out = NULL;
		return PP_ENOMEM;
	}
	t->long_size = long_size;
	tep_watch_memory();
	trace_seq_init(&t->seq);
	if (!tep_lacked_memory())
		return 0;
	tep_print_free(t);
	*out = NULL;
	return PP_ENOMEM;
}

void tep_print_free(struct tep_print *t)
{
	if (!t)
		return;
	trace_seq_destroy(&t->seq);
	tep_free(t->tep);
	for (uint32_t i = 0; i < t->n; i++)
		text_fast_free(t->known[i].fast);
	free(t->known);
	map64_release(&t->by_event);
	buf_release(&t->one);
	tep_room_release(&t->room);
	buf_release(&t->tables.parts);
	free(t);
}

/* NULL: out of memory. */
static struct known *known_event(struct tep_print *t, const struct ps_event *e)
{
	uint32_t *index = map64_put(&t->by_event, e->id, NULL);
	struct known *k;
	int rc;

	if (!index)
		return NULL;
	if (*index)
		return &t->known[*index - 1];
	if (t->n == t->cap) {
		uint32_t cap = t->cap ? t->cap * 2 : 16;

		k = realloc(t->known, cap * sizeof(*k));
		if (!k)
			return NULL;
		t->known = k;
		t->cap = cap;
	}
	*index = ++t->n;
	k = &t->known[t->n - 1];
	*k = (struct known){0};
	pthread_mutex_lock(&one_thread);
	rc = tep_learn_event(t->tep, e, &k->te, &k->risk);
	pthread_mutex_unlock(&one_thread);
	if (rc)
		return NULL;
	if (k->te && k->risk == TEP_SAFE)
		k->fast = text_fast_new(e, t->long_size, false);
	return k;
}

static void add_hex(struct buf *b, const char *bytes, size_t n)
{
	for (size_t i = 0; i < n; i++)
		buf_addf(b, "%s%02x", i ? " " : "", (uint8_t)bytes[i]);
}

/* Whether a list of fields lies in the payload, and what they point to. */
static bool inside(const struct tep_format_field *f, const struct ps_str *payload)
{
	for (; f; f = f->next) {
		int64_t end = (int64_t)f->offset + f->size, at;
		uint32_t word;

		if (f->offset < 0 || f->size < 0 || end > payload->len)
			return false;
		if (!(f->flags & TEP_FIELD_IS_DYNAMIC) || f->size < (int)sizeof(word))
			continue;
		memcpy(&word, payload->p + f->offset, sizeof(word));
		at = (word & 0xffff) + (f->flags & TEP_FIELD_IS_RELATIVE ? end : 0);
		if (at + (word >> 16) > payload->len)
			return false;
	}
	return true;
}

/* libtraceevent does not look whether the payload is as long as the format text says. */
static bool whole(const struct tep_event *te, const struct ps_sample *s)
{
	return inside(te->format.common_fields, &s->payload) &&
	       inside(te->format.fields, &s->payload);
}

static const char *slow_text_alone(struct tep_print *t, struct known *k, const struct ps_sample *s)
{
	struct tep_record rec = {.ts = s->time, .cpu = (int)s->cpu, .size = (int)s->payload.len};

	if (!k->te || !whole(k->te, s))
		return NULL;
	tep_watch_memory();
	rec.data = tep_room_put(&t->room, &s->payload);
	if (!rec.data) {
		t->err = PP_ENOMEM;
		return NULL;
	}
	if (!tep_prints(t->tep, &t->tables, k->te, &k->risk, &rec, TEP_PRINT_INFO)) {
		if (tep_lacked_memory())
			t->err = PP_ENOMEM;
		return NULL;
	}
	trace_seq_reset(&t->seq);
	tep_print_event(t->tep, &t->seq, &rec, "%s", TEP_PRINT_INFO);
	trace_seq_terminate(&t->seq);
	if (tep_lacked_memory())
		t->err = PP_ENOMEM;
	return t->seq.buffer;
}

/* The text by libtraceevent; NULL if there is none. */
static const char *slow_text(struct tep_print *t, struct known *k, const struct ps_sample *s)
{
	const char *text;

	pthread_mutex_lock(&one_thread);
	text = slow_text_alone(t, k, s);
	pthread_mutex_unlock(&one_thread);
	return text;
}

static void learn_nothing(void *ctx, uint32_t pid, const char *comm, size_t len)
{
	(void)ctx;
	(void)pid;
	(void)comm;
	(void)len;
}

/* The text without libtraceevent, to t->one. False if that does not do. */
static bool fast_text(struct tep_print *t, struct known *k, const struct ps_sample *s)
{
	const char *slow;

	buf_reset(&t->one);
	if (!text_fast_add(k->fast, &s->payload, &t->one, learn_nothing, NULL))
		return false;
	if (k->compared == COMPARED)
		return true;
	k->compared++;
	slow = slow_text(t, k, s);
	if (slow && !strcmp(slow, buf_str(&t->one)))
		return true;
	/* Another libtraceevent than the one that we know. */
	text_fast_free(k->fast);
	k->fast = NULL;
	return false;
}

int tep_print_payload(struct tep_print *t, const struct ps_event *e, const struct ps_sample *s,
		      struct buf *b)
{
	struct known *k = known_event(t, e);
	const char *text;

	if (!k)
		return PP_ENOMEM;
	if (k->fast && fast_text(t, k, s)) {
		buf_add_safe(b, buf_str(&t->one), t->one.len);
		return t->one.err ? t->one.err : t->err;
	}
	text = slow_text(t, k, s);
	if (text)
		buf_add_safe(b, text, t->seq.len);
	else
		add_hex(b, s->payload.p, s->payload.len);
	return t->err;
}

int tep_print_table(struct tep_print *t, const struct ps_blob *b)
{
	int rc;

	pthread_mutex_lock(&one_thread);
	rc = tep_take_table(t->tep, &t->tables, b);
	pthread_mutex_unlock(&one_thread);
	return rc;
}
