/*
 * Finds the value that a name means in a sample: fields of its event, and those that all samples
 * have.
 */
#include "event/field.h"

#include "base/err.h"
#include "event/container.h"
#include "event/core_pmu.h"
#include "event/datasrc.h"
#include "event/site.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>

#define NAME_MAX_LEN 256   /* bytes of a name; longer ones are no fields */
#define LINE_BYTES   64	   /* of a cache line */
#define TEXT_MAX     16384 /* bytes of a stack or source line that is put together */
#define INDEX_MAX    65535 /* of an array's element */

static const struct {
	const char *name;
	enum field_id id;
	enum qkind kind;
} builtins[] = {
#define F(id, type, name, help) {name, FIELD_##id, QV_##type},
	FIELDS(F)
#undef F
};

static const struct {
	const char *name;
	enum field_id id;
} aliases[] = {
#define A(name, id) {name, FIELD_##id},
	FIELD_ALIASES(A)
#undef A
};

/* The cpumode of PERF_RECORD_MISC_CPUMODE. */
static const char *const modes[] = {NULL,	    "kernel",	  "user", "hypervisor",
				    "guest_kernel", "guest_user", NULL,	  NULL};

const char *field_name(enum field_id id)
{
	return id < FIELD_PAYLOAD ? builtins[id].name : NULL;
}

static bool equals(const char *name, const char *s, size_t len)
{
	return strlen(name) == len && !memcmp(name, s, len);
}

bool field_builtin(const char *name, size_t len, enum field_id *id)
{
	char lower[NAME_MAX_LEN];
	size_t capitals = 0, smalls = 0;

	if (len >= sizeof(lower))
		return false;
	for (size_t i = 0; i < len; i++) {
		capitals += isupper((unsigned char)name[i]) != 0;
		smalls += islower((unsigned char)name[i]) != 0;
		lower[i] = (char)tolower((unsigned char)name[i]);
	}
	if (capitals && smalls)
		return false;
	for (size_t i = 0; i < FIELD_PAYLOAD; i++)
		if (equals(builtins[i].name, lower, len)) {
			*id = builtins[i].id;
			return true;
		}
	for (size_t i = 0; i < sizeof(aliases) / sizeof(aliases[0]); i++)
		if (equals(aliases[i].name, lower, len)) {
			*id = aliases[i].id;
			return true;
		}
	return false;
}

/* Takes "[N]" from the end of a name. 0: there is none; -1: it is not a number. */
static int split_index(const char *name, size_t *len, uint32_t *index)
{
	size_t open = *len;
	uint32_t v = 0;

	if (!*len || name[*len - 1] != ']')
		return 0;
	while (open && name[open - 1] != '[')
		open--;
	if (!open || open == *len - 1)
		return -1;
	for (size_t i = open; i < *len - 1; i++) {
		if (!isdigit((unsigned char)name[i]) || v > INDEX_MAX)
			return -1;
		v = 10 * v + (uint32_t)(name[i] - '0');
	}
	*len = open - 1;
	*index = v;
	return v <= INDEX_MAX ? 1 : -1;
}

static bool is_number(uint32_t size)
{
	return size == 1 || size == 2 || size == 4 || size == 8;
}

/*
 * Whether it may hold an address: a number of 64 bits, or a pointer or long of 32, which tells
 * that the recorded machine had no wider ones.
 */
static bool holds_address(const struct ps_event_field *e, uint32_t size)
{
	if (size == 8)
		return !(e->flags & PS_FIELD_SIGNED);
	return size == 4 &&
	       ((e->flags & PS_FIELD_POINTER) || (!(e->flags & PS_FIELD_SIGNED) && e->type.len &&
						  memmem(e->type.p, e->type.len, "long", 4)));
}

