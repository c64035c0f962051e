/* Text of the pictures: what XML allows, how wide it is, what of it fits. */
#include "draw/flame_tree.h"

#include "base/err.h"

#include <string.h>

/*
 * Advance widths of ASCII from the space on, in 1/1000 of the font size: of Verdana and DejaVu
 * Sans, the fonts that the SVG asks for, the wider one. A script in the SVG measures; this is for
 * viewers that run none.
 */
static const uint16_t ascii_width[95] = {
	352,  401, 460, 838, 636, 1076, 780, 275, 454, 454, 636, 838, 364, 454, 364, 454,
	636,  636, 636, 636, 636, 636,	636, 636, 636, 636, 454, 454, 838, 838, 838, 545,
	1000, 684, 686, 698, 771, 632,	575, 775, 752, 421, 455, 693, 557, 863, 748, 787,
	603,  787, 695, 684, 616, 732,	684, 989, 685, 615, 685, 454, 454, 454, 838, 636,
	636,  613, 635, 550, 635, 615,	352, 635, 634, 278, 344, 592, 278, 974, 634, 612,
	635,  635, 427, 521, 394, 634,	592, 818, 592, 592, 525, 636, 454, 636, 838,
};

#define WIDTH_NARROW 0.7f /* other characters of two bytes: Latin, Greek, Cyrillic, ... */
#define WIDTH_WIDE   1.0f /* of three and four: CJK, emoji */
#define DOTS_EM	     (2 * 0.364f)
#define CHARS_MIN    2 /* fewer characters before the dots say nothing */

/* U+FFFE and U+FFFF, the only characters beyond 0x9f that XML 1.0 forbids. */
static bool is_nonchar(const char *s, size_t n)
{
	return n >= 3 && !memcmp(s, "\xef\xbf", 2) && (uint8_t)s[2] >= 0xbe;
}

void xml_clean(struct buf *b, const char *s, size_t n)
{
	size_t done = 0;

	for (size_t i = 0; i < n; i++) {
		if (!is_nonchar(s + i, n - i))
			continue;
		buf_add_safe(b, s + done, i - done);
		buf_addf(b, "\\xef\\xbf\\x%02x", (uint8_t)s[i + 2]);
		i += 2;
		done = i + 1;
	}
	buf_add_safe(b, s + done, n - done);
}

int xml_escape(struct out *o, const char *s, size_t n)
{
	size_t done = 0;

	for (size_t i = 0; i < n; i++) {
		const char *entity;

		switch (s[i]) {
		case '&': entity = "&amp;"; break;
		case '<': entity = "&lt;"; break;
		case '>': entity = "&gt;"; break;
		case '"': entity = "&quot;"; break;
		default: continue;
		}
		out_add(o, s + done, i - done);
		out_add(o, entity, strlen(entity));
		done = i + 1;
	}
	return out_add(o, s + done, n - done);
}

static float char_width(const char *s, int len)
{
	uint8_t c = (uint8_t)*s;

	if (c >= 0x20 && c < 0x7f)
		return (float)ascii_width[c - 0x20] / 1000;
	return len == 2 ? WIDTH_NARROW : WIDTH_WIDE;
}

/* flamegraph.pl's annotations, which name the kind of code and not the function. */
static size_t without_annotation(const char *s, size_t n)
{
	if (n > 4 && s[n - 4] == '_' && s[n - 3] == '[' && s[n - 1] == ']' &&
	    memchr("kijw", s[n - 2], 4))
		return n - 4;
	return n;
}

static bool is_plain(const char *s, size_t n)
{
	for (size_t i = 0; i < n; i++)
		if (s[i] < 0x20 || s[i] > 0x7e || memchr("&<>\"", s[i], 4))
			return false;
	return true;
}

int label_make(struct label *l, const char *name, size_t len, unsigned palette, struct arena *a)
{
	static const char none[] = "(no name)";
	struct buf b = BUF_INIT;
	const char *text = name;
	size_t n = len;

	palette_fill(palette_class(palette, name, len), name, len, l->fill);
	l->plain = is_plain(name, len);
	if (!len) {
		text = none;
		n = sizeof(none) - 1;
	} else if (!l->plain) {
		xml_clean(&b, name, len);
		text = buf_str(&b);
		n = b.len;
	}
	l->full = b.err ? NULL : arena_dup(a, text, n);
	buf_release(&b);
	if (!l->full)
		return PP_ENOMEM;
	l->full_len = n;
	l->text_len = without_annotation(l->full, n);
	l->em = 0;
	for (size_t i = 0; i < l->text_len;) {
		int bytes = utf8_len(l->full + i, l->text_len - i);

		l->em += char_width(l->full + i, bytes);
		i += bytes ? (size_t)bytes : 1;
	}
	return 0;
}

size_t label_fit(const struct label *l, double width, double font_size)
{
	double room = width / font_size, em = DOTS_EM;
	size_t i = 0;
	int chars;

	if (l->em <= room)
		return l->text_len;
	for (chars = 0; i < l->text_len; chars++) {
		int bytes = utf8_len(l->full + i, l->text_len - i);

		em += char_width(l->full + i, bytes);
		if (em > room)
			break;
		i += bytes ? (size_t)bytes : 1;
	}
	return chars < CHARS_MIN ? 0 : i;
}

const char *event_words(const char *event)
{
	static const char *const words[][2] = {
		{"cpu-clock", " on CPU"},    {"task-clock", " on CPU"},
		{"cycles", " on CPU"},	     {"oncpu", " on CPU"},
		{"offcpu", " off CPU"},	     {"blocked", " blocked"},
		{"runq", " waiting to run"}, {"wall", " of threads' time"},
		{"chain", " of waits"},	     {"path", " of critical paths"},
	};

	for (size_t i = 0; i < sizeof(words) / sizeof(*words); i++)
		if (!strncmp(event, words[i][0], strlen(words[i][0])))
			return words[i][1];
	return NULL;
}
