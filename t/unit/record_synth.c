/* Records for what exists already, from a small /proc and /sys; build-ids from small ELF files. */
#include "pevent/sysfile.h"
#include "record/parts.h"

#include "base/err.h"
#include "record_tree.h"
#include "tap.h"

#include <elf.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#define ID_SIZE 8 /* bytes of sample_id after each record here */

static const uint8_t id20[20] = {1,  2,	 3,  4,	 5,  6,	 7,  8,	 9,  10,
				 11, 12, 13, 14, 15, 16, 17, 18, 19, 20};

/* Records as they should be: begun with a type, filled, and closed with their size. */
static struct buf want;
static size_t want_at;

static void w16(uint16_t v)
{
	buf_add(&want, &v, 2);
}

static void w32(uint32_t v)
{
	buf_add(&want, &v, 4);
}

static void w64(uint64_t v)
{
	buf_add(&want, &v, 8);
}

static void w_begin(uint32_t type, uint16_t misc)
{
	want_at = want.len;
	w32(type);
	w16(misc);
	w16(0); /* the size, by w_end */
}

static void w_name(const char *name)
{
	buf_add(&want, name, strlen(name) + 1);
	while ((want.len - want_at) % 8)
		buf_addc(&want, 0);
}

static void w_end(size_t id_size)
{
	uint16_t size;

	buf_fill(&want, 0, id_size);
	size = (uint16_t)(want.len - want_at);
	memcpy(want.data + want_at + 6, &size, 2);
}

static void w_task(uint32_t pid, uint32_t tid, uint32_t ppid, const char *comm)
{
	w_begin(7, 0x2000);
	w32(pid);
	w32(ppid);
	w32(tid);
	w32(ppid);
	w64(0);
	w_end(ID_SIZE);
	w_begin(3, 0);
	w32(pid);
	w32(tid);
	w_name(comm);
	w_end(ID_SIZE);
}

static void w_map(uint32_t pid, uint64_t start, uint64_t len, uint64_t off, const uint8_t *id,
		  uint32_t major, uint32_t minor, uint64_t inode, uint32_t prot, uint32_t flags,
		  const char *name)
{
	w_begin(10, id ? 0x4002 : 2);
	w32(pid);
	w32(pid);
	w64(start);
	w64(len);
	w64(off);
	if (id) {
		w32(20); /* length and three unused bytes, where the low byte comes first */
		((uint8_t *)want.data)[want.len - 4] = 20;
		for (int i = 3; i > 0; i--)
			want.data[want.len - (size_t)i] = 0;
		buf_add(&want, id, 20);
	} else {
		w32(major);
		w32(minor);
		w64(inode);
		w64(0);
	}
	w32(prot);
	w32(flags);
	w_name(name);
	w_end(ID_SIZE);
}

static void make_notes(struct buf *b)
{
	static const uint32_t other[3] = {4, 5, 7}, gnu[3] = {4, 20, NT_GNU_BUILD_ID};

	buf_add(b, other, 12);
	buf_add(b, "Abc\0hello\0\0\0", 12); /* five bytes, padded to eight */
	buf_add(b, gnu, 12);
	buf_add(b, "GNU", 4);
	buf_add(b, id20, 20);
}

