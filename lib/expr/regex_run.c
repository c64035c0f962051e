/*
 * The matcher of regular expressions: sets of instructions that could go on become states, and what
 * each byte makes of a state is remembered. When the room for states is used up, all are forgotten.
 */
#include "base/err.h"
#include "expr/regex_parts.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#define STATES_MAX 128
#define POOL_MIN   4096 /* instructions of all states */
#define UNKNOWN	   0	/* in the table: not computed yet; else a state + FIRST */
#define NO	   1
#define YES	   2
#define FIRST	   3

struct state {
	uint32_t at, n; /* its instructions in the pool, ascending */
	enum rx_before before;
};

struct rx_run {
	uint8_t class_of[256]; /* bytes that no set tells apart have one class */
	uint8_t byte_of[256];  /* one of each class */
	uint32_t nclasses;     /* the end of the text is one more column of the table */
	uint16_t *table;       /* of states and classes; owned */
	uint16_t *pool, *stack;
	uint8_t *seen; /* by instruction: 1 reached now, 2 goes on after the byte */
	uint32_t pool_cap, pool_n, nstates;
	struct state states[STATES_MAX];
};

static bool is_word(int c)
{
	return c >= 0 && (isalnum(c) || c == '_');
}

/* Splits the classes by who is in a set. */
static void split_classes(struct rx_run *r, const struct rx_set *s)
{
	uint16_t other[256];
	uint32_t n = r->nclasses;

	memset(other, 0xff, sizeof(other));
	for (uint32_t c = 0; c < 256; c++)
		if (!rx_set_has(s, (unsigned char)c))
			other[r->class_of[c]] = r->class_of[c];
	for (uint32_t c = 0; c < 256; c++) {
		uint32_t class = r->class_of[c];

		/* Those in the set move out where others stay. */
		if (!rx_set_has(s, (unsigned char)c) || other[class] == 0xffff)
			continue;
		if (other[class] == class)
			other[class] = (uint16_t)(0x100 + n++);
		r->class_of[c] = (uint8_t)(other[class] - 0x100);
	}
	r->nclasses = n;
}

static void make_classes(struct rx *x)
{
	struct rx_set words = {{0}};

	x->run->nclasses = 1;
	for (uint32_t i = 0; i < x->nsets; i++)
		split_classes(x->run, &x->sets[i]);
	for (int c = 0; c < 256; c++)
		if (is_word(c))
			words.bits[c / 64] |= UINT64_C(1) << c % 64;
	if (x->checks)
		split_classes(x->run, &words);
	for (uint32_t c = 0; c < 256; c++)
		x->run->byte_of[x->run->class_of[c]] = (uint8_t)c;
}

static void forget(struct rx *x)
{
	struct rx_run *r = x->run;

	memset(r->table, 0, STATES_MAX * (r->nclasses + 1) * sizeof(*r->table));
	r->pool_n = 0;
	r->nstates = 1;
	r->states[0] = (struct state){.before = RX_AT_BEGIN};
}

int rx_run_new(struct rx *x)
{
	struct rx_run *r = calloc(1, sizeof(*r));

	x->run = r;
	if (!r)
		return PP_ENOMEM;
	make_classes(x);
	r->pool_cap = 2u * x->ncode > POOL_MIN ? 2u * x->ncode : POOL_MIN;
	r->table = malloc(STATES_MAX * (r->nclasses + 1) * sizeof(*r->table));
	r->pool = malloc(r->pool_cap * sizeof(*r->pool));
	r->stack = malloc((x->ncode + 1u) * sizeof(*r->stack));
	r->seen = calloc(x->ncode, 1);
	if (!r->table || !r->pool || !r->stack || !r->seen)
		return PP_ENOMEM;
	forget(x);
	return 0;
}

void rx_run_free(struct rx_run *r)
{
	if (!r)
		return;
	free(r->table);
	free(r->pool);
	free(r->stack);
	free(r->seen);
	free(r);
}

