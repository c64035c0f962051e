/*
 * What the kernel prints of a histogram (events/.../hist): a row is a sample, with its keys,
 * hitcount and values as fields, and the hits as its period.
 *
 *	{ call_site: [ffffffff812d2472] kasprintf , bytes_req: ~ 2^4 } hitcount: 1 bytes_alloc: 16
 *	{ common_pid: wl           [    164], id: sys_read      [  0] } hitcount:  37
 *	{ common_stacktrace:
 *	         virtblk_prep_rq.isra.0+0x108/0x3b0
 *	} hitcount:          2  bytes:       8192
 */
#include "ftext/parts.h"

#include "base/err.h"

#define HEAD "# event histogram"

bool ftext_hist_head(const char *line, size_t len)
{
	return ftext_starts(line, len, HEAD);
}

/* The length of the name of a field that stands at p, before ": "; 0: none does. */
static size_t name_at(const char *p, const char *end)
{
	const char *at = p;

	while (at < end && (ftext_word(*at) || *at == '.'))
		at++;
	return at > p && at < end && *at == ':' ? (size_t)(at - p) : 0;
}

/* A value ends before ", NAME:". */
static const char *value_end(const char *p, const char *end)
{
	for (; p + 2 < end; p++)
		if (p[0] == ',' && p[1] == ' ' && name_at(p + 2, end))
			return p;
	return end;
}

/* "[ffffffff812d2472] kasprintf" is the function, "sys_read   [  0]" the name. */
static struct ps_str plain(struct ps_str value)
{
	const char *close;

	if (value.len && *value.p == '[') {
		close = memchr(value.p, ']', value.len);
		if (close && close + 1 < value.p + value.len)
			return ftext_trim(close + 1, (size_t)(value.p + value.len - close) - 1);
	} else if (value.len && value.p[value.len - 1] == ']') {
		close = memrchr(value.p, '[', value.len);
		if (close && close > value.p)
			return ftext_trim(value.p, (size_t)(close - value.p));
	}
	return value;
}

static int add_stack(struct ftext *t, struct ps_str text)
{
	const char *p = text.p, *end = p + text.len;
	int rc = 0;

	while (p < end && !rc) {
		const char *nl = memchr(p, '\n', (size_t)(end - p));
		struct ps_str line = ftext_trim(p, (size_t)((nl ? nl : end) - p));
		const char *plus = memchr(line.p, '+', line.len);

		line.len = plus ? (uint32_t)(plus - line.p) : line.len;
		rc = line.len ? ftext_push(t, &line) : 0;
		p = nl ? nl + 1 : end;
	}
	return rc;
}

/* NULL: there is no room for it. */
static void set(struct ftext_pair *p, struct ps_str value)
{
	if (p)
		p->text = value;
}

static int keys(struct ftext *t, const char *p, const char *end)
{
	int rc = 0;

	while (p < end && !rc) {
		struct ps_str key = ftext_trim(p, (size_t)(end - p)), value;
		const char *to;

		key.len = (uint32_t)name_at(key.p, end);
		if (!key.len)
			return 0;
		to = value_end(key.p + key.len + 1, end);
		value = ftext_trim(key.p + key.len + 1, (size_t)(to - key.p) - key.len - 1);
		if (key.len >= 10 && !memcmp(key.p + key.len - 10, "stacktrace", 10)) {
			rc = add_stack(t, value);
		} else {
			set(ftext_add(&t->info, key), plain(value));
		}
		p = to + (to < end ? 2 : 0);
	}
	return rc;
}

/* "hitcount:          1  bytes_alloc:      16384" */
static void values(struct ftext *t, const char *p, const char *end, uint64_t *hits)
{
	while (p < end) {
		const char *colon = memchr(p, ':', (size_t)(end - p));
		struct ps_str key, value;
		bool hex;

		if (!colon)
			return;
		key = ftext_trim(p, (size_t)(colon - p));
		for (p = colon + 1; p < end && *p == ' '; p++)
			;
		value.p = p;
		while (p < end && *p != ' ')
			p++;
		value.len = (uint32_t)(p - value.p);
		if (ftext_is(&key, "hitcount"))
			ftext_number(&value, false, hits, &hex);
		set(ftext_add(&t->info, key), value);
	}
}

static int row(struct ftext *t)
{
	const char *line = buf_str(&t->hist.row), *end = line + t->hist.row.len;
	const char *close = memrchr(line, '}', t->hist.row.len);
	struct ftext_head h = {.cpu = PS_NONE, .pid = PS_NONE, .tgid = PS_NONE};
	struct ftext_info *info = &t->info;
	uint64_t hits = 1;
	int rc;

	if (t->hist.row.err)
		return t->hist.row.err;
	info->n = 0;
	info->prefix = "";
	info->is_hex = info->stack = false;
	info->func = info->parent = (struct ps_str){0};
	info->system = ps_str("ftrace", 6);
	info->name = ps_str("hist", 4);
	rc = ftext_release(t);
	t->nframes = 0;
	if (!rc)
		rc = keys(t, line + 2, close);
	values(t, close + 1, end, &hits);
	info->unit = "hits";
	if (!rc)
		rc = ftext_hold(t, &h, info, line, t->hist.row.len);
	info->unit = NULL;
	t->held.s.period = hits;
	t->held.s.fields |= PS_HAS(period);
	t->nframes = 0;
	return rc;
}

int ftext_hist(struct ftext *t, const char *line, size_t len)
{
	struct ps_str text = ftext_trim(line, len);
	bool begins = text.len > 2 && text.p[0] == '{' && text.p[1] == ' ';
	bool ends = begins ? memrchr(text.p, '}', text.len) != NULL
			   : t->hist.open && text.len && *text.p == '}';

	if (!begins && !t->hist.open)
		return PP_END;
	if (begins)
		buf_reset(&t->hist.row);
	else
		buf_addc(&t->hist.row, '\n');
	buf_add(&t->hist.row, line, len);
	t->hist.open = !ends;
	return ends ? row(t) : t->hist.row.err;
}

/* "    Dropped: 12": hits that had no place in the table. */
uint64_t ftext_hist_dropped(const char *line, size_t len)
{
	static const char word[] = "Dropped: ";
	struct ps_str text = ftext_trim(line, len);
	uint64_t n = 0;
	bool hex;

	if (text.len < sizeof(word) || memcmp(text.p, word, sizeof(word) - 1) != 0)
		return 0;
	text = ftext_trim(text.p + sizeof(word) - 1, text.len - (sizeof(word) - 1));
	return ftext_number(&text, false, &n, &hex) ? n : 0;
}
