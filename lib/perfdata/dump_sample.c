/* --dump of a sample. */
#include "perfdata/dump_records.h"

#include "base/err.h"

#include <inttypes.h>
#include <linux/perf_event.h>

static void add_chain(struct buf *b, const struct perf_taken *t)
{
	buf_addf(b, "\n... FP chain: nr:%" PRIu64, t->nips);
	for (uint64_t i = 0; i < t->nips; i++)
		buf_addf(b, "\n..... %2" PRIu64 ": %016" PRIx64, i, t->ips[i]);
}

/* perf's names of the flags of a branch: mispredicted, predicted, in and end of a transaction. */
static void add_branches(struct buf *b, const struct ps_sample *s)
{
	buf_addf(b, "\n... branch stack: nr:%" PRIu32, s->branches.n);
	if (s->branches.flags & 1)
		buf_addf(b, " hw_idx:%" PRId64, (int64_t)s->branches.hw_idx);
	for (uint32_t i = 0; i < s->branches.n; i++) {
		uint64_t at = 3 * (uint64_t)i, flags = s->branches.v[at + 2];

		buf_addf(b,
			 "\n..... %2" PRIu32 ": %016" PRIx64 " -> %016" PRIx64
			 " %u cycles %s%s%s%s %#" PRIx64,
			 i, s->branches.v[at], s->branches.v[at + 1],
			 (unsigned)(flags >> 4 & 0xffff), flags & 1 ? "M" : " ",
			 flags & 2 ? "P" : " ", flags & 8 ? "A" : " ", flags & 4 ? "T" : " ",
			 flags >> 20);
		if (ps_sample_has(s, branch_counters))
			buf_addf(b, " counters %#" PRIx64, s->branch_counters.v[i]);
	}
}

static void add_regs(struct buf *b, const char *which, const struct ps_regs *r)
{
	static const char *const abis[] = {"none", "32-bit", "64-bit"};
	uint64_t n = 0;

	buf_addf(b, "\n... %s regs: mask %#" PRIx64 " ABI %s", which, r->mask,
		 r->abi < 3 ? abis[r->abi] : "unknown");
	for (int i = 0; i < 64; i++)
		if (r->mask >> i & 1)
			buf_addf(b, "\n.... %-5d 0x%016" PRIx64, i, r->v[n++]);
}

static void add_reads(struct buf *b, const struct ps_u64s *reads)
{
	uint64_t format = reads->v[0], n = 1, at = 1;

	buf_adds(b, "\n... sample_read:");
	if (format & PERF_FORMAT_GROUP)
		n = reads->v[at++];
	else
		at++; /* the value comes first */
	if (format & PERF_FORMAT_TOTAL_TIME_ENABLED)
		buf_addf(b, "\n...... time enabled %016" PRIx64, reads->v[at++]);
	if (format & PERF_FORMAT_TOTAL_TIME_RUNNING)
		buf_addf(b, "\n...... time running %016" PRIx64, reads->v[at++]);
	if (format & PERF_FORMAT_GROUP)
		buf_addf(b, "\n.... group nr %" PRIu64, n);
	for (uint64_t i = 0; i < n; i++) {
		uint64_t value = format & PERF_FORMAT_GROUP ? reads->v[at++] : reads->v[1];

		buf_adds(b, "\n.....");
		if (format & PERF_FORMAT_ID)
			buf_addf(b, " id %016" PRIx64 ",", reads->v[at++]);
		buf_addf(b, " value %016" PRIx64, value);
		if (format & 16) /* PERF_FORMAT_LOST */
			buf_addf(b, ", lost %" PRIu64, reads->v[at++]);
	}
}

#define NUMBER(field, format) \
	do { \
		if (ps_sample_has(s, field)) \
			buf_addf(b, format, s->field); \
	} while (0)

