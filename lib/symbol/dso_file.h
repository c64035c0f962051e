/*
 * Finding the files that describe a DSO: the binary that was run, and the one with the best
 * symbols.
 *
 *	struct dso_search search = {0};		(no --symfs, /usr/lib/debug, ~/.debug)
 *	struct dso_file d;
 *	rc = dso_file_find("/usr/bin/true", &recorded_id, &search, &d);
 *	if (!rc)
 *		rc = dso_file_symtab(&d, NULL, &table, &why);
 *	else
 *		... d.why, d.tried ...
 *	dso_file_release(&d);
 *
 * Candidates, in this order, until one has a .symtab: the DSO itself (in each symfs root, by
 * build-id and by path; below the root prefix; at its recorded path), its debug file by build-id,
 * its debug file by debug link, perf's build-id cache, what `fetch` brings. If none has, the
 * binary's .gnu_debugdata and .dynsym serve.
 *
 * A file is used only if its build-id is the recorded one. Where nothing was recorded, the binary
 * at the path is believed, below a symfs root always, on this machine only if the recording was
 * made here and the file has not been replaced; the debug file must agree with it, by build-id or
 * by checksum.
 */
#ifndef PP_SYMBOL_DSO_FILE_H
#define PP_SYMBOL_DSO_FILE_H

#include "symbol/build_id.h"
#include "symbol/elf_file.h"
#include "symbol/elf_symtab.h"
#include "symbol/reason.h"
#include "symbol/root.h"

#define DSO_DEBUG_DIR "/usr/lib/debug"
#define DSO_MAX_TRIED 256	    /* candidates of one DSO */
#define DSO_MAX_PATH  ROOT_PATH_MAX /* of a candidate's path; longer ones are skipped */

/* Where to look. All strings belong to the caller; all zero is the default. */
struct dso_search {
	/*
	 * What stands for the root of the recorded machine. A DSO is sought there under its
	 * build-id as in perf's cache (.build-id/xx/yyyy/elf), its path, and its bare name; the
	 * path of this machine is tried after that only if the build-id is known.
	 */
	const struct root *const *symfs;
	size_t n_symfs;
	const char *const *debug_dirs; /* none: DSO_DEBUG_DIR */
	size_t n_debug_dirs;
	const char *cache; /* perf's build-id cache; NULL: ~/.debug; "": none */
	bool dwarf;	   /* also look for a file with DWARF */
	bool here;	   /* recorded here: this machine's file is believed without a build-id */
	const struct inode
		*inode;	  /* of the recorded file, if it has no build-id; NULL: not compared */
	const char *root; /* "/proc/PID/root" of a live container, tried before the path itself */
	/* "/proc/PID/map_files/START-END": what is mapped, if its path leads to another. */
	const char *mapped;
	/* Brings a debug file from elsewhere: true, and its path in `path`. NULL: not tried. */
	bool (*fetch)(void *ctx, const struct build_id *id, char path[DSO_MAX_PATH]);
	void *fetch_ctx;
};

struct dso_try {
	char *path;		/* owned by the dso_file */
	enum symtab_reason why; /* SYMTAB_OK: used; SYMTAB_STRIPPED: right file, but no .symtab */
};

struct dso_file {
	enum symtab_reason why; /* SYMTAB_OK, or why there are no symbols */
	const char *binary;  /* path of the file that was run; NULL: only its debug file is there */
	const char *symbols; /* path of the file with the symbols; NULL: none */
	const char *dwarf;   /* of the one with DWARF, if search.dwarf; NULL: none */
	bool proven;	     /* by the build-id that was recorded */
	bool mini;	     /* the symbols are the binary's .gnu_debugdata */
	bool dynamic;	     /* or only its .dynsym */
	struct build_id id;  /* recorded, else the one found; may be none */
	struct elf_segments
		segments; /* of the binary, else of the debug file: to convert offsets */
	int failed;	  /* error of an existing file that could not be read; 0: none */
	const char *failed_path;
	struct dso_try *tried; /* all candidates, in order */
	size_t n_tried;
	/*
	 * Open until dso_file_release; may be the same. Not to be opened again by their paths,
	 * which may lead into an archive or to a packed file.
	 */
	struct elf_file *binary_elf, *symbols_elf, *dwarf_elf;
};

/*
 * Looks for the files of a DSO with this recorded path; one that is not absolute ("[heap]") is
 * sought by build-id only. id may be NULL or none. 0: symbols were
 * found; PP_ENOMEM; or the error of d->why. d is to be released in any case, and its
 * segments are valid (n > 0) if a binary was found, even one without symbols.
 */
int dso_file_find(const char *path, const struct build_id *id, const struct dso_search *search,
		  struct dso_file *d);

/* Loads the table of a DSO that was found. opts may be NULL. The caller owns *out. */
int dso_file_symtab(struct dso_file *d, const struct elf_symtab_opts *opts, struct symtab **out,
		    enum symtab_reason *why);

/*
 * The file that d's DWARF shares entries with (.gnu_debugaltlink, written by dwz): *alt, which the
 * caller closes, and its name there. 0; PP_ENOENT: there is no such link, *link is NULL, or its
 * file was not found; PP_ENOMEM.
 */
int dso_file_alt(const struct dso_file *d, const struct dso_search *search, struct elf_file **alt,
		 const char **link);

/* The file with DWARF becomes the caller's; d has to be released next. NULL: there is none. */
struct elf_file *dso_file_take_dwarf(struct dso_file *d);

void dso_file_release(struct dso_file *d);

/*
 * The path of a file in perf's build-id cache, CACHE/.build-id/xx/yyyy/NAME, where name is "elf",
 * "debug", "vdso" or "kallsyms", into buf; without a name that of the entry itself, which old
 * versions of perf made a file. 0, or PP_ENOENT when there is no cache or no build-id. The file
 * need not exist.
 */
int dso_cache_path(const struct dso_search *search, const struct build_id *id, const char *name,
		   char *buf, size_t size);

/* ".build-id/xx/yyyy/NAME": what dso_cache_path gives, below a root. 0 or PP_ENOENT. */
int dso_id_path(const struct build_id *id, const char *name, char *buf, size_t size);

#endif
