/*
 * --bundle: keeps the binaries that were hit while they still exist. A file is opened when the
 * record of its mapping comes, so that it may be removed or replaced afterwards; those in which an
 * address of a sample lies are packed in the end, under the names that psym looks for.
 *
 * The buffers of several CPUs are read one after the other, so that a sample may come before the
 * mapping that it needs: addresses are looked up when the round has ended, and once more after the
 * next one.
 */
#include "record/keep.h"

#include "base/cursor.h"
#include "base/err.h"
#include "perfdata/format.h"
#include "pevent/sysfile.h"
#include "record/parts.h"
#include "resolve/bundle.h"
#include "symbol/dso_file.h"
#include "symbol/live_maps.h"
#include "symbol/maps.h"
#include "symbol/process_code.h"
#include "symbol/vdso.h"

#include <errno.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/resource.h>

#define FILES_MAX  16384      /* that are open at once */
#define PLACES_MAX (1u << 20) /* pages of processes that are known to have been looked up */
#define TRIES_MAX  8	      /* ways to a file that cannot be opened by the first ones */
#define MAP_KEY	   24	      /* bytes of MMAP2 that tell which file it is */
#define PAGE_BITS  12
#define TEXT_MAX   (256u << 20) /* bytes of kallsyms, and of a perf map */

struct kept_file {
	struct elf_file *elf; /* NULL: it could not be opened */
	char *path;
	struct build_id id; /* as recorded, which names it: psym knows no other */
	uint8_t tries;
	bool hit;
	bool strange; /* no ELF file: there is nothing to keep */
};

#define OF_VDSO UINT32_MAX /* in the place of a file */

struct space {
	struct maps maps; /* dso: index + 1 of `files`; 0: not of a file */
	uint32_t pid;
	bool all_hit;		  /* samples have copies of stacks, or what is not looked at */
	bool code;		  /* addresses in no file, which a perf map may name */
	struct live_process live; /* when it was seen to have memory for such code */
	bool ended;
};

struct place {
	uint64_t addr;
	uint32_t pid;
	bool again; /* was looked up once */
};

struct keep {
	const struct session *s;
	struct diag *d;
	struct bundle *out;
	struct intern names; /* what tells files apart; `files` by id */
	struct kept_file *files;
	struct space *spaces;
	struct map64 by_pid; /* index + 1 of `spaces` */
	struct map64 places; /* those that were looked up, or wait for it */
	struct buf wait;     /* struct place */
	struct buf whole;    /* a record that lies in two parts */
	uint32_t n_files, cap_files, n_spaces, cap_spaces;
	bool kernel, vdso, full;
	int err;
};

int keep_new(struct keep **out, const char *name, const struct session *s, struct diag *d)
{
	struct keep *k = calloc(1, sizeof(*k));
	struct rlimit r;
	int rc = k ? bundle_open(&k->out, name, d) : PP_ENOMEM;

	*out = k;
	if (rc) {
		free(k);
		*out = NULL;
		return rc;
	}
	k->s = s;
	k->d = d;
	if (!getrlimit(RLIMIT_NOFILE, &r) && r.rlim_cur < r.rlim_max) {
		r.rlim_cur = r.rlim_max;
		(void)setrlimit(RLIMIT_NOFILE, &r);
	}
	return 0;
}

static bool grow(void *list, size_t size, uint32_t n, uint32_t *cap)
{
	uint32_t want = *cap ? 2 * *cap : 16;
	void *p, **at = list;

	if (n < *cap)
		return true;
	p = realloc(*at, size * want);
	if (!p)
		return false;
	*at = p;
	*cap = want;
	return true;
}

static struct space *space_of(struct keep *k, uint32_t pid)
{
	bool fresh;
	uint32_t *at = map64_put(&k->by_pid, pid, &fresh);

