/*
 * Reads callgrind's format (Valgrind manual, "Callgrind Format Specification"). It tells what a
 * function cost itself and what each call of another cost with all that it called, but no stacks:
 * these are estimated. What a function has of its caller is spread over all it calls, in
 * proportion. The costs of functions themselves are exact: what the estimate leaves out is a stack
 * of the function alone.
 */
#include "conv/parts.h"

#include "base/array.h"
#include "base/err.h"
#include "base/wide.h"

#include <inttypes.h>
#include <stdlib.h>

#define EVENTS_MAX 64
#define DEPTH_MAX  128
#define SHARES	   20000 /* what is less than this part of all is not followed further */

enum { OBJECT, FILE_NAME, FUNCTION, KINDS };

struct function {
	uint32_t edges; /* the first of the calls it makes; 0: none */
	bool open;	/* on the way down */
	uint32_t frame;
};

struct edge {
	uint32_t caller, callee, next; /* next of the caller's */
};

struct reader {
	struct conv *c;
	const struct conv_input *in;
	const char *at, *end;	   /* of the line */
	struct map64 long_names;   /* by the text of an event's: the event, told before its use */
	struct map64 names[KINDS]; /* compressed: text */
	uint32_t now[KINDS], called[KINDS]; /* texts; of the call that is next */
	uint32_t events[EVENTS_MAX], nevents, positions;
	struct intern keys, pairs; /* of functions and edges */
	struct function *functions;
	struct edge *edges;
	uint32_t nfunctions, nedges;
	uint64_t *self, *calls; /* by function and edge, for each event */
	uint32_t nself, ncalls;
	uint64_t told;	 /* the sums that the file tells, of the first event */
	uint32_t thread; /* of the profile */
	bool call;	 /* the next line is the cost of one */
	bool strange;
	uint64_t *rest, *whole, *incoming; /* by function, of one event */
	uint64_t all;
};

/* ---- lines ---- */

static void skip_blanks(struct reader *r)
{
	while (r->at < r->end && (*r->at == ' ' || *r->at == '\t'))
		r->at++;
}

/* Whether the line begins so; what follows comes next. */
static bool begins(struct reader *r, const char *word)
{
	size_t n = strlen(word);

	if ((size_t)(r->end - r->at) < n || memcmp(r->at, word, n) != 0)
		return false;
	r->at += n;
	skip_blanks(r);
	return true;
}

static struct ps_str take_word(struct reader *r)
{
	const char *from;

	skip_blanks(r);
	from = r->at;
	while (r->at < r->end && *r->at != ' ' && *r->at != '\t')
		r->at++;
	return ps_str(from, (size_t)(r->at - from));
}

/* A number; false: there is none. */
static bool take_number(struct reader *r, uint64_t *v)
{
	struct ps_str word = take_word(r);

	*v = 0;
	for (uint32_t i = 0; i < word.len; i++) {
		if (word.p[i] < '0' || word.p[i] > '9' || *v > UINT64_MAX / 10 - 1) {
			r->strange = true;
			return false;
		}
		*v = *v * 10 + (uint64_t)(word.p[i] - '0');
	}
	return word.len > 0;
}

/* A name, or the number of one, or both: "(12) main". */
static int take_name(struct reader *r, unsigned kind, uint32_t *name)
{
	const char *close = r->at < r->end && *r->at == '('
				    ? memchr(r->at, ')', (size_t)(r->end - r->at))
				    : NULL;
	uint64_t id = 0;
	uint32_t *slot = NULL;
	const char *p;

	for (p = r->at + 1; close && p < close && *p >= '0' && *p <= '9'; p++)
		id = id * 10 + (uint64_t)(*p - '0');
	if (close && p == close && close > r->at + 1) {
		slot = map64_put(&r->names[kind], id, NULL);
		if (!slot)
			return PP_ENOMEM;
		r->at = close + 1;
		skip_blanks(r);
	}
	if (slot && r->at == r->end) {
		r->strange |= !*slot;
		*name = *slot;
		return 0;
	}
	if (prof_text(r->c->p, r->at, (size_t)(r->end - r->at), name))
		return PP_ENOMEM;
	if (slot)
		*slot = *name;
	return 0;
}

