/*
 * Private to lib/draw: HTML pages with data that their script unpacks. A page needs nothing else,
 * and its Content-Security-Policy allows its own script and style by their hashes, and no network.
 *
 *	page_begin(&page, o);
 *	page_json(o, "about", &json);
 *	rc = page_column(o, "who", &bytes);
 *	page_end(&page, o);
 *
 * A column is what the element of that id contains, in base64: bytes compressed with zlib.
 */
#ifndef PP_DRAW_PAGE_H
#define PP_DRAW_PAGE_H

#include "base/buf.h"
#include "base/out.h"

struct page {
	const char *title, *subtitle, *notes; /* any bytes; the last two may be NULL */
	const char *script, *script_sha256;   /* the hash in hexadecimal */
	const char *style, *style_sha256;
	const char *instead; /* a command, for where no script runs */
};

/* Up to the first element of data. */
void page_begin(const struct page *p, struct out *o);

/* 0 or an error; JSON that is not whole (json->err) is one. */
int page_json(struct out *o, const char *id, const struct buf *json);
int page_column(struct out *o, const char *id, const struct buf *column);

/* A column in two steps: packed, to be kept; and as an element. */
int page_pack(struct buf *packed, const struct buf *column);
int page_packed(struct out *o, const char *id, const struct buf *packed);

/* The script, and what comes after it. */
int page_end(const struct page *p, struct out *o);

/* A number as LEB128. */
void page_number(struct buf *b, uint64_t v);

#endif
