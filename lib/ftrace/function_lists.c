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
	const char *line = *p;
	size_t n = strcspn(line, "\n");

	if (!n)
		return false;
	*name = line;
	*len = strcspn(line, " \t\n");
	*p = line + n + (line[n] == '\n');
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

/* Names that have the word in them, else the nearest one. */
static void suggest(const char *all, const char *word, struct buf *why)
{
	char plain[128] = "";
	const char *name, *p = all, **names;
	size_t len, n = 0, near = 0, cap = 0;
	struct buf copy = BUF_INIT;

	for (size_t i = 0; word[i] && n < sizeof(plain) - 1; i++)
		if (!strchr("*?[]", word[i]))
			plain[n++] = word[i];
	while (n > 2 && near < NEAR_MAX && next_function(&p, &name, &len)) {
		if (!memmem(name, len, plain, n))
			continue;
		buf_addf(why, "%s%.*s", near++ ? ", " : "; there are ", (int)len, name);
	}
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

/* The numbers of the functions that fit a word, from 1, a line each. */
static size_t add_numbers(const char *all, const char *word, struct buf *list)
{
	size_t n = pattern_len(word), len, hits = 0, number = 0;
	const char *name, *p = all;

	while (next_function(&p, &name, &len)) {
		number++;
		if (!glob_match(word, n, name, len))
			continue;
		buf_add_u64(list, number, 0, ' ');
		buf_addc(list, '\n');
		hits++;
	}
	return hits;
}

/* Many words: as numbers. */
static int by_numbers(const struct setup *s, const char *file, const struct ftrace_words *words,
		      const char *all, struct buf *why)
{
	struct buf list = BUF_INIT;
	int rc = 0;

	for (size_t i = 0; i < words->n && !rc; i++)
		if (!is_command(words->v[i]) && !add_numbers(all, words->v[i], &list))
			rc = none_fits(all, words->v[i], why);
	rc = rc ? rc : list.err;
	if (!rc && list.len)
		rc = ftfiles_set_lines(&s->files, file, buf_str(&list), why);
	buf_release(&list);
	return rc;
}

/* The word that nothing fits, after the kernel has refused the list. */
static int which(const struct setup *s, const struct ftrace_words *words, int rc, struct buf *why)
{
	struct buf all = BUF_INIT, list = BUF_INIT;

	if (rc && rc != PP_ENOMEM && rc != PP_EACCES && !load(s->root, &all))
		for (size_t i = 0; i < words->n; i++)
			if (pattern_len(words->v[i]) &&
			    !add_numbers(buf_str(&all), words->v[i], &list)) {
				rc = none_fits(buf_str(&all), words->v[i], why);
				break;
			}
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

static int commands(const struct setup *s, const char *file, const struct ftrace_words *words,
		    struct buf *why)
{
	char undo[600];
	int rc = 0;

	for (size_t i = 0; i < words->n && !rc; i++) {
		if (!is_command(words->v[i]))
			continue;
		snprintf(undo, sizeof(undo), "!%s", words->v[i]);
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
