/* Reads the TSV form of tables back, without loss, and merges it with what is there. */
#include "table/cell.h"
#include "table/parts.h"

#include "base/err.h"

#include <stdlib.h>
#include <string.h>

#define BLOCK	    (1u << 18)
#define COLUMNS_MAX 2048
#define VIEWS	    "bars", "lines", "heat"

/* What a column is. */
enum role { ROLE_UNKNOWN, ROLE_KEY, ROLE_STAT, ROLE_BUCKETS, ROLE_LINEAR };
struct column {
	enum role role;
	uint32_t i; /* which key or value */
	enum table_stat stat;
};

struct tread {
	struct tables *ts;
	struct src *s;
	struct diag *d;
	struct buf data;   /* of the input, from `offset` on */
	uint64_t offset;   /* of the line that is read */
	struct table *t;   /* whose rows come; NULL before the first header */
	struct buf name;   /* of t, as it is in its rows */
	uint64_t expected; /* rows that the header says */
	uint64_t rows, folded;
	uint32_t ncolumns;
	struct column columns[COLUMNS_MAX];
	struct cell cells[COLUMNS_MAX];
	uint32_t ncells;
	struct buf texts;      /* unescaped names of the header */
	struct buf key;	       /* unescaped key of a row */
	bool partial, overlap; /* overlap: of t */
	bool adds_source;      /* of t: the last key is not in the rows, but the input's name */
	bool skip;	       /* the rows are of a period: the sum of all comes after them */
};

bool tables_is(const void *bytes, size_t len)
{
	return len >= strlen(TABLE_MAGIC) && !memcmp(bytes, TABLE_MAGIC, strlen(TABLE_MAGIC));
}

static int corrupt(struct tread *r, const char *what)
{
	diag_warn(r->d, src_name(r->s), (int64_t)r->offset, "table: %s", what);
	return PP_ECORRUPT;
}

static int split(struct tread *r, struct cell line)
{
	r->ncells = 0;
	for (;;) {
		bool more = memchr(line.p, '\t', line.n) != NULL;

		if (r->ncells == COLUMNS_MAX)
			return corrupt(r, "too many columns");
		r->cells[r->ncells++] = cell_until(&line, '\t');
		if (!more)
			return 0;
	}
}

/* ---- header ---- */

/* "#PPTABLE1 rows=12 view=bars ... name=NAME" */
static int read_first_cell(struct tread *r, struct cell s)
{
	static const char *const views[] = {VIEWS};
	uint64_t lost = 0;

	r->folded = 0;
	r->overlap = r->skip = false;
	r->expected = UINT64_MAX;
	buf_reset(&r->name);
	cell_until(&s, ' ');
	while (s.n) {
		struct cell value, key;

		if (s.n >= 5 && !memcmp(s.p, "name=", 5)) {
			buf_add(&r->name, s.p + 5, s.n - 5);
			break;
		}
		value = cell_until(&s, ' ');
		key = cell_until(&value, '=');
		if (cell_is(key, "rows") && cell_u64(value, &r->expected))
			return PP_ECORRUPT;
		if (cell_is(key, "folded") && cell_u64(value, &r->folded))
			return PP_ECORRUPT;
		if (cell_is(key, "lost") && cell_u64(value, &lost))
			return PP_ECORRUPT;
		if (cell_is(key, "partial") && cell_is(value, "1") && !r->partial) {
			diag_say(r->d, src_name(r->s),
				 "the table is partial: its input was damaged");
			r->partial = true;
		}
		r->skip |= cell_is(key, "period");
		r->overlap |= cell_is(key, "overlap") && cell_is(value, "1");
		for (size_t i = 0; i < sizeof(views) / sizeof(views[0]); i++)
			if (cell_is(key, "view") && cell_is(value, views[i]) && !r->ts->viewed)
				r->ts->view = views[i];
	}
	r->ts->viewed = true;
	/* Every table of a result has the losses of the whole. */
	if (!r->t && __builtin_add_overflow(r->ts->lost, lost, &r->ts->lost))
		r->ts->lost = UINT64_MAX;
	return r->name.err;
}

/* What the columns of a header describe. Names are offsets in r->texts until all are there. */
struct shape {
	struct table_key keys[TABLE_KEYS_MAX];
	struct table_value values[TABLE_VALUES_MAX];
	size_t key_name[TABLE_KEYS_MAX], value_name[TABLE_VALUES_MAX], unit[TABLE_VALUES_MAX];
	uint32_t nkeys, nvalues;
};

