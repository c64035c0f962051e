/* The files of pages that a recorder that was killed left: FILE.cpuN and FILE.BUFFER.cpuN. */
#include "tracedat/parts.h"

#include "base/err.h"
#include "base/src.h"
#include "tracedat/write_sections.h"

#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

struct part {
	char *buffer;
	int cpu;
};

static int by_buffer(const void *a, const void *b)
{
	const struct part *x = a, *y = b;
	int order = strcmp(x->buffer, y->buffer);

	return order ? order : x->cpu - y->cpu;
}

/* "x.dat.cpu3", "x.dat.irqs.cpu3". The buffer is owned by the caller; NULL: it is no such name. */
static char *take_apart(const char *name, const char *base, int *cpu)
{
	size_t n = strlen(base), digits;
	const char *at = name, *last = NULL;

	if (strncmp(name, base, n) != 0 || name[n] != '.')
		return NULL;
	for (at = name + n; (at = strstr(at, ".cpu")); at++)
		last = at;
	if (!last)
		return NULL;
	digits = strspn(last + 4, "0123456789");
	if (!digits || digits > 5 || last[4 + digits])
		return NULL;
	*cpu = atoi(last + 4);
	return last == name + n ? strdup("") : strndup(name + n + 1, (size_t)(last - name) - n - 1);
}

static int find(const char *file, struct part **parts, size_t *n)
{
	const char *slash = strrchr(file, '/'), *base = slash ? slash + 1 : file;
	char *dir = slash ? strndup(file, (size_t)(slash - file) + 1) : strdup(".");
	DIR *d = dir ? opendir(dir) : NULL;
	const struct dirent *e;
	int rc = !dir ? PP_ENOMEM : d ? 0 : pp_errno(errno);

	while (!rc && d && (e = readdir(d))) {
		struct part p;
		struct part *v;

		p.buffer = take_apart(e->d_name, base, &p.cpu);
		if (!p.buffer)
			continue;
		v = *n < TRACE_CPUS_MAX ? realloc(*parts, (*n + 1) * sizeof(*v)) : NULL;
		if (!v) {
			free(p.buffer);
			rc = PP_ENOMEM;
			break;
		}
		*parts = v;
		v[(*n)++] = p;
	}
	if (d)
		closedir(d);
	free(dir);
	return rc;
}

int trace_parts(const char *file, trace_part_fn *fn, void *ctx)
{
	struct part *parts = NULL;
	size_t n = 0;
	int rc = find(file, &parts, &n);

	if (n)
		qsort(parts, n, sizeof(*parts), by_buffer);
	for (size_t i = 0; i < n; i++) {
		if (!rc)
			rc = fn(ctx, parts[i].buffer, parts[i].cpu);
		free(parts[i].buffer);
	}
	free(parts);
	return rc;
}

/* ---- for the reader ---- */

static int add_part(void *ctx, const char *buffer, int cpu)
{
	struct trace *t = ctx;
	struct trace_buffer *b = t->nbuffers ? &t->buffers[t->nbuffers - 1] : NULL;
	struct buf path = BUF_INIT;
	const char *name;
	struct src *s;
	int rc;

	buf_addf(&path, "%s%s%s.cpu%d", t->name, *buffer ? "." : "", buffer, cpu);
	rc = path.err ? path.err : src_open_file(&s, buf_str(&path), NULL);
	buf_release(&path);
	if (rc)
		return rc == PP_ENOMEM ? rc : 0;
	if (!b || strcmp(b->name, buffer) != 0) {
		name = arena_dup(&t->arena, buffer, strlen(buffer));
		rc = name ? trace_add_buffer(t, name, &b) : PP_ENOMEM;
	}
	if (!rc)
		rc = trace_add_cpu(t, b, (uint32_t)cpu, 0, src_size(s));
	if (rc)
		src_free(s);
	else
		t->cpus[t->ncpus - 1].src = s;
	return rc;
}

int trace_leftovers(struct trace *t)
{
	int rc = trace_parts(t->name, add_part, t);

	if (t->nbuffers)
		trace_damage(t, PP_ECUT, -1,
			     "the recorder was killed: the events are those of %s.*cpu*", t->name);
	return rc == PP_ENOMEM ? rc : 0;
}
