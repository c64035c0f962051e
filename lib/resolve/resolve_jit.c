/* Code that processes made themselves: which memory holds it, its perf map, its jitdump. */
#include "resolve/resolve_parts.h"

#include "base/err.h"
#include "symbol/live_maps.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define MMAP_HUGETLB 0x40000u /* MAP_HUGETLB: mmap(2) */

enum { FROM_MAP, FROM_DUMP };

void rjits_release(struct machine *m)
{
	for (uint32_t i = 0; i < m->code.n; i++) {
		struct rjit *j = &m->code.v[i];

		jit_free(j->map);
		jit_free(j->dump);
		free(j->symbol_ids[FROM_MAP]);
		free(j->symbol_ids[FROM_DUMP]);
		free(j->dump_path);
		free(j->map_path);
		resolve_jit_cfi_release(j);
		resolve_jit_code_release(j);
	}
	free(m->code.v);
	map64_release(&m->code.by_pid);
}

/* The generated code of a process: *index is its place in m->code.v, + 1. */
static int get_jit(struct machine *m, uint32_t pid, uint32_t *index)
{
	uint32_t *slot = map64_put(&m->code.by_pid, pid, NULL);

	if (!slot)
		return PP_ENOMEM;
	if (!*slot) {
		if (m->code.n == m->code.cap) {
			uint32_t cap = m->code.cap ? m->code.cap * 2 : 16;
			struct rjit *v = realloc(m->code.v, cap * sizeof(*v));

			if (!v)
				return PP_ENOMEM;
			m->code.v = v;
			m->code.cap = cap;
		}
		m->code.v[m->code.n++] = (struct rjit){.pid = pid, .reason = PS_REASON_JIT};
		*slot = m->code.n;
	}
	*index = *slot;
	return 0;
}

/* A process that has generated code is known by its space. */
static int tag(struct machine *m, uint32_t pid, uint32_t jit)
{
	struct space *sp = spaces_get(m->spaces, pid);

	return sp && space_tag(sp) == jit ? 0 : spaces_set_tag(m->spaces, pid, jit);
}

int resolve_jit_dso(struct resolver *r, struct machine *m, uint32_t pid, uint32_t *index)
{
	char path[40];
	uint32_t jit;
	int rc = get_jit(m, pid, &jit), n;

	if (!rc && !m->code.v[jit - 1].dso) {
		n = snprintf(path, sizeof(path), "/tmp/perf-%" PRId32 ".map", (int32_t)pid);
		rc = resolve_add_dso(r, m->source, ps_str(path, (size_t)n), ps_str(NULL, 0),
				     PS_DSO_NO_FILE, &m->code.v[jit - 1].dso);
		if (!rc)
			r->dsos.v[m->code.v[jit - 1].dso - 1]->jit = jit;
		if (!rc)
			rc = tag(m, pid, jit);
	}
	if (!rc)
		*index = m->code.v[jit - 1].dso;
	return rc;
}

/* A process has memory that may hold generated code, or a program: "/memfd:NAME". */
static int note_memory(struct machine *m, uint32_t pid)
{
	uint32_t jit;
	int rc = get_jit(m, pid, &jit);

	return rc ? rc : tag(m, pid, jit);
}

int resolve_jit_mmap(struct resolver *r, struct machine *m, const struct ps_mmap *rec,
		     const char *path)
{
	uint32_t pid = rec->pid;
	const char *base = strrchr(path, '/');
	uint32_t jit;
	int n = 0, rc;

	/* The writer maps a page of the file, so that the recording shows where it is. */
	if (!base || sscanf(base, "/jit-%*u.dump%n", &n) < 0 || !n || base[n] || r->opts.like_perf)
		return 0;
	rc = get_jit(m, pid, &jit);
	if (rc)
		return rc;
	if (!m->code.v[jit - 1].dump_path) {
		m->code.v[jit - 1].dump_path = strdup(path);
		m->code.v[jit - 1].dump_ino = rec->ino;
	}
	return m->code.v[jit - 1].dump_path ? tag(m, pid, jit) : PP_ENOMEM;
}

