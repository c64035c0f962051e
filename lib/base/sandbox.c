/* What a filter gives up: by Landlock writing elsewhere; calls are in sandbox_calls.c. */
#include "base/sandbox.h"

#include "base/sandbox_parts.h"

#include <fcntl.h>
#include <limits.h>
#include <linux/landlock.h>
#include <linux/magic.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/vfs.h>
#include <unistd.h>

/* As of version 6 of the interface; the header of Debian 12 has that of version 2. */
struct ruleset {
	uint64_t fs, net, scoped;
};

#define FS_TRUNCATE	 (1u << 14)
#define FS_MAKE		 (LANDLOCK_ACCESS_FS_MAKE_REG | LANDLOCK_ACCESS_FS_REMOVE_FILE)
#define FS_CONTENT	 (LANDLOCK_ACCESS_FS_WRITE_FILE | FS_TRUNCATE)
#define NET_TCP		 3u /* bind, connect */
#define SCOPE_ALL	 3u /* abstract sockets, signals */
#define VERSION_TRUNCATE 3  /* from which on writing is wholly covered */

/* Everything but reading, as far as this version knows it. */
static int new_ruleset(int v, struct ruleset *r)
{
	*r = (struct ruleset){
		.fs = (LANDLOCK_ACCESS_FS_MAKE_SYM << 1) - 1 +
		      (v >= 2 ? LANDLOCK_ACCESS_FS_REFER : 0) +
		      (v >= VERSION_TRUNCATE ? FS_TRUNCATE : 0),
		.net = v >= 4 ? NET_TCP : 0,
		.scoped = v >= 6 ? SCOPE_ALL : 0,
	};
	r->fs &= ~(uint64_t)((SANITIZED ? LANDLOCK_ACCESS_FS_EXECUTE : 0) |
			     LANDLOCK_ACCESS_FS_READ_FILE | LANDLOCK_ACCESS_FS_READ_DIR);
	return (int)syscall(__NR_landlock_create_ruleset, r,
			    v >= 6   ? sizeof(*r)
			    : v >= 4 ? offsetof(struct ruleset, scoped)
				     : offsetof(struct ruleset, net),
			    0);
}

/* What cannot be opened cannot be written either: no error. */
static void allow(int ruleset, const char *path, uint64_t access)
{
	struct landlock_path_beneath_attr rule = {.allowed_access = access};
	struct stat st;

	rule.parent_fd = open(path, O_PATH | O_CLOEXEC);
	if (rule.parent_fd < 0)
		return;
	if (!fstat(rule.parent_fd, &st) && !S_ISDIR(st.st_mode))
		rule.allowed_access &= FS_CONTENT;
	syscall(__NR_landlock_add_rule, ruleset, LANDLOCK_RULE_PATH_BENEATH, &rule, 0);
	close(rule.parent_fd);
}

/* A file that is made or written: itself, and its folder unless it is a device. */
static void allow_file(int ruleset, const char *path, uint64_t access)
{
	const char *slash = strrchr(path, '/');
	char folder[PATH_MAX];
	struct stat st;

	allow(ruleset, path, access);
	if (!stat(path, &st) && !S_ISREG(st.st_mode))
		return;
	if (snprintf(folder, sizeof(folder), "%.*s/", slash ? (int)(slash - path) : 1,
		     slash ? path : ".") < (int)sizeof(folder))
		allow(ruleset, folder, access);
}

static const char *tmpdir(void)
{
	const char *dir = getenv("TMPDIR");

	return dir && *dir ? dir : "/tmp";
}

/*
 * Where a file system has no files without a name, temporary ones have one for a moment. Those that
 * have them are known, mostly: a trial takes a tenth of a millisecond.
 */
static bool has_unnamed(const char *dir)
{
	static const unsigned have[] = {EXT4_SUPER_MAGIC, TMPFS_MAGIC, XFS_SUPER_MAGIC,
					BTRFS_SUPER_MAGIC};
	struct statfs fs;
	int fd;

	if (!statfs(dir, &fs))
		for (size_t i = 0; i < sizeof(have) / sizeof(*have); i++)
			if ((unsigned)fs.f_type == have[i])
				return true;
	fd = open(dir, O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);

	if (fd >= 0)
		close(fd);
	return fd >= 0;
}

/* As far as the kernel has it. `named`: temporary files have names. */
static void enter_files(const char *output, bool named)
{
	int v = (int)syscall(__NR_landlock_create_ruleset, NULL, 0,
			     LANDLOCK_CREATE_RULESET_VERSION);
	struct ruleset r;
	int ruleset = v < 1 ? -1 : new_ruleset(v, &r);

	if (ruleset < 0)
		return;
	allow(ruleset, tmpdir(), r.fs & (FS_CONTENT | (named ? FS_MAKE : 0)));
	if (output)
		allow_file(ruleset, output, r.fs & (FS_CONTENT | FS_MAKE));
	syscall(__NR_landlock_restrict_self, ruleset, 0);
	close(ruleset);
}

bool sandbox_enter(const struct sandbox *s)
{
	bool named = !s->programs && !has_unnamed(tmpdir());
	bool files = s->output || named;

	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0))
		return false;
	if (files && !s->programs && !s->processes)
		enter_files(s->output, named);
	return sandbox_calls(s->programs, files);
}
