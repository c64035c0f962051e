/* Output that does not wait, and the options in words. */
#include "record/parts.h"

#include "base/err.h"
#include "tap.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <unistd.h>

#define ROUNDS 600
#define PIECE  7001

/* The byte at a place in the whole output. */
static uint8_t byte_at(size_t at)
{
	return (uint8_t)(at * 31 + (at >> 8) * 7);
}

/* Reads what is there now and compares; returns the bytes read, or -1 if one is wrong. */
static ssize_t take(int fd, size_t at, size_t most)
{
	static uint8_t got[1 << 20];
	ssize_t n = read(fd, got, most < sizeof(got) ? most : sizeof(got));

	for (ssize_t i = 0; i < n; i++)
		if (got[i] != byte_at(at + (size_t)i))
			return -1;
	return n;
}

/* Puts a piece in two parts. */
static int put(struct sink *s, size_t at)
{
	static uint8_t bytes[PIECE];
	struct iovec v[2] = {{bytes, 1000}, {bytes + 1000, PIECE - 1000}};

	for (size_t i = 0; i < PIECE; i++)
		bytes[i] = byte_at(at + i);
	return sink_putv(s, v, 2);
}

static void test_slow_reader(void)
{
	struct sink s;
	size_t in = 0, out = 0;
	bool right = true, waited = false;
	int p[2], rc = 0;

	if (pipe(p)) {
		ok(false, "pipe");
		return;
	}
	fcntl(p[0], F_SETFL, O_NONBLOCK);
	sink_init(&s, p[1]);
	/* Takes 10000 bytes for 21003 that come: the pipe fills, and then memory. */
	for (int i = 0; i < ROUNDS && !rc; i++) {
		rc = put(&s, in);
		in += PIECE;
		waited = waited || sink_waiting(&s);
		if (i % 3 == 2) {
			ssize_t n = take(p[0], out, 10000);

			right = right && n >= 0;
			out += n > 0 ? (size_t)n : 0;
		}
	}
	is_int(rc, 0, "a slow reader stops nothing");
	ok(waited, "its bytes wait in memory");
	ok(!(fcntl(p[1], F_GETFL) & O_NONBLOCK), "the pipe blocks for others as before");
	for (int i = 0; i < 1000 && out < in; i++) {
		ssize_t n;

		sink_flush(&s);
		n = take(p[0], out, SIZE_MAX);
		right = right && n > 0;
		if (n <= 0)
			break;
		out += (size_t)n;
	}
	ok(right, "all bytes come in order");
	is_int((int64_t)out, (int64_t)in, "all bytes come");
	is_u64(s.bytes, in, "all are counted");
	is_int((int64_t)sink_waiting(&s), 0, "nothing is left");
	close(p[0]);
	is_int(put(&s, 0), PP_EPIPE, "the reader is gone");
	is_int(put(&s, 0), PP_EPIPE, "and stays so");
	is_int(sink_close(&s), PP_EPIPE, "closing tells it again");
}

static void test_file(void)
{
	char name[] = "/tmp/perfpipe-unit.XXXXXX";
	int fd = mkstemp(name), full = open("/dev/full", O_WRONLY);
	size_t in = 0;
	struct sink s;

	unlink(name);
	sink_init(&s, dup(fd));
	is_int(sink_poll_fd(&s), -1, "a file is not waited for");
	for (int i = 0; i < 10; i++, in += PIECE)
		put(&s, in);
	is_int((int64_t)sink_waiting(&s), 0, "it takes all at once");
	is_int(sink_close(&s), 0, "and is closed");
	lseek(fd, 0, SEEK_SET);
	is_int(take(fd, 0, SIZE_MAX), (int64_t)in, "its bytes are right");
	close(fd);
	if (full >= 0) {
		sink_init(&s, full);
		is_int(put(&s, 0), pp_errno(ENOSPC), "a full device");
		is_int(s.errnum, ENOSPC, "and why");
		sink_close(&s);
	}
}

