/* Print formats of tracepoints: a format text, a NUL, and a payload that is printed by it. */
#include "print/text_fast.h"

#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void no_learn(void *ctx, uint32_t pid, const char *comm, size_t len)
{
	(void)ctx;
	(void)pid;
	(void)comm;
	(void)len;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static const struct {
		const char *name;
		uint32_t offset, size, element, flags;
	} fields[] = {
		{"a", 8, 4, 4, PS_FIELD_SIGNED},
		{"c", 16, 8, 8, 0},
		{"comm", 24, 16, 1, PS_FIELD_ARRAY | PS_FIELD_STRING},
		{"args", 40, 48, 8, PS_FIELD_ARRAY},
		{"name", 88, 4, 1, PS_FIELD_ARRAY | PS_FIELD_DYNAMIC | PS_FIELD_STRING},
	};
	const uint8_t *nul = size ? memchr(data, 0, size) : NULL;
	size_t format = nul ? (size_t)(nul - data) : size;
	struct ps_event e = {.perf_type = 2, .name = {"sched:sched_switch", 18}};
	struct buf table = BUF_INIT, b = BUF_INIT;

	for (size_t i = 0; i < sizeof(fields) / sizeof(fields[0]); i++) {
		struct ps_event_field f = {.offset = fields[i].offset,
					   .size = fields[i].size,
					   .element = fields[i].element,
					   .flags = fields[i].flags};

		f.name = ps_str(fields[i].name, strlen(fields[i].name));
		ps_event_field_add(&table, &f);
	}
	e.format = ps_str((const char *)data, format);
	e.fields = ps_str(buf_str(&table), table.len);
	for (int plugin = 0; plugin < 2; plugin++) {
		struct text_fast *f = text_fast_new(&e, 8, plugin);
		struct ps_str payload = {0};

		if (nul)
			payload = ps_str((const char *)nul + 1, size - format - 1);
		if (f)
			text_fast_add(f, &payload, &b, no_learn, NULL);
		text_fast_free(f);
	}
	buf_release(&table);
	buf_release(&b);
	return 0;
}
