/* Reads a recording as pdecode | psym does, counts what is in it, and tells it. */
#include "guide/facts.h"

#include "base/err.h"
#include "input/input.h"
#include "resolve/symopt.h"
#include "stream/ends.h"

#include <inttypes.h>

#define EVENTS_SHOWN 8

typedef unsigned long long ull;

struct reading {
	struct facts *f;
	struct sreader *back;
	struct resolver *names;
};

static void on_meta(struct facts *f, const struct ps_meta *m)
{
	static const char *const keys[] = {
#define M(name, key) key,
		FACTS_METAS(M)
#undef M
	};

	for (int i = 0; i < FACTS_META_MAX; i++)
		if (m->key.len == strlen(keys[i]) && !memcmp(m->key.p, keys[i], m->key.len) &&
		    !f->meta[i].len)
			buf_add(&f->meta[i], m->value.p, m->value.len);
}

static int on_record(struct reading *g, const struct ps_record *rec)
{
	struct facts *f = g->f;
	int rc;

	switch (rec->type) {
	case PS_SOURCE:
		if (!f->sources++) {
			f->kind = rec->src.kind;
			buf_add(&f->clock, rec->src.clock.p, rec->src.clock.len);
		}
		break;
	case PS_META: on_meta(f, &rec->meta); break;
	case PS_COUNT: f->counts++; break;
	case PS_SAMPLE:
		f->samples++;
		f->cgroups += ps_sample_has(&rec->sample, cgroup);
		f->named |= ps_sample_has(&rec->sample, stack);
		break;
	default: break;
	}
	rc = tally_record(f->tally, g->back, rec);
	return rc ? rc : resolver_record(g->names, g->back, rec);
}

static int take(void *ctx, uint8_t *bytes, size_t n)
{
	struct reading *g = ctx;
	const struct ps_record *rec;
	int rc;

	sreader_feed(g->back, bytes, n);
	while (!(rc = sreader_next(g->back, &rec))) {
		rc = on_record(g, rec);
		if (rc)
			return rc;
	}
	return rc == PP_END ? 0 : rc;
}

static int forget(void *ctx, uint8_t *bytes, size_t n)
{
	(void)ctx;
	(void)bytes;
	(void)n;
	return 0;
}

static void sum_stacks(struct facts *f)
{
	struct tally_event e;

	for (uint32_t i = 0; tally_event(f->tally, i, &e); i++)
		f->stacks += e.stacks;
}

/* The decoder writes to the reader, and that to the resolver, whose output nobody needs. */
static int run(struct reading *g, struct src *s, struct diag *d)
{
	struct swriter decoded, named;
	struct symopt from = {0};
	struct out pipe, rest;
	int rc, read = PP_ENOMEM;

	from.r.stats = true;
	rc = out_init_fn(&pipe, take, g);
	rc = out_init_fn(&rest, forget, NULL) ? PP_ENOMEM : rc;
	rc = rc ? rc : tally_new(&g->f->tally, true);
	swriter_init(&named, &rest);
	swriter_init(&decoded, &pipe);
	rc = rc ? rc : symopt_ready(&from, d);
	rc = rc ? rc : resolver_new(&g->names, &from.r, &named, d);
	rc = rc ? rc
		: sreader_new_fed(&g->back, "(output)",
				  SREADER_EVENTS | SREADER_CHAINS | SREADER_SYMBOLS, d);
	if (rc) {
		src_free(s);
	} else {
		swriter_header(&named);
		swriter_header(&decoded);
		read = input_decode(s, 1, &decoded, d, &g->f->end);
		rc = decoded.err ? decoded.err : out_flush(&pipe);
		g->f->names = *resolver_stats(g->names);
		sum_stacks(g->f);
	}
	resolver_free(g->names);
	sreader_free(g->back);
	out_release(&pipe);
	out_release(&rest);
	symopt_release(&from);
	return rc ? rc : read;
}

