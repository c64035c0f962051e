/* Reads ftrace text line by line, and passes on as text what is no event. */
#include "ftext/parts.h"

#include "base/err.h"
#include "base/src.h"

#include <inttypes.h>
#include <stdlib.h>

#define KIND_TEXT    3 /* SOURCE.kind */
#define LOST_OVERRUN 3 /* LOST.kind */
#define TEXT_PART    (64u << 10)

/* ---- what is written beside samples ---- */

static int meta(struct ftext *t, const char *key, const char *value)
{
	struct ps_meta m = {.key = ps_str(key, strlen(key)), .value = ps_str(value, strlen(value))};

	return *value ? swriter_put(t->w, PS_META, t->source, &m) : 0;
}

/* The first time tells whether times are of a clock that counts ns. */
static int announce(struct ftext *t, bool ticks)
{
	struct ps_source s = {.kind = KIND_TEXT, .name = ps_str(t->name, strlen(t->name))};

	if (t->announced)
		return 0;
	t->announced = true;
	swriter_put(t->w, PS_SOURCE, t->source, &s);
	meta(t, "osrelease", t->kernel);
	meta(t, "cpus", t->nr_cpus);
	return meta(t, "time_unit", ticks ? "ticks" : "ns");
}

/* The lines that are no events, in their place. */
static int flush_text(struct ftext *t)
{
	struct ps_blob b = {.kind = PS_BLOB_TEXT, .data = ps_str(buf_str(&t->text), t->text.len)};
	int rc = t->text.err;

	if (rc || !t->text.len)
		return rc;
	rc = swriter_put(t->w, PS_BLOB, t->source, &b);
	buf_reset(&t->text);
	return rc;
}

static int add_text(struct ftext *t, const char *line, size_t len)
{
	int rc = ftext_release(t);

	if (rc)
		return rc;
	buf_add(&t->text, line, len);
	buf_addc(&t->text, '\n');
	if (t->text.len < TEXT_PART)
		return t->text.err;
	rc = announce(t, false);
	return rc ? rc : flush_text(t);
}

static int lost(struct ftext *t, uint32_t cpu, uint64_t count)
{
	struct ps_lost l = {.cpu = cpu,
			    .pid = PS_NONE,
			    .tid = PS_NONE,
			    .count = count,
			    .flags = !count,
			    .kind = LOST_OVERRUN};

	t->account->lost += count ? count : 1;
	t->lost += count ? count : 1;
	t->lost_more |= !count;
	return swriter_put(t->w, PS_LOST, t->source, &l);
}

/* ---- lines that are no events ---- */

/* A decimal number; 0 if there is none. */
static uint64_t number(const char **p, const char *end)
{
	uint64_t v = 0;

	for (; *p < end && ftext_digit(**p) && v < UINT64_MAX / 20; (*p)++)
		v = v * 10 + (uint64_t)(**p - '0');
	return v;
}

static void copy_word(char *to, size_t size, const char *p, const char *end)
{
	size_t n = 0;

	while (p + n < end && p[n] > ' ' && p[n] <= '~' && n < size - 1)
		n++;
	memcpy(to, p, n);
	to[n] = 0;
}

static const char *digits_end(const char *p, const char *end)
{
	while (p < end && ftext_digit(*p))
		p++;
	return p;
}

/*
 * "# entries-in-buffer/entries-written: 140/280   #P:2": what is no longer in the buffer is lost.
 */
static int comment(struct ftext *t, const char *line, size_t len)
{
	const char *end = line + len, *p;
	uint64_t in, written;
	int rc;

	if (ftext_starts(line, len, "# tracer: ")) {
		t->tracer = true;
		rc = ftext_latency(t);
		if (rc)
			return rc;
	}
	ftext_latency_head(t, line, len);
	t->hist.on |= ftext_hist_head(line, len);
	if (memmem(line, len, "TASK-PID", 8) || memmem(line, len, "DURATION", 8) ||
	    memmem(line, len, "cmd     pid", 11))
		t->columns = true;
	p = memmem(line, len, "latency trace v", 15);
	p = p ? memmem(p, (size_t)(end - p), " on ", 4) : NULL;
	if (p && !t->announced)
		copy_word(t->kernel, sizeof(t->kernel), p + 4, end);
	p = memmem(line, len, "#P:", 3);
	if (p && !t->announced)
		copy_word(t->nr_cpus, sizeof(t->nr_cpus), p + 3, digits_end(p + 3, end));
	rc = add_text(t, line, len);
	p = memmem(line, len, "entries-written: ", 17);
	if (rc || !p)
		return rc;
	p += 17;
	in = number(&p, end);
	if (p == end || *p++ != '/')
		return 0;
	written = number(&p, end);
	if (written <= in)
		return 0;
	rc = announce(t, false);
	if (!rc)
		rc = flush_text(t);
	return rc ? rc : lost(t, PS_NONE, written - in);
}

