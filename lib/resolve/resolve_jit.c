/* Code that processes made themselves: which memory holds it, its perf map, its jitdump. */
#include "resolve/resolve_parts.h"

#include "base/err.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define MMAP_HUGETLB 0x40000u /* MAP_HUGETLB: mmap(2) */
#define STATUS_MAX   16384    /* bytes of /proc/PID/status */

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

int resolve_jit_mmap(struct resolver *r, struct machine *m, uint32_t pid, const char *path)
{
	const char *base = strrchr(path, '/');
	uint32_t jit;
	int n = 0, rc;

	/* The writer maps a page of the file, so that the recording shows where it is. */
	if (!base || sscanf(base, "/jit-%*u.dump%n", &n) < 0 || !n || base[n] || r->opts.like_perf)
		return 0;
	rc = get_jit(m, pid, &jit);
	if (rc)
		return rc;
	if (!m->code.v[jit - 1].dump_path)
		m->code.v[jit - 1].dump_path = strdup(path);
	return m->code.v[jit - 1].dump_path ? tag(m, pid, jit) : PP_ENOMEM;
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

/* A live process, as /proc/PID/status has it. */
struct live {
	uint32_t pid; /* by which it knows itself: the last of NSpid */
	uid_t owner;  /* as whom it makes files: of Uid the last; nobody's number if it is gone */
};

static struct live live_process(uint32_t pid)
{
	struct live l = {pid, (uid_t)-1};
	enum symtab_reason why;
	struct buf b = BUF_INIT;
	unsigned long v;
	char path[64], *end;
	const char *line;

	snprintf(path, sizeof(path), "/proc/%" PRIu32 "/status", pid);
	if (!root_read(NULL, path, STATUS_MAX, &b, &why)) {
		line = strstr(buf_str(&b), "\nUid:");
		if (line && sscanf(line, "\nUid: %*u %*u %*u %lu", &v) == 1)
			l.owner = (uid_t)v;
		line = strstr(buf_str(&b), "\nNSpid:");
		for (line += line ? 7 : 0; line && *line != '\n'; line = end) {
			v = strtoul(line, &end, 10);
			if (end == line)
				break;
			l.pid = (uint32_t)v;
			end += strspn(end, "\t ");
		}
	}
	buf_release(&b);
	return l;
}

/* For --missing: where a map was sought, and why it is not used. */
static void keep_tried(struct resolver *r, const struct rjit *j, const char *path,
		       enum symtab_reason why)
{
	if (r->opts.missing && j->dso)
		buf_addf(&r->dsos.v[j->dso - 1]->tried, "%s: %s\n", path, symtab_reason_text(why));
}

/* One of this machine's places: in the root of the live process (NULL: this machine's). */
static int read_place(struct resolver *r, const struct rjit *j, const struct root *live, bool dump,
		      const char *path, uid_t owner, struct buf *b, char at[ROOT_PATH_MAX],
		      enum symtab_reason *why)
{
	int rc;

	if (!root_path(live, path, at))
		return PP_ENOENT;
	rc = dump ? root_read(live, path, JIT_DUMP_MAX, b, why)
		  : root_read_owned(live, path, owner, JIT_MAP_MAX, b, why);
	if (!dump)
		keep_tried(r, j, at, *why);
	return rc;
}

/* A file of this machine: below the root of the live process, or where it was. */
static int read_here(struct resolver *r, const struct rjit *j, bool dump, const char *path,
		     struct buf *b, char at[ROOT_PATH_MAX], enum symtab_reason *why)
{
	struct live p = live_process(j->pid);
	uid_t owner = r->opts.like_perf ? (uid_t)-1 : p.owner;
	struct root *live = NULL;
	char name[32];
	int rc;

	snprintf(name, sizeof(name), "/proc/%" PRIu32 "/root", j->pid);
	rc = root_open(&live, name, NULL);
	if (!rc) {
		snprintf(name, sizeof(name), "/tmp/perf-%" PRIu32 ".map", p.pid);
		rc = read_place(r, j, live, dump, dump ? path : name, owner, b, at, why);
		root_free(live);
	}
	if (rc && *why != SYMTAB_OWNER)
		rc = read_place(r, j, NULL, dump, path, owner, b, at, why);
	return rc;
}

/*
 * Reads the first of the places where the map or the dump of a process can be. *found: its path,
 * the caller's. A perf map of this machine lies where everybody can put one: it must be root's, the
 * caller's, or the process's own. The path of a jitdump is what the process has mapped.
 */
static int read_first(struct resolver *r, struct machine *m, const struct rjit *j, bool dump,
		      struct buf *b, char **found, uint32_t *reason)
{
	const struct dso_search *o = &r->opts.search;
	enum symtab_reason why = SYMTAB_NOT_FOUND;
	char path[ROOT_PATH_MAX], full[ROOT_PATH_MAX];
	const char *at = NULL;
	int rc = PP_ENOENT;

	if (dump && strlen(j->dump_path) >= sizeof(path))
		return PP_ENOENT;
	if (dump)
		memcpy(path, j->dump_path, strlen(j->dump_path) + 1);
	else
		snprintf(path, sizeof(path), "/tmp/perf-%" PRIu32 ".map", j->pid);
	for (size_t i = 0; i < o->n_symfs && rc; i++) {
		at = root_path(o->symfs[i], path, full);
		rc = root_read(o->symfs[i], path, dump ? JIT_DUMP_MAX : JIT_MAP_MAX, b, &why);
	}
	/* Nothing proves such a file: that of another machine's process is not on this one. */
	if (rc && !o->n_symfs && origin_files(&m->host.kernel.origin) == ORIGIN_HERE)
		rc = read_here(r, j, dump, path, b, full, &why);
	if (why == SYMTAB_OWNER)
		*reason = PS_REASON_JIT_OWNER;
	if (why == SYMTAB_DENIED || why == SYMTAB_IO)
		*reason = PS_REASON_NO_ACCESS;
	if (why == SYMTAB_NO_MEMORY)
		return PP_ENOMEM;
	if (rc && why == SYMTAB_IO) {
		diag_warn(r->d, path, -1, "cannot be read: %s; names are missing", pp_strerror(rc));
		r->stats.failed++;
	}
	if (why == SYMTAB_CORRUPT || why == SYMTAB_LIMIT)
		*reason = PS_REASON_CORRUPT;
	if (!rc) {
		*found = strdup(at ? at : full);
		rc = *found ? 0 : PP_ENOMEM;
	}
	return rc;
}

int resolve_jit_read(struct resolver *r, struct machine *m, uint32_t jit, bool dump, struct buf *b)
{
	struct rjit *j = &m->code.v[jit - 1];
	enum symtab_reason why;
	uint32_t reason;
	char *path = NULL;
	int rc;

	if (!dump && j->map_path && !root_read(NULL, j->map_path, JIT_MAP_MAX, b, &why))
		return 0;
	rc = read_first(r, m, j, dump, b, &path, &reason);
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
		diag_warn(r->d, path, -1, "is no jitdump file");
	else if (info.cut)
		diag_warn(r->d, path, -1, "the jitdump is cut off or damaged: code may lack names");
	if (info.bad_lines && r->opts.srcline)
		diag_warn(r->d, path, -1,
			  "the lines of %" PRIu32
			  " functions are garbage: these go without source lines",
			  info.bad_lines);
	if (!rc && info.loads && !m->mono && !info.arch_time)
		diag_warn(r->d, path, -1,
			  "the recording has not the clock of the jitdump (perf record -k mono): "
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
