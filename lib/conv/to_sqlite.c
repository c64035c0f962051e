/*
 * Writes SQL text for sqlite3: tables and a row for each thing, defined before it is referred to.
 *
 *	pconv --to sqlite FILE | sqlite3 profile.db
 *
 * It is text, not a database: it goes through a pipe as it is made, in constant memory but for what
 * is known already, and needs no library. man/pconv.1 has the schema.
 */
#include "conv/parts.h"

#include "base/array.h"
#include "base/err.h"

#include <stdlib.h>

struct writer {
	struct conv *c;
	struct buf samples, other, text;
	uint32_t nevents, nthreads, ndsos; /* those that were written */
	uint8_t *frames, *stacks;	   /* by number: written */
	uint32_t nframes, nstacks, rows;
	uint64_t nsamples;
};

static const char schema[] =
	"PRAGMA synchronous=OFF;\nBEGIN;\n"
	"CREATE TABLE info(key TEXT, value TEXT);\n"
	"CREATE TABLE events(id INTEGER PRIMARY KEY, name TEXT, unit TEXT);\n"
	"CREATE TABLE threads(id INTEGER PRIMARY KEY, pid INTEGER, tid INTEGER, comm TEXT);\n"
	"CREATE TABLE dsos(id INTEGER PRIMARY KEY, path TEXT, build_id TEXT);\n"
	"CREATE TABLE frames(id INTEGER PRIMARY KEY, name TEXT, dso INTEGER, address INTEGER, "
	"file TEXT, line INTEGER, inlined INTEGER, kernel INTEGER);\n"
	"CREATE TABLE stacks(id INTEGER PRIMARY KEY, parent INTEGER, frame INTEGER);\n"
	"CREATE TABLE samples(time INTEGER, cpu INTEGER, event INTEGER, thread INTEGER, "
	"stack INTEGER, count INTEGER, weight INTEGER);\n"
	"CREATE TABLE ends(sample INTEGER PRIMARY KEY, end_time INTEGER, key TEXT, "
	"waker INTEGER);\n";

static const char views[] =
	"CREATE INDEX samples_thread ON samples(thread, time);\n"
	"CREATE INDEX samples_stack ON samples(stack);\n"
	"CREATE INDEX stacks_parent ON stacks(parent);\n"
	"CREATE INDEX stacks_frame ON stacks(frame);\n"
	"CREATE VIEW intervals AS SELECT v.name AS kind, s.time, e.end_time, "
	"e.end_time - s.time AS duration, s.cpu, s.thread, e.key, e.waker, s.stack FROM ends e "
	"JOIN samples s ON s.rowid = e.sample JOIN events v ON v.id = s.event;\n"
	"CREATE VIEW self AS SELECT e.name AS event, f.name AS name, sum(s.count) AS count, "
	"sum(s.weight) AS weight FROM samples s JOIN events e ON e.id = s.event "
	"JOIN stacks k ON k.id = s.stack JOIN frames f ON f.id = k.frame GROUP BY 1, 2;\n"
	"CREATE VIEW total AS WITH RECURSIVE up(leaf, node) AS ("
	"SELECT DISTINCT stack, stack FROM samples UNION "
	"SELECT leaf, parent FROM up JOIN stacks ON id = node WHERE parent > 0), "
	"has AS (SELECT DISTINCT up.leaf, f.name FROM up JOIN stacks k ON k.id = up.node "
	"JOIN frames f ON f.id = k.frame) "
	"SELECT e.name AS event, has.name AS name, sum(s.count) AS count, sum(s.weight) AS weight "
	"FROM samples s JOIN events e ON e.id = s.event JOIN has ON has.leaf = s.stack "
	"GROUP BY 1, 2;\n"
	"COMMIT;\n";

static int open_sqlite(struct conv *c, void **ctx)
{
	struct writer *w = calloc(1, sizeof(*w));

	*ctx = w;
	if (!w)
		return PP_ENOMEM;
	w->c = c;
	return out_add(c->out, schema, sizeof(schema) - 1);
}

