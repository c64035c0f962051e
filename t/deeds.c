/*
 * Does a known number of things that recipes report, and prints what it did, a line each: the recipe, then the
 * columns that its table is to have. Run by t/recipes-live.t in a folder of its own.
 *
 *	deeds files|processes|threads|net|retrans|mount|io|direct
 */
#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/filter.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#define BLOCK 65536

static char block[BLOCK] __attribute__((aligned(4096)));

static const char *name_of(int error)
{
	switch (error) {
	case ENOENT: return "ENOENT";
	case EACCES: return "EACCES";
	case ENOTDIR: return "ENOTDIR";
	case EINVAL: return "EINVAL";
	case ENODEV: return "ENODEV";
	default: return "?";
	}
}

static void result(int n)
{
	if (n < 0)
		printf("%s", name_of(errno));
	else
		printf("%d", n);
}

static int opened(const char *path, int flags)
{
	int fd = open(path, flags, 0600);

	printf("opensnoop ");
	result(fd);
	printf(" %s\n", path);
	return fd;
}

static void asked(const char *path)
{
	struct stat st;
	int n = stat(path, &st);

	printf("statsnoop fstatat ");
	result(n);
	printf(" %s\n", path);
}

static void files(void)
{
	int fd;

	opened("deed-one", O_RDWR | O_CREAT);
	opened("deed two", O_WRONLY | O_CREAT);
	opened("deed-missing", O_RDONLY);
	opened("deed-one/below", O_RDONLY);
	asked("deed-one");
	asked("deed-missing");
	asked("deed-one/below");
	fd = opened("deed-one", O_RDWR);
	if (fsync(fd) == 0)
		printf("syncsnoop fsync %d\n", fd);
	if (fdatasync(fd) == 0)
		printf("syncsnoop fdatasync %d\n", fd);
	if (fsync(fd) == 0)
		printf("syncsnoop fsync %d\n", fd);
}

/* A child that runs a program, or fails to. */
static void run(const char *path, char *const argv[], const char *words, bool fails)
{
	int self = getpid(), status;
	pid_t pid = fork();

	if (!pid) {
		execve(path, argv, (char *[]){NULL});
		_exit(7);
	}
	waitpid(pid, &status, 0);
	printf("execsnoop %d %d %s %s\n", pid, self, fails ? "ENOENT" : "0", words);
	printf("exitsnoop %d %d code %d\n", pid, self, WEXITSTATUS(status));
}

static void processes(void)
{
	int self = getpid(), status;
	pid_t pid;

	run("/bin/true", (char *[]){"true", "one", "two words", "", NULL},
	    "/bin/true one \"two words\" \"\"", false);
	run("/bin/false", (char *[]){"false", NULL}, "/bin/false", false);
	run("deed-missing", (char *[]){"deed", "x", NULL}, "deed-missing x", true);
	pid = fork();
	if (!pid) {
		signal(SIGUSR1, SIG_IGN);
		raise(SIGSTOP);
		for (;;)
			pause();
	}
	waitpid(pid, &status, WUNTRACED);
	kill(pid, SIGUSR2); /* waits until it goes on, and ends it */
	printf("killsnoop USR2 %d\n", pid);
	kill(pid, SIGCONT);
	printf("killsnoop CONT %d\n", pid);
	waitpid(pid, &status, 0);
	printf("exitsnoop %d %d signal %d (USR2)\n", pid, self, WTERMSIG(status));
}

static void *deed_thread(void *arg)
{
	printf("threadsnoop %ld deed_thread\n", syscall(SYS_gettid));
	return arg;
}

static void threads(void)
{
	pthread_t t;

	for (int i = 0; i < 4; i++)
		if (!pthread_create(&t, NULL, deed_thread, NULL))
			pthread_join(t, NULL);
	/* So that the recipe finds out which function it was. */
	sleep(1);
}

union address {
	struct sockaddr any;
	struct sockaddr_in v4;
	struct sockaddr_in6 v6;
};

static socklen_t loopback(union address *a, int family)
{
	memset(a, 0, sizeof(*a));
	a->any.sa_family = (sa_family_t)family;
	if (family == AF_INET)
		a->v4.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
	else
		a->v6.sin6_addr = in6addr_loopback;
	return family == AF_INET ? sizeof(a->v4) : sizeof(a->v6);
}

static int port_of(int fd)
{
	union address a;
	socklen_t n = sizeof(a);

	getsockname(fd, &a.any, &n);
	return ntohs(a.any.sa_family == AF_INET ? a.v4.sin_port : a.v6.sin6_port);
}

