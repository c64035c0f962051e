/* Samples of a recording that was text: prints the lines that they were made of. */
#include "print/text_plain.h"

#include "base/err.h"
#include "base/intern.h"

#include <stdlib.h>

struct text_plain {
	struct text_page *page;
	struct stext_opts opts;
	struct map64 lines; /* descriptor to the offset of its field "line", + 1 */
	struct buf b;
};

int text_plain_new(struct text_plain **out, struct text_page *page, const struct stext_opts *opts)
{
	struct text_plain *t = calloc(1, sizeof(*t));

	*out = t;
	if (!t)
		return PP_ENOMEM;
	t->page = page;
	t->opts = *opts;
	return 0;
}

void text_plain_free(struct text_plain *t)
{
	if (!t)
		return;
	map64_release(&t->lines);
	buf_release(&t->b);
	free(t);
}

/* Where the location word of a field is in a payload, + 1; 0: nowhere. */
static uint32_t text_field(const struct ps_event *e, const char *name)
{
	struct ps_event_field f;
	size_t pos = 0;

	while (!ps_event_field_next(e, &pos, &f))
		if (f.name.len == 4 && !memcmp(f.name.p, name, 4) && f.size == 4 &&
		    (f.flags & PS_FIELD_DYNAMIC) && f.offset < UINT16_MAX)
			return f.offset + 1;
	return 0;
}

static int learn(struct text_plain *t, const struct ps_event *e)
{
	uint32_t *slot = map64_put(&t->lines, e->id, NULL);

	if (!slot)
		return PP_ENOMEM;
	*slot = text_field(e, "line");
	return 0;
}

/* The text that the location word at `at` - 1 tells of. */
static bool located(uint32_t at, const struct ps_str *payload, struct ps_str *text)
{
	uint32_t word, from, len;

	if (!at || payload->len < 4 || at - 1 > payload->len - 4)
		return false;
	memcpy(&word, payload->p + at - 1, 4);
	from = word & UINT16_MAX;
	len = word >> 16;
	*text = ps_str(payload->p + from, len);
	return from <= payload->len && len <= payload->len - from;
}

static void add_line(struct text_plain *t, uint32_t at, const struct ps_str *payload)
{
	struct ps_str text;

	if (!located(at, payload, &text))
		return;
	text_line_text(&t->b, text.p, text.len);
	buf_addc(&t->b, '\n');
}

bool text_plain_info(const struct ps_event *e, const struct ps_str *payload, struct buf *b)
{
	const char *colon = memrchr(e->name.p, ':', e->name.len);
	size_t skip = e->name.len - (colon ? (size_t)(colon + 1 - e->name.p) : 0);
	const char *name = e->name.p + e->name.len - skip;
	struct ps_str text;

	if (e->format.len || !text_field(e, "line") ||
	    !located(text_field(e, "info"), payload, &text))
		return false;
	if (text.len > skip && !memcmp(text.p, name, skip) && text.p[skip] == ':')
		for (skip++; skip < text.len && text.p[skip] == ' ';)
			skip++;
	else
		skip = 0;
	buf_add_safe(b, text.p + skip, text.len - skip);
	return true;
}

int text_plain_record(struct text_plain *t, const struct sreader *r, const struct ps_record *rec)
{
	const struct ps_event *e;
	uint32_t *slot;

	buf_reset(&t->b);
	switch (rec->type) {
	case PS_EVENT: return learn(t, &rec->event);
	case PS_BLOB:
		if (rec->blob.kind == PS_BLOB_TEXT)
			text_line_text(&t->b, rec->blob.data.p, rec->blob.data.len);
		break;
	case PS_SAMPLE:
		if (!stext_shows(&t->opts, &rec->sample))
			return 0;
		slot = map64_get(&t->lines, rec->sample.event);
		e = slot ? NULL : sreader_event(r, rec->sample.event);
		if (e && learn(t, e))
			return PP_ENOMEM;
		slot = map64_get(&t->lines, rec->sample.event);
		if (slot)
			add_line(t, *slot, &rec->sample.payload);
		break;
	default: return 0;
	}
	return t->b.len ? text_page_add(t->page, &t->b) : t->b.err;
}
