/*
 * Every type of record and every field of a sample, in both byte orders: made here number by
 * number, as <linux/perf_event.h> and tools/lib/perf/include/perf/event.h lay them out, and
 * compared with what the stream has of them, as JSON. With an argument, the recordings are written
 * to that folder.
 */
#include "base/err.h"
#include "input/input.h"
#include "perfdata/known_stacks.h"
#include "perfdata_make.h"
#include "print/text.h"
#include "tap.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#define ID_ALL (1u << 18)

static const char *dump; /* folder that recordings are written to */

static int collect(void *ctx, uint8_t *bytes, size_t n)
{
	buf_add(ctx, bytes, n);
	return ((struct buf *)ctx)->err;
}

/*
 * Adds numbers: b, h, w, q of 1, 2, 4, 8 bytes, given as int or uint64_t (q); t a text, padded to
 * 8; x a text in a field of so many bytes (text, size).
 */
static void put(struct make *m, const char *kinds, va_list ap)
{
	for (; *kinds; kinds++) {
		const char *s;
		size_t n, len;

		switch (*kinds) {
		case 'b': buf_addc(&m->b, (char)va_arg(ap, int)); break;
		case 'h': make_u16(m, (uint16_t)va_arg(ap, int)); break;
		case 'w': make_u32(m, (uint32_t)va_arg(ap, int)); break;
		case 'q': make_u64(m, va_arg(ap, uint64_t)); break;
		case 't': make_text(m, va_arg(ap, const char *)); break;
		case 'x':
			s = va_arg(ap, const char *);
			n = (size_t)va_arg(ap, int);
			len = strlen(s);
			buf_add(&m->b, s, len);
			buf_fill(&m->b, 0, n - len);
			break;
		}
	}
}

#define Q(v) (uint64_t)(v)

/* A record without a trailer. */
static void own(struct make *m, uint32_t type, uint16_t misc, const char *kinds, ...)
{
	va_list ap;

	make_record(m, type, misc);
	va_start(ap, kinds);
	put(m, kinds, ap);
	va_end(ap);
	make_end(m);
}

/* A record of the kernel at a time, with the trailer of sample_id_all. */
static void rec(struct make *m, uint32_t type, uint16_t misc, uint64_t time, const char *kinds, ...)
{
	va_list ap;

	make_record(m, type, misc);
	va_start(ap, kinds);
	put(m, kinds, ap);
	va_end(ap);
	make_u32(m, 11); /* pid, tid */
	make_u32(m, 12);
	make_u64(m, time);
	make_u64(m, 50); /* id */
	make_u32(m, 3);	 /* cpu */
	make_u32(m, 0);
	make_end(m);
}

static void save(const struct make *m, const char *name)
{
	char path[4096];
	FILE *f;

	snprintf(path, sizeof(path), "%s/%s-%s.data", dump, name, m->swap ? "swapped" : "host");
	f = fopen(path, "wb");
	if (!f || fwrite(m->b.data, 1, m->b.len, f) != m->b.len || fclose(f))
		perror(path);
}

/* The lines of JSON that it becomes, but for those about source, events, and objects. */
static char *decode_to(int want, struct make *m, const char *name, struct ps_end *end)
{
	struct buf stream = BUF_INIT, text = BUF_INIT, kept = BUF_INIT;
	struct out out, lines;
	const struct ps_record *r;
	struct sreader *back;
	struct stext *json;
	struct swriter w;
	struct src *src;
	char *at, *nl;

	*end = (struct ps_end){0};
	if (m->data)
		make_finish(m);
	if (dump)
		save(m, name);
	if (out_init_fn(&out, collect, &stream) || src_from_mem(&src, m->b.data, m->b.len, name))
		abort();
	swriter_init(&w, &out);
	swriter_header(&w);
	is_int(input_decode(src, 1, &w, NULL, end), want, "%s: decoded", name);
	swriter_end(&w, end);
	out_close(&out);
	if (out_init_fn(&lines, collect, &text) ||
	    stext_new(&json, &lines, &(struct stext_opts){.form = STEXT_JSON}, NULL) ||
	    src_from_mem(&src, stream.data, stream.len, "stream") ||
	    sreader_new(&back, src, STEXT_KEEP, NULL))
		abort();
	while (!sreader_next(back, &r))
		stext_record(json, back, r);
	stext_free(json);
	out_flush(&lines);
	for (at = (char *)text.data; at && (nl = strchr(at, '\n')); at = nl + 1)
		if (strncmp(at, "{\"type\":\"source", 15) && strncmp(at, "{\"type\":\"event", 14) &&
		    strncmp(at, "{\"type\":\"dso", 12) && strncmp(at, "{\"type\":\"end", 12))
			buf_add(&kept, at, (size_t)(nl + 1 - at));
	sreader_free(back);
	out_release(&out);
	out_release(&lines);
	buf_release(&stream);
	buf_release(&text);
	buf_release(&m->b);
	return (char *)kept.data;
}

