/* Knows the formats that are no event streams by their first bytes. */
#include "stream/foreign.h"

#include <ctype.h>
#include <string.h>

#define BY_PCONV "pconv --to folded makes folded text of it, --to stream a stream"

static const struct ps_foreign formats[] = {
	{"PERFILE2", 8, "a perf.data recording", true, false, NULL},
	{"2ELIFREP", 8, "a perf.data recording", true, false, NULL},
	{"PERFFILE", 8, "a perf.data recording", true, false, NULL},
	{"ELIFFREP", 8, "a perf.data recording", true, false, NULL},
	{"\x17\x08\x44tracing", 10, "a trace.dat recording", true, false, NULL},
	{"\x1f\x8b", 2, "compressed with gzip", false, true, "decompress it first"},
	{"\x28\xb5\x2f\xfd", 4, "compressed with zstd", false, true, "decompress it first"},
	{"\xfd"
	 "7zXZ",
	 6, "compressed with xz", false, true, "decompress it first"},
	{"#PPTABLE1", 9, "a table", false, false, "psvg draws it"},
	{"<?xml", 5, "a picture (SVG) or other XML", false, false, "a browser shows it"},
	{"<svg", 4, "a picture (SVG)", false, false, "a browser shows it"},
	{"<!DOCTYPE", 9, "a page (HTML)", false, false, "a browser shows it"},
	{"<html", 5, "a page (HTML)", false, false, "a browser shows it"},
	{"go 1.", 5, "a Go execution trace", false, false,
	 "it has no samples: pconv reads a profile (runtime/pprof, or go tool trace -pprof=sched FILE)"},
	{"FLR", 4, "a recording of Java's Flight Recorder", false, false,
	 "async-profiler's jfrconv makes collapsed text from it, which pconv reads"},
	{"\x7f"
	 "ELF",
	 4, "a program or library", false, false, "record it with pcap-perf or perf"},
	{"\n\x04\x08", 3, "a pprof profile", false, false, BY_PCONV},
	{"\n\x02\x08", 3, "a pprof profile", false, false, BY_PCONV},
	{"# callgrind format", 18, "a callgrind profile", false, false, BY_PCONV},
	{"version: 1\ncreator:", 19, "a callgrind profile", false, false, BY_PCONV},
	{"# To display the perf.data header info", 38, "the text of perf report", false, false,
	 "pfold and preport read the recording, through pdecode, or the text of perf script"},
};

static const struct ps_foreign json = {
	NULL,  0,     "JSON",
	false, false, "leave out -j of the filter before this one; profiles: " BY_PCONV};

/* "{"name" or "[{"name", with blanks between: no line of text of a stack begins like that. */
static bool is_json(const char *p, size_t n)
{
	char last = 0;

	for (size_t i = 0; i < n; i++) {
		if (isspace((unsigned char)p[i]))
			continue;
		if (last == '{')
			return p[i] == '"' || p[i] == '}';
		if (p[i] != '{' && (p[i] != '[' || last))
			return false;
		last = p[i];
	}
	return false;
}

const struct ps_foreign *ps_foreign(const void *bytes, size_t n)
{
	for (size_t i = 0; i < sizeof(formats) / sizeof(formats[0]); i++)
		if (n >= formats[i].len && !memcmp(bytes, formats[i].magic, formats[i].len))
			return &formats[i];
	return is_json(bytes, n < PS_FOREIGN_MAX ? n : PS_FOREIGN_MAX) ? &json : NULL;
}

/* ---- text ---- */

static const struct ps_foreign ftrace_text = {NULL, 0,	   "ftrace or trace-cmd report text",
					      true, false, NULL};
static const struct ps_foreign perf_text = {
	NULL,
	0,
	"perf script text",
	false,
	false,
	"pfold and preport read that; this filter needs the recording, through pdecode"};
static const struct ps_foreign folded = {
	NULL,
	0,
	"folded text",
	false,
	false,
	"psvg draws it, preport and pdiff read it, and this filter has to come before pfold"};
static const struct ps_foreign text = {NULL,  0,     "text",
				       false, false, "recorded data comes from pdecode"};

/* "123.456789:", the time of a sample; *at: where it begins. */
static bool has_time(const char *line, size_t len, size_t *at)
{
	for (size_t i = 1; i < len; i++) {
		size_t from = i, to = i + 1;

		if (line[i] != '.')
			continue;
		while (from && isdigit((unsigned char)line[from - 1]))
			from--;
		while (to < len && isdigit((unsigned char)line[to]))
			to++;
		if (from < i && from && to - i > 6 && to < len && line[to] == ':') {
			*at = from;
			return true;
		}
	}
	return false;
}

/* ftrace has "COMM-PID", perf script "COMM PID": the last '-' before a number and a blank. */
static bool has_dash(const char *line, size_t len)
{
	for (size_t i = len; i-- > 1;)
		if (isdigit((unsigned char)line[i]))
			continue;
		else if (line[i] == '-' && isdigit((unsigned char)line[i + 1]))
			return true;
		else if (!strchr(" []()/.", line[i]) && !isalpha((unsigned char)line[i]))
			return false;
	return false;
}

static bool ends_with_number(const char *line, size_t len)
{
	size_t n = len;

	while (n && isdigit((unsigned char)line[n - 1]))
		n--;
	return n < len && n && line[n - 1] == ' ';
}

static bool is_printable(const char *p, size_t n)
{
	for (size_t i = 0; i < n; i++)
		if ((unsigned char)p[i] < ' ' && !strchr("\t\n\r", p[i]))
			return false;
	return n > 0;
}

/* The length of a line without the blanks at its end; *next: the line after it. */
static size_t line_at(const char *p, const char *end, const char **next)
{
	const char *newline = memchr(p, '\n', (size_t)(end - p));
	size_t len = (size_t)((newline ? newline : end) - p);

	*next = newline ? newline + 1 : end;
	while (len && isspace((unsigned char)p[len - 1]))
		len--;
	return len;
}

const struct ps_foreign *ps_foreign_text(const void *bytes, size_t n)
{
	const char *p = bytes, *end, *next, *first = NULL;
	size_t len, at, first_len = 0;

	n = n < PS_FOREIGN_TEXT ? n : PS_FOREIGN_TEXT;
	end = p + n;
	if (!is_printable(p, n))
		return NULL;
	for (; p < end; p = next) {
		len = line_at(p, end, &next);
		if (!len || *p == '#')
			continue;
		if (has_time(p, len, &at))
			return has_dash(p, at) ? &ftrace_text : &perf_text;
		first_len = first ? first_len : len;
		first = first ? first : p;
	}
	return first && ends_with_number(first, first_len) ? &folded : &text;
}