/* "CPU:1 [LOST 12 EVENTS]", in trace-cmd "CPU:1 [12 EVENTS DROPPED]" or without the number. */
static bool lost_line(const char *line, size_t len, uint32_t *cpu, uint64_t *count)
{
	const char *end = line + len, *p = memmem(line, len, "CPU:", 4);

	if (!p || !memmem(p, (size_t)(end - p), "EVENTS", 6))
		return false;
	p += 4;
	*cpu = (uint32_t)number(&p, end);
	if (end - p < 3 || p[0] != ' ' || p[1] != '[')
		return false;
	p += 2;
	if (ftext_starts(p, (size_t)(end - p), "LOST "))
		p += 5;
	*count = number(&p, end);
	return ftext_starts(p, (size_t)(end - p), " EVENTS") ||
	       ftext_starts(p, (size_t)(end - p), "EVENTS");
}

/* " => vfs_open+0x12/0x30", in trace-cmd "=> vfs_open (ffffffff81000220)". */
static int stack_line(struct ftext *t, const char *line, size_t len)
{
	struct ps_str text = ftext_trim(line, len);
	const char *end = text.p + text.len, *p;
	int rc;

	buf_addc(&t->held.line, '\n');
	buf_add(&t->held.line, line, len);
	text = ftext_trim(text.p + 2, text.len - 2);
	for (p = text.p; p < end && *p != '+' && !(*p == ' ' && p + 1 < end && p[1] != '['); p++)
		;
	text.len = (uint32_t)(p - text.p);
	rc = text.len ? ftext_push(t, &text) : 0;
	return rc ? rc : t->held.line.err;
}

/* Lines beside the rows of a table. */
static bool beside_table(const char *line, size_t len)
{
	struct ps_str text = ftext_trim(line, len);

	return ftext_starts(text.p, text.len, "---") || (text.len && *text.p == '(');
}

static int other_line(struct ftext *t, const char *line, size_t len)
{
	uint32_t cpu;
	uint64_t count;
	int rc;

	if (!len || *line == '#')
		return comment(t, line, len);
	if (lost_line(line, len, &cpu, &count)) {
		rc = add_text(t, line, len);
		if (!rc)
			rc = announce(t, false);
		if (!rc)
			rc = flush_text(t);
		return rc ? rc : lost(t, cpu, count);
	}
	count = t->hist.on ? ftext_hist_dropped(line, len) : 0;
	if (t->hist.on) {
		rc = add_text(t, line, len);
		if (!rc && count)
			rc = flush_text(t);
		return rc || !count ? rc : lost(t, PS_NONE, count);
	}
	if (!ftext_graph_switch(t, line, len) && !ftext_starts(line, len, "cpus=") &&
	    !ftext_starts(line, len, " ---") && !ftext_starts(line, len, "#####") &&
	    !beside_table(line, len))
		t->other++;
	return add_text(t, line, len);
}

/* ---- events ---- */

/* The task of a line of the function graph tracer, when it has none itself. */
static void current_task(struct ftext *t, struct ftext_head *h)
{
	const struct ftext_cpu *c = ftext_cpu(t, h->cpu);

	if (h->pid != PS_NONE || !c || !*c->comm)
		return;
	h->pid = c->pid;
	h->comm = ps_str(c->comm, strlen(c->comm));
}