static char *decode(struct make *m, const char *name, struct ps_end *end)
{
	return decode_to(0, m, name, end);
}

static void check(char *got, const char *const *want, const char *name)
{
	char *at = got;

	for (; *want; want++) {
		char *nl = at ? strchr(at, '\n') : NULL;

		if (nl)
			*nl = 0;
		is_str(at, *want, "%s: %.40s", name, *want + 9);
		at = nl ? nl + 1 : NULL;
	}
	ok(at && !*at, "%s: and no more", name);
	free(got);
}

/* ---- the kernel's records ---- */

#define CTX(time) "\"source\":1,\"time\":" #time ",\"cpu\":3,\"pid\":11,\"tid\":12"

static void test_kernel(bool swap)
{
	static const char *const want[] = {
		"{\"type\":\"mmap\"," CTX(
			1) ",\"dso\":1,\"addr\":\"0x400000\",\"len\":4096,"
			   "\"pgoff\":\"0x1000\",\"prot\":"
			   "0,\"map_flags\":0,\"maj\":0,\"min\":0,\"ino\":0,\"ino_generation\":0,"
			   "\"flags\":0}",
		"{\"type\":\"lost\"," CTX(
			2) ",\"event\":1,\"count\":7,\"flags\":0,\"kind\":1,\"buffer\":\"\"}",
		"{\"type\":\"comm\"," CTX(3) ",\"comm\":\"worker\",\"flags\":1}",
		"{\"type\":\"exit\",\"source\":1,\"time\":4,\"cpu\":3,\"pid\":21,"
		"\"tid\":23,\"ppid\":22,"
		"\"ptid\":24,\"flags\":0}",
		"{\"type\":\"throttle\"," CTX(
			5) ",\"event\":1,\"id\":50,\"stream_id\":51,\"flags\":0}",
		"{\"type\":\"throttle\"," CTX(
			6) ",\"event\":1,\"id\":50,\"stream_id\":51,\"flags\":1}",
		"{\"type\":\"fork\",\"source\":1,\"time\":7,\"cpu\":3,\"pid\":21,"
		"\"tid\":23,\"ppid\":22,"
		"\"ptid\":24,\"flags\":0}",
		"{\"type\":\"read\"," CTX(
			8) ",\"event\":1,\"format\":23,\"values\":[100,101,102,50,104]}",
		"{\"type\":\"mmap\"," CTX(10) ",\"dso\":2,\"addr\":\"0x500000\",\"len\":8192,"
					      "\"pgoff\":\"0x2000\",\"prot\":"
					      "5,\"map_flags\":2,\"maj\":8,\"min\":1,\"ino\":77,"
					      "\"ino_generation\":78,"
					      "\"flags\":0}",
		"{\"type\":\"mmap\"," CTX(
			11) ",\"dso\":3,\"addr\":\"0x600000\",\"len\":8192,"
			    "\"pgoff\":\"0x2000\",\"prot\":"
			    "5,\"map_flags\":2,\"maj\":0,\"min\":0,\"ino\":0,\"ino_generation\":0,"
			    "\"flags\":0}",
		"{\"type\":\"aux\"," CTX(
			12) ",\"kind\":11,\"offset\":4096,\"size\":512,\"flags\":1}",
		"{\"type\":\"lost\"," CTX(
			12) ",\"event\":0,\"count\":0,\"flags\":1,\"kind\":4,\"buffer\":\"\"}",
		"{\"type\":\"aux\",\"source\":1,\"time\":13,\"cpu\":3,\"pid\":31,"
		"\"tid\":32,\"kind\":12,"
		"\"offset\":0,\"size\":0,\"flags\":0}",
		"{\"type\":\"lost\"," CTX(
			14) ",\"event\":1,\"count\":5,\"flags\":0,\"kind\":2,\"buffer\":\"\"}",
		"{\"type\":\"switch\"," CTX(16) ",\"flags\":3,\"other_pid\":0,\"other_tid\":0}",
		"{\"type\":\"switch\"," CTX(17) ",\"flags\":4,\"other_pid\":41,\"other_tid\":42}",
		"{\"type\":\"namespaces\"," CTX(
			18) ",\"inner\":7,\"links\":[3,4026531840,4,4026531841]}",
		"{\"type\":\"ksymbol\"," CTX(
			19) ",\"len\":256,\"addr\":\"0xffffffffc0001000\",\"ksym_type\":1,"
			    "\"flags\":1,"
			    "\"name\":\"bpf_prog_1\"}",
		"{\"type\":\"bpf\"," CTX(
			20) ",\"bpf_type\":1,\"id\":9,\"flags\":0,\"tag\":\"0102030405060708\"}",
		"{\"type\":\"cgroup\"," CTX(21) ",\"id\":1234,\"path\":\"/user.slice\"}",
		"{\"type\":\"text_poke\"," CTX(
			22) ",\"addr\":\"0xffffffff81000000\",\"old_text\":\"9090\",\"new_text\":"
			    "\"e80102\"}",
		"{\"type\":\"aux\"," CTX(23) ",\"kind\":21,\"offset\":0,\"size\":0,\"flags\":99}",
		NULL};
	const struct make_attr attr = {.period = 1,
				       .sample_type = 1 | 2 | 4 | 64 | 128,
				       .read_format = 1 | 2 | 4 | 16,
				       .flags = ID_ALL,
				       .id = 50};
	struct make m = {.swap = swap};
	struct ps_end end;

	make_begin(&m, &attr, 1);
	rec(&m, PERF_REC_MMAP, 2, 1, "wwqqqt", 11, 12, Q(0x400000), Q(4096), Q(0x1000), "/bin/a");
	rec(&m, PERF_REC_LOST, 0, 2, "qq", Q(50), Q(7));
	rec(&m, PERF_REC_COMM, PERF_MISC_COMM_EXEC, 3, "wwt", 11, 12, "worker");
	rec(&m, PERF_REC_EXIT, 0, 4, "wwwwq", 21, 22, 23, 24, Q(4));
	rec(&m, PERF_REC_THROTTLE, 0, 5, "qqq", Q(5), Q(50), Q(51));
	rec(&m, PERF_REC_UNTHROTTLE, 0, 6, "qqq", Q(6), Q(50), Q(51));
	rec(&m, PERF_REC_FORK, 0, 7, "wwwwq", 21, 22, 23, 24, Q(7));
	rec(&m, PERF_REC_READ, 0, 8, "wwqqqqq", 11, 12, Q(100), Q(101), Q(102), Q(50), Q(104));
	rec(&m, PERF_REC_MMAP2, 2, 10, "wwqqqwwqqwwt", 11, 12, Q(0x500000), Q(8192), Q(0x2000), 8,
	    1, Q(77), Q(78), 5, 2, "/bin/b");
	rec(&m, PERF_REC_MMAP2, 2 | PERF_MISC_MMAP_BUILD_ID, 11, "wwqqqbbhxwwt", 11, 12,
	    Q(0x600000), Q(8192), Q(0x2000), 20, 0, 0, "01234567890123456789", 20, 5, 2, "/bin/c");
	rec(&m, PERF_REC_AUX, 0, 12, "qqq", Q(4096), Q(512), Q(1));
	rec(&m, PERF_REC_ITRACE_START, 0, 13, "ww", 31, 32);
	rec(&m, PERF_REC_LOST_SAMPLES, 0, 14, "q", Q(5));
	rec(&m, PERF_REC_LOST_SAMPLES, PERF_MISC_LOST_SAMPLES_BPF, 15, "q", Q(5));
	rec(&m, PERF_REC_SWITCH, PERF_MISC_SWITCH_OUT | 1 << 14, 16, "");
	rec(&m, PERF_REC_SWITCH_CPU_WIDE, 0, 17, "ww", 41, 42);
	rec(&m, PERF_REC_NAMESPACES, 0, 18, "wwqqqqqqq", 11, 12, Q(3), Q(3), Q(4026531840), Q(4),
	    Q(4026531841), PERF_NS_INNER_MARK, Q(7));
	rec(&m, PERF_REC_KSYMBOL, 0, 19, "qwhht", Q(0xffffffffc0001000), 256, 1, 1, "bpf_prog_1");
	rec(&m, PERF_REC_BPF_EVENT, 0, 20, "hhwx", 1, 0, 9, "\1\2\3\4\5\6\7\10", 8);
	rec(&m, PERF_REC_CGROUP, 0, 21, "qt", Q(1234), "/user.slice");
	rec(&m, PERF_REC_TEXT_POKE, 0, 22, "qhhx", Q(0xffffffff81000000), 2, 3, "\x90\x90\xe8\1\2",
	    12);
	rec(&m, PERF_REC_AUX_OUTPUT_HW_ID, 0, 23, "q", Q(99));
	check(decode(&m, "kernel", &end), want, "kernel");
	is_u64(end.lost, 12, "kernel: lost records and samples are counted, dropped ones are not");
}

