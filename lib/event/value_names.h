/*
 * Values that have names in a tracepoint's print format: __print_symbolic and __print_flags.
 *
 *	struct value_names n;
 *	const struct names_table *t;
 *	names_init(&n, event);
 *	t = names_find(&n, "vec", 3);
 *	if (t && names_value(t, "TIMER", 5, &value))
 *		... vec == value ...
 *	names_release(&n);
 *
 * The format text is that of tracefs (Documentation/trace/events.rst of the kernel):
 *
 *	print fmt: "vec=%u [action=%s]", REC->vec, __print_symbolic(REC->vec, { 0, "HI" }, ...)
 *
 * A table stands for (field >> shift) & mask. Of "(REC->x & 7) ? __print_flags(REC->x & 7, ...) :
 * "R"" the last text is the name of 0; of "-REC->error" the values are what the field holds, below
 * zero. Values that are not constant expressions have no name.
 */
#ifndef PP_EVENT_VALUE_NAMES_H
#define PP_EVENT_VALUE_NAMES_H

#include "base/arena.h"
#include "base/buf.h"
#include "stream/stream.h"

struct names_entry {
	const char *name;
	uint32_t len;
	uint64_t value;
	struct names_entry *next;
};

struct names_table {
	const char *field; /* not terminated, in the descriptor */
	uint32_t field_len;
	uint32_t shift;
	uint64_t mask;			    /* UINT64_MAX: the whole field */
	bool negated;			    /* the names are of -field */
	bool flags;			    /* bits that can be combined */
	struct names_entry *entries, *last; /* as they are in the text */
	struct names_table *next;
};

struct value_names {
	struct arena arena;
	struct names_table *tables;
};

/* 0 or PP_ENOMEM. What cannot be understood is skipped. The descriptor must outlive it. */
int names_init(struct value_names *n, const struct ps_event *e);
void names_release(struct value_names *n);

/* The table of a field, NULL if it has none. */
const struct names_table *names_find(const struct value_names *n, const char *field, size_t len);

/*
 * The same, but NULL also if there are several tables for the same bits: another field then says
 * which one holds, as the isa of kvm_exit does.
 */
const struct names_table *names_only(const struct value_names *n, const char *field, size_t len);

/*
 * Appends the name of a value of the field, of which `bits` exist; for flags those that are set,
 * with
 * '|' between them, and what has no name as 0x10. False, and nothing is appended: it has none.
 */
bool names_text(const struct names_table *t, uint64_t value, uint64_t bits, struct buf *b);

/* The value of a name; of flags several may be combined: "S|D". */
bool names_value(const struct names_table *t, const char *name, size_t len, uint64_t *value);

#endif
