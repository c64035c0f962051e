/* Arithmetic of 128 bits that the compiler does not offer on every machine. */
#include "base/wide.h"

uint64_t wide_div(struct wide *w, uint64_t d, uint64_t *rest)
{
#ifdef __SIZEOF_INT128__
	unsigned __int128 v = (unsigned __int128)w->hi << 64 | w->lo, q = v / d;

	*rest = (uint64_t)(v - q * d);
	*w = (struct wide){(uint64_t)(q >> 64), (uint64_t)q};
	return w->lo;
#else
	return wide_div_bits(w, d, rest);
#endif
}

uint64_t wide_div_bits(struct wide *w, uint64_t d, uint64_t *rest)
{
	struct wide q = {w->hi / d, 0};
	uint64_t r = w->hi % d;

	if (!r) {
		q.lo = w->lo / d;
		r = w->lo % d;
	} else {
		for (int i = 63; i >= 0; i--) {
			bool carry = r >> 63;

			r = r << 1 | (w->lo >> i & 1);
			if (carry || r >= d) {
				r -= d;
				q.lo |= UINT64_C(1) << i;
			}
		}
	}
	*w = q;
	*rest = r;
	return q.lo;
}

struct wide wide_of(wide_int v)
{
	const wide_int word = (wide_int)(UINT64_C(1) << 32) * (UINT64_C(1) << 32);
	uint64_t hi = (uint64_t)(v / word);

	return (struct wide){hi, (uint64_t)(v - hi * word)};
}

wide_int wide_to_int(struct wide w)
{
	return ((wide_int)w.hi * (UINT64_C(1) << 32)) * (UINT64_C(1) << 32) + w.lo;
}
