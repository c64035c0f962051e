/*
 * Tar archives: an index of one in memory, and a writer.
 *
 *	struct tar t;
 *	rc = tar_index(&t, bytes, len);
 *	if (!tar_find(&t, "/usr/bin/true", &file))
 *		... file.bytes, file.len ...
 *	tar_release(&t);
 *
 * Formats: ustar and pax (POSIX.1-2001, pax(1)), and of GNU tar the long names and the numbers in
 * base 256. Names are only looked up, never created, so that no name can lead out of the archive:
 * "." and empty components are removed from them, and members with ".." are skipped.
 */
#ifndef PP_SYMBOL_TAR_H
#define PP_SYMBOL_TAR_H

#include "base/intern.h"
#include "base/out.h"

#define TAR_MEMBERS_MAX (1u << 20)
#define TAR_NAME_MAX	4096 /* bytes of a name; members with longer ones are skipped */
#define TAR_LINKS_MAX	40   /* symbolic links on the way to a file, as Linux has it */

struct tar_file {
	const uint8_t *bytes;
	uint64_t len;
};

struct tar_member {
	uint64_t offset, len; /* in the archive; of a link: of the text that it holds */
	uint32_t target;      /* of a link: id of its name in links; 0: a file */
	bool hard;	      /* the target is a name in the archive, not one beside the link */
};

struct tar {
	const uint8_t *bytes; /* not owned */
	size_t len;
	struct intern names, links;
	struct tar_member *members; /* by the id of the name, from 1 */
	uint32_t cap;
};

/*
 * Reads the headers. The bytes must outlive it. 0; PP_ECUT or PP_ECORRUPT, with the members before
 * the damage in the index; PP_EUNSUPPORTED (the first header is not one of tar); PP_ELIMIT;
 * PP_ENOMEM. To be released in any case.
 */
int tar_index(struct tar *t, const void *bytes, size_t len);
void tar_release(struct tar *t);

/* The last file of that name, through symbolic links, as in a directory "/": 0 or PP_ENOENT. */
int tar_find(const struct tar *t, const char *path, struct tar_file *file);

/*
 * The name that a path has in an archive: without a leading slash, and with ".." leading no higher
 * than its root. 0, or PP_ENOENT when it is too long or nothing is left.
 */
int tar_path(const char *path, char out[TAR_NAME_MAX]);

/* Begins a member of `len` bytes, which follow, then tar_pad. The path has no leading slash. */
int tar_header(struct out *o, const char *path, uint64_t len);
int tar_pad(struct out *o, uint64_t len);

/* The end of the archive. */
int tar_end(struct out *o);

#endif
