/*
 * Named values of a sample: the fields of its event and those that every sample has.
 *
 *	struct field f;
 *	struct qval v;
 *	if (!field_resolve(&f, event, "prev_comm", 9)) {	(once for a descriptor)
 *		if (field_get(&f, r, rec, &v) && v.kind == QV_STR)
 *			fwrite(v.s, 1, v.len, stdout);
 *		field_release(&f);
 *	}
 *
 * A name is looked up in the event's own fields first (EVENT.fields, common_* too), then in
 * FIELDS below: `pid` of sched_wakeup is the thread that wakes up. A name of FIELDS in capitals,
 * such as PID, COMM, CPU and TIME, is looked up in the event in capitals only, so that it means the
 * sample's in practice. `event` always is the event's name; args.NAME (FIELD_OWN) is the event's
 * own field NAME, whatever it is called. common_pid of an event without a payload is the thread.
 * "args[1]" is an element of an array, fixed or dynamic, counted from 0.
 */
#ifndef PP_EVENT_FIELD_H
#define PP_EVENT_FIELD_H

#include "stream/stream.h"

/*
 * The fields of every sample: F(id, type, name, what it is). A sample may be without any of them.
 * The reader has to keep what FIELD_KEEP says.
 */
#define FIELDS(F) \
	F(COMM, STR, "comm", "name of the thread; <...> if it is not known") \
	F(PID, INT, "pid", "process") \
	F(TID, INT, "tid", "thread") \
	F(CPU, INT, "cpu", "CPU") \
	F(TIME, INT, "time", "time in ns, of the recording's clock") \
	F(EVENT, STR, "event", "name of the event, such as sched:sched_switch") \
	F(BASE_EVENT, STR, "base_event", \
	  "event without the PMU of its kind of core: cycles of cpu_core/cycles/") \
	F(PERIOD, INT, "period", "what the sample stands for, in the event's unit") \
	F(IP, INT, "ip", "instruction pointer") \
	F(ADDR, INT, "addr", "address that the event is about") \
	F(WEIGHT, INT, "weight", "cost of the event; for an interval its duration in ns") \
	F(DATA_SRC, INT, "data_src", "memory hierarchy bits of the kernel") \
	F(MEM_OP, STR, "mem_op", "of data_src: LOAD, STORE, ...") \
	F(MEM_LEVEL, STR, "mem_level", "of data_src: L1 hit, Local RAM hit, ...") \
	F(MEM_SNOOP, STR, "mem_snoop", "of data_src: None, Hit, Miss, HitM, Fwd, Peer") \
	F(MEM_TLB, STR, "mem_tlb", "of data_src: L1 or L2 hit, Walker hit, ...") \
	F(MEM_LOCK, STR, "mem_lock", "of data_src: Yes, No, N/A") \
	F(MEM_BLOCK, STR, "mem_block", "of data_src, what it waited for: Data, Addr, N/A") \
	F(MEM_HITM, STR, "mem_hitm", \
	  "loads of lines that a cache had changed: local, remote, none") \
	F(CACHE_LINE, INT, "cache_line", "addr at the beginning of its cache line of 64 bytes") \
	F(PHYS_ADDR, INT, "phys_addr", "physical address") \
	F(TRANSACTION, INT, "transaction", "transaction flags of the kernel") \
	F(CGROUP, INT, "cgroup", "cgroup id") \
	F(CONTAINER, STR, "container", "container of its cgroup: 12 digits of the id, or a name") \
	F(NSPID, INT, "nspid", "process by its number in its own namespace") \
	F(DATA_PAGE_SIZE, INT, "data_page_size", "bytes of the page of addr") \
	F(CODE_PAGE_SIZE, INT, "code_page_size", "bytes of the page of ip") \
	F(ID, INT, "id", "number of the perf event that wrote the sample") \
	F(END_TIME, INT, "end_time", "end of an interval in ns (plat --emit)") \
	F(KEY, INT, "key", "key that paired an interval (plat --emit)") \
	F(KEY_TEXT, STR, "key_text", "that key, if it is a text or several (plat --emit)") \
	F(MODE, STR, "mode", "user, kernel, hypervisor, guest_user, guest_kernel") \
	F(BUFFER, STR, "buffer", "name of the trace buffer; empty: the main one") \
	F(SOURCE, INT, "source", "number of the recording, from 1") \
	F(SYM, STR, "sym", "function at ip, or innermost of the stack (psym)") \
	F(DSO, STR, "dso", "binary, library or module of that function (psym)") \
	F(SRCLINE, STR, "srcline", "its source line, FILE:LINE (psym)") \
	F(LEAF, STR, "leaf", "innermost function, including inlined ones (psym)") \
	F(CALLER, STR, "caller", "function that called sym (psym)") \
	F(SITE, STR, "site", "function that waits, locks or asks for memory (psym)") \
	F(STACK, STR, "stack", "functions from the root to the leaf, separated by ';' (psym)") \
	F(DEPTH, INT, "depth", "number of frames of the stack (psym)")

