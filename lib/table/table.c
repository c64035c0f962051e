/* Tables: rows by their keys, in bounded memory; folding of small rows; keys of another kind. */
#include "table/parts.h"

#include "base/err.h"

#include <stdlib.h>
#include <string.h>

void tables_init(struct tables *ts)
{
	*ts = (struct tables){.view = "bars"};
}

void table_free(struct table *t)
{
	for (uint32_t i = 0; i < t->nrows * t->nvalues; i++)
		hist_release(&t->cell[i]);
	intern_release(&t->texts);
	arena_release(&t->arena);
	free(t->key);
	free(t->cell);
	free(t->order);
	free(t->slots);
	free(t);
}

void table_clear(struct table *t)
{
	for (uint32_t i = 0; i < t->nrows * t->nvalues; i++)
		hist_release(&t->cell[i]);
	intern_release(&t->texts);
	t->texts = (struct intern)INTERN_INIT;
	if (t->slots)
		memset(t->slots, 0, ((size_t)t->mask + 1) * sizeof(*t->slots));
	t->nrows = t->nordered = 0;
	t->other = TABLE_NO_ROW;
	t->folded = 0;
	t->bytes = 0;
	t->sorted = false;
	t->generation++;
}

void tables_release(struct tables *ts)
{
	for (uint32_t i = 0; i < ts->n; i++)
		table_free(ts->v[i]);
	ts->n = 0;
}

struct table *tables_find(const struct tables *ts, const char *name, size_t len)
{
	for (uint32_t i = 0; i < ts->n; i++)
		if (strlen(ts->v[i]->name) == len && !memcmp(ts->v[i]->name, name, len))
			return ts->v[i];
	return NULL;
}

bool tables_empty(const struct tables *ts)
{
	for (uint32_t i = 0; i < ts->n; i++)
		if (ts->v[i]->nrows)
			return false;
	return true;
}

static const char *copy(struct table *t, const char *s)
{
	return arena_dup(&t->arena, s ? s : "", s ? strlen(s) : 0);
}

/* Copies the columns; false: out of memory. */
static bool set_columns(struct table *t, const struct table_key *keys,
			const struct table_value *values)
{
	for (uint32_t k = 0; k < t->nkeys; k++) {
		t->keys[k] = keys[k];
		t->keys[k].name = copy(t, keys[k].name);
		if (!t->keys[k].name)
			return false;
	}
	for (uint32_t v = 0; v < t->nvalues; v++) {
		t->values[v] = values[v];
		t->values[v].name = copy(t, values[v].name);
		t->values[v].unit = copy(t, values[v].unit);
		if (!t->values[v].name || !t->values[v].unit)
			return false;
	}
	return true;
}

int tables_add(struct tables *ts, const char *name, const struct table_key *keys, uint32_t nkeys,
	       const struct table_value *values, uint32_t nvalues, struct table **tp)
{
	struct table *t;

	if (ts->n == TABLES_MAX || nkeys > TABLE_KEYS_MAX || nvalues > TABLE_VALUES_MAX)
		return PP_ELIMIT;
	if (!nvalues)
		return PP_EUSAGE;
	for (uint32_t k = 0; k < nkeys; k++)
		if (keys[k].kind == TABLE_WINDOW && !keys[k].window)
			return PP_EUSAGE;
	t = calloc(1, sizeof(*t));
	if (!t)
		return PP_ENOMEM;
	t->nkeys = nkeys;
	t->nvalues = nvalues;
	t->other = TABLE_NO_ROW;
	t->name = copy(t, name);
	if (!t->name || !set_columns(t, keys, values)) {
		table_free(t);
		return PP_ENOMEM;
	}
	ts->v[ts->n++] = t;
	*tp = t;
	return 0;
}

int table_set_title(struct table *t, const char *title)
{
	if (!t->title || strcmp(t->title, title) != 0)
		t->title = copy(t, title);
	return t->title ? 0 : PP_ENOMEM;
}