/* Of a type that is not known the bytes travel. */
/*
 * What was lost is told by the kernel as it goes, and by perf at the end once more: not twice as
 * much.
 */
static void test_lost(bool swap)
{
	static const struct {
		unsigned ring, end, dropped, want;
	} t[] = {{7, 7, 0, 7}, {7, 9, 0, 9},  {0, 9, 0, 9},
		 {7, 0, 0, 7}, {7, 9, 5, 14}, {0, 0, 5, 5}};
	const struct make_attr attr = {.period = 1,
				       .sample_type = 1 | 2 | 4 | 64 | 128,
				       .read_format = 4 | 16,
				       .flags = ID_ALL,
				       .id = 50};

	for (size_t i = 0; i < sizeof(t) / sizeof(t[0]); i++) {
		struct make m = {.swap = swap};
		struct ps_end end;

		make_begin(&m, &attr, 1);
		/* In two parts each. */
		for (unsigned part = 0; part < 2; part++) {
			if (t[i].ring)
				rec(&m, PERF_REC_LOST, 0, 2 + part, "qq", Q(50),
				    Q(part ? 3 : t[i].ring - 3));
			if (t[i].dropped)
				rec(&m, PERF_REC_LOST_SAMPLES, 0, 4 + part, "q",
				    Q(part ? 1 : t[i].dropped - 1));
		}
		for (unsigned part = 0; part < 2 && t[i].end; part++)
			rec(&m, PERF_REC_LOST_SAMPLES, 0, 0, "q", Q(part ? 2 : t[i].end - 2));
		free(decode(&m, "lost", &end));
		is_u64(end.lost, t[i].want, "lost: %u in the ring, %u at the end, %u dropped",
		       t[i].ring, t[i].end, t[i].dropped);
	}
}

