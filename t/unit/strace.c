/*
 * What pstrace makes of events that no machine at hand records: those of perf trace's BPF programs
 * with paths and addresses of sockets, probes with such addresses, and user registers that tell
 * calls of 32 bits.
 */
#include "strace/strace.h"
#include "stream_make.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <stdlib.h>
#include <sys/un.h>
#include <unistd.h>

enum { BPF = 1, EXIT, ENTER, PROBE };

static struct made m;
static uint64_t now;
static char text[65536];

static void add_field(struct buf *b, const char *name, uint32_t offset, uint32_t size,
		      uint32_t flags)
{
	struct ps_event_field f = {.offset = offset,
				   .size = size,
				   .element = flags & PS_FIELD_ARRAY ? 8 : size,
				   .flags = flags,
				   .name = ps_str(name, strlen(name)),
				   .type = ps_str("long", 4)};

	ps_event_field_add(b, &f);
}

static void add_event(uint32_t id, const char *name, const struct buf *fields)
{
	struct ps_event e = {.id = id,
			     .perf_type = fields ? 2 : 1,
			     .name = ps_str(name, strlen(name)),
			     .fields = ps_str(fields ? (const char *)fields->data : NULL,
					      fields ? fields->len : 0)};

	swriter_put(&m.w, PS_EVENT, 1, &e);
}

static void begin(void)
{
	struct buf fields = BUF_INIT;

	made_begin(&m);
	add_event(BPF, "__augmented_syscalls__", NULL);
	add_field(&fields, "id", 8, 8, PS_FIELD_SIGNED);
	add_field(&fields, "ret", 16, 8, PS_FIELD_SIGNED);
	add_event(EXIT, "raw_syscalls:sys_exit", &fields);
	buf_reset(&fields);
	add_field(&fields, "id", 8, 8, PS_FIELD_SIGNED);
	add_field(&fields, "args", 16, 48, PS_FIELD_ARRAY);
	add_event(ENTER, "raw_syscalls:sys_enter", &fields);
	buf_reset(&fields);
	add_field(&fields, "sockaddr", 8, 16, PS_FIELD_ARRAY);
	add_event(PROBE, "probe_libc:connect", &fields);
	buf_release(&fields);
}

static void sample(uint32_t event, const void *bytes, size_t len, uint64_t abi)
{
	static const uint64_t none[1];
	struct ps_sample s = {.event = event,
			      .time = now += 1000,
			      .pid = 7,
			      .tid = 7,
			      .fields = PS_HAS(payload) | (abi ? PS_HAS(user_regs) : 0),
			      .user_regs = {abi, 0, none},
			      .payload = ps_str(bytes, len)};

	swriter_sample(&m.w, 1, &s);
}

/* A call that begins, with what is told of it, and ends. */
static void call(uint32_t event, uint64_t number, const uint64_t *args, const void *told,
		 size_t len, int64_t ret, uint64_t abi)
{
	struct buf b = BUF_INIT;
	uint64_t end[] = {0, number, (uint64_t)ret};

	buf_fill(&b, 0, 8);
	buf_add(&b, &number, 8);
	buf_add(&b, args, 48);
	buf_add(&b, told, len);
	sample(event, b.data, b.len, abi);
	sample(EXIT, end, sizeof(end), abi);
	buf_release(&b);
}

/* A size, an error and bytes, as newer programs of perf have them. */
static void told(struct buf *b, const void *bytes, uint32_t len, int32_t err)
{
	buf_add(b, &len, 4);
	buf_add(b, &err, 4);
	buf_add(b, bytes, len);
}

static void run(const struct strace_opts *o)
{
	char in[] = "strace-XXXXXX", *names[] = {in};
	int fd = mkstemp(in), out[2];
	struct strace *s;
	size_t n = 0;
	ssize_t got;

	made_end(&m, 0);
	if (fd < 0 || pipe(out) || write(fd, m.bytes.data, m.bytes.len) != (ssize_t)m.bytes.len ||
	    strace_new(&s, o, out[1], NULL))
		abort();
	strace_close(s, strace_files(s, names, 1));
	strace_free(s);
	close(out[1]);
	close(fd);
	while ((got = read(out[0], text + n, sizeof(text) - 1 - n)) > 0)
		n += (size_t)got;
	text[n] = 0;
	close(out[0]);
	unlink(in);
	made_free(&m);
}

static void has(const char *what, const char *name)
{
	if (!ok(strstr(text, what) != NULL, "%s", name))
		printf("# no \"%s\" in\n%s", what, text);
}

