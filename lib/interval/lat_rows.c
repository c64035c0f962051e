#include "interval/lat_parts.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define VALUE_TEXT_MAX 4096 /* bytes of a text that is a key */
#define WINDOW_BEGIN   1000 /* ns: the first automatic width */

static const struct {
	const char *name;
	enum table_key_kind kind;
} terms[] = {
#define T(name, text, kind, what) {text, TABLE_##kind},
	LAT_TERMS(T)
#undef T
};
#define NTERMS (sizeof(terms) / sizeof(terms[0]))

/* ---- keys of rows ---- */

/* The length of the first of a list with commas; commas in parentheses and quotes are part of it. */
static size_t piece(const char *s)
{
	int depth = 0;
	char quote = 0;
	size_t n = 0;

	for (; s[n] && (s[n] != ',' || depth > 0 || quote); n++) {
		if (quote && s[n] == '\\' && s[n + 1])
			n++;
		else if (quote)
			quote = s[n] == quote ? 0 : quote;
		else if (s[n] == '"' || s[n] == '\'')
			quote = s[n];
		else
			depth += (s[n] == '(' || s[n] == '[') - (s[n] == ')' || s[n] == ']');
	}
	return n;
}

static bool is_stack(enum lat_term t)
{
	return t == LAT_TERM_STACK || t == LAT_TERM_END_STACK || t == LAT_TERM_WAKER_STACK;
}

/* An expression of --by; the same one in several kinds is compiled once. */
static int add_value(struct lat *l, const char *s, size_t n, uint32_t *number, struct buf *why)
{
	int rc;

	for (*number = 0; *number < l->nby; ++*number) {
		struct ps_str t = expr_text(l->by[*number], 0);

		if (t.len == n && !memcmp(t.p, s, n))
			return 0;
	}
	if (l->nby == LAT_BY_MAX)
		return PP_ELIMIT;
	buf_reset(&l->text);
	buf_add(&l->text, s, n);
	if (l->text.err)
		return PP_ENOMEM;
	rc = expr_new(&l->by[l->nby], buf_str(&l->text), EXPR_VALUES, why);
	if (!rc)
		l->nby++;
	return rc;
}

/* Whether the row depends on these alone. */
static bool is_quick(enum lat_term t)
{
	return t == LAT_TERM_NAME || t == LAT_TERM_COMM || t == LAT_TERM_STATE ||
	       t == LAT_TERM_CAUSE || t == LAT_TERM_KIND;
}

/* A list of keys, for one kind. */
static int set_terms(struct lat *l, struct lat_kind *k, const char *by, struct buf *why)
{
	k->quick = !l->window && !l->o->unmatched;
	for (const char *s = by; *s;) {
		size_t n = piece(s), t = 0;

		if (k->nterms == LAT_BY_MAX) {
			buf_addf(why, "--by: more than %d keys", LAT_BY_MAX);
			return PP_EUSAGE;
		}
		while (t < NTERMS && (strlen(terms[t].name) != n || memcmp(terms[t].name, s, n)))
			t++;
		if (t == NTERMS) {
			int rc = add_value(l, s, n, &k->values[k->nterms], why);

			if (rc)
				return rc;
		}
		l->texts_wanted |= is_stack((enum lat_term)t);
		k->quick &= is_quick((enum lat_term)t);
		k->terms[k->nterms++] = (enum lat_term)t;
		s += n + (s[n] == ',');
	}
	return 0;
}

int lat_rows_new(struct lat *l, struct buf *why)
{
	l->window = l->o->window == LAT_WINDOW_AUTO ? WINDOW_BEGIN : l->o->window;
	l->window_first = UINT64_MAX;
	/* Who writes stacks needs no texts of them. */
	l->texts_wanted = l->o->stacks || (l->o->unmatched && !l->o->points);
	for (unsigned i = 0; i < l->nkinds; i++) {
		int rc = set_terms(l, &l->kinds[i], l->o->by ? l->o->by : l->kinds[i].k->by, why);

		if (rc)
			return rc;
	}
	if (l->o->points) {
		l->stacks_kept = lat_stacks_new(l->o->stacks_max);
		if (!l->stacks_kept)
			return PP_ENOMEM;
	}
	l->stacks_wanted = l->texts_wanted || l->stacks_kept;
	return 0;
}

void lat_rows_release(struct lat *l)
{
	for (unsigned i = 0; i < l->nkinds; i++) {
		map64_release(&l->kinds[i].texts);
		free(l->kinds[i].recent);
	}
	for (uint32_t i = 0; i < l->nby; i++)
		expr_free(l->by[i]);
	tables_release(&l->tables);
}

