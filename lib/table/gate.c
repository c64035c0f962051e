/* Conditions on tables: what they are, and what is reported of them. */
#include "table/gate.h"

#include "base/err.h"
#include "table/gate_eval.h"
#include "table/unit.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

static const char lumped[] = "rows have become one, " TABLE_OTHER ", and cannot be distinguished";

/* ---- the list of them ---- */

/* What is wrong with a condition: the option, and lines with the place. */
static void report(struct gates *gs, const struct gate *g, int rc, const struct buf *why)
{
	diag_error(gs->d, NULL, -1, "--fail-if: %s",
		   rc == PP_EUSAGE ? g->src.text : pp_strerror(rc));
	if (rc == PP_EUSAGE)
		diag_lines(gs->d, buf_str(why));
}

int gate_texts_add(struct gate_texts *texts, const char *arg, struct buf *why)
{
	if (texts->n == GATES_MAX) {
		buf_addf(why, "--fail-if: more than %d of them", GATES_MAX);
		return PP_EUSAGE;
	}
	texts->v[texts->n++] = arg;
	return 0;
}

int gates_new(struct gates **out, const struct gate_texts *texts, struct diag *d)
{
	struct gates *gs;
	struct buf why = BUF_INIT;
	int rc = 0;

	*out = NULL;
	if (!texts || !texts->n)
		return 0;
	gs = calloc(1, sizeof(*gs));
	if (gs)
		gs->v = calloc(texts->n, sizeof(*gs->v));
	if (!gs || !gs->v) {
		diag_error(d, NULL, -1, "%s", pp_strerror(PP_ENOMEM));
		free(gs);
		return PP_ENOMEM;
	}
	gs->d = d;
	for (unsigned i = 0; i < texts->n && !rc; i++) {
		struct gate *g = &gs->v[gs->n++];

		g->src = (struct expr_source){texts->v[i], strlen(texts->v[i])};
		rc = gate_parse(gs, g, &why);
		if (rc)
			report(gs, g, rc, &why);
	}
	buf_release(&why);
	if (rc)
		gates_free(gs);
	else
		*out = gs;
	return rc;
}

void gates_free(struct gates *gs)
{
	if (!gs)
		return;
	for (unsigned i = 0; i < gs->n; i++) {
		struct gate *g = &gs->v[i];

		for (struct gate_node *n = g->regexes; n; n = n->next_regex)
			rx_free(n->regex);
		buf_release(&g->what);
	}
	arena_release(&gs->arena);
	free(gs->v);
	free(gs);
}

int gates_check(struct gates *gs, const struct tables *ts)
{
	struct buf why = BUF_INIT;
	int rc = 0;

	for (unsigned i = 0; gs && i < gs->n && !rc && ts->n; i++) {
		rc = gate_check(&gs->v[i], ts, &why);
		if (rc)
			report(gs, &gs->v[i], rc, &why);
	}
	buf_release(&why);
	if (gs)
		gs->checked |= !rc && ts->n;
	return rc;
}

/* ---- deciding ---- */

static struct gate_number number(struct gate_eval *e, const struct gate_node *n)
{
	struct gate_number a, b;

	switch (n->kind) {
	case GATE_NUMBER: return (struct gate_number){.known = true, .v = n->num, .unit = ""};
	case GATE_STAT: return gate_number(e, n);
	case GATE_NEG:
		a = number(e, n->left);
		a.v = -a.v;
		return a;
	default: break;
	}
	a = number(e, n->left);
	b = number(e, n->right);
	a.known &= b.known;
	a.rough |= b.rough;
	switch (n->op) {
	case OP_ADD: a.v += b.v; break;
	case OP_SUB: a.v -= b.v; break;
	case OP_MUL: a.v *= b.v; break;
	default:
		if (a.known && b.v == 0 && !e->why->len)
			buf_adds(e->why, "a number is divided by 0");
		a.known &= b.v != 0;
		a.v /= b.v;
	}
	return a;
}

static bool compare(enum expr_op op, double a, double b)
{
	switch (op) {
	case OP_EQ: return a == b;
	case OP_NE: return a != b;
	case OP_LT: return a < b;
	case OP_LE: return a <= b;
	case OP_GT: return a > b;
	default: return a >= b;
	}
}

/* What is not known exactly is at least as much: of a count and a maximum. */
static bool is_at_least(const struct gate_node *n)
{
	return (n->op == OP_GT || n->op == OP_GE) && n->left->kind == GATE_STAT &&
	       (n->left->stat == GATE_COUNT || n->left->stat == GATE_MAX);
}

