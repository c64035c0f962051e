/*
 * What the image of a kernel looks like to pprobe: functions and structures with the names and the
 * layout of Linux 6.12, after a symbol _text. It is linked, but not run.
 */
#define KEEP __attribute__((noinline, used, noclone))

__asm__(".globl _text\n_text:\n.skip 16, 0x90\n");

struct qstr {
	unsigned long hash_len;
	const char *name;
};

struct dentry {
	char before[96];
	struct qstr d_name;
};

struct path {
	void *mnt;
	struct dentry *dentry;
};

struct file {
	char before[136];
	struct path f_path;
};

struct open_how {
	unsigned long long flags, mode, resolve;
};

struct task_struct {
	char before[1408];
	int pid, tgid;
	char between[656];
	char comm[16];
};

struct task_struct init_task;
long counted[4];

static inline long add(long a, long b)
{
	counted[1] += a;
	return a + b + counted[2];
}

KEEP long vfs_read(struct file *file, char *buf, unsigned long count, long long *pos)
{
	long ret = file->f_path.dentry->d_name.hash_len > count ? -22 : 0;

	buf[0] = 0;
	ret = add(ret, *pos);
	return ret;
}

KEEP long do_sys_openat2(int dfd, const char *filename, struct open_how *how)
{
	return dfd + filename[0] + (long)how->mode;
}

KEEP int try_to_wake_up(struct task_struct *p, unsigned int state, int wake_flags)
{
	return p->pid + (int)state + wake_flags + init_task.tgid;
}

KEEP const char *name_of(struct file *file)
{
	return file->f_path.dentry->d_name.name;
}

/* Another function has this name, too: see kernel2.c, which the test makes of this line. */
static KEEP int twice(int a)
{
	return a * 3;
}

int call_twice(int a)
{
	return twice(a);
}
