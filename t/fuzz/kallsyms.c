/* The kallsyms parser, with and without relocation. */
#include "symbol/kallsyms.h"

#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void parse(const uint8_t *data, size_t size, const struct kallsyms_opts *opts)
{
	enum symtab_reason why;
	struct symbol s, found;
	struct kallsyms k;

	if (kallsyms_parse(data, size, opts, &k, &why)) {
		if (k.table || why == SYMTAB_OK)
			abort();
		return;
	}
	for (uint32_t i = 0; i < symtab_count(k.table); i++) {
		symtab_get(k.table, i, &s);
		if (s.end > s.start && symtab_find(k.table, s.start, &found))
			abort();
		(void)*symtab_text(k.table, s.name);
		(void)*symtab_text(k.table, s.module);
	}
	kallsyms_release(&k);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct kallsyms_opts opts = {"_text", 0xffffffff81000000, size & 1};

	parse(data, size, NULL);
	parse(data, size, &opts);
	return 0;
}
