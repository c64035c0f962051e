/* The command line options of plat's wall clock. */
#include "wall/wall.h"

enum { IDLE = OPT_NO_SHORT };

const struct opt wall_options[] = {
	{IDLE, "idle", NULL, "with --emit wall: also what waits for work at its idle place"},
	{0},
};

int wall_option(void *opts, int id, const char *arg, struct buf *why)
{
	struct wall_opts *o = opts;

	(void)id;
	(void)arg;
	(void)why;
	o->idle = true;
	return 0;
}
