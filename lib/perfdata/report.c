/*
 * What there is to report when a recording has been decoded: what was skipped, lost, or came too
 * late.
 */
#include "perfdata/decoder.h"

#include <inttypes.h>

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
	uint64_t unknown = 0;

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
	for (unsigned t = PERF_REC_SCHEDSTAT_DOMAIN + 1; t < 256; t++)
		unknown += p->r.counts[t];
	for (unsigned t = PERF_REC_CALLCHAIN_DEFERRED + 1; t < PERF_REC_USER_START; t++)
		unknown += p->r.counts[t];
	unknown += p->r.counts[0];
	if (unknown)
		diag_say(p->r.info.d, p->r.info.name,
			 "%" PRIu64 " records of unknown types skipped", unknown);
}

/* The records of the recording by type, as `perf report --stats` counts them. */
static void say_types(const struct perf_decoder *p)
{
	static const char *const names[] = {
#define R(name, number, text) [number] = (text),
		PERF_RECORD_TYPES(R)
#undef R
	};
	struct buf b = BUF_INIT;
	uint64_t total = 0;

	for (size_t i = 0; i < sizeof(p->r.counts) / sizeof(p->r.counts[0]); i++) {
		if (!p->r.counts[i])
			continue;
		total += p->r.counts[i];
		buf_adds(&b, b.len ? ", " : ": ");
		buf_add_u64(&b, p->r.counts[i], 0, ' ');
		if (i < sizeof(names) / sizeof(names[0]) && names[i])
			buf_addf(&b, " %s", names[i]);
		else
			buf_addf(&b, " of type %zu", i);
	}
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
