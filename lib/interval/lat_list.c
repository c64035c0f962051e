/* plat --slower: a line for each interval, as text, TSV or JSON. */
#include "interval/lat_out.h"

#include "base/err.h"
#include "table/unit.h"

#include <inttypes.h>
#include <stdio.h>
#include <unistd.h>

/*
 * The columns: C(NAME, name, width in text). Text has numbers on the right; it does not have
 * columns without a width, unless --by names them.
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
	C(KEY, "key", 0) \
	C(STACK, "stack", 0) \
	C(END_STACK, "end_stack", 0) \
	C(WAKER_STACK, "waker_stack", 0)
enum column {
#define C(name, text, width) COLUMN_##name,
	COLUMNS(C)
#undef C
		COLUMN_BY /* and those after it: the expressions of --by */
};
static const struct {
	const char *name;
	uint32_t width;
} columns[] = {
#define C(name, text, width) {text, width},
	COLUMNS(C)
#undef C
};

_Static_assert(COLUMN_BY + LAT_BY_MAX < LAT_COLUMNS_MAX, "all columns have room");

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

/* What an interval has in a column. */
static struct value get(struct lat_list *s, const struct lat *l, const struct interval *iv,
			uint32_t column)
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
	case COLUMN_STACK: return text(l, iv->start.text);
	case COLUMN_END_STACK: return text(l, iv->end.text);
	case COLUMN_WAKER_STACK: return text(l, iv->wake.text);
	case COLUMN_BY: break;
	}
	return by_value(l, iv, column - COLUMN_BY);
}

/* ---- columns ---- */

#define BY_WIDTH   12 /* of what --by names: none can be so wide that it were worth its width */
#define TEXT_WIDTH 24 /* of what may be a text */

/* A column of text is `width` wide; texts are cut to that. */
static void add_column(struct lat_list *s, uint32_t what, const char *name, uint32_t width)
{
	bool texts = what == COLUMN_COMM || what == COLUMN_NAME || what == COLUMN_WAKER ||
		     width == BY_WIDTH || width == TEXT_WIDTH;

	s->columns[s->ncolumns] = (struct record_column){.name = name,
							 .gap = 1,
							 .width = width,
							 .right = !texts && what != COLUMN_KIND,
							 .most = texts && !s->wide ? width : 0};
	s->what[s->ncolumns++] = (uint8_t)what;
}

/* Of a narrow terminal, the columns of least use are not shown. */
static void fit(struct lat_list *s)
{
	static const enum column least[] = {COLUMN_END_CPU, COLUMN_WAKER_TID, COLUMN_KIND,
					    COLUMN_WAKER,   COLUMN_CPU,	      COLUMN_TID};
	uint32_t width = 0;

	for (uint32_t i = 0; i < s->ncolumns; i++)
		width += s->columns[i].width + 1;
	for (size_t k = 0; k < sizeof(least) / sizeof(least[0]); k++)
		for (uint32_t i = 0; i < s->ncolumns && width > s->width + 1; i++) {
			if (s->what[i] != least[k])
				continue;
			s->columns[i].hidden = true;
			width -= s->columns[i].width + 1;
		}
	for (uint32_t i = 0; i < s->ncolumns; i++)
		s->hidden |= s->columns[i].hidden;
}

/* The columns of text. What --by names comes after the others: also those it has not by itself. */
static void text_columns(struct lat_list *s, const struct lat *l)
{
	static const struct {
		enum column column;
		enum lat_term term;
		uint32_t width;
	} by[] = {
		{COLUMN_PID, LAT_TERM_PID, BY_WIDTH},
		{COLUMN_STATE, LAT_TERM_STATE, BY_WIDTH},
		{COLUMN_CAUSE, LAT_TERM_CAUSE, BY_WIDTH},
		{COLUMN_KEY, LAT_TERM_KEY, TEXT_WIDTH},
	};
	/* Only the scheduler's kinds know a waker; their names are those of threads. */
	bool sched = lat_kind_on(l, SCHED_RUNQ) || lat_kind_on(l, SCHED_OFFCPU) ||
		     lat_kind_on(l, SCHED_BLOCKED);

	for (uint32_t c = 0; c < COLUMN_BY; c++)
		if (columns[c].width && (c < COLUMN_WAKER || sched))
			add_column(s, c, columns[c].name,
				   c == COLUMN_NAME && !sched ? TEXT_WIDTH : columns[c].width);
	if (s->width)
		fit(s);
	for (size_t i = 0; i < sizeof(by) / sizeof(by[0]); i++)
		if (lat_by_term(l, by[i].term))
			add_column(s, by[i].column, columns[by[i].column].name, by[i].width);
}

