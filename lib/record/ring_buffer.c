/* The kernel's ring buffers; see "MMAP layout" in perf_event_open(2). */
#include "base/err.h"
#include "perfdata/format.h"
#include "record/parts.h"

#include <errno.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#define CHAIN_EVERY 8 /* one in so many chains is looked at */
#define CHAIN_SHORT 2 /* frames of a chain that has probably been cut off */

/*
 * The kernel drops a record for which there is no room: one of 64 KiB at most, while another one is
 * half written below each level of interrupts.
 */
#define LEVELS	 4
#define ROOM_MAX (LEVELS * 65536u)

static int open_owner(const struct ring *r, const struct perf_event_attr *like)
{
	struct perf_event_attr attr = {
		.type = PERF_TYPE_SOFTWARE,
		.size = sizeof(attr),
		.config = PERF_COUNT_SW_DUMMY,
		.disabled = 1,
		.exclude_kernel = 1,
		.exclude_hv = 1,
		.use_clockid = like->use_clockid, /* one clock for all that share a buffer */
		.clockid = like->clockid,
		.write_backward = r->back,
	};

	return (int)syscall(SYS_perf_event_open, &attr, r->tid, r->cpu, -1, PERF_FLAG_FD_CLOEXEC);
}

int ring_open(struct ring *r, const struct perf_event_attr *like, uint32_t pages, int *errnum)
{
	size_t page = (size_t)sysconf(_SC_PAGESIZE);
	int prot = PROT_READ | (r->back ? 0 : PROT_WRITE);

	r->fd = open_owner(r, like);
	if (r->fd < 0) {
		*errnum = errno;
		return pp_errno(errno);
	}
	for (;; pages /= 2) {
		void *base;

		r->map_size = (1 + (size_t)pages) * page;
		base = mmap(NULL, r->map_size, prot, MAP_SHARED, r->fd, 0);
		if (base != MAP_FAILED) {
			r->base = base;
			r->pages = pages;
			r->mask = (uint64_t)pages * page - 1;
			r->tail = r->head = 0;
			r->look_to = 0;
			return 0;
		}
		*errnum = errno;
		if ((errno != EPERM && errno != ENOMEM) || pages <= 1)
			break;
	}
	close(r->fd);
	r->fd = -1;
	return pp_errno(*errnum);
}

void ring_close(struct ring *r)
{
	if (r->base)
		munmap(r->base, r->map_size);
	if (r->fd >= 0)
		close(r->fd);
	buf_release(&r->copy);
	r->base = NULL;
	r->fd = -1;
}

/* How deep is the user part of a sample's call chain? */
static void look_at_chain(const struct ring *r, uint64_t pos, size_t size,
			  struct ring_counts *counts)
{
	size_t at = counts->chain_at;
	uint64_t n = size >= at + 8 ? ring_word(r, pos + at) : 0, frames = 0;
	bool user = false;

	if (n > (size - at) / 8)
		return;
	for (uint64_t i = 0; i < n; i++) {
		uint64_t ip = ring_word(r, pos + at + 8 + 8 * i);

		if (ip >= PERF_CTX_MAX)
			user = ip == PERF_CTX_USER;
		else
			frames += user;
	}
	counts->chains += frames > 0;
	counts->short_chains += frames > 0 && frames <= CHAIN_SHORT;
}

/* The kernel's record and what is known beyond. */
static void follow_namespaces(const struct ring *r, uint64_t pos, size_t size, struct buf *more)
{
	struct buf whole = BUF_INIT;
	struct iovec v[2];
	size_t n = ring_pieces(r, pos, size, v);

	for (size_t i = 0; i < n; i++)
		buf_add(&whole, v[i].iov_base, v[i].iov_len);
	if (!whole.err)
		namespaces_follow(more, whole.data, whole.len);
	more->err = more->err ? more->err : whole.err;
	buf_release(&whole);
}

