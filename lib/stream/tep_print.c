#include "stream/tep_print.h"

#include "base/err.h"
#include "base/intern.h"

#include <event-parse.h>
#include <event-utils.h>
#include <stdarg.h>
#include <stdlib.h>
#include <trace-seq.h>

#define TABLE_MAX (64u << 20) /* bytes of a table of symbols or of printk formats */

struct tep_print {
	struct tep_handle *tep;
	struct trace_seq seq;
	struct map64 parsed; /* event id of the stream: 1 usable, 2 not */
	struct buf table;    /* parts of a table that is not complete yet */
};

/* libtraceevent prints its complaints to stderr unless it is given another place. */
int tep_vprint(const char *name, enum tep_loglevel level, bool print_err, const char *fmt,
	       va_list ap);
int tep_vprint(const char *name, enum tep_loglevel level, bool print_err, const char *fmt,
	       va_list ap)
{
	(void)name;
	(void)level;
	(void)print_err;
	(void)fmt;
	(void)ap;
	return 0;
}

int tep_print_new(struct tep_print **out)
{
	struct tep_print *t = calloc(1, sizeof(*t));

	*out = t;
	if (!t)
		return PP_ENOMEM;
	t->tep = tep_alloc();
	if (!t->tep) {
		free(t);
		*out = NULL;
		return PP_ENOMEM;
	}
	tep_set_loglevel(TEP_LOG_NONE);
	tep_set_file_bigendian(t->tep, tep_is_bigendian() ? TEP_BIG_ENDIAN : TEP_LITTLE_ENDIAN);
	tep_set_long_size(t->tep, (int)sizeof(long));
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
	buf_release(&t->table);
	free(t);
}

/* The event in libtraceevent's form; NULL if it has no usable format. */
static struct tep_event *event(struct tep_print *t, const struct ps_event *e)
{
	bool fresh;
	uint32_t *state = map64_put(&t->parsed, e->id, &fresh);

	if (!state)
		return NULL;
	if (fresh) {
		const char *colon = memchr(e->name.p, ':', e->name.len);
		char *system =
			strndup(e->name.p, colon ? (size_t)(colon - e->name.p) : e->name.len);

		*state = 2;
		if (system && e->format.len &&
		    !tep_parse_event(t->tep, e->format.p, e->format.len, system))
			*state = 1;
		free(system);
	}
	return *state == 1 ? tep_find_event(t->tep, (int)e->config) : NULL;
}

static void add_hex(struct buf *b, const char *bytes, size_t n)
{
	for (size_t i = 0; i < n; i++)
		buf_addf(b, "%s%02x", i ? " " : "", (uint8_t)bytes[i]);
}

void tep_print_payload(struct tep_print *t, const struct ps_event *e, const struct ps_sample *s,
		       struct buf *b)
{
	struct tep_event *te = event(t, e);
	struct tep_record rec = {.ts = s->time, .cpu = (int)s->cpu};

	if (!te) {
		add_hex(b, s->payload.p, s->payload.len);
		return;
	}
	rec.size = (int)s->payload.len;
	rec.data = (void *)(uintptr_t)s->payload.p;
	trace_seq_reset(&t->seq);
	tep_print_event(t->tep, &t->seq, &rec, "%s", TEP_PRINT_INFO);
	trace_seq_terminate(&t->seq);
	buf_add_safe(b, t->seq.buffer, t->seq.len);
}

int tep_print_table(struct tep_print *t, const struct ps_blob *b)
{
	int rc;

	if (b->kind != 1 && b->kind != 2)
		return 0;
	if (t->table.len + b->data.len <= TABLE_MAX)
		buf_add(&t->table, b->data.p, b->data.len);
	rc = t->table.err;
	if (!rc && (b->flags & 1) && t->table.len) {
		/* What it cannot read, libtraceevent leaves out. */
		if (b->kind == 1)
			tep_parse_kallsyms(t->tep, buf_str(&t->table));
		else
			tep_parse_printk_formats(t->tep, buf_str(&t->table));
	}
	if (b->flags & 1)
		buf_release(&t->table);
	return rc;
}