/* The number of the function of these names. */
static int function_of(struct reader *r, const uint32_t *names, uint32_t *function)
{
	struct prof *p = r->c->p;
	struct function *v;
	bool fresh;
	int rc = intern_add(&r->keys, names, KINDS * sizeof(*names), function, &fresh);

	v = rc ? NULL : array_widen(r->functions, &r->nfunctions, *function, 256, sizeof(*v));
	if (!v)
		return rc ? rc : PP_ENOMEM;
	r->functions = v;
	return fresh ? prof_shown(p, prof_str(p, names[FUNCTION]), prof_str(p, names[OBJECT]), 0,
				  &v[*function].frame)
		     : 0;
}

static int edge_of(struct reader *r, uint32_t *edge)
{
	uint32_t pair[2];
	struct edge *v;
	bool fresh;
	int rc = function_of(r, r->now, &pair[0]);

	if (!rc)
		rc = function_of(r, r->called, &pair[1]);
	if (!rc)
		rc = intern_add(&r->pairs, pair, sizeof(pair), edge, &fresh);
	v = rc ? NULL : array_widen(r->edges, &r->nedges, *edge, 256, sizeof(*v));
	if (!v)
		return rc ? rc : PP_ENOMEM;
	r->edges = v;
	if (fresh) {
		v[*edge] = (struct edge){pair[0], pair[1], r->functions[pair[0]].edges};
		r->functions[pair[0]].edges = *edge;
	}
	return 0;
}

/* Adds the costs in the line, after its positions. */
static int take_costs(struct reader *r, uint64_t **costs, uint32_t *n, uint32_t id)
{
	uint32_t first = id * EVENTS_MAX;
	uint64_t v, *to;

	if (id > INT32_MAX / EVENTS_MAX - 1)
		return PP_ELIMIT;
	to = array_widen(*costs, n, first + EVENTS_MAX - 1, 4096, sizeof(*to));
	if (!to)
		return PP_ENOMEM;
	*costs = to;
	for (uint32_t i = 0; i < r->positions; i++)
		take_word(r);
	for (uint32_t i = 0; i < r->nevents && take_number(r, &v); i++)
		to[first + i] =
			to[first + i] > UINT64_MAX / 4 - v ? UINT64_MAX / 4 : to[first + i] + v;
	return 0;
}

static int on_cost(struct reader *r)
{
	uint32_t id;
	int rc = r->call ? edge_of(r, &id) : function_of(r, r->now, &id);

	if (!rc)
		rc = r->call ? take_costs(r, &r->calls, &r->ncalls, id)
			     : take_costs(r, &r->self, &r->nself, id);
	if (r->call)
		memset(r->called, 0, sizeof(r->called));
	r->call = false;
	return rc;
}

/* "event: NAME : what it is (unit)". */
static int take_long_name(struct reader *r)
{
	struct ps_str name = take_word(r), unit = {0};
	const char *colon = memchr(r->at, ':', (size_t)(r->end - r->at)), *open;
	uint32_t text, *slot;
	int rc = prof_text(r->c->p, name.p, name.len, &text);

	if (rc || !colon)
		return rc;
	r->at = colon + 1;
	skip_blanks(r);
	name = ps_str(r->at, (size_t)(r->end - r->at));
	open = name.len ? memrchr(name.p, '(', name.len) : NULL;
	if (open > name.p && open[-1] == ' ' && r->end[-1] == ')') {
		unit = ps_str(open + 1, (size_t)(r->end - open - 2));
		name.len = (uint32_t)(open - 1 - name.p);
	}
	slot = map64_put(&r->long_names, text, NULL);
	return slot ? prof_named_event(r->c->p, name, unit.len ? unit : ps_str("events", 6), slot)
		    : PP_ENOMEM;
}

static int take_event(struct reader *r, struct ps_str name, uint32_t *event)
{
	uint32_t text;
	int rc = prof_text(r->c->p, name.p, name.len, &text);
	const uint32_t *known = rc ? NULL : map64_get(&r->long_names, text);

	if (known)
		*event = *known;
	return rc || known ? rc : prof_named_event(r->c->p, name, ps_str("events", 6), event);
}

static int take_events(struct reader *r)
{
	struct ps_str name;
	int rc = 0;

	/* Those of a later part are the same. */
	for (r->nevents = 0; !rc && (name = take_word(r)).len; r->nevents++) {
		if (r->nevents == EVENTS_MAX)
			return PP_ELIMIT;
		rc = take_event(r, name, &r->events[r->nevents]);
	}
	return rc;
}

static int take_calls(struct reader *r)
{
	r->call = true;
	for (int i = 0; i < FUNCTION; i++)
		r->called[i] = r->called[i] ? r->called[i] : r->now[i];
	r->strange |= !r->called[FUNCTION];
	return 0;
}

