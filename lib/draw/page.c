/* HTML pages with data that their script unpacks. */
#include "draw/page.h"

#include "base/err.h"
#include "draw/flame_tree.h"

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

static void add_clean(struct out *o, const char *s)
{
	struct buf b = BUF_INIT;

	xml_clean(&b, s, strlen(s));
	if (b.err)
		o->err = b.err;
	else
		xml_escape(o, buf_str(&b), b.len);
	buf_release(&b);
}

/* A column as an element of the page that is no script. */
int page_column(struct out *o, const char *id, const struct buf *column)
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
int page_json(struct out *o, const char *id, const struct buf *b)
{
	const char *p = buf_str(b), *end = p + b->len, *less;

	add_text(o, "<script type=\"application/json\" id=\"");
	add_text(o, id);
	add_text(o, "\">");
	while ((less = memchr(p, '<', (size_t)(end - p)))) {
		out_add(o, p, (size_t)(less - p));
		add_text(o, "\\u003c");
		p = less + 1;
	}
	out_add(o, p, (size_t)(end - p));
	add_text(o, "</script>\n");
	return b->err ? b->err : o->err;
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

void page_begin(const struct page *p, struct out *o)
{
	add_text(o, "<!DOCTYPE html>\n<html lang=\"en\"><head><meta charset=\"utf-8\">\n"
		    "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; "
		    "base-uri 'none'; form-action 'none'; script-src ");
	add_hash(o, p->script_sha256);
	add_text(o, "; style-src ");
	add_hash(o, p->style_sha256);
	add_text(o, "\">\n<meta name=\"viewport\" content=\"width=device-width\">\n<title>");
	add_clean(o, p->title);
	add_text(o, "</title>\n");
	if (p->notes) {
		add_text(o, "<meta name=\"description\" content=\"");
		add_clean(o, p->notes);
		add_text(o, "\">\n");
	}
	add_text(o, "<style>");
	add_text(o, p->style);
	add_text(o, "</style></head>\n<body><h1>");
	add_clean(o, p->title);
	add_text(o, "</h1>\n<p id=\"subtitle\">");
	add_clean(o, p->subtitle ? p->subtitle : "");
	add_text(o, "</p>\n<noscript><p>This page needs JavaScript. A picture without it: <code>");
	add_text(o, p->instead);
	add_text(o, "</code>.</p></noscript>\n");
}

int page_end(const struct page *p, struct out *o)
{
	add_text(o, "<main></main>\n<script>");
	add_text(o, p->script);
	return add_text(o, "</script>\n</body></html>\n");
}

void page_number(struct buf *b, uint64_t v)
{
	for (; v > 127; v >>= 7)
		buf_addc(b, (char)(v | 128));
	buf_addc(b, (char)v);
}
