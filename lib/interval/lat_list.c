/* plat --slower: a line for each interval, as text, TSV or JSON. */
#include "interval/lat_out.h"

#include "base/err.h"
#include "table/unit.h"

#include <inttypes.h>
#include <stdio.h>
#include <unistd.h>

/*
 * The columns: C(NAME, name, width in text). Texts are set to the left there; without a width, the
 * column is in the other forms only.
 */
#define COLUMNS(C) \
	C(TIME, "time", 16) \
	C(DURATION, "duration", 10) \
	C(KIND, "kind", 8) \
	C(COMM, "comm", 16) \
	C(PID, "pid", 0) \
	C(TID, "tid", 7) \
	C(CPU, "cpu", 4) \
	C(END_CPU, "end_cpu", 7) \
	C(NAME, "name", 16) \
	C(STATE, "state", 0) \
	C(CAUSE, "cause", 0) \
	C(WAKER, "waker", 16) \
	C(WAKER_TID, "waker_tid", 9) \
	C(KEY, "key", 0)
enum column {
#define C(name, text, width) COLUMN_##name,
	COLUMNS(C)
#undef C
		NCOLUMNS
};
static const struct {
	const char *name;
	uint32_t width;
} columns[] = {
#define C(name, text, width) {text, width},
	COLUMNS(C)
#undef C
};

_Static_assert(NCOLUMNS + 3 + LAT_BY_MAX < LAT_COLUMNS_MAX, "all columns have room");

struct value {
	const char *s; /* NULL: a number */
	size_t n;
	uint64_t number;
	bool none, is_signed, is_address;
};

int lat_list_open(struct lat_list *s, const struct plat_opts *o)
{
	*s = (struct lat_list){.form = o->out.form,
			       .slower = o->slower,
			       .stacks = o->lat.stacks,
			       .wide = o->out.wide};
	if (!s->wide)
		s->width = table_terminal_width(STDOUT_FILENO);
	return out_init(&s->out, STDOUT_FILENO);
}

static struct value text(const struct lat *l, uint32_t id)
{
	struct value v = {0};

	v.s = lat_name(l, id, &v.n);
	v.none = !v.n;
	return v;
}

static struct value number(uint64_t n, bool none)
{
	return (struct value){.number = n, .none = none};
}

static struct value get(struct lat_list *s, const struct lat *l, const struct interval *iv,
			int column)
{
	struct value v = {0};

	switch ((enum column)column) {
	case COLUMN_TIME: return number(iv->start.time, false);
	case COLUMN_DURATION: return number(iv->dur, false);
	case COLUMN_KIND:
		lat_account(l, iv->kind, &v.s);
		v.n = strlen(v.s);
		return v;
	case COLUMN_COMM: return text(l, iv->who.comm);
	case COLUMN_PID: return number(iv->who.pid, iv->who.pid == PS_NONE);
	case COLUMN_TID: return number(iv->who.tid, iv->who.tid == PS_NONE);
	case COLUMN_CPU: return number(iv->start.cpu, iv->start.cpu == PS_NONE);
	case COLUMN_END_CPU: return number(iv->end.cpu, iv->end.cpu == PS_NONE);
	case COLUMN_NAME: return text(l, iv->name);
	case COLUMN_STATE: return text(l, iv->state);
	case COLUMN_CAUSE: return text(l, iv->cause);
	case COLUMN_WAKER: return text(l, iv->waker.comm);
	case COLUMN_WAKER_TID: return number(iv->waker.tid, iv->waker.tid == PS_NONE);
	case COLUMN_KEY:
		if (!iv->keys && lat_key_is_number(l, iv))
			return number(iv->key, false);
		buf_reset(&s->key);
		lat_key(l, iv, &s->key);
		v.s = buf_str(&s->key);
		v.n = s->key.len;
		return v;
	case NCOLUMNS: break;
	}
	return v;
}

/* The value of expression i of --by. */
static struct value by_value(const struct lat *l, const struct interval *iv, uint32_t i)
{
	struct value v = {.none = !(iv->set & (1u << i))};

	if (v.none)
		return v;
	if (iv->numbers & (1u << i))
		return (struct value){.number = iv->values[i],
				      .is_signed = true,
				      .is_address = lat_by_is_address(l, i)};
	return text(l, (uint32_t)iv->values[i]);
}