/* A text between single quotes: NUL would end it for sqlite3. */
static void add_text(struct buf *b, struct ps_str s)
{
	buf_addc(b, '\'');
	for (uint32_t i = 0; i < s.len; i++) {
		if (s.p[i] == '\'')
			buf_addc(b, '\'');
		buf_addc(b, s.p[i] ? s.p[i] : '?');
	}
	buf_addc(b, '\'');
}

/* A number of 64 bits, the last of which is a sign to sqlite3; unknown ones are null. */
static void add_number(struct buf *b, uint64_t v, bool known)
{
	buf_adds(b, ",");
	if (!known)
		buf_adds(b, "NULL");
	else if (v <= INT64_MAX)
		buf_add_u64(b, v, 0, ' ');
	else
		buf_addf(b, "%lld", (long long)v);
}

/* Whether a number was written; it is from now on. */
static int once(uint8_t **v, uint32_t *n, uint32_t id, bool *was)
{
	uint8_t *w = array_widen(*v, n, id, 4096, sizeof(*w));

	if (!w)
		return PP_ENOMEM;
	*v = w;
	*was = w[id];
	w[id] = 1;
	return 0;
}

static void put_dsos(struct writer *w)
{
	struct prof *p = w->c->p;

	while (w->ndsos < p->dsos.n) {
		const struct prof_dso *d = prof_dso_of(p, ++w->ndsos);

		buf_addf(&w->other, "INSERT INTO dsos VALUES(%u,", w->ndsos);
		add_text(&w->other, prof_str(p, d->path));
		buf_addc(&w->other, ',');
		add_text(&w->other, prof_str(p, d->build_id));
		buf_adds(&w->other, ");\n");
	}
}

static int put_frame(struct writer *w, uint32_t frame)
{
	const struct prof_frame *f = prof_frame_of(w->c->p, frame);
	struct prof_frame plain = *f;
	bool was;
	int rc = once(&w->frames, &w->nframes, frame, &was);

	if (rc || was)
		return rc;
	plain.flags = 0;
	buf_reset(&w->text);
	prof_show(w->c->p, &plain, &w->text);
	buf_inherit(&w->other, &w->text);
	buf_addf(&w->other, "INSERT INTO frames VALUES(%u,", frame);
	add_text(&w->other, ps_str(buf_str(&w->text), w->text.len));
	add_number(&w->other, f->dso, f->dso);
	add_number(&w->other, f->addr, f->addr);
	buf_addc(&w->other, ',');
	add_text(&w->other, prof_str(w->c->p, f->file));
	add_number(&w->other, f->line, f->line);
	buf_addf(&w->other, ",%d,%d);\n", (f->flags & PROF_FRAME_INLINED) != 0,
		 (f->flags & PROF_FRAME_KERNEL) != 0);
	return 0;
}

/* A stack and those that it stands on, so far as they are new. */
static int put_stacks(struct writer *w, uint32_t stack)
{
	uint32_t frame, up;
	bool was = false;
	int rc = 0;

	for (; stack && !rc; stack = up) {
		rc = once(&w->stacks, &w->nstacks, stack, &was);
		if (rc || was)
			break;
		up = prof_up(w->c->p, stack, &frame);
		rc = put_frame(w, frame);
		buf_addf(&w->other, "INSERT INTO stacks VALUES(%u,%u,%u);\n", stack, up, frame);
	}
	return rc;
}

