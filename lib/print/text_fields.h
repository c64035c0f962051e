/*
 * Which fields of a sample are printed: the language of perf script's -F, and the one table of its
 * fields, which feeds the parser, the printer and the messages.
 *
 *	struct text_fields f = {0};
 *	rc = text_fields_parse(&f, "comm,tid,time,event,ip,sym", &why);
 *	...
 *	fields = text_fields_pick(&f, TEXT_KIND_hw, event->sample_type, has_chains, &lacking);
 *	if (TEXT_HAS(fields, comm))
 *
 * perf goes by the kind of an event, not by the event: what is missing in the first event of a kind
 * is printed for none of that kind.
 */
#ifndef PP_PRINT_TEXT_FIELDS_H
#define PP_PRINT_TEXT_FIELDS_H

#include "base/buf.h"

#include <linux/perf_event.h>
#include <stdbool.h>

#define TEXT_WEIGHTS (PERF_SAMPLE_WEIGHT | PERF_SAMPLE_WEIGHT_STRUCT)

/*
 * F(id, name, needs, what): needs are the PERF_SAMPLE_* bits of which an event must have one; 0
 * none. The order is that of perf's messages; lines have an order of their own.
 */
#define TEXT_FIELDS(F) \
	F(comm, "comm", 0, "name of the thread") \
	F(tid, "tid", PERF_SAMPLE_TID, "thread") \
	F(pid, "pid", PERF_SAMPLE_TID, "process") \
	F(time, "time", PERF_SAMPLE_TIME, "seconds of the recording's clock") \
	F(cpu, "cpu", PERF_SAMPLE_CPU, "CPU") \
	F(event, "event", 0, "name of the event") \
	F(trace, "trace", 0, "text of a tracepoint") \
	F(ip, "ip", PERF_SAMPLE_IP, "address, or the call chain") \
	F(sym, "sym", 0, "symbols of the addresses") \
	F(dso, "dso", 0, "objects of the addresses") \
	F(addr, "addr", PERF_SAMPLE_ADDR, "address that the event is about") \
	F(symoff, "symoff", 0, "offsets in the symbols") \
	F(srcline, "srcline", 0, "source lines of the addresses") \
	F(period, "period", 0, "what the sample stands for") \
	F(iregs, "iregs", PERF_SAMPLE_REGS_INTR, "registers at the interrupt") \
	F(uregs, "uregs", PERF_SAMPLE_REGS_USER, "user-space registers") \
	F(brstack, "brstack", PERF_SAMPLE_BRANCH_STACK, "branches") \
	F(brstacksym, "brstacksym", PERF_SAMPLE_BRANCH_STACK, "branches by symbols") \
	F(data_src, "data_src", PERF_SAMPLE_DATA_SRC, "where the data came from") \
	F(weight, "weight", TEXT_WEIGHTS, "cost") \
	F(bpf_output, "bpf-output", 0, "what a BPF program has written") \
	F(phys_addr, "phys_addr", PERF_SAMPLE_PHYS_ADDR, "physical address") \
	F(misc, "misc", 0, "letters for the kind of code: K, U, H, G, g") \
	F(data_page_size, "data_page_size", PERF_SAMPLE_DATA_PAGE_SIZE, "page of addr") \
	F(code_page_size, "code_page_size", PERF_SAMPLE_CODE_PAGE_SIZE, "page of ip") \
	F(ins_lat, "ins_lat", PERF_SAMPLE_WEIGHT_STRUCT, "latency of the instruction") \
	F(retire_lat, "retire_lat", PERF_SAMPLE_WEIGHT_STRUCT, "latency of its retirement") \
	F(cgroup, "cgroup", PERF_SAMPLE_CGROUP, "cgroup") \
	F(dsoff, "dsoff", 0, "offsets in the objects") \
	F(tod, "tod", PERF_SAMPLE_TIME, "time of day")

/* Fields of perf script that need what is not decoded here. */
#define TEXT_FIELDS_ABSENT(F) \
	F("flags", "decoded hardware traces") \
	F("callindent", "decoded hardware traces") \
	F("insn", "decoded hardware traces") \
	F("insnlen", "decoded hardware traces") \
	F("synth", "decoded hardware traces") \
	F("ipc", "decoded hardware traces") \
	F("brstackinsn", "a disassembler") \
	F("brstackinsnlen", "a disassembler") \
	F("brstackdisasm", "a disassembler") \
	F("disasm", "a disassembler") \
	F("brstackoff", "objects of branches") \
	F("brcntr", "a description of the branch counters") \
	F("srccode", "source files") \
	F("metric", "perf's metrics") \
	F("machine_pid", "recordings of guests that perf has merged") \
	F("vcpu", "recordings of guests that perf has merged")

/* Kinds of events, by PERF_TYPE_*. K(id, name in -F, what) */
#define TEXT_KINDS(K) \
	K(hw, "hw", "hardware") \
	K(sw, "sw", "software") \
	K(trace, "trace", "tracepoint") \
	K(cache, "cache", "hardware cache") \
	K(raw, "raw", "raw hardware") \
	K(break, "break", "breakpoint") \
	K(other, "other", "other")

enum text_field {
#define TEXT_F(id, name, needs, what) TEXT_FIELD_##id,
	TEXT_FIELDS(TEXT_F)
#undef TEXT_F
		TEXT_FIELD_COUNT
};
#define TEXT_FIELD(id)	       (UINT64_C(1) << TEXT_FIELD_##id)
#define TEXT_HAS(fields, name) (((fields)&TEXT_FIELD(name)) != 0)

enum text_kind {
#define TEXT_K(id, name, what) TEXT_KIND_##id,
	TEXT_KINDS(TEXT_K)
#undef TEXT_K
		TEXT_KIND_COUNT
};

/* All 0: what perf prints without -F. */
struct text_fields {
	bool given;
	struct {
		uint64_t fields, asked; /* asked: by name, not by default */
		bool set;
	} of[TEXT_KIND_COUNT];
};

/*
 * Takes the argument of one -F; further ones add to it as in perf. 0, or PP_EUSAGE with what is
 * wrong in `why`.
 */
int text_fields_parse(struct text_fields *f, const char *arg, struct buf *why);

/* The kind of an event by its PERF_TYPE_*. */
enum text_kind text_kind_of(uint32_t type);

/*
 * The fields to print of the events of a kind. sample_type: PERF_SAMPLE_* bits of the first event
 * of the kind, 0 if it is not from a perf.data, when fields are printed as samples have them.
 * chains: an event of the kind has call chains. `lacking` gets the fields that were asked for by
 * name and that the event does not have.
 */
uint64_t text_fields_pick(const struct text_fields *f, enum text_kind kind, uint64_t sample_type,
			  bool chains, uint64_t *lacking);

/* The name of a field, of a kind; static storage. */
const char *text_field_name(enum text_field field);
const char *text_kind_name(enum text_kind kind);

#endif
