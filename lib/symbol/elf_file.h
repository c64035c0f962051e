/*
 * An ELF file, opened for reading: sections, program headers, build-id, debug link.
 *
 *	struct elf_file *f;
 *	enum symtab_reason why;
 *	if (elf_file_open(&f, "/usr/bin/true", &why) == 0) {
 *		uint64_t vaddr;
 *		if (elf_segments_vaddr(elf_file_segments(f), file_offset, &vaddr) == 0) ...
 *		elf_file_close(f);
 *	}
 *
 * libelf reads, with pread: a file that another process cuts short while it is open is
 * damaged, not a SIGBUS. Every index and size that the file gives is checked here. A file packed by
 * gzip, xz or zstd, as kernel modules are, is unpacked to memory. Format: the System V gABI,
 * elf(5).
 */
#ifndef PP_SYMBOL_ELF_FILE_H
#define PP_SYMBOL_ELF_FILE_H

#include "symbol/build_id.h"
#include "symbol/inode.h"
#include "symbol/reason.h"

#include <gelf.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define ELF_SEGMENTS_MAX  64	       /* PT_LOAD entries that are kept; linkers write 2 to 10 */
#define ELF_DEBUGLINK_MAX 256	       /* bytes of a debug link's file name with its NUL */
#define ELF_PACKED_MAX	  (256u << 20) /* bytes of a packed file */
#define ELF_UNPACKED_MAX  (1u << 30)   /* and of what is in it */

/*
 * One PT_LOAD program header; offset and size in the file, address in the DSO. Hollow: its code is
 * not in the file, as objcopy --only-keep-debug has it, and offset is not that of the binary.
 */
struct elf_segment {
	uint64_t offset, filesz, vaddr, memsz;
	bool exec, hollow;
};

/* A plain value: it may outlive the file that it was read from. */
struct elf_segments {
	uint32_t n;
	struct elf_segment seg[ELF_SEGMENTS_MAX];
};

struct elf_file;

/* Opens a regular file, also a packed one. 0, or an error and *why. */
int elf_file_open(struct elf_file **f, const char *path, enum symtab_reason *why);

/* The same below a directory (beneath.h), if it is the recorded one; NULL: any. */
int elf_file_open_in(struct elf_file **f, int dir, const char *path, const struct inode *recorded,
		     enum symtab_reason *why);

/*
 * The error with which a read of it failed, and 0 from then on, so that it is reported once, by
 * the caller that gets it, although the reader of the bytes took them for missing. NULL is fine.
 */
int elf_file_failed(struct elf_file *f);

/*
 * Whether all of its bytes can be read: 0, or the error of what failed, now or before. For files
 * that seem to be damaged or incomplete, which can be the fault of this machine.
 */
int elf_file_probe(struct elf_file *f);

/* The same over n bytes of memory (the vdso, tests), which must outlive it. libelf does not write
 * to them. */
int elf_file_memory(struct elf_file **f, const void *bytes, size_t n, enum symtab_reason *why);

/* The same over n bytes that may be packed. */
int elf_file_bytes(struct elf_file **f, const void *bytes, size_t n, enum symtab_reason *why);

/*
 * The ELF file inside another's section .gnu_debugdata ("mini debuginfo": a .symtab of the
 * functions that .dynsym does not have, compressed with xz). It does not need the outer one. 0,
 * or an error and *why; PP_ENOENT and SYMTAB_STRIPPED when there is none.
 */
int elf_file_debugdata(struct elf_file **f, const struct elf_file *outer, enum symtab_reason *why);

void elf_file_close(struct elf_file *f); /* NULL is fine */

/* Adds a user, who has to close it: it stays open until all users have. */
struct elf_file *elf_file_ref(struct elf_file *f);

Elf *elf_file_elf(const struct elf_file *f);
/*
 * A handle of the caller's own, for elf_end(), with other data in memory: while the file is open.
 * NULL: out of memory.
 */
