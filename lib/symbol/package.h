/*
 * Which package of this machine a file came with, to say what to install.
 *
 *	char name[PACKAGE_NAME_MAX];
 *	if (!package_of("/usr/lib/x86_64-linux-gnu/libc.so.6", name))
 *		printf("%s-dbg\n", name);
 *
 * dpkg-query is asked, in a process of its own; where there is none, nothing is known.
 */
#ifndef PP_SYMBOL_PACKAGE_H
#define PP_SYMBOL_PACKAGE_H

#define PACKAGE_NAME_MAX 128

/* 0, or PP_ENOENT. */
int package_of(const char *path, char name[PACKAGE_NAME_MAX]);

#endif