static void test_unknown(bool swap)
{
	const struct make_attr attr = {.period = 1, .sample_type = 1};
	struct make m = {.swap = swap};
	struct ps_end end;
	char *got;

	make_begin(&m, &attr, 1);
	own(&m, 60, 5, "q", Q(0x1122334455667788));
	got = decode(&m, "unknown", &end);
	ok(got && strstr(got, "{\"type\":\"other\"") &&
		   strstr(got, "\"record_type\":60,\"misc\":5"),
	   "a record of an unknown type travels as it is");
	free(got);
}

/* ---- perf's own records ---- */

#define META(key, value) \
	"{\"type\":\"meta\",\"source\":1,\"key\":\"" key "\",\"value\":\"" value "\"}"

static void test_session(bool swap)
{
	static const char *const want[] = {
		META("thread_map", "41 one\\u000a42 two"),
		META("cpu_map", "0-2,5"),
		META("cpu_map", "0-1,33"),
		META("cpu_map", "0-1,64"),
		META("cpu_map", "-1,4-9"),
		META("stat_config", "aggr_mode 1\\u000ainterval 100\\u000ascale 1"),
		META("time_conv",
		     "shift 31, mult 827, zero 9, cycles 1, mask 2, cap_user_time_zero 1, "
		     "cap_user_time_short 0"),
		META("time_conv", "shift 31, mult 827, zero 9"),
		META("event_unit", "cycles:HG Joules"),
		META("event_scale", "cycles:HG 0.25"),
		META("event_cpus", "cycles:HG 0-2"),
		META("auxtrace_info", "intel_pt"),
		META("bpf_metadata", "prog: key = value\\u000aprog: k = v"),
		META("hostname", "box"),
		"{\"type\":\"counter\",\"source\":1,\"event\":1,\"without\":0,"
		"\"scale\":4598175219545276416,\"unit\":\"Joules\"}",
		"{\"type\":\"count\",\"source\":1,\"time\":0,\"cpu\":2,\"tid\":42,\"event\":1,"
		"\"value\":1000,\"enabled\":2000,\"running\":1500}",
		"{\"type\":\"round\",\"source\":1,\"kind\":1,\"elapsed\":123456}",
		"{\"type\":\"aux\",\"source\":1,\"time\":0,\"cpu\":2,\"tid\":41,\"kind\":71,"
		"\"offset\":64,\"size\":16,\"flags\":5}",
		NULL};
	const struct make_attr attr = {.period = 1, .sample_type = 1, .id = 50};
	struct make m = {.swap = swap};
	double scale = 0.25;
	uint64_t bits;
	struct ps_end end;

	memcpy(&bits, &scale, 8);
	make_begin(&m, &attr, 1);
	own(&m, PERF_REC_ID_INDEX, 0, "qqqqq", Q(1), Q(50), Q(0), Q(2), Q(41));
	own(&m, PERF_REC_THREAD_MAP, 0, "qqxqx", Q(2), Q(41), "one", 16, Q(42), "two", 16);
	own(&m, PERF_REC_CPU_MAP, 0, "hhhhhhhh", 0, 4, 0, 1, 2, 5, 0, 0);
	own(&m, PERF_REC_CPU_MAP, 0, "hhhwwh", 1, 2, 4, 3, 2, 0);
	own(&m, PERF_REC_CPU_MAP, 0, "hhhwqqhw", 1, 2, 8, 0, Q(3), Q(1), 0, 0);
	own(&m, PERF_REC_CPU_MAP, 0, "hbbhh", 2, 1, 0, 4, 9);
	own(&m, PERF_REC_STAT_CONFIG, 0, "qqqqqqq", Q(3), Q(0), Q(1), Q(1), Q(100), Q(2), Q(1));
	own(&m, PERF_REC_TIME_CONV, 0, "qqqqqbbhw", Q(31), Q(827), Q(9), Q(1), Q(2), 1, 0, 0, 0);
	own(&m, PERF_REC_TIME_CONV, 0, "qqq", Q(31), Q(827), Q(9)); /* before Linux 5.9 */
	own(&m, PERF_REC_EVENT_UPDATE, 0, "qqt", Q(0), Q(50), "Joules");
	own(&m, PERF_REC_EVENT_UPDATE, 0, "qqq", Q(1), Q(50), bits);
	own(&m, PERF_REC_EVENT_UPDATE, 0, "qqhhhhhhhh", Q(3), Q(50), 0, 3, 0, 1, 2, 0, 0, 0);
	own(&m, PERF_REC_AUXTRACE_INFO, 0, "wwq", 1, 0, Q(0));
	own(&m, PERF_REC_BPF_METADATA, 0, "xqxxxx", "prog", 512, Q(2), "key", 64, "value", 256, "k",
	    64, "v", 256);
	own(&m, PERF_REC_HEADER_FEATURE, 0, "qwx", Q(PERF_FEAT_HOSTNAME), 8, "box", 8);
	own(&m, PERF_REC_FINISHED_INIT, 0, "");
	own(&m, PERF_REC_STAT, 0, "qwwqqq", Q(50), 2, 1, Q(1000), Q(2000), Q(1500));
	own(&m, PERF_REC_STAT_ROUND, 0, "qq", Q(1), Q(123456));
	own(&m, PERF_REC_AUXTRACE, 0, "qqqwwww", Q(16), Q(64), Q(5), 0, 41, 2, 0);
	buf_fill(&m.b, 'x', 16); /* the trace data */
	own(&m, PERF_REC_FINISHED_ROUND, 0, "");
	check(decode(&m, "session", &end), want, "session");
}

