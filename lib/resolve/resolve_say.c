/*
 * What is reported of files that could not be read, whoever finds it out.
 */
#include "resolve/resolve_parts.h"

#include "base/err.h"

void resolve_say_failed(struct resolver *r, const char *path, int err)
{
	if (!err)
		return;
	diag_warn(r->d, path, -1, "cannot be read: %s; names are missing", pp_strerror(err));
	r->stats.failed++;
}

void resolve_say_unread(struct resolver *r, struct rdso *d)
{
	int err = d->cfi ? cfi_failed(d->cfi) : 0;

	if (!err)
		return;
	diag_warn(r->d, d->path, -1, "cannot be read: %s; stacks are cut off", pp_strerror(err));
	r->stats.failed++;
}