int facts_read(struct facts *f, const char *file, struct diag *d)
{
	struct reading g = {.f = f};
	struct src *s;
	int rc;

	*f = (struct facts){.file = file};
	if (input_open(&s, file, d))
		return PP_EXIT_FAIL;
	rc = run(&g, s, d);
	if (rc == PP_ENOMEM || rc == PP_ELIMIT)
		diag_error(d, file, -1, "%s", pp_strerror(rc));
	f->status = input_status(rc);
	return f->status;
}

void facts_release(struct facts *f)
{
	tally_free(f->tally);
	for (int i = 0; i < FACTS_META_MAX; i++)
		buf_release(&f->meta[i]);
	buf_release(&f->clock);
}

/* ---- what it prints ---- */

struct printer {
	const struct facts *f;
	bool tsv;
	struct buf *b;
};

static void fact(const struct printer *p, const char *key, const struct buf *value)
{
	if (!value->len)
		return;
	if (p->tsv) {
		buf_adds(p->b, "fact\t");
		buf_add_safe(p->b, p->f->file, strlen(p->f->file));
		buf_addf(p->b, "\t%s\t", key);
	} else {
		buf_addf(p->b, "  %-10s", key);
	}
	buf_add_safe(p->b, buf_str(value), value->len);
	buf_addc(p->b, '\n');
	buf_inherit(p->b, value);
}

static void add_part(struct buf *v, const char *before, const struct buf *part)
{
	if (!part->len)
		return;
	buf_addf(v, "%s%s", v->len ? ", " : "", before);
	buf_join(v, part);
}

static void tell_kind(const struct printer *p, struct buf *v)
{
	static const char *const kinds[] = {"unknown", "perf.data", "trace.dat", "ftrace text",
					    "made by a filter"};
	static const char *const makers[] = {"", "perf ", "trace-cmd ", "", ""};
	const struct facts *f = p->f;
	uint32_t kind = f->kind < sizeof(kinds) / sizeof(*kinds) ? f->kind : 0;
	const char *version = buf_str(&f->meta[FACTS_VERSION]);

	buf_adds(v, kinds[kind]);
	if (f->sources > 1)
		buf_addf(v, ", the first of %" PRIu32 " recordings", f->sources);
	if (*version)
		buf_addf(v, ", recorded by %s%.*s", strncmp(version, "perf", 4) ? makers[kind] : "",
			 (int)strcspn(version, " ") + (strncmp(version, "perfpipe ", 9) ? 0 : 6),
			 version);
}

static void tell_machine(const struct printer *p, struct buf *v)
{
	const struct buf *m = p->f->meta;
	struct buf cpus = BUF_INIT;

	/* perf writes those that are online and those that there are. */
	if (m[FACTS_NRCPUS].len)
		buf_add(&cpus, m[FACTS_NRCPUS].data, strcspn(buf_str(&m[FACTS_NRCPUS]), " "));
	else
		buf_join(&cpus, &m[FACTS_CPUS]);
	if (cpus.len)
		buf_adds(&cpus, strcmp(buf_str(&cpus), "1") ? " CPUs" : " CPU");
	add_part(v, "", &m[FACTS_HOSTNAME]);
	add_part(v, "Linux ", &m[FACTS_RELEASE]);
	add_part(v, "", &m[FACTS_ARCH]);
	add_part(v, "", &cpus);
	add_part(v, "", &m[FACTS_CPUDESC]);
	buf_inherit(v, &cpus);
	buf_release(&cpus);
}

static void tell_time(const struct printer *p, struct buf *v)
{
	uint64_t first = UINT64_MAX, last = 0;
	struct tally_event e;

	for (uint32_t i = 0; tally_event(p->f->tally, i, &e); i++) {
		if (e.timed && e.first < first)
			first = e.first;
		if (e.timed && e.last > last)
			last = e.last;
	}
	if (first > last)
		return;
	buf_addf(v, "%.3f s", (double)(last - first) / 1e9);
	if (p->f->clock.len) {
		buf_adds(v, ", by the clock ");
		buf_join(v, &p->f->clock);
	}
}

