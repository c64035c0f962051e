/* Samples as perf script prints them. */
#include "print/text_perf.h"
#include "print/text_plain.h"

#include "base/err.h"
#include "base/intern.h"
#include "count/recorded_counts.h"
#include "print/tep_print.h"
#include "print/text_fields.h"
#include "print/text_trace.h"

#include <linux/perf_event.h>
#include <stdio.h>
#include <stdlib.h>

#define COMM_WIDTH     16
#define NAME_WIDTH_MAX 1024	  /* a name of megabytes must not widen every line */
#define CGROUPS_BYTES  (64 << 20) /* of the paths of cgroups */

/* What is known of an event. */
struct label {
	char *text; /* "   name: ", owned; NULL until its first line */
	size_t len;
	enum text_kind kind;
};

/* Events of one kind: what is printed depends on the first of them. */
struct kind {
	bool known, picked, chains;
	uint64_t sample_type;
	uint64_t fields; /* picked: what to print */
};

struct text_perf {
	struct text_page *page;
	struct text_clock *clock;
	const struct stext_opts *opts;
	struct diag *d;
	struct tep_print *tep; /* made at the first tracepoint */
	struct label *labels;  /* by event */
	uint32_t nlabels;
	struct kind kinds[TEXT_KIND_COUNT];
	size_t name_width;  /* of the longest name of an event, as perf pads them */
	int src_width;	    /* of the longest data source */
	char arch[16];	    /* of the recorded machine */
	uint32_t long_size; /* bytes of its long */
	struct text_tod tod;
	struct map64 cgroups; /* id to string in paths */
	struct intern paths;
	size_t paths_bytes;
	struct count_reader *counts; /* made when there is something for it */
	struct buf b;		     /* the line that is being made */
};

#define NO_DATA_SRC 0x5080021 /* all parts: not available */

int text_perf_new(struct text_perf **out, struct text_page *page, struct text_clock *clock,
		  const struct stext_opts *opts, struct diag *d)
{
	struct text_perf *t = calloc(1, sizeof(*t));

	*out = t;
	if (!t)
		return PP_ENOMEM;
	t->page = page;
	t->clock = clock;
	t->opts = opts;
	t->d = d;
	t->long_size = 8;
	return 0;
}

void text_perf_free(struct text_perf *t)
{
	if (!t)
		return;
	for (uint32_t i = 0; i < t->nlabels; i++)
		free(t->labels[i].text);
	free(t->labels);
	tep_print_free(t->tep);
	count_reader_free(t->counts);
	map64_release(&t->cgroups);
	intern_release(&t->paths);
	buf_release(&t->b);
	free(t);
}

/* ---- events ---- */

static bool is_dummy(const struct ps_event *e)
{
	return e->perf_type == PERF_TYPE_SOFTWARE && e->config == PERF_COUNT_SW_DUMMY;
}

static int add_event(struct text_perf *t, const struct ps_event *e)
{
	struct kind *k = &t->kinds[text_kind_of(e->perf_type)];
	struct label *l;

	if (e->id >= t->nlabels) {
		uint32_t n = e->id + e->id / 2 + 16;

		l = realloc(t->labels, n * sizeof(*l));
		if (!l)
			return PP_ENOMEM;
		memset(l + t->nlabels, 0, (n - t->nlabels) * sizeof(*l));
		t->labels = l;
		t->nlabels = n;
	}
	l = &t->labels[e->id];
	free(l->text);
	*l = (struct label){.kind = text_kind_of(e->perf_type)};
	if (e->name.len <= NAME_WIDTH_MAX && e->name.len > t->name_width)
		t->name_width = e->name.len;
	if (e->flags & PS_EVENT_CHAINS)
		k->chains = true;
	if (!k->known && !is_dummy(e)) {
		k->known = true;
		k->sample_type = e->sample_type;
	}
	return 0;
}

