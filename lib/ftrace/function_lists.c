/*
 * Lists of functions: patterns, names, and commands ("do_exit:traceoff").
 *
 * For each name or pattern that is written to set_ftrace_filter the kernel looks at all of its
 * functions, which takes it some ten ms. Where there are more than a few, they are found here, by
 * reading the names once, and written as numbers, by which the kernel finds them at once.
 */
#include "ftrace/parts.h"

#include "base/err.h"
#include "base/opt.h"
#include "event/glob.h"
#include "pevent/tracefs.h"

#include <stdio.h>
#include <stdlib.h>

#define NAMES_FEW 4 /* are written as they are */
#define NEAR_MAX  5 /* names that are told where none fits */

/* The next line of available_filter_functions: "schedule", "ext4_sync_fs [ext4]". */
static bool next_function(const char **p, const char **name, size_t *len)
{
	const char *line = *p, *end = line;

	while (*end && !strchr(" \t\n", *end))
		end++;
	if (end == line)
		return false;
	*name = line;
	*len = (size_t)(end - line);
	end = strchrnul(end, '\n');
	*p = end + (*end != 0);
	return true;
}

static int load(const char *root, struct buf *text)
{
	const struct ftfiles top = {.root = root};

	return ftfiles_read(&top, "available_filter_functions", text);
}

int functions_list(const char *root, const char *pattern, struct buf *text)
{
	struct buf all = BUF_INIT;
	const char *name, *p;
	size_t len;
	int rc = load(root, &all);

	p = rc ? "" : buf_str(&all);
	while (next_function(&p, &name, &len))
		if (glob_match(pattern, strlen(pattern), name, len)) {
			buf_add(text, name, len);
			buf_addc(text, '\n');
		}
	buf_release(&all);
	return rc;
}

/* ":mod:NAME", "schedule:traceoff": the kernel knows what it means. */
static bool is_command(const char *word)
{
	return strchr(word, ':') != NULL;
}

/* Of "schedule:traceoff" that of the function. */
static size_t pattern_len(const char *word)
{
	return strcspn(word, ":");
}

/* Names that end with the word, then others that have it in them; else the nearest one. */
static void suggest(const char *all, const char *word, struct buf *why)
{
	char plain[128] = "";
	const char *name, *p = all, **names;
	size_t len, n = 0, near = 0, cap = 0;
	struct buf copy = BUF_INIT;

	for (size_t i = 0; word[i] && n < sizeof(plain) - 1; i++)
		if (!strchr("*?[]", word[i]))
			plain[n++] = word[i];
	for (int end = 1; n > 2 && end >= 0; end--)
		for (p = all; near < NEAR_MAX && next_function(&p, &name, &len);)
			if (memmem(name, len, plain, n) &&
			    (len >= n && !memcmp(name + len - n, plain, n)) == end)
				buf_addf(why, "%s%.*s", near++ ? ", " : "; there are ", (int)len,
					 name);
	if (near || n < 3)
		return;
	/* By what its first letters have in common with it. */
	for (p = all; next_function(&p, &name, &len);)
		if (!strncmp(name, plain, 2)) {
			buf_add(&copy, name, len);
			buf_addc(&copy, 0);
			cap++;
		}
	names = calloc(cap + 1, sizeof(*names));
	p = buf_str(&copy);
	for (size_t i = 0; names && i < cap; i++, p += strlen(p) + 1)
		names[i] = p;
	p = names && cap ? opt_nearest(plain, names, cap) : NULL;
	if (p)
		buf_addf(why, "; did you mean %s?", p);
	free(names);
	buf_release(&copy);
}

static int none_fits(const char *all, const char *word, struct buf *why)
{
	char plain[128];

	snprintf(plain, sizeof(plain), "%.*s", (int)pattern_len(word), word);
	buf_reset(why);
	buf_adds(why, "the kernel has no function that can be traced like '");
	buf_add_safe(why, plain, strlen(plain));
	buf_addc(why, '\'');
	suggest(all, plain, why);
	return PP_ENOENT;
}

