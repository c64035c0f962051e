/* -F: what a list of fields makes of the defaults, for each kind of event. */
#include "base/err.h"
#include "print/text_fields.h"
#include "tap.h"

#define F(name) TEXT_FIELD(name)
#define ALL	(PERF_SAMPLE_IP | PERF_SAMPLE_TID | PERF_SAMPLE_TIME | PERF_SAMPLE_CPU)
#define START	(F(comm) | F(tid) | F(cpu) | F(time) | F(event))
#define PLACE	(F(ip) | F(sym) | F(symoff) | F(dso))
#define HW	(START | PLACE | F(period))

static const struct {
	const char *args[3];
	enum text_kind kind;
	uint64_t sample_type;
	bool chains;
	uint64_t want, lacking;
} good[] = {
	/* what perf prints of itself */
	{{0}, TEXT_KIND_hw, ALL, false, HW, 0},
	{{0}, TEXT_KIND_sw, ALL, true, HW | F(bpf_output), 0},
	{{0}, TEXT_KIND_hw, ALL & ~PERF_SAMPLE_CPU, false, HW & ~F(cpu), 0},
	{{0}, TEXT_KIND_hw, ALL & ~PERF_SAMPLE_TIME, false, HW & ~F(time), 0},
	{{0}, TEXT_KIND_trace, ALL, false, START | F(trace), 0},
	{{0}, TEXT_KIND_trace, ALL, true, START | F(trace) | PLACE, 0},
	{{0}, TEXT_KIND_break, ALL | PERF_SAMPLE_ADDR, false, HW, 0},
	{{0},
	 TEXT_KIND_raw,
	 ALL | PERF_SAMPLE_ADDR | PERF_SAMPLE_WEIGHT_STRUCT,
	 false,
	 HW | F(addr) | F(weight) | F(ins_lat),
	 0},
	{{0},
	 TEXT_KIND_raw,
	 ALL | PERF_SAMPLE_WEIGHT | PERF_SAMPLE_DATA_SRC,
	 false,
	 HW | F(weight) | F(data_src),
	 0},
	/* all that is to be printed */
	{{"comm,pid"}, TEXT_KIND_hw, ALL, true, F(comm) | F(pid), 0},
	{{"comm,pid,"}, TEXT_KIND_trace, ALL, true, F(comm) | F(pid), 0},
	{{"event,trace,ip"}, TEXT_KIND_hw, ALL, false, F(event) | F(ip), 0},
	{{"comm,bpf-output"}, TEXT_KIND_sw, ALL, false, F(comm) | F(bpf_output), 0},
	{{"comm", "pid"}, TEXT_KIND_hw, ALL, false, F(pid), 0},
	/*
	 * signs; perf takes a kind with signs for one that was set, chains of tracepoints included
	 */
	{{"+pid"}, TEXT_KIND_hw, ALL, false, HW | F(pid), 0},
	{{"-comm,+pid"}, TEXT_KIND_hw, ALL, false, (HW & ~F(comm)) | F(pid), 0},
	{{"+pid"}, TEXT_KIND_trace, ALL, true, START | F(trace) | F(pid), 0},
	{{"+trace"}, TEXT_KIND_hw, ALL, false, HW, 0},
	{{"+pid", "-tid"}, TEXT_KIND_hw, ALL, false, (HW & ~F(tid)) | F(pid), 0},
	/* one kind */
	{{"trace:comm,trace"}, TEXT_KIND_trace, ALL, true, F(comm) | F(trace), 0},
	{{"trace:comm,trace"}, TEXT_KIND_hw, ALL, false, HW, 0},
	{{"trace:"}, TEXT_KIND_trace, ALL, true, 0, 0},
	{{"hw:"}, TEXT_KIND_trace, ALL, true, START | F(trace) | PLACE, 0},
	{{"sw:+addr"},
	 TEXT_KIND_sw,
	 ALL | PERF_SAMPLE_ADDR,
	 false,
	 HW | F(bpf_output) | F(addr),
	 0},
	{{"comm,pid", "trace:comm,trace"}, TEXT_KIND_trace, ALL, false, F(comm) | F(trace), 0},
	{{"comm,pid", "trace:comm,trace"}, TEXT_KIND_hw, ALL, false, F(comm) | F(pid), 0},
	{{"raw:ip"}, TEXT_KIND_raw, ALL, false, F(ip), 0},
	{{"break:ip"}, TEXT_KIND_break, ALL, false, F(ip), 0},
	{{"cache:ip"}, TEXT_KIND_cache, ALL, false, F(ip), 0},
	{{"other:ip"}, TEXT_KIND_other, ALL, false, F(ip), 0},
	/* asked for by name, and not recorded */
	{{"comm,addr,cpu"}, TEXT_KIND_hw, ALL, false, F(comm) | F(cpu), F(addr)},
	{{"+weight"}, TEXT_KIND_hw, ALL, false, HW, F(weight)},
	{{"+weight", "-weight"}, TEXT_KIND_hw, ALL, false, HW, 0},
	{{"tid,pid"}, TEXT_KIND_hw, PERF_SAMPLE_IP, false, 0, F(tid) | F(pid)},
	/* no perf.data: as samples have them */
	{{"comm,addr"}, TEXT_KIND_hw, 0, false, F(comm) | F(addr), 0},
};

