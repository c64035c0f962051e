/* Names of functions as people write them, and names of events as the kernel wants them. */
#include "inspect/name_pattern.h"

#include "event/glob.h"
#include "symbol/demangle.h"

#include <ctype.h>
#include <string.h>

static bool word(char c)
{
	return isalnum((unsigned char)c) || c == '_';
}

/* "operator" and what follows is no template argument. Bytes of it at s, else 0. */
static size_t operator_len(const char *s)
{
	static const char *const ops[] = {"operator<=>", "operator->*", "operator<<=",
					  "operator>>=", "operator<<",	"operator>>",
					  "operator<=",	 "operator>=",	"operator->",
					  "operator()",	 "operator<",	"operator>"};

	for (size_t i = 0; i < sizeof(ops) / sizeof(ops[0]); i++)
		if (!strncmp(s, ops[i], strlen(ops[i])))
			return strlen(ops[i]);
	return 0;
}

/* The hash of a legacy Rust name, "::h" and 16 digits at the end. */
static bool rust_hash(const char *s)
{
	return !strncmp(s, "::h", 3) && strlen(s) == 19 && strspn(s + 3, "0123456789abcdef") == 16;
}

/* Bytes up to the bracket that closes the one at s; 0: none does. */
static size_t closing(const char *s, char open, char close)
{
	size_t depth = 0;

	for (size_t i = 0; s[i]; i++) {
		if (s[i] == open)
			depth++;
		else if (s[i] == close && (!i || s[i - 1] != '-') && !--depth)
			return i + 1;
	}
	return 0;
}

/* Bytes to leave out at s, which is not the begin of a part of a name if `inside`. */
static size_t leave_out(const char *s, bool inside)
{
	if (*s == '<' && inside)
		return closing(s, '<', '>');
	/* v0 crate hashes: rs[8802a1ab63e92b98]::, and generics of Go: Map[...] */
	if (*s == '[' && inside && s[1] != ']')
		return closing(s, '[', ']');
	if (rust_hash(s))
		return strlen(s);
	return 0;
}

void name_bare(const char *s, struct buf *b)
{
	bool inside = false;

	buf_reset(b);
	while (*s) {
		size_t op = !inside ? operator_len(s) : 0;
		size_t skip = op ? 0 : leave_out(s, inside);

		/* Rust's "::<T>": the colons go with it. */
		if (!skip && !strncmp(s, "::<", 3) && inside && strncmp(s, "::<impl", 7)) {
			size_t n = closing(s + 2, '<', '>');

			skip = n ? n + 2 : 0;
		}
		if (skip) {
			s += skip;
			continue;
		}
		/* Parameters: the first round bracket after a name, but not Go's (*T). */
		if (*s == '(' && inside && strncmp(s, "(anonymous", 10) && s[-1] != '.')
			break;
		buf_add(b, s, op ? op : 1);
		inside = op || word(*s) || *s == ')' || *s == '>' || *s == '}';
		s += op ? op : 1;
	}
}

/* What mangled names of C++ have letters of their own for. */
static bool is_abbreviated(const char *s, size_t n)
{
	static const char *const known[] = {
		"std",	   "string",   "allocator",	"basic_string",	 "istream",
		"ostream", "iostream", "basic_istream", "basic_ostream", "basic_iostream"};

	for (size_t i = 0; i < sizeof(known) / sizeof(known[0]); i++)
		if (strlen(known[i]) == n && !memcmp(s, known[i], n))
			return true;
	return false;
}

/*
 * The words of a pattern outside of brackets, where types may be, which are mangled to letters; for
 * the same reason not what comes before a blank.
 */