static void make_elf(struct buf *b, bool wide)
{
	struct buf notes = BUF_INIT;
	const uint16_t one = 1;
	unsigned char data = *(const uint8_t *)&one ? ELFDATA2LSB : ELFDATA2MSB;

	make_notes(&notes);
	if (wide) {
		Elf64_Ehdr h = {
			.e_phoff = sizeof(h), .e_phentsize = sizeof(Elf64_Phdr), .e_phnum = 2};
		Elf64_Phdr p[2] = {{.p_type = PT_LOAD},
				   {.p_type = PT_NOTE,
				    .p_offset = sizeof(h) + sizeof(p),
				    .p_filesz = notes.len}};

		memcpy(h.e_ident, ELFMAG, SELFMAG);
		h.e_ident[EI_CLASS] = ELFCLASS64;
		h.e_ident[EI_DATA] = data;
		buf_add(b, &h, sizeof(h));
		buf_add(b, p, sizeof(p));
	} else {
		Elf32_Ehdr h = {
			.e_phoff = sizeof(h), .e_phentsize = sizeof(Elf32_Phdr), .e_phnum = 1};
		Elf32_Phdr p = {.p_type = PT_NOTE,
				.p_offset = sizeof(h) + sizeof(p),
				.p_filesz = (Elf32_Word)notes.len};

		memcpy(h.e_ident, ELFMAG, SELFMAG);
		h.e_ident[EI_CLASS] = ELFCLASS32;
		h.e_ident[EI_DATA] = data;
		buf_add(b, &h, sizeof(h));
		buf_add(b, &p, sizeof(p));
	}
	buf_add(b, notes.data, notes.len);
	buf_release(&notes);
}

static void test_build_id(void)
{
	uint8_t id[BUILDID_MAX];
	size_t len;

	for (int wide = 0; wide < 2; wide++) {
		struct buf elf = BUF_INIT;
		int fd;

		make_elf(&elf, wide);
		tree_bytes("elf", elf.data, elf.len);
		fd = open(tree_path("elf"), O_RDONLY);
		buildid_from_elf(fd, id, &len);
		is_mem(id, len, id20, 20, "build-id of an ELF file of class %d", wide + 1);
		close(fd);
		/* Cut anywhere, there is no build-id, but what is there is not believed in. */
		for (size_t n = 0; n < elf.len; n++) {
			tree_bytes("elf", elf.data, n);
			fd = open(tree_path("elf"), O_RDONLY);
			buildid_from_elf(fd, id, &len);
			close(fd);
			if (len)
				break;
		}
		is_int((int64_t)len, 0, "none in a file that is cut off");
		buf_release(&elf);
	}
	buildid_from_notes("", 0, false, id, &len);
	is_int((int64_t)len, 0, "none in no notes");
}

static void make_proc(void)
{
	struct buf elf = BUF_INIT;
	struct stat st;
	char maps[2048];

	make_elf(&elf, true);
	tree_bytes("proc/10/map_files/400000-401000", elf.data, elf.len);
	tree_bytes("proc/10/root/usr/lib/b.so", elf.data, elf.len);
	buf_release(&elf);
	if (stat(tree_path("proc/10/root/usr/lib/b.so"), &st))
		st.st_ino = 0;
	tree_file("proc/10/stat", "10 (a) (b) S 7 10 10 0 -1 4194560 ...\n");
	tree_file("proc/10/task/10/comm", "a) (b\n");
	tree_file("proc/10/task/12/comm", "exactly15bytes.and more\n");
	tree_file("proc/10/task/11/comm", "\n");
	snprintf(maps, sizeof(maps),
		 "00400000-00401000 r-xp 00002000 fe:01 77    /opt/my prog (deleted)\n"
		 "00401000-00402000 rw-p 00003000 fe:01 77    /opt/my prog (deleted)\n"
		 "00402000-00403000 rwxp 00000000 00:00 0     [heap]\n"
		 "7f0000000000-7f0000001000 r-xs 00000000 fe:01 %llu   /usr/lib/b.so\n"
		 "7f0000002000-7f0000003000 r-xp 00000000 fe:01 1   /usr/lib/b.so\n"
		 "7f0000004000-7f0000005000 rwxp 00000000 00:00 0 \n"
		 "7f0000006000-7f0000007000 r-xp 00001000 08:02 5   /a\\012b\n"
		 "7fff00000000-7fff00002000 r-xp 00000000 00:00 0   [vdso]\n"
		 "broken line\n"
		 "ffffffffff600000-ffffffffff601000 --xp 00000000 00:00 0   [vsyscall]\n",
		 (unsigned long long)st.st_ino);
	tree_file("proc/10/maps", maps);
	tree_file("proc/2/stat", "2 (kthreadd) S 0 0 0\n");
	tree_file("proc/2/task/2/comm", "kthreadd\n");
	tree_file("proc/2/maps", "");
	tree_file("proc/30/task/30/comm", "gone before its stat was read\n");
	tree_file("proc/31/stat", "31 (x) Z 1 31\n");
	tree_file("proc/self/stat", "not a number\n");
}