static enum gate_truth compared(struct gate_eval *e, const struct gate_node *n)
{
	struct gate_number a = number(e, n->left), b = number(e, n->right);
	bool holds = compare(n->op, a.v, b.v);

	if (!a.known || !b.known)
		return GATE_UNKNOWN;
	if (!a.rough && !b.rough)
		return holds ? GATE_YES : GATE_NO;
	if (holds && !b.rough && is_at_least(n))
		return GATE_YES;
	if (!e->why->len)
		buf_adds(e->why, lumped);
	return GATE_UNKNOWN;
}

static enum gate_truth any(struct gate_eval *e, const struct gate_node *n);

static enum gate_truth truth(struct gate_eval *e, const struct gate_node *n)
{
	enum gate_truth a, b;

	switch (n->kind) {
	case GATE_KEY:
	case GATE_IN: return gate_key_holds(e, e->table, e->row, n) ? GATE_YES : GATE_NO;
	case GATE_COMPARE: return compared(e, n);
	case GATE_ANY: return any(e, n);
	case GATE_NOT:
		a = truth(e, n->left);
		return a == GATE_UNKNOWN ? a : a == GATE_YES ? GATE_NO : GATE_YES;
	default: break;
	}
	a = truth(e, n->left);
	if (a == (n->kind == GATE_AND ? GATE_NO : GATE_YES))
		return a;
	b = truth(e, n->right);
	if (b == (n->kind == GATE_AND ? GATE_NO : GATE_YES))
		return b;
	return a == GATE_UNKNOWN || b == GATE_UNKNOWN ? GATE_UNKNOWN : a;
}

/* ---- what is reported ---- */

static void add_number(struct buf *b, const struct gate_number *v)
{
	if (v->percent)
		buf_addf(b, "%.2f %%", v->v * 100);
	else
		unit_add_mean(b, v->v, v->unit);
}

static bool is_same(const struct gate_eval *e, const struct gate_node *a, const struct gate_node *b)
{
	const char *text = e->g->src.text;
	size_t n = a->end - a->at;

	return a->of_row == b->of_row && b->end - b->at == n &&
	       !memcmp(text + a->at, text + b->at, n);
}

/* "p99(runq) is 12.3 ms, ...": the statistics of the whole, or of the row. */
static void add_numbers(struct gate_eval *e, struct buf *b)
{
	const char *before = "";

	for (const struct gate_node *n = e->g->stats; n; n = n->next_stat) {
		const struct gate_node *first = e->g->stats;
		struct gate_number v;

		while (!is_same(e, first, n))
			first = first->next_stat;
		if (first != n || n->of_row != (e->table != NULL))
			continue;
		v = gate_number(e, n);
		if (!v.known)
			continue;
		buf_addf(b, "%s%.*s is ", before, (int)(n->end - n->at), e->g->src.text + n->at);
		add_number(b, &v);
		before = ", ";
	}
}

static void add_row(struct gate_eval *e, struct buf *b)
{
	const struct table *t = e->table;

	for (uint32_t k = 0; k < t->nkeys; k++) {
		buf_addf(b, "%s%s=", k ? ", " : "", t->keys[k].name);
		if (t->keys[k].kind == TABLE_WINDOW) {
			uint64_t ns = t->key[(size_t)e->row * t->nkeys + k];

			buf_addf(b, "%" PRIu64 ".%06" PRIu64, ns / 1000000000,
				 ns % 1000000000 / 1000);
			continue;
		}
		buf_reset(&e->text);
		table_key_add(t, e->row, k, &e->text);
		buf_join(b, &e->text);
	}
}

/* The statistic that says of which table the rows are; NULL: of all. */
static const struct gate_node *stat_within(const struct gate_node *n)
{
	const struct gate_node *found;

	if (!n || n->kind == GATE_STAT)
		return n;
	found = stat_within(n->left);
	return found ? found : stat_within(n->right);
}

/* The rows for which the condition of an any() holds. */
struct found {
	const struct table *t;
	uint32_t row; /* the one with the greatest value of `stat` */
	double most;
	uint64_t rows;
	bool looked, rough; /* there were tables; rows that cannot be looked at */
};

