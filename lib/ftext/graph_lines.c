/*
 * Lines of the function graph tracer: "! 212.578 us  |    vfs_read() {".
 *
 * A call that ends becomes an event funcgraph_exit, with its duration and with the calls around
 * it as its stack; a call that goes on becomes funcgraph_entry. A line "foo();" is both, and
 * becomes funcgraph_exit.
 */
#include "ftext/parts.h"

#include "base/err.h"

#include <stdlib.h>

struct ftext_cpu *ftext_cpu(struct ftext *t, uint32_t cpu)
{
	if (cpu >= FTEXT_CPUS_MAX)
		return NULL;
	if (cpu >= t->ncpus) {
		struct ftext_cpu *v = realloc(t->cpus, (cpu + 1) * sizeof(*v));

		if (!v)
			return NULL;
		memset(v + t->ncpus, 0, (cpu + 1 - t->ncpus) * sizeof(*v));
		t->cpus = v;
		t->ncpus = cpu + 1;
	}
	return &t->cpus[cpu];
}

/* "! 212.578 us": ns. */
static bool duration(struct ps_str text, uint64_t *ns)
{
	const char *p = text.p, *end = p + text.len;
	uint64_t unit = 1000;

	while (p < end && strchr("!+#*@$ ", *p))
		p++;
	if (p == end || !ftext_digit(*p))
		return false;
	for (*ns = 0; p < end && ftext_digit(*p) && *ns < UINT64_MAX / 20000; p++)
		*ns = *ns * 10 + (uint64_t)(*p - '0');
	*ns *= 1000;
	if (p < end && *p == '.')
		for (p++; p < end && ftext_digit(*p); p++)
			*ns += (unit /= 10) * (uint64_t)(*p - '0');
	return true;
}

/* The call and those around it, leaf first. */
static void take_stack(struct ftext *t, const struct ftext_cpu *c, uint32_t depth)
{
	t->nframes = 0;
	for (uint32_t i = depth + 1; i-- > 0;)
		if (c->calls[i])
			t->frames[t->nframes++] = c->calls[i];
}

/* "name(args) {", "name();", "} // name = 0x1": the name, the arguments, what was returned. */
static void call(struct ps_str text, struct ps_str *name, struct ps_str *args, struct ps_str *ret)
{
	const char *p = text.p, *end = p + text.len, *note = memmem(p, text.len, "/*", 2), *open;

	*name = *args = *ret = (struct ps_str){0};
	if (note) {
		struct ps_str n = ftext_trim(note + 2, (size_t)(end - note) - 2);
		const char *eq;

		if (n.len > 2 && !memcmp(n.p + n.len - 2, "*/", 2))
			n = ftext_trim(n.p, n.len - 2);
		eq = memrchr(n.p, '=', n.len);
		if (eq) {
			*ret = ftext_trim(eq + 1, (size_t)(n.p + n.len - eq) - 1);
			n = ftext_trim(n.p, (size_t)(eq - n.p));
			if (n.len >= 3 && !memcmp(n.p + n.len - 3, "ret", 3))
				n = ftext_trim(n.p, n.len - 3);
		}
		*name = n;
		end = note;
	}
	if (*p == '}')
		return;
	open = memchr(p, '(', (size_t)(end - p));
	*name = ftext_trim(p, (size_t)((open ? open : end) - p));
	if (open) {
		const char *close = memrchr(open, ')', (size_t)(end - open));

		if (close)
			*args = ps_str(open + 1, (size_t)(close - open) - 1);
	}
}

