/*
 * What pprobe reads beside DWARF and ELF, which libraries read: definitions, formats of probes with
 * values in parts, the function table of Go. The first byte says which.
 */
#include "base/err.h"
#include "event/probe_parts.h"
#include "inspect/funcs.h"
#include "inspect/name_pattern.h"
#include "probe/spec.h"

#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void definition(const char *text)
{
	struct name_scratch scratch = {0};
	struct buf b = BUF_INIT;
	struct name_pattern p;
	struct spec s;

	spec_parse(&s, text, &b);
	spec_release(&s);
	name_event(text, &b);
	if (b.len > NAME_EVENT_MAX || !name_is_valid(buf_str(&b), b.len, NAME_EVENT_MAX))
		abort();
	name_bare(text, &b);
	name_pattern_set(&p, text);
	name_match(&p, text, &scratch);
	name_scratch_release(&scratch);
	buf_release(&b);
}

static void format(const char *text, size_t n)
{
	uint8_t payload[512];
	struct buf b = BUF_INIT;
	struct probe_parts *p;

	for (size_t i = 0; i < sizeof(payload); i++)
		payload[i] = n ? (uint8_t)text[i % n] : 0;
	probe_parts_new(&p, text, n, &b);
	probe_parts_join(p, payload, sizeof(payload));
	probe_parts_free(p);
	buf_release(&b);
}

static void go(const uint8_t *data, size_t size)
{
	struct gopcln_function fn;
	uint64_t start, end;
	uint32_t frame;
	struct gopcln *g;

	if (gopcln_memory(&g, data, size, false, 0x1000))
		return;
	for (uint32_t i = 0; i < gopcln_count(g) && i < 64; i++) {
		if (gopcln_get(g, i, &fn))
			break;
		if (fn.name && strlen(fn.name) >= size)
			abort();
		for (unsigned k = 0; k < 4; k++)
			gopcln_frame(g, &fn, fn.addr + fn.size / 4 * k, &frame, &start, &end);
		gopcln_find(g, fn.addr, &fn);
	}
	gopcln_close(g);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	char *text;

	if (!size || size > 65536)
		return 0;
	text = malloc(size);
	if (!text)
		return 0;
	memcpy(text, data + 1, size - 1);
	text[size - 1] = 0;
	switch (data[0]) {
	case 'd': definition(text); break;
	case 'f': format(text, size - 1); break;
	case 'g': go(data + 1, size - 1); break;
	}
	free(text);
	return 0;
}
