/*
 * The record types of the event stream, each with its fields: the one table that feeds the
 * writer, the reader, the printers, and the check of perfpipe-stream(5).
 *
 * Kinds of field, as they lie in a record (every record begins at a multiple of 8 bytes):
 *	u32	4 bytes; they come in pairs, so that what follows is aligned
 *	u64	8 bytes
 *	str	u32 length in bytes, the bytes (no NUL), padding to a multiple of 8
 *	u32s	u32 count, the numbers, padding to a multiple of 8
 *	u64s	u32 count, 4 bytes of 0, the numbers
 *
 * A record may be shorter than its table: the missing fields read as zero. A longer one has
 * fields of a later version, which are skipped. New fields are added at the end only; to the
 * entries of EVENT.fields, which follow one another without a length, none can be added.
 *
 * R(NAME, number, text, what it is) with PS_FIELDS_NAME(F) and F(kind, name, what it is).
 */
#ifndef PP_STREAM_RECORDS_H
#define PP_STREAM_RECORDS_H

#define PS_RECORDS(R) \
	R(STRING, 1, "string", "defines a string") \
	R(SOURCE, 2, "source", "a recording that events come from") \
	R(META, 3, "meta", "a fact about the recording or its machine") \
	R(PROVENANCE, 4, "provenance", "a filter that the stream passed through") \
	R(EVENT, 5, "event", "defines an event descriptor") \
	R(DSO, 6, "dso", "defines a mapped object: binary, library, kernel, module") \
	R(MMAP, 7, "mmap", "a mapping was added to an address space") \
	R(COMM, 8, "comm", "a thread got a name") \
	R(FORK, 9, "fork", "a thread or process began") \
	R(EXIT, 10, "exit", "a thread ended") \
	R(KSYMBOL, 11, "ksymbol", "a kernel symbol was registered or removed") \
	R(BPF, 12, "bpf", "a BPF program was loaded or unloaded") \
	R(NAMESPACES, 13, "namespaces", "the namespaces of a thread") \
	R(CGROUP, 14, "cgroup", "the path of a cgroup id") \
	R(SWITCH, 15, "switch", "a context switch") \
	R(LOST, 16, "lost", "the recorder lost events") \
	R(THROTTLE, 17, "throttle", "sampling was throttled, or resumed") \
	R(TEXT_POKE, 18, "text_poke", "kernel text was changed") \
	R(AUX, 19, "aux", "hardware trace data, skipped") \
	R(READ, 20, "read", "counter values outside a sample") \
	R(BLOB, 21, "blob", "part of an attached text or table, such as kallsyms") \
	R(OTHER, 22, "other", "a record of the recording that has no type of its own here") \
	R(COUNTER, 23, "counter", "how an event is counted, and how its counts are shown") \
	R(COUNT, 24, "count", "a counter was read") \
	R(ROUND, 25, "round", "all counters have been read") \
	R(CHAIN, 32, "chain", "defines a call chain of addresses") \
	R(SYMBOL, 33, "symbol", "defines a symbol") \
	R(FRAME, 34, "frame", "defines a symbolized frame") \
	R(STACK, 35, "stack", "defines a stack of symbolized frames") \
	R(SRCFILE, 36, "srcfile", "defines a source file name") \
	R(CHAINS, 37, "chains", "defines parts of call chains") \
	R(STACKS, 38, "stacks", "defines parts of stacks") \
	R(SAMPLE, 48, "sample", "one event that happened") \
	R(SAMPLES, 49, "samples", "several of them, packed") \
	R(END, 63, "end", "the account of the producer")

#define PS_FIELDS_STRING(F) \
	F(u32, id, "the string's id, from 1") \
	F(u32, reserved, "0") \
	F(str, text, "the bytes")

#define PS_FIELDS_SOURCE(F) \
	F(u32, kind, "1 perf.data, 2 trace.dat, 3 text, 4 made by a filter") \
	F(u32, long_bits, "32 or 64: a long of the recorded machine; 0 unknown") \
	F(u32, big_endian, "1: the recorded machine was big endian") \
	F(u32, page_size, "bytes of a page of the recorded machine; 0 unknown") \
	F(str, name, "file name of the recording") \
	F(str, clock, "clock of the times, such as local, mono, boot; empty unknown")

#define PS_FIELDS_META(F) \
	F(str, key, "hostname, osrelease, arch, cmdline, ... (perfpipe-formats(7))") \
	F(str, value, "as text")

