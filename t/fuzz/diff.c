/*
 * pdiff: recordings as folded text, tables or streams, and noise tables, in all its forms. The
 * first byte chooses the form and what is a noise table, the second the options; after them come
 * the parts, with lines of "%%" between: recordings of the base and new ones in turn.
 */
#include "base/buf.h"
#include "base/err.h"
#include "diff/diff.h"

#include <fcntl.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#define PARTS_MAX 8

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

struct part {
	int fd;
	char name[32];
};

static int collect(void *ctx, uint8_t *bytes, size_t n)
{
	buf_add(ctx, bytes, n);
	return 0;
}

static int make_part(struct part *p, const uint8_t *data, size_t n)
{
	p->fd = memfd_create("fuzz", MFD_CLOEXEC);
	if (p->fd < 0)
		return PP_EIO;
	snprintf(p->name, sizeof(p->name), "/proc/self/fd/%d", p->fd);
	return write(p->fd, data, n) == (ssize_t)n ? 0 : PP_EIO;
}

/* Cuts at the lines of "%%". */
static unsigned make_parts(struct part *parts, const uint8_t *data, size_t size)
{
	unsigned n = 0;

	while (n < PARTS_MAX) {
		const uint8_t *end = memmem(data, size, "\n%%\n", 4);
		size_t len = end ? (size_t)(end - data) + 1 : size;

		if (make_part(&parts[n++], data, len) || !end)
			break;
		size -= len + 3;
		data = end + 4;
	}
	return n;
}

/* The two counts of each line are numbers, and both sides have as many. */
static void check_folded(const char *text)
{
	double sums[2] = {0, 0};

	for (const char *line = text; *line; line += strcspn(line, "\n") + 1) {
		const char *end = line + strcspn(line, "\n"), *at = end;

		if (*line == '#')
			continue;
		for (int side = 1; side >= 0; side--) {
			while (at > line && at[-1] != ' ')
				at--;
			if (at - 1 <= line)
				abort();
			sums[side] += strtod(at, NULL);
			at--;
		}
	}
	if (sums[0] < 0 || sums[1] < 0)
		abort();
}

/* JSON has neither of these numbers; names of functions are in quotes. */
static void check_json(const char *text)
{
	bool quoted = false;

	for (const char *p = text; *p; p++) {
		if (*p == '"')
			quoted = !quoted;
		else if (quoted && *p == '\\' && p[1])
			p++;
		else if (!quoted && (!strncmp(p, "nan", 3) || !strncmp(p, "inf", 3)))
			abort();
	}
	if (quoted)
		abort();
}

static void check(enum diff_form form, const char *text, size_t len)
{
	if (form == DIFF_FORM_FOLDED)
		check_folded(text);
	if (form == DIFF_FORM_MARKDOWN && len > 60000)
		abort();
	if (form == DIFF_FORM_JSON)
		check_json(text);
	for (size_t i = 0; i < len; i++)
		if ((uint8_t)text[i] < ' ' && text[i] != '\n' && text[i] != '\t')
			abort();
}

static void compare(struct diff *d, enum diff_form form)
{
	struct buf b = BUF_INIT;
	struct out out;

	if (diff_run(d) || out_init_fn(&out, collect, &b))
		return;
	if (!diff_write(d, form, &out) && !out_flush(&out))
		check(form, buf_str(&b), b.len);
	out_release(&out);
	buf_release(&b);
}

/* The number that ends each line is one; names before it may say "nan". */
static void check_noise(const char *text)
{
	for (const char *end; (end = strchr(text, '\n')); text = end + 1) {
		const char *tab = memrchr(text, '\t', (size_t)(end - text));

		if (tab && !isfinite(strtod(tab + 1, NULL)))
			abort();
	}
}

static void learn(struct diff *d)
{
	struct buf b = BUF_INIT;
	struct out out;

	if (out_init_fn(&out, collect, &b))
		return;
	if (!diff_learn(d, &out) && !out_flush(&out))
		check_noise(buf_str(&b));
	out_release(&out);
	buf_release(&b);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static const char *const by[] = {"function", "stack", "comm", "sym"};
	struct diff_opts o = DIFF_OPTS_INIT;
	struct part parts[PARTS_MAX];
	unsigned n, first;
	struct diff *d;
	int rc = 0;

	if (size < 2)
		return 0;
	n = make_parts(parts, data + 2, size - 2);
	first = data[0] >> 3 & 1;
	o.noise = first ? parts[0].name : NULL;
	o.stacks = data[0] % 6 == DIFF_FORM_FOLDED;
	o.by = by[data[1] & 3];
	o.norm = (enum diff_norm)((data[1] >> 2 & 7) % 4);
	o.exact = data[1] & 32;
	o.binomial = data[1] & 64;
	o.any = data[1] & 128;
	if (!diff_new(&d, &o, NULL)) {
		for (unsigned i = first; i < n && !rc; i++)
			rc = diff_add(d, (i - first) % 2 ? DIFF_OTHER : DIFF_BASE, parts[i].name);
		if (!rc && data[0] & 16)
			learn(d);
		else if (!rc)
			compare(d, (enum diff_form)(data[0] % 6));
		diff_free(d);
	}
	for (unsigned i = 0; i < n; i++)
		if (parts[i].fd >= 0)
			close(parts[i].fd);
	return 0;
}