static void add_fields(struct perf_dumper *p, const struct perf_attr *a, const struct perf_taken *t)
{
	const struct ps_sample *s = &t->s;
	struct buf *b = &p->text;

	NUMBER(stream_id, "\n... stream_id: %" PRIu64);
	if (ps_sample_has(s, reads))
		add_reads(b, &s->reads);
	if (a->sample_type & PSB_CALLCHAIN)
		add_chain(b, t);
	if (ps_sample_has(s, payload))
		buf_addf(b, "\n... raw data: size %" PRIu32, s->payload.len);
	if (ps_sample_has(s, branches))
		add_branches(b, s);
	if (ps_sample_has(s, user_regs))
		add_regs(b, "user", &s->user_regs);
	NUMBER(user_stack_size, "\n... ustack: size %" PRIu64);
	NUMBER(weight, "\n... weight: %" PRIu64);
	if (ps_sample_has(s, weight_more))
		buf_addf(b, ",0x%" PRIx64 ",0x%" PRIx64, s->weight_more & UINT32_MAX,
			 s->weight_more >> 32);
	NUMBER(data_src, "\n . data_src: 0x%" PRIx64);
	NUMBER(transaction, "\n... transaction: %" PRIx64);
	if (ps_sample_has(s, intr_regs))
		add_regs(b, "intr", &s->intr_regs);
	NUMBER(phys_addr, "\n .. phys_addr: 0x%" PRIx64);
	NUMBER(cgroup, "\n... cgroup: %" PRIu64);
	NUMBER(data_page_size, "\n .. data page size: %" PRIu64);
	NUMBER(code_page_size, "\n .. code page size: %" PRIu64);
	NUMBER(aux_size, "\n... aux data: size %" PRIu64);
}

static void add_thread(struct perf_dumper *p, uint32_t tid)
{
	uint32_t comm = perf_threads_get(&p->threads, tid);
	struct buf *b = &p->text;
	const char *name;
	size_t len;

	name = comm ? intern_get(&p->names, comm, &len) : NULL;
	buf_adds(b, "\n ... thread: ");
	if (name)
		buf_add_safe(b, name, len);
	else if (!tid)
		buf_adds(b, "swapper");
	buf_addf(b, ":%" PRId32, (int32_t)tid);
}

void perf_dump_sample(struct perf_dumper *p, struct cursor *c, const struct perf_raw *raw)
{
	const struct perf_attr *a = perf_attr_of_sample(&p->r.info, c->p, cursor_left(c));
	struct cursor time = *c;
	struct buf *b = &p->text;
	struct perf_taken t;
	const struct ps_sample *s = &t.s;

	if (!a || perf_sample_take(&p->r.info, a, c, &t)) {
		buf_addf(b, "0x%" PRIx64 " [%#zx]: PERF_RECORD_SAMPLE%s", perf_raw_offset(raw),
			 raw->size,
			 a ? ": shorter than its event requires" : ": has the id of no event");
		return;
	}
	if (a->time_pos >= 0)
		cursor_skip(&time, 8 * (uint64_t)a->time_pos);
	if (s->cpu != PS_NONE)
		buf_addf(b, "%" PRIu32 " ", s->cpu);
	buf_addf(b,
		 "%" PRIu64 " 0x%" PRIx64 " [%#zx]: PERF_RECORD_SAMPLE(IP, %#x): %" PRId32
		 "/%" PRId32 ": %#" PRIx64 " period: %" PRIu64 " addr: %#" PRIx64,
		 a->time_pos >= 0 ? get_u64(&time) : 0, perf_raw_offset(raw), raw->size, raw->misc,
		 (int32_t)s->pid, (int32_t)s->tid, s->ip, s->period, s->addr);
	add_fields(p, a, &t);
	if (a->sample_type & PSB_TID)
		add_thread(p, s->tid);
	if (p->r.info.nattrs > 1 && a->name) {
		buf_adds(b, "\n ... event: ");
		buf_add_safe(b, a->name, strlen(a->name));
	}
}
