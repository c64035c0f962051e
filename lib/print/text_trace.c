/*
 * Samples as trace-cmd report prints them; the lines of the function graph tracer wait for their
 * ends.
 */
#include "print/text_trace.h"

#include "base/cursor.h"
#include "base/err.h"
#include "base/intern.h"
#include "stream/payload.h"
#include "print/tep_trace.h"
#include "print/text_fast.h"

#include <stdlib.h>

#define HELD_MAX   (16u << 20) /* bytes of text that wait for the return of a function */
#define PREFIX_MAX 4096	       /* a name of megabytes must not widen every line */
#define RECENT	   256
#define COMPARED   32 /* samples of an event that libtraceevent prints, too */

enum kind { EVENT_OTHER, EVENT_MADE, EVENT_ENTRY, EVENT_EXIT, EVENT_FUNCTION };

struct number {
	uint32_t at, size; /* size 0: the event has no such field */
};

/* What is known of a descriptor. */
struct event {
	enum kind kind;
	struct tep_event *te; /* NULL: it has no usable format */
	enum tep_risk risk;
	struct buf label;   /* the column of the name */
	const char *prefix; /* of the buffer; owned by t->buffers; "": the main one */
	struct call *call;  /* of the buffer */
	struct number func, depth, calltime, rettime, retval, caller;
	uint32_t args;		/* where an array of arguments begins; 0: there is none */
	struct text_fast *fast; /* NULL: libtraceevent prints it; owned */
	uint32_t least;		/* bytes of a whole payload */
	uint32_t compared;	/* samples that both have printed */
};

/* A function that was entered: the next event of its buffer tells whether it calls others. */
struct call {
	bool open;
	struct text_trace *trace;
	struct graph_call graph;
	uint32_t pid, cpu;
	struct buf args;   /* arguments of the function */
	size_t at;	   /* where its text goes */
	struct call *next; /* that is open */
};

struct text_trace {
	struct text_page *page;
	struct stext_opts opts;
	struct tep_trace *tep;
	uint32_t long_size;	 /* bytes of a recorded long */
	char *file;		 /* name of the recording, without directories; owned */
	char cpus[16];		 /* how many there are, for the head */
	struct text_trace *next; /* whose head is to be printed */
	bool ticks;		 /* times are not ns */
	bool clock;		 /* the recording names its clock */
	bool foreign;		 /* it was recorded in the other byte order */
	struct map64 by_id;	 /* descriptor to index in events, + 1 */
	struct event *events;
	uint32_t nevents, cap;
	struct intern buffers;
	struct call **calls; /* of each buffer; each owned */
	uint32_t ncalls;
	struct buf one;
	struct text_tasks tasks;
	uint32_t recent[RECENT]; /* threads that are in `learned`, + 1 */
	struct map64 learned;	 /* threads whose names are known to libtraceevent */
	bool lost;		 /* a LOST record came: the next sample is after it */
	struct ps_lost lost_rec;
};

/* The name of a file without its directories; to be freed, NULL: out of memory. */
static char *base_name(const struct ps_str *name)
{
	const char *slash = name->p ? memrchr(name->p, '/', name->len) : NULL;
	const char *from = slash ? slash + 1 : name->p;

	return from ? strndup(from, (size_t)(name->p + name->len - from)) : strdup("");
}

/* Room for a name before each line. */
static void widen(size_t *width, size_t len)
{
	if (len > *width && len < PREFIX_MAX)
		*width = len;
}

int text_trace_new(struct text_trace **out, struct text_page *page, const struct ps_source *source,
		   const struct stext_opts *opts)
{
	struct text_trace *t = calloc(1, sizeof(*t));
	int rc;

	*out = t;
	if (!t)
		return PP_ENOMEM;
	t->page = page;
	t->opts = *opts;
	t->clock = source->clock.len;
	t->foreign = source->big_endian != (__BYTE_ORDER__ == __ORDER_BIG_ENDIAN__);
	t->file = base_name(&source->name);
	t->long_size = source->long_bits == 32 ? 4 : 8;
	rc = t->file ? tep_trace_new(&t->tep, t->long_size, !opts->trace.no_plugins) : PP_ENOMEM;
	if (rc) {
		text_trace_free(t);
		*out = NULL;
		return rc;
	}
	page->traces++;
	widen(&page->file_width, strlen(t->file));
	t->next = NULL;
	*(page->last ? &page->last->next : &page->heads) = t;
	page->last = t;
	return 0;
}