static void find_words(struct name_pattern *p)
{
	unsigned depth = 0;

	p->words = 0;
	p->whole = !p->glob;
	for (size_t i = 0, n; i < p->len; i += n ? n : 1) {
		char c = p->text[i];

		for (n = 0; i + n < p->len && word(p->text[i + n]);)
			n++;
		if (c == '<' || c == '(' || c == '[')
			depth++;
		else if ((c == '>' || c == ')' || c == ']') && depth)
			depth--;
		if (depth)
			continue;
		if (c == ' ')
			p->words = 0;
		p->whole = p->whole && (n || strchr(":<>()[] ", c));
		if (n < 2 || p->words == NAME_WORDS || is_abbreviated(p->text + i, n))
			continue;
		p->word[p->words] = p->text + i;
		p->word_len[p->words++] = n;
	}
	/* A bracket that is not closed is part of an operator, or of a glob. */
	if (depth)
		p->words = 0;
}

bool name_is_glob(const char *text)
{
	return strpbrk(text, "*?[") != NULL && !strstr(text, "(*") && !strstr(text, "operator*") &&
	       !strstr(text, "operator[");
}

void name_pattern_set(struct name_pattern *p, const char *text)
{
	p->text = text;
	p->len = strlen(text);
	p->glob = name_is_glob(text);
	find_words(p);
	/* Mangled names have no operators or closures in their letters. */
	if (strstr(text, "operator") || strchr(text, '{'))
		p->words = 0;
}

/* Whether an identifier with its length before it, as names of C++ are mangled, is in a name. */
static bool has_identifier(const char *name, size_t len, const char *text, size_t n)
{
	const char *at = name;

	while ((at = memmem(at, len - (size_t)(at - name), text, n)) != NULL) {
		const char *digit = at;
		size_t left = n;

		while (left && digit > name && digit[-1] == (char)('0' + left % 10)) {
			left /= 10;
			digit--;
		}
		if (!left)
			return true;
		at++;
	}
	return false;
}

/* Whether a name may fit: it has all words. */
static bool has_words(const struct name_pattern *p, const char *name, size_t len)
{
	bool whole = p->whole && name[0] == '_' && name[1] == 'Z';

	for (unsigned i = 0; i < p->words; i++)
		if (whole ? !has_identifier(name, len, p->word[i], p->word_len[i])
			  : !memmem(name, len, p->word[i], p->word_len[i]))
			return false;
	return true;
}

static bool fits(const struct name_pattern *p, const char *name, size_t len)
{
	if (p->glob)
		return glob_match(p->text, p->len, name, len);
	return len == p->len && !memcmp(p->text, name, len);
}

/* Whether the pattern is the last parts of a name: what stands before it ends a part. */
static bool fits_end(const struct name_pattern *p, const char *name, size_t len)
{
	const char *at;

	if (p->glob || !p->len || len <= p->len)
		return false;
	at = name + len - p->len;
	if (memcmp(at, p->text, p->len))
		return false;
	return at[-1] == '.' || at[-1] == '/' || (at[-1] == ':' && word(*p->text)) ||
	       (at[-1] == ':' && (*p->text == '~' || *p->text == '{'));
}

/* Go's methods: "pkg.(*T).M" is known as "T.M", too. */
static void without_stars(struct buf *b)
{
	size_t to = 0;

	for (size_t i = 0; i < b->len; i++) {
		if (b->data[i] == '(' && i + 1 < b->len && b->data[i + 1] == '*')
			i++;
		else if (b->data[i] != ')')
			b->data[to++] = b->data[i];
	}
	b->len = to;
	if (b->data)
		b->data[to] = 0;
}

/* "__MODULE_MOD_NAME" of gfortran. */
static bool fortran(const char *name, struct buf *b)
{
	const char *mod = !strncmp(name, "__", 2) ? strstr(name + 2, "_MOD_") : NULL;

	if (!mod || mod == name + 2)
		return false;
	buf_reset(b);
	buf_add(b, name + 2, (size_t)(mod - name - 2));
	buf_addf(b, "::%s", mod + strlen("_MOD_"));
	return true;
}