static void count_one(struct ring *r, const struct perf_event_header *h, uint64_t pos,
		      struct ring_counts *counts)
{
	if (h->type == PERF_REC_SAMPLE) {
		if (!(counts->samples++ % CHAIN_EVERY) && counts->chain_at)
			look_at_chain(r, pos, h->size, counts);
	} else if (h->type == PERF_REC_LOST) { /* header, id, lost */
		counts->lost += ring_word(r, pos + 16);
		r->lost += ring_word(r, pos + 16);
	} else if (h->type == PERF_REC_THROTTLE) {
		counts->throttled++;
	} else if (h->type == PERF_REC_NAMESPACES && counts->namespaces) {
		follow_namespaces(r, pos, h->size, &counts->more);
	}
}

static bool wanted(const struct ring *r, uint64_t pos, const struct perf_event_header *h,
		   const struct ring_ids *ids, const struct ring_counts *counts)
{
	return !counts->sifted || sift_wants(counts->sifted, r, pos, h, ids);
}

static void count(struct ring *r, struct ring_counts *counts)
{
	uint64_t pos = r->tail;

	while (r->head - pos >= sizeof(struct perf_event_header)) {
		struct perf_event_header h;

		memcpy(&h, ring_data(r) + (pos & r->mask), sizeof(h));
		if (h.size < sizeof(h) || h.size > r->head - pos)
			return;
		if (!wanted(r, pos, &h, &r->ids, counts)) {
			pos += h.size;
			continue;
		}
		count_one(r, &h, pos, counts);
		if (counts->keep && !r->ids.list.len) {
			struct iovec v[2];

			keep_parts(counts->keep, v, ring_pieces(r, pos, h.size, v));
		}
		pos += h.size;
	}
}

static bool nearly_full(const struct ring *r, uint64_t tail, uint64_t head)
{
	return head - tail + ROOM_MAX > r->mask;
}

/* The event that a sample is of, where its copy of the stack is to be cut; else NULL. */
static const struct perf_event_attr *trimmed_by(const struct ring *r, uint64_t pos,
						const struct perf_event_header *h,
						const struct ring_ids *ids,
						const struct ring_counts *counts)
{
	uint64_t id;

	if (h->type != PERF_REC_SAMPLE || !counts->trimmed || h->size < sizeof(*h) + 8)
		return NULL;
	id = ring_word(r, pos + sizeof(*h));
	return ids_attr(counts->trimmed, ids_shown(ids, id));
}

/* Adds a record as the recording has it: with its ids, and stacks as long as they are. */
static void add_record(struct buf *b, const struct ring *r, uint64_t pos,
		       const struct perf_event_header *h, const struct ring_ids *ids,
		       const struct ring_counts *counts)
{
	size_t start = b->len;

	trim_add(b, r, pos, h->size, trimmed_by(r, pos, h, ids, counts));
	if (b->err)
		return;
	ids_change(ids, b->data + start, b->len - start);
	if (counts->keep)
		keep_records(counts->keep, b->data + start, b->len - start);
}

/* A record at a position before the head; false: there is none, or it is damaged. */
static bool record_at(const struct ring *r, uint64_t pos, struct perf_event_header *h)
{
	if (r->head - pos < sizeof(*h))
		return false;
	memcpy(h, ring_data(r) + (pos & r->mask), sizeof(*h));
	return h->size >= sizeof(*h) && h->size <= r->head - pos;
}

/* With other ids, and so in other memory: few rings have such records. */
static void list_copies(struct ring *r, struct buf *list, struct ring_counts *counts)
{
	struct buf *b = &r->copy;
	struct perf_event_header h;
	struct iovec v;

	buf_reset(b);
	for (uint64_t pos = r->tail; record_at(r, pos, &h) && !b->err; pos += h.size)
		if (wanted(r, pos, &h, &r->ids, counts))
			add_record(b, r, pos, &h, &r->ids, counts);
	list->err = list->err ? list->err : b->err;
	v = (struct iovec){b->data, b->len};
	if (b->len)
		buf_add(list, &v, sizeof(v));
}