static void number_add(struct buf *b, const struct value *v)
{
	if (v->is_address)
		buf_addf(b, "0x%" PRIx64, v->number);
	else if (v->is_signed)
		buf_addf(b, "%" PRId64, (int64_t)v->number);
	else
		buf_addf(b, "%" PRIu64, v->number);
}

/* ---- text ---- */

/*
 * Adds a cell of a column of texts, and the gap after it. What is longer than its column is cut,
 * unless nothing follows that it would push out of place.
 */
static void put_cell(struct lat_list *s, const char *text, size_t n, uint32_t width, bool last)
{
	uint32_t room = last || s->wide ? 0 : width, used;
	size_t from = s->line.len;

	buf_add_cut(&s->line, text, n, room, TEXT_CUT);
	used = text_width(buf_str(&s->line) + from, s->line.len - from);
	buf_fill(&s->line, ' ', (used < width ? width - used : 0) + 1);
}

/* The cell of a column, in s->cell. Whether it is a number, whose blanks are in the line. */
static bool text_value(struct lat_list *s, const struct lat *l, const struct interval *iv, int c)
{
	struct buf *to = &s->cell;
	struct value v = get(s, l, iv, c);

	/* What the scheduler's kinds are called is their thread's name: the state says more. */
	if (c == COLUMN_NAME && (iv->state || iv->cause))
		v = text(l, iv->state ? iv->state : iv->cause);
	buf_reset(to);
	if (v.none)
		buf_addc(to, '-');
	else if (c == COLUMN_TIME)
		buf_addf(to, "%" PRIu64 ".%09" PRIu64, v.number / 1000000000,
			 v.number % 1000000000);
	else if (c == COLUMN_DURATION)
		unit_add(to, (hist_int)v.number, lat_kind_unit(l, iv->kind));
	else if (v.s)
		buf_add_safe(to, v.s, v.n);
	else
		buf_addf(to, "%" PRIu64, v.number);
	/* An event's name alone says of none of its intervals which one it is. */
	if (c == COLUMN_NAME && iv->keys) {
		v = get(s, l, iv, COLUMN_KEY);
		buf_addc(to, ' ');
		buf_add_safe(to, v.s, v.n);
	}
	if (v.s || v.none)
		return false;
	if (to->len < columns[c].width)
		buf_fill(&s->line, ' ', columns[c].width - to->len);
	return true;
}

static void text_stack(struct buf *b, const struct lat *l, const char *what, uint32_t id)
{
	size_t n;
	const char *s = lat_name(l, id, &n);

	if (!n)
		return;
	buf_addf(b, "\t%s: ", what);
	buf_add_safe(b, s, n);
	buf_addc(b, '\n');
}

static void end_line(struct buf *b)
{
	while (b->len && b->data[b->len - 1] == ' ')
		b->len--;
	buf_addc(b, '\n');
}

/* Only the scheduler's kinds know a waker. */
static bool any_waker(const struct lat *l)
{
	return lat_kind_on(l, SCHED_RUNQ) || lat_kind_on(l, SCHED_OFFCPU) ||
	       lat_kind_on(l, SCHED_BLOCKED);
}

/*
 * What --by names comes after the others: the columns that text has not by itself, and the
 * expressions. None can be so wide that it were worth its width: they are at least BY_WIDTH.
 */
#define BY_WIDTH   12
#define TEXT_WIDTH 24 /* of what may be a text */
static const struct {
	enum column column;
	enum lat_term term;
	uint32_t width;
} hidden[] = {
	{COLUMN_PID, LAT_TERM_PID, BY_WIDTH},
	{COLUMN_STATE, LAT_TERM_STATE, BY_WIDTH},
	{COLUMN_CAUSE, LAT_TERM_CAUSE, BY_WIDTH},
	{COLUMN_KEY, LAT_TERM_KEY, TEXT_WIDTH},
};
#define NHIDDEN ((uint32_t)(sizeof(hidden) / sizeof(hidden[0])))

/* The next of them from i on; UINT32_MAX: there is none. From NHIDDEN on they are expressions. */
static uint32_t next_by(const struct lat *l, uint32_t i)
{
	for (; i < NHIDDEN; i++)
		if (lat_by_term(l, hidden[i].term))
			return i;
	return lat_by_text(l, i - NHIDDEN).p ? i : UINT32_MAX;
}

