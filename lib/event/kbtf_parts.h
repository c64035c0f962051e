/* The insides of kbtf.c, for kbtf_name.c. Private to lib/event. */
#ifndef PP_EVENT_KBTF_PARTS_H
#define PP_EVENT_KBTF_PARTS_H

#include "base/cursor.h"
#include "event/kbtf.h"

#include <linux/btf.h>

#define KBTF_DEPTH 32 /* typedefs of typedefs, structures in structures */

/* Kinds that the headers of Debian 12 do not all have. */
enum { KIND_DECL_TAG = 17, KIND_TYPE_TAG = 18, KIND_ENUM64 = 19, KIND_LAST = KIND_ENUM64 };

struct kbtf_entry {
	uint32_t kind, n, size; /* size: or the type that it refers to */
	bool flag;
	const char *name;
	struct cursor more; /* what is after the first twelve bytes */
};

/* False: there is no such type; 0 is void, which has no entry. */
bool kbtf_entry(const struct kbtf *k, uint32_t id, struct kbtf_entry *e);
const char *kbtf_text(const struct kbtf *k, uint32_t offset);

#endif
