/*
 * Records for the kernel's own code: its image and modules, where they lie and their build-ids.
 * Sources: /proc/kallsyms, /proc/iomem, /proc/modules (see lsmod(8)), the notes below /sys,
 * modules.dep(5); the names and the meaning of pgoff are those that perf writes and expects.
 */
#include "base/err.h"
#include "perfdata/format.h"
#include "pevent/sysfile.h"
#include "record/parts.h"

#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdlib.h>
#include <unistd.h>

#define KERNEL_NAME "[kernel.kallsyms]"
#define NOTES_MAX   65536 /* bytes of a file with notes */
#define LINE_MAX_   2048  /* bytes of a line of kallsyms, with room for a page */
#define MODULE_MAX  64	  /* bytes of a module's name; the kernel's limit is 56 */

static int add_map(struct synth *s, uint64_t start, uint64_t len, uint64_t pgoff, const char *name)
{
	size_t at = synth_begin(s, PERF_REC_MMAP, PERF_MISC_KERNEL);

	synth_u32(s, UINT32_MAX); /* no process: the host's kernel */
	synth_u32(s, 0);
	synth_u64(s, start);
	synth_u64(s, len);
	synth_u64(s, pgoff);
	synth_name(s, name, strlen(name));
	buf_fill(&s->buf, 0, s->id_size);
	return synth_end(s, at);
}

/* HEADER_BUILD_ID: process, 20 bytes of id, its length, 3 bytes unused, name. */
static int add_build_id(struct synth *s, const char *notes_path, const char *name)
{
	uint8_t field[BUILDID_MAX + 4] = {0};
	size_t len, at;

	buf_reset(&s->text);
	if (sysfile_read(notes_path, NOTES_MAX, &s->text))
		return s->text.err;
	buildid_from_notes(s->text.data, s->text.len, false, field, &len);
	if (!len)
		return 0;
	field[BUILDID_MAX] = (uint8_t)len;
	at = synth_begin(s, PERF_REC_HEADER_BUILD_ID, PERF_MISC_KERNEL | PERF_MISC_BUILD_ID_SIZE);
	synth_u32(s, UINT32_MAX);
	buf_add(&s->buf, field, sizeof(field));
	len = strlen(name);
	buf_add(&s->buf, name, len);
	buf_fill(&s->buf, 0, 8 - (4 + len) % 8);
	return synth_end(s, at);
}

struct kernel_text {
	uint64_t text, stext, etext;
};

/* Takes one line, "ffffffff81000000 T _text"; modules' symbols have a fourth word. */
static void take_symbol(struct kernel_text *k, const char *line)
{
	char *end;
	uint64_t v = strtoull(line, &end, 16);

	if (end[0] != ' ' || !end[1] || end[2] != ' ' || end[3] != '_')
		return;
	if (strcmp(end + 3, "_text") == 0)
		k->text = v;
	else if (strcmp(end + 3, "_stext") == 0)
		k->stext = v;
	else if (strcmp(end + 3, "_etext") == 0)
		k->etext = v;
}

/* Takes the whole lines of a piece; what is left of the last one begins the next piece. */
static size_t take_lines(struct kernel_text *k, char *text, size_t len)
{
	size_t at = 0;

	for (char *end; at < len && (end = memchr(text + at, '\n', len - at));) {
		*end = 0;
		take_symbol(k, text + at);
		at = (size_t)(end - text) + 1;
	}
	memmove(text, text + at, len - at);
	return len - at;
}

/*
 * The size of the kernel's code, from "  01000000-02209987 : Kernel code"; 0 if it is not known. On
 * these machines that is from _text to _etext (setup_arch of the kernel); arm64 means more by it.
 * Without privilege all addresses are 0.
 */
static uint64_t code_size(struct synth *s)
{
#if defined(__x86_64__) || defined(__i386__) || defined(__riscv) || defined(__s390x__)
	char path[PATH_MAX];

	snprintf(path, sizeof(path), "%s/iomem", s->proc);
	buf_reset(&s->text);
	if (sysfile_read(path, SYSFILE_MAX, &s->text))
		return 0;
	for (const char *p = buf_str(&s->text); p; p = strchr(p, '\n')) {
		unsigned long long from, to;

		p += strspn(p, "\n ");
		if (sscanf(p, "%llx-%llx", &from, &to) == 2 && to > from &&
		    strncmp(p + strcspn(p, ":\n"), ": Kernel code\n", 14) == 0)
			return to - from + 1;
	}
#else
	(void)s;
#endif
	return 0;
}

