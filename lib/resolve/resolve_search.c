/* Where the files of a DSO are looked for, and what proves that they are the recorded ones. */
#include "resolve/resolve_parts.h"

/* Proven by build-id or, of a file of this machine, by inode. */
void resolve_search(struct resolver *r, struct machine *m, const struct rdso *d,
		    struct dso_search *search)
{
	*search = r->opts.search;
	search->root = d->live_root;
	search->here = origin_files(&m->host.kernel.origin) == ORIGIN_HERE;
	if (r->opts.force || r->opts.like_perf)
		return;
	search->inode = &d->inode;
	search->mapped = search->here && d->mapped[0] ? d->mapped : NULL;
}
