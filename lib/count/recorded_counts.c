/* From the records of a stream to tables of counts, one for each recording. */
#include "count/recorded_counts.h"

#include "base/array.h"
#include "base/err.h"
#include "base/intern.h"
#include "count/form.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define CPU_MAX	    65535
#define FACT_LINE   256	  /* bytes of a line of facts that are looked at */
#define CELLS_FREE  65536 /* of a table that a round may print */
#define CELLS_TIMES 64	  /* more, for each count that came */

/* A recording. */
struct source {
	struct counts c;
	struct map64 events;		/* id in the stream to index + 1 */
	struct map64 cpu_at, thread_at; /* number to index + 1 */
	struct buf title, cpus, threads, topology, numa;
	unsigned major, minor;	 /* version of perf */
	uint64_t mode, interval; /* of stat_config; interval in ms */
	bool level, no_scale;
	struct count_form form;
};

struct count_reader {
	enum count_view view;
	count_reader_fn *fn; /* takes the rounds; NULL: they are printed */
	void *ctx;
	struct source **sources; /* by number; NULL: nothing is known of it */
	uint32_t n;
	uint64_t counts, rounds, strays;
	uint64_t cells; /* that were printed */
	bool heading;	/* of the raw view: it has been printed */
};

int count_reader_new(struct count_reader **out, enum count_view view)
{
	struct count_reader *cr = calloc(1, sizeof(*cr));

	*out = cr;
	if (!cr)
		return PP_ENOMEM;
	cr->view = view;
	return 0;
}

void count_reader_on_round(struct count_reader *cr, count_reader_fn *fn, void *ctx)
{
	cr->fn = fn;
	cr->ctx = ctx;
}

static void source_free(struct source *s)
{
	if (!s)
		return;
	counts_release(&s->c);
	map64_release(&s->events);
	map64_release(&s->cpu_at);
	map64_release(&s->thread_at);
	buf_release(&s->title);
	buf_release(&s->cpus);
	buf_release(&s->threads);
	buf_release(&s->topology);
	buf_release(&s->numa);
	free(s);
}

static void forget(struct count_reader *cr)
{
	for (uint32_t i = 0; i < cr->n; i++) {
		source_free(cr->sources[i]);
		cr->sources[i] = NULL;
	}
}

void count_reader_free(struct count_reader *cr)
{
	if (!cr)
		return;
	forget(cr);
	free(cr->sources);
	free(cr);
}

bool count_reader_any(const struct count_reader *cr)
{
	return cr->counts > 0;
}

uint64_t count_reader_rounds(const struct count_reader *cr)
{
	return cr->rounds;
}

uint64_t count_reader_strays(const struct count_reader *cr)
{
	return cr->strays;
}

static struct source *source_of(struct count_reader *cr, uint32_t source)
{
	struct source **v = array_widen(cr->sources, &cr->n, source, 4, sizeof(*v));

	if (!v)
		return NULL;
	cr->sources = v;
	if (!v[source])
		v[source] = calloc(1, sizeof(**v));
	return v[source];
}

/* ---- facts ---- */

/*
 * What counts are added up by. The numbers have changed: with Linux 6.5 came the cache and a fourth
 * tag of the configuration (aggr_level), with 6.9 the cluster.
 */
static enum count_by sums_of(const struct source *s)
{
	enum { CPU, ALL, SOCKET, DIE, CLUSTER, CACHE, CORE, THREAD, UNSET, NODE };
	static const enum count_by by[] = {
		[CPU] = COUNT_BY_CPU,	[ALL] = COUNT_BY_ALL,	    [SOCKET] = COUNT_BY_SOCKET,
		[DIE] = COUNT_BY_DIE,	[CLUSTER] = COUNT_BY_ALL,   [CACHE] = COUNT_BY_ALL,
		[CORE] = COUNT_BY_CORE, [THREAD] = COUNT_BY_THREAD, [UNSET] = COUNT_BY_ALL,
		[NODE] = COUNT_BY_NODE,
	};
	uint64_t mode = s->mode;

	if (mode > DIE) {
		if (!s->level)
			mode += 2;
		else if (s->major && (s->major < 6 || (s->major == 6 && s->minor < 9)))
			mode += 1;
	}
	return mode < sizeof(by) / sizeof(by[0]) ? by[mode] : COUNT_BY_ALL;
}

