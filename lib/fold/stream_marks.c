/* Marks in stacks: how they ended, and where they are evidently broken. */
#include "fold/sample_stacks_parts.h"

#include "base/err.h"
#include "stream/ends.h"

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

bool fstream_has_mark(uint32_t flags)
{
	bool file;

	return ps_end_mark((flags & PS_STACK_END_MASK) >> PS_STACK_END_SHIFT, &file) != NULL;
}

/* The mark of stacks with these flags, and this outermost frame; 0: they have none. */
static int mark_name(struct fstream *s, uint32_t flags, uint32_t outermost, uint32_t *name)
{
	const struct ps_frame *f = sreader_frame(s->in, outermost);
	const struct ps_dso *dso = f && f->dso ? sreader_dso(s->in, f->dso) : NULL;

	*name = 0;
	if (dso)
		used(f->dso, &s->used_dso);
	buf_reset(&s->name);
	ps_end_mark_add(&s->name, flags, dso ? dso->path : ps_str("", 0));
	if (s->name.err || !s->name.len)
		return s->name.err;
	return fold_name(s->fold, buf_str(&s->name), s->name.len, name);
}

int fstream_part_mark(struct fstream *s, const struct ps_part *root, uint32_t *path, size_t *n)
{
	uint32_t name;
	int rc = mark_name(s, root->flags, root->n ? (uint32_t)root->words[0] : 0, &name);

	/* What is broken says so itself. */
	if (!rc && name && name != s->broken)
		path[(*n)++] = name;
	return rc;
}

int fstream_marks(struct fstream *s, const struct ps_stack *st, size_t from, size_t *n)
{
	int rc = fstream_mark_names(s);
	uint32_t name;

	/* With --addrs each address has a name of its own. */
	if (!rc && !s->opts->addrs)
		join_broken(s, st, from, n);
	if (!rc)
		rc = mark_name(s, st->flags, st->frames.n ? st->frames.v[st->frames.n - 1] : 0,
			       &name);
	/* What is broken has said so. */
	if (!rc && name && !(name == s->broken && *n && s->path[*n - 1] == s->broken))
		s->path[(*n)++] = name;
	return rc;
}