/* An entry of the table to an accessor. */
static int from_entry(struct field *f, const struct ps_event_field *e, bool indexed, uint32_t index)
{
	bool array = (e->flags & (PS_FIELD_ARRAY | PS_FIELD_DYNAMIC)) != 0;

	*f = (struct field){.id = FIELD_PAYLOAD,
			    .is_unsigned = !(e->flags & PS_FIELD_SIGNED),
			    .offset = e->offset,
			    .size = e->size,
			    .flags = e->flags,
			    .name = e->name.p,
			    .name_len = e->name.len};
	if ((e->flags & PS_FIELD_DYNAMIC) && e->size != 4)
		return PP_ENOENT;
	if (indexed) {
		if (!array || !is_number(e->element))
			return PP_ENOENT;
		f->kind = QV_INT;
		f->element = e->element;
		f->index = index;
		f->address = holds_address(e, e->element);
	} else if (e->flags & PS_FIELD_STRING) {
		f->kind = QV_STR;
	} else {
		f->kind = array || !is_number(e->size) ? QV_BYTES : QV_INT;
		f->address = f->kind == QV_INT && holds_address(e, e->size);
	}
	return 0;
}

static int from_payload(struct field *f, const struct ps_event *e, const char *name, size_t len)
{
	struct ps_event_field entry;
	uint32_t index = 0;
	int indexed = split_index(name, &len, &index);

	if (indexed < 0 || !ps_event_field_find(e, name, len, &entry))
		return PP_ENOENT;
	return from_entry(f, &entry, indexed, index);
}

static bool is_of_data_src(enum field_id id)
{
	return id >= FIELD_MEM_OP && id <= FIELD_MEM_HITM;
}

int field_resolve(struct field *f, const struct ps_event *e, const char *name, size_t len)
{
	const size_t own = sizeof(FIELD_OWN) - 1;
	enum field_id id;

	*f = (struct field){0};
	if (len > own && !memcmp(name, FIELD_OWN, own))
		return from_payload(f, e, name + own, len - own);
	/* Which event it is is more than what a field of that name may be. */
	if (!len || (!equals("event", name, len) && !from_payload(f, e, name, len)))
		return len ? 0 : PP_ENOENT;
	if (!field_builtin(name, len, &id))
		return PP_ENOENT;
	*f = (struct field){.id = id, .kind = builtins[id].kind, .is_unsigned = true};
	if (id == FIELD_SRCLINE || id == FIELD_STACK || id == FIELD_BASE_EVENT ||
	    is_of_data_src(id)) {
		f->text = malloc(TEXT_MAX);
		if (!f->text)
			return PP_ENOMEM;
	}
	return 0;
}

void field_release(struct field *f)
{
	free(f->text);
	f->text = NULL;
}

/* ---- payload ---- */

static uint64_t load(const char *p, uint32_t size, bool is_unsigned)
{
	uint64_t v64;
	uint32_t v32;
	uint16_t v16;

	switch (size) {
	case 1: return is_unsigned ? (uint8_t)*p : (uint64_t)(int8_t)*p;
	case 2: memcpy(&v16, p, 2); return is_unsigned ? v16 : (uint64_t)(int16_t)v16;
	case 4: memcpy(&v32, p, 4); return is_unsigned ? v32 : (uint64_t)(int32_t)v32;
	default: memcpy(&v64, p, 8); return v64;
	}
}

/* Where the bytes of an array or a text are. */
static bool place(const struct field *f, const struct ps_str *payload, uint64_t *at, uint64_t *len)
{
	uint32_t word;

	*at = f->offset;
	*len = f->size;
	if (*at > payload->len || *len > payload->len - *at)
		return false;
	if (!(f->flags & PS_FIELD_DYNAMIC))
		return true;
	memcpy(&word, payload->p + f->offset, 4);
	*at = (word & 0xffff) + (f->flags & PS_FIELD_RELATIVE ? (uint64_t)f->offset + 4 : 0);
	*len = word >> 16;
	return *at <= payload->len && *len <= payload->len - *at;
}