int table_text(struct table *t, const char *s, size_t len, uint64_t *key)
{
	uint32_t id;
	int rc = intern_again(&t->texts, s, len, &id);

	*key = id;
	return rc;
}

static const uint64_t *keys_of(const struct table *t, uint32_t row)
{
	return t->key + (size_t)row * t->nkeys;
}

static bool same_keys(const struct table *t, uint32_t row, const uint64_t *key)
{
	const uint64_t *keys = keys_of(t, row);

	for (uint32_t k = 0; k < t->nkeys; k++)
		if (keys[k] != key[k])
			return false;
	return true;
}

/* Keys are few, and numbers: mixing each is faster than a hash of bytes. */
static uint32_t slot_of(const struct table *t, const uint64_t *key)
{
	uint64_t h = 0;
	uint32_t i;

	for (uint32_t k = 0; k < t->nkeys; k++) {
		h = (h ^ key[k]) * UINT64_C(0x9e3779b97f4a7c15);
		h ^= h >> 32;
	}
	i = (uint32_t)h & t->mask;
	while (t->slots[i] && !same_keys(t, t->slots[i] - 1, key))
		i = (i + 1) & t->mask;
	return i;
}

/* Fills the slots anew, n of them. */
static int rehash(struct table *t, uint32_t n)
{
	uint32_t *slots = calloc(n, sizeof(*slots));

	if (!slots)
		return PP_ENOMEM;
	free(t->slots);
	t->slots = slots;
	t->mask = n - 1;
	for (uint32_t row = 0; row < t->nrows; row++)
		if (row != t->other)
			t->slots[slot_of(t, keys_of(t, row))] = row + 1;
	return 0;
}

static int grow(struct table *t)
{
	uint32_t cap = t->cap ? t->cap * 2 : 16;
	uint64_t *key = realloc(t->key, (size_t)cap * t->nkeys * sizeof(*key) + 1);
	struct hist *cell;

	if (!key)
		return PP_ENOMEM;
	t->key = key;
	cell = realloc(t->cell, (size_t)cap * t->nvalues * sizeof(*cell));
	if (!cell)
		return PP_ENOMEM;
	t->cell = cell;
	t->cap = cap;
	return rehash(t, cap * 2);
}

/* A new row at the end; the caller puts it into the slots. */
static int append(struct table *t, const uint64_t *key, uint32_t *row)
{
	int rc = t->nrows == t->cap ? grow(t) : 0;

	if (rc)
		return rc;
	*row = t->nrows++;
	if (t->nkeys)
		memcpy(t->key + (size_t)*row * t->nkeys, key, t->nkeys * sizeof(*key));
	for (uint32_t v = 0; v < t->nvalues; v++)
		*table_cell(t, *row, v) = (struct hist){.step = t->values[v].step};
	t->sorted = false;
	return 0;
}

int table_make_other(struct table *t)
{
	static const uint64_t none[TABLE_KEYS_MAX];

	return t->other == TABLE_NO_ROW ? append(t, none, &t->other) : 0;
}

int table_merge_row(struct table *t, uint32_t to, uint32_t from)
{
	int rc = 0;

	for (uint32_t v = 0; v < t->nvalues && !rc; v++) {
		struct hist *h = table_cell(t, from, v);
		size_t before = hist_bytes(table_cell(t, to, v));

		rc = hist_merge(table_cell(t, to, v), h);
		table_account(t, table_cell(t, to, v), before);
		before = hist_bytes(h);
		hist_release(h);
		table_account(t, h, before);
	}
	return rc;
}

uint64_t table_weight(const struct table *t, uint32_t row)
{
	uint64_t n = 0;

	for (uint32_t v = 0; v < t->nvalues; v++)
		n = table_cell(t, row, v)->count > n ? table_cell(t, row, v)->count : n;
	return n;
}

static int by_count(const void *a, const void *b)
{
	uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

	return (x > y) - (x < y);
}