static void want_process(uint64_t inode)
{
	w_task(10, 10, 7, "a) (b");
	w_map(10, 0x400000, 0x1000, 0x2000, id20, 0, 0, 0, 5, 2, "/opt/my prog (deleted)");
	w_map(10, 0x402000, 0x1000, 0, NULL, 0, 0, 0, 7, 2, "[heap]");
	w_map(10, 0x7f0000000000, 0x1000, 0, id20, 0, 0, inode, 5, 1, "/usr/lib/b.so");
	/* Another inode than the file of that name has now: not its build-id. */
	w_map(10, 0x7f0000002000, 0x1000, 0, NULL, 0xfe, 1, 1, 5, 2, "/usr/lib/b.so");
	w_map(10, 0x7f0000004000, 0x1000, 0, NULL, 0, 0, 0, 7, 2, "//anon");
	w_map(10, 0x7f0000006000, 0x1000, 0x1000, NULL, 8, 2, 5, 5, 2, "/a\nb");
	w_map(10, 0x7fff00000000, 0x2000, 0, NULL, 0, 0, 0, 5, 2, "[vdso]");
	w_map(10, 0xffffffffff600000, 0x1000, 0, NULL, 0, 0, 0, 4, 2, "[vsyscall]");
	w_task(10, 11, 10, "");
	w_task(10, 12, 10, "exactly15bytes.");
}

static void test_processes(struct synth *s)
{
	struct stat st;

	if (stat(tree_path("proc/10/root/usr/lib/b.so"), &st))
		st.st_ino = 0;
	w_task(2, 2, 0, "kthreadd");
	want_process(st.st_ino);
	is_int(synth_processes(s), 0, "processes");
	is_mem(s->buf.data, s->buf.len, want.data, want.len, "their records");
	buf_reset(&want);
	buf_reset(&s->buf);
	want_process(st.st_ino);
	is_int(synth_process(s, 10), 0, "one process");
	is_mem(s->buf.data, s->buf.len, want.data, want.len, "the same records");
	buf_reset(&s->buf);
	is_int(synth_process(s, 99), 0, "a process that is gone is no error");
	is_int((int64_t)s->buf.len, 0, "and leaves nothing");
}

static int count_put(void *ctx, const void *bytes, size_t n)
{
	struct buf *b = ctx;

	buf_add(b, bytes, n);
	return 0;
}

/* The pieces that put gets are the same bytes. */
static void test_put(struct synth *s)
{
	struct buf got = BUF_INIT;

	s->put = count_put;
	s->ctx = &got;
	for (int i = 0; i < 1000; i++)
		synth_process(s, 10);
	ok(got.len > 0 && got.len % want.len != 0, "put is called on the way");
	synth_flush(s);
	is_int((int64_t)got.len, (int64_t)(1000 * want.len), "nothing is lost on the way");
	ok(got.len >= want.len && !memcmp(got.data + got.len - want.len, want.data, want.len),
	   "the last records are whole");
	s->put = NULL;
	buf_release(&got);
}

static void w_kernel(uint64_t start, uint64_t len, uint64_t pgoff, const char *name)
{
	w_begin(1, 1);
	w32(UINT32_MAX);
	w32(0);
	w64(start);
	w64(len);
	w64(pgoff);
	w_name(name);
	w_end(ID_SIZE);
}

static void w_kernel_id(const char *name)
{
	w_begin(67, 0x8001);
	w32(UINT32_MAX);
	buf_add(&want, id20, 20);
	buf_add(&want, "\x14\0\0\0", 4);
	w_name(name);
	w_end(0);
}

