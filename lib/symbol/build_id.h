/*
 * Build-ids: what distinguishes versions of a binary.
 *
 *	struct build_id id;
 *	if (build_id_parse("e80d64…", &id) == 0 && build_id_equal(&id, &other)) ...
 *
 * The id is the descriptor of the ELF note NT_GNU_BUILD_ID of owner "GNU" (ELF note format: gABI,
 * "Note Section"; elf.h). Linkers write 16 (md5, uuid) or 20 (sha1) bytes, users may write others.
 */
#ifndef PP_SYMBOL_BUILD_ID_H
#define PP_SYMBOL_BUILD_ID_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define BUILD_ID_MAX	 32			/* bytes; longer ones are refused */
#define BUILD_ID_HEX_MAX (2 * BUILD_ID_MAX + 1) /* its text with a NUL */

struct build_id {
	uint8_t len; /* 0: none */
	uint8_t bytes[BUILD_ID_MAX];
};

/* n bytes; none when n is 0 or above BUILD_ID_MAX. */
struct build_id build_id_make(const void *bytes, size_t n);

/* Lower case hexadecimal; "" for none. Returns hex. */
char *build_id_hex(const struct build_id *id, char hex[BUILD_ID_HEX_MAX]);

/* 0, or PP_ECORRUPT when the text is not an even number of up to 64 hexadecimal digits. */
int build_id_parse(const char *hex, struct build_id *id);

/*
 * Whether both exist and are equal. A recorded id may be padded with zeroes to 20 bytes (perf
 * before 5.12 stored no length), so trailing zeroes beyond the shorter one are ignored.
 */
bool build_id_equal(const struct build_id *a, const struct build_id *b);

/*
 * Searches the notes in n bytes (a PT_NOTE segment, a note section, /sys/kernel/notes). `swap`:
 * they are not in host byte order. `align` is 4 or 8 (anything else counts as 4). 0, PP_ENOENT, or
 * PP_ECORRUPT.
 */
int build_id_from_notes(const void *bytes, size_t n, bool swap, size_t align, struct build_id *id);

/* Of the running kernel, from /sys/kernel/notes. 0 or an error. */
int build_id_kernel(struct build_id *id);

#endif
