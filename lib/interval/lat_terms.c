/*
 * The keys of rows: what --by names, parsed for each kind; the columns that they make; and their
 * values for an interval.
 */
#include "interval/lat_parts.h"

#include <stdio.h>
#include <string.h>

static const struct {
	const char *name;
	enum table_key_kind kind;
} terms[] = {
#define T(name, text, kind, what) {text, TABLE_##kind},
	LAT_TERMS(T)
#undef T
};
#define NTERMS (sizeof(terms) / sizeof(terms[0]))

/*
 * The length of the first of a list with commas; commas in parentheses and quotes are part of it.
 */
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

/* Whether the row depends on these alone. */
static bool is_quick(enum lat_term t)
{
	return t == LAT_TERM_NAME || t == LAT_TERM_COMM || t == LAT_TERM_STATE ||
	       t == LAT_TERM_CAUSE || t == LAT_TERM_KIND;
}

/* A list of keys, for one kind. */
static int set_terms(struct lat *l, struct lat_kind_rows *k, const char *by, struct buf *why)
{
	k->quick = !l->rows.window && !l->o->unmatched;
	for (const char *s = by; *s;) {
		size_t n = piece(s), t = 0;

		if (k->nterms == LAT_BY_MAX) {
			buf_addf(why, "--by: more than %d keys", LAT_BY_MAX);
			return PP_EUSAGE;
		}
		while (t < NTERMS && (strlen(terms[t].name) != n || memcmp(terms[t].name, s, n)))
			t++;
		if (t == NTERMS) {
			int rc = engine_by_add(&l->e, s, n, &k->values[k->nterms], why);

			if (rc)
				return rc;
		}
		l->e.texts_wanted |= is_stack((enum lat_term)t);
		k->quick &= is_quick((enum lat_term)t);
		k->terms[k->nterms++] = (enum lat_term)t;
		s += n + (s[n] == ',');
	}
	return 0;
}

/* ---- tables ---- */

/* What a column of an expression's values begins as: addresses are written as such. */
static enum table_key_kind value_kind(const struct lat *l, const struct interval *iv, uint32_t v)
{
	if (!(iv->numbers & (1u << v)))
		return TABLE_TEXT;
	return l->e.by.hex & (1u << v) ? TABLE_HEX : TABLE_SIGNED;
}

/* The columns of the keys of --by; iv: the first interval, NULL: only their names matter. */
static int term_columns(struct lat *l, struct lat_kind_rows *k, const struct interval *iv,
			struct table_key *keys, uint32_t *n)
{
	for (uint32_t i = 0; i < k->nterms; i++, ++*n) {
		uint32_t v = k->values[i], id;
		struct ps_str text;

		if (k->terms[i] != LAT_TERM_VALUE) {
			keys[*n] = (struct table_key){terms[k->terms[i]].name,
						      terms[k->terms[i]].kind, 0};
			if (k->terms[i] == LAT_TERM_KEY && iv &&
			    (iv->keys || !engine_key_is_number(&l->e, iv)))
				keys[*n].kind = TABLE_TEXT;
			continue;
		}
		text = expr_text(l->e.by.v[v], 0);
		if (engine_text(&l->e, text.p, text.len, &id))
			return PP_ENOMEM;
		keys[*n] = (struct table_key){engine_name(&l->e, id, NULL),
					      iv ? value_kind(l, iv, v) : TABLE_TEXT, 0};
	}
	return 0;
}

static int add_table(struct lat *l, struct lat_kind_rows *k, const struct interval *iv,
		     struct tables *ts, struct table **t)
{
	struct table_key keys[LAT_BY_MAX + 2];
	struct table_value values[2];
	uint32_t n = 0, nv = 0;
	char name[96];

	if (l->rows.window)
		keys[n++] = (struct table_key){"time", TABLE_WINDOW, l->rows.window};
	if (term_columns(l, k, iv, keys, &n))
		return PP_ENOMEM;
	if (l->o->unmatched)
		keys[n++] = (struct table_key){"stack", TABLE_TEXT, 0};
	/*
	 * How much is open comes first, and rows are sorted by it: what leaks most is not what is
	 * oldest.
	 */
	if (l->o->unmatched && k->k->amount)
		values[nv++] = (struct table_value){k->k->amount, TABLE_SUM, k->k->amount_unit, 0};
	values[nv++] =
		(struct table_value){l->o->unmatched ? "age" : k->k->name, TABLE_HIST,
				     engine_unit(&l->e, (uint32_t)(k - l->rows.kinds)), l->o->step};
	snprintf(name, sizeof(name), "%s%s", k->k->name, l->o->unmatched ? " open" : "");
	return tables_add(ts, name, keys, n, values, nv, t);
}

int lat_terms_table(struct lat *l, struct lat_kind_rows *k, const struct interval *iv)
{
	k->generation = 0;
	return add_table(l, k, iv, &l->rows.tables, &k->table);
}

int lat_terms_names(struct lat *l, struct lat_kind_rows *k, struct tables *ts)
{
	struct table *t;

	return add_table(l, k, NULL, ts, &t);
}

int lat_text_key(struct lat *l, struct lat_kind_rows *k, uint32_t id, uint64_t *key)
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
		const char *s = engine_name(&l->e, id, &len);

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

static int value_key(struct lat *l, struct lat_kind_rows *k, uint32_t i, uint32_t column,
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
		bool hex = l->e.by.hex & bit && iv->values[i] >> 63;
		char digits[24];
		int n = snprintf(digits, sizeof(digits), hex ? "0x%llx" : "%lld",
				 (long long)iv->values[i]);

		if (engine_text(&l->e, digits, (size_t)n, &id))
			return PP_ENOMEM;
	} else if (iv->set & bit) {
		id = (uint32_t)iv->values[i];
	}
	return lat_text_key(l, k, id, key);
}

int lat_terms_fit(struct lat *l, struct lat_kind_rows *k, uint32_t column,
		  const struct interval *iv)
{
	int rc = 0;

	for (uint32_t i = 0; i < k->nterms && !rc; i++, column++) {
		uint32_t bit = 1u << k->values[i];
		bool text = false;

		if (k->table->keys[column].kind == TABLE_TEXT)
			continue;
		if (k->terms[i] == LAT_TERM_VALUE)
			text = iv->set & ~iv->numbers & bit;
		else if (k->terms[i] == LAT_TERM_KEY)
			text = iv->keys || !engine_key_is_number(&l->e, iv);
		if (text)
			rc = table_rekey(k->table, column, TABLE_TEXT, 0);
	}
	return rc;
}

int lat_term_key(struct lat *l, struct lat_kind_rows *k, uint32_t i, uint32_t column,
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
		buf_reset(&l->e.texts.text);
		engine_key(&l->e, iv, &l->e.texts.text);
		if (l->e.texts.text.err ||
		    engine_text(&l->e, buf_str(&l->e.texts.text), l->e.texts.text.len, &text))
			return PP_ENOMEM;
		break;
	case LAT_TERM_KIND:
		if (engine_text(&l->e, k->k->name, strlen(k->k->name), &text))
			return PP_ENOMEM;
		break;
	case LAT_TERM_VALUE: return value_key(l, k, k->values[i], column, iv, key);
	}
	return lat_text_key(l, k, text, key);
}

int lat_terms_new(struct lat *l, struct buf *why)
{
	int rc = 0;

	for (unsigned i = 0; i < l->e.nkinds && !rc; i++) {
		struct lat_kind_rows *k = &l->rows.kinds[i];

		rc = set_terms(l, k, l->o->by ? l->o->by : k->k->by, why);
	}
	return rc;
}