#define PS_FIELDS_PROVENANCE(F) \
	F(str, name, "the filter") \
	F(str, version, "its version") \
	F(str, args, "its arguments, each ended by a NUL")

#define PS_FIELDS_EVENT(F) \
	F(u32, id, "the descriptor's id, from 1") \
	F(u32, perf_type, \
	  "PERF_TYPE_*: 0 hardware, 1 software, 2 tracepoint, ...; 2^32 - 1 made by a filter") \
	F(u64, config, "which event of that type; for a tracepoint its format id") \
	F(u64, flags, \
	  "1 sampled by period or frequency, 2 frequency, 4 call chains, 8 branches are calls, 16 a " \
	  "tracepoint of which not every event was recorded, 32 a helper, whose samples only lend " \
	  "their stacks to others") \
	F(u64, sample_type, "PERF_SAMPLE_* of perf.data; 0 otherwise") \
	F(str, name, "cycles, sched:sched_switch, ...") \
	F(str, unit, "what a period counts: ns, cycles, events, ...") \
	F(str, buffer, "name of the trace buffer (instance); empty: the main one") \
	F(str, fields, "field table of the payload (PS_EVENT_FIELD)") \
	F(str, format, "the format text of the tracepoint, as tracefs has it")

/* An entry of EVENT.fields. */
#define PS_FIELDS_EVENT_FIELD(F) \
	F(u32, offset, "bytes from the beginning of the payload") \
	F(u32, size, "bytes; for a dynamic field the 4 of its location word") \
	F(u32, element, \
	  "bytes of one element of an array, including a dynamic one; otherwise size") \
	F(u32, flags, \
	  "1 signed, 2 array, 4 dynamic (__data_loc), 8 relative, 16 string, 32 pointer") \
	F(str, name, "the field's name") \
	F(str, type, "its type in C")

#define PS_FIELDS_DSO(F) \
	F(u32, id, "the DSO's id, from 1") \
	F(u32, flags, "1 kernel, 2 kernel module, 4 no file: vdso, heap, anonymous, 8 guest") \
	F(str, path, "path or name as recorded") \
	F(str, build_id, "bytes of the build-id; empty: unknown")

/* What context records begin with. cpu, pid, tid: 0xffffffff when not recorded. */
#define PS_FIELDS_CONTEXT(F) \
	F(u64, time, "ns of the recording's clock; 0 when not recorded") \
	F(u32, cpu, "CPU that wrote the record") \
	F(u32, pid, "process") \
	F(u32, tid, "thread")

#define PS_FIELDS_MMAP(F) \
	PS_FIELDS_CONTEXT(F) \
	F(u32, dso, "the mapped object") \
	F(u64, addr, "first address") \
	F(u64, len, "bytes") \
	F(u64, pgoff, "offset in the file; for the kernel the address of its first symbol") \
	F(u32, prot, "PROT_*; 0 unknown") \
	F(u32, map_flags, "MAP_*") \
	F(u32, maj, "device of the file") \
	F(u32, min, "") \
	F(u64, ino, "inode of the file") \
	F(u64, ino_generation, "") \
	F(u32, flags, "1 kernel space, 2 data, 4 guest") \
	F(u32, reserved, "0")

#define PS_FIELDS_COMM(F) \
	PS_FIELDS_CONTEXT(F) \
	F(u32, comm, "string: the name") \
	F(u32, flags, "1: by exec") \
	F(u32, reserved, "0")

#define PS_FIELDS_FORK(F) \
	PS_FIELDS_CONTEXT(F) \
	F(u32, ppid, "parent process") \
	F(u32, ptid, "parent thread") \
	F(u32, flags, "1: it ran already when the recording began")

#define PS_FIELDS_EXIT(F) PS_FIELDS_FORK(F)

#define PS_FIELDS_KSYMBOL(F) \
	PS_FIELDS_CONTEXT(F) \
	F(u32, len, "bytes") \
	F(u64, addr, "address") \
	F(u32, ksym_type, "1 BPF, 2 out of line code") \
	F(u32, flags, "1: removed") \
	F(str, name, "the symbol")

#define PS_FIELDS_BPF(F) \
	PS_FIELDS_CONTEXT(F) \
	F(u32, bpf_type, "1 loaded, 2 unloaded") \
	F(u32, id, "program id") \
	F(u32, flags, "0") \
	F(str, tag, "8 bytes")