static void test_words(void)
{
	struct record_config c = {0};
	struct buf why = BUF_INIT;
	char *none[] = {NULL}, *two[] = {"2.5", NULL}, *tiny[] = {"0.25", NULL},
	     *zero[] = {"0", NULL}, *both[] = {"2", "ls", NULL}, *ls[] = {"ls", "-l", NULL},
	     *odd[] = {"1e3", NULL}, *unit[] = {"1s", NULL}, *ms[] = {"250ms", NULL},
	     *nothing[] = {"7z", NULL};

	is_int(record_set_end(&c, none, false, &why), 0, "no end");
	ok(c.whom.all_cpus && !c.duration_ns && !c.command, "everything, until it is stopped");
	c = (struct record_config){0};
	is_int(record_set_end(&c, two, false, &why), 0, "2.5 seconds");
	is_u64(c.duration_ns, 2500000000u, "are so many ns");
	ok(c.whom.all_cpus, "of everything");
	c = (struct record_config){.whom.pids = "1"};
	is_int(record_set_end(&c, tiny, false, &why), 0, "0.25 seconds of a process");
	is_u64(c.duration_ns, 250000000u, "are so many ns (2)");
	ok(!c.whom.all_cpus, "of that process");
	c = (struct record_config){0};
	is_int(record_set_end(&c, two, true, &why), 0, "-- 2.5");
	ok(c.command == two && !c.duration_ns && !c.whom.all_cpus, "is a command");
	c = (struct record_config){.whom.cpus = "0"};
	is_int(record_set_end(&c, ls, false, &why), 0, "-C 0 ls -l");
	ok(c.command == ls && c.whom.all_cpus, "is a command that says how long");
	c = (struct record_config){0};
	is_int(record_set_end(&c, odd, false, &why), 0, "1e3");
	ok(c.command == odd, "is no number of seconds");
	c = (struct record_config){0};
	is_int(record_set_end(&c, unit, false, &why), 0, "1s");
	ok(!c.command && c.duration_ns == 1000000000u, "is one second");
	is_int(record_set_end(&c, ms, false, &why), 0, "250ms");
	ok(!c.command && c.duration_ns == 250000000u, "are a quarter of one");
	is_int(record_set_end(&c, nothing, false, &why), 0, "7z");
	ok(c.command == nothing, "is a command");
	is_int(record_set_end(&c, zero, false, &why), PP_EUSAGE, "no time at all");
	is_int(record_set_end(&c, both, false, &why), PP_EUSAGE, "seconds and a command");
	c = (struct record_config){0};
	is_int(record_set_freq(&c, "max", &why), 0, "-F max");
	ok(c.freq_max && !c.freq, "is no number");
	is_int(record_set_freq(&c, "4k", &why), 0, "-F 4k");
	is_u64(c.freq, 4000, "is 4000");
	is_int(record_set_freq(&c, "0", &why), PP_EUSAGE, "-F 0");
	is_int(record_set_freq(&c, "fast", &why), PP_EUSAGE, "-F fast");
	is_int(record_set_period(&c, "1M", &why), 0, "-c 1M");
	is_u64(c.period, 1000000, "is a million");
	is_int(record_set_pages(&c, "64", &why), 0, "-m 64");
	is_int(record_set_pages(&c, "65", &why), PP_EUSAGE, "-m 65");
	is_int(record_set_pages(&c, "131072", &why), PP_EUSAGE, "-m 131072");
	is_int(record_set_clock(&c, "boottime", &why), 0, "-k boottime");
	ok(c.use_clock && c.clock == CLOCK_BOOTTIME, "is that clock");
	is_int(record_set_clock(&c, "sundial", &why), PP_EUSAGE, "-k sundial");
	buf_release(&why);
}

int main(void)
{
	signal(SIGPIPE, SIG_IGN);
	test_slow_reader();
	test_file();
	test_words();
	return done();
}