/* A name or pattern that is looked for, and whether a function fits it. */
struct sought {
	const char *text;
	size_t len;
	bool fits;
};

static int by_text(const void *a, const void *b)
{
	const struct sought *x = a, *y = b;
	int order = memcmp(x->text, y->text, x->len < y->len ? x->len : y->len);

	return order ? order : (x->len > y->len) - (x->len < y->len);
}

/* The words that are names, or those that are patterns. Adds them to v; how many. */
static size_t look_for(const struct ftrace_words *words, bool patterns, bool commands,
		       struct sought *v)
{
	size_t n = 0;

	for (size_t i = 0; i < words->n; i++) {
		const char *word = words->v[i];
		size_t len = pattern_len(word);

		if (len && (commands || !is_command(word)) &&
		    (strcspn(word, "*?[\\") < len) == patterns)
			v[n++] = (struct sought){word, len, false};
	}
	return n;
}

/* Sorts names, and keeps one of equal ones. */
static size_t unique(struct sought *v, size_t n)
{
	size_t kept = 0;

	qsort(v, n, sizeof(*v), by_text);
	for (size_t i = 0; i < n; i++)
		if (!i || by_text(&v[i], &v[kept - 1]) != 0)
			v[kept++] = v[i];
	return kept;
}

/* Whether a function is wanted; notes by which. */
static bool is_sought(struct sought *v, size_t n, size_t n_names, const char *name, size_t len)
{
	const struct sought key = {name, len, false};
	struct sought *is = bsearch(&key, v, n_names, sizeof(*v), by_text);
	bool any = is != NULL;

	if (is)
		is->fits = true;
	for (size_t i = n_names; i < n; i++)
		if (glob_match(v[i].text, v[i].len, name, len))
			any = v[i].fits = true;
	return any;
}

/*
 * The numbers of the functions that fit the words, from 1, a line each. commands: also those with
 * a command. *unfit: a word that none fits, or NULL.
 */
static int find_numbers(const char *all, const struct ftrace_words *words, bool commands,
			struct buf *list, const char **unfit)
{
	size_t n, n_names, len, number = 0;
	struct sought *v = calloc(words->n + 1, sizeof(*v));
	const char *name, *p = all;

	if (!v)
		return PP_ENOMEM;
	n_names = unique(v, look_for(words, false, commands, v));
	n = n_names + look_for(words, true, commands, v + n_names);
	*unfit = NULL;
	while (next_function(&p, &name, &len)) {
		number++;
		if (!is_sought(v, n, n_names, name, len))
			continue;
		buf_add_u64(list, number, 0, ' ');
		buf_addc(list, '\n');
	}
	for (size_t i = 0; i < n && !*unfit; i++)
		if (!v[i].fits)
			*unfit = v[i].text;
	free(v);
	return list->err;
}

/* Many words: as numbers. */
static int by_numbers(const struct setup *s, const char *file, const struct ftrace_words *words,
		      const char *all, struct buf *why)
{
	struct buf list = BUF_INIT;
	const char *unfit;
	int rc = find_numbers(all, words, false, &list, &unfit);

	if (!rc && unfit)
		rc = none_fits(all, unfit, why);
	if (!rc && list.len)
		rc = ftfiles_set_lines(&s->files, file, buf_str(&list), why);
	buf_release(&list);
	return rc;
}

/* The word that nothing fits, after the kernel has refused the list. */
static int which(const struct setup *s, const struct ftrace_words *words, int rc, struct buf *why)
{
	struct buf all = BUF_INIT, list = BUF_INIT;
	const char *unfit;

	if (rc && rc != PP_ENOMEM && rc != PP_EACCES && !load(s->root, &all) &&
	    !find_numbers(buf_str(&all), words, true, &list, &unfit) && unfit)
		rc = none_fits(buf_str(&all), unfit, why);
	buf_release(&list);
	buf_release(&all);
	return rc;
}

