/*
 * The perf.data format: the part that recording and decoding share.
 *
 * Kernel records and attributes are those of <linux/perf_event.h>; what perf(1) adds to them is
 * here. Sources: tools/perf/Documentation/perf.data-file-format.txt of the kernel tree, and
 * include/uapi/linux/perf_event.h. Numbers newer than the installed kernel headers are repeated
 * here.
 */
#ifndef PP_PERFDATA_FORMAT_H
#define PP_PERFDATA_FORMAT_H

#include <stdint.h>

#define PERF_MAGIC1	      "PERFFILE" /* version 1, before Linux 3.4, in either byte order */
#define PERF_MAGIC2	      "PERFILE2" /* little endian; "2ELIFREP" when swapped */
#define PERF_MAGIC2_SWAP      "2ELIFREP"
#define PERF_FILE_HEADER_SIZE 104 /* magic, size, attr_size, 3 sections, 256 feature bits */
#define PERF_PIPE_HEADER_SIZE 16  /* magic, size */
#define PERF_ATTR_SIZE_VER0   64

/* PERF_RECORD_*: type, number, short name. 1 to 63 are the kernel's, from 64 on perf's own. */
#define PERF_RECORD_TYPES(R) \
	R(MMAP, 1, "mmap") \
	R(LOST, 2, "lost") \
	R(COMM, 3, "comm") \
	R(EXIT, 4, "exit") \
	R(THROTTLE, 5, "throttle") \
	R(UNTHROTTLE, 6, "unthrottle") \
	R(FORK, 7, "fork") \
	R(READ, 8, "read") \
	R(SAMPLE, 9, "sample") \
	R(MMAP2, 10, "mmap2") \
	R(AUX, 11, "aux") \
	R(ITRACE_START, 12, "itrace_start") \
	R(LOST_SAMPLES, 13, "lost_samples") \
	R(SWITCH, 14, "switch") \
	R(SWITCH_CPU_WIDE, 15, "switch_cpu_wide") \
	R(NAMESPACES, 16, "namespaces") \
	R(KSYMBOL, 17, "ksymbol") \
	R(BPF_EVENT, 18, "bpf_event") \
	R(CGROUP, 19, "cgroup") \
	R(TEXT_POKE, 20, "text_poke") \
	R(AUX_OUTPUT_HW_ID, 21, "aux_output_hw_id") \
	R(CALLCHAIN_DEFERRED, 22, "callchain_deferred") \
	R(HEADER_ATTR, 64, "attr") \
	R(HEADER_EVENT_TYPE, 65, "event_type") \
	R(HEADER_TRACING_DATA, 66, "tracing_data") \
	R(HEADER_BUILD_ID, 67, "build_id") \
	R(FINISHED_ROUND, 68, "finished_round") \
	R(ID_INDEX, 69, "id_index") \
	R(AUXTRACE_INFO, 70, "auxtrace_info") \
	R(AUXTRACE, 71, "auxtrace") \
	R(AUXTRACE_ERROR, 72, "auxtrace_error") \
	R(THREAD_MAP, 73, "thread_map") \
	R(CPU_MAP, 74, "cpu_map") \
	R(STAT_CONFIG, 75, "stat_config") \
	R(STAT, 76, "stat") \
	R(STAT_ROUND, 77, "stat_round") \
	R(EVENT_UPDATE, 78, "event_update") \
	R(TIME_CONV, 79, "time_conv") \
	R(HEADER_FEATURE, 80, "feature") \
	R(COMPRESSED, 81, "compressed") \
	R(FINISHED_INIT, 82, "finished_init") \
	R(COMPRESSED2, 83, "compressed2") \
	R(BPF_METADATA, 84, "bpf_metadata") \
	R(SCHEDSTAT_CPU, 85, "schedstat_cpu") \
	R(SCHEDSTAT_DOMAIN, 86, "schedstat_domain")

enum perf_rec {
#define PERF_REC_ENUM(name, number, text) PERF_REC_##name = (number),
	PERF_RECORD_TYPES(PERF_REC_ENUM)
#undef PERF_REC_ENUM
};
#define PERF_REC_USER_START 64

/* simpleperf has features of its own from 128 on: number, name. */
#define FEAT_SIMPLEPERF(F) \
	F(FILE, 128, "file") \
	F(META, 129, "meta_info") \
	F(DEBUG_UNWIND, 130, "debug_unwind") \
	F(DEBUG_UNWIND_FILE, 131, "debug_unwind_file") \
	F(FILE2, 132, "file2") \
	F(ETM_BRANCH_LIST, 133, "etm_branch_list") \
	F(INIT_MAP, 134, "init_map")

