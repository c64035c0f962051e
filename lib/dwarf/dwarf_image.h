/*
 * The sections of a file that names and lines come from, as an ELF file in memory for libdw.
 *
 *	struct buf image = BUF_INIT;
 *	if (dwarf_image(f, true, &image) == 0)
 *		elf = elf_memory((char *)image.data, image.len);
 *
 * libdw reads and unpacks every debug section of a file when it is opened. A third of them
 * describes variables, macros and the like, another part only lines. Packed sections may be of zlib
 * or zstd (ELF gABI, "Section Compression"), or of the form before that (.zdebug_info).
 */
#ifndef PP_DWARF_DWARF_IMAGE_H
#define PP_DWARF_DWARF_IMAGE_H

#include "base/buf.h"
#include "symbol/elf_file.h"

#define DWARF_IMAGE_MAX (UINT64_C(4) << 30) /* bytes of the sections, unpacked */

/*
 * Makes the image, with line tables or without. A section that is damaged is left out. 0;
 * PP_ENOENT: there is no .debug_info; PP_ELIMIT; PP_ENOMEM.
 */
int dwarf_image(const struct elf_file *f, bool lines, struct buf *image);

/*
 * Appends the bytes of one debug section, unpacked: "frame" of .debug_frame or .zdebug_frame, up
 * to `max` of them. 0; PP_ENOENT; PP_ELIMIT; PP_ECORRUPT; PP_ENOMEM.
 */
int dwarf_section(const struct elf_file *f, const char *name, uint64_t max, struct buf *bytes);

/*
 * libdw unpacks all debug sections of a file that it reads itself: whether their sizes together are
 * believable. 0, PP_ELIMIT, PP_ECORRUPT.
 */
int dwarf_check_packed(const struct elf_file *f);

#endif