int lat_values(struct lat *l, const struct sreader *r, const struct ps_record *rec, uint64_t *v,
	       uint32_t *set, uint32_t *numbers)
{
	for (uint32_t i = 0; i < l->nby; i++) {
		struct qval q;
		uint32_t id;

		if (*set & (1u << i) || !expr_value(l->by[i], 0, r, rec, &q) || q.kind == QV_NA)
			continue;
		if (q.kind == QV_INT) {
			v[i] = q.num;
			*numbers |= 1u << i;
			if (q.is_unsigned && q.num >> 63)
				l->by_hex |= 1u << i;
		} else if (lat_text(l, q.s, q.len < VALUE_TEXT_MAX ? q.len : VALUE_TEXT_MAX, &id)) {
			return PP_ENOMEM;
		} else {
			v[i] = id;
		}
		*set |= 1u << i;
	}
	return 0;
}

/* ---- tables ---- */

/* What a column of an expression's values begins as: addresses are written as such. */
static enum table_key_kind value_kind(const struct lat *l, const struct interval *iv, uint32_t v)
{
	if (!(iv->numbers & (1u << v)))
		return TABLE_TEXT;
	return l->by_hex & (1u << v) ? TABLE_HEX : TABLE_SIGNED;
}

/* The table of a kind, made when it has its first row. */
static int make_table(struct lat *l, struct lat_kind *k, const struct interval *iv)
{
	struct table_key keys[LAT_BY_MAX + 2];
	struct table_value values[2];
	uint32_t n = 0, nv = 0, id;
	struct ps_str text;
	char name[96];

	if (l->window)
		keys[n++] = (struct table_key){"time", TABLE_WINDOW, l->window};
	for (uint32_t i = 0; i < k->nterms; i++) {
		uint32_t v = k->values[i];

		if (k->terms[i] == LAT_TERM_KEY && (iv->keys || !lat_key_is_number(l, iv))) {
			keys[n++] = (struct table_key){"key", TABLE_TEXT, 0};
			continue;
		}
		if (k->terms[i] != LAT_TERM_VALUE) {
			keys[n++] = (struct table_key){terms[k->terms[i]].name,
						       terms[k->terms[i]].kind, 0};
			continue;
		}
		text = expr_text(l->by[v], 0);
		if (lat_text(l, text.p, text.len, &id))
			return PP_ENOMEM;
		keys[n++] = (struct table_key){lat_name(l, id, NULL), value_kind(l, iv, v), 0};
	}
	if (l->o->unmatched)
		keys[n++] = (struct table_key){"stack", TABLE_TEXT, 0};
	/* How much is open comes first, and rows are sorted by it: what leaks most is not what is oldest. */
	if (l->o->unmatched && k->k->amount)
		values[nv++] = (struct table_value){k->k->amount, TABLE_SUM, k->k->amount_unit, 0};
	values[nv++] = (struct table_value){l->o->unmatched ? "age" : k->k->name, TABLE_HIST,
					    lat_kind_unit(l, (unsigned)(k - l->kinds)), l->o->step};
	snprintf(name, sizeof(name), "%s%s", k->k->name, l->o->unmatched ? " open" : "");
	k->generation = 0;
	return tables_add(&l->tables, name, keys, n, values, nv, &k->table);
}

static int text_key(struct lat *l, struct lat_kind *k, uint32_t id, uint64_t *key)
{
	uint32_t *known;
	bool fresh;
	size_t len;

	if (k->generation != k->table->generation) {
		map64_clear(&k->texts);
		k->generation = k->table->generation;
	}
	known = map64_put(&k->texts, id, &fresh);
	if (!known)
		return PP_ENOMEM;
	if (fresh) {
		const char *s = lat_name(l, id, &len);

		if (table_text(k->table, s, len, key))
			return PP_ENOMEM;
		*known = (uint32_t)*key;
	}
	*key = *known;
	return 0;
}

static uint64_t number(uint32_t v)
{
	return v == PS_NONE ? UINT64_MAX : v;
}

/* -1: one of the CPUs is not known. */
static uint64_t moved(const struct interval *iv)
{
	if (iv->start.cpu == PS_NONE || iv->end.cpu == PS_NONE)
		return UINT64_MAX;
	return iv->start.cpu != iv->end.cpu;
}

