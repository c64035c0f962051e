/*
 * For t/pprobe.t: each call prints the values that a probe is to record, in the form of the trace
 * file of tracefs.
 */
#include <stdio.h>
#include <stdlib.h>

#define KEEP __attribute__((noinline, noclone))

enum color { RED, GREEN = 5, BLUE };

struct bits {
	unsigned a : 3;
	int b : 7;
	unsigned c : 9;
};

struct node {
	int id;
	short s;
	struct node *next;
	char txt[16];
	long arr[3];
	double d;
	struct bits bf;
	enum color col;
	const char *name;
};

int counter = 40;
static int passed;
FILE *out;

KEEP int values(int msec, const char *who, struct node *p, unsigned char u, long big, short neg,
		int seventh, struct node byval)
{
	int sum = msec + seventh;

	fprintf(out,
		"values msec=%d who=\"%s\" txt=\"%s\" u=%u big=%ld neg=%d seventh=%d id=%d a=%u b__s7=%u "
		"c=%u col=%u arr__elem={%ld,%ld,%ld} arr_2=%ld counter=%d\n",
		msec, who, p->next->txt, u, big, neg, seventh, byval.id, p->bf.a,
		(unsigned)p->bf.b & 127, p->bf.c, p->col, p->arr[0], p->arr[1], p->arr[2],
		p->arr[1], counter);
	for (int i = 0; i < 3; i++) {
		sum += (int)p->arr[i];
		passed++;
	}
	counter += sum;
	fprintf(out, "values__return retval=%d\n", sum);
	return sum;
}

KEEP int several(int n)
{
	if (n == 1)
		return puts("") + 100;
	if (n > 2) {
		counter++;
		return n * 3;
	}
	return -n;
}

KEEP int last(int n)
{
	if (n > 2)
		return counter += n;
	return n;
}

/* Leaves by a jump. */
KEEP int jumps(int n)
{
	return last(n + 1);
}

static inline __attribute__((always_inline)) int inlined(int x, int y)
{
	counter ^= x;
	return x * y + counter;
}

KEEP int loop(int n)
{
	int total = 0;

	for (int i = 0; i < n; i++) {
		total += i * counter;
		fprintf(out, "loop_L6 i=%d n=%d\n", i, n); /* line 6 */
	}
	return total;
}

int main(int argc, char **argv)
{
	struct node a = {7, -3, 0, "first", {1, 2, 3}, 2.5, {5, -9, 300}, BLUE, "anna"};
	struct node b = {8, 4, &a, "second", {4, 5, 6}, -1, {2, 17, 11}, GREEN, "bert"};
	int n = argc > 1 ? atoi(argv[1]) : 3, t = 0;

	out = stderr;
	a.next = &b;
	for (int i = 0; i < n; i++) {
		a.bf.b = -9 + i;
		t += values(i, i & 1 ? "odd" : "even", i & 1 ? &a : &b, (unsigned char)(200 + i),
			    1L << (33 + i), (short)-i, i * 11, a);
		t += inlined(i, n);
		fprintf(out, "several__return retval=%d\n", i == 1 ? 101 : i > 2 ? i * 3 : -i);
		t += several(i);
		t += jumps(i) + loop(i);
	}
	return t == 12345;
}