static bool get_array(const struct field *f, const struct ps_str *payload, struct qval *v)
{
	uint64_t at, len, skip = (uint64_t)f->index * f->element;

	if (!place(f, payload, &at, &len))
		return false;
	if (f->element) {
		if (skip >= len || f->element > len - skip)
			return false;
		v->num = load(payload->p + at + skip, f->element, f->is_unsigned);
		v->kind = QV_INT;
		v->is_unsigned = f->is_unsigned;
		return true;
	}
	v->s = payload->p + at;
	v->len = f->kind == QV_STR ? strnlen(v->s, len) : len;
	v->kind = f->kind;
	return true;
}

static bool get_payload(const struct field *f, const struct ps_sample *s, struct qval *v)
{
	const struct ps_str *payload = &s->payload;

	if (!payload->p)
		return false;
	if (f->kind != QV_INT || f->element)
		return get_array(f, payload, v);
	if (f->offset > payload->len || f->size > payload->len - f->offset)
		return false;
	v->kind = QV_INT;
	v->is_unsigned = f->is_unsigned;
	v->num = load(payload->p + f->offset, f->size, f->is_unsigned);
	return true;
}

/* ---- the sample ---- */

static bool give_str(struct qval *v, const char *s, size_t len)
{
	v->kind = QV_STR;
	v->s = s;
	v->len = len;
	return true;
}

static bool give_num(struct qval *v, uint64_t num)
{
	v->kind = QV_INT;
	v->is_unsigned = true;
	v->num = num;
	return true;
}

static const struct ps_frame *frame_at(const struct sreader *r, const struct ps_sample *s,
				       uint32_t i)
{
	const struct ps_stack *stack = s->stack ? sreader_stack(r, s->stack) : NULL;

	return stack && i < stack->frames.n ? sreader_frame(r, stack->frames.v[i]) : NULL;
}

/* The index of the innermost frame that is no inlined function. */
static uint32_t outer(const struct sreader *r, const struct ps_sample *s)
{
	const struct ps_frame *f;
	uint32_t i = 0;

	while ((f = frame_at(r, s, i)) && (f->flags & PS_FRAME_INLINED))
		i++;
	return f ? i : 0;
}

bool field_frame(const struct sreader *r, const struct ps_sample *s, uint32_t i, struct qval *v)
{
	const struct ps_frame *f = frame_at(r, s, i);
	const struct ps_symbol *sym = f && f->symbol ? sreader_symbol(r, f->symbol) : NULL;

	v->kind = QV_NA;
	if (!f)
		return false;
	return sym ? give_str(v, sym->name.p, sym->name.len) : give_str(v, "[unknown]", 9);
}

/* The innermost function that is none of site.h; the outermost if all are. */
static bool get_site(const struct sreader *r, const struct ps_sample *s, struct qval *v)
{
	const struct ps_frame *f;
	const struct ps_symbol *sym;
	uint32_t i = 0;

	for (; (f = frame_at(r, s, i)) && f->flags & PS_FRAME_KERNEL; i++) {
		sym = f->symbol ? sreader_symbol(r, f->symbol) : NULL;
		if (!sym || !site_skips(sym->name.p, sym->name.len))
			break;
	}
	return field_frame(r, s, f || !i ? i : i - 1, v);
}

static size_t append(char *text, size_t len, const char *s, size_t n)
{
	if (n > TEXT_MAX - len)
		n = TEXT_MAX - len;
	memcpy(text + len, s, n);
	return len + n;
}

static bool get_stack(const struct field *f, const struct sreader *r, const struct ps_sample *s,
		      struct qval *v)
{
	const struct ps_stack *stack = s->stack ? sreader_stack(r, s->stack) : NULL;
	size_t len = 0;

	if (!stack)
		return false;
	for (uint32_t i = stack->frames.n; i--;) {
		if (!field_frame(r, s, i, v))
			return false;
		if (len)
			len = append(f->text, len, ";", 1);
		len = append(f->text, len, v->s, v->len);
	}
	return give_str(v, f->text, len);
}

static bool get_srcline(const struct field *f, const struct sreader *r, const struct ps_sample *s,
			struct qval *v)
{
	const struct ps_frame *frame = frame_at(r, s, 0);
	const struct ps_srcfile *file =
		frame && frame->srcfile ? sreader_srcfile(r, frame->srcfile) : NULL;
	char line[16];
	size_t len;
	int n;