/* Keeps an unescaped name; a name with a NUL in it is no name. */
static int keep(struct tread *r, struct cell s, size_t *at)
{
	int rc;

	*at = r->texts.len;
	rc = cell_unescape(&r->texts, s);
	if (!rc && memchr(buf_str(&r->texts) + *at, 0, r->texts.len - *at))
		rc = PP_ECORRUPT;
	buf_addc(&r->texts, 0);
	return rc ? rc : r->texts.err;
}

static int key_column(struct tread *r, struct shape *s, struct cell name, uint32_t kind,
		      struct cell param, struct column *c)
{
	struct table_key *k = &s->keys[s->nkeys];

	if (s->nkeys == TABLE_KEYS_MAX || s->nvalues)
		return PP_ECORRUPT;
	*c = (struct column){.role = ROLE_KEY, .i = s->nkeys};
	*k = (struct table_key){.kind = (enum table_key_kind)kind};
	if (k->kind == TABLE_WINDOW && (cell_u64(param, &k->window) || !k->window))
		return PP_ECORRUPT;
	return keep(r, name, &s->key_name[s->nkeys++]);
}

static int value_column(struct tread *r, struct shape *s, struct cell name, struct cell what,
			struct cell param, struct column *c)
{
	struct table_value *v;
	int rc = 0;

	if (cell_is(what, table_stat_name(TABLE_STAT_COUNT))) {
		if (s->nvalues == TABLE_VALUES_MAX)
			return PP_ECORRUPT;
		s->values[s->nvalues] = (struct table_value){.kind = TABLE_COUNT};
		rc = keep(r, name, &s->value_name[s->nvalues]);
		s->unit[s->nvalues] = r->texts.len - 1;
		s->nvalues++;
	}
	if (rc || !s->nvalues)
		return rc;
	v = &s->values[s->nvalues - 1];
	c->i = s->nvalues - 1;
	for (int i = 0; i < TABLE_NSTATS; i++)
		if (cell_is(what, table_stat_name((enum table_stat)i)))
			*c = (struct column){ROLE_STAT, c->i, (enum table_stat)i};
	if (c->role == ROLE_STAT && c->stat == TABLE_STAT_SUM) {
		v->kind = v->kind > TABLE_SUM ? v->kind : TABLE_SUM;
		rc = keep(r, param, &s->unit[c->i]);
	} else if (cell_is(what, "buckets")) {
		v->kind = TABLE_HIST;
		c->role = ROLE_BUCKETS;
	} else if (cell_is(what, "linear")) {
		c->role = ROLE_LINEAR;
		rc = cell_u64(param, &v->step);
		if (!rc && !v->step)
			rc = PP_ECORRUPT;
	}
	return rc;
}

/* The key that tells of which input a row is, unless there is one already. */
static int add_source(struct tread *r, struct shape *s)
{
	static const struct cell name = {TABLE_SOURCE, sizeof(TABLE_SOURCE) - 1};

	r->adds_source = r->ts->by_source;
	for (uint32_t k = 0; k < s->nkeys; k++)
		if (!strcmp(buf_str(&r->texts) + s->key_name[k], TABLE_SOURCE))
			r->adds_source = false;
	if (!r->adds_source)
		return 0;
	if (s->nkeys == TABLE_KEYS_MAX)
		return PP_ELIMIT;
	s->keys[s->nkeys] = (struct table_key){.kind = TABLE_TEXT};
	return keep(r, name, &s->key_name[s->nkeys++]);
}

static int read_columns(struct tread *r, struct shape *s)
{
	int rc = 0;

	r->ncolumns = r->ncells;
	for (uint32_t i = 1; i < r->ncells && !rc; i++) {
		struct cell param = r->cells[i], name = cell_until(&param, ':');
		struct cell what = cell_until(&param, ':');
		uint32_t kind = 0;

		r->columns[i] = (struct column){.role = ROLE_UNKNOWN};
		while (kind <= TABLE_WINDOW &&
		       !cell_is(what, table_key_kind_name((enum table_key_kind)kind)))
			kind++;
		rc = kind <= TABLE_WINDOW ? key_column(r, s, name, kind, param, &r->columns[i])
					  : value_column(r, s, name, what, param, &r->columns[i]);
	}
	return rc ? rc : add_source(r, s);
}