static void list_add(struct buf *list, void *base, size_t len)
{
	struct iovec *last = (void *)(list->data + list->len), v = {base, len};

	if (list->len && (uint8_t *)last[-1].iov_base + last[-1].iov_len == (uint8_t *)base)
		last[-1].iov_len += len;
	else if (len)
		buf_add(list, &v, sizeof(v));
}

static void list_pieces(const struct ring *r, uint64_t from, uint64_t to, struct buf *list)
{
	struct iovec v[2];
	size_t n = to > from ? ring_pieces(r, from, to - from, v) : 0;

	for (size_t i = 0; i < n; i++)
		list_add(list, v[i].iov_base, v[i].iov_len);
}

/* What is left out of a sample, and who is told of its copy. False: nothing is. */
static bool trim(const struct ring *r, uint64_t pos, size_t size, const struct perf_event_attr *a,
		 const struct ring_counts *counts, struct trim *t)
{
	bool less = trim_find(r, pos, size, a, t);

	if (less && counts->holes)
		holes_note(counts->holes, &t->copy);
	if (t->cut && counts->looks)
		looks_note(counts->looks, r, pos, size, a, t);
	return (counts->alike && alike_trim(counts->alike, r, pos, size, a, t)) || less;
}

/* All but what is left out; what is beside that in samples is copied, as sizes change there. */
static void list_parts(struct ring *r, struct buf *list, const struct ring_counts *counts)
{
	uint64_t from = r->tail, pos = r->tail;
	struct buf *b = &r->copy;
	struct perf_event_header h;
	struct trim t;

	buf_reset(b);
	/* So that it does not move: what is added to a record is less than its copy had. */
	if (buf_reserve(b, r->head - r->tail))
		list->err = b->err;
	for (; record_at(r, pos, &h) && !list->err; pos += h.size) {
		const struct perf_event_attr *a = trimmed_by(r, pos, &h, &r->ids, counts);
		size_t start = b->len, middle;

		if (!wanted(r, pos, &h, &r->ids, counts)) {
			list_pieces(r, from, pos, list);
			from = pos + h.size;
			continue;
		}
		if (!a)
			continue;
		if (!trim(r, pos, h.size, a, counts, &t))
			continue;
		trim_head(b, r, pos, h.size, &t);
		middle = b->len;
		trim_tail(b, r, pos, h.size, &t);
		list_pieces(r, from, pos, list);
		list_add(list, b->data + start, middle - start);
		list_pieces(r, pos + t.at + 8, pos + t.at + 8 + (t.alike ? t.bytes : t.left), list);
		list_add(list, b->data + middle, b->len - middle);
		from = pos + h.size;
	}
	list_pieces(r, from, r->head, list);
}

uint64_t ring_head(const struct ring *r)
{
	const struct perf_event_mmap_page *control = (const void *)r->base;

	/* Pairs with the barrier before the kernel's store of data_head. */
	return __atomic_load_n(&control->data_head, __ATOMIC_ACQUIRE);
}

void ring_look(struct ring *r)
{
	r->head = ring_head(r);
}

void ring_peek(struct ring *r, struct buf *list, struct ring_counts *counts)
{
	if (r->head == r->tail)
		return;
	if (counts->all || r->tail < r->look_to || nearly_full(r, r->tail, r->head))
		count(r, counts);
	if (r->ids.list.len)
		list_copies(r, list, counts);
	else if (counts->trimmed || counts->sifted)
		list_parts(r, list, counts);
	else
		list_pieces(r, r->tail, r->head, list);
}