static int by_names(const struct setup *s, const char *file, const struct ftrace_words *words,
		    struct buf *why)
{
	struct buf list = BUF_INIT;
	int rc;

	for (size_t i = 0; i < words->n; i++)
		if (!is_command(words->v[i]))
			buf_addf(&list, "%s\n", words->v[i]);
	rc = list.err;
	if (!rc && list.len)
		rc = ftfiles_set_lines(&s->files, file, buf_str(&list), why);
	buf_release(&list);
	return which(s, words, rc, why);
}

/*
 * "GLOB:mod:MODULE". Of a module that is not loaded the kernel takes it for later, and traces all
 * functions until then.
 */
static int check_module(const struct setup *s, const char *word, struct buf *why)
{
	const char *module = strstr(word, ":mod:"), *name, *p;
	struct buf all = BUF_INIT;
	bool found = false;
	size_t n, len;

	if (!module || load(s->root, &all))
		return 0;
	n = (size_t)(module - word);
	module += strlen(":mod:");
	for (p = buf_str(&all); !found && next_function(&p, &name, &len);) {
		const char *of = name + len + strspn(name + len, " \t");
		size_t end = strcspn(of, "]\n");

		found = *of == '[' && (!n || glob_match(word, n, name, len)) &&
			glob_match(module, strlen(module), of + 1, end - 1);
	}
	if (!found && all.len) {
		buf_addf(why, "no function that matches '");
		buf_add_safe(why, word, strlen(word));
		buf_adds(why, "' can be traced: is the module loaded?");
	}
	n = all.len;
	buf_release(&all);
	return found || !n ? 0 : PP_ENOENT;
}

/* "FUNCTION:dump[:COUNT]" and cpudump print the buffer at the top, and switch that off. */
static int check_dump(const char *word, struct buf *why)
{
	const char *command = strchr(word, ':') + 1;

	command += strncmp(command, "cpu", 3) ? 0 : 3;
	if (strncmp(command, "dump", 4) || (command[4] && command[4] != ':'))
		return 0;
	buf_adds(why, "'");
	buf_add_safe(why, word, strlen(word));
	buf_adds(why, "' has no effect here: for it the kernel prints the buffer of the top level,"
		      " not that of the recording");
	return PP_EUNSUPPORTED;
}

static int commands(const struct setup *s, const char *file, const struct ftrace_words *words,
		    struct buf *why)
{
	char undo[600];
	int rc = 0;

	for (size_t i = 0; i < words->n && !rc; i++) {
		if (!is_command(words->v[i]))
			continue;
		snprintf(undo, sizeof(undo), "!%s", words->v[i]);
		rc = check_dump(words->v[i], why);
		if (!rc)
			rc = check_module(s, words->v[i], why);
		if (!rc)
			rc = which(s, words, ftfiles_add(&s->files, file, words->v[i], undo, why),
				   why);
	}
	return rc;
}

int setup_functions(struct setup *s, const char *file, const struct ftrace_words *words,
		    struct buf *why)
{
	struct buf all = BUF_INIT;
	size_t plain = 0;
	int rc = 0;

	for (size_t i = 0; i < words->n; i++)
		plain += !is_command(words->v[i]);
	/* The lists of function_graph know no numbers. */
	if (plain > NAMES_FEW && !strncmp(file, "set_ftrace_", 11) && !load(s->root, &all) &&
	    all.len) {
		rc = by_numbers(s, file, words, buf_str(&all), why);
		/* Before Linux 5.1 there were no numbers. */
		if (rc && rc != PP_ENOENT)
			buf_reset(why);
	}
	if (plain && (!all.len || (rc && rc != PP_ENOENT)))
		rc = by_names(s, file, words, why);
	buf_release(&all);
	return rc ? rc : commands(s, file, words, why);
}
