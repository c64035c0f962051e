/* What there is to tell of functions, as text, tab-separated values and JSON. */
#include "base/array.h"
#include "base/err.h"
#include "report/parts.h"
#include "symbol/beneath.h"
#include "base/buf.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <stdbool.h>
#include <stdint.h>

/* ---- jumps: each has a lane in which it crosses no other, the shortest next to the code ---- */

#define JUMPS_MAX   1024 /* of a function; more are not drawn */
#define JUMPS_LANES 6	 /* beside each other; those that find none are not drawn */

struct jump {
	uint32_t from, to; /* rows */
	uint32_t lane;	   /* 1: next to the code; 0: none */
};
struct jumps {
	struct jump *v;
	uint32_t n, lanes;
};

static uint32_t low(const struct jump *j)
{
	return j->from < j->to ? j->from : j->to;
}

static uint32_t high(const struct jump *j)
{
	return j->from < j->to ? j->to : j->from;
}

static int by_length(const void *va, const void *vb)
{
	const struct jump *a = va, *b = vb;
	uint32_t la = high(a) - low(a), lb = high(b) - low(b);

	if (la != lb)
		return la < lb ? -1 : 1;
	return low(a) < low(b) ? -1 : low(a) > low(b);
}

/* The row of an address; n: it is within an instruction. */
static uint32_t find(const uint64_t *addr, uint32_t n, uint64_t at)
{
	uint32_t from = 0, to = n;

	while (from < to) {
		uint32_t mid = from + (to - from) / 2;

		if (addr[mid] < at)
			from = mid + 1;
		else
			to = mid;
	}
	return from < n && addr[from] == at ? from : n;
}

static void assign(struct jumps *j)
{
	for (uint32_t i = 0; i < j->n; i++) {
		bool taken[JUMPS_LANES + 1] = {false};

		for (uint32_t k = 0; k < i; k++)
			if (low(&j->v[k]) <= high(&j->v[i]) && low(&j->v[i]) <= high(&j->v[k]))
				taken[j->v[k].lane] = true;
		for (uint32_t lane = 1; lane <= JUMPS_LANES && !j->v[i].lane; lane++)
			if (!taken[lane])
				j->v[i].lane = lane;
		if (j->v[i].lane > j->lanes)
			j->lanes = j->v[i].lane;
	}
}

/* Addresses are ascending; target 0: no jump. 0 or PP_ENOMEM. */
static int jumps_make(struct jumps *j, const uint64_t *addr, const uint64_t *target, uint32_t n)
{
	*j = (struct jumps){.v = calloc(JUMPS_MAX, sizeof(*j->v))};
	if (!j->v)
		return PP_ENOMEM;
	for (uint32_t i = 0; i < n && j->n < JUMPS_MAX; i++) {
		uint32_t to = target[i] ? find(addr, n, target[i]) : n;

		if (to < n)
			j->v[j->n++] = (struct jump){.from = i, .to = to};
	}
	qsort(j->v, j->n, sizeof(*j->v), by_length);
	assign(j);
	return 0;
}

static void jumps_release(struct jumps *j)
{
	free(j->v);
	j->v = NULL;
}

/* What a lane shows in a row. */
enum part { EMPTY, BAR, TOP, BOTTOM, LINE, CROSS };

/* Appends the text before a row: as wide for each, nothing if there are no jumps. */
static void jumps_draw(const struct jumps *j, uint32_t row, bool ascii, struct buf *b)
{
	static const char *const plain[] = {" ", "|", "+", "+", "-", "+"};
	static const char *const lines[] = {" ", "│", "┌", "└", "─", "┼"};
	enum part part[JUMPS_LANES + 1] = {EMPTY};
	bool arrow = false;
	uint32_t widest = 0;

	for (uint32_t i = 0; i < j->n; i++) {
		const struct jump *v = &j->v[i];

		if (!v->lane || row < low(v) || row > high(v))
			continue;
		part[v->lane] = BAR;
		if (row != v->from && row != v->to)
			continue;
		part[v->lane] = row == low(v) ? TOP : BOTTOM;
		arrow |= row == v->to;
		widest = v->lane > widest ? v->lane : widest;
	}
	for (uint32_t lane = j->lanes; lane > 0; lane--) {
		enum part p = part[lane];

		if (lane < widest && p == EMPTY)
			p = LINE;
		else if (lane < widest && p == BAR)
			p = CROSS;
		buf_adds(b, ascii ? plain[p] : lines[p]);
	}
	if (j->lanes)
		buf_adds(b, arrow ? ascii ? "> " : "→ " : widest ? ascii ? "- " : "─ " : "  ");
}

/* ---- the forms ---- */

