/* Makes the field table of an event from the format text of tracefs. */
#include "event/fields.h"

#include "stream/stream.h"

#include <string.h>

/*
 * Bytes of an element of a dynamic field, "__data_loc u32[]", by the name of its type. Names that
 * hold a number of bits, such as __le32, s32 and uint32_t, tell it; others are taken for bytes.
 */
static uint32_t type_size(struct ps_str type, uint32_t long_size)
{
	static const struct {
		const char *end;
		uint32_t size; /* 0: a long */
	} types[] = {
		{"16", 2},	  {"short", 2},		{"short int", 2},
		{"32", 4},	  {"int", 4},		{"unsigned", 4},
		{"64", 8},	  {"long", 0},		{"long int", 0},
		{"long long", 8}, {"long long int", 8},
	};
	size_t len = type.len, best_len = 0;
	uint32_t best = 1;

	while (len && (type.p[len - 1] == ']' || type.p[len - 1] == '[' || type.p[len - 1] == ' '))
		len--;
	if (len > 2 && !memcmp(type.p + len - 2, "_t", 2))
		len -= 2;
	for (size_t i = 0; i < sizeof(types) / sizeof(types[0]); i++) {
		size_t n = strlen(types[i].end);

		if (n > best_len && len >= n && !memcmp(type.p + len - n, types[i].end, n)) {
			best = types[i].size ? types[i].size : long_size;
			best_len = n;
		}
	}
	return best;
}

/* A number after "key" in a line of a format, and whether there was one. */
static bool line_number(const char *line, const char *end, const char *key, uint32_t *v)
{
	size_t n = strlen(key);
	const char *at = memmem(line, (size_t)(end - line), key, n);

	*v = 0;
	if (!at)
		return false;
	for (at += n; at < end && *at >= '0' && *at <= '9' && *v < 100000000; at++)
		*v = *v * 10 + (uint32_t)(*at - '0');
	return true;
}

/*
 * One line of a format, "\tfield:TYPE NAME[N];\toffset:0;\tsize:2;\tsigned:0;", to an entry of the
 * field table. The name is the last word of the declaration.
 */
static void field_line(const char *line, const char *end, uint32_t long_size, struct buf *table)
{
	const char *decl = line + strlen("\tfield:");
	const char *semi = memchr(decl, ';', (size_t)(end - decl));
	struct ps_event_field f = {0};
	const char *name, *name_end, *type_end;
	uint32_t is_signed;

	if (!semi || !line_number(semi, end, "offset:", &f.offset) ||
	    !line_number(semi, end, "size:", &f.size))
		return;
	if (line_number(semi, end, "signed:", &is_signed) && is_signed)
		f.flags |= PS_FIELD_SIGNED;
	name_end = semi;
	f.element = f.size;
	if (name_end > decl && name_end[-1] == ']') {
		const char *open = name_end;
		uint32_t count;

		while (open > decl && *open != '[')
			open--;
		f.flags |= PS_FIELD_ARRAY;
		if (line_number(open, name_end, "[", &count) && count && f.size % count == 0)
			f.element = f.size / count;
		name_end = open;
	}
	name = name_end;
	while (name > decl && name[-1] != ' ' && name[-1] != '*')
		name--;
	type_end = name;
	while (type_end > decl && type_end[-1] == ' ')
		type_end--;
	f.name = ps_str(name, (size_t)(name_end - name));
	f.type = ps_str(decl, (size_t)(type_end - decl));
	if (memmem(decl, f.type.len, "__data_loc", 10))
		f.flags |= PS_FIELD_DYNAMIC;
	if (memmem(decl, f.type.len, "__rel_loc", 9))
		f.flags |= PS_FIELD_DYNAMIC | PS_FIELD_RELATIVE;
	if (f.type.len && f.type.p[f.type.len - 1] == '*')
		f.flags |= PS_FIELD_POINTER;
	if (memmem(decl, f.type.len, "char", 4) && (f.flags & (PS_FIELD_ARRAY | PS_FIELD_DYNAMIC)))
		f.flags |= PS_FIELD_STRING;
	if (f.flags & PS_FIELD_DYNAMIC)
		f.element = type_size(f.type, long_size);
	ps_event_field_add(table, &f);
}

int fields_of_format(const char *format, size_t len, uint32_t long_size, struct buf *table)
{
	const char *p = format, *end = format + len;

	while (p < end) {
		const char *nl = memchr(p, '\n', (size_t)(end - p));

		if (!nl)
			nl = end;
		if (nl - p > 7 && !memcmp(p, "\tfield:", 7))
			field_line(p, nl, long_size, table);
		p = nl + 1;
	}
	return table->err;
}
