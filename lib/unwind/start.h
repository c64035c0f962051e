/*
 * Where stacks begin: whether an address is in a function that nothing else calls, at which a walk
 * up a stack is complete. It is decided here alone, in three ways:
 *
 *	rc = start_by_table(cfi, rows, vaddr, &is);	(the return address is undefined; the entry)
 *	is = start_by_name("start_thread", true);
 *	rc = start_by_code(cfi, &anchors, vaddr, &is);
 *
 * The first is what unwinding by tables ends at. The others are for chains of frame pointers alone,
 * which end one or two calls earlier where the C library keeps none: at the function that calls
 * main, or a thread's first. Stripped libraries have no names for these, but the two functions that
 * they export lead there: __libc_start_main calls it, and pthread_create, or what that calls, takes
 * its address.
 */
#ifndef PP_UNWIND_START_H
#define PP_UNWIND_START_H

#include "unwind/cfi.h"

/* Functions of a file that lead to starts: [0, 0) those that it does not have. */
struct start_anchors {
	uint64_t main[2];   /* __libc_start_main */
	uint64_t thread[2]; /* pthread_create */
	bool go;	    /* it has Go's runtime */
};

/* Whether a symbol is one of them: it goes into its place. */
void start_anchor(struct start_anchors *a, const char *name, uint64_t start, uint64_t end);

/* 0, or an error of cfi_row. rows: those that the cfi was made with. */
int start_by_table(struct cfi *c, const struct rows *rows, uint64_t vaddr, bool *is);

/*
 * By the name of its symbol. `threads`: the file makes threads (it has pthread_create), so that
 * names that any program could give its functions mean what they do in a C library.
 */
bool start_by_name(const char *name, bool threads);

/* By the code of the anchors; only x86-64. 0 or PP_ENOMEM. */
int start_by_code(struct cfi *c, const struct start_anchors *a, uint64_t vaddr, bool *is);

#endif
