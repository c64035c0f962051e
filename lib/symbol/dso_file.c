/* Tries the places where the files of a DSO can be, and proves that a file is the recorded one. */
#include "symbol/dso_file.h"

#include "base/err.h"
#include "symbol/gopcln.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define DELETED " (deleted)"

/* How a candidate is proven to be the right file. */
enum proof {
	PROOF_PLACE, /* its build-id if one is known, else that it lies there */
	PROOF_HERE,  /* likewise, and that the recording is of this machine */
	PROOF_ID,    /* its build-id */
	PROOF_CRC,   /* its build-id if both have one, else the debug link's checksum */
};

struct finder {
	struct dso_file *d;
	const struct dso_search *search;
	uint32_t crc; /* of the debug link, for PROOF_CRC */
	int rc;	      /* PP_ENOMEM ends the search */
	bool only_dwarf;
};

static bool done(const struct finder *s)
{
	const struct dso_file *d = s->d;
	bool found = (d->symbols || s->only_dwarf) && (d->dwarf || !s->search->dwarf);

	return s->rc || found || d->n_tried >= DSO_MAX_TRIED;
}

static const char *note(struct finder *s, const char *path, enum symtab_reason why)
{
	struct dso_file *d = s->d;
	struct dso_try *grown = realloc(d->tried, (d->n_tried + 1) * sizeof(*grown));
	char *copy = strdup(path);

	if (grown)
		d->tried = grown;
	if (!grown || !copy) {
		free(copy);
		s->rc = PP_ENOMEM;
		return NULL;
	}
	d->tried[d->n_tried++] = (struct dso_try){copy, why};
	return copy;
}

static bool already_tried(const struct dso_file *d, const char *path)
{
	for (size_t i = 0; i < d->n_tried; i++)
		if (!strcmp(d->tried[i].path, path))
			return true;
	return false;
}

static enum symtab_reason check(struct finder *s, const struct elf_file *f, enum proof proof)
{
	struct build_id *want = &s->d->id;
	struct build_id id;
	uint32_t crc;
	bool has_id = elf_file_build_id(f, &id) == 0;

	/* What is left of a file may lack its build-id. */
	if (!has_id && elf_file_damaged(f))
		return SYMTAB_CORRUPT;
	if (want->len && (has_id || proof != PROOF_CRC))
		return has_id && build_id_equal(&id, want) ? SYMTAB_OK : SYMTAB_BUILD_ID;
	if (proof == PROOF_ID)
		return SYMTAB_BUILD_ID;
	if (proof == PROOF_CRC)
		return elf_file_crc(f, &crc) ? SYMTAB_IO : crc == s->crc ? SYMTAB_OK : SYMTAB_CRC;
	if (proof == PROOF_HERE && !s->search->here)
		return SYMTAB_UNPROVEN;
	/* Nothing was recorded: from here on, this file says what belongs to it. */
	if (has_id)
		*want = id;
	return SYMTAB_OK;
}

/* Why a file has no symbol table. */
static enum symtab_reason bare(const struct elf_file *f)
{
	return elf_file_damaged(f) ? SYMTAB_CORRUPT : SYMTAB_STRIPPED;
}

/* What this machine did not give, though it is there, is told apart from what is no good. */
static void note_failure(struct finder *s, int rc, const char *path)
{
	if (rc == PP_ENOMEM) {
		s->rc = rc;
	} else if (!s->d->failed) {
		s->d->failed = rc;
		s->d->failed_path = path;
	}
}

/* Decides about a file that was opened, or not and `why`; closes it if it is of no use. */
static void judge(struct finder *s, const char *path, struct elf_file *f, enum symtab_reason why,
		  int failed, bool runnable)
{
	struct dso_file *d = s->d;
	const char *kept;
	bool use = false, right = f && !why;

	if (right && !elf_file_has_symtab(f))
		why = bare(f);
	kept = note(s, path, why);
	if (kept && failed)
		note_failure(s, failed, kept);
	if (!kept || !right) {
		elf_file_close(f);
		return;
	}
	if (!why && !d->symbols) {
		d->symbols = kept;
		d->symbols_elf = f;
		use = true;
	}
	if (s->search->dwarf && !d->dwarf && elf_file_has_dwarf(f)) {
		d->dwarf = kept;
		d->dwarf_elf = f;
		use = true;
	}
	if (runnable && !d->binary) {
		d->binary = kept;
		d->binary_elf = f;
		use = true;
	}
	if (!use)
		elf_file_close(f);
}