static void test_kernel(struct synth *s)
{
	struct buf notes = BUF_INIT;

	tree_file("proc/kallsyms", "0000000000000000 T _text\n0000000000000000 T _etext\n");
	is_int(synth_kernel(s), PP_EACCES, "hidden addresses");
	tree_file("proc/kallsyms", "ffffffff81000000 T startup_64\n"
				   "ffffffff81000000 T _stext\nffffffff81000000 T _text\n"
				   "ffffffff81a00000 t _etextual\nffffffff82000000 T _etext\n");
	make_notes(&notes);
	tree_bytes("sys/kernel/notes", notes.data, notes.len);
	buf_reset(&want);
	buf_reset(&s->buf);
	w_kernel(0xffffffff81000000, 0x1000000, 0xffffffff81000000, "[kernel.kallsyms]_text");
	w_kernel_id("[kernel.kallsyms]");
	is_int(synth_kernel(s), 0, "kernel");
	is_mem(s->buf.data, s->buf.len, want.data, want.len, "its map and build-id");
#if defined(__x86_64__) || defined(__i386__) || defined(__riscv) || defined(__s390x__)
	/* The end of the code by its size, so that the rest of kallsyms is not read. */
	tree_file("proc/kallsyms", "ffffffff81000000 T _text\n");
	is_int(synth_kernel(s), PP_EACCES, "no end of the kernel's code");
	tree_file("proc/iomem", "00000000-00000000 : Kernel code\n");
	is_int(synth_kernel(s), PP_EACCES, "/proc/iomem without privilege");
	tree_file("proc/iomem", "00001000-0009fbff : System RAM\n"
				"  01000000-01ffffff : Kernel code\n"
				"  02400000-02e09fff : Kernel rodata\n");
	buf_reset(&s->buf);
	is_int(synth_kernel(s), 0, "the kernel's end by /proc/iomem");
	is_mem(s->buf.data, s->buf.len, want.data, want.len, "is the same");
#endif
	tree_file("proc/kallsyms", "ffff800080010000 T _stext\nffff800081000000 D _etext\n");
	buf_reset(&want);
	buf_reset(&s->buf);
	w_kernel(0xffff800080010000, 0xff0000, 0xffff800080010000, "[kernel.kallsyms]_stext");
	w_kernel_id("[kernel.kallsyms]");
	synth_kernel(s);
	is_mem(s->buf.data, s->buf.len, want.data, want.len, "a kernel without _text");
	tree_bytes("sys/module/snd_pcm/notes/.note.gnu.build-id", notes.data, notes.len);
	buf_release(&notes);
}

static void test_modules(struct synth *s)
{
	buf_reset(&want);
	buf_reset(&s->buf);
	is_int(synth_modules(s), 0, "no modules");
	is_int((int64_t)s->buf.len, 0, "no records");
	tree_file("proc/modules", "snd_pcm 147456 2 snd_hda,snd_usb, Live 0xffffffffc0a00000\n"
				  "zram 32768 0 - Live 0xffffffffc0b00000 (OE)\n"
				  "hidden 100 0 - Live 0x0000000000000000\n"
				  "../evil 100 0 - Live 0xffffffffc0c00000\nshort\n");
	tree_file("lib/modules.dep", "kernel/sound/pcm/snd.ko.xz:\n"
				     "kernel/sound/snd-pcm.ko.xz: kernel/sound/pcm/snd.ko.xz\n");
	w_kernel(0xffffffffc0a00000, 147456, 0, tree_path("lib/kernel/sound/snd-pcm.ko.xz"));
	w_kernel_id(tree_path("lib/kernel/sound/snd-pcm.ko.xz"));
	w_kernel(0xffffffffc0b00000, 32768, 0, "[zram]");
	is_int(synth_modules(s), 0, "modules");
	is_mem(s->buf.data, s->buf.len, want.data, want.len, "their maps and build-ids");
}

