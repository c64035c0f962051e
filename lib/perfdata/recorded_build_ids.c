/* Build-ids of files, by their paths: the header feature BUILD_ID, and HEADER_BUILD_ID records. */
#include "perfdata/info.h"

#include "base/err.h"

#include <stdlib.h>

bool perf_build_id_lacks_pid(struct cursor c)
{
	const uint8_t *path;

	cursor_skip(&c, 24);
	path = get_bytes(&c, 4);
	if (!path || (path[0] != '/' && path[0] != '['))
		return false;
	return path[1] > ' ' && path[2] > ' ' && path[3] > ' ';
}

int perf_build_id(struct perf_info *p, struct cursor c, uint16_t misc)
{
	const uint8_t *id;
	const char *path;
	struct perf_build_id *v;
	uint32_t n;
	uint8_t len = 20;
	size_t plen;
	bool fresh;
	int rc;

	cursor_skip(&c, perf_build_id_lacks_pid(c) ? 0 : 4); /* pid of the guest */
	id = get_bytes(&c, 24);
	path = get_text(&c, cursor_left(&c), &plen);
	if (!id || !path || !plen)
		return PP_ECUT;
	if ((misc & PERF_MISC_BUILD_ID_SIZE) && id[20] && id[20] <= 20)
		len = id[20];
	rc = intern_add(&p->facts.build_id_paths, path, plen, &n, &fresh);
	if (rc)
		return rc;
	if (fresh) {
		v = realloc(p->facts.build_ids, p->facts.build_id_paths.cap * sizeof(*v));
		if (!v)
			return PP_ENOMEM;
		p->facts.build_ids = v;
	}
	p->facts.build_ids[n - 1].len = len;
	memcpy(p->facts.build_ids[n - 1].bytes, id, 20);
	return 0;
}

int perf_build_id_table(struct perf_info *p, struct cursor c)
{
	while (cursor_left(&c) >= 8) {
		struct cursor body;
		uint16_t misc, size;
		int rc;

		get_u32(&c);
		misc = get_u16(&c);
		size = get_u16(&c);
		if (size < 8)
			return PP_ECORRUPT;
		body = cursor_sub(&c, size - 8u);
		if (c.bad)
			return PP_ECUT;
		rc = perf_build_id(p, body, misc);
		if (rc)
			return rc;
	}
	return 0;
}