/* ---- samples ---- */

/*
 * All fields in one sample; its period is that of the counter value; branches with their hardware
 * index and counters.
 */
static void test_sample(bool swap)
{
	static const char *const want[] = {
		"{\"type\":\"sample\",\"source\":1,\"event\":\"cycles:HG\",\"time\":900,\"cpu\":3,"
		"\"pid\":11,\"tid\":12,\"comm\":\":12\",\"ip\":\"0x401000\","
		"\"period\":1000,\"chain\":["
		"\"0xfffffffffffffe00\",\"0x401000\",\"0x402000\"],"
		"\"payload\":\"01020304\",\"addr\":"
		"\"0xabc\",\"id\":50,\"stream_id\":51,\"weight\":33,\"data_src\":66,"
		"\"transaction\":5,"
		"\"phys_addr\":\"0x7000\",\"cgroup\":8,\"data_page_size\":4096,\"code_page_size\":"
		"2097152,\"user_regs\":{\"abi\":2,\"mask\":\"0x3\",\"regs\":[\"0x111\",\"0x222\"]},"
		"\"user_stack_size\":5,\"user_stack\":\"6162636465\","
		"\"intr_regs\":{\"abi\":2,\"mask\":"
		"\"0x3\",\"regs\":[\"0x333\",\"0x444\"]},\"branches\":[{\"from\":\"0xa\","
		"\"to\":\"0xb\","
		"\"flags\":\"0x0\"}],\"branch_counters\":[9],\"reads\":[7,1000,2000,1500,50],"
		"\"aux_size\":8}",
		NULL};
	const struct make_attr attr = {
		.period = 1,
		.sample_type = (1u << 24) - 1,
		.read_format = 1 | 2 | 4,
		.branch_type = 1u << 17 | 1u << 19,
		.regs_intr = 3,
		.id = 50,
	};
	struct make m = {.swap = swap};
	struct ps_end end;

	make_begin(&m, &attr, 1);
	own(&m, PERF_REC_SAMPLE, 2,
	    "qqwwqqqqwwq"
	    "qqqq"
	    "qqqq"
	    "wx"
	    "qqqqqq"
	    "qqq"
	    "qxq"
	    "qqq"
	    "qqq"
	    "qqqq"
	    "qx",
	    Q(50), Q(0x401000), 11, 12, Q(900), Q(0xabc), Q(50), Q(51), 3, 0, Q(77), /* period */
	    Q(1000), Q(2000), Q(1500), Q(50),					     /* reads */
	    Q(3), Q(0xfffffffffffffe00), Q(0x401000), Q(0x402000),		     /* chain */
	    4, "\1\2\3\4", 4,							     /* raw */
	    Q(1), Q(17), Q(0xa), Q(0xb), Q(0), Q(9),				     /* branches */
	    Q(2), Q(0x111), Q(0x222),					    /* user registers */
	    Q(8), "abcde", 8, Q(5),					    /* user stack */
	    Q(33), Q(66), Q(5),						    /* weight ... */
	    Q(2), Q(0x333), Q(0x444), Q(0x7000), Q(8), Q(4096), Q(2097152), /* ... page sizes */
	    Q(8), "auxauxau", 8);
	check(decode(&m, "sample", &end), want, "sample");
}

