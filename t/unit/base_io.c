/* lib/base/src.h and out.h: files, pipes, memory; giving back, seeking, spooling; write errors. */
#include "base/out.h"
#include "base/src.h"

#include "base/err.h"
#include "tap.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#define SIZE 3000000 /* more than a pipe and more than one block */

static uint8_t bytes[SIZE];

static uint8_t byte_at(uint64_t i)
{
	return (uint8_t)(i * 31 + i / 251);
}

/* A descriptor of an unlinked file that holds the bytes. */
static int bytes_file(void)
{
	char path[] = "base_io.XXXXXX";
	int fd = mkstemp(path);

	unlink(path);
	if (fd < 0 || write(fd, bytes, SIZE) != SIZE || lseek(fd, 0, SEEK_SET)) {
		perror("base_io");
		exit(2);
	}
	return fd;
}

/* The read end of a pipe into which a child writes the bytes, `piece` at a time. */
static int bytes_pipe(size_t piece, pid_t *child)
{
	int fds[2];

	if (pipe(fds) || (*child = fork()) < 0) {
		perror("base_io");
		exit(2);
	}
	if (!*child) {
		close(fds[0]);
		for (size_t done = 0; done < SIZE; done += piece) {
			size_t n = SIZE - done < piece ? SIZE - done : piece;

			if (write(fds[1], bytes + done, n) < 0)
				_exit(1);
		}
		_exit(0);
	}
	close(fds[1]);
	return fds[0];
}

static void test_sequence(struct src *s, const char *what)
{
	static uint8_t got[SIZE];
	size_t n = 1;

	is_int(src_read_all(s, got, 100), 0, "%s: the first bytes", what);
	is_int(src_unread(s, got + 60, 40), 0, "%s: some given back", what);
	is_u64(src_tell(s), 60, "%s: the position follows", what);
	is_int(src_unread(s, got + 50, 10), 0, "%s: more given back before they are read", what);
	memset(got, 0, sizeof(got));
	is_int(src_read_all(s, got + 50, SIZE - 60), 0, "%s: then all but the last ten", what);
	is_int(memcmp(got + 50, bytes + 50, SIZE - 60), 0, "%s: in order", what);
	is_int(src_read_all(s, got, 11), PP_ECUT, "%s: eleven more are not there", what);
	is_int(src_read(s, got, 1, &n), 0, "%s: the end is no error", what);
	is_int((int64_t)n, 0, "%s: and has no bytes", what);
	is_int(src_read_all(s, got, 1), PP_END, "%s: nothing left is the end of input", what);
	is_u64(src_tell(s), SIZE, "%s: all was read", what);
}

static void test_seek(struct src *s, const char *what)
{
	uint8_t got[1000];

	ok(src_seekable(s), "%s: seekable", what);
	is_u64(src_size(s), SIZE, "%s: size", what);
	is_int(src_pread(s, got, 1000, 2000000), 0, "%s: read somewhere", what);
	is_int(memcmp(got, bytes + 2000000, 1000), 0, "%s: the right bytes", what);
	is_int(src_pread(s, got, 1000, SIZE - 999), PP_ECUT, "%s: past the end", what);
	is_int(src_pread(s, got, 1, UINT64_MAX), PP_ECUT, "%s: at 2^64-1", what);
	is_int(src_pread(s, got, 1000, SIZE - 1000), 0, "%s: up to the end", what);
	is_int(src_seek(s, 123456), 0, "%s: seek", what);
	is_int(src_read_all(s, got, 10), 0, "%s: read there", what);
	is_int(memcmp(got, bytes + 123456, 10), 0, "%s: the right bytes there", what);
	is_u64(src_tell(s), 123466, "%s: position", what);
	is_int(src_seek(s, 0), 0, "%s: back to the start", what);
}

