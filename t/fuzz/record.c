/* What recording parses: notes and ELF files of others, and the user's words. */
#include "pevent/sysfile.h"
#include "record/framepointer.h"
#include "record/parts.h"

#include "base/err.h"

#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void words(const char *text)
{
	struct pevents e = {.sys = "/nonexistent", .tracefs = "/nonexistent"};
	struct record_config c = {0};
	struct buf why = BUF_INIT;
	int *list, rc;
	size_t n;

	/* Directories that are not there: tracepoints and PMUs are parsed, and not found. */
	rc = pevents_add(&e, text, &why);
	if ((rc != 0) != (why.len != 0))
		abort();
	for (size_t i = 0; !rc && i < e.n; i++)
		if (!e.v[i].name || !e.v[i].attr.size)
			abort();
	pevents_release(&e);
	buf_reset(&why);
	record_set_freq(&c, text, &why);
	record_set_period(&c, text, &why);
	record_set_pages(&c, text, &why);
	if (c.pages & (c.pages - 1))
		abort();
	buf_release(&why);
	if (cpulist_parse(text, &list, &n) == 0) {
		for (size_t i = 1; i < n; i++)
			if (list[i - 1] >= list[i])
				abort();
		free(list);
	}
	if (pidlist_parse(text, &list, &n) == 0)
		free(list);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	uint8_t id[BUILDID_MAX];
	size_t len;
	char *text;
	int fd;

	for (int swap = 0; swap < 2; swap++) {
		buildid_from_notes(data, size, swap, id, &len);
		if (len > sizeof(id))
			abort();
	}
	fd = memfd_create("elf", MFD_CLOEXEC);
	if (fd >= 0) {
		if (write(fd, data, size) == (ssize_t)size) {
			unsigned share;
			bool go;

			buildid_from_elf(fd, id, &len);
			if (!framepointer_of(fd, &share, &go) && share > 100)
				abort();
		}
		close(fd);
	}
	text = malloc(size + 1);
	if (!text)
		return 0;
	memcpy(text, data, size);
	text[size] = 0;
	words(text);
	free(text);
	return 0;
}