	if (k->err)
		return NULL;
	if (!at || (fresh && !grow(&k->spaces, sizeof(*k->spaces), k->n_spaces, &k->cap_spaces))) {
		k->err = PP_ENOMEM;
		return NULL;
	}
	if (fresh) {
		k->spaces[k->n_spaces] = (struct space){.pid = pid};
		*at = ++k->n_spaces;
	}
	return &k->spaces[*at - 1];
}

/* Opens a file at a path, if it is the one that was mapped. */
static bool open_at(struct kept_file *f, const struct root *root, const char *path,
		    const struct inode *inode)
{
	enum symtab_reason why;
	struct build_id id;
	struct elf_file *elf;

	if (root_elf(root, path, inode, &elf, &why)) {
		f->strange = why == SYMTAB_NOT_ELF && !f->id.len;
		return f->strange;
	}
	if (elf_file_build_id(elf, &id))
		id = (struct build_id){0};
	if (f->id.len && !build_id_equal(&f->id, &id)) {
		elf_file_close(elf);
		return false;
	}
	f->elf = elf;
	return true;
}

/* What was mapped at first, even if it is deleted or in a container; else by its name. */
static void open_file(struct kept_file *f, uint32_t pid, uint64_t start, uint64_t end,
		      const struct inode *inode)
{
	struct root *root;
	char path[64];
	bool done;

	f->tries++;
	snprintf(path, sizeof(path), "/proc/%u/map_files/%llx-%llx", pid, (unsigned long long)start,
		 (unsigned long long)end);
	if (open_at(f, NULL, path, NULL))
		return;
	snprintf(path, sizeof(path), "/proc/%u/root", pid);
	done = !root_open(&root, path, NULL) && open_at(f, root, f->path, inode);
	root_free(root);
	/* A process that is gone already: its file may be one that others see, too. */
	if (!done && (f->id.len || inode->ino))
		(void)open_at(f, NULL, f->path, inode);
}

/* The file of a mapping, opened when it is the first one of that; index + 1, 0: none. */
static uint32_t file_of(struct keep *k, const uint8_t *key, const char *path,
			const struct build_id *id)
{
	struct kept_file *f;
	uint32_t at;
	bool fresh;

	if (k->n_files >= FILES_MAX && !intern_find(&k->names, key, MAP_KEY)) {
		k->full = true;
		return 0;
	}
	k->err = intern_add(&k->names, key, MAP_KEY, &at, &fresh);
	if (k->err)
		return 0;
	if (!fresh)
		return at;
	if (!grow(&k->files, sizeof(*k->files), k->n_files, &k->cap_files)) {
		k->err = PP_ENOMEM;
		return 0;
	}
	f = &k->files[k->n_files++];
	*f = (struct kept_file){.id = *id, .path = strdup(path)};
	if (!f->path)
		k->err = PP_ENOMEM;
	return k->err ? 0 : at;
}

/* Names that are memory in truth, see mmap(2), memfd_create(2) and shmget(2). */
static bool is_file(const char *name)
{
	static const char *const not [] = {"//",    "/memfd:",	      "/dev/",
					   "/SYSV", "/anon_hugepage", "/[aio]"};

	for (size_t i = 0; i < sizeof(not ) / sizeof(not [0]); i++)
		if (strncmp(name, not [i], strlen(not [i])) == 0)
			return false;
	return name[0] == '/';
}

static void add_map(struct keep *k, uint32_t pid, const struct map *m)
{
	struct space *s = space_of(k, pid);
	const struct map *under;
	int rc;

	if (!s)
		return;
	if (s->ended) {
		maps_release(&s->maps);
		s->ended = s->code = false;
		s->live.pid = 0;
	}
	/* Memory where a file's code was is that code, moved onto other pages. */
	under = m->dso ? NULL : maps_find(&s->maps, m->start);
	if (under && under->dso && under->end >= m->end)
		return;
	if (!m->dso && !s->live.pid)
		live_ask(&s->live, pid);
	rc = maps_put(&s->maps, m);
	if (rc == PP_ELIMIT)
		k->full = true;
	else if (rc)
		k->err = rc;
}