/* The user part of a call chain comes later, in a record of its own. */
static void test_deferred(bool swap)
{
	const uint64_t kernel = UINT64_C(-128), user = UINT64_C(-512), later = UINT64_C(-640);
	const struct make_attr attr = {.period = 1, .sample_type = 1 | 2 | 4 | 32, .flags = ID_ALL};
	struct make m = {.swap = swap};
	struct ps_end end;
	char *got;

	make_begin(&m, &attr, 1);
	own(&m, PERF_REC_SAMPLE, 1, "qwwqqqqqq", Q(0x10), 11, 12, Q(100), Q(4), kernel, Q(0x10),
	    later, Q(5555));
	own(&m, PERF_REC_SAMPLE, 1, "qwwqqqqqq", Q(0x20), 11, 13, Q(110), Q(4), kernel, Q(0x20),
	    later, Q(5555));
	own(&m, PERF_REC_CALLCHAIN_DEFERRED, 2, "qqqqqwwq", Q(5555), Q(3), user, Q(0x401000),
	    Q(0x402000), 11, 12, Q(120));
	own(&m, PERF_REC_FINISHED_ROUND, 0, "");
	got = decode(&m, "deferred", &end);
	ok(got && strstr(got, "\"chain\":[\"0xffffffffffffff80\",\"0x10\",\"0xfffffffffffffe00\","
			      "\"0x401000\",\"0x402000\"]"),
	   "a deferred call chain is joined to its sample");
	ok(got && strstr(got, "\"tid\":13") &&
		   strstr(got, "\"chain\":[\"0xffffffffffffff80\",\"0x20\"]"),
	   "not to that of another thread");
	free(got);
}

