/* Build-ids as bytes and as text, and where they are found: ELF notes, /sys. */
#include "symbol/build_id.h"

#include "base/cursor.h"
#include "base/err.h"

#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <unistd.h>

#define NOTES_MAX 65536 /* bytes of a notes file in /sys: some hundred in practice */

struct build_id build_id_make(const void *bytes, size_t n)
{
	struct build_id id = {0};

	if (n && n <= BUILD_ID_MAX) {
		id.len = (uint8_t)n;
		memcpy(id.bytes, bytes, n);
	}
	return id;
}

char *build_id_hex(const struct build_id *id, char hex[BUILD_ID_HEX_MAX])
{
	static const char digits[] = "0123456789abcdef";
	size_t n = id->len <= BUILD_ID_MAX ? id->len : 0;

	for (size_t i = 0; i < n; i++) {
		hex[2 * i] = digits[id->bytes[i] >> 4];
		hex[2 * i + 1] = digits[id->bytes[i] & 15];
	}
	hex[2 * n] = 0;
	return hex;
}

static int hex_digit(char c)
{
	if (c >= '0' && c <= '9')
		return c - '0';
	c |= 0x20;
	return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

int build_id_parse(const char *hex, struct build_id *id)
{
	struct build_id r = {0};
	size_t n = strnlen(hex, BUILD_ID_HEX_MAX);

	if (!n || n % 2 || n >= BUILD_ID_HEX_MAX)
		return PP_ECORRUPT;
	for (size_t i = 0; i < n / 2; i++) {
		int hi = hex_digit(hex[2 * i]), lo = hex_digit(hex[2 * i + 1]);

		if (hi < 0 || lo < 0)
			return PP_ECORRUPT;
		r.bytes[i] = (uint8_t)(hi << 4 | lo);
	}
	r.len = (uint8_t)(n / 2);
	*id = r;
	return 0;
}

bool build_id_equal(const struct build_id *a, const struct build_id *b)
{
	const struct build_id *longer = a->len > b->len ? a : b;
	size_t n = a->len < b->len ? a->len : b->len;

	if (!n || memcmp(a->bytes, b->bytes, n) != 0)
		return false;
	for (; n < longer->len; n++)
		if (longer->bytes[n])
			return false;
	return true;
}

int build_id_from_notes(const void *bytes, size_t n, bool swap, size_t align, struct build_id *id)
{
	struct cursor c = cursor_make(bytes, n, swap);

	align = align == 8 ? 8 : 4;
	while (cursor_left(&c) >= 12) {
		const uint8_t *start = c.p;
		uint32_t namesz = get_u32(&c), descsz = get_u32(&c), type = get_u32(&c);
		const uint8_t *name = get_bytes(&c, namesz);
		const uint8_t *desc;

		cursor_align(&c, start, align);
		desc = get_bytes(&c, descsz);
		if (c.bad)
			return PP_ECORRUPT;
		if (type == NT_GNU_BUILD_ID && namesz == sizeof(ELF_NOTE_GNU) &&
		    memcmp(name, ELF_NOTE_GNU, namesz) == 0) {
			*id = build_id_make(desc, descsz);
			return id->len ? 0 : PP_ECORRUPT;
		}
		/* The last note's padding may be missing. */
		if (cursor_left(&c) >= align)
			cursor_align(&c, start, align);
		else
			break;
	}
	return PP_ENOENT;
}

static int from_file(const char *path, struct build_id *id)
{
	uint8_t notes[NOTES_MAX];
	size_t n = 0;
	ssize_t got = 0;
	int fd = open(path, O_RDONLY | O_CLOEXEC), rc;

	if (fd < 0)
		return pp_errno(errno);
	while (n < sizeof(notes)) {
		got = read(fd, notes + n, sizeof(notes) - n);
		if (got < 0 && errno == EINTR)
			continue;
		if (got <= 0)
			break;
		n += (size_t)got;
	}
	rc = got < 0 ? pp_errno(errno) : 0;
	close(fd);
	if (rc)
		return rc;
	return build_id_from_notes(notes, n, false, 4, id);
}

int build_id_kernel(struct build_id *id)
{
	return from_file("/sys/kernel/notes", id);
}
