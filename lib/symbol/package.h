/*
 * Which package of this machine a file came from, to say what to install.
 *
 *	char name[PACKAGE_NAME_MAX];
 *	if (!package_of("/usr/lib/x86_64-linux-gnu/libc.so.6", name))
 *		printf("%s-dbg\n", name);
 *
 * It runs dpkg-query; where that is not installed, nothing is known.
 */
#ifndef PP_SYMBOL_PACKAGE_H
#define PP_SYMBOL_PACKAGE_H

#define PACKAGE_NAME_MAX 128

/* 0, or PP_ENOENT. */
int package_of(const char *path, char name[PACKAGE_NAME_MAX]);

#endif
