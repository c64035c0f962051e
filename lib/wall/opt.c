/* The command line options of plat's wall clock. */
#include "wall/wall.h"

#include <string.h>

enum { IDLE = OPT_NO_SHORT };

const struct opt wall_options[] = {
	{IDLE, "idle", NULL, "with --emit wall: also what waits for work at its idle place"},
	{0},
};

int wall_option(void *opts, int id, const char *arg, struct buf *why)
{
	struct wall_opts *o = opts;

	(void)arg;
	(void)why;
	o->any = true;
	switch (id) {
	case IDLE: o->idle = true; break;
	}
	return 0;
}

enum wall_form wall_form_of(const char *emit)
{
	if (emit && strcmp(emit, "wall") == 0)
		return WALL_EMIT;
	return WALL_NONE;
}