void text_trace_free(struct text_trace *t)
{
	if (!t)
		return;
	for (uint32_t i = 0; i < t->nevents; i++) {
		text_fast_free(t->events[i].fast);
		buf_release(&t->events[i].label);
	}
	for (uint32_t i = 0; i < t->ncalls; i++) {
		buf_release(&t->calls[i]->args);
		free(t->calls[i]);
	}
	tep_trace_free(t->tep);
	map64_release(&t->by_id);
	map64_release(&t->learned);
	intern_release(&t->buffers);
	buf_release(&t->one);
	free(t->file);
	free(t->events);
	free(t->calls);
	free(t);
}

/* ---- events ---- */

static struct number number_field(const struct ps_event *e, const char *name)
{
	struct ps_event_field f;

	if (!ps_event_field_find(e, name, strlen(name), &f))
		return (struct number){0};
	return (struct number){f.offset, f.size};
}

static int set_buffer(struct text_trace *t, struct event *ev, const struct ps_event *e)
{
	const char *slash;
	uint32_t id;
	int rc = intern_add(&t->buffers, e->buffer.p, e->buffer.len, &id, NULL);

	if (rc)
		return rc;
	if (id > t->ncalls) {
		struct call **v = realloc(t->calls, id * sizeof(struct call *));

		if (!v)
			return PP_ENOMEM;
		t->calls = v;
		v[t->ncalls] = calloc(1, sizeof(**v));
		if (!v[t->ncalls])
			return PP_ENOMEM;
		v[t->ncalls++]->trace = t;
	}
	ev->call = t->calls[id - 1];
	ev->prefix = intern_get(&t->buffers, id, NULL);
	slash = strrchr(ev->prefix, '/');
	if (slash)
		ev->prefix = slash + 1;
	return 0;
}

/* Events of ftrace that are not printed by libtraceevent. */
static enum kind kind_of(const struct text_trace *t, const char *name, const struct tep_event *te)
{
	if (t->opts.trace.raw || t->opts.trace.no_plugins)
		return EVENT_OTHER;
	if (!strcmp(name, "funcgraph_entry") ||
	    (t->opts.trace.v34 && !strcmp(name, "fgraph_retaddr_entry")))
		return EVENT_ENTRY;
	if (!strcmp(name, "funcgraph_exit"))
		return EVENT_EXIT;
	return !strcmp(name, "function") && !tep_trace_has_handler(te) ? EVENT_FUNCTION
								       : EVENT_OTHER;
}

/* The fields that we print ourselves; an event that lacks one of them is one like others. */
static void find_numbers(struct event *ev, const struct ps_event *e)
{
	bool function = ev->kind == EVENT_FUNCTION, ok;

	ev->func = number_field(e, function ? "ip" : "func");
	ev->caller = number_field(e, function ? "parent_ip" : "retaddr");
	ev->depth = number_field(e, "depth");
	ev->calltime = number_field(e, "calltime");
	ev->rettime = number_field(e, "rettime");
	ev->retval = number_field(e, "retval");
	ev->args = number_field(e, "args").at;
	ok = ev->func.size && (function ? ev->caller.size : ev->depth.size);
	if (ev->kind == EVENT_EXIT)
		ok = ok && ev->calltime.size && ev->rettime.size;
	if (!ok)
		ev->kind = EVENT_OTHER;
}

static int add_event(struct text_trace *t, const struct ps_event *e)
{
	const char *colon = memchr(e->name.p, ':', e->name.len);
	const char *name = colon ? colon + 1 : e->name.p;
	uint32_t *slot = map64_put(&t->by_id, e->id, NULL);
	struct event ev = {0};
	struct tep_event *te = tep_trace_event_of(t->tep, e, &ev.risk);
	int rc = set_buffer(t, &ev, e);
	char *plain; /* the name without the system */

	ev.te = te;
	if (rc || !slot || tep_trace_error(t->tep))
		return PP_ENOMEM;
	if (t->nevents == t->cap) {
		uint32_t cap = t->cap ? t->cap * 2 : 64;
		struct event *v = realloc(t->events, cap * sizeof(*v));

		if (!v)
			return PP_ENOMEM;
		t->events = v;
		t->cap = cap;
	}
	plain = strndup(name, (size_t)(e->name.p + e->name.len - name));
	if (!plain)
		return PP_ENOMEM;
	if (colon && colon - e->name.p == 6 && !memcmp(e->name.p, "ftrace", 6))
		ev.kind = kind_of(t, plain, te);
	text_line_name(&ev.label, plain);
	free(plain);
	if (ev.label.err)
		return ev.label.err;
	ev.least = tep_trace_least(e);
	find_numbers(&ev, e);
	if (e->perf_type == PS_TYPE_MADE)
		ev.kind = EVENT_MADE;
	if (te && ev.kind == EVENT_OTHER && !t->opts.trace.raw)
		ev.fast = text_fast_new(e, t->long_size, tep_trace_has_handler(te));
	t->events[t->nevents++] = ev;
	*slot = t->nevents;
	return 0;
}

