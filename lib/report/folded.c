/* Stacks of text, as pfold reads it: the first frame is the command, and there is one event. */
#include "report/parts.h"

#include "base/array.h"
#include "base/err.h"
#include "fold/input.h"
#include "stream/ends.h"

#include <stdlib.h>

struct visit {
	struct report *r;
	const struct fold *from;
	struct known {
		uint32_t call; /* 0: not known */
		uint8_t end;   /* the name is the mark of a stack that ended so */
	} * names;
	uint32_t nnames;
	uint32_t *path;
	size_t path_cap;
	uint32_t event;
};

static bool ends_in(const char *s, size_t len, const char *mark)
{
	size_t n = strlen(mark);

	return len > n && !memcmp(s + len - n, mark, n);
}

/* A frame's name, which may have a mark of its kind at its end. */
static int make_call(struct visit *v, uint32_t name, uint32_t *id)
{
	struct call c = {.flags = 0};
	size_t len;
	const char *s = fold_name_text(v->from, name, &len);
	int rc;

	if (ends_in(s, len, "_[k]"))
		c.flags = CALL_KERNEL;
	else if (ends_in(s, len, "_[i]"))
		c.flags = CALL_INLINED;
	len -= c.flags ? 4 : 0;
	rc = report_text(v->r, s, len, &c.sym);
	return rc ? rc : report_call(v->r, &c, id);
}

static int call_of(struct visit *v, uint32_t name, struct known *known)
{
	struct known *names = array_widen(v->names, &v->nnames, name, 1024, sizeof(*names));
	const char *s;
	size_t len;
	int rc = 0;

	if (!names)
		return PP_ENOMEM;
	v->names = names;
	if (!names[name].call) {
		rc = make_call(v, name, &names[name].call);
		s = fold_name_text(v->from, name, &len);
		names[name].end = (uint8_t)ps_end_of_mark(s, len);
	}
	*known = names[name];
	return rc;
}

/* The command of a stack. The other keys of a sample are not in text. */
static int group_of(struct visit *v, uint32_t name, uint32_t *id)
{
	struct report *r = v->r;
	struct group g;
	size_t len;
	const char *s = fold_name_text(v->from, name, &len);
	int rc = 0;

	memset(&g, 0, sizeof(g));
	g.event = v->event;
	for (unsigned k = 0; k < r->nkeys && !rc; k++) {
		r->key[k].number &= r->key[k].frame;
		if (r->key[k].comm)
			rc = report_text(r, s, len, &g.key[k]);
		else if (!r->key[k].frame)
			return PP_ENOENT;
	}
	return rc ? rc : report_group(r, &g, id);
}

/* A fold_visit. */
static int on_stack(void *ctx, const uint32_t *names, size_t n, uint64_t weight)
{
	struct visit *v = ctx;
	struct report_event *e = &v->r->events[v->event];
	struct known known = {0};
	uint32_t node, end = PS_END_NONE;
	int rc;

	if (n > v->path_cap) {
		uint32_t *path = reallocarray(v->path, n * 2, sizeof(*path));

		if (!path)
			return PP_ENOMEM;
		v->path = path;
		v->path_cap = n * 2;
	}
	rc = group_of(v, names[n - 1], &v->path[n - 1]);
	if (rc == PP_ENOENT) {
		v->r->account.no_key++;
		return 0;
	}
	/* Leaf first: of several marks, the one next to the command tells how it ended. */
	for (size_t i = 0; i + 1 < n && !rc; i++) {
		rc = call_of(v, names[i], &known);
		v->path[i] = known.call;
		end = known.end ? known.end : end;
	}
	if (!rc)
		rc = fold_stack(v->r->tree, v->path, n, &node);
	if (rc)
		return rc;
	e->deep |= n > 2;
	e->bare += n < 2;
	if (end) {
		e->ended[end]++;
		e->ended_weight[end] += weight;
	}
	return report_add(v->r, v->event, node, weight, 1);
}

static int take(struct report *r, struct fold *f)
{
	struct visit v = {.r = r, .from = f};
	const struct fold_about *a = &fold_account(f)->about;
	const char *name = *a->event ? a->event : "folded stacks";
	int rc = a->err ? a->err
			: report_event(r, ps_str(name, strlen(name)), 1,
				       ps_str(a->unit, strlen(a->unit)), &v.event);

	if (!rc && *a->pmus)
		rc = report_event_pmu(r, v.event, a->pmus, strlen(a->pmus));
	if (!rc) {
		r->events[v.event].told += a->samples;
		/* One event in two units has no sum. */
		if (!a->units && r->events[v.event].units) {
			diag_error(
				r->d, NULL, -1,
				"%s is counted in %s here, and in another unit before: their sum "
				"would mean nothing",
				name, *a->unit ? a->unit : "an unknown unit");
			rc = PP_EMISMATCH;
		}
		r->events[v.event].units |= a->units;
	}
	if (!rc)
		rc = fold_each(f, on_stack, &v);
	free(v.names);
	free(v.path);
	return rc;
}

int report_folded(struct report *r, struct src *s)
{
	struct fold_opts opts = {.event = r->o.event, .count = r->o.count, .addrs = r->o.addrs};
	struct fold *f;
	int rc = fold_new(&f, &opts, r->d), status = PP_EXIT_OK;

	if (rc) {
		src_free(s);
		return PP_EXIT_FAIL;
	}
	rc = fold_source(f, s, r->d);
	if (!rc || rc == PP_ECUT) {
		status = rc || fold_is_partial(f) ? PP_EXIT_PARTIAL : PP_EXIT_OK;
		rc = fold_finish(f);
		r->account.samples += fold_account(f)->samples;
		r->account.others += fold_account(f)->filtered;
		rc = rc ? rc : take(r, f);
	}
	if (rc == PP_ENOMEM || rc == PP_ELIMIT)
		diag_error(r->d, NULL, -1, "cannot keep all stacks: %s", pp_strerror(rc));
	fold_free(f);
	return rc ? PP_EXIT_FAIL : status;
}
