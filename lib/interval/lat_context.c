/* What of the input goes on in a stream that plat makes, and the strings of that. */
#include "interval/lat_context.h"

#include "base/array.h"
#include "base/err.h"

#include <stdlib.h>
#include <string.h>

int lat_defined_put(struct lat_defined *s, struct swriter *w, uint32_t source, uint32_t id,
		    const char *text, size_t len)
{
	struct ps_string string = {.id = id, .text = ps_str(text, len)};
	uint8_t *v = array_widen(s->bits, &s->cap, id / 8, 128, 1);

	if (!v)
		return PP_ENOMEM;
	s->bits = v;
	v[id / 8] |= (uint8_t)(1 << id % 8);
	return swriter_put(w, PS_STRING, source, &string);
}

void lat_defined_clear(struct lat_defined *s)
{
	if (s->cap)
		memset(s->bits, 0, s->cap);
}

void lat_defined_release(struct lat_defined *s)
{
	free(s->bits);
	*s = (struct lat_defined){0};
}

int lat_context_copy(struct swriter *w, const struct ps_record *rec)
{
	struct ps_lost lost;
	int rc;

	switch (rec->type) {
	case PS_CHAIN:
	case PS_SYMBOL:
	case PS_FRAME:
	case PS_STACK:
	case PS_SAMPLE:
	case PS_EVENT:
	case PS_STRING:
	case PS_READ:
	case PS_COUNTER:
	case PS_COUNT:
	case PS_ROUND:
	case PS_THROTTLE: return 0;
	case PS_LOST:
		lost = rec->lost;
		lost.event = 0;
		return swriter_put(w, PS_LOST, rec->source, &lost);
	default: rc = swriter_copy(w, rec); return rc == PP_EUNSUPPORTED ? 0 : rc;
	}
}
