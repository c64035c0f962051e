/*
 * lib/base/out.h into pipes: what is given to them page by page stays what it was, whoever reads it
 * and how, and where that cannot be done, what arrives is the same.
 */
#include "base/out.h"

#include "base/err.h"
#include "tap.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

#define MANY (24u << 20)

static uint8_t byte_at(uint64_t i)
{
	return (uint8_t)(i * 31 + i / 251);
}

/*
 * The bytes of MANY that are wrong, in what comes from fd from `at` on, up to `n` bytes or its end.
 */
static uint64_t wrong_bytes(int fd, uint64_t *at, uint64_t n)
{
	static uint8_t got[65536];
	uint64_t wrong = 0, end = *at + n;

	while (*at < end) {
		size_t most = end - *at < sizeof(got) ? end - *at : sizeof(got);
		ssize_t r = read(fd, got, most);

		if (r <= 0)
			break;
		for (ssize_t i = 0; i < r; i++)
			wrong += got[i] != byte_at(*at + (uint64_t)i);
		*at += (uint64_t)r;
	}
	return wrong;
}

/*
 * What happens to a writer. `piece` is called before each piece; 0, or what the writer is to exit
 * with.
 */
struct way {
	const char *name;
	int (*begin)(struct out *o);
	int (*piece)(struct out *o, unsigned k);
	int (*end)(const struct out *o);
};
/* A file of MANY such bytes, mapped. */
static const uint8_t *lasting;

static void map_lasting(void)
{
	FILE *f = tmpfile();

	for (uint64_t i = 0; f && i < MANY; i++)
		putc(byte_at(i), f);
	lasting = f && !fflush(f) ? mmap(NULL, MANY, PROT_READ, MAP_PRIVATE, fileno(f), 0)
				  : MAP_FAILED;
	if (lasting == MAP_FAILED)
		exit(2);
}

#define CANNOT 77 /* exit status: it cannot be made to happen here */
#define WRONG  78 /* it should have gone another way */

/* A piece of the file. 0, or WRONG: its bytes were copied where pages are given. */
static int lend(struct out *o, uint64_t at, size_t n)
{
	size_t before = o->len;
	bool gives = o->mode == OUT_PAGES && o->data != o->own;

	out_lend(o, lasting + at, n);
	return gives && o->mode == OUT_PAGES && o->len > before ? WRONG : 0;
}

/*
 * Writes MANY bytes in pieces: small ones, flushes between them, some lent, some larger than
 * buffers.
 */
static int write_many(int fd, const struct way *way)
{
	static uint8_t piece[OUT_HUGE + 5000];
	struct out o;
	uint64_t at = 0;
	int rc;

	out_init(&o, fd);
	if (way && way->begin && (rc = way->begin(&o)))
		return rc;
	for (unsigned k = 0; at < MANY && !o.err; k++) {
		size_t n = k == 70000	? sizeof(piece)
			   : k == 80000 ? OUT_BUFFER + 1
					: 1 + k * 7 % 400;

		if (way && way->piece && (rc = way->piece(&o, k)))
			return rc;
		n = n < MANY - at ? n : (size_t)(MANY - at);
		if (k / 500 == 40 && k % 3) {
			n = 1 + k * 131 % 9000;
			if (lend(&o, at, n))
				return WRONG;
			at += n;
			continue;
		}
		for (size_t i = 0; i < n; i++)
			piece[i] = byte_at(at + i);
		out_add(&o, piece, n);
		at += n;
		if (k % 1500 == 0 && k % 7 == 0)
			out_flush(&o);
	}
	if (way && way->end && (rc = way->end(&o)))
		return rc;
	return -out_close(&o);
}

static pid_t start_writer(int fds[2], const struct way *way)
{
	pid_t pid = fork();

	if (pid < 0)
		exit(2);
	if (!pid) {
		close(fds[0]);
		_exit(write_many(fds[1], way));
	}
	close(fds[1]);
	return pid;
}