	if (!file)
		return false;
	n = snprintf(line, sizeof(line), ":%u", frame->line);
	len = append(f->text, 0, file->path.p, file->path.len);
	return give_str(v, f->text, append(f->text, len, line, (size_t)n));
}

static bool get_dso(const struct sreader *r, const struct ps_sample *s, struct qval *v)
{
	const struct ps_frame *f = frame_at(r, s, outer(r, s));
	const struct ps_dso *dso = f && f->dso ? sreader_dso(r, f->dso) : NULL;

	if (!f)
		return false;
	return dso ? give_str(v, dso->path.p, dso->path.len) : give_str(v, "[unknown]", 9);
}

/*
 * The sample as seen at its instruction pointer: where the call chain begins elsewhere, the frames
 * there are its stack. What it called from there, the chain tells.
 */
static const struct ps_sample *at_ip(const struct field *f, const struct ps_sample *s,
				     struct ps_sample *there)
{
	bool here = f->id == FIELD_SYM || f->id == FIELD_DSO || f->id == FIELD_SRCLINE ||
		    f->id == FIELD_LEAF;

	if (!here || !ps_sample_has(s, ip_stack))
		return s;
	*there = (struct ps_sample){.stack = s->ip_stack, .fields = PS_HAS(stack)};
	return there;
}

/* What psym has added. */
static bool get_symbolized(const struct field *f, const struct sreader *r,
			   const struct ps_sample *s, struct qval *v)
{
	const struct ps_stack *stack;
	struct ps_sample there;
	uint32_t i;

	s = at_ip(f, s, &there);
	stack = s->stack ? sreader_stack(r, s->stack) : NULL;
	if (!stack)
		return false;
	switch (f->id) {
	case FIELD_SYM: return field_frame(r, s, outer(r, s), v);
	case FIELD_LEAF: return field_frame(r, s, 0, v);
	case FIELD_CALLER: i = outer(r, s); return field_frame(r, s, i + 1, v);
	case FIELD_SITE: return get_site(r, s, v);
	case FIELD_DSO: return get_dso(r, s, v);
	case FIELD_SRCLINE: return get_srcline(f, r, s, v);
	case FIELD_STACK: return get_stack(f, r, s, v);
	default: return give_num(v, stack->frames.n);
	}
}

/* A number that the sample may have. */
#define OPTIONAL(name) return ps_sample_has(s, name) && give_num(v, s->name)

static bool get_optional(enum field_id id, const struct ps_sample *s, struct qval *v)
{
	switch (id) {
	case FIELD_PERIOD: OPTIONAL(period);
	case FIELD_IP: OPTIONAL(ip);
	case FIELD_ADDR: OPTIONAL(addr);
	case FIELD_WEIGHT: OPTIONAL(weight);
	case FIELD_DATA_SRC: OPTIONAL(data_src);
	case FIELD_CACHE_LINE:
		return ps_sample_has(s, addr) && give_num(v, s->addr & ~(uint64_t)(LINE_BYTES - 1));
	case FIELD_PHYS_ADDR: OPTIONAL(phys_addr);
	case FIELD_TRANSACTION: OPTIONAL(transaction);
	case FIELD_CGROUP: OPTIONAL(cgroup);
	case FIELD_DATA_PAGE_SIZE: OPTIONAL(data_page_size);
	case FIELD_CODE_PAGE_SIZE: OPTIONAL(code_page_size);
	case FIELD_ID: OPTIONAL(id);
	case FIELD_END_TIME: OPTIONAL(end_time);
	case FIELD_KEY: OPTIONAL(key);
	default: return false;
	}
}

/* A part of data_src, in words; f->text has room for all of them. */
static bool get_data_src(const struct field *f, const struct ps_sample *s, struct qval *v)
{
	struct buf b = {.data = (uint8_t *)f->text, .cap = TEXT_MAX};

	if (!ps_sample_has(s, data_src))
		return false;
	datasrc_add(&b, (enum datasrc_part)(f->id - FIELD_MEM_OP + DATASRC_OP), s->data_src);
	return give_str(v, f->text, b.len);
}