/* Instructions wait until the last has come, as jumps are drawn beside them. */
struct writer {
	const struct result *s;
	struct out *out;
	struct buf b, texts;
	uint32_t width;
	enum table_form form; /* not HTML */
	enum fact_kind last;
	bool first;
	uint64_t *addr, *target;
	struct fact *code; /* texts are offsets in `texts`, from 1 on */
	uint32_t n, cap_addr, cap_target, cap_code;
};

static int flush(struct writer *w)
{
	return out_take(w->out, &w->b);
}

/* ---- text ---- */

static int keep(struct writer *w, const struct fact *fact)
{
	uint64_t *addr = array_widen(w->addr, &w->cap_addr, w->n, 256, sizeof(*addr));
	uint64_t *target;
	struct fact *code;

	if (!addr)
		return PP_ENOMEM;
	w->addr = addr;
	target = array_widen(w->target, &w->cap_target, w->n, 256, sizeof(*target));
	if (!target)
		return PP_ENOMEM;
	w->target = target;
	code = array_widen(w->code, &w->cap_code, w->n, 256, sizeof(*code));
	if (!code)
		return PP_ENOMEM;
	w->code = code;
	addr[w->n] = fact->addr;
	target[w->n] = fact->target;
	code[w->n] = *fact;
	code[w->n].file = code[w->n].text = NULL;
	/* The instruction, a NUL, and the file if there is one. */
	code[w->n++].weight = w->texts.len;
	buf_adds(&w->texts, fact->text);
	buf_addc(&w->texts, 0);
	buf_adds(&w->texts, fact->file ? fact->file : "");
	buf_addc(&w->texts, 0);
	return w->texts.err;
}

/* A line of the source, if the user said where that is. */
static void add_source(struct writer *w, const char *file, uint32_t line)
{
	const char *dir = w->s->r->o.source;
	char path[4096], text[512];
	FILE *f;

	if (!dir || strstr(file, "..") ||
	    (size_t)snprintf(path, sizeof(path), "%s/%s", dir, file) >= sizeof(path))
		return;
	f = beneath_text(path);
	if (!f)
		return;
	while (line && fgets(text, sizeof(text), f))
		line -= strchr(text, '\n') != NULL;
	if (!line) {
		buf_adds(&w->b, "   ");
		buf_add_safe(&w->b, text, strcspn(text, "\n"));
	}
	fclose(f);
}

static void add_code(struct writer *w, const struct jumps *j, uint32_t i)
{
	const struct fact *c = &w->code[i];
	const char *text = buf_str(&w->texts) + c->weight, *file = text + strlen(text) + 1;

	if (*file) {
		buf_adds(&w->b, "                      ");
		buf_add_safe(&w->b, file, strlen(file));
		buf_addf(&w->b, ":%u", c->line);
		add_source(w, file, c->line);
		buf_addc(&w->b, '\n');
	}
	if (c->samples)
		buf_addf(&w->b, "%7.2f%%%c ", c->share, c->hot ? '*' : ' ');
	else
		buf_adds(&w->b, "          ");
	buf_addf(&w->b, "%12" PRIx64 "  ", c->addr);
	jumps_draw(j, i, w->s->r->o.ascii, &w->b);
	buf_add_safe(&w->b, text, strlen(text));
	buf_addc(&w->b, '\n');
}

/* The instructions that waited. */
static int draw_code(struct writer *w)
{
	struct jumps j;
	int rc = w->n ? jumps_make(&j, w->addr, w->target, w->n) : 0;

	if (!w->n || rc)
		return rc;
	buf_adds(&w->b, "\ninstructions, with their share of the function (* 5 % or more)\n");
	for (uint32_t i = 0; i < w->n && !rc; i++) {
		add_code(w, &j, i);
		rc = flush(w);
	}
	jumps_release(&j);
	w->n = 0;
	buf_reset(&w->texts);
	return rc;
}

static void add_title(struct writer *w, const struct report_function *f, const struct fact *fact)
{
	const struct report *r = w->s->r;
	struct report_call c = {.sym = f->sym};
	size_t len;
	const char *dso;

	switch (fact->kind) {
	case FACT_FUNCTION:
		buf_addc(&w->b, '\n');
		report_call_name(r, &c, &w->b);
		dso = report_text_get(r, f->dso, &len);
		buf_adds(&w->b, len ? " in " : "");
		buf_add_safe(&w->b, dso, len);
		buf_addf(&w->b, ": %.2f%% including callees, %.2f%% itself (%" PRIu64 " %s)\n",
			 fact->share, report_share(f->self, w->s->events[f->event].weight),
			 f->nself, r->text_only ? "stacks" : "samples");
		return;
	case FACT_CALLER: buf_adds(&w->b, "\ncallers\n"); break;
	case FACT_CALLEE: buf_adds(&w->b, "\ncallees\n"); break;
	case FACT_LINE:
		buf_adds(&w->b, "\nsource lines, with their share of the function\n");
		break;
	case FACT_CODE: break;
	case FACT_NOTE: buf_addc(&w->b, '\n'); break;
	}
}

