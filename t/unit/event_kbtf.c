/* Types of a module, which build on those of the kernel (split BTF). */
#include "base/err.h"
#include "event/kbtf.h"
#include "tap.h"

#include <string.h>

struct made {
	uint8_t bytes[512];
	uint32_t n;
};

static void word(struct made *m, uint32_t v)
{
	memcpy(m->bytes + m->n, &v, sizeof(v));
	m->n += sizeof(v);
}

static void head(struct made *m, uint32_t types, uint32_t texts)
{
	m->n = 0;
	word(m, 0x0001eb9f);
	word(m, 24);
	word(m, 0);
	word(m, types);
	word(m, types);
	word(m, texts);
}

static void type(struct made *m, uint32_t name, uint32_t kind, uint32_t n, uint32_t size)
{
	word(m, name);
	word(m, kind << 24 | n);
	word(m, size);
}

/* int; struct pair { int id; }; int f(int id). */
static const char base_texts[] = "\0int\0pair\0id\0f";

static void base_types(struct made *m)
{
	head(m, 16 + 24 + 20 + 12, sizeof(base_texts));
	type(m, 1, 1, 0, 4); /* [1] int: signed, 32 bits */
	word(m, 1u << 24 | 32);
	type(m, 5, 4, 1, 4); /* [2] struct pair */
	word(m, 10);
	word(m, 1);
	word(m, 0);
	type(m, 0, 13, 1, 1); /* [3] int (int id) */
	word(m, 10);
	word(m, 1);
	type(m, 13, 12, 0, 3); /* [4] f */
	memcpy(m->bytes + m->n, base_texts, sizeof(base_texts));
	m->n += sizeof(base_texts);
}

/* struct pair *; int g(struct pair *p, int id). Numbers and texts go on where those of base end. */
static const char module_texts[] = "\0g\0p";

static void module_types(struct made *m)
{
	uint32_t own = sizeof(base_texts);

	head(m, 12 + 28 + 12, sizeof(module_texts));
	type(m, 0, 2, 0, 2);  /* [5] struct pair * */
	type(m, 0, 13, 2, 1); /* [6] the prototype */
	word(m, own + 3);
	word(m, 5);
	word(m, 10);
	word(m, 1);
	type(m, own + 1, 12, 0, 6); /* [7] g */
	memcpy(m->bytes + m->n, module_texts, sizeof(module_texts));
	m->n += sizeof(module_texts);
}

static void check_module(const struct kbtf *module)
{
	struct kbtf_member member = {0};
	uint32_t proto = 0, t = 0, to = 0;
	uint64_t size;
	const char *name = "";
	bool sign = false;

	ok(kbtf_function(module, "g", &proto) == 0 && proto == 6, "a function of the module");
	ok(kbtf_function(module, "f", &proto) == PP_ENOENT, "those of the kernel are not its own");
	proto = 6;
	ok(kbtf_param(module, proto, 0, &name, &t) == 0 && !strcmp(name, "p"),
	   "a parameter with a name of its own");
	ok(kbtf_target(module, t, &to) == 0 && to == 2, "which points to a type of the kernel");
	ok(kbtf_find(module, to, "id", 2, &member) == 0 && member.type == 1, "with a member");
	ok(kbtf_param(module, proto, 1, &name, &t) == 0 && !strcmp(name, "id"),
	   "a parameter whose name the kernel has");
	ok(kbtf_class(module, t, &size, &sign) == KBTF_NUMBER && size == 4 && sign,
	   "of a type of the kernel");
	ok(kbtf_param(module, 7000, 0, &name, &t) == PP_ENOENT, "a type that there is not");
}

int main(void)
{
	struct kbtf *base = NULL, *module = NULL;
	struct made b, m;

	base_types(&b);
	module_types(&m);
	ok(kbtf_bytes(&base, b.bytes, b.n, NULL) == 0, "the kernel's types");
	ok(base && kbtf_bytes(&module, m.bytes, m.n, base) == 0, "a module's types");
	if (module)
		check_module(module);
	kbtf_close(module);
	ok(kbtf_bytes(&module, m.bytes, m.n, NULL) == 0 && module, "without a base it can be read");
	kbtf_close(module);
	for (uint32_t n = 0; n < m.n; n++)
		if (!kbtf_bytes(&module, m.bytes, n, base))
			break;
	ok(!module, "cut anywhere it is corrupt");
	kbtf_close(base);
	return done();
}
