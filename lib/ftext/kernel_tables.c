/*
 * Tables that the kernel sums up: trace_stat/function*, of the function profiler, and the deepest
 * stack. A row is a sample with its columns as fields, and the hits, or the bytes of a function's
 * frame, as its period; times are in ns.
 *
 *	  Function                               Hit    Time            Avg             s^2
 *	  --------                               ---    ----            ---             ---
 *	  vfs_read                                17    44411.21 us     2612.424 us     17901392 us
 *
 *	        Depth    Size   Location    (19 entries)
 *	        -----    ----   --------
 *	  0)     3320      64   rcu_segcblist_enqueue+0x9/0x50
 */
#include "ftext/parts.h"

#include "base/err.h"

#define COLUMNS	 8
#define ROWS_MAX FTEXT_DEPTH_MAX

struct words {
	struct ps_str v[COLUMNS];
	unsigned n;
};

static void split(const char *line, size_t len, struct words *w)
{
	const char *p = line, *end = line + len;

	for (w->n = 0; w->n < COLUMNS; w->n++) {
		while (p < end && (*p == ' ' || *p == '\t'))
			p++;
		if (p == end)
			return;
		w->v[w->n].p = p;
		while (p < end && *p != ' ' && *p != '\t')
			p++;
		w->v[w->n].len = (uint32_t)(p - w->v[w->n].p);
	}
}

static bool is_words(const struct words *w, const char *a, const char *b, const char *c)
{
	return w->n >= 2 && ftext_is(&w->v[0], a) && ftext_is(&w->v[1], b) &&
	       (!c || (w->n > 2 && ftext_is(&w->v[2], c)));
}

int ftext_table_head(const char *line, size_t len)
{
	struct words w;

	split(line, len, &w);
	if (is_words(&w, "Function", "Hit", NULL))
		return FTEXT_COUNTS;
	return is_words(&w, "Depth", "Size", "Location") ? FTEXT_DEEPEST : FTEXT_NO_TABLE;
}

static bool number(const struct ps_str *s, uint64_t *v)
{
	bool hex;

	return s->len && ftext_digit(*s->p) && ftext_number(s, false, v, &hex) && !hex;
}

/* "44411.21", a number of us, as ns. */
static bool time_of(const struct ps_str *s, uint64_t *ns)
{
	uint64_t scale = 1000, digit;

	*ns = 0;
	for (uint32_t i = 0, dot = 0; i < s->len; i++) {
		if (s->p[i] == '.' && !dot++)
			continue;
		if (!ftext_digit(s->p[i]))
			return false;
		digit = (uint64_t)(s->p[i] - '0');
		if (dot) {
			scale /= 10;
			*ns += digit * scale;
		} else if (__builtin_mul_overflow(*ns, 10, ns) ||
			   __builtin_add_overflow(*ns, digit * 1000, ns)) {
			return false;
		}
	}
	return s->len;
}

/* Begins a row; what follows adds its fields. */
static struct ftext_info *begin(struct ftext *t, const char *name, const char *unit)
{
	struct ftext_info *info = &t->info;

	info->n = 0;
	info->prefix = "";
	info->is_hex = info->stack = false;
	info->func = info->parent = (struct ps_str){0};
	info->system = ps_str("ftrace", 6);
	info->name = ps_str(name, strlen(name));
	info->unit = unit;
	return info;
}

static int end(struct ftext *t, const char *line, size_t len, uint64_t period)
{
	struct ftext_head h = {.cpu = PS_NONE, .pid = PS_NONE, .tgid = PS_NONE};
	int rc = ftext_hold(t, &h, &t->info, line, len);

	t->info.unit = NULL;
	t->held.s.period = period;
	t->held.s.fields |= PS_HAS(period);
	t->nframes = 0;
	return rc;
}

/* Without the function graph tracer there are hits only. */
static int counts(struct ftext *t, const char *line, size_t len)
{
	static const char *const names[] = {"time", "avg", "s2"};
	struct ftext_info *info;
	struct words w;
	uint64_t hits, ns;
	int rc;

	split(line, len, &w);
	if (w.n < 2 || !number(&w.v[1], &hits))
		return PP_END;
	rc = ftext_release(t);
	if (rc)
		return rc;
	info = begin(t, "function_stat", "hits");
	ftext_add_text(info, "func", w.v[0]);
	ftext_add_number(info, "hits", hits);
	for (unsigned i = 0; i < 3 && 3 + 2 * i < w.n && ftext_is(&w.v[3 + 2 * i], "us"); i++)
		if (time_of(&w.v[2 + 2 * i], &ns))
			ftext_add_number(info, names[i], i < 2 ? ns : ns / 1000);
	t->nframes = 0;
	return end(t, line, len, hits);
}

/* "  0)     3320      64   rcu_segcblist_enqueue+0x9/0x50" */
static bool deepest_row(const char *line, size_t len, struct words *w, uint64_t *depth,
			uint64_t *size)
{
	const char *plus;

	split(line, len, w);
	if (w->n < 4 || w->v[0].p[w->v[0].len - 1] != ')' || !number(&w->v[1], depth) ||
	    !number(&w->v[2], size))
		return false;
	plus = memchr(w->v[3].p, '+', w->v[3].len);
	w->v[3].len = plus ? (uint32_t)(plus - w->v[3].p) : w->v[3].len;
	return w->v[3].len;
}

static int deepest(struct ftext *t, const char *line, size_t len)
{
	uint64_t depth, size;
	struct words w;

	if (!deepest_row(line, len, &w, &depth, &size) || t->table.n >= ROWS_MAX)
		return PP_END;
	t->table.n++;
	buf_add(&t->table.rows, line, len);
	buf_addc(&t->table.rows, '\n');
	return t->table.rows.err;
}

int ftext_table(struct ftext *t, const char *line, size_t len)
{
	return t->table.kind == FTEXT_COUNTS ? counts(t, line, len) : deepest(t, line, len);
}

/* A row with the functions above it as its stack. */
static int put_deepest(struct ftext *t, const char *rows, const char *last)
{
	const char *nl = memchr(rows, '\n', (size_t)(last - rows));
	size_t len = (size_t)(nl - rows);
	uint64_t depth, size, d, s;
	struct ftext_info *info;
	struct words w, caller;
	int rc = ftext_release(t);

	t->nframes = 0;
	for (const char *p = rows; p < last && !rc; p = nl + 1) {
		nl = memchr(p, '\n', (size_t)(last - p));
		if (deepest_row(p, (size_t)(nl - p), &caller, &d, &s))
			rc = ftext_push(t, &caller.v[3]);
	}
	if (rc || !deepest_row(rows, len, &w, &depth, &size))
		return rc;
	info = begin(t, "stack_trace", "bytes");
	ftext_add_text(info, "func", w.v[3]);
	ftext_add_number(info, "size", size);
	ftext_add_number(info, "depth", depth);
	return end(t, rows, len, size);
}

int ftext_table_end(struct ftext *t)
{
	const char *p = buf_str(&t->table.rows), *last = p + t->table.rows.len;
	int rc = t->table.rows.err;

	for (; p < last && !rc; p = (const char *)memchr(p, '\n', (size_t)(last - p)) + 1)
		rc = put_deepest(t, p, last);
	buf_reset(&t->table.rows);
	t->table.n = 0;
	return rc;
}
