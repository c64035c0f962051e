/*
 * Arrays indexed by a dense id: grown so that an index is in them, the new part zeroed.
 *
 *	v = array_widen(t->v, &t->n, id, 256, sizeof(*v));
 *	if (!v)
 *		return PP_ENOMEM;
 *	t->v = v;
 */
#ifndef PP_BASE_ARRAY_H
#define PP_BASE_ARRAY_H

#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

/*
 * v has *n entries of `size` bytes, NULL and 0 at first; it gets `first` of them, twice as
 * many, and so on. NULL: out of memory, or an index of 2^31 or more; v and *n are as they were.
 */
static inline void *array_widen(void *v, uint32_t *n, uint32_t index, uint32_t first, size_t size)
{
	uint32_t more = *n ? *n : first;
	uint8_t *p;

	if (index < *n)
		return v;
	if (index > INT32_MAX)
		return NULL;
	while (more <= index)
		more *= 2;
	/* After a long way, most of it may never be used: the kernel's zeros cost nothing. */
	p = more / 4 >= *n ? calloc(more, size) : reallocarray(v, more, size);
	if (!p)
		return NULL;
	if (more / 4 < *n) {
		memset(p + *n * size, 0, (more - *n) * size);
	} else if (v) {
		memcpy(p, v, *n * size);
		free(v);
	}
	*n = more;
	return p;
}

#endif
