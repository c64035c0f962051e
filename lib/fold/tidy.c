/* The names of frames, by stackcollapse-perf.pl's conventions. */
#include "fold/tidy.h"

#include "symbol/demangled_name.h"

#define LITERAL(s) (s), sizeof(s) - 1

static bool equals(const char *s, size_t n, const char *want, size_t want_n)
{
	return n == want_n && !memcmp(s, want, n);
}

static bool contains(const char *s, size_t n, const char *want, size_t want_n)
{
	return memmem(s, n, want, want_n) != NULL;
}

bool fold_is_java(const char *comm, size_t len)
{
	return len >= 4 && !memcmp(comm, "java", 4);
}

bool fold_is_unknown(const struct fold_symbol *s)
{
	return equals(s->func, s->func_len, LITERAL("[unknown]")) &&
	       equals(s->dso, s->dso_len, LITERAL("[unknown]"));
}

static void add_unknown(const struct fold_opts *opts, const struct fold_symbol *s, struct buf *b)
{
	const char *end = s->dso + s->dso_len, *name = end;

	/* What has no file name, as "/" of memory that processes share, is called by its path. */
	while (name > s->dso && name[-1] != '/')
		name--;
	if (name == end)
		name = s->dso;
	buf_addc(b, '[');
	if (s->generated)
		buf_adds(b, "unnamed generated code");
	else if (name == end || fold_is_unknown(s))
		buf_adds(b, "unknown");
	else
		buf_add(b, name, (size_t)(end - name));
	if (opts->addrs) {
		buf_adds(b, " <");
		buf_add(b, s->pc, s->pc_len);
		buf_addc(b, '>');
	}
	buf_addc(b, ']');
}

static bool is_kernel(const char *dso, size_t n)
{
	bool kernel = (n && dso[0] == '[') || (n >= 7 && !memcmp(dso + n - 7, "vmlinux", 7));

	return kernel && !contains(dso, n, LITERAL("unknown"));
}

bool fold_is_jit_map(const char *dso, size_t n)
{
	static const char start[] = "/tmp/perf-";
	const char *end = dso + n, *p = dso;

	while ((p = memmem(p, (size_t)(end - p), LITERAL(start)))) {
		const char *digits = p += sizeof(start) - 1;

		while (p < end && *p >= '0' && *p <= '9')
			p++;
		if (p > digits && end - p >= 4 && !memcmp(p, ".map", 4))
			return true;
	}
	return false;
}

static void add_marks(const struct fold_opts *opts, const struct fold_symbol *s, struct buf *b,
		      size_t from)
{
	const char *name = buf_str(b) + from;
	size_t n = b->len - from;

	if (s->inlined) {
		if (!contains(name, n, LITERAL("_[i]")))
			buf_adds(b, "_[i]");
	} else if (opts->kernel && is_kernel(s->dso, s->dso_len)) {
		buf_adds(b, "_[k]");
	} else if (opts->jit && fold_is_jit_map(s->dso, s->dso_len)) {
		if (!contains(name, n, LITERAL("_[j]")))
			buf_adds(b, "_[j]");
	}
}

void fold_tidy(const struct fold_opts *opts, const struct fold_symbol *s, struct buf *b)
{
	size_t from = b->len, n, kept = 0;
	char *name;

	if (equals(s->func, s->func_len, LITERAL("[unknown]")))
		add_unknown(opts, s, b);
	else
		buf_add(b, s->func, s->func_len);
	if (b->err || b->len == from) {
		add_marks(opts, s, b, from);
		return;
	}
	name = (char *)b->data + from;
	n = name_shorten(name, b->len - from);
	for (size_t i = 0; i < n; i++)
		if (name[i] != '"' && name[i] != '\'')
			name[kept++] = name[i] == ';' ? ':' : name[i];
	/* Java's "Lorg/a/B" is a type's descriptor: org/a/B. */
	if (s->java && kept && name[0] == 'L' && memchr(name, '/', kept))
		memmove(name, name + 1, --kept);
	b->len = from + kept;
	b->data[b->len] = 0;
	add_marks(opts, s, b, from);
}