static int event(struct ftext *t, struct ftext_head *h, const char *line, size_t len)
{
	struct ftext_info *info = &t->info;
	int rc;

	if (!t->announced || t->text.len) {
		rc = ftext_release(t);
		if (!rc)
			rc = announce(t, h->ticks);
		if (!rc)
			rc = flush_text(t);
		if (rc)
			return rc;
	}
	info->flags = h->flags;
	if (!h->graph) {
		if (!ftext_info(&h->info, false, info) || ftext_is(&info->name, "text"))
			ftext_tracer(t, h->info, info);
		t->nframes = t->held.stack ? t->nframes : 0;
		if (info->name.len > 10 && !memcmp(info->name.p, "funcgraph_", 10))
			h->graph = true;
	}
	/* In trace-cmd the lines of this tracer have a head and a name like others. */
	if (h->graph) {
		rc = t->held.any ? ftext_release(t) : 0;
		if (!rc) {
			struct ps_str text = h->info;
			const char *colon = memchr(text.p, ':', text.len);

			if (ftext_starts(text.p, text.len, "funcgraph_") && colon)
				text = ps_str(colon + 1, (size_t)(text.p + text.len - colon) - 1);
			current_task(t, h);
			rc = ftext_graph(t, &text, h->cpu, info);
		}
		if (rc)
			return rc;
	}
	return ftext_hold(t, h, info, line, len);
}

/* A row of a histogram that has no end is text. */
static int give_up_row(struct ftext *t)
{
	if (!t->hist.open)
		return t->hist.row.err;
	t->hist.open = false;
	t->other++;
	return add_text(t, buf_str(&t->hist.row), t->hist.row.len);
}

/* A row of a histogram; PP_END: it is none. */
static int hist_line(struct ftext *t, const char *line, size_t len)
{
	int rc = ftext_release(t);

	if (!rc && (*line == '{' || t->hist.row.len + len > FTEXT_LINE_MAX))
		rc = give_up_row(t);
	if (!rc)
		rc = announce(t, false);
	if (!rc && *line == '{')
		rc = flush_text(t);
	return rc ? rc : ftext_hist(t, line, len);
}

/* A row of another table, or its head; PP_END: it is none. */
static int table_line(struct ftext *t, const char *line, size_t len)
{
	int kind = ftext_table_head(line, len), rc = 0;

	if (!kind && t->table.kind) {
		rc = announce(t, false);
		if (!rc)
			rc = flush_text(t);
		return rc ? rc : ftext_table(t, line, len);
	}
	if (!kind)
		return PP_END;
	rc = ftext_table_end(t);
	t->table.kind = kind;
	return rc ? rc : add_text(t, line, len);
}

static int take_line(struct ftext *t, const char *line, size_t len)
{
	struct ps_str text = {line, (uint32_t)len};
	struct ftext_head h;
	int rc;

	if (len && line[len - 1] == '\r')
		len--;
	if (t->hist.on && len && len <= FTEXT_LINE_MAX && *line != '#') {
		rc = hist_line(t, line, len);
		if (rc != PP_END)
			return rc;
	}
	if (len <= FTEXT_LINE_MAX && !t->hist.on && !t->tracer) {
		rc = table_line(t, line, len);
		if (rc != PP_END)
			return rc;
	}
	if (t->held.any && t->held.stack) {
		struct ps_str trimmed = ftext_trim(line, len);

		if (ftext_starts(trimmed.p, trimmed.len, "=>") &&
		    t->held.line.len + len < FTEXT_LINE_MAX)
			return stack_line(t, line, len);
	}
	if (!len || *line == '#' || len > FTEXT_LINE_MAX)
		return other_line(t, line, len);
	if (ftext_head(line, len, &h))
		return event(t, &h, line, len);
	if (t->tracer && !t->columns && ftext_word(*line)) {
		text.len = (uint32_t)len;
		h = (struct ftext_head){
			.cpu = PS_NONE, .pid = PS_NONE, .tgid = PS_NONE, .info = text};
		if (ftext_info(&text, true, &t->info))
			return event(t, &h, line, len);
	}
	return other_line(t, line, len);
}

/* ---- reading ---- */

/* Reads more. *got 0: the end. What is left of the lines before moves to the beginning. */
static int fill(struct ftext *t, size_t *got)
{
	struct buf *b = &t->bytes;
	int rc;

	memmove(b->data, b->data + t->at, b->len - t->at);
	b->len -= t->at;
	t->at = 0;
	if (buf_reserve(b, FTEXT_BLOCK))
		return PP_ENOMEM;
	rc = src_read(t->src, b->data + b->len, FTEXT_BLOCK, got);
	if (rc) {
		diag_error(t->d, t->name, (int64_t)src_tell(t->src), "cannot read: %s",
			   pp_strerror(rc));
		return rc;
	}
	b->len += *got;
	if (t->paused)
		return t->paused;
	diag_progress(t->d, t->name, src_tell(t->src), src_size(t->src));
	return 0;
}

