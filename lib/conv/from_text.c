/* Reads text with stacks, of any kind that pfold reads. */
#include "conv/parts.h"

#include "base/array.h"
#include "base/err.h"
#include "fold/inputs.h"

#include <stdlib.h>

struct visit {
	struct conv *c;
	const struct fold *from;
	uint32_t *frames, *threads; /* by name: their number in the profile; 0: not yet known */
	uint32_t nframes, nthreads, cap;
	uint32_t *path;
	uint32_t event;
	bool bare; /* stacks have no command */
};

/* The place of a name's number. NULL: out of memory. */
static uint32_t *place(uint32_t **v, uint32_t *n, uint32_t name)
{
	uint32_t *w = array_widen(*v, n, name, 1024, sizeof(*w));

	if (!w)
		return NULL;
	*v = w;
	return &w[name];
}

static int frame_of(struct visit *v, uint32_t name, uint32_t *frame)
{
	uint32_t *known = place(&v->frames, &v->nframes, name);
	const char *s;
	size_t n;
	int rc = 0;

	if (!known)
		return PP_ENOMEM;
	s = fold_name_text(v->from, name, &n);
	if (!*known)
		rc = prof_shown(v->c->p, ps_str(s, n), ps_str("", 0), 0, known);
	*frame = *known;
	return rc;
}

static int thread_of(struct visit *v, uint32_t name, uint32_t *thread)
{
	uint32_t *known = place(&v->threads, &v->nthreads, name);
	struct prof_thread t = {PS_NONE, PS_NONE, 0};
	const char *s;
	size_t n;
	int rc;

	if (!known)
		return PP_ENOMEM;
	if (!*known) {
		s = fold_name_text(v->from, name, &n);
		rc = prof_text(v->c->p, s, n, &t.comm);
		if (!rc)
			rc = prof_thread(v->c->p, &t, known);
		if (rc)
			return rc;
	}
	*thread = *known;
	return 0;
}

/* A fold_visit: the outermost name is the command, unless they have none. */
static int on_stack(void *ctx, const uint32_t *names, size_t n, uint64_t weight)
{
	static const struct prof_thread nobody = {PS_NONE, PS_NONE, 0};
	struct visit *v = ctx;
	struct prof_sample s = {.event = v->event, .cpu = PS_NONE, .weight = weight};
	uint32_t *path = n > INT32_MAX
				 ? NULL
				 : array_widen(v->path, &v->cap, (uint32_t)n, 256, sizeof(*path));
	size_t left_out;
	int rc;

	if (!path)
		return PP_ENOMEM;
	v->path = path;
	rc = v->bare ? prof_thread(v->c->p, &nobody, &s.thread)
		     : thread_of(v, names[n - 1], &s.thread);
	n -= !v->bare;
	for (size_t i = 0; i < n && !rc; i++)
		rc = frame_of(v, names[i], &path[n - 1 - i]);
	/* No stack comes twice. */
	if (!rc)
		rc = prof_path(v->c->p, 0, path, n, &s.stack, &left_out);
	return rc ? rc : conv_give(v->c, &s);
}

static struct ps_str text_of(const char *s)
{
	return ps_str(s, strlen(s));
}

int conv_from_text(struct conv *c, struct src *s, bool bare)
{
	static const struct fold_opts plain;
	struct visit v = {.c = c, .bare = bare};
	struct fold *f;
	int rc = fold_new(&f, &plain, c->d), read;

	if (rc) {
		src_free(s);
		return rc;
	}
	v.from = f;
	read = rc = fold_source(f, s, c->d);
	if (!rc || rc == PP_ECUT)
		rc = fold_finish(f);
	if (!rc)
		rc = prof_named_event(c->p, text_of(fold_account(f)->about.event),
				      text_of(fold_account(f)->about.unit), &v.event);
	if (!rc)
		rc = fold_each(f, on_stack, &v);
	c->account.lost += fold_account(f)->lost;
	if (!rc && fold_account(f)->partial)
		diag_say(c->d, NULL, "the folded text is partial: its source was damaged");
	/* The rest was reported. */
	if (!rc && fold_is_partial(f))
		read = PP_ECUT;
	fold_free(f);
	free(v.frames);
	free(v.threads);
	free(v.path);
	return rc ? rc : read;
}