static int take_positions(struct reader *r)
{
	for (r->positions = 0; take_word(r).len;)
		r->positions++;
	return 0;
}

static int take_sum(struct reader *r, bool summary)
{
	uint64_t v;

	/* Both tell the same, the first of each part. */
	if (take_number(r, &v))
		r->told = summary ? r->told + v : r->told ? r->told : v;
	return 0;
}

static int on_line(struct reader *r)
{
	static const struct {
		const char *word;
		unsigned kind;
		bool called;
	} names[] = {
		{"ob=", OBJECT, false},	   {"fl=", FILE_NAME, false}, {"fi=", FILE_NAME, false},
		{"fe=", FILE_NAME, false}, {"fn=", FUNCTION, false},  {"cob=", OBJECT, true},
		{"cfl=", FILE_NAME, true}, {"cfi=", FILE_NAME, true}, {"cfn=", FUNCTION, true}};
	char c;

	skip_blanks(r);
	if (r->at == r->end || *r->at == '#')
		return 0;
	c = *r->at;
	if ((c >= '0' && c <= '9') || c == '+' || c == '-' || c == '*')
		return on_cost(r);
	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		if (begins(r, names[i].word)) {
			/* Parts of another file in a function are of the function. */
			uint32_t other, *to = names[i].called ? r->called : r->now;
			bool inlined = names[i].word[0] == 'f' && names[i].word[1] != 'l' &&
				       names[i].kind == FILE_NAME;

			return take_name(r, names[i].kind, inlined ? &other : &to[names[i].kind]);
		}
	if (begins(r, "calls="))
		return take_calls(r);
	if (begins(r, "event:"))
		return take_long_name(r);
	if (begins(r, "events:"))
		return take_events(r);
	if (begins(r, "positions:"))
		return take_positions(r);
	if (begins(r, "summary:"))
		return take_sum(r, true);
	if (begins(r, "totals:"))
		return take_sum(r, false);
	/* What else there is, is "key: text", or jumps, which cost nothing. */
	r->strange |= !begins(r, "jump=") && !begins(r, "jcnd=") &&
		      !memchr(r->at, ':', (size_t)(r->end - r->at));
	return 0;
}

/* ---- stacks ---- */

static uint64_t cost(const uint64_t *costs, uint32_t n, uint32_t id, uint32_t event)
{
	uint64_t place = (uint64_t)id * EVENTS_MAX + event;

	return place < n ? costs[place] : 0;
}

static uint64_t part(uint64_t of, uint64_t share, uint64_t whole)
{
	struct wide w = wide_mul(of, share);
	uint64_t rest;

	return whole ? wide_div(&w, whole, &rest) : 0;
}

static int give(struct reader *r, uint32_t event, uint32_t stack, uint64_t weight)
{
	const struct prof_sample s = {.event = r->events[event],
				      .thread = r->thread,
				      .stack = stack,
				      .cpu = PS_NONE,
				      .weight = weight};

	return weight ? conv_give(r->c, &s) : 0;
}

/* A function on the way down: what it has of its caller. */
struct step {
	uint32_t function, stack, edge; /* edge: the next to follow */
	uint64_t share;
};

static int enter(struct reader *r, uint32_t event, uint32_t function, uint32_t stack,
		 uint64_t share, struct step *to)
{
	struct function *f = &r->functions[function];
	uint64_t own = part(cost(r->self, r->nself, function, event), share, r->whole[function]);
	int rc = prof_push(r->c->p, stack, f->frame, &stack);

	own = own < r->rest[function] ? own : r->rest[function];
	r->rest[function] -= own;
	f->open = true;
	*to = (struct step){function, stack, f->edges, share};
	return rc ? rc : give(r, event, stack, own);
}

/* What a function that nobody called has, and all that it called. */
static int descend(struct reader *r, uint32_t event, uint32_t function, uint64_t share)
{
	struct step way[DEPTH_MAX];
	uint32_t n = 1;
	int rc = enter(r, event, function, 0, share, &way[0]);

	while (n && !rc) {
		struct step *s = &way[n - 1];
		const struct edge *e = &r->edges[s->edge];
		uint64_t down;

		if (!s->edge) {
			r->functions[s->function].open = false;
			n--;
			continue;
		}
		down = part(cost(r->calls, r->ncalls, s->edge, event), s->share,
			    r->whole[s->function]);
		s->edge = e->next;
		if (n < DEPTH_MAX && down > r->all / SHARES && !r->functions[e->callee].open)
			rc = enter(r, event, e->callee, s->stack, down, &way[n++]);
	}
	return rc;
}

