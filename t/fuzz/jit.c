/* Perf maps and jitdump files: the first byte tells which. */
#include "symbol/jit.h"

#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct jit_dump_info info;
	bool changed = false;
	struct source_frame f;
	struct jit *j;
	uint64_t bad;

	if (jit_new(&j))
		return 0;
	if (size && (data[0] | 0x20) == (data[0] & 0x7f) && data[0] != 0x4a && data[0] != 0x44)
		jit_map(j, (const char *)data, size, &bad);
	else
		jit_dump(j, data, size, &info);
	for (uint64_t time = 0; time < 4; time++)
		jit_advance(j, time < 3 ? time * 1000 : JIT_TIME_ALL, &changed);
	for (uint32_t code = 1; code <= jit_count(j); code++) {
		const struct jit_code *c = jit_code(j, code);
		uint32_t found = jit_find(j, c->start);

		/* What is found there covers the address. */
		if (found &&
		    (jit_code(j, found)->start > c->start || jit_code(j, found)->end <= c->start))
			abort();
		(void)strlen(jit_name(j, code));
		if (!jit_line(j, code, c->start + 8, &f))
			(void)strlen(f.file);
	}
	jit_free(j);
	return 0;
}