static struct inode inode_of(const uint8_t key[MAP_KEY])
{
	struct cursor c = cursor_make(key, MAP_KEY, false);
	struct inode i = {0};

	i.maj = get_u32(&c);
	i.min = get_u32(&c);
	i.ino = get_u64(&c);
	i.generation = get_u64(&c);
	return i;
}

/* MMAP2: see PERF_RECORD_MMAP2 in perf_event_open(2). */
static void take_map(struct keep *k, const struct perf_event_header *h, struct cursor *c)
{
	struct map m = {0};
	struct build_id id = {0};
	const uint8_t *key, *name;
	uint32_t pid = get_u32(c), prot;
	struct inode inode = {0};
	size_t left;

	cursor_skip(c, 4);
	m.start = get_u64(c);
	m.end = m.start + get_u64(c);
	cursor_skip(c, 8);
	key = get_bytes(c, MAP_KEY); /* of a build-id, or of device and inode */
	prot = get_u32(c);
	cursor_skip(c, 4);
	left = cursor_left(c);
	name = get_bytes(c, left);
	if (c->bad || !memchr(name, 0, left) || !(prot & PROT_EXEC) || m.end <= m.start)
		return;
	/* Kernels set the bit for a recorder that wants none when another one wants them. */
	if (h->misc & PERF_MISC_MMAP_BUILD_ID && !k->s->c->no_build_ids)
		id = build_id_make(key + 4, key[0] <= BUILDID_MAX ? key[0] : 0);
	else
		inode = inode_of(key);
	if (is_file((const char *)name) && (id.len || inode.ino)) {
		m.dso = file_of(k, key, (const char *)name, &id);
		if (m.dso) {
			struct kept_file *f = &k->files[m.dso - 1];

			if (!f->elf && !f->strange && f->tries < TRIES_MAX)
				open_file(f, pid, m.start, m.end, &inode);
		}
	} else if (strcmp((const char *)name, "[vdso]") == 0) {
		m.dso = OF_VDSO;
	}
	add_map(k, pid, &m);
}

struct over {
	struct keep *k;
	struct maps maps;
};

static void put_over(void *ctx, const struct map *m)
{
	struct over *o = ctx;
	int rc = o->k->err ? 0 : maps_put(&o->maps, m);

	if (rc && rc != PP_ELIMIT)
		o->k->err = rc;
}

/* FORK: a process has the mappings of its parent. */
static void take_fork(struct keep *k, struct cursor *c)
{
	uint32_t pid = get_u32(c), ppid = get_u32(c);
	struct over o = {.k = k};
	const uint32_t *at;
	struct space *child;

	if (c->bad || pid == ppid || !map64_get(&k->by_pid, ppid))
		return;
	/* The list moves when it grows: the parent is looked up after that. */
	child = space_of(k, pid);
	at = map64_get(&k->by_pid, ppid);
	if (!child || !at)
		return;
	maps_copy(&o.maps, &k->spaces[*at - 1].maps);
	/* What the child mapped may have come first, from the buffer of another CPU. */
	if (!child->ended)
		maps_each(&child->maps, put_over, &o);
	maps_release(&child->maps);
	child->maps = o.maps;
	child->ended = child->code = false;
	child->live.pid = 0;
}

static void take_exit(struct keep *k, struct cursor *c)
{
	uint32_t pid = get_u32(c), tid;
	uint32_t *at = map64_get(&k->by_pid, pid);

	cursor_skip(c, 4);
	tid = get_u32(c);
	if (!c->bad && at && pid == tid)
		k->spaces[*at - 1].ended = true;
}

/* An address of user space, to be looked up later: each page once in a process. */
static void take_address(struct keep *k, uint32_t pid, uint64_t addr)
{
	struct place p = {.addr = addr, .pid = pid};
	bool fresh;

	if (k->places.n >= PLACES_MAX)
		map64_clear(&k->places);
	if (!map64_put(&k->places, addr >> PAGE_BITS | (uint64_t)pid << 42, &fresh))
		k->err = PP_ENOMEM;
	else if (fresh)
		buf_add(&k->wait, &p, sizeof(p));
	if (k->wait.err)
		k->err = PP_ENOMEM;
}