/* Connects, sends and receives; how many bytes the other side gets is n, and it answers with 2 n. */
static void talk(int family, int n)
{
	const char *host = family == AF_INET ? "127.0.0.1" : "::1";
	int ip = family == AF_INET ? 4 : 6, server = socket(family, SOCK_STREAM, 0);
	int client = socket(family, SOCK_STREAM, 0), accepted, port, from;
	union address a;
	socklen_t len = loopback(&a, family);

	if (server < 0 || bind(server, &a.any, len) || listen(server, 5))
		return;
	port = port_of(server);
	if (family == AF_INET)
		a.v4.sin_port = htons((uint16_t)port);
	else
		a.v6.sin6_port = htons((uint16_t)port);
	if (connect(client, &a.any, len))
		return;
	accepted = accept(server, NULL, NULL);
	from = port_of(client);
	if (write(client, block, (size_t)n) != n ||
	    recv(accepted, block, (size_t)n, MSG_WAITALL) != n ||
	    write(accepted, block, 2 * (size_t)n) != 2 * n ||
	    recv(client, block, 2 * (size_t)n, MSG_WAITALL) != 2 * n)
		return;
	close(client);
	close(accepted);
	close(server);
	printf("tcpconnect %d %s %d %s %d connected\n", ip, host, from, host, port);
	printf("tcpaccept %d %s %d %s %d\n", ip, host, from, host, port);
	printf("tcplife out %d %s %d %s %d %d %d\n", ip, host, from, host, port, n, 2 * n);
	printf("tcplife in %d %s %d %s %d %d %d\n", ip, host, port, host, from, 2 * n, n);
	/* Nobody listens any more. */
	client = socket(family, SOCK_STREAM, 0);
	if (connect(client, &a.any, len) < 0)
		printf("tcpconnect %d %s * %s %d failed\n", ip, host, host, port);
}

static void net(void)
{
	talk(AF_INET, 1000);
	talk(AF_INET, 17);
	talk(AF_INET6, 300);
}

/* Segments that the other side drops for a while: the last one is sent again as a probe, then for its age. */
static void retransmitted(void)
{
	struct sock_filter drop[] = {BPF_STMT(BPF_RET | BPF_K, 0)};
	struct sock_fprog program = {1, drop};
	int server = socket(AF_INET, SOCK_STREAM, 0), client = socket(AF_INET, SOCK_STREAM, 0);
	union address a;
	socklen_t len = loopback(&a, AF_INET);
	int accepted;

	if (bind(server, &a.any, len) || listen(server, 5))
		return;
	a.v4.sin_port = htons((uint16_t)port_of(server));
	if (connect(client, &a.any, len))
		return;
	accepted = accept(server, NULL, NULL);
	/* So that the time of a round is known. */
	for (int i = 0; i < 20; i++)
		if (write(client, block, 10) != 10 || recv(accepted, block, 10, MSG_WAITALL) != 10)
			return;
	if (setsockopt(accepted, SOL_SOCKET, SO_ATTACH_FILTER, &program, sizeof(program)) ||
	    write(client, block, 100) != 100)
		return;
	usleep(1500000);
	printf("tcpretrans 127.0.0.1 %d L 127.0.0.1 %d ESTABLISHED\n", port_of(client),
	       port_of(server));
	printf("tcpretrans 127.0.0.1 %d R 127.0.0.1 %d ESTABLISHED\n", port_of(client),
	       port_of(server));
}

static void called(int n, const char *text)
{
	printf("mountsnoop ");
	result(n);
	printf(" %s\n", text);
}

static void mounts(void)
{
	if (unshare(CLONE_NEWNS))
		return;
	mkdir("deed-mnt", 0700);
	called(mount("none", "/", NULL, MS_REC | MS_PRIVATE, NULL),
	       "mount(\"none\", \"/\", 0x0, 0x44000)");
	called(mount("deed-dev", "deed-mnt", "tmpfs", MS_NOSUID, NULL),
	       "mount(\"deed-dev\", \"deed-mnt\", \"tmpfs\", 0x2)");
	called(umount("deed-mnt"), "umount(\"deed-mnt\", 0x0)");
	called(mount("deed-dev", "deed-mnt", "no-such-fs", 0, NULL),
	       "mount(\"deed-dev\", \"deed-mnt\", \"no-such-fs\", 0x0)");
}

static void io(void)
{
	char path[4096], *cwd = getcwd(path, sizeof(path) - 16);
	int fd = open("deed-io", O_RDWR | O_CREAT | O_TRUNC, 0600);

	if (!cwd)
		return;
	strcat(path, "/deed-io");
	for (int i = 0; i < 3; i++)
		if (write(fd, block, BLOCK) == BLOCK)
			printf("fileslower W %d %s\next4slower W %d %d %s\n", BLOCK, path, BLOCK,
			       i * BLOCK, path);
	if (pread(fd, block, 5000, 4096) == 5000)
		printf("fileslower R 5000 %s\next4slower R 5000 4096 %s\n", path, path);
	fsync(fd);
	/* So that the recipe finds out which file it was. */
	sleep(1);
}

static void direct(void)
{
	int fd = open("deed-io", O_RDWR | O_CREAT | O_DIRECT, 0600);

	for (int i = 0; fd >= 0 && i < 4; i++)
		if (pwrite(fd, block, BLOCK, i * BLOCK) == BLOCK)
			printf("biosnoop %d\n", BLOCK);
}

int main(int argc, char **argv)
{
	const char *what = argc > 1 ? argv[1] : "";

	setvbuf(stdout, NULL, _IOLBF, 0);
	printf("pid %d\n", getpid());
	if (!strcmp(what, "files"))
		files();
	else if (!strcmp(what, "processes"))
		processes();
	else if (!strcmp(what, "threads"))
		threads();
	else if (!strcmp(what, "net"))
		net();
	else if (!strcmp(what, "retrans"))
		retransmitted();
	else if (!strcmp(what, "mount"))
		mounts();
	else if (!strcmp(what, "io"))
		io();
	else if (!strcmp(what, "direct"))
		direct();
	else
		return 64;
	return 0;
}