static uint64_t number(const struct ps_sample *s, struct number n)
{
	struct cursor c = cursor_make(s->payload.p, s->payload.len, false);

	cursor_skip(&c, n.at);
	switch (n.size) {
	case 1: return get_u8(&c);
	case 2: return get_u16(&c);
	case 4: return get_u32(&c);
	case 8: return get_u64(&c);
	default: return 0;
	}
}

/* ---- lines ---- */

static void add_prefix(const struct text_trace *t, struct buf *b, const char *buffer)
{
	text_line_prefix(b, t->page, t->file, buffer);
}

/* The first line of each recording, when it is known which recordings and buffers there are. */
static void add_heads(struct text_page *page)
{
	for (struct text_trace *t = page->heads; t; t = t->next) {
		if (!*t->cpus)
			continue;
		if (page->traces > 1)
			add_prefix(t, &page->text, "");
		buf_addf(&page->text, "cpus=%s\n", t->cpus);
	}
	page->heads = page->last = NULL;
}

/* The beginning of a sample's lines. */
static void add_head(struct text_trace *t, struct buf *b, const struct event *e,
		     const struct sreader *r, const struct ps_sample *s)
{
	add_prefix(t, b, e->prefix);
	if (t->lost && (t->lost_rec.flags & 1))
		buf_addf(b, "CPU:%u [EVENTS DROPPED]\n", t->lost_rec.cpu);
	else if (t->lost)
		buf_addf(b, "CPU:%u [%llu EVENTS DROPPED]\n", t->lost_rec.cpu,
			 (unsigned long long)t->lost_rec.count);
	text_line_start(b, t->page, &t->opts,
			&(struct text_line){
				.name = e->te || e->kind == EVENT_MADE ? buf_str(&e->label) : NULL,
				.name_len = e->label.len,
				.tasks = &t->tasks,
				.r = r,
				.s = s,
				.ticks = t->ticks,
				.clock = t->clock,
				.tep = t->tep});
}

static void learn(void *ctx, uint32_t pid, const char *comm, size_t len)
{
	struct text_trace *t = ctx;
	uint32_t *recent = &t->recent[pid % RECENT];
	bool fresh;

	if (*recent == pid + 1)
		return;
	if (map64_put(&t->learned, pid, &fresh) && fresh)
		tep_trace_learn(t->tep, pid, comm, len);
	*recent = pid + 1;
}

/* Prints without libtraceevent. False if that does not do. */
static bool add_fast(struct text_trace *t, struct buf *b, struct event *e,
		     const struct ps_sample *s)
{
	const char *text;
	size_t len;

	buf_reset(&t->one);
	if (!text_fast_add(e->fast, &s->payload, &t->one, learn, t))
		return false;
	if (e->compared < COMPARED) {
		e->compared++;
		text = tep_trace_info(t->tep, e->te, s, e->least, &e->risk, t->opts.trace.raw,
				      &len);
		if (!text || len != t->one.len || (len && memcmp(text, t->one.data, len) != 0)) {
			/* Another libtraceevent than the one that we know. */
			text_fast_free(e->fast);
			e->fast = NULL;
			return false;
		}
	}
	len = t->one.len;
	if (len && t->one.data[len - 1] == '\n')
		len--;
	text_line_text(b, buf_str(&t->one), len);
	return true;
}

static void add_info(struct text_trace *t, struct buf *b, struct event *e,
		     const struct ps_sample *s)
{
	static const char unknown[] = "[UNKNOWN EVENT]";
	const char *text = NULL;
	size_t len;

	if (e->fast && add_fast(t, b, e, s))
		return;
	if (e->te)
		text = tep_trace_info(t->tep, e->te, s, e->least, &e->risk, t->opts.trace.raw,
				      &len);
	if (!text) {
		text = unknown;
		len = sizeof(unknown) - 1;
	}
	if (len && text[len - 1] == '\n')
		len--;
	text_line_text(b, text, len);
}

