/*
 * Reading JSON (RFC 8259) that lies in memory: one goes through it, and skips what is not wanted.
 *
 *	struct json j = json_make(bytes, n);
 *	struct ps_str key;
 *	for (json_object(&j); json_member(&j, &key);)
 *		if (json_is(key, "name"))
 *			name = json_str(&j);	(valid until the next text)
 *		else
 *			json_skip(&j);
 *	if (j.bad)
 *		return PP_ECORRUPT;
 *
 * A copy of the struct is a place to come back to. A value that is not of the requested kind is
 * skipped, and reads as nothing: 0, "", an object or array without members.
 */
#ifndef PP_CONV_JSON_READER_H
#define PP_CONV_JSON_READER_H

#include "base/buf.h"
#include "stream/stream.h"

#define JSON_DEPTH 64 /* arrays and objects within each other */

struct json {
	const uint8_t *p, *end;
	struct buf *text; /* of texts with escapes; the caller's */
	unsigned depth;
	bool first; /* nothing of the array or object has been read */
	bool bad;   /* cut off, or no JSON */
};

static inline struct json json_make(const void *bytes, size_t n, struct buf *text)
{
	const uint8_t *p = bytes;

	return (struct json){.p = p, .end = p + n, .text = text};
}

static inline bool json_is(struct ps_str key, const char *name)
{
	return key.len == strlen(name) && !memcmp(key.p, name, key.len);
}

/* What comes: one of {["0tfn, for a number, true, false, null; 0: nothing. */
char json_peek(struct json *j);

/* Enters it; and goes to its next member or item, the value of which has to be read or skipped. */
void json_object(struct json *j);
bool json_member(struct json *j, struct ps_str *key);
void json_array(struct json *j);
bool json_item(struct json *j);

/* A text, whose escapes are resolved; a number, which is rounded: below 0 it is 0. */
struct ps_str json_str(struct json *j);
uint64_t json_u64(struct json *j);
double json_double(struct json *j);

/* A number; false: it is something else, which is skipped. */
bool json_number(struct json *j, double *v);

/*
 * A place in a table: a whole number below JSON_NOWHERE. JSON_NONE: null or -1, the words of these
 * formats for none; JSON_NOWHERE: anything else.
 */
#define JSON_NONE    UINT32_MAX
#define JSON_NOWHERE (UINT32_MAX - 1)
uint32_t json_place(struct json *j);

void json_skip(struct json *j);

/* Whether the text is an object with these members at its top, all of them. */
bool json_has(const uint8_t *bytes, size_t n, const char *key, const char *other);

#endif
