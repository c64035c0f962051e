/* Marks in stacks: how they ended, and where they are evidently broken. */
#include "fold/stream_parts.h"

#include "base/err.h"

#include <string.h>

#define UNKNOWN "[unknown]"
#define BROKEN	"[broken stack]"

int fstream_mark_names(struct fstream *s)
{
	int rc = s->unknown ? 0 : fold_name(s->fold, UNKNOWN, strlen(UNKNOWN), &s->unknown);

	return rc || s->broken ? rc : fold_name(s->fold, BROKEN, strlen(BROKEN), &s->broken);
}

bool fstream_nowhere(const struct fstream *s, uint32_t frame)
{
	const struct ps_frame *f = sreader_frame(s->in, frame);

	return f && !f->symbol && f->reason == PS_REASON_NO_MAPPING;
}

static void join_broken(struct fstream *s, const struct ps_stack *st, size_t from, size_t *n)
{
	size_t to = from, end = *n;
	bool before = false;

	for (size_t i = from; i < end; i++) {
		bool here = s->path[i] == s->unknown && fstream_nowhere(s, st->frames.v[i - from]);

		/* The innermost function can be code that no record tells of. */
		if (here && i == from && (i + 1 == end || !fstream_nowhere(s, st->frames.v[1])))
			here = false;
		else if (here && before)
			continue;
		s->path[to++] = here ? s->broken : s->path[i];
		before = here;
	}
	*n = to;
}

/* What the mark says, with the file that the outermost frame is in where that matters. */
static const char *mark_text(uint32_t end, bool *file)
{
	*file = false;
	switch (end) {
	case PS_END_COPY: return "truncated";
	case PS_END_NO_MAPPING: return "broken stack";
	case PS_END_LOOP: return "stack in a circle";
	case PS_END_MEMORY: return "memory not copied";
	case PS_END_REGISTERS: return "register not recorded";
	case PS_END_OTHER_STACK: return "on another stack";
	case PS_END_DEPTH: return "too deep";
	case PS_END_GENERATED: return "generated code";
	case PS_END_NOT_THERE: return "stack not in memory";
	case PS_END_UNKNOWN: return "process not known";
	}
	*file = true;
	switch (end) {
	case PS_END_NO_CFI: return "no unwind table";
	case PS_END_NO_FILE: return "file not found";
	case PS_END_BUILD_ID: return "other build-id";
	case PS_END_DAMAGED: return "damaged unwind table";
	case PS_END_FRAMES: return "no frame pointer";
	}
	return NULL;
}

bool fstream_has_mark(uint32_t flags)
{
	bool file;

	return mark_text((flags & PS_STACK_END_MASK) >> PS_STACK_END_SHIFT, &file) != NULL;
}

/* The file name of the DSO of a stack's outermost frame. */
static void add_file(struct fstream *s, const struct ps_stack *st)
{
	const struct ps_frame *f =
		st->frames.n ? sreader_frame(s->in, st->frames.v[st->frames.n - 1]) : NULL;
	const struct ps_dso *dso = f && f->dso ? sreader_dso(s->in, f->dso) : NULL;
	const char *slash = dso && dso->path.len ? memrchr(dso->path.p, '/', dso->path.len) : NULL;
	const char *name = slash ? slash + 1 : dso ? dso->path.p : NULL;

	if (!dso)
		return;
	used(f->dso, &s->used_dso);
	buf_adds(&s->name, ": ");
	buf_add(&s->name, name, (size_t)(dso->path.p + dso->path.len - name));
}

static int add_mark(struct fstream *s, const struct ps_stack *st, size_t *n)
{
	uint32_t end = (st->flags & PS_STACK_END_MASK) >> PS_STACK_END_SHIFT, bytes, name;
	bool file;
	const char *text = mark_text(end, &file);
	int rc;

	if (!text)
		return 0;
	bytes = st->flags >> PS_STACK_BYTES_SHIFT;
	buf_reset(&s->name);
	buf_addf(&s->name, "[%s", text);
	if (file)
		add_file(s, st);
	else if (end == PS_END_COPY && bytes)
		buf_addf(&s->name, ": %u kB", (bytes + 1023) / 1024);
	buf_addc(&s->name, ']');
	rc = s->name.err ? s->name.err : fold_name(s->fold, buf_str(&s->name), s->name.len, &name);
	/* What is broken has said so. */
	if (!rc && !(name == s->broken && *n && s->path[*n - 1] == s->broken))
		s->path[(*n)++] = name;
	return rc;
}

int fstream_marks(struct fstream *s, const struct ps_stack *st, size_t from, size_t *n)
{
	int rc = fstream_mark_names(s);

	/* With --addrs each address has a name of its own. */
	if (!rc && !s->opts->addrs)
		join_broken(s, st, from, n);
	return rc ? rc : add_mark(s, st, n);
}