static int value_key(struct lat *l, struct lat_kind *k, uint32_t i, uint32_t column,
		     const struct interval *iv, uint64_t *key)
{
	bool text = k->table->keys[column].kind == TABLE_TEXT;
	uint32_t bit = 1u << i, id = 0;

	if (!text) {
		*key = iv->numbers & bit ? iv->values[i] : UINT64_MAX;
		return 0;
	}
	/* A number where the first interval had a text. */
	if (iv->numbers & bit) {
		char digits[24];
		int n = snprintf(digits, sizeof(digits), "%lld", (long long)iv->values[i]);

		if (lat_text(l, digits, (size_t)n, &id))
			return PP_ENOMEM;
	} else if (iv->set & bit) {
		id = (uint32_t)iv->values[i];
	}
	return text_key(l, k, id, key);
}

static int term_key(struct lat *l, struct lat_kind *k, uint32_t i, uint32_t column,
		    const struct interval *iv, uint64_t *key)
{
	uint32_t text = 0;

	switch (k->terms[i]) {
	case LAT_TERM_NAME: text = iv->name; break;
	case LAT_TERM_COMM: text = iv->who.comm; break;
	case LAT_TERM_STATE: text = iv->state; break;
	case LAT_TERM_CAUSE: text = iv->cause; break;
	case LAT_TERM_WAKER: text = iv->waker.comm; break;
	case LAT_TERM_STACK: text = iv->start.text; break;
	case LAT_TERM_END_STACK: text = iv->end.text; break;
	case LAT_TERM_WAKER_STACK: text = iv->wake.text; break;
	case LAT_TERM_PID: *key = number(iv->who.pid); return 0;
	case LAT_TERM_TID: *key = number(iv->who.tid); return 0;
	case LAT_TERM_CPU: *key = number(iv->start.cpu); return 0;
	case LAT_TERM_END_CPU: *key = number(iv->end.cpu); return 0;
	case LAT_TERM_MOVED: *key = moved(iv); return 0;
	case LAT_TERM_WAKER_TID: *key = number(iv->waker.tid); return 0;
	case LAT_TERM_KEY:
		*key = iv->key;
		if (k->table->keys[column].kind != TABLE_TEXT)
			return 0;
		buf_reset(&l->text);
		lat_key(l, iv, &l->text);
		if (l->text.err || lat_text(l, buf_str(&l->text), l->text.len, &text))
			return PP_ENOMEM;
		break;
	case LAT_TERM_KIND:
		if (lat_text(l, k->k->name, strlen(k->k->name), &text))
			return PP_ENOMEM;
		break;
	case LAT_TERM_VALUE: return value_key(l, k, k->values[i], column, iv, key);
	}
	return text_key(l, k, text, key);
}

/* Automatic windows become wider, by 2 and by 5 in turn, so that each is made of whole ones. */
static int window_key(struct lat *l, uint64_t time, uint64_t *key)
{
	int rc = 0;

	if (time < l->window_first)
		l->window_first = time;
	if (time > l->window_last)
		l->window_last = time;
	while (l->o->window == LAT_WINDOW_AUTO && l->window < UINT64_MAX / 8 &&
	       (l->window_last - l->window_first) / l->window >= LAT_WINDOWS - 1 && !rc) {
		l->window *= l->widened++ & 1 ? 2 : 5;
		for (uint32_t i = 0; i < l->tables.n && !rc; i++)
			rc = table_rekey(l->tables.v[i], 0, TABLE_WINDOW, l->window);
	}
	*key = time - time % l->window;
	return rc;
}

static struct lat_quick *quick_slot(const struct lat_kind *k, uint64_t key)
{
	return &k->recent[key * UINT64_C(0x9e3779b97f4a7c15) >> (64 - LAT_RECENT_BITS)];
}

static bool quick_is(const struct lat_kind *k, const struct lat_quick *q, uint64_t key)
{
	return q->key == key && q->generation == k->table->generation + 1;
}

/* Its counter's cache line comes while the events behind it are read: it is counted then. */
static void count_later(struct lat *l, struct hist *h, uint32_t i)
{
	struct lat_pending *p = &l->pending[l->npending++ % LAT_PENDING];

	__builtin_prefetch(&h->fine.counts[i], 1);
	if (p->h)
		hist_count(p->h, p->i);
	*p = (struct lat_pending){h, i};
}

/* Before anything else is done with a table. */
static void count_pending(struct lat *l)
{
	for (struct lat_pending *p = l->pending; p < l->pending + LAT_PENDING; p++) {
		if (p->h)
			hist_count(p->h, p->i);
		p->h = NULL;
	}
}