/*
 * Opens a file and checks it. What libelf could not do, and what looks damaged, is tried once more:
 * a read or an allocation that failed once is no damage. *failed: the error of this machine that
 * remains.
 */
static struct elf_file *open_checked(struct finder *s, const struct root *root, const char *path,
				     enum proof proof, enum symtab_reason *why, int *failed)
{
	const struct inode *recorded =
		proof == PROOF_HERE && s->search->here && !s->d->id.len ? s->search->inode : NULL;
	struct elf_file *f = NULL;
	int rc;

	for (int again = 0; again < 2; again++) {
		elf_file_close(f);
		f = NULL;
		(void)elf_errno();
		rc = root_elf(root, path, recorded, &f, why);
		if (!rc) {
			*why = check(s, f, proof);
			elf_file_has_symtab(f);
		}
		if (!elf_errno() && *why != SYMTAB_IO && *why != SYMTAB_NO_MEMORY)
			return f;
	}
	if (*why == SYMTAB_IO || *why == SYMTAB_NO_MEMORY)
		*failed = rc ? rc : PP_EIO;
	else if (f)
		*failed = elf_file_probe(f);
	return f;
}

/*
 * Tries one file below a root (NULL: this machine's). `runnable`: it can be the binary itself, not
 * only a debug file.
 */
__attribute__((format(printf, 5, 6))) static void try_file(struct finder *s,
							   const struct root *root,
							   enum proof proof, bool runnable,
							   const char *fmt, ...)
{
	char path[DSO_MAX_PATH], full[DSO_MAX_PATH];
	enum symtab_reason why = SYMTAB_OK;
	struct elf_file *f;
	va_list ap;
	int n, failed = 0;

	va_start(ap, fmt);
	n = vsnprintf(path, sizeof(path), fmt, ap);
	va_end(ap);
	if (n <= 0 || (size_t)n >= sizeof(path) || !root_path(root, path, full) || done(s) ||
	    already_tried(s->d, full))
		return;
	f = open_checked(s, root, path, proof, &why, &failed);
	judge(s, full, f, why, failed, runnable);
}

static const char *base_name(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash ? slash + 1 : path;
}

int dso_id_path(const struct build_id *id, const char *name, char *buf, size_t size)
{
	char hex[BUILD_ID_HEX_MAX];
	int n;

	if (id->len < 2)
		return PP_ENOENT;
	build_id_hex(id, hex);
	n = snprintf(buf, size, ".build-id/%.2s/%s%s%s", hex, hex + 2, name ? "/" : "",
		     name ? name : "");
	return n > 0 && (size_t)n < size ? 0 : PP_ENOENT;
}

static void try_binary(struct finder *s, const char *path)
{
	const struct dso_search *o = s->search;
	struct root *live = NULL;
	char by_id[128];
	int rc;

	for (size_t i = 0; i < o->n_symfs && !s->d->binary; i++) {
		if (!dso_id_path(&s->d->id, "elf", by_id, sizeof(by_id)))
			try_file(s, o->symfs[i], PROOF_ID, true, "%s", by_id);
		if (path[0] == '/' && !s->d->binary)
			try_file(s, o->symfs[i], PROOF_PLACE, true, "%s", path);
		if (path[0] == '/' && !s->d->binary)
			try_file(s, o->symfs[i], PROOF_PLACE, true, "%s", base_name(path));
	}
	/* "[heap]" and the like are no files, and must not be sought in the working directory. The
	 * file of this machine at that path is another one, unless its build-id says otherwise. */
	if (path[0] != '/' || s->d->binary || (o->n_symfs && !s->d->id.len))
		return;
	/* Links and ".." in a container lead to where they lead in it. */
	if (o->root && o->root[0]) {
		rc = root_open(&live, o->root, NULL);
		if (!rc)
			try_file(s, live, PROOF_HERE, true, "%s", path);
		else if (rc == PP_ENOMEM || pp_is_io(rc))
			note_failure(s, rc, note(s, o->root, SYMTAB_IO));
		root_free(live);
	}
	if (!s->d->binary)
		try_file(s, NULL, PROOF_HERE, true, "%s", path);
	if (!s->d->binary && o->mapped && (s->d->id.len || (o->inode && o->inode->ino)) &&
	    !access(o->mapped, R_OK))
		try_file(s, NULL, PROOF_HERE, true, "%s", o->mapped);
}

