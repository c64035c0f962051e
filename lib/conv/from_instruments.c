/*
 * Reads the text that Instruments (macOS) copies of a call tree: a line for each node with its
 * weight, the weight of itself and its symbol, indented by its depth.
 *
 *	Weight	Self Weight		Symbol Name
 *	10.62 s  100.0%	0 s	 	prog (4711)
 *	8.00 s   75.0%	3.00 s	 	 main
 */
#include "conv/parts.h"

#include "base/array.h"
#include "base/err.h"

#include <stdlib.h>

#define DEPTH_MAX 4096

struct reader {
	struct conv *c;
	struct prof_sample sample;
	uint32_t stacks[DEPTH_MAX + 1]; /* by depth, of the lines above; the first is of none */
	uint32_t self, symbol;		/* columns */
	bool strange;
};

/* The column of a line; empty if it has fewer. */
static struct ps_str column(struct ps_str line, uint32_t n)
{
	const char *p = line.p, *end = p + line.len, *tab;

	while (n-- && p < end) {
		tab = memchr(p, '\t', (size_t)(end - p));
		p = tab ? tab + 1 : end;
	}
	tab = p < end ? memchr(p, '\t', (size_t)(end - p)) : NULL;
	return ps_str(p, (size_t)((tab ? tab : end) - p));
}

/* Which columns are which; false: this is no head. */
static bool take_head(struct reader *r, struct ps_str line)
{
	bool self = false, symbol = false;

	for (uint32_t i = 0; i < 16; i++) {
		struct ps_str s = column(line, i);

		if (s.len >= 4 && !memcmp(s.p, "Self", 4) && !self)
			self = true, r->self = i;
		if (s.len >= 6 && !memcmp(s.p, "Symbol", 6) && !symbol)
			symbol = true, r->symbol = i;
	}
	return self && symbol;
}

/* "3.00 s" in the smallest of its unit; false: it is none of those that are known. */
static bool take_weight(struct ps_str s, uint64_t *weight, const char **unit)
{
	static const struct {
		const char *name;
		double factor;
		const char *unit;
	} units[] = {{"s", 1e9, "ns"},	       {"ms", 1e6, "ns"},	 {"", 1e6, "ns"},
		     {"\xc2\xb5s", 1e3, "ns"}, {"us", 1e3, "ns"},	 {"ns", 1, "ns"},
		     {"min", 60e9, "ns"},      {"c", 1, "cycles"},	 {"Kc", 1e3, "cycles"},
		     {"Mc", 1e6, "cycles"},    {"Gc", 1e9, "cycles"},	 {"Bytes", 1, "bytes"},
		     {"KB", 1e3, "bytes"},     {"MB", 1e6, "bytes"},	 {"GB", 1e9, "bytes"},
		     {"KiB", 1024, "bytes"},   {"MiB", 0x1p20, "bytes"}, {"GiB", 0x1p30, "bytes"}};
	char text[64], *end;
	double v;
	size_t n = s.len < sizeof(text) ? s.len : sizeof(text) - 1;

	if (!n)
		return false;
	memcpy(text, s.p, n);
	text[n] = 0;
	v = strtod(text, &end);
	while (*end == ' ')
		end++;
	for (size_t i = 0; i < sizeof(units) / sizeof(units[0]); i++) {
		size_t len = strlen(units[i].name);

		if (strncmp(end, units[i].name, len) != 0 || (end[len] && end[len] != ' ') ||
		    end == text)
			continue;
		v *= units[i].factor;
		*weight = v <= 0 ? 0 : v >= 0x1p62 ? UINT64_C(1) << 62 : (uint64_t)(v + 0.5);
		*unit = units[i].unit;
		return true;
	}
	return false;
}

static int on_line(struct reader *r, struct ps_str line)
{
	struct ps_str symbol = column(line, r->symbol);
	struct prof_sample *s = &r->sample;
	const char *unit;
	uint32_t depth = 0, frame;
	int rc;

	/* Some versions leave the column before it out. */
	while (depth < symbol.len && symbol.p[depth] == ' ')
		depth++;
	symbol.p += depth;
	symbol.len -= depth;
	if (!symbol.len || depth >= DEPTH_MAX ||
	    !take_weight(column(line, r->self), &s->weight, &unit)) {
		r->strange |= line.len > 0;
		return 0;
	}
	rc = prof_shown(r->c->p, symbol, ps_str("", 0), 0, &frame);
	if (!rc)
		rc = prof_push(r->c->p, r->stacks[depth], frame, &s->stack);
	for (uint32_t i = depth + 1; !rc && i <= DEPTH_MAX && (i == depth + 1 || r->stacks[i]); i++)
		r->stacks[i] = i == depth + 1 ? s->stack : 0;
	if (!rc)
		rc = prof_named_event(r->c->p, ps_str("instruments", 11),
				      ps_str(unit, strlen(unit)), &s->event);
	return rc || !s->weight ? rc : conv_give(r->c, s);
}

int conv_from_instruments(struct conv *c, const struct conv_input *in)
{
	static const struct prof_thread nobody = {PS_NONE, PS_NONE, 0};
	struct reader *r = calloc(1, sizeof(*r));
	const char *p = (const char *)in->bytes, *end = p + in->n;
	bool head = false;
	int rc = r ? prof_thread(c->p, &nobody, &r->sample.thread) : PP_ENOMEM;

	while (!rc && p < end) {
		const char *newline = memchr(p, '\n', (size_t)(end - p));
		struct ps_str line = ps_str(p, (size_t)((newline ? newline : end) - p));

		p = newline ? newline + 1 : end;
		if (line.len && line.p[line.len - 1] == '\r')
			line.len--;
		r->c = c;
		r->sample.cpu = PS_NONE;
		if (head)
			rc = on_line(r, line);
		else
			head = take_head(r, line);
	}
	if (!rc && r->strange) {
		diag_error(c->d, in->name, -1, "some lines are not in Instruments' format");
		rc = PP_ECUT;
	}
	free(r);
	return rc;
}

bool conv_is_instruments(const uint8_t *bytes, size_t n)
{
	struct reader r;
	const uint8_t *line = n ? memchr(bytes, '\n', n) : NULL;

	return line && take_head(&r, ps_str((const char *)bytes, (size_t)(line - bytes)));
}
