/* Folded text: "comm;outer;inner COUNT", in any order; the count is what follows the last space. */
#include "fold/by.h"
#include "fold/readers.h"

#include <stdlib.h>
#include <string.h>

/* root: a frame above all; 0: none. */
static int fold_line(struct fold *f, struct fold_frames *frames, const char *p, size_t n,
		     uint64_t count, uint32_t root)
{
	struct fold_account *account = fold_account(f);
	const char *end = p + n, *stop;
	uint32_t node, name;
	int rc;

	frames->n = 0;
	rc = root ? fold_frames_push(frames, f, root) : 0;
	if (rc)
		return rc;
	do {
		stop = memchr(p, ';', (size_t)(end - p));
		rc = fold_name(f, p, (size_t)((stop ? stop : end) - p), &name);
		if (frames->n == FOLD_DEPTH_MAX)
			fold_too_deep(f, 1); /* the root came first, and stays */
		else if (!rc)
			rc = fold_frames_push(frames, f, name);
		if (rc)
			return rc;
		p = stop ? stop + 1 : end;
	} while (stop);
	fold_frames_reverse(frames);
	rc = fold_stack(f, frames->names, frames->n, &node);
	if (rc)
		return rc;
	fold_add(f, node, count);
	account->samples++;
	if (frames->n > 1)
		account->folded++;
	else
		account->bare++;
	return 0;
}

/* Whether a line's stack is of the chosen event, whose root it loses. */
static bool is_chosen(const struct fold_about *a, const char *event, enum fold_has has,
		      const char **p, size_t *n)
{
	const char *stop;
	size_t root;

	if (has != FOLD_HAS_ROOT)
		return has == FOLD_HAS_ALL;
	stop = memchr(*p, ';', *n);
	root = stop ? (size_t)(stop - *p) : *n;
	if (!fold_about_wants(a, event, *p, root))
		return false;
	*p += root + (stop != NULL);
	*n -= root + (stop != NULL);
	return true;
}

/* Whether a stack ends in a number of its own, as in the "main;f 10 12" of a comparison. */
static bool ends_with_number(const char *p, size_t n)
{
	size_t i = n;

	while (i && fold_is(p[i - 1], FOLD_DIGIT))
		i--;
	return i < n && i && p[i - 1] == ' ';
}

int fold_folded(struct fold *f, struct fold_lines *l)
{
	struct fold_about about = {0};
	const char *event = fold_options(f)->event;
	enum fold_has has = FOLD_HAS_ALL;
	bool told = false;
	uint64_t lines = 0, doubles = 0, count;
	struct fold_frames frames = {0};
	const char *p;
	size_t n;
	uint32_t root = 0;
	int rc = 0;

	while (!(rc = fold_lines_next(l, &p, &n))) {
		size_t stack;

		while (n && fold_is(p[n - 1], FOLD_SPACE))
			n--;
		if (!n)
			continue;
		if (n == sizeof(FOLD_PARTIAL) - 1 && !memcmp(p, FOLD_PARTIAL, n)) {
			fold_account(f)->partial = true;
			continue;
		}
		if (fold_about_parse(p, n, &about)) {
			if (event)
				has = fold_about_choose(&about, event);
			rc = has ? fold_tell(f, &about, src_name(l->src)) : 0;
			if (rc)
				break;
			told = true;
			if (fold_by_about(f, &about))
				rc = fold_name(f, about.event, strlen(about.event), &root);
			if (rc)
				break;
			continue;
		}
		if (fold_is_note(p, n))
			continue;
		stack = n;
		while (stack && fold_is(p[stack - 1], FOLD_DIGIT))
			stack--;
		if (stack == n || stack < 2 || !fold_is(p[stack - 1], FOLD_SPACE)) {
			fold_lines_odd(l, p, n);
			continue;
		}
		if (event && !told) {
			diag_error(fold_diag(f), src_name(l->src), -1,
				   "does not say what it counts: --event cannot select");
			rc = PP_EUNSUPPORTED;
			break;
		}
		if (!root)
			rc = fold_text_can(f, src_name(l->src), "folded text", false, false);
		if (rc)
			break;
		fold_account(f)->unsaid |= !told;
		/* One line with a single count decides it. */
		if (doubles == lines++)
			doubles += ends_with_number(p, stack - 1);
		count = fold_number(p + stack, n - stack);
		stack--;
		if (event && !is_chosen(&about, event, has, &p, &stack)) {
			fold_account(f)->samples++;
			fold_account(f)->filtered++;
			continue;
		}
		rc = fold_line(f, &frames, p, stack, count, root);
		if (rc)
			break;
	}
	free(frames.names);
	if (rc != PP_END)
		return rc;
	if (l->odd > lines)
		fold_lines_no_text(l);
	else if (lines && doubles == lines)
		diag_error(fold_diag(f), src_name(l->src), -1, "%s", FOLD_TWO_COUNTS);
	else
		return 0;
	return PP_EUNSUPPORTED;
}