#define PS_FIELDS_NAMESPACES(F) \
	PS_FIELDS_CONTEXT(F) \
	F(u32, inner, "the thread's number in its own pid namespace; 0: not known") \
	F(u64s, links, "device and inode of net, uts, ipc, pid, user, mnt, cgroup")

#define PS_FIELDS_CGROUP(F) \
	PS_FIELDS_CONTEXT(F) \
	F(u32, reserved, "0") \
	F(u64, id, "cgroup id") \
	F(str, path, "its path")

#define PS_FIELDS_SWITCH(F) \
	PS_FIELDS_CONTEXT(F) \
	F(u32, flags, "1 out, 2 preempted, 4 next or previous is known") \
	F(u32, other_pid, "next (out) or previous (in) process") \
	F(u32, other_tid, "and thread")

#define PS_FIELDS_LOST(F) \
	PS_FIELDS_CONTEXT(F) \
	F(u32, event, "event that was lost; 0 any") \
	F(u64, count, "how many") \
	F(u32, flags, "1: the count is not known") \
	F(u32, kind, "1 records, 2 samples, 3 ring buffer overrun, 4 hardware trace data") \
	F(str, buffer, "name of the trace buffer (instance); empty: the main one, or unknown")

#define PS_FIELDS_THROTTLE(F) \
	PS_FIELDS_CONTEXT(F) \
	F(u32, event, "event; 0 unknown") \
	F(u64, id, "PERF_SAMPLE_ID of the event") \
	F(u64, stream_id, "") \
	F(u32, flags, "1: resumed") \
	F(u32, reserved, "0")

#define PS_FIELDS_TEXT_POKE(F) \
	PS_FIELDS_CONTEXT(F) \
	F(u32, reserved, "0") \
	F(u64, addr, "address") \
	F(str, old_text, "bytes before") \
	F(str, new_text, "bytes after")

#define PS_FIELDS_AUX(F) \
	PS_FIELDS_CONTEXT(F) \
	F(u32, kind, "PERF_RECORD_* type of the record") \
	F(u64, offset, "offset in the trace data") \
	F(u64, size, "bytes") \
	F(u64, flags, "PERF_AUX_FLAG_*; for aux_output_hw_id the id, for auxtrace its number")

#define PS_FIELDS_READ(F) \
	PS_FIELDS_CONTEXT(F) \
	F(u32, event, "event; 0 unknown") \
	F(u64, format, "PERF_FORMAT_*") \
	F(u64s, values, "as the format says")

#define PS_FIELDS_BLOB(F) \
	F(u32, kind, \
	  "1 kallsyms, 2 printk formats, 3 saved command lines, 4 symbols of a file, 5 BTF, " \
	  "6 text of a tracer") \
	F(u32, flags, "1: the last part") \
	F(str, name, "for symbols: the file's path, as its DSO has it") \
	F(str, data, "bytes of this part; for symbols: whole lines as in a perf map") \
	F(u64, vaddr, "for symbols: an address in the file") \
	F(u64, offset, \
	  "where that is: in the file, in a module's memory; 2^64 - 1: where its code is mapped")

#define PS_FIELDS_OTHER(F) \
	PS_FIELDS_CONTEXT(F) \
	F(u32, record_type, "its number in the recording") \
	F(u32, misc, "") \
	F(u32, reserved, "0") \
	F(str, data, "its bytes, in the byte order of the recording")

/* Counts as of perf stat record: COUNT for each counter, then ROUND. */
#define PS_FIELDS_COUNTER(F) \
	F(u32, event, "the event") \
	F(u32, without, \
	  "not counted: 1 user space, 2 the kernel, 4 the hypervisor, 8 the host, 16 the idle " \
	  "task, 32 guests") \
	F(u64, scale, "the bits of a double: counts are to be multiplied by it") \
	F(str, unit, "for scaled counts: msec, Joules, ...; empty: it is a number")

#define PS_FIELDS_COUNT(F) \
	PS_FIELDS_CONTEXT(F) \
	F(u32, event, "the event") \
	F(u64, value, "the count since the beginning, not scaled") \
	F(u64, enabled, "ns for which the counter was switched on") \
	F(u64, running, "ns for which it counted; less than enabled: it shared the hardware")

#define PS_FIELDS_ROUND(F) \
	F(u32, kind, "0 an interval is over, 1 the end") \
	F(u32, reserved, "0") \
	F(u64, elapsed, "ns since counting began")