/* The next line, or as much of it as there is room for; false: there is none. */
static bool next_line(const char **at, char *line)
{
	size_t n;

	if (!*at || !**at)
		return false;
	n = strcspn(*at, "\n");
	snprintf(line, FACT_LINE, "%.*s", (int)(n < FACT_LINE ? n : FACT_LINE - 1), *at);
	*at += n + ((*at)[n] == '\n');
	return true;
}

static void take_config(struct source *s, const char *lines)
{
	char line[FACT_LINE];
	uint64_t v;

	s->mode = 1;
	while (next_line(&lines, line)) {
		if (sscanf(line, "aggr_mode %" SCNu64, &v) == 1)
			s->mode = v;
		else if (sscanf(line, "interval %" SCNu64, &v) == 1)
			s->interval = v;
		else if (sscanf(line, "scale %" SCNu64, &v) == 1)
			s->no_scale = !v;
		else if (sscanf(line, "aggr_level %" SCNu64, &v) == 1)
			s->level = true;
	}
}

static int take_meta(struct source *s, const struct ps_meta *m)
{
	const struct {
		const char *key;
		struct buf *into;
	} texts[] = {
		{"cmdline", &s->title},	     {"cpu_map", &s->cpus},
		{"thread_map", &s->threads}, {"cpu_topology", &s->topology},
		{"numa_topology", &s->numa},
	};
	struct buf value = BUF_INIT;
	int rc;

	for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
		if (m->key.len != strlen(texts[i].key) ||
		    memcmp(m->key.p, texts[i].key, m->key.len) != 0)
			continue;
		buf_reset(texts[i].into);
		buf_add(texts[i].into, m->value.p, m->value.len);
		return texts[i].into->err;
	}
	if (m->value.len > PS_RECORD_MAX || m->key.len > strlen("stat_config"))
		return 0;
	buf_add(&value, m->value.p, m->value.len);
	if (m->key.len == 7 && !memcmp(m->key.p, "version", 7))
		sscanf(buf_str(&value), "%u.%u", &s->major, &s->minor);
	else if (m->key.len == 11 && !memcmp(m->key.p, "stat_config", 11))
		take_config(s, buf_str(&value));
	rc = value.err;
	buf_release(&value);
	return rc;
}

/* ---- CPUs and threads ---- */

static struct count_cpu *cpu_of(const struct source *s, int cpu)
{
	const uint32_t *slot = map64_get(&s->cpu_at, (uint64_t)(int64_t)cpu);

	return slot ? &s->c.cpus[*slot - 1] : NULL;
}

/* "CPU 0: Core ID 0, Die ID 0, Socket ID 0", the die as of Linux 5.3. */
static void place_cpus(struct source *s)
{
	const char *at = buf_str(&s->topology);
	char line[FACT_LINE];
	int n, core, die, socket;

	while (next_line(&at, line)) {
		struct count_cpu *cpu;

		if (sscanf(line, "CPU %d: Core ID %d, Die ID %d, Socket ID %d", &n, &core, &die,
			   &socket) != 4) {
			die = 0;
			if (sscanf(line, "CPU %d: Core ID %d, Socket ID %d", &n, &core, &socket) !=
			    3)
				continue;
		}
		cpu = cpu_of(s, n);
		if (!cpu)
			continue;
		cpu->core = core;
		cpu->die = die;
		cpu->socket = socket;
	}
}

/* The next range of "0-3,6", also "-1" for any; false: there is none. */
static bool next_range(const char **at, int *first, int *last)
{
	char *end;
	long v = strtol(*at, &end, 10), to = v;

	if (end == *at)
		return false;
	if (*end == '-')
		to = strtol(end + 1, &end, 10);
	*at = end + (*end == ',');
	*first = (int)v;
	*last = (int)to;
	return v >= -1 && to >= v && to <= CPU_MAX;
}