/* Fields that were asked for and that are not in the recording: perf refuses such a file. */
static void say_lacking(const struct text_perf *t, const struct ps_event *e, uint64_t lacking)
{
	struct buf names = BUF_INIT, event = BUF_INIT;

	for (int i = 0; i < TEXT_FIELD_COUNT; i++)
		if (lacking >> i & 1)
			buf_addf(&names, "%s%s", names.len ? ", " : "",
				 text_field_name((enum text_field)i));
	buf_add_safe(&event, e->name.p, e->name.len);
	diag_say(t->d, NULL, "%s events, such as %s, were recorded without: %s",
		 text_kind_name(text_kind_of(e->perf_type)), buf_str(&event), buf_str(&names));
	buf_release(&names);
	buf_release(&event);
}

static void pick(struct text_perf *t, struct kind *k, const struct ps_event *e)
{
	uint64_t lacking;

	if (!k->known)
		k->sample_type = e->sample_type;
	k->fields = text_fields_pick(&t->opts->fields, text_kind_of(e->perf_type), k->sample_type,
				     k->chains, &lacking);
	k->picked = true;
	if (TEXT_HAS(k->fields, tod) && !t->tod.known) {
		k->fields &= ~TEXT_FIELD(tod);
		lacking |= TEXT_FIELD(tod);
	}
	if (lacking)
		say_lacking(t, e, lacking);
}

/* "   name: " */
static void add_label(struct text_perf *t, struct buf *b, uint32_t id, const struct ps_event *e)
{
	struct label *l = &t->labels[id];
	size_t start = b->len;

	if (l->text) {
		buf_add(b, l->text, l->len);
		return;
	}
	if (e->name.len < t->name_width)
		buf_fill(b, ' ', t->name_width - e->name.len);
	buf_add_safe(b, e->name.p, e->name.len);
	buf_adds(b, ": ");
	l->len = b->len - start;
	l->text = b->err ? NULL : strndup(buf_str(b) + start, l->len);
}

/* ---- the beginning of a line ---- */

static void add_comm(struct buf *b, const struct sreader *r, uint32_t comm, bool padded)
{
	size_t len;
	const char *s = sreader_string(r, comm, &len);

	if (!s)
		s = ":-1", len = 3;
	if (padded && len < COMM_WIDTH)
		buf_fill(b, ' ', COMM_WIDTH - len);
	buf_add_safe(b, s, len);
	buf_addc(b, ' ');
}

/* A thread that has ended already is recorded as -1. */
static void add_id(struct buf *b, uint32_t id)
{
	if (id == PS_NONE)
		buf_adds(b, "   -1");
	else
		buf_add_u64(b, id, 5, ' ');
}

static void add_task(struct buf *b, uint32_t pid, uint32_t tid, uint64_t fields)
{
	size_t start;

	if (!TEXT_HAS(fields, pid) || !TEXT_HAS(fields, tid)) {
		add_id(b, TEXT_HAS(fields, pid) ? pid : tid);
		buf_addc(b, ' ');
		return;
	}
	add_id(b, pid);
	buf_addc(b, '/');
	start = b->len;
	buf_addf(b, "%d", (int)tid);
	buf_fill(b, ' ', b->len - start < 5 ? 5 - (b->len - start) : 0);
	buf_addc(b, ' ');
}

/* K kernel, U user, H hypervisor, G and g a guest's kernel and user: bits of one number in perf. */
static void add_misc(struct buf *b, uint32_t flags)
{
	uint32_t mode = (flags & PS_SAMPLE_MODE_MASK) >> PS_SAMPLE_MODE_SHIFT;
	size_t start = b->len;

	for (uint32_t m = 1; m <= 5; m++)
		if ((mode & m) == m)
			buf_addc(b, "KUHGg"[m - 1]);
	buf_fill(b, ' ', 6 - (b->len - start));
}