static void take_chain(struct keep *k, struct cursor *c, uint32_t pid)
{
	uint64_t n = get_u64(c);
	bool user = false;

	for (uint64_t i = 0; i < n && !c->bad; i++) {
		uint64_t ip = get_u64(c);

		if (c->bad)
			return;
		if (ip >= PERF_CTX_MAX) {
			user = ip == PERF_CTX_USER;
			k->kernel |= ip == PERF_CTX_KERNEL;
		} else if (user) {
			take_address(k, pid, ip);
		}
	}
}

/* What is before the call chain has 8 bytes a field. */
static void take_sample(struct keep *k, const struct perf_event_header *h, struct cursor *c)
{
	struct cursor first = *c;
	const struct perf_event_attr *a = ids_attr(k->s, get_u64(&first));
	bool user = (h->misc & PERF_MISC_CPUMODE) == PERF_MISC_USER;
	uint64_t type = a ? a->sample_type : 0, ip = 0;
	uint32_t pid = 0;

	if (!(type & PERF_SAMPLE_TID))
		return;
	cursor_skip(c, type & PERF_SAMPLE_IDENTIFIER ? 8 : 0);
	ip = type & PERF_SAMPLE_IP ? get_u64(c) : 0;
	pid = get_u32(c);
	cursor_skip(c, 4);
	if (c->bad)
		return;
	if (type & PERF_SAMPLE_IP && user)
		take_address(k, pid, ip);
	k->kernel |= type & PERF_SAMPLE_IP && (h->misc & PERF_MISC_CPUMODE) == PERF_MISC_KERNEL;
	if (type & (PERF_SAMPLE_STACK_USER | PERF_SAMPLE_BRANCH_STACK | PERF_SAMPLE_READ)) {
		struct space *s = space_of(k, pid);

		if (s)
			s->all_hit = true;
	}
	if (type & PERF_SAMPLE_READ || !(type & PERF_SAMPLE_CALLCHAIN))
		return;
	type &= PERF_SAMPLE_TIME | PERF_SAMPLE_ADDR | PERF_SAMPLE_CPU | PERF_SAMPLE_PERIOD;
	cursor_skip(c, 8 * (size_t)__builtin_popcountll(type));
	take_chain(k, c, pid);
}

static void take(struct keep *k, const void *record, size_t size)
{
	struct cursor c = cursor_make(record, size, false);
	struct perf_event_header h;

	memcpy(&h, get_bytes(&c, sizeof(h)), sizeof(h));
	switch (h.type) {
	case PERF_REC_SAMPLE: take_sample(k, &h, &c); break;
	case PERF_REC_MMAP2: take_map(k, &h, &c); break;
	case PERF_REC_FORK: take_fork(k, &c); break;
	case PERF_REC_EXIT: take_exit(k, &c); break;
	}
}

void keep_records(struct keep *k, const void *bytes, size_t n)
{
	const uint8_t *p = bytes;
	struct perf_event_header h;

	/* What failed once is not gone on with: lists may be half made. */
	for (; n >= sizeof(h) && !k->err; p += h.size, n -= h.size) {
		memcpy(&h, p, sizeof(h));
		if (h.size < sizeof(h) || h.size > n)
			return;
		take(k, p, h.size);
	}
}

void keep_parts(struct keep *k, const struct iovec *v, size_t n)
{
	if (n == 1) {
		keep_records(k, v->iov_base, v->iov_len);
		return;
	}
	buf_reset(&k->whole);
	for (size_t i = 0; i < n; i++)
		buf_add(&k->whole, v[i].iov_base, v[i].iov_len);
	if (k->whole.err)
		k->err = PP_ENOMEM;
	else
		keep_records(k, k->whole.data, k->whole.len);
}

