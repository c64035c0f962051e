/* Times as text, and the way of what was written into the output. */
#include "history/parts.h"

void history_ms(struct buf *b, uint64_t ns, int width)
{
	buf_add_u64(b, ns / 1000000, width, ' ');
	buf_addc(b, '.');
	buf_add_u64(b, ns % 1000000 / 1000, 3, '0');
	buf_addc(b, ' ');
}

void history_time(struct buf *b, uint64_t ns, int width)
{
	buf_add_u64(b, ns / 1000000000, width > 7 ? width - 7 : 0, ' ');
	buf_addc(b, '.');
	buf_add_u64(b, ns % 1000000000 / 1000, 6, '0');
}

int history_write(struct history *h)
{
	int rc = h->b.err;

	if (!rc && h->b.len)
		rc = out_add(&h->out, h->b.data, h->b.len);
	buf_reset(&h->b);
	return rc;
}