/* The time of the line before. */
static uint64_t note_time(struct text_clock *c, uint64_t ns)
{
	uint64_t last = c->began ? c->last : ns;

	if (!c->began)
		c->first = ns;
	c->began = true;
	c->last = ns;
	return last;
}

static void add_time(struct text_perf *t, struct buf *b, uint64_t ns)
{
	uint64_t last = note_time(t->clock, ns), shown = ns;

	if (t->opts->times == STEXT_TIME_REL)
		shown = ns - t->clock->first;
	else if (t->opts->times == STEXT_TIME_DELTA)
		shown = ns - last;
	buf_add_u64(b, shown / 1000000000, 5, ' ');
	buf_addc(b, '.');
	if (t->opts->ns)
		buf_add_u64(b, shown % 1000000000, 9, '0');
	else
		buf_add_u64(b, shown % 1000000000 / 1000, 6, '0');
	buf_adds(b, ": ");
}

/*
 * Whether there is a column for a value. Of a perf.data all events of a kind have the same columns,
 * also for what one of them was recorded without.
 */
static bool column(const struct kind *k, bool known)
{
	return known || k->sample_type;
}

static void add_start(struct text_perf *t, struct buf *b, const struct sreader *r,
		      const struct ps_sample *s, const struct ps_event *e, const struct kind *k,
		      bool chain)
{
	uint64_t fields = k->fields;

	bool exited = (s->flags & PS_SAMPLE_EXITED) != 0;
	uint32_t tid = exited ? PS_NONE : s->tid;

	if (TEXT_HAS(fields, comm))
		add_comm(b, r, exited ? 0 : s->comm, !chain);
	if ((TEXT_HAS(fields, tid) && column(k, tid != PS_NONE)) ||
	    (TEXT_HAS(fields, pid) && column(k, s->pid != PS_NONE)))
		add_task(b, s->pid, tid, fields);
	if (TEXT_HAS(fields, cpu) && s->cpu != PS_NONE) {
		buf_addc(b, '[');
		buf_add_u64(b, s->cpu, 3, '0');
		buf_adds(b, "] ");
	} else if (TEXT_HAS(fields, cpu) && column(k, false)) {
		buf_adds(b, "[-01] ");
	}
	if (TEXT_HAS(fields, misc))
		add_misc(b, s->flags);
	if (TEXT_HAS(fields, tod) && !(s->flags & PS_SAMPLE_NO_TIME))
		text_add_tod(b, &t->tod, s->time);
	if (TEXT_HAS(fields, time) && !(s->flags & PS_SAMPLE_NO_TIME))
		add_time(t, b, s->time);
	if (TEXT_HAS(fields, period) && ps_sample_has(s, period)) {
		buf_add_u64(b, s->period, 10, ' ');
		buf_addc(b, ' ');
	}
	if (TEXT_HAS(fields, event))
		add_label(t, b, s->event, e);
}

/* ---- the rest of a line ---- */

static void add_cgroup(struct text_perf *t, uint64_t id)
{
	const uint32_t *path = map64_get(&t->cgroups, id);
	size_t len = 0;
	const char *s = path ? intern_get(&t->paths, *path, &len) : NULL;

	buf_addc(&t->b, ' ');
	if (s)
		buf_add_safe(&t->b, s, len);
	else
		buf_adds(&t->b, "unknown");
}

static int take_cgroup(struct text_perf *t, const struct ps_cgroup *c)
{
	uint32_t path, *slot;
	int rc;

	if (t->paths_bytes + c->path.len > CGROUPS_BYTES)
		return 0;
	t->paths_bytes += c->path.len;
	rc = intern_add(&t->paths, c->path.p, c->path.len, &path, NULL);
	slot = rc ? NULL : map64_put(&t->cgroups, c->id, NULL);
	if (!slot)
		return PP_ENOMEM;
	*slot = path;
	return 0;
}