/* Moves the texts that rows still have to a table of their own. */
static int move_texts(struct table *t)
{
	struct intern texts = INTERN_INIT;
	int rc = 0;

	for (uint32_t row = 0; row < t->nrows && !rc; row++) {
		for (uint32_t k = 0; k < t->nkeys && !rc; k++) {
			uint64_t *key = &t->key[(size_t)row * t->nkeys + k];
			uint32_t id;
			size_t len;
			const char *s;

			if (t->keys[k].kind != TABLE_TEXT || row == t->other)
				continue;
			s = intern_get(&t->texts, (uint32_t)*key, &len);
			rc = intern_add(&texts, s ? s : "", len, &id, NULL);
			*key = id;
		}
	}
	intern_release(&t->texts);
	t->texts = texts;
	return rc;
}

/* Closes the gaps that the rows without a count have left. */
static void close_gaps(struct table *t)
{
	uint32_t n = 0;

	for (uint32_t row = 0; row < t->nrows; row++) {
		if (row != t->other && !table_weight(t, row))
			continue;
		if (row == t->other)
			t->other = n;
		if (n != row && t->nkeys)
			memmove(t->key + (size_t)n * t->nkeys, keys_of(t, row),
				t->nkeys * sizeof(*t->key));
		for (uint32_t v = 0; v < t->nvalues && n != row; v++) {
			*table_cell(t, n, v) = *table_cell(t, row, v);
			*table_cell(t, row, v) = (struct hist)HIST_INIT;
		}
		n++;
	}
	t->nrows = n;
}

/* Adds the smaller half of the rows to TABLE_OTHER. */
static int fold_rows(struct table *t)
{
	int rc = table_make_other(t);
	uint64_t *counts, middle;
	uint32_t drop = t->nrows / 2;

	if (rc)
		return rc;
	counts = malloc(t->nrows * sizeof(*counts));
	if (!counts)
		return PP_ENOMEM;
	for (uint32_t row = 0; row < t->nrows; row++)
		counts[row] = table_weight(t, row);
	qsort(counts, t->nrows, sizeof(*counts), by_count);
	middle = counts[drop];
	free(counts);
	for (uint32_t row = 0; row < t->nrows && drop && !rc; row++) {
		if (row == t->other || table_weight(t, row) > middle)
			continue;
		rc = table_merge_row(t, t->other, row);
		t->folded++;
		drop--;
	}
	close_gaps(t);
	if (!rc)
		rc = move_texts(t);
	t->generation++;
	return rc ? rc : rehash(t, t->mask + 1);
}

/* Makes room by folding; `moved` becomes the key with the new numbers of its texts. */
static int make_room(struct table *t, const uint64_t *key, uint64_t *moved)
{
	size_t begin[TABLE_KEYS_MAX + 1] = {0};
	struct buf texts = BUF_INIT;
	int rc;

	for (uint32_t k = 0; k < t->nkeys; k++) {
		size_t len;
		const char *s;

		moved[k] = key[k];
		if (t->keys[k].kind == TABLE_TEXT) {
			s = intern_get(&t->texts, (uint32_t)key[k], &len);
			buf_add(&texts, s, s ? len : 0);
		}
		begin[k + 1] = texts.len;
	}
	rc = texts.err ? texts.err : fold_rows(t);
	for (uint32_t k = 0; k < t->nkeys && !rc; k++)
		if (t->keys[k].kind == TABLE_TEXT)
			rc = table_text(t, buf_str(&texts) + begin[k], begin[k + 1] - begin[k],
					&moved[k]);
	buf_release(&texts);
	return rc;
}

static bool is_full(const struct table *t)
{
	return t->bytes + t->texts.arena.total > TABLE_BYTES_MAX && t->nrows > 2;
}