int resolve_namespaces(struct machine *m, const struct ps_namespaces *rec)
{
	uint32_t jit = 0, *known = map64_get(&m->code.by_pid, rec->pid);
	int rc = 0;

	if (rec->pid != rec->tid || !rec->inner)
		return 0;
	if (known)
		jit = *known;
	else if (rec->inner != rec->pid)
		rc = get_jit(m, rec->pid, &jit);
	if (!rc && jit)
		m->code.v[jit - 1].inner = rec->inner;
	return rc;
}

/* ---- mappings ---- */

/* Whether a DSO is the one that resolve_generated makes; `pid` is whose. */
static bool is_generated(const struct rdso *d, uint32_t *pid)
{
	int n = 0;

	return (d->flags & PS_DSO_NO_FILE) &&
	       sscanf(d->path, "/tmp/perf-%" SCNu32 ".map%n", pid, &n) == 1 && n && !d->path[n];
}

int resolve_generated(struct resolver *r, struct machine *m, const struct ps_mmap *rec,
		      uint32_t *index, bool *absolute)
{
	static const char *const names[] = {"//anon", "/dev/zero",   "/anon_hugepage",
					    "[stack", "/SYSV",	     "[heap]",
					    "[anon:", "[anon_shmem:"};
	const struct rdso *d = r->dsos.v[*index - 1];
	uint32_t pid = rec->pid;
	size_t i = 0;

	*absolute = false;
	if (d->memfd)
		return r->opts.like_perf ? 0 : note_memory(m, pid);
	*absolute = true;
	if (is_generated(d, &pid))
		return resolve_jit_dso(r, m, pid, index);
	while (i < sizeof(names) / sizeof(names[0]) &&
	       strncmp(d->path, names[i], strlen(names[i])) != 0)
		i++;
	*absolute = ((d->flags & PS_DSO_NO_FILE) && i < sizeof(names) / sizeof(names[0])) ||
		    (rec->map_flags & MMAP_HUGETLB);
	return *absolute ? resolve_jit_dso(r, m, pid, index) : 0;
}

/* ---- files ---- */

/*
 * A file of this machine. That of a process that is gone is believed to be its user's if it is the
 * one that it had mapped.
 */
static int read_here(struct resolver *r, const struct rjit *j, bool dump, struct buf *b,
		     char at[ROOT_PATH_MAX], enum symtab_reason *why)
{
	struct buf *tried = r->opts.missing && j->dso ? &r->dsos.v[j->dso - 1]->tried : NULL;
	struct stat st;
	struct live_process l;

	live_ask(&l, j->pid);
	if (!l.inner)
		l.inner = j->inner;
	if (dump && l.user == LIVE_NOBODY && j->dump_ino && !lstat(j->dump_path, &st) &&
	    st.st_ino == j->dump_ino)
		l.user = st.st_uid;
	if (r->opts.like_perf)
		l.user = LIVE_NOBODY;
	return dump ? live_read(&l, j->dump_path, JIT_DUMP_MAX, b, at, NULL, why)
		    : live_map(&l, JIT_MAP_MAX, b, at, tried, why);
}

/* One below a --symfs root: a map by its process's number here, then by that in its namespace. */
static int read_below(const struct root *root, const struct rjit *j, bool dump, struct buf *b,
		      char at[ROOT_PATH_MAX], enum symtab_reason *why)
{
	uint32_t pids[2] = {j->pid, j->inner};
	char path[32];
	int rc = PP_ENOENT;

	if (dump)
		rc = root_path(root, j->dump_path, at)
			     ? root_read(root, j->dump_path, JIT_DUMP_MAX, b, why)
			     : PP_ENOENT;
	for (int i = 0; i < 2 && !dump && rc == PP_ENOENT && pids[i]; i++) {
		snprintf(path, sizeof(path), "/tmp/perf-%" PRIu32 ".map", pids[i]);
		if (root_path(root, path, at))
			rc = root_read(root, path, JIT_MAP_MAX, b, why);
	}
	return rc;
}

/*
 * Reads the first of the places where the map or the dump of a process can be. *found: its path,
 * the caller's.
 */
static int read_first(struct resolver *r, struct machine *m, const struct rjit *j, bool dump,
		      struct buf *b, char **found, uint32_t *reason)
{
	const struct dso_search *o = &r->opts.search;
	enum symtab_reason why = SYMTAB_NOT_FOUND;
	char at[ROOT_PATH_MAX] = "";
	int rc = PP_ENOENT;

