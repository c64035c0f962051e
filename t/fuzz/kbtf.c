/*
 * The kernel's types for pprobe: those of the kernel, and of a module on top of them. The first two
 * bytes are how long the kernel's are. Everything that has a number is asked for and declared;
 * parameters become arguments of probes. No declaration is longer than its bound.
 */
#include "event/kbtf.h"
#include "probe/kernel_args.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define TYPES	     64	   /* that are asked for */
#define PARTS	     8	   /* parameters and members of each */
#define DECLARED_MAX 10240 /* bytes of a declaration: 8192, and the name that goes over it */

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void declare(const struct kbtf *k, uint32_t type, const char *name)
{
	struct buf b = BUF_INIT;

	kbtf_declare(k, type, name, &b);
	if (b.len > DECLARED_MAX + strlen(name))
		abort();
	buf_release(&b);
}

static void argument(const struct kernel_site *s, const char *name, const char *steps,
		     struct fetches *f)
{
	struct buf why = BUF_INIT;
	char text[256];

	snprintf(text, sizeof(text), "%.200s%s", name, steps);
	f->n = 0;
	kernel_argument(s, text, f, &why);
	buf_release(&why);
}

static void arguments(const struct kbtf *k, uint32_t proto, struct fetches *f)
{
	static const char *const steps[] = {"",	       "->id",	  "->id.id",	 "[1]",
					    "->id[2]", ":string", "->id:string", "[3].id:u8[4]"};
	struct kernel_site s = {.types = k, .proto = proto, .entry = true};
	const char *name;
	uint32_t type;

	for (unsigned i = 0; i < PARTS && !kbtf_param(k, proto, i, &name, &type); i++) {
		declare(k, type, name);
		for (size_t j = 0; j < sizeof(steps) / sizeof(steps[0]); j++)
			argument(&s, name, steps[j], f);
	}
	s = (struct kernel_site){.types = k, .proto = proto, .returns = true};
	argument(&s, "$retval", "", f);
	argument(&s, "$retval", "->id", f);
}

static void ask(const struct kbtf *k, struct fetches *f)
{
	uint32_t type, n;
	uint64_t size;
	bool sign;

	kbtf_type(k, "struct f", &type);
	for (uint32_t id = 0; id < TYPES; id++) {
		struct kbtf_member m;

		kbtf_class(k, id, &size, &sign);
		kbtf_is_char(k, id);
		kbtf_result(k, id, &type);
		kbtf_target(k, id, &type);
		kbtf_array(k, id, &type, &n);
		kbtf_find(k, id, "id", 2, &m);
		for (uint32_t i = 0; i < PARTS && !kbtf_member(k, id, i, &m); i++)
			if (strlen(m.name) && kbtf_find(k, id, m.name, strlen(m.name), &m))
				abort();
		declare(k, id, "x");
		arguments(k, id, f);
	}
	if (!kbtf_function(k, "f", &type))
		arguments(k, type, f);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct fetches *f = calloc(1, sizeof(*f));
	struct kbtf *base = NULL, *module = NULL;
	size_t n = size < 2 ? 0 : (size_t)data[0] << 8 | data[1];

	if (f && size >= 2 && size <= 65536) {
		n = n < size - 2 ? n : size - 2;
		if (!kbtf_bytes(&base, data + 2, n, NULL))
			ask(base, f);
		if (!kbtf_bytes(&module, data + 2 + n, size - 2 - n, base))
			ask(module, f);
	}
	kbtf_close(module);
	kbtf_close(base);
	free(f);
	return 0;
}
