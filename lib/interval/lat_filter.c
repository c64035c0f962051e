/*
 * What a pfilter before plat was asked, as far as the provenance records tell: its words, for
 * titles; and whether its expression is about the thread that a switch goes from, or about the one
 * that it goes to.
 */
#include "interval/lat_filter.h"

#include "base/err.h"

#include <ctype.h>
#include <string.h>
#include <strings.h>

#define WORDS_MAX 80 /* bytes of the words */

/* Of these fields sched_switch has the values of the thread that it goes from. */
static const char *const of_thread[] = {"comm", "pid",	 "tid",	  "common_pid", "ip",
					"mode", "sym",	 "dso",	  "leaf",	"caller",
					"site", "stack", "depth", "srcline"};

static unsigned side_of(const char *name, size_t n)
{
	if (n > 5 && !memcmp(name, "prev_", 5))
		return LAT_SIDE_OUT;
	if (n > 5 && !memcmp(name, "next_", 5))
		return LAT_SIDE_IN;
	for (size_t i = 0; i < sizeof(of_thread) / sizeof(of_thread[0]); i++)
		if (strlen(of_thread[i]) == n && !strncasecmp(of_thread[i], name, n))
			return LAT_SIDE_OUT;
	return 0;
}

/* The sides that the names in an argument are about; names in quotes are texts. */
static unsigned sides_of(const char *s, size_t n)
{
	unsigned sides = 0;
	char quote = 0;

	for (size_t i = 0; i < n;) {
		size_t begin = i;

		while (!quote && i < n && (isalnum((unsigned char)s[i]) || s[i] == '_'))
			i++;
		if (i > begin) {
			sides |= side_of(s + begin, i - begin);
			continue;
		}
		if (quote && s[i] == '\\')
			i++;
		else if (quote)
			quote = s[i] == quote ? 0 : quote;
		else if (s[i] == '"' || s[i] == '\'')
			quote = s[i];
		i++;
	}
	return sides;
}

/* An argument, as it would be typed. */
static void add_word(struct buf *b, const char *s, size_t n)
{
	bool plain = n != 0;

	for (size_t i = 0; i < n; i++)
		plain &= isalnum((unsigned char)s[i]) || strchr("_-+=,.:/%@", s[i]);
	buf_adds(b, plain ? " " : " '");
	buf_add(b, s, n);
	buf_adds(b, plain ? "" : "'");
}

static int see_filter(struct lat_filter *f, const struct ps_provenance *p)
{
	bool first = f->streams == 1;

	f->any = true;
	if (first)
		buf_adds(&f->words, f->words.len ? " | pfilter" : "pfilter");
	for (size_t i = 0, n; i < p->args.len; i += n + 1) {
		n = strnlen(p->args.p + i, p->args.len - i);
		f->sides |= sides_of(p->args.p + i, n);
		if (first)
			add_word(&f->words, p->args.p + i, n);
	}
	return f->words.err;
}

int lat_filter_see(struct lat_filter *f, const struct ps_record *rec)
{
	if (rec->type == PS_HEADER) {
		f->sides = 0;
		f->streams++;
	}
	if (rec->type != PS_PROVENANCE || rec->provenance.name.len != 7 ||
	    memcmp(rec->provenance.name.p, "pfilter", 7) != 0)
		return 0;
	return see_filter(f, &rec->provenance);
}

void lat_filter_words(const struct lat_filter *f, struct buf *b)
{
	size_t n = f->words.len < WORDS_MAX ? f->words.len : WORDS_MAX;

	buf_add(b, buf_str(&f->words), n);
	if (n < f->words.len)
		buf_adds(b, "...");
}

void lat_filter_release(struct lat_filter *f)
{
	buf_release(&f->words);
}
