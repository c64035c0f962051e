/*
 * The types of a kernel. The input is a table; all that looks like a name in it is asked for as a
 * function. No more is printed than the arguments' number and the names' length allow, and no
 * control character.
 */
#include "base/cursor.h"
#include "print/btf.h"

#include <stdlib.h>
#include <string.h>

#define ARGS	  6
#define ARG_MAX	  4096 /* bytes of an argument as text: its name is cut off, its bytes escaped */
#define NAMES_MAX 24

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void ask(const struct btf *btf, const char *func)
{
	static const uint64_t args[ARGS] = {0, 1, UINT64_MAX, 0x8000, 1ull << 63, 42};

	for (uint32_t n = 1; n <= ARGS; n += ARGS - 1) {
		struct buf b = BUF_INIT;

		btf_add_args(btf, func, args, n, &b);
		if (b.len > (size_t)n * ARG_MAX)
			abort();
		for (size_t i = 0; i < b.len; i++)
			if (b.data[i] < ' ' || b.data[i] == 0x7f)
				abort();
		buf_release(&b);
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct buf bytes = BUF_INIT, name = BUF_INIT;
	struct btf *btf;
	int asked = 0;

	buf_add(&bytes, data, size);
	if (btf_new(&btf, &bytes) && btf)
		abort();
	/* From the end, where the names are. */
	for (size_t i = size; btf && i-- > 0 && asked < NAMES_MAX;) {
		size_t len = i ? strnlen((const char *)data + i, size - i) : 0;

		if (!i || data[i - 1] || !len || i + len == size)
			continue;
		buf_reset(&name);
		buf_add(&name, data + i, len);
		ask(btf, buf_str(&name));
		buf_adds(&name, ".isra.0");
		ask(btf, buf_str(&name));
		asked++;
	}
	ask(btf, "");
	ask(NULL, "f");
	btf_free(btf);
	buf_release(&bytes);
	buf_release(&name);
	return 0;
}
