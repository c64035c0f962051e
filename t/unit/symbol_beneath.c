/* Opening what recordings name: regular files only, and none outside of a root. */
#include "symbol/beneath.h"

#include "tap.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/inotify.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

static char top[] = "/tmp/perfpipe-beneath.XXXXXX";

static void put(const char *path, const char *text)
{
	FILE *f = fopen(path, "w");

	if (!f || fputs(text, f) < 0 || fclose(f))
		abort();
}

/* root/ with files and links; secret beside it. */
static void make_tree(void)
{
	if (!mkdtemp(top) || chdir(top) || mkdir("root", 0700) || mkdir("root/a", 0700) ||
	    mkdir("root/a/b", 0700) || mkfifo("root/fifo", 0600))
		abort();
	put("secret", "outside");
	put("root/file", "file");
	put("root/a/b/deep", "deep");
	put("root/a/secret", "inside");
	if (symlink("/a/b", "root/absolute") || symlink("b/deep", "root/a/relative") ||
	    symlink("../../../secret", "root/a/upwards") || symlink("loop", "root/loop") ||
	    symlink("/../../../file", "root/high"))
		abort();
}

/* What is read by a path, or the name of the error. */
static const char *text_of(int dir, const char *path)
{
	static char text[32];
	int fd = beneath_open(dir, path);
	ssize_t n;

	if (fd < 0)
		return errno == ENOENT	  ? "ENOENT"
		       : errno == ENOTSUP ? "ENOTSUP"
		       : errno == ELOOP	  ? "ELOOP"
					  : "another error";
	n = read(fd, text, sizeof(text) - 1);
	text[n > 0 ? n : 0] = 0;
	close(fd);
	return text;
}

static void test_paths(const char *how)
{
	static const struct {
		const char *path, *text;
	} rows[] = {
		{"/file", "file"},	    {"file", "file"},
		{"/a/b/deep", "deep"},	    {"/./a//b/../b/deep", "deep"},
		{"/absolute/deep", "deep"}, {"/a/relative", "deep"},
		{"/../../file", "file"},    {"/a/../../../file", "file"},
		{"/high", "file"},	    {"/../secret", "ENOENT"},
		{"../secret", "ENOENT"},    {"/a/../../secret", "ENOENT"},
		{"/a/upwards", "ENOENT"},   {"/a/secret", "inside"},
		{"/loop", "ELOOP"},	    {"/none/file", "ENOENT"},
		{"/fifo", "ENOTSUP"},	    {"/a", "ENOTSUP"},
		{"/", "ENOTSUP"},
	};
	int dir = beneath_dir("root");

	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++)
		is_str(text_of(dir, rows[i].path), rows[i].text, "%s: %s", how, rows[i].path);
	close(dir);
}

static void test_anywhere(void)
{
	int watch = inotify_init1(IN_NONBLOCK);
	char event[256];

	is_str(text_of(BENEATH_ANYWHERE, "secret"), "outside", "without a root: a file");
	is_str(text_of(BENEATH_ANYWHERE, "/dev/null"), "ENOTSUP", "a device is none");
	inotify_add_watch(watch, "root/fifo", IN_OPEN);
	is_str(text_of(BENEATH_ANYWHERE, "root/fifo"), "ENOTSUP", "nor is a FIFO");
	ok(read(watch, event, sizeof(event)) < 0, "which is not even opened");
	close(watch);
}

/* From here on the kernel says that it does not know openat2. */
static bool forget_openat2(void)
{
	struct sock_filter code[] = {
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_openat2, 0, 1),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | ENOSYS),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
	};
	struct sock_fprog program = {sizeof(code) / sizeof(*code), code};

	return !prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) &&
	       !prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program);
}

int main(void)
{
	char remove[64];

	make_tree();
	test_anywhere();
	test_paths("openat2");
	if (forget_openat2())
		test_paths("by steps");
	snprintf(remove, sizeof(remove), "rm -rf %s", top);
	ok(!system(remove), "cleaned up");
	return done();
}