/* Calls for each debug directory, first in each symfs root, then of this machine. */
static void for_debug_dirs(struct finder *s,
			   void (*f)(struct finder *, const struct root *, const char *,
				     const void *),
			   const void *arg)
{
	static const char *const standard[] = {DSO_DEBUG_DIR};
	const struct dso_search *o = s->search;
	const char *const *dirs = o->n_debug_dirs ? o->debug_dirs : standard;
	size_t n = o->n_debug_dirs ? o->n_debug_dirs : 1;

	for (size_t i = 0; i < n; i++) {
		for (size_t k = 0; k < o->n_symfs; k++)
			f(s, o->symfs[k], dirs[i], arg);
		f(s, NULL, dirs[i], arg);
	}
}

static void try_id_in(struct finder *s, const struct root *root, const char *dir, const void *hex)
{
	const char *h = hex;

	try_file(s, root, PROOF_ID, false, "%s/.build-id/%.2s/%s.debug", dir, h, h + 2);
}

struct link {
	const char *dir; /* of the DSO's recorded path, with its leading slash */
	int dir_len;
	const char *name;
};

static void try_link_in(struct finder *s, const struct root *root, const char *dir, const void *arg)
{
	const struct link *l = arg;

	try_file(s, root, PROOF_CRC, false, "%s%.*s/%s", dir, l->dir_len, l->dir, l->name);
}

/*
 * Where Fedora and old Ubuntu put debug files. Without a debug link, the build-id must prove them.
 */
static void try_path_in(struct finder *s, const struct root *root, const char *dir, const void *arg)
{
	const char *path = arg;

	try_file(s, root, PROOF_ID, false, "%s%s.debug", dir, path);
	try_file(s, root, PROOF_ID, false, "%s%s", dir, path);
}

static void try_debuglink(struct finder *s, const char *path)
{
	char name[ELF_DEBUGLINK_MAX];
	const struct dso_search *o = s->search;
	const char *binary = s->d->binary;
	int dir = binary ? (int)(base_name(binary) - binary) : 0;
	struct link l = {.dir = path, .name = name};

	if (!binary || elf_file_debuglink(s->d->binary_elf, name, &s->crc))
		return;
	l.dir_len = (int)(base_name(path) - path);
	/* Beside the binary. Files that name themselves are stripped ones, and were tried. */
	for (size_t i = 0; i < o->n_symfs; i++) {
		try_file(s, o->symfs[i], PROOF_CRC, false, "%.*s%s", l.dir_len, path, name);
		try_file(s, o->symfs[i], PROOF_CRC, false, "%.*s.debug/%s", l.dir_len, path, name);
	}
	try_file(s, NULL, PROOF_CRC, false, "%.*s%s", dir, binary, name);
	try_file(s, NULL, PROOF_CRC, false, "%.*s.debug/%s", dir, binary, name);
	if (l.dir_len > 0)
		l.dir_len--;
	for_debug_dirs(s, try_link_in, &l);
}

int dso_cache_path(const struct dso_search *search, const struct build_id *id, const char *name,
		   char *buf, size_t size)
{
	const char *home = getenv("HOME"), *cache = search->cache;
	char by_id[128];
	int n;

	if ((cache ? !cache[0] : !home || !home[0]) || dso_id_path(id, name, by_id, sizeof(by_id)))
		return PP_ENOENT;
	n = snprintf(buf, size, "%s%s/%s", cache ? cache : home, cache ? "" : "/.debug", by_id);
	return n > 0 && (size_t)n < size ? 0 : PP_ENOENT;
}