/* Now that r->texts does not move any more. */
static void name_columns(const struct tread *r, struct shape *s)
{
	for (uint32_t k = 0; k < s->nkeys; k++)
		s->keys[k].name = buf_str(&r->texts) + s->key_name[k];
	for (uint32_t v = 0; v < s->nvalues; v++) {
		s->values[v].name = buf_str(&r->texts) + s->value_name[v];
		s->values[v].unit = buf_str(&r->texts) + s->unit[v];
	}
}

static bool same_shape(const struct table *t, const struct shape *s)
{
	if (t->nkeys != s->nkeys || t->nvalues != s->nvalues)
		return false;
	for (uint32_t k = 0; k < s->nkeys; k++)
		if (strcmp(t->keys[k].name, s->keys[k].name) != 0 ||
		    t->keys[k].kind != s->keys[k].kind || t->keys[k].window != s->keys[k].window)
			return false;
	for (uint32_t v = 0; v < s->nvalues; v++)
		if (strcmp(t->values[v].name, s->values[v].name) != 0 ||
		    strcmp(t->values[v].unit, s->values[v].unit) != 0 ||
		    t->values[v].kind != s->values[v].kind ||
		    t->values[v].step != s->values[v].step)
			return false;
	return true;
}

/* Rows that a header announced, and that did not come. */
static void check_rows(struct tread *r)
{
	if (!r->t || r->expected == UINT64_MAX || r->rows == r->expected)
		return;
	diag_warn(r->d, src_name(r->s), -1, "%llu rows of a table that should have %llu",
		  (unsigned long long)r->rows, (unsigned long long)r->expected);
	r->partial = true;
}

static int read_header(struct tread *r, struct cell line)
{
	struct shape s = {0};
	size_t at;
	int rc = split(r, line);

	check_rows(r);
	buf_reset(&r->texts);
	if (!rc && read_first_cell(r, r->cells[0]))
		rc = corrupt(r, "the first cell of its header is malformed");
	r->t = NULL;
	r->rows = 0;
	if (!rc && r->skip)
		return 0;
	if (!rc && (read_columns(r, &s) || !s.nvalues))
		rc = corrupt(r, "its header is malformed");
	if (!rc && keep(r, (struct cell){buf_str(&r->name), r->name.len}, &at))
		rc = corrupt(r, "its name is malformed");
	if (rc)
		return rc;
	name_columns(r, &s);
	r->t = tables_find(r->ts, buf_str(&r->texts) + at, strlen(buf_str(&r->texts) + at));
	if (!r->t)
		rc = tables_add(r->ts, buf_str(&r->texts) + at, s.keys, s.nkeys, s.values,
				s.nvalues, &r->t);
	if (rc || same_shape(r->t, &s)) {
		if (!rc)
			r->t->overlap |= r->overlap;
		if (!rc && __builtin_add_overflow(r->t->folded, r->folded, &r->t->folded))
			r->t->folded = UINT64_MAX;
		return rc;
	}
	diag_error(r->d, src_name(r->s), (int64_t)r->offset,
		   "a table \"%s\" with other columns came before: they cannot be merged",
		   r->t->name);
	return PP_EMISMATCH;
}

/* ---- rows ---- */

static int read_buckets(struct cell s, uint64_t step, struct hist_buckets *b)
{
	while (s.n) {
		struct cell count = cell_until(&s, ' '), low = cell_until(&count, ':');
		hist_int v;
		uint64_t n;
		int32_t bucket;

		if (cell_int(low, INT64_MIN, step ? HIST_SUM_MAX : UINT64_MAX, &v) ||
		    cell_u64(count, &n) || !n)
			return PP_ECORRUPT;
		bucket = step ? hist_linear_bucket(v, step) : hist_bucket(v);
		if ((step ? (hist_int)bucket * step : hist_bucket_name(bucket)) != v)
			return PP_ECORRUPT;
		if (hist_buckets_add(b, bucket, n))
			return PP_ENOMEM;
	}
	return 0;
}