	if (dump && strlen(j->dump_path) >= sizeof(at))
		return PP_ENOENT;
	for (size_t i = 0; i < o->n_symfs && rc; i++)
		rc = read_below(o->symfs[i], j, dump, b, at, &why);
	/* Nothing proves such a file: that of another machine's process is not on this one. */
	if (rc && !o->n_symfs && origin_files(&m->host.kernel.origin) == ORIGIN_HERE)
		rc = read_here(r, j, dump, b, at, &why);
	if (why == SYMTAB_OWNER)
		*reason = PS_REASON_JIT_OWNER;
	if (why == SYMTAB_DENIED || why == SYMTAB_IO)
		*reason = PS_REASON_NO_ACCESS;
	if (why == SYMTAB_NO_MEMORY)
		return PP_ENOMEM;
	if (rc && why == SYMTAB_IO) {
		diag_warn(r->d, at, -1, "cannot be read: %s; names are missing", pp_strerror(rc));
		r->stats.failed++;
	}
	if (why == SYMTAB_CORRUPT || why == SYMTAB_LIMIT)
		*reason = PS_REASON_CORRUPT;
	if (!rc) {
		*found = strdup(at);
		rc = *found ? 0 : PP_ENOMEM;
	}
	return rc;
}

int resolve_jit_read(struct resolver *r, struct machine *m, uint32_t jit, bool dump, struct buf *b)
{
	uint32_t reason;
	char *path = NULL;
	int rc = read_first(r, m, &m->code.v[jit - 1], dump, b, &path, &reason);

	free(path);
	return rc;
}

static int load_map(struct resolver *r, struct machine *m, struct rjit *j)
{
	struct buf b = BUF_INIT;
	uint64_t bad = 0;
	int rc;

	j->map_loaded = true;
	rc = read_first(r, m, j, false, &b, &j->map_path, &j->reason);
	if (!rc)
		rc = jit_new(&j->map);
	if (!rc) {
		j->map_size = b.len;
		rc = jit_map(j->map, (const char *)b.data, b.len, &bad);
	}
	if (bad)
		diag_warn(r->d, j->map_path, -1, "%" PRIu64 " lines are not of a perf map", bad);
	buf_release(&b);
	return rc == PP_ENOMEM ? rc : 0;
}

int resolve_jit_recorded(struct machine *m, uint32_t pid, const struct ps_blob *b)
{
	struct rjit *j;
	uint64_t bad;
	uint32_t jit;
	int rc = get_jit(m, pid, &jit);

	if (!rc)
		rc = tag(m, pid, jit);
	j = rc ? NULL : &m->code.v[jit - 1];
	if (!rc && !j->map)
		rc = jit_new(&j->map);
	if (rc)
		return rc;
	j->map_loaded = true;
	/* Their numbers are those of a smaller map. */
	free(j->symbol_ids[FROM_MAP]);
	j->symbol_ids[FROM_MAP] = NULL;
	j->nids[FROM_MAP] = 0;
	rc = jit_map(j->map, b->data.p, b->data.len, &bad);
	return rc == PP_ELIMIT ? 0 : rc;
}

/*
 * The map of a process that lives grows: reads it again if it has, for an address that is not in
 * it.
 */
static int reload_map(struct resolver *r, struct machine *m, struct rjit *j, bool *again)
{
	struct stat st;

	*again = j->map_path && !stat(j->map_path, &st) && st.st_size >= 0 &&
		 (uint64_t)st.st_size > j->map_size;
	if (!*again)
		return 0;
	resolve_jit_code_forget(j);
	/* Symbols that are in use keep their ids; the new ones get others. */
	jit_free(j->map);
	j->map = NULL;
	free(j->map_path);
	j->map_path = NULL;
	free(j->symbol_ids[FROM_MAP]);
	j->symbol_ids[FROM_MAP] = NULL;
	j->nids[FROM_MAP] = 0;
	return load_map(r, m, j);
}

