/* Functions and their instructions as an HTML page that needs no other file. */
#include "base/err.h"
#include "report/parts.h"
#include "table/unit.h"

#include <inttypes.h>

static const char style[] = "body{font:14px sans-serif;margin:1em}"
			    "table{border-collapse:collapse;font:13px monospace}"
			    "td{padding:0 .8em;white-space:pre}td:first-child{text-align:right}"
			    "tr.source td{color:#777}tr.hot td{background:#fdd}";

struct page {
	const struct result *s;
	struct out *out;
	struct buf b;
	enum fact_kind last;
	bool table; /* is open */
};

static void add_text(struct buf *b, const char *text)
{
	buf_add_markup(b, text, strlen(text), XML_MARKS);
}

static int flush(struct page *p)
{
	return out_take(p->out, &p->b);
}

static void end_table(struct page *p)
{
	buf_adds(&p->b, p->table ? "</table>\n" : "");
	p->table = false;
}

static void begin(struct page *p, const struct report_function *f, const struct fact *fact)
{
	static const char *const titles[] = {NULL,
					     "Callers",
					     "Callees",
					     "Source lines, with their share of the function",
					     "Instructions, with their share of the function",
					     NULL};
	const struct report *r = p->s->r;
	size_t len;

	end_table(p);
	if (fact->kind == FACT_FUNCTION) {
		buf_adds(&p->b, "<h2>");
		add_text(&p->b, fact->text);
		buf_adds(&p->b, "</h2>\n<p>");
		add_text(&p->b, report_text_get(r, f->dso, &len));
		buf_addf(&p->b, ": %.2f%% including callees, %.2f%% itself</p>\n", fact->share,
			 report_share(f->self, r->events[f->event].weight));
	} else if (titles[fact->kind]) {
		buf_addf(&p->b, "<h3>%s</h3>\n<table>\n", titles[fact->kind]);
		p->table = true;
	}
}

/* A fact_fn. */
static int as_html(void *ctx, const struct report_function *f, const struct fact *fact)
{
	struct page *p = ctx;

	if (p->last != fact->kind || fact->kind == FACT_FUNCTION)
		begin(p, f, fact);
	p->last = fact->kind;
	switch (fact->kind) {
	case FACT_FUNCTION: break;
	case FACT_NOTE:
		buf_adds(&p->b, "<p>");
		add_text(&p->b, fact->text);
		buf_adds(&p->b, "</p>\n");
		break;
	case FACT_CODE:
		if (fact->file) {
			buf_adds(&p->b, "<tr class=source><td><td><td>");
			add_text(&p->b, fact->file);
			buf_addf(&p->b, ":%u\n", fact->line);
		}
		buf_addf(&p->b, "<tr%s id=a%" PRIx64 "><td>", fact->hot ? " class=hot" : "",
			 fact->addr);
		if (fact->samples)
			buf_addf(&p->b, "%.2f%%", fact->share);
		buf_addf(&p->b, "<td>%" PRIx64 "<td>", fact->addr);
		if (fact->target)
			buf_addf(&p->b, "<a href=\"#a%" PRIx64 "\">", fact->target);
		add_text(&p->b, fact->text);
		buf_adds(&p->b, fact->target ? "</a>\n" : "\n");
		break;
	default:
		buf_addf(&p->b, "<tr><td>%.2f%%<td>", fact->share);
		add_text(&p->b, fact->text);
		if (fact->file)
			buf_addf(&p->b, ":%u", fact->line);
		buf_addc(&p->b, '\n');
	}
	return flush(p);
}

static int write_event(struct page *p, uint32_t event, bool *any)
{
	struct report_functions f = {0};
	struct buf head = BUF_INIT;
	int rc = functions_make(&f, p->s, event);

	if (!rc && f.n) {
		*any = true;
		report_head(p->s, event, &head);
		buf_adds(&p->b, "<h1>");
		add_text(&p->b, buf_str(&head));
		buf_adds(&p->b, "</h1>\n");
		buf_inherit(&p->b, &head);
	}
	for (uint32_t i = 0; i < f.n && !rc; i++)
		rc = function_tell(p->s, &f.v[i], as_html, p);
	end_table(p);
	functions_release(&f);
	buf_release(&head);
	return rc ? rc : flush(p);
}

int report_write_html(const struct result *s, struct out *out)
{
	struct page p = {.s = s, .out = out};
	bool any = false;
	int rc = 0;

	buf_addf(&p.b,
		 "<!DOCTYPE html>\n<meta charset=utf-8>\n<title>preport</title>\n"
		 "<style>%s</style>\n",
		 style);
	for (uint32_t event = 0; event < s->nevents && !rc; event++)
		if (s->events[event].samples)
			rc = write_event(&p, event, &any);
	buf_release(&p.b);
	return rc || any ? rc : PP_ENOENT;
}