/* OCaml numbers its functions: "Store.save_85" is Store.save. */
static void cut_stamp(struct buf *b)
{
	size_t end = b->len;

	while (end && isdigit(b->data[end - 1]))
		end--;
	if (end < 2 || end == b->len || b->data[end - 1] != '_')
		return;
	b->len = end - 1;
	b->data[b->len] = 0;
}

const char *name_shown(const char *name, struct buf *b)
{
	const char *shown = demangle(name, b);

	if (shown != name && demangle_is_ocaml(name)) {
		cut_stamp(b);
		return buf_str(b);
	}
	return (shown == name || !strcmp(shown, name)) && fortran(name, b) ? buf_str(b) : shown;
}

/* A procedure of Fortran outside of modules: its name and '_'. */
static bool fits_external(const struct name_pattern *p, const char *name)
{
	size_t n = strlen(name);

	return !p->glob && n == p->len + 1 && name[n - 1] == '_' && name[0] != '_' &&
	       !memcmp(name, p->text, p->len);
}

enum name_fit name_match(const struct name_pattern *p, const char *name, struct name_scratch *s)
{
	const char *shown, *bare;
	size_t len = strlen(name);

	if (fits(p, name, len))
		return NAME_WHOLE;
	if (!has_words(p, name, len))
		return NAME_NO;
	shown = name_shown(name, &s->demangled);
	if (fits(p, shown, strlen(shown)))
		return NAME_WHOLE;
	name_bare(shown, &s->bare);
	bare = buf_str(&s->bare);
	if (fits(p, bare, s->bare.len))
		return NAME_BARE;
	if (fits_end(p, bare, s->bare.len) || fits_end(p, shown, strlen(shown)) ||
	    fits_external(p, name))
		return NAME_PART;
	if (strstr(bare, ".(*")) {
		without_stars(&s->bare);
		if (fits(p, bare, s->bare.len))
			return NAME_BARE;
		if (fits_end(p, bare, s->bare.len))
			return NAME_PART;
	}
	return NAME_NO;
}

void name_scratch_release(struct name_scratch *s)
{
	buf_release(&s->demangled);
	buf_release(&s->bare);
}

void name_valid(const char *name, size_t max, struct buf *b)
{
	buf_reset(b);
	for (; *name; name++) {
		if (!b->len && isdigit((unsigned char)*name))
			buf_addc(b, '_');
		if (word(*name))
			buf_addc(b, *name);
		else if (b->len && b->data[b->len - 1] != '_')
			buf_addc(b, '_');
	}
	while (b->len > max || (b->len > 1 && b->data[b->len - 1] == '_' && !word(name[-1])))
		b->data[--b->len] = 0;
	if (!b->len)
		buf_adds(b, "probe");
}

void name_event(const char *name, struct buf *b)
{
	const char *slash = strrchr(name, '/');

	/* The path of Go's packages says less than what comes after it. */
	name_valid(slash && slash[1] && !strchr(slash, ' ') ? slash + 1 : name, NAME_EVENT_MAX, b);
}

bool name_is_valid(const char *name, size_t len, size_t max)
{
	if (!len || len > max || isdigit((unsigned char)*name))
		return false;
	for (size_t i = 0; i < len; i++)
		if (!word(name[i]))
			return false;
	return true;
}

bool name_confuses_perf(const char *name)
{
	static const char *const known[] = {
		"cycles", "instructions",  "branches",	"faults",      "cs", "migrations",
		"dummy",  "duration_time", "user_time", "system_time", "mem"};
	size_t n = strlen(name);

	if (name[0] == 'r' && n > 1 && n <= 17 &&
	    strspn(name + 1, "0123456789abcdefABCDEF") == n - 1)
		return true;
	if (n == 1 && strchr("ukhGHpPSDIWeb", name[0]))
		return true;
	for (size_t i = 0; i < sizeof(known) / sizeof(known[0]); i++)
		if (!strcmp(name, known[i]))
			return true;
	return false;
}
