/*
 * Small dense ids for byte strings that are too large, or too many, to be kept: only 96 bits of
 * their hash are. Memory is bounded: when the strings with live ids exceed a number or a sum of
 * bytes, the table is emptied and ids begin again at 1. (The event stream lets an id be defined
 * again.)
 *
 *	struct hashids t = {.max_ids = 1 << 18, .max_bytes = 32 << 20};
 *	rc = hashids_get(&t, bytes, len, &id, &fresh);
 *	if (fresh && id == 1)
 *		... ids begin (again) ...
 *	hashids_release(&t);
 *
 * Two strings with the same hash would be treated as one: with 2^18 live ids, by chance, once in
 * 2^60.
 */
#ifndef PP_BASE_HASHIDS_H
#define PP_BASE_HASHIDS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define HASHIDS_MAX (1u << 18)

struct hashids_key;

struct hashids {
	uint32_t max_ids; /* at most HASHIDS_MAX */
	uint64_t max_bytes;
	uint32_t n, mask;
	uint64_t bytes;		  /* of the strings with live ids */
	uint32_t *slots;	  /* open addressing */
	struct hashids_key *keys; /* by id */
};

/* 0 or PP_ENOMEM. Ids count from 1. */
int hashids_get(struct hashids *t, const void *bytes, size_t len, uint32_t *id, bool *fresh);

/*
 * hashids_get in steps, for a caller that knows early what will be looked up: the hash, a hint to
 * the processor to fetch what the look-up needs, and the look-up of a string of `len` bytes with
 * that hash.
 */
struct hashids_hash {
	uint64_t low;
	uint32_t high;
};
struct hashids_hash hashids_hash(const void *bytes, size_t len);
void hashids_prefetch(const struct hashids *t, struct hashids_hash h);
int hashids_get_hashed(struct hashids *t, struct hashids_hash h, size_t len, uint32_t *id,
		       bool *fresh);

/* Forgets all ids. */
void hashids_clear(struct hashids *t);
void hashids_release(struct hashids *t);

#endif
