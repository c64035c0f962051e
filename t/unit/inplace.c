/* lib/inplace: lines in the kernel's syntax, and groups that say whose they are. */
#include "inplace/line.h"
#include "inplace/owner.h"

#include "base/err.h"
#include "tap.h"

#include <stdio.h>
#include <sys/wait.h>
#include <unistd.h>

struct row {
	const char *text;
	bool kernels;
	int rc;
	const char *written; /* as event "e" of group "g" */
	const char *group, *event;
	enum tracefs_list list;
};

static const struct row rows[] = {
	{"p:probe_a/f /bin/a:0x10 x=%di", true, 0, "p:g/e /bin/a:0x10 x=%di", "probe_a", "f",
	 TRACEFS_UPROBES},
	{"  p:f   /bin/a:0x10  ", true, 0, "p:g/e /bin/a:0x10", "uprobes", "f", TRACEFS_UPROBES},
	{"p:a.b /bin/a:0x10", true, 0, "p:g/e /bin/a:0x10", "a", "b", TRACEFS_UPROBES},
	{"p /bin/a-b:0x10(0x20)", true, 0, "p:g/e /bin/a-b:0x10(0x20)", "uprobes", "p_a_b_0x10",
	 TRACEFS_UPROBES},
	{"r:k/f vfs_read $retval", true, 0, "r:g/e vfs_read $retval", "k", "f", TRACEFS_KPROBES},
	{"r100:k/f vfs_read", true, 0, "r100:g/e vfs_read", "k", "f", TRACEFS_KPROBES},
	{"f:k/f vfs_read%return", true, 0, "f:g/e vfs_read%return", "k", "f", TRACEFS_DYNAMIC},
	{"p:k/f", true, PP_EUSAGE, NULL, NULL, NULL, 0},
	{"p:/f /bin/a:1", false, PP_EUSAGE, NULL, NULL, NULL, 0},
	{"p:k/ /bin/a:1", true, PP_EUSAGE, NULL, NULL, NULL, 0},
	{"p:k/a/b /bin/a:1", true, PP_EUSAGE, NULL, NULL, NULL, 0},
	{"p:k/a-b /bin/a:1", true, PP_EUSAGE, NULL, NULL, NULL, 0},
	{"p99999999999999999:k/a /bin/a:1", true, PP_EUSAGE, NULL, NULL, NULL, 0},
	{"p:aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa /bin/a:1", true,
	 PP_EUSAGE, NULL, NULL, NULL, 0},
	/* Those of pprobe. */
	{"p", false, PP_EUSAGE, NULL, NULL, NULL, 0},
	{"p:12 x", false, PP_EUSAGE, NULL, NULL, NULL, 0},
	{"read%return $retval", false, PP_EUSAGE, NULL, NULL, NULL, 0},
	{"r x", false, 0, "r:g/e x", "kprobes", "r_x", TRACEFS_KPROBES},
	{"", false, PP_EUSAGE, NULL, NULL, NULL, 0},
};

static void test_lines(void)
{
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		const struct row *r = &rows[i];
		struct buf why = BUF_INIT, out = BUF_INIT;
		struct probe_line l;

		is_int(line_is_kernels(r->text), r->kernels, "'%s': whose syntax", r->text);
		is_int(line_parse(&l, r->text, strlen(r->text), &why), r->rc, "'%s'", r->text);
		ok(!r->rc == !why.len, "'%s': a reason if it is wrong", r->text);
		if (!r->rc) {
			line_write(&l, "g", "e", &out);
			is_str(buf_str(&out), r->written, "'%s': written again", r->text);
			is_str(l.group, r->group, "its group");
			is_str(l.event, r->event, "its event");
			is_int(l.list, r->list, "its list");
		}
		buf_release(&why);
		buf_release(&out);
	}
}

/* The group of a process that ends; waited for or not. */
static pid_t ended(char *group, bool wait_for_it)
{
	int p[2];
	char byte;
	pid_t pid;

	if (pipe(p))
		return 0;
	pid = fork();
	if (!pid) {
		ssize_t n = owner_group(group) ? 0 : write(p[1], group, OWNER_GROUP_MAX + 1);

		_exit(n < 0);
	}
	close(p[1]);
	if (read(p[0], group, OWNER_GROUP_MAX + 1) != OWNER_GROUP_MAX + 1)
		group[0] = 0;
	/* The end of the pipe: it has closed its files. */
	while (read(p[0], &byte, 1) > 0)
		;
	close(p[0]);
	if (wait_for_it)
		waitpid(pid, NULL, 0);
	else
		waitid(P_PID, (id_t)pid, &(siginfo_t){0}, WEXITED | WNOWAIT);
	return pid;
}

static void test_owners(void)
{
	static const char *const strange[] = {
		"pcap_1_2_3", "pcap_1_2_3_4", "pcap_01_2_3", "pcap_-1_2_3",
		"pcap_x",     "pcap_1_2_3x",  "probe_1_2_3", "",
		"pcap_",
	};
	char group[OWNER_GROUP_MAX + 1] = "", dead[OWNER_GROUP_MAX + 1] = "", other[64];
	pid_t pid;

	is_int(owner_group(group), 0, "the group of this process");
	ok(!strncmp(group, OWNER_PREFIX, strlen(OWNER_PREFIX)), "begins as all do");
	ok(!owner_gone(group), "it lives");
	ended(dead, true);
	ok(dead[0] && owner_gone(dead), "one that has ended: %s", dead);
	pid = ended(dead, false);
	ok(dead[0] && owner_gone(dead), "one that nobody has waited for");
	waitpid(pid, NULL, 0);
	/* The same id, but a process that started at another time. */
	snprintf(other, sizeof(other), OWNER_PREFIX "%d_%s", (int)getpid(),
		 strchr(group + strlen(OWNER_PREFIX), '_') + 1);
	is_str(other, group, "the parts of the name");
	snprintf(other, sizeof(other), OWNER_PREFIX "%d_1%s", (int)getpid(), strrchr(group, '_'));
	ok(owner_gone(other), "another process that had this id");
	for (size_t i = 0; i < sizeof(strange) / sizeof(strange[0]); i++)
		ok(!owner_gone(strange[i]), "'%s' is left alone", strange[i]);
}

int main(void)
{
	test_lines();
	test_owners();
	return done();
}
