/*
 * Folds the maps of bpftrace that are keyed by stacks and counted, as it prints them at its end:
 *
 *	@[
 *	    inner+1
 *	    outer+2
 *	, comm]: 12
 *
 * Keys stand one after the other, separated by ", ": a line of its own between two stacks, before
 * the rest of the keys otherwise. All are frames, leaf first. An empty stack leaves
 * "@[, comm]: 12".
 */
#include "fold/by.h"
#include "fold/readers.h"

#include <stdlib.h>
#include <string.h>

struct reader {
	struct fold *fold;
	struct fold_frames frames; /* leaf first */
	bool open;		   /* within a map's key */
};

/* The place of the last "]: " with a digit after it, or NULL. */
static const char *find_end(const char *p, size_t n)
{
	for (size_t i = n; i-- > 0;)
		if (p[i] == ']' && n - i > 3 && p[i + 1] == ':' && p[i + 2] == ' ' &&
		    fold_is(p[i + 3], FOLD_DIGIT))
			return p + i;
	return NULL;
}

static uint64_t count_at(const char *p, const char *end)
{
	const char *stop = p;

	while (stop < end && fold_is(*stop, FOLD_DIGIT))
		stop++;
	return fold_number(p, (size_t)(stop - p));
}

static int add_frame(struct reader *r, const char *p, size_t n)
{
	uint32_t name;
	int rc = fold_name(r->fold, p, n, &name);

	return rc ? rc : fold_frames_push(&r->frames, r->fold, name);
}

static int end_stack(struct reader *r, uint64_t count)
{
	struct fold_account *account = fold_account(r->fold);
	uint32_t node;
	int rc = 0;

	if (!r->frames.n)
		rc = add_frame(r, "", 0);
	if (!rc)
		rc = fold_stack(r->fold, r->frames.names, r->frames.n, &node);
	if (rc)
		return rc;
	fold_add(r->fold, node, count);
	account->samples++;
	if (r->frames.n > 1)
		account->folded++;
	else
		account->bare++;
	r->open = false;
	r->frames.n = 0;
	return 0;
}

/* A line outside of keys. */
static int outer_line(struct reader *r, struct fold_lines *l, const char *p, size_t n)
{
	const char *end = p + n, *key = p, *stop;
	int rc = 0;

	if (n && *key == '@')
		for (key++; key < end && fold_is(*key, FOLD_WORD);)
			key++;
	if (key > p && key < end && *key == '[') {
		stop = find_end(key, (size_t)(end - key));
		r->open = key + 1 == end;
		if (r->open)
			return 0;
		if (stop && key[1] == ',' && fold_is(key[2], FOLD_SPACE)) {
			if (stop > key + 3)
				rc = add_frame(r, key + 3, (size_t)(stop - key - 3));
			return rc ? rc : end_stack(r, count_at(stop + 3, end));
		}
	}
	/* bpftrace says how many probes it attaches; empty lines separate maps. */
	if (n && !(n > 10 && !memcmp(p, "Attaching ", 10)))
		fold_lines_odd(l, p, n);
	return 0;
}

/* A line of a key. */
static int inner_line(struct reader *r, const char *p, size_t n)
{
	const char *end = p + n, *stop = find_end(p, n);
	int rc = 0;

	if (!stop) {
		while (p < end && fold_is(*p, FOLD_SPACE))
			p++;
		/* What separates two stacks is no frame. */
		if (p == end || (*p == ',' && (end - p == 1 || (end - p == 2 && p[1] == ' '))))
			return 0;
		return add_frame(r, p, (size_t)(end - p));
	}
	if (p < stop && *p == ',')
		p++;
	if (p < stop && fold_is(*p, FOLD_SPACE))
		p++;
	if (p < stop)
		rc = add_frame(r, p, (size_t)(stop - p));
	return rc ? rc : end_stack(r, count_at(stop + 3, end));
}

int fold_bpftrace(struct fold *f, struct fold_lines *l)
{
	struct reader r = {.fold = f};
	const char *p;
	size_t n;
	int rc = fold_text_can(f, src_name(l->src), "bpftrace text", false, false);

	while (!rc && !(rc = fold_lines_next(l, &p, &n))) {
		rc = r.open ? inner_line(&r, p, n) : outer_line(&r, l, p, n);
		if (rc)
			break;
	}
	free(r.frames.names);
	if (rc == PP_END && r.open) {
		diag_warn(fold_diag(f), src_name(l->src), (int64_t)l->line,
			  "input is cut off: the last stack has no count");
		return PP_ECUT;
	}
	return rc == PP_END ? 0 : rc;
}
