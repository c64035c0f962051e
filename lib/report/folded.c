/* Stacks of text, as pfold reads it: the first frame is the command, and there is one event. */
#include "report/parts.h"

#include "base/array.h"
#include "base/err.h"
#include "fold/input.h"

#include <stdlib.h>

struct visit {
	struct report *r;
	const struct fold *from;
	uint32_t *calls; /* by name; 0: not known */
	uint32_t ncalls;
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

static int call_of(struct visit *v, uint32_t name, uint32_t *id)
{
	uint32_t *calls = array_widen(v->calls, &v->ncalls, name, 1024, sizeof(*calls));
	int rc = 0;

	if (!calls)
		return PP_ENOMEM;
	v->calls = calls;
	if (!calls[name])
		rc = make_call(v, name, &calls[name]);
	*id = calls[name];
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
	uint32_t node;
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
	for (size_t i = 0; i + 1 < n && !rc; i++)
		rc = call_of(v, names[i], &v->path[i]);
	if (!rc)
		rc = fold_stack(v->r->tree, v->path, n, &node);
	if (rc)
		return rc;
	v->r->events[v->event].deep |= n > 2;
	v->r->events[v->event].bare += n < 2;
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
	free(v.calls);
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
		status = rc || fold_account(f)->partial || fold_account(f)->lacks ? PP_EXIT_PARTIAL
										  : PP_EXIT_OK;
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