/* "node0 cpu list : 0-1" */
static void place_nodes(struct source *s)
{
	const char *at = buf_str(&s->numa);
	int node, first, last;
	char line[FACT_LINE];

	while (next_line(&at, line)) {
		int used = 0;

		if (sscanf(line, "node%d cpu list : %n", &node, &used) != 1 || !used)
			continue;
		for (const char *list = line + used; next_range(&list, &first, &last);) {
			for (int i = first; i <= last; i++) {
				struct count_cpu *cpu = cpu_of(s, i);

				if (cpu)
					cpu->node = node;
			}
		}
	}
}

/* Index + 1 in the map, for the first of several that are equal. */
static int note(struct map64 *map, uint64_t key, uint32_t n)
{
	bool fresh;
	uint32_t *slot = map64_put(map, key, &fresh);

	if (!slot)
		return PP_ENOMEM;
	if (fresh)
		*slot = n;
	return 0;
}

static int add_cpus(struct source *s)
{
	const char *at = buf_str(&s->cpus);
	int first, last, rc = 0;

	while (!rc && next_range(&at, &first, &last)) {
		for (int i = first; i <= last && !rc; i++) {
			const struct count_cpu cpu = {i, -1, -1, -1, -1};

			rc = s->c.n_cpus > CPU_MAX ? PP_ELIMIT : counts_add_cpu(&s->c, &cpu);
			if (!rc)
				rc = note(&s->cpu_at, (uint64_t)(int64_t)i, s->c.n_cpus);
		}
	}
	place_cpus(s);
	place_nodes(s);
	return rc;
}

/* "TID NAME" */
static int add_threads(struct source *s)
{
	const char *at = buf_str(&s->threads);
	char line[FACT_LINE];
	int rc = 0;

	while (!rc && next_line(&at, line)) {
		char *comm;
		int64_t tid = strtoll(line, &comm, 10);

		if (comm == line)
			continue;
		rc = counts_add_thread(&s->c, tid, comm + (*comm == ' '));
		if (!rc)
			rc = note(&s->thread_at, (uint64_t)tid, s->c.n_threads);
	}
	return rc;
}

static int lay_out(struct source *s)
{
	int rc;

	s->c.by = sums_of(s);
	s->c.no_scale = s->no_scale;
	rc = add_cpus(s);
	if (!rc)
		rc = add_threads(s);
	return rc ? rc : counts_lay_out(&s->c);
}

/* ---- counts ---- */

static int take_counter(struct source *s, const struct sreader *r, const struct ps_counter *m)
{
	const struct ps_event *of = sreader_event(r, m->event);
	struct buf name = BUF_INIT, unit = BUF_INIT;
	struct count_event e = {0};
	uint32_t *slot;
	bool fresh;
	int rc;

	if (!of || s->c.laid_out)
		return 0;
	slot = map64_put(&s->events, m->event, &fresh);
	if (!slot)
		return PP_ENOMEM;
	if (!fresh)
		return 0;
	*slot = s->c.n_events + 1;
	buf_add(&name, of->name.p, of->name.len);
	buf_add(&unit, m->unit.p, m->unit.len);
	e.name = buf_str(&name);
	e.unit = buf_str(&unit);
	memcpy(&e.scale, &m->scale, sizeof(e.scale));
	if (!(e.scale > 0 && e.scale < 1e30))
		e.scale = 1;
	e.type = of->perf_type;
	e.config = of->config;
	e.without = m->without;
	rc = name.err || unit.err ? PP_ENOMEM : counts_add_event(&s->c, &e);
	buf_release(&name);
	buf_release(&unit);
	return rc;
}

static int take_count(struct count_reader *cr, struct source *s, const struct ps_count *m)
{
	const uint32_t *slot = map64_get(&s->events, m->event);
	const uint32_t *cpu, *thread;
	struct {
		uint32_t cpu, thread;
	} at;
	int rc = s->c.laid_out ? 0 : lay_out(s);

	if (rc)
		return rc;
	cr->counts++;
	cr->strays += !slot;
	if (!slot)
		return 0;
	cpu = map64_get(&s->cpu_at, m->cpu == PS_NONE ? UINT64_MAX : m->cpu);
	thread = map64_get(&s->thread_at, m->tid == PS_NONE ? UINT64_MAX : m->tid);
	/* Without maps there is one of each; older perfs write 0 for a CPU that is "any". */
	at.cpu = cpu ? *cpu - 1 : s->c.n_cpus == 1 ? 0 : UINT32_MAX;
	at.thread = thread ? *thread - 1 : s->c.n_threads == 1 ? 0 : UINT32_MAX;
	if (at.cpu == UINT32_MAX || at.thread == UINT32_MAX) {
		cr->strays++;
		return 0;
	}
	s->c.events[*slot - 1].supported = true;
	*counts_cell(&s->c, *slot - 1, at.cpu, at.thread) =
		(struct count_value){m->value, m->enabled, m->running};
	return 0;
}

