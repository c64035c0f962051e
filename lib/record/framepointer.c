/*
 * Whether programs were compiled with frame pointers: --call-graph auto. A function that has one
 * sets it up at its beginning; where functions begin is in the table of .eh_frame_hdr, see the
 * Linux Standard Base, "DWARF Extensions".
 */
#include "base/cursor.h"
#include "base/err.h"
#include "record/parts.h"

#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#define PHDRS_MAX     256
#define FUNCTIONS_MAX 20000 /* that are looked at */
#define PROLOGUE      32    /* bytes at the beginning of a function, aarch64 */
#define SHARE_ENOUGH  40    /* of a hundred functions; small ones need no frame */

/* A file in memory, and where its segments lie in it. */
struct image {
	const uint8_t *data;
	size_t size;
	uint16_t machine;
	Elf64_Phdr phdrs[PHDRS_MAX];
	size_t n;
};

static bool read_phdrs(struct image *im)
{
	struct cursor c = cursor_make(im->data, im->size, false);
	Elf64_Ehdr h;

	if (im->size < sizeof(h))
		return false;
	memcpy(&h, im->data, sizeof(h));
	if (memcmp(h.e_ident, ELFMAG, SELFMAG) != 0 || h.e_ident[EI_CLASS] != ELFCLASS64 ||
	    h.e_ident[EI_DATA] != ELFDATA2LSB || h.e_phentsize != sizeof(Elf64_Phdr) ||
	    h.e_phnum > PHDRS_MAX || h.e_phoff > im->size)
		return false;
	cursor_skip(&c, (size_t)h.e_phoff);
	for (im->n = 0; im->n < h.e_phnum; im->n++) {
		const uint8_t *p = get_bytes(&c, sizeof(Elf64_Phdr));

		if (c.bad)
			return false;
		memcpy(&im->phdrs[im->n], p, sizeof(Elf64_Phdr));
	}
	im->machine = h.e_machine;
	return true;
}

/* The bytes at an address, as far as a segment holds them. */
static const uint8_t *at_address(const struct image *im, uint64_t addr, size_t *left)
{
	for (size_t i = 0; i < im->n; i++) {
		const Elf64_Phdr *p = &im->phdrs[i];

		if (p->p_type != PT_LOAD || addr < p->p_vaddr || addr - p->p_vaddr >= p->p_filesz ||
		    p->p_offset > im->size || p->p_filesz > im->size - p->p_offset)
			continue;
		*left = (size_t)(p->p_filesz - (addr - p->p_vaddr));
		return im->data + p->p_offset + (addr - p->p_vaddr);
	}
	return NULL;
}

/* push %rbp; mov %rsp,%rbp; perhaps after endbr64. */
static bool begins_x86(const uint8_t *p, size_t n)
{
	static const uint8_t endbr[] = {0xf3, 0x0f, 0x1e, 0xfa};

	if (n >= 4 && memcmp(p, endbr, 4) == 0)
		p += 4, n -= 4;
	return n >= 4 && p[0] == 0x55 &&
	       (memcmp(p + 1, "\x48\x89\xe5", 3) == 0 || memcmp(p + 1, "\x48\x8b\xec", 3) == 0);
}

/* stp x29, x30, [sp, #-n]! or [sp, #n], soon. */
static bool begins_arm(const uint8_t *p, size_t n)
{
	for (size_t i = 0; i + 4 <= n && i < PROLOGUE; i += 4) {
		uint32_t code = p[i] | (uint32_t)p[i + 1] << 8 | (uint32_t)p[i + 2] << 16 |
				(uint32_t)p[i + 3] << 24;

		if ((code & 0xfe407fff) == 0xa8007bfd)
			return true;
	}
	return false;
}

