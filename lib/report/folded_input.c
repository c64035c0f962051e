/* Stacks of text, as pfold reads it: the first frame is the command, and there is one event. */
#include "report/parts.h"

#include "base/array.h"
#include "base/err.h"
#include "fold/inputs.h"
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
	uint32_t *to; /* by node of `from`: that of the report's tree, or NOWHERE */
	uint8_t *end; /* how it ended: of several marks, by the one next to the command */
	uint32_t event;
};

#define NOWHERE UINT32_MAX /* lacks a key */

static bool ends_in(const char *s, size_t len, const char *mark)
{
	size_t n = strlen(mark);

	return len > n && !memcmp(s + len - n, mark, n);
}

/* A frame's name, which may have a mark of its kind at its end. */
static int make_call(struct visit *v, uint32_t name, uint32_t *id)
{
	struct report_call c = {.flags = 0};
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

/* The node of the report's tree for one of the text's, whose parent has its own. */
static int place_node(struct visit *v, uint32_t k, uint32_t parent, uint32_t name)
{
	struct known known = {0};
	size_t left_out;
	int rc;

	v->to[k] = v->to[parent];
	v->end[k] = v->end[parent];
	if (v->to[parent] == NOWHERE)
		return 0;
	rc = parent == FOLD_ROOT ? group_of(v, name, &known.call) : call_of(v, name, &known);
	if (rc == PP_ENOENT) {
		v->to[k] = NOWHERE;
		return 0;
	}
	if (!v->end[k])
		v->end[k] = known.end;
	return rc ? rc : fold_path(v->r->tree, v->to[parent], &known.call, 1, &v->to[k], &left_out);
}

/* Adds a node's own weight: the stack of it, of so many frames (3: or more). */
static int add_node(struct visit *v, uint32_t k, unsigned frames, uint64_t weight)
{
	struct report_event *e = &v->r->events[v->event];

	if (v->to[k] == NOWHERE) {
		v->r->account.no_key++;
		return 0;
	}
	e->deep |= frames > 2;
	e->bare += frames < 2;
	if (v->end[k]) {
		e->ended[v->end[k]]++;
		e->ended_weight[v->end[k]] += weight;
	}
	return report_add(v->r, v->event, v->to[k], weight, 1);
}

static int take_nodes(struct visit *v)
{
	uint32_t n = fold_nodes(v->from), name, above;
	uint64_t weight;
	int rc = 0;

	v->to = calloc(n, sizeof(*v->to));
	v->end = calloc(n, sizeof(*v->end));
	if (!v->to || !v->end)
		return PP_ENOMEM;
	for (uint32_t k = 1; k < n && !rc; k++) {
		uint32_t parent = fold_node(v->from, k, &name, &weight);
		unsigned frames = parent == FOLD_ROOT ? 1 : 2;

		if (frames > 1 && fold_node(v->from, parent, &above, NULL) != FOLD_ROOT)
			frames = 3;
		rc = place_node(v, k, parent, name);
		if (!rc && fold_node_ends(v->from, k))
			rc = add_node(v, k, frames, weight);
	}
	return rc;
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
				"would be meaningless",
				name, *a->unit ? a->unit : "an unknown unit");
			rc = PP_EMISMATCH;
		}
		r->events[v.event].units |= a->units;
	}
	if (!rc)
		rc = take_nodes(&v);
	free(v.names);
	free(v.to);
	free(v.end);
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