void ring_done(struct ring *r)
{
	struct perf_event_mmap_page *control = (void *)r->base;
	uint64_t before = r->tail, written;

	r->tail = r->head;
	__atomic_store_n(&control->data_tail, r->tail, __ATOMIC_RELEASE);
	/*
	 * Was there room all the time? If not, the record that tells of a loss is the next one that
	 * the kernel begins, whenever that is; others may be half written before it. What is
	 * dropped after this store does not find room after the new tail, which the next look sees.
	 */
	__atomic_thread_fence(__ATOMIC_SEQ_CST);
	written = __atomic_load_n(&control->data_head, __ATOMIC_RELAXED);
	if (nearly_full(r, before, written))
		r->look_to = written + ROOM_MAX;
}

/*
 * Copies what a backward ring has that is newer than the last time, newest first. The kernel goes
 * on writing meanwhile, over the oldest: *sure of the bytes are not reached by that.
 */
static int copy_back(struct ring *r, struct buf *copy, uint64_t *sure)
{
	struct perf_event_mmap_page *control = (void *)r->base;
	struct iovec v[2];
	uint64_t written, len;
	size_t n;

	/* data_head begins with 0 and goes down, modulo 2^64; from there on lies the newest. */
	r->head = __atomic_load_n(&control->data_head, __ATOMIC_ACQUIRE);
	len = r->tail - r->head <= r->mask ? r->tail - r->head : r->mask + 1;
	n = len ? ring_pieces(r, r->head, len, v) : 0;
	for (size_t i = 0; i < n; i++)
		buf_add(copy, v[i].iov_base, v[i].iov_len);
	r->tail = r->head;
	__atomic_thread_fence(__ATOMIC_SEQ_CST);
	written = r->head - __atomic_load_n(&control->data_head, __ATOMIC_ACQUIRE);
	*sure = written <= r->mask ? r->mask + 1 - written : 0;
	return copy->err;
}

/* Where records begin in the copy. Some may be half written where *sure ends. */
static int find_records(const struct buf *copy, uint64_t sure, struct buf *at)
{
	struct perf_event_header h;
	uint64_t longest = 0;

	for (uint64_t pos = 0; copy->len - pos >= sizeof(h); pos += h.size) {
		memcpy(&h, copy->data + pos, sizeof(h));
		if (h.size < sizeof(h) || h.size % 8 || h.size > copy->len - pos)
			break;
		longest = h.size > longest ? h.size : longest;
		if (pos + h.size + LEVELS * longest > sure)
			break;
		buf_add(at, &pos, sizeof(pos));
	}
	return at->err;
}

/* The records of a copy, oldest first. `view` is a ring as large as all memory. */
static int take_copied(struct ring *view, const struct ring_ids *ids, const struct buf *at,
		       uint64_t since, size_t time_at, struct buf *b, struct ring_counts *counts)
{
	const uint64_t *v = (const void *)at->data;

	for (size_t i = at->len / sizeof(*v); i-- > 0;) {
		struct perf_event_header h;

		memcpy(&h, view->base + v[i], sizeof(h));
		if (h.type == PERF_REC_SAMPLE && time_at && ring_word(view, v[i] + time_at) < since)
			continue;
		if (!wanted(view, v[i], &h, ids, counts))
			continue;
		count_one(view, &h, v[i], counts);
		add_record(b, view, v[i], &h, ids, counts);
		if (b->err)
			return b->err;
	}
	return 0;
}

int ring_take_back(struct ring *r, uint64_t since, size_t time_at, struct buf *b,
		   struct ring_counts *counts)
{
	struct buf copy = BUF_INIT, at = BUF_INIT;
	struct ring view = {.mask = UINT64_MAX};
	uint64_t sure;
	int rc = copy_back(r, &copy, &sure);

	if (!rc)
		rc = find_records(&copy, sure, &at);
	view.base = copy.data;
	if (!rc)
		rc = take_copied(&view, &r->ids, &at, since, time_at, b, counts);
	r->lost += view.lost;
	buf_release(&copy);
	buf_release(&at);
	return rc;
}