int table_row(struct table *t, const uint64_t *key, uint32_t *row)
{
	uint64_t moved[TABLE_KEYS_MAX];
	uint32_t slot = t->slots ? slot_of(t, key) : 0;
	int rc = 0;

	if (t->slots && t->slots[slot] && !is_full(t)) {
		*row = t->slots[slot] - 1;
		return 0;
	}
	if (t->nrows >= TABLE_ROWS_MAX || is_full(t)) {
		rc = make_room(t, key, moved);
		if (rc)
			return rc;
		return table_row(t, moved, row);
	}
	rc = append(t, key, row);
	if (!rc && t->slots)
		t->slots[slot_of(t, key)] = *row + 1;
	return rc;
}

void table_account(struct table *t, const struct hist *cell, size_t before)
{
	t->bytes += hist_bytes(cell) - before;
}

int table_add(struct table *t, uint32_t row, uint32_t v, hist_int value, uint64_t time)
{
	struct hist *h = table_cell(t, row, v);
	size_t before;
	uint32_t i;
	int rc;

	switch (t->values[v].kind) {
	case TABLE_COUNT: h->count++; return 0;
	case TABLE_PART:
	case TABLE_SUM: hist_sum(h, value, time); return 0;
	case TABLE_HIST: break;
	}
	if (value >= 0 && value <= INT64_MAX && hist_near(h, (uint64_t)value, time, &i)) {
		hist_count(h, i);
		return 0;
	}
	before = hist_bytes(h);
	rc = hist_add(h, value, time);
	table_account(t, h, before);
	return rc;
}

/* The new number of a row's key. */
static int new_key(struct table *t, uint32_t row, uint32_t k, enum table_key_kind kind,
		   uint64_t window, uint64_t *key)
{
	struct buf text = BUF_INIT;
	int rc;

	*key = keys_of(t, row)[k];
	if (kind == TABLE_WINDOW)
		*key -= *key % window;
	if (kind != TABLE_TEXT)
		return 0;
	table_key_add(t, row, k, &text);
	rc = text.err ? text.err : table_text(t, buf_str(&text), text.len, key);
	buf_release(&text);
	return rc;
}

int table_rekey(struct table *t, uint32_t k, enum table_key_kind kind, uint64_t window)
{
	int rc = 0;

	for (uint32_t row = 0; row < t->nrows && !rc && t->keys[k].kind != TABLE_TEXT; row++)
		if (row != t->other)
			rc = new_key(t, row, k, kind, window, &t->key[(size_t)row * t->nkeys + k]);
	t->keys[k].kind = kind;
	t->keys[k].window = window;
	t->generation++;
	t->sorted = false;
	if (rc || !t->slots)
		return rc;
	memset(t->slots, 0, ((size_t)t->mask + 1) * sizeof(*t->slots));
	for (uint32_t row = 0; row < t->nrows && !rc; row++) {
		uint32_t *slot = &t->slots[slot_of(t, keys_of(t, row))];

		if (row == t->other)
			continue;
		if (*slot)
			rc = table_merge_row(t, *slot - 1, row);
		else
			*slot = row + 1;
	}
	close_gaps(t);
	return rc ? rc : rehash(t, t->mask + 1);
}

void table_key_add(const struct table *t, uint32_t row, uint32_t k, struct buf *b)
{
	const char *s;
	uint64_t v;
	size_t len;

	if (t->rows) {
		t->rows->key(t->rows->ctx, row, k, b);
		return;
	}
	if (row == t->other) {
		buf_adds(b, TABLE_OTHER);
		return;
	}
	v = keys_of(t, row)[k];
	switch (t->keys[k].kind) {
	case TABLE_TEXT:
		s = intern_get(&t->texts, (uint32_t)v, &len);
		buf_add(b, s, s ? len : 0);
		break;
	case TABLE_SIGNED: buf_addf(b, "%lld", (long long)v); break;
	case TABLE_HEX:
		buf_adds(b, "0x");
		buf_add_hex(b, v, 0, ' ');
		break;
	case TABLE_NUMBER:
	case TABLE_WINDOW: buf_add_u64(b, v, 0, ' '); break;
	}
}