#define PS_FIELDS_CHAIN(F) \
	F(u32, id, "the chain's id, from 1") \
	F(u32, flags, "how it was unwound: as STACK.flags; 0: it was not") \
	F(u64s, ips, "addresses, leaf first; PERF_CONTEXT_* values announce what follows")

#define PS_FIELDS_SYMBOL(F) \
	F(u32, id, "the symbol's id, from 1") \
	F(u32, dso, "where it is; 0 none") \
	F(u64, addr, "DSO-relative virtual address; kernel: absolute") \
	F(u64, size, "bytes") \
	F(u32, flags, \
	  "1 inlined function, 2 derived from a PLT entry, 4 derived from where the unwind " \
	  "table says that the function begins") \
	F(u32, reserved, "0") \
	F(str, name, "demangled, for display") \
	F(str, linkage, "as in the symbol table, if that differs")

#define PS_FIELDS_FRAME(F) \
	F(u32, id, "the frame's id, from 1") \
	F(u32, symbol, "0: no symbol") \
	F(u32, dso, "0: no mapping") \
	F(u32, flags, "1 kernel, 2 inlined into the next frame, 4 guest") \
	F(u64, addr, \
	  "DSO-relative virtual address; kernel: absolute; no mapping: 0, see the chain") \
	F(u32, reason, "why there is no symbol: PS_REASONS") \
	F(u32, srcfile, "0: not known") \
	F(u32, line, "0: not known") \
	F(u32, column, "0: not known")

#define PS_FIELDS_STACK(F) \
	F(u32, id, "the stack's id, from 1") \
	F(u32, flags, \
	  "1 cut off: there are more frames; 2 some are guesses; 4 stitched; bits 8 to 15 how " \
	  "the walk ended: PS_ENDS; bits 16 to 31 bytes of the copy of the stack") \
	F(u32s, frames, "frame ids, leaf first")

#define PS_FIELDS_SRCFILE(F) \
	F(u32, id, "the file's id, from 1") \
	F(u32, reserved, "0") \
	F(str, path, "its path")

#define PS_FIELDS_CHAINS(F) \
	F(u32, id, "of the first of them; the others have the ids that follow") \
	F(u32, count, "how many") \
	F(str, data, "the parts, encoded (perfpipe-stream(5))")

#define PS_FIELDS_STACKS(F) PS_FIELDS_CHAINS(F)

#define PS_FIELDS_SAMPLES(F) \
	F(u32, count, "how many") \
	F(u32, reserved, "0") \
	F(str, marks, "their marks; empty: those of their flags") \
	F(str, data, "the samples, packed (perfpipe-stream(5))")

#define PS_FIELDS_END(F) \
	F(u64, records, "records since the header, not counting this one") \
	F(u64, samples, "SAMPLE records among them") \
	F(u64, lost, "events that the recording reports as lost") \
	F(u64, missing, "samples of the input that are not in the stream: damaged, dropped") \
	F(u32, status, "exit status of the producer, including upstream's: 0, 1 or 2") \
	F(u32, flags, "0")

/*
 * Optional fields of a SAMPLE: F(bit, kind, name, what it is). They follow the fixed part in the
 * order of their bits, each a multiple of 8 bytes.
 *	u64	8 bytes
 *	ref	u32 id, u32 0
 *	str	as above
 *	regs	u64 ABI, u64 mask, one u64 for each bit of the mask
 *	branch	u32 count, u32 flags (1: hardware index valid), u64 hardware index, then from, to,
 *		flags each
 *	u64s	as above
 */