bool lat_interval_brief(struct lat *l, struct lat_kind *k, uint64_t key,
			const struct lat_point *start, const struct lat_point *end)
{
	struct lat_quick *q;
	struct hist *h;
	uint32_t i;

	/* Where there are recent rows, intervals of the kind go to rows. */
	if (!k->recent || start->mark != PS_MARK_PASS || end->time < start->time)
		return false;
	q = quick_slot(k, key);
	if (!quick_is(k, q, key))
		return false;
	h = table_cell(k->table, q->row, 0);
	if (!hist_near(h, end->time - start->time, start->time, &i))
		return false;
	count_later(l, h, i);
	k->count[LAT_INTERVALS]++;
	return true;
}

/* The same as add, for rows that can be remembered. */
static int add_quick(struct lat *l, struct lat_kind *k, const struct interval *iv)
{
	uint32_t how = iv->state ? iv->state : iv->cause;
	uint64_t quick = lat_quick_key(iv->who.comm, iv->name, how), key[LAT_BY_MAX];
	struct lat_quick *q;
	int rc = k->table ? 0 : make_table(l, k, iv);

	if (rc)
		return rc;
	if (!k->recent)
		k->recent = calloc(LAT_RECENT, sizeof(*k->recent));
	if (!k->recent)
		return PP_ENOMEM;
	q = quick_slot(k, quick);
	if (quick_is(k, q, quick))
		return table_add(k->table, q->row, 0, (hist_int)iv->dur, iv->start.time);
	*q = (struct lat_quick){.key = quick};
	for (uint32_t i = 0; i < k->nterms && !rc; i++)
		rc = term_key(l, k, i, i, iv, &key[i]);
	if (!rc)
		rc = table_row(k->table, key, &q->row);
	if (rc)
		return rc;
	q->generation = k->table->generation + 1;
	return table_add(k->table, q->row, 0, (hist_int)iv->dur, iv->start.time);
}

/* Adds an interval to the row that it belongs to. */
static int add(struct lat *l, struct lat_kind *k, const struct interval *iv)
{
	uint64_t key[LAT_BY_MAX + 2];
	uint32_t n = 0, v = 0, row;
	int rc = k->table ? 0 : make_table(l, k, iv);

	if (rc)
		return rc;
	if (l->window)
		rc = window_key(l, iv->start.time, &key[n++]);
	for (uint32_t i = 0; i < k->nterms && !rc; i++, n++)
		rc = term_key(l, k, i, n, iv, &key[n]);
	if (l->o->unmatched && !rc)
		rc = text_key(l, k, iv->start.text, &key[n++]);
	if (!rc)
		rc = table_row(k->table, key, &row);
	if (!rc && l->o->unmatched && k->k->amount)
		rc = table_add(k->table, row, v++, (hist_int)iv->amount, iv->start.time);
	if (!rc)
		rc = table_add(k->table, row, v, (hist_int)iv->dur, iv->start.time);
	return rc;
}

int lat_interval(struct lat *l, struct interval *iv, uint64_t from, uint64_t to)
{
	struct lat_kind *k = &l->kinds[iv->kind];
	uint32_t start = iv->start.mark, end = iv->end.mark;

	if (start != PS_MARK_PASS && (start != PS_MARK_NA || end != PS_MARK_PASS)) {
		k->count[LAT_FILTERED]++;
		return 0;
	}
	if (to < from) {
		k->count[LAT_NEGATIVE]++;
		return 0;
	}
	k->count[LAT_INTERVALS]++;
	k->by_end += start != PS_MARK_PASS;
	iv->dur = to - from;
	if (!k->on || l->o->unmatched || l->o->threads)
		return 0;
	if (l->o->sink)
		return l->o->sink(l->o->sink_ctx, l, iv);
	count_pending(l);
	return k->quick ? add_quick(l, k, iv) : add(l, k, iv);
}

int lat_open(struct lat *l, struct interval *iv, uint64_t from, uint64_t to)
{
	struct lat_kind *k = &l->kinds[iv->kind];

	k->count[LAT_OPEN]++;
	if (!l->o->unmatched || !k->on || iv->start.mark == PS_MARK_FAIL)
		return 0;
	iv->dur = to > from ? to - from : 0;
	iv->end = (struct lat_point){.time = to, .cpu = PS_NONE, .pid = PS_NONE};
	return l->o->sink ? l->o->sink(l->o->sink_ctx, l, iv) : add(l, k, iv);
}

