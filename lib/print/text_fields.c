/* The language of -F: which fields of a sample are printed, by kind of event. */
#include "print/text_fields.h"

#include "base/err.h"
#include "base/opt.h"

#define ALL_KINDS TEXT_KIND_COUNT
#define START \
	(TEXT_FIELD(comm) | TEXT_FIELD(tid) | TEXT_FIELD(cpu) | TEXT_FIELD(time) | \
	 TEXT_FIELD(event))
#define PLACE	(TEXT_FIELD(ip) | TEXT_FIELD(sym) | TEXT_FIELD(symoff) | TEXT_FIELD(dso))
#define COUNTED (START | PLACE | TEXT_FIELD(period))
#define MEMORY \
	(TEXT_FIELD(addr) | TEXT_FIELD(data_src) | TEXT_FIELD(weight) | TEXT_FIELD(ins_lat) | \
	 TEXT_FIELD(phys_addr) | TEXT_FIELD(data_page_size) | TEXT_FIELD(code_page_size))

/* What perf prints of each kind, and what it never does. */
static const struct {
	uint64_t fields, invalid;
} defaults[TEXT_KIND_COUNT] = {
	[TEXT_KIND_hw] = {COUNTED, TEXT_FIELD(trace) | TEXT_FIELD(bpf_output)},
	[TEXT_KIND_sw] = {COUNTED | TEXT_FIELD(bpf_output), TEXT_FIELD(trace)},
	[TEXT_KIND_trace] = {START | TEXT_FIELD(trace), 0},
	[TEXT_KIND_cache] = {COUNTED, TEXT_FIELD(trace) | TEXT_FIELD(bpf_output)},
	[TEXT_KIND_raw] = {COUNTED | MEMORY, TEXT_FIELD(trace) | TEXT_FIELD(bpf_output)},
	[TEXT_KIND_break] = {COUNTED, TEXT_FIELD(trace) | TEXT_FIELD(bpf_output)},
	[TEXT_KIND_other] = {COUNTED, TEXT_FIELD(trace) | TEXT_FIELD(bpf_output)},
};

static const char *const names[] = {
#define F(id, name, needs, what) name,
	TEXT_FIELDS(F)
#undef F
};
static const uint64_t needs[] = {
#define F(id, name, needs, what) needs,
	TEXT_FIELDS(F)
#undef F
};
static const struct {
	const char *name, *what;
} kinds[] = {
#define K(id, name, what) {name, what},
	TEXT_KINDS(K)
#undef K
};
static const struct {
	const char *name, *missing;
} absent[] = {
#define F(name, missing) {name, missing},
	TEXT_FIELDS_ABSENT(F)
#undef F
};
#define COUNT(a) (sizeof(a) / sizeof((a)[0]))

const char *text_field_name(enum text_field field)
{
	return names[field];
}

const char *text_kind_name(enum text_kind kind)
{
	return kinds[kind].what;
}

enum text_kind text_kind_of(uint32_t type)
{
	return type < TEXT_KIND_other ? (enum text_kind)type : TEXT_KIND_other;
}

/* ---- parsing ---- */

static bool is_word(const char *name, const char *word, size_t len)
{
	return strlen(name) == len && !memcmp(name, word, len);
}

static int unknown(const char *word, size_t len, struct buf *why)
{
	char short_word[32] = "";
	const char *near;

	for (size_t i = 0; i < COUNT(absent); i++)
		if (is_word(absent[i].name, word, len)) {
			buf_addf(why, "-F: '%s' needs %s, which is not available here",
				 absent[i].name, absent[i].missing);
			return PP_EUSAGE;
		}
	if (len < sizeof(short_word))
		memcpy(short_word, word, len);
	near = opt_nearest(short_word, names, COUNT(names));
	buf_adds(why, "-F: no such field: '");
	buf_add_safe(why, word, len);
	buf_addc(why, '\'');
	if (near)
		buf_addf(why, "; did you mean '%s'?", near);
	buf_adds(why, " The fields are:");
	for (size_t i = 0; i < COUNT(names); i++)
		buf_addf(why, "%s %s", i ? "," : "", names[i]);
	return PP_EUSAGE;
}