enum feat_simpleperf {
#define FEAT_ENUM(name, number, text) FEAT_SIMPLEPERF_##name = (number),
	FEAT_SIMPLEPERF(FEAT_ENUM)
#undef FEAT_ENUM
	/* The text of the kernel's symbols, which is a record of its own. */
	FEAT_SIMPLEPERF_KALLSYMS = 256,
};

/*
 * simpleperf's own records (its record.h): type, number from PERF_SIMPLEPERF_START on,
 * short name. Their size has 32 bits: the upper half lies where other records have misc.
 */
#define PERF_SIMPLEPERF_TYPES(R) \
	R(KERNEL_SYMBOL, 1, "kernel_symbol") \
	R(DSO, 2, "dso") \
	R(SYMBOL, 3, "symbol") \
	R(SPLIT, 4, "split") \
	R(SPLIT_END, 5, "split_end") \
	R(EVENT_ID, 6, "event_id") \
	R(CALLCHAIN, 7, "callchain") \
	R(UNWINDING_RESULT, 8, "unwinding_result") \
	R(TRACING_DATA, 9, "tracing_data") \
	R(DEBUG, 10, "debug")

#define PERF_SIMPLEPERF_START 32768u
#define PERF_SIMPLEPERF_MAX   16 /* more types than there are */

enum perf_simpleperf {
#define PERF_SIMPLEPERF_ENUM(name, number, text) \
	PERF_SIMPLEPERF_##name = PERF_SIMPLEPERF_START + (number),
	PERF_SIMPLEPERF_TYPES(PERF_SIMPLEPERF_ENUM)
#undef PERF_SIMPLEPERF_ENUM
};

/*
 * Generic events: PERF_COUNT_HW_*, PERF_COUNT_SW_* and PERF_COUNT_HW_CACHE_* by number, perf's
 * names.
 */
#define PERF_HW_EVENTS(E) \
	E(CPU_CYCLES, "cycles") \
	E(INSTRUCTIONS, "instructions") \
	E(CACHE_REFERENCES, "cache-references") \
	E(CACHE_MISSES, "cache-misses") \
	E(BRANCH_INSTRUCTIONS, "branches") \
	E(BRANCH_MISSES, "branch-misses") \
	E(BUS_CYCLES, "bus-cycles") \
	E(STALLED_CYCLES_FRONTEND, "stalled-cycles-frontend") \
	E(STALLED_CYCLES_BACKEND, "stalled-cycles-backend") \
	E(REF_CPU_CYCLES, "ref-cycles")
#define PERF_SW_EVENTS(E) \
	E(CPU_CLOCK, "cpu-clock") \
	E(TASK_CLOCK, "task-clock") \
	E(PAGE_FAULTS, "page-faults") \
	E(CONTEXT_SWITCHES, "context-switches") \
	E(CPU_MIGRATIONS, "cpu-migrations") \
	E(PAGE_FAULTS_MIN, "minor-faults") \
	E(PAGE_FAULTS_MAJ, "major-faults") \
	E(ALIGNMENT_FAULTS, "alignment-faults") \
	E(EMULATION_FAULTS, "emulation-faults") \
	E(DUMMY, "dummy") \
	E(BPF_OUTPUT, "bpf-output") \
	E(CGROUP_SWITCHES, "cgroup-switches")
#define PERF_CACHES(E) \
	E(L1D, "L1-dcache") \
	E(L1I, "L1-icache") \
	E(LL, "LLC") \
	E(DTLB, "dTLB") \
	E(ITLB, "iTLB") \
	E(BPU, "branch") \
	E(NODE, "node")

