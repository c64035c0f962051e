/*
 * Type information of BPF programs, for the names of their functions: the header feature BPF_BTF.
 * Its bytes are BTF as Documentation/bpf/btf.rst describes it, in the byte order of the recording.
 */
#include "perfdata/info.h"

#include "base/err.h"
#include "event/kbtf.h"

#include <stdlib.h>

#define SETS_MAX 65536 /* sets of types */

struct perf_btf {
	struct map64 by_id; /* index in sets, + 1 */
	struct kbtf **sets;
	uint32_t n;
};

void perf_btf_free(struct perf_btf *b)
{
	if (!b)
		return;
	map64_release(&b->by_id);
	while (b->n)
		kbtf_close(b->sets[--b->n]);
	free(b->sets);
	free(b);
}

/* One set. One that cannot be read has no names: 0, or PP_ENOMEM. */
static int read_set(struct perf_btf *b, uint32_t id, const void *bytes, size_t n)
{
	struct kbtf **sets, *set;
	uint32_t *slot;
	int rc = b->n < SETS_MAX ? kbtf_bytes(&set, bytes, n, NULL) : PP_ELIMIT;

	if (rc)
		return rc == PP_ENOMEM ? rc : 0;
	slot = map64_put(&b->by_id, id, NULL);
	sets = slot ? realloc(b->sets, ((size_t)b->n + 1) * sizeof(*sets)) : NULL;
	if (!sets) {
		kbtf_close(set);
		return PP_ENOMEM;
	}
	b->sets = sets;
	b->sets[b->n++] = set;
	*slot = b->n;
	return 0;
}

int perf_btf_learn(struct perf_btf **b, struct cursor c)
{
	uint32_t n = get_u32(&c);
	int rc = 0;

	if (!*b) {
		*b = calloc(1, sizeof(**b));
		if (!*b)
			return PP_ENOMEM;
	}
	for (uint32_t i = 0; i < n && !c.bad && !rc; i++) {
		uint32_t id = get_u32(&c), size = get_u32(&c);
		struct cursor blob = cursor_sub(&c, size);

		if (!c.bad)
			rc = read_set(*b, id, blob.p, size);
	}
	return rc;
}

const char *perf_btf_name(const struct perf_btf *b, uint32_t id, uint32_t type)
{
	const uint32_t *slot = b ? map64_get(&b->by_id, id) : NULL;
	const char *name = slot && *slot ? kbtf_name(b->sets[*slot - 1], type) : "";

	return *name ? name : NULL;
}