/* The table: version, three encodings, .eh_frame, count; then function and entry, both 32 bits. */
static int count_functions(const struct image *im, const Elf64_Phdr *table, unsigned *share)
{
	uint64_t functions = 0, framed = 0;
	size_t left, step;
	const uint8_t *p = at_address(im, table->p_vaddr, &left);
	struct cursor c = cursor_make(p, p ? left : 0, false);
	uint32_t n;

	if (!p || left < 12 || p[0] != 1 || p[1] != 0x1b || p[2] != 0x03 || p[3] != 0x3b)
		return PP_ENOENT;
	cursor_skip(&c, 8);
	n = get_u32(&c);
	step = n > FUNCTIONS_MAX ? n / FUNCTIONS_MAX : 1;
	for (uint32_t i = 0; i < n && !c.bad; i++) {
		uint64_t addr = table->p_vaddr + (uint64_t)(int64_t)(int32_t)get_u32(&c);
		const uint8_t *code;
		size_t len;

		cursor_skip(&c, 4);
		if (i % step || c.bad)
			continue;
		code = at_address(im, addr, &len);
		if (!code)
			continue;
		functions++;
		framed += im->machine == EM_X86_64 ? begins_x86(code, len) : begins_arm(code, len);
	}
	if (!functions)
		return PP_ENOENT;
	*share = (unsigned)(100 * framed / functions);
	return 0;
}

static int look(const uint8_t *data, size_t size, unsigned *share)
{
	struct image *im = calloc(1, sizeof(*im));
	int rc = im ? PP_ENOENT : PP_ENOMEM;

	if (im) {
		im->data = data;
		im->size = size;
	}
	if (im && read_phdrs(im) && (im->machine == EM_X86_64 || im->machine == EM_AARCH64))
		for (size_t i = 0; i < im->n && rc == PP_ENOENT; i++)
			if (im->phdrs[i].p_type == PT_GNU_EH_FRAME)
				rc = count_functions(im, &im->phdrs[i], share);
	free(im);
	return rc;
}

int framepointer_share(const char *path, unsigned *share)
{
	int rc = PP_ENOENT, fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	struct stat st;
	void *data;

	if (fd < 0)
		return PP_ENOENT;
	if (!fstat(fd, &st) && S_ISREG(st.st_mode) && st.st_size > 0) {
		data = mmap(NULL, (size_t)st.st_size, PROT_READ, MAP_PRIVATE, fd, 0);
		if (data != MAP_FAILED) {
			rc = look(data, (size_t)st.st_size, share);
			munmap(data, (size_t)st.st_size);
		}
	}
	close(fd);
	return rc;
}

/* The file that a command is, as execvp(3) finds it. */
static bool find_program(const char *name, char path[PATH_MAX])
{
	const char *dirs = getenv("PATH");

	if (strchr(name, '/'))
		return snprintf(path, PATH_MAX, "%s", name) < PATH_MAX;
	for (const char *p = dirs ? dirs : "/bin:/usr/bin";; p++) {
		size_t len = strcspn(p, ":");

		if (snprintf(path, PATH_MAX, "%.*s/%s", (int)len, p, name) < PATH_MAX &&
		    !access(path, X_OK))
			return true;
		p += len;
		if (!*p)
			return false;
	}
}

enum record_chains framepointer_choose(const struct record_config *c, const struct target *t,
				       struct diag *d)
{
	char path[PATH_MAX] = "";
	unsigned share = 100;
	bool known = false;

	if (c->command && !session_sees_others(c)) {
		known = find_program(c->command[0], path) && !framepointer_share(path, &share);
	} else {
		for (size_t i = 0; i < t->n_pids && !(known && share < SHARE_ENOUGH); i++) {
			snprintf(path, sizeof(path), "/proc/%d/exe", t->pids[i]);
			known |= !framepointer_share(path, &share);
		}
	}
	if (!known) {
		diag_say(d, NULL,
			 "call chains by frame pointers: nothing tells of a program that "
			 "lacks them");
		return RECORD_CHAINS_FP;
	}
	diag_say(d, NULL, "call chains by %s: %u %% of the functions of %s have frame pointers",
		 share < SHARE_ENOUGH ? "dwarf" : "frame pointers", share, path);
	return share < SHARE_ENOUGH ? RECORD_CHAINS_DWARF : RECORD_CHAINS_FP;
}