static bool get_comm(const struct sreader *r, const struct ps_sample *s, struct qval *v)
{
	size_t len;
	const char *comm = s->comm ? sreader_string(r, s->comm, &len) : NULL;

	return comm ? give_str(v, comm, len) : give_str(v, "<...>", 5);
}

static bool get_event(const struct field *f, const struct sreader *r, const struct ps_sample *s,
		      struct qval *v)
{
	const struct ps_event *e = sreader_event(r, s->event);
	struct core_event core;
	const char *base;
	size_t n;

	if (!e)
		return false;
	switch (f->id) {
	case FIELD_EVENT: return give_str(v, e->name.p, e->name.len);
	case FIELD_BUFFER: return give_str(v, e->buffer.p, e->buffer.len);
	default: break;
	}
	base = event_base_name(e->name.p, e->name.len, &core, &n);
	if (base == e->name.p)
		return give_str(v, base, n);
	memcpy(f->text, base, n);
	return give_str(v, f->text, n);
}

static bool get_mode(const struct ps_sample *s, struct qval *v)
{
	const char *mode = modes[(s->flags & PS_SAMPLE_MODE_MASK) >> PS_SAMPLE_MODE_SHIFT];

	return mode && give_str(v, mode, strlen(mode));
}

static bool get_container(const struct sreader *r, const struct ps_record *rec, struct qval *v)
{
	size_t len;
	const char *path = ps_sample_has(&rec->sample, cgroup)
				   ? sreader_cgroup(r, rec->source, rec->sample.cgroup, &len)
				   : NULL;

	v->kind = QV_STR;
	if (path && container_of_path(path, len, &v->s, &v->len))
		return true;
	v->kind = QV_NA;
	return false;
}

bool field_get(const struct field *f, const struct sreader *r, const struct ps_record *rec,
	       struct qval *v)
{
	uint32_t inner;

	const struct ps_sample *s = &rec->sample;

	v->kind = QV_NA;
	switch (f->id) {
	case FIELD_PAYLOAD: return get_payload(f, s, v);
	case FIELD_COMM: return get_comm(r, s, v);
	case FIELD_PID: return s->pid != PS_NONE && give_num(v, s->pid);
	case FIELD_TID: return s->tid != PS_NONE && give_num(v, s->tid);
	case FIELD_CPU: return s->cpu != PS_NONE && give_num(v, s->cpu);
	case FIELD_TIME: return !(s->flags & PS_SAMPLE_NO_TIME) && give_num(v, s->time);
	case FIELD_EVENT:
	case FIELD_BASE_EVENT:
	case FIELD_BUFFER: return get_event(f, r, s, v);
	case FIELD_MODE: return get_mode(s, v);
	case FIELD_SOURCE: return give_num(v, rec->source);
	case FIELD_CONTAINER: return get_container(r, rec, v);
	case FIELD_NSPID:
		return s->pid != PS_NONE && sreader_inner_pid(r, rec->source, s->pid, &inner) &&
		       give_num(v, inner);
	case FIELD_MEM_OP:
	case FIELD_MEM_LEVEL:
	case FIELD_MEM_SNOOP:
	case FIELD_MEM_TLB:
	case FIELD_MEM_LOCK:
	case FIELD_MEM_BLOCK:
	case FIELD_MEM_HITM: return get_data_src(f, s, v);
	case FIELD_KEY_TEXT:
		return ps_sample_has(s, key_text) && give_str(v, s->key_text.p, s->key_text.len);
	case FIELD_SYM:
	case FIELD_DSO:
	case FIELD_SRCLINE:
	case FIELD_LEAF:
	case FIELD_CALLER:
	case FIELD_SITE:
	case FIELD_STACK:
	case FIELD_DEPTH: return get_symbolized(f, r, s, v);
	default: return get_optional(f->id, s, v);
	}
}