/* The kind before a colon, ALL_KINDS if there is none; *arg then points after it. */
static int take_kind(const char **arg, size_t *kind, struct buf *why)
{
	const char *colon = strchr(*arg, ':');

	*kind = ALL_KINDS;
	if (!colon)
		return 0;
	for (size_t i = 0; i < COUNT(kinds); i++)
		if (is_word(kinds[i].name, *arg, (size_t)(colon - *arg)))
			*kind = i;
	if (*kind == ALL_KINDS) {
		buf_adds(why, "-F: no such kind of event: '");
		buf_add_safe(why, *arg, (size_t)(colon - *arg));
		buf_adds(why, "'; there are");
		for (size_t i = 0; i < COUNT(kinds); i++)
			buf_addf(why, "%s %s", i ? "," : "", kinds[i].name);
		return PP_EUSAGE;
	}
	*arg = colon + 1;
	return 0;
}

static void change(struct text_fields *f, size_t kind, uint64_t bit, bool remove)
{
	for (size_t i = 0; i < TEXT_KIND_COUNT; i++) {
		if ((kind != ALL_KINDS && kind != i) || (defaults[i].invalid & bit))
			continue;
		f->of[i].set = true;
		if (remove) {
			f->of[i].fields &= ~bit;
			f->of[i].asked &= ~bit;
		} else {
			f->of[i].fields |= bit;
			f->of[i].asked |= bit;
		}
	}
}

/* A list without signs says all that is to be printed. */
static void begin_list(struct text_fields *f, size_t kind)
{
	for (size_t i = 0; i < TEXT_KIND_COUNT; i++)
		if (kind == ALL_KINDS || kind == i) {
			f->of[i].fields = f->of[i].asked = 0;
			f->of[i].set = true;
		}
}

static int take_word(struct text_fields *f, size_t kind, const char *word, size_t len, bool remove,
		     struct buf *why)
{
	size_t i = 0;

	while (i < COUNT(names) && !is_word(names[i], word, len))
		i++;
	if (i == COUNT(names))
		return unknown(word, len, why);
	if (kind != ALL_KINDS && (defaults[kind].invalid >> i & 1)) {
		buf_addf(why, "-F: %s events have no field '%s'", kinds[kind].what, names[i]);
		return PP_EUSAGE;
	}
	change(f, kind, UINT64_C(1) << i, remove);
	return 0;
}

int text_fields_parse(struct text_fields *f, const char *arg, struct buf *why)
{
	struct text_fields next = *f;
	bool signs, plain = false;
	size_t kind, len;
	int rc = take_kind(&arg, &kind, why);

	if (rc)
		return rc;
	if (!next.given)
		for (size_t i = 0; i < TEXT_KIND_COUNT; i++)
			next.of[i].fields = defaults[i].fields;
	next.given = true;
	signs = *arg == '+' || *arg == '-';
	if (!signs)
		begin_list(&next, kind);
	if (!*arg && kind == ALL_KINDS) {
		buf_adds(why, "-F: an empty list is possible only for one kind of event: 'trace:'");
		return PP_EUSAGE;
	}
	for (; *arg; arg += len + (arg[len] == ',')) {
		bool sign = *arg == '+' || *arg == '-', remove = *arg == '-';

		arg += sign;
		len = strcspn(arg, ",");
		plain = plain || !sign;
		if (plain && (sign || signs)) {
			buf_adds(why, "-F: either all fields have a sign or none");
			return PP_EUSAGE;
		}
		rc = len ? take_word(&next, kind, arg, len, remove, why) : 0;
		if (rc)
			return rc;
	}
	*f = next;
	return 0;
}

/* ---- use ---- */

uint64_t text_fields_pick(const struct text_fields *f, enum text_kind kind, uint64_t sample_type,
			  bool chains, uint64_t *lacking)
{
	bool set = f->given && f->of[kind].set;
	uint64_t fields = f->given ? f->of[kind].fields : defaults[kind].fields;

	*lacking = 0;
	if (kind == TEXT_KIND_trace && !set && chains)
		fields |= PLACE;
	for (size_t i = 0; sample_type && i < COUNT(needs); i++) {
		uint64_t bit = UINT64_C(1) << i;

		if (!(fields & bit) || !needs[i] || (sample_type & needs[i]))
			continue;
		fields &= ~bit;
		if (f->given && (f->of[kind].asked & bit))
			*lacking |= bit;
	}
	return fields;
}
