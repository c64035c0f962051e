#include "stream/tep_print.h"

#include "base/err.h"
#include "base/intern.h"
#include "stream/tep.h"

#include <event-parse.h>
#include <stdlib.h>
#include <trace-seq.h>

struct tep_print {
	struct tep_handle *tep;
	struct trace_seq seq;
	struct map64 parsed;  /* event id of the stream to its state */
	struct tep_room room; /* the payload that is being printed */
	struct buf table;     /* parts of a table that is not complete yet */
};

int tep_print_new(struct tep_print **out)
{
	struct tep_print *t = calloc(1, sizeof(*t));

	*out = t;
	if (!t)
		return PP_ENOMEM;
	t->tep = tep_open_quiet();
	if (!t->tep) {
		free(t);
		*out = NULL;
		return PP_ENOMEM;
	}
	trace_seq_init(&t->seq);
	return 0;
}

void tep_print_free(struct tep_print *t)
{
	if (!t)
		return;
	trace_seq_destroy(&t->seq);
	tep_free(t->tep);
	map64_release(&t->parsed);
	tep_room_release(&t->room);
	buf_release(&t->table);
	free(t);
}

/* What is known of an event of the stream. */
enum state { STATE_USABLE = 1, STATE_RISKY, STATE_UNUSABLE };

/* The event in libtraceevent's form; NULL if it has no usable format. */
static struct tep_event *event(struct tep_print *t, const struct ps_event *e, uint32_t **state)
{
	struct tep_event *te;
	bool fresh, risk;

	*state = map64_put(&t->parsed, e->id, &fresh);
	if (!*state)
		return NULL;
	if (fresh) {
		te = tep_learn_event(t->tep, e, &risk);
		**state = !te ? STATE_UNUSABLE : risk ? STATE_RISKY : STATE_USABLE;
	}
	return **state == STATE_UNUSABLE ? NULL : tep_find_event(t->tep, (int)e->config);
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

void tep_print_payload(struct tep_print *t, const struct ps_event *e, const struct ps_sample *s,
		       struct buf *b)
{
	uint32_t *state;
	struct tep_event *te = event(t, e, &state);
	struct tep_record rec = {.ts = s->time, .cpu = (int)s->cpu};

	rec.size = (int)s->payload.len;
	if (te && whole(te, s)) {
		rec.data = tep_room_put(&t->room, &s->payload);
		if (!rec.data)
			return;
		/* One that does harm is enough. */
		if (*state == STATE_RISKY && !tep_trial(t->tep, &rec))
			*state = STATE_UNUSABLE;
	}
	if (!rec.data || *state == STATE_UNUSABLE) {
		add_hex(b, s->payload.p, s->payload.len);
		return;
	}
	trace_seq_reset(&t->seq);
	tep_print_event(t->tep, &t->seq, &rec, "%s", TEP_PRINT_INFO);
	trace_seq_terminate(&t->seq);
	buf_add_safe(b, t->seq.buffer, t->seq.len);
}

int tep_print_table(struct tep_print *t, const struct ps_blob *b)
{
	return tep_take_table(t->tep, &t->table, b);
}