static void add_data_src(struct text_perf *t, const struct ps_sample *s, const struct kind *k)
{
	bool has = ps_sample_has(s, data_src);

	if (TEXT_HAS(k->fields, data_src) && column(k, has))
		text_add_data_src(&t->b, has ? s->data_src : NO_DATA_SRC, &t->src_width);
}

/* Between the event and its place. */
static int add_facts(struct text_perf *t, const struct ps_sample *s, const struct ps_event *e,
		     const struct kind *k)
{
	struct buf *b = &t->b;
	uint64_t fields = k->fields;

	if (TEXT_HAS(fields, trace) && e->perf_type == PERF_TYPE_TRACEPOINT &&
	    ps_sample_has(s, payload) && !text_plain_info(e, &s->payload, b)) {
		if (!t->tep && tep_print_new(&t->tep, t->long_size))
			return PP_ENOMEM;
		if (tep_print_payload(t->tep, e, s, b))
			return PP_ENOMEM;
	}
	if (TEXT_HAS(fields, event) && ps_sample_has(s, key_text)) {
		buf_adds(b, "key=");
		buf_add_safe(b, s->key_text.p, s->key_text.len);
	}
	if (TEXT_HAS(fields, addr) && column(k, ps_sample_has(s, addr)))
		buf_add_hex(b, s->addr, 16, ' ');
	add_data_src(t, s, k);
	if (TEXT_HAS(fields, weight) && column(k, ps_sample_has(s, weight)))
		buf_add_u64(b, s->weight, 16, ' ');
	if (TEXT_HAS(fields, ins_lat) && column(k, ps_sample_has(s, weight_more)))
		buf_add_u64(b, s->weight_more & 0xffff, 16, ' ');
	if (TEXT_HAS(fields, retire_lat) && column(k, ps_sample_has(s, weight_more)))
		buf_add_u64(b, s->weight_more >> 32 & 0xffff, 16, ' ');
	if (TEXT_HAS(fields, cgroup) && ps_sample_has(s, cgroup))
		add_cgroup(t, s->cgroup);
	return 0;
}

/* After its place. */
static void add_rest(struct text_perf *t, const struct sreader *r, const struct ps_sample *s,
		     const struct ps_event *e, const struct kind *k)
{
	struct buf *b = &t->b;
	uint64_t fields = k->fields;

	if (TEXT_HAS(fields, iregs) && ps_sample_has(s, intr_regs))
		text_add_regs(b, &s->intr_regs, t->arch);
	if (TEXT_HAS(fields, uregs) && ps_sample_has(s, user_regs))
		text_add_regs(b, &s->user_regs, t->arch);
	if (TEXT_HAS(fields, brstack) && ps_sample_has(s, branches))
		text_add_branches(b, &s->branches);
	else if (TEXT_HAS(fields, brstacksym) && ps_sample_has(s, branches))
		text_add_branch_symbols(b, r, s, TEXT_HAS(fields, dso));
	if (TEXT_HAS(fields, bpf_output) && e->perf_type == PERF_TYPE_SOFTWARE &&
	    e->config == PERF_COUNT_SW_BPF_OUTPUT && ps_sample_has(s, payload))
		text_add_bpf_output(b, &s->payload);
	if (TEXT_HAS(fields, phys_addr) && column(k, ps_sample_has(s, phys_addr)))
		buf_add_hex(b, s->phys_addr, 16, ' ');
	if (TEXT_HAS(fields, data_page_size) && column(k, ps_sample_has(s, data_page_size)))
		text_add_page_size(b, s->data_page_size);
	if (TEXT_HAS(fields, code_page_size) && column(k, ps_sample_has(s, code_page_size)))
		text_add_page_size(b, s->code_page_size);
}

