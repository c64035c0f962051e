/*
 * The event of a line and its fields.
 *
 *	sched_wakeup: comm=rcu_preempt pid=18 prio=120 target_cpu=001
 *	sched_switch: bash:123 [120] S ==> swapper/0:0 [120]	trace-cmd's plugins
 *	sys_read(fd: 3, buf: 7ffd, count: 340)	sys_read -> 0x12
 *	vfs_open <-path_openat
 *
 * A value goes on to the next name: it may hold blanks. Values in quotes, braces, brackets and
 * parentheses end where these are closed.
 */
#include "ftext/parts.h"

/* ---- numbers ---- */

static int hex_digit(char c)
{
	if (ftext_digit(c))
		return c - '0';
	c |= 0x20;
	return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

static size_t hex(const char *p, const char *end, uint64_t *v)
{
	const char *start = p;

	for (*v = 0; p < end && hex_digit(*p) >= 0; p++)
		*v = *v << 4 | (uint64_t)hex_digit(*p);
	return (size_t)(p - start);
}

bool ftext_number(const struct ps_str *text, bool any_hex, uint64_t *v, bool *is_hex)
{
	const char *p = text->p, *end = p + text->len;
	bool minus = p < end && *p == '-';
	size_t n;

	*is_hex = false;
	p += minus;
	if (end - p > 2 && p[0] == '0' && (p[1] | 0x20) == 'x') {
		*is_hex = true;
		n = hex(p + 2, end, v);
		p += 2;
	} else if (any_hex) {
		*is_hex = true;
		n = hex(p, end, v);
	} else {
		n = 0;
		for (*v = 0; p + n < end && ftext_digit(p[n]); n++)
			*v = *v * 10 + (uint64_t)(p[n] - '0');
		if (n == 16 || (p + n < end && hex_digit(p[n]) >= 0)) {
			/* An address: 16 digits, whatever they are. */
			n = hex(p, end, v);
			*is_hex = true;
			if (n != 16)
				return false;
		}
	}
	if (!n || n > (*is_hex ? 16 : 20) || (minus && *is_hex))
		return false;
	if (minus)
		*v = 0 - *v;
	p += n;
	/* "4237984 [ns]", "0x1 (1)" */
	return p == end || (end - p > 1 && *p == ' ' && (p[1] == '[' || p[1] == '('));
}

/* ---- fields ---- */

struct ftext_pair *ftext_add(struct ftext_info *info, struct ps_str key)
{
	struct ftext_pair *p;

	if (info->n == FTEXT_FIELDS_MAX || !key.len || key.len > FTEXT_NAME_MAX)
		return NULL;
	p = &info->pairs[info->n++];
	*p = (struct ftext_pair){.key = key};
	return p;
}

void ftext_add_text(struct ftext_info *info, const char *key, struct ps_str text)
{
	struct ftext_pair *p = ftext_add(info, ps_str(key, strlen(key)));

	if (p)
		p->text = text;
}

void ftext_add_number(struct ftext_info *info, const char *key, uint64_t v)
{
	struct ftext_pair *p = ftext_add(info, ps_str(key, strlen(key)));

	if (p) {
		p->number = v;
		p->is_number = true;
	}
}

static char closing(char c)
{
	switch (c) {
	case '"': return '"';
	case '(': return ')';
	case '[': return ']';
	case '{': return '}';
	default: return 0;
	}
}

/* After what is closed at last; NULL: it is not. */
static const char *closed(const char *p, const char *end)
{
	char open = *p, close = closing(*p);
	int depth = 0;

	for (; p < end; p++) {
		if (open == '"' && depth && *p == '\\' && p + 1 < end)
			p++;
		else if (*p == close && depth && !--depth)
			return p + 1;
		else if (*p == open)
			depth++;
	}
	return NULL;
}

/*
 * The name that ends before `at` and begins after a blank or a bracket, the first one also at the
 * start; NULL: there is none.
 */
static const char *name_before(const char *start, const char *at, bool first)
{
	const char *p = at;

	while (p > start && (ftext_word(p[-1]) || p[-1] == '.' || p[-1] == '-'))
		p--;
	while (p < at && (ftext_digit(*p) || *p == '.' || *p == '-'))
		p++;
	if (p == at || (p == start ? !first : !strchr(" \t,;([{|", p[-1])))
		return NULL;
	return p;
}

/*
 * A value without what separates it from the next name, or closes what was opened before its
 * name.
 */
static struct ps_str value(const char *p, const char *end)
{
	struct ps_str v = ftext_trim(p, (size_t)(end - p));
	bool more = true;

	if (v.len > 3 && !memcmp(v.p + v.len - 3, "==>", 3))
		v.len -= 3;
	while (more && v.len) {
		char c = v.p[v.len - 1], open = c == ']' ? '[' : c == ')' ? '(' : '{';

		more = strchr(" ,;|([{\t", c) ||
		       ((c == ']' || c == ')' || c == '}') && !memchr(v.p, open, v.len));
		v.len -= more;
	}
	if (v.len > 1 && v.p[0] == '"' && v.p[v.len - 1] == '"')
		v = ps_str(v.p + 1, v.len - 2);
	return v;
}

/* Where the value that begins at p certainly goes on to. */
static const char *skip_value(const char *p, const char *end)
{
	const char *q = p < end && closing(*p) ? closed(p, end) : NULL;

	return q ? q : p;
}

/* "a=1 b=two words c={1, 2}" */
static void equal_pairs(const char *p, const char *end, struct ftext_info *info)
{
	const char *start = p, *eq, *v = NULL;
	struct ftext_pair *last = NULL;

	while ((eq = memchr(p, '=', (size_t)(end - p)))) {
		const char *name = name_before(v ? v : start, eq, !v);

		p = eq + 1;
		/* "==", "=>" and the like are no names' ends. */
		if (!name || (p < end && (*p == '=' || *p == '>')))
			continue;
		if (last)
			last->text = value(v, name);
		last = ftext_add(info, ps_str(name, (size_t)(eq - name)));
		v = p;
		p = skip_value(p, end);
		if (!last)
			return;
	}
	if (last)
		last->text = value(v, end);
}

/* "fd: 3, buf: 0x7ffd": all of it has this form. */
static void colon_pairs(const char *p, const char *end, struct ftext_info *info)
{
	uint32_t n = info->n;

	while (p < end) {
		const char *name = p, *v;
		struct ftext_pair *pair;

		while (p < end && (ftext_word(*p) || *p == '-' || *p == '.'))
			p++;
		if (p == name || end - p < 2 || p[0] != ':' || p[1] != ' ') {
			info->n = n;
			return;
		}
		pair = ftext_add(info, ps_str(name, (size_t)(p - name)));
		v = p + 2;
		p = skip_value(v, end);
		while (p < end && !(*p == ',' && end - p > 1 && p[1] == ' '))
			p++;
		if (pair)
			pair->text = value(v, p);
		p += p < end ? 2 : 0;
	}
}

static void pairs(struct ps_str text, struct ftext_info *info)
{
	uint32_t n = info->n;

	equal_pairs(text.p, text.p + text.len, info);
	if (info->n == n && memchr(text.p, ':', text.len))
		colon_pairs(text.p, text.p + text.len, info);
}

/* ---- states of tasks ---- */

/* The bits of letters of which each stands for the bit of its place; false: there are others. */
static bool bits_of(struct ps_str text, const char *letters, uint64_t *v)
{
	*v = 0;
	for (uint32_t i = 0; i < text.len; i++) {
		const char *at = text.p[i] ? strchr(letters, text.p[i]) : NULL;

		if (text.p[i] == '+')
			*v |= 0x100;
		else if (text.p[i] != 'R' && text.p[i] != '|' && !at)
			return false;
		else if (at)
			*v |= UINT64_C(1) << (at - letters);
	}
	return text.len > 0;
}

/*
 * A state in the kernel's bits. Linux 4.14 gave the bits from 0x10 on other meanings. The kernel
 * and libtraceevent since 1.8 have the letters of the format that was recorded, libtraceevent
 * before that a list of its own. What Z and X mean depends on which of them wrote the text.
 */
static bool task_state(struct ps_str text, bool old_plugin, uint64_t *v)
{
	static const char now[] = "SDTtXZPI", before[] = "SDTtZXxKWPN", own[] = "SDTtZXxW";

	return (old_plugin && bits_of(text, own, v)) || bits_of(text, now, v) ||
	       bits_of(text, before, v);
}

/* ---- what plugins of trace-cmd print ---- */

struct thread {
	struct ps_str comm, state;
	uint64_t pid, prio;
};

/* "bash:123 [120] S": the name may hold colons and brackets. The rest goes to *p. */
static bool thread_of(const char **p, const char *end, struct thread *t)
{
	const char *open = *p, *colon, *close;
	struct ps_str pid, prio;
	bool is_hex;

	while ((open = memmem(open, (size_t)(end - open), " [", 2))) {
		colon = memrchr(*p, ':', (size_t)(open - *p));
		close = memchr(open, ']', (size_t)(end - open));
		open += 2;
		if (!colon || !close)
			continue;
		pid = ps_str(colon + 1, (size_t)(open - 2 - colon) - 1);
		prio = ps_str(open, (size_t)(close - open));
		if (!ftext_number(&pid, false, &t->pid, &is_hex) ||
		    !ftext_number(&prio, false, &t->prio, &is_hex))
			continue;
		t->comm = ps_str(*p, (size_t)(colon - *p));
		*p = close + 1;
		return true;
	}
	return false;
}

static bool plugin_switch(struct ps_str text, struct ftext_info *info)
{
	const char *p = text.p, *end = p + text.len, *arrow;
	struct thread prev, next;
	uint64_t state;

	if (!thread_of(&p, end, &prev))
		return false;
	arrow = memmem(p, (size_t)(end - p), " ==> ", 5);
	if (!arrow || !task_state(ftext_trim(p, (size_t)(arrow - p)), !info->flags, &state))
		return false;
	p = arrow + 5;
	if (!thread_of(&p, end, &next))
		return false;
	ftext_add_text(info, "prev_comm", prev.comm);
	ftext_add_number(info, "prev_pid", prev.pid);
	ftext_add_number(info, "prev_prio", prev.prio);
	ftext_add_number(info, "prev_state", state);
	ftext_add_text(info, "next_comm", next.comm);
	ftext_add_number(info, "next_pid", next.pid);
	ftext_add_number(info, "next_prio", next.prio);
	return true;
}

static bool plugin_wakeup(struct ps_str text, struct ftext_info *info)
{
	const char *p = text.p, *end = p + text.len, *cpu;
	struct ps_str number;
	struct thread t;
	uint64_t v;
	bool is_hex;

	if (!thread_of(&p, end, &t))
		return false;
	cpu = memmem(p, (size_t)(end - p), "CPU:", 4);
	number = ps_str(cpu ? cpu + 4 : end, cpu ? (size_t)(end - cpu) - 4 : 0);
	if (!cpu || !ftext_number(&number, false, &v, &is_hex))
		return false;
	ftext_add_text(info, "comm", t.comm);
	ftext_add_number(info, "pid", t.pid);
	ftext_add_number(info, "prio", t.prio);
	ftext_add_number(info, "target_cpu", v);
	return true;
}

/* ---- system calls ---- */

/* "NR 1 (5, 55da087fe67f, ...)" and "NR 1 = -2". */
static void raw_syscall(struct ps_str text, bool enter, struct ftext_info *info)
{
	static const char *const names[] = {"arg0", "arg1", "arg2", "arg3", "arg4", "arg5"};
	const char *p = text.p + 3, *end = text.p + text.len, *mark;
	struct ps_str number;
	uint64_t v;
	bool is_hex;

	if (text.len < 4 || memcmp(text.p, "NR ", 3) != 0)
		return;
	mark = memchr(p, enter ? '(' : '=', (size_t)(end - p));
	number = ftext_trim(p, (size_t)((mark ? mark : end) - p));
	if (!ftext_number(&number, false, &v, &is_hex))
		return;
	ftext_add_number(info, "id", v);
	if (mark && !enter) {
		number = ftext_trim(mark + 1, (size_t)(end - mark) - 1);
		if (ftext_number(&number, false, &v, &is_hex))
			ftext_add_number(info, "ret", v);
	}
	for (int i = 0; mark && enter && i < 6; i++) {
		const char *to = mark + 1;

		while (to < end && *to != ',' && *to != ')')
			to++;
		number = ftext_trim(mark + 1, (size_t)(to - mark) - 1);
		if (!ftext_number(&number, true, &v, &is_hex))
			break;
		ftext_add_number(info, names[i], v);
		mark = to < end ? to : NULL;
	}
}

/* "sys_read(fd: 3, ...)" and "sys_read -> 0x12", which have no event name before them. */
static bool syscall_text(struct ps_str text, struct ftext_info *info)
{
	const char *p = text.p + 4, *end = text.p + text.len;
	struct ps_str rest;
	uint64_t v;
	bool is_hex;

	if (text.len < 6 || memcmp(text.p, "sys_", 4) != 0)
		return false;
	while (p < end && ftext_word(*p))
		p++;
	if (p - text.p > FTEXT_NAME_MAX)
		return false;
	info->system = ps_str("syscalls", 8);
	info->name = ps_str(text.p + 4, (size_t)(p - text.p) - 4);
	/* What is no system call, "sys_close <-caller", is left without a prefix. */
	if (p < end && *p == '(' && end[-1] == ')') {
		info->prefix = "sys_enter_";
		info->is_hex = true;
		colon_pairs(p + 1, end - 1, info);
		return true;
	}
	if (end - p < 5 || memcmp(p, " -> ", 4) != 0)
		return false;
	rest = ps_str(p + 4, (size_t)(end - p) - 4);
	if (!ftext_number(&rest, false, &v, &is_hex))
		return false;
	ftext_add_number(info, "ret", v);
	info->prefix = "sys_exit_";
	return true;
}

/* ---- events ---- */

/* Systems that the name of an event does not tell are left out. S(beginning of a name, system) */
#define SYSTEMS(S) \
	S("sched_", "sched") \
	S("irq_handler_", "irq") \
	S("softirq_", "irq") \
	S("tasklet_", "irq") \
	S("timer_", "timer") \
	S("hrtimer_", "timer") \
	S("itimer_", "timer") \
	S("tick_stop", "timer") \
	S("sys_enter_", "syscalls") \
	S("sys_exit_", "syscalls") \
	S("sys_enter", "raw_syscalls") \
	S("sys_exit", "raw_syscalls") \
	S("workqueue_", "workqueue") \
	S("block_", "block") \
	S("kmalloc", "kmem") \
	S("kfree", "kmem") \
	S("kmem_cache_", "kmem") \
	S("mm_page_", "kmem") \
	S("net_dev_", "net") \
	S("netif_", "net") \
	S("napi_poll", "napi") \
	S("cpu_idle", "power") \
	S("cpu_frequency", "power") \
	S("signal_", "signal") \
	S("writeback_", "writeback") \
	S("ext4_", "ext4") \
	S("jbd2_", "jbd2") \
	S("page_fault_", "exceptions") \
	S("contention_", "lock") \
	S("function", "ftrace") \
	S("funcgraph_", "ftrace") \
	S("kernel_stack", "ftrace") \
	S("user_stack", "ftrace") \
	S("tracing_mark_write", "ftrace") \
	S("print", "ftrace") \
	S("bprint", "ftrace")

static struct ps_str system_of(const struct ps_str *name)
{
	static const struct {
		const char *start, *system;
	} systems[] = {
#define S(start, system) {start, system},
		SYSTEMS(S)
#undef S
	};

	for (size_t i = 0; i < sizeof(systems) / sizeof(systems[0]); i++) {
		size_t n = strlen(systems[i].start);

		if (name->len >= n && *name->p == *systems[i].start &&
		    !memcmp(name->p, systems[i].start, n) &&
		    (systems[i].start[n - 1] == '_' || name->len == n))
			return ps_str(systems[i].system, strlen(systems[i].system));
	}
	return (struct ps_str){0};
}

/* Fields that are printed under other names, or as words, than they have in the format. */
static void known_fields(struct ftext_info *info)
{
	bool fork = ftext_is(&info->name, "sched_process_fork");
	bool handled = ftext_is(&info->name, "irq_handler_exit");

	for (uint32_t i = 0; i < info->n; i++) {
		struct ftext_pair *p = &info->pairs[i];

		if (fork && ftext_is(&p->key, "comm"))
			p->key = ps_str("parent_comm", 11);
		else if (fork && ftext_is(&p->key, "pid"))
			p->key = ps_str("parent_pid", 10);
		else if (ftext_is(&p->key, "prev_state"))
			p->is_number = task_state(p->text, false, &p->number);
		else if (handled && ftext_is(&p->key, "ret")) {
			p->is_number = true;
			p->number = ftext_is(&p->text, "handled");
		}
	}
}

/* Text of a marker; trace-cmd puts the function that printed it before it. */
static void printed(struct ps_str text, struct ftext_info *info)
{
	const char *p = text.p, *end = p + text.len;

	while (p < end && (ftext_word(*p) || *p == '.' || *p == '+'))
		p++;
	if (ftext_is(&info->name, "print") && p > text.p && end - p > 1 && p[0] == ':' &&
	    p[1] == ' ') {
		ftext_add_text(info, "ip", ps_str(text.p, (size_t)(p - text.p)));
		text = ps_str(p + 2, (size_t)(end - p) - 2);
	}
	ftext_add_text(info, "buf", text);
}

static void named_event(struct ps_str rest, struct ftext_info *info)
{
	bool syscall = info->name.len > 4 && !memcmp(info->name.p, "sys_", 4);

	info->system = system_of(&info->name);
	if (ftext_is(&info->name, "sched_switch") && plugin_switch(rest, info))
		return;
	if (info->name.len >= 12 && !memcmp(info->name.p, "sched_wak", 9) &&
	    plugin_wakeup(rest, info))
		return;
	if (ftext_is(&info->name, "sys_enter") || ftext_is(&info->name, "sys_exit")) {
		raw_syscall(rest, ftext_is(&info->name, "sys_enter"), info);
		return;
	}
	if (ftext_is(&info->name, "tracing_mark_write") || ftext_is(&info->name, "print")) {
		printed(rest, info);
		return;
	}
	info->stack = ftext_is(&info->name, "kernel_stack") || ftext_is(&info->name, "user_stack");
	if (ftext_is(&info->name, "function"))
		return;
	/* "0x12": what trace-cmd prints for the end of a system call. */
	if (syscall && rest.len && !memchr(rest.p, ':', rest.len)) {
		bool is_hex;
		uint64_t v;

		if (ftext_number(&rest, false, &v, &is_hex))
			ftext_add_number(info, "ret", v);
		return;
	}
	pairs(rest, info);
	known_fields(info);
}

/*
 * "vfs_open <-path_openat", "vfs_statx(dfd=1, ...) <-vfs_fstatat", in trace-cmd "<--
 * path_openat".
 */
static bool function_text(struct ps_str text, struct ftext_info *info)
{
	const char *end = text.p + text.len, *arrow = memmem(text.p, text.len, " <-", 3), *open;

	if (!arrow || arrow == text.p || end - arrow < 4)
		return false;
	info->system = ps_str("ftrace", 6);
	info->name = ps_str("function", 8);
	info->func = ftext_trim(text.p, (size_t)(arrow - text.p));
	arrow += 3;
	if (*arrow == '-')
		arrow++;
	info->parent = ftext_trim(arrow, (size_t)(end - arrow));
	open = memchr(info->func.p, '(', info->func.len);
	ftext_add_text(info, "ip", info->func);
	ftext_add_text(info, "parent_ip", info->parent);
	if (open && info->func.p[info->func.len - 1] == ')') {
		info->pairs[0].text.len = info->func.len = (uint32_t)(open - info->func.p);
		ftext_add_text(info, "args", ps_str(open, (size_t)(arrow - open) - 3));
	}
	return true;
}

bool ftext_info(const struct ps_str *text, bool bare, struct ftext_info *info)
{
	const char *p = text->p, *end = p + text->len;
	struct ps_str rest;

	info->n = 0;
	info->prefix = "";
	info->is_hex = info->stack = false;
	info->func = info->parent = info->system = (struct ps_str){0};
	while (p < end && ftext_word(*p))
		p++;
	info->name = ps_str(text->p, (size_t)(p - text->p));
	if (p > text->p && p < end && *p == ':' && info->name.len <= FTEXT_NAME_MAX &&
	    (p + 1 == end || p[1] == ' ')) {
		rest = ftext_trim(p + 1, (size_t)(end - p) - 1);
		named_event(rest, info);
		if (ftext_is(&info->name, "function")) {
			if (!function_text(rest, info)) {
				info->func = rest;
				ftext_add_text(info, "ip", rest);
			}
		}
		return true;
	}
	if (syscall_text(*text, info) || function_text(*text, info))
		return true;
	if (bare)
		return false;
	info->n = 0;
	info->prefix = "";
	info->is_hex = false;
	info->system = ps_str("ftrace", 6);
	info->stack = text->len > 8 && !memcmp(text->p, "<stack t", 8);
	info->name = info->stack ? ps_str("kernel_stack", 12) : ps_str("text", 4);
	if (text->len > 12 && !memcmp(text->p, "<user stack ", 12)) {
		info->stack = true;
		info->name = ps_str("user_stack", 10);
	}
	return true;
}