/* A record is done with in its turn, even if its trailer means another event by then. */
static void test_deferred_renamed(bool swap)
{
	const uint64_t later = UINT64_C(-640), type = 1 << 16 | 1 | 2 | 4 | 32;
	const struct make_attr attr = {.period = 1, .sample_type = type, .flags = ID_ALL, .id = 8},
			       other = {.period = 1, .sample_type = 1 << 16 | 4, .flags = ID_ALL};
	struct make m = {.swap = swap};
	struct ps_end end;
	char *got;

	make_begin(&m, &attr, 1);
	own(&m, PERF_REC_CALLCHAIN_DEFERRED, 2, "qqqwwqq", Q(5555), Q(1), Q(0x401000), 11, 12,
	    Q(120), Q(7));
	make_record(&m, PERF_REC_HEADER_ATTR, 0);
	make_attr(&m, &other);
	make_u64(&m, 7);
	make_end(&m);
	own(&m, PERF_REC_FINISHED_ROUND, 0, "");
	own(&m, PERF_REC_FINISHED_ROUND, 0, "");
	own(&m, PERF_REC_SAMPLE, 1, "qqwwqqqq", Q(8), Q(0x10), 11, 12, Q(200), Q(2), later,
	    Q(5555));
	got = decode(&m, "deferred", &end);
	ok(got && strstr(got, "\"time\":200") && !strstr(got, "0x401000"),
	   "a sample after the deferred call chain's turn does not get it: %s", got);
	free(got);
}

/* A sample whose copy is without what is known; `wrong` is added to its check. Returns that. */
static uint32_t copy(struct make *m, uint64_t time, const struct known_copy *k, const char *bytes,
		     uint32_t wrong)
{
	struct iovec v[2];
	uint32_t sum;
	size_t at;

	make_record(m, PERF_REC_SAMPLE, 1);
	make_u64(m, 0x10); /* ip */
	make_u32(m, 11);
	make_u32(m, k->tid);
	make_u64(m, time);
	at = m->b.len;
	make_u64(m, k->left + 8u * KNOWN_COPY_WORDS);
	buf_add(&m->b, bytes, k->left);
	make_u64(m, KNOWN_COPY_MARK);
	make_u64(m, k->sp);
	make_u64(m, (uint64_t)k->tid << 32 | (uint32_t)k->left << 16 | k->bytes);
	v[0] = (struct iovec){m->b.data + m->rec + 8, at - m->rec - 8};
	v[1] = (struct iovec){m->b.data + at + 8, m->b.len - at - 8};
	sum = known_copy_check(k->before, v, 2) + wrong;
	make_u64(m, (uint64_t)k->before << 32 | sum);
	make_u64(m, k->left);
	make_end(m);
	return sum;
}

