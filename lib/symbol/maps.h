/*
 * The mappings of one address space. Copies share what they have in common: a copy costs nothing,
 * and a change of one of them costs a few blocks, however many mappings there are.
 *
 *	struct maps a = {0}, b = {0};
 *	maps_put(&a, &(struct map){.start = 0x400000, .end = 0x401000, .dso = 3});
 *	maps_copy(&b, &a);
 *	maps_put(&b, ...);			(a stays as it is)
 *	const struct map *m = maps_find(&b, ip);
 *	maps_release(&a);
 *	maps_release(&b);
 */
#ifndef PP_SYMBOL_MAPS_H
#define PP_SYMBOL_MAPS_H

#include <stdbool.h>
#include <stdint.h>

/* Mappings of a space: the kernel's limit is 65530, unless vm.max_map_count is another number. */
#define MAPS_MAX (4u << 20)

/* [start, end) are addresses, pgoff is the offset of start in the DSO's file, in bytes. */
struct map {
	uint64_t start, end, pgoff;
	uint32_t dso; /* the caller's number, from 1 */
	uint32_t flags;
};

struct maps_node;

struct maps {
	struct maps_node *root; /* NULL: no mappings */
	uint32_t n;
};

void maps_release(struct maps *s);

/* `to` is empty before. */
void maps_copy(struct maps *to, const struct maps *from);

/*
 * A mapping that begins before it ends; what it covers of older ones is gone. 0, PP_ENOMEM (what it
 * covers may be gone), PP_ELIMIT.
 */
int maps_put(struct maps *s, const struct map *m);

/* The mapping at an address, or NULL. Lives until the next change. */
const struct map *maps_find(const struct maps *s, uint64_t addr);

/* All of them, in the order of addresses. */
void maps_each(const struct maps *s, void (*fn)(void *ctx, const struct map *m), void *ctx);

/* Whether something is mapped in [start, end). */
bool maps_any(const struct maps *s, uint64_t start, uint64_t end);

#endif
