/*
 * Address spaces of processes, as the context records of a stream build them up.
 *
 *	struct spaces *s;
 *	spaces_new(&s);
 *	spaces_map(s, pid, &(struct map){.start = 0x400000, .end = 0x401000, .dso = 3});
 *	spaces_fork(s, child, parent);
 *	const struct space *sp = spaces_get(s, pid);
 *	const struct map *m = space_find(sp, ip);	(NULL: nothing is mapped there)
 *	spaces_free(s);
 *
 * A forked process shares the mappings of its parent, also those that stay when some of them
 * change. The serial number of a space changes whenever an address that was looked up before could
 * now mean something else: what was found with the same serial is still true.
 */
#ifndef PP_SYMBOL_SPACE_H
#define PP_SYMBOL_SPACE_H

#include "symbol/maps.h"

struct space;
struct spaces;

int spaces_new(struct spaces **s);
void spaces_free(struct spaces *s); /* NULL is fine */

/* A mapping came in; what it covers of older ones is gone. 0, PP_ENOMEM, PP_ELIMIT. */
int spaces_map(struct spaces *s, uint32_t pid, const struct map *m);

/* A process began with a copy of its parent's mappings. */
int spaces_fork(struct spaces *s, uint32_t pid, uint32_t parent);

/* A process began without mappings. */
void spaces_clear(struct spaces *s, uint32_t pid);

/*
 * A process replaces its image (exec). Its user registers still point to what it had mapped
 * while the kernel sets the new image up, so it belongs with spaces_settle: to be called when the
 * process is seen in user space.
 */
int spaces_exec(struct spaces *s, uint32_t pid);
int spaces_settle(struct spaces *s, uint32_t pid);

/*
 * A process ended. It is kept for samples that come late, until ENDED_MAX others ended
 * (base/ended.h).
 */
void spaces_exit(struct spaces *s, uint32_t pid);

/* The space of a process; NULL if nothing is known of it. Lives until the next change. */
struct space *spaces_get(const struct spaces *s, uint32_t pid);

/* The mapping at an address, or NULL: which the space remembers, so that its serial is right. */
const struct map *space_find(struct space *sp, uint64_t addr);

/* Never 0. */
uint32_t space_serial(const struct space *sp);

/*
 * A number of the caller's for a process: its copy also has it, and exec removes it.
 * 0: none.
 */
int spaces_set_tag(struct spaces *s, uint32_t pid, uint32_t tag);
uint32_t space_tag(const struct space *sp);

/* What was looked up in the space may have changed. */
void spaces_touch(struct spaces *s, struct space *sp);

#endif
