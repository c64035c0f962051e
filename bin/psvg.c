/* psvg: draws folded stacks as an interactive flame graph. */
#include "cli.h"
#include "draw/flame.h"

#include <unistd.h>

/* clang-format off */
enum { OPT_SUBTITLE = OPT_NO_SHORT + 1, OPT_WIDTH, OPT_FRAME_HEIGHT, OPT_MIN_WIDTH, OPT_FONT_SIZE,
       OPT_COUNT_NAME, OPT_HASH, OPT_NOTES, OPT_STATS };
/* clang-format on */

static const struct opt opts[] = {
	{'t', "title", "TEXT", "heading (default \"Flame Graph\")"},
	{OPT_SUBTITLE, "subtitle", "TEXT", "second line of the heading"},
	{'i', "inverted", NULL, "icicle graph: the root is at the top"},
	{'r', "reverse", NULL, "merge stacks from the leaf on"},
	{'c', "colors", "PALETTE",
	 "hot (default), mem, io, red, green, blue, aqua, yellow,\n"
	 "                              purple, orange, or kind: kernel, inlined, JIT, C++, others"},
	{OPT_HASH, "hash", NULL, "colours depend on the name alone: always so"},
	{'s', "search", "REGEX", "highlight what matches, to begin with"},
	{OPT_WIDTH, "width", "PIXELS", "fixed width (default: the window's, else 1200)"},
	{OPT_FRAME_HEIGHT, "frame-height", "PIXELS", "height of a frame (default 16)"},
	{OPT_FRAME_HEIGHT, "height", "PIXELS", "the same as --frame-height"},
	{OPT_FONT_SIZE, "font-size", "PIXELS", "size of the text (default 12)"},
	{OPT_FONT_SIZE, "fontsize", "PIXELS", "the same as --font-size"},
	{OPT_MIN_WIDTH, "min-width", "PIXELS",
	 "leave out narrower frames (default 0.1); or NUMBER%"},
	{OPT_MIN_WIDTH, "minwidth", "PIXELS", "the same as --min-width"},
	{OPT_COUNT_NAME, "count-name", "TEXT", "what is counted: samples, ns, ..."},
	{OPT_COUNT_NAME, "countname", "TEXT", "the same as --count-name"},
	{OPT_NOTES, "notes", "TEXT", "put TEXT into the description inside the SVG"},
	{OPT_STATS, "stats", NULL, "print the account of what was read and drawn"},
	{0},
};

static const struct opt_spec spec = {"psvg", "[OPTION]... [FILE]...",
				     "draw folded stacks as an interactive flame graph (SVG)",
				     opts};

struct config {
	struct flame_opts o;
	bool reverse, stats;
};

static int on_option(void *ctx, int id, const char *arg, struct buf *why)
{
	struct config *c = ctx;

	switch (id) {
	case 't': c->o.title = arg; break;
	case OPT_SUBTITLE: c->o.subtitle = arg; break;
	case 'i': c->o.inverted = true; break;
	case 'r': c->reverse = true; break;
	case 'c': return flame_palette_option(arg, &c->o.palette, why);
	case 's': c->o.search = arg; break;
	case OPT_WIDTH:
		c->o.fixed = true;
		return opt_double("width", arg, 100, 100000, &c->o.width, NULL, why);
	case OPT_FRAME_HEIGHT:
		return opt_double("frame-height", arg, 4, 200, &c->o.frame_height, NULL, why);
	case OPT_FONT_SIZE: return opt_double("font-size", arg, 4, 100, &c->o.font_size, NULL, why);
	case OPT_MIN_WIDTH:
		return opt_double("min-width", arg, 0, 100, &c->o.min_width, &c->o.min_percent,
				  why);
	case OPT_COUNT_NAME: c->o.count_name = arg; break;
	case OPT_NOTES: c->o.notes = arg; break;
	case OPT_STATS: c->stats = true; break;
	}
	return 0;
}

static int write_svg(struct flame *f, const struct config *c, struct diag *d)
{
	const struct flame_account *a = flame_account(f);
	struct buf text = BUF_INIT;
	struct out out;
	int rc = out_init(&out, STDOUT_FILENO), closed;

	if (!rc)
		rc = flame_svg(f, &c->o, &out);
	if (rc == PP_END)
		diag_error(d, NULL, -1, "no samples: nothing to draw");
	closed = out_close(&out);
	if (c->stats) {
		flame_describe(f, &text);
		diag_say(d, NULL, "%s", buf_str(&text));
		buf_release(&text);
	}
	if (rc == PP_END)
		return PP_EXIT_PARTIAL;
	if (rc || closed) {
		diag_error(d, NULL, -1, "cannot write: %s", pp_strerror(rc ? rc : closed));
		return PP_EXIT_FAIL;
	}
	return a->malformed || a->deep || a->partial ? PP_EXIT_PARTIAL : PP_EXIT_OK;
}

int main(int argc, char **argv)
{
	struct config c = {.o = FLAME_OPTS_INIT};
	struct flame *f;
	struct cli cli;
	int rc;

	if (cli_start(&cli, &spec, argc, argv, on_option, &c))
		return cli.status;
	rc = flame_new(&f, c.reverse);
	if (rc)
		diag_error(cli.diag, NULL, -1, "%s", pp_strerror(rc));
	else if (cli.first == argc)
		rc = flame_read_file(f, "-", cli.diag);
	for (int i = cli.first; i < argc && !rc; i++)
		rc = flame_read_file(f, argv[i], cli.diag);
	rc = rc ? PP_EXIT_FAIL : write_svg(f, &c, cli.diag);
	flame_free(f);
	return cli_finish(&cli, rc);
}