static void test_paths(void)
{
	const uint64_t open_args[6] = {(uint64_t)-100, 0x1000, 0}, fd[6] = {3, 0x2000, 10},
		       rename_args[6] = {0x1000, 0x2000};
	struct strace_opts o = {0};
	struct buf b = BUF_INIT;

	begin();
	told(&b, "/etc/passwd", 12, 0);
	call(BPF, 257, open_args, b.data, b.len, 3, 0);
	call(ENTER, 0, fd, NULL, 0, 10, 0);
	buf_reset(&b);
	told(&b, "old", 4, 0);
	told(&b, "new\x1b", 5, 0);
	call(BPF, 82, rename_args, b.data, b.len, -2, 0);
	buf_reset(&b);
	told(&b, "", 0, -14);
	call(BPF, 257, open_args, b.data, b.len, -14, 0);
	/* A size that is not there. */
	memset(b.data, 0xff, 4);
	call(BPF, 257, open_args, b.data, b.len, -2, 0);
	call(BPF, 257, open_args, b.data, 3, -2, 0);
	sample(BPF, "", 1, 0);
	run(&o);
	has("openat(dfd: AT_FDCWD, filename: \"/etc/passwd\", flags: O_RDONLY) = 3</etc/passwd>\n",
	    "a path");
	has("read(fd: 3</etc/passwd>, buf: 0x2000, count: 10) = 10\n", "of a descriptor");
	has("rename(oldname: \"old\", newname: \"new\\x1b\") = -1 ENOENT", "two paths");
	has("filename: 0x1000, flags: O_RDONLY) = -1 EFAULT", "one that could not be read");
	has("filename: 0x1000, flags: O_RDONLY) = -1 ENOENT", "one that is cut off");
	buf_release(&b);
}

static void test_sockets(void)
{
	struct sockaddr_in in = {.sin_family = AF_INET, .sin_port = htons(80)};
	struct sockaddr_in6 in6 = {.sin6_family = AF_INET6, .sin6_port = htons(443)};
	struct sockaddr_un un = {.sun_family = AF_UNIX, .sun_path = "/run/x"};
	struct sockaddr_un none = {.sun_family = AF_UNIX, .sun_path = "\0bus"};
	const uint64_t args[6] = {5, 0x1000, sizeof(in)}, args6[6] = {6, 0x1000, sizeof(in6)},
		       unargs[6] = {7, 0x1000, sizeof(un)}, noargs[6] = {8, 0x1000, 6},
		       data[6] = {5, 0x2000, 4};
	char payload[8 + sizeof(in)] = {0};
	struct strace_opts o = {0};
	struct buf b = BUF_INIT;

	inet_pton(AF_INET, "127.0.0.1", &in.sin_addr);
	inet_pton(AF_INET6, "::1", &in6.sin6_addr);
	begin();
	call(BPF, 42, args, &in, sizeof(in), 0, 0);
	call(ENTER, 1, data, NULL, 0, 4, 0);
	buf_reset(&b);
	told(&b, &in6, sizeof(in6), 0);
	call(BPF, 42, args6, b.data, b.len, -115, 0);
	call(BPF, 49, unargs, &un, sizeof(un), 0, 0);
	call(BPF, 42, noargs, &none, 6, -111, 0);
	call(BPF, 42, args, &in, 1, -22, 0);
	memcpy(payload + 8, &in, sizeof(in));
	sample(PROBE, payload, sizeof(payload), 0);
	call(ENTER, 42, args, NULL, 0, -4, 0);
	run(&o);
	has("connect(fd: 5<{AF_INET, 127.0.0.1:80}>, uservaddr: {AF_INET, 127.0.0.1:80}, "
	    "addrlen: 16) = 0\n",
	    "AF_INET, bytes only");
	has("write(fd: 5<{AF_INET, 127.0.0.1:80}>, buf: 0x2000, count: 4) = 4\n",
	    "the descriptor's");
	has("uservaddr: {AF_INET6, [::1]:443}, addrlen: 28) = -1 EINPROGRESS",
	    "AF_INET6, with a head");
	has("bind(fd: 7, umyaddr: {AF_UNIX, \"/run/x\"}", "AF_UNIX");
	has("uservaddr: {AF_UNIX, \"@bus\"}", "a name that is no file's");
	has("uservaddr: {1 bytes}, addrlen: 16) = -1 EINVAL", "cut off");
	has("uservaddr: {AF_INET, 127.0.0.1:80}, addrlen: 16) = -1 EINTR", "told by a probe");
	buf_release(&b);
}

static void test_abi(void)
{
	const uint64_t args[6] = {0x1000};
	struct strace_opts o = {0};

	begin();
	call(ENTER, 5, args, NULL, 0, -2, 1);
	call(ENTER, 5, args, NULL, 0, -9, 2);
	call(ENTER, 1u << 30, args, NULL, 0, -5, 2);
	run(&o);
	has(" open(filename: 0x1000, flags: O_RDONLY) = -1 ENOENT", "registers of 32 bits");
	has(" fstat(fd: 4096, statbuf: NULL) = -1 EBADF", "of 64 bits");
	has(" read(fd: 4096, buf: NULL, count: 0) = -1 EIO", "a call of x32");
	o.abis[o.nabis++] = "64:7";
	begin();
	call(ENTER, 5, args, NULL, 0, -2, 1);
	run(&o);
	has(" fstat(", "--abi has the last word");
}

int main(void)
{
	test_paths();
	test_sockets();
	test_abi();
	return done();
}