/* The whole lines that are there. A line without an end in sight is text. */
static int take_lines(struct ftext *t)
{
	int rc = 0;

	while (!rc && t->at < t->bytes.len) {
		const char *line = (const char *)t->bytes.data + t->at;
		size_t left = t->bytes.len - t->at;
		const char *nl = memchr(line, '\n', left);

		if (!nl && left <= FTEXT_LINE_MAX)
			break;
		if (!nl) {
			rc = other_line(t, line, left);
			t->at = t->bytes.len;
			continue;
		}
		t->at += (size_t)(nl - line) + 1;
		rc = take_line(t, line, (size_t)(nl - line));
	}
	return rc;
}

/*
 * Nothing comes: what waits for a stack has none, and text is shown. With half a line there is more
 * to come.
 */
static void on_pause(void *ctx)
{
	struct ftext *t = ctx;

	if (t->paused || t->at < t->bytes.len)
		return;
	t->paused = ftext_release(t);
	if (!t->paused && t->announced)
		t->paused = flush_text(t);
}

static int read_all(struct ftext *t)
{
	size_t got = 1;
	int rc = 0;

	if (buf_reserve(&t->bytes, FTEXT_BLOCK))
		return PP_ENOMEM;
	while (!rc && got) {
		rc = fill(t, &got);
		if (rc == PP_ECUT)
			got = 0, t->damage = PP_ECUT, rc = 0;
		if (!rc)
			rc = take_lines(t);
	}
	if (!rc && t->at < t->bytes.len && !src_stopped(t->src)) {
		/* Half a number would be another number. */
		t->damage = PP_ECUT;
		t->account->missing++;
		diag_error(t->d, t->name, (int64_t)src_tell(t->src),
			   "the last line has no end: the text is cut off");
		rc = add_text(t, (const char *)t->bytes.data + t->at, t->bytes.len - t->at);
	}
	if (!rc)
		rc = ftext_table_end(t);
	if (!rc)
		rc = ftext_release(t);
	if (!rc)
		rc = give_up_row(t);
	if (!rc)
		rc = announce(t, false);
	if (!rc)
		rc = ftext_latency(t);
	return rc ? rc : flush_text(t);
}

static void release(struct ftext *t)
{
	buf_release(&t->bytes);
	buf_release(&t->text);
	buf_release(&t->hist.row);
	buf_release(&t->table.rows);
	buf_release(&t->more);
	buf_release(&t->held.payload);
	buf_release(&t->held.line);
	buf_release(&t->before.payload);
	buf_release(&t->before.line);
	intern_release(&t->names);
	intern_release(&t->comms);
	intern_release(&t->funcs);
	intern_release(&t->dsos);
	hashids_release(&t->stacks);
	arena_release(&t->arena);
	free(t->events);
	free(t->cpus);
	free(t);
}

int ftext_decode(struct src *s, uint32_t source, struct swriter *w, struct diag *d,
		 struct ps_end *account)
{
	struct ftext *t = calloc(1, sizeof(*t));
	int rc;

	if (!t)
		return PP_ENOMEM;
	t->src = s;
	t->w = w;
	t->d = d;
	t->name = src_name(s);
	t->source = source;
	t->account = account;
	t->stacks = (struct hashids){.max_ids = 1 << 18, .max_bytes = 32 << 20};
	src_before_pause(s, on_pause, t);
	rc = read_all(t);
	src_before_pause(s, NULL, NULL);
	if (!rc && t->other)
		diag_say(d, t->name, "%" PRIu64 " lines are not events", t->other);
	if (t->lost)
		diag_say(d, t->name, "the recorder lost %s%" PRIu64 " event%s",
			 t->lost_more ? "at least " : "", t->lost, t->lost == 1 ? "" : "s");
	if (!rc)
		rc = t->damage;
	release(t);
	return rc;
}

bool ftext_looks_like(const uint8_t *p, size_t n, bool *more)
{
	const char *line = (const char *)p, *end = line + n, *nl;
	struct ftext_head h;

	*more = true;
	if ((n >= 10 && ftext_starts(line, n, "# tracer: ")) || ftext_hist_head(line, n))
		return true;
	while ((nl = memchr(line, '\n', (size_t)(end - line)))) {
		size_t len = (size_t)(nl - line);

		if (memchr(line, 0, len))
			break;
		if (ftext_head(line, len, &h) || ftext_table_head(line, len))
			return true;
		line = nl + 1;
	}
	*more = !memchr(p, 0, n);
	return false;
}
