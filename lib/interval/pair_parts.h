/*
 * Private to lib/interval/pair*.c: pairs as they are bound to an event descriptor.
 */
#ifndef PP_INTERVAL_PAIR_PARTS_H
#define PP_INTERVAL_PAIR_PARTS_H

#include "interval/engine.h"

#define PAIR_NAMES 4 /* fields of a name */

/* A field of a name, and how it is written. */
struct pair_part {
	struct field field;
	enum pair_render render;
	bool star, comm;
	struct symbolic *symbolic; /* owned */
	struct symbolic *other;	   /* owned; NULL, or the names where chooser is not chosen */
	struct field chooser;
	uint64_t chosen;
};

/* What an event is to one kind. */
struct pair_bind {
	uint32_t kind;
	enum pair_role role;
	uint32_t star; /* the text of the '*' */
	struct field key[PAIR_KEYS], guard[PAIR_KEYS], instead[PAIR_KEYS];
	uint32_t guarded;	  /* bits: the keys that are `instead` when their guard is 0 */
	bool by_instead;	  /* the last key was such; several can be open, */
	bool flush;		  /* of a device's cache */
	bool second_end;	  /* and this end may be another one of an interval */
	uint32_t nkeys, star_key; /* star_key: bits, which of the keys is the star */
	struct field value, end_value, amount, when;
	uint32_t called; /* bits: the keys that are call_number where the event has -1 */
	uint64_t call_number;
	bool has_value, has_end_value, has_amount, has_when;
	bool again;
	bool alone;	       /* of a user's: its text is an event without a key */
	bool when_not;	       /* it has to be 0 */
	const char *when_call; /* it has to be this system call; NULL: a number other than 0 */
	bool when_equal;       /* it has to be when_number */
	uint64_t when_number;
	unsigned scale; /* of end_value */
	struct pair_part parts[PAIR_NAMES];
	uint32_t nparts;
	struct map64 names; /* of a name of one number: its texts */
	struct pair_user *user;
	uint32_t call; /* of -s X__return: the name of X; 0: it is not a return */
	uint32_t event_name;
};

/* An event of -s or -e. */
struct pair_user {
	enum pair_role role;
	char *whole, *event; /* the text as an event alone; the event before a key */
	struct expr *key;    /* of the latter */
	struct expr *thread; /* the key of the former */
	struct expr *condition;
	bool bound; /* there is such an event */
};

/* ---- pair_open.c ---- */

void open_release(struct open_table *t);
uint32_t open_hash(uint32_t kind, uint32_t domain, const uint64_t *key);
/* The newest open one of the key: index, 0 if there is none. */
uint32_t open_find(const struct open_table *t, uint32_t hash, uint32_t kind, uint32_t domain,
		   const uint64_t *key);
/* Adds one, before `older` (what open_find gave). 0, PP_ENOMEM, PP_ELIMIT. */
int open_add(struct open_table *t, uint32_t hash, uint32_t kind, uint32_t domain,
	     const uint64_t *key, uint32_t older, struct open_entry **e);
/* Takes out the newest of its key. */
void open_del(struct open_table *t, uint32_t index);

/* ---- pair_bind.c ---- */

/* Whether a name is that of a pattern with at most one '*'; *star is what that stands for. */
bool pair_matches(const char *pattern, const char *name, size_t len, struct ps_str *star);

/* The key of a sample. 0, PP_ENOENT (it has none, or is not meant), PP_ENOMEM. */
int pair_key(struct engine *en, struct pair_bind *b, const struct sreader *r,
	     const struct ps_record *rec, uint64_t *key);

/* The name of an interval; 0: this event has none. */
int pair_name(struct engine *en, struct pair_bind *b, const struct sreader *r,
	      const struct ps_record *rec, uint32_t *name);

#endif
