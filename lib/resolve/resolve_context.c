/* What the resolver learns from the records that are no samples. */
#include "resolve/resolve_parts.h"

#include "base/err.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#define DSO_SAME_MAX	64	/* files that had one path */
#define PROT_OF_SYMBOLS 0x4000u /* bit of MMAP.prot */

static int on_module(struct resolver *r, struct machine *m, const struct ps_mmap *rec,
		     uint32_t index)
{
	uint64_t end;
	int rc;

	if (__builtin_add_overflow(rec->addr, rec->len, &end))
		end = UINT64_MAX;
	r->dsos.v[index - 1]->base = rec->addr;
	rc = origin_module_map(&m->host.kernel.origin, r->dsos.v[index - 1]->path, rec->addr);
	return rc ? rc : ranges_put(&m->kmods, rec->addr, end, index, NULL);
}

/* Remembers where a file's code is mapped: the debug file alone does not tell. */
static void note_text(struct rdso *d, const struct ps_mmap *rec)
{
	if (d->n_text == DSO_TEXT_MAX || !ps_mmap_runs(rec->prot))
		return;
	for (uint32_t i = 0; i < d->n_text; i++)
		if (d->text[i].pgoff == rec->pgoff && d->text[i].len == rec->len)
			return;
	d->text[d->n_text++] = (struct elf_mapping){rec->pgoff, rec->len};
}

/*
 * Files that had the same path one after the other, or in several containers, are told apart by
 * their inodes, unless build-ids do that: *index becomes the one that is meant.
 */
static int tell_apart(struct resolver *r, uint32_t *index, const struct ps_mmap *rec)
{
	struct inode inode = {rec->maj, rec->min, rec->ino, rec->ino_generation};
	struct rdso *d = r->dsos.v[*index - 1];
	int rc;

	if (d->id.len || !rec->ino)
		return 0;
	for (int n = 0; d->inode.ino && !inode_equal(&d->inode, &inode); n++) {
		if (n == DSO_SAME_MAX)
			return 0;
		if (!d->other) {
			rc = resolve_add_dso(r, d->source, ps_str(d->path, strlen(d->path)),
					     ps_str(NULL, 0), d->flags, &d->other);
			if (rc)
				return rc == PP_ELIMIT ? 0 : rc;
		}
		*index = d->other;
		d = r->dsos.v[*index - 1];
	}
	if (!d->inode.ino) {
		d->inode = inode;
		snprintf(d->mapped, sizeof(d->mapped),
			 "/proc/%" PRIu32 "/map_files/%" PRIx64 "-%" PRIx64, rec->pid, rec->addr,
			 rec->addr + rec->len);
	}
	return 0;
}

int resolve_mmap(struct resolver *r, struct machine *m, const struct ps_mmap *rec)
{
	uint32_t *known = map64_get(&r->dsos.by_id, rec->dso), index = known ? *known : 0;
	struct ps_mmap out = *rec;
	bool absolute;
	int rc = 0;

	out.dso = index ? r->dsos.v[index - 1]->out : 0;
	if (rec->flags & PS_MMAP_KERNEL) {
		bool guest = rec->flags & PS_MMAP_GUEST;

		if (index && index == m->guest.dso)
			kernel_mapping(&m->guest.kernel, rec->addr, rec->len, rec->pgoff);
		else if (index && !guest && index == m->host.dso)
			kernel_mapping(&m->host.kernel, rec->addr, rec->len, rec->pgoff);
		else if (index && !guest && (r->dsos.v[index - 1]->flags & PS_DSO_MODULE))
			rc = on_module(r, m, rec, index);
	} else if (index && !(rec->flags & (PS_MMAP_DATA | PS_MMAP_GUEST))) {
		struct map map = {.start = rec->addr, .pgoff = rec->pgoff};
		bool moved = false;

		rc = tell_apart(r, &index, rec);
		if (!rc)
			rc = resolve_generated(r, m, rec, &index, &absolute);
		if (!rc && (absolute || r->dsos.v[index - 1]->memfd))
			moved = resolve_moved(r, m, rec, &map);
		if (moved) {
			index = map.dso;
			absolute = false;
		}
		/* simpleperf: a file of its own with the symbols of code that lies elsewhere. */
		if (!rc && rec->prot & PROT_OF_SYMBOLS)
			r->dsos.v[index - 1]->absolute = absolute = true;
		if (!rc && !absolute)
			rc = resolve_jit_mmap(r, m, rec, r->dsos.v[index - 1]->path);
		if (rc)
			return rc;
		map.dso = index;
		if (!moved)
			note_text(r->dsos.v[index - 1], rec);
		out.pgoff = map.pgoff;
		out.dso = r->dsos.v[index - 1]->out;
		if (absolute)
			map.pgoff = map.start;
		if (__builtin_add_overflow(rec->addr, rec->len, &map.end))
			map.end = UINT64_MAX;
		rc = spaces_map(m->spaces, rec->pid, &map);
		if (!rc && !absolute && !moved)
			rc = resolve_moved_between(r, m, rec->pid, &map);
		if (rc == PP_ELIMIT) {
			diag_warn(r->d, NULL, -1,
				  "process %" PRIu32 " has more than %u mappings: addresses in "
				  "the others have no names",
				  rec->pid, MAPS_MAX);
			r->stats.failed++;
			rc = 0;
		}
	}
	return rc ? rc : resolve_put(r, PS_MMAP, m->source, &out);
}