static void add_to(uint64_t *v, uint64_t more)
{
	*v = *v > UINT64_MAX - more ? UINT64_MAX : *v + more;
}

static int estimate(struct reader *r, uint32_t event)
{
	uint32_t stack;
	int rc = 0;

	r->all = 0;
	memset(r->incoming, 0, (r->keys.n + 1) * sizeof(*r->incoming));
	for (uint32_t i = 1; i <= r->keys.n; i++) {
		r->rest[i] = r->whole[i] = cost(r->self, r->nself, i, event);
		add_to(&r->all, r->rest[i]);
	}
	for (uint32_t i = 1; i <= r->pairs.n; i++) {
		const struct edge *e = &r->edges[i];
		uint64_t v = cost(r->calls, r->ncalls, i, event);

		/* What calls itself costs no more by that. */
		if (e->caller == e->callee)
			continue;
		add_to(&r->whole[e->caller], v);
		add_to(&r->incoming[e->callee], v);
	}
	for (uint32_t i = 1; i <= r->keys.n && !rc; i++)
		if (r->whole[i] > r->incoming[i])
			rc = descend(r, event, i, r->whole[i] - r->incoming[i]);
	for (uint32_t i = 1; i <= r->keys.n && !rc; i++) {
		rc = prof_push(r->c->p, 0, r->functions[i].frame, &stack);
		if (!rc)
			rc = give(r, event, stack, r->rest[i]);
	}
	if (!event && r->told && r->told != r->all) {
		diag_error(r->c->d, r->in->name, -1,
			   "the functions cost %" PRIu64 ", and %" PRIu64
			   " by the file's own sum: it is damaged or cut off",
			   r->all, r->told);
	}
	return rc;
}

static int estimate_all(struct reader *r)
{
	static const struct prof_thread nobody = {PS_NONE, PS_NONE, 0};
	int rc = prof_thread(r->c->p, &nobody, &r->thread);

	r->rest = calloc(r->keys.n + 1, sizeof(*r->rest));
	r->whole = calloc(r->keys.n + 1, sizeof(*r->whole));
	r->incoming = calloc(r->keys.n + 1, sizeof(*r->incoming));
	if (!r->rest || !r->whole || !r->incoming)
		return PP_ENOMEM;
	for (uint32_t i = 0; i < r->nevents && !rc; i++)
		rc = estimate(r, i);
	return rc;
}

int conv_from_callgrind(struct conv *c, const struct conv_input *in)
{
	struct reader r = {.c = c, .in = in, .positions = 1};
	const char *p = (const char *)in->bytes, *end = p + in->n;
	int rc = 0;

	while (p < end && !rc) {
		const char *line = memchr(p, '\n', (size_t)(end - p));

		r.at = p;
		r.end = line ? line : end;
		p = line ? line + 1 : end;
		if (r.end > r.at && r.end[-1] == '\r')
			r.end--;
		rc = on_line(&r);
	}
	if (!rc)
		rc = estimate_all(&r);
	if (!rc && r.strange)
		diag_error(c->d, in->name, -1,
			   "some lines are not in callgrind's format: it is damaged");
	if (!rc) {
		diag_warn(c->d, in->name, -1,
			  "callgrind's format has no stacks: they are estimated from its calls");
		rc = PP_ECUT;
	}
	for (int i = 0; i < KINDS; i++)
		map64_release(&r.names[i]);
	map64_release(&r.long_names);
	intern_release(&r.keys);
	intern_release(&r.pairs);
	free(r.functions);
	free(r.edges);
	free(r.self);
	free(r.calls);
	free(r.rest);
	free(r.whole);
	free(r.incoming);
	return rc;
}

bool conv_is_callgrind(const uint8_t *bytes, size_t n)
{
	static const char head[] = "# callgrind format";

	if (n >= sizeof(head) - 1 && !memcmp(bytes, head, sizeof(head) - 1))
		return true;
	if (n < 8 || (memcmp(bytes, "version:", 8) != 0 && memcmp(bytes, "creator:", 8) != 0 &&
		      memcmp(bytes, "events:", 7) != 0 && memcmp(bytes, "positions", 8) != 0))
		return false;
	return memmem(bytes, n, "\nevents:", 8) || !memcmp(bytes, "events:", 7);
}
