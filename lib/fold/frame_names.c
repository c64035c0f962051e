/* The names of frames, and of the stacks that they are in. */
#include "fold/sample_stacks_parts.h"

#include "base/err.h"
#include "base/array.h"
#include "fold/tidy.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define CONTEXT_MIN ((uint64_t)-4095) /* call chain values from here on are no addresses */

/* Makes room for index i in an array of u32, zeroed. */
static int widen(uint32_t **v, uint32_t old, uint32_t cap)
{
	uint32_t *w = realloc(*v, cap * sizeof(*w));

	if (!w)
		return PP_ENOMEM;
	memset(w + old, 0, (cap - old) * sizeof(*w));
	*v = w;
	return 0;
}

/* The place of a frame's name. NULL: out of memory. */
uint32_t *fstream_name(struct fstream *s, uint32_t frame, bool java)
{
	if (frame >= s->frames_cap) {
		uint32_t cap = s->frames_cap ? s->frames_cap : 4096;

		while (cap <= frame)
			cap *= 2;
		if (widen(&s->names[0], s->frames_cap, cap) ||
		    widen(&s->names[1], s->frames_cap, cap))
			return NULL;
		s->frames_cap = cap;
	}
	return &s->names[java][frame];
}

static int make_name(struct fstream *s, const struct ps_frame *f, uint64_t ip, bool java,
		     uint32_t *id)
{
	const struct ps_symbol *sym = f->symbol ? sreader_symbol(s->in, f->symbol) : NULL;
	const struct ps_dso *dso = f->dso ? sreader_dso(s->in, f->dso) : NULL;
	struct fold_symbol fs = {
		.func = "[unknown]", .func_len = 9, .dso = "[unknown]", .dso_len = 9};
	char pc[24];

	used(f->symbol, &s->used_symbol);
	used(f->dso, &s->used_dso);
	if (sym) {
		fs.func = sym->name.p;
		fs.func_len = sym->name.len;
	}
	if (dso) {
		fs.dso = dso->path.p;
		fs.dso_len = dso->path.len;
		/* The kernel's mark of a file that is gone would be taken for arguments. */
		if (fs.dso_len > 10 && !memcmp(fs.dso + fs.dso_len - 10, " (deleted)", 10))
			fs.dso_len -= 10;
	}
	if (s->opts->addrs) {
		fs.pc = pc;
		fs.pc_len = (size_t)snprintf(pc, sizeof(pc), "%llx",
					     (unsigned long long)(dso ? f->addr : ip));
	}
	/* The number of its process would make it another name in each run. */
	fs.generated = dso && !sym && fold_is_jit_map(fs.dso, fs.dso_len);
	fs.inlined = (f->flags & PS_FRAME_INLINED) != 0;
	fs.java = java;
	buf_reset(&s->name);
	fold_tidy(s->opts, &fs, &s->name);
	return s->name.err ? s->name.err : fold_name(s->fold, buf_str(&s->name), s->name.len, id);
}

/* Where the name of a frame's symbol is kept; NULL: nowhere. */
static struct symbol_name *symbol_name(struct fstream *s, const struct ps_frame *f, bool java)
{
	struct symbol_name *v;

	if (!f->symbol || f->symbol >= PS_ID_MAX || java || f->flags & PS_FRAME_INLINED ||
	    s->opts->addrs)
		return NULL;
	v = array_widen(s->symbols, &s->symbols_cap, f->symbol, 1024, sizeof(*v));
	if (!v)
		return NULL;
	s->symbols = v;
	return &v[f->symbol];
}

static int name_frame(struct fstream *s, const struct ps_frame *f, uint64_t ip, bool java,
		      uint32_t *id)
{
	struct symbol_name *known = symbol_name(s, f, java);
	int rc;

	if (known && known->name && known->dso == f->dso) {
		*id = known->name;
		return 0;
	}
	rc = make_name(s, f, ip, java, id);
	if (!rc && known)
		*known = (struct symbol_name){f->dso, *id};
	return rc;
}