static void put_names(struct writer *w)
{
	struct prof *p = w->c->p;

	while (w->nevents < p->events.n) {
		const struct prof_event *e = prof_event_of(p, ++w->nevents);

		buf_addf(&w->other, "INSERT INTO events VALUES(%u,", w->nevents);
		add_text(&w->other, prof_str(p, e->name));
		buf_addc(&w->other, ',');
		add_text(&w->other, prof_str(p, e->unit));
		buf_adds(&w->other, ");\n");
	}
	while (w->nthreads < p->threads.n) {
		const struct prof_thread *t = prof_thread_of(p, ++w->nthreads);

		buf_addf(&w->other, "INSERT INTO threads VALUES(%u", w->nthreads);
		add_number(&w->other, t->pid, t->pid != PS_NONE);
		add_number(&w->other, t->tid, t->tid != PS_NONE);
		buf_addc(&w->other, ',');
		add_text(&w->other, prof_str(p, t->comm));
		buf_adds(&w->other, ");\n");
	}
}

/* What samples refer to goes before them. */
static int flush(struct writer *w)
{
	int rc;

	put_dsos(w);
	put_names(w);
	rc = conv_flush(w->c, &w->other, 0);
	if (!w->rows)
		return rc;
	buf_adds(&w->samples, ";\n");
	w->rows = 0;
	return rc ? rc : conv_flush(w->c, &w->samples, 0);
}

#define ROWS 400 /* of one INSERT */

static int sample(void *ctx, const struct prof_sample *s)
{
	struct writer *w = ctx;
	struct buf *b = &w->samples;
	int rc = put_stacks(w, s->stack);

	buf_adds(b, w->rows++ ? ",\n(" : "INSERT INTO samples VALUES\n(");
	if (s->timed)
		buf_add_u64(b, s->time, 0, ' ');
	else
		buf_adds(b, "NULL");
	add_number(b, s->cpu, s->cpu != PS_NONE);
	add_number(b, s->event, true);
	add_number(b, s->thread, true);
	add_number(b, s->stack, true);
	add_number(b, s->count, s->count);
	add_number(b, s->weight, true);
	buf_addc(b, ')');
	w->nsamples++;
	return rc || w->rows < ROWS ? rc : flush(w);
}

/* What an interval of plat has beside the sample that comes next. */
static int record(void *ctx, const struct sreader *r, const struct ps_record *rec, bool *taken)
{
	struct writer *w = ctx;
	const struct ps_sample *s = &rec->sample;

	(void)r;
	(void)taken;
	if (rec->type != PS_SAMPLE || !ps_sample_has(s, end_time) || s->flags & PS_SAMPLE_JOINED ||
	    (s->flags & PS_MARK_MASK) != PS_MARK_PASS)
		return 0;
	buf_addf(&w->other, "INSERT INTO ends VALUES(%llu", (unsigned long long)w->nsamples + 1);
	add_number(&w->other, s->end_time, true);
	buf_addc(&w->other, ',');
	if (ps_sample_has(s, key_text))
		add_text(&w->other, s->key_text);
	else if (ps_sample_has(s, key))
		buf_addf(&w->other, "%llu", (unsigned long long)s->key);
	else
		buf_adds(&w->other, "NULL");
	add_number(&w->other, s->other_tid, ps_sample_has(s, other_tid));
	buf_adds(&w->other, ");\n");
	return w->other.err;
}

static int close_sqlite(void *ctx)
{
	struct writer *w = ctx;
	int rc = flush(w);

	buf_reset(&w->text);
	conv_add_comment(w->c, &w->text);
	buf_adds(&w->other, "INSERT INTO info VALUES('about',");
	add_text(&w->other, ps_str(buf_str(&w->text), w->text.len));
	buf_addf(&w->other, "),('lost',%llu);\n", (unsigned long long)w->c->account.lost);
	buf_adds(&w->other, views);
	return rc ? rc : conv_flush(w->c, &w->other, 0);
}

static void free_sqlite(void *ctx)
{
	struct writer *w = ctx;

	if (!w)
		return;
	free(w->frames);
	free(w->stacks);
	buf_release(&w->samples);
	buf_release(&w->other);
	buf_release(&w->text);
	free(w);
}

const struct conv_writer conv_to_sqlite = {
	.open = open_sqlite,
	.sample = sample,
	.record = record,
	.close = close_sqlite,
	.free = free_sqlite,
	.prof = PROF_ADDRS,
};