static void make_pipe(int fds[2])
{
	if (pipe(fds))
		exit(2);
}

static int exit_status(pid_t pid)
{
	int status = -1;

	waitpid(pid, &status, 0);
	return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

/* What is passed on without being read stays what it was, however much is written afterwards. */
static void test_out_pipe(void)
{
	int fds[2], held[2], copied[2];
	uint64_t at = 0, first = 0, tee_at = 0;
	ssize_t teed;
	pid_t pid;

	make_pipe(held);
	make_pipe(copied);
	fcntl(held[1], F_SETPIPE_SZ, 1 << 20);
	fcntl(copied[1], F_SETPIPE_SZ, 1 << 20);
	make_pipe(fds);
	pid = start_writer(fds, NULL);
	/* From the middle on, where large pieces are written. */
	is_u64(wrong_bytes(fds[0], &at, MANY / 2), 0, "pipe: half of it is read");
	first = tee_at = at;
	teed = tee(fds[0], copied[1], 300000, 0);
	ok(teed > 0, "pipe: some of it is copied to another pipe");
	for (ssize_t n; first - at < 600000; first += (uint64_t)n) {
		n = splice(fds[0], NULL, held[1], NULL, 100000, 0);
		if (n <= 0)
			break;
	}
	ok(first - at >= 600000, "pipe: some of it is moved to another pipe");
	is_u64(wrong_bytes(fds[0], &first, MANY), 0, "pipe: what follows is read");
	is_u64(first, MANY, "pipe: all of it");
	close(held[1]);
	close(copied[1]);
	is_u64(wrong_bytes(held[0], &at, MANY), 0, "pipe: what was moved is what it was");
	is_u64(wrong_bytes(copied[0], &tee_at, MANY), 0, "pipe: and what was copied");
	close(held[0]);
	close(copied[0]);
	close(fds[0]);
	is_int(exit_status(pid), 0, "pipe: written without error");

	at = 0;
	make_pipe(fds);
	pid = start_writer(fds, NULL);
	is_u64(wrong_bytes(fds[0], &at, MANY / 2), 0, "pipe: read in part");
	close(fds[0]);
	is_int(exit_status(pid), -PP_EPIPE, "pipe: its reader has gone");
}

/* ---- where pages cannot be given, or the writer is disturbed ---- */

static int no_huge_pages(struct out *o)
{
	(void)o;
	return prctl(PR_SET_THP_DISABLE, 1, 0, 0, 0) ? CANNOT : 0;
}

static int is_copying(const struct out *o)
{
	return o->mode == OUT_COPY && !o->pages ? 0 : WRONG;
}

static int forbid_vmsplice(struct out *o)
{
	struct sock_filter code[] = {
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, __NR_vmsplice, 0, 1),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EPERM),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
	};
	struct sock_fprog program = {sizeof(code) / sizeof(code[0]), code};

	(void)o;
	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) ||
	    prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program))
		return CANNOT;
	return 0;
}

static int forbid_later(struct out *o, unsigned k)
{
	return k == 30000 ? forbid_vmsplice(o) : 0;
}

/* No address space when the pages would be made. */
static int no_space(struct out *o, unsigned k)
{
	static struct rlimit before;
	struct rlimit none;

	(void)o;
	if (k == 0) {
		if (getrlimit(RLIMIT_AS, &before))
			return CANNOT;
		none = (struct rlimit){1 << 20, before.rlim_max};
		return setrlimit(RLIMIT_AS, &none) ? CANNOT : 0;
	}
	return k == 60000 && setrlimit(RLIMIT_AS, &before) ? CANNOT : 0;
}

/* A page fits, so that pages are given one after the other. */
static int small_pipe(struct out *o)
{
	return fcntl(o->fd, F_SETPIPE_SZ, 1) < 0 ? CANNOT : 0;
}

static void on_alarm(int sig)
{
	(void)sig;
}

