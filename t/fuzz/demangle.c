/* Demangling of any name: bounded in time, stack and output. */
#include "symbol/demangle.h"

#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct buf b = BUF_INIT;
	char *name = malloc(size + 1);
	const char *text;

	if (!name)
		return 0;
	memcpy(name, data, size);
	name[size] = 0;
	text = demangle(name, &b);
	if (text != name && strlen(text) > DEMANGLE_MAX_OUT + DEMANGLE_MAX_IN)
		abort();
	buf_release(&b);
	free(name);
	return 0;
}