int fstream_frame(struct fstream *s, uint32_t frame, bool java, uint32_t *name)
{
	static const struct ps_frame nothing;
	const struct ps_frame *f;
	uint32_t *slot;
	int rc;

	used(frame, &s->used_frame);
	if (frame < s->frames_cap && s->names[java][frame]) {
		*name = s->names[java][frame];
		return 0;
	}
	f = sreader_frame(s->in, frame);
	if (!f) {
		s->undefined = true;
		f = &nothing;
		frame = 0;
	}
	slot = fstream_name(s, frame, java);
	if (!slot)
		return PP_ENOMEM;
	rc = *slot ? 0 : name_frame(s, f, 0, java, slot);
	*name = *slot;
	return rc;
}

/* Room for n names and the command's. */
int fstream_room(struct fstream *s, size_t n)
{
	uint32_t *path;

	if (n < s->path_cap)
		return 0;
	path = realloc(s->path, (n + 64) * 2 * sizeof(*path));
	if (!path)
		return PP_ENOMEM;
	s->path = path;
	s->path_cap = (n + 64) * 2;
	return 0;
}

/* The address of the next frame in a call chain; that of the sample when there is none. */
static uint64_t next_ip(const struct ps_chain *c, uint32_t *at, uint64_t sample_ip)
{
	while (c && *at < c->ips.n) {
		uint64_t ip = c->ips.v[(*at)++];

		if (ip < CONTEXT_MIN)
			return ip;
	}
	return sample_ip;
}

/* Adds the names of a stack, leaf first. The addresses of its frames are in the call chain. */
int fstream_stack(struct fstream *s, const struct ps_sample *p, const struct ps_stack *st,
		  const struct ps_chain *c, bool java, size_t *n)
{
	static const struct ps_frame nothing;
	int rc = fstream_room(s, *n + st->frames.n + 1);
	bool shared = false;
	uint32_t at = 0;
	uint64_t ip = 0;

	for (uint32_t i = 0; i < st->frames.n && !rc; i++) {
		uint32_t id = st->frames.v[i], *name, unknown = 0;
		const struct ps_frame *f;

		/* A name tells that the frame is defined. */
		if (!s->opts->addrs && id < s->frames_cap && s->names[java][id]) {
			used(id, &s->used_frame);
			s->path[(*n)++] = s->names[java][id];
			continue;
		}
		f = sreader_frame(s->in, id);
		if (!f) {
			s->undefined = true;
			f = &nothing;
			id = 0;
		}
		if (s->opts->addrs && !shared)
			ip = next_ip(c, &at, p->ip);
		shared = (f->flags & PS_FRAME_INLINED) != 0;
		/* A frame without a mapping stands for many addresses. */
		name = s->opts->addrs && !f->dso ? &unknown : fstream_name(s, id, java);
		if (!name)
			return PP_ENOMEM;
		used(id, &s->used_frame);
		if (!*name)
			rc = name_frame(s, f, ip, java, name);
		s->path[(*n)++] = *name;
	}
	return rc;
}

/* A chain that nobody symbolized: its addresses are the names. */
int fstream_chain(struct fstream *s, const struct ps_chain *c, size_t *n)
{
	int rc = fstream_room(s, *n + c->ips.n);

	for (uint32_t i = 0; i < c->ips.n && !rc; i++) {
		uint64_t ip = c->ips.v[i];
		uint32_t *name;
		char text[24];
		int len;

		if (ip >= CONTEXT_MIN)
			continue;
		name = map64_put(&s->ips, ip, NULL);
		if (!name)
			return PP_ENOMEM;
		len = snprintf(text, sizeof(text), "0x%llx", (unsigned long long)ip);
		if (!*name)
			rc = fold_name(s->fold, text, (size_t)len, name);
		s->path[(*n)++] = *name;
	}
	return rc;
}