static void tell_events(const struct printer *p, struct buf *v)
{
	struct tally_event e;
	uint32_t shown = 0, more = 0, none = 0;

	buf_addf(v, "%llu sample%s", (ull)p->f->samples, p->f->samples == 1 ? "" : "s");
	for (uint32_t i = 0; tally_event(p->f->tally, i, &e); i++) {
		if (!e.samples)
			none++;
		else if (shown < EVENTS_SHOWN)
			buf_addf(v, "%s%s %llu", shown++ ? ", " : ": ", e.name, (ull)e.samples);
		else
			more++;
	}
	if (more)
		buf_addf(v, ", and %" PRIu32 " more (pdecode --list)", more);
	if (none)
		buf_addf(v, "; %" PRIu32 " event%s without any", none, none == 1 ? "" : "s");
	if (p->f->counts)
		buf_addf(v, "; counters were read %llu times", (ull)p->f->counts);
}

/* Kernel chains alone have no end in user space: only those that do are judged. */
static void tell_stacks(const struct printer *p, struct buf *v)
{
	const struct facts *f = p->f;
	struct ps_ends ends = {0};

	if (!f->samples)
		return;
	if (!f->stacks) {
		buf_adds(v, "none: record with pcap-perf -g, or perf record -g");
		return;
	}
	buf_addf(v, "%llu of %llu samples have one", (ull)f->stacks, (ull)f->samples);
	for (uint32_t i = 1; i < PS_END_MAX; i++) {
		ends.marked[i] = (long double)(f->names.ends[i] + f->names.chain_ends[i]);
		ends.all += ends.marked[i];
	}
	if (ends.all > 0) {
		buf_adds(v, "; of those with a user part, ");
		ps_ends_describe(&ends, v);
	}
}

static void tell_names(const struct printer *p, struct buf *v)
{
	const struct resolver_stats *s = &p->f->names;
	uint32_t most = 0;

	if (p->f->named)
		buf_adds(v, "it has already passed through psym");
	if (!s->frames)
		return;
	for (uint32_t i = 1; i < PS_REASON_MAX; i++)
		if (s->reasons[i] && (!most || s->reasons[i] > s->reasons[most]))
			most = i;
	buf_addf(v, "%s%.1f %% of %llu frames have a name on this machine", v->len ? "; " : "",
		 100.0 * (double)(s->frames - s->unknown) / (double)s->frames, (ull)s->frames);
	if (s->unknown && most)
		buf_addf(v, "; most often missing: %s (psym --missing shows what helps)",
			 ps_reason(most));
}

static void tell_losses(const struct printer *p, struct buf *v)
{
	const struct ps_end *e = &p->f->end;

	if (e->lost)
		buf_addf(v, "the kernel lost %llu events while recording", (ull)e->lost);
	if (p->f->status)
		buf_addf(v, "%sthe file is damaged or cut off", v->len ? "; " : "");
	if (p->f->status && e->missing)
		buf_addf(v, ", %llu of its events are missing", (ull)e->missing);
	if (!v->len)
		buf_adds(v, "none reported");
}

void facts_print(const struct facts *f, bool tsv, struct buf *b)
{
	static const struct {
		const char *key;
		void (*tell)(const struct printer *, struct buf *);
	} all[] = {{"kind", tell_kind},	    {"machine", tell_machine}, {"time", tell_time},
		   {"events", tell_events}, {"stacks", tell_stacks},   {"names", tell_names},
		   {"losses", tell_losses}};
	struct printer p = {f, tsv, b};
	struct buf v = BUF_INIT;

	for (size_t i = 0; i < sizeof(all) / sizeof(all[0]); i++) {
		all[i].tell(&p, &v);
		fact(&p, all[i].key, &v);
		buf_reset(&v);
		if (!i)
			fact(&p, "command", &f->meta[FACTS_COMMAND]);
	}
	buf_release(&v);
}
