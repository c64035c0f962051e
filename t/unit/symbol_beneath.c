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

/* What is read from a descriptor, or the name of the error. */
static const char *read_text(int fd)
{
	static char text[32];
	ssize_t n;

	if (fd < 0)
		return errno == ENOENT	  ? "ENOENT"
		       : errno == ENOTSUP ? "ENOTSUP"
		       : errno == ELOOP	  ? "ELOOP"
		       : errno == EPERM	  ? "EPERM"
					  : "another error";
	n = read(fd, text, sizeof(text) - 1);
	text[n > 0 ? n : 0] = 0;
	close(fd);
	return text;
}

static const char *text_of(int dir, const char *path)
{
	return read_text(beneath_open(dir, path));
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

#define SOMEBODY 65534
#define ANOTHER	 65533

static void own(const char *path, uid_t user, mode_t mode)
{
	if (chmod(path, mode) || chown(path, user, (gid_t)-1))
		abort();
}

/* Files that a process of SOMEBODY, root and others made: as root only. */
static void make_owned(void)
{
	put("root/root-open", "root's");
	put("root/root-closed", "secret");
	put("root/theirs", "theirs");
	put("root/another", "another's");
	put("root/hard", "secret");
	own("root/root-open", 0, 0644);
	own("root/root-closed", 0, 0600);
	own("root/theirs", SOMEBODY, 0600);
	own("root/another", ANOTHER, 0644);
	own("root/hard", 0, 0644);
	if (link("root/hard", "root/hard2") || symlink("root-open", "root/link") ||
	    symlink("theirs", "root/their-link") || symlink("a", "root/way") ||
	    symlink("a", "root/their-way") || lchown("root/their-link", SOMEBODY, (gid_t)-1) ||
	    lchown("root/their-way", SOMEBODY, (gid_t)-1))
		abort();
	own("root/fifo", SOMEBODY, 0600);
	own("root/a/secret", SOMEBODY, 0600);
}

static void test_owned(const char *how)
{
	static const struct {
		const char *path;
		uid_t user;
		const char *text, *what;
	} rows[] = {
		{"/theirs", SOMEBODY, "theirs", "the user's own file"},
		{"/theirs", ANOTHER, "EPERM", "that of another user"},
		{"/another", SOMEBODY, "EPERM", "that of another user, which all may read"},
		{"/theirs", BENEATH_NOBODY, "EPERM", "a user's file, of whom nothing is known"},
		{"/root-open", SOMEBODY, "root's", "root's file for all"},
		{"/root-closed", SOMEBODY, "EPERM", "what only root may read"},
		{"/root-closed", 0, "secret", "the same for root's process"},
		{"/root-closed", BENEATH_NOBODY, "secret", "the same where no process is known"},
		{"/hard2", SOMEBODY, "EPERM", "a hard link"},
		{"/hard", 0, "EPERM", "a file that has one"},
		{"/link", SOMEBODY, "EPERM", "root's link to a file"},
		{"/their-link", SOMEBODY, "EPERM", "the user's link to a file of their own"},
		{"/way/secret", SOMEBODY, "inside", "root's link on the way"},
		{"/their-way/secret", SOMEBODY, "EPERM", "the user's link on the way"},
		{"/a/upwards", SOMEBODY, "EPERM", "a link that leads out of the root"},
		{"/fifo", SOMEBODY, "ENOTSUP", "a FIFO"},
		{"/none", SOMEBODY, "ENOENT", "nothing"},
	};
	int dir = beneath_dir("root");

	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++)
		is_str(read_text(beneath_open_owned(dir, rows[i].path, rows[i].user)), rows[i].text,
		       "%s: %s", how, rows[i].what);
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

/* Where paths lead to. */
static void test_plain(void)
{
	static const char *const rows[][2] = {
		{"/absolute/deep", "a/b/deep"},	  {"a/relative", "a/b/deep"},
		{"/a/upwards", "secret"},	  {"high", "file"},
		{"a//./b/../secret", "a/secret"},
	};
	char plain[BENEATH_PATH_MAX];
	int root = beneath_dir("root");

	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		int rc = beneath_path(root, rows[i][0], plain);

		/* What is outside of the root is not there. */
		if (i == 2)
			ok(rc < 0 && errno == ENOENT, "%s: leads nowhere", rows[i][0]);
		else
			is_str(rc ? "" : plain, rows[i][1], "%s: leads to", rows[i][0]);
	}
	ok(beneath_path(root, "loop", plain) < 0 && errno == ELOOP, "a loop is an error");
	close(root);
}

/* A file of so many bytes, of which only some at the beginning are there. */
static int sparse(off_t size, size_t there)
{
	static const char bytes[1 << 20] = "begin";
	int fd = open("sparse", O_RDWR | O_CREAT | O_TRUNC, 0600), rc;

	for (size_t n = 0; n < there; n += sizeof(bytes))
		if (write(fd, bytes, sizeof(bytes)) != (ssize_t)sizeof(bytes))
			abort();
	if (ftruncate(fd, size))
		abort();
	rc = lseek(fd, 0, SEEK_HOLE) < size;
	close(fd);
	return rc;
}

static void test_holes(void)
{
	int fd;

	if (!sparse((off_t)1 << 40, 4 << 20)) {
		ok(true, "holes # SKIP this file system has none");
		return;
	}
	errno = 0;
	ok(beneath_open(BENEATH_ANYWHERE, "sparse") < 0 && errno == EFBIG,
	   "a file of holes is not opened");
	sparse(32 << 20, 0);
	fd = beneath_open(BENEATH_ANYWHERE, "sparse");
	ok(fd >= 0, "a small one is");
	close(fd);
	sparse(128 << 20, 16 << 20);
	fd = beneath_open(BENEATH_ANYWHERE, "sparse");
	is_str(read_text(fd), "begin", "and one of which an eighth is there, from its beginning");
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
	test_plain();
	test_holes();
	if (!geteuid()) {
		make_owned();
		test_owned("openat2");
	}
	if (forget_openat2()) {
		test_paths("by steps");
		if (!geteuid())
			test_owned("by steps");
	}
	snprintf(remove, sizeof(remove), "rm -rf %s", top);
	ok(!system(remove), "cleaned up");
	return done();
}