static void try_cache(struct finder *s)
{
	static const char *const names[] = {"elf", NULL, "debug"};
	char path[DSO_MAX_PATH];

	for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++)
		if (!dso_cache_path(s->search, &s->d->id, names[i], path, sizeof(path)))
			try_file(s, NULL, PROOF_ID, i < 2, "%s", path);
	for (size_t i = 0; i < s->search->n_symfs; i++)
		if (!dso_id_path(&s->d->id, "debug", path, sizeof(path)))
			try_file(s, s->search->symfs[i], PROOF_ID, false, "%s", path);
}

static void try_fetch(struct finder *s)
{
	char path[DSO_MAX_PATH];

	if (s->search->fetch && s->d->id.len && !done(s) &&
	    s->search->fetch(s->search->fetch_ctx, &s->d->id, path))
		try_file(s, NULL, PROOF_ID, false, "%s", path);
}

/* What the binary itself has, if nothing better was found. */
static void use_own(struct finder *s)
{
	struct dso_file *d = s->d;
	enum symtab_reason why = SYMTAB_OK;

	if (d->symbols || !d->binary)
		return;
	if (!elf_file_debugdata(&d->symbols_elf, d->binary_elf, &why)) {
		d->mini = elf_file_has_symtab(d->symbols_elf);
		if (!d->mini)
			elf_file_close(d->symbols_elf);
	}
	if (why == SYMTAB_NO_MEMORY)
		s->rc = PP_ENOMEM;
	if (!d->mini) {
		bool go = gopcln_is_go(d->binary_elf);

		d->dynamic = !go && elf_file_has_dynsym(d->binary_elf);
		d->symbols_elf = go || d->dynamic ? d->binary_elf : NULL;
	}
	if (d->symbols_elf)
		d->symbols = d->binary;
}

/* The result, and the reason if there are no symbols. */
static int settle(struct finder *s)
{
	struct dso_file *d = s->d;
	const struct elf_file *f;

	if (s->rc) {
		d->why = SYMTAB_NO_MEMORY;
		return s->rc;
	}
	use_own(s);
	f = d->binary_elf ? d->binary_elf : d->symbols_elf;
	if (f)
		d->segments = *elf_file_segments(f);
	d->why = SYMTAB_OK;
	if (d->symbols)
		return 0;
	d->why = SYMTAB_NOT_FOUND;
	for (size_t i = 0; i < d->n_tried && !d->binary; i++)
		if (d->tried[i].why > d->why)
			d->why = d->tried[i].why;
	if (d->binary)
		d->why = bare(d->binary_elf);
	return symtab_reason_err(d->why);
}

int dso_file_find(const char *path, const struct build_id *id, const struct dso_search *search,
		  struct dso_file *d)
{
	struct finder s = {.d = d, .search = search};
	size_t len = strnlen(path, DSO_MAX_PATH), tail = strlen(DELETED);
	char clean[DSO_MAX_PATH] = "", hex[BUILD_ID_HEX_MAX];

	*d = (struct dso_file){0};
	if (id)
		d->id = *id;
	d->proven = d->id.len != 0;
	/* A deleted file may have been put back, or replaced: only the build-id can tell. */
	if (d->id.len && len > tail && !strcmp(path + len - tail, DELETED))
		len -= tail;
	if (len < DSO_MAX_PATH)
		memcpy(clean, path, len);
	try_binary(&s, clean);
	if (d->id.len >= 2)
		for_debug_dirs(&s, try_id_in, build_id_hex(&d->id, hex));
	try_debuglink(&s, clean);
	if (clean[0] == '/' && d->id.len)
		for_debug_dirs(&s, try_path_in, clean);
	try_cache(&s);
	try_fetch(&s);
	return settle(&s);
}