static int interrupt(struct out *o)
{
	const struct sigaction action = {.sa_handler = on_alarm};
	const struct itimerval often = {{0, 200}, {0, 200}};

	(void)o;
	return sigaction(SIGALRM, &action, NULL) || setitimer(ITIMER_REAL, &often, NULL) ? CANNOT
											 : 0;
}

static pid_t beside;

static int end_child(const struct out *o)
{
	(void)o;
	if (beside > 0) {
		kill(beside, SIGKILL);
		waitpid(beside, NULL, 0);
	}
	return 0;
}

/*
 * Children get the memory as it is, and write to it; the last one lives while what follows is
 * written.
 */
static int fork_often(struct out *o, unsigned k)
{
	if (k % 3001 != 3000)
		return 0;
	end_child(o);
	beside = fork();
	if (beside < 0)
		return CANNOT;
	if (!beside) {
		close(o->fd);
		memset(o->own, 0xee, o->own_cap);
		if (o->pages)
			memset(o->pages, 0xee, OUT_HUGE);
		alarm(60);
		pause();
		_exit(0);
	}
	return 0;
}

static const struct way ways[] = {
	{"as it is", NULL, NULL, NULL},
	{"without huge pages", no_huge_pages, NULL, is_copying},
	{"vmsplice forbidden", forbid_vmsplice, NULL, is_copying},
	{"vmsplice forbidden half way", NULL, forbid_later, is_copying},
	{"no address space", NULL, no_space, is_copying},
	{"a pipe of one page", small_pipe, NULL, NULL},
	{"signals", interrupt, NULL, NULL},
	{"children beside", NULL, fork_often, end_child},
};

static void test_ways(void)
{
	for (const struct way *way = ways; way < ways + sizeof(ways) / sizeof(ways[0]); way++) {
		uint64_t at = 0, wrong = 0, before;
		int fds[2], status;
		pid_t pid;

		make_pipe(fds);
		pid = start_writer(fds, way);
		/* The writer waits now and then. */
		do {
			before = at;
			usleep(1000);
			wrong += wrong_bytes(fds[0], &at, 1 << 20);
		} while (at != before);
		close(fds[0]);
		status = exit_status(pid);
		if (status == CANNOT) {
			ok(true, "%s: # SKIP it cannot be had here", way->name);
			continue;
		}
		is_u64(wrong, 0, "%s: every byte is right", way->name);
		is_u64(at, MANY, "%s: all of them", way->name);
		is_int(status, 0, "%s: the writer knows", way->name);
	}
}

/* No wait is wanted: then it may fail, but is not to succeed with bytes missing. */
static void test_no_wait(void)
{
	uint64_t at = 0, wrong;
	int fds[2], status;
	pid_t pid;

	make_pipe(fds);
	fcntl(fds[1], F_SETFL, O_NONBLOCK);
	pid = start_writer(fds, NULL);
	usleep(20000);
	wrong = wrong_bytes(fds[0], &at, MANY);
	status = exit_status(pid);
	is_u64(wrong, 0, "pipe that does not wait: every byte is right");
	ok(status ? status == (-pp_errno(EAGAIN) & 0xff) : at == MANY,
	   "pipe that does not wait: all of them, or an error");
	close(fds[0]);
}

static void test_socket(void)
{
	uint64_t at = 0;
	int fds[2];
	pid_t pid;

	if (socketpair(AF_UNIX, SOCK_STREAM, 0, fds))
		exit(2);
	pid = start_writer(fds, NULL);
	is_u64(wrong_bytes(fds[0], &at, MANY), 0, "socket: every byte is right");
	is_u64(at, MANY, "socket: all of them");
	is_int(exit_status(pid), 0, "socket: written without error");
	close(fds[0]);
}

int main(void)
{
	signal(SIGPIPE, SIG_IGN);
	map_lasting();
	test_out_pipe();
	test_ways();
	test_no_wait();
	test_socket();
	return done();
}