static int on_fork(struct machine *m, const struct ps_fork *f)
{
	if (f->pid == f->ppid)
		return 0;
	/* A process that perf found running announces its own mappings. */
	if (f->flags & 1) {
		spaces_clear(m->spaces, f->pid);
		return 0;
	}
	return spaces_fork(m->spaces, f->pid, f->ppid);
}

static int on_ksymbol(struct machine *m, const struct ps_ksymbol *k, struct resolver *r)
{
	/* What was resolved in the kernel before may now be something else. */
	for (int ret = 0; m->host.dso && ret < 2; ret++)
		frame_map_clear(&r->dsos.v[m->host.dso - 1]->frames[ret]);
	resolve_forget_chains(r);
	map64_del(&m->ksyms, k->addr);
	return kernel_ksymbol(&m->host.kernel, k->addr, k->len, k->name.p, k->name.len,
			      k->flags & 1);
}

static void on_kernel_meta(struct machine *m, const struct ps_meta *meta)
{
	kernel_meta(&m->host.kernel, meta->key.p, meta->key.len, meta->value.p, meta->value.len);
	/* The rest is of the host; the symbol that a mapping names is the same in both. */
	if (meta->key.len == 13 && !memcmp(meta->key.p, "kernel_symbol", 13))
		kernel_meta(&m->guest.kernel, meta->key.p, meta->key.len, meta->value.p,
			    meta->value.len);
}

int resolve_context(struct resolver *r, struct machine *m, const struct ps_record *rec)
{
	int rc = 0;

	switch (rec->type) {
	case PS_FORK: rc = on_fork(m, &rec->fork); break;
	case PS_EXIT:
		if (rec->exit.pid == rec->exit.tid)
			spaces_exit(m->spaces, rec->exit.pid);
		break;
	case PS_COMM:
		if (rec->comm.flags & PS_COMM_EXEC)
			rc = spaces_exec(m->spaces, rec->comm.pid);
		break;
	case PS_NAMESPACES: rc = resolve_namespaces(m, &rec->namespaces); break;
	case PS_KSYMBOL: rc = on_ksymbol(m, &rec->ksymbol, r); break;
	case PS_SOURCE:
		if (rec->src.page_size && !(rec->src.page_size & (rec->src.page_size - 1)))
			m->page = rec->src.page_size;
		m->mono = rec->src.clock.len == 4 && !memcmp(rec->src.clock.p, "mono", 4);
		m->foreign = rec->src.big_endian != (__BYTE_ORDER__ == __ORDER_BIG_ENDIAN__);
		break;
	case PS_META:
		on_kernel_meta(m, &rec->meta);
		if (rec->meta.key.len == 7 && !memcmp(rec->meta.key.p, "version", 7))
			snprintf(r->ends.recorded, sizeof(r->ends.recorded), "%.*s",
				 (int)rec->meta.value.len, rec->meta.value.p);
		break;
	case PS_BLOB:
		if (rec->blob.kind == PS_BLOB_KALLSYMS &&
		    (rc = kernel_blob(&m->host.kernel, rec->blob.data.p, rec->blob.data.len)) ==
			    PP_ELIMIT)
			rc = 0;
		if (!rc)
			rc = resolve_recorded_add(r, m, &rec->blob);
		break;
	}
	return rc;
}
