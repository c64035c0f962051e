/* Functions whose parameters are of the types in types.h. Compiled with BTF, never run. */
#include "types.h"

#define KEEP __attribute__((noinline, used, noclone))

KEEP int work(struct outer *o, const char *text, unsigned long n, pair_t by_value, short last,
	      struct outer *on_stack)
{
	return o->in.a + text[0] + (int)n + (int)by_value.first + by_value.third + last +
	       on_stack->in.a;
}

KEEP struct outer *find(int id)
{
	return (struct outer *)(long)id;
}

KEEP pair_t *nothing(void)
{
	return 0;
}

KEEP void give(struct outer *o, ...)
{
	o->mode = OFF;
}

KEEP struct pair by_result(long first)
{
	return (struct pair){first, 1, 2};
}

int _start(void)
{
	struct outer *o = find(1);
	struct pair p = by_result((long)o);

	give(o);
	return work(o, "", 1, p, (short)(nothing() != 0), o);
}