/* A fact_fn. */
static int as_text(void *ctx, const struct report_function *f, const struct fact *fact)
{
	struct writer *w = ctx;
	bool again = w->last == fact->kind && fact->kind != FACT_FUNCTION;
	int rc = 0;

	if (fact->kind == FACT_CODE) {
		/* The next function of the same name. */
		if (w->n && fact->addr <= w->addr[w->n - 1])
			rc = draw_code(w);
		w->last = fact->kind;
		return rc ? rc : keep(w, fact);
	}
	rc = draw_code(w);
	if (!again)
		add_title(w, f, fact);
	w->last = fact->kind;
	if (fact->kind == FACT_FUNCTION)
		return rc;
	if (fact->kind == FACT_NOTE) {
		buf_addf(&w->b, "(%s)\n", fact->text);
		return rc;
	}
	buf_addf(&w->b, "%7.2f%%  ", fact->share);
	buf_add_safe(&w->b, fact->text, strlen(fact->text));
	if (fact->file) {
		buf_addf(&w->b, ":%u", fact->line);
		add_source(w, fact->file, fact->line);
	}
	buf_addc(&w->b, '\n');
	return rc ? rc : flush(w);
}

/* ---- values ---- */

/* A fact_fn. */
static int as_record(void *ctx, const struct report_function *f, const struct fact *fact)
{
	static const char *const kinds[] = {"function", "caller", "callee", "line", "code", "note"};
	static const struct record_column columns[] = {
		{"event"}, {"function"}, {"dso"},  {"kind"}, {"weight"}, {"samples"},
		{"share"}, {"address"},	 {"file"}, {"line"}, {"text"},	 {0}};
	struct writer *w = ctx;
	const struct report *r = w->s->r;
	struct records to = {.columns = columns, .form = w->form, .b = &w->b, .exact = true};
	struct buf event = BUF_INIT;
	const char *text;
	size_t len;

	if (w->first)
		records_titles(&to, "# event");
	w->first = false;
	report_event_name(r, f->event, &event);
	record_text(&to, buf_str(&event), event.len);
	buf_inherit(&w->b, &event);
	buf_release(&event);
	text = report_text_get(r, f->sym, &len);
	record_text(&to, text, len);
	text = report_text_get(r, f->dso, &len);
	record_text(&to, text, len);
	record_text(&to, kinds[fact->kind], strlen(kinds[fact->kind]));
	record_u64(&to, fact->weight);
	record_u64(&to, fact->samples);
	record_share(&to, fact->share);
	if (fact->kind == FACT_CODE)
		record_hex(&to, fact->addr);
	else
		record_none(&to);
	if (fact->file) {
		record_text(&to, fact->file, strlen(fact->file));
		record_u64(&to, fact->line);
	} else {
		record_none(&to);
		record_none(&to);
	}
	record_text(&to, fact->text, strlen(fact->text));
	record_end(&to);
	return flush(w);
}

static int write_event(struct writer *w, uint32_t event, bool *any)
{
	struct report_functions f = {0};
	int rc = functions_make(&f, w->s, event);
	fact_fn *fn = w->form == TABLE_FORM_TEXT ? as_text : as_record;

	if (!rc && f.n && fn == as_text) {
		report_head(w->s, event, &w->b);
		buf_addc(&w->b, '\n');
	}
	for (uint32_t i = 0; i < f.n && !rc; i++) {
		*any = true;
		rc = function_tell(w->s, &f.v[i], fn, w);
		if (!rc)
			rc = draw_code(w);
	}
	functions_release(&f);
	return rc ? rc : flush(w);
}

static void release(struct writer *w)
{
	buf_release(&w->b);
	buf_release(&w->texts);
	free(w->addr);
	free(w->target);
	free(w->code);
}

int report_write_functions(const struct result *s, uint32_t width, struct out *out)
{
	struct writer w = {.s = s, .out = out, .width = width, .form = s->r->o.form, .first = true};
	bool any = false;
	int rc = 0;

	for (uint32_t event = 0; event < s->nevents && !rc; event++)
		if (s->events[event].samples)
			rc = write_event(&w, event, &any);
	release(&w);
	return rc || any ? rc : PP_ENOENT;
}

int report_write_function(const struct result *s, uint32_t event, const struct report_call *c,
			  struct out *out)
{
	struct writer w = {.s = s, .out = out, .first = true};
	struct report_functions f = {0};
	int rc = functions_one(&f, s, event, c);

	if (!rc)
		rc = function_tell(s, &f.v[0], as_text, &w);
	if (!rc)
		rc = draw_code(&w);
	if (!rc)
		rc = flush(&w);
	functions_release(&f);
	release(&w);
	return rc;
}