/* The bytes of an array are printed raw, in the order in which they were recorded. */
static void add_raw(struct text_trace *t, struct buf *b, struct event *e, const struct sreader *r,
		    const struct ps_sample *s)
{
	const struct ps_event *desc = sreader_event(r, s->event);
	struct ps_sample recorded = *s;

	buf_reset(&t->one);
	buf_add(&t->one, s->payload.p, s->payload.len);
	if (desc && !t->one.err) {
		ps_payload_swap_arrays(&desc->fields, t->one.data, t->one.len);
		recorded.payload.p = (const char *)t->one.data;
	}
	add_info(t, b, e, &recorded);
}

/* Of a sample that no recorder has written. */
static void add_made(struct buf *b, const struct ps_sample *s)
{
	buf_addf(b, "period=%llu", (unsigned long long)s->period);
	if (ps_sample_has(s, key_text)) {
		buf_adds(b, " key=");
		buf_add_safe(b, s->key_text.p, s->key_text.len);
	} else if (ps_sample_has(s, key)) {
		buf_addf(b, " key=%lld", (long long)s->key);
	}
}

static void add_function_name(struct text_trace *t, struct buf *b, uint64_t addr)
{
	const char *name = tep_trace_function(t->tep, addr);

	if (name)
		buf_add_safe(b, name, strlen(name));
	else
		buf_addf(b, "0x%llx", (unsigned long long)addr);
}

/* As trace-cmd does without a plugin: there is an arrow only after a name. */
static void add_function(struct text_trace *t, struct buf *b, const struct event *e,
			 const struct ps_sample *s)
{
	uint64_t func = number(s, e->func);

	add_function_name(t, b, func);
	if (tep_trace_function(t->tep, func))
		buf_adds(b, " <-- ");
	add_function_name(t, b, number(s, e->caller));
}

/* ---- the function graph ---- */

static struct graph_call graph(const struct event *e, const struct ps_sample *s)
{
	return (struct graph_call){.func = number(s, e->func),
				   .depth = number(s, e->depth),
				   .calltime = number(s, e->calltime),
				   .rettime = number(s, e->rettime),
				   .retval = number(s, e->retval),
				   .has_retval = e->retval.size,
				   .caller = number(s, e->caller)};
}

/* The text of an entered function, put where it belongs; ret NULL: it calls others. */
static int settle(struct call *c, const struct graph_call *ret)
{
	struct text_trace *t = c->trace;
	struct buf *text = &t->page->text;
	size_t tail = text->len - c->at, n;
	struct call **at = &t->page->open;
	struct graph_names names = {0};

	buf_reset(&t->one);
	names.func = tep_trace_function(t->tep, c->graph.func);
	if (c->graph.caller)
		names.caller = tep_trace_function(t->tep, c->graph.caller);
	names.args = &c->args;
	text_graph_entry(&t->one, &t->opts.trace, &c->graph, &names, ret);
	n = t->one.len;
	if (t->one.err || buf_reserve(text, n))
		return PP_ENOMEM;
	memmove(text->data + c->at + n, text->data + c->at, tail);
	memcpy(text->data + c->at, t->one.data, n);
	text->len += n;
	text->data[text->len] = 0;
	for (struct call *o = *at; o; o = o->next)
		if (o->at > c->at)
			o->at += n;
	while (*at && *at != c)
		at = &(*at)->next;
	if (*at)
		*at = c->next;
	c->open = false;
	return 0;
}

static int write_text(struct text_page *page)
{
	int rc = page->text.err;

	if (!rc && page->text.len)
		rc = out_add(page->out, page->text.data, page->text.len);
	buf_reset(&page->text);
	return rc;
}

int text_page_finish(struct text_page *page)
{
	int rc = 0;

	add_heads(page);
	while (page->open && !rc)
		rc = settle(page->open, NULL);
	return rc ? rc : write_text(page);
}

int text_page_add(struct text_page *page, const struct buf *text)
{
	if (page->heads)
		add_heads(page);
	if (!page->open && !page->text.len)
		return out_add(page->out, text->data, text->len);
	buf_add(&page->text, text->data, text->len);
	if (!page->open)
		return write_text(page);
	return page->text.len > HELD_MAX ? text_page_finish(page) : page->text.err;
}

void text_page_reset(struct text_page *page)
{
	buf_release(&page->text);
	*page = (struct text_page){.out = page->out};
}

