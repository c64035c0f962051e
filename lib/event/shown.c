/* Finds out what the numbers of a field are called, and names them. */
#include "event/shown.h"

#include "base/err.h"
#include "event/datasrc.h"
#include "event/scan.h"

#include <inttypes.h>
#include <stdlib.h>

#define DEV_BITS 20 /* MINORBITS of include/linux/kdev_t.h */

/*
 * enum migratetype of include/linux/mmzone.h since Linux 4.4, as /proc/pagetypeinfo writes them.
 * What comes after these depends on how the kernel was configured.
 */
static const char *const migratetypes[] = {"unmovable", "movable", "reclaimable", "highatomic"};
#define NMIGRATETYPES 4

static bool is_name(const struct field *f, const char *name)
{
	return f->name_len == strlen(name) && !memcmp(f->name, name, f->name_len);
}

static bool ends_with(const struct field *f, const char *end)
{
	size_t n = strlen(end);

	return f->name_len >= n && !memcmp(f->name + f->name_len - n, end, n);
}

static bool has(const struct ps_event *e, const char *text)
{
	return e->format.len && memmem(e->format.p, e->format.len, text, strlen(text));
}

/* Whether the print format takes the field apart as a device: "((REC->dev) >> 20)". */
static bool is_device(const struct ps_event *e, const struct field *f)
{
	struct scan s = scan_make(e->format.p, e->format.len);

	while (s.p && (s.p = memmem(s.p, (size_t)(s.end - s.p), "REC->", 5))) {
		struct scan at;

		s.p += 5;
		at = s;
		if (scan_word(&at) != f->name_len || memcmp(at.p, f->name, f->name_len) != 0)
			continue;
		at.p += f->name_len;
		while (scan_take(&at, ")"))
			;
		if (scan_take(&at, ">>") && scan_constant(&at, SCAN_OPERAND) == DEV_BITS && !at.bad)
			return true;
	}
	return false;
}

/* Other numbers are the first ones below Linux 4.4, whose formats have neither text. */
static bool is_migratetype(const struct ps_event *e, const struct field *f)
{
	return ends_with(f, "migratetype") && (has(e, "DIRECT_RECLAIM") || has(e, "pfn=0x"));
}

static int set_states(struct shown *s, const struct ps_event *e)
{
	s->states = malloc(sizeof(*s->states));
	if (!s->states)
		return PP_ENOMEM;
	task_states_parse(s->states, e->format.p, e->format.len);
	s->kind = SHOWN_TEXT;
	return 0;
}

int shown_init(struct shown *s, const struct ps_event *e, const struct field *f)
{
	int rc;

	*s = (struct shown){.bits = UINT64_MAX};
	if (f->id == FIELD_CGROUP)
		s->kind = SHOWN_CGROUP;
	if (f->id == FIELD_DATA_SRC) {
		s->kind = SHOWN_TEXT;
		s->data_src = true;
	}
	if (f->id != FIELD_PAYLOAD || f->kind != QV_INT)
		return 0;
	if (!f->element && f->size < 8)
		s->bits = (UINT64_C(1) << 8 * f->size) - 1;
	if (is_name(f, "prev_state") && has(e, "REC->prev_state"))
		return set_states(s, e);
	rc = names_init(&s->names, e);
	if (rc)
		return rc;
	s->table = names_only(&s->names, f->name, f->name_len);
	if (s->table) {
		s->kind = SHOWN_TEXT;
	} else if (is_migratetype(e, f)) {
		s->kind = SHOWN_TEXT;
		s->list = migratetypes;
		s->nlist = NMIGRATETYPES;
	} else if (is_name(f, "cgroup_ino")) {
		s->kind = SHOWN_CGROUP;
	} else if (is_device(e, f)) {
		s->kind = SHOWN_DEVICE;
	} else if (f->address) {
		s->kind = SHOWN_ADDRESS;
	}
	return 0;
}

void shown_release(struct shown *s)
{
	names_release(&s->names);
	free(s->states);
	*s = (struct shown){0};
}

bool shown_text(const struct shown *s, uint64_t value, struct buf *b)
{
	char text[TASK_STATE_TEXT];

	if (s->states) {
		task_state(s->states, value, text);
		buf_adds(b, text);
		return true;
	}
	if (s->data_src) {
		datasrc_all(b, value);
		return true;
	}
	if (s->list && value < s->nlist) {
		buf_adds(b, s->list[value]);
		return true;
	}
	return s->table && names_text(s->table, value & s->bits, s->bits, b);
}

void shown_device(uint64_t dev, struct buf *b)
{
	buf_addf(b, "%" PRIu64 ",%" PRIu64, dev >> DEV_BITS, dev & ((UINT64_C(1) << DEV_BITS) - 1));
}