static int load_dump(struct resolver *r, struct machine *m, struct rjit *j)
{
	struct jit_dump_info info = {0};
	struct buf b = BUF_INIT;
	char *path = NULL;
	int rc;

	j->dump_loaded = true;
	if (!j->dump_path)
		return 0;
	rc = read_first(r, m, j, true, &b, &path, &j->reason);
	if (!rc)
		rc = jit_new(&j->dump);
	if (!rc)
		rc = jit_dump(j->dump, b.data, b.len, &info);
	if (rc == PP_EUNSUPPORTED)
		diag_warn(r->d, path, -1, "is not a jitdump file");
	else if (info.cut)
		diag_warn(r->d, path, -1,
			  "the jitdump is cut off or damaged: code may have no names");
	if (info.bad_lines && r->opts.srcline)
		diag_warn(r->d, path, -1,
			  "the lines of %" PRIu32
			  " functions are garbage: these have no source lines",
			  info.bad_lines);
	if (!rc && info.loads && !m->mono && !info.arch_time)
		diag_warn(r->d, path, -1,
			  "the recording does not use the jitdump's clock (perf record -k mono): "
			  "code that was replaced has its last name");
	buf_release(&b);
	free(path);
	return rc == PP_ENOMEM ? rc : 0;
}

int resolve_jit_advance(struct resolver *r, struct machine *m, struct space *sp, uint64_t time)
{
	struct rjit *j = &m->code.v[space_tag(sp) - 1];
	bool changed = false;
	int rc;

	if (!j->dump_path || r->opts.like_perf)
		return 0;
	if (!j->dump_loaded) {
		rc = load_dump(r, m, j);
		if (rc)
			return rc;
	}
	if (!j->dump)
		return 0;
	rc = jit_advance(j->dump, m->mono ? time : JIT_TIME_ALL, &changed);
	if (rc || !changed)
		return rc;
	spaces_touch(m->spaces, sp);
	for (int ret = 0; j->dso && ret < 2; ret++)
		frame_map_clear(&r->dsos.v[j->dso - 1]->frames[ret]);
	return 0;
}

/* The symbol of a code, defined in the output at its first use. */
static int code_symbol(struct resolver *r, struct machine *m, struct rjit *j, int from,
		       uint32_t code, uint32_t *symbol)
{
	const struct jit *jit = from == FROM_MAP ? j->map : j->dump;
	const struct jit_code *c = jit_code(jit, code);
	uint32_t n = jit_count(jit), dso;
	int rc = resolve_jit_dso(r, m, j->pid, &dso);

	if (rc)
		return rc;
	if (!j->symbol_ids[from]) {
		j->symbol_ids[from] = calloc((size_t)n + 1, sizeof(uint32_t));
		if (!j->symbol_ids[from])
			return PP_ENOMEM;
		j->nids[from] = n;
	}
	if (!j->symbol_ids[from][code])
		rc = resolve_put_symbol(r, m->source, jit_name(jit, code), r->dsos.v[dso - 1]->out,
					c->start, c->end - c->start, &j->symbol_ids[from][code]);
	*symbol = j->symbol_ids[from][code];
	return rc;
}

int resolve_jit_symbol(struct resolver *r, struct machine *m, uint32_t jit, uint64_t addr,
		       uint32_t *symbol, uint32_t *reason)
{
	struct rjit *j = &m->code.v[jit - 1];
	uint32_t code = j->dump ? jit_find(j->dump, addr) : 0;
	bool again = false;
	int rc = 0;

	*symbol = 0;
	if (code)
		return code_symbol(r, m, j, FROM_DUMP, code, symbol);
	if (!j->map_loaded)
		rc = load_map(r, m, j);
	if (!rc && j->map && !(code = jit_find(j->map, addr))) {
		rc = reload_map(r, m, j, &again);
		if (!rc && again && j->map)
			code = jit_find(j->map, addr);
	}
	if (!rc && code)
		rc = code_symbol(r, m, j, FROM_MAP, code, symbol);
	*reason = j->map || j->dump ? PS_REASON_JIT_GAP : j->reason;
	if (*symbol)
		*reason = PS_REASON_NONE;
	return rc;
}

bool resolve_jit_line(const struct machine *m, uint32_t jit, uint64_t addr, struct source_frame *f)
{
	const struct rjit *j = &m->code.v[jit - 1];
	uint32_t code = j->dump ? jit_find(j->dump, addr) : 0;

	return code && !jit_line(j->dump, code, addr, f);
}
