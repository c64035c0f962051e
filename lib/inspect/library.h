/*
 * Libraries by their names, as the dynamic linker finds them.
 *
 *	rc = library_find("libc.so.6", path);
 *	rc = library_find("libc", path);	the same
 *	rc = library_find("c", path);		as after the linker's -l
 */
#ifndef PP_INSPECT_LIBRARY_H
#define PP_INSPECT_LIBRARY_H

#define LIBRARY_PATH_MAX 4096

/* How well the name of a file matches the name of a library, in growing order. */
enum library_fit {
	LIBRARY_NO,
	LIBRARY_SHORT, /* "c" of libc.so.6 */
	LIBRARY_STEM,  /* "libc" of libc.so.6 or libc-2.31.so */
	LIBRARY_WHOLE,
};
enum library_fit library_fits(const char *file, const char *name);

/*
 * The library that matches best, and of those the newest: of LD_LIBRARY_PATH, otherwise of the
 * linker's cache, otherwise of the usual folders. 0 or PP_ENOENT.
 */
int library_find(const char *name, char path[LIBRARY_PATH_MAX]);

#endif
