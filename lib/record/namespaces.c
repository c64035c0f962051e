/*
 * --namespaces: the numbers that threads have in their own pid namespaces, which the kernel's
 * records lack. Each NAMESPACES record is followed by a copy with one link more, see
 * perfdata/format.h; namespaces(7), PERF_RECORD_NAMESPACES in perf_event_open(2), NSpid in proc(5).
 */
#include "base/cursor.h"
#include "base/err.h"
#include "perfdata/format.h"
#include "pevent/sysfile.h"
#include "record/parts.h"

#include <stdlib.h>
#include <sys/stat.h>

#define LINKS_MAX 64 /* of a kernel's record; seven in 2026 */

uint32_t namespaces_inner(const char *proc, uint32_t tid)
{
	static const char head[] = "\nNSpid:";
	struct buf text = BUF_INIT;
	char path[64];
	const char *p, *last;

	snprintf(path, sizeof(path), "%s/%u/status", proc, tid);
	tid = 0;
	(void)sysfile_read(path, SYSFILE_MAX, &text);
	p = strstr(buf_str(&text), head);
	if (p) {
		p += strlen(head);
		last = p + strcspn(p, "\n");
		while (last > p && last[-1] >= '0' && last[-1] <= '9')
			last--;
		tid = (uint32_t)strtoul(last, NULL, 10);
	}
	buf_release(&text);
	return tid;
}

static void add_link(struct buf *b, uint64_t dev, uint64_t inode)
{
	buf_add(b, &dev, sizeof(dev));
	buf_add(b, &inode, sizeof(inode));
}

void namespaces_follow(struct buf *b, const void *record, size_t size)
{
	struct cursor c = cursor_make(record, size, false);
	struct perf_event_header h;
	const uint8_t *of, *rest;
	uint64_t n, own = 0;
	uint32_t inner;
	struct stat st;
	size_t left;

	memcpy(&h, get_bytes(&c, sizeof(h)), sizeof(h));
	cursor_skip(&c, 4);
	inner = get_u32(&c); /* the thread, of which it is so in the recorder's namespace */
	n = get_u64(&c);
	if (c.bad || n <= PERF_NS_PID || n > LINKS_MAX)
		return;
	of = get_bytes(&c, 16 * n);
	left = cursor_left(&c);
	rest = get_bytes(&c, left);
	if (!of || !rest)
		return;
	memcpy(&own, of + 16 * PERF_NS_PID + 8, sizeof(own));
	if (stat("/proc/self/ns/pid", &st) || st.st_ino != own)
		inner = namespaces_inner("/proc", inner);
	if (!inner)
		return; /* it has ended already */
	h.size = (uint16_t)(h.size + 16);
	n++;
	buf_add(b, &h, sizeof(h));
	buf_add(b, (const uint8_t *)record + sizeof(h), 8);
	buf_add(b, &n, sizeof(n));
	buf_add(b, of, 16 * (n - 1));
	add_link(b, PERF_NS_INNER_MARK, inner);
	buf_add(b, rest, left);
}
