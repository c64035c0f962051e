/* Reads event streams for --emit wall and chain, writes what was asked for, and accounts for it. */
#include "wall/parts.h"

#include "base/err.h"
#include "filter/filter.h"
#include "table/unit.h"

#include <inttypes.h>
#include <unistd.h>

struct run {
	const struct wall_opts *o;
	struct wall w;
	struct wall_chains c; /* of WALL_EMIT only its `e` */
};

/* What is left out of the stream. */
static void say_aside(const struct wall_chains *c, struct diag *d)
{
	const struct wall_emit *e = &c->e;
	struct buf b = BUF_INIT;

	if (e->aside) {
		unit_add(&b, (hist_int)e->aside, "ns");
		diag_say(d, NULL, "%s of waiting at idle places are left out (--idle shows them)",
			 buf_str(&b));
	}
	if (e->missing)
		diag_say(d, NULL, "%" PRIu64 " stacks are missing: there were too many",
			 e->missing);
	if (c->deep)
		diag_say(d, NULL, "%" PRIu64 " chains go on beyond %u wakers", c->deep,
			 WALL_WAKERS);
	wall_say_cut(c->cut, d);
	buf_release(&b);
}

/* What is done with each piece of a thread's time. 0 or PP_ENOMEM. */
static int choose(struct run *run)
{
	struct wall *w = &run->w;
	bool chains = run->o->form == WALL_EMIT_CHAIN;

	run->c.e.event = chains ? "chain" : "wall";
	run->c.e.idle = run->o->idle;
	w->segment = chains ? wall_chains_segment : wall_emit_segment;
	w->end = chains ? NULL : wall_emit_end;
	w->moved = chains ? wall_chains_moved : wall_emit_moved;
	w->ctx = chains ? (void *)&run->c : &run->c.e;
	if (chains)
		run->c.paths = wall_paths_new(WALL_WINDOW);
	return chains && !run->c.paths ? PP_ENOMEM : 0;
}

static int on_record(void *ctx, const struct sreader *r, const struct ps_record *rec)
{
	struct run *run = ctx;
	int rc = 0;

	/* A new stream: the threads of the last one are complete before it is begun. */
	if (rec->type != PS_HEADER)
		rc = wall_emit_record(&run->c.e, &run->w, r, rec);
	if (!rc)
		rc = wall_engine_record(&run->w, r, rec);
	if (!rc && rec->type == PS_HEADER)
		wall_chains_forget(&run->c);
	if (!rc && rec->type == PS_HEADER)
		rc = wall_emit_record(&run->c.e, &run->w, r, rec);
	return rc;
}

static int run_emit(struct run *run, char **names, int n, struct diag *d)
{
	const struct wall_opts *o = run->o;
	struct filter f = {.name = "plat",
			   .argc = o->argc,
			   .argv = o->argv,
			   .keep = WALL_KEEP,
			   .record = on_record,
			   .ctx = run};
	struct ps_end end = {0};
	struct ssink sink;

	if (ssink_open(&sink, STDOUT_FILENO, &o->sink, d))
		return PP_EXIT_FAIL;
	run->c.e.w = &sink.w;
	filter_run(&f, names, n, &sink, d, &end);
	if (end.status != PP_EXIT_FAIL && wall_engine_end(&run->w)) {
		diag_error(d, NULL, -1, "out of memory");
		end.status = PP_EXIT_FAIL;
	}
	if (end.status != PP_EXIT_FAIL && (!run->c.e.n || !run->w.account.switches)) {
		wall_say_nothing(&run->w, d);
		end.status = PP_EXIT_PARTIAL;
	} else {
		say_aside(&run->c, d);
		if ((wall_say(&run->w, run->w.account.unknown, run->w.account.total, d) ||
		     run->c.cut) &&
		    !end.status)
			end.status = PP_EXIT_PARTIAL;
	}
	if (o->strict && (end.lost || run->w.account.unknown_wakers) && !end.status)
		end.status = PP_EXIT_PARTIAL;
	return ssink_close(&sink, &end, d);
}

int wall_run(const struct wall_opts *o, char **names, int n, struct diag *d)
{
	struct run run = {.o = o};
	int status;

	if (o->form != WALL_EMIT && o->form != WALL_EMIT_CHAIN)
		return wall_run_paths(o, names, n, d);
	if (wall_engine_init(&run.w, o, d) || choose(&run)) {
		diag_error(d, NULL, -1, "out of memory");
		status = PP_EXIT_FAIL;
	} else {
		status = run_emit(&run, names, n, d);
	}
	wall_emit_release(&run.c.e);
	wall_chains_release(&run.c);
	wall_engine_release(&run.w);
	return status;
}
