/* The page of a timeline: one HTML file with its data compressed in it. */
#include "draw/timeline_parts.h"

#include "base/err.h"
#include "draw/tree.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>

static const char base64[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

static int add_base64(struct out *o, const uint8_t *p, size_t n)
{
	for (size_t i = 0; i < n; i += 3) {
		uint32_t v = (uint32_t)p[i] << 16 | (i + 1 < n ? p[i + 1] << 8 : 0) |
			     (i + 2 < n ? p[i + 2] : 0);
		char text[4] = {base64[v >> 18], base64[v >> 12 & 63],
				i + 1 < n ? base64[v >> 6 & 63] : '=',
				i + 2 < n ? base64[v & 63] : '='};

		out_add(o, text, 4);
	}
	return o->err;
}

static int add_text(struct out *o, const char *s)
{
	return out_add(o, s, strlen(s));
}

static int add_clean(struct out *o, const char *s)
{
	struct buf b = BUF_INIT;
	int rc;

	xml_clean(&b, s, strlen(s));
	rc = b.err ? b.err : xml_escape(o, buf_str(&b), b.len);
	buf_release(&b);
	return rc;
}

/* A column as an element of the page that is no script. */
static int add_column(struct out *o, const char *id, const struct buf *column)
{
	uLongf n = compressBound(column->len);
	uint8_t *bytes = malloc(n);
	int rc = bytes ? 0 : PP_ENOMEM;

	if (!rc &&
	    compress2(bytes, &n, column->data ? (const Bytef *)column->data : (const Bytef *)"",
		      column->len, 6) != Z_OK)
		rc = PP_ENOMEM;
	add_text(o, "<script type=\"application/octet-stream\" id=\"");
	add_text(o, id);
	add_text(o, "\">");
	if (!rc)
		rc = add_base64(o, bytes, n);
	add_text(o, "</script>\n");
	free(bytes);
	return rc ? rc : o->err;
}

/* Content of a script element: nothing in it can end the element. */
static int add_json(struct out *o, const struct buf *b)
{
	const char *p = buf_str(b), *end = p + b->len, *less;

	while ((less = memchr(p, '<', (size_t)(end - p)))) {
		out_add(o, p, (size_t)(less - p));
		add_text(o, "\\u003c");
		p = less + 1;
	}
	return b->err ? b->err : out_add(o, p, (size_t)(end - p));
}

static int add_about(const struct timeline *t, const struct timeline_opts *opts, struct out *o)
{
	struct buf b = BUF_INIT;
	const char *text = buf_str(&t->texts);
	int rc;

	buf_adds(&b, "{\"title\":");
	buf_add_json(&b, opts->title ? opts->title : "Timeline",
		     strlen(opts->title ? opts->title : "Timeline"));
	buf_adds(&b, ",\"from\":");
	buf_add_json(&b, buf_str(&t->from), t->from.len);
	buf_adds(&b, ",\"unit\":");
	buf_add_json(&b, buf_str(&t->unit), t->unit.len);
	buf_addf(&b,
		 ",\"n\":%" PRIu64 ",\"base\":\"%" PRIu64 "\",\"first\":%" PRId64
		 ",\"last\":%" PRId64 ",\"marks\":%" PRIu64 ",\"partial\":%s,\"kinds\":[",
		 t->account.intervals + t->account.open, t->base, (int64_t)(t->first - t->base),
		 (int64_t)(t->last - t->base), t->account.marks,
		 t->account.partial ? "true" : "false");
	for (int i = 0; i < TIMELINE_KINDS_MAX; i++) {
		buf_adds(&b, i ? "," : "");
		buf_add_json(&b, t->kinds[i], strlen(t->kinds[i]));
	}
	buf_adds(&b, "],\"texts\":[\"\"");
	for (uint32_t i = 0; i < t->ntexts; i++) {
		buf_addc(&b, ',');
		buf_add_json(&b, text, strlen(text));
		text += strlen(text) + 1;
	}
	/* tid, pid, number of the name, buffer */
	buf_adds(&b, "],\"threads\":[[0,0,0,0]");
	for (uint32_t i = 1; i <= t->nthreads; i++)
		buf_addf(&b, ",[%u,%lld,%u,%u]", t->threads[i].tid,
			 t->threads[i].pid == UINT32_MAX ? -1ll : (long long)t->threads[i].pid,
			 t->threads[i].name, t->threads[i].domain);
	buf_addf(&b, "],\"losses\":[%s],\"events\":[%s]}", buf_str(&t->losses),
		 buf_str(&t->events));
	add_text(o, "<script type=\"application/json\" id=\"about\">");
	rc = add_json(o, &b);
	buf_release(&b);
	add_text(o, "</script>\n");
	return rc;
}

static unsigned hex(char c)
{
	return (unsigned)(c <= '9' ? c - '0' : c - 'a' + 10);
}

/* A hash in hexadecimal as Content-Security-Policy wants it. */
static void add_hash(struct out *o, const char *digits)
{
	uint8_t bytes[32];

	for (int i = 0; i < 32; i++)
		bytes[i] = (uint8_t)(hex(digits[2 * i]) << 4 | hex(digits[2 * i + 1]));
	add_text(o, "'sha256-");
	add_base64(o, bytes, sizeof(bytes));
	add_text(o, "'");
}

static void add_head(const struct timeline_opts *opts, struct out *o)
{
	add_text(o, "<!DOCTYPE html>\n<html lang=\"en\"><head><meta charset=\"utf-8\">\n"
		    "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; "
		    "base-uri 'none'; form-action 'none'; script-src ");
	add_hash(o, draw_timeline_script_sha256);
	add_text(o, "; style-src ");
	add_hash(o, draw_timeline_style_sha256);
	add_text(o, "\">\n<meta name=\"viewport\" content=\"width=device-width\">\n<title>");
	add_clean(o, opts->title ? opts->title : "Timeline");
	add_text(o, "</title>\n");
	if (opts->notes) {
		add_text(o, "<meta name=\"description\" content=\"");
		add_clean(o, opts->notes);
		add_text(o, "\">\n");
	}
	add_text(o, "<style>");
	add_text(o, draw_timeline_style);
	add_text(o, "</style></head>\n<body><h1>");
	add_clean(o, opts->title ? opts->title : "Timeline");
	add_text(o, "</h1>\n<p id=\"subtitle\">");
	add_clean(o, opts->subtitle ? opts->subtitle : "");
	add_text(o, "</p>\n<noscript><p>This page needs JavaScript. A picture without: "
		    "<code>psvg --timeline=svg</code>.</p></noscript>\n");
}

int timeline_page(struct timeline *t, const struct timeline_opts *opts, struct out *o)
{
	static const char *const ids[] = {"who", "kind", "gap", "dur", "name", "waker", "marks"};
	int rc;

	if (!(t->account.intervals + t->account.open))
		return PP_END;
	add_head(opts, o);
	rc = add_about(t, opts, o);
	for (int i = 0; i < NCOLUMNS && !rc; i++)
		rc = add_column(o, ids[i], &t->columns[i]);
	add_text(o, "<main></main>\n<script>");
	add_text(o, draw_timeline_script);
	add_text(o, "</script>\n</body></html>\n");
	return rc ? rc : o->err;
}
