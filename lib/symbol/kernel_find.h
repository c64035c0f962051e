/*
 * Finding the symbols of a kernel: what kernel_symbols does at its first call. Private to
 * kernel_symbols.c.
 */
#ifndef PP_SYMBOL_KERNEL_FIND_H
#define PP_SYMBOL_KERNEL_FIND_H

#include "symbol/kernel_symbols.h"

/* Sets k->table, or k->reason; says what is wrong. */
void kernel_find(struct kernel *k);

#endif