static void open_call(struct call *c, const struct event *e, const struct ps_sample *s)
{
	struct text_page *page = c->trace->page;

	c->open = true;
	c->graph = graph(e, s);
	c->pid = s->tid;
	c->cpu = s->cpu;
	buf_reset(&c->args);
	if (e->args && c->trace->opts.trace.v34)
		tep_trace_args(c->trace->tep, c->graph.func, &s->payload, e->args, &c->args);
	c->at = page->text.len;
	c->next = page->open;
	page->open = c;
}

/* ---- records ---- */

static int sample(struct text_trace *t, struct event *e, const struct sreader *r,
		  const struct ps_sample *s)
{
	struct text_page *page = t->page;
	bool shown = stext_shows(&t->opts, s);
	struct call *c = e->call;
	int rc = 0;

	if (page->heads)
		add_heads(page);
	if (c->open) {
		struct graph_call ret = graph(e, s);
		bool leaf = e->kind == EVENT_EXIT && s->tid == c->pid && ret.func == c->graph.func;

		/* One that came back on another CPU is shown by trace-cmd 3.4. */
		leaf = leaf && (!t->opts.trace.v34 || s->cpu == c->cpu);

		rc = settle(c, leaf ? &ret : NULL);
		shown = shown && !leaf;
	}
	if (shown && !rc) {
		add_head(t, &page->text, e, r, s);
		if (e->kind == EVENT_ENTRY && e->te) {
			open_call(c, e, s);
		} else if (e->kind == EVENT_EXIT && e->te) {
			struct graph_call ret = graph(e, s);

			text_graph_exit(&page->text, &t->opts.trace, &ret,
					tep_trace_function(t->tep, ret.func));
		} else if (e->kind == EVENT_FUNCTION && e->te) {
			add_function(t, &page->text, e, s);
		} else if (e->kind == EVENT_MADE) {
			add_made(&page->text, s);
		} else if (t->opts.trace.raw && t->foreign) {
			add_raw(t, &page->text, e, r, s);
		} else {
			add_info(t, &page->text, e, s);
		}
		buf_addc(&page->text, '\n');
	}
	t->lost = false;
	if (!rc)
		rc = tep_trace_error(t->tep);
	if (rc)
		return rc;
	if (!page->open)
		return write_text(page);
	return page->text.len > HELD_MAX ? text_page_finish(page) : 0;
}

static void meta(struct text_trace *t, const struct ps_meta *m)
{
	const char *slash;
	size_t len = m->value.len;

	if (!m->key.p || !m->value.p)
		return;
	slash = memrchr(m->value.p, '/', len);
	if (slash)
		len = (size_t)(m->value.p + len - slash - 1);
#define IS(text) (m->key.len == strlen(text) && !memcmp(m->key.p, text, m->key.len))
	if (IS("cpus") && len < sizeof(t->cpus) && !memchr(m->value.p, '\n', len)) {
		memcpy(t->cpus, m->value.p, len);
		t->cpus[len] = 0;
	} else if (IS("time_unit")) {
		t->ticks = m->value.len == 5 && !memcmp(m->value.p, "ticks", 5);
	} else if (IS("buffer")) {
		t->page->buffers = true;
		widen(&t->page->buffer_width, len);
	}
#undef IS
}

static int blob(struct text_trace *t, const struct ps_blob *b)
{
	if (b->kind != PS_BLOB_TEXT)
		return tep_trace_table(t->tep, b);
	add_heads(t->page);
	text_line_text(&t->page->text, b->data.p, b->data.len);
	if (b->flags & 1)
		buf_addc(&t->page->text, '\n');
	return write_text(t->page);
}

int text_trace_record(struct text_trace *t, const struct sreader *r, const struct ps_record *rec)
{
	uint32_t *slot;
	int rc;

	switch (rec->type) {
	case PS_META: meta(t, &rec->meta); return 0;
	case PS_BLOB: return blob(t, &rec->blob);
	case PS_LOST:
		t->lost = true;
		t->lost_rec = rec->lost;
		return 0;
	case PS_EVENT: return add_event(t, &rec->event);
	case PS_SAMPLE:
		slot = map64_get(&t->by_id, rec->sample.event);
		if (!slot) {
			/* Its descriptor came before the printer. */
			const struct ps_event *e = sreader_event(r, rec->sample.event);

			rc = e ? add_event(t, e) : 0;
			slot = map64_get(&t->by_id, rec->sample.event);
			if (rc || !slot)
				return rc;
		}
		return sample(t, &t->events[*slot - 1], r, &rec->sample);
	default: return 0;
	}
}
