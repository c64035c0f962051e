/* The index of a tar archive: every member is found, and lies within. */
#include "symbol/tar.h"

#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static const char *const paths[] = {"/usr/bin/a", "/bin/a", "/l", "/usr/lib/x/../y"};
	struct tar_file f;
	struct tar t;

	tar_index(&t, data, size);
	for (uint32_t id = 1; id <= t.names.n; id++)
		if (!tar_find(&t, intern_get(&t.names, id, NULL), &f) &&
		    (f.bytes < data || f.len > size || f.bytes + f.len > data + size))
			abort();
	for (size_t i = 0; i < sizeof(paths) / sizeof(*paths); i++)
		tar_find(&t, paths[i], &f);
	tar_release(&t);
	return 0;
}
