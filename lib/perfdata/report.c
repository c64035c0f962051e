/*
 * What there is to report when a recording has been decoded: what was skipped, lost, or came too
 * late.
 */
#include "perfdata/decoder.h"

#include <inttypes.h>
#include <stdio.h>

static const char *const type_names[sizeof(((struct perf_reader *)0)->counts) / sizeof(uint64_t)] =
	{
#define R(name, number, text) [number] = (text),
		PERF_RECORD_TYPES(R)
#undef R
};
static const char *const simpleperf_names[PERF_SIMPLEPERF_MAX] = {
#define R(name, number, text) [number] = (text),
	PERF_SIMPLEPERF_TYPES(R)
#undef R
};

static bool is_read(uint32_t simpleperf)
{
	return simpleperf == PERF_SIMPLEPERF_TRACING_DATA || simpleperf == PERF_SIMPLEPERF_SPLIT ||
	       simpleperf == PERF_SIMPLEPERF_SPLIT_END;
}

/* What was skipped, each kind once. */
static void say_skipped(const struct perf_decoder *p)
{
	static const struct {
		unsigned type;
		const char *name;
	} kinds[] = {
		{PERF_REC_SCHEDSTAT_CPU, "schedstat_cpu"},
		{PERF_REC_SCHEDSTAT_DOMAIN, "schedstat_domain"},
		{PERF_REC_AUXTRACE_ERROR, "auxtrace_error"},
	};
	uint64_t unknown = 0, simpleperf = 0;

	for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++) {
		uint64_t n = p->r.counts[kinds[i].type];

		if (n)
			diag_say(p->r.info.d, p->r.info.name, "%" PRIu64 " %s record%s skipped", n,
				 kinds[i].name, n == 1 ? "" : "s");
	}
	if (p->r.counts[PERF_REC_AUXTRACE])
		diag_say(p->r.info.d, p->r.info.name,
			 "%" PRIu64 " bytes of hardware trace data in %" PRIu64 " record%s skipped",
			 p->r.aux_bytes, p->r.counts[PERF_REC_AUXTRACE],
			 p->r.counts[PERF_REC_AUXTRACE] == 1 ? "" : "s");
	for (unsigned t = 0; t < sizeof(p->r.counts) / sizeof(p->r.counts[0]); t++)
		if (!type_names[t])
			unknown += p->r.counts[t];
	for (unsigned t = 0; t < PERF_SIMPLEPERF_MAX; t++)
		if (!is_read(PERF_SIMPLEPERF_START + t))
			simpleperf += p->r.simpleperf[t];
	unknown += p->r.other;
	if (simpleperf)
		diag_say(p->r.info.d, p->r.info.name,
			 "%" PRIu64 " of simpleperf's own records skipped", simpleperf);
	if (unknown)
		diag_say(p->r.info.d, p->r.info.name,
			 "%" PRIu64 " records of unknown types skipped", unknown);
}

static void add_count(struct buf *b, uint64_t n, const char *name)
{
	buf_adds(b, b->len ? ", " : ": ");
	buf_add_u64(b, n, 0, ' ');
	buf_addf(b, " %s", name);
}

/* The records of the recording by type, as `perf report --stats` counts them. */
static void say_types(const struct perf_decoder *p)
{
	struct buf b = BUF_INIT;
	uint64_t total = p->r.other;
	char text[24];

	for (unsigned t = 0; t < sizeof(p->r.counts) / sizeof(p->r.counts[0]); t++) {
		snprintf(text, sizeof(text), "of type %u", t);
		total += p->r.counts[t];
		if (p->r.counts[t])
			add_count(&b, p->r.counts[t], type_names[t] ? type_names[t] : text);
	}
	for (unsigned t = 0; t < PERF_SIMPLEPERF_MAX; t++) {
		snprintf(text, sizeof(text), "of type %u", PERF_SIMPLEPERF_START + t);
		total += p->r.simpleperf[t];
		if (p->r.simpleperf[t])
			add_count(&b, p->r.simpleperf[t],
				  simpleperf_names[t] ? simpleperf_names[t] : text);
	}
	if (p->r.other)
		add_count(&b, p->r.other, "of other types");
	diag_say(p->r.info.d, p->r.info.name, "%" PRIu64 " records read%s", total, buf_str(&b));
	buf_release(&b);
}

void perf_report(const struct perf_decoder *p, bool types)
{
	if (types)
		say_types(p);
	say_skipped(p);
	if (p->order.late)
		diag_say(p->r.info.d, p->r.info.name,
			 "%" PRIu64 " records came too late to be put in time order",
			 p->order.late);
	if (p->tally.lost)
		diag_say(p->r.info.d, p->r.info.name, "the recorder lost %" PRIu64 " event%s",
			 p->tally.lost, p->tally.lost == 1 ? "" : "s");
	if (p->tally.aux_cut)
		diag_say(p->r.info.d, p->r.info.name,
			 "hardware trace data were cut off %" PRIu64 " time%s", p->tally.aux_cut,
			 p->tally.aux_cut == 1 ? "" : "s");
	if (p->tally.undeferred)
		diag_say(p->r.info.d, p->r.info.name,
			 "%" PRIu64 " samples lack their user call chain: it was recorded too late",
			 p->tally.undeferred);
	if (p->tally.untimed)
		diag_say(p->r.info.d, p->r.info.name, "%" PRIu64 " samples have no time",
			 p->tally.untimed);
}
