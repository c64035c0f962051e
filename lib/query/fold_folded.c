#include "query/fold_lines.h"

#include <stdlib.h>
#include <string.h>

/* Folded text: "comm;outer;inner COUNT", in any order; the count is behind the last space. */

struct reader {
	struct fold *fold;
	uint32_t *names; /* room for FOLD_DEPTH_MAX */
};

static int fold_line(struct reader *r, const char *p, size_t n, uint64_t count)
{
	struct fold_account *account = fold_account(r->fold);
	const char *end = p + n;
	uint32_t node;
	size_t k = 0;
	int rc = 0;

	for (;;) {
		const char *stop = memchr(p, ';', (size_t)(end - p));

		if (k == FOLD_DEPTH_MAX)
			fold_too_deep(r->fold, 1);
		else
			rc = fold_name(r->fold, p, (size_t)((stop ? stop : end) - p),
				       &r->names[k++]);
		if (rc)
			return rc;
		if (!stop)
			break;
		p = stop + 1;
	}
	for (size_t i = 0; i < k / 2; i++) {
		uint32_t t = r->names[i];

		r->names[i] = r->names[k - 1 - i];
		r->names[k - 1 - i] = t;
	}
	rc = fold_stack(r->fold, r->names, k, &node);
	if (rc)
		return rc;
	fold_add(r->fold, node, count);
	account->samples++;
	if (k > 1)
		account->folded++;
	else
		account->bare++;
	return 0;
}

int fold_folded(struct fold *f, struct fold_lines *l)
{
	struct reader r = {.fold = f};
	const char *p;
	size_t n;
	int rc;

	r.names = malloc(FOLD_DEPTH_MAX * sizeof(*r.names));
	if (!r.names)
		return PP_ENOMEM;
	while (!(rc = fold_lines_next(l, &p, &n))) {
		size_t stack;

		while (n && fold_is(p[n - 1], FOLD_SPACE))
			n--;
		if (!n)
			continue;
		stack = n;
		while (stack && fold_is(p[stack - 1], FOLD_DIGIT))
			stack--;
		if (stack == n || stack < 2 || !fold_is(p[stack - 1], FOLD_SPACE)) {
			fold_lines_odd(l, p, n);
			continue;
		}
		rc = fold_line(&r, p, stack - 1, fold_number(p + stack, n - stack));
		if (rc)
			break;
	}
	free(r.names);
	return rc == PP_END ? 0 : rc;
}