static void test_lists(void)
{
	static const struct {
		const char *text;
		int rc;
		const char *list;
	} rows[] = {
		{"0", 0, "0"},	       {"0-3,6\n", 0, "0 1 2 3 6"}, {"6,0-1,1", 0, "0 1 6"},
		{"", PP_EUSAGE, ""},   {"1,", PP_EUSAGE, ""},	    {"3-1", PP_EUSAGE, ""},
		{"a", PP_EUSAGE, ""},  {"0-70000", PP_EUSAGE, ""},  {"1 2", PP_EUSAGE, ""},
		{"-1", PP_EUSAGE, ""},
	};
	pid_t *pids;
	int *cpus;
	size_t n;

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct buf text = BUF_INIT;
		int rc = cpulist_parse(rows[i].text, &cpus, &n);

		is_int(rc, rows[i].rc, "CPUs, row %zu", i);
		for (size_t k = 0; !rc && k < n; k++)
			buf_addf(&text, "%s%d", k ? " " : "", cpus[k]);
		is_str(buf_str(&text), rows[i].list, "CPUs, row %zu: which", i);
		if (!rc)
			free(cpus);
		buf_release(&text);
	}
	is_int(pidlist_parse("12,34", &pids, &n), 0, "processes");
	ok(n == 2 && pids[0] == 12 && pids[1] == 34, "which processes");
	free(pids);
	is_int(pidlist_parse("2147483647", &pids, &n), 0, "the largest number");
	ok(n == 1 && pids[0] == INT32_MAX, "is itself");
	free(pids);
	is_int(pidlist_parse("2147483648", &pids, &n), PP_EUSAGE, "a larger one is none");
	is_int(pidlist_parse("0", &pids, &n), PP_EUSAGE, "process 0 is none");
	is_int(pidlist_parse("1-2", &pids, &n), PP_EUSAGE, "no ranges of processes");
}

/* The text of /proc/PID/maps and queries tell the same of a real process: this one. */
static void test_real_maps(bool data)
{
	struct synth s = {.proc = "/proc", .build_ids = true, .data = data, .no_tasks = true};
	char name[PATH_MAX + 16];
	size_t size = (size_t)sysconf(_SC_PAGESIZE), text;
	void *page, *shared;
	int fd;

	snprintf(name, sizeof(name), "%s/a\n b\\c", tree_root);
	fd = open(name, O_RDWR | O_CREAT | O_TRUNC, 0600);
	if (fd < 0 || ftruncate(fd, (off_t)(2 * size))) {
		ok(false, "a file");
		return;
	}
	page = mmap(NULL, size, PROT_READ | PROT_EXEC, MAP_PRIVATE, fd, (off_t)size);
	shared = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	unlink(name);
	close(fd);
	s.maps.text_only = true;
	is_int(synth_process(&s, getpid()), 0, "maps by the text");
	text = s.buf.len;
	s.maps.text_only = false;
	is_int(synth_process(&s, getpid()), 0, "maps by queries");
	ok(text && s.buf.len == 2 * text, "have the same size");
	ok(s.buf.len == 2 * text && !memcmp(s.buf.data, s.buf.data + text, text), "are the same");
	ok(page != MAP_FAILED && memmem(s.buf.data, s.buf.len, "/a\n b\\c (deleted)", 17) != NULL,
	   "a strange name is there");
	munmap(page, size);
	munmap(shared, size);
	synth_release(&s);
}

int main(void)
{
	char proc[PATH_MAX + 8], sys[PATH_MAX + 8], modules[PATH_MAX + 8];
	struct synth s = {.proc = proc, .sys = sys, .modules = modules, .build_ids = true};

	s.id_size = ID_SIZE;
	tree_begin();
	snprintf(proc, sizeof(proc), "%s/proc", tree_root);
	snprintf(sys, sizeof(sys), "%s/sys", tree_root);
	snprintf(modules, sizeof(modules), "%s/lib", tree_root);
	test_build_id();
	make_proc();
	test_processes(&s);
	test_put(&s);
	test_real_maps(false);
	test_real_maps(true);
	test_kernel(&s);
	test_modules(&s);
	test_lists();
	synth_release(&s);
	buf_release(&want);
	return done();
}
