/*
 * Why a symbol table is missing.
 *
 * Every function of lib/symbol that may come back without symbols says why, so that each address
 * without a name can be explained to the user:
 *
 *	enum symtab_reason why;
 *	if (elf_file_open(&f, path, &why))
 *		diag_warn(d, path, -1, "%s", symtab_reason_text(why));
 */
#ifndef PP_SYMBOL_REASON_H
#define PP_SYMBOL_REASON_H

/*
 * The order is that of growing interest: of several failed candidates the latest in this list is
 * reported.
 */
#define SYMTAB_REASONS(R) \
	R(SYMTAB_OK, "symbols found") \
	R(SYMTAB_NOT_FOUND, "file not found") \
	R(SYMTAB_NOT_ELF, "not an ELF file") \
	R(SYMTAB_UNSUPPORTED, "kind of file not supported") \
	R(SYMTAB_DENIED, "permission denied") \
	R(SYMTAB_IO, "cannot be read") \
	R(SYMTAB_STRIPPED, "no symbols (stripped)") \
	R(SYMTAB_CORRUPT, "file is corrupt") \
	R(SYMTAB_LIMIT, "too large") \
	R(SYMTAB_OWNER, "belongs to a user other than root, you and the process's, or is a link") \
	R(SYMTAB_UNPROVEN, "nothing proves that it is the recorded one") \
	R(SYMTAB_REPLACED, "replaced since the recording (another inode)") \
	R(SYMTAB_BUILD_ID, "build-id differs") \
	R(SYMTAB_CRC, "checksum of the debug link differs") \
	R(SYMTAB_RESTRICTED, "kernel addresses are hidden (kptr_restrict)") \
	R(SYMTAB_NO_REF, "reference symbol of the kernel not found") \
	R(SYMTAB_NO_MEMORY, "out of memory")

enum symtab_reason {
#define SYMTAB_R(name, text) name,
	SYMTAB_REASONS(SYMTAB_R)
#undef SYMTAB_R
};

/* The text of a reason; never NULL, static storage. */
const char *symtab_reason_text(enum symtab_reason why);

/* The reason that fits an errno value of open or read. */
enum symtab_reason symtab_reason_errno(int errnum);

/* The error code (base/err.h) for a reason: 0 for SYMTAB_OK. */
int symtab_reason_err(enum symtab_reason why);

/* The reason for which unpacking failed with an error code. */
enum symtab_reason symtab_reason_unpack(int err);

#endif
