/*
 * Counting what samples lack: pairs of a DSO and a reason, and the sets of them that chains have.
 */
#include "resolve/missing.h"

#include "base/err.h"

#include <stdlib.h>
#include <string.h>

void missing_release(struct missing *m)
{
	map64_release(&m->by_key);
	intern_release(&m->sets);
	free(m->pairs);
	free(m->counts);
	free(m->list);
	*m = (struct missing){0};
}

uint16_t missing_pair(struct missing *m, uint32_t dso, uint32_t reason)
{
	uint32_t *slot = map64_put(&m->by_key, (uint64_t)dso << 8 | reason, NULL);

	if (!slot)
		return 0;
	if (*slot)
		return (uint16_t)*slot;
	if (m->npairs == MISSING_PAIRS_MAX)
		return MISSING_PAIRS_MAX;
	if (m->npairs == m->pairs_cap) {
		uint32_t cap = m->pairs_cap ? m->pairs_cap * 2 : 64;
		struct missing_pair *v = realloc(m->pairs, cap * sizeof(*v));

		if (!v)
			return 0;
		m->pairs = v;
		m->pairs_cap = cap;
	}
	m->pairs[m->npairs++] = (struct missing_pair){.dso = dso, .reason = reason};
	*slot = m->npairs;
	return (uint16_t)*slot;
}

static int compare(const void *a, const void *b)
{
	return *(const uint16_t *)a - *(const uint16_t *)b;
}

int missing_set(struct missing *m, const uint16_t *pairs, uint32_t n, uint32_t *set)
{
	uint32_t used = 0;
	bool fresh;
	int rc;

	*set = 0;
	if (n > m->list_cap) {
		uint16_t *v = realloc(m->list, n * sizeof(*v));

		if (!v)
			return PP_ENOMEM;
		m->list = v;
		m->list_cap = n;
	}
	for (uint32_t i = 0; i < n; i++)
		if (pairs[i])
			m->list[used++] = pairs[i];
	if (!used)
		return 0;
	if (m->sets.n == MISSING_SETS_MAX)
		return PP_ELIMIT;
	qsort(m->list, used, sizeof(*m->list), compare);
	rc = intern_add(&m->sets, m->list, used * sizeof(*m->list), set, &fresh);
	if (rc || !fresh)
		return rc;
	if (*set >= m->counts_cap) {
		uint32_t cap = m->counts_cap ? m->counts_cap * 2 : 1024;
		uint64_t *v = realloc(m->counts, cap * sizeof(*v));

		if (!v)
			return PP_ENOMEM;
		m->counts = v;
		m->counts_cap = cap;
	}
	m->counts[*set] = 0;
	return 0;
}

void missing_sum(struct missing *m)
{
	for (uint32_t id = 1; id <= m->sets.n; id++) {
		size_t len;
		const uint16_t *v = (const uint16_t *)(const void *)intern_get(&m->sets, id, &len);

		for (size_t i = 0; i < len / sizeof(*v); i++) {
			struct missing_pair *p = &m->pairs[v[i] - 1];

			p->frames += m->counts[id];
			if (!i || v[i] != v[i - 1])
				p->samples += m->counts[id];
		}
	}
	intern_release(&m->sets);
	m->sets = (struct intern)INTERN_INIT;
}