/* ---- rounds ---- */

static void print_raw(struct count_reader *cr, const struct source *s, uint64_t time, struct buf *b)
{
	if (!cr->heading)
		buf_addf(b, "%3s %8s %15s %15s %15s %15s %s\n", "CPU", "THREAD", "VAL", "ENA",
			 "RUN", "TIME", "EVENT");
	cr->heading = true;
	for (uint32_t e = 0; e < s->c.n_events; e++) {
		for (uint32_t t = 0; t < s->c.n_threads; t++) {
			for (uint32_t p = 0; p < s->c.n_cpus; p++) {
				const struct count_value *v = counts_cell(&s->c, e, p, t);

				buf_addf(b,
					 "%3d %8" PRId64 " %15" PRIu64 " %15" PRIu64 " %15" PRIu64
					 " %15" PRIu64 " ",
					 s->c.cpus[p].cpu, s->c.threads[t].tid, v->value,
					 v->enabled, v->running, time);
				buf_add_safe(b, s->c.events[e].name, strlen(s->c.events[e].name));
				buf_addc(b, '\n');
			}
		}
	}
}

static void sum_up(struct source *s, const struct ps_round *m)
{
	s->form.interval = s->interval && m->elapsed;
	s->form.time = m->elapsed;
	/* Of an interval, as it was asked for. */
	s->c.elapsed = s->form.interval ? s->interval * 1000000 : m->elapsed;
	counts_sum(&s->c, s->form.interval ? COUNT_INTERVAL : COUNT_ANEW);
}

static void print_table(struct source *s, const struct ps_round *m, struct buf *b)
{
	struct buf title = BUF_INIT;
	struct count_times times = {.elapsed = (double)m->elapsed / 1e9};

	buf_addf(&title, "'%s'", s->title.len ? buf_str(&s->title) : "pipe");
	s->form.title = buf_str(&title);
	count_form_begin(&s->form, &s->c, b);
	count_form_rows(&s->form, &s->c, b);
	if (!s->form.interval)
		count_form_end(&s->form, &times, b);
	s->form.title = NULL;
	buf_inherit(b, &title);
	buf_release(&title);
}

static int take_round(struct count_reader *cr, struct source *s, const struct ps_round *m,
		      struct buf *b)
{
	int rc = s->c.laid_out ? 0 : lay_out(s);

	if (rc)
		return rc;
	/* A round has nearly all counters: what is printed stays in proportion to what came. */
	cr->cells += (uint64_t)s->c.n_events * s->c.n_cpus * s->c.n_threads;
	if (cr->cells > CELLS_FREE + CELLS_TIMES * cr->counts)
		return PP_ELIMIT;
	cr->rounds++;
	if (cr->view == COUNT_VIEW_RAW) {
		print_raw(cr, s, m->elapsed, b);
		return b->err;
	}
	sum_up(s, m);
	if (cr->fn)
		return cr->fn(cr->ctx, &s->c, s->form.interval ? s->interval * 1000000 : 0,
			      m->elapsed);
	print_table(s, m, b);
	return b->err;
}

int count_reader_take(struct count_reader *cr, const struct sreader *r, const struct ps_record *rec,
		      struct buf *b)
{
	struct source *s;

	switch (rec->type) {
	case PS_HEADER: forget(cr); return 0;
	case PS_META:
	case PS_COUNTER:
	case PS_COUNT:
	case PS_ROUND: break;
	default: return 0;
	}
	s = source_of(cr, rec->source);
	if (!s)
		return PP_ENOMEM;
	switch (rec->type) {
	case PS_META: return take_meta(s, &rec->meta);
	case PS_COUNTER: return take_counter(s, r, &rec->counter);
	case PS_COUNT: return take_count(cr, s, &rec->count);
	default: return take_round(cr, s, &rec->round, b);
	}
}