Elf *elf_file_again(const struct elf_file *f);
unsigned elf_file_machine(const struct elf_file *f); /* EM_... */
unsigned elf_file_type(const struct elf_file *f);    /* ET_... */
bool elf_file_swap(const struct elf_file *f);	     /* not in host byte order */

/* Its program headers; live as long as the file. */
const struct elf_segments *elf_file_segments(const struct elf_file *f);

/*
 * The DSO-relative virtual address of the file offset of code: 0 or PP_ENOENT. Only executable
 * segments are searched; an offset outside all of them, but in a page that is mapped with one,
 * belongs to that one.
 */
int elf_segments_vaddr(const struct elf_segments *s, uint64_t offset, uint64_t *vaddr);

/* An executable mapping of a file: offset and bytes. */
struct elf_mapping {
	uint64_t pgoff, len;
};

/*
 * The same for an offset in the binary, where only its debug file is there, whose segments are
 * hollow: by the n mappings of the binary, each of which begins with the page of a segment's first
 * address. Pages have `page` bytes, a power of two. 0, or PP_ENOENT when that is not known.
 */
int elf_segments_mapped(const struct elf_segments *s, const struct elf_mapping *maps, size_t n,
			uint64_t page, uint64_t offset, uint64_t *vaddr);

/* The other way: the file offset of a virtual address. 0 or PP_ENOENT. */
int elf_segments_offset(const struct elf_segments *s, uint64_t vaddr, uint64_t *offset);

/* The first section with this name and its header; NULL if there is none. */
Elf_Scn *elf_file_section(const struct elf_file *f, const char *name, GElf_Shdr *shdr);

/* The first section of a type (SHT_...); NULL if there is none. */
Elf_Scn *elf_file_section_type(const struct elf_file *f, uint32_t type, GElf_Shdr *shdr);

/* The name of a section, "" if it has none. */
const char *elf_file_section_name(const struct elf_file *f, const GElf_Shdr *shdr);

/* The bytes of a section that has them in the file; NULL otherwise. Host byte order. */
Elf_Data *elf_file_data(Elf_Scn *scn, const GElf_Shdr *shdr);

/* The build-id from the notes: 0, PP_ENOENT or PP_ECORRUPT; id->len is 0 then. */
int elf_file_build_id(const struct elf_file *f, struct build_id *id);

/* .gnu_debuglink: a file name without slashes, and the CRC of that file. 0 or PP_ENOENT. */
int elf_file_debuglink(const struct elf_file *f, char name[ELF_DEBUGLINK_MAX], uint32_t *crc);

/* Bytes of the whole file (unpacked). */
uint64_t elf_file_size(const struct elf_file *f);

/* n bytes from an offset on: 0, PP_ECUT if there are fewer, or a code of pp_errno. */
int elf_file_read(const struct elf_file *f, uint64_t offset, void *to, size_t n);
/* The first len of them, in pieces: 0, PP_ECUT if there are fewer, or what fn returned. */
int elf_file_copy(const struct elf_file *f, uint64_t len,
		  int (*fn)(void *ctx, const uint8_t *bytes, size_t n), void *ctx);

/*
 * .gnu_debugaltlink, the file that dwz moved what several have in common to: its name and its
 * build-id. 0 or PP_ENOENT.
 */
int elf_file_altlink(const struct elf_file *f, const char **name, struct build_id *id);

/*
 * The checksum that a debug link names a file by: the CRC-32 of zlib over all bytes. 0, or an
 * error.
 */
int elf_file_crc(const struct elf_file *f, uint32_t *crc);

/* Whether the file has a .symtab, a .dynsym, with bytes in the file. */
bool elf_file_has_symtab(const struct elf_file *f);
bool elf_file_has_dynsym(const struct elf_file *f);

/* Whether it has DWARF, packed or not. */
bool elf_file_has_dwarf(const struct elf_file *f);

/* Whether the header names sections that do not exist: the file was cut off or overwritten. */
bool elf_file_damaged(const struct elf_file *f);

#endif