/* What is known is put back, and nothing that is not. */
static void test_copies(bool swap)
{
	const struct make_attr attr = {.period = 1, .sample_type = 1 | 2 | 4 | 1 << 13};
	/* Each with the time of its place here: their checks are right. */
	struct known_copy hostile[] = {
		{.sp = 0x7000, .bytes = 40},	     /* 100: more than is known */
		{.sp = 0x6ff0, .bytes = 16},	     /* before what is known */
		{.sp = UINT64_MAX - 7, .bytes = 16}, /* around the end of all addresses */
		{.sp = UINT64_MAX - 7, .bytes = 16, .left = 16},
		{.sp = 0x7000, .bytes = 65528},		   /* longer than a record */
		{.sp = 0x7000, .bytes = 16, .before = 77}, /* after another sample */
	};
	struct known_copy k = {.sp = 0x7000, .tid = 12, .left = 24, .bytes = 24};
	struct make m = {.swap = swap};
	struct ps_end end;
	char *got;

	make_begin(&m, &attr, 1);
	k.before = copy(&m, 10, &k, "aaaaaaaabbbbbbbbcccccccc", 0);
	k.left = 8;
	k.before = copy(&m, 11, &k, "dddddddd", 0);
	copy(&m, 12, &k, "eeeeeeee", 1);
	k.left = 0;
	k.before = copy(&m, 13, &k, "", 0);
	for (size_t i = 0; i < sizeof(hostile) / sizeof(*hostile); i++) {
		hostile[i].tid = 12;
		hostile[i].before = hostile[i].before ? hostile[i].before : k.before;
		k.before = copy(&m, 100 + i, &hostile[i], "ffffffffgggggggg", 0);
	}
	got = decode_to(PP_ECORRUPT, &m, "copies", &end);
	ok(got && strstr(got, "6161616161616161626262626262626263636363636363"), "a whole copy");
	ok(got && strstr(got,
			 "\"user_stack\":\"646464646464646462626262626262626363636363636363\""),
	   "what is known is put back");
	ok(got && !strstr(got, "6565"), "a copy whose check is wrong is left out");
	for (char *at = got; at && (at = strstr(at, "\"time\":1")); at++) {
		char *nl = strchr(at, '\n'), *stack = strstr(at, "\"user_stack\":\"");
		bool has = stack && nl && stack < nl;
		bool told = !strncmp(at + 7, "10,", 3) || !strncmp(at + 7, "11,", 3) ||
			    !strncmp(at + 7, "13,", 3) || !strncmp(at + 7, "103,", 4);

		is_int(has, told, "%.10s: %s", at, told ? "a stack" : "none is made up");
	}
	free(got);
}

/* The largest record that the kernel writes: its copy is as long as it may be. */
static void test_largest_copy(bool swap)
{
	const struct make_attr attr = {.period = 1, .sample_type = 1 | 2 | 4 | 1 << 13};
	const uint16_t most = 65528 - 32 - 2 * 8, inner = 480;
	struct known_copy k = {.sp = 0x10000 + inner, .tid = 12};
	char *bytes = calloc(1, most), *got, *stack;
	struct make m = {.swap = swap};
	struct ps_end end;

	k.left = k.bytes = most - inner;
	make_begin(&m, &attr, 1);
	k.before = copy(&m, 10, &k, bytes, 0);
	k.sp -= inner;
	k.left = inner;
	k.bytes = most | KNOWN_COPY_CUT;
	copy(&m, 11, &k, bytes, 0);
	got = decode(&m, "largest copy", &end);
	stack = got ? strstr(got, "\"time\":11") : NULL;
	stack = stack ? strstr(stack, "\"user_stack\":\"") : NULL;
	is_int(stack ? (int)strspn(stack + 14, "0") : 0, 2 * most, "the largest copy is put back");
	free(got);
	free(bytes);
}

int main(int argc, char **argv)
{
	dump = argc > 1 ? argv[1] : NULL;
	for (int swap = 0; swap < 2; swap++) {
		printf("# %s byte order\n", swap ? "the other" : "this machine's");
		test_kernel(swap);
		test_lost(swap);
		test_unknown(swap);
		test_session(swap);
		test_sample(swap);
		test_deferred(swap);
		test_deferred_renamed(swap);
		test_copies(swap);
		test_largest_copy(swap);
	}
	return done();
}
