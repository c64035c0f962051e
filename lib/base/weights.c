/* Numbers most of which are small: their memory. */
#include "base/weights.h"

#include "base/array.h"
#include "base/err.h"

#define CAP_FIRST 1024u

void weights_release(struct weights *w)
{
	free(w->v);
	free(w->big);
	*w = (struct weights){0};
}

int weights_grow(struct weights *w, uint32_t n)
{
	size_t cap = w->cap ? w->cap : CAP_FIRST;
	uint32_t *v;

	while (cap < n)
		cap *= 2;
	/* What is not needed yet is not touched. */
	v = realloc(w->v, cap * sizeof(*v));
	if (!v)
		return PP_ENOMEM;
	w->v = v;
	w->cap = cap > UINT32_MAX ? UINT32_MAX : (uint32_t)cap;
	return weights_widen(w, n);
}

int weights_add_big(struct weights *w, uint32_t i, uint64_t value)
{
	uint64_t *v = array_widen(w->big, &w->cap_big, w->nbig, 64, sizeof(*v));

	if (!v)
		return PP_ENOMEM;
	w->big = v;
	v[w->nbig] = value;
	w->v[i] = WEIGHTS_BIG | w->nbig++;
	return 0;
}