/* The rows of a kind as one row of "intervals", where it has the same unit. */
static int summarize(struct lat *l, const struct lat_kind *k)
{
	uint64_t key;
	uint32_t row;
	int rc;

	if (!k->table || k->k->unit)
		return 0;
	rc = table_text(l->summary, k->k->name, strlen(k->k->name), &key);
	if (!rc)
		rc = table_row(l->summary, &key, &row);
	for (uint32_t i = 0; i < k->table->nrows && !rc; i++) {
		struct hist *to = table_cell(l->summary, row, 0);
		size_t before = hist_bytes(to);

		rc = hist_merge(to, table_cell(k->table, i, 0));
		table_account(l->summary, to, before);
	}
	return rc;
}

static bool only_by_end(const struct lat_kind *k)
{
	return k->by_end && k->by_end == k->count[LAT_INTERVALS];
}

/*
 * The tables are in the order of the kinds, not in that of their first rows; but first come the kinds of which a
 * filter has let beginnings pass: it is about them as a rule.
 */
static void order_tables(struct lat *l)
{
	uint32_t n = 0, first = 0;

	if (l->summary)
		l->tables.v[n++] = l->summary;
	for (int late = 0; late < 2; late++) {
		for (unsigned i = 0; i < l->nkinds; i++)
			if (l->kinds[i].table && only_by_end(&l->kinds[i]) == late)
				l->tables.v[n++] = l->kinds[i].table;
		first = late ? first : n;
	}
	if (l->summary)
		l->summary->as_added = first > 1 && first < n;
}

/* What the filter before has meant for this kind. */
static int set_title(struct lat *l, struct lat_kind *k)
{
	const char *begins = k->k->begins ? k->k->begins : "the event that begins it";
	const char *ends = k->k->ends ? k->k->ends : "the event that ends it";

	buf_reset(&l->text);
	lat_filter_words(&l->filter, &l->text);
	if (only_by_end(k))
		buf_addf(&l->text, " passed %s; it does not apply to %s", ends, begins);
	else
		buf_addf(&l->text, " passed %s", begins);
	if (k->by_end && !only_by_end(k))
		buf_addf(&l->text, "; or, where it does not apply to that, %s", ends);
	return l->text.err ? PP_ENOMEM : table_set_title(k->table, buf_str(&l->text));
}

static int set_titles(struct lat *l)
{
	int rc = 0;

	for (unsigned i = 0; i < l->nkinds && !rc && l->filter.any; i++)
		if (l->kinds[i].table)
			rc = set_title(l, &l->kinds[i]);
	return rc;
}

int lat_rows_finish(struct lat *l)
{
	static const struct table_key key = {"kind", TABLE_TEXT, 0};
	struct table_value value = {"duration", TABLE_HIST, l->unit, l->o->step};
	int rc = 0;

	count_pending(l);
	if (l->o->threads)
		return 0;
	/* By kind alone, it would have the rows that there are already. */
	if (l->tables.n && !l->o->unmatched && !l->window &&
	    !(l->o->by && !strcmp(l->o->by, "kind")))
		rc = tables_add(&l->tables, LAT_SUMMARY, &key, 1, &value, 1, &l->summary);
	/* A thread that is off the CPU is blocked, and in a system call. */
	if (l->summary)
		l->summary->overlap = true;
	order_tables(l);
	for (int late = 0; late < 2; late++)
		for (unsigned i = 0; i < l->nkinds && l->summary && !rc; i++)
			if (only_by_end(&l->kinds[i]) == late)
				rc = summarize(l, &l->kinds[i]);
	return rc ? rc : set_titles(l);
}

int lat_account_table(struct lat *l)
{
	static const struct table_key key = {"kind", TABLE_TEXT, 0};
	static const struct table_value values[] = {
#define A(name, text, what) {text, TABLE_COUNT, "", 0},
		LAT_ACCOUNT(A)
#undef A
	};
	struct table *t;
	int rc = tables_add(&l->tables, "account", &key, 1, values, LAT_NCOUNTS, &t);

	for (unsigned i = 0; i < l->nkinds && !rc; i++) {
		const struct lat_kind *k = &l->kinds[i];
		uint64_t name;
		uint32_t row;

		if (!k->on || (!k->count[LAT_STARTS] && !k->count[LAT_NO_START]))
			continue;
		rc = table_text(t, k->k->name, strlen(k->k->name), &name);
		if (!rc)
			rc = table_row(t, &name, &row);
		for (uint32_t v = 0; v < LAT_NCOUNTS && !rc; v++)
			table_cell(t, row, v)->count = k->count[v];
	}
	return rc;
}