/* Further names, of the kernel's histogram triggers. */
#define FIELD_ALIASES(A) \
	A("common_pid", TID) \
	A("common_cpu", CPU) \
	A("common_comm", COMM) \
	A("common_timestamp", TIME) \
	A("common_stacktrace", STACK)

#define FIELD_OWN "args." /* before the name of a field of the event's own */

#define FIELD_KEEP (SREADER_EVENTS | SREADER_SYMBOLS | SREADER_DSOS)

enum qkind {
	QV_NA,	  /* the sample does not have it */
	QV_INT,	  /* num */
	QV_STR,	  /* s, len: a text */
	QV_BYTES, /* s, len: an array or struct, as it lies in the payload */
};

struct qval {
	enum qkind kind;
	bool is_unsigned; /* num is, else it is an int64_t */
	uint64_t num;
	const char *s; /* not terminated; lives until the reader's next record */
	size_t len;
};

enum field_id {
#define F(id, type, name, help) FIELD_##id,
	FIELDS(F)
#undef F
		FIELD_PAYLOAD, /* one of the event's own */
};

/* A resolved name. Its parts are the interface: plat and phist look at them. */
struct field {
	enum field_id id;
	enum qkind kind; /* of its values */
	bool is_unsigned;
	/* FIELD_PAYLOAD: */
	bool address;	       /* may hold one: it, or an element, is as wide as an address */
	uint32_t offset, size; /* of the value, or of the location word of a dynamic field */
	uint32_t element;      /* bytes of an element that is asked for; 0: not an array's */
	uint32_t index;
	uint32_t flags;	  /* PS_FIELD_* */
	const char *name; /* in the descriptor, without an index; not terminated */
	uint32_t name_len;
	char *text; /* owned: where SRCLINE and STACK are put together */
};

/*
 * Finds a name. 0, PP_ENOENT: this event has no such field; PP_ENOMEM. The descriptor must outlive
 * the field.
 */
int field_resolve(struct field *f, const struct ps_event *e, const char *name, size_t len);
void field_release(struct field *f);

/* The value; false (and QV_NA) when this sample has none. Allocates nothing. */
bool field_get(const struct field *f, const struct sreader *r, const struct ps_record *rec,
	       struct qval *v);

/*
 * The function of frame i of the sample's stack, leaf first, including inlined ones. "[unknown]"
 * is used for one without a name. False after the last one.
 */
bool field_frame(const struct sreader *r, const struct ps_sample *s, uint32_t i, struct qval *v);

/* The id of a name of FIELDS or FIELD_ALIASES, in small letters or capitals; false: it is none. */
bool field_builtin(const char *name, size_t len, enum field_id *id);

/* The name of a field of FIELDS. NULL for FIELD_PAYLOAD. */
const char *field_name(enum field_id id);

#endif
