/*
 * What pprobe learns of a binary: functions, places, variables with their locations and types,
 * inlined copies, lines, markers; and the definitions that are made from them.
 */
#include "base/err.h"
#include "inspect/inlined.h"
#include "inspect/source_lines.h"
#include "inspect/loc.h"
#include "inspect/scope.h"
#include "inspect/usdt.h"
#include "probe/define.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#define STEPS 20000 /* entries of DWARF that one input may have */

struct world {
	struct binary *b;
	struct scopes scopes;
	uint64_t pc;
	struct buf out;
};

static void message(void *ctx, const char *line, size_t n)
{
	(void)ctx;
	(void)line;
	(void)n;
}

/* Every step that an expression can make from a variable. */
static void parts(struct world *w, struct loc l, int depth)
{
	struct sequence s;
	struct loc to;

	loc_bits(&l);
	place_show(&l.place, w->b, w->pc, &w->out);
	if (!l.untyped)
		type_name(&l.type, &w->out);
	if (depth == 3)
		return;
	if (loc_sequence(&l, &s))
		place_show(&s.data.place, w->b, w->pc, &w->out);
	to = l;
	if (!loc_settle(&to) && !loc_deref(&to))
		parts(w, to, depth + 1);
	to = l;
	if (!loc_index(&to, 1))
		parts(w, to, depth + 1);
	to = l;
	if (!loc_member(&to, "next", 4))
		parts(w, to, depth + 1);
	to = l;
	if (!loc_member(&to, "a", 1))
		parts(w, to, depth + 1);
}

static int on_variable(void *ctx, const struct variable *v)
{
	struct world *w = ctx;
	Dwarf_Die die = v->die;
	struct loc l = {0};

	buf_reset(&w->out);
	place_of(&l.place, w->b, w->scopes.n ? &w->scopes.die[0] : NULL, &die, w->pc);
	l.untyped = type_of(&die, &l.type) != 0;
	parts(w, l, 0);
	return 0;
}

static int on_place(void *ctx, const struct inlined_place *p)
{
	(void)ctx;
	return p->name ? 0 : 1;
}

static int on_marker(void *ctx, const struct usdt *u)
{
	struct world *w = ctx;
	const char *at = u->args;
	char type[16];

	for (int i = 0; i < 8; i++)
		if (usdt_operand(w->b, u, &at, &w->out, type))
			break;
	return 0;
}

static void look(struct world *w, const struct funcs *t)
{
	struct line_row row;

	for (uint32_t i = 0; i < t->n && i < 16; i++)
		for (uint64_t at = 0; at < 24; at += 8) {
			w->pc = t->v[i].addr + at;
			if (scopes_at(&w->scopes, w->b, w->pc))
				continue;
			scopes_each(&w->scopes, w->scopes.n - 1, on_variable, w);
			scopes_globals(&w->scopes, on_variable, w);
			scope_body(&w->scopes);
			scope_is_llvm(&w->scopes);
			lines_at(w->b, w->pc, &row);
		}
	inlined_each(w->b, NULL, NAME_PART, on_place, w);
	usdt_each(w->b, on_marker, w);
}

static void define(struct world *w, struct funcs *t, struct diag *d)
{
	static const char *const texts[] = {"* $vars", "*%return $retval", "f:1 p->next->a *p",
					    "f;* $params"};

	for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
		struct definer df;

		definer_init(&df, w->b, t, d);
		definer_add(&df, texts[i]);
		definer_release(&df);
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct world w = {0};
	struct funcs funcs;
	struct diag *d = NULL;
	char path[64];
	int fd = memfd_create("input", MFD_CLOEXEC);

	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	if (!diag_new(&d, "fuzz", message, NULL) && fd >= 0 &&
	    write(fd, data, size) == (ssize_t)size && !binary_open(&w.b, path, d)) {
		w.b->steps = STEPS;
		if (!funcs_load(&funcs, w.b)) {
			look(&w, &funcs);
			define(&w, &funcs, d);
			funcs_release(&funcs);
		}
		binary_close(w.b);
	}
	buf_release(&w.out);
	diag_free(d);
	if (fd >= 0)
		close(fd);
	return 0;
}