static void test_pipe(size_t piece, bool spool)
{
	const char *what = spool ? "spooled pipe" : "pipe";
	uint8_t got[8];
	struct src *s;
	pid_t child;
	int status;

	is_int(src_from_fd(&s, bytes_pipe(piece, &child), "p"), 0, "%s: open", what);
	ok(!src_seekable(s) && src_size(s) == 0, "%s: cannot seek", what);
	is_int(src_pread(s, got, 1, 0), PP_EUNSUPPORTED, "%s: no reading anywhere", what);
	is_int(src_seek(s, 0), PP_EUNSUPPORTED, "%s: no seeking", what);
	if (spool) {
		/* As a reader does that looked at the magic first. */
		src_read_all(s, got, 8);
		src_unread(s, got, 8);
		is_int(src_spool(s, NULL), 0, "%s: spooled", what);
		test_seek(s, what);
	}
	test_sequence(s, what);
	src_free(s);
	ok(waitpid(child, &status, 0) == child && status == 0, "%s: the writer is done", what);
}

static void test_sources(void)
{
	uint8_t got[4];
	struct src *s;

	is_int(src_from_fd(&s, bytes_file(), "f"), 0, "file: open");
	is_str(src_name(s), "f", "file: name");
	test_seek(s, "file");
	test_sequence(s, "file");
	src_free(s);
	is_int(src_from_mem(&s, bytes, SIZE, "m"), 0, "memory: open");
	test_seek(s, "memory");
	test_sequence(s, "memory");
	src_free(s);
	test_pipe(65536, false);
	test_pipe(7919, true);
	is_int(src_open(&s, "does/not/exist", NULL), PP_ENOENT, "no such file");
	ok(!s, "and no source");
	is_int(src_open(&s, "/", NULL), PP_EUNSUPPORTED, "a directory");
	src_from_mem(&s, bytes, SIZE, "m");
	is_int(src_unread(s, bytes, 1), PP_ELIMIT, "giving back what was never read");
	src_read_all(s, got, 4);
	is_int(src_unread(s, bytes, 5000), PP_ELIMIT, "giving back too much");
	src_free(s);
	src_free(NULL);
}

static void test_out_file(void)
{
	static uint8_t got[SIZE];
	char path[] = "base_io.XXXXXX";
	int fd = mkstemp(path), in;
	struct out o;
	size_t done = 0;
	bool good = true;

	is_int(out_init(&o, fd), 0, "out: open");
	for (size_t n = 1; done < SIZE; n = n * 2 % 1000003) {
		size_t piece = n < SIZE - done ? n : SIZE - done;

		good = good && !out_add(&o, bytes + done, piece);
		done += piece;
	}
	ok(good, "out: pieces of many sizes, some larger than the buffer");
	is_int(out_close(&o), 0, "out: closed");
	is_u64(o.written, SIZE, "out: bytes counted");
	in = open(path, O_RDONLY);
	unlink(path);
	ok(read(in, got, SIZE) == SIZE && read(in, got, 1) == 0, "out: all arrived");
	lseek(in, 0, SEEK_SET);
	ok(read(in, got, SIZE) == SIZE && !memcmp(got, bytes, SIZE), "out: in order");
	close(in);
}

static void test_out_errors(void)
{
	struct out o;
	int fds[2], full = open("/dev/full", O_WRONLY);

	out_init(&o, full);
	is_int(out_add(&o, "x", 1), 0, "full device: the buffer takes a byte");
	is_int(out_close(&o), pp_errno(ENOSPC), "full device: closing finds the error");
	signal(SIGPIPE, SIG_IGN);
	if (pipe(fds))
		exit(2);
	close(fds[0]);
	out_init(&o, fds[1]);
	out_add(&o, "x", 1);
	is_int(out_flush(&o), PP_EPIPE, "pipe without reader: flushing finds it");
	is_int(out_add(&o, bytes, SIZE), PP_EPIPE, "pipe without reader: later calls return it");
	is_int(out_close(&o), PP_EPIPE, "pipe without reader: and the close");
	out_init(&o, -1);
	out_add(&o, "x", 1);
	is_int(out_flush(&o), pp_errno(EBADF), "no descriptor: error");
	out_release(&o);
}

int main(void)
{
	for (size_t i = 0; i < SIZE; i++)
		bytes[i] = byte_at(i);
	test_sources();
	test_out_file();
	test_out_errors();
	return done();
}