/* The kind of a sample's event; NULL: it is not printed. */
static struct kind *kind_of(struct text_perf *t, const struct ps_event *e,
			    const struct ps_sample *s)
{
	struct kind *k;

	if (!stext_shows(t->opts, s))
		return NULL;
	if (!e || s->event >= t->nlabels) {
		diag_warn(t->d, NULL, -1, "a sample belongs to an undefined event: not printed");
		return NULL;
	}
	k = &t->kinds[t->labels[s->event].kind];
	if (!k->picked)
		pick(t, k, e);
	return k->fields ? k : NULL;
}

static int print_sample(struct text_perf *t, const struct sreader *r, const struct ps_sample *s)
{
	const struct ps_event *e = sreader_event(r, s->event);
	struct kind *k = kind_of(t, e, s);
	bool chain;
	int rc;

	if (!k)
		return 0;
	/* perf goes by the event: a chain may have no address. */
	chain = TEXT_HAS(k->fields, ip) && !t->opts->no_chains &&
		((e->flags & PS_EVENT_CHAINS) || ps_sample_has(s, chain));
	buf_reset(&t->b);
	add_start(t, &t->b, r, s, e, k, chain);
	rc = add_facts(t, s, e, k);
	if (!rc && TEXT_HAS(k->fields, ip))
		rc = text_add_place(&t->b, t->page, r, s, k->fields, chain);
	add_rest(t, r, s, e, k);
	buf_addc(&t->b, '\n');
	if (!rc)
		rc = t->b.err;
	return rc ? rc : text_page_add(t->page, &t->b);
}

int text_perf_pass(struct text_perf *t, const struct sreader *r, const struct ps_sample *s)
{
	const struct ps_event *e = sreader_event(r, s->event);
	struct kind *k = kind_of(t, e, s);

	if (!k)
		return 0;
	buf_reset(&t->b);
	if (TEXT_HAS(k->fields, time) && !(s->flags & PS_SAMPLE_NO_TIME))
		note_time(t->clock, s->time);
	if (TEXT_HAS(k->fields, event) && !t->labels[s->event].text)
		add_label(t, &t->b, s->event, e);
	add_data_src(t, s, k);
	return t->b.err;
}

/* Counts of perf stat: a table, at the end of each round. */
static int print_counts(struct text_perf *t, const struct sreader *r, const struct ps_record *rec)
{
	int rc = t->counts ? 0 : count_reader_new(&t->counts, COUNT_VIEW_RAW);

	if (rc)
		return rc;
	buf_reset(&t->b);
	rc = count_reader_take(t->counts, r, rec, &t->b);
	if (rec->type == PS_ROUND && count_reader_strays(t->counts))
		diag_warn(t->d, NULL, -1, "counts of an unknown CPU or thread are left out");
	return rc || !t->b.len ? rc : text_page_add(t->page, &t->b);
}

int text_perf_record(struct text_perf *t, const struct sreader *r, const struct ps_record *rec)
{
	int rc;

	switch (rec->type) {
	case PS_SOURCE: t->long_size = rec->src.long_bits == 32 ? 4 : 8; return 0;
	case PS_BLOB:
		rc = t->tep ? 0 : tep_print_new(&t->tep, t->long_size);
		return rc ? rc : tep_print_table(t->tep, &rec->blob);
	case PS_META:
		if (rec->meta.key.len == 4 && !memcmp(rec->meta.key.p, "arch", 4))
			snprintf(t->arch, sizeof(t->arch), "%.*s", (int)rec->meta.value.len,
				 rec->meta.value.p);
		if (rec->meta.key.len == 11 && !memcmp(rec->meta.key.p, "wall_offset", 11))
			text_tod_set(&t->tod, &rec->meta.value);
		return print_counts(t, r, rec);
	case PS_COUNTER:
	case PS_COUNT:
	case PS_ROUND: return print_counts(t, r, rec);
	case PS_EVENT: return add_event(t, &rec->event);
	case PS_CGROUP: return take_cgroup(t, &rec->cgroup);
	case PS_SAMPLE: return print_sample(t, r, &rec->sample);
	default: return 0;
	}
}