static void by_cell(struct lat_list *s, const struct lat *l, uint32_t i)
{
	put_cell(s, buf_str(&s->cell), s->cell.len, i < NHIDDEN ? hidden[i].width : TEXT_WIDTH,
		 next_by(l, i + 1) == UINT32_MAX);
}

static void by_titles(struct lat_list *s, const struct lat *l)
{
	for (uint32_t i = 0; (i = next_by(l, i)) != UINT32_MAX; i++) {
		struct ps_str t;

		buf_reset(&s->cell);
		if (i < NHIDDEN) {
			buf_adds(&s->cell, columns[hidden[i].column].name);
		} else {
			t = lat_by_text(l, i - NHIDDEN);
			buf_add_safe(&s->cell, t.p, t.len);
		}
		by_cell(s, l, i);
	}
}

static void by_values(struct lat_list *s, const struct lat *l, const struct interval *iv)
{
	for (uint32_t i = 0; (i = next_by(l, i)) != UINT32_MAX; i++) {
		struct value v = i < NHIDDEN ? get(s, l, iv, (int)hidden[i].column)
					     : by_value(l, iv, i - NHIDDEN);

		buf_reset(&s->cell);
		if (v.none)
			buf_addc(&s->cell, '-');
		else if (v.s)
			buf_add_safe(&s->cell, v.s, v.n);
		else
			number_add(&s->cell, &v);
		by_cell(s, l, i);
	}
}

static bool is_shown(const struct lat_list *s, const struct lat *l, int c)
{
	return columns[c].width && !(s->hidden & 1u << c) && (c < COLUMN_WAKER || any_waker(l));
}

/* Of a narrow terminal, the columns of least use are not shown. */
static void fit(struct lat_list *s, const struct lat *l)
{
	static const enum column least[] = {COLUMN_END_CPU, COLUMN_WAKER_TID, COLUMN_KIND,
					    COLUMN_WAKER,   COLUMN_CPU,	      COLUMN_TID};
	uint32_t width = 0;

	for (int c = 0; c < NCOLUMNS; c++)
		width += is_shown(s, l, c) ? columns[c].width + 1 : 0;
	for (size_t i = 0; i < sizeof(least) / sizeof(least[0]) && width > s->width + 1; i++) {
		width -= is_shown(s, l, least[i]) ? columns[least[i]].width + 1 : 0;
		s->hidden |= 1u << least[i];
	}
}

/* Of the scheduler's kinds, a name is that of a thread. */
static uint32_t width_of(const struct lat *l, int c)
{
	return c == COLUMN_NAME && !any_waker(l) ? TEXT_WIDTH : columns[c].width;
}

/* Whether a column's text is whole, whatever its width: a number, or where nothing follows it. */
static bool is_whole(const struct lat *l, int c)
{
	if (c != COLUMN_COMM && c != COLUMN_NAME && c != COLUMN_WAKER)
		return true;
	return !any_waker(l) && c == COLUMN_NAME && next_by(l, 0) == UINT32_MAX;
}

static void text_title(struct lat_list *s, const struct lat *l)
{
	if (s->width)
		fit(s, l);
	for (int c = 0; c < NCOLUMNS; c++) {
		bool right = c == COLUMN_TIME || c == COLUMN_DURATION || c == COLUMN_TID ||
			     c == COLUMN_CPU || c == COLUMN_END_CPU || c == COLUMN_WAKER_TID;

		if (!is_shown(s, l, c))
			continue;
		if (right)
			buf_fill(&s->line, ' ', columns[c].width - strlen(columns[c].name));
		put_cell(s, columns[c].name, strlen(columns[c].name), right ? 0 : width_of(l, c),
			 true);
	}
	by_titles(s, l);
	end_line(&s->line);
}