static int read_stat(struct cell s, enum table_stat stat, struct hist *h)
{
	if (stat == TABLE_STAT_COUNT)
		return cell_u64(s, &h->count);
	if (!h->count)
		return s.n ? PP_ECORRUPT : 0;
	switch (stat) {
	case TABLE_STAT_SUM: return cell_int(s, -HIST_SUM_MAX, HIST_SUM_MAX, &h->sum);
	case TABLE_STAT_MIN: return cell_int(s, INT64_MIN, UINT64_MAX, &h->min);
	case TABLE_STAT_MAX: return cell_int(s, INT64_MIN, UINT64_MAX, &h->max);
	case TABLE_STAT_MAX_TIME: return cell_u64(s, &h->max_time);
	default: return 0; /* follows from the others */
	}
}

/* The counts of buckets add up to the whole. */
static bool adds_up(const struct hist_buckets *b, uint64_t count)
{
	uint64_t sum = 0, n;

	for (int32_t at = INT32_MIN; hist_next(b, &at, &n);)
		if (__builtin_add_overflow(sum, n, &sum))
			return count == UINT64_MAX;
	return sum == count;
}

static bool is_sound(const struct hist *h, const struct table_value *v)
{
	if (!h->count || v->kind == TABLE_COUNT)
		return !h->fine.n && !h->linear.n;
	if (h->min > h->max)
		return false;
	if (v->kind == TABLE_SUM)
		return true;
	return adds_up(&h->fine, h->count) && h->fine.low == hist_bucket(h->min) &&
	       h->fine.high == hist_bucket(h->max) && (!v->step || adds_up(&h->linear, h->count));
}

static int read_key(struct tread *r, uint32_t k, struct cell s, uint64_t *key)
{
	hist_int v = 0;
	int rc = 0;

	switch (r->t->keys[k].kind) {
	case TABLE_TEXT:
		buf_reset(&r->key);
		rc = cell_unescape(&r->key, s);
		return rc ? rc : table_text(r->t, buf_str(&r->key), r->key.len, key);
	case TABLE_SIGNED: rc = cell_int(s, INT64_MIN, INT64_MAX, &v); break;
	case TABLE_NUMBER:
	case TABLE_HEX:
	case TABLE_WINDOW: rc = cell_int(s, 0, UINT64_MAX, &v); break;
	}
	/* In two steps: not every wide_int below zero becomes a number without a sign. */
	*key = v < 0 ? (uint64_t)(int64_t)v : (uint64_t)v;
	return rc;
}

static int add_source_key(struct tread *r, uint64_t *key)
{
	const char *name = r->ts->source ? r->ts->source : src_name(r->s);

	return table_text(r->t, name, strlen(name), key);
}

/* The row that a line's keys name. */
static int find_row(struct tread *r, uint32_t *row)
{
	uint64_t key[TABLE_KEYS_MAX] = {0};
	uint32_t others = 0;
	int rc = 0;

	for (uint32_t i = 1; i < r->ncolumns && !rc; i++) {
		if (r->columns[i].role != ROLE_KEY)
			continue;
		if (cell_is(r->cells[i], TABLE_OTHER))
			others++;
		else
			rc = read_key(r, r->columns[i].i, r->cells[i], &key[r->columns[i].i]);
	}
	if (!rc && !others && r->adds_source)
		rc = add_source_key(r, &key[r->t->nkeys - 1]);
	if (rc || !others)
		return rc ? rc : table_row(r->t, key, row);
	if (others != r->t->nkeys - r->adds_source)
		return PP_ECORRUPT;
	rc = table_make_other(r->t);
	*row = r->t->other;
	return rc;
}

static int read_cells(struct tread *r, struct hist *h)
{
	int rc = 0;

	for (uint32_t i = 1; i < r->ncolumns && !rc; i++) {
		const struct column *c = &r->columns[i];
		uint64_t step = r->t->values[c->i < r->t->nvalues ? c->i : 0].step;

		switch (c->role) {
		case ROLE_STAT: rc = read_stat(r->cells[i], c->stat, &h[c->i]); break;
		case ROLE_BUCKETS: rc = read_buckets(r->cells[i], 0, &h[c->i].fine); break;
		case ROLE_LINEAR:
			h[c->i].step = step;
			rc = read_buckets(r->cells[i], step, &h[c->i].linear);
			break;
		case ROLE_UNKNOWN:
		case ROLE_KEY: break;
		}
	}
	for (uint32_t v = 0; v < r->t->nvalues && !rc; v++)
		if (!is_sound(&h[v], &r->t->values[v]))
			rc = PP_ECORRUPT;
	return rc;
}