static int fill(struct ftext *t, struct ftext_cpu *c, uint32_t depth, struct ps_str text,
		bool timed, uint64_t ns, struct ftext_info *info)
{
	struct ps_str name, args, ret;
	bool end = *text.p == '}', leaf = !end && text.p[text.len - 1] != '{';
	uint32_t id = 0;
	size_t len;
	uint64_t v;
	bool is_hex;
	int rc = 0;

	call(text, &name, &args, &ret);
	if (end && !name.len && c->calls[depth])
		name.p = intern_get(&t->funcs, c->calls[depth], &len), name.len = (uint32_t)len;
	if (name.len)
		rc = ftext_func(t, &name, &id);
	c->calls[depth] = id;
	info->name = end || leaf ? ps_str("funcgraph_exit", 14) : ps_str("funcgraph_entry", 15);
	ftext_add_text(info, "func", name);
	ftext_add_number(info, "depth", depth);
	if (timed)
		ftext_add_number(info, "duration", ns);
	if (ret.len && ftext_number(&ret, false, &v, &is_hex))
		ftext_add_number(info, "retval", v);
	if (args.len)
		ftext_add_text(info, "args", args);
	if (end || leaf) {
		take_stack(t, c, depth);
		c->calls[depth] = 0;
	}
	return rc;
}

int ftext_graph(struct ftext *t, const struct ps_str *text, uint32_t cpu, struct ftext_info *info)
{
	const char *bar = memchr(text->p, '|', text->len), *p, *end = text->p + text->len;
	struct ftext_cpu *c = ftext_cpu(t, cpu < FTEXT_CPUS_MAX ? cpu : 0);
	struct ps_str rest;
	uint32_t depth;
	uint64_t ns = 0;
	bool timed;

	if (!c)
		return PP_ENOMEM;
	t->nframes = 0;
	info->n = 0;
	info->prefix = "";
	info->is_hex = info->stack = false;
	info->system = ps_str("ftrace", 6);
	info->name = ps_str("text", 4);
	if (!bar)
		return 0;
	timed = duration(ftext_trim(text->p, (size_t)(bar - text->p)), &ns);
	for (p = bar + 1; p < end && *p == ' ';)
		p++;
	depth = p - bar > 3 ? (uint32_t)(p - bar - 3) / 2 : 0;
	rest = ftext_trim(p, (size_t)(end - p));
	if (!rest.len)
		return 0;
	if (rest.len > 4 && !memcmp(rest.p, "/* ", 3)) {
		/* An event among the calls. */
		if (!memcmp(rest.p + rest.len - 2, "*/", 2))
			rest.len -= 2;
		rest = ftext_trim(rest.p + 3, rest.len - 3);
		ftext_info(&rest, false, info);
		return 0;
	}
	if (depth >= FTEXT_DEPTH_MAX ||
	    (!strchr("};{", rest.p[rest.len - 1]) && *rest.p != '}' && rest.p[rest.len - 1] != '/'))
		return 0;
	return fill(t, c, depth, rest, timed, ns, info);
}

bool ftext_graph_switch(struct ftext *t, const char *line, size_t len)
{
	struct ps_str text = ftext_trim(line, len);
	const char *p = text.p, *end = p + text.len, *arrow, *dash;
	struct ftext_cpu *c;
	struct ps_str to;
	uint64_t cpu = 0, pid;
	bool is_hex;

	for (; p < end && ftext_digit(*p) && cpu < FTEXT_CPUS_MAX; p++)
		cpu = cpu * 10 + (uint64_t)(*p - '0');
	arrow = p > text.p && p < end && *p == ')' ? memmem(p, (size_t)(end - p), " => ", 4) : NULL;
	if (!arrow)
		return false;
	to = ftext_trim(arrow + 4, (size_t)(end - arrow) - 4);
	dash = memrchr(to.p, '-', to.len);
	if (!dash)
		return false;
	text = ps_str(dash + 1, (size_t)(to.p + to.len - dash) - 1);
	if (!ftext_number(&text, false, &pid, &is_hex) || pid > UINT32_MAX)
		return false;
	c = ftext_cpu(t, (uint32_t)cpu);
	to.len = (uint32_t)(dash - to.p);
	if (!c || to.len >= sizeof(c->comm))
		return false;
	*c = (struct ftext_cpu){.pid = (uint32_t)pid};
	memcpy(c->comm, to.p, to.len);
	return true;
}