static void hit(struct keep *k, const struct map *m)
{
	if (m->dso == OF_VDSO)
		k->vdso = true;
	else if (m->dso)
		k->files[m->dso - 1].hit = true;
}

/* False: nothing is mapped there. */
static bool look_up(struct keep *k, struct space *s, uint64_t addr)
{
	const struct map *m = maps_find(&s->maps, addr);

	if (!m)
		return false;
	hit(k, m);
	s->code |= !m->dso;
	return true;
}

static void hit_one(void *ctx, const struct map *m)
{
	hit(ctx, m);
}

static void hit_all(struct keep *k, struct space *s)
{
	maps_each(&s->maps, hit_one, k);
	s->code |= s->live.pid != 0; /* a stack can go through it */
	s->all_hit = false;
}

/* Processes that had ended before the last round are forgotten. */
static void forget_ended(struct keep *k)
{
	for (uint32_t i = 0; i < k->n_spaces; i++) {
		struct space *s = &k->spaces[i], *last = &k->spaces[k->n_spaces - 1];
		uint32_t *at;

		if (!s->ended || s->code)
			continue;
		maps_release(&s->maps);
		map64_del(&k->by_pid, s->pid);
		if (s != last && (at = map64_get(&k->by_pid, last->pid)))
			*at = i + 1;
		*s = *last;
		k->n_spaces--;
		i--;
	}
}

int keep_round(struct keep *k)
{
	struct place *p = (void *)k->wait.data;
	size_t n = k->wait.len / sizeof(*p), left = 0;

	if (k->err)
		return k->err;
	for (uint32_t i = 0; i < k->n_spaces; i++)
		if (k->spaces[i].all_hit)
			hit_all(k, &k->spaces[i]);
	for (size_t i = 0; i < n; i++) {
		uint32_t *at = map64_get(&k->by_pid, p[i].pid);

		if ((at && look_up(k, &k->spaces[*at - 1], p[i].addr)) || p[i].again)
			continue;
		p[i].again = true;
		p[left++] = p[i];
	}
	k->wait.len = left * sizeof(*p);
	if (!left)
		forget_ended(k);
	return k->err;
}

/* ".build-id/xx/yyyy/NAME", or its path without the mark of the kernel for files that are gone. */
static const char *member(const struct build_id *id, const char *name, const char *path,
			  char buf[DSO_MAX_PATH])
{
	static const char deleted[] = " (deleted)";
	size_t len = strlen(path), mark = sizeof(deleted) - 1;

	if (!dso_id_path(id, name, buf, DSO_MAX_PATH))
		return buf;
	if (len > mark && strcmp(path + len - mark, deleted) == 0)
		len -= mark;
	return snprintf(buf, DSO_MAX_PATH, "%.*s", (int)len - 1, path + 1) < DSO_MAX_PATH ? buf
											  : NULL;
}

static int pack_text(struct keep *k, const char *from, const char *name)
{
	struct buf text = BUF_INIT;
	int rc = sysfile_read(from, TEXT_MAX, &text);

	if (!rc && text.len && name)
		rc = bundle_bytes(k->out, name, text.data, text.len);
	else
		rc = text.err; /* what cannot be read is not there */
	buf_release(&text);
	return rc;
}

static int pack_system(struct keep *k)
{
	char path[DSO_MAX_PATH];
	enum symtab_reason why;
	struct build_id id = {0};
	struct vdso *v;
	int rc = 0;

	if (k->kernel) {
		(void)build_id_kernel(&id);
		rc = pack_text(k, "/proc/kallsyms",
			       member(&id, "kallsyms", "/proc/kallsyms", path));
	}
	if (!rc && k->vdso && !vdso_load(&v, &why)) {
		rc = bundle_bytes(k->out, member(&v->id, "vdso", "/vdso", path), v->image.data,
				  v->image.len);
		vdso_free(v);
	}
	return rc;
}

