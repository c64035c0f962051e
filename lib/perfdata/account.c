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

/* Whether nothing of a record of simpleperf's is lost. */
static bool is_read(uint32_t simpleperf)
{
	switch (simpleperf) {
	case PERF_SIMPLEPERF_KERNEL_SYMBOL:
	case PERF_SIMPLEPERF_DSO:
	case PERF_SIMPLEPERF_SYMBOL:
	case PERF_SIMPLEPERF_SPLIT:
	case PERF_SIMPLEPERF_SPLIT_END:
	case PERF_SIMPLEPERF_TRACING_DATA: return true;
	default: return false;
	}
}

static void add_count(struct buf *b, uint64_t n, const char *name)
{
	buf_adds(b, b->len ? ", " : ": ");
	buf_add_u64(b, n, 0, ' ');
	buf_addf(b, " %s", name);
}

/* The same of a type that has no name. */
static void add_number(struct buf *b, uint64_t n, uint32_t type)
{
	char text[24];

	snprintf(text, sizeof(text), "of type %" PRIu32, type);
	if (n)
		add_count(b, n, text);
}

/* Records of the types beyond those that are counted one by one. */
static void add_others(struct buf *b, const struct perf_decoder *p)
{
	uint64_t more = p->r.other;

	for (int i = 0; i < PERF_OTHERS_MAX; i++) {
		add_number(b, p->r.others[i].n, p->r.others[i].type);
		more -= p->r.others[i].n;
	}
	if (more)
		add_count(b, more, "of other types");
}

/* Records of types that have no name here. */
static void say_unknown(const struct perf_decoder *p)
{
	uint64_t unknown = p->r.other;
	struct buf b = BUF_INIT;

	for (unsigned t = 0; t < sizeof(p->r.counts) / sizeof(p->r.counts[0]); t++) {
		if (type_names[t])
			continue;
		unknown += p->r.counts[t];
		add_number(&b, p->r.counts[t], t);
	}
	add_others(&b, p);
	if (unknown)
		diag_say(p->r.info.d, p->r.info.name,
			 "%" PRIu64 " record%s of unknown types skipped%s", unknown,
			 unknown == 1 ? "" : "s", buf_str(&b));
	buf_release(&b);
}

/* Those of simpleperf, by the names that it has for them. */
static void say_simpleperf(const struct perf_decoder *p)
{
	struct buf b = BUF_INIT;
	uint64_t n = 0;

	for (unsigned t = 0; t < PERF_SIMPLEPERF_MAX; t++) {
		if (is_read(PERF_SIMPLEPERF_START + t))
			continue;
		n += p->r.simpleperf[t];
		if (!simpleperf_names[t])
			add_number(&b, p->r.simpleperf[t], PERF_SIMPLEPERF_START + t);
		else if (p->r.simpleperf[t])
			add_count(&b, p->r.simpleperf[t], simpleperf_names[t]);
	}
	if (n)
		diag_say(p->r.info.d, p->r.info.name,
			 "%" PRIu64 " of simpleperf's own records skipped%s", n, buf_str(&b));
	buf_release(&b);
}

/* The kind of hardware trace data, by AUXTRACE_INFO. */
static const char *aux_name(uint32_t type)
{
	static const char *const names[] = {
		"",	      " (Intel PT)",	" (Intel BTS)",	    " (Arm CoreSight ETM)",
		" (Arm SPE)", " (s390 CPU-MF)", " (HiSilicon PTT)", " (PowerPC VPA DTL)",
	};

	return type < sizeof(names) / sizeof(names[0]) ? names[type] : "";
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

	for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++) {
		uint64_t n = p->r.counts[kinds[i].type];

		if (n)
			diag_say(p->r.info.d, p->r.info.name, "%" PRIu64 " %s record%s skipped", n,
				 kinds[i].name, n == 1 ? "" : "s");
	}
	if (p->r.counts[PERF_REC_AUXTRACE])
		diag_say(p->r.info.d, p->r.info.name,
			 "%" PRIu64 " bytes of hardware trace data%s in %" PRIu64
			 " record%s skipped",
			 p->r.aux_bytes, aux_name(p->r.aux_type), p->r.counts[PERF_REC_AUXTRACE],
			 p->r.counts[PERF_REC_AUXTRACE] == 1 ? "" : "s");
	if (perf_has_feature(&p->r.info, FEAT_SIMPLEPERF_ETM_BRANCH_LIST))
		diag_say(p->r.info.d, p->r.info.name,
			 "branches that simpleperf has decoded from Arm CoreSight ETM data (header "
			 "feature etm_branch_list) skipped");
	say_simpleperf(p);
	say_unknown(p);
}

/* The records of the recording by type, as `perf report --stats` counts them. */
static void say_types(const struct perf_decoder *p)
{
	struct buf b = BUF_INIT;
	uint64_t total = p->r.other;

	for (unsigned t = 0; t < sizeof(p->r.counts) / sizeof(p->r.counts[0]); t++) {
		total += p->r.counts[t];
		if (!type_names[t])
			add_number(&b, p->r.counts[t], t);
		else if (p->r.counts[t])
			add_count(&b, p->r.counts[t], type_names[t]);
	}
	for (unsigned t = 0; t < PERF_SIMPLEPERF_MAX; t++) {
		total += p->r.simpleperf[t];
		if (!simpleperf_names[t])
			add_number(&b, p->r.simpleperf[t], PERF_SIMPLEPERF_START + t);
		else if (p->r.simpleperf[t])
			add_count(&b, p->r.simpleperf[t], simpleperf_names[t]);
	}
	add_others(&b, p);
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
			 "hardware trace data was cut off %" PRIu64 " time%s", p->tally.aux_cut,
			 p->tally.aux_cut == 1 ? "" : "s");
	if (p->tally.undeferred)
		diag_say(p->r.info.d, p->r.info.name,
			 "%" PRIu64 " samples have no user call chain: it was recorded too late",
			 p->tally.undeferred);
	if (p->tally.untimed)
		diag_say(p->r.info.d, p->r.info.name, "%" PRIu64 " samples have no time",
			 p->tally.untimed);
}