static void text_line(struct lat_list *s, const struct lat *l, const struct interval *iv)
{
	if (!s->titled)
		text_title(s, l);
	for (int c = 0; c < NCOLUMNS; c++) {
		bool number = false;

		if (!is_shown(s, l, c))
			continue;
		buf_reset(&s->cell);
		if (c < COLUMN_WAKER || iv->wake.time)
			number = text_value(s, l, iv, c);
		put_cell(s, buf_str(&s->cell), s->cell.len, number ? 0 : width_of(l, c),
			 is_whole(l, c));
	}
	by_values(s, l, iv);
	end_line(&s->line);
	if (s->stacks) {
		text_stack(&s->line, l, "start", iv->start.text);
		text_stack(&s->line, l, "end", iv->end.text);
		text_stack(&s->line, l, "waker", iv->wake.text);
	}
}

/* ---- the other forms ---- */

/* The columns: the line's own, those of stacks, those of --by. 0 or PP_ENOMEM. */
static int make_columns(struct lat_list *s, const struct lat *l)
{
	static const char *const stacks[] = {"stack", "end_stack", "waker_stack"};
	struct record_column *c = s->columns;
	struct ps_str t;

	for (int i = 0; i < NCOLUMNS; i++)
		c++->name = columns[i].name;
	for (int i = 0; i < 3 && s->stacks; i++)
		c++->name = stacks[i];
	for (uint32_t i = 0; (t = lat_by_text(l, i)).p; i++) {
		c->name = arena_dup(&s->names, t.p, t.len);
		if (!c++->name)
			return PP_ENOMEM;
	}
	return 0;
}

static void add_value(struct records *r, struct value v)
{
	if (v.none)
		record_none(r);
	else if (v.s)
		record_text(r, v.s, v.n);
	else if (v.is_address)
		record_hex(r, v.number);
	else if (v.is_signed)
		record_number(r, "%" PRId64, (int64_t)v.number);
	else
		record_u64(r, v.number);
}

static int add_record(struct lat_list *s, const struct lat *l, const struct interval *iv)
{
	struct records r = {.columns = s->columns, .form = s->form, .b = &s->line};
	const uint32_t stacks[] = {iv->start.text, iv->end.text, iv->wake.text};
	int rc = s->titled ? 0 : make_columns(s, l);

	if (rc)
		return rc;
	if (!s->titled)
		records_titles(&r, columns[0].name);
	for (int c = 0; c < NCOLUMNS; c++)
		add_value(&r, get(s, l, iv, c));
	for (int i = 0; i < 3 && s->stacks; i++)
		add_value(&r, text(l, stacks[i]));
	for (uint32_t i = 0; lat_by_text(l, i).p; i++)
		add_value(&r, by_value(l, iv, i));
	record_end(&r);
	return 0;
}

static void add_shorter(struct lat_list *s, const char *unit, uint64_t dur)
{
	if (!s->shorter++)
		s->unit = unit;
	if (dur > s->longest && !strcmp(unit, s->unit))
		s->longest = dur;
}

/* A number with commas between the thousands. */
static void add_count(struct buf *b, uint64_t n)
{
	if (n >= 1000) {
		add_count(b, n / 1000);
		buf_addc(b, ',');
	}
	buf_add_u64(b, n % 1000, n >= 1000 ? 3 : 0, '0');
}

bool lat_list_none(const struct lat_list *s, struct buf *b)
{
	if (!s->shorter)
		return false;
	buf_adds(b, "none of ");
	add_count(b, s->shorter);
	buf_adds(b, " was longer than ");
	unit_add_short(b, (double)s->slower, s->unit);
	buf_adds(b, "; the longest ");
	unit_add(b, (hist_int)s->longest, s->unit);
	return true;
}

int lat_list_add(void *ctx, const struct lat *l, const struct interval *iv)
{
	struct lat_list *s = ctx;
	int rc = 0;

	if (iv->dur < s->slower) {
		add_shorter(s, lat_kind_unit(l, iv->kind), iv->dur);
		return 0;
	}
	buf_reset(&s->line);
	if (s->form == TABLE_FORM_TEXT)
		text_line(s, l, iv);
	else
		rc = add_record(s, l, iv);
	s->titled = true;
	s->n++;
	if (rc || s->line.err || s->cell.err || s->key.err)
		return PP_ENOMEM;
	return out_add(&s->out, s->line.data, s->line.len);
}

int lat_list_close(struct lat_list *s)
{
	buf_release(&s->line);
	buf_release(&s->cell);
	buf_release(&s->key);
	arena_release(&s->names);
	return out_close(&s->out);
}