static const struct {
	const char *arg, *why;
} bad[] = {
	{"", "-F: an empty list is possible only for one kind of event: 'trace:'"},
	{"comm,perriod",
	 "-F: no such field: 'perriod'; did you mean 'period'? The fields are: comm,"},
	{"comm,xyzzy", "-F: no such field: 'xyzzy' The fields are: comm, tid,"},
	{"\x1b[2J", "-F: no such field: '\\x1b[2J'"},
	{"brstackinsn", "-F: 'brstackinsn' needs a disassembler, which is not available here"},
	{"+comm,pid", "-F: either all fields have a sign or none"},
	{"comm,+pid", "-F: either all fields have a sign or none"},
	{"hw:trace", "-F: hardware events have no field 'trace'"},
	{"soft:comm", "-F: no such kind of event: 'soft'; there are hw, sw, trace, cache, raw, "
		      "break, other"},
	{":comm", "-F: no such kind of event: ''"},
};

int main(void)
{
	for (size_t i = 0; i < sizeof(good) / sizeof(good[0]); i++) {
		struct text_fields f = {0};
		struct buf why = BUF_INIT;
		uint64_t lacking, got;
		int rc = 0;

		for (size_t j = 0; j < 3 && good[i].args[j]; j++)
			rc |= text_fields_parse(&f, good[i].args[j], &why);
		got = text_fields_pick(&f, good[i].kind, good[i].sample_type, good[i].chains,
				       &lacking);
		if (!ok(!rc && got == good[i].want && lacking == good[i].lacking,
			"%zu: %s for %s events", i, good[i].args[0] ? good[i].args[0] : "nothing",
			text_kind_name(good[i].kind)))
			printf("# %s got %#" PRIx64 " wanted %#" PRIx64 ", lacking %#" PRIx64 "\n",
			       buf_str(&why), got, good[i].want, lacking);
		buf_release(&why);
	}
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		struct text_fields f = {0};
		struct buf why = BUF_INIT;

		is_int(text_fields_parse(&f, bad[i].arg, &why), PP_EUSAGE, "bad %zu is refused", i);
		ok(!strncmp(buf_str(&why), bad[i].why, strlen(bad[i].why)) && !f.given,
		   "with a reason, and nothing changed: %s", bad[i].why);
		if (strncmp(buf_str(&why), bad[i].why, strlen(bad[i].why)))
			printf("# %s\n", buf_str(&why));
		buf_release(&why);
	}
	for (uint32_t type = 0; type < 9; type++)
		is_int(text_kind_of(type), type < 6 ? type : 6, "type %u", type);
	return done();
}