#define PS_SAMPLE_FIELDS(F) \
	F(0, u64, ip, "instruction pointer") \
	F(1, u64, period, "what the sample stands for, in the event's unit") \
	F(2, ref, chain, "call chain of addresses") \
	F(3, ref, stack, "stack of symbolized frames (psym)") \
	F(4, str, payload, "raw bytes of the tracepoint, in host byte order") \
	F(5, u64, addr, "address that the event is about") \
	F(6, u64, id, "PERF_SAMPLE_ID") \
	F(7, u64, stream_id, "PERF_SAMPLE_STREAM_ID") \
	F(8, u64, weight, "cost of the event; for an interval its duration in ns") \
	F(9, u64, weight_more, "var2_w, var3_w of PERF_SAMPLE_WEIGHT_STRUCT: low and high 32 bit") \
	F(10, u64, data_src, "memory hierarchy bits of the kernel") \
	F(11, u64, transaction, "transaction flags") \
	F(12, u64, phys_addr, "physical address") \
	F(13, u64, cgroup, "cgroup id") \
	F(14, u64, data_page_size, "bytes") \
	F(15, u64, code_page_size, "bytes") \
	F(16, regs, user_regs, "user-space registers") \
	F(17, u64, user_stack_size, "bytes of user_stack that are valid") \
	F(18, str, user_stack, "copy of the user stack, from the stack pointer up") \
	F(19, regs, intr_regs, "registers at the interrupt") \
	F(20, branch, branches, "branch stack, newest first") \
	F(21, u64s, branch_counters, "counters of each branch") \
	F(22, u64s, reads, "u64 format, then counter values as it says (PERF_SAMPLE_READ)") \
	F(23, u64, aux_size, "bytes of hardware trace data, skipped") \
	F(24, ref, other_stack, "second stack of an interval, such as the waker's") \
	F(25, ref, other_chain, "second call chain of an interval") \
	F(26, u64, end_time, "end of an interval") \
	F(27, u64, key, "key that paired an interval") \
	F(28, u64, other_pid, "process of the second stack") \
	F(29, u64, other_tid, "thread of the second stack, such as the waker") \
	F(30, ref, other_comm, "string: that thread's name") \
	F(31, ref, branch_stack, "stack of the two ends of each branch, from and to in turn") \
	F(32, str, key_text, "key that paired an interval, if it is not a number") \
	F(33, ref, ip_stack, "frames at ip, if the call chain does not begin there")

/* How the walk up a user stack ended: bits 8 to 15 of CHAIN.flags and STACK.flags. */
#define PS_ENDS(E) \
	E(NONE, 0, "it was not unwound") \
	E(OUTERMOST, 1, "the outermost function was reached") \
	E(COPY, 2, "the copy of the stack ended") \
	E(NO_CFI, 3, "an address has no unwind table") \
	E(NO_FILE, 4, "the file was not found") \
	E(BUILD_ID, 5, "the file found has another build-id") \
	E(NO_MAPPING, 6, "an address is not mapped") \
	E(LOOP, 7, "the frames do not lead upwards") \
	E(MEMORY, 8, "memory was needed that was not copied") \
	E(REGISTERS, 9, "a register was needed that was not recorded") \
	E(OTHER_STACK, 10, "the rest is on another stack") \
	E(DEPTH, 11, "there are more frames than the limit") \
	E(DAMAGED, 12, "the unwind table is damaged") \
	E(GENERATED, 13, "generated code") \
	E(NOT_THERE, 14, "the copy ended at memory that was not there") \
	E(FRAMES, 15, "frame pointers led no further, and not to a start") \
	E(UNKNOWN, 16, "no mapping of the process was recorded up to then")

/* Why a frame has no symbol (FRAME.reason). */
#define PS_REASONS(R) \
	R(NONE, 0, "it has one") \
	R(NO_MAPPING, 1, "no mapping holds the address") \
	R(NO_FILE, 2, "the file was not found") \
	R(NO_ACCESS, 3, "the file cannot be read") \
	R(BUILD_ID, 4, "the file found has another build-id") \
	R(NOT_ELF, 5, "the file is not an ELF file") \
	R(STRIPPED, 6, "the file has no symbols") \
	R(CORRUPT, 7, "the file is damaged") \
	R(NO_SYMBOL, 8, "no symbol covers the address") \
	R(NO_KALLSYMS, 9, "no kernel symbols: another kernel's recording, or restricted") \
	R(JIT, 10, "generated code without a map") \
	R(ANON, 11, "the mapping has no file") \
	R(NO_CONTEXT, 12, "no mapping of the process was recorded up to then") \
	R(DYNAMIC, 13, "the file has only dynamic symbols (stripped), none covers the address") \
	R(JIT_GAP, 14, "generated code that its map does not have") \
	R(RESTRICTED, 15, "kernel symbols are hidden (kptr_restrict)") \
	R(GUEST, 16, "inside a virtual machine whose symbols are not known") \
	R(NO_MODULE, 17, "the file of the kernel module was not found") \
	R(JIT_OWNER, 18, "generated code whose map belongs to another user") \
	R(UNPROVEN, 19, "nothing proves that this machine's file is the recorded one") \
	R(REPLACED, 20, "the file was replaced since the recording: it has another inode")

#endif