/* Header features: bit in the file header, or id of a HEADER_FEATURE record. */
#define PERF_FEATURES(F) \
	F(TRACING_DATA, 1, "tracing_data") \
	F(BUILD_ID, 2, "build_id") \
	F(HOSTNAME, 3, "hostname") \
	F(OSRELEASE, 4, "osrelease") \
	F(VERSION, 5, "version") \
	F(ARCH, 6, "arch") \
	F(NRCPUS, 7, "nrcpus") \
	F(CPUDESC, 8, "cpudesc") \
	F(CPUID, 9, "cpuid") \
	F(TOTAL_MEM, 10, "total_mem") \
	F(CMDLINE, 11, "cmdline") \
	F(EVENT_DESC, 12, "event_desc") \
	F(CPU_TOPOLOGY, 13, "cpu_topology") \
	F(NUMA_TOPOLOGY, 14, "numa_topology") \
	F(BRANCH_STACK, 15, "branch_stack") \
	F(PMU_MAPPINGS, 16, "pmu_mappings") \
	F(GROUP_DESC, 17, "group_desc") \
	F(AUXTRACE, 18, "auxtrace") \
	F(STAT, 19, "stat") \
	F(CACHE, 20, "cache") \
	F(SAMPLE_TIME, 21, "sample_time") \
	F(MEM_TOPOLOGY, 22, "mem_topology") \
	F(CLOCKID, 23, "clockid") \
	F(DIR_FORMAT, 24, "dir_format") \
	F(BPF_PROG_INFO, 25, "bpf_prog_info") \
	F(BPF_BTF, 26, "bpf_btf") \
	F(COMPRESSED, 27, "compressed") \
	F(CPU_PMU_CAPS, 28, "cpu_pmu_caps") \
	F(CLOCK_DATA, 29, "clock_data") \
	F(HYBRID_TOPOLOGY, 30, "hybrid_topology") \
	F(PMU_CAPS, 31, "pmu_caps") \
	F(CPU_DOMAIN_INFO, 32, "cpu_domain_info") \
	F(E_MACHINE, 33, "e_machine") \
	F(CLN_SIZE, 34, "cln_size")

enum perf_feature {
#define PERF_FEAT_ENUM(name, number, text) PERF_FEAT_##name = (number),
	PERF_FEATURES(PERF_FEAT_ENUM)
#undef PERF_FEAT_ENUM
		PERF_FEAT_MAX = 256,
};

/* misc bits of a record header. */
#define PERF_MISC_CPUMODE		 7
#define PERF_MISC_KERNEL		 1
#define PERF_MISC_USER			 2
#define PERF_MISC_HYPERVISOR		 3
#define PERF_MISC_GUEST_KERNEL		 4
#define PERF_MISC_GUEST_USER		 5
#define PERF_MISC_PROC_MAP_PARSE_TIMEOUT (1 << 12)
#define PERF_MISC_MMAP_DATA		 (1 << 13)
#define PERF_MISC_COMM_EXEC		 (1 << 13)
#define PERF_MISC_FORK_EXEC		 (1 << 13)
#define PERF_MISC_SWITCH_OUT		 (1 << 13)
#define PERF_MISC_EXACT_IP		 (1 << 14)
#define PERF_MISC_MMAP_BUILD_ID		 (1 << 14)
#define PERF_MISC_BUILD_ID_SIZE		 (1 << 15)
#define PERF_MISC_LOST_SAMPLES_BPF	 (1 << 15)

/*
 * The end mark of pcap-perf's recordings: a HEADER_ATTR with this misc announces a FINISHED_ROUND
 * with the same misc, the last record that is written. perf looks at neither; perf inject may move
 * the second one. It is a whole number, not a bit: perf before 4.0 left the misc of a HEADER_ATTR
 * as malloc gave it, which mostly is half a pointer. With the highest bit it is not that of a user
 * address.
 */
#define PERF_MISC_END_MARK 0xe5d8

/* What the name of an event begins with that is a helper of the one after it (pcap-perf -g). */
#define PERF_HELPER "perfpipe-stacks:"

/*
 * Looks at stacks that are deeper than copies: samples of a helper without a program counter. The
 * stack pointer is where the bytes are. The first three registers say where the look began and
 * ended, and which one of this stack it was: twice its number, 1 more in its last sample. A look
 * has the pages that changed since the one before it, and each 32nd, from the first on
 * (RESOLVE_LOOKS_ALL), all that are not just zeroes.
 */

/*
 * What pcap-perf adds to the links of NAMESPACES: after those of the kernel (seven in 2026) one
 * whose device is this mark, and whose inode is the number of the thread in its own pid namespace.
 * perf shows it as an unknown namespace.
 */
#define PERF_NS_PID	   3			  /* which link is that of the pid namespace */
#define PERF_NS_INNER_MARK UINT64_C(0x646970534e) /* "NSpid" */

/* Bytes of a TIME_CONV record's body since Linux 5.9; those of before end after three numbers. */
#define PERF_TIME_CONV_LONG 48

/* Call chain context markers: values at or above PERF_CTX_MAX are not addresses. */
#define PERF_CTX_HV	       ((uint64_t)-32)
#define PERF_CTX_KERNEL	       ((uint64_t)-128)
#define PERF_CTX_USER	       ((uint64_t)-512)
#define PERF_CTX_USER_DEFERRED ((uint64_t)-640)
#define PERF_CTX_GUEST	       ((uint64_t)-2048)
#define PERF_CTX_GUEST_KERNEL  ((uint64_t)-2176)
#define PERF_CTX_GUEST_USER    ((uint64_t)-2560)
#define PERF_CTX_MAX	       ((uint64_t)-4095)

#endif
