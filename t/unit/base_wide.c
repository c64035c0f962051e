/* lib/base/wide.h: products, quotients and sums of more than 64 bits, also those made by halves. */
#include "base/wide.h"

#include "tap.h"

#define M UINT64_MAX

/* a * b = hi, lo; (a * b + c) / d = q_hi, q_lo and rest: by hand, or from powers of two. */
static const struct {
	uint64_t a, b, hi, lo, c, d, q_hi, q_lo, rest;
} rows[] = {
	{0, 0, 0, 0, 0, 1, 0, 0, 0},
	{7, 6, 0, 42, 3, 10, 0, 4, 5},
	{M, M, M - 1, 1, 0, M, 0, M, 0},
	{M, M, M - 1, 1, M - 1, M, 0, M, M - 1},
	{M, 2, 1, M - 1, 1, 2, 0, M, 1},
	{UINT64_C(1) << 32, UINT64_C(1) << 32, 1, 0, 0, 3, 0, UINT64_C(0x5555555555555555), 1},
	{UINT64_C(1) << 63, UINT64_C(1) << 63, UINT64_C(1) << 62, 0, 0, 1, UINT64_C(1) << 62, 0, 0},
	{UINT64_C(1) << 63, 4, 2, 0, 5, UINT64_C(1) << 63, 0, 4, 5},
	{1000000007, UINT64_C(10000000000000000000), UINT64_C(542101090),
	 UINT64_C(691011725555138560), 0, 1000000007, 0, UINT64_C(10000000000000000000), 0},
};

static void test_rows(void)
{
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct wide p = wide_mul(rows[i].a, rows[i].b);
		struct wide h = wide_mul_halves(rows[i].a, rows[i].b), q = p, bits;
		uint64_t rest, rest_bits;

		ok(p.hi == rows[i].hi && p.lo == rows[i].lo && h.hi == p.hi && h.lo == p.lo,
		   "row %zu: the product, in both ways", i);
		wide_add(&q, rows[i].c);
		bits = q;
		ok(wide_div(&q, rows[i].d, &rest) == rows[i].q_lo && q.hi == rows[i].q_hi &&
			   rest == rows[i].rest,
		   "row %zu: the quotient", i);
		ok(wide_div_bits(&bits, rows[i].d, &rest_bits) == q.lo && bits.hi == q.hi &&
			   rest_bits == rest,
		   "row %zu: bit by bit", i);
	}
}

static void test_ints(void)
{
	wide_int v = 1, sum = WIDE_INT_MAX;
	struct wide w;

	for (int i = 0; i < 100; i++)
		v = v * 2;
	w = wide_of(v);
	ok(w.hi == UINT64_C(1) << 36 && !w.lo, "2^100");
	ok(wide_to_int(w) == v, "and back");
	w = wide_of((wide_int)M + 1);
	ok(w.hi == 1 && !w.lo, "2^64");
	w = wide_of(M);
	ok(!w.hi && w.lo == M, "the greatest of 64 bits is exact");
	ok(!wide_int_add((wide_int)INT64_MIN, (wide_int)M, &v) && v == INT64_MAX, "a sum");
	ok(wide_int_add(sum, sum, &v), "a sum that is too much");
	ok(wide_int_mul(sum, 3, &v), "a product that is too much");
	w = (struct wide){3, 1};
	wide_sub(&w, 2);
	ok(w.hi == 2 && w.lo == M, "a difference borrows");
	ok(wide_shift((struct wide){1, 2}, 0) == 2 &&
		   wide_shift((struct wide){1, 2}, 1) == (UINT64_C(1) << 63 | 1) &&
		   wide_shift((struct wide){5, 2}, 64) == 5 &&
		   wide_shift((struct wide){5, 2}, 65) == 2,
	   "shifts");
}

int main(void)
{
	test_rows();
	test_ints();
	return done();
}