/* The columns, and their titles. 0 or PP_ENOMEM. */
static int make_columns(struct lat_list *s, const struct lat *l)
{
	bool people = s->form == TABLE_FORM_TEXT;
	struct ps_str t;

	if (people)
		text_columns(s, l);
	for (uint32_t c = 0; c < COLUMN_BY && !people; c++)
		if (c < COLUMN_STACK || s->stacks)
			add_column(s, c, columns[c].name, 0);
	for (uint32_t i = 0; (t = lat_by_text(l, i)).p; i++) {
		const char *name = arena_dup(&s->names, t.p, t.len);

		if (!name)
			return PP_ENOMEM;
		add_column(s, COLUMN_BY + i, name, TEXT_WIDTH);
	}
	/* Nothing follows the last that it would push out of place. */
	s->columns[s->ncolumns - 1].most = 0;
	s->to = (struct records){
		.columns = s->columns, .form = s->form, .b = &s->line, .cut = TEXT_CUT};
	records_titles(&s->to, columns[0].name);
	for (uint32_t i = 0; i < s->ncolumns && people; i++)
		record_title(&s->to, s->columns[i].name);
	if (people)
		record_end(&s->to);
	return 0;
}

/* ---- lines ---- */

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

/* What the scheduler's kinds are called is their thread's name: the state says more. */
static void add_name(struct lat_list *s, const struct lat *l, const struct interval *iv)
{
	struct value v = text(l, iv->state ? iv->state : iv->cause ? iv->cause : iv->name);
	struct buf *to = &s->cell;

	buf_reset(to);
	buf_add(to, v.none ? "-" : v.s, v.none ? 1 : v.n);
	/* An event's name alone says of none of its intervals which one it is. */
	if (iv->keys) {
		v = get(s, l, iv, COLUMN_KEY);
		buf_addc(to, ' ');
		buf_add(to, v.s, v.n);
	}
	record_text(&s->to, buf_str(to), to->len);
}

static void add_cell(struct lat_list *s, const struct lat *l, const struct interval *iv,
		     uint32_t what)
{
	struct value v = get(s, l, iv, what);
	bool people = s->form == TABLE_FORM_TEXT;
	struct buf *b;

	if (what == COLUMN_NAME && people) {
		add_name(s, l, iv);
	} else if (people && (what == COLUMN_WAKER || what == COLUMN_WAKER_TID) && !iv->wake.time) {
		record_none(&s->to);
	} else if (v.none && people) {
		record_number(&s->to, "-");
	} else if (what == COLUMN_TIME && people) {
		record_number(&s->to, "%" PRIu64 ".%09" PRIu64, v.number / 1000000000,
			      v.number % 1000000000);
	} else if (what == COLUMN_DURATION && people) {
		b = record_open(&s->to);
		unit_add(b, (hist_int)v.number, lat_kind_unit(l, iv->kind));
		record_close(&s->to);
	} else {
		add_value(&s->to, v);
	}
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

static int add_line(struct lat_list *s, const struct lat *l, const struct interval *iv)
{
	int rc = s->ncolumns ? 0 : make_columns(s, l);

	if (rc)
		return rc;
	for (uint32_t i = 0; i < s->ncolumns; i++)
		add_cell(s, l, iv, s->what[i]);
	record_end(&s->to);
	if (s->stacks && s->form == TABLE_FORM_TEXT) {
		text_stack(&s->line, l, "start", iv->start.text);
		text_stack(&s->line, l, "end", iv->end.text);
		text_stack(&s->line, l, "waker", iv->wake.text);
	}
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
	int rc;

	if (iv->dur < s->slower) {
		add_shorter(s, lat_kind_unit(l, iv->kind), iv->dur);
		return 0;
	}
	buf_reset(&s->line);
	rc = add_line(s, l, iv);
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