/* Loads a table, once more if libelf could not do something. */
static int load_table(struct dso_file *d, struct elf_file *from, const struct elf_file *binary,
		      const struct elf_symtab_opts *opts, struct symtab **out,
		      enum symtab_reason *why)
{
	int rc = 0;

	for (int again = 0; again < 2; again++) {
		if (again && !rc)
			symtab_free(*out);
		(void)elf_errno();
		rc = elf_symtab_load(from, binary, opts, out, why);
		if (!elf_errno() || rc == PP_ENOMEM)
			return rc;
	}
	if (!d->failed) {
		d->failed = elf_file_probe(from);
		d->failed_path = d->symbols;
	}
	return rc;
}

int dso_file_symtab(struct dso_file *d, const struct elf_symtab_opts *opts, struct symtab **out,
		    enum symtab_reason *why)
{
	struct elf_symtab_opts with = opts ? *opts : (struct elf_symtab_opts){0};
	int rc;

	*why = d->why ? d->why : SYMTAB_NOT_FOUND;
	if (!d->symbols_elf)
		return symtab_reason_err(*why);
	if (d->mini)
		with.dynsym_of = d->binary_elf;
	rc = load_table(d, d->symbols_elf, d->binary_elf, &with, out, why);
	/* A damaged or useless debug file must not hide what the binary itself has. */
	if (rc && rc != PP_ENOMEM && d->binary_elf && d->binary_elf != d->symbols_elf)
		rc = load_table(d, d->binary_elf, NULL, &with, out, why);
	return rc;
}

int dso_file_alt(const struct dso_file *d, const struct dso_search *search, struct elf_file **alt,
		 const char **link)
{
	struct dso_search with = *search;
	struct dso_file a = {0};
	struct finder s = {.d = &a, .search = &with, .only_dwarf = true};
	char hex[BUILD_ID_HEX_MAX];
	const char *name;

	*alt = NULL;
	*link = NULL;
	if (!d->dwarf_elf || elf_file_altlink(d->dwarf_elf, &name, &a.id))
		return PP_ENOENT;
	*link = name;
	with.dwarf = true;
	if (name[0] == '/') {
		for (size_t i = 0; i < with.n_symfs; i++)
			try_file(&s, with.symfs[i], PROOF_ID, false, "%s", name);
		try_file(&s, NULL, PROOF_ID, false, "%s", name);
	} else {
		try_file(&s, NULL, PROOF_ID, false, "%.*s%s", (int)(base_name(d->dwarf) - d->dwarf),
			 d->dwarf, name);
	}
	for_debug_dirs(&s, try_id_in, build_id_hex(&a.id, hex));
	try_cache(&s);
	try_fetch(&s);
	*alt = a.dwarf_elf;
	if (a.symbols_elf != *alt)
		elf_file_close(a.symbols_elf);
	if (a.binary_elf != *alt && a.binary_elf != a.symbols_elf)
		elf_file_close(a.binary_elf);
	a.symbols_elf = a.binary_elf = a.dwarf_elf = NULL;
	dso_file_release(&a);
	return s.rc ? s.rc : *alt ? 0 : PP_ENOENT;
}

struct elf_file *dso_file_take_dwarf(struct dso_file *d)
{
	struct elf_file *f = d->dwarf_elf;

	if (f == d->symbols_elf)
		d->symbols_elf = NULL;
	if (f == d->binary_elf)
		d->binary_elf = NULL;
	d->dwarf_elf = NULL;
	return f;
}

static void close_files(struct dso_file *d)
{
	if (d->dwarf_elf != d->symbols_elf && d->dwarf_elf != d->binary_elf)
		elf_file_close(d->dwarf_elf);
	if (d->symbols_elf != d->binary_elf)
		elf_file_close(d->symbols_elf);
	elf_file_close(d->binary_elf);
	d->symbols_elf = d->binary_elf = d->dwarf_elf = NULL;
}

void dso_file_release(struct dso_file *d)
{
	close_files(d);
	for (size_t i = 0; i < d->n_tried; i++)
		free(d->tried[i].path);
	free(d->tried);
	*d = (struct dso_file){0};
}