static void look_at_table(struct gate_eval *e, const struct gate_node *n,
			  const struct gate_node *stat, const struct table *t, struct found *f)
{
	e->table = t;
	for (e->row = 0; e->row < t->nrows && !e->err; e->row++) {
		double v;

		/* A row that lacks the value is none of those that are sought. */
		if (e->row == t->other || truth(e, n->left) != GATE_YES)
			continue;
		v = stat ? gate_number(e, stat).v : 0;
		if (!f->rows++ || v > f->most) {
			f->t = t;
			f->row = e->row;
			f->most = v;
		}
	}
	e->table = NULL;
	f->looked = true;
	f->rough |= t->other != TABLE_NO_ROW;
}

/* "comm=nginx: p99(runq) is 12 ms (one of 3 rows)". */
static void add_found(struct gate_eval *e, const struct found *f)
{
	struct buf *what = &e->g->what;

	if (what->len)
		buf_adds(what, "; ");
	e->table = f->t;
	e->row = f->row;
	add_row(e, what);
	buf_adds(what, ": ");
	add_numbers(e, what);
	e->table = NULL;
	if (f->rows > 1)
		buf_addf(what, " (one of %" PRIu64 " rows)", f->rows);
}

static enum gate_truth any(struct gate_eval *e, const struct gate_node *n)
{
	const struct gate_node *stat = stat_within(n->left);
	struct buf unheard = BUF_INIT, *why = e->why;
	struct found f = {0};

	e->why = &unheard;
	for (uint32_t i = 0; i < e->ts->n; i++)
		if (e->ts->v[i]->nrows && (!stat || gate_value(e->ts->v[i], stat) >= 0))
			look_at_table(e, n, stat, e->ts->v[i], &f);
	e->why = why;
	buf_release(&unheard);
	if (f.rows) {
		add_found(e, &f);
		return GATE_YES;
	}
	if (f.looked && !f.rough)
		return GATE_NO;
	if (!f.looked && stat && e->zero && e->zero(e->ctx, stat->name, stat->len))
		return GATE_NO;
	if (!why->len)
		buf_adds(why, f.looked ? lumped : "nothing was counted");
	return GATE_UNKNOWN;
}

static int judge(struct gate *g, struct gate_eval *e)
{
	struct buf why = BUF_INIT;

	buf_reset(&g->what);
	e->g = g;
	e->why = &why;
	e->summed = NULL;
	g->outcome = truth(e, g->node);
	if (g->outcome == GATE_YES) {
		struct buf numbers = BUF_INIT;

		add_numbers(e, &numbers);
		if (numbers.len && g->what.len)
			buf_adds(&g->what, "; ");
		buf_join(&g->what, &numbers);
		buf_release(&numbers);
	} else {
		buf_reset(&g->what);
		buf_join(&g->what, &why);
	}
	e->why = NULL;
	buf_release(&why);
	return e->err ? e->err : g->what.err;
}

int gates_judge(struct gates *gs, const struct tables *ts, gates_zero_fn *zero, void *ctx)
{
	struct gate_eval e = {.ts = ts, .zero = zero, .ctx = ctx};
	int rc = !gs || gs->checked ? 0 : gates_check(gs, ts);

	if (!gs || rc)
		return rc;
	for (unsigned i = 0; i < gs->n && !rc; i++)
		rc = judge(&gs->v[i], &e);
	buf_release(&e.text);
	if (rc)
		diag_error(gs->d, NULL, -1, "%s", pp_strerror(rc));
	return rc;
}

int gates_status(const struct gates *gs, int status)
{
	bool worse = false, unsure = false;

	for (unsigned i = 0; gs && i < gs->n; i++) {
		const struct gate *g = &gs->v[i];

		if (g->outcome == GATE_YES)
			diag_say(gs->d, NULL, "gate failed: %s: %s", g->src.text,
				 buf_str(&g->what));
		else if (g->outcome == GATE_UNKNOWN)
			diag_say(gs->d, NULL, "gate undecided: %s: %s", g->src.text,
				 buf_str(&g->what));
		else if (g->what.len)
			diag_say(gs->d, NULL, "gate passed, but %s", buf_str(&g->what));
		worse |= g->outcome == GATE_YES;
		unsure |= g->outcome == GATE_UNKNOWN;
	}
	if (status == PP_EXIT_FAIL || status == PP_EXIT_USAGE)
		return status;
	return worse ? PP_EXIT_WORSE : status ? status : unsure ? PP_EXIT_UNSURE : PP_EXIT_OK;
}
