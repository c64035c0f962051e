/*
 * Numbers of more than 64 bits, on machines that have a type for them and on those that do not.
 *
 *	struct wide product = wide_mul(ticks, factor);
 *
 *	ns = wide_div(&product, divisor, &rest);	(product is now the quotient)
 *
 * and wide_int, a type for sums, which holds every int64_t and uint64_t and is used with + - * and
 * comparisons; the replacement on a machine without 128 bits has no shifts and no remainder, and
 * its division does not round, which the functions below replace. Numbers below zero it does
 * not turn into uint64_t, but into int64_t.
 */
#ifndef PP_BASE_WIDE_H
#define PP_BASE_WIDE_H

#include <stdbool.h>
#include <stdint.h>

/* Whole numbers from -WIDE_INT_MAX to WIDE_INT_MAX, all exact. */
#if defined(__SIZEOF_INT128__)
typedef __int128 wide_int;
#define WIDE_INT_MAX	      ((wide_int)(~(unsigned __int128)0 >> 1))
#define wide_int_add(a, b, r) __builtin_add_overflow(a, b, r)
#define wide_int_mul(a, b, r) __builtin_mul_overflow(a, b, r)
#else
/* IEEE 754's binary128: 113 bits of a whole number. x86 also has it in 32 bits. */
typedef __float128 wide_int;
#define WIDE_INT_MAX	      ((wide_int)(UINT64_C(1) << 56) * (UINT64_C(1) << 56))
#define wide_int_add(a, b, r) wide_int_check((wide_int)(a) + (b), r)
#define wide_int_mul(a, b, r) wide_int_check((wide_int)(a) * (b), r)
static inline bool wide_int_check(wide_int v, wide_int *r) /* whether it overflows */
{
	*r = v;
	return v < -WIDE_INT_MAX || v > WIDE_INT_MAX;
}
#endif

/* 128 bits without a sign: hi * 2^64 + lo. */
struct wide {
	uint64_t hi, lo;
};

/* The product, by halves. */
static inline struct wide wide_mul_halves(uint64_t a, uint64_t b)
{
	uint64_t al = (uint32_t)a, ah = a >> 32, bl = (uint32_t)b, bh = b >> 32;
	uint64_t low = al * bl, mid = ah * bl + (low >> 32), mid2 = al * bh + (uint32_t)mid;

	return (struct wide){ah * bh + (mid >> 32) + (mid2 >> 32), mid2 << 32 | (uint32_t)low};
}

static inline struct wide wide_mul(uint64_t a, uint64_t b)
{
#ifdef __SIZEOF_INT128__
	unsigned __int128 v = (unsigned __int128)a * b;

	return (struct wide){(uint64_t)(v >> 64), (uint64_t)v};
#else
	return wide_mul_halves(a, b);
#endif
}

static inline void wide_add(struct wide *w, uint64_t v)
{
	w->hi += __builtin_add_overflow(w->lo, v, &w->lo);
}

static inline void wide_sub(struct wide *w, uint64_t v)
{
	w->hi -= __builtin_sub_overflow(w->lo, v, &w->lo);
}

/* The low 64 bits of w >> shift; shift is less than 128. */
static inline uint64_t wide_shift(struct wide w, unsigned shift)
{
	if (!shift)
		return w.lo;
	if (shift >= 64)
		return w.hi >> (shift - 64);
	return w.hi << (64 - shift) | w.lo >> shift;
}

/* Divides w by d, which is not 0. Returns the low 64 bits of the quotient; *rest: the remainder. */
uint64_t wide_div(struct wide *w, uint64_t d, uint64_t *rest);

/* What it does on machines that cannot divide so much at once: bit by bit. */
uint64_t wide_div_bits(struct wide *w, uint64_t d, uint64_t *rest);

/* A number that is not negative. */
struct wide wide_of(wide_int v);
wide_int wide_to_int(struct wide w);

#endif