/* c: the next byte, -1 at the end. */
bool rx_holds(enum rx_assert what, enum rx_before before, int c)
{
	bool left = before == RX_AFTER_WORD, right = is_word(c);

	switch (what) {
	case RX_BEGIN: return before == RX_AT_BEGIN;
	case RX_END: return c < 0;
	case RX_WORD_BEGIN: return !left && right;
	case RX_WORD_END: return left && !right;
	case RX_BOUND: return left != right;
	default: return left == right;
	}
}

/*
 * What an instruction leads to without a byte; 2 marks what comes after the byte. True: the
 * match.
 */
static bool reach(struct rx *x, uint16_t from, enum rx_before before, int c)
{
	struct rx_run *r = x->run;
	uint32_t n = 0;

#define PUSH(pc) \
	do { \
		if (!(r->seen[pc] & 1)) { \
			r->seen[pc] |= 1; \
			r->stack[n++] = (uint16_t)(pc); \
		} \
	} while (0)
	PUSH(from);
	while (n) {
		uint16_t pc = r->stack[--n];
		const struct rx_insn *i = &x->code[pc];

		switch (i->op) {
		case RX_MATCH: return true;
		case RX_JUMP: PUSH(i->a); break;
		case RX_SPLIT:
			PUSH(i->a);
			PUSH(i->b);
			break;
		case RX_ASSERT:
			if (rx_holds((enum rx_assert)i->a, before, c))
				PUSH(pc + 1);
			break;
		default:
			if (c >= 0 && rx_set_has(&x->sets[i->a], (unsigned char)c))
				r->seen[pc + 1] |= 2;
		}
	}
#undef PUSH
	return false;
}

/* The state of the marked instructions. */
static uint32_t find_state(struct rx *x, enum rx_before before)
{
	struct rx_run *r = x->run;
	uint16_t *set;
	uint32_t n = 0;

	if (r->nstates == STATES_MAX || r->pool_cap - r->pool_n < x->ncode)
		forget(x);
	set = r->pool + r->pool_n;
	for (uint32_t pc = 0; pc < x->ncode; pc++)
		if (r->seen[pc] & 2)
			set[n++] = (uint16_t)pc;
	for (uint32_t i = 1; i < r->nstates; i++)
		if (r->states[i].n == n && r->states[i].before == before &&
		    !memcmp(r->pool + r->states[i].at, set, n * sizeof(*set)))
			return i;
	r->states[r->nstates] = (struct state){r->pool_n, n, before};
	r->pool_n += n;
	return r->nstates++;
}

enum rx_before rx_before_of(int c)
{
	return is_word(c) ? RX_AFTER_WORD : RX_AFTER_OTHER;
}

/* What a byte makes of a state: NO, YES, or the next state + FIRST. */
static uint16_t step(struct rx *x, uint32_t state, uint32_t class)
{
	struct rx_run *r = x->run;
	const struct state s = r->states[state];
	int c = class == r->nclasses ? -1 : r->byte_of[class];
	enum rx_before before = !x->checks ? RX_AT_BEGIN : rx_before_of(c);
	uint32_t next, made = r->nstates;
	bool match;

	memset(r->seen, 0, x->ncode);
	match = reach(x, 0, s.before, c);
	for (uint32_t i = 0; i < s.n && !match; i++)
		match = reach(x, r->pool[s.at + i], s.before, c);
	if (match || c < 0) {
		r->table[state * (r->nclasses + 1) + class] = match ? YES : NO;
		return match ? YES : NO;
	}
	next = find_state(x, before);
	/* Where all were forgotten, this state is no more, too. */
	if (r->nstates >= made)
		r->table[state * (r->nclasses + 1) + class] = (uint16_t)(next + FIRST);
	return (uint16_t)(next + FIRST);
}

bool rx_matches(struct rx *x, const char *text, size_t len)
{
	struct rx_run *r = x->run;
	uint32_t state = 0, row = r->nclasses + 1;

	for (size_t i = 0; i <= len; i++) {
		uint32_t class = i < len ? r->class_of[(unsigned char)text[i]] : r->nclasses;
		uint16_t next = r->table[state * row + class];

		if (next == UNKNOWN)
			next = step(x, state, class);
		if (next < FIRST)
			return next == YES;
		state = next - FIRST;
	}
	return false;
}
