/* Lists of points, and where a probe may be put. */
#include "probe/point.h"

#include "base/array.h"
#include "base/err.h"
#include "inspect/code.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

int points_add(struct points *p, const struct point *pt)
{
	struct point *v;

	if (p->n == POINTS_MAX)
		return PP_ELIMIT;
	v = array_widen(p->v, &p->cap, p->n, 16, sizeof(*v));
	if (!v)
		return PP_ENOMEM;
	p->v = v;
	p->v[p->n++] = *pt;
	return 0;
}

void points_release(struct points *p)
{
	free(p->v);
	*p = (struct points){0};
}

int points_check(const struct binary *b, const struct func *f, uint64_t addr, struct buf *why)
{
	const struct insn *i;
	struct code c;
	int rc;

	if (!f || !f->size) {
		buf_addf(why,
			 "0x%" PRIx64 ": no function is known there, so where instructions begin "
			 "is not, either",
			 addr);
		return PP_ENOENT;
	}
	rc = code_read(&c, b, f->addr, f->addr + f->size);
	if (!rc)
		rc = code_at(&c, addr, &i);
	else
		memset(&c, 0, sizeof(c));
	if (rc == PP_ENOENT)
		buf_addf(why,
			 "%s+0x%" PRIx64
			 " is in the middle of an instruction: the kernel would put a "
			 "probe there, and the program would crash",
			 f->name, addr - f->addr);
	else if (rc)
		buf_addf(why, "%s+0x%" PRIx64 ": cannot be disassembled: %s", f->name,
			 addr - f->addr, pp_strerror(rc));
	code_release(&c);
	return rc;
}
