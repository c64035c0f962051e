/*
 * The numbers of the trace.dat format, for its reader and its writer (ftrace/). Sources: the pages
 * trace-cmd.dat.v6(5) and trace-cmd.dat.v7(5); the stream form is described in
 * perfpipe-formats(7).
 */
#ifndef PP_TRACEDAT_FILE_NUMBERS_H
#define PP_TRACEDAT_FILE_NUMBERS_H

#define TRACE_MAGIC	"\x17\x08\x44tracing"
#define TRACE_MAGIC_LEN 10
#define TRACE_LIVE	"stream" /* instead of the version: the stream form */

/* Options and sections share their numbers. O(NAME, number) */
#define TRACE_OPTIONS(O) \
	O(DONE, 0) \
	O(DATE, 1) \
	O(CPUSTAT, 2) \
	O(BUFFER, 3) \
	O(TRACECLOCK, 4) \
	O(UNAME, 5) \
	O(HOOK, 6) \
	O(OFFSET, 7) \
	O(CPUCOUNT, 8) \
	O(VERSION, 9) \
	O(PROCMAPS, 10) \
	O(TRACEID, 11) \
	O(TIME_SHIFT, 12) \
	O(GUEST, 13) \
	O(TSC2NSEC, 14) \
	O(STRINGS, 15) \
	O(HEADER_INFO, 16) \
	O(FTRACE_EVENTS, 17) \
	O(EVENT_FORMATS, 18) \
	O(KALLSYMS, 19) \
	O(PRINTK, 20) \
	O(CMDLINES, 21) \
	O(BUFFER_TEXT, 22) \
	O(BTF_FILE, 23) \
	O(LAST_BOOT_INFO, 24) \
	O(MODULES_FILE, 25)

enum trace_option {
#define TRACE_O(name, number) TRACE_OPT_##name = (number),
	TRACE_OPTIONS(TRACE_O)
#undef TRACE_O
		TRACE_OPT_KNOWN
};
#define TRACE_SECTION_PACKED 1 /* flag of a section */

/* Sections of the stream form alone. */
enum trace_live {
	TRACE_LIVE_PAGES = 0x4001, /* u32 buffer, u32 cpu, then pages of the ring buffer */
	TRACE_LIVE_ROUND = 0x4002, /* nothing: all buffers have been read since the previous one */
	TRACE_LIVE_END = 0x4003,   /* u64 lost events: the recording is whole */
};
#define TRACE_SECTION_HEAD 16 /* bytes: u16 id, u16 flags, u32 description, u64 size */

#endif