static int read_row(struct tread *r, struct cell line)
{
	struct hist h[TABLE_VALUES_MAX] = {0};
	uint32_t row;
	int rc = split(r, line);

	if (!rc && (r->ncells != r->ncolumns || r->cells[0].n != r->name.len ||
		    memcmp(r->cells[0].p, buf_str(&r->name), r->name.len) != 0))
		rc = PP_ECORRUPT;
	if (!rc)
		rc = read_cells(r, h);
	if (!rc)
		rc = find_row(r, &row);
	for (uint32_t v = 0; v < r->t->nvalues && !rc; v++) {
		struct hist *cell = table_cell(r->t, row, v);
		size_t before = hist_bytes(cell);

		rc = hist_merge(cell, &h[v]);
		table_account(r->t, cell, before);
	}
	for (uint32_t v = 0; v < TABLE_VALUES_MAX; v++)
		hist_release(&h[v]);
	if (rc == PP_ECORRUPT) {
		corrupt(r, "a malformed row is left out");
		r->partial = true;
		return 0;
	}
	r->rows++;
	return rc;
}

/* ---- lines ---- */

static int read_line(struct tread *r, struct cell line)
{
	if (tables_is(line.p, line.n))
		return read_header(r, line);
	if (r->skip || (!r->t && !line.n))
		return 0;
	if (!r->t)
		return corrupt(r, "no header comes first");
	return read_row(r, line);
}

/* Takes the whole lines that were read, and moves the rest to the front. */
static int take_lines(struct tread *r)
{
	struct cell rest = {buf_str(&r->data), r->data.len};
	int rc = 0;

	while (!rc && memchr(rest.p, '\n', rest.n)) {
		struct cell line = cell_until(&rest, '\n');
		size_t n = line.n;

		/* Where an editor of Windows has been. */
		if (n && line.p[n - 1] == '\r')
			line.n--;
		rc = read_line(r, line);
		r->offset += n + 1;
	}
	if (rest.n > TABLE_LINE_MAX) {
		corrupt(r, "a line is too long");
		return PP_ELIMIT;
	}
	memmove(r->data.data, rest.p, rest.n);
	r->data.len = rest.n;
	return rc;
}

static int read_all(struct tread *r)
{
	size_t got = 1;
	int rc = 0;

	while (!rc && got) {
		rc = buf_reserve(&r->data, BLOCK);
		if (!rc)
			rc = src_read(r->s, r->data.data + r->data.len, BLOCK, &got);
		if (rc == PP_ECUT) {
			/* Packed, and cut off: that was reported. */
			r->partial = true;
			rc = 0;
		}
		if (rc) {
			diag_error(r->d, src_name(r->s), -1, "cannot read: %s", pp_strerror(rc));
			return rc;
		}
		r->data.len += got;
		diag_progress(r->d, src_name(r->s), src_tell(r->s), src_size(r->s));
		rc = got ? take_lines(r) : 0;
	}
	if (rc)
		return rc;
	if (r->data.len) {
		diag_warn(r->d, src_name(r->s), (int64_t)r->offset,
			  "the last line has no newline: the table is cut off");
		r->partial = true;
	}
	if (r->skip) {
		diag_warn(r->d, src_name(r->s), (int64_t)r->offset,
			  "the sum of the periods is missing: the table is cut off");
		r->partial = true;
	}
	if (!r->t && !r->partial) {
		diag_error(r->d, src_name(r->s), -1, "is not a table of phist or plat");
		return PP_EUNSUPPORTED;
	}
	check_rows(r);
	return 0;
}

int tables_read(struct tables *ts, struct src *s, struct diag *d)
{
	struct tread *r = calloc(1, sizeof(*r));
	int rc = PP_ENOMEM;

	if (r) {
		*r = (struct tread){.ts = ts, .s = s, .d = d};
		rc = read_all(r);
		if (!rc && r->partial)
			rc = PP_ECUT;
		ts->partial |= r->partial;
		buf_release(&r->data);
		buf_release(&r->name);
		buf_release(&r->texts);
		buf_release(&r->key);
		free(r);
	}
	return rc;
}
