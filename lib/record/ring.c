/* The kernel's ring buffers; see "MMAP layout" in perf_event_open(2). */
#include "base/err.h"
#include "perfdata/format.h"
#include "record/parts.h"

#include <errno.h>
#include <sys/mman.h>
#include <unistd.h>

int ring_map(struct ring *r, int cpu, int fd, uint32_t *pages, int *errnum)
{
	size_t page = (size_t)sysconf(_SC_PAGESIZE);

	*r = (struct ring){.cpu = cpu, .fd = fd};
	for (;; *pages /= 2) {
		void *base;

		r->map_size = (1 + (size_t)*pages) * page;
		base = mmap(NULL, r->map_size, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
		if (base != MAP_FAILED) {
			r->base = base;
			r->mask = (uint64_t)*pages * page - 1;
			return 0;
		}
		*errnum = errno;
		if ((errno != EPERM && errno != ENOMEM) || *pages <= 1)
			return pp_errno(errno);
	}
}

void ring_unmap(struct ring *r)
{
	if (r->base)
		munmap(r->base, r->map_size);
	r->base = NULL;
}

/* A word at a position in the data; words are aligned, so none lies across the end. */
static uint64_t word(const struct ring *r, const uint8_t *data, uint64_t pos)
{
	uint64_t v;

	memcpy(&v, data + (pos & r->mask), sizeof(v));
	return v;
}

static void count(const struct ring *r, const uint8_t *data, struct ring_counts *counts)
{
	uint64_t pos = r->tail;

	while (r->head - pos >= sizeof(struct perf_event_header)) {
		struct perf_event_header h;

		memcpy(&h, data + (pos & r->mask), sizeof(h));
		if (h.size < sizeof(h))
			return;
		if (h.type == PERF_REC_SAMPLE)
			counts->samples++;
		else if (h.type == PERF_REC_LOST) /* header, id, lost */
			counts->lost += word(r, data, pos + 16);
		else if (h.type == PERF_REC_THROTTLE)
			counts->throttled++;
		pos += h.size;
	}
}

size_t ring_peek(struct ring *r, struct iovec v[2], struct ring_counts *counts)
{
	struct perf_event_mmap_page *control = (void *)r->base;
	uint8_t *data = r->base + (r->map_size - (size_t)(r->mask + 1));
	uint64_t from, len, first;

	/* Pairs with the barrier before the kernel's store of data_head. */
	r->head = __atomic_load_n(&control->data_head, __ATOMIC_ACQUIRE);
	len = r->head - r->tail;
	if (!len)
		return 0;
	count(r, data, counts);
	from = r->tail & r->mask;
	first = r->mask + 1 - from;
	if (first > len)
		first = len;
	v[0] = (struct iovec){data + from, (size_t)first};
	v[1] = (struct iovec){data, (size_t)(len - first)};
	return first < len ? 2 : 1;
}

void ring_done(struct ring *r)
{
	struct perf_event_mmap_page *control = (void *)r->base;

	r->tail = r->head;
	__atomic_store_n(&control->data_tail, r->tail, __ATOMIC_RELEASE);
}