/* The code that a perf map names, from which stacks without frame pointers are unwound. */
static int pack_memory(struct keep *k, const struct space *s, const struct buf *map)
{
	struct buf core = BUF_INIT;
	char name[64];
	bool cut;
	int rc = process_code_save(s->pid, (const char *)map->data, map->len, &core, &cut);

	snprintf(name, sizeof(name), "tmp/perf-%u.core", s->pid);
	if (!rc)
		rc = bundle_bytes(k->out, name, core.data, core.len);
	if (!rc && cut)
		diag_warn(k->d, NULL, -1, "the bundle is missing code of process %u beyond %u MB",
			  s->pid, PROCESS_CODE_MAX >> 20);
	buf_release(&core);
	return rc == PP_ENOENT ? 0 : rc;
}

/* The names that runtimes write for code of theirs, and the code of those that live. */
static int pack_code(struct keep *k, const struct space *s)
{
	char at[ROOT_PATH_MAX], name[64];
	enum symtab_reason why;
	struct buf text = BUF_INIT;
	struct live_process l;
	int rc;

	live_ask(&l, s->pid);
	if (l.user == LIVE_NOBODY && s->live.pid)
		l = s->live;
	rc = live_map(&l, TEXT_MAX, &text, at, NULL, &why);
	if (!rc && text.len) {
		snprintf(name, sizeof(name), "tmp/perf-%u.map", s->pid);
		rc = bundle_bytes(k->out, name, text.data, text.len);
		if (!rc && !s->ended)
			rc = pack_memory(k, s, &text);
	} else {
		if (rc && why != SYMTAB_NOT_FOUND && why != SYMTAB_NO_MEMORY)
			diag_warn(k->d, at, -1, "not in the bundle: %s", symtab_reason_text(why));
		rc = rc == PP_ENOMEM ? rc : text.err;
	}
	buf_release(&text);
	return rc;
}

static int pack(struct keep *k, uint32_t *missing)
{
	char path[DSO_MAX_PATH];
	int rc = pack_system(k);

	for (uint32_t i = 0; i < k->n_files && !rc; i++) {
		struct kept_file *f = &k->files[i];
		const char *name = f->hit ? member(&f->id, "elf", f->path, path) : NULL;

		if (f->hit && !f->strange && (!f->elf || !name)) {
			diag_warn(k->d, f->path, -1, "not in the bundle: it was gone or replaced");
			++*missing;
		} else if (f->hit && f->elf) {
			rc = bundle_elf(k->out, name, f->elf);
		}
	}
	for (uint32_t i = 0; i < k->n_spaces && !rc; i++)
		if (k->spaces[i].code)
			rc = pack_code(k, &k->spaces[i]);
	return rc;
}

int keep_close(struct keep *k, int err, uint32_t *missing)
{
	uint32_t files;
	int rc;

	if (!k)
		return 0;
	*missing = 0;
	if (!err)
		err = keep_round(k);
	if (!err)
		err = keep_round(k);
	rc = err ? err : pack(k, missing);
	files = bundle_files(k->out);
	/* A recording that failed leaves what was hit up to then; the caller reports why. */
	rc = bundle_close(k->out, rc ? PP_END : 0);
	if (!rc)
		diag_note(k->d, NULL, -1, "the bundle has %u files", files);
	if (k->full)
		diag_warn(
			k->d, NULL, -1,
			"the bundle is missing files beyond the first %d, or of mappings of a process "
			"beyond the first %u",
			FILES_MAX, MAPS_MAX);
	for (uint32_t i = 0; i < k->n_files; i++) {
		elf_file_close(k->files[i].elf);
		free(k->files[i].path);
	}
	for (uint32_t i = 0; i < k->n_spaces; i++)
		maps_release(&k->spaces[i].maps);
	intern_release(&k->names);
	map64_release(&k->by_pid);
	map64_release(&k->places);
	buf_release(&k->wait);
	buf_release(&k->whole);
	free(k->files);
	free(k->spaces);
	free(k);
	return err ? err : rc;
}
