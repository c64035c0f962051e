/*
 * The names of a field's numbers: by the print format of its event, or because all events
 * mean the same by a field of that name.
 *
 *	struct shown s;
 *
 *	rc = shown_init(&s, event, &field);
 *	if (s.kind == SHOWN_TEXT && shown_text(&s, number, &buf))
 *		... buf has "GFP_KERNEL|__GFP_ZERO", "TIMER", "R+", "ENOENT" ...
 *	shown_release(&s);
 *
 * For names that the event alone does not have the caller has to ask others, by the kind: the
 * symbols of the kernel, the paths of cgroups, the names of devices.
 */
#ifndef PP_EVENT_SHOWN_H
#define PP_EVENT_SHOWN_H

#include "base/buf.h"
#include "event/field.h"
#include "event/value_names.h"
#include "event/symbolic.h"

enum shown_kind {
	SHOWN_PLAIN,   /* only the number */
	SHOWN_TEXT,    /* shown_text has names */
	SHOWN_ADDRESS, /* if it is the address of a function, that function */
	SHOWN_CGROUP,  /* the id of a cgroup: its path */
	SHOWN_DEVICE,  /* the number of a block device: its name, else shown_device */
};

struct shown {
	enum shown_kind kind;
	struct value_names names;	 /* of all fields of the event */
	const struct names_table *table; /* of this one; NULL: none */
	struct task_states *states;	 /* owned: of prev_state; NULL: it is something else */
	const char *const *list;	 /* names of 0, 1, ...; NULL: none */
	uint32_t nlist;
	bool data_src; /* where data came from (datasrc.h) */
	uint64_t bits; /* of the field */
};

/* 0 or PP_ENOMEM. The descriptor must outlive it. */
int shown_init(struct shown *s, const struct ps_event *e, const struct field *f);
void shown_release(struct shown *s);

/* Appends the name of a number; false, and nothing is appended: it has none. */
bool shown_text(const struct shown *s, uint64_t value, struct buf *b);

/*
 * Appends the two numbers of a block device as the kernel prints them, "8,0". They are those of the
 * kernel's dev_t, 20 bits for the second one (include/linux/kdev_t.h).
 */
void shown_device(uint64_t dev, struct buf *b);

#endif
