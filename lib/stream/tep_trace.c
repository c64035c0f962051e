#include "stream/tep_trace.h"

#include "base/err.h"
#include "stream/tep_print.h"

#include <event-parse.h>
#include <event-utils.h>
#include <stdlib.h>
#include <trace-seq.h>

#define TABLE_MAX (256u << 20) /* bytes of a table of symbols, printk formats or command lines */
/*
 * libtraceevent trusts the offsets in formats and payloads. Payloads are given to it with so many
 * zeroes behind them: a dynamic field has an offset and a length of 16 bits each, relative to a
 * field, whose place is bounded by FIELD_END_MAX.
 */
#define FIELD_END_MAX (64u << 10)
#define PADDING	      (4u * FIELD_END_MAX)

struct tep_trace {
	struct tep_handle *tep;
	struct trace_seq seq;
	struct buf table; /* parts of a table that is not complete yet */
	uint8_t *room;	  /* a payload and the zeroes behind it */
	size_t room_len, room_cap;
	struct tep_plugin_list *plugins;
};

int tep_trace_new(struct tep_trace **out)
{
	struct tep_trace *t = calloc(1, sizeof(*t));

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

void tep_trace_free(struct tep_trace *t)
{
	if (!t)
		return;
	trace_seq_destroy(&t->seq);
	if (t->plugins)
		tep_unload_plugins(t->plugins, t->tep);
	tep_free(t->tep);
	free(t->room);
	buf_release(&t->table);
	free(t);
}

void tep_trace_load_plugins(struct tep_trace *t, uint32_t long_size)
{
	tep_set_long_size(t->tep, (int)long_size);
	t->plugins = tep_load_plugins(t->tep);
}

/* The line at *p, which goes on behind it; NULL at the end. */
static const char *next_line(const char **p, const char *end, size_t *len)
{
	const char *line = *p, *nl;

	if (line >= end)
		return NULL;
	nl = memchr(line, '\n', (size_t)(end - line));
	*len = (size_t)((nl ? nl : end) - line);
	*p = nl ? nl + 1 : end;
	return line;
}

/* The length of what `s` begins with: the text, or, for "", one digit or more; 0 if it does not. */
static size_t begins(const char *s, size_t len, const char *text)
{
	size_t n = strlen(text);

	if (n)
		return len >= n && !memcmp(s, text, n) ? n : 0;
	while (n < len && s[n] >= '0' && s[n] <= '9')
		n++;
	return n;
}

/* "TYPE NAME[N]": words, stars and pairs of brackets, the last of which is a name or an array. */
static bool declaration_ok(const char *s, size_t len)
{
	int open = 0;
	bool word = false;

	for (size_t i = 0; i < len; i++) {
		char c = s[i];
		bool letter = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';

		word = word || letter;
		if (c == '[' || c == '(')
			open++;
		else if (c == ']' || c == ')')
			open--;
		else if (!letter && !(c >= '0' && c <= '9') && !strchr(" *,:.+-", c))
			return false;
		if (open < 0 || !c)
			return false;
	}
	return word && !open && len > 2 && !strchr(" *,:.+-()[", s[len - 1]) && memchr(s, ' ', len);
}

/* "\tfield:DECLARATION;\toffset:N;\tsize:N;\tsigned:N;", the last part may be missing. */
static bool field_line_ok(const char *s, size_t len)
{
	static const char *const parts[] = {";\toffset:", "", ";\tsize:", "",
					    ";\tsigned:", "", ";"};
	const char *semi = memchr(s, ';', len);
	size_t at, n;

	n = begins(s, len, "\tfield:");
	if (!n)
		n = begins(s, len, "\tfield special:");
	if (!n || !semi || !declaration_ok(s + n, (size_t)(semi - s) - n))
		return false;
	at = (size_t)(semi - s);
	for (size_t i = 0; i < sizeof(parts) / sizeof(parts[0]); i++, at += n) {
		n = begins(s + at, len - at, parts[i]);
		if (!n && i == 4)
			return len - at == 1 && s[at] == ';';
		if (!n)
			return false;
	}
	return at == len;
}

/*
 * Whether a format has the form that the kernel gives it. libtraceevent follows a null pointer where
 * a damaged one has not what it expects.
 */
static bool format_ok(const char *p, size_t size)
{
	static const char *const starts[] = {"name: ", "ID: ", "format:"};
	const char *end = p + size, *line;
	size_t len, n;

	if (memchr(p, 0, size))
		return false;
	for (int i = 0; i < 3; i++) {
		line = next_line(&p, end, &len);
		n = line ? begins(line, len, starts[i]) : 0;
		if (!n || (i < 2 && len == n) ||
		    (i == 1 && begins(line + n, len - n, "") != len - n))
			return false;
		if (!i && strspn(line + n, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
					   "0123456789_") != len - n)
			return false;
	}
	while ((line = next_line(&p, end, &len)) && !begins(line, len, "print fmt: "))
		if (len && !field_line_ok(line, len))
			return false;
	return line != NULL;
}

/* Whether libtraceevent can be given the format, and all fields lie where a payload can be. */
static bool plausible(const struct ps_event *e)
{
	struct ps_event_field f;
	size_t pos = 0;

	if (!format_ok(e->format.p, e->format.len))
		return false;

	while (!ps_event_field_next(e, &pos, &f))
		if (f.offset > FIELD_END_MAX || f.size > FIELD_END_MAX - f.offset)
			return false;
	return true;
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

struct tep_event *tep_trace_event_of(struct tep_trace *t, const struct ps_event *e)
{
	struct tep_event *te = tep_find_event(t->tep, (int)e->config);
	const char *colon;
	char *system;

	if (te || !e->format.len || !plausible(e))
		return te;
	colon = memchr(e->name.p, ':', e->name.len);
	system = strndup(e->name.p, colon ? (size_t)(colon - e->name.p) : e->name.len);
	/* An event whose print format is not understood is there nevertheless. */
	if (system)
		tep_parse_event(t->tep, e->format.p, e->format.len, system);
	free(system);
	return tep_find_event(t->tep, (int)e->config);
}

const uint8_t *tep_trace_room(struct tep_trace *t, const struct ps_str *payload)
{
	size_t n = payload->len;

	if (t->room_cap < n + PADDING) {
		free(t->room);
		t->room_len = 0;
		t->room_cap = 2 * n + PADDING;
		t->room = calloc(1, t->room_cap);
		if (!t->room) {
			t->room_cap = 0;
			return NULL;
		}
	}
	if (n)
		memcpy(t->room, payload->p, n);
	if (n < t->room_len)
		memset(t->room + n, 0, t->room_len - n);
	t->room_len = n;
	return t->room;
}

const char *tep_trace_info(struct tep_trace *t, const struct ps_sample *s, uint32_t least,
			   size_t *len)
{
	struct tep_record rec = {.ts = s->time, .cpu = (int)s->cpu, .size = (int)s->payload.len};

	/* A field without a size is the rest of the record: it must not be less than nothing. */
	if (s->payload.len < least && least <= FIELD_END_MAX)
		rec.size = (int)least;

	rec.data = (void *)(uintptr_t)tep_trace_room(t, &s->payload);
	trace_seq_reset(&t->seq);
	if (rec.data)
		tep_print_event(t->tep, &t->seq, &rec, "%s", TEP_PRINT_INFO);
	trace_seq_terminate(&t->seq);
	*len = strnlen(t->seq.buffer, t->seq.len);
	return t->seq.buffer;
}

bool tep_trace_has_handler(struct tep_trace *t, const struct ps_event *e)
{
	struct tep_event *te = tep_trace_event_of(t, e);

	return te && te->handler;
}

void tep_trace_learn(struct tep_trace *t, uint32_t pid, const char *comm, size_t len)
{
	char *copy = strndup(comm, len);

	if (copy)
		tep_register_comm(t->tep, copy, (int)pid);
	free(copy);
}

const char *tep_trace_comm(struct tep_trace *t, uint32_t pid)
{
	return tep_data_comm_from_pid(t->tep, (int)pid);
}

const char *tep_trace_function(struct tep_trace *t, uint64_t addr)
{
	return tep_find_function(t->tep, addr);
}

/* Lines "0xADDRESS : "TEXT"": libtraceevent's own reader trusts that there is a text. */
static void printk_formats(struct tep_trace *t)
{
	const char *p = buf_str(&t->table), *end = p + t->table.len, *line;
	size_t len;

	while ((line = next_line(&p, end, &len))) {
		const char *colon = memchr(line, ':', len);
		uint64_t addr = strtoull(line, NULL, 16);
		char *text;

		if (!colon || colon + 2 > line + len || !addr)
			continue;
		text = strndup(colon + 2, (size_t)(line + len - colon) - 2);
		if (text)
			tep_register_print_string(t->tep, text, addr);
		free(text);
	}
}

int tep_trace_table(struct tep_trace *t, const struct ps_blob *b)
{
	int rc;

	if (b->kind < 1 || b->kind > 3)
		return 0;
	if (t->table.len + b->data.len <= TABLE_MAX)
		buf_add(&t->table, b->data.p, b->data.len);
	rc = t->table.err;
	if (!rc && (b->flags & 1) && t->table.len) {
		/* What it cannot read, libtraceevent leaves out. */
		if (b->kind == 1)
			tep_parse_kallsyms(t->tep, buf_str(&t->table));
		else if (b->kind == 3)
			tep_parse_saved_cmdlines(t->tep, buf_str(&t->table));
		else
			printk_formats(t);
	}
	if (b->flags & 1)
		buf_release(&t->table);
	return rc;
}