/*
 * Reads as far as needed: the whole file has some 10 MB on a kernel of a distribution, of which the
 * kernel makes each line anew. It gives a page a call at most, which a buffered FILE would cut into
 * four. size: of the code, or 0; _etext comes late, _text among the first.
 */
static int read_kallsyms(const char *path, uint64_t size, struct kernel_text *k)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	char text[4 * LINE_MAX_ + 1];
	size_t len = 0;

	if (fd < 0)
		return pp_errno(errno);
	while (!(k->etext && (k->text || k->stext)) && len < sizeof(text) - 1) {
		ssize_t n = read(fd, text + len, sizeof(text) - 1 - len);

		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			break;
		len = take_lines(k, text, len + (size_t)n);
		if (k->text && !k->etext && size && k->text + size > k->text)
			k->etext = k->text + size;
	}
	close(fd);
	return k->etext && (k->text || k->stext) ? 0 : PP_EACCES;
}

int synth_kernel(struct synth *s)
{
	struct kernel_text k = {0};
	char path[PATH_MAX];
	uint64_t start;
	int rc;

	snprintf(path, sizeof(path), "%s/kallsyms", s->proc);
	rc = read_kallsyms(path, code_size(s), &k);
	if (rc)
		return rc;
	start = k.text ? k.text : k.stext;
	if (k.etext <= start)
		return PP_EACCES;
	rc = add_map(s, start, k.etext - start, start,
		     k.text ? KERNEL_NAME "_text" : KERNEL_NAME "_stext");
	snprintf(path, sizeof(path), "%s/kernel/notes", s->sys);
	return rc ? rc : add_build_id(s, path, KERNEL_NAME);
}

/* "kernel/fs/xfs/xfs.ko.xz" to "xfs", with _ for -. False if it is no module's file. */
static bool module_name(const char *path, size_t len, char name[MODULE_MAX])
{
	size_t n = 0, at = 0;

	for (size_t i = 0; i < len; i++)
		if (path[i] == '/')
			at = i + 1;
	for (size_t i = at; i < len && n < MODULE_MAX - 1; i++) {
		if (len - i >= 3 && strncmp(path + i, ".ko", 3) == 0) {
			name[n] = 0;
			return true;
		}
		name[n++] = path[i] == '-' ? '_' : path[i];
	}
	return false;
}

/* The file of a module by modules.dep, below `modules`; else its name in brackets. */
static void module_path(const struct synth *s, const char *dep, const char *name, char *path)
{
	char other[MODULE_MAX];

	for (const char *p = dep; *p;) {
		size_t line = strcspn(p, "\n"), len = strcspn(p, ":\n");

		if (module_name(p, len, other) && strcmp(other, name) == 0) {
			if (p[0] == '/')
				snprintf(path, PATH_MAX, "%.*s", (int)len, p);
			else
				snprintf(path, PATH_MAX, "%s/%.*s", s->modules, (int)len, p);
			return;
		}
		p += line + (p[line] == '\n');
	}
	snprintf(path, PATH_MAX, "[%s]", name);
}

/* "xfs 1785856 1 - Live 0xffffffffc0a00000 (flags)" */
static int add_module(struct synth *s, const char *line, const char *dep)
{
	char name[MODULE_MAX], path[PATH_MAX], notes[PATH_MAX];
	unsigned long long size, addr;
	int rc;

	if (sscanf(line, "%63s %llu %*s %*s %*s %llx", name, &size, &addr) != 3 || !addr || !size ||
	    strchr(name, '/'))
		return 0;
	module_path(s, dep, name, path);
	rc = add_map(s, addr, size, 0, path);
	snprintf(notes, sizeof(notes), "%s/module/%s/notes/.note.gnu.build-id", s->sys, name);
	return rc ? rc : add_build_id(s, notes, path);
}

int synth_modules(struct synth *s)
{
	struct buf list = BUF_INIT, dep = BUF_INIT;
	char path[PATH_MAX];
	int rc = 0;

	snprintf(path, sizeof(path), "%s/modules", s->proc);
	if (!sysfile_read(path, SYSFILE_MAX, &list) && list.len) {
		snprintf(path, sizeof(path), "%s/modules.dep", s->modules);
		(void)sysfile_read(path, SYSFILE_MAX, &dep);
	}
	for (char *p = (char *)list.data; p && *p && !rc;) {
		char *end = strchr(p, '\n');

		if (!end)
			break;
		*end = 0;
		rc = add_module(s, p, buf_str(&dep));
		p = end + 1;
	}
	rc = rc ? rc : list.err ? list.err : dep.err;
	buf_release(&list);
	buf_release(&dep);
	return rc;
}
